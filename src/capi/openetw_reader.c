/* SPDX-License-Identifier: MIT
 *
 * include/openetw/reader.h. ProcessTrace calls back on a thread of ours; what its callback keeps goes
 * into the queue.
 */
#include "openetw/openetw.h"
#include "openetw/reader.h"

#include "base/order.h"
#include "base/printable.h"
#include "base/sized.h"
#include "openetw/decode.h"
#include "openetw/state.h"
#include "capi/reader_queue.h"
#include "etw/values/guids.h"
#include "format/file_record.h"

#include "evntcons.h"
#include "evntrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

ETW_API DWORD WINAPI GetLastError(void); /* libetw has it, for all of the folders */

#define FILES_MAX       1024u
#define EACH_MAX        32u /* pids, process names, providers */
#define QUEUE_BYTES_MIN 65536u

/* Outlives the reader: what stoppers point to. */
struct openetw_stopper {
	pthread_mutex_t lock;
	uint32_t users;
	struct openetw_reader *reader; /* NULL: gone */
};

struct openetw_reader {
	/* what is wanted */
	char *files[FILES_MAX];
	uint32_t file_count;
	char *session;
	uint32_t content, attach;
	struct file_record_image image; /* with EVENTS */
	uint32_t pids[EACH_MAX], pid_count;
	char *processes[EACH_MAX];
	uint32_t process_count;
	uint8_t providers[EACH_MAX][16];
	uint32_t provider_count;
	uint64_t from, to;
	openetw_reader_filter_fn filter;
	void *filter_context;
	bool queue_said;
	uint32_t mistake; /* Win32 code of the first */
	char problem[320];
	/* while it runs */
	bool started;
	pthread_t thread;
	TRACEHANDLE handles[FILES_MAX];
	uint32_t handle_count;
	EVENT_TRACE_LOGFILEA logs[FILES_MAX];
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	struct openetw_text text;
	bool full_stop; /* the filter said so, or memory ran out */
	uint32_t failed;
	uint64_t lost;
	uint32_t lost_unknown; /* OPENETW_UNKNOWN_* */
	struct reader_queue queue;
	struct reader_block *taken;
	struct openetw_stopper *stop;
};

static void BASE_PRINTF(3, 4) mistake(struct openetw_reader *r, uint32_t code, const char *fmt, ...)
{
	va_list ap;
	if (r->mistake) {
		return;
	}
	r->mistake = code;
	va_start(ap, fmt);
	printable_vformat(r->problem, sizeof r->problem, fmt, ap);
	va_end(ap);
}

static char *keep(struct openetw_reader *r, const char *s)
{
	char *copy = strdup(s);
	if (!copy) {
		mistake(r, ERROR_NOT_ENOUGH_MEMORY, "out of memory");
	}
	return copy;
}

