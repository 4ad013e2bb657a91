/* SPDX-License-Identifier: MIT
 *
 * Making a segment ready, from the drain's side.
 */
#include "pool/pool.h"
#include "base/order.h"

void pool_segment_init(void *mem, uint32_t chunk_size, const uint8_t pool_id[16])
{
	struct seg_header *h = (struct seg_header *)mem;
	h->abi_major = POOL_ABI_MAJOR;
	h->abi_minor = POOL_ABI_MINOR;
	h->chunk_size = chunk_size;
	h->chunk_count = POOL_CHUNKS;
	memcpy(h->pool_id, pool_id, sizeof h->pool_id);
	order_store_release(&h->magic, POOL_SEG_MAGIC);
	order_store_relaxed(&h->armed, 1u);
	/* From here on writers claim. The lost counters stay: a process that mapped the segment
	 * before it was ready may have counted already. */
	order_or_release(&h->free_mask, UINT64_MAX);
}
