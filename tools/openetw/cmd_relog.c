/* SPDX-License-Identifier: MIT
 * relog: filter, cut and change events on their way into a new file. Stands on <relogger.h> like any
 * other program.
 */
#include "tools/openetw/relog.h"

#include "tools/common/session_options.h"
#include "tools/common/absent.h"
#include "base/parse.h"
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"
#include "tools/common/unpacked.h"

#include <relogger.h>
#include <stdlib.h>

struct relog_options {
	const char *output, *shift;
	enum cli_compress compress;
	bool invert;
	struct cli_words set;
	struct cli_select_options select;
};
static const struct cli_option options[] = {
	CLI_WORD(relog_options, output, 'o', "output", "FILE", "the file to write"),
	CLI_COMPRESS_OPTION(relog_options, compress),
	CLI_FLAG(relog_options, invert, 'v', "invert", "keep what is not selected"),
	CLI_WORDS(relog_options, set, 0, "set", "FIELD=VALUE",
		  "change a header field of the events kept (repeatable): provider, id, version, channel, level, "
		  "opcode, task, keyword, activity, pid, tid, cpu; with another provider TraceLogging events lose "
		  "their fields"),
	CLI_WORD(relog_options, shift, 0, "shift", "TIME", "move the events kept in time: 1.5s, -250ms"),
	CLI_SELECT_OPTIONS(relog_options, select),
	CLI_FORCE_OPTION,
	{0},
};

enum field { PROVIDER, ID, VERSION, CHANNEL, LEVEL, OPCODE, TASK, KEYWORD, ACTIVITY, PID, TID, CPU, FIELDS };
static const struct {
	const char *name;
	uint64_t max;
} fields[FIELDS] = {
	[PROVIDER] = {"provider", 0},       [ID] = {"id", UINT16_MAX},           [VERSION] = {"version", UINT8_MAX},
	[CHANNEL] = {"channel", UINT8_MAX}, [LEVEL] = {"level", UINT8_MAX},      [OPCODE] = {"opcode", UINT8_MAX},
	[TASK] = {"task", UINT16_MAX},      [KEYWORD] = {"keyword", UINT64_MAX}, [ACTIVITY] = {"activity", 0},
	[PID] = {"pid", UINT32_MAX},        [TID] = {"tid", UINT32_MAX},         [CPU] = {"cpu", 0x7FF},
};

struct job {
	ITraceEventCallback com;
	const struct cli_args *args;
	const struct relog_options *o;
	struct cli_select *select;
	struct openetw_state *state; /* NULL: nobody asks for it */
	struct openetw_decoder *decoder;
	struct cli_view *view;
	bool set[FIELDS];
	uint64_t number[FIELDS];
	GUID guid[FIELDS];
	int64_t shift_100ns;
	/* the first file's clock */
	uint32_t clock;
	double ticks_per_100ns;
	uint64_t start_filetime, start_raw;
	bool started;
	uint64_t read, kept;
	bool silent; /* the caller says what came of it */
	struct cli_progress progress;
};

static bool parse_set(struct job *j, const char *text)
{
	const char *eq = strchr(text, '=');
	for (int f = 0; eq && f < FIELDS; f++) {
		if (strlen(fields[f].name) != (size_t)(eq - text) ||
		    strncasecmp(fields[f].name, text, (size_t)(eq - text)) != 0) {
			continue;
		}
		bool ok;
		if (f == PROVIDER || f == ACTIVITY) {
			ok = cli_provider_guid(eq + 1, &j->guid[f]);
		} else {
			ok = parse_number(eq + 1, 0, fields[f].max, &j->number[f]);
		}
		if (!ok) {
			cli_usage(j->args, "--set %s: '%s' is no value for it", fields[f].name, eq + 1);
			return false;
		}
		j->set[f] = true;
		return true;
	}
	cli_usage(j->args, "--set takes FIELD=VALUE with one of the fields listed in the help, not '%s'", text);
	return false;
}

