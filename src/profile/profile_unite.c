/* SPDX-License-Identifier: MIT
 * Several profiles as one recording: collectors of one name are one session, providers of one name
 * are enabled once, and each profile gets at least what it asked for.
 */
#include "profile/profile_private.h"

#include <strings.h>

struct unite {
	struct profile *to;
	struct profile_hooks hooks;
	bool failed;
};

static void *need(struct unite *u, size_t n)
{
	void *p = arena_alloc(&u->to->arena, n);
	u->failed = u->failed || !p;
	return p;
}

static const char *text(struct unite *u, const char *s)
{
	char *c = s ? arena_text(&u->to->arena, s, strlen(s)) : NULL;
	u->failed = u->failed || (s && !c);
	return c;
}

static void warn(struct unite *u, const char *fmt, const char *name)
{
	char line[400];
	struct strbuf b = {0};
	strbuf_addf(&b, "%s: %s", name, fmt);
	memcpy(line, b.s ? b.s : "", BASE_MIN(b.len, sizeof line - 1));
	line[BASE_MIN(b.len, sizeof line - 1)] = 0;
	strbuf_finish(&b);
	if (u->hooks.warn) {
		u->hooks.warn(u->hooks.ctx, line);
	}
}

static void words(struct unite *u, struct profile_word **to, const struct profile_word *from)
{
	for (; from; from = from->next) {
		struct profile_word **p = to;
		while (*p && strcasecmp((*p)->text, from->text) != 0) {
			p = &(*p)->next;
		}
		if (*p) {
			(*p)->strict = (*p)->strict || from->strict;
			continue;
		}
		struct profile_word *w = need(u, sizeof *w);
		if (!w) {
			return;
		}
		w->text = text(u, from->text);
		w->strict = from->strict;
		*p = w;
	}
}

static void state(struct unite *u, struct profile_state *to, const struct profile_state *from)
{
	if (!from->wanted) {
		return;
	}
	bool all = (to->wanted && !to->has_keywords) || !from->has_keywords;
	to->wanted = true;
	to->has_keywords = !all;
	to->keywords = all ? 0 : to->keywords | from->keywords;
	to->timeout_s = BASE_MAX(to->timeout_s, from->timeout_s);
	words(u, &to->words, from->words);
}

/* Filters of the united provider let through what either lets through. Where that has no such
 * filter as its form, there is none. */
static void ids(struct unite *u, struct profile_ids *to, const struct profile_ids *from, const char *name)
{
	if (!to->present || !from->present) {
		if (to->present || from->present) {
			warn(u, "only one profile filters its events, so the recording does not", name);
		}
		to->present = false;
		return;
	}
	if (to->in != from->in) {
		warn(u, "one profile lists events to take, the other events to leave; all are recorded", name);
		to->present = false;
		return;
	}
	if (to->in) {
		for (uint32_t i = 0; i < from->count; i++) {
			uint32_t k = 0;
			while (k < to->count && to->id[k] != from->id[i]) {
				k++;
			}
			if (k == to->count && to->count == PROFILE_IDS_MAX) {
				warn(u, "together too many event ids for a filter; all are recorded", name);
				to->present = false;
				return;
			}
			to->id[k] = from->id[i];
			to->count = BASE_MAX(to->count, k + 1);
		}
		return;
	}
	uint32_t n = 0; /* left out is what both leave out */
	for (uint32_t i = 0; i < to->count; i++) {
		for (uint32_t k = 0; k < from->count; k++) {
			if (from->id[k] == to->id[i]) {
				to->id[n++] = to->id[i];
				break;
			}
		}
	}
	to->count = n;
	to->present = n > 0;
}

static bool same_words(const struct profile_word *a, const struct profile_word *b)
{
	while (a && b && strcmp(a->text, b->text) == 0) {
		a = a->next;
		b = b->next;
	}
	return !a && !b;
}

