/* SPDX-License-Identifier: MIT
 *
 * Connections in which strangers' descriptors may lie are closed here, never on the loop.
 *
 * Whoever drops the last reference to a descriptor may wait as long as its maker likes: that of a TCP
 * socket with SO_LINGER waits for its peer. This also holds for descriptors in messages that nobody has
 * read, when their connection is closed (proto_socket.c). And it holds for threads: one that hangs keeps
 * its process from ending.
 *
 *   loop --connection--> its user's queue --thread--> a process that inherits all of them, and exits
 *
 * A process that exits does not wait for a TCP peer. Should something else keep it, then it keeps
 * nothing of ours, and nobody else's connections. A user who has several such processes is cut off:
 * nothing they send may carry descriptors any more, where the kernel can refuse that (6.16), and no
 * process of theirs attaches until these have ended.
 *
 * Descriptors of messages that may have some: etwd_take.c.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_start.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define BATCH         512u
#define PAUSE_NS      20000000ull /* between two processes for one user */
#define PROCESSES_MAX 32u         /* of one user */
#define STUCK_NS      1000000000ull
#define CUT_OFF       4u /* so many that live for longer than that */

struct foreign {
	STAILQ_ENTRY(foreign) link;
	int fd;
};

struct holder;
struct owner {
	LIST_ENTRY(owner) link;
	uid_t uid;
	uint32_t queued, processes;
	uint64_t last_ns;
	bool cut_off, taken; /* taken: a thread is at it */
	STAILQ_HEAD(, foreign) queue;
	struct {
		pid_t pid;
		int status_fd; /* of one that the starter made; -1: it is our child */
		struct holder *holder;
		uint64_t since_ns;
	} process[PROCESSES_MAX + 1]; /* one may have been started before the last place was taken */
};

/* Not the daemon's, which the thread may outlive. */
static struct {
	pthread_mutex_t lock;
	LIST_HEAD(, owner) owners;
	bool running;
	uint64_t taken, waiting, stuck;
} shared = {PTHREAD_MUTEX_INITIALIZER, LIST_HEAD_INITIALIZER(shared.owners), false, 0, 0, 0};

static struct owner *owner_of(uid_t uid, bool create)
{
	struct owner *o;
	LIST_FOREACH(o, &shared.owners, link) {
		if (o->uid == uid) {
			return o;
		}
	}
	o = create ? calloc(1, sizeof *o) : NULL;
	if (o) {
		o->uid = uid;
		STAILQ_INIT(&o->queue);
		LIST_INSERT_HEAD(&shared.owners, o, link);
	}
	return o;
}

static void note_process(struct owner *o, pid_t pid, int status_fd, struct holder *h)
{
	o->process[o->processes].pid = pid;
	o->process[o->processes].status_fd = status_fd;
	o->process[o->processes].holder = h;
	o->process[o->processes++].since_ns = etwd_now_ns();
}

/* ---- the thread ------------------------------------------------------------------------------- */

/* Of a process that shares our memory, so that it costs the same however much we have, but no descriptors:
 * it keeps those that it was made for, and waits until we have closed ours. etwd may start no programs
 * (base/confine.h). No libc beyond system calls: it also shares the storage of the thread that made it. */
struct holder {
	int go;
	uint32_t count; /* of those it keeps, ascending; `go` is one of them */
	int keep[BATCH + 1];
	uint64_t stack[1024] __attribute__((aligned(64)));
};

static void close_between(unsigned from, unsigned to)
{
	if (from <= to && syscall(SYS_close_range, from, to, 0) < 0) {
		for (unsigned fd = from; fd <= BASE_MIN(to, 1u << 20); fd++) {
			syscall(SYS_close, fd);
		}
	}
}

static int hold(void *arg)
{
	const struct holder *h = arg;
	unsigned from = 0;
	char byte;
	for (uint32_t i = 0; i < h->count; i++) {
		unsigned fd = (unsigned)h->keep[i];
		if (fd > from) {
			close_between(from, fd - 1);
		}
		from = fd + 1;
	}
	close_between(from, ~0u);
	while (syscall(SYS_read, h->go, &byte, 1) < 0 && errno == EINTR) {
	}
	syscall(SYS_exit, 0);
	return 0;
}

