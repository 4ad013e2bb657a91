/* SPDX-License-Identifier: MIT
 *
 * qe: events of .etl files that a query selects. A query is an XPath (xpath.h), or a file with a
 * <QueryList>, whose <Select> and <Suppress> are such.
 */
#include "tools/common/trace_reading.h"
#include "base/vec.h"
#include "base/parse.h"
#include "tools/common/path.h"
#include "tools/classic/wevtutil.h"
#include "tools/classic/wevtutil_render.h"
#include "tools/common/xpath.h"
#include "etw/values/guids.h"

#include <openetw/decode.h>
#include <stdlib.h>
#include <strings.h>

#define SELECTS_MAX 64
#define LIST_MAX    (1u << 20)

struct select {
	struct cli_xpath *x;
	bool suppress;
	int query; /* suppressed are the events of the same query only */
	char *path;
};
struct kept {
	char *text;
	uint64_t ordinal;
};
struct query {
	struct wevtutil *w;
	struct openetw_decoder *decoder;
	struct select select[SELECTS_MAX];
	int selects;
	enum { AS_XML, AS_TEXT, AS_RENDERED } format;
	uint64_t count, limit, now;
	uint64_t ordinal;     /* of the event, from 1 on */
	uint64_t mark, shown; /* that of the bookmark, that of the last one shown; 0: none */
	bool marked;
	bool reverse, failed;
	struct strbuf out;
	struct kept *kept; /* with /rd: all that match, up to the limit the last of them */
	size_t kept_count, kept_cap;
};

static bool selected(const struct query *q, const struct wevtutil_event *v)
{
	if (q->selects == 0) {
		return true;
	}
	for (int i = 0; i < q->selects; i++) {
		const struct select *s = &q->select[i];
		if (s->suppress || !cli_xpath_match(s->x, v->doc.root, q->now)) {
			continue;
		}
		bool held = false;
		for (int k = 0; k < q->selects && !held; k++) {
			const struct select *t = &q->select[k];
			held = t->suppress && t->query == s->query && cli_xpath_match(t->x, v->doc.root, q->now);
		}
		if (!held) {
			return true;
		}
	}
	return false;
}

static void show(struct query *q, const struct wevtutil_event *v, uint64_t index)
{
	strbuf_clear(&q->out);
	if (q->format == AS_TEXT) {
		wevtutil_event_text(v, index, &q->out);
	} else {
		wevtutil_event_xml(v, q->format == AS_RENDERED, &q->out);
	}
	q->failed = q->failed || q->out.failed;
}

static void keep(struct query *q)
{
	char *copy = VEC_ROOM(q->kept, q->kept_count, q->kept_cap) ? strdup(q->out.s ? q->out.s : "") : NULL;
	if (!copy) {
		q->failed = true;
		return;
	}
	q->kept[q->kept_count++] = (struct kept){copy, q->ordinal};
	/* Of more than asked for, the oldest are not shown. */
	if (q->limit && q->kept_count > 2 * q->limit + 16) {
		size_t drop = q->kept_count - q->limit;
		for (size_t i = 0; i < drop; i++) {
			free(q->kept[i].text);
		}
		memmove(q->kept, q->kept + drop, q->limit * sizeof *q->kept);
		q->kept_count = q->limit;
	}
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct query *q = ctx;
	struct wevtutil_event v;
	static const struct guid metadata = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);
	openetw_decoder_learn(q->decoder, e);
	/* The header of the file and descriptions in it are no events of anybody. */
	if (memcmp(&e->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) == 0 ||
	    memcmp(&e->EventHeader.ProviderId, &metadata, sizeof(GUID)) == 0) {
		return true;
	}
	q->ordinal++;
	if (q->marked && (q->reverse ? q->ordinal >= q->mark : q->ordinal <= q->mark)) {
		return !q->reverse; /* later ones are later too */
	}
	if (wevtutil_event_read(q->decoder, e, &v) < 0) {
		q->failed = true;
		return false;
	}
	if (selected(q, &v)) {
		show(q, &v, q->reverse ? 0 : q->count);
		q->count++;
		if (q->reverse) {
			keep(q);
		} else {
			fwrite(q->out.s ? q->out.s : "", 1, q->out.len, stdout);
			q->shown = q->ordinal;
		}
	}
	wevtutil_event_finish(&v);
	return !q->failed && (q->reverse || !q->limit || q->count < q->limit);
}

