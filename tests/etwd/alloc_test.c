/* SPDX-License-Identifier: MIT
 * The daemon when memory runs out: one whole life of a session, again and again, each time with
 * another allocation failing. It must refuse in words or go on, free everything (AddressSanitizer
 * looks), and serve the next client.
 *
 * Linked with --wrap for the allocating functions.
 */
#include "etwd/etwd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

static atomic_long countdown; /* 0: never fail; n: the n-th from now fails */
static atomic_long taken;

static bool fails(void)
{
	atomic_fetch_add(&taken, 1);
	return atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}
void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __real_aligned_alloc(align, n);
}
char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

static const struct guid prov = {{0xA4, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static uint8_t mem[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));

struct peer {
	int fd;
	bool gone;
};

static void peer_open(struct etwd *d, struct peer *p, enum conn_kind kind)
{
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	p->fd = pair[1];
	p->gone = etwd_conn_create(d, pair[0], kind, d->uid, getpid()) == NULL;
}

/* Sends, lets the daemon work, and takes everything it says. Status of the last reply; 0xFFFF:
 * none. */
static uint32_t ask(struct etwd *d, struct peer *p, struct proto_writer *w)
{
	uint32_t status = 0xFFFF;
	static uint8_t in[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	long n = proto_end(w);
	if (p->gone || proto_send(p->fd, w->mem, (size_t)n, NULL, 0) < 0) {
		p->gone = true;
		return status;
	}
	for (int i = 0; i < 200; i++) {
		etwd_loop_turn(d, d->jobs_running ? 5 : 0);
		int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
		long got;
		while ((got = proto_recv(p->fd, in, sizeof in, fds, &count, -1)) > 0) {
			struct proto_message m;
			for (int k = 0; k < count; k++) {
				close(fds[k]);
			}
			count = PROTO_FDS_MAX;
			if (proto_parse(in, (size_t)got, &m) == 0) {
				proto_get_u32(&m, PROTO_TAG_STATUS, &status);
			}
		}
		p->gone |= got == 0;
		if (p->gone || (status != 0xFFFF && !d->jobs_running)) {
			break;
		}
	}
	return status;
}

static uint32_t ask_simple(struct etwd *d, struct peer *p, uint16_t type)
{
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, type, 1);
	proto_put(&w, PROTO_TAG_GUID, prov.b, 16);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, 0);
	proto_put_u32(&w, PROTO_TAG_INFO_CLASS, 12);
	return ask(d, p, &w);
}

static uint32_t control(struct etwd *d, struct peer *p, uint32_t code)
{
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_CONTROL, 1);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, code);
	return ask(d, p, &w);
}

/* Everything once. True when nothing at all went wrong. */
static bool a_life(struct etwd *d)
{
	struct peer provider, controller;
	struct proto_writer w;
	static const uint8_t traits[] = {26, 0, 'P', 'r', 'o', 'v', 0,  19, 0,  1,  1,  2,  3,
					 4,  5, 6,   7,   8,   9,   10, 11, 12, 13, 14, 15, 16};
	static const uint16_t name[] = {'l', 'i', 'f', 'e'};
	uint8_t filter[12] = {0, 2, 0, 0x80, 1, 0, 2, 0, 5, 0, 6, 0};
	uint8_t sid[12] = {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
	uint32_t bad = 0;
	peer_open(d, &provider, CONN_PROVIDER);
	peer_open(d, &controller, CONN_CONTROL);
	proto_begin(&w, mem, sizeof mem, PROTO_HELLO, 1);
	proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
	bad |= ask(d, &provider, &w);
	struct proto_session s = {.props.mode = 0x100, .props.buffer_kb = 4, .name = name, .name_len = 4};
	proto_begin(&w, mem, sizeof mem, PROTO_START, 1);
	proto_put_session(&w, &s);
	bad |= ask(d, &controller, &w);
	for (uint32_t i = 0; i < 2; i++) { /* one before the enable, one after */
		proto_begin(&w, mem, sizeof mem, PROTO_REGISTER, 1);
		proto_put(&w, PROTO_TAG_GUID, prov.b, 16);
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, i * 40);
		proto_put_u32(&w, PROTO_TAG_REG_FLAGS, PROTO_REG_CALLBACK);
		bad |= ask(d, &provider, &w);
		proto_begin(&w, mem, sizeof mem, PROTO_TRAITS, 1);
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, i * 40);
		proto_put(&w, PROTO_TAG_TRAITS, traits, sizeof traits);
		bad |= ask(d, &provider, &w);
		proto_begin(&w, mem, sizeof mem, PROTO_ENABLE, 1);
		proto_put_u64(&w, PROTO_TAG_SESSION_ID, 1);
		proto_put(&w, PROTO_TAG_GUID, prov.b, 16);
		proto_put_u32(&w, PROTO_TAG_CODE, 1);
		proto_put(&w, PROTO_TAG_FILTER, filter, sizeof filter);
		bad |= ask(d, &controller, &w);
	}
	proto_begin(&w, mem, sizeof mem, PROTO_ACCESS_SET, 1);
	proto_put(&w, PROTO_TAG_GUID, prov.b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, 0);
	proto_put(&w, PROTO_TAG_SID, sid, sizeof sid);
	proto_put_u32(&w, PROTO_TAG_RIGHTS, 0xFFF);
	proto_put_u32(&w, PROTO_TAG_ALLOW, 1);
	bad |= ask(d, &controller, &w);
	bad |= ask_simple(d, &controller, PROTO_ACCESS_QUERY);
	bad |= ask_simple(d, &controller, PROTO_QUERY_INFO);
	bad |= ask_simple(d, &controller, PROTO_GUIDS);
	bad |= ask_simple(d, &controller, PROTO_GUID_INFO);
	bad |= ask_simple(d, &controller, PROTO_PROCESSES);
	bad |= ask_simple(d, &controller, PROTO_LIST);
	bad |= ask_simple(d, &controller, PROTO_STATS);
	bad |= ask_simple(d, &controller, PROTO_OPEN_RT);
	bad |= control(d, &controller, 3);
	bad |= control(d, &controller, 1);
	close(provider.fd);
	close(controller.fd);
	for (int i = 0; i < 20; i++) {
		etwd_loop_turn(d, d->jobs_running ? 5 : 0);
	}
	return bad == 0 && !provider.gone && !controller.gone;
}

static void each_allocation_may_fail(void **state)
{
	long whole = 0;
	for (long n = 0;; n++) {
		struct etwd *d;
		atomic_store(&taken, 0);
		atomic_store(&countdown, n);
		int r = etwd_create(&d, false);
		if (r < 0) {
			assert_true(n > 0);
			assert_int_equal(r, -ENOMEM);
			atomic_store(&countdown, 0);
			continue;
		}
		d->log_fd = -1;
		bool fine = a_life(d);
		bool failed = n > 0 && atomic_load(&countdown) == 0;
		atomic_store(&countdown, 0);
		if (n == 0) {
			assert_true(fine);
			whole = atomic_load(&taken);
			print_message("%ld allocations in a life\n", whole);
		} else if (!failed && n > whole) {
			assert_true(fine); /* no more to fail */
			etwd_destroy(d);
			return;
		}
		/* Whatever was refused: the next client finds a daemon that works. */
		struct peer p;
		peer_open(d, &p, CONN_CONTROL);
		assert_int_equal(ask_simple(d, &p, PROTO_STATS), 0);
		close(p.fd);
		etwd_destroy(d);
		assert_true(n < 10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
