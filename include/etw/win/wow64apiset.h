/* SPDX-License-Identifier: MIT */
#include "winbase.h"
