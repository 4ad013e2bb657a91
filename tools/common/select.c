/* SPDX-License-Identifier: MIT
 * Which events a verb looks at: --filter and the short forms of what is asked most.
 */
#include "base/parse.h"
#include "base/level.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"
#include "tools/common/filter_option.h"

#include <stdlib.h>

#define EACH_MAX   32
#define FIELDS_MAX 64 /* of a filter, that are looked after */

struct cli_select {
	struct filter_expr *filter;
	int provider_count, event_count, process_count, pid_count, tid_count;
	struct {
		const char *name;
		GUID guid;
		bool has_guid;
	} provider[EACH_MAX];
	struct {
		const char *pattern;
		bool is_id;
		uint64_t id;
	} event[EACH_MAX];
	const char *process[EACH_MAX];
	uint64_t pid[EACH_MAX], tid[EACH_MAX];
	struct {
		const char *name;
		bool payload;
	} field[FIELDS_MAX];
	int field_count;
	/* Some event had it, by kind and number. */
	bool seen[CLI_ASKED_FIELD + 1][FIELDS_MAX];
	struct cli_view *view; /* while the filter asks for fields */
	bool has_level;
	uint8_t level;
	/* A time below is absolute, or counts from the start of the trace. */
	bool from_relative, to_relative;
	uint64_t from, to;
	bool any; /* something of the above is set */
};

static bool too_many(const struct cli_args *a, const char *name)
{
	cli_usage(a, "at most %d --%s", EACH_MAX, name);
	return false;
}

static bool take_ids(const struct cli_args *a, const char *name, uint64_t *ids, int *count)
{
	const char *v;
	for (; (v = cli_value_at(a, name, *count)) != NULL; ++*count) {
		if (*count == EACH_MAX) {
			return too_many(a, name);
		}
		if (!parse_number(v, 0, UINT64_MAX, &ids[*count])) {
			cli_usage(a, "--%s takes a number, not '%s'", name, v);
			return false;
		}
	}
	return true;
}

static bool take_time(const struct cli_args *a, const char *name, uint64_t *ret, bool *ret_relative)
{
	const char *v = cli_value(a, name, NULL);
	uint64_t ns;
	if (!v) {
		return true;
	}
	if (parse_time(v, ret)) {
		*ret_relative = false;
		return true;
	}
	if (parse_duration(v + (*v == '+'), 1000, &ns)) { /* bare numbers are µs, as in other ETW tools */
		*ret = ns / 100;
		*ret_relative = true;
		return true;
	}
	cli_usage(a,
		  "--%s takes 2026-01-31T12:00:00 (UTC; or with +01:00) or a time from the start "
		  "such as 1.5s, not '%s'",
		  name, v);
	return false;
}

static bool take_all(struct cli_select *s, const struct cli_args *a, bool providers)
{
	const char *v;
	if (!cli_filter_expr(a, &s->filter)) {
		return false;
	}
	if (s->filter) {
		while (s->field_count < FIELDS_MAX &&
		       (s->field[s->field_count].name = filter_expr_name(s->filter, (uint32_t)s->field_count,
									 &s->field[s->field_count].payload)) != NULL) {
			s->field_count++;
		}
	}
	for (; providers && (v = cli_value_at(a, "provider", s->provider_count)) != NULL; s->provider_count++) {
		if (s->provider_count == EACH_MAX) {
			return too_many(a, "provider");
		}
		s->provider[s->provider_count].name = v;
		s->provider[s->provider_count].has_guid = cli_provider_guid(v, &s->provider[s->provider_count].guid);
	}
	for (; (v = cli_value_at(a, "event", s->event_count)) != NULL; s->event_count++) {
		if (s->event_count == EACH_MAX) {
			return too_many(a, "event");
		}
		s->event[s->event_count].pattern = v;
		s->event[s->event_count].is_id = parse_number(v, 0, UINT64_MAX, &s->event[s->event_count].id);
	}
	for (; (v = cli_value_at(a, "process", s->process_count)) != NULL; s->process_count++) {
		if (s->process_count == EACH_MAX) {
			return too_many(a, "process");
		}
		s->process[s->process_count] = v;
	}
	v = cli_value(a, "level", NULL);
	if (v) {
		s->has_level = true;
		if (!level_parse(v, strlen(v), &s->level)) {
			cli_usage(a,
				  "--level takes 0-255 or critical|error|warning|info|verbose, not "
				  "'%s'",
				  v);
			return false;
		}
	}
	s->to = UINT64_MAX;
	if (!take_ids(a, "pid", s->pid, &s->pid_count) || !take_ids(a, "tid", s->tid, &s->tid_count) ||
	    !take_time(a, "from", &s->from, &s->from_relative) || !take_time(a, "to", &s->to, &s->to_relative)) {
		return false;
	}
	s->any = s->filter || s->provider_count || s->event_count || s->process_count || s->pid_count || s->tid_count ||
		 s->has_level || cli_value(a, "from", NULL) || cli_value(a, "to", NULL);
	return true;
}

