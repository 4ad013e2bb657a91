/* SPDX-License-Identifier: MIT
 * A message from a hostile peer: parse it and ask for everything it might hold.
 */
#include "proto/proto.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proto_message m;
	if (proto_parse(data, size, &m) < 0) {
		return 0;
	}
	char text[512];
	struct guid g;
	uint32_t a;
	uint64_t b;
	struct proto_session s;
	for (uint16_t tag = 0; tag < 64; tag++) {
		proto_get_str(&m, tag, text, sizeof text);
		proto_get_guid(&m, tag, &g);
		proto_get_u32(&m, tag, &a);
		proto_get_u64(&m, tag, &b);
	}
	if (proto_get_session(&m, &s)) {
		unsigned sum = 0;
		for (uint32_t i = 0; i < s.name_len; i++) {
			sum += s.name[i];
		}
		for (uint32_t i = 0; i < s.log_file_len; i++) {
			sum += s.log_file[i];
		}
		if (sum == 0xFFFFFFFFu) {
			abort();
		}
	}
	return 0;
}
