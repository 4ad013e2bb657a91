/* SPDX-License-Identifier: MIT
 *
 * What a session asks of a provider, and a thread of its activity.
 */
#ifndef ETW_VALUES_PROVIDER_CONTROL_H
#define ETW_VALUES_PROVIDER_CONTROL_H

/* EnableTraceEx2, and IsEnabled of PENABLECALLBACK */
#define EVENT_CONTROL_CODE_DISABLE_PROVIDER 0
#define EVENT_CONTROL_CODE_ENABLE_PROVIDER  1
#define EVENT_CONTROL_CODE_CAPTURE_STATE    2

/* EventActivityIdControl */
#define EVENT_ACTIVITY_CTRL_GET_ID        1
#define EVENT_ACTIVITY_CTRL_SET_ID        2
#define EVENT_ACTIVITY_CTRL_CREATE_ID     3
#define EVENT_ACTIVITY_CTRL_GET_SET_ID    4
#define EVENT_ACTIVITY_CTRL_CREATE_SET_ID 5

#endif
