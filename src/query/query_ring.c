/* SPDX-License-Identifier: MIT
 *
 * The ring: events become rows, and the oldest rows leave.
 */
#include "query/query_ring_state.h"

#include "base/vec.h"
#include "consume/consume.h"
#include "format/kernel_class.h"
#include "query/query_field.h"

#include "kernel_payload.h"

#include "etw/values/errors.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PROCESSORS_MOST 4096u
#define STRINGS_BYTES   (32u << 20)
#define DICTIONARY_PART 32u /* of the ring's bytes, for what each dictionary may have */

enum {
	HOOK_CSWITCH = KERNEL_HOOK(KERNEL_GROUP_THREAD, KP_THREAD_CSWITCH),
	HOOK_PROCESS_END = KERNEL_HOOK(KERNEL_GROUP_PROCESS, KP_PROCESS_END),
};

/* Memory that is used as it is written to. */
static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* ---- groups ---------------------------------------------------------------------------------------- */

#define OFFSETS_BYTES (STORE_GROUP_ROWS * sizeof(uint64_t))

static uint32_t raw_room(uint32_t raw_most)
{
	return raw_most + 65536u + RING_ITEMS_MOST + (uint32_t)sizeof(struct ring_prefix) + 16u;
}

static void group_free(struct ring_group *g, uint32_t raw_bytes)
{
	if (g->rows) {
		munmap(g->rows, sizeof *g->rows);
	}
	if (g->offsets) {
		munmap(g->offsets, OFFSETS_BYTES);
	}
	if (g->raw) {
		munmap(g->raw, raw_bytes);
	}
	free(g->running);
	free(g);
}

void ring_group_unref(struct ring_group *g)
{
	if (--g->refs == 0) {
		group_free(g, g->raw_bytes);
	}
}

/* What is resident of it: columns are written from their beginnings on. */
uint64_t ring_group_bytes(const struct ring_group *g)
{
	const uint64_t row = sizeof *g->rows / STORE_GROUP_ROWS + sizeof *g->offsets;
	return g->rows->rows * row + g->raw_used + 8 * STORE_PAGE;
}

static int group_begin(struct ring *r)
{
	uint32_t processors = BASE_MIN(r->b.info.processors, PROCESSORS_MOST);
	struct ring_group *g = calloc(1, sizeof *g);
	if (!g) {
		return -ENOMEM;
	}
	g->refs = 1;
	g->raw_bytes = raw_room(r->raw_most);
	g->rows = reserve(sizeof *g->rows);
	g->offsets = reserve(OFFSETS_BYTES);
	g->raw = reserve(g->raw_bytes);
	g->running = calloc(processors + 1ull, sizeof *g->running);
	if (!g->rows || !g->offsets || !g->raw || !g->running) {
		group_free(g, g->raw_bytes);
		return -ENOMEM;
	}
	for (uint32_t cpu = 0; cpu < processors; cpu++) {
		g->running[cpu] = machine_running(r->b.machine, (uint16_t)cpu);
	}
	g->number = ++r->next_number;
	g->first_row = r->rows;
	g->from = INT64_MAX;
	g->to = INT64_MIN;
	if (r->count) {
		r->closed_bytes += ring_group_bytes(ring_at(r, r->count - 1));
		r->b.before = r->b.rows;
	}
	r->b.rows = g->rows;
	r->groups[(r->first + r->count++) % RING_GROUPS] = g;
	return 0;
}

/* The oldest group leaves: those who hold a view go on with it. */
static void forget_one(struct ring *r)
{
	struct ring_group *g = ring_at(r, 0);
	for (uint32_t i = 0; i < g->rows->rows; i++) {
		r->b.types.rows[g->rows->type[i]]--;
	}
	r->closed_bytes -= ring_group_bytes(g);
	r->first = (r->first + 1) % RING_GROUPS;
	r->count--;
	if (r->b.before == g->rows) {
		r->b.before = r->nothing;
	}
	ring_group_unref(g);
	/* A view that nobody asks would keep it. */
	if (r->view && ring_view_idle(r->view)) {
		r->view = NULL;
	}
}

