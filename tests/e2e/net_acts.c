/* SPDX-License-Identifier: MIT
 *
 * A program whose network traffic is known. Says one line of JSON for each thing it does, as the
 *trace must show it, in order; "local" and "remote" are "address port". On loopback only.
 *
 *	net_acts        TCP and UDP over IPv4 and IPv6
 *	net_acts lossy  a peer that hears nothing for a while: retransmissions, and a connection
 *tried twice
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEED(what)                                                                                      \
	do {                                                                                            \
		if (!(what)) {                                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, strerror(errno)); \
			exit(1);                                                                        \
		}                                                                                       \
	} while (0)

typedef struct sockaddr_storage place;

static const char *text(const place *a)
{
	static char out[4][80];
	static int turn;
	char *s = out[turn++ & 3], address[INET6_ADDRSTRLEN];
	if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *six = (const void *)a;
		inet_ntop(AF_INET6, &six->sin6_addr, address, sizeof address);
		snprintf(s, 80, "%s %u", address, ntohs(six->sin6_port));
	} else {
		const struct sockaddr_in *four = (const void *)a;
		inet_ntop(AF_INET, &four->sin_addr, address, sizeof address);
		snprintf(s, 80, "%s %u", address, ntohs(four->sin_port));
	}
	return s;
}

static void say(const char *event, int bytes, const place *local, const place *remote)
{
	printf("{\"pid\": %d, \"event\": \"%s\", \"size\": %d, \"local\": \"%s\", \"remote\": "
	       "\"%s\"}\n",
	       (int)getpid(), event, bytes, text(local), text(remote));
}

static place own(int fd)
{
	place a = {0};
	socklen_t n = sizeof a;
	NEED(getsockname(fd, (void *)&a, &n) == 0);
	return a;
}
static place peer(int fd)
{
	place a = {0};
	socklen_t n = sizeof a;
	NEED(getpeername(fd, (void *)&a, &n) == 0);
	return a;
}
static socklen_t length(const place *a)
{
	return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static int bound(int family, int type)
{
	place a = {.ss_family = (sa_family_t)family};
	int fd = socket(family, type | SOCK_CLOEXEC, 0);
	NEED(fd >= 0);
	if (family == AF_INET6) {
		((struct sockaddr_in6 *)&a)->sin6_addr = in6addr_loopback;
	} else {
		((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	NEED(bind(fd, (void *)&a, length(&a)) == 0);
	return fd;
}

static int v;
static const char *named(const char *what)
{
	static char out[4][64];
	static int turn;
	char *s = out[turn++ & 3];
	snprintf(s, 64, "%sIPV%d", what, v);
	return s;
}

static void send_all(int fd, const char *bytes, int n)
{
	place a = own(fd), b = peer(fd);
	NEED(send(fd, bytes, (size_t)n, 0) == n);
	say(named("TcpIp/Send"), n, &a, &b);
}

static void receive(int fd, int n)
{
	static char out[1 << 20];
	place a = own(fd), b = peer(fd);
	while (n > 0) {
		ssize_t got = recv(fd, out, (size_t)n, 0);
		NEED(got > 0);
		say(named("TcpIp/Recv"), (int)got, &a, &b);
		n -= (int)got;
	}
}

static void done(int fd)
{
	place a = own(fd), b = peer(fd);
	close(fd);
	say(named("TcpIp/Disconnect"), 0, &a, &b);
}

/* The server's side in a child, so that there are two processes to tell apart. */
static void tcp(int family)
{
	int listener = bound(family, SOCK_STREAM);
	place at = own(listener);
	static char bytes[20000];
	NEED(listen(listener, 4) == 0);
	fflush(stdout);
	pid_t child = fork();
	NEED(child >= 0);
	if (child == 0) {
		int fd = accept(listener, NULL, NULL);
		NEED(fd >= 0);
		place a = own(fd), b = peer(fd);
		say(named("TcpIp/Accept"), 0, &a, &b);
		receive(fd, 100);
		receive(fd, 20000);
		send_all(fd, bytes, 7);
		char c;
		NEED(recv(fd, &c, 1, 0) == 0); /* the end is no event */
		done(fd);
		fd = accept(listener, NULL, NULL);
		NEED(fd >= 0);
		a = own(fd), b = peer(fd);
		say(named("TcpIp/Accept"), 0, &a, &b);
		send_all(fd, bytes, 1);
		NEED(recv(fd, &c, 1, 0) < 0 && errno == ECONNRESET);
		say(named("TcpIp/Disconnect"), 0, &a, &b);
		close(fd);
		fflush(stdout);
		_exit(0);
	}
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	NEED(connect(fd, (void *)&at, length(&at)) == 0);
	place a = own(fd);
	say(named("TcpIp/Connect"), 0, &a, &at);
	send_all(fd, bytes, 100);
	struct iovec parts[] = {{bytes, 15000}, {bytes, 5000}};
	NEED(writev(fd, parts, 2) == 20000);
	say(named("TcpIp/Send"), 20000, &a, &at);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	NEED(poll(&p, 1, -1) == 1);
	char peeked[4];
	NEED(recv(fd, peeked, sizeof peeked, MSG_PEEK) == 4); /* looking is not receiving */
	receive(fd, 7);
	done(fd);
	/* One that is reset. */
	struct linger now = {.l_onoff = 1};
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	NEED(connect(fd, (void *)&at, length(&at)) == 0);
	a = own(fd);
	say(named("TcpIp/Connect"), 0, &a, &at);
	receive(fd, 1); /* now it is accepted */
	NEED(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
	done(fd);
	close(listener);
	int status;
	NEED(waitpid(child, &status, 0) == child && status == 0);
	/* Nobody listens there now. */
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	NEED(connect(fd, (void *)&at, length(&at)) < 0 && errno == ECONNREFUSED);
	printf("{\"pid\": %d, \"event\": \"TcpIp/Fail\", \"proto\": %d, \"code\": 5}\n", (int)getpid(),
	       family == AF_INET6 ? 23 : 2);
	close(fd);
}

static void udp(int family)
{
	int a = bound(family, SOCK_DGRAM), b = bound(family, SOCK_DGRAM);
	place at = own(a), from = own(b), sender;
	char bytes[2000] = {0};
	socklen_t n = sizeof sender;
	NEED(sendto(b, bytes, 300, 0, (void *)&at, length(&at)) == 300);
	say(named("UdpIp/Send"), 300, &from, &at);
	NEED(recvfrom(a, bytes, sizeof bytes, 0, (void *)&sender, &n) == 300);
	say(named("UdpIp/Recv"), 300, &at, &from);

	struct iovec part = {bytes, 31};
	struct msghdr m = {.msg_name = &at, .msg_namelen = length(&at), .msg_iov = &part, .msg_iovlen = 1};
	NEED(sendmsg(b, &m, 0) == 31);
	say(named("UdpIp/Send"), 31, &from, &at);
	part.iov_len = sizeof bytes;
	m = (struct msghdr){.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
	NEED(recvmsg(a, &m, 0) == 31);
	say(named("UdpIp/Recv"), 31, &at, &from);

	/* Three at once, of which one goes back to its sender. */
	struct iovec parts[3] = {{bytes, 1}, {bytes, 2}, {bytes, 3}};
	struct mmsghdr many[3] = {0};
	place *to[3] = {&at, &from, &at};
	for (int i = 0; i < 3; i++) {
		many[i].msg_hdr = (struct msghdr){
			.msg_name = to[i], .msg_namelen = length(to[i]), .msg_iov = &parts[i], .msg_iovlen = 1};
	}
	NEED(sendmmsg(b, many, 3, 0) == 3);
	for (int i = 0; i < 3; i++) {
		say(named("UdpIp/Send"), i + 1, &from, to[i]);
	}
	place senders[3];
	for (int i = 0; i < 3; i++) {
		parts[i].iov_len = 10;
		many[i].msg_hdr = (struct msghdr){.msg_name = &senders[i],
						  .msg_namelen = sizeof senders[i],
						  .msg_iov = &parts[i],
						  .msg_iovlen = 1};
	}
	NEED(recvmmsg(a, many, 2, 0, NULL) == 2);
	say(named("UdpIp/Recv"), 1, &at, &from);
	say(named("UdpIp/Recv"), 3, &at, &from);
	NEED(recvfrom(b, bytes, 10, 0, (void *)&sender, &n) == 2);
	say(named("UdpIp/Recv"), 2, &from, &from);

	/* Nobody asks where it came from, and a socket of all addresses gets and sends it. */
	place all = {.ss_family = (sa_family_t)family};
	int c = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	NEED(c >= 0 && bind(c, (void *)&all, length(&all)) == 0);
	place to_c = own(c);
	if (family == AF_INET6) {
		((struct sockaddr_in6 *)&to_c)->sin6_addr = in6addr_loopback;
	} else {
		((struct sockaddr_in *)&to_c)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	NEED(sendto(b, bytes, 21, 0, (void *)&to_c, length(&to_c)) == 21);
	say(named("UdpIp/Send"), 21, &from, &to_c);
	NEED(recv(c, bytes, sizeof bytes, MSG_PEEK) == 21);
	NEED(recv(c, bytes, sizeof bytes, 0) == 21);
	say(named("UdpIp/Recv"), 21, &to_c, &from);
	NEED(sendto(c, bytes, 22, 0, (void *)&at, length(&at)) == 22);
	say(named("UdpIp/Send"), 22, &to_c, &at);
	NEED(read(a, bytes, sizeof bytes) == 22);
	say(named("UdpIp/Recv"), 22, &at, &to_c);
	/* Whether it is there or waited for. */
	fflush(stdout);
	pid_t child = fork();
	NEED(child >= 0);
	if (child == 0) {
		for (int i = 0; i < 5; i++) {
			NEED(sendto(i & 1 ? a : b, bytes, 40 + (size_t)i, 0, (void *)&to_c, length(&to_c)) == 40 + i);
			say(named("UdpIp/Send"), 40 + i, i & 1 ? &at : &from, &to_c);
		}
		fflush(stdout);
		_exit(0);
	}
	for (int i = 0; i < 5; i++) {
		NEED(recv(c, bytes, sizeof bytes, 0) == 40 + i);
		say(named("UdpIp/Recv"), 40 + i, &to_c, i & 1 ? &at : &from);
	}
	int status;
	NEED(waitpid(child, &status, 0) == child && status == 0);
	close(c);

	NEED(connect(b, (void *)&at, length(&at)) == 0 && connect(a, (void *)&from, length(&from)) == 0);
	NEED(write(b, bytes, 77) == 77);
	say(named("UdpIp/Send"), 77, &from, &at);
	NEED(read(a, bytes, sizeof bytes) == 77);
	say(named("UdpIp/Recv"), 77, &at, &from);
	NEED(send(b, bytes, 0, 0) == 0);
	say(named("UdpIp/Send"), 0, &from, &at);
	NEED(recv(a, bytes, sizeof bytes, 0) == 0);
	say(named("UdpIp/Recv"), 0, &at, &from);
	close(a);
	close(b);
}

/* ---- loss -------------------------------------------------------------------------------------
 */

static void deaf(int fd, bool on)
{
	struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog program = {1, &nothing};
	int zero = 0;
	NEED((on ? setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program)
		 : setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &zero, sizeof zero)) == 0);
}

static unsigned sent_again(int fd)
{
	struct tcp_info i = {0};
	socklen_t n = sizeof i;
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n) == 0);
	return i.tcpi_total_retrans;
}

