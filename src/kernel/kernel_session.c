/* SPDX-License-Identifier: MIT
 *
 * The engine: sources, sessions, and who wants what.
 */
#include "kernel/kernel_bpf.h"
#include "kernel/kernel_config.h"
#include "kernel/kernel_naming.h"
#include "kernel/kernel_process.h"
#include "kernel/kernel_walk.h"

#include "kernel_payload.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S         1000000000ull
#define INTERVAL_US      1000u
#define RING_PAGES       1024u
#define RING_PAGES_LEAST 32u
#define BREATH_NS        2000000u
#define HURRY_NICE       (-15)
#define MISSING_BYTES    4608u
#define HOLD_BACK_NS     300000u /* newer records wait: their neighbours may not be in the rings yet */

/* Beside perf and BPF, which every engine has. At most KERNEL_SOURCES_MAX. */
static const struct kernel_source *const sources[] = {
	&kernel_source_memory,
	&kernel_source_packets,
	&kernel_source_marks,
	NULL,
};

static uint64_t own_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* What waits in the rings waits for this thread: it goes before the programs that fill them, where it
 * may. They cannot fill more meanwhile, so it does not keep the processor for long. (Niceness alone
 * does not help where the system shares the processor by groups.) What is started later does not
 * inherit it. */
static void hurry(void)
{
	struct sched_param p = {.sched_priority = 1};
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p) < 0) {
		(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), HURRY_NICE);
	}
}

static void no_hurry(void)
{
	struct sched_param p = {.sched_priority = 0};
	(void)sched_setscheduler(0, SCHED_OTHER, &p);
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 0);
}

/* ---- who wants what --------------------------------------------------------------------------- */

uint64_t kernel_masked(const struct kernel *k, uint32_t bits)
{
	uint64_t sessions = 0;
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		if (k->slot[i].used && kernel_mask_has(&k->slot[i].want.mask, bits)) {
			sessions |= 1ull << i;
		}
	}
	return sessions;
}

uint64_t kernel_watchers(const struct kernel *k, uint32_t pid)
{
	uint64_t sessions = 0;
	for (uint32_t i = 0; k->filtered && i < KERNEL_SESSIONS_MAX; i++) {
		const struct kernel_session *s = &k->slot[i].want;
		for (uint32_t n = 0; k->slot[i].used && n < s->pids; n++) {
			sessions |= s->pid[n] == pid ? 1ull << i : 0;
		}
	}
	return sessions;
}

static void set_wants(struct kernel *k, uint32_t slot)
{
	const struct kernel_session *s = &k->slot[slot].want;
	uint64_t bit = 1ull << slot;
	bool used = k->slot[slot].used;
	for (uint32_t i = 0; i < KERNEL_HOOKS; i++) {
		k->want[i] &= ~bit;
		k->stack[i] &= ~bit;
		k->counted[i] &= ~bit;
	}
	k->active = used ? k->active | bit : k->active & ~bit;
	k->filtered = used && s->pids > 0 ? k->filtered | bit : k->filtered & ~bit;
	k->follow = used && s->children ? k->follow | bit : k->follow & ~bit;
	k->forgetful = used && s->forgets ? k->forgetful | bit : k->forgetful & ~bit;
	k->confined = used && s->confined ? k->confined | bit : k->confined & ~bit;
	const struct kernel_hook_range *r;
	for (size_t i = 0; used && (r = kernel_hook_range_at(i)) != NULL; i++) {
		for (uint32_t h = r->first; kernel_mask_has(&s->mask, r->bits) && h <= r->last; h++) {
			k->want[h] |= bit;
		}
	}
	for (uint32_t i = 0; used && s->counters && i < s->counteds; i++) {
		if (s->counted[i] < KERNEL_HOOKS) {
			k->counted[s->counted[i]] |= bit;
		}
	}
	for (uint32_t i = 0; used && i < s->stacks; i++) {
		if (s->stack[i] < KERNEL_HOOKS) {
			k->stack[s->stack[i]] |= bit;
		}
	}
}

