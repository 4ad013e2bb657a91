/* SPDX-License-Identifier: MIT
 *
 * Torture: writer processes that are killed and stopped, at random and at each named point, that
 * scribble over their own pool, write from signal handlers and from many threads. What an honest
 * process was told is written must be drained, once, unchanged; what it was told is lost must be
 * counted. TORTURE_SEED repeats a run's random choices, TORTURE_MS changes the length of a phase.
 */
#include "pool/pool_testing.h"

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX  32u
#define CONTEXTS_MAX (THREADS_MAX * 2) /* a thread, and the signal handler on top of it */
#define EVENTS_MAX   (1u << 19)        /* of one context */

/* What a context knows about itself; in shared memory, so that it survives SIGKILL. */
struct context {
	uint64_t tried;  /* set before the call */
	uint64_t done;   /* set after it: tried == done unless killed in between */
	uint64_t failed; /* how many of them were refused */
} __attribute__((aligned(64)));

struct process {
	pid_t pid;
	bool scribbler;
	bool stopped;
	void *mem;
	struct pool_view *v;
	struct context *ctx; /* shared */
	uint64_t *failures;  /* shared bitmaps: this event was refused */
	uint64_t *drained;   /* ours: this event was seen */
	struct {
		uint64_t seq, ts;
	} last[CONTEXTS_MAX];
	uint64_t count;
	uint64_t wrong;
	unsigned threads;
};

static uint64_t seed = 88172645463325252ull;

