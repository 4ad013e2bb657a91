/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_CGUID_H
#define ETW_WIN_CGUID_H
#include "guiddef.h"

ETW_DEFINE_GUID(GUID_NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define IID_NULL   GUID_NULL
#define CLSID_NULL GUID_NULL

#endif
