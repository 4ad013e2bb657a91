/* SPDX-License-Identifier: MIT
 *
 * What --fail-if of openetw diff says:
 *
 *	rule  = aggregate op value [ "beyond noise" ]
 *	op    = ">" | ">=" | "<" | "<=" | "==" | "!="
 *	value = number [ unit ] | [ number "*" ] "base" | "base" "*" number
 *
 * Units are those of filters: 5ms, 1.5s, 10MB.
 */
#ifndef TOOLS_OPENETW_DIFF_RULE_H
#define TOOLS_OPENETW_DIFF_RULE_H

#include "base/base.h"

struct diff_rule {
	const char *text;
	char aggregate[160];
	int op; /* '>', '<', '=', '!', and 'g' and 'l' for >= and <= */
	double number;
	bool of_base;    /* number times that of the base */
	bool beyond;     /* only of differences that are more than noise */
	uint32_t column; /* of the answers: the caller's */
};
/* False: `why`. */
bool diff_rule_parse(const char *text, struct diff_rule *ret, char *why, size_t cap);
/* Is it true of these values? */
bool diff_rule_is_true(const struct diff_rule *r, double value, double base);

#endif
