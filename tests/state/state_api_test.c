/* SPDX-License-Identifier: MIT
 *
 * include/openetw/state.h as programs use it: attached to a trace, asked in its callback; with and
 * without reading ahead; with FILETIME and raw time stamps; fed event by event.
 */
#include "openetw/state.h"

#include "../corpus/corpus.h"
#include "../corpus/etl_build.h"
#include "../reader/sizes.h"

#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>

#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FREQ 1000000000ull /* finer than FILETIME: stacks must not depend on it */

static int __attribute__((noinline)) sampled_function(int x)
{
	return x * 5 + getpid();
}

/* This program as it is loaded. */
struct self {
	uint64_t base, bytes;
	uint8_t id[64];
	uint32_t id_bytes;
	char path[4096];
};

static int look_at_self(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct self *s = ctx;
	uint64_t low = UINT64_MAX, high = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			low = low < (at & ~4095ull) ? low : at & ~4095ull;
			high = high > at + p->p_memsz ? high : at + p->p_memsz;
		}
		const uint8_t *n = (const uint8_t *)(uintptr_t)at, *end = n + p->p_memsz;
		while (p->p_type == PT_NOTE && end - n >= 12) {
			uint32_t name, bytes, type;
			memcpy(&name, n, 4);
			memcpy(&bytes, n + 4, 4);
			memcpy(&type, n + 8, 4);
			if (type == 3 && name == 4 && bytes <= sizeof s->id) {
				memcpy(s->id, n + 16, bytes);
				s->id_bytes = bytes;
			}
			n += 12 + ((name + 3) & ~3u) + ((bytes + 3) & ~3u);
		}
	}
	s->base = low;
	s->bytes = high - low;
	return 1;
}

static uint8_t *system_record(struct etl_build *b, uint64_t time, unsigned hook, unsigned version, uint32_t payload)
{
	uint8_t *p = etl_build_record(b, 0x20 + payload);
	etl_build_u16(p, version);
	etl_build_u16(p + 2, 0xC002);
	etl_build_u16(p + 4, 0x20 + payload);
	etl_build_u16(p + 6, hook);
	etl_build_u32(p + 8, 3);
	etl_build_u32(p + 12, 2);
	etl_build_u64(p + 0x10, time);
	return p + 0x20;
}

static uint8_t *perfinfo_record(struct etl_build *b, uint64_t time, unsigned hook, uint32_t payload)
{
	uint8_t *p = etl_build_record(b, 0x10 + payload);
	etl_build_u16(p, 2);
	etl_build_u16(p + 2, 0xC011);
	etl_build_u16(p + 4, 0x10 + payload);
	etl_build_u16(p + 6, hook);
	etl_build_u64(p + 8, time);
	return p + 16;
}

#define PID 77
#define TID 78

/* Process 77 "sampled" runs this program. Its thread is switched to, an interrupt comes, two
 * samples are taken within one 100 ns tick, each with a stack of its own; what tells who that was
 * stands at the end. */
static void write_trace(const char *path, const struct self *self, bool wrong_build)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = FREQ, .start_raw = 5000, .start_filetime = 130000000000000000ull};
	uint64_t here = (uint64_t)(uintptr_t)sampled_function;
	struct etl_build b;
	etl_build_start(&b, 16384, &h);
	etl_build_begin(&b, 1, 1);
	etl_build_u32(perfinfo_record(&b, 10000, 0x0524, 24), TID);
	perfinfo_record(&b, 11001, 0x0F32, 8);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t time = 12000 + i;
		uint8_t *p = perfinfo_record(&b, time, 0x0F2E, 16);
		etl_build_u64(p, here + 1 + i);
		etl_build_u32(p + 8, TID);
		p = perfinfo_record(&b, 12500 + i, 0x1820, 16 + 16);
		etl_build_u64(p, time);
		etl_build_u32(p + 8, PID);
		etl_build_u32(p + 12, TID);
		etl_build_u64(p + 16, here + 1 + i);
		etl_build_u64(p + 24, 0x10 + i); /* in no module */
	}
	/* thread, process and image rundown at the end */
	uint8_t *p = system_record(&b, 20000, 0x0504, 3, 72);
	etl_build_u32(p, PID);
	etl_build_u32(p + 4, TID);
	p = system_record(&b, 20001, 0x0304, 4, 36 + 4 + 8 + 20);
	etl_build_u32(p + 8, PID);
	etl_build_u32(p + 12, 5);
	memcpy(p + 40, "sampled", 8);
	memcpy(p + 48, "s\0 \0-\0x\0\0", 10);
	uint32_t n = (uint32_t)strlen(self->path);
	p = system_record(&b, 20002, 0x1404, 2, 56 + 2 * (n + 1));
	etl_build_u64(p, self->base);
	etl_build_u64(p + 8, self->bytes);
	etl_build_u32(p + 16, PID);
	uint32_t id[2];
	memcpy(id, self->id, 8);
	etl_build_u32(p + 20, id[1] ^ wrong_build);
	etl_build_u32(p + 24, id[0]);
	for (uint32_t i = 0; i < n; i++) {
		p[56 + 2 * i] = (uint8_t)self->path[i];
	}
	etl_build_end(&b, 30000);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_int_equal(write(fd, b.mem, (size_t)b.buffers * b.buffer_size), (ssize_t)b.buffers * b.buffer_size);
	close(fd);
	free(b.mem);
}

