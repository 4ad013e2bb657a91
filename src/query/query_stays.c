/* SPDX-License-Identifier: MIT
 *
 * Reads the records in the order of the file, a group at a time, and looks at them in the order of time.
 */
#include "query/query_stays.h"

#include "base/vec.h"
#include "etw/values/guids.h"
#include "machine/machine.h"
#include "query/query_reading.h"

#include "kernel_payload.h"

#include <stdlib.h>

enum { SAYS_NOTHING, SAYS_SWITCH, SAYS_READY, SAYS_LOSS };
enum { KERNEL_TERMINATED = 4, KERNEL_WAITING = 5 };
#define EARLY_NS 1000000

/* What a record said. */
struct seen {
	int64_t time;
	uint64_t filetime;
	uint32_t in, out; /* ids of threads; of a READY: who is woken is `in` */
	uint32_t who;     /* READY: number of the thread that did it */
	uint16_t cpu;
	uint8_t says, reason, state, waker;
};
struct tid_entry {
	uint32_t tid, thread;
	int64_t start;
};
/* A waking that came before the wait. */
struct early {
	int64_t time;
	uint32_t who;
	uint8_t waker;
	bool is;
};
struct maker {
	struct openetw_query *q;
	struct reading *reading;
	struct machine *machine;
	const struct store *store;
	uint32_t file;
	uint8_t *says; /* of each type */
	struct tid_entry *tids;
	struct early *early; /* of each thread */
	int64_t *losses;     /* when switches were lost */
	size_t loss_count, loss_cap;
	uint64_t *bytes; /* of all that is kept */
	struct stays *s;
	struct seen *seen;
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

static int know_threads(struct maker *m)
{
	uint32_t n = m->store->thread_count;
	m->tids = malloc((n + 1ull) * sizeof *m->tids);
	for (uint32_t i = 0; m->tids && i < n; i++) {
		const struct store_thread *t = &m->store->threads[i];
		m->tids[i] = (struct tid_entry){t->tid, i, t->start};
	}
	if (!m->tids) {
		return -ENOMEM;
	}
	if (n > 1) { /* number 0 is nobody */
		qsort(m->tids + 1, n - 1, sizeof *m->tids, by_tid);
	}
	return 0;
}

/* Who had the id then; else the first who had it later. 0: nobody. */
static uint32_t thread_at(const struct maker *m, uint32_t tid, int64_t time)
{
	uint32_t low = 1, high = m->store->thread_count;
	if (tid == 0) {
		return 0;
	}
	while (low < high) { /* the first that is behind (tid, time) */
		uint32_t middle = low + (high - low) / 2;
		const struct tid_entry *t = &m->tids[middle];
		if (t->tid < tid || (t->tid == tid && t->start <= time)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low > 1 && m->tids[low - 1].tid == tid) {
		return m->tids[low - 1].thread;
	}
	return low < m->store->thread_count && m->tids[low].tid == tid ? m->tids[low].thread : 0;
}

/* ---- stays ----------------------------------------------------------------------------------------- */

static int push(struct maker *m, struct stay_lane *l, struct stay s)
{
	size_t cap = l->cap;
	if (m->s->cut) {
		return 0;
	}
	if (l->count) {
		s.from = BASE_MAX(s.from, l->list[l->count - 1].from);
	}
	if (l->count == cap && *m->bytes + BASE_MAX(cap, 16) * sizeof s > KEPT_BYTES_MAX) {
		m->s->cut = true;
		m->s->end = s.from;
		return 0;
	}
	if (!VEC_ROOM(l->list, l->count, l->cap)) {
		return -ENOMEM;
	}
	*m->bytes += (l->cap - cap) * sizeof s;
	l->list[l->count++] = s;
	return 0;
}

static enum openetw_doing last_of(const struct stay_lane *l)
{
	return l->count ? (enum openetw_doing)l->list[l->count - 1].doing : OPENETW_DOING_UNKNOWN;
}

/* Were switches lost since the lane's last record? Then nobody knows since. */
static int mind_losses(struct maker *m, struct stay_lane *l)
{
	if (m->loss_count == 0 || l->count == 0 || last_of(l) == OPENETW_DOING_UNKNOWN) {
		return 0;
	}
	int64_t from = l->list[l->count - 1].from;
	size_t low = 0, high = m->loss_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->losses[middle] <= from) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < m->loss_count ? push(m, l, (struct stay){.from = m->losses[low]}) : 0;
}

static int switched_out(struct maker *m, const struct seen *e)
{
	uint32_t thread = thread_at(m, e->out, e->time);
	if (thread == 0) {
		return 0;
	}
	struct stay_lane *l = &m->s->threads[thread];
	struct early early = m->early[thread];
	struct stay s = {.from = e->time, .doing = OPENETW_DOING_WAITING, .detail = e->reason};
	if (e->state == KERNEL_TERMINATED) {
		s = (struct stay){.from = e->time, .doing = OPENETW_DOING_UNKNOWN};
	} else if (e->state != KERNEL_WAITING) {
		s.doing = OPENETW_DOING_READY;
		s.detail = OPENETW_WAKER_PREEMPTED;
	}
	m->early[thread].is = false;
	int err = mind_losses(m, l);
	err = err < 0 ? err : push(m, l, s);
	if (err == 0 && s.doing == OPENETW_DOING_WAITING && early.is &&
	    early.time >= index_time_of_file(e->time, EARLY_NS)) {
		s = (struct stay){
			.from = e->time, .doing = OPENETW_DOING_READY, .who = early.who, .detail = early.waker};
		err = push(m, l, s);
	}
	return err;
}

/* It may have run since, unseen. */
static void forget_wait(struct stay_lane *l)
{
	for (size_t i = l->count; i > 0; i--) {
		struct stay *s = &l->list[i - 1];
		if (s->doing != OPENETW_DOING_WAITING && s->doing != OPENETW_DOING_READY) {
			return;
		}
		*s = (struct stay){.from = s->from};
	}
}

static int switched_in(struct maker *m, const struct seen *e)
{
	uint32_t thread = thread_at(m, e->in, e->time);
	int err = 0;
	if (thread) {
		struct stay_lane *l = &m->s->threads[thread];
		uint32_t process = m->store->threads[thread].process;
		uint32_t pid = process < m->store->process_count ? m->store->processes[process].pid : MACHINE_NO_ID;
		m->early[thread].is = false;
		err = mind_losses(m, l);
		if (l->count && !machine_watched(m->machine, pid, e->filetime)) {
			forget_wait(l);
		}
		const struct stay s = {.from = e->time, .doing = OPENETW_DOING_RUNNING, .cpu = e->cpu};
		err = err < 0 ? err : push(m, l, s);
	}
	if (err == 0 && e->cpu < m->s->cpu_count) {
		struct stay_lane *l = &m->s->cpus[e->cpu];
		const struct stay s = {.from = e->time,
				       .doing = e->in ? OPENETW_DOING_RUNNING : OPENETW_DOING_IDLE,
				       .who = thread,
				       .cpu = e->cpu};
		err = mind_losses(m, l);
		err = err < 0 ? err : push(m, l, s);
	}
	return err;
}

static int woken(struct maker *m, const struct seen *e)
{
	uint32_t thread = thread_at(m, e->in, e->time);
	struct stay_lane *l = &m->s->threads[thread];
	int err = thread ? mind_losses(m, l) : 0;
	uint32_t who = e->waker == OPENETW_WAKER_THREAD ? e->who : 0;
	if (thread && err == 0 && last_of(l) == OPENETW_DOING_WAITING) {
		const struct stay s = {.from = e->time, .doing = OPENETW_DOING_READY, .who = who, .detail = e->waker};
		err = push(m, l, s);
	} else if (thread && last_of(l) != OPENETW_DOING_READY) {
		m->early[thread] = (struct early){e->time, who, e->waker, true};
	}
	return err;
}

static int take(struct maker *m, const struct seen *e)
{
	int err = 0;
	switch (e->says) {
	case SAYS_SWITCH: err = switched_out(m, e); return err < 0 ? err : switched_in(m, e);
	case SAYS_READY: return woken(m, e);
	case SAYS_LOSS:
		if (!VEC_ROOM(m->losses, m->loss_count, m->loss_cap)) {
			return -ENOMEM;
		}
		m->losses[m->loss_count] = e->time;
		if (m->loss_count) { /* nearly in order */
			m->losses[m->loss_count] = BASE_MAX(e->time, m->losses[m->loss_count - 1]);
		}
		m->loss_count++;
		return 0;
	default: return 0;
	}
}

/* ---- records --------------------------------------------------------------------------------------- */

static int know_types(struct maker *m)
{
	static const struct guid thread = GUID_INIT(ETW_GUID_CLASS_THREAD), losses = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID);
	m->says = calloc(m->store->type_count + 1ull, 1);
	for (uint32_t i = 0; m->says && i < m->store->type_count; i++) {
		const struct store_type *t = &m->store->types[i];
		if (t->classic && memcmp(t->provider, thread.b, sizeof thread.b) == 0) {
			m->says[i] = t->opcode == KP_THREAD_CSWITCH        ? SAYS_SWITCH
				     : t->opcode == KP_THREAD_READY_THREAD ? SAYS_READY
									   : SAYS_NOTHING;
		} else if (memcmp(t->provider, losses.b, sizeof losses.b) == 0 && t->id == KP_OPEN_ETW_LOSSES_LOST) {
			m->says[i] = SAYS_LOSS;
		}
	}
	return m->says ? 0 : -ENOMEM;
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

/* What the payload says. One that is too short says nothing. */
static void understand(struct seen *e, const struct etl_record *r)
{
	const struct kernel_payload in = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	bool fine = false;
	e->filetime = r->time_filetime;
	if (e->says == SAYS_SWITCH) {
		fine = kernel_payload_has(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
		e->in = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID);
		e->out = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_ID);
		e->reason = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_WAIT_REASON);
		e->state = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
	} else if (e->says == SAYS_READY) {
		fine = kernel_payload_has(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID);
		e->in = kernel_payload_get32(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID);
		e->waker = (uint8_t)waker_of(in);
	} else {
		fine = is_of_switches(in);
	}
	e->says = fine ? e->says : SAYS_NOTHING;
}

