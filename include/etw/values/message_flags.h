/* SPDX-License-Identifier: MIT
 *
 * Flags of TraceMessage and of the header that TraceEvent takes.
 */
#ifndef ETW_VALUES_MESSAGE_FLAGS_H
#define ETW_VALUES_MESSAGE_FLAGS_H

#define TRACE_MESSAGE_SEQUENCE              1
#define TRACE_MESSAGE_GUID                  2
#define TRACE_MESSAGE_COMPONENTID           4
#define TRACE_MESSAGE_TIMESTAMP             8
#define TRACE_MESSAGE_PERFORMANCE_TIMESTAMP 16
#define TRACE_MESSAGE_SYSTEMINFO            32
#define TRACE_MESSAGE_POINTER32             0x40
#define TRACE_MESSAGE_POINTER64             0x80
#define TRACE_MESSAGE_FLAG_MASK             0xFFFF
#define EVENT_TRACE_USE_PROCTIME            0x1
#define EVENT_TRACE_USE_NOCPUTIME           0x2
#define TRACE_HEADER_FLAG_USE_TIMESTAMP     0x200
#define TRACE_HEADER_FLAG_TRACED_GUID       0x20000
#define TRACE_HEADER_FLAG_LOG_WNODE         0x40000
#define TRACE_HEADER_FLAG_USE_GUID_PTR      0x80000
#define TRACE_HEADER_FLAG_USE_MOF_PTR       0x100000

#endif
