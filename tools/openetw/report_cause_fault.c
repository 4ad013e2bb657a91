/* SPDX-License-Identifier: MIT
 * report's first lines: threads whose time goes into page faults.
 */
#include "tools/openetw/report_cause.h"

#define SHARE_LEAST 4     /* a quarter of its processor time */
#define RATE_LEAST  50000 /* faults in a second of its processor time, where there are no samples */
#define SECOND      10000000ull

struct share {
	uint64_t running, time; /* on the processor; of that in faults */
};

/* Samples say which part of its processor time a thread spent in faults; switches, how long that was. */
static struct share share_of(const struct causes *c, const struct cause_thread *t)
{
	struct share s = {.running = cause_sampled(c, t, t->samples)};
	if (t->fault_samples > 0) {
		s.time = cause_sampled(c, t, (uint64_t)t->fault_samples + t->memory_samples);
	}
	return s;
}

static void find_by_samples(struct causes *c, const struct cause_thread *t, const struct share *s, uint64_t of)
{
	char lost[CAUSE_TIME], whole[CAUSE_TIME], waited[CAUSE_TIME], counted[96] = "", waits[96] = "";
	struct cause_finding f = {.kind = CAUSE_FAULTS,
				  .lost = s->time + t->fault_waits.time,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = CAUSE_NOBODY,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = t->faults + t->hard_faults};
	if (f.count) {
		snprintf(counted, sizeof counted, ", %llu page faults, %llu of them hard", (unsigned long long)f.count,
			 (unsigned long long)t->hard_faults);
	}
	if (t->fault_waits.time * 10 >= f.lost) {
		snprintf(waits, sizeof waits, ", %s of that waiting", cause_time(t->fault_waits.time, waited));
	}
	cause_found(c, &f, "spent %s of %s in page faults and in mapping memory%s: %u %% of its processor time%s",
		    cause_time(f.lost, lost), cause_time(of, whole), waits,
		    (unsigned)(s->running ? 100 * s->time / s->running : 0), counted);
}

static void find_by_count(struct causes *c, const struct cause_thread *t, uint64_t of)
{
	char ran[CAUSE_TIME], whole[CAUSE_TIME];
	struct cause_finding f = {.kind = CAUSE_FAULTS,
				  .lost = t->running,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = CAUSE_NOBODY,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = t->faults};
	cause_found(c, &f,
		    "had %llu page faults in %s of processor time, in %s: how long they took is not recorded (record "
		    "--cpu)",
		    (unsigned long long)t->faults, cause_time(t->running, ran), cause_time(of, whole));
}

void cause_fault_find(struct causes *c)
{
	for (size_t i = 0; i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		struct share s = share_of(c, t);
		uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
		/* What others took from it is not its doing, when there is no doubt about the rest. */
		uint64_t own = s.time * 2 >= s.running ? of - BASE_MIN(of, t->unready) : of;
		bool often = s.time * SHARE_LEAST >= s.running || t->fault_waits.time > s.time;
		if (often && cause_counts(c, s.time + t->fault_waits.time, own)) {
			find_by_samples(c, t, &s, of);
		} else if (c->samples == 0 && t->faults > t->running * RATE_LEAST / SECOND &&
			   cause_counts(c, t->running, own)) {
			find_by_count(c, t, of);
		}
	}
}
