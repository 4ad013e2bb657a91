/* SPDX-License-Identifier: MIT */
#include "lane_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define BUFFER 1048576u

char path[64];

/* ---- making traces ------------------------------------------------------------------------------- */

/* Each processor's records are in buffers of its own, so they are collected first. */
struct cpu {
	uint8_t *mem;
	uint32_t at;
};
static struct cpu cpus[CPUS];
static struct etl_build *stream; /* buffers that are full go there; NULL: a processor has one */
static uint64_t stream_time;

static void flush_cpu(struct etl_build *b, uint32_t cpu, uint64_t time)
{
	etl_build_begin(b, cpu, b->buffers);
	if (cpus[cpu].mem) {
		memcpy(etl_build_record(b, cpus[cpu].at), cpus[cpu].mem, cpus[cpu].at);
	}
	etl_build_end(b, START + time);
	cpus[cpu].at = 0;
}

uint8_t *record(uint32_t cpu, uint32_t header, uint32_t type, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint32_t n = header + payload;
	struct cpu *c = &cpus[cpu];
	c->mem = c->mem ? c->mem : calloc(1, BUFFER);
	assert_non_null(c->mem);
	if (stream && c->at + n + 8 >= BUFFER - 0x100) {
		flush_cpu(stream, cpu, stream_time);
		memset(c->mem, 0, BUFFER);
	}
	assert_true(c->at + n + 8 < BUFFER - 0x100);
	uint8_t *r = c->mem + c->at;
	etl_build_u16(r, version);
	r[2] = (uint8_t)type;
	r[3] = 0xC0;
	etl_build_u16(r + 4, n);
	etl_build_u16(r + 6, hook);
	c->at += (n + 7) & ~7u;
	return r;
}

/* A record of 64-bit Windows that names nobody in its header. */
uint8_t *perfinfo(uint32_t cpu, uint64_t time, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint8_t *r = record(cpu, 16, 17, version, hook, payload);
	etl_build_u64(r + 8, START + time);
	return r + 16;
}

/* Process and threads that are there when the trace begins. */
void rundown(uint32_t threads)
{
	for (uint32_t i = 0; i < threads; i++) {
		uint8_t *r = record(0, 32, 2, 3, 0x0503, 80);
		etl_build_u32(r + 8, UINT32_MAX);
		etl_build_u32(r + 12, UINT32_MAX);
		etl_build_u64(r + 16, START);
		etl_build_u32(r + 32, PID);
		etl_build_u32(r + 36, TID(i));
	}
}

void switch_to(uint32_t cpu, uint64_t time, uint32_t in, uint32_t out, uint8_t state, uint8_t reason)
{
	uint8_t *p = perfinfo(cpu, time, 4, 0x0524, 24);
	etl_build_u32(p, in == IDLE ? 0 : TID(in));
	etl_build_u32(p + 4, out == IDLE ? 0 : TID(out));
	p[12] = reason;
	p[14] = state;
}

void ready(uint32_t cpu, uint64_t time, uint32_t who, bool by_dpc)
{
	uint8_t *p = perfinfo(cpu, time, 2, 0x0532, 8);
	etl_build_u32(p, TID(who));
	p[6] = by_dpc;
}

static void begin_trace(struct etl_build *b)
{
	const struct etl_build_header h = {.clock_type = 1,
					   .perf_freq = 10000000,
					   .start_raw = START,
					   .start_filetime = 133000000000000000,
					   .mode = 1};
	etl_build_start(b, BUFFER, &h);
}

static void end_trace(struct etl_build *b, uint64_t end)
{
	/* Something at the end, so that the last stays have one. */
	uint8_t *last = record(0, 80, 19, 0, 0, 4);
	etl_build_u16(last, 84);
	etl_build_u16(last + 2, 0xC013);
	etl_build_u32(last + 4, 0);
	etl_build_u64(last + 0x10, START + end);
	memset(last + 0x18, 0xAB, 16);
	for (uint32_t i = 0; i < CPUS; i++) {
		flush_cpu(b, i, end);
		free(cpus[i].mem);
		cpus[i] = (struct cpu){0};
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b->mem, b->buffer_size, b->buffers, f), b->buffers);
	assert_int_equal(fclose(f), 0);
	free(b->mem);
}

void write_trace(uint64_t end)
{
	struct etl_build b;
	begin_trace(&b);
	end_trace(&b, end);
}

/* ---- asking -------------------------------------------------------------------------------------- */

struct openetw_index *x;
struct openetw_query *q;

void open_trace(void)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	const char *p = path;
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	assert_non_null(q);
}

void close_trace(void)
{
	openetw_query_destroy(q);
	openetw_index_close(x);
}

uint32_t number_of(uint32_t thread)
{
	OPENETW_SIZED(struct openetw_index_about, about);
	OPENETW_SIZED(struct openetw_index_thread, t);
	assert_int_equal(openetw_index_about(x, &about), 0);
	for (uint32_t i = 1; i < about.threads; i++) {
		assert_int_equal(openetw_index_thread(x, i, &t), 0);
		if (t.tid == TID(thread)) {
			return i;
		}
	}
	fail_msg("no thread %u", thread);
	return 0;
}

