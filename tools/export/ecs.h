/* SPDX-License-Identifier: MIT
 * Events as JSON lines with the field names of the Elastic Common Schema, as Winlogbeat ships them (winlog.*).
 */
#ifndef TOOLS_EXPORT_ECS_H
#define TOOLS_EXPORT_ECS_H

#include "tools/export/export.h"

/* Adds the line. */
void ecs_add_event(struct strbuf *b, const struct export_event *e);

#endif
