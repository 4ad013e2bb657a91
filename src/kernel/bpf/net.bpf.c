/* SPDX-License-Identifier: MIT
 *
 * TCP and UDP: bytes that programs send and receive, and the lives of connections.
 *
 * What a connection does by itself (being established, failing, retransmitting) happens in whatever
 * context a packet arrives, so sockets remember whose they are: who connected, accepted, or used
 * them last. Accepting is seen where the call returns, the only place that knows who it was.
 *
 * A datagram's sender is known only after it was copied to the caller, so such a record waits until
 * the call returns, or until the next datagram of the same call.
 */
#include "kbpf_core.h"

#include "kbpf_net.h"

#define AF_INET	     2
#define AF_INET6     10
#define IPPROTO_TCP  6
#define IPPROTO_UDP  17
#define S_IFMT	     0170000
#define S_IFSOCK     0140000
#define MSG_PEEK     0x2
#define MSG_ERRQUEUE 0x2000
#define EALREADY     114
#define EISCONN	     106
#define EINPROGRESS  115
#define EINTR	     4
#define ERESTARTSYS  512

enum { /* states of TCP */
       ESTABLISHED = 1,
       SYN_SENT,
       SYN_RECV,
       FIN_WAIT1,
       FIN_WAIT2,
       TIME_WAIT,
       CLOSE,
       CLOSE_WAIT,
       LAST_ACK,
       LISTEN,
};

#if defined(__TARGET_ARCH_x86)
enum {
	SYS_CONNECT = 42,
	SYS_ACCEPT,
	SYS_SENDTO,
	SYS_RECVFROM,
	SYS_SENDMSG,
	SYS_RECVMSG,
	SYS_ACCEPT4 = 288,
	SYS_RECVMMSG = 299,
	SYS_SENDMMSG = 307
};
#define CALL_NUMBER(r) BPF_CORE_READ(r, orig_ax)
#define CALL_ARG1(r)   BPF_CORE_READ(r, di)
#define CALL_ARG2(r)   BPF_CORE_READ(r, si)
#define CALL_ARG5(r)   BPF_CORE_READ(r, r8)
#define CALL_ARG6(r)   BPF_CORE_READ(r, r9)
#else
enum {
	SYS_ACCEPT = 202,
	SYS_CONNECT,
	SYS_SENDTO = 206,
	SYS_RECVFROM,
	SYS_SENDMSG = 211,
	SYS_RECVMSG,
	SYS_ACCEPT4 = 242,
	SYS_RECVMMSG,
	SYS_SENDMMSG = 269
};
#define CALL_NUMBER(r) BPF_CORE_READ(r, regs[8])
#define CALL_ARG1(r)   BPF_CORE_READ(r, orig_x0)
#define CALL_ARG2(r)   BPF_CORE_READ(r, regs[1])
#define CALL_ARG5(r)   BPF_CORE_READ(r, regs[4])
#define CALL_ARG6(r)   BPF_CORE_READ(r, regs[5])
#endif

/* The kernel's structures; the suffix keeps them apart from those of other files. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct in6_addr___net {
	uint8_t b[16];
};
struct socket___net;
struct sock_common___net {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr___net skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock___net {
	struct sock_common___net __sk_common;
	struct socket___net *sk_socket;
	int sk_err;
	__u16 sk_protocol;
};
struct inet_sock___net {
	__be32 inet_saddr;
};
struct tcp_options_received___net {
	__u16 tstamp_ok : 1, wscale_ok : 1, sack_ok : 3, snd_wscale : 4, rcv_wscale : 4;
};
struct tcp_sock___net {
	__u32 mss_cache, rcv_wnd;
	struct tcp_options_received___net rx_opt;
};
struct socket___net {
	struct sock___net *sk;
};
struct sk_buff___net {
	unsigned int len;
};
struct inode___net {
	unsigned short i_mode;
};
struct file___net {
	void *private_data;
	struct inode___net *f_inode;
};
struct fdtable___net {
	unsigned int max_fds;
	struct file___net **fd;
};
struct files_struct___net {
	struct fdtable___net *fdt;
};
struct task_struct___net {
	struct files_struct___net *files;
};
#pragma clang attribute pop

struct owner {
	uint32_t pid, tid, flags, reserved;
};
/* By socket. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct owner);
} net_owners SEC(".maps");

/* By thread: its call of connect() got as far as asking the peer. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, uint32_t);
} net_asked SEC(".maps");

/* By thread: messages of its sendmmsg() or recvmmsg() so far. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, uint32_t);
} net_messages SEC(".maps");

/* By thread: a datagram whose sender the caller is about to be told. */
struct waiting {
	struct kbpf_who who;
	struct kbpf_net net;
	uint64_t name, message; /* where in the caller's memory: a sockaddr, or a msghdr */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, struct waiting);
} net_waiting SEC(".maps");

