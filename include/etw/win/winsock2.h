/* SPDX-License-Identifier: MIT
 *
 * Socket addresses as they stand in Windows events. Not for networking: the numbers of the address
 * families are those of Windows. A source that wants <sys/socket.h> too reads that one first.
 */
#ifndef ETW_WIN_WINSOCK2_H
#define ETW_WIN_WINSOCK2_H
#define _WINSOCK2API_
#include "in6addr.h"
#include "winnt.h"

#ifndef AF_INET
#define AF_UNSPEC 0
#define AF_UNIX   1
#define AF_INET   2
#define AF_INET6  23
#define AF_LINK   33
#endif
#ifndef INET_ADDRSTRLEN
#define INET_ADDRSTRLEN  22
#define INET6_ADDRSTRLEN 65
#endif

typedef USHORT ADDRESS_FAMILY;
typedef struct ETW_SOCKET_TAG(in_addr) {
	union {
		struct {
			UCHAR s_b1, s_b2, s_b3, s_b4;
		} S_un_b;
		struct {
			USHORT s_w1, s_w2;
		} S_un_w;
		ULONG S_addr;
	} S_un;
} IN_ADDR, *PIN_ADDR;

typedef struct ETW_SOCKET_TAG(sockaddr) {
	ADDRESS_FAMILY sa_family;
	CHAR sa_data[14];
} SOCKADDR, *PSOCKADDR, *LPSOCKADDR;

typedef struct ETW_SOCKET_TAG(sockaddr_in) {
	ADDRESS_FAMILY sin_family;
	USHORT sin_port; /* network order */
	IN_ADDR sin_addr;
	CHAR sin_zero[8];
} SOCKADDR_IN, *PSOCKADDR_IN;

typedef struct ETW_SOCKET_TAG(sockaddr_in6) {
	ADDRESS_FAMILY sin6_family;
	USHORT sin6_port;
	ULONG sin6_flowinfo;
	IN6_ADDR sin6_addr;
	ULONG sin6_scope_id;
} SOCKADDR_IN6, *PSOCKADDR_IN6, SOCKADDR_IN6_LH, *PSOCKADDR_IN6_LH;

typedef union _SOCKADDR_INET {
	SOCKADDR_IN Ipv4;
	SOCKADDR_IN6 Ipv6;
	ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;

typedef struct ETW_SOCKET_TAG(sockaddr_storage) {
	ADDRESS_FAMILY ss_family;
	CHAR ss_pad1[6];
	LONGLONG ss_align;
	CHAR ss_pad2[112];
} SOCKADDR_STORAGE, *PSOCKADDR_STORAGE;

/* An adapter's own address. */
typedef struct ETW_SOCKET_TAG(sockaddr_dl) {
	ADDRESS_FAMILY sdl_family; /* AF_LINK */
	UCHAR sdl_data[8];
	UCHAR sdl_zero[4];
} SOCKADDR_DL, *PSOCKADDR_DL;

#if ETW_WINSOCK_TAGS
#define s_addr S_un.S_addr
#endif
typedef UINT_PTR SOCKET;
#define INVALID_SOCKET ((SOCKET)(~0))
#define SOCKET_ERROR   (-1)

/* libc's. */
EXTERN_C_START
uint32_t ntohl(uint32_t v) __attribute__((nothrow, const));
uint16_t ntohs(uint16_t v) __attribute__((nothrow, const));
uint32_t htonl(uint32_t v) __attribute__((nothrow, const));
uint16_t htons(uint16_t v) __attribute__((nothrow, const));
EXTERN_C_END
#endif
