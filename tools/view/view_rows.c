/* SPDX-License-Identifier: MIT
 * rows, position, find, columns: events as a list.
 */
#include "tools/view/view.h"

#include "tools/view/view_loss.h"

#include "base/map.h"

#include <stdlib.h>

#define ROWS_MOST    2000u
#define COLUMNS_MOST 64u
#define TEXT_MOST    600u  /* bytes of the fields on one line */
#define CELL_MOST    2000u /* of one cell */

/* ---- one event as text ------------------------------------------------------------------------------ */

struct cells { /* fields that are columns */
	struct strbuf *b;
	const char *names[COLUMNS_MOST];
	uint32_t count;
	struct strbuf value[COLUMNS_MOST];
	bool there[COLUMNS_MOST];
};

static bool take_cell(void *context, const struct openetw_field *f)
{
	struct cells *c = context;
	for (uint32_t i = 0; i < c->count; i++) {
		if (strlen(c->names[i]) == f->name_length && memcmp(c->names[i], f->name, f->name_length) == 0) {
			strbuf_clear(&c->value[i]);
			strbuf_add(&c->value[i], f->text, BASE_MIN(f->text_length, CELL_MOST));
			c->there[i] = true;
		}
	}
	return true;
}

static void put_cut(struct strbuf *b, const char *s, size_t n, size_t most)
{
	json_put_comma(b);
	if (n <= most) {
		strbuf_add_json(b, s, n);
		return;
	}
	while (most > 0 && ((uint8_t)s[most] & 0xc0) == 0x80) {
		most--;
	}
	struct strbuf cut = {0};
	strbuf_add(&cut, s, most);
	strbuf_adds(&cut, "\xe2\x80\xa6");
	strbuf_add_json(b, cut.s ? cut.s : "", cut.len);
	strbuf_finish(&cut);
}

static void put_text(struct strbuf *b, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	struct openetw_text t = {0};
	if (!openetw_event_message(d, e, &t) || t.failed || t.length == 0) {
		openetw_text_clear(&t);
		openetw_decode_text(d, e, &t);
	}
	put_cut(b, t.data ? t.data : "", t.failed ? 0 : t.length, TEXT_MOST);
	openetw_text_free(&t);
}

static void put_cells(struct cells *c, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	memset(c->there, 0, sizeof c->there);
	if (c->count) {
		openetw_decode_fields(d, e, take_cell, c);
	}
	for (uint32_t i = 0; i < c->count; i++) {
		if (c->there[i]) {
			json_put_comma(c->b);
			strbuf_add_json(c->b, c->value[i].s ? c->value[i].s : "", c->value[i].len);
		} else {
			json_put_text(c->b, NULL, NULL);
		}
	}
}

/* ---- names of what rows name ------------------------------------------------------------------------ */

struct named { /* ids that occur, each once */
	uint32_t *ids;
	uint32_t count, cap;
	struct map there;
};
static void note(struct named *n, uint32_t id)
{
	if (map_find(&n->there, id) != MAP_NONE) {
		return;
	}
	if (n->count == n->cap) {
		uint32_t cap = n->cap ? n->cap * 2 : 64;
		uint32_t *more = realloc(n->ids, cap * sizeof *more);
		if (!more) {
			return;
		}
		n->ids = more;
		n->cap = cap;
	}
	if (map_add(&n->there, id, n->count) == 0) {
		n->ids[n->count++] = id;
	}
}
static void named_free(struct named *n)
{
	free(n->ids);
	map_free(&n->there);
}

static void put_types(struct strbuf *b, struct view_trace *t, const struct named *n)
{
	json_put_name(b, "types");
	strbuf_addc(b, '{');
	for (uint32_t i = 0; i < n->count; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		char id[16];
		if (openetw_index_type(t->x, n->ids[i], &type) != ERROR_SUCCESS) {
			continue;
		}
		snprintf(id, sizeof id, "%u", n->ids[i]);
		json_put_name(b, id);
		strbuf_addc(b, '[');
		json_put_text(b, NULL, type.provider);
		json_put_text(b, NULL, type.name);
		json_put_count(b, NULL, type.id);
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, '}');
}