/* ---- what a socket says ------------------------------------------------------------------------
 */

static __always_inline uint16_t swapped(uint16_t v)
{
	return v << 8 | v >> 8;
}

static __always_inline bool mapped(const uint8_t *a)
{
	const uint64_t *zero = (const void *)a;
	const uint32_t *half = (const void *)(a + 8);
	return *zero == 0 && *half == 0xFFFF0000u;
}

/* IPv4 that came by an IPv6 socket is shown as what it is. */
static __always_inline void unmap(struct kbpf_net *n)
{
	const uint64_t *local = (const void *)n->local;
	if (!n->six || !mapped(n->remote) || !(mapped(n->local) || (local[0] | local[1]) == 0)) {
		return;
	}
	n->six = 0;
	__builtin_memcpy(n->remote, n->remote + 12, 4);
	__builtin_memcpy(n->local, n->local + 12, 4);
	__builtin_memset(n->remote + 4, 0, 12);
	__builtin_memset(n->local + 4, 0, 12);
}

/* False: neither TCP nor UDP over IP. */
static __always_inline bool fill(struct sock___net *sk, uint16_t protocol, struct kbpf_net *n)
{
	uint16_t family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (BPF_CORE_READ(sk, sk_protocol) != protocol ||
	    (family != AF_INET && family != AF_INET6)) {
		return false;
	}
	__builtin_memset(n, 0, sizeof *n);
	n->remote_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	n->local_port = swapped(BPF_CORE_READ(sk, __sk_common.skc_num));
	if (family == AF_INET6) {
		n->six = 1;
		BPF_CORE_READ_INTO(&n->remote, sk, __sk_common.skc_v6_daddr);
		BPF_CORE_READ_INTO(&n->local, sk, __sk_common.skc_v6_rcv_saddr);
		unmap(n);
	} else {
		uint32_t remote = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		uint32_t local = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		if (local == 0) {
			local = BPF_CORE_READ((struct inet_sock___net *)sk, inet_saddr);
		}
		__builtin_memcpy(n->remote, &remote, 4);
		__builtin_memcpy(n->local, &local, 4);
	}
	return true;
}

static __always_inline void fill_options(struct sock___net *sk, struct kbpf_net *n)
{
	struct tcp_sock___net *t = (void *)sk;
	n->mss = BPF_CORE_READ(t, mss_cache);
	n->window = BPF_CORE_READ(t, rcv_wnd);
	n->sack = BPF_CORE_READ_BITFIELD_PROBED(t, rx_opt.sack_ok) != 0;
	n->timestamps = BPF_CORE_READ_BITFIELD_PROBED(t, rx_opt.tstamp_ok);
	n->scaling = BPF_CORE_READ_BITFIELD_PROBED(t, rx_opt.wscale_ok);
	n->scale = (BPF_CORE_READ_BITFIELD_PROBED(t, rx_opt.rcv_wscale) & 15) |
		   (BPF_CORE_READ_BITFIELD_PROBED(t, rx_opt.snd_wscale) & 15) << 4;
}

