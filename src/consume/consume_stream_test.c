/* SPDX-License-Identifier: MIT
 *
 * Buffers instead of events: callbacks that keep and forward them, streams that are fed with them,
 * and the questions one may ask about a handle.
 */
#define INITGUID
#include "evntcons.h"
#include "evntrace.h"

#include "base/base.h"
#include "base/order.h"

#include "../../tests/corpus/corpus.h"
#include "../../tests/corpus/etl_build.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define START 1000000ull

static DWORD last_error;
VOID WINAPI SetLastError(DWORD code)
{
	last_error = code;
}

static const struct etl_build_header header = {
	.clock_type = 1, .perf_freq = 10000000, .start_raw = START, .start_filetime = START};

struct counts {
	unsigned events, headers, buffers, completed;
	unsigned ids[64];
	uint64_t sum; /* over ids and payloads */
	PROCESSTRACE_HANDLE self;
	PROCESSTRACE_HANDLE to; /* forward buffers to this stream */
	bool keep;
};

static void on_event(PEVENT_RECORD e)
{
	struct counts *c = e->UserContext;
	if (memcmp(&e->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) == 0 &&
	    e->EventHeader.EventDescriptor.Opcode == 0) {
		c->headers++;
		return;
	}
	if (c->events < 64) {
		c->ids[c->events] = e->EventHeader.EventDescriptor.Id;
	}
	c->events++;
	c->sum += e->EventHeader.EventDescriptor.Id * 31u + e->EventHeader.ProcessId;
	for (unsigned i = 0; i < e->UserDataLength; i++) {
		c->sum += ((const uint8_t *)e->UserData)[i];
	}
}

static void on_complete(const ETW_BUFFER_HEADER *b, void *ctx)
{
	struct counts *c = ctx;
	order_store_release(&c->completed, c->completed + 1);
}

static void *process(void *arg)
{
	ULONG code = ProcessTrace(arg, 1, NULL, NULL);
	return (void *)(uintptr_t)code;
}

static PROCESSTRACE_HANDLE open_stream(struct counts *c)
{
	ETW_OPEN_TRACE_OPTIONS o = {.EventCallback = on_event, .EventCallbackContext = c};
	PROCESSTRACE_HANDLE h = OpenTraceFromBufferStream(&o, on_complete, c);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	return h;
}

static ULONG add(PROCESSTRACE_HANDLE h, const struct etl_build *b, unsigned i)
{
	return ProcessTraceAddBufferToBufferStream(h, (const ETW_BUFFER_HEADER *)(void *)(b->mem + i * b->buffer_size),
						   b->buffer_size);
}

static void sequence_of(struct etl_build *b, unsigned cpu, uint64_t sequence, unsigned id, unsigned first,
			unsigned step)
{
	etl_build_begin(b, cpu, sequence);
	for (unsigned i = 0; i < 4; i++) {
		etl_build_event(b, START + first + i * step, id + i, 0);
	}
	etl_build_end(b, START + 10000);
}

static void wait_for(struct counts *c, unsigned completed)
{
	for (unsigned i = 0; i < 5000 && order_load_acquire(&c->completed) < completed; i++) {
		usleep(1000);
	}
}

static void fed_buffers_are_merged_and_given_back(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	sequence_of(&b, 0, 1, 10, 100, 20); /* 100 120 140 160 */
	sequence_of(&b, 1, 2, 20, 90, 25);  /* 90 115 140 165 */
	struct counts c = {0};
	PROCESSTRACE_HANDLE h = open_stream(&c);
	ULONG bytes;
	TRACE_LOGFILE_HEADER got;
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryLogFileHeader, NULL, 0, &got, sizeof got, &bytes),
			 ERROR_NOT_FOUND); /* nobody knows it yet */
	pthread_t t;
	pthread_create(&t, NULL, process, &h);
	assert_int_equal(add(h, &b, 0), ERROR_SUCCESS);
	assert_int_equal(add(h, &b, 1), ERROR_SUCCESS);
	assert_int_equal(add(h, &b, 2), ERROR_SUCCESS);
	wait_for(&c, 1); /* it runs */
	assert_int_equal(CloseTrace(h), ERROR_CTX_CLOSE_PENDING);
	void *code;
	pthread_join(t, &code);
	assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
	assert_int_equal(c.headers, 1);
	assert_int_equal(c.events, 8);
	static const unsigned want[] = {20, 10, 21, 11, 12, 22, 13, 23};
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(c.ids[i], want[i]);
	}
	assert_int_equal(c.completed, 3);
	assert_int_equal(add(h, &b, 1), ERROR_INVALID_HANDLE);
	free(b.mem);
}

