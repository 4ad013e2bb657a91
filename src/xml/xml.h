/* SPDX-License-Identifier: MIT
 *
 * xml: a small strict XML reader, and the escaping for writers. Front door.
 *
 * Reads a whole document into a tree: elements with namespace, attributes, text, and where each
 * stands. Made for manifests and profiles that come from elsewhere, so there is nothing in it that
 * grows out of proportion to the input: no document types, no entities but the five and character
 * references, bounded depth and memory. What is not well-formed is refused with line and column.
 *
 * UTF-8 (with or without mark) and UTF-16 of either order. Texts come out as valid UTF-8,
 * terminated. The tree lives until xml_finish() and does not change.
 */
#ifndef XML_XML_H
#define XML_XML_H

#include "base/arena.h"
#include "base/base.h"

#define XML_DEPTH_MAX  128u
#define XML_BYTES_MAX  (64u << 20) /* of a document */
#define XML_MEMORY_MAX (256u << 20)

struct xml_namespace {
	struct xml_namespace *next; /* outer ones */
	const char *prefix;         /* "" for the default */
	const char *uri;
};
struct xml_attr {
	struct xml_attr *next;
	const char *prefix; /* "" when there is none */
	const char *name;   /* without prefix */
	const char *value;
	uint32_t line, column;
};
struct xml_node {
	struct xml_node *next, *parent, *children;
	struct xml_attr *attrs;
	const struct xml_namespace *scope;
	const char *ns;     /* URI; "" when there is none */
	const char *prefix; /* as written */
	const char *name;   /* without prefix */
	const char *text;   /* all character data directly inside, joined; never NULL */
	uint32_t line, column;
};
struct xml_doc {
	struct arena arena;
	struct xml_node *root;
};

/* 0; -EBADMSG with diag (line, column, offset in the UTF-8 form); -ENOMEM. */
int xml_parse(const void *input, size_t n, struct xml_doc *ret, struct diag *d);
void xml_finish(struct xml_doc *doc);

/* Attribute without prefix, names compared without regard to case; NULL when absent. */
const struct xml_attr *xml_attr(const struct xml_node *n, const char *name);
const char *xml_value(const struct xml_node *n, const char *name); /* NULL when absent */
/* First child, next sibling of this name (any namespace). NULL when there is none. */
const struct xml_node *xml_child(const struct xml_node *n, const char *name);
const struct xml_node *xml_next(const struct xml_node *n, const char *name);
/* The elements `name` (NULL: any) of all lists `list` of a parent, one after the other: a document
 * may give its lists in parts. NULL when there is none; `parent` may be NULL. */
const struct xml_node *xml_listed(const struct xml_node *parent, const char *list, const char *name);
const struct xml_node *xml_listed_next(const struct xml_node *n, const char *name);
/* The URI a prefix stands for at this element; NULL when it is not declared. */
const char *xml_prefix_uri(const struct xml_node *n, const char *prefix, size_t bytes);

/* Text of an element, or the value of an attribute in double quotes, with what XML would take as its own made
 * harmless: valid XML 1.0 of any bytes, on one line, in which only printable characters (base/printable.h) are
 * written as they are. What XML 1.0 cannot write becomes U+FFFD. */
void xml_escape(struct strbuf *b, const char *s, size_t n);

#endif
