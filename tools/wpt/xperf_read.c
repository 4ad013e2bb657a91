/* SPDX-License-Identifier: MIT
 * xperf -i FILE… [-o OUT] [options] [-a ACTION [its options]]…: the command line of reports. What stands behind
 * an -a up to the next one belongs to that action; options of the whole may stand anywhere.
 */
#include "tools/common/session_options.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "base/vec.h"
#include "tools/wpt/xperf.h"
#include "tools/wpt/xperf_action.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define ACTIONS_MAX 32

struct action_words {
	const char *name;
	char **word;
	int count, cap;
	const char *out, *errors; /* -ao, -ae */
};
struct report {
	struct cli_words files;
	const char *out;
	bool quiet, explain;
	struct report_actions {
		struct action_words at[ACTIONS_MAX];
		int count;
	} actions;
	struct cli_args *a;
};

static bool belongs_nowhere(const struct cli_args *a, const char *word)
{
	cli_usage(a, "'%s' belongs to no option of -i; the options of an action stand behind its -a", word);
	return false;
}

static bool take_file(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	cli_path_input((char *)(uintptr_t)value); /* a word of the command line */
	return cli_take_words(a, o, value, member);
}

static bool take_action(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct report_actions *all = member;
	if (all->count == ACTIONS_MAX) {
		cli_usage(a, "more than %d actions", ACTIONS_MAX);
		return false;
	}
	all->at[all->count++] = (struct action_words){.name = value};
	return true;
}

/* -ao and -ae, which belong to the action before them */
static bool take_redirection(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct report_actions *all = member;
	if (all->count == 0) {
		return belongs_nowhere(a, cli_quoted("-%s", o->name));
	}
	struct action_words *k = &all->at[all->count - 1];
	*(o->name[1] == 'o' ? &k->out : &k->errors) = value;
	return true;
}

/* A word of the action before it. */
static bool take_other(const struct cli_args *a, char *word)
{
	struct report *r = a->given;
	if (r->actions.count == 0) {
		return belongs_nowhere(a, word);
	}
	struct action_words *k = &r->actions.at[r->actions.count - 1];
	if (!VEC_ROOM(k->word, k->count, k->cap)) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
		return false;
	}
	k->word[k->count++] = word;
	return true;
}

static bool wants_symbols(int index, const char *word, int words)
{
	return strcasecmp(word, "cacheonly") == 0 || strcasecmp(word, "verbose") == 0 ||
	       strcasecmp(word, "dbghelplog") == 0;
}

/* Of the whole, wherever they stand. */
static const struct cli_option report_options[] = {
	CLI_OWN(report, files, struct cli_words, take_file, 0, "i", "FILE…", "the files"),
	CLI_WORD(report, out, 0, "o", "FILE", "where the report goes"),
	CLI_OWN(report, actions, struct report_actions, take_action, 0, "a", "ACTION", "a report"),
	CLI_OWN(report, actions, struct report_actions, take_redirection, 0, "ao", "FILE", "where this one goes"),
	CLI_OWN(report, actions, struct report_actions, take_redirection, 0, "ae", "FILE", "what is said about it"),
	{.name = "symbols", .arg = "[WHAT…]", .help = "accepted: names are always looked up", .wants = wants_symbols},
	{.name = "target", .arg = "WHAT", .help = "accepted: human or machine", .values = "human|machine"},
	CLI_FLAG(report, quiet, 0, "quiet", "no progress"),
	CLI_ACCEPTED(0, "tle", NULL, "lost events are tolerated in any case"),
	CLI_ACCEPTED(0, "tti", NULL, "times that run backwards are tolerated in any case"),
	CLI_FLAG(report, explain, 0, "explain", "print the openetw line"),
	{0},
};

bool xperf_is_report(const struct cli_args *a)
{
	for (int i = 0; i < a->count; i++) {
		const char *w = a->words[i];
		if ((*w == '-' || *w == '/') && strcasecmp(w + 1, "i") == 0) {
			return true;
		}
	}
	return false;
}

static char **files_of(const struct report *r)
{
	return (char **)(uintptr_t)r->files.text; /* words of the command line */
}

static int no_such_action(struct cli_args *a, const char *name)
{
	struct strbuf all = {0};
	const char *near = cli_nearest(name, xperf_action_name, NULL), *each;
	for (int i = 0; (each = xperf_action_name(NULL, i)) != NULL; i++) {
		strbuf_addf(&all, "%s%s", i ? ", " : "", each);
	}
	int status = near ? cli_usage(a, "there is no action '%s'; is %s meant?", name, near)
			  : cli_usage(a, "there is no action '%s'; these are: %s", name, all.s ? all.s : "");
	strbuf_finish(&all);
	return status;
}

/* ---- the dumper, whose text is made in two passes ------------------------------------------------------- */

struct dumper_options {
	struct dumper_providers {
		GUID guid[64];
		size_t count;
	} only;
	bool raw_data;
};

static bool take_provider(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct dumper_providers *p = member;
	if (p->count == BASE_ARRAY_LEN(p->guid)) {
		cli_usage(a, "-provider takes up to %zu", BASE_ARRAY_LEN(p->guid));
		return false;
	}
	if (!cli_provider_guid(value, &p->guid[p->count])) {
		cli_usage(a, "'%s' is neither a GUID nor a provider name", value);
		return false;
	}
	p->count++;
	return true;
}

