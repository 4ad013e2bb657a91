/* SPDX-License-Identifier: MIT
 * tracefmt: the formatting tool of the Windows driver kit: one line an event, prefix and text or
 * JSON.
 */
#include "cli/timetext.h"
#include "cli/trace.h"
#include "cli/view.h"

#include <stdlib.h>
#include <strings.h>

static const struct cli_option options[] = {
	{0, "rt", NULL, "the name is that of a real-time session", NULL},
	{0, "o", "FILE", "write here (default FmtFile.txt)", NULL},
	{0, "display", NULL, "write to standard output too", NULL},
	{0, "displayonly", NULL, "write to standard output only", NULL},
	{0, "nosummary", NULL, "no summary file", NULL},
	{0, "summaryonly", NULL, "the summary file only", NULL},
	{0, "noprefix", NULL, "no prefix before the text", NULL},
	{0, "hires", NULL, "times down to 100 ns", NULL},
	{0, "seq", NULL, "number the events", NULL},
	{0, "utc", NULL, "times in UTC", NULL},
	{0, "gmt", NULL, "the same", NULL},
	{0, "sortableTime", NULL, "times as 2026-01-31T12:00:00.000", NULL},
	{0, "preferJson", NULL, "JSON also for events that have a message", NULL},
	{0, "jsonMeta", "MASK", "what the meta object holds (hex, default ff3f)", NULL},
	{0, "tmf", "FILE", "formats of WPP messages (repeatable)", NULL},
	{0, "p", "DIR", "look for .tmf files there; TRACE_FORMAT_SEARCH_PATH names more", NULL},
	{0, "i", "FILE", "a program that carries its formats or its manifest (repeatable)", NULL},
	{0, "man", "FILE", "a manifest (repeatable)", NULL},
	{0, "bin", "FILE", "a Windows binary with a manifest (repeatable)", NULL},
	{0, "v", NULL, "accepted", NULL},
	{0},
};

/* Bits of -jsonMeta. */
enum meta {
	META_PROVIDER = 0x1,
	META_EVENT = 0x2,
	META_TIME = 0x4,
	META_CPU = 0x8,
	META_PID = 0x10,
	META_TID = 0x20,
	META_ID = 0x40,
	META_VERSION = 0x80,
	META_CHANNEL = 0x100,
	META_LEVEL = 0x200,
	META_OPCODE = 0x400,
	META_TASK = 0x800,
	META_KEYWORDS = 0x1000,
	META_ACTIVITY = 0x4000,
	META_RELATED = 0x8000,
	META_DEFAULT = 0xff3f,
};

struct format {
	struct openetw_decoder *decoder;
	struct cli_view *view;
	struct openetw_text text;
	struct strbuf line;
	FILE *out;
	bool display, no_prefix, high_resolution, sequence, utc, sortable, summary_only, prefer_json,
		failed;
	uint32_t meta;
	uint64_t count, unformatted;
};

/* [9]8.3::4 [1]: processor, process, thread, time, provider */
static void add_prefix(struct format *f, const EVENT_RECORD *e)
{
	struct strbuf *b = &f->line;
	const EVENT_HEADER *h = &e->EventHeader;
	char iso[CLI_TIME_TEXT_SIZE];
	cli_time_format((uint64_t)h->TimeStamp.QuadPart, !f->utc, iso);
	int digits = f->high_resolution ? 7 : 3;
	strbuf_addf(b, "[%u]%04X.%04X::", GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e),
		    h->ProcessId, h->ThreadId);
	if (f->sortable) {
		strbuf_addf(b, "%.*s", 20 + digits, iso);
	} else { /* "2026-01-31T12:00:00.123" as 01/31/2026-12:00:00.123 */
		strbuf_addf(b, "%.2s/%.2s/%.4s-%.*s", iso + 5, iso + 8, iso, 9 + digits, iso + 11);
	}
	strbuf_addf(b, " [%s]", openetw_provider_name(f->decoder, e));
	if (f->sequence) {
		strbuf_addf(b, "%llu ", (unsigned long long)f->count);
	}
}

static void add_meta(struct format *f)
{
	static const struct {
		uint32_t bit;
		const char *name;
		bool zero_too;
	} keys[] = {{META_PROVIDER, "provider", true},
		    {META_EVENT, "event", true},
		    {META_TIME, "time", true},
		    {META_CPU, "cpu", true},
		    {META_PID, "pid", true},
		    {META_TID, "tid", true},
		    {META_ID, "id", false},
		    {META_VERSION, "version", false},
		    {META_CHANNEL, "channel", false},
		    {META_LEVEL, "level", false},
		    {META_OPCODE, "opcode", false},
		    {META_TASK, "task", false},
		    {META_KEYWORDS, "keywords", false},
		    {META_ACTIVITY, "activity", false},
		    {META_RELATED, "relatedActivity", false}};
	bool any = false;
	strbuf_adds(&f->line, "\"meta\":{");
	for (size_t i = 0; i < BASE_ARRAY_LEN(keys); i++) {
		struct cli_view_value v;
		if (!(f->meta & keys[i].bit) || !cli_view_get(f->view, keys[i].name, false, &v) ||
		    (v.is_number && v.number == 0 && !keys[i].zero_too)) {
			continue;
		}
		strbuf_addf(&f->line, "%s\"%s\":", any ? "," : "", keys[i].name);
		strbuf_add(&f->line, v.json, v.json_length);
		any = true;
	}
	strbuf_addc(&f->line, '}');
}

