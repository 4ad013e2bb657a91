/* SPDX-License-Identifier: MIT */
#include "provider_test.h"
