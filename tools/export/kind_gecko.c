/* SPDX-License-Identifier: MIT
 * Gecko: a profile in the form that Firefox itself writes, version 31 (firefox-devtools/profiler,
 * docs-developer/gecko-profile-format.md and src/types/gecko-profile.ts). Each thread has tables of its own, as rows
 * whose columns a schema names. Samples are samples; other events are markers.
 */
#include "tools/export/export.h"

#include "base/vec.h"
#include "format/kernel_class.h"
#include "tools/export/stacks.h"

#include <stdlib.h>

#define VERSION      31
#define KERNEL_SPACE 0xFFFF000000000000ull
#define THREADS_MAX  65536u
enum { CATEGORY_OTHER, CATEGORY_KERNEL, CATEGORY_USER };
enum { PHASE_INSTANT = 0, PHASE_START = 2, PHASE_END = 3 };

struct gecko_thread {
	uint32_t pid, tid;
	char *process, *name;
	struct intern strings;
	struct stacks stacks; /* a frame's text begins with 'k' or 'u' */
	struct strbuf samples, markers;
	int64_t first, last;
};
struct gecko {
	struct intern keys; /* of threads, in the order of `thread` */
	struct gecko_thread *thread;
	uint32_t threads, thread_cap;
	struct strbuf key, text;
};

static void add_time(struct strbuf *b, int64_t t) /* 100 ns, as milliseconds */
{
	uint64_t n = t < 0 ? (uint64_t)-t : (uint64_t)t;
	strbuf_addf(b, "%s%llu.%04u", t < 0 ? "-" : "", (unsigned long long)(n / 10000), (unsigned)(n % 10000));
}

/* Where times count from: a number of JSON has no room for parts of a millisecond since 1970. */
static uint64_t whole_ms(uint64_t time_100ns)
{
	return time_100ns - time_100ns % 10000;
}

static struct gecko_thread *thread_of(struct gecko *g, const struct export_event *e)
{
	const struct openetw_event_origin *o = e->who;
	const char *process = o->process ? o->process : "", *name = o->thread ? o->thread : "";
	bool is_new;
	strbuf_clear(&g->key);
	strbuf_addf(&g->key, "%u %u ", o->pid, o->tid);
	strbuf_adds(&g->key, process);
	uint32_t i = intern_text(&g->keys, g->key.s, g->key.len, &is_new);
	if (i != INTERN_NONE && is_new && i < THREADS_MAX && VEC_ROOM(g->thread, g->threads, g->thread_cap)) {
		g->thread[g->threads++] = (struct gecko_thread){.pid = o->pid,
								.tid = o->tid,
								.process = strdup(process),
								.name = strdup(name),
								.first = INT64_MAX};
	}
	if (i == INTERN_NONE || i >= g->threads || !g->thread[i].process || !g->thread[i].name) {
		return NULL;
	}
	if (!g->thread[i].name[0] && name[0]) { /* it was given one by now */
		free(g->thread[i].name);
		g->thread[i].name = strdup(name);
	}
	return g->thread[i].name ? &g->thread[i] : NULL;
}

/* "module!function" as "function (in module)", with a letter in front that says where it ran. */
static uint32_t frame_of(struct gecko *g, struct gecko_thread *t, const char *name, size_t n, bool kernel)
{
	const char *mark = memchr(name, '!', n);
	strbuf_clear(&g->text);
	strbuf_addc(&g->text, kernel ? 'k' : 'u');
	if (mark && (size_t)(mark - name) + 1 < n) {
		strbuf_add(&g->text, mark + 1, n - (size_t)(mark - name) - 1);
		strbuf_adds(&g->text, " (in ");
		strbuf_add(&g->text, name, (size_t)(mark - name));
		strbuf_addc(&g->text, ')');
	} else {
		strbuf_add(&g->text, name, n);
	}
	return stacks_frame(&t->stacks, g->text.s, g->text.len);
}

