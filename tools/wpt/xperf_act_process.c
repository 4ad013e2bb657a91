/* SPDX-License-Identifier: MIT
 * The action process: who ran, with threads, images and memory, as a list or a tree.
 */
#include "tools/wpt/xperf_action.h"
#include "base/vec.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>

#define DEEP 64

struct life {
	double from, to; /* < 0: before the trace; HUGE: after it */
	uint64_t key, base, size;
	uint32_t pid, tid, parent, session;
	char *name, *command, *sid; /* of a process; name also of an image */
};
struct lives {
	struct life *list;
	size_t count, cap;
};
struct process {
	bool thread, image, vm, tree, sid, command;
	struct lives processes, threads, images, ranges;
	/* The last life with an id, for its end: index + 1, by a hash of process, id and kind. */
	struct xperf_sums last;
};

static bool begin(struct xperf_job *j)
{
	struct process *p = j->own;
	if (p->tree && (p->thread || p->image || p->vm)) {
		cli_usage(j->a, "-tree shows processes only");
		return false;
	}
	return true;
}

static struct life *add(struct xperf_job *j, struct lives *l)
{
	if (!VEC_ROOM(l->list, l->count, l->cap)) {
		j->failed = true;
		return NULL;
	}
	l->list[l->count] = (struct life){.to = -1};
	return &l->list[l->count++];
}

/* The place that remembers the last life of this kind, process and id. */
static struct xperf_sum *place(struct xperf_job *j, char kind, uint64_t pid, uint64_t id)
{
	struct process *p = j->own;
	char key[64];
	snprintf(key, sizeof key, "%c%llx:%llx", kind, (unsigned long long)pid, (unsigned long long)id);
	return xperf_sum(j, &p->last, key);
}

static char *copy(struct xperf_job *j, const char *s)
{
	char *c = strdup(s);
	j->failed = j->failed || !c;
	return c;
}

/* Begins or ends a life. The record of an end tells of one whose beginning was not recorded, too. NULL: it is an end
 * of what is known. */
static struct life *note(struct xperf_job *j, struct lives *l, char kind, uint64_t pid, uint64_t id, bool starts,
			 bool ends)
{
	struct xperf_sum *s = place(j, kind, pid, id);
	if (!s) {
		return NULL;
	}
	struct life *x = s->tag && !starts ? &l->list[s->tag - 1] : NULL;
	bool fresh = !x || (x->to >= 0 && ends);
	if (fresh) {
		x = add(j, l);
		if (!x) {
			return NULL;
		}
		s->tag = l->count;
		x->from = starts ? j->us : -1;
	}
	if (ends) {
		x->to = j->us;
	}
	return fresh ? x : NULL;
}

static void event(struct xperf_job *j)
{
	struct process *p = j->own;
	const char *what = strchr(j->name, '/');
	what = what ? what + 1 : "";
	bool starts = strcmp(what, "Start") == 0 || strcmp(what, "Load") == 0 || strcmp(what, "VirtualAlloc") == 0;
	bool ends = strcmp(what, "End") == 0 || strcmp(what, "UnLoad") == 0 || strcmp(what, "VirtualFree") == 0;
	uint32_t pid = (uint32_t)xperf_number(j, "ProcessId");
	if (strncmp(j->name, "Process/", 8) == 0) {
		struct life *x = note(j, &p->processes, 'p', pid, 0, starts, ends);
		if (x) {
			x->pid = pid;
			x->parent = (uint32_t)xperf_number(j, "ParentId");
			x->session = (uint32_t)xperf_number(j, "SessionId");
			x->key = xperf_number(j, "UniqueProcessKey");
			x->name = copy(j, xperf_text(j, "ImageFileName"));
			x->command = copy(j, xperf_text(j, "CommandLine"));
			x->sid = copy(j, xperf_text(j, "UserSID"));
		}
	} else if (p->thread && strncmp(j->name, "Thread/", 7) == 0) {
		uint32_t tid = (uint32_t)xperf_number(j, "TThreadId");
		struct life *x = note(j, &p->threads, 't', pid, tid, starts, ends);
		if (x) {
			x->pid = pid;
			x->tid = tid;
			x->base = xperf_number(j, "Win32StartAddr");
			strbuf_clear(&j->key);
			xperf_symbol_cell(&j->key, j->state, pid, x->base, j->time);
			x->name = copy(j, j->key.s ? j->key.s : "");
		}
	} else if (p->image && strncmp(j->name, "Image/", 6) == 0) {
		uint64_t base = xperf_number(j, "ImageBase");
		struct life *x = note(j, &p->images, 'i', pid, base, starts, ends);
		if (x) {
			x->pid = pid;
			x->base = base;
			x->size = xperf_number(j, "ImageSize");
			x->name = copy(j, xperf_text(j, "FileName"));
		}
	} else if (p->vm && strncmp(j->name, "PageFault/Virtual", 17) == 0) {
		uint64_t base = xperf_number(j, "BaseAddress");
		struct life *x = note(j, &p->ranges, 'v', pid, base, starts, ends);
		if (x) {
			x->pid = pid;
			x->base = base;
			x->size = xperf_number(j, "RegionSize");
			x->key = strtoull(xperf_text(j, "Flags"), NULL, 0);
			x->name = copy(j, xperf_text(j, "Flags"));
		}
	}
}

