/* SPDX-License-Identifier: MIT
 * pcapng: packets in traces as a capture file, for the tools that read those.
 */
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"

#include "kernel_payload.h"

#include <stdlib.h>
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

/* Microsoft-Windows-NDIS-PacketCapture, Microsoft-Windows-PktMon, and the kernel's SystemConfig. */
static const struct guid ndis_guid = GUID_INIT(KP_NDIS_PACKET_CAPTURE_GUID);
static const GUID pktmon_guid = {0x4d4f80d9, 0xc8bd, 0x4d73, {0xbb, 0x5b, 0x19, 0xc9, 0x04, 0x02, 0xc5, 0xac}};

enum { EVENT_FRAGMENT = 1001, EVENT_PKTMON = 160, CONFIG_NIC = 13 };
enum { PKTMON_ETHERNET = 1, PKTMON_WIFI = 2, PKTMON_IP = 3 };
#define COMPONENT     0x80000000u /* set in the index of what is no interface */
#define KEYWORD_RAW   0x0000000000000200ull
#define KEYWORD_WIFI  0x0000000000010000ull
#define KEYWORD_START 0x0000000040000000ull
#define KEYWORD_END   0x0000000080000000ull
#define KEYWORD_SEND  0x0000000100000000ull

enum { LINK_ETHERNET = 1, LINK_RAW = 101, LINK_WIFI = 105 };
enum { BLOCK_SECTION = 0x0A0D0D0A, BLOCK_INTERFACE = 1, BLOCK_PACKET = 6 };
enum { OPTION_END, OPTION_COMMENT, OPTION_NAME = 2, OPTION_FLAGS = 2, OPTION_RESOLUTION = 9, OPTION_APP = 4 };
enum { FLAG_INBOUND = 1, FLAG_OUTBOUND = 2 };
#define UNIX_EPOCH     116444736000000000ull /* in FILETIME */
#define RESOLUTION     7u                    /* 10^-7 s, as FILETIME has it */
#define INTERFACES_MAX 1024u
#define PACKET_MAX     (1u << 20)
#define FRAGMENT_HEAD  12u

struct interface {
	uint32_t index, link;
};
struct nic {
	uint32_t index;
	char name[128];
};
struct pcapng {
	struct cli_output *output;
	FILE *f;    /* of output */
	bool names; /* the first time through: what interfaces are called */
	struct nic nic[INTERFACES_MAX];
	uint32_t nics;
	struct interface interface[INTERFACES_MAX];
	uint32_t interfaces;
	uint8_t *bytes; /* of a packet that comes in pieces */
	uint32_t n;
	bool whole; /* from its first piece on */
	uint64_t packets, octets, broken;
	struct strbuf block;
	bool failed;
};

/* ---- blocks -----------------------------------------------------------------------------------
 */

static void put32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, 4);
}

static void put16(struct strbuf *b, uint16_t v)
{
	strbuf_add(b, &v, 2);
}

static void pad(struct strbuf *b)
{
	while (b->len % 4) {
		strbuf_addc(b, 0);
	}
}

static void option(struct strbuf *b, uint16_t code, const void *value, size_t n)
{
	put16(b, code);
	put16(b, (uint16_t)n);
	strbuf_add(b, value, n);
	pad(b);
}

static void begin(struct pcapng *p, uint32_t type)
{
	strbuf_clear(&p->block);
	put32(&p->block, type);
	put32(&p->block, 0);
}

/* The length stands at both ends, so that files can be read backwards. */
static void end(struct pcapng *p)
{
	uint32_t n = (uint32_t)p->block.len + 4;
	put32(&p->block, n);
	if (p->block.failed) {
		p->failed = true;
		return;
	}
	memcpy(p->block.s + 4, &n, 4);
	p->failed = p->failed || fwrite(p->block.s, 1, n, p->f) != n;
}

static void write_section(struct pcapng *p)
{
	static const char app[] = "openetw pcapng";
	begin(p, BLOCK_SECTION);
	put32(&p->block, 0x1A2B3C4D);
	put16(&p->block, 1);
	put16(&p->block, 0);
	put32(&p->block, UINT32_MAX); /* the length is not known */
	put32(&p->block, UINT32_MAX);
	option(&p->block, OPTION_APP, app, sizeof app - 1);
	put32(&p->block, OPTION_END);
	end(p);
}

