/* SPDX-License-Identifier: MIT
 * Filters of a recorder's providers: the text, as what EnableTraceEx2 takes.
 */
#ifndef CAPI_RECORDER_FILTER_H
#define CAPI_RECORDER_FILTER_H

#include "base/base.h"
#include "evntrace.h"

#define RECORDER_FILTERS_MAX 3u

struct recorder_filter {
	EVENT_FILTER_DESCRIPTOR d[RECORDER_FILTERS_MAX + 1]; /* one more is for the caller */
	ULONG count;
	uint8_t bytes[RECORDER_FILTERS_MAX][4096];
};
/* -EINVAL: *d says why, and in which column. */
int recorder_filter_make(const char *text, const GUID *provider, struct recorder_filter *ret, struct diag *d);

#endif
