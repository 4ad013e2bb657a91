/* SPDX-License-Identifier: MIT
 *
 * An index of what happens now: events are appended in pieces while another thread asks, and leave the ring when it is
 * full. The same events in a file are what the answers are compared with.
 */
#include "made_trace.h"

#include "openetw/error.h"
#include "openetw/query.h"
#include "openetw/reader.h"

#include "evntcons.h"

#include "tools/tables/index_row.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define EVENTS 150000u

/* index_row.c asks whether a signal came. */
int cli_signal_caught(void);
int cli_signal_caught(void)
{
	return 0;
}

static char folder[64], trace[96], saved[96];

static int begin(void **state)
{
	made_folder(folder, sizeof folder, "ring");
	snprintf(trace, sizeof trace, "%s/big.etl", folder);
	snprintf(saved, sizeof saved, "%s/saved.etl", folder);
	made_trace_write(trace, EVENTS);
	return 0;
}

static int end(void **state)
{
	return made_folder_remove(folder);
}

static struct openetw_index *live_index(uint64_t bytes)
{
	struct openetw_index *x;
	const struct openetw_live_options o = {.size = sizeof o, .ring_bytes = bytes, .start_filetime = MADE_START};
	assert_int_equal(openetw_index_open_live(&o, &x), ERROR_SUCCESS);
	return x;
}

static struct openetw_index *file_index(const char *path)
{
	struct openetw_index *x;
	const struct openetw_index_options o = {.size = sizeof o, .flags = OPENETW_INDEX_MEMORY};
	assert_int_equal(openetw_index_open(&path, 1, &o, &x), ERROR_SUCCESS);
	return x;
}

/* Appends all events of the file. */
static void append_file(struct openetw_index *x, const char *path)
{
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_add_file(r, path);
	openetw_reader_set_content(r, OPENETW_READER_RAW | OPENETW_READER_EVENTS);
	assert_int_equal(openetw_reader_start(r), 0);
	OPENETW_SIZED(struct openetw_batch, b);
	while (openetw_reader_next(r, OPENETW_READER_FOREVER, &b) == 0) {
		for (uint32_t i = 0; i < b.count; i++) {
			assert_int_equal(openetw_index_append(x, openetw_batch_event(&b, i)->record), 0);
		}
	}
	openetw_reader_destroy(r);
}

/* ---- answers, as text ------------------------------------------------------------------------------ */

struct text {
	char *s;
	size_t n;
	FILE *f;
	int64_t since; /* what is time 0 here */
};

static bool on_facet(void *context, const struct openetw_facet *f)
{
	struct text *t = context;
	fprintf(t->f, "%s %llu %lld\n", f->text, (unsigned long long)f->count, (long long)(f->last - f->first));
	return true;
}

static bool on_group(void *context, const struct openetw_group *g)
{
	struct text *t = context;
	fprintf(t->f, "%u %s %llu %g %g %g %g\n", g->depth, g->text, (unsigned long long)g->count, g->sum, g->min,
		g->max, g->p50);
	return true;
}

static bool on_row(void *context, const struct openetw_row *row)
{
	struct text *t = context;
	fprintf(t->f, "%llu %lld %u\n", (unsigned long long)row->position, (long long)(row->time - t->since), row->cpu);
	return true;
}

static const char *field = "Value";

static char *answers(struct openetw_index *x, const char *filter)
{
	static const enum openetw_key keys[] = {OPENETW_BY_TYPE,    OPENETW_BY_PROVIDER, OPENETW_BY_LEVEL,
						OPENETW_BY_PROCESS, OPENETW_BY_THREAD,   OPENETW_BY_CPU,
						OPENETW_BY_FIELD};
	struct text t = {0};
	OPENETW_SIZED(struct openetw_answer, a);
	OPENETW_SIZED(struct openetw_index_about, about);
	OPENETW_SIZED(struct openetw_histogram, h);
	assert_int_equal(openetw_index_about(x, &about), 0);
	t.since = about.first;
	t.f = open_memstream(&t.s, &t.n);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, filter), 0);
	assert_int_equal(openetw_query_set_field(q, field), 0);
	assert_int_equal(openetw_query_count(q, &a), 0);
	fprintf(t.f, "%llu of %llu, %llu undecided\n", (unsigned long long)a.matched, (unsigned long long)a.scanned,
		(unsigned long long)a.undecided);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		assert_int_equal(openetw_query_facets(q, keys[i], 100, on_facet, &t, &a), 0);
		assert_int_equal(openetw_query_histogram(q, about.first, about.last + 1, 50, keys[i], 20, &h), 0);
		for (uint32_t k = 0; k < h.series * 50; k++) {
			fprintf(t.f, " %llu", (unsigned long long)h.counts[k]);
		}
		fprintf(t.f, "\n");
	}
	assert_int_equal(openetw_query_group(q, keys, 2, 100, on_group, &t, &a), 0);
	assert_int_equal(openetw_query_rows(q, a.matched / 2, 500, on_row, &t, &a), 0);
	openetw_query_destroy(q);
	fclose(t.f);
	return t.s;
}