static bool parse_changes(struct job *j)
{
	for (int i = 0; i < j->o->set.count; i++) {
		if (!parse_set(j, j->o->set.text[i])) {
			return false;
		}
	}
	const char *v = j->o->shift;
	if (v) {
		uint64_t ns;
		bool back = *v == '-';
		if (!parse_duration(v + (back || *v == '+'), 1000000000, &ns)) {
			cli_usage(j->args, "--shift takes a time such as 1.5s or -250ms, not '%s'", v);
			return false;
		}
		j->shift_100ns = back ? -(int64_t)(ns / 100) : (int64_t)(ns / 100);
	}
	return true;
}

/* ---- the callback object -------------------------------------------------------------------- */

static struct job *job_of(ITraceEventCallback *this)
{
	return (struct job *)this;
}

static HRESULT query(ITraceEventCallback *this, REFIID riid, void **ret)
{
	*ret = NULL;
	return E_NOINTERFACE;
}
static ULONG count(ITraceEventCallback *this) /* lives on the stack of run() */
{
	return 1;
}

/* What the header says of the clock: raw time stamps are ticks of it. */
static HRESULT begin(ITraceEventCallback *this, ITraceEvent *header, ITraceRelogger *g)
{
	struct job *j = job_of(this);
	PEVENT_RECORD r;
	HRESULT hr = header->lpVtbl->GetEventRecord(header, &r);
	if (hr == S_OK) {
		j->start_raw = (uint64_t)r->EventHeader.TimeStamp.QuadPart;
	}
	return hr;
}
static HRESULT finish(ITraceEventCallback *this, ITraceRelogger *g)
{
	return S_OK;
}

static uint64_t filetime_of(const struct job *j, int64_t raw)
{
	if (j->clock == 2) {
		return (uint64_t)raw;
	}
	return j->start_filetime + (uint64_t)(int64_t)((double)(raw - (int64_t)j->start_raw) / j->ticks_per_100ns);
}

static bool selected(struct job *j, const EVENT_RECORD *raw)
{
	EVENT_RECORD e = *raw;
	uint64_t t = filetime_of(j, e.EventHeader.TimeStamp.QuadPart);
	e.EventHeader.TimeStamp.QuadPart = (int64_t)t;
	if (j->state) {
		openetw_state_feed(j->state, &e);
	}
	cli_view_set(j->view, &e);
	return cli_select_match(j->select, j->view, &e);
}

static HRESULT change(const struct job *j, ITraceEvent *e, const EVENT_RECORD *r)
{
	EVENT_DESCRIPTOR d = r->EventHeader.EventDescriptor;
	const bool *set = j->set;
	if (set[ID] || set[VERSION] || set[CHANNEL] || set[LEVEL] || set[OPCODE] || set[TASK] || set[KEYWORD]) {
		d.Id = set[ID] ? (USHORT)j->number[ID] : d.Id;
		d.Version = set[VERSION] ? (UCHAR)j->number[VERSION] : d.Version;
		d.Channel = set[CHANNEL] ? (UCHAR)j->number[CHANNEL] : d.Channel;
		d.Level = set[LEVEL] ? (UCHAR)j->number[LEVEL] : d.Level;
		d.Opcode = set[OPCODE] ? (UCHAR)j->number[OPCODE] : d.Opcode;
		d.Task = set[TASK] ? (USHORT)j->number[TASK] : d.Task;
		d.Keyword = set[KEYWORD] ? j->number[KEYWORD] : d.Keyword;
		e->lpVtbl->SetEventDescriptor(e, &d);
	}
	if (set[PROVIDER]) {
		e->lpVtbl->SetProviderId(e, &j->guid[PROVIDER]);
	}
	if (set[ACTIVITY]) {
		e->lpVtbl->SetActivityId(e, &j->guid[ACTIVITY]);
	}
	if (set[PID]) {
		e->lpVtbl->SetProcessId(e, (ULONG)j->number[PID]);
	}
	if (set[TID]) {
		e->lpVtbl->SetThreadId(e, (ULONG)j->number[TID]);
	}
	if (set[CPU]) {
		e->lpVtbl->SetProcessorIndex(e, (ULONG)j->number[CPU]);
	}
	if (j->shift_100ns) {
		LARGE_INTEGER t = r->EventHeader.TimeStamp;
		double ticks = j->clock == 2 ? 1 : j->ticks_per_100ns;
		t.QuadPart += (LONGLONG)((double)j->shift_100ns * ticks);
		e->lpVtbl->SetTimeStamp(e, &t);
	}
	return S_OK;
}

