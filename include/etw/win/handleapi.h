/* SPDX-License-Identifier: MIT */
#include "processthreadsapi.h"