static void same_answers(struct openetw_index *a, struct openetw_index *b, const char *filter)
{
	char *x = answers(a, filter), *y = answers(b, filter);
	assert_string_equal(x, y);
	free(x);
	free(y);
}

/* ---- while it is asked ----------------------------------------------------------------------------- */

struct asker {
	struct openetw_index *x;
	bool stop;
	uint64_t asked;
};

static bool count_facet(void *context, const struct openetw_facet *f)
{
	*(uint64_t *)context += f->count;
	return true;
}

/* One question is about one moment: its parts agree, whatever comes meanwhile. */
static void *ask(void *context)
{
	struct asker *a = context;
	struct openetw_query *q = openetw_query_create(a->x);
	while (!__atomic_load_n(&a->stop, __ATOMIC_RELAXED)) {
		uint64_t sum = 0;
		OPENETW_SIZED(struct openetw_answer, answer);
		OPENETW_SIZED(struct openetw_histogram, h);
		assert_int_equal(openetw_query_facets(q, OPENETW_BY_TYPE, 1000, count_facet, &sum, &answer), 0);
		assert_int_equal(sum, answer.matched);
		assert_int_equal(answer.matched, answer.rows_covered);
		assert_false(answer.partial);
		uint64_t total = 0;
		assert_int_equal(openetw_query_histogram(q, INT64_MIN / 4, INT64_MAX / 4, 10, OPENETW_BY_TYPE, 20, &h),
				 0);
		for (uint32_t i = 0; i < h.series; i++) {
			total += h.totals[i];
		}
		assert_int_equal(total, h.answer.matched);
		a->asked++;
	}
	openetw_query_destroy(q);
	return NULL;
}

static void answers_are_those_of_a_file(void **state)
{
	static const char *const filters[] = {"", "id == 3", "id > 2 and level <= 4", "pid == 7", "length > 3"};
	struct openetw_index *x = live_index(0), *file = file_index(trace);
	struct asker a = {.x = x};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
	append_file(x, trace);
	assert_int_equal(openetw_index_wait_rows(x, EVENTS, 0), ERROR_SUCCESS);
	__atomic_store_n(&a.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		same_answers(x, file, filters[i]);
	}
	OPENETW_SIZED(struct openetw_live_progress, p);
	assert_int_equal(openetw_index_live_progress(x, &p), 0);
	assert_int_equal(p.code, ERROR_IO_PENDING);
	assert_int_equal(p.rows, EVENTS);
	assert_int_equal(p.first_row, 0);
	assert_int_equal(p.events_refused + p.left_out, 0);
	/* The events are of 2022. */
	assert_true(p.lag > (int64_t)86400 * 365 * 1000000000);
	openetw_index_close(file);
	openetw_index_close(x);
}

/* Events with fields, as Windows records them: what they mean goes with them. */
static void fields_are_those_of_a_file(void **state)
{
	static const char path[] = OPENETW_SOURCE_DIR "/samples/windows/primitive-types.etl";
	static const char *const filters[] = {"", "text has Mars", "string_type == Mars", "int32_type > 100"};
	struct openetw_index *x = live_index(0), *file = file_index(path);
	append_file(x, path);
	field = "string_type";
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		same_answers(x, file, filters[i]);
	}
	field = "Value";
	openetw_index_close(file);
	openetw_index_close(x);
}

/* ---- the oldest rows leave ------------------------------------------------------------------------- */

