/* SPDX-License-Identifier: MIT
 * The drain: when, a pass over all pools, and what was lost.
 *
 * Pace: the interval doubles while nothing comes, halves when a bell rings or a pool fills, and
 * never leaves 1-100 ms; a real-time consumer caps it at its latency. Without sessions there is no
 * tick.
 *
 * One pass: begin, collect every pool, emit (route into session buffers), [here a journal makes the
 * batch durable], commit (chunks become free). Nothing between emit and commit may depend on the
 * pool's memory again, and emit must not have effects outside the sinks: that is what a journal
 * will need.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_fair.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_realtime.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "pool/pool.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <time.h>

#define MS               1000000ull
#define INTERVAL_MIN_NS  (1 * MS)
#define INTERVAL_MAX_NS  (100 * MS)
#define REAL_TIME_NS     (10 * MS)
#define BUSY_EVENTS      8000u /* one pass should fit in a near cache */
#define LOSSES_EVERY_NS  (50 * MS)
#define PASS_BYTES       (64ull << 20) /* private memory of a pass */
#define VIEW_BYTES_MIN   (64ull << 10)
#define VIEW_BYTES_MAX   (4ull << 20)
#define TIME_CHECK_NS    (1000 * MS)
#define TIME_DRIFT_100NS 10000u
#define LOSS_NS_LEAST    2u /* of a processor, to find no room and count that */
#define LOSS_SLACK       10000u

/* ---- session clock 2
 * ------------------------------------------------------------------------------ */

static uint64_t filetime_of(const struct etwd *d, uint64_t raw)
{
	int64_t delta = (int64_t)(raw - d->time_raw);
	return d->time_ft + (uint64_t)(int64_t)((__int128)delta * (int64_t)d->time_mult >> 40);
}

static uint64_t system_of(const struct etwd *d, uint64_t raw)
{
	int64_t delta = (int64_t)(raw - d->system_raw);
	return d->system_ns + (uint64_t)(int64_t)((__int128)delta * 1000000000 / (int64_t)d->clock_freq);
}

static void check_time(struct etwd *d, uint64_t now_ns)
{
	clock_pair_system(d->clock_kind, &d->system_raw, &d->system_ns);
	if (d->time_mult != 0 && now_ns - d->time_checked_ns < TIME_CHECK_NS) {
		return;
	}
	uint64_t raw, ft;
	clock_pair(&raw, &ft);
	d->time_checked_ns = now_ns;
	if (d->time_mult != 0) {
		int64_t off = (int64_t)(filetime_of(d, raw) - ft);
		if (off > -(int64_t)TIME_DRIFT_100NS && off < (int64_t)TIME_DRIFT_100NS) {
			return; /* small drift is better than time that steps back every second */
		}
	}
	d->time_raw = raw;
	d->time_ft = ft;
	d->time_ns = system_of(d, raw);
	d->time_mult = (uint64_t)(((unsigned __int128)10000000 << 40) / d->clock_freq);
}

uint64_t etwd_session_time(const struct etwd *d, const struct session *s, uint64_t raw)
{
	return BASE_LIKELY(etwd_session_raw(s)) ? raw : s->props.clock == 2 ? filetime_of(d, raw) : system_of(d, raw);
}

uint64_t etwd_session_time_ns(const struct etwd *d, const struct session *s, uint64_t ns)
{
	return s->props.clock == 2 ? d->time_ft + (uint64_t)((int64_t)(ns - d->time_ns) / 100) : ns;
}

/* ---- pace
 * ---------------------------------------------------------------------------------------- */

int etwd_drain_init(struct etwd *d)
{
	d->interval_ns = INTERVAL_MAX_NS;
	d->tick_ns = INTERVAL_MAX_NS;
	check_time(d, etwd_now_ns());
	return pool_pass_create(&d->pass);
}

void etwd_drain_finish(struct etwd *d)
{
	pool_pass_destroy(d->pass);
	d->pass = NULL;
	free(d->deferred);
	d->deferred = NULL;
}

void etwd_drain_bell(struct etwd *d)
{
	d->interval_ns = BASE_MAX(d->interval_ns / 2, INTERVAL_MIN_NS);
	d->drain_now = true;
	d->hurry = true;
}

int etwd_drain_wait_ms(struct etwd *d, uint64_t now_ns)
{
	if (d->drain_now || d->dead_count > 0) {
		return 0;
	}
	if (d->session_count == 0 && d->ghost_count == 0) {
		return -1;
	}
	uint64_t next = d->pass_ns + BASE_MIN(d->interval_ns, d->tick_ns);
	return next <= now_ns ? 0 : (int)((next - now_ns + MS - 1) / MS);
}

static uint64_t longest_tick(struct etwd *d)
{
	uint64_t tick = INTERVAL_MAX_NS;
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX && d->session_count > 0; i++) {
		const struct session *s = d->session[i];
		if (!s || (s->consumer_count == 0 && s->state != SESSION_STOPPING)) {
			continue;
		}
		uint64_t want = s->latency_us ? s->latency_us * 1000ull : REAL_TIME_NS;
		if (s->flags & PROTO_SESSION_LOW_LATENCY) {
			want = INTERVAL_MIN_NS;
		}
		tick = BASE_MIN(tick, BASE_MAX(want, INTERVAL_MIN_NS));
	}
	return tick;
}

