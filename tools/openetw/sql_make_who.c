/* SPDX-License-Identifier: MIT
 * openetw sql: what the index knows: processes, threads, images, types of events, stacks; the trace itself and its losses.
 */
#include "tools/openetw/sql_make.h"

#include "base/parse.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "query/query_share.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <stdlib.h>

/* A time that may be before or after the trace. */
static void put_time(struct sql_maker *m, struct sql_build *b, int column, uint64_t time)
{
	if (time != 0 && time != UINT64_MAX) {
		sql_build_number(b, column, (uint64_t)sql_make_time(m, time));
	}
}

static void put_id(struct sql_build *b, int column, uint32_t id)
{
	if (id != OPENETW_UNKNOWN_ID) {
		sql_build_number(b, column, id);
	}
}

/* One of the index, likewise. */
static void put_index_time(struct sql_build *b, int column, int64_t time)
{
	if (time != INT64_MIN && time != INT64_MAX) {
		sql_build_number(b, column, (uint64_t)time);
	}
}

static void put_word(struct sql_build *b, int column, const char *s)
{
	sql_put_string(b, column, s && s[0] ? s : NULL);
}

static void processes(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {
		sql_build_column(b, "process", SQL_TYPE_U32),       sql_build_column(b, "pid", SQL_TYPE_U32),
		sql_build_column(b, "parent_pid", SQL_TYPE_U32),    sql_build_column(b, "process_name", SQL_TYPE_TEXT),
		sql_build_column(b, "command_line", SQL_TYPE_TEXT), sql_build_column(b, "session_id", SQL_TYPE_U32),
		sql_build_column(b, "start", SQL_TYPE_I64),         sql_build_column(b, "stop", SQL_TYPE_I64),
		sql_build_column(b, "exit_code", SQL_TYPE_I32),     sql_build_column(b, "container", SQL_TYPE_TEXT),
		sql_build_column(b, "file", SQL_TYPE_U16)};
	struct openetw_index_process p = {.size = sizeof p};
	for (uint32_t i = 1; i < m->about.processes; i++) {
		if (openetw_index_process(m->index, i, &p) != ERROR_SUCCESS || p.pid == OPENETW_UNKNOWN_ID) {
			continue;
		}
		sql_build_number(b, c[0], i);
		sql_build_number(b, c[1], p.pid);
		if (p.name[0]) { /* the trace has told about it */
			put_id(b, c[2], p.parent_pid);
			put_id(b, c[5], p.session_id);
		}
		put_word(b, c[3], p.name);
		put_word(b, c[4], p.command_line);
		put_index_time(b, c[6], p.start);
		put_index_time(b, c[7], p.end);
		if (p.has_exit_code) {
			sql_build_number(b, c[8], (uint64_t)p.exit_code);
		}
		put_word(b, c[9], p.container);
		sql_build_number(b, c[10], p.file);
		sql_build_row(b);
	}
}

static void threads(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {
		sql_build_column(b, "thread", SQL_TYPE_U32),        sql_build_column(b, "tid", SQL_TYPE_U32),
		sql_build_column(b, "process", SQL_TYPE_U32),       sql_build_column(b, "pid", SQL_TYPE_U32),
		sql_build_column(b, "process_name", SQL_TYPE_TEXT), sql_build_column(b, "thread_name", SQL_TYPE_TEXT),
		sql_build_column(b, "start", SQL_TYPE_I64),         sql_build_column(b, "stop", SQL_TYPE_I64)};
	struct openetw_index_process p = {.size = sizeof p};
	struct openetw_index_thread t = {.size = sizeof t};
	for (uint32_t i = 1; i < m->about.threads; i++) {
		if (openetw_index_thread(m->index, i, &t) != ERROR_SUCCESS || t.tid == OPENETW_UNKNOWN_ID) {
			continue;
		}
		sql_build_number(b, c[0], i);
		sql_build_number(b, c[1], t.tid);
		sql_build_number(b, c[2], t.process);
		if (openetw_index_process(m->index, t.process, &p) == ERROR_SUCCESS && t.process) {
			put_id(b, c[3], p.pid);
			put_word(b, c[4], p.name);
		}
		put_word(b, c[5], t.name);
		put_index_time(b, c[6], t.start);
		put_index_time(b, c[7], t.end);
		sql_build_row(b);
	}
}

static void put_index_guid(struct sql_build *b, int column, const struct openetw_guid *from)
{
	struct guid g;
	memcpy(&g, from->bytes, sizeof g);
	sql_build_guid(b, column, &g);
}

