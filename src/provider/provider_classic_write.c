/* SPDX-License-Identifier: MIT
 *
 * Classic events carry neither provider nor keyword: whoever enabled the provider gets everything
 * that is written to their handle. The test of level and flags is the provider's own.
 */
#include "provider/provider_classic_write.h"
#include "inproc/inproc.h"
#include "provider/provider_classic.h"

static bool target_of(const struct provider_classic_target *t, const struct ctl_entry **ret_entry, const void **ret_ctl,
		      uint32_t *ret_bytes, struct pool_writer **ret_writer)
{
	const struct ctl_entry *e = order_load_acquire(&provider_memory.hot[t->index].all[t->dest]);
	if (!e || e == &provider_entry_off) {
		return false;
	}
	if (t->dest == PROVIDER_DEST_INPROC) {
		struct inproc_destination *d = inproc_destination();
		if (!d) {
			return false;
		}
		*ret_ctl = d->ctl;
		*ret_bytes = ((const struct ctl_header *)d->ctl)->size;
		*ret_writer = d->writer;
	} else {
		struct provider_link *link = provider_link_of(e);
		*ret_ctl = provider_ctl_of(e);
		*ret_bytes = link->ctl_bytes;
		*ret_writer = link->writer;
	}
	*ret_entry = e;
	return order_load_relaxed(&e->enabled) != 0;
}

uint32_t provider_classic_write(uint64_t handle, const struct provider_classic_event *ev)
{
	struct provider_classic_target t;
	const struct ctl_entry *e;
	const void *ctl;
	uint32_t ctl_bytes, rows;
	struct pool_writer *writer;
	if (handle == 0 || (handle & 0xFFFF) == PROVIDER_KERNEL_LOGGER_ID || !provider_classic_find(handle, &t) ||
	    !target_of(&t, &e, &ctl, &ctl_bytes, &writer)) {
		return ERROR_INVALID_HANDLE;
	}
	const struct filter_table *table = provider_rows(e, ctl, ctl_bytes, &rows);
	uint64_t mask = 0;
	for (uint32_t i = 0; table && i < rows; i++) {
		mask |= 1ull << (order_load_relaxed(&table->row[i].bit) & 63);
	}
	if (mask == 0) {
		return ERROR_INVALID_HANDLE;
	}
	uint32_t total = 0;
	for (uint32_t i = 0; i < ev->count; i++) {
		uint32_t n = ev->piece[i].size;
		if (n > PROVIDER_EVENT_ROOM || (total += n) > PROVIDER_EVENT_ROOM) {
			pool_count_lost(writer, mask, POOL_LOST_TOO_BIG);
			return ERROR_MORE_DATA;
		}
	}
	struct pool_write_args args = {
		.kind = ev->kind,
		.prov = (uint16_t)t.index,
		.cfg_gen = (uint16_t)order_load_relaxed(&table->gen),
		.tid = provider_tid(),
		.mask = mask,
		.descriptor = ev->descriptor,
		.piece = ev->piece,
		.piece_count = ev->count,
		.payload_bytes = total,
		.timestamp = ev->timestamp,
	};
	return provider_code_of(pool_write_slow(writer, &args));
}
