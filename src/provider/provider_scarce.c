/* SPDX-License-Identifier: MIT
 * See provider_scarce.h.
 */
#include "provider/provider_scarce.h"

#include "base/cancel.h"
#include "provider/provider_callback.h"
#include "provider/provider_dest.h"
#include "provider/provider_fork.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define THREADS_WAIT_MS 250 /* in the life of a process */
#define THREADS_STEP_MS 10
#define RETRY_FIRST_MS  20u /* between looks for a daemon by threads that write events */
#define RETRY_LAST_MS   2000u
#define WRITE_BUF_BYTES 4096 /* as in provider_fork.c */

static uint32_t scarce; /* 1: handles are hidden */
static uint32_t next_ms, step_ms;
static int patience_left = THREADS_WAIT_MS;

/* ---- memory ---------------------------------------------------------------------------------- */

struct block {
	size_t mapped; /* 0: from malloc() */
	size_t unused;
	uint8_t data[];
};

void *provider_alloc(size_t bytes)
{
	size_t total = sizeof(struct block) + bytes;
	struct block *b = malloc(total);
	if (b) {
		b->mapped = 0;
		return b->data;
	}
	b = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED) {
		return NULL;
	}
	b->mapped = total;
	return b->data;
}

void provider_free(void *mem)
{
	struct block *b = mem ? (struct block *)(void *)((uint8_t *)mem - offsetof(struct block, data)) : NULL;
	if (b && b->mapped) {
		munmap(b, b->mapped);
	} else {
		free(b);
	}
}

bool provider_is_shortage(int err)
{
	switch (err < 0 ? -err : err) {
	case ENOMEM:
	case ENOBUFS:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
	case EINTR:
	case ENOSPC:
	case EPROTO: /* an answer that makes no sense, for want of memory to map it; or without its descriptors */
	case EBADMSG:
	case ETIMEDOUT:
	case ECONNRESET: return true;
	default: return false;
	}
}

/* ---- handles --------------------------------------------------------------------------------- */

bool provider_is_scarce(void)
{
	return order_load_acquire(&scarce) != 0;
}

void provider_handle_publish_locked(uint32_t index, uint64_t handle)
{
	struct provider_hot *hot = &provider_memory.hot[index];
	bool hide = handle != 0 && provider_is_scarce();
	/* One of the two is always there for who looks at handle, hidden, handle. */
	order_store_release(hide ? &hot->hidden : &hot->handle, handle);
	order_store_release(hide ? &hot->handle : &hot->hidden, 0ull);
}

static void publish_all(void)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		const struct provider_registration *reg = &provider_registrations[i];
		if (reg->state == PROVIDER_REG_LIVE) {
			provider_handle_publish_locked(i, (uint64_t)reg->generation << 32 | (i + 1));
		}
	}
}

static void set_scarce(bool on)
{
	if (on != provider_is_scarce()) {
		order_store_release(&scarce, on ? 1u : 0u);
		order_store_relaxed(&step_ms, RETRY_FIRST_MS);
		publish_all();
	}
}

void provider_scarce_forget(void)
{
	order_store_relaxed(&scarce, 0u);
}

void provider_scarce_in_child(void)
{
	for (int i = 0; i < 2; i++) {
		const struct provider_dest *d = &provider_dests[i];
		if (d->dir[0] != 0 && d->state != PROVIDER_DEST_ATTACHED) {
			order_store_release(&scarce, 1u);
			order_store_relaxed(&step_ms, RETRY_FIRST_MS);
		}
	}
}

/* ---- attached without threads ---------------------------------------------------------------- */

/* Nobody tells us that a daemon ended. */
static void look_after(struct provider_dest *d)
{
	char byte;
	if (d->state != PROVIDER_DEST_ATTACHED || !d->handed_over) {
		return;
	}
	bool ours = d->cookie != 0 && provider_fd_cookie(d->at.fd) == d->cookie;
	ssize_t n = ours ? recv(d->at.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 0;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) {
		return;
	}
	if (!ours) {
		d->at.fd = -1; /* somebody else's by now */
	}
	d->state = PROVIDER_DEST_DETACHED;
	d->handed_over = false;
	provider_dest_mute_locked(d, false);
	provider_attach_retire(&d->at);
	d->at = (struct provider_attached){.fd = -1};
}

