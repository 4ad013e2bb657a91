/* SPDX-License-Identifier: MIT
 *
 * Private sessions that a controller starts for the provider of other processes (tracelog -um,
 * logman -ul): each process that registered the GUID, now or later, hosts a session of its own, with a
 * file of its own. Here is only what they have in common: who asked, the enables, the sums.
 *
 * A request goes to the processes and is answered when all have answered, or after a while: one that is
 * stopped does what it was told when it goes on. Nothing here outlives this etwd, and the processes end
 * their sessions when it goes.
 */
#include "etwd/etwd.h"

#include "etwd/etwd_modes.h"

#include <stdio.h>
#include <stdlib.h>

#define PRIVATES_MAX	 256u
#define PRIVATES_MAX_UID 64u
#define ENABLES_MAX	 64u
#define SPACE_MAX	 (256u << 10) /* of the enables of one session */
#define PATIENCE_NS	 5000000000ull
#define QUERY_PATIENCE_NS 1000000000ull
#define RETRY_NS	 100000000ull

struct member {
	LIST_ENTRY(member) link;
	struct process *process;
	bool running, failed;
	struct proto_session last; /* no strings */
};
struct stored_enable {
	struct guid guid;
	struct enable_args *args;
	uint8_t *body; /* of the controller's message */
	size_t bytes;
};
struct private_session {
	LIST_ENTRY(private_session) link;
	uint64_t id;
	uid_t uid;
	bool stopping;
	bool plain_taken; /* some process was told the file's plain name */
	struct proto_session p; /* as asked for; the strings are ours */
	struct enable_args *scope;
	LIST_HEAD(, member) members;
	struct stored_enable enable[ENABLES_MAX];
	uint32_t enables;
	size_t bytes;
	struct proto_session ended; /* sums of processes that are gone */
};
/* One request of a controller that processes are at. */
struct ask {
	TAILQ_ENTRY(ask) link;
	struct reply_to reply;
	uint64_t id, deadline_ns;
	uint32_t op, left, ok, failed, code;
	uint16_t *file; /* UPDATE: the session's when it was not refused; may be NULL */
	uint32_t file_len;
	char text[300];
	uint32_t count, cap;
	struct {
		uint32_t id;
		struct process *process; /* NULL: has answered */
	} *at;
};
struct private_side {
	LIST_HEAD(, private_session) sessions;
	TAILQ_HEAD(, ask) asks;
	uint32_t count;
	uint64_t next_id, retry_ns;
	bool retry;
};

static struct private_side *side_of(struct etwd *d)
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

bool etwd_private_waiting(const struct etwd *d)
{
	return d->privates && (d->privates->retry || !TAILQ_EMPTY(&d->privates->asks));
}

uint32_t etwd_private_count(const struct etwd *d)
{
	return d->privates ? d->privates->count : 0;
}

void etwd_private_want(const struct etwd *d, struct proto_wait_page *page)
{
	const struct private_session *s;
	if (d->privates) {
		LIST_FOREACH(s, &d->privates->sessions, link)
		{
			proto_wait_want(page, &s->p.guid);
		}
	}
}

static struct private_session *by_id(const struct etwd *d, uint64_t id)
{
	struct private_session *s;
	if (d->privates) {
		LIST_FOREACH(s, &d->privates->sessions, link)
		{
			if (s->id == id) {
				return s;
			}
		}
	}
	return NULL;
}

static void enable_forget(struct stored_enable *e)
{
	etwd_enable_args_unref(e->args);
	free(e->body);
}

static void session_free(struct etwd *d, struct private_session *s)
{
	struct member *m;
	while ((m = LIST_FIRST(&s->members))) {
		LIST_REMOVE(m, link);
		free(m);
	}
	for (uint32_t i = 0; i < s->enables; i++) {
		enable_forget(&s->enable[i]);
	}
	LIST_REMOVE(s, link);
	d->privates->count--;
	d->session_end_ns = etwd_now_ns();
	etwd_enable_args_unref(s->scope);
	free((void *)(uintptr_t)s->p.name);
	free((void *)(uintptr_t)s->p.log_file);
	free(s);
	etwd_publish_wanted(d);
}

