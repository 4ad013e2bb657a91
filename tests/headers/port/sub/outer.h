/* SPDX-License-Identifier: MIT */
#define OUTER 1
#include "Inner\Inner.h"
