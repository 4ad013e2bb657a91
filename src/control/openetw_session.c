/* SPDX-License-Identifier: MIT
 * Our additions to the controller API: owner, size and limits of sessions, names of providers.
 */
#include "base/sized.h"
#include "control/control.h"

#include <openetw/openetw.h>

#include <stdio.h>
#include <stdlib.h>

struct rotation {
	uint32_t ms, keep;
};

static uint32_t call_with(const char *session_name, uint32_t code, struct proto_session *inout,
			  const struct rotation *rotation)
{
	uint16_t name[CONTROL_NAME_MAX + 1];
	inout->name = name;
	uint32_t error = control_name(session_name, false, name, &inout->name_len);
	struct control_reply *reply = error ? NULL : malloc(sizeof *reply);
	if (error || !reply) {
		return error ? error : ERROR_NOT_ENOUGH_MEMORY;
	}
	uint8_t req[4096];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_CONTROL, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, code);
	proto_put_session(&w, inout);
	if (rotation) {
		proto_put_u32(&w, PROTO_TAG_TIMEOUT_MS, rotation->ms);
		proto_put_u32(&w, PROTO_TAG_COUNT, rotation->keep);
	}
	error = control_call(req, proto_end(&w), false, 10000, reply);
	if (error == ERROR_SUCCESS && !proto_get_session(&reply->message, inout)) {
		error = ERROR_INVALID_DATA;
	}
	inout->name = inout->log_file = NULL; /* they would point into the reply */
	free(reply);
	return error;
}

static uint32_t call(const char *session_name, uint32_t code, struct proto_session *inout)
{
	return call_with(session_name, code, inout, NULL);
}

uint32_t openetw_session_rotate(const char *session_name, uint32_t seconds, uint32_t keep)
{
	struct proto_session s = {0};
	struct rotation r = {seconds * 1000, keep};
	if (!session_name || seconds > UINT32_MAX / 1000) {
		return ERROR_INVALID_PARAMETER;
	}
	return call_with(session_name, PROTO_CONTROL_ROTATION, &s, &r);
}

