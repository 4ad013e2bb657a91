/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_BASETYPS_H
#define ETW_WIN_BASETYPS_H
#include "objbase.h"
#ifndef interface
#define interface struct
#endif
#endif