/* Destinations that have no listener. context: async-signal-safe */
static void attach_missing(uint8_t *buf, size_t bytes)
{
	for (int i = 0; i < 2; i++) {
		struct provider_dest *d = &provider_dests[i];
		if (d->listener || d->dir[0] == 0) {
			continue;
		}
		look_after(d);
		if (d->state != PROVIDER_DEST_ATTACHED) {
			provider_fork_remember();
			provider_attach_threadless(d, buf, bytes);
		}
	}
}

static bool answers_missing(const struct provider_dest *d)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LIVE &&
		    !provider_registrations[i].said[d->kind].registered && (d->told[i / 32] >> (i % 32) & 1)) {
			return true;
		}
	}
	return false;
}

/* What a listener would do now. */
static void serve_locked(uint8_t *buf)
{
	attach_missing(buf, PROTO_MESSAGE_MAX);
	for (int i = 0; i < 2; i++) {
		struct provider_dest *d = &provider_dests[i];
		if (d->listener || !d->handed_over || d->state != PROVIDER_DEST_ATTACHED) {
			continue;
		}
		struct timespec until = provider_deadline(provider_wait_ms());
		provider_send_now_locked(d);
		for (int r = 1; r > 0;) {
			int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
			struct proto_message m;
			long n = proto_recv(d->at.fd, buf, PROTO_MESSAGE_MAX, fds, &count,
					    answers_missing(d) ? provider_left_ms(&until) : 0);
			r = n > 0;
			if (n > 0 && proto_parse(buf, (size_t)n, &m) == 0) {
				provider_dispatch_locked(d, &m, fds, count);
				provider_send_now_locked(d);
			}
			for (int k = 0; n > 0 && k < count; k++) {
				base_close(&fds[k]);
			}
		}
	}
	provider_fork_tell_locked();
	provider_callback_run_here_locked();
	for (int i = 0; i < 2; i++) {
		if (!provider_dests[i].listener) {
			provider_send_now_locked(&provider_dests[i]); /* that they were called */
		}
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

bool provider_threads_try_locked(void)
{
	bool some = false;
	for (uint32_t i = 0; i < provider_registrations_top && !some; i++) {
		const struct provider_registration *reg = &provider_registrations[i];
		some = reg->state == PROVIDER_REG_LIVE && (reg->enable_fn || reg->wmi_fn);
	}
	bool all = !some || provider_callback_start_locked();
	if (all) {
		provider_fork_tell_locked();
	}
	all = provider_dests_start_locked() && all;
	if (all) {
		set_scarce(false);
	}
	return all;
}

void provider_threads_start_locked(bool patient)
{
	while (!provider_threads_try_locked()) {
		if (patient && patience_left > 0) {
			struct timespec step = {0, THREADS_STEP_MS * 1000000};
			patience_left -= THREADS_STEP_MS;
			pthread_mutex_unlock(&provider_lock);
			nanosleep(&step, NULL);
			pthread_mutex_lock(&provider_lock);
			continue;
		}
		set_scarce(true);
		uint8_t *buf = provider_callback_is_self() ? NULL : provider_alloc(PROTO_MESSAGE_MAX);
		if (buf) {
			serve_locked(buf);
		}
		provider_free(buf);
		pthread_cond_broadcast(&provider_changed); /* a callback thread tries for the listeners */
		return;
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t coarse_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint32_t)((uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000);
}

/* Now and then, by one thread, and not where the lock is taken: by who is interrupted, perhaps. */
static __attribute__((noinline)) void look_for_daemons(void)
{
	uint8_t buf[WRITE_BUF_BYTES];
	uint32_t now = coarse_ms(), next = order_load_relaxed(&next_ms);
	uint32_t step = BASE_MAX(order_load_relaxed(&step_ms), RETRY_FIRST_MS);
	if ((int32_t)(now - next) < 0 || !order_cas_full(&next_ms, &next, now + step)) {
		return;
	}
	order_store_relaxed(&step_ms, BASE_MIN(2 * step, RETRY_LAST_MS));
	BASE_NOT_CANCELLED;
	if (pthread_mutex_trylock(&provider_lock) == 0) {
		attach_missing(buf, sizeof buf);
		pthread_mutex_unlock(&provider_lock);
	}
}

struct provider_hot *provider_scarce_lookup(uint64_t handle)
{
	struct provider_hot *hot = &provider_memory.hot[(uint32_t)handle - 1];
	if (order_load_acquire(&hot->hidden) != handle) {
		return order_load_acquire(&hot->handle) == handle ? hot : NULL;
	}
	look_for_daemons();
	return hot;
}
