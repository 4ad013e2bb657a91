/* SPDX-License-Identifier: MIT
 * report's first lines: processes that garbage collection stops, or keeps busy.
 */
#include "tools/openetw/report_cause.h"

#include "base/vec.h"

/* Microsoft-Windows-DotNETRuntime, {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4} */
static const struct guid dotnet = GUID_INIT(0xE13C0D23, 0xCCBC, 0x4E12, 0x93, 0x1B, 0xD9, 0xCC, 0x2E, 0xEE, 0x27, 0xE4);
enum { GC_START = 1, GC_END = 2, GC_RESTART_END = 3, GC_SUSPEND_BEGIN = 9 };
enum { SUSPEND_FOR_GC = 1, SUSPEND_FOR_GC_PREPARATION = 6, TYPE_BACKGROUND = 1 };

struct cause_gc { /* a process */
	uint32_t pid, tid;
	uint64_t since;       /* it is stopped; 0: no */
	uint64_t collecting;  /* a collection that is not in the background runs; 0: no */
	uint32_t collections; /* in all */
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
	if (!VEC_ROOM_UP_TO(c->gc, c->gc_count, c->gc_cap, CAUSE_MOST)) {
		c->failed = true;
		return NULL;
	}
	c->gc[c->gc_count] = (struct cause_gc){.pid = pid};
	return &c->gc[c->gc_count++];
}

static uint32_t number_at(const EVENT_RECORD *e, uint32_t offset)
{
	const uint8_t *p = e->UserData;
	return e->UserDataLength >= offset + 4 ? le32_get(p + offset) : 0;
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
	uint16_t id = h->EventDescriptor.Id;
	c->gc_events += id == GC_START || id == GC_END || id == GC_RESTART_END || id == GC_SUSPEND_BEGIN;
	if (id == GC_SUSPEND_BEGIN) { /* version 0 has 16 bits for the reason */
		uint32_t reason = number_at(e, 0) & 0xFFFF;
		g->since = reason == SUSPEND_FOR_GC || reason == SUSPEND_FOR_GC_PREPARATION ? time : 0;
		g->tid = g->since ? h->ThreadId : g->tid;
	} else if (id == GC_RESTART_END && g->since) {
		cause_add(&g->pauses, time - g->since);
		g->since = 0;
	} else if (id == GC_START) { /* Count, Depth, Reason, Type; version 0: Count, Reason */
		bool background = h->EventDescriptor.Version > 0 && number_at(e, 12) == TYPE_BACKGROUND;
		g->collections += g->collecting == 0 || h->EventDescriptor.Version > 0;
		g->collecting = background ? 0 : g->collecting ? g->collecting : time;
		g->tid = h->ThreadId;
	} else if (id == GC_END && g->collecting) {
		cause_add(&g->collected, time - g->collecting);
		g->collecting = 0;
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
	if (!cause_counts(c, time, of)) {
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