static uint64_t roll(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void *shared_zero(size_t bytes)
{
	void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(m != MAP_FAILED);
	return m;
}

#define BITMAP_BYTES ((size_t)CONTEXTS_MAX * EVENTS_MAX / 8)

static bool bit_get(const uint64_t *map, uint32_t ctx, uint64_t seq)
{
	uint64_t at = (uint64_t)ctx * EVENTS_MAX + seq;
	return map[at / 64] >> (at % 64) & 1;
}

static void bit_set(uint64_t *map, uint32_t ctx, uint64_t seq)
{
	uint64_t at = (uint64_t)ctx * EVENTS_MAX + seq;
	map[at / 64] |= 1ull << (at % 64);
}

/* ---- the writing side ----------------------------------------------------------------------- */

static struct process *self;
static struct pool_writer *writer;
static __thread uint32_t my_thread;
static volatile bool stop_writing;

static uint32_t length_of(uint32_t ctx, uint64_t seq)
{
	uint64_t h = (seq * 0x9E3779B97F4A7C15ull + ctx) >> 33;
	return h % 997 == 0 ? 16 + h % 9000 : 16 + h % 120;
}

static uint8_t byte_of(uint32_t ctx, uint64_t seq, uint32_t at)
{
	return (uint8_t)(ctx * 7 + seq * 13 + at * 3);
}

static int write_as(uint32_t c)
{
	struct context *ctx = &self->ctx[c];
	uint64_t seq = ctx->tried;
	if (seq >= EVENTS_MAX) {
		return 1;
	}
	ctx->tried = seq + 1;
	order_fence_compiler();
	uint8_t tail[9016];
	uint32_t n = length_of(c, seq) - 16;
	for (uint32_t i = 0; i < n; i++) {
		tail[i] = byte_of(c, seq, i);
	}
	uint64_t head[2] = {c, seq};
	struct pool_piece pieces[2] = {{head, 16, 0}, {tail, n, 0}};
	struct pool_write_args a = {
		.kind = POOL_REC_EVENT,
		.tid = test_tid(),
		.mask = 1,
		.descriptor = test_descriptor,
		.piece = pieces,
		.piece_count = 2,
		.payload_bytes = 16 + n,
	};
	int e = pool_write(writer, &a);
	if (e != 0) {
		bit_set(self->failures, c, seq);
		ctx->failed++;
	}
	order_fence_compiler();
	ctx->done = seq + 1;
	return e;
}

static void on_alarm(int sig)
{
	int saved = errno;
	write_as(THREADS_MAX + my_thread);
	errno = saved;
}

static void *writer_thread(void *arg)
{
	my_thread = (uint32_t)(uintptr_t)arg;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* my_thread is known now */
	while (!order_load_relaxed(&stop_writing)) {
		int e = write_as(my_thread);
		if (e > 0) {
			break;
		}
		if (e < 0 && e != -EDEADLK) {
			sched_yield();
		}
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return NULL;
}

static void writer_attach(struct process *p)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	self = p;
	writer = pool_writer_create();
	if (!writer || pool_writer_add_segment(writer, p->mem, pool_segment_bytes(4096), 4096) != 0) {
		_exit(3);
	}
}

static void writer_process(struct process *p, unsigned milliseconds)
{
	writer_attach(p);
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &sa, NULL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	struct itimerval it = {{0, 500}, {0, 500}};
	setitimer(ITIMER_REAL, &it, NULL);
	pthread_t t[THREADS_MAX];
	for (unsigned i = 0; i < p->threads; i++) {
		if (pthread_create(&t[i], NULL, writer_thread, (void *)(uintptr_t)i) != 0) {
			_exit(4);
		}
	}
	struct timespec ts = {milliseconds / 1000, milliseconds % 1000 * 1000000};
	nanosleep(&ts, NULL);
	order_store_relaxed(&stop_writing, true);
	for (unsigned i = 0; i < p->threads; i++) {
		pthread_join(t[i], NULL);
	}
	_exit(0);
}

static void scribbler_process(struct process *p)
{
	writer_attach(p);
	uint64_t *words = p->mem;
	uint64_t n = pool_segment_bytes(4096) / 8;
	for (;;) {
		for (unsigned i = 0; i < 50; i++) {
			write_as(0);
		}
		for (unsigned i = 0; i < 20; i++) {
			/* headers and descriptors as often as data; values that look plausible too
			 */
			uint64_t r = roll();
			uint64_t at = r % 3 ? (r >> 8) % n : (r >> 8) % (POOL_DATA_OFFSET / 8);
			uint64_t value = roll();
			words[at] = r >> 60 ? value : value & 0xffff;
		}
	}
}

/* ---- the draining side ---------------------------------------------------------------------- */

static uint64_t cpu_last[65536];
static uint64_t order_violations;

static void check_event(void *cookie, const struct pool_event *ev)
{
	struct process *p = ev->cookie;
	uint16_t cpu = ev->rec->cpu;
	if (ev->rec->ts < cpu_last[cpu]) {
		order_violations++;
	}
	cpu_last[cpu] = ev->rec->ts;
	if (p->scribbler) {
		return;
	}
	uint64_t c = ev->payload_bytes >= 16 ? le64_get(ev->payload) : UINT64_MAX;
	uint64_t seq = ev->payload_bytes >= 16 ? le64_get(ev->payload + 8) : UINT64_MAX;
	bool good = c < CONTEXTS_MAX && seq < EVENTS_MAX && ev->payload_bytes == length_of((uint32_t)c, seq) &&
		    memcmp(&ev->rec->id, test_descriptor, 16) == 0;
	for (uint32_t i = 16; good && i < ev->payload_bytes; i++) {
		good = ev->payload[i] == byte_of((uint32_t)c, seq, i - 16);
	}
	if (!good || bit_get(p->drained, (uint32_t)c, seq)) {
		p->wrong++;
		return;
	}
	bit_set(p->drained, (uint32_t)c, seq);
	p->count++;
	/* times of one thread rise with its sequence, whatever the order of arrival */
	uint64_t last_seq = p->last[c].seq, last_ts = p->last[c].ts;
	if (last_ts != 0 && (seq > last_seq ? ev->rec->ts < last_ts : ev->rec->ts > last_ts)) {
		p->wrong++;
	}
	p->last[c].seq = seq;
	p->last[c].ts = ev->rec->ts;
}

static void drain(struct pool_pass *pass, struct process *ps, unsigned n, uint32_t flags)
{
	memset(cpu_last, 0, sizeof cpu_last);
	pool_pass_begin(pass, clock_now(), clock_frequency(), flags);
	for (unsigned i = 0; i < n; i++) {
		if (ps[i].v) {
			assert_int_equal(pool_pass_collect(pass, ps[i].v, flags, roll() % 4 ? 0 : 20000), 0);
		}
	}
	pool_pass_emit(pass, check_event, NULL);
	pool_pass_commit(pass);
	assert_int_equal(order_violations, 0);
}

static void process_start(struct process *p, unsigned threads, bool scribbler, unsigned ms)
{
	memset(p, 0, sizeof *p);
	p->mem = rig_segment(4096);
	p->v = rig_view(p->mem, 4096, p);
	p->ctx = shared_zero(CONTEXTS_MAX * sizeof *p->ctx);
	p->failures = shared_zero(BITMAP_BYTES);
	p->drained = shared_zero(BITMAP_BYTES);
	p->threads = threads;
	p->scribbler = scribbler;
	roll();
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		if (scribbler) {
			scribbler_process(p);
		}
		writer_process(p, ms);
	}
}