static void show_kept(struct query *q)
{
	uint64_t index = 0;
	for (size_t i = q->kept_count; i-- > 0 && (!q->limit || index < q->limit); index++) {
		const char *s = q->kept[i].text;
		q->shown = q->kept[i].ordinal;
		if (q->format == AS_TEXT) { /* they count from the newest */
			printf("Event[%llu]", (unsigned long long)index);
			s = strchr(s, ']') ? strchr(s, ']') + 1 : s;
		}
		fputs(s, stdout);
	}
}

/* ---- queries ----------------------------------------------------------------------------------
 */

static int add_select(struct query *q, const char *text, bool suppress, int query, const char *path)
{
	size_t at;
	const char *why;
	if (q->selects == SELECTS_MAX) {
		return cli_usage(q->w->a, "qe: at most %d selections", SELECTS_MAX);
	}
	struct cli_xpath *x = cli_xpath_parse(text, &at, &why);
	if (!x) {
		cli_usage(q->w->a, "qe: the query is wrong at character %zu: %s\n  %s\n  %*s^", at + 1, why, text,
			  (int)at, "");
		return CLI_USAGE;
	}
	char *copy = path ? strdup(path) : NULL;
	q->select[q->selects++] = (struct select){x, suppress, query, copy};
	return CLI_OK;
}

/* "file://C:\x.etl" and "file:///x.etl" are x.etl. */
static const char *path_of(const char *path)
{
	return path && strncasecmp(path, "file://", 7) == 0 ? path + 7 : path;
}

static int read_list(struct query *q, const char *file)
{
	struct strbuf b = {0};
	struct diag d;
	struct xml_doc doc;
	int err = cli_file_read(file, LIST_MAX, &b);
	diag_clear(&d);
	if (err < 0) {
		fprintf(stderr, "openetw wevtutil: cannot read %s: %s\n", file, strerror(-err));
		strbuf_finish(&b);
		return CLI_FAILED;
	}
	err = xml_parse(b.s ? b.s : "", b.len, &doc, &d);
	strbuf_finish(&b);
	if (err < 0) {
		fprintf(stderr, "%s:%u:%u: error: %s\n", file, d.line, d.column, d.text);
		return CLI_FAILED;
	}
	int status = CLI_OK, query = 0;
	for (const struct xml_node *e = xml_child(doc.root, "Query"); e && status == CLI_OK;
	     e = xml_next(e, "Query"), query++) {
		for (const struct xml_node *s = e->children; s && status == CLI_OK; s = s->next) {
			bool suppress = strcmp(s->name, "Suppress") == 0;
			const char *path = xml_value(s, "Path") ? xml_value(s, "Path") : xml_value(e, "Path");
			const char *text = s->text + strspn(s->text, " \t\r\n");
			if (suppress || strcmp(s->name, "Select") == 0) {
				status = add_select(q, *text ? text : "*", suppress, query, path_of(path));
			}
		}
	}
	xml_finish(&doc);
	if (status == CLI_OK && q->selects == 0) {
		fprintf(stderr, "openetw wevtutil: %s has no <QueryList> with a <Select>\n", file);
		status = CLI_FAILED;
	}
	return status;
}

static int paths(struct query *q, char **ret, int cap)
{
	int n = 0;
	for (int i = 0; i < q->selects; i++) {
		bool have = !q->select[i].path;
		for (int k = 0; k < n && !have; k++) {
			have = strcmp(ret[k], q->select[i].path) == 0;
		}
		if (!have && n < cap) {
			ret[n++] = q->select[i].path;
		}
	}
	return n;
}

