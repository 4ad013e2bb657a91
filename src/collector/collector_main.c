/* SPDX-License-Identifier: MIT
 *
 * openetw-kernel: records the kernel's events for one etwd, which starts it, tells it over a socket
 * which sessions want what, and takes finished records out of a shared ring (proto/proto_kernel.h).
 * The only program of OpenETW that needs rights: as root, or with capabilities on its file. It opens
 * no file for anybody and ends with its etwd.
 */
#include "base/confine.h"
#include "kernel/kernel.h"
#include "proto/proto_kernel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS           10
#define LATE_NS           5000000u
#define PATIENCE_NS       20000000ull /* for a full ring; the kernel's own rings wait meanwhile */
#define RESIDENT_EVERY_NS 1000000000ull

struct collector {
	int fd;
	struct kernel_ring_head *head;
	uint8_t *data;
	uint64_t at;    /* what head is going to be */
	bool impatient; /* waited for room in vain since there was any */
	bool rung;
	struct kernel *kernel;
	struct kernel_window window[KERNEL_SLOTS]; /* as the last request to explain or to remove it said */
	uint64_t resident_at_ns;
	/* Requests to remove a slot, to explain what it has, while names are looked up for it; 0: none */
	uint32_t leaving[KERNEL_SLOTS], explaining[KERNEL_SLOTS];
};

/* ---- the ring --------------------------------------------------------------------------------- */

static void ring_bell(struct collector *c)
{
	struct kernel_message m = {.type = KERNEL_BELL};
	if (!c->rung) {
		c->rung = send(c->fd, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
	}
}

static uint64_t used(const struct collector *c)
{
	/* Acquire: etwd has read what lies before its tail. */
	return c->at - order_load_acquire(&c->head->tail);
}

static bool wait_for_room(struct collector *c, uint64_t bytes)
{
	uint64_t begun = clock_read_system_ns();
	struct timespec nap = {0, 200000};
	while (used(c) + bytes > c->head->bytes) {
		ring_bell(c);
		if (c->impatient || clock_read_system_ns() - begun > PATIENCE_NS) {
			c->impatient = true;
			return false;
		}
		nanosleep(&nap, NULL);
	}
	c->impatient = false;
	return true;
}

static void count_lost(struct collector *c, uint64_t sessions, uint64_t events)
{
	for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
		if (sessions >> i & 1) {
			order_store_relaxed(&c->head->lost[i], c->head->lost[i] + events);
		}
	}
}

static void on_lost(void *ctx, uint64_t sessions, uint64_t events)
{
	count_lost(ctx, sessions, events);
}

static void put(struct collector *c, enum kernel_ring_kind kind, uint64_t sessions, uint16_t cpu, uint64_t time,
		const void *head, uint32_t head_bytes, const void *body, uint32_t body_bytes)
{
	uint32_t bytes = BASE_ALIGN8(head_bytes + body_bytes);
	uint64_t size = KERNEL_RING_BYTES, need = sizeof(struct kernel_ring_record) + bytes;
	uint64_t left = size - (c->at & (size - 1));
	uint64_t skip = left < need ? left : 0;
	if (used(c) + skip + need > size && !wait_for_room(c, skip + need)) {
		count_lost(c, sessions, 1);
		return;
	}
	struct kernel_ring_record r = {.kind = KERNEL_RING_SKIP};
	if (skip >= sizeof r) {
		r.bytes = (uint32_t)(skip - sizeof r);
		memcpy(c->data + (c->at & (size - 1)), &r, sizeof r);
	} /* less than a header: both know that nothing fits */
	c->at += skip;
	r = (struct kernel_ring_record){
		.sessions = sessions, .time = time, .bytes = bytes, .cpu = cpu, .kind = (uint16_t)kind};
	uint8_t *p = c->data + (c->at & (size - 1));
	memcpy(p, &r, sizeof r);
	p += sizeof r;
	memset(p + bytes - 8, 0, 8);
	memcpy(p, head, head_bytes);
	if (body_bytes > 0) {
		memcpy(p + head_bytes, body, body_bytes);
	}
	c->at += need;
	/* Release: the record before the head that covers it. */
	order_store_release(&c->head->head, c->at);
	if (used(c) > size / 2) {
		ring_bell(c);
	} else {
		c->rung = false;
	}
}

static void on_record(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		      const void *body, uint32_t body_bytes)
{
	put(ctx, KERNEL_RING_RECORD, sessions, cpu, time, head, head_bytes, body, body_bytes);
}

static void on_explanation(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head,
			   uint32_t head_bytes, const void *body, uint32_t body_bytes)
{
	put(ctx, KERNEL_RING_EXPLANATION, sessions, cpu, time, head, head_bytes, body, body_bytes);
}

static bool on_window(void *ctx, uint32_t slot, struct kernel_window *ret)
{
	struct collector *c = ctx;
	*ret = c->window[slot];
	return ret->after != 0;
}

