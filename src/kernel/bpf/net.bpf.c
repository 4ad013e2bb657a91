/* SPDX-License-Identifier: MIT
 *
 * TCP and UDP: bytes that programs send and receive, and the lives of connections.
 *
 * What a connection does by itself (being established, failing, retransmitting) happens in whatever
 * context a packet arrives, so sockets remember whose they are: who connected, accepted, or used
 * them last. Accepting is seen where the call returns, the only place that knows who it was.
 *
 * A socket that is not connected has no peer, and one that is bound to all addresses none of its own:
 * which addresses a datagram has is read from its headers, in the queue from which the call takes
 * it next, and where it is given to a device. Or else from the caller's sockaddr: who sent it is known
 * only after that was copied to the caller, so such a record waits until the call returns, or until the
 * next datagram of the same call.
 */
#define KBPF_OWN_STACK
#define KBPF_NO_COUNTERS /* these programs have no room for it */
#include "kbpf_core.h"

#include "kbpf_net.h"

#define AF_INET      2
#define AF_INET6     10
#define IPPROTO_TCP  6
#define IPPROTO_UDP  17
#define S_IFMT       0170000
#define S_IFSOCK     0140000
#define MSG_PEEK     0x2
#define MSG_ERRQUEUE 0x2000
#define EALREADY     114
#define EISCONN      106
#define EINPROGRESS  115
#define EINTR        4
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
	SYS_READ = 0,
	SYS_WRITE,
	SYS_READV = 19,
	SYS_WRITEV,
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
#define CALL_ARG3(r)   BPF_CORE_READ(r, dx)
#define CALL_ARG4(r)   BPF_CORE_READ(r, r10)
#define CALL_ARG5(r)   BPF_CORE_READ(r, r8)
#define CALL_ARG6(r)   BPF_CORE_READ(r, r9)
#else
enum {
	SYS_READ = 63,
	SYS_WRITE,
	SYS_READV,
	SYS_WRITEV,
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
#define CALL_ARG3(r)   BPF_CORE_READ(r, regs[2])
#define CALL_ARG4(r)   BPF_CORE_READ(r, regs[3])
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
struct sk_buff_head___net {
	struct sk_buff___net *next;
};
struct sock___net {
	struct sock_common___net __sk_common;
	struct sk_buff_head___net sk_receive_queue;
	struct socket___net *sk_socket;
	int sk_err;
	__u16 sk_protocol;
};
struct inet_sock___net {
	__be32 inet_saddr;
	__be16 inet_sport;
};
struct udp_sock___net {
	struct sk_buff_head___net reader_queue;
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
	struct sk_buff___net *next;
	unsigned int len;
	struct sock___net *sk;
	unsigned char *head;
	__u16 network_header, transport_header;
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
	uint64_t stack; /* with which it asked for the connection; 0: none */
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

/* By thread: the datagram that its call is about to be told as sent or received, by its own headers. */
struct datagram {
	uint64_t sk; /* whose; 0: none */
	uint8_t from[16], to[16];
	uint16_t from_port, to_port;
	uint8_t six;
};
struct datagrams {
	struct datagram in, out;
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct datagrams);
} net_datagrams SEC(".maps");

/* By socket: somebody waits for a datagram, and this is the first that came. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct datagram);
} net_awaited SEC(".maps");

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
	if (BPF_CORE_READ(sk, sk_protocol) != protocol || (family != AF_INET && family != AF_INET6)) {
		return false;
	}
	__builtin_memset(n, 0, sizeof *n);
	n->remote_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	n->local_port = swapped(BPF_CORE_READ(sk, __sk_common.skc_num));
	if (n->local_port == 0) { /* a reset takes it away before it says so */
		n->local_port = BPF_CORE_READ((struct inet_sock___net *)sk, inet_sport);
	}
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

/* What the current thread does itself. */
static __always_inline void emit(void *ctx, uint32_t hook, uint32_t slot, const struct owner *o,
				 const struct kbpf_net *n)
{
	struct kbpf_who who;
	if (kbpf_wanted_of(hook, o->pid, o->tid, &who)) {
		who.flags = o->flags;
		kbpf_write(ctx, &who, slot, n, sizeof *n);
	}
}

/* What happens to a connection in whatever context: the stack is the one it was asked for with. */
static __always_inline void emit_of(void *ctx, uint32_t hook, uint32_t slot, const struct owner *o,
				    const struct kbpf_net *n)
{
	struct kbpf_who who;
	if (kbpf_wanted_of(hook, o->pid, o->tid, &who)) {
		who.flags = o->flags;
		who.own_stack = who.stacks ? o->stack : 0;
		who.stacks = 0;
		kbpf_write(ctx, &who, slot, n, sizeof *n);
	}
}

