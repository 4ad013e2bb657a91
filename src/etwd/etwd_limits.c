/* SPDX-License-Identifier: MIT
 * Sessions that nobody remembers end by themselves: at a time, at a size, with a process.
 *
 * All three are wishes of whoever controls the session; without them it lives until it is stopped.
 */
#include "etw/values/errors.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_session.h"
#include "sink/sink.h"

#include <poll.h>
#include <sys/syscall.h>

uint32_t etwd_limits_owner(uint32_t wanted, uint32_t *pid, int *fd, const char **ret_why)
{
	int found = -1;
	if (wanted == *pid) {
		return 0;
	}
	if (wanted != 0) {
		found = (int)syscall(SYS_pidfd_open, (pid_t)wanted, 0);
		if (found < 0) {
			*ret_why = "the process that the session should end with does not live";
			return errno == ESRCH ? ERROR_NOT_FOUND : win32_from_errno(-errno);
		}
	}
	if (*pid != 0) {
		base_close(fd);
	}
	*pid = wanted;
	*fd = found;
	return 0;
}

void etwd_limits_clear(struct session *s)
{
	etwd_limits_owner(0, &s->owner_pid, &s->owner_fd, NULL);
}

uint32_t etwd_limits_set(struct session *s, const struct proto_session *p, const char **ret_why)
{
	uint32_t code = etwd_limits_owner(p->owner_pid, &s->owner_pid, &s->owner_fd, ret_why);
	if (code == 0) {
		s->expires_filetime = p->expires_filetime;
		s->quota_bytes = p->quota_bytes;
	}
	return code;
}

bool etwd_limits_tick(struct etwd *d, struct session *s)
{
	if (s->expires_filetime != 0 && clock_filetime() >= s->expires_filetime) {
		etwd_log_of(d, s->uid, "Session \"%s\" is stopped: its time is over", s->label);
		etwd_session_stop(d, s);
		return true;
	}
	/* Asked, not watched: a source of the loop would have to outlive its session. */
	struct pollfd owner = {.fd = s->owner_fd, .events = POLLIN};
	if (s->owner_pid != 0 && poll(&owner, 1, 0) == 1) {
		etwd_log_of(d, s->uid, "Session \"%s\" is stopped: process %u, which it belonged to, ended", s->label,
			    s->owner_pid);
		etwd_session_stop(d, s);
		return true;
	}
	if (s->quota_bytes != 0) {
		sink_stats(s->sink, &s->stats);
		/* Without a file: what was recorded, whoever took it. */
		uint64_t bytes = s->stats.bytes_written + s->stats.bytes_recycled;
		if (bytes >= s->quota_bytes) {
			etwd_log_of(d, s->uid, "Session \"%s\" is stopped: it %s %llu bytes, its quota is %llu",
				    s->label, s->path ? "wrote" : "recorded", (unsigned long long)bytes,
				    (unsigned long long)s->quota_bytes);
			etwd_session_stop(d, s);
			return true;
		}
	}
	return false;
}