/* ---- sources ---------------------------------------------------------------------------------- */

void kernel_cannot(struct kernel *k, uint32_t bits, const char *fmt, ...)
{
	va_list ap;
	char text[sizeof k->why_not.text];
	kernel_mask_set(&k->cannot, bits);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_at(&k->why_not, UINT64_MAX, "%s", text);
}

static void open_sources(struct kernel *k)
{
	/* What perf and the rundowns bring. */
	kernel_mask_set(&k->can, KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER | KERNEL_BIT_NO_SYSCONFIG);
	kernel_mask_set(&k->can, KERNEL_BIT_PROFILE | KERNEL_BIT_CSWITCH | KERNEL_BIT_COMPACT_CSWITCH |
					 KERNEL_BIT_DISPATCHER | KERNEL_BIT_PMC_PROFILE);
	kernel_tracepoints_can(k->tracepoints, &k->can);
	for (size_t i = 0; i < BASE_ARRAY_LEN(sources) && sources[i]; i++) {
		struct kernel_mask can = {0};
		struct diag d;
		diag_clear(&d);
		k->source_open[i] = sources[i]->open(k, &k->source_state[i], &can, &d) == 0;
		if (k->source_open[i]) {
			kernel_mask_add(&k->can, &can);
		} else if (!k->why_not.text[0]) {
			k->why_not = d;
		}
	}
}

/* Programs for what is wanted: loading them takes a second of a processor. */
static void prepare_sources(struct kernel *k)
{
	no_hurry();
	kernel_tracepoints_prepare(k->tracepoints);
	hurry();
}

/* From here on there is what is wanted now, as far as it is prepared. */
static int begin_sources(struct kernel *k, struct diag *d)
{
	struct kernel_perf_plan plan = {
		.interval_us = k->o.interval_us,
		.read = (kernel_wants(k, KERNEL_HOOK_SAMPLE) & k->counted[KERNEL_HOOK_SAMPLE]) != 0};
	static const uint16_t hook[KERNEL_EV_PMC] = {[KERNEL_EV_CPU] = KERNEL_HOOK_SAMPLE,
						     [KERNEL_EV_SWITCH] = KERNEL_HOOK_CSWITCH,
						     [KERNEL_EV_WAKING] = KERNEL_HOOK_READY_THREAD};
	kernel_pmc_update(k);
	kernel_tracepoints_begin(k->tracepoints);
	for (int i = KERNEL_EV_CPU; i < KERNEL_EV_PMC; i++) {
		plan.on[i] = kernel_wants(k, hook[i]) != 0 && !kernel_tracepoints_replace_perf(k->tracepoints, hook[i]);
		plan.stack[i] = kernel_wants_stack(k, hook[i]) != 0;
	}
	uint32_t sampled = kernel_wants(k, KERNEL_HOOK_PMC_SAMPLE) ? kernel_pmc_plan(k, plan.pmc) : 0;
	for (uint32_t i = 0; i < sampled; i++) {
		plan.on[KERNEL_EV_PMC + i] = true;
		plan.stack[KERNEL_EV_PMC + i] = kernel_wants_stack(k, KERNEL_HOOK_PMC_SAMPLE) != 0;
	}
	struct diag why;
	diag_clear(&why);
	int err = kernel_perf_update(k->perf, &plan, &why);
	if (err == -ENOENT && (plan.on[KERNEL_EV_SWITCH] || plan.on[KERNEL_EV_WAKING])) {
		/* No tracepoints for us: the rest of the session is worth having. */
		kernel_cannot(k, KERNEL_BIT_CSWITCH | KERNEL_BIT_COMPACT_CSWITCH | KERNEL_BIT_DISPATCHER, "%s",
			      why.text);
		plan.on[KERNEL_EV_SWITCH] = plan.on[KERNEL_EV_WAKING] = false;
		err = kernel_perf_update(k->perf, &plan, &why);
	}
	if (err < 0 && d) {
		*d = why;
	}
	kernel_pmc_join(k, err == 0 && plan.read);
	kernel_pmc_check(k);
	for (size_t i = 0; err == 0 && i < BASE_ARRAY_LEN(sources) && sources[i]; i++) {
		if (k->source_open[i]) {
			sources[i]->update(k, k->source_state[i]);
		}
	}
	return err;
}

