/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_worker.h"

#include "tools/mcp/mcp_message.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTES_MAX 16384u
#define LOOK_MS   10

struct head {
	uint32_t bytes; /* that follow */
	uint32_t ok;
};

static struct {
	pid_t pid;
	int fd, notes;
	struct strbuf in; /* of the answer, so far */
} w = {.fd = -1, .notes = -1};

/* ---- both sides ------------------------------------------------------------------------------------- */

static bool put(int fd, const void *p, size_t n)
{
	const char *at = p;
	while (n > 0) {
		ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done <= 0) {
			return false;
		}
		at += done;
		n -= (size_t)done;
	}
	return true;
}

static bool get(int fd, void *p, size_t n)
{
	char *at = p;
	while (n > 0) {
		ssize_t done = read(fd, at, n);
		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done <= 0) {
			return false;
		}
		at += done;
		n -= (size_t)done;
	}
	return true;
}

int mcp_worker_notes(void)
{
	if (w.notes < 0) {
		w.notes = memfd_create("openetw-mcp-notes", MFD_CLOEXEC);
	}
	return w.notes;
}

/* ---- the worker ------------------------------------------------------------------------------------- */

static void answer(struct mcp_call *c, const char *message, size_t n, struct head *h)
{
	char why[200];
	const char *name = "";
	struct json_value *v = json_parse(message, n, why, sizeof why);
	const struct json_value *params = json_member(v, "params");
	json_text(json_member(params, "name"), &name);
	c->tool = mcp_tool_find(name);
	c->given = json_member(params, "arguments");
	c->budget = mcp_limits.answer_bytes;
	h->ok = c->tool && mcp_call_check(c) && c->tool->run(c);
	if (c->out.failed) {
		h->ok = 0;
		cli_tell(c->args, "no memory");
	} else if (h->ok && c->out.len > MCP_ANSWER_MAX) { /* a part of it would be no JSON */
		h->ok = 0;
		cli_tell(c->args, "the answer is longer than %u MiB; ask for less of it", MCP_ANSWER_MAX >> 20);
	}
	json_free(v);
}

static void serve(const struct cli_args *a, int fd)
{
	struct head h;
	char *message;
	while (get(fd, &h, sizeof h) && h.bytes <= JSON_BYTES_MAX && (message = malloc(h.bytes + 1u)) != NULL) {
		struct mcp_call c = {.args = a};
		if (!get(fd, message, h.bytes)) {
			free(message);
			break;
		}
		cli_signals_catch(); /* what was caught before was about an earlier call */
		if (ftruncate(2, 0) < 0 || lseek(2, 0, SEEK_SET) < 0) {
			_exit(1);
		}
		cli_work_clear();
		answer(&c, message, h.bytes, &h);
		fflush(stderr);
		fflush(stdout);
		h.bytes = h.ok ? (uint32_t)c.out.len : 0;
		bool sent = put(fd, &h, sizeof h) && put(fd, c.out.s, h.bytes);
		strbuf_finish(&c.out);
		free(message);
		if (!sent) {
			break;
		}
	}
	mcp_trace_close_all();
}

/* A trace that is open has some for each of its files. */
static void allow_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

bool mcp_worker_start(const struct cli_args *a, int close_fd)
{
	int ends[2], notes = mcp_worker_notes();
	if (w.fd >= 0) {
		return true;
	}
	if (notes < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		return false;
	}
	fflush(NULL);
	pid_t server = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int none = open("/dev/null", O_RDWR | O_CLOEXEC);
		close(ends[0]);
		close(close_fd);
		if (getppid() != server || none < 0 || dup2(none, 0) < 0 || dup2(none, 1) < 0 || dup2(notes, 2) < 0) {
			_exit(1);
		}
		allow_descriptors();
		serve(a, ends[1]);
		_exit(0);
	}
	base_close(&ends[1]);
	if (pid < 0) {
		base_close(&ends[0]);
		return false;
	}
	w.pid = pid;
	w.fd = ends[0];
	strbuf_clear(&w.in);
	return true;
}

