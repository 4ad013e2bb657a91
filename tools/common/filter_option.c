/* SPDX-License-Identifier: MIT
 * --filter and --payload. Those who read events take all of the language (filter/filter_parse.h), sessions the part
 * that filter/filter_compile.h describes, as the filters that EnableTraceEx2 takes. A manifest's event is meant in all
 * its versions.
 */
#include "tools/common/filter_option.h"

#include "filter/filter_compile.h"
#include "regex/regex.h"

#include <stdlib.h>
#include <tdh.h>

#define MADE_MAX 64

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

/* ---- events of manifests ----------------------------------------------------------------------- */

struct made {
	void *filter[MADE_MAX]; /* one of each version of each event */
	ULONG count;
};

/* *no_room: there is no memory for it. */
static const TRACE_EVENT_INFO *event_info(const GUID *g, const EVENT_DESCRIPTOR *e, bool *no_room)
{
	GUID guid = *g;
	EVENT_DESCRIPTOR event = *e;
	ULONG bytes = 0;
	void *info = NULL;
	if (TdhGetManifestEventInformation(&guid, &event, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER) {
		info = malloc(bytes);
		*no_room = !info;
	}
	if (info && TdhGetManifestEventInformation(&guid, &event, info, &bytes) != ERROR_SUCCESS) {
		free(info);
		info = NULL;
	}
	return info;
}

static bool compares_as_text(USHORT type)
{
	switch (type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDANSISTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
	case TDH_INTYPE_GUID: return true;
	default: return false;
	}
}

/* Is it text that stands in the field, a member of structs as "struct.member"? */
static bool field_is_text(const TRACE_EVENT_INFO *info, ULONG first, ULONG count, const uint16_t *name)
{
	for (ULONG i = first; i < first + count && i < info->PropertyCount; i++) {
		const EVENT_PROPERTY_INFO *p = &info->EventPropertyInfoArray[i];
		const uint16_t *field = (const uint16_t *)(const void *)((const char *)info + p->NameOffset);
		size_t n = 0;
		while (field[n] && field[n] == name[n]) {
			n++;
		}
		if (field[n]) {
			continue;
		}
		if (!(p->Flags & PropertyStruct) && name[n] == 0) {
			return compares_as_text(p->nonStructType.InType);
		}
		if ((p->Flags & PropertyStruct) && name[n] == '.') {
			return field_is_text(info, p->structType.StructStartIndex, p->structType.NumOfStructMembers,
					     name + n + 1);
		}
	}
	return false;
}

/* Text has operators of its own in Windows' filters. */
static uint16_t operator_for(uint8_t op, bool text)
{
	return !text ? op : op == FILTER_EQ ? FILTER_IS : op == FILTER_NE ? FILTER_ISNOT : op;
}

static uint32_t create(const GUID *g, const EVENT_DESCRIPTOR *e, const struct filter_conditions *c, void **ret)
{
	PAYLOAD_FILTER_PREDICATE predicate[FILTER_PREDICATES_MAX];
	uint16_t names[FILTER_PREDICATES_MAX][256], values[FILTER_PREDICATES_MAX][256];
	bool no_room = false;
	const TRACE_EVENT_INFO *info = event_info(g, e, &no_room);
	uint32_t code = no_room ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
	for (size_t i = 0; i < c->count && code == ERROR_SUCCESS; i++) {
		long n = utf8_to_utf16(c->c[i].field, strlen(c->c[i].field), names[i], 256);
		long v = utf8_to_utf16(c->c[i].value, strlen(c->c[i].value), values[i], 256);
		if (n < 0 || n >= 256 || v < 0 || v >= 256) {
			code = ERROR_INVALID_PARAMETER;
			break;
		}
		bool text = info && field_is_text(info, 0, info->TopLevelPropertyCount, names[i]);
		predicate[i] = (PAYLOAD_FILTER_PREDICATE){names[i], operator_for(c->c[i].op, text), values[i]};
	}
	free((void *)(uintptr_t)info);
	return code ? code : TdhCreatePayloadFilter(g, e, c->any, (ULONG)c->count, predicate, ret);
}

static bool add_manifest(const struct cli_args *a, const char *option, const GUID *g, uint16_t id,
			 const struct filter_conditions *c, struct made *made)
{
	ULONG bytes = 0, before = made->count;
	GUID copy = *g;
	uint8_t *mem = NULL;
	if (TdhEnumerateManifestProviderEvents(&copy, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER &&
	    !(mem = malloc(bytes))) {
		no_memory(a);
		return false;
	}
	PPROVIDER_EVENT_INFO info = (PPROVIDER_EVENT_INFO)(void *)mem;
	bool fine = mem && TdhEnumerateManifestProviderEvents(&copy, info, &bytes) == ERROR_SUCCESS;
	for (ULONG i = 0; fine && i < info->NumberOfEvents; i++) {
		const EVENT_DESCRIPTOR *e = &info->EventDescriptorsArray[i];
		if (e->Id != id) {
			continue;
		}
		if (made->count == MADE_MAX) {
			cli_usage(a, "--%s: more than %u versions of events have conditions, with event %u", option,
				  MADE_MAX, id);
			free(mem);
			return false;
		}
		uint32_t code = create(g, e, c, &made->filter[made->count]);
		if (code == ERROR_NOT_ENOUGH_MEMORY) {
			no_memory(a);
			free(mem);
			return false;
		}
		if (code) {
			cli_usage(a, "--%s: event %u: %s", option, id, openetw_last_error_text());
			free(mem);
			return false;
		}
		made->count++;
	}
	free(mem);
	if (made->count == before) {
		cli_usage(a,
			  "--%s: no installed manifest describes event %u of this provider; 'openetw "
			  "wevtutil im FILE.man' installs one. TraceLogging events are named",
			  option, id);
		return false;
	}
	return true;
}

static bool put_manifest(const struct cli_args *a, const char *option, struct made *made, struct cli_filters *f)
{
	EVENT_FILTER_DESCRIPTOR d = {0};
	if (made->count == 0) {
		return true;
	}
	uint32_t code = TdhAggregatePayloadFilters(made->count, made->filter, NULL, &d);
	if (code == ERROR_NOT_ENOUGH_MEMORY) {
		no_memory(a);
		return false;
	}
	if (code) {
		cli_usage(a, "--%s: the filters are larger than 4096 bytes together", option);
		return false;
	}
	bool fine = cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, (const void *)(uintptr_t)d.Ptr, d.Size);
	TdhCleanupPayloadEventFilterDescriptor(&d);
	if (!fine) {
		no_memory(a);
	}
	return fine;
}

static void made_finish(struct made *made)
{
	for (ULONG i = 0; i < made->count; i++) {
		TdhDeletePayloadFilter(&made->filter[i]);
	}
}

/* ---- --payload --------------------------------------------------------------------------------- */

static bool add_clause(const struct cli_args *a, const char *text, const GUID *g, uint8_t *named,
		       size_t *inout_named_bytes, struct made *made)
{
	struct filter_clause c;
	struct filter_conditions conditions;
	struct diag d = {0};
	struct guid guid;
	memcpy(guid.b, g, 16);
	int err = filter_clause_parse(text, &c, &d);
	if (err < 0) {
		cli_filter_mistake(a, "payload", text, &d);
		return false;
	}
	bool fine = filter_conditions_of(c.expr, &conditions, &d) == 0;
	if (fine && c.by_id) {
		fine = add_manifest(a, "payload", g, c.id, &conditions, made);
	} else {
		fine = fine && filter_named_add(named, inout_named_bytes, &guid, c.event, conditions.any, conditions.c,
						conditions.count, &d) == 0;
		if (!fine) {
			cli_filter_mistake(a, "payload", text, &d);
		}
	}
	filter_clause_finish(&c);
	return fine;
}

static bool put_clauses(const struct cli_args *a, const struct cli_words *clauses, const GUID *g, struct cli_filters *f)
{
	uint8_t named[FILTER_BYTES_MAX];
	struct made made = {0};
	size_t named_bytes = 0;
	bool fine = true;
	for (int i = 0; fine && i < clauses->count; i++) {
		fine = add_clause(a, clauses->text[i], g, named, &named_bytes, &made);
	}
	if (fine && made.count && named_bytes) {
		cli_usage(a, "--payload names events either by number or by name");
		fine = false;
	}
	if (fine && named_bytes && !cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, named, named_bytes)) {
		no_memory(a);
		fine = false;
	}
	fine = fine && put_manifest(a, "payload", &made, f);
	made_finish(&made);
	return fine;
}