static int update_sources(struct kernel *k, struct diag *d)
{
	prepare_sources(k);
	return begin_sources(k, d);
}

/* All rings in the order of time: what a process has mapped must be known before its stacks come, what
 * a file is called before it is used, and either may have happened on another processor. What is newer
 * than `until` stays for the next time:
 * something older may still be on its way into another ring. */
static bool drain(struct kernel *k, uint64_t until)
{
	bool any = false;
	kernel_perf_begin(k->perf);
	kernel_tracepoints_drain_begin(k->tracepoints, until);
	for (;; any = true) {
		k->has = k->has || kernel_perf_next(k->perf, k->ahead);
		if (!k->has || k->ahead->time > until) {
			break;
		}
		any = kernel_tracepoints_drain(k->tracepoints, k->ahead->time, until) || any;
		kernel_on_record(k, k->ahead);
		k->has = false;
	}
	any = kernel_tracepoints_drain(k->tracepoints, UINT64_MAX, until) || any;
	kernel_tracepoints_losses(k->tracepoints, until == UINT64_MAX);
	kernel_confine_tick(k);
	for (size_t i = 0; i < BASE_ARRAY_LEN(sources) && sources[i]; i++) {
		any = (k->source_open[i] && sources[i]->drain(k, k->source_state[i])) || any;
	}
	k->watermark = BASE_MAX(k->watermark, until);
	return any;
}

uint64_t kernel_breathe(struct kernel *k)
{
	uint64_t until = clock_read_system_ns() - HOLD_BACK_NS, explained = k->explained;
	if (until > k->watermark && until - k->watermark > BREATH_NS) {
		k->explained = 0; /* what comes meanwhile is no explanation */
		drain(k, until);
		k->explained = explained;
	}
	return k->watermark;
}

/* All there is, before who wants what changes: what happened so far is for those who wanted it. */
static void drain_now(struct kernel *k)
{
	uint64_t now = clock_read_system_ns(), before = k->watermark;
	/* With confined sessions no further: of two events the earlier one may else be missed by the look
	 * into its ring that came first, and it may be the one that says whose process it is. */
	drain(k, k->confined ? now : UINT64_MAX);
	k->watermark = BASE_MAX(now, before);
}

static void source_rundowns(struct kernel *k, uint64_t sessions, bool end)
{
	kernel_tracepoints_rundown(k->tracepoints, sessions, end);
	for (size_t i = 0; i < BASE_ARRAY_LEN(sources) && sources[i]; i++) {
		if (k->source_open[i] && sources[i]->rundown) {
			sources[i]->rundown(k, k->source_state[i], sessions, end);
		}
	}
}

/* ---- sessions --------------------------------------------------------------------------------- */

static void missing_of(const struct kernel *k, const struct kernel_mask *m, struct kernel_mask *ret, struct diag *d)
{
	for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
		ret->word[i] = m->word[i] & (~k->can.word[i] | k->cannot.word[i]);
	}
	if (d && !kernel_mask_empty(ret)) {
		*d = k->why_not;
	}
}

/* Nothing of what was asked for can be had. */
static bool in_vain(const struct kernel_mask *want, const struct kernel_mask *missing)
{
	return !kernel_mask_empty(want) && kernel_mask_equal(want, missing);
}

static void rundown_complete(struct kernel *k, uint64_t bit)
{
	kernel_emit_interval(k, bit & kernel_wants(k, KERNEL_HOOK_INTERVAL_DC), KERNEL_HOOK_INTERVAL_DC,
			     k->o.interval_us);
	kernel_pmc_rundown(k, bit, KERNEL_HOOK_INTERVAL_DC);
	kernel_emit_plain(k, bit, KERNEL_HOOK_RUNDOWN_DONE);
}

