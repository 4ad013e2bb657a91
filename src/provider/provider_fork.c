/* SPDX-License-Identifier: MIT
 *
 * A forked child. Fork itself runs nothing of ours, so fork+exec costs nothing. The region and the
 * writers read as zero here, the cold registrations are copies; threads and the lock's owner do not
 * exist.
 */
#include "provider/provider_fork.h"
#include "provider/provider_callback.h"
#include "provider/provider_classic.h"
#include "provider/provider_dest.h"

#include <sys/syscall.h>
#include <time.h>

/* In all, for connecting and the answers to every registration. */
#define CHILD_ATTACH_MS 50
#define CHILD_BUF_BYTES 4096

static uint32_t recovering; /* process id of the child that does it */

static int left_ms(const struct timespec *until)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long ms = (long)(until->tv_sec - now.tv_sec) * 1000 +
		  (until->tv_nsec - now.tv_nsec) / 1000000;
	return ms < 0 ? 0 : (int)ms;
}

/* As the listener would, but in this thread: REGISTER each, take the answers until the time is
 * over. */
static void attach_threadless(struct provider_dest *d, uint8_t *buf)
{
	struct timespec until = provider_deadline(CHILD_ATTACH_MS);
	struct provider_attached at;
	d->private_fds = false;
	if (provider_attach(d, buf, CHILD_BUF_BYTES, left_ms(&until), &at) != 0) {
		return;
	}
	d->at = at;
	d->cookie = provider_fd_cookie(at.fd);
	d->serial++;
	d->state = PROVIDER_DEST_ATTACHED;
	d->handed_over = true;
	uint32_t waiting = 0;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		/* Traits may make it longer than the buffer: those wait for a listener. */
		long n = provider_registrations[i].state == PROVIDER_REG_LIVE
				 ? provider_make_register(buf, CHILD_BUF_BYTES, i)
				 : -ENOENT;
		if (n > 0 && proto_send(at.fd, buf, (size_t)n, NULL, 0) == 0) {
			d->told[i / 32] |= 1u << (i % 32);
			waiting++;
		}
	}
	while (waiting > 0) {
		int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
		struct proto_message m;
		long n = proto_recv(at.fd, buf, CHILD_BUF_BYTES, fds, &count, left_ms(&until));
		if (n <= 0 || proto_parse(buf, (size_t)n, &m) < 0) {
			break;
		}
		uint32_t index = m.id & 0xFFFFu, offset = 0, level = 0;
		if (m.type == (PROTO_REGISTER | PROTO_REPLY) &&
		    index < PROVIDER_REGISTRATIONS_MAX &&
		    proto_get_u32(&m, PROTO_TAG_ENTRY_OFFSET, &offset)) {
			struct provider_registration *reg = &provider_registrations[index];
			const struct ctl_entry *e = provider_attach_entry(&at, offset);
			reg->said[d->kind].registered = true;
			reg->said[d->kind].on = proto_get_u32(&m, PROTO_TAG_LEVEL, &level);
			proto_get_u64(&m, PROTO_TAG_CLASSIC_HANDLE,
				      &reg->said[d->kind].classic_handle);
			reg->entry[d->kind] = e ? e : &provider_entry_off;
			provider_refresh_locked(index);
			waiting--;
		}
		for (int i = 0; i < count; i++) {
			close(fds[i]);
		}
	}
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
}

void provider_fork_recover(void)
{
	uint8_t buf[CHILD_BUF_BYTES];
	uint32_t me = (uint32_t)syscall(SYS_getpid);
	uint32_t seen = order_load_relaxed(&recovering);
	if (seen == me || !order_cas_full(&recovering, &seen, me)) {
		return; /* a handler or another thread of the child is at it */
	}
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	memcpy(&provider_lock, &fresh, sizeof fresh);
	provider_registry_init();
	provider_callback_forget();
	for (int d = 0; d < 2; d++) {
		forget_destination(&provider_dests[d]);
	}
	/* Before any handle works again: who has a handle believes the epoch. */
	order_store_release(&provider_memory.epoch, me);
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		if (reg->state == PROVIDER_REG_LEAVING) {
			reg->state = PROVIDER_REG_FREE;
		}
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
			order_store_release(&hot->handle, (uint64_t)reg->generation << 32 | (i + 1));
		}
	}
	for (int d = 0; d < 2; d++) {
		attach_threadless(&provider_dests[d], buf);
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