static __always_inline uint32_t kernel_flag(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	return BPF_CORE_READ(task, flags) & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
}

static __always_inline struct owner current_owner(void)
{
	uint64_t id = bpf_get_current_pid_tgid();
	return (struct owner){.pid = id >> 32, .tid = (uint32_t)id, .flags = kernel_flag()};
}

static __always_inline void emit(void *ctx, uint32_t hook, uint32_t slot, const struct owner *o,
				 const struct kbpf_net *n)
{
	struct kbpf_who who;
	if (kbpf_wanted_of(hook, o->pid, o->tid, &who)) {
		who.flags = o->flags;
		kbpf_write(ctx, &who, slot, n, sizeof *n);
	}
}

static __always_inline struct pt_regs *call(void)
{
	return (struct pt_regs *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
}

/* ---- addresses in the caller's memory ----------------------------------------------------------
 */

struct address { /* sockaddr_in or sockaddr_in6 */
	uint16_t family, port;
	uint32_t four;
	uint8_t six[16];
};

static __always_inline void take_name(struct kbpf_net *n, uint64_t name)
{
	struct address a;
	__builtin_memset(&a, 0, sizeof a);
	if (!name || bpf_probe_read_user(&a, 8, (void *)name) < 0) {
		return;
	}
	if (a.family == AF_INET) {
		n->remote_port = a.port;
		if (n->six) { /* an IPv6 socket may be told so */
			__builtin_memset(n->remote, 0, 16);
			n->remote[10] = n->remote[11] = 0xFF;
			__builtin_memcpy(n->remote + 12, &a.four, 4);
		} else {
			__builtin_memcpy(n->remote, &a.four, 4);
		}
	} else if (a.family == AF_INET6 && bpf_probe_read_user(&a, sizeof a, (void *)name) == 0) {
		n->remote_port = a.port;
		n->six = 1;
		__builtin_memcpy(n->remote, a.six, 16);
	}
	unmap(n);
}

/* Of a msghdr: the pointer and the length of its name. */
static __always_inline uint64_t name_of(uint64_t message)
{
	struct {
		uint64_t name;
		uint32_t bytes;
	} m = {0};
	return message && bpf_probe_read_user(&m, 12, (void *)message) == 0 && m.bytes >= 8 ? m.name
											    : 0;
}

#define MMSGHDR_BYTES 64

/* The n-th msghdr of a call with many. */
static __always_inline uint64_t next_message(uint64_t first)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), one = 1;
	uint32_t *n = bpf_map_lookup_elem(&net_messages, &tid);
	if (!n) {
		bpf_map_update_elem(&net_messages, &tid, &one, BPF_ANY);
		return first;
	}
	uint64_t at = first + (uint64_t)*n * MMSGHDR_BYTES;
	++*n;
	return at;
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

