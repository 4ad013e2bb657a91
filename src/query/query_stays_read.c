/* SPDX-License-Identifier: MIT
 *
 * Records of a group are read in the order of the file, and told in the order of time.
 */
#include "query/query_stays_read.h"

#include "base/vec.h"
#include "etw/values/guids.h"
#include "machine/machine.h"
#include "query/query_reading.h"

#include "kernel_payload.h"

#include <stdlib.h>

struct tid_entry {
	uint32_t tid, thread;
	int64_t start;
};
struct stays_known {
	const struct store *store;
	const struct machine *machine;
	uint8_t *says;          /* of each type */
	struct tid_entry *tids; /* by thread id, then by when it began */
	const struct store_count *type_counts;
};
/* Who had a thread id from one time until before another. */
struct tid_memo {
	int64_t from, until;
	uint32_t tid, thread;
};
#define TID_MEMOS 4096u
struct stays_reader {
	const struct stays_known *known;
	struct reading *reading;
	uint32_t file;
	struct tid_memo memo[TID_MEMOS];
};

/* ---- who is who ------------------------------------------------------------------------------------ */

static int by_tid(const void *a, const void *b)
{
	const struct tid_entry *x = a, *y = b;
	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	return x->start < y->start ? -1 : x->start > y->start;
}

static int know_threads(struct stays_known *k)
{
	uint32_t n = k->store->thread_count;
	k->tids = malloc((n + 1ull) * sizeof *k->tids);
	for (uint32_t i = 0; k->tids && i < n; i++) {
		const struct store_thread *t = &k->store->threads[i];
		k->tids[i] = (struct tid_entry){t->tid, i, t->start};
	}
	if (!k->tids) {
		return -ENOMEM;
	}
	if (n > 1) { /* number 0 is nobody */
		qsort(k->tids + 1, n - 1, sizeof *k->tids, by_tid);
	}
	return 0;
}