/* ---- datagrams by their headers ----------------------------------------------------------------
 */

static __always_inline void read_headers(struct sk_buff___net *skb, struct sock___net *sk, struct datagram *d)
{
	unsigned char *head = BPF_CORE_READ(skb, head);
	unsigned char *ip = head + BPF_CORE_READ(skb, network_header);
	unsigned char *udp = head + BPF_CORE_READ(skb, transport_header);
	uint8_t version = 0;
	uint16_t ports[2] = {0, 0};
	if (bpf_probe_read_kernel(&version, 1, ip) || bpf_probe_read_kernel(ports, sizeof ports, udp)) {
		return;
	}
	d->six = version >> 4 == 6;
	if (d->six) {
		bpf_probe_read_kernel(d->from, 16, ip + 8);
		bpf_probe_read_kernel(d->to, 16, ip + 24);
	} else {
		uint16_t fragment = 0;
		bpf_probe_read_kernel(&fragment, 2, ip + 6);
		if (swapped(fragment) & 0x1FFF) {
			return; /* not the first: has no ports */
		}
		bpf_probe_read_kernel(d->from, 4, ip + 12);
		bpf_probe_read_kernel(d->to, 4, ip + 16);
	}
	d->from_port = ports[0];
	d->to_port = ports[1];
	d->sk = (uint64_t)sk;
}

/* UDP, and has no peer: one that is connected knows both addresses itself. */
static __always_inline bool meets_anybody(struct sock___net *sk)
{
	return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP && BPF_CORE_READ(sk, __sk_common.skc_dport) == 0;
}