static void times(const struct life *x, char from[24], char to[24])
{
	snprintf(from, 24, "%.0f", x->from);
	snprintf(to, 24, "%.0f", x->to);
	if (x->from < 0) {
		memcpy(from, "MIN", 4);
	}
	if (x->to < 0) {
		memcpy(to, "MAX", 4);
	}
}

static bool in_range(const struct xperf_job *j, const struct life *x)
{
	return !j->ranged || ((x->to < 0 || x->to >= j->from_us) && x->from <= j->to_us);
}

static void process_cell(struct xperf_job *j, uint32_t pid)
{
	struct process *p = j->own;
	struct xperf_sum *s = place(j, 'p', pid, 0);
	strbuf_clear(&j->key);
	xperf_process_cell(&j->key, s && s->tag ? p->processes.list[s->tag - 1].name : NULL, pid);
}

static void print_processes(struct xperf_job *j)
{
	struct process *p = j->own;
	char from[24], to[24];
	fprintf(j->out,
		"     Start,        End,  Process,            DataPtr,     Process Name ( PID),"
		"  ParentPID,  SessionID,          UniqueKey%s%s\n",
		p->sid ? ", UserSid" : "", p->command ? ", Command Line" : "");
	for (size_t i = 0; i < p->processes.count && !j->failed; i++) {
		const struct life *x = &p->processes.list[i];
		if (!in_range(j, x)) {
			continue;
		}
		times(x, from, to);
		strbuf_clear(&j->key);
		xperf_process_cell(&j->key, x->name, x->pid);
		fprintf(j->out, "%10s, %10s,  Process, 0x%016llx, %s, %10u, %10d, 0x%016llx", from, to,
			(unsigned long long)x->key, j->key.s, x->parent, (int)x->session, (unsigned long long)x->key);
		if (p->sid) {
			fprintf(j->out, ", %s", x->sid && *x->sid ? x->sid : "-");
		}
		fprintf(j->out, "%s%s\n", p->command ? ", " : "", p->command && x->command ? x->command : "");
	}
}

static void print_others(struct xperf_job *j)
{
	struct process *p = j->own;
	char from[24], to[24];
	if (p->thread) {
		fprintf(j->out, "     Start,        End,   Thread,     Process Name ( PID),   ThreadID, "
				"ThreadStartImage!Function\n");
	}
	for (size_t i = 0; i < p->threads.count && !j->failed; i++) {
		const struct life *x = &p->threads.list[i];
		if (in_range(j, x)) {
			times(x, from, to);
			process_cell(j, x->pid);
			fprintf(j->out, "%10s, %10s,   Thread, %s, %10u, %s\n", from, to, j->key.s ? j->key.s : "",
				x->tid, x->name);
		}
	}
	if (p->image) {
		fprintf(j->out, "     Start,        End,    Image,     Process Name ( PID),           BaseAddr,        "
				"    EndAddr, "
				" ImageSize, FileName\n");
	}
	for (size_t i = 0; i < p->images.count && !j->failed; i++) {
		const struct life *x = &p->images.list[i];
		if (in_range(j, x)) {
			times(x, from, to);
			process_cell(j, x->pid);
			fprintf(j->out, "%10s, %10s,    Image, %s, 0x%016llx, 0x%016llx, 0x%08llx, ", from, to,
				j->key.s ? j->key.s : "", (unsigned long long)x->base,
				(unsigned long long)(x->base + x->size), (unsigned long long)x->size);
			strbuf_clear(&j->key);
			xperf_quote(&j->key, x->name ? x->name : "");
			fprintf(j->out, "%s\n", j->key.s ? j->key.s : "");
		}
	}
	if (p->vm) {
		fprintf(j->out, "     Start,        End,       VM,     Process Name ( PID),           BaseAddr,        "
				"    EndAddr, "
				"      Size, Flags\n");
	}
	for (size_t i = 0; i < p->ranges.count && !j->failed; i++) {
		const struct life *x = &p->ranges.list[i];
		if (in_range(j, x)) {
			times(x, from, to);
			process_cell(j, x->pid);
			fprintf(j->out, "%10s, %10s,       VM, %s, 0x%016llx, 0x%016llx, %10llu, %s\n", from, to,
				j->key.s ? j->key.s : "", (unsigned long long)x->base,
				(unsigned long long)(x->base + x->size), (unsigned long long)x->size,
				x->name ? x->name : "");
		}
	}
}

