/* SPDX-License-Identifier: MIT
 * tracerpt: the reporting tool that comes with Windows: events as XML or CSV, and a summary, in its
 * layouts.
 */
#include "tools/classic/tracerpt.h"
#include "base/vec.h"
#include "xml/xml.h"
#include "tools/classic/tracerpt_export.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "base/parse.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"
#include "tools/common/event_xml.h"
#include "tools/wpt/xperf.h"

#include <dirent.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

enum tracerpt_format { TRACERPT_XML, TRACERPT_CSV };
enum tracerpt_encoding { TRACERPT_ANSI, TRACERPT_UTF16 };
enum tracerpt_report { TRACERPT_HTML, TRACERPT_REPORT_XML };
struct tracerpt_options {
	bool real_time, raw_time, gmt, overwrite;
	const char *dump, *summary, *report, *schema;
	enum tracerpt_format format;
	enum tracerpt_encoding encoding;
	enum tracerpt_report report_format;
	struct cli_words import, tmf_folder;
};
static const struct cli_option options[] = {
	CLI_ACCEPTED(0, "l", NULL, "files follow (they may be named without it)"),
	CLI_FLAG(tracerpt_options, real_time, 0, "rt", "the names are those of real-time sessions"),
	CLI_WORD(tracerpt_options, dump, 0, "o", "[FILE]", "write the events (default dumpfile.xml or dumpfile.csv)"),
	CLI_CHOICE(tracerpt_options, format, TRACERPT_XML, 0, "of", "FORMAT", "XML|CSV", "XML (default) or CSV"),
	CLI_WORD(tracerpt_options, summary, 0, "summary", "[FILE]", "write a summary (default summary.txt)"),
	CLI_WORD(tracerpt_options, report, 0, "report", "[FILE]", "write a report (default workload.html)"),
	CLI_WORD(tracerpt_options, schema, 0, "export", "[FILE]",
		 "write a manifest of the events that occur (default schema.man)"),
	CLI_CHOICE(tracerpt_options, report_format, TRACERPT_HTML, 0, "f", "FORMAT", "HTML|XML",
		   "of the report: HTML, the only one"),
	CLI_ACCEPTED(0, "rl", "LEVEL", "accepted: the report is always whole"),
	CLI_WORDS(tracerpt_options, import, 0, "import", "FILE",
		  "manifest, .dll, .exe or .tmf that explains events (repeatable)"),
	CLI_SCHEMA(0, "tmf", "formats of WPP messages (repeatable)"),
	CLI_WORDS(tracerpt_options, tmf_folder, 0, "tp", "DIRECTORY", "where .tmf files are (repeatable)"),
	CLI_FLAG(tracerpt_options, raw_time, 0, "rts", "raw time stamps"),
	CLI_FLAG(tracerpt_options, gmt, 0, "gmt", "times in UTC"),
	CLI_ACCEPTED(0, "lr", NULL, "less restrictive: accepted, we always are"),
	CLI_CHOICE(tracerpt_options, encoding, TRACERPT_ANSI, 0, "en", "ENCODING", "ANSI|Unicode",
		   "ANSI (default; it is UTF-8 here) or Unicode (CSV in UTF-16)"),
	CLI_FLAG(tracerpt_options, overwrite, 0, "y", "overwrite files without a question"),
	{0},
};

struct kind {
	GUID provider;
	uint16_t id;
	uint8_t version;
	char name[64];
	uint64_t count;
};
struct report {
	struct cli_args *a;
	struct cli_trace *trace;
	struct openetw_decoder *decoder;
	struct tracerpt out_as;
	struct strbuf line;
	struct cli_output *dump, *summary, *schema;
	struct tracerpt_export *export; /* of schema */
	FILE *out;                      /* of dump */
	bool csv, utf16, failed, whole;
	struct kind *kinds;
	size_t kind_count, kind_cap;
};

/* Of classic events the class counts, without the opcode behind it. */
static int name_length(const EVENT_RECORD *e, const char *full)
{
	const char *slash = e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER ? strchr(full, '/') : NULL;
	return slash ? (int)(slash - full) : (int)strlen(full);
}

