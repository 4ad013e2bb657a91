/* SPDX-License-Identifier: MIT */
#include "oleauto.h"
