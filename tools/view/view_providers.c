/* SPDX-License-Identifier: MIT
 * providers and provider: who writes events on this machine and in this trace, and which.
 */
#include "tools/view/view.h"

#include "tools/view/view_child.h"

#include <stdlib.h>
#include <strings.h>

#include <tdh.h>

#define LISTING_MOST (8u << 20)

static bool gone(void *context)
{
	return view_gone(context);
}

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

/* Providers with an installed manifest, by TDH. */
static void put_installed(struct strbuf *b, const char *wanted)
{
	ULONG bytes = 0;
	if (TdhEnumerateProviders(NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	PROVIDER_ENUMERATION_INFO *all = malloc(bytes);
	if (all && TdhEnumerateProviders(all, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < all->NumberOfProviders; i++) {
			const TRACE_PROVIDER_INFO *p = &all->TraceProviderInfoArray[i];
			char name[400], guid[40];
			size_t n = 0;
			const uint16_t *s = (const uint16_t *)((const char *)all + p->ProviderNameOffset);
			for (; *s && n < sizeof name - 1; s++) { /* what is not ASCII in a name is shown as '?' */
				name[n++] = *s < 128 ? (char)*s : '?';
			}
			name[n] = 0;
			struct openetw_guid g;
			memcpy(&g, &p->ProviderGuid, sizeof g);
			guid_text(&g, guid);
			if (!has(name, wanted)) {
				continue;
			}
			json_put_comma(b);
			strbuf_addc(b, '{');
			json_put_text(b, "guid", guid);
			json_put_text(b, "name", name);
			json_put_truth(b, "installed", true);
			json_put_text(b, "kind", "manifest");
			strbuf_addc(b, '}');
		}
	}
	free(all);
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
		if (list[i].matches) {
			json_put_comma(&r->out);
			strbuf_addc(&r->out, '{');
			json_put_text(&r->out, "guid", list[i].guid);
			json_put_text(&r->out, "name", list[i].name);
			json_put_count(&r->out, "seen", list[i].rows);
			json_put_text(&r->out, "kind",
				      list[i].classic ? "classic" : "manifest, TraceLogging or EventSource");
			strbuf_addc(&r->out, '}');
		}
	}
	free(list);
	put_installed(&r->out, wanted);
	strbuf_addc(&r->out, ']');
	/* Who has registered which, now: the verb's own lines. */
	view_child_run(words, LISTING_MOST, &out, &err, gone, r);
	json_put_name(&r->out, "registered");
	strbuf_addc(&r->out, '[');
	view_child_objects(&r->out, out.s);
	strbuf_adds(&r->out, "]}");
	strbuf_finish(&out);
	strbuf_finish(&err);
	return view_done(r);
}
const struct view_endpoint view_providers = {.path = "providers", .params = VIEW_TRACE_PARAM "q:text", .run = run_list};

/* ---- one provider ----------------------------------------------------------------------------------- */

static bool put_field(void *context, const struct openetw_field *f)
{
	struct strbuf *b = context;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_name(b, "name");
	strbuf_add_json(b, f->name, f->name_length);
	json_put_name(b, "type");
	strbuf_addf(b, "\"%s%u\"", f->is_struct ? "struct " : f->is_array ? "array of " : "in-type ", f->in_type);
	json_put_name(b, "sample");
	strbuf_add_json(b, f->text, BASE_MIN(f->text_length, 200u));
	strbuf_addc(b, '}');
	return true;
}

static bool take_row(void *context, const struct openetw_row *row)
{
	*(uint64_t *)context = row->row;
	return false;
}

static void put_type(struct view_request *r, struct view_trace *t, struct openetw_query *q, struct openetw_decoder *d,
		     const struct openetw_index_type *type)
{
	struct strbuf *b = &r->out, filter = {0};
	const openetw_event_record *e;
	uint64_t row = UINT64_MAX;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "id", type->id);
	json_put_count(b, "version", type->version);
	json_put_text(b, "name", type->name);
	json_put_count(b, "level", type->level);
	json_put_count(b, "opcode", type->opcode);
	json_put_count(b, "task", type->task);
	json_put_count(b, "channel", type->channel);
	view_put_hex(b, "keywords", type->keyword);
	json_put_count(b, "seen", type->rows);
	view_filter_text(&filter, t, OPENETW_BY_TYPE, NULL, type->type, "");
	json_put_name(b, "fields");
	strbuf_addc(b, '[');
	if (filter.s && openetw_query_set_filter(q, filter.s) == ERROR_SUCCESS &&
	    openetw_query_rows(q, 0, 1, take_row, &row, NULL) == ERROR_SUCCESS && row != UINT64_MAX &&
	    openetw_query_event(q, row, &e) == ERROR_SUCCESS) {
		struct openetw_text text = {0};
		openetw_decode_fields(d, e, put_field, b);
		strbuf_addc(b, ']');
		openetw_decode_text(d, e, &text);
		json_put_text(b, "sample", text.failed ? NULL : text.data);
		openetw_text_clear(&text);
		if (openetw_event_message(d, e, &text) && !text.failed) {
			json_put_text(b, "message", text.data);
		}
		openetw_text_free(&text);
	} else {
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, '}');
	strbuf_finish(&filter);
}

static void put_commands(struct strbuf *b, const char *name, const char *guid)
{
	char line[1000];
	json_put_name(b, "commands");
	strbuf_addc(b, '{');
	snprintf(line, sizeof line, "openetw run -p '%s' -o trace.etl -- COMMAND", name);
	json_put_text(b, "openetw", line);
	snprintf(line, sizeof line, "logman start trace -p '%s' -o trace.etl -ets", name);
	json_put_text(b, "logman", line);
	snprintf(line, sizeof line, "xperf -start trace -on %s -f trace.etl", guid);
	json_put_text(b, "xperf", line);
	snprintf(line, sizeof line, "<EventProvider Id=\"Provider\" Name=\"%s\"/>", guid);
	json_put_text(b, "wprp", line);
	strbuf_addc(b, '}');
}

static int run_one(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	const char *guid = view_text(r, "guid", "");
	char name[400] = "", text[40];
	struct view_trace *t = view_trace_of(r);
	uint64_t seen = 0;
	if (!t) {
		return r->status;
	}
	view_trace_about(t, &a);
	struct openetw_query *q = openetw_query_create(t->x);
	struct openetw_decoder *d = view_decoder_take(t);
	strbuf_addc(&r->out, '{');
	json_put_name(&r->out, "events");
	strbuf_addc(&r->out, '[');
	for (uint32_t i = 0; q && d && i < a.types && !view_gone(r); i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(t->x, i, &type) != ERROR_SUCCESS || type.rows == 0) {
			continue;
		}
		guid_text(&type.provider_guid, text);
		if (strcasecmp(text, guid) == 0 || strcmp(type.provider, guid) == 0) {
			snprintf(name, sizeof name, "%s", type.provider);
			seen += type.rows;
			put_type(r, t, q, d, &type);
		}
	}
	strbuf_addc(&r->out, ']');
	json_put_text(&r->out, "guid", guid);
	json_put_text(&r->out, "name", name[0] ? name : guid);
	json_put_text(&r->out, "source", seen ? "as the events of this trace say" : "no event of it is in this trace");
	json_put_count(&r->out, "seen", seen);
	put_commands(&r->out, name[0] ? name : guid, guid);
	strbuf_addc(&r->out, '}');
	openetw_query_destroy(q);
	view_decoder_give(t, d);
	return view_done(r);
}
const struct view_endpoint view_provider = {.path = "provider", .params = VIEW_TRACE_PARAM "guid:text", .run = run_one};