struct openetw_reader *openetw_reader_create(void)
{
	struct openetw_reader *r = calloc(1, sizeof *r);
	struct openetw_stopper *s = calloc(1, sizeof *s);
	if (!r || !s || reader_queue_init(&r->queue) < 0) {
		free(r);
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->users = 1;
	s->reader = r;
	r->stop = s;
	r->content = OPENETW_READER_RAW | OPENETW_READER_NAMES;
	r->to = UINT64_MAX;
	return r;
}

static void close_all(struct openetw_reader *r)
{
	for (uint32_t i = 0; i < r->handle_count; i++) {
		CloseTrace(r->handles[i]);
	}
	r->handle_count = 0;
}

void openetw_reader_destroy(struct openetw_reader *r)
{
	if (!r) {
		return;
	}
	pthread_mutex_lock(&r->stop->lock);
	r->stop->reader = NULL;
	pthread_mutex_unlock(&r->stop->lock);
	openetw_stopper_release(r->stop);
	if (r->started) {
		openetw_reader_stop(r);
		pthread_join(r->thread, NULL);
	}
	close_all(r);
	openetw_state_destroy(r->state);
	openetw_decoder_destroy(r->decoder);
	openetw_text_free(&r->text);
	reader_queue_give_back(&r->queue, r->taken);
	reader_queue_finish(&r->queue);
	for (uint32_t i = 0; i < r->file_count; i++) {
		free(r->files[i]);
	}
	for (uint32_t i = 0; i < r->process_count; i++) {
		free(r->processes[i]);
	}
	free(r->session);
	free(r);
}

/* ---- what is wanted ---------------------------------------------------------------------------- */

void openetw_reader_add_file(struct openetw_reader *r, const char *path)
{
	if (!path || !*path) {
		mistake(r, ERROR_INVALID_PARAMETER, "the path of a file is empty");
	} else if (r->session) {
		mistake(r, ERROR_INVALID_PARAMETER, "%s: a session is read alone, without files", path);
	} else if (r->file_count == FILES_MAX) {
		mistake(r, ERROR_INVALID_PARAMETER, "%s: at most %u files are read together", path, FILES_MAX);
	} else {
		r->files[r->file_count] = keep(r, path);
		r->file_count += r->files[r->file_count] != NULL;
	}
}

void openetw_reader_set_session(struct openetw_reader *r, const char *name)
{
	if (!name || !*name) {
		mistake(r, ERROR_INVALID_NAME, "the name of the session is empty");
	} else if (strlen(name) > 3 * 1023) {
		mistake(r, ERROR_INVALID_NAME, "the name of the session is longer than 1023 characters");
	} else if (r->file_count || r->session) {
		mistake(r, ERROR_INVALID_PARAMETER, "%s: a session is read alone", name);
	} else {
		r->session = keep(r, name);
	}
}

void openetw_reader_set_content(struct openetw_reader *r, uint32_t content)
{
	if (content & ~(OPENETW_READER_RAW | OPENETW_READER_JSON | OPENETW_READER_NAMES | OPENETW_READER_EVENTS)) {
		mistake(r, ERROR_INVALID_PARAMETER, "content 0x%x is not known", content);
	}
	r->content = content;
}

void openetw_reader_attach(struct openetw_reader *r, uint32_t what)
{
	if (what & ~(OPENETW_READER_ORIGIN | OPENETW_READER_STACKS | OPENETW_READER_CPU)) {
		mistake(r, ERROR_INVALID_PARAMETER, "0x%x cannot be attached", what);
	}
	r->attach |= what;
}

void openetw_reader_add_pid(struct openetw_reader *r, uint32_t pid)
{
	if (r->pid_count == EACH_MAX) {
		mistake(r, ERROR_INVALID_PARAMETER, "at most %u process ids", EACH_MAX);
		return;
	}
	r->pids[r->pid_count++] = pid;
	r->attach |= OPENETW_READER_ORIGIN;
}

void openetw_reader_add_process(struct openetw_reader *r, const char *name)
{
	if (!name || !*name) {
		mistake(r, ERROR_INVALID_PARAMETER, "the name of a process is empty");
	} else if (r->process_count == EACH_MAX) {
		mistake(r, ERROR_INVALID_PARAMETER, "at most %u process names", EACH_MAX);
	} else {
		r->processes[r->process_count] = keep(r, name);
		r->process_count += r->processes[r->process_count] != NULL;
		r->attach |= OPENETW_READER_ORIGIN;
	}
}

void openetw_reader_add_provider(struct openetw_reader *r, const struct openetw_guid *guid)
{
	if (!guid || r->provider_count == EACH_MAX) {
		mistake(r, ERROR_INVALID_PARAMETER,
			guid ? "at most %u providers" : "a provider without a GUID (at most %u)", EACH_MAX);
		return;
	}
	memcpy(r->providers[r->provider_count++], guid, 16);
}

void openetw_reader_set_range(struct openetw_reader *r, uint64_t from, uint64_t to)
{
	if (from > to) {
		mistake(r, ERROR_INVALID_TIME, "the time range ends before it begins");
	}
	r->from = from;
	r->to = to;
}

void openetw_reader_set_filter(struct openetw_reader *r, openetw_reader_filter_fn fn, void *context)
{
	r->filter = fn;
	r->filter_context = context;
}

void openetw_reader_set_queue(struct openetw_reader *r, uint32_t events, size_t bytes, uint32_t when_full)
{
	if (events == 0) {
		mistake(r, ERROR_INVALID_PARAMETER, "a queue of no events");
	} else if (bytes < QUEUE_BYTES_MIN) {
		mistake(r, ERROR_INVALID_PARAMETER, "a queue of %zu bytes: at least %u", bytes, QUEUE_BYTES_MIN);
	} else if (when_full > OPENETW_READER_DROP) {
		mistake(r, ERROR_INVALID_PARAMETER, "a full queue waits (0) or drops (1), not %u", when_full);
	}
	r->queue.events_max = events;
	r->queue.bytes_max = bytes;
	r->queue.drop_when_full = when_full == OPENETW_READER_DROP;
	r->queue_said = true;
}

const char *openetw_reader_problem(const struct openetw_reader *r)
{
	return r->problem;
}

/* ---- the reading thread ------------------------------------------------------------------------ */

static bool is_called(const char *wanted, const char *name)
{
	size_t n = strlen(wanted);
	return name && strncasecmp(name, wanted, n) == 0 && (name[n] == 0 || strcasecmp(name + n, ".exe") == 0);
}

static bool provider_wanted(const struct openetw_reader *r, const EVENT_RECORD *e)
{
	for (uint32_t i = 0; i < r->provider_count; i++) {
		if (memcmp(r->providers[i], &e->EventHeader.ProviderId, 16) == 0) {
			return true;
		}
	}
	return r->provider_count == 0;
}

static bool origin_wanted(const struct openetw_reader *r, const struct openetw_event_origin *o)
{
	bool pid = r->pid_count == 0, named = r->process_count == 0;
	for (uint32_t i = 0; i < r->pid_count && !pid; i++) {
		pid = r->pids[i] == o->pid;
	}
	for (uint32_t i = 0; i < r->process_count && !named; i++) {
		named = is_called(r->processes[i], o->process) || is_called(r->processes[i], o->subject);
	}
	return pid && named;
}

static void decode(struct openetw_reader *r, const EVENT_RECORD *e, struct openetw_event *ret)
{
	if (r->content & OPENETW_READER_JSON) {
		openetw_text_clear(&r->text);
		ret->result = openetw_decode_json_named(r->decoder, e, &r->text, &ret->provider, &ret->name);
		ret->json = r->text.data ? r->text.data : "{}";
		ret->json_length = r->text.data ? r->text.length : 2;
	} else if (r->content & OPENETW_READER_NAMES) {
		openetw_event_names(r->decoder, e, &ret->provider, &ret->name);
	} else {
		openetw_decoder_learn(r->decoder, e);
	}
}

static void end_with(struct openetw_reader *r, uint32_t code)
{
	r->full_stop = true;
	r->failed = code;
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	static const struct guid lost_guid = GUID_INIT(ETW_GUID_CLASS_LOST_EVENT);
	struct openetw_reader *r = e->UserContext;
	const EVENT_HEADER *h = &e->EventHeader;
	struct openetw_event_origin o = {.size = sizeof o, .pid = h->ProcessId, .tid = h->ThreadId};
	if (memcmp(&h->ProviderId, &lost_guid, sizeof lost_guid) == 0) {
		order_add_relaxed(&r->lost, 1);
	}
	if (r->full_stop) {
		return;
	}
	bool own = r->content & OPENETW_READER_EVENTS && h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER &&
		   file_record_is(&r->image, &h->ProviderId, h->TimeStamp.QuadPart, e->UserData, e->UserDataLength);
	/* Passed over, an event may still teach the meaning of others. */
	bool wanted = provider_wanted(r, e);
	if (wanted && r->state) {
		openetw_state_event(r->state, e, &o);
		wanted = origin_wanted(r, &o);
	}
	wanted = wanted && !own;
	if (wanted && r->filter) {
		wanted = r->filter(r->filter_context, e);
		if (reader_queue_stopped(&r->queue)) {
			end_with(r, ERROR_SUCCESS);
			wanted = false;
		}
	}
	if (!wanted) {
		openetw_decoder_learn(r->decoder, e);
		return;
	}
	struct openetw_event out = {
		.record = r->content & OPENETW_READER_RAW ? e : NULL,
		.id = h->EventDescriptor.Id,
		.version = h->EventDescriptor.Version,
		.level = h->EventDescriptor.Level,
		.provider = "",
		.name = "",
		.time = (uint64_t)h->TimeStamp.QuadPart,
		.cpu = r->attach & OPENETW_READER_CPU ? GetEventProcessorIndex(e) : UINT32_MAX,
		.pid = o.pid,
		.tid = o.tid,
		.process = o.process,
		.file = o.file,
	};
	decode(r, e, &out);
	struct openetw_stack k = {.size = sizeof k};
	if ((r->attach & OPENETW_READER_STACKS) && r->state && openetw_state_stack(r->state, e, &k) == ERROR_SUCCESS) {
		out.stack = k.addresses;
		out.stack_count = k.count;
	}
	int put = reader_queue_put(&r->queue, &out);
	if (put < 0) {
		end_with(r, put == -ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS);
	}
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	struct openetw_reader *r = f->Context;
	return !r->full_stop && !reader_queue_stopped(&r->queue);
}

static bool on_read_ahead(void *context, uint32_t done, uint32_t total)
{
	struct openetw_reader *r = context;
	return !reader_queue_stopped(&r->queue);
}

/* Of files as soon as they are open; of a session when it has ended. */
static void look_at_losses(struct openetw_reader *r)
{
	for (uint32_t i = 0; i < r->handle_count; i++) {
		struct openetw_trace_loss l = {.size = sizeof l};
		if (openetw_trace_loss(r->handles[i], &l) == ERROR_SUCCESS && l.unknown) {
			order_store_relaxed(&r->lost_unknown, l.unknown);
		}
	}
}

static void *read_all(void *context)
{
	struct openetw_reader *r = context;
	for (uint32_t i = 0; i < r->handle_count && r->state; i++) {
		/* What cannot be read ahead is told when the events are. */
		if (!r->session) {
			openetw_state_read_file(r->state, r->files[i], on_read_ahead, r);
		}
		openetw_state_attach(r->state, r->handles[i]);
	}
	uint32_t code = ERROR_CANCELLED;
	if (!reader_queue_stopped(&r->queue)) {
		code = openetw_trace_process(r->handles, r->handle_count, r->from, r->to);
		if (code && code != ERROR_CANCELLED) {
			const char *why = openetw_last_error_text(), *text = openetw_error_text(code);
			mistake(r, code, "%s", why[0] ? why : text ? text : "the trace cannot be read");
		}
		look_at_losses(r);
	}
	/* Stopped is what was wished for. */
	reader_queue_end(&r->queue, r->failed ? r->failed : code == ERROR_CANCELLED ? 0 : code);
	return NULL;
}

static uint32_t fail(struct openetw_reader *r, uint32_t code, const char *what)
{
	close_all(r);
	mistake(r, code, "%s", what);
	return code;
}

static uint32_t open_all(struct openetw_reader *r)
{
	uint32_t n = r->session ? 1 : r->file_count;
	for (uint32_t i = 0; i < n; i++) {
		EVENT_TRACE_LOGFILEA *f = &r->logs[i];
		f->LoggerName = r->session;
		f->LogFileName = r->session ? NULL : r->files[i];
		f->ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | (r->session ? PROCESS_TRACE_MODE_REAL_TIME : 0);
		f->EventRecordCallback = on_event;
		f->BufferCallback = on_buffer;
		f->Context = r;
		TRACEHANDLE h = OpenTraceA(f);
		if (h == INVALID_PROCESSTRACE_HANDLE) {
			uint32_t code = GetLastError();
			char what[256];
			snprintf(what, sizeof what, "cannot open %s (code %u)", r->session ? r->session : r->files[i],
				 code);
			return fail(r, code, what);
		}
		r->handles[r->handle_count++] = h;
		r->lost += f->LogfileHeader.EventsLost;
	}
	look_at_losses(r);
	return ERROR_SUCCESS;
}

uint32_t openetw_reader_start(struct openetw_reader *r)
{
	if (r->started) {
		return ERROR_INVALID_STATE;
	}
	if (!r->session && r->file_count == 0) {
		mistake(r, ERROR_INVALID_PARAMETER, "nothing to read: neither a file nor a session");
	}
	if (r->mistake) {
		return r->mistake;
	}
	if (!r->queue_said) {
		r->queue.drop_when_full = r->session != NULL;
	}
	r->decoder = openetw_decoder_create();
	if (r->attach & (OPENETW_READER_ORIGIN | OPENETW_READER_STACKS)) {
		r->state = openetw_state_create(r->attach & OPENETW_READER_STACKS ? OPENETW_STATE_STACKS : 0);
	}
	if (!r->decoder || (!r->state && (r->attach & (OPENETW_READER_ORIGIN | OPENETW_READER_STACKS)))) {
		return fail(r, ERROR_NOT_ENOUGH_MEMORY, "out of memory");
	}
	uint32_t code = open_all(r);
	if (code) {
		return code;
	}
	int err = pthread_create(&r->thread, NULL, read_all, r);
	if (err) {
		return fail(r, win32_from_errno(-err), "cannot start a thread");
	}
	r->started = true;
	return ERROR_SUCCESS;
}

uint32_t openetw_reader_next(struct openetw_reader *r, uint32_t milliseconds, struct openetw_batch *ret)
{
	if (!SIZED_VALID(ret, event_stride)) {
		return ERROR_INVALID_PARAMETER;
	}
	if (!r->started) {
		return ERROR_INVALID_STATE;
	}
	uint32_t code = ERROR_SUCCESS;
	reader_queue_give_back(&r->queue, r->taken);
	r->taken = reader_queue_take(&r->queue, milliseconds, &code);
	struct openetw_batch b = {.event_stride = sizeof *b.events};
	if (r->taken) {
		b.events = reader_block_events(r->taken, &b.count);
	}
	SIZED_GIVE(ret, &b);
	return code;
}

uint64_t openetw_reader_dropped(struct openetw_reader *r)
{
	pthread_mutex_lock(&r->queue.lock);
	uint64_t n = r->queue.dropped;
	pthread_mutex_unlock(&r->queue.lock);
	return n;
}

uint32_t openetw_reader_lost_unknown(struct openetw_reader *r)
{
	return order_load_relaxed(&r->lost_unknown);
}

uint64_t openetw_reader_lost(struct openetw_reader *r)
{
	return order_load_relaxed(&r->lost);
}

/* ---- stopping ---------------------------------------------------------------------------------- */

void openetw_reader_stop(struct openetw_reader *r)
{
	reader_queue_stop(&r->queue);
	/* Wakes a live trace that has no events for a while; the handles stay valid for that: a
	 * second closing is refused. */
	for (uint32_t i = 0; i < r->handle_count; i++) {
		CloseTrace(r->handles[i]);
	}
}

struct openetw_stopper *openetw_reader_stopper(struct openetw_reader *r)
{
	pthread_mutex_lock(&r->stop->lock);
	r->stop->users++;
	pthread_mutex_unlock(&r->stop->lock);
	return r->stop;
}

void openetw_stopper_stop(struct openetw_stopper *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->reader) {
		openetw_reader_stop(s->reader);
	}
	pthread_mutex_unlock(&s->lock);
}

void openetw_stopper_release(struct openetw_stopper *s)
{
	if (!s) {
		return;
	}
	pthread_mutex_lock(&s->lock);
	bool last = --s->users == 0;
	pthread_mutex_unlock(&s->lock);
	if (last) {
		pthread_mutex_destroy(&s->lock);
		free(s);
	}
}
