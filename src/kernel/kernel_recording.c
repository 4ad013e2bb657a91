/* SPDX-License-Identifier: MIT
 *
 * What a recording says of itself: of which processes it has everything. Of a switch between a thread that is watched
 * and one that is not both are in the record, so that the other one seems to sleep while it runs unseen; readers must
 * know of whom they may tell.
 */
#include "kernel/kernel_private.h"

#include "kernel_payload.h"

/* OpenETW.Recording, event 1: ProcessFilter */
static const struct guid recording = GUID_INIT(KP_OPEN_ETW_RECORDING_GUID);
static const uint8_t process_filter[16] = {1, 0, 0, 0, 4, 0, 0, 0};

#define PIDS_MAX 1000u /* fits the smallest buffers */

struct list {
	uint64_t session;
	uint32_t count;
	uint8_t payload[8 + 4 * PIDS_MAX];
};

static void add(struct list *l, uint32_t pid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (le32_get(l->payload + 8 + 4 * i) == pid) {
			return;
		}
	}
	if (l->count < PIDS_MAX) {
		le32_put(l->payload + 8 + 4 * l->count++, pid);
	}
}

static void add_watched(void *ctx, const struct kernel_thread *t)
{
	struct list *l = ctx;
	if (t->watchers & l->session) {
		add(l, t->pid);
	}
}

/* Those that were named, and those of their children that are there: of these a ring may not know any more that they
 * began later. */
void kernel_emit_filter(struct kernel *k, uint32_t slot)
{
	const struct kernel_session *s = &k->slot[slot].want;
	struct list l = {.session = 1ull << slot};
	for (uint32_t i = 0; i < s->pids; i++) {
		add(&l, s->pid[i]);
	}
	if (s->pids) {
		kernel_table_each(k->threads, add_watched, &l);
	}
	le32_put(l.payload, s->children);
	le32_put(l.payload + 4, l.count);
	kernel_out_event(k, l.session, &recording, process_filter, k->self[0], l.payload, 8 + 4 * l.count);
}
