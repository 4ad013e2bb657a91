/* SPDX-License-Identifier: MIT */
#include "windows.h"
