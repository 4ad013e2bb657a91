/* SPDX-License-Identifier: MIT
 *
 * Call trees. Rows are counted by the number of their stack; each stack that was met becomes a path of the tree then.
 */
#include "query/query_reading.h"

#include "base/map.h"
#include "base/sized.h"
#include "base/vec.h"
#include "base/win32_error.h"

#include <stdlib.h>

#define NODES_MAX  (1u << 23)
#define FRAMES_MAX 1024u /* of one stack; what is further out is left out */

/* The weight of a stack in a process. */
struct weight {
	uint32_t file, stack, process;
	double value;
};
struct weights {
	struct openetw_query *q;
	struct field_column *field; /* NULL: events are counted */
	struct weight *list;
	uint32_t count, cap;
	struct map map; /* file, stack and process: which of the list */
};

static int add_weight(struct weights *w, uint32_t file, uint32_t stack, uint32_t process, double value)
{
	uint32_t what[3] = {file, stack, process};
	uint64_t key = map_hash(&w->map, what, sizeof what);
	MAP_EACH(&w->map, key, at) {
		struct weight *one = &w->list[map_value(&w->map, at)];
		if (one->file == file && one->stack == stack && one->process == process) {
			one->value += value;
			return 0;
		}
	}
	/* The first entry sets the map's secret, of which the key is made. */
	int err = !VEC_ROOM(w->list, w->count, w->cap) ? -ENOMEM : map_add(&w->map, key, w->count);
	if (err < 0) {
		return err;
	}
	w->list[w->count++] = (struct weight){file, stack, process, value};
	return 0;
}

static int add_part(void *sink, struct scan *s, const struct scan_part *p)
{
	struct weights *w = sink;
	const struct store *st = &p->file->store;
	int err = 0;
	for (uint32_t i = 0; p->c.stack && i < p->count && err == 0; i++) {
		uint32_t row = scan_row(p, i), stack = p->c.stack[row], process = store_process_at(&p->c, row);
		double value = 1;
		if (stack == 0 || stack >= st->stack_count) {
			continue;
		}
		if (w->field) {
			uint32_t number = field_get(w->field, p->file_at, p->group, row);
			const struct field_value *v = number >= FIELD_FIRST ? field_value(w->field, number) : NULL;
			if (!v || !v->is_number) {
				continue;
			}
			value = v->number;
		}
		err = add_weight(w, p->file_at, stack, process < st->process_count ? process : 0, value);
	}
	return err;
}

/* ---- the tree -------------------------------------------------------------------------------------- */

struct node {
	uint64_t address;
	uint32_t parent, process;
	double self, total;
};
struct tree {
	struct node *nodes; /* parents stand before their children; 0 is the root */
	uint32_t count, cap;
	struct map map; /* of parent, process and address */
	double all;
	bool full;
};

static int child_of(struct tree *t, uint32_t parent, uint32_t process, uint64_t address, uint32_t *ret)
{
	uint64_t what[2] = {address, (uint64_t)parent << 32 | process};
	uint64_t key = map_hash(&t->map, what, sizeof what);
	MAP_EACH(&t->map, key, at) {
		const struct node *n = &t->nodes[map_value(&t->map, at)];
		if (n->address == address && n->parent == parent && n->process == process) {
			*ret = (uint32_t)map_value(&t->map, at);
			return 0;
		}
	}
	if (t->count >= NODES_MAX) {
		t->full = true;
		return -E2BIG;
	}
	int err = !VEC_ROOM(t->nodes, t->count, t->cap) ? -ENOMEM : map_add(&t->map, key, t->count);
	if (err < 0) {
		return err;
	}
	t->nodes[t->count] = (struct node){.address = address, .parent = parent, .process = process};
	*ret = t->count++;
	return 0;
}

/* The frames from a node outwards. A parent stands before its children, so this ends whatever the bytes say. */
static uint32_t frames_of(const struct store *s, uint32_t node, uint64_t *out, uint32_t at)
{
	while (node > 0 && node < s->node_count && at < FRAMES_MAX) {
		const struct store_node *n = &s->nodes[node];
		out[at++] = store_frame(s, n->frame);
		node = n->parent < node ? n->parent : 0;
	}
	return at;
}

