/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd: a thread for each connection, bounded in number, in size and in time. What is asked is hostile until the
 * guard has let it in; a stranger reaches no endpoint and no file of the page.
 */
#include "tools/view/view.h"
#include "tools/view/view_kept.h"
#include "tools/view/view_mhd.h"

#include "base/file.h"
#include "base/open_foreign.h"
#include "base/order.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS_MAX   128u
#define CONNECTION_MEMORY (48u << 10) /* for the head of a request */
#define IDLE_SECONDS      60u
#define HEAD_NS           15000000000ull  /* a request has to be there whole within this time */
#define TUNNEL_PORT       8080            /* the end of the tunnel that "ssh -L" is told to make to a socket */
#define CODE_NS           600000000000ull /* how long the printed address is good */
#define RUNNING_MAX       32u             /* questions that are being answered */
#define STACK_BYTES       (1u << 20)
#define EVENTS_BLOCK      4096u

/* ---- connections ------------------------------------------------------------------------------------ */

/* A client that sends its request a byte at a time would keep a thread for ever. */
struct connection {
	int socket;
	uint64_t since_ns; /* order_…: it is waited for since then; 0: its request is here */
	struct connection *next;
};
struct server {
	struct view *view;
	pthread_mutex_t lock;
	struct connection *all;
	struct MHD_Daemon *daemons[2];
	int daemon_count;
	uint32_t running; /* order_… */
};

static void on_connection(void *cls, struct MHD_Connection *c, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct server *s = cls;
	const union MHD_ConnectionInfo *info = view_mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		struct connection *x = calloc(1, sizeof *x);
		if (x) {
			*x = (struct connection){info ? info->connect_fd : -1, clock_read_system_ns(), s->all};
			s->all = x;
		}
		*socket_context = x;
	} else {
		for (struct connection **at = &s->all; *at; at = &(*at)->next) {
			if (*at == *socket_context) {
				struct connection *x = *at;
				*at = x->next;
				free(x);
				break;
			}
		}
	}
	pthread_mutex_unlock(&s->lock);
}

static void cut_slow_ones(struct server *s)
{
	uint64_t now = clock_read_system_ns();
	pthread_mutex_lock(&s->lock);
	for (struct connection *x = s->all; x; x = x->next) {
		uint64_t since = order_load_relaxed(&x->since_ns);
		if (since && now > since + HEAD_NS && x->socket >= 0) {
			shutdown(x->socket, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&s->lock);
}

static void waited_for(struct MHD_Connection *c, bool waits)
{
	const union MHD_ConnectionInfo *info = view_mhd.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *x = info ? info->socket_context : NULL;
	if (x) {
		order_store_relaxed(&x->since_ns, waits ? clock_read_system_ns() : 0);
	}
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static void add_policy(struct MHD_Response *m, const char *policy)
{
	view_mhd.add_response_header(m, "Content-Security-Policy", policy);
}

static void add_common(struct MHD_Response *m, const char *type)
{
	view_mhd.add_response_header(m, "X-Content-Type-Options", "nosniff");
	view_mhd.add_response_header(m, "Referrer-Policy", "no-referrer");
	view_mhd.add_response_header(m, "Cross-Origin-Opener-Policy", "same-origin");
	view_mhd.add_response_header(m, "Cross-Origin-Resource-Policy", "same-origin");
	view_mhd.add_response_header(m, "Cache-Control", "no-store");
	view_mhd.add_response_header(m, "Content-Type", type);
}

static void add_headers(struct MHD_Response *m, const char *type, bool speedscope)
{
	/* speedscope sets styles of its own and draws from data: addresses; nothing of the trace is in its page's text */
	add_policy(m, speedscope ? "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
				   "object-src 'none'; "
				   "base-uri 'none'; frame-ancestors 'self'; form-action 'none'"
				 : "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; "
				   "form-action 'none'");
	add_common(m, type);
}

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *m)
{
	enum MHD_Result result = m ? view_mhd.queue_response(c, status, m) : MHD_NO;
	if (m) {
		view_mhd.destroy_response(m);
	}
	return result;
}

static enum MHD_Result send_bytes(struct MHD_Connection *c, unsigned status, const char *type, const void *p, size_t n,
				  enum MHD_ResponseMemoryMode mode, bool speedscope)
{
	struct MHD_Response *m = view_mhd.create_response_from_buffer(n, (void *)(uintptr_t)p, mode);
	if (m) {
		add_headers(m, type, speedscope);
	}
	return send_response(c, status, m);
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *text)
{
	return send_bytes(c, status, "text/plain; charset=utf-8", text, strlen(text), MHD_RESPMEM_PERSISTENT, false);
}

/* ---- the page --------------------------------------------------------------------------------------- */

static const char *type_of(const char *path)
{
	static const struct {
		const char *end, *type;
	} types[] = {{".html", "text/html; charset=utf-8"},
		     {".js", "text/javascript; charset=utf-8"},
		     {".css", "text/css; charset=utf-8"},
		     {".svg", "image/svg+xml"},
		     {".png", "image/png"},
		     {".ico", "image/x-icon"},
		     {".json", "application/json"},
		     {".woff2", "font/woff2"},
		     {".txt", "text/plain; charset=utf-8"}};
	size_t n = strlen(path);
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		size_t end = strlen(types[i].end);
		if (n > end && strcmp(path + n - end, types[i].end) == 0) {
			return types[i].type;
		}
	}
	return "application/octet-stream";
}

static enum MHD_Result send_from_folder(struct view *v, struct MHD_Connection *c, const char *path, bool speedscope)
{
	struct stat st;
	int root = open(v->web, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int look = root < 0 ? -1 : open_foreign_look(root, path, 0, NULL), fd = -1;
	char link[40];
	if (look >= 0) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", look);
		fd = open(link, O_RDONLY | O_CLOEXEC);
	}
	base_close(&look);
	base_close(&root);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		base_close(&fd);
		return refuse(c, 404, "There is no such page.\n");
	}
	struct MHD_Response *m = view_mhd.create_response_from_fd((size_t)st.st_size, fd);
	if (m) {
		add_headers(m, type_of(path), speedscope);
	}
	return send_response(c, 200, m);
}

