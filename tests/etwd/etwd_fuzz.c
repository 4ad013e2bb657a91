/* SPDX-License-Identifier: MIT
 * The daemon's message handlers under a stream of hostile messages on a few connections.
 *
 * Input: { u8 connection and shape, u16 length, bytes }*. Shape bit 7: the bytes are a whole
 * message; else they are TLVs and the first byte is the message type. The connections' user is not
 * the daemon's, so that no message can make it open a file.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_loop.h"
#include "proto/proto.h"

#include <stdlib.h>
#include <sys/socket.h>

#define CONNS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct etwd *d, struct conn *c, struct bytes *b, uint8_t shape)
{
	static uint8_t mem[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	uint16_t want = bytes_u16(b);
	size_t n = BASE_MIN((size_t)want, bytes_left(b));
	const uint8_t *p = bytes_take(b, n);
	if (!p || n == 0 || n > sizeof mem - 16) {
		return;
	}
	if (shape & 0x80) {
		memcpy(mem, p, n);
	} else {
		size_t body = (n - 1) & ~(size_t)3;
		le32_put(mem, (uint32_t)(12 + body));
		le16_put(mem + 4, p[0] & 0x3F);
		le16_put(mem + 6, 0);
		le32_put(mem + 8, 1);
		memcpy(mem + 12, p + 1, body);
		n = 12 + body;
	}
	d->messages++;
	etwd_dispatch(d, c, mem, n, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etwd *d;
	struct conn *conn[CONNS];
	int peer[CONNS];
	struct bytes b = bytes_of(data, size);
	if (etwd_create(&d, false) < 0) {
		return 0;
	}
	d->uid = 12345;
	for (int i = 0; i < CONNS; i++) {
		int pair[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
			abort();
		}
		peer[i] = pair[1];
		conn[i] = etwd_conn_create(d, pair[0], i % 2 ? CONN_CONTROL : CONN_PROVIDER, 54321, getpid());
	}
	for (int k = 0; k < 64 && bytes_left(&b) > 3; k++) {
		uint8_t shape = bytes_u8(&b);
		int i = shape % CONNS;
		struct conn *c = conn[i];
		if (c && !c->closing) {
			feed(d, c, &b, shape);
		}
		if (c && c->closing) {
			conn[i] = NULL; /* freed at the end of this turn */
		}
		do { /* what comes next finds sessions started, not starting */
			etwd_loop_turn(d, d->jobs_running ? 5 : 0);
		} while (d->jobs_running);
		for (int j = 0; j < CONNS; j++) {
			if (conn[j]) {
				struct conn *o;
				bool alive = false;
				TAILQ_FOREACH(o, &d->conns, link) {
					alive |= o == conn[j] && !o->closing;
				}
				conn[j] = alive ? conn[j] : NULL;
			}
		}
	}
	etwd_destroy(d);
	for (int i = 0; i < CONNS; i++) {
		close(peer[i]);
	}
	return 0;
}
