/* SPDX-License-Identifier: MIT
 *
 * The listener: attach, receive, send, wait for the next daemon. It sleeps on words, not in the
 * socket, so that an application thread, which has no descriptor of ours, can wake it; where that is
 * not possible, a second thread sleeps on the writer's bell and sends.
 */
#include "provider/provider_images.h"
#include "provider/provider_private.h"
#include "provider/provider_scarce.h"
#include "provider/provider_stack.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

/* For a daemon that lives: one that dies closes the socket. Longer than any application thread waits, or
 * it would be given up while they still hope. */
#define WELCOME_MS         (PROVIDER_STARVED_MS + 2 * PROVIDER_PATIENCE_MS)
#define SPREAD_MS          8u     /* 2,000 processes do not reconnect in one instant */
#define RETRY_MS           60000u /* in case the wait page was replaced by another file */
#define SHORTAGE_MS        10u    /* to the next try where something was short; then twice that */
#define BEHIND_MS          100u
#define LOADER_TRIES       8u        /* it may not be installed */
#define REFUSED_NS         20000000u /* a daemon that hangs up so soon does not want us */
#define REFUSED_MS         100u
#define SENDER_STACK_BYTES (64u << 10)
#define REAP_BELLS         16u
#define REAP_MS            10u /* no sooner again, however often it is wished for */
/* Below the frame that gives it back: enough for the call itself; and what may have been touched,
 * less than the smallest stack a thread of ours has. */
#define STACK_IN_USE 256u
#define STACK_DEEP   32768u
/* So often a process that never wrote looks whether its daemon is still there. */
#define QUIET_LOOK_MS 600000u
/* And one with private sessions of controllers, which end with it. */
#define HOST_LOOK_MS 1000u

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

/* The first message of the queue. False: it is empty. */
static bool send_next(struct provider_dest *d)
{
	pthread_mutex_lock(&provider_lock);
	struct provider_message *m = d->out;
	if (m) {
		d->out = m->next;
	}
	pthread_mutex_unlock(&provider_lock);
	if (!m) {
		return false;
	}
	while (socket_is_ours(d) && provider_is_shortage(proto_send(d->at.fd, m->data, m->bytes, NULL, 0)) &&
	       !order_load_relaxed(&d->sender_stop)) {
		provider_wait_sleep(NULL, 0, SHORTAGE_MS);
	}
	provider_free(m);
	pthread_mutex_lock(&provider_lock);
	d->sent++;
	pthread_cond_broadcast(&provider_changed);
	pthread_mutex_unlock(&provider_lock);
	return true;
}

/* All of it. False: there was nothing. */
static bool send_queue(struct provider_dest *d)
{
	bool some = false;
	while (send_next(d)) {
		some = true;
	}
	return some;
}

static void catch_up_locked(struct provider_dest *d);

/* What could not be said for want of memory. */
static bool make_good(struct provider_dest *d)
{
	if (order_load_acquire(&d->behind)) {
		pthread_mutex_lock(&provider_lock);
		order_store_relaxed(&d->behind, false);
		catch_up_locked(d);
		pthread_mutex_unlock(&provider_lock);
	}
	return !order_load_relaxed(&d->behind);
}

