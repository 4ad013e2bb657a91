/* SPDX-License-Identifier: MIT
 *
 * What ControlTrace asks of a session.
 */
#ifndef ETW_VALUES_SESSION_CONTROL_H
#define ETW_VALUES_SESSION_CONTROL_H

#define EVENT_TRACE_CONTROL_QUERY               0
#define EVENT_TRACE_CONTROL_STOP                1
#define EVENT_TRACE_CONTROL_UPDATE              2
#define EVENT_TRACE_CONTROL_FLUSH               3
#define EVENT_TRACE_CONTROL_INCREMENT_FILE      4
#define EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME 5

#endif
