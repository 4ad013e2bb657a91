/* SPDX-License-Identifier: MIT */
#include "sal.h"
