/* SPDX-License-Identifier: MIT */
#include "winmeta.h"
