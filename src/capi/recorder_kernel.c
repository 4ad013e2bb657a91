/* SPDX-License-Identifier: MIT
 *
 * Names are those of xperf (format/kernel_mask.h). EnableFlags have bits for few of the kernel's events: all of them
 * stand in an item behind the properties, and the processes in another.
 */
#include "capi/recorder_kernel.h"

#include "evntcons.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define ITEM_MASKS 1u
#define ITEM_PIDS  2u
#define EXTENDED   0x80FF0000u /* EnableFlags: the offset of items */
#define MASK_WORDS 8u

static bool BASE_PRINTF(3, 4) wrong(char *why, size_t cap, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, cap, fmt, ap);
	va_end(ap);
	return false;
}

static void add_group(struct recorder_kernel *k, const char *flags)
{
	for (const char *s = flags; *s;) {
		size_t n = strcspn(s, "+");
		const struct kernel_flag *f = kernel_flag_find(s, n);
		if (f && !f->none[0]) {
			kernel_mask_set(&k->mask, f->bits);
		}
		s += n + (s[n] == '+');
	}
}

bool recorder_kernel_flags(struct recorder_kernel *k, const char *names, char *why, size_t cap)
{
	const char *s = names;
	if (!*s) {
		return wrong(why, cap, "no kernel flag is named");
	}
	do {
		s += *s == '+';
		size_t n = strcspn(s, "+");
		const struct kernel_flag *f = kernel_flag_find(s, n);
		const struct kernel_group *g = f ? NULL : kernel_group_find(s, n);
		if (!f && !g) {
			return wrong(why, cap, "'%.*s' is neither a kernel flag nor a group of them",
				     (int)BASE_MIN(n, (size_t)100), s);
		}
		if (f && f->none[0]) {
			return wrong(why, cap, "kernel flag %s: %s", f->name, f->none);
		}
		if (f) {
			kernel_mask_set(&k->mask, f->bits);
		} else {
			add_group(k, g->flags);
		}
		s += n;
	} while (*s);
	return true;
}

bool recorder_kernel_stacks(struct recorder_kernel *k, const char *names, char *why, size_t cap)
{
	const char *s = names;
	do {
		s += *s == '+';
		size_t n = strcspn(s, "+");
		uint16_t hook;
		if (!kernel_stack_find(s, n, &hook)) {
			return wrong(why, cap, "'%.*s' is no kernel event that can have stacks",
				     (int)BASE_MIN(n, (size_t)100), s);
		}
		uint32_t i = 0;
		while (i < k->stacks && k->stack[i] != hook) {
			i++;
		}
		if (i == KERNEL_STACKS_MAX) {
			return wrong(why, cap, "stacks of more than %u kernel events", KERNEL_STACKS_MAX);
		}
		k->stack[i] = hook;
		k->stacks += i == k->stacks;
		s += n;
	} while (*s);
	return true;
}

bool recorder_kernel_bits(struct recorder_kernel *k, uint32_t flags, char *why, size_t cap)
{
	struct kernel_mask m;
	if (flags & EVENT_TRACE_FLAG_EXTENSION) {
		return wrong(why, cap, "kernel flags 0x%x: EVENT_TRACE_FLAG_EXTENSION is no kind of event", flags);
	}
	memset(&m, 0, sizeof m);
	kernel_mask_from_flags(flags, &m);
	const struct kernel_flag *f = kernel_mask_refused(&m);
	if (f) {
		return wrong(why, cap, "kernel flag %s: %s", f->name, f->none);
	}
	kernel_mask_add(&k->mask, &m);
	return true;
}

bool recorder_kernel_is_trace(const char *provider)
{
	struct guid g;
	return strcasecmp(provider, "Windows Kernel Trace") == 0 ||
	       (guid_parse(provider, &g) == 0 && guid_equal(&g, &kernel_trace_control_guid));
}

bool recorder_kernel_is_system_provider(const char *provider, GUID *ret)
{
	struct guid g;
	if (guid_parse(provider, &g) < 0 && !kernel_provider_find(provider, &g)) {
		return false;
	}
	memcpy(ret, g.b, sizeof g.b);
	return kernel_provider_name(&g) != NULL;
}

bool recorder_kernel_name(const char *session)
{
	return strcasecmp(session, KERNEL_LOGGER_NAMEA) == 0;
}

void recorder_kernel_fill(const struct recorder_kernel *k, const ULONG *pids, uint32_t pid_count,
			  EVENT_TRACE_PROPERTIES *p, struct recorder_kernel_tail *tail)
{
	p->EnableFlags = EXTENDED | (ULONG)((uint8_t *)tail->head - (uint8_t *)p);
	tail->masks_item[0] = 1 + MASK_WORDS; /* in words of 4 bytes */
	tail->masks_item[1] = ITEM_MASKS;
	memcpy(tail->masks, k->mask.word, sizeof tail->masks);
	tail->pids_item[0] = (USHORT)(1 + pid_count);
	tail->pids_item[1] = ITEM_PIDS;
	memcpy(tail->pids, pids, pid_count * sizeof *pids);
	tail->head[0] = (USHORT)(1 + (1 + MASK_WORDS) + (1 + pid_count));
	tail->head[1] = 2;
}
_Static_assert(sizeof(((struct kernel_mask *)0)->word) == 4 * MASK_WORDS, "all of it");

uint32_t recorder_kernel_set_stacks(const struct recorder_kernel *k, TRACEHANDLE session)
{
	CLASSIC_EVENT_ID *id = k->stacks ? calloc(k->stacks, sizeof *id) : NULL;
	if (!id) {
		return k->stacks ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
	}
	for (uint32_t i = 0; i < k->stacks; i++) {
		struct guid g = {0};
		kernel_class_of_hook(k->stack[i], &g);
		memcpy(&id[i].EventGuid, g.b, sizeof g.b);
		id[i].Type = (UCHAR)k->stack[i];
	}
	uint32_t code = TraceSetInformation(session, TraceStackTracingInfo, id, (ULONG)(k->stacks * sizeof *id));
	free(id);
	return code;
}
