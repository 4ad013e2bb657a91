/* SPDX-License-Identifier: MIT
 * What all tables of openetw sql stand on: reading, and the survey.
 */
#include "tools/openetw/sql_make.h"

#include "base/vec.h"
#include "etw/values/guids.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <stdlib.h>

#define MOST (1u << 28) /* of each kind; memory ends before */

/* ---- the files ------------------------------------------------------------------------------------ */

bool sql_maker_open(struct sql_maker *m, const struct cli_args *a, int count, char **files)
{
	m->args = a;
	m->files = files;
	m->count = count;
	m->start = UINT64_MAX;
	for (int i = 0; i < count; i++) {
		EVENT_TRACE_LOGFILEA f = {.LogFileName = (char *)(uintptr_t)cli_unpacked(a, files[i])};
		f.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		TRACEHANDLE h = f.LogFileName ? OpenTraceA(&f) : INVALID_PROCESSTRACE_HANDLE;
		if (h == INVALID_PROCESSTRACE_HANDLE) {
			if (f.LogFileName) {
				cli_fail(a, GetLastError(), "cannot open %s", files[i]);
			}
			return false;
		}
		m->start = BASE_MIN(m->start, (uint64_t)f.LogfileHeader.StartTime.QuadPart);
		if (i == 0) {
			m->ticks_per_second = (uint64_t)f.LogfileHeader.PerfFreq.QuadPart;
			m->names.kernel = cli_kallsyms_load((uint64_t)f.LogfileHeader.BootTime.QuadPart);
		}
		CloseTrace(h);
	}
	m->state = openetw_state_create(OPENETW_STATE_STACKS);
	m->decoder = openetw_decoder_create();
	m->names.state = m->state;
	if (!m->state || !m->decoder) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
		return false;
	}
	return true;
}

void sql_maker_close(struct sql_maker *m)
{
	openetw_state_destroy(m->state);
	openetw_decoder_destroy(m->decoder);
	cli_kallsyms_free(m->names.kernel);
	for (uint32_t i = 0; i < m->type_count; i++) {
		free(m->types[i].provider);
		free(m->types[i].name);
	}
	free(m->processes);
	free(m->threads);
	free(m->images);
	free(m->types);
	free(m->stacks);
	free(m->addresses);
	map_free(&m->process_of);
	map_free(&m->thread_of);
	map_free(&m->image_of);
	map_free(&m->type_of);
	map_free(&m->stack_of);
}

struct pass {
	sql_event_fn fn;
	void *context;
	struct cli_progress progress;
	uint64_t buffers, events, total;
};

static bool on_read_ahead(void *context, uint32_t done, uint32_t total)
{
	struct pass *p = context;
	cli_progress_show(&p->progress, "%3u%%  reading processes and modules",
			  (unsigned)(100ull * done / (total ? total : 1)));
	return !cli_signal_caught();
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	struct pass *p = f->Context;
	p->buffers++;
	cli_progress_show(&p->progress, "%3u%%  reading %llu events",
			  (unsigned)(p->total ? BASE_MIN(100 * p->buffers / p->total, (uint64_t)100) : 0),
			  (unsigned long long)p->events);
	return !cli_signal_caught();
}

static VOID WINAPI on_event(PEVENT_RECORD e)
{
	struct pass *p = e->UserContext;
	if (!cli_is_header(e)) {
		p->events++;
		p->fn(p->context, e);
	}
}

/* What a file tells of processes, modules and files stands at its end as often as not. */
static uint32_t read_ahead(struct sql_maker *m, struct pass *p)
{
	uint32_t code = ERROR_SUCCESS;
	for (int i = 0; i < m->count && !m->read_ahead && code == ERROR_SUCCESS; i++) {
		code = openetw_state_read_file(m->state, cli_unpacked(m->args, m->files[i]), on_read_ahead, p);
	}
	m->read_ahead = code == ERROR_SUCCESS;
	return code;
}

