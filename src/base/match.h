/* SPDX-License-Identifier: MIT
 *
 * Does a session want an event, as far as level and keywords say? The one rule, for the process that writes, for
 * etwd, private sessions and filters [doc]:
 *
 *   level     An event passes whose level is at most the session's. Level 0 of the session lets all levels pass;
 *             level 0 of the event (log always) passes every session.
 *   keywords  An event passes that has one of the session's "any" and all of its "all". An event without keywords
 *             passes, unless the session said EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0.
 *
 * "any" of 0 means every keyword: who keeps what a session asked for stores all ones then (match_any()).
 */
#ifndef BASE_MATCH_H
#define BASE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* The highest level that passes, for match_level(). */
static inline uint8_t match_limit(uint8_t session_level)
{
	return session_level ? session_level : UINT8_MAX;
}

/* Who looks at many sessions for one event may give both levels less one instead: (uint8_t)(session_level - 1), where
 * 0 becomes the highest, and level - (level != 0). */
static inline bool match_level(uint8_t limit, uint8_t level)
{
	return level <= limit;
}

static inline uint64_t match_any(uint64_t session_any)
{
	return session_any ? session_any : UINT64_MAX;
}

/* without: do events without keywords pass? */
static inline bool match_keywords(uint64_t any, uint64_t all, bool without, uint64_t keyword)
{
	bool match = (keyword & any) != 0 && (keyword & all) == all;
	return match || (keyword == 0 && without);
}

#endif
