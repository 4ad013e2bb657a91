/* SPDX-License-Identifier: MIT
 *
 * From what was declared (manifest/manifest.h) to schemas.
 */
#ifndef SCHEMA_SCHEMA_MANIFEST_H
#define SCHEMA_SCHEMA_MANIFEST_H

#include "schema/schema.h"

/* The schema of one event. -EBADMSG (too many fields, a reference forward), -ENOMEM. */
int schema_manifest_event(const struct manifest_provider *p, const struct manifest_event *e, enum schema_source source,
			  struct schema_event **ret);
/* Appends the EVENT_MAP_INFO block of a map; strings end in a space as Windows' do. */
void schema_manifest_map(const struct manifest_map *m, struct openetw_text *o);

#endif