/* Children in the order of their records below who started them. `parent` counts from 0; SIZE_MAX: nobody known. */
static void print_tree(struct xperf_job *j)
{
	struct process *p = j->own;
	size_t n = p->processes.count;
	size_t *first = malloc((n + 1) * sizeof *first), *next = malloc((n + 1) * sizeof *next),
	       *stack = malloc((n + 1) * sizeof *stack);
	unsigned *depth = calloc(n + 1, sizeof *depth);
	if (!first || !next || !stack || !depth) {
		j->failed = true;
		n = 0;
	}
	for (size_t i = 0; i <= n && !j->failed; i++) {
		first[i] = next[i] = SIZE_MAX;
	}
	for (size_t i = n; i-- > 0;) {
		const struct life *x = &p->processes.list[i];
		size_t parent = n;
		struct xperf_sum *s = x->parent != x->pid ? place(j, 'p', x->parent, 0) : NULL;
		/* A parent that began after its child has only the same number. */
		if (s && s->tag && s->tag - 1 != i && p->processes.list[s->tag - 1].from <= x->from) {
			parent = s->tag - 1;
		}
		/* Two that began before the trace could name each other. */
		for (size_t up = parent, steps = 0; up != n && parent != n; steps++) {
			struct xperf_sum *u = place(j, 'p', p->processes.list[up].parent, 0);
			up = u && u->tag ? u->tag - 1 : n;
			if (up == i || steps > DEEP) {
				parent = n;
			}
			if (up != n && p->processes.list[up].pid == p->processes.list[up].parent) {
				break;
			}
		}
		next[i] = first[parent];
		first[parent] = i;
	}
	fprintf(j->out, "     Start,        End, Process Name ( PID)%s\n", p->command ? ", Command Line" : "");
	size_t top = 0;
	if (n && first[n] != SIZE_MAX) {
		stack[top++] = first[n];
	}
	while (top > 0 && !j->failed) {
		size_t i = stack[--top];
		const struct life *x = &p->processes.list[i];
		char from[24], to[24];
		if (next[i] != SIZE_MAX) {
			stack[top++] = next[i];
			depth[next[i]] = depth[i];
		}
		if (first[i] != SIZE_MAX) {
			stack[top++] = first[i];
			depth[first[i]] = depth[i] + 1;
		}
		if (!in_range(j, x)) {
			continue;
		}
		times(x, from, to);
		fprintf(j->out, "%10s, %10s, %*s%s (%4u)%s%s\n", from, to, (int)(2 * BASE_MIN(depth[i], DEEP)), "",
			x->name && *x->name ? x->name : "Unknown", x->pid, p->command ? ", " : "",
			p->command && x->command ? x->command : "");
	}
	free(first);
	free(next);
	free(stack);
	free(depth);
}

static void end(struct xperf_job *j)
{
	struct process *p = j->own;
	if (p->tree) {
		print_tree(j);
		return;
	}
	print_processes(j);
	print_others(j);
}

static void drop(struct lives *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->list[i].name);
		free(l->list[i].command);
		free(l->list[i].sid);
	}
	free(l->list);
}

static void release(struct xperf_job *j)
{
	struct process *p = j->own;
	drop(&p->processes);
	drop(&p->threads);
	drop(&p->images);
	drop(&p->ranges);
	xperf_sums_finish(&p->last);
}

static const struct cli_option options[] = {
	CLI_FLAG(process, thread, 0, "thread", "their threads too"),
	CLI_FLAG(process, image, 0, "image", "their images too"),
	CLI_FLAG(process, vm, 0, "vm", "memory that they allocated and freed too"),
	CLI_FLAG(process, tree, 0, "tree", "who started whom"),
	CLI_FLAG(process, sid, 0, "withsid", "with the user"),
	CLI_FLAG(process, sid, 0, "withsids", NULL),
	CLI_FLAG(process, command, 0, "withcmdline", "with command lines"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_process_actions[] = {
	{.name = "process",
	 .summary = "processes with their times, threads, images and memory",
	 .options = options,
	 .events = "Process/Start Process/End Process/DCStart Process/DCEnd Thread/Start Thread/End Thread/DCStart "
		   "Thread/DCEnd Image/Load Image/UnLoad Image/DCStart Image/DCEnd PageFault/VirtualAlloc "
		   "PageFault/VirtualFree",
	 .source = "PROC_THREAD+LOADER",
	 .own = sizeof(struct process),
	 .own_range = true,
	 .begin = begin,
	 .event = event,
	 .end = end,
	 .release = release},
	{0},
};
