/* SPDX-License-Identifier: MIT
 *
 * The word that somebody who wrote another one may have meant.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/base.h"

/* `next` gives the i-th word that there is, from 0 on; NULL behind the last. NULL: none comes near. */
const char *nearest_word(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx);
/* The same of a NULL-terminated list, which may be NULL. */
const char *nearest_of(const char *text, const char *const *words);

#endif
