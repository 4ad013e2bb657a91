/* SPDX-License-Identifier: MIT
 *
 * Traces of switches, wakings and events that tests of lanes, chains and spans make, and questions about them. A test has one
 * trace at a time. Times are ticks of 100 ns from its beginning.
 */
#ifndef TESTS_QUERY_LANE_TRACE_H
#define TESTS_QUERY_LANE_TRACE_H

#include "../corpus/etl_build.h"

#include "openetw/query.h"

#include <stdbool.h>
#include <stdint.h>

#define START   1000u /* raw time of the trace's beginning */
#define CPUS    3u
#define PID     40u
#define TID(i)  (100u + 4u * (i)) /* of thread 0, 1, … */
#define IDLE    UINT32_MAX
#define THREADS 9u /* of traces made at random */
#define TICKS   30000u

enum { A, B, C }; /* threads by name */

/* ---- making ------------------------------------------------------------------------------------- */

extern char path[64]; /* of the trace */

/* The setup and the teardown of a group of tests. */
int make_path(void **state);
int remove_path(void **state);

/* Records go to a processor and are written by write_trace(). The first two return the place of a record and of its payload. */
uint8_t *record(uint32_t cpu, uint32_t header, uint32_t type, uint32_t version, uint32_t hook, uint32_t payload);
uint8_t *perfinfo(uint32_t cpu, uint64_t time, uint32_t version, uint32_t hook, uint32_t payload);
void rundown(uint32_t threads);
void switch_to(uint32_t cpu, uint64_t time, uint32_t in, uint32_t out, uint8_t state, uint8_t reason);
void ready(uint32_t cpu, uint64_t time, uint32_t who, bool by_dpc);
void write_trace(uint64_t end);

/* A number below n. random_state is where the row of them begins; it is not 0. */
extern uint64_t random_state;
uint32_t below(uint32_t n);
/* THREADS threads do something else at random for TICKS ticks; the table says what each does at each tick. */
extern uint8_t table[THREADS][TICKS];
void make_random(void);
void make_long(
	uint32_t records); /* no table; with many records, of more groups of rows than one thread reads at once */

/* ---- asking ------------------------------------------------------------------------------------- */

extern struct openetw_index *x;
extern struct openetw_query *q;
void open_trace(void); /* its index is in memory */
void close_trace(void);
uint32_t number_of(uint32_t thread); /* in the index */

/* What the last question about lanes was answered. keep_run() is for questions of one's own; set run_count to 0 before. */
#define RUNS_MOST 70000u
extern struct openetw_lane_run runs[RUNS_MOST];
extern uint32_t run_count;
bool keep_run(void *context, const struct openetw_lane_run *r);
void ask(enum openetw_lanes kind, uint32_t id, int64_t from, int64_t to, uint32_t pixels);
void check_run(uint32_t i, uint32_t first, uint32_t pixels, enum openetw_doing doing, double coverage);
uint64_t hash_of_runs(uint64_t h);
uint64_t hash_of_lanes(int64_t end); /* of all threads and processors of a trace made at random */

#endif
