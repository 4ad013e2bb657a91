/* SPDX-License-Identifier: MIT */
#include "tools/view/view_making.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "tools/tables/table_make.h"
#include "tools/view/view.h"
#include "tools/view/view_symbols.h"

#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define TABLES_MAX  256u
#define PATIENCE_NS 10000000000ull /* what nobody asks for is given up after this time */
#define AGAIN_NS    3000000000ull  /* so long those that still ask hear that it failed, or was cancelled */
#define LOOK_MS     20u
#define NAMES       "names of functions" /* no table is called so */
#define WAIT_MS     150u                 /* a request waits so long for a table that is nearly there */

enum table_state { TABLE_WANTED, TABLE_BEING_MADE, TABLE_MADE, TABLE_FAILED };
struct view_table {
	struct view_making *of;
	char *key;              /* what its set calls it */
	struct table_ask ask;   /* copied: its texts are in `texts` */
	struct strbuf texts[3]; /* table, process, thread */
	const char *process[1], *thread[1];
	struct table_set *set; /* that has it; NULL: it is not made */
	bool names;            /* it is no table: the names of code, which stay */
	enum table_state state;
	uint32_t users;
	uint64_t bytes, used;         /* used: a count; the lowest goes first */
	uint64_t began_ns, failed_ns; /* clocks */
	/* order_…: the thread that makes it reads and writes them without the lock */
	uint64_t asked_ns;
	uint32_t part; /* thousandths */
	uint32_t cancelled;
	char why[400];
};
struct worker {
	struct view_making *of;
	struct table_set *set; /* NULL: not opened yet */
	pthread_t thread;
	bool started, busy;
};
struct view_making {
	struct view_trace *trace;
	pthread_mutex_t lock;
	struct view_table *table[TABLES_MAX];
	uint32_t count;
	struct worker worker[VIEW_MAKERS];
	uint64_t uses, bytes;
	bool ending;
};

/* ---- memory ----------------------------------------------------------------------------------------- */

/* A quarter of the machine's, in tables of one trace. */
static uint64_t bytes_most(void)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
	const char *test = getenv("OPENETW_VIEW_TABLE_BYTES"); /* for tests */
	uint64_t n = test ? strtoull(test, NULL, 10) : pages * page / 4;
	return BASE_MIN(n, 8ull << 30);
}

static void table_free(struct view_table *k)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(k->texts); i++) {
		strbuf_finish(&k->texts[i]);
	}
	free(k->key);
	free(k);
}

static void remove_locked(struct view_making *m, uint32_t i)
{
	struct view_table *k = m->table[i];
	if (k->set) {
		table_set_drop(k->set, k->key);
		m->bytes -= k->bytes;
	}
	m->table[i] = m->table[--m->count];
	table_free(k);
}

/* Those that nobody holds go, those used longest ago first, until there is room. */
static void make_room_locked(struct view_making *m, uint64_t most, uint32_t count)
{
	while (m->bytes > most || m->count > count) {
		uint32_t oldest = UINT32_MAX;
		for (uint32_t i = 0; i < m->count; i++) {
			const struct view_table *k = m->table[i];
			bool free_ = k->users == 0 && !k->names && (k->state == TABLE_MADE || k->state == TABLE_FAILED);
			if (free_ && (oldest == UINT32_MAX || k->used < m->table[oldest]->used)) {
				oldest = i;
			}
		}
		if (oldest == UINT32_MAX) {
			return;
		}
		remove_locked(m, oldest);
	}
}

/* ---- making ----------------------------------------------------------------------------------------- */

static bool look(void *context, double part)
{
	struct view_table *k = context;
	uint64_t now = clock_read_system_ns(), asked = order_load_relaxed(&k->asked_ns);
	order_store_relaxed(&k->part, (uint32_t)(part * 1000));
	if (now > asked && now - asked > PATIENCE_NS) {
		order_store_relaxed(&k->cancelled, 1);
	}
	return !order_load_relaxed(&k->cancelled);
}

