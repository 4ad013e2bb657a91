/* SPDX-License-Identifier: MIT
 * Which events a verb looks at: --filter and the short forms of what is asked most.
 */
#include "tools/common/select.h"
#include "tools/common/session_options.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "base/level.h"
#include "tools/common/durations.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"
#include "tools/common/filter_option.h"

#include <stdlib.h>
#include <time.h>

#define EACH_MAX   CLI_SELECT_EACH_MAX
#define FIELDS_MAX 64 /* of a filter, that are looked after */

struct cli_select {
	struct filter_expr *filter;
	const struct cli_select_options *o;
	int provider_count, event_count;
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
	struct {
		const char *name;
		bool payload;
		uint32_t column; /* in the text of --filter */
		bool looked;
	} field[FIELDS_MAX];
	int field_count;
	/* Some event had it, by kind and number. */
	bool seen[CLI_ASKED_FIELD + 1][FIELDS_MAX];
	struct cli_view *view;       /* while the filter asks for fields */
	struct durations *durations; /* NULL: the filter does not ask for any */
	/* A time below is absolute, or counts from the start of the trace. */
	bool from_relative, to_relative;
	uint64_t from, to;
	bool any;   /* something of the above is set */
	bool local; /* times of day are of this machine's zone */
};

static bool too_many(const struct cli_args *a, const struct cli_words *w, const char *name)
{
	if (w->count > EACH_MAX) {
		cli_usage(a, "at most %d --%s", EACH_MAX, name);
	}
	return w->count > EACH_MAX;
}

static bool take_all(struct cli_select *s, const struct cli_args *a, const struct cli_select_options *o)
{
	if (!cli_filter_expr(a, o->filter, NULL, &s->filter) || too_many(a, &o->provider, "provider") ||
	    too_many(a, &o->event, "event") || too_many(a, &o->process, "process")) {
		return false;
	}
	while (s->filter && s->field_count < FIELDS_MAX &&
	       (s->field[s->field_count].name =
			filter_expr_name(s->filter, (uint32_t)s->field_count, &s->field[s->field_count].payload,
					 &s->field[s->field_count].column)) != NULL) {
		s->field_count++;
	}
	for (; s->provider_count < o->provider.count; s->provider_count++) {
		const char *v = s->provider[s->provider_count].name = o->provider.text[s->provider_count];
		s->provider[s->provider_count].has_guid = cli_provider_guid(v, &s->provider[s->provider_count].guid);
	}
	for (; s->event_count < o->event.count; s->event_count++) {
		const char *v = s->event[s->event_count].pattern = o->event.text[s->event_count];
		s->event[s->event_count].is_id = parse_number(v, 0, UINT64_MAX, &s->event[s->event_count].id);
	}
	if (s->filter && (filter_expr_asks(s->filter, s->filter->root) & FILTER_ASKS(DURATION))) {
		s->durations = durations_create();
		if (!s->durations) {
			cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot select events");
			return false;
		}
	}
	s->o = o;
	s->from = o->from.time;
	s->to = o->to.given ? o->to.time : UINT64_MAX;
	s->from_relative = o->from.relative;
	s->to_relative = o->to.relative;
	s->any = s->filter || s->provider_count || s->event_count || o->process.count || o->pid.count || o->tid.count ||
		 o->level.given || o->from.given || o->to.given;
	return true;
}

struct cli_select *cli_select_create(const struct cli_args *a, const struct cli_select_options *o)
{
	struct cli_select *s = calloc(1, sizeof *s);
	if (!s) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot select events");
		return NULL;
	}
	if (!take_all(s, a, o)) {
		cli_select_destroy(s);
		return NULL;
	}
	return s;
}

bool cli_select_pids(const struct cli_args *a, const struct cli_words *pids, struct cli_select_options *inout)
{
	static const struct cli_option row =
		CLI_NUMBERS(cli_select_options, pid, 0, "pid", "PID", 0, UINT64_MAX, CLI_SELECT_EACH_MAX, NULL);
	for (int i = 0; i < pids->count; i++) {
		if (!row.take(a, &row, pids->text[i], &inout->pid)) {
			return false;
		}
	}
	return true;
}

void cli_select_destroy(struct cli_select *s)
{
	if (s) {
		filter_expr_destroy(s->filter);
		durations_destroy(s->durations);
		free(s);
	}
}

int64_t cli_ahead_of_utc(uint64_t filetime)
{
	time_t seconds = (time_t)((int64_t)(filetime / 10000000) - 11644473600);
	struct tm tm;
	return localtime_r(&seconds, &tm) ? (int64_t)tm.tm_gmtoff * 10000000 : 0;
}

