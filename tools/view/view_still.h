/* SPDX-License-Identifier: MIT
 *
 * A view as one file of HTML that opens without a server and without a network: the page with all of its parts, and the answers
 * that it shows. The page asks as it does always (web/src/still.js finds the answers in the file), so a still looks as the view
 * does; nothing else of the trace is in it.
 */
#ifndef TOOLS_VIEW_VIEW_STILL_H
#define TOOLS_VIEW_VIEW_STILL_H

#include "tools/common/options.h"
#include "tools/view/view.h"

#define VIEW_STILL_BYTES_MAX (48u << 20) /* of a file */
#define VIEW_STILL_ASKS_MAX  400u
#define VIEW_STILL_PAGES_MAX 16u

struct view_still {
	struct view *view;
	const char *const *pages; /* their names, as in the page's address */
	uint32_t page_count;
	const char *address;   /* "#overview?t0=…": what the page shows first */
	struct strbuf answers; /* members of a JSON array */
	uint32_t count;
};
/* Adds the answer to "hist?tr=0&px=800", also when it is a failure. False: there is no such question, or there are too many. */
bool view_still_ask(struct view_still *s, const char *ask);
/* The whole file. False: `why`. */
bool view_still_put(const struct view_still *s, struct strbuf *out, char *why, size_t cap);
void view_still_finish(struct view_still *s);
/* A value of such a question: all but letters, digits and "-._~" as %XX. */
void view_still_escape(struct strbuf *b, const char *s);

/* view_still_pages.c: asks what a page asks when it is opened. False: there is no page of this name that can be a still. */
bool view_still_page(struct view_still *s, const char *name, int64_t from, int64_t to, const char *filter);
/* The names of those that can be. */
extern const char view_still_names[];

/* "openetw view --export-html": writes the pages of the first open trace. The exit status; says why and how many bytes it were. */
struct view_still_options {
	const char *path;
	struct cli_words pages;
	struct cli_time from, to;
	const char *filter;
};
int view_still_export(struct view *v, const struct view_still_options *o);

#endif