static void rundown_start(struct kernel *k, uint64_t bit)
{
	(void)kernel_rundown(k, bit, false);
	source_rundowns(k, bit, false);
	rundown_complete(k, bit);
}

static void want_no_more(struct kernel *k, uint32_t slot)
{
	k->slot[slot].used = false;
	set_wants(k, slot);
	kernel_tracepoints_unwatch(k->tracepoints, 1ull << slot);
	(void)update_sources(k, NULL);
}

/* What happened while programs were loaded is no part of the session, but of what is known. */
static void learn_before(struct kernel *k, uint64_t bit)
{
	uint64_t until = clock_read_system_ns() - HOLD_BACK_NS;
	for (uint32_t i = 0; i < KERNEL_HOOKS; i++) {
		k->want[i] &= ~bit;
	}
	if (until > k->watermark) {
		drain(k, until);
	}
}

int kernel_add(struct kernel *k, uint32_t slot, const struct kernel_session *s, struct kernel_mask *ret_missing,
	       struct diag *d)
{
	uint64_t bit = 1ull << slot;
	struct kernel_slot *mine = &k->slot[slot];
	if (mine->used) {
		return -EBUSY;
	}
	drain_now(k);
	*mine = (struct kernel_slot){.used = true, .want = *s, .jits_before = k->walk->jits_refused};
	unwind_stats(kernel_walk_unwind(k->walk), &mine->before);
	set_wants(k, slot);
	prepare_sources(k);
	if (s->confined && !kernel_tracepoints_serves(k->tracepoints, KBPF_EXEC)) {
		diag_at(d, UINT64_MAX, "whose processes are is told by BPF programs, which cannot be had: %.150s",
			kernel_missing(k));
		want_no_more(k, slot);
		return -ENOSYS;
	}
	if (kernel_given_up(k)) {
		want_no_more(k, slot);
		return -EINTR;
	}
	/* What names things is heard from now on; everything else begins behind the rundown, which takes
	 * its time: a machine that does much would fill the rings meanwhile. */
	kernel_mask_keep(&mine->want.mask,
			 KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER | KERNEL_BIT_PERF_COUNTER);
	set_wants(k, slot);
	int err = begin_sources(k, d);
	if (err == 0) {
		learn_before(k, bit);
		kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS, NULL);
		kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS_END, NULL);
		kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS, &s->mask);
		if (s->pids) {
			kernel_emit_filter(k, slot);
		}
		set_wants(k, slot);
		err = kernel_rundown(k, bit, false) == -EINTR ? -EINTR : 0;
		mine->want.mask = s->mask;
		set_wants(k, slot);
	}
	if (err == 0) {
		err = begin_sources(k, d);
		source_rundowns(k, bit, false); /* what has gone by then has an event */
	}
	if (err == 0) {
		missing_of(k, &s->mask, ret_missing, d);
		if (in_vain(&s->mask, ret_missing)) {
			err = -ENOENT;
			diag_at(d, UINT64_MAX, "nothing of what was asked for can be recorded here");
		}
	}
	if (err < 0) {
		want_no_more(k, slot);
		return err;
	}
	rundown_complete(k, bit);
	return 0;
}

/* It has been removed, but for names. */
static bool leaves(const struct kernel *k, uint32_t slot)
{
	return k->slot[slot].naming && !k->slot[slot].explaining;
}