/* ---- what the processes said ----------------------------------------------------------------- */

static void add(struct proto_session *to, const struct proto_session *m)
{
	to->number_of_buffers += m->number_of_buffers;
	to->free_buffers += m->free_buffers;
	to->events_lost += m->events_lost;
	to->buffers_written += m->buffers_written;
	to->log_buffers_lost += m->log_buffers_lost;
	to->events += m->events;
	to->bytes_written += m->bytes_written;
	for (uint32_t i = 0; i < PROTO_LOSS_COUNT; i++) {
		to->loss[i] += m->loss[i];
	}
}

static void describe(const struct private_session *s, struct proto_session *ret)
{
	const struct member *m;
	*ret = s->p;
	add(ret, &s->ended);
	LIST_FOREACH(m, &s->members, link)
	{
		add(ret, &m->last);
		if (m->running) { /* as adjusted, and a thread of one of them */
			ret->buffer_size_kb = m->last.buffer_size_kb;
			ret->minimum_buffers = m->last.minimum_buffers;
			ret->maximum_buffers = m->last.maximum_buffers;
			ret->flush_timer = m->last.flush_timer;
			ret->logger_thread_id = m->last.logger_thread_id;
		}
	}
}

static struct member *member_of(const struct private_session *s, const struct process *p)
{
	struct member *m;
	LIST_FOREACH(m, &s->members, link)
	{
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
	add(&s->ended, &m->last);
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
	uint32_t id = 0, code = 87;
	uint64_t session = 0;
	char said[200] = "", text[300];
	proto_get_u32(m, PROTO_TAG_NOTIFY_ID, &id);
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &session);
	proto_get_u32(m, PROTO_TAG_STATUS, &code);
	proto_get_str(m, PROTO_TAG_TEXT, said, sizeof said);
	for (char *s = said; *s; s++) { /* it goes to a log and to somebody's terminal */
		*s = (uint8_t)*s < 0x20 || *s == 0x7F ? '?' : *s;
	}
	struct private_session *s = by_id(d, session);
	struct member *member = s ? member_of(s, c->process) : NULL;
	if (member) {
		struct proto_session last;
		if (proto_get_session(m, &last)) {
			last.name = last.log_file = NULL;
			last.name_len = last.log_file_len = 0;
			member->last = last;
			member->running = true;
		}
		if (code == PROTO_PRIVATE_BUSY && !member->running) {
			LIST_REMOVE(member, link);
			free(member);
			d->privates->retry = true;
			d->privates->retry_ns = etwd_now_ns() + RETRY_NS;
		} else if (!member->running && !member->failed) {
			member->failed = true;
			etwd_log(d, "Process %d does not host private session %#llx: error %u%s%s", (int)c->pid,
				 (unsigned long long)session, code, said[0] ? ", " : "", said);
		}
	}
	struct ask *a;
	if (d->privates) {
		TAILQ_FOREACH(a, &d->privates->asks, link)
		{
			for (uint32_t i = 0; i < a->count; i++) {
				if (a->at[i].id == id && a->at[i].process == c->process) {
					const char *name = win32_name(code);
					snprintf(text, sizeof text, "process %d: %s", (int)c->pid,
						 said[0] ? said : name ? name : "it said no");
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
	LIST_FOREACH(s, &d->privates->sessions, link)
	{
		struct member *m = member_of(s, p);
		if (m) {
			member_drop(s, m);
		}
	}
	TAILQ_FOREACH(a, &d->privates->asks, link)
	{
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
	if (a->count == a->cap) {
		uint32_t cap = a->cap ? 2 * a->cap : 16;
		void *at = realloc(a->at, cap * sizeof a->at[0]);
		if (!at) {
			return; /* nobody waits for this one */
		}
		a->at = at;
		a->cap = cap;
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

static void tell_session(struct etwd *d, struct private_session *s, uint32_t op, struct process *p,
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
	etwd_conn_send(d, p->conn, &w, NULL, 0);
}

/* What it asks for, or for a process that its filters leave out, that the session does not have it. */
static void tell_enable(struct etwd *d, struct private_session *s, struct process *p,
			const struct stored_enable *e, struct ask *a)
{
	static const uint16_t tags[] = {PROTO_TAG_GUID, PROTO_TAG_CODE,	      PROTO_TAG_LEVEL, PROTO_TAG_ANY,
					PROTO_TAG_ALL,	PROTO_TAG_PROPERTIES, PROTO_TAG_FILTER};
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
	       (s->uid == 0 || s->uid == p->uid || (!d->system && s->uid == d->uid)) &&
	       etwd_filter_scope(s->scope, p);
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
	tell_session(d, s, PROTO_PRIVATE_START, p, &said, a);
	for (uint32_t i = 0; i < s->enables; i++) {
		if (etwd_filter_scope(s->enable[i].args, p)) {
			tell_enable(d, s, p, &s->enable[i], NULL);
		}
	}
}

void etwd_private_registered(struct etwd *d, const struct registration *r)
{
	struct private_session *s;
	if (!d->privates) {
		return;
	}
	LIST_FOREACH(s, &d->privates->sessions, link)
	{
		if (guid_equal(&s->p.guid, &r->guid)) {
			host(d, s, r->process, NULL);
		}
	}
}

static void host_all(struct etwd *d, struct private_session *s, struct ask *a)
{
	struct provider *pr = etwd_provider_find(d, &s->p.guid, false);
	struct registration *r;
	if (pr) {
		LIST_FOREACH(r, &pr->regs, of_provider)
		{
			host(d, s, r->process, a);
		}
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct ask *ask_create(struct etwd *d, struct conn *c, const struct proto_message *m,
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

static void reply_session(struct etwd *d, struct conn *c, const struct proto_message *m,
			  const struct private_session *s)
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

static void ask_finish(struct etwd *d, struct ask *a)
{
	struct private_session *s = by_id(d, a->id);
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
			etwd_reply_status(d, c, &m, refused ? a->code : 4201, refused ? a->text : NULL);
		} else if (a->op == PROTO_PRIVATE_ENABLE) {
			etwd_reply_status(d, c, &m, 0, NULL);
		} else {
			reply_session(d, c, &m, s);
		}
	}
	if (s && ends) {
		session_free(d, s);
	}
	free(a->at);
	free(a);
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
		LIST_FOREACH(s, &side->sessions, link)
		{
			host_all(d, s, NULL);
		}
	}
	struct ask *a = TAILQ_FIRST(&side->asks);
	while (a) {
		struct ask *next = TAILQ_NEXT(a, link);
		/* An enable may wait for long: not for a caller that is gone. */
		bool idle = !a->reply.conn && a->op == PROTO_PRIVATE_ENABLE;
		if (a->left == 0 || idle || now_ns >= a->deadline_ns) {
			ask_finish(d, a);
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
			session_free(d, s);
		}
		free(side);
		d->privates = NULL;
	}
}

static bool may_see(const struct etwd *d, const struct private_session *s, const struct conn *c)
{
	return c->uid == 0 || c->uid == s->uid || (!d->system && c->uid == d->uid);
}

void etwd_private_list(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	const struct private_session *s;
	struct proto_writer w;
	uint32_t count = 0;
	for (s = d->privates ? LIST_FIRST(&d->privates->sessions) : NULL; s; s = LIST_NEXT(s, link)) {
		count += !s->stopping && may_see(d, s, c);
	}
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
	for (s = count ? LIST_FIRST(&d->privates->sessions) : NULL; s && !c->closing; s = LIST_NEXT(s, link)) {
		if (!s->stopping && may_see(d, s, c)) {
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

static const char *check_start(const struct proto_session *p, uint32_t *ret_code)
{
	uint32_t m = p->log_file_mode;
	*ret_code = 87;
	if (m & (MODE_REAL_TIME | MODE_APPEND | MODE_NEWFILE | MODE_PREALLOCATE | MODE_SYSTEM_LOGGER |
		 MODE_SECURE | MODE_UNKNOWN | MODE_PRIVATE_IN_PROC)) {
		return "a private session has a file of its own in each process, sequential or circular, or "
		       "none yet (buffering)";
	}
	if (guid_is_zero(&p->guid)) {
		return "Wnode.Guid of a private session is its provider's";
	}
	if (!p->name || p->name_len == 0 || p->name_len > ETWD_NAME_MAX) {
		return "a session needs a name of at most 1024 characters";
	}
	if ((m & MODE_CIRCULAR) && p->maximum_file_size == 0) {
		return "this file mode needs a maximum file size";
	}
	if (p->buffer_size_kb > 16384 || p->clock > 3) {
		return "a buffer has at most 16384 KB, and the clock is 1, 2 or 3";
	}
	*ret_code = 161;
	if (!p->log_file && !(m & MODE_BUFFERING)) {
		return "this mode needs a log file name";
	}
	if (p->log_file && p->log_file[0] != '/') {
		return "the log file must be an absolute path";
	}
	return NULL;
}

static bool same_scope(const struct enable_args *a, const struct enable_args *b)
{
	bool same = a->raw_count == b->raw_count;
	for (uint32_t i = 0; same && i < a->raw_count; i++) {
		same = a->raw[i].type == b->raw[i].type && a->raw[i].bytes == b->raw[i].bytes &&
		       memcmp(a->raw[i].data, b->raw[i].data, a->raw[i].bytes) == 0;
	}
	return same;
}

static bool name_is(const struct private_session *s, const uint16_t *name, uint32_t len)
{
	uint16_t *copy = utf16_dup(name, len);
	bool same = copy && utf16_equal_nocase(s->p.name, copy);
	free(copy);
	return same;
}

static const char *check_place(struct etwd *d, const struct conn *c, const struct proto_session *p,
			       const struct enable_args *scope, uint32_t *ret_code)
{
	const struct private_session *s;
	uint32_t own = 0;
	LIST_FOREACH(s, &d->privates->sessions, link)
	{
		own += s->uid == c->uid;
		if (s->uid == c->uid && name_is(s, p->name, p->name_len)) {
			*ret_code = 183;
			return "a private session of this name is running";
		}
		if (s->uid == c->uid && guid_equal(&s->p.guid, &p->guid) && same_scope(s->scope, scope)) {
			*ret_code = 183;
			return "a private session of this provider is running";
		}
	}
	*ret_code = 1450;
	return d->privates->count >= PRIVATES_MAX || (own >= PRIVATES_MAX_UID && c->uid != 0)
		       ? "there are too many private sessions"
		       : NULL;
}

/* Process id, executable name, container; NULL: malformed, or of another kind. */
static struct enable_args *read_scope(const struct proto_message *m, struct diag *diag)
{
	struct enable_args *a = calloc(1, sizeof *a);
	if (!a) {
		return NULL;
	}
	a->refs = 1;
	bool bad = etwd_filter_parse(m, a, diag) < 0;
	if (!bad && (a->select.filtered || a->select.stack_filtered)) {
		diag_at(diag, UINT64_MAX, "the filters of a private session choose processes; those of events go "
					  "with the enable");
		bad = true;
	}
	if (bad) {
		etwd_enable_args_unref(a);
		return NULL;
	}
	return a;
}

bool etwd_private_start(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct proto_session p;
	struct diag diag = {0};
	uint32_t code = 8;
	const char *why = NULL;
	if (!proto_get_session(m, &p) || !(p.log_file_mode & MODE_PRIVATE_LOGGER)) {
		return false;
	}
	struct enable_args *scope = NULL;
	struct private_session *s = side_of(d) ? calloc(1, sizeof *s) : NULL;
	if (s) {
		why = check_start(&p, &code);
		scope = why ? NULL : read_scope(m, &diag);
		if (!why && !scope) {
			code = 87;
			why = diag.text[0] ? diag.text : "the filters are malformed";
		}
		why = why ? why : check_place(d, c, &p, scope, &code);
		if (!why && !etwd_access_allows(d, &p.guid, c, ACCESS_CREATE_ONDISK)) {
			code = 5;
			why = "no right to start the session of this GUID";
		}
		s->p = p;
		s->p.name = p.name ? utf16_dup(p.name, p.name_len) : NULL;
		s->p.log_file = p.log_file ? utf16_dup(p.log_file, p.log_file_len) : NULL;
	}
	if (!s || why || !s->p.name || (p.log_file && !s->p.log_file)) {
		if (s) {
			free((void *)(uintptr_t)s->p.name);
			free((void *)(uintptr_t)s->p.log_file);
		}
		etwd_enable_args_unref(scope);
		free(s);
		etwd_reply_status(d, c, m, why ? code : 8, why);
		return true;
	}
	s->id = PROTO_PRIVATE_ID + ++d->privates->next_id;
	s->uid = c->uid;
	s->p.clock = p.clock ? p.clock : 1;
	s->p.start_filetime = clock_filetime();
	/* As each process will adjust it. */
	struct sink_options o = {.log_file_mode = p.log_file_mode,
				 .buffer_size_kb = p.buffer_size_kb,
				 .minimum_buffers = p.minimum_buffers,
				 .maximum_buffers = p.maximum_buffers,
				 .maximum_file_size = p.maximum_file_size,
				 .flush_timer = p.flush_timer,
				 .cpus = (uint16_t)d->cpus};
	if (sink_adjust(&o) == 0) {
		s->p.buffer_size_kb = o.buffer_size_kb;
		s->p.minimum_buffers = o.minimum_buffers;
		s->p.maximum_buffers = o.maximum_buffers;
		s->p.flush_timer = o.flush_timer;
	}
	s->scope = scope;
	LIST_INIT(&s->members);
	LIST_INSERT_HEAD(&d->privates->sessions, s, link);
	d->privates->count++;
	etwd_publish_wanted(d);
	struct ask *a = ask_create(d, c, m, s, PROTO_PRIVATE_START, PATIENCE_NS);
	host_all(d, s, a);
	if (!a) {
		reply_session(d, c, m, s);
	}
	return true;
}

/* By id, else by name and GUID as far as they are given; the filters choose among several. */
static struct private_session *find(struct etwd *d, const struct conn *c, const struct proto_message *m)
{
	struct proto_session p = {0};
	struct private_session *s, *found = NULL;
	struct diag diag = {0};
	uint64_t id = 0;
	if (!d->privates) {
		return NULL;
	}
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &id);
	proto_get_session(m, &p);
	struct enable_args *scope = read_scope(m, &diag);
	LIST_FOREACH(s, &d->privates->sessions, link)
	{
		bool named = p.name && p.name_len > 0;
		bool it = id != 0  ? s->id == id
			  : named ? name_is(s, p.name, p.name_len)
				  : (p.log_file_mode & MODE_PRIVATE_LOGGER) && guid_equal(&s->p.guid, &p.guid);
		if (!it || s->stopping || !may_see(d, s, c)) {
			continue;
		}
		if (!found || (scope && same_scope(s->scope, scope))) {
			found = s;
		}
	}
	etwd_enable_args_unref(scope);
	return found;
}

bool etwd_private_control(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct proto_session said = {0};
	uint32_t control = 0;
	struct private_session *s = find(d, c, m);
	if (!s) {
		return false;
	}
	proto_get_u32(m, PROTO_TAG_CONTROL_CODE, &control);
	proto_get_session(m, &said);
	if (control > PROTO_PRIVATE_FLUSH) {
		etwd_reply_status(d, c, m, 50, "a private session can be queried, stopped, updated and flushed");
		return true;
	}
	if (!etwd_access_allows(d, &s->p.guid, c,
				control == PROTO_PRIVATE_QUERY ? ACCESS_QUERY : ACCESS_CREATE_ONDISK)) {
		etwd_reply_status(d, c, m, 5, "no right to query or control this session");
		return true;
	}
	if (control == PROTO_PRIVATE_UPDATE && said.flush_timer != 0) {
		s->p.flush_timer = said.flush_timer;
	}
	struct ask *a = ask_create(d, c, m, s, control,
				   control == PROTO_PRIVATE_QUERY ? QUERY_PATIENCE_NS : PATIENCE_NS);
	if (a && control == PROTO_PRIVATE_UPDATE && said.log_file && said.log_file[0] == '/' &&
	    !(s->p.log_file_mode & MODE_BUFFERING)) {
		a->file = utf16_dup(said.log_file, said.log_file_len);
		a->file_len = said.log_file_len;
	}
	struct member *member, *next;
	for (member = LIST_FIRST(&s->members); member; member = next) {
		next = LIST_NEXT(member, link);
		if (!member->failed) {
			tell_session(d, s, control, member->process, &said, a);
		}
	}
	s->stopping = control == PROTO_PRIVATE_STOP;
	if (!a) { /* too many wait already; what was said holds */
		reply_session(d, c, m, s);
		if (s->stopping) {
			session_free(d, s);
		}
	}
	return true;
}

/* Replaces what the session has said about that provider. 0, or a Win32 code. */
static uint32_t store(struct private_session *s, const struct guid *g, uint32_t code,
		      const struct proto_message *m, struct enable_args *args)
{
	uint32_t i = 0;
	while (i < s->enables && !guid_equal(&s->enable[i].guid, g)) {
		i++;
	}
	size_t had = i < s->enables ? s->enable[i].bytes : 0;
	uint8_t *body = code == 1 ? malloc(m->body_bytes) : NULL;
	if (code == 1 && (i == ENABLES_MAX || s->bytes - had + m->body_bytes > SPACE_MAX)) {
		free(body);
		return 1450;
	}
	if (code == 1 && !body) {
		return 8;
	}
	if (i < s->enables) {
		enable_forget(&s->enable[i]);
		s->bytes -= had;
	}
	if (code == 1) {
		memcpy(body, m->body, m->body_bytes);
		s->enable[i] = (struct stored_enable){*g, args, body, m->body_bytes};
		args->refs++;
		s->bytes += m->body_bytes;
		s->enables += i == s->enables;
	} else if (i < s->enables) {
		s->enable[i] = s->enable[--s->enables];
	}
	return 0;
}

bool etwd_private_enable(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct guid guid;
	uint32_t code = 1, timeout_ms = 0;
	uint64_t id = 0;
	struct private_session *s;
	struct diag diag = {0};
	if (!proto_get_u64(m, PROTO_TAG_SESSION_ID, &id) || !(s = by_id(d, id)) || s->stopping ||
	    !may_see(d, s, c)) {
		return false;
	}
	proto_get_guid(m, PROTO_TAG_GUID, &guid);
	proto_get_u32(m, PROTO_TAG_CODE, &code);
	proto_get_u32(m, PROTO_TAG_TIMEOUT_MS, &timeout_ms);
	if (code == 1 && !etwd_access_allows(d, &guid, c, ACCESS_GUID_ENABLE)) {
		etwd_reply_status(d, c, m, 5, "no right to enable this provider");
		return true;
	}
	/* The filters are looked at here, so that a wrong one is refused without any process. */
	struct enable_args *args = calloc(1, sizeof *args);
	uint32_t result = args ? 0 : 8;
	if (args) {
		args->refs = 1;
		args->provider = guid;
		result = etwd_filter_parse(m, args, &diag) < 0 ? 87 : 0;
	}
	if (result == 0 && code != 2) {
		result = store(s, &guid, code, m, args);
	}
	if (result != 0) {
		etwd_enable_args_unref(args);
		etwd_reply_status(d, c, m, result, diag.text[0] ? diag.text : NULL);
		return true;
	}
	uint64_t patience = timeout_ms == UINT32_MAX ? 3600000000000ull
						     : BASE_MAX(PATIENCE_NS, timeout_ms * 1000000ull);
	struct ask *a = ask_create(d, c, m, s, PROTO_PRIVATE_ENABLE, patience);
	struct member *member, *next;
	for (member = LIST_FIRST(&s->members); member; member = next) {
		next = LIST_NEXT(member, link);
		if (!member->failed) {
			struct stored_enable e = {guid, args, (uint8_t *)(uintptr_t)m->body, m->body_bytes};
			tell_enable(d, s, member->process, &e, a);
		}
	}
	etwd_enable_args_unref(args);
	if (!a) {
		etwd_reply_status(d, c, m, 0, NULL);
	}
	return true;
}