bool sql_make_pass(struct sql_maker *m, sql_event_fn fn, void *context, char *why, size_t cap)
{
	static TRACEHANDLE handles[CLI_TRACE_FILES_MAX];
	static EVENT_TRACE_LOGFILEA files[CLI_TRACE_FILES_MAX];
	struct pass p = {.fn = fn, .context = context};
	int open = 0;
	cli_progress_start(&p.progress, true);
	uint32_t code = read_ahead(m, &p);
	for (; open < m->count && code == ERROR_SUCCESS; open++) {
		EVENT_TRACE_LOGFILEA *f = &files[open];
		*f = (EVENT_TRACE_LOGFILEA){.LogFileName = (char *)(uintptr_t)cli_unpacked(m->args, m->files[open]),
					    .Context = &p,
					    .EventRecordCallback = on_event,
					    .BufferCallback = on_buffer};
		f->ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		handles[open] = OpenTraceA(f);
		if (handles[open] == INVALID_PROCESSTRACE_HANDLE) {
			code = GetLastError();
			break;
		}
		p.total += f->LogfileHeader.BuffersWritten;
		openetw_state_attach(m->state, handles[open]);
	}
	if (code == ERROR_SUCCESS) {
		code = openetw_trace_process(handles, (uint32_t)m->count, 0, UINT64_MAX);
	}
	while (open-- > 0) {
		CloseTrace(handles[open]);
	}
	cli_progress_end(&p.progress);
	if (cli_signal_caught()) {
		snprintf(why, cap, "the reading of the trace was interrupted");
		return false;
	}
	if (code != ERROR_SUCCESS || m->failed) {
		snprintf(why, cap, "the trace cannot be read: %s", m->failed ? "no memory" : openetw_last_error_text());
		return false;
	}
	return true;
}

/* ---- the survey ----------------------------------------------------------------------------------- */

static uint32_t add_process(struct sql_maker *m, uint32_t pid, uint64_t time)
{
	struct openetw_process p = {.size = sizeof p};
	if (pid == OPENETW_UNKNOWN_ID) {
		return 0;
	}
	bool known = openetw_state_process(m->state, pid, time, &p) == ERROR_SUCCESS;
	uint64_t start = known ? p.start_time : 0, key = map_mix(pid + 1ull, start + 0x9E3779B97F4A7C15ull);
	MAP_EACH(&m->process_of, key, at) {
		uint32_t i = (uint32_t)map_value(&m->process_of, at);
		if (m->processes[i].pid == pid && m->processes[i].start == start) {
			return i;
		}
	}
	if (m->surveyed || !VEC_ROOM_UP_TO(m->processes, m->process_count, m->process_cap, MOST) ||
	    map_add(&m->process_of, key, m->process_count) < 0) {
		m->failed = m->failed || !m->surveyed;
		return 0;
	}
	m->processes[m->process_count] =
		(struct sql_process){.pid = pid,
				     .parent_pid = known ? p.parent_pid : 0,
				     .session_id = known ? p.session_id : 0,
				     .start = start,
				     .end = known ? p.end_time : UINT64_MAX,
				     .name = known && p.name[0] ? p.name : NULL,
				     .command_line = known && p.command_line[0] ? p.command_line : NULL};
	return m->process_count++;
}

uint32_t sql_make_process(struct sql_maker *m, uint32_t pid, uint64_t time)
{
	return add_process(m, pid, time);
}

