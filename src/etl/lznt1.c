/* SPDX-License-Identifier: MIT
 *
 * LZNT1 of MS-XCA (section 2.5): chunks of up to 4096 bytes of output, each with a 16-bit header;
 * how a match token splits into distance and length depends on the position in the chunk.
 */
#include "etl/etl_record.h"

#define CHUNK_BYTES 4096u

static int chunk(const uint8_t *in, const uint8_t *end, uint8_t *out, size_t room, size_t *ret_n)
{
	size_t n = 0;
	while (in < end && n < room) {
		unsigned flags = *in++;
		for (unsigned bit = 0; bit < 8 && in < end && n < room; bit++, flags >>= 1) {
			if (!(flags & 1)) {
				out[n++] = *in++;
				continue;
			}
			if (end - in < 2 || n == 0) {
				*ret_n = n;
				return -EBADMSG;
			}
			unsigned token = le16_get(in);
			in += 2;
			unsigned shift = 12, mask = 0xFFF;
			for (size_t i = n - 1; i >= 0x10; i >>= 1) {
				shift--;
				mask >>= 1;
			}
			size_t distance = (token >> shift) + 1;
			size_t length = (token & mask) + 3;
			if (distance > n) {
				*ret_n = n;
				return -EBADMSG;
			}
			for (; length > 0 && n < room; length--, n++) {
				out[n] = out[n - distance];
			}
		}
	}
	*ret_n = n;
	return 0;
}

static int chunks(struct bytes b, uint8_t *out, size_t out_bytes, bool may_end, size_t *ret_done)
{
	size_t done = 0;
	int r = 0;
	while (done < out_bytes && r == 0) {
		/* A head of 0 ends the data, and so does its end, or one byte that can be no head. */
		if (may_end && (bytes_left(&b) < 2 || le16_get(b.p) == 0)) {
			break;
		}
		uint16_t head = bytes_u16(&b);
		size_t n = (head & 0xFFFu) + 1u;
		const uint8_t *p = bytes_take(&b, n);
		if (head == 0 || !p) {
			r = -EBADMSG;
			break;
		}
		size_t room = BASE_MIN(out_bytes - done, CHUNK_BYTES);
		size_t got = BASE_MIN(n, room);
		if (head & 0x8000u) {
			r = chunk(p, p + n, out + done, room, &got);
		} else {
			memcpy(out + done, p, got);
		}
		done += got;
	}
	*ret_done = done;
	return r;
}

int lznt1_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done)
{
	return chunks(bytes_of(in, in_bytes), out, out_bytes, false, ret_done);
}

int lznt1_decompress_whole(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done)
{
	return chunks(bytes_of(in, in_bytes), out, out_bytes, true, ret_done);
}
