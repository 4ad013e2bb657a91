/* SPDX-License-Identifier: MIT
 *
 * The stream is 16-bit little-endian words, read from the top bit down. Blocks of any length have
 * Huffman trees of their own, whose code lengths are told as differences to those of the block before;
 * frames only cut the output, at a word's border.
 */
#include "etl/lzx.h"

#include <stdlib.h>

#define SLOTS_MAX     50u
#define MAIN_MAX      (256u + 8u * SLOTS_MAX)
#define LENGTHS	      249u
#define PRETREE	      20u
#define ALIGNED	      8u
#define CODE_BITS_MAX 16u
#define FAST_BITS     10u
#define MATCH_MIN     2u
#define E8_FRAMES     32768u /* calls are put right in the first GiB only */
#define E8_TAIL	      10u

enum block_type { BLOCK_NONE = 0, BLOCK_VERBATIM = 1, BLOCK_ALIGNED = 2, BLOCK_PLAIN = 3 };

/* Canonical code: what begins at each length, and the symbols in the order of their codes. */
struct tree {
	uint32_t first[CODE_BITS_MAX + 2]; /* code, left-aligned to 16 bits, from which a length begins */
	uint16_t index[CODE_BITS_MAX + 1]; /* of its first symbol */
	uint16_t symbols[MAIN_MAX];
	uint16_t fast[1u << FAST_BITS]; /* symbol << 4 | length; 0: look it up */
	bool empty;
};

struct lzx {
	uint8_t *window;
	uint32_t window_bytes, at; /* `at`: where the next byte goes */
	uint64_t total;
	unsigned slots;
	uint32_t recent[3];
	enum block_type type;
	uint32_t block_left, block_bytes;
	bool begun;
	uint32_t calls_bytes;
	uint32_t match_left, match_distance; /* of a match that the frame's end cut */
	uint8_t main_lengths[MAIN_MAX], length_lengths[LENGTHS];
	struct tree main, length, aligned, pre;
	/* The frame's bits. */
	const uint8_t *in;
	size_t in_at, in_bytes;
	uint32_t bits;
	unsigned bits_count;
	bool bad;
};

int lzx_create(unsigned window_bits, struct lzx **ret)
{
	static const uint8_t slots[] = {30, 32, 34, 36, 38, 42, 50};
	if (window_bits < LZX_WINDOW_MIN || window_bits > LZX_WINDOW_MAX) {
		return -EINVAL;
	}
	struct lzx *z = calloc(1, sizeof *z);
	if (z) {
		z->window_bytes = 1u << window_bits;
		z->window = calloc(1, z->window_bytes);
	}
	if (!z || !z->window) {
		free(z);
		return -ENOMEM;
	}
	z->slots = slots[window_bits - LZX_WINDOW_MIN];
	z->recent[0] = z->recent[1] = z->recent[2] = 1;
	*ret = z;
	return 0;
}

void lzx_destroy(struct lzx *z)
{
	if (z) {
		free(z->window);
		free(z);
	}
}

/* ---- bits -------------------------------------------------------------------------------------- */

/* At least 16 bits, made of zeros behind the end: who uses them finds out by take(). */
static void fill(struct lzx *z)
{
	while (z->bits_count <= 16) {
		uint32_t word = 0;
		if (z->in_at + 2 <= z->in_bytes) {
			word = le16_get(z->in + z->in_at);
		} else if (z->in_at > z->in_bytes + 8) { /* a few may stand in the accumulator */
			z->bad = true;
		}
		z->in_at += 2;
		z->bits |= word << (16 - z->bits_count);
		z->bits_count += 16;
	}
}

static uint32_t take(struct lzx *z, unsigned n)
{
	if (n == 0) {
		return 0;
	}
	if (z->bits_count < n) {
		fill(z);
	}
	uint32_t v = z->bits >> (32 - n);
	z->bits <<= n;
	z->bits_count -= n;
	return v;
}

/* More than 16. */
static uint32_t take_long(struct lzx *z, unsigned n)
{
	if (n <= 16) {
		return take(z, n);
	}
	uint32_t high = take(z, n - 16);
	return high << 16 | take(z, 16);
}

/* ---- trees ------------------------------------------------------------------------------------- */

