/* SPDX-License-Identifier: MIT */
#include "minwindef.h"
