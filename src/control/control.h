/* SPDX-License-Identifier: MIT
 *
 * control: start, stop, query, update and flush trace sessions, enable providers, list both. Front door of
 * the folder for its own files; the Windows-named functions are in api_*.c.
 *
 * A call = check the caller's block -> struct proto_session -> one connection, one request, one reply ->
 * fill the caller's block. Nothing is kept between calls, so any thread may call anything.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "base/base.h"
#include "proto/proto.h"

#include <evntrace.h>

#define CONTROL_TIMEOUT_MS 60000
#define CONTROL_NAME_MAX   1024u /* characters of a session or file name [doc] */

/* A caller's EVENT_TRACE_PROPERTIES(_V2) with its two string areas. */
struct control_block {
	EVENT_TRACE_PROPERTIES *p;
	bool wide;         /* the string areas hold 16-bit units, else UTF-8 */
	bool private_mode; /* EVENT_TRACE_PRIVATE_LOGGER_MODE */
};

/* Sizes, flags and offsets; `for_start` adds the checks of StartTrace. Win32 code. */
uint32_t control_block_check(const struct control_block *b, bool for_start, size_t name_units);
/* The file name in the block as an absolute Linux path in UTF-16; *ret_len 0 when there is none. */
uint32_t control_block_file(const struct control_block *b, uint16_t *out, size_t cap, uint32_t *ret_len);
/* Fill in what the daemon said. ERROR_MORE_DATA when a name has no room; the rest is filled. */
uint32_t control_block_fill(const struct control_block *b, const struct proto_session *s);

/* A session name given by the caller (either width) as UTF-16. ERROR_INVALID_PARAMETER when empty,
 * ERROR_BAD_LENGTH when longer than CONTROL_NAME_MAX. */
uint32_t control_name(const void *name, bool wide, uint16_t *out, uint32_t *ret_len);

/* Linux spelling of a path as Windows programs pass them: backslashes (when there is no slash), a
 * drive letter, a relative path (against the current directory). -ENAMETOOLONG. */
int control_path(const char *in, char *out, size_t cap);

/* Returns `code`, and has openetw_last_error_text() say why. */
uint32_t control_refuse(uint32_t code, const char *why);

struct control_reply {
	uint8_t mem[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	struct proto_message message;
	char text[256]; /* the daemon's sentence on failure */
};
/* Connect, ask, answer. Win32 code: the daemon's, or of the transport. `start` starts etwd when
 * needed; without it a missing daemon is ERROR_WMI_INSTANCE_NOT_FOUND (nothing runs). */
uint32_t control_call(const void *req, long req_bytes, bool start, int timeout_ms, struct control_reply *ret);
/* Called with the log file of each session that a call of this process stopped, before that returns: what
 * belongs into a finished file and is not etwd's to know. Once, before any other call. */
typedef void (*control_finish_fn)(const char *path);
void control_set_finisher(control_finish_fn fn);
/* Of the session that was just stopped; an empty path is none. */
void control_finished(const char *path);
struct openetw_loss;
struct proto_session;
/* A session's ledger as programs get it. */
void control_loss_of(const struct proto_session *s, struct openetw_loss *ret);

/* A question whose reply carries the caller's answer as PROTO_TAG_DATA. *ret_len: its bytes. `small`
 * is the code for a buffer that is too small; then nothing is copied. */
uint32_t control_data(struct proto_writer *w, bool start, void *out, uint32_t size, uint32_t *ret_len, uint32_t small);
/* For lists: the reply, then its items, each handed to `each` until it returns false. */
typedef bool (*control_item_fn)(void *ctx, const struct proto_message *item);
uint32_t control_list(const void *req, long req_bytes, uint16_t item_type, uint32_t *ret_count, control_item_fn each,
		      void *ctx);

#endif
