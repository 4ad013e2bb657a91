/* SPDX-License-Identifier: MIT
 *
 * Values inside JSON that our own decoder made, so it is well formed. The cursor still never passes the end.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/base.h"

/* The place behind a string that begins at i, and behind a value. */
size_t json_text_skip_string(const char *s, size_t n, size_t i);
size_t json_text_skip(const char *s, size_t n, size_t i);
/* The text of a value: a string without quotes and escapes. Replaces what was in `b`. */
void json_text_plain(struct strbuf *b, const char *s, size_t n);
/* Narrows *s, *n to what a path names: "Price.Value", "0". False: there is none. */
bool json_text_member(const char **s, size_t *n, const char *path);

#endif
