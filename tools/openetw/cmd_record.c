/* SPDX-License-Identifier: MIT
 * record: this machine, as the NT kernel logger would, next to applications' events.
 */
#include "tools/common/session_start.h"
#include "tools/common/program.h"
#include "tools/common/cli.h"
#include "base/parse.h"

#include "tools/common/counters.h"
#include "tools/openetw/indexing.h"
#include "tools/openetw/recording.h"
#include "tools/common/output.h"
#include "tools/common/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS       10
#define RING_MB_LEAST 16 /* the closing rundown, which explains the rest, must fit */

#define ALL_SOURCES                                                                                                \
	(KERNEL_CPU | KERNEL_CSWITCH | KERNEL_DISK | KERNEL_FILE | KERNEL_FAULT | KERNEL_VIRTUAL | KERNEL_HANDLE | \
	 KERNEL_SYSCALL | KERNEL_NET | KERNEL_INTERRUPT | KERNEL_POWER | KERNEL_MEMINFO | KERNEL_COUNTERS)
/* When nothing is asked for: what the first lines of report name causes from. */
#define DEFAULT_SOURCES (KERNEL_CPU | KERNEL_CSWITCH | KERNEL_NET)
struct record_options {
	const char *output, *packets, *pmc;
	uint32_t sources;
	struct cli_words heap, pmc_sample, provider;
	uint64_t interval_us, duration_ns, ring_mb, stack_bytes, pid; /* 0: not said */
	bool no_stacks, frame_pointers, only_command, index;
};
static const struct cli_option options[] = {
	CLI_WORD(record_options, output, 'o', "output", "FILE", "the .etl to write (default openetw.etl)"),
	CLI_BITS(record_options, sources, KERNEL_CPU, 'c', "cpu", "sample what every processor runs (a default)"),
	CLI_BITS(record_options, sources, KERNEL_CSWITCH, 'w', "wait",
		 "context switches and who woke whom (a default)"),
	CLI_BITS(record_options, sources, KERNEL_DISK, 0, "disk", "requests to disks, with the files they are about"),
	CLI_BITS(record_options, sources, KERNEL_FILE, 'f', "file",
		 "operations on files: open, read, write, rename, delete, …"),
	CLI_BITS(record_options, sources, KERNEL_FAULT, 0, "faults", "page faults, soft and hard"),
	CLI_BITS(record_options, sources, KERNEL_VIRTUAL, 0, "memory", "memory allocated and freed, files mapped"),
	CLI_BITS(record_options, sources, KERNEL_HANDLE, 0, "handles", "descriptors opened and closed"),
	CLI_BITS(record_options, sources, KERNEL_SYSCALL, 's', "syscalls", "system calls"),
	CLI_BITS(record_options, sources, KERNEL_NET, 'n', "net",
		 "TCP and UDP: connections, bytes sent and received (a default)"),
	CLI_BITS(record_options, sources, KERNEL_INTERRUPT, 0, "irq",
		 "interrupts, and the softirqs and work that they leave to do"),
	CLI_BITS(record_options, sources, KERNEL_POWER, 0, "power", "idle states and frequencies of processors"),
	CLI_BITS(record_options, sources, KERNEL_MEMINFO, 0, "meminfo",
		 "the machine's memory and the processes', every half second"),
	CLI_BITS(record_options, sources, KERNEL_COUNTERS, 0, "counters", "what processes took in all, when they end"),
	CLI_WORDS(record_options, heap, 0, "heap", "PID|NAME",
		  "malloc and free in this process, or those of this program (repeatable; not in "
		  "--all: it costs them a microsecond a call)"),
	CLI_WORD(record_options, packets, 0, "packets", "[IFACE]",
		 "packets of this interface, or of all (not in --all; see pcapng)"),
	CLI_WORD(record_options, pmc, 0, "pmc", "COUNTERS[:EVENTS]",
		 "values of counters with events: InstructionRetired,TotalCycles:CSwitch (the "
		 "default event; see 'openetw pmc')"),
	CLI_WORDS(record_options, pmc_sample, 0, "pmc-sample", "SOURCE[=N]",
		  "a sample at every Nth event of this source (repeatable)"),
	CLI_BITS(record_options, sources, ALL_SOURCES, 'a', "all", "everything this version can record"),
	CLI_DURATION(record_options, interval_us, 'i', "interval", 1000, 125, 1000000,
		     "between samples, 125us and more (default 1ms)"),
	CLI_SECONDS(record_options, duration_ns, 'd', "duration", 1000000, UINT64_MAX / 2,
		    "stop after this long (default: Ctrl-C, or the end of the command or of --pid)"),
	CLI_SIZE(record_options, ring_mb, 0, "ring", 1 << 20, RING_MB_LEAST, UINT32_MAX,
		 "keep the last so much only: 100MB; a bare number is MB"),
	CLI_FLAG(record_options, no_stacks, 0, "no-stacks", "no call stacks"),
	CLI_FLAG(record_options, frame_pointers, 0, "frame-pointers",
		 "user stacks by frame pointers alone: cheaper, and often wrong"),
	CLI_SIZE(record_options, stack_bytes, 0, "stack-size", 1, 256, 56 << 10,
		 "of a user stack copied for unwinding, up to 56K (default 8K, switches 2K)"),
	CLI_NUMBER(record_options, pid, 0, "pid", "PID", 1, INT32_MAX,
		   "of this process and its children only, until it ends (processes and images: of all)"),
	CLI_FLAG(record_options, only_command, 0, "only-command", "the same for the command that is run"),
	CLI_WORDS(record_options, provider, 'p', "provider", "P",
		  "events of this provider too, Name:keywords:level (repeatable)"),
	CLI_FLAG(record_options, index, 0, "index",
		 "make the index of the file, so that its first question is answered at once"),
	CLI_FORCE_OPTION,
	{0},
};

