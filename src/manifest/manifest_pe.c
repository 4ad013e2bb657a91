/* SPDX-License-Identifier: MIT
 *
 * PE files: finds the resources WEVT_TEMPLATE and the message table (type 11). Every offset is checked
 * against the file; the resource tree has three levels and is not followed further.
 */
#include "manifest/manifest_messages.h"

struct pe {
	const uint8_t *p;
	size_t n;
	const uint8_t *sections; /* 40 bytes each */
	unsigned section_count;
	size_t resources; /* file offset of the resource directory */
	size_t resources_end;
};

#define MESSAGE_TABLE 11u
#define SECTIONS_MAX  96u
#define ENTRIES_MAX   4096u

static int bad(struct diag *d, size_t at, const char *what)
{
	diag_at(d, at, "PE file: %s", what);
	return -EBADMSG;
}

/* The file offset of an address in memory, with at least one byte behind it in its section. */
static bool to_offset(const struct pe *f, uint32_t rva, size_t *ret, size_t *ret_end)
{
	for (unsigned i = 0; i < f->section_count; i++) {
		const uint8_t *s = f->sections + 40 * (size_t)i;
		uint32_t size = le32_get(s + 16), start = le32_get(s + 12), raw = le32_get(s + 20);
		if (rva >= start && rva - start < size && raw < f->n) {
			*ret_end = BASE_MIN((size_t)raw + size, f->n);
			*ret = (size_t)raw + (rva - start);
			return *ret < *ret_end;
		}
	}
	return false;
}

static int open_pe(const void *p, size_t n, struct pe *ret, struct diag *d)
{
	struct pe f = {.p = p, .n = n};
	if (n < 0x40 || f.p[0] != 'M' || f.p[1] != 'Z') {
		return bad(d, 0, "no MZ header");
	}
	size_t h = le32_get(f.p + 0x3C);
	if (h > n || n - h < 24 || memcmp(f.p + h, "PE\0\0", 4) != 0) {
		return bad(d, 0x3C, "no PE header");
	}
	size_t optional = le16_get(f.p + h + 20), o = h + 24;
	f.section_count = le16_get(f.p + h + 6);
	if (n - o < optional || optional < 2 || f.section_count > SECTIONS_MAX ||
	    (n - o - optional) / 40 < f.section_count) {
		return bad(d, h, "headers are cut off");
	}
	f.sections = f.p + o + optional;
	size_t directory = le16_get(f.p + o) == 0x20B ? 112 : 96;
	if (optional < directory + 3 * 8) {
		return -ENOENT;
	}
	uint32_t rva = le32_get(f.p + o + directory + 2 * 8);
	if (rva == 0) {
		return -ENOENT;
	}
	if (!to_offset(&f, rva, &f.resources, &f.resources_end)) {
		return bad(d, o + directory, "resources lie outside");
	}
	*ret = f;
	return 0;
}

/* A directory in the resource section: calls fn for its entries. */
struct entry {
	bool named;
	uint32_t id; /* or offset of the name */
	uint32_t to; /* high bit: a directory */
};

static unsigned directory_count(const struct pe *f, uint32_t offset)
{
	size_t room = f->resources_end - f->resources;
	if (offset > room || room - offset < 16) {
		return 0;
	}
	const uint8_t *p = f->p + f->resources + offset;
	unsigned count = (unsigned)le16_get(p + 12) + le16_get(p + 14);
	unsigned fits = (unsigned)BASE_MIN((room - offset - 16) / 8, (size_t)ENTRIES_MAX);
	return BASE_MIN(count, fits);
}

static struct entry directory_entry(const struct pe *f, uint32_t offset, unsigned i)
{
	const uint8_t *p = f->p + f->resources + offset + 16 + 8 * (size_t)i;
	uint32_t name = le32_get(p);
	return (struct entry){(name & 0x80000000u) != 0, name & 0x7FFFFFFF, le32_get(p + 4)};
}

static bool name_is(const struct pe *f, const struct entry *e, const char *text)
{
	size_t n = strlen(text), room = f->resources_end - f->resources;
	if (!e->named || e->id > room || room - e->id < 2 + 2 * n) {
		return false;
	}
	const uint8_t *p = f->p + f->resources + e->id;
	bool same = le16_get(p) == n;
	for (size_t i = 0; i < n && same; i++) {
		same = le16_get(p + 2 + 2 * i) == (uint8_t)text[i];
	}
	return same;
}

static bool data_of(const struct pe *f, uint32_t offset, const uint8_t **ret, size_t *ret_n)
{
	size_t room = f->resources_end - f->resources, start, end;
	if (offset > room || room - offset < 16) {
		return false;
	}
	const uint8_t *p = f->p + f->resources + offset;
	if (!to_offset(f, le32_get(p), &start, &end)) {
		return false;
	}
	*ret = f->p + start;
	*ret_n = BASE_MIN((size_t)le32_get(p + 4), end - start);
	return true;
}

/* The data under a type: its first name, and of the languages English or the first. */
static bool find_resource(const struct pe *f, const char *type, uint32_t type_id, unsigned skip, const uint8_t **ret,
			  size_t *ret_n)
{
	unsigned types = directory_count(f, 0);
	for (unsigned i = 0; i < types; i++) {
		struct entry e = directory_entry(f, 0, i);
		bool match = type ? name_is(f, &e, type) : !e.named && e.id == type_id;
		if (!match || !(e.to & 0x80000000u)) {
			continue;
		}
		uint32_t names = e.to & 0x7FFFFFFF;
		if (skip >= directory_count(f, names)) {
			return false;
		}
		struct entry name = directory_entry(f, names, skip);
		if (!(name.to & 0x80000000u)) {
			return data_of(f, name.to, ret, ret_n);
		}
		uint32_t languages = name.to & 0x7FFFFFFF;
		unsigned count = directory_count(f, languages);
		for (unsigned pass = 0; pass < 2; pass++) {
			for (unsigned k = 0; k < count; k++) {
				struct entry l = directory_entry(f, languages, k);
				if ((pass || (l.id & 0x3FF) == 9) && !(l.to & 0x80000000u)) {
					return data_of(f, l.to, ret, ret_n);
				}
			}
		}
	}
	return false;
}

int manifest_read_pe(const void *p, size_t n, struct manifest *ret, struct diag *d)
{
	struct pe f;
	const uint8_t *crim;
	size_t bytes;
	int err = open_pe(p, n, &f, d);
	if (err == 0 && !find_resource(&f, "WEVT_TEMPLATE", 0, 0, &crim, &bytes)) {
		err = -ENOENT;
	}
	if (err < 0) {
		if (err == -ENOENT) {
			diag_at(d, 0, "no WEVT_TEMPLATE resource in it");
		}
		return err;
	}
	struct manifest_messages m = {.steps = MANIFEST_MESSAGE_STEPS};
	while (m.count < MANIFEST_MESSAGE_TABLES &&
	       find_resource(&f, NULL, MESSAGE_TABLE, m.count, &m.tables[m.count], &m.bytes[m.count])) {
		m.count++;
	}
	err = manifest_read_binary(crim, bytes, manifest_messages_find, &m, ret, d);
	strbuf_finish(&m.text);
	return err;
}
