/* SPDX-License-Identifier: MIT
 *
 * Real Windows files: counts against an independent reader's, fields against Windows' own
 * conversion and PerfView's listings, and what is left of a file that was cut or damaged.
 */
#include "etl/etl_reader.h"

#include "../../tests/corpus/corpus.h"
#include "format/etl_item.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct counts {
	uint64_t events, by_type[256], by_hook[65536];
	uint64_t first_filetime, last_filetime;
	uint64_t backwards;
};
static struct counts c;

static void count(const uint8_t *p, size_t n, uint32_t flags)
{
	memset(&c, 0, sizeof c);
	struct etl_reader *r;
	struct diag d;
	diag_clear(&d);
	assert_int_equal(etl_reader_open_memory(p, n, flags, &r, &d), 0);
	struct etl_record e;
	uint64_t last = 0;
	while (etl_reader_next(r, &e) > 0) {
		c.by_type[e.type]++;
		bool kernel = e.type <= ETL_RT_COMPACT64 || e.type == ETL_RT_PERFINFO32 || e.type == ETL_RT_PERFINFO64;
		if (kernel) {
			c.by_hook[e.hook]++;
		}
		c.backwards += c.events > 0 && e.time_raw < last;
		last = e.time_raw;
		/* derived.json's first and last times leave the log-file header out */
		if (!(kernel && e.hook >> 8 == 0)) {
			c.first_filetime = c.first_filetime ? c.first_filetime : e.time_filetime;
			c.last_filetime = BASE_MAX(c.last_filetime, e.time_filetime);
		}
		c.events++;
	}
	struct etl_problem problem;
	if (etl_reader_next_problem(r, &problem)) {
		fail_msg("unexpected problem at %llu: %s", (unsigned long long)problem.file_offset, problem.text);
	}
	etl_reader_close(r);
}

static void every_file_has_the_records_an_independent_reader_found(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	size_t json_bytes = 0;
	char *text = corpus_load("derived.json", &json_bytes);
	struct corpus_json all = {text, text + json_bytes};
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		struct corpus_json o = corpus_object(all, corpus_files[i]);
		assert_non_null(o.begin);
		size_t n = 0;
		uint8_t *p = (uint8_t *)corpus_load(corpus_files[i], &n);
		assert_non_null(p);
		for (uint32_t flags = 0; flags <= ETL_READER_FILE_ORDER; flags++) {
			count(p, n, flags);
			assert_int_equal(c.events, corpus_number(o, "events"));
			struct corpus_json types = corpus_object(o, "header_types");
			char key[64];
			uint64_t want, sum = 0;
			while (corpus_pair(&types, key, &want)) {
				assert_int_equal(c.by_type[atoi(key)], want);
				sum += want;
			}
			assert_int_equal(sum, c.events);
			struct corpus_json hooks = corpus_object(o, "hooks");
			while (corpus_pair(&hooks, key, &want)) {
				assert_int_equal(c.by_hook[strtoul(key, NULL, 16)], want);
				c.by_hook[strtoul(key, NULL, 16)] = 0;
			}
			for (unsigned h = 0; h < 65536; h++) {
				assert_int_equal(c.by_hook[h], 0);
			}
			if (flags == 0) {
				assert_int_equal(c.backwards, 0);
			}
		}
		struct etl_reader *r;
		assert_int_equal(etl_reader_open_memory(p, n, 0, &r, NULL), 0);
		const struct etl_file_info *info = etl_reader_info(r);
		assert_int_equal(info->buffers_found, corpus_number(o, "buffers"));
		assert_int_equal(info->buffers_written, corpus_number(o, "buffers"));
		assert_int_equal(info->buffer_size, corpus_number(o, "bufsize"));
		assert_int_equal(info->perf_freq, corpus_number(o, "freq"));
		assert_int_equal(info->processors, corpus_number(o, "ncpu"));
		assert_int_equal(info->pointer_size, corpus_number(o, "psz"));
		assert_int_equal(info->start_filetime, corpus_number(o, "start"));
		assert_int_equal(info->end_filetime, corpus_number(o, "end"));
		assert_int_equal(info->clock_type, corpus_number(o, "clock"));
		etl_reader_close(r);
		free(p);
	}
	free(text);
}

static uint64_t field(char **line)
{
	char *p = *line;
	*line = strchr(p, ',') ? strchr(p, ',') + 1 : p + strlen(p);
	return strtoull(p, NULL, 0);
}