struct recording {
	const struct cli_args *args;
	const struct record_options *o;
	struct kernel_file *kernel;
	pid_t child;
	int watched_fd; /* the process of --pid; -1: none, or the kernel has no such descriptors */
	char *program;  /* that the child is about to run; NULL: unknown */
	int child_status;
	uint64_t duration_ns; /* 0: no end */
	uint64_t end_ns;
	TRACEHANDLE session;
	bool merge;                       /* the session has ended, its file is whole */
	struct openetw_loss applications; /* what it counted */
	char session_name[64];
	bool recorded; /* there is a file of the kernel's events */
	char user_file[4096], kernel_file[4096];
};

static uint64_t now_ns(void)
{
	return clock_read_system_ns();
}

/* ---- applications' events: a session of etwd's, merged in at the end ---------------------------- */

static int start_providers(struct recording *r, const char *out)
{
	const struct cli_words *wanted = &r->o->provider;
	if (wanted->count == 0) {
		return CLI_OK;
	}
	if (r->args->count > 0) {
		cli_provider_of_command(r->args->words[0]);
	}
	/* The parts are put together when all is recorded: too late to hear that the file cannot be written. */
	struct diag d;
	diag_clear(&d);
	if (cli_output_try(out, &d) < 0) {
		fprintf(stderr, "openetw record: cannot write %s\n", d.text);
		return CLI_FAILED;
	}
	char cannot[sizeof r->user_file + 64];
	struct etw_session s;
	struct cli_session_run run;
	struct cli_session_how how = {
		.args = r->args, .cannot = cannot, .enable_ms = 1000, .late_is_fine = true, .ours = true};
	snprintf(r->session_name, sizeof r->session_name, "openetw-record-%d", (int)getpid());
	snprintf(r->user_file, sizeof r->user_file, "%s.user.etl", out);
	snprintf(cannot, sizeof cannot, "cannot record to %s", r->user_file);
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%s", r->session_name);
	snprintf(s.file, sizeof s.file, "%s", r->user_file);
	s.props.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	int status = CLI_USAGE;
	if (cli_session_providers(r->args, NULL, wanted, &s)) {
		cli_session_start(&s, &how, &run);
		r->session = run.handle;
		status = run.status;
		if (run.refused) {
			open_output_remove(r->user_file); /* it was made for nothing */
		}
	}
	session_finish(&s);
	return status;
}

