/* SPDX-License-Identifier: MIT
 *
 * include/openetw/reader.h and recorder.h as programs use them: real files, a file made by hand, a live
 * session of a daemon of the test's own.
 */
#include "openetw/decode.h"
#include "openetw/openetw.h"
#include "openetw/reader.h"
#include "openetw/recorder.h"

#include "../control/control_testing.h"
#include "../corpus/corpus.h"
#include "../corpus/etl_build.h"
#include "sizes.h"

#include <windows.h>
#include <evntcons.h>
#include <evntprov.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

/* ---- files ------------------------------------------------------------------------------------- */

/* `count` string events of provider 77… with the text "event N", pid N % 3 + 1. */
static const char *make_file(uint32_t count)
{
	const char *path = testing_path("made.etl");
	struct etl_build b;
	etl_build_start(&b, 65536,
			&(struct etl_build_header){.clock_type = 1,
						   .perf_freq = 10000000,
						   .start_raw = 1000,
						   .start_filetime = 132404547797984230ull});
	uint32_t in_buffer = 0;
	for (uint32_t i = 0; i < count; i++) {
		char text[16];
		if (in_buffer == 0) {
			etl_build_begin(&b, 2, b.buffers);
		}
		int n = snprintf(text, sizeof text, "event %u", i) + 1;
		uint8_t *p = etl_build_record(&b, 0x50 + 2 * (uint32_t)n);
		etl_build_u16(p, 0x50 + 2 * (unsigned)n);
		etl_build_u16(p + 2, 0xC013);
		etl_build_u16(p + 4, 4); /* a string */
		etl_build_u32(p + 8, 100);
		etl_build_u32(p + 12, i % 3 + 1);
		etl_build_u64(p + 0x10, 2000 + i);
		memset(p + 0x18, i % 2 ? 0x77 : 0x66, 16);
		p[0x2C] = (uint8_t)(i % 5 + 1);
		for (int k = 0; k < n; k++) {
			p[0x50 + 2 * k] = (uint8_t)text[k];
		}
		if (++in_buffer == 500 || i + 1 == count) {
			etl_build_end(&b, 2000 + i);
			in_buffer = 0;
		}
	}
	FILE *f = fopen(path, "wb");
	fwrite(b.mem, b.buffer_size, b.buffers, f);
	fclose(f);
	free(b.mem);
	return path;
}

/* All events; the last code. */
static uint32_t read_to_end(struct openetw_reader *r, uint64_t *ret_count,
			    void (*look)(const struct openetw_event *e, uint64_t i))
{
	struct openetw_batch b = {.size = sizeof b};
	uint32_t code;
	*ret_count = 0;
	while ((code = openetw_reader_next(r, OPENETW_READER_FOREVER, &b)) == ERROR_SUCCESS) {
		assert_true(b.count > 0);
		for (uint32_t i = 0; i < b.count; i++, ++*ret_count) {
			if (look) {
				look(openetw_batch_event(&b, i), *ret_count);
			}
		}
	}
	return code;
}

static void look_at_made(const struct openetw_event *e, uint64_t i)
{
	if (i == 0) { /* the file's own header */
		return;
	}
	char json[64];
	snprintf(json, sizeof json, "event %llu", (unsigned long long)i - 1);
	assert_non_null(strstr(e->json, json));
	assert_int_equal(strlen(e->json), e->json_length);
	assert_int_equal(e->result, OPENETW_DECODED);
	assert_int_equal(e->pid, (i - 1) % 3 + 1);
	assert_int_equal(e->tid, 100);
	assert_int_equal(e->cpu, 2);
	assert_int_equal(e->level, (i - 1) % 5 + 1);
	assert_int_equal(e->time, 132404547797984230ull + 1000 + i - 1);
	assert_non_null(e->record);
	assert_int_equal(e->record->EventHeader.ProcessId, e->pid);
	assert_int_equal(e->record->UserDataLength, 2 * (strlen(json) + 1));
	assert_memory_equal(e->record->UserData, u"event ", 12);
}

static void all_events_of_a_file_come_in_order_raw_and_decoded(void **state)
{
	const char *path = make_file(5000);
	struct openetw_reader *r = openetw_reader_create();
	uint64_t n;
	openetw_reader_add_file(r, path);
	openetw_reader_set_content(r, OPENETW_READER_RAW | OPENETW_READER_JSON);
	openetw_reader_attach(r, OPENETW_READER_CPU);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(openetw_reader_start(r), ERROR_INVALID_STATE);
	assert_int_equal(read_to_end(r, &n, look_at_made), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 5001);
	assert_int_equal(openetw_reader_dropped(r), 0);
	openetw_reader_destroy(r);
}