/* The page itself. Libraries of it make style elements, which the policy allows where they carry the nonce. */
static enum MHD_Result send_index(struct view *v, struct MHD_Connection *c)
{
	static const char place[] = "%NONCE%";
	struct strbuf text = {0}, policy = {0};
	const char *at = view_page_read(v, "index.html", &text) ? strstr(text.s, place) : NULL;
	if (!at) {
		strbuf_finish(&text);
		return refuse(c, 404, "There is no such page.\n");
	}
	struct strbuf out = {0};
	strbuf_add(&out, text.s, (size_t)(at - text.s));
	strbuf_adds(&out, v->guard.nonce);
	strbuf_adds(&out, at + sizeof place - 1);
	strbuf_finish(&text);
	strbuf_addf(
		&policy,
		"default-src 'self'; style-src 'self' 'nonce-%s'; object-src 'none'; base-uri 'none'; frame-ancestors "
		"'self'; form-action 'none'",
		v->guard.nonce);
	struct MHD_Response *m = out.failed || policy.failed
					 ? NULL
					 : view_mhd.create_response_from_buffer(out.len, out.s, MHD_RESPMEM_MUST_COPY);
	if (m) {
		add_policy(m, policy.s);
		add_common(m, "text/html; charset=utf-8");
	}
	strbuf_finish(&out);
	strbuf_finish(&policy);
	return send_response(c, 200, m);
}

static enum MHD_Result send_page(struct view *v, struct MHD_Connection *c, const char *url)
{
	const char *path = url + 1;
	if (strcmp(url, "/") == 0 || strcmp(url, "/index.html") == 0) {
		return send_index(v, c);
	}
	bool speedscope = strncmp(path, "speedscope/", 11) == 0;
	if (strcmp(path, "speedscope/") == 0) {
		path = "speedscope/index.html";
	}
	if (v->web) {
		return send_from_folder(v, c, path, speedscope);
	}
	for (const struct view_file *f = view_bundle; f->path; f++) {
		if (strcmp(f->path, path) == 0) {
			return send_bytes(c, 200, type_of(path), f->data, (size_t)(f->end - f->data),
					  MHD_RESPMEM_PERSISTENT, speedscope);
		}
	}
	return refuse(c, 404, "There is no such page.\n");
}

/* ---- a request -------------------------------------------------------------------------------------- */

struct call {
	struct server *server;
	struct view_request r;
	struct strbuf upload;
	bool refused; /* what else comes of it is not looked at */
	bool counted; /* among those that run */
};

static void call_free(struct call *x)
{
	if (x) {
		if (x->counted) {
			order_add_full(&x->server->running, -1u);
		}
		view_tables_let_go(&x->r);
		if (x->r.trace) {
			view_trace_let_go(x->r.view, x->r.trace);
		}
		json_free(x->r.body);
		strbuf_finish(&x->r.out);
		strbuf_finish(&x->r.filename_text);
		strbuf_finish(&x->r.making);
		strbuf_finish(&x->upload);
		base_close(&x->r.file);
		free(x);
	}
}

