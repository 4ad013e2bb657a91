/* SPDX-License-Identifier: MIT */
#include "objbase.h"