static void check_row(struct openetw_query *q, uint64_t row)
{
	const openetw_event_record *e;
	uint32_t value;
	assert_int_equal(openetw_query_event(q, row, &e), 0);
	assert_int_equal(e->EventHeader.EventDescriptor.Id, 1 + row % MADE_IDS);
	assert_int_equal(e->EventHeader.TimeStamp.QuadPart, MADE_START + (row + 1) * MADE_STEP);
	assert_true(e->UserDataLength >= 4);
	memcpy(&value, e->UserData, 4);
	assert_int_equal(value, row);
}

static void rows_that_left_are_not_found(void **state)
{
	struct openetw_index *x = live_index(8 << 20);
	struct asker a = {.x = x};
	pthread_t thread;
	const openetw_event_record *e;
	assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
	append_file(x, trace);
	__atomic_store_n(&a.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	OPENETW_SIZED(struct openetw_live_progress, p);
	OPENETW_SIZED(struct openetw_index_about, about);
	assert_int_equal(openetw_index_live_progress(x, &p), 0);
	assert_int_equal(openetw_index_about(x, &about), 0);
	assert_int_equal(p.rows, EVENTS);
	assert_true(p.first_row > 0 && p.first_row < EVENTS);
	assert_true(p.bytes <= p.ring_bytes);
	assert_int_equal(about.rows_gone, p.first_row);
	assert_int_equal(about.rows, p.rows - p.first_row);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_event(q, 0, &e), ERROR_NOT_FOUND);
	assert_int_equal(openetw_query_event(q, p.first_row - 1, &e), ERROR_NOT_FOUND);
	assert_int_equal(openetw_query_event(q, EVENTS, &e), ERROR_NOT_FOUND);
	for (uint64_t row = p.first_row; row < EVENTS; row += 997) {
		check_row(q, row);
	}
	check_row(q, EVENTS - 1);
	/* What the index says of a row is found by its number, too. */
	struct openetw_row row;
	for (uint64_t i = p.first_row; i < EVENTS; i += 29989) {
		assert_int_equal(index_row_find(x, q, i, &row), 0);
		assert_int_equal(row.row, i);
		assert_int_equal(row.position, i - p.first_row);
	}
	assert_int_equal(index_row_find(x, q, p.first_row - 1, &row), ERROR_NOT_FOUND);
	assert_int_equal(index_row_find(x, q, EVENTS, &row), ERROR_NOT_FOUND);
	/* What is written to a file is what is there. */
	OPENETW_SIZED(struct openetw_answer, answer);
	assert_int_equal(openetw_query_save(q, saved, &answer), 0);
	assert_int_equal(answer.matched, about.rows);
	openetw_query_destroy(q);
	struct openetw_index *file = file_index(saved);
	/* Type by type: those with as many events as another may come in another order. */
	for (uint32_t id = 1; id <= MADE_IDS; id++) {
		char filter[32];
		snprintf(filter, sizeof filter, "id == %u", id);
		same_answers(x, file, filter);
	}
	openetw_index_close(file);
	openetw_index_close(x);
}

/* ---- hostile events -------------------------------------------------------------------------------- */

static void lengths_that_lie_are_refused(void **state)
{
	struct openetw_index *x = live_index(0);
	EVENT_RECORD e = {0};
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2] = {{.ExtType = 1, .DataSize = 65535}, {.ExtType = 6, .DataSize = 100}};
	static uint8_t bytes[65536];
	OPENETW_SIZED(struct openetw_live_progress, p);
	e.EventHeader.TimeStamp.QuadPart = INT64_MIN;
	assert_int_equal(openetw_index_append(x, &e), 0);
	e.UserDataLength = 10;
	assert_int_not_equal(openetw_index_append(x, &e), 0);
	e.UserData = bytes;
	assert_int_equal(openetw_index_append(x, &e), 0);
	e.UserDataLength = 65535;
	assert_int_not_equal(openetw_index_append(x, &e), 0);
	e.UserDataLength = 0;
	e.ExtendedDataCount = 2;
	assert_int_not_equal(openetw_index_append(x, &e), 0);
	e.ExtendedData = items;
	assert_int_not_equal(openetw_index_append(x, &e), 0);
	items[0].DataSize = 16;
	assert_int_not_equal(openetw_index_append(x, &e), 0);
	items[0].DataPtr = items[1].DataPtr = (uintptr_t)bytes;
	assert_int_equal(openetw_index_append(x, &e), 0);
	assert_int_equal(openetw_index_live_progress(x, &p), 0);
	assert_int_equal(p.rows, 3);
	assert_int_equal(p.events_refused, 5);
	assert_int_equal(openetw_index_wait_rows(x, 4, 1), ERROR_TIMEOUT);
	openetw_index_close(x);
}

