/* SPDX-License-Identifier: MIT */
#include "tools/export/pcapng.h"

#include "tools/common/cli.h"

#include "kernel_payload.h"

#include <stdlib.h>

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
	FILE *f;
	struct nic nic[INTERFACES_MAX];
	uint32_t nics;
	struct interface interface[INTERFACES_MAX];
	uint32_t interfaces;
	uint8_t *bytes; /* of a packet that comes in pieces */
	uint32_t n;
	bool whole; /* from its first piece on */
	struct pcapng_counts counts;
	const char *process; /* of the packet; NULL: not known */
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

bool pcapng_begin(struct pcapng *p, FILE *f)
{
	p->f = f;
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
	return !p->failed;
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
	p->counts.interfaces++;
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
		p->counts.broken++;
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
		char text[320];
		snprintf(text, sizeof text, "PID=%u TID=%u%s%s", pid, e->EventHeader.ThreadId,
			 p->process ? " ProcessName=" : "", p->process ? p->process : "");
		option(&p->block, OPTION_COMMENT, text, strlen(text));
	}
	put32(&p->block, OPTION_END);
	end(p);
	p->counts.packets++;
	p->counts.octets += p->n;
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
		p->counts.broken += p->whole;
		p->n = 0;
		p->whole = true;
	}
	if (!bytes || !p->whole || n > PACKET_MAX - p->n) {
		p->counts.broken++;
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
		p->counts.broken++;
		return;
	}
	memcpy(p->bytes, bytes, n);
	p->n = n;
	/* None, In, Out, Rx, Tx, Ingress, Egress */
	write_packet(p, e, component | COMPONENT, link, BASE_MAX(length, n), direction != 0 && direction % 2 == 0);
}

struct pcapng *pcapng_create(void)
{
	struct pcapng *p = calloc(1, sizeof *p);
	if (p && !(p->bytes = malloc(PACKET_MAX))) {
		free(p);
		p = NULL;
	}
	return p;
}

void pcapng_destroy(struct pcapng *p)
{
	if (p) {
		strbuf_finish(&p->block);
		free(p->bytes);
		free(p);
	}
}

void pcapng_learn(struct pcapng *p, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	if (h->EventDescriptor.Opcode == CONFIG_NIC &&
	    memcmp(&h->ProviderId, &EventTraceConfigGuid, sizeof EventTraceConfigGuid) == 0) {
		on_nic(p, e);
	}
}

bool pcapng_event(struct pcapng *p, const EVENT_RECORD *e, const char *process, bool *ret_packet)
{
	const EVENT_HEADER *h = &e->EventHeader;
	p->process = process;
	*ret_packet = true;
	if (h->EventDescriptor.Id == EVENT_FRAGMENT && memcmp(&h->ProviderId, &ndis_guid, sizeof ndis_guid) == 0) {
		on_fragment(p, e);
	} else if (h->EventDescriptor.Id == EVENT_PKTMON &&
		   memcmp(&h->ProviderId, &pktmon_guid, sizeof pktmon_guid) == 0) {
		on_pktmon(p, e);
	} else {
		*ret_packet = false;
	}
	return !p->failed;
}

const struct pcapng_counts *pcapng_counts(const struct pcapng *p)
{
	return &p->counts;
}
