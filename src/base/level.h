/* SPDX-License-Identifier: MIT
 *
 * The names of event levels, as people write them and as programs show them.
 */
#ifndef BASE_LEVEL_H
#define BASE_LEVEL_H

#include "base/base.h"

/* Levels 0 to 5; NULL for others, which only a manifest can name. */
const char *level_word(uint8_t level);     /* "critical", "info" */
const char *level_text(uint8_t level);     /* "Critical", "Information" */
const char *level_manifest(uint8_t level); /* "win:Critical", "win:Informational" */

/* A level's word in any of these spellings, without regard to case, and some short ones ("warn"); or a number
 * up to 255. */
bool level_parse(const char *s, size_t n, uint8_t *ret);

#endif
