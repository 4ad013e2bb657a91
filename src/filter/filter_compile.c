/* SPDX-License-Identifier: MIT */
#include "filter/filter_compile.h"

#include "base/vec.h"

#include <stdlib.h>
#include <stdio.h>

#define CHOICES_MAX 1024u
#define FACTORS_MAX 64u

/* ---- refusals -------------------------------------------------------------------------------- */

static int refuse(struct diag *d, struct filter_span at, const char *why)
{
	if (d && d->text[0] == 0) {
		d->column = at.at + 1;
	}
	diag_at(d, UINT64_MAX, "%s", why);
	return -EINVAL;
}

static int refuse_word(struct diag *d, struct filter_span at, const char *word)
{
	char why[200];
	snprintf(why, sizeof why, "the session cannot evaluate '%.60s'; use it when reading", word);
	return refuse(d, at, why);
}

/* Properties that an enable has options of its own for. */
static int refuse_property(struct diag *d, const struct filter_node *n)
{
	static const struct {
		const char *name, *instead;
	} options[] = {
		{"provider", "a filter is of one provider"},
		{"providerGuid", "a filter is of one provider"},
		{"level", "the enable has a level, and NAME:KEYWORDS:LEVEL"},
		{"keywords", "the enable has keywords, and NAME:KEYWORDS:LEVEL"},
		{"pid", "--pid does that"},
		{"process", "--exe does that"},
	};
	char why[200];
	for (size_t i = 0; i < BASE_ARRAY_LEN(options); i++) {
		if (strcmp(options[i].name, n->name) == 0) {
			snprintf(why, sizeof why, "the session cannot evaluate '%s'; %s", n->name, options[i].instead);
			return refuse(d, n->whole, why);
		}
	}
	return refuse_word(d, n->whole, n->name);
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* The value as a session takes it: digits where a unit was written. False: no room. */
static bool put_value(const char *text, const struct filter_number *x, struct strbuf *out)
{
	if (x->unit == FILTER_UNIT_NONE) {
		strbuf_adds(out, text);
	} else if (x->is_int) {
		strbuf_addf(out, "%s%llu", x->negative ? "-" : "", (unsigned long long)x->magnitude);
	} else {
		strbuf_addf(out, "%.17g", x->real);
	}
	return !out->failed;
}

static int value_of(const struct filter_node *n, struct filter_conditions *ret, struct diag *d)
{
	char *into = ret->value[ret->count];
	struct strbuf b = {0};
	bool fine = put_value(n->value, &n->number, &b);
	if (n->high) {
		strbuf_addc(&b, ',');
		fine = fine && put_value(n->high, &n->high_number, &b);
	}
	fine = fine && !b.failed && b.s;
	bool room = fine && b.len < sizeof ret->value[0];
	if (room) {
		memcpy(into, b.s, b.len + 1);
	}
	strbuf_finish(&b);
	return room ? 0 : !fine ? -ENOMEM : refuse(d, n->value_at, "the values are too long");
}

static int add_condition(const struct filter_node *n, struct filter_conditions *ret, struct diag *d)
{
	static const uint8_t operators[FILTER_TEST_COUNT] = {
		[FILTER_TEST_EQ] = FILTER_EQ,
		[FILTER_TEST_NE] = FILTER_NE,
		[FILTER_TEST_LT] = FILTER_LT,
		[FILTER_TEST_LE] = FILTER_LE,
		[FILTER_TEST_GT] = FILTER_GT,
		[FILTER_TEST_GE] = FILTER_GE,
		[FILTER_TEST_LIKE] = FILTER_CONTAINS,
		[FILTER_TEST_NOT_LIKE] = FILTER_DOESNTCONTAIN,
		[FILTER_TEST_DIVISIBLE] = FILTER_MODULO,
		[FILTER_TEST_BETWEEN] = FILTER_BETWEEN,
		[FILTER_TEST_OUTSIDE] = FILTER_NOTBETWEEN,
	};
	if (n->type == FILTER_NODE_NOT) {
		return refuse_word(d, n->op, "not");
	}
	if (n->type == FILTER_NODE_AND || n->type == FILTER_NODE_OR) {
		return refuse(d, n->op, "the session takes conditions that are joined all by 'and' or all by 'or'");
	}
	if (n->property != FILTER_PROPERTY_FIELD) {
		return refuse_property(d, n);
	}
	if (n->type == FILTER_NODE_HAS) {
		return refuse(d, n->whole, "the session cannot evaluate whether a field is there; compare it");
	}
	if (n->test == FILTER_TEST_BITS) {
		return refuse_word(d, n->op, "&");
	}
	if (n->test == FILTER_TEST_REGEX || n->test == FILTER_TEST_NOT_REGEX) {
		return refuse(d, n->op, "the session cannot evaluate regular expressions; use it when reading");
	}
	bool like = n->test == FILTER_TEST_LIKE || n->test == FILTER_TEST_NOT_LIKE;
	if (like && strpbrk(n->value, "*?")) {
		return refuse(d, n->value_at, "the session cannot evaluate a pattern with * or ?; use it when reading");
	}
	if (ret->count == FILTER_PREDICATES_MAX) {
		return refuse(d, n->whole, "the session takes up to 8 conditions for one event");
	}
	const char *value = n->value;
	if (n->high || n->number.unit != FILTER_UNIT_NONE) {
		int err = value_of(n, ret, d);
		if (err < 0) {
			return err;
		}
		value = ret->value[ret->count];
	}
	ret->c[ret->count++] = (struct filter_named_condition){.field = n->name,
							       .value = value,
							       .op = operators[n->test],
							       .column = n->value_at.at + 1,
							       .name_column = n->whole.at + 1};
	return 0;
}

/* What nodes of this type join, in the order of the text. */
static int add_joined(const struct filter_expr *f, uint32_t at, enum filter_node_type type,
		      struct filter_conditions *ret, struct diag *d)
{
	const struct filter_node *n = &f->nodes[at];
	if (n->type != type) {
		return add_condition(n, ret, d);
	}
	int err = add_joined(f, n->left, type, ret, d);
	return err < 0 ? err : add_joined(f, n->right, type, ret, d);
}

int filter_conditions_of(const struct filter_expr *f, struct filter_conditions *ret, struct diag *d)
{
	ret->count = 0;
	ret->any = f->nodes[f->root].type == FILTER_NODE_OR;
	return add_joined(f, f->root, ret->any ? FILTER_NODE_OR : FILTER_NODE_AND, ret, d);
}

/* ---- the plan -------------------------------------------------------------------------------- */

struct compiler {
	const struct filter_expr *f;
	struct filter_plan *plan;
	struct diag *d;
};

static bool names_event(const struct filter_node *n, enum filter_test test)
{
	return n->type == FILTER_NODE_TEST && n->test == test && !n->payload &&
	       (strcmp(n->name, "event") == 0 || strcmp(n->name, "id") == 0);
}

/* Do all tests below this node, joined by `type`, name events? */
static bool all_name_events(const struct filter_expr *f, uint32_t at, enum filter_node_type type, enum filter_test test)
{
	const struct filter_node *n = &f->nodes[at];
	return n->type == type ? all_name_events(f, n->left, type, test) && all_name_events(f, n->right, type, test)
			       : names_event(n, test);
}

/* For each event that the node names one choice, with these conditions. */
static int add_events(struct compiler *c, uint32_t at, const uint32_t *rest, size_t rest_count)
{
	const struct filter_node *n = &c->f->nodes[at];
	struct filter_plan *p = c->plan;
	int err = 0;
	if (n->type != FILTER_NODE_TEST) {
		err = add_events(c, n->left, rest, rest_count);
		return err < 0 ? err : add_events(c, n->right, rest, rest_count);
	}
	struct filter_choice choice = {.column = n->value_at.at + 1};
	if (strcmp(n->name, "event") == 0) {
		choice.event = n->value;
		if (n->value[0] == 0 || strlen(n->value) >= FILTER_NAMED_TEXT_MAX) {
			return refuse(c->d, n->value_at, "the event's name is empty or longer than 255 bytes");
		}
	} else if (!n->number.is_int || n->number.negative || n->number.magnitude > UINT16_MAX) {
		return refuse(c->d, n->value_at, "an event's id is a number from 0 to 65535");
	} else {
		choice.id = (uint16_t)n->number.magnitude;
	}
	if (!VEC_ROOM_UP_TO(p->choices, p->count, p->cap, CHOICES_MAX)) {
		return p->count == CHOICES_MAX ? refuse(c->d, n->whole, "the session takes fewer events than these")
					       : -ENOMEM;
	}
	if (rest_count > 0) {
		choice.conditions = calloc(1, sizeof *choice.conditions);
		if (!choice.conditions) {
			return -ENOMEM;
		}
		bool any = rest_count == 1 && c->f->nodes[rest[0]].type == FILTER_NODE_OR;
		choice.conditions->any = any;
		for (size_t i = 0; i < rest_count && err == 0; i++) {
			err = add_joined(c->f, rest[i], any ? FILTER_NODE_OR : FILTER_NODE_AND, choice.conditions,
					 c->d);
		}
	}
	p->choices[p->count++] = choice;
	return err;
}

/* What `and` joins. -EINVAL: too much. */
static int factors_of(struct compiler *c, uint32_t at, uint32_t *factors, size_t *inout_count)
{
	const struct filter_node *n = &c->f->nodes[at];
	if (n->type == FILTER_NODE_AND) {
		int err = factors_of(c, n->left, factors, inout_count);
		return err < 0 ? err : factors_of(c, n->right, factors, inout_count);
	}
	if (*inout_count == FACTORS_MAX) {
		return refuse(c->d, n->whole, "the session takes up to 8 conditions for one event");
	}
	factors[(*inout_count)++] = at;
	return 0;
}

static int add_choice(struct compiler *c, uint32_t at)
{
	const struct filter_node *n = &c->f->nodes[at];
	uint32_t factors[FACTORS_MAX], event = UINT32_MAX;
	size_t count = 0, rest = 0;
	int err = 0;
	if (n->type == FILTER_NODE_OR) {
		err = add_choice(c, n->left);
		return err < 0 ? err : add_choice(c, n->right);
	}
	err = factors_of(c, at, factors, &count);
	if (err < 0) {
		return err;
	}
	for (size_t i = 0; i < count; i++) {
		if (event == UINT32_MAX && all_name_events(c->f, factors[i], FILTER_NODE_OR, FILTER_TEST_EQ)) {
			event = factors[i];
		} else {
			factors[rest++] = factors[i];
		}
	}
	if (event != UINT32_MAX) {
		return add_events(c, event, factors, rest);
	}
	/* If it is no condition on a field either, that is the better reason. */
	struct filter_conditions scratch = {0};
	for (size_t i = 0; i < rest; i++) {
		const struct filter_node *f = &c->f->nodes[factors[i]];
		if (names_event(f, FILTER_TEST_NE)) {
			return refuse(c->d, f->op,
				      "the session takes events that are left out only without other conditions");
		}
		err = add_joined(c->f, factors[i], FILTER_NODE_OR, &scratch, c->d);
		if (err < 0) {
			return err;
		}
	}
	return refuse(c->d, n->whole, "the session tests fields of events that are named; write event == NAME and …");
}

static int add_exclusion(struct compiler *c, uint32_t at)
{
	const struct filter_node *n = &c->f->nodes[at];
	if (n->type == FILTER_NODE_AND) {
		int err = add_exclusion(c, n->left);
		return err < 0 ? err : add_exclusion(c, n->right);
	}
	return add_events(c, at, NULL, 0);
}

int filter_compile(const struct filter_expr *f, struct filter_plan *ret, struct diag *d)
{
	struct filter_plan plan = {0};
	struct compiler c = {f, &plan, d};
	plan.exclude = all_name_events(f, f->root, FILTER_NODE_AND, FILTER_TEST_NE);
	int err = plan.exclude ? add_exclusion(&c, f->root) : add_choice(&c, f->root);
	if (err < 0) {
		filter_plan_finish(&plan);
		return err;
	}
	*ret = plan;
	return 0;
}

void filter_plan_finish(struct filter_plan *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		free(p->choices[i].conditions);
	}
	free(p->choices);
	*p = (struct filter_plan){0};
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool same_event(const struct filter_choice *a, const struct filter_choice *b)
{
	return a->event && b->event ? strcmp(a->event, b->event) == 0 : !a->event && !b->event && a->id == b->id;
}

static bool is_first(const struct filter_plan *p, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (same_event(&p->choices[i], &p->choices[at])) {
			return false;
		}
	}
	return true;
}