static HRESULT event(ITraceEventCallback *this, ITraceEvent *e, ITraceRelogger *g)
{
	struct job *j = job_of(this);
	PEVENT_RECORD r;
	HRESULT hr = e->lpVtbl->GetEventRecord(e, &r);
	if (hr != S_OK) {
		return hr;
	}
	if (cli_is_header(r)) {
		return g->lpVtbl->Inject(g, e); /* of the file, whatever is selected */
	}
	if ((++j->read & 0xFFF) == 0) {
		cli_progress_show(&j->progress, "%llu events, %llu kept", (unsigned long long)j->read,
				  (unsigned long long)j->kept);
		if (cli_signal_caught()) {
			return HRESULT_FROM_WIN32(ERROR_CANCELLED);
		}
	}
	if (selected(j, r) == j->o->invert) {
		return S_OK;
	}
	j->kept++;
	change(j, e, r);
	return g->lpVtbl->Inject(g, e);
}

static const ITraceEventCallbackVtbl table = {query, count, count, begin, finish, event};

/* ---- the verb ------------------------------------------------------------------------------- */

static BSTR wide(const char *s)
{
	size_t n = strlen(s);
	uint16_t *w = malloc(2 * (n + 1));
	if (w && utf8_to_utf16(s, n, w, n + 1) < 0) {
		free(w);
		w = NULL;
	}
	return (BSTR)w;
}

/* The clock of the first file; also the friendliest place to say that it is no trace. */
static int read_clock(struct job *j, const char *path)
{
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (LPSTR)(uintptr_t)cli_unpacked(j->args, path)};
	if (!log.LogFileName) {
		return CLI_FAILED;
	}
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	PROCESSTRACE_HANDLE h = OpenTraceA(&log);
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		return cli_fail(j->args, GetLastError(), "cannot open %s", path);
	}
	CloseTrace(h);
	const TRACE_LOGFILE_HEADER *l = &log.LogfileHeader;
	j->clock = l->ReservedFlags;
	j->start_filetime = (uint64_t)l->StartTime.QuadPart;
	cli_select_set_ticks(j->select, (uint64_t)l->PerfFreq.QuadPart);
	double hz = j->clock == 3 ? (double)l->CpuSpeedInMHz * 1e6 : (double)l->PerfFreq.QuadPart;
	j->ticks_per_100ns = hz > 0 ? hz / 1e7 : 1;
	if (!cli_select_set_start(j->select, j->start_filetime)) {
		return cli_usage(j->args, "--to lies before --from");
	}
	return CLI_OK;
}

static bool read_ahead(void *ctx, uint32_t done, uint32_t total)
{
	return !cli_signal_caught();
}

static int relog(struct job *j, const char *out)
{
	const struct cli_args *a = j->args;
	ITraceRelogger *g;
	HRESULT hr = openetw_create_object(&CLSID_TraceRelogger, &IID_ITraceRelogger, (void **)&g);
	if (hr != S_OK) {
		return cli_fail(a, HRESULT_CODE(hr), "cannot start");
	}
	int status = CLI_OK;
	struct cli_output *o = cli_output_open(a, out, false);
	if (!o) {
		g->lpVtbl->Release(g);
		return CLI_FAILED;
	}
	for (int i = 0; i < a->count && status == CLI_OK; i++) {
		const char *plain = cli_unpacked(a, a->words[i]);
		if (!plain) {
			status = CLI_FAILED;
			break;
		}
		if (j->state) {
			openetw_state_read_file(j->state, plain, read_ahead, NULL);
		}
		BSTR path = wide(plain);
		hr = g->lpVtbl->AddLogfileTraceStream(g, path, NULL, NULL);
		free(path);
		if (hr != S_OK) {
			status = cli_fail(a, HRESULT_CODE(hr), "cannot open %s", a->words[i]);
		}
	}
	if (status == CLI_OK) {
		BSTR path = wide(cli_output_partial(o));
		g->lpVtbl->SetOutputFilename(g, path);
		free(path);
		g->lpVtbl->SetCompressionMode(g, j->o->compress != CLI_COMPRESS_NO);
		g->lpVtbl->RegisterCallback(g, &j->com);
		cli_progress_start(&j->progress, true);
		cli_signals_catch();
		hr = g->lpVtbl->ProcessTrace(g);
		int signal = cli_signal_caught();
		cli_signals_restore();
		cli_progress_end(&j->progress);
		if (signal) {
			cli_interrupt(signal);
			status = 128 + signal;
		} else if (hr == E_NOTIMPL) {
			status = cli_fail(a, ERROR_NOT_SUPPORTED,
					  "event %llu is of a kind that cannot carry this change",
					  (unsigned long long)j->read);
		} else if (FAILED(hr)) {
			status =
				cli_fail(a, HRESULT_CODE(hr), "stopped after %llu events", (unsigned long long)j->read);
		}
		if (!j->silent) {
			fprintf(stderr, "%llu of %llu event%s kept\n", (unsigned long long)j->kept,
				(unsigned long long)j->read, PLURAL(j->read));
			cli_warn_unknown(a, a->count, a->words);
		}
	}
	g->lpVtbl->Release(g); /* closes the file */
	int end = cli_output_close(o, status == CLI_OK);
	status = status != CLI_OK ? status : end;
	if (status == CLI_OK && !j->o->invert) {
		status = cli_absent_files(a, j->select, NULL, a->count, a->words, j->kept, status);
	}
	return cli_select_finish(a, j->select, status);
}