static void look_at_events_alone(const struct openetw_event *e, uint64_t i)
{
	look_at_made(e, i + 1);
}

static void records_of_the_file_itself_can_be_left_out(void **state)
{
	char path[4096];
	uint64_t n;
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, make_file(50));
	openetw_reader_set_content(r, OPENETW_READER_RAW | OPENETW_READER_JSON | OPENETW_READER_EVENTS);
	openetw_reader_attach(r, OPENETW_READER_CPU);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, look_at_events_alone), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 50);
	openetw_reader_destroy(r);
	if (!corpus_present()) {
		return;
	}
	r = openetw_reader_create();
	openetw_reader_add_file(r, corpus_path("perfview/net.4.5.2.x86.etl", path, sizeof path));
	openetw_reader_set_content(r, OPENETW_READER_NAMES | OPENETW_READER_EVENTS);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 168204); /* as its index has rows */
	openetw_reader_destroy(r);
}

static void a_queue_of_one_event_loses_nothing_when_it_waits(void **state)
{
	const char *path = make_file(3000);
	struct openetw_reader *r = openetw_reader_create();
	uint64_t n;
	openetw_reader_add_file(r, path);
	openetw_reader_set_queue(r, 1, 65536, OPENETW_READER_WAIT);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 3001);
	openetw_reader_destroy(r);
}

/* Ends of the file are seen by its filter. */
struct ends {
	pthread_mutex_t lock;
	uint32_t seen;
};

static bool count_seen(void *context, const openetw_event_record *e)
{
	struct ends *s = context;
	pthread_mutex_lock(&s->lock);
	s->seen++;
	pthread_mutex_unlock(&s->lock);
	return true;
}

static void a_queue_that_drops_counts_what_it_drops(void **state)
{
	const char *path = make_file(3000);
	struct openetw_reader *r = openetw_reader_create();
	struct ends s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	uint64_t n;
	openetw_reader_add_file(r, path);
	openetw_reader_set_queue(r, 100, 1 << 20, OPENETW_READER_DROP);
	openetw_reader_set_filter(r, count_seen, &s);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	for (uint32_t seen = 0; seen < 3001;) { /* nobody takes anything until all was read */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		pthread_mutex_lock(&s.lock);
		seen = s.seen;
		pthread_mutex_unlock(&s.lock);
	}
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 100);
	assert_int_equal(openetw_reader_dropped(r), 2901);
	openetw_reader_destroy(r);
}

static bool every_tenth(void *context, const openetw_event_record *e)
{
	uint32_t *n = context;
	return (*n)++ % 10 == 0;
}

struct twenty {
	struct openetw_reader *r;
	uint32_t calls;
};

static bool until_twenty(void *context, const openetw_event_record *e)
{
	struct twenty *t = context;
	if (++t->calls == 20) {
		openetw_reader_stop(t->r);
	}
	return true;
}

static void process_provider_range_and_filter_select(void **state)
{
	const char *path = make_file(900);
	uint8_t guid[16];
	uint32_t calls = 0;
	uint64_t n;
	memset(guid, 0x77, sizeof guid);

	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, path);
	openetw_reader_add_pid(r, 2);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	read_to_end(r, &n, NULL);
	assert_int_equal(n, 300);
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_add_file(r, path);
	openetw_reader_add_provider(r, (const struct openetw_guid *)guid);
	openetw_reader_set_filter(r, every_tenth, &calls);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	read_to_end(r, &n, NULL);
	assert_int_equal(calls, 450);
	assert_int_equal(n, 45);
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_add_file(r, path);
	openetw_reader_add_provider(r, (const struct openetw_guid *)guid);
	openetw_reader_set_range(r, 132404547797984230ull + 1000, 132404547797984230ull + 1099);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	read_to_end(r, &n, NULL);
	assert_int_equal(n, 50);
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	struct twenty t = {.r = r};
	openetw_reader_add_file(r, path);
	openetw_reader_set_filter(r, until_twenty, &t);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 19);
	assert_int_equal(t.calls, 20);
	openetw_reader_destroy(r);
}

