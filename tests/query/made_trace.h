/* SPDX-License-Identifier: MIT
 *
 * A trace of events that are all alike but for their ids, which go round, and their number: for tests that count.
 */
#ifndef TESTS_QUERY_MADE_TRACE_H
#define TESTS_QUERY_MADE_TRACE_H

#include "../corpus/etl_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MADE_STEP   1000u /* ticks of 100 ns between two events */
#define MADE_IDS    7u    /* 1 to 7 */
#define MADE_START  133000000000000000u
#define MADE_BUFFER 65536u

static inline void made_trace_write(const char *path, uint32_t events)
{
	struct etl_build b;
	const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 1000, .start_filetime = MADE_START, .mode = 1};
	etl_build_start(&b, MADE_BUFFER, &h);
	uint64_t time = 1000;
	for (uint32_t i = 0; i < events;) {
		etl_build_begin(&b, 0, b.buffers);
		for (; i < events && b.at + 0x60 < MADE_BUFFER; i++) {
			time += MADE_STEP;
			etl_build_event(&b, time, 1 + i % MADE_IDS, i);
		}
		etl_build_end(&b, time);
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b.mem, b.buffer_size, b.buffers, f), b.buffers);
	assert_int_equal(fclose(f), 0);
	free(b.mem);
}

/* A folder of a test's own, with traces in it; and its end. */
static inline void made_folder(char *ret, size_t bytes, const char *name)
{
	snprintf(ret, bytes, "/tmp/openetw-%s-XXXXXX", name);
	assert_non_null(mkdtemp(ret));
}
static inline int made_folder_remove(const char *folder)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

#endif
