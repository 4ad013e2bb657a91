/* SPDX-License-Identifier: MIT
 *
 * The consumer's API over files: real ones, and small ones made by hand.
 */
#define INITGUID
#include "evntcons.h"
#include "evntrace.h"

#include "base/base.h"
#include "openetw/openetw.h"

#include "../../tests/corpus/corpus.h"
#include "../../tests/corpus/etl_build.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define START_RAW      1000000ull
#define START_FILETIME 130000000000000000ull

/* libetw's own is in a folder above this one. */
static DWORD last_error;
VOID WINAPI SetLastError(DWORD code)
{
	last_error = code;
}

static char dir[] = "/tmp/openetw-consume-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void save(const struct etl_build *b, const char *name)
{
	FILE *f = fopen(path_of(name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b->mem, b->buffer_size, b->buffers, f), b->buffers);
	fclose(f);
	free(b->mem);
}

/* One event a millisecond, ids from..to, in two processors' buffers. */
static void save_simple(const char *name, unsigned from, unsigned to, unsigned step)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 1000000000, .start_raw = START_RAW, .start_filetime = START_FILETIME};
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		etl_build_begin(&b, cpu, cpu + 1);
		for (unsigned id = from; id <= to; id += step) {
			if (id / step % 2 == cpu) {
				etl_build_event(&b, START_RAW + id * 1000000ull, id, id);
			}
		}
		etl_build_end(&b, START_RAW + 999000000);
	}
	save(&b, name);
}

struct seen {
	unsigned events, headers, buffers;
	unsigned ids[64];
	LONGLONG times[64];
	LONGLONG last;
	bool backwards;
	bool several; /* files */
	unsigned stop_after_buffers;
	unsigned close_after_events;
	PROCESSTRACE_HANDLE handle;
	ULONG close_code, second_close_code;
	ULONG filled, read;
	EVENT_RECORD first;
};
static struct seen *seen;

static void on_record(PEVENT_RECORD e)
{
	struct seen *s = e->UserContext;
	if (memcmp(&e->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) == 0 &&
	    e->EventHeader.EventDescriptor.Opcode == 0) {
		if (s->events == 0) {
			s->first = *e;
		}
		s->headers++;
		s->events++;
		return;
	}
	unsigned n = s->events - s->headers;
	if (n < 64) {
		s->ids[n] = e->EventHeader.EventDescriptor.Id;
		s->times[n] = e->EventHeader.TimeStamp.QuadPart;
	}
	s->backwards |= e->EventHeader.TimeStamp.QuadPart < s->last;
	s->last = e->EventHeader.TimeStamp.QuadPart;
	s->events++;
	if (s->close_after_events && s->events == s->close_after_events) {
		s->close_code = CloseTrace(s->handle);
		s->second_close_code = CloseTrace(s->handle);
	}
	assert_true((e->ExtendedData == NULL) == (e->ExtendedDataCount == 0));
	for (unsigned i = 0; i < e->ExtendedDataCount; i++) {
		assert_int_equal(e->ExtendedData[i].Linkage, i + 1 < e->ExtendedDataCount);
	}
}

static ULONG on_buffer(PEVENT_TRACE_LOGFILEW log)
{
	seen->buffers++;
	assert_true(seen->several || log->BuffersRead == seen->buffers);
	seen->filled = log->Filled;
	return !(seen->stop_after_buffers && seen->buffers >= seen->stop_after_buffers);
}

static PROCESSTRACE_HANDLE open_with(const char *path, struct seen *s, ULONG mode, EVENT_TRACE_LOGFILEA *ret_log)
{
	EVENT_TRACE_LOGFILEA log;
	memset(&log, 0, sizeof log);
	memset(s, 0, sizeof *s);
	seen = s;
	log.LogFileName = (char *)(uintptr_t)path;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | mode;
	log.EventRecordCallback = on_record;
	log.BufferCallback = (PEVENT_TRACE_BUFFER_CALLBACKA)(void *)on_buffer;
	log.Context = s;
	PROCESSTRACE_HANDLE h = OpenTraceA(&log);
	s->handle = h;
	if (ret_log) {
		*ret_log = log;
	}
	return h;
}

