/* SPDX-License-Identifier: MIT
 * Information classes of a session (TraceSetInformation, TraceQueryInformation) that have a meaning
 * without kernel events, and provider groups.
 */
#include "etw/values/enable_properties.h"
#include "etw/values/errors.h"
#include "etw/values/info_classes.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_session.h"
#include "proto/proto.h"

#include <stdlib.h>

/* ---- lists of GUIDs that a session keeps
 * -------------------------------------------------------- */

static uint32_t replace_guids(struct guid_list *l, const uint8_t *p, size_t n)
{
	if (n % 16 != 0) {
		return ERROR_BAD_LENGTH;
	}
	if (n / 16 > ETWD_GUID_LIST_MAX) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid *at = n ? malloc(n) : NULL;
	if (n && !at) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	if (n) {
		memcpy(at, p, n);
	}
	free(l->at);
	*l = (struct guid_list){at, (uint32_t)(n / 16)};
	return 0;
}

bool etwd_guid_listed(const struct guid_list *l, const struct guid *g)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (guid_equal(&l->at[i], g)) {
			return true;
		}
	}
	return false;
}

/* A member of a group that the session does not want: publish what changes. */
static void republish_members(struct etwd *d, struct session *s)
{
	struct enable *e;
	LIST_FOREACH(e, &s->enables, of_session) {
		struct registration *r;
		LIST_FOREACH(r, &e->provider->members, of_group) {
			etwd_enable_publish(d, r);
		}
	}
}

/* u32 seconds, u16 count, u16 reserved, GUID[count]. */
static uint32_t set_capture(struct session *s, const uint8_t *p, size_t n)
{
	if (n == 0) {
		s->capture_s = 0;
		return replace_guids(&s->capture, NULL, 0);
	}
	if (n < 8) {
		return ERROR_BAD_LENGTH;
	}
	uint32_t seconds = le32_get(p);
	uint16_t count = le16_get(p + 4);
	if (n != 8 + 16 * (size_t)count) {
		return ERROR_BAD_LENGTH;
	}
	if (seconds < ETWD_CAPTURE_SECONDS_MIN || count == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	uint32_t code = replace_guids(&s->capture, p + 8, n - 8);
	if (code == 0) {
		s->capture_s = seconds;
		s->capture_next_ns = etwd_now_ns() + seconds * 1000000000ull;
	}
	return code;
}

void etwd_info_tick(struct etwd *d, struct session *s, uint64_t now_ns)
{
	if (s->capture_s == 0 || now_ns < s->capture_next_ns) {
		return;
	}
	s->capture_next_ns = now_ns + s->capture_s * 1000000000ull;
	for (uint32_t i = 0; i < s->capture.count; i++) {
		etwd_enable_capture(d, s, &s->capture.at[i]);
	}
}

/* ---- requests
 * ------------------------------------------------------------------------------------ */

static struct session *running(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct session *s = etwd_session_find(d, m, c, 0);
	return s && s->state == SESSION_RUNNING ? s : NULL;
}

void etwd_info_set(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t class = 0, code;
	const uint8_t *p = NULL;
	size_t n = 0;
	struct session *s = running(d, c, m);
	if (!proto_get_u32(m, PROTO_TAG_INFO_CLASS, &class)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "SET_INFO needs an information class");
		return;
	}
	proto_get(m, PROTO_TAG_DATA, &p, &n);
	if (etwd_kernel_set_info(d, c, m, s, class, p, n)) {
		return;
	}
	if (!s) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "no such trace session is running");
		return;
	}
	switch (class) {
	case TraceSetDisallowList:
		code = replace_guids(&s->disallowed, p, n);
		if (code == 0) {
			republish_members(d, s);
		}
		break;
	case TracePeriodicCaptureStateListInfo: code = set_capture(s, p, n); break;
	case TraceProviderBinaryTracking:
		code = n == 1 ? 0 : ERROR_BAD_LENGTH;
		s->no_binaries = code == 0 ? p[0] == 0 : s->no_binaries;
		break;
	default: code = ERROR_NOT_SUPPORTED;
	}
	etwd_reply_status(d, c, m, code, NULL);
}