static enum MHD_Result take_parameter(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct view_request *r = cls;
	(void)kind;
	if (r->given_count == VIEW_PARAMS_MAX) {
		return MHD_NO;
	}
	r->given[r->given_count].name = name;
	r->given[r->given_count++].value = value ? value : "";
	return MHD_YES;
}

static ssize_t read_events(void *cls, uint64_t pos, char *buf, size_t max)
{
	(void)pos;
	ssize_t n = view_stream_read(cls, buf, max);
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void end_events(void *cls)
{
	view_stream_destroy(cls);
}

static enum MHD_Result send_events(struct call *x, struct MHD_Connection *c)
{
	struct view_stream *s = view_stream_create(x->r.view, view_trace_of(&x->r), x->r.socket);
	struct MHD_Response *m =
		s ? view_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, EVENTS_BLOCK, read_events, s, end_events)
		  : NULL;
	if (m) {
		add_headers(m, "text/event-stream", false);
	} else if (s) {
		view_stream_destroy(s);
	}
	return send_response(c, 200, m);
}

static enum MHD_Result send_answer(struct call *x, struct MHD_Connection *c)
{
	struct view_request *r = &x->r;
	struct MHD_Response *m;
	struct stat st;
	if (r->file >= 0 && fstat(r->file, &st) == 0) {
		m = view_mhd.create_response_from_fd((size_t)st.st_size, r->file);
		r->file = -1;
	} else {
		m = view_mhd.create_response_from_buffer(r->out.len, r->out.s ? r->out.s : (char *)(uintptr_t) "",
							 r->out.s ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
		r->out = (struct strbuf){0};
	}
	if (m) {
		add_headers(m, r->type ? r->type : "application/json", false);
		if (r->filename) {
			char text[400];
			snprintf(text, sizeof text, "attachment; filename=\"%.300s\"", r->filename);
			view_mhd.add_response_header(m, "Content-Disposition", text);
		}
	}
	return send_response(c, (unsigned)r->status, m);
}

static bool take_body(struct call *x)
{
	char why[200];
	struct view_request *r = &x->r;
	r->body = json_parse(x->upload.s ? x->upload.s : "", x->upload.len, why, sizeof why);
	if (!r->body || json_kind_of(r->body) != JSON_OBJECT) {
		view_fail(r, 400, "the body is no JSON object: %s", r->body ? "it is something else" : why);
		return false;
	}
	return true;
}

/* Instead of what it answered without the tables that are being made. */
static void put_making(struct view_request *r)
{
	strbuf_clear(&r->out);
	r->type = NULL;
	r->filename = NULL;
	r->status = r->making.failed ? 500 : 202;
	strbuf_addf(&r->out, "{\"making\":[%s]}", r->making.failed ? "" : r->making.s);
}

static enum MHD_Result answer(struct call *x, struct MHD_Connection *c)
{
	struct view_request *r = &x->r;
	if (view_mhd.get_connection_values(c, MHD_GET_ARGUMENT_KIND, NULL, NULL) > (int)VIEW_PARAMS_MAX) {
		view_fail(r, 400, "at most %u parameters", VIEW_PARAMS_MAX);
		return send_answer(x, c);
	}
	view_mhd.get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_parameter, r);
	if ((r->endpoint->post && !take_body(x)) || !view_request_check(r)) {
		return send_answer(x, c);
	}
	if (!r->endpoint->run) {
		return send_events(x, c);
	}
	x->counted = order_add_full(&x->server->running, 1u) < RUNNING_MAX;
	if (!x->counted) {
		order_add_full(&x->server->running, -1u);
		view_fail(r, 429, "%u questions are being answered already", RUNNING_MAX);
		return send_answer(x, c);
	}
	r->hurried = !r->endpoint->post;
	if (!view_kept_find(r)) {
		r->status = r->endpoint->run(r);
		if (r->making.len) {
			put_making(r);
		}
		view_kept_add(r);
	}
	return send_answer(x, c);
}