static void a_stop_handle_ends_the_reading_and_outlives_the_reader(void **state)
{
	const char *path = make_file(20000);
	struct openetw_reader *r = openetw_reader_create();
	struct openetw_batch b = {.size = sizeof b};
	uint64_t n;
	openetw_reader_add_file(r, path);
	openetw_reader_set_queue(r, 300, 1 << 20, OPENETW_READER_WAIT);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	struct openetw_stopper *s = openetw_reader_stopper(r);
	assert_int_equal(openetw_reader_next(r, OPENETW_READER_FOREVER, &b), ERROR_SUCCESS);
	openetw_stopper_stop(s);
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	assert_true(n < 20000);
	openetw_reader_destroy(r);
	openetw_stopper_stop(s);
	openetw_stopper_release(s);
}

static void mistakes_are_told_at_the_start(void **state)
{
	struct openetw_reader *r = openetw_reader_create();
	struct openetw_batch b = {.size = sizeof b};
	assert_int_equal(openetw_reader_next(r, 0, &b), ERROR_INVALID_STATE);
	assert_int_equal(openetw_reader_start(r), ERROR_INVALID_PARAMETER);
	assert_non_null(strstr(openetw_reader_problem(r), "nothing to read"));
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_add_file(r, "/nowhere/at/all.etl");
	assert_int_equal(openetw_reader_start(r),
			 ERROR_PATH_NOT_FOUND == openetw_reader_start(r) ? ERROR_PATH_NOT_FOUND : ERROR_FILE_NOT_FOUND);
	assert_non_null(strstr(openetw_reader_problem(r), "/nowhere/at/all.etl"));
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_set_session(r, "");
	openetw_reader_set_range(r, 2, 1); /* the first mistake is the one told */
	assert_int_equal(openetw_reader_start(r), ERROR_INVALID_NAME);
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_set_range(r, 2, 1);
	assert_int_equal(openetw_reader_start(r), ERROR_INVALID_TIME);
	openetw_reader_destroy(r);

	r = openetw_reader_create();
	openetw_reader_set_queue(r, 0, 65536, OPENETW_READER_WAIT);
	assert_int_equal(openetw_reader_start(r), ERROR_INVALID_PARAMETER);
	assert_non_null(strstr(openetw_reader_problem(r), "no events"));
	openetw_reader_destroy(r);
}

static uint64_t with_stack, with_process, samples;

static void look_at_real(const struct openetw_event *e, uint64_t i)
{
	with_stack += e->stack_count > 0;
	with_process += e->process != NULL;
	samples += strcmp(e->name, "PerfInfo/SampleProf") == 0 && e->stack_count > 0;
}

static void a_real_trace_gives_processes_and_stacks(void **state)
{
	char path[4096];
	uint64_t n;
	if (!corpus_present()) {
		skip();
	}
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, corpus_path("perfview/net.4.5.2.x86.etl", path, sizeof path));
	openetw_reader_set_content(r, OPENETW_READER_JSON);
	openetw_reader_attach(r, OPENETW_READER_ORIGIN | OPENETW_READER_STACKS);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, look_at_real), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 168298);
	assert_true(with_stack > 10000);
	assert_true(with_process > 50000);
	assert_true(samples > 5000);
	openetw_reader_destroy(r);
}

/* ---- what a file tells of itself --------------------------------------------------------------- */

static void write_file(const struct etl_build *b, const char *path)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b->mem, b->buffer_size, b->buffers, f), b->buffers);
	fclose(f);
}

static void look_at_late(const struct openetw_event *e, uint64_t i)
{
	if (i == 1) {
		assert_string_equal(e->provider, "Late");
		assert_string_equal(e->name, "First");
		assert_string_equal(e->json, "{\"n\":77}");
	}
}