static int work(struct query *q)
{
	struct wevtutil *w = q->w;
	char *files[CLI_TRACE_FILES_MAX] = {(char *)(uintptr_t)w->word};
	int count = 1, status = CLI_OK;
	if (wevtutil_on(w, "sq")) {
		status = read_list(q, w->word);
		count = status == CLI_OK ? paths(q, files, CLI_TRACE_FILES_MAX) : 0;
		if (status == CLI_OK && count == 0) {
			fprintf(stderr, "openetw wevtutil: no Path in %s names a file\n", w->word);
			status = CLI_FAILED;
		}
	} else if (wevtutil_value(w, "q", NULL)) {
		status = add_select(q, wevtutil_value(w, "q", NULL), false, 0, NULL);
	}
	if (status != CLI_OK) {
		return status;
	}
	struct cli_trace t = {.args = w->a, .event = event, .ctx = q, .no_progress = true};
	if (!wevtutil_on(w, "sq") && access(w->word, F_OK) < 0 && !wevtutil_on(w, "lf") && !strstr(w->word, ".etl")) {
		fprintf(stderr,
			"openetw wevtutil: there is no event log '%s' here; name an .etl file and "
			"say /lf\n",
			w->word);
		return CLI_FAILED;
	}
	for (int i = 0; i < count; i++) {
		cli_path_input(files[i]);
	}
	if (!cli_trace_open(&t, count, files, NULL)) {
		return CLI_FAILED;
	}
	const char *root = wevtutil_value(w, "e", NULL);
	if (root) {
		printf("<%s>\n", root);
	}
	uint32_t code = cli_trace_run(&t);
	if (t.interrupted) {
		return 128 + t.interrupted; /* without the root's end: it is not all */
	}
	show_kept(q);
	if (root) {
		printf("</%s>\n", root);
	}
	if (code) {
		return cli_fail(w->a, code, "stopped after %llu events", (unsigned long long)t.events);
	}
	if (q->failed) {
		return cli_fail(w->a, ERROR_NOT_ENOUGH_MEMORY, "cannot show events");
	}
	if (q->count == 0) { /* with 0, as Windows' tool */
		fflush(stdout);
		fprintf(stderr, "openetw wevtutil: no event %s\n",
			q->selects  ? "fits the query"
			: q->marked ? "lies behind the bookmark"
				    : "is in there");
	}
	const char *save = wevtutil_value(w, "sbm", NULL);
	uint64_t at = q->shown ? q->shown : q->mark;
	if (save && wevtutil_bookmark_write(save, files[0], at) != CLI_OK) {
		return CLI_FAILED;
	}
	return t.problems ? CLI_FAILED : CLI_OK;
}

int wevtutil_query(struct wevtutil *w)
{
	const char *format = wevtutil_value(w, "f", "xml"), *limit = wevtutil_value(w, "c", NULL);
	struct query q = {.w = w, .reverse = wevtutil_on(w, "rd"), .now = clock_filetime()};
	if (limit && !parse_number(limit, 1, UINT64_MAX, &q.limit)) {
		return cli_usage(w->a, "/c takes a number from 1 on, not '%s'", limit);
	}
	const char *bookmark = wevtutil_value(w, "bm", NULL);
	q.marked = bookmark != NULL;
	if (bookmark && wevtutil_bookmark_read(bookmark, &q.mark) != CLI_OK) {
		return CLI_FAILED;
	}
	q.format = strcasecmp(format, "text") == 0          ? AS_TEXT
		   : strcasecmp(format, "RenderedXml") == 0 ? AS_RENDERED
							    : AS_XML;
	if (q.format == AS_XML && strcasecmp(format, "xml") != 0) {
		return cli_usage(w->a, "/f takes text, xml or RenderedXml, not '%s'", format);
	}
	q.decoder = openetw_decoder_create();
	int status = q.decoder ? work(&q) : cli_fail(w->a, ERROR_NOT_ENOUGH_MEMORY, "cannot decode events");
	openetw_decoder_destroy(q.decoder);
	for (int i = 0; i < q.selects; i++) {
		cli_xpath_destroy(q.select[i].x);
		free(q.select[i].path);
	}
	for (size_t i = 0; i < q.kept_count; i++) {
		free(q.kept[i].text);
	}
	free(q.kept);
	strbuf_finish(&q.out);
	return status;
}
