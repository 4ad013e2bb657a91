/* SPDX-License-Identifier: MIT
 *
 * Rights on a session or provider: EventAccessControl.
 */
#ifndef ETW_VALUES_ACCESS_RIGHTS_H
#define ETW_VALUES_ACCESS_RIGHTS_H

#define WMIGUID_QUERY                 0x1
#define WMIGUID_SET                   0x2
#define WMIGUID_NOTIFICATION          0x4
#define WMIGUID_READ_DESCRIPTION      0x8
#define WMIGUID_EXECUTE               0x10
#define TRACELOG_CREATE_REALTIME      0x20
#define TRACELOG_CREATE_ONDISK        0x40
#define TRACELOG_GUID_ENABLE          0x80
#define TRACELOG_ACCESS_KERNEL_LOGGER 0x100
#define TRACELOG_LOG_EVENT            0x200
#define TRACELOG_CREATE_INPROC        0x200
#define TRACELOG_ACCESS_REALTIME      0x400
#define TRACELOG_REGISTER_GUIDS       0x800
#define TRACELOG_JOIN_GROUP           0x1000

#endif