static void put_processes(struct strbuf *b, struct view_trace *t, const struct named *n)
{
	json_put_name(b, "processes");
	strbuf_addc(b, '{');
	for (uint32_t i = 0; i < n->count; i++) {
		OPENETW_SIZED(struct openetw_index_process, p);
		char id[16];
		if (openetw_index_process(t->x, n->ids[i], &p) == ERROR_SUCCESS && p.name[0]) {
			snprintf(id, sizeof id, "%u", n->ids[i]);
			json_put_text(b, id, p.name);
		}
	}
	strbuf_addc(b, '}');
}

/* ---- rows ------------------------------------------------------------------------------------------- */

struct page {
	struct openetw_row *rows;
	uint64_t count, cap;
};
static bool take_row(void *context, const struct openetw_row *row)
{
	struct page *p = context;
	if (p->count < p->cap) {
		p->rows[p->count++] = *row;
	}
	return p->count < p->cap;
}

static void put_row(struct view_request *r, struct view_trace *t, struct openetw_query *q, struct openetw_decoder *d,
		    struct cells *c, const struct openetw_row *row)
{
	OPENETW_SIZED(struct openetw_index_type, type);
	OPENETW_SIZED(struct openetw_index_process, p);
	OPENETW_SIZED(struct openetw_index_thread, th);
	struct strbuf *b = &r->out;
	const openetw_event_record *e;
	openetw_index_type(t->x, row->type, &type);
	json_put_comma(b);
	strbuf_addc(b, '[');
	json_put_count(b, NULL, row->row);
	json_put_integer(b, NULL, row->time);
	json_put_count(b, NULL, row->cpu);
	json_put_count(b, NULL, row->process);
	bool known = openetw_index_process(t->x, row->process, &p) == ERROR_SUCCESS && p.pid != OPENETW_UNKNOWN_ID;
	json_put_integer(b, NULL, known ? (int64_t)p.pid : -1);
	known = openetw_index_thread(t->x, row->thread, &th) == ERROR_SUCCESS && th.tid != OPENETW_UNKNOWN_ID;
	json_put_integer(b, NULL, known ? (int64_t)th.tid : -1);
	json_put_count(b, NULL, row->type);
	json_put_count(b, NULL, type.level);
	if (openetw_query_event(q, row->row, &e) == ERROR_SUCCESS) {
		put_text(b, d, e);
		put_cells(c, d, e);
	} else {
		json_put_text(b, NULL, "(this event cannot be read any more)");
		for (uint32_t i = 0; i < c->count; i++) {
			json_put_text(b, NULL, NULL);
		}
	}
	strbuf_addc(b, ']');
}

/* Where rows are missing between those that are shown. */
static void put_losses(struct view_request *r, const struct view_sel *s, const struct page *p, uint64_t total)
{
	struct view_losses l;
	bool first = p->count && p->rows[0].position == 0,
	     last = p->count && p->rows[p->count - 1].position + 1 >= total;
	view_losses_of(s->trace, &l);
	json_put_name(&r->out, "lost");
	strbuf_addc(&r->out, '[');
	for (uint32_t i = 0; i < l.count && p->count; i++) {
		const struct view_loss *x = &l.list[i];
		uint64_t at = 0;
		/* Those before the first row of all stand in front of it, those after the last one behind it. */
		if ((x->from < p->rows[0].time && !first) || (x->from > p->rows[p->count - 1].time && !last)) {
			continue;
		}
		while (at < p->count && p->rows[at].time < x->from) {
			at++;
		}
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_integer(&r->out, "after", (int64_t)p->rows[0].position + (int64_t)at - 1); /* -1: before all */
		view_loss_put(&r->out, x);
		strbuf_addc(&r->out, '}');
	}
	strbuf_addc(&r->out, ']');
	view_losses_free(&l);
}