static void http_server_equals_what_windows_made_of_it(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	size_t n = 0;
	char *csv = corpus_load("tx/HTTP_Server.expected.csv", &n);
	char path[4096];
	struct etl_reader *r;
	assert_int_equal(etl_reader_open(corpus_path("tx/HTTP_Server.etl", path, sizeof path), 0, &r, NULL), 0);
	struct etl_record e;
	assert_int_equal(etl_reader_next(r, &e), 1); /* the header is no event there */
	unsigned lines = 0;
	for (char *line = strchr(csv, '\n') + 1, *next; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = 0;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(field(&line), lines++);
		assert_int_equal(e.time_filetime, field(&line));
		assert_int_equal(e.id, field(&line));
		assert_int_equal(e.version, field(&line));
		assert_int_equal(e.level, field(&line));
		assert_int_equal(e.opcode, field(&line));
		assert_int_equal(e.task, field(&line));
		assert_int_equal(e.keyword, field(&line));
		assert_int_equal(e.pid, field(&line));
		assert_int_equal(e.tid, field(&line));
		assert_int_equal(e.cpu, field(&line));
		assert_int_equal(e.kernel_time, field(&line));
		assert_int_equal(e.user_time, field(&line));
		char text[37];
		if (*line == ',') {
			assert_true(guid_is_zero(&e.activity));
		} else {
			assert_memory_equal(guid_format(&e.activity, text), line, 36);
		}
		line = strchr(line, ',') + 1;
		uint32_t at = 0;
		uint16_t type, bytes;
		const uint8_t *data;
		bool related = false;
		while (e.items && etl_item_next(e.items, e.items_bytes, &at, &type, &data, &bytes)) {
			if (type == ETL_ITEM_RELATED_ACTIVITYID) {
				struct guid g;
				assert_int_equal(bytes, 16);
				memcpy(&g, data, 16);
				assert_memory_equal(guid_format(&g, text), line, 36);
				related = true;
			}
		}
		assert_int_equal(related, strlen(line) >= 36);
	}
	assert_int_equal(lines, 2041);
	assert_int_equal(etl_reader_next(r, &e), 0);
	etl_reader_close(r);
	free(csv);
}

struct seen {
	int64_t after_start; /* 100 ns */
	uint32_t cpu, bytes, pid, tid;
	bool identified; /* pid and tid stand in the record */
};

static double number_with_commas(const char *p)
{
	char buf[64];
	size_t k = 0;
	for (; *p && *p != ':' && k < sizeof buf - 1; p++) {
		if (*p != ',') {
			buf[k++] = *p;
		}
	}
	buf[k] = 0;
	return atof(buf);
}

static uint32_t after(const char *line, const char *key)
{
	const char *p = strstr(line, key);
	return p ? (uint32_t)strtol(p + strlen(key), NULL, 10) : UINT32_MAX;
}

static void compare_with_listing(const char *etl, const char *baseline, unsigned least)
{
	char path[4096];
	struct etl_reader *r;
	assert_int_equal(etl_reader_open(corpus_path(etl, path, sizeof path), 0, &r, NULL), 0);
	size_t cap = 200000, n = 0;
	struct seen *all = calloc(cap, sizeof *all);
	struct etl_record e;
	while (etl_reader_next(r, &e) > 0) {
		assert_true(n < cap);
		all[n++] = (struct seen){
			(int64_t)(e.time_filetime - etl_reader_info(r)->start_filetime),
			e.cpu,
			e.payload_bytes,
			e.pid,
			e.tid,
			e.type == ETL_RT_EVENT32 || e.type == ETL_RT_EVENT64,
		};
	}
	etl_reader_close(r);
	size_t bytes = 0;
	char *text = corpus_load(baseline, &bytes);
	assert_non_null(text);
	unsigned lines = 0;
	for (char *line = text, *next; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (strncmp(line, "EVENT ", 6) != 0) {
			continue;
		}
		char one[512];
		snprintf(one, sizeof one, "%.*s", (int)BASE_MIN(next - line, 500), line);
		double want = number_with_commas(one + 6) * 10000.0;
		uint32_t cpu = after(one, "ProceNum="), len = after(one, "DataLen=");
		uint32_t pid = after(one, "PID="), tid = after(one, "TID=");
		bool found = false;
		for (size_t i = 0; i < n && !found; i++) {
			/* listed to the microsecond */
			found = fabs((double)all[i].after_start - want) <= 5.5 && all[i].cpu == cpu &&
				all[i].bytes == len && (!all[i].identified || (all[i].pid == pid && all[i].tid == tid));
		}
		if (!found) {
			fail_msg("no record for: %s", one);
		}
		lines++;
	}
	assert_true(lines >= least);
	free(text);
	free(all);
}

static void perfview_lists_the_same_times_processors_and_lengths(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	compare_with_listing("perfview/gcevents.etl", "perfview/gcevents.baseline.txt", 20);
	compare_with_listing("perfview/primitive-types.etl", "perfview/primitive-types.baseline.txt", 5);
	compare_with_listing("perfview/net.4.5.2.x86.etl", "perfview/net.4.5.2.x86.baseline.txt", 300);
}

/* Records per buffer of an undamaged file. */
struct shape {
	uint64_t offset[512];
	unsigned records[512], count;
};

