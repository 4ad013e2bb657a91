/* SPDX-License-Identifier: MIT
 * The process that collects kernel events: started when a session first wishes some, told by calls,
 * let go when none wishes any more, started again when it dies.
 */
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_start.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define DEATHS_MAX  5u
#define DEATHS_NS   60000000000ull
#define PATIENCE_NS 40000000000ull /* less than a controller's, more than loading programs takes */

extern char **environ;

#define COLLECTOR_OF(s, member) ((struct collector *)(void *)((char *)(s)-offsetof(struct collector, member)))

/* ---- finding and starting it ------------------------------------------------------------------ */

/* OPENETW_KERNEL, then beside this program, in the build tree, where programs were to be installed. */
static bool find_program(char *out, size_t cap)
{
	static const char *const places[] = {"", "../collector/", OPENETW_BINDIR "/", NULL};
	const char *env = getauxval(AT_SECURE) ? NULL : getenv("OPENETW_KERNEL");
	if (env && env[0] == '/') {
		int n = snprintf(out, cap, "%s", env);
		return n > 0 && (size_t)n < cap && etwd_program_usable(out);
	}
	return etwd_program_find("openetw-kernel", places, out, cap);
}

/* By what is sure to be that process, where the kernel has it. */
static void collector_kill(struct collector *c)
{
	if (c->pidfd >= 0) {
		(void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
	} else {
		(void)kill(c->pid, SIGKILL);
	}
}

static void collector_free(struct collector *c)
{
	if (c->head) {
		munmap(c->head, PROTO_KERNEL_RING_PAGE + (size_t)PROTO_KERNEL_RING_BYTES);
	}
	base_close(&c->socket.fd);
	base_close(&c->child.fd);
	base_close(&c->pidfd);
	free(c);
}

static void on_socket(struct etwd *d, struct source *s, uint32_t events);
static void on_child(struct etwd *d, struct source *s, uint32_t events);

static int collector_create(struct etwd *d, struct diag *diag)
{
	char program[4200];
	int pair[2] = {-1, -1}, ring = -1, err = 0;
	if (!find_program(program, sizeof program)) {
		diag_at(diag, UINT64_MAX,
			"the collector of kernel events, openetw-kernel, was not found beside etwd; "
			"OPENETW_KERNEL may say where it is");
		return -ENOENT;
	}
	struct collector *c = calloc(1, sizeof *c);
	if (!c) {
		return -ENOMEM;
	}
	c->socket = (struct source){on_socket, -1};
	c->child = (struct source){on_child, -1};
	c->pidfd = -1;
	ring = base_memfd("openetw-kernel", PROTO_KERNEL_RING_PAGE + (uint64_t)PROTO_KERNEL_RING_BYTES);
	if (ring < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		err = ring < 0 ? ring : -errno;
		goto out;
	}
	void *p = mmap(NULL, PROTO_KERNEL_RING_PAGE + (size_t)PROTO_KERNEL_RING_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, ring, 0);
	if (p == MAP_FAILED) {
		err = -ENOMEM;
		goto out;
	}
	c->head = p;
	c->data = (uint8_t *)p + PROTO_KERNEL_RING_PAGE;
	c->head->version = PROTO_KERNEL_RING_VERSION;
	c->head->bytes = PROTO_KERNEL_RING_BYTES;
	c->socket.fd = pair[0];
	pair[0] = -1;
	fcntl(c->socket.fd, F_SETFL, O_NONBLOCK);
	char *argv[] = {(char *)(uintptr_t) "openetw-kernel", NULL};
	struct etwd_start start = {.program = program, .argv = argv, .env = environ, .fd = {pair[1], ring}};
	err = etwd_start(&start, &c->pid, &c->child.fd);
	if (err < 0) {
		diag_at(diag, UINT64_MAX, "the collector of kernel events, %s, cannot be started: %s", program,
			strerror(-err));
		goto out;
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (etwd_loop_add(d, &c->socket, EPOLLIN) < 0 || etwd_loop_add(d, &c->child, EPOLLIN) < 0) {
		collector_kill(c);
		err = -ENOMEM;
		goto out;
	}
	d->kernel->collector = c;
	etwd_log(d, "Started the collector of kernel events: pid=%d", (int)c->pid);
	struct proto_kernel_message m = {
		.type = PROTO_KERNEL_OPEN, .interval_us = d->kernel->interval_us, .pid = {(uint32_t)getpid()}};
	etwd_kernel_fill_sampled(d->kernel, &m);
	send(c->socket.fd, &m, sizeof m, MSG_NOSIGNAL); /* its end shows as end of the socket */
out:
	base_close(&pair[0]);
	base_close(&pair[1]);
	base_close(&ring);
	if (err < 0) {
		collector_free(c);
	}
	return err;
}

/* ---- calls ------------------------------------------------------------------------------------ */

struct etwd_kernel_call *etwd_kernel_call_create(uint32_t type, struct session *s, etwd_kernel_call_fn done)
{
	struct etwd_kernel_call *call = calloc(1, sizeof *call);
	if (call) {
		call->type = type;
		call->done = done;
		call->session = s;
		if (s) {
			etwd_session_ref(s);
			if (s->kernel) {
				call->before = s->kernel->wish;
			}
		}
	}
	return call;
}

static void call_end(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		     const char *why)
{
	struct session *s = call->session;
	STAILQ_REMOVE(&d->kernel->calls, call, etwd_kernel_call, link);
	call->done(d, call, result, m, why);
	etwd_reply_drop(&call->reply);
	free(call);
	if (s) {
		etwd_session_unref(s);
	}
}

static void fill(const struct etwd_session_kernel *k, struct proto_kernel_message *m)
{
	const struct etwd_kernel_wish *w = &k->wish;
	etwd_kernel_session_mask(k, &m->mask);
	m->slot = (uint32_t)k->slot;
	m->flags = k->confined ? PROTO_KERNEL_CONFINED : 0;
	m->uid = k->uid;
	m->stacks = w->stacks;
	memcpy(m->stack, w->stack, sizeof m->stack);
	m->pids = w->pids;
	memcpy(m->pid, w->pid, sizeof m->pid);
	m->counters = w->counters;
	memcpy(m->counter, w->counter, sizeof m->counter);
	m->counteds = w->counteds;
	memcpy(m->counted, w->counted, sizeof m->counted);
	const struct kernel_hook_range *r;
	for (uint32_t p = 0; p < w->providers; p++) {
		for (size_t i = 0; w->provider[p].stacks && (r = kernel_hook_range_at(i)) != NULL; i++) {
			for (uint32_t h = r->first; kernel_mask_has(&w->provider[p].mask, r->bits) && h <= r->last &&
						    m->stacks < KERNEL_STACKS_MAX;
			     h++) {
				m->stack[m->stacks++] = (uint16_t)h;
			}
		}
	}
}

static bool take_slot(struct collector *c, struct session *s)
{
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		if (!c->slot[i]) {
			c->slot[i] = s;
			c->lost_seen[i] = order_load_relaxed(&c->head->lost[i]);
			s->kernel->slot = (int)i;
			etwd_session_ref(s);
			return true;
		}
	}
	return false;
}

static void free_slot(struct collector *c, struct session *s)
{
	if (s->kernel->slot >= 0) {
		c->slot[s->kernel->slot] = NULL;
		s->kernel->slot = -1;
		etwd_session_unref(s);
	}
}

/* The call's session stays valid: the caller holds its own reference through the call. */
static void call_send(struct etwd *d, struct etwd_kernel_call *call)
{
	struct collector *c = d->kernel->collector;
	struct session *s = call->session;
	struct proto_kernel_message m = {.type = call->type, .id = ++d->kernel->call_id};
	if (call->type == PROTO_KERNEL_OPEN) {
		call_end(d, call, 0, NULL, NULL);
		return;
	}
	if (s && s->kernel->slot < 0) {
		/* New, or new to this collector. */
		if (call->type == PROTO_KERNEL_REMOVE || !take_slot(c, s)) {
			call_end(d, call, call->type == PROTO_KERNEL_REMOVE ? 0 : -ENOSPC, NULL,
				 "64 sessions have kernel events already");
			return;
		}
		m.type = call->type = PROTO_KERNEL_ADD;
	} else if (s && call->type == PROTO_KERNEL_ADD) {
		m.type = call->type = PROTO_KERNEL_CHANGE;
	}
	if (s) {
		fill(s->kernel, &m);
		m.flags |= s->props.mode & (EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_FILE_MODE_CIRCULAR)
				   ? PROTO_KERNEL_FORGETS
				   : 0;
		m.left = call->left;
	}
	m.interval_us = call->interval_us;
	etwd_kernel_fill_sampled(d->kernel, &m);
	call->id = m.id;
	call->sent = true;
	/* Fails only when it is dead, of which we hear, or when it has left hundreds of requests unread. */
	if (send(c->socket.fd, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EAGAIN) {
		collector_kill(c);
	}
}

void etwd_kernel_call_start(struct etwd *d, struct etwd_kernel_call *call)
{
	struct etwd_kernel_side *k = d->kernel;
	struct diag diag;
	diag_clear(&diag);
	call->since_ns = etwd_now_ns();
	STAILQ_INSERT_TAIL(&k->calls, call, link);
	int err = k->collector ? 0 : collector_create(d, &diag);
	if (err < 0) {
		call_end(d, call, err, NULL, diag.text[0] ? diag.text : strerror(-err));
	} else if (k->collector->open) {
		call_send(d, call);
	}
}

void etwd_kernel_call_drop(struct etwd *d, struct session *s)
{
	struct etwd_kernel_call *call = STAILQ_FIRST(&d->kernel->calls);
	while (call) {
		struct etwd_kernel_call *next = STAILQ_NEXT(call, link);
		if (call->session == s && !call->sent) {
			call_end(d, call, -ECANCELED, NULL, "the session was stopped");
		}
		call = next;
	}
}

/* ---- its end ---------------------------------------------------------------------------------- */

/* No more of it; on_child hears of the end of its process. */
static void let_go(struct etwd *d, struct collector *c)
{
	d->kernel->collector = NULL;
	c->ending = true;
	c->next = d->kernel->ending;
	d->kernel->ending = c;
	etwd_loop_remove(d, &c->socket);
	shutdown(c->socket.fd, SHUT_RDWR);
}

static void fail_calls(struct etwd *d, int err, const char *why)
{
	struct etwd_kernel_call *call;
	while ((call = STAILQ_FIRST(&d->kernel->calls)) != NULL) {
		call_end(d, call, err, NULL, why);
	}
}

/* It ended, or talked nonsense. */
static void collector_lost(struct etwd *d, struct collector *c)
{
	struct etwd_kernel_side *k = d->kernel;
	uint64_t now = etwd_now_ns();
	bool was_open = c->open;
	char why[160];
	if (c->ending) {
		return;
	}
	etwd_kernel_ring_drain(d, c); /* what it had put before */
	if (now - k->death_ns > DEATHS_NS) {
		k->death_ns = now;
		k->deaths = 0;
	}
	k->deaths++;
	k->restarts++;
	snprintf(why, sizeof why, "the collector of kernel events (process %d) ended unexpectedly", (int)c->pid);
	etwd_log(d, "%c%s", why[0] - 'a' + 'A', why + 1);
	struct session *had[PROTO_KERNEL_SLOTS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		if (c->slot[i]) {
			had[n++] = c->slot[i];
			etwd_session_ref(c->slot[i]);
			free_slot(c, c->slot[i]);
		}
	}
	let_go(d, c);
	collector_kill(c); /* in case it only talked nonsense */
	fail_calls(d, -EPIPE, why);
	for (uint32_t i = 0; i < n; i++) {
		etwd_kernel_session_orphan(d, had[i], why);
		etwd_session_unref(had[i]);
	}
	if (was_open && k->deaths < DEATHS_MAX && !d->exiting) {
		etwd_kernel_resume(d);
	}
}

static void opened(struct etwd *d, struct collector *c, const struct proto_kernel_message *m)
{
	if (m->result < 0) {
		char why[sizeof m->text + 1];
		snprintf(why, sizeof why, "%.*s", (int)sizeof m->text, m->text[0] ? m->text : strerror(-m->result));
		etwd_log(d, "No kernel events: %s", why);
		let_go(d, c);
		fail_calls(d, m->result, why);
		return;
	}
	c->open = true;
	struct etwd_kernel_call *call = STAILQ_FIRST(&d->kernel->calls);
	while (call) {
		struct etwd_kernel_call *next = STAILQ_NEXT(call, link);
		call_send(d, call);
		call = next;
	}
}

static void on_answer(struct etwd *d, struct collector *c, struct proto_kernel_message *m)
{
	m->text[sizeof m->text - 1] = 0;
	if (m->type == PROTO_KERNEL_OPEN) {
		opened(d, c, m);
		return;
	}
	struct etwd_kernel_call *call;
	STAILQ_FOREACH(call, &d->kernel->calls, link) {
		if (call->sent && call->id == m->id) {
			break;
		}
	}
	if (!call) {
		return;
	}
	/* What it put before its answer belongs to sessions as they are now. */
	etwd_kernel_ring_drain(d, c);
	if (call->session && (m->type == PROTO_KERNEL_REMOVE || (m->type == PROTO_KERNEL_ADD && m->result < 0))) {
		free_slot(c, call->session);
	}
	call_end(d, call, m->result, m, m->text);
}

static void on_socket(struct etwd *d, struct source *s, uint32_t events)
{
	struct collector *c = COLLECTOR_OF(s, socket);
	struct proto_kernel_message m;
	while (!c->ending) {
		ssize_t n = recv(s->fd, &m, sizeof m, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			return;
		}
		if (n != (ssize_t)sizeof m) {
			collector_lost(d, c);
		} else if (m.type == PROTO_KERNEL_BELL) {
			etwd_drain_bell(d);
		} else {
			on_answer(d, c, &m);
		}
	}
}

static void on_child(struct etwd *d, struct source *s, uint32_t events)
{
	struct collector *c = COLLECTOR_OF(s, child);
	if (etwd_start_status(c->child.fd, false) == -EAGAIN) {
		return;
	}
	if (!c->ending) {
		on_socket(d, &c->socket, 0); /* its last words */
		if (!c->ending) {
			collector_lost(d, c);
		}
	}
	etwd_loop_remove(d, &c->child);
	c->gone = true;
}

/* Somebody has it, or is about to. */
static bool needed(const struct etwd *d)
{
	const struct collector *c = d->kernel->collector;
	if (!STAILQ_EMPTY(&d->kernel->calls)) {
		return true;
	}
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		if (c->slot[i]) {
			return true;
		}
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		/* Its sink is being made. */
		if (d->session[i] && d->session[i]->kernel && d->session[i]->state == SESSION_STARTING) {
			return true;
		}
	}
	return false;
}

void etwd_kernel_tick(struct etwd *d, uint64_t now_ns)
{
	struct etwd_kernel_side *k = d->kernel;
	if (!k) {
		return; /* a daemon that did not come to be */
	}
	const struct etwd_kernel_call *oldest = STAILQ_FIRST(&k->calls);
	if (k->collector && !k->collector->killed && oldest && now_ns > oldest->since_ns + PATIENCE_NS) {
		etwd_log(d, "The collector of kernel events does not answer: it is killed");
		collector_kill(k->collector);
		k->collector->killed = true;
	}
	if (k->collector && k->collector->open && !needed(d)) {
		etwd_log(d, "No session wants kernel events: the collector is let go");
		let_go(d, k->collector);
	}
	for (struct collector **at = &k->ending; *at;) {
		struct collector *c = *at;
		if (c->gone) {
			*at = c->next;
			collector_free(c);
		} else {
			at = &c->next;
		}
	}
}

int etwd_kernel_init(struct etwd *d)
{
	d->kernel = calloc(1, sizeof *d->kernel);
	if (!d->kernel) {
		return -ENOMEM;
	}
	STAILQ_INIT(&d->kernel->calls);
	return 0;
}

void etwd_kernel_finish(struct etwd *d)
{
	struct etwd_kernel_side *k = d->kernel;
	if (!k) {
		return;
	}
	if (k->collector) {
		let_go(d, k->collector);
	}
	fail_calls(d, -ECANCELED, "etwd is leaving");
	while (k->ending) {
		struct collector *c = k->ending;
		k->ending = c->next;
		if (!c->gone) {
			/* It heard the end of its socket; nothing of its waits for anybody. */
			(void)etwd_start_status(c->child.fd, true);
		}
		collector_free(c);
	}
	free(k);
	d->kernel = NULL;
}
