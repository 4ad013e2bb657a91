/* SPDX-License-Identifier: MIT
 *
 * Plain LZ77 of MS-XCA (section 2.4), as used by compressed trace files: groups of a 32-bit flag
 * word and 32 items, highest flag first; 0 is a literal, 1 a match of 13 bits distance and 3 bits
 * length, which may go on in a nibble shared by two matches, a byte, 16 and 32 bits.
 */
#include "etl/etl_record.h"

static void copy_match(uint8_t *out, size_t distance, size_t n)
{
	const uint8_t *from = out - distance;
	if (distance >= n) {
		memcpy(out, from, n);
		return;
	}
	if (distance == 1) {
		memset(out, *from, n);
		return;
	}
	for (size_t i = 0; i < n; i++) { /* overlapping: repeats the pattern */
		out[i] = from[i];
	}
}

int xpress_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done)
{
	const uint8_t *end = in + in_bytes;
	size_t done = 0;
	const uint8_t *nibble = NULL; /* byte whose high half the next long match uses */
	int r = 0;
	while (done < out_bytes) {
		if (end - in < 4) {
			r = -EBADMSG;
			break;
		}
		uint32_t flags = le32_get(in);
		in += 4;
		if (flags == 0 && end - in >= 32 && out_bytes - done >= 32) {
			memcpy(out + done, in, 32);
			in += 32;
			done += 32;
			continue;
		}
		for (unsigned i = 0; i < 32 && done < out_bytes; i++, flags <<= 1) {
			if (!(flags & 0x80000000u)) {
				if (in == end) {
					r = -EBADMSG;
					goto out;
				}
				out[done++] = *in++;
				continue;
			}
			if (end - in < 2) {
				r = -EBADMSG;
				goto out;
			}
			uint32_t v = le16_get(in);
			in += 2;
			size_t distance = (v >> 3) + 1;
			size_t n = v & 7;
			if (n == 7) {
				if (nibble) {
					n = *nibble >> 4;
					nibble = NULL;
				} else if (in < end) {
					nibble = in++;
					n = *nibble & 15;
				} else {
					r = -EBADMSG;
					goto out;
				}
				if (n == 15) {
					if (in == end) {
						r = -EBADMSG;
						goto out;
					}
					n = *in++;
					if (n == 255) {
						if (end - in < 2) {
							r = -EBADMSG;
							goto out;
						}
						n = le16_get(in);
						in += 2;
						if (n == 0) {
							if (end - in < 4) {
								r = -EBADMSG;
								goto out;
							}
							n = le32_get(in);
							in += 4;
						}
						if (n < 15 + 7) { /* a shorter form existed */
							r = -EBADMSG;
							goto out;
						}
						n -= 15 + 7;
					}
					n += 15;
				}
				n += 7;
			}
			n += 3;
			if (distance > done) {
				r = -EBADMSG;
				goto out;
			}
			if (n > out_bytes - done) {
				copy_match(out + done, distance, out_bytes - done);
				done = out_bytes;
				r = -EBADMSG;
				goto out;
			}
			copy_match(out + done, distance, n);
			done += n;
		}
	}
out:
	*ret_done = done;
	return r;
}

int xpress_decompress(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	size_t done;
	return xpress_decompress_some(in, in_bytes, out, out_bytes, &done);
}
