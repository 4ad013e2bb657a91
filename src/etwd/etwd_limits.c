/* SPDX-License-Identifier: MIT
 * Sessions that nobody remembers end by themselves: at a time, at a size, with a process.
 *
 * All three are wishes of whoever controls the session; without them it lives until it is stopped.
 */
#include "etwd/etwd.h"

#include <poll.h>
#include <sys/syscall.h>

void etwd_limits_clear(struct session *s)
{
	if (s->owner_pid != 0) {
		base_close(&s->owner_fd);
	}
	s->owner_pid = 0;
}

uint32_t etwd_limits_set(struct session *s, const struct proto_session *p, const char **ret_why)
{
	int fd = -1;
	if (p->owner_pid != 0 && p->owner_pid != s->owner_pid) {
		fd = (int)syscall(SYS_pidfd_open, (pid_t)p->owner_pid, 0);
		if (fd < 0) {
			*ret_why = "the process that the session should end with does not live";
			return errno == ESRCH ? 1168 : win32_from_errno(-errno);
		}
	}
	if (p->owner_pid != s->owner_pid) {
		etwd_limits_clear(s);
		s->owner_pid = p->owner_pid;
		s->owner_fd = fd;
	}
	s->expires_filetime = p->expires_filetime;
	s->quota_bytes = p->quota_bytes;
	return 0;
}

bool etwd_limits_tick(struct etwd *d, struct session *s)
{
	if (s->expires_filetime != 0 && clock_filetime() >= s->expires_filetime) {
		etwd_log(d, "Session \"%s\" is stopped: its time is over", s->label);
		etwd_session_stop(d, s);
		return true;
	}
	/* Asked, not watched: a source of the loop would have to outlive its session. */
	struct pollfd owner = {.fd = s->owner_fd, .events = POLLIN};
	if (s->owner_pid != 0 && poll(&owner, 1, 0) == 1) {
		etwd_log(d, "Session \"%s\" is stopped: process %u, which it belonged to, ended",
			 s->label, s->owner_pid);
		etwd_session_stop(d, s);
		return true;
	}
	if (s->quota_bytes != 0) {
		sink_stats(s->sink, &s->stats);
		/* Without a file: what was recorded, whoever took it. */
		uint64_t bytes = s->stats.bytes_written + s->stats.bytes_recycled;
		if (bytes >= s->quota_bytes) {
			etwd_log(d,
				 "Session \"%s\" is stopped: it %s %llu bytes, its quota is %llu",
				 s->label, s->path ? "wrote" : "recorded", (unsigned long long)bytes,
				 (unsigned long long)s->quota_bytes);
			etwd_session_stop(d, s);
			return true;
		}
	}
	return false;
}
