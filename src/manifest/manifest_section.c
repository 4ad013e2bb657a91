/* SPDX-License-Identifier: MIT */
#include "manifest/manifest_section.h"

#include "format/schema_section.h"
#include "manifest/manifest_messages.h"

#define RECORDS_MAX 4096u /* of a section: each template looks through all of them */

bool manifest_section_next(const void *section, size_t n, size_t *inout_at, struct manifest_section_record *ret)
{
	const uint8_t *p = section;
	size_t at = *inout_at;
	/* what the linker filled up between parts */
	while (n - at >= 4 && le32_get(p + at) == 0) {
		at += 4;
	}
	if (n - at < SCHEMA_SECTION_HEAD || le32_get(p + at) != SCHEMA_SECTION_MAGIC) {
		return false;
	}
	size_t bytes = le32_get(p + at + 8);
	if (bytes > n - at - SCHEMA_SECTION_HEAD) {
		return false;
	}
	*ret = (struct manifest_section_record){le16_get(p + at + 4), le16_get(p + at + 6), le64_get(p + at + 12),
						p + at + SCHEMA_SECTION_HEAD, bytes};
	at += SCHEMA_SECTION_HEAD + bytes;
	*inout_at = BASE_MIN((at + 3) & ~(size_t)3, n);
	return true;
}

struct section {
	const uint8_t *p;
	size_t n;
	unsigned steps; /* of all templates: a section can have thousands */
};

/* The texts of one manifest: English first, then as they stand. */
static void collect_messages(const struct section *s, uint64_t set, struct manifest_messages *m)
{
	struct manifest_section_record r;
	for (int pass = 0; pass < 2; pass++) {
		unsigned left = RECORDS_MAX;
		for (size_t at = 0; left-- && manifest_section_next(s->p, s->n, &at, &r);) {
			bool english = (r.language & 0x3FF) == 9;
			if (r.kind == SCHEMA_SECTION_MESSAGES && r.set == set && english == (pass == 0) &&
			    m->count < MANIFEST_MESSAGE_TABLES) {
				m->tables[m->count] = r.data;
				m->bytes[m->count++] = r.bytes;
			}
		}
	}
}

static void apply_names(const struct section *s, uint64_t set, struct manifest *m)
{
	struct manifest_section_record r;
	unsigned left = RECORDS_MAX;
	for (size_t at = 0; left-- && manifest_section_next(s->p, s->n, &at, &r);) {
		if (r.kind != SCHEMA_SECTION_NAMES || r.set != set) {
			continue;
		}
		struct bytes in = bytes_of(r.data, r.bytes);
		size_t length;
		const uint8_t *guid;
		const char *name;
		while ((guid = bytes_take(&in, 16)) && (name = bytes_asz(&in, &length))) {
			for (struct manifest_provider *q = m->providers; q; q = q->next) {
				bool fits = memcmp(q->guid.b, guid, 16) == 0 && length < 256 &&
					    utf8_to_utf16(name, length, NULL, 0) > 0;
				char *copy = fits ? arena_text(&m->arena, name, length) : NULL;
				q->name = copy ? copy : q->name;
			}
		}
	}
}

static int take_template(struct section *s, const struct manifest_section_record *r, manifest_take_fn take, void *ctx,
			 const char *key, struct diag *d)
{
	struct manifest m;
	struct manifest_messages texts = {.steps = s->steps};
	collect_messages(s, r->set, &texts);
	int err = manifest_read_binary(r->data, r->bytes, manifest_messages_find, &texts, &m, d);
	strbuf_finish(&texts.text);
	s->steps = texts.steps;
	if (err == 0) {
		apply_names(s, r->set, &m);
		err = take(ctx, &m, SCHEMA_SOURCE_XML, key);
	}
	return err;
}

int manifest_read_section(const void *p, size_t n, manifest_take_fn take, void *ctx, const char *key, struct diag *d)
{
	struct section s = {p, n, MANIFEST_MESSAGE_STEPS};
	struct manifest_section_record r;
	int result = -ENOENT;
	unsigned left = RECORDS_MAX;
	for (size_t at = 0; left-- && manifest_section_next(p, n, &at, &r);) {
		struct manifest m;
		int err = -ENOENT;
		if (r.kind == SCHEMA_SECTION_TEMPLATE) {
			err = take_template(&s, &r, take, ctx, key, d);
		} else if (r.kind == SCHEMA_SECTION_TMF) {
			err = manifest_read_tmf(r.data, r.bytes, &m, d);
			err = err < 0 ? err : take(ctx, &m, SCHEMA_SOURCE_WPP, key);
		}
		if (err == -ENOMEM) {
			return err;
		}
		result = err == 0 || result == -ENOENT ? err : result;
	}
	return result;
}
