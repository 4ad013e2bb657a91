/* SPDX-License-Identifier: MIT
 * Private sessions of controllers: what their processes are told and say.
 */
#include "etwd/etwd_private.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

#define RETRY_NS 100000000ull

static struct member *member_of(const struct private_session *s, const struct process *p)
{
	struct member *m;
	LIST_FOREACH(m, &s->members, link) {
		if (m->process == p) {
			return m;
		}
	}
	return NULL;
}

static void member_drop(struct private_session *s, struct member *m)
{
	/* What it had open is closed with it. */
	m->last.number_of_buffers = m->last.free_buffers = 0;
	etwd_private_add(&s->ended, &m->last);
	LIST_REMOVE(m, link);
	free(m);
}

static void ask_answered(struct ask *a, uint32_t i, uint32_t code, const char *text)
{
	a->at[i].process = NULL;
	a->left--;
	a->ok += code == 0;
	if (code != 0) {
		a->failed++;
		if (a->code == 0) {
			a->code = code;
			snprintf(a->text, sizeof a->text, "%s", text);
		}
	}
}

void etwd_private_done(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t id = 0, code = ERROR_INVALID_PARAMETER;
	uint64_t session = 0;
	char said[200] = "", text[300];
	proto_get_u32(m, PROTO_TAG_NOTIFY_ID, &id);
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &session);
	proto_get_u32(m, PROTO_TAG_STATUS, &code);
	proto_get_str(m, PROTO_TAG_TEXT, said, sizeof said);
	for (char *t = said; *t; t++) { /* it goes to a log and to somebody's terminal */
		*t = (uint8_t)*t < 0x20 || *t == 0x7F ? '?' : *t;
	}
	struct private_session *s = etwd_private_by_id(d, session);
	struct member *member = s ? member_of(s, c->process) : NULL;
	if (member) {
		struct proto_session last;
		member->asked = false;
		if (proto_get_session(m, &last)) {
			last.name = last.log_file = NULL;
			last.name_len = last.log_file_len = 0;
			member->last = last;
			member->running = true;
		}
		if (code == ERROR_BUSY && !member->running) {
			LIST_REMOVE(member, link);
			free(member);
			d->privates->retry = true;
			d->privates->retry_ns = etwd_now_ns() + RETRY_NS;
		} else if (!member->running && !member->failed) {
			member->failed = true;
			etwd_log_of(d, c->uid, "Process %d does not host private session %#llx: error %u%s%s",
				    (int)c->pid, (unsigned long long)session, code, said[0] ? ", " : "", said);
		}
	}
	struct ask *a;
	if (d->privates) {
		TAILQ_FOREACH(a, &d->privates->asks, link) {
			for (uint32_t i = 0; i < a->count; i++) {
				if (a->at[i].id == id && a->at[i].process == c->process) {
					const char *name = win32_name(code);
					snprintf(text, sizeof text, "process %d: %s", (int)c->pid,
						 said[0] ? said
						 : name  ? name
							 : "it said no");
					ask_answered(a, i, code, text);
					return;
				}
			}
		}
	}
}

void etwd_private_gone(struct etwd *d, struct process *p)
{
	struct private_session *s;
	struct ask *a;
	if (!d->privates) {
		return;
	}
	LIST_FOREACH(s, &d->privates->sessions, link) {
		struct member *m = member_of(s, p);
		if (m) {
			member_drop(s, m);
		}
	}
	TAILQ_FOREACH(a, &d->privates->asks, link) {
		for (uint32_t i = 0; i < a->count; i++) {
			if (a->at[i].process == p) {
				a->at[i].process = NULL;
				a->left--;
			}
		}
	}
}

/* ---- telling them ---------------------------------------------------------------------------- */

static void ask_add(struct ask *a, uint32_t id, struct process *p)
{
	if (!VEC_ROOM(a->at, a->count, a->cap)) {
		return; /* nobody waits for this one */
	}
	a->at[a->count].id = id;
	a->at[a->count++].process = p;
	a->left++;
}

static void begin(struct etwd *d, struct proto_writer *w, const struct private_session *s, uint32_t op,
		  struct process *p, struct ask *a)
{
	uint32_t id = a ? ++d->notify_id : 0;
	proto_begin(w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_PRIVATE, 0);
	proto_put_u32(w, PROTO_TAG_CONTROL_CODE, op);
	proto_put_u32(w, PROTO_TAG_NOTIFY_ID, id);
	proto_put_u64(w, PROTO_TAG_SESSION_ID, s->id);
	if (a) {
		ask_add(a, id, p);
	}
}

void etwd_private_tell(struct etwd *d, struct private_session *s, uint32_t op, struct process *p,
		       const struct proto_session *said, struct ask *a)
{
	struct proto_writer w;
	if (!p->conn || p->conn->closing) {
		return;
	}
	begin(d, &w, s, op, p, a);
	if (said) {
		proto_put_session(&w, said);
	}
	if (op == PROTO_PRIVATE_START) {
		proto_put(&w, PROTO_TAG_GROUPS, s->group, s->groups * sizeof s->group[0]);
	}
	etwd_conn_send(d, p->conn, &w, NULL, 0);
}

void etwd_private_tell_all(struct etwd *d, struct private_session *s, uint32_t op, const struct proto_session *said,
			   struct ask *a)
{
	struct member *m, *next;
	for (m = LIST_FIRST(&s->members); m; m = next) {
		next = LIST_NEXT(m, link);
		if (!m->failed) {
			etwd_private_tell(d, s, op, m->process, said, a);
		}
	}
}