int kernel_change(struct kernel *k, uint32_t slot, const struct kernel_session *s, struct kernel_mask *ret_missing,
		  struct diag *d)
{
	uint64_t bit = 1ull << slot;
	struct kernel_session before = k->slot[slot].want;
	if (!k->slot[slot].used || leaves(k, slot)) {
		return -ENOENT;
	}
	drain_now(k);
	k->slot[slot].want = *s;
	set_wants(k, slot);
	int err = update_sources(k, d);
	if (err < 0) {
		k->slot[slot].want = before;
		set_wants(k, slot);
		(void)update_sources(k, NULL);
		return err;
	}
	if (!kernel_mask_equal(&before.mask, &s->mask)) {
		/* What is wanted from now on must be told from the beginning. */
		struct kernel_mask fresh = s->mask;
		for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
			fresh.word[i] &= ~before.mask.word[i];
		}
		kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS_END, &before.mask);
		kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS, &s->mask);
		if (!kernel_mask_empty(&fresh)) {
			rundown_start(k, bit);
		}
	} else if (s->counters != before.counters || (s->counteds != 0) != (before.counteds != 0) ||
		   memcmp(s->counter, before.counter, sizeof s->counter) != 0) {
		kernel_pmc_rundown(k, bit, 0); /* their names */
	} else if (s->pids != before.pids || memcmp(s->pid, before.pid, sizeof s->pid) != 0) {
		(void)kernel_rundown(k, 0, false); /* for the table: whose is which */
	}
	if (s->pids != before.pids || memcmp(s->pid, before.pid, sizeof s->pid) != 0) {
		kernel_emit_filter(k, slot);
	}
	missing_of(k, &s->mask, ret_missing, d);
	return 0;
}

struct config_out {
	struct kernel *k;
	uint64_t sessions;
};

static void config_out_of(void *ctx, const struct kernel_record *r)
{
	const struct config_out *o = ctx;
	struct kernel_record mine = *r;
	mine.sessions = o->sessions;
	kernel_out(o->k, &mine);
}

static void emit_config(struct kernel *k, uint32_t slot)
{
	struct config_out o = {k, 1ull << slot};
	struct kernel_config c = {.out = config_out_of, .ctx = &o, .root = "", .pid = k->self[0], .tid = k->self[0]};
	if (!kernel_mask_has(&k->slot[slot].want.mask, KERNEL_BIT_NO_SYSCONFIG)) {
		kernel_config_write(&c);
	}
}

void kernel_capture(struct kernel *k, uint32_t slot)
{
	if (k->slot[slot].used && !leaves(k, slot)) {
		drain_now(k);
		rundown_start(k, 1ull << slot);
	}
}

/* OpenETW.Losses, event 2: the trace is whole, but something in it has no name, or no callers. */
static void say_shortage(struct kernel *k, uint64_t sessions, uint64_t count, const char *what)
{
	static const struct guid provider = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID);
	static const uint8_t descriptor[16] = {2, 0, 0, 0, 3, 0, 0, 0};
	uint8_t payload[256];
	size_t n = strnlen(what, sizeof payload - 9);
	le64_put(payload, count);
	memcpy(payload + 8, what, n);
	payload[8 + n] = 0;
	if (count) {
		kernel_out_event(k, sessions, &provider, descriptor, KERNEL_PID_SYSTEM, payload, 8 + (uint32_t)n + 1);
	}
}

struct shortage {
	uint64_t count;
	const char *what;
};
#define SHORTAGES 5u
static void shortages(const struct kernel *k, uint32_t slot, uint64_t unnamed, struct shortage ret[SHORTAGES])
{
	const struct kernel_slot *s = &k->slot[slot];
	struct unwind_stats now;
	unwind_stats(kernel_walk_unwind(k->walk), &now);
	ret[0] = (struct shortage){now.unread - s->before.unread,
				   "mappings of files that were not read: their user has too many"};
	ret[1] = (struct shortage){now.unmapped - s->before.unmapped,
				   "mappings that were not remembered: their user has too many"};
	ret[2] = (struct shortage){
		now.cut - s->before.cut,
		"files or stacks without unwind tables: too big, too slow, or gone when they were needed again"};
	ret[3] = (struct shortage){
		k->walk->jits_refused - s->jits_before,
		"processes with code made at run time whose names were not taken: their user has too many"};
	ret[4] = (struct shortage){unnamed, "addresses that were not looked up: it took too long, or the file is gone"};
}

