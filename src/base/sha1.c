/* SPDX-License-Identifier: MIT
 * SHA-1 (FIPS 180-4). Used only for the provider-name GUID, never for security.
 */
#include "base/base.h"

static uint32_t rol(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

static void block(uint32_t h[5], const uint8_t *p)
{
	uint32_t w[80];
	for (int i = 0; i < 16; i++) {
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	}
	for (int i = 16; i < 80; i++) {
		w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	}
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	for (int i = 0; i < 80; i++) {
		uint32_t f, k;
		if (i < 20) {
			f = (b & c) | (~b & d), k = 0x5A827999;
		} else if (i < 40) {
			f = b ^ c ^ d, k = 0x6ED9EBA1;
		} else if (i < 60) {
			f = (b & c) | (b & d) | (c & d), k = 0x8F1BBCDC;
		} else {
			f = b ^ c ^ d, k = 0xCA62C1D6;
		}
		uint32_t t = rol(a, 5) + f + e + k + w[i];
		e = d, d = c, c = rol(b, 30), b = a, a = t;
	}
	h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void sha1(const void *data, size_t n, uint8_t ret[20])
{
	uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
	const uint8_t *p = data;
	size_t left = n;
	for (; left >= 64; left -= 64, p += 64) {
		block(h, p);
	}
	uint8_t tail[128] = {0};
	memcpy(tail, p, left);
	tail[left] = 0x80;
	size_t tail_len = left < 56 ? 64 : 128;
	for (int i = 0; i < 8; i++) {
		tail[tail_len - 1 - i] = (uint8_t)((uint64_t)n * 8 >> (8 * i));
	}
	block(h, tail);
	if (tail_len == 128) {
		block(h, tail + 64);
	}
	for (int i = 0; i < 20; i++) {
		ret[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
	}
}
