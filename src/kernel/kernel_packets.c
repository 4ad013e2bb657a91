/* SPDX-License-Identifier: MIT
 *
 * Packets, from a packet socket, as the events of Microsoft-Windows-NDIS-PacketCapture, so that
 * tools which make capture files of such traces make them of ours. A packet that is too big for one
 * record comes in several, of which the first and the last are marked.
 */
#include "kernel/kernel_private.h"

#include "base/order.h"

#include "format/etl_head.h"

#include "kernel_payload.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES  (1u << 20)
#define BLOCKS       16u
#define RETIRE_MS    10u /* a block that is not full is handed over after this long */
#define FRAME_BYTES  2048u
#define FRAGMENT_MAX 60000u
#define NS_PER_S     1000000000ull

#define EVENT_FRAGMENT  1001u
#define EVENT_CHANNEL   16u
#define EVENT_LEVEL     4u
#define KEYWORD_ALL     0x8000060000000000ull /* of its channel, and what every packet has */
#define KEYWORD_ETHER   0x0000000000000001ull
#define KEYWORD_RAW     0x0000000000000200ull /* begins with an IP header, as on mobile networks */
#define KEYWORD_WIFI    0x0000000000010000ull
#define KEYWORD_START   0x0000000040000000ull
#define KEYWORD_END     0x0000000080000000ull
#define KEYWORD_SEND    0x0000000100000000ull
#define KEYWORD_RECEIVE 0x0000000200000000ull
#define HEAD_BYTES      (ETL_EVENT_HEADER_SIZE + 12u)
#define TAIL_BYTES      16u /* GftFlowEntryId, GftOffloadInformation */

struct packets {
	int fd;
	uint8_t *ring;
	uint32_t block;
	uint64_t sessions;
	int64_t to_monotonic; /* what the kernel's times lack */
	uint8_t body[FRAGMENT_MAX + 64 + TAIL_BYTES];
};

static int packets_open(struct kernel *k, void **ret_state, struct kernel_mask *ret_can, struct diag *d)
{
	struct packets *s = calloc(1, sizeof *s);
	(void)k, (void)ret_can, (void)d;
	if (!s) {
		return -ENOMEM;
	}
	s->fd = -1;
	*ret_state = s;
	return 0;
}

static void stop(struct packets *s)
{
	if (s->ring) {
		munmap(s->ring, (size_t)BLOCK_BYTES * BLOCKS);
		s->ring = NULL;
	}
	base_close(&s->fd);
}

static void packets_close(struct kernel *k, void *state)
{
	(void)k;
	stop(state);
	free(state);
}

/* Of the one interface that is asked for, or of all. */
static int start(struct packets *s, const char *interface)
{
	int version = TPACKET_V3, index = interface[0] ? (int)if_nametoindex(interface) : 0;
	struct tpacket_req3 r = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = FRAME_BYTES,
		.tp_frame_nr = BLOCK_BYTES / FRAME_BYTES * BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index};
	if (interface[0] && index == 0) {
		return -ENODEV;
	}
	/* Protocol 0: nothing comes until all is set up. */
	s->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_RX_RING, &r, sizeof r) < 0) {
		return -errno;
	}
	void *m = mmap(NULL, (size_t)BLOCK_BYTES * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (m == MAP_FAILED) {
		return -errno;
	}
	s->ring = m;
	s->block = 0;
	return bind(s->fd, (void *)&at, sizeof at) < 0 ? -errno : 0;
}

static void packets_update(struct kernel *k, void *state)
{
	struct packets *s = state;
	const char *interface = "";
	uint64_t sessions = 0;
	for (uint32_t i = 0; i < KERNEL_SESSIONS_MAX; i++) {
		const struct kernel_session *w = &k->slot[i].want;
		if (k->slot[i].used && w->packets) {
			sessions |= 1ull << i;
			interface = w->interface;
		}
	}
	/* Of several sessions with different wishes each gets everything. */
	if (sessions & (sessions - 1)) {
		interface = "";
	}
	s->sessions = sessions;
	k->packets_why[0] = 0;
	if (!sessions) {
		stop(s);
		return;
	}
	int err = s->fd < 0 ? start(s, interface) : 0;
	if (err < 0) {
		stop(s);
		snprintf(k->packets_why, sizeof k->packets_why, "packets: %s%.20s%s",
			 err == -ENODEV ? "there is no interface '" : "", err == -ENODEV ? interface : "",
			 err == -ENODEV                           ? "'"
			 : err == -EPERM || err == -EACCES        ? "takes root, or CAP_NET_RAW"
			 : err == -EAFNOSUPPORT || err == -ENOSYS ? "this kernel has no packet sockets"
								  : strerror(-err));
	}
}

/* ---- one packet -------------------------------------------------------------------------------
 */

static void fragment(struct kernel *k, struct packets *s, uint64_t time, uint32_t index, uint64_t keywords,
		     const uint8_t *bytes, uint32_t n)
{
	static const struct guid provider = GUID_INIT(KP_NDIS_PACKET_CAPTURE_GUID);
	uint8_t head[HEAD_BYTES];
	/* No process: where a packet is seen says nothing about whose it is. */
	const struct etl_event_head common = etl_event_head_of(0, provider.b, 0);
	uint8_t descriptor[16] = {(uint8_t)EVENT_FRAGMENT, EVENT_FRAGMENT >> 8, 0, EVENT_CHANNEL, EVENT_LEVEL};
	le64_put(descriptor + 8, keywords);
	etl_event_head_put(head, &common, 0, HEAD_BYTES + n + TAIL_BYTES, 0, time, descriptor, NULL);
	le32_put(head + ETL_EVENT_HEADER_SIZE, index);
	le32_put(head + ETL_EVENT_HEADER_SIZE + 4, index);
	le32_put(head + ETL_EVENT_HEADER_SIZE + 8, n);
	memcpy(s->body, bytes, n);
	memset(s->body + n, 0, TAIL_BYTES);
	k->stats.events++;
	k->out.record(k->out.ctx, s->sessions, 0, time, head, sizeof head, s->body, n + TAIL_BYTES);
}

