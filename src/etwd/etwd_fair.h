/* SPDX-License-Identifier: MIT
 *
 * Processes of one session share its buffers. While none is free, those that write more than their share are refused,
 * so that what a flood costs is the flood's, and the others may have the buffers that the sink keeps in reserve.
 *
 * What each process wants to write is counted, also what is refused, over the last 50 to 100 ms. Its share is half of
 * what each would have if all those wrote alike; a process that is alone has all. One that writes little has its share in
 * any case, and the reserve: where no buffer is free, the flood that filled them may have ended, or have no processor.
 */
#ifndef ETWD_ETWD_FAIR_H
#define ETWD_ETWD_FAIR_H

#include "etwd/etwd_process.h"
#include "etwd/etwd_session.h"

/* Of one process, for one of its session bits. */
struct fair {
	uint32_t epoch; /* of the session */
	uint32_t bytes, before;
	uint32_t greedy_until; /* the first epoch for which it is not known any more that it was refused */
};

/* A flood that has no processor for a moment is one when it goes on. */
#define ETWD_FAIR_GREEDY_EPOCHS 20u

struct fair *etwd_fair_make(struct process *p);
void etwd_fair_turn(struct session *s, struct fair *f);
void etwd_fair_tick(struct session *s, uint64_t now_ns);

/* This process writes to this session now. NULL: no memory. */
static inline struct fair *etwd_fair_begin(struct session *s, struct process *p, uint32_t bit)
{
	struct fair *f = BASE_LIKELY(p->fair != NULL) ? p->fair : etwd_fair_make(p);
	if (BASE_UNLIKELY(!f)) {
		return NULL;
	}
	f += bit;
	if (BASE_UNLIKELY(f->epoch != s->fair.epoch)) {
		etwd_fair_turn(s, f);
	}
	return f;
}

static inline void etwd_fair_add(struct session *s, struct fair *f, uint32_t bytes)
{
	if (BASE_LIKELY(f != NULL)) {
		f->bytes += BASE_MIN(bytes, UINT32_MAX - f->bytes);
		s->fair.bytes += bytes;
	}
}

/* All that anybody wrote lately is this process's, and no little. The number of writers does not say that: one that comes back after a
 * pause may be the only one in this epoch, and another the only one in the epoch before. */
static inline bool etwd_fair_alone(const struct session *s, const struct fair *f)
{
	uint64_t mine = f ? (uint64_t)f->bytes + f->before : 0;
	return mine > s->fair.little && mine == s->fair.bytes + s->fair.bytes_before;
}

static inline bool etwd_fair_over(const struct session *s, const struct fair *f)
{
	uint64_t writers = BASE_MAX(s->fair.writers, s->fair.writers_before);
	uint64_t mine = f ? (uint64_t)f->bytes + f->before : 0;
	return writers >= 2 && mine > s->fair.little && mine * 2 * writers > s->fair.bytes + s->fair.bytes_before;
}

/* It wrote more than its share while no buffer was free, not long ago. */
static inline bool etwd_fair_greedy(const struct session *s, const struct fair *f)
{
	return f && f->greedy_until - s->fair.epoch - 1 < ETWD_FAIR_GREEDY_EPOCHS;
}

/* May it have what is in reserve? */
static inline bool etwd_fair_may_reserve(const struct session *s, const struct fair *f, bool over)
{
	return !over && !etwd_fair_alone(s, f) && !etwd_fair_greedy(s, f);
}

/* While no buffer is free. The rest of an open buffer of the reserve is like the reserve. */
static inline bool etwd_fair_refuses(const struct session *s, struct fair *f, bool over, bool in_reserve)
{
	if (over && f) {
		f->greedy_until = s->fair.epoch + ETWD_FAIR_GREEDY_EPOCHS;
	}
	return over || etwd_fair_greedy(s, f) || (in_reserve && etwd_fair_alone(s, f));
}

#endif
