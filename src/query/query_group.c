/* SPDX-License-Identifier: MIT
 *
 * A tree of groups. Each thread makes a tree of its own of what it meets; they are added up at the end. While rows are
 * read only the leaves count.
 */
#include "query/query_key.h"
#include "query/query_reading.h"
#include "query/query_sample.h"

#include "base/sized.h"
#include "base/vec.h"
#include "base/win32_error.h"

#include <stdlib.h>

#define NODES_MAX   (1u << 23) /* of one tree */
#define DIRECT_MAX  (1u << 22) /* slots of the first two keys multiplied: a table instead of a map */
#define NODE_ROOT   0u
#define GROUP_PARTS 2u

struct node {
	uint32_t parent, slot, depth;
	uint64_t count, values;
	double sum, min, max;
};
struct tree {
	const struct key *keys;
	uint32_t key_count;
	struct field_column *field; /* NULL: only counts */
	struct node *nodes;
	uint32_t count, cap;
	struct map child;   /* parent << 32 | slot: which node */
	uint32_t *direct;   /* of the first two slots: the node + 1; NULL: by `child` */
	uint32_t *row_node; /* of the rows of a part */
	bool full;          /* there were more groups than can be kept */
	struct samples samples;
};

/* ---- making it ------------------------------------------------------------------------------------- */

static int child_of(struct tree *t, uint32_t parent, uint32_t slot, uint32_t *ret)
{
	uint64_t key = (uint64_t)parent << 32 | slot;
	size_t at = map_find(&t->child, key);
	if (at == MAP_NONE && t->count >= NODES_MAX && slot != KEY_NO_SLOT) {
		t->full = true;
		return child_of(t, parent, KEY_NO_SLOT, ret);
	}
	if (at == MAP_NONE) {
		if (!VEC_ROOM(t->nodes, t->count, t->cap) || map_add(&t->child, key, t->count) < 0) {
			return -ENOMEM;
		}
		t->nodes[t->count] = (struct node){.parent = parent, .slot = slot, .depth = t->nodes[parent].depth + 1};
		*ret = t->count++;
		return 0;
	}
	*ret = (uint32_t)map_value(&t->child, at);
	return 0;
}

/* The nodes of the first two keys, by a table. */
static int add_direct(struct tree *t, const struct scan_part *p, const uint32_t *second)
{
	uint32_t wide = t->keys[1].slots;
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t *known = &t->direct[(uint64_t)t->row_node[i] * wide + second[i]];
		if (BASE_UNLIKELY(*known == 0)) {
			uint32_t node;
			int err = child_of(t, NODE_ROOT, t->row_node[i], &node);
			err = err < 0 ? err : child_of(t, node, second[i], &node);
			if (err < 0) {
				return err;
			}
			*known = node + 1;
		}
		t->row_node[i] = *known - 1;
	}
	return 0;
}

static int add_level(struct tree *t, const struct scan_part *p, const uint32_t *slots)
{
	uint32_t parent = UINT32_MAX, slot = 0, node = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		if (t->row_node[i] != parent || slots[i] != slot) {
			parent = t->row_node[i];
			slot = slots[i];
			int err = child_of(t, parent, slot, &node);
			if (err < 0) {
				return err;
			}
		}
		t->row_node[i] = node;
	}
	return 0;
}

static void add_value(struct node *n, double v)
{
	n->min = n->values == 0 || v < n->min ? v : n->min;
	n->max = n->values == 0 || v > n->max ? v : n->max;
	n->sum += v;
	n->values++;
}

static int add_values(struct tree *t, const struct scan_part *p)
{
	int err = 0;
	for (uint32_t i = 0; i < p->count && err == 0; i++) {
		uint32_t number = field_get(t->field, p->file_at, p->group, scan_row(p, i));
		const struct field_value *v = number >= FIELD_FIRST ? field_value(t->field, number) : NULL;
		if (v && v->is_number) {
			add_value(&t->nodes[t->row_node[i]], v->number);
			err = samples_add(&t->samples, t->row_node[i], v->number, 1);
		}
	}
	return err;
}

static int add_part(void *sink, struct scan *s, const struct scan_part *p)
{
	struct tree *t = sink;
	int err = 0;
	uint32_t k = 0;
	if (t->direct) {
		key_slots(&t->keys[0], p, t->row_node);
		key_slots(&t->keys[1], p, s->slots);
		err = add_direct(t, p, s->slots);
		k = 2;
	} else {
		memset(t->row_node, 0, p->count * sizeof *t->row_node);
	}
	for (; k < t->key_count && err == 0; k++) {
		key_slots(&t->keys[k], p, s->slots);
		err = add_level(t, p, s->slots);
	}
	for (uint32_t i = 0; i < p->count && err == 0; i++) {
		t->nodes[t->row_node[i]].count++;
	}
	return err == 0 && t->field ? add_values(t, p) : err;
}

