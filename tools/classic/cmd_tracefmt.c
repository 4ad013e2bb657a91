/* SPDX-License-Identifier: MIT
 * tracefmt: the formatting tool of the Windows driver kit: one line an event, prefix and text or
 * JSON.
 */
#include "tools/common/select.h"
#include "tools/common/cli.h"
#include "base/level.h"
#include "tools/common/output.h"
#include "base/parse.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"

#include <dirent.h>
#include <stdlib.h>
#include <strings.h>

struct tracefmt_options {
	bool real_time, csv, csv_header, display, display_only, no_summary, summary_only, no_prefix, hires, sequence;
	bool utc, zone, sortable, prefer_json, skip_unknown, skip_wpp;
	const char *output, *json_meta, *manifest_folders;
	uint64_t max;
	struct cli_words tmf, tmf_folder;
};
static cli_take_fn take_tmf;
static const struct cli_option options[] = {
	CLI_FLAG(tracefmt_options, real_time, 0, "rt", "the name is that of a real-time session"),
	CLI_WORD(tracefmt_options, output, 0, "o", "FILE", "write here (default FmtFile.txt)"),
	CLI_FLAG(tracefmt_options, csv, 0, "csv", "comma-separated values"),
	CLI_FLAG(tracefmt_options, csv_header, 0, "csvheader", "the same, with a heading"),
	CLI_FLAG(tracefmt_options, display, 0, "display", "write to standard output too"),
	CLI_FLAG(tracefmt_options, display_only, 0, "displayonly", "write to standard output only"),
	CLI_NUMBER(tracefmt_options, max, 0, "max", "N", 1, UINT64_MAX, "no more than the first N events"),
	CLI_FLAG(tracefmt_options, no_summary, 0, "nosummary", "no summary file"),
	CLI_FLAG(tracefmt_options, summary_only, 0, "summaryonly", "the summary file only"),
	CLI_FLAG(tracefmt_options, no_prefix, 0, "noprefix", "no prefix before the text"),
	CLI_FLAG(tracefmt_options, hires, 0, "hires", "times down to 100 ns"),
	CLI_FLAG(tracefmt_options, sequence, 0, "seq", "number the events"),
	CLI_FLAG(tracefmt_options, utc, 0, "utc", "times in UTC"),
	CLI_FLAG(tracefmt_options, utc, 0, "gmt", "the same"),
	CLI_FLAG(tracefmt_options, zone, 0, "timeZoneSuffix", "times with Z or +01:00"),
	CLI_FLAG(tracefmt_options, sortable, 0, "sortableTime", "times as 2026-01-31T12:00:00.000"),
	CLI_ACCEPTED(0, "noFileTimeUtc", NULL, "accepted: fields that are times are always UTC"),
	CLI_FLAG(tracefmt_options, prefer_json, 0, "preferJson", "JSON also for events that have a message"),
	CLI_WORD(tracefmt_options, json_meta, 0, "jsonMeta", "MASK", "what the meta object holds (hex, default ff3f)"),
	CLI_FLAG(tracefmt_options, skip_unknown, 0, "skipNoFormat", "leave out events without format information"),
	CLI_FLAG(tracefmt_options, skip_wpp, 0, "skipTmfWpp", "leave out WPP messages"),
	CLI_OWN(tracefmt_options, tmf, struct cli_words, take_tmf, 0, "tmf", "FILE",
		"formats of WPP messages (repeatable)"),
	CLI_WORDS(tracefmt_options, tmf_folder, 0, "p", "DIRECTORY", "where .tmf files are (repeatable)"),
	CLI_SCHEMA(0, "i", "a program that carries its formats or its manifest (repeatable)"),
	CLI_SCHEMA(0, "man", "an instrumentation manifest (repeatable)"),
	CLI_WORD(tracefmt_options, manifest_folders, 0, "manpath", "DIRECTORIES",
		 "where manifests are, with semicolons or colons between"),
	CLI_SCHEMA(0, "bin", "a .dll or .exe that holds a manifest (repeatable)"),
	{.name = "cp", .arg = "NAME", .help = "utf8 (the default and only one)", .values = "utf8|utf-8|65001"},
	CLI_ACCEPTED(0, "v", NULL, "accepted"),
	CLI_ACCEPTED(0, "trace", NULL, "accepted"),
	{0},
};

