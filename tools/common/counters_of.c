/* SPDX-License-Identifier: MIT */
#include "tools/common/counters_of.h"

#include "etw/values/guids.h"
#include "kernel_payload.h"

#include <stdio.h>

void counters_of_learn(struct counters_of *c, const EVENT_RECORD *e)
{
	static const struct guid perf_info = GUID_INIT(ETW_GUID_CLASS_PERF_INFO);
	const struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	if (e->EventHeader.EventDescriptor.Opcode != KP_PERF_INFO_PMC_CTR_CONFIG ||
	    !kernel_payload_has(in, KP_PERF_INFO_PMC_CTR_CONFIG_SINCE_V0_COUNTER_COUNT) ||
	    memcmp(&e->EventHeader.ProviderId, &perf_info, sizeof perf_info) != 0) {
		return;
	}
	uint32_t count = kernel_payload_get32(in, KP_PERF_INFO_PMC_CTR_CONFIG_SINCE_V0_COUNTER_COUNT);
	struct bytes b = kernel_payload_from(in, KP_PERF_INFO_PMC_CTR_CONFIG_SINCE_V0_COUNTER_NAME);
	c->count = BASE_MIN(count, (uint32_t)COUNTERS_OF_MAX);
	for (uint32_t i = 0; i < c->count; i++) {
		size_t n = 0;
		for (uint16_t unit; bytes_left(&b) >= 2 && (unit = bytes_u16(&b)) != 0;) {
			if (n + 1 < sizeof c->name[i]) {
				c->name[i][n++] = unit > ' ' && unit < 0x7F ? (char)unit : '?';
			}
		}
		c->name[i][n] = 0;
	}
}

uint32_t counters_of_event(const EVENT_RECORD *e, uint64_t ret[COUNTERS_OF_MAX])
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &e->ExtendedData[i];
		if (item->ExtType == EVENT_HEADER_EXT_TYPE_PMC_COUNTERS) {
			const uint8_t *p = (const void *)(uintptr_t)item->DataPtr;
			uint32_t n = BASE_MIN(item->DataSize / 8u, (uint32_t)COUNTERS_OF_MAX);
			for (uint32_t k = 0; k < n; k++) {
				ret[k] = le64_get(p + (size_t)8 * k);
			}
			return n;
		}
	}
	return 0;
}

const char *counters_of_name(const struct counters_of *c, uint32_t i, char buffer[16])
{
	if (i < c->count && c->name[i][0]) {
		return c->name[i];
	}
	snprintf(buffer, 16, "Counter%u", i);
	return buffer;
}
