/* SPDX-License-Identifier: MIT */
#include "tools/common/session_options.h"
#include "tools/common/counters.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>

#define HOOK_CSWITCH    0x0524u
#define HOOK_PMC_SAMPLE 0x0F2Fu

static const char *name_at(const void *ctx, int i)
{
	(void)ctx;
	return pmc_known_name((size_t)i);
}

static const char *event_at(const void *ctx, int i)
{
	uint16_t hook;
	(void)ctx;
	return kernel_stack_name_at((size_t)i, &hook);
}

/* Among the definitions of the caller's. -ENOENT: there is none of that name. */
static int find_defined(const struct cli_counters *c, const char *text, size_t n, struct pmc_source *ret,
			struct diag *d)
{
	struct pmc_processor p;
	int err = -ENOENT;
	pmc_processor(NULL, &p);
	for (uint32_t i = 0; c && i < c->defineds && err != 0; i++) {
		if (strlen(c->defined[i].name) == n && strncasecmp(c->defined[i].name, text, n) == 0) {
			diag_clear(d);
			err = pmc_define(&c->defined[i], &p, ret, d);
		}
	}
	return err == -EINVAL ? -ENODEV : err;
}

static bool find(const struct cli_args *a, const char *text, size_t n, struct pmc_source *ret,
		 const struct cli_counters *c, bool *ret_here)
{
	struct diag d;
	char word[64];
	bool lenient = c && c->lenient;
	diag_clear(&d);
	int err = pmc_find_name(text, n, ret, &d);
	if (err == -ENOENT) {
		struct diag why;
		int found = find_defined(c, text, n, ret, &why);
		if (found != -ENOENT) {
			err = found;
			d = why;
		}
	}
	snprintf(word, sizeof word, "%.*s", (int)n, text);
	if (err == -ENOENT) {
		const char *near = cli_nearest(word, name_at, NULL);
		cli_usage(a, near ? "%s; is %s meant? ('openetw pmc' lists them)" : "%s ('openetw pmc' lists them)",
			  d.text, near);
	} else if (err < 0 && lenient) {
		fprintf(stderr, "%s: warning: without %s\n", a->command->name, d.text);
	} else if (err < 0) {
		cli_fail(a, ERROR_NOT_SUPPORTED, "%s", d.text);
	}
	*ret_here = err == 0;
	return err == 0 || (lenient && err == -ENODEV);
}

bool cli_counters_source(const struct cli_args *a, const char *text, size_t n, struct pmc_source *ret)
{
	bool here;
	return find(a, text, n, ret, NULL, &here);
}

bool cli_counters_list(const struct cli_args *a, const char *text, struct cli_counters *c)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, ",");
		struct pmc_source source;
		bool here;
		if (!find(a, s, n, &source, c, &here)) {
			return false;
		}
		if (!here) {
			s += n + (s[n] != 0);
			continue;
		}
		if (source.id == PMC_TIMER) {
			cli_usage(a, "the timer is a source of samples, and no counter");
			return false;
		}
		if (c->counters == PMC_COUNTERS_MAX) {
			cli_usage(a, "up to %u counters at a time, not '%s'", PMC_COUNTERS_MAX, text);
			return false;
		}
		c->counter[c->counters++] = source.id;
		s += n + (s[n] != 0);
	}
	return true;
}

bool cli_counters_events(const struct cli_args *a, const char *text, struct cli_counters *c)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "+,");
		char word[64];
		uint16_t hook;
		snprintf(word, sizeof word, "%.*s", (int)n, s);
		/* The flag of that name is what people write for the event: CSWITCH. */
		if (!kernel_stack_find(s, n, &hook)) {
			const char *near = cli_nearest(word, event_at, NULL);
			cli_usage(a,
				  near ? "'%s' is no kernel event; is %s meant?"
				       : "'%s' is no kernel event, such as CSwitch, SyscallEnter or 0x0524",
				  word, near);
			return false;
		}
		if (c->events == PMC_EVENTS_MAX) {
			cli_usage(a, "counters go with up to %u events", PMC_EVENTS_MAX);
			return false;
		}
		c->event[c->events++] = hook;
		s += n + (s[n] != 0);
	}
	return true;
}

bool cli_counters_parse(const struct cli_args *a, const char *text, struct cli_counters *c)
{
	char names[512];
	const char *colon = strrchr(text, ':');
	struct pmc_source s;
	/* Events of a processor of two kinds have a colon in their names. */
	if (colon && !strchr(colon, ',') && pmc_find_name(text, strlen(text), &s, NULL) == 0) {
		colon = NULL;
	}
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	if (n >= sizeof names) {
		cli_usage(a, "up to %u counters at a time", PMC_COUNTERS_MAX);
		return false;
	}
	memcpy(names, text, n);
	names[n] = 0;
	return cli_counters_list(a, names, c) && cli_counters_events(a, colon ? colon + 1 : "CSwitch", c);
}

