/* SPDX-License-Identifier: MIT
 *
 * Any text as .tmf file; what it declares writes a message out of a payload.
 */
#include "schema/schema_store.h"
#include "schema/wpp.h"
#include "schema/schema_manifest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t payload[] = {'a', 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 'b', 'c', 9, 9};
	struct manifest m;
	unsigned left = 100;
	if (manifest_read_tmf(data, size, &m, NULL) < 0) {
		return 0;
	}
	for (const struct manifest_provider *p = m.providers; p; p = p->next) {
		for (const struct manifest_event *e = p->events; e && left; e = e->next, left--) {
			struct schema_event *made;
			if (schema_manifest_event(p, e, SCHEMA_SOURCE_WPP, &made) < 0) {
				continue;
			}
			struct openetw_text t = {0};
			struct schema_payload s = {made, payload, sizeof payload, 8, NULL, NULL};
			wpp_format(&s, &t);
			openetw_text_free(&t);
			schema_event_destroy(made);
		}
	}
	manifest_finish(&m);
	return 0;
}