static int add_stack(struct tree *t, const struct index_file *f, const struct weight *w, uint32_t flags)
{
	uint64_t frames[FRAMES_MAX];
	const struct store_stack *k = &f->store.stacks[w->stack];
	uint32_t n = flags & OPENETW_STACKS_NO_KERNEL ? 0 : frames_of(&f->store, k->kernel, frames, 0);
	n = frames_of(&f->store, k->user, frames, n);
	uint32_t node = 0, process = question_id(w->process, f->store.process_count, f->process_base);
	bool inverted = flags & OPENETW_STACKS_INVERTED;
	for (uint32_t i = 0; i < n; i++) {
		int err = child_of(t, node, process, frames[inverted ? i : n - 1 - i], &node);
		if (err == -E2BIG) {
			break; /* the weight stays where there was room */
		}
		if (err < 0) {
			return err;
		}
		/* In the inverted tree the innermost frame is the one that did it; those that called it did nothing. */
		if (inverted && i == 0) {
			t->nodes[node].self += w->value;
		}
	}
	if (!inverted) {
		t->nodes[node].self += w->value;
	}
	t->nodes[node].total += w->value;
	t->all += w->value;
	return 0;
}

/* ---- telling ---------------------------------------------------------------------------------------- */

static int by_total(const void *a, const void *b, void *nodes)
{
	const struct node *n = nodes;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return n[x].total > n[y].total ? -1 : n[x].total < n[y].total ? 1 : x < y ? -1 : x > y;
}

/* Children are told behind their parent, those with most first. Without recursion: stacks are deep. */
static int tell(struct tree *t, double least, openetw_stack_node_fn fn, void *context)
{
	uint32_t *order = calloc(t->count + 1ull, sizeof *order), *first = calloc(t->count + 1ull, sizeof *first);
	uint32_t *next = calloc(t->count + 1ull, sizeof *next), *told = calloc(t->count + 1ull, sizeof *told);
	uint32_t count = 0, depth = 0, at = 0;
	int err = order && first && next && told ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < t->count && err == 0; i++) {
		order[i] = i;
	}
	if (err == 0) {
		qsort_r(order, t->count, sizeof *order, by_total, t->nodes);
		told[0] = UINT32_MAX;
	}
	for (uint32_t i = t->count; i-- > 0 && err == 0;) {
		const struct node *n = &t->nodes[order[i]];
		if (order[i] && !(n->total < least * t->all)) {
			next[order[i]] = first[n->parent];
			first[n->parent] = order[i];
		}
	}
	while (err == 0) {
		uint32_t to = first[at];
		depth += to != 0;
		while (!to && at) {
			to = next[at];
			depth -= to == 0;
			at = t->nodes[at].parent;
		}
		if (!to) {
			break;
		}
		at = to;
		const struct node *n = &t->nodes[at];
		const struct openetw_stack_node one = {.size = sizeof one,
						       .depth = depth,
						       .parent = told[n->parent],
						       .process = n->process,
						       .address = n->address,
						       .self = n->self,
						       .total = n->total};
		told[at] = count++;
		if (!fn(context, &one)) {
			break;
		}
	}
	free(order);
	free(first);
	free(next);
	free(told);
	return err;
}

static int make_tree(struct openetw_query *q, struct weights *w, uint32_t flags, struct tree *t)
{
	int err = VEC_ROOM(t->nodes, t->count, t->cap) ? 0 : -ENOMEM;
	if (err == 0) {
		t->nodes[t->count++] = (struct node){0};
	}
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		for (uint32_t k = 0; k < w[i].count && err == 0; k++) {
			err = add_stack(t, &q->x->files[w[i].list[k].file], &w[i].list[k], flags);
		}
	}
	for (uint32_t i = t->count; i-- > 1;) {
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
	}
	return err;
}

static int stacks(struct openetw_query *q, uint32_t flags, double least, openetw_stack_node_fn fn, void *context)
{
	struct weights *w = calloc(q->threads, sizeof *w);
	struct field_column *field = NULL;
	struct tree t = {0};
	int err = w ? 0 : -ENOMEM;
	if (err == 0 && q->field) {
		err = reading_prepare(q, &field);
	}
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		w[i] = (struct weights){.q = q, .field = field};
	}
	err = err < 0 ? err : question_run(q, INT64_MIN, INT64_MAX, add_part, w, sizeof *w);
	if (err == 0 || err == -ECANCELED) {
		int told = make_tree(q, w, flags, &t);
		told = told < 0 ? told : tell(&t, least, fn, context);
		q->answer.exact = q->answer.exact && !t.full;
		err = told < 0 ? told : err;
	}
	for (uint32_t i = 0; w && i < q->threads; i++) {
		free(w[i].list);
		map_free(&w[i].map);
	}
	free(w);
	free(t.nodes);
	map_free(&t.map);
	return err;
}

uint32_t openetw_query_stacks(struct openetw_query *q, uint32_t flags, double least, openetw_stack_node_fn fn,
			      void *context, struct openetw_answer *ret)
{
	const uint32_t known = OPENETW_STACKS_INVERTED | OPENETW_STACKS_NO_KERNEL;
	if (!fn || (flags & ~known) || !(least >= 0 && least <= 1) || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	err = err < 0 ? err : stacks(q, flags, least, fn, context);
	return question_end(q, err, ret);
}
