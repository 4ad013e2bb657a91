/* SPDX-License-Identifier: MIT */
#include "atlbase.h"
