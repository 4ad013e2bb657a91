/* SPDX-License-Identifier: MIT */
#include "tlhelp32.h"
