/* SPDX-License-Identifier: MIT
 * One connection, one question.
 */
#include "control/control.h"

#include <stdlib.h>

/* The daemon's sentence for the last failed call of this thread: openetw_last_error_text(). */
static __thread char last_text[256];

__attribute__((visibility("default"))) const char *openetw_last_error_text(void);
const char *openetw_last_error_text(void)
{
	return last_text;
}

static uint32_t fail(int err, const struct diag *d)
{
	if (d->text[0]) {
		memcpy(last_text, d->text, sizeof d->text);
		last_text[sizeof d->text - 1] = 0;
	} else {
		strncpy(last_text, strerror(-err), sizeof last_text - 1);
	}
	return win32_from_errno(err);
}

static int open_control(bool start, uint32_t *ret_code)
{
	struct diag d = {0};
	last_text[0] = 0;
	int fd = proto_connect_control(start, &d);
	if (fd == -ECONNREFUSED && !start) {
		/* No daemon: no session can exist. */
		*ret_code = ERROR_WMI_INSTANCE_NOT_FOUND;
		memcpy(last_text, "no trace session is running", 28);
		return -1;
	}
	if (fd < 0) {
		*ret_code = fail(fd, &d);
		return -1;
	}
	return fd;
}

uint32_t control_call(const void *req, long req_bytes, bool start, int timeout_ms,
		      struct control_reply *ret)
{
	uint32_t code;
	struct diag d = {0};
	if (req_bytes < 0) {
		return fail((int)req_bytes, &d);
	}
	int fd = open_control(start, &code);
	if (fd < 0) {
		return code;
	}
	int r = proto_call(fd, req, (size_t)req_bytes, ret->mem, sizeof ret->mem, &ret->message, NULL, NULL,
			   &code, timeout_ms);
	close(fd);
	if (r < 0) {
		return fail(r, &d);
	}
	ret->text[0] = 0;
	if (code != ERROR_SUCCESS && proto_get_str(&ret->message, PROTO_TAG_TEXT, ret->text, sizeof ret->text)) {
		memcpy(last_text, ret->text, sizeof last_text);
	}
	return code;
}

uint32_t control_data(struct proto_writer *w, bool start, void *out, uint32_t size, uint32_t *ret_len,
		      uint32_t small)
{
	struct control_reply *reply = malloc(sizeof *reply);
	const uint8_t *p;
	size_t n;
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint32_t code = control_call(w->mem, proto_end(w), start, CONTROL_TIMEOUT_MS, reply);
	if (code == ERROR_SUCCESS && !proto_get(&reply->message, PROTO_TAG_DATA, &p, &n)) {
		code = ERROR_INVALID_DATA;
	} else if (code == ERROR_SUCCESS) {
		*ret_len = (uint32_t)n;
		code = n > size ? small : ERROR_SUCCESS;
		if (code == ERROR_SUCCESS && n > 0) {
			memcpy(out, p, n);
		}
	}
	free(reply);
	return code;
}

uint32_t control_list(const void *req, long req_bytes, uint16_t item_type, uint32_t *ret_count,
		      control_item_fn each, void *ctx)
{
	static __thread uint8_t mem[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	struct diag d = {0};
	struct proto_message m;
	uint32_t code, count = 0;
	if (req_bytes < 0) {
		return fail((int)req_bytes, &d);
	}
	int fd = open_control(false, &code);
	if (fd < 0) {
		return code;
	}
	int r = proto_call(fd, req, (size_t)req_bytes, mem, sizeof mem, &m, NULL, NULL, &code, 10000);
	if (r == 0 && code == ERROR_SUCCESS && !proto_get_u32(&m, PROTO_TAG_COUNT, &count)) {
		r = -EBADMSG;
	}
	bool more = true;
	for (uint32_t i = 0; r == 0 && code == ERROR_SUCCESS && more && i < count;) {
		long n = proto_recv(fd, mem, sizeof mem, NULL, NULL, 10000);
		r = n == 0 ? -ECONNRESET : n < 0 ? (int)n : proto_parse(mem, (size_t)n, &m);
		if (r == 0 && (m.type & ~PROTO_REPLY) == item_type) {
			more = each(ctx, &m);
			i++;
		}
	}
	close(fd);
	if (r < 0) {
		return fail(r, &d);
	}
	*ret_count = count;
	return code;
}
