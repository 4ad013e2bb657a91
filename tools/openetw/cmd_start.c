/* SPDX-License-Identifier: MIT */
#include "tools/common/kernel_options.h"
#include "tools/common/output.h"

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

static int run(struct cli_args *a)
{
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one session name is needed" : "a session name is needed");
	}
	const char *name = a->words[0];
	const char *file = cli_value(a, "output", NULL);
	bool realtime = cli_flag(a, "realtime");
	struct cli_props p;
	struct cli_provider providers[64];
	int n = 0;
	for (const char *v; (v = cli_value_at(a, "provider", n)) != NULL; n++) {
		if (n == 64) {
			return cli_usage(a, "more than 64 providers: enable the rest with 'openetw enable'");
		}
		if (!cli_provider_parse(a, v, &providers[n])) {
			return CLI_USAGE;
		}
	}
	if (!cli_props_from_args(a, &p, file, realtime)) {
		return CLI_USAGE;
	}
	if (cli_value(a, "new-file-every", NULL) && p.p.MaximumFileSize == 0) {
		p.p.MaximumFileSize = 1u << 20; /* by time alone */
	}
	uint64_t expire = 0, quota = 0, pid = 0, every = 0, keep = 0;
	if (!cli_duration(a, "new-file-every", 1000000000, 1, 4294967, &every) ||
	    !cli_number(a, "keep-files", 1, UINT32_MAX, &keep) ||
	    !cli_duration(a, "expire", 1000000000, 1, UINT32_MAX, &expire) ||
	    !cli_size(a, "quota", 1 << 20, 1, UINT32_MAX, &quota) || !cli_number(a, "with-pid", 1, INT32_MAX, &pid)) {
		return CLI_USAGE;
	}
	TRACEHANDLE h = 0;
	struct cli_kernel_wish wish = {0};
	const char *kernel = cli_value(a, "kernel", NULL), *stacks = cli_value(a, "stackwalk", NULL);
	const char *pmc = cli_value(a, "pmc", NULL), *source;
	if ((stacks || pmc || cli_flag(a, "pids") || cli_flag(a, "pmc-sample")) && !kernel) {
		return cli_usage(a, "--stackwalk, --pmc, --pmc-sample and --pids are of kernel events: --kernel FLAGS");
	}
	int status = kernel ? cli_kernel_flags(a, kernel, false, &wish) : CLI_OK;
	if (status == CLI_OK && ((stacks && !cli_kernel_stacks(a, stacks, &wish)) ||
				 !cli_kernel_pids(a, cli_value(a, "pids", ""), &wish))) {
		status = cli_told();
	}
	if (status == CLI_OK && pmc && !cli_counters_parse(a, pmc, &wish.counters)) {
		status = cli_told();
	}
	for (int i = 0; status == CLI_OK && (source = cli_value_at(a, "pmc-sample", i)) != NULL; i++) {
		status = cli_counters_sampled(a, source, &wish.counters) ? CLI_OK : cli_told();
		kernel_mask_set(&wish.mask, KERNEL_BIT_PMC_PROFILE);
	}
	if (status != CLI_OK) {
		return status;
	}
	uint32_t code = kernel ? cli_kernel_start(&h, name, &p, &wish) : cli_start_trace(&h, name, &p.p);
	if (code) {
		return cli_fail(a, code, "cannot start '%s'", name);
	}
	if (kernel) {
		cli_kernel_tell("openetw start", name);
	}
	for (int i = 0; i < n; i++) {
		code = cli_provider_enable(a, h, &providers[i], 5000);
		if (code) {
			status = cli_fail(a, code, "cannot enable '%s'", providers[i].name);
			ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			return status;
		}
		cli_provider_tell(&providers[i].guid, providers[i].name);
	}
	if (expire || quota || pid) {
		code = openetw_session_limit(name, expire ? clock_filetime() + expire * 10000000 : 0, quota << 20,
					     (uint32_t)pid);
		if (code) {
			status = cli_fail(a, code, "cannot limit '%s'", name);
			ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			return status;
		}
	}
	if (every || keep) {
		code = openetw_session_rotate(name, (uint32_t)every, (uint32_t)keep);
		if (code) {
			int status = cli_fail(a, code, "cannot rotate the files of '%s'", name);
			ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			return status;
		}
	}
	cli_place_tell(a);
	printf("session '%s' runs", name);
	if (p.file[0] && p.p.LogFileNameOffset) {
		printf(", writing %s", p.file);
	}
	printf("; %d provider%s enabled\n", n, n == 1 ? "" : "s");
	return CLI_OK;
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
