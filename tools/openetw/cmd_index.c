/* SPDX-License-Identifier: MIT
 * index: makes the columns from which questions about a trace are answered, ahead of the first question.
 */
#include "tools/common/cli.h"
#include "tools/common/options.h"

#include <openetw/error.h>
#include <openetw/query.h>

struct index_options {
	bool force, memory, quiet, json;
};
static const struct cli_option options[] = {
	CLI_FLAG(index_options, force, 'f', "force", "make it anew, also when the one that is there fits"),
	CLI_FLAG(index_options, memory, 0, "no-file", "only measure: write no file"),
	CLI_FLAG(index_options, json, 'j', "json", "what it has as a JSON object"),
	CLI_FLAG(index_options, quiet, 'q', "quiet", "print nothing"),
	{0},
};

struct showing {
	struct cli_progress progress;
};

static bool on_progress(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	struct showing *s = context;
	double seconds = (double)(clock_read_system_ns() - s->progress.started_ns) / 1e9;
	double part = total ? (double)done / (double)total : 1;
	cli_progress_show(&s->progress, "%3.0f%%  %llu events, %.0f s of about %.0f s", 100 * part,
			  (unsigned long long)rows, seconds, part > 0 ? seconds / part : seconds);
	return cli_signal_caught() == 0;
}

static bool no_more_runs(void *context, const struct openetw_lane_run *r)
{
	return false;
}

static bool on_lanes(void *context, uint64_t done, uint64_t all)
{
	struct showing *s = context;
	cli_progress_show(&s->progress, "%3.0f%% of what threads did", all ? 100.0 * (double)done / (double)all : 100);
	return cli_signal_caught() == 0;
}

/* What threads did is written beside the index when somebody asks. Who made an index ahead does not want to wait then. */
static uint32_t make_lanes(struct openetw_index *x, struct showing *s)
{
	const uint32_t first = OPENETW_CPU_OF(0, 0);
	OPENETW_SIZED(struct openetw_index_about, about);
	openetw_index_about(x, &about);
	if (about.processors == 0 || !about.on_disk) {
		return ERROR_SUCCESS;
	}
	struct openetw_query *q = openetw_query_create(x);
	if (!q) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	openetw_query_set_progress(q, on_lanes, s);
	uint32_t code = openetw_query_lanes(q, OPENETW_LANES_CPUS, &first, 1, about.first, about.last + 1, 1,
					    no_more_runs, NULL, NULL);
	openetw_query_destroy(q);
	return code;
}

static int index_one(struct cli_args *a, const struct index_options *o, const char *path)
{
	struct showing s = {0};
	OPENETW_SIZED(struct openetw_index_options, how);
	OPENETW_SIZED(struct openetw_index_about, about);
	struct openetw_index *x;
	how.flags = o->memory ? OPENETW_INDEX_MEMORY : OPENETW_INDEX_WRITE | (o->force ? OPENETW_INDEX_REBUILD : 0);
	how.progress = on_progress;
	how.context = &s;
	cli_progress_start(&s.progress, !o->quiet);
	uint64_t began = clock_read_system_ns();
	uint32_t code = openetw_index_open(&path, 1, &how, &x);
	uint32_t lanes = code ? code : make_lanes(x, &s);
	cli_progress_end(&s.progress);
	if (code) {
		const char *why = openetw_last_error_text();
		return why[0] ? cli_tell(a, "%s", why) : cli_fail(a, code, "cannot make an index of %s", path);
	}
	double seconds = (double)(clock_read_system_ns() - began) / 1e9;
	openetw_index_about(x, &about);
	char size[32];
	cli_size_text(about.bytes, size, sizeof size);
	if (o->json) {
		printf("{\"file\":\"%s\",\"events\":%llu,\"types\":%u,\"processes\":%u,\"threads\":%u,\"stacks\":%u,"
		       "\"bytes\":%llu,\"seconds\":%.3f,\"reused\":%s,\"written\":%s}\n",
		       path, (unsigned long long)about.rows, about.types - 1, about.processes - 1, about.threads - 1,
		       about.stacks ? about.stacks - 1 : 0, (unsigned long long)about.bytes, seconds,
		       about.reused ? "true" : "false", about.on_disk ? "true" : "false");
	} else if (!o->quiet) {
		printf("%s: %llu events, %u types, %u processes, %u threads, %u stacks; %s%s in %.2f s\n", path,
		       (unsigned long long)about.rows, about.types - 1, about.processes - 1, about.threads - 1,
		       about.stacks ? about.stacks - 1 : 0, size, about.reused ? " were there" : "", seconds);
	}
	bool kept = about.on_disk || o->memory;
	openetw_index_close(x);
	if (lanes) {
		return cli_fail(a, lanes, "cannot tell what threads did in %s", path);
	}
	return kept ? CLI_OK : cli_tell(a, "%s: neither its folder nor the cache directory can be written to", path);
}

static int run(struct cli_args *a)
{
	const struct index_options *o = a->given;
	if (a->count == 0) {
		return cli_usage(a, "which trace?");
	}
	int worst = CLI_OK;
	for (int i = 0; i < a->count && !cli_signal_caught(); i++) {
		int result = index_one(a, o, a->words[i]);
		worst = BASE_MAX(worst, result);
	}
	return worst;
}

const struct cli_command cli_index = {
	.name = "index",
	.synopsis = "FILE.etl…",
	.summary = "Make the index of a trace, so that questions about it are answered at once.",
	.details =
		"Writes NAME.etl.idx beside the trace, or into ~/.cache/openetw where its folder cannot be written "
		"to.\n"
		"--index of record, run and stop makes it when a recording ends.\n"
		"sql, report, export and the viewer make it by themselves when a trace has a million events or more.\n"
		"What threads and processors did is written to NAME.etl.idx.lanes, by this verb or by the first "
		"question about it.\n"
		"What questions read of fields of events is kept in NAME.etl.idx.fields.\n"
		"All of them can be deleted at any time. An index that does not fit its trace any more is made "
		"anew.\n\n"
		"Examples:\n"
		"  openetw index big.etl\n",
	.options = options,
	CLI_INTO(index_options),
	.run = run,
};