/* ---- --filter of a session --------------------------------------------------------------------- */

static bool put_filter(void *filters, uint32_t type, const uint8_t *bytes, size_t n)
{
	return cli_filters_put((struct cli_filters *)filters, type, bytes, n);
}

static bool put_plan(const struct cli_args *a, const char *text, const struct filter_plan *plan, const GUID *g,
		     struct cli_filters *f)
{
	struct made made = {0};
	struct diag d = {0};
	struct guid guid;
	memcpy(guid.b, g, 16);
	if (filter_plan_each(plan, &guid, put_filter, f, &d) < 0) {
		cli_filter_mistake(a, "filter", text, &d);
		return false;
	}
	bool fine = true, named = f->count > 0 && f->d[f->count - 1].Type == EVENT_FILTER_TYPE_PAYLOAD;
	const struct filter_choice *c;
	for (uint32_t i = 0; fine && (c = filter_plan_manifest(plan, i)) != NULL; i++) {
		if (named) {
			d.column = c->column;
			diag_at(&d, UINT64_MAX, "the session tests fields of events either by id or by name");
			cli_filter_mistake(a, "filter", text, &d);
			fine = false;
		} else {
			fine = add_manifest(a, "filter", g, c->id, c->conditions, &made);
		}
	}
	fine = fine && put_manifest(a, "filter", &made, f);
	made_finish(&made);
	return fine;
}

static bool add_filter(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
		       struct cli_filters *f)
{
	const char *text = o->expression;
	struct filter_expr *expr;
	struct filter_plan plan;
	struct diag d = {0};
	if (o->filter[SESSION_FILTER_EVENT_ID].count || o->filter[SESSION_FILTER_EVENT_NAME].count ||
	    o->payload.count) {
		cli_usage(a, "--filter says it all: leave out --event-id, --event-name and --payload");
		return false;
	}
	if (!cli_filter_expr(a, text, NULL, &expr)) {
		return false;
	}
	bool fine = filter_compile(expr, &plan, &d) == 0;
	if (fine) {
		fine = put_plan(a, text, &plan, g, f);
		filter_plan_finish(&plan);
	} else {
		cli_filter_mistake(a, "filter", text, &d);
	}
	filter_expr_destroy(expr);
	return fine;
}

bool cli_filter_enable(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
		       struct cli_filters *f)
{
	return put_clauses(a, &o->payload, g, f) && (!o->expression || add_filter(a, o, g, f));
}
