/* SPDX-License-Identifier: MIT
 *
 * Between the programs' raw records and the session: which hooks a source means, what areas remember,
 * and what is missing or lost.
 */
#include "kernel/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_AREA	     0xFF
#define LOSSES_MAX   256u
#define STACK_RING   (4u << 20)
#define LOSS_LOOK_NS 100000000ull

struct kernel_sources {
	struct kernel *k;
	struct kernel_bpf *bpf; /* NULL: none */
	struct kernel_names *names;
	void *state[16];	/* by area */
	bool made[16];
	uint8_t area[KBPF_HOOKS_MAX];
	struct kernel_loss loss[LOSSES_MAX];
	size_t losses;
	uint64_t lost_now, looked;
	char missing[4096];
};

/* ---- what a source means ------------------------------------------------------------------------ */

struct source_hook {
	uint32_t source;
	uint16_t hook;
	bool stack; /* when stacks are wanted */
};
static const struct source_hook source_hooks[] = {
	{KERNEL_SYSCALL, KBPF_SYS_ENTER, true},
	{KERNEL_SYSCALL, KBPF_SYS_EXIT, false},
	{KERNEL_DISK, KBPF_DISK_INIT, true},
	{KERNEL_DISK, KBPF_DISK_DONE, false}, /* readers expect none */
	{KERNEL_DISK, KBPF_FILE_TRACK, false},
	{KERNEL_FILE, KBPF_FILE_CREATE, true},
	{KERNEL_FILE, KBPF_FILE_CLOSE, true},
	{KERNEL_FILE, KBPF_FILE_READ, true},
	{KERNEL_FILE, KBPF_FILE_WRITE, true},
	{KERNEL_FILE, KBPF_FILE_FLUSH, true},
	{KERNEL_FILE, KBPF_FILE_SET_INFO, true},
	{KERNEL_FILE, KBPF_FILE_QUERY_INFO, true},
	{KERNEL_FILE, KBPF_FILE_DELETE, true},
	{KERNEL_FILE, KBPF_FILE_RENAME, true},
	{KERNEL_FILE, KBPF_FILE_LINK, true},
	{KERNEL_FILE, KBPF_FILE_DIR_ENUM, true},
	{KERNEL_FILE, KBPF_FILE_CONTROL, true},
	{KERNEL_FILE, KBPF_FILE_END, false},
	{KERNEL_FAULT, KBPF_FAULT_SOFT, true},
	{KERNEL_FAULT, KBPF_FAULT_HARD, true},
	{KERNEL_VIRTUAL, KBPF_VIRTUAL_ALLOC, true},
	{KERNEL_VIRTUAL, KBPF_VIRTUAL_FREE, true},
	{KERNEL_VIRTUAL, KBPF_MAP_FILE, true},
	{KERNEL_VIRTUAL, KBPF_UNMAP_FILE, true},
	{KERNEL_HANDLE, KBPF_HANDLE_CREATE, true},
	{KERNEL_HANDLE, KBPF_HANDLE_CLOSE, true},
	{KERNEL_DISK | KERNEL_FILE | KERNEL_FAULT | KERNEL_VIRTUAL, KBPF_FILE_NAME, false},
	{KERNEL_NET, KBPF_TCP_SEND, true},
	{KERNEL_NET, KBPF_TCP_RECV, true},
	{KERNEL_NET, KBPF_TCP_CONNECT, false}, /* in whatever context the answer came */
	{KERNEL_NET, KBPF_TCP_ACCEPT, true},
	{KERNEL_NET, KBPF_TCP_DISCONNECT, false},
	{KERNEL_NET, KBPF_TCP_RETRANSMIT, false},
	{KERNEL_NET, KBPF_TCP_RECONNECT, false},
	{KERNEL_NET, KBPF_TCP_FAIL, false},
	{KERNEL_NET, KBPF_UDP_SEND, true},
	{KERNEL_NET, KBPF_UDP_RECV, true},
};

int kernel_sources_open(struct kernel *k, const struct kernel_options *o, struct kernel_sources **ret)
{
	struct kernel_sources *s = calloc(1, sizeof *s);
	struct diag d;
	uint32_t mine = 0;
	if (!s) {
		return -ENOMEM;
	}
	s->k = k;
	*ret = s;
	memset(s->area, NO_AREA, sizeof s->area);
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		mine |= source_hooks[i].source & o->sources;
	}
	if (!mine) {
		return 0;
	}
	struct kernel_bpf_options b = {.own_pid = (uint32_t)getpid(),
				       .ring_bytes = o->stacks ? STACK_RING : 0};
	diag_clear(&d);
	if (kernel_bpf_open(&b, &s->bpf, &d) < 0) {
		s->bpf = NULL;
		snprintf(s->missing, sizeof s->missing, "%s", d.text);
		return 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		if (h->source & o->sources) {
			kernel_bpf_want(s->bpf, h->hook, 1, o->stacks && h->stack);
		}
	}
	for (unsigned hook = 0; hook < KBPF_HOOKS_MAX; hook++) {
		unsigned area;
		if (kernel_area_of(hook, &area)) {
			s->area[hook] = (uint8_t)area;
		}
	}
	s->names = kernel_names_create();
	if (!s->names) {
		return -ENOMEM;
	}
	/* What an area remembers must be there before the first record. */
	for (unsigned i = 0; i < kernel_area_count && i < BASE_ARRAY_LEN(s->state); i++) {
		s->made[i] = true;
		s->state[i] = kernel_areas[i].create ? kernel_areas[i].create(k, s->names) : NULL;
	}
	if (o->only_pid) {
		kernel_bpf_filter(s->bpf, 1);
		kernel_bpf_watch(s->bpf, (uint32_t)o->only_pid, 1);
	}
	kernel_bpf_apply(s->bpf);
	snprintf(s->missing, sizeof s->missing, "%s", kernel_bpf_missing(s->bpf));
	return 0;
}

