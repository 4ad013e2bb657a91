/* SPDX-License-Identifier: MIT
 *
 * Rows of a result by their position in it.
 *
 * The matches of each group are counted once (question_count()), so a position is found by halving and one group is
 * looked at. Several files are merged by time as they are read: the next row is that of the file whose next row is
 * earliest, of the first such file. So a row that is out of order in its file comes right after the row in front of it,
 * which is an order by "the latest time of the rows up to this one". That never falls, and so can be halved, too.
 *
 * The first rows need no counting: the same merge, from the first group of each file on.
 */
#include "query/query_question.h"

#include "base/sized.h"
#include "base/win32_error.h"

#include <stdlib.h>

/* The matches of one file, one group at a time. */
struct cursor {
	uint32_t file, group;
	bool loaded;
	uint16_t *rows; /* of the group that is loaded */
	uint32_t count, at;
	struct scan_part p;
	uint32_t seen;  /* rows of the group that `latest` has */
	int64_t latest; /* of times, up to the row that is next */
};
struct merge {
	struct openetw_query *q;
	struct cursor *cursors;
	uint32_t count;
	bool counts; /* matches were not counted before: what is looked at is counted in the query's answer */
};

static uint32_t groups_of(const struct openetw_query *q, uint32_t file)
{
	return q->x->files[file].store.group_count;
}

static int64_t time_sum(int64_t a, int64_t b)
{
	int64_t r;
	return __builtin_add_overflow(a, b, &r) ? (b > 0 ? INT64_MAX : INT64_MIN) : r;
}

/* The latest time of a file's rows before a group, as a time of the index. */
static int64_t latest_before(const struct openetw_query *q, uint32_t file, uint32_t group)
{
	int64_t t = q->files[file].latest[group];
	return t == INT64_MIN ? t : time_sum(t, q->x->files[file].offset);
}

static int load(struct merge *m, struct cursor *c, uint32_t group)
{
	struct scan *s = m->q->scan[0];
	if (c->loaded && c->group == group) {
		return 0;
	}
	c->loaded = false;
	s->q = m->q;
	int err = scan_group(s, c->file, group, INT64_MIN, INT64_MAX, &c->p);
	if (err < 0) {
		return err;
	}
	if (!c->rows && !(c->rows = malloc(STORE_GROUP_ROWS * sizeof *c->rows))) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->p.count; i++) {
		c->rows[i] = (uint16_t)scan_row(&c->p, i);
	}
	c->p.rows = c->rows;
	c->count = c->p.count;
	c->group = group;
	c->loaded = true;
	if (m->counts) {
		m->q->answer.scanned += c->p.judged;
		m->q->answer.matched += c->p.count;
		m->q->done++;
		question_tell(m->q);
	}
	return 0;
}

