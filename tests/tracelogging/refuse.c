/* SPDX-License-Identifier: MIT */
#include "refuse.h"
