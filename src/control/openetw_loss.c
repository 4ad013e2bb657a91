/* SPDX-License-Identifier: MIT
 * Our additions to the controller API: the loss ledger and error texts.
 */
#include "control/control.h"

#include <openetw/openetw.h>

#include <stdlib.h>

const char *openetw_error_text(uint32_t win32_code)
{
	return win32_text(win32_code);
}

const char *openetw_error_name(uint32_t win32_code)
{
	return win32_name(win32_code);
}

uint32_t openetw_session_loss(const char *session_name, struct openetw_loss *loss)
{
	uint16_t name[CONTROL_NAME_MAX + 1];
	struct proto_session s = {.name = name};
	if (session_name == NULL || loss == NULL ||
	    (loss->size != sizeof *loss && loss->size != OPENETW_LOSS_SIZE_1)) {
		return ERROR_INVALID_PARAMETER;
	}
	uint32_t code = control_name(session_name, false, name, &s.name_len);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	uint8_t req[4096];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_CONTROL, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, EVENT_TRACE_CONTROL_QUERY);
	proto_put_session(&w, &s);
	struct control_reply *reply = malloc(sizeof *reply);
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	code = control_call(req, proto_end(&w), false, 10000, reply);
	struct proto_session got;
	if (code == ERROR_SUCCESS && !proto_get_session(&reply->message, &got)) {
		code = ERROR_INVALID_DATA;
	}
	if (code == ERROR_SUCCESS) {
		const struct openetw_loss l = {
			.size = loss->size,
			.events = got.events,
			.bytes_written = got.bytes_written,
			.pool_full = got.loss[PROTO_LOSS_POOL_FULL],
			.nesting = got.loss[PROTO_LOSS_NESTING],
			.too_big = got.loss[PROTO_LOSS_TOO_BIG],
			.detached = got.loss[PROTO_LOSS_DETACHED],
			.rejected = got.loss[PROTO_LOSS_REJECTED],
			.no_buffer = got.loss[PROTO_LOSS_NO_BUFFER],
			.disk_events = got.loss[PROTO_LOSS_DISK_EVENTS],
			.disk_buffers = got.loss[PROTO_LOSS_DISK_BUFFERS],
			.realtime_buffers = got.loss[PROTO_LOSS_RT_BUFFERS],
			.realtime_events = got.loss[PROTO_LOSS_RT_EVENTS],
			.torn = got.loss[PROTO_LOSS_TORN],
			.overwritten = got.loss[PROTO_LOSS_OVERWRITTEN],
			.gone_events = got.loss[PROTO_LOSS_GONE_EVENTS],
			.gone_buffers = got.loss[PROTO_LOSS_GONE_BUFFERS],
			.file_time = got.file_fate_filetime,
			.file_state = got.file_fate,
		};
		memcpy(loss, &l, loss->size);
	}
	free(reply);
	return code;
}
