/* SPDX-License-Identifier: MIT
 *
 * Conditions on the fields of an event, as people write them:
 *
 *   EVENT: FIELD OP VALUE { and|or FIELD OP VALUE }
 *
 * EVENT is the number of a manifest's event or the name of a TraceLogging event; OP one of
 * == != < <= > >= between outside % ~ !~; what has blanks stands in quotes.
 */
#ifndef FILTER_FILTER_TEXT_H
#define FILTER_FILTER_TEXT_H

#include "filter/filter_named.h"

#define FILTER_TEXT_MAX 1024u

struct filter_text {
	char text[FILTER_TEXT_MAX]; /* what the others point into */
	const char *event;
	bool any; /* joined by "or" */
	struct filter_named_condition c[FILTER_PREDICATES_MAX];
	size_t count;
};

/* -EINVAL: *d says how it is written. Not to be copied afterwards. */
int filter_text_parse(const char *text, struct filter_text *ret, struct diag *d);
/* Is the event a number? */
bool filter_text_number(const struct filter_text *p, uint16_t *ret);

#endif
