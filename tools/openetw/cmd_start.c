/* SPDX-License-Identifier: MIT */
#include "tools/common/output.h"
#include "tools/common/session_start.h"

static const struct cli_option options[] = {
	{'o', "output", "FILE", "log file (.etl); none: real-time or buffering only", NULL},
	{'p', "provider", "P", "enable Name:keywords:level (repeatable)", NULL},
	{'K', "kernel", "FLAGS", "kernel events: xperf's flags and groups joined by +, such as DiagEasy+FILE_IO", NULL},
	{0, "pmc", "COUNTERS[:EVENTS]", "values of counters with kernel events: PageFaults:CSwitch ('openetw pmc')",
	 NULL},
	{0, "pmc-sample", "SOURCE[=N]", "a sample at every Nth event of this source (repeatable)", NULL},
	{0, "stackwalk", "EVENTS", "kernel events with call stacks: Profile+CSwitch+…", NULL},
	{0, "pids", "PIDS", "kernel events of up to 8 processes only", NULL},
	{'r', "realtime", NULL, "deliver to live consumers", NULL},
	{0, "low-latency", NULL, "deliver every millisecond instead of every 10", NULL},
	{0, "expire", "TIME", "stop it after that time, whoever remembers it or not: 90s, 1h, 2d", NULL},
	{0, "quota", "SIZE", "stop it when it has written so much: 500MB, 10GB", NULL},
	{0, "with-pid", "PID", "stop it when this process ends ($$: with this shell)", NULL},
	{0, "new-file-every", "TIME", "newfile mode: the next file so often, besides when one is full", NULL},
	{0, "keep-files", "N", "newfile mode: only the last N files stay", NULL},
	CLI_FORCE_OPTION,
	CLI_SESSION_OPTIONS,
	CLI_ENABLE_OPTIONS,
	CLI_SESSION_FILTER_OPTION,
	{0},
};

/* CLI_OK, or printed why. */
static int kernel_of(const struct cli_args *a, struct session_kernel *wish, struct cli_counters *counters)
{
	const char *kernel = cli_value(a, "kernel", NULL), *stacks = cli_value(a, "stackwalk", NULL);
	const char *pmc = cli_value(a, "pmc", NULL), *source;
	if ((stacks || pmc || cli_flag(a, "pids") || cli_flag(a, "pmc-sample")) && !kernel) {
		return cli_usage(a, "--stackwalk, --pmc, --pmc-sample and --pids are of kernel events: --kernel FLAGS");
	}
	int status = kernel ? cli_kernel_flags(a, kernel, false, wish) : CLI_OK;
	if (status == CLI_OK &&
	    ((stacks && !cli_kernel_stacks(a, stacks, wish)) || !cli_kernel_pids(a, cli_value(a, "pids", ""), wish))) {
		status = cli_told();
	}
	if (status == CLI_OK && pmc && !cli_counters_parse(a, pmc, counters)) {
		status = cli_told();
	}
	for (int i = 0; status == CLI_OK && (source = cli_value_at(a, "pmc-sample", i)) != NULL; i++) {
		status = cli_counters_sampled(a, source, counters) ? CLI_OK : cli_told();
		kernel_mask_set(&wish->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return status;
}

static bool limits(const struct cli_args *a, struct etw_session *s)
{
	uint64_t expire = 0, quota = 0, pid = 0, every = 0, keep = 0;
	if (!cli_duration(a, "new-file-every", 1000000000, 1, 4294967, &every) ||
	    !cli_number(a, "keep-files", 1, UINT32_MAX, &keep) ||
	    !cli_duration(a, "expire", 1000000000, 1, UINT32_MAX, &expire) ||
	    !cli_size(a, "quota", 1 << 20, 1, UINT32_MAX, &quota) || !cli_number(a, "with-pid", 1, INT32_MAX, &pid)) {
		return false;
	}
	if (every && s->props.maximum_file_size == 0) {
		s->props.maximum_file_size = 1u << 20; /* by time alone */
	}
	s->expire_s = (uint32_t)expire;
	s->quota = quota << 20;
	s->owner_pid = (uint32_t)pid;
	s->rotate_s = (uint32_t)every;
	s->keep_files = (uint32_t)keep;
	return true;
}

static int run(struct cli_args *a)
{
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one session name is needed" : "a session name is needed");
	}
	struct etw_session s;
	struct cli_counters counters = {0};
	struct cli_session_run r = {0};
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%s", a->words[0]);
	int status = CLI_USAGE;
	if (cli_session_providers(a, &s) &&
	    cli_session_options(a, cli_value(a, "output", NULL), cli_flag(a, "realtime"), &s) && limits(a, &s)) {
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
	.details = "A provider is Name:keywords:level:options; name may be a {GUID}, or *Name for the "
		   "GUID that TraceLogging\n"
		   "and EventSource compute from a name (a plain name means that too unless a "
		   "manifest with this name is\n"
		   "installed). Empty parts mean all keywords, all levels, no options. Options are "
		   "stack, sid, tsid, key.\n"
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
	.run = run,
};
