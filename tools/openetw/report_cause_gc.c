/* SPDX-License-Identifier: MIT
 * report's first lines: processes that garbage collection stops, or keeps busy.
 */
#include "tools/openetw/report_cause.h"

#include "base/vec.h"
#include "kernel_payload.h"

#define PROCESSES_MOST 4096u

static const struct guid dotnet = GUID_INIT(KP_DOT_NETRUNTIME_GUID);
enum { SUSPEND_FOR_GC = 1, SUSPEND_FOR_GC_PREPARATION = 6, TYPE_BACKGROUND = 1 };

struct cause_gc { /* a process */
	uint32_t pid, tid;
	uint64_t since;      /* it is stopped; 0: no */
	uint64_t collecting; /* a collection that is not in the background runs; 0: no */
	struct cause_sum pauses, collected;
	uint64_t seen;
};

static struct cause_gc *gc_of(struct causes *c, uint32_t pid)
{
	for (size_t i = 0; i < c->gc_count; i++) {
		if (c->gc[i].pid == pid) {
			return &c->gc[i];
		}
	}
	if (c->gc_count == PROCESSES_MOST) {
		return NULL;
	}
	if (!VEC_ROOM(c->gc, c->gc_count, c->gc_cap)) {
		c->failed = true;
		return NULL;
	}
	c->gc[c->gc_count] = (struct cause_gc){.pid = pid};
	return &c->gc[c->gc_count++];
}

void cause_gc_event(struct causes *c, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	if (memcmp(&h->ProviderId, &dotnet, sizeof dotnet) != 0) {
		return;
	}
	uint64_t time = (uint64_t)h->TimeStamp.QuadPart;
	c->first = c->first ? c->first : time;
	c->last = time;
	struct cause_gc *g = gc_of(c, h->ProcessId);
	if (!g) {
		return;
	}
	g->seen = time;
	struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	bool old = h->EventDescriptor.Version == 0; /* some releases write it beside version 1 */
	c->gc_events++;
	switch (h->EventDescriptor.Id) {
	case KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN: {
		/* Version 0 has 16 bits. */
		uint32_t reason = kernel_payload_get32(in, KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN_SINCE_V1_REASON);
		reason = old ? (uint32_t)kernel_payload_get(in, KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN_V0_REASON) : reason;
		g->since = reason == SUSPEND_FOR_GC || reason == SUSPEND_FOR_GC_PREPARATION ? time : 0;
		g->tid = g->since ? h->ThreadId : g->tid;
		break;
	}
	case KP_DOT_NETRUNTIME_GCRESTART_EEEND:
		if (g->since) {
			cause_add(&g->pauses, time - g->since);
		}
		g->since = 0;
		break;
	case KP_DOT_NETRUNTIME_GCSTART:
		if (old ? !g->collecting
			: kernel_payload_get32(in, KP_DOT_NETRUNTIME_GCSTART_SINCE_V1_TYPE) != TYPE_BACKGROUND) {
			g->collecting = time;
			g->tid = h->ThreadId;
		} else if (!old) {
			g->collecting = 0;
		}
		break;
	case KP_DOT_NETRUNTIME_GCEND:
		if (g->collecting) {
			cause_add(&g->collected, time - g->collecting);
		}
		g->collecting = 0;
		break;
	default: c->gc_events--; break;
	}
}

static void find_pauses(struct causes *c, const struct cause_gc *g)
{
	char lost[CAUSE_TIME], whole[CAUSE_TIME], each[CAUSE_TIME], longest[CAUSE_TIME];
	struct cause_sum s = g->pauses.count ? g->pauses : g->collected;
	uint64_t of = cause_presence(c, g->pid, CAUSE_NOBODY, g->seen);
	if (!cause_counts(c, s.time, of)) {
		return;
	}
	struct cause_finding f = {.kind = CAUSE_GC,
				  .lost = s.time,
				  .of = of,
				  .pid = g->pid,
				  .tid = CAUSE_NOBODY,
				  .other_pid = g->pid,
				  .other_tid = g->tid,
				  .time = g->seen,
				  .count = s.count};
	cause_found(c, &f,
		    "stood still for %s of %s while its garbage collector ran: %llu pauses, %s each, %s at most, begun "
		    "by thread %u",
		    cause_time(s.time, lost), cause_time(of, whole), (unsigned long long)s.count,
		    cause_time(s.time / s.count, each), cause_time(s.longest, longest), g->tid);
}

/* Threads whose samples show the collector's functions. */
static void find_samples(struct causes *c, const struct cause_thread *t)
{
	char lost[CAUSE_TIME], whole[CAUSE_TIME];
	uint64_t time = cause_sampled(c, t, t->gc_samples);
	uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
	/* What others took from it is not its doing. */
	if (!cause_counts(c, time, of - BASE_MIN(of, t->unready))) {
		return;
	}
	struct cause_finding f = {.kind = CAUSE_GC,
				  .lost = time,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = CAUSE_NOBODY,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = t->gc_samples};
	cause_found(c, &f, "collected garbage for %s of %s: %u %% of its processor time", cause_time(time, lost),
		    cause_time(of, whole), (unsigned)(100ull * t->gc_samples / t->samples));
}

void cause_gc_find(struct causes *c)
{
	for (size_t i = 0; i < c->gc_count; i++) {
		find_pauses(c, &c->gc[i]);
	}
	for (size_t i = 0; i < c->thread_count; i++) {
		find_samples(c, &c->thread[i]);
	}
}
