/* SPDX-License-Identifier: MIT
 *
 * Any bytes as manifest, resource and PE file; what they declare must make sound schemas.
 */
#include "manifest/manifest.h"
#include "schema/schema_manifest.h"

#include <stdlib.h>

static const char *no_message(void *ctx, uint32_t id)
{
	return id & 1 ? "text\r\n" : NULL;
}

static void use(struct manifest *m)
{
	static const uint8_t payload[64] = {1, 2, 3, 0, 5};
	unsigned left = 200;
	for (const struct manifest_provider *p = m->providers; p; p = p->next) {
		for (const struct manifest_map *k = p->maps; k && left; k = k->next, left--) {
			struct openetw_text block = {0};
			struct schema_map map;
			schema_manifest_map(k, &block);
			if (!block.failed && schema_map_parse(block.data, block.length, &map, NULL) < 0 &&
			    block.length < 60000) {
				abort(); /* our own block must be readable */
			}
			openetw_text_free(&block);
		}
		for (const struct manifest_event *e = p->events; e && left; e = e->next, left--) {
			struct schema_event *made;
			if (schema_manifest_event(p, e, SCHEMA_SOURCE_XML, &made) < 0) {
				continue;
			}
			struct openetw_text t = {0};
			struct schema_payload s = {made, payload, sizeof payload, 8, NULL, NULL};
			struct schema_tei_names names = {.provider = p->guid};
			schema_walk_json(&s, &t);
			openetw_text_clear(&t);
			schema_build_tei(made, &names, &t);
			openetw_text_free(&t);
			schema_event_destroy(made);
		}
	}
	manifest_finish(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest m;
	if (manifest_read_xml(data, size, &m, NULL) == 0) {
		use(&m);
	}
	if (manifest_read_binary(data, size, no_message, NULL, &m, NULL) == 0) {
		use(&m);
	}
	if (manifest_read_pe(data, size, &m, NULL) == 0) {
		use(&m);
	}
	return 0;
}
