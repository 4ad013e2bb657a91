/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_IN6ADDR_H
#define ETW_WIN_IN6ADDR_H
#include "minwindef.h"
/* The tags of Windows (in6_addr, sockaddr, …) are names of libc's as well. A Windows source gets
 * them, unless libc's headers were read before; then the typedefs alone exist. */
#if ETW_SHORT_WCHAR && !defined(_SYS_SOCKET_H) && !defined(_NETINET_IN_H) && !defined(_BITS_SOCKADDR_H)
#define ETW_WINSOCK_TAGS     1
#define ETW_SOCKET_TAG(name) name
#else
#define ETW_WINSOCK_TAGS     0
#define ETW_SOCKET_TAG(name) etw_##name
#endif
typedef struct ETW_SOCKET_TAG(in6_addr) {
	union {
		UCHAR Byte[16];
		USHORT Word[8]; /* network order */
	} u;
} IN6_ADDR, *PIN6_ADDR, *LPIN6_ADDR;
#if ETW_WINSOCK_TAGS
#define in_addr6 in6_addr
#define s6_addr  u.Byte
#define s6_bytes u.Byte
#define s6_words u.Word
#endif
#endif
