/* SPDX-License-Identifier: MIT */
#include "tools/common/select.h"
#include "tools/common/trace_reading.h"

#include "etw/values/guids.h"
#include "format/file_record.h"
#include "kernel_payload.h"
#include "tools/common/unpacked.h"

#include <signal.h>

#define PROBLEMS_SHOWN 10

/* ProcessTrace blocks; a signal only sets this, the callbacks look at it. */
static volatile sig_atomic_t interrupted;
static struct cli_trace *volatile running;

static void on_signal(int sig)
{
	interrupted = sig;
	/* A live trace may have no events for a while. CloseTrace only sets a flag and wakes the
	 * consumer. */
	struct cli_trace *t = running;
	for (int i = 0; t && i < t->count; i++) {
		CloseTrace(t->handle[i]);
	}
}

/* Descriptions of events, as merging tools and the end of a session put them in. */
static bool is_metadata(const EVENT_RECORD *e)
{
	static const struct guid metadata = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);
	return memcmp(&e->EventHeader.ProviderId, &metadata, sizeof metadata) == 0;
}

bool cli_is_header(const EVENT_RECORD *e)
{
	static _Thread_local struct file_record_image last; /* each thread reads a trace of its own */
	const EVENT_HEADER *h = &e->EventHeader;
	return file_record_is(&last, &h->ProviderId, h->TimeStamp.QuadPart, e->UserData, e->UserDataLength);
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	static const struct guid lost_guid = GUID_INIT(ETW_GUID_CLASS_LOST_EVENT);
	struct cli_trace *t = e->UserContext;
	if (memcmp(&e->EventHeader.ProviderId, &lost_guid, sizeof lost_guid) == 0) {
		t->lost_events += e->EventHeader.EventDescriptor.Opcode == KP_LOST_EVENT_RTEVENT;
		t->lost_buffers += e->EventHeader.EventDescriptor.Opcode == KP_LOST_EVENT_RTBUFFER;
	}
	if (t->stop) {
		return;
	}
	if (cli_is_header(e)) {
		/* What was put in when the session ended was learnt by now. */
		if (e->EventHeader.ProcessId == UINT32_MAX && is_metadata(e) && !t->metadata) {
			return;
		}
		t->headers++;
	} else {
		t->events++;
	}
	if (!t->event(t->ctx, e) || interrupted || ferror(stdout)) {
		t->stop = true;
	}
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	struct cli_trace *t = f->Context;
	double seconds = (double)(clock_read_system_ns() - t->progress.started_ns) / 1e9;
	uint64_t done = 0;
	t->buffers++;
	cli_work_tell(CLI_WORK_BUFFERS, t->buffers, t->buffers_total);
	done = t->buffers_total ? BASE_MIN(100 * t->buffers / t->buffers_total, (uint64_t)100) : 0;
	cli_progress_show(&t->progress, "%3u%%  %llu buffers, %llu events, %.0f events/s", (unsigned)done,
			  (unsigned long long)t->buffers, (unsigned long long)t->events,
			  (double)t->events / (seconds > 0 ? seconds : 1));
	return !t->stop && !interrupted;
}

static bool on_read_ahead(void *ctx, uint32_t done, uint32_t total)
{
	struct cli_trace *t = ctx;
	cli_work_tell(CLI_WORK_MACHINE, done, total);
	cli_progress_show(&t->progress, "%3u%%  reading processes and modules",
			  (unsigned)(100ull * done / (total ? total : 1)));
	return !interrupted && !cli_signal_caught();
}

/* What a file tells of processes, modules and files stands at its end as often as not. */
static void read_ahead(struct cli_trace *t)
{
	for (int i = 0; t->state && i < t->count; i++) {
		/* What cannot be read is told when the events are. */
		if (t->file[i].LogFileName) {
			openetw_state_read_file(t->state, t->file[i].LogFileName, on_read_ahead, t);
		}
		openetw_state_attach(t->state, t->handle[i]);
	}
}