static void buffers_never_processed_are_given_back_by_close(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	sequence_of(&b, 0, 1, 10, 100, 20);
	struct counts c = {0};
	PROCESSTRACE_HANDLE h = open_stream(&c);
	assert_int_equal(add(h, &b, 0), ERROR_SUCCESS);
	assert_int_equal(add(h, &b, 1), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
	assert_int_equal(c.completed, 2);
	free(b.mem);
}

static void what_does_not_belong_into_a_stream_is_refused(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	sequence_of(&b, 0, 1, 10, 100, 20);
	struct counts c = {0};
	ETW_OPEN_TRACE_OPTIONS o = {0};
	assert_true(OpenTraceFromBufferStream(NULL, on_complete, NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(last_error, ERROR_INVALID_PARAMETER);
	assert_true(OpenTraceFromBufferStream(&o, NULL, NULL) == INVALID_PROCESSTRACE_HANDLE);
	PROCESSTRACE_HANDLE h = open_stream(&c);
	const ETW_BUFFER_HEADER *zero = (const ETW_BUFFER_HEADER *)(void *)b.mem;
	assert_int_equal(ProcessTraceAddBufferToBufferStream(h, NULL, 4096), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(h, zero, 71), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(h + 1, zero, 4096), ERROR_INVALID_HANDLE);
	assert_int_equal(add(h, &b, 1), ERROR_INVALID_DATA); /* the header comes first */
	assert_int_equal(add(h, &b, 0), ERROR_SUCCESS);
	assert_int_equal(add(h, &b, 0), ERROR_INVALID_TIME); /* and once */
	etl_build_u32(b.mem + 4096 + 0x30, 5000);            /* data behind the end */
	assert_int_equal(add(h, &b, 1), ERROR_INVALID_DATA);
	assert_int_equal(ProcessTraceBufferIncrementReference(h, zero), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceBufferDecrementReference(zero), ERROR_INVALID_PARAMETER);
	PROCESSTRACE_HANDLE two[] = {h, h};
	assert_int_equal(ProcessTrace(two, 2, NULL, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
	assert_int_equal(c.completed, 1); /* refused ones stay with their owner */
	free(b.mem);
}

static void a_buffer_from_the_past_is_out_of_order(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	sequence_of(&b, 0, 1, 10, 100, 20);
	sequence_of(&b, 0, 2, 20, 1000, 20);
	struct counts c = {0};
	PROCESSTRACE_HANDLE h = open_stream(&c);
	pthread_t t;
	pthread_create(&t, NULL, process, &h);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(add(h, &b, i), ERROR_SUCCESS);
	}
	wait_for(&c, 3); /* the burst is over and delivered */
	assert_int_equal(add(h, &b, 1), ERROR_INVALID_TIME);
	CloseTrace(h);
	pthread_join(t, NULL);
	assert_int_equal(c.events, 8);
	free(b.mem);
}

/* The documented use: one side processes a trace and sends its buffers, the other is fed. */
static BOOL on_raw(const ETW_BUFFER_HEADER *b, ULONG size, const ETW_BUFFER_CALLBACK_INFORMATION *info, void *ctx)
{
	struct counts *c = ctx;
	c->buffers++;
	assert_int_equal(info->BuffersRead, c->buffers);
	assert_int_equal(info->LogfileHeader->PointerSize, info->LogfileHeader->PointerSize == 4 ? 4 : 8);
	assert_int_equal(ProcessTraceBufferIncrementReference(info->TraceHandle, b), ERROR_SUCCESS);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(c->to, b, size), ERROR_SUCCESS);
	return TRUE;
}

static void on_complete_drop(const ETW_BUFFER_HEADER *b, void *ctx)
{
	((struct counts *)ctx)->completed++;
	assert_int_equal(ProcessTraceBufferDecrementReference(b), ERROR_SUCCESS);
}

static void forward(const char *file)
{
	struct counts near = {0}, far = {0};
	ETW_OPEN_TRACE_OPTIONS o = {.EventCallback = on_event, .EventCallbackContext = &far};
	PROCESSTRACE_HANDLE to = OpenTraceFromBufferStream(&o, on_complete_drop, &far);
	near.to = to;
	char path[4096];
	corpus_path(file, path, sizeof path);
	WCHAR wide[4096];
	for (unsigned i = 0; i == 0 || path[i - 1]; i++) {
		wide[i] = (WCHAR)path[i];
	}
	ETW_OPEN_TRACE_OPTIONS from = {.EventCallback = on_event,
				       .EventCallbackContext = &near,
				       .BufferCallback = on_raw,
				       .BufferCallbackContext = &near};
	TRACE_LOGFILE_HEADER head;
	PROCESSTRACE_HANDLE h = OpenTraceFromFile((LPCWSTR)wide, &from, &head);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	pthread_t t;
	pthread_create(&t, NULL, process, &to);
	/* Returns when the far side has given everything back. */
	pthread_t n;
	pthread_create(&n, NULL, process, &h);
	void *code;
	pthread_join(n, &code);
	assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
	assert_int_equal(near.buffers, far.completed);
	TRACE_LOGFILE_HEADER again;
	ULONG bytes;
	assert_int_equal(QueryTraceProcessingHandle(to, EtwQueryLogFileHeader, NULL, 0, &again, sizeof again, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(again.StartTime.QuadPart, head.StartTime.QuadPart);
	assert_int_equal(CloseTrace(to), ERROR_CTX_CLOSE_PENDING);
	pthread_join(t, &code);
	assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
	CloseTrace(h);
	assert_int_equal(near.buffers, head.BuffersWritten);
	assert_int_equal(near.events, far.events);
	assert_int_equal(near.headers, far.headers);
	assert_true(near.sum == far.sum);
}

static void forwarded_buffers_give_the_same_events(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	forward("tx/HTTP_Server.etl");
	forward("perfview/net.4.5.2.x86.etl"); /* compressed */
	forward("demikernel/PktMon.etl");
	forward("etl-parser/ShutdownPerfDiagLogger.etl");
}

static PROCESSTRACE_HANDLE open_corpus(const char *file)
{
	char path[4096];
	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = (char *)(uintptr_t)corpus_path(file, path, sizeof path);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	return OpenTraceA(&log);
}

static void partition_and_dropped_times_can_be_asked_for(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	PROCESSTRACE_HANDLE h = open_corpus("sonde/test.etl");
	ETW_TRACE_PARTITION_INFORMATION v1;
	struct {
		ETW_TRACE_PARTITION_INFORMATION_V2 i;
		WCHAR text[100];
	} v2;
	uint64_t times[64];
	ULONG n = 0;
	memset(&v1, 0xEE, sizeof v1);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryPartitionInformation, NULL, 0, NULL, 0, &n),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(n, sizeof v1);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryPartitionInformation, NULL, 0, &v1, sizeof v1, &n),
			 ERROR_SUCCESS);
	assert_int_equal(v1.QpcOffsetFromRoot, 0); /* a plain host */
	assert_int_equal(v1.PartitionType, 0);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryPartitionInformationV2, NULL, 0, &v2, sizeof v2, &n),
			 ERROR_SUCCESS);
	assert_int_equal(v2.i.PartitionId[0], '{');
	assert_int_equal(v2.i.ParentId[37], '}');
	assert_int_equal(v2.i.ParentId[38], 0);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryLastDroppedTimes, NULL, 0, times, sizeof times, &n),
			 ERROR_SUCCESS);
	assert_int_equal(n, 16 * 8); /* processors of that machine */
	assert_int_equal(times[0], 0);
	assert_int_equal(QueryTraceProcessingHandle(h, 0, NULL, 0, times, sizeof times, &n), ERROR_INVALID_PARAMETER);
	assert_int_equal(QueryTraceProcessingHandle(h, 5, NULL, 0, times, sizeof times, &n), ERROR_INVALID_PARAMETER);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryLogFileHeader, times, 8, times, sizeof times, &n),
			 ERROR_INVALID_PARAMETER);
	CloseTrace(h);
	h = open_corpus("tx/HTTP_Server.etl"); /* Windows 7 wrote neither */
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryLastDroppedTimes, NULL, 0, times, sizeof times, &n),
			 ERROR_NOT_FOUND);
	CloseTrace(h);
	assert_int_equal(QueryTraceProcessingHandle(h, EtwQueryLogFileHeader, NULL, 0, times, sizeof times, &n),
			 ERROR_INVALID_HANDLE);
}