static int compare_fds(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return x < y ? -1 : x > y;
}

/* NULL: no. */
static struct holder *holder_start(const int *fd, uint32_t n, int go, pid_t *ret_pid)
{
	struct holder *h = aligned_alloc(64, BASE_ALIGN8(sizeof *h));
	if (!h) {
		return NULL;
	}
	memcpy(h->keep, fd, n * sizeof *fd);
	h->keep[n] = h->go = go;
	h->count = n + 1;
	qsort(h->keep, h->count, sizeof h->keep[0], compare_fds);
	/* The thread sanitizer takes any clone for a fork, and trips over memory that stays shared. */
	int share = BASE_THREAD_SANITIZER ? 0 : CLONE_VM;
	*ret_pid = clone(hold, h->stack + BASE_ARRAY_LEN(h->stack), share | SIGCHLD, h);
	if (*ret_pid < 0) {
		free(h);
		return NULL;
	}
	return h;
}

/* With the lock held, which is let go meanwhile. */
static void close_batch(struct owner *o)
{
	struct foreign *f[BATCH];
	int fd[BATCH];
	uint32_t n = 0;
	while (n < BATCH && (f[n] = STAILQ_FIRST(&o->queue)) != NULL) {
		STAILQ_REMOVE_HEAD(&o->queue, link);
		fd[n] = f[n]->fd;
		n++;
	}
	o->taken = true;
	pthread_mutex_unlock(&shared.lock);
	int go[2];
	pid_t pid = -1;
	struct holder *h = NULL;
	if (pipe2(go, O_CLOEXEC) == 0) {
		h = holder_start(fd, n, go[0], &pid);
		for (uint32_t i = 0; i < n && h; i++) {
			close(fd[i]); /* so this is not the last reference */
		}
		close(go[0]);
		close(go[1]); /* which tells it to exit */
	}
	pthread_mutex_lock(&shared.lock);
	o->taken = false;
	o->last_ns = etwd_now_ns();
	if (h) {
		o->queued -= n;
		shared.waiting -= n;
		note_process(o, pid, -1, h);
		for (uint32_t i = 0; i < n; i++) {
			free(f[i]);
		}
		return;
	}
	while (n > 0) {                        /* there may be room for a process later */
		struct foreign *last = f[--n]; /* the macro looks at it more than once */
		STAILQ_INSERT_HEAD(&o->queue, last, link);
	}
}

static void *close_thread(void *arg)
{
	pthread_setname_np(pthread_self(), "etwd-close");
	pthread_mutex_lock(&shared.lock);
	for (bool some = true; some;) {
		struct owner *o;
		bool worked = false;
		some = false;
		LIST_FOREACH(o, &shared.owners, link) {
			bool room = o->processes < PROCESSES_MAX;
			some |= o->queued > 0 && room;
			if (o->queued > 0 && room && etwd_now_ns() - o->last_ns >= PAUSE_NS) {
				close_batch(o);
				worked = true;
				break; /* the list may have changed */
			}
		}
		if (some && !worked) {
			pthread_mutex_unlock(&shared.lock);
			usleep(PAUSE_NS / 4000);
			pthread_mutex_lock(&shared.lock);
		}
	}
	shared.running = false;
	pthread_mutex_unlock(&shared.lock);
	return NULL;
}

static void start_locked(void)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	shared.running = pthread_create(&thread, &attr, close_thread, NULL) == 0;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- for the loop ----------------------------------------------------------------------------- */