static enum MHD_Result enter(struct view *v, struct MHD_Connection *c, const char *code)
{
	char cookie[160];
	pthread_mutex_lock(&v->lock);
	bool ok = view_guard_code(&v->guard, code, clock_read_system_ns());
	pthread_mutex_unlock(&v->lock);
	if (!ok) {
		return refuse(
			c, 403,
			"This address was used already, or is too old. Press Enter where \"openetw view\" runs: it "
			"prints another one.\n");
	}
	struct MHD_Response *m =
		view_mhd.create_response_from_buffer(0, (char *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
	if (m) {
		add_headers(m, "text/plain", false);
		snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/", v->guard.cookie_name,
			 v->guard.cookie);
		view_mhd.add_response_header(m, "Set-Cookie", cookie);
		view_mhd.add_response_header(m, "Location", "/");
	}
	return send_response(c, 303, m);
}

/* Who asks, and for what: before anything else of the request is looked at. NULL: answered already. */
static struct call *begin(struct view *v, struct MHD_Connection *c, const char *url, const char *method,
			  enum MHD_Result *ret)
{
	bool post = strcmp(method, "POST") == 0, api = strncmp(url, "/api/", 5) == 0;
	const char *host = view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	const char *code = view_mhd.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "code");
	*ret = MHD_NO;
	if (!view_guard_host(&v->guard, host)) {
		*ret = refuse(c, 403, "This server answers to the name localhost alone.\n");
		return NULL;
	}
	if (!post && strcmp(method, "GET") != 0) {
		*ret = refuse(c, 405, "GET or POST.\n");
		return NULL;
	}
	if (!post && strcmp(url, "/") == 0 && code) {
		*ret = enter(v, c, code);
		return NULL;
	}
	if (!view_guard_cookie(&v->guard, view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Cookie"))) {
		*ret = refuse(
			c, 403,
			"Open the address that \"openetw view\" printed: this browser has not been let in. Was it used "
			"already? Press Enter where that command runs: it prints another one.\n");
		return NULL;
	}
	const char *origin = view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
	const char *header = view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "X-OpenETW");
	if ((post && (!header || strcmp(header, "1") != 0)) || !view_guard_origin(origin, host)) {
		*ret = refuse(c, 403, "This request does not come from the viewer's page.\n");
		return NULL;
	}
	/* More than is taken is refused before it is read. */
	const char *length = view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
	if (length && strtoull(length, NULL, 10) > JSON_BYTES_MAX) {
		*ret = refuse(c, 413, "The body is too long.\n");
		return NULL;
	}
	const char *type = view_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type");
	if (post && (!type || strncmp(type, "application/json", 16) != 0)) {
		*ret = refuse(c, 400, "The body is to be application/json.\n");
		return NULL;
	}
	if (!api) {
		*ret = post ? refuse(c, 405, "GET.\n") : send_page(v, c, url);
		return NULL;
	}
	const struct view_endpoint *e = view_endpoint_of(url + 5, post);
	if (!e) {
		*ret = refuse(c, view_endpoint_of(url + 5, !post) ? 405 : 404, "There is no such endpoint.\n");
		return NULL;
	}
	struct call *x = calloc(1, sizeof *x);
	if (x) {
		const union MHD_ConnectionInfo *info =
			view_mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
		x->r = (struct view_request){
			.view = v, .endpoint = e, .socket = info ? info->connect_fd : -1, .file = -1};
	}
	return x;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_bytes, void **context)
{
	struct server *s = cls;
	struct call *x = *context;
	enum MHD_Result result;
	(void)version;
	if (!x) {
		x = begin(s->view, c, url, method, &result);
		if (!x) {
			return result;
		}
		x->server = s;
		*context = x;
		if (x->r.endpoint->post) {
			return MHD_YES; /* its body comes next */
		}
	}
	if (*upload_bytes) {
		if (x->upload.len + *upload_bytes > JSON_BYTES_MAX) {
			x->refused = true;
		}
		if (!x->refused) {
			strbuf_add(&x->upload, upload, *upload_bytes);
		}
		*upload_bytes = 0;
		return x->refused && x->upload.len == 0 ? MHD_NO : MHD_YES;
	}
	waited_for(c, false);
	if (x->refused || x->upload.failed) {
		view_fail(&x->r, 413, "the body is longer than %u bytes", JSON_BYTES_MAX);
		return send_answer(x, c);
	}
	return answer(x, c);
}

static void on_completed(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode why)
{
	(void)cls;
	(void)why;
	waited_for(c, true);
	call_free(*context);
	*context = NULL;
}

static void no_log(void *cls, const char *fmt, va_list ap)
{
	(void)cls;
	(void)fmt;
	(void)ap;
}

/* ---- listening -------------------------------------------------------------------------------------- */

