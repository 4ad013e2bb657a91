/* SPDX-License-Identifier: MIT
 * Queries from anywhere, tried on one event.
 */
#include "tools/common/xpath.h"
#include "xml/xml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char event[] = "<Event><System a='1'><Level>2</Level><T t='2026-03-01T12:00:00Z'/>"
				    "</System><Data>x</Data><Data N='y'>7</Data></Event>";
	struct xml_doc doc;
	size_t at;
	const char *why;
	char *text = strndup((const char *)data, n);
	struct cli_xpath *x = text ? cli_xpath_parse(text, &at, &why) : NULL;
	if (x && xml_parse(event, sizeof event - 1, &doc, NULL) == 0) {
		cli_xpath_match(x, doc.root, 1);
		xml_finish(&doc);
	}
	if (text && !x && at > n) {
		abort();
	}
	cli_xpath_destroy(x);
	free(text);
	return 0;
}
