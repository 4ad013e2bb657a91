/* SPDX-License-Identifier: MIT
 *
 * tracewpp: the WPP preprocessor. Front door.
 *
 *   tracewpp_config.c   FUNC, USEPREFIX, USESUFFIX, CUSTOM_TYPE and the like, of configuration blocks and of
 *                       the command line
 *   tracewpp_types.c    what %d and %!STATUS! are in C, in a message, and in a .tmf file
 *   tracewpp_source.c   trace calls in a source file: where, in which function, with which arguments
 *   tracewpp_message.c  a call's text and arguments -> format of the .tmf file, names of staging functions
 *   tracewpp_write.c    the .tmh header
 *
 * A source is read once, by its tokens, before the C preprocessor: calls are found by name, and
 * each becomes a macro of its own by file and line, WPP_CALL_main_c42, which the name of the trace
 * function expands to. The header also carries the formats of all its messages for a section of the
 * program (format/schema_section.h), so that decoders find them there. Nothing here reads or writes
 * files.
 */
#ifndef TRACEWPP_TRACEWPP_H
#define TRACEWPP_TRACEWPP_H

#include "base/arena.h"
#include "base/base.h"

struct tracewpp_options {
	const char *component; /* the name before a message's source in .tmf files */
	const char *control;   /* GUID of sources that define no WPP_CONTROL_GUIDS; may be NULL */
	unsigned first_number; /* of messages; 0: 10 */
};

struct tracewpp;
struct tracewpp *tracewpp_create(void); /* NULL: no memory */
void tracewpp_destroy(struct tracewpp *w);
/* "Name{COND=X}(LEVEL, MSG, ...)", as after FUNC. -EBADMSG with diag, -ENOMEM. */
int tracewpp_add_function(struct tracewpp *w, const char *text, struct diag *d);
/* The configuration blocks of a file, for all sources. */
int tracewpp_scan(struct tracewpp *w, const char *text, size_t n, struct diag *d);
/* The header of one source; its own configuration blocks hold for it alone. `name` is the file's,
 * without directories. -EBADMSG with the place of the mistake. */
int tracewpp_compile(struct tracewpp *w, const char *name, const char *text, size_t n, const struct tracewpp_options *o,
		     struct strbuf *tmh, struct diag *d);
/* Calls in the source compiled last. */
size_t tracewpp_calls(const struct tracewpp *w);
/* What would stand in its .tmf file. Borrowed. */
const char *tracewpp_formats(const struct tracewpp *w);

#endif
