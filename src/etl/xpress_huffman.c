/* SPDX-License-Identifier: MIT
 *
 * LZ77 with Huffman codes of MS-XCA (section 2.2): every 65536 bytes of output start with 256 bytes
 * that give the code lengths of 512 symbols, 4 bits each. Symbols below 256 are literals; the
 * others hold the number of distance bits and the length of a match. Bits come in 16-bit words,
 * highest first, and long lengths stand between the words, at the place the reader has reached.
 */
#include "etl/etl_record.h"

#define SYMBOLS     512u
#define TABLE_BYTES 256u
#define CODE_BITS   15u
#define BLOCK_BYTES 65536u
#define END_SYMBOL  256u
#define FAST_BITS   10u

struct codes {
	uint16_t fast[1u << FAST_BITS]; /* symbol << 4 | length; 0: longer than FAST_BITS */
	uint32_t first[CODE_BITS + 2];  /* first code of each length, left-aligned to 15 bits */
	uint16_t index[CODE_BITS + 1];  /* its place in sorted */
	uint16_t sorted[SYMBOLS];
};

/* Canonical codes: shorter first, then by symbol. False when they do not fill the code space
 * exactly, except that one single symbol may stand alone. */
static bool codes_build(struct codes *c, const uint8_t *table)
{
	uint16_t count[CODE_BITS + 1] = {0};
	for (unsigned s = 0; s < SYMBOLS; s++) {
		count[table[s / 2] >> (s & 1 ? 4 : 0) & 15]++;
	}
	uint32_t code = 0;
	uint16_t at = 0, next[CODE_BITS + 1];
	memset(c->fast, 0, sizeof c->fast);
	for (unsigned n = 1; n <= CODE_BITS; n++) {
		c->first[n] = code;
		c->index[n] = next[n] = at;
		at = (uint16_t)(at + count[n]);
		code += (uint32_t)count[n] << (CODE_BITS - n);
	}
	c->first[CODE_BITS + 1] = code;
	if (at == 0 || code > 1u << CODE_BITS) {
		return false;
	}
	for (unsigned s = 0; s < SYMBOLS; s++) {
		unsigned n = table[s / 2] >> (s & 1 ? 4 : 0) & 15;
		if (n == 0) {
			continue;
		}
		unsigned k = next[n]++;
		c->sorted[k] = (uint16_t)s;
		if (n <= FAST_BITS) {
			uint32_t from =
				(c->first[n] >> (CODE_BITS - FAST_BITS)) + ((k - c->index[n]) << (FAST_BITS - n));
			for (uint32_t i = 0; i < 1u << (FAST_BITS - n); i++) {
				c->fast[from + i] = (uint16_t)(s << 4 | n);
			}
		}
	}
	return true;
}

struct bits {
	const uint8_t *in, *end;
	uint32_t next;        /* upcoming bits, highest first */
	int32_t extra;        /* of them beyond the 16 that are always there */
	uint32_t short_words; /* read behind the end, as zeros */
};

static uint32_t word_take(struct bits *b)
{
	if (b->end - b->in < 2) {
		b->in = b->end;
		b->short_words++;
		return 0;
	}
	uint32_t v = le16_get(b->in);
	b->in += 2;
	return v;
}

static void bits_drop(struct bits *b, unsigned n)
{
	b->next <<= n;
	b->extra -= (int32_t)n;
	if (b->extra < 0) {
		b->next |= word_take(b) << -b->extra;
		b->extra += 16;
	}
}

/* False: no code. */
static bool symbol_take(const struct codes *c, struct bits *b, unsigned *ret)
{
	uint32_t code = b->next >> (32 - CODE_BITS);
	uint16_t f = c->fast[code >> (CODE_BITS - FAST_BITS)];
	if (BASE_LIKELY(f != 0)) {
		bits_drop(b, f & 15);
		*ret = f >> 4;
		return true;
	}
	for (unsigned n = FAST_BITS + 1; n <= CODE_BITS; n++) {
		if (code < c->first[n + 1]) {
			unsigned k = (code - c->first[n]) >> (CODE_BITS - n);
			*ret = c->sorted[c->index[n] + k];
			bits_drop(b, n);
			return true;
		}
	}
	return false;
}

/* A match's length; long ones stand outside the bit stream. */
static bool length_take(struct bits *b, unsigned symbol, size_t *ret)
{
	size_t n = symbol & 15;
	if (n == 15) {
		if (b->in == b->end) {
			return false;
		}
		n = *b->in++;
		if (n == 255) {
			if (b->end - b->in < 2) {
				return false;
			}
			n = le16_get(b->in);
			b->in += 2;
			if (n == 0) {
				if (b->end - b->in < 4) {
					return false;
				}
				n = le32_get(b->in);
				b->in += 4;
			}
			if (n < 15) {
				return false;
			}
			n -= 15;
		}
		n += 15;
	}
	*ret = n + 3;
	return true;
}

static int block(struct bits *b, uint8_t *out, size_t *done, size_t out_bytes)
{
	struct codes c;
	if (b->end - b->in < (ptrdiff_t)TABLE_BYTES || !codes_build(&c, b->in)) {
		return -EBADMSG;
	}
	b->in += TABLE_BYTES;
	b->next = word_take(b) << 16;
	b->next |= word_take(b);
	b->extra = 16;
	size_t limit = *done + BASE_MIN(out_bytes - *done, BLOCK_BYTES);
	while (*done < limit) {
		unsigned symbol;
		if (b->short_words > 2 || !symbol_take(&c, b, &symbol)) {
			return -EBADMSG;
		}
		if (symbol < END_SYMBOL) {
			out[(*done)++] = (uint8_t)symbol;
			continue;
		}
		/* Also what marks the end of the data; but that ends with the last byte of output. */
		symbol -= END_SYMBOL;
		size_t n;
		if (!length_take(b, symbol, &n)) {
			return -EBADMSG;
		}
		unsigned distance_bits = symbol >> 4;
		size_t distance = (size_t)1 << distance_bits;
		if (distance_bits > 0) {
			distance += b->next >> (32 - distance_bits);
			bits_drop(b, distance_bits);
		}
		if (distance > *done) {
			return -EBADMSG;
		}
		size_t room = out_bytes - *done;
		size_t copy = BASE_MIN(n, room);
		for (size_t i = 0; i < copy; i++) {
			out[*done + i] = out[*done + i - distance];
		}
		*done += copy;
		if (n > room) {
			return -EBADMSG;
		}
	}
	return 0;
}

int xpress_huffman_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done)
{
	struct bits b = {.in = in, .end = in + in_bytes};
	size_t done = 0;
	int r = 0;
	while (r == 0 && done < out_bytes) {
		r = block(&b, out, &done, out_bytes);
	}
	*ret_done = done;
	return r;
}
