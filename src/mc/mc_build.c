/* SPDX-License-Identifier: MIT
 *
 * A manifest gets its names, descriptors and enable bits.
 */
#include "mc/mc_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PROVIDERS_MAX             16 /* message ids have four bits for them */
#define CHANNEL_PROVIDER_METADATA 12

static int refuse(struct diag *d, struct manifest_pos pos, const char *fmt, const char *name)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	diag_at(d, UINT64_MAX, fmt, name);
#pragma GCC diagnostic pop
	if (d && d->line == 0) {
		d->line = pos.line;
		d->column = pos.column;
	}
	return -EBADMSG;
}

static bool identifier_ok(const char *s)
{
	for (const char *c = s; *c; c++) {
		bool digit = *c >= '0' && *c <= '9';
		if (!(digit && c > s) && *c != '_' && !((*c | 32) >= 'a' && (*c | 32) <= 'z')) {
			return false;
		}
	}
	return *s;
}

/* Distinct pairs of level and keyword in order of first use. Events that are not logged count, so
 * that the numbers stay when one is switched on. */
static uint32_t bit_of(struct mc_provider *p, const struct manifest_event *e)
{
	uint32_t i = 0;
	while (i < p->bit_count && (p->bits[i].keyword != e->keyword || p->bits[i].level != e->level)) {
		i++;
	}
	if (i == p->bit_count) {
		p->bits[p->bit_count++] = (struct mc_bit){e->keyword, e->level};
	}
	return i;
}

/* The highest insert: "%1", "%2!x!"; "%%1" is a parameter string's number, "%n" a line's end. */
static unsigned highest_insert(const char *text)
{
	unsigned most = 0;
	for (const char *s = text; (s = strchr(s, '%')) != NULL;) {
		unsigned v = 0;
		s++;
		if (*s == '%') {
			s++;
			continue;
		}
		for (int digits = 0; *s >= '0' && *s <= '9' && digits < 2; digits++) {
			v = v * 10 + (unsigned)(*s++ - '0');
		}
		most = v > most ? v : most;
	}
	return most;
}

static int check_message(const struct mc *mc, const struct manifest_event *e, struct diag *d)
{
	const char *ref = e->message;
	size_t n = ref ? strlen(ref) : 0, fields = e->template ? e->template->item_count : 0;
	if (n < 11 || strncmp(ref, "$(string.", 9) != 0) {
		return 0;
	}
	for (const struct manifest_culture *c = mc->m->cultures; c; c = c->next) {
		for (size_t i = 0; i < c->string_count; i++) {
			const char *id = c->strings[i].id;
			unsigned most = strncmp(id, ref + 9, n - 10) == 0 && !id[n - 10]
						? highest_insert(c->strings[i].value)
						: 0;
			if (most > fields) {
				char text[128];
				snprintf(text, sizeof text,
					 "the message has the insert %%%%%u, the event %zu fields: '%%s'", most,
					 fields);
				return refuse(d, e->pos, text, ref);
			}
		}
	}
	return 0;
}

static int build_event(struct mc *mc, struct mc_provider *p, const struct manifest_event *e, struct diag *d)
{
	uint32_t bit = bit_of(p, e);
	int err = check_message(mc, e, d);
	if (err < 0) {
		return err;
	}
	if (e->not_logged) {
		return 0;
	}
	struct mc_event *v = &p->events[p->event_count++];
	v->e = e;
	v->bit = bit;
	v->channel = !e->channel_of && p->traits ? CHANNEL_PROVIDER_METADATA : e->channel;
	v->symbol = e->symbol && e->symbol[0]
			    ? e->symbol
			    : mc_text(mc, "%s_EVENT_0x%x_%x_%x_%x_%x_%x_%llx", p->symbol, e->id, e->version, v->channel,
				      e->level, e->opcode, e->task, (unsigned long long)e->keyword);
	v->codes = mc_codes(mc, e->template);
	if (!v->symbol || !v->codes) {
		return -ENOMEM;
	}
	if (!identifier_ok(v->symbol)) {
		return refuse(d, e->pos, "event symbol '%s' is no C identifier", v->symbol);
	}
	size_t n = mc->o.strip ? strlen(mc->o.strip) : 0;
	v->macro = n && strncasecmp(v->symbol, mc->o.strip, n) == 0 && v->symbol[n] ? v->symbol + n : v->symbol;
	return 0;
}

