/* SPDX-License-Identifier: MIT
 *
 * Thread ids of processes in other pid namespaces (containers). A record carries the id as its thread
 * sees it; sessions get the one that this namespace has. Whatever a process claims, it costs the drain
 * so much time a second and no more:
 *
 *   Linux 6.11    two system calls for each id, LOOKUPS_PER_S at most, remembered for a second
 *   before that   a job reads the ids of all threads of the process, now and then
 *
 * An id of which nothing is known (yet), or which is none of the process's own threads, stays as it is.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef NS_GET_PID_FROM_PIDNS
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#endif

#define ENTRIES_MAX   16384u
#define LOOKUPS_PER_S 2000u
#define LOOKUPS_BURST 2000u
#define KNOWN_NS      1000000000ull  /* a number may come to mean another thread */
#define SCAN_EVERY_NS 1000000000ull  /* when an id is unknown */
#define SCAN_AGAIN_NS 30000000000ull /* when none is */
#define SCAN_SHARE    20u            /* a scan takes at most this part of the time */
#define SCAN_MOST_NS  1000000000ull
#define SCANS_MAX     8u /* at once, one of a user */

struct entry {
	uint32_t theirs, ours; /* theirs 0: unused */
	uint64_t checked_ns;
};
struct table {
	uint32_t used, cap; /* cap: a power of two, more than used */
	struct entry at[];
};

struct thread_map {
	uint32_t refs; /* the process, and a job */
	pid_t pid;
	int ns; /* its pid namespace; -1: a kernel that cannot translate */
	uint32_t tokens;
	uint64_t tokens_at_ns;
	struct table *table;
	uint64_t scan_next_ns, scanned_ns;
	bool scanning;
};

/* ---- table ------------------------------------------------------------------------------------ */

static struct entry *find(struct table *t, uint32_t theirs)
{
	uint32_t i = theirs * 2654435761u;
	for (;; i++) {
		struct entry *e = &t->at[i & (t->cap - 1)];
		if (e->theirs == theirs || e->theirs == 0) {
			return e;
		}
	}
}

static struct table *table_make(uint32_t cap)
{
	struct table *t = calloc(1, sizeof *t + cap * sizeof t->at[0]);
	if (t) {
		t->cap = cap;
	}
	return t;
}

/* A place for one more; the table may be another one afterwards. NULL: no memory. */
static struct entry *place(struct table **table, uint32_t theirs)
{
	struct table *t = *table;
	if (!t || t->used * 2 >= t->cap) {
		bool full = t && t->used >= ENTRIES_MAX;
		struct table *n = table_make(!t ? 256 : full ? t->cap : t->cap * 2);
		if (!n) {
			return NULL;
		}
		for (uint32_t i = 0; t && !full && i < t->cap; i++) {
			if (t->at[i].theirs != 0) {
				*find(n, t->at[i].theirs) = t->at[i];
				n->used++;
			}
		}
		free(t);
		*table = t = n;
	}
	struct entry *e = find(t, theirs);
	t->used += e->theirs == 0;
	e->theirs = theirs;
	return e;
}

/* ---- asking the kernel ------------------------------------------------------------------------ */

/* 0: no thread of this process, or none any more. */
static uint32_t translate(const struct thread_map *m, uint32_t theirs)
{
	int ours = ioctl(m->ns, NS_GET_PID_FROM_PIDNS, (unsigned long)theirs);
	/* Of this process? Others of the namespace are none of its business. */
	if (ours <= 0 || (syscall(SYS_tgkill, m->pid, ours, 0) < 0 && errno != EPERM)) {
		return 0;
	}
	return (uint32_t)ours;
}

static bool can_translate(int ns)
{
#ifdef OPENETW_TESTPOINTS
	if (getenv("OPENETW_TEST_THREADS_SCANNED")) { /* as before Linux 6.11 */
		return false;
	}
#endif
	return ioctl(ns, NS_GET_PID_FROM_PIDNS, 1ul) >= 0 || errno == ESRCH;
}

/* ---- reading all of them ---------------------------------------------------------------------- */

struct scan_job {
	struct job job;
	struct thread_map *map; /* ref */
	struct table *table;
	uint64_t took_ns;
	uid_t uid;
	LIST_ENTRY(scan_job) link;
};

static uint32_t theirs_of(int dir, const char *ours)
{
	char path[40], text[4096];
	snprintf(path, sizeof path, "%s/status", ours);
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	base_close(&fd);
	text[n > 0 ? n : 0] = 0;
	char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
	if (!end) {
		return 0;
	}
	*end = 0;
	return (uint32_t)strtoul(strrchr(line + 1, '\t') + 1, NULL, 10); /* NSpid: 4711 \t 7 */
}