/* False when the lengths make no code. A tree without any symbol may stand, unused. */
static bool tree_make(struct tree *t, const uint8_t *lengths, unsigned n)
{
	unsigned count[CODE_BITS_MAX + 1] = {0};
	for (unsigned i = 0; i < n; i++) {
		count[lengths[i]]++;
	}
	t->empty = count[0] == n;
	memset(t->fast, 0, sizeof t->fast);
	uint32_t code = 0;
	uint16_t index = 0;
	uint16_t next[CODE_BITS_MAX + 1];
	for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++) {
		t->first[bits] = code;
		t->index[bits] = next[bits] = index;
		code += count[bits] << (CODE_BITS_MAX - bits);
		index = (uint16_t)(index + count[bits]);
	}
	t->first[CODE_BITS_MAX + 1] = code;
	if (!t->empty && code != 1u << CODE_BITS_MAX) {
		return false; /* too many codes, or some that mean nothing */
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned bits = lengths[i];
		if (bits == 0) {
			continue;
		}
		uint16_t at = next[bits]++;
		t->symbols[at] = (uint16_t)i;
		if (bits <= FAST_BITS) {
			uint32_t from = t->first[bits] + ((uint32_t)(at - t->index[bits])
							  << (CODE_BITS_MAX - bits));
			from >>= CODE_BITS_MAX - FAST_BITS;
			for (uint32_t k = 0; k < 1u << (FAST_BITS - bits); k++) {
				t->fast[from + k] = (uint16_t)(i << 4 | bits);
			}
		}
	}
	return true;
}

static unsigned symbol(struct lzx *z, const struct tree *t)
{
	if (t->empty) {
		z->bad = true;
		return 0;
	}
	if (z->bits_count < 16) {
		fill(z);
	}
	uint16_t quick = t->fast[z->bits >> (32 - FAST_BITS)];
	if (quick) {
		take(z, quick & 15);
		return quick >> 4;
	}
	uint32_t code = z->bits >> 16;
	unsigned bits = FAST_BITS + 1;
	while (bits < CODE_BITS_MAX && code >= t->first[bits + 1]) {
		bits++;
	}
	unsigned at = t->index[bits] + ((code - t->first[bits]) >> (CODE_BITS_MAX - bits));
	take(z, bits);
	return t->symbols[at];
}

