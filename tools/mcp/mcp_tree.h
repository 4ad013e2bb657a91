/* SPDX-License-Identifier: MIT
 * A call tree as a question tells it: of the tools stacks and compare.
 */
#ifndef TOOLS_MCP_MCP_TREE_H
#define TOOLS_MCP_MCP_TREE_H

#include "tools/mcp/mcp_tool.h"

struct table_maker;
struct mcp_tree {
	struct openetw_stack_node *nodes; /* parents come first; to be freed */
	uint32_t count, cap;
	bool failed, full; /* no memory; there are more */
};
/* For openetw_query_stacks(), with a tree as its context. */
bool mcp_tree_take(void *context, const struct openetw_stack_node *n);
/* The function of a node. `innermost`: it was interrupted there; else it is a caller. */
void mcp_tree_name(struct table_maker *m, const struct openetw_stack_node *n, bool innermost, char *out, size_t cap);

/* compare, of call trees. */
bool mcp_compare_stacks(struct mcp_call *c, const char *other);

#endif