static void a_manifest_at_the_end_explains_what_came_before(void **state)
{
	static const char manifest[] =
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
		"<instrumentation><events><provider name='Late' symbol='Late' resourceFileName='x' "
		"messageFileName='x' guid='{abababab-abab-abab-abab-abababababab}'><tasks>"
		"<task name='First' value='1'/></tasks><events>"
		"<event value='1' version='0' task='First' template='T'/></events><templates>"
		"<template tid='T'><data name='n' inType='win:UInt32'/></template></templates>"
		"</provider></events></instrumentation></instrumentationManifest>";
	const char *path = testing_path("late.etl");
	struct etl_build b;
	uint64_t n;
	etl_build_start(&b, 8192, &(struct etl_build_header){.clock_type = 1, .perf_freq = 10000000});
	etl_build_begin(&b, 0, 1);
	uint8_t *first = etl_build_event(&b, 10, 1, 77);
	etl_build_u16(first + 0x2E, 1); /* the task */
	uint32_t bytes = 0x58 + sizeof manifest - 1;
	uint8_t *p = etl_build_record(&b, bytes);
	etl_build_u16(p, bytes);
	etl_build_u16(p + 2, 0xC013);
	etl_build_u64(p + 0x10, 20);
	memset(p + 0x18, 0xAB, 16);
	etl_build_u16(p + 0x28, 0xFFFE);
	p[0x2A] = 1;
	p[0x2D] = 0xFE;
	etl_build_u16(p + 0x2E, 0xFFFE);
	etl_build_u32(p + 0x50, 0x5B000101);
	etl_build_u16(p + 0x54, 1);
	memcpy(p + 0x58, manifest, sizeof manifest - 1);
	etl_build_end(&b, 30);
	write_file(&b, path);
	free(b.mem);
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, path);
	openetw_reader_set_content(r, OPENETW_READER_JSON);
	openetw_reader_attach(r, OPENETW_READER_ORIGIN); /* what reads ahead */
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	assert_int_equal(read_to_end(r, &n, look_at_late), ERROR_NO_MORE_ITEMS);
	assert_int_equal(n, 3);
	openetw_reader_destroy(r);
}

static void next_loss(TRACEHANDLE h, uint32_t kind, uint32_t cpu, uint64_t count, uint64_t from, uint64_t to)
{
	struct openetw_loss_range l = {.size = sizeof l};
	assert_int_equal(openetw_trace_next_loss(h, &l), ERROR_SUCCESS);
	assert_int_equal(l.kind, kind);
	assert_int_equal(l.processor, cpu);
	assert_int_equal(l.count, count);
	assert_int_equal(l.from, from);
	assert_int_equal(l.to, to);
}

static void a_file_shows_when_something_was_lost(void **state)
{
	const uint64_t start = 132404547797984230ull;
	const char *path = testing_path("loss.etl");
	/* Buffers of processors 0, 1, 0: the last says that events were lost, and 4 to 6 are not
	 * there. Ticks are 100 ns, so a raw time r is FILETIME start + r. */
	static const struct {
		unsigned cpu, sequence, flag;
		uint64_t time;
	} buffers[] = {{0, 1, 0x20, 1000}, {1, 2, 0x20, 1500}, {0, 3, 0x20, 2000}, {0, 7, 0x22, 9000}};
	struct etl_build b;
	etl_build_start(&b, 1024,
			&(struct etl_build_header){.clock_type = 1, .perf_freq = 10000000, .start_filetime = start});
	for (size_t i = 0; i < 4; i++) {
		etl_build_begin(&b, buffers[i].cpu, buffers[i].sequence);
		etl_build_event(&b, buffers[i].time, 1, 0);
		etl_build_u16(etl_build_here(&b) + 0x34, buffers[i].flag);
		etl_build_end(&b, buffers[i].time);
	}
	write_file(&b, path);
	free(b.mem);
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (char *)(uintptr_t)path,
				    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD};
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	next_loss(h, OPENETW_LOST_EVENTS, 0, 0, start + 2000, start + 9000);
	next_loss(h, OPENETW_LOST_MISSING, UINT32_MAX, 3, start + 2000, start + 9000);
	struct openetw_loss_range l = {.size = sizeof l};
	assert_int_equal(openetw_trace_next_loss(h, &l), ERROR_NO_MORE_ITEMS);
	l.size = 1;
	assert_int_equal(openetw_trace_next_loss(h, &l), ERROR_INVALID_PARAMETER);
	CloseTrace(h);
}

/* ---- sessions ---------------------------------------------------------------------------------- */

static struct openetw_recorder *good_recorder(const char *name)
{
	struct openetw_recorder *s = openetw_recorder_create(name);
	openetw_recorder_set_live(s, 1);
	openetw_recorder_set_flush(s, 10);
	openetw_recorder_add_provider(s, "{71e4037d-56b7-5e7c-163b-9a48a5792f88}", 0, 0, 0, 0);
	return s;
}