bool cli_trace_open(struct cli_trace *t, int count, char **files, const char *session)
{
	t->first_start = UINT64_MAX;
	for (int i = 0; i < count && i < CLI_TRACE_FILES_MAX; i++) {
		EVENT_TRACE_LOGFILEA *f = &t->file[i];
		const char *path = session ? session : cli_unpacked(t->args, files[i]);
		memset(f, 0, sizeof *f);
		t->name[i] = session ? session : files[i];
		if (session) {
			f->LoggerName = (char *)(uintptr_t)session;
		} else {
			f->LogFileName = (char *)(uintptr_t)path;
		}
		f->ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | (session ? PROCESS_TRACE_MODE_REAL_TIME : 0) |
				      (t->raw_time ? PROCESS_TRACE_MODE_RAW_TIMESTAMP : 0);
		f->EventRecordCallback = on_event;
		f->BufferCallback = on_buffer;
		f->Context = t;
		t->handle[i] = path ? OpenTraceA(f) : INVALID_PROCESSTRACE_HANDLE;
		if (t->handle[i] == INVALID_PROCESSTRACE_HANDLE) {
			if (!path) { /* stderr says why */
			} else if (session) {
				cli_fail_session(t->args, GetLastError(), session, "cannot watch '%s'", session);
			} else {
				cli_fail(t->args, GetLastError(), "cannot open %s", files[i]);
			}
			while (i-- > 0) {
				CloseTrace(t->handle[i]);
			}
			t->count = 0;
			return false;
		}
		t->count = i + 1;
		t->buffers_total += f->LogfileHeader.BuffersWritten;
		t->first_start = BASE_MIN(t->first_start, (uint64_t)f->LogfileHeader.StartTime.QuadPart);
	}
	return true;
}

/* What the reader could not read: where, and why. The rest was delivered. */
static void print_problems(struct cli_trace *t)
{
	for (int i = 0; i < t->count; i++) {
		struct openetw_problem p = {.size = sizeof p};
		t->problems += t->file[i].LogFileName && cli_unpacked_damaged(t->name[i]); /* told already */
		while (openetw_trace_next_problem(t->handle[i], &p) == ERROR_SUCCESS) {
			if (t->problems++ < PROBLEMS_SHOWN) {
				fflush(stdout);
				fprintf(stderr, "openetw %s: %s: at byte %llu: %s\n", t->args->command->name,
					t->name[i], (unsigned long long)p.file_offset, p.text);
			}
		}
	}
	if (t->problems > PROBLEMS_SHOWN) {
		fprintf(stderr, "openetw %s: %llu more places are damaged\n", t->args->command->name,
			(unsigned long long)t->problems - PROBLEMS_SHOWN);
	}
}

uint32_t cli_trace_run(struct cli_trace *t)
{
	struct sigaction sa = {.sa_handler = on_signal}, old_int, old_term, old_hup;
	uint64_t from = 0, to = UINT64_MAX;
	if (t->select) {
		if (!cli_select_set_start(t->select, t->first_start)) {
			for (int i = 0; i < t->count; i++) {
				CloseTrace(t->handle[i]);
			}
			return ERROR_INVALID_TIME;
		}
		/* What ends in the range may have begun before it. */
		from = cli_select_asks_duration(t->select) ? 0 : cli_select_from(t->select);
		cli_select_set_ticks(t->select, (uint64_t)t->file[0].LogfileHeader.PerfFreq.QuadPart);
		to = cli_select_to(t->select);
	}
	cli_progress_start(&t->progress, !t->no_progress && !t->quiet);
	interrupted = 0;
	running = t;
	sigaction(SIGINT, &sa, &old_int);
	sigaction(SIGTERM, &sa, &old_term);
	sigaction(SIGHUP, NULL, &old_hup);
	if (old_hup.sa_handler != SIG_IGN) { /* nohup means it */
		sigaction(SIGHUP, &sa, NULL);
	}
	if (!interrupted) {
		read_ahead(t);
	}
	if (cli_signal_caught()) { /* between making the session and here */
		on_signal(cli_signal_caught());
	}
	uint32_t code = interrupted ? ERROR_CANCELLED : openetw_trace_process(t->handle, (uint32_t)t->count, from, to);
	running = NULL;
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGTERM, &old_term, NULL);
	sigaction(SIGHUP, &old_hup, NULL);
	cli_progress_end(&t->progress);
	t->interrupted = interrupted;
	if (interrupted && !t->endless) {
		cli_interrupt(interrupted);
	}
	if (!t->quiet) {
		print_problems(t);
	}
	for (int i = 0; t->loss && i < t->count; i++) {
		struct openetw_loss_range l = {.size = sizeof l};
		while (openetw_trace_next_loss(t->handle[i], &l) == ERROR_SUCCESS) {
			t->loss(t->ctx, &l);
		}
	}
	for (int i = 0; i < t->count; i++) {
		t->lost_events += t->file[i].LogfileHeader.EventsLost;
		t->lost_buffers += t->file[i].LogfileHeader.BuffersLost;
		if (!t->unknown[0]) {
			cli_trace_unknown(t->handle[i], t->unknown, sizeof t->unknown);
		}
		CloseTrace(t->handle[i]);
	}
	return interrupted || (code == ERROR_CANCELLED && t->stop) ? ERROR_SUCCESS : code;
}

