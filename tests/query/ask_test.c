/* SPDX-License-Identifier: MIT
 *
 * Questions over real files: each filter selects as many events as `openetw dump --filter` prints, whether columns decide
 * it or events have to be read; and all questions agree with each other.
 */
#include "../corpus/corpus.h"
#include "made_trace.h"

#include "openetw/query.h"
#include "openetw/error.h"

#include "evntcons.h"

#include <glob.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Some mean one file only; in the others they select nothing, which has to agree, too. */
static const char *const filters[] = {
	"id >= 0",
	"level <= 3",
	"level == 4 and opcode != 0",
	"opcode == 1 or opcode == 2",
	"provider ~ Kernel",
	"provider == Microsoft-Windows-DotNETRuntime",
	"event ~ Start",
	"event == Start",
	"keywords & 0x10",
	"pid > 1000",
	"pid == 4 or tid == 8",
	"tid",
	"process ~ e",
	"not process",
	"process == svchost.exe and level < 5",
	"cpu == 0",
	"cpu > 0 and (level == 0 or pid < 2000)",
	"version == 2",
	"task == 1",
	"channel == 16",
	"time > 1s",
	"time in 100ms..2s",
	"length > 100",
	"length in 8..16 or level == 2",
	"activity",
	"relatedActivity",
	"providerGuid ~ 3d6f",
	/* fields */
	"ProcessId",
	"ProcessId > 0 and level <= 4",
	"not ProcessId",
	"ImageFileName ~ exe",
	"ThreadID > 100 or pid == 0",
	"ImageName =~ /dll$/i",
	"ModuleID",
	"MethodNamespace ~ System and opcode > 0",
	"text has \"System\"",
	"text has \"exe\" and not level == 0",
	"Count >= 1",
	"file ~ windows",
	"file ~ .dll and opcode != 67",
	"stack has \"ntdll\"",
	"not stack has \"ntoskrnl*\" and pid > 8",
};

#define FILTERS (sizeof filters / sizeof filters[0])
static uint64_t found[FILTERS]; /* by each, in all files */
static unsigned wrong;

static uint64_t lines_of(const char *path, const char *filter)
{
	char command[8192], line[65536];
	uint64_t n = 0;
	bool begin = true;
	snprintf(command, sizeof command, "%s dump --json --utc --filter '%s' '%s' 2>/dev/null",
		 getenv("OPENETW_COMMAND"), filter, path);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		n += begin;
		begin = strchr(line, '\n') != NULL;
	}
	/* 1: there was no such event. */
	int status = pclose(f);
	assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == 1 && n == 0)));
	return n;
}

struct sum {
	uint64_t events;
};
static bool add_facet(void *context, const struct openetw_facet *f)
{
	((struct sum *)context)->events += f->count;
	return true;
}

struct rows_seen {
	struct openetw_query *q;
	uint64_t count;
	int64_t last;
};
static bool next_row(void *context, const struct openetw_row *r)
{
	struct rows_seen *s = context;
	assert_int_equal(r->position, s->count);
	s->count++;
	return s->count < 100;
}

/* The sums of a histogram and of facets are the number of events. */
static void agrees(struct openetw_query *q, const struct openetw_index_about *about, uint64_t matched)
{
	OPENETW_SIZED(struct openetw_histogram, h);
	OPENETW_SIZED(struct openetw_answer, a);
	struct sum sum = {0};
	struct rows_seen seen = {.q = q};
	uint64_t all = 0;
	assert_int_equal(openetw_query_histogram(q, about->first, about->last + 1, 77, OPENETW_BY_TYPE, 5, &h), 0);
	for (uint32_t i = 0; i < h.series; i++) {
		all += h.totals[i];
	}
	assert_int_equal(all, matched);
	h.size = sizeof h;
	assert_int_equal(openetw_query_histogram(q, about->first, about->last + 1, 77, OPENETW_BY_NOTHING, 5, &h), 0);
	assert_true(h.series == 1 && h.totals[0] == matched); /* also of no events */
	assert_int_equal(openetw_query_facets(q, OPENETW_BY_PROCESS, UINT32_MAX, add_facet, &sum, &a), 0);
	assert_int_equal(sum.events, matched);
	sum.events = 0;
	assert_int_equal(openetw_query_set_field(q, "ProcessId"), 0);
	assert_int_equal(openetw_query_facets(q, OPENETW_BY_FIELD, UINT32_MAX, add_facet, &sum, &a), 0);
	assert_int_equal(sum.events, matched);
	assert_int_equal(openetw_query_set_field(q, NULL), 0);
	assert_int_equal(openetw_query_rows(q, 0, UINT64_MAX, next_row, &seen, &a), 0);
	assert_int_equal(seen.count, matched < 100 ? matched : 100);
}

