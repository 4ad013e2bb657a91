/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_SDKDDKVER_H
#define ETW_WIN_SDKDDKVER_H
#include "etw_abi.h"
#define _WIN32_WINNT_WINXP   0x0501
#define _WIN32_WINNT_WS03    0x0502
#define _WIN32_WINNT_VISTA   0x0600
#define _WIN32_WINNT_WIN7    0x0601
#define _WIN32_WINNT_WIN8    0x0602
#define _WIN32_WINNT_WINBLUE 0x0603
#define _WIN32_WINNT_WIN10   0x0A00
#define NTDDI_VISTA          0x06000000
#define NTDDI_WIN7           0x06010000
#define NTDDI_WIN8           0x06020000
#define NTDDI_WINBLUE        0x06030000
#define NTDDI_WIN10          0x0A000000
#define NTDDI_WIN10_RS1      0x0A000002
#define NTDDI_WIN10_RS5      0x0A000006
#endif
