/* SPDX-License-Identifier: MIT
 *
 * Which rows of a group match. A list of their places is made by one column and made shorter by the others; each loop
 * is over one column of one width, without a branch that depends on the data.
 */
#include "query/query_question.h"

#include "query/query_reading.h"

#include <stdlib.h>

/* ---- what the summary says --------------------------------------------------------------------- */

enum summary { SUMMARY_NONE, SUMMARY_SOME, SUMMARY_ALL };

static enum summary summary_of(const struct store_count *counts, uint32_t n, const struct plan_set *set, uint32_t rows,
			       uint32_t *ret)
{
	uint64_t sum = 0, all = 0;
	if (!set->ok) {
		*ret = rows;
		return SUMMARY_ALL;
	}
	for (uint32_t i = 0; i < n; i++) {
		all += counts[i].rows;
		sum += plan_set_has(set, counts[i].id) ? counts[i].rows : 0;
	}
	*ret = (uint32_t)BASE_MIN(sum, rows);
	/* A summary that is not of these rows says nothing. */
	return all != rows ? SUMMARY_SOME : sum == 0 ? SUMMARY_NONE : sum == rows ? SUMMARY_ALL : SUMMARY_SOME;
}

struct glance {
	enum summary type, process;
	uint32_t types, processes; /* rows that pass by one of the two */
	int64_t from, to;          /* the times asked for, of the file */
	bool within, outside;      /* all rows are within them; none is */
};

static struct glance glance_at(const struct openetw_query *q, uint32_t file, uint32_t group, int64_t from, int64_t to)
{
	const struct index_file *f = &q->x->files[file];
	const struct store_group *g = &f->store.groups[group];
	const struct plan_file *p = &q->plan->files[file];
	const struct question_file *k = &q->files[file];
	struct glance r = {0};
	from = BASE_MAX(BASE_MAX(from, q->from), q->plan->from);
	to = BASE_MIN(BASE_MIN(to, q->to), q->plan->to);
	r.from = index_time_of_file(from, f->offset);
	r.to = index_time_of_file(to, f->offset);
	r.outside = from > to || g->from > r.to || g->to < r.from;
	r.within = !r.outside && g->from >= r.from && g->to <= r.to;
	if (!r.outside) {
		r.type = summary_of(k->type_counts + g->type_counts, g->type_count_rows, &p->type, g->rows, &r.types);
		r.process = summary_of(k->process_counts + g->process_counts, g->process_count_rows, &p->process,
				       g->rows, &r.processes);
	}
	return r;
}

bool scan_group_touches(const struct openetw_query *q, uint32_t file, uint32_t group, int64_t from, int64_t to)
{
	return !glance_at(q, file, group, from, to).outside;
}