static void scan_run(struct job *j)
{
	struct scan_job *s = (struct scan_job *)j;
	char path[64];
	uint64_t begun = etwd_now_ns();
	snprintf(path, sizeof path, "/proc/%d/task", (int)s->map->pid);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		uint32_t theirs = e->d_name[0] == '.' ? 0 : theirs_of(dirfd(dir), e->d_name);
		struct entry *to = theirs ? place(&s->table, theirs) : NULL;
		if (to) {
			to->ours = (uint32_t)strtoul(e->d_name, NULL, 10);
		}
		if (etwd_now_ns() - begun > SCAN_MOST_NS || (s->table && s->table->used >= ENTRIES_MAX)) {
			break;
		}
	}
	if (dir) {
		closedir(dir);
	}
	s->took_ns = etwd_now_ns() - begun;
}

static void unref(struct thread_map *m)
{
	if (m && --m->refs == 0) {
		base_close(&m->ns);
		free(m->table);
		free(m);
	}
}

static void scan_done(struct etwd *d, struct job *j)
{
	struct scan_job *s = (struct scan_job *)j;
	struct thread_map *m = s->map;
	free(m->table);
	m->table = s->table;
	m->scanning = false;
	m->scanned_ns = etwd_now_ns();
	m->scan_next_ns = m->scanned_ns + BASE_MAX(SCAN_EVERY_NS, s->took_ns * SCAN_SHARE);
	LIST_REMOVE(s, link);
	d->scan_count--;
	unref(m);
}

static void scan(struct etwd *d, const struct process *p, struct thread_map *m)
{
	struct scan_job *s;
	bool room = !m->scanning && d->scan_count < SCANS_MAX && d->pass_ns >= m->scan_next_ns;
	LIST_FOREACH(s, &d->scans, link) {
		room = room && s->uid != p->uid;
	}
	s = room ? calloc(1, sizeof *s) : NULL;
	if (!s) {
		return;
	}
	*s = (struct scan_job){.job = {.run = scan_run, .done = scan_done}, .map = m, .uid = p->uid};
	if (!etwd_job_try(d, &s->job)) {
		free(s);
		return;
	}
	LIST_INSERT_HEAD(&d->scans, s, link);
	d->scan_count++;
	m->scanning = true;
	m->refs++;
}

/* ---- for the others --------------------------------------------------------------------------- */

static struct thread_map *map_make(const struct process *p)
{
	char path[64];
	struct thread_map *m = calloc(1, sizeof *m);
	if (!m) {
		return NULL;
	}
	m->refs = 1;
	m->pid = p->pid;
	m->tokens = LOOKUPS_BURST;
	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)p->pid);
	m->ns = open(path, O_RDONLY | O_CLOEXEC);
	if (m->ns >= 0 && !can_translate(m->ns)) {
		base_close(&m->ns);
	}
	return m;
}

static bool take_token(struct thread_map *m, uint64_t now_ns)
{
	uint64_t add = (now_ns - m->tokens_at_ns) / (1000000000u / LOOKUPS_PER_S);
	if (add > 0) {
		m->tokens = (uint32_t)BASE_MIN(m->tokens + add, (uint64_t)LOOKUPS_BURST);
		m->tokens_at_ns = now_ns;
	}
	if (m->tokens == 0) {
		return false;
	}
	m->tokens--;
	return true;
}

uint32_t etwd_thread_id(struct etwd *d, struct process *p, uint32_t theirs)
{
	struct thread_map *m = p->threads ? p->threads : (p->threads = map_make(p));
	if (!m || theirs == 0) {
		return theirs;
	}
	uint64_t now = d->pass_ns;
	struct entry *e = m->table ? find(m->table, theirs) : NULL;
	bool known = e && e->theirs != 0;
	if (m->ns < 0) {
		if (!known || now > m->scanned_ns + SCAN_AGAIN_NS) {
			scan(d, p, m);
		}
		return known ? e->ours : theirs;
	}
	if (known && now < e->checked_ns + KNOWN_NS) {
		return e->ours;
	}
	if (take_token(m, now)) {
		uint32_t ours = translate(m, theirs);
		/* Only those that exist are remembered: who invents ids gets no memory for them. */
		e = ours ? place(&m->table, theirs) : NULL;
		if (e) {
			e->ours = ours;
			e->checked_ns = now;
		}
		return ours ? ours : theirs;
	}
	return known ? e->ours : theirs;
}

void etwd_thread_prepare(struct etwd *d, struct process *p)
{
	if (p->foreign_pids) {
		d->pass_ns = d->pass_ns ? d->pass_ns : etwd_now_ns();
		(void)etwd_thread_id(d, p, 1);
	}
}

void etwd_thread_forget(struct process *p)
{
	unref(p->threads);
	p->threads = NULL;
}
