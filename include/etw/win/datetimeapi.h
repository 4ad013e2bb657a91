/* SPDX-License-Identifier: MIT */
#include "winnls.h"