const char *kernel_shortage(const struct kernel *k, uint32_t slot)
{
	return k->slot[slot].shortage;
}

/* What the stacks that were recorded lack, and whoever ended in the meantime. */
static void last_words(struct kernel *k, uint32_t slot, uint64_t unnamed)
{
	struct shortage list[SHORTAGES];
	char *text = k->slot[slot].shortage;
	size_t n = 0, cap = sizeof k->slot[slot].shortage;
	shortages(k, slot, unnamed, list);
	text[0] = 0;
	k->explained = 1ull << slot;
	for (size_t i = 0; i < SHORTAGES; i++) {
		say_shortage(k, 1ull << slot, list[i].count, list[i].what);
		if (list[i].count && n < cap) {
			n += (size_t)snprintf(text + n, cap - n, "%s%llu %s", n ? "\n" : "",
					      (unsigned long long)list[i].count, list[i].what);
		}
	}
	kernel_ended_say(k, slot);
	k->explained = 0;
}

/* Everything has been put out. */
static void removed(struct kernel *k, uint32_t slot, uint64_t unnamed)
{
	uint64_t bit = 1ull << slot;
	last_words(k, slot, unnamed);
	k->slot[slot].used = false;
	set_wants(k, slot);
	kernel_table_unwatch(k->threads, bit);
	kernel_tracepoints_unwatch(k->tracepoints, bit);
	if (!k->active) {
		kernel_walk_forget(k->walk);
	} else {
		(void)update_sources(k, NULL); /* programs that told of ends */
	}
}

static void named(struct kernel *k, uint32_t slot, uint64_t unnamed)
{
	if (k->slot[slot].explaining) {
		last_words(k, slot, unnamed);
		k->slot[slot].explaining = false;
	} else {
		removed(k, slot, unnamed);
	}
}

/* Names take their time: kernel_poll() brings them. */
static void name_all(struct kernel *k, uint32_t slot)
{
	uint64_t bit = 1ull << slot;
	k->slot[slot].naming = bit & ~k->confined ? kernel_naming_start(k, bit) : NULL;
	if (!k->slot[slot].naming) {
		named(k, slot, 0);
	}
}

/* Ready or not. */
static void end_naming(struct kernel *k, uint32_t slot)
{
	uint64_t unnamed;
	kernel_naming_end(k->slot[slot].naming, &unnamed);
	k->slot[slot].naming = NULL;
	named(k, slot, unnamed);
}

/* What explains the session's events, of which there may be no others left of that kind. */
static void closing_words(struct kernel *k, uint32_t slot, bool interval)
{
	uint64_t bit = 1ull << slot;
	emit_config(k, slot);
	if (k->slot[slot].want.pids) {
		kernel_emit_filter(k, slot);
	}
	kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS_END, &k->slot[slot].want.mask);
	(void)kernel_rundown(k, bit, true);
	source_rundowns(k, bit, true);
	kernel_emit_interval(k, interval ? bit : 0, KERNEL_HOOK_INTERVAL_END, k->o.interval_us);
	kernel_pmc_rundown(k, bit, KERNEL_HOOK_INTERVAL_END);
}

void kernel_explain(struct kernel *k, uint32_t slot)
{
	uint64_t bit = 1ull << slot;
	if (!k->slot[slot].used || k->slot[slot].naming) {
		return;
	}
	drain_now(k);
	k->explained = bit;
	closing_words(k, slot, bit & kernel_wants(k, KERNEL_HOOK_INTERVAL_END));
	k->explained = 0;
	drain_now(k); /* what had ended when the rundown came to it */
	k->explained = bit;
	kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS, &k->slot[slot].want.mask); /* it goes on */
	kernel_emit_plain(k, bit, KERNEL_HOOK_RUNDOWN_DONE);
	k->explained = 0;
	k->slot[slot].explaining = true;
	name_all(k, slot);
}

