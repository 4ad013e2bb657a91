/* SPDX-License-Identifier: MIT
 * The loop: epoll, timers, jobs that come back.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

uint64_t etwd_now_ns(void)
{
	return clock_read_system_ns();
}

int etwd_loop_add(struct etwd *d, struct source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};
	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, s->fd, &ev) < 0 ? -errno : 0;
}

void etwd_loop_change(struct etwd *d, struct source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};
	epoll_ctl(d->epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

void etwd_loop_remove(struct etwd *d, struct source *s)
{
	if (s->fd >= 0) {
		epoll_ctl(d->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	}
}

static void take_done_jobs(struct etwd *d, struct source *s, uint32_t events)
{
	uint64_t count;
	ssize_t r = read(s->fd, &count, sizeof count);
	(void)r; /* only a wake-up */
	for (;;) {
		pthread_mutex_lock(d->job_lock);
		struct job *j = STAILQ_FIRST(&d->done_jobs);
		if (j) {
			STAILQ_REMOVE_HEAD(&d->done_jobs, link);
		}
		pthread_mutex_unlock(d->job_lock);
		if (!j) {
			return;
		}
		d->jobs_running--;
		j->done(d, j);
		free(j);
	}
}

static void *job_thread(void *arg)
{
	struct job *j = arg;
	struct etwd *d = j->d;
	j->run(j);
	/* The loop cannot be gone: it waits for jobs_running to become 0. */
	pthread_mutex_lock(d->job_lock);
	STAILQ_INSERT_TAIL(&d->done_jobs, j, link);
	uint64_t one = 1;
	ssize_t r = write(d->jobs_done.fd, &one, sizeof one);
	(void)r;
	pthread_mutex_unlock(d->job_lock);
	return NULL;
}

bool etwd_job_try(struct etwd *d, struct job *j)
{
	pthread_t thread;
	pthread_attr_t attr;
	j->d = d;
	d->jobs_running++;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	int err = pthread_create(&thread, &attr, job_thread, j);
	pthread_attr_destroy(&attr);
	d->jobs_running -= err != 0;
	return err == 0;
}

void etwd_job_start(struct etwd *d, struct job *j)
{
	if (!etwd_job_try(d, j)) {
		d->jobs_running++;
		job_thread(j); /* slower, but correct */
	}
}

int etwd_loop_init(struct etwd *d)
{
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->jobs_done = (struct source){take_done_jobs, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	d->job_lock = malloc(sizeof(pthread_mutex_t));
	if (d->epoll < 0 || d->jobs_done.fd < 0 || !d->job_lock) {
		free(d->job_lock);
		d->job_lock = NULL;
		return d->epoll < 0 || d->jobs_done.fd < 0 ? -errno : -ENOMEM;
	}
	pthread_mutex_init(d->job_lock, NULL);
	return etwd_loop_add(d, &d->jobs_done, EPOLLIN);
}

void etwd_loop_finish(struct etwd *d)
{
	if (d->job_lock) {
		/* A last job's thread may still be inside the lock it announced itself under. */
		pthread_mutex_lock(d->job_lock);
		pthread_mutex_unlock(d->job_lock);
		pthread_mutex_destroy(d->job_lock);
		free(d->job_lock);
	}
	base_close(&d->jobs_done.fd);
	base_close(&d->epoll);
}

static int soonest(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : BASE_MIN(a, b);
}

static int wait_ms(struct etwd *d, uint64_t now)
{
	int ms = etwd_drain_wait_ms(d, now);
	if (d->throttled_count > 0) {
		ms = soonest(ms, 20);
	}
	if (d->eager_count > 0) {
		ms = 0;
	}
	if (d->foreign_waits) {
		ms = soonest(ms, 200);
	}
	ms = soonest(ms, d->take_ms);
	if (!TAILQ_EMPTY(&d->pending)) {
		ms = soonest(ms, 20); /* deadlines of waiting callers; coarse is enough */
	}
	ms = soonest(ms, etwd_private_wait_ms(d));
	if (d->idle_exit_s > 0 && d->session_count == 0 && etwd_private_count(d) == 0) {
		uint64_t end = d->session_end_ns + d->idle_exit_s * 1000000000ull;
		ms = soonest(ms, end <= now ? 1000 : (int)BASE_MIN((end - now) / 1000000 + 1, 3600000ull));
	}
	return ms;
}

void etwd_loop_turn(struct etwd *d, int timeout_ms)
{
	struct epoll_event ev[64];
	int n = epoll_wait(d->epoll, ev, BASE_ARRAY_LEN(ev), timeout_ms);
	for (int i = 0; i < n; i++) {
		struct source *s = ev[i].data.ptr;
		/* Owners are freed only at the end of a turn, so a pointer from this batch is good.
		 */
		s->ready(d, s, ev[i].events);
	}
	uint64_t now = etwd_now_ns();
	if (etwd_drain_wait_ms(d, now) == 0) {
		etwd_drain_pass(d, 0);
		now = etwd_now_ns();
	}
	etwd_session_tick(d, now);
	etwd_kernel_tick(d, now);
	etwd_pending_tick(d, now);
	etwd_private_tick(d, now);
	etwd_process_grow_some(d);
	etwd_conn_unthrottle(d, now);
	etwd_share_tick(d, now);
	d->take_ms = etwd_take_tick(d);
	etwd_foreign_tick(d);
	etwd_conn_reap(d);
}

static void stop_sessions(struct etwd *d)
{
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		if (d->session[i] && d->session[i]->state == SESSION_RUNNING) {
			etwd_session_stop(d, d->session[i]);
		}
	}
}