static void count(struct report *r, const EVENT_RECORD *e, const char *name, int length)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	struct kind k = {.provider = e->EventHeader.ProviderId, .id = d->Id, .version = d->Version, .count = 1};
	snprintf(k.name, sizeof k.name, "%.*s", length, name);
	for (size_t i = r->kind_count; i-- > 0;) {
		struct kind *have = &r->kinds[i];
		if (have->id == k.id && have->version == k.version && strcmp(have->name, k.name) == 0 &&
		    memcmp(&have->provider, &k.provider, sizeof k.provider) == 0) {
			have->count++;
			return;
		}
	}
	if (!VEC_ROOM(r->kinds, r->kind_count, r->kind_cap)) {
		r->failed = true;
		return;
	}
	r->kinds[r->kind_count++] = k;
}

static bool put(struct report *r, const char *s, size_t n)
{
	if (!r->utf16) {
		return fwrite(s, 1, n, r->out) == n;
	}
	long units = utf8_to_utf16(s, n, NULL, 0);
	uint16_t *wide = units >= 0 ? malloc(2 * ((size_t)units + 1)) : NULL;
	bool ok = wide != NULL;
	if (ok) {
		utf8_to_utf16(s, n, wide, (size_t)units + 1);
		ok = fwrite(wide, 2, (size_t)units, r->out) == (size_t)units;
	}
	free(wide);
	return ok;
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct report *r = ctx;
	char name[512];
	openetw_decoder_learn(r->decoder, e);
	snprintf(name, sizeof name, "%s", openetw_event_name(r->decoder, e));
	count(r, e, name, name_length(e, name));
	if (r->export && !cli_is_header(e)) {
		tracerpt_export_event(r->export, e);
	}
	if (!r->out) {
		return true;
	}
	strbuf_clear(&r->line);
	if (r->csv) {
		tracerpt_csv_event(&r->out_as, e, &r->line);
	} else {
		tracerpt_xml_event(&r->out_as, e, &r->line);
	}
	r->failed = r->failed || !put(r, r->line.s ? r->line.s : "", r->line.len);
	return !r->failed;
}

static int by_count(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->name, y->name);
}

static void long_date(uint64_t filetime, bool utc, char *out, size_t cap)
{
	time_t t = (time_t)(filetime / 10000000) - 11644473600;
	struct tm tm;
	out[0] = 0;
	if (filetime && (utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm))) {
		strftime(out, cap, "%A, %B %d, %Y", &tm);
	}
}

static void write_summary(struct report *r)
{
	static const char rule[] = "+--------------------------------------------------------------"
				   "-------------------------------"
				   "------------+\r\n";
	FILE *f = cli_output_file(r->summary);
	const struct cli_trace *t = r->trace;
	uint64_t buffers = 0, end = 0;
	char date[64];
	fprintf(f, "Files Processed:\r\n");
	for (int i = 0; i < t->count; i++) {
		const TRACE_LOGFILE_HEADER *h = &t->file[i].LogfileHeader;
		fprintf(f, "    %s\r\n", r->a->words[i]);
		buffers += h->BuffersWritten;
		end = BASE_MAX(end, (uint64_t)h->EndTime.QuadPart);
	}
	fprintf(f, "Total Buffers Processed %llu\r\n", (unsigned long long)buffers);
	/* As on Windows, with the records of the file itself, which the table lists too. */
	fprintf(f, "Total Events  Processed %llu\r\n", (unsigned long long)(t->events + t->headers));
	char lost[200];
	cli_lost_text(t, lost, sizeof lost);
	fprintf(f, "Total Events  Lost      %s\r\n", lost);
	long_date(t->first_start, r->out_as.utc, date, sizeof date);
	fprintf(f, "Start Time              %s\r\n", date);
	long_date(end, r->out_as.utc, date, sizeof date);
	fprintf(f, "End Time                %s\r\n", date);
	fprintf(f, "Elapsed Time            %llu sec\r\n",
		(unsigned long long)(end > t->first_start ? (end - t->first_start) / 10000000 : 0));
	fputs("\r\n", f);
	fputs(rule, f);
	fprintf(f, "|%-11s   %-20s %-15s %-15s %-38s|\r\n", "Event Count", "Event Name", "Event ID", "Version", "Guid");
	fputs(rule, f);
	qsort(r->kinds, r->kind_count, sizeof *r->kinds, by_count);
	for (size_t i = 0; i < r->kind_count; i++) {
		char guid[37];
		cli_guid_text(&r->kinds[i].provider, guid);
		fprintf(f, "|%11llu   %-20s %-15u %-15u {%s}|\r\n", (unsigned long long)r->kinds[i].count,
			r->kinds[i].name, r->kinds[i].id, r->kinds[i].version, guid);
	}
	fputs(rule, f);
}

