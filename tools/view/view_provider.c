/* SPDX-License-Identifier: MIT
 * provider and man: one provider as its manifest, the catalogue and the events of the trace describe it.
 */
#include "tools/view/view_provider.h"

#include "schema/schema_store.h"
#include "tools/view/view.h"

#include <stdlib.h>
#include <strings.h>

#define TYPES_MOST   4096u /* of one provider in one trace */
#define ROWS_LOOKED  2000u /* for an event of a type */
#define SAMPLE_BYTES 400u

/* ---- an event of a type ------------------------------------------------------------------------------ */

struct wanted_type {
	uint32_t type, looked;
	uint64_t first, row; /* UINT64_MAX: none */
};

/* Versions of an event have the same name, so the filter lets other types through as well. */
static bool take_row(void *context, const struct openetw_row *row)
{
	struct wanted_type *w = context;
	w->first = w->first == UINT64_MAX ? row->row : w->first;
	w->row = row->type == w->type ? row->row : UINT64_MAX;
	return w->row == UINT64_MAX && ++w->looked < ROWS_LOOKED;
}

const openetw_event_record *view_event_of_type(struct view_trace *t, struct openetw_query *q, uint32_t type)
{
	struct wanted_type w = {.type = type, .first = UINT64_MAX, .row = UINT64_MAX};
	struct strbuf filter = {0};
	const openetw_event_record *e = NULL;
	view_filter_text(&filter, t, OPENETW_BY_TYPE, NULL, type, "");
	bool ok = filter.s && !filter.failed && openetw_query_set_filter(q, filter.s) == ERROR_SUCCESS &&
		  openetw_query_rows(q, 0, ROWS_LOOKED, take_row, &w, NULL) == ERROR_SUCCESS;
	uint64_t row = w.row == UINT64_MAX ? w.first : w.row;
	strbuf_finish(&filter);
	return ok && row != UINT64_MAX && openetw_query_event(q, row, &e) == ERROR_SUCCESS ? e : NULL;
}

/* ---- what the trace has of it ------------------------------------------------------------------------ */

struct seen_type {
	uint32_t type;
	uint64_t rows;
	uint16_t id;
	uint8_t version, opcode;
	bool classic, told;
};
struct provider {
	struct guid guid;
	char guid_text[40], name[300];
	const struct manifest_provider *manifest, *classes; /* NULL: nobody describes it so */
	struct view_trace *trace;                           /* NULL: none is open */
	struct openetw_query *q;
	struct openetw_decoder *d;
	struct seen_type *types;
	uint32_t type_count;
	uint64_t seen;
};

static void find_types(struct provider *p)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(p->trace, &a);
	p->types = calloc(BASE_MIN(a.types, TYPES_MOST) + 1u, sizeof *p->types);
	for (uint32_t i = 0; p->types && i < a.types && p->type_count < TYPES_MOST; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(p->trace->x, i, &type) != ERROR_SUCCESS || type.rows == 0 ||
		    (memcmp(&type.provider_guid, p->guid.b, 16) != 0 && strcmp(type.provider, p->name) != 0)) {
			continue;
		}
		if (!p->name[0]) {
			snprintf(p->name, sizeof p->name, "%s", type.provider);
		}
		p->seen += type.rows;
		p->types[p->type_count++] =
			(struct seen_type){i, type.rows, type.id, type.version, type.opcode, type.classic, false};
	}
}

/* By GUID, or by a name: classes of the kernel have one for many GUIDs. */
static bool find(struct view_request *r, struct provider *p)
{
	const char *given = view_text(r, "guid", "");
	struct openetw_guid g;
	char text[37];
	bool braced = given[0] == '{' && strlen(given) == 38;
	if (openetw_provider_guid(given, &g) != ERROR_SUCCESS) {
		view_fail(r, 400, "'%.60s' is neither a GUID nor the name of a provider", given);
		return false;
	}
	memcpy(p->guid.b, g.bytes, 16);
	guid_format(&p->guid, text);
	snprintf(p->guid_text, sizeof p->guid_text, "{%s}", text);
	p->manifest = schema_process_provider(false, &p->guid);
	p->classes = schema_process_provider(true, &p->guid);
	if (!braced && strlen(given) != 36) {
		snprintf(p->name, sizeof p->name, "%s", given);
	} else if (p->manifest && p->manifest->name) {
		snprintf(p->name, sizeof p->name, "%s", p->manifest->name);
	}
	p->trace = view_text(r, "tr", NULL) ? view_trace_of(r) : NULL;
	if (p->trace) {
		p->q = openetw_query_create(p->trace->x);
		p->d = view_decoder_take(p->trace);
		find_types(p);
	}
	if (!p->name[0]) {
		const struct manifest_name *task = p->classes ? p->classes->names[MANIFEST_TASK] : NULL;
		snprintf(p->name, sizeof p->name, "%s", task ? task->name : p->guid_text);
	}
	r->status = 0;
	strbuf_clear(&r->out);
	return true;
}

