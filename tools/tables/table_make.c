/* SPDX-License-Identifier: MIT
 * What all tables stand on: reading, and who is in the trace.
 */
#include "tools/tables/table_make.h"

#include "base/vec.h"
#include "query/query_share.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <pthread.h>
#include <stdlib.h>

#define READ_AHEAD_PART 0.2        /* of the time that a table takes, about */
#define MOST            (1u << 28) /* of each kind; memory ends before */

/* ---- the files ------------------------------------------------------------------------------------ */

bool table_maker_open(struct table_maker *m, const struct cli_args *a, int count, char **files)
{
	m->args = a;
	m->files = files;
	m->count = count;
	m->start = UINT64_MAX;
	m->plain = calloc((size_t)count, sizeof *m->plain);
	for (int i = 0; m->plain && i < count; i++) {
		m->plain[i] = cli_unpacked(a, files[i]);
		EVENT_TRACE_LOGFILEA f = {.LogFileName = (char *)(uintptr_t)m->plain[i]};
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
	if (!m->state || !m->decoder || !m->plain) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
		return false;
	}
	return true;
}

void table_maker_close(struct table_maker *m)
{
	openetw_state_destroy(m->state);
	openetw_decoder_destroy(m->decoder);
	cli_kallsyms_free(m->names.kernel);
	if (!m->index_borrowed) {
		openetw_index_close(m->index);
	}
	for (uint32_t i = 0; i < m->kind_count; i++) {
		free(m->kinds[i].provider);
		free(m->kinds[i].name);
	}
	free(m->kinds);
	free(m->processes);
	free(m->threads);
	free(m->stack_uses);
	free(m->clocks);
	free(m->plain);
	map_free(&m->kind_of);
	map_free(&m->stack_of);
}

/* The first event is the header, whose raw time is that of the start. */
static VOID WINAPI on_first(PEVENT_RECORD e)
{
	uint64_t *first = e->UserContext;
	*first = *first ? *first : (uint64_t)e->EventHeader.TimeStamp.QuadPart;
}

static ULONG WINAPI on_first_buffer(PEVENT_TRACE_LOGFILEA f)
{
	(void)f;
	return FALSE; /* that is enough */
}

bool table_make_clocks(struct table_maker *m)
{
	m->clocks = m->clocks ? m->clocks : calloc((size_t)m->count, sizeof *m->clocks);
	for (int i = 0; m->clocks && i < m->count && m->clocks[i].per_second == 0; i++) {
		struct table_clock *c = &m->clocks[i];
		EVENT_TRACE_LOGFILEA f = {.LogFileName = (char *)(uintptr_t)m->plain[i],
					  .Context = &c->first,
					  .EventRecordCallback = on_first,
					  .BufferCallback = on_first_buffer};
		f.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
		TRACEHANDLE h = OpenTraceA(&f);
		if (h != INVALID_PROCESSTRACE_HANDLE) {
			ProcessTrace(&h, 1, NULL, NULL);
			c->start = (uint64_t)f.LogfileHeader.StartTime.QuadPart;
			c->per_second = (uint64_t)f.LogfileHeader.PerfFreq.QuadPart;
			CloseTrace(h);
		}
		c->per_second = c->per_second ? c->per_second : 10000000;
	}
	return m->clocks != NULL;
}

int64_t table_make_ticks_time(const struct table_maker *m, uint64_t ticks)
{
	const struct table_clock *c = &m->clocks[m->file];
	int64_t start = table_make_time(m, c->start);
	int64_t since = ticks >= c->first ? (int64_t)clock_muldiv(ticks - c->first, 1000000000, c->per_second)
					  : -(int64_t)clock_muldiv(c->first - ticks, 1000000000, c->per_second);
	return (int64_t)((uint64_t)start + (uint64_t)since);
}

struct pass {
	struct table_maker *m;
	table_event_fn fn;
	void *context;
	struct cli_progress progress;
	uint64_t buffers, events, total;
	bool ended; /* nobody wants it any more */
};
struct of_file { /* what callbacks get: which file they are about */
	struct pass *pass;
	uint32_t file;
};

/* False: it is to end. */
static bool go_on(struct pass *p, double part)
{
	const struct table_maker *m = p->m;
	p->ended = p->ended || cli_signal_caught() || (m->look && !m->look(m->look_context, part));
	return !p->ended;
}

