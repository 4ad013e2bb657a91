/* SPDX-License-Identifier: MIT
 *
 * A forked child. The region and the writers read as zero here, the cold registrations are copies;
 * threads and the lock's owner do not exist. The first call of ours brings the registrations back
 * and attaches in the calling thread.
 *
 * A child may never call: programs made by the usual macros test bits of their own first, which
 * only the enable callback sets. So where some registration has a callback, fork() leaves a thread
 * in the child that attaches a little later and tells the callbacks what is different from the
 * parent's state at the fork. Until then it sleeps, and an exec ends it unnoticed; without
 * callbacks, and for children made by raw clone or vfork, fork runs nothing of ours.
 * OPENETW_FORK_THREAD=0 forbids it, for programs whose children must have one thread
 * (unshare(CLONE_NEWUSER), strict sandboxes).
 */
#include "provider/provider_fork.h"
#include "provider/provider_callback.h"
#include "provider/provider_classic.h"
#include "provider/provider_dest.h"
#include "provider/provider_private.h"
#include "provider/provider_scarce.h"
#include "etw/values/provider_control.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define CHILD_BUF_BYTES 4096
/* What follows fork immediately is usually exec. */
#define CHILD_QUIET_MS    20
#define CHILD_AGAIN_MS    200
#define CHILD_STACK_BYTES (64u << 10)
#define CHILD_TRIES       5

static uint32_t recovering PROVIDER_FEW; /* thread id in the child that does it */

/* What sessions miss of this child is to be counted. */
static void tell_late(struct provider_dest *d, uint8_t *buf, size_t bytes)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		const struct provider_registration *reg = &provider_registrations[i];
		if (reg->state == PROVIDER_REG_LIVE && !reg->said[d->kind].registered &&
		    provider_patience_wanted(d, reg)) {
			provider_attach_late(d, i, buf, bytes);
		}
	}
}

/* As the listener would, but in this thread: REGISTER each, take the answers until the time is
 * over. */
void provider_attach_threadless(struct provider_dest *d, uint8_t *buf, size_t bytes)
{
	struct timespec until = provider_deadline(provider_wait_ms());
	struct provider_attached at;
	d->private_fds = false;
	bool wanted = false;
	for (uint32_t i = 0; i < provider_registrations_top && !wanted; i++) {
		wanted = provider_registrations[i].state == PROVIDER_REG_LIVE &&
			 provider_patience_wanted(d, &provider_registrations[i]);
	}
	if (provider_attach(d, buf, bytes, 0, &(struct provider_haste){&until, wanted}, &at) != 0) {
		tell_late(d, buf, bytes);
		return;
	}
	d->at = at;
	d->cookie = provider_fd_cookie(at.fd);
	d->serial++;
	d->state = PROVIDER_DEST_ATTACHED;
	d->handed_over = true;
	uint32_t waiting = 0;
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(d->told); i++) {
		waiting += (uint32_t)__builtin_popcount(d->told[i]);
	}
	while (waiting > 0) {
		int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
		struct proto_message m;
		long n = proto_recv(at.fd, buf, bytes, fds, &count, provider_left_ms(&until));
		if (n == -ETIMEDOUT && provider_patience_more(d, wanted, &until)) {
			continue;
		}
		if (n <= 0 || proto_parse(buf, (size_t)n, &m) < 0) {
			break;
		}
		if (m.type == PROTO_PRIVATE) { /* when there are threads */
			uint8_t done[128];
			long bytes = provider_private_refuse(done, sizeof done, &m);
			if (bytes > 0) {
				proto_send(at.fd, done, (size_t)bytes, NULL, 0);
			}
		}
		uint32_t index = m.id & 0xFFFFu, offset = 0, level = 0;
		if (m.type == (PROTO_REGISTER | PROTO_REPLY) && index < PROVIDER_REGISTRATIONS_MAX &&
		    proto_get_u32(&m, PROTO_TAG_ENTRY_OFFSET, &offset)) {
			struct provider_registration *reg = &provider_registrations[index];
			const struct ctl_entry *e = provider_attach_entry(&at, offset);
			struct provider_said *said = &reg->said[d->kind];
			said->registered = true;
			said->on = proto_get_u32(&m, PROTO_TAG_LEVEL, &level);
			said->level = (uint8_t)level;
			proto_get_u64(&m, PROTO_TAG_ANY, &said->any);
			proto_get_u64(&m, PROTO_TAG_ALL, &said->all);
			proto_get_u64(&m, PROTO_TAG_CLASSIC_HANDLE, &reg->said[d->kind].classic_handle);
			reg->entry[d->kind] = e ? e : &provider_entry_off;
			provider_refresh_locked(index);
			waiting--;
		}
		for (int i = 0; i < count; i++) {
			close(fds[i]);
		}
	}
	tell_late(d, buf, bytes);
	provider_classic_refresh_locked();
}