/* ---- losses
 * -------------------------------------------------------------------------------------- */

void etwd_session_lost(struct session *s, uint64_t n, enum proto_loss cause, bool counts)
{
	if (n == 0) {
		return;
	}
	s->loss[cause] += BASE_MIN(n, UINT64_MAX - s->loss[cause]);
	if (counts && s->sink) {
		sink_add_lost(s->sink, n);
	}
}

/* Of all its threads, to now; 0: it has ended. */
static uint64_t processor_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) < 0) {
		return 0;
	}
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* What a process says of its losses is bounded by the processor time that it had for them, besides by the
 * time that passed. Nothing more is known of it, so a process that is seen to lie is not believed any more. */
static uint64_t believe(struct etwd *d, struct process *p, uint64_t n, enum proto_loss *inout_cause)
{
	uint64_t cpu = p->dead ? 0 : processor_ns(p->pid);
	if (cpu > 0) {
		n = BASE_MIN(n, (cpu - BASE_MIN(cpu, p->lost_cpu_ns)) / LOSS_NS_LEAST + LOSS_SLACK);
	}
	if (!p->lied && pool_view_lied(p->view)) {
		p->lied = true;
		etwd_log_of(d, p->uid,
			    "Process %d (%s) says that it lost more events than is possible: what it says of losses "
			    "is not counted",
			    (int)p->pid, p->exe);
	}
	if (p->lied) {
		p->disbelieved += BASE_MIN(n, UINT64_MAX - p->disbelieved);
		*inout_cause = PROTO_LOSS_DISBELIEVED;
	} else {
		p->lost_total += BASE_MIN(n, UINT64_MAX - p->lost_total);
	}
	return n;
}

void etwd_drain_bit_losses(struct etwd *d, struct process *p, uint32_t bit, uint64_t elapsed_ns, enum proto_loss cause)
{
	uint64_t n = pool_view_take_lost(p->view, bit, elapsed_ns);
	if (n == 0) {
		return;
	}
	n = believe(d, p, n, &cause);
	bool counts = cause != PROTO_LOSS_DISBELIEVED;
	if (bit != POOL_BIT_SHARED) {
		if (p->bit_owner[bit]) {
			etwd_session_lost(p->bit_owner[bit], n, cause, counts);
		}
		return;
	}
	/* Who of them wanted the event is not known: none may miss a loss. */
	for (uint32_t i = 0; n > 0 && i < p->reg_cap; i++) {
		const struct config *c = p->reg[i] ? p->reg[i]->config : NULL;
		for (uint32_t k = 0; c && k < c->rows; k++) {
			if (c->row[k].bit == POOL_BIT_SHARED) {
				etwd_session_lost(c->row[k].session, n, cause, counts);
			}
		}
		if (c && c->rows > 0) {
			break;
		}
	}
}

/* The writer counts per bit and per cause, but not both together; the largest cause names them. */
static enum proto_loss likely_cause(struct process *p, const struct pool_view_stats *st)
{
	static const enum proto_loss causes[] = {PROTO_LOSS_POOL_FULL, PROTO_LOSS_NESTING, PROTO_LOSS_TOO_BIG,
						 PROTO_LOSS_DETACHED};
	uint64_t most = 0;
	enum proto_loss found = PROTO_LOSS_POOL_FULL;
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(causes); i++) {
		uint64_t n = st->lost_cause[i] - p->lost_cause_seen[i];
		p->lost_cause_seen[i] = st->lost_cause[i];
		if (n > most) {
			most = n;
			found = causes[i];
		}
	}
	return found;
}

/* Counted for every session that has a bit here: which of them a damaged record was for is not
 * known. */
static void spread(struct process *p, uint64_t n, enum proto_loss cause, bool counts)
{
	for (uint32_t i = 0; n > 0 && i < POOL_SESSION_BITS; i++) {
		if (p->bit_owner[i] && p->bit_uses[i] > 0) {
			etwd_session_lost(p->bit_owner[i], n, cause, counts);
		}
	}
}

void etwd_drain_losses(struct etwd *d, struct process *p)
{
	struct pool_view_stats st;
	pool_view_stats(p->view, &st);
	enum proto_loss cause = p->heir ? PROTO_LOSS_DETACHED : likely_cause(p, &st);
	uint64_t now = etwd_now_ns(), elapsed = now - p->lost_at_ns, lost = p->lost_total;
	p->lost_at_ns = now;
	for (uint32_t i = 0; i < POOL_SESSION_BITS; i++) {
		if (p->bit_owner[i] || (i == POOL_BIT_SHARED && p->bit_uses[i] > 0)) {
			etwd_drain_bit_losses(d, p, i, elapsed, cause);
		}
	}
	if (p->lost_total != lost) {
		p->lost_cpu_ns = processor_ns(p->pid);
	}
	spread(p, st.records_rejected - p->rejected_seen, PROTO_LOSS_REJECTED, false);
	spread(p, st.torn - p->torn_seen, PROTO_LOSS_TORN, true);
	p->rejected_seen = st.records_rejected;
	p->torn_seen = st.torn;
}

