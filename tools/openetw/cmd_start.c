/* SPDX-License-Identifier: MIT */
#include "tools/common/session_options.h"
#include "tools/common/kernel_options.h"
#include "tools/common/output.h"

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
	{0},
};

static int run(struct cli_args *a)
{
	const struct start_options *o = a->given;
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one session name is needed" : "a session name is needed");
	}
	const char *name = a->words[0];
	struct cli_props p;
	struct cli_provider providers[64];
	int n = 0;
	for (; n < o->provider.count; n++) {
		if (n == 64) {
			return cli_usage(a, "more than 64 providers: enable the rest with 'openetw enable'");
		}
		if (!cli_provider_parse(a, &o->enable, o->provider.text[n], &providers[n])) {
			return CLI_USAGE;
		}
	}
	if (!cli_props_from(a, &o->session, &p, o->output, o->realtime)) {
		return CLI_USAGE;
	}
	if (o->new_file_s && p.p.MaximumFileSize == 0) {
		p.p.MaximumFileSize = 1u << 20; /* by time alone */
	}
	TRACEHANDLE h = 0;
	struct cli_kernel_wish wish = {0};
	const char *kernel = o->kernel;
	if ((o->stackwalk || o->pmc || o->pids || o->pmc_sample.count) && !kernel) {
		return cli_usage(a, "--stackwalk, --pmc, --pmc-sample and --pids are of kernel events: --kernel FLAGS");
	}
	int status = kernel ? cli_kernel_flags(a, kernel, false, &wish) : CLI_OK;
	if (status == CLI_OK && ((o->stackwalk && !cli_kernel_stacks(a, o->stackwalk, &wish)) ||
				 !cli_kernel_pids(a, o->pids ? o->pids : "", &wish))) {
		status = cli_told();
	}
	if (status == CLI_OK && o->pmc && !cli_counters_parse(a, o->pmc, &wish.counters)) {
		status = cli_told();
	}
	for (int i = 0; status == CLI_OK && i < o->pmc_sample.count; i++) {
		status = cli_counters_sampled(a, o->pmc_sample.text[i], &wish.counters) ? CLI_OK : cli_told();
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
		code = cli_provider_enable(a, &o->enable, h, &providers[i], 5000);
		if (code) {
			status = cli_fail(a, code, "cannot enable '%s'", providers[i].name);
			ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			return status;
		}
		cli_provider_tell(&providers[i].guid, providers[i].name);
	}
	if (o->expire_s || o->quota_mb || o->with_pid) {
		code = openetw_session_limit(name, o->expire_s ? clock_filetime() + o->expire_s * 10000000 : 0,
					     o->quota_mb << 20, (uint32_t)o->with_pid);
		if (code) {
			status = cli_fail(a, code, "cannot limit '%s'", name);
			ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			return status;
		}
	}
	if (o->new_file_s || o->keep_files) {
		code = openetw_session_rotate(name, (uint32_t)o->new_file_s, (uint32_t)o->keep_files);
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
	CLI_INTO(start_options),
	.run = run,
};
