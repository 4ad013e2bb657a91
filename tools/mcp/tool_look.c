/* SPDX-License-Identifier: MIT
 * compare, provider_schema.
 */
#include "tools/mcp/mcp_tree.h"

#include "tools/tables/table_make.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

/* ---- compare ---------------------------------------------------------------------------------------- */

#define KINDS_MOST 2000u

struct pair {
	char *name;
	uint64_t events[2];
	bool known[2]; /* this side listed it */
};
struct pairs {
	struct pair *list;
	uint32_t count, cap;
	int side;
	uint32_t told[2];
	bool others[2]; /* this side has kinds that it did not list */
	bool failed;
};

static bool take_facet(void *context, const struct openetw_facet *f)
{
	struct pairs *p = context;
	const char *name = f->id == UINT32_MAX ? "(all others)" : f->text;
	uint32_t i = 0;
	p->others[p->side] |= f->id == UINT32_MAX;
	if (++p->told[p->side] > KINDS_MOST) {
		p->others[p->side] = true;
		return false;
	}
	while (i < p->count && strcmp(p->list[i].name, name) != 0) {
		i++;
	}
	if (i == p->count) {
		if (p->count == p->cap) {
			uint32_t cap = p->cap ? p->cap * 2 : 256;
			struct pair *more = realloc(p->list, cap * sizeof *more);
			p->failed = !more;
			if (!more) {
				return false;
			}
			p->list = more;
			p->cap = cap;
		}
		p->list[i] = (struct pair){.name = strdup(name)};
		p->failed = !p->list[i].name;
		if (p->failed) {
			return false;
		}
		p->count++;
	}
	p->list[i].events[p->side] += f->count;
	p->list[i].known[p->side] = true;
	return true;
}

struct side {
	int64_t from, to;
	struct openetw_answer answer;
};

static bool ask_side(struct mcp_call *c, const char *files, const char *from, const char *to, enum openetw_key by,
		     struct pairs *p, struct side *s)
{
	s->answer = (struct openetw_answer){.size = sizeof s->answer};
	struct mcp_trace *t = mcp_trace_of(c, files);
	struct openetw_query *q = t ? mcp_trace_query(c, t, mcp_call_text(c, "filter", NULL), from, to) : NULL;
	const char *field = mcp_call_text(c, "field", NULL);
	if (!q || !mcp_trace_range(c, t, from, to, &s->from, &s->to)) {
		openetw_query_destroy(q);
		return false;
	}
	uint32_t code = field ? openetw_query_set_field(q, field) : ERROR_SUCCESS;
	if (code == ERROR_SUCCESS) {
		code = openetw_query_facets(q, by, KINDS_MOST + 1, take_facet, p, &s->answer);
	}
	bool ok = code == ERROR_SUCCESS || mcp_trace_failed(c, code);
	openetw_query_destroy(q);
	return ok && !p->failed;
}

static double rate(uint64_t n, const struct side *s)
{
	double seconds = ((double)s->to - (double)s->from) / 1e9;
	return seconds > 0 ? (double)n / seconds : (double)n;
}

static struct side sides[2];

static int by_difference(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double dx = fabs(rate(x->events[1], &sides[1]) - rate(x->events[0], &sides[0]));
	double dy = fabs(rate(y->events[1], &sides[1]) - rate(y->events[0], &sides[0]));
	return dx != dy ? (dx < dy ? 1 : -1) : strcmp(x->name, y->name);
}

static void put_side(struct strbuf *b, const char *name, const struct side *s)
{
	json_put_name(b, name);
	strbuf_addc(b, '{');
	json_put_integer(b, "from_ns", s->from);
	json_put_integer(b, "to_ns", s->to);
	mcp_put_answer(b, &s->answer);
	strbuf_addc(b, '}');
}

