/* SPDX-License-Identifier: MIT
 * Tables: what the index knows: processes, threads, images, types of events, stacks; the trace itself and its losses.
 */
#include "tools/tables/table_make.h"
#include "tools/tables/table_names.h"

#include "base/parse.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "query/query_share.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <stdlib.h>

/* A time that may be before or after the trace. */
static void put_time(struct table_maker *m, struct table_build *b, int column, uint64_t time)
{
	if (time != 0 && time != UINT64_MAX) {
		table_build_number(b, column, (uint64_t)table_make_time(m, time));
	}
}

static void put_id(struct table_build *b, int column, uint32_t id)
{
	if (id != OPENETW_UNKNOWN_ID) {
		table_build_number(b, column, id);
	}
}

/* One of the index, likewise. */
static void put_index_time(struct table_build *b, int column, int64_t time)
{
	if (time != INT64_MIN && time != INT64_MAX) {
		table_build_number(b, column, (uint64_t)time);
	}
}

static void put_word(struct table_build *b, int column, const char *s)
{
	table_put_string(b, column, s && s[0] ? s : NULL);
}

static void processes(struct table_maker *m, struct table_build *b)
{
	int c[] = {table_build_column(b, "process", SQL_TYPE_U32),
		   table_build_column(b, "pid", SQL_TYPE_U32),
		   table_build_column(b, "parent_pid", SQL_TYPE_U32),
		   table_build_column(b, "process_name", SQL_TYPE_TEXT),
		   table_build_column(b, "command_line", SQL_TYPE_TEXT),
		   table_build_column(b, "session_id", SQL_TYPE_U32),
		   table_build_column(b, "start", SQL_TYPE_I64),
		   table_build_column(b, "stop", SQL_TYPE_I64),
		   table_build_column(b, "exit_code", SQL_TYPE_I32),
		   table_build_column(b, "container", SQL_TYPE_TEXT),
		   table_build_column(b, "file", SQL_TYPE_U16)};
	struct openetw_index_process p = {.size = sizeof p};
	for (uint32_t i = 1; i < m->about.processes; i++) {
		if (openetw_index_process(m->index, i, &p) != ERROR_SUCCESS || p.pid == OPENETW_UNKNOWN_ID) {
			continue;
		}
		table_build_number(b, c[0], i);
		table_build_number(b, c[1], p.pid);
		if (p.name[0]) { /* the trace has told about it */
			put_id(b, c[2], p.parent_pid);
			put_id(b, c[5], p.session_id);
		}
		put_word(b, c[3], p.name);
		put_word(b, c[4], p.command_line);
		put_index_time(b, c[6], p.start);
		put_index_time(b, c[7], p.end);
		if (p.has_exit_code) {
			table_build_number(b, c[8], (uint64_t)p.exit_code);
		}
		put_word(b, c[9], p.container);
		table_build_number(b, c[10], p.file);
		table_build_row(b);
	}
}

/* Processes that began or ended in the trace. */
static void lifetimes(struct table_maker *m, struct table_build *b)
{
	int start = table_build_column(b, "start", SQL_TYPE_I64), stop = table_build_column(b, "stop", SQL_TYPE_I64);
	int duration = table_build_column(b, "duration", SQL_TYPE_U64);
	int process = table_build_column(b, "process", SQL_TYPE_U32), pid = table_build_column(b, "pid", SQL_TYPE_U32);
	int name = table_build_column(b, "process_name", SQL_TYPE_TEXT);
	int parent_pid = table_build_column(b, "parent_pid", SQL_TYPE_U32),
	    parent_name = table_build_column(b, "parent_name", SQL_TYPE_TEXT);
	int exit_code = table_build_column(b, "exit_code", SQL_TYPE_I32);
	int command_line = table_build_column(b, "command_line", SQL_TYPE_TEXT);
	int container = table_build_column(b, "container", SQL_TYPE_TEXT);
	struct openetw_index_process p = {.size = sizeof p};
	for (uint32_t i = 1; i < m->about.processes; i++) {
		if (openetw_index_process(m->index, i, &p) != ERROR_SUCCESS || p.pid == OPENETW_UNKNOWN_ID ||
		    (p.start == INT64_MIN && p.end == INT64_MAX)) {
			continue;
		}
		put_index_time(b, start, p.start);
		put_index_time(b, stop, p.end);
		if (p.start != INT64_MIN && p.end != INT64_MAX && p.end >= p.start) {
			table_build_number(b, duration, (uint64_t)p.end - (uint64_t)p.start);
		}
		table_build_number(b, process, i);
		table_build_number(b, pid, p.pid);
		put_word(b, name, p.name);
		put_id(b, parent_pid, p.parent_pid);
		if (p.start != INT64_MIN && p.parent_pid != OPENETW_UNKNOWN_ID) {
			m->file = p.file;
			uint32_t parent = table_make_process(m, p.parent_pid, table_make_filetime(m, p.start));
			table_put_string(b, parent_name, table_make_process_name(m, parent));
		}
		if (p.has_exit_code) {
			table_build_number(b, exit_code, (uint64_t)p.exit_code);
		}
		put_word(b, command_line, p.command_line);
		put_word(b, container, p.container);
		table_build_row(b);
	}
}

