/* SPDX-License-Identifier: MIT
 *
 * Between the programs' raw records and the session: which hooks a source means, what areas remember,
 * and what is missing or lost.
 */
#include "kernel/kernel_names.h"
#include "kernel/kernel_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_AREA         0xFF
#define HOOK_HEAP_ALLOC 0x1021u
#define LOSSES_MAX      256u
#define PLAIN_RING      (8u << 20) /* of a processor */
#define STACK_RING      (16u << 20)
#define RING_LEAST      (1u << 20)
#define RINGS_MOST      (256u << 20) /* of all */
#define LOSS_LOOK_NS    100000000ull

#define WATCHED_MAX (KERNEL_SESSIONS_MAX * KERNEL_PIDS_MAX)

struct kernel_tracepoints {
	struct kernel *k;
	struct kernel_bpf *bpf; /* NULL: none yet, or none at all */
	bool tried;
	uint64_t *next; /* while draining: by processor, the time of its next record */
	uint64_t other_time;
	uint32_t first;
	struct kernel_stacks *stacks;
	uint64_t frame[KERNEL_FRAMES_MAX];
	struct kernel_names *names;
	void *state[16]; /* by area */
	bool made[16];
	uint8_t area[KBPF_HOOKS_MAX];
	uint32_t watched[WATCHED_MAX], watches;
	struct kernel_loss loss[LOSSES_MAX];
	size_t losses;
	uint64_t looked;
	uint64_t since[KBPF_HOOKS_MAX]; /* from when on a wanted hook is served; 0: it is not */
	bool must;                      /* something is wanted that only programs bring */
	char missing[4096];
};

/* ---- which of Windows' hooks want which of ours -------------------------------------------------- */

/* Whoever wants one of these hooks wants that of ours; a stack belongs to the hook whose record it
 * follows. */
struct source_hook {
	uint16_t ours;
	uint16_t windows[6];
	bool helps;   /* adds to events that there are without it */
	bool cheaper; /* than perf, which does it as well */
};
static const struct source_hook source_hooks[] = {
	{KBPF_SYS_ENTER, {0x0F33}},
	{KBPF_SYS_EXIT, {0x0F34}},
	{KBPF_FILE_NAME, {0x0420}, .helps = true},
	{KBPF_FILE_CREATE, {0x0440}},
	{KBPF_FILE_CLOSE, {0x0441, 0x0442}},
	{KBPF_FILE_READ, {0x0443}},
	{KBPF_FILE_WRITE, {0x0444}},
	{KBPF_FILE_SET_INFO, {0x0445}},
	{KBPF_FILE_DELETE, {0x0446, 0x044F}},
	{KBPF_FILE_RENAME, {0x0447, 0x0450}},
	{KBPF_FILE_LINK, {0x0451}},
	{KBPF_FILE_DIR_ENUM, {0x0448}},
	{KBPF_FILE_DIR_NOTIFY, {0x044D}},
	{KBPF_FILE_FLUSH, {0x0449}},
	{KBPF_FILE_QUERY_INFO, {0x044A}},
	{KBPF_FILE_CONTROL, {0x044B}},
	{KBPF_FILE_END, {0x044C}},
	{KBPF_MAP_FILE, {0x0425}},
	{KBPF_UNMAP_FILE, {0x0426}},
	{KBPF_VIRTUAL_ALLOC, {0x0262}},
	{KBPF_VIRTUAL_FREE, {0x0263}},
	{KBPF_HANDLE_CREATE, {0x1120}},
	{KBPF_HANDLE_CLOSE, {0x1121}},
	{KBPF_DISK_INIT, {0x010C, 0x010D, 0x010F}},
	{KBPF_DISK_DONE, {0x010A, 0x010B, 0x010E}},
	{KBPF_FAULT_SOFT, {0x020A, 0x020B, 0x020C, 0x020F}},
	{KBPF_FAULT_HARD, {0x0220}},
	{KBPF_TCP_SEND, {0x060A, 0x061A}},
	{KBPF_TCP_RECV, {0x060B, 0x061B}},
	{KBPF_TCP_CONNECT, {0x060C, 0x061C}},
	{KBPF_TCP_ACCEPT, {0x060F, 0x061F}},
	{KBPF_TCP_DISCONNECT, {0x060D, 0x061D}},
	{KBPF_TCP_RETRANSMIT, {0x060E, 0x061E}},
	{KBPF_TCP_RECONNECT, {0x0610, 0x0620}},
	{KBPF_TCP_FAIL, {0x0611}},
	{KBPF_UDP_SEND, {0x080A, 0x081A}},
	{KBPF_UDP_RECV, {0x080B, 0x081B}},
	{KBPF_ISR, {0x0F43}},
	{KBPF_VECTOR, {0x0F43}},
	{KBPF_SOFTIRQ, {0x0F44, 0x0F45}},
	{KBPF_TASKLET, {0x0F44}},
	{KBPF_WORK, {0x0F42}},
	{KBPF_IDLE, {0x1239, 0x123A}},
	{KBPF_FREQUENCY, {0x1233}},
	{KBPF_SWITCH, {KERNEL_HOOK_CSWITCH}, true, true},
	{KBPF_WAKING, {KERNEL_HOOK_READY_THREAD}, true, true},
	{KBPF_HEAP_ALLOC, {0x1021}},
	{KBPF_HEAP_REALLOC, {0x1022}},
	{KBPF_HEAP_FREE, {0x1024}},
	{KBPF_EXEC, {0x0301}, true},
	{KBPF_EXIT, {0x0302, 0x0320}, true},
	{KBPF_UNLOAD, {0x1402}, true},
};

