/* SPDX-License-Identifier: MIT
 * Verbs of wpr that record nothing: -status, -profiles, -profiledetails, -exportprofile, -merge, and the
 * interval of samples.
 */
#include "tools/common/counters.h"
#include "tools/common/output.h"
#include "tools/common/kernel_options.h"
#include "tools/wpt/wpr.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* "Profile                 : CPU.Verbose.Memory, Web.Light.Memory" */
static void print_profiles(const struct wpr *w)
{
	printf("Profile                 : ");
	for (const char *p = w->names; *p;) {
		size_t n = strcspn(p, "+");
		printf("%.*s.%s", (int)n, p, profile_mode_text(w->profile->mode));
		fputs(p[n] ? ", " : "\n", stdout);
		p += n + (p[n] == '+');
	}
}

int wpr_run_status(struct wpr *w)
{
	struct cli_args *a = w->args;
	bool profiles = false, collectors = false, details = w->o->details;
	for (int i = -1; i < a->count; i++) {
		const char *v = i < 0 ? cli_words_last(&w->o->verb.values) : a->words[i];
		if (strcasecmp(v, "profiles") == 0) {
			profiles = true;
		} else if (strcasecmp(v, "collectors") == 0) {
			collectors = true;
		} else if (strcasecmp(v, "details") == 0) {
			details = true;
		} else if (*v) {
			return cli_usage(a, "-status takes profiles, collectors and details, not '%s'", v);
		}
	}
	if (!wpr_state_open(w, false)) {
		return CLI_FAILED;
	}
	if (!wpr_state_load(w) || !wpr_sessions_run(w)) {
		printf("WPR is not recording\n");
		return CLI_OK;
	}
	struct wpr_totals t;
	wpr_sessions_totals(w, &t);
	unsigned long long s = (clock_filetime() - w->started) / 10000000;
	printf("WPR recording is in progress...\n\n");
	printf("Time since start        : %02llu:%02llu:%02llu\n", s / 3600, s / 60 % 60, s % 60);
	printf("Dropped event           : %llu\n", (unsigned long long)t.events_lost);
	printf("Logging mode            : %s\n", profile_mode_text(w->profile->mode));
	if (profiles) {
		printf("\nRecording system activity using the following set of profiles:\n\n");
		print_profiles(w);
	}
	if (collectors || details) {
		printf("\nActively recording collectors:\n");
		wpr_print_details(w->profile, w->instance, true);
	}
	return CLI_OK;
}

int wpr_run_profiles(struct wpr *w)
{
	const char *file = cli_words_last(&w->o->verb.values);
	int status;
	struct profile_doc *doc = wpr_document(*file ? file : NULL, &status);
	if (!doc) {
		return status;
	}
	printf("%s\n\n", *file ? "Profiles of the file:" : "Built-in profiles:");
	for (const struct profile_entry *e = profile_entries(doc); e; e = e->next) {
		bool first = !e->internal && !e->broken;
		for (const struct profile_entry *b = profile_entries(doc); b != e; b = b->next) {
			first = first && (b->broken || strcmp(b->name, e->name) != 0);
		}
		if (!first) {
			continue;
		}
		printf("\t%-24s %s\n\t%-24s ", e->name, e->description, "");
		for (const struct profile_entry *b = e; b; b = b->next) {
			if (!b->broken && strcmp(b->name, e->name) == 0) {
				printf(" %s.%s", profile_detail_text(b->detail), profile_mode_text(b->mode));
			}
		}
		printf("\n");
	}
	profile_close(doc);
	return CLI_OK;
}

/* Where the first of "P+P" ends. A '+' in the path of a profile that is there is part of it. */
static char *joint(char *joined)
{
	char *plus = strchr(joined, '+'), *mark = strchr(joined, '!');
	if (plus && mark && plus < mark) {
		*mark = 0;
		bool path = access(joined, F_OK) == 0;
		*mark = '!';
		plus = path ? strchr(mark, '+') : plus;
	} else if (plus && !mark && access(joined, F_OK) == 0) {
		return NULL; /* a file's only or default profile */
	}
	return plus;
}

/* "P+P" apart, then as -start does. */
static int choose_joined(struct wpr *w, const char *joined)
{
	const char *words[WPR_PROFILES_MAX];
	char *copy = strdup(joined), *rest = copy;
	int n = 0;
	while (rest && n < WPR_PROFILES_MAX) {
		char *end = joint(rest);
		words[n++] = rest;
		rest = end ? end + 1 : NULL;
		if (end) {
			*end = 0;
		}
	}
	int status = copy ? wpr_choose(w, words, n, w->o->file_mode) : CLI_FAILED;
	free(copy);
	return status;
}

