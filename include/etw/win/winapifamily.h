/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_WINAPIFAMILY_H
#define ETW_WIN_WINAPIFAMILY_H
#define WINAPI_FAMILY_DESKTOP_APP           100
#define WINAPI_FAMILY                       WINAPI_FAMILY_DESKTOP_APP
#define WINAPI_PARTITION_DESKTOP            1
#define WINAPI_PARTITION_APP                1
#define WINAPI_PARTITION_SYSTEM             1
#define WINAPI_PARTITION_GAMES              0
#define WINAPI_FAMILY_PARTITION(partitions) (partitions)
#endif
