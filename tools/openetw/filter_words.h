/* SPDX-License-Identifier: MIT
 * Names that a filter on the command line may hold: what completion offers.
 */
#ifndef TOOLS_OPENETW_FILTER_WORDS_H
#define TOOLS_OPENETW_FILTER_WORDS_H

#include "filter/filter_complete.h"

struct filter_words;
/* Of the command line that somebody is typing: `words` are the verb and what else stands in it, as a shell has them, `text` is
 * the filter so far. Where the words name traces, the names are those of what is in them; of a trace that has no index, of as
 * much as can be read at once. Else fields and events are those of the manifests that this machine knows of the providers that
 * `words` or `text` name. NULL: no memory. */
struct filter_words *filter_words_create(const char *text, int count, char **words);
void filter_words_destroy(struct filter_words *w);
const struct filter_vocabulary *filter_words_get(const struct filter_words *w);

#endif
