/* SPDX-License-Identifier: MIT */
#include "query/build_who.h"

#include "base/vec.h"
#include "format/etl_item.h"

#include "evntcons.h"

#include <stdlib.h>

#define STRINGS_MOST (1u << 31)

/* ---- texts ---- */

int build_strings_create(struct build_strings *s)
{
	*s = (struct build_strings){.count = 1, .cap = 4096};
	s->bytes = calloc(1, s->cap);
	return s->bytes ? 0 : -ENOMEM;
}

void build_strings_free(struct build_strings *s)
{
	free(s->bytes);
	map_free(&s->by_hash);
}

int build_string(struct build_strings *s, const char *text, uint32_t *ret)
{
	*ret = 0;
	if (!text || !*text) {
		return 0;
	}
	size_t n = strlen(text) + 1;
	uint64_t key = map_hash(&s->by_hash, text, n);
	MAP_EACH(&s->by_hash, key, at) {
		uint64_t place = map_value(&s->by_hash, at);
		if (strcmp(s->bytes + place, text) == 0) {
			*ret = (uint32_t)place;
			return 0;
		}
	}
	if (s->count + n > STRINGS_MOST) {
		return -ENOSPC;
	}
	if (s->fixed && s->count + n > s->cap) {
		s->left_out++;
		return 0;
	}
	if (s->count + n > s->cap) {
		size_t cap = 2 * (s->count + n);
		char *bytes = realloc(s->bytes, cap);
		if (!bytes) {
			return -ENOMEM;
		}
		s->bytes = bytes;
		s->cap = cap;
	}
	memcpy(s->bytes + s->count, text, n);
	*ret = (uint32_t)s->count;
	s->count += n;
	return map_add(&s->by_hash, key, *ret);
}

/* ---- times ---- */

#define NS_PER_SECOND     1000000000u
#define CLOCK_SYSTEM_TIME 2u
#define CLOCK_CPU_CYCLES  3u

/* Hostile clocks tell any time; sums of what comes out must not overflow. */
static int64_t bounded(__int128 ns)
{
	const __int128 most = (__int128)1 << 61;
	return (int64_t)(ns > most ? most : ns < -most ? -most : ns);
}

int64_t build_time(const struct etl_clock *c, uint64_t raw)
{
	if (c->clock_type == CLOCK_SYSTEM_TIME) {
		return bounded(((__int128)raw - (__int128)c->start_filetime) * 100);
	}
	uint64_t freq = c->clock_type == CLOCK_CPU_CYCLES ? c->cpu_mhz * 1000000ull : c->perf_freq;
	bool back = raw < c->start_raw;
	uint64_t ticks = back ? c->start_raw - raw : raw - c->start_raw;
	__int128 ns = ticks;
	if (freq == 0) { /* as etl_clock_to_filetime(): units of 100 ns */
		ns *= 100;
	} else if (freq != NS_PER_SECOND) {
		ns = ticks <= UINT64_MAX / NS_PER_SECOND ? (__int128)(ticks * NS_PER_SECOND / freq)
							 : (__int128)ticks * NS_PER_SECOND / freq;
	}
	return bounded(back ? -ns : ns);
}

int64_t build_time_of_filetime(const struct etl_clock *c, uint64_t filetime)
{
	if (filetime == 0) {
		return INT64_MIN;
	}
	return filetime == UINT64_MAX ? INT64_MAX : bounded(((__int128)filetime - (__int128)c->start_filetime) * 100);
}

/* ---- processes and threads ---- */

void build_who_forget(struct build_who *w)
{
	for (uint32_t i = 0; i < BUILD_CACHE; i++) {
		w->process_recent[i] = w->thread_recent[i] = (struct build_recent){.from = 1};
	}
}

int build_who_create(struct build_who *w, const struct machine *m, const struct etl_clock *clock,
		     struct build_strings *strings)
{
	*w = (struct build_who){.machine = m, .clock = clock, .strings = strings};
	build_who_forget(w);
	if (!VEC_ROOM(w->processes, w->process_count, w->process_cap) ||
	    !VEC_ROOM(w->threads, w->thread_count, w->thread_cap)) {
		return -ENOMEM;
	}
	w->processes[w->process_count++] =
		(struct store_process){.pid = MACHINE_NO_ID, .start = INT64_MIN, .end = INT64_MAX};
	w->threads[w->thread_count++] =
		(struct store_thread){.tid = MACHINE_NO_ID, .start = INT64_MIN, .end = INT64_MAX};
	return 0;
}

void build_who_free(struct build_who *w)
{
	free(w->processes);
	free(w->threads);
	map_free(&w->processes_by);
	map_free(&w->threads_by);
}

static uint32_t slot_of(uint32_t id)
{
	return (id * 2654435769u) >> 22;
}
_Static_assert(BUILD_CACHE == 1u << (32 - 22), "slots");