/* How many matches of the file have no later time in front of them or at themselves than `time`. */
static int count_until(struct merge *m, struct cursor *c, int64_t time, uint64_t *ret)
{
	const struct openetw_query *q = m->q;
	uint32_t low = 0, high = groups_of(q, c->file);
	while (low < high) { /* the first group that ends later */
		uint32_t middle = low + (high - low) / 2;
		if (latest_before(q, c->file, middle + 1) > time) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	*ret = q->files[c->file].position[low];
	if (low == groups_of(q, c->file) || q->files[c->file].position[low + 1] == *ret) {
		return 0;
	}
	int err = load(m, c, low);
	if (err < 0) {
		return err;
	}
	uint32_t row = 0;
	while (row < c->p.c.rows && time_sum(store_time(&c->p.c, row), c->p.file->offset) <= time) {
		row++;
	}
	uint32_t a = 0, b = c->count;
	while (a < b) { /* the first match at that row or behind it */
		uint32_t middle = a + (b - a) / 2;
		if (c->rows[middle] >= row) {
			b = middle;
		} else {
			a = middle + 1;
		}
	}
	*ret += a;
	return 0;
}

/* Lets a cursor stand on the next match, or at the end of the file: then p.file is NULL. */
static int settle(struct merge *m, struct cursor *c)
{
	const struct openetw_query *q = m->q;
	while (!c->loaded || c->at >= c->count) {
		uint32_t next = c->loaded ? c->group + 1 : c->group;
		const uint64_t *position = m->counts ? NULL : q->files[c->file].position;
		while (position && next < groups_of(q, c->file) && position[next] == position[next + 1]) {
			next++;
		}
		if (next >= groups_of(q, c->file)) {
			c->p.file = NULL;
			return 0;
		}
		int err = question_cancelled(q) ? -ECANCELED : load(m, c, next);
		if (err < 0) {
			return err;
		}
		c->at = c->seen = 0;
		c->latest = latest_before(q, c->file, next);
	}
	for (; c->seen <= c->rows[c->at]; c->seen++) {
		c->latest = BASE_MAX(c->latest, time_sum(store_time(&c->p.c, c->seen), c->p.file->offset));
	}
	return 0;
}

/* Lets it stand on the match of this number of the file. */
static int stand_on(struct merge *m, struct cursor *c, uint64_t number)
{
	const uint64_t *position = m->q->files[c->file].position;
	uint32_t low = 0, high = groups_of(m->q, c->file);
	while (low < high) { /* the group that has it */
		uint32_t middle = low + (high - low) / 2;
		if (position[middle + 1] > number) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (low == groups_of(m->q, c->file)) {
		c->loaded = true;
		c->count = c->at = 0;
		c->group = low;
		c->p.file = NULL;
		return 0;
	}
	int err = load(m, c, low);
	if (err < 0) {
		return err;
	}
	c->seen = 0;
	c->at = (uint32_t)(number - position[low]);
	c->latest = latest_before(m->q, c->file, low);
	return settle(m, c);
}

static int count_all_until(struct merge *m, int64_t time, uint64_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t n;
		int err = count_until(m, &m->cursors[i], time, &n);
		if (err < 0) {
			return err;
		}
		*ret += n;
		if (question_cancelled(m->q)) {
			return -ECANCELED;
		}
	}
	return 0;
}

/* The latest time of which all rows up to it are not more than `position`. */
static int find_time(struct merge *m, uint64_t position, int64_t *ret)
{
	int64_t low = INT64_MIN, high = INT64_MIN;
	for (uint32_t i = 0; i < m->count; i++) {
		high = BASE_MAX(high, latest_before(m->q, i, groups_of(m->q, i)));
	}
	for (uint32_t i = 0; i < m->count; i++) {
		const struct index_file *f = &m->q->x->files[i];
		int64_t first = f->store.group_count ? time_sum(f->store.groups[0].from, f->offset) : high;
		low = i == 0 ? first : BASE_MIN(low, first);
	}
	low = low == INT64_MIN ? low : low - 1; /* nothing is that early, unless the index is damaged */
	while (low < high) {
		int64_t middle = (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low + 1) / 2);
		uint64_t n;
		int err = count_all_until(m, middle, &n);
		if (err < 0) {
			return err;
		}
		if (n <= position) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	*ret = low;
	return 0;
}

static struct cursor *earliest(struct merge *m)
{
	struct cursor *r = NULL;
	for (uint32_t i = 0; i < m->count; i++) {
		struct cursor *c = &m->cursors[i];
		if (c->p.file && (!r || c->latest < r->latest)) {
			r = c;
		}
	}
	return r;
}

/* All cursors, so that the next row is that of `position`. */
static int seek(struct merge *m, uint64_t position)
{
	uint64_t before = 0;
	int64_t time = 0;
	int err = m->count > 1 ? find_time(m, position, &time) : 0;
	for (uint32_t i = 0; i < m->count && err == 0; i++) {
		uint64_t n = position;
		err = m->count > 1 ? count_until(m, &m->cursors[i], time, &n) : 0;
		err = err < 0 ? err : stand_on(m, &m->cursors[i], n);
		before += n;
	}
	while (err == 0 && before < position) {
		struct cursor *c = earliest(m);
		if (!c) {
			break;
		}
		before++;
		c->at++;
		err = question_cancelled(m->q) ? -ECANCELED : settle(m, c);
	}
	return err;
}

static struct openetw_row row_at(const struct cursor *c, uint64_t position)
{
	const struct index_file *f = c->p.file;
	const struct store *s = &f->store;
	uint32_t row = c->rows[c->at];
	return (struct openetw_row){
		.size = sizeof(struct openetw_row),
		.type = question_id(store_type_at(&c->p.c, row), s->type_count, f->type_base),
		.process = question_id(store_process_at(&c->p.c, row), s->process_count, f->process_base),
		.thread = question_id(c->p.c.thread[row], s->thread_count, f->thread_base),
		.cpu = c->p.c.cpu[row],
		.stack = c->p.c.stack ? question_id(c->p.c.stack[row], s->stack_count, f->stack_base) : 0,
		.time = time_sum(store_time(&c->p.c, row), f->offset),
		.row = (uint64_t)c->file << INDEX_ROW_BITS | (c->p.first_row + row),
		.position = position,
	};
}

/* From where the cursors stand. */
static int tell_rows(struct merge *m, uint64_t position, uint64_t count, openetw_row_fn fn, void *context)
{
	int err = 0;
	for (uint64_t i = 0; i < count && err == 0; i++) {
		struct cursor *c = earliest(m);
		if (!c) {
			break;
		}
		struct openetw_row row = row_at(c, position + i);
		if (!fn(context, &row) || i + 1 == count) {
			break; /* the next one may be far */
		}
		c->at++;
		err = question_cancelled(m->q) ? -ECANCELED : settle(m, c);
	}
	return err;
}

static int merge_begin(struct openetw_query *q, struct merge *ret)
{
	*ret = (struct merge){.q = q, .count = q->x->file_count};
	ret->cursors = calloc(ret->count + 1ull, sizeof *ret->cursors);
	for (uint32_t i = 0; ret->cursors && i < ret->count; i++) {
		ret->cursors[i].file = i;
	}
	return ret->cursors ? 0 : -ENOMEM;
}

/* Where rows of the result are known by their positions. */
static int merge_counted(struct openetw_query *q, struct merge *ret)
{
	int err = question_count(q);
	q->answer = err < 0 ? q->answer : q->counted_answer;
	return err < 0 ? err : merge_begin(q, ret);
}

static void merge_end(struct merge *m)
{
	for (uint32_t i = 0; m->cursors && i < m->count; i++) {
		free(m->cursors[i].rows);
	}
	free(m->cursors);
}

uint32_t openetw_query_rows(struct openetw_query *q, uint64_t position, uint64_t count, openetw_row_fn fn,
			    void *context, struct openetw_answer *ret)
{
	struct merge m = {0};
	if (!fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	err = err < 0 ? err : merge_counted(q, &m);
	if (err == 0 && position < q->answer.matched) {
		err = seek(&m, position);
		err = err < 0 ? err : tell_rows(&m, position, count, fn, context);
	}
	merge_end(&m);
	return question_end(q, err, ret);
}

/* Group by group, by the thread that asks. What the filter finds is kept, so that a count looks at these groups no
 * more. */
static int tell_first(struct openetw_query *q, uint64_t count, openetw_row_fn fn, void *context, struct merge *m)
{
	struct scan *s = q->scan[0];
	int err = merge_begin(q, m);
	m->counts = true;
	s->number = 0;
	s->decoded = s->undecided = 0;
	q->done = q->groups = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		q->groups += groups_of(q, i);
	}
	for (uint32_t i = 0; i < m->count && err == 0; i++) {
		err = settle(m, &m->cursors[i]);
	}
	err = err < 0 ? err : tell_rows(m, 0, count, fn, context);
	field_columns_read(q->x, s->decoded);
	q->undecided += s->undecided;
	q->answer.decoded = s->decoded;
	q->answer.undecided = q->undecided;
	for (uint32_t i = 0; m->cursors && i < m->count; i++) {
		q->answer.partial = q->answer.partial || m->cursors[i].p.file;
	}
	return err;
}

uint32_t openetw_query_first_rows(struct openetw_query *q, uint64_t count, openetw_row_fn fn, void *context,
				  struct openetw_answer *ret)
{
	struct merge m = {0};
	if (!fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	if (err == 0 && q->counted) {
		err = merge_counted(q, &m);
		err = err < 0 || q->answer.matched == 0 ? err : seek(&m, 0);
		err = err < 0 || q->answer.matched == 0 ? err : tell_rows(&m, 0, count, fn, context);
	} else if (err == 0) {
		err = tell_first(q, count, fn, context, &m);
	}
	merge_end(&m);
	return question_end(q, err, ret);
}

uint32_t openetw_query_position(struct openetw_query *q, int64_t time, uint64_t *ret)
{
	struct merge m = {0};
	uint64_t n = 0;
	if (!ret) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	err = err < 0 ? err : merge_counted(q, &m);
	if (err == 0 && time > INT64_MIN) {
		err = count_all_until(&m, time - 1, &n);
	}
	merge_end(&m);
	if (err == 0) {
		*ret = n;
	}
	return question_end(q, err, NULL);
}
