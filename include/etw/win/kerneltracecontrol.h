/* SPDX-License-Identifier: MIT */
#include "KernelTraceControl.h"
