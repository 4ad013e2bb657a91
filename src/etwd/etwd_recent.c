/* SPDX-License-Identifier: MIT
 * The last registrations, also of processes that ended: so that a recording without an event can say who was
 * there, and under which name and GUID.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "proto/proto.h"

#include <string.h>

static void copy(char *out, size_t cap, const char *in)
{
	size_t n = BASE_MIN(strlen(in), cap - 1);
	while (n > 0 && n < strlen(in) && ((uint8_t)in[n] & 0xC0) == 0x80) {
		n--; /* not in the middle of a character */
	}
	memcpy(out, in, n);
	out[n] = 0;
}

/* The one to write over: a free one, or the oldest. In the instance for all users one user has at most a part of them,
 * root a larger one, so that nobody flushes those of all others. */
static struct recent *place_for(struct etwd *d, uid_t uid)
{
	size_t share = !d->system ? ETWD_RECENT_MAX : uid == 0 ? ETWD_RECENT_ROOT : ETWD_RECENT_USER, mine = 0;
	struct recent *oldest = &d->recent[0], *own = NULL;
	for (size_t i = 0; i < ETWD_RECENT_MAX; i++) {
		struct recent *e = &d->recent[i];
		oldest = e->number < oldest->number ? e : oldest; /* a free one has 0 */
		if (e->number && e->uid == uid) {
			own = !own || e->number < own->number ? e : own;
			mine++;
		}
	}
	return mine >= share ? own : oldest;
}

void etwd_recent_note(struct etwd *d, const struct registration *r)
{
	const struct process *p = r->process;
	struct recent *found = NULL;
	for (size_t i = 0; i < ETWD_RECENT_MAX && !found; i++) {
		struct recent *e = &d->recent[i];
		found = e->number && e->pid == p->pid && e->uid == p->uid && guid_equal(&e->guid, &r->guid) ? e : NULL;
	}
	struct recent *e = found ? found : place_for(d, p->uid);
	bool named = found && !r->name[0]; /* a process registers it again, and has said its name before */
	e->number = ++d->recent_number;
	e->pid = p->pid;
	e->uid = p->uid;
	e->guid = r->guid;
	e->group = r->group ? r->group->guid : GUID_ZERO;
	copy(e->exe, sizeof e->exe, p->exe);
	if (!named) {
		copy(e->name, sizeof e->name, r->name);
	}
}

static bool may_see(const struct etwd *d, const struct conn *c, const struct recent *e)
{
	return e->number && (!d->system || c->uid == 0 || c->uid == e->uid);
}

void etwd_query_recent(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t count = 0;
	for (size_t i = 0; i < ETWD_RECENT_MAX; i++) {
		count += may_see(d, c, &d->recent[i]);
	}
	struct proto_writer w;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
	for (size_t i = 0; i < ETWD_RECENT_MAX; i++) {
		const struct recent *e = &d->recent[i];
		if (!may_see(d, c, e)) {
			continue;
		}
		proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_RECENT_ITEM, m->id);
		proto_put(&w, PROTO_TAG_GUID, e->guid.b, 16);
		proto_put(&w, PROTO_TAG_DATA, e->group.b, 16);
		proto_put_u64(&w, PROTO_TAG_SEQUENCE, e->number);
		proto_put_u32(&w, PROTO_TAG_PID, (uint32_t)e->pid);
		proto_put_str(&w, PROTO_TAG_EXE_NAME, e->exe);
		proto_put_str(&w, PROTO_TAG_NAME, e->name);
		etwd_conn_send(d, c, &w, NULL, 0);
	}
}
