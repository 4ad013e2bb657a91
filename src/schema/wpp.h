/* SPDX-License-Identifier: MIT
 *
 * The text of a WPP message, by a format of a .tmf file (manifest_read_tmf).
 */
#ifndef SCHEMA_WPP_H
#define SCHEMA_WPP_H

#include "schema/schema.h"

/* Appends the text of a message. -EBADMSG when the payload is shorter than its arguments: the text
 * then ends where they do. */
int wpp_format(const struct schema_payload *p, struct openetw_text *o);

/* "FUNC" and so on; "" when it is not said. Borrowed, not terminated. */
const char *wpp_attribute(const struct schema_event *e, const char *name, size_t *ret_bytes);

#endif
