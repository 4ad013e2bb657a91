/* SPDX-License-Identifier: MIT
 *
 * Writes the wire format of protocol buffers. A failed allocation shows in the buffer (strbuf.failed).
 *
 *	size_t at = pb_begin(&b, 11);           // a message in field 11
 *	pb_uint(&b, 9, TYPE_INSTANT);
 *	pb_end(&b, at);
 */
#ifndef TOOLS_EXPORT_PROTOBUF_H
#define TOOLS_EXPORT_PROTOBUF_H

#include "base/base.h"

#define PB_MESSAGE_MAX ((1u << 28) - 1) /* bytes of a message that pb_begin() started */

void pb_varint(struct strbuf *b, uint64_t v);
void pb_uint(struct strbuf *b, unsigned field,
	     uint64_t v); /* uint32, uint64, enum, bool; int64 as its two's complement */
void pb_fixed64(struct strbuf *b, unsigned field, uint64_t v);
void pb_fixed32(struct strbuf *b, unsigned field, uint32_t v);
void pb_double(struct strbuf *b, unsigned field, double v);
void pb_bytes(struct strbuf *b, unsigned field, const void *p, size_t n);
void pb_string(struct strbuf *b, unsigned field, const char *s);
/* A message inside. Its length takes four bytes, whatever it is. */
size_t pb_begin(struct strbuf *b, unsigned field);
void pb_end(struct strbuf *b, size_t at);

#endif
