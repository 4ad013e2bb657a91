/* SPDX-License-Identifier: MIT
 * openetw sql: what the survey found: processes, threads, images, types of events, stacks; the trace itself and its losses.
 */
#include "tools/openetw/sql_make.h"

#include "base/parse.h"
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

static void processes(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {
		sql_build_column(b, "process", SQL_TYPE_U32),       sql_build_column(b, "pid", SQL_TYPE_U32),
		sql_build_column(b, "parent_pid", SQL_TYPE_U32),    sql_build_column(b, "process_name", SQL_TYPE_TEXT),
		sql_build_column(b, "command_line", SQL_TYPE_TEXT), sql_build_column(b, "session_id", SQL_TYPE_U32),
		sql_build_column(b, "start", SQL_TYPE_I64),         sql_build_column(b, "stop", SQL_TYPE_I64),
		sql_build_column(b, "events", SQL_TYPE_U64)};
	for (uint32_t i = 0; i < m->process_count; i++) {
		const struct sql_process *p = &m->processes[i];
		sql_build_number(b, c[0], i);
		put_id(b, c[1], p->pid);
		if (p->name) {
			put_id(b, c[2], p->parent_pid);
			put_id(b, c[5], p->session_id);
		}
		sql_put_string(b, c[3], p->name);
		sql_put_string(b, c[4], p->command_line);
		put_time(m, b, c[6], p->start);
		put_time(m, b, c[7], p->end);
		sql_build_number(b, c[8], p->events);
		sql_build_row(b);
	}
}

static void threads(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {
		sql_build_column(b, "thread", SQL_TYPE_U32),        sql_build_column(b, "tid", SQL_TYPE_U32),
		sql_build_column(b, "process", SQL_TYPE_U32),       sql_build_column(b, "pid", SQL_TYPE_U32),
		sql_build_column(b, "process_name", SQL_TYPE_TEXT), sql_build_column(b, "thread_name", SQL_TYPE_TEXT),
		sql_build_column(b, "start_address", SQL_TYPE_U64), sql_build_column(b, "start", SQL_TYPE_I64),
		sql_build_column(b, "stop", SQL_TYPE_I64),          sql_build_column(b, "events", SQL_TYPE_U64)};
	for (uint32_t i = 0; i < m->thread_count; i++) {
		const struct sql_thread *t = &m->threads[i];
		sql_build_number(b, c[0], i);
		put_id(b, c[1], t->tid);
		sql_build_number(b, c[2], t->process);
		put_id(b, c[3], m->processes[t->process].pid);
		sql_put_string(b, c[4], m->processes[t->process].name);
		sql_put_string(b, c[5], t->name);
		if (t->start_address) {
			sql_build_number(b, c[6], t->start_address);
		}
		put_time(m, b, c[7], t->start);
		put_time(m, b, c[8], t->end);
		sql_build_number(b, c[9], t->events);
		sql_build_row(b);
	}
}

static void images(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {
		sql_build_column(b, "process", SQL_TYPE_U32),       sql_build_column(b, "pid", SQL_TYPE_U32),
		sql_build_column(b, "process_name", SQL_TYPE_TEXT), sql_build_column(b, "module", SQL_TYPE_TEXT),
		sql_build_column(b, "path", SQL_TYPE_TEXT),         sql_build_column(b, "base", SQL_TYPE_U64),
		sql_build_column(b, "size", SQL_TYPE_U64),          sql_build_column(b, "load", SQL_TYPE_I64),
		sql_build_column(b, "unload", SQL_TYPE_I64),        sql_build_column(b, "build_guid", SQL_TYPE_UUID),
		sql_build_column(b, "build_age", SQL_TYPE_U32),     sql_build_column(b, "symbol_file", SQL_TYPE_TEXT)};
	for (uint32_t i = 0; i < m->image_count; i++) {
		const struct sql_image *k = &m->images[i];
		struct guid g;
		sql_build_number(b, c[0], k->process);
		put_id(b, c[1], k->m.pid);
		sql_put_string(b, c[2], m->processes[k->process].name);
		sql_put_string(b, c[3], k->m.name);
		sql_put_string(b, c[4], k->m.path);
		sql_build_number(b, c[5], k->m.base);
		sql_build_number(b, c[6], k->m.bytes);
		put_time(m, b, c[7], k->m.load_time);
		put_time(m, b, c[8], k->m.unload_time);
		if (k->m.build_guid) {
			memcpy(&g, k->m.build_guid, sizeof g);
			sql_build_guid(b, c[9], &g);
			sql_build_number(b, c[10], k->m.build_age);
		}
		sql_put_string(b, c[11], k->m.symbol_file);
		sql_build_row(b);
	}
}

