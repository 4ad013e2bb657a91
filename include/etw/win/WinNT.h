/* SPDX-License-Identifier: MIT */
#include "winnt.h"