static __always_inline struct datagrams *datagrams_of_current(bool make)
{
	return bpf_task_storage_get(&net_datagrams, bpf_get_current_task_btf(), NULL,
				    make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* The datagram that is received next from there; NULL: none. */
static __always_inline struct sk_buff___net *first_queued(struct sock___net *sk)
{
	struct udp_sock___net *u = (void *)sk;
	struct sk_buff___net *skb = BPF_CORE_READ(u, reader_queue.next);
	void *end = (char *)u + bpf_core_field_offset(struct udp_sock___net, reader_queue);
	if (skb == NULL || skb == end) {
		skb = BPF_CORE_READ(sk, sk_receive_queue.next);
		end = (char *)sk + bpf_core_field_offset(struct sock___net, sk_receive_queue);
	}
	return skb == end ? NULL : skb;
}

/* In the thread that asks for a datagram. */
static __always_inline void look_ahead(struct sock___net *sk)
{
	struct datagrams *all = datagrams_of_current(true);
	uint64_t key = (uint64_t)sk;
	if (!all) {
		return;
	}
	all->in.sk = 0;
	bpf_map_delete_elem(&net_awaited, &key); /* before looking, so that none falls between */
	struct sk_buff___net *skb = first_queued(sk);
	if (skb) {
		read_headers(skb, sk, &all->in);
	} else {
		struct datagram none = {0};
		bpf_map_update_elem(&net_awaited, &key, &none, BPF_NOEXIST);
	}
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(kbpf_net_ready, struct sock___net *sk)
{
	uint64_t key = (uint64_t)sk;
	struct datagram *d = bpf_map_lookup_elem(&net_awaited, &key);
	if (d && d->sk == 0 && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP) {
		struct sk_buff___net *skb = first_queued(sk);
		if (skb) {
			read_headers(skb, sk, d);
		}
	}
	return 0;
}

/* In the thread that sends it, as a rule. */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(kbpf_net_queue, struct sk_buff___net *skb)
{
	struct sock___net *sk = skb->sk;
	struct kbpf_who who;
	if (sk && meets_anybody(sk) && kbpf_wanted(KBPF_UDP_SEND, &who)) {
		struct datagrams *all = datagrams_of_current(true);
		if (all) {
			read_headers(skb, sk, &all->out);
		}
	}
	return 0;
}

/* Takes what was read for this socket; false: nothing was. */
static __always_inline bool take_datagram(struct sock___net *sk, struct kbpf_net *n, bool in)
{
	struct datagrams *all = datagrams_of_current(false);
	struct datagram *d = !all ? NULL : in ? &all->in : &all->out;
	uint64_t key = (uint64_t)sk;
	bool awaited = in && d && d->sk != key;
	if (awaited) {
		d = bpf_map_lookup_elem(&net_awaited, &key);
	}
	if (!d || d->sk != key) {
		return false;
	}
	d->sk = 0;
	n->six = d->six;
	__builtin_memset(n->remote, 0, 16);
	__builtin_memset(n->local, 0, 16);
	if (d->six) {
		__builtin_memcpy(n->remote, in ? d->from : d->to, 16);
		__builtin_memcpy(n->local, in ? d->to : d->from, 16);
	} else {
		__builtin_memcpy(n->remote, in ? d->from : d->to, 4);
		__builtin_memcpy(n->local, in ? d->to : d->from, 4);
	}
	n->remote_port = in ? d->from_port : d->to_port;
	n->local_port = in ? d->to_port : d->from_port;
	if (awaited) {
		bpf_map_delete_elem(&net_awaited, &key);
	}
	return true;
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
	return message && bpf_probe_read_user(&m, 12, (void *)message) == 0 && m.bytes >= 8 ? m.name : 0;
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

static __always_inline void sent(void *ctx, struct sock___net *sk, int result)
{
	struct kbpf_net n;
	struct owner me = current_owner();
	if (result > 0 && fill(sk, IPPROTO_TCP, &n)) {
		n.bytes = result;
		remember(sk);
		emit(ctx, KBPF_TCP_SEND, KBPF_SLOT_NET_SEND, &me, &n);
	} else if (result >= 0 && fill(sk, IPPROTO_UDP, &n)) {
		n.bytes = result;
		struct pt_regs *r = call();
		uint64_t number = me.flags ? 0 : CALL_NUMBER(r);
		uint64_t message = number == SYS_SENDMMSG  ? next_message(CALL_ARG2(r))
				   : number == SYS_SENDMSG ? CALL_ARG2(r)
							   : 0;
		if (!take_datagram(sk, &n, false)) {
			take_name(&n, number == SYS_SENDTO ? CALL_ARG5(r) : name_of(message));
		}
		emit(ctx, KBPF_UDP_SEND, KBPF_SLOT_NET_SEND, &me, &n);
	}
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(kbpf_net_send, struct sock___net *sk, int result, int flags)
{
	sent(ctx, sk, result);
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

static __always_inline void received(void *ctx, struct sock___net *sk, int result, int flags)
{
	struct kbpf_net n;
	struct owner me = current_owner();
	if (flags & (MSG_PEEK | MSG_ERRQUEUE)) {
		return;
	}
	if (result > 0 && fill(sk, IPPROTO_TCP, &n)) {
		n.bytes = result;
		remember(sk);
		emit(ctx, KBPF_TCP_RECV, KBPF_SLOT_NET_RECV, &me, &n);
	} else if (result >= 0 && fill(sk, IPPROTO_UDP, &n)) {
		struct waiting w = {0};
		n.bytes = result;
		if (!take_datagram(sk, &n, true) && !me.flags && n.remote_port == 0) {
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
			return;
		}
		flush(ctx, me.tid, KBPF_SLOT_NET_RECV);
		if (kbpf_wanted(KBPF_UDP_RECV, &w.who)) {
			w.net = n;
			bpf_map_update_elem(&net_waiting, &me.tid, &w, BPF_ANY);
		}
	}
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(kbpf_net_recv, struct sock___net *sk, int result, int flags)
{
	received(ctx, sk, result, flags);
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
		struct kbpf_who who;
		if (kbpf_wanted(KBPF_TCP_CONNECT, &who) && who.stacks && who.unwind) {
			me.stack = kbpf_user_stack(KBPF_SLOT_NET_STATE, false, who.time, who.sessions);
		}
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
		if ((to == FIN_WAIT1 || to == LAST_ACK) && o.pid == me.pid) {
			emit(ctx, hook, KBPF_SLOT_NET_STATE, &me, &n); /* who closes does it now */
		} else {
			o.stack = hook == KBPF_TCP_DISCONNECT ? 0 : o.stack;
			emit_of(ctx, hook, KBPF_SLOT_NET_STATE, &o, &n);
		}
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
	o.stack = again ? o.stack : 0;
	emit_of(ctx, again ? KBPF_TCP_RECONNECT : KBPF_TCP_RETRANSMIT, KBPF_SLOT_NET_RETRANSMIT, &o, &n);
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
	if (error <= 0 || error == EINPROGRESS || error == EALREADY || error == EISCONN || error == EINTR ||
	    error >= ERESTARTSYS) {
		return;
	}
	struct sock___net *sk = sock_of(CALL_ARG1(regs));
	if (sk && fill(sk, IPPROTO_TCP, &n)) {
		struct owner me = current_owner();
		n.error = error;
		emit(ctx, KBPF_TCP_FAIL, KBPF_SLOT_NET_EXIT, &me, &n);
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(kbpf_net_enter, struct pt_regs *regs, long number)
{
	struct kbpf_who who;
	if (number != SYS_RECVFROM && number != SYS_RECVMSG && number != SYS_READ && number != SYS_READV) {
		return 0;
	}
	if (kbpf_wanted(KBPF_UDP_RECV, &who)) {
		struct sock___net *sk = sock_of(CALL_ARG1(regs));
		if (sk && meets_anybody(sk)) {
			look_ahead(sk);
		}
	}
	return 0;
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
	case SYS_CONNECT: refused(ctx, regs, -result); break;
	case SYS_RECVFROM:
	case SYS_RECVMSG: flush(ctx, (uint32_t)bpf_get_current_pid_tgid(), KBPF_SLOT_NET_EXIT); break;
	case SYS_RECVMMSG:
	case SYS_SENDMMSG:
		tid = (uint32_t)bpf_get_current_pid_tgid();
		flush(ctx, tid, KBPF_SLOT_NET_EXIT);
		bpf_map_delete_elem(&net_messages, &tid);
		break;
	default: break;
	}
	return 0;
}

/* Before Linux 6.3 sockets do not say what was sent and received: there the calls do. */
struct many {
	void *ctx;
	struct sock___net *sk;
	uint64_t at; /* of the next mmsghdr */
	bool in;
};

static __always_inline void moved(void *ctx, struct sock___net *sk, int result, bool in, uint64_t name)
{
	struct kbpf_net n;
	struct owner me = current_owner();
	if (result > 0 && fill(sk, IPPROTO_TCP, &n)) {
		n.bytes = result;
		remember(sk);
		emit(ctx, in ? KBPF_TCP_RECV : KBPF_TCP_SEND, KBPF_SLOT_NET_CALLS, &me, &n);
	} else if (result >= 0 && fill(sk, IPPROTO_UDP, &n)) {
		n.bytes = result;
		if (!take_datagram(sk, &n, in)) {
			take_name(&n, name);
		}
		emit(ctx, in ? KBPF_UDP_RECV : KBPF_UDP_SEND, KBPF_SLOT_NET_CALLS, &me, &n);
	}
}

static long one_of_many(uint32_t i, struct many *m)
{
	uint32_t bytes = 0;
	bpf_probe_read_user(&bytes, sizeof bytes, (void *)(m->at + MMSGHDR_BYTES - 8));
	moved(m->ctx, m->sk, bytes, m->in, name_of(m->at));
	m->at += MMSGHDR_BYTES;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(kbpf_net_calls, struct pt_regs *regs, long result)
{
	uint64_t number = CALL_NUMBER(regs), flags = 0, name = 0;
	bool in = number == SYS_READ || number == SYS_READV || number == SYS_RECVFROM || number == SYS_RECVMSG ||
		  number == SYS_RECVMMSG;
	bool out = number == SYS_WRITE || number == SYS_WRITEV || number == SYS_SENDTO || number == SYS_SENDMSG ||
		   number == SYS_SENDMMSG;
	if (result < 0 || !(in || out)) {
		return 0;
	}
	struct sock___net *sk = sock_of(CALL_ARG1(regs));
	if (!sk) {
		return 0;
	}
	if (number == SYS_RECVFROM || number == SYS_RECVMMSG) {
		flags = CALL_ARG4(regs);
	} else if (number == SYS_RECVMSG) {
		flags = CALL_ARG3(regs);
	}
	if (flags & (MSG_PEEK | MSG_ERRQUEUE)) {
		return 0;
	}
	if (number == SYS_RECVMMSG || number == SYS_SENDMMSG) {
		struct many m = {.ctx = ctx, .sk = sk, .at = CALL_ARG2(regs), .in = in};
		bpf_loop(result > 1024 ? 1024 : result, one_of_many, &m, 0);
	} else if (number == SYS_RECVFROM || number == SYS_SENDTO) {
		name = CALL_ARG5(regs);
	} else if (number == SYS_RECVMSG || number == SYS_SENDMSG) {
		name = name_of(CALL_ARG2(regs));
	}
	if (number != SYS_RECVMMSG && number != SYS_SENDMMSG) {
		moved(ctx, sk, result, in, name);
	}
	return 0;
}
