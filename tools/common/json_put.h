/* SPDX-License-Identifier: MIT
 *
 * JSON that is written into a strbuf, member by member: {"a":1,"b":[2,3]} is
 *
 *	strbuf_addc(b, '{');
 *	json_put_count(b, "a", 1);
 *	json_put_name(b, "b");
 *	strbuf_addc(b, '[');
 *	json_put_count(b, NULL, 2);
 *	json_put_count(b, NULL, 3);
 *	strbuf_adds(b, "]}");
 */
#ifndef TOOLS_COMMON_JSON_PUT_H
#define TOOLS_COMMON_JSON_PUT_H

#include "base/base.h"

/* "name":, with a comma in front unless an object or array begins there. */
void json_put_name(struct strbuf *b, const char *name);
void json_put_comma(struct strbuf *b);
void json_put_text(struct strbuf *b, const char *name, const char *s); /* NULL: null */
/* A text without a name or comma, of at most about `most` bytes of JSON; what is too long loses its end. How many of its
 * bytes were written. */
size_t json_put_part(struct strbuf *b, const char *s, size_t n, size_t most);
void json_put_integer(struct strbuf *b, const char *name, int64_t v);
void json_put_count(struct strbuf *b, const char *name, uint64_t v);
void json_put_real(struct strbuf *b, const char *name, double v);
void json_put_truth(struct strbuf *b, const char *name, bool v);

#endif
