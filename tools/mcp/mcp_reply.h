/* SPDX-License-Identifier: MIT
 * The state of the server, and what it says: answers to requests that need no worker.
 */
#ifndef TOOLS_MCP_MCP_REPLY_H
#define TOOLS_MCP_MCP_REPLY_H

#include "tools/mcp/mcp_message.h"
#include "tools/mcp/mcp_tool.h"

#define MCP_MODERN   "2026-07-28"
#define MCP_META(x)  "io.modelcontextprotocol/" x
#define MCP_VERSIONS 4u
/* Those of the handshake, newest first. */
extern const char *const mcp_versions[MCP_VERSIONS];

/* Several messages that came in one line (2025-03-26): their answers go out in one. */
struct mcp_batch {
	unsigned waiting;
	struct strbuf answers;
};
enum job_kind { JOB_TOOL, JOB_RESOURCES, JOB_RESOURCE };
struct mcp_job { /* a call of a tool, or what one answers */
	struct mcp_job *next;
	enum job_kind kind;
	char id[MCP_ID_MAX];
	char token[MCP_ID_MAX]; /* of progress, as JSON; "": nobody wants to know */
	char *uri;              /* JOB_RESOURCE */
	uint64_t told_ns;       /* when progress was told last, or it began */
	unsigned told_seconds;
	uint64_t told; /* mcp_progress.c: the number that was told last */
	char *message;
	size_t bytes;
	struct mcp_batch *batch; /* NULL: none */
	bool modern, running, cancelled, late;
	uint64_t deadline_ns, kill_ns; /* 0: none */
};
struct mcp_server {
	const struct cli_args *args;
	int in, out;
	uint64_t timeout_ns;
	const char *version;  /* NULL: no initialize yet */
	struct mcp_job *jobs; /* the first one may be running */
	unsigned job_count;
	struct strbuf line;
	bool skipping; /* the rest of a line that is too long */
	bool ended, failed;
};

/* Sends a line, which ends here. */
void mcp_reply_line(struct mcp_server *s, struct strbuf *b);
/* Takes over what is in `b`: a whole answer. `batch` may be NULL. */
void mcp_reply_give(struct mcp_server *s, struct mcp_batch *batch, struct strbuf *b);
/* One of the messages of a batch is done with; the last one sends the answers. */
void mcp_reply_batch_done(struct mcp_server *s, struct mcp_batch *batch);
/* An error; `data` is JSON, or NULL. */
void mcp_reply_refuse(struct mcp_server *s, struct mcp_batch *batch, const char *id, int code, const char *why,
		      const char *data);
/* A result begins; what follows are its members, without a comma in front of the first. */
void mcp_reply_begin(struct strbuf *b, const char *id, bool modern);
/* Tells the client how much of this call is done, when it wants to know and a second has gone by. Milliseconds until it is to
 * be told again; -1: never. `j` may be NULL. */
int mcp_progress_tell(struct mcp_server *s, struct mcp_job *j);
/* Requests that are answered at once. */
void mcp_reply_initialize(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m);
void mcp_reply_discover(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m);
void mcp_reply_tools(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern);
void mcp_reply_prompts(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern);
void mcp_reply_templates(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern);
void mcp_reply_prompt(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern);

#endif
