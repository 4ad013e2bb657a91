/* SPDX-License-Identifier: MIT
 *
 * Names are those of xperf (format/kernel_mask.h).
 */
#include "capi/recorder_kernel.h"

#include "evntcons.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool BASE_PRINTF(3, 4) wrong(char *why, size_t cap, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, cap, fmt, ap);
	va_end(ap);
	return false;
}

static void add_group(struct session_kernel *k, const char *flags)
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

bool recorder_kernel_flags(struct session_kernel *k, const char *names, char *why, size_t cap)
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

bool recorder_kernel_stacks(struct session_kernel *k, const char *names, char *why, size_t cap)
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

bool recorder_kernel_bits(struct session_kernel *k, uint32_t flags, char *why, size_t cap)
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

bool recorder_kernel_is_system_provider(const char *provider, struct guid *ret)
{
	return (guid_parse(provider, ret) == 0 || kernel_provider_find(provider, ret)) &&
	       kernel_provider_name(ret) != NULL;
}