static void threads(struct table_maker *m, struct table_build *b)
{
	int c[] = {table_build_column(b, "thread", SQL_TYPE_U32),
		   table_build_column(b, "tid", SQL_TYPE_U32),
		   table_build_column(b, "process", SQL_TYPE_U32),
		   table_build_column(b, "pid", SQL_TYPE_U32),
		   table_build_column(b, "process_name", SQL_TYPE_TEXT),
		   table_build_column(b, "thread_name", SQL_TYPE_TEXT),
		   table_build_column(b, "start", SQL_TYPE_I64),
		   table_build_column(b, "stop", SQL_TYPE_I64),
		   table_build_column(b, "container", SQL_TYPE_TEXT)};
	struct openetw_index_process p = {.size = sizeof p};
	struct openetw_index_thread t = {.size = sizeof t};
	for (uint32_t i = 1; i < m->about.threads; i++) {
		if (openetw_index_thread(m->index, i, &t) != ERROR_SUCCESS || t.tid == OPENETW_UNKNOWN_ID) {
			continue;
		}
		table_build_number(b, c[0], i);
		table_build_number(b, c[1], t.tid);
		table_build_number(b, c[2], t.process);
		if (openetw_index_process(m->index, t.process, &p) == ERROR_SUCCESS && t.process) {
			put_id(b, c[3], p.pid);
			put_word(b, c[4], p.name);
			put_word(b, c[8], p.container);
		}
		put_word(b, c[5], t.name);
		put_index_time(b, c[6], t.start);
		put_index_time(b, c[7], t.end);
		table_build_row(b);
	}
}

static void put_index_guid(struct table_build *b, int column, const struct openetw_guid *from)
{
	struct guid g;
	memcpy(&g, from->bytes, sizeof g);
	table_build_guid(b, column, &g);
}

