/* SPDX-License-Identifier: MIT
 *
 * The parser reads the text up to the cursor and says at each step what it expects there. Behind a whole word the
 * last expectation counts; inside a word the one with which that word began.
 */
#include "filter/filter_complete.h"
#include "base/level.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct completer {
	const char *text, *end; /* end: the cursor */
	const struct filter_vocabulary *vocabulary;
	filter_completion_fn *each;
	void *ctx;
	struct filter_expectation found;
	char name[64]; /* of the test that the cursor is in */
	bool inside;   /* the cursor touches a word */
	bool any, done;
};

static bool in_word(const char *text, const char *end)
{
	return end > text && filter_word_byte(end[-1], FILTER_NAME_BYTES FILTER_VALUE_BYTES);
}

static void note(void *ctx, const struct filter_expectation *e)
{
	struct completer *c = ctx;
	bool after_has = c->any && c->found.what == FILTER_EXPECTS_OPERATOR && c->found.at == e->at;
	if ((c->inside && e->at == c->end) || after_has) {
		return; /* what joins may stand in the place of an operator, too */
	}
	c->found = *e;
	c->any = true;
	snprintf(c->name, sizeof c->name, "%s", e->name ? e->name : "");
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void offer(struct completer *c, const char *text)
{
	size_t n = (size_t)(c->end - c->found.at);
	if (c->done || strlen(text) < n || strncasecmp(text, c->found.at, n) != 0) {
		return;
	}
	struct filter_completion r = {c->found.what, {(uint32_t)(c->found.at - c->text), (uint32_t)n}, text};
	c->done = !c->each(c->ctx, &r);
}

/* A word that may need quotes, or has those that were begun. */
static void offer_value(struct completer *c, const char *value)
{
	struct strbuf b = {0};
	char quote = c->found.at < c->end && (*c->found.at == '\'' || *c->found.at == '"') ? *c->found.at : 0;
	bool plain = *value != 0;
	for (const char *s = value; *s; s++) {
		plain = plain && *s != '\\' && filter_word_byte(*s, FILTER_VALUE_BYTES);
	}
	quote = quote ? quote : plain ? 0 : '"';
	if (quote) {
		strbuf_addc(&b, quote);
	}
	for (const char *s = value; *s; s++) {
		if (quote && (*s == quote || *s == '\\')) {
			strbuf_addc(&b, '\\');
		}
		strbuf_addc(&b, *s);
	}
	if (quote) {
		strbuf_addc(&b, quote);
	}
	if (!b.failed && b.s) {
		offer(c, b.s);
	}
	strbuf_finish(&b);
}

static void offer_field(struct completer *c, const char *field)
{
	struct strbuf b = {0};
	bool plain = true, property = false;
	char first = c->found.at < c->end ? *c->found.at : 0;
	for (const char *s = field; *s; s++) {
		plain = plain && filter_word_byte(*s, FILTER_NAME_BYTES);
	}
	for (size_t i = 0; filter_properties[i]; i++) {
		property = property || strcmp(filter_properties[i], field) == 0;
	}
	if (strchr(field, ']') || *field == 0) {
		return; /* cannot be written */
	}
	bool bracket = first == '[' || !plain;
	strbuf_addf(&b, bracket ? "[%s]" : first == '.' || property ? ".%s" : "%s", field);
	if (!b.failed) {
		offer(c, b.s);
	}
	strbuf_finish(&b);
}

static void offer_values(struct completer *c, const char *const *values)
{
	for (; values && *values; values++) {
		offer_value(c, *values);
	}
}

static void offer_joins(struct completer *c)
{
	if (c->found.in_list) {
		offer(c, ",");
		offer(c, "..");
		offer(c, ")");
		return;
	}
	offer(c, "and");
	offer(c, "or");
	if (c->found.nested) {
		offer(c, ")");
	}
}

static void offer_operators(struct completer *c)
{
	bool stack = strcmp(c->name, "stack") == 0;
	if (stack || strcmp(c->name, "text") == 0) {
		offer(c, filter_test_word(FILTER_TEST_HAS));
	}
	for (int i = 0; i < FILTER_TEST_REGEX && !stack; i++) {
		offer(c, filter_test_word((enum filter_test)i));
	}
	offer(c, filter_test_word(FILTER_TEST_REGEX));
}

/* Behind digits. */
static void offer_units(struct completer *c)
{
	enum filter_property p = filter_property_of(c->name);
	bool time = p == FILTER_PROPERTY_TIME || p == FILTER_PROPERTY_DURATION ||
		    (p == FILTER_PROPERTY_FIELD && filter_field_unit_ns(c->name));
	const char *const *units = time                                                        ? filter_duration_units
				   : p == FILTER_PROPERTY_FIELD || p == FILTER_PROPERTY_LENGTH ? filter_size_units
											       : NULL;
	size_t digits = 0, n = (size_t)(c->end - c->found.at);
	while (digits < n && (isdigit((unsigned char)c->found.at[digits]) || (digits && c->found.at[digits] == '.'))) {
		digits++;
	}
	for (; digits && units && *units; units++) {
		char word[64];
		int length = snprintf(word, sizeof word, "%.*s%s", (int)BASE_MIN(digits, 40), c->found.at, *units);
		if (length > 0 && (size_t)length > n && digits <= 40) {
			offer(c, word);
		}
	}
}

static void offer_all(struct completer *c)
{
	static const char *const more[] = {"in", "not in", NULL}, *const terms[] = {"stack", "text"};
	const struct filter_vocabulary *v = c->vocabulary;
	switch (c->found.what) {
	case FILTER_EXPECTS_NAME:
		for (size_t i = 0; !(v && v->names) && filter_properties[i]; i++) {
			offer(c, filter_properties[i]);
		}
		for (size_t i = 0; !(v && v->names) && i < BASE_ARRAY_LEN(terms); i++) {
			offer(c, terms[i]);
		}
		for (const char *const *f = v ? v->names : NULL; f && *f; f++) {
			offer(c, *f);
		}
		for (const char *const *f = v ? v->fields : NULL; f && *f; f++) {
			offer_field(c, *f);
		}
		offer(c, "not");
		return;
	case FILTER_EXPECTS_OPERATOR:
		offer_operators(c);
		for (size_t i = 0; more[i]; i++) {
			offer(c, more[i]);
		}
		offer_joins(c);
		return;
	case FILTER_EXPECTS_JOIN: offer_joins(c); return;
	default: break;
	}
	if (strcmp(c->name, "level") == 0) {
		for (uint8_t i = 1; level_word(i); i++) {
			offer(c, level_word(i));
		}
	} else if (v && strcmp(c->name, "provider") == 0) {
		offer_values(c, v->providers);
	} else if (v && strcmp(c->name, "event") == 0) {
		offer_values(c, v->events);
	} else if (v && strcmp(c->name, "process") == 0) {
		offer_values(c, v->processes);
	} else {
		offer_units(c);
	}
}

int filter_complete(const char *text, size_t cursor, const struct filter_vocabulary *v, filter_completion_fn *each,
		    void *ctx)
{
	char *head = strndup(text, cursor);
	if (!head) {
		return -ENOMEM;
	}
	struct completer c = {.text = head, .end = head + strlen(head), .vocabulary = v, .each = each, .ctx = ctx};
	c.inside = in_word(head, c.end);
	filter_expr_expectations(head, note, &c);
	if (c.any) {
		offer_all(&c);
	}
	free(head);
	return 0;
}
