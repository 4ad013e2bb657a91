/* SPDX-License-Identifier: MIT
 * ENABLE requests: change the enable, publish, tell the callbacks, and answer when those have
 * returned (or their time is up).
 */
#include "base/vec.h"
#include "etw/values/access_rights.h"
#include "etw/values/errors.h"
#include "etw/values/provider_control.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "proto/proto_wait.h"

#include <stdlib.h>

/* One request that waits for callbacks. */
struct waiting {
	uint32_t notify_id;
	struct process *process; /* NULL: answered */
};
struct pending {
	TAILQ_ENTRY(pending) link;
	struct reply_to reply;
	uid_t uid; /* who waits */
	uint64_t deadline_ns;
	uint32_t left;
	uint32_t count, cap, taken;
	bool flush; /* capture state: the rundown must be in the session when we answer */
	struct waiting *at;
};

static void pending_add(struct etwd *d, struct pending *w, uint32_t id, struct process *p)
{
	if (!w || etwd_share_take(d, w->uid, SHARE_WAITING, 1)) {
		return; /* then nobody waits for this one */
	}
	w->taken++;
	if (!VEC_ROOM(w->at, w->count, w->cap)) {
		return; /* then nobody waits for this one */
	}
	w->at[w->count++] = (struct waiting){id, p};
	w->left++;
}

static void pending_finish(struct etwd *d, struct pending *w, uint32_t code)
{
	TAILQ_REMOVE(&d->pending, w, link);
	if (w->reply.conn) {
		struct conn *c = w->reply.conn;
		struct proto_message m = {.type = w->reply.type, .id = w->reply.id};
		etwd_reply_drop(&w->reply);
		if (code == 0) {
			etwd_drain_pass(d, POOL_PASS_FLUSH);
		}
		etwd_reply_status(d, c, &m, code,
				  code ? "some callbacks did not return in time; the change is in force" : NULL);
	}
	etwd_share_give(d, w->uid, SHARE_WAITING, w->taken);
	free(w->at);
	free(w);
}

void etwd_pending_tick(struct etwd *d, uint64_t now_ns)
{
	struct pending *w = TAILQ_FIRST(&d->pending);
	while (w) {
		struct pending *next = TAILQ_NEXT(w, link);
		if (w->left == 0) {
			pending_finish(d, w, 0);
		} else if (now_ns >= w->deadline_ns || !w->reply.conn) {
			pending_finish(d, w, 1460);
		}
		w = next;
	}
}

void etwd_notified(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t id;
	struct pending *w;
	if (!proto_get_u32(m, PROTO_TAG_NOTIFY_ID, &id)) {
		return;
	}
	TAILQ_FOREACH(w, &d->pending, link) {
		for (uint32_t i = 0; i < w->count; i++) {
			if (w->at[i].notify_id == id && w->at[i].process == c->process) {
				w->at[i].process = NULL;
				w->left--;
				return; /* etwd_pending_tick() answers at the end of this turn */
			}
		}
	}
}

void etwd_notify_forget(struct etwd *d, struct process *p)
{
	struct pending *w;
	TAILQ_FOREACH(w, &d->pending, link) {
		for (uint32_t i = 0; i < w->count; i++) {
			if (w->at[i].process == p) {
				w->at[i].process = NULL;
				w->left--;
			}
		}
	}
}

/* ---- telling
 * -------------------------------------------------------------------------------------- */

struct change {
	struct session *session;
	uint32_t code; /* EVENT_CONTROL_CODE_* */
	const struct guid *source;
	const struct enable_args *args; /* of the caller; filters of a capture state */
	struct pending *wait;           /* may be NULL */
};

static void notify(struct etwd *d, struct registration *r, uint32_t code, const struct change *ch)
{
	struct conn *c = r->process->conn;
	if (!c || c->closing || !(r->flags & PROTO_REG_CALLBACK)) {
		return;
	}
	uint32_t id = ++d->notify_id;
	struct proto_writer w;
	proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_NOTIFY, 0);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, r->index);
	proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, id);
	etwd_enable_put(&w, r, code, ch->source, code == EVENT_CONTROL_CODE_CAPTURE_STATE ? ch->args : NULL,
			ch->session);
	pending_add(d, ch->wait, id, r->process);
	etwd_conn_send(d, c, &w, NULL, 0); /* may close c, which takes the wait back */
}

