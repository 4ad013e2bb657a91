/* SPDX-License-Identifier: MIT */
#include "etl/inflate.h"

#define CODE_BITS    15u
#define FAST_BITS    9u
#define LITERALS     288u
#define DISTANCES    30u
#define CODE_LENGTHS 19u

struct codes {
	uint16_t fast[1u << FAST_BITS]; /* symbol << 4 | length; 0: longer or no code */
	uint16_t count[CODE_BITS + 1];
	uint16_t sorted[LITERALS]; /* by length, then by symbol */
};

static bool refill(struct inflate *z)
{
	const uint8_t *p;
	long n = z->error ? 0 : z->more(z->ctx, &p);
	if (n <= 0) {
		z->error = z->error ? z->error : (int)n;
		return false;
	}
	z->in = p;
	z->end = p + n;
	return true;
}

/* At least n bits, or as many as there are. */
static inline void bits_want(struct inflate *z, unsigned n)
{
	while (z->bits_count < n && (z->in < z->end || refill(z))) {
		z->bits |= (uint64_t)*z->in++ << z->bits_count;
		z->bits_count += 8;
	}
}

static inline bool bits_drop(struct inflate *z, unsigned n)
{
	if (n > z->bits_count) {
		return false;
	}
	z->bits >>= n;
	z->bits_count -= n;
	return true;
}

static bool bits_take(struct inflate *z, unsigned n, uint32_t *ret)
{
	bits_want(z, n);
	*ret = (uint32_t)(z->bits & ((1ull << n) - 1));
	return bits_drop(z, n);
}

int inflate_byte(struct inflate *z)
{
	uint32_t v;
	bits_drop(z, z->bits_count % 8);
	return bits_take(z, 8, &v) ? (int)v : -1;
}

int inflate_flush(struct inflate *z)
{
	if (z->at > z->written && z->error == 0) {
		int r = z->write(z->ctx, z->out + z->written, z->at - z->written);
		z->error = r < 0 ? r : 0;
	}
	z->written = z->at;
	return z->error;
}

static inline void put(struct inflate *z, uint8_t b)
{
	if (BASE_UNLIKELY(z->at == sizeof z->out)) {
		inflate_flush(z);
		memcpy(z->out, z->out + INFLATE_WINDOW, INFLATE_WINDOW);
		z->at = z->written = INFLATE_WINDOW;
	}
	z->out[z->at++] = b;
	z->total++;
}

int inflate_put(struct inflate *z, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put(z, p[i]);
	}
	return z->error;
}

/* False when more codes are given than there is room for. Incomplete sets are accepted: a lone
 * distance code is legal, and what has no code is refused when it is met. */
static bool codes_build(struct codes *c, const uint8_t *lengths, unsigned n)
{
	uint16_t at[CODE_BITS + 2];
	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < n; i++) {
		c->count[lengths[i]]++;
	}
	c->count[0] = 0;
	int left = 1;
	at[1] = 0;
	for (unsigned b = 1; b <= CODE_BITS; b++) {
		left = 2 * left - c->count[b];
		if (left < 0) {
			return false;
		}
		at[b + 1] = (uint16_t)(at[b] + c->count[b]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (lengths[i]) {
			c->sorted[at[lengths[i]]++] = (uint16_t)i;
		}
	}
	/* Codes come highest bit first, all else lowest first: the table is indexed reversed. */
	uint32_t code = 0, k = 0;
	for (unsigned b = 1; b <= FAST_BITS; b++, code <<= 1) {
		for (unsigned i = 0; i < c->count[b]; i++, code++, k++) {
			uint32_t reversed = 0;
			for (unsigned bit = 0; bit < b; bit++) {
				reversed |= (code >> bit & 1) << (b - 1 - bit);
			}
			for (uint32_t f = reversed; f < 1u << FAST_BITS; f += 1u << b) {
				c->fast[f] = (uint16_t)(c->sorted[k] << 4 | b);
			}
		}
	}
	return true;
}

/* -1: no such code; -2: the input ends. */
static int symbol_take(struct inflate *z, const struct codes *c)
{
	bits_want(z, CODE_BITS);
	uint16_t f = c->fast[z->bits & ((1u << FAST_BITS) - 1)];
	if (BASE_LIKELY(f != 0)) {
		return bits_drop(z, f & 15) ? f >> 4 : -2;
	}
	int code = 0, first = 0, index = 0;
	for (unsigned b = 1; b <= CODE_BITS; b++) {
		code |= (int)(z->bits >> (b - 1) & 1);
		int n = c->count[b];
		if (code - n < first) {
			return bits_drop(z, b) ? c->sorted[index + (code - first)] : -2;
		}
		index += n;
		first = (first + n) << 1;
		code <<= 1;
	}
	return z->bits_count < CODE_BITS ? -2 : -1;
}

