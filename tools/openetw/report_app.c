/* SPDX-License-Identifier: MIT
 * report: events of applications that were recorded with their stacks, as stacks that count 1 each.
 */
#include "tools/openetw/report.h"

#include "tools/common/trace_reading.h"

bool report_app_create(struct report *r)
{
	r->decoder = openetw_decoder_create();
	r->view = r->decoder ? cli_view_create(r->decoder, false) : NULL;
	return r->view != NULL;
}

void report_app_free(struct report *r)
{
	cli_view_destroy(r->view);
	openetw_decoder_destroy(r->decoder);
}

/* "MyCompany.Shop/Sold", without what divides frames. */
static void event_name(struct report *r, char *out, size_t cap)
{
	static const char *const parts[] = {"provider", "event"};
	struct strbuf b = {0};
	for (int i = 0; i < 2; i++) {
		struct cli_view_value v;
		strbuf_adds(&b, i ? "/" : "");
		if (cli_view_get(r->view, parts[i], false, &v)) {
			strbuf_add_printable(&b, v.text, v.text_length);
		}
	}
	r->failed = r->failed || b.failed;
	snprintf(out, cap, "%s", b.s ? b.s : "");
	for (char *p = out; *p; p++) {
		*p = *p == ';' ? ':' : *p;
	}
	strbuf_finish(&b);
}

void report_app(struct report *r, const EVENT_RECORD *e)
{
	char name[1024];
	struct openetw_event_origin o = {.size = sizeof o};
	if (cli_is_header(e) || !report_fits(r, e, NULL)) {
		return;
	}
	r->other_events++;
	if (!cli_event_item(e, EVENT_HEADER_EXT_TYPE_STACK_TRACE64) &&
	    !cli_event_item(e, EVENT_HEADER_EXT_TYPE_STACK_TRACE32)) {
		(void)report_wanted(r, e->EventHeader.ProcessId, e->EventHeader.ThreadId, NULL, 0); /* was there */
		return;
	}
	if (openetw_state_event(r->state, e, &o) != ERROR_SUCCESS ||
	    !report_wanted(r, o.pid, o.tid, o.process, (uint64_t)e->EventHeader.TimeStamp.QuadPart)) {
		return;
	}
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (!report_stack_line(r, e, o.pid, o.process, time, false)) {
		return;
	}
	cli_view_set(r->view, e);
	event_name(r, name, sizeof name);
	strbuf_addf(&r->line, ";%s", name);
	struct tally_row *stack = r->line.failed ? NULL : tally_row(&r->app_stacks, r->line.s);
	struct tally_row *event = tally_row(&r->app_names, name);
	if (!stack || !event) {
		r->failed = true;
		return;
	}
	stack->v[0]++;
	event->v[0]++;
	r->app_with_stack++;
}

void report_print_app(struct report *r, uint64_t top, bool json)
{
	static const char *const by_event[] = {"EVENT", NULL}, *const json_name[] = {"NAME", NULL};
	static const struct tally_column columns[] = {{"STACKS", "stacks", TALLY_COUNT, 0},
						      {"%", "percent", TALLY_PERCENT_OF, 0}};
	struct tally_table t = {.title = "other events with stacks (--events writes them)",
				.json = "eventsWithStacks",
				.parts = json ? json_name : by_event,
				.columns = columns,
				.column_count = 2,
				.whole = r->app_with_stack};
	tally_print(stdout, &r->app_names, &t, top, json);
}

const struct tally *report_stacks(const struct report *r, const char **ret_unit, const char **ret_none)
{
	if (r->off_cpu) {
		*ret_unit = "microseconds";
		*ret_none = "no waits with stacks; openetw record --wait makes them";
		return &r->off_stacks;
	}
	*ret_unit = "none";
	if (r->o->events) {
		*ret_none =
			"no events of applications with stacks; -p NAME:::stack records them, or openetw run --stacks";
		return &r->app_stacks;
	}
	*ret_none = "no CPU samples; openetw record --cpu makes them";
	if (r->stacks.used == 0 && r->app_stacks.used) { /* an application's session */
		return &r->app_stacks;
	}
	return &r->stacks;
}