static bool on_read_ahead(void *context, uint32_t done, uint32_t total)
{
	struct pass *p = context;
	cli_work_tell(CLI_WORK_MACHINE, done, total);
	cli_progress_show(&p->progress, "%3u%%  reading processes and modules",
			  (unsigned)(100ull * done / (total ? total : 1)));
	return go_on(p, (double)done / (total ? total : 1) * READ_AHEAD_PART);
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	struct pass *p = ((struct of_file *)f->Context)->pass;
	p->buffers++;
	double part = p->total ? BASE_MIN((double)p->buffers / (double)p->total, 1) : 0;
	cli_work_tell(CLI_WORK_BUFFERS, p->buffers, p->total);
	cli_progress_show(&p->progress, "%3u%%  reading %llu events", (unsigned)(100 * part),
			  (unsigned long long)p->events);
	return go_on(p, READ_AHEAD_PART + part * (1 - READ_AHEAD_PART));
}

static VOID WINAPI on_event(PEVENT_RECORD e)
{
	struct of_file *f = e->UserContext;
	struct pass *p = f->pass;
	if (!cli_is_header(e)) {
		p->events++;
		p->m->file = f->file;
		p->fn(p->context, e);
	}
}

/* What a file tells of processes, modules and files stands at its end as often as not. */
static uint32_t read_ahead(struct table_maker *m, struct pass *p)
{
	uint32_t code = ERROR_SUCCESS;
	for (int i = 0; i < m->count && !m->read_ahead && code == ERROR_SUCCESS; i++) {
		code = openetw_state_read_file(m->state, m->plain[i], on_read_ahead, p);
	}
	m->read_ahead = code == ERROR_SUCCESS;
	if (!m->read_ahead) { /* what was read by halves is not to be read into it again */
		openetw_state_destroy(m->state);
		m->state = m->names.state = openetw_state_create(OPENETW_STATE_STACKS);
		m->failed |= !m->state;
	}
	return code;
}

bool table_make_state(struct table_maker *m, char *why, size_t cap)
{
	struct pass p = {.m = m};
	cli_progress_start(&p.progress, !m->look);
	uint32_t code = read_ahead(m, &p);
	cli_progress_end(&p.progress);
	if (code != ERROR_SUCCESS) {
		char unpacked[1000];
		snprintf(why, cap, "the trace cannot be read: %s",
			 p.ended ? "interrupted"
				 : cli_unpacked_error(openetw_last_error_text(), unpacked, sizeof unpacked));
	}
	return code == ERROR_SUCCESS;
}

