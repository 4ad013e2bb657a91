/* SPDX-License-Identifier: MIT
 * providers: who writes events on this machine and in this trace, or could.
 */
#include "tools/view/view.h"

#include "base/map.h"
#include "base/vec.h"
#include "schema/schema_store.h"
#include "tools/view/view_child.h"
#include "tools/view/view_provider.h"

#include <stdlib.h>
#include <strings.h>

#define LISTING_MOST (8u << 20)
#define KNOWN_MOST   100000u
#define TYPES_LOOKED 300u /* of a provider */

/* ---- the list --------------------------------------------------------------------------------------- */

static void guid_text(const struct openetw_guid *g, char out[40])
{
	GUID guid;
	char text[37];
	memcpy(&guid, g, sizeof guid);
	cli_guid_text(&guid, text);
	snprintf(out, 40, "{%s}", text[0] == '{' ? text + 1 : text);
	char *end = strstr(out, "}}");
	if (end) {
		end[1] = 0;
	}
}

struct seen {
	char guid[40];
	const char *name;
	uint64_t rows;
	bool classic, matches;
};

static bool has(const char *s, const char *wanted)
{
	return !wanted || !wanted[0] || strcasestr(s, wanted) != NULL;
}

/* Providers of the trace, each once; `matches`: its name or one of its events has the text. */
static struct seen *list_seen(const struct view_trace *t, const char *wanted, uint32_t *ret_count)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	struct seen *list = calloc(a.types + 1ull, sizeof *list);
	uint32_t count = 0;
	for (uint32_t i = 0; list && i < a.types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		char guid[40];
		uint32_t k = 0;
		if (openetw_index_type(t->x, i, &type) != ERROR_SUCCESS || type.rows == 0) {
			continue;
		}
		guid_text(&type.provider_guid, guid);
		while (k < count && strcmp(list[k].name, type.provider) != 0) {
			k++;
		}
		if (k == count) {
			count++;
			snprintf(list[k].guid, sizeof list[k].guid, "%s", guid);
			list[k].name = type.provider;
			list[k].classic = type.classic;
		}
		list[k].rows += type.rows;
		list[k].matches = list[k].matches || has(type.provider, wanted) || has(type.name, wanted);
	}
	*ret_count = list ? count : 0;
	return list;
}

static int by_rows(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;
	return a->rows != b->rows ? (a->rows < b->rows ? 1 : -1) : strcmp(a->name, b->name);
}

/* ---- those that something describes ------------------------------------------------------------------ */

struct known {
	struct guid guid;
	bool classic;
	char name[200];
};
struct known_list {
	struct known *items;
	uint32_t count, cap;
	struct map places; /* by GUID */
};

static bool is_known(const struct known_list *l, const struct guid *g, bool classic)
{
	MAP_EACH(&l->places, map_hash(&l->places, g, sizeof *g), at) {
		const struct known *k = &l->items[map_value(&l->places, at)];
		if (guid_equal(&k->guid, g) && k->classic == classic) {
			return true;
		}
	}
	return false;
}

static int take_known(void *context, const struct guid *g, enum schema_source source, const char *name)
{
	struct known_list *l = context;
	bool classic = source == SCHEMA_SOURCE_WBEM;
	if (source > SCHEMA_SOURCE_WBEM || !name[0] || is_known(l, g, classic) ||
	    !VEC_ROOM_UP_TO(l->items, l->count, l->cap, KNOWN_MOST) ||
	    map_add(&l->places, map_hash(&l->places, g, sizeof *g), l->count) < 0) {
		return 0;
	}
	struct known *k = &l->items[l->count++];
	*k = (struct known){.guid = *g, .classic = classic};
	snprintf(k->name, sizeof k->name, "%s", name);
	return 0;
}

/* ---- why a provider is found: names of its events and fields ------------------------------------------ */

#define REASONS_MOST 3u

struct reasons {
	const char *wanted;
	struct strbuf list; /* members of a list in JSON */
	uint32_t count;
};

static void look_at(struct reasons *x, const char *what, const char *name)
{
	char text[300];
	struct strbuf one = {0};
	if (x->count < REASONS_MOST && name && strcasestr(name, x->wanted)) {
		snprintf(text, sizeof text, "%s %s", what, name);
		json_put_text(&one, NULL, text);
		if (one.s && !one.failed && !(x->list.s && strstr(x->list.s, one.s))) {
			json_put_text(&x->list, NULL, text);
			x->count++;
		}
		strbuf_finish(&one);
	}
}

static void look_at_items(struct reasons *x, const struct manifest_item *first)
{
	for (const struct manifest_item *i = first; i && x->count < REASONS_MOST; i = i->next) {
		look_at(x, "field", i->name);
		look_at_items(x, i->members);
	}
}

