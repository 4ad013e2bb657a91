/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_server.h"

#include "tools/mcp/mcp_more.h"
#include "tools/mcp/mcp_reply.h"
#include "tools/mcp/mcp_worker.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define QUEUE_MAX 64u
#define BATCH_MAX 256u

/* ---- calls of tools ----------------------------------------------------------------------------------- */

static void drop_job(struct mcp_server *s, struct mcp_job *j)
{
	struct mcp_job **at = &s->jobs;
	while (*at != j) {
		at = &(*at)->next;
	}
	*at = j->next;
	s->job_count--;
	mcp_reply_batch_done(s, j->batch);
	free(j->message);
	free(j->uri);
	free(j);
}

/* NULL: it was refused. */
static struct mcp_job *queue_job(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m,
				 bool modern, const char *text, size_t n)
{
	for (const struct mcp_job *j = s->jobs; j; j = j->next) {
		if (strcmp(j->id, m->id) == 0) {
			mcp_reply_refuse(s, batch, m->id, MCP_INVALID_REQUEST,
					 "a request with this id is being worked on", NULL);
			return NULL;
		}
	}
	struct mcp_job *j = s->job_count < QUEUE_MAX ? calloc(1, sizeof *j) : NULL;
	char *copy = j ? malloc(n + 1) : NULL;
	if (!copy) {
		free(j);
		mcp_reply_refuse(s, batch, m->id, MCP_INTERNAL, "too many calls wait; try again when some are answered",
				 NULL);
		return NULL;
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	*j = (struct mcp_job){.message = copy, .bytes = n, .batch = batch, .modern = modern};
	memcpy(j->id, m->id, sizeof j->id);
	if (!mcp_message_id(json_member(json_member(m->params, "_meta"), "progressToken"), j->token, sizeof j->token)) {
		j->token[0] = 0;
	}
	struct mcp_job **at = &s->jobs;
	while (*at) {
		at = &(*at)->next;
	}
	*at = j;
	s->job_count++;
	if (batch) {
		batch->waiting++;
	}
	return j;
}

static void list_resources(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern)
{
	const struct json_value *given = json_member(m->params, "cursor");
	const char *cursor = given ? "" : NULL;
	struct strbuf call = {0};
	json_text(given, &cursor);
	struct mcp_job *j = NULL;
	if (!mcp_resource_page(cursor, &call)) {
		mcp_reply_refuse(
			s, batch, m->id, MCP_INVALID_PARAMS,
			"there is no such cursor; the first page needs none, and each page has that of the next", NULL);
	} else if (call.failed) {
		mcp_reply_refuse(s, batch, m->id, MCP_INTERNAL, "no memory", NULL);
	} else {
		j = queue_job(s, batch, m, modern, call.s, call.len);
	}
	if (j) {
		j->kind = JOB_RESOURCES;
	}
	strbuf_finish(&call);
}

static void read_resource(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern)
{
	const char *uri = "";
	struct strbuf call = {0};
	json_text(json_member(m->params, "uri"), &uri);
	char *copy = strdup(uri);
	struct mcp_job *j = NULL;
	if (!mcp_resource_call(uri, &call)) {
		mcp_reply_refuse(s, batch, m->id, modern ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE,
				 "there is no such resource; resources/list has those that there are", NULL);
	} else if (call.failed || !copy) {
		mcp_reply_refuse(s, batch, m->id, MCP_INTERNAL, "no memory", NULL);
	} else {
		j = queue_job(s, batch, m, modern, call.s, call.len);
	}
	if (j) {
		j->kind = JOB_RESOURCE;
		j->uri = copy;
	} else {
		free(copy);
	}
	strbuf_finish(&call);
}

static void call_tool(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool modern,
		      const char *text, size_t n)
{
	const char *name;
	char why[300];
	const struct json_value *arguments = json_member(m->params, "arguments");
	if (!json_text(json_member(m->params, "name"), &name)) {
		mcp_reply_refuse(s, batch, m->id, MCP_INVALID_PARAMS, "tools/call needs the name of a tool", NULL);
		return;
	}
	if (!mcp_tool_find(name)) {
		const char *near = mcp_tool_nearest(name);
		snprintf(why, sizeof why, "there is no tool '%.80s'%s%s%s", name, near ? "; did you mean '" : "",
			 near ? near : "; tools/list has them all", near ? "'?" : "");
		mcp_reply_refuse(s, batch, m->id, MCP_INVALID_PARAMS, why, NULL);
		return;
	}
	if (arguments && json_kind_of(arguments) != JSON_OBJECT) {
		mcp_reply_refuse(s, batch, m->id, MCP_INVALID_PARAMS, "\"arguments\" is to be an object", NULL);
		return;
	}
	queue_job(s, batch, m, modern, text, n);
}

/* Structured content is known since 2025-06-18. */
static bool structured(const struct mcp_server *s, const struct mcp_job *j)
{
	return j->modern || (s->version && strcmp(s->version, "2025-06-18") >= 0);
}

static void answer_resource(struct mcp_server *s, struct mcp_job *j, const struct mcp_answer *x, bool ok,
			    const char *why)
{
	struct strbuf b = {0};
	mcp_reply_begin(&b, j->id, j->modern);
	if (ok && j->kind == JOB_RESOURCES) {
		ok = mcp_resource_list(&x->json, &b);
	} else if (ok) {
		mcp_resource_contents(j->uri, &x->json, &b);
	}
	if (!ok) {
		strbuf_finish(&b);
		mcp_reply_refuse(s, j->batch, j->id, j->modern ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE, why, NULL);
		return;
	}
	strbuf_adds(&b, j->modern ? ",\"ttlMs\":0,\"cacheScope\":\"private\"}}" : "}}");
	mcp_reply_give(s, j->batch, &b);
}

static void answer_call(struct mcp_server *s, struct mcp_job *j, struct mcp_answer *x, const char *instead)
{
	struct strbuf b = {0};
	const char *notes = x->notes.len && !x->notes.failed ? x->notes.s : NULL;
	size_t n = x->json.len;
	bool ok = x->ok && !x->json.failed && n >= 2 && x->json.s[n - 1] == '}' && !memchr(x->json.s, '\n', n);
	if (ok && notes) { /* damage that was gone around, and the like: the last member */
		x->json.len--;
		json_put_text(&x->json, "notes", notes);
		strbuf_addc(&x->json, '}');
		ok = !x->json.failed;
	}
	const char *why = instead ? instead : notes ? notes : "the call failed without a reason";
	if (j->kind != JOB_TOOL) {
		answer_resource(s, j, x, ok, why);
		return;
	}
	mcp_reply_begin(&b, j->id, j->modern);
	strbuf_adds(&b, "\"content\":[{\"type\":\"text\",\"text\":");
	if (ok) {
		strbuf_add_json(&b, x->json.s, x->json.len);
	} else {
		strbuf_add_json(&b, why, strlen(why));
	}
	strbuf_addc(&b, '}');
	if (!ok && instead && notes) { /* what was said before it ended */
		strbuf_adds(&b, ",{\"type\":\"text\",\"text\":");
		strbuf_add_json(&b, notes, strlen(notes));
		strbuf_addc(&b, '}');
	}
	strbuf_addc(&b, ']');
	if (ok && structured(s, j)) {
		strbuf_adds(&b, ",\"structuredContent\":");
		strbuf_add(&b, x->json.s, x->json.len);
	}
	strbuf_addf(&b, ",\"isError\":%s}}", ok ? "false" : "true");
	mcp_reply_give(s, j->batch, &b);
}

static void next_job(struct mcp_server *s)
{
	struct mcp_job *j = s->jobs;
	if (!j || j->running) {
		return;
	}
	cli_work_clear();
	if (!mcp_worker_start(s->args, s->out) || !mcp_worker_send(j->message, j->bytes)) {
		struct mcp_answer none = {0};
		mcp_worker_end();
		answer_call(s, j, &none, "no process could be started for this call; try again");
		drop_job(s, j);
		return;
	}
	j->running = true;
	j->told_ns = clock_read_system_ns();
	j->deadline_ns = s->timeout_ns ? j->told_ns + s->timeout_ns : 0;
}

static void give_up(struct mcp_job *j)
{
	if (!j->kill_ns) {
		mcp_worker_interrupt();
		j->kill_ns = clock_read_system_ns() + MCP_PATIENCE_MS * 1000000ull;
	}
}

static void cancel(struct mcp_server *s, const struct mcp_message *m)
{
	char id[MCP_ID_MAX];
	if (!mcp_message_id(json_member(m->params, "requestId"), id, sizeof id)) {
		return;
	}
	for (struct mcp_job *j = s->jobs; j; j = j->next) {
		if (strcmp(j->id, id) == 0) {
			j->cancelled = true;
			if (j->running) {
				give_up(j);
			} else {
				drop_job(s, j);
			}
			return;
		}
	}
}

static void take_answer(struct mcp_server *s)
{
	struct mcp_answer x;
	struct mcp_job *j = s->jobs;
	enum mcp_worker_state state = mcp_worker_take(&x);
	if (state != MCP_WORKER_BUSY && j && j->running) {
		if (!j->cancelled) {
			answer_call(
				s, j, &x,
				j->late && !x.ok
					? "the call took longer than the server allows (--timeout); ask for less: a "
					  "shorter time, a filter, fewer rows"
				: state == MCP_WORKER_GONE
					? "the process that worked on this call ended: it may have run out of memory; "
					  "the server goes on"
					: NULL);
		}
		drop_job(s, j);
	}
	mcp_answer_finish(&x);
}

/* What has taken too long. How many milliseconds until something may have; -1: never. */
static int look_at_clock(struct mcp_server *s)
{
	struct mcp_job *j = s->jobs;
	if (!j || !j->running || !(j->kill_ns || j->deadline_ns)) {
		return -1;
	}
	uint64_t now = clock_read_system_ns();
	if (!j->kill_ns && now >= j->deadline_ns) {
		j->late = true;
		give_up(j);
	}
	uint64_t when = j->kill_ns ? j->kill_ns : j->deadline_ns;
	if (j->kill_ns && now >= j->kill_ns) {
		struct mcp_answer none = {0};
		mcp_worker_end();
		if (!j->cancelled) {
			answer_call(s, j, &none,
				    "the call took longer than the server allows (--timeout), and was ended");
		}
		drop_job(s, j);
		return 0;
	}
	return (int)BASE_MIN((when - now) / 1000000 + 1, (uint64_t)60000);
}

/* ---- messages ----------------------------------------------------------------------------------------- */

/* Which era a request is of. False: of neither, and it was told so. */
static bool take_era(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, bool *ret_modern)
{
	const char *version;
	const struct json_value *meta = json_member(m->params, "_meta");
	const struct json_value *said = json_member(meta, MCP_META("protocolVersion"));
	char data[300];
	*ret_modern = said != NULL;
	if (!said) {
		bool early = strcmp(m->method, "initialize") == 0 || strcmp(m->method, "ping") == 0;
		if (!s->version && !early) {
			mcp_reply_refuse(s, batch, m->id, MCP_INVALID_REQUEST,
					 "say initialize first, or give " MCP_META("protocolVersion") " in _meta",
					 NULL);
			return false;
		}
		return true;
	}
	if (json_text(said, &version) && strcmp(version, MCP_MODERN) == 0) {
		return true;
	}
	struct strbuf wanted = {0};
	version = "";
	json_text(said, &version);
	strbuf_add_json(&wanted, version, BASE_MIN(strlen(version), (size_t)40));
	snprintf(data, sizeof data, "{\"supported\":[\"" MCP_MODERN "\",\"%s\",\"%s\",\"%s\",\"%s\"],\"requested\":%s}",
		 mcp_versions[0], mcp_versions[1], mcp_versions[2], mcp_versions[3], wanted.failed ? "\"\"" : wanted.s);
	strbuf_finish(&wanted);
	mcp_reply_refuse(s, batch, m->id, MCP_UNSUPPORTED, "Unsupported protocol version", data);
	return false;
}

static void take_request(struct mcp_server *s, struct mcp_batch *batch, const struct mcp_message *m, const char *text,
			 size_t n)
{
	bool modern;
	char why[200];
	if (!take_era(s, batch, m, &modern)) {
		return;
	}
	if (strcmp(m->method, "tools/list") == 0) {
		mcp_reply_tools(s, batch, m, modern);
	} else if (strcmp(m->method, "tools/call") == 0) {
		call_tool(s, batch, m, modern, text, n);
	} else if (strcmp(m->method, "resources/list") == 0) {
		list_resources(s, batch, m, modern);
	} else if (strcmp(m->method, "resources/read") == 0) {
		read_resource(s, batch, m, modern);
	} else if (strcmp(m->method, "resources/templates/list") == 0) {
		mcp_reply_templates(s, batch, m, modern);
	} else if (strcmp(m->method, "prompts/list") == 0) {
		mcp_reply_prompts(s, batch, m, modern);
	} else if (strcmp(m->method, "prompts/get") == 0) {
		mcp_reply_prompt(s, batch, m, modern);
	} else if (strcmp(m->method, "server/discover") == 0 && modern) {
		mcp_reply_discover(s, batch, m);
	} else if (strcmp(m->method, "initialize") == 0 && !modern) {
		mcp_reply_initialize(s, batch, m);
	} else if (strcmp(m->method, "ping") == 0 && !modern) {
		struct strbuf b = {0};
		mcp_reply_begin(&b, m->id, false);
		strbuf_adds(&b, "}}");
		mcp_reply_give(s, batch, &b);
	} else {
		snprintf(why, sizeof why, "there is no method '%.100s'", m->method);
		mcp_reply_refuse(s, batch, m->id, MCP_NO_METHOD, why, NULL);
	}
}

static void take_message(struct mcp_server *s, struct mcp_batch *batch, const struct json_value *v, const char *text,
			 size_t n)
{
	struct mcp_message m;
	mcp_message_read(v, &m);
	if (m.kind == MCP_WRONG) {
		mcp_reply_refuse(s, batch, m.id, m.code, m.why, NULL);
	} else if (m.kind == MCP_REQUEST) {
		take_request(s, batch, &m, text, n);
	} else if (m.kind == MCP_NOTIFICATION && strcmp(m.method, "notifications/cancelled") == 0) {
		cancel(s, &m);
	}
}

static void take_batch(struct mcp_server *s, const struct json_value *v)
{
	size_t count = json_count(v);
	if (!s->version || strcmp(s->version, "2025-03-26") != 0 || count == 0 || count > BATCH_MAX) {
		mcp_reply_refuse(s, NULL, "", MCP_INVALID_REQUEST,
				 count == 0 || count > BATCH_MAX
					 ? "a batch has 1 to 256 messages"
					 : "this version of the protocol has no batches: send one message a line",
				 NULL);
		return;
	}
	struct mcp_batch *batch = calloc(1, sizeof *batch);
	if (!batch) {
		s->failed = true;
		return;
	}
	batch->waiting = 1; /* this function */
	for (size_t i = 0; i < count; i++) {
		struct strbuf text = {0};
		json_write(json_at(v, i), &text);
		if (!text.failed && text.s) {
			take_message(s, batch, json_at(v, i), text.s, text.len);
		}
		strbuf_finish(&text);
	}
	mcp_reply_batch_done(s, batch);
}

static void take_line(struct mcp_server *s, const char *p, size_t n)
{
	char why[200];
	char message[260];
	if (n > 0 && p[n - 1] == '\r') {
		n--;
	}
	if (n == 0) {
		return;
	}
	struct json_value *v = json_parse(p, n, why, sizeof why);
	if (!v) {
		snprintf(message, sizeof message, "this is no JSON that can be read here: %s", why);
		mcp_reply_refuse(s, NULL, "", MCP_PARSE_ERROR, message, NULL);
	} else if (json_kind_of(v) == JSON_ARRAY) {
		take_batch(s, v);
	} else {
		take_message(s, NULL, v, p, n);
	}
	json_free(v);
}

static void take_bytes(struct mcp_server *s)
{
	char block[65536];
	ssize_t n = read(s->in, block, sizeof block);
	if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
		return;
	}
	if (n <= 0) {
		s->ended = true;
		if (s->line.len && !s->skipping) { /* a last line without its end */
			take_line(s, s->line.s, s->line.len);
		}
		return;
	}
	for (char *p = block, *end = block + n; p < end && !s->failed;) {
		char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t length = (size_t)((newline ? newline : end) - p);
		if (!s->skipping && s->line.len + length > JSON_BYTES_MAX) {
			s->skipping = true;
			strbuf_clear(&s->line);
			mcp_reply_refuse(s, NULL, "", MCP_INVALID_REQUEST, "the message is longer than 1048576 bytes",
					 NULL);
		}
		if (!s->skipping) {
			strbuf_add(&s->line, p, length);
			s->failed = s->line.failed;
		}
		if (newline) {
			if (!s->skipping && !s->failed && s->line.s) {
				take_line(s, s->line.s, s->line.len);
			}
			s->skipping = false;
			strbuf_clear(&s->line);
		}
		p += length + (newline != NULL);
	}
}

int mcp_serve(const struct cli_args *a, int in, int out, uint64_t timeout_ns)
{
	struct mcp_server s = {.args = a, .in = in, .out = out, .timeout_ns = timeout_ns};
	cli_work_share(); /* without it clients hear only that a call is worked on */
	while (!s.failed && !cli_signal_caught() && (!s.ended || s.jobs)) {
		next_job(&s);
		int wait = look_at_clock(&s), tell = mcp_progress_tell(&s, s.jobs);
		wait = tell >= 0 && (wait < 0 || tell < wait) ? tell : wait;
		struct pollfd p[2] = {{.fd = s.ended ? -1 : in, .events = POLLIN},
				      {.fd = mcp_worker_fd(), .events = POLLIN}};
		if (poll(p, 2, wait) < 0) {
			continue; /* a signal */
		}
		if (p[1].revents) {
			take_answer(&s);
		}
		if (p[0].revents) {
			take_bytes(&s);
		}
	}
	if (s.jobs) {
		mcp_worker_interrupt(); /* nobody waits for its answer */
	}
	mcp_worker_leave();
	while (s.jobs) {
		drop_job(&s, s.jobs);
	}
	strbuf_finish(&s.line);
	return CLI_OK;
}