static void event_types(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {sql_build_column(b, "type", SQL_TYPE_U32),    sql_build_column(b, "provider", SQL_TYPE_TEXT),
		   sql_build_column(b, "event", SQL_TYPE_TEXT),  sql_build_column(b, "provider_guid", SQL_TYPE_UUID),
		   sql_build_column(b, "id", SQL_TYPE_U16),      sql_build_column(b, "version", SQL_TYPE_U8),
		   sql_build_column(b, "channel", SQL_TYPE_U8),  sql_build_column(b, "level", SQL_TYPE_U8),
		   sql_build_column(b, "opcode", SQL_TYPE_U8),   sql_build_column(b, "task", SQL_TYPE_U16),
		   sql_build_column(b, "keyword", SQL_TYPE_U64), sql_build_column(b, "classic", SQL_TYPE_BOOL),
		   sql_build_column(b, "events", SQL_TYPE_U64)};
	struct openetw_index_type t = {.size = sizeof t};
	for (uint32_t i = 0; i < m->about.types; i++) {
		if (openetw_index_type(m->index, i, &t) != ERROR_SUCCESS || t.rows == 0) {
			continue;
		}
		uint64_t v[] = {t.id, t.version, t.channel, t.level, t.opcode, t.task, t.keyword, t.classic, t.rows};
		sql_build_number(b, c[0], i);
		sql_put_string(b, c[1], t.provider);
		sql_put_string(b, c[2], t.name);
		put_index_guid(b, c[3], &t.provider_guid);
		for (size_t j = 0; j < BASE_ARRAY_LEN(v); j++) {
			sql_build_number(b, c[4 + j], v[j]);
		}
		sql_build_row(b);
	}
}

struct provider {
	struct openetw_guid guid;
	const char *name;
	uint64_t types, rows;
};

static int by_provider(const void *a, const void *b)
{
	const struct provider *x = a, *y = b;
	int r = strcmp(x->name, y->name);
	return r ? r : memcmp(&x->guid, &y->guid, sizeof x->guid);
}

static void providers(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {sql_build_column(b, "provider", SQL_TYPE_TEXT), sql_build_column(b, "provider_guid", SQL_TYPE_UUID),
		   sql_build_column(b, "event_types", SQL_TYPE_U32), sql_build_column(b, "events", SQL_TYPE_U64)};
	struct provider *list = calloc(m->about.types + 1u, sizeof *list);
	uint32_t n = 0;
	struct openetw_index_type t = {.size = sizeof t};
	for (uint32_t i = 0; list && i < m->about.types; i++) {
		if (openetw_index_type(m->index, i, &t) == ERROR_SUCCESS && t.rows) {
			list[n++] = (struct provider){t.provider_guid, t.provider, 1, t.rows};
		}
	}
	if (list) {
		qsort(list, n, sizeof *list, by_provider);
	}
	for (uint32_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && by_provider(&list[i], &list[j]) == 0; j++) {
			list[i].types++;
			list[i].rows += list[j].rows;
		}
		sql_put_string(b, c[0], list[i].name);
		put_index_guid(b, c[1], &list[i].guid);
		sql_build_number(b, c[2], list[i].types);
		sql_build_number(b, c[3], list[i].rows);
		sql_build_row(b);
	}
	free(list);
}

/* ---- images --------------------------------------------------------------------------------------- */

struct images {
	struct sql_maker *m;
	struct sql_build *b;
	int c[12];
	struct map seen; /* by a hash of what tells images apart: of two that share one, one is left out */
};

static void put_image(void *context, const EVENT_RECORD *e)
{
	struct images *t = context;
	struct openetw_event_origin o = {.size = sizeof o};
	struct openetw_module k = {.size = sizeof k};
	const struct kernel_payload in = {e->UserData, e->UserDataLength,
					  e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	if (kernel_class_group(&e->EventHeader.ProviderId) != KERNEL_GROUP_IMAGE) {
		return;
	}
	uint64_t base = kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE);
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS ||
	    openetw_state_module(t->m->state, o.subject_pid, base, time, &k) != ERROR_SUCCESS) {
		return;
	}
	uint64_t key[] = {k.base, k.pid, k.load_time, t->m->file}, hash = map_hash(&t->seen, key, sizeof key);
	if (map_find(&t->seen, hash) != MAP_NONE) {
		return;
	}
	if (map_add(&t->seen, hash, 0) < 0) {
		t->m->failed = true;
		return;
	}
	struct sql_build *b = t->b;
	uint32_t process = sql_make_process(t->m, k.pid, time);
	sql_build_number(b, t->c[0], process);
	put_id(b, t->c[1], k.pid);
	sql_put_string(b, t->c[2], sql_make_process_name(t->m, process));
	sql_put_string(b, t->c[3], k.name);
	sql_put_string(b, t->c[4], k.path);
	sql_build_number(b, t->c[5], k.base);
	sql_build_number(b, t->c[6], k.bytes);
	put_time(t->m, b, t->c[7], k.load_time);
	put_time(t->m, b, t->c[8], k.unload_time);
	if (k.build_guid) {
		put_index_guid(b, t->c[9], k.build_guid);
		sql_build_number(b, t->c[10], k.build_age);
	}
	sql_put_string(b, t->c[11], k.symbol_file);
	sql_build_row(b);
}

