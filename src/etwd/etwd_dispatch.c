/* SPDX-License-Identifier: MIT
 * From a message to its handler. Checks what every message has in common: shape, the right socket,
 * no file descriptor where none belongs.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_realtime.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"
#include "proto/proto.h"

struct handler {
	uint16_t type;
	uint8_t kind;  /* enum conn_kind */
	bool attached; /* provider socket: only after HELLO */
	void (*run)(struct etwd *d, struct conn *c, const struct proto_message *m);
};

static void on_ping(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	etwd_reply_status(d, c, m, 0, NULL);
}

static void on_bell(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	etwd_drain_bell(d);
}

static void on_shutdown(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	if (!etwd_conn_same_user(d, c)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "only the owner of this etwd may end it");
		return;
	}
	etwd_reply_status(d, c, m, 0, NULL);
	etwd_log(d, "Asked to leave by process %d", (int)c->pid);
	d->exiting = true;
}

static const struct handler handlers[] = {
	{PROTO_HELLO, CONN_PROVIDER, false, etwd_process_hello},
	{PROTO_REGISTER, CONN_PROVIDER, true, etwd_register},
	{PROTO_UNREGISTER, CONN_PROVIDER, true, etwd_unregister},
	{PROTO_TRAITS, CONN_PROVIDER, true, etwd_traits},
	{PROTO_NOTIFIED, CONN_PROVIDER, true, etwd_notified},
	{PROTO_BELL, CONN_PROVIDER, true, on_bell},
	{PROTO_PING, CONN_PROVIDER, false, on_ping},
	{PROTO_BINARY_TRACK, CONN_PROVIDER, true, etwd_binary_track},
	{PROTO_PRIVATE_DONE, CONN_PROVIDER, true, etwd_private_done},
	{PROTO_DESCRIBED, CONN_PROVIDER, true, etwd_described},
	{PROTO_IMAGES, CONN_PROVIDER, true, etwd_images},
	{PROTO_PING, CONN_CONTROL, false, on_ping},
	{PROTO_START, CONN_CONTROL, false, etwd_session_start},
	{PROTO_CONTROL, CONN_CONTROL, false, etwd_session_control},
	{PROTO_LIST, CONN_CONTROL, false, etwd_session_list},
	{PROTO_ENABLE, CONN_CONTROL, false, etwd_enable},
	{PROTO_NAME_PROVIDER, CONN_CONTROL, false, etwd_name_provider},
	{PROTO_GUIDS, CONN_CONTROL, false, etwd_query_guids},
	{PROTO_GUID_INFO, CONN_CONTROL, false, etwd_query_guid_info},
	{PROTO_OPEN_RT, CONN_CONTROL, false, etwd_realtime_open},
	{PROTO_RT_ACK, CONN_CONTROL, false, etwd_realtime_ack},
	{PROTO_STATS, CONN_CONTROL, false, etwd_query_stats},
	{PROTO_PROCESSES, CONN_CONTROL, false, etwd_query_processes},
	{PROTO_RECENT, CONN_CONTROL, false, etwd_query_recent},
	{PROTO_SET_INFO, CONN_CONTROL, false, etwd_info_set},
	{PROTO_QUERY_INFO, CONN_CONTROL, false, etwd_info_query},
	{PROTO_ACCESS_SET, CONN_CONTROL, false, etwd_access_set},
	{PROTO_ACCESS_QUERY, CONN_CONTROL, false, etwd_access_query},
	{PROTO_RELOAD, CONN_CONTROL, false, etwd_schedule_reload},
	{PROTO_SHUTDOWN, CONN_CONTROL, false, on_shutdown},
};

void etwd_dispatch(struct etwd *d, struct conn *c, const uint8_t *p, size_t n, int *fds, int fd_count)
{
	struct proto_message m;
	int r = proto_parse(p, n, &m);
	bool fds_fit = fd_count == 0 || (r == 0 && m.type == PROTO_ADOPT && fd_count <= PROTO_FDS_MAX);
	if (r == 0 && fds_fit && m.type == PROTO_ADOPT && c->kind == CONN_PROVIDER && c->process) {
		etwd_adopt(d, c, &m, fds, fd_count);
		r = -EALREADY;
	}
	for (int i = 0; i < fd_count; i++) {
		close(fds[i]); /* what is kept is mapped */
	}
	if (r == -EALREADY) {
		return;
	}
	if (!fds_fit || r == -EBADMSG) {
		d->bad_messages++;
		etwd_conn_close(d, c);
		return;
	}
	if (r < 0) {
		if (n >= 12) {
			m = (struct proto_message){.type = le16_get(p + 4), .id = le32_get(p + 8)};
			etwd_reply_status(d, c, &m, ERROR_NOT_SUPPORTED,
					  "a critical part of the message is unknown here");
		}
		return;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(handlers); i++) {
		const struct handler *h = &handlers[i];
		if (h->type == m.type && h->kind == c->kind) {
			if (h->attached && !c->process) {
				etwd_reply_status(d, c, &m, ERROR_INVALID_PARAMETER, "HELLO must come first");
				return;
			}
			h->run(d, c, &m);
			return;
		}
	}
	d->bad_messages++;
	etwd_reply_status(d, c, &m, ERROR_NOT_SUPPORTED, "this message is unknown here");
}