bool cli_select_set_start(struct cli_select *s, uint64_t start)
{
	s->from += s->from_relative ? start : 0;
	s->to += s->to_relative ? start : 0;
	s->from_relative = s->to_relative = false;
	if (s->filter) {
		filter_expr_set_start(s->filter, start, s->local ? cli_ahead_of_utc(start) : 0);
	}
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

bool cli_process_is(const char *wanted, const char *name, size_t n)
{
	size_t w = strlen(wanted);
	if (n == 0) {
		return false;
	}
	if (strpbrk(wanted, "*?")) {
		return filter_expr_pattern(wanted, name, n);
	}
	return n >= w && strncasecmp(name, wanted, w) == 0 &&
	       (n == w || (n == w + 4 && strncasecmp(name + w, ".exe", 4) == 0));
}

static bool is_called(const char *wanted, const char *name)
{
	return name && cli_process_is(wanted, name, strlen(name));
}

static bool origin_matches(struct cli_select *s, struct cli_view *v)
{
	if (s->o->process.count + s->o->pid.count + s->o->tid.count == 0) {
		return true;
	}
	const struct openetw_event_origin *o = cli_view_origin(v);
	bool named = s->o->process.count == 0;
	for (int i = 0; i < s->o->process.count && !named; i++) {
		named = is_called(s->o->process.text[i], o->process) || is_called(s->o->process.text[i], o->subject);
		s->seen[CLI_ASKED_PROCESS][i] |= named;
	}
	return named && among(s->seen[CLI_ASKED_PID], s->o->pid.number, s->o->pid.count, o->pid) &&
	       among(s->seen[CLI_ASKED_TID], s->o->tid.number, s->o->tid.count, o->tid);
}

static enum filter_answer lookup(void *ctx, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct cli_select *s = ctx;
	enum filter_answer answer = cli_view_try(s->view, n, ret);
	for (int i = 0; i < s->field_count; i++) {
		if (s->field[i].name == n->name) {
			s->field[i].looked = true;
			s->seen[CLI_ASKED_FIELD][i] |= answer == FILTER_VALUE_PRESENT;
		}
	}
	return answer;
}

bool cli_select_asks_stack(const struct cli_select *s)
{
	return s->filter && (filter_expr_asks(s->filter, s->filter->root) & FILTER_ASKS(STACK));
}

bool cli_select_asks_duration(const struct cli_select *s)
{
	return s->durations != NULL;
}

void cli_select_set_ticks(struct cli_select *s, uint64_t per_second)
{
	if (s->durations) {
		durations_set_ticks(s->durations, per_second);
	}
}

bool cli_select_needs_state(const struct cli_select *s)
{
	uint32_t asks = s->filter ? filter_expr_asks(s->filter, s->filter->root) : 0;
	return s->o->process.count > 0 ||
	       (asks & (FILTER_ASKS(STACK) | FILTER_ASKS(PROCESS) | FILTER_ASKS(THREAD) | FILTER_ASKS(FILE)));
}

void cli_select_hint(const struct cli_args *a, const struct cli_select *s)
{
	for (int i = 0; i < s->field_count; i++) {
		const char *name = s->field[i].name;
		const char *near = s->field[i].payload || cli_view_is_property(name) || strlen(name) < 4
					   ? NULL
					   : nearest_of(name, filter_properties);
		/* Fields are mostly written with a capital letter, properties without. */
		if (near && near[0] == name[0]) {
			fprintf(stderr,
				"openetw %s: no property '%s'; did you mean '%s'? (--filter, column %u) It is taken as "
				"the name "
				"of a field\n",
				a->command->name, name, near, s->field[i].column);
		}
	}
}

void cli_select_set_local(struct cli_select *s, bool local)
{
	s->local = local;
}

int cli_select_finish(const struct cli_args *a, const struct cli_select *s, int status)
{
	if (s->durations && durations_forgotten(s->durations)) {
		fflush(stdout);
		fprintf(stderr, "openetw %s: too much was going on at the same time: %llu events have no duration\n",
			a->command->name, (unsigned long long)durations_forgotten(s->durations));
		status = status == CLI_OK ? CLI_FAILED : status;
	}
	if (filter_expr_given_up(s->filter) == 0) {
		return status;
	}
	fflush(stdout);
	fprintf(stderr, "openetw %s: ", a->command->name);
	cli_filter_given_up(s->filter);
	return status == CLI_OK ? CLI_FAILED : status;
}

bool cli_select_names_process(const struct cli_select *s)
{
	return s->o->process.count > 0 || s->o->pid.count > 0 || s->o->tid.count > 0 || s->filter;
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
	if (s->durations) { /* of all events: any of them may be where something began */
		const struct openetw_event_origin *o = cli_view_origin(v);
		uint64_t ns;
		cli_view_set_duration(v, durations_take(s->durations, e, o->pid, o->tid, &ns) ? &ns : NULL);
	}
	/* A selection means events. Records of the file itself are meant by their names only, never by level. */
	if (cli_is_header(e) && (s->event_count == 0 || s->o->level.given)) {
		return false;
	}
	return time >= s->from && time <= s->to && origin_matches(s, v) &&
	       (!s->o->level.given || h->EventDescriptor.Level <= s->o->level.level) && provider_matches(s, v, e) &&
	       event_matches(s, v, e) &&
	       (!s->filter || (s->view = v, filter_expr_try(s->filter, lookup, s) == FILTER_YES));
}

bool cli_select_asked(const struct cli_select *s, unsigned i, struct cli_asked *ret)
{
	const int counts[] = {s->provider_count, s->event_count,  s->o->process.count,
			      s->o->pid.count,   s->o->tid.count, s->field_count};
	for (int kind = 0; kind <= CLI_ASKED_FIELD; kind++) {
		if (i >= (unsigned)counts[kind]) {
			i -= (unsigned)counts[kind];
			continue;
		}
		*ret = (struct cli_asked){.kind = (enum cli_asked_kind)kind, .seen = s->seen[kind][i]};
		switch (ret->kind) {
		case CLI_ASKED_PROVIDER: ret->text = s->provider[i].name; break;
		case CLI_ASKED_EVENT: ret->text = s->event[i].pattern; break;
		case CLI_ASKED_PROCESS: ret->text = s->o->process.text[i]; break;
		case CLI_ASKED_PID: ret->number = s->o->pid.number[i]; break;
		case CLI_ASKED_TID: ret->number = s->o->tid.number[i]; break;
		case CLI_ASKED_FIELD:
			ret->text = s->field[i].name;
			ret->payload = s->field[i].payload;
			ret->column = s->field[i].column;
			ret->looked = s->field[i].looked;
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
	return s->o->level.given || s->from > 0 || s->to != UINT64_MAX;
}
