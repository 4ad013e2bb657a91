/* SPDX-License-Identifier: MIT */
#include "tdh.h"