static uint32_t interface_of(struct pcapng *p, uint32_t index, uint32_t link)
{
	for (uint32_t i = 0; i < p->interfaces; i++) {
		if (p->interface[i].index == index && p->interface[i].link == link) {
			return i;
		}
	}
	if (p->interfaces == INTERFACES_MAX) {
		return UINT32_MAX;
	}
	char name[160];
	uint8_t resolution = RESOLUTION;
	snprintf(name, sizeof name, index & COMPONENT ? "component %u" : "if%u", index & ~COMPONENT);
	for (uint32_t i = 0; i < p->nics; i++) {
		if (p->nic[i].index == index) {
			snprintf(name, sizeof name, "%s", p->nic[i].name);
		}
	}
	begin(p, BLOCK_INTERFACE);
	put16(&p->block, (uint16_t)link);
	put16(&p->block, 0);
	put32(&p->block, 0); /* no limit of what is captured */
	option(&p->block, OPTION_NAME, name, strlen(name));
	option(&p->block, OPTION_RESOLUTION, &resolution, 1);
	put32(&p->block, OPTION_END);
	end(p);
	p->interface[p->interfaces] = (struct interface){index, link};
	return p->interfaces++;
}

/* Windows can be told to keep only the beginning of packets, and does not say how long they were;
 * the packets themselves do. */
static uint32_t length_on_wire(uint32_t link, const uint8_t *b, uint32_t n)
{
	uint32_t at = link == LINK_ETHERNET ? 14 : 0, length = 0;
	uint16_t type = link == LINK_ETHERNET && n >= 14 ? (uint16_t)(b[12] << 8 | b[13]) : 0;
	if (link == LINK_WIFI || n < at + 20) {
		return n;
	}
	if (type == 0x0800 || (link == LINK_RAW && b[0] >> 4 == 4)) {
		length = at + (uint32_t)(b[at + 2] << 8 | b[at + 3]);
	} else if (type == 0x86DD || (link == LINK_RAW && b[0] >> 4 == 6)) {
		length = at + 40 + (uint32_t)(b[at + 4] << 8 | b[at + 5]);
	}
	return BASE_MAX(length, n);
}

static void write_packet(struct pcapng *p, const EVENT_RECORD *e, uint32_t index, uint32_t link, uint32_t length,
			 bool out)
{
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart - UNIX_EPOCH;
	uint32_t flags = out ? FLAG_OUTBOUND : FLAG_INBOUND;
	uint32_t number = interface_of(p, index, link), pid = e->EventHeader.ProcessId;
	if (number == UINT32_MAX) {
		p->broken++;
		return;
	}
	begin(p, BLOCK_PACKET);
	put32(&p->block, number);
	put32(&p->block, (uint32_t)(time >> 32));
	put32(&p->block, (uint32_t)time);
	put32(&p->block, p->n);
	put32(&p->block, length);
	strbuf_add(&p->block, p->bytes, p->n);
	pad(&p->block);
	option(&p->block, OPTION_FLAGS, &flags, 4);
	if (pid != 0 && pid != UINT32_MAX) {
		char text[64];
		snprintf(text, sizeof text, "PID=%u TID=%u", pid, e->EventHeader.ThreadId);
		option(&p->block, OPTION_COMMENT, text, strlen(text));
	}
	put32(&p->block, OPTION_END);
	end(p);
	p->packets++;
	p->octets += p->n;
}

/* ---- events -----------------------------------------------------------------------------------
 */

static void on_nic(struct pcapng *p, const EVENT_RECORD *e)
{
	struct bytes b = bytes_of(e->UserData, e->UserDataLength);
	size_t units = 0;
	bytes_take(&b, 12);
	uint32_t index = bytes_u32(&b);
	bytes_take(&b, 4);
	const uint8_t *name = bytes_wsz(&b, &units);
	if (name && p->nics < INTERFACES_MAX) {
		struct nic *n = &p->nic[p->nics++];
		n->index = index;
		if (utf16_to_utf8_lossy(name, units, n->name, sizeof n->name) < 0 || !n->name[0]) {
			snprintf(n->name, sizeof n->name, "if%u", index);
		}
	}
}

static void on_fragment(struct pcapng *p, const EVENT_RECORD *e)
{
	uint64_t keywords = e->EventHeader.EventDescriptor.Keyword;
	struct bytes b = bytes_of(e->UserData, e->UserDataLength);
	bytes_u32(&b); /* the miniport's interface; the one it is seen at is the other */
	uint32_t index = bytes_u32(&b), n = bytes_u32(&b);
	const uint8_t *bytes = bytes_take(&b, n);
	uint32_t link = keywords & KEYWORD_WIFI ? LINK_WIFI : keywords & KEYWORD_RAW ? LINK_RAW : LINK_ETHERNET;
	if (keywords & KEYWORD_START) {
		p->broken += p->whole;
		p->n = 0;
		p->whole = true;
	}
	if (!bytes || !p->whole || n > PACKET_MAX - p->n) {
		p->broken++;
		p->whole = false;
		return;
	}
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
	if (keywords & KEYWORD_END) {
		write_packet(p, e, index, link, length_on_wire(link, p->bytes, p->n), keywords & KEYWORD_SEND);
		p->whole = false;
	}
}

