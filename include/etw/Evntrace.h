/* SPDX-License-Identifier: MIT */
#include "evntrace.h"
