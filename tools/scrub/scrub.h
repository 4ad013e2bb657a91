/* SPDX-License-Identifier: MIT
 *
 * Traces without what is nobody else's business: names, paths, addresses. Front door.
 *
 *   cmd_scrub.c     the verb: a relogger whose callback changes each event; then the new file is read and checked
 *   scrub_event.c   one event: what is taken out of which value, and what is kept
 *   scrub_names.c   pseudonyms: the same word becomes the same other word of the same length
 *
 * The rule is an allow-list. Every text, every block of bytes and every address goes, unless the field is on the list
 * of those that stay. A payload that no schema explains is zeroed, and so are bytes behind the last field. What stays:
 * numbers, times, GUIDs, stacks, and the names of providers, events and fields. docs/scrub.md tells users.
 *
 * Values are changed in their place and keep their length, so records keep theirs.
 */
#ifndef TOOLS_SCRUB_SCRUB_H
#define TOOLS_SCRUB_SCRUB_H

#include "tools/common/cli.h"
#include "tools/export/intern.h"

#include <openetw/decode.h>

/* ---- pseudonyms -------------------------------------------------------------------------------- */

struct scrub_names {
	uint8_t secret[20];
	struct intern words; /* lower case */
	uint32_t *salt;      /* by word: which try gave a pseudonym that no other word has */
	uint32_t salts, salt_cap;
	struct intern issued; /* pseudonyms, lower case */
	uint64_t shared;      /* words that had to share one: short words have few */
	bool failed;          /* out of memory: then the text is x's */
};
/* `key`: text from which all pseudonyms follow; NULL: chosen at random. False: no random numbers. */
bool scrub_names_init(struct scrub_names *n, const char *key);
void scrub_names_finish(struct scrub_names *n);
/* Words of letters, digits and underscores are replaced; what divides them, and words that say nothing about anybody
 * ("windows", "dll"), stay. `units` of UTF-16, or bytes. */
void scrub_text16(struct scrub_names *n, uint8_t *p, size_t units);
void scrub_text8(struct scrub_names *n, uint8_t *p, size_t bytes);
/* The same place without any word in it. */
bool scrub_is_clean16(const struct scrub_names *n, const uint8_t *p, size_t units);
bool scrub_is_clean8(const struct scrub_names *n, const uint8_t *p, size_t bytes);
/* A number that stands for one that has `bytes` bytes, always the same. */
void scrub_bytes(const struct scrub_names *n, const char *what, const uint8_t *p, size_t bytes, uint8_t *ret,
		 size_t ret_bytes);

/* ---- events ------------------------------------------------------------------------------------ */

struct scrub {
	struct scrub_names names;
	struct openetw_decoder *decoder;
	struct cli_words keep, take; /* names of fields */
	bool check;                  /* nothing is changed: is everything clean? */
	uint64_t leaks;              /* what was not, with `check` */
	char leak[300];              /* the first one */
	/* What was taken. */
	uint64_t events, texts, users, addresses, blocks, numbers, unknown, rests, items;
	struct intern fields; /* "provider/event: field", of texts */
	uint64_t *field_count;
	uint32_t fields_used, field_cap;
	/* The event. */
	const EVENT_RECORD *e;
	uint8_t *payload;
	const char *provider, *event;
};
/* Changes the event in its place, or checks it. -ENOMEM. */
int scrub_event(struct scrub *s, EVENT_RECORD *e);
void scrub_finish(struct scrub *s);

#endif