struct sql_build *sql_make_images(struct sql_maker *m, char *why, size_t cap)
{
	static const struct {
		const char *name;
		enum sql_type type;
	} columns[] = {{"process", SQL_TYPE_U32},     {"pid", SQL_TYPE_U32},       {"process_name", SQL_TYPE_TEXT},
		       {"module", SQL_TYPE_TEXT},     {"path", SQL_TYPE_TEXT},     {"base", SQL_TYPE_U64},
		       {"size", SQL_TYPE_U64},        {"load", SQL_TYPE_I64},      {"unload", SQL_TYPE_I64},
		       {"build_guid", SQL_TYPE_UUID}, {"build_age", SQL_TYPE_U32}, {"symbol_file", SQL_TYPE_TEXT}};
	struct images t = {.m = m, .b = sql_build_create()};
	bool ok = t.b != NULL;
	for (size_t i = 0; ok && i < BASE_ARRAY_LEN(columns); i++) {
		t.c[i] = sql_build_column(t.b, columns[i].name, columns[i].type);
	}
	if (!ok) {
		snprintf(why, cap, "no memory");
	}
	ok = ok && sql_make_pass(m, put_image, &t, why, cap);
	map_free(&t.seen);
	if (!ok) {
		sql_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}

/* ---- stacks --------------------------------------------------------------------------------------- */

/* False: nobody has this stack. */
static bool use_of(struct sql_maker *m, uint32_t stack, struct sql_stack_use *ret, struct openetw_index_process *p)
{
	*ret = m->stack_uses[stack];
	p->size = sizeof *p;
	return ret->events > 0 && openetw_index_process(m->index, ret->process, p) == ERROR_SUCCESS;
}

static void stacks(struct sql_maker *m, struct sql_build *b)
{
	int id = sql_build_column(b, "stack", SQL_TYPE_U32), process = sql_build_column(b, "process", SQL_TYPE_U32);
	int pid = sql_build_column(b, "pid", SQL_TYPE_U32), name = sql_build_column(b, "process_name", SQL_TYPE_TEXT);
	int frames = sql_build_column(b, "frames", SQL_TYPE_U32), events = sql_build_column(b, "events", SQL_TYPE_U64);
	struct openetw_index_process p;
	struct sql_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		if (!use_of(m, i, &u, &p)) {
			continue;
		}
		sql_build_number(b, id, i);
		sql_build_number(b, process, u.process);
		if (u.process) {
			put_id(b, pid, p.pid);
			put_word(b, name, p.name);
		}
		sql_build_number(b, frames, openetw_index_stack(m->index, i, NULL, 0));
		sql_build_number(b, events, u.events);
		sql_build_row(b);
	}
}

/* Names of the same address of a process are found once. */
struct name {
	uint32_t process;
	uint64_t address;
	char *text;
};
struct known {
	struct name *names;
	uint32_t count, cap;
	struct map of;
};

#define FRAMES_MAX 1024u

/* The name of a frame; `addresses` are those of the stack. */
static const char *name_of(struct sql_maker *m, struct known *n, const struct sql_stack_use *s, uint32_t pid,
			   const uint64_t *addresses, uint32_t frame)
{
	char text[1024];
	uint64_t address = names_frame(addresses, frame, true);
	uint64_t key = map_mix(address ^ 0x9E3779B97F4A7C15ull, s->process + 1ull);
	MAP_EACH(&n->of, key, at) {
		const struct name *k = &n->names[map_value(&n->of, at)];
		if (k->address == address && k->process == s->process) {
			return k->text;
		}
	}
	names_of(&m->names, pid, address, sql_make_filetime(m, s->time), text, sizeof text);
	char *copy = strdup(text);
	if (!copy || n->count == UINT32_MAX - 1) {
		free(copy);
		return NULL;
	}
	size_t cap = n->cap;
	if (n->count == n->cap) {
		cap = cap ? cap * 2 : 1024;
		struct name *more = realloc(n->names, cap * sizeof *more);
		if (!more) {
			free(copy);
			return NULL;
		}
		n->names = more;
		n->cap = (uint32_t)cap;
	}
	if (map_add(&n->of, key, n->count) < 0) {
		free(copy);
		return NULL;
	}
	n->names[n->count++] = (struct name){s->process, address, copy};
	return copy;
}

