/* SPDX-License-Identifier: MIT */
#include "timezoneapi.h"