bool kernel_explained(const struct kernel *k, uint32_t slot)
{
	return !k->slot[slot].explaining;
}

void kernel_remove(struct kernel *k, uint32_t slot)
{
	uint64_t bit = 1ull << slot;
	if (!k->slot[slot].used || leaves(k, slot)) {
		return;
	}
	if (k->slot[slot].naming) { /* of a copy, which does without the rest */
		end_naming(k, slot);
	}
	drain_now(k);
	/* No live events any more; the closing rundown names its session itself. */
	bool interval = bit & kernel_wants(k, KERNEL_HOOK_INTERVAL_END);
	for (uint32_t i = 0; i < KERNEL_HOOKS; i++) {
		/* What ends before the rundown comes to it has its end. */
		k->want[i] &= kernel_ended_is((uint16_t)i) ? ~0ull : ~bit;
	}
	/* First nothing comes any more: taking programs out of the kernel lasts longer than the rings, and what
	 * they then had no room for would be told as lost. */
	(void)begin_sources(k, NULL);
	prepare_sources(k);
	k->explained = bit;
	closing_words(k, slot, interval);
	k->explained = 0;
	drain_now(k); /* what had ended when the rundown came to it */
	k->explained = bit;
	kernel_emit_masks(k, bit, KERNEL_HOOK_MASKS, NULL);
	kernel_emit_plain(k, bit, KERNEL_HOOK_RUNDOWN_DONE);
	k->explained = 0;
	for (uint32_t i = 0; i < KERNEL_HOOKS; i++) {
		k->want[i] &= ~bit;
	}
	name_all(k, slot);
}

bool kernel_removed(const struct kernel *k, uint32_t slot)
{
	return !k->slot[slot].used;
}

/* Names that have been found by now. */
static void poll_naming(struct kernel *k)
{
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		if (k->slot[i].naming) {
			k->explained = 1ull << i;
			bool more = kernel_naming_poll(k->slot[i].naming, k);
			k->explained = 0;
			if (!more) {
				end_naming(k, i);
			}
		}
	}
}

int kernel_set_interval(struct kernel *k, uint32_t interval_us)
{
	uint32_t before = k->o.interval_us;
	if (interval_us < KERNEL_INTERVAL_MIN_US) {
		return -EINVAL;
	}
	drain_now(k);
	k->o.interval_us = interval_us;
	int err = update_sources(k, NULL);
	if (err < 0) {
		k->o.interval_us = before;
	} else {
		kernel_emit_interval(k, kernel_wants(k, KERNEL_HOOK_INTERVAL), KERNEL_HOOK_INTERVAL, before);
	}
	return err;
}

int kernel_set_sampled(struct kernel *k, const struct kernel_sampled *s, uint32_t count, struct diag *d)
{
	drain_now(k);
	int err = kernel_pmc_choose(k, s, count, d);
	if (err == 0 && kernel_wants(k, KERNEL_HOOK_PMC_SAMPLE)) {
		err = update_sources(k, d);
		kernel_pmc_rundown(k, kernel_wants(k, KERNEL_HOOK_INTERVAL), KERNEL_HOOK_INTERVAL);
	}
	return err;
}

/* ---- the engine ------------------------------------------------------------------------------- */

