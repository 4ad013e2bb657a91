/* SPDX-License-Identifier: MIT
 * Autologgers: sessions from configuration files, started as soon as etwd serves.
 *
 * Each is a controller of its own that happens to live in this process: it holds one end of a
 * socket pair whose other end is an ordinary control connection, sends START and then an ENABLE for
 * each provider, and goes away. So a file can ask for nothing that a program could not, the same
 * checks refuse it in the same words, and whatever may block is a job as for everybody else.
 *
 * What a file did last is kept in the state directory: the number of its last log file
 * (FileCounter) and the code of its last start (Status).
 */
#include "etw/values/enable_properties.h"
#include "etw/values/errors.h"
#include "etw/values/filter_types.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_schedule.h"
#include "format/kernel_mask.h"
#include "proto/proto.h"
#include "schema/schema_filter.h"
#include "schema/schema_store.h"
#include "session/session.h"
#include "session/session_modes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static const struct session_manifests manifests = {schema_process_provider_guid, schema_filter_manifest};

struct autolog {
	struct source src; /* our end */
	struct etw_session s;
	char path[4400]; /* of the file */
	uint64_t session_id;
	uint32_t next;    /* provider whose ENABLE is sent or to be sent */
	uint32_t counter; /* FileCounter of this start */
	uint32_t status;
};

/* ---- state
 * ------------------------------------------------------------------------------------ */

struct state_job {
	struct job job;
	char path[4200];
	char text[64];
};

static void state_run(struct job *j)
{
	struct state_job *s = (struct state_job *)j;
	char dir[4200];
	const char *slash = strrchr(s->path, '/');
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - s->path), s->path);
	if (session_make_dirs(dir) < 0) {
		return;
	}
	int fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		ssize_t n = write(fd, s->text, strlen(s->text));
		(void)n; /* it is a convenience */
		close(fd);
	}
}

static void state_done(struct etwd *d, struct job *j)
{
	(void)d;
	(void)j;
}

static void state_write(struct etwd *d, const struct autolog *a)
{
	struct state_job *j = calloc(1, sizeof *j);
	if (!j || session_path(SESSION_STATE, d->system, a->s.name, j->path, sizeof j->path) < 0) {
		free(j);
		return;
	}
	j->job = (struct job){.run = state_run, .done = state_done};
	snprintf(j->text, sizeof j->text, "Status = %u\nFileCounter = %u\n", a->status, a->counter);
	etwd_job_start(d, &j->job);
}

static uint32_t state_counter(const struct etwd *d, const char *name)
{
	char path[4200], line[128];
	uint32_t counter = 0;
	FILE *f = session_path(SESSION_STATE, d->system, name, path, sizeof path) == 0 ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		(void)sscanf(line, "FileCounter = %u", &counter);
	}
	if (f) {
		fclose(f);
	}
	return counter <= SESSION_FILE_MAX_LIMIT ? counter : 0;
}

/* ---- the file of this start
 * -------------------------------------------------------------------- */

static int choose_file(struct etwd *d, struct autolog *a)
{
	struct etw_session *s = &a->s;
	s->props.mode = session_autologger_mode(s);
	if (!s->file[0] && !session_autologger_wants_file(s)) {
		return 0;
	}
	if (!s->file[0]) {
		/* As the file it comes from is called, so that no name leaves the directory. */
		char conf[4200];
		int r = session_dir(SESSION_STATE, d->system, s->file, sizeof s->file - 300);
		r = r == 0 ? session_make_dirs(s->file) : r;
		r = r == 0 ? session_path(SESSION_STATE, d->system, s->name, conf, sizeof conf) : r;
		if (r < 0) {
			return r;
		}
		const char *base = strrchr(conf, '/');
		size_t n = strlen(s->file);
		snprintf(s->file + n, sizeof s->file - n, "%.*setl", (int)(strlen(base) - 4), base);
	}
	if (s->file_max > 0) {
		size_t n = strlen(s->file);
		a->counter = state_counter(d, s->name) % s->file_max + 1;
		if (n + 6 > sizeof s->file) {
			return -ENAMETOOLONG;
		}
		snprintf(s->file + n, sizeof s->file - n, ".%04u", a->counter);
	}
	return 0;
}

/* ---- the conversation
 * ------------------------------------------------------------------------- */

static void end(struct etwd *d, struct autolog *a)
{
	state_write(d, a);
	etwd_loop_remove(d, &a->src);
	base_close(&a->src.fd); /* the connection at the other end goes with it */
	session_finish(&a->s);
	free(a);
}

