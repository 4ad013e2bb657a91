/* SPDX-License-Identifier: MIT
 * stacks: call trees.
 */
#include "tools/mcp/mcp_tree.h"

#include "tools/tables/table_make.h"

#include <stdlib.h>

#define NODES_MOST 100000u
#define NODE_BYTES 120u /* about, in an answer */

bool mcp_tree_take(void *context, const struct openetw_stack_node *n)
{
	struct mcp_tree *t = context;
	if (t->count == NODES_MOST) {
		t->full = true;
		return false;
	}
	if (t->count == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 1024;
		struct openetw_stack_node *more = realloc(t->nodes, cap * sizeof *more);
		if (!more) {
			t->failed = true;
			return false;
		}
		t->nodes = more;
		t->cap = cap;
	}
	t->nodes[t->count++] = *n;
	return !cli_signal_caught();
}

static int by_total(const void *a, const void *b)
{
	const struct openetw_stack_node *const *x = a, *const *y = b;
	return (*x)->total != (*y)->total ? ((*x)->total < (*y)->total ? 1 : -1) : (*x < *y ? -1 : *x > *y);
}

void mcp_tree_name(struct table_maker *m, const struct openetw_stack_node *n, bool innermost, char *out, size_t cap)
{
	OPENETW_SIZED(struct openetw_index_process, p);
	if (openetw_index_process(m->index, n->process, &p) != ERROR_SUCCESS) {
		p.pid = OPENETW_UNKNOWN_ID;
	}
	/* Callers stand in front of the address to which their call returns. */
	int64_t time = p.end != INT64_MAX && p.end > p.start ? p.end : m->about.last;
	names_of(&m->names, p.pid, n->address - (innermost ? 0 : 1), table_make_filetime(m, time), out, cap);
}

/* The heaviest nodes, in the order of the tree: a node comes after its parent. */
static bool put_nodes(struct mcp_call *c, struct mcp_trace *t, struct mcp_tree *tree, uint32_t most, bool inverted)
{
	struct strbuf *b = &c->out;
	char name[1024];
	uint32_t shown = 0;
	const struct openetw_stack_node **heavy = calloc(tree->count + 1u, sizeof *heavy);
	uint8_t *wanted = calloc(tree->count + 1u, 1);
	if (!heavy || !wanted) {
		free(heavy);
		free(wanted);
		return cli_tell(c->args, "no memory"), false;
	}
	for (uint32_t i = 0; i < tree->count; i++) {
		heavy[i] = &tree->nodes[i];
	}
	qsort(heavy, tree->count, sizeof *heavy, by_total);
	most = BASE_MIN(most,
			(uint32_t)(c->budget / NODE_BYTES)); /* rather the light ones than the last are left out */
	for (uint32_t i = 0; i < BASE_MIN(tree->count, most); i++) { /* parents weigh as much at least */
		wanted[heavy[i] - tree->nodes] = 1;
	}
	strbuf_adds(b, ",\"nodes\":[");
	for (uint32_t i = 0; i < tree->count && mcp_call_room(c); i++) {
		const struct openetw_stack_node *n = &tree->nodes[i];
		if (!wanted[i] || (n->parent != UINT32_MAX && (n->parent >= i || !wanted[n->parent]))) {
			wanted[i] = 0;
			continue;
		}
		mcp_tree_name(mcp_trace_maker(t), n, inverted ? n->depth <= 1 : n->self > 0 && n->self >= n->total,
			      name, sizeof name);
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "node", i);
		if (n->parent != UINT32_MAX) {
			json_put_count(b, "parent", n->parent);
		}
		json_put_count(b, "depth", n->depth);
		json_put_text(b, "function", name);
		json_put_real(b, "self", n->self);
		json_put_real(b, "total", n->total);
		strbuf_addc(b, '}');
		shown++;
	}
	strbuf_addc(b, ']');
	json_put_count(b, "shown", shown);
	json_put_count(b, "there_are", tree->count);
	mcp_put_cut(b, shown < tree->count || tree->full,
		    "raise max_nodes or min_percent, or narrow filter, from and to");
	free(heavy);
	free(wanted);
	return !b->failed;
}

static bool run_stacks(struct mcp_call *c)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct mcp_tree tree = {0};
	char why[400] = "";
	struct mcp_trace *t = mcp_trace_of(c, "files");
	const char *field = mcp_call_text(c, "field", NULL);
	bool inverted = mcp_call_truth(c, "inverted", false);
	uint32_t flags = (inverted ? OPENETW_STACKS_INVERTED : 0) |
			 (mcp_call_truth(c, "kernel", true) ? 0 : OPENETW_STACKS_NO_KERNEL);
	struct openetw_query *q = t ? mcp_trace_query(c, t, mcp_call_text(c, "filter", NULL), "from", "to") : NULL;
	if (!q) {
		return false;
	}
	uint32_t code = field ? openetw_query_set_field(q, field) : ERROR_SUCCESS;
	if (code == ERROR_SUCCESS) {
		code = openetw_query_stacks(q, flags, mcp_call_real(c, "min_percent", 1) / 100, mcp_tree_take, &tree,
					    &a);
	}
	bool ok = code == ERROR_SUCCESS || mcp_trace_failed(c, code);
	if (ok && tree.failed) {
		ok = false;
		cli_tell(c->args, "no memory");
	}
	if (ok && tree.count && !table_make_state(mcp_trace_maker(t), why, sizeof why)) {
		ok = false;
		cli_tell(c->args, "%s", why);
	}
	if (ok) {
		strbuf_addc(&c->out, '{');
		mcp_put_answer(&c->out, &a);
		json_put_text(&c->out, "weight", field ? field : "events");
		if (a.matched == 0) {
			mcp_trace_nothing(c, t);
		}
		if (!tree.count) {
			json_put_text(&c->out, "note", "none of these events has a stack");
		}
		ok = put_nodes(c, t, &tree, (uint32_t)mcp_call_integer(c, "max_nodes", 150), inverted);
		strbuf_addc(&c->out, '}');
	}
	free(tree.nodes);
	openetw_query_destroy(q);
	return ok;
}

static const struct mcp_param stacks_params[] = {
	MCP_FILES("files"),
	MCP_FILTER,
	MCP_RANGE,
	{.name = "inverted",
	 .kind = MCP_PARAM_TRUTH,
	 .help = "From the innermost function to its callers; default: from the outermost inwards."},
	{.name = "kernel", .kind = MCP_PARAM_TRUTH, .help = "With frames of the kernel (default true)."},
	{.name = "field",
	 .kind = MCP_PARAM_TEXT,
	 .help = "Weigh by the sum of this field of the payload; default: by events."},
	{.name = "min_percent",
	 .kind = MCP_PARAM_REAL,
	 .max = 100,
	 .help = "Leave out what has less of the whole; its weight stays in its parent (default 1)."},
	{.name = "max_nodes",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = 5000,
	 .help = "At most so many nodes, the heaviest (default 150)."},
	{0}};
const struct mcp_tool mcp_tool_stacks = {
	.name = "stacks",
	.title = "Call trees",
	.help = "A call tree of the events that have call stacks: who does it, and from where. Of CPU samples with the "
		"filter "
		"event ~ SampleProf (Windows' and ours). \"self\" and \"total\" are events, or the sum of a field.",
	.params = stacks_params,
	.run = run_stacks,
};
