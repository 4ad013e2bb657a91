/* SPDX-License-Identifier: MIT */
#include "synchapi.h"
