/* SPDX-License-Identifier: MIT
 * A file that is refused says where; one that is not resolves, and what it resolves to, written, reads
 * the same.
 */
#include "profile/profile.h"

#include <stdlib.h>

static void round_trip(struct profile *p)
{
	struct strbuf a = {0}, b = {0};
	struct profile_doc *doc = NULL;
	struct profile *q = NULL;
	profile_write(p, &a);
	if (a.failed) {
		abort();
	}
	int err = a.len > PROFILE_BYTES_MAX ? -E2BIG : profile_read(a.s, a.len, &doc);
	if (err == -EBADMSG) {
		abort();
	}
	if (err == 0 && profile_resolve(doc, profile_entries(doc), &q) == 0) {
		profile_write(q, &b);
		if (b.failed || a.len != b.len || memcmp(a.s, b.s, a.len) != 0) {
			abort();
		}
	}
	profile_free(q);
	profile_close(doc);
	strbuf_finish(&a);
	strbuf_finish(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_doc *doc = NULL;
	int err = profile_read(data, size, &doc);
	if (err == -EBADMSG && !profile_notes(doc)) {
		abort();
	}
	for (const struct profile_entry *e = err == 0 ? profile_entries(doc) : NULL; e; e = e->next) {
		struct profile *p = NULL;
		if (profile_resolve(doc, e, &p) == 0) {
			round_trip(p);
		}
		profile_free(p);
	}
	profile_close(doc);
	return 0;
}
