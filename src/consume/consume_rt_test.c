/* SPDX-License-Identifier: MIT
 *
 * Real-time consumers against a made-up etwd: a thread that speaks the protocol over a socket in a
 * runtime directory of its own, well or badly as each case wants.
 */
#define INITGUID
#include "evntcons.h"
#include "evntrace.h"
#include "openetw/openetw.h"

#include "base/base.h"
#include "proto/proto.h"

#include "../../tests/corpus/etl_build.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

#define START_RAW      1000000ull
#define START_FILETIME 130000000000000000ull
#define SLOT           4096u
#define SLOTS          4u

static DWORD last_error;
static struct openetw_trace_loss loss = {.size = sizeof loss};
VOID WINAPI SetLastError(DWORD code)
{
	last_error = code;
}

static char dir[] = "/tmp/openetw-rt-XXXXXX";
static int listener = -1;

static const struct etl_build_header plain = {.clock_type = 1,
					      .perf_freq = 10000000,
					      .start_raw = START_RAW,
					      .start_filetime = START_FILETIME,
					      .mode = 0x100};

/* ---- the other side ---- */

struct etwd {
	int sock, ring;
	uint64_t sequence;
	unsigned acks;
};

static void reply(struct etwd *e, const struct proto_message *m, uint32_t status, uint32_t slots, uint32_t slot_bytes)
{
	static uint8_t out[PROTO_MESSAGE_MAX];
	struct proto_writer w;
	proto_begin(&w, out, sizeof out, (uint16_t)(m->type | PROTO_REPLY), m->id);
	proto_put_u32(&w, PROTO_TAG_STATUS, status);
	struct etl_build b;
	etl_build_start(&b, SLOT, &plain);
	if (status == 0) {
		proto_put_u32(&w, PROTO_TAG_RING_SLOTS, slots);
		proto_put_u32(&w, PROTO_TAG_RING_SLOT_BYTES, slot_bytes);
		proto_put(&w, PROTO_TAG_HEADER, b.mem, le32_get(b.mem + 0x30));
	}
	free(b.mem);
	long n = proto_end(&w);
	assert_true(n > 0);
	assert_int_equal(proto_send(e->sock, out, (size_t)n, &e->ring, status == 0 ? 1 : 0), 0);
}

/* Accepts one consumer and answers its OPEN_RT. */
static void serve(struct etwd *e, uint32_t status, uint32_t slots, uint32_t slot_bytes)
{
	memset(e, 0, sizeof *e);
	e->sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(e->sock >= 0);
	e->ring = base_memfd("ring", SLOTS * SLOT);
	assert_true(e->ring >= 0);
	uint8_t in[4096];
	long n = proto_recv(e->sock, in, sizeof in, NULL, NULL, 5000);
	assert_true(n > 0);
	struct proto_message m;
	assert_int_equal(proto_parse(in, (size_t)n, &m), 0);
	assert_int_equal(m.type, PROTO_OPEN_RT);
	const uint8_t *name;
	size_t bytes;
	assert_true(proto_get(&m, PROTO_TAG_SESSION_NAME, &name, &bytes));
	assert_int_equal(bytes, 2);
	assert_memory_equal(name, u"S", 2);
	reply(e, &m, status, slots, slot_bytes);
}

static void tell(struct etwd *e, uint16_t type, uint32_t position, uint32_t length, uint64_t lost_events,
		 uint64_t lost_buffers, uint64_t watermark)
{
	uint8_t out[512];
	struct proto_writer w;
	proto_begin(&w, out, sizeof out, type, 0);
	if (type == PROTO_RT_BUFFER) {
		proto_put_u32(&w, PROTO_TAG_POSITION, position);
		proto_put_u64(&w, PROTO_TAG_SEQUENCE, ++e->sequence);
		proto_put_u32(&w, PROTO_TAG_LENGTH, length);
		proto_put_u64(&w, PROTO_TAG_LOST_EVENTS, lost_events);
		proto_put_u64(&w, PROTO_TAG_LOST_BUFFERS, lost_buffers);
		proto_put_u32(&w, PROTO_TAG_CPU, 0);
	} else {
		proto_put_u64(&w, PROTO_TAG_WATERMARK, watermark);
	}
	long n = proto_end(&w);
	assert_int_equal(proto_send(e->sock, out, (size_t)n, NULL, 0), 0);
}

