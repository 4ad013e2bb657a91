/* SPDX-License-Identifier: MIT
 * EventAccessControl, EventAccessQuery, EventAccessRemove: rights on the GUIDs of providers and
 * sessions. The daemon keeps and checks them.
 */
#include "control/control.h"

#include <evntcons.h>

#include <stdlib.h>

#define OPERATION_REMOVE 16u

/* Bytes of a SID, 0 when it is none. */
static size_t sid_bytes(const SID *sid)
{
	return sid && sid->Revision == SID_REVISION && sid->SubAuthorityCount <= SID_MAX_SUB_AUTHORITIES
		       ? 8 + 4u * (size_t)sid->SubAuthorityCount
		       : 0;
}

static uint32_t send_change(struct proto_writer *w)
{
	struct control_reply *reply = malloc(sizeof *reply);
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	/* Rights are set before there is a session: that starts the daemon. */
	uint32_t code = control_call(w->mem, proto_end(w), true, CONTROL_TIMEOUT_MS, reply);
	free(reply);
	return code;
}

ULONG EVNTAPI EventAccessControl(LPGUID Guid, ULONG Operation, PSID Sid, ULONG Rights, BOOLEAN AllowOrDeny)
{
	size_t n = sid_bytes(Sid);
	if (Guid == NULL || Operation >= EventSecurityMax || n == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t req[256];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_ACCESS_SET, 1);
	proto_put(&w, PROTO_TAG_GUID, Guid, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, Operation);
	proto_put(&w, PROTO_TAG_SID, Sid, n);
	proto_put_u32(&w, PROTO_TAG_RIGHTS, Rights);
	proto_put_u32(&w, PROTO_TAG_ALLOW, AllowOrDeny != FALSE);
	return send_change(&w);
}

ULONG EVNTAPI EventAccessRemove(LPGUID Guid)
{
	if (Guid == NULL) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t req[64];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_ACCESS_SET, 1);
	proto_put(&w, PROTO_TAG_GUID, Guid, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, OPERATION_REMOVE);
	return send_change(&w);
}

ULONG EVNTAPI EventAccessQuery(LPGUID Guid, PSECURITY_DESCRIPTOR Buffer, PULONG BufferSize)
{
	if (Guid == NULL || BufferSize == NULL || (Buffer == NULL && *BufferSize != 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t req[64];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_ACCESS_QUERY, 1);
	proto_put(&w, PROTO_TAG_GUID, Guid, 16);
	return control_data(&w, true, Buffer, *BufferSize, BufferSize, ERROR_MORE_DATA);
}
