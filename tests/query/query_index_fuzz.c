/* SPDX-License-Identifier: MIT
 *
 * The input as a trace file, of which an index is made and every row asked for; then the same input as an index that
 * somebody put beside a trace.
 */
#include "query/query_build.h"
#include "query/query_fetch.h"
#include "query/query_index.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	return fd >= 0 && write(fd, data, size) == (ssize_t)size ? fd : -1;
}

static void ask(struct store *s, int trace)
{
	struct index_file file = {.fd = trace, .store = *s};
	struct openetw_index x = {.files = &file, .file_count = 1, .stack_count = s->stack_count};
	struct fetch *f = NULL;
	struct diag d = {0};
	struct etl_record r;
	uint64_t frames[64];
	int err = fetch_open(trace, s, &f, &d);
	for (uint32_t g = 0; g < s->group_count; g++) {
		struct store_columns c;
		store_columns_of(s, g, &c);
		for (uint32_t i = 0; i < c.rows; i++) {
			uint32_t stack = c.stack ? c.stack[i] : 0;
			sum += (uint64_t)store_time(&c, i) + c.thread[i];
			sum += openetw_index_stack(&x, stack, frames, 64);
			sum += err == 0 && i < 256 && fetch_record(f, c.where[i], &r) == 0 ? r.payload_bytes : 0;
		}
	}
	for (uint32_t i = 0; i < s->type_count; i++) {
		OPENETW_SIZED(struct openetw_index_type, t);
		sum += openetw_index_type(&x, i, &t) == 0 ? (uint8_t)t.name[0] + (uint8_t)t.provider[0] : 0;
	}
	for (uint32_t i = 0; i < s->process_count; i++) {
		OPENETW_SIZED(struct openetw_index_process, p);
		sum += openetw_index_process(&x, i, &p) == 0 ? (uint8_t)p.name[0] : 0;
	}
	for (uint32_t i = 0; i < s->thread_count; i++) {
		OPENETW_SIZED(struct openetw_index_thread, t);
		sum += openetw_index_thread(&x, i, &t) == 0 ? (uint8_t)t.name[0] : 0;
	}
	for (uint32_t i = 0; i < s->problem_count; i++) {
		sum += (uint8_t)store_string(s, s->problems[i].text)[0];
	}
	fetch_close(f);
}

/* What is there of an index that is being made. */
static void ask_view(void *context, struct store *view, uint64_t bytes)
{
	sum += bytes;
	ask(view, *(int *)context);
	store_close(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	struct diag d = {0};
	struct store s;
	struct store_key key = {.trace_bytes = size};
	int trace = file_of(data, size), index = memfd_create("index", MFD_CLOEXEC);
	const struct build_options how = {.view = ask_view, .context = &trace};
	if (trace >= 0 && index >= 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", trace);
		if (build_index(path, &key, index, &how, &d) == 0 && store_open(index, &key, &s, &d) == 0) {
			ask(&s, trace);
			store_close(&s);
			index = -1;
		}
	}
	if (index >= 0) {
		close(index);
	}
	index = file_of(data, size);
	if (index >= 0 && store_open(index, NULL, &s, &d) == 0) {
		ask(&s, trace);
		store_close(&s);
	}
	if (trace >= 0) {
		close(trace);
	}
	return 0;
}