static int process_add(struct build_who *w, uint32_t pid, const struct machine_process *p, uint64_t key, uint32_t *ret)
{
	struct store_process s = {.pid = pid, .parent_pid = MACHINE_NO_ID, .start = INT64_MIN, .end = INT64_MAX};
	int err = 0;
	if (p) {
		s.parent_pid = p->parent;
		s.session_id = p->session;
		s.start = build_time_of_filetime(w->clock, p->start_time);
		s.end = build_time_of_filetime(w->clock, p->end_time);
		err = build_string(w->strings, p->name, &s.name);
		err = err ? err : build_string(w->strings, p->command_line, &s.command_line);
	}
	if (err == 0 && !VEC_ROOM_UP_TO(w->processes, w->process_count, w->process_cap, UINT32_MAX - 1)) {
		err = -ENOMEM;
	}
	if (err == 0) {
		err = map_add(&w->processes_by, key, w->process_count);
	}
	if (err == 0) {
		*ret = (uint32_t)w->process_count;
		w->processes[w->process_count++] = s;
	}
	return err;
}

int build_process(struct build_who *w, uint32_t pid, uint64_t time, uint32_t *ret)
{
	*ret = 0;
	if (pid == MACHINE_NO_ID) {
		return 0;
	}
	struct build_recent *recent = &w->process_recent[slot_of(pid)];
	if (recent->id == pid && time >= recent->from && time <= recent->to) {
		*ret = recent->number;
		return 0;
	}
	const struct machine_process *p = machine_process_at(w->machine, pid, time);
	/* One that has a record is known by it, one without by its id: no address is so small. */
	uint64_t key = p ? (uint64_t)(uintptr_t)p : pid;
	size_t at = map_find(&w->processes_by, key);
	int err = 0;
	if (at != MAP_NONE) {
		*ret = (uint32_t)map_value(&w->processes_by, at);
	} else if (w->runs && p && p->start_time == 0 && (at = map_find(&w->processes_by, pid)) != MAP_NONE) {
		/* It ran before, and only now its record came: build_who_refresh() says what that tells. */
		*ret = (uint32_t)map_value(&w->processes_by, at);
		err = map_add(&w->processes_by, key, *ret);
	} else if (w->most && w->process_count >= w->most) {
		w->left_out++;
		return 0;
	} else {
		err = process_add(w, pid, p, key, ret);
	}
	if (err == 0) {
		*recent = (struct build_recent){
			.id = pid, .number = *ret, .from = p ? p->start_time : time, .to = p ? p->end_time : time};
	}
	return err;
}

static uint64_t thread_key(uint32_t tid, uint32_t process, uint64_t start)
{
	return map_mix(map_mix(tid + 1ull, 0x9E3779B97F4A7C15ull) ^ process, 0xD6E8FEB86659FD93ull) ^ start;
}

int build_thread(struct build_who *w, uint32_t tid, uint32_t process, uint64_t time, uint32_t *ret)
{
	*ret = 0;
	if (tid == MACHINE_NO_ID) {
		return 0;
	}
	struct build_recent *recent = &w->thread_recent[slot_of(tid ^ process << 20)];
	if (recent->id == tid && time >= recent->from && time <= recent->to &&
	    w->threads[recent->number].process == process) {
		*ret = recent->number;
		return 0;
	}
	struct machine_thread t = {.start_time = 0, .end_time = UINT64_MAX, .name = ""};
	bool known = machine_thread_at(w->machine, tid, time, &t);
	int64_t start = build_time_of_filetime(w->clock, t.start_time);
	uint64_t key = thread_key(tid, process, t.start_time);
	int err = 0;
	MAP_EACH(&w->threads_by, key, at) {
		uint32_t number = (uint32_t)map_value(&w->threads_by, at);
		const struct store_thread *s = &w->threads[number];
		if (s->tid == tid && s->process == process && s->start == start) {
			*ret = number;
			goto found;
		}
	}
	struct store_thread s = {
		.tid = tid,
		.process = process,
		.start = start,
		.end = build_time_of_filetime(w->clock, t.end_time),
		.start_address = t.start_address,
	};
	if (w->most && w->thread_count >= w->most) {
		w->left_out++;
		return 0;
	}
	err = build_string(w->strings, t.name, &s.name);
	if (err == 0 && !VEC_ROOM_UP_TO(w->threads, w->thread_count, w->thread_cap, UINT32_MAX - 1)) {
		err = -ENOMEM;
	}
	if (err == 0) {
		err = map_add(&w->threads_by, key, w->thread_count);
	}
	if (err < 0) {
		return err;
	}
	*ret = (uint32_t)w->thread_count;
	w->threads[w->thread_count++] = s;
found:
	*recent = (struct build_recent){
		.id = tid, .number = *ret, .from = known ? t.start_time : time, .to = known ? t.end_time : time};
	return 0;
}

static uint64_t filetime_of(const struct etl_clock *c, int64_t time)
{
	return time == INT64_MIN ? c->start_filetime : (uint64_t)((int64_t)c->start_filetime + time / 100);
}

