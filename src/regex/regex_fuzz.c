/* SPDX-License-Identifier: MIT
 * Any bytes as a filter with regular expressions: the first line is the filter, the rest the text that it is matched
 * against. What is printed parses again, and means the same.
 */
#include "regex/regex.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct filter_dialect dialect = {.regex = &regex_pcre2};

struct text {
	const char *s;
	size_t n;
};

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	const struct text *t = ctx;
	(void)name;
	(void)payload;
	if (ret->index > 1) {
		return false;
	}
	ret->text = t->s;
	ret->length = t->n;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t n = end ? (size_t)(end - data) : size;
	struct text text = {end ? (const char *)end + 1 : "", end ? size - n - 1 : 0};
	char *filter = malloc(n + 1);
	struct filter_expr *f = NULL, *again = NULL;
	struct diag d = {0};
	if (!filter) {
		return 0;
	}
	if (n) {
		memcpy(filter, data, n);
	}
	filter[n] = 0;
	if (filter_expr_parse_in(&dialect, filter, &f, &d) == 0) {
		struct strbuf b = {0};
		bool matched = filter_expr_match(f, lookup, &text);
		filter_expr_print(f, &b);
		if (b.failed || filter_expr_parse_in(&dialect, b.s, &again, NULL) != 0 ||
		    filter_expr_match(again, lookup, &text) != matched) {
			abort();
		}
		filter_expr_destroy(again);
		filter_expr_destroy(f);
		strbuf_finish(&b);
	} else if (!d.text[0] || d.column == 0 || d.column > strlen(filter) + 1) {
		abort();
	}
	free(filter);
	return 0;
}
