/* SPDX-License-Identifier: MIT
 *
 * How a program hands over an event.
 */
#ifndef ETW_VALUES_EVENT_WRITE_H
#define ETW_VALUES_EVENT_WRITE_H

/* EVENT_DATA_DESCRIPTOR.Type, heeded only after EventProviderSetTraits or
 * EventProviderUseDescriptorType. */
#define EVENT_DATA_DESCRIPTOR_TYPE_NONE               0
#define EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA     1
#define EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA  2
#define EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE 3

/* EventWriteEx */
#define EVENT_WRITE_FLAG_NO_FAULTING 0x00000001
#define EVENT_WRITE_FLAG_INPRIVATE   0x00000002

#endif