struct cli_select *cli_select_create(const struct cli_args *a, bool providers)
{
	struct cli_select *s = calloc(1, sizeof *s);
	if (!s) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot select events");
		return NULL;
	}
	if (!take_all(s, a, providers)) {
		cli_select_destroy(s);
		return NULL;
	}
	return s;
}

void cli_select_destroy(struct cli_select *s)
{
	if (s) {
		filter_expr_destroy(s->filter);
		free(s);
	}
}

bool cli_select_set_start(struct cli_select *s, uint64_t start)
{
	s->from += s->from_relative ? start : 0;
	s->to += s->to_relative ? start : 0;
	s->from_relative = s->to_relative = false;
	return s->from <= s->to;
}

uint64_t cli_select_from(const struct cli_select *s)
{
	return s->from;
}

uint64_t cli_select_to(const struct cli_select *s)
{
	return s->to;
}

static bool among(bool *seen, const uint64_t *ids, int count, uint64_t id)
{
	for (int i = 0; i < count; i++) {
		if (ids[i] == id) {
			return seen[i] = true;
		}
	}
	return count == 0;
}

static bool provider_is(const char *wanted, const GUID *guid, struct cli_view *v, const EVENT_RECORD *e)
{
	struct cli_view_value name;
	return (guid && memcmp(guid, &e->EventHeader.ProviderId, sizeof(GUID)) == 0) ||
	       (cli_view_get(v, "provider", false, &name) && name.text_length == strlen(wanted) &&
		strncasecmp(name.text, wanted, name.text_length) == 0);
}

static bool provider_matches(struct cli_select *s, struct cli_view *v, const EVENT_RECORD *e)
{
	for (int i = 0; i < s->provider_count; i++) {
		if (provider_is(s->provider[i].name, s->provider[i].has_guid ? &s->provider[i].guid : NULL, v, e)) {
			return s->seen[CLI_ASKED_PROVIDER][i] = true;
		}
	}
	return s->provider_count == 0;
}

static bool event_is(const char *pattern, struct cli_view *v)
{
	struct cli_view_value name;
	if (!cli_view_get(v, "event", false, &name)) {
		return false;
	}
	if (!strpbrk(pattern, "*?")) {
		return filter_expr_event_is(pattern, name.text, name.text_length);
	}
	/* A pattern may be of the last part, too, as a name may. */
	const char *slash = memrchr(name.text, '/', name.text_length);
	size_t before = slash ? (size_t)(slash - name.text) + 1 : 0;
	return filter_expr_pattern(pattern, name.text, name.text_length) ||
	       (before && filter_expr_pattern(pattern, name.text + before, name.text_length - before));
}

static bool event_matches(struct cli_select *s, struct cli_view *v, const EVENT_RECORD *e)
{
	for (int i = 0; i < s->event_count; i++) {
		if (s->event[i].is_id ? s->event[i].id == e->EventHeader.EventDescriptor.Id && !cli_is_header(e)
				      : event_is(s->event[i].pattern, v)) {
			return s->seen[CLI_ASKED_EVENT][i] = true;
		}
	}
	return s->event_count == 0;
}

/* With or without its extension. */
static bool is_called(const char *wanted, const char *name)
{
	size_t n = name ? strlen(name) : 0, w = strlen(wanted);
	if (n == 0) {
		return false;
	}
	if (strpbrk(wanted, "*?")) {
		return filter_expr_pattern(wanted, name, n);
	}
	return n >= w && strncasecmp(name, wanted, w) == 0 && (name[w] == 0 || strcasecmp(name + w, ".exe") == 0);
}

