/* SPDX-License-Identifier: MIT
 * A verb of this program in a process of its own: what may crash, take much memory or last long there costs one answer.
 */
#ifndef TOOLS_VIEW_VIEW_CHILD_H
#define TOOLS_VIEW_VIEW_CHILD_H

#include "base/base.h"

/* Runs "openetw WORDS…" (words[0] is the name of the program, NULL ends them) and appends at most `most` bytes of what it prints
 * to `out`, and the beginning of its standard error to `err`. `gone` is asked now and then; true ends the child. Its exit status;
 * -1: it was ended, or printed too much; -errno below that: it cannot be started. */
int view_child_run(char *const *words, size_t most, struct strbuf *out, struct strbuf *err, bool (*gone)(void *context),
		   void *context);

/* Appends each line of what a child printed that is a JSON object to the list that is open in `json`. `printed` may be NULL. */
void view_child_objects(struct strbuf *json, const char *printed);

#endif
