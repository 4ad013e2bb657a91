/* SPDX-License-Identifier: MIT */
#include "wmistr.h"