static bool origin_matches(struct cli_select *s, struct cli_view *v)
{
	if (s->process_count + s->pid_count + s->tid_count == 0) {
		return true;
	}
	const struct openetw_event_origin *o = cli_view_origin(v);
	bool named = s->process_count == 0;
	for (int i = 0; i < s->process_count && !named; i++) {
		named = is_called(s->process[i], o->process) || is_called(s->process[i], o->subject);
		s->seen[CLI_ASKED_PROCESS][i] |= named;
	}
	return named && among(s->seen[CLI_ASKED_PID], s->pid, s->pid_count, o->pid) &&
	       among(s->seen[CLI_ASKED_TID], s->tid, s->tid_count, o->tid);
}

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct cli_select *s = ctx;
	bool found = cli_view_lookup(s->view, name, payload, ret);
	for (int i = 0; found && i < s->field_count; i++) {
		if (s->field[i].name == name) {
			s->seen[CLI_ASKED_FIELD][i] = true;
		}
	}
	return found;
}

bool cli_select_names_process(const struct cli_select *s)
{
	return s->process_count > 0 || s->pid_count > 0 || s->tid_count > 0 || s->filter;
}

bool cli_select_names_events(const struct cli_select *s)
{
	return s->event_count > 0;
}

bool cli_select_match(struct cli_select *s, struct cli_view *v, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	uint64_t time = (uint64_t)h->TimeStamp.QuadPart;
	if (!s->any) {
		return true;
	}
	/* A selection means events. Records of the file itself are meant by their names only, never by level. */
	if (cli_is_header(e) && (s->event_count == 0 || s->has_level)) {
		return false;
	}
	return time >= s->from && time <= s->to && origin_matches(s, v) &&
	       (!s->has_level || h->EventDescriptor.Level <= s->level) && provider_matches(s, v, e) &&
	       event_matches(s, v, e) && (!s->filter || (s->view = v, filter_expr_match(s->filter, lookup, s)));
}

bool cli_select_asked(const struct cli_select *s, unsigned i, struct cli_asked *ret)
{
	const int counts[] = {s->provider_count, s->event_count, s->process_count,
			      s->pid_count,      s->tid_count,   s->field_count};
	for (int kind = 0; kind <= CLI_ASKED_FIELD; kind++) {
		if (i >= (unsigned)counts[kind]) {
			i -= (unsigned)counts[kind];
			continue;
		}
		*ret = (struct cli_asked){.kind = (enum cli_asked_kind)kind, .seen = s->seen[kind][i]};
		switch (ret->kind) {
		case CLI_ASKED_PROVIDER: ret->text = s->provider[i].name; break;
		case CLI_ASKED_EVENT: ret->text = s->event[i].pattern; break;
		case CLI_ASKED_PROCESS: ret->text = s->process[i]; break;
		case CLI_ASKED_PID: ret->number = s->pid[i]; break;
		case CLI_ASKED_TID: ret->number = s->tid[i]; break;
		case CLI_ASKED_FIELD:
			ret->text = s->field[i].name;
			ret->payload = s->field[i].payload;
			break;
		}
		return true;
	}
	return false;
}

bool cli_select_has(const struct cli_asked *k, struct cli_view *v, const EVENT_RECORD *e)
{
	const struct openetw_event_origin *o;
	struct cli_view_value value;
	GUID guid;
	uint64_t id;
	switch (k->kind) {
	case CLI_ASKED_PROVIDER: return provider_is(k->text, cli_provider_guid(k->text, &guid) ? &guid : NULL, v, e);
	case CLI_ASKED_EVENT:
		return event_is(k->text, v) ||
		       (parse_number(k->text, 0, UINT16_MAX, &id) && id == e->EventHeader.EventDescriptor.Id);
	case CLI_ASKED_PROCESS:
		o = cli_view_origin(v);
		return is_called(k->text, o->process) || is_called(k->text, o->subject);
	case CLI_ASKED_PID: return cli_view_origin(v)->pid == k->number;
	case CLI_ASKED_TID: return cli_view_origin(v)->tid == k->number;
	case CLI_ASKED_FIELD: return cli_view_get(v, k->text, k->payload, &value);
	}
	return false;
}

bool cli_select_bounds(const struct cli_select *s)
{
	return s->has_level || s->from > 0 || s->to != UINT64_MAX;
}