static void event_types(struct sql_maker *m, struct sql_build *b)
{
	int c[] = {sql_build_column(b, "type", SQL_TYPE_U32),    sql_build_column(b, "provider", SQL_TYPE_TEXT),
		   sql_build_column(b, "event", SQL_TYPE_TEXT),  sql_build_column(b, "provider_guid", SQL_TYPE_UUID),
		   sql_build_column(b, "id", SQL_TYPE_U16),      sql_build_column(b, "version", SQL_TYPE_U8),
		   sql_build_column(b, "channel", SQL_TYPE_U8),  sql_build_column(b, "level", SQL_TYPE_U8),
		   sql_build_column(b, "opcode", SQL_TYPE_U8),   sql_build_column(b, "task", SQL_TYPE_U16),
		   sql_build_column(b, "keyword", SQL_TYPE_U64), sql_build_column(b, "classic", SQL_TYPE_BOOL),
		   sql_build_column(b, "events", SQL_TYPE_U64),  sql_build_column(b, "bytes", SQL_TYPE_U64)};
	for (uint32_t i = 0; i < m->type_count; i++) {
		const struct sql_event_type *t = &m->types[i];
		struct guid g;
		uint64_t v[] = {t->id,   t->version, t->channel, t->level, t->opcode,
				t->task, t->keyword, t->classic, t->rows,  t->bytes};
		memcpy(&g, &t->provider_guid, sizeof g);
		sql_build_number(b, c[0], i);
		sql_put_string(b, c[1], t->provider);
		sql_put_string(b, c[2], t->name);
		sql_build_guid(b, c[3], &g);
		for (size_t j = 0; j < BASE_ARRAY_LEN(v); j++) {
			sql_build_number(b, c[4 + j], v[j]);
		}
		sql_build_row(b);
	}
}

static void providers(struct sql_maker *m, struct sql_build *b)
{
	int name = sql_build_column(b, "provider", SQL_TYPE_TEXT),
	    guid = sql_build_column(b, "provider_guid", SQL_TYPE_UUID);
	int types = sql_build_column(b, "event_types", SQL_TYPE_U32),
	    events = sql_build_column(b, "events", SQL_TYPE_U64);
	int bytes = sql_build_column(b, "bytes", SQL_TYPE_U64);
	bool *done = calloc(m->type_count + 1, sizeof *done);
	for (uint32_t i = 0; done && i < m->type_count; i++) {
		struct guid g;
		uint32_t n = 0;
		uint64_t rows = 0, all = 0;
		if (done[i]) {
			continue;
		}
		for (uint32_t j = i; j < m->type_count; j++) {
			const struct sql_event_type *t = &m->types[j];
			if (!done[j] && strcmp(t->provider, m->types[i].provider) == 0 &&
			    memcmp(&t->provider_guid, &m->types[i].provider_guid, sizeof(GUID)) == 0) {
				done[j] = true;
				n++;
				rows += t->rows;
				all += t->bytes;
			}
		}
		memcpy(&g, &m->types[i].provider_guid, sizeof g);
		sql_put_string(b, name, m->types[i].provider);
		sql_build_guid(b, guid, &g);
		sql_build_number(b, types, n);
		sql_build_number(b, events, rows);
		sql_build_number(b, bytes, all);
		sql_build_row(b);
	}
	free(done);
}

/* ---- stacks --------------------------------------------------------------------------------------- */

