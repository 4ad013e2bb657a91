/* SPDX-License-Identifier: MIT
 * The decoder's JSON as text. It is well formed; these functions still never pass its end.
 */
#ifndef TOOLS_COMMON_JSON_TEXT_H
#define TOOLS_COMMON_JSON_TEXT_H

#include "base/base.h"

/* Where the value at s[i], or the string there with its quotes, ends. */
size_t cli_json_skip(const char *s, size_t n, size_t i);
size_t cli_json_skip_string(const char *s, size_t n, size_t i);
/* The text of a JSON value, into an emptied buffer: strings without quotes and escapes. */
void cli_json_plain(struct strbuf *b, const char *s, size_t n);

#endif