/* The row of the stack table; STACKS_ROOT: none. */
static uint32_t stack_of(struct gecko *g, struct gecko_thread *t, const struct export_event *e)
{
	uint32_t node = STACKS_ROOT;
	for (uint32_t i = e->frame_count; i-- > 0;) {
		const char *name = e->frame[i].name;
		while (*name) {
			size_t n = strcspn(name, ";");
			node = stacks_node(&t->stacks, node,
					   frame_of(g, t, name, n, e->frame[i].address >= KERNEL_SPACE));
			name += n + (name[n] == ';');
		}
	}
	return node;
}

/* Rows count from 0, and the root is none of them. */
static void add_stack(struct strbuf *b, uint32_t node)
{
	if (node == STACKS_ROOT) {
		strbuf_adds(b, "null");
	} else {
		strbuf_addf(b, "%u", node - 1);
	}
}

static unsigned phase_of(const EVENT_HEADER *h)
{
	if (kernel_class_group(&h->ProviderId) >= 0) {
		return PHASE_INSTANT;
	}
	return h->EventDescriptor.Opcode == 1   ? PHASE_START
	       : h->EventDescriptor.Opcode == 2 ? PHASE_END
						: PHASE_INSTANT;
}

/* "Request" of "Request/Start": start and end are one marker when their names are one. */
static size_t marker_name(struct gecko *g, const struct export_event *e, unsigned phase)
{
	const char *end = phase == PHASE_START ? "Start" : phase == PHASE_END ? "Stop" : "";
	strbuf_clear(&g->text);
	strbuf_adds(&g->text, e->provider);
	strbuf_addc(&g->text, '/');
	size_t n = strlen(e->name), k = strlen(end);
	if (k && n > k && strcasecmp(e->name + n - k, end) == 0) {
		n -= k;
		n -= n > 1 && e->name[n - 1] == '/';
	}
	strbuf_add(&g->text, e->name, n);
	return g->text.len;
}

/* [name, startTime, endTime, phase, category, data] */
static void marker(struct gecko *g, struct gecko_thread *t, const struct export_event *e, int64_t time)
{
	struct strbuf *b = &t->markers;
	uint32_t stack = stack_of(g, t, e);
	unsigned phase = phase_of(&e->record->EventHeader);
	size_t n = marker_name(g, e, phase);
	strbuf_adds(b, b->len ? "," : "");
	strbuf_addf(b, "[%u,", intern_text(&t->strings, g->text.s, n, NULL));
	if (phase == PHASE_END) {
		strbuf_adds(b, "null,");
		add_time(b, time);
	} else {
		add_time(b, time);
		strbuf_adds(b, ",null");
	}
	strbuf_addf(b, ",%u,%u,{\"type\":\"ETW\",\"event\":", phase, CATEGORY_OTHER);
	strbuf_add_json(b, e->name, strlen(e->name));
	strbuf_addf(b, ",\"cpu\":%u,\"level\":\"%s\",\"fields\":", e->cpu, export_level(e));
	/* Text for people, of which they see one line: the payload as JSON. */
	strbuf_clear(&g->text);
	for (size_t i = 0; i < e->field_count; i++) {
		strbuf_addc(&g->text, i ? ',' : '{');
		strbuf_add_json(&g->text, e->field[i].name, e->field[i].name_length);
		strbuf_addc(&g->text, ':');
		strbuf_add(&g->text, e->field[i].json, e->field[i].json_length);
	}
	strbuf_adds(&g->text, e->field_count ? "}" : "{}");
	strbuf_add_json(b, g->text.s ? g->text.s : "", g->text.len);
	if (stack != STACKS_ROOT) {
		strbuf_addf(b,
			    ",\"stack\":{\"name\":\"SyncProfile\",\"registerTime\":null,\"unregisterTime\":null,"
			    "\"processType\":\"default\",\"tid\":%u,\"pid\":%u,\"markers\":{\"schema\":{\"name\":0,"
			    "\"startTime\":1,\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5},\"data\":[]},"
			    "\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[[",
			    t->tid, t->pid);
		add_stack(b, stack);
		strbuf_addc(b, ',');
		add_time(b, time);
		strbuf_adds(b, ",0]]}}");
	}
	strbuf_adds(b, "}]");
}

