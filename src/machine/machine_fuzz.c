/* SPDX-License-Identifier: MIT
 * The input as a trace file; all of it is fed and every question asked.
 */
#include "machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etl_reader *r;
	struct etl_record e;
	if (etl_reader_open_memory(data, size, 0, &r, NULL) < 0) {
		return 0;
	}
	struct state *s = state_create(STATE_STACKS);
	while (s && etl_reader_next(r, &e) > 0) {
		const uint64_t *a;
		state_add(s, &e);
		struct state_who w = state_who(s, &e);
		const struct state_process *p = state_process_at(s, w.pid, e.time_filetime);
		const struct state_image *i = state_image_at(s, w.pid, w.tid, e.time_filetime);
		const char *f = state_file(s, state_file_key(&e), e.time_filetime);
		struct state_who whose;
		uint32_t n = state_stack(s, e.time_raw, w.tid, &a, &whose);
		struct state_debug_id id;
		uint64_t start;
		const char *code = state_code_at(s, e.pid, e.time_raw, e.time_filetime, &start);
		sum += (code ? (unsigned char)code[0] : 0) +
		       (i && state_debug_id_of(s, i, &id) ? id.guid[15] : 0);
		sum += (p ? (unsigned char)p->name[0] : 0) + (i ? (unsigned char)i->path[0] : 0) +
		       (f ? (unsigned char)f[0] : 0) + (n ? a[n - 1] : 0);
	}
	state_destroy(s);
	etl_reader_close(r);
	return 0;
}
