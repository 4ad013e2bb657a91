/* SPDX-License-Identifier: MIT
 *
 * Our text format for well-known providers: data/catalogue/README describes it. A copy of the files
 * is compiled in; a user's directory may hold more.
 */
#ifndef SCHEMA_CATALOGUE_H
#define SCHEMA_CATALOGUE_H

#include "schema/schema.h"

/* Calls fn for every section (class or manifest) of a catalogue: its kind, name, GUID and the text
 * from its first line on. Stops when fn returns non-zero and returns that. */
struct catalogue_section {
	bool classic;
	struct guid guid;
	const char *name;
	size_t name_bytes;
	const char *provider; /* of classes: the `provider` line before; may be NULL */
	size_t provider_bytes;
	const char *text;
	size_t text_bytes;
	uint32_t line;
};
typedef int (*catalogue_section_fn)(void *ctx, const struct catalogue_section *s);
int catalogue_each_section(const char *text, size_t n, catalogue_section_fn fn, void *ctx);

/* One section to a manifest with one provider. Classes have the opcode as event id; `name` of an
 * event is the opcode's name and its task is the class. */
int catalogue_read_section(const struct catalogue_section *s, struct manifest *ret, struct diag *d);

/* The compiled-in files, one behind the other. */
extern const char catalogue_builtin[];
extern const size_t catalogue_builtin_bytes;

#endif