/* ---- events of the kernel, and items ---------------------------------------------------------------- */

#define THREAD_CLASS                                           \
	0x3d6fa8d1, 0xfe05, 0x11d0,                            \
	{                                                      \
		0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c \
	}
#define PERF_CLASS                                             \
	0xce1dbfb4, 0x137e, 0x4da6,                            \
	{                                                      \
		0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc \
	}

static EVENT_RECORD kernel_event(const GUID *class, uint8_t opcode, uint64_t time, const void *payload, uint16_t bytes)
{
	EVENT_RECORD e = {.UserData = (void *)(uintptr_t)payload, .UserDataLength = bytes};
	e.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
	e.EventHeader.ProviderId = *class;
	e.EventHeader.EventDescriptor.Opcode = opcode;
	e.EventHeader.EventDescriptor.Version = 2;
	e.EventHeader.ProcessId = e.EventHeader.ThreadId = UINT32_MAX;
	e.EventHeader.TimeStamp.QuadPart = (LONGLONG)(MADE_START + time);
	return e;
}

struct last_row {
	struct openetw_row row;
	uint64_t count;
};
static bool keep_row(void *context, const struct openetw_row *row)
{
	struct last_row *l = context;
	l->row = *row;
	l->count++;
	return true;
}

static struct openetw_row the_row(struct openetw_index *x, const char *filter)
{
	struct last_row l = {.count = 0};
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, filter), 0);
	assert_int_equal(openetw_query_rows(q, 0, 9, keep_row, &l, NULL), 0);
	assert_int_equal(l.count, 1);
	openetw_query_destroy(q);
	return l.row;
}

/* After a switch, events that name nobody are those of the thread that runs. */
static void switches_that_are_appended_tell_who_runs(void **state)
{
	static const GUID thread_class = {THREAD_CLASS}, perf_class = {PERF_CLASS};
	struct openetw_index *x = live_index(0);
	const uint32_t new_thread[20] = {7, 77}, other[6] = {77, 0};
	const uint64_t entry = 0x1234;
	EVENT_RECORD e[] = {kernel_event(&thread_class, 1, 10, new_thread, sizeof new_thread),
			    kernel_event(&thread_class, 36, 20, other, sizeof other),
			    kernel_event(&perf_class, 51, 30, &entry, sizeof entry)};
	e[0].EventHeader.EventDescriptor.Version = 3;
	for (size_t i = 0; i < sizeof e / sizeof e[0]; i++) {
		assert_int_equal(openetw_index_append(x, &e[i]), 0);
	}
	OPENETW_SIZED(struct openetw_index_thread, thread);
	OPENETW_SIZED(struct openetw_index_process, process);
	OPENETW_SIZED(struct openetw_index_type, type);
	struct openetw_row row = the_row(x, "opcode == 51");
	assert_int_equal(openetw_index_thread(x, row.thread, &thread), 0);
	assert_int_equal(thread.tid, 77);
	assert_int_equal(openetw_index_process(x, row.process, &process), 0);
	assert_int_equal(process.pid, 7);
	assert_int_equal(openetw_index_type(x, the_row(x, "opcode == 36").type, &type), 0);
	assert_string_equal(type.name, "Thread/CSwitch");
	openetw_index_close(x);
}

