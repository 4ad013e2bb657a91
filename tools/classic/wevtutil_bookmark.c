/* SPDX-License-Identifier: MIT
 *
 * Bookmarks of qe: where a query stopped, in the form of the event log's. The record is the number
 * of the event in the trace, from 1 on, in the order of time; files that are still written only
 * gain events behind it.
 */
#include "tools/classic/wevtutil.h"
#include "base/parse.h"
#include "tools/common/output.h"
#include "tools/common/event_xml.h"
#include "xml/xml.h"

#include <stdlib.h>
#include <strings.h>

#define BOOKMARK_MAX (1u << 20)

static int bad(const char *file, const char *why)
{
	fprintf(stderr, "openetw wevtutil: bookmark %s: %s\n", file, why);
	return CLI_FAILED;
}

static bool is_true(const char *s)
{
	return s && (strcasecmp(s, "true") == 0 || strcmp(s, "1") == 0);
}

int wevtutil_bookmark_read(const char *file, uint64_t *ret)
{
	struct strbuf b = {0};
	struct xml_doc doc;
	struct diag d;
	diag_clear(&d);
	int err = cli_file_read(file, BOOKMARK_MAX, &b);
	if (err == 0) {
		err = xml_parse(b.s ? b.s : "", b.len, &doc, &d);
	}
	strbuf_finish(&b);
	if (err < 0) {
		return bad(file, d.text[0] ? d.text : strerror(-err));
	}
	const struct xml_node *n = doc.root, *chosen = NULL;
	if (strcmp(n->name, "Bookmark") == 0) {
		chosen = n;
	}
	/* Of several the current one. */
	for (n = chosen ? NULL : xml_child(doc.root, "Bookmark"); n; n = xml_next(n, "Bookmark")) {
		chosen = !chosen || is_true(xml_value(n, "IsCurrent")) ? n : chosen;
	}
	const char *record = chosen ? xml_value(chosen, "RecordId") : NULL;
	uint64_t v = 0;
	bool ok = record && parse_number(record, 0, UINT64_MAX, &v);
	xml_finish(&doc);
	if (!ok) {
		return bad(file, "there is no <Bookmark> with a RecordId in it");
	}
	*ret = v;
	return CLI_OK;
}

int wevtutil_bookmark_write(const char *file, const char *trace, uint64_t record)
{
	struct strbuf b = {0};
	struct diag d;
	diag_clear(&d);
	strbuf_adds(&b, "<BookmarkList>\n  <Bookmark Channel=");
	cli_xml_value(&b, trace);
	strbuf_addf(&b, " RecordId='%llu' IsCurrent='true'/>\n</BookmarkList>\n", (unsigned long long)record);
	int err = b.failed ? -ENOMEM : cli_write_whole(file, b.s, b.len, false, &d);
	strbuf_finish(&b);
	return err < 0 ? bad(file, d.text[0] ? d.text : strerror(-err)) : CLI_OK;
}
