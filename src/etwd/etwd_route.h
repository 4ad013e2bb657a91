/* SPDX-License-Identifier: MIT
 *
 * The drain: when, and how each record gets to the sessions that want it.
 */
#ifndef ETWD_ETWD_ROUTE_H
#define ETWD_ETWD_ROUTE_H

#include "base/match.h"
#include "etwd/etwd_provider.h"
#include "proto/proto.h"

int etwd_drain_init(struct etwd *d);
void etwd_drain_finish(struct etwd *d);
/* A pass now. flags: enum pool_pass_flags. */
void etwd_drain_pass(struct etwd *d, uint32_t flags);
void etwd_drain_bell(struct etwd *d);
/* Milliseconds until the next pass; -1: none is needed. */
int etwd_drain_wait_ms(struct etwd *d, uint64_t now_ns);
void etwd_drain_losses(struct etwd *d, struct process *p);
void etwd_drain_bit_losses(struct etwd *d, struct process *p, uint32_t bit, uint64_t elapsed_ns, enum proto_loss cause);
/* Session clock of a raw tick, and of a time of CLOCK_MONOTONIC. */
uint64_t etwd_session_time(const struct etwd *d, const struct session *s, uint64_t raw);
uint64_t etwd_session_time_ns(const struct etwd *d, const struct session *s, uint64_t ns);
void etwd_session_lost(struct session *s, uint64_t n, enum proto_loss cause, bool counts);

/* pool_emit_run_fn; ctx is the daemon, cookie the process. */
uint64_t etwd_route_run(void *ctx, void *cookie, const uint8_t *at, const uint8_t *end);
/* One record, whatever it is. */
void etwd_route(struct etwd *d, const struct pool_event *ev);
const struct config *etwd_config_find(const struct registration *r, uint16_t gen);
static inline bool etwd_row_matches(const struct route_row *row, const struct pool_rec *rec)
{
	return match_level(match_limit(row->level), rec->level) &&
	       match_keywords(row->any, row->all, !(row->flags & ROUTE_IGNORE_KEYWORD_0), rec->keyword);
}

/* After the emission, before commit: sessions with one stream for all processors, in order of time.
 */
void etwd_route_deferred(struct etwd *d);

#endif
