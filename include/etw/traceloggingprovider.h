/* SPDX-License-Identifier: MIT */
#include "TraceLoggingProvider.h"
