/* SPDX-License-Identifier: MIT
 *
 * TcpIp and UdpIp. As in Windows, TCP calls the peer the destination in both directions, while a
 * received datagram's destination is this machine; the sequence number and the connection's id are
 * zero.
 */
#include "kernel/kernel_bpf.h"

#include "kernel/bpf/kbpf_net.h"

#include <errno.h>

#define TCP_GROUP 0x0600u
#define UDP_GROUP 0x0800u
#define IPV6      0x10u /* added to the type */
#define TICK_NS   100000000ull

enum { /* types */
       NET_SEND = 10,
       NET_RECEIVE,
       NET_CONNECT,
       NET_DISCONNECT,
       NET_RETRANSMIT,
       NET_ACCEPT,
       NET_RECONNECT,
       NET_FAIL,
};

enum { /* of Fail */
       FAIL_RESOURCES = 1,
       FAIL_TOO_MANY_ADDRESSES,
       FAIL_ADDRESS_EXISTS,
       FAIL_INVALID_ADDRESS,
       FAIL_OTHER,
};
#define WINDOWS_AF_INET  2
#define WINDOWS_AF_INET6 23

static uint16_t failure(uint32_t error)
{
	switch (error) {
	case ENOMEM:
	case ENOBUFS: return FAIL_RESOURCES;
	case EADDRNOTAVAIL: /* all ports towards that peer are taken */ return FAIL_TOO_MANY_ADDRESSES;
	case EADDRINUSE: return FAIL_ADDRESS_EXISTS;
	case EINVAL:
	case EAFNOSUPPORT: return FAIL_INVALID_ADDRESS;
	default: return FAIL_OTHER;
	}
}

static void put_address(struct kernel_record *r, const uint8_t *a, bool six)
{
	for (unsigned i = 0; i < (six ? 16 : 4); i++) {
		kernel_put(r, a[i], 1);
	}
}

/* As an IPv6 address; those of IPv4 have ::ffff: in front. */
static void put_mapped(struct kernel_record *r, const uint8_t *a, bool six)
{
	if (!six) {
		kernel_put(r, 0, 8);
		kernel_put(r, 0, 2);
		kernel_put(r, 0xFFFF, 2);
	}
	put_address(r, a, six);
}

static uint8_t type_of(uint16_t hook)
{
	switch (hook) {
	case KBPF_TCP_SEND:
	case KBPF_UDP_SEND: return NET_SEND;
	case KBPF_TCP_RECV:
	case KBPF_UDP_RECV: return NET_RECEIVE;
	case KBPF_TCP_CONNECT: return NET_CONNECT;
	case KBPF_TCP_ACCEPT: return NET_ACCEPT;
	case KBPF_TCP_DISCONNECT: return NET_DISCONNECT;
	case KBPF_TCP_RETRANSMIT: return NET_RETRANSMIT;
	case KBPF_TCP_RECONNECT: return NET_RECONNECT;
	default: return NET_FAIL;
	}
}

bool kernel_net_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	const struct kbpf_net *n = (const void *)(raw + 1);
	struct kernel_record r;
	(void)state;
	if (raw->bytes < sizeof *n) {
		return false;
	}
	bool udp = raw->hook == KBPF_UDP_SEND || raw->hook == KBPF_UDP_RECV;
	uint8_t type = type_of(raw->hook);
	uint32_t hook = (udp ? UDP_GROUP : TCP_GROUP) | type;
	if (type == NET_FAIL) {
		/* The payload names no process, so the header does. */
		kernel_record_begin(&r, raw, (uint16_t)hook, 2, false);
		kernel_put(&r, n->six ? WINDOWS_AF_INET6 : WINDOWS_AF_INET, 2);
		kernel_put(&r, failure(n->error), 2);
		/* Behind what Windows says: why exactly, and which connection. */
		kernel_put(&r, kernel_nt_status(-(int64_t)n->error), 4);
		put_mapped(&r, n->remote, n->six);
		put_mapped(&r, n->local, n->six);
		kernel_put(&r, n->remote_port, 2);
		kernel_put(&r, n->local_port, 2);
		kernel_out(k, &r);
		return true;
	}
	bool inward = raw->hook == KBPF_UDP_RECV;
	kernel_record_begin(&r, raw, (uint16_t)(hook + (n->six ? IPV6 : 0)), 2, true);
	kernel_put(&r, r.pid, 4);
	kernel_put(&r, n->bytes, 4);
	put_address(&r, inward ? n->local : n->remote, n->six);
	put_address(&r, inward ? n->remote : n->local, n->six);
	kernel_put(&r, inward ? n->local_port : n->remote_port, 2);
	kernel_put(&r, inward ? n->remote_port : n->local_port, 2);
	if (raw->hook == KBPF_TCP_SEND) {
		kernel_put(&r, raw->time / TICK_NS, 4); /* startime, endtime */
		kernel_put(&r, raw->time / TICK_NS, 4);
	} else if (type == NET_CONNECT || type == NET_ACCEPT) {
		kernel_put(&r, n->mss, 2);
		kernel_put(&r, n->sack, 2);
		kernel_put(&r, n->timestamps, 2);
		kernel_put(&r, n->scaling, 2);
		kernel_put(&r, n->window, 4);
		kernel_put(&r, n->scale & 15, 2);
		kernel_put(&r, n->scale >> 4, 2);
	}
	kernel_put(&r, 0, 4); /* seqnum */
	kernel_put(&r, 0, 8); /* connid */
	kernel_out(k, &r);
	return true;
}