static bool begin(struct export *x)
{
	x->own = calloc(1, sizeof(struct gecko));
	return x->own || export_fail(x, ENOMEM);
}

static bool event(struct export *x, const struct export_event *e)
{
	struct gecko *g = x->own;
	if (e->what == EXPORT_STACK) {
		export_miss(x, "records of call stacks: the stacks are with the events that they belong to");
		return true;
	}
	if (e->what == EXPORT_SWITCH || e->what == EXPORT_READY) {
		export_miss(x, "context switches and wake-ups: left out");
		return true;
	}
	if (e->what == EXPORT_SAMPLE && (e->who->pid == 0 || e->who->tid == 0)) {
		export_miss(x, "samples of idle processors: left out");
		return true;
	}
	struct gecko_thread *t = thread_of(g, e);
	if (!t) {
		return export_fail(x, g->threads == THREADS_MAX ? EOVERFLOW : ENOMEM);
	}
	int64_t time = (int64_t)(e->time_100ns - whole_ms(x->trace.start_100ns));
	t->first = BASE_MIN(t->first, time);
	t->last = BASE_MAX(t->last, time);
	if (e->what == EXPORT_SAMPLE) {
		struct strbuf *b = &t->samples;
		uint32_t stack = stack_of(g, t, e);
		strbuf_adds(b, b->len ? ",[" : "[");
		add_stack(b, stack);
		strbuf_addc(b, ',');
		add_time(b, time);
		strbuf_adds(b, ",0]");
	} else {
		marker(g, t, e, time);
	}
	x->written++;
	bool failed = t->samples.failed || t->markers.failed || t->stacks.failed || t->strings.failed ||
		      g->text.failed || g->key.failed;
	return !failed || export_fail(x, ENOMEM);
}

/* ---- the file ---------------------------------------------------------------------------------- */

static const char head[] =
	"\"interval\":1,\"stackwalk\":1,\"debug\":0,\"gcpoison\":0,\"asyncstack\":1,\"processType\":0,"
	"\"shutdownTime\":null,\"product\":\"OpenETW\",\"platform\":\"\",\"toolkit\":\"\",\"abi\":\"\",\"misc\":\"\","
	"\"presymbolicated\":true,\"categories\":["
	"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],"
	"\"markerSchema\":[{\"name\":\"ETW\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.fields}"
	"\","
	"\"chartLabel\":\"{marker.name}\",\"display\":[\"marker-chart\",\"marker-table\"],\"data\":["
	"{\"key\":\"event\",\"label\":\"Event\",\"format\":\"string\",\"searchable\":true},"
	"{\"key\":\"level\",\"label\":\"Level\",\"format\":\"string\",\"searchable\":true},"
	"{\"key\":\"cpu\",\"label\":\"Processor\",\"format\":\"integer\"},"
	"{\"key\":\"fields\",\"label\":\"Fields\",\"format\":\"string\",\"searchable\":true}]}]},"
	"\"libs\":[],\"pages\":[],\"pausedRanges\":[],\"processes\":[],\"threads\":[";

static bool put_string(struct export *x, struct strbuf *b, const char *key, const char *s)
{
	strbuf_adds(b, key);
	strbuf_add_json(b, s, strlen(s));
	return export_flush(x, b);
}

