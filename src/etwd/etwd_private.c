/* SPDX-License-Identifier: MIT
 * The private sessions of controllers: see etwd_private.h.
 */
#include "etwd/etwd_private.h"

#include <stdlib.h>

struct private_side *etwd_private_side(struct etwd *d)
{
	if (!d->privates) {
		d->privates = calloc(1, sizeof *d->privates);
		if (d->privates) {
			LIST_INIT(&d->privates->sessions);
			TAILQ_INIT(&d->privates->asks);
		}
	}
	return d->privates;
}

int etwd_private_wait_ms(const struct etwd *d)
{
	const struct private_session *s;
	if (!d->privates) {
		return -1;
	}
	if (d->privates->retry || !TAILQ_EMPTY(&d->privates->asks)) {
		return 20; /* deadlines of waiting callers; coarse is enough */
	}
	LIST_FOREACH(s, &d->privates->sessions, link) {
		if (etwd_private_limited(s)) {
			return 100;
		}
	}
	return -1;
}

uint32_t etwd_private_count(const struct etwd *d)
{
	return d->privates ? d->privates->count : 0;
}

void etwd_private_want(const struct etwd *d, struct proto_wait_page *page)
{
	const struct private_session *s;
	if (d->privates) {
		LIST_FOREACH(s, &d->privates->sessions, link) {
			proto_wait_want(page, &s->p.props.guid);
		}
	}
}

struct private_session *etwd_private_by_id(const struct etwd *d, uint64_t id)
{
	struct private_session *s;
	if (d->privates) {
		LIST_FOREACH(s, &d->privates->sessions, link) {
			if (s->id == id) {
				return s;
			}
		}
	}
	return NULL;
}

void etwd_private_enable_forget(struct stored_enable *e)
{
	etwd_enable_args_unref(e->args);
	free(e->body);
}

void etwd_private_free(struct etwd *d, struct private_session *s)
{
	struct member *m;
	while ((m = LIST_FIRST(&s->members))) {
		LIST_REMOVE(m, link);
		free(m);
	}
	for (uint32_t i = 0; i < s->enables; i++) {
		etwd_private_enable_forget(&s->enable[i]);
	}
	LIST_REMOVE(s, link);
	d->privates->count--;
	etwd_share_give(d, s->uid, SHARE_PRIVATES, 1);
	d->session_end_ns = etwd_now_ns();
	etwd_private_limits_clear(s);
	etwd_enable_args_unref(s->scope);
	free((void *)(uintptr_t)s->p.name);
	free((void *)(uintptr_t)s->p.log_file);
	free(s);
	etwd_publish_wanted(d);
}

void etwd_private_add(struct proto_session *to, const struct proto_session *m)
{
	to->number_of_buffers += m->number_of_buffers;
	to->free_buffers += m->free_buffers;
	to->events_lost += m->events_lost;
	to->buffers_written += m->buffers_written;
	to->log_buffers_lost += m->log_buffers_lost;
	to->events += m->events;
	to->bytes_written += m->bytes_written;
	if (m->file_fate > to->file_fate) {
		to->file_fate = m->file_fate;
		to->file_fate_filetime = m->file_fate_filetime;
	}
	for (uint32_t i = 0; i < PROTO_LOSS_COUNT; i++) {
		to->loss[i] += m->loss[i];
	}
}

static void describe(const struct private_session *s, struct proto_session *ret)
{
	const struct member *m;
	*ret = s->p;
	etwd_private_add(ret, &s->ended);
	LIST_FOREACH(m, &s->members, link) {
		etwd_private_add(ret, &m->last);
		if (m->running) { /* as adjusted, and a thread of one of them */
			ret->props.buffer_kb = m->last.props.buffer_kb;
			ret->props.minimum_buffers = m->last.props.minimum_buffers;
			ret->props.maximum_buffers = m->last.props.maximum_buffers;
			ret->props.flush_timer = m->last.props.flush_timer;
			ret->logger_thread_id = m->last.logger_thread_id;
		}
	}
}

void etwd_private_reply(struct etwd *d, struct conn *c, const struct proto_message *m, const struct private_session *s)
{
	struct proto_session desc;
	struct proto_writer w;
	describe(s, &desc);
	desc.id = s->id;
	desc.owner_uid = s->uid;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_session(&w, &desc);
	etwd_conn_send(d, c, &w, NULL, 0);
}

bool etwd_private_may_see(const struct etwd *d, const struct private_session *s, const struct conn *c)
{
	return c->uid == 0 || c->uid == s->uid || (!d->system && c->uid == d->uid);
}

void etwd_private_list(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	const struct private_session *s;
	struct proto_writer w;
	uint32_t count = 0;
	for (s = d->privates ? LIST_FIRST(&d->privates->sessions) : NULL; s; s = LIST_NEXT(s, link)) {
		count += !s->stopping && etwd_private_may_see(d, s, c);
	}
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
	for (s = count ? LIST_FIRST(&d->privates->sessions) : NULL; s && !c->closing; s = LIST_NEXT(s, link)) {
		if (!s->stopping && etwd_private_may_see(d, s, c)) {
			struct proto_session desc;
			describe(s, &desc);
			desc.id = s->id;
			desc.owner_uid = s->uid;
			proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_LIST_ITEM, m->id);
			proto_put_session(&w, &desc);
			etwd_conn_send(d, c, &w, NULL, 0);
		}
	}
}

void etwd_private_tick(struct etwd *d, uint64_t now_ns)
{
	struct private_side *side = d->privates;
	if (!side) {
		return;
	}
	if (side->retry && now_ns >= side->retry_ns) {
		struct private_session *s;
		side->retry = false;
		LIST_FOREACH(s, &side->sessions, link) {
			etwd_private_host_all(d, s, NULL);
		}
	}
	etwd_private_limits_tick(d, now_ns);
	struct ask *a = TAILQ_FIRST(&side->asks);
	while (a) {
		struct ask *next = TAILQ_NEXT(a, link);
		/* An enable may wait for long: not for a caller that is gone. */
		bool idle = !a->reply.conn && a->op == PROTO_PRIVATE_ENABLE;
		if (a->left == 0 || idle || now_ns >= a->deadline_ns) {
			etwd_private_ask_finish(d, a);
		}
		a = next;
	}
}

void etwd_private_finish(struct etwd *d)
{
	struct private_side *side = d->privates;
	struct private_session *s;
	if (side) {
		etwd_private_tick(d, UINT64_MAX);
		while ((s = LIST_FIRST(&side->sessions))) {
			etwd_private_free(d, s);
		}
		free(side);
		d->privates = NULL;
	}
}