void etwd_loop_run(struct etwd *d)
{
	bool stopping = false;
	for (;;) {
		uint64_t now = etwd_now_ns();
		if (d->idle_exit_s > 0 && d->session_count == 0 && d->control_count == 0 && d->jobs_running == 0 &&
		    !etwd_schedule_pending(d) && etwd_private_count(d) == 0 &&
		    now - d->session_end_ns >= d->idle_exit_s * 1000000000ull) {
			etwd_log(d, "Nothing to do for %u s, leaving", d->idle_exit_s);
			d->exiting = true;
		}
		if (d->exiting && !stopping) {
			stopping = true;
			stop_sessions(d);
		}
		if (stopping && d->jobs_running == 0 && d->session_count == 0) {
			return;
		}
		etwd_loop_turn(d, stopping ? 20 : wait_ms(d, now));
		if (stopping) {
			stop_sessions(d); /* one that was just starting when the signal came */
		}
	}
}

int etwd_create(struct etwd **ret, bool system)
{
	struct etwd *d = calloc(1, sizeof *d);
	if (!d) {
		return -ENOMEM;
	}
	d->log_fd = d->epoll = d->jobs_done.fd = d->signals.fd = -1;
	d->listeners[0].fd = d->listeners[1].fd = -1;
	d->system = system;
	d->listeners_carry = true;
	d->take_ms = -1;
	d->uid = geteuid();
	STAILQ_INIT(&d->done_jobs);
	TAILQ_INIT(&d->conns);
	TAILQ_INIT(&d->pending);
	LIST_INIT(&d->processes);
	LIST_INIT(&d->access);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	d->cpus = (uint32_t)BASE_MIN(BASE_MAX(cpus, 1), 65535);
	d->clock_kind = clock_kind();
	d->clock_freq = clock_frequency();
	d->session_next = 1;
	d->eager_left = ETWD_EAGER_A_TURN;
	d->session_end_ns = etwd_now_ns();
	d->recv_buf = aligned_alloc(64, PROTO_MESSAGE_MAX);
	d->send_buf = aligned_alloc(64, PROTO_MESSAGE_MAX);
	d->settle_buf = aligned_alloc(64, PROTO_MESSAGE_MAX);
	int r = d->recv_buf && d->send_buf && d->settle_buf ? guid_random(&d->instance) : -ENOMEM;
	if (r == 0) {
		r = etwd_loop_init(d);
	}
	if (r == 0) {
		r = etwd_drain_init(d);
	}
	if (r == 0) {
		r = etwd_kernel_init(d);
	}
	if (r < 0) {
		etwd_destroy(d);
		return r;
	}
	*ret = d;
	return 0;
}

void etwd_destroy(struct etwd *d)
{
	if (!d) {
		return;
	}
	struct conn *c;
	TAILQ_FOREACH(c, &d->conns, link) {
		etwd_conn_close(d, c);
	}
	if (d->pass) {
		d->exiting = true;
		while (d->jobs_running > 0 || d->session_count > 0) {
			stop_sessions(d);
			etwd_loop_turn(d, 10);
		}
		etwd_drain_pass(d, POOL_PASS_FLUSH); /* drops the dead processes */
	}
	etwd_take_finish(d);
	etwd_conn_reap(d);
	etwd_pending_tick(d, UINT64_MAX);
	etwd_private_finish(d);
	for (int i = 0; i < 2; i++) {
		base_close(&d->listeners[i].fd);
	}
	base_close(&d->signals.fd);
	etwd_kernel_finish(d);
	etwd_drain_finish(d);
	etwd_access_finish(d);
	etwd_schedule_finish(d);
	etwd_share_finish(d);
	etwd_loop_finish(d);
	map_free(&d->providers);
	free(d->recv_buf);
	free(d->send_buf);
	free(d->settle_buf);
	free(d);
}
