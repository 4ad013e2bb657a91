/* SPDX-License-Identifier: MIT
 * Text on its way into XML.
 */
#include "xml/xml.h"

#include "base/printable.h"

void xml_escape(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c = 0;
		size_t used = utf8_decode(s + i, n - i, &c);
		switch (c) {
		case '&': strbuf_adds(b, "&amp;"); break;
		case '<': strbuf_adds(b, "&lt;"); break;
		case '>': strbuf_adds(b, "&gt;"); break;
		case '"': strbuf_adds(b, "&quot;"); break;
		default:
			if (used && !printable_must_escape(c)) {
				strbuf_add(b, s + i, used);
			} else if (used && (c >= ' ' || c == '\t' || c == '\n' || c == '\r') &&
				   (c & 0xFFFE) != 0xFFFE) {
				strbuf_addf(b, "&#x%X;", c);
			} else { /* XML 1.0 has no way to write it */
				strbuf_adds(b, "\xEF\xBF\xBD");
			}
		}
		i += used ? used : 1;
	}
}
