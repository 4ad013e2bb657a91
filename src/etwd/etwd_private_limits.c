/* SPDX-License-Identifier: MIT
 * Private sessions of controllers that nobody remembers end at a time, at a size, with a process, like
 * the others (etwd_limits.c). What they wrote only their processes know: those are asked every second.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_private.h"
#include "etwd/etwd_session.h"
#include "proto/proto.h"

#include <poll.h>

#define LOOK_NS 100000000ull
#define ASK_NS  1000000000ull

void etwd_private_limits_clear(struct private_session *s)
{
	etwd_limits_owner(0, &s->p.owner_pid, &s->owner_fd, NULL);
}

uint32_t etwd_private_limits_set(struct private_session *s, const struct proto_session *p, const char **ret_why)
{
	uint32_t code = etwd_limits_owner(p->owner_pid, &s->p.owner_pid, &s->owner_fd, ret_why);
	if (code == 0) {
		s->p.expires_filetime = p->expires_filetime;
		s->p.quota_bytes = p->quota_bytes;
	}
	return code;
}

bool etwd_private_limited(const struct private_session *s)
{
	return !s->stopping && (s->p.expires_filetime || s->p.quota_bytes || s->p.owner_pid);
}

static uint64_t written(const struct private_session *s)
{
	uint64_t bytes = s->ended.bytes_written;
	const struct member *m;
	LIST_FOREACH(m, &s->members, link) {
		bytes += m->last.bytes_written;
	}
	return bytes;
}

/* One that is stopped is not asked again and again. */
static void ask_for_sums(struct etwd *d, struct private_session *s)
{
	struct member *m, *next;
	for (m = LIST_FIRST(&s->members); m; m = next) {
		next = LIST_NEXT(m, link);
		if (m->running && !m->asked) {
			m->asked = true;
			etwd_private_tell(d, s, PROTO_PRIVATE_QUERY, m->process, NULL, NULL);
		}
	}
}

static const char *is_over(const struct private_session *s)
{
	struct pollfd owner = {.fd = s->owner_fd, .events = POLLIN};
	if (s->p.expires_filetime != 0 && clock_filetime() >= s->p.expires_filetime) {
		return "its time is over";
	}
	if (s->p.owner_pid != 0 && poll(&owner, 1, 0) == 1) {
		return "the process it belonged to ended";
	}
	return s->p.quota_bytes != 0 && written(s) >= s->p.quota_bytes ? "its files reached its quota" : NULL;
}

void etwd_private_limits_tick(struct etwd *d, uint64_t now_ns)
{
	struct private_side *side = d->privates;
	struct private_session *s, *next;
	if (now_ns == UINT64_MAX || now_ns - side->look_ns < LOOK_NS) { /* the former: etwd goes */
		return;
	}
	bool ask = now_ns - side->ask_ns >= ASK_NS;
	side->look_ns = now_ns;
	side->ask_ns = ask ? now_ns : side->ask_ns;
	for (s = LIST_FIRST(&side->sessions); s; s = next) {
		next = LIST_NEXT(s, link);
		const char *why = etwd_private_limited(s) ? is_over(s) : NULL;
		if (why) {
			etwd_log_of(d, s->uid, "Private session %#llx is stopped: %s", (unsigned long long)s->id, why);
			etwd_private_tell_all(d, s, PROTO_PRIVATE_STOP, NULL, NULL);
			etwd_private_free(d, s);
		} else if (ask && !s->stopping && s->p.quota_bytes != 0) {
			ask_for_sums(d, s);
		}
	}
}
