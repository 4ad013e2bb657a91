/* SPDX-License-Identifier: MIT
 *
 * ADOPT: a provider process outlived an etwd and hands over the pool of that time. What was written
 * into it and never drained goes to
 *
 *   - the session that wanted it, if a session of the same name runs again, or
 *   - a session that had enabled the provider before the event was written;
 *
 * always after that session's own filters. The rest has nobody left to receive it; it is counted
 * and shown ("adopted_unclaimed" in the statistics, and a line in the log), as are the events the
 * writer could not even place while no etwd drained ("adopted_lost").
 *
 * The old pool is drained like a process of its own, a "ghost" of the one that handed it over (its
 * "heir"). A ghost waits until the sessions of its bits are back, at most GHOST_WAIT_NS: who starts
 * etwd again usually starts the sessions a moment later. The provider keeps the memory until we
 * answer, so an etwd that dies before that loses nothing either.
 *
 * Everything in the pool is hostile, as ever; the memory must be sealed like one of ours.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "pool/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define GHOST_WAIT_NS     2000000000ull
#define GHOST_WAIT_MIN_NS 50000000ull /* for a writer that was interrupted in the old pool */
#define GHOSTS_PER_HEIR   8u
#define POOL_SEALS        (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

uint64_t etwd_session_name_hash(const struct session *s)
{
	uint64_t h = 0xCBF29CE484222325ull ^ s->uid;
	for (const uint16_t *p = s->name; *p; p++) {
		uint16_t c = *p >= 'A' && *p <= 'Z' ? *p + 32 : *p;
		h = (h ^ c) * 0x100000001B3ull;
	}
	return h ? h : 1;
}

/* ---- taking it --------------------------------------------------------------------------------
 */

/* The chunk size of a segment that may be mapped, or 0. */
static uint32_t segment_chunk_size(int fd, uint64_t *ret_bytes)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & POOL_SEALS) != POOL_SEALS || fstat(fd, &st) != 0) {
		return 0;
	}
	for (uint32_t size = POOL_CHUNK_MIN; size <= POOL_CHUNK_MAX; size *= 2) {
		if ((uint64_t)st.st_size == pool_segment_bytes(size)) {
			*ret_bytes = (uint64_t)st.st_size;
			return size;
		}
	}
	return 0;
}

static int take_segment(struct etwd *d, struct process *g, int fd)
{
	uint64_t bytes;
	if (segment_chunk_size(fd, &bytes) == 0) {
		return -EINVAL;
	}
	if (g->pool_bytes + bytes > ETWD_POOL_BYTES_PROCESS || etwd_share_take(d, g->uid, SHARE_POOL_BYTES, bytes)) {
		return -EDQUOT;
	}
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		int err = -errno;
		etwd_share_give(d, g->uid, SHARE_POOL_BYTES, bytes);
		return err;
	}
	g->segment[g->segment_count] = mem;
	g->segment_bytes[g->segment_count++] = bytes;
	g->pool_bytes += bytes;
	return pool_view_add_segment(g->view, mem, bytes);
}

static uint32_t ghosts_of(const struct etwd *d, const struct process *heir)
{
	uint32_t n = 0;
	const struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		n += p->heir == heir;
	}
	return n;
}

static int ghost_create(struct etwd *d, struct process *heir, const int *fds, int count, struct process **ret)
{
	struct process *g = calloc(1, sizeof *g);
	if (!g) {
		return -ENOMEM;
	}
	g->heir = heir;
	g->pid = heir->pid;
	g->uid = heir->uid;
	g->pidfd.fd = -1;
	memcpy(g->exe, heir->exe, sizeof g->exe);
	g->adopted_ns = etwd_now_ns();
	int r = pool_view_create(g, &g->view);
	for (int i = 0; r == 0 && i < count; i++) {
		r = take_segment(d, g, fds[i]);
	}
	LIST_INSERT_HEAD(&d->processes, g, link);
	d->process_count++;
	d->ghost_count++;
	if (r < 0) {
		etwd_process_destroy(d, g);
		return r;
	}
	/* Any index: whether it means a registration is looked up with the record. */
	pool_view_set_limits(g->view, &(struct pool_limits){.provider_count = ETWD_REG_INDEX_MAX});
	pool_view_adopt(g->view);
	*ret = g;
	return 0;
}

