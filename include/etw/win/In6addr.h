/* SPDX-License-Identifier: MIT */
#include "in6addr.h"