static int tree_begin(struct tree *t, const struct key *keys, uint32_t key_count, struct field_column *field,
		      uint32_t threads)
{
	*t = (struct tree){.keys = keys, .key_count = key_count, .field = field};
	t->samples.most = SAMPLE_EXACT / threads;
	t->row_node = calloc(STORE_GROUP_ROWS, sizeof *t->row_node);
	if (!t->row_node || !VEC_ROOM(t->nodes, t->count, t->cap)) {
		return -ENOMEM;
	}
	t->nodes[t->count++] = (struct node){.slot = KEY_NO_SLOT};
	uint64_t product = key_count >= 2 ? (uint64_t)keys[0].slots * keys[1].slots : 0;
	if (product && product <= DIRECT_MAX) {
		t->direct = calloc(product, sizeof *t->direct);
		return t->direct ? 0 : -ENOMEM;
	}
	return 0;
}

static void tree_free(struct tree *t)
{
	free(t->nodes);
	free(t->direct);
	free(t->row_node);
	map_free(&t->child);
	samples_free(&t->samples);
}

/* ---- adding up -------------------------------------------------------------------------------------- */

static void add_node(struct node *to, const struct node *more)
{
	if (more->values) {
		to->min = to->values ? BASE_MIN(to->min, more->min) : more->min;
		to->max = to->values ? BASE_MAX(to->max, more->max) : more->max;
	}
	to->count += more->count;
	to->values += more->values;
	to->sum += more->sum;
}

static int merge(struct tree *to, const struct tree *from)
{
	uint32_t *node = calloc(from->count + 1ull, sizeof *node);
	int err = node ? 0 : -ENOMEM;
	for (uint32_t i = 1; i < from->count && err == 0; i++) { /* parents stand before their children */
		err = child_of(to, node[from->nodes[i].parent], from->nodes[i].slot, &node[i]);
		if (err == 0) {
			add_node(&to->nodes[node[i]], &from->nodes[i]);
		}
	}
	if (from->samples.rounded && err == 0) {
		err = samples_round(&to->samples);
	}
	for (size_t i = 0; i < from->samples.count && err == 0; i++) {
		const struct sample_number *n = &from->samples.numbers[i];
		err = samples_add(&to->samples, node[n->group], n->value, n->weight);
	}
	to->full = to->full || from->full;
	free(node);
	return err;
}

/* ---- telling ---------------------------------------------------------------------------------------- */

/* The nodes in the order in which they are told: those with most events first, children behind their parent. */
struct order {
	struct tree *t;
	uint32_t *first, *next; /* children of each node: a list, most first */
	uint32_t *number;       /* of each node in that order */
	uint32_t *end;          /* number of the first node behind its children's children */
	uint32_t most, told;
	openetw_group_fn fn;
	void *context;
	struct strbuf text;
	bool stopped;
};

static int by_count(const void *a, const void *b, void *nodes)
{
	const struct node *n = nodes, *x = &n[*(const uint32_t *)a], *y = &n[*(const uint32_t *)b];
	return x->count > y->count ? -1 : x->count < y->count ? 1 : x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Lists of children, and the numbers: without recursion, as deep as eight. */
static int make_order(struct order *o)
{
	struct tree *t = o->t;
	uint32_t *all = calloc(t->count + 1ull, sizeof *all), n = 0, at = NODE_ROOT;
	o->first = calloc(t->count + 1ull, sizeof *o->first);
	o->next = calloc(t->count + 1ull, sizeof *o->next);
	o->number = calloc(t->count + 1ull, sizeof *o->number);
	o->end = calloc(t->count + 1ull, sizeof *o->end);
	if (!all || !o->first || !o->next || !o->number || !o->end) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = t->count; i-- > 1;) { /* children stand behind their parents */
		add_node(&t->nodes[t->nodes[i].parent], &t->nodes[i]);
	}
	for (uint32_t i = 0; i < t->count; i++) {
		all[i] = i;
	}
	qsort_r(all, t->count, sizeof *all, by_count, t->nodes);
	for (uint32_t i = t->count; i-- > 0;) { /* least first, so that the lists begin with the most */
		if (all[i] != NODE_ROOT) {
			uint32_t parent = t->nodes[all[i]].parent;
			o->next[all[i]] = o->first[parent];
			o->first[parent] = all[i];
		}
	}
	free(all);
	for (;;) {
		o->number[at] = n++;
		if (o->first[at]) {
			at = o->first[at];
			continue;
		}
		while (at != NODE_ROOT && !o->next[at]) {
			o->end[at] = n;
			at = t->nodes[at].parent;
		}
		o->end[at] = n;
		if (at == NODE_ROOT) {
			break;
		}
		at = o->next[at];
	}
	samples_sort(&t->samples, o->number);
	return 0;
}

