/* SPDX-License-Identifier: MIT
 *
 * The listener: attach, receive, wait for the next daemon. And the sender, which sleeps on the
 * writer's bell and so can be woken by an application thread that has no descriptor of ours.
 */
#include "provider/provider_dest.h"
#include "provider/provider_stack.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#define WELCOME_MS	   5000
#define SPREAD_MS	   8u	     /* 2,000 processes do not reconnect in one instant */
#define RETRY_MS	   60000u    /* in case the wait page was replaced by another file */
#define REFUSED_NS	   20000000u /* a daemon that hangs up so soon does not want us */
#define REFUSED_MS	   100u
#define SENDER_STACK_BYTES (64u << 10)
#define REAP_BELLS	   16u

/* In a table shared with the application the number may name somebody else's file by now. */
static bool socket_is_ours(const struct provider_dest *d)
{
	return d->private_fds || (d->cookie != 0 && provider_fd_cookie(d->at.fd) == d->cookie);
}

static void send_bell(struct provider_dest *d)
{
	uint8_t mem[16];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_BELL, 0);
	proto_send(d->at.fd, mem, (size_t)proto_end(&w), NULL, 0);
}

static void *sender_main(void *arg)
{
	struct provider_dest *d = arg;
	struct pool_writer *w = d->at.link->writer;
	uint32_t bells = 0;
	for (;;) {
		uint32_t seen = order_load_acquire(&w->bell);
		pthread_mutex_lock(&provider_lock);
		bool stop = order_load_relaxed(&d->sender_stop) != 0;
		struct provider_message *m = stop ? NULL : d->out;
		if (m) {
			d->out = m->next;
		}
		pthread_mutex_unlock(&provider_lock);
		if (stop) {
			return NULL;
		}
		if (m) {
			if (socket_is_ours(d)) {
				proto_send(d->at.fd, m->data, m->bytes, NULL, 0);
			}
			free(m);
			pthread_mutex_lock(&provider_lock);
			d->sent++;
			pthread_cond_broadcast(&provider_changed);
			pthread_mutex_unlock(&provider_lock);
			continue;
		}
		syscall(SYS_futex, &w->bell, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		/* Rung by a writer, or woken for the queue: a BELL too many is one drain early. */
		if (order_load_acquire(&w->bell) != seen && !order_load_relaxed(&d->sender_stop) &&
		    order_load_relaxed(&d->out) == NULL && socket_is_ours(d)) {
			send_bell(d);
			if (++bells % REAP_BELLS == 0) {
				pool_writer_reap(w);
			}
		}
	}
}

static void stop_sender(struct provider_dest *d)
{
	if (d->sender_running) {
		order_store_relaxed(&d->sender_stop, 1u);
		provider_dest_wake(d);
		pthread_join(d->sender, NULL);
		d->sender_running = false;
	}
}

/* On a thread of its own, since it may wait for the loader's lock, which a constructor that
 * registers a provider holds while it waits for us. */
static void *load_unwinder(void *arg)
{
	(void)arg;
	provider_stack_load();
	return NULL;
}

static void start_loader(void)
{
	static uint32_t started;
	pthread_t t;
	if (order_exchange_full(&started, 1u) == 0 &&
	    provider_thread_create(&t, load_unwinder, NULL, SENDER_STACK_BYTES) == 0) {
		pthread_detach(t);
	}
}

/* A fresh attachment becomes the current one: the registrations leave the old memory first. */
static void install(struct provider_dest *d, const struct provider_attached *at)
{
	pthread_mutex_lock(&provider_lock);
	provider_dest_mute_locked(d, false);
	provider_adopt_keep_locked(d);
	d->at = *at;
	d->muted = false;
	d->cookie = provider_fd_cookie(at->fd);
	d->at.serial = (uint32_t)++d->serial;
	d->state = PROVIDER_DEST_ATTACHED;
	d->unresponsive = false;
	memset(d->told, 0, sizeof d->told);
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LIVE) {
			provider_post_register_locked(d, i);
			if (provider_registrations[i].binary) {
				provider_post_binary_locked(d, i, provider_registrations[i].binary);
			}
		}
	}
	pthread_mutex_unlock(&provider_lock);
}

