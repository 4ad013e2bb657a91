/* SPDX-License-Identifier: MIT
 *
 * JSON that a client wrote, read by json-c, which is loaded when openetw mcp starts. Everything here is hostile: a text has
 * at most MCP_MESSAGE_MAX bytes, nests at most MCP_DEPTH_MAX levels, and is valid UTF-8. What we write ourselves needs no
 * library: strbuf_add_json().
 */
#ifndef TOOLS_MCP_MCP_JSON_H
#define TOOLS_MCP_MCP_JSON_H

#include "base/base.h"

#define MCP_MESSAGE_MAX (1u << 20)
#define MCP_DEPTH_MAX   32

struct mcp_json; /* a value; borrowed from the whole text that mcp_json_parse() returned */

enum mcp_kind { MCP_NULL, MCP_TRUTH, MCP_INTEGER, MCP_REAL, MCP_TEXT, MCP_ARRAY, MCP_OBJECT };

/* Loads the library, once. False: it is not there, or this build is without it; `why` says which. */
bool mcp_json_load(char *why, size_t cap);

/* One value and nothing behind it but blanks. NULL: `why` says what is wrong. */
struct mcp_json *mcp_json_parse(const char *s, size_t n, char *why, size_t cap);
void mcp_json_free(struct mcp_json *v); /* NULL is fine */

/* Of NULL: MCP_NULL. */
enum mcp_kind mcp_json_kind(const struct mcp_json *v);
/* The member of an object; NULL: there is none, it is null, or `v` is no object. */
struct mcp_json *mcp_json_member(const struct mcp_json *v, const char *name);
/* Members of an object by number. False: there are no more. */
bool mcp_json_member_at(const struct mcp_json *v, size_t i, const char **ret_name, struct mcp_json **ret);
size_t mcp_json_count(const struct mcp_json *v); /* of an array; else 0 */
struct mcp_json *mcp_json_at(const struct mcp_json *v, size_t i);
/* A text without NUL bytes. False: it is none. */
bool mcp_json_text(const struct mcp_json *v, const char **ret);
/* A whole number, also one that was written 5.0. False: it is none, or does not fit. */
bool mcp_json_integer(const struct mcp_json *v, int64_t *ret);
bool mcp_json_real(const struct mcp_json *v, double *ret);
/* Appends the value as JSON, on one line. */
void mcp_json_write(const struct mcp_json *v, struct strbuf *b);
bool mcp_json_truth(const struct mcp_json *v, bool *ret);

#endif
