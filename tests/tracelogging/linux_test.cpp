/* SPDX-License-Identifier: MIT */
#include "linux_test.h"