/* What it asks for, or for a process that its filters leave out, that the session does not have it. */
void etwd_private_tell_enable(struct etwd *d, struct private_session *s, struct process *p,
			      const struct stored_enable *e, struct ask *a)
{
	static const uint16_t tags[] = {PROTO_TAG_GUID, PROTO_TAG_CODE,       PROTO_TAG_LEVEL, PROTO_TAG_ANY,
					PROTO_TAG_ALL,  PROTO_TAG_PROPERTIES, PROTO_TAG_FILTER};
	struct proto_message m = {.body = e->body, .body_bytes = e->bytes};
	struct proto_writer w;
	size_t at = 0, n;
	uint16_t tag;
	const uint8_t *v;
	if (!p->conn || p->conn->closing) {
		return;
	}
	begin(d, &w, s, PROTO_PRIVATE_ENABLE, p, a);
	if (!etwd_filter_scope(e->args, p)) {
		proto_put(&w, PROTO_TAG_GUID, e->guid.b, 16);
		proto_put_u32(&w, PROTO_TAG_CODE, 0);
		etwd_conn_send(d, p->conn, &w, NULL, 0);
		return;
	}
	while (proto_next(&m, &at, &tag, &v, &n)) {
		bool wanted = false;
		for (size_t i = 0; i < BASE_ARRAY_LEN(tags); i++) {
			wanted |= tag == tags[i];
		}
		if (wanted) {
			proto_put(&w, tag, v, n);
		}
	}
	etwd_conn_send(d, p->conn, &w, NULL, 0);
}

/* May it, must it, host that session? */
static bool reaches(const struct etwd *d, const struct private_session *s, const struct process *p)
{
	return !s->stopping && !p->dead && !p->heir && p->conn && !p->conn->closing &&
	       (s->uid == 0 || s->uid == p->uid || (!d->system && s->uid == d->uid)) && etwd_filter_scope(s->scope, p);
}

static void host(struct etwd *d, struct private_session *s, struct process *p, struct ask *a)
{
	if (!reaches(d, s, p) || member_of(s, p)) {
		return;
	}
	struct member *m = calloc(1, sizeof *m);
	if (!m) {
		return;
	}
	m->process = p;
	LIST_INSERT_HEAD(&s->members, m, link);
	struct proto_session said = s->p;
	said.owner_uid = s->uid;
	said.flags |= s->plain_taken ? (uint32_t)PROTO_SESSION_PID_SUFFIX : 0;
	s->plain_taken = true;
	etwd_private_tell(d, s, PROTO_PRIVATE_START, p, &said, a);
	for (uint32_t i = 0; i < s->enables; i++) {
		if (etwd_filter_scope(s->enable[i].args, p)) {
			etwd_private_tell_enable(d, s, p, &s->enable[i], NULL);
		}
	}
}

void etwd_private_registered(struct etwd *d, const struct registration *r)
{
	struct private_session *s;
	if (!d->privates) {
		return;
	}
	LIST_FOREACH(s, &d->privates->sessions, link) {
		if (guid_equal(&s->p.props.guid, &r->guid)) {
			host(d, s, r->process, NULL);
		}
	}
}

void etwd_private_host_all(struct etwd *d, struct private_session *s, struct ask *a)
{
	struct provider *pr = etwd_provider_find(d, &s->p.props.guid, false);
	struct registration *r;
	if (pr) {
		LIST_FOREACH(r, &pr->regs, of_provider) {
			host(d, s, r->process, a);
		}
	}
}

/* ---- who waits for them ---------------------------------------------------------------------- */

struct ask *etwd_private_ask(struct etwd *d, struct conn *c, const struct proto_message *m,
			     const struct private_session *s, uint32_t op, uint64_t patience_ns)
{
	struct ask *a = c->reply_count < ETWD_PENDING_MAX ? calloc(1, sizeof *a) : NULL;
	if (a) {
		a->id = s->id;
		a->op = op;
		a->deadline_ns = etwd_now_ns() + patience_ns;
		etwd_reply_keep(c, m, &a->reply);
		TAILQ_INSERT_TAIL(&d->privates->asks, a, link);
	}
	return a;
}

void etwd_private_ask_finish(struct etwd *d, struct ask *a)
{
	struct private_session *s = etwd_private_by_id(d, a->id);
	struct conn *c = a->reply.conn;
	struct proto_message m = {.type = a->reply.type, .id = a->reply.id};
	/* Started nowhere though it should be: the controller is told why, and nothing is left. Of
	 * processes that end or say nothing that is not held against it. */
	bool refused = a->ok == 0 && a->failed > 0 && a->op != PROTO_PRIVATE_STOP;
	bool ends = a->op == PROTO_PRIVATE_STOP || (a->op == PROTO_PRIVATE_START && refused);
	TAILQ_REMOVE(&d->privates->asks, a, link);
	if (s && a->file && !refused) {
		free((void *)(uintptr_t)s->p.log_file);
		s->p.log_file = a->file;
		s->p.log_file_len = a->file_len;
		a->file = NULL;
	}
	free(a->file);
	if (c) {
		etwd_reply_drop(&a->reply);
		if (refused || !s) {
			etwd_reply_status(d, c, &m, refused ? a->code : ERROR_WMI_INSTANCE_NOT_FOUND,
					  refused ? a->text : NULL);
		} else if (a->op == PROTO_PRIVATE_ENABLE) {
			etwd_reply_status(d, c, &m, 0, NULL);
		} else {
			etwd_private_reply(d, c, &m, s);
		}
	}
	if (s && ends) {
		etwd_private_free(d, s);
	}
	free(a->at);
	free(a);
}
