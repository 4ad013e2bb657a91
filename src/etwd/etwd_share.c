/* SPDX-License-Identifier: MIT
 *
 * Who has how much of what there is only so much of (docs/limits.md).
 *
 * In the instance for all users
 *
 *   all users together   have at most three quarters, so that root's always fit;
 *   one user             has at most a fixed part, and never more than is still free for users, so that
 *                        somebody who comes later finds room: of two who take what they can get, each
 *                        gets a third, of three a quarter.
 *
 * root, and everybody in their own instance, may have all of it. Also the loop's time is such a thing.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_share.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <sys/resource.h>

#define BUSY_SHARE    4u            /* of the loop's time a user's messages may take one part in so many */
#define BUSY_BURST_NS 200000000ull  /* and so much at once */
#define LOG_LINES     100u          /* at once, about one user */
#define LOG_LINE_NS   1000000000ull /* then one in so much time */

struct limit {
	uint64_t system, user; /* instance for all, instance of one */
	uint64_t one;          /* of the former, for one user */
	const char *text;      /* what a user who wants more is told */
};

static const struct limit limits[SHARE_COUNT] = {
	[SHARE_PROCESSES] = {ETWD_PROCESSES_MAX_SYSTEM, ETWD_PROCESSES_MAX_USER, ETWD_PROCESSES_MAX_UID,
			     "too many provider processes of this user"},
	[SHARE_REGISTRATIONS] = {ETWD_REGS_TOTAL_SYSTEM, ETWD_REGS_TOTAL_USER, ETWD_REGS_TOTAL_SYSTEM / 4,
				 "too many registrations"},
	[SHARE_POOL_BYTES] = {ETWD_POOL_BYTES_TOTAL_SYS, ETWD_POOL_BYTES_TOTAL_USER, ETWD_POOL_BYTES_TOTAL_SYS / 4,
			      "the pools of this user's processes are too large"},
	[SHARE_SESSIONS] = {ETWD_SESSIONS_MAX, ETWD_SESSIONS_MAX, ETWD_SESSIONS_MAX_UID,
			    "too many sessions of this user"},
	[SHARE_BUFFER_BYTES] = {ETWD_BUFFER_BYTES_SYSTEM, ETWD_BUFFER_BYTES_USER, ETWD_BUFFER_BYTES_UID,
				"the buffers of all sessions of this user together would be too large"},
	[SHARE_KERNEL_SESSIONS] = {ETWD_KERNEL_SESSIONS_MAX, ETWD_KERNEL_SESSIONS_MAX, ETWD_KERNEL_SESSIONS_UID,
				   "a user may have 4 sessions with kernel events here"},
	[SHARE_PRIVATES] = {ETWD_PRIVATES_MAX, ETWD_PRIVATES_MAX, ETWD_PRIVATES_UID,
			    "there are too many private sessions"},
	[SHARE_CONNECTIONS] = {0, 0, 0, "etwd has no file descriptors left"},
	[SHARE_QUEUE_BYTES] = {ETWD_QUEUE_BYTES_TOTAL, ETWD_QUEUE_BYTES_TOTAL, ETWD_QUEUE_BYTES_TOTAL / 4, NULL},
	[SHARE_JOBS] = {ETWD_JOBS_MAX, ETWD_JOBS_MAX, ETWD_JOBS_MAX / 8, "too many requests wait for a disk"},
	[SHARE_WAITING] = {ETWD_WAITING_MAX, ETWD_WAITING_MAX, ETWD_WAITING_MAX / 4, NULL},
	[SHARE_ENABLE_BYTES] = {ETWD_ENABLE_BYTES_MAX, ETWD_ENABLE_BYTES_MAX, ETWD_ENABLE_BYTES_MAX / 8,
				"the enables of this user's sessions are too many"},
	[SHARE_IMAGE_BYTES] = {ETWD_IMAGE_BYTES_TOTAL, ETWD_IMAGE_BYTES_TOTAL, ETWD_IMAGE_BYTES_TOTAL / 4, NULL},
	[SHARE_CONFIG_BYTES] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL},
};

struct user {
	LIST_ENTRY(user) link;
	uid_t uid;
	uint64_t used[SHARE_COUNT];
	uint64_t busy_ns, busy_at_ns;    /* of the loop's time, paid back as time goes on */
	uint64_t log_owed_ns, log_at_ns; /* time for lines of the log, paid back alike */
	uint64_t log_left_out;
	struct sink_quota spool;
};

/* root, and everybody in their own instance, may have all of it. */
static bool whole(const struct etwd *d, uid_t uid)
{
	return !d->system || uid == 0 || uid == d->uid;
}

static struct user *find(const struct etwd *d, uid_t uid)
{
	struct user *u;
	LIST_FOREACH(u, &d->users, link) {
		if (u->uid == uid) {
			return u;
		}
	}
	return NULL;
}

static struct user *find_or_make(struct etwd *d, uid_t uid)
{
	struct user *u = find(d, uid);
	if (!u && (u = calloc(1, sizeof *u)) != NULL) {
		u->uid = uid;
		u->spool.limit_bytes = ETWD_SPOOL_BYTES_UID;
		u->spool.floor_bytes = ETWD_SPOOL_FLOOR;
		LIST_INSERT_HEAD(&d->users, u, link);
	}
	return u;
}

/* Three of each connection, see etwd_fds_left(). */
static uint64_t connections_most(void)
{
	struct rlimit lim;
	return getrlimit(RLIMIT_NOFILE, &lim) < 0 ? UINT64_MAX : lim.rlim_cur / 3;
}

