/* SPDX-License-Identifier: MIT
 *
 * Damaged and hostile files through OpenTrace and ProcessTrace: a documented code and a text with
 * place and reason, or the good part of the file; never a crash, a hang or memory without bounds.
 * The seed is printed; HOSTILE_SEED overrides it.
 */
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>

#include "openetw/openetw.h"

#include "../corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>

#include <cmocka.h>

#define CUTS  50
#define FLIPS 20

static uint64_t state_;
static uint32_t next(void)
{
	state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state_ >> 33);
}

static char dir[] = "/tmp/openetw-hostile-XXXXXX";
static char file_path[64];
static uint64_t events;
static volatile uint8_t sum;

static void WINAPI on_event(PEVENT_RECORD e)
{
	events++;
	const uint8_t *p = e->UserData;
	for (unsigned i = 0; i < e->UserDataLength; i++) {
		sum ^= p[i];
	}
	for (unsigned i = 0; i < e->ExtendedDataCount; i++) {
		const uint8_t *d = (const uint8_t *)(uintptr_t)e->ExtendedData[i].DataPtr;
		for (unsigned k = 0; k < e->ExtendedData[i].DataSize; k++) {
			sum ^= d[k];
		}
	}
}

static void save(const uint8_t *p, size_t n)
{
	FILE *f = fopen(file_path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* Code of OpenTrace, or 0 and *ret_process that of ProcessTrace. */
static ULONG read_file(ULONG *ret_process)
{
	EVENT_TRACE_LOGFILEA log = {0};
	events = 0;
	*ret_process = 0;
	log.LogFileName = file_path;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	TRACEHANDLE h = OpenTraceA(&log);
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		ULONG code = GetLastError();
		const char *text = openetw_last_error_text();
		assert_non_null(strstr(text, file_path)); /* which file */
		assert_non_null(strstr(text, "byte"));    /* where */
		assert_true(strlen(text) > strlen(file_path) + 20);
		return code;
	}
	*ret_process = ProcessTrace(&h, 1, NULL, NULL);
	CloseTrace(h);
	return 0;
}

static uint8_t *load(size_t i, size_t *n)
{
	return (uint8_t *)corpus_load(corpus_files[i], n);
}

static void a_file_cut_anywhere_gives_what_is_left_of_it(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		size_t n = 0;
		uint8_t *p = load(i, &n);
		save(p, n);
		ULONG process;
		assert_int_equal(read_file(&process), 0);
		assert_int_equal(process, 0);
		uint64_t whole = events;
		unsigned cuts = n > 1000000 ? CUTS / 5 : CUTS;
		for (unsigned k = 0; k < cuts; k++) {
			size_t cut = ((uint64_t)next() << 20 | next()) % n;
			save(p, cut);
			ULONG code = read_file(&process);
			if (code) {
				assert_int_equal(code, ERROR_FILE_CORRUPT);
				assert_true(cut < 0x400); /* inside the header record */
				continue;
			}
			assert_int_equal(process, ERROR_SUCCESS);
			assert_true(events <= whole);
			assert_true(events >= 1);
		}
		free(p);
	}
}

static void flipped_bytes_cost_little_and_never_more(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		size_t n = 0;
		uint8_t *p = load(i, &n);
		uint8_t *copy = malloc(n);
		unsigned runs = n > 1000000 ? FLIPS / 5 : FLIPS;
		for (unsigned k = 0; k < runs; k++) {
			memcpy(copy, p, n);
			/* Every third run hits the first buffer's headers, where it hurts most. */
			size_t span = k % 3 == 0 ? 0x200 : n;
			for (unsigned flips = 1 + next() % 30; flips > 0; flips--) {
				copy[next() % span] ^= (uint8_t)(1 + next() % 255);
			}
			save(copy, n);
			ULONG process, code = read_file(&process);
			assert_true(code == 0 || code == ERROR_FILE_CORRUPT);
			assert_true(process == 0 || process == ERROR_FILE_CORRUPT);
		}
		free(copy);
		free(p);
	}
}

static void noise_behind_a_good_header_is_survived(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < CORPUS_FILES; i += 3) {
		size_t n = 0;
		uint8_t *p = load(i, &n);
		uint32_t first = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
		size_t total = first + 300000;
		uint8_t *copy = malloc(total);
		memcpy(copy, p, first);
		for (size_t k = first; k < total; k++) {
			copy[k] = (uint8_t)next();
		}
		save(copy, total);
		ULONG process;
		assert_int_equal(read_file(&process), 0);
		assert_int_equal(process, 0);
		assert_true(events >= 1);
		free(copy);
		free(p);
	}
}

static void what_is_no_trace_is_refused_with_file_place_and_reason(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {{"", 0}, {"MZ", 2}, {"<?xml version=\"1.0\"?>", 21}, {"PK\5\6", 4}};
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		save((const uint8_t *)cases[i].bytes, cases[i].n);
		ULONG process;
		assert_int_equal(read_file(&process), ERROR_FILE_CORRUPT);
	}
	uint8_t noise[100000];
	for (unsigned k = 0; k < 50; k++) {
		for (size_t i = 0; i < sizeof noise; i++) {
			noise[i] = (uint8_t)next();
		}
		save(noise, sizeof noise);
		ULONG process;
		assert_int_equal(read_file(&process), ERROR_FILE_CORRUPT);
	}
}

/* All of the above in one process. */
static void memory_stayed_bounded(void **state)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	printf("at most %ld MiB\n", r.ru_maxrss / 1024);
#ifndef __SANITIZE_ADDRESS__
	assert_true(r.ru_maxrss < 600 * 1024);
#endif
}

static int setup(void **state)
{
	const char *seed = getenv("HOSTILE_SEED");
	state_ = seed ? strtoull(seed, NULL, 0) : 20250117;
	printf("seed %llu\n", (unsigned long long)state_);
	if (!mkdtemp(dir)) {
		return -1;
	}
	snprintf(file_path, sizeof file_path, "%s/damaged.etl", dir);
	return 0;
}

static int teardown(void **state)
{
	unlink(file_path);
	rmdir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_cut_anywhere_gives_what_is_left_of_it),
		cmocka_unit_test(flipped_bytes_cost_little_and_never_more),
		cmocka_unit_test(noise_behind_a_good_header_is_survived),
		cmocka_unit_test(what_is_no_trace_is_refused_with_file_place_and_reason),
		cmocka_unit_test(memory_stayed_bounded),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
