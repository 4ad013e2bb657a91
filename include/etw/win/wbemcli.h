/* SPDX-License-Identifier: MIT */
#include "wbemidl.h"