static struct cli_output *create(struct cli_args *a, const char *path)
{
	bool overwrite = ((const struct tracerpt_options *)a->given)->overwrite;
	char mapped[PATH_MAX];
	struct stat st;
	if (!overwrite && lstat(cli_path(path, mapped), &st) == 0 && S_ISREG(st.st_mode)) {
		char answer[8] = "";
		if (isatty(0)) {
			fprintf(stderr, "%s exists. Overwrite? [y/n] ", path);
			overwrite = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
		}
		if (!overwrite) {
			fprintf(stderr, "openetw tracerpt: %s exists; -y overwrites it\n", path);
			return NULL;
		}
	}
	if (overwrite) {
		cli_output_overwrite();
	}
	return cli_output_open(a, path, true);
}

static int process(struct report *r, const char *dump, const char *summary, const char *schema)
{
	struct cli_args *a = r->a;
	const struct tracerpt_options *o = a->given;
	bool real_time = o->real_time;
	if (real_time && a->count > 1) {
		return cli_usage(a, "one real-time session at a time");
	}
	r->trace->endless = real_time; /* Ctrl-C is how it ends */
	if (!cli_trace_open(r->trace, a->count, a->words, real_time ? a->words[0] : NULL)) {
		return CLI_FAILED;
	}
	if ((dump && !(r->dump = create(a, dump))) || (summary && !(r->summary = create(a, summary))) ||
	    (schema && !(r->schema = create(a, schema)))) {
		for (int i = 0; i < r->trace->count; i++) {
			CloseTrace(r->trace->handle[i]);
		}
		return CLI_FAILED;
	}
	r->out = cli_output_file(r->dump);
	r->out_as.timer_resolution = r->trace->file[0].LogfileHeader.TimerResolution;
	if (r->out) {
		strbuf_clear(&r->line);
		if (r->csv) {
			tracerpt_csv_head(&r->line);
		} else {
			strbuf_adds(&r->line, "<Events>\r\n");
		}
		if (r->utf16) {
			fwrite("\xFF\xFE", 1, 2, r->out);
		}
		put(r, r->line.s ? r->line.s : "", r->line.len);
	}
	uint32_t code = cli_trace_run(r->trace);
	if (r->trace->interrupted && !real_time) {
		return 128 + r->trace->interrupted; /* and what was written does not end as if it were all */
	}
	if (r->out && !r->csv && !code) {
		put(r, "</Events>\r\n", 11);
	}
	if (r->summary && !code) {
		write_summary(r);
	}
	if (r->schema && !code && !tracerpt_export_write(r->export, a, cli_output_file(r->schema))) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot write %s", schema);
	}
	r->whole = code == 0 && !r->failed;
	if (code) {
		return cli_fail(a, code, "stopped after %llu events", (unsigned long long)r->trace->events);
	}
	return r->trace->problems || r->failed ? CLI_FAILED : CLI_OK;
}

/* ---- the report -------------------------------------------------------------------------------- */

