/* SPDX-License-Identifier: MIT */
#include "ip2string.h"