/* Events at the given offsets from START_RAW; the id is the offset. Waits for the ack. */
static void send_buffer(struct etwd *e, unsigned slot, unsigned cpu, unsigned n, const unsigned *times,
			uint64_t lost_events, uint64_t lost_buffers)
{
	struct etl_build b = {.buffer_size = SLOT};
	etl_build_begin(&b, cpu, e->sequence + 1);
	for (unsigned i = 0; i < n; i++) {
		etl_build_event(&b, START_RAW + times[i], times[i], i);
	}
	uint32_t used = b.at;
	etl_build_end(&b, START_RAW + 100000);
	assert_int_equal(pwrite(e->ring, b.mem, SLOT, (off_t)slot * SLOT), SLOT);
	free(b.mem);
	tell(e, PROTO_RT_BUFFER, slot, used, lost_events, lost_buffers, 0);
	uint8_t in[256];
	long got = proto_recv(e->sock, in, sizeof in, NULL, NULL, 5000);
	assert_true(got > 0);
	struct proto_message m;
	uint64_t sequence;
	assert_int_equal(proto_parse(in, (size_t)got, &m), 0);
	assert_int_equal(m.type, PROTO_RT_ACK);
	assert_true(proto_get_u64(&m, PROTO_TAG_SEQUENCE, &sequence));
	assert_int_equal(sequence, e->sequence);
	e->acks++;
}

static void leave(struct etwd *e)
{
	base_close(&e->sock);
	base_close(&e->ring);
}

/* ---- the consumer ---- */

static unsigned ids[64], count, headers, lost_events, lost_buffers, buffers;
static unsigned lost_before; /* the id delivered after the first loss */
static unsigned close_at;
static PROCESSTRACE_HANDLE handle;
static ULONG close_code;

static void on_record(PEVENT_RECORD e)
{
	static const GUID lost = {0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};
	if (memcmp(&e->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) == 0) {
		headers++;
		assert_int_equal(count, 0);
		return;
	}
	if (memcmp(&e->EventHeader.ProviderId, &lost, sizeof lost) == 0) {
		lost_events += e->EventHeader.EventDescriptor.Opcode == 32;
		lost_buffers += e->EventHeader.EventDescriptor.Opcode == 33;
		lost_before = count;
		return;
	}
	assert_true(count < 64);
	ids[count++] = e->EventHeader.EventDescriptor.Id;
	if (close_at && count == close_at) {
		close_code = CloseTrace(handle);
	}
}

static ULONG on_buffer(PEVENT_TRACE_LOGFILEW log)
{
	buffers = log->BuffersRead;
	return TRUE;
}

static PEVENT_TRACE_BUFFER_CALLBACKW callback = on_buffer;

static PROCESSTRACE_HANDLE open_session(void)
{
	count = headers = lost_events = lost_buffers = buffers = lost_before = close_at = 0;
	static WCHAR name[] = {'S', 0};
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	log.LoggerName = name;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	log.EventRecordCallback = on_record;
	log.BufferCallback = callback;
	handle = OpenTraceW(&log);
	if (handle != INVALID_PROCESSTRACE_HANDLE && log.LogfileHeader.LoggerName) {
		assert_memory_equal(log.LogfileHeader.LoggerName, u"S", 4);
		assert_int_equal(log.LogfileHeader.PerfFreq.QuadPart, 10000000);
	}
	return handle;
}

/* Runs `body` as etwd while this thread consumes; returns ProcessTrace's code. */
static ULONG consume(void *(*body)(void *))
{
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, body, NULL), 0);
	ULONG code = ERROR_INVALID_HANDLE;
	if (open_session() != INVALID_PROCESSTRACE_HANDLE) {
		code = ProcessTrace(&handle, 1, NULL, NULL);
		assert_int_equal(openetw_trace_loss(handle, &loss), ERROR_SUCCESS);
		CloseTrace(handle);
	} else {
		code = last_error;
	}
	pthread_join(t, NULL);
	return code;
}

static void *etwd_two_rounds(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 1, 3, (unsigned[]){20, 40, 60}, 0, 0);
	send_buffer(&e, 1, 0, 3, (unsigned[]){10, 30, 55}, 0, 0);
	tell(&e, PROTO_RT_ROUND, 0, 0, 0, 0, START_RAW + 50); /* 55 and 60 have to wait */
	send_buffer(&e, 2, 2, 1, (unsigned[]){51}, 0, 0);
	send_buffer(&e, 3, 0, 2, (unsigned[]){58, 70}, 0, 0);
	tell(&e, PROTO_RT_ROUND, 0, 0, 0, 0, START_RAW + 65);
	tell(&e, PROTO_RT_END, 0, 0, 0, 0, START_RAW + 100);
	leave(&e);
	return NULL;
}

