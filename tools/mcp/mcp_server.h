/* SPDX-License-Identifier: MIT
 *
 * The Model Context Protocol on two descriptors, one JSON object a line. Two eras of it are spoken at once:
 *
 *   2024-11-05 … 2025-11-25   a client says initialize first, and the version holds for all that follows
 *   2026-07-28                every request says its version in "_meta", and nothing has to come first
 *
 * Calls of tools wait in a queue for the worker; all else is answered at once. A call that is cancelled gets no answer.
 */
#ifndef TOOLS_MCP_MCP_SERVER_H
#define TOOLS_MCP_MCP_SERVER_H

#include "tools/mcp/mcp_tool.h"

/* Until `in` ends, then until what was asked is answered. CLI_OK, CLI_FAILED: said why. */
int mcp_serve(const struct cli_args *a, int in, int out, uint64_t timeout_ns);

#endif