static bool make(struct worker *w, struct view_table *k)
{
	if (k->names) {
		return view_names_make(k->of->trace, look, k, k->why, sizeof k->why);
	}
	if (!w->set) {
		w->set = view_set_open(k->of->trace, k->why, sizeof k->why);
	}
	if (!w->set) {
		return false;
	}
	struct table_maker *maker = table_set_maker(w->set);
	view_symbols_apply(maker);
	maker->look_context = k;
	maker->look = look;
	return table_ask_make(w->set, &k->ask, k->why, sizeof k->why);
}

static struct view_table *next_locked(struct view_making *m)
{
	struct view_table *best = NULL;
	for (uint32_t i = 0; i < m->count && !m->ending; i++) {
		struct view_table *k = m->table[i];
		if (k->state == TABLE_WANTED && (!best || k->used < best->used)) {
			best = k;
		}
	}
	return best;
}

static void *work(void *context)
{
	struct worker *w = context;
	struct view_making *m = w->of;
	struct view_table *k;
	pthread_mutex_lock(&m->lock);
	while ((k = next_locked(m)) != NULL) {
		k->state = TABLE_BEING_MADE;
		k->began_ns = clock_read_system_ns();
		pthread_mutex_unlock(&m->lock);
		bool ok = make(w, k);
		pthread_mutex_lock(&m->lock);
		k->set = ok && !k->names ? w->set : NULL;
		k->bytes = k->set ? table_set_bytes(w->set, k->key) : 0;
		k->state = ok ? TABLE_MADE : TABLE_FAILED;
		k->failed_ns = clock_read_system_ns();
		if (order_load_relaxed(&k->cancelled)) {
			snprintf(k->why, sizeof k->why, "the making of the table was cancelled");
		}
		m->bytes += k->bytes;
		k->users++; /* it is no use to make a table that goes before anybody has read it */
		make_room_locked(m, bytes_most(), TABLES_MAX);
		k->users--;
	}
	w->busy = false;
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* For a table that is wanted. Where no thread can be started and none runs, it has failed. */
static void start_worker_locked(struct view_making *m, struct view_table *k)
{
	bool runs = false;
	for (uint32_t i = 0; i < VIEW_MAKERS && !runs; i++) {
		runs = m->worker[i].busy;
	}
	for (uint32_t i = 0; i < VIEW_MAKERS; i++) {
		struct worker *w = &m->worker[i];
		if (!w->busy) {
			if (w->started) {
				pthread_join(w->thread, NULL); /* it has nothing left to do */
			}
			w->of = m;
			w->busy = w->started = quiet_thread_start(&w->thread, work, w) == 0;
			if (!w->busy && !runs) {
				k->state = TABLE_FAILED;
				k->failed_ns = clock_read_system_ns();
				snprintf(k->why, sizeof k->why, "no thread can be started");
			}
			return;
		}
	}
}

void view_making_destroy(struct view_making *m)
{
	if (!m) {
		return;
	}
	pthread_mutex_lock(&m->lock);
	m->ending = true;
	for (uint32_t i = 0; i < m->count; i++) {
		order_store_relaxed(&m->table[i]->cancelled, 1);
	}
	pthread_mutex_unlock(&m->lock);
	for (uint32_t i = 0; i < VIEW_MAKERS; i++) {
		if (m->worker[i].started) {
			pthread_join(m->worker[i].thread, NULL);
		}
	}
	while (m->count) {
		remove_locked(m, 0);
	}
	for (uint32_t i = 0; i < VIEW_MAKERS; i++) {
		table_set_close(m->worker[i].set);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

static struct view_making *making_of(struct view_trace *t)
{
	pthread_mutex_lock(&t->lock);
	if (!t->making && (t->making = calloc(1, sizeof *t->making)) != NULL) {
		t->making->trace = t;
		pthread_mutex_init(&t->making->lock, NULL);
	}
	pthread_mutex_unlock(&t->lock);
	return t->making;
}

/* The text as a copy in `b`, which stays where it is. */
static const char *keep(struct strbuf *b, const char *s)
{
	strbuf_adds(b, s);
	return b->s;
}

static struct view_table *new_table(struct view_making *m, const char *key, const struct table_ask *ask)
{
	struct view_table *k = calloc(1, sizeof *k);
	if (!k) {
		return NULL;
	}
	k->of = m;
	k->key = strdup(key);
	k->names = strcmp(ask->table, NAMES) == 0;
	k->ask = (struct table_ask){.table = keep(&k->texts[0], ask->table), .from = ask->from, .to = ask->to};
	if (ask->process_count) {
		k->process[0] = keep(&k->texts[1], ask->process[0]);
		k->ask.process = k->process;
		k->ask.process_count = 1;
	}
	if (ask->thread_count) {
		k->thread[0] = keep(&k->texts[2], ask->thread[0]);
		k->ask.thread = k->thread;
		k->ask.thread_count = 1;
	}
	if (!k->key || k->texts[0].failed || k->texts[1].failed || k->texts[2].failed) {
		table_free(k);
		return NULL;
	}
	return k;
}

/* The table of a question, which is going to be made where it is not there. NULL: no room. */
static struct view_table *want_locked(struct view_making *m, const char *key, const struct table_ask *ask)
{
	uint64_t now = clock_read_system_ns();
	for (uint32_t i = 0; i < m->count; i++) {
		struct view_table *k = m->table[i];
		if (strcasecmp(k->key, key) != 0) {
			continue;
		}
		if (k->state == TABLE_FAILED && k->users == 0 && now - k->failed_ns > AGAIN_NS) {
			k->state = TABLE_WANTED;
			order_store_relaxed(&k->cancelled, 0);
			start_worker_locked(m, k);
		}
		return k;
	}
	make_room_locked(m, bytes_most(), TABLES_MAX - 1);
	struct view_table *k = m->count < TABLES_MAX ? new_table(m, key, ask) : NULL;
	if (k) {
		m->table[m->count++] = k;
		order_store_relaxed(&k->asked_ns, now);
		k->used = ++m->uses;
		start_worker_locked(m, k);
	}
	return k;
}

static void say_making(struct view_request *r, const struct view_table *k)
{
	json_put_comma(&r->making);
	strbuf_addc(&r->making, '{');
	json_put_text(&r->making, "name", k->ask.table);
	json_put_real(&r->making, "fraction", (double)order_load_relaxed(&k->part) / 1000);
	uint64_t now = clock_read_system_ns();
	json_put_real(&r->making, "seconds", k->state == TABLE_BEING_MADE ? (double)(now - k->began_ns) / 1e9 : 0);
	strbuf_addc(&r->making, '}');
}

/* Waits until it is made, or as long as this request may. Who asks again about a live trace may get a younger copy, whose
 * tables are not begun: so it waits for those of the copy that it has. */
static enum table_state wait_for(struct view_request *r, struct view_making *m, struct view_table *k)
{
	for (unsigned waited = 0;; waited += LOOK_MS) {
		pthread_mutex_lock(&m->lock);
		enum table_state state = k->state;
		order_store_relaxed(&k->asked_ns, clock_read_system_ns());
		pthread_mutex_unlock(&m->lock);
		if (state == TABLE_MADE || state == TABLE_FAILED ||
		    (r->hurried && !m->trace->copy_of && (r->making.len || waited >= WAIT_MS)) || view_gone(r)) {
			return state;
		}
		poll(NULL, 0, LOOK_MS);
	}
}

static enum table_state hold(struct view_request *r, struct view_trace *t, const struct table_ask *ask,
			     struct table_set **ret, char *why, size_t cap)
{
	struct strbuf key = {0};
	struct view_making *m = making_of(t);
	table_ask_key(ask, &key);
	snprintf(why, cap, "no memory");
	if (!m || key.failed || r->held_count == VIEW_HELD_MAX) {
		strbuf_finish(&key);
		return TABLE_FAILED;
	}
	pthread_mutex_lock(&m->lock);
	struct view_table *k = want_locked(m, key.s, ask);
	if (k) {
		k->users++;
		k->used = ++m->uses;
		r->held[r->held_count++] = k;
	}
	pthread_mutex_unlock(&m->lock);
	strbuf_finish(&key);
	enum table_state state = k ? wait_for(r, m, k) : TABLE_FAILED;
	if (k && state == TABLE_FAILED) {
		snprintf(why, cap, "%s", k->why);
	} else if (k && state != TABLE_MADE) {
		snprintf(why, cap, "the table '%s' is being made", k->ask.table);
		say_making(r, k);
	}
	if (state == TABLE_MADE) {
		*ret = k->set;
	}
	return state;
}

static bool can(struct view_request *r, struct view_trace *t, char *why, size_t cap)
{
	if (r->hurried && !t->copy_of && !view_trace_whole(t)) { /* its progress is shown already */
		snprintf(why, cap, "the trace is still being read");
		strbuf_adds(&r->making, r->making.len ? "" : "{\"name\":\"index\",\"fraction\":0,\"seconds\":0}");
		return false;
	}
	return view_index_wait(t, view_request_gone, r, why, cap);
}

struct table_set *view_tables_with(struct view_request *r, struct view_trace *t, const char *name, char *why,
				   size_t cap)
{
	struct table_ask ask = {.table = name, .from = INT64_MIN, .to = INT64_MAX};
	struct table_set *s = NULL;
	return can(r, t, why, cap) && hold(r, t, &ask, &s, why, cap) == TABLE_MADE ? s : NULL;
}

bool view_names_wait(struct view_request *r, struct view_trace *t, char *why, size_t cap)
{
	struct table_ask ask = {.table = NAMES, .from = INT64_MIN, .to = INT64_MAX};
	struct table_set *none;
	return can(r, t, why, cap) && hold(r, t, &ask, &none, why, cap) == TABLE_MADE;
}

struct table_answer *view_table_ask(struct view_request *r, struct view_trace *t, const struct table_ask *ask,
				    char *why, size_t cap)
{
	struct table_set *s = NULL;
	return can(r, t, why, cap) && hold(r, t, ask, &s, why, cap) == TABLE_MADE ? table_ask(s, ask, why, cap) : NULL;
}

void view_tables_let_go(struct view_request *r)
{
	while (r->held_count) {
		struct view_table *k = r->held[--r->held_count];
		struct view_making *m = k->of;
		pthread_mutex_lock(&m->lock);
		k->users--;
		make_room_locked(m, bytes_most(), TABLES_MAX);
		pthread_mutex_unlock(&m->lock);
	}
}

static bool has_table_locked(const struct view_making *m, const struct table_set *s)
{
	for (uint32_t i = 0; i < m->count; i++) {
		if (m->table[i]->set == s) {
			return true;
		}
	}
	return false;
}

void view_names_forget(struct view_trace *t)
{
	pthread_mutex_lock(&t->lock);
	struct view_making *m = t->making;
	pthread_mutex_unlock(&t->lock);
	if (!m) {
		return;
	}
	pthread_mutex_lock(&m->lock);
	for (uint32_t i = m->count; i-- > 0;) {
		if (m->table[i]->users == 0 && m->table[i]->state != TABLE_BEING_MADE) {
			remove_locked(m, i);
		}
	}
	/* A maker remembers what it did not find. */
	for (uint32_t i = 0; i < VIEW_MAKERS; i++) {
		struct worker *w = &m->worker[i];
		if (!w->busy && w->set && !has_table_locked(m, w->set)) {
			table_set_close(w->set);
			w->set = NULL;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

bool view_making_cancel(struct view_trace *t, const char *name)
{
	bool found = false;
	pthread_mutex_lock(&t->lock);
	struct view_making *m = t->making;
	pthread_mutex_unlock(&t->lock);
	if (!m) {
		return false;
	}
	pthread_mutex_lock(&m->lock);
	for (uint32_t i = 0; i < m->count; i++) {
		struct view_table *k = m->table[i];
		bool running = k->state == TABLE_WANTED || k->state == TABLE_BEING_MADE;
		if (!running || (name && strcasecmp(k->ask.table, name) != 0)) {
			continue;
		}
		found = true;
		order_store_relaxed(&k->cancelled, 1);
		if (k->state == TABLE_WANTED) {
			k->state = TABLE_FAILED;
			k->failed_ns = clock_read_system_ns();
			snprintf(k->why, sizeof k->why, "the making of the table was cancelled");
		}
	}
	pthread_mutex_unlock(&m->lock);
	return found;
}