static bool take_tmf(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	return cli_take_schema(a, o, value, NULL) && cli_take_words(a, o, value, member);
}

/* What Windows' tool prints in front, unless TRACE_FORMAT_PREFIX says otherwise. */
#define PREFIX "[%9!d!]%8!04X!.%3!04X!::%4!s! [%1!s!]"

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
	struct cli_output *output;
	FILE *out; /* of output */
	const char *prefix;
	bool display, no_prefix, high_resolution, sequence, utc, sortable, summary_only, failed;
	bool zone, csv, prefer_json, skip_unknown, skip_wpp;
	uint32_t meta;
	uint64_t count, headers, unformatted, max; /* headers: of count, records of the file itself */
};

static void add_time(struct format *f, const EVENT_RECORD *e, struct strbuf *b)
{
	char iso[TIME_TEXT_SIZE];
	format_time((uint64_t)e->EventHeader.TimeStamp.QuadPart, !f->utc, iso);
	int digits = f->high_resolution ? 7 : 3;
	if (f->sortable) {
		strbuf_addf(b, "%.*s", 20 + digits, iso);
	} else { /* "2026-01-31T12:00:00.123" as 01/31/2026-12:00:00.123 */
		strbuf_addf(b, "%.2s/%.2s/%.4s-%.*s", iso + 5, iso + 8, iso, 9 + digits, iso + 11);
	}
	if (f->zone) {
		strbuf_adds(b, iso + 27);
	}
}

/* One insert: a number or a text, in the form between the exclamation marks ("04X", "s", "-20s"). */
static void add_insert(struct strbuf *b, const char *spec, size_t n, bool is_text, const char *text,
		       unsigned long long number)
{
	char form[32] = "%";
	size_t k = 1;
	char how = n ? spec[n - 1] : 's';
	for (size_t i = 0; i + 1 < n && k < sizeof form - 8; i++) {
		if (strchr("-0123456789.", spec[i])) {
			form[k++] = spec[i];
		}
	}
	if (is_text) {
		memcpy(form + k, "s", 2);
		char *zero = form + 1 + (form[1] == '-');
		if (*zero == '0') { /* which texts do not have */
			memmove(zero, zero + 1, strlen(zero));
		}
		strbuf_addf(b, form, text);
	} else {
		snprintf(form + k, sizeof form - k, "ll%c", how == 'X' || how == 'x' ? how : 'u');
		strbuf_addf(b, form, number);
	}
}

static const char *attribute(struct format *f, const EVENT_RECORD *e, const char *name, size_t n)
{
	static const char *const names[] = {"FUNC", "FLAGS", "LEVEL", "COMPNAME", "SUBCOMP", "FILE"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0) {
			const char *v = openetw_message_attribute(f->decoder, e, names[i]);
			UCHAR level = e->EventHeader.EventDescriptor.Level;
			return v ? v : i == 2 && level != 0 && level_text(level) ? level_text(level) : "";
		}
	}
	return "";
}

/* %1 provider, %2 source and line, %3 thread, %4 time, %5 kernel time, %6 user time, %7 number, %8
 * process, %9 processor, %!FUNC! and its like. */
static void add_prefix(struct format *f, const EVENT_RECORD *e)
{
	struct strbuf *b = &f->line, time = {0};
	const EVENT_HEADER *h = &e->EventHeader;
	for (const char *s = f->prefix; *s;) {
		if (*s != '%' || !s[1]) {
			strbuf_addc(b, *s++);
			continue;
		}
		const char *end = strchr(s + 2, '!');
		if (s[1] == '!' && end) {
			const char *v = attribute(f, e, s + 2, (size_t)(end - s - 2));
			strbuf_add_printable(b, v, strlen(v));
			s = end + 1;
			continue;
		}
		char what = s[1];
		const char *spec = "s";
		size_t n = 1;
		s += 2;
		if (what >= '1' && what <= '9' && *s == '!' && (end = strchr(s + 1, '!')) != NULL) {
			spec = s + 1;
			n = (size_t)(end - spec);
			s = end + 1;
		}
		switch (what) {
		case '1': add_insert(b, spec, n, true, openetw_provider_name(f->decoder, e), 0); break;
		case '2': add_insert(b, spec, n, true, openetw_event_name(f->decoder, e), 0); break;
		case '3': add_insert(b, spec, n, false, NULL, h->ThreadId); break;
		case '4':
			add_time(f, e, &time);
			add_insert(b, spec, n, true, time.s ? time.s : "", 0);
			break;
		case '5': add_insert(b, spec, n, false, NULL, h->KernelTime); break;
		case '6': add_insert(b, spec, n, false, NULL, h->UserTime); break;
		case '7': add_insert(b, spec, n, false, NULL, f->count); break;
		case '8': add_insert(b, spec, n, false, NULL, h->ProcessId); break;
		case '9':
			add_insert(b, spec, n, false, NULL, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e));
			break;
		default: strbuf_addc(b, what); break;
		}
	}
	strbuf_finish(&time);
	if (f->sequence) {
		strbuf_addf(b, "%llu ", (unsigned long long)f->count);
	}
}