bool scan_group_summary(const struct openetw_query *q, uint32_t file, uint32_t group, int64_t from, int64_t to,
			uint32_t *ret)
{
	const struct plan_file *p = &q->plan->files[file];
	struct glance g = glance_at(q, file, group, from, to);
	if (g.outside) {
		*ret = 0;
		return true;
	}
	if (!g.within) {
		return false;
	}
	if (g.type == SUMMARY_NONE || g.process == SUMMARY_NONE) {
		*ret = 0;
		return true;
	}
	*ret = g.type == SUMMARY_ALL ? g.processes : g.types;
	const struct store_group *sg = &q->x->files[file].store.groups[group];
	uint64_t sum = 0;
	const struct question_file *k = &q->files[file];
	const struct store_count *c =
		g.type == SUMMARY_ALL ? k->process_counts + sg->process_counts : k->type_counts + sg->type_counts;
	uint32_t n = g.type == SUMMARY_ALL ? sg->process_count_rows : sg->type_count_rows;
	for (uint32_t i = 0; i < n; i++) {
		sum += c[i].rows;
	}
	bool trusted = sum == sg->rows || (g.type == SUMMARY_ALL && g.process == SUMMARY_ALL);
	return trusted && (g.type == SUMMARY_ALL || g.process == SUMMARY_ALL) && !p->thread.ok && !q->plan->cpu.ok &&
	       q->plan->rest_count + q->plan->masked_count == 0;
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* A set's test of each row of a list, or of the first n rows. `in` and `out` may be the same. */
#define SELECT_BODY(TEST)                                \
	uint32_t k = 0;                                  \
	if (in) {                                        \
		for (uint32_t i = 0; i < n; i++) {       \
			const uint32_t row = in[i];      \
			out[k] = (uint16_t)row;          \
			k += (TEST);                     \
		}                                        \
	} else {                                         \
		for (uint32_t row = 0; row < n; row++) { \
			out[k] = (uint16_t)row;          \
			k += (TEST);                     \
		}                                        \
	}                                                \
	return k;

static uint32_t select2(const uint16_t *column, const uint8_t *ok, const uint16_t *in, uint32_t n, uint16_t *out)
{
	SELECT_BODY(ok[column[row]])
}

static uint32_t select4(const uint32_t *column, const struct plan_set *set, const uint16_t *in, uint32_t n,
			uint16_t *out)
{
	const uint8_t *ok = set->ok;
	const uint32_t count = set->count;
	SELECT_BODY(ok[column[row] < count ? column[row] : 0])
}

/* Offsets from `least` to `least` + `width`. */
static uint32_t select_time4(const uint32_t *column, uint64_t least, uint64_t width, const uint16_t *in, uint32_t n,
			     uint16_t *out)
{
	SELECT_BODY(column[row] - least <= width)
}
static uint32_t select_time8(const uint64_t *column, uint64_t least, uint64_t width, const uint16_t *in, uint32_t n,
			     uint16_t *out)
{
	SELECT_BODY(column[row] - least <= width)
}

static uint32_t select_time(const struct store_columns *c, const struct glance *g, const uint16_t *in, uint32_t n,
			    uint16_t *out)
{
	/* As offsets from the group's first time. They are below 2^63, whatever bytes are there: see the mask below. */
	uint64_t least = g->from > c->from ? (uint64_t)g->from - (uint64_t)c->from : 0;
	uint64_t most = (uint64_t)g->to - (uint64_t)c->from; /* g->to is not before the group */
	return c->time4 ? select_time4(c->time4, least, most - least, in, n, out)
			: select_time8(c->time8, least, most - least, in, n, out);
}

/* ---- several columns ---------------------------------------------------------------------------- */

#define MASK_BODY(TEST)                              \
	for (uint32_t i = 0; i < n; i++) {           \
		const uint32_t row = in ? in[i] : i; \
		out[i] = (TEST);                     \
	}

static void mask2(const uint16_t *column, const uint8_t *ok, const uint16_t *in, uint32_t n, uint8_t *out)
{
	MASK_BODY(ok[column[row]])
}

static void mask4(const uint32_t *column, const struct plan_set *set, const uint16_t *in, uint32_t n, uint8_t *out)
{
	MASK_BODY(set->ok[column[row] < set->count ? column[row] : 0])
}

static void mask_column(const struct plan_mask *m, const struct scan_part *p, const uint16_t *in, uint32_t n,
			uint8_t *out)
{
	const struct plan_set *set = &m->sets[p->file_at];
	switch (m->column) {
	case PLAN_COLUMN_TYPE:
		if (p->c.type2) {
			mask2(p->c.type2, set->ok, in, n, out);
		} else {
			mask4(p->c.type4, set, in, n, out);
		}
		return;
	case PLAN_COLUMN_PROCESS:
		if (p->c.process2) {
			mask2(p->c.process2, set->ok, in, n, out);
		} else {
			mask4(p->c.process4, set, in, n, out);
		}
		return;
	case PLAN_COLUMN_THREAD: mask4(p->c.thread, set, in, n, out); return;
	default: mask2(p->c.cpu, set->ok, in, n, out); return;
	}
}

/* What a mask says of each row: 1 or 0. What is to the right of it uses the next buffer. */
static int mask_rows(struct scan *s, uint32_t node, const struct scan_part *p, const uint16_t *in, uint32_t n,
		     uint32_t depth)
{
	const struct plan_mask *m = &s->q->plan->masks[node];
	if (!s->mask[depth] && !(s->mask[depth] = malloc(STORE_GROUP_ROWS))) {
		return -ENOMEM;
	}
	uint8_t *out = s->mask[depth];
	if (m->kind == PLAN_MASK_SET) {
		mask_column(m, p, in, n, out);
		return 0;
	}
	int err = mask_rows(s, m->left, p, in, n, depth);
	if (err == 0 && m->kind != PLAN_MASK_NOT) {
		err = mask_rows(s, m->right, p, in, n, depth + 1);
	}
	const uint8_t *right = s->mask[depth + 1];
	for (uint32_t i = 0; i < n && err == 0 && m->kind == PLAN_MASK_AND; i++) {
		out[i] &= right[i];
	}
	for (uint32_t i = 0; i < n && err == 0 && m->kind == PLAN_MASK_OR; i++) {
		out[i] |= right[i];
	}
	for (uint32_t i = 0; i < n && err == 0 && m->kind == PLAN_MASK_NOT; i++) {
		out[i] ^= 1;
	}
	return err;
}

static int select_masked(struct scan *s, const struct scan_part *p, const uint16_t *in, uint16_t *out, uint32_t *inout)
{
	const struct plan *plan = s->q->plan;
	for (size_t i = 0; i < plan->masked_count; i++) {
		uint32_t n = *inout, k = 0;
		int err = mask_rows(s, plan->masked[i], p, in, n, 0);
		if (err < 0) {
			return err;
		}
		for (uint32_t at = 0; at < n; at++) {
			out[k] = in ? in[at] : (uint16_t)at;
			k += s->mask[0][at];
		}
		*inout = k;
		in = out;
	}
	return 0;
}

/* ---- the rest of the filter ------------------------------------------------------------------- */

void scan_event(const struct scan_part *p, uint32_t row, struct plan_event *inout)
{
	inout->type = store_type_at(&p->c, row);
	inout->process = store_process_at(&p->c, row);
	inout->thread = p->c.thread[row];
	inout->cpu = p->c.cpu[row];
	inout->time = store_time(&p->c, row);
	inout->row = row;
	inout->stack = p->c.stack ? p->c.stack[row] : 0;
}

/* By its columns alone. Rows that agree in all of them have the same answer. */
static enum filter_truth by_columns(struct scan *s, struct plan_event *e)
{
	if (s->q->plan->timed) {
		return plan_rest(s->q->plan, e);
	}
	uint64_t h = (e->type * 0x9E3779B97F4A7C15ull) ^ (e->process * 0xC2B2AE3D27D4EB4Full) ^
		     (e->thread * 0x165667B19E3779F9ull) ^ (e->cpu * 0x27D4EB2F165667C5ull);
	struct scan_memo *m = &s->memo[(h ^ h >> 32) % SCAN_MEMOS];
	if (!m->used || m->type != e->type || m->process != e->process || m->thread != e->thread || m->cpu != e->cpu) {
		*m = (struct scan_memo){e->type, e->process, e->thread, e->cpu, (uint8_t)plan_rest(s->q->plan, e), 1};
	}
	return (enum filter_truth)m->truth;
}

static int memo_begin(struct scan *s, uint32_t file)
{
	if (!s->memo && !(s->memo = malloc(SCAN_MEMOS * sizeof *s->memo))) {
		return -ENOMEM;
	}
	if (s->memo_file != file + 1) {
		memset(s->memo, 0, SCAN_MEMOS * sizeof *s->memo);
		s->memo_file = file + 1;
	}
	return 0;
}

/* ---- one field ----------------------------------------------------------------------------------- */

#define NOT_ASKED 255u

static bool truth_room(struct scan *s, uint32_t number)
{
	if (number < s->truth_count) {
		return true;
	}
	uint32_t count = BASE_MAX(field_numbers(s->q->plan->only), number + 1);
	count += count / 4;
	uint8_t *more = realloc(s->truth, count);
	if (!more) {
		return false;
	}
	memset(more + s->truth_count, NOT_ASKED, count - s->truth_count);
	s->truth = more;
	s->truth_count = count;
	return true;
}

enum filter_truth scan_truth_of(struct scan *s, uint32_t number)
{
	if (number == FIELD_NOT_READ || !truth_room(s, number)) {
		return FILTER_UNKNOWN;
	}
	if (s->truth[number] == NOT_ASKED) {
		struct plan_event e = {.plan = s->q->plan, .knows = PLAN_NUMBER, .number = number};
		enum filter_truth t = plan_rest(s->q->plan, &e);
		if (t == FILTER_UNKNOWN) {
			return t; /* and each row says so of itself */
		}
		s->truth[number] = (uint8_t)t;
	}
	return (enum filter_truth)s->truth[number];
}

/* As judge(), where the numbers of one column tell all. */
static int judge_numbers(struct scan *s, const struct scan_part *p, const uint16_t *rows, uint32_t n)
{
	const struct field_column *c = s->q->plan->only;
	int unknown = 0;
	for (uint32_t i = 0; i < n; i++) {
		enum field_of_type has = field_of_type(c, p->file_at, store_type_at(&p->c, rows[i]));
		uint32_t number =
			has == FIELD_OF_TYPE_NONE ? FIELD_ABSENT : field_get(c, p->file_at, p->group, rows[i]);
		bool asked = number != FIELD_NOT_READ && number < s->truth_count && s->truth[number] != NOT_ASKED;
		enum filter_truth t = asked ? (enum filter_truth)s->truth[number] : scan_truth_of(s, number);
		s->verdict[i] = (uint8_t)t;
		unknown = t == FILTER_UNKNOWN ? 1 : unknown;
	}
	return unknown;
}

/* The verdict on each row of a list. 1: some are not known without reading events; 0, -errno. */
static int judge(struct scan *s, const struct scan_part *p, const uint16_t *rows, uint32_t n)
{
	struct plan_event e = {.plan = s->q->plan, .file = p->file, .file_at = p->file_at, .group = p->group};
	if (s->q->plan->only) {
		return question_cancelled(s->q) ? -ECANCELED : judge_numbers(s, p, rows, n);
	}
	int unknown = memo_begin(s, p->file_at);
	if (unknown == 0 && s->q->plan->asks_stack) {
		unknown = reading_stacks(s, p->file_at, &e.reader);
	}
	for (uint32_t i = 0; i < n && unknown >= 0; i++) {
		e.knows = PLAN_ROW;
		scan_event(p, rows[i], &e);
		enum filter_truth t = by_columns(s, &e);
		if (t == FILTER_UNKNOWN && s->q->plan->cells) {
			e.knows = PLAN_ROW | PLAN_CELL;
			t = plan_rest(s->q->plan, &e);
		}
		s->verdict[i] = (uint8_t)t;
		unknown = t == FILTER_UNKNOWN ? 1 : unknown;
		if (i % 4096 == 4095 && question_cancelled(s->q)) {
			return -ECANCELED;
		}
	}
	return unknown;
}

#define FOUND_WORDS (STORE_GROUP_ROWS / 64)

/* Keeps what was found. Without memory it is found again. */
static void keep_found(struct scan *s, const struct scan_part *p, const uint16_t *rows, uint32_t n)
{
	uint64_t *found = calloc(FOUND_WORDS, sizeof *found);
	for (uint32_t i = 0; found && i < n; i++) {
		found[rows[i] / 64] |= 1ull << rows[i] % 64;
	}
	s->q->files[p->file_at].found[p->group] = found;
}

static uint32_t select_found(const uint64_t *found, const uint16_t *in, uint32_t n, uint16_t *out)
{
	SELECT_BODY(found[row / 64] >> row % 64 & 1)
}

/* `out` has the rows that are left; `within`: none was left out because of its time. */
static int select_rest(struct scan *s, struct scan_part *p, bool within, const uint16_t *in, uint32_t n, uint16_t *out,
		       uint32_t *ret)
{
	const uint64_t *found = s->q->files[p->file_at].found[p->group];
	if (found) {
		*ret = select_found(found, in, n, out);
		return 0;
	}
	for (uint32_t i = 0; i < n && !in; i++) {
		out[i] = (uint16_t)i;
	}
	int unknown = judge(s, p, out, n);
	int err = unknown > 0 ? reading_judge(s, p, out, s->verdict, n) : unknown;
	uint32_t k = 0;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		out[k] = out[i];
		k += s->verdict[i] == FILTER_YES;
		s->undecided += s->verdict[i] == FILTER_UNKNOWN;
	}
	if (err == 0 && within && s->q->plan->reads) {
		keep_found(s, p, out, k);
	}
	*ret = k;
	return err;
}