static void event_types(struct table_maker *m, struct table_build *b)
{
	int c[] = {
		table_build_column(b, "type", SQL_TYPE_U32),    table_build_column(b, "provider", SQL_TYPE_TEXT),
		table_build_column(b, "event", SQL_TYPE_TEXT),  table_build_column(b, "provider_guid", SQL_TYPE_UUID),
		table_build_column(b, "id", SQL_TYPE_U16),      table_build_column(b, "version", SQL_TYPE_U8),
		table_build_column(b, "channel", SQL_TYPE_U8),  table_build_column(b, "level", SQL_TYPE_U8),
		table_build_column(b, "opcode", SQL_TYPE_U8),   table_build_column(b, "task", SQL_TYPE_U16),
		table_build_column(b, "keyword", SQL_TYPE_U64), table_build_column(b, "classic", SQL_TYPE_BOOL),
		table_build_column(b, "events", SQL_TYPE_U64)};
	struct openetw_index_type t = {.size = sizeof t};
	for (uint32_t i = 0; i < m->about.types; i++) {
		if (openetw_index_type(m->index, i, &t) != ERROR_SUCCESS || t.rows == 0) {
			continue;
		}
		uint64_t v[] = {t.id, t.version, t.channel, t.level, t.opcode, t.task, t.keyword, t.classic, t.rows};
		table_build_number(b, c[0], i);
		table_put_string(b, c[1], t.provider);
		table_put_string(b, c[2], t.name);
		put_index_guid(b, c[3], &t.provider_guid);
		for (size_t j = 0; j < BASE_ARRAY_LEN(v); j++) {
			table_build_number(b, c[4 + j], v[j]);
		}
		table_build_row(b);
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

static void providers(struct table_maker *m, struct table_build *b)
{
	int c[] = {table_build_column(b, "provider", SQL_TYPE_TEXT),
		   table_build_column(b, "provider_guid", SQL_TYPE_UUID),
		   table_build_column(b, "event_types", SQL_TYPE_U32), table_build_column(b, "events", SQL_TYPE_U64)};
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
		table_put_string(b, c[0], list[i].name);
		put_index_guid(b, c[1], &list[i].guid);
		table_build_number(b, c[2], list[i].types);
		table_build_number(b, c[3], list[i].rows);
		table_build_row(b);
	}
	free(list);
}

/* ---- images --------------------------------------------------------------------------------------- */

struct images {
	struct table_maker *m;
	struct table_build *b;
	int c[13];
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
	struct table_build *b = t->b;
	uint32_t process = table_make_process(t->m, k.pid, time);
	table_build_number(b, t->c[0], process);
	put_id(b, t->c[1], k.pid);
	table_put_string(b, t->c[2], table_make_process_name(t->m, process));
	table_put_string(b, t->c[3], k.name);
	table_put_string(b, t->c[4], k.path);
	table_build_number(b, t->c[5], k.base);
	table_build_number(b, t->c[6], k.bytes);
	put_time(t->m, b, t->c[7], k.load_time);
	put_time(t->m, b, t->c[8], k.unload_time);
	if (k.build_guid) {
		put_index_guid(b, t->c[9], k.build_guid);
		table_build_number(b, t->c[10], k.build_age);
	}
	table_put_string(b, t->c[11], k.symbol_file);
	table_put_string(b, t->c[12], table_make_container(t->m, process));
	table_build_row(b);
}

struct table_build *table_make_images(struct table_maker *m, char *why, size_t cap)
{
	static const struct {
		const char *name;
		enum sql_type type;
	} columns[] = {{"process", SQL_TYPE_U32},     {"pid", SQL_TYPE_U32},       {"process_name", SQL_TYPE_TEXT},
		       {"module", SQL_TYPE_TEXT},     {"path", SQL_TYPE_TEXT},     {"base", SQL_TYPE_U64},
		       {"size", SQL_TYPE_U64},        {"load", SQL_TYPE_I64},      {"unload", SQL_TYPE_I64},
		       {"build_guid", SQL_TYPE_UUID}, {"build_age", SQL_TYPE_U32}, {"symbol_file", SQL_TYPE_TEXT},
		       {"container", SQL_TYPE_TEXT}};
	struct images t = {.m = m, .b = table_build_create()};
	bool ok = t.b != NULL;
	for (size_t i = 0; ok && i < BASE_ARRAY_LEN(columns); i++) {
		t.c[i] = table_build_column(t.b, columns[i].name, columns[i].type);
	}
	if (!ok) {
		snprintf(why, cap, "no memory");
	}
	ok = ok && table_make_pass(m, put_image, &t, why, cap);
	map_free(&t.seen);
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}

/* ---- stacks --------------------------------------------------------------------------------------- */

/* False: nobody has this stack. */
static bool use_of(struct table_maker *m, uint32_t stack, struct table_stack_use *ret, struct openetw_index_process *p)
{
	*ret = m->stack_uses[stack];
	p->size = sizeof *p;
	return ret->events > 0 && openetw_index_process(m->index, ret->process, p) == ERROR_SUCCESS;
}

static void stacks(struct table_maker *m, struct table_build *b)
{
	int id = table_build_column(b, "stack", SQL_TYPE_U32), process = table_build_column(b, "process", SQL_TYPE_U32);
	int pid = table_build_column(b, "pid", SQL_TYPE_U32),
	    name = table_build_column(b, "process_name", SQL_TYPE_TEXT);
	int frames = table_build_column(b, "frames", SQL_TYPE_U32),
	    events = table_build_column(b, "events", SQL_TYPE_U64);
	int container = table_build_column(b, "container", SQL_TYPE_TEXT);
	struct openetw_index_process p;
	struct table_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		if (!use_of(m, i, &u, &p)) {
			continue;
		}
		table_build_number(b, id, i);
		table_build_number(b, process, u.process);
		if (u.process) {
			put_id(b, pid, p.pid);
			put_word(b, name, p.name);
			put_word(b, container, p.container);
		}
		table_build_number(b, frames, openetw_index_stack(m->index, i, NULL, 0));
		table_build_number(b, events, u.events);
		table_build_row(b);
	}
}

