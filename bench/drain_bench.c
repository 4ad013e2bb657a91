/* SPDX-License-Identifier: MIT
 *
 * What an event costs in etwd, from pool to file, without the noise of a whole system: the drain pass of the
 * daemon itself over pools that this program fills, writers on another thread (their lines are in another CPU's
 * cache, as in life). Thread CPU time; best and median over many rounds.
 *
 *   drain_bench [events a round] [processes] [sessions] [rounds] [1: as TraceLogging writes them]
 */
#include "bench.h"
#include "etwd/etwd.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "format/etl_item.h"
#include "format/etl_layout.h"
#include "pool/pool_testing.h"
#include "sink/sink.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROCESSES_MAX 64u
#define PAYLOAD       28u

static struct pool_writer *writer[PROCESSES_MAX];
static uint32_t per_round, processes, sessions;
static bool tracelogging;
static uint32_t turn; /* 1: the writer's */
static bool done;

static struct session *add_session(struct etwd *d, uint32_t id)
{
	struct session *s = calloc(1, sizeof *s);
	char path[128];
	snprintf(path, sizeof path, "%s/drain-%u.etl", getenv("BENCH_DIR") ? getenv("BENCH_DIR") : "/tmp", id);
	struct sink_options o = {
		.name = u"bench",
		.log_file = u"bench.etl",
		.path = path,
		.props.buffer_kb = 256,
		.props.minimum_buffers = 64,
		.props.maximum_buffers = 256,
		.props.clock = 1,
		.cpus = (uint16_t)d->cpus,
	};
	s->daemon = d;
	s->refs = 1;
	s->id = (uint16_t)id;
	s->state = SESSION_RUNNING;
	s->props.clock = 1;
	if (sink_create(&o, &s->sink, NULL) < 0) {
		perror(path);
		exit(1);
	}
	unlink(path);
	d->session[id] = s;
	d->session_count++;
	return s;
}

static void add_process(struct etwd *d, uint32_t i)
{
	static const uint32_t sizes[] = {4096, 16384, 65536};
	struct process *p = calloc(1, sizeof *p);
	struct registration *r = calloc(1, sizeof *r);
	struct config *c = calloc(1, sizeof *c + sessions * sizeof c->row[0]);
	uint8_t id[16] = {1};
	p->pid = getpid();
	p->reg = calloc(8, sizeof *p->reg);
	p->reg_cap = 8;
	p->reg[3] = r;
	r->process = p;
	r->config = c;
	c->gen = 7;
	c->rows = sessions;
	c->retired_ts = UINT64_MAX;
	c->fast = true;
	c->head = etl_event_head_of((uint32_t)p->pid, id, 0);
	for (uint32_t k = 0; k < sessions; k++) {
		c->row[k] = (struct route_row){.session = d->session[k + 1], .any = UINT64_MAX, .bit = k == 0 ? 0 : 2};
	}
	writer[i] = pool_writer_create();
	if (pool_view_create(p, &p->view) < 0 || !writer[i]) {
		exit(1);
	}
	for (size_t k = 0; k < BASE_ARRAY_LEN(sizes); k++) {
		uint64_t bytes = pool_segment_bytes(sizes[k]);
		int fd = base_memfd("bench", bytes);
		void *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		void *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		pool_segment_init(a, sizes[k], id);
		if (pool_view_add_segment(p->view, a, bytes) < 0 ||
		    pool_writer_add_segment(writer[i], b, bytes, sizes[k]) < 0) {
			exit(1);
		}
		p->segment[k] = a;
		p->segment_bytes[k] = bytes;
		p->segment_count++;
	}
	pool_view_set_limits(p->view, &(struct pool_limits){.provider_count = 8});
	p->lost_at_ns = etwd_now_ns();
	LIST_INSERT_HEAD(&d->processes, p, link);
	d->process_count++;
}

