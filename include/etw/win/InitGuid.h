/* SPDX-License-Identifier: MIT */
#include "initguid.h"
