/* SPDX-License-Identifier: MIT */
#include "objects.c"