/* Who had the id then; else the first who had it later. Thread 0: nobody. */
static struct tid_memo find_thread(const struct stays_known *k, uint32_t tid, int64_t time)
{
	uint32_t low = 1, high = k->store->thread_count;
	struct tid_memo m = {.tid = tid, .from = INT64_MIN, .until = INT64_MAX};
	while (low < high) { /* the first that is behind (tid, time) */
		uint32_t middle = low + (high - low) / 2;
		const struct tid_entry *t = &k->tids[middle];
		if (t->tid < tid || (t->tid == tid && t->start <= time)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	bool later = low < k->store->thread_count && k->tids[low].tid == tid;
	m.until = later ? k->tids[low].start : INT64_MAX;
	if (low > 1 && k->tids[low - 1].tid == tid) {
		m.from = k->tids[low - 1].start;
		m.thread = k->tids[low - 1].thread;
	} else if (later) {
		m.thread = k->tids[low].thread;
	}
	return m;
}

static uint32_t thread_at(struct stays_reader *r, uint32_t tid, int64_t time)
{
	if (tid == 0) {
		return 0;
	}
	struct tid_memo *m = &r->memo[(tid ^ tid >> 10) / 4 % TID_MEMOS];
	if (m->tid != tid || time < m->from || time >= m->until) {
		*m = find_thread(r->known, tid, time);
	}
	return m->thread;
}

/* ---- types ----------------------------------------------------------------------------------------- */

static uint8_t says_of(const struct store_type *t)
{
	static const struct guid thread = GUID_INIT(ETW_GUID_CLASS_THREAD), losses = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID);
	if (t->classic && memcmp(t->provider, thread.b, sizeof thread.b) == 0) {
		return t->opcode == KP_THREAD_CSWITCH        ? SAID_SWITCH
		       : t->opcode == KP_THREAD_READY_THREAD ? SAID_READY
							     : SAID_NOTHING;
	}
	bool loss = memcmp(t->provider, losses.b, sizeof losses.b) == 0 && t->id == KP_OPEN_ETW_LOSSES_LOST;
	return loss ? SAID_LOSS : SAID_NOTHING;
}

bool stays_are_told(const struct store *s)
{
	for (uint32_t i = 0; i < s->type_count; i++) {
		uint8_t says = says_of(&s->types[i]);
		if (says == SAID_SWITCH || says == SAID_READY) {
			return true;
		}
	}
	return false;
}

static int know_types(struct stays_known *k)
{
	k->says = calloc(k->store->type_count + 1ull, 1);
	for (uint32_t i = 0; k->says && i < k->store->type_count; i++) {
		k->says[i] = says_of(&k->store->types[i]);
	}
	return k->says ? 0 : -ENOMEM;
}

int stays_known_create(const struct store *s, const struct machine *m, struct stays_known **ret)
{
	uint64_t bytes, count;
	struct stays_known *k = calloc(1, sizeof *k);
	if (!k) {
		return -ENOMEM;
	}
	k->store = s;
	k->machine = m;
	k->type_counts = store_section(s, STORE_TYPE_COUNTS, 0, &bytes, &count);
	int err = know_threads(k);
	err = err < 0 ? err : know_types(k);
	if (err < 0) {
		stays_known_free(k);
		return err;
	}
	*ret = k;
	return 0;
}

void stays_known_free(struct stays_known *k)
{
	if (k) {
		free(k->tids);
		free(k->says);
		free(k);
	}
}

bool stays_known_group(const struct stays_known *k, uint32_t group)
{
	const struct store_group *g = &k->store->groups[group];
	const struct store_count *c = k->type_counts + g->type_counts;
	for (uint32_t i = 0; i < g->type_count_rows; i++) {
		if (c[i].id < k->store->type_count && k->says[c[i].id]) {
			return true;
		}
	}
	return false;
}

/* ---- records --------------------------------------------------------------------------------------- */

struct stays_reader *stays_reader_create(struct reading *reading, uint32_t file, const struct stays_known *k)
{
	struct stays_reader *r = calloc(1, sizeof *r);
	if (r) {
		r->known = k;
		r->file = file;
		r->reading = reading;
	}
	return r;
}

void stays_reader_free(struct stays_reader *r)
{
	free(r);
}

/* The text ends with a NUL, or with the record. */
static bool is_of_switches(struct kernel_payload in)
{
	struct bytes b = kernel_payload_from(in, KP_OPEN_ETW_LOSSES_LOST_SINCE_V0_WHAT);
	const char *what = (const char *)b.p;
	size_t n = what ? strnlen(what, bytes_left(&b)) : 0;
	return n && (memmem(what, n, "CSwitch", 7) || memmem(what, n, "switches", 8));
}

static enum openetw_waker waker_of(struct kernel_payload in)
{
	static const enum openetw_waker how[] = {OPENETW_WAKER_DPC, OPENETW_WAKER_INTERRUPT, OPENETW_WAKER_SOFTIRQ,
						 OPENETW_WAKER_TIMER};
	/* What stands in Reserved only our kernel events have. */
	uint64_t by = kernel_payload_get(in, KP_THREAD_READY_THREAD_SINCE_V2_RESERVED);
	bool thread = !(kernel_payload_get(in, KP_THREAD_READY_THREAD_SINCE_V2_FLAG) & 1);
	return thread ? OPENETW_WAKER_THREAD : by < BASE_ARRAY_LEN(how) ? how[by] : OPENETW_WAKER_DPC;
}

static bool unwatched(const struct stays_known *k, uint32_t thread, uint64_t filetime)
{
	uint32_t process = k->store->threads[thread].process;
	uint32_t pid = process < k->store->process_count ? k->store->processes[process].pid : MACHINE_NO_ID;
	return !machine_watched(k->machine, pid, filetime);
}

/* What the payload says. One that is too short says nothing. */
static void understand(struct stays_reader *r, struct said *e, const struct etl_record *record)
{
	const struct kernel_payload in = {record->payload, record->payload ? record->payload_bytes : 0,
					  record->pointer_size};
	bool fine = false;
	if (e->says == SAID_SWITCH) {
		fine = kernel_payload_has(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
		uint32_t to = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID);
		uint32_t from = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_ID);
		e->in = thread_at(r, to, e->time);
		e->out = thread_at(r, from, e->time);
		e->idle = to == 0;
		e->unwatched = e->in && unwatched(r->known, e->in, record->time_filetime);
		e->reason = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_WAIT_REASON);
		e->state = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
	} else if (e->says == SAID_READY) {
		fine = kernel_payload_has(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID);
		e->in = thread_at(r, kernel_payload_get32(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID), e->time);
		e->waker = (uint8_t)waker_of(in);
	} else {
		fine = is_of_switches(in);
	}
	e->says = fine ? e->says : SAID_NOTHING;
}

static int room_for(struct said_list *l, uint32_t more)
{
	if (l->cap - l->count >= more) {
		return 0;
	}
	uint32_t cap = l->count + BASE_MAX(more, l->cap / 2);
	struct said *p = realloc(l->list, cap * sizeof *p);
	if (!p) {
		return -ENOMEM;
	}
	l->list = p;
	l->cap = cap;
	return 0;
}

int stays_read_group(struct stays_reader *r, uint32_t group, struct said_list *inout)
{
	const struct store *s = r->known->store;
	struct store_columns c;
	struct etl_record record;
	uint32_t n = 0;
	store_columns_of(s, group, &c);
	int err = room_for(inout, c.rows);
	struct said *said = inout->list + inout->count;
	struct due *due = reading_due(r->reading);
	for (uint32_t row = 0; row < c.rows && err == 0; row++) {
		uint32_t type = store_type_at(&c, row), who = c.thread[row];
		uint8_t says = r->known->says[type < s->type_count ? type : 0];
		if (says) {
			due[n] = (struct due){c.where[row], n};
			said[n++] = (struct said){.time = store_time(&c, row),
						  .who = who < s->thread_count ? who : 0,
						  .cpu = c.cpu[row],
						  .says = says};
		}
	}
	const struct due *order = reading_in_order(r->reading, n);
	for (uint32_t i = 0; i < n && err == 0; i++) {
		struct said *e = &said[order[i].at];
		err = reading_raw(r->reading, r->file, order[i].where, &record);
		if (err == 0) {
			understand(r, e, &record);
			inout->decoded++;
		} else if (err == -ENOENT) {
			e->says = SAID_NOTHING;
			err = 0;
		}
	}
	inout->count += err == 0 ? n : 0;
	return err;
}