static void every_real_file_is_delivered_whole_and_in_order(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	size_t n = 0;
	char *text = corpus_load("derived.json", &n);
	struct corpus_json all = {text, text + n};
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		struct corpus_json o = corpus_object(all, corpus_files[i]);
		char path[4096];
		struct seen s;
		EVENT_TRACE_LOGFILEA log;
		PROCESSTRACE_HANDLE h = open_with(corpus_path(corpus_files[i], path, sizeof path), &s, 0, &log);
		assert_true(h != INVALID_PROCESSTRACE_HANDLE);
		assert_int_equal(log.LogfileHeader.StartTime.QuadPart, corpus_number(o, "start"));
		assert_int_equal(log.LogfileHeader.BuffersWritten, corpus_number(o, "buffers"));
		assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
		assert_int_equal(s.events, corpus_number(o, "events"));
		assert_int_equal(s.headers, 1);
		assert_int_equal(s.buffers, corpus_number(o, "buffers"));
		assert_false(s.backwards);
		assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
		assert_int_equal(CloseTrace(h), ERROR_INVALID_HANDLE);
	}
	free(text);
}

static unsigned related, stacks;
static void on_items(PEVENT_RECORD e)
{
	for (unsigned i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		related +=
			x->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID && x->DataSize == 16 && x->DataPtr != 0;
		stacks += x->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
	}
}

static void extended_items_of_real_events_arrive(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	static const char *const files[] = {"tx/HTTP_Server.etl", "perfview/net.4.5.2.x86.etl"};
	for (unsigned i = 0; i < 2; i++) {
		char path[4096];
		EVENT_TRACE_LOGFILEA log;
		memset(&log, 0, sizeof log);
		log.LogFileName = (char *)(uintptr_t)corpus_path(files[i], path, sizeof path);
		log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		log.EventRecordCallback = on_items;
		related = stacks = 0;
		PROCESSTRACE_HANDLE h = OpenTraceA(&log);
		assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
		assert_int_equal(related, i == 0 ? 291 : 3);
		assert_int_equal(stacks, i == 0 ? 0 : 1070);
		assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
	}
}