/* After the last drain: nothing lost uncounted, nothing twice, nothing changed. */
static void process_check(struct process *p, bool killed)
{
	struct pool_view_stats st;
	pool_view_stats(p->v, &st);
	uint64_t in_doubt = 0, attempts = 0, failed = 0;
	uint64_t counted = ((struct seg_header *)p->mem)->lost[0];
	for (uint32_t c = 0; c < CONTEXTS_MAX; c++) {
		struct context *x = &p->ctx[c];
		assert_true(x->tried - x->done <= 1);
		in_doubt += x->tried - x->done;
		attempts += x->done;
		failed += x->failed;
		for (uint64_t seq = 0; seq < x->done; seq++) {
			if (bit_get(p->drained, c, seq) == bit_get(p->failures, c, seq)) {
				fail_msg("context %u event %u of %u: %s", (unsigned)c, (unsigned)seq, (unsigned)x->done,
					 bit_get(p->drained, c, seq) ? "refused, but drained" : "written, but missing");
			}
		}
	}
	assert_int_equal(p->wrong, 0);
	assert_int_equal(st.records_rejected, 0);
	assert_int_equal(st.bytes_rejected, 0);
	assert_int_equal(st.events, p->count);
	if (!killed) {
		assert_int_equal(in_doubt, 0);
		assert_int_equal(counted, failed);
		assert_int_equal(attempts, p->count + counted);
		assert_int_equal(st.torn, 0);
	}
	/* each context that died inside a call: written or not, counted or not */
	assert_true(p->count >= attempts - failed && p->count <= attempts - failed + in_doubt);
	assert_true(counted >= failed && counted <= failed + in_doubt);
	assert_true(st.torn <= in_doubt);
}

static void process_free(struct process *p)
{
	pool_view_destroy(p->v);
	rig_segment_free(p->mem, 4096);
	munmap(p->ctx, CONTEXTS_MAX * sizeof *p->ctx);
	munmap(p->failures, BITMAP_BYTES);
	munmap(p->drained, BITMAP_BYTES);
	p->v = NULL;
}

static unsigned phase_ms(unsigned usual)
{
	const char *s = getenv("TORTURE_MS");
	return s ? (unsigned)atoi(s) : usual;
}

static struct pool_pass *make_pass(void)
{
	struct pool_pass *pass;
	assert_int_equal(pool_pass_create(&pass), 0);
	return pass;
}

/* ---- phases --------------------------------------------------------------------------------- */

static void thirty_two_threads_with_signal_handlers_lose_nothing_uncounted(void **state)
{
	struct pool_pass *pass = make_pass();
	static struct process p;
	process_start(&p, THREADS_MAX, false, phase_ms(2500));
	int status;
	while (waitpid(p.pid, &status, WNOHANG) == 0) {
		drain(pass, &p, 1, 0);
		struct timespec ts = {0, 200000};
		nanosleep(&ts, NULL);
	}
	assert_int_equal(status, 0);
	drain(pass, &p, 1, POOL_PASS_FINAL);
	drain(pass, &p, 1, POOL_PASS_FINAL);
	process_check(&p, false);
	assert_true(p.count > 1000);
	print_message("32 threads: %llu events\n", (unsigned long long)p.count);
	process_free(&p);
	pool_pass_destroy(pass);
}

static void process_end(struct pool_pass *pass, struct process *p)
{
	int status;
	kill(p->pid, SIGKILL);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	for (unsigned i = 0; i < 200; i++) { /* a budget may need several rounds */
		uint64_t before = p->count;
		drain(pass, p, 1, POOL_PASS_FINAL);
		if (!p->scribbler && p->count == before && i > 8) {
			break;
		}
		if (p->scribbler && i > 3) {
			break;
		}
	}
	if (!p->scribbler) {
		process_check(p, true);
	}
	process_free(p);
}

