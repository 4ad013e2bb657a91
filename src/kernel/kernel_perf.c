/* SPDX-License-Identifier: MIT
 *
 * perf_event_open: one ring for each processor, shared by all events on it, so that its records come
 * in the order of time. The kernel's side of the ring is trusted no further than its bounds.
 */
#include "kernel/kernel_private.h"

#include "base/order.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES	1024u
#define PAGE_BYTES	4096u
#define RECORD_MAX	65536u
#define CONTEXT_MARKERS 0xFFFFFFFFFFFFF000ull
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

struct event {
	int fd;
	uint64_t id;
	enum kernel_event_kind kind;
};
struct ring {
	uint32_t cpu;
	struct event event[KERNEL_EV_COUNT];
	uint32_t event_count;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint8_t copy[RECORD_MAX]; /* a record that wraps around, made whole */
};
struct field {
	uint32_t offset, bytes;
	bool is_signed;
};
struct kernel_perf {
	struct ring **ring;
	uint32_t count;
	size_t map_bytes;
	bool callchains;
	uint32_t sample_count; /* TIME and CPU behind records that are no samples */
	struct field field[KERNEL_FIELDS];
};

static int perf_open(const struct perf_event_attr *a, int cpu, int group)
{
	long fd = syscall(SYS_perf_event_open, a, -1, cpu, group, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* ---- tracepoints ------------------------------------------------------------------------------ */

static const char *const tracing_dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static FILE *open_tracing(const char *event, const char *file)
{
	char path[256];
	for (size_t i = 0; i < BASE_ARRAY_LEN(tracing_dirs); i++) {
		snprintf(path, sizeof path, "%s/events/%s/%s", tracing_dirs[i], event, file);
		FILE *f = fopen(path, "re");
		if (f) {
			return f;
		}
	}
	return NULL;
}

static int tracepoint_id(const char *event, struct diag *d)
{
	FILE *f = open_tracing(event, "id");
	if (!f && geteuid() == 0 && mount("tracefs", tracing_dirs[0], "tracefs", 0, NULL) == 0) {
		f = open_tracing(event, "id");
	}
	int id = -ENOENT;
	if (!f || fscanf(f, "%d", &id) != 1) {
		diag_at(d, UINT64_MAX,
			"context switches need %s/events/%s: mount tracefs there, and let this user read it",
			tracing_dirs[0], event);
		id = -ENOENT;
	}
	if (f) {
		fclose(f);
	}
	return id;
}

static void read_format(const char *event, const char *const *names, struct field *ret, unsigned n)
{
	FILE *f = open_tracing(event, "format");
	char line[512];
	while (f && fgets(line, sizeof line, f)) {
		char *semicolon = strchr(line, ';'), *name;
		unsigned offset, bytes, is_signed;
		if (!strstr(line, "field:") || !semicolon ||
		    sscanf(semicolon, "; offset:%u; size:%u; signed:%u;", &offset, &bytes, &is_signed) != 3) {
			continue;
		}
		*semicolon = 0;
		name = strrchr(line, ' ');
		for (unsigned i = 0; name && i < n; i++) {
			if (strcmp(name + 1, names[i]) == 0 && bytes <= 8) {
				ret[i] = (struct field){offset, bytes, is_signed};
			}
		}
	}
	if (f) {
		fclose(f);
	}
}

uint64_t kernel_perf_field(const struct kernel_perf *p, const struct kernel_perf_record *r,
			   unsigned field)
{
	const struct field *f = &p->field[field];
	if (f->bytes == 0 || f->offset > r->raw_bytes || f->bytes > r->raw_bytes - f->offset) {
		return 0;
	}
	uint64_t v = 0;
	for (uint32_t i = 0; i < f->bytes; i++) {
		v |= (uint64_t)r->raw[f->offset + i] << (8 * i);
	}
	if (f->is_signed && f->bytes < 8 && (v >> (8 * f->bytes - 1)) & 1) {
		v |= ~0ull << (8 * f->bytes);
	}
	return v;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static void common(struct perf_event_attr *a, const struct kernel_options *o)
{
	*a = (struct perf_event_attr){
		.size = sizeof *a,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (o->ring_pages ? o->ring_pages : RING_PAGES) * PAGE_BYTES / 4,
	};
	if (o->stacks) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->sample_max_stack = 127;
	}
}

static int add_event(struct ring *r, struct perf_event_attr *a, enum kernel_event_kind kind)
{
	int fd = perf_open(a, (int)r->cpu, -1);
	if (fd == -EOVERFLOW && a->sample_max_stack) { /* this system's limit is lower */
		a->sample_max_stack = 0;
		fd = perf_open(a, (int)r->cpu, -1);
	}
	if (fd < 0) {
		return fd;
	}
	struct event *e = &r->event[r->event_count++];
	*e = (struct event){.fd = fd, .kind = kind};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &e->id) < 0) {
		return -errno;
	}
	/* The first owns the ring; the others write into it. */
	if (r->page && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->event[0].fd) < 0) {
		return -errno;
	}
	return 0;
}