bool cli_counters_sampled(const struct cli_args *a, const char *text, struct cli_counters *c)
{
	struct pmc_source s;
	size_t n = strcspn(text, "=");
	uint64_t interval = 0;
	bool here = false;
	if (!find(a, text, n, &s, c, &here)) {
		return false;
	}
	if (!here) {
		return true;
	}
	if (text[n]) {
		if (!parse_number(text + n + 1, s.least, s.most, &interval)) {
			cli_usage(a, "%s: a sample every %u to %u of its events, not '%s'", s.name, s.least, s.most,
				  text + n + 1);
			return false;
		}
	}
	if (c->sampleds == PMC_SAMPLED_MAX) {
		cli_usage(a, "samples are taken by up to %u sources beside the timer", PMC_SAMPLED_MAX);
		return false;
	}
	c->sampled[c->sampleds++] = (struct kernel_sampled){s.id, (uint32_t)interval};
	return true;
}

void cli_counters_wants(struct kernel_options *o, const struct cli_counters *c, bool stacks)
{
	const struct kernel_hook_range *r;
	memcpy(o->session.counter, c->counter, sizeof c->counter);
	o->session.counters = c->counters;
	memcpy(o->session.counted, c->event, sizeof c->event);
	o->session.counteds = c->counters ? c->events : 0;
	memcpy(o->sampled, c->sampled, sizeof c->sampled);
	o->sampleds = c->sampleds;
	for (uint32_t i = 0; i < o->session.counteds; i++) {
		bool there = false;
		for (size_t n = 0; (r = kernel_hook_range_at(n)) != NULL; n++) {
			there |= c->event[i] >= r->first && c->event[i] <= r->last &&
				 kernel_mask_has(&o->session.mask, r->bits);
		}
		for (size_t n = 0; !there && (r = kernel_hook_range_at(n)) != NULL; n++) {
			if (c->event[i] >= r->first && c->event[i] <= r->last) {
				kernel_mask_set(&o->session.mask, r->bits);
				there = true;
			}
		}
	}
	if (c->sampleds) {
		kernel_mask_set(&o->session.mask, KERNEL_BIT_PMC_PROFILE);
		if (stacks) {
			kernel_session_stack(&o->session, HOOK_PMC_SAMPLE);
		}
	}
}

/* ---- sessions of etwd's ------------------------------------------------------------------------ */

uint32_t cli_counters_set_sampled(const struct cli_counters *c)
{
	ULONG source[PMC_SAMPLED_MAX];
	uint32_t code = ERROR_SUCCESS;
	for (uint32_t i = 0; i < c->sampleds && code == ERROR_SUCCESS; i++) {
		TRACE_PROFILE_INTERVAL v = {.Source = c->sampled[i].source, .Interval = c->sampled[i].interval};
		source[i] = c->sampled[i].source;
		if (v.Interval) {
			code = TraceSetInformation(0, TraceSampledProfileIntervalInfo, &v, sizeof v);
		}
	}
	return c->sampleds == 0 || code ? code
					: TraceSetInformation(0, TraceProfileSourceConfigInfo, source,
							      (ULONG)(c->sampleds * sizeof *source));
}

uint32_t cli_counters_set(TRACEHANDLE session, const struct cli_counters *c)
{
	CLASSIC_EVENT_ID id[PMC_EVENTS_MAX];
	ULONG source[PMC_COUNTERS_MAX];
	struct guid g;
	if (!c->counters || !c->events) {
		return ERROR_SUCCESS;
	}
	memset(id, 0, sizeof id);
	for (uint32_t i = 0; i < c->events; i++) {
		if (!kernel_class_of_hook(c->event[i], &g)) {
			return ERROR_INVALID_PARAMETER;
		}
		memcpy(&id[i].EventGuid, g.b, 16);
		id[i].Type = (UCHAR)c->event[i];
	}
	for (uint32_t i = 0; i < c->counters; i++) {
		source[i] = c->counter[i];
	}
	uint32_t code =
		TraceSetInformation(session, TracePmcCounterListInfo, source, (ULONG)(c->counters * sizeof *source));
	return code ? code : TraceSetInformation(session, TracePmcEventListInfo, id, (ULONG)(c->events * sizeof *id));
}

/* As the options take it. */
static void put_source(FILE *f, const char *before, uint32_t id)
{
	struct pmc_source s = {.id = 0};
	(void)pmc_find(id, &s, NULL);
	if (id >= PMC_PACKED) {
		fprintf(f, "%s0x%X", before, id);
	} else {
		fprintf(f, "%s%s", before, s.name);
	}
}