static void packet(struct kernel *k, struct packets *s, const struct tpacket3_hdr *h)
{
	const struct sockaddr_ll *from =
		(const void *)((const uint8_t *)h + TPACKET_ALIGN(sizeof(struct tpacket3_hdr)));
	const uint8_t *bytes = (const uint8_t *)h + h->tp_mac;
	uint32_t n = h->tp_snaplen;
	uint64_t keywords = KEYWORD_ALL;
	uint8_t tagged[16];
	bool is_ether = from->sll_hatype == ARPHRD_ETHER || from->sll_hatype == ARPHRD_LOOPBACK;
	/* The loopback shows each packet twice, on its way out and in. */
	if (from->sll_hatype == ARPHRD_LOOPBACK && from->sll_pkttype == PACKET_OUTGOING) {
		return;
	}
	if (from->sll_hatype == ARPHRD_IEEE80211) {
		keywords |= KEYWORD_WIFI;
	} else if (is_ether) {
		keywords |= KEYWORD_ETHER;
	} else {
		keywords |= KEYWORD_RAW;
		uint32_t skip = h->tp_net > h->tp_mac ? h->tp_net - h->tp_mac : 0;
		skip = BASE_MIN(skip, n);
		bytes += skip;
		n -= skip;
	}
	keywords |= from->sll_pkttype == PACKET_OUTGOING ? KEYWORD_SEND : KEYWORD_RECEIVE;
	uint64_t time = (uint64_t)((int64_t)(h->tp_sec * NS_PER_S + h->tp_nsec) + s->to_monotonic);
	uint32_t index = (uint32_t)from->sll_ifindex;
	uint64_t place = KEYWORD_START;
	/* What the card took off is put back: addresses, tag, the rest. */
	if (is_ether && (h->tp_status & TP_STATUS_VLAN_VALID) && n > 2 * ETH_ALEN) {
		uint16_t type = h->tp_status & TP_STATUS_VLAN_TPID_VALID ? h->hv1.tp_vlan_tpid : ETH_P_8021Q;
		memcpy(tagged, bytes, 2 * ETH_ALEN);
		tagged[12] = (uint8_t)(type >> 8);
		tagged[13] = (uint8_t)type;
		tagged[14] = (uint8_t)(h->hv1.tp_vlan_tci >> 8);
		tagged[15] = (uint8_t)h->hv1.tp_vlan_tci;
		fragment(k, s, time, index, keywords | KEYWORD_START, tagged, sizeof tagged);
		bytes += 2 * ETH_ALEN;
		n -= 2 * ETH_ALEN;
		place = 0;
	}
	do {
		uint32_t part = BASE_MIN(n, FRAGMENT_MAX);
		fragment(k, s, time, index, keywords | place | (part == n ? KEYWORD_END : 0), bytes, part);
		bytes += part;
		n -= part;
		place = 0;
	} while (n > 0);
}

static void read_clock(struct packets *s)
{
	struct timespec real, mono;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	s->to_monotonic = (int64_t)(mono.tv_sec - real.tv_sec) * (int64_t)NS_PER_S + (mono.tv_nsec - real.tv_nsec);
}

static bool packets_drain(struct kernel *k, void *state)
{
	struct packets *s = state;
	bool any = false;
	if (s->fd < 0) {
		return false;
	}
	read_clock(s);
	for (;;) {
		struct tpacket_block_desc *b = (void *)(s->ring + (size_t)s->block * BLOCK_BYTES);
		/* Acquire: what the kernel put into the block before it handed it over. */
		if (!(order_load_acquire(&b->hdr.bh1.block_status) & TP_STATUS_USER)) {
			break;
		}
		const uint8_t *at = (const uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
		for (uint32_t i = 0; i < b->hdr.bh1.num_pkts; i++) {
			const struct tpacket3_hdr *h = (const void *)at;
			packet(k, s, h);
			at += h->tp_next_offset;
			any = true;
		}
		/* Release: we are done reading when the kernel sees it free. */
		order_store_release(&b->hdr.bh1.block_status, (uint32_t)TP_STATUS_KERNEL);
		s->block = (s->block + 1) % BLOCKS;
	}
	struct tpacket_stats_v3 lost = {0};
	socklen_t n = sizeof lost;
	if (getsockopt(s->fd, SOL_PACKET, PACKET_STATISTICS, &lost, &n) == 0 && lost.tp_drops > 0) {
		k->stats.lost += lost.tp_drops;
		k->out.lost(k->out.ctx, s->sessions, lost.tp_drops);
	}
	return any;
}

/* The last packets wait in a block that is not full, until the kernel hands it over. */
static void packets_rundown(struct kernel *k, void *state, uint64_t sessions, bool end)
{
	struct packets *s = state;
	if (end && s->fd >= 0 && (sessions & s->sessions)) {
		struct pollfd p = {.fd = s->fd, .events = POLLIN};
		poll(&p, 1, 2 * RETIRE_MS);
		packets_drain(k, s);
	}
}

const struct kernel_source kernel_source_packets = {
	.name = "packets",
	.open = packets_open,
	.update = packets_update,
	.drain = packets_drain,
	.rundown = packets_rundown,
	.close = packets_close,
};