static uint64_t wants(const struct kernel *k, const struct source_hook *h, bool stack)
{
	uint64_t sessions = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(h->windows) && h->windows[i]; i++) {
		sessions |= stack ? kernel_wants_stack(k, h->windows[i]) : kernel_wants(k, h->windows[i]);
	}
	return sessions;
}

static uint64_t counts(const struct kernel *k, const struct source_hook *h)
{
	uint64_t sessions = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(h->windows) && h->windows[i]; i++) {
		sessions |= kernel_wants(k, h->windows[i]) & k->counted[h->windows[i]];
	}
	return sessions;
}

/* The bits that bring a hook. */
static void bits_of(const struct source_hook *h, struct kernel_mask *inout)
{
	const struct kernel_hook_range *r;
	for (size_t i = 0; !h->helps && (r = kernel_hook_range_at(i)) != NULL; i++) {
		for (size_t n = 0; n < BASE_ARRAY_LEN(h->windows) && h->windows[n]; n++) {
			if (h->windows[n] >= r->first && h->windows[n] <= r->last) {
				kernel_mask_set(inout, r->bits);
			}
		}
	}
}

int kernel_tracepoints_open(struct kernel *k, struct kernel_tracepoints **ret)
{
	struct kernel_tracepoints *s = calloc(1, sizeof *s);
	if (!s) {
		return -ENOMEM;
	}
	s->k = k;
	memset(s->area, NO_AREA, sizeof s->area);
	for (unsigned hook = 0; hook < KBPF_HOOKS_MAX; hook++) {
		unsigned area;
		if (kernel_area_of(hook, &area)) {
			s->area[hook] = (uint8_t)area;
		}
	}
	*ret = s;
	return 0;
}

void kernel_tracepoints_can(const struct kernel_tracepoints *s, struct kernel_mask *inout_can)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		unsigned area = s->area[source_hooks[i].ours];
		if (area != NO_AREA && kernel_areas[area].object && !source_hooks[i].helps) {
			bits_of(&source_hooks[i], inout_can);
		}
	}
	/* Names come with whatever has files. */
	if (kernel_mask_has(inout_can, KERNEL_BIT_DISK_IO | KERNEL_BIT_FILE_IO_INIT)) {
		kernel_mask_set(inout_can, KERNEL_BIT_FILENAME);
	}
}

bool kernel_tracepoints_replace_perf(const struct kernel_tracepoints *s, uint16_t windows)
{
	for (size_t i = 0; s->bpf && i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		if (h->cheaper && h->windows[0] == windows) {
			return wants(s->k, h, false) && kernel_bpf_serves(s->bpf, h->ours);
		}
	}
	return false;
}

static bool on_stack(void *ctx, const struct kbpf_record *r)
{
	struct kernel_tracepoints *s = ctx;
	return kernel_stacks_add(s->stacks, r);
}

/* A processor's ring must last until a busy machine lets us run again. */
static uint32_t ring_bytes(bool stacks)
{
	uint32_t bytes = stacks ? STACK_RING : PLAIN_RING, cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	while (bytes > RING_LEAST && (uint64_t)bytes * cpus > RINGS_MOST) {
		bytes /= 2;
	}
	return bytes;
}

/* When something is wanted for the first time. What an area remembers must be there before the first
 * record. */
