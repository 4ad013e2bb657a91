/* SPDX-License-Identifier: MIT
 *
 * Queries over events: the part of XPath 1.0 that Windows' event queries have.
 *
 *   *[System[(Level=1 or Level=2) and TimeCreated[timediff(@SystemTime) <= 3600000]]]
 *   *[EventData[Data[@Name='User']='ann' and Band(Flags, 4)]]
 *
 * Steps are names, *, @name and . ; text compares as numbers where both sides are numbers (0x too)
 * and as times where the attribute is a time; functions are timediff, Band and position. What
 * stands elsewhere in XPath is refused with the place.
 */
#ifndef TOOLS_COMMON_XPATH_H
#define TOOLS_COMMON_XPATH_H

#include "base/base.h"

struct cli_xpath;
struct xml_node;

/* NULL: *ret_at is the offset of the mistake, *ret_why a sentence. */
struct cli_xpath *cli_xpath_parse(const char *text, size_t *ret_at, const char **ret_why);
void cli_xpath_destroy(struct cli_xpath *x);
/* Does the event, an <Event> element, match? Times compare with `now` (FILETIME). */
bool cli_xpath_match(const struct cli_xpath *x, const struct xml_node *event, uint64_t now);

#endif