static void shape_of(const uint8_t *p, size_t n, struct shape *s)
{
	memset(s, 0, sizeof *s);
	for (size_t at = 0; at < n; at += le32_get(p + at)) {
		assert_true(s->count < 512);
		s->offset[s->count++] = at;
	}
	struct etl_reader *r;
	assert_int_equal(etl_reader_open_memory(p, n, ETL_READER_FILE_ORDER, &r, NULL), 0);
	struct etl_record e;
	unsigned k = 0;
	while (etl_reader_next(r, &e) > 0) {
		while (s->offset[k] != e.file_offset) {
			k++;
		}
		s->records[k]++;
	}
	etl_reader_close(r);
}

static void a_cut_file_gives_every_record_of_its_whole_buffers(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		size_t n = 0;
		uint8_t *p = (uint8_t *)corpus_load(corpus_files[i], &n);
		static struct shape s;
		shape_of(p, n, &s);
		unsigned step = s.count > 60 ? s.count / 15 : 1; /* keep the big ones short */
		for (unsigned k = 1; k < s.count; k += step) {
			uint64_t end = k + 1 < s.count ? s.offset[k + 1] : n;
			uint64_t cuts[] = {s.offset[k], s.offset[k] + 0x20, s.offset[k] + 0x48,
					   s.offset[k] + (end - s.offset[k]) / 3, end - 1};
			unsigned whole = 0;
			for (unsigned b = 0; b < k; b++) {
				whole += s.records[b];
			}
			for (size_t j = 0; j < BASE_ARRAY_LEN(cuts); j++) {
				if (cuts[j] > end) {
					continue;
				}
				uint8_t *copy = malloc(cuts[j]);
				memcpy(copy, p, cuts[j]);
				struct etl_reader *r;
				assert_int_equal(etl_reader_open_memory(copy, cuts[j], 0, &r, NULL), 0);
				unsigned got = 0;
				struct etl_record e;
				while (etl_reader_next(r, &e) > 0) {
					got++;
				}
				assert_in_range(got, whole, whole + s.records[k]);
				struct etl_problem problem;
				if (etl_reader_next_problem(r, &problem)) {
					assert_int_equal(problem.file_offset, s.offset[k]);
				} else {
					/* nothing said: nothing was lost, or not a byte is there */
					assert_true(got == whole + s.records[k] || cuts[j] == s.offset[k]);
				}
				assert_false(etl_reader_next_problem(r, &problem));
				etl_reader_close(r);
				free(copy);
			}
		}
		free(p);
	}
}

static void damage_in_one_buffer_leaves_the_others_whole(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	uint64_t seed = 12345;
	printf("seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		size_t n = 0;
		uint8_t *p = (uint8_t *)corpus_load(corpus_files[i], &n);
		static struct shape s;
		shape_of(p, n, &s);
		unsigned total = 0;
		for (unsigned b = 0; b < s.count; b++) {
			total += s.records[b];
		}
		for (unsigned run = 0; run < (n > 1000000 ? 15u : 60u); run++) {
			uint8_t *copy = malloc(n);
			memcpy(copy, p, n);
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			unsigned b = 1 + (unsigned)(seed >> 33) % (s.count - 1);
			uint64_t end = b + 1 < s.count ? s.offset[b + 1] : n;
			unsigned flips = 1 + run % 4;
			for (unsigned k = 0; k < flips; k++) {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				/* every other run in the buffer header */
				uint64_t span = run & 1 ? 0x48 : end - s.offset[b];
				copy[s.offset[b] + (seed >> 33) % span] ^= (uint8_t)(1 + seed % 255);
			}
			struct etl_reader *r;
			assert_int_equal(etl_reader_open_memory(copy, n, 0, &r, NULL), 0);
			unsigned others = 0;
			struct etl_record e;
			while (etl_reader_next(r, &e) > 0) {
				others += e.file_offset != s.offset[b];
			}
			if (others != total - s.records[b]) {
				struct etl_problem problem;
				while (etl_reader_next_problem(r, &problem)) {
					printf("%llu: %s\n", (unsigned long long)problem.file_offset, problem.text);
				}
				fail_msg("%s: buffer %u at %llu damaged in run %u, %u of %u other "
					 "records",
					 corpus_files[i], b, (unsigned long long)s.offset[b], run, others,
					 total - s.records[b]);
			}
			etl_reader_close(r);
			free(copy);
		}
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_has_the_records_an_independent_reader_found),
		cmocka_unit_test(http_server_equals_what_windows_made_of_it),
		cmocka_unit_test(perfview_lists_the_same_times_processors_and_lengths),
		cmocka_unit_test(a_cut_file_gives_every_record_of_its_whole_buffers),
		cmocka_unit_test(damage_in_one_buffer_leaves_the_others_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