uint32_t sql_make_thread(struct sql_maker *m, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	if (tid == OPENETW_UNKNOWN_ID) {
		return 0;
	}
	bool known = openetw_state_thread(m->state, tid, time, &t) == ERROR_SUCCESS;
	uint64_t start = known ? t.start_time : 0, key = map_mix(tid + 1ull, start + 0x9E3779B97F4A7C15ull);
	MAP_EACH(&m->thread_of, key, at) {
		uint32_t i = (uint32_t)map_value(&m->thread_of, at);
		if (m->threads[i].tid == tid && m->threads[i].start == start) {
			return i;
		}
	}
	if (m->surveyed || !VEC_ROOM_UP_TO(m->threads, m->thread_count, m->thread_cap, MOST) ||
	    map_add(&m->thread_of, key, m->thread_count) < 0) {
		m->failed = m->failed || !m->surveyed;
		return 0;
	}
	m->threads[m->thread_count] = (struct sql_thread){.tid = tid,
							  .process = known ? add_process(m, t.pid, time) : 0,
							  .start = start,
							  .end = known ? t.end_time : UINT64_MAX,
							  .start_address = known ? t.start_address : 0,
							  .name = known && t.name && t.name[0] ? t.name : NULL};
	return m->thread_count++;
}

/* What tells events of one kind apart from those of others. */
struct type_key {
	GUID provider;
	uint64_t keyword, schema;
	uint16_t id, task;
	uint8_t version, channel, level, opcode;
	bool classic;
};

static uint64_t schema_of(const EVENT_RECORD *e)
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		if (x->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) {
			uint64_t h = x->DataSize;
			const uint8_t *p = (const uint8_t *)(uintptr_t)x->DataPtr;
			for (USHORT j = 0; j < x->DataSize; j++) {
				h = map_mix(h ^ p[j], 0x9E3779B97F4A7C15ull);
			}
			return h;
		}
	}
	return 0;
}

uint32_t sql_make_type(struct sql_maker *m, const EVENT_RECORD *e)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	struct sql_event_type t = {.provider_guid = e->EventHeader.ProviderId,
				   .id = d->Id,
				   .task = d->Task,
				   .version = d->Version,
				   .channel = d->Channel,
				   .level = d->Level,
				   .opcode = d->Opcode,
				   .keyword = d->Keyword,
				   .schema = schema_of(e),
				   .classic = (e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0};
	uint64_t key = map_hash(&m->type_of, &t.provider_guid, sizeof t.provider_guid);
	key = map_mix(key ^ t.keyword, t.schema ^ 0x9E3779B97F4A7C15ull);
	key = map_mix(key ^ ((uint64_t)t.id << 48 | (uint64_t)t.task << 32 | t.version << 24 | t.channel << 16 |
			     t.level << 8 | t.opcode),
		      0xD6E8FEB86659FD93ull);
	MAP_EACH(&m->type_of, key, at) {
		uint32_t i = (uint32_t)map_value(&m->type_of, at);
		const struct sql_event_type *o = &m->types[i];
		if (memcmp(&o->provider_guid, &t.provider_guid, sizeof t.provider_guid) == 0 && o->id == t.id &&
		    o->task == t.task && o->version == t.version && o->channel == t.channel && o->level == t.level &&
		    o->opcode == t.opcode && o->keyword == t.keyword && o->schema == t.schema) {
			return i;
		}
	}
	if (m->surveyed || !VEC_ROOM_UP_TO(m->types, m->type_count, m->type_cap, MOST) ||
	    map_add(&m->type_of, key, m->type_count) < 0) {
		m->failed = m->failed || !m->surveyed;
		return 0;
	}
	const char *provider, *name;
	openetw_event_names(m->decoder, e, &provider, &name);
	t.provider = strdup(provider);
	t.name = strdup(name);
	m->failed = m->failed || !t.provider || !t.name;
	m->types[m->type_count] = t;
	return m->type_count++;
}

