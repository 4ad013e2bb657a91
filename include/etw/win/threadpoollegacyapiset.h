/* SPDX-License-Identifier: MIT */
#include "threadpoolapiset.h"