void etwd_adopt(struct etwd *d, struct conn *c, const struct proto_message *m, const int *fds, int count)
{
	struct process *heir = c->process, *g;
	if (count == 0 || (uint32_t)count > POOL_SEGMENTS_MAX) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "ADOPT needs the segments of one pool");
		return;
	}
	if (ghosts_of(d, heir) >= GHOSTS_PER_HEIR) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "too many earlier pools");
		return;
	}
	int r = ghost_create(d, heir, fds, count, &g);
	if (r < 0) {
		d->bad_messages += r == -EINVAL;
		etwd_reply_status(d, c, m, r == -EDQUOT ? ERROR_NO_SYSTEM_RESOURCES : win32_from_errno(r),
				  "this is no pool that an etwd made");
		return;
	}
	etwd_reply_keep(c, m, &g->adopt_reply);
}

/* ---- giving it out ----------------------------------------------------------------------------
 */

/* It has enabled a provider in that process again. */
static bool session_is_back(const struct process *heir, const struct session *s)
{
	for (uint32_t i = 0; i < heir->reg_cap; i++) {
		const struct config *c = heir->reg[i] ? heir->reg[i]->config : NULL;
		for (uint32_t k = 0; c && k < c->rows; k++) {
			if (c->row[k].session == s) {
				return true;
			}
		}
	}
	return false;
}

/* Give each bit its session of today. False: one of them is not back yet. */
static bool claim_bits(struct etwd *d, struct process *g)
{
	bool all = true;
	for (uint32_t bit = 0; bit < POOL_SESSION_BITS; bit++) {
		uint64_t name = pool_view_bit_name(g->view, bit);
		if (name == 0 || g->bit_owner[bit]) {
			continue;
		}
		for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX && !g->bit_owner[bit]; i++) {
			struct session *s = d->session[i];
			if (s && s->sink && etwd_session_name_hash(s) == name && session_is_back(g->heir, s)) {
				g->bit_owner[bit] = s;
				g->bit_uses[bit] = 1;
				etwd_session_ref(s);
			}
		}
		all = all && g->bit_owner[bit];
	}
	return all;
}

bool etwd_adopt_ready(struct etwd *d, struct process *g, uint64_t now_ns)
{
	uint64_t age = now_ns - g->adopted_ns;
	if (g->dead) {
		claim_bits(d, g);
		return true;
	}
	if (age < GHOST_WAIT_MIN_NS || (!claim_bits(d, g) && age < GHOST_WAIT_NS)) {
		return false;
	}
	g->dead = true; /* this pass is its last */
	d->dead_count++;
	return true;
}

void etwd_adopt_heir_gone(struct etwd *d, struct process *heir)
{
	struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		if (p->heir == heir && !p->dead) {
			p->dead = true;
			d->dead_count++;
		}
	}
}

void etwd_adopt_done(struct etwd *d, struct process *g)
{
	for (uint32_t bit = 0; bit < POOL_SESSION_BITS; bit++) {
		if (!g->bit_owner[bit] && g->view) {
			uint64_t n = pool_view_take_lost(g->view, bit, etwd_now_ns());
			g->adopted_lost += pool_view_lied(g->view) ? 0 : n;
		}
	}
	d->adopted_pools++;
	d->adopted_events += g->adopted_events;
	d->adopted_unclaimed += g->adopted_unclaimed;
	d->adopted_lost += g->adopted_lost;
	etwd_log_of(d, g->uid,
		    "Took over a pool of process %d (%s) from an earlier etwd: delivered=%llu, "
		    "of no session=%llu, lost while nobody drained=%llu",
		    (int)g->pid, g->exe, (unsigned long long)g->adopted_events,
		    (unsigned long long)g->adopted_unclaimed, (unsigned long long)g->adopted_lost);
	if (g->adopt_reply.conn) {
		struct conn *c = g->adopt_reply.conn;
		struct proto_message m = {.type = g->adopt_reply.type, .id = g->adopt_reply.id};
		etwd_reply_drop(&g->adopt_reply);
		etwd_reply_status(d, c, &m, 0, NULL);
	}
}