static void tell_one(struct order *o, const struct node *n, uint32_t depth, uint32_t parent, bool rest, uint32_t first,
		     uint32_t end)
{
	static const uint32_t parts[GROUP_PARTS] = {50, 99};
	const struct key *k = &o->t->keys[depth - 1];
	struct openetw_group g = {.size = sizeof g, .depth = depth, .parent = parent, .id = UINT32_MAX};
	strbuf_clear(&o->text);
	if (!rest && n->slot != KEY_NO_SLOT) {
		g.id = key_id(k, n->slot);
		key_text(k, n->slot, &o->text);
	}
	g.text = o->text.s ? o->text.s : "";
	g.count = n->count;
	g.values = n->values;
	if (n->values) {
		double p[GROUP_PARTS] = {0};
		samples_percentiles(&o->t->samples, first, end, parts, GROUP_PARTS, p);
		g.sum = n->sum;
		g.min = n->min;
		g.max = n->max;
		g.average = n->sum / (double)n->values;
		g.p50 = p[0];
		g.p99 = p[1];
	}
	o->told++;
	o->stopped = !o->fn(o->context, &g);
}

/* The children of a node, and theirs: at most eight deep. */
static void tell_children(struct order *o, uint32_t node, uint32_t depth, uint32_t parent)
{
	const struct tree *t = o->t;
	uint32_t shown = 0;
	for (uint32_t at = o->first[node]; at && !o->stopped; at = o->next[at]) {
		if (++shown == o->most && o->next[at]) { /* what does not fit, as one */
			struct node rest = {0};
			uint32_t first = o->number[at];
			for (uint32_t i = at; i; i = o->next[i]) {
				add_node(&rest, &t->nodes[i]);
			}
			tell_one(o, &rest, depth, parent, true, first, o->end[node]);
			return;
		}
		uint32_t me = o->told;
		tell_one(o, &t->nodes[at], depth, parent, false, o->number[at], o->end[at]);
		if (depth < t->key_count && !o->stopped) {
			tell_children(o, at, depth + 1, me);
		}
	}
}

static int tell(struct tree *t, uint32_t most, openetw_group_fn fn, void *context)
{
	struct order o = {.t = t, .most = most, .fn = fn, .context = context};
	int err = make_order(&o);
	if (err == 0) {
		tell_children(&o, NODE_ROOT, 1, UINT32_MAX);
		err = o.text.failed ? -ENOMEM : 0;
	}
	strbuf_finish(&o.text);
	free(o.first);
	free(o.next);
	free(o.number);
	free(o.end);
	return err;
}

static int group(struct openetw_query *q, const struct key *keys, uint32_t key_count, struct field_column *field,
		 uint32_t most, openetw_group_fn fn, void *context)
{
	struct tree *t = calloc(q->threads, sizeof *t);
	int err = t ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		err = tree_begin(&t[i], keys, key_count, field, q->threads);
	}
	err = err < 0 ? err : question_run(q, INT64_MIN, INT64_MAX, add_part, t, sizeof *t);
	int told = err;
	if (err == 0 || err == -ECANCELED) {
		t[0].samples.most = SAMPLE_EXACT;
		told = 0;
		for (uint32_t i = 1; i < q->threads && told == 0; i++) {
			told = merge(&t[0], &t[i]);
		}
		q->answer.exact = q->answer.exact && !t[0].full && !t[0].samples.rounded;
		told = told < 0 ? told : tell(&t[0], most, fn, context);
	}
	for (uint32_t i = 0; t && i < q->threads; i++) {
		tree_free(&t[i]);
	}
	free(t);
	return told < 0 ? told : err;
}

uint32_t openetw_query_group(struct openetw_query *q, const enum openetw_key *keys, uint32_t key_count, uint32_t most,
			     openetw_group_fn fn, void *context, struct openetw_answer *ret)
{
	struct key k[OPENETW_GROUP_KEYS] = {0};
	struct field_column *field = NULL;
	if (!fn || !keys || key_count == 0 || key_count > OPENETW_GROUP_KEYS || most == 0 ||
	    (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	if (err == 0 && q->field) {
		err = reading_prepare(q, &field);
	}
	uint32_t made = 0;
	while (err == 0 && made < key_count) {
		err = key_make(q, keys[made], &k[made]);
		made += err == 0;
	}
	err = err < 0 ? err : group(q, k, key_count, field, most, fn, context);
	for (uint32_t i = 0; i < made; i++) {
		key_free(&k[i]);
	}
	return question_end(q, err, ret);
}