struct seen {
	struct openetw_state *s;
	bool feed;
	unsigned interrupts, samples, stacks;
	struct openetw_event_origin interrupt, sample;
	char process[64];
	struct openetw_stack stack[2];
	uint64_t inner[2];
	char symbol[64], module[4096];
	uint64_t offset;
	uint32_t unknown_code;
};

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct seen *x = e->UserContext;
	struct openetw_event_origin o = {.size = sizeof o};
	if (x->feed) {
		assert_int_equal(openetw_state_feed(x->s, e), ERROR_SUCCESS);
	}
	assert_int_equal(openetw_state_event(x->s, e, &o), ERROR_SUCCESS);
	if (e->EventHeader.EventDescriptor.Opcode == 0x32) {
		x->interrupts++;
		x->interrupt = o;
		snprintf(x->process, sizeof x->process, "%s", o.process ? o.process : "");
	}
	if (e->EventHeader.EventDescriptor.Opcode != 0x2E) {
		return;
	}
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	struct openetw_stack k = {.size = sizeof k};
	x->sample = o;
	if (openetw_state_stack(x->s, e, &k) == ERROR_SUCCESS && x->samples < 2) {
		x->stack[x->samples] = k;
		x->inner[x->samples] = k.addresses[0];
		x->stacks++;
		struct openetw_symbol y = {.size = sizeof y};
		struct openetw_module m = {.size = sizeof m};
		if (openetw_state_symbol(x->s, k.pid, k.addresses[0], time, &y) == 0) {
			snprintf(x->symbol, sizeof x->symbol, "%s", y.name);
			x->offset = y.offset;
		}
		if (openetw_state_module(x->s, k.pid, k.addresses[0], time, &m) == 0) {
			snprintf(x->module, sizeof x->module, "%s", m.path);
		}
		x->unknown_code = openetw_state_module(x->s, k.pid, k.addresses[1], time, &m);
	}
	x->samples++;
}

enum { READ_AHEAD = 1, RAW = 2, FEED = 4 };

static void go(const char *path, unsigned how, struct seen *x)
{
	EVENT_TRACE_LOGFILEA log = {0};
	memset(x, 0, sizeof *x);
	x->s = openetw_state_create(OPENETW_STATE_STACKS);
	x->feed = (how & FEED) != 0;
	log.LogFileName = (char *)(uintptr_t)path;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | (how & RAW ? PROCESS_TRACE_MODE_RAW_TIMESTAMP : 0);
	log.EventRecordCallback = on_event;
	log.Context = x;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	if (how & READ_AHEAD) {
		assert_int_equal(openetw_state_read_file(x->s, path, NULL, NULL), ERROR_SUCCESS);
	}
	if (!x->feed) {
		assert_int_equal(openetw_state_attach(x->s, h), ERROR_SUCCESS);
	}
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	CloseTrace(h);
	assert_int_equal(x->interrupts, 1);
	assert_int_equal(x->samples, 2);
}

static char trace_path[64];
static struct self self;

static int setup(void **state)
{
	strcpy(trace_path, "/tmp/openetw-state-XXXXXX");
	int fd = mkstemp(trace_path);
	dl_iterate_phdr(look_at_self, &self);
	ssize_t n = readlink("/proc/self/exe", self.path, sizeof self.path - 1);
	if (fd < 0 || n < 0) {
		return -1;
	}
	close(fd);
	write_trace(trace_path, &self, false);
	return 0;
}

static int teardown(void **state)
{
	return unlink(trace_path);
}

