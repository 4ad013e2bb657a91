/* SPDX-License-Identifier: MIT */
#include "tools/export/profile.h"

#include <stdlib.h>

bool profile_begin(struct export *x)
{
	x->own = calloc(1, sizeof(struct profile));
	return x->own || export_fail(x, ENOMEM);
}

void profile_finish(struct export *x)
{
	struct profile *p = x->own;
	if (p) {
		stacks_free(&p->samples);
		stacks_free(&p->events);
		strbuf_finish(&p->text);
		free(p);
	}
	x->own = NULL;
}

void profile_process(const struct export_event *e, struct strbuf *b)
{
	size_t at = b->len;
	strbuf_addf(b, "%s (%u)", e->who->process ? e->who->process : "?", e->who->pid);
	for (; at < b->len; at++) {
		b->s[at] = b->s[at] == ';' ? ':' : b->s[at];
	}
}

/* The event's stack, with its process in front and, of an event that is no sample, its name behind. */
static uint32_t take(struct profile *p, struct stacks *s, const struct export_event *e)
{
	strbuf_clear(&p->text);
	profile_process(e, &p->text);
	if (p->text.failed) {
		s->failed = true;
		return STACKS_ROOT;
	}
	uint32_t node = stacks_node(s, STACKS_ROOT, stacks_frame(s, p->text.s, p->text.len));
	for (uint32_t i = e->frame_count; i-- > 0;) {
		node = stacks_line(s, node, e->frame[i].name, strlen(e->frame[i].name));
	}
	return node;
}

bool profile_event(struct export *x, const struct export_event *e)
{
	struct profile *p = x->own;
	if (e->what == EXPORT_STACK) {
		return true;
	}
	if (e->what == EXPORT_SAMPLE && (e->who->pid == 0 || e->who->tid == 0)) {
		p->idle++;
		return true;
	}
	if (e->frame_count == 0 && e->what != EXPORT_SAMPLE) {
		p->without_stack++;
		return true;
	}
	p->first_100ns = p->first_100ns ? BASE_MIN(p->first_100ns, e->time_100ns) : e->time_100ns;
	p->last_100ns = BASE_MAX(p->last_100ns, e->time_100ns);
	struct stacks *s = e->what == EXPORT_SAMPLE ? &p->samples : &p->events;
	uint32_t node = take(p, s, e);
	if (e->what == EXPORT_SAMPLE) {
		p->sample_count++;
	} else {
		p->event_count++;
		strbuf_clear(&p->text);
		strbuf_addf(&p->text, "%s/%s", e->provider, e->name);
		for (size_t i = 0; i < p->text.len; i++) {
			p->text.s[i] = p->text.s[i] == ';' ? ':' : p->text.s[i];
		}
		node = stacks_node(s, node, stacks_frame(s, p->text.s ? p->text.s : "", p->text.len));
	}
	stacks_weigh(s, node, 1);
	return (!s->failed && !p->text.failed) || export_fail(x, ENOMEM);
}

const struct stacks *profile_of(struct export *x, const char **ret_name)
{
	struct profile *p = x->own;
	if (p->sample_count + p->event_count == 0) {
		fprintf(stderr, "openetw %s: no samples of processors, and no events with call stacks, are selected\n",
			x->args->command->name);
		export_fail(x, ENODATA);
		return NULL;
	}
	export_miss_n(x, "samples of idle processors: left out", p->idle);
	export_miss_n(x, "events without a call stack: left out", p->without_stack);
	if (p->sample_count) {
		export_miss_n(x, "other events with call stacks: left out (select them alone for a profile of them)",
			      p->event_count);
	}
	x->written = p->sample_count ? p->sample_count : p->event_count;
	*ret_name = p->sample_count ? "CPU samples" : "events";
	return p->sample_count ? &p->samples : &p->events;
}
