/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_SPECSTRINGS_H
#define ETW_WIN_SPECSTRINGS_H
#include "etw_abi.h"
#include "sal.h"
#endif