static void check_all(const struct seen *x)
{
	assert_int_equal(x->interrupt.pid, PID);
	assert_int_equal(x->interrupt.tid, TID);
	assert_string_equal(x->process, "sampled");
	assert_int_equal(x->sample.pid, PID);
	assert_int_equal(x->stacks, 2);
	uint64_t here = (uint64_t)(uintptr_t)sampled_function;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(x->stack[i].count, 2);
		assert_int_equal(x->stack[i].pid, PID);
		assert_int_equal(x->stack[i].tid, TID);
		assert_true(x->inner[i] == here + 1 + i);
	}
	assert_string_equal(x->module, self.path);
	assert_string_equal(x->symbol, "sampled_function");
	assert_int_equal(x->offset, 2);
	assert_int_equal(x->unknown_code, ERROR_NOT_FOUND);
}

static void a_file_read_ahead_explains_its_first_event_with_its_last(void **state)
{
	struct seen x;
	go(trace_path, READ_AHEAD, &x);
	check_all(&x);
	openetw_state_destroy(x.s);
}

static void raw_time_stamps_give_the_same_answers(void **state)
{
	struct seen x;
	go(trace_path, READ_AHEAD | RAW, &x);
	check_all(&x);
	openetw_state_destroy(x.s);
}

static void without_reading_ahead_only_the_past_is_known(void **state)
{
	for (unsigned feed = 0; feed <= FEED; feed += FEED) {
		struct seen x;
		go(trace_path, feed, &x);
		assert_int_equal(x.interrupt.tid, TID); /* the switch came before */
		assert_int_equal(x.interrupt.pid, OPENETW_UNKNOWN_ID);
		assert_string_equal(x.process, "");
		assert_int_equal(x.stacks, 0);
		/* and now, that all has come */
		struct openetw_process p = {.size = sizeof p};
		assert_int_equal(openetw_state_process(x.s, PID, UINT64_MAX, &p), ERROR_SUCCESS);
		assert_string_equal(p.name, "sampled");
		assert_string_equal(p.command_line, "s -x");
		assert_int_equal(p.parent_pid, 5);
		struct openetw_thread t = {.size = sizeof t};
		assert_int_equal(openetw_state_thread(x.s, TID, UINT64_MAX, &t), ERROR_SUCCESS);
		assert_int_equal(t.pid, PID);
		openetw_state_destroy(x.s);
	}
}

/* The names of another build would be wrong. */
static void a_module_of_another_build_has_no_symbols(void **state)
{
	struct seen x;
	write_trace(trace_path, &self, true);
	go(trace_path, READ_AHEAD, &x);
	assert_string_equal(x.module, self.path);
	assert_string_equal(x.symbol, "");
	openetw_state_destroy(x.s);
	write_trace(trace_path, &self, false);
}

/* The same trace, but another process name and another time of boot. */
static void write_other(const char *path, uint64_t boot)
{
	uint8_t mem[2 * 16384];
	int fd = open(trace_path, O_RDONLY), out = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_int_equal(read(fd, mem, sizeof mem), sizeof mem);
	uint8_t *name = memmem(mem, sizeof mem, "sampled", 8);
	assert_non_null(name);
	memcpy(name, "another", 8);
	etl_build_u64(mem + 0x48 + 0x20 + 0xF8, boot);
	assert_int_equal(write(out, mem, sizeof mem), sizeof mem);
	close(fd);
	close(out);
}

static unsigned named_sampled, named_another;

static void WINAPI on_two(PEVENT_RECORD e)
{
	struct openetw_event_origin o = {.size = sizeof o};
	assert_int_equal(openetw_state_event(e->UserContext, e, &o), ERROR_SUCCESS);
	if (e->EventHeader.EventDescriptor.Opcode == 0x32) {
		assert_int_equal(o.pid, PID);
		assert_non_null(o.process);
		named_sampled += strcmp(o.process, "sampled") == 0;
		named_another += strcmp(o.process, "another") == 0;
	}
}

/* Process 77 here is not process 77 there. */
static void traces_of_two_machines_are_kept_apart_and_of_one_are_not(void **state)
{
	char other[sizeof trace_path + 8];
	snprintf(other, sizeof other, "%s.other", trace_path);
	for (unsigned same = 0; same < 2; same++) {
		const char *paths[2] = {trace_path, other};
		TRACEHANDLE h[2];
		struct openetw_state *s = openetw_state_create(0);
		write_other(other, same ? 0 : 120000000000000000ull);
		named_sampled = named_another = 0;
		for (unsigned i = 0; i < 2; i++) {
			EVENT_TRACE_LOGFILEA log = {0};
			log.LogFileName = (char *)(uintptr_t)paths[i];
			log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
			log.EventRecordCallback = on_two;
			log.Context = s;
			h[i] = OpenTraceA(&log);
			assert_int_equal(openetw_state_read_file(s, paths[i], NULL, NULL), 0);
			assert_int_equal(openetw_state_attach(s, h[i]), ERROR_SUCCESS);
		}
		assert_int_equal(ProcessTrace(h, 2, NULL, NULL), ERROR_SUCCESS);
		CloseTrace(h[0]);
		CloseTrace(h[1]);
		assert_int_equal(named_sampled + named_another, 2);
		assert_int_equal(named_another, same ? 0 : 1);
		openetw_state_destroy(s);
		unlink(other);
	}
}

