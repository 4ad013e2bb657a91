/* SPDX-License-Identifier: MIT
 *
 * A raw segment image is drained: no crash, no hang, bounded memory, and what comes out is inside
 * the private copy. Behind the last chunk is memory that nobody may touch. Each input is used twice:
 *
 *   as images   of the segment before each of four rounds: free_mask[8] | 64 x { word[8], begun[8],
 *               span[4] } | records, all optional. Records are repeated over the data area, so that
 *               a short input reaches every chunk.
 *   as a script of steps, four bytes each: what is committed in which chunk, and what the drain does
 *               then. Chunks and numbers of bytes are mostly those at an edge, since random ones
 *               never are.
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

static void drain(struct rig *r, uint32_t flags, uint64_t budget)
{
	struct pool_view_stats st;
	round_number++;
	pool_pass_begin(r->p, clock_now(), 1000000000ull, flags);
	if (pool_pass_collect(r->p, r->v, flags, budget) != 0) {
		abort();
	}
	pool_pass_emit(r->p, touch, NULL);
	pool_pass_commit(r->p);
	pool_view_stats(r->v, &st);
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

static void as_images(const uint8_t *data, size_t size)
{
	struct rig r = rig_make(4096);
	static const uint32_t flags[] = {0, POOL_PASS_FLUSH, 0, POOL_PASS_FINAL};
	size_t part = size / BASE_ARRAY_LEN(flags);
	emitted = 0;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(flags); i++) {
		scribble(r.mem, data + i * part, part);
		drain(&r, flags[i], i & 1 ? 0 : 9999);
		if (i == 1) {
			pool_view_adopt(r.v);
		}
		/* The writer lives in the same ruins: it may fail, not crash. */
		test_write(r.w, data, part < 64 ? (uint32_t)part : 64);
	}
	if (emitted > 4ull * POOL_CHUNKS * 4096 / sizeof(struct pool_rec) + 8) {
		abort();
	}
	rig_free(&r);
}

/* ---- scripts -------------------------------------------------------------------------------- */

#define STEPS_MAX 512u

static uint32_t pick_chunk(uint8_t x)
{
	static const uint8_t edges[] = {63, 0, 62, 1};
	return x & 0x80 ? x & 63 : edges[x & 3];
}

/* Around both ends of a chunk, of a record and of what a word can say. */
static uint32_t pick_bytes(uint8_t x, uint32_t chunk_size)
{
	uint32_t near = (x & 7) * 8u;
	switch (x >> 3 & 7) {
	case 0: return near;
	case 1: return chunk_size + near;
	case 2: return 2 * chunk_size - near;
	case 3: return UINT32_MAX - near;
	case 4: return x * 16u;
	default: return chunk_size - near;
	}
}

static void step_commit(struct rig *r, const uint8_t *step)
{
	struct seg_header *h = r->mem;
	uint32_t i = pick_chunk(step[1]), how = step[3];
	struct chunk_desc *d = (struct chunk_desc *)(void *)((uint8_t *)r->mem + POOL_DESC_OFFSET) + i;
	uint32_t gen = how & 1 ? 1 + (how >> 6) : BASE_MAX(pool_word_gen(d->word), 1u);
	if ((how & 0x0E) == 0) { /* seldom anything but one chunk, since that ends most accidents */
		d->span = how & 0x10 ? 64 - i : how & 0x20 ? UINT32_MAX : 2;
	} else if (d->span == 0) {
		d->span = 1;
	}
	d->word = pool_word(gen, pick_bytes(step[2], r->chunk_size)) | ((how & 0x30) == 0x30 ? POOL_WORD_CLOSED : 0);
	d->begun = d->word;
	h->free_mask &= ~(1ull << i);
}

static void step_fill(struct rig *r, const uint8_t *step)
{
	uint8_t *chunk = (uint8_t *)r->mem + POOL_DATA_OFFSET + pick_chunk(step[1]) * r->chunk_size;
	if (step[2] & 1) {
		memset(chunk, step[3], r->chunk_size);
		return;
	}
	struct pool_rec rec = {
		.size8 = (uint16_t)(6 + (step[2] >> 1 & 3)),
		.kind = (uint8_t)(1 + (step[2] >> 6)),
		.prov = (uint16_t)(step[2] >> 3 & 7),
		.user_len = (uint16_t)(8 * (step[2] >> 1 & 3)),
		.cpu = step[3] & 3,
		.ts = step[3],
	};
	for (uint32_t at = 0; at + 8 * 9 <= r->chunk_size; at += rec.size8 * 8u) {
		memcpy(chunk + at, &rec, sizeof rec);
	}
}

static void as_script(const uint8_t *data, size_t size)
{
	static const uint32_t flags[] = {0, 0, 0, POOL_PASS_FLUSH};
	static const uint64_t budgets[] = {1, 0, 9999, 64};
	struct rig r = rig_make(4096);
	for (unsigned k = 0; k < STEPS_MAX && size >= 4; k++, data += 4, size -= 4) {
		switch (data[0] & 15) {
		case 0: step_fill(&r, data); break;
		case 1: pool_view_adopt(r.v); break;
		case 2: test_write(r.w, data, (uint32_t)BASE_MIN(size, (size_t)data[1])); break;
		case 3: ((struct seg_header *)r.mem)->free_mask ^= 1ull << pick_chunk(data[1]); break;
		case 4:
		case 5:
		case 6:
		case 7: drain(&r, flags[data[1] & 3], budgets[data[2] & 3]); break;
		default:
			step_commit(&r, data);
			if (data[0] & 0x80) { /* what a liar does: commit, wait for the drain, go on */
				drain(&r, flags[data[0] >> 5 & 3], budgets[data[0] >> 5 & 3]);
			}
		}
	}
	drain(&r, POOL_PASS_FINAL, 0);
	rig_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_images(data, size);
	as_script(data, size);
	return 0;
}