static int run_rows(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct view_sel s;
	struct named types = {0}, processes = {0};
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	uint64_t at = view_number(r, "at", 0);
	struct page p = {.cap = view_number(r, "n", 100)};
	struct cells *c = calloc(1, sizeof *c);
	char *cols = strdup(view_text(r, "cols", "")), *rest = cols, *word;
	struct openetw_decoder *d = view_decoder_take(s.trace);
	p.rows = calloc(p.cap + 1, sizeof *p.rows);
	uint32_t code = c && cols && d && p.rows ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	while (code == ERROR_SUCCESS && (word = strsep(&rest, ",")) != NULL && c->count < COLUMNS_MOST) {
		if (word[0]) {
			c->names[c->count++] = word;
		}
	}
	code = code ? code : openetw_query_count(q, &a);
	code = code ? code : openetw_query_rows(q, at, p.cap, take_row, &p, NULL);
	if (code == ERROR_SUCCESS) {
		c->b = &r->out;
		strbuf_addc(&r->out, '{');
		json_put_count(&r->out, "at", at);
		json_put_count(&r->out, "total", a.matched);
		json_put_name(&r->out, "columns");
		strbuf_addc(&r->out, '[');
		for (uint32_t i = 0; i < c->count; i++) {
			json_put_text(&r->out, NULL, c->names[i]);
		}
		strbuf_addc(&r->out, ']');
		json_put_name(&r->out, "rows");
		strbuf_addc(&r->out, '[');
		for (uint64_t i = 0; i < p.count && (i % 16 || !view_gone(r)); i++) {
			put_row(r, s.trace, q, d, c, &p.rows[i]);
			note(&types, p.rows[i].type);
			note(&processes, p.rows[i].process);
		}
		strbuf_addc(&r->out, ']');
		put_types(&r->out, s.trace, &types);
		put_processes(&r->out, s.trace, &processes);
		put_losses(r, &s, &p, a.matched);
		view_put_answer(&r->out, &a);
		strbuf_addc(&r->out, '}');
	}
	for (uint32_t i = 0; c && i < COLUMNS_MOST; i++) {
		strbuf_finish(&c->value[i]);
	}
	free(c);
	free(cols);
	free(p.rows);
	named_free(&types);
	named_free(&processes);
	view_decoder_give(s.trace, d);
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_rows = {
	.path = "rows", .params = VIEW_SEL "at:0-1000000000000000 n:1-2000 cols:text", .run = run_rows};

/* ---- position, find --------------------------------------------------------------------------------- */

static int run_position(struct view_request *r)
{
	struct view_sel s;
	uint64_t at = 0;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	uint32_t code = openetw_query_position(q, view_time(r, "t", 0), &at);
	view_query_give(r, &s, q);
	if (code != ERROR_SUCCESS) {
		return view_fail_code(r, code);
	}
	strbuf_addc(&r->out, '{');
	json_put_count(&r->out, "position", at);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_position = {.path = "position", .params = VIEW_SEL "t:time", .run = run_position};

struct first {
	struct openetw_row row;
};
static bool take_first(void *context, const struct openetw_row *row)
{
	((struct first *)context)->row = *row;
	return false;
}

/* The next row that also fits another filter: by its time, then its position in the selection. */
static uint32_t next_fit(struct openetw_query *both, struct openetw_query *q, uint64_t from, bool back,
			 struct openetw_row *ret)
{
	struct first f = {0}, now = {0};
	uint64_t at = 0;
	uint32_t code = openetw_query_rows(q, from, 1, take_first, &now, NULL);
	if (code == ERROR_SUCCESS && now.row.size == 0) {
		return ERROR_NOT_FOUND;
	}
	code = code ? code : openetw_query_position(both, now.row.time, &at);
	for (; code == ERROR_SUCCESS;) {
		f.row.size = 0;
		if (back && at == 0) {
			return ERROR_NOT_FOUND;
		}
		at -= back;
		code = openetw_query_rows(both, at, 1, take_first, &f, NULL);
		if (code == ERROR_SUCCESS && f.row.size == 0) {
			return ERROR_NOT_FOUND;
		}
		/* Rows of one time stand in the order of their numbers. */
		bool behind = f.row.time > now.row.time || (f.row.time == now.row.time && f.row.row >= now.row.row);
		if (code != ERROR_SUCCESS || back != behind) {
			break;
		}
		at += !back;
	}
	*ret = f.row;
	return code;
}

static int run_find(struct view_request *r)
{
	struct view_sel s, g;
	struct strbuf text = {0};
	struct openetw_row row = {0};
	const char *also = view_text(r, "g", "");
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	g = s;
	strbuf_addf(&text, s.filter ? "(%s) and (%s)" : "%s%s", s.filter ? s.filter : "", also);
	g.filter = text.failed ? NULL : text.s;
	struct openetw_query *both = view_query_take(r, &g);
	uint32_t code =
		both ? next_fit(both, q, view_number(r, "from", 0), view_flag(r, "back", false), &row) : ERROR_SUCCESS;
	uint64_t at = 0, start = 0;
	if (both && code == ERROR_SUCCESS) {
		/* Rows of the same time before it count, too. */
		struct first f = {0};
		code = openetw_query_position(q, row.time, &start);
		for (at = start; code == ERROR_SUCCESS; at++) {
			f.row.size = 0;
			code = openetw_query_rows(q, at, 1, take_first, &f, NULL);
			if (f.row.size == 0 || f.row.row == row.row) {
				break;
			}
		}
	}
	if (both) {
		view_query_give(r, &g, both);
	}
	view_query_give(r, &s, q);
	strbuf_finish(&text);
	if (!both) {
		return r->status;
	}
	if (code != ERROR_SUCCESS && code != ERROR_NOT_FOUND) {
		return view_fail_code(r, code);
	}
	strbuf_addc(&r->out, '{');
	if (code == ERROR_SUCCESS) {
		json_put_count(&r->out, "position", at);
		json_put_count(&r->out, "row", row.row);
		json_put_integer(&r->out, "time", row.time);
	} else {
		json_put_text(&r->out, "position", NULL);
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_find = {
	.path = "find", .params = VIEW_SEL "g:text from:0-1000000000000000 back:flag", .run = run_find};

/* ---- columns ---------------------------------------------------------------------------------------- */

#define LOOK_AT_MOST 400u /* events of the selection, over all of it */

struct field_seen {
	char name[100];
	uint64_t events, numbers;
};
struct fields_seen {
	struct field_seen *list;
	uint32_t count;
};
#define FIELDS_MOST 500u

static bool is_number(const char *s, size_t n)
{
	char text[64], *end;
	if (n == 0 || n >= sizeof text) {
		return false;
	}
	memcpy(text, s, n);
	text[n] = 0;
	strtod(text, &end);
	return *end == 0;
}

static bool take_field(void *context, const struct openetw_field *f)
{
	struct fields_seen *x = context;
	if (f->name_length >= sizeof x->list[0].name || f->name[0] == '_' || f->is_struct) {
		return true;
	}
	uint32_t i = 0;
	while (i < x->count &&
	       (strncmp(x->list[i].name, f->name, f->name_length) != 0 || x->list[i].name[f->name_length])) {
		i++;
	}
	if (i == x->count) {
		if (x->count == FIELDS_MOST) {
			return true;
		}
		x->count++;
		memcpy(x->list[i].name, f->name, f->name_length);
		x->list[i].name[f->name_length] = 0;
	}
	x->list[i].events++;
	x->list[i].numbers += is_number(f->text, f->text_length);
	return true;
}

static int by_events(const void *a, const void *b)
{
	const struct field_seen *x = a, *y = b;
	return x->events != y->events ? (x->events < y->events ? 1 : -1) : strcmp(x->name, y->name);
}

static int run_columns(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct view_sel s;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	struct fields_seen x = {.list = calloc(FIELDS_MOST, sizeof *x.list)};
	struct openetw_decoder *d = view_decoder_take(s.trace);
	uint32_t code = x.list && d ? openetw_query_count(q, &a) : ERROR_NOT_ENOUGH_MEMORY;
	uint64_t step = code == ERROR_SUCCESS && a.matched > LOOK_AT_MOST ? a.matched / LOOK_AT_MOST : 1, looked = 0;
	for (uint64_t at = 0; code == ERROR_SUCCESS && at < a.matched && !view_gone(r); at += step) {
		struct first f = {0};
		const openetw_event_record *e;
		code = openetw_query_rows(q, at, 1, take_first, &f, NULL);
		if (code == ERROR_SUCCESS && f.row.size && openetw_query_event(q, f.row.row, &e) == ERROR_SUCCESS) {
			openetw_decode_fields(d, e, take_field, &x);
			looked++;
		}
	}
	if (code == ERROR_SUCCESS) {
		qsort(x.list, x.count, sizeof *x.list, by_events);
		strbuf_adds(&r->out, "{\"columns\":[");
		for (uint32_t i = 0; i < x.count; i++) {
			json_put_comma(&r->out);
			strbuf_addc(&r->out, '{');
			json_put_text(&r->out, "name", x.list[i].name);
			json_put_truth(&r->out, "numeric", x.list[i].numbers * 2 > x.list[i].events);
			json_put_real(&r->out, "share", looked ? (double)x.list[i].events / (double)looked : 0);
			strbuf_addc(&r->out, '}');
		}
		strbuf_addc(&r->out, ']');
		json_put_count(&r->out, "looked_at", looked);
		strbuf_addc(&r->out, '}');
	}
	free(x.list);
	view_decoder_give(s.trace, d);
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_columns = {.path = "columns", .params = VIEW_SEL, .run = run_columns};