static struct openetw_state *asked;
static unsigned sizes_checked;

static void WINAPI on_sized(PEVENT_RECORD e)
{
	SIZES_CHECK(struct openetw_event_origin, file_key, ERROR_SUCCESS, openetw_state_event(asked, e, ret));
	struct openetw_stack k = {.size = sizeof k};
	if (openetw_state_stack(asked, e, &k) == ERROR_SUCCESS) {
		uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart, at = k.addresses[0];
		SIZES_CHECK(struct openetw_stack, addresses, ERROR_SUCCESS, openetw_state_stack(asked, e, ret));
		SIZES_CHECK(struct openetw_process, command_line, ERROR_SUCCESS,
			    openetw_state_process(asked, PID, time, ret));
		SIZES_CHECK(struct openetw_thread, end_time, ERROR_SUCCESS,
			    openetw_state_thread(asked, TID, time, ret));
		SIZES_CHECK(struct openetw_module, symbol_file, ERROR_SUCCESS,
			    openetw_state_module(asked, PID, at, time, ret));
		SIZES_CHECK(struct openetw_symbol, module, ERROR_SUCCESS,
			    openetw_state_symbol(asked, PID, at, time, ret));
		sizes_checked++;
	}
}

static void programs_of_older_and_newer_releases_get_what_they_have_room_for(void **state)
{
	EVENT_TRACE_LOGFILEA log = {0};
	asked = openetw_state_create(OPENETW_STATE_STACKS);
	log.LogFileName = trace_path;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_sized;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_int_equal(openetw_state_read_file(asked, trace_path, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(openetw_state_attach(asked, h), ERROR_SUCCESS);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	CloseTrace(h);
	openetw_state_destroy(asked);
	assert_int_equal(sizes_checked, 2);
}

static void mistakes_are_refused(void **state)
{
	struct openetw_state *s = openetw_state_create(0);
	EVENT_RECORD e = {0};
	struct openetw_event_origin o = {.size = 4};
	struct openetw_process p = {.size = sizeof p};
	assert_int_equal(openetw_state_event(s, &e, &o), ERROR_INVALID_PARAMETER);
	assert_int_equal(openetw_state_event(s, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(openetw_state_process(s, 1, 0, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(openetw_state_process(s, 1, 0, &p), ERROR_NOT_FOUND);
	assert_int_equal(openetw_state_attach(s, 12345), ERROR_INVALID_HANDLE);
	assert_int_equal(openetw_state_read_file(s, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(openetw_state_read_file(s, "/nonexistent", NULL, NULL), ERROR_FILE_NOT_FOUND);
	assert_int_equal(openetw_state_read_file(s, "/etc/passwd", NULL, NULL), ERROR_FILE_CORRUPT);
	openetw_state_destroy(s);
	openetw_state_destroy(NULL);
}

static bool stop_at_once(void *context, uint32_t done, uint32_t total)
{
	assert_true(done <= total);
	++*(unsigned *)context;
	return false;
}

static void reading_ahead_can_be_stopped(void **state)
{
	struct openetw_state *s = openetw_state_create(0);
	unsigned calls = 0;
	assert_int_equal(openetw_state_read_file(s, trace_path, stop_at_once, &calls), ERROR_CANCELLED);
	assert_int_equal(calls, 1);
	openetw_state_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_read_ahead_explains_its_first_event_with_its_last),
		cmocka_unit_test(raw_time_stamps_give_the_same_answers),
		cmocka_unit_test(without_reading_ahead_only_the_past_is_known),
		cmocka_unit_test(a_module_of_another_build_has_no_symbols),
		cmocka_unit_test(traces_of_two_machines_are_kept_apart_and_of_one_are_not),
		cmocka_unit_test(programs_of_older_and_newer_releases_get_what_they_have_room_for),
		cmocka_unit_test(mistakes_are_refused),
		cmocka_unit_test(reading_ahead_can_be_stopped),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
