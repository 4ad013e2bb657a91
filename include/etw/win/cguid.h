/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_CGUID_H
#define ETW_WIN_CGUID_H
#include "guiddef.h"

EXTERN_C const IID GUID_NULL; /* in libetw */
#define IID_NULL   GUID_NULL
#define CLSID_NULL GUID_NULL

#endif