static void let_go(struct provider *p)
{
	openetw_query_destroy(p->q);
	if (p->trace) {
		view_decoder_give(p->trace, p->d);
	}
	free(p->types);
}

/* ---- events ----------------------------------------------------------------------------------------- */

static void type_text(const struct manifest_item *i, char *out, size_t cap)
{
	const char *in = i->is_struct ? "struct" : manifest_in_type_name(i->in_type);
	const char *as = i->is_struct ? NULL : manifest_out_type_name(i->out_type);
	char number[24], length[80] = "", count[80] = "";
	snprintf(number, sizeof number, "type %u", i->in_type);
	if (i->length_of || i->has_length) {
		snprintf(length, sizeof length, " of length %.60s", i->length_of ? i->length_of->name : "");
		if (!i->length_of) {
			snprintf(length, sizeof length, " of length %u", i->length);
		}
	}
	if (i->count_of) {
		snprintf(count, sizeof count, "[%.60s]", i->count_of->name);
	} else if (i->has_count || i->to_end) {
		snprintf(count, sizeof count, i->to_end ? "[…]" : "[%u]", i->count);
	}
	bool usual = !as || i->out_type == manifest_out_default(i->in_type);
	snprintf(out, cap, "%s%s%s%s%s", in ? in : number, count, length, usual ? "" : " as ", usual ? "" : as);
}

static void put_items(struct strbuf *b, const struct manifest_item *first, const char *prefix, int depth)
{
	char name[400], type[300];
	for (const struct manifest_item *i = first; i; i = i->next) {
		snprintf(name, sizeof name, "%s%.150s", prefix, i->name);
		type_text(i, type, sizeof type);
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", name);
		json_put_text(b, "type", type);
		json_put_text(b, "map", i->map_name);
		strbuf_addc(b, '}');
		if (i->members && depth < 4 && strlen(name) < 300) {
			strcat(name, ".");
			put_items(b, i->members, name, depth + 1);
		}
	}
}

static bool put_field(void *context, const struct openetw_field *f)
{
	struct strbuf *b = context;
	char type[80];
	const char *in = f->is_struct ? "struct" : manifest_in_type_name(f->in_type);
	const char *out = f->is_struct ? NULL : manifest_out_type_name(f->out_type);
	snprintf(type, sizeof type, "%s%s%s%s", in ? in : "value", f->is_array ? "[]" : "",
		 out && f->out_type != manifest_out_default(f->in_type) ? " as " : "",
		 out && f->out_type != manifest_out_default(f->in_type) ? out : "");
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_name(b, "name");
	strbuf_add_json(b, f->name, f->name_length);
	json_put_text(b, "type", type);
	strbuf_addc(b, '}');
	return true;
}

/* A decoded event of the trace, and how many there are. */
static void put_sample(struct strbuf *b, struct provider *p, struct seen_type *s, bool fields)
{
	OPENETW_SIZED(struct openetw_index_type, type);
	struct openetw_text text = {0};
	struct strbuf filter = {0};
	const openetw_event_record *e = p->q && p->d ? view_event_of_type(p->trace, p->q, s->type) : NULL;
	openetw_index_type(p->trace->x, s->type, &type);
	json_put_count(b, "seen", s->rows);
	view_filter_text(&filter, p->trace, OPENETW_BY_TYPE, NULL, s->type, "");
	json_put_text(b, "filter", filter.failed ? NULL : filter.s);
	if (fields) {
		json_put_name(b, "fields");
		strbuf_addc(b, '[');
		if (e) {
			openetw_decode_fields(p->d, e, put_field, b);
		}
		strbuf_addc(b, ']');
	}
	if (e) {
		openetw_decode_text(p->d, e, &text);
		json_put_name(b, "sample");
		strbuf_add_json(b, text.data ? text.data : "", BASE_MIN(text.length, SAMPLE_BYTES));
		openetw_text_clear(&text);
		if (fields && openetw_event_message(p->d, e, &text) && !text.failed) {
			json_put_text(b, "message", text.data);
		}
	}
	s->told = true;
	openetw_text_free(&text);
	strbuf_finish(&filter);
}

static struct seen_type *seen_of(struct provider *p, const struct manifest_event *e, bool classic)
{
	for (uint32_t i = 0; i < p->type_count; i++) {
		struct seen_type *s = &p->types[i];
		if (s->classic == classic && s->version == e->version && (classic ? s->opcode : s->id) == e->id &&
		    !s->told) {
			return s;
		}
	}
	return NULL;
}

