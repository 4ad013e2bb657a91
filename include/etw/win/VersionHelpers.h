/* SPDX-License-Identifier: MIT */
#include "versionhelpers.h"
