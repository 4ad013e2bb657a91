/* SPDX-License-Identifier: MIT
 * What the protocol has beside tools: traces as resources, and prompts.
 *
 * A resource is a trace that may be opened, openetw:///its/path; reading it gives the overview. Both are answered by tools
 * in the worker (list_traces, overview): mcp_resource_call() makes the call, and the others turn its answer into a result.
 */
#ifndef TOOLS_MCP_MCP_MORE_H
#define TOOLS_MCP_MCP_MORE_H

#include "tools/common/json_put.h"
#include "tools/common/json_read.h"

/* A tools/call of the tool overview for this URI. False: it names no trace. */
bool mcp_resource_call(const char *uri, struct strbuf *ret);
/* A tools/call of list_traces for the page that this cursor names; NULL: the first one. False: it is no cursor of ours. */
bool mcp_resource_page(const char *cursor, struct strbuf *ret);
/* "resources":[…] and, where there are more, "nextCursor", of what list_traces answered. False: it could not be read. */
bool mcp_resource_list(const struct strbuf *answer, struct strbuf *b);
/* "contents":[…] */
void mcp_resource_contents(const char *uri, const struct strbuf *answer, struct strbuf *b);

/* "prompts":[…] */
void mcp_prompt_list(struct strbuf *b);
/* The members of the result of prompts/get. False: `why` says what is wrong. */
bool mcp_prompt_get(const struct json_value *params, struct strbuf *b, char *why, size_t cap);

#endif
