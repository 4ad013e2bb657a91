/* SPDX-License-Identifier: MIT */
#include "winerror.h"