static void rounds_are_merged_over_processors_up_to_the_watermark(void **state)
{
	assert_int_equal(consume(etwd_two_rounds), ERROR_SUCCESS);
	assert_int_equal(loss.unknown, 0);
	static const unsigned want[] = {10, 20, 30, 40, 51, 55, 58, 60, 70};
	assert_int_equal(headers, 1);
	assert_int_equal(count, BASE_ARRAY_LEN(want));
	assert_memory_equal(ids, want, sizeof want);
	assert_int_equal(lost_events + lost_buffers, 0);
	assert_int_equal(buffers, 4);
}

static void *etwd_loses(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 2, (unsigned[]){10, 20}, 0, 0);
	tell(&e, PROTO_RT_ROUND, 0, 0, 0, 0, START_RAW + 20);
	send_buffer(&e, 1, 0, 1, (unsigned[]){30}, 5, 0);
	tell(&e, PROTO_RT_ROUND, 0, 0, 0, 0, START_RAW + 30);
	send_buffer(&e, 2, 0, 1, (unsigned[]){40}, 5, 2);
	tell(&e, PROTO_RT_END, 0, 0, 0, 0, START_RAW + 100);
	leave(&e);
	return NULL;
}

static void losses_are_announced_before_the_next_event(void **state)
{
	assert_int_equal(consume(etwd_loses), ERROR_SUCCESS);
	assert_int_equal(count, 4);
	assert_int_equal(lost_events, 1);
	assert_int_equal(lost_buffers, 1);
	assert_int_equal(lost_before, 3);
}

static void *etwd_refuses(void *arg)
{
	struct etwd e;
	for (unsigned i = 0; i < 2; i++) { /* OpenTrace asks, and ProcessTrace once more */
		serve(&e, ERROR_WMI_INSTANCE_NOT_FOUND, 0, 0);
		leave(&e);
	}
	return NULL;
}

static void a_session_that_does_not_run_is_told_by_process_trace(void **state)
{
	assert_int_equal(consume(etwd_refuses), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(count, 0);
}

static void *etwd_denies(void *arg)
{
	struct etwd e;
	serve(&e, ERROR_ACCESS_DENIED, 0, 0);
	leave(&e);
	return NULL;
}

static void a_session_of_somebody_else_is_told_by_open_trace(void **state)
{
	assert_int_equal(consume(etwd_denies), ERROR_ACCESS_DENIED);
}

static void *etwd_dies(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 2, (unsigned[]){10, 20}, 0, 0);
	leave(&e);
	return NULL;
}

static void what_arrived_before_etwd_died_is_delivered(void **state)
{
	assert_int_equal(consume(etwd_dies), RPC_S_CALL_FAILED);
	assert_int_equal(count, 2);
	assert_int_equal(loss.unknown, OPENETW_UNKNOWN_BROKEN_OFF);
	assert_string_equal(loss.reason, "the trace session ended unexpectedly");
}

static void *etwd_lies_about_the_ring(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS + 1, SLOT);
	leave(&e);
	return NULL;
}

static void a_ring_smaller_than_promised_is_refused(void **state)
{
	assert_int_not_equal(consume(etwd_lies_about_the_ring), ERROR_SUCCESS);
	assert_int_equal(count, 0);
}

static void *etwd_points_outside(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 1, (unsigned[]){10}, 0, 0);
	tell(&e, PROTO_RT_BUFFER, SLOTS, 100, 0, 0, 0);
	leave(&e);
	return NULL;
}

static void a_position_outside_the_ring_ends_the_stream_with_an_error(void **state)
{
	assert_int_not_equal(consume(etwd_points_outside), ERROR_SUCCESS);
	assert_int_equal(count, 1);
}

static void *etwd_shrinks_the_ring(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 1, (unsigned[]){10}, 0, 0);
	assert_int_equal(ftruncate(e.ring, 100), 0);
	tell(&e, PROTO_RT_BUFFER, 1, 500, 0, 0, 0);
	leave(&e);
	return NULL;
}

static void a_shrinking_ring_is_an_error_and_no_signal(void **state)
{
	assert_int_not_equal(consume(etwd_shrinks_the_ring), ERROR_SUCCESS);
	assert_int_equal(count, 1);
}

