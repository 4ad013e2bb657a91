/* SPDX-License-Identifier: MIT */
#include "format/file_record.h"

#include "etw/values/guids.h"
#include "format/kernel_field.h"
#include "kernel_payload.h"

bool file_record_is(struct file_record_image *last, const void *provider, int64_t time, const void *payload,
		    size_t bytes)
{
	static const struct guid trace = GUID_INIT(ETW_GUID_EVENT_TRACE);
	static const struct guid metadata = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);
	static const struct guid process = GUID_INIT(ETW_GUID_CLASS_PROCESS);
	static const struct guid image = GUID_INIT(ETW_GUID_CLASS_IMAGE);
	static const struct guid image_id = GUID_INIT(ETW_GUID_CLASS_IMAGE_ID);
	const struct kernel_payload in = {payload, payload ? (uint32_t)bytes : 0, 8};
	struct guid g;
	memcpy(&g, provider, sizeof g);
	if (guid_equal(&g, &process)) {
		return kernel_payload_get(in, KP_PROCESS_START_SINCE_V2_UNIQUE_PROCESS_KEY) >> 32 ==
		       FILE_RECORD_EXPLAINS;
	}
	if (guid_equal(&g, &image)) {
		bool yes = kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V2_RESERVED1) == FILE_RECORD_EXPLAINS;
		last->time = yes ? time : 0;
		last->base = yes ? kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE) : 0;
		return yes;
	}
	if (guid_equal(&g, &image_id)) {
		return last->base != 0 && last->time == time &&
		       last->base == kernel_payload_get(in, KP_IMAGE_ID_INFO_SINCE_V0_IMAGE_BASE);
	}
	return guid_equal(&g, &trace) || guid_equal(&g, &metadata);
}
