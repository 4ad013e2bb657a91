/* SPDX-License-Identifier: MIT
 * --filter and --payload. Those who read events take all of the language (filter/filter_parse.h), sessions the part
 * that filter/filter_compile.h describes, as the filters that EnableTraceEx2 takes. A manifest's event is meant in all
 * its versions.
 */
#include "tools/common/filter_option.h"

#include "filter/filter_compile.h"
#include "regex/regex.h"
#include "schema/schema_filter.h"

#include <stdlib.h>

static int no_memory(const struct cli_args *a)
{
	return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the filter");
}

/* ---- mistakes ---------------------------------------------------------------------------------- */

/* Characters before a column, which counts bytes. */
static int characters_before(const char *text, uint32_t column)
{
	int n = 0;
	for (uint32_t i = 0; i + 1 < column && text[i]; i++) {
		n += ((unsigned char)text[i] & 0xC0) != 0x80;
	}
	return n;
}

int cli_filter_mistake(const struct cli_args *a, const char *option, const char *text, const struct diag *d)
{
	if (!d->text[0]) { /* nothing is wrong with the words */
		return no_memory(a);
	}
	if (d->column == 0) {
		return cli_usage(a, "--%s '%s': %s", option, text, d->text);
	}
	return cli_usage(a, "--%s, column %u: %s\n  %s\n  %*s^", option, d->column, d->text, text,
			 characters_before(text, d->column), "");
}

bool cli_filter_expr(const struct cli_args *a, const char *text, const char *const *names, struct filter_expr **ret)
{
	const struct filter_dialect dialect = {.regex = &regex_pcre2, .names = names};
	struct diag d = {0};
	*ret = NULL;
	int err = text ? filter_expr_parse_in(&dialect, text, ret, &d) : 0;
	if (err == -EINVAL) {
		cli_filter_mistake(a, "filter", text, &d);
	} else if (err < 0) {
		no_memory(a);
	}
	return err == 0;
}

void cli_filter_given_up(const struct filter_expr *f)
{
	uint64_t n = filter_expr_given_up(f);
	fprintf(stderr,
		"a regular expression of --filter takes too long: %llu value%s COULD NOT BE MATCHED; nested "
		"repetitions, "
		"such as (a+)+, are the usual cause\n",
		(unsigned long long)n, PLURAL(n));
}

/* ---- --payload --------------------------------------------------------------------------------- */

struct clauses {
	uint8_t named[FILTER_BYTES_MAX], numbered[FILTER_BYTES_MAX];
	size_t named_bytes, numbered_bytes;
};

static bool add_clause(const struct cli_args *a, const char *text, const struct guid *g, struct clauses *all)
{
	struct filter_clause c;
	struct filter_conditions conditions;
	struct diag d = {0};
	int err = filter_clause_parse(text, &c, &d);
	if (err < 0) {
		cli_filter_mistake(a, "payload", text, &d);
		return false;
	}
	err = filter_conditions_of(c.expr, &conditions, &d);
	err = err < 0   ? err
	      : c.by_id ? schema_filter_manifest(g, c.id, &conditions, all->numbered, &all->numbered_bytes, &d)
			: filter_named_add(all->named, &all->named_bytes, g, c.event, conditions.any, conditions.c,
					   conditions.count, &d);
	if (err < 0) {
		cli_filter_mistake(a, "payload", text, &d);
	}
	filter_clause_finish(&c);
	return err == 0;
}

static bool put_clauses(const struct cli_args *a, const struct cli_words *clauses, const GUID *g,
			struct launch_filters *f)
{
	struct clauses all = {.named_bytes = 0};
	struct guid guid;
	bool fine = true;
	memcpy(guid.b, g, 16);
	for (int i = 0; fine && i < clauses->count; i++) {
		fine = add_clause(a, clauses->text[i], &guid, &all);
	}
	if (fine && all.numbered_bytes && all.named_bytes) {
		cli_usage(a, "--payload names events either by number or by name");
		return false;
	}
	const uint8_t *bytes = all.numbered_bytes ? all.numbered : all.named;
	size_t n = all.numbered_bytes + all.named_bytes;
	if (fine && n && !launch_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, bytes, n)) {
		no_memory(a);
		return false;
	}
	return fine;
}

/* ---- --filter of a session --------------------------------------------------------------------- */

static bool put_filter(void *filters, uint32_t type, const uint8_t *bytes, size_t n)
{
	return launch_filters_put((struct launch_filters *)filters, type, bytes, n);
}

static bool add_filter(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
		       struct launch_filters *f)
{
	struct diag d = {0};
	struct guid guid;
	memcpy(guid.b, g, 16);
	if (o->filter[SESSION_FILTER_EVENT_ID].count || o->filter[SESSION_FILTER_EVENT_NAME].count ||
	    o->payload.count) {
		cli_usage(a, "--filter says it all: leave out --event-id, --event-name and --payload");
		return false;
	}
	int err = filter_text_each(o->expression, &guid, false, schema_filter_manifest, put_filter, f, &d);
	if (err < 0) {
		cli_filter_mistake(a, "filter", o->expression, &d);
	}
	return err == 0;
}

bool cli_filter_enable(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
		       struct launch_filters *f)
{
	return put_clauses(a, &o->payload, g, f) && (!o->expression || add_filter(a, o, g, f));
}
