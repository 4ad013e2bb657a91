/* SPDX-License-Identifier: MIT
 * Collector sets as XML, as Performance Monitor and logman exchange them: of one, what a trace
 * needs.
 */
#include "tools/classic/logman.h"
#include "base/parse.h"
#include "tools/common/output.h"

#include "tools/common/event_xml.h"
#include "xml/xml.h"

#include <stdlib.h>
#include <strings.h>

enum { /* AutoPathFormat */
       NAME_MONTH_DAY_HOUR_MINUTE = 0x4000,
       NAME_SERIAL = 0x200,
};

static const char *text_of(const struct xml_node *n, const char *name)
{
	const struct xml_node *c = n ? xml_child(n, name) : NULL;
	const char *s = c ? c->text : "";
	return s + strspn(s, " \t\r\n");
}

static bool number_of(const char *text, uint64_t *ret)
{
	char word[64];
	snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " \t\r\n"), text);
	if (strcmp(word, "-1") == 0) { /* how this format says yes */
		*ret = 1;
		return true;
	}
	return parse_number(word, 0, UINT64_MAX, ret);
}

static uint32_t small(const struct xml_node *n, const char *name, uint32_t fallback)
{
	uint64_t v;
	return number_of(text_of(n, name), &v) && v <= UINT32_MAX ? (uint32_t)v : fallback;
}

/* A value, or the sum of the enabled items of a map. */
static uint64_t value_map(const struct xml_node *provider, const char *name, uint64_t fallback)
{
	const struct xml_node *n = xml_child(provider, name);
	uint64_t v, sum = 0;
	bool any = false;
	if (!n) {
		return fallback;
	}
	if (number_of(text_of(n, "Value"), &v)) {
		return v;
	}
	for (const struct xml_node *i = xml_child(n, "ValueMapItem"); i; i = xml_next(i, "ValueMapItem")) {
		uint64_t on = 1;
		number_of(text_of(i, "Enabled"), &on);
		if (on && number_of(text_of(i, "Value"), &v)) {
			sum |= v;
			any = true;
		}
	}
	return any ? sum : fallback;
}

static void trimmed(char *out, size_t cap, const char *s)
{
	size_t n = strlen(s);
	while (n > 0 && strchr(" \t\r\n", s[n - 1])) {
		n--;
	}
	snprintf(out, cap, "%.*s", (int)n, s);
}

static bool providers(const struct xml_node *trace, struct etw_session *s, char *why, size_t cap)
{
	for (const struct xml_node *n = xml_child(trace, "TraceDataProvider"); n;
	     n = xml_next(n, "TraceDataProvider")) {
		struct session_provider p;
		char name[256], guid[64];
		trimmed(name, sizeof name, text_of(n, "DisplayName"));
		trimmed(guid, sizeof guid, text_of(n, "Guid"));
		if (!controller_provider(*guid ? guid : name, &p)) {
			snprintf(why, cap, "line %u: a provider without a usable Guid or DisplayName", n->line);
			return false;
		}
		snprintf(p.name, sizeof p.name, "%s", name);
		p.level = (uint8_t)BASE_MIN(value_map(n, "Level", 255), (uint64_t)255);
		p.any = value_map(n, "KeywordsAny", 0);
		p.all = value_map(n, "KeywordsAll", 0);
		p.properties = (uint32_t)value_map(n, "Properties", 0);
		struct session_provider *at = session_add_provider(s, &p.guid);
		if (!at) {
			snprintf(why, cap, "%s", session_add_failed(s));
			return false;
		}
		*at = p;
	}
	return true;
}