static int group_read(struct maker *m, uint32_t group)
{
	struct store_columns c;
	struct etl_record r;
	uint32_t n = 0;
	store_columns_of(m->store, group, &c);
	struct due *due = reading_due(m->reading);
	for (uint32_t row = 0; row < c.rows; row++) {
		uint32_t type = store_type_at(&c, row), who = c.thread[row];
		uint8_t says = m->says[type < m->store->type_count ? type : 0];
		if (says) {
			due[n] = (struct due){c.where[row], n};
			m->seen[n++] = (struct seen){.time = store_time(&c, row),
						     .who = who < m->store->thread_count ? who : 0,
						     .cpu = c.cpu[row],
						     .says = says};
		}
	}
	const struct due *order = reading_in_order(m->reading, n);
	int err = 0;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		struct seen *e = &m->seen[order[i].at];
		err = reading_raw(m->reading, m->file, order[i].where, &r);
		if (err == 0) {
			understand(e, &r);
			m->q->answer.decoded++;
		} else if (err == -ENOENT) {
			e->says = SAYS_NOTHING;
			err = 0;
		}
	}
	for (uint32_t i = 0; i < n && err == 0; i++) {
		err = take(m, &m->seen[i]);
	}
	return err;
}

static bool group_says(const struct maker *m, uint32_t group)
{
	const struct store_group *g = &m->store->groups[group];
	const struct store_count *c = m->q->files[m->file].type_counts + g->type_counts;
	for (uint32_t i = 0; i < g->type_count_rows; i++) {
		if (c[i].id < m->store->type_count && m->says[c[i].id]) {
			return true;
		}
	}
	return false;
}

