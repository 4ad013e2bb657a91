/* SPDX-License-Identifier: MIT */
#include "tools/common/output.h"
#include "tools/common/session_start.h"

struct start_options {
	const char *output, *kernel, *pmc, *stackwalk, *pids;
	struct cli_words provider, pmc_sample;
	bool realtime;
	uint64_t expire_s, quota_mb, with_pid, new_file_s, keep_files; /* 0: not said */
	struct cli_session_options session;
	struct cli_enable_options enable;
};
static const struct cli_option options[] = {
	CLI_WORD(start_options, output, 'o', "output", "FILE", "log file (.etl); none: real-time or buffering only"),
	CLI_WORDS(start_options, provider, 'p', "provider", "P", "enable Name:keywords:level (repeatable)"),
	CLI_WORD(start_options, kernel, 'K', "kernel", "FLAGS",
		 "kernel events: xperf's flags and groups joined by +, such as DiagEasy+FILE_IO"),
	CLI_WORD(start_options, pmc, 0, "pmc", "COUNTERS[:EVENTS]",
		 "values of counters with kernel events: PageFaults:CSwitch ('openetw pmc')"),
	CLI_WORDS(start_options, pmc_sample, 0, "pmc-sample", "SOURCE[=N]",
		  "a sample at every Nth event of this source (repeatable)"),
	CLI_WORD(start_options, stackwalk, 0, "stackwalk", "EVENTS",
		 "kernel events with call stacks: Profile+CSwitch+…"),
	CLI_WORD(start_options, pids, 0, "pids", "PIDS", "kernel events of up to 8 processes only"),
	CLI_FLAG(start_options, realtime, 'r', "realtime", "deliver to live consumers"),
	CLI_LOW_LATENCY_OPTION(start_options, session),
	CLI_DURATION(start_options, expire_s, 0, "expire", 1000000000, 1, UINT32_MAX,
		     "stop it after that time, whoever remembers it or not: 90s, 1h, 2d"),
	CLI_SIZE(start_options, quota_mb, 0, "quota", 1 << 20, 1, UINT32_MAX,
		 "stop it when it has written so much: 500MB, 10GB"),
	CLI_NUMBER(start_options, with_pid, 0, "with-pid", "PID", 1, INT32_MAX,
		   "stop it when this process ends ($$: with this shell)"),
	CLI_DURATION(start_options, new_file_s, 0, "new-file-every", 1000000000, 1, 4294967,
		     "newfile mode: the next file so often, besides when one is full"),
	CLI_NUMBER(start_options, keep_files, 0, "keep-files", "N", 1, UINT32_MAX,
		   "newfile mode: only the last N files stay"),
	CLI_FORCE_OPTION,
	CLI_SESSION_OPTIONS(start_options, session),
	CLI_ENABLE_OPTIONS(start_options, enable),
	CLI_SESSION_FILTER_OPTION(start_options, enable),
	{0},
};

/* CLI_OK, or printed why. */
static int kernel_of(const struct cli_args *a, struct session_kernel *wish, struct cli_counters *counters)
{
	const struct start_options *o = a->given;
	if ((o->stackwalk || o->pmc || o->pids || o->pmc_sample.count) && !o->kernel) {
		return cli_usage(a, "--stackwalk, --pmc, --pmc-sample and --pids are of kernel events: --kernel FLAGS");
	}
	int status = o->kernel ? cli_kernel_flags(a, o->kernel, false, wish) : CLI_OK;
	if (status == CLI_OK && ((o->stackwalk && !cli_kernel_stacks(a, o->stackwalk, wish)) ||
				 !cli_kernel_pids(a, o->pids ? o->pids : "", wish))) {
		status = cli_told();
	}
	if (status == CLI_OK && o->pmc && !cli_counters_parse(a, o->pmc, counters)) {
		status = cli_told();
	}
	for (int i = 0; status == CLI_OK && i < o->pmc_sample.count; i++) {
		status = cli_counters_sampled(a, o->pmc_sample.text[i], counters) ? CLI_OK : cli_told();
		kernel_mask_set(&wish->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return status;
}

static void limits(const struct start_options *o, struct etw_session *s)
{
	if (o->new_file_s && s->props.maximum_file_size == 0) {
		s->props.maximum_file_size = 1u << 20; /* by time alone */
	}
	s->expire_s = (uint32_t)o->expire_s;
	s->quota = o->quota_mb << 20;
	s->owner_pid = (uint32_t)o->with_pid;
	s->rotate_s = (uint32_t)o->new_file_s;
	s->keep_files = (uint32_t)o->keep_files;
}

static int run(struct cli_args *a)
{
	const struct start_options *o = a->given;
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one session name is needed" : "a session name is needed");
	}
	struct etw_session s;
	struct cli_counters counters = {0};
	struct cli_session_run r = {0};
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%s", a->words[0]);
	int status = CLI_USAGE;
	if (cli_session_providers(a, &o->enable, &o->provider, &s) &&
	    cli_session_options(a, &o->session, o->output, o->realtime, &s)) {
		limits(o, &s);
		status = kernel_of(a, &s.kernel, &counters);
	}
	if (status == CLI_OK) {
		struct cli_session_how how = {.args = a, .tool = "openetw start", .counters = &counters};
		cli_session_start(&s, &how, &r);
		status = r.status;
	}
	if (status == CLI_OK) {
		cli_place_tell(a);
		printf("session '%s' runs", s.name);
		if (r.props.file[0] && r.props.p.LogFileNameOffset) {
			printf(", writing %s", r.props.file);
		}
		printf("; %u provider%s enabled\n", s.provider_count, s.provider_count == 1 ? "" : "s");
	}
	session_finish(&s);
	return status;
}

const struct cli_command cli_start = {
	.name = "start",
	.synopsis = "NAME [-o FILE] [-p PROVIDER]… [options]",
	.summary = "Start a trace session.",
	.details =
		"A provider is Name:keywords:level:options; name may be a {GUID}, or *Name for the "
		"GUID that TraceLogging\n"
		"and EventSource compute from a name (a plain name means that too unless a "
		"manifest with this name is\n"
		"installed). Empty parts mean all keywords, all levels, no options. Options are "
		"stack, sid, tsid, key.\n"
		"A fifth part is a filter of that provider, as --filter is one of all: Name:::stack:event == Order.\n"
		"The session lives until 'openetw stop NAME', whether or not this terminal "
		"does; or until\n"
		"--expire, --quota or --with-pid ends it, which 'openetw list' shows.\n\n"
		"Examples:\n"
		"  openetw start web -o web.etl -p MyCompany.Web:0x11:info -p "
		"MyCompany.Db:::stack\n"
		"  openetw start box -m buffering --buffer-size 256K --buffers 64 -p MyCompany.Web "
		"  # flight recorder\n"
		"  openetw flush box -o crash.etl                                                  "
		"  # write it out\n"
		"  openetw start ring -o ring.etl -m circular --max-size 100MB -p MyCompany.Web\n"
		"  openetw start feed -r -p MyCompany.Web; openetw live feed\n"
		"  openetw start machine -o machine.etl --kernel DiagEasy --stackwalk Profile+CSwitch\n",
	.options = options,
	CLI_INTO(start_options),
	.run = run,
};
