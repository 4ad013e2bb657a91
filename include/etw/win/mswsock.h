/* SPDX-License-Identifier: MIT
 *
 * Numbers of Microsoft's socket extensions. There are no sockets of Windows here, so no functions.
 */
#ifndef ETW_WIN_MSWSOCK_H
#define ETW_WIN_MSWSOCK_H
#include "winsock2.h"
#define SO_CONNDATA               0x7000
#define SO_CONNOPT                0x7001
#define SO_UPDATE_ACCEPT_CONTEXT  0x700B
#define SO_CONNECT_TIME           0x700C
#define SO_UPDATE_CONNECT_CONTEXT 0x7010
#define SIO_UDP_CONNRESET         0x9800000C
#define SIO_SOCKET_CLOSE_NOTIFY   0x9800000D
#define TF_DISCONNECT             0x01
#define TF_REUSE_SOCKET           0x02
#endif