static int by_symbol(const void *a, const void *b)
{
	const struct mc_event *x = *(const struct mc_event *const *)a, *y = *(const struct mc_event *const *)b;
	int c = strcmp(x->symbol, y->symbol);
	return c ? c : (x < y ? -1 : x > y);
}

/* One symbol for two events would be a redefinition that only the C compiler finds. */
static int check_symbols(const struct mc_provider *p, struct diag *d)
{
	const struct mc_event **list = calloc(p->event_count + 1, sizeof *list);
	int err = list ? 0 : -ENOMEM;
	for (size_t i = 0; list && i < p->event_count; i++) {
		list[i] = &p->events[i];
	}
	if (list) {
		qsort(list, p->event_count, sizeof *list, by_symbol);
	}
	for (size_t i = 1; err == 0 && i < p->event_count; i++) {
		if (strcmp(list[i]->symbol, list[i - 1]->symbol) == 0) {
			err = refuse(d, list[i]->e->pos, "two events have the symbol '%s'", list[i]->symbol);
		}
	}
	free(list);
	return err;
}

static int build_provider(struct mc *mc, struct mc_provider *p, struct diag *d)
{
	const struct manifest_provider *m = p->p;
	p->symbol = m->symbol && m->symbol[0] ? m->symbol : NULL;
	p->mangled = mc_identifier(mc, m->name);
	if (!p->symbol) {
		return refuse(d, m->pos, "provider '%s' needs a symbol", m->name);
	}
	if (!identifier_ok(p->symbol)) {
		return refuse(d, m->pos, "provider symbol '%s' is no C identifier", p->symbol);
	}
	p->controlled = !guid_is_zero(&m->control_guid);
	p->traits = p->controlled || m->include_name || !guid_is_zero(&m->group_guid);
	mc->any_traits |= p->traits;
	p->reg = p->controlled ? mc_text(mc, "_%s", p->symbol) : p->mangled;
	p->handle = p->controlled ? mc_text(mc, "%s_Handle", p->symbol)
				  : mc_text(mc, "%sHandle", p->mangled ? p->mangled : "");
	p->events = arena_alloc(&mc->arena, (m->event_count + 1) * sizeof *p->events);
	p->bits = arena_alloc(&mc->arena, (m->event_count + 1) * sizeof *p->bits);
	if (mc->arena.failed) {
		return -ENOMEM;
	}
	int err = 0;
	for (const struct manifest_event *e = m->events; e && err == 0; e = e->next) {
		err = build_event(mc, p, e, d);
	}
	if (err == 0 && p->bit_count > 0xFFFF) {
		err = refuse(d, m->pos, "provider '%s' uses too many pairs of level and keywords", m->name);
	}
	return err == 0 ? check_symbols(p, d) : err;
}

int mc_build(const struct manifest *m, const struct mc_options *o, struct mc **ret, struct diag *d)
{
	struct mc *mc = calloc(1, sizeof *mc);
	if (!mc) {
		return -ENOMEM;
	}
	arena_init(&mc->arena, MANIFEST_MEMORY_MAX);
	mc->m = m;
	mc->o = *o;
	mc->o.prefix = o->prefix ? o->prefix : "EventWrite";
	for (const struct manifest_provider *p = m->providers; p; p = p->next) {
		mc->provider_count++;
	}
	mc->providers = arena_alloc(&mc->arena, mc->provider_count * sizeof *mc->providers);
	int err = mc->providers ? 0 : -ENOMEM;
	unsigned i = 0;
	for (const struct manifest_provider *p = m->providers; p && err == 0; p = p->next, i++) {
		if (i == PROVIDERS_MAX) {
			err = refuse(d, p->pos, "provider '%s' is one too many: at most 16", p->name);
			break;
		}
		mc->providers[i].p = p;
		mc->providers[i].index = i;
		err = build_provider(mc, &mc->providers[i], d);
	}
	if (err == 0) {
		err = mc_messages_build(mc, d);
	}
	if (err < 0) {
		mc_destroy(mc);
		return err;
	}
	*ret = mc;
	return 0;
}

void mc_destroy(struct mc *mc)
{
	if (mc) {
		arena_finish(&mc->arena);
		free(mc->messages);
		free(mc);
	}
}
