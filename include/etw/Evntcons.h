/* SPDX-License-Identifier: MIT */
#include "evntcons.h"
