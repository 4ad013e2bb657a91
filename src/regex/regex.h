/* SPDX-License-Identifier: MIT
 *
 * Regular expressions of filters (filter/filter_parse.h), by PCRE2.
 *
 * The library is loaded when the first pattern is compiled (libpcre2-8.so.0, Debian's libpcre2-8-0). Nothing needs it to
 * be built or to run; without it a pattern is refused, and the reason says what to install. The processes that are traced
 * and etwd never use this folder.
 *
 * Patterns are Perl's, over UTF-8; \w, \d and case are Unicode's. Text that is not valid UTF-8 is matched around its
 * invalid bytes. Matching is bounded in steps, in depth and in memory; where a bound is hit the match is given up, which
 * is counted for each pattern. There is no JIT: its matches cannot be bounded in the same way.
 */
#ifndef REGEX_REGEX_H
#define REGEX_REGEX_H

#include "filter/filter_parse.h"

extern const struct filter_regex_engine regex_pcre2;

#endif