static void add_csv_columns(struct format *f, const EVENT_RECORD *e)
{
	struct strbuf *b = &f->line;
	const EVENT_HEADER *h = &e->EventHeader;
	const char *name = openetw_provider_name(f->decoder, e);
	char guid[37];
	cli_guid_text(&h->ProviderId, guid);
	strbuf_addf(b, "%s,%llu,%u,%u,%u,", guid, (unsigned long long)f->count,
		    GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e), h->ProcessId, h->ThreadId);
	add_time(f, e, b);
	strbuf_addc(b, ',');
	strbuf_add_quoted(b, name, strlen(name));
	strbuf_addc(b, ',');
	name = openetw_event_name(f->decoder, e);
	strbuf_add_quoted(b, name, strlen(name));
	strbuf_addf(b, ",%u,", h->EventDescriptor.Level);
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

/* The text or JSON of the event, into `text`. False: nobody knows its format. */
static bool make_text(struct format *f, const EVENT_RECORD *e)
{
	bool wpp = e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE;
	openetw_text_clear(&f->text);
	if ((wpp || !f->prefer_json) && openetw_event_message(f->decoder, e, &f->text)) {
		struct openetw_text *t = &f->text;
		while (t->length && (t->data[t->length - 1] == '\n' || t->data[t->length - 1] == '\r')) {
			t->length--; /* many end their lines themselves */
		}
		return true;
	}
	if (openetw_decode_json(f->decoder, e, &f->text) == OPENETW_NO_SCHEMA || f->text.length < 2) {
		return false;
	}
	struct strbuf line = f->line; /* the meta object is made in the line's place */
	f->line = (struct strbuf){0};
	bool empty = f->text.length == 2;
	strbuf_add(&f->line, f->text.data, f->text.length - 1);
	if (f->meta) {
		strbuf_adds(&f->line, empty ? "" : ",");
		add_meta(f);
	}
	strbuf_addc(&f->line, '}');
	openetw_text_free(&f->text);
	f->text = (struct openetw_text){f->line.s, f->line.len, f->line.cap, f->line.failed};
	f->line = line;
	return true;
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct format *f = ctx;
	openetw_decoder_learn(f->decoder, e);
	if (f->skip_wpp && (e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)) {
		return true;
	}
	if (f->count - f->headers == f->max && !cli_is_header(e)) {
		return false;
	}
	f->count++;
	f->headers += cli_is_header(e);
	if (f->summary_only) {
		return true;
	}
	cli_view_set(f->view, e);
	strbuf_clear(&f->line);
	bool known = make_text(f, e);
	if (!known) {
		char guid[37];
		f->unformatted++;
		if (f->skip_unknown) {
			return true;
		}
		cli_guid_text(&e->EventHeader.ProviderId, guid);
		openetw_text_clear(&f->text);
	}
	if (f->csv) {
		add_csv_columns(f, e);
	} else if (!f->no_prefix) {
		add_prefix(f, e);
	}
	if (!known) {
		char guid[37], text[128];
		cli_guid_text(&e->EventHeader.ProviderId, guid);
		int n = snprintf(text, sizeof text, "Unknown( %u): GUID=%s (No Format Information found).",
				 e->EventHeader.EventDescriptor.Id, guid);
		if (f->csv) {
			strbuf_add_quoted(&f->line, text, (size_t)n);
		} else {
			strbuf_adds(&f->line, text);
		}
	} else if (f->csv) {
		strbuf_add_quoted(&f->line, f->text.data ? f->text.data : "", f->text.length);
	} else {
		strbuf_add_printable(&f->line, f->text.data ? f->text.data : "", f->text.length);
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

static bool write_summary(struct format *f, struct cli_args *a, const struct cli_trace *t, const char *path)
{
	struct cli_output *o = cli_output_open(a, path, true);
	FILE *out = cli_output_file(o);
	if (!out) {
		return false;
	}
	fprintf(out, "Files Processed:\n");
	for (int i = 0; i < t->count; i++) {
		fprintf(out, "\t%s\n", a->words[i]);
	}
	char lost[200];
	cli_lost_text(t, lost, sizeof lost);
	fprintf(out,
		"Total Buffers Processed %llu\nTotal Events  Processed %llu\nTotal Events  Lost    "
		"  %s\n"
		"Total Format Errors     0\nTotal Formats Unknown   %llu\n",
		(unsigned long long)t->buffers, (unsigned long long)f->count, lost, (unsigned long long)f->unformatted);
	return cli_output_close(o, true) == CLI_OK;
}

static bool open_file(struct format *f, struct cli_args *a, const char *path)
{
	const struct tracefmt_options *o = a->given;
	if (o->display_only || o->summary_only) {
		return true;
	}
	f->output = cli_output_open(a, path, true);
	f->out = cli_output_file(f->output);
	if (!f->out) {
		return false;
	}
	fputs(f->csv ? "" : "EventTrace\n", f->out);
	return true;
}

static int work(struct format *f, struct cli_args *a)
{
	const struct tracefmt_options *o = a->given;
	const char *path = o->output;
	bool real_time = o->real_time; /* Ctrl-C is how it ends */
	struct cli_trace t = {.args = a, .event = event, .ctx = f, .no_progress = f->display, .endless = real_time};
	if (!cli_trace_open(&t, a->count, a->words, real_time ? a->words[0] : NULL) || !open_file(f, a, path)) {
		return CLI_FAILED;
	}
	if (o->csv_header) {
		static const char heading[] = "GUID,SeqNo,CPU,PID,TID,Time,Provider,Event,Level,Text\n";
		fputs(f->display ? heading : "", stdout);
		if (f->out) {
			fputs(heading, f->out);
		}
	}
	uint32_t code = cli_trace_run(&t);
	int status = t.problems ? CLI_FAILED : CLI_OK;
	if (code) {
		status = cli_fail(a, code, "stopped after %llu events", (unsigned long long)t.events);
	}
	char summary[4096];
	/* FmtFile.txt has FmtFile.sum beside it */
	const char *dot = strrchr(path, '.');
	bool extension = dot && !strchr(dot, '/');
	snprintf(summary, sizeof summary, "%.*s.sum", (int)(extension ? (size_t)(dot - path) : strlen(path)), path);
	bool whole = code == 0 && (!t.interrupted || real_time) && !f->failed;
	bool wanted = !o->no_summary && !o->display_only && whole;
	if (cli_output_close(f->output, whole) != CLI_OK || (wanted && !write_summary(f, a, &t, summary))) {
		status = CLI_FAILED;
	}
	fflush(stdout);
	fprintf(stderr, "%llu event%s", (unsigned long long)(f->count - f->headers), PLURAL(f->count - f->headers));
	if (f->headers) {
		fprintf(stderr, " and %llu record%s of the file itself", (unsigned long long)f->headers,
			PLURAL(f->headers));
	}
	fprintf(stderr, ", %llu without format information; ", (unsigned long long)f->unformatted);
	cli_trace_print_loss(stderr, &t);
	fputc('\n', stderr);
	return status;
}

/* All files in a directory whose names end so. */
static bool load_directory(const char *path, const char *const *suffixes)
{
	DIR *d = opendir(path);
	if (!d) {
		fprintf(stderr, "openetw tracefmt: %s: %s\n", path, strerror(errno));
		return false;
	}
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		const char *dot = strrchr(e->d_name, '.');
		for (size_t i = 0; dot && suffixes[i]; i++) {
			char file[4096];
			if (strcasecmp(dot, suffixes[i]) == 0 &&
			    snprintf(file, sizeof file, "%s/%s", path, e->d_name) < (int)sizeof file &&
			    openetw_schema_load_file(file) != ERROR_SUCCESS) {
				fprintf(stderr, "openetw tracefmt: %s: %s\n", file, openetw_last_error_text());
			}
		}
	}
	closedir(d);
	return true;
}

static bool load_directories(const char *list, const char *const *suffixes)
{
	char *copy = strdup(list), *save = NULL;
	bool ok = copy != NULL;
	for (char *s = copy ? strtok_r(copy, ";:", &save) : NULL; s; s = strtok_r(NULL, ";:", &save)) {
		ok = load_directory(s, suffixes) && ok;
	}
	free(copy);
	return ok;
}

static bool load_formats(const struct tracefmt_options *o)
{
	static const char *const tmf[] = {".tmf", NULL}, *const man[] = {".man", ".xml", NULL};
	const char *search = getenv("TRACE_FORMAT_SEARCH_PATH");
	for (int i = 0; i < o->tmf_folder.count; i++) {
		if (!load_directory(o->tmf_folder.text[i], tmf)) {
			return false;
		}
	}
	if (o->manifest_folders && !load_directories(o->manifest_folders, man)) {
		return false;
	}
	if (search && o->tmf.count == 0 && o->tmf_folder.count == 0) {
		load_directories(search, tmf);
	}
	return true;
}

static int run(struct cli_args *a)
{
	const struct tracefmt_options *o = a->given;
	const char *mask = o->json_meta;
	char *end = NULL;
	struct format f = {.meta = mask ? (uint32_t)strtoul(mask, &end, 16) : META_DEFAULT};
	if (mask && (end == mask || *end)) {
		return cli_usage(a, "-jsonMeta takes a hexadecimal mask, not '%s'", mask);
	}
	f.max = o->max;
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX || (o->real_time && a->count > 1)) {
		return cli_usage(a, a->count ? "too many files or sessions" : "which file?");
	}
	if (!load_formats(o)) {
		return CLI_FAILED;
	}
	f.prefix = getenv("TRACE_FORMAT_PREFIX");
	f.prefix = f.prefix ? f.prefix : PREFIX;
	f.csv = o->csv || o->csv_header;
	f.zone = o->zone;
	f.prefer_json = o->prefer_json;
	f.skip_unknown = o->skip_unknown;
	f.skip_wpp = o->skip_wpp;
	f.display = o->display || o->display_only;
	f.no_prefix = o->no_prefix;
	f.high_resolution = o->hires;
	f.sequence = o->sequence;
	f.utc = o->utc;
	f.sortable = o->sortable;
	f.summary_only = o->summary_only;
	f.decoder = openetw_decoder_create();
	f.view = f.decoder ? cli_view_create(f.decoder, false) : NULL;
	int status = f.view ? work(&f, a) : cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot format events");
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
		   "[processor]process.thread::time [provider], ids in hex, or what the variable "
		   "TRACE_FORMAT_PREFIX says\n"
		   "(%1 provider, %2 source, %3 thread, %4 time, %7 number, %8 process, %9 processor, "
		   "%!FUNC!, %!LEVEL!, …).\n"
		   "Writes FmtFile.txt and FmtFile.sum unless told otherwise; earlier ones are "
		   "overwritten. Events with a\n"
		   "message show it, others are JSON. WPP messages need their .tmf file (-tmf, -p, "
		   "TRACE_FORMAT_SEARCH_PATH\n"
		   "or OPENETW_CATALOGUE); programs built here carry theirs (-i); formats inside .pdb files are not "
		   "read. Events without a "
		   "schema say so. A link of the name tracefmt to openetw "
		   "is this tool. Examples:\n"
		   "  openetw tracefmt web.etl -o web.txt\n"
		   "  openetw tracefmt web.etl -displayonly -noprefix -jsonMeta 7\n",
	.options = options,
	CLI_INTO(tracefmt_options),
	.defaults = &(const struct tracefmt_options){.output = "FmtFile.txt", .max = UINT64_MAX},
	.run = run,
	.classic = true,
	.complete = "file",
};
