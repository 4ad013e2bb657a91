/* SPDX-License-Identifier: MIT
 *
 * JSON that a client wrote, read by json-c, which is loaded when openetw mcp or view starts. Everything here is hostile: a text has
 * at most JSON_BYTES_MAX bytes, nests at most JSON_DEPTH_MAX levels, and is valid UTF-8. What we write ourselves needs no
 * library: json_put.h.
 */
#ifndef TOOLS_COMMON_JSON_READ_H
#define TOOLS_COMMON_JSON_READ_H

#include "base/base.h"

#define JSON_BYTES_MAX (1u << 20)
#define JSON_DEPTH_MAX 32

struct json_value; /* a value; borrowed from the whole text that json_parse() returned */

enum json_kind { JSON_NULL, JSON_TRUTH, JSON_INTEGER, JSON_REAL, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

/* Loads the library, once. False: it is not there, or this build is without it; `why` says which. */
bool json_load(char *why, size_t cap);

/* One value and nothing behind it but blanks. NULL: `why` says what is wrong. */
struct json_value *json_parse(const char *s, size_t n, char *why, size_t cap);
void json_free(struct json_value *v); /* NULL is fine */

/* Of NULL: JSON_NULL. */
enum json_kind json_kind_of(const struct json_value *v);
/* The member of an object; NULL: there is none, it is null, or `v` is no object. */
struct json_value *json_member(const struct json_value *v, const char *name);
/* Members of an object by number. False: there are no more. */
bool json_member_at(const struct json_value *v, size_t i, const char **ret_name, struct json_value **ret);
size_t json_count(const struct json_value *v); /* of an array; else 0 */
struct json_value *json_at(const struct json_value *v, size_t i);
/* A text without NUL bytes. False: it is none. */
bool json_text(const struct json_value *v, const char **ret);
/* A whole number, also one that was written 5.0. False: it is none, or does not fit. */
bool json_integer(const struct json_value *v, int64_t *ret);
bool json_real(const struct json_value *v, double *ret);
/* Appends the value as JSON, on one line. */
void json_write(const struct json_value *v, struct strbuf *b);
bool json_truth(const struct json_value *v, bool *ret);

#endif
