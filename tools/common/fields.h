/* SPDX-License-Identifier: MIT
 *
 * --fields of "openetw dump" and "live": only these values of each event, in this order.
 */
#ifndef TOOLS_COMMON_FIELDS_H
#define TOOLS_COMMON_FIELDS_H

#include "tools/common/printer.h"
#include "tools/common/cli.h"
#include "tools/common/event_view.h"

#define FIELDS_MAX 64

struct fields {
	int count; /* 0: the option was not given */
	bool head_done;
	char *text; /* the option's text, cut at the commas */
	struct {
		const char *name;
		bool payload; /* written with a dot in front: a field of the payload, no property */
		bool seen;    /* some event had it */
	} field[FIELDS_MAX];
};

/* `f` is all zero; `names` may be NULL. False: printed why. */
bool fields_from_args(struct fields *f, const struct cli_args *a, const char *names);
void fields_finish(struct fields *f);
/* The line of the event that the view shows. */
void fields_add(struct fields *f, enum cli_format format, struct cli_view *view, struct strbuf *b);
/* The i-th; false behind the last one. */
bool fields_asked(const struct fields *f, unsigned i, struct cli_asked *ret);

#endif