static void add_image(struct sql_maker *m, const EVENT_RECORD *e)
{
	struct openetw_event_origin o = {.size = sizeof o};
	struct sql_image i = {.m = {.size = sizeof i.m}};
	const struct kernel_payload in = {e->UserData, e->UserDataLength,
					  e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	uint64_t base = kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE);
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (openetw_state_event(m->state, e, &o) != ERROR_SUCCESS ||
	    openetw_state_module(m->state, o.subject_pid, base, time, &i.m) != ERROR_SUCCESS) {
		return;
	}
	uint64_t key = map_mix(map_mix(i.m.base ^ 0x9E3779B97F4A7C15ull, i.m.pid + 1ull), i.m.load_time + 1);
	MAP_EACH(&m->image_of, key, at) {
		const struct openetw_module *old = &m->images[map_value(&m->image_of, at)].m;
		if (old->base == i.m.base && old->pid == i.m.pid && old->load_time == i.m.load_time) {
			return;
		}
	}
	i.process = add_process(m, i.m.pid, time);
	if (!VEC_ROOM_UP_TO(m->images, m->image_count, m->image_cap, MOST) ||
	    map_add(&m->image_of, key, m->image_count) < 0) {
		m->failed = true;
		return;
	}
	m->images[m->image_count++] = i;
}

uint32_t sql_make_stack(struct sql_maker *m, const EVENT_RECORD *e, uint32_t pid, uint64_t time)
{
	struct openetw_stack s = {.size = sizeof s};
	if (openetw_state_stack(m->state, e, &s) != ERROR_SUCCESS || s.count == 0) {
		return 0;
	}
	uint32_t process = add_process(m, pid, time);
	uint64_t key = map_hash(&m->stack_of, s.addresses, (size_t)s.count * 8) ^ process;
	MAP_EACH(&m->stack_of, key, at) {
		uint32_t i = (uint32_t)map_value(&m->stack_of, at);
		if (m->stacks[i].count == s.count && m->stacks[i].process == process &&
		    memcmp(m->addresses + m->stacks[i].at, s.addresses, (size_t)s.count * 8) == 0) {
			return i;
		}
	}
	if (m->surveyed || !VEC_ROOM_UP_TO(m->stacks, m->stack_count, m->stack_cap, MOST) ||
	    map_add(&m->stack_of, key, m->stack_count) < 0) {
		m->failed = m->failed || !m->surveyed;
		return 0;
	}
	for (uint32_t i = 0; i < s.count; i++) {
		if (!VEC_ROOM(m->addresses, m->address_count, m->address_cap)) {
			m->failed = true;
			return 0;
		}
		m->addresses[m->address_count++] = s.addresses[i];
	}
	m->stacks[m->stack_count] = (struct sql_stack){
		.at = m->address_count - s.count, .count = s.count, .pid = pid, .process = process, .time = time};
	return m->stack_count++;
}