static int stop_providers(struct recording *r)
{
	struct cli_props p;
	if (!r->session) {
		return CLI_OK;
	}
	cli_props_init(&p);
	r->applications.size = sizeof r->applications;
	uint32_t code = openetw_session_stop(r->session, NULL, &p.p, &r->applications);
	r->session = 0;
	if (code) {
		return cli_fail(r->args, code, "cannot stop the session '%s'", r->session_name);
	}
	if (!r->recorded) {
		open_output_remove(r->user_file);
		return CLI_OK;
	}
	r->merge = true;
	return CLI_OK;
}

static int merge(const struct recording *r, const char *out)
{
	if (!r->merge) {
		return CLI_OK;
	}
	const char *files[] = {r->kernel_file, r->user_file};
	int status = cli_merge_files(r->args, files, 2, out, false);
	if (status) {
		fprintf(stderr, "openetw record: the parts are in %s and %s\n", files[0], files[1]);
		return status;
	}
	open_output_remove(r->kernel_file);
	open_output_remove(r->user_file);
	return CLI_OK;
}

/* ---- the recording ------------------------------------------------------------------------------ */

static pid_t spawn(char **words, int *go)
{
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		cli_child_signals();
		setenv("OPENETW_WAIT_MS", "3000", 0);
		close(go[1]);
		if (read(go[0], &c, 1) == 1) { /* the recording runs */
			close(go[0]);
			execvp(words[0], words);
			int err = errno;
			fprintf(stderr, "openetw record: cannot run %s: %s\n", words[0], strerror(err));
			_exit(err == ENOENT ? 127 : 126); /* as a shell */
		}
		_exit(127);
	}
	return pid;
}

static bool over(struct recording *r)
{
	if (cli_signal_caught() || (r->end_ns && now_ns() >= r->end_ns)) {
		return true;
	}
	int status;
	if (r->child > 0 && waitpid(r->child, &status, WNOHANG) == r->child) {
		r->child_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->child = 0;
		return true;
	}
	struct pollfd ended = {.fd = r->watched_fd, .events = POLLIN};
	if (r->watched_fd >= 0 && poll(&ended, 1, 0) == 1) {
		fprintf(stderr, "openetw record: process %llu has ended\n", (unsigned long long)r->o->pid);
		return true;
	}
	return false;
}

static void watch(struct recording *r)
{
	struct cli_progress progress;
	cli_progress_start(&progress, true);
	while (!over(r)) {
		struct kernel_stats s;
		kernel_file_poll(r->kernel, POLL_MS);
		kernel_file_stats(r->kernel, &s);
		cli_progress_show(&progress, "%llu events, %llu samples, %llu switches, %llu lost",
				  (unsigned long long)s.events, (unsigned long long)s.samples,
				  (unsigned long long)s.switches, (unsigned long long)(s.lost + s.lost_no_buffer));
	}
	cli_progress_end(&progress);
}

static void summary(const char *out, const struct recording *r, const struct kernel_stats *s, uint64_t cpu_ns,
		    double seconds)
{
	char size[32], of_applications[64] = "";
	cli_size_text(s->bytes_written + r->applications.bytes_written, size, sizeof size);
	if (r->merge) {
		snprintf(of_applications, sizeof of_applications, "%llu of applications, ",
			 (unsigned long long)r->applications.events);
	}
	fprintf(stderr,
		"recorded to %s: %llu event%s (%s%llu samples, %llu context switches, %llu stacks), %s in %.1f s\n",
		out, (unsigned long long)(s->events + r->applications.events),
		PLURAL(s->events + r->applications.events), of_applications, (unsigned long long)s->samples,
		(unsigned long long)s->switches, (unsigned long long)s->stacks, size, seconds);
	fprintf(stderr,
		"lost: %llu in full kernel rings, %llu without a buffer; recording took %.1f %% of a processor\n",
		(unsigned long long)s->lost, (unsigned long long)s->lost_no_buffer,
		seconds > 0 ? (double)cpu_ns / 1e7 / seconds : 0.0);
}