uint32_t openetw_session_query(const char *session_name, struct openetw_session *session)
{
	if (!session_name || !SIZED_VALID(session, consumers)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct proto_session s = {0};
	uint32_t error = call(session_name, EVENT_TRACE_CONTROL_QUERY, &s);
	if (error == ERROR_SUCCESS) {
		const struct openetw_session known = {
			.owner_uid = s.owner_uid,
			.started = s.start_filetime,
			.events = s.events,
			.bytes_written = s.bytes_written,
			.expires = s.expires_filetime,
			.quota_bytes = s.quota_bytes,
			.owner_pid = s.owner_pid,
			.consumers = s.consumers,
		};
		SIZED_GIVE(session, &known);
	}
	return error;
}

uint32_t openetw_session_kernel(const char *session_name, struct openetw_kernel *kernel)
{
	uint16_t name[CONTROL_NAME_MAX + 1];
	uint8_t req[4096];
	struct proto_writer w;
	struct proto_session s = {.name = name};
	if (!session_name || !SIZED_VALID(kernel, note)) {
		return ERROR_INVALID_PARAMETER;
	}
	uint32_t error = control_name(session_name, false, name, &s.name_len);
	struct control_reply *reply = error ? NULL : malloc(sizeof *reply);
	if (error || !reply) {
		return error ? error : ERROR_NOT_ENOUGH_MEMORY;
	}
	proto_begin(&w, req, sizeof req, PROTO_CONTROL, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, EVENT_TRACE_CONTROL_QUERY);
	proto_put_session(&w, &s);
	error = control_call(req, proto_end(&w), false, 10000, reply);
	const struct proto_message *m = &reply->message;
	const uint8_t *p;
	size_t n;
	if (error == ERROR_SUCCESS && (!proto_get(m, PROTO_TAG_KERNEL_MASK, &p, &n) || n != sizeof kernel->masks)) {
		error = ERROR_NOT_FOUND;
	}
	if (error == ERROR_SUCCESS) {
		struct openetw_kernel known = {0};
		memcpy(known.masks, p, n);
		if (proto_get(m, PROTO_TAG_KERNEL_STACKS, &p, &n) && n <= sizeof known.stack) {
			memcpy(known.stack, p, n);
			known.stacks = (uint32_t)(n / 2);
		}
		proto_get_str(m, PROTO_TAG_KERNEL_NOTE, known.note, sizeof known.note);
		if (proto_get(m, PROTO_TAG_KERNEL_COST, &p, &n) && n >= 32) {
			known.cpu_ns = le64_get(p);
			known.memory = le64_get(p + 8);
			known.restarts = (uint32_t)le64_get(p + 16);
			known.collector_pid = (uint32_t)le64_get(p + 24);
		}
		SIZED_GIVE(kernel, &known);
	}
	free(reply);
	return error;
}

uint32_t openetw_session_limit(const char *session_name, uint64_t expires, uint64_t quota_bytes, uint32_t owner_pid)
{
	if (!session_name) {
		return ERROR_INVALID_PARAMETER;
	}
	struct proto_session s = {
		.expires_filetime = expires,
		.quota_bytes = quota_bytes,
		.owner_pid = owner_pid,
	};
	return call(session_name, PROTO_CONTROL_LIMITS, &s);
}

uint32_t openetw_name_provider(const struct openetw_guid *guid, const char *name, uint32_t *registrations)
{
	name = name ? name : "";
	if (!guid || strlen(name) > 255) {
		return ERROR_INVALID_PARAMETER;
	}
	struct control_reply *reply = malloc(sizeof *reply);
	if (!reply) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint8_t req[512];
	struct proto_writer w;
	uint32_t count = 0;
	proto_begin(&w, req, sizeof req, PROTO_NAME_PROVIDER, 1);
	proto_put(&w, PROTO_TAG_GUID, guid->bytes, 16);
	proto_put_str(&w, PROTO_TAG_NAME, name);
	uint32_t error = control_call(req, proto_end(&w), false, 10000, reply);
	if (error == ERROR_SUCCESS && proto_get_u32(&reply->message, PROTO_TAG_COUNT, &count) && registrations) {
		*registrations = count;
	}
	free(reply);
	return error;
}

struct names {
	char *out;
	uint32_t size, used;
};

static bool take_private(void *ctx, const struct proto_message *item)
{
	struct names *n = ctx;
	struct proto_session s;
	if (proto_get_session(item, &s) && s.name) {
		uint32_t room = n->size - n->used - 1;
		long len = utf16_to_utf8_lossy(s.name, s.name_len, n->out + n->used, room);
		if (len <= 0 || (uint32_t)len >= room) {
			n->out[n->used] = 0;
			return false;
		}
		n->used += (uint32_t)len + 1;
		n->out[n->used] = 0;
	}
	return n->used + 2 < n->size;
}

uint32_t openetw_private_sessions(char *names, uint32_t size)
{
	uint8_t req[64];
	struct proto_writer w;
	struct names n = {names, size, 0};
	uint32_t count = 0;
	if (!names || size < 2) {
		return ERROR_INVALID_PARAMETER;
	}
	names[0] = names[1] = 0;
	proto_begin(&w, req, sizeof req, PROTO_LIST, 1);
	proto_put_u32(&w, PROTO_TAG_CODE, PROTO_LIST_PRIVATE);
	uint32_t error = control_list(req, proto_end(&w), PROTO_LIST_ITEM, &count, take_private, &n);
	return error == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_SUCCESS : error;
}

uint32_t openetw_daemon_counters(char *json, uint32_t size)
{
	if (!json || size == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	struct control_reply *reply = malloc(sizeof *reply);
	if (!reply) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint8_t req[64];
	struct proto_writer w;
	const uint8_t *p;
	size_t n;
	proto_begin(&w, req, sizeof req, PROTO_STATS, 1);
	uint32_t error = control_call(req, proto_end(&w), false, 10000, reply);
	if (error == ERROR_SUCCESS && !proto_get(&reply->message, PROTO_TAG_TEXT, &p, &n)) {
		error = ERROR_INVALID_DATA;
	}
	if (error == ERROR_SUCCESS) {
		n = BASE_MIN(n, (size_t)size - 1);
		memcpy(json, p, n);
		json[n] = 0;
	}
	free(reply);
	return error;
}

struct wanted_name {
	char *out;
	uint32_t size;
	bool found;
};

static bool take_name(void *ctx, const struct proto_message *item)
{
	struct wanted_name *n = ctx;
	char name[1024];
	if (proto_get_str(item, PROTO_TAG_NAME, name, sizeof name) && name[0]) {
		snprintf(n->out, n->size, "%s", name);
		n->found = true;
	}
	return !n->found;
}

uint32_t openetw_registered_name(const struct openetw_guid *guid, char *name, uint32_t size)
{
	if (!guid || !name || size == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t req[64];
	struct proto_writer w;
	struct wanted_name n = {name, size, false};
	uint32_t count = 0;
	proto_begin(&w, req, sizeof req, PROTO_GUID_INFO, 1);
	proto_put(&w, PROTO_TAG_GUID, guid->bytes, 16);
	uint32_t error = control_list(req, proto_end(&w), PROTO_GUID_INFO_ITEM, &count, take_name, &n);
	if (n.found) {
		return ERROR_SUCCESS;
	}
	return error == ERROR_SUCCESS || error == ERROR_WMI_INSTANCE_NOT_FOUND ? ERROR_NOT_FOUND : error;
}

struct recent {
	openetw_registration_fn each;
	void *ctx;
};

static bool give_recent(void *ctx, const struct proto_message *item)
{
	const struct recent *r = ctx;
	struct openetw_registration one = {.size = sizeof one};
	struct guid guid;
	const uint8_t *group;
	size_t n;
	if (!proto_get_guid(item, PROTO_TAG_GUID, &guid)) {
		return true;
	}
	memcpy(one.guid.bytes, guid.b, 16);
	if (proto_get(item, PROTO_TAG_DATA, &group, &n) && n == 16) {
		memcpy(one.group.bytes, group, 16);
	}
	proto_get_u64(item, PROTO_TAG_SEQUENCE, &one.number);
	proto_get_u32(item, PROTO_TAG_PID, &one.pid);
	proto_get_str(item, PROTO_TAG_NAME, one.name, sizeof one.name);
	proto_get_str(item, PROTO_TAG_EXE_NAME, one.process, sizeof one.process);
	return r->each(r->ctx, &one);
}

uint32_t openetw_recent_registrations(openetw_registration_fn each, void *ctx)
{
	uint8_t req[64];
	struct proto_writer w;
	struct recent r = {each, ctx};
	uint32_t count = 0;
	if (!each) {
		return ERROR_INVALID_PARAMETER;
	}
	proto_begin(&w, req, sizeof req, PROTO_RECENT, 1);
	uint32_t error = control_list(req, proto_end(&w), PROTO_RECENT_ITEM, &count, give_recent, &r);
	return error == ERROR_WMI_INSTANCE_NOT_FOUND ? ERROR_SUCCESS : error;
}