static void check_file(const char *path)
{
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_index_about, about);
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(&path, 1, &o, &x), 0);
	assert_int_equal(openetw_index_about(x, &about), 0);
	struct openetw_query *q = openetw_query_create(x);
	for (size_t i = 0; i < FILTERS; i++) {
		OPENETW_SIZED(struct openetw_answer, a);
		if (openetw_query_set_filter(q, filters[i]) != 0) {
			fail_msg("%s: %s", filters[i], openetw_query_problem(q));
		}
		assert_int_equal(openetw_query_count(q, &a), 0);
		uint64_t lines = lines_of(path, filters[i]);
		if (a.matched != lines) {
			print_message("%s: %s: %llu here, %llu lines of dump\n", path, filters[i],
				      (unsigned long long)a.matched, (unsigned long long)lines);
			wrong++;
		}
		found[i] += a.matched;
		agrees(q, &about, a.matched);
	}
	openetw_query_destroy(q);
	openetw_index_close(x);
}

/* A filter that finds nothing anywhere tests nothing. */
static void all_found_something(void)
{
	for (size_t i = 0; i < FILTERS; i++) {
		if (found[i] == 0) {
			fail_msg("no file has an event of %s", filters[i]);
		}
	}
}

static void filters_select_what_dump_prints(void **state)
{
	char path[4096];
	glob_t g = {0};
	if (!corpus_present() || !getenv("OPENETW_COMMAND")) {
		skip();
	}
	assert_int_equal(glob(corpus_path("*/*.etl", path, sizeof path), 0, NULL, &g), 0);
	glob(corpus_path("*/*/*.etl", path, sizeof path), GLOB_APPEND, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		check_file(g.gl_pathv[i]);
	}
	globfree(&g);
	assert_int_equal(wrong, 0);
	all_found_something();
}

/* ---- what nobody can decode ------------------------------------------------------------------------ */

static void put_event(struct etl_build *b, uint32_t i, const uint8_t provider[16], uint32_t id, const void *payload,
		      uint32_t bytes)
{
	uint8_t *r = etl_build_record(b, 0x50 + bytes);
	etl_build_u16(r, 0x50 + bytes);
	etl_build_u16(r + 2, 0xC013);
	etl_build_u64(r + 0x10, 1000 + (uint64_t)i * MADE_STEP);
	memcpy(r + 0x18, provider, 16);
	etl_build_u16(r + 0x28, id);
	memcpy(r + 0x50, payload, bytes);
}

/* Of a provider that nobody knows, and an event of .NET (GCEnd) with more bytes than it has. */
static void write_undecodable(const char *path)
{
	static const uint8_t unknown[16] = {0xAB, 0xCD}, dotnet[16] = {0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e,
								       0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4};
	static const uint8_t odd[] = {7, 'S', 0, 'e', 0, 's', 0, 'a', 0, 'm', 0, 'e', 0, '!', 0, 0, 0};
	static const char narrow[] = "open sesame\0tail";
	static const uint8_t more[] = {1, 0, 0, 0, 2, 0, 0, 0, 9, 9, 's', 0, 'e', 0, 's', 0, 'a', 0, 'm', 0, 'e', 0};
	const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 1000, .start_filetime = MADE_START, .mode = 1};
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	etl_build_begin(&b, 0, b.buffers);
	put_event(&b, 1, unknown, 1, odd, sizeof odd);
	put_event(&b, 2, unknown, 2, narrow, sizeof narrow);
	put_event(&b, 3, unknown, 3, "\0\1\2", 3);
	put_event(&b, 4, unknown, 4, "", 0);
	put_event(&b, 5, dotnet, 2, more, sizeof more);
	etl_build_end(&b, 1000 + 6 * MADE_STEP);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b.mem, b.buffer_size, b.buffers, f), b.buffers);
	assert_int_equal(fclose(f), 0);
	free(b.mem);
}

static void texts_are_found_in_bytes_that_nobody_can_decode(void **state)
{
	static const struct {
		const char *filter;
		uint64_t events;
	} cases[] = {
		{"text has SESAME", 3},
		{"text has \"open*same\"", 1},
		{"text has \"sesame*tail\"", 0}, /* a NUL stands between them */
		{"text has \"ta?l\"", 1},
		{"text has \"sesame\" and provider ~ dotnet", 1},
		{"text has \"*same?\"", 1},
		{"text has schema", 0}, /* why it could not be decoded */
		{"text has manifest or text has 00", 0},
	};
	char folder[64], path[96];
	const char *name = path;
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_options, o);
	if (!getenv("OPENETW_COMMAND")) {
		skip();
	}
	made_folder(folder, sizeof folder, "ask");
	snprintf(path, sizeof path, "%s/undecodable.etl", folder);
	write_undecodable(path);
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(&name, 1, &o, &x), 0);
	struct openetw_query *q = openetw_query_create(x);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		OPENETW_SIZED(struct openetw_answer, a);
		assert_int_equal(openetw_query_set_filter(q, cases[i].filter), 0);
		assert_int_equal(openetw_query_count(q, &a), 0);
		uint64_t lines = lines_of(path, cases[i].filter);
		if (a.matched != cases[i].events || lines != cases[i].events) {
			fail_msg("%s: %llu here, %llu lines of dump", cases[i].filter, (unsigned long long)a.matched,
				 (unsigned long long)lines);
		}
	}
	openetw_query_destroy(q);
	openetw_index_close(x);
	assert_int_equal(made_folder_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_found_in_bytes_that_nobody_can_decode),
		cmocka_unit_test(filters_select_what_dump_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
