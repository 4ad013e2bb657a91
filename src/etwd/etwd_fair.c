/* SPDX-License-Identifier: MIT */
#include "etwd/etwd_fair.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_session.h"

#include <stdlib.h>

#define EPOCH_NS 50000000ull

struct fair *etwd_fair_make(struct process *p)
{
	p->fair = calloc(POOL_SESSION_BITS, sizeof *p->fair);
	return p->fair;
}

/* The first of it in this epoch. */
void etwd_fair_turn(struct session *s, struct fair *f)
{
	f->before = f->epoch == s->fair.epoch - 1 ? f->bytes : 0;
	f->bytes = 0;
	f->epoch = s->fair.epoch;
	s->fair.writers++;
}

void etwd_fair_tick(struct session *s, uint64_t now_ns)
{
	if (now_ns - s->fair.at_ns < EPOCH_NS) {
		return;
	}
	s->fair.at_ns = now_ns;
	s->fair.epoch++;
	s->fair.writers_before = s->fair.writers;
	s->fair.bytes_before = s->fair.bytes;
	s->fair.writers = 0;
	s->fair.bytes = 0;
}