static void forget_destination(struct provider_dest *d)
{
	/* The parent's socket lives in its listener's table (or is inherited and close-on-exec:
	 * closing a number that may be the application's by now is worse than keeping it). The old
	 * mappings stay: the signal handler we may be in interrupted a write into them. */
	d->state = PROVIDER_DEST_DETACHED;
	d->listener = false;
	d->sender_running = false;
	d->handed_over = false;
	d->at = (struct provider_attached){.fd = -1};
	memset(d->old, 0, sizeof d->old); /* the parent's to hand over */
	d->muted = false;
	d->out = NULL;
	d->out_tail = &d->out;
	d->posted = 0;
	d->sent = 0;
	d->unresponsive = false;
	memset(d->told, 0, sizeof d->told);
	memset(d->stale, 0, sizeof d->stale);
	d->peer = 0;
}

/* Another thread of the child is at it: its events are not to be refused meanwhile. */
static void wait_recovered(void)
{
	struct timespec ms = {0, 1000000};
	struct timespec until =
		provider_deadline(2 * provider_wait_ms() + PROVIDER_STARVED_MS + 2 * PROVIDER_PATIENCE_MS);
	while (order_load_acquire(&recovering) != 0 && provider_left_ms(&until) > 0) {
		nanosleep(&ms, NULL);
	}
}

/* What the program was told last, before the fork. */
static void remember_said(struct provider_registration *reg)
{
	if (reg->forked) {
		return; /* it was not told what came after that */
	}
	struct provider_said was = {0};
	for (int d = 0; d < PROVIDER_DESTS; d++) {
		const struct provider_said *s = &reg->said[d];
		if (s->on) {
			was.level = BASE_MAX(was.level, s->level);
			was.any |= s->any;
			was.all = was.on ? was.all & s->all : s->all;
			was.on = true;
		}
	}
	reg->before_fork = was;
	reg->forked = true;
}

void provider_fork_remember(void)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LIVE) {
			remember_said(&provider_registrations[i]);
		}
	}
}

void provider_fork_recover(void)
{
	uint8_t buf[CHILD_BUF_BYTES];
	uint32_t me = (uint32_t)syscall(SYS_gettid), process = (uint32_t)syscall(SYS_getpid);
	uint32_t seen = order_load_relaxed(&recovering);
	if (seen == me) {
		return; /* a signal handler interrupted us */
	}
	if (seen != 0 && syscall(SYS_tgkill, process, seen, 0) != 0) {
		/* Left by the process we were forked from. */
		if (!order_cas_full(&recovering, &seen, me)) {
			wait_recovered();
			return;
		}
	} else if (seen != 0 || !order_cas_full(&recovering, &seen, me)) {
		wait_recovered();
		return;
	}
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	memcpy(&provider_lock, &fresh, sizeof fresh);
	provider_registry_init();
	provider_callback_forget();
	provider_private_forget();
	provider_scarce_forget();
	for (int d = 0; d < 2; d++) {
		forget_destination(&provider_dests[d]);
	}
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		if (reg->state == PROVIDER_REG_LEAVING) {
			reg->state = PROVIDER_REG_FREE;
		}
		remember_said(reg);
		for (int d = 0; d < PROVIDER_DESTS; d++) {
			reg->entry[d] = &provider_entry_off;
			reg->said[d] = (struct provider_said){0};
		}
		reg->running = false;
		reg->jobs_done = reg->jobs_queued;
		if (reg->state == PROVIDER_REG_LIVE) {
			struct provider_hot *hot = &provider_memory.hot[i];
			hot->flags = reg->flags;
			provider_refresh_locked(i);
		}
	}
	provider_patience_renew();
	for (int d = 0; d < 2; d++) {
		provider_attach_threadless(&provider_dests[d], buf, sizeof buf);
	}
	provider_scarce_in_child();
	/* Before any handle works again: who has a handle believes the epoch. Who misses one meanwhile
	 * waits for the end of this. */
	order_store_release(&provider_memory.epoch, process);
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LIVE) {
			provider_handle_publish_locked(i,
						       (uint64_t)provider_registrations[i].generation << 32 | (i + 1));
		}
	}
	order_store_release(&recovering, 0u);
}