#define FRAMES_MAX 1024u

static void frames(struct table_maker *m, struct table_build *b)
{
	uint64_t addresses[FRAMES_MAX];
	int id = table_build_column(b, "stack", SQL_TYPE_U32), depth = table_build_column(b, "depth", SQL_TYPE_U32);
	int address = table_build_column(b, "address", SQL_TYPE_U64),
	    module = table_build_column(b, "module", SQL_TYPE_TEXT);
	int function = table_build_column(b, "function", SQL_TYPE_TEXT);
	struct table_names n = {0};
	struct openetw_index_process p;
	struct table_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		uint32_t count = use_of(m, i, &u, &p) ? openetw_index_stack(m->index, i, addresses, FRAMES_MAX) : 0;
		for (uint32_t j = 0; j < BASE_MIN(count, FRAMES_MAX); j++) {
			table_build_number(b, id, i);
			table_build_number(b, depth, j);
			table_build_number(b, address, addresses[j]);
			table_names_put(
				b, module, function,
				table_names_text(m, &n, u.process, p.pid, names_frame(addresses, j, true), u.time));
			table_build_row(b);
		}
	}
	table_names_free(&n);
}

static void symbols(struct table_maker *m, struct table_build *b)
{
	uint64_t addresses[FRAMES_MAX];
	int process = table_build_column(b, "process", SQL_TYPE_U32),
	    name = table_build_column(b, "process_name", SQL_TYPE_TEXT);
	int address = table_build_column(b, "address", SQL_TYPE_U64),
	    module = table_build_column(b, "module", SQL_TYPE_TEXT);
	int function = table_build_column(b, "function", SQL_TYPE_TEXT),
	    container = table_build_column(b, "container", SQL_TYPE_TEXT);
	struct table_names n = {0};
	struct openetw_index_process p = {.size = sizeof p};
	struct table_stack_use u;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		uint32_t count = use_of(m, i, &u, &p) ? openetw_index_stack(m->index, i, addresses, FRAMES_MAX) : 0;
		for (uint32_t j = 0; j < BASE_MIN(count, FRAMES_MAX); j++) {
			(void)table_names_find(m, &n, u.process, p.pid, names_frame(addresses, j, true), u.time);
		}
	}
	for (uint32_t i = 0; i < n.count; i++) {
		table_build_number(b, process, n.names[i].process);
		table_put_string(b, name, table_make_process_name(m, n.names[i].process));
		table_build_number(b, address, n.names[i].address);
		table_names_put(b, module, function, n.names[i].text);
		table_put_string(b, container, table_make_container(m, n.names[i].process));
		table_build_row(b);
	}
	table_names_free(&n);
}

/* ---- the trace ------------------------------------------------------------------------------------ */

struct file_row {
	EVENT_TRACE_LOGFILEA file;
	TRACEHANDLE handle;
};

static bool open_file(struct table_maker *m, int i, struct file_row *ret)
{
	*ret = (struct file_row){.file = {.LogFileName = (char *)(uintptr_t)m->plain[i]}};
	ret->file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	ret->handle = OpenTraceA(&ret->file);
	return ret->handle != INVALID_PROCESSTRACE_HANDLE;
}