/* ---- the server ------------------------------------------------------------------------------------- */

int mcp_worker_fd(void)
{
	return w.fd;
}

void mcp_worker_end(void)
{
	if (w.fd >= 0) {
		kill(w.pid, SIGKILL);
		while (waitpid(w.pid, NULL, 0) < 0 && errno == EINTR) {
		}
		base_close(&w.fd);
	}
}

void mcp_worker_leave(void)
{
	pid_t ended = 0;
	if (w.fd < 0) {
		return;
	}
	base_close(&w.fd);
	for (unsigned waited = 0; ended <= 0 && waited < MCP_PATIENCE_MS; waited += LOOK_MS) {
		ended = waitpid(w.pid, NULL, WNOHANG);
		if (ended == 0) {
			poll(NULL, 0, LOOK_MS);
		} else if (ended < 0 && errno != EINTR) {
			return;
		}
	}
	if (ended <= 0) {
		kill(w.pid, SIGKILL);
		while (waitpid(w.pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
}

void mcp_worker_interrupt(void)
{
	if (w.fd >= 0) {
		kill(w.pid, SIGINT);
	}
}

bool mcp_worker_send(const char *message, size_t n)
{
	struct head h = {.bytes = (uint32_t)n};
	return w.fd >= 0 && put(w.fd, &h, sizeof h) && put(w.fd, message, n);
}

/* Lines begin with the name of the verb that wrote them, which nobody asked for. */
static void take_notes(struct strbuf *out)
{
	struct strbuf all = {0};
	char *line, *next;
	ssize_t n = strbuf_room(&all, NOTES_MAX) ? pread(w.notes, all.s, NOTES_MAX, 0) : -1;
	if (n <= 0) {
		strbuf_finish(&all);
		return;
	}
	all.len = (size_t)n;
	strbuf_adds(&all, n == NOTES_MAX ? "..." : ""); /* and a NUL */
	for (line = all.s; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next) {
			*next++ = 0;
		}
		char *text = line;
		if (strncmp(text, "openetw ", 8) == 0) {
			char *colon = strstr(text, ": ");
			text = colon && colon - text < 24 ? colon + 2 : text;
		}
		if (*text) {
			strbuf_addf(out, "%s%s", out->len ? "\n" : "", text);
		}
	}
	strbuf_finish(&all);
}

static enum mcp_worker_state gone(struct mcp_answer *ret)
{
	int status = 0;
	kill(w.pid, SIGKILL);
	while (waitpid(w.pid, &status, 0) < 0 && errno == EINTR) {
	}
	base_close(&w.fd);
	take_notes(&ret->notes);
	ret->ok = false;
	return MCP_WORKER_GONE;
}

enum mcp_worker_state mcp_worker_take(struct mcp_answer *ret)
{
	struct head h;
	*ret = (struct mcp_answer){0};
	if (!strbuf_room(&w.in, 65536)) {
		return gone(ret);
	}
	ssize_t n = recv(w.fd, w.in.s + w.in.len, 65536, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return MCP_WORKER_BUSY;
	}
	if (n <= 0) {
		return gone(ret);
	}
	w.in.len += (size_t)n;
	if (w.in.len < sizeof h) {
		return MCP_WORKER_BUSY;
	}
	memcpy(&h, w.in.s, sizeof h);
	if (h.bytes > MCP_ANSWER_MAX) {
		return gone(ret);
	}
	if (w.in.len - sizeof h < h.bytes) {
		return MCP_WORKER_BUSY;
	}
	ret->ok = h.ok != 0;
	strbuf_add(&ret->json, w.in.s + sizeof h, h.bytes);
	take_notes(&ret->notes);
	strbuf_clear(&w.in);
	return MCP_WORKER_DONE;
}

void mcp_answer_finish(struct mcp_answer *x)
{
	strbuf_finish(&x->json);
	strbuf_finish(&x->notes);
}