void provider_fork_settle(void)
{
	uint32_t by = order_load_acquire(&recovering);
	if (by != 0 && by != (uint32_t)syscall(SYS_gettid)) {
		wait_recovered();
	}
}

void provider_fork_check(void)
{
	if (provider_registrations_top != 0 && order_load_acquire(&provider_memory.epoch) == 0) {
		int saved = errno;
		provider_fork_recover();
		errno = saved;
	}
}

/* ---- the thread in the child ------------------------------------------------------------------
 */

void provider_fork_tell_locked(void)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		const struct provider_said *was = &reg->before_fork;
		if (!reg->forked) {
			continue;
		}
		reg->forked = false;
		for (uint32_t d = 0; d < 2 && reg->state == PROVIDER_REG_LIVE; d++) {
			const struct provider_said *s = &reg->said[d];
			bool same = s->on == was->on &&
				    (!s->on || (s->level == was->level && s->any == was->any && s->all == was->all));
			if (d == 1 && provider_dests[d].dir[0] == 0) {
				continue;
			}
			if (!same && (s->on || d == 0)) {
				struct provider_notice n = {
					.code = s->on ? EVENT_CONTROL_CODE_ENABLE_PROVIDER
						      : EVENT_CONTROL_CODE_DISABLE_PROVIDER,
					.level = s->level,
					.any = s->any,
					.all = s->all,
					.classic_handle = s->classic_handle,
				};
				provider_notice_locked(i, d, &n);
			}
		}
	}
}

static void *child_main(void *arg)
{
	provider_wait_sleep(NULL, 0, CHILD_QUIET_MS);
	provider_fork_check();
	pthread_mutex_lock(&provider_lock);
	while (!provider_threads_try_locked()) {
		pthread_mutex_unlock(&provider_lock);
		provider_wait_sleep(NULL, 0, CHILD_AGAIN_MS);
		pthread_mutex_lock(&provider_lock);
	}
	pthread_mutex_unlock(&provider_lock);
	return NULL;
}

static void in_child(void)
{
	bool wanted = false;
	for (uint32_t i = 0; i < provider_registrations_top && !wanted; i++) {
		const struct provider_registration *reg = &provider_registrations[i];
		wanted = reg->state == PROVIDER_REG_LIVE && (reg->enable_fn || reg->wmi_fn);
	}
	pthread_t t;
	int saved = errno;
	for (int i = 0; wanted && i < CHILD_TRIES; i++) {
		int r = provider_thread_create(&t, child_main, NULL, CHILD_STACK_BYTES);
		if (r == 0) {
			pthread_detach(t);
		}
		wanted = r != 0 && provider_is_shortage(r);
		if (wanted) {
			provider_wait_sleep(NULL, 0, CHILD_QUIET_MS);
		}
	}
	errno = saved;
}

void provider_fork_watch(void)
{
	const char *said = secure_getenv("OPENETW_FORK_THREAD");
	static bool watched;
	if (!watched && (!said || strcmp(said, "0") != 0)) {
		watched = pthread_atfork(NULL, NULL, in_child) == 0;
	}
}