uint64_t ring_bytes_besides(const struct ring *r)
{
	const struct build *b = &r->b;
	const struct build_set *sets[] = {&b->stacks.nodes, &b->stacks.frames, &b->stacks.pairs, &b->stacks.lists};
	uint64_t n = r->kept_used + r->sayings.cap * sizeof *r->sayings.list + b->strings.count +
		     b->types.cap * sizeof *b->types.list + b->who.process_cap * sizeof *b->who.processes +
		     b->who.thread_cap * sizeof *b->who.threads + b->stacks.list_nodes.bytes +
		     machine_bytes(b->machine);
	for (size_t i = 0; i < BASE_ARRAY_LEN(sets); i++) {
		n += sets[i]->items.bytes + sets[i]->slots.bytes;
	}
	return n;
}

/* What groups may take: what the rest leaves. The rest has limits of its own, and a quarter is the groups' in any case. */
static uint64_t groups_most(const struct ring *r)
{
	return r->most - BASE_MIN(ring_bytes_besides(r), r->most / 4 * 3);
}

static int make_room(struct ring *r, uint32_t bytes)
{
	struct ring_group *g = r->count ? ring_at(r, r->count - 1) : NULL;
	int err = 0;
	if (!g || g->rows->rows == STORE_GROUP_ROWS || g->raw_used >= r->raw_most ||
	    bytes > g->raw_bytes - g->raw_used) {
		err = group_begin(r);
	}
	if (err < 0) {
		return err;
	}
	g = ring_at(r, r->count - 1);
	while (r->count > 1 && (r->count == RING_GROUPS || r->closed_bytes + ring_group_bytes(g) > groups_most(r))) {
		forget_one(r);
	}
	return 0;
}

/* ---- records --------------------------------------------------------------------------------------- */

static uint32_t stored_bytes(const struct etl_record *e)
{
	return (uint32_t)(sizeof(struct ring_prefix) + BASE_ALIGN8(e->raw_bytes) + BASE_ALIGN8(ring_items_besides(e)));
}

static void put_record(uint8_t *to, const struct etl_record *e)
{
	uint32_t items = ring_items_besides(e), record = BASE_ALIGN8(e->raw_bytes);
	const struct ring_prefix p = {(uint16_t)e->raw_bytes, (uint16_t)(BASE_ALIGN8(items) / 8), e->cpu, e->logger_id,
				      e->time_raw};
	memcpy(to, &p, sizeof p);
	memcpy(to + sizeof p, e->raw, e->raw_bytes);
	if (items) {
		memcpy(to + sizeof p + record, e->items, items);
	}
}

/* Among those that stay. STORE_NOWHERE: there is no room, which is counted. */
static uint64_t keep(struct ring *r, const struct etl_record *e)
{
	uint32_t bytes = stored_bytes(e);
	if (!e->raw || bytes > r->kept_most - r->kept_used) {
		r->not_kept += e->raw != NULL;
		return STORE_NOWHERE;
	}
	uint32_t at = r->kept_used;
	put_record(r->kept + at, e);
	r->kept_used += bytes;
	return at;
}

/* ---- an event becomes a row ------------------------------------------------------------------------ */

static int listen(struct ring *r, const struct etl_record *e)
{
	bool tells = machine_wants(e->type, e->raw) && e->hook != HOOK_CSWITCH && e->hook >> 8 != KERNEL_GROUP_STACK;
	bool teaches = consume_teaches(e->type, e->raw);
	if (tells) {
		machine_add(r->b.machine, e);
		/* Threads of processes, and who has which id. */
		r->machine_told = true;
		build_who_forget(&r->b.who);
	}
	if (teaches) {
		consume_teach(e);
	}
	if (!tells && !teaches) {
		return 0;
	}
	uint64_t where = keep(r, e);
	if (where != STORE_NOWHERE) {
		if (!VEC_ROOM(r->sayings.list, r->sayings.count, r->sayings.cap)) {
			return -ENOMEM;
		}
		r->sayings.list[r->sayings.count++] = where;
	}
	return 0;
}

static int type_of(struct ring *r, const struct etl_record *e, uint32_t *ret)
{
	struct build *b = &r->b;
	size_t known = b->types.count;
	int err = build_type(&b->types, e, STORE_NOWHERE, ret);
	if (err == 0 && b->types.count > known) {
		EVENT_RECORD event;
		const char *provider = "", *name = "";
		b->types.first_where[known] = keep(r, e);
		err = consume_view_fill(&b->view, e, e->time_filetime, NULL, &event);
		if (err == 0) {
			openetw_event_names(b->decoder, &event, &provider, &name);
			err = build_string(&b->strings, provider, &b->types.list[known].provider_name);
		}
		err = err < 0 ? err : build_string(&b->strings, name, &b->types.list[known].name);
	}
	return err;
}