void etwd_foreign_close_socket(struct etwd *d, int *fd, uid_t uid, bool may_carry)
{
	if (*fd < 0 || !may_carry || !proto_end_unread(*fd)) {
		base_close(fd);
		return;
	}
	struct foreign *f = malloc(sizeof *f);
	pthread_mutex_lock(&shared.lock);
	struct owner *o = f ? owner_of(uid, true) : NULL;
	if (o) {
		f->fd = *fd;
		STAILQ_INSERT_TAIL(&o->queue, f, link);
		o->queued++;
		shared.waiting++;
		shared.taken++;
		if (!shared.running) {
			start_locked();
		}
		d->foreign_waits = true;
	} else {
		free(f); /* out of memory: it stays open, which is better than to wait for it */
	}
	pthread_mutex_unlock(&shared.lock);
	*fd = -1;
}

void etwd_foreign_process(struct etwd *d, pid_t pid, int status_fd, uid_t uid)
{
	pthread_mutex_lock(&shared.lock);
	struct owner *o = owner_of(uid, true);
	if (o && o->processes < PROCESSES_MAX) {
		note_process(o, pid, status_fd, NULL);
	} else {
		close(status_fd);
	}
	d->foreign_waits = true;
	pthread_mutex_unlock(&shared.lock);
}

bool etwd_foreign_cut_off(uid_t uid)
{
	pthread_mutex_lock(&shared.lock);
	const struct owner *o = owner_of(uid, false);
	bool cut = o && o->cut_off;
	pthread_mutex_unlock(&shared.lock);
	return cut;
}

/* What this user's connections have in them already is left; nothing comes behind it. */
static void cut_off(struct etwd *d, uid_t uid)
{
	struct conn *c;
	etwd_log_of(d, uid,
		    "User %u passed descriptors that do not let themselves be closed: no process of this user "
		    "attaches until they are",
		    (unsigned)uid);
	TAILQ_FOREACH(c, &d->conns, link) {
		if (!c->closing && c->uid == uid) {
			(void)proto_pass_descriptors(c->src.fd, false);
		}
	}
}

static uint32_t reap(struct owner *o, uint64_t now)
{
	uint32_t stuck = 0;
	for (uint32_t i = 0; i < o->processes;) {
		int status = o->process[i].status_fd;
		bool ended = status >= 0 ? etwd_start_status(status, false) != -EAGAIN
					 : waitpid(o->process[i].pid, NULL, WNOHANG) != 0;
		if (ended) {
			base_close(&status);
			free(o->process[i].holder);
			o->process[i] = o->process[--o->processes];
			continue;
		}
		stuck += now - o->process[i].since_ns > STUCK_NS;
		i++;
	}
	return stuck;
}

void etwd_foreign_tick(struct etwd *d)
{
	bool refuse = false;
	uint64_t now = etwd_now_ns();
	if (!d->foreign_waits) {
		return;
	}
	pthread_mutex_lock(&shared.lock);
	shared.stuck = 0;
	struct owner *o = LIST_FIRST(&shared.owners);
	while (o) {
		struct owner *next = LIST_NEXT(o, link);
		uint32_t stuck = reap(o, now);
		if (stuck >= CUT_OFF && !o->cut_off) {
			cut_off(d, o->uid);
		}
		o->cut_off = stuck >= CUT_OFF;
		refuse |= o->cut_off;
		shared.stuck += stuck;
		if (o->queued > 0 && o->processes < PROCESSES_MAX && !shared.running) {
			start_locked();
		}
		if (o->queued == 0 && o->processes == 0 && !o->taken) {
			LIST_REMOVE(o, link);
			free(o);
		}
		o = next;
	}
	d->foreign_waits = !LIST_EMPTY(&shared.owners);
	pthread_mutex_unlock(&shared.lock);
	if (refuse == d->listeners_carry) {
		etwd_conn_carry(d, !refuse);
	}
}

void etwd_foreign_counts(uint64_t *ret_taken, uint64_t *ret_waiting, uint64_t *ret_stuck)
{
	pthread_mutex_lock(&shared.lock);
	*ret_taken = shared.taken;
	*ret_waiting = shared.waiting;
	*ret_stuck = shared.stuck;
	pthread_mutex_unlock(&shared.lock);
}