struct kernel_bpf *kernel_sources_bpf(struct kernel_sources *s)
{
	return s->bpf;
}

void kernel_sources_rundown(struct kernel_sources *s, bool end)
{
	for (unsigned i = 0; i < kernel_area_count && i < BASE_ARRAY_LEN(s->state); i++) {
		if (s->made[i] && kernel_areas[i].rundown) {
			kernel_areas[i].rundown(s->k, s->state[i], end);
		}
	}
	if (end && s->names) {
		kernel_names_rundown(s->names, s->k, UINT64_MAX);
	}
}

void kernel_sources_pause(struct kernel_sources *s)
{
	if (s->bpf) {
		kernel_bpf_pause(s->bpf);
	}
}

void kernel_sources_close(struct kernel_sources *s)
{
	if (!s) {
		return;
	}
	for (unsigned i = 0; i < kernel_area_count && i < BASE_ARRAY_LEN(s->state); i++) {
		if (s->made[i] && kernel_areas[i].destroy) {
			kernel_areas[i].destroy(s->state[i]);
		}
	}
	kernel_names_destroy(s->names);
	kernel_bpf_close(s->bpf);
	free(s);
}

/* ---- records ---------------------------------------------------------------------------------- */

void kernel_record_begin(struct kernel_record *r, const struct kbpf_record *raw, uint16_t hook,
			 uint8_t version, bool perfinfo)
{
	/* Not the payload: it is big, and what of it counts is written. */
	r->hook = hook;
	r->version = version;
	r->perfinfo = perfinfo;
	r->class = NULL;
	r->cpu = raw->cpu;
	r->time = raw->time;
	r->pid = raw->flags & KBPF_KERNEL_THREAD ? KERNEL_PID_SYSTEM : raw->pid;
	r->tid = raw->tid;
	r->sessions = raw->sessions;
	r->n = 0;
}

uint32_t kernel_sources_cpus(struct kernel_sources *s)
{
	return s->bpf ? kernel_bpf_cpus(s->bpf) : 0;
}

const struct kbpf_record *kernel_sources_peek(struct kernel_sources *s, uint32_t cpu, uint64_t until,
					      uint64_t *ret_time)
{
	const struct kbpf_record *r = s->bpf ? kernel_bpf_peek(s->bpf, cpu, until) : NULL;
	if (r) {
		*ret_time = r->time;
	}
	return r;
}

void kernel_sources_take(struct kernel_sources *s, uint32_t cpu, const struct kbpf_record *raw)
{
	uint8_t area = raw->hook < KBPF_HOOKS_MAX ? s->area[raw->hook] : NO_AREA;
	if (area != NO_AREA && kernel_areas[area].shape(s->k, s->state[area], raw) && raw->frames > 0) {
		struct kernel_record of;
		kernel_record_begin(&of, raw, 0, 0, false);
		kernel_out_stack(s->k, &of, (const void *)((const uint8_t *)(raw + 1) + raw->bytes),
				 raw->frames);
	}
	kernel_bpf_pop(s->bpf, cpu);
}

/* ---- losses ----------------------------------------------------------------------------------- */

static void on_loss(void *ctx, unsigned hook, uint32_t cpu, uint64_t count)
{
	struct kernel_sources *s = ctx;
	const char *name = kernel_hook_name(hook);
	size_t i = 0;
	s->lost_now += count;
	while (i < s->losses && (s->loss[i].hook != name || s->loss[i].cpu != cpu)) {
		i++;
	}
	if (i == s->losses && i < LOSSES_MAX) {
		s->loss[s->losses++] = (struct kernel_loss){.hook = name, .cpu = cpu};
	}
	if (i < s->losses) {
		s->loss[i].count += count;
	}
}

uint64_t kernel_sources_losses(struct kernel_sources *s)
{
	uint64_t now = clock_read_system_ns();
	s->lost_now = 0;
	if (s->bpf && now - s->looked >= LOSS_LOOK_NS) {
		s->looked = now;
		kernel_bpf_losses(s->bpf, on_loss, s);
	}
	return s->lost_now;
}

size_t kernel_sources_loss_list(const struct kernel_sources *s, struct kernel_loss *ret, size_t cap)
{
	size_t n = BASE_MIN(s->losses, cap);
	memcpy(ret, s->loss, n * sizeof *ret);
	return n;
}

const char *kernel_sources_missing(const struct kernel_sources *s)
{
	return s->missing;
}