static void forget_names(struct known *n)
{
	for (uint32_t i = 0; i < n->count; i++) {
		free(n->names[i].text);
	}
	free(n->names);
	map_free(&n->of);
}

static void put_name(struct sql_build *b, int module, int function, const char *text)
{
	const char *bang = text ? strchr(text, '!') : NULL;
	sql_put_string(b, function, text);
	if (bang && bang > text && text[0] != '?') {
		sql_build_text(b, module, text, (size_t)(bang - text));
	}
}

static void frames(struct sql_maker *m, struct sql_build *b)
{
	static uint64_t addresses[FRAMES_MAX];
	int id = sql_build_column(b, "stack", SQL_TYPE_U32), depth = sql_build_column(b, "depth", SQL_TYPE_U32);
	int address = sql_build_column(b, "address", SQL_TYPE_U64),
	    module = sql_build_column(b, "module", SQL_TYPE_TEXT);
	int function = sql_build_column(b, "function", SQL_TYPE_TEXT);
	struct known n = {0};
	struct openetw_index_process p;
	struct sql_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		uint32_t count = use_of(m, i, &u, &p) ? openetw_index_stack(m->index, i, addresses, FRAMES_MAX) : 0;
		for (uint32_t j = 0; j < BASE_MIN(count, FRAMES_MAX); j++) {
			sql_build_number(b, id, i);
			sql_build_number(b, depth, j);
			sql_build_number(b, address, addresses[j]);
			put_name(b, module, function, name_of(m, &n, &u, p.pid, addresses, j));
			sql_build_row(b);
		}
	}
	forget_names(&n);
}

static void symbols(struct sql_maker *m, struct sql_build *b)
{
	static uint64_t addresses[FRAMES_MAX];
	int process = sql_build_column(b, "process", SQL_TYPE_U32),
	    name = sql_build_column(b, "process_name", SQL_TYPE_TEXT);
	int address = sql_build_column(b, "address", SQL_TYPE_U64),
	    module = sql_build_column(b, "module", SQL_TYPE_TEXT);
	int function = sql_build_column(b, "function", SQL_TYPE_TEXT);
	struct known n = {0};
	struct openetw_index_process p = {.size = sizeof p};
	struct sql_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		uint32_t count = use_of(m, i, &u, &p) ? openetw_index_stack(m->index, i, addresses, FRAMES_MAX) : 0;
		for (uint32_t j = 0; j < BASE_MIN(count, FRAMES_MAX); j++) {
			name_of(m, &n, &u, p.pid, addresses, j);
		}
	}
	for (uint32_t i = 0; i < n.count; i++) {
		sql_build_number(b, process, n.names[i].process);
		sql_put_string(b, name, sql_make_process_name(m, n.names[i].process));
		sql_build_number(b, address, n.names[i].address);
		put_name(b, module, function, n.names[i].text);
		sql_build_row(b);
	}
	forget_names(&n);
}

/* ---- the trace ------------------------------------------------------------------------------------ */

struct file_row {
	EVENT_TRACE_LOGFILEA file;
	TRACEHANDLE handle;
};

static bool open_file(struct sql_maker *m, int i, struct file_row *ret)
{
	*ret = (struct file_row){.file = {.LogFileName = (char *)(uintptr_t)m->plain[i]}};
	ret->file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	ret->handle = OpenTraceA(&ret->file);
	return ret->handle != INVALID_PROCESSTRACE_HANDLE;
}

