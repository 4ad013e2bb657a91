/* SPDX-License-Identifier: MIT */
#include "sddl.h"
