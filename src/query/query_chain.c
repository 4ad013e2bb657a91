/* SPDX-License-Identifier: MIT
 *
 * Chains: who woke whom. Each link is earlier than the one before it, so a chain ends.
 */
#include "query/query_stays.h"

#include "base/sized.h"
#include "base/win32_error.h"

#define LINKS_MOST 4096u

struct chain {
	const struct index_file *file;
	const struct stays *s;
	openetw_link_fn fn;
	void *context;
};

/* The last wait that began before a time. STAY_NOWHERE: none is known. */
static uint64_t wait_before(const struct stay_lane *l, int64_t time)
{
	uint64_t at = lane_at(l, time);
	while (at != STAY_NOWHERE) {
		uint8_t doing = lane_stay(l, at).doing;
		if (doing == OPENETW_DOING_WAITING) {
			return at;
		}
		at = doing == OPENETW_DOING_UNKNOWN ? STAY_NOWHERE : lane_before(l, at);
	}
	return STAY_NOWHERE;
}

/* A wait and what ended it; times of the file. */
static void understand(const struct chain *c, uint32_t thread, uint64_t wait, struct openetw_link *ret)
{
	const struct stay_lane l = lane_of_thread(c->s, thread);
	const struct stay s = lane_stay(&l, wait);
	uint64_t at = lane_behind(&l, wait);
	*ret = (struct openetw_link){.size = sizeof *ret,
				     .thread = thread,
				     .from = s.from,
				     .ready = INT64_MAX,
				     .to = INT64_MAX,
				     .reason = s.detail,
				     .cause = OPENETW_CAUSE_WAITS};
	if (at == STAY_NOWHERE) {
		return;
	}
	const struct stay next = lane_stay(&l, at);
	ret->cause = OPENETW_CAUSE_UNKNOWN;
	if (next.doing == OPENETW_DOING_RUNNING) {
		ret->to = next.from;
	}
	if (next.doing != OPENETW_DOING_READY) {
		return;
	}
	ret->ready = next.from;
	ret->waker = (enum openetw_waker)next.detail;
	ret->waker_thread = next.who;
	at = lane_behind(&l, at);
	if (at != STAY_NOWHERE) {
		const struct stay last = lane_stay(&l, at);
		ret->to = last.doing == OPENETW_DOING_RUNNING ? last.from : ret->to;
	}
	if (ret->waker != OPENETW_WAKER_THREAD) {
		ret->cause = OPENETW_CAUSE_OUTSIDE;
	}
}

/* Did the waker wait while it was waited for? Then that wait is the next link. */
static uint64_t next_wait(const struct chain *c, struct openetw_link *inout)
{
	if (inout->waker != OPENETW_WAKER_THREAD || inout->waker_thread == 0 ||
	    inout->waker_thread >= c->s->thread_count) {
		return STAY_NOWHERE;
	}
	const struct stay_lane l = lane_of_thread(c->s, inout->waker_thread);
	uint64_t at = lane_at(&l, inout->ready), wait = STAY_NOWHERE;
	inout->cause = at == STAY_NOWHERE ? OPENETW_CAUSE_UNKNOWN : OPENETW_CAUSE_RAN;
	/* Stays that end behind the beginning of the wait. */
	for (; at != STAY_NOWHERE; at = lane_before(&l, at)) {
		int64_t end = lane_stay_end(&l, at);
		uint8_t doing = lane_stay(&l, at).doing;
		if (end <= inout->from) {
			break;
		}
		if (doing == OPENETW_DOING_UNKNOWN) {
			inout->cause = OPENETW_CAUSE_UNKNOWN;
			return STAY_NOWHERE;
		}
		/* One that goes on at `ready` is none: whoever wakes others runs. So links go back in time. */
		if (doing == OPENETW_DOING_WAITING && end < inout->ready) {
			inout->cause = OPENETW_CAUSE_NEXT;
			wait = at;
			break;
		}
	}
	if (at == STAY_NOWHERE && l.part_count && l.parts[0].from > inout->from) {
		inout->cause = OPENETW_CAUSE_UNKNOWN; /* its lane begins while it was waited for */
	}
	return wait;
}

static bool tell(const struct chain *c, struct openetw_link l)
{
	int64_t offset = c->file->offset;
	uint32_t base = c->file->thread_base;
	l.thread += base;
	l.waker_thread = l.waker_thread ? base + l.waker_thread : 0;
	l.from = index_time(l.from, offset);
	l.ready = index_time(l.ready, offset);
	l.to = index_time(l.to, offset);
	return c->fn(c->context, &l);
}

static void follow(const struct chain *c, uint32_t thread, uint64_t wait, uint32_t most)
{
	struct openetw_link l;
	for (uint32_t n = 0; n < most && wait != STAY_NOWHERE; n++) {
		understand(c, thread, wait, &l);
		uint64_t next = next_wait(c, &l);
		uint32_t waker = l.waker_thread;
		if (next != STAY_NOWHERE && n + 1 == most) {
			l.cause = OPENETW_CAUSE_MORE;
		}
		if (!tell(c, l)) {
			return;
		}
		thread = waker;
		wait = next;
	}
}

uint32_t openetw_query_chain(struct openetw_query *q, uint32_t thread, int64_t time, uint32_t most, openetw_link_fn fn,
			     void *context, struct openetw_answer *ret)
{
	if (most == 0 || most > LINKS_MOST || !fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	struct chain c = {.fn = fn, .context = context};
	uint32_t local = 0;
	int err = question_begin(q);
	c.file = err == 0 ? index_thread_of(q->x, thread, &local) : NULL;
	if (err == 0) {
		err = c.file && local ? stays_of(q, (uint32_t)(c.file - q->x->files), &c.s) : -ENOENT;
	}
	if (err == 0) {
		const struct stay_lane l = lane_of_thread(c.s, local);
		uint64_t wait = wait_before(&l, index_time_of_file(time, c.file->offset));
		err = wait == STAY_NOWHERE ? -ENOENT : 0;
		if (err == 0) {
			follow(&c, local, wait, most);
		}
	}
	return question_end(q, err, ret);
}