static uint32_t nt_flags(const struct etw_session *s)
{
	uint32_t flags = 0;
	for (uint32_t i = 0; i < s->provider_count; i++) {
		flags |= s->provider[i].enabled && session_provider_is_kernel(&s->provider[i])
				 ? (uint32_t)s->provider[i].any
				 : 0;
	}
	return flags;
}

static bool send_start(struct autolog *a)
{
	uint16_t name[ETWD_NAME_MAX + 1], file[4097];
	const struct etw_session *s = &a->s;
	long name_len = utf8_to_utf16(s->name, strlen(s->name), name, BASE_ARRAY_LEN(name));
	long file_len = utf8_to_utf16(s->file, strlen(s->file), file, BASE_ARRAY_LEN(file));
	if (name_len <= 0 || name_len > (long)ETWD_NAME_MAX || file_len < 0 || file_len >= (long)BASE_ARRAY_LEN(file)) {
		return false;
	}
	struct proto_session p = {
		.props = s->props,
		.expires_filetime = s->expire_s ? clock_filetime() + s->expire_s * 10000000ull : 0,
		.quota_bytes = s->quota,
		.flags = s->not_persistent ? PROTO_SESSION_NOT_PERSISTENT : 0,
		.name = name,
		.name_len = (uint32_t)name_len,
		.log_file = file_len ? file : NULL,
		.log_file_len = (uint32_t)file_len,
	};
	p.props.enable_flags = nt_flags(s);
	if (p.props.enable_flags || !kernel_mask_empty(&s->kernel.mask)) {
		p.props.mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE; /* the two well-known names do not mind */
	}
	uint8_t req[16384];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_START, 1);
	proto_put_session(&w, &p);
	if (!kernel_mask_empty(&s->kernel.mask)) {
		proto_put(&w, PROTO_TAG_KERNEL_MASK, &s->kernel.mask, sizeof s->kernel.mask);
		proto_put(&w, PROTO_TAG_KERNEL_STACKS, s->kernel.stack, 2 * (size_t)s->kernel.stacks);
	}
	long n = proto_end(&w);
	return n > 0 && proto_send(a->src.fd, req, (size_t)n, NULL, 0) == 0;
}

static bool put_filter(void *ctx, uint32_t type, const uint8_t *bytes, size_t n)
{
	uint8_t blob[4 + SESSION_FILTER_BYTES];
	le32_put(blob, type);
	memcpy(blob + 4, bytes, n);
	proto_put((struct proto_writer *)ctx, PROTO_TAG_FILTER, blob, 4 + n);
	return true;
}

/* The next ENABLE; false when there is none left. */
static bool send_enable(struct etwd *d, struct autolog *a)
{
	while (a->next < a->s.provider_count &&
	       (!a->s.provider[a->next].enabled || session_provider_is_kernel(&a->s.provider[a->next]))) {
		a->next++;
	}
	if (a->next == a->s.provider_count) {
		return false;
	}
	const struct session_provider *p = &a->s.provider[a->next];
	uint8_t *req = malloc(PROTO_MESSAGE_MAX); /* the daemon's own buffers may be in use */
	struct proto_writer w;
	if (!req) {
		return false;
	}
	proto_begin(&w, req, PROTO_MESSAGE_MAX, PROTO_ENABLE, 2 + a->next);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, a->session_id);
	proto_put(&w, PROTO_TAG_GUID, p->guid.b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, 1);
	proto_put_u32(&w, PROTO_TAG_LEVEL, p->level);
	proto_put_u64(&w, PROTO_TAG_ANY, p->any);
	proto_put_u64(&w, PROTO_TAG_ALL, p->all);
	proto_put_u32(&w, PROTO_TAG_TIMEOUT_MS, 0);
	uint32_t properties = p->properties;
	for (int f = 0; f < SESSION_FILTER_COUNT; f++) {
		uint8_t blob[4 + SESSION_FILTER_BYTES];
		size_t bytes;
		if (p->filter[f] &&
		    session_filter_make((enum session_filter)f, p->filter[f], blob + 4, &bytes, NULL) == 0) {
			le32_put(blob, session_filter_type((enum session_filter)f));
			proto_put(&w, PROTO_TAG_FILTER, blob, 4 + bytes);
			properties |=
				session_filter_is_stack((enum session_filter)f) ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0;
		}
	}
	if (p->payload) {
		put_filter(&w, EVENT_FILTER_TYPE_PAYLOAD, p->payload, p->payload_bytes);
	}
	session_expression_each(p, put_filter, &w, NULL);
	proto_put_u32(&w, PROTO_TAG_PROPERTIES, properties);
	proto_put(&w, PROTO_TAG_SOURCE_ID, GUID_ZERO.b, 16);
	if (p->name[0]) {
		proto_put_str(&w, PROTO_TAG_NAME, p->name);
	}
	long n = proto_end(&w);
	int r = n > 0 ? proto_send(a->src.fd, req, (size_t)n, NULL, 0) : (int)n;
	free(req);
	if (r < 0) {
		etwd_log(d, "%s:%u: the provider cannot be enabled: %s", a->path, p->line, strerror(-r));
	}
	return r == 0;
}