void cli_counters_explain(FILE *f, const struct cli_counters *c)
{
	for (uint32_t i = 0; i < c->counters; i++) {
		put_source(f, i ? "," : " --pmc ", c->counter[i]);
	}
	for (uint32_t i = 0; c->counters && i < c->events; i++) {
		const char *name;
		uint16_t hook = 0;
		size_t n = 0;
		while ((name = kernel_stack_name_at(n, &hook)) != NULL && hook != c->event[i]) {
			n++;
		}
		fprintf(f, "%c", i ? '+' : ':');
		if (name) {
			fprintf(f, "%s", name);
		} else {
			fprintf(f, "0x%04X", c->event[i]);
		}
	}
	for (uint32_t i = 0; i < c->sampleds; i++) {
		put_source(f, " --pmc-sample ", c->sampled[i].source);
		if (c->sampled[i].interval) {
			fprintf(f, "=%u", c->sampled[i].interval);
		}
	}
}

/* As Windows' tools lay it out, for scripts that read it. */
int cli_counters_print(const struct cli_args *a)
{
	struct pmc_source *all = calloc(PMC_SOURCES_MAX, sizeof *all);
	size_t n = all ? pmc_list(all, PMC_SOURCES_MAX) : 0, i;
	struct pmc_source s;
	struct diag d;
	if (!all) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
	}
	printf("Maximum selectable profile sources: %u.\n\n", pmc_most() + 1);
	printf("%-3s %-32s %8s %5s %10s\n", "Id", "Name", "Interval", "Min", "Max");
	printf("--------------------------------------------------------------\n");
	for (i = 0; i < BASE_MIN(n, (size_t)PMC_SOURCES_MAX); i++) {
		TRACE_PROFILE_INTERVAL v = {.Source = all[i].id};
		ULONG bytes;
		/* Where no etwd can be asked, intervals are those that nobody has changed. */
		bool told = TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &v, sizeof v, &bytes) ==
			    ERROR_SUCCESS;
		printf("%3u %-32s %8u %5u %10u\n", all[i].id, all[i].name, told ? v.Interval : all[i].interval,
		       all[i].least, all[i].most);
	}
	free(all);
	diag_clear(&d);
	if (pmc_find(26, &s, &d) < 0) {
		fprintf(stderr, "%s: without the processor's own counters: %s\n", a->command->name, d.text);
	}
	return CLI_OK;
}

static const char *source_name(uint32_t id, char buffer[PMC_NAME_MAX])
{
	struct pmc_source s;
	if (pmc_find(id, &s, NULL) == 0) {
		snprintf(buffer, PMC_NAME_MAX, "%s", s.name);
	} else {
		snprintf(buffer, PMC_NAME_MAX, "%u", id);
	}
	return buffer;
}

int cli_counters_sessions(const struct cli_args *a)
{
	uint8_t info[8192];
	ULONG bytes = 0;
	char buffer[PMC_NAME_MAX];
	uint32_t code = TraceQueryInformation(0, TracePmcSessionInformation, info, sizeof info, &bytes);
	if (code) {
		return cli_fail(a, code, "cannot list the sessions that count");
	}
	for (ULONG at = 0; at + sizeof(ETW_PMC_SESSION_INFO) <= bytes;) {
		ETW_PMC_SESSION_INFO s;
		struct cli_props p;
		memcpy(&s, info + at, sizeof s);
		ULONG sources = at + (ULONG)sizeof s, hooks = sources + 4 * s.ProfileSourceCount;
		cli_props_init(&p);
		code = ControlTraceA(s.LoggerId, NULL, &p.p, EVENT_TRACE_CONTROL_QUERY);
		printf("%u %s: ", s.LoggerId, code ? "?" : p.name);
		for (ULONG i = 0; i < s.ProfileSourceCount && sources + 4 * i + 4 <= bytes; i++) {
			printf("%s%s", i ? "," : "", source_name(le32_get(info + sources + (size_t)4 * i), buffer));
		}
		for (ULONG i = 0; i < s.HookIdCount && hooks + 2 * i + 2 <= bytes; i++) {
			uint16_t hook, of = le16_get(info + hooks + (size_t)2 * i);
			const char *name;
			size_t n = 0;
			while ((name = kernel_stack_name_at(n, &hook)) != NULL && hook != of) {
				n++;
			}
			snprintf(buffer, sizeof buffer, "0x%04X", of);
			printf("%s%s", i ? "+" : " with ", name ? name : buffer);
		}
		printf("\n");
		if (s.NextEntryOffset == 0) {
			break;
		}
		at += s.NextEntryOffset;
	}
	return CLI_OK;
}