/* ---- a pass
 * -------------------------------------------------------------------------------------- */

static void judge(struct etwd *d, struct process *p, const struct pool_view_stats *st, uint64_t now_ns)
{
	if (now_ns - p->violations_at_ns > 1000 * MS) {
		p->violations_at_ns = now_ns;
		p->violations_base = st->records_rejected;
	} else if (st->records_rejected - p->violations_base > ETWD_VIOLATIONS_PER_S) {
		etwd_process_quarantine(d, p);
	}
}

/* After commit. Returns how full the fullest pool was, in 1/256. */
static uint32_t look_after(struct etwd *d, uint32_t flags, uint64_t now_ns)
{
	uint32_t fullest = 0;
	struct process *p = LIST_FIRST(&d->processes);
	while (p) {
		struct process *next = LIST_NEXT(p, link);
		if (p->view && (!p->heir || p->dead)) {
			struct pool_view_stats st;
			pool_view_stats(p->view, &st);
			if (st.total_chunks > 0 && !p->heir) {
				fullest = BASE_MAX(fullest, st.busy_chunks * 256 / st.total_chunks);
			}
			if (!p->dead) {
				etwd_process_grow(d, p, &st);
				judge(d, p, &st, now_ns);
			}
			if (flags != 0 || p->dead || now_ns - p->lost_at_ns >= LOSSES_EVERY_NS) {
				etwd_drain_losses(d, p);
			}
		}
		if (p->dead && p->drained_last) {
			if (p->heir) {
				etwd_adopt_done(d, p);
			}
			etwd_process_destroy(d, p);
		}
		p = next;
	}
	return fullest;
}

static void adapt(struct etwd *d, uint64_t events, uint32_t fullest, bool again)
{
	d->hurry = again;
	if (again || events > BUSY_EVENTS) {
		d->interval_ns = INTERVAL_MIN_NS;
	} else if (fullest > 64) {
		d->interval_ns /= 2;
	} else if (events == 0) {
		d->interval_ns *= 2;
	} else if (fullest < 24) {
		d->interval_ns += d->interval_ns / 4;
	}
	d->interval_ns = BASE_MIN(BASE_MAX(d->interval_ns, INTERVAL_MIN_NS), INTERVAL_MAX_NS);
	d->tick_ns = longest_tick(d);
}

void etwd_drain_pass(struct etwd *d, uint32_t flags)
{
	if (d->in_pass) {
		return;
	}
	d->in_pass = true;
	d->drain_now = false;
	/* A pool that is nearly full, or whose process is gone, is emptied to its last record.
	 * Holding the others back would make their records late against it. */
	if (d->hurry || d->dead_count > 0) {
		flags |= POOL_PASS_FLUSH;
	}
	d->pass_ns = etwd_now_ns();
	d->passes++;
	check_time(d, d->pass_ns);
	uint64_t budget = PASS_BYTES / (d->process_count ? d->process_count : 1);
	budget = BASE_MIN(BASE_MAX(budget, VIEW_BYTES_MIN), VIEW_BYTES_MAX);
	pool_pass_begin(d->pass, clock_now_of(d->clock_kind), d->clock_freq, flags);
	struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		if (BASE_UNLIKELY(p->heir != NULL) && !etwd_adopt_ready(d, p, d->pass_ns)) {
			continue;
		}
		p->drained_last = p->dead; /* one that dies from here on gets another pass */
		if (p->view && !p->quarantined) {
			uint32_t f = p->dead ? POOL_PASS_FLUSH | POOL_PASS_FINAL : 0;
			/* -ENOMEM leaves records in their pool; the next pass tries again. */
			(void)pool_pass_collect(d->pass, p->view, f, flags || f ? 0 : budget);
		}
	}
	etwd_conn_settle(d, d->pass_ns);
	uint64_t events = pool_pass_emit_runs(d->pass, etwd_route_run, d);
	etwd_route_deferred(d);
	events += etwd_kernel_drain(d);
	d->watermark = pool_pass_watermark(d->pass);
	/* A journal makes the batch durable here. */
	pool_pass_commit(d->pass);
	d->events += events;
	uint32_t fullest = look_after(d, flags, d->pass_ns);
	fullest = BASE_MAX(fullest, etwd_kernel_fill(d));
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX && d->session_count > 0; i++) {
		struct session *s = d->session[i];
		if (s && s->sink) {
			s->blocked = s->delivered = false;
			etwd_fair_tick(s, d->pass_ns);
			sink_tick(s->sink, d->pass_ns);
			etwd_realtime_round(d, s, d->watermark, d->pass_ns);
		}
	}
	adapt(d, events, fullest, pool_pass_again(d->pass));
	d->in_pass = false;
}
