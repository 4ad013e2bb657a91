/* SPDX-License-Identifier: MIT
 *
 * A file of lanes that somebody put beside an index: the input is how many parts each lane has, the parts, and their bytes.
 */
#include "query/query_stays.h"
#include "query/query_test_index.h"

#include <unistd.h>

#define ROWS  30u
#define LANES (TEST_THREADS + TEST_CPUS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct test_index t;
static volatile uint64_t sum;

static void must(bool ok)
{
	if (!ok) {
		abort();
	}
}

/* The first byte is the number of parts, which the next ones give to lanes. */
static int make(const uint8_t *data, size_t size)
{
	static const struct store_key key = {.trace_bytes = 1};
	const struct store *s = &t.x.files[0].store;
	const struct store_lanes h = {.rows = s->about->rows,
				      .groups = s->group_count,
				      .types = s->type_count,
				      .index_check = s->check,
				      .rules = STORE_LANE_RULES,
				      .threads = TEST_THREADS,
				      .cpus = TEST_CPUS,
				      .end = 100000};
	uint64_t first[LANES + 1] = {0};
	uint64_t parts = size ? data[0] % 16 : 0, list = parts * sizeof(struct store_lane_part);
	struct store_writer *w = NULL;
	if (size < 1 + LANES + list) {
		parts = list = 0;
	}
	for (uint32_t i = 1; i <= LANES; i++) {
		first[i] = i == LANES ? parts : size > i ? data[i] : 0;
	}
	if (parts == 0) {
		memset(first, 0, sizeof first);
	}
	size_t at = BASE_MIN(1 + LANES + list, size);
	int fd = memfd_create("lanes", MFD_CLOEXEC);
	must(fd >= 0 && store_writer_create(fd, &key, &w) == 0);
	must(store_write_section(w, STORE_LANES, 0, &h, sizeof h, 1) == 0);
	must(store_write_section(w, STORE_LANE_FIRST, 0, first, sizeof first, LANES + 1) == 0);
	must(store_write_section(w, STORE_LANE_PARTS, 0, data + at - list, list, parts) == 0);
	must(store_write_section(w, STORE_LANE_STAYS, 0, data + at, size - at, size - at) == 0);
	must(store_writer_commit_fields(w) == 0);
	store_writer_destroy(w);
	return fd;
}

static bool add_run(void *context, const struct openetw_lane_run *r)
{
	sum += r->intervals + r->pixels + r->thread;
	return true;
}

static bool add_link(void *context, const struct openetw_link *l)
{
	sum += (uint64_t)l->from + l->waker_thread;
	return true;
}

static void ask(void)
{
	struct openetw_query *q = openetw_query_create(&t.x);
	must(q != NULL);
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		openetw_query_lanes(q, OPENETW_LANES_THREADS, &i, 1, -100, 200000, 50, add_run, NULL, NULL);
		openetw_query_chain(q, i, 150000, 20, add_link, NULL, NULL);
	}
	for (uint32_t i = 0; i < TEST_CPUS; i++) {
		openetw_query_lanes(q, OPENETW_LANES_CPUS, &i, 1, INT64_MIN, INT64_MAX, 7, add_run, NULL, NULL);
	}
	openetw_query_destroy(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = {0};
	if (!t.rows) {
		must(test_index_make(&t, 1, 3, ROWS) == 0);
	}
	struct stays *s = calloc(1, sizeof *s);
	must(s != NULL);
	if (lane_file_open(make(data, size), &t.x.files[0].store, s, &d) < 0) {
		free(s);
		return 0;
	}
	must(kept_give(&t.x, 0, KEPT_STAYS, s) == 0);
	ask();
	kept_free(t.x.kept);
	t.x.kept = NULL;
	return 0;
}