int wpr_run_details(struct wpr *w)
{
	unsigned providers;
	int status = choose_joined(w, cli_words_last(&w->o->verb.values));
	if (status) {
		return status;
	}
	print_profiles(w);
	wpr_print_details(w->profile, w->instance, false);
	fflush(stdout);
	wpr_check_sources(w, true, &providers);
	return CLI_OK;
}

int wpr_run_export(struct wpr *w)
{
	struct cli_args *a = w->args;
	if (a->count != 1) {
		return cli_usage(a, "-exportprofile takes a profile and the file to write");
	}
	int status = choose_joined(w, cli_words_last(&w->o->verb.values));
	if (status) {
		return status;
	}
	struct strbuf b = {0};
	profile_write(w->profile, &b);
	struct cli_output *o = b.failed ? NULL : cli_output_open(a, a->words[0], true);
	if (o) {
		fwrite(b.s, 1, b.len, cli_output_file(o));
	}
	bool ok = o && cli_output_close(o, true) == CLI_OK;
	strbuf_finish(&b);
	return ok ? CLI_OK : wpr_fail(WPR_HRESULT(29), "Cannot write %s", a->words[0]);
}

int wpr_run_merge(struct wpr *w)
{
	struct cli_args *a = w->args;
	if (a->count == 0) {
		return cli_usage(a, "-merge takes files and, last, the one to write");
	}
	const char *to = a->words[a->count - 1];
	const char **files = calloc((size_t)a->count, sizeof *files);
	if (!files) {
		return wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot merge");
	}
	files[0] = cli_words_last(&w->o->verb.values);
	for (int i = 0; i + 1 < a->count; i++) {
		files[i + 1] = a->words[i];
	}
	int status = cli_merge_files(a, files, (uint32_t)a->count, to, w->o->compress);
	free(files);
	return status && !cli_interrupted() ? wpr_fail(WPR_HRESULT(29), "Cannot merge into %s.", to) : status;
}

static uint32_t interval_of(const struct pmc_source *s, uint32_t *ret)
{
	TRACE_PROFILE_INTERVAL v = {.Source = s->id};
	ULONG bytes;
	uint32_t code = TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &v, sizeof v, &bytes);
	*ret = code ? s->interval : v.Interval;
	return code;
}

/* -resetprofint without a source: those that are not as they were. */
static uint32_t reset_all(void)
{
	struct pmc_source *all = calloc(PMC_SOURCES_MAX, sizeof *all);
	size_t n = all ? BASE_MIN(pmc_list(all, PMC_SOURCES_MAX), (size_t)PMC_SOURCES_MAX) : 0;
	uint32_t code = all ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	for (size_t i = 0; i < n && code == ERROR_SUCCESS; i++) {
		uint32_t now;
		if (interval_of(&all[i], &now) == ERROR_SUCCESS && now != all[i].interval) {
			code = cli_kernel_set_interval(all[i].id, all[i].interval);
		}
	}
	free(all);
	return code;
}

/* In the range and the words of Windows' wpr; the name of a source may follow. */
int wpr_run_interval(struct wpr *w, const char *verb)
{
	struct cli_args *a = w->args;
	bool set = strcmp(verb, "setprofint") == 0, reset = strcmp(verb, "resetprofint") == 0;
	const char *name = a->count > 0 ? a->words[0] : "Timer";
	struct pmc_source s;
	uint64_t n = 0;
	uint32_t now, code = ERROR_SUCCESS;
	if (a->count > 1) {
		return cli_usage(a, "'%s' belongs to no option", a->words[1]);
	}
	if (!cli_counters_source(a, name, strlen(name), &s)) {
		return CLI_USAGE;
	}
	/* Windows takes 1221, and instructions say so; etwd sets what is nearest. */
	const struct cli_option row = {.name = "setprofint", .min = s.id == 0 ? 1221 : s.least, .max = s.most};
	if (set && !cli_take_number(a, &row, cli_words_last(&w->o->verb.values), &n)) {
		return CLI_USAGE;
	}
	if (reset && a->count == 0) {
		code = reset_all();
	} else if (set || reset) {
		code = cli_kernel_set_interval(s.id, set ? (uint32_t)n : s.interval);
	}
	if (code) {
		return wpr_fail_call(code, "cannot set the interval of samples");
	}
	code = interval_of(&s, &now);
	if (code) {
		return wpr_fail_call(code, "cannot tell the interval of samples");
	}
	printf("%s Profile Interval = %u", set || reset ? "New" : "Current", now);
	printf(s.id == 0 ? " [%.4fms]\n" : "\n", (double)now / 10000); /* others count events */
	return CLI_OK;
}
