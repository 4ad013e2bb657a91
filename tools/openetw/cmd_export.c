/* SPDX-License-Identifier: MIT
 * export: events in the forms of other programs.
 */
#include "tools/export/export.h"

#include "tools/common/absent.h"
#include "tools/common/output_dir.h"
#include "tools/openetw/export_feed.h"
#include "tools/openetw/export_summary.h"
#include "tools/openetw/export_table.h"
#include "tools/openetw/relog.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_all_options {
	struct export_options e;
	struct cli_select_options select;
	bool list;
};
static const struct cli_option options[] = {
	CLI_ONE_OF(export_all_options, e.kind, 'a', "as", "KIND", EXPORT_NAMES, "which form; --list says what each is"),
	CLI_WORD(export_all_options, e.output, 'o', "output", "OUT",
		 "the file to write, or the folder (ctf); - is standard output"),
	CLI_SELECT_OPTIONS(export_all_options, select),
	CLI_WORDS(export_all_options, e.counter, 0, "counter", "FIELD",
		  "perfetto: the values of this numeric field are a counter track, too (repeatable)"),
	CLI_FLAG(export_all_options, e.stacks, 0, "stacks", "json: with call stacks"),
	CLI_FLAG(export_all_options, e.ecs, 0, "ecs", "json: names of the Elastic Common Schema (winlog.*)"),
	CLI_FLAG(export_all_options, e.no_inlines, 0, "no-inlines",
		 "do not look for functions that were put into others (DWARF)"),
	CLI_FLAG(export_all_options, e.summary_json, 0, "json", "the summary on stderr is one JSON object"),
	CLI_FLAG(export_all_options, e.quiet, 'q', "quiet",
		 "no summary (what was lost or left out is said all the same)"),
	CLI_FLAG(export_all_options, list, 0, "list", "the kinds, and what each cannot represent; without a file"),
	CLI_FORCE_OPTION,
	{0},
};

static int print_list(void)
{
	for (int i = 0; export_kinds[i]; i++) {
		const struct export_kind *k = export_kinds[i];
		printf("%-11s %s (%s)\n", k->name, k->what, k->folder ? "a folder" : k->suffix);
		if (k->cannot) {
			printf("%-11s   not represented: %s\n", "", k->cannot);
		}
	}
	return CLI_OK;
}

static bool open_output_of(const struct cli_args *a, struct export *x, struct cli_output **ret)
{
	const struct export_kind *k = x->kind;
	*ret = NULL;
	if (!k->folder) {
		*ret = cli_output_open(a, x->o->output, true);
		x->f = cli_output_file(*ret);
		return x->f != NULL;
	}
	x->dir = cli_output_dir_open(a, x->o->output, k->folder);
	x->f = x->dir ? cli_output_dir_file(x->dir, k->folder[0]) : NULL;
	if (x->dir && !x->f) {
		cli_tell(a, "cannot write %s: %s", x->o->output, strerror(errno));
		cli_output_dir_close(x->dir, false);
	}
	return x->f != NULL;
}

static int close_output_of(struct export *x, struct cli_output *o, bool whole)
{
	if (o && x->error == ENODATA) { /* there was nothing to write */
		cli_output_drop(o);
		return CLI_FAILED;
	}
	if (o) {
		return cli_output_close(o, whole);
	}
	bool closed = fclose(x->f) == 0;
	if (whole && !closed) {
		cli_tell(x->args, "cannot write %s: %s", x->o->output, strerror(errno));
	}
	int status = cli_output_dir_close(x->dir, whole && closed);
	return closed ? status : CLI_FAILED;
}

static int write_etl(struct export *x, const struct cli_select_options *s)
{
	struct relog_result r = {0};
	struct stat st;
	struct cli_trace loss = {0};
	int status = relog_selection(x->args, x->o->output, s, &r);
	if (status == CLI_OK) {
		x->written = r.kept;
		x->bytes = stat(x->o->output, &st) == 0 ? (uint64_t)st.st_size : 0;
		cli_files_loss(x->args, x->args->count, x->args->words, &loss);
		export_summary(x, &(struct export_counts){.in_trace = r.read, .selected = r.kept}, &loss);
	}
	return status;
}

static int convert(struct cli_args *a, struct export *x, struct export_feed *f)
{
	const struct export_kind *k = x->kind;
	struct cli_output *o;
	int status = k->needs & EXPORT_LEARN ? export_feed_learn(f) : CLI_OK;
	if (status != CLI_OK || !export_feed_open(f) || !open_output_of(a, x, &o)) {
		k->finish(x); /* what it learnt */
		return status != CLI_OK ? status : CLI_FAILED;
	}
	bool begun = k->begin(x);
	if (begun) {
		status = export_feed_run(f);
	}
	bool whole = begun && status == CLI_OK && k->end(x);
	k->finish(x);
	if (!whole && x->error && x->error != ENODATA && x->error != EPIPE) {
		status = cli_tell(a, "cannot write %s: %s", x->o->output, strerror(x->error));
	}
	int closed = close_output_of(x, o, whole);
	status = status == CLI_OK ? closed : status;
	if (whole && status == CLI_OK) {
		const struct cli_trace *t = export_feed_trace(f);
		export_summary(
			x, &(struct export_counts){t->events, export_feed_selected(f), export_feed_undecoded(f), true},
			t);
		status = export_feed_trace(f)->problems ? CLI_FAILED : CLI_OK;
	}
	return status == CLI_OK && !whole ? CLI_FAILED : status;
}