/* An event that passes in any case needs no conditions. */
static bool counts(const struct filter_plan *p, const struct filter_choice *c)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (!p->choices[i].conditions && same_event(&p->choices[i], c)) {
			return false;
		}
	}
	return c->conditions != NULL;
}

int filter_plan_ids(const struct filter_plan *p, uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d)
{
	uint16_t ids[MAX_EVENT_FILTER_EVENT_ID_COUNT], count = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->choices[i].event || !is_first(p, i)) {
			continue;
		}
		if (count == MAX_EVENT_FILTER_EVENT_ID_COUNT) {
			return refuse(d, (struct filter_span){p->choices[i].column - 1, 0},
				      "the session takes up to 64 event ids");
		}
		ids[count++] = p->choices[i].id;
	}
	*ret_bytes = p->exclude && count == 0 ? 0 : filter_ids_write(!p->exclude, ids, count, out);
	return 0;
}

int filter_plan_names(const struct filter_plan *p, uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d)
{
	size_t n = filter_names_begin(!p->exclude, out);
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		if (!p->choices[i].event || !is_first(p, i)) {
			continue;
		}
		const char *name = p->choices[i].event;
		if (!filter_names_add(out, &n, name, strlen(name))) {
			return refuse(d, (struct filter_span){p->choices[i].column - 1, 0},
				      "the names of the events are longer than 4096 bytes together");
		}
		count++;
	}
	*ret_bytes = p->exclude && count == 0 ? 0 : n;
	return 0;
}

