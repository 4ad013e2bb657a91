/* SPDX-License-Identifier: MIT */
#include "etl/xpress_stream.h"

/* Bytes of input that one item can take: a match with all forms of its length. */
#define ITEM_MAX 10u
#define GROUP    32u

void xpress_stream_start(struct xpress_stream *s, const struct etl_source *source, uint64_t at, uint64_t bytes,
			 uint64_t out_bytes)
{
	s->source = source;
	s->in_at = at;
	s->in_end = at + bytes;
	s->out_left = out_bytes;
	s->items = s->flags = 0;
	s->match = 0;
	s->has_nibble = false;
	s->input_at = s->input_bytes = 0;
	s->ready_at = s->ready_end = s->history = 0;
}

/* So much input as one item and the flags before it may take, or all that is left. */
static int refill(struct xpress_stream *s)
{
	uint32_t left = s->input_bytes - s->input_at;
	if (left >= ITEM_MAX + 4 || s->in_at == s->in_end) {
		return 0;
	}
	memmove(s->input, s->input + s->input_at, left);
	size_t want = (size_t)BASE_MIN((uint64_t)(XPRESS_INPUT - left), s->in_end - s->in_at);
	long got = etl_source_read(s->source, s->in_at, s->input + left, want);
	if (got < 0) {
		return (int)got;
	}
	s->in_at = (size_t)got < want ? s->in_end : s->in_at + (uint64_t)got;
	s->input_at = 0;
	s->input_bytes = left + (uint32_t)got;
	return 0;
}

static bool take_match(struct xpress_stream *s)
{
	struct bytes b = bytes_of(s->input + s->input_at, s->input_bytes - s->input_at);
	uint32_t v = bytes_u16(&b);
	uint64_t n = v & 7;
	if (n == 7) {
		if (s->has_nibble) {
			n = s->nibble;
			s->has_nibble = false;
		} else {
			uint8_t two = bytes_u8(&b);
			n = two & 15;
			s->nibble = two >> 4;
			s->has_nibble = true;
		}
		if (n == 15) {
			n = bytes_u8(&b);
			if (n == 255) {
				n = bytes_u16(&b);
				n = n ? n : bytes_u32(&b);
				if (n < 15 + 7) { /* a shorter form existed */
					return false;
				}
				n -= 15 + 7;
			}
			n += 15;
		}
		n += 7;
	}
	s->distance = (v >> 3) + 1;
	s->match = n + 3;
	s->input_at = (uint32_t)(b.p - s->input);
	return !b.bad && s->distance <= s->history;
}

static void copy_match(struct xpress_stream *s, uint32_t room)
{
	uint32_t n = (uint32_t)BASE_MIN(BASE_MIN(s->match, (uint64_t)room), s->out_left);
	uint8_t *to = s->out + s->ready_end;
	const uint8_t *from = to - s->distance;
	if (s->distance >= n) {
		memcpy(to, from, n);
	} else {
		for (uint32_t i = 0; i < n; i++) { /* overlapping: repeats */
			to[i] = from[i];
		}
	}
	s->match -= n;
	s->ready_end += n;
	s->out_left -= n;
	s->history += n;
}

/* Fills `out`. 0, or -EBADMSG where the data is damaged. */
static int unpack(struct xpress_stream *s)
{
	uint32_t keep = BASE_MIN(s->ready_end, XPRESS_REACH);
	memmove(s->out, s->out + s->ready_end - keep, keep);
	s->ready_at = s->ready_end = keep;
	while (s->out_left > 0 && s->ready_end < sizeof s->out) {
		if (s->match) {
			copy_match(s, (uint32_t)sizeof s->out - s->ready_end);
			continue;
		}
		int err = refill(s);
		if (err < 0) {
			return err;
		}
		uint32_t there = s->input_bytes - s->input_at;
		if (s->items == 0) {
			if (there < 4) {
				return -EBADMSG;
			}
			s->flags = le32_get(s->input + s->input_at);
			s->items = GROUP;
			s->input_at += 4;
			continue;
		}
		bool is_match = s->flags & 0x80000000u;
		if (there < (is_match ? 2u : 1u)) {
			return -EBADMSG;
		}
		s->flags <<= 1;
		s->items--;
		if (!is_match) {
			s->out[s->ready_end++] = s->input[s->input_at++];
			s->out_left--;
			s->history++;
		} else if (!take_match(s)) {
			s->match = 0;
			return -EBADMSG;
		}
	}
	return 0;
}

long xpress_stream_read(struct xpress_stream *s, uint8_t *to, size_t n)
{
	size_t done = 0;
	while (done < n) {
		if (s->ready_at == s->ready_end) {
			if (s->out_left == 0) {
				break;
			}
			int err = unpack(s);
			if (err < 0 && err != -EBADMSG) {
				return err;
			}
			if (err < 0) { /* what was good is still given, then it ends */
				s->out_left = 0;
			}
			continue;
		}
		size_t some = BASE_MIN(n - done, (size_t)(s->ready_end - s->ready_at));
		memcpy(to + done, s->out + s->ready_at, some);
		s->ready_at += (uint32_t)some;
		done += some;
	}
	return (long)done;
}