static bool fits(const struct etwd *d, const struct user *u, uid_t uid, enum share what, uint64_t n)
{
	const struct limit *l = &limits[what];
	bool fds = what == SHARE_CONNECTIONS;
	uint64_t most = fds ? connections_most() : d->system ? l->system : l->user;
	uint64_t all = d->share_all[what], users = d->share_users[what];
	uint64_t own = (u ? u->used[what] : 0) + n, users_most = most / 4 * 3;
	if (n > most || all > most - n) {
		return false;
	}
	if (whole(d, uid)) {
		return true;
	}
	if (users + n > users_most || own > (fds ? most / 2 : l->one)) {
		return false;
	}
	return own <= users_most - users - n;
}

const char *etwd_share_take(struct etwd *d, uid_t uid, enum share what, uint64_t n)
{
	struct user *u = find_or_make(d, uid);
	if (!u || !fits(d, u, uid, what, n)) {
		return limits[what].text ? limits[what].text : "this user has too much of etwd already";
	}
	u->used[what] += n;
	d->share_all[what] += n;
	d->share_users[what] += whole(d, uid) ? 0 : n;
	return NULL;
}

void etwd_share_add(struct etwd *d, uid_t uid, enum share what, uint64_t n)
{
	struct user *u = find_or_make(d, uid);
	if (u) {
		u->used[what] += n;
	}
	d->share_all[what] += n;
	d->share_users[what] += whole(d, uid) ? 0 : n;
}

void etwd_share_give(struct etwd *d, uid_t uid, enum share what, uint64_t n)
{
	struct user *u = find(d, uid);
	if (u) {
		u->used[what] -= BASE_MIN(n, u->used[what]);
	}
	d->share_all[what] -= BASE_MIN(n, d->share_all[what]);
	if (!whole(d, uid)) {
		d->share_users[what] -= BASE_MIN(n, d->share_users[what]);
	}
}

uint64_t etwd_share_of(const struct etwd *d, uid_t uid, enum share what)
{
	const struct user *u = find(d, uid);
	return u ? u->used[what] : 0;
}

bool etwd_share_fits(const struct etwd *d, uid_t uid, enum share what, uint64_t n)
{
	return fits(d, find(d, uid), uid, what, n);
}

bool etwd_share_whole(const struct etwd *d, uid_t uid)
{
	return whole(d, uid);
}

int etwd_share_spool(struct etwd *d, uid_t uid, struct sink_quota **ret)
{
	struct user *u = whole(d, uid) ? NULL : find_or_make(d, uid);
	*ret = u ? &u->spool : NULL;
	return u || whole(d, uid) ? 0 : -ENOMEM;
}

/* ---- time ------------------------------------------------------------------------------------- */

static void pay_back(struct user *u, uint64_t now_ns)
{
	uint64_t paid = (now_ns - u->busy_at_ns) / BUSY_SHARE;
	u->busy_ns -= BASE_MIN(paid, u->busy_ns);
	u->busy_at_ns = now_ns;
}

void etwd_share_busy(struct etwd *d, uid_t uid, uint64_t from_ns, uint64_t to_ns)
{
	struct user *u = whole(d, uid) ? NULL : find_or_make(d, uid);
	if (u) {
		pay_back(u, from_ns);
		u->busy_ns += to_ns - from_ns;
		u->busy_at_ns = to_ns;
	}
}

bool etwd_share_has_time(struct etwd *d, uid_t uid, uint64_t now_ns)
{
	struct user *u = whole(d, uid) ? NULL : find(d, uid);
	if (u) {
		pay_back(u, now_ns);
	}
	return !u || u->busy_ns < BUSY_BURST_NS;
}

static void pay_log_back(struct user *u, uint64_t now_ns)
{
	u->log_owed_ns -= BASE_MIN(now_ns - u->log_at_ns, u->log_owed_ns);
	u->log_at_ns = now_ns;
}

bool etwd_share_log_line(struct etwd *d, uid_t uid, uint64_t now_ns, uint64_t *ret_left_out)
{
	*ret_left_out = 0;
	if (whole(d, uid)) {
		return true;
	}
	struct user *u = find_or_make(d, uid);
	if (!u) {
		return false;
	}
	pay_log_back(u, now_ns);
	if (u->log_owed_ns + LOG_LINE_NS > LOG_LINES * LOG_LINE_NS) {
		u->log_left_out++;
		return false;
	}
	u->log_owed_ns += LOG_LINE_NS;
	*ret_left_out = u->log_left_out;
	u->log_left_out = 0;
	return true;
}

/* Those who have nothing and owe nothing. */
void etwd_share_tick(struct etwd *d, uint64_t now_ns)
{
	struct user *u, *next;
	if (now_ns - d->share_tick_ns < 1000000000ull) {
		return;
	}
	d->share_tick_ns = now_ns;
	for (u = LIST_FIRST(&d->users); u; u = next) {
		bool idle = true;
		next = LIST_NEXT(u, link);
		for (uint32_t i = 0; i < SHARE_COUNT; i++) {
			idle = idle && u->used[i] == 0;
		}
		if (idle) {
			pay_back(u, now_ns);
			pay_log_back(u, now_ns);
		}
		if (idle && u->log_owed_ns == 0 && u->log_left_out > 0) {
			etwd_log_left_out(d, u->uid, u->log_left_out);
			u->log_left_out = 0;
		}
		if (idle && u->busy_ns == 0 && u->log_owed_ns == 0) {
			LIST_REMOVE(u, link);
			free(u);
		}
	}
}

void etwd_share_finish(struct etwd *d)
{
	struct user *u;
	while ((u = LIST_FIRST(&d->users)) != NULL) {
		LIST_REMOVE(u, link);
		free(u);
	}
}
