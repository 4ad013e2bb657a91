/* SPDX-License-Identifier: MIT
 * Private sessions of controllers: START, CONTROL, ENABLE.
 */
#include "etwd/etwd_private.h"

#include "session/session_modes.h"

#include <stdlib.h>
#include <sys/socket.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

#define SPACE_MAX         (256u << 10) /* of the enables of one session */
#define PATIENCE_NS       5000000000ull
#define QUERY_PATIENCE_NS 1000000000ull

static const char *check_start(const struct conn *c, const struct proto_session *p, uint32_t *ret_code)
{
	const char *why = NULL;
	enum session_runner runner = etwd_session_runner(c);
	*ret_code = session_modes_check(&p->props, session_file_kind(p->log_file, p->log_file_len),
					runner == SESSION_RUNNER_ETWD ? SESSION_RUNNER_PROCESSES : runner, &why);
	if (*ret_code != 0) {
		return why;
	}
	*ret_code = ERROR_INVALID_PARAMETER;
	if (!p->name || p->name_len == 0 || p->name_len > ETWD_NAME_MAX) {
		return "a session needs a name of at most 1024 characters";
	}
	*ret_code = ERROR_BAD_PATHNAME;
	return p->log_file && p->log_file[0] != '/' ? "the log file must be an absolute path" : NULL;
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
	LIST_FOREACH(s, &d->privates->sessions, link) {
		if (s->uid == c->uid && name_is(s, p->name, p->name_len)) {
			*ret_code = ERROR_ALREADY_EXISTS;
			return "a private session of this name is running";
		}
		if (s->uid == c->uid && guid_equal(&s->p.props.guid, &p->props.guid) && same_scope(s->scope, scope)) {
			*ret_code = ERROR_ALREADY_EXISTS;
			return "a private session of this provider is running";
		}
	}
	*ret_code = ERROR_NO_SYSTEM_RESOURCES;
	return etwd_share_fits(d, c->uid, SHARE_PRIVATES, 1) ? NULL : "there are too many private sessions";
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
		diag_at(diag, UINT64_MAX,
			"the filters of a private session choose processes; those of events go "
			"with the enable");
		bad = true;
	}
	if (bad) {
		etwd_enable_args_unref(a);
		return NULL;
	}
	return a;
}

/* A process compares them with its own: it writes no file with a group that the user does not have. */
static void learn_groups(struct private_session *s, const struct conn *c)
{
	socklen_t bytes = sizeof s->group - sizeof s->group[0];
	s->group[0] = c->gid;
	s->groups = 1;
	if (getsockopt(c->src.fd, SOL_SOCKET, SO_PEERGROUPS, s->group + 1, &bytes) == 0) {
		s->groups += (uint32_t)(bytes / sizeof s->group[0]);
	}
}