int kernel_open(const struct kernel_engine_options *o, const struct kernel_output *out, struct kernel **ret,
		struct diag *d)
{
	struct kernel *k = calloc(1, sizeof *k);
	int err = -ENOMEM;
	if (!k) {
		return err;
	}
	k->o = *o;
	k->out = *out;
	k->o.interval_us = o->interval_us ? o->interval_us : INTERVAL_US;
	k->self[0] = (uint32_t)getpid();
	k->self[1] = o->self[0];
	k->self[2] = o->self[1];
	k->wake_fd = -1;
	k->cpu_at_start = own_cpu_ns();
	if (kernel_pmc_create(&k->pmc) < 0) {
		goto fail;
	}
	k->cpus = (uint32_t)BASE_MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
	k->exited = calloc(k->cpus, sizeof *k->exited);
	k->threads = kernel_table_create();
	k->processes = kernel_processes_create();
	if (!k->exited || !k->threads || !k->processes) {
		goto fail;
	}
	if (k->o.interval_us < KERNEL_INTERVAL_MIN_US) {
		diag_at(d, UINT64_MAX, "samples come %u microseconds apart at least", KERNEL_INTERVAL_MIN_US);
		err = -EINVAL;
		goto fail;
	}
	struct kernel_perf_stacks stacks = {o->frame_pointers, o->stack_bytes};
	/* Who may not lock memory gets what sysctl kernel.perf_event_mlock_kb gives everybody. */
	uint32_t pages = o->ring_pages ? o->ring_pages : RING_PAGES;
	struct diag why;
	do {
		diag_clear(&why);
		err = kernel_perf_open(pages, &stacks, &k->perf, &why);
	} while (err == -EPERM && (pages /= 2) >= RING_PAGES_LEAST);
	if (err < 0) {
		if (d) {
			*d = why;
		}
		goto fail;
	}
	k->ahead = calloc(1, sizeof *k->ahead);
	k->walk = kernel_walk_create();
	err = k->ahead && k->walk ? kernel_tracepoints_open(k, &k->tracepoints) : -ENOMEM;
	if (err < 0) {
		goto fail;
	}
	k->missing = calloc(1, MISSING_BYTES);
	if (!k->missing) {
		err = -ENOMEM;
		goto fail;
	}
	kernel_rights_say(k->rights, sizeof k->rights);
	open_sources(k);
	hurry();
	*ret = k;
	return 0;
fail:
	kernel_close(k);
	return err;
}

void kernel_close(struct kernel *k)
{
	no_hurry();
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		uint64_t unnamed;
		if (k->slot[i].naming) {
			kernel_naming_end(k->slot[i].naming, &unnamed);
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(sources) && sources[i]; i++) {
		if (k->source_open[i]) {
			sources[i]->close(k, k->source_state[i]);
		}
	}
	kernel_tracepoints_close(k->tracepoints);
	if (k->perf) {
		kernel_perf_close(k->perf);
	}
	kernel_table_destroy(k->threads);
	kernel_processes_destroy(k->processes);
	kernel_walk_destroy(k->walk);
	kernel_pmc_destroy(k->pmc);
	free(k->ended);
	free(k->exited);
	free(k->ahead);
	free(k->missing);
	free(k);
}

bool kernel_poll(struct kernel *k, int timeout_ms)
{
	kernel_perf_wait(k->perf, k->wake_fd, timeout_ms);
	poll_naming(k);
	return drain(k, clock_read_system_ns() - HOLD_BACK_NS);
}

const char *kernel_missing(const struct kernel *k)
{
	const char *part[] = {kernel_tracepoints_missing(k->tracepoints), k->packets_why, kernel_pmc_missing(k->pmc),
			      k->rights};
	size_t n = 0;
	k->missing[0] = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(part); i++) {
		if (part[i][0] && n < MISSING_BYTES) {
			n += (size_t)snprintf(k->missing + n, MISSING_BYTES - n, "%s%s", n ? "\n" : "", part[i]);
		}
	}
	return k->missing;
}

const char *kernel_counters_missing(const struct kernel *k)
{
	return kernel_pmc_missing(k->pmc);
}

size_t kernel_losses(const struct kernel *k, struct kernel_loss *ret, size_t cap)
{
	return kernel_tracepoints_loss_list(k->tracepoints, ret, cap);
}

void kernel_wake_fd(struct kernel *k, int fd)
{
	k->wake_fd = fd;
}

uint64_t kernel_watermark(const struct kernel *k)
{
	return k->watermark;
}

void kernel_engine_stats(struct kernel *k, struct kernel_stats *ret)
{
	k->stats.cpu_ns = own_cpu_ns() - k->cpu_at_start;
	*ret = k->stats;
}