/* Windows' packet monitor sees a packet at each component it passes, and says so each time. */
static void on_pktmon(struct pcapng *p, const EVENT_RECORD *e)
{
	struct bytes b = bytes_of(e->UserData, e->UserDataLength);
	bytes_take(&b, 12); /* which packet, and which of its appearances */
	uint16_t direction = bytes_u16(&b), type = bytes_u16(&b), component = bytes_u16(&b);
	bytes_take(&b, 12); /* edge, filter, reason and place of a drop */
	uint16_t length = bytes_u16(&b), n = bytes_u16(&b);
	const uint8_t *bytes = bytes_take(&b, n);
	uint32_t link = type == PKTMON_WIFI ? LINK_WIFI : type == PKTMON_IP ? LINK_RAW : LINK_ETHERNET;
	if (type < PKTMON_ETHERNET || type > PKTMON_IP || !bytes) {
		p->broken++;
		return;
	}
	memcpy(p->bytes, bytes, n);
	p->n = n;
	/* None, In, Out, Rx, Tx, Ingress, Egress */
	write_packet(p, e, component | COMPONENT, link, BASE_MAX(length, n), direction != 0 && direction % 2 == 0);
}

static bool on_event(void *ctx, const EVENT_RECORD *e)
{
	struct pcapng *p = ctx;
	const EVENT_HEADER *h = &e->EventHeader;
	if (p->names) {
		if (h->EventDescriptor.Opcode == CONFIG_NIC &&
		    memcmp(&h->ProviderId, &EventTraceConfigGuid, sizeof EventTraceConfigGuid) == 0) {
			on_nic(p, e);
		}
	} else if (h->EventDescriptor.Id == EVENT_FRAGMENT &&
		   memcmp(&h->ProviderId, &ndis_guid, sizeof ndis_guid) == 0) {
		on_fragment(p, e);
	} else if (h->EventDescriptor.Id == EVENT_PKTMON &&
		   memcmp(&h->ProviderId, &pktmon_guid, sizeof pktmon_guid) == 0) {
		on_pktmon(p, e);
	}
	return !p->failed;
}

static bool read_all(struct pcapng *p, struct cli_args *a, bool names, int *ret_interrupted)
{
	struct cli_trace t = {.args = a, .event = on_event, .ctx = p, .no_progress = names};
	p->names = names;
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

static int convert(struct pcapng *p, struct cli_args *a, const char *out, bool quiet)
{
	int interrupted = 0;
	if (!read_all(p, a, true, &interrupted) || interrupted) {
		return interrupted ? 128 + interrupted : CLI_FAILED;
	}
	p->output = cli_output_open(a, out, true);
	p->f = cli_output_file(p->output);
	if (!p->f) {
		return CLI_FAILED;
	}
	write_section(p);
	bool read = read_all(p, a, false, &interrupted);
	if (read && !interrupted && !p->failed && p->packets == 0 && p->broken == 0) {
		cli_output_drop(p->output);
		fprintf(stderr,
			"openetw pcapng: there are no packets in %s: 'openetw record --packets', 'netsh trace start "
			"capture=yes' or 'pktmon start --capture' record them\n",
			a->words[0]);
		return CLI_FAILED;
	}
	if (cli_output_close(p->output, read && !interrupted && !p->failed) != CLI_OK || p->failed) {
		return CLI_FAILED;
	}
	if (interrupted) {
		return 128 + interrupted;
	}
	if (!quiet) {
		fprintf(stderr, "%llu packets of %u interfaces, %llu bytes, to %s\n", (unsigned long long)p->packets,
			p->interfaces, (unsigned long long)p->octets, out);
	}
	if (p->broken) {
		fprintf(stderr,
			"openetw pcapng: %llu packets are not whole in the trace; they were left "
			"out\n",
			(unsigned long long)p->broken);
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
	struct pcapng *p = calloc(1, sizeof *p);
	if (!p || !(p->bytes = malloc(PACKET_MAX))) {
		free(p);
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
	}
	int status = convert(p, a, out, o->quiet);
	strbuf_finish(&p->block);
	free(p->bytes);
	free(p);
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
