/* SPDX-License-Identifier: MIT
 *
 * Manifests from anywhere to header, resource and messages; what was written can be read.
 */
#include "mc/mc.h"

#include "xml/xml.h"

#include <stdlib.h>

static void compile(const struct manifest *m, bool activity)
{
	struct mc_options o = {.source = "fuzz.man", .activity = activity};
	struct mc *mc;
	struct diag d;
	diag_clear(&d);
	if (mc_build(m, &o, &mc, &d) < 0) {
		return;
	}
	struct strbuf b = {0};
	mc_write_header(mc, &b);
	strbuf_clear(&b);
	if (mc_write_template(mc, activity ? MC_FORMAT_3 : MC_FORMAT_5, &b, &d) == 0 && m->providers) {
		struct manifest back;
		int err = manifest_read_binary(b.s, b.len, NULL, NULL, &back, &d);
		if (err == 0) {
			manifest_finish(&back);
		} else if (err != -ENOMEM) {
			abort(); /* not readable by ourselves */
		}
	}
	for (size_t i = 0; i < mc_language_count(mc) && i < 4; i++) {
		strbuf_clear(&b);
		mc_write_messages(mc, i, &b);
	}
	mc_write_rc(mc, "fuzz", "", &b);
	strbuf_finish(&b);
	mc_destroy(mc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xml_doc doc;
	struct manifest m;
	if (xml_parse(data, size, &doc, NULL) < 0) {
		return 0;
	}
	if (manifest_read_document(&doc, &m, NULL) == 0) {
		compile(&m, size & 1);
		manifest_finish(&m);
	}
	xml_finish(&doc);
	return 0;
}
