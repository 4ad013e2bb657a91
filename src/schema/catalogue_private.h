/* SPDX-License-Identifier: MIT
 *
 * Between catalogue.c and catalogue_fields.c.
 */
#ifndef SCHEMA_CATALOGUE_PRIVATE_H
#define SCHEMA_CATALOGUE_PRIVATE_H

#include "schema/schema.h"

#define CATALOGUE_LINE_MAX   (64u << 10)
#define CATALOGUE_EVENTS_MAX 64u /* in one `event` line */
#define CATALOGUE_DEPTH_MAX  8u  /* structs and aliases inside each other */

struct catalogue_text {
	const char *p, *end;
	uint32_t line;
	uint32_t line_start; /* where the line being read began */
};
struct catalogue_alias {
	struct catalogue_alias *next;
	const char *name, *fields;
};
struct catalogue_reader {
	struct catalogue_text text;
	struct arena *arena;
	struct manifest_provider *provider;
	struct manifest_name **names_tail[MANIFEST_KIND_COUNT];
	struct manifest_event **events_tail;
	struct catalogue_alias *aliases;
	struct manifest_event events[CATALOGUE_EVENTS_MAX]; /* of the last `event` line */
	uint32_t event_count;
	uint32_t item_count; /* in the list being read */
	bool classic;
	struct diag *diag;
};

/* The next word; commas and blanks end it. */
bool catalogue_word(const char **at, const char **ret, size_t *ret_bytes);
bool catalogue_line(struct catalogue_text *t, struct strbuf *line);
/* -EBADMSG, and the line and what is wrong in the diag. */
int catalogue_bad(struct catalogue_reader *r, const char *what, const char *near);
/* Fields up to the end of the line. */
int catalogue_read_fields(struct catalogue_reader *r, const char **at, struct manifest_template *t);

#endif
