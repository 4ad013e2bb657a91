/* SPDX-License-Identifier: MIT
 * One connection, one question.
 */
#include "control/control.h"

#include <stdlib.h>
#include <time.h>

#define LEAVING_TRIES 4
#define LEAVING_MS    50

__attribute__((visibility("default"))) const char *openetw_last_error_text(void);
const char *openetw_last_error_text(void)
{
	return err_text_get();
}

uint32_t control_refuse(uint32_t code, const char *why)
{
	err_text_set("%s", why);
	return code;
}

static uint32_t fail(int err, const struct diag *d)
{
	if (d->text[0]) {
		err_text_set("%s", d->text);
	} else {
		err_text_set("%s", strerror(-err));
	}
	return win32_from_errno(err);
}

static int open_control(bool start, uint32_t *ret_code)
{
	struct diag d = {0};
	err_text_clear();
	int fd = proto_connect_control(start, &d);
	if (fd == -ECONNREFUSED && !start) {
		/* No daemon: no session can exist. */
		*ret_code = ERROR_WMI_INSTANCE_NOT_FOUND;
		err_text_set("%s", strstr(d.text, "all users") ? d.text : "no trace session is running");
		return -1;
	}
	if (fd < 0) {
		*ret_code = fail(fd, &d);
		return -1;
	}
	return fd;
}

uint32_t control_call(const void *req, long req_bytes, bool start, int timeout_ms, struct control_reply *ret)
{
	uint32_t code;
	struct diag d = {0};
	if (req_bytes < 0) {
		return fail((int)req_bytes, &d);
	}
	int r = -ECONNRESET;
	/* An etwd that was just killed, or leaves because it was idle, may still take a connection.
	 * Nothing of what it was asked then survives it, so the next one is asked. */
	for (int i = 0; r == -ECONNRESET && i < (start ? LEAVING_TRIES : 1); i++) {
		if (i > 0) {
			nanosleep(&(struct timespec){.tv_nsec = LEAVING_MS * 1000000l}, NULL);
		}
		int fd = open_control(start, &code);
		if (fd < 0) {
			return code;
		}
		r = proto_call(fd, req, (size_t)req_bytes, ret->mem, sizeof ret->mem, &ret->message, NULL, NULL, &code,
			       timeout_ms);
		close(fd);
		r = r == -EPIPE ? -ECONNRESET : r;
	}
	if (r < 0) {
		return fail(r, &d);
	}
	ret->text[0] = 0;
	if (code != ERROR_SUCCESS && proto_get_str(&ret->message, PROTO_TAG_TEXT, ret->text, sizeof ret->text)) {
		err_text_set("%s", ret->text); /* the daemon's own sentence */
	}
	return code;
}

uint32_t control_data(struct proto_writer *w, bool start, void *out, uint32_t size, uint32_t *ret_len, uint32_t small)
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

uint32_t control_list(const void *req, long req_bytes, uint16_t item_type, uint32_t *ret_count, control_item_fn each,
		      void *ctx)
{
	/* Not thread-local: that would be part of every thread of every program. */
	uint8_t *mem = malloc(PROTO_MESSAGE_MAX);
	struct diag d = {0};
	struct proto_message m;
	uint32_t code, count = 0;
	if (req_bytes < 0 || !mem) {
		free(mem);
		return fail(req_bytes < 0 ? (int)req_bytes : -ENOMEM, &d);
	}
	int fd = open_control(false, &code);
	if (fd < 0) {
		free(mem);
		return code;
	}
	int r = proto_call(fd, req, (size_t)req_bytes, mem, PROTO_MESSAGE_MAX, &m, NULL, NULL, &code, 10000);
	if (r == 0 && code == ERROR_SUCCESS && !proto_get_u32(&m, PROTO_TAG_COUNT, &count)) {
		r = -EBADMSG;
	}
	bool more = true;
	for (uint32_t i = 0; r == 0 && code == ERROR_SUCCESS && more && i < count;) {
		long n = proto_recv(fd, mem, PROTO_MESSAGE_MAX, NULL, NULL, 10000);
		r = n == 0 ? -ECONNRESET : n < 0 ? (int)n : proto_parse(mem, (size_t)n, &m);
		if (r == 0 && (m.type & ~PROTO_REPLY) == item_type) {
			more = each(ctx, &m);
			i++;
		}
	}
	close(fd);
	free(mem);
	if (r < 0) {
		return fail(r, &d);
	}
	*ret_count = count;
	return code;
}