int filter_plan_payload(const struct filter_plan *p, const struct guid *provider, uint8_t out[FILTER_BYTES_MAX],
			size_t *ret_bytes, struct diag *d)
{
	size_t n = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct filter_choice *c = &p->choices[i];
		if (!c->event || !counts(p, c)) {
			continue;
		}
		int err = filter_named_add(out, &n, provider, c->event, c->conditions->any, c->conditions->c,
					   c->conditions->count, d);
		if (err < 0) {
			return -EINVAL;
		}
	}
	*ret_bytes = n;
	return 0;
}

const struct filter_choice *filter_plan_manifest(const struct filter_plan *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->count; k++) {
		const struct filter_choice *c = &p->choices[k];
		if (!c->event && counts(p, c) && i-- == 0) {
			return c;
		}
	}
	return NULL;
}

int filter_plan_each(const struct filter_plan *p, const struct guid *provider, filter_plan_fn *each, void *ctx,
		     struct diag *d)
{
	static const uint32_t types[] = {EVENT_FILTER_TYPE_EVENT_ID, EVENT_FILTER_TYPE_EVENT_NAME,
					 EVENT_FILTER_TYPE_PAYLOAD};
	uint8_t blob[FILTER_BYTES_MAX];
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		size_t n = 0;
		int err = i == 0   ? filter_plan_ids(p, blob, &n, d)
			  : i == 1 ? filter_plan_names(p, blob, &n, d)
				   : filter_plan_payload(p, provider, blob, &n, d);
		if (err < 0) {
			return err;
		}
		if (n > 0 && each && !each(ctx, (uint32_t)types[i], blob, n)) {
			return -ENOMEM;
		}
	}
	return 0;
}