static uint64_t resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f) {
		if (fscanf(f, "%*u %llu", &pages) != 1) {
			pages = 0;
		}
		fclose(f);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void publish_stats(struct collector *c)
{
	struct kernel_stats s;
	uint64_t now = clock_read_system_ns();
	kernel_engine_stats(c->kernel, &s);
	order_store_relaxed(&c->head->samples, s.samples);
	order_store_relaxed(&c->head->switches, s.switches);
	order_store_relaxed(&c->head->stacks, s.stacks);
	order_store_relaxed(&c->head->events, s.events);
	order_store_relaxed(&c->head->cpu_ns, s.cpu_ns);
	if (now - c->resident_at_ns > RESIDENT_EVERY_NS) {
		c->resident_at_ns = now;
		order_store_relaxed(&c->head->resident, resident_bytes());
	}
	/* Release: records up to that time are in the ring by now. A processor that its hypervisor took away
	 * in the middle of a record puts it later than all others; live consumers wait for it that long. */
	uint64_t until = kernel_watermark(c->kernel);
	order_store_release(&c->head->watermark, until > LATE_NS ? until - LATE_NS : 0);
}

/* ---- requests --------------------------------------------------------------------------------- */

static void what_it_wants(const struct kernel_message *m, struct kernel_session *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->mask = m->mask;
	ret->stacks = BASE_MIN(m->stacks, KERNEL_STACKS_MAX);
	memcpy(ret->stack, m->stack, sizeof ret->stack);
	ret->pids = BASE_MIN(m->pids, KERNEL_PIDS_MAX);
	memcpy(ret->pid, m->pid, sizeof ret->pid);
	ret->children = m->flags & KERNEL_CHILDREN;
	ret->confined = m->flags & KERNEL_CONFINED;
	ret->forgets = m->flags & KERNEL_FORGETS;
	ret->uid = m->uid;
	ret->counters = BASE_MIN(m->counters, PMC_COUNTERS_MAX);
	memcpy(ret->counter, m->counter, sizeof ret->counter);
	ret->counteds = BASE_MIN(m->counteds, PMC_EVENTS_MAX);
	memcpy(ret->counted, m->counted, sizeof ret->counted);
}

static int set_sampled(struct collector *c, const struct kernel_message *m, struct diag *d)
{
	struct kernel_sampled s[PMC_SAMPLED_MAX];
	uint32_t n = BASE_MIN(m->sources, PMC_SAMPLED_MAX);
	for (uint32_t i = 0; i < n; i++) {
		s[i] = (struct kernel_sampled){m->source[i], m->source_interval[i]};
	}
	return kernel_set_sampled(c->kernel, s, n, d);
}

static int do_open(struct collector *c, const struct kernel_message *m, struct diag *d)
{
	struct kernel_engine_options o = {.interval_us = m->interval_us, .self = {m->pid[0]}};
	struct kernel_output out = {
		.record = on_record, .explain = on_explanation, .window = on_window, .lost = on_lost, .ctx = c};
	if (c->kernel) {
		return -EALREADY;
	}
	int err = kernel_open(&o, &out, &c->kernel, d);
	if (err == 0) {
		kernel_wake_fd(c->kernel, c->fd);
		(void)set_sampled(c, m, NULL);
	}
	return err;
}

/* What would help, in the words of a command line. */
static void grant(struct kernel_message *r)
{
	char here[200] = "openetw-kernel";
	ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
	here[n > 0 ? n : 14] = 0;
	size_t used = strlen(r->text);
	snprintf(r->text + used, sizeof r->text - used,
		 "%s: run etwd as root, or 'setcap "
		 "cap_perfmon,cap_bpf,cap_sys_ptrace,cap_dac_read_search,cap_syslog+ep %s'",
		 used ? "" : "no right to record the kernel", here);
}

static void reply(struct collector *c, const struct kernel_message *r)
{
	ssize_t n = send(c->fd, r, sizeof *r, MSG_NOSIGNAL);
	(void)n; /* its end is heard at the next look */
}

static void one_line(const char *lines, char *out, size_t cap)
{
	snprintf(out, cap, "%.*s", (int)cap - 1, lines);
	for (char *s = out; *s; s++) {
		*s = *s == '\n' ? ';' : *s;
	}
}

static void answer(struct collector *c, const struct kernel_message *m)
{
	struct kernel_message r = {.type = m->type, .id = m->id, .slot = m->slot};
	struct kernel_session s;
	struct diag d;
	diag_clear(&d);
	what_it_wants(m, &s);
	if (m->slot < KERNEL_SLOTS && (m->type == KERNEL_EXPLAIN || m->type == KERNEL_REMOVE)) {
		struct kernel_window *w = &c->window[m->slot];
		*w = (struct kernel_window){m->left.since, m->left.after, {0}};
		memcpy(w->until, m->left.until, sizeof w->until);
	}
	if (!c->kernel && m->type != KERNEL_OPEN) {
		r.result = -ENOTCONN;
	} else if (m->slot >= KERNEL_SLOTS) {
		r.result = -EINVAL;
	} else {
		switch (m->type) {
		case KERNEL_OPEN: r.result = do_open(c, m, &d); break;
		case KERNEL_ADD: r.result = kernel_add(c->kernel, m->slot, &s, &r.mask, &d); break;
		case KERNEL_CHANGE: r.result = kernel_change(c->kernel, m->slot, &s, &r.mask, &d); break;
		case KERNEL_REMOVE:
			kernel_remove(c->kernel, m->slot);
			if (!kernel_removed(c->kernel, m->slot)) {
				c->leaving[m->slot] = m->id; /* answered when it is */
				return;
			}
			break;
		case KERNEL_INTERVAL: r.result = kernel_set_interval(c->kernel, m->interval_us); break;
		case KERNEL_SAMPLED: r.result = set_sampled(c, m, &d); break;
		case KERNEL_EXPLAIN:
			kernel_explain(c->kernel, m->slot);
			if (!kernel_explained(c->kernel, m->slot)) {
				c->explaining[m->slot] = m->id; /* the same */
				return;
			}
			break;
		case KERNEL_CAPTURE: kernel_capture(c->kernel, m->slot); break;
		default: r.result = -ENOSYS;
		}
	}
	snprintf(r.text, sizeof r.text, "%s", d.text);
	if (c->kernel) {
		if (!r.text[0] && !kernel_mask_empty(&r.mask)) {
			snprintf(r.text, sizeof r.text, "%.399s", kernel_missing(c->kernel));
			for (char *s = r.text; *s; s++) {
				*s = *s != '\n' ? *s : s[1] ? ';' : 0;
			}
		}
		if (!r.text[0] && (s.counters || s.counteds || kernel_mask_has(&s.mask, KERNEL_BIT_PMC_PROFILE))) {
			snprintf(r.text, sizeof r.text, "%.399s", kernel_counters_missing(c->kernel));
			for (char *t = r.text; *t; t++) {
				*t = *t == '\n' ? ';' : *t;
			}
		}
		publish_stats(c);
	} else if (r.result == -EACCES || r.result == -EPERM) {
		grant(&r);
	}
	reply(c, &r);
}

static void answer_late(struct collector *c, uint32_t type, uint32_t slot, uint32_t *id, bool over)
{
	if (*id && over) {
		struct kernel_message r = {.type = type, .id = *id, .slot = slot};
		*id = 0;
		one_line(kernel_shortage(c->kernel, slot), r.text, sizeof r.text);
		publish_stats(c);
		reply(c, &r);
	}
}

/* Sessions that have ended, or are explained, by now. */
static void answer_those_who_wait(struct collector *c)
{
	for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
		answer_late(c, KERNEL_EXPLAIN, i, &c->explaining[i], kernel_explained(c->kernel, i));
		answer_late(c, KERNEL_REMOVE, i, &c->leaving[i], kernel_removed(c->kernel, i));
	}
}