/* Receive until the daemon goes. */
static void serve(struct provider_dest *d, uint8_t *buf)
{
	pthread_mutex_lock(&provider_lock);
	order_store_relaxed(&d->sender_stop, 0u);
	/* Created here, so that it shares our descriptor table. */
	d->sender_running =
		provider_thread_create(&d->sender, sender_main, d, SENDER_STACK_BYTES) == 0;
	bool running = d->sender_running;
	pthread_mutex_unlock(&provider_lock);
	while (running && socket_is_ours(d)) {
		int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
		long n = proto_recv(d->at.fd, buf, PROTO_MESSAGE_MAX, fds, &count, -1);
		struct proto_message m;
		if (n <= 0) {
			break;
		}
		if (proto_parse(buf, (size_t)n, &m) == 0) {
			pthread_mutex_lock(&provider_lock);
			provider_dispatch_locked(d, &m, fds, count);
			pthread_mutex_unlock(&provider_lock);
		}
		for (int i = 0; i < count; i++) {
			base_close(&fds[i]);
		}
	}
	stop_sender(d);
	pthread_mutex_lock(&provider_lock);
	d->state = PROVIDER_DEST_DETACHED;
	if (!d->private_fds && !socket_is_ours(d)) {
		d->at.fd = -1; /* not ours to close */
	}
	base_close(&d->at.fd);
	provider_drop_messages_locked(d);
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		provider_registrations[i].said[d->kind].registered = false;
		provider_left_locked(i, d->kind);
	}
	pthread_cond_broadcast(&provider_changed);
	pthread_mutex_unlock(&provider_lock);
}

static void not_attached(struct provider_dest *d)
{
	pthread_mutex_lock(&provider_lock);
	d->state = PROVIDER_DEST_DETACHED;
	pthread_cond_broadcast(&provider_changed);
	pthread_mutex_unlock(&provider_lock);
}

/* The old daemon is gone for good: its enable words mean nothing any more. What its pool holds is
 * kept for the next one. */
static void orphan_expired(struct provider_dest *d)
{
	pthread_mutex_lock(&provider_lock);
	provider_dest_mute_locked(d, true);
	d->muted = true;
	pthread_mutex_unlock(&provider_lock);
}

static uint32_t random_below(uint32_t n)
{
	uint32_t v = 0;
	(void)!getrandom(&v, sizeof v, GRND_NONBLOCK);
	return v % n;
}

void *provider_listener_main(void *arg)
{
	struct provider_dest *d = arg;
	uint8_t *buf = malloc(PROTO_MESSAGE_MAX);
	if (!buf) {
		not_attached(d);
		return NULL;
	}
	pthread_mutex_lock(&provider_lock);
	bool taken = d->handed_over;
	int keep = taken ? d->at.fd : -1;
	d->handed_over = false;
	bool unshared = provider_fds_unshare(keep);
	d->private_fds = unshared;
	if (taken && unshared) {
		d->cookie = provider_fd_cookie(keep);
	}
	pthread_cond_broadcast(&provider_changed); /* the application's copy may be closed now */
	pthread_mutex_unlock(&provider_lock);
	if (taken) {
		serve(d, buf);
	}
	for (;;) {
		const uint32_t *word = provider_wait_map(d);
		uint32_t seen = word ? order_load_acquire(word) : 0;
		struct provider_attached at;
		if (provider_attach(d, buf, PROTO_MESSAGE_MAX, WELCOME_MS, &at) == 0) {
			provider_wait_unmap(word);
			install(d, &at);
			start_loader();
			provider_adopt_offer(d);
			uint64_t since = clock_read_system_ns();
			serve(d, buf);
			if (clock_read_system_ns() - since < REFUSED_NS) {
				provider_wait_sleep(NULL, 0, REFUSED_MS);
			}
			continue;
		}
		not_attached(d);
		bool orphan = d->at.link != NULL && !d->muted;
		provider_wait_sleep(word, seen, orphan ? PROVIDER_ORPHAN_MS : RETRY_MS);
		bool woken = word && order_load_acquire(word) != seen;
		provider_wait_unmap(word);
		if (woken) {
			provider_wait_sleep(NULL, 0, random_below(SPREAD_MS));
		} else if (orphan) {
			orphan_expired(d);
		}
	}
}
