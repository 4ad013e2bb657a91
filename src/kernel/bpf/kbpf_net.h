/* SPDX-License-Identifier: MIT
 * What net.bpf.c says of a socket. Included by both sides.
 */
#ifndef KERNEL_BPF_KBPF_NET_H
#define KERNEL_BPF_KBPF_NET_H

struct kbpf_net {
	uint8_t remote[16], local[16];    /* the first 4 bytes for IPv4 */
	uint16_t remote_port, local_port; /* in network order */
	uint8_t six;                      /* IPv6 */
	uint8_t scale;                    /* rcv_wscale | snd_wscale << 4 */
	uint16_t mss;
	uint32_t bytes;
	uint32_t window;
	uint32_t error; /* errno of a connection that failed */
	uint8_t sack, timestamps, scaling, reserved;
};

#endif