static void open_fills_the_header_and_keeps_its_strings(void **state)
{
	save_simple("a.etl", 1, 4, 1);
	struct seen s;
	EVENT_TRACE_LOGFILEA log;
	PROCESSTRACE_HANDLE h = open_with(path_of("a.etl"), &s, 0, &log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE && h != 0);
	assert_int_equal(log.LogfileHeader.BufferSize, 4096);
	assert_int_equal(log.BufferSize, 4096);
	assert_int_equal(log.LogfileHeader.PointerSize, 8);
	assert_int_equal(log.LogfileHeader.PerfFreq.QuadPart, 1000000000);
	assert_int_equal(log.LogfileHeader.StartTime.QuadPart, START_FILETIME);
	assert_int_equal(log.LogfileHeader.ReservedFlags, 1);
	assert_memory_equal(log.LogfileHeader.LoggerName, u"S", 4);
	assert_memory_equal(log.LogfileHeader.LogFileName, u"f.etl", 12);
	assert_int_equal(log.IsKernelTrace, 0);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_memory_equal(log.LogfileHeader.LoggerName, u"S", 4);
	assert_int_equal(s.first.EventHeader.EventDescriptor.Opcode, 0);
	assert_int_equal(s.first.UserDataLength, 0x118 + 16);
	assert_int_equal(s.first.EventHeader.Flags, EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER |
							    EVENT_HEADER_FLAG_PROCESSOR_INDEX);
	assert_int_equal(s.first.BufferContext.LoggerId, 7);
	assert_int_equal(s.events, 5);
	assert_int_equal(s.times[0], START_FILETIME + 10000);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void wide_names_and_backslashes_open_too(void **state)
{
	save_simple("b.etl", 1, 2, 1);
	uint16_t wide[4096];
	const char *p = path_of("b.etl");
	size_t i = 0;
	for (; p[i]; i++) {
		wide[i] = p[i] == '/' ? '\\' : (uint16_t)p[i];
	}
	wide[i] = 0;
	struct seen s;
	memset(&s, 0, sizeof s);
	seen = &s;
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	log.LogFileName = (LPWSTR)(void *)wide;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_record;
	log.Context = &s;
	PROCESSTRACE_HANDLE h = OpenTraceW(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(s.events, 3);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void raw_mode_gives_the_ticks_of_the_file(void **state)
{
	save_simple("raw.etl", 1, 4, 1);
	struct seen s;
	PROCESSTRACE_HANDLE h = open_with(path_of("raw.etl"), &s, PROCESS_TRACE_MODE_RAW_TIMESTAMP, NULL);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(s.first.EventHeader.TimeStamp.QuadPart, START_RAW);
	assert_int_equal(s.times[0], START_RAW + 1000000);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void several_files_become_one_order(void **state)
{
	struct seen s;
	PROCESSTRACE_HANDLE h[3];
	for (unsigned i = 0; i < 3; i++) {
		char name[16];
		snprintf(name, sizeof name, "m%u.etl", i);
		save_simple(name, 1 + i, 30, 3);
		h[i] = open_with(path_of(name), &s, 0, NULL);
	}
	s.several = true;
	assert_int_equal(ProcessTrace(h, 3, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(s.headers, 3);
	assert_int_equal(s.events, 33);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(s.ids[i], i + 1);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(CloseTrace(h[i]), ERROR_SUCCESS);
	}
}

static void a_window_keeps_both_ends_and_the_header(void **state)
{
	save_simple("w.etl", 1, 9, 1);
	struct seen s;
	PROCESSTRACE_HANDLE h = open_with(path_of("w.etl"), &s, 0, NULL);
	uint64_t from = START_FILETIME + 3 * 10000, to = START_FILETIME + 6 * 10000;
	FILETIME start = {(DWORD)from, (DWORD)(from >> 32)}, end = {(DWORD)to, (DWORD)(to >> 32)};
	assert_int_equal(ProcessTrace(&h, 1, &end, &start), ERROR_INVALID_TIME);
	assert_int_equal(ProcessTrace(&h, 1, &start, &end), ERROR_SUCCESS);
	assert_int_equal(s.headers, 1);
	assert_int_equal(s.events, 5);
	assert_int_equal(s.ids[0], 3);
	assert_int_equal(s.ids[3], 6);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void a_false_from_the_buffer_callback_cancels(void **state)
{
	save_simple("c.etl", 1, 9, 1);
	struct seen s;
	PROCESSTRACE_HANDLE h = open_with(path_of("c.etl"), &s, 0, NULL);
	s.stop_after_buffers = 1;
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_CANCELLED);
	assert_int_equal(s.buffers, 1);
	assert_int_equal(s.events, 1); /* the header buffer's only event */
	s.stop_after_buffers = 0;
	s.buffers = s.events = s.headers = 0;
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS); /* from the start again */
	assert_int_equal(s.events, 10);
	assert_int_equal(s.filled, 0x48 + 5 * 0x58);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void close_inside_a_callback_is_pending_and_ends_processing(void **state)
{
	save_simple("p.etl", 1, 9, 1);
	struct seen s;
	PROCESSTRACE_HANDLE h = open_with(path_of("p.etl"), &s, 0, NULL);
	s.close_after_events = 3;
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(s.close_code, ERROR_CTX_CLOSE_PENDING);
	assert_int_equal(s.second_close_code, ERROR_INVALID_HANDLE);
	assert_int_equal(s.events, 3);
	assert_int_equal(CloseTrace(h), ERROR_INVALID_HANDLE);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_INVALID_HANDLE);
}

static void more_files_than_windows_takes_are_merged(void **state)
{
	PROCESSTRACE_HANDLE h[100];
	struct seen s = {0};
	save_simple("many.etl", 1, 2, 1);
	for (int i = 0; i < 100; i++) {
		h[i] = open_with(path_of("many.etl"), &s, 0, NULL);
		assert_true(h[i] != INVALID_PROCESSTRACE_HANDLE);
	}
	s.events = s.headers = 0;
	s.several = true;
	assert_int_equal(openetw_trace_process(h, 100, 0, UINT64_MAX), ERROR_SUCCESS);
	assert_int_equal(s.headers, 100);
	assert_int_equal(s.events % 100, 0);
	assert_true(s.events > 100 && !s.backwards);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(CloseTrace(h[i]), ERROR_SUCCESS);
	}
}

static void wrong_arguments_have_their_documented_codes(void **state)
{
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	assert_true(OpenTraceW(NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_INVALID_PARAMETER);
	assert_true(OpenTraceW(&log) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_BAD_PATHNAME);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME;
	assert_true(OpenTraceW(&log) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_BAD_PATHNAME);
	struct seen s;
	assert_true(open_with("/nowhere/x.etl", &s, 0, NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_FILE_NOT_FOUND);
	assert_true(open_with("/dev/null", &s, 0, NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_BAD_PATHNAME);
	FILE *f = fopen(path_of("junk.etl"), "wb");
	fputs("this is no trace", f);
	fclose(f);
	assert_true(open_with(path_of("junk.etl"), &s, 0, NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_FILE_CORRUPT);
	PROCESSTRACE_HANDLE h[65] = {0};
	assert_int_equal(ProcessTrace(h, 0, NULL, NULL), ERROR_BAD_LENGTH);
	assert_int_equal(ProcessTrace(h, 65, NULL, NULL), ERROR_BAD_LENGTH);
	assert_int_equal(openetw_trace_process(NULL, 0, 0, UINT64_MAX), ERROR_BAD_LENGTH);
	assert_int_equal(openetw_trace_process(NULL, 1025, 0, UINT64_MAX), ERROR_BAD_LENGTH);
	assert_int_equal(openetw_trace_process(h, 65, 0, UINT64_MAX), ERROR_INVALID_HANDLE);
	assert_int_equal(openetw_trace_process(h, 1, 2, 1), ERROR_INVALID_TIME);
	assert_int_equal(ProcessTrace(NULL, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTrace(h, 1, NULL, NULL), ERROR_INVALID_HANDLE);
	h[0] = INVALID_PROCESSTRACE_HANDLE;
	assert_int_equal(ProcessTrace(h, 1, NULL, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(CloseTrace(0), ERROR_INVALID_HANDLE);
	assert_int_equal(CloseTrace(INVALID_PROCESSTRACE_HANDLE), ERROR_INVALID_HANDLE);
	assert_int_equal(CloseTrace(0x123456), ERROR_INVALID_HANDLE);
	save_simple("twice.etl", 1, 2, 1);
	h[0] = h[1] = open_with(path_of("twice.etl"), &s, 0, NULL);
	assert_int_equal(ProcessTrace(h, 2, NULL, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(ProcessTrace(h, 1, NULL, NULL), ERROR_SUCCESS); /* and is not left marked */
	assert_int_equal(CloseTrace(h[0]), ERROR_SUCCESS);
}

static EVENT_TRACE classic_seen;
static unsigned classic_count, class_count;
static void on_classic(PEVENT_TRACE e)
{
	if (e->MofLength == 3) {
		classic_seen = *e;
		assert_memory_equal(e->MofData, "xyz", 3);
	}
	classic_count++;
}
static void on_class(PEVENT_TRACE e)
{
	assert_int_equal(e->Header.Class.Type, 1);
	class_count++;
}

static unsigned instance_items;
static void on_instance(PEVENT_RECORD e)
{
	if (e->ExtendedDataCount == 1 && e->ExtendedData[0].ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO) {
		const EVENT_EXTENDED_ITEM_INSTANCE *i = (const void *)(uintptr_t)e->ExtendedData[0].DataPtr;
		assert_int_equal(e->ExtendedData[0].DataSize, 24);
		assert_int_equal(i->InstanceId, 1001);
		assert_int_equal(i->ParentInstanceId, 1000);
		instance_items++;
	}
}

static void classic_callbacks_get_classic_events(void **state)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = START_RAW, .start_filetime = START_FILETIME};
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	etl_build_begin(&b, 1, 1);
	uint8_t *p = etl_build_record(&b, 0x48 + 3);
	etl_build_u16(p, 0x48 + 3);
	etl_build_u16(p + 2, 0xC015);
	p[4] = 1;
	p[5] = 5;
	etl_build_u16(p + 6, 2);
	etl_build_u32(p + 8, 31);
	etl_build_u32(p + 12, 30);
	etl_build_u64(p + 16, START_RAW + 7);
	memset(p + 0x18, 0x55, 16);
	etl_build_u32(p + 0x28, 12);
	etl_build_u32(p + 0x2C, 13);
	etl_build_u32(p + 0x30, 1001);
	etl_build_u32(p + 0x34, 1000);
	memcpy(p + 0x48, "xyz", 3);
	etl_build_end(&b, START_RAW + 7);
	save(&b, "classic.etl");

	EVENT_TRACE_LOGFILEA log;
	memset(&log, 0, sizeof log);
	log.LogFileName = (char *)(uintptr_t)path_of("classic.etl");
	log.EventCallback = on_classic;
	GUID g;
	memset(&g, 0x55, sizeof g);
	assert_int_equal(SetTraceCallback(NULL, on_class), ERROR_INVALID_PARAMETER);
	assert_int_equal(SetTraceCallback(&g, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(SetTraceCallback(&g, on_class), ERROR_SUCCESS);
	PROCESSTRACE_HANDLE t = OpenTraceA(&log);
	assert_int_equal(ProcessTrace(&t, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(classic_count, 2); /* with the header */
	assert_int_equal(class_count, 1);
	assert_int_equal(classic_seen.Header.Class.Type, 1);
	assert_int_equal(classic_seen.Header.Class.Level, 5);
	assert_int_equal(classic_seen.Header.Class.Version, 2);
	assert_int_equal(classic_seen.Header.ThreadId, 31);
	assert_int_equal(classic_seen.Header.ProcessId, 30);
	assert_int_equal(classic_seen.Header.KernelTime, 12);
	assert_int_equal(classic_seen.Header.UserTime, 13);
	assert_int_equal(classic_seen.Header.TimeStamp.QuadPart, START_FILETIME + 7);
	assert_int_equal(classic_seen.InstanceId, 1001);
	assert_int_equal(classic_seen.ParentInstanceId, 1000);
	assert_memory_equal(&classic_seen.Header.Guid, &g, sizeof g);
	assert_int_equal(CloseTrace(t), ERROR_SUCCESS);
	assert_int_equal(RemoveTraceCallback(&g), ERROR_SUCCESS);
	assert_int_equal(RemoveTraceCallback(&g), ERROR_WMI_GUID_NOT_FOUND);

	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_instance;
	t = OpenTraceA(&log);
	assert_int_equal(ProcessTrace(&t, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(instance_items, 1);
	assert_int_equal(CloseTrace(t), ERROR_SUCCESS);
}

static unsigned raw_buffers;
static BOOL on_raw_buffer(const ETW_BUFFER_HEADER *b, ULONG size, const ETW_BUFFER_CALLBACK_INFORMATION *info,
			  void *context)
{
	raw_buffers++;
	assert_int_equal(info->BuffersRead, raw_buffers);
	assert_int_equal(b->FilledBytes, size);
	assert_ptr_equal(context, &raw_buffers);
	return raw_buffers < 2;
}

static void open_from_file_hands_over_raw_buffers(void **state)
{
	save_simple("new.etl", 1, 9, 1);
	uint16_t wide[4096];
	const char *p = path_of("new.etl");
	assert_true(utf8_to_utf16(p, strlen(p), wide, 4096) > 0);
	ETW_OPEN_TRACE_OPTIONS options;
	memset(&options, 0, sizeof options);
	options.BufferCallback = on_raw_buffer;
	options.BufferCallbackContext = &raw_buffers;
	TRACE_LOGFILE_HEADER header;
	PROCESSTRACE_HANDLE h = OpenTraceFromFile((LPCWSTR)(void *)wide, &options, &header);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(header.BufferSize, 4096);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_CANCELLED);
	assert_int_equal(raw_buffers, 2);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[256];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_real_file_is_delivered_whole_and_in_order),
		cmocka_unit_test(extended_items_of_real_events_arrive),
		cmocka_unit_test(open_fills_the_header_and_keeps_its_strings),
		cmocka_unit_test(wide_names_and_backslashes_open_too),
		cmocka_unit_test(raw_mode_gives_the_ticks_of_the_file),
		cmocka_unit_test(several_files_become_one_order),
		cmocka_unit_test(a_window_keeps_both_ends_and_the_header),
		cmocka_unit_test(a_false_from_the_buffer_callback_cancels),
		cmocka_unit_test(close_inside_a_callback_is_pending_and_ends_processing),
		cmocka_unit_test(more_files_than_windows_takes_are_merged),
		cmocka_unit_test(wrong_arguments_have_their_documented_codes),
		cmocka_unit_test(classic_callbacks_get_classic_events),
		cmocka_unit_test(open_from_file_hands_over_raw_buffers),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
