/* SPDX-License-Identifier: MIT
 * Hostile clients on both sockets of an etwd: random, mutated, oversized and truncated messages, wrong
 * descriptors, floods whose answers nobody reads, half-open connections.
 *
 *   socket_noise RUNTIME-DIRECTORY SECONDS [SEED]
 *
 * Never ends etwd or other sessions by a legal request: same user, so it would be allowed to. Exit
 * status 1 when etwd accepts no connection any more.
 */
#include "base/base.h"
#include "proto/proto.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t seed;
static const char *dir;
static uint64_t sent, refused;

static uint32_t roll(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % below;
}

static uint64_t any_number(void)
{
	static const uint64_t edges[] = {0,    1,    2,      7,       63,        64,         255,       256,
					 1023, 1024, 0xFFFF, 0x10000, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
	return roll(2) ? edges[roll(BASE_ARRAY_LEN(edges))] : (uint64_t)roll(UINT32_MAX) << roll(32);
}

static int strange_descriptor(void)
{
	int p[2];
	switch (roll(7)) {
	case 0: return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1: return open("/", O_RDONLY | O_CLOEXEC);
	case 2: return open("/", O_PATH | O_CLOEXEC);
	case 3: return memfd_create("noise", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	case 4: return epoll_create1(EPOLL_CLOEXEC);
	case 5: return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	}
	if (pipe2(p, O_CLOEXEC) < 0) {
		return -1;
	}
	close(p[1]);
	return p[0];
}

static void send_raw(int fd, const void *p, size_t n, int fd_count)
{
	int fds[253];
	struct iovec v = {(void *)(uintptr_t)p, n};
	union {
		struct cmsghdr align;
		char mem[CMSG_SPACE(sizeof fds)];
	} control;
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	int have = 0;
	while (have < fd_count && (fds[have] = have ? dup(fds[0]) : strange_descriptor()) >= 0) {
		have++;
	}
	if (have > 0) {
		m.msg_control = control.mem;
		m.msg_controllen = CMSG_SPACE((unsigned)have * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){CMSG_LEN((unsigned)have * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), fds, (unsigned)have * sizeof(int));
	}
	ssize_t r = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	*(r >= 0 ? &sent : &refused) += 1;
	while (have > 0) {
		close(fds[--have]);
	}
}

/* A message of a known type with tags that may or may not belong into it. */
static size_t build(uint8_t *mem, size_t cap, bool control)
{
	static const uint16_t for_provider[] = {PROTO_HELLO,      PROTO_ADOPT,       PROTO_REGISTER, PROTO_REGISTER,
						PROTO_UNREGISTER, PROTO_TRAITS,      PROTO_NOTIFIED, PROTO_BELL,
						PROTO_PING,       PROTO_BINARY_TRACK};
	static const uint16_t for_control[] = {PROTO_START,  PROTO_CONTROL,   PROTO_LIST,      PROTO_ENABLE,
					       PROTO_GUIDS,  PROTO_GUID_INFO, PROTO_STATS,     PROTO_OPEN_RT,
					       PROTO_RT_ACK, PROTO_PING,      PROTO_PROCESSES, PROTO_START};
	struct proto_writer w;
	uint8_t junk[600];
	uint16_t name[20], type = control ? for_control[roll(BASE_ARRAY_LEN(for_control))]
					  : for_provider[roll(BASE_ARRAY_LEN(for_provider))];
	if (roll(20) == 0) {
		type = (uint16_t)roll(31) | (roll(2) ? PROTO_REPLY : 0);
	}
	proto_begin(&w, mem, cap, type, roll(UINT32_MAX));
	uint32_t name_len = 0;
	for (const char *s = "hostile-"; *s; s++) {
		name[name_len++] = (uint16_t)*s;
	}
	name[name_len++] = (uint16_t)('0' + roll(10));
	if (type == PROTO_START) {
		struct proto_session s;
		uint8_t *raw = (uint8_t *)&s;
		memset(&s, 0, sizeof s);
		for (unsigned i = roll(8); i > 0; i--) { /* any of the numbers */
			uint64_t v = any_number();
			memcpy(raw + roll(offsetof(struct proto_session, name) / 8) * 8, &v, 1u << roll(4));
		}
		s.props.mode |= 0x100;             /* real-time */
		s.props.maximum_file_size %= 1000; /* a preallocated terabyte is legal */
		s.name = name;
		s.name_len = name_len;
		s.log_file = NULL;
		s.log_file_len = 0;
		proto_put_session(&w, &s);
	}
	bool honest_only = type == PROTO_CONTROL || type == PROTO_ENABLE;
	for (unsigned i = roll(10); i > 0; i--) {
		uint16_t tag = (uint16_t)roll(64);
		if (honest_only && (tag == PROTO_TAG_SESSION_ID || tag == PROTO_TAG_SESSION_NAME)) {
			continue;
		}
		size_t n = roll(4) ? (size_t[]){0, 4, 4, 8, 16, 16}[roll(6)] : roll(sizeof junk);
		for (size_t k = 0; k < n; k += 8) {
			uint64_t v = any_number();
			memcpy(junk + k, &v, BASE_MIN(8u, n - k));
		}
		proto_put(&w, tag, junk, n);
	}
	if (type == PROTO_CONTROL || (type == PROTO_ENABLE && roll(2))) {
		if (roll(2)) {
			proto_put(&w, PROTO_TAG_SESSION_NAME, name, name_len * 2);
		} else {
			proto_put_u64(&w, PROTO_TAG_SESSION_ID, any_number() | 1ull << 40);
		}
		proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, roll(6));
	}
	if (type == PROTO_OPEN_RT && roll(2)) {
		proto_put(&w, PROTO_TAG_SESSION_NAME, u"honest", 12);
	}
	long n = proto_end(&w);
	return n > 0 ? (size_t)n : 0;
}

static int open_one(bool control)
{
	int fd = proto_connect(dir, control ? "control" : "provider");
	return fd;
}

static void talk(void)
{
	static uint8_t mem[2 * PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	bool control = roll(2);
	int fd = open_one(control);
	if (fd < 0) {
		return;
	}
	if (!control && roll(4)) { /* past the door */
		struct proto_writer w;
		proto_begin(&w, mem, sizeof mem, PROTO_HELLO, 1);
		proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
		send_raw(fd, mem, (size_t)proto_end(&w), 0);
	}
	for (unsigned i = roll(30); i > 0; i--) {
		size_t n = build(mem, PROTO_MESSAGE_MAX, control);
		int fds = roll(10) ? 0 : roll(20) ? 1 + (int)roll(4) : 253;
		/* A CONTROL or ENABLE whose bytes were changed might name somebody else's session. */
		bool keep = le16_get(mem + 4) == PROTO_CONTROL || le16_get(mem + 4) == PROTO_ENABLE;
		switch (roll(6)) {
		case 0: /* mutated */
			for (unsigned k = roll(8); n > 0 && !keep && k > 0; k--) {
				size_t at = roll((uint32_t)n);
				if (at != 4 && at != 5) {
					mem[at] = (uint8_t)any_number();
				}
			}
			break;
		case 1: /* truncated */ n = n ? roll((uint32_t)n) : 0; break;
		case 2: /* noise */
			n = roll(300);
			for (size_t k = 0; k < n; k++) {
				mem[k] = (uint8_t)roll(256);
			}
			if (n > 5) {
				mem[5] = 1; /* no type we know */
			}
			break;
		case 3: /* oversized */ n = roll(10) ? n : PROTO_MESSAGE_MAX + roll(PROTO_MESSAGE_MAX); break;
		}
		send_raw(fd, mem, n, fds);
		if (roll(3) == 0) {
			int got[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
			if (proto_recv(fd, mem, PROTO_MESSAGE_MAX, got, &count, 5) >= 0) {
				for (int k = 0; k < count; k++) {
					close(got[k]);
				}
			}
		}
	}
	if (roll(8) == 0) {
		shutdown(fd, roll(2) ? SHUT_WR : SHUT_RD);
		usleep(roll(5000));
	}
	close(fd);
}

/* Answers pile up until etwd has to do something about it. */
static void flood(void)
{
	uint8_t mem[256];
	struct proto_writer w;
	int fd = open_one(roll(2));
	for (unsigned i = 0; fd >= 0 && i < 3000; i++) {
		proto_begin(&w, mem, sizeof mem, roll(2) ? PROTO_PING : PROTO_STATS, i);
		send_raw(fd, mem, (size_t)proto_end(&w), 0);
	}
	if (fd >= 0) {
		close(fd);
	}
}

static void half_open(void)
{
	static int idle[200];
	static unsigned at;
	if (idle[at % 200] > 0) {
		close(idle[at % 200]);
	}
	idle[at++ % 200] = open_one(roll(2));
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		return 2;
	}
	dir = argv[1];
	seed = argc > 3 ? strtoull(argv[3], NULL, 0) | 1 : (uint64_t)time(NULL) * 2654435761u | 1;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	uint64_t end = clock_read_system_ns() + (uint64_t)(strtod(argv[2], NULL) * 1e9);
	while (clock_read_system_ns() < end) {
		switch (roll(40)) {
		case 0: flood(); break;
		case 1:
		case 2:
		case 3: half_open(); break;
		default: talk();
		}
	}
	int fd = open_one(true);
	printf("%llu messages sent, %llu refused\n", (unsigned long long)sent, (unsigned long long)refused);
	return fd < 0;
}
