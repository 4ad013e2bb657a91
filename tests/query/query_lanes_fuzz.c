/* SPDX-License-Identifier: MIT
 *
 * The input as a trace file, and as an index that somebody put beside it: what threads did, spans and chains.
 */
#include "query/query_build.h"
#include "query/query_field.h"
#include "query/query_index.h"
#include "query/query_kept.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define LANES 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	return fd >= 0 && write(fd, data, size) == (ssize_t)size ? fd : -1;
}

static bool add_run(void *context, const struct openetw_lane_run *r)
{
	sum += r->intervals + r->pixels;
	return true;
}

static bool add_link(void *context, const struct openetw_link *l)
{
	sum += (uint64_t)l->from + l->waker_thread;
	return true;
}

static bool add_span(void *context, const struct openetw_span *s)
{
	sum += s->spans + s->level;
	return true;
}

static void ask(const struct store *s, int trace)
{
	struct index_file file = {.fd = trace, .store = *s};
	struct openetw_index x = {.files = &file, .file_count = 1};
	struct openetw_query *q = index_join(&x) == 0 ? openetw_query_create(&x) : NULL;
	int64_t from = s->about->first, to = s->about->last;
	from -= from > INT64_MIN;
	to += to < INT64_MAX;
	pthread_mutex_init(&x.lock, NULL);
	for (uint32_t i = 0; i < s->thread_count && i < LANES && q; i++) {
		openetw_query_lanes(q, OPENETW_LANES_THREADS, &i, 1, from, to, 100, add_run, NULL, NULL);
		openetw_query_lanes(q, OPENETW_LANES_CPUS, &i, 1, from, to, 7, add_run, NULL, NULL);
		openetw_query_chain(q, i, to, 50, add_link, NULL, NULL);
		openetw_query_spans(q, OPENETW_SPANS_EVENTS, &i, 1, from, to, 100, add_span, NULL, NULL);
		openetw_query_spans(q, OPENETW_SPANS_DISKS, &i, 1, from, to, 100, add_span, NULL, NULL);
		openetw_query_spans(q, OPENETW_SPANS_FILES, &i, 1, from, to, 100, add_span, NULL, NULL);
	}
	openetw_query_destroy(q);
	field_columns_free(x.fields);
	kept_free(x.kept);
	pthread_mutex_destroy(&x.lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	struct diag d = {0};
	struct store s;
	struct store_key key = {.trace_bytes = size};
	int trace = file_of(data, size), index = memfd_create("index", MFD_CLOEXEC);
	const struct build_options how = {0};
	snprintf(path, sizeof path, "/proc/self/fd/%d", trace);
	if (trace >= 0 && index >= 0 && build_index(path, &key, index, &how, &d) == 0) {
		if (store_open(index, &key, &s, &d) == 0) {
			ask(&s, trace);
			store_close(&s);
		}
		index = -1;
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