bool table_make_pass(struct table_maker *m, table_event_fn fn, void *context, char *why, size_t cap)
{
	size_t count = (size_t)m->count;
	TRACEHANDLE *handles = calloc(count, sizeof *handles);
	EVENT_TRACE_LOGFILEA *files = calloc(count, sizeof *files);
	struct of_file *contexts = calloc(count, sizeof *contexts);
	struct pass p = {.m = m, .fn = fn, .context = context};
	int open = 0;
	m->failed |= !handles || !files || !contexts;
	cli_progress_start(&p.progress, !m->look);
	uint32_t code = m->failed ? ERROR_NOT_ENOUGH_MEMORY : read_ahead(m, &p);
	for (; open < m->count && code == ERROR_SUCCESS; open++) {
		EVENT_TRACE_LOGFILEA *f = &files[open];
		contexts[open] = (struct of_file){&p, (uint32_t)open};
		*f = (EVENT_TRACE_LOGFILEA){.LogFileName = (char *)(uintptr_t)m->plain[open],
					    .Context = &contexts[open],
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
	free(handles);
	free(files);
	free(contexts);
	if (p.ended) {
		snprintf(why, cap, "the reading of the trace was interrupted");
		return false;
	}
	if (code != ERROR_SUCCESS || m->failed) {
		snprintf(why, cap, "the trace cannot be read: %s", m->failed ? "no memory" : openetw_last_error_text());
		return false;
	}
	return true;
}

/* ---- who is in the trace -------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct table_who_key *x = a, *y = b;
	return x->file != y->file     ? (x->file < y->file ? -1 : 1)
	       : x->id != y->id       ? (x->id < y->id ? -1 : 1)
	       : x->start != y->start ? (x->start < y->start ? -1 : 1)
				      : 0;
}

/* Numbers 0 of all files stand for nobody. */
static bool list_who(struct table_maker *m)
{
	uint32_t processes = m->about.processes, threads = m->about.threads;
	struct openetw_index_process p = {.size = sizeof p}, of = {.size = sizeof of};
	struct openetw_index_thread t = {.size = sizeof t};
	m->processes = calloc(processes + 1u, sizeof *m->processes);
	m->threads = calloc(threads + 1u, sizeof *m->threads);
	for (uint32_t i = 0; m->processes && i < processes; i++) {
		if (openetw_index_process(m->index, i, &p) == ERROR_SUCCESS) {
			m->processes[i] = (struct table_who_key){p.file, p.pid, p.start, i};
		}
	}
	for (uint32_t i = 0; m->threads && i < threads; i++) {
		if (openetw_index_thread(m->index, i, &t) == ERROR_SUCCESS &&
		    openetw_index_process(m->index, t.process, &of) == ERROR_SUCCESS) {
			m->threads[i] = (struct table_who_key){of.file, t.tid, t.start, i};
		}
	}
	if (!m->processes || !m->threads) {
		return false;
	}
	qsort(m->processes, processes, sizeof *m->processes, by_key);
	qsort(m->threads, threads, sizeof *m->threads, by_key);
	return true;
}

#define FRAMES_MAX 1024u

/* Those that rows have. Numbers that no row has any more, as it got the rest of its stack, may have the same frames. */
static bool list_stacks(struct table_maker *m)
{
	uint64_t addresses[FRAMES_MAX];
	if (!table_make_stack_uses(m)) {
		return false;
	}
	m->stacks_listed = true;
	for (uint32_t i = 1; i < m->about.stacks; i++) {
		bool used = m->stack_uses[i].events > 0;
		uint32_t n = used ? openetw_index_stack(m->index, i, addresses, FRAMES_MAX) : 0;
		if (n > 0 &&
		    map_add(&m->stack_of, map_hash(&m->stack_of, addresses, BASE_MIN(n, FRAMES_MAX) * 8), i) < 0) {
			return false;
		}
	}
	return true;
}

struct progress {
	struct cli_progress shown;
};

static bool on_progress(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	struct progress *p = context;
	cli_work_tell(CLI_WORK_INDEX, done, total);
	cli_progress_show(&p->shown, "%3u%%  making the index, %llu events", (unsigned)(total ? 100 * done / total : 0),
			  (unsigned long long)rows);
	return !cli_signal_caught();
}

bool table_make_index(struct table_maker *m, char *why, size_t cap)
{
	struct progress p;
	struct openetw_index_options o = {.size = sizeof o, .progress = on_progress, .context = &p};
	if (m->index) {
		return true;
	}
	cli_progress_start(&p.shown, !m->look);
	uint32_t code = openetw_index_open(m->plain, (uint32_t)m->count, &o, &m->index);
	cli_progress_end(&p.shown);
	if (code != ERROR_SUCCESS) {
		char unpacked[1000];
		m->index = NULL;
		snprintf(why, cap, "the trace cannot be read: %s",
			 code == ERROR_CANCELLED
				 ? "interrupted"
				 : cli_unpacked_error(openetw_last_error_text(), unpacked, sizeof unpacked));
		return false;
	}
	m->about.size = sizeof m->about;
	if (openetw_index_about(m->index, &m->about) != ERROR_SUCCESS || !list_who(m)) {
		snprintf(why, cap, "no memory");
		openetw_index_close(m->index);
		m->index = NULL;
		return false;
	}
	return true;
}

bool table_make_use_index(struct table_maker *m, struct openetw_index *x)
{
	m->index = x;
	m->index_borrowed = true;
	m->about.size = sizeof m->about;
	return openetw_index_about(x, &m->about) == ERROR_SUCCESS && list_who(m);
}

/* The last one of that id that began before; the first one, when none did. Times of events were cut to 100 ns. */
static uint32_t find_who(const struct table_who_key *list, uint32_t count, uint32_t file, uint32_t id, int64_t time)
{
	struct table_who_key key = {file, id, time + 99, 0};
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (by_key(&list[middle], &key) <= 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low > 0 && list[low - 1].file == file && list[low - 1].id == id) {
		return list[low - 1].number;
	}
	return low < count && list[low].file == file && list[low].id == id ? list[low].number : 0;
}

uint32_t table_make_process(struct table_maker *m, uint32_t pid, uint64_t time)
{
	return pid == OPENETW_UNKNOWN_ID
		       ? 0
		       : find_who(m->processes, m->about.processes, m->file, pid, table_make_time(m, time));
}

uint32_t table_make_thread(struct table_maker *m, uint32_t tid, uint64_t time)
{
	return tid == OPENETW_UNKNOWN_ID
		       ? 0
		       : find_who(m->threads, m->about.threads, m->file, tid, table_make_time(m, time));
}

const char *table_make_process_name(struct table_maker *m, uint32_t process)
{
	struct openetw_index_process p = {.size = sizeof p};
	bool known = openetw_index_process(m->index, process, &p) == ERROR_SUCCESS;
	return known && p.name[0] ? p.name : NULL;
}

const char *table_make_container(struct table_maker *m, uint32_t process)
{
	struct openetw_index_process p = {.size = sizeof p};
	bool known = process && openetw_index_process(m->index, process, &p) == ERROR_SUCCESS;
	return known && p.container && p.container[0] ? p.container : NULL;
}

uint32_t table_make_stack(struct table_maker *m, const EVENT_RECORD *e)
{
	uint64_t addresses[FRAMES_MAX];
	struct openetw_stack s = {.size = sizeof s};
	if (openetw_state_stack(m->state, e, &s) != ERROR_SUCCESS || s.count == 0) {
		return 0;
	}
	if (!m->stacks_listed && !list_stacks(m)) {
		m->failed = true;
		return 0;
	}
	uint32_t frames = BASE_MIN(s.count, FRAMES_MAX), lowest = 0; /* whatever the order of the map */
	MAP_EACH(&m->stack_of, map_hash(&m->stack_of, s.addresses, (size_t)frames * 8), at) {
		uint32_t i = (uint32_t)map_value(&m->stack_of, at);
		if ((!lowest || i < lowest) && openetw_index_stack(m->index, i, addresses, FRAMES_MAX) == s.count &&
		    memcmp(addresses, s.addresses, (size_t)frames * 8) == 0) {
			lowest = i;
		}
	}
	return lowest;
}

bool table_make_stack_uses(struct table_maker *m)
{
	struct index_share x;
	if (m->stack_uses) {
		return true;
	}
	m->stack_uses = calloc(m->about.stacks + 1u, sizeof *m->stack_uses);
	for (uint32_t i = 0; m->stack_uses && i < m->about.stacks; i++) {
		m->stack_uses[i].time = INT64_MIN;
	}
	for (uint32_t f = 0; m->stack_uses && index_share_of(m->index, f, &x); f++) {
		for (uint32_t g = 0; g < x.store->group_count; g++) {
			struct store_columns c;
			store_columns_of(x.store, g, &c);
			for (uint32_t i = 0; c.stack && i < c.rows; i++) {
				uint32_t stack = c.stack[i] < x.store->stack_count ? c.stack[i] : 0;
				struct table_stack_use *u = &m->stack_uses[x.stack_base + stack];
				if (stack && u->events++ == 0) {
					uint32_t process = store_process_at(&c, i);
					u->process = x.process_base + (process < x.store->process_count ? process : 0);
					u->time = store_time(&c, i) + x.offset;
				}
			}
		}
	}
	return m->stack_uses != NULL;
}

/* ---- what events are called ----------------------------------------------------------------------- */

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

struct table_kind *table_make_kind(struct table_maker *m, const EVENT_RECORD *e)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	struct table_kind t = {.provider_guid = e->EventHeader.ProviderId,
			       .id = d->Id,
			       .task = d->Task,
			       .version = d->Version,
			       .channel = d->Channel,
			       .level = d->Level,
			       .opcode = d->Opcode,
			       .keyword = d->Keyword,
			       .schema = schema_of(e)};
	uint64_t key = map_hash(&m->kind_of, &t.provider_guid, sizeof t.provider_guid);
	key = map_mix(key ^ t.keyword, t.schema ^ 0x9E3779B97F4A7C15ull);
	key = map_mix(key ^ ((uint64_t)t.id << 48 | (uint64_t)t.task << 32 | t.version << 24 | t.channel << 16 |
			     t.level << 8 | t.opcode),
		      0xD6E8FEB86659FD93ull);
	MAP_EACH(&m->kind_of, key, at) {
		uint32_t i = (uint32_t)map_value(&m->kind_of, at);
		const struct table_kind *o = &m->kinds[i];
		if (memcmp(&o->provider_guid, &t.provider_guid, sizeof t.provider_guid) == 0 && o->id == t.id &&
		    o->task == t.task && o->version == t.version && o->channel == t.channel && o->level == t.level &&
		    o->opcode == t.opcode && o->keyword == t.keyword && o->schema == t.schema) {
			return &m->kinds[i];
		}
	}
	if (!VEC_ROOM_UP_TO(m->kinds, m->kind_count, m->kind_cap, MOST) ||
	    map_add(&m->kind_of, key, m->kind_count) < 0) {
		m->failed = true;
		return NULL;
	}
	const char *provider, *name;
	openetw_event_names(m->decoder, e, &provider, &name);
	t.provider = strdup(provider);
	t.name = strdup(name);
	m->kinds[m->kind_count] = t;
	m->failed = m->failed || !t.provider || !t.name;
	m->kind_count++;
	return m->failed ? NULL : &m->kinds[m->kind_count - 1];
}

/* ---- columns that many tables have ---------------------------------------------------------------- */

void table_who_columns(struct table_build *b, struct table_who *w)
{
	w->process = table_build_column(b, "process", SQL_TYPE_U32);
	w->pid = table_build_column(b, "pid", SQL_TYPE_U32);
	w->name = table_build_column(b, "process_name", SQL_TYPE_TEXT);
	w->thread = table_build_column(b, "thread", SQL_TYPE_U32);
	w->tid = table_build_column(b, "tid", SQL_TYPE_U32);
	w->container = table_build_column(b, "container", SQL_TYPE_TEXT);
}

void table_who_put(struct table_maker *m, struct table_build *b, const struct table_who *w, uint32_t pid, uint32_t tid,
		   uint64_t time)
{
	uint32_t process = table_make_process(m, pid, time), thread = table_make_thread(m, tid, time);
	table_build_number(b, w->process, process);
	table_build_number(b, w->thread, thread);
	if (pid != OPENETW_UNKNOWN_ID) {
		table_build_number(b, w->pid, pid);
		table_put_string(b, w->name, table_make_process_name(m, process));
		table_put_string(b, w->container, table_make_container(m, process));
	}
	if (tid != OPENETW_UNKNOWN_ID) {
		table_build_number(b, w->tid, tid);
	}
}

/* ---- tables --------------------------------------------------------------------------------------- */

static struct table_build *spans(struct table_maker *m, const char *name, char *why, size_t cap)
{
	(void)name;
	return table_make_spans(m, why, cap);
}

#define TABLE_ALONE(name_)                                                                               \
	static struct table_build *name_(struct table_maker *m, const char *name, char *why, size_t cap) \
	{                                                                                                \
		(void)name;                                                                              \
		return table_make_##name_(m, why, cap);                                                  \
	}
TABLE_ALONE(cpu)
TABLE_ALONE(interrupts)
TABLE_ALONE(power)
TABLE_ALONE(memory)
TABLE_ALONE(gc)
TABLE_ALONE(jit)

static struct table_build *images(struct table_maker *m, const char *name, char *why, size_t cap)
{
	(void)name;
	return table_make_images(m, why, cap);
}

static struct table_build *events(struct table_maker *m, const char *name, char *why, size_t cap)
{
	(void)name;
	return table_make_events(m, why, cap);
}

static const struct {
	const char *name;
	struct table_build *(*make)(struct table_maker *m, const char *name, char *why, size_t cap);
} tables[] = {
	{"events", events},
	{"spans", spans},
	{"processes", table_make_who},
	{"lifetimes", table_make_who},
	{"threads", table_make_who},
	{"images", images},
	{"providers", table_make_who},
	{"event_types", table_make_who},
	{"stacks", table_make_who},
	{"frames", table_make_who},
	{"symbols", table_make_who},
	{"trace", table_make_who},
	{"lost", table_make_who},
	{"cpu", cpu},
	{"samples", table_make_kernel},
	{"functions", table_make_calls},
	{"modules", table_make_calls},
	{"callers", table_make_calls},
	{"callees", table_make_calls},
	{"switches", table_make_kernel},
	{"waits", table_make_kernel},
	{"wait_chains", table_make_kernel},
	{"io", table_make_kernel},
	{"files", table_make_kernel},
	{"net", table_make_kernel},
	{"faults", table_make_kernel},
	{"syscalls", table_make_kernel},
	{"dpc_isr", interrupts},
	{"power", power},
	{"memory", memory},
	{"gc", gc},
	{"jit", jit},
};

static const char *names[BASE_ARRAY_LEN(tables) + 1];

static void fill_names(void)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		names[i] = tables[i].name;
	}
}

const char *const *table_make_names(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT; /* several threads make tables */
	pthread_once(&once, fill_names);
	return names;
}

static struct table_build *make(struct table_maker *m, const char *name, char *why, size_t cap)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		if (strcasecmp(tables[i].name, name) == 0) {
			return tables[i].make(m, tables[i].name, why, cap);
		}
	}
	return table_make_payloads(m, name, why, cap);
}

int table_make(struct table_maker *m, const char *name, char *why, size_t cap)
{
	struct table_build *b = table_make_index(m, why, cap) ? make(m, name, why, cap) : NULL;
	if (!b) {
		return -1;
	}
	const char *problem = table_build_problem(b);
	if (problem) {
		snprintf(why, cap, "%s", problem);
		table_build_destroy(b);
		return -1;
	}
	int fd = table_build_finish(b);
	if (fd < 0) {
		snprintf(why, cap, "no memory for the table: %s", strerror(-fd));
		return -1;
	}
	return fd;
}