static void expect(struct openetw_recorder *s, enum openetw_mistake wanted, const char *says)
{
	assert_int_equal(openetw_recorder_check(s), wanted);
	if (says) {
		assert_non_null(strstr(openetw_recorder_problem(s), says));
		assert_int_equal(openetw_recorder_start(s), ERROR_INVALID_PARAMETER);
	}
	openetw_recorder_destroy(s);
}

static void every_mistake_of_a_session_has_its_value_and_sentence(void **state)
{
	char name[1100], path[1100];
	memset(name, 'n', sizeof name);
	name[1024] = 0;
	memset(path, 'p', sizeof path);
	path[1024] = 0;
	expect(good_recorder("fine"), OPENETW_MISTAKE_NONE, NULL);
	expect(good_recorder(""), OPENETW_MISTAKE_NAME_EMPTY, "no name");
	expect(good_recorder(NULL), OPENETW_MISTAKE_NAME_EMPTY, "no name");
	expect(good_recorder(name), OPENETW_MISTAKE_NAME_TOO_LONG, "1024 UTF-16 units");
	expect(good_recorder("a\xff"), OPENETW_MISTAKE_NAME_INVALID, "UTF-8");
	expect(good_recorder("a\nb"), OPENETW_MISTAKE_NAME_INVALID, "control");

	struct openetw_recorder *s = good_recorder("n");
	openetw_recorder_set_live(s, 0);
	expect(s, OPENETW_MISTAKE_NO_OUTPUT, "neither a file");
	s = good_recorder("n");
	openetw_recorder_set_file(s, "", 0, OPENETW_RECORDER_SEQUENTIAL);
	expect(s, OPENETW_MISTAKE_PATH_EMPTY, "path");
	s = good_recorder("n");
	openetw_recorder_set_file(s, path, 0, OPENETW_RECORDER_SEQUENTIAL);
	expect(s, OPENETW_MISTAKE_PATH_TOO_LONG, "1023");
	s = good_recorder("n");
	openetw_recorder_set_file(s, "x.etl", 0, 9);
	expect(s, OPENETW_MISTAKE_FILE_MODE, "mode 9");
	s = good_recorder("n");
	openetw_recorder_set_file(s, "x.etl", 0, OPENETW_RECORDER_CIRCULAR);
	expect(s, OPENETW_MISTAKE_NO_FILE_SIZE, "needs a size");
	s = good_recorder("n");
	openetw_recorder_set_buffers(s, 3, 0, 0);
	expect(s, OPENETW_MISTAKE_BUFFER_SIZE, "3 KiB");
	s = good_recorder("n");
	openetw_recorder_set_buffers(s, 64, 20, 10);
	expect(s, OPENETW_MISTAKE_BUFFER_COUNTS, "at least 20 buffers, but at most 10");
	s = good_recorder("n");
	openetw_recorder_set_buffers(s, 64, 0, (1u << 20) + 1);
	expect(s, OPENETW_MISTAKE_BUFFER_COUNTS,
	       "1048577 buffers: at most 1048576"); /* as sessions of any other kind */
	s = good_recorder("n");
	openetw_recorder_set_flush(s, 3600001);
	expect(s, OPENETW_MISTAKE_FLUSH, "3600001 ms");
	s = openetw_recorder_create("n");
	openetw_recorder_set_live(s, 1);
	expect(s, OPENETW_MISTAKE_NO_PROVIDER, "no provider");
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "", 0, 0, 0, 0);
	expect(s, OPENETW_MISTAKE_PROVIDER_EMPTY, "provider 2 of 2");
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "{71e4037d}", 0, 0, 0, 0);
	expect(s, OPENETW_MISTAKE_PROVIDER_INVALID, "neither a GUID");
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "71E4037D-56b7-5e7c-163b-9a48a5792f88", 0, 0, 0, 0);
	expect(s, OPENETW_MISTAKE_PROVIDER_TWICE, "the same provider");
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "Other", 256, 0, 0, 0);
	expect(s, OPENETW_MISTAKE_LEVEL, "level 256");
	s = good_recorder("n");
	openetw_recorder_set_filter(s, "event == Order and (Number >= 3 or Text ~ x)");
	expect(s, OPENETW_MISTAKE_NONE, NULL);
	s = good_recorder("n");
	openetw_recorder_set_filter(s, "event == Order and Number & 3");
	expect(s, OPENETW_MISTAKE_FILTER, "column 27: the session cannot evaluate '&'");
	s = good_recorder("n");
	openetw_recorder_set_filter(s, "id == 7 and Number == 3");
	expect(s, OPENETW_MISTAKE_FILTER, "column 7: no installed manifest describes event 7");
	s = good_recorder("n");
	openetw_recorder_set_filter(s, "event == Order and Text =~ /x/");
	expect(s, OPENETW_MISTAKE_FILTER, "column 25: the session cannot evaluate regular expressions");
	/* With its manifest, fields have names. */
	assert_int_equal(openetw_schema_load_file(OPENETW_SOURCE_DIR "/samples/manifest-style.man"), ERROR_SUCCESS);
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "OpenETW.Sample.Manifest", 5, 0, 0, 0);
	openetw_recorder_set_filter(s, "id == 1 and Number in 2..3");
	expect(s, OPENETW_MISTAKE_NONE, NULL);
	s = good_recorder("n");
	openetw_recorder_add_provider(s, "OpenETW.Sample.Manifest", 5, 0, 0, 0);
	openetw_recorder_set_filter(s, "id == 1 and Numbr in 2..3");
	expect(s, OPENETW_MISTAKE_FILTER, "column 13: event 1 has no field 'Numbr'; did you mean 'Number'?");
	s = openetw_recorder_create("n");
	openetw_recorder_set_live(s, 1);
	openetw_recorder_set_filter(s, "id == 7");
	expect(s, OPENETW_MISTAKE_FILTER, "before the provider");
	s = good_recorder("n");
	for (int i = 0; i < 9; i++) {
		openetw_recorder_add_pid(s, 1000 + (uint32_t)i);
	}
	expect(s, OPENETW_MISTAKE_TOO_MANY, "9 processes");
}