static int open_ring(struct kernel_perf *p, struct ring *r, const struct kernel_options *o,
		     const int *tracepoint)
{
	struct perf_event_attr a;
	common(&a, o);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = o->sources & KERNEL_CPU ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY;
	if (o->sources & KERNEL_CPU) {
		a.sample_period = (uint64_t)o->interval_us * 1000;
	}
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	a.build_id = 1;
	int err = add_event(r, &a, o->sources & KERNEL_CPU ? KERNEL_EV_CPU : KERNEL_EV_NONE);
	if (err == -EINVAL) { /* before Linux 5.12 */
		a.build_id = 0;
		err = add_event(r, &a, o->sources & KERNEL_CPU ? KERNEL_EV_CPU : KERNEL_EV_NONE);
	}
	if (err < 0) {
		return err;
	}
	void *m = mmap(NULL, p->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->event[0].fd, 0);
	if (m == MAP_FAILED) {
		return -errno;
	}
	r->page = m;
	r->data = (uint8_t *)m + PAGE_BYTES;
	for (int i = KERNEL_EV_SWITCH; i < KERNEL_EV_COUNT && err == 0; i++) {
		if (tracepoint[i] > 0) {
			common(&a, o);
			a.type = PERF_TYPE_TRACEPOINT;
			a.config = (uint64_t)tracepoint[i];
			a.sample_period = 1;
			a.sample_type |= PERF_SAMPLE_RAW;
			if (i == KERNEL_EV_WAKING) {
				a.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
			}
			err = add_event(r, &a, (enum kernel_event_kind)i);
		}
	}
	return err;
}

static void explain(int err, struct diag *d)
{
	if (err == -EACCES || err == -EPERM) {
		diag_at(d, UINT64_MAX,
			"recording the whole machine takes root or CAP_PERFMON (or sysctl "
			"kernel.perf_event_paranoid=-1)");
	} else if (err == -ENOSYS || err == -ENOENT) {
		diag_at(d, UINT64_MAX, "this kernel has no perf events (perf_event_open)");
	} else {
		diag_at(d, UINT64_MAX, "perf_event_open: %s", strerror(-err));
	}
}

int kernel_perf_open(const struct kernel_options *o, struct kernel_perf **ret, struct diag *d)
{
	static const char *const switch_names[] = {"prev_pid", "prev_prio", "prev_state", "next_pid",
						   "next_prio"};
	static const char *const waking_names[] = {"pid"};
	int tracepoint[KERNEL_EV_COUNT] = {0}, err = 0;
	struct kernel_perf *p = calloc(1, sizeof *p);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (!p || !(p->ring = calloc((size_t)cpus, sizeof *p->ring))) {
		free(p);
		return -ENOMEM;
	}
	p->map_bytes = (size_t)((o->ring_pages ? o->ring_pages : RING_PAGES) + 1) * PAGE_BYTES;
	p->callchains = o->stacks;
	if (o->sources & KERNEL_CSWITCH) {
		tracepoint[KERNEL_EV_SWITCH] = tracepoint_id("sched/sched_switch", d);
		tracepoint[KERNEL_EV_WAKING] = tracepoint_id("sched/sched_waking", d);
		err = BASE_MIN(tracepoint[KERNEL_EV_SWITCH], tracepoint[KERNEL_EV_WAKING]);
		read_format("sched/sched_switch", switch_names, p->field + SWITCH_PREV_PID, 5);
		read_format("sched/sched_waking", waking_names, p->field + WAKING_PID, 1);
	}
	for (long i = 0; i < cpus && err >= 0; i++) {
		struct ring *r = calloc(1, sizeof *r);
		if (!r) {
			err = -ENOMEM;
			break;
		}
		r->cpu = (uint32_t)i;
		p->ring[p->count++] = r;
		err = open_ring(p, r, o, tracepoint);
		if (err == -ENODEV) { /* configured, but not there */
			p->count--;
			free(r);
			err = 0;
		} else if (err < 0) {
			explain(err, d);
		}
	}
	if (err < 0 || p->count == 0) {
		kernel_perf_close(p);
		return err < 0 ? err : -ENODEV;
	}
	*ret = p;
	return 0;
}

int kernel_perf_enable(struct kernel_perf *p, bool on)
{
	for (uint32_t i = 0; i < p->count; i++) {
		for (uint32_t k = 0; k < p->ring[i]->event_count; k++) {
			if (ioctl(p->ring[i]->event[k].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
				  0) < 0) {
				return -errno;
			}
		}
	}
	return 0;
}