/* Code lengths, as differences to those that are there. */
static bool read_lengths(struct lzx *z, uint8_t *lengths, unsigned from, unsigned to)
{
	uint8_t pre[PRETREE];
	for (unsigned i = 0; i < PRETREE; i++) {
		pre[i] = (uint8_t)take(z, 4);
	}
	if (!tree_make(&z->pre, pre, PRETREE)) {
		return false;
	}
	for (unsigned i = from; i < to && !z->bad;) {
		unsigned s = symbol(z, &z->pre), n = 1, value;
		if (s == 17 || s == 18) {
			n = s == 17 ? 4 + take(z, 4) : 20 + take(z, 5);
			value = 0;
		} else {
			n = s == 19 ? 4 + take(z, 1) : 1;
			s = s == 19 ? symbol(z, &z->pre) : s;
			if (s > 16) {
				return false;
			}
			value = (lengths[i] + 17u - s) % 17;
		}
		for (; n > 0 && i < to; n--) {
			lengths[i++] = (uint8_t)value;
		}
	}
	return !z->bad;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static bool block_begin(struct lzx *z)
{
	z->type = (enum block_type)take(z, 3);
	z->block_bytes = z->block_left = take_long(z, 24);
	if (z->type == BLOCK_ALIGNED) {
		uint8_t lengths[ALIGNED];
		for (unsigned i = 0; i < ALIGNED; i++) {
			lengths[i] = (uint8_t)take(z, 3);
		}
		if (!tree_make(&z->aligned, lengths, ALIGNED)) {
			return false;
		}
	}
	if (z->type == BLOCK_ALIGNED || z->type == BLOCK_VERBATIM) {
		unsigned all = 256 + 8 * z->slots;
		return read_lengths(z, z->main_lengths, 0, 256) &&
		       read_lengths(z, z->main_lengths, 256, all) &&
		       tree_make(&z->main, z->main_lengths, all) &&
		       read_lengths(z, z->length_lengths, 0, LENGTHS) &&
		       tree_make(&z->length, z->length_lengths, LENGTHS) && !z->bad;
	}
	if (z->type != BLOCK_PLAIN) {
		return false;
	}
	/* To the border of a word; at one, a whole word is passed over. */
	if (z->bits_count == 0) {
		fill(z);
	}
	unsigned whole = z->bits_count / 16 - (z->bits_count % 16 == 0);
	z->in_at -= 2 * whole;
	z->bits = 0;
	z->bits_count = 0;
	if (z->in_at + 12 > z->in_bytes) {
		return false;
	}
	for (unsigned i = 0; i < 3; i++, z->in_at += 4) {
		z->recent[i] = le32_get(z->in + z->in_at);
	}
	return true;
}

static void put(struct lzx *z, uint8_t b)
{
	z->window[z->at] = b;
	z->at = (z->at + 1) & (z->window_bytes - 1);
}

static uint32_t copy(struct lzx *z, uint32_t room)
{
	uint32_t n = BASE_MIN(z->match_left, room);
	for (uint32_t i = 0; i < n; i++) {
		put(z, z->window[(z->at - z->match_distance) & (z->window_bytes - 1)]);
	}
	z->match_left -= n;
	return n;
}

static unsigned extra_bits(unsigned slot)
{
	return slot < 4 ? 0 : slot < 36 ? slot / 2 - 1 : 17;
}

static uint32_t slot_base(unsigned slot)
{
	if (slot < 4) {
		return slot;
	}
	if (slot < 36) {
		return (2u + (slot & 1)) << (slot / 2 - 1);
	}
	return (1u << 18) + ((slot - 36) << 17);
}

static bool read_match(struct lzx *z, unsigned s)
{
	unsigned n = s & 7, slot = s >> 3;
	if (n == 7) {
		n += symbol(z, &z->length);
	}
	uint32_t distance;
	if (slot < 3) { /* one of the last three; it comes to the front */
		distance = z->recent[slot];
		z->recent[slot] = z->recent[0];
	} else {
		unsigned extra = extra_bits(slot);
		distance = slot_base(slot) - 2;
		if (z->type == BLOCK_ALIGNED && extra >= 3) {
			distance += take_long(z, extra - 3) << 3;
			distance += symbol(z, &z->aligned);
		} else {
			distance += take_long(z, extra);
		}
		z->recent[2] = z->recent[1];
		z->recent[1] = z->recent[0];
	}
	z->recent[0] = distance;
	z->match_left = n + MATCH_MIN;
	z->match_distance = distance;
	return !z->bad && distance != 0 && distance <= z->window_bytes;
}

static bool unpack(struct lzx *z, uint32_t n)
{
	uint32_t done = 0;
	while (done < n && !z->bad) {
		if (z->match_left) {
			done += copy(z, n - done);
			continue;
		}
		if (z->block_left == 0) {
			if (!block_begin(z)) {
				return false;
			}
			continue;
		}
		if (z->type == BLOCK_PLAIN) {
			if (z->in_at >= z->in_bytes) {
				return false;
			}
			put(z, z->in[z->in_at++]);
			done++;
			/* An odd number of bytes is followed by one that says nothing. */
			if (--z->block_left == 0) {
				z->in_at += z->block_bytes & 1;
			}
			continue;
		}
		unsigned s = symbol(z, &z->main);
		if (s < 256) {
			put(z, (uint8_t)s);
			z->block_left--;
			done++;
			continue;
		}
		if (!read_match(z, s - 256) || z->match_left > z->block_left) {
			return false;
		}
		z->block_left -= z->match_left;
	}
	return !z->bad;
}

/* The writer made the targets of x86 calls absolute, so that they repeat. */
static void restore_calls(const struct lzx *z, uint8_t *p, size_t n)
{
	for (size_t i = 0; n > E8_TAIL && i < n - E8_TAIL; i++) {
		if (p[i] != 0xE8) {
			continue;
		}
		int64_t place = (int64_t)(z->total + i), size = z->calls_bytes;
		int64_t target = (int32_t)le32_get(p + i + 1);
		if (target >= -place && target < size) {
			le32_put(p + i + 1, (uint32_t)(target >= 0 ? target - place : target + size));
		}
		i += 4;
	}
}

int lzx_frame(struct lzx *z, const uint8_t *in, size_t n, uint8_t *out, size_t out_bytes)
{
	if (out_bytes > LZX_FRAME) {
		return -EBADMSG;
	}
	z->in = in;
	z->in_at = 0;
	z->in_bytes = n;
	z->bits = 0;
	z->bits_count = 0;
	z->bad = false;
	if (!z->begun) {
		z->begun = true;
		z->calls_bytes = take(z, 1) ? take_long(z, 32) : 0;
	}
	uint32_t from = z->at;
	if (!unpack(z, (uint32_t)out_bytes)) {
		return -EBADMSG;
	}
	for (size_t i = 0; i < out_bytes; i++) {
		out[i] = z->window[(from + i) & (z->window_bytes - 1)];
	}
	if (z->calls_bytes && z->total / LZX_FRAME < E8_FRAMES) {
		restore_calls(z, out, out_bytes);
	}
	z->total += out_bytes;
	return 0;
}
