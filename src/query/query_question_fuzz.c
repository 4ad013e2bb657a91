/* SPDX-License-Identifier: MIT
 *
 * Any filter over a damaged index. The input: how many places are damaged; of each the place and a byte; then the filter.
 * Whatever comes out may be wrong, but it comes, and stays within what there is.
 */
#include "query/query_test_index.h"

#include "query/query_question.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *good;
static size_t good_bytes;

static void must(bool ok)
{
	if (!ok) {
		abort();
	}
}

static void make_good(void)
{
	struct test_index t;
	must(test_index_make(&t, 1, 3, 200) == 0);
	good_bytes = t.x.files[0].store.map_bytes;
	good = malloc(good_bytes);
	must(good != NULL);
	memcpy(good, t.x.files[0].store.map, good_bytes);
	test_index_free(&t);
}

static bool take_facet(void *context, const struct openetw_facet *f)
{
	*(uint64_t *)context += f->count + strlen(f->text);
	return true;
}

static bool take_group(void *context, const struct openetw_group *g)
{
	must(g->depth >= 1 && g->depth <= 3);
	*(uint64_t *)context += g->count + strlen(g->text);
	return true;
}

static bool take_row(void *context, const struct openetw_row *r)
{
	*(uint64_t *)context += r->row + r->stack;
	return true;
}

static bool take_node(void *context, const struct openetw_stack_node *n)
{
	must(n->depth >= 1 && (n->parent == UINT32_MAX) == (n->depth == 1));
	*(uint64_t *)context += n->address;
	return true;
}

static void ask(struct openetw_query *q, uint64_t rows, uint8_t which)
{
	static const enum openetw_key keys[] = {OPENETW_BY_THREAD, OPENETW_BY_TYPE, OPENETW_BY_CPU};
	OPENETW_SIZED(struct openetw_answer, a);
	OPENETW_SIZED(struct openetw_histogram, h);
	uint64_t sum = 0, position;
	const openetw_event_record *e;
	q->threads = 1;
	if (openetw_query_count(q, &a) == 0) {
		must(a.matched <= rows && a.scanned <= rows);
	}
	openetw_query_histogram(q, (int64_t)which * -1000, (int64_t)which * 1000 + 1, 1 + which,
				(enum openetw_key)(which % OPENETW_BY_FIELD), 1 + which % 7, &h);
	openetw_query_facets(q, (enum openetw_key)(which % OPENETW_BY_FIELD), UINT32_MAX, take_facet, &sum, &a);
	openetw_query_group(q, keys, 1 + which % 3, 1 + which % 9, take_group, &sum, &a);
	openetw_query_first_rows(q, which % 300, take_row, &sum, &a);
	openetw_query_rows(q, which, 300, take_row, &sum, &a);
	openetw_query_position(q, (int64_t)which * 1000, &position);
	openetw_query_stacks(q, which % 4, which / 255.0, take_node, &sum, &a);
	openetw_query_event(q, which, &e);
}

static int open_damaged(const uint8_t *data, size_t damages, struct store *ret)
{
	struct diag d = {0};
	uint8_t *bad = malloc(good_bytes);
	must(bad != NULL);
	memcpy(bad, good, good_bytes);
	for (size_t i = 0; i < damages; i++) {
		bad[(data[4 * i] | data[4 * i + 1] << 8 | data[4 * i + 2] << 16) % good_bytes] = data[4 * i + 3];
	}
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	must(fd >= 0 && pwrite(fd, bad, good_bytes, 0) == (ssize_t)good_bytes);
	free(bad);
	return store_open(fd, NULL, ret, &d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index_file file = {.path = (char *)(uintptr_t) "trace.etl", .fd = -1};
	struct openetw_index x = {.files = &file, .file_count = 1};
	char filter[512] = "";
	if (!good) {
		make_good();
	}
	size_t damages = size ? data[0] % 32 : 0;
	if (size < 2 + 4 * damages || open_damaged(data + 2, damages, &file.store) < 0) {
		return 0;
	}
	size_t n = BASE_MIN(size - 2 - 4 * damages, sizeof filter - 1);
	memcpy(filter, data + 2 + 4 * damages, n);
	pthread_mutex_init(&x.lock, NULL);
	x.rows = file.store.about->rows;
	x.start_filetime = file.store.about->start_filetime;
	x.type_count = file.store.type_count;
	x.process_count = file.store.process_count;
	x.thread_count = file.store.thread_count;
	x.stack_count = file.store.stack_count;
	struct openetw_query *q = openetw_query_create(&x);
	must(q != NULL);
	if (openetw_query_set_filter(q, filter) == 0) {
		ask(q, x.rows, data[1]);
	}
	openetw_query_destroy(q);
	field_columns_free(x.fields);
	store_close(&file.store);
	pthread_mutex_destroy(&x.lock);
	return 0;
}
