/* SPDX-License-Identifier: MIT
 *
 * Between the files of this folder.
 */
#ifndef PROFILE_PROFILE_PRIVATE_H
#define PROFILE_PROFILE_PRIVATE_H

#include "base/map.h"
#include "profile/profile.h"
#include "xml/xml.h"

#define PROFILE_MEMORY_MAX   (64u << 20)
#define PROFILE_BASES_MAX    32u         /* a chain of derivations */
#define PROFILE_COMPARES_MAX (20u << 20) /* of counters with definitions, in all profiles of a file together */

struct profile_doc {
	struct arena arena;
	struct xml_doc xml;
	bool parsed;
	const struct xml_node *profiles; /* the element <Profiles> */
	struct profile_note *notes, **notes_end;
	unsigned note_count;
	bool bad; /* a mistake of the file as a whole */
	bool told_of_both;
	uint32_t compared;             /* names of counters, against PROFILE_COMPARES_MAX */
	const struct xml_node *within; /* the object whose mistakes are noted now; NULL: the file's */
	struct map
		faults; /* objects at the top that have mistakes: what uses one is lost, the rest of the file is not */
	struct profile_entry *entries;
	struct profile_doc *base; /* where Base and references are looked up, too; NULL: nowhere */
};

/* Does the object have mistakes of its own? One of a base document may be asked for, too. */
bool profile_is_faulty(const struct profile_doc *doc, const struct xml_node *object);
/* A note about a place; `n` may be NULL. */
void profile_note_add(struct profile_doc *doc, bool error, uint32_t line, uint32_t column, const char *fmt, ...)
	BASE_PRINTF(5, 6);
#define profile_bad(doc, n, ...)  profile_note_add(doc, true, (n)->line, (n)->column, __VA_ARGS__)
#define profile_warn(doc, n, ...) profile_note_add(doc, false, (n)->line, (n)->column, __VA_ARGS__)

/* Elements, attributes, values. */
void profile_schema_check(struct profile_doc *doc);
/* Names of kernel keywords; NULL when `name` is none. Else the name as it is usually written. */
const char *profile_schema_keyword(const char *name);
/* Of `count` names the closest to `text`, when close enough to be what was meant. */
const char *profile_nearest(const char *text, const char *const *names, size_t count);

/* "3", "1.4": 0.01 to 100. Digits after the second one behind the point do not count. */
bool profile_percent(const char *text, uint32_t *ret_hundredths);
bool profile_bool(const char *text, bool otherwise);
bool profile_same_value(const char *a, const char *b);

/* ---- trees ---------------------------------------------------------------------------------- */

struct profile_tree {
	struct profile_doc *doc; /* for notes and definitions */
	struct arena *arena;
	int err;
};
/* The definition of a kind ("EventCollector") with that id; NULL when there is none. */
const struct xml_node *profile_tree_definition(const struct profile_doc *doc, const char *kind, const char *id);
/* A copy with everything from Base. NULL: t->err, a note was made. */
struct xml_node *profile_tree_derive(struct profile_tree *t, const struct xml_node *definition);
/* What a reference (EventCollectorId, …) means: the definition, changed by what stands in the
 * reference. An inline definition means itself. */
struct xml_node *profile_tree_refer(struct profile_tree *t, const char *kind, const struct xml_node *reference);

/* The kernel's first, then events, then heaps, as they are written: what is read back is the same. */
void profile_order_collectors(struct profile *p);
int profile_build(struct profile_doc *doc, const struct xml_node *definition, struct profile *p);

#endif
