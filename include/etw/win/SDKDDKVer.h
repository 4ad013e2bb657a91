/* SPDX-License-Identifier: MIT */
#include "sdkddkver.h"
