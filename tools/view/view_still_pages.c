/* SPDX-License-Identifier: MIT
 * What the pages ask when they are opened. The test of stills opens each of these pages and looks for answers that are missing.
 */
#include "tools/view/view_still.h"

#include <stdlib.h>

#define THREADS_MOST 60u  /* lanes of a still */
#define ROWS_MOST    400u /* of its list of events */
#define DETAILS_MOST 100u /* events of which everything is there */

const char view_still_names[] =
	"overview, timeline, events, cpu, waits, io, network, memory, dotnet, providers, diagnostics";

enum sel {
	NOTHING,   /* no parameters of a selection */
	TRACE,     /* tr */
	TIMES,     /* tr, t0, t1 */
	SELECTION, /* tr, t0, t1, f */
};
static const struct {
	const char *page, *path, *rest; /* page "": of all pages */
	enum sel sel;
} asks[] = {
	{"", "traces", "", NOTHING},
	{"", "info", "", TRACE},
	{"", "marks", "", TRACE},
	{"overview", "hist", "px=1200&by=provider&top=8", SELECTION},
	{"overview", "cards", "", SELECTION},
	{"overview", "cards", "part=causes", TIMES},
	{"overview", "processes", "", TRACE},
	{"overview", "facets", "by=provider&top=500", SELECTION},
	{"overview", "diag", "", TRACE},
	{"timeline", "columns", "", SELECTION},
	{"timeline", "area", "", SELECTION},
	{"timeline", "threads", "top=60", TRACE},
	{"timeline", "hist", "px=1600&by=provider&top=8", SELECTION},
	{"timeline", "lanes", "px=1600&list=cpus", TIMES},
	{"timeline", "counters", "px=1600&list=cpu,ready,disk_bytes,disk_queue,file_bytes,net_bytes,faults,syscalls",
	 TIMES},
	{"events", "facets", "by=provider&top=12", SELECTION},
	{"events", "facets", "by=type&top=12", SELECTION},
	{"events", "facets", "by=process_name&top=12", SELECTION},
	{"events", "facets", "by=level&top=12", SELECTION},
	{"events", "facets", "by=cpu&top=12", SELECTION},
	{"events", "facets", "by=thread&top=12", SELECTION},
	{"events", "columns", "", SELECTION},
	{"cpu", "symbols", "", TRACE},
	{"cpu", "columns", "", SELECTION},
	{"cpu", "threads", "top=300", TRACE},
	{"cpu", "stacks", "weight=samples&max=3000", SELECTION},
	{"waits", "table",
	 "name=waits&where=kind+%3D%3D+wait&group_by=process_name,tid,thread&columns=count,sum(duration),p50(duration),"
	 "p99(duration),max(duration)&sort=sum(duration)&top=500",
	 TIMES},
	{"io", "counters", "px=800&list=disk_bytes,disk_queue,file_bytes", TIMES},
	{"io", "table",
	 "name=io&top=500&where=(layer+%3D%3D+disk)&group_by=process_name,pid,operation&columns=count,sum(bytes),sum("
	 "duration),"
	 "p50(duration),p99(duration),max(duration),errors(status),max(queue)",
	 TIMES},
	{"network", "counters", "px=800&list=net_bytes", TIMES},
	{"network", "table",
	 "name=net&top=500&group_by=process_name,pid,protocol,remote&columns=count,sum(bytes),errors(status)", TIMES},
	{"memory", "counters", "px=800&list=faults", TIMES},
	{"memory", "table", "name=faults&top=500&group_by=process_name,pid,kind&columns=count,sum(bytes)", TIMES},
	{"dotnet", "table",
	 "name=gc&top=500&group_by=process_name,pid,generation,type&columns=count,sum(pause),p50(pause),p99(pause),"
	 "max(pause),max(duration)",
	 TIMES},
	{"providers", "providers", "", TRACE},
	{"diagnostics", "diag", "", TRACE},
	{"diagnostics", "symbols", "", TRACE},
};

struct asker {
	struct view_still *still;
	int64_t from, to;
	const char *filter;
	struct strbuf text;
};