static void survey_event(void *context, const EVENT_RECORD *e)
{
	struct sql_maker *m = context;
	struct openetw_event_origin o = {.size = sizeof o};
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (openetw_state_event(m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	m->first = m->rows++ ? BASE_MIN(m->first, time) : time;
	m->last = BASE_MAX(m->last, time);
	uint32_t type = sql_make_type(m, e), process = add_process(m, o.pid, time);
	uint32_t thread = sql_make_thread(m, o.tid, time), stack = sql_make_stack(m, e, o.pid, time);
	add_process(m, o.subject_pid, time);
	sql_make_thread(m, o.subject_tid, time);
	if (m->failed) {
		return;
	}
	m->types[type].rows++;
	m->types[type].bytes += e->UserDataLength;
	m->processes[process].events++;
	m->threads[thread].events++;
	m->stacks[stack].events++;
	if (kernel_class_group(&e->EventHeader.ProviderId) == KERNEL_GROUP_IMAGE) {
		add_image(m, e);
	}
}

/* Number 0 of each kind is what nobody knows. */
static bool survey(struct sql_maker *m, char *why, size_t cap)
{
	if (m->surveyed) {
		return true;
	}
	if (!VEC_ROOM(m->processes, m->process_count, m->process_cap) ||
	    !VEC_ROOM(m->threads, m->thread_count, m->thread_cap) ||
	    !VEC_ROOM(m->stacks, m->stack_count, m->stack_cap)) {
		snprintf(why, cap, "no memory");
		return false;
	}
	if (m->process_count == 0) {
		m->processes[m->process_count++] = (struct sql_process){.pid = OPENETW_UNKNOWN_ID, .end = UINT64_MAX};
		m->threads[m->thread_count++] = (struct sql_thread){.tid = OPENETW_UNKNOWN_ID, .end = UINT64_MAX};
		m->stacks[m->stack_count++] = (struct sql_stack){0};
	}
	if (!sql_make_pass(m, survey_event, m, why, cap)) {
		return false;
	}
	m->surveyed = true;
	return true;
}

/* ---- columns that many tables have ---------------------------------------------------------------- */

void sql_who_columns(struct sql_build *b, struct sql_who *w)
{
	w->process = sql_build_column(b, "process", SQL_TYPE_U32);
	w->pid = sql_build_column(b, "pid", SQL_TYPE_U32);
	w->name = sql_build_column(b, "process_name", SQL_TYPE_TEXT);
	w->thread = sql_build_column(b, "thread", SQL_TYPE_U32);
	w->tid = sql_build_column(b, "tid", SQL_TYPE_U32);
}

void sql_who_put(struct sql_maker *m, struct sql_build *b, const struct sql_who *w, uint32_t pid, uint32_t tid,
		 uint64_t time)
{
	uint32_t process = sql_make_process(m, pid, time), thread = sql_make_thread(m, tid, time);
	sql_build_number(b, w->process, process);
	sql_build_number(b, w->thread, thread);
	if (pid != OPENETW_UNKNOWN_ID) {
		sql_build_number(b, w->pid, pid);
		sql_put_string(b, w->name, m->processes[process].name);
	}
	if (tid != OPENETW_UNKNOWN_ID) {
		sql_build_number(b, w->tid, tid);
	}
}

/* ---- tables --------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct sql_build *(*make)(struct sql_maker *m, const char *name, char *why,
				  size_t cap); /* NULL: the two below */
} tables[] = {
	{"events", NULL},
	{"spans", NULL},
	{"processes", sql_make_who},
	{"threads", sql_make_who},
	{"images", sql_make_who},
	{"providers", sql_make_who},
	{"event_types", sql_make_who},
	{"stacks", sql_make_who},
	{"frames", sql_make_who},
	{"symbols", sql_make_who},
	{"trace", sql_make_who},
	{"lost", sql_make_who},
	{"samples", sql_make_kernel},
	{"switches", sql_make_kernel},
	{"waits", sql_make_kernel},
	{"io", sql_make_kernel},
	{"files", sql_make_kernel},
	{"net", sql_make_kernel},
	{"faults", sql_make_kernel},
	{"syscalls", sql_make_kernel},
};

const char *const *sql_make_names(void)
{
	static const char *names[BASE_ARRAY_LEN(tables) + 1];
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		names[i] = tables[i].name;
	}
	return names;
}

static struct sql_build *make(struct sql_maker *m, const char *name, char *why, size_t cap)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		if (strcasecmp(tables[i].name, name) == 0) {
			return tables[i].make ? tables[i].make(m, tables[i].name, why, cap)
			       : i == 0       ? sql_make_events(m, why, cap)
					      : sql_make_spans(m, why, cap);
		}
	}
	return sql_make_payloads(m, name, why, cap);
}

int sql_make(struct sql_maker *m, const char *name, char *why, size_t cap)
{
	struct sql_build *b = survey(m, why, cap) ? make(m, name, why, cap) : NULL;
	if (!b) {
		return -1;
	}
	const char *problem = sql_build_problem(b);
	if (problem) {
		snprintf(why, cap, "%s", problem);
		sql_build_destroy(b);
		return -1;
	}
	int fd = sql_build_finish(b);
	if (fd < 0) {
		snprintf(why, cap, "no memory for the table: %s", strerror(-fd));
		return -1;
	}
	return fd;
}