static void exit_code(struct ring *r, const struct etl_record *e)
{
	const struct kernel_payload p = {e->payload, e->payload ? e->payload_bytes : 0, e->pointer_size};
	uint32_t process;
	if (kernel_payload_has(p, KP_PROCESS_END_SINCE_V1_EXIT_STATUS) &&
	    build_process(&r->b.who, machine_who(r->b.machine, e).pid, e->time_filetime, &process) == 0 && process) {
		r->b.who.processes[process].exit_code =
			(int32_t)kernel_payload_get32(p, KP_PROCESS_END_SINCE_V1_EXIT_STATUS);
		r->b.who.processes[process].has_exit_code = 1;
	}
}

static int row_of(struct ring *r, const struct etl_record *e, struct ring_group *g)
{
	struct build *b = &r->b;
	struct store_rows *to = g->rows;
	uint32_t i = to->rows;
	machine_follow(b->machine, e);
	struct machine_who who = {e->pid, e->tid};
	if (who.pid == MACHINE_NO_ID && who.tid == MACHINE_NO_ID) {
		who = machine_who(b->machine, e);
	}
	int err = build_process(&b->who, who.pid, e->time_filetime, &to->process[i]);
	err = err < 0 ? err : build_thread(&b->who, who.tid, to->process[i], e->time_filetime, &to->thread[i]);
	to->time[i] = build_time(&b->clock, e->time_raw);
	g->offsets[i] = (uint64_t)to->time[i] - (uint64_t)RING_TIME_BASE;
	to->cpu[i] = e->cpu;
	to->stack[i] = 0;
	if (err == 0 && e->items_bytes && build_own_stack(b, e, &to->stack[i]) < 0) {
		to->stack[i] = 0;
		r->stacks_left_out++;
	}
	/* The last that may fail: it counts the row. */
	err = err < 0 ? err : type_of(r, e, &to->type[i]);
	if (err < 0) {
		return err;
	}
	to->where[i] = STORE_NOWHERE;
	if (e->raw) {
		to->where[i] = (uint64_t)g->number << 32 | g->raw_used;
		put_record(g->raw + g->raw_used, e);
		g->raw_used += stored_bytes(e);
	}
	g->from = BASE_MIN(g->from, to->time[i]);
	g->to = BASE_MAX(g->to, to->time[i]);
	r->newest = r->rows ? BASE_MAX(r->newest, to->time[i]) : to->time[i];
	to->rows++;
	r->rows++;
	return 0;
}

static int add_locked(struct ring *r, const struct etl_record *e)
{
	if (e->raw_bytes > UINT16_MAX || ring_items_besides(e) > RING_ITEMS_MOST) {
		return -EMSGSIZE;
	}
	int err = e->raw ? listen(r, e) : 0;
	if (err < 0) {
		return err;
	}
	r->changes++;
	/* What a file says of itself is no event. */
	if (e->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER &&
	    file_record_is(&r->b.explained, &e->provider, (int64_t)e->time_raw, e->payload, e->payload_bytes)) {
		return 0;
	}
	err = make_room(r, stored_bytes(e));
	err = err < 0 ? err : row_of(r, e, ring_at(r, r->count - 1));
	if (err == 0 && BASE_UNLIKELY(e->hook == HOOK_PROCESS_END)) {
		exit_code(r, e);
	}
	if (err == 0 && e->hook >> 8 == KERNEL_GROUP_STACK && build_stack_record(&r->b, e) < 0) {
		r->stacks_left_out++;
	}
	return err;
}