static bool has_row(const struct registration *r, const struct session *s)
{
	for (uint32_t i = 0; r->config && i < r->config->rows; i++) {
		if (r->config->row[i].session == s) {
			return true;
		}
	}
	return false;
}

/* Writes the entry, and keeps what the callback is to be told. */
static void change_one(struct etwd *d, struct registration *r, const struct change *ch)
{
	if (ch->code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		r->news = has_row(r, ch->session) ? NEWS_CAPTURE_STATE : NEWS_NONE;
		return;
	}
	r->news = NEWS_NONE;
	bool before = has_row(r, ch->session);
	if (!before && ch->code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
		return;
	}
	if (!before && !etwd_enable_reaches(d, r, ch->session)) {
		return; /* out of its scope: nothing changes there, so nothing is said */
	}
	bool enabled = etwd_enable_publish(d, r);
	if (!before && r->binary && has_row(r, ch->session)) {
		etwd_binary_write(d, ch->session, r);
	}
	if (before || has_row(r, ch->session)) {
		r->news = enabled ? NEWS_ENABLED : NEWS_DISABLED;
	}
}

static void tell_one(struct etwd *d, struct registration *r, const struct change *ch)
{
	static const uint32_t code[] = {
		[NEWS_DISABLED] = EVENT_CONTROL_CODE_DISABLE_PROVIDER,
		[NEWS_ENABLED] = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		[NEWS_CAPTURE_STATE] = EVENT_CONTROL_CODE_CAPTURE_STATE,
	};
	enum news news = r->news;
	r->news = NEWS_NONE;
	if (news != NEWS_NONE) {
		notify(d, r, code[news], ch);
	}
}

/* All registrations an enable of this GUID can concern. First every entry is written, so that the
 * new state holds everywhere, then the callbacks are told: one of them may write with another registration. */
static void change_all(struct etwd *d, struct provider *p, const struct change *ch)
{
	struct registration *r;
	LIST_FOREACH(r, &p->regs, of_provider) {
		change_one(d, r, ch);
	}
	LIST_FOREACH(r, &p->members, of_group) {
		if (r->provider != p) { /* one of both is done */
			change_one(d, r, ch);
		}
	}
	LIST_FOREACH(r, &p->regs, of_provider) {
		tell_one(d, r, ch);
	}
	LIST_FOREACH(r, &p->members, of_group) {
		tell_one(d, r, ch);
	}
}

/* ---- the request
 * ---------------------------------------------------------------------------------- */

static struct enable *find_enable(struct provider *p, struct session *s)
{
	struct enable *e;
	LIST_FOREACH(e, &p->enables, of_provider) {
		if (e->session == s) {
			return e;
		}
	}
	return NULL;
}

/* A classic provider has the session that came last. */
static bool full(const struct etwd *d, struct provider *p, struct session *s)
{
	uint32_t sessions = 0;
	const struct enable *e;
	const struct registration *r = LIST_FIRST(&p->regs);
	LIST_FOREACH(e, &p->enables, of_provider) {
		if (e->session == s) {
			return false;
		}
		sessions += !d->system || e->session->uid == s->uid; /* nobody takes another's place */
	}
	return sessions >= ETWD_SESSIONS_PER_PROVIDER && !(r && (r->flags & PROTO_REG_CLASSIC));
}

/* What processes that register from now on find wanted. A bit never goes out while it is needed. */
void etwd_publish_wanted(struct etwd *d)
{
	struct proto_wait_page now = {.magic = PROTO_WAIT_MAGIC};
	if (!d->wait_page) {
		return;
	}
	MAP_ALL(&d->providers, at) {
		const struct provider *p = map_pointer(&d->providers, at);
		if (!LIST_EMPTY(&p->enables)) {
			proto_wait_want(&now, &p->guid);
		}
	}
	etwd_private_want(d, &now);
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(now.wanted); i++) {
		order_store_release(&d->wait_page->wanted[i], now.wanted[i]);
	}
}

