/* SPDX-License-Identifier: MIT
 * scrub: a trace without names, paths and addresses, for those who may not see them.
 */
#include "tools/scrub/scrub.h"

#include "tools/common/output.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <relogger.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD_MAX     (4u << 20) /* of the new file: its header is in there */
#define FIELDS_SHOWN 40u

struct scrub_options {
	const char *output, *key;
	struct cli_words keep, take;
	bool quiet, json;
};
static const struct cli_option options[] = {
	CLI_WORD(scrub_options, output, 'o', "output", "FILE", "the file to write"),
	CLI_WORDS(scrub_options, take, 0, "field", "NAME",
		  "take the values of this field, too: also numbers and GUIDs, which become 0 (repeatable)"),
	CLI_WORDS(scrub_options, keep, 0, "keep", "NAME", "leave the values of this field as they are (repeatable)"),
	CLI_WORD(scrub_options, key, 0, "key", "TEXT",
		 "traces scrubbed with the same TEXT have the same pseudonyms; without it they are chosen at random"),
	CLI_SCHEMA('M', "manifest", "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)"),
	CLI_FLAG(scrub_options, json, 'j', "json", "what was taken as one JSON object on stderr"),
	CLI_FLAG(scrub_options, quiet, 'q', "quiet", "do not say what was taken"),
	CLI_FORCE_OPTION,
	{0},
};

/* ---- writing ----------------------------------------------------------------------------------- */

struct job {
	ITraceEventCallback com;
	const struct cli_args *args;
	struct scrub *s;
	struct cli_progress progress;
	bool no_memory;
	/* The check. */
	int fd;
	bool header_done, header_failed;
};

static HRESULT query(ITraceEventCallback *this, REFIID riid, void **ret)
{
	*ret = NULL;
	return E_NOINTERFACE;
}
static ULONG count(ITraceEventCallback *this) /* lives on the stack of run() */
{
	return 1;
}
static HRESULT begin(ITraceEventCallback *this, ITraceEvent *header, ITraceRelogger *g)
{
	return S_OK;
}
static HRESULT finish(ITraceEventCallback *this, ITraceRelogger *g)
{
	return S_OK;
}

static HRESULT event(ITraceEventCallback *this, ITraceEvent *e, ITraceRelogger *g)
{
	struct job *j = (struct job *)this;
	PEVENT_RECORD r;
	HRESULT hr = e->lpVtbl->GetEventRecord(e, &r);
	if (hr != S_OK) {
		return hr;
	}
	if ((j->s->events & 0xFFF) == 0) {
		cli_progress_show(&j->progress, "%llu events", (unsigned long long)j->s->events);
		if (cli_signal_caught()) {
			return HRESULT_FROM_WIN32(ERROR_CANCELLED);
		}
	}
	if (scrub_event(j->s, r) < 0) {
		return HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY);
	}
	return g->lpVtbl->Inject(g, e);
}

static const ITraceEventCallbackVtbl table = {query, count, count, begin, finish, event};

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

static int write_trace(struct job *j, const char *in, const char *out)
{
	const struct cli_args *a = j->args;
	ITraceRelogger *g;
	HRESULT hr = openetw_create_object(&CLSID_TraceRelogger, &IID_ITraceRelogger, (void **)&g);
	if (hr != S_OK) {
		return cli_fail(a, HRESULT_CODE(hr), "cannot start");
	}
	int status = CLI_OK;
	BSTR from = wide(in), to = wide(out);
	hr = from && to ? g->lpVtbl->AddLogfileTraceStream(g, from, NULL, NULL) : E_OUTOFMEMORY;
	if (hr != S_OK) {
		status = cli_fail(a, HRESULT_CODE(hr), "cannot open %s", a->words[0]);
	} else {
		g->lpVtbl->SetOutputFilename(g, to);
		g->lpVtbl->SetCompressionMode(g, false); /* its header is changed afterwards */
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
		} else if (FAILED(hr)) {
			status = cli_fail(a, HRESULT_CODE(hr), "stopped after %llu events",
					  (unsigned long long)j->s->events);
		}
	}
	free(from);
	free(to);
	g->lpVtbl->Release(g); /* closes the file */
	return status;
}

/* ---- the new file's own header, and the check -------------------------------------------------- */