static void put_keyword_names(struct strbuf *b, const struct manifest_provider *m, uint64_t keyword)
{
	json_put_name(b, "keyword_names");
	strbuf_addc(b, '[');
	for (unsigned i = 0; i < 56; i++) {
		const struct manifest_name *n =
			keyword & 1ull << i ? manifest_find_value(m, MANIFEST_KEYWORD, 1ull << i, NULL) : NULL;
		if (n) {
			json_put_text(b, NULL, n->name);
		}
	}
	strbuf_addc(b, ']');
}

static const char *named(const struct manifest_name *n)
{
	return n ? n->name : NULL;
}

static void event_name(const struct manifest_event *e, char *out, size_t cap)
{
	const char *task = e->task_of ? e->task_of->name : NULL, *opcode = e->opcode_of ? e->opcode_of->name : NULL;
	opcode = opcode && strncmp(opcode, "win:", 4) == 0 ? opcode + 4 : opcode;
	bool plain = !opcode || !e->opcode || strcmp(opcode, "Info") == 0;
	if (e->name || !task) {
		snprintf(out, cap, "%s", e->name ? e->name : e->symbol ? e->symbol : opcode && e->opcode ? opcode : "");
	} else {
		snprintf(out, cap, plain ? "%s" : "%s/%s", task, opcode);
	}
}

static void put_described(struct strbuf *b, struct provider *p, const struct manifest_provider *m, bool classic)
{
	char name[400];
	for (const struct manifest_event *e = m->events; e; e = e->next) {
		event_name(e, name, sizeof name);
		struct seen_type *s = seen_of(p, e, classic);
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "id", e->id);
		json_put_count(b, "version", e->version);
		json_put_text(b, "name", name);
		json_put_text(b, "symbol", e->symbol);
		json_put_count(b, "level", e->level);
		json_put_text(b, "level_name", named(manifest_find_value(m, MANIFEST_LEVEL, e->level, NULL)));
		json_put_count(b, "opcode", e->opcode);
		json_put_text(b, "opcode_name", named(e->opcode_of));
		json_put_count(b, "task", e->task);
		json_put_text(b, "task_name", named(e->task_of));
		json_put_count(b, "channel", e->channel);
		json_put_text(b, "channel_name", named(manifest_find_value(m, MANIFEST_CHANNEL, e->channel, NULL)));
		view_put_hex(b, "keywords", e->keyword);
		put_keyword_names(b, m, e->keyword);
		json_put_text(b, "message", e->text);
		json_put_name(b, "fields");
		strbuf_addc(b, '[');
		put_items(b, e->template ? e->template->items : NULL, "", 0);
		strbuf_addc(b, ']');
		if (s) {
			put_sample(b, p, s, false);
		} else {
			json_put_count(b, "seen", 0);
		}
		strbuf_addc(b, '}');
	}
}

/* Events of the trace that nothing here describes: they say themselves what they are. */
static void put_undescribed(struct view_request *r, struct provider *p)
{
	struct strbuf *b = &r->out;
	for (uint32_t i = 0; i < p->type_count && !view_gone(r); i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (p->types[i].told || openetw_index_type(p->trace->x, p->types[i].type, &type) != ERROR_SUCCESS) {
			continue;
		}
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "id", type.id);
		json_put_count(b, "version", type.version);
		json_put_text(b, "name", type.name);
		json_put_count(b, "level", type.level);
		json_put_count(b, "opcode", type.opcode);
		json_put_count(b, "task", type.task);
		json_put_count(b, "channel", type.channel);
		view_put_hex(b, "keywords", type.keyword);
		put_sample(b, p, &p->types[i], true);
		strbuf_addc(b, '}');
	}
}

/* ---- what it declares -------------------------------------------------------------------------------- */

static void put_names(struct strbuf *b, const struct manifest_provider *m, enum manifest_kind kind, const char *list)
{
	json_put_name(b, list);
	strbuf_addc(b, '[');
	for (const struct manifest_name *n = m ? m->names[kind] : NULL; n; n = n->next) {
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", n->name);
		json_put_text(b, "text", n->text && strcmp(n->text, n->name) != 0 ? n->text : NULL);
		if (kind == MANIFEST_KEYWORD) {
			view_put_hex(b, "mask", n->value);
		} else {
			json_put_count(b, "value", n->value);
		}
		json_put_text(b, "task", named(n->task));
		strbuf_addc(b, '}');
	}
	strbuf_addc(b, ']');
}

static void put_entries(struct strbuf *b, const struct manifest_map_entry *first)
{
	for (const struct manifest_map_entry *e = first; e; e = e->next) {
		json_put_comma(b);
		strbuf_addc(b, '[');
		json_put_count(b, NULL, e->value);
		json_put_text(b, NULL, e->text ? e->text : "");
		strbuf_addc(b, ']');
	}
}

