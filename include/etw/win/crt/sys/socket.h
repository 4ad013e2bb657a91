/* SPDX-License-Identifier: MIT
 *
 * The system's <sys/socket.h> after windows.h, which has structures of the same names and layouts: the system's
 * get other names then. A source that calls socket functions reads this header before windows.h.
 */
#pragma GCC system_header
#if defined(ETW_WINSOCK_TAGS) && ETW_WINSOCK_TAGS && !defined(_SYS_SOCKET_H)
#undef s_addr
#undef s6_addr
#define sockaddr         etw_libc_sockaddr
#define sockaddr_in      etw_libc_sockaddr_in
#define sockaddr_in6     etw_libc_sockaddr_in6
#define sockaddr_storage etw_libc_sockaddr_storage
#define in_addr          etw_libc_in_addr
#define in6_addr         etw_libc_in6_addr
#include_next <sys/socket.h>
#undef sockaddr
#undef sockaddr_in
#undef sockaddr_in6
#undef sockaddr_storage
#undef in_addr
#undef in6_addr
#undef s6_addr
#define s_addr  S_un.S_addr
#define s6_addr u.Byte
#else
#include_next <sys/socket.h>
#endif