static void html_text(FILE *f, const char *s, size_t n)
{
	struct strbuf b = {0};
	while (n > 0) { /* its lines stay lines */
		const char *end = memchr(s, '\n', n);
		size_t k = end ? (size_t)(end - s) : n;
		xml_escape(&b, s, k);
		strbuf_adds(&b, end ? "\n" : "");
		s += k + (end != NULL);
		n -= k + (end != NULL);
	}
	fwrite(b.s ? b.s : "", 1, b.len, f);
	strbuf_finish(&b);
}

/* Who ran, what cost time, what was read and written: the tables that xperf prints of kernel events. */
static int write_report(struct cli_args *a, const char *path)
{
	static const struct {
		const char *title, *action, *option;
	} parts[] = {{"Processes", "process", "-withcmdline"},
		     {"CPU samples", "profile", "-detail"},
		     {"CPU by context switches", "cswitch", "-process"},
		     {"Disk accesses", "diskio", "-summary"},
		     {"Hard faults", "hardfault", NULL},
		     {"Marks", "marks", NULL},
		     {"Events", "tracestats", "-detail"}};
	struct cli_output *o = create(a, path);
	FILE *f = cli_output_file(o);
	int status = CLI_OK;
	if (!f) {
		return CLI_FAILED;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Trace report</title>\n"
	      "<style>body{font-family:sans-serif}pre{overflow:auto}</style></head><body>\n"
	      "<h1>Trace report</h1>\n<ul>\n",
	      f);
	for (int i = 0; i < a->count; i++) {
		fputs("<li>", f);
		struct strbuf name = {0};
		strbuf_addf(&name, "%s", a->words[i]);
		html_text(f, name.s ? name.s : "", name.len);
		strbuf_finish(&name);
		fputs("</li>\n", f);
	}
	fputs("</ul>\n", f);
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts) && status == CLI_OK; i++) {
		char *text = NULL;
		size_t n = 0;
		FILE *memory = open_memstream(&text, &n);
		char option[32] = "", *words[] = {option, NULL};
		snprintf(option, sizeof option, "%s", parts[i].option ? parts[i].option : "");
		status = memory ? xperf_one_report(a, parts[i].action, *option != 0, words, a->count, a->words, memory)
				: CLI_FAILED;
		if (memory) {
			fclose(memory);
		}
		fprintf(f, "<h2>%s</h2>\n<pre>", parts[i].title);
		html_text(f, text ? text : "", n);
		fputs("</pre>\n", f);
		free(text);
	}
	fputs("</body></html>\n", f);
	int end = cli_output_close(o, status == CLI_OK);
	return status != CLI_OK ? status : end;
}

static bool load_formats(const struct tracerpt_options *o)
{
	char path[4096];
	for (int i = 0; i < o->import.count; i++) {
		const char *v = o->import.text[i];
		if (openetw_schema_load_file(v) != ERROR_SUCCESS) {
			fprintf(stderr, "openetw tracerpt: %s: %s\n", v, openetw_last_error_text());
			return false;
		}
	}
	for (int i = 0; i < o->tmf_folder.count; i++) {
		const char *v = o->tmf_folder.text[i];
		DIR *d = opendir(v);
		if (!d) {
			fprintf(stderr, "openetw tracerpt: %s: %s\n", v, strerror(errno));
			return false;
		}
		for (struct dirent *e; (e = readdir(d)) != NULL;) {
			const char *dot = strrchr(e->d_name, '.');
			if (dot && strcasecmp(dot, ".tmf") == 0 &&
			    snprintf(path, sizeof path, "%s/%s", v, e->d_name) < (int)sizeof path) {
				openetw_schema_load_file(path);
			}
		}
		closedir(d);
	}
	return true;
}

