/* SPDX-License-Identifier: MIT
 * xperf -i FILE… [-o OUT] [options] [-a ACTION [its options]]…: the command line of reports. What stands behind
 * an -a up to the next one belongs to that action; options of the whole may stand anywhere.
 */
#include "tools/common/session_options.h"
#include "tools/common/winargs.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "base/parse.h"
#include "tools/wpt/xperf.h"
#include "tools/wpt/xperf_action.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define ACTIONS_MAX 32

/* Of the whole, wherever they stand. */
static const struct cli_option common[] = {
	{0, "i", "FILE…", "the files", NULL},
	{0, "o", "FILE", "where the report goes", NULL},
	{0, "symbols", "[WHAT…]", "accepted: names are always looked up", NULL},
	{0, "target", "WHAT", "accepted: human or machine", "human|machine"},
	{0, "quiet", NULL, "no progress", NULL},
	{0, "tle", NULL, "lost events are tolerated in any case", NULL},
	{0, "tti", NULL, "times that run backwards are tolerated in any case", NULL},
	{0, "explain", NULL, "print the openetw line", NULL},
	{0},
};
static const struct cli_option dumper_options[] = {
	{0, "range", "FROM TO", "only these times from the start: 1.5s, 20ms, microseconds", NULL},
	{0, "provider", "PROVIDER…", "only events of these providers: GUIDs or names", NULL},
	{0, "stacktimeshifting", NULL, "accepted: stacks stand behind their event in any case", NULL},
	{0, "exc_dpcisr", NULL, "accepted", NULL},
	{0, "add_rawdata", NULL, "the bytes of each event in a line before it", NULL},
	{0, "add_pgodata", NULL, "accepted", NULL},
	{0, "add_inline", NULL, "accepted", NULL},
	{0, "add_fieldnames", NULL, "accepted: the heading has them", NULL},
	{0},
};

struct action_words {
	const char *name; /* NULL: what stands before the first -a */
	char **word;
	int count;
	const char *out, *errors; /* -ao, -ae */
};

static bool is(const char *word, const char *name)
{
	return (word[0] == '-' || word[0] == '/') && strcasecmp(word + 1, name) == 0;
}

static const struct cli_option *common_option(const char *word)
{
	for (const struct cli_option *o = common; o->name; o++) {
		if (is(word, o->name)) {
			return o;
		}
	}
	return NULL;
}

bool xperf_is_report(const struct cli_args *a)
{
	for (int i = 0; i < a->count; i++) {
		if (is(a->words[i], "i")) {
			return true;
		}
	}
	return false;
}

#define XPERF_FILES_MAX 256
struct report {
	struct cli_args *a;
	char *files[XPERF_FILES_MAX];
	int file_count;
	const char *out;
	bool quiet, explain;
	struct action_words action[ACTIONS_MAX];
	int action_count;
};