void etwd_info_reply(struct etwd *d, struct conn *c, const struct proto_message *m, const void *p, size_t n)
{
	struct proto_writer w;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put(&w, PROTO_TAG_DATA, p, n);
	etwd_conn_send(d, c, &w, NULL, 0);
}

static bool may_list(const struct etwd *d, const struct conn *c, const struct process *p)
{
	return !d->system || c->uid == 0 || c->uid == p->uid;
}

static void group_list(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct strbuf b = {0};
	MAP_ALL(&d->providers, at) {
		const struct provider *p = map_pointer(&d->providers, at);
		const struct registration *r;
		bool seen = false;
		LIST_FOREACH(r, &p->members, of_group) {
			seen |= may_list(d, c, r->process);
		}
		if (seen && b.len + 16 <= ETWD_GUID_LIST_MAX * 16) {
			strbuf_add(&b, p->guid.b, 16);
		}
	}
	if (b.failed) {
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
	} else {
		etwd_info_reply(d, c, m, b.len ? (const void *)b.s : "", b.len);
	}
	strbuf_finish(&b);
}

/* u32 n, TRACE_ENABLE_INFO[n], u32 m, GUID[m] */
static void group_info(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct guid g;
	struct strbuf b = {0}, members = {0};
	if (!proto_get_guid(m, PROTO_TAG_GUID, &g)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "a group has a GUID");
		return;
	}
	struct provider *p = etwd_provider_find(d, &g, false);
	const struct registration *r;
	struct enable *e;
	uint32_t enables = 0;
	strbuf_add(&b, &enables, 4);
	if (p) {
		LIST_FOREACH(e, &p->enables, of_provider) {
			if (e->args->properties & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) {
				uint8_t info[ETWD_ENABLE_INFO_BYTES];
				etwd_query_enable_info(info, e->session, e->args);
				strbuf_add(&b, info, sizeof info);
				enables++;
			}
		}
		LIST_FOREACH(r, &p->members, of_group) {
			bool twice = false;
			for (size_t k = 0; k + 16 <= members.len && !members.failed; k += 16) {
				twice |= memcmp(members.s + k, r->guid.b, 16) == 0;
			}
			if (!twice && may_list(d, c, r->process) && members.len < ETWD_GUID_LIST_MAX * 16) {
				strbuf_add(&members, r->guid.b, 16);
			}
		}
	}
	uint32_t count = (uint32_t)(members.len / 16);
	strbuf_add(&b, &count, 4);
	if (count) {
		strbuf_add(&b, members.s, members.len);
	}
	if (b.failed || members.failed) {
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
	} else if (count == 0 && enables == 0) {
		etwd_reply_status(d, c, m, ERROR_WMI_GUID_NOT_FOUND, "no provider group has this GUID");
	} else {
		memcpy(b.s, &enables, 4);
		etwd_info_reply(d, c, m, b.s, b.len);
	}
	strbuf_finish(&b);
	strbuf_finish(&members);
}

void etwd_info_query(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t class = 0;
	if (!proto_get_u32(m, PROTO_TAG_INFO_CLASS, &class)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "QUERY_INFO needs an information class");
		return;
	}
	if (class == TraceGroupQueryList) {
		group_list(d, c, m);
		return;
	}
	if (class == TraceGroupQueryInfo) {
		group_info(d, c, m);
		return;
	}
	struct session *s = running(d, c, m);
	if (etwd_kernel_query_info(d, c, m, s, class)) {
		return;
	}
	if (!s) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "no such trace session is running");
		return;
	}
	switch (class) {
	case TraceDisallowListQuery:
		etwd_info_reply(d, c, m, s->disallowed.at ? (const void *)s->disallowed.at : "",
				16 * (size_t)s->disallowed.count);
		break;
	case TraceStreamCount: {
		uint32_t n = s->props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING ? 1 : d->cpus;
		etwd_info_reply(d, c, m, &n, sizeof n);
		break;
	}
	default: etwd_reply_status(d, c, m, ERROR_NOT_SUPPORTED, "etwd does not know this information class");
	}
}