static void not_recorded(const struct kernel *k)
{
	const char *line = kernel_missing(k);
	while (*line) {
		int n = (int)strcspn(line, "\n");
		fprintf(stderr, "openetw record: not recorded: %.*s\n", n, line);
		line += n + (line[n] != 0);
	}
}

static void losses(const struct kernel *k)
{
	struct kernel_loss loss[64];
	size_t n = kernel_losses(k, loss, BASE_ARRAY_LEN(loss));
	for (size_t i = 0; i < n; i++) {
		char cpu[16] = "?";
		if (loss[i].cpu != UINT32_MAX) {
			snprintf(cpu, sizeof cpu, "%u", loss[i].cpu);
		}
		fprintf(stderr, "lost: %llu %s of processor %s\n", (unsigned long long)loss[i].count,
			loss[i].hook ? loss[i].hook : "?", cpu);
	}
}

/* ---- whose heaps ---------------------------------------------------------------------------------- */

static void add_heap(struct kernel_session *s, uint32_t pid)
{
	if (s->heaps < KERNEL_PIDS_MAX) {
		s->heap[s->heaps++] = pid;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Processes that run a program of this name or path; the command, when it is that, is about to. */
static void add_heaps_of(const struct recording *r, struct kernel_session *s, const char *name)
{
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[64], exe[4096];
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);
		snprintf(path, sizeof path, "/proc/%u/exe", pid);
		ssize_t n = pid && pid != (uint32_t)r->child ? readlink(path, exe, sizeof exe - 1) : -1;
		exe[n > 0 ? n : 0] = 0;
		if (n > 0 && strcmp(strchr(name, '/') ? exe : base_name(exe), name) == 0) {
			add_heap(s, pid);
		}
	}
	if (d) {
		closedir(d);
	}
	if (r->child > 0 && (strcmp(r->args->words[0], name) == 0 || strcmp(base_name(r->args->words[0]), name) == 0)) {
		add_heap(s, (uint32_t)r->child);
	}
}

static bool heap_targets(const struct recording *r, struct kernel_session *s)
{
	for (int i = 0; i < r->o->heap.count; i++) {
		const char *v = r->o->heap.text[i];
		uint64_t pid;
		uint32_t before = s->heaps;
		if (parse_number(v, 0, UINT64_MAX, &pid)) {
			if (!cli_process_exists(r->args, pid)) {
				return false;
			}
			add_heap(s, (uint32_t)pid);
		} else {
			add_heaps_of(r, s, v);
		}
		if (s->heaps == before) {
			fprintf(stderr,
				before == KERNEL_PIDS_MAX ? "openetw record: too many processes for --heap, at '%s'\n"
							  : "openetw record: no process runs '%s'\n",
				v);
			return false;
		}
	}
	return true;
}

/* The process of --pid ended while the recording was being started: that takes seconds on a busy machine. */
static bool gone_before(const struct recording *r, const struct kernel_options *o)
{
	return o->session.pids == 1 && r->child == 0 && !cli_process_exists(r->args, o->session.pid[0]) &&
	       fprintf(stderr, "  it ended while the recording was being started\n") > 0;
}