static int run(struct cli_args *a)
{
	const struct export_all_options *o = a->given;
	struct export x = {.args = a, .o = &o->e};
	if (o->list) {
		return print_list();
	}
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX) {
		return cli_usage(a, a->count ? "at most 1024 files" : "which file?");
	}
	if (!o->e.kind || !o->e.output) {
		return cli_usage(a,
				 o->e.kind ? "where to? --output OUT" : "as what? --as KIND; --list names the kinds");
	}
	x.kind = export_kind_of(o->e.kind);
	bool to_stdout = strcmp(o->e.output, "-") == 0;
	if (to_stdout && (x.kind->folder || x.kind->elsewhere)) {
		return cli_usage(a, "%s cannot go to standard output: it is %s", x.kind->name,
				 x.kind->folder ? "a folder" : "not written from front to back");
	}
	if (to_stdout && isatty(1) && x.kind->binary) {
		return cli_usage(a, "%s is not for a terminal: name a file", x.kind->name);
	}
	if ((o->e.ecs || o->e.stacks) && strcmp(x.kind->name, "json") != 0) {
		return cli_usage(a, "--ecs and --stacks are for --as json");
	}
	if (o->e.ecs && o->e.stacks) {
		return cli_usage(a, "--ecs has no place for stacks");
	}
	if (o->e.counter.count && strcmp(x.kind->name, "perfetto") != 0) {
		return cli_usage(a, "--counter is for --as perfetto");
	}
	if (x.kind->elsewhere) {
		return strcmp(x.kind->name, "etl") == 0 ? write_etl(&x, &o->select) : export_table(&x, &o->select);
	}
	struct cli_select *select = cli_select_create(a, &o->select);
	if (!select) {
		return CLI_USAGE;
	}
	struct export_feed *f = export_feed_create(a, &x, select);
	int status = f ? convert(a, &x, f) : CLI_FAILED;
	if (status == CLI_OK) {
		status = cli_absent_files(a, select, NULL, a->count, a->words, export_feed_selected(f), status);
	}
	status = cli_select_finish(a, select, status);
	export_feed_destroy(f);
	cli_select_destroy(select);
	return status;
}

const struct cli_command cli_export = {
	.name = "export",
	.synopsis = "FILE… --as KIND -o OUT [--filter EXPR] [--from TIME] [--to TIME] [options]",
	.summary = "Write events in the form of another program: Perfetto, pprof, OTLP, CTF, …",
	.details =
		"Reads as dump does: the same selection, several files merged by time, the same names and decoding.\n"
		"  perfetto             a trace for ui.perfetto.dev\n"
		"  pprof                a profile for 'go tool pprof' and its kin\n"
		"  speedscope           a profile for speedscope.app\n"
		"  folded               stacks for flame graphs, one a line\n"
		"  gecko                a profile for profiler.firefox.com\n"
		"  otlp, otlp-json      log records for OpenTelemetry collectors, as protobuf or JSON\n"
		"  ctf                  a folder that babeltrace2 and Trace Compass read\n"
		"  etl                  a smaller trace of the selection, for all tools of Windows\n"
		"  parquet, arrow       the table events of 'openetw sql', for data frames and databases (needs "
		"DuckDB)\n"
		"  csv, json, xml       text, as dump and wevtutil have it; json --ecs for Elasticsearch\n"
		"  pcapng               the packets, for Wireshark\n"
		"Profiles are made of the processors' samples; where none are selected, of all events that have "
		"stacks.\n"
		"What a kind cannot represent is counted and said on stderr; --list says it beforehand. OUT gets its "
		"name\n"
		"when all is in it.\n\n"
		"Examples:\n"
		"  openetw export all.etl --as perfetto -o all.pftrace\n"
		"  openetw export all.etl --as pprof -o nginx.pb.gz --process nginx && pprof -top nginx.pb.gz\n"
		"  openetw export web.etl --as otlp-json -o - -p MyCompany.Shop | curl -H 'Content-Type: "
		"application/json' "
		"\\\n"
		"    --data-binary @- http://localhost:4318/v1/logs\n"
		"  openetw export all.etl --as ctf -o all-ctf --from +1s --to +2s && babeltrace2 all-ctf\n",
	.options = options,
	CLI_INTO(export_all_options),
	.run = run,
	.complete = "file",
};
