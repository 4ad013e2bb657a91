/* SPDX-License-Identifier: MIT
 *
 * Shares: what one user may have of this etwd.
 */
#ifndef ETWD_ETWD_SHARE_H
#define ETWD_ETWD_SHARE_H

#include "base/base.h"
#include "sink/sink.h"

#include <sys/types.h>

struct etwd;
struct sink_quota;

/* What there is only so much of. See etwd_share.c and docs/limits.md. */
enum share {
	SHARE_PROCESSES,
	SHARE_REGISTRATIONS,
	SHARE_POOL_BYTES,
	SHARE_SESSIONS,
	SHARE_BUFFER_BYTES, /* with backlogs, and rings of consumers */
	SHARE_KERNEL_SESSIONS,
	SHARE_PRIVATES,
	SHARE_CONNECTIONS,
	SHARE_QUEUE_BYTES,
	SHARE_JOBS,
	SHARE_WAITING,
	SHARE_ENABLE_BYTES,
	SHARE_IMAGE_BYTES, /* also of processes that ended, while a session remembers them */
	SHARE_CONFIG_BYTES,
	SHARE_COUNT,
};
/* NULL: taken; else why not, in words. */
const char *etwd_share_take(struct etwd *d, uid_t uid, enum share what, uint64_t n);
void etwd_share_add(struct etwd *d, uid_t uid, enum share what, uint64_t n); /* whatever the limit */
void etwd_share_give(struct etwd *d, uid_t uid, enum share what, uint64_t n);
uint64_t etwd_share_of(const struct etwd *d, uid_t uid, enum share what);
bool etwd_share_fits(const struct etwd *d, uid_t uid, enum share what, uint64_t n);
bool etwd_share_whole(const struct etwd *d, uid_t uid); /* no part is set for this one */
/* On the disk; NULL: any. As long as the user has a session. -ENOMEM. */
int etwd_share_spool(struct etwd *d, uid_t uid, struct sink_quota **ret);
/* The loop worked for this user; may it go on to? */
void etwd_share_busy(struct etwd *d, uid_t uid, uint64_t from_ns, uint64_t to_ns);
bool etwd_share_has_time(struct etwd *d, uid_t uid, uint64_t now_ns);
/* May the log have one more line about this user now? *ret_left_out: lines that it did not get since the last. */
bool etwd_share_log_line(struct etwd *d, uid_t uid, uint64_t now_ns, uint64_t *ret_left_out);
void etwd_share_tick(struct etwd *d, uint64_t now_ns);
void etwd_share_finish(struct etwd *d);

#endif