struct openetw_lane_run runs[RUNS_MOST];
uint32_t run_count;

bool keep_run(void *context, const struct openetw_lane_run *r)
{
	assert_true(run_count < RUNS_MOST);
	runs[run_count++] = *r;
	return true;
}

void ask(enum openetw_lanes kind, uint32_t id, int64_t from, int64_t to, uint32_t pixels)
{
	OPENETW_SIZED(struct openetw_answer, a);
	run_count = 0;
	assert_int_equal(openetw_query_lanes(q, kind, &id, 1, from * 100, to * 100, pixels, keep_run, NULL, &a), 0);
	assert_true(a.exact);
	assert_false(a.partial);
}

void check_run(uint32_t i, uint32_t first, uint32_t pixels, enum openetw_doing doing, double coverage)
{
	assert_true(i < run_count);
	assert_int_equal(runs[i].first, first);
	assert_int_equal(runs[i].pixels, pixels);
	assert_int_equal(runs[i].doing, doing);
	assert_true(runs[i].coverage > coverage - 1e-9 && runs[i].coverage < coverage + 1e-9);
}

/* ---- at random ----------------------------------------------------------------------------------- */

uint8_t table[THREADS][TICKS];
uint64_t random_state;

uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) * n >> 32);
}

void make_random(void)
{
	uint8_t doing[THREADS] = {0};
	uint32_t on[CPUS];
	rundown(THREADS);
	for (uint32_t i = 0; i < CPUS; i++) {
		on[i] = IDLE;
	}
	memset(table, 0, sizeof table);
	for (uint32_t t = 1; t < TICKS; t++) {
		uint32_t cpu = below(CPUS), who = below(THREADS), much = t / 10000 % 2 ? 4 : 300;
		if (below(much) == 0 && doing[who] != OPENETW_DOING_RUNNING) {
			uint8_t state = below(3) ? 5 : 1;
			if (on[cpu] != IDLE) {
				doing[on[cpu]] = state == 5 ? OPENETW_DOING_WAITING : OPENETW_DOING_READY;
			}
			if (below(20) == 0) {
				switch_to(cpu, t, IDLE, on[cpu], state, 3);
				on[cpu] = IDLE;
			} else {
				switch_to(cpu, t, who, on[cpu], state, 3);
				on[cpu] = who;
				doing[who] = OPENETW_DOING_RUNNING;
			}
		} else if (below(much) == 0 && doing[who] == OPENETW_DOING_WAITING) {
			ready(cpu, t, who, below(5) == 0);
			doing[who] = OPENETW_DOING_READY;
		}
		for (uint32_t i = 0; i < THREADS; i++) {
			table[i][t] = doing[i];
		}
	}
	write_trace(TICKS);
}

/* Of more groups of rows than one thread reads at once. */
void make_long(uint32_t records)
{
	struct etl_build b;
	uint32_t on[CPUS] = {IDLE, IDLE, IDLE};
	begin_trace(&b);
	stream = &b;
	rundown(THREADS);
	for (uint32_t t = 1; t <= records; t++) {
		uint32_t cpu = below(CPUS), who = below(THREADS);
		stream_time = t;
		if (below(4) == 0) {
			ready(cpu, t, who, below(5) == 0);
		} else {
			switch_to(cpu, t, who, on[cpu], below(3) ? 5 : 1, (uint8_t)below(37));
			on[cpu] = who;
		}
	}
	end_trace(&b, records + 1);
	stream = NULL;
}

/* Of what runs say, without the bytes between. */
uint64_t hash_of_runs(uint64_t h)
{
	for (uint32_t i = 0; i < run_count; i++) {
		const struct openetw_lane_run *r = &runs[i];
		const uint64_t all[] = {r->first,     r->pixels,         r->doing,        (uint64_t)(r->coverage * 1e9),
					r->intervals, (uint64_t)r->from, (uint64_t)r->to, r->thread,
					r->cpu,       r->reason,         r->waker};
		for (uint32_t k = 0; k < sizeof all / sizeof *all; k++) {
			h = (h ^ all[k]) * 0x100000001B3ull;
			h ^= h >> 29;
		}
	}
	return h;
}

uint64_t hash_of_lanes(int64_t end)
{
	uint64_t h = 0xCBF29CE484222325ull;
	for (uint32_t i = 0; i < THREADS + CPUS; i++) {
		bool cpu = i >= THREADS;
		uint32_t id = cpu ? OPENETW_CPU_OF(0, i - THREADS) : number_of(i);
		ask(cpu ? OPENETW_LANES_CPUS : OPENETW_LANES_THREADS, id, 0, end, 40000);
		h = hash_of_runs(h);
	}
	return h;
}

/* ---- a test's file -------------------------------------------------------------------------------- */

int make_path(void **state)
{
	snprintf(path, sizeof path, "/tmp/openetw-lanes-XXXXXX");
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

int remove_path(void **state)
{
	return unlink(path);
}