static void answered(struct etwd *d, struct source *src, uint32_t events)
{
	struct autolog *a = (struct autolog *)src;
	struct proto_message m;
	struct proto_session started;
	char why[400] = "no reason given";
	uint32_t status = 0;
	(void)events;
	uint8_t *mem = malloc(PROTO_MESSAGE_MAX); /* the daemon's own buffers may be in use */
	long n = mem ? proto_recv(src->fd, mem, PROTO_MESSAGE_MAX, NULL, NULL, 0) : -ENOMEM;
	if (n == -EAGAIN || n == -ETIMEDOUT) {
		free(mem);
		return;
	}
	if (n <= 0 || proto_parse(mem, (size_t)n, &m) < 0 || !proto_get_u32(&m, PROTO_TAG_STATUS, &status)) {
		free(mem);
		a->status = a->status ? a->status : RPC_S_CALL_FAILED;
		end(d, a);
		return;
	}
	proto_get_str(&m, PROTO_TAG_TEXT, why, sizeof why);
	const char *name = win32_name(status);
	bool goes_on = true;
	if (m.id == 1) {
		a->status = status;
		if (status == 0 && proto_get_session(&m, &started)) {
			a->session_id = started.id;
		} else {
			etwd_log(d, "%s: autologger \"%s\" does not start: %s (%s, %u)", a->path, a->s.name, why,
				 name ? name : "error", status);
			goes_on = false;
		}
	} else {
		if (status != 0) {
			const struct session_provider *p = &a->s.provider[a->next];
			etwd_log(d, "%s:%u: the provider cannot be enabled: %s (%s, %u)", a->path, p->line, why,
				 name ? name : "error", status);
			a->status = status;
		}
		a->next++;
	}
	free(mem);
	if (!goes_on || !send_enable(d, a)) {
		end(d, a);
	}
}

/* ---- start
 * ------------------------------------------------------------------------------------ */

static bool start_file(void *ctx, const char *path)
{
	struct etwd *d = ctx;
	struct diag diag = {0};
	int fd[2];
	struct autolog *a = calloc(1, sizeof *a);
	if (!a) {
		return false;
	}
	snprintf(a->path, sizeof a->path, "%s", path);
	int r = session_read_file(path, &manifests, &a->s, &diag);
	if (r < 0) {
		etwd_log(d, "%s:%u: %s; the session is not started", path, diag.line,
			 diag.text[0] ? diag.text : strerror(-r));
		free(a);
		return true;
	}
	if (a->s.start == 0) {
		goto drop;
	}
	r = choose_file(d, a);
	if (r == 0) {
		r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0 ? -errno : 0;
	}
	if (r == 0 && !etwd_conn_create(d, fd[1], CONN_CONTROL, d->uid, getpid())) {
		close(fd[0]);
		r = -ENOMEM;
	}
	if (r == 0) {
		a->src = (struct source){answered, fd[0]};
		r = etwd_loop_add(d, &a->src, EPOLLIN);
		if (r == 0 && send_start(a)) {
			return true;
		}
		r = r < 0 ? r : -EINVAL;
		etwd_loop_remove(d, &a->src);
		base_close(&a->src.fd);
	}
	etwd_log(d, "%s: autologger \"%s\" does not start: %s", path, a->s.name, strerror(-r));
drop:
	session_finish(&a->s);
	free(a);
	return true;
}

void etwd_autolog_start(struct etwd *d)
{
	char dir[4096];
	int r = session_dir(SESSION_AUTOLOGGERS, d->system, dir, sizeof dir);
	r = r == 0 ? session_each(dir, start_file, d) : r == -ENOENT ? 0 : r;
	if (r < 0) {
		etwd_log(d, "Autologgers of %s are not read: %s", dir, strerror(-r));
	}
}
