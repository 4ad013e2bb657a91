/* SPDX-License-Identifier: MIT */
#include "comdef.h"