static void settings(const struct xml_node *set, const struct xml_node *trace, struct etw_session *s)
{
	static const uint32_t streams[] = {0, 0, EVENT_TRACE_REAL_TIME_MODE, EVENT_TRACE_REAL_TIME_MODE,
					   EVENT_TRACE_BUFFERING_MODE};
	uint32_t stream = small(trace, "StreamMode", 1), format = small(trace, "FileNameFormat", 0);
	s->props.mode = (stream < BASE_ARRAY_LEN(streams) ? streams[stream] : 0) | small(trace, "ExtendedModes", 0) |
			(small(trace, "LogAppend", 0) ? EVENT_TRACE_FILE_MODE_APPEND : 0) |
			(small(trace, "LogCircular", 0) ? EVENT_TRACE_FILE_MODE_CIRCULAR : 0) |
			(small(trace, "PreallocateFile", 0) ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0);
	s->overwrite = small(trace, "LogOverwrite", 0) != 0;
	s->props.buffer_kb = small(trace, "BufferSize", 0);
	s->props.minimum_buffers = small(trace, "MinimumBuffers", 0);
	s->props.maximum_buffers = small(trace, "MaximumBuffers", 0);
	s->props.flush_timer = small(trace, "FlushTimer", 0);
	s->props.clock = small(trace, "ClockType", 1);
	s->props.clock = s->props.clock >= 1 && s->props.clock <= 3 ? s->props.clock : 1;
	s->props.maximum_file_size = small(set, "SegmentMaxSize", 0);
	s->expire_s = small(set, "Duration", 0);
	s->suffix = format & NAME_SERIAL                  ? SESSION_SUFFIX_NUMBER
		    : format & NAME_MONTH_DAY_HOUR_MINUTE ? SESSION_SUFFIX_TIME
							  : SESSION_SUFFIX_NONE;
	s->serial = BASE_MAX(small(set, "SerialNumber", 1), 1u);
	if (stream == 2 || stream == 4) {
		return;
	}
	/* A folder of another machine means nothing here: the name goes to the current directory.
	 */
	char file[2048], cwd[1024];
	trimmed(file, sizeof file, text_of(trace, "FileName"));
	for (char *c = file; *c; c++) {
		*c = *c == '\\' ? '/' : *c;
	}
	const char *slash = strrchr(file, '/');
	const char *base = *file == '/' ? file : slash ? slash + 1 : file;
	if (!*base) {
		base = s->name;
	}
	const char *dot = strrchr(base, '.');
	snprintf(s->file, sizeof s->file, "%s%s%.2900s%s", *base != '/' && getcwd(cwd, sizeof cwd) ? cwd : "",
		 *base != '/' ? "/" : "", base, dot ? "" : ".etl");
	uint32_t order = s->props.mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_APPEND |
					  EVENT_TRACE_FILE_MODE_NEWFILE);
	s->props.mode |= order ? 0 : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
}

int logman_import(const struct cli_args *a, const char *name)
{
	const struct logman_options *given = a->given;
	const char *file = given->xml;
	struct diag d = {0};
	struct xml_doc doc;
	struct strbuf text = {0};
	char why[5000], path[4200];
	if (!file) {
		return cli_usage(a, "import needs -xml FILE");
	}
	int r = cli_file_read(file, XML_BYTES_MAX, &text);
	if (r < 0) {
		strbuf_finish(&text);
		return logman_error(win32_from_errno(r), file, NULL);
	}
	r = xml_parse(text.s ? text.s : "", text.len, &doc, &d);
	strbuf_finish(&text);
	if (r < 0) {
		snprintf(why, sizeof why, "%s:%u:%u: %s", file, d.line, d.column, d.text);
		return logman_error(ERROR_XML_PARSE_ERROR, why, NULL);
	}
	const struct xml_node *set = doc.root;
	const struct xml_node *trace =
		strcasecmp(set->name, "DataCollectorSet") == 0 ? xml_child(set, "TraceDataCollector") : NULL;
	struct etw_session s;
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%s", name);
	int status = CLI_FAILED;
	bool fine = trace != NULL;
	snprintf(why, sizeof why, "%s holds no DataCollectorSet with a TraceDataCollector", file);
	if (fine) {
		settings(set, trace, &s);
		fine = providers(trace, &s, why, sizeof why);
	}
	uint32_t code = fine ? cli_session_check(&s, SESSION_RUNNER_ANY) : ERROR_INVALID_DATA;
	if (fine && code) {
		fine = false;
		snprintf(why, sizeof why, "%s: %s", file, cli_session_why());
	}
	r = fine ? session_path(SESSION_COLLECTORS, false, name, path, sizeof path) : 0;
	if (!fine) {
		logman_error(code, why, NULL);
	} else if (r == 0 && access(path, F_OK) == 0) {
		logman_error(PLA_E_DCS_ALREADY_EXISTS, path, "'logman delete' drops it");
	} else if (r == 0 && (r = session_write(path, &s)) == 0) {
		status = logman_done();
	} else {
		logman_error(win32_from_errno(r), path, NULL);
	}
	session_finish(&s);
	xml_finish(&doc);
	return status;
}