static void every_mistake_of_kernel_events_has_its_value_and_sentence(void **state)
{
	struct openetw_recorder *s = openetw_recorder_create("k");
	openetw_recorder_set_live(s, 1);
	openetw_recorder_add_kernel(s, "proc_thread+DiagEasy"); /* kernel events suffice */
	openetw_recorder_add_kernel(s, "PROFILE");
	openetw_recorder_add_kernel_flags(s, EVENT_TRACE_FLAG_CSWITCH);
	openetw_recorder_add_kernel_stacks(s, "Profile+CSwitch");
	expect(s, OPENETW_MISTAKE_NONE, NULL);

	s = good_recorder("k");
	openetw_recorder_add_kernel(s, "PROFILE+NOSUCH");
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "'NOSUCH'");
	s = good_recorder("k");
	openetw_recorder_add_kernel(s, "PROFILE+");
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "neither a kernel flag");
	s = good_recorder("k");
	openetw_recorder_add_kernel(s, "");
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "no kernel flag");
	s = good_recorder("k");
	openetw_recorder_add_kernel(s, "REGISTRY"); /* which Linux has nothing for */
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "REGISTRY");
	s = good_recorder("k");
	openetw_recorder_add_kernel_flags(s, EVENT_TRACE_FLAG_REGISTRY);
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "REGISTRY");
	s = good_recorder("k");
	openetw_recorder_add_provider(s, "Windows Kernel Trace", 0, 0, 0, 0);
	expect(s, OPENETW_MISTAKE_KERNEL_FLAG, "EVENT_TRACE_FLAG_");
	s = good_recorder("k");
	openetw_recorder_add_provider(s, "{9e814aad-3204-11d2-9a82-006008a86939}", 0, EVENT_TRACE_FLAG_PROCESS, 0, 0);
	expect(s, OPENETW_MISTAKE_NONE, NULL);
	s = good_recorder("k");
	openetw_recorder_add_provider(s, "SystemProcessProvider", 0, 1, 0, 0);
	openetw_recorder_add_provider(s, "{151f55dc-467d-471f-83b5-5f889d46ff66}", 0, 1, 0, 0);
	expect(s, OPENETW_MISTAKE_PROVIDER_TWICE, "the same provider");
	s = good_recorder("k");
	openetw_recorder_add_kernel(s, "PROFILE");
	openetw_recorder_add_kernel_stacks(s, "NoSuch");
	expect(s, OPENETW_MISTAKE_KERNEL_STACK, "'NoSuch'");
	s = good_recorder("k");
	openetw_recorder_add_kernel_stacks(s, "Profile");
	expect(s, OPENETW_MISTAKE_KERNEL_STACK, "no kernel events");
	s = good_recorder("nt kernel logger");
	openetw_recorder_add_kernel(s, "PROFILE");
	expect(s, OPENETW_MISTAKE_KERNEL_NAME, "another name");
}

