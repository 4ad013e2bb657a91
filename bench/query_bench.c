/* SPDX-License-Identifier: MIT
 *
 * query_bench FILE [FIELD-FILTER]: how long questions to the index of a trace take, made with machine_etl. The index is
 * made where there is none. Each question is asked several times: the first, the best and the median time, and the best as
 * a multiple of the floor: this machine adding up as many four-byte numbers as the trace has events, on as many
 * processors as the questions may use. FIELD-FILTER is asked for, too: its first time reads the events, so it says how
 * many it read a second of processor time, and when the first 100 it finds were there.
 */
#include "bench.h"

#include <openetw/error.h>
#include <openetw/query.h>

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { TIMES = 7, PIXELS = 1600, THREADS_MAX = 8 };

static double clock_ms(clockid_t which)
{
	struct timespec t;
	clock_gettime(which, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* ---- the floor ------------------------------------------------------------------------------------ */

struct part {
	const uint32_t *from, *to;
	uint64_t sum;
};
static void *add_up(void *context)
{
	struct part *p = context;
	uint64_t sum = 0;
	for (const uint32_t *i = p->from; i < p->to; i++) {
		sum += *i;
	}
	p->sum = sum;
	return NULL;
}

static double floor_ms(uint64_t rows, unsigned threads)
{
	uint32_t *numbers = malloc(rows * sizeof *numbers + 64);
	double best = 0;
	volatile uint64_t sink = 0;
	if (!numbers) {
		return 0;
	}
	for (uint64_t i = 0; i < rows; i++) {
		numbers[i] = (uint32_t)i;
	}
	for (int n = 0; n < TIMES; n++) {
		struct part part[THREADS_MAX];
		pthread_t thread[THREADS_MAX];
		bool started[THREADS_MAX];
		double began = now_ms();
		for (unsigned i = 0; i < threads; i++) {
			part[i] = (struct part){numbers + rows * i / threads, numbers + rows * (i + 1) / threads, 0};
			started[i] = i > 0 && pthread_create(&thread[i], NULL, add_up, &part[i]) == 0;
		}
		for (unsigned i = 0; i < threads; i++) {
			if (started[i]) {
				pthread_join(thread[i], NULL);
			} else {
				add_up(&part[i]);
			}
			sink += part[i].sum;
		}
		double took = now_ms() - began;
		best = n == 0 || took < best ? took : best;
	}
	(void)sink;
	free(numbers);
	return best;
}

/* ---- the questions -------------------------------------------------------------------------------- */

struct bench {
	struct openetw_query *q;
	struct openetw_index_about about;
	uint64_t answer;
};
static bool take_facet(void *context, const struct openetw_facet *f)
{
	*(uint64_t *)context += f->count;
	return true;
}
static bool take_group(void *context, const struct openetw_group *g)
{
	*(uint64_t *)context += g->depth == 1 ? g->count : 0;
	return true;
}
static bool take_row(void *context, const struct openetw_row *r)
{
	(void)r;
	++*(uint64_t *)context;
	return true;
}
static uint32_t count(struct bench *b)
{
	OPENETW_SIZED(struct openetw_answer, a);
	uint32_t code = openetw_query_count(b->q, &a);
	b->answer = a.matched;
	return code;
}
static uint32_t histogram_by(struct bench *b, enum openetw_key by)
{
	OPENETW_SIZED(struct openetw_histogram, h);
	uint32_t code = openetw_query_histogram(b->q, b->about.first, b->about.last + 1, PIXELS, by, 20, &h);
	for (uint32_t i = 0; code == 0 && i < h.series; i++) {
		b->answer += h.totals[i];
	}
	return code;
}
static uint32_t histogram(struct bench *b)
{
	return histogram_by(b, OPENETW_BY_NOTHING);
}
static uint32_t histogram_by_process(struct bench *b)
{
	return histogram_by(b, OPENETW_BY_PROCESS);
}
static uint32_t facets(struct bench *b)
{
	return openetw_query_facets(b->q, OPENETW_BY_PROCESS, 20, take_facet, &b->answer, NULL);
}
static uint32_t types(struct bench *b)
{
	return openetw_query_facets(b->q, OPENETW_BY_TYPE, 100, take_facet, &b->answer, NULL);
}
static uint32_t group(struct bench *b)
{
	static const enum openetw_key keys[] = {OPENETW_BY_PROCESS, OPENETW_BY_TYPE};
	return openetw_query_group(b->q, keys, 2, 20, take_group, &b->answer, NULL);
}
static uint32_t rows(struct bench *b)
{
	OPENETW_SIZED(struct openetw_answer, a);
	uint32_t code = openetw_query_count(b->q, &a);
	return code ? code : openetw_query_rows(b->q, a.matched / 2, 100, take_row, &b->answer, NULL);
}
static uint32_t rows_again(struct bench *b)
{
	static uint64_t position;
	position += 1000003;
	return openetw_query_rows(b->q, position % (b->about.rows / 4), 100, take_row, &b->answer, NULL);
}

static void ask(struct bench *b, const char *what, const char *filter, uint32_t (*fn)(struct bench *), double least)
{
	double took[TIMES], first = 0;
	if (openetw_query_set_filter(b->q, filter) != 0) {
		printf("%-42s %s\n", what, openetw_query_problem(b->q));
		return;
	}
	for (int i = 0; i < TIMES; i++) {
		b->answer = 0;
		double began = now_ms();
		uint32_t code = fn(b);
		took[i] = now_ms() - began;
		if (code) {
			printf("%-42s failed: %s\n", what, openetw_error_text(code));
			return;
		}
	}
	first = took[0];
	struct bench_summary all = bench_summarise(took, TIMES);
	printf("%-42s %9.1f %9.1f %9.1f %8.1f  %" PRIu64 "\n", what, first, all.best, all.median, all.best / least,
	       b->answer);
}

/* The first time: nothing is known of the filter yet. */
static void ask_first(struct bench *b, const char *filter)
{
	OPENETW_SIZED(struct openetw_answer, first);
	OPENETW_SIZED(struct openetw_answer, all);
	if (openetw_query_set_filter(b->q, filter) != 0) {
		return; /* ask() says why */
	}
	double began = now_ms(), processor = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	b->answer = 0;
	uint32_t code = openetw_query_first_rows(b->q, 100, take_row, &b->answer, &first);
	double there = now_ms();
	code = code ? code : openetw_query_count(b->q, &all);
	double took = now_ms() - began, used = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - processor;
	uint64_t read = first.decoded + all.decoded;
	if (code) {
		printf("%s failed: %s\n", filter, openetw_error_text(code));
		return;
	}
	printf("%s, the first time: %" PRIu64 " rows after %.1f ms, all after %.1f ms; read %" PRIu64
	       " events in %.1f ms of processor time: %.2f M/s\n",
	       filter, b->answer, there - began, took, read, used, (double)read / (used > 0 ? used : 1) / 1e3);
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	struct bench b = {0};
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_options, how);
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: query_bench FILE.etl [FIELD-FILTER]\n");
		return 2;
	}
	const char *path = argv[1];
	unsigned threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	how.flags = OPENETW_INDEX_WRITE;
	double began = now_ms();
	if (openetw_index_open(&path, 1, &how, &x) != 0) {
		fprintf(stderr, "query_bench: %s\n", openetw_last_error_text());
		return 1;
	}
	double opened = now_ms() - began;
	b.about.size = sizeof b.about;
	openetw_index_about(x, &b.about);
	b.q = openetw_query_create(x);
	if (!b.q) {
		return 1;
	}
	double least = floor_ms(b.about.rows, threads);
	least = least > 0 ? least : 0.001;
	printf("%" PRIu64 " events, %u types, %u processes, %u threads, index %.1f bytes an event; %s in %.1f ms\n",
	       b.about.rows, b.about.types, b.about.processes, b.about.threads,
	       (double)b.about.bytes / (double)(b.about.rows ? b.about.rows : 1), b.about.reused ? "opened" : "made",
	       opened);
	printf("%u processors; floor: %.1f ms\n%-42s %9s %9s %9s %8s  %s\n", threads, least, "question", "first ms",
	       "best ms", "median", "/ floor", "answer");
	ask(&b, "types", "", types, least);
	ask(&b, "histogram, 1600 pixels", "", histogram, least);
	ask(&b, "histogram by process", "", histogram_by_process, least);
	ask(&b, "one type, histogram", "event == CSwitch", histogram, least);
	ask(&b, "one type of one process, histogram", "event == CSwitch and pid == 1020", histogram, least);
	ask(&b, "processes", "", facets, least);
	ask(&b, "processes of one type", "event == CSwitch", facets, least);
	ask(&b, "by process and type", "", group, least);
	ask(&b, "100 rows in the middle of one type", "event == CSwitch", rows, least);
	ask(&b, "100 rows anywhere in one type", "event == CSwitch", rows_again, least);
	if (argc > 2) {
		ask_first(&b, argv[2]);
		ask(&b, argv[2], argv[2], count, least);
	}
	openetw_query_destroy(b.q);
	openetw_index_close(x);
	return 0;
}
