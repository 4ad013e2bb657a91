/* SPDX-License-Identifier: MIT
 *
 * The page "<runtime dir>/wait": one for each etwd, which it writes and all processes may read.
 *
 * Its first word is a futex on which processes without a daemon sleep. Behind it an etwd says which
 * provider GUIDs some session wants, as a Bloom filter: a process that finds its GUID surely not
 * there need not wait for the answer to its registration, because nobody misses its first events.
 * What a dead etwd left is only ever too much: the next one begins with an empty filter, before it
 * can be asked for anything.
 */
#ifndef PROTO_PROTO_WAIT_H
#define PROTO_PROTO_WAIT_H

#include "base/base.h"
#include "base/order.h"

#define PROTO_WAIT_BYTES 4096u
#define PROTO_WAIT_MAGIC 0x54495745u /* "EWIT" */
#define PROTO_WAIT_BITS  16384u

struct proto_wait_page {
	uint32_t word;  /* futex: incremented by a starting etwd */
	uint32_t magic; /* 0: written by nobody who knows of the rest */
	uint32_t pid;   /* of that etwd, in its own namespace */
	uint32_t reserved[13];
	uint64_t wanted[PROTO_WAIT_BITS / 64];
};
_Static_assert(sizeof(struct proto_wait_page) <= PROTO_WAIT_BYTES, "one page");

/* Three bits for each GUID. */
static inline uint32_t proto_wait_bit(const struct guid *g, int i)
{
	uint64_t h = (le64_get(g->b) ^ le64_get(g->b + 8) * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
	return (uint32_t)(h >> (16 * i)) % PROTO_WAIT_BITS;
}

static inline void proto_wait_want(struct proto_wait_page *p, const struct guid *g)
{
	for (int i = 1; i < 4; i++) {
		uint32_t bit = proto_wait_bit(g, i);
		order_or_release(&p->wanted[bit / 64], 1ull << (bit % 64));
	}
}

/* False: surely no session of that etwd wants it. */
static inline bool proto_wait_wants(const struct proto_wait_page *p, const struct guid *g)
{
	if (!p || order_load_acquire(&p->magic) != PROTO_WAIT_MAGIC) {
		return true;
	}
	for (int i = 1; i < 4; i++) {
		uint32_t bit = proto_wait_bit(g, i);
		if ((order_load_acquire(&p->wanted[bit / 64]) >> (bit % 64) & 1) == 0) {
			return false;
		}
	}
	return true;
}

#endif