static __always_inline void remember(struct sock___net *sk)
{
	uint64_t key = (uint64_t)sk;
	if (!bpf_map_lookup_elem(&net_owners, &key)) {
		struct owner o = current_owner();
		bpf_map_update_elem(&net_owners, &key, &o, BPF_ANY);
	}
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(kbpf_net_send, struct sock___net *sk, int result, int flags)
{
	struct kbpf_net n;
	struct owner me = current_owner();
	if (result > 0 && fill(sk, IPPROTO_TCP, &n)) {
		n.bytes = result;
		remember(sk);
		emit(ctx, KBPF_TCP_SEND, KBPF_SLOT_NET_SEND, &me, &n);
	} else if (result >= 0 && fill(sk, IPPROTO_UDP, &n)) {
		n.bytes = result;
		if (!me.flags) {
			struct pt_regs *r = call();
			uint64_t number = CALL_NUMBER(r);
			if (number == SYS_SENDTO) {
				take_name(&n, CALL_ARG5(r));
			} else if (number == SYS_SENDMSG) {
				take_name(&n, name_of(CALL_ARG2(r)));
			} else if (number == SYS_SENDMMSG) {
				take_name(&n, name_of(next_message(CALL_ARG2(r))));
			}
		}
		emit(ctx, KBPF_UDP_SEND, KBPF_SLOT_NET_SEND, &me, &n);
	}
	return 0;
}

static __always_inline void flush(void *ctx, uint32_t tid, uint32_t slot)
{
	struct waiting *w = bpf_map_lookup_elem(&net_waiting, &tid);
	if (w) {
		struct kbpf_net n = w->net;
		struct kbpf_who who = w->who;
		take_name(&n, w->message ? name_of(w->message) : w->name);
		kbpf_write(ctx, &who, slot, &n, sizeof n);
		bpf_map_delete_elem(&net_waiting, &tid);
	}
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(kbpf_net_recv, struct sock___net *sk, int result, int flags)
{
	struct kbpf_net n;
	struct owner me = current_owner();
	if (flags & (MSG_PEEK | MSG_ERRQUEUE)) {
		return 0;
	}
	if (result > 0 && fill(sk, IPPROTO_TCP, &n)) {
		n.bytes = result;
		remember(sk);
		emit(ctx, KBPF_TCP_RECV, KBPF_SLOT_NET_RECV, &me, &n);
	} else if (result >= 0 && fill(sk, IPPROTO_UDP, &n)) {
		struct waiting w = {0};
		n.bytes = result;
		if (!me.flags && n.remote_port == 0) {
			struct pt_regs *r = call();
			uint64_t number = CALL_NUMBER(r);
			if (number == SYS_RECVFROM) {
				w.name = CALL_ARG5(r);
			} else if (number == SYS_RECVMSG) {
				w.message = CALL_ARG2(r);
			} else if (number == SYS_RECVMMSG) {
				w.message = next_message(CALL_ARG2(r));
			}
		}
		if (!w.name && !w.message) {
			emit(ctx, KBPF_UDP_RECV, KBPF_SLOT_NET_RECV, &me, &n);
			return 0;
		}
		flush(ctx, me.tid, KBPF_SLOT_NET_RECV);
		if (kbpf_wanted(KBPF_UDP_RECV, &w.who)) {
			w.net = n;
			bpf_map_update_elem(&net_waiting, &me.tid, &w, BPF_ANY);
		}
	}
	return 0;
}

/* ---- connections -------------------------------------------------------------------------------
 */

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(kbpf_net_state, struct sock___net *sk, int from, int to)
{
	struct kbpf_net n;
	uint64_t key = (uint64_t)sk;
	struct owner me = current_owner();
	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP) {
		return 0;
	}
	if (to == SYN_SENT) { /* in connect() */
		bpf_map_update_elem(&net_owners, &key, &me, BPF_ANY);
		bpf_map_update_elem(&net_asked, &me.tid, &me.pid, BPF_ANY);
		return 0;
	}
	struct owner *known = bpf_map_lookup_elem(&net_owners, &key);
	struct owner o = known ? *known : me;
	uint32_t hook = KBPF_HOOKS_MAX;
	if (from == SYN_SENT && to == ESTABLISHED) {
		hook = KBPF_TCP_CONNECT;
	} else if (from == SYN_SENT && to == CLOSE) {
		hook = KBPF_TCP_FAIL;
	} else if ((from == ESTABLISHED && (to == FIN_WAIT1 || to == CLOSE)) ||
		   (from == CLOSE_WAIT && (to == LAST_ACK || to == CLOSE))) {
		/* This side's end; what follows until it is closed says nothing new. One that
		 * nobody accepted was nobody's. */
		if (known || BPF_CORE_READ(sk, sk_socket)) {
			hook = KBPF_TCP_DISCONNECT;
		}
	}
	if (hook != KBPF_HOOKS_MAX && fill(sk, IPPROTO_TCP, &n)) {
		if (hook == KBPF_TCP_CONNECT) {
			fill_options(sk, &n);
		} else if (hook == KBPF_TCP_FAIL) {
			n.error = BPF_CORE_READ(sk, sk_err);
		}
		emit(ctx, hook, KBPF_SLOT_NET_STATE, &o, &n);
	}
	if (to == CLOSE && known) {
		bpf_map_delete_elem(&net_owners, &key);
	}
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(kbpf_net_retransmit, struct sock___net *sk, struct sk_buff___net *skb)
{
	struct kbpf_net n;
	uint64_t key = (uint64_t)sk;
	struct owner *known = bpf_map_lookup_elem(&net_owners, &key);
	if (!fill(sk, IPPROTO_TCP, &n)) {
		return 0;
	}
	/* Whose timer it is nobody can tell from the context. */
	struct owner o = known ? *known : (struct owner){0};
	bool again = BPF_CORE_READ(sk, __sk_common.skc_state) == SYN_SENT;
	n.bytes = again ? 0 : BPF_CORE_READ(skb, len);
	emit(ctx, again ? KBPF_TCP_RECONNECT : KBPF_TCP_RETRANSMIT, KBPF_SLOT_NET_RETRANSMIT, &o,
	     &n);
	return 0;
}

/* ---- calls that return -------------------------------------------------------------------------
 */

static __always_inline struct sock___net *sock_of(uint64_t fd)
{
	struct task_struct___net *task = (void *)bpf_get_current_task();
	struct fdtable___net *table = BPF_CORE_READ(task, files, fdt);
	struct file___net *file = NULL;
	if (fd >= BPF_CORE_READ(table, max_fds)) {
		return NULL;
	}
	struct file___net **files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof file, files + fd);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK) {
		return NULL;
	}
	struct socket___net *socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

static __always_inline void accepted(void *ctx, uint64_t fd)
{
	struct sock___net *sk = sock_of(fd);
	struct kbpf_net n;
	if (sk && fill(sk, IPPROTO_TCP, &n)) {
		struct owner me = current_owner();
		uint64_t key = (uint64_t)sk;
		bpf_map_update_elem(&net_owners, &key, &me, BPF_ANY);
		fill_options(sk, &n);
		emit(ctx, KBPF_TCP_ACCEPT, KBPF_SLOT_NET_EXIT, &me, &n);
	}
}

/* A connection that could not even be tried. */
static __always_inline void refused(void *ctx, struct pt_regs *regs, int error)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	uint32_t *asked = bpf_map_lookup_elem(&net_asked, &tid);
	struct kbpf_net n;
	if (asked) {
		bpf_map_delete_elem(&net_asked, &tid);
		return; /* the state of the socket says it */
	}
	if (error <= 0 || error == EINPROGRESS || error == EALREADY || error == EISCONN ||
	    error == EINTR || error >= ERESTARTSYS) {
		return;
	}
	struct sock___net *sk = sock_of(CALL_ARG1(regs));
	if (sk && fill(sk, IPPROTO_TCP, &n)) {
		struct owner me = current_owner();
		n.error = error;
		emit(ctx, KBPF_TCP_FAIL, KBPF_SLOT_NET_EXIT, &me, &n);
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(kbpf_net_exit, struct pt_regs *regs, long result)
{
	uint64_t number = CALL_NUMBER(regs);
	uint32_t tid;
	switch (number) {
	case SYS_ACCEPT:
	case SYS_ACCEPT4:
		if (result >= 0) {
			accepted(ctx, result);
		}
		break;
	case SYS_CONNECT:
		refused(ctx, regs, -result);
		break;
	case SYS_RECVFROM:
	case SYS_RECVMSG:
		flush(ctx, (uint32_t)bpf_get_current_pid_tgid(), KBPF_SLOT_NET_EXIT);
		break;
	case SYS_RECVMMSG:
	case SYS_SENDMMSG:
		tid = (uint32_t)bpf_get_current_pid_tgid();
		flush(ctx, tid, KBPF_SLOT_NET_EXIT);
		bpf_map_delete_elem(&net_messages, &tid);
		break;
	default:
		break;
	}
	return 0;
}
