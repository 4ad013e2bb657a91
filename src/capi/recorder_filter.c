/* SPDX-License-Identifier: MIT */
#include "capi/recorder_filter.h"

#include "filter/filter_compile.h"
#include "schema/schema_filter.h"

static bool put(void *ctx, uint32_t type, const uint8_t *bytes, size_t n)
{
	struct recorder_filter *f = ctx;
	if (f->count == RECORDER_FILTERS_MAX || n > sizeof f->bytes[0]) {
		return false;
	}
	memcpy(f->bytes[f->count], bytes, n);
	f->d[f->count] = (EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(uintptr_t)f->bytes[f->count], (ULONG)n, type};
	f->count++;
	return true;
}

int recorder_filter_make(const char *text, const GUID *provider, struct recorder_filter *ret, struct diag *d)
{
	struct guid g;
	memcpy(g.b, provider, sizeof g.b);
	ret->count = 0;
	return filter_text_each(text, &g, false, schema_filter_manifest, put, ret, d);
}