static bool ready(struct kernel_tracepoints *s, bool stacks)
{
	struct diag d;
	if (s->tried) {
		return s->bpf != NULL;
	}
	struct kernel_bpf_options b = {.own_pid = s->k->self[0],
				       .ring_bytes = ring_bytes(stacks),
				       .unwind = !s->k->o.frame_pointers,
				       .on_stack = on_stack,
				       .give_up = s->k->o.give_up,
				       .soon = s->k->o.soon,
				       .ctx = s};
	diag_clear(&d);
	s->tried = true;
	if (kernel_bpf_open(&b, &s->bpf, &d) < 0) {
		s->bpf = NULL;
		snprintf(s->missing, sizeof s->missing, "%s", d.text);
		return false;
	}
	s->stacks = kernel_stacks_create();
	s->next = calloc(kernel_bpf_cpus(s->bpf), sizeof *s->next);
	s->names = s->next && s->stacks ? kernel_names_create() : NULL;
	if (!s->names) {
		kernel_bpf_close(s->bpf);
		s->bpf = NULL;
		snprintf(s->missing, sizeof s->missing, "out of memory");
	}
	for (unsigned i = 0; s->bpf && i < kernel_area_count && i < BASE_ARRAY_LEN(s->state); i++) {
		s->made[i] = true;
		s->state[i] = kernel_areas[i].create ? kernel_areas[i].create(s->k, s->names) : NULL;
	}
	return s->bpf != NULL;
}

static uint64_t watchers(const struct kernel *k, uint32_t pid)
{
	return kernel_watchers(k, pid) | kernel_confined_to(k, kernel_process_find(k->processes, pid));
}

static void watch(struct kernel_tracepoints *s)
{
	struct kernel *k = s->k;
	for (uint32_t i = 0; i < s->watches; i++) {
		if (!kernel_watchers(k, s->watched[i])) {
			kernel_bpf_watch(s->bpf, s->watched[i], watchers(k, s->watched[i]));
		}
	}
	s->watches = 0;
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		const struct kernel_session *want = &k->slot[i].want;
		for (uint32_t n = 0; k->slot[i].used && n < want->pids; n++) {
			kernel_bpf_watch(s->bpf, want->pid[n], watchers(k, want->pid[n]));
			s->watched[s->watches++] = want->pid[n];
		}
	}
	uint32_t uid[KERNEL_SESSIONS_MAX];
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		uid[i] = k->slot[i].want.uid;
	}
	kernel_bpf_confine(s->bpf, k->confined, uid);
	kernel_bpf_filter(s->bpf, k->filtered | k->confined, k->follow | k->confined);
}

void kernel_tracepoints_owned(struct kernel_tracepoints *s, uint32_t pid, uint64_t sessions)
{
	if (s->bpf) {
		kernel_bpf_watch(s->bpf, pid, sessions | kernel_watchers(s->k, pid));
	}
}

void kernel_tracepoints_unwatch(struct kernel_tracepoints *s, uint64_t sessions)
{
	if (s->bpf) {
		kernel_bpf_unwatch(s->bpf, sessions);
	}
}

/* Heaps are watched in processes that are named: for that, or else as the only ones. */
static void target(struct kernel_tracepoints *s)
{
	uint32_t pid[KERNEL_BPF_TARGETS], n = 0;
	uint64_t sessions = kernel_wants(s->k, HOOK_HEAP_ALLOC);
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		const struct kernel_session *w = &s->k->slot[i].want;
		const uint32_t *from = w->heaps ? w->heap : w->pid;
		uint32_t count = w->heaps ? w->heaps : w->pids;
		for (uint32_t m = 0; (sessions >> i & 1) && m < count && n < KERNEL_BPF_TARGETS; m++) {
			pid[n++] = from[m];
		}
	}
	kernel_bpf_targets(s->bpf, pid, n);
}

static void want(struct kernel_tracepoints *s)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		kernel_bpf_want(s->bpf, h->ours, wants(s->k, h, false), wants(s->k, h, true));
		kernel_bpf_count(s->bpf, h->ours, counts(s->k, h));
	}
	kernel_pmc_tell(s->k->pmc, s->bpf);
}

static void cannot(struct kernel_tracepoints *s, const struct source_hook *h)
{
	bits_of(h, &s->k->cannot);
	int first = (int)BASE_MIN(strcspn(s->missing, "\n"), (size_t)200);
	diag_at(&s->k->why_not, UINT64_MAX, "%.*s", first, s->missing);
}