/* An event with the schema of one of four sites: a name and three fields. */
static void write_tracelogging(struct pool_writer *w, uint32_t i, const void *payload)
{
	static const char schema[4][46] = {
		"..A name\0first\0.second\0.third\0.", "..Another\0first\0.second\0.third\0.",
		"..The third\0first\0.second\0.third\0.", "..Last\0first\0.second\0.third\0."};
	static uint8_t items[4][56] __attribute__((aligned(8)));
	uint8_t *item = items[i % 4];
	if (item[0] == 0) {
		etl_put_item(item, ETL_ITEM_EVENT_SCHEMA_TL, schema[i % 4], sizeof schema[0], false);
	}
	struct pool_piece piece = {payload, PAYLOAD, 0};
	pool_write(w, &(struct pool_write_args){
			      .kind = POOL_REC_EVENT,
			      .flags = POOL_REC_ITEMS,
			      .prov = 3,
			      .cfg_gen = 7,
			      .tid = test_tid(),
			      .mask = 5,
			      .descriptor = test_descriptor,
			      .items = item,
			      .items_bytes = sizeof items[0],
			      .piece = &piece,
			      .piece_count = 1,
			      .payload_bytes = PAYLOAD,
		      });
}

static void *writer_main(void *arg)
{
	static const char payload[PAYLOAD] = "twenty-eight bytes or so...";
	while (!order_load_relaxed(&done)) {
		if (order_load_acquire(&turn) == 0) {
			sched_yield();
			continue;
		}
		for (uint32_t i = 0; i < per_round; i++) {
			if (tracelogging) {
				write_tracelogging(writer[i / 64 % processes], i, payload);
			} else {
				test_write(writer[i / 64 % processes], payload, PAYLOAD);
			}
		}
		order_store_release(&turn, 0u);
	}
	return NULL;
}

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	struct etwd *d;
	per_round = argc > 1 ? (uint32_t)atoi(argv[1]) : 5000;
	processes = argc > 2 ? BASE_MIN((uint32_t)atoi(argv[2]), PROCESSES_MAX) : 1;
	sessions = argc > 3 ? BASE_MIN((uint32_t)atoi(argv[3]), 63u) : 1;
	size_t rounds = argc > 4 ? (size_t)atoi(argv[4]) : 1000;
	tracelogging = argc > 5 && atoi(argv[5]) != 0;
	double *ns = calloc(rounds, sizeof *ns);
	if (etwd_create(&d, false) < 0 || !ns) {
		return 1;
	}
	for (uint32_t i = 0; i < sessions; i++) {
		add_session(d, i + 1);
	}
	for (uint32_t i = 0; i < processes; i++) {
		add_process(d, i);
	}
	pthread_t t;
	pthread_create(&t, NULL, writer_main, NULL);
	uint64_t process0 = 0, threads0 = 0, drained0 = 0;
	clockid_t writer_clock;
	pthread_getcpuclockid(t, &writer_clock);
	for (size_t i = 0; i < rounds; i++) {
		if (i == rounds / 10) { /* memory has been touched */
			process0 = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
			threads0 = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns(writer_clock);
			drained0 = d->events;
		}
		order_store_release(&turn, 1u);
		while (order_load_acquire(&turn) != 0) {
			sched_yield();
		}
		uint64_t before = d->events, t0 = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
		etwd_drain_pass(d, POOL_PASS_FLUSH);
		uint64_t events = d->events - before;
		ns[i] = (double)(cpu_ns(CLOCK_THREAD_CPUTIME_ID) - t0) / (double)(events ? events : 1);
	}
	uint64_t events = d->events - drained0;
	uint64_t file = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process0 -
			(cpu_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns(writer_clock) - threads0);
	struct sink_stats st;
	sink_stats(d->session[1]->sink, &st);
	struct bench_summary s = bench_summarise(ns, rounds);
	printf("%u events a round, %u processes, %u sessions: drain best %.1f, median %.1f, p90 %.1f; file threads "
	       "%.1f ns an event; no buffer %llu\n",
	       per_round, processes, sessions, s.best, s.median, s.p90, (double)file / (double)events,
	       (unsigned long long)st.lost_no_buffer);
	order_store_relaxed(&done, true);
	pthread_join(t, NULL);
	for (uint32_t i = 0; i < sessions; i++) {
		sink_stop(d->session[i + 1]->sink, NULL);
	}
	return 0;
}