static int stored(struct inflate *z)
{
	int b[4];
	for (unsigned i = 0; i < 4; i++) {
		b[i] = inflate_byte(z);
		if (b[i] < 0) {
			return -ENODATA;
		}
	}
	unsigned n = (unsigned)(b[0] | b[1] << 8);
	if (n != (~(unsigned)(b[2] | b[3] << 8) & 0xFFFF)) {
		return -EBADMSG;
	}
	for (; n > 0; n--) {
		int v = inflate_byte(z);
		if (v < 0) {
			return -ENODATA;
		}
		put(z, (uint8_t)v);
	}
	return z->error;
}

static int coded(struct inflate *z, const struct codes *lit, const struct codes *dist)
{
	static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10,	11,  13,
					       15, 17, 19, 23, 27, 31, 35, 43,	51,  59,
					       67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
	static const uint16_t distance_base[] = {
		1,   2,	  3,   4,   5,	 7,    9,    13,   17,	 25,   33,   49,   65,	  97,	 129,
		193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
	while (z->error == 0) {
		int s = symbol_take(z, lit);
		if (s < 0) {
			return s == -2 ? -ENODATA : -EBADMSG;
		}
		if (s < 256) {
			put(z, (uint8_t)s);
			continue;
		}
		if (s == 256) {
			return 0;
		}
		s -= 257;
		if (s >= (int)BASE_ARRAY_LEN(length_base)) {
			return -EBADMSG;
		}
		uint32_t n, distance;
		if (!bits_take(z, length_bits[s], &n)) {
			return -ENODATA;
		}
		n += length_base[s];
		s = symbol_take(z, dist);
		if (s < 0 || s >= (int)DISTANCES) {
			return s == -2 ? -ENODATA : -EBADMSG;
		}
		if (!bits_take(z, s < 4 ? 0 : (unsigned)s / 2 - 1, &distance)) {
			return -ENODATA;
		}
		distance += distance_base[s];
		if (distance > z->total) {
			return -EBADMSG;
		}
		for (; n > 0; n--) {
			uint8_t b = z->out[z->at - distance];
			put(z, b);
		}
	}
	return z->error;
}

static int dynamic(struct inflate *z, struct codes *lit, struct codes *dist)
{
	static const uint8_t order[CODE_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
						    11, 4,  12, 3, 13, 2, 14, 1, 15};
	uint8_t lengths[LITERALS + 32] = {0};
	uint32_t nlit, ndist, ncode, v;
	if (!bits_take(z, 5, &nlit) || !bits_take(z, 5, &ndist) || !bits_take(z, 4, &ncode)) {
		return -ENODATA;
	}
	nlit += 257;
	ndist += 1;
	ncode += 4;
	if (nlit > 286 || ndist > DISTANCES) {
		return -EBADMSG;
	}
	for (unsigned i = 0; i < ncode; i++) {
		if (!bits_take(z, 3, &v)) {
			return -ENODATA;
		}
		lengths[order[i]] = (uint8_t)v;
	}
	if (!codes_build(lit, lengths, CODE_LENGTHS)) {
		return -EBADMSG;
	}
	memset(lengths, 0, sizeof lengths);
	for (uint32_t i = 0; i < nlit + ndist;) {
		int s = symbol_take(z, lit);
		if (s < 0) {
			return s == -2 ? -ENODATA : -EBADMSG;
		}
		if (s < 16) {
			lengths[i++] = (uint8_t)s;
			continue;
		}
		uint8_t repeat = 0;
		if (s == 16) {
			if (i == 0) {
				return -EBADMSG;
			}
			repeat = lengths[i - 1];
		}
		if (!bits_take(z, s == 16 ? 2 : s == 17 ? 3 : 7, &v)) {
			return -ENODATA;
		}
		v += s == 18 ? 11 : 3;
		if (i + v > nlit + ndist) {
			return -EBADMSG;
		}
		while (v-- > 0) {
			lengths[i++] = repeat;
		}
	}
	if (lengths[256] == 0 || !codes_build(lit, lengths, nlit) ||
	    !codes_build(dist, lengths + nlit, ndist)) {
		return -EBADMSG;
	}
	return coded(z, lit, dist);
}

static int fixed(struct inflate *z, struct codes *lit, struct codes *dist)
{
	uint8_t lengths[LITERALS];
	for (unsigned i = 0; i < LITERALS; i++) {
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	}
	codes_build(lit, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	codes_build(dist, lengths, DISTANCES);
	return coded(z, lit, dist);
}

int inflate_stream(struct inflate *z)
{
	struct codes lit, dist;
	uint32_t last = 0, type;
	int r = 0;
	while (r == 0 && !last) {
		if (!bits_take(z, 1, &last) || !bits_take(z, 2, &type)) {
			r = -ENODATA;
			break;
		}
		r = type == 0	? stored(z)
		    : type == 1 ? fixed(z, &lit, &dist)
		    : type == 2 ? dynamic(z, &lit, &dist)
				: -EBADMSG;
	}
	int error = z->error; /* reading or writing went wrong, not the data */
	inflate_flush(z);
	return error ? error : z->error ? z->error : r;
}

uint32_t crc32_add(uint32_t crc, const uint8_t *p, size_t n)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}
