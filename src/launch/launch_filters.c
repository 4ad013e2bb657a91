/* SPDX-License-Identifier: MIT */
#include "launch/launch.h"

#include <stdlib.h>

void launch_filters_init(struct launch_filters *f)
{
	memset(f, 0, sizeof *f);
}

void launch_filters_finish(struct launch_filters *f)
{
	for (ULONG i = 0; i < f->count; i++) {
		free(f->memory[i]);
	}
	f->count = 0;
}

bool launch_filters_put(struct launch_filters *f, uint32_t type, const void *p, size_t n)
{
	void *copy = f->count < MAX_EVENT_FILTERS_COUNT ? malloc(n) : NULL;
	if (!copy) {
		return false;
	}
	memcpy(copy, p, n);
	f->memory[f->count] = copy;
	f->d[f->count++] = (EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(uintptr_t)copy, (ULONG)n, type};
	return true;
}

bool launch_filters_add(struct launch_filters *f, enum session_filter kind, const char *text, struct diag *d)
{
	uint8_t bytes[SESSION_FILTER_BYTES];
	size_t n;
	if (session_filter_make(kind, text, bytes, &n, d) < 0) {
		return false;
	}
	f->stack |= session_filter_is_stack(kind);
	if (!launch_filters_put(f, session_filter_type(kind), bytes, n)) {
		diag_at(d, UINT64_MAX, "needs more memory than there is");
		return false;
	}
	return true;
}