static int run(struct cli_args *a)
{
	const struct tracerpt_options *o = a->given;
	if (o->report_format != TRACERPT_HTML) {
		return cli_usage(a, "reports are HTML (-f HTML)");
	}
	if (o->report && o->real_time) {
		return cli_usage(a, "a report needs a file: it is read more than once");
	}
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX) {
		return cli_usage(a, a->count ? "at most 1024 files" : "which file?");
	}
	if (!load_formats(o)) {
		return CLI_FAILED;
	}
	struct cli_trace trace = {.args = a, .event = event, .raw_time = o->raw_time};
	struct report r = {.a = a, .trace = &trace, .decoder = openetw_decoder_create()};
	if (!r.decoder) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot decode events");
	}
	trace.ctx = &r;
	r.csv = o->format == TRACERPT_CSV;
	r.utf16 = r.csv && o->encoding == TRACERPT_UTF16;
	r.out_as = (struct tracerpt){.decoder = r.decoder, .utc = o->gmt, .raw_time = o->raw_time};
	const char *dump = o->dump, *summary = o->summary, *html = o->report, *schema = o->schema;
	schema = schema && !*schema ? "schema.man" : schema;
	r.export = schema ? tracerpt_export_create() : NULL;
	if (schema && !r.export) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot collect schemas");
	}
	if (!dump && !summary && !html && !schema) {
		dump = summary = "";
	}
	html = html && *html == 0 ? "workload.html" : html;
	dump = dump && *dump == 0 ? (r.csv ? "dumpfile.csv" : "dumpfile.xml") : dump;
	summary = summary && *summary == 0 ? "summary.txt" : summary;
	int status = dump || summary || schema ? process(&r, dump, summary, schema) : CLI_OK;
	int ends[] = {cli_output_close(r.dump, r.whole), cli_output_close(r.summary, r.whole),
		      cli_output_close(r.schema, r.whole)};
	status = status != CLI_OK ? status : ends[0] != CLI_OK ? ends[0] : ends[1] != CLI_OK ? ends[1] : ends[2];
	if (status == CLI_OK && html) {
		status = write_report(a, html);
	}
	if (status == CLI_OK) {
		printf("\nInput\n----------------\nFile(s):\n");
		for (int i = 0; i < a->count; i++) {
			printf("     %s\n", a->words[i]);
		}
		printf("\n100.00%%\n\nOutput\n----------------\n");
		if (dump) {
			printf("DumpFile:           %s\n", dump);
		}
		if (summary) {
			printf("Summary:            %s\n", summary);
		}
		if (schema) {
			printf("Schema:             %s\n", schema);
		}
		if (html) {
			printf("Report:             %s\n", html);
		}
		printf("\nThe command completed successfully.\n");
		if (trace.lost_events || trace.lost_buffers || trace.unknown[0]) {
			fprintf(stderr, "openetw tracerpt: ");
			cli_trace_print_loss(stderr, &trace);
			fputc('\n', stderr);
		}
	}
	openetw_decoder_destroy(r.decoder);
	tracerpt_finish(&r.out_as);
	strbuf_finish(&r.line);
	tracerpt_export_destroy(r.export);
	free(r.kinds);
	return status;
}

const struct cli_command cli_tracerpt = {
	.name = "tracerpt",
	.synopsis = "FILE… [-o [FILE]] [-of XML|CSV] [-summary [FILE]] [-report [FILE]] [-export [FILE]] [-y]",
	.summary = "Write events as XML or CSV and a summary, as the Windows tool does.",
	.details =
		"Takes the options of Windows' tracerpt, with - or /, in any case. With neither "
		"-o nor -summary it writes\n"
		"dumpfile.xml and summary.txt. The report has tables of processes, CPU, disk, hard "
		"faults and events. -export\n"
		"writes what is known of the events that occur as a manifest, with which other machines decode them\n"
		"(TraceLogging events, WPP messages and the kernel's classes have no place in one). A link of the "
		"name\n"
		"tracerpt to openetw is this tool. Examples:\n"
		"  openetw tracerpt web.etl -o web.xml -of XML -y\n"
		"  openetw tracerpt web.etl -o web.csv -of CSV -summary web.txt -y\n"
		"  openetw tracerpt web.etl -export web.man\n",
	.options = options,
	CLI_INTO(tracerpt_options),
	.run = run,
	.classic = true,
	.complete = "file",
};