int ring_add(struct ring *r, const struct etl_record *e)
{
	pthread_mutex_lock(&r->lock);
	int err = add_locked(r, e);
	r->refused += err < 0;
	if (r->waiting && r->rows >= r->wanted_rows) {
		pthread_cond_broadcast(&r->grown);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

void ring_lost(struct ring *r, uint64_t events, uint64_t buffers)
{
	pthread_mutex_lock(&r->lock);
	r->changes += r->events_lost != events || r->buffers_lost != buffers;
	r->events_lost = events;
	r->buffers_lost = buffers;
	pthread_mutex_unlock(&r->lock);
}

void ring_ended(struct ring *r, uint32_t code, bool broken_off)
{
	pthread_mutex_lock(&r->lock);
	r->ended = true;
	r->code = code;
	r->broken_off = broken_off;
	r->changes++;
	pthread_cond_broadcast(&r->grown);
	pthread_mutex_unlock(&r->lock);
}

/* ---- beginning and end ----------------------------------------------------------------------------- */

static int build_begin(struct ring *r)
{
	struct build *b = &r->b;
	size_t most = (size_t)(r->most / DICTIONARY_PART / sizeof(struct store_type));
	int stacks = build_stacks_create(&b->stacks, NULL);
	b->machine = machine_create(0);
	b->decoder = openetw_decoder_create();
	r->nothing = calloc(1, sizeof *r->nothing);
	size_t strings = (size_t)BASE_MIN(r->most / 8, STRINGS_BYTES);
	b->strings = (struct build_strings){.count = 1, .cap = strings, .fixed = true};
	b->strings.bytes = reserve(STRINGS_BYTES);
	r->kept_most = (uint32_t)BASE_MIN(r->most / 8, 64u << 20);
	r->kept = reserve(r->kept_most);
	if (!b->machine || !b->decoder || !r->nothing || !b->strings.bytes || !r->kept) {
		return -ENOMEM;
	}
	machine_limit(b->machine, r->most / 4);
	b->rows = b->before = r->nothing;
	int err = stacks < 0 ? stacks : build_types_create(&b->types);
	err = err < 0 ? err : build_who_create(&b->who, b->machine, &b->clock, &b->strings);
	b->types.most = BASE_MIN(most, BUILD_TYPES_MOST);
	b->who.most = most;
	b->who.runs = true;
	b->stacks.nodes.most = b->stacks.frames.most = b->stacks.pairs.most = b->stacks.lists.most =
		(uint32_t)BASE_MIN(r->most / DICTIONARY_PART / 16, (uint64_t)BUILD_SET_MOST);
	return err;
}

static void ring_free(struct ring *r)
{
	struct build *b = &r->b;
	while (r->count) {
		forget_one(r);
	}
	build_stacks_free(&b->stacks);
	build_types_free(&b->types);
	build_who_free(&b->who);
	map_free(&b->strings.by_hash);
	if (b->strings.bytes) {
		munmap(b->strings.bytes, STRINGS_BYTES);
	}
	if (r->kept) {
		munmap(r->kept, r->kept_most);
	}
	machine_destroy(b->machine);
	openetw_decoder_destroy(b->decoder);
	consume_view_free(&b->view);
	free(r->sayings.list);
	free(r->nothing);
	free(r->name);
	pthread_cond_destroy(&r->grown);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* What its user calls the index: it has no rows itself. */
static struct openetw_index *index_of(struct ring *r)
{
	struct openetw_index *x = calloc(1, sizeof *x);
	struct index_file *f = calloc(1, sizeof *f);
	if (!x || !f) {
		free(x);
		free(f);
		return NULL;
	}
	pthread_mutex_init(&x->lock, NULL);
	x->files = f;
	x->file_count = 1;
	x->start_filetime = (int64_t)r->b.clock.start_filetime;
	x->ring = r;
	f->fd = f->store.fd = -1;
	return x;
}

int ring_open(const struct ring_options *o, struct openetw_index **ret)
{
	struct ring *r = calloc(1, sizeof *r);
	pthread_condattr_t monotonic;
	if (!r) {
		return -ENOMEM;
	}
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&r->grown, &monotonic);
	pthread_condattr_destroy(&monotonic);
	r->most = BASE_MAX(o->bytes ? o->bytes : RING_DEFAULT, RING_LEAST);
	r->raw_most = (uint32_t)BASE_MIN(r->most / 16, 8u << 20);
	r->b.info = o->info;
	r->b.clock = o->clock;
	r->b.info.header = r->b.info.logger_name = r->b.info.file_name = NULL;
	r->b.info.header_bytes = r->b.info.logger_name_units = r->b.info.file_name_units = 0;
	r->code = ERROR_IO_PENDING;
	r->name = strdup(o->name);
	int err = build_begin(r);
	r->index = err == 0 && r->name ? index_of(r) : NULL;
	if (!r->index) {
		ring_free(r);
		return err < 0 ? err : -ENOMEM;
	}
	*ret = r->index;
	return 0;
}

void ring_close(struct openetw_index *x)
{
	struct ring *r = x->ring;
	ring_session_close(r->session);
	if (r->view) {
		ring_view_release(&r->view->x);
		r->view = NULL;
	}
	ring_free(r);
	pthread_mutex_destroy(&x->lock);
	free(x->files);
	free(x);
}
