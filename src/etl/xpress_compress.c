/* SPDX-License-Identifier: MIT
 *
 * Plain LZ77 of MS-XCA, the writing side. Greedy, with one candidate per hash of three bytes: trace
 * buffers are full of repeated headers, which this finds; a longer search gains little on them.
 */
#include "etl/etl_writer.h"

#define WINDOW      8192u
#define HASH_BITS   13
#define MATCH_MIN   3u
#define LENGTH_CODE 7u /* of the 3 bits in a match word: more follows */
#define NIBBLE_MORE 15u
#define BYTE_MORE   255u

struct out {
	uint8_t *p;
	uint8_t *flags_at; /* where the current flag word belongs */
	uint32_t flags;
	unsigned items;
	uint8_t *nibble; /* byte whose high half is free */
};

static void item(struct out *o, unsigned match)
{
	o->flags = o->flags << 1 | match;
	if (++o->items == 32) {
		le32_put(o->flags_at, o->flags);
		o->flags_at = o->p;
		o->p += 4;
		o->items = 0;
	}
}

static void put_match(struct out *o, uint32_t distance, uint32_t length)
{
	uint32_t rest = length - MATCH_MIN;
	le16_put(o->p, (uint16_t)((distance - 1) << 3 | BASE_MIN(rest, LENGTH_CODE)));
	o->p += 2;
	if (rest < LENGTH_CODE) {
		return;
	}
	uint32_t more = rest - LENGTH_CODE;
	uint32_t half = BASE_MIN(more, NIBBLE_MORE);
	if (o->nibble) {
		*o->nibble |= (uint8_t)(half << 4);
		o->nibble = NULL;
	} else {
		o->nibble = o->p;
		*o->p++ = (uint8_t)half;
	}
	if (half < NIBBLE_MORE) {
		return;
	}
	more -= NIBBLE_MORE;
	*o->p++ = (uint8_t)BASE_MIN(more, BYTE_MORE);
	if (more < BYTE_MORE) {
		return;
	}
	if (rest <= UINT16_MAX) {
		le16_put(o->p, (uint16_t)rest);
		o->p += 2;
	} else {
		le16_put(o->p, 0);
		le32_put(o->p + 2, rest);
		o->p += 6;
	}
}

static uint32_t hash3(const uint8_t *p)
{
	return ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16) * 0x9E3779B1u >> (32 - HASH_BITS);
}

static uint32_t match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	const uint8_t *start = b;
	while (b < end && *a == *b) {
		a++;
		b++;
	}
	return (uint32_t)(b - start);
}

size_t xpress_compress_bound(size_t n)
{
	/* All literals: a flag word for 32 of them, and one of the end. */
	return n + 4 * (n / 32 + 2);
}

size_t xpress_compress(const uint8_t *in, size_t n, uint8_t *out)
{
	uint32_t seen[1u << HASH_BITS] = {0}; /* position + 1 */
	struct out o = {.p = out + 4, .flags_at = out};
	size_t at = 0;
	while (at < n) {
		uint32_t length = 0, distance = 0;
		if (n - at >= MATCH_MIN) {
			uint32_t *slot = &seen[hash3(in + at)];
			if (*slot && at + 1 - *slot <= WINDOW) {
				distance = (uint32_t)(at + 1 - *slot);
				length = match_length(in + at - distance, in + at, in + n);
			}
			*slot = (uint32_t)at + 1;
		}
		if (length < MATCH_MIN) {
			*o.p++ = in[at++];
			item(&o, 0);
			continue;
		}
		put_match(&o, distance, length);
		item(&o, 1);
		/* Every second position inside is remembered: the record after this one will look. */
		size_t end = at + length;
		for (size_t i = at + 2; i < end && n - i >= MATCH_MIN; i += 2) {
			seen[hash3(in + i)] = (uint32_t)i + 1;
		}
		at = end;
	}
	/* The end is a match flag without a match; a full group before it left room for the word. */
	le32_put(o.flags_at, o.items ? o.flags << (32 - o.items) | (UINT32_MAX >> o.items) : UINT32_MAX);
	return (size_t)(o.p - out);
}