void kernel_tracepoints_prepare(struct kernel_tracepoints *s)
{
	uint64_t any = 0, must = 0, stacks = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		any |= wants(s->k, &source_hooks[i], false);
		must |= source_hooks[i].helps ? 0 : wants(s->k, &source_hooks[i], false);
		stacks |= wants(s->k, &source_hooks[i], true);
	}
	s->must = must != 0;
	bool have = (any != 0 || s->bpf) && ready(s, stacks != 0);
	if (have) {
		want(s);
		watch(s);
		target(s);
		kernel_bpf_attach(s->bpf);
		snprintf(s->missing, sizeof s->missing, "%s", kernel_bpf_missing(s->bpf));
	}
	if (!have && must) {
		kernel_mask_set(&s->k->cannot, KERNEL_BIT_FILENAME);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		if (!h->helps && wants(s->k, h, false) && !(have && kernel_bpf_serves(s->bpf, h->ours))) {
			cannot(s, h);
		}
	}
}

void kernel_tracepoints_begin(struct kernel_tracepoints *s)
{
	if (s->bpf) {
		want(s);
		kernel_bpf_begin(s->bpf);
	}
	/* After the programs know it: what happened before is not told. */
	uint64_t now = clock_read_system_ns();
	kernel_pmc_begin(s->k->pmc, now);
	for (size_t i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		bool served = s->bpf && wants(s->k, h, false) && kernel_bpf_serves(s->bpf, h->ours);
		s->since[h->ours] = !served ? 0 : s->since[h->ours] ? s->since[h->ours] : now;
	}
}

void kernel_tracepoints_rundown(struct kernel_tracepoints *s, uint64_t sessions, bool end)
{
	for (unsigned i = 0; i < kernel_area_count && i < BASE_ARRAY_LEN(s->state); i++) {
		if (s->made[i] && kernel_areas[i].rundown) {
			kernel_areas[i].rundown(s->k, s->state[i], sessions, end);
		}
	}
	if (end && s->names) {
		kernel_names_rundown(s->names, s->k, sessions);
	}
}

void kernel_tracepoints_close(struct kernel_tracepoints *s)
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
	kernel_stacks_destroy(s->stacks);
	free(s->next);
	kernel_bpf_close(s->bpf);
	free(s);
}

/* ---- records ---------------------------------------------------------------------------------- */

void kernel_record_begin(struct kernel_record *r, const struct kbpf_record *raw, uint16_t hook, uint8_t version,
			 bool perfinfo)
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
	r->live = true;
	r->n = 0;
}

const uint64_t *kernel_tracepoints_frames(struct kernel_tracepoints *s, const struct kbpf_record *raw,
					  uint32_t *ret_count)
{
	const uint64_t *raw_frames = kernel_bpf_frames(raw);
	uint32_t skip = raw->frames > 0 ? kernel_stacks_skip(s->stacks, raw) : 0;
	uint32_t n = BASE_MIN(raw->frames - skip, KERNEL_FRAMES_MAX);
	memcpy(s->frame, raw_frames + skip, n * sizeof *raw_frames);
	const uint64_t *id = raw_frames + raw->frames;
	if (raw->flags & KBPF_KERNEL_STACK_ID) {
		n = raw->frames > 0 ? n : kernel_stacks_find(s->stacks, s->k, *id, s->frame, KERNEL_FRAMES_MAX);
		id++;
	}
	if (raw->flags & KBPF_USER_STACK_ID) {
		n += kernel_stacks_find(s->stacks, s->k, *id, s->frame + n, KERNEL_FRAMES_MAX - n);
	}
	*ret_count = n;
	return s->frame;
}

static void take(struct kernel_tracepoints *s, uint32_t cpu, const struct kbpf_record *raw)
{
	uint8_t area = raw->hook < KBPF_HOOKS_MAX ? s->area[raw->hook] : NO_AREA;
	s->k->values = kernel_bpf_words(raw);
	if (area != NO_AREA && kernel_areas[area].shape(s->k, s->state[area], raw)) {
		uint64_t sessions = s->k->last_sessions & s->k->stack[s->k->last_hook];
		uint32_t count = 0;
		const uint64_t *frames = sessions ? kernel_tracepoints_frames(s, raw, &count) : NULL;
		if (count > 0) {
			kernel_out_stack(s->k, sessions, raw->cpu, raw->time, raw->time,
					 raw->flags & KBPF_KERNEL_THREAD ? KERNEL_PID_SYSTEM : raw->pid, raw->tid,
					 frames, count);
		}
	}
	s->k->values = NULL;
	kernel_bpf_pop(s->bpf, cpu);
}

