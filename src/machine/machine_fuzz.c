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
	struct machine *s = machine_create(MACHINE_STACKS);
	while (s && etl_reader_next(r, &e) > 0) {
		const uint64_t *a;
		machine_add(s, &e);
		struct machine_who w = machine_who(s, &e);
		const struct machine_process *p = machine_process_at(s, w.pid, e.time_filetime);
		const struct machine_image *i = machine_image_at(s, w.pid, w.tid, e.time_filetime);
		const char *f = machine_file(s, machine_file_key(&e), e.time_filetime);
		struct machine_who whose;
		uint32_t n = machine_stack(s, e.time_raw, w.tid, &a, &whose);
		struct machine_debug_id id;
		uint64_t start;
		const char *code = machine_code_at(s, e.pid, e.time_raw, e.time_filetime, &start);
		sum += (code ? (unsigned char)code[0] : 0) + (i && machine_debug_id_of(s, i, &id) ? id.guid[15] : 0);
		sum += (p ? (unsigned char)p->name[0] : 0) + (i ? (unsigned char)i->path[0] : 0) +
		       (f ? (unsigned char)f[0] : 0) + (n ? a[n - 1] : 0);
	}
	machine_destroy(s);
	etl_reader_close(r);
	return 0;
}