/* The header has names of files and time zones. It is changed where it lies in the file. */
static bool scrub_header(struct job *j, const EVENT_RECORD *r)
{
	size_t n = r->UserDataLength;
	uint8_t *head = malloc(HEAD_MAX), *copy = malloc(n ? n : 1);
	ssize_t got = head ? pread(j->fd, head, HEAD_MAX, 0) : -1;
	uint8_t *at = got > 0 && n ? memmem(head, (size_t)got, r->UserData, n) : NULL;
	bool ok = at && copy;
	if (ok) {
		EVENT_RECORD own = *r;
		memcpy(copy, r->UserData, n);
		own.UserData = copy;
		own.ExtendedDataCount = 0;
		ok = scrub_event(j->s, &own) == 0 && pwrite(j->fd, copy, n, at - head) == (ssize_t)n;
		j->s->check = true;
		ok = ok && scrub_event(j->s, &own) == 0;
	}
	free(head);
	free(copy);
	return ok;
}

static bool check(void *ctx, const EVENT_RECORD *r)
{
	struct job *j = ctx;
	if (!j->header_done) {
		j->header_done = true;
		j->s->check = false;
		j->header_failed = !scrub_header(j, r);
		j->s->check = true;
		return !j->header_failed;
	}
	EVENT_RECORD e = *r; /* nothing is changed */
	j->no_memory = scrub_event(j->s, &e) < 0;
	return !j->no_memory;
}

static int check_trace(struct job *j, const char *path)
{
	char *words[] = {(char *)(uintptr_t)path};
	struct cli_trace t = {
		.args = j->args, .event = check, .ctx = j, .metadata = true, .no_progress = true, .quiet = true};
	uint64_t events = j->s->events;
	j->s->check = true;
	if (!cli_trace_open(&t, 1, words, NULL)) {
		return CLI_FAILED;
	}
	uint32_t code = cli_trace_run(&t);
	uint64_t checked = j->s->events - events;
	j->s->events = events;
	if (t.interrupted) {
		return 128 + t.interrupted;
	}
	if (code || j->no_memory || j->header_failed) {
		return cli_tell(j->args, "the new file cannot be checked%s",
				j->header_failed ? ": its header was not found" : "");
	}
	/* The header was counted twice, once for each side of the change. */
	if (checked < events) {
		return cli_tell(j->args, "the new file has fewer events than were written");
	}
	if (j->s->leaks) {
		return cli_tell(j->args, "%llu values were not taken out, the first in %s: no file was written",
				(unsigned long long)j->s->leaks, j->s->leak);
	}
	return CLI_OK;
}

/* ---- what was taken ---------------------------------------------------------------------------- */

static void print_taken(const struct scrub *s, const char *out)
{
	const struct {
		uint64_t n;
		const char *what;
	} lines[] = {
		{s->texts, "texts: their words are pseudonyms"},
		{s->users, "identities of users and groups (SIDs): other numbers"},
		{s->addresses, "internet addresses: others of 10.0.0.0/8 and fd00::/8"},
		{s->blocks, "blocks of bytes: zeros"},
		{s->numbers, "values of --field: zeros"},
		{s->unknown, "payloads of events that no schema explains: zeros (--manifest names one)"},
		{s->rests, "ends of payloads and fields that no schema explains: zeros"},
		{s->items, "items of event headers, such as package names: zeros"},
		{s->names.shared, "words that share a pseudonym with another: short ones have few"},
	};
	fprintf(stderr, "%llu events to %s\n", (unsigned long long)s->events, out);
	for (size_t i = 0; i < BASE_ARRAY_LEN(lines); i++) {
		if (lines[i].n) {
			fprintf(stderr, "  %llu %s\n", (unsigned long long)lines[i].n, lines[i].what);
		}
	}
	fprintf(stderr, "  %u different words; texts were in:\n", s->names.words.count);
	for (uint32_t i = 0; i < s->fields_used && i < FIELDS_SHOWN; i++) {
		fprintf(stderr, "  %10llu  %s\n", (unsigned long long)s->field_count[i], s->fields.text[i]);
	}
	if (s->fields_used > FIELDS_SHOWN) {
		fprintf(stderr, "  and %u more fields\n", s->fields_used - FIELDS_SHOWN);
	}
	fprintf(stderr, "kept: numbers, times, GUIDs, stacks, and the names of providers, events and fields\n");
}