static void *etwd_sends_garbage(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	uint64_t seed = 7;
	for (unsigned i = 0; i < 200; i++) {
		struct etl_build b = {.buffer_size = SLOT};
		etl_build_begin(&b, 0, i);
		for (unsigned k = 0; k < 20; k++) {
			etl_build_event(&b, START_RAW + k, 1000, 0);
		}
		uint32_t used = b.at;
		etl_build_end(&b, START_RAW + 50);
		for (unsigned k = 0; k < 30; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			b.mem[(seed >> 33) % used] = (uint8_t)(seed >> 20);
		}
		assert_int_equal(pwrite(e.ring, b.mem, SLOT, 0), SLOT);
		free(b.mem);
		tell(&e, PROTO_RT_BUFFER, 0, used, 0, 0, 0);
		uint8_t in[256];
		assert_true(proto_recv(e.sock, in, sizeof in, NULL, NULL, 5000) > 0);
	}
	struct etwd *p = &e;
	send_buffer(p, 0, 0, 1, (unsigned[]){10}, 0, 0);
	tell(&e, PROTO_RT_END, 0, 0, 0, 0, START_RAW + 100);
	leave(&e);
	return NULL;
}

static unsigned garbage_events;
static volatile uint8_t garbage_sum; /* so that the bytes are really read */
static void on_garbage(PEVENT_RECORD e)
{
	for (unsigned i = 0; i < e->UserDataLength; i++) {
		garbage_sum ^= ((const uint8_t *)e->UserData)[i];
	}
	garbage_events++;
}

static void damaged_buffers_do_no_harm(void **state)
{
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, etwd_sends_garbage, NULL), 0);
	static WCHAR name[] = {'S', 0};
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	log.LoggerName = name;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	log.EventRecordCallback = on_garbage;
	PROCESSTRACE_HANDLE h = OpenTraceW(&log);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
	pthread_join(t, NULL);
	assert_true(garbage_events > 2);
}

static pthread_barrier_t may_close;

static void *etwd_stays(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 3, (unsigned[]){10, 20, 30}, 0, 0);
	pthread_barrier_wait(&may_close);
	/* until the consumer is gone */
	uint8_t in[64];
	assert_true(proto_recv(e.sock, in, sizeof in, NULL, NULL, 10000) <= 0);
	leave(&e);
	return NULL;
}

static void *closer(void *arg)
{
	pthread_barrier_wait(&may_close);
	close_code = CloseTrace(handle);
	return NULL;
}

static void close_from_another_thread_drains_and_ends(void **state)
{
	pthread_barrier_init(&may_close, NULL, 2);
	pthread_t t, c;
	assert_int_equal(pthread_create(&t, NULL, etwd_stays, NULL), 0);
	assert_true(open_session() != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(pthread_create(&c, NULL, closer, NULL), 0);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	pthread_join(c, NULL);
	pthread_join(t, NULL);
	assert_int_equal(close_code, ERROR_CTX_CLOSE_PENDING);
	assert_int_equal(count, 3); /* there was no watermark, but they had arrived */
	pthread_barrier_destroy(&may_close);
}

static ULONG on_buffer_false(PEVENT_TRACE_LOGFILEW log)
{
	buffers = log->BuffersRead;
	return FALSE;
}

static void *etwd_stays_silent(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	send_buffer(&e, 0, 0, 3, (unsigned[]){10, 20, 30}, 0, 0);
	tell(&e, PROTO_RT_ROUND, 0, 0, 0, 0, START_RAW + 50);
	uint8_t in[64];
	*(bool *)arg = proto_recv(e.sock, in, sizeof in, NULL, NULL, 10000) == 0; /* gone by itself */
	leave(&e);
	return NULL;
}

static void a_false_from_the_buffer_callback_ends_a_session_that_is_silent_afterwards(void **state)
{
	pthread_t t;
	bool gone = false;
	assert_int_equal(pthread_create(&t, NULL, etwd_stays_silent, &gone), 0);
	callback = on_buffer_false;
	PROCESSTRACE_HANDLE h = open_session();
	callback = on_buffer;
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_CANCELLED);
	CloseTrace(h);
	pthread_join(t, NULL);
	assert_true(gone);
	assert_int_equal(count, 3);
	assert_int_equal(buffers, 1);
}