int build_who_refresh(struct build_who *w)
{
	int err = 0;
	build_who_forget(w);
	for (size_t i = 1; i < w->process_count && err == 0; i++) {
		struct store_process *s = &w->processes[i];
		const struct machine_process *p =
			machine_process_at(w->machine, s->pid, filetime_of(w->clock, s->start));
		if (!p || build_time_of_filetime(w->clock, p->start_time) != s->start) {
			continue;
		}
		s->parent_pid = p->parent;
		s->session_id = p->session;
		s->end = build_time_of_filetime(w->clock, p->end_time);
		err = build_string(w->strings, p->name, &s->name);
		err = err ? err : build_string(w->strings, p->command_line, &s->command_line);
	}
	for (size_t i = 1; i < w->thread_count && err == 0; i++) {
		struct store_thread *s = &w->threads[i];
		struct machine_thread t;
		if (machine_thread_at(w->machine, s->tid, filetime_of(w->clock, s->start), &t) &&
		    build_time_of_filetime(w->clock, t.start_time) == s->start) {
			s->end = build_time_of_filetime(w->clock, t.end_time);
			s->start_address = t.start_address;
			err = build_string(w->strings, t.name, &s->name);
		}
	}
	return err;
}

/* ---- types ---- */

int build_types_create(struct build_types *t)
{
	*t = (struct build_types){.count = 0};
	if (!VEC_ROOM(t->list, t->count, t->cap) || !VEC_ROOM(t->rows, t->count, t->rows_cap) ||
	    !VEC_ROOM(t->first_where, t->count, t->where_cap) || !VEC_ROOM(t->schema, t->count, t->schema_cap)) {
		return -ENOMEM;
	}
	t->list[0] = (struct store_type){.id = 0};
	t->rows[0] = t->first_where[0] = t->schema[0] = 0;
	t->count = 1;
	return 0;
}

void build_types_free(struct build_types *t)
{
	free(t->list);
	free(t->rows);
	free(t->first_where);
	free(t->schema);
	map_free(&t->by_hash);
}

/* What is the same in all events of a type. */
struct identity {
	struct guid provider;
	uint64_t keyword;
	uint64_t schema;
	uint16_t id, task, hook;
	uint8_t version, channel, level, opcode, classic, pointer_size;
};

static uint64_t schema_of(const struct etl_record *r, const struct map *secret)
{
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		if (type == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) {
			return map_hash(secret, data, bytes) | 1;
		}
	}
	return 0;
}

static bool is_type(const struct build_types *t, uint32_t i, const struct identity *x)
{
	const struct store_type *s = &t->list[i];
	return s->id == x->id && s->keyword == x->keyword && t->schema[i] == x->schema && s->hook == x->hook &&
	       s->version == x->version && s->level == x->level && s->opcode == x->opcode && s->task == x->task &&
	       s->channel == x->channel && s->classic == x->classic &&
	       memcmp(s->provider, x->provider.b, sizeof s->provider) == 0;
}

static int type_add(struct build_types *t, const struct identity *x, uint64_t hash, const struct etl_record *r,
		    uint64_t where)
{
	if (!VEC_ROOM(t->list, t->count, t->cap) || !VEC_ROOM(t->rows, t->count, t->rows_cap) ||
	    !VEC_ROOM(t->first_where, t->count, t->where_cap) || !VEC_ROOM(t->schema, t->count, t->schema_cap) ||
	    map_add(&t->by_hash, hash, t->count) < 0) {
		return -ENOMEM;
	}
	struct store_type *s = &t->list[t->count];
	*s = (struct store_type){
		.id = x->id,
		.version = x->version,
		.channel = x->channel,
		.level = x->level,
		.opcode = x->opcode,
		.task = x->task,
		.keyword = x->keyword,
		.hook = x->hook,
		.classic = x->classic,
		.record_type = r->type,
	};
	memcpy(s->provider, x->provider.b, sizeof s->provider);
	t->rows[t->count] = 0;
	t->first_where[t->count] = where;
	t->schema[t->count] = x->schema;
	t->count++;
	return 0;
}

int build_type(struct build_types *t, const struct etl_record *r, uint64_t where, uint32_t *ret)
{
	struct identity x;
	memset(&x, 0, sizeof x); /* the holes, too: it is hashed */
	x.provider = r->provider;
	x.keyword = r->keyword;
	x.id = r->id;
	x.task = r->task;
	x.hook = r->hook;
	x.version = r->version;
	x.channel = r->channel;
	x.level = r->level;
	x.opcode = r->opcode;
	x.classic = (r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
	x.schema = r->items_bytes ? schema_of(r, &t->by_hash) : 0;
	if (is_type(t, t->last, &x) && t->last) {
		*ret = t->last;
		t->rows[*ret]++;
		return 0;
	}
	uint64_t hash = map_hash(&t->by_hash, &x, sizeof x);
	*ret = 0;
	MAP_EACH(&t->by_hash, hash, at) {
		uint32_t i = (uint32_t)map_value(&t->by_hash, at);
		if (is_type(t, i, &x)) {
			*ret = i;
			break;
		}
	}
	if (*ret == 0 && t->count >= (t->most ? t->most : BUILD_TYPES_MOST)) {
		t->left_out++;
	} else if (*ret == 0) {
		int err = type_add(t, &x, hash, r, where);
		if (err < 0) {
			return err;
		}
		*ret = (uint32_t)t->count - 1;
	}
	t->rows[*ret]++;
	t->last = *ret;
	return 0;
}
