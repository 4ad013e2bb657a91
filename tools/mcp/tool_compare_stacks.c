/* SPDX-License-Identifier: MIT
 * compare, of call trees: both are laid over each other by the names of functions, because addresses and processes are others
 * in each trace.
 */
#include "tools/mcp/mcp_tree.h"

#include "base/map.h"
#include "base/vec.h"
#include "tools/tables/table_make.h"

#include <math.h>
#include <stdlib.h>

#define LEAST      0.001 /* of a side: what has less stays in its parent */
#define NODE_BYTES 200u  /* about, in an answer */
#define NONE       UINT32_MAX

struct both {
	char *name;
	uint32_t parent;
	double self[2], total[2];
	bool wanted;
};
struct overlay {
	struct both *nodes;
	uint32_t count, cap;
	struct map of; /* by parent and name */
	double seconds[2], all[2];
};

/* UINT32_MAX: no memory. */
static uint32_t node_of(struct overlay *o, uint32_t parent, const char *name)
{
	struct strbuf key = {0};
	strbuf_addf(&key, "%u ", parent);
	strbuf_adds(&key, name);
	uint64_t hash = key.failed ? 0 : map_hash(&o->of, key.s, key.len);
	bool failed = key.failed;
	strbuf_finish(&key);
	MAP_EACH(&o->of, hash, at) {
		const struct both *n = &o->nodes[map_value(&o->of, at)];
		if (n->parent == parent && strcmp(n->name, name) == 0) {
			return (uint32_t)map_value(&o->of, at);
		}
	}
	if (failed || !VEC_ROOM(o->nodes, o->count, o->cap) || map_add(&o->of, hash, o->count) < 0) {
		return NONE;
	}
	o->nodes[o->count] = (struct both){.name = strdup(name), .parent = parent};
	return o->nodes[o->count].name ? o->count++ : NONE;
}

static bool lay(struct overlay *o, int side, struct mcp_trace *t, const struct mcp_tree *tree)
{
	char name[1024];
	uint32_t *of = calloc(tree->count + 1ull, sizeof *of);
	bool ok = of != NULL;
	for (uint32_t i = 0; ok && i < tree->count; i++) {
		const struct openetw_stack_node *n = &tree->nodes[i];
		mcp_tree_name(mcp_trace_maker(t), n, n->self > 0 && n->self >= n->total, name, sizeof name);
		of[i] = node_of(o, n->parent < i ? of[n->parent] : NONE, name);
		ok = of[i] != NONE;
		if (ok) {
			o->nodes[of[i]].self[side] += n->self;
			o->nodes[of[i]].total[side] += n->total;
			o->all[side] += n->parent == NONE ? n->total : 0;
		}
	}
	free(of);
	return ok;
}

/* One side's tree. False: said why. */
static bool ask_tree(struct mcp_call *c, struct overlay *o, int side, const char *files, const char *from,
		     const char *to, struct openetw_answer *a, bool *ret_full)
{
	char why[400] = "";
	struct mcp_tree tree = {0};
	int64_t first, last;
	struct mcp_trace *t = mcp_trace_of(c, files);
	struct openetw_query *q = t ? mcp_trace_query(c, t, mcp_call_text(c, "filter", NULL), from, to) : NULL;
	if (!q || !mcp_trace_range(c, t, from, to, &first, &last)) {
		openetw_query_destroy(q);
		return false;
	}
	uint32_t code = openetw_query_stacks(q, 0, LEAST, mcp_tree_take, &tree, a);
	bool ok = code == ERROR_SUCCESS || mcp_trace_failed(c, code);
	if (ok && tree.count && !table_make_state(mcp_trace_maker(t), why, sizeof why)) {
		ok = cli_tell(c->args, "%s", why) == CLI_OK;
	}
	if (ok && (tree.failed || !lay(o, side, t, &tree))) {
		ok = cli_tell(c->args, "no memory") == CLI_OK;
	}
	double seconds = ((double)last - (double)first) / 1e9;
	o->seconds[side] = seconds > 0 ? seconds : 1;
	*ret_full |= tree.full;
	free(tree.nodes);
	openetw_query_destroy(q);
	return ok;
}

