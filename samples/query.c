/* SPDX-License-Identifier: MIT
 *
 * What is in a trace file, or in those of its events for which a filter is true: which events how often, when, and
 * whole the first of them.
 *
 *   query FILE.etl [FILTER]
 */
#include <openetw/decode.h>
#include <openetw/error.h>
#include <openetw/query.h>

#include <inttypes.h>
#include <stdio.h>

#define COLUMNS 60u

static bool print_facet(void *context, const struct openetw_facet *f)
{
	(void)context;
	printf("%8" PRIu64 " %s\n", f->count, f->text);
	return true;
}

/* A line as wide as a terminal: where most events are stands a 9. */
static void print_times(struct openetw_query *q, const struct openetw_index_about *about)
{
	OPENETW_SIZED(struct openetw_histogram, h);
	uint64_t most = 1;
	if (openetw_query_histogram(q, about->first, about->last + 1, COLUMNS, OPENETW_BY_NOTHING, 1, &h) != 0) {
		return;
	}
	for (uint32_t i = 0; i < COLUMNS; i++) {
		most = h.counts[i] > most ? h.counts[i] : most;
	}
	for (uint32_t i = 0; i < COLUMNS; i++) {
		putchar(h.counts[i] ? (int)('0' + (h.counts[i] * 9 + most - 1) / most) : '.');
	}
	printf(" %.3f s\n", (double)(about->last - about->first) / 1e9);
}

static bool take_row(void *context, const struct openetw_row *row)
{
	*(uint64_t *)context = row->row;
	return true;
}

static void print_first(struct openetw_query *q)
{
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text text = {0};
	const openetw_event_record *e;
	uint64_t row = UINT64_MAX;
	openetw_query_rows(q, 0, 1, take_row, &row, NULL);
	if (d && row != UINT64_MAX && openetw_query_event(q, row, &e) == 0) {
		openetw_decode_text(d, e, &text);
		printf("first: %s %s\n", openetw_event_name(d, e), text.data ? text.data : "");
	}
	openetw_text_free(&text);
	openetw_decoder_destroy(d);
}

static int ask(struct openetw_index *x, const char *filter)
{
	OPENETW_SIZED(struct openetw_index_about, about);
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_query *q = openetw_query_create(x);
	if (!q) {
		return 1;
	}
	if (openetw_query_set_filter(q, filter) != 0) {
		fprintf(stderr, "query: %s\n", openetw_query_problem(q));
		openetw_query_destroy(q);
		return 2;
	}
	openetw_index_about(x, &about);
	uint32_t code = openetw_query_count(q, &a);
	if (code != 0) {
		fprintf(stderr, "query: %s (%u)\n", openetw_error_text(code), (unsigned)code);
		openetw_query_destroy(q);
		return 1;
	}
	printf("%" PRIu64 " of %" PRIu64 " events\n", a.matched, a.scanned);
	openetw_query_facets(q, OPENETW_BY_TYPE, 10, print_facet, NULL, NULL);
	print_times(q, &about);
	print_first(q);
	openetw_query_destroy(q);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: query FILE.etl [FILTER]\n");
		return 2;
	}
	struct openetw_index *x;
	const char *path = argv[1];
	if (openetw_index_open(&path, 1, NULL, &x) != 0) {
		fprintf(stderr, "query: %s\n", openetw_last_error_text());
		return 1;
	}
	int status = ask(x, argc > 2 ? argv[2] : NULL);
	openetw_index_close(x);
	return status;
}