static void stacks(struct sql_maker *m, struct sql_build *b)
{
	int id = sql_build_column(b, "stack", SQL_TYPE_U32), process = sql_build_column(b, "process", SQL_TYPE_U32);
	int pid = sql_build_column(b, "pid", SQL_TYPE_U32), name = sql_build_column(b, "process_name", SQL_TYPE_TEXT);
	int frames = sql_build_column(b, "frames", SQL_TYPE_U32), events = sql_build_column(b, "events", SQL_TYPE_U64);
	for (uint32_t i = 1; i < m->stack_count; i++) {
		sql_build_number(b, id, i);
		sql_build_number(b, process, m->stacks[i].process);
		put_id(b, pid, m->stacks[i].pid);
		sql_put_string(b, name, m->processes[m->stacks[i].process].name);
		sql_build_number(b, frames, m->stacks[i].count);
		sql_build_number(b, events, m->stacks[i].events);
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

static const char *name_of(struct sql_maker *m, struct known *n, const struct sql_stack *s, uint32_t frame)
{
	char text[1024];
	uint64_t address = names_frame(m->addresses + s->at, frame, true);
	uint64_t key = map_mix(address ^ 0x9E3779B97F4A7C15ull, s->process + 1ull);
	MAP_EACH(&n->of, key, at) {
		const struct name *k = &n->names[map_value(&n->of, at)];
		if (k->address == address && k->process == s->process) {
			return k->text;
		}
	}
	names_of(&m->names, s->pid, address, s->time, text, sizeof text);
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
	int id = sql_build_column(b, "stack", SQL_TYPE_U32), depth = sql_build_column(b, "depth", SQL_TYPE_U32);
	int address = sql_build_column(b, "address", SQL_TYPE_U64),
	    module = sql_build_column(b, "module", SQL_TYPE_TEXT);
	int function = sql_build_column(b, "function", SQL_TYPE_TEXT);
	struct known n = {0};
	for (uint32_t i = 1; i < m->stack_count; i++) {
		for (uint32_t j = 0; j < m->stacks[i].count; j++) {
			sql_build_number(b, id, i);
			sql_build_number(b, depth, j);
			sql_build_number(b, address, m->addresses[m->stacks[i].at + j]);
			put_name(b, module, function, name_of(m, &n, &m->stacks[i], j));
			sql_build_row(b);
		}
	}
	forget_names(&n);
}

static void symbols(struct sql_maker *m, struct sql_build *b)
{
	int process = sql_build_column(b, "process", SQL_TYPE_U32),
	    name = sql_build_column(b, "process_name", SQL_TYPE_TEXT);
	int address = sql_build_column(b, "address", SQL_TYPE_U64),
	    module = sql_build_column(b, "module", SQL_TYPE_TEXT);
	int function = sql_build_column(b, "function", SQL_TYPE_TEXT);
	struct known n = {0};
	for (uint32_t i = 1; i < m->stack_count; i++) {
		for (uint32_t j = 0; j < m->stacks[i].count; j++) {
			name_of(m, &n, &m->stacks[i], j);
		}
	}
	for (uint32_t i = 0; i < n.count; i++) {
		sql_build_number(b, process, n.names[i].process);
		sql_put_string(b, name, m->processes[n.names[i].process].name);
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
	*ret = (struct file_row){.file = {.LogFileName = (char *)(uintptr_t)cli_unpacked(m->args, m->files[i])}};
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
		if (m->rows) { /* of all files together */
			put_time(m, b, first, m->first);
			put_time(m, b, last, m->last);
		}
		sql_build_number(b, events, m->rows);
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
	} tables[] = {{"processes", processes}, {"threads", threads}, {"images", images}, {"event_types", event_types},
		      {"providers", providers}, {"stacks", stacks},   {"frames", frames}, {"symbols", symbols},
		      {"trace", trace},         {"lost", lost}};
	struct sql_build *b = sql_build_create();
	if (!b) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		if (strcmp(tables[i].name, name) == 0) {
			tables[i].make(m, b);
		}
	}
	return b;
}