/* False: etwd is gone, or talks nonsense. */
static bool hear(struct collector *c)
{
	for (;;) {
		struct kernel_message m;
		ssize_t n = recv(c->fd, &m, sizeof m, MSG_DONTWAIT);
		if (n < 0) {
			return errno == EAGAIN || errno == EINTR;
		}
		if (n != (ssize_t)sizeof m) {
			return false;
		}
		answer(c, &m);
	}
}

static bool map_ring(struct collector *c)
{
	size_t bytes = KERNEL_RING_PAGE + (size_t)KERNEL_RING_BYTES;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, KERNEL_FD_RING, 0);
	if (p == MAP_FAILED) {
		return false;
	}
	close(KERNEL_FD_RING);
	c->head = p;
	c->data = (uint8_t *)p + KERNEL_RING_PAGE;
	c->at = c->head->head;
	return c->head->version == KERNEL_RING_VERSION && c->head->bytes == KERNEL_RING_BYTES;
}

int main(int argc, char **argv)
{
	struct collector c = {.fd = KERNEL_FD_SOCKET};
	int type = 0;
	socklen_t n = sizeof type;
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("openetw-kernel %s\n", OPENETW_VERSION);
		return 0;
	}
	if (argc != 1 || getsockopt(c.fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET) {
		fprintf(stderr, "openetw-kernel: is started by etwd, when a session wants kernel events\n"
				"(openetw start --kernel, logman, xperf, wpr); not by hand.\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* of a terminal's process group; its etwd ends it */
	prctl(PR_SET_NAME, "openetw-kernel");
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max; /* some descriptors for each processor */
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (!map_ring(&c)) {
		return 1;
	}
	/* Before anything of what strangers do is looked at; but this takes more rights than are left then. */
	(void)kernel_mount_tracing();
	(void)confine(CONFINE_COLLECTOR);
	while (hear(&c)) {
		if (c.kernel) {
			kernel_poll(c.kernel, POLL_MS);
			publish_stats(&c);
			answer_those_who_wait(&c);
		} else {
			struct pollfd p = {.fd = c.fd, .events = POLLIN};
			poll(&p, 1, -1);
		}
	}
	if (c.kernel) {
		kernel_close(c.kernel);
	}
	return 0;
}
