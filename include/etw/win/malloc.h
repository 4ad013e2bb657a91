/* SPDX-License-Identifier: MIT */
#pragma GCC system_header
#include_next <malloc.h>
#include <alloca.h>
#include <stdlib.h>
#ifndef _alloca
#define _alloca(size) __builtin_alloca(size)
#endif
#ifndef _malloca
#define _malloca(size) malloc(size)
#define _freea(p)      free(p)
#endif