void kernel_perf_wait(struct kernel_perf *p, int timeout_ms)
{
	struct pollfd fds[64];
	uint32_t n = BASE_MIN(p->count, 64u); /* with more processors the timeout serves the rest */
	for (uint32_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){.fd = p->ring[i]->event[0].fd, .events = POLLIN};
	}
	poll(fds, n, timeout_ms);
}

uint32_t kernel_perf_cpus(const struct kernel_perf *p)
{
	return p->count;
}

uint32_t kernel_perf_cpu(const struct kernel_perf *p, uint32_t index)
{
	return p->ring[index]->cpu;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool take(const uint8_t **p, uint32_t *left, void *out, uint32_t n)
{
	if (*left < n) {
		return false;
	}
	memcpy(out, *p, n);
	*p += n;
	*left -= n;
	return true;
}

static bool parse_sample(struct kernel_perf *p, const struct ring *ring, const uint8_t *b, uint32_t left,
			 struct kernel_perf_record *r)
{
	uint64_t id, frames;
	uint32_t cpu, reserved;
	if (!take(&b, &left, &id, 8) || !take(&b, &left, &r->ip, 8) || !take(&b, &left, &r->pid, 4) ||
	    !take(&b, &left, &r->tid, 4) || !take(&b, &left, &r->time, 8) || !take(&b, &left, &cpu, 4) ||
	    !take(&b, &left, &reserved, 4)) {
		return false;
	}
	for (uint32_t i = 0; i < ring->event_count; i++) {
		if (ring->event[i].id == id) {
			r->kind = ring->event[i].kind;
		}
	}
	if (p->callchains && r->kind != KERNEL_EV_WAKING) {
		if (!take(&b, &left, &frames, 8) || frames > left / 8) {
			return false;
		}
		for (uint64_t i = 0; i < frames; i++) {
			uint64_t ip = 0;
			take(&b, &left, &ip, 8);
			if (ip < CONTEXT_MARKERS && r->frames < KERNEL_FRAMES_MAX) {
				r->frame[r->frames++] = ip;
			}
		}
	}
	if (r->kind == KERNEL_EV_SWITCH || r->kind == KERNEL_EV_WAKING) {
		uint32_t n;
		if (!take(&b, &left, &n, 4) || n > left) {
			return false;
		}
		r->raw = b;
		r->raw_bytes = n;
	}
	return true;
}

bool kernel_perf_next(struct kernel_perf *p, uint32_t index, struct kernel_perf_record *ret)
{
	struct ring *ring = p->ring[index];
	uint64_t size = p->map_bytes - PAGE_BYTES;
	for (;;) {
		/* Acquire: the records before data_head are whole. */
		uint64_t head = order_load_acquire(&ring->page->data_head);
		uint64_t tail = ring->page->data_tail;
		struct perf_event_header h;
		if (head - tail < sizeof h || head - tail > size) {
			return false;
		}
		uint64_t at = tail & (size - 1);
		memcpy(&h, ring->data + at, sizeof h); /* records are 8-aligned: the header never wraps */
		if (h.size < sizeof h || h.size > head - tail) {
			order_store_release(&ring->page->data_tail, head);
			return false;
		}
		/* A copy, and then the ring has its room back. */
		uint64_t first = BASE_MIN((uint64_t)h.size, size - at);
		memcpy(ring->copy, ring->data + at, first);
		memcpy(ring->copy + first, ring->data, h.size - first);
		order_store_release(&ring->page->data_tail, tail + h.size);

		const uint8_t *body = ring->copy + sizeof h;
		uint32_t bytes = h.size - (uint32_t)sizeof h;
		ret->type = h.type;
		ret->misc = h.misc;
		ret->cpu = (uint16_t)ring->cpu;
		ret->kind = KERNEL_EV_NONE;
		ret->frames = 0;
		ret->raw_bytes = 0;
		if (h.type == PERF_RECORD_SAMPLE) {
			if (parse_sample(p, ring, body, bytes, ret)) {
				return true;
			}
			continue;
		}
		/* Behind the body: pid, tid, time, cpu, reserved, identifier. */
		const uint32_t trailer = 4 + 4 + 8 + 4 + 4 + 8;
		if (bytes < trailer) {
			continue;
		}
		ret->body = body;
		ret->body_bytes = bytes - trailer;
		const uint8_t *t = body + ret->body_bytes;
		ret->pid = le32_get(t);
		ret->tid = le32_get(t + 4);
		ret->time = le64_get(t + 8);
		return true;
	}
}

void kernel_perf_close(struct kernel_perf *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct ring *r = p->ring[i];
		if (r->page) {
			munmap(r->page, p->map_bytes);
		}
		for (uint32_t k = 0; k < r->event_count; k++) {
			close(r->event[k].fd);
		}
		free(r);
	}
	free(p->ring);
	free(p);
}