static void *sender_main(void *arg)
{
	struct provider_dest *d = arg;
	struct pool_writer *w = d->at.link->writer;
	uint32_t bells = 0;
	for (;;) {
		uint32_t seen = order_load_acquire(&w->bell);
		if (order_load_relaxed(&d->sender_stop)) {
			return NULL;
		}
		struct timespec soon = {0, BEHIND_MS * 1000000}, *until = make_good(d) ? NULL : &soon;
		if (send_queue(d)) {
			continue;
		}
		syscall(SYS_futex, &w->bell, FUTEX_WAIT_PRIVATE, seen, until, NULL, 0);
		/* Rung by a writer, or woken for the queue: a BELL too many is one drain early. */
		if (order_load_acquire(&w->bell) != seen && !order_load_relaxed(&d->sender_stop) &&
		    order_load_relaxed(&d->out) == NULL && socket_is_ours(d)) {
			send_bell(d);
			if (++bells % REAP_BELLS == 0 || order_load_relaxed(&w->reap_wanted) != 0) {
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
static uint32_t loader_started;

static void *load_unwinder(void *arg)
{
	(void)arg;
	static uint32_t tries;
	if (!provider_stack_load() && ++tries < LOADER_TRIES) {
		order_store_release(&loader_started, 0u);
	}
	return NULL;
}

static void start_loader(void)
{
	pthread_t t;
	if (order_exchange_full(&loader_started, 1u) != 0) {
		return;
	}
	if (provider_thread_create(&t, load_unwinder, NULL, SENDER_STACK_BYTES) == 0) {
		pthread_detach(t);
	} else {
		order_store_release(&loader_started, 0u);
	}
}

/* What was said between HELLO and its answer is caught up with. */
static void catch_up_locked(struct provider_dest *d)
{
	for (uint32_t i = 0; i < PROVIDER_REGISTRATIONS_MAX; i++) {
		if (d->stale[i / 32] >> (i % 32) & 1) {
			d->stale[i / 32] &= ~(1u << (i % 32));
			if (provider_post_unregister_locked(d, i) == 0) {
				d->stale[i / 32] |= 1u << (i % 32); /* d->behind is set */
			}
		}
	}
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		struct provider_said *said = &reg->said[d->kind];
		if (reg->state != PROVIDER_REG_LIVE) {
			continue;
		}
		if (!(d->told[i / 32] >> (i % 32) & 1)) {
			provider_post_register_locked(d, i);
		} else if (reg->traits && !said->traits_sent) {
			said->traits_asked = provider_post_traits_locked(d, i) != 0;
			said->traits_known = false;
		}
		if (reg->binary) {
			provider_post_binary_locked(d, i, reg->binary);
		}
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
	catch_up_locked(d);
	pthread_mutex_unlock(&provider_lock);
}

/* One message, if there is one within that time (negative: wait for it). 1, 0; -1: the daemon is
 * gone. */
static int receive(struct provider_dest *d, uint8_t *buf, int timeout_ms)
{
	int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
	if (!socket_is_ours(d)) {
		return -1;
	}
	long n = proto_recv(d->at.fd, buf, PROTO_MESSAGE_MAX, fds, &count, timeout_ms);
	struct proto_message m;
	if (n == -ETIMEDOUT) {
		return 0;
	}
	if (n <= 0) {
		return -1;
	}
	if (proto_parse(buf, (size_t)n, &m) == 0) {
		pthread_mutex_lock(&provider_lock);
		provider_dispatch_locked(d, &m, fds, count);
		pthread_mutex_unlock(&provider_lock);
	}
	for (int i = 0; i < count; i++) {
		base_close(&fds[i]);
	}
	return 1;
}

static const struct ctl_header *control_of(const struct provider_dest *d)
{
	return (const struct ctl_header *)((uintptr_t)d->at.link + PROVIDER_LINK_BYTES);
}

/* May one thread do it all? The daemon announces its messages, and the kernel lets us sleep on
 * several words. */
static bool alone(const struct provider_dest *d)
{
	struct provider_word now = {&d->at.link->writer->bell, ~d->at.link->writer->bell, false};
	return (order_load_relaxed(&control_of(d)->flags) & POOL_CTL_RINGS) != 0 && !BASE_THREAD_SANITIZER &&
	       provider_words_sleep(&now, 1, 0) == 0;
}

/* Attaching goes deeper into the stack than anything that follows, and needs the buffer. Many
 * processes sleep from here on for ever: what was touched once is given back. */
static __attribute__((noinline)) void give_back(uint8_t *buf)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t here = ((uintptr_t)__builtin_frame_address(0) - STACK_IN_USE) & ~(page - 1);
	uintptr_t from = ((uintptr_t)buf + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)buf + PROTO_MESSAGE_MAX) & ~(page - 1);
	if (page <= STACK_DEEP) {
		madvise((void *)(here - STACK_DEEP), STACK_DEEP, MADV_DONTNEED);
	}
	if (from < to) {
		madvise((void *)from, to - from, MADV_DONTNEED);
	}
}

/* Writes that never returned: now and then, and when the process has no room for others because of them. The
 * time until the wish that came too soon may be granted, or `ms`. */
static uint32_t look_for_abandoned(struct pool_writer *w, uint64_t *reaped_ns, bool due, uint32_t ms)
{
	uint64_t now = clock_read_system_ns();
	bool wanted = order_load_relaxed(&w->reap_wanted) != 0;
	if (wanted && now - *reaped_ns < REAP_MS * 1000000ull) {
		return BASE_MIN(ms, REAP_MS);
	}
	if (due || wanted) {
		*reaped_ns = now;
		pool_writer_reap(w);
	}
	return ms;
}

/* With one thread: it sleeps on the words that whoever wants something of it changes. An application
 * thread the writer's bell; the daemon ctl_seq, for each message; the next daemon the wait page: a
 * daemon that was killed says nothing. False: this thread cannot sleep that way any more. */
static bool serve_alone(struct provider_dest *d, uint8_t *buf)
{
	struct pool_writer *w = d->at.link->writer;
	struct provider_word words[PROVIDER_WORDS_MAX] = {
		{&w->bell, order_load_acquire(&w->bell), false},
		{&control_of(d)->ctl_seq, 0, true},
		{d->wait ? &d->wait->word : NULL, 0, true},
	};
	bool tidied = false;
	uint64_t reaped_ns = 0;
	for (uint32_t bells = 0;;) {
		bool due = false;
		uint32_t rung = words[0].seen;
		for (uint32_t i = 0; i < PROVIDER_WORDS_MAX; i++) {
			words[i].seen = words[i].at ? order_load_acquire(words[i].at) : 0;
		}
		int r;
		while ((r = receive(d, buf, 0)) > 0) {
		}
		if (r < 0) {
			return true;
		}
		if (!send_queue(d) && words[0].seen != rung) {
			send_bell(d);
			due = ++bells % REAP_BELLS == 0;
		}
		if (provider_stacks_wanted(d)) {
			start_loader();
			provider_images_look(false);
		}
		if (!tidied) {
			tidied = true;
			give_back(buf);
		}
		uint32_t ms = provider_private_hosting() ? HOST_LOOK_MS
			      : w->used[0]               ? PROVIDER_ORPHAN_MS
							 : QUIET_LOOK_MS;
		ms = look_for_abandoned(w, &reaped_ns, due, ms);
		if (!make_good(d) || !provider_private_start()) {
			ms = BASE_MIN(ms, BEHIND_MS);
		}
		if (provider_words_sleep(words, PROVIDER_WORDS_MAX, ms) != 0) {
			return false;
		}
	}
}

/* With two: one sleeps in the socket, one on the bell. */
static void serve_together(struct provider_dest *d, uint8_t *buf)
{
	pthread_mutex_lock(&provider_lock);
	order_store_relaxed(&d->sender_stop, 0u);
	/* Created here, so that it shares our descriptor table. */
	d->sender_running = provider_thread_create(&d->sender, sender_main, d, SENDER_STACK_BYTES) == 0;
	bool running = d->sender_running;
	pthread_mutex_unlock(&provider_lock);
	start_loader(); /* nobody wakes us for it */
	while (running && receive(d, buf, -1) > 0) {
		if (provider_stacks_wanted(d)) {
			provider_images_look(false);
		}
	}
	stop_sender(d);
}

/* Receive and send until the daemon goes. */
static void serve(struct provider_dest *d, uint8_t *buf)
{
	if (!alone(d) || !serve_alone(d, buf)) {
		serve_together(d, buf);
	}
	pthread_mutex_lock(&provider_lock);
	d->state = PROVIDER_DEST_DETACHED;
	if (!d->private_fds && !socket_is_ours(d)) {
		d->at.fd = -1; /* not ours to close */
	}
	base_close(&d->at.fd);
	provider_drop_messages_locked(d);
	provider_private_left_locked(d);
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

/* Only touched as far as messages are long. */
static uint8_t scratch[2][PROTO_MESSAGE_MAX] __attribute__((aligned(PROVIDER_PAGE)));

/* The page may be another file by now (somebody has tidied up): looked at before each attempt. */
/* NULL: there is none, or there was not enough of something to map it. */
static const uint32_t *fresh_wait_page(struct provider_dest *d, bool *ret_shortage)
{
	const struct proto_wait_page *page = provider_wait_map(d);
	*ret_shortage = !page && provider_is_shortage(errno);
	pthread_mutex_lock(&provider_lock);
	const struct proto_wait_page *old = d->wait;
	d->wait = page;
	pthread_mutex_unlock(&provider_lock);
	provider_wait_unmap(old);
	return page ? &page->word : NULL;
}

void *provider_listener_main(void *arg)
{
	struct provider_dest *d = arg;
	uint8_t *buf = scratch[d->kind];
	pthread_mutex_lock(&provider_lock);
	bool taken = d->handed_over;
	int keep = taken ? d->at.fd : -1;
	d->handed_over = false;
	bool unshared = provider_fds_unshare(keep);
	d->private_fds = unshared;
	if (taken) {
		d->cookie = unshared ? provider_fd_cookie(keep) : d->cookie;
		catch_up_locked(d);
	}
	pthread_cond_broadcast(&provider_changed); /* the application's copy may be closed now */
	pthread_mutex_unlock(&provider_lock);
	if (taken) {
		serve(d, buf);
	}
	for (uint32_t soon_ms = SHORTAGE_MS;;) {
		bool shortage;
		const uint32_t *word = fresh_wait_page(d, &shortage);
		uint32_t seen = word ? order_load_acquire(word) : 0;
		struct provider_attached at;
		int r = provider_attach(d, buf, PROTO_MESSAGE_MAX, WELCOME_MS, NULL, &at);
		if (r == 0) {
			soon_ms = SHORTAGE_MS;
			install(d, &at);
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
		give_back(buf);
		uint32_t ms = orphan ? PROVIDER_ORPHAN_MS : RETRY_MS;
		/* Neither do we wait long for one that is there and got no processor. */
		bool soon = (shortage || provider_is_shortage(r) || r == -ETIMEDOUT) && soon_ms < ms;
		provider_wait_sleep(word, seen, soon ? soon_ms : ms);
		soon_ms = soon ? 2 * soon_ms : soon_ms;
		bool woken = word && order_load_acquire(word) != seen;
		if (woken) {
			provider_wait_sleep(NULL, 0, random_below(SPREAD_MS));
		} else if (orphan && !soon) {
			orphan_expired(d);
		}
	}
}