static void names(struct unite *u, struct profile_names *to, const struct profile_names *from, const char *name)
{
	if (!to->present && !from->present) {
		return;
	}
	if (!to->present || !from->present || to->in != from->in || (!to->in && !same_words(to->names, from->names))) {
		warn(u, "the profiles filter its events differently; all are recorded", name);
		to->present = false;
		return;
	}
	to->level = BASE_MAX(to->level, from->level);
	to->keywords |= from->keywords;
	words(u, &to->names, from->names);
}

static void copy_names(struct unite *u, struct profile_names *to)
{
	const struct profile_word *from = to->names;
	to->names = NULL;
	words(u, &to->names, from);
}

static struct profile_provider *copy_provider(struct unite *u, const struct profile_provider *from)
{
	struct profile_provider *p = need(u, sizeof *p);
	if (!p) {
		return NULL;
	}
	*p = *from;
	p->next = NULL;
	p->id = text(u, from->id);
	p->name = text(u, from->name);
	p->exe = text(u, from->exe);
	struct profile_word **lists[] = {&p->system_keywords, &p->stacks,        &p->pool_tags,      &p->processes,
					 &p->on_start.words,  &p->on_save.words, &p->on_demand.words};
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		const struct profile_word *list = *lists[i];
		*lists[i] = NULL;
		words(u, lists[i], list);
	}
	copy_names(u, &p->event_names);
	copy_names(u, &p->stack_names);
	return p;
}

static void unite_provider(struct unite *u, struct profile_provider *to, const struct profile_provider *from)
{
	to->level = to->level == 0 || from->level == 0 ? 0 : BASE_MAX(to->level, from->level);
	/* 0 asks for everything. */
	to->keywords = to->keywords == 0 || from->keywords == 0 ? 0 : to->keywords | from->keywords;
	if (to->stack != from->stack || (to->stack && (to->stack_events.present != from->stack_events.present))) {
		/* Who has stacks of everything rules. */
		const struct profile_provider *rules =
			to->stack && (!from->stack || !to->stack_events.present) ? to : from;
		to->stack_events = rules->stack_events;
		to->stack_names = rules->stack_names;
		copy_names(u, &to->stack_names);
	} else if (to->stack) {
		ids(u, &to->stack_events, &from->stack_events, to->name);
		names(u, &to->stack_names, &from->stack_names, to->name);
	}
	to->stack = to->stack || from->stack;
	to->sid = to->sid || from->sid;
	to->tsid = to->tsid || from->tsid;
	to->event_key = to->event_key || from->event_key;
	to->non_paged = to->non_paged || from->non_paged;
	to->capture_only = to->capture_only && from->capture_only;
	to->strict = to->strict || from->strict;
	state(u, &to->on_start, &from->on_start);
	state(u, &to->on_save, &from->on_save);
	state(u, &to->on_demand, &from->on_demand);
	ids(u, &to->events, &from->events, to->name);
	names(u, &to->event_names, &from->event_names, to->name);
	if (to->exe && (!from->exe || strcasecmp(to->exe, from->exe) != 0)) {
		warn(u, "the profiles name different programs; all are recorded", to->name);
		to->exe = NULL;
	} else if (!to->exe && from->exe) {
		warn(u, "only one profile names a program; all are recorded", to->name);
	}
	words(u, &to->system_keywords, from->system_keywords);
	words(u, &to->stacks, from->stacks);
	words(u, &to->pool_tags, from->pool_tags);
	words(u, &to->processes, from->processes);
}

static bool same_provider(const struct unite *u, const char *a, const char *b)
{
	return strcasecmp(a, b) == 0 || (u->hooks.same_provider && u->hooks.same_provider(u->hooks.ctx, a, b));
}

/* The kernel and the heap have one provider each. */
static void add_provider(struct unite *u, struct profile_collector *c, const struct profile_provider *from)
{
	struct profile_provider **p = &c->providers;
	while (*p && c->kind == PROFILE_EVENT && !same_provider(u, (*p)->name, from->name)) {
		p = &(*p)->next;
	}
	if (*p) {
		unite_provider(u, *p, from);
	} else {
		*p = copy_provider(u, from);
	}
}

