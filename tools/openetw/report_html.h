/* SPDX-License-Identifier: MIT
 *
 * report --html: a page of its own, with a time line, flame graphs and tables. Nothing in it runs, and it loads nothing:
 * SVG and tables alone. Every text of the trace is escaped.
 */
#ifndef TOOLS_OPENETW_REPORT_HTML_H
#define TOOLS_OPENETW_REPORT_HTML_H

#include "tools/openetw/report.h"
#include "tools/tables/table_query.h"

/* Returns the exit status. */
int report_html(const struct cli_args *a, const struct report_options *o);

/* ---- parts of the page ---- */

struct html_part {
	FILE *f;
	struct table_set *set;
	int64_t from, to; /* of the time line: the whole trace, or what was asked for */
	int process_count;
	const char *const *process;
	uint64_t top;
	struct strbuf text; /* of what is being escaped */
	char why[600];
};
/* Escaped. */
void html_text(struct html_part *p, const char *s, size_t n);
void html_string(struct html_part *p, const char *s);
/* False: p->why. */
bool html_timeline(struct html_part *p);
bool html_flames(struct html_part *p);

#endif