static int run_job(struct job *j, const char *out, const struct cli_select_options *s)
{
	const struct cli_args *a = j->args;
	int status = CLI_USAGE;
	if (parse_changes(j) && (j->select = cli_select_create(a, s)) != NULL) {
		/* The relogger reads each file once: what tells of processes and images may stand behind. */
		bool names = cli_select_needs_state(j->select);
		j->decoder = openetw_decoder_create();
		j->view = j->decoder ? cli_view_create(j->decoder, false) : NULL;
		j->state = names ? openetw_state_create(cli_select_asks_stack(j->select) ? OPENETW_STATE_STACKS : 0)
				 : NULL;
		bool ready = j->view && (j->state || !names);
		status = ready ? read_clock(j, a->words[0]) : cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot start");
		if (j->view) {
			cli_view_set_state(j->view, j->state);
		}
		status = status == CLI_OK ? relog(j, out) : status;
		cli_view_destroy(j->view);
		openetw_decoder_destroy(j->decoder);
		cli_state_end(j->state);
	}
	cli_select_destroy(j->select);
	return status;
}

int relog_selection(const struct cli_args *a, const char *out, const struct cli_select_options *s,
		    struct relog_result *ret)
{
	const struct relog_options o = {.output = out, .select = *s};
	struct job j = {.com.lpVtbl = &table, .args = a, .o = &o, .silent = true};
	int status = run_job(&j, out, &o.select);
	*ret = (struct relog_result){j.read, j.kept};
	return status;
}

static int run(struct cli_args *a)
{
	struct job j = {.com.lpVtbl = &table, .args = a, .o = a->given};
	const char *out = j.o->output;
	if (a->count == 0 || !out) {
		return cli_usage(a, a->count ? "where to? --output FILE" : "which file?");
	}
	if (j.o->compress == CLI_COMPRESS_ZSTD) {
		return cli_usage(a, "zstd is for sessions (start, run); relog compresses with xpress");
	}
	return run_job(&j, out, &j.o->select);
}

const struct cli_command cli_relog = {
	.name = "relog",
	.synopsis = "FILE… -o FILE [--filter EXPR] [--set FIELD=VALUE] [options]",
	.summary = "Filter, cut and change events on their way into a new .etl file.",
	.details =
		"Events that are kept keep their bytes, except for what --set and --shift change. Kernel events that\n"
		"get another provider or opcode are written with their class spelled out. Programs do the same, and\n"
		"inject events of their own, with <relogger.h>.\n\n"
		"Examples:\n"
		"  openetw relog big.etl -o mine.etl -p My-Provider --from +10s --to +20s\n"
		"  openetw relog t.etl -o anon.etl --set pid=0 --set tid=0\n"
		"  openetw relog t.etl -o less.etl --invert --event 'Heartbeat*'\n"
		"  openetw relog a.etl b.etl -o both.etl --shift -250ms --compress\n",
	.options = options,
	CLI_INTO(relog_options),
	.run = run,
	.complete = "file",
};
