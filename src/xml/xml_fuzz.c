/* SPDX-License-Identifier: MIT */
#include "xml/xml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xml_doc doc;
	struct diag d = {0};
	int err = xml_parse(data, size, &doc, &d);
	if (err == 0) {
		for (const struct xml_node *n = doc.root; n; n = n->children) {
			if (n->line == 0 || n->column == 0) {
				abort();
			}
			xml_attr(n, "name");
		}
		xml_finish(&doc);
	} else if (err == -EBADMSG && d.line == 0) {
		abort(); /* a refusal always says where */
	}
	return 0;
}