/* Also those for which the record of such an event has no place. */
static void items_stay_with_their_events(void **state)
{
	static const GUID perf_class = {PERF_CLASS}, own_class = {1, 2, 3, {4}};
	const uint64_t stack[] = {1, 0x1000, 0x2000, 0x3000}, counters[] = {5, 6};
	EVENT_HEADER_EXTENDED_DATA_ITEM items[] = {
		{.ExtType = EVENT_HEADER_EXT_TYPE_STACK_TRACE64, .DataSize = sizeof stack, .DataPtr = (uintptr_t)stack},
		{.ExtType = EVENT_HEADER_EXT_TYPE_PMC_COUNTERS,
		 .DataSize = sizeof counters,
		 .DataPtr = (uintptr_t)counters},
	};
	EVENT_RECORD events[] = {kernel_event(&perf_class, 51, 1, "12345678", 8),
				 kernel_event(&own_class, 52, 2, "odd", 3), kernel_event(&own_class, 53, 3, NULL, 0)};
	struct openetw_index *x = live_index(0);
	events[1].EventHeader.EventDescriptor.Level = 3;
	events[2].EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	for (size_t i = 0; i < 3; i++) {
		events[i].ExtendedData = items;
		events[i].ExtendedDataCount = 2;
		assert_int_equal(openetw_index_append(x, &events[i]), 0);
	}
	struct openetw_query *q = openetw_query_create(x);
	for (uint64_t i = 0; i < 3; i++) {
		const openetw_event_record *e;
		uint64_t frames[8];
		char filter[32];
		assert_int_equal(openetw_query_event(q, i, &e), 0);
		assert_memory_equal(&e->EventHeader.ProviderId, &events[i].EventHeader.ProviderId, 16);
		assert_int_equal(e->EventHeader.EventDescriptor.Opcode, 51 + i);
		assert_int_equal(e->EventHeader.EventDescriptor.Level, events[i].EventHeader.EventDescriptor.Level);
		assert_int_equal(e->EventHeader.TimeStamp.QuadPart, MADE_START + i + 1);
		assert_int_equal(e->UserDataLength, events[i].UserDataLength);
		assert_int_equal(e->ExtendedDataCount, 2);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(e->ExtendedData[k].ExtType, items[k].ExtType);
			assert_int_equal(e->ExtendedData[k].DataSize, items[k].DataSize);
			assert_memory_equal((const void *)(uintptr_t)e->ExtendedData[k].DataPtr,
					    (const void *)(uintptr_t)items[k].DataPtr, items[k].DataSize);
		}
		snprintf(filter, sizeof filter, "opcode == %u", 51 + (unsigned)i);
		assert_int_equal(openetw_index_stack(x, the_row(x, filter).stack, frames, 8), 3);
		assert_int_equal(frames[0], 0x1000);
	}
	openetw_query_destroy(q);
	openetw_index_close(x);
}

/* Types, processes, threads and stacks that are all different, more than there is room for. */
static void everything_has_room_in_the_ring_or_is_counted(void **state)
{
	const uint64_t most = 4 << 20;
	struct openetw_index *x = live_index(most);
	OPENETW_SIZED(struct openetw_live_progress, p);
	uint64_t stack[12] = {1};
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {
		.ExtType = EVENT_HEADER_EXT_TYPE_STACK_TRACE64, .DataSize = sizeof stack, .DataPtr = (uintptr_t)stack};
	EVENT_RECORD e = {.ExtendedData = &item, .ExtendedDataCount = 1};
	for (uint32_t i = 0; i < 60000; i++) {
		for (uint32_t k = 1; k < 12; k++) {
			stack[k] = (uint64_t)i << 8 | k;
		}
		e.EventHeader.EventDescriptor.Id = (USHORT)i;
		e.EventHeader.ProcessId = 1000 + i;
		e.EventHeader.ThreadId = 1000000 + i;
		e.EventHeader.TimeStamp.QuadPart = (LONGLONG)(MADE_START + i);
		assert_int_equal(openetw_index_append(x, &e), 0);
	}
	assert_int_equal(openetw_index_live_progress(x, &p), 0);
	assert_int_equal(p.rows, 60000);
	assert_true(p.first_row > 0 && p.first_row < 60000);
	assert_true(p.left_out > 60000);
	assert_true(p.bytes > 0 && p.bytes_besides > most / 8);
	assert_true(p.bytes + p.bytes_besides <= most);
	same_answers(x, x, "id > 100"); /* and it can be asked */
	openetw_index_close(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_a_file),
		cmocka_unit_test(fields_are_those_of_a_file),
		cmocka_unit_test(rows_that_left_are_not_found),
		cmocka_unit_test(lengths_that_lie_are_refused),
		cmocka_unit_test(switches_that_are_appended_tell_who_runs),
		cmocka_unit_test(items_stay_with_their_events),
		cmocka_unit_test(everything_has_room_in_the_ring_or_is_counted),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
