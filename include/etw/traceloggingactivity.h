/* SPDX-License-Identifier: MIT */
#include "TraceLoggingActivity.h"
