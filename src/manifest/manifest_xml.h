/* SPDX-License-Identifier: MIT
 *
 * Between the files that read instrumentation manifests: manifest_xml.c (document and providers),
 * manifest_templates.c, manifest_strings.c.
 */
#ifndef MANIFEST_MANIFEST_XML_H
#define MANIFEST_MANIFEST_XML_H

#include "manifest/manifest.h"
#include "xml/xml.h"

/* More than any real manifest has; names are looked up by walking lists. */
#define MANIFEST_EVENTS_MAX    65536u
#define MANIFEST_TEMPLATES_MAX 16384u
#define MANIFEST_NAMES_MAX     8192u
#define MANIFEST_MAPS_MAX      4096u

struct manifest_xml {
	struct arena *arena;
	struct diag *diag;
	struct manifest_provider *provider;
	struct manifest_string *strings; /* of the document, sorted by id */
	size_t string_count;
	uint32_t names, templates, maps; /* of the provider so far */
	bool reader;                     /* for decoding only: what tools that dump manifests write is taken too */
};

/* Fills diag; -EBADMSG. `what` has at most one %s for `arg`. */
int manifest_xml_bad(struct manifest_xml *x, uint32_t line, uint32_t column, const char *what, const char *arg);
/* A copy of an attribute; NULL when absent or out of memory (the arena knows). */
const char *manifest_xml_copy(struct manifest_xml *x, const struct xml_node *n, const char *name);
/* A number, decimal or 0x; `otherwise` when absent. */
int manifest_xml_number(struct manifest_xml *x, const struct xml_node *n, const char *name, uint64_t most,
			uint64_t otherwise, uint64_t *ret);

int manifest_strings_read(struct manifest_xml *x, const struct xml_node *root, struct manifest *ret);
/* "$(string.id)" becomes the string; other text is itself; NULL when there is no such string. */
const char *manifest_strings_text(struct manifest_xml *x, const char *message);

int manifest_templates_read(struct manifest_xml *x, const struct xml_node *provider);

#endif
