/* SPDX-License-Identifier: MIT
 * report: samples, by process, thread and function.
 */
#include "tools/openetw/report.h"

enum { SELF, TOTAL };

static bool count(struct report *r, struct tally_row *row)
{
	if (!row) {
		r->failed = true;
		return false;
	}
	row->v[SELF]++;
	return true;
}

bool report_stack_line(struct report *r, const EVENT_RECORD *e, uint32_t pid, const char *process, uint64_t time,
		       bool interrupted)
{
	struct openetw_stack s = {.size = sizeof s};
	strbuf_clear(&r->line);
	strbuf_addf(&r->line, "%s (%u)", process, pid);
	for (size_t i = 0; i < r->line.len; i++) {
		r->line.s[i] = r->line.s[i] == ';' ? ':' : r->line.s[i]; /* which divides frames */
	}
	if (openetw_state_stack(r->state, e, &s) != ERROR_SUCCESS || s.count == 0) {
		return false;
	}
	for (uint32_t i = BASE_MIN(s.count, (uint32_t)NAMES_FRAMES_MAX); i-- > 0;) {
		strbuf_addc(&r->line, ';');
		names_all(&r->names, pid, names_frame(s.addresses, i, interrupted), time, &r->line);
	}
	return true;
}

void report_sample(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	char name[1024], thread[KEVENT_THREAD_SIZE];
	if (!report_wanted(r, k->pid, k->tid, k->process, k->time) || !report_fits(r, e, NULL)) {
		return;
	}
	r->samples++;
	if (k->tid == 0 || k->pid == 0) {
		r->idle++;
		return;
	}
	kevent_thread_text(k->process, k->pid, k->tid, k->thread, thread);
	if (!count(r, tally_rowf(&r->processes, "%s (%u)", k->process, k->pid)) ||
	    !count(r, tally_rowf(&r->threads, "%s", thread))) {
		return;
	}
	if (!report_stack_line(r, e, k->pid, k->process, k->time, true)) {
		names_of(&r->names, k->pid, k->address, k->time, name, sizeof name);
		strbuf_addf(&r->line, ";%s", name);
	}
	if (r->line.failed) {
		r->failed = true;
		return;
	}
	/* Names hold no semicolons but those that divide them. */
	struct tally_row *row = NULL;
	char *line = r->line.s + strcspn(r->line.s, ";");
	while (*line == ';') {
		size_t n = strcspn(line + 1, ";");
		char after = line[1 + n];
		line[1 + n] = 0;
		row = tally_row(&r->functions, line + 1);
		line[1 + n] = after;
		if (!row) {
			r->failed = true;
			return;
		}
		row->v[TOTAL] += row->seen != r->samples;
		row->seen = r->samples;
		line += 1 + n;
	}
	if (row) {
		row->v[SELF]++;
	}
	count(r, tally_row(&r->stacks, r->line.s));
}

static const char *const by_name[] = {"PROCESS", NULL}, *const by_thread[] = {"THREAD", NULL},
			 *const by_function[] = {"FUNCTION", NULL}, *const json_name[] = {"NAME", NULL};
static const struct tally_column counts[] = {{"SAMPLES", "self", TALLY_COUNT, SELF},
					     {"%", "percent", TALLY_PERCENT_OF, SELF}};
static const struct tally_column self_total[] = {{"SELF", "self", TALLY_COUNT, SELF},
						 {"%", "percentSelf", TALLY_PERCENT_OF, SELF},
						 {"TOTAL", "total", TALLY_COUNT, TOTAL},
						 {"%", "percent", TALLY_PERCENT_OF, TOTAL}};

void report_print_cpu(struct report *r, uint64_t top, bool json)
{
	struct tally_table t = {.title = "processes by CPU",
				.json = "processes",
				.parts = json ? json_name : by_name,
				.columns = counts,
				.column_count = 2,
				.whole = r->samples - r->idle};
	tally_print(stdout, &r->processes, &t, top, json);
	t.title = "threads by CPU";
	t.json = "threads";
	t.parts = json ? json_name : by_thread;
	tally_print(stdout, &r->threads, &t, top, json);
	t.title = "functions by their own CPU";
	t.json = "functions";
	t.parts = json ? json_name : by_function;
	t.columns = self_total;
	t.column_count = 4;
	tally_print(stdout, &r->functions, &t, top, json);
	t.title = "functions by CPU with what they called";
	t.json = "functionsInclusive";
	t.sort_by = TOTAL;
	tally_print(stdout, &r->functions, &t, top, json);
}