static void put_text(FILE *f, const char *name, const char *s, const char *indent)
{
	struct strbuf text = {0};
	xml_escape(&text, s, strlen(s));
	fputs(indent, f);
	fprintf(f, "<%s>%s</%s>\n", name, text.s ? text.s : "", name);
	strbuf_finish(&text);
}

static void put_value(FILE *f, const char *name, uint64_t v)
{
	fprintf(f, "\t\t\t<%s>\n\t\t\t\t<Value>0x%llx</Value>\n\t\t\t</%s>\n", name, (unsigned long long)v, name);
}

int logman_export(const struct cli_args *a, const struct etw_session *s)
{
	const struct logman_options *given = a->given;
	const char *file = given->xml;
	if (!file) {
		return cli_usage(a, "export needs -xml FILE");
	}
	struct cli_output *o = cli_output_open(a, file, true);
	FILE *f = cli_output_file(o);
	if (!f) {
		return CLI_FAILED;
	}
	bool rt = s->props.mode & EVENT_TRACE_REAL_TIME_MODE;
	uint32_t own = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_APPEND |
		       EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_REAL_TIME_MODE |
		       EVENT_TRACE_BUFFERING_MODE;
	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DataCollectorSet>\n");
	put_text(f, "Name", s->name, "\t");
	fprintf(f,
		"\t<Duration>%u</Duration>\n\t<SegmentMaxSize>%u</SegmentMaxSize>\n"
		"\t<SerialNumber>%u</SerialNumber>\n\t<TraceDataCollector>\n",
		s->expire_s, s->props.maximum_file_size, s->serial);
	fprintf(f, "\t\t<DataCollectorType>1</DataCollectorType>\n");
	put_text(f, "Name", s->name, "\t\t");
	put_text(f, "FileName", s->file, "\t\t");
	const struct {
		const char *name;
		uint32_t value;
	} rows[] = {
		{"FileNameFormat", s->suffix == SESSION_SUFFIX_NUMBER ? NAME_SERIAL
				   : s->suffix == SESSION_SUFFIX_TIME ? NAME_MONTH_DAY_HOUR_MINUTE
								      : 0},
		{"LogAppend", (s->props.mode & EVENT_TRACE_FILE_MODE_APPEND) != 0},
		{"LogCircular", (s->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0},
		{"LogOverwrite", s->overwrite},
		{"PreallocateFile", (s->props.mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) != 0},
		{"BufferSize", s->props.buffer_kb},
		{"MinimumBuffers", s->props.minimum_buffers},
		{"MaximumBuffers", s->props.maximum_buffers},
		{"FlushTimer", s->props.flush_timer},
		{"ClockType", s->props.clock},
		{"ExtendedModes", s->props.mode & ~own},
		{"StreamMode", s->props.mode & EVENT_TRACE_BUFFERING_MODE ? 4
			       : rt                                       ? (s->file[0] ? 3 : 2)
									  : 1},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		fprintf(f, "\t\t<%s>%u</%s>\n", rows[i].name, rows[i].value, rows[i].name);
	}
	put_text(f, "SessionName", s->name, "\t\t");
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *p = &s->provider[i];
		char guid[37], braces[48];
		snprintf(braces, sizeof braces, "{%s}", guid_format(&p->guid, guid));
		fprintf(f, "\t\t<TraceDataProvider>\n");
		put_text(f, "DisplayName", p->name, "\t\t\t");
		put_text(f, "Guid", braces, "\t\t\t");
		put_value(f, "Level", p->level);
		put_value(f, "KeywordsAny", p->any);
		put_value(f, "KeywordsAll", p->all);
		put_value(f, "Properties", p->properties);
		fprintf(f, "\t\t</TraceDataProvider>\n");
	}
	fprintf(f, "\t</TraceDataCollector>\n</DataCollectorSet>\n");
	return cli_output_close(o, true) == CLI_OK ? logman_done() : CLI_FAILED;
}
