/* SPDX-License-Identifier: MIT
 * pcapng: packets in traces as a capture file, for the tools that read those.
 */
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"
#include "tools/export/pcapng.h"

#include <unistd.h>

struct pcapng_options {
	const char *output;
	bool quiet;
};
static const struct cli_option options[] = {
	CLI_WORD(pcapng_options, output, 'o', "output", "FILE",
		 "the capture file to write (default: the trace's name with .pcapng)"),
	CLI_FLAG(pcapng_options, quiet, 'q', "quiet", "no summary line"),
	CLI_FORCE_OPTION,
	{0},
};

struct job {
	struct pcapng *p;
	bool names; /* the first time through: what interfaces are called */
	bool failed;
};

static bool on_event(void *ctx, const EVENT_RECORD *e)
{
	struct job *j = ctx;
	bool packet;
	if (j->names) {
		pcapng_learn(j->p, e);
	} else {
		j->failed = !pcapng_event(j->p, e, NULL, &packet);
	}
	return !j->failed;
}

static bool read_all(struct job *j, struct cli_args *a, bool names, int *ret_interrupted)
{
	struct cli_trace t = {.args = a, .event = on_event, .ctx = j, .no_progress = names};
	j->names = names;
	if (!cli_trace_open(&t, a->count, a->words, NULL)) {
		return false;
	}
	uint32_t code = cli_trace_run(&t);
	*ret_interrupted = t.interrupted;
	if (code && code != ERROR_CANCELLED) {
		cli_fail(a, code, "cannot read %s", a->words[0]);
		return false;
	}
	return true;
}

static int convert(struct job *j, struct cli_args *a, const char *out, bool quiet)
{
	const struct pcapng_counts *n = pcapng_counts(j->p);
	int interrupted = 0;
	if (!read_all(j, a, true, &interrupted) || interrupted) {
		return interrupted ? 128 + interrupted : CLI_FAILED;
	}
	struct cli_output *o = cli_output_open(a, out, true);
	if (!o) {
		return CLI_FAILED;
	}
	j->failed = !pcapng_begin(j->p, cli_output_file(o));
	bool read = read_all(j, a, false, &interrupted);
	if (read && !interrupted && !j->failed && n->packets == 0 && n->broken == 0) {
		cli_output_drop(o);
		fprintf(stderr,
			"openetw pcapng: there are no packets in %s: 'openetw record --packets', 'netsh trace start "
			"capture=yes' or 'pktmon start --capture' record them\n",
			a->words[0]);
		return CLI_FAILED;
	}
	if (cli_output_close(o, read && !interrupted && !j->failed) != CLI_OK || j->failed) {
		return CLI_FAILED;
	}
	if (interrupted) {
		return 128 + interrupted;
	}
	if (!quiet) {
		fprintf(stderr, "%llu packets of %u interfaces, %llu bytes, to %s\n", (unsigned long long)n->packets,
			n->interfaces, (unsigned long long)n->octets, out);
	}
	if (n->broken) {
		fprintf(stderr,
			"openetw pcapng: %llu packets are not whole in the trace; they were left "
			"out\n",
			(unsigned long long)n->broken);
	}
	return read ? CLI_OK : CLI_FAILED;
}

static int run(struct cli_args *a)
{
	char name[4096];
	const struct pcapng_options *o = a->given;
	const char *out = o->output;
	if (a->count == 0) {
		return cli_usage(a, "which trace?");
	}
	if (!out) {
		const char *in = a->words[0], *dot = strrchr(in, '.'), *slash = strrchr(in, '/');
		size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - in) : strlen(in);
		snprintf(name, sizeof name, "%.*s.pcapng", (int)n, in);
		out = name;
	}
	struct job j = {.p = pcapng_create()};
	if (!j.p) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
	}
	int status = convert(&j, a, out, o->quiet);
	pcapng_destroy(j.p);
	return status;
}

const struct cli_command cli_pcapng = {
	.name = "pcapng",
	.synopsis = "FILE… [-o CAPTURE]",
	.summary = "Make a capture file of the packets in a trace.",
	.details = "Takes the packets that 'openetw record --packets' or, on Windows, 'netsh trace "
		   "start capture=yes'\n"
		   "recorded (events of Microsoft-Windows-NDIS-PacketCapture), or 'pktmon start "
		   "--capture', and writes them\n"
		   "as pcapng, which Wireshark, tcpdump and others read. Interfaces have the names "
		   "that the trace knows;\n"
		   "in traces of pktmon they are the components that saw the packet.\n\n"
		   "Examples:\n"
		   "  openetw record --packets eth0 -d 10s -o net.etl && openetw pcapng net.etl\n"
		   "  openetw pcapng NetTrace.etl -o NetTrace.pcapng\n",
	.options = options,
	CLI_INTO(pcapng_options),
	.run = run,
	.complete = "file",
};