/* What a side did not list may be among its others: how many events it has there is not known. True: it is so here. */
static bool put_pair(struct strbuf *b, const struct pairs *p, const struct pair *x)
{
	static const char *const counts[] = {"first_events", "other_events"};
	static const char *const rates[] = {"first_per_second", "other_per_second"};
	bool unlisted = false;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "name", x->name);
	for (int i = 0; i < 2; i++) {
		if (p->others[i] && !x->known[i]) {
			unlisted = true;
			json_put_text(b, counts[i], NULL);
			json_put_text(b, rates[i], NULL);
		} else {
			json_put_count(b, counts[i], x->events[i]);
			json_put_real(b, rates[i], rate(x->events[i], &sides[i]));
		}
	}
	strbuf_addc(b, '}');
	return unlisted;
}

static bool run_compare(struct mcp_call *c)
{
	static const enum openetw_key keys[] = {OPENETW_BY_TYPE,  OPENETW_BY_PROVIDER, OPENETW_BY_PROCESS_NAME,
						OPENETW_BY_LEVEL, OPENETW_BY_CPU,      OPENETW_BY_FIELD,
						OPENETW_BY_STACK};
	enum openetw_key by = keys[mcp_call_choice(c, "by", 0)];
	uint32_t most = (uint32_t)mcp_call_integer(c, "limit", 30), shown = 0;
	struct pairs p = {0};
	bool unlisted = false;
	struct strbuf *b = &c->out;
	const char *table = mcp_call_text(c, "table", NULL);
	if (table) {
		return mcp_compare_table(c, table);
	}
	if (json_member(c->given, "group_by")) {
		return cli_tell(c->args, "compare takes 'group_by' together with 'table'"), false;
	}
	const char *other = json_member(c->given, "other_files") ? "other_files" : "files";
	if (by == OPENETW_BY_STACK) {
		return mcp_compare_stacks(c, other);
	}
	if (by == OPENETW_BY_FIELD && !mcp_call_text(c, "field", NULL)) {
		return cli_tell(c->args, "compare by field needs 'field': which one?"), false;
	}
	bool ok = ask_side(c, "files", "from", "to", by, &p, &sides[0]);
	p.side = 1;
	ok = ok && ask_side(c, other, "other_from", "other_to", by, &p, &sides[1]);
	if (p.failed) {
		cli_tell(c->args, "no memory");
	}
	if (ok) {
		if (p.count) {
			qsort(p.list, p.count, sizeof *p.list, by_difference);
		}
		strbuf_addc(b, '{');
		put_side(b, "first", &sides[0]);
		put_side(b, "other", &sides[1]);
		json_put_name(b, "differences");
		strbuf_addc(b, '[');
		for (; shown < BASE_MIN(p.count, most) && mcp_call_room(c); shown++) {
			unlisted |= put_pair(b, &p, &p.list[shown]);
		}
		strbuf_addc(b, ']');
		json_put_count(b, "shown", shown);
		json_put_count(b, "there_are", p.count);
		mcp_put_cut(b, shown < p.count || unlisted,
			    unlisted ? "where events are null, that side has more kinds than are counted one by one: "
				       "name the kind in filter, or narrow from and to"
				     : "raise limit, or narrow filter, from and to");
		strbuf_addc(b, '}');
	}
	for (uint32_t i = 0; i < p.count; i++) {
		free(p.list[i].name);
	}
	free(p.list);
	return ok;
}

static const struct mcp_param compare_params[] = {
	MCP_FILES("files"),
	MCP_RANGE,
	{.name = "other_files",
	 .kind = MCP_PARAM_TEXTS,
	 .help = "The trace to compare with; without it the same trace, at other times."},
	{.name = "other_from", .kind = MCP_PARAM_TIME, .help = "As from, of the other."},
	{.name = "other_to", .kind = MCP_PARAM_TIME, .help = "As to, of the other."},
	MCP_FILTER,
	{.name = "by",
	 .kind = MCP_PARAM_CHOICE,
	 .values = "type|provider|process|level|cpu|field|stacks",
	 .help = "What is compared (default type: provider and event). stacks: call trees of the events that have "
		 "stacks; the "
		 "answer is the tree of the functions that differ most, with those that call them."},
	{.name = "table",
	 .kind = MCP_PARAM_CHOICE,
	 .values = MCP_COMPARED,
	 .help = "Compare durations instead of counts, of two traces or of two times of one: spans, I/O operations, "
		 "waits or time on "
		 "processors, with "
		 "sums and percentiles in nanoseconds; samples: of functions. filter names columns of the table then "
		 "(sql_tables)."},
	{.name = "group_by",
	 .kind = MCP_PARAM_TEXT,
	 .help = "With table: a line for each value of these columns, e.g. process_name,file; default: what suits the "
		 "table."},
	{.name = "field", .kind = MCP_PARAM_TEXT, .help = "With by = field: which field of the payload."},
	{.name = "limit",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = 1000,
	 .help = "At most so many lines (default 30)."},
	{0}};
