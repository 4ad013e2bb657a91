/* SPDX-License-Identifier: MIT
 *
 * perf_event_open: one ring for each processor, shared by all events on it, so that its records come
 * in the order of time. The kernel's side of the ring is trusted no further than its bounds.
 */
#include "kernel/kernel_perf.h"

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

#define RING_PAGES   1024u
#define SAMPLE_STACK 8192u /* of a stack, copied to be unwound */
#define SWITCH_STACK 2048u
#define STACK_MAX    60000u /* records end at 64 KB */
#if defined(__x86_64__)
#define REGS_MASK 0xFF01FFull
#elif defined(__aarch64__)
#define REGS_MASK 0x1FFFFFFFFull
#endif
#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

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

bool kernel_mount_tracing(void)
{
	FILE *f = open_tracing("sched/sched_switch", "id");
	if (f) {
		fclose(f);
	}
	return f || (geteuid() == 0 && mount("tracefs", tracing_dirs[0], "tracefs", 0, NULL) == 0);
}

static int tracepoint_id(const char *event, struct diag *d)
{
	FILE *f = kernel_mount_tracing() ? open_tracing(event, "id") : NULL;
	int id = -ENOENT;
	if (!f || fscanf(f, "%d", &id) != 1) {
		diag_at(d, UINT64_MAX,
			"context switches need %s/events/%s: mount tracefs there, and let this user read it, or give "
			"the program CAP_DAC_READ_SEARCH",
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

uint64_t kernel_perf_field(const struct kernel_perf *p, const struct kernel_perf_record *r, unsigned field)
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

static void common(const struct kernel_perf *p, struct perf_event_attr *a, bool stack)
{
	*a = (struct perf_event_attr){
		.size = sizeof *a,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(p->map_bytes - PAGE_BYTES) / 4,
	};
	if (stack) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->sample_max_stack = 127;
	}
}

/* The user part is for the collector to find: the kernel gives registers and the stack's top. */
static void copy_stack(const struct kernel_perf *p, struct perf_event_attr *a, uint32_t bytes)
{
	if (!p->stacks.frame_pointers) {
		bytes = p->stacks.bytes ? BASE_MIN(p->stacks.bytes, STACK_MAX) : bytes;
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = REGS_MASK;
		a->sample_stack_user = BASE_ALIGN8(bytes);
		a->exclude_callchain_user = 1;
	}
}

static int add_event(struct ring *r, struct perf_event_attr *a, struct event *ret)
{
	int fd = perf_open(a, (int)r->cpu, -1);
	if (fd == -EOVERFLOW && a->sample_max_stack) { /* this system's limit is lower */
		a->sample_max_stack = 0;
		fd = perf_open(a, (int)r->cpu, -1);
	}
	if (fd < 0) {
		return fd;
	}
	struct event e = {.fd = fd,
			  .stack = a->sample_type & PERF_SAMPLE_CALLCHAIN,
			  .copied = a->sample_type & PERF_SAMPLE_STACK_USER,
			  .read = a->sample_type & PERF_SAMPLE_READ};
	/* The first owns the ring; the others write into it. */
	if (ioctl(fd, PERF_EVENT_IOC_ID, &e.id) < 0 ||
	    (r->page && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->event[KERNEL_EV_NONE].fd) < 0)) {
		int err = -errno;
		close(fd);
		return err;
	}
	*ret = e;
	return 0;
}

static int open_ring(struct kernel_perf *p, struct ring *r)
{
	struct perf_event_attr a;
	common(p, &a, false);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	/* Not build_id: which file it is says more, and the kernel does not have to read in it. */
	struct event *e = &r->event[KERNEL_EV_NONE];
	int err = add_event(r, &a, e);
	if (err < 0) {
		return err;
	}
	void *m = mmap(NULL, p->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);
	if (m == MAP_FAILED) {
		return -errno;
	}
	r->page = m;
	r->data = (uint8_t *)m + PAGE_BYTES;
	return ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

static int open_kind(struct kernel_perf *p, struct ring *r, enum kernel_event_kind kind,
		     const struct kernel_perf_plan *plan, bool plain, struct event *ret)
{
	struct perf_event_attr a;
	common(p, &a, plan->stack[kind]);
	if (kind == KERNEL_EV_CPU) {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_CPU_CLOCK;
		a.sample_period = (uint64_t)plan->interval_us * 1000;
		if (plan->read) {
			a.sample_type |= PERF_SAMPLE_READ;
			a.read_format = PERF_FORMAT_GROUP;
		}
	} else if (kind >= KERNEL_EV_PMC) {
		const struct kernel_perf_source *s = &plan->pmc[kind - KERNEL_EV_PMC];
		a.type = s->type;
		a.config = s->config[0];
		a.config1 = s->config[1];
		a.config2 = s->config[2];
		a.sample_period = s->period;
	} else {
		a.type = PERF_TYPE_TRACEPOINT;
		a.config = (uint64_t)p->tracepoint[kind];
		a.sample_period = 1;
		a.sample_type |= PERF_SAMPLE_RAW;
	}
	if (plan->stack[kind] && !plain) {
		copy_stack(p, &a, kind == KERNEL_EV_CPU || kind >= KERNEL_EV_PMC ? SAMPLE_STACK : SWITCH_STACK);
	}
	return add_event(r, &a, ret);
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

int kernel_perf_open(uint32_t ring_pages, const struct kernel_perf_stacks *stacks, struct kernel_perf **ret,
		     struct diag *d)
{
	int err = 0;
	struct kernel_perf *p = calloc(1, sizeof *p);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (!p || !(p->ring = calloc((size_t)cpus, sizeof *p->ring))) {
		free(p);
		return -ENOMEM;
	}
	p->stacks = *stacks;
	p->map_bytes = (size_t)((ring_pages ? ring_pages : RING_PAGES) + 1) * PAGE_BYTES;
	for (long i = 0; i < cpus && err >= 0; i++) {
		struct ring *r = calloc(1, sizeof *r);
		if (!r) {
			err = -ENOMEM;
			break;
		}
		r->cpu = (uint32_t)i;
		r->plain.fd = -1;
		for (int k = 0; k < KERNEL_EV_COUNT; k++) {
			r->event[k].fd = -1;
		}
		p->ring[p->count++] = r;
		err = open_ring(p, r);
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

/* Ids and places of fields, once. */
static int look_up(struct kernel_perf *p, enum kernel_event_kind kind, struct diag *d)
{
	static const char *const switch_names[] = {"prev_pid", "prev_prio", "prev_state", "next_pid", "next_prio"};
	static const char *const waking_names[] = {"pid", "common_flags"};
	const char *event = kind == KERNEL_EV_SWITCH ? "sched/sched_switch" : "sched/sched_waking";
	if (kind == KERNEL_EV_CPU || kind >= KERNEL_EV_PMC || p->tracepoint[kind] > 0) {
		return 0;
	}
	int id = tracepoint_id(event, d);
	if (id < 0) {
		return id;
	}
	p->tracepoint[kind] = id;
	if (kind == KERNEL_EV_SWITCH) {
		read_format(event, switch_names, p->field + SWITCH_PREV_PID, 5);
	} else {
		read_format(event, waking_names, p->field + WAKING_PID, 2);
	}
	return 0;
}

static int change_kind(struct kernel_perf *p, enum kernel_event_kind kind, const struct kernel_perf_plan *plan,
		       struct diag *d)
{
	int err = plan->on[kind] ? look_up(p, kind, d) : 0;
	struct event *fresh = calloc(p->count, sizeof *fresh);
	if (!fresh || err < 0) {
		free(fresh);
		return err < 0 ? err : -ENOMEM;
	}
	uint32_t n = 0, opened = 0;
	for (; plan->on[kind] && n < p->count && err == 0; n += err == 0) {
		fresh[n].fd = -1;
		err = open_kind(p, p->ring[n], kind, plan, false, &fresh[n]);
		opened += err == 0;
		/* Processors of one machine need not be able to count the same. */
		err = kind >= KERNEL_EV_PMC && err == -ENOENT && (opened || n + 1 < p->count) ? 0 : err;
	}
	for (uint32_t i = 0; i < p->count; i++) {
		struct event *e = &p->ring[i]->event[kind];
		if (err < 0 || !plan->on[kind]) {
			if (i < n) {
				base_close(&fresh[i].fd);
			}
			fresh[i].fd = -1;
		}
		if (err < 0) {
			continue;
		}
		if (e->fd >= 0) {
			close(e->fd);
		}
		*e = fresh[i];
		if (e->fd >= 0) {
			ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0);
		}
		if (kind == KERNEL_EV_SWITCH) {
			struct ring *r = p->ring[i];
			base_close(&r->plain.fd);
			r->is_plain = false;
			if (e->fd >= 0 && e->copied) { /* without it there is no choice, that is all */
				(void)open_kind(p, r, kind, plan, true, &r->plain);
			}
		}
	}
	free(fresh);
	if (err < 0) {
		explain(err, d);
	}
	return err;
}

int kernel_perf_update(struct kernel_perf *p, const struct kernel_perf_plan *plan, struct diag *d)
{
	struct kernel_perf_plan before = p->plan;
	for (int k = KERNEL_EV_CPU; k < KERNEL_EV_COUNT; k++) {
		enum kernel_event_kind kind = (enum kernel_event_kind)k;
		int err = 0;
		bool other = k >= KERNEL_EV_PMC && memcmp(&plan->pmc[k - KERNEL_EV_PMC],
							  &p->plan.pmc[k - KERNEL_EV_PMC], sizeof plan->pmc[0]) != 0;
		if (plan->on[k] != p->plan.on[k] ||
		    (plan->on[k] && (other || plan->stack[k] != p->plan.stack[k] ||
				     (kind == KERNEL_EV_CPU && plan->read != p->plan.read)))) {
			p->generation += kind == KERNEL_EV_CPU;
			err = change_kind(p, kind, plan, d);
		} else if (kind == KERNEL_EV_CPU && plan->on[k] && plan->interval_us != p->plan.interval_us) {
			uint64_t period = (uint64_t)plan->interval_us * 1000;
			for (uint32_t i = 0; i < p->count && err == 0; i++) {
				err = ioctl(p->ring[i]->event[k].fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
			}
		}
		if (err < 0) {
			p->plan.interval_us = before.interval_us;
			for (k--; k >= KERNEL_EV_CPU; k--) {
				bool changed = k >= KERNEL_EV_PMC &&
					       memcmp(&p->plan.pmc[k - KERNEL_EV_PMC], &before.pmc[k - KERNEL_EV_PMC],
						      sizeof before.pmc[0]) != 0;
				changed = changed || (k == KERNEL_EV_CPU && p->plan.read != before.read);
				if (p->plan.on[k] != before.on[k] || p->plan.stack[k] != before.stack[k] || changed) {
					(void)change_kind(p, (enum kernel_event_kind)k, &before, NULL);
				}
			}
			p->plan = before;
			return err;
		}
		p->plan.on[k] = plan->on[k];
		p->plan.stack[k] = plan->stack[k];
		p->plan.read = k == KERNEL_EV_CPU ? plan->read : p->plan.read;
		if (k >= KERNEL_EV_PMC) {
			p->plan.pmc[k - KERNEL_EV_PMC] = plan->pmc[k - KERNEL_EV_PMC];
		}
	}
	p->plan = *plan;
	return 0;
}

uint32_t kernel_perf_source_of(const struct kernel_perf *p, enum kernel_event_kind kind)
{
	return p->plan.pmc[kind - KERNEL_EV_PMC].id;
}

int kernel_perf_leader(const struct kernel_perf *p, uint32_t cpu, uint32_t *ret_generation)
{
	*ret_generation = p->generation;
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->ring[i]->cpu == cpu) {
			return p->ring[i]->event[KERNEL_EV_CPU].read ? p->ring[i]->event[KERNEL_EV_CPU].fd : -1;
		}
	}
	return -1;
}

void kernel_perf_wait(struct kernel_perf *p, int fd, int timeout_ms)
{
	struct pollfd fds[65];
	uint32_t n = BASE_MIN(p->count, 64u); /* with more processors the timeout serves the rest */
	for (uint32_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){.fd = p->ring[i]->event[KERNEL_EV_NONE].fd, .events = POLLIN};
	}
	if (fd >= 0) {
		fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	poll(fds, n, timeout_ms);
}

void kernel_perf_close(struct kernel_perf *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct ring *r = p->ring[i];
		if (r->page) {
			munmap(r->page, p->map_bytes);
		}
		for (int k = 0; k < KERNEL_EV_COUNT; k++) {
			base_close(&r->event[k].fd);
		}
		base_close(&r->plain.fd);
		free(r);
	}
	free(p->ring);
	free(p);
}
