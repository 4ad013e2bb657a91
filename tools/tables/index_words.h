/* SPDX-License-Identifier: MIT
 * The names that a filter of a trace may hold: what completion offers, on a page and in a shell.
 */
#ifndef TOOLS_TABLES_INDEX_WORDS_H
#define TOOLS_TABLES_INDEX_WORDS_H

#include "filter/filter_complete.h"

#include <openetw/decode.h>
#include <openetw/query.h>

struct index_words;
/* Providers, events, processes and fields of payloads of what is in the index by now. The first event of each type says which
 * fields it has; `d` decodes it. Of each kind there is a limit; those with most events come first. NULL: no memory. */
struct index_words *index_words_create(struct openetw_index *x, struct openetw_decoder *d);
void index_words_destroy(struct index_words *w); /* NULL is fine */
/* Valid as long as the words. */
const struct filter_vocabulary *index_words_get(const struct index_words *w);

#endif
