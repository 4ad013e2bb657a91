/* SPDX-License-Identifier: MIT
 * pprof: a Profile message (google/pprof, proto/profile.proto) through gzip. A location is a function; processes are
 * labels. Strings stand at the end, when all are known: the order of fields is free.
 */
#include "tools/export/gzip.h"
#include "tools/export/profile.h"
#include "tools/export/protobuf.h"

#include <stdlib.h>

enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3 };
#define FLUSH_BYTES (256u << 10)

struct writer {
	struct gzip *gzip;
	struct intern strings, modules;
	struct strbuf b;
};

static uint64_t string(struct writer *w, const char *s, size_t n)
{
	return intern_text(&w->strings, s, n, NULL);
}

static uint64_t literal(struct writer *w, const char *s)
{
	return string(w, s, strlen(s));
}

static bool room(struct export *x, struct writer *w)
{
	if (w->strings.failed || w->modules.failed) {
		return export_fail(x, ENOMEM);
	}
	return w->b.len < FLUSH_BYTES || gzip_flush(w->gzip, &w->b);
}

/* The stack ends at this node. The process, which is below the root, is a label. */
static void sample(struct writer *w, const struct stacks *s, const struct stacks_node *node)
{
	uint64_t count = node->weight;
	size_t at = pb_begin(&w->b, PROFILE_SAMPLE);
	for (; node->parent != STACKS_ROOT; node = &s->node[node->parent]) {
		pb_uint(&w->b, SAMPLE_LOCATION, (uint64_t)node->frame + 1);
	}
	pb_uint(&w->b, SAMPLE_VALUE, count);
	size_t label = pb_begin(&w->b, SAMPLE_LABEL);
	pb_uint(&w->b, LABEL_KEY, literal(w, "process"));
	pb_uint(&w->b, LABEL_TEXT, literal(w, s->frames.text[node->frame]));
	pb_end(&w->b, label);
	pb_end(&w->b, at);
}

/* "module!function": the module is a mapping. */
static void function(struct writer *w, const char *name, uint64_t id)
{
	size_t n = strcspn(name, "!");
	bool is_new = false;
	uint64_t mapping = name[n] ? (uint64_t)intern_text(&w->modules, name, n, &is_new) + 1 : 0;
	uint64_t text = literal(w, name);
	if (is_new) {
		size_t at = pb_begin(&w->b, PROFILE_MAPPING);
		pb_uint(&w->b, MAPPING_ID, mapping);
		pb_uint(&w->b, MAPPING_FILE, string(w, name, n));
		pb_uint(&w->b, MAPPING_HAS_FUNCTIONS, 1);
		pb_end(&w->b, at);
	}
	size_t at = pb_begin(&w->b, PROFILE_FUNCTION);
	pb_uint(&w->b, FUNCTION_ID, id);
	pb_uint(&w->b, FUNCTION_NAME, text);
	pb_uint(&w->b, FUNCTION_SYSTEM_NAME, text);
	pb_end(&w->b, at);
	at = pb_begin(&w->b, PROFILE_LOCATION);
	pb_uint(&w->b, LOCATION_ID, id);
	if (mapping) {
		pb_uint(&w->b, LOCATION_MAPPING, mapping);
	}
	size_t line = pb_begin(&w->b, LOCATION_LINE);
	pb_uint(&w->b, LINE_FUNCTION, id);
	pb_end(&w->b, line);
	pb_end(&w->b, at);
}

static bool write_all(struct export *x, struct writer *w, const struct stacks *s, const char *what)
{
	const struct profile *p = x->own;
	literal(w, ""); /* the first string is empty */
	size_t type = pb_begin(&w->b, PROFILE_TYPE);
	pb_uint(&w->b, TYPE_TYPE, literal(w, what));
	pb_uint(&w->b, TYPE_UNIT, literal(w, "count"));
	pb_end(&w->b, type);
	pb_uint(&w->b, PROFILE_TIME, p->first_100ns * 100);
	pb_uint(&w->b, PROFILE_DURATION, (p->last_100ns - p->first_100ns) * 100);
	for (uint32_t i = 1; i < s->nodes; i++) {
		if (s->node[i].weight) {
			sample(w, s, &s->node[i]);
		}
		if (!room(x, w)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < s->frames.count; i++) {
		function(w, s->frames.text[i], (uint64_t)i + 1);
		if (!room(x, w)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < w->strings.count; i++) {
		pb_string(&w->b, PROFILE_STRING, w->strings.text[i]);
		if (!room(x, w)) {
			return false;
		}
	}
	return gzip_flush(w->gzip, &w->b) && gzip_end(w->gzip);
}

static bool end(struct export *x)
{
	const char *name;
	struct writer w = {0};
	const struct stacks *s = profile_of(x, &name);
	if (!s) {
		return false;
	}
	w.gzip = gzip_create(x);
	bool ok = w.gzip ? write_all(x, &w, s, strcmp(name, "events") == 0 ? "events" : "samples")
			 : export_fail(x, ENOMEM);
	gzip_destroy(w.gzip);
	intern_free(&w.strings);
	intern_free(&w.modules);
	strbuf_finish(&w.b);
	return ok;
}

const struct export_kind export_pprof = {
	.name = "pprof",
	.what = "a profile for 'go tool pprof' and its kin",
	.suffix = ".pb.gz",
	.cannot = "times, threads, fields, events without a call stack",
	.needs = EXPORT_FIELDS | EXPORT_FRAMES,
	.binary = true,
	.begin = profile_begin,
	.event = profile_event,
	.end = end,
	.finish = profile_finish,
};