static uint64_t time_of(struct kernel_tracepoints *s, uint32_t cpu, uint64_t until)
{
	const struct kbpf_record *r = kernel_bpf_peek(s->bpf, cpu, until);
	return r ? r->time : UINT64_MAX;
}

/* The processor whose record is the oldest, and the time of the next processor's. */
static void choose(struct kernel_tracepoints *s)
{
	uint32_t n = kernel_bpf_cpus(s->bpf);
	s->first = 0;
	s->other_time = UINT64_MAX;
	for (uint32_t i = 1; i < n; i++) {
		if (s->next[i] < s->next[s->first]) {
			s->other_time = s->next[s->first];
			s->first = i;
		} else if (s->next[i] < s->other_time) {
			s->other_time = s->next[i];
		}
	}
}

void kernel_tracepoints_drain_begin(struct kernel_tracepoints *s, uint64_t until)
{
	for (uint32_t i = 0; s->bpf && i < kernel_bpf_cpus(s->bpf); i++) {
		s->next[i] = time_of(s, i, until);
	}
	if (s->bpf) {
		choose(s);
	}
}

bool kernel_tracepoints_drain(struct kernel_tracepoints *s, uint64_t before, uint64_t until)
{
	bool any = false;
	while (s->bpf && s->next[s->first] < before) {
		uint64_t limit = BASE_MIN(before, s->other_time), time = s->next[s->first];
		/* At one time the lower number goes first; at least one record does. */
		do {
			take(s, s->first, kernel_bpf_peek(s->bpf, s->first, until));
			time = time_of(s, s->first, until);
		} while (time < limit);
		s->next[s->first] = time;
		choose(s);
		any = true;
	}
	return any;
}

/* ---- losses ----------------------------------------------------------------------------------- */

static void on_loss(void *ctx, unsigned hook, uint32_t cpu, uint64_t count)
{
	struct kernel_tracepoints *s = ctx;
	const char *name = kernel_hook_name(hook);
	size_t i = 0;
	while (i < s->losses && (s->loss[i].hook != name || s->loss[i].cpu != cpu)) {
		i++;
	}
	if (i == s->losses && i < LOSSES_MAX) {
		s->loss[s->losses++] = (struct kernel_loss){.hook = name, .cpu = cpu};
	}
	if (i < s->losses) {
		s->loss[i].count += count;
	}
	for (i = 0; i < BASE_ARRAY_LEN(source_hooks); i++) {
		if (source_hooks[i].ours == hook) {
			kernel_lost(s->k, source_hooks[i].windows[0], cpu, name ? name : "?", count);
			return;
		}
	}
}

void kernel_tracepoints_losses(struct kernel_tracepoints *s, bool now_at_last)
{
	uint64_t now = clock_read_system_ns();
	if (s->bpf && (now_at_last || now - s->looked >= LOSS_LOOK_NS)) {
		s->looked = now;
		kernel_bpf_losses(s->bpf, on_loss, s);
	}
}

size_t kernel_tracepoints_loss_list(const struct kernel_tracepoints *s, struct kernel_loss *ret, size_t cap)
{
	size_t n = BASE_MIN(s->losses, cap);
	memcpy(ret, s->loss, n * sizeof *ret);
	return n;
}

bool kernel_tracepoints_serves(const struct kernel_tracepoints *s, unsigned hook)
{
	return s->bpf && kernel_bpf_serves(s->bpf, hook);
}

void kernel_tracepoints_forked(struct kernel_tracepoints *s, uint32_t parent, uint32_t pid)
{
	if (s->bpf) {
		kernel_bpf_forked(s->bpf, parent, pid);
	}
}

void kernel_tracepoints_ended(struct kernel_tracepoints *s, uint32_t pid)
{
	if (s->bpf) {
		kernel_bpf_ended(s->bpf, pid);
	}
}

bool kernel_tracepoints_make(const struct kernel_tracepoints *s, uint16_t windows)
{
	for (size_t i = 0; s->bpf && i < BASE_ARRAY_LEN(source_hooks); i++) {
		const struct source_hook *h = &source_hooks[i];
		for (size_t n = 0; n < BASE_ARRAY_LEN(h->windows) && h->windows[n]; n++) {
			if (h->windows[n] == windows && kernel_bpf_serves(s->bpf, h->ours)) {
				return true;
			}
		}
	}
	return false;
}

bool kernel_tracepoints_tells(const struct kernel_tracepoints *s, unsigned hook, uint64_t time)
{
	return s->since[hook] != 0 && time >= s->since[hook];
}

const char *kernel_tracepoints_missing(const struct kernel_tracepoints *s)
{
	return s->must ? s->missing : "";
}
