/* SPDX-License-Identifier: MIT */
#include "tools/export/protobuf.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

void pb_varint(struct strbuf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;
	do {
		bytes[n] = (uint8_t)(v & 0x7F);
		v >>= 7;
		bytes[n++] |= v ? 0x80 : 0;
	} while (v);
	strbuf_add(b, bytes, n);
}

static void tag(struct strbuf *b, unsigned field, enum wire wire)
{
	pb_varint(b, (uint64_t)field << 3 | wire);
}

void pb_uint(struct strbuf *b, unsigned field, uint64_t v)
{
	tag(b, field, VARINT);
	pb_varint(b, v);
}

void pb_fixed64(struct strbuf *b, unsigned field, uint64_t v)
{
	uint8_t bytes[8];
	le64_put(bytes, v);
	tag(b, field, FIXED64);
	strbuf_add(b, bytes, sizeof bytes);
}

void pb_fixed32(struct strbuf *b, unsigned field, uint32_t v)
{
	uint8_t bytes[4];
	le32_put(bytes, v);
	tag(b, field, FIXED32);
	strbuf_add(b, bytes, sizeof bytes);
}

void pb_double(struct strbuf *b, unsigned field, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	pb_fixed64(b, field, bits);
}

void pb_bytes(struct strbuf *b, unsigned field, const void *p, size_t n)
{
	tag(b, field, BYTES);
	pb_varint(b, n);
	strbuf_add(b, p, n);
}

void pb_string(struct strbuf *b, unsigned field, const char *s)
{
	pb_bytes(b, field, s, strlen(s));
}

size_t pb_begin(struct strbuf *b, unsigned field)
{
	static const uint8_t room[4];
	tag(b, field, BYTES);
	strbuf_add(b, room, sizeof room);
	return b->len;
}

void pb_end(struct strbuf *b, size_t at)
{
	size_t n = b->len - at;
	if (b->failed) {
		return;
	}
	if (n > PB_MESSAGE_MAX) {
		b->failed = true;
		return;
	}
	for (int i = 0; i < 4; i++) { /* zeros in front are allowed in a varint */
		b->s[at - 4 + (size_t)i] = (char)((n >> (7 * i) & 0x7F) | (i < 3 ? 0x80 : 0));
	}
}
