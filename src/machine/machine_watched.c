/* SPDX-License-Identifier: MIT
 *
 * Event 1 of OpenETW.Recording: whether children are watched as well (u32), then a count (u32) and so many process ids
 * (u32): a session for some processes says it when it begins, when that changes, and when it ends, for its beginning
 * may be overwritten by then.
 */
#include "machine/machine_watched.h"
#include "base/vec.h"
#include "machine/machine_payload.h"

#include <stdlib.h>

#define PIDS_MAX      4096u
#define FILTERS_MAX   1024u
#define ANCESTORS_MAX 64u /* a chain that is longer goes round */

struct machine_filter {
	uint64_t time;
	bool children;
	uint32_t count, *pid;
};

static const struct guid recording = GUID_INIT(KP_OPEN_ETW_RECORDING_GUID);

void machine_filters_add(struct machine_filters *x, const struct etl_record *r)
{
	struct kernel_payload in = payload_of(r);
	struct bytes b = kernel_payload_from(in, KP_OPEN_ETW_RECORDING_PROCESS_FILTER_SINCE_V0_PROCESSES);
	if (r->id != KP_OPEN_ETW_RECORDING_PROCESS_FILTER || !guid_equal(&r->provider, &recording) ||
	    x->count == FILTERS_MAX) {
		return;
	}
	struct machine_filter f = {
		.time = r->time_filetime,
		.children = kernel_payload_get(in, KP_OPEN_ETW_RECORDING_PROCESS_FILTER_SINCE_V0_CHILDREN) != 0,
		.count = kernel_payload_get32(in, KP_OPEN_ETW_RECORDING_PROCESS_FILTER_SINCE_V0_COUNT)};
	if (f.count > PIDS_MAX || bytes_left(&b) < 4 * (size_t)f.count) {
		return;
	}
	if (!VEC_ROOM(x->list, x->count, x->cap)) {
		return;
	}
	f.pid = malloc((f.count + 1) * sizeof *f.pid);
	if (!f.pid) {
		return;
	}
	for (uint32_t i = 0; i < f.count; i++) {
		f.pid[i] = bytes_u32(&b);
	}
	x->list[x->count++] = f;
}

static bool names(const struct machine_filter *f, uint32_t pid)
{
	for (uint32_t i = 0; i < f->count; i++) {
		if (f->pid[i] == pid) {
			return true;
		}
	}
	return f->count == 0;
}

bool machine_filters_watch(const struct machine_filters *x, const struct machine *s, uint32_t pid, uint64_t time)
{
	/* The one in force then; of what is older than the first one that is left, that one. */
	const struct machine_filter *f = x->count ? &x->list[0] : NULL;
	for (uint32_t i = 1; i < x->count && x->list[i].time <= time; i++) {
		f = &x->list[i];
	}
	for (uint32_t n = 0; f && n < ANCESTORS_MAX; n++) {
		const struct machine_process *p;
		if (names(f, pid)) {
			return true;
		}
		p = f->children ? machine_process_at(s, pid, time) : NULL;
		if (!p || p->parent == pid || p->start_time == 0) {
			return false; /* what ran before is nobody's child */
		}
		pid = p->parent;
		time = p->start_time;
	}
	return !f;
}

void machine_filters_free(struct machine_filters *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		free(x->list[i].pid);
	}
	free(x->list);
}