static int listen_on(int family, unsigned port, int *ret_fd)
{
	int one = 1;
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_loopback};
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	}
	int bound = family == AF_INET ? bind(fd, (struct sockaddr *)&in, sizeof in)
				      : bind(fd, (struct sockaddr *)&in6, sizeof in6);
	if (bound < 0 || listen(fd, 64) < 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

static int listen_on_path(const char *path, int *ret_fd)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof un.sun_path) {
		return -ENAMETOOLONG;
	}
	strcpy(un.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	/* One that nobody listens on any more is in the way. */
	if (connect(fd, (struct sockaddr *)&un, sizeof un) < 0 && errno == ECONNREFUSED) {
		unlink(path);
	}
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t before = umask(0177);
	int bound = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&un, sizeof un);
	int err = bound < 0 ? -errno : 0;
	umask(before);
	if (err < 0 || listen(fd, 64) < 0) {
		err = err < 0 ? err : -errno;
		base_close(&fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

static unsigned port_of(int fd)
{
	struct sockaddr_in in;
	socklen_t n = sizeof in;
	return getsockname(fd, (struct sockaddr *)&in, &n) == 0 ? ntohs(in.sin_port) : 0;
}

static bool add_daemon(struct server *s, int fd)
{
	struct MHD_Daemon *d = view_mhd.start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC |
			MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_THREAD_STACK_SIZE,
		(size_t)STACK_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, s, MHD_OPTION_END);
	if (d) {
		s->daemons[s->daemon_count++] = d;
	}
	return d != NULL;
}

/* The code is taken away by whoever uses it first, so it is copied under the lock; only the first thread reads the copy. */
static void set_address(struct view *v, unsigned port)
{
	snprintf(v->address, sizeof v->address, "http://%s:%u/?code=%s", port ? "127.0.0.1" : "localhost",
		 port ? port : TUNNEL_PORT, v->guard.code);
}

static int start(struct server *s, const struct view_listen *l, unsigned *ret_port)
{
	int fd = -1, fd6 = -1;
	int err = l->socket ? listen_on_path(l->socket, &fd) : listen_on(AF_INET, l->port, &fd);
	if (err < 0) {
		return l->socket ? cli_tell(s->view->args, "cannot listen on %s: %s", l->socket, strerror(-err))
				 : cli_tell(s->view->args, "cannot listen on port %u: %s", l->port, strerror(-err));
	}
	*ret_port = l->socket ? 0 : port_of(fd);
	/* Before anybody can ask. */
	const char *const *hosts = s->view->guard.hosts;
	int host_count = s->view->guard.host_count;
	if (view_guard_begin(&s->view->guard, *ret_port, clock_read_system_ns() + CODE_NS) < 0) {
		return cli_tell(s->view->args, "the kernel gives no random bytes");
	}
	s->view->guard.hosts = hosts;
	s->view->guard.host_count = host_count;
	set_address(s->view, *ret_port);
	/* The same port by IPv6, where there is one and nobody else has it. */
	if (!l->socket && listen_on(AF_INET6, *ret_port, &fd6) < 0) {
		fd6 = -1;
	}
	if (!add_daemon(s, fd) || (fd6 >= 0 && !add_daemon(s, fd6))) {
		return cli_tell(s->view->args, "the server cannot be started: libmicrohttpd refuses");
	}
	return CLI_OK;
}

/* Enter makes another address, for another browser. */
static void look_at_input(struct view *v, unsigned port, struct pollfd *in, int (*ready)(struct view *v, bool again))
{
	char line[256];
	if (isatty(in->fd) && tcgetpgrp(in->fd) != getpgrp()) {
		return; /* it is another program's line */
	}
	ssize_t n = read(in->fd, line, sizeof line);
	if (n <= 0) {
		in->fd = -1; /* poll() passes over it */
	} else if (memchr(line, '\n', (size_t)n)) {
		pthread_mutex_lock(&v->lock);
		int err = view_guard_new_code(&v->guard, clock_read_system_ns() + CODE_NS);
		set_address(v, port);
		pthread_mutex_unlock(&v->lock);
		if (err == 0) {
			ready(v, true);
		}
	}
}

int view_serve(struct view *v, const struct view_listen *l, int (*ready)(struct view *v, bool again))
{
	struct server s = {.view = v, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct pollfd in = {.fd = 0, .events = POLLIN};
	unsigned port = 0;
	int status = start(&s, l, &port);
	if (status == CLI_OK) {
		status = ready(v, false);
	}
	while (status == CLI_OK && !cli_signal_caught()) {
		if (poll(&in, 1, 200) > 0) {
			look_at_input(v, port, &in, ready);
			poll(NULL, 0, 50);
		}
		cut_slow_ones(&s);
	}
	order_store_relaxed(&v->ending, 1);
	for (int i = 0; i < s.daemon_count; i++) {
		view_mhd.stop_daemon(s.daemons[i]);
	}
	if (l->socket) {
		unlink(l->socket);
	}
	return status;
}