static BOOL on_raw_false(const ETW_BUFFER_HEADER *b, ULONG size, const ETW_BUFFER_CALLBACK_INFORMATION *info, void *ctx)
{
	((struct counts *)ctx)->buffers++;
	return FALSE;
}

static void a_false_from_the_buffer_callback_ends_a_stream_that_nobody_feeds_any_more(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	sequence_of(&b, 0, 1, 10, 100, 20);
	struct counts c = {0};
	ETW_OPEN_TRACE_OPTIONS o = {.EventCallback = on_event,
				    .EventCallbackContext = &c,
				    .BufferCallback = on_raw_false,
				    .BufferCallbackContext = &c};
	PROCESSTRACE_HANDLE h = OpenTraceFromBufferStream(&o, on_complete, &c);
	assert_int_equal(add(h, &b, 0), ERROR_SUCCESS);
	alarm(60); /* it would wait for the next buffer */
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_CANCELLED);
	alarm(0);
	assert_int_equal(c.buffers, 1);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
	assert_int_equal(c.completed, 1);
	free(b.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fed_buffers_are_merged_and_given_back),
		cmocka_unit_test(buffers_never_processed_are_given_back_by_close),
		cmocka_unit_test(what_does_not_belong_into_a_stream_is_refused),
		cmocka_unit_test(a_buffer_from_the_past_is_out_of_order),
		cmocka_unit_test(a_false_from_the_buffer_callback_ends_a_stream_that_nobody_feeds_any_more),
		cmocka_unit_test(forwarded_buffers_give_the_same_events),
		cmocka_unit_test(partition_and_dropped_times_can_be_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
