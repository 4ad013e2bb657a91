/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_IN6ADDR_H
#define ETW_WIN_IN6ADDR_H
#include "minwindef.h"
/* Without the tag in6_addr, which is the system's. */
typedef struct _ETW_IN6_ADDR {
	union {
		UCHAR Byte[16];
		USHORT Word[8]; /* network order */
	} u;
} IN6_ADDR, *PIN6_ADDR, *LPIN6_ADDR;
#endif