static void *etwd_never_stops(void *arg)
{
	struct etwd e;
	serve(&e, 0, SLOTS, SLOT);
	/* The same buffer again and again: nobody waits for acks here, so none may be overwritten.
	 */
	struct etl_build b = {.buffer_size = SLOT};
	etl_build_begin(&b, 0, 1);
	etl_build_event(&b, START_RAW, 1, 1);
	uint32_t used = b.at;
	etl_build_end(&b, START_RAW);
	for (unsigned i = 0; i < SLOTS; i++) {
		assert_int_equal(pwrite(e.ring, b.mem, SLOT, (off_t)i * SLOT), SLOT);
	}
	free(b.mem);
	for (unsigned i = 0;; i++) {
		uint8_t out[256];
		struct proto_writer w;
		proto_begin(&w, out, sizeof out, PROTO_RT_BUFFER, 0);
		proto_put_u32(&w, PROTO_TAG_POSITION, i % SLOTS);
		proto_put_u64(&w, PROTO_TAG_SEQUENCE, i + 1);
		proto_put_u32(&w, PROTO_TAG_LENGTH, used);
		if (proto_send(e.sock, out, (size_t)proto_end(&w), NULL, 0) < 0) {
			break; /* the consumer is gone */
		}
		proto_begin(&w, out, sizeof out, PROTO_RT_ROUND, 0);
		proto_put_u64(&w, PROTO_TAG_WATERMARK, START_RAW + i);
		if (proto_send(e.sock, out, (size_t)proto_end(&w), NULL, 0) < 0) {
			break;
		}
	}
	leave(&e);
	return NULL;
}

static unsigned busy_events;
static void on_busy(PEVENT_RECORD e)
{
	if (++busy_events == 10) {
		close_code = CloseTrace(handle);
	}
}

static void close_ends_a_session_that_never_falls_silent(void **state)
{
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, etwd_never_stops, NULL), 0);
	static WCHAR name[] = {'S', 0};
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	log.LoggerName = name;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	log.EventRecordCallback = on_busy;
	handle = OpenTraceW(&log);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(close_code, ERROR_CTX_CLOSE_PENDING);
	pthread_join(t, NULL);
	assert_in_range(busy_events, 10, 10 + SLOTS + 2); /* the header is one of the ten */
}

static void real_time_and_files_do_not_mix(void **state)
{
	PROCESSTRACE_HANDLE h[2];
	/* nobody accepts: the listener's queue would hold the request, so close it for a moment */
	char path[256];
	snprintf(path, sizeof path, "%s/control", dir);
	char away[300];
	snprintf(away, sizeof away, "%s.away", path);
	assert_int_equal(rename(path, away), 0);
	h[0] = open_session();
	h[1] = open_session();
	assert_true(h[0] != INVALID_PROCESSTRACE_HANDLE && h[1] != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(h, 2, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTrace(h, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND); /* no etwd */
	assert_int_equal(CloseTrace(h[0]), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(h[1]), ERROR_SUCCESS);
	assert_int_equal(rename(away, path), 0);
}

static int begin(void **state)
{
	if (!mkdtemp(dir) || chmod(dir, 0700) < 0) {
		return -1;
	}
	setenv("OPENETW_RUNTIME_DIR", dir, 1);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof a.sun_path, "%s/control", dir);
	return bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 8) == 0 ? 0 : -1;
}

static int finish(void **state)
{
	char path[256];
	snprintf(path, sizeof path, "%s/control", dir);
	unlink(path);
	base_close(&listener);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_are_merged_over_processors_up_to_the_watermark),
		cmocka_unit_test(losses_are_announced_before_the_next_event),
		cmocka_unit_test(a_session_that_does_not_run_is_told_by_process_trace),
		cmocka_unit_test(a_session_of_somebody_else_is_told_by_open_trace),
		cmocka_unit_test(what_arrived_before_etwd_died_is_delivered),
		cmocka_unit_test(a_ring_smaller_than_promised_is_refused),
		cmocka_unit_test(a_position_outside_the_ring_ends_the_stream_with_an_error),
		cmocka_unit_test(a_shrinking_ring_is_an_error_and_no_signal),
		cmocka_unit_test(damaged_buffers_do_no_harm),
		cmocka_unit_test(close_from_another_thread_drains_and_ends),
		cmocka_unit_test(a_false_from_the_buffer_callback_ends_a_session_that_is_silent_afterwards),
		cmocka_unit_test(close_ends_a_session_that_never_falls_silent),
		cmocka_unit_test(real_time_and_files_do_not_mix),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
