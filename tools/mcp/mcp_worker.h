/* SPDX-License-Identifier: MIT
 *
 * The process in which tools run, one call after the other. It is a fork of the server: a trace that makes it crash, or
 * takes all its memory, costs the answer to one call, and the next one gets another worker.
 *
 *   server                                     worker
 *   mcp_worker_send(message)      ------>      checks the arguments, runs the tool
 *   poll(mcp_worker_fd())
 *   mcp_worker_take(&answer)      <------      its answer, or why there is none
 *   mcp_worker_interrupt()        SIGINT       gives up soon; after MCP_PATIENCE_MS it is killed
 */
#ifndef TOOLS_MCP_MCP_WORKER_H
#define TOOLS_MCP_MCP_WORKER_H

#include "tools/mcp/mcp_tool.h"

#define MCP_PATIENCE_MS 2000u
#define MCP_ANSWER_MAX  (64u << 20)

/* What the worker's standard error is; made once. -1: it cannot be made. */
int mcp_worker_notes(void);
/* Is there one, or can there be one? `close_fd` is closed in it. */
bool mcp_worker_start(const struct cli_args *a, int close_fd);
int mcp_worker_fd(void); /* -1: none runs */
/* A message with a tools/call, of a tool that there is. False: the worker is gone. */
bool mcp_worker_send(const char *message, size_t n);
enum mcp_worker_state { MCP_WORKER_BUSY, MCP_WORKER_DONE, MCP_WORKER_GONE };
struct mcp_answer {
	bool ok;
	struct strbuf json;  /* when ok */
	struct strbuf notes; /* why not, or what else there is to say; may be empty */
};
/* What has come so far. DONE fills `ret`, GONE its notes. */
enum mcp_worker_state mcp_worker_take(struct mcp_answer *ret);
void mcp_answer_finish(struct mcp_answer *x);
void mcp_worker_interrupt(void);
void mcp_worker_end(void);
/* Lets it close its traces, which keeps what it has read of fields; after MCP_PATIENCE_MS it is killed. */
void mcp_worker_leave(void);

#endif