bool etwd_private_start(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct proto_session p;
	struct diag diag = {0};
	uint32_t code = ERROR_NOT_ENOUGH_MEMORY;
	const char *why = NULL;
	if (!proto_get_session(m, &p) || !(p.props.mode & EVENT_TRACE_PRIVATE_LOGGER_MODE)) {
		return false;
	}
	struct enable_args *scope = NULL;
	struct private_session *s = etwd_private_side(d) ? calloc(1, sizeof *s) : NULL;
	if (s) {
		why = check_start(c, &p, &code);
		scope = why ? NULL : read_scope(m, &diag);
		if (!why && !scope) {
			code = ERROR_INVALID_PARAMETER;
			why = diag.text[0] ? diag.text : "the filters are malformed";
		}
		why = why ? why : check_place(d, c, &p, scope, &code);
		if (!why && !etwd_access_allows(d, &p.props.guid, c, TRACELOG_CREATE_ONDISK)) {
			code = ERROR_ACCESS_DENIED;
			why = "no right to start the session of this GUID";
		}
		s->p = p;
		s->p.owner_pid = 0;
		if (!why && (code = etwd_private_limits_set(s, &p, &why)) == 0) {
			code = ERROR_NOT_ENOUGH_MEMORY;
		}
		s->p.name = p.name ? utf16_dup(p.name, p.name_len) : NULL;
		s->p.log_file = p.log_file ? utf16_dup(p.log_file, p.log_file_len) : NULL;
	}
	if (!s || why || !s->p.name || (p.log_file && !s->p.log_file)) {
		if (s) {
			etwd_private_limits_clear(s);
			free((void *)(uintptr_t)s->p.name);
			free((void *)(uintptr_t)s->p.log_file);
		}
		etwd_enable_args_unref(scope);
		free(s);
		etwd_reply_status(d, c, m, why ? code : ERROR_NOT_ENOUGH_MEMORY, why);
		return true;
	}
	s->id = PROTO_PRIVATE_ID + ++d->privates->next_id;
	s->uid = c->uid;
	learn_groups(s, c);
	s->p.props.clock = p.props.clock ? p.props.clock : 1;
	s->p.start_filetime = clock_filetime();
	/* As each process will adjust it. */
	struct sink_options o = {.props = s->p.props, .cpus = (uint16_t)d->cpus};
	if (sink_adjust(&o) == 0) {
		s->p.props = o.props;
	}
	s->scope = scope;
	LIST_INIT(&s->members);
	LIST_INSERT_HEAD(&d->privates->sessions, s, link);
	d->privates->count++;
	etwd_share_add(d, s->uid, SHARE_PRIVATES, 1);
	etwd_publish_wanted(d);
	struct ask *a = etwd_private_ask(d, c, m, s, PROTO_PRIVATE_START, PATIENCE_NS);
	etwd_private_host_all(d, s, a);
	if (!a) {
		etwd_private_reply(d, c, m, s);
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
	LIST_FOREACH(s, &d->privates->sessions, link) {
		bool named = p.name && p.name_len > 0;
		bool it = id != 0 ? s->id == id
			  : named ? name_is(s, p.name, p.name_len)
				  : (p.props.mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) &&
					    guid_equal(&s->p.props.guid, &p.props.guid);
		if (!it || s->stopping || !etwd_private_may_see(d, s, c)) {
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
	if (control > PROTO_PRIVATE_FLUSH && control != PROTO_CONTROL_LIMITS) {
		etwd_reply_status(d, c, m, ERROR_NOT_SUPPORTED,
				  "a private session can be queried, stopped, updated, flushed and limited");
		return true;
	}
	if (!etwd_access_allows(d, &s->p.props.guid, c,
				control == PROTO_PRIVATE_QUERY ? WMIGUID_QUERY : TRACELOG_CREATE_ONDISK)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "no right to query or control this session");
		return true;
	}
	if (control == PROTO_CONTROL_LIMITS) {
		const char *why = NULL;
		uint32_t code = etwd_private_limits_set(s, &said, &why);
		if (code != 0) {
			etwd_reply_status(d, c, m, code, why);
		} else {
			etwd_private_reply(d, c, m, s);
		}
		return true;
	}
	if (control == PROTO_PRIVATE_UPDATE && said.props.flush_timer != 0) {
		s->p.props.flush_timer = said.props.flush_timer;
	}
	struct ask *a =
		etwd_private_ask(d, c, m, s, control, control == PROTO_PRIVATE_QUERY ? QUERY_PATIENCE_NS : PATIENCE_NS);
	if (a && control == PROTO_PRIVATE_UPDATE && said.log_file && said.log_file[0] == '/' &&
	    !(s->p.props.mode & EVENT_TRACE_BUFFERING_MODE)) {
		a->file = utf16_dup(said.log_file, said.log_file_len);
		a->file_len = said.log_file_len;
	}
	etwd_private_tell_all(d, s, control, &said, a);
	s->stopping = control == PROTO_PRIVATE_STOP;
	if (!a) { /* too many wait already; what was said holds */
		etwd_private_reply(d, c, m, s);
		if (s->stopping) {
			etwd_private_free(d, s);
		}
	}
	return true;
}

/* Replaces what the session has said about that provider. 0, or a Win32 code. */
static uint32_t store(struct private_session *s, const struct guid *g, uint32_t code, const struct proto_message *m,
		      struct enable_args *args)
{
	uint32_t i = 0;
	while (i < s->enables && !guid_equal(&s->enable[i].guid, g)) {
		i++;
	}
	size_t had = i < s->enables ? s->enable[i].bytes : 0;
	uint8_t *body = code == EVENT_CONTROL_CODE_ENABLE_PROVIDER ? malloc(m->body_bytes) : NULL;
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
	    (i == ETWD_PRIVATE_ENABLES_MAX || s->bytes - had + m->body_bytes > SPACE_MAX)) {
		free(body);
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && !body) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	if (i < s->enables) {
		etwd_private_enable_forget(&s->enable[i]);
		s->bytes -= had;
	}
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
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
	uint32_t code = EVENT_CONTROL_CODE_ENABLE_PROVIDER, timeout_ms = 0;
	uint64_t id = 0;
	struct private_session *s;
	struct diag diag = {0};
	if (!proto_get_u64(m, PROTO_TAG_SESSION_ID, &id) || !(s = etwd_private_by_id(d, id)) || s->stopping ||
	    !etwd_private_may_see(d, s, c)) {
		return false;
	}
	proto_get_guid(m, PROTO_TAG_GUID, &guid);
	proto_get_u32(m, PROTO_TAG_CODE, &code);
	proto_get_u32(m, PROTO_TAG_TIMEOUT_MS, &timeout_ms);
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && !etwd_access_allows(d, &guid, c, TRACELOG_GUID_ENABLE)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "no right to enable this provider");
		return true;
	}
	/* The filters are looked at here, so that a wrong one is refused without any process. */
	struct enable_args *args = calloc(1, sizeof *args);
	uint32_t result = args ? 0 : ERROR_NOT_ENOUGH_MEMORY;
	if (args) {
		args->refs = 1;
		args->provider = guid;
		result = etwd_filter_parse(m, args, &diag) < 0 ? ERROR_INVALID_PARAMETER : 0;
	}
	if (result == 0 && code != EVENT_CONTROL_CODE_CAPTURE_STATE) {
		result = store(s, &guid, code, m, args);
	}
	if (result != 0) {
		etwd_enable_args_unref(args);
		etwd_reply_status(d, c, m, result, diag.text[0] ? diag.text : NULL);
		return true;
	}
	uint64_t patience =
		timeout_ms == UINT32_MAX ? 3600000000000ull : BASE_MAX(PATIENCE_NS, timeout_ms * 1000000ull);
	struct ask *a = etwd_private_ask(d, c, m, s, PROTO_PRIVATE_ENABLE, patience);
	struct member *member, *next;
	for (member = LIST_FIRST(&s->members); member; member = next) {
		next = LIST_NEXT(member, link);
		if (!member->failed) {
			struct stored_enable e = {guid, args, (uint8_t *)(uintptr_t)m->body, m->body_bytes};
			etwd_private_tell_enable(d, s, member->process, &e, a);
		}
	}
	etwd_enable_args_unref(args);
	if (!a) {
		etwd_reply_status(d, c, m, 0, NULL);
	}
	return true;
}