static void a_session_of_that_name_gives_way_when_asked(void **state)
{
	struct openetw_recorder *old = good_recorder("reader-stale"), *s = good_recorder("reader-stale");
	assert_int_equal(openetw_recorder_start(old), ERROR_SUCCESS);
	assert_int_equal(openetw_recorder_start(s), ERROR_ALREADY_EXISTS);
	assert_non_null(strstr(openetw_recorder_problem(s), "reader-stale"));
	openetw_recorder_set_replace(s, 1);
	assert_int_equal(openetw_recorder_start(s), ERROR_SUCCESS);
	assert_string_equal(openetw_recorder_note(s), "");
	assert_int_equal(openetw_recorder_stop(s), ERROR_SUCCESS);
	openetw_recorder_destroy(old);
	openetw_recorder_destroy(s);
}

static void a_session_is_read_live(void **state)
{
	static const GUID guid = {0x71e4037d, 0x56b7, 0x5e7c, {0x16, 0x3b, 0x9a, 0x48, 0xa5, 0x79, 0x2f, 0x88}};
	REGHANDLE h;
	struct openetw_recorder *s = good_recorder("reader-test");
	assert_int_equal(EventRegister(&guid, NULL, NULL, &h), ERROR_SUCCESS);
	uint32_t code = openetw_recorder_start(s);
	assert_string_equal(openetw_recorder_problem(s), "");
	assert_int_equal(code, ERROR_SUCCESS);
	assert_int_equal(openetw_recorder_start(s), ERROR_INVALID_STATE);
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_set_session(r, "reader-test");
	openetw_reader_set_content(r, OPENETW_READER_JSON);
	openetw_reader_add_provider(r, (const struct openetw_guid *)&guid);
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	struct openetw_batch b = {.size = sizeof b};
	/* Until the consumer is attached, events may pass it by. */
	uint32_t got = WAIT_TIMEOUT;
	for (int i = 0; i < 600 && got == WAIT_TIMEOUT; i++) {
		assert_int_equal(EventWriteString(h, 4, 0, (PCWSTR)u"hello"), ERROR_SUCCESS);
		got = openetw_reader_next(r, 100, &b);
	}
	assert_int_equal(got, ERROR_SUCCESS);
	assert_non_null(strstr(b.events[0].json, "hello"));
	assert_int_equal(b.events[0].pid, getpid());
	openetw_reader_stop(r);
	uint64_t n;
	assert_int_equal(read_to_end(r, &n, NULL), ERROR_NO_MORE_ITEMS);
	openetw_reader_destroy(r);
	assert_int_equal(openetw_recorder_stop(s), ERROR_SUCCESS);
	assert_int_equal(openetw_recorder_stop(s), ERROR_INVALID_STATE);
	openetw_recorder_destroy(s);
	EventUnregister(h);
}

static void a_session_takes_what_its_filter_says(void **state)
{
	static const GUID guid = {0x71e4037d, 0x56b7, 0x5e7c, {0x16, 0x3b, 0x9a, 0x48, 0xa5, 0x79, 0x2f, 0x88}};
	EVENT_DESCRIPTOR e = {.Id = 8, .Level = 4};
	REGHANDLE h;
	struct openetw_recorder *s = good_recorder("reader-filter");
	struct openetw_session session = {.size = sizeof session};
	openetw_recorder_set_filter(s, "id in (7, 9) or event == Order");
	assert_int_equal(EventRegister(&guid, NULL, NULL, &h), ERROR_SUCCESS);
	assert_int_equal(openetw_recorder_start(s), ERROR_SUCCESS);
	for (int i = 0; i < 600 && session.events == 0; i++) {
		e.Id = 8;
		EventWrite(h, &e, 0, NULL);
		if (i == 0) { /* behind one that is not wanted */
			e.Id = 7;
			assert_int_equal(EventWrite(h, &e, 0, NULL), ERROR_SUCCESS);
		}
		usleep(10000);
		assert_int_equal(openetw_session_query("reader-filter", &session), ERROR_SUCCESS);
	}
	assert_int_equal(session.events, 1);
	assert_int_equal(openetw_recorder_stop(s), ERROR_SUCCESS);
	openetw_recorder_destroy(s);
	EventUnregister(h);
}

