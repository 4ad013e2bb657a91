/* SPDX-License-Identifier: MIT
 *
 * The instance for all users has limits for all of them together; none but root may take more than a
 * part of what there is, so that nobody keeps the others from recording or from being recorded.
 */
#include "etwd/etwd.h"

/* root, and everybody in his own instance, may have all of it. */
static bool whole(const struct etwd *d, uid_t uid)
{
	return !d->system || uid == 0;
}

const char *etwd_share_session(const struct etwd *d, const struct session *s, uint64_t bytes)
{
	uint64_t mine = bytes, users = bytes;
	uint32_t count = 1, users_count = 1;
	if (whole(d, s->uid)) {
		return NULL;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		const struct session *o = d->session[i];
		if (o && o != s && o->uid != 0) {
			users += o->buffer_bytes;
			users_count++;
			mine += o->uid == s->uid ? o->buffer_bytes : 0;
			count += o->uid == s->uid;
		}
	}
	if (count > ETWD_SESSIONS_MAX_UID || users_count > ETWD_SESSIONS_MAX / 4 * 3) {
		return "too many sessions of this user";
	}
	return mine > ETWD_BUFFER_BYTES_UID || users > ETWD_BUFFER_BYTES_SYSTEM / 4 * 3
		       ? "the buffers of all sessions of this user together would be too large"
		       : NULL;
}

bool etwd_share_pool(const struct etwd *d, uid_t uid, uint64_t bytes)
{
	uint64_t limit = d->system ? ETWD_POOL_BYTES_TOTAL_SYS : ETWD_POOL_BYTES_TOTAL_USER, mine = bytes;
	const struct process *p;
	if (d->pool_bytes + bytes > limit) {
		return false;
	}
	if (whole(d, uid) || d->pool_bytes + bytes <= limit / 4) {
		return true;
	}
	LIST_FOREACH(p, &d->processes, link)
	{
		mine += p->uid == uid ? p->pool_bytes : 0;
	}
	return mine <= limit / 4;
}

bool etwd_share_registration(const struct etwd *d, uid_t uid)
{
	uint32_t limit = d->system ? ETWD_REGS_TOTAL_SYSTEM : ETWD_REGS_TOTAL_USER, mine = 1;
	const struct process *p;
	if (d->reg_count >= limit) {
		return false;
	}
	if (whole(d, uid) || d->reg_count < limit / 4) {
		return true;
	}
	LIST_FOREACH(p, &d->processes, link)
	{
		mine += p->uid == uid ? p->reg_live : 0;
	}
	return mine <= limit / 4;
}
