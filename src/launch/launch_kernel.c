/* SPDX-License-Identifier: MIT
 *
 * EnableFlags have bits for few of the kernel's events: all of them stand in an item behind the properties, and the
 * processes in another.
 */
#include "launch/launch_private.h"

#include <strings.h>

#define ITEM_MASKS 1u
#define ITEM_PIDS  2u
#define EXTENDED   0x80FF0000u /* EnableFlags: the offset of items */

struct extended {
	struct launch_props props;
	USHORT head[2];
	USHORT masks_item[2]; /* words of 4 bytes, type */
	ULONG masks[KERNEL_MASK_WORDS];
	USHORT pids_item[2];
	ULONG pids[BASE_ARRAY_LEN(((struct session_kernel *)0)->pid)];
};

bool launch_is_kernel_name(const char *name)
{
	return strcasecmp(name, KERNEL_LOGGER_NAMEA) == 0 || strcasecmp(name, "Circular Kernel Context Logger") == 0;
}

struct kernel_mask launch_kernel_mask(const struct etw_session *s)
{
	struct kernel_mask all = s->kernel.mask, m;
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (session_provider_is_kernel(&s->provider[i])) {
			kernel_mask_from_flags((uint32_t)s->provider[i].any, &m);
			kernel_mask_add(&all, &m);
		}
	}
	return all;
}

static uint32_t set_stacks(TRACEHANDLE h, const struct session_kernel *k)
{
	CLASSIC_EVENT_ID id[KERNEL_STACKS_MAX];
	struct guid g;
	memset(id, 0, sizeof id);
	for (uint32_t i = 0; i < k->stacks; i++) {
		if (!kernel_class_of_hook(k->stack[i], &g)) {
			return ERROR_INVALID_PARAMETER;
		}
		memcpy(&id[i].EventGuid, g.b, sizeof g.b);
		id[i].Type = (UCHAR)k->stack[i];
	}
	return k->stacks ? TraceSetInformation(h, TraceStackTracingInfo, id, (ULONG)(k->stacks * sizeof *id))
			 : ERROR_SUCCESS;
}

uint32_t launch_kernel_start(const struct etw_session *s, const struct session_kernel *k, const struct launch_how *how,
			     struct launch_run *r)
{
	struct extended e = {.props = r->props};
	EVENT_TRACE_PROPERTIES *p = &e.props.p;
	if (!launch_is_kernel_name(s->name)) {
		p->LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	}
	p->Wnode.BufferSize = sizeof e;
	p->EnableFlags = EXTENDED | (ULONG)offsetof(struct extended, head);
	e.masks_item[0] = 1 + KERNEL_MASK_WORDS;
	e.masks_item[1] = ITEM_MASKS;
	memcpy(e.masks, k->mask.word, sizeof e.masks);
	e.pids_item[0] = (USHORT)(1 + k->pids);
	e.pids_item[1] = ITEM_PIDS;
	memcpy(e.pids, k->pid, sizeof e.pids);
	e.head[0] = (USHORT)(1 + e.masks_item[0] + e.pids_item[0]);
	e.head[1] = 2;
	uint32_t code = how->start(&r->handle, s->name, p);
	if (code == ERROR_SUCCESS) {
		r->props = e.props;
		r->props.p.Wnode.BufferSize = sizeof r->props;
		r->step = LAUNCH_STACKS;
		code = set_stacks(r->handle, k);
	}
	return code;
}