static int record(struct recording *r, struct kernel_options *o, const char *out)
{
	struct diag d;
	struct kernel_stats begun, stats;
	struct kernel_mask missing;
	int go[2] = {-1, -1};
	bool gone = false;
	diag_clear(&d);
	if (r->args->count > 0) {
		if (pipe2(go, O_CLOEXEC) < 0 || (r->child = spawn(r->args->words, go)) < 0) {
			return cli_fail(r->args, ERROR_NOT_ENOUGH_MEMORY, "cannot fork");
		}
		close(go[0]);
		if (r->o->only_command) {
			o->session.pid[0] = (uint32_t)r->child;
			o->session.pids = 1;
		}
	}
	if (!heap_targets(r, &o->session)) {
		base_close(&go[1]);
		return CLI_FAILED;
	}
	cli_output_private();
	struct cli_way way = {0};
	cli_way_make(o->path, &way);
	char path[PATH_MAX];
	r->program = r->child > 0 && cli_program_find(r->args->words[0], path) == 0 ? realpath(path, NULL) : NULL;
	o->soon = (struct kernel_soon){r->program ? (uint32_t)r->child : 0, r->program};
	int err = kernel_file_start(o, &r->kernel, &missing, &d);
	if (err < 0) {
		cli_way_back(&way);
		base_close(&go[1]);
		if (err == -EINTR) {
			fprintf(stderr, "openetw record: interrupted before it began: nothing was recorded\n");
			return 128 + cli_signal_caught();
		}
		fprintf(stderr, "openetw record: %s\n", d.text[0] ? d.text : strerror(-err));
		return CLI_FAILED;
	}
	r->recorded = true;
	if (!kernel_mask_empty(&missing)) {
		char names[1024];
		kernel_mask_names(&missing, names, sizeof names);
		fprintf(stderr, "openetw record: not recorded: %s%s%s\n", names, d.text[0] ? ": " : "", d.text);
	}
	not_recorded(kernel_file_engine(r->kernel));
	uint64_t started = now_ns(); /* the rundowns do not count: neither their time nor their cost */
	kernel_file_stats(r->kernel, &begun);
	r->end_ns = r->duration_ns ? started + r->duration_ns : 0;
	if (go[1] >= 0) {
		ssize_t n = write(go[1], "g", 1);
		(void)n;
		base_close(&go[1]);
	} else if ((gone = gone_before(r, o))) {
		r->end_ns = started;
	} else {
		fprintf(stderr, "recording; Ctrl-C ends\n");
	}
	watch(r);
	double seconds = (double)(now_ns() - started) / 1e9;
	kernel_file_stats(r->kernel, &stats);
	uint64_t cpu_ns = stats.cpu_ns - begun.cpu_ns;
	losses(kernel_file_engine(r->kernel));
	err = kernel_file_stop(r->kernel, &stats);
	int status = stop_providers(r);
	summary(out, r, &stats, cpu_ns, seconds);
	if (err < 0) {
		fprintf(stderr, "openetw record: %s: %s\n", out, strerror(-err));
		return CLI_FAILED;
	}
	return gone ? CLI_FAILED : status;
}

static const char *interface_name(const void *ctx, int i)
{
	return ((const struct if_nameindex *)ctx)[i].if_name;
}

static int no_interface(const struct cli_args *a, const char *name)
{
	struct if_nameindex *all = if_nameindex();
	const char *near = all ? cli_nearest(name, interface_name, all) : NULL;
	fprintf(stderr, "openetw record: there is no interface '%s'", name);
	if (near) {
		fprintf(stderr, "; did you mean '%s'?", near);
	}
	for (int i = 0; !near && all && all[i].if_name; i++) {
		fprintf(stderr, "%s%s", i ? ", " : "; there are ", all[i].if_name);
	}
	if (a->count == 0 || strcmp(a->words[0], "--") != 0) {
		fputs(" (\"--\" goes before a command)", stderr);
	}
	fputc('\n', stderr);
	if_freenameindex(all);
	return CLI_FAILED;
}

static bool given_up(void)
{
	return cli_signal_caught() != 0;
}