static void put_maps(struct strbuf *b, const struct manifest_provider *m)
{
	json_put_name(b, "maps");
	strbuf_addc(b, '[');
	for (const struct manifest_map *k = m ? m->maps : NULL; k; k = k->next) {
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", k->name);
		json_put_truth(b, "bits", k->bits);
		json_put_name(b, "values");
		strbuf_addc(b, '[');
		put_entries(b, k->entries);
		put_entries(b, k->groups);
		strbuf_adds(b, "]}");
	}
	strbuf_addc(b, ']');
}

/* Quotes of a shell: names of providers hold what they like. */
static void put_command(struct strbuf *b, const char *key, const char *before, const char *name, const char *behind)
{
	struct strbuf line = {0};
	strbuf_adds(&line, before);
	strbuf_addc(&line, '\'');
	for (const char *s = name; *s; s++) {
		strbuf_adds(&line, *s == '\'' ? "'\\''" : (char[]){*s, 0});
	}
	strbuf_addf(&line, "'%s", behind);
	json_put_text(b, key, line.failed ? NULL : line.s);
	strbuf_finish(&line);
}

static void put_commands(struct strbuf *b, const struct provider *p)
{
	char line[200];
	json_put_name(b, "commands");
	strbuf_addc(b, '{');
	put_command(b, "openetw", "openetw start trace -p ", p->name, " -o trace.etl");
	put_command(b, "logman", "logman start trace -p ", p->name, " -o trace.etl -ets");
	snprintf(line, sizeof line, "xperf -start trace -on %.36s -f trace.etl", p->guid_text + 1);
	json_put_text(b, "xperf", line);
	snprintf(line, sizeof line, "<EventProvider Id=\"Provider\" Name=\"%s\"/>", p->guid_text);
	json_put_text(b, "wprp", line);
	strbuf_addc(b, '}');
}

static void put_source(struct strbuf *b, const struct provider *p)
{
	const struct manifest_provider *m = p->manifest ? p->manifest : p->classes;
	char *key = m ? schema_process_key(!p->manifest, &p->guid) : NULL;
	json_put_text(b, "source",
		      key && key[0] == '/' ? key
		      : key && !key[0]     ? "the catalogue of OpenETW"
		      : m                  ? "what the trace says of it"
		      : p->seen            ? "its events in this trace, which describe themselves"
				: "nothing: no manifest of it is installed, and no event of it is in this trace");
	free(key);
}

static int run_one(struct view_request *r)
{
	struct provider p = {0};
	struct strbuf *b = &r->out;
	if (!find(r, &p)) {
		return r->status;
	}
	const struct manifest_provider *m = p.manifest ? p.manifest : p.classes;
	strbuf_addc(b, '{');
	json_put_name(b, "events");
	strbuf_addc(b, '[');
	if (p.manifest) {
		put_described(b, &p, p.manifest, false);
	}
	if (p.classes) {
		put_described(b, &p, p.classes, true);
	}
	put_undescribed(r, &p);
	strbuf_addc(b, ']');
	json_put_text(b, "guid", p.guid_text);
	json_put_text(b, "name", p.name);
	json_put_count(b, "seen", p.seen);
	put_source(b, &p);
	put_names(b, m, MANIFEST_KEYWORD, "keywords");
	put_names(b, m, MANIFEST_CHANNEL, "channels");
	put_names(b, m, MANIFEST_LEVEL, "levels");
	put_names(b, m, MANIFEST_TASK, "tasks");
	put_names(b, m, MANIFEST_OPCODE, "opcodes");
	put_maps(b, m);
	json_put_truth(b, "man", p.manifest && p.manifest->event_count);
	put_commands(b, &p);
	strbuf_addc(b, '}');
	let_go(&p);
	return view_done(r);
}
const struct view_endpoint view_provider = {.path = "provider", .params = VIEW_TRACE_PARAM "guid:text", .run = run_one};

/* ---- its manifest as a file -------------------------------------------------------------------------- */

static int run_man(struct view_request *r)
{
	struct provider p = {0};
	if (!find(r, &p)) {
		return r->status;
	}
	if (!p.manifest || !p.manifest->event_count) {
		let_go(&p);
		return view_fail(
			r, 404,
			"no manifest of this provider is known: its events describe themselves, or nobody does");
	}
	manifest_write_xml(p.manifest, &r->out);
	for (const char *s = p.name; *s && r->filename_text.len < 100; s++) { /* a name that a header can hold */
		bool plain =
			(*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '-';
		strbuf_addc(&r->filename_text, plain ? *s : '_');
	}
	strbuf_adds(&r->filename_text, ".man");
	r->filename = r->filename_text.failed ? "provider.man" : r->filename_text.s;
	r->type = "application/xml";
	let_go(&p);
	return view_done(r);
}
const struct view_endpoint view_man = {.path = "man", .params = VIEW_TRACE_PARAM "guid:text", .run = run_man};