/* WPP messages are their text; the JSON begins with it: {"_message":"…",… */
static bool add_message(struct format *f)
{
	static const char begin[] = "{\"_message\":";
	const char *s = f->text.data;
	size_t n = sizeof begin - 1, end = n + 1;
	if (f->text.length < n + 2 || memcmp(s, begin, n) != 0) {
		return false;
	}
	while (end < f->text.length && s[end] != '"') {
		end += 1 + (s[end] == '\\');
	}
	struct strbuf plain = {0};
	cli_json_plain(&plain, s + n, BASE_MIN(end + 1, f->text.length) - n);
	strbuf_add(&f->line, plain.s ? plain.s : "", plain.len);
	strbuf_finish(&plain);
	return true;
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct format *f = ctx;
	f->count++;
	openetw_decoder_learn(f->decoder, e);
	if (f->summary_only) {
		return true;
	}
	cli_view_set(f->view, e);
	strbuf_clear(&f->line);
	if (!f->no_prefix) {
		add_prefix(f, e);
	}
	openetw_text_clear(&f->text);
	if (openetw_decode_json(f->decoder, e, &f->text) == OPENETW_NO_SCHEMA) {
		f->unformatted++;
		char guid[37];
		cli_guid_text(&e->EventHeader.ProviderId, guid);
		strbuf_addf(&f->line, "Unknown( %u): GUID=%s (No Format Information found).",
			    e->EventHeader.EventDescriptor.Id, guid);
	} else if (!f->prefer_json && (e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) &&
		   add_message(f)) {
		/* that is all */
	} else if (f->text.length >= 2) {
		bool empty = f->text.length == 2;
		strbuf_add(&f->line, f->text.data, f->text.length - 1);
		if (f->meta) {
			strbuf_adds(&f->line, empty ? "" : ",");
			add_meta(f);
		}
		strbuf_addc(&f->line, '}');
	}
	strbuf_addc(&f->line, '\n');
	if (f->out) {
		f->failed |= fwrite(f->line.s, 1, f->line.len, f->out) != f->line.len;
	}
	if (f->display) {
		fwrite(f->line.s, 1, f->line.len, stdout);
	}
	return !f->failed && !ferror(stdout);
}

static bool write_summary(struct format *f, struct cli_args *a, const struct cli_trace *t,
			  const char *path)
{
	FILE *out = fopen(path, "we");
	if (!out) {
		return false;
	}
	fprintf(out, "Files Processed:\n");
	for (int i = 0; i < t->count; i++) {
		fprintf(out, "\t%s\n", a->words[i]);
	}
	fprintf(out,
		"Total Buffers Processed %llu\nTotal Events  Processed %llu\nTotal Events  Lost    "
		"  %llu\n"
		"Total Format Errors     0\nTotal Formats Unknown   %llu\n",
		(unsigned long long)t->buffers, (unsigned long long)f->count,
		(unsigned long long)t->lost_events, (unsigned long long)f->unformatted);
	return fclose(out) == 0;
}

static bool open_output(struct format *f, struct cli_args *a, const char *path)
{
	if (cli_flag(a, "displayonly") || f->summary_only) {
		return true;
	}
	f->out = fopen(path, "we");
	if (!f->out) {
		fprintf(stderr, "openetw tracefmt: cannot write %s: %s\n", path, strerror(errno));
		return false;
	}
	fputs("EventTrace\n", f->out);
	return true;
}