static bool write_tables(struct export *x, struct gecko *g, struct gecko_thread *t)
{
	struct strbuf *b = &g->text;
	strbuf_adds(b, "\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,\"innerWindowID\":2,"
		       "\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,\"subcategory\":7},\"data\":[");
	for (uint32_t i = 0; i < t->stacks.frames.count; i++) {
		const char *name = t->stacks.frames.text[i];
		uint32_t location = intern_string(&t->strings, name + 1, NULL);
		strbuf_addf(b, "%s[%u,false,0,null,null,null,%u,0]", i ? "," : "", location,
			    name[0] == 'k' ? CATEGORY_KERNEL : CATEGORY_USER);
		if (b->len > 65536 && !export_flush(x, b)) {
			return false;
		}
	}
	strbuf_adds(b, "]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
	for (uint32_t i = 1; i < t->stacks.nodes; i++) {
		strbuf_adds(b, i > 1 ? ",[" : "[");
		add_stack(b, t->stacks.node[i].parent);
		strbuf_addf(b, ",%u]", t->stacks.node[i].frame);
		if (b->len > 65536 && !export_flush(x, b)) {
			return false;
		}
	}
	strbuf_adds(b, "]},\"stringTable\":[");
	for (uint32_t i = 0; i < t->strings.count; i++) {
		if (!put_string(x, b, i ? "," : "", t->strings.text[i])) {
			return false;
		}
	}
	strbuf_adds(b, "]}");
	return (!t->strings.failed || export_fail(x, ENOMEM)) && export_flush(x, b);
}

static bool write_thread(struct export *x, struct gecko *g, struct gecko_thread *t)
{
	struct strbuf *b = &g->text;
	char name[32];
	snprintf(name, sizeof name, "Thread %u", t->tid);
	if (!put_string(x, b, "{\"name\":", t->name[0] ? t->name : name) ||
	    !put_string(x, b, ",\"processType\":\"default\",\"processName\":", t->process)) {
		return false;
	}
	strbuf_addf(b, ",\"pid\":%u,\"tid\":%u,\"registerTime\":", t->pid, t->tid);
	add_time(b, t->first);
	strbuf_adds(b, ",\"unregisterTime\":");
	add_time(b, t->last);
	strbuf_adds(b, ",\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[");
	if (!export_flush(x, b) || !export_flush(x, &t->samples)) {
		return false;
	}
	strbuf_adds(b,
		    "]},\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,\"category\":4,"
		    "\"data\":5},\"data\":[");
	if (!export_flush(x, b) || !export_flush(x, &t->markers)) {
		return false;
	}
	strbuf_adds(b, "]},");
	return write_tables(x, g, t);
}

static bool end(struct export *x)
{
	struct gecko *g = x->own;
	struct strbuf *b = &g->text;
	strbuf_clear(b);
	strbuf_addf(b, "{\"meta\":{\"version\":%u,\"startTime\":", VERSION);
	add_time(b, (int64_t)whole_ms(x->trace.start_100ns));
	if (!put_string(x, b, ",\"oscpu\":", x->trace.os)) {
		return false;
	}
	strbuf_addf(b, ",\"logicalCPUs\":%u,", x->trace.cpus);
	strbuf_adds(b, head);
	for (uint32_t i = 0; i < g->threads; i++) {
		strbuf_adds(b, i ? ",\n" : "\n");
		if (!write_thread(x, g, &g->thread[i])) {
			return false;
		}
	}
	strbuf_adds(b, "]}\n");
	return export_flush(x, b);
}

static void finish(struct export *x)
{
	struct gecko *g = x->own;
	for (uint32_t i = 0; g && i < g->threads; i++) {
		struct gecko_thread *t = &g->thread[i];
		free(t->process);
		free(t->name);
		intern_free(&t->strings);
		stacks_free(&t->stacks);
		strbuf_finish(&t->samples);
		strbuf_finish(&t->markers);
	}
	if (g) {
		intern_free(&g->keys);
		strbuf_finish(&g->key);
		strbuf_finish(&g->text);
		free(g->thread);
		free(g);
	}
	x->own = NULL;
}

const struct export_kind export_gecko = {
	.name = "gecko",
	.what = "a profile for profiler.firefox.com: samples, and other events as markers",
	.suffix = ".gecko.json",
	.cannot = "context switches, samples of idle processors; kept in memory until the end",
	.needs = EXPORT_FIELDS | EXPORT_FRAMES,
	.begin = begin,
	.event = event,
	.end = end,
	.finish = finish,
};
