/* SPDX-License-Identifier: MIT */
#include "evntprov.h"
