/* SPDX-License-Identifier: MIT */
#include "fields_test.h"