int scan_group(struct scan *s, uint32_t file, uint32_t group, int64_t from, int64_t to, struct scan_part *ret)
{
	const struct openetw_query *q = s->q;
	const struct plan *plan = q->plan;
	const struct plan_file *p = &plan->files[file];
	struct glance g = glance_at(q, file, group, from, to);
	*ret = (struct scan_part){.file = &q->x->files[file], .file_at = file, .group = group};
	ret->first_row = q->files[file].first_row[group];
	if (g.outside) {
		return 0;
	}
	store_columns_of(&ret->file->store, group, &ret->c);
	uint32_t n = ret->c.rows;
	const uint16_t *in = NULL;
	if (!g.within) {
		n = select_time(&ret->c, &g, in, n, s->rows);
		in = s->rows;
	}
	ret->judged = n;
	if (g.type == SUMMARY_NONE || g.process == SUMMARY_NONE) {
		return 0;
	}
	if (g.type == SUMMARY_SOME) {
		n = ret->c.type2 ? select2(ret->c.type2, p->type.ok, in, n, s->rows)
				 : select4(ret->c.type4, &p->type, in, n, s->rows);
		in = s->rows;
	}
	if (g.process == SUMMARY_SOME) {
		n = ret->c.process2 ? select2(ret->c.process2, p->process.ok, in, n, s->rows)
				    : select4(ret->c.process4, &p->process, in, n, s->rows);
		in = s->rows;
	}
	if (p->thread.ok) {
		n = select4(ret->c.thread, &p->thread, in, n, s->rows);
		in = s->rows;
	}
	if (plan->cpu.ok) {
		n = select2(ret->c.cpu, plan->cpu.ok, in, n, s->rows);
		in = s->rows;
	}
	if (plan->masked_count && n) {
		int err = select_masked(s, ret, in, s->rows, &n);
		if (err < 0) {
			return err;
		}
		in = s->rows;
	}
	if (plan->rest_count && n) {
		int err = select_rest(s, ret, g.within, in, n, s->rows, &n);
		if (err < 0) {
			return err;
		}
		in = s->rows;
	}
	ret->count = n;
	ret->whole = n == ret->c.rows;
	ret->rows = ret->whole ? NULL : in;
	return 0;
}
