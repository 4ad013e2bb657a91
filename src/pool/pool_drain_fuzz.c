/* SPDX-License-Identifier: MIT
 *
 * A raw segment image is drained: no crash, no hang, bounded memory, and what comes out is inside
 * the private copy. The input is: free_mask[8] | 64 x { word[8], begun[8], span[4] } | records,
 * all optional. Records are repeated over the data area, so that a short input reaches every chunk.
 */
#include "pool/pool_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t cpu_last[65536];
static uint32_t cpu_round[65536]; /* in which round cpu_last was set */
static uint32_t round_number;
static uint64_t emitted;
static volatile uint8_t sink;

static void touch(void *ctx, const struct pool_event *ev)
{
	uint16_t cpu = ev->rec->cpu;
	uint64_t last = cpu_round[cpu] == round_number ? cpu_last[cpu] : 0;
	if (ev->rec->ts < last || ev->payload_bytes > POOL_EVENT_MAX || ev->rec->prov >= 8 ||
	    ev->items_bytes % 8 != 0) {
		abort();
	}
	cpu_last[cpu] = ev->rec->ts;
	cpu_round[cpu] = round_number;
	uint8_t x = 0;
	for (uint32_t i = 0; i < ev->payload_bytes; i++) {
		x ^= ev->payload[i];
	}
	for (uint32_t i = 0; i < ev->items_bytes; i++) {
		x ^= ev->items[i];
	}
	x ^= ev->activity ? ev->activity[15] : 0;
	sink = x;
	emitted++;
}

static void scribble(void *mem, const uint8_t *data, size_t size)
{
	struct seg_header *h = mem;
	struct chunk_desc *d = (void *)((uint8_t *)mem + POOL_DESC_OFFSET);
	struct bytes b = bytes_of(data, size);
	h->free_mask = bytes_u64(&b);
	for (unsigned i = 0; i < POOL_CHUNKS && bytes_left(&b) >= 20; i++) {
		uint64_t word = bytes_u64(&b);
		/* half of the time something plausible, or nothing would get past the first check
		 */
		d[i].word = word & 1 ? word
				     : pool_word((word >> 8) & 3, (uint32_t)(word >> 16) & 0x1ff8) |
					       (word & POOL_WORD_CLOSED);
		d[i].begun = bytes_u64(&b);
		d[i].span = bytes_u32(&b) & (word & 2 ? UINT32_MAX : 3);
	}
	/* Doubled again and again: one by one, a short input would take a hundred thousand copies. */
	uint8_t *to = (uint8_t *)mem + POOL_DATA_OFFSET;
	size_t room = (size_t)POOL_CHUNKS * 4096, filled = BASE_MIN(bytes_left(&b), room);
	memcpy(to, b.p, filled);
	while (filled > 0 && filled < room) {
		size_t n = BASE_MIN(filled, room - filled);
		memcpy(to + filled, to, n);
		filled += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig r = rig_make(4096);
	static const uint32_t flags[] = {0, POOL_PASS_FLUSH, 0, POOL_PASS_FINAL};
	size_t part = size / BASE_ARRAY_LEN(flags);
	emitted = 0;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(flags); i++) {
		scribble(r.mem, data + i * part, part);
		round_number++;
		pool_pass_begin(r.p, clock_now(), 1000000000ull, flags[i]);
		if (pool_pass_collect(r.p, r.v, flags[i], i & 1 ? 0 : 9999) != 0) {
			abort();
		}
		pool_pass_emit(r.p, touch, NULL);
		pool_pass_commit(r.p);
		if (i == 1) {
			pool_view_adopt(r.v);
		}
		/* The writer lives in the same ruins: it may fail, not crash. */
		test_write(r.w, data, part < 64 ? (uint32_t)part : 64);
	}
	if (emitted > 4ull * POOL_CHUNKS * 4096 / sizeof(struct pool_rec) + 8) {
		abort();
	}
	struct pool_view_stats st;
	pool_view_stats(r.v, &st);
	rig_free(&r);
	return 0;
}
