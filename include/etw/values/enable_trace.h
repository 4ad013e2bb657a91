/* SPDX-License-Identifier: MIT
 *
 * Numbers of EnableTraceEx2, EnumerateTraceGuidsEx and of MOF_FIELD arrays.
 */
#ifndef ETW_VALUES_ENABLE_TRACE_H
#define ETW_VALUES_ENABLE_TRACE_H

#define MAX_MOF_FIELDS                    16
#define TRACE_PROVIDER_FLAG_LEGACY        0x1
#define TRACE_PROVIDER_FLAG_PRE_ENABLE    0x2
#define TRACE_LBR_EVENT_OPCODE            0x20
#define TRACE_LBR_MAXIMUM_EVENTS          4
#define ENABLE_TRACE_PARAMETERS_VERSION   1
#define ENABLE_TRACE_PARAMETERS_VERSION_2 2

#endif