static void print_json(const struct scrub *s, const char *out)
{
	struct strbuf b = {0};
	strbuf_adds(&b, "{\"output\":");
	strbuf_add_json(&b, out, strlen(out));
	strbuf_addf(&b,
		    ",\"events\":%llu,\"texts\":%llu,\"words\":%u,\"wordsThatShare\":%llu,\"users\":%llu,"
		    "\"addresses\":%llu,\"blocks\":%llu,\"numbers\":%llu,\"withoutSchema\":%llu,\"rests\":%llu,"
		    "\"items\":%llu,\"fields\":{",
		    (unsigned long long)s->events, (unsigned long long)s->texts, s->names.words.count,
		    (unsigned long long)s->names.shared, (unsigned long long)s->users, (unsigned long long)s->addresses,
		    (unsigned long long)s->blocks, (unsigned long long)s->numbers, (unsigned long long)s->unknown,
		    (unsigned long long)s->rests, (unsigned long long)s->items);
	for (uint32_t i = 0; i < s->fields_used; i++) {
		strbuf_adds(&b, i ? "," : "");
		strbuf_add_json(&b, s->fields.text[i], strlen(s->fields.text[i]));
		strbuf_addf(&b, ":%llu", (unsigned long long)s->field_count[i]);
	}
	strbuf_adds(&b, "}}\n");
	fputs(b.failed ? "" : b.s, stderr);
	strbuf_finish(&b);
}

static int run(struct cli_args *a)
{
	const struct scrub_options *o = a->given;
	struct scrub s = {.keep = o->keep, .take = o->take, .provider = "", .event = ""};
	struct job j = {.com.lpVtbl = &table, .args = a, .s = &s, .fd = -1};
	if (a->count != 1 || !o->output) {
		return cli_usage(a, a->count == 0  ? "which file?"
				    : a->count > 1 ? "one file"
						   : "where to? --output FILE");
	}
	const char *in = cli_unpacked(a, a->words[0]);
	s.decoder = openetw_decoder_create();
	if (!in || !s.decoder || !scrub_names_init(&s.names, o->key)) {
		int status = in ? cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot start") : CLI_FAILED;
		scrub_finish(&s);
		return status;
	}
	int status = CLI_FAILED;
	struct cli_output *out = cli_output_open(a, o->output, false);
	if (out) {
		j.fd = fileno(cli_output_file(out));
		status = write_trace(&j, in, cli_output_partial(out));
		status = status == CLI_OK ? check_trace(&j, cli_output_partial(out)) : status;
		if (status == CLI_OK) {
			status = cli_output_close(out, true);
		} else { /* what is half done may have everything in it */
			cli_output_drop(out);
		}
	}
	if (status == CLI_OK && o->json) {
		print_json(&s, o->output);
	} else if (status == CLI_OK && !o->quiet) {
		print_taken(&s, o->output);
	}
	scrub_finish(&s);
	return status;
}

const struct cli_command cli_scrub = {
	.name = "scrub",
	.synopsis = "FILE -o FILE [--field NAME] [--keep NAME] [options]",
	.summary = "Take names, paths and addresses out of a trace before it is shared.",
	.details =
		"Every text goes, whatever event and field it is in: its words become other words of the same length, "
		"the\n"
		"same word always the same one, so that files, processes and users can still be told apart. Words that "
		"are\n"
		"the same everywhere, such as 'windows' and 'dll', stay. Identities of users (SIDs) and internet "
		"addresses\n"
		"become others. Blocks of bytes, and payloads that no schema explains, become zeros.\n"
		"What stays: numbers, times, GUIDs, call stacks, and the names of providers, events and fields. "
		"--field\n"
		"takes numbers and GUIDs of a field, --keep leaves a field's texts. The new file is read again and "
		"checked\n"
		"before it gets its name. Look at what is left with 'openetw dump' before you send it.\n\n"
		"Examples:\n"
		"  openetw scrub web.etl -o share.etl\n"
		"  openetw scrub web.etl -o share.etl --field AccountNumber --keep MethodName --keep MethodNamespace\n"
		"  openetw scrub a.etl -o a2.etl --key 'our secret' && openetw scrub b.etl -o b2.etl --key 'our "
		"secret'\n",
	.options = options,
	CLI_INTO(scrub_options),
	.run = run,
	.complete = "file",
};