static void look_at_known(struct reasons *x, const struct known *k)
{
	const struct manifest_provider *p = schema_process_provider(k->classic, &k->guid);
	for (const struct manifest_event *e = p ? p->events : NULL; e && x->count < REASONS_MOST; e = e->next) {
		look_at(x, "event", e->name ? e->name : e->task_of ? e->task_of->name : e->symbol);
		look_at_items(x, e->template ? e->template->items : NULL);
	}
}

static void put_reasons(struct strbuf *b, const struct reasons *x)
{
	if (x->count) {
		json_put_name(b, "matches");
		strbuf_addf(b, "[%s]", x->list.failed ? "" : x->list.s);
	}
}

static void put_known(struct strbuf *b, const char *wanted)
{
	struct known_list l = {0};
	schema_process_each_provider(take_known, &l);
	for (uint32_t i = 0; i < l.count; i++) {
		const struct known *k = &l.items[i];
		struct reasons x = {.wanted = wanted ? wanted : ""};
		bool named = has(k->name, wanted);
		if (!named) {
			look_at_known(&x, k);
		}
		if (named || x.count) {
			char text[37], guid[40];
			char *key = schema_process_key(k->classic, &k->guid);
			guid_format(&k->guid, text);
			snprintf(guid, sizeof guid, "{%s}", text);
			json_put_comma(b);
			strbuf_addc(b, '{');
			json_put_text(b, "guid", guid);
			json_put_text(b, "name", k->name);
			json_put_text(b, "kind", k->classic ? "classic" : "manifest");
			json_put_truth(b, "installed", key && key[0] == '/');
			json_put_truth(b, "known", !key || key[0] != '/');
			put_reasons(b, &x);
			strbuf_addc(b, '}');
			free(key);
		}
		strbuf_finish(&x.list);
	}
	map_free(&l.places);
	free(l.items);
}

static bool look_at_field(void *context, const struct openetw_field *f)
{
	char name[200];
	snprintf(name, sizeof name, "%.*s", (int)BASE_MIN(f->name_length, sizeof name - 1), f->name);
	look_at(context, "field", name);
	return true;
}

/* Fields of one event of each of its types. */
static void look_at_seen(struct view_request *r, struct view_trace *t, const char *provider, struct reasons *x)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct openetw_query *q = openetw_query_create(t->x);
	struct openetw_decoder *d = view_decoder_take(t);
	view_trace_about(t, &a);
	for (uint32_t i = 0, looked = 0; q && d && i < a.types && looked < TYPES_LOOKED && !view_gone(r); i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		const openetw_event_record *e;
		if (openetw_index_type(t->x, i, &type) == ERROR_SUCCESS && type.rows &&
		    strcmp(type.provider, provider) == 0 && x->count < REASONS_MOST) {
			looked++;
			e = view_event_of_type(t, q, i);
			if (e) {
				openetw_decode_fields(d, e, look_at_field, x);
			}
		}
	}
	openetw_query_destroy(q);
	view_decoder_give(t, d);
}

static int run_list(struct view_request *r)
{
	struct strbuf out = {0}, err = {0};
	const char *wanted = view_text(r, "q", NULL);
	char *words[] = {(char *)"openetw", (char *)"providers", (char *)"--json", NULL};
	struct view_trace *t = view_text(r, "tr", NULL) ? view_trace_of(r) : NULL;
	uint32_t count = 0;
	struct seen *list = t ? list_seen(t, wanted, &count) : NULL;
	if (list) {
		qsort(list, count, sizeof *list, by_rows);
	}
	r->status = 0;
	strbuf_clear(&r->out);
	strbuf_adds(&r->out, "{\"providers\":[");
	for (uint32_t i = 0; i < count; i++) {
		struct reasons x = {.wanted = wanted ? wanted : ""};
		if (!list[i].matches) {
			look_at_seen(r, t, list[i].name, &x);
		}
		if (list[i].matches || x.count) {
			json_put_comma(&r->out);
			strbuf_addc(&r->out, '{');
			json_put_text(&r->out, "guid", list[i].guid);
			json_put_text(&r->out, "name", list[i].name);
			json_put_count(&r->out, "seen", list[i].rows);
			json_put_text(&r->out, "kind",
				      list[i].classic ? "classic" : "manifest, TraceLogging or EventSource");
			put_reasons(&r->out, &x);
			strbuf_addc(&r->out, '}');
		}
		strbuf_finish(&x.list);
	}
	free(list);
	put_known(&r->out, wanted);
	strbuf_addc(&r->out, ']');
	/* Who has registered which, now: the verb's own lines. */
	view_child_run(words, LISTING_MOST, &out, &err, view_request_gone, r);
	json_put_name(&r->out, "registered");
	strbuf_addc(&r->out, '[');
	view_child_objects(&r->out, out.s);
	strbuf_adds(&r->out, "]}");
	strbuf_finish(&out);
	strbuf_finish(&err);
	return view_done(r);
}
const struct view_endpoint view_providers = {.path = "providers", .params = VIEW_TRACE_PARAM "q:text", .run = run_list};