static void begin(struct asker *a, const char *path, enum sel sel)
{
	strbuf_clear(&a->text);
	strbuf_adds(&a->text, path);
	if (sel != NOTHING) {
		strbuf_adds(&a->text, "?tr=0");
	}
	if (sel >= TIMES) {
		strbuf_addf(&a->text, "&t0=%lld&t1=%lld", (long long)a->from, (long long)a->to);
	}
	if (sel == SELECTION && a->filter) {
		strbuf_adds(&a->text, "&f=");
		view_still_escape(&a->text, a->filter);
	}
}

static bool finish(struct asker *a)
{
	return !a->text.failed && a->text.s && view_still_ask(a->still, a->text.s);
}

/* An answer for this program, not for the file. NULL: none. */
static struct json_value *look(struct asker *a, const char *member)
{
	char why[200];
	struct view_still own = {.view = a->still->view};
	struct json_value *v = NULL;
	if (!a->text.failed && a->text.s && view_still_ask(&own, a->text.s)) {
		const char *json = strstr(own.answers.s, "\"json\":");
		v = json ? json_parse(own.answers.s, own.answers.len, why, sizeof why) : NULL;
	}
	view_still_finish(&own);
	if (v && !json_member(json_member(v, "json"), member)) {
		json_free(v);
		v = NULL;
	}
	return v;
}

/* Lanes of the threads with most events, and what they have of spans. */
static bool add_lanes(struct asker *a)
{
	static const char *const kinds[] = {"events", "disks", "files"};
	struct strbuf list = {0};
	int64_t id;
	begin(a, "threads", TRACE);
	strbuf_addf(&a->text, "&top=%u", THREADS_MOST);
	struct json_value *v = look(a, "threads"), *threads = json_member(json_member(v, "json"), "threads");
	for (size_t i = 0; i < json_count(threads); i++) {
		if (json_integer(json_member(json_at(threads, i), "thread"), &id)) {
			strbuf_addf(&list, "%s%lld", list.len ? "," : "", (long long)id);
		}
	}
	json_free(v);
	bool ok = !list.failed;
	if (list.len && ok) {
		begin(a, "lanes", TIMES);
		strbuf_addf(&a->text, "&px=1600&list=thread:%s", list.s);
		ok = finish(a);
		for (size_t i = 0; i < BASE_ARRAY_LEN(kinds) && ok; i++) {
			begin(a, "spans", TIMES);
			strbuf_addf(&a->text, "&px=1600&kind=%s&threads=%s", kinds[i], list.s);
			ok = finish(a);
		}
	}
	strbuf_finish(&list);
	return ok;
}

static bool add_rows(struct asker *a)
{
	int64_t row;
	begin(a, "rows", SELECTION);
	strbuf_addf(&a->text, "&at=0&n=%u", ROWS_MOST);
	bool ok = finish(a);
	begin(a, "rows", SELECTION);
	strbuf_addf(&a->text, "&at=0&n=%u", DETAILS_MOST);
	struct json_value *v = look(a, "rows"), *rows = json_member(json_member(v, "json"), "rows");
	for (size_t i = 0; i < json_count(rows) && ok; i++) {
		if (json_integer(json_at(json_at(rows, i), 0), &row)) {
			begin(a, "row", TRACE);
			strbuf_addf(&a->text, "&row=%lld", (long long)row);
			ok = finish(a);
		}
	}
	json_free(v);
	return ok;
}

bool view_still_page(struct view_still *s, const char *name, int64_t from, int64_t to, const char *filter)
{
	struct asker a = {.still = s, .from = from, .to = to, .filter = filter};
	size_t n = strlen(name);
	const char *known = strstr(view_still_names, name);
	bool ok =
		n > 0 && known && (known[n] == ',' || known[n] == 0) && (known == view_still_names || known[-1] == ' ');
	for (size_t i = 0; i < BASE_ARRAY_LEN(asks) && ok; i++) {
		if (asks[i].page[0] ? strcmp(asks[i].page, name) == 0 : s->count < 3) {
			begin(&a, asks[i].path, asks[i].sel);
			strbuf_addf(&a.text, "%s%s", asks[i].rest[0] ? (asks[i].sel == NOTHING ? "?" : "&") : "",
				    asks[i].rest);
			ok = finish(&a);
		}
	}
	if (ok && strcmp(name, "timeline") == 0) {
		ok = add_lanes(&a);
	} else if (ok && strcmp(name, "events") == 0) {
		ok = add_rows(&a);
	}
	strbuf_finish(&a.text);
	return ok;
}