const struct mcp_tool mcp_tool_compare = {
	.name = "compare",
	.title = "Compare two traces, or two parts of one",
	.help = "Counts the events of two traces, or of two ranges of time of one, and lists what differs most: by "
		"events per "
		"second, so that traces of different length can be compared. With table it compares durations.",
	.params = compare_params,
	.run = run_compare,
};

/* ---- provider_schema -------------------------------------------------------------------------------- */

struct fields {
	struct strbuf *b;
	size_t most; /* bytes of the answer */
	uint64_t left_out;
};

static bool put_field(void *context, const struct openetw_field *f)
{
	struct fields *x = context;
	if (x->b->len >= x->most) {
		x->left_out++;
		return true;
	}
	json_put_comma(x->b);
	strbuf_addc(x->b, '{');
	json_put_name(x->b, "name");
	strbuf_add_json(x->b, f->name, f->name_length);
	json_put_text(x->b, "kind",
		      f->is_struct                             ? "struct"
		      : f->is_array                            ? "array"
		      : f->json_length == 0                    ? "text"
		      : f->json[0] == '"'                      ? "text"
		      : f->json[0] == 't' || f->json[0] == 'f' ? "truth"
							       : "number");
	json_put_name(x->b, "example");
	strbuf_add_json(x->b, f->text, BASE_MIN(f->text_length, (size_t)100));
	strbuf_addc(x->b, '}');
	return true;
}

/* Where events of each type begin. */
struct firsts {
	int64_t *times; /* by type; INT64_MAX: none */
	uint32_t count;
};

static bool take_time(void *context, const struct openetw_facet *f)
{
	struct firsts *x = context;
	if (f->id < x->count) {
		x->times[f->id] = f->first;
	}
	return !cli_signal_caught();
}

struct first_of {
	uint32_t type;
	struct openetw_row row;
};

static bool take_type(void *context, const struct openetw_row *r)
{
	struct first_of *x = context;
	if (r->type == x->type) {
		x->row = *r;
	}
	return x->row.size == 0 && !cli_signal_caught();
}

/* The fields of the first event of a type. */
static void put_fields(struct mcp_call *c, struct mcp_trace *t, struct openetw_query *q, uint32_t type, int64_t first)
{
	struct first_of x = {.type = type};
	const EVENT_RECORD *e;
	uint64_t at;
	if (openetw_query_position(q, first, &at) != ERROR_SUCCESS ||
	    openetw_query_rows(q, at, UINT64_MAX - at, take_type, &x, NULL) != ERROR_SUCCESS || !x.row.size ||
	    openetw_query_event(q, x.row.row, &e) != ERROR_SUCCESS) {
		return;
	}
	struct fields f = {&c->out, c->budget + 1};
	json_put_name(&c->out, "fields");
	strbuf_addc(&c->out, '[');
	uint32_t code = openetw_decode_fields(mcp_trace_maker(t)->decoder, e, put_field, &f);
	strbuf_addc(&c->out, ']');
	if (f.left_out) {
		json_put_count(&c->out, "fields_left_out", f.left_out);
	}
	if (code == OPENETW_NO_SCHEMA || code == OPENETW_PARTLY) {
		json_put_text(&c->out, "not_decoded", openetw_decoder_reason(mcp_trace_maker(t)->decoder));
	}
}