static void enable_free(struct etwd *d, struct enable *e)
{
	etwd_share_give(d, e->session->uid, SHARE_ENABLE_BYTES, e->bytes);
	LIST_REMOVE(e, of_provider);
	LIST_REMOVE(e, of_session);
	etwd_enable_args_unref(e->args);
	free(e);
}

static uint64_t enable_bytes(const struct enable_args *a)
{
	uint64_t bytes = sizeof(struct enable) + sizeof(struct provider) + sizeof *a;
	for (uint32_t i = 0; i < a->raw_count; i++) {
		bytes += a->raw[i].bytes;
	}
	return bytes;
}

/* 0, -ENOMEM, -EDQUOT. */
static int set_enable(struct etwd *d, struct provider *p, struct session *s, struct enable_args *args)
{
	struct enable *e = find_enable(p, s);
	uint64_t bytes = enable_bytes(args), had = e ? e->bytes : 0;
	if (bytes > had && etwd_share_take(d, s->uid, SHARE_ENABLE_BYTES, bytes - had)) {
		return -EDQUOT;
	}
	if (bytes < had) {
		etwd_share_give(d, s->uid, SHARE_ENABLE_BYTES, had - bytes);
	}
	if (!e) {
		e = calloc(1, sizeof *e);
		if (!e) {
			etwd_share_give(d, s->uid, SHARE_ENABLE_BYTES, bytes);
			return -ENOMEM;
		}
		e->provider = p;
		e->session = s;
		LIST_INSERT_HEAD(&p->enables, e, of_provider);
		if (d->wait_page) {
			proto_wait_want(d->wait_page, &p->guid);
		}
		LIST_INSERT_HEAD(&s->enables, e, of_session);
	} else {
		etwd_enable_args_unref(e->args);
	}
	e->bytes = bytes;
	e->args = args;
	args->refs++;
	e->order = ++d->enable_order;
	return 0;
}

/* NULL, and *ret_code says what to answer. */
static struct enable_args *read_args(const struct etwd *d, const struct proto_message *m, struct diag *diag,
				     uint32_t *ret_code)
{
	struct enable_args *a = calloc(1, sizeof *a);
	uint32_t level = 0;
	if (!a) {
		*ret_code = ERROR_NOT_ENOUGH_MEMORY;
		return NULL;
	}
	a->refs = 1;
	proto_get_u32(m, PROTO_TAG_LEVEL, &level);
	proto_get_u64(m, PROTO_TAG_ANY, &a->any);
	proto_get_u64(m, PROTO_TAG_ALL, &a->all);
	proto_get_u32(m, PROTO_TAG_PROPERTIES, &a->properties);
	proto_get_guid(m, PROTO_TAG_SOURCE_ID, &a->source_id);
	proto_get_guid(m, PROTO_TAG_GUID, &a->provider);
	a->level = (uint8_t)level;
	a->since_ts = clock_now_of(d->clock_kind);
	int r = level > 255 || (a->properties & ~(uint32_t)ETWD_PROPERTIES_KNOWN) ? -EINVAL : 0;
	if (r < 0) {
		diag_at(diag, UINT64_MAX, "the level or an enable property is out of range");
	} else {
		r = etwd_filter_parse(m, a, diag);
	}
	if (r < 0) {
		*ret_code = r == -EOPNOTSUPP ? ERROR_NOT_SUPPORTED
			    : r == -ENOMEM   ? ERROR_NOT_ENOUGH_MEMORY
					     : ERROR_INVALID_PARAMETER;
		etwd_enable_args_unref(a);
		return NULL;
	}
	return a;
}

static struct pending *pending_create(struct etwd *d, struct conn *c, const struct proto_message *m,
				      uint32_t timeout_ms)
{
	bool room = c->reply_count < ETWD_PENDING_MAX && !etwd_share_take(d, c->uid, SHARE_WAITING, 1);
	struct pending *w = room ? calloc(1, sizeof *w) : NULL;
	if (room && !w) {
		etwd_share_give(d, c->uid, SHARE_WAITING, 1);
	}
	if (w) {
		w->uid = c->uid;
		w->taken = 1;
		w->deadline_ns = timeout_ms == UINT32_MAX ? UINT64_MAX : etwd_now_ns() + timeout_ms * 1000000ull;
		etwd_reply_keep(c, m, &w->reply);
		TAILQ_INSERT_TAIL(&d->pending, w, link);
	}
	return w;
}