static void lossy(void)
{
	int listener = bound(AF_INET, SOCK_STREAM), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	place at = own(listener);
	char bytes[500] = {0};
	v = 4;
	NEED(listen(listener, 4) == 0 && fd >= 0);
	deaf(listener, true);
	NEED(connect(fd, (void *)&at, length(&at)) < 0 && errno == EINPROGRESS);
	while (sent_again(fd) == 0) {
		poll(NULL, 0, 10);
	}
	deaf(listener, false);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	NEED(poll(&p, 1, -1) == 1);
	unsigned asked = sent_again(fd);
	int other = accept(listener, NULL, NULL);
	NEED(other >= 0);
	place a = own(fd);
	deaf(other, true);
	NEED(send(fd, bytes, 500, 0) == 500);
	while (sent_again(fd) < asked + 2) {
		poll(NULL, 0, 10);
	}
	deaf(other, false);
	NEED(recv(other, bytes, 500, MSG_WAITALL) == 500);
	printf("{\"pid\": %d, \"reconnects\": %u, \"retransmits\": %u, \"local\": \"%s\", "
	       "\"remote\": \"%s\"}\n",
	       (int)getpid(), asked, sent_again(fd) - asked, text(&a), text(&at));
}

static bool has_six(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	bool ok = fd >= 0 && bind(fd, (void *)&a, sizeof a) == 0;
	close(fd);
	return ok;
}

int main(int argc, char **argv)
{
	alarm(60);
	if (argc > 1 && strcmp(argv[1], "lossy") == 0) {
		lossy();
		return 0;
	}
	for (v = 4; v <= 6; v += 2) {
		int family = v == 6 ? AF_INET6 : AF_INET;
		if (v == 6 && !has_six()) {
			fprintf(stderr, "no IPv6 here\n");
			break;
		}
		tcp(family);
		udp(family);
	}
	return 0;
}