static int work(struct format *f, struct cli_args *a)
{
	const char *path = cli_value(a, "o", "FmtFile.txt");
	struct cli_trace t = {.args = a, .event = event, .ctx = f, .no_progress = f->display};
	if (!cli_trace_open(&t, a->count, a->words, cli_flag(a, "rt") ? a->words[0] : NULL) ||
	    !open_output(f, a, path)) {
		return CLI_FAILED;
	}
	uint32_t code = cli_trace_run(&t);
	int status = t.problems ? CLI_FAILED : CLI_OK;
	if (code) {
		status = cli_fail(a, code, "stopped after %llu events",
				  (unsigned long long)t.events);
	}
	char summary[4096];
	/* FmtFile.txt has FmtFile.sum beside it */
	const char *dot = strrchr(path, '.');
	bool extension = dot && !strchr(dot, '/');
	snprintf(summary, sizeof summary, "%.*s.sum",
		 (int)(extension ? (size_t)(dot - path) : strlen(path)), path);
	bool wanted = !cli_flag(a, "nosummary") && !cli_flag(a, "displayonly");
	if ((wanted && !write_summary(f, a, &t, summary)) ||
	    (f->out && (ferror(f->out) | (fclose(f->out) != 0)))) {
		fprintf(stderr, "openetw tracefmt: cannot write %s: %s\n", path, strerror(errno));
		status = CLI_FAILED;
	}
	fflush(stdout);
	fprintf(stderr, "%llu events, %llu without format information; ",
		(unsigned long long)f->count, (unsigned long long)f->unformatted);
	cli_trace_print_loss(stderr, &t);
	fputc('\n', stderr);
	return status;
}

/* Formats and manifests from where the command line says. */
static bool load(struct cli_args *a)
{
	static const char *const names[] = {"i", "man", "bin"};
	const char *path, *dir = cli_value(a, "p", NULL), *more = getenv("TRACE_FORMAT_SEARCH_PATH");
	if (dir || more) {
		const char *before = getenv("OPENETW_CATALOGUE");
		struct strbuf b = {0};
		strbuf_addf(&b, "%s:%s:%s", before ? before : "", more ? more : "", dir ? dir : "");
		for (char *s = b.s; s && *s; s++) {
			*s = *s == ';' ? ':' : *s;
		}
		bool ok = b.s && setenv("OPENETW_CATALOGUE", b.s, 1) == 0;
		strbuf_finish(&b);
		if (!ok) {
			return false;
		}
	}
	for (size_t k = 0; k < BASE_ARRAY_LEN(names); k++) {
		for (int i = 0; (path = cli_value_at(a, names[k], i)) != NULL; i++) {
			char problem[512] = "";
			int r = openetw_schema_load_file(path, problem, sizeof problem);
			if (r < 0) {
				fprintf(stderr, "openetw tracefmt: cannot load %s: %s\n", path,
					problem[0] ? problem : strerror(-r));
				return false;
			}
		}
	}
	return true;
}

static int run(struct cli_args *a)
{
	const char *mask = cli_value(a, "jsonMeta", NULL);
	char *end = NULL;
	struct format f = {.meta = mask ? (uint32_t)strtoul(mask, &end, 16) : META_DEFAULT};
	if (mask && (end == mask || *end)) {
		return cli_usage(a, "-jsonMeta takes a hexadecimal mask, not '%s'", mask);
	}
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX ||
	    (cli_flag(a, "rt") && a->count > 1)) {
		return cli_usage(a, a->count ? "too many files or sessions" : "which file?");
	}
	if (!load(a)) {
		return CLI_FAILED;
	}
	f.display = cli_flag(a, "display") || cli_flag(a, "displayonly");
	f.no_prefix = cli_flag(a, "noprefix");
	f.high_resolution = cli_flag(a, "hires");
	f.sequence = cli_flag(a, "seq");
	f.utc = cli_flag(a, "utc") || cli_flag(a, "gmt");
	f.sortable = cli_flag(a, "sortableTime");
	f.prefer_json = cli_flag(a, "preferJson");
	f.summary_only = cli_flag(a, "summaryonly");
	f.decoder = openetw_decoder_create();
	f.view = f.decoder ? cli_view_create(f.decoder, false) : NULL;
	int status =
		f.view ? work(&f, a) : cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot format events");
	cli_view_destroy(f.view);
	openetw_decoder_destroy(f.decoder);
	openetw_text_free(&f.text);
	strbuf_finish(&f.line);
	return status;
}

const struct cli_command cli_tracefmt = {
	.name = "tracefmt",
	.synopsis = "FILE… [-o FILE] [-displayonly] [-jsonMeta MASK] [options]",
	.summary = "Write events one a line with a prefix and JSON, as the Windows tool does.",
	.details = "Takes options of the Windows driver kit's tracefmt, with - or /, in any case. "
		   "The prefix is\n"
		   "[processor]process.thread::time [provider], ids in hex. Writes FmtFile.txt and "
		   "FmtFile.sum unless told\n"
		   "otherwise; earlier ones are overwritten. WPP messages are text; their formats are "
		   "found where the\n"
		   "program ran, or with -tmf, -p, -i; events without a schema say so. A link of the name tracefmt to openetw "
		   "is this tool. Examples:\n"
		   "  openetw tracefmt web.etl -o web.txt\n"
		   "  openetw tracefmt web.etl -displayonly -noprefix -jsonMeta 7\n",
	.options = options,
	.run = run,
	.classic = true,
	.complete = "file",
};