void cli_trace_unknown(TRACEHANDLE trace, char *ret, size_t cap)
{
	struct openetw_trace_loss l = {.size = sizeof l};
	bool unknown = openetw_trace_loss(trace, &l) == ERROR_SUCCESS && l.unknown;
	snprintf(ret, cap, "%s", unknown ? l.reason : "");
}

void cli_files_loss(const struct cli_args *a, int count, char **files, struct cli_trace *t)
{
	for (int i = 0; i < count; i++) {
		EVENT_TRACE_LOGFILEA f = {.LogFileName = (char *)(uintptr_t)cli_unpacked(a, files[i])};
		f.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		TRACEHANDLE h = f.LogFileName ? OpenTraceA(&f) : INVALID_PROCESSTRACE_HANDLE;
		if (h == INVALID_PROCESSTRACE_HANDLE) {
			continue;
		}
		t->lost_events += f.LogfileHeader.EventsLost;
		t->lost_buffers += f.LogfileHeader.BuffersLost;
		if (!t->unknown[0]) {
			cli_trace_unknown(h, t->unknown, sizeof t->unknown);
		}
		CloseTrace(h);
	}
}

void cli_warn_unknown(const struct cli_args *a, int count, char **files)
{
	for (int i = 0; i < count; i++) {
		struct cli_trace t = {0};
		cli_files_loss(a, 1, &files[i], &t);
		if (t.unknown[0]) {
			fprintf(stderr, "openetw %s: %s: lost: unknown (%s)\n", a->command->name, files[i], t.unknown);
		}
	}
}

void cli_lost_text(const struct cli_trace *t, char *ret, size_t cap)
{
	unsigned long long n = t->lost_events;
	if (!t->unknown[0]) {
		snprintf(ret, cap, "%llu", n);
	} else if (n == 0) {
		snprintf(ret, cap, "unknown (%s)", t->unknown);
	} else {
		snprintf(ret, cap, "%llu or more (%s)", n, t->unknown);
	}
}

void cli_loss_json(struct strbuf *b, uint64_t events, uint64_t buffers, const char *unknown)
{
	if (!unknown[0]) {
		strbuf_addf(b, "\"eventsLost\":%llu,\"buffersLost\":%llu", (unsigned long long)events,
			    (unsigned long long)buffers);
		return;
	}
	strbuf_adds(b, "\"eventsLost\":null,\"buffersLost\":null,\"lostUnknown\":");
	strbuf_add_json(b, unknown, strlen(unknown));
	strbuf_addf(b, ",\"eventsLostAtLeast\":%llu,\"buffersLostAtLeast\":%llu", (unsigned long long)events,
		    (unsigned long long)buffers);
}

void cli_trace_print_loss(FILE *f, const struct cli_trace *t)
{
	bool lost = t->lost_events || t->lost_buffers;
	if (lost) {
		fprintf(f, "LOST when recording: %llu event%s, %llu buffer%s", (unsigned long long)t->lost_events,
			PLURAL(t->lost_events), (unsigned long long)t->lost_buffers, PLURAL(t->lost_buffers));
	}
	if (t->unknown[0]) {
		fprintf(f, "%s unknown (%s)", lost ? "; what else was lost:" : "lost:", t->unknown);
	} else if (!lost) {
		fprintf(f, "nothing was lost when recording");
	}
}

void cli_state_end(struct openetw_state *s)
{
	if (s && openetw_state_full(s)) {
		fprintf(stderr,
			"openetw: the trace says more about the machine than is kept (1 GiB): processes, modules, "
			"names and stacks that came after that are missing\n");
	}
	openetw_state_destroy(s);
}
