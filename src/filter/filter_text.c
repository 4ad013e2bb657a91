/* SPDX-License-Identifier: MIT */
#include "filter/filter_text.h"
#include "base/parse.h"

#include <stdlib.h>
#include <strings.h>

static const struct {
	const char *text;
	uint8_t op;
	bool words; /* of strings, in Windows' filters */
} operators[] = {
	{"==", FILTER_EQ, false},
	{"=", FILTER_EQ, false},
	{"!=", FILTER_NE, false},
	{"<=", FILTER_LE, false},
	{">=", FILTER_GE, false},
	{"<", FILTER_LT, false},
	{">", FILTER_GT, false},
	{"between", FILTER_BETWEEN, false},
	{"outside", FILTER_NOTBETWEEN, false},
	{"%", FILTER_MODULO, false},
	{"~", FILTER_CONTAINS, true},
	{"!~", FILTER_DOESNTCONTAIN, true},
	{"is", FILTER_IS, true},
	{"isnot", FILTER_ISNOT, true},
};

/* The next word of *inout: up to a blank, or in quotes. NULL at the end. */
static char *word(char **inout)
{
	char *s = *inout + strspn(*inout, " \t");
	if (*s == 0) {
		return NULL;
	}
	char quote = *s == '"' || *s == '\'' ? *s : 0;
	char *end = quote ? strchr(s + 1, quote) : s + strcspn(s, " \t");
	if (!end) {
		return NULL;
	}
	*inout = end + (*end != 0);
	*end = 0;
	return s + (quote != 0);
}

static int refuse(struct diag *d, const char *text)
{
	diag_at(d, UINT64_MAX,
		"'%.200s': write EVENT: FIELD OP VALUE, up to 8 joined by 'and' or all by 'or'; OP is == != < <= > "
		">= between outside %% ~ !~",
		text);
	return -EINVAL;
}

int filter_text_parse(const char *text, struct filter_text *p, struct diag *d)
{
	size_t n = strlen(text);
	if (n >= sizeof p->text) {
		diag_at(d, UINT64_MAX, "is longer than %u bytes", FILTER_TEXT_MAX - 1);
		return -EINVAL;
	}
	memcpy(p->text, text, n + 1);
	char *colon = strchr(p->text, ':'), *rest = colon ? colon + 1 : p->text;
	if (!colon) {
		return refuse(d, text);
	}
	*colon = 0;
	p->event = p->text + strspn(p->text, " ");
	p->count = 0;
	p->any = false;
	bool joined = false;
	for (bool fine = *p->event != 0;;) {
		char *field = fine ? word(&rest) : NULL, *op = field ? word(&rest) : NULL;
		char *value = op ? word(&rest) : NULL;
		size_t i = 0;
		while (op && i < BASE_ARRAY_LEN(operators) && strcasecmp(operators[i].text, op) != 0) {
			i++;
		}
		if (!value || i == BASE_ARRAY_LEN(operators) || p->count == FILTER_PREDICATES_MAX) {
			return refuse(d, text);
		}
		p->c[p->count++] = (struct filter_named_condition){field, value, operators[i].op};
		char *next = word(&rest);
		if (!next) {
			return 0;
		}
		bool any = strcasecmp(next, "or") == 0;
		fine = (any || strcasecmp(next, "and") == 0) && (!joined || any == p->any);
		joined = true;
		p->any = any;
	}
}

bool filter_text_number(const struct filter_text *p, uint16_t *ret)
{
	uint64_t id;
	if (!parse_number(p->event, 0, UINT16_MAX, &id)) {
		return false;
	}
	*ret = (uint16_t)id;
	return true;
}