static const struct cli_option dumper_options[] = {
	XPERF_RANGE,
	CLI_OWN(dumper_options, only, struct dumper_providers, take_provider, 0, "provider", "PROVIDER…",
		"only events of these providers: GUIDs or names"),
	CLI_ACCEPTED(0, "stacktimeshifting", NULL, "accepted: stacks stand behind their event in any case"),
	CLI_ACCEPTED(0, "exc_dpcisr", NULL, "accepted"),
	CLI_FLAG(dumper_options, raw_data, 0, "add_rawdata", "the bytes of each event in a line before it"),
	CLI_ACCEPTED(0, "add_pgodata", NULL, "accepted"),
	CLI_ACCEPTED(0, "add_inline", NULL, "accepted"),
	CLI_ACCEPTED(0, "add_fieldnames", NULL, "accepted: the heading has them"),
	{0},
};

const struct xperf_action xperf_dumper = {
	.name = "dumper",
	.summary = "each event as a line of text",
	.options = dumper_options,
	.own = sizeof(struct dumper_options),
};

static int dump(struct report *r, const struct action_words *act, FILE *out, bool *ret_whole)
{
	/* Times of day count from the start of the first file, which is not open yet. */
	struct xperf_job j = {.a = r->a, .action = &xperf_dumper, .start = xperf_start_of(r->a, r->files.text[0])};
	if (!xperf_options_read(&j, act->count, act->word)) {
		return CLI_USAGE;
	}
	const struct dumper_options *o = j.own;
	struct xperf_read read = {.a = r->a,
				  .count = r->files.count,
				  .files = files_of(r),
				  .to = out,
				  .ranged = j.ranged,
				  .from_us = j.ranged && j.from_us > 0 ? (uint64_t)j.from_us : 0,
				  .to_us = j.ranged && j.to_us > 0 ? (uint64_t)j.to_us : 0,
				  .only = o->only.guid,
				  .only_count = o->only.count,
				  .raw_data = o->raw_data};
	int status = xperf_dump(&read);
	*ret_whole = read.whole;
	return status;
}

/* ---- running ---------------------------------------------------------------------------------------------- */

static int act(struct report *r, const struct action_words *act_, FILE *out, bool *ret_whole)
{
	*ret_whole = false;
	if (strcasecmp(act_->name, "dumper") == 0) {
		return dump(r, act_, out, ret_whole);
	}
	const struct xperf_action *k = xperf_action_find(act_->name);
	return xperf_job_run(r->a, k, act_->count, act_->word, r->files.count, files_of(r), out, r->quiet, ret_whole);
}

/* -ae: what is said about the action goes to a file. Returns the descriptor to go back to, or -1. */
static int redirect_errors(struct cli_output *to)
{
	if (!to) {
		return -1;
	}
	fflush(stderr);
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(fileno(cli_output_file(to)), STDERR_FILENO);
	return kept;
}

static int run_all(struct report *r)
{
	struct cli_output *all = NULL;
	int status = CLI_OK;
	bool all_whole = true;
	for (int i = 0; i < r->actions.count && !all; i++) {
		all = r->actions.at[i].out ? NULL : cli_output_open(r->a, r->out ? r->out : "-", true);
		if (!r->actions.at[i].out && !all) {
			return CLI_FAILED;
		}
	}
	for (int i = 0; i < r->actions.count && status < 128; i++) {
		struct action_words *k = &r->actions.at[i];
		struct cli_output *own = k->out ? cli_output_open(r->a, k->out, true) : NULL;
		struct cli_output *errors = k->errors ? cli_output_open(r->a, k->errors, true) : NULL;
		if ((k->out && !own) || (k->errors && !errors)) {
			cli_output_close(own, false);
			cli_output_close(errors, false);
			status = CLI_FAILED;
			continue;
		}
		bool whole;
		int kept = redirect_errors(errors);
		int one = act(r, k, cli_output_file(own ? own : all), &whole);
		if (kept >= 0) {
			fflush(stderr);
			dup2(kept, STDERR_FILENO);
			close(kept);
		}
		cli_output_close(errors, true);
		int end = own ? cli_output_close(own, whole) : CLI_OK;
		all_whole = all_whole && (own || whole);
		one = one ? one : end;
		status = one ? one : status;
	}
	int end = cli_output_close(all, all_whole && status < 128);
	return status ? status : end;
}

int xperf_report(struct cli_args *a)
{
	struct cli_command c = *a->command;
	struct cli_args own = {.command = &c};
	c.options = report_options;
	c.options_bytes = sizeof(struct report);
	c.defaults = NULL;
	c.other = take_other;
	if (!cli_parse_windows(&own, a->count, a->words)) {
		return cli_told();
	}
	struct report *r = own.given;
	r->a = a;
	if (r->actions.count == 0) {
		r->actions.at[r->actions.count++] = (struct action_words){.name = "dumper"};
	}
	for (int i = 0; i < r->actions.count; i++) {
		const struct xperf_action *k = xperf_action_find(r->actions.at[i].name);
		if (!k && strcasecmp(r->actions.at[i].name, "dumper") != 0) {
			return no_such_action(a, r->actions.at[i].name);
		}
		if (k && k->refused) {
			return cli_fail(a, ERROR_NOT_SUPPORTED, "the action '%s' is not there: %s", k->name,
					k->refused);
		}
	}
	if (!r->explain) {
		return run_all(r);
	}
	printf("openetw dump --format csv");
	for (int i = 0; i < r->files.count; i++) {
		printf(" %s", cli_quoted("%s", r->files.text[i]));
	}
	printf("\n");
	return CLI_OK;
}

int xperf_one_report(struct cli_args *a, const char *action, int word_count, char **words, int count, char **files,
		     FILE *to)
{
	const struct xperf_action *k = xperf_action_find(action);
	bool whole;
	return k ? xperf_job_run(a, k, word_count, words, count, files, to, true, &whole) : CLI_FAILED;
}