static void programs_of_older_and_newer_releases_get_what_they_have_room_for(void **state)
{
	struct openetw_recorder *s = good_recorder("sizes-test");
	assert_int_equal(openetw_recorder_start(s), ERROR_SUCCESS);
	SIZES_CHECK(struct openetw_loss, overwritten, ERROR_SUCCESS, openetw_session_loss("sizes-test", ret));
	SIZES_CHECK(struct openetw_session, consumers, ERROR_SUCCESS, openetw_session_query("sizes-test", ret));
	SIZES_CHECK(struct openetw_kernel, note, ERROR_NOT_FOUND, openetw_session_kernel("sizes-test", ret));
	assert_int_equal(openetw_recorder_stop(s), ERROR_SUCCESS);
	openetw_recorder_destroy(s);
	for (unsigned old = 0; old < 2; old++) { /* a session can be stopped once only */
		struct block p;
		struct openetw_loss l = {.size = old ? offsetof(struct openetw_loss, gone_events) : sizeof l,
					 .gone_events = 77};
		session_start(u"sizes-test", EVENT_TRACE_REAL_TIME_MODE, NULL);
		block_init(&p, 0, NULL);
		assert_int_equal(openetw_session_stop(0, "sizes-test", &p.p, &l), ERROR_SUCCESS);
		assert_int_equal(l.gone_events, old ? 77 : 0);
	}

	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = (char *)(uintptr_t)make_file(10);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	TRACEHANDLE h = OpenTraceA(&log);
	SIZES_CHECK(struct openetw_trace_loss, reason, ERROR_SUCCESS, openetw_trace_loss(h, ret));
	SIZES_CHECK(struct openetw_problem, text, ERROR_NO_MORE_ITEMS, openetw_trace_next_problem(h, ret));
	SIZES_CHECK(struct openetw_loss_range, to, ERROR_NO_MORE_ITEMS, openetw_trace_next_loss(h, ret));
	CloseTrace(h);

	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, make_file(10000));
	assert_int_equal(openetw_reader_start(r), ERROR_SUCCESS);
	SIZES_CHECK(struct openetw_batch, event_stride, ERROR_SUCCESS,
		    openetw_reader_next(r, OPENETW_READER_FOREVER, ret));
	openetw_reader_destroy(r);
}

/* A later library's events are larger than this program knows. */
static void events_of_a_batch_are_found_by_their_stride(void **state)
{
	struct {
		struct openetw_event e;
		uint64_t later[3];
	} events[3] = {{.e.id = 1}, {.e.id = 2}, {.e.id = 3}};
	const struct openetw_batch b = {
		.size = sizeof b, .count = 3, .events = &events[0].e, .event_stride = sizeof events[0]};
	for (uint32_t i = 0; i < b.count; i++) {
		assert_int_equal(openetw_batch_event(&b, i)->id, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_events_of_a_file_come_in_order_raw_and_decoded),
		cmocka_unit_test(records_of_the_file_itself_can_be_left_out),
		cmocka_unit_test(a_queue_of_one_event_loses_nothing_when_it_waits),
		cmocka_unit_test(a_queue_that_drops_counts_what_it_drops),
		cmocka_unit_test(process_provider_range_and_filter_select),
		cmocka_unit_test(a_stop_handle_ends_the_reading_and_outlives_the_reader),
		cmocka_unit_test(mistakes_are_told_at_the_start),
		cmocka_unit_test(a_real_trace_gives_processes_and_stacks),
		cmocka_unit_test(a_manifest_at_the_end_explains_what_came_before),
		cmocka_unit_test(a_file_shows_when_something_was_lost),
		cmocka_unit_test(every_mistake_of_a_session_has_its_value_and_sentence),
		cmocka_unit_test(every_mistake_of_kernel_events_has_its_value_and_sentence),
		cmocka_unit_test(a_session_of_that_name_gives_way_when_asked),
		cmocka_unit_test(a_session_is_read_live),
		cmocka_unit_test(a_session_takes_what_its_filter_says),
		cmocka_unit_test(programs_of_older_and_newer_releases_get_what_they_have_room_for),
		cmocka_unit_test(events_of_a_batch_are_found_by_their_stride),
	};
	return cmocka_run_group_tests(tests, testing_setup, testing_teardown);
}