static int run(struct cli_args *a)
{
	const struct record_options *given = a->given;
	struct recording r = {.args = a, .o = given, .watched_fd = -1};
	char mapped[PATH_MAX];
	const char *out = cli_path_told(given->output, mapped);
	struct kernel_options o = {0};
	uint32_t wanted = given->sources | (given->heap.count ? KERNEL_HEAP : 0);
	struct cli_counters counters = {0};
	bool ok = !given->pmc || cli_counters_parse(a, given->pmc, &counters);
	for (int i = 0; ok && i < given->pmc_sample.count; i++) {
		ok = cli_counters_sampled(a, given->pmc_sample.text[i], &counters);
	}
	if (!ok) {
		return cli_told();
	}
	int missing = a->count > 0 ? cli_program_check(a, a->words[0]) : 0;
	if (missing) {
		return missing;
	}
	const char *interface = given->packets;
	if (interface && strlen(interface) >= sizeof o.session.interface) {
		return no_interface(a, interface);
	}
	if (interface && *interface && if_nametoindex(interface) == 0) {
		return no_interface(a, interface);
	}
	if (given->pid && !cli_process_exists(a, given->pid)) {
		return CLI_FAILED;
	}
	/* With a command it is that one's end that counts. */
	r.watched_fd = given->pid && a->count == 0 ? (int)syscall(SYS_pidfd_open, (pid_t)given->pid, 0) : -1;
	snprintf(o.session.interface, sizeof o.session.interface, "%s", interface ? interface : "");
	o.session.packets = interface != NULL;
	bool nothing = !wanted && !interface && !given->pmc && !counters.sampleds;
	cli_kernel_wants(&o.session, nothing ? DEFAULT_SOURCES : wanted, !given->no_stacks);
	cli_counters_wants(&o, &counters, !given->no_stacks);
	o.interval_us = (uint32_t)given->interval_us;
	o.ring_mb = (uint32_t)given->ring_mb;
	o.frame_pointers = given->frame_pointers;
	o.stack_bytes = (uint32_t)given->stack_bytes;
	o.session.pid[0] = (uint32_t)given->pid;
	o.session.pids = given->pid != 0;
	snprintf(r.kernel_file, sizeof r.kernel_file, "%s%s", out, given->provider.count ? ".kernel.etl" : "");
	o.path = r.kernel_file;
	o.give_up = given_up;
	r.duration_ns = given->duration_ns;
	cli_signals_catch();
	int status = start_providers(&r, out);
	if (status == CLI_OK) {
		status = record(&r, &o, out);
	}
	/* Without another end Ctrl-C is the one that is meant. */
	int signal = given->duration_ns || r.child > 0 ? cli_signal_caught() : 0;
	int end = stop_providers(&r);
	end = end == CLI_OK ? merge(&r, out) : end;
	if (r.child > 0) {
		kill(r.child, SIGTERM);
		waitpid(r.child, NULL, 0);
	}
	base_close(&r.watched_fd);
	free(r.program);
	cli_signals_restore();
	if (signal && status == CLI_OK) {
		cli_interrupt(signal);
	}
	if (given->index && status == CLI_OK && end == CLI_OK) {
		status = indexing_make(a, out, false);
	}
	return status != CLI_OK ? status : end != CLI_OK ? end : r.child_status;
}

const struct cli_command cli_record = {
	.name = "record",
	.synopsis = "[-o FILE] [--cpu] [--wait] [-p PROVIDER…] [options] [-- COMMAND [ARG…]]",
	.summary = "Record this machine: CPU, waits, disks, files, network, memory, system calls, with call stacks.",
	.details =
		"Writes the events of Windows' kernel logger (Process, Thread, Image, SampledProfile, CSwitch,\n"
		"DiskIo, FileIo, PageFault, TcpIp, SysCallEnter, …) from perf events and BPF programs, so that every\n"
		"tool that reads those reads this. Takes root, or CAP_PERFMON and CAP_BPF. What this kernel does not\n"
		"have is said at the start, what was lost at the end. Stacks need no frame pointers: they are\n"
		"unwound by the tables that programs have for exceptions (.eh_frame), or for debuggers. The trace\n"
		"itself names the functions that its stacks go through, and the builds of all images. With\n"
		"--provider the events of applications are merged in, on the same time line. Without options that say "
		"what,\n"
		"--cpu, --wait and --net are recorded: enough for the first lines of openetw report.\n\n"
		"Examples:\n"
		"  openetw record -d 10s                            ten seconds: where time went, and what went wrong\n"
		"  openetw record --cpu --wait -o build.etl -- make\n"
		"  openetw record --file --disk --only-command -- tar xf a.tar\n"
		"  openetw record -i 125us --pid 4711 -p MyCompany.Web\n",
	.options = options,
	CLI_INTO(record_options),
	.defaults = &(const struct record_options){.output = "openetw.etl", .interval_us = 1000},
	.run = run,
	.rest_is_command = true,
	.complete = "command",
};