static const struct overlay *sorted;
/* By events per second, so that times of different length can be compared. */
static double difference(const struct both *n)
{
	return fabs(n->total[1] / sorted->seconds[1] - n->total[0] / sorted->seconds[0]);
}

static int by_difference(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	double dx = difference(&sorted->nodes[*x]), dy = difference(&sorted->nodes[*y]);
	return dx != dy ? (dx < dy ? 1 : -1) : (*x < *y ? -1 : *x > *y);
}

/* Those that differ most, each with its callers, as far as there is room for all of it. How many. */
static uint32_t choose(struct overlay *o, uint32_t most)
{
	uint32_t chosen = 0, *order = calloc(o->count + 1ull, sizeof *order);
	for (uint32_t i = 0; order && i < o->count; i++) {
		order[i] = i;
	}
	sorted = o;
	if (order && o->count) {
		qsort(order, o->count, sizeof *order, by_difference);
	}
	for (uint32_t i = 0; order && i < o->count; i++) {
		uint32_t more = 0;
		for (uint32_t n = order[i]; n != NONE && !o->nodes[n].wanted; n = o->nodes[n].parent) {
			more++;
		}
		if (chosen + more > most) {
			break;
		}
		for (uint32_t n = order[i]; n != NONE && !o->nodes[n].wanted; n = o->nodes[n].parent) {
			o->nodes[n].wanted = true;
		}
		chosen += more;
	}
	free(order);
	return chosen;
}

static void put_node(struct strbuf *b, const struct overlay *o, uint32_t i)
{
	const struct both *n = &o->nodes[i];
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "node", i);
	if (n->parent != NONE) {
		json_put_count(b, "parent", n->parent);
	}
	json_put_text(b, "function", n->name);
	json_put_real(b, "first_self", n->self[0]);
	json_put_real(b, "other_self", n->self[1]);
	json_put_real(b, "first_total", n->total[0]);
	json_put_real(b, "other_total", n->total[1]);
	json_put_real(b, "difference_per_second", n->total[1] / o->seconds[1] - n->total[0] / o->seconds[0]);
	strbuf_addc(b, '}');
}

bool mcp_compare_stacks(struct mcp_call *c, const char *other)
{
	struct overlay o = {0};
	struct strbuf *b = &c->out;
	bool full = false;
	struct openetw_answer a[2] = {{.size = sizeof a[0]}, {.size = sizeof a[0]}};
	bool ok = ask_tree(c, &o, 0, "files", "from", "to", &a[0], &full) &&
		  ask_tree(c, &o, 1, other, "other_from", "other_to", &a[1], &full);
	if (ok) {
		uint32_t most =
			BASE_MIN((uint32_t)mcp_call_integer(c, "limit", 60), (uint32_t)(c->budget / NODE_BYTES));
		uint32_t chosen = choose(&o, most), shown = 0;
		static const char *const names[] = {"first", "other"};
		strbuf_addc(b, '{');
		for (int i = 0; i < 2; i++) {
			json_put_name(b, names[i]);
			strbuf_addc(b, '{');
			mcp_put_answer(b, &a[i]);
			json_put_real(b, "in_the_tree", o.all[i]);
			json_put_real(b, "seconds", o.seconds[i]);
			strbuf_addc(b, '}');
		}
		json_put_name(b, "nodes");
		strbuf_addc(b, '[');
		for (uint32_t i = 0; i < o.count && mcp_call_room(c); i++) { /* callers come first */
			if (o.nodes[i].wanted) {
				put_node(b, &o, i);
				shown++;
			}
		}
		strbuf_addc(b, ']');
		json_put_count(b, "shown", shown);
		json_put_count(b, "there_are", o.count);
		json_put_text(b, "note", "functions with less than 0.1 percent of a side count there as their caller");
		mcp_put_cut(b, shown < o.count || chosen < o.count || full,
			    "raise limit, or narrow filter, from and to");
		strbuf_addc(b, '}');
	}
	for (uint32_t i = 0; i < o.count; i++) {
		free(o.nodes[i].name);
	}
	free(o.nodes);
	map_free(&o.of);
	return ok;
}