static int make(struct maker *m)
{
	uint32_t groups = m->store->group_count;
	int err = 0;
	for (uint32_t g = 0; g < groups && err == 0; g++) {
		m->q->done = g;
		m->q->groups = groups;
		question_tell(m->q);
		if (question_cancelled(m->q)) {
			return -ECANCELED;
		}
		err = group_says(m, g) ? group_read(m, g) : 0;
	}
	for (uint32_t i = 0; i < m->s->thread_count && err == 0; i++) {
		err = mind_losses(m, &m->s->threads[i]);
	}
	for (uint32_t i = 0; i < m->s->cpu_count && err == 0; i++) {
		err = mind_losses(m, &m->s->cpus[i]);
	}
	return err;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

#define CPUS_MOST 65536u

void stays_free(struct stays *s)
{
	for (uint32_t i = 0; s && s->threads && i < s->thread_count; i++) {
		free(s->threads[i].list);
	}
	for (uint32_t i = 0; s && s->cpus && i < s->cpu_count; i++) {
		free(s->cpus[i].list);
	}
	if (s) {
		free(s->threads);
		free(s->cpus);
		free(s);
	}
}

static struct stays *new_one(const struct store *store)
{
	struct stays *s = calloc(1, sizeof *s);
	if (!s) {
		return NULL;
	}
	s->thread_count = store->thread_count;
	s->cpu_count = BASE_MIN(store->about->processors, CPUS_MOST);
	s->end = store->about->last;
	s->threads = calloc(s->thread_count + 1ull, sizeof *s->threads);
	s->cpus = calloc(s->cpu_count + 1ull, sizeof *s->cpus);
	if (!s->threads || !s->cpus) {
		stays_free(s);
		return NULL;
	}
	return s;
}

static int make_one(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	struct maker m = {.q = q, .file = file, .store = &q->x->files[file].store, .bytes = inout_bytes};
	uint64_t before = *inout_bytes;
	m.s = new_one(m.store);
	m.reading = reading_make(q->x);
	m.early = calloc(m.store->thread_count + 1ull, sizeof *m.early);
	m.seen = malloc(STORE_GROUP_ROWS * sizeof *m.seen);
	int err = m.s && m.reading && m.early && m.seen ? know_threads(&m) : -ENOMEM;
	err = err < 0 ? err : know_types(&m);
	err = err < 0 ? err : reading_machine(m.reading, file, &m.machine);
	err = err < 0 ? err : make(&m);
	reading_free(m.reading);
	free(m.tids);
	free(m.says);
	free(m.early);
	free(m.losses);
	free(m.seen);
	if (err < 0) {
		*inout_bytes = before;
		stays_free(m.s);
		return err;
	}
	*ret = m.s;
	return 0;
}

int stays_of(struct openetw_query *q, uint32_t file, const struct stays **ret)
{
	const void *kept;
	int err = kept_of(q, file, KEPT_STAYS, make_one, &kept);
	if (err == 0) {
		*ret = kept;
		q->answer.partial = q->answer.partial || (*ret)->cut;
	}
	return err;
}

size_t stay_at(const struct stay_lane *l, int64_t time)
{
	size_t low = 0, high = l->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (l->list[middle].from <= time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low ? low - 1 : SIZE_MAX;
}
