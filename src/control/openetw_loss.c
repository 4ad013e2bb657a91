/* SPDX-License-Identifier: MIT
 * Our additions to the controller API: the loss ledger and error texts.
 */
#include "base/sized.h"
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

void control_loss_of(const struct proto_session *s, struct openetw_loss *ret)
{
	*ret = (struct openetw_loss){
		.size = sizeof *ret,
		.events = s->events,
		.bytes_written = s->bytes_written,
		.pool_full = s->loss[PROTO_LOSS_POOL_FULL],
		.nesting = s->loss[PROTO_LOSS_NESTING],
		.too_big = s->loss[PROTO_LOSS_TOO_BIG],
		.detached = s->loss[PROTO_LOSS_DETACHED],
		.rejected = s->loss[PROTO_LOSS_REJECTED],
		.no_buffer = s->loss[PROTO_LOSS_NO_BUFFER],
		.disk_events = s->loss[PROTO_LOSS_DISK_EVENTS],
		.disk_buffers = s->loss[PROTO_LOSS_DISK_BUFFERS],
		.realtime_buffers = s->loss[PROTO_LOSS_RT_BUFFERS],
		.realtime_events = s->loss[PROTO_LOSS_RT_EVENTS],
		.torn = s->loss[PROTO_LOSS_TORN],
		.overwritten = s->loss[PROTO_LOSS_OVERWRITTEN],
		.gone_events = s->loss[PROTO_LOSS_GONE_EVENTS],
		.gone_buffers = s->loss[PROTO_LOSS_GONE_BUFFERS],
		.realtime_refused = s->loss[PROTO_LOSS_RT_REFUSED],
		.disbelieved = s->loss[PROTO_LOSS_DISBELIEVED],
		.file_time = s->file_fate_filetime,
		.file_state = s->file_fate,
	};
}

uint32_t openetw_session_loss(const char *session_name, struct openetw_loss *loss)
{
	uint16_t name[CONTROL_NAME_MAX + 1];
	struct proto_session s = {.name = name};
	if (session_name == NULL || !SIZED_VALID(loss, overwritten)) {
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
		struct openetw_loss l;
		control_loss_of(&got, &l);
		SIZED_GIVE(loss, &l);
	}
	free(reply);
	return code;
}