static void trace(struct sql_maker *m, struct sql_build *b)
{
	static const char *const numbers[] = {"events_lost", "buffers_lost", "buffers", "processors"};
	int file = sql_build_column(b, "file", SQL_TYPE_TEXT),
	    start_text = sql_build_column(b, "start_time", SQL_TYPE_TEXT);
	int start = sql_build_column(b, "start", SQL_TYPE_I64), stop = sql_build_column(b, "stop", SQL_TYPE_I64);
	int first = sql_build_column(b, "first", SQL_TYPE_I64), last = sql_build_column(b, "last", SQL_TYPE_I64);
	int events = sql_build_column(b, "events", SQL_TYPE_U64), c[BASE_ARRAY_LEN(numbers)];
	for (size_t i = 0; i < BASE_ARRAY_LEN(numbers); i++) {
		c[i] = sql_build_column(b, numbers[i], SQL_TYPE_U64);
	}
	int unknown = sql_build_column(b, "lost_unknown", SQL_TYPE_TEXT);
	for (int i = 0; i < m->count; i++) {
		struct file_row f;
		char why[160], when[TIME_TEXT_SIZE];
		if (!open_file(m, i, &f)) {
			continue;
		}
		const TRACE_LOGFILE_HEADER *h = &f.file.LogfileHeader;
		sql_put_string(b, file, m->files[i]);
		format_time((uint64_t)h->StartTime.QuadPart, false, when);
		sql_put_string(b, start_text, when);
		put_time(m, b, start, (uint64_t)h->StartTime.QuadPart);
		put_time(m, b, stop, (uint64_t)h->EndTime.QuadPart);
		struct index_share x;
		if (index_share_of(m->index, (uint32_t)i, &x)) {
			if (x.store->about->rows) {
				sql_build_number(b, first, (uint64_t)(x.store->about->first + x.offset));
				sql_build_number(b, last, (uint64_t)(x.store->about->last + x.offset));
			}
			sql_build_number(b, events, x.store->about->rows);
		}
		sql_build_number(b, c[0], h->EventsLost);
		sql_build_number(b, c[1], h->BuffersLost);
		sql_build_number(b, c[2], h->BuffersWritten);
		sql_build_number(b, c[3], h->NumberOfProcessors);
		cli_trace_unknown(f.handle, why, sizeof why);
		sql_put_string(b, unknown, why[0] ? why : NULL);
		sql_build_row(b);
		CloseTrace(f.handle);
	}
}

static void no_event(PEVENT_RECORD e)
{
	(void)e;
}

/* Losses are known when the file was read. */
static void lost(struct sql_maker *m, struct sql_build *b)
{
	static const char *const kinds[] = {
		"?", "events", "buffers", "parts put aside", "buffers missing", "overwritten", "latest loss"};
	int file = sql_build_column(b, "file", SQL_TYPE_TEXT), kind = sql_build_column(b, "kind", SQL_TYPE_TEXT);
	int from = sql_build_column(b, "start", SQL_TYPE_I64), to = sql_build_column(b, "stop", SQL_TYPE_I64);
	int cpu = sql_build_column(b, "cpu", SQL_TYPE_U32), count = sql_build_column(b, "count", SQL_TYPE_U64);
	for (int i = 0; i < m->count; i++) {
		struct file_row f;
		struct openetw_loss_range l = {.size = sizeof l};
		if (!open_file(m, i, &f)) {
			continue;
		}
		CloseTrace(f.handle);
		f.file.EventRecordCallback = no_event;
		f.handle = OpenTraceA(&f.file);
		if (f.handle == INVALID_PROCESSTRACE_HANDLE) {
			continue;
		}
		(void)openetw_trace_process(&f.handle, 1, 0, UINT64_MAX);
		while (openetw_trace_next_loss(f.handle, &l) == ERROR_SUCCESS) {
			sql_put_string(b, file, m->files[i]);
			sql_put_string(b, kind, kinds[l.kind < BASE_ARRAY_LEN(kinds) ? l.kind : 0]);
			put_time(m, b, from, l.from);
			put_time(m, b, to, l.to);
			put_id(b, cpu, l.processor);
			if (l.count) {
				sql_build_number(b, count, l.count);
			}
			sql_build_row(b);
		}
		CloseTrace(f.handle);
	}
}

struct sql_build *sql_make_who(struct sql_maker *m, const char *name, char *why, size_t cap)
{
	static const struct {
		const char *name;
		void (*make)(struct sql_maker *m, struct sql_build *b);
	} tables[] = {{"processes", processes}, {"threads", threads}, {"event_types", event_types},
		      {"providers", providers}, {"stacks", stacks},   {"frames", frames},
		      {"symbols", symbols},     {"trace", trace},     {"lost", lost}};
	struct sql_build *b = sql_build_create();
	if (!b) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	bool named = strcmp(name, "frames") == 0 || strcmp(name, "symbols") == 0;
	if (named && !sql_make_state(m, why, cap)) {
		sql_build_destroy(b);
		return NULL;
	}
	if ((named || strcmp(name, "stacks") == 0) && !sql_make_stack_uses(m)) {
		snprintf(why, cap, "no memory");
		sql_build_destroy(b);
		return NULL;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		if (strcmp(tables[i].name, name) == 0) {
			tables[i].make(m, b);
		}
	}
	return b;
}