static const char *provider_at(const void *ctx, int i)
{
	static struct openetw_index_type type;
	const struct table_maker *m = ctx;
	type.size = sizeof type;
	if (i < 0 || (uint32_t)i >= m->about.types) {
		return NULL;
	}
	return openetw_index_type(m->index, (uint32_t)i, &type) == ERROR_SUCCESS ? type.provider : "";
}

static bool run_schema(struct mcp_call *c)
{
	OPENETW_SIZED(struct openetw_index_type, type);
	struct mcp_trace *t = mcp_trace_of(c, "files");
	const char *provider = mcp_call_text(c, "provider", ""), *event = mcp_call_text(c, "event", NULL);
	uint32_t found = 0, there = 0, shown = 0, types = t ? mcp_trace_about(t)->types : 0;
	struct openetw_query *q = t ? mcp_trace_all(c, t) : NULL;
	struct firsts firsts = {.times = calloc(types + 1ull, sizeof *firsts.times), .count = types};
	uint32_t code = q && firsts.times
				? openetw_query_facets(q, OPENETW_BY_TYPE, types + 1, take_time, &firsts, NULL)
				: ERROR_NOT_ENOUGH_MEMORY;
	if (!t || code != ERROR_SUCCESS) {
		free(firsts.times);
		openetw_query_destroy(q);
		return t ? mcp_trace_failed(c, code) : false;
	}
	strbuf_adds(&c->out, "{\"events\":[");
	for (uint32_t i = 0; i < types; i++) {
		if (openetw_index_type(mcp_trace_index(t), i, &type) != ERROR_SUCCESS || type.rows == 0 ||
		    strcasecmp(type.provider, provider) != 0) {
			continue;
		}
		found++;
		if (event && strcasecmp(type.name, event) != 0) {
			continue;
		}
		there++;
		if (!mcp_call_room(c)) {
			continue;
		}
		json_put_comma(&c->out);
		strbuf_addc(&c->out, '{');
		json_put_text(&c->out, "event", type.name);
		json_put_count(&c->out, "id", type.id);
		json_put_count(&c->out, "version", type.version);
		json_put_count(&c->out, "level", type.level);
		json_put_count(&c->out, "opcode", type.opcode);
		json_put_count(&c->out, "task", type.task);
		json_put_name(&c->out, "keyword");
		strbuf_addf(&c->out, "\"0x%llx\"", (unsigned long long)type.keyword);
		json_put_count(&c->out, "events", type.rows);
		put_fields(c, t, q, i, firsts.times[i]);
		strbuf_addc(&c->out, '}');
		shown++;
	}
	strbuf_addc(&c->out, ']');
	json_put_count(&c->out, "shown", shown);
	json_put_count(&c->out, "there_are", there);
	mcp_put_cut(&c->out, shown < there, "name one event");
	strbuf_addc(&c->out, '}');
	free(firsts.times);
	openetw_query_destroy(q);
	if (!found) {
		const char *near = cli_nearest(provider, provider_at, mcp_trace_maker(t));
		cli_tell(c->args, "the trace has no event of a provider '%.100s'%s%s%s (overview lists its providers)",
			 provider, near && *near ? "; did you mean '" : "", near && *near ? near : "",
			 near && *near ? "'?" : "");
		return false;
	}
	if (!there) {
		cli_tell(c->args, "'%s' has no event '%.100s' in this trace; without 'event' the answer lists all",
			 provider, event);
	}
	return there > 0;
}

static const struct mcp_param schema_params[] = {MCP_FILES("files"),
						 {.name = "provider",
						  .kind = MCP_PARAM_TEXT,
						  .required = true,
						  .help = "The provider's name, as overview says it."},
						 {.name = "event", .kind = MCP_PARAM_TEXT, .help = "Only this event."},
						 {0}};
const struct mcp_tool mcp_tool_provider_schema = {
	.name = "provider_schema",
	.title = "Events and fields of a provider",
	.help = "Which events of a provider are in the trace, how often, and the fields of their payloads, each with "
		"the value "
		"of the first event as an example. These fields can be used in filters and in sql.",
	.params = schema_params,
	.run = run_schema,
};