/* Takes the common options out of the words, and cuts the rest at each -a. */
static int sort_words(struct report *r, char **kept)
{
	struct cli_args *a = r->a;
	struct action_words *now = NULL;
	int n = 0;
	for (int i = 0; i < a->count; i++) {
		char *w = a->words[i];
		const struct cli_option *o = common_option(w);
		if (is(w, "a")) {
			if (i + 1 == a->count) {
				return cli_usage(a, "-a needs an action");
			}
			if (r->action_count == ACTIONS_MAX) {
				return cli_usage(a, "more than %d actions", ACTIONS_MAX);
			}
			now = &r->action[r->action_count++];
			*now = (struct action_words){.name = a->words[++i], .word = kept + n};
		} else if (now && (is(w, "ao") || is(w, "ae"))) {
			if (i + 1 == a->count) {
				return cli_usage(a, "%s needs a file", w);
			}
			*(w[2] == 'o' || w[2] == 'O' ? &now->out : &now->errors) = a->words[i + 1];
			i++;
		} else if (!o) {
			if (!now) {
				return cli_usage(
					a,
					"'%s' belongs to no option of -i; the options of an action stand behind its -a",
					w);
			}
			kept[n++] = w;
			now->count++;
		} else if (strcmp(o->name, "i") == 0 || strcmp(o->name, "symbols") == 0) {
			bool file = *o->name == 'i';
			int first = i;
			while (i + 1 < a->count && a->words[i + 1][0] != '-' && !common_option(a->words[i + 1]) &&
			       (file || strcasecmp(a->words[i + 1], "cacheonly") == 0 ||
				strcasecmp(a->words[i + 1], "verbose") == 0 ||
				strcasecmp(a->words[i + 1], "dbghelplog") == 0)) {
				i++;
				if (file && r->file_count == XPERF_FILES_MAX) {
					return cli_usage(a, "at most %d files", XPERF_FILES_MAX);
				}
				if (file) {
					cli_path_input(a->words[i]);
					r->files[r->file_count++] = a->words[i];
				}
			}
			if (file && i == first) {
				return cli_usage(a, "-i needs a file");
			}
		} else if (o->arg) {
			if (i + 1 == a->count) {
				return cli_usage(a, "-%s needs %s", o->name, o->arg);
			}
			i++;
			if (*o->name == 'o') {
				r->out = a->words[i];
			} else if (strcasecmp(a->words[i], "human") != 0 && strcasecmp(a->words[i], "machine") != 0) {
				return cli_usage(a, "-target takes human or machine, not '%s'", a->words[i]);
			}
		} else {
			r->quiet = r->quiet || strcmp(o->name, "quiet") == 0;
			r->explain = r->explain || strcmp(o->name, "explain") == 0;
		}
	}
	return CLI_OK;
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

static int dump(struct report *r, const struct action_words *act, FILE *out, bool *ret_whole)
{
	static struct winargs w;
	struct cli_command c = *r->a->command;
	struct cli_args own = {.command = &c, .count = act->count, .words = act->word};
	GUID only[64];
	struct xperf_read read = {.a = r->a, .count = r->file_count, .files = r->files, .to = out, .only = only};
	c.options = dumper_options;
	if (!winargs_parse(&own, false, NULL, &w)) {
		return CLI_USAGE;
	}
	int status = w.count ? cli_usage(r->a, "-a dumper takes no '%s'", w.word[0]) : CLI_OK;
	const struct winarg *range = winargs_find(&w, "range"), *providers = winargs_find(&w, "provider");
	if (range && status == CLI_OK) {
		uint64_t us[2];
		for (int i = 0; i < 2 && status == CLI_OK; i++) {
			/* Times of day count from the start of the first file, which is not open yet. */
			struct xperf_job j = {.a = r->a, .start = xperf_start_of(r->a, r->files[0])};
			double t;
			status = xperf_time(&j, "range", range->value[i], &t) ? CLI_OK : CLI_USAGE;
			us[i] = status == CLI_OK && t > 0 ? (uint64_t)t : 0;
		}
		read.ranged = true;
		read.from_us = us[0];
		read.to_us = us[1];
	}
	for (int i = 0; providers && i < providers->count && status == CLI_OK; i++) {
		if (read.only_count == BASE_ARRAY_LEN(only)) {
			status = cli_usage(r->a, "-provider takes up to %zu", BASE_ARRAY_LEN(only));
		} else if (!cli_provider_guid(providers->value[i], &only[read.only_count])) {
			status = cli_usage(r->a, "'%s' is neither a GUID nor a provider name", providers->value[i]);
		} else {
			read.only_count++;
		}
	}
	read.raw_data = winargs_on(&w, "add_rawdata");
	status = status == CLI_OK ? xperf_dump(&read) : status;
	*ret_whole = read.whole;
	free(w.word);
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
	return xperf_job_run(r->a, k, act_->count, act_->word, r->file_count, r->files, out, r->quiet, ret_whole);
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
	for (int i = 0; i < r->action_count && !all; i++) {
		all = r->action[i].out ? NULL : cli_output_open(r->a, r->out ? r->out : "-", true);
		if (!r->action[i].out && !all) {
			return CLI_FAILED;
		}
	}
	for (int i = 0; i < r->action_count && status < 128; i++) {
		struct action_words *k = &r->action[i];
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
	struct report *r = calloc(1, sizeof *r);
	char **kept = calloc((size_t)a->count + 1, sizeof *kept);
	int status = CLI_FAILED;
	if (r && kept) {
		r->a = a;
		status = sort_words(r, kept);
	} else {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	if (r && status == CLI_OK && r->action_count == 0) {
		r->action[r->action_count++] = (struct action_words){.name = "dumper", .word = kept};
	}
	for (int i = 0; r && status == CLI_OK && i < r->action_count; i++) {
		const struct xperf_action *k = xperf_action_find(r->action[i].name);
		if (!k && strcasecmp(r->action[i].name, "dumper") != 0) {
			status = no_such_action(a, r->action[i].name);
		} else if (k && k->refused) {
			status = cli_fail(a, ERROR_NOT_SUPPORTED, "the action '%s' is not there: %s", k->name,
					  k->refused);
		}
	}
	if (r && status == CLI_OK && r->explain) {
		printf("openetw dump --format csv");
		for (int i = 0; i < r->file_count; i++) {
			printf(" %s", cli_quoted("%s", r->files[i]));
		}
		printf("\n");
	} else if (r && status == CLI_OK) {
		status = run_all(r);
	}
	free(kept);
	free(r);
	return status;
}

int xperf_one_report(struct cli_args *a, const char *action, int word_count, char **words, int count, char **files,
		     FILE *to)
{
	const struct xperf_action *k = xperf_action_find(action);
	bool whole;
	return k ? xperf_job_run(a, k, word_count, words, count, files, to, true, &whole) : CLI_FAILED;
}