static void honest_processes_survive_kills_stops_and_scribblers(void **state)
{
	enum { HONEST = 4, ALL = 6 };
	static struct process p[ALL];
	struct pool_pass *pass = make_pass();
	uint64_t events = 0, kills = 0, rejected = 0;
	for (unsigned i = 0; i < ALL; i++) {
		process_start(&p[i], 3, i >= HONEST, 3600000);
	}
	uint64_t end = clock_read_system_ns() + phase_ms(6000) * 1000000ull;
	while (clock_read_system_ns() < end) {
		drain(pass, p, ALL, roll() % 8 ? 0 : POOL_PASS_FLUSH);
		struct timespec ts = {0, (long)(roll() % 2000000)};
		nanosleep(&ts, NULL);
		struct process *victim = &p[roll() % ALL];
		switch (roll() % 8) {
		case 0:
			kill(victim->pid, SIGSTOP);
			victim->stopped = true;
			break;
		case 1:
		case 2:
		case 3:
			if (victim->stopped) {
				kill(victim->pid, SIGCONT);
				victim->stopped = false;
			}
			break;
		case 4: {
			struct pool_view_stats st;
			pool_view_stats(victim->v, &st);
			rejected += st.records_rejected;
			events += st.events;
			bool scribbler = victim->scribbler;
			process_end(pass, victim);
			process_start(victim, 3, scribbler, 3600000);
			kills++;
			break;
		}
		default: break;
		}
	}
	for (unsigned i = 0; i < ALL; i++) {
		events += p[i].count;
		process_end(pass, &p[i]);
	}
	print_message("%llu kills, %llu events, %llu violations caught\n", (unsigned long long)kills,
		      (unsigned long long)events, (unsigned long long)rejected);
	pool_pass_destroy(pass);
}

#ifdef OPENETW_TESTPOINTS

static const char *const points[] = {
	"writer-after-lock",  "writer-after-claim",    "writer-after-generation", "writer-after-begun",
	"writer-mid-copy",    "writer-before-publish", "writer-after-publish",    "writer-before-unlock",
	"writer-after-close", "writer-before-bell",
};
static const char *wanted_point;
static unsigned wanted_after;
static int wanted_signal;

static void at_point(const char *name)
{
	if (strcmp(name, wanted_point) == 0 && wanted_after-- == 0) {
		raise(wanted_signal);
	}
}

static void run_to_point(struct process *p)
{
	writer_attach(p);
	writer->bell_allowed = POOL_CTL_BELL_ALLOWED;
	pool_testpoint_hook = at_point;
	for (unsigned i = 0; i < 20000; i++) {
		write_as(0);
	}
	_exit(0);
}

static void fork_to_point(struct process *p, const char *name, unsigned after, int sig)
{
	memset(p, 0, sizeof *p);
	p->mem = rig_segment(4096);
	p->v = rig_view(p->mem, 4096, p);
	p->ctx = shared_zero(CONTEXTS_MAX * sizeof *p->ctx);
	p->failures = shared_zero(BITMAP_BYTES);
	p->drained = shared_zero(BITMAP_BYTES);
	wanted_point = name;
	wanted_after = after;
	wanted_signal = sig;
	p->pid = fork();
	if (p->pid == 0) {
		run_to_point(p);
	}
}

static void a_kill_at_any_point_loses_at_most_the_record_in_flight(void **state)
{
	struct pool_pass *pass = make_pass();
	static struct process p;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(points); i++) {
		bool once = strcmp(points[i], "writer-before-bell") == 0;
		for (unsigned k = 0; k < 6; k++) {
			fork_to_point(&p, points[i], once ? 0 : (unsigned)(roll() % (k ? 30 : 1)), SIGKILL);
			int status;
			assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
			if (!WIFSIGNALED(status)) {
				fail_msg("%s was not reached", points[i]);
			}
			drain(pass, &p, 1, 0);
			for (unsigned n = 0; n < 60; n++) {
				drain(pass, &p, 1, POOL_PASS_FINAL);
			}
			process_check(&p, true);
			process_free(&p);
		}
	}
	pool_pass_destroy(pass);
}