/* Two files may define one name: the first definition for a processor counts. */
static void definitions(struct unite *u, struct profile_defined **list, const struct profile_defined *from)
{
	for (; from && !u->failed; from = from->next) {
		struct profile_defined **end = list;
		while (*end &&
		       !(strcasecmp((*end)->name, from->name) == 0 &&
			 strcasecmp((*end)->architecture, from->architecture) == 0 && (*end)->family == from->family &&
			 (*end)->model == from->model && (*end)->stepping == from->stepping)) {
			end = &(*end)->next;
		}
		struct profile_defined *d = *end ? NULL : need(u, sizeof *d);
		if (d) {
			*d = *from;
			d->next = NULL;
			d->name = text(u, from->name);
			d->architecture = text(u, from->architecture);
			d->extended = text(u, from->extended);
			*end = d;
		}
	}
}

static void add_collector(struct unite *u, const struct profile_collector *from)
{
	struct profile_collector **p = &u->to->collectors;
	/* There is one kernel: whatever its collectors are called, they are one session. */
	while (*p && ((*p)->kind != from->kind ||
		      (from->kind != PROFILE_SYSTEM && strcasecmp((*p)->name, from->name) != 0))) {
		p = &(*p)->next;
	}
	struct profile_collector *c = *p;
	if (!c) {
		c = need(u, sizeof *c);
		if (!c) {
			return;
		}
		*c = *from;
		c->next = NULL;
		c->providers = NULL;
		c->counting = (struct profile_counters){.refused = from->counting.refused};
		c->id = text(u, from->id);
		c->name = text(u, from->name);
		c->file_name = text(u, from->file_name);
		*p = c;
	} else { /* the larger one is enough for both */
		uint64_t have = (uint64_t)c->buffers * c->buffer_kb;
		uint64_t more = (uint64_t)from->buffers * from->buffer_kb;
		if (c->percent_hundredths ? from->percent_hundredths > c->percent_hundredths
					  : from->percent_hundredths || more > have) {
			c->buffers = from->buffers;
			c->percent_hundredths = from->percent_hundredths;
			c->percent_most_mb = from->percent_most_mb;
			c->buffers_per_cpu = from->buffers_per_cpu;
		}
		c->buffer_kb = BASE_MAX(c->buffer_kb, from->buffer_kb);
		c->file_most_mb =
			c->file_most_mb && from->file_most_mb ? BASE_MAX(c->file_most_mb, from->file_most_mb) : 0;
		c->circular = c->circular && from->circular && c->file_most_mb;
		c->realtime = c->realtime || from->realtime;
		c->secure = c->secure || from->secure;
	}
	words(u, &c->counting.counters, from->counting.counters);
	words(u, &c->counting.events, from->counting.events);
	words(u, &c->counting.sampled, from->counting.sampled);
	definitions(u, &c->counting.defined, from->counting.defined);
	c->counting.strict = c->counting.strict || from->counting.strict;
	for (const struct profile_provider *f = from->providers; f && !u->failed; f = f->next) {
		add_provider(u, c, f);
	}
}

int profile_unite(struct profile *into, const struct profile *more, const struct profile_hooks *hooks)
{
	struct unite u = {.to = into};
	if (hooks) {
		u.hooks = *hooks;
	}
	if (into->mode != more->mode) {
		return -EINVAL;
	}
	for (const struct profile_collector *c = more->collectors; c && !u.failed; c = c->next) {
		add_collector(&u, c);
	}
	profile_order_collectors(into);
	into->strict = into->strict || more->strict;
	into->compress = into->compress || more->compress;
	into->skip_merge = into->skip_merge || more->skip_merge;
	into->inject_only = into->inject_only || more->inject_only;
	into->keep_parts = into->keep_parts || more->keep_parts;
	words(&u, &into->custom_events, more->custom_events);
	words(&u, &into->problems, more->problems);
	return u.failed ? -ENOMEM : 0;
}