static void trace(struct table_maker *m, struct table_build *b)
{
	static const char *const numbers[] = {"events_lost", "buffers_lost", "buffers", "processors"};
	int file = table_build_column(b, "file", SQL_TYPE_TEXT),
	    start_text = table_build_column(b, "start_time", SQL_TYPE_TEXT);
	int start = table_build_column(b, "start", SQL_TYPE_I64), stop = table_build_column(b, "stop", SQL_TYPE_I64);
	int first = table_build_column(b, "first", SQL_TYPE_I64), last = table_build_column(b, "last", SQL_TYPE_I64);
	int events = table_build_column(b, "events", SQL_TYPE_U64), c[BASE_ARRAY_LEN(numbers)];
	for (size_t i = 0; i < BASE_ARRAY_LEN(numbers); i++) {
		c[i] = table_build_column(b, numbers[i], SQL_TYPE_U64);
	}
	int unknown = table_build_column(b, "lost_unknown", SQL_TYPE_TEXT);
	for (int i = 0; i < m->count; i++) {
		struct file_row f;
		char why[160], when[TIME_TEXT_SIZE];
		if (!open_file(m, i, &f)) {
			continue;
		}
		const TRACE_LOGFILE_HEADER *h = &f.file.LogfileHeader;
		table_put_string(b, file, m->files[i]);
		format_time((uint64_t)h->StartTime.QuadPart, false, when);
		table_put_string(b, start_text, when);
		put_time(m, b, start, (uint64_t)h->StartTime.QuadPart);
		put_time(m, b, stop, (uint64_t)h->EndTime.QuadPart);
		struct index_share x;
		if (index_share_of(m->index, (uint32_t)i, &x)) {
			if (x.store->about->rows) {
				table_build_number(b, first, (uint64_t)(x.store->about->first + x.offset));
				table_build_number(b, last, (uint64_t)(x.store->about->last + x.offset));
			}
			table_build_number(b, events, x.store->about->rows);
		}
		table_build_number(b, c[0], h->EventsLost);
		table_build_number(b, c[1], h->BuffersLost);
		table_build_number(b, c[2], h->BuffersWritten);
		table_build_number(b, c[3], h->NumberOfProcessors);
		cli_trace_unknown(f.handle, why, sizeof why);
		table_put_string(b, unknown, why[0] ? why : NULL);
		table_build_row(b);
		CloseTrace(f.handle);
	}
}

static void no_event(PEVENT_RECORD e)
{
	(void)e;
}

/* Losses are known when the file was read. */
static void lost(struct table_maker *m, struct table_build *b)
{
	static const char *const kinds[] = {
		"?", "events", "buffers", "parts put aside", "buffers missing", "overwritten", "latest loss"};
	int file = table_build_column(b, "file", SQL_TYPE_TEXT), kind = table_build_column(b, "kind", SQL_TYPE_TEXT);
	int from = table_build_column(b, "start", SQL_TYPE_I64), to = table_build_column(b, "stop", SQL_TYPE_I64);
	int cpu = table_build_column(b, "cpu", SQL_TYPE_U32), count = table_build_column(b, "count", SQL_TYPE_U64);
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
			table_put_string(b, file, m->files[i]);
			table_put_string(b, kind, kinds[l.kind < BASE_ARRAY_LEN(kinds) ? l.kind : 0]);
			put_time(m, b, from, l.from);
			put_time(m, b, to, l.to);
			put_id(b, cpu, l.processor);
			if (l.count) {
				table_build_number(b, count, l.count);
			}
			table_build_row(b);
		}
		CloseTrace(f.handle);
	}
}

struct table_build *table_make_who(struct table_maker *m, const char *name, char *why, size_t cap)
{
	static const struct {
		const char *name;
		void (*make)(struct table_maker *m, struct table_build *b);
	} tables[] = {{"processes", processes}, {"lifetimes", lifetimes},
		      {"threads", threads},     {"event_types", event_types},
		      {"providers", providers}, {"stacks", stacks},
		      {"frames", frames},       {"symbols", symbols},
		      {"trace", trace},         {"lost", lost}};
	struct table_build *b = table_build_create();
	if (!b) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	bool named = strcmp(name, "frames") == 0 || strcmp(name, "symbols") == 0;
	if (named && !table_make_state(m, why, cap)) {
		table_build_destroy(b);
		return NULL;
	}
	if ((named || strcmp(name, "stacks") == 0) && !table_make_stack_uses(m)) {
		snprintf(why, cap, "no memory");
		table_build_destroy(b);
		return NULL;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		if (strcmp(tables[i].name, name) == 0) {
			tables[i].make(m, b);
		}
	}
	return b;
}
