/* SPDX-License-Identifier: MIT
 *
 * Any text as catalogue; what it declares must make sound schemas.
 */
#include "schema/catalogue.h"
#include "schema/schema_manifest.h"

#include <stdlib.h>

static int read_section(void *ctx, const struct catalogue_section *s)
{
	static const uint8_t payload[64] = {1, 2, 3};
	struct manifest m;
	unsigned *left = ctx;
	if (catalogue_read_section(s, &m, NULL) < 0) {
		return 0;
	}
	for (const struct manifest_event *e = m.providers->events; e && (*left)--; e = e->next) {
		struct schema_event *made;
		if (schema_manifest_event(m.providers, e, SCHEMA_SOURCE_XML, &made) == 0) {
			struct openetw_text t = {0};
			struct schema_payload p = {made, payload, sizeof payload, 8, NULL, NULL};
			schema_walk_json(&p, &t);
			openetw_text_free(&t);
			schema_event_destroy(made);
		}
	}
	manifest_finish(&m);
	return *left == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned left = 100;
	catalogue_each_section((const char *)data, size, read_section, &left);
	return 0;
}