/* Are the conditions where they can be evaluated? */
static int check_conditions(const struct filter_plan *p, bool manifest_apart, bool described, struct diag *d)
{
	const struct filter_choice *manifest = filter_plan_manifest(p, 0);
	if (manifest && !manifest_apart && !described) {
		return refuse(d, (struct filter_span){manifest->column - 1, 0},
			      "the fields of a manifest's event are known to commands only");
	}
	for (uint32_t i = 0; i < p->count && (manifest_apart || manifest); i++) {
		if (p->choices[i].event && counts(p, &p->choices[i])) {
			return refuse(d, (struct filter_span){p->choices[i].column - 1, 0},
				      "the session tests fields of events either by id or by name");
		}
	}
	return 0;
}

int filter_plan_describe(const struct filter_plan *p, const struct guid *provider, filter_manifest_fn *describe,
			 uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d)
{
	const struct filter_choice *c;
	size_t n = 0;
	for (uint32_t i = 0; (c = filter_plan_manifest(p, i)) != NULL; i++) {
		if (d && d->text[0] == 0) {
			d->column = c->column;
		}
		int err = describe(provider, c->id, c->conditions, out, &n, d);
		if (err < 0) {
			return err;
		}
	}
	if (d && d->text[0] == 0) {
		d->column = 0;
	}
	*ret_bytes = n;
	return 0;
}

static int each_of(const struct filter_plan *p, const struct guid *provider, bool manifest_apart,
		   filter_manifest_fn *describe, filter_plan_fn *each, void *ctx, struct diag *d)
{
	uint8_t blob[FILTER_BYTES_MAX];
	size_t n = 0;
	int err = check_conditions(p, manifest_apart, describe != NULL, d);
	err = err < 0 ? err : filter_plan_each(p, provider, each, ctx, d);
	if (err == 0 && describe && !manifest_apart) {
		err = filter_plan_describe(p, provider, describe, blob, &n, d);
	}
	return err == 0 && n > 0 && each && !each(ctx, EVENT_FILTER_TYPE_PAYLOAD, blob, n) ? -ENOMEM : err;
}

int filter_text_each(const char *text, const struct guid *provider, bool manifest_apart, filter_manifest_fn *describe,
		     filter_plan_fn *each, void *ctx, struct diag *d)
{
	struct filter_expr *f;
	struct filter_plan plan;
	int err = filter_expr_parse(text, &f, d);
	if (err < 0) {
		return err;
	}
	err = filter_compile(f, &plan, d);
	if (err == 0) {
		err = each_of(&plan, provider, manifest_apart, describe, each, ctx, d);
		filter_plan_finish(&plan);
	}
	filter_expr_destroy(f);
	return err;
}
