/* SPDX-License-Identifier: MIT
 *
 * WPP messages: formats out of .tmf files, and the text of a message.
 *
 * A format is an event of a manifest_provider whose GUID is the message GUID and whose id is the
 * message number; its text is the format string with inserts from %10 on, its template the arguments,
 * its attributes "FUNC=..;LEVEL=..;FLAGS=..;COMPNAME=..;SUBCOMP=..;FILE=..".
 */
#ifndef SCHEMA_WPP_H
#define SCHEMA_WPP_H

#include "schema/manifest.h"

#define WPP_FIRST_INSERT 10u
#define WPP_ARGS_MAX     90u

/* A .tmf file: 0, -EBADMSG with diag, -ENOMEM. */
int wpp_read_tmf(const void *text, size_t n, struct manifest *ret, struct diag *d);

/* Appends the text of a message. -EBADMSG when the payload is shorter than its arguments: the text
 * then ends where they do. */
int wpp_format(const struct schema_payload *p, struct openetw_text *o);

/* "FUNC" and so on; "" when it is not said. Borrowed, not terminated. */
const char *wpp_attribute(const struct schema_event *e, const char *name, size_t *ret_bytes);

#endif