static void a_stop_at_any_point_holds_up_nobody_and_goes_on_after_it(void **state)
{
	struct pool_pass *pass = make_pass();
	static struct process p;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(points); i++) {
		fork_to_point(&p, points[i], (unsigned)(i == 9 ? 0 : roll() % 30), SIGSTOP);
		int status;
		assert_int_equal(waitpid(p.pid, &status, WUNTRACED), p.pid);
		assert_true(WIFSTOPPED(status));
		for (unsigned n = 0; n < 60; n++) { /* free everything that may be freed */
			drain(pass, &p, 1, POOL_PASS_FLUSH);
		}
		uint64_t before = p.count, done = p.ctx[0].done;
		assert_true(before + p.ctx[0].failed >= done);
		kill(p.pid, SIGCONT);
		while (waitpid(p.pid, &status, WNOHANG) == 0) {
			drain(pass, &p, 1, 0);
		}
		for (unsigned n = 0; n < 60; n++) {
			drain(pass, &p, 1, POOL_PASS_FINAL);
		}
		process_check(&p, false);
		process_free(&p);
	}
	pool_pass_destroy(pass);
}

/* A handler forks while its thread is inside a write: the child goes on with the second half. */
static void fork_here(const char *name)
{
	if (strcmp(name, wanted_point) == 0 && wanted_after-- == 0) {
		pid_t child = fork();
		if (child == 0) {
			pool_testpoint_hook = NULL;
			self = NULL; /* its books are the parent's */
			return;
		}
		int status;
		waitpid(child, &status, 0);
		if (status != 0) {
			_exit(9);
		}
	}
}

static void a_fork_inside_a_write_harms_neither_parent_nor_child(void **state)
{
	struct pool_pass *pass = make_pass();
	static struct process p;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(points); i++) {
		for (unsigned k = 0; k < 3; k++) {
			struct rig r = rig_make(4096);
			uint32_t payload[8] = {1, 2, 3};
			pid_t pid = fork();
			if (pid == 0) {
				pool_writer_destroy(r.w);
				p.mem = r.mem;
				writer_attach(&p);
				writer->bell_allowed = POOL_CTL_BELL_ALLOWED;
				wanted_point = points[i];
				wanted_after = i == 9 ? 0 : k * 17;
				pool_testpoint_hook = fork_here;
				unsigned ok = 0;
				for (unsigned n = 0; n < 5000; n++) {
					ok += test_write(writer, payload, 32) == 0;
					if (!self) { /* the grandchild */
						int e = test_write(writer, payload, 32);
						_exit(e == -ENOTCONN ? 0 : 8);
					}
				}
				((struct seg_header *)r.mem)->lost[63] = ok;
				_exit(0);
			}
			int status;
			waitpid(pid, &status, 0);
			if (status != 0) {
				fail_msg("%s: status %x", points[i], (unsigned)status);
			}
			uint64_t n = test_round(pass, &r.v, 1, POOL_PASS_FINAL, clock_now(), emit_nothing, NULL);
			struct pool_view_stats st;
			pool_view_stats(r.v, &st);
			assert_int_equal(st.records_rejected, 0);
			assert_int_equal(n, rig_header(&r)->lost[63]);
			rig_free(&r);
		}
	}
	pool_pass_destroy(pass);
}

#else

static void a_kill_at_any_point_loses_at_most_the_record_in_flight(void **state)
{
	print_message("needs a build with -Dtestpoints=true\n");
	skip();
}

#endif

int main(void)
{
	const char *s = getenv("TORTURE_SEED");
	seed = s ? strtoull(s, NULL, 0) | 1 : (uint64_t)time(NULL) * 2654435761u | 1;
	print_message("TORTURE_SEED=%llu\n", (unsigned long long)seed);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kill_at_any_point_loses_at_most_the_record_in_flight),
#ifdef OPENETW_TESTPOINTS
		cmocka_unit_test(a_stop_at_any_point_holds_up_nobody_and_goes_on_after_it),
		cmocka_unit_test(a_fork_inside_a_write_harms_neither_parent_nor_child),
#endif
		cmocka_unit_test(thirty_two_threads_with_signal_handlers_lose_nothing_uncounted),
		cmocka_unit_test(honest_processes_survive_kills_stops_and_scribblers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
