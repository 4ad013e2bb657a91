/* SPDX-License-Identifier: MIT
 *
 * Real-time consumers.
 */
#ifndef ETWD_ETWD_REALTIME_H
#define ETWD_ETWD_REALTIME_H

#include "base/base.h"

#include <sys/queue.h>
#include <sys/types.h>

struct conn;
struct etwd;
struct proto_message;
struct session;

struct consumer {
	struct conn *conn;
	struct session *session;
	LIST_ENTRY(consumer) link;
	uint8_t *ring;
	uint64_t ring_bytes;
	uid_t uid; /* who pays for it */
	uint32_t slots, slot_bytes;
	uint64_t sent, acked; /* sequence numbers; the first buffer is 1 */
	uint64_t lost_events, lost_buffers;
	uint64_t base_events, base_buffers; /* the session's own losses when it came */
};
void etwd_realtime_open(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_realtime_ack(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_realtime_close(struct etwd *d, struct consumer *k);
bool etwd_realtime_deliver(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu);
/* After a pass: tell everybody how far the delivery has come. */
void etwd_realtime_round(struct etwd *d, struct session *s, uint64_t watermark, uint64_t now_ns);
void etwd_realtime_end(struct etwd *d, struct session *s);

#endif
