/* SPDX-License-Identifier: MIT
 * report: --filter, and the parts of intervals that lie between --from and --to.
 *
 * A filter is asked of one event. What a table counts belongs to one event, too: a sample or a message of a connection
 * to itself, a wait to the switch that ends it, an operation or a system call to the event that begins it or to the one
 * that ends it. Only that last event knows how long it took, and only the first one which file it is about.
 */
#include "tools/openetw/report.h"

#include "tools/common/durations.h"
#include "tools/common/filter_option.h"

bool report_filter_create(struct report *r)
{
	bool asks = r->filter && (filter_expr_asks(r->filter, r->filter->root) & FILTER_ASKS(DURATION));
	r->durations = asks ? durations_create() : NULL;
	return r->durations || !asks;
}

void report_filter_start(struct report *r, const TRACE_LOGFILE_HEADER *h)
{
	if (r->filter) {
		filter_expr_set_start(r->filter, (uint64_t)h->StartTime.QuadPart, 0);
		cli_view_set_state(r->view, r->state);
	}
	if (r->durations) {
		durations_set_ticks(r->durations, (uint64_t)h->PerfFreq.QuadPart);
	}
}

void report_filter_event(struct report *r, const EVENT_RECORD *e)
{
	r->took_known = false;
	if (r->durations) { /* of all events: any of them may be where something began */
		cli_view_set(r->view, e);
		const struct openetw_event_origin *o = cli_view_origin(r->view);
		r->took_known = durations_take(r->durations, e, o->pid, o->tid, &r->took);
	}
}

bool report_fits(struct report *r, const EVENT_RECORD *e, const uint64_t *ns)
{
	if (!r->filter) {
		return true;
	}
	cli_view_set(r->view, e);
	cli_view_set_duration(r->view, ns ? ns : r->took_known ? &r->took : NULL);
	bool fits = filter_expr_try(r->filter, cli_view_try, r->view) == FILTER_YES;
	r->fitting += fits;
	return fits;
}

uint64_t report_part(const struct report *r, uint64_t from, uint64_t until)
{
	from = BASE_MAX(from, r->from);
	until = BASE_MIN(until, r->to);
	return until > from ? until - from : 0;
}

void report_filter_print(const struct report *r)
{
	if (r->filter) {
		fprintf(stderr,
			"openetw report: with --filter no first lines: what a part of the events costs a thread is not "
			"known\n");
	}
	if (r->filter && r->counters_count) {
		fprintf(stderr,
			"openetw report: with --filter no counters by process: they are differences between two "
			"switches, and a filter is asked of one\n");
	}
}

int report_filter_finish(struct report *r, int status)
{
	if (r->durations && durations_forgotten(r->durations)) {
		fprintf(stderr,
			"openetw report: too much was going on at the same time: %llu events have no duration\n",
			(unsigned long long)durations_forgotten(r->durations));
		status = CLI_FAILED;
	}
	if (filter_expr_given_up(r->filter)) {
		fprintf(stderr, "openetw report: ");
		cli_filter_given_up(r->filter);
		status = CLI_FAILED;
	}
	filter_expr_destroy(r->filter);
	durations_destroy(r->durations);
	return status;
}