void etwd_enable(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct guid guid;
	uint32_t code = EVENT_CONTROL_CODE_ENABLE_PROVIDER, timeout_ms = 0;
	struct diag diag;
	diag_clear(&diag);
	diag.text[0] = 0;
	struct session *s = etwd_session_find(d, m, c, TRACELOG_GUID_ENABLE);
	if (!proto_get_guid(m, PROTO_TAG_GUID, &guid) || !proto_get_u32(m, PROTO_TAG_CODE, &code) ||
	    code > EVENT_CONTROL_CODE_CAPTURE_STATE) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER,
				  "ENABLE needs a provider GUID and a control code of 0, 1 or 2");
		return;
	}
	if (!s && etwd_private_enable(d, c, m)) {
		return;
	}
	if (!s) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "no such trace session is running");
		return;
	}
	if (s->state != SESSION_RUNNING) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "the trace session is starting or stopping");
		return;
	}
	proto_get_u32(m, PROTO_TAG_TIMEOUT_MS, &timeout_ms);
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && !etwd_access_allows(d, &guid, c, TRACELOG_GUID_ENABLE)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "no right to enable this provider");
		return;
	}
	uint32_t refused;
	struct enable_args *args = read_args(d, m, &diag, &refused);
	if (!args) {
		etwd_reply_status(d, c, m, refused, diag.text[0] ? diag.text : NULL);
		return;
	}
	if (etwd_kernel_enable(d, c, m, s, &guid, code, args)) {
		etwd_enable_args_unref(args);
		return;
	}
	struct provider *p = etwd_provider_find(d, &guid, code == EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	if (p && code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && full(d, p, s)) {
		etwd_enable_args_unref(args);
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "64 trace sessions have this provider already");
		return;
	}
	int r = code == EVENT_CONTROL_CODE_ENABLE_PROVIDER ? p ? set_enable(d, p, s, args) : -ENOMEM : 0;
	if (r < 0) {
		if (p) {
			etwd_provider_release(d, p);
		}
		etwd_enable_args_unref(args);
		etwd_reply_status(d, c, m, r == -EDQUOT ? ERROR_NO_SYSTEM_RESOURCES : ERROR_NOT_ENOUGH_MEMORY,
				  r == -EDQUOT ? "the sessions of this user enable too much" : NULL);
		return;
	}
	if (p && code == EVENT_CONTROL_CODE_CAPTURE_STATE && args->level == 0 && args->any == 0) {
		struct enable *e = find_enable(p, s);
		if (e) { /* nothing special: what the session has enabled */
			args->level = e->args->level;
			args->any = e->args->any;
			args->all = e->args->all;
		}
	}
	if (p && code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
		struct enable *e = find_enable(p, s);
		if (e) {
			enable_free(d, e);
			etwd_publish_wanted(d);
		}
	}
	if (p && code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		etwd_provider_name(p, m);
	}
	struct pending *w = p && timeout_ms > 0 ? pending_create(d, c, m, timeout_ms) : NULL;
	if (p) {
		struct change ch = {s, code, &args->source_id, args, w};
		change_all(d, p, &ch);
		etwd_provider_release(d, p);
	}
	etwd_enable_args_unref(args);
	if (!w) {
		etwd_reply_status(d, c, m, 0, NULL);
	}
}

void etwd_enable_capture(struct etwd *d, struct session *s, const struct guid *g)
{
	struct provider *p = etwd_provider_find(d, g, false);
	if (p) {
		struct change ch = {s, 2, &GUID_ZERO, NULL, NULL};
		change_all(d, p, &ch);
	}
}

void etwd_enable_remove_session(struct etwd *d, struct session *s)
{
	struct enable *e;
	while ((e = LIST_FIRST(&s->enables))) {
		struct provider *p = e->provider;
		struct change ch = {s, 0, &GUID_ZERO, NULL, NULL};
		enable_free(d, e);
		change_all(d, p, &ch);
		etwd_provider_release(d, p);
	}
	etwd_publish_wanted(d);
}
