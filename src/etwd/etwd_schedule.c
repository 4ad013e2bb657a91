/* SPDX-License-Identifier: MIT
 * Saved collectors that begin at a time (logman -b, -r), and commands at the end of their runs (-rc).
 *
 * What is due is read from the collectors' files when etwd starts and when a controller says that they
 * changed (PROTO_RELOAD); one timer stands for the next of them. A run is started by the command itself,
 * "openetw logman start", so that it is the same run as by hand: its file's number, its checks, its end.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"
#include "schema/schema_filter.h"
#include "schema/schema_store.h"
#include "session/session.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

static const struct session_manifests manifests = {schema_process_provider_guid, schema_filter_manifest};

#define FILETIME_EPOCH 11644473600ull /* s, of 1970 */
#define FILETIME_S     10000000ull
#define ENTRIES_MAX    1024u

extern char **environ;

struct entry {
	char name[3100];
	char command[SESSION_COMMAND_MAX];
	uint64_t next; /* FILETIME; 0: never again */
	uint64_t begin;
	bool daily;
};
struct schedule {
	struct source timer;
	struct entry *entry;
	uint32_t count;
};

/* ---- when ------------------------------------------------------------------------------------- */

uint64_t etwd_schedule_next(uint64_t begin, bool daily, uint64_t now)
{
	if (begin == 0 || begin > now || !daily) {
		return begin > now ? begin : 0;
	}
	time_t first = (time_t)(begin / FILETIME_S - FILETIME_EPOCH);
	time_t today = (time_t)(now / FILETIME_S - FILETIME_EPOCH);
	struct tm at, day;
	localtime_r(&first, &at);
	localtime_r(&today, &day);
	for (int i = 0; i < 3; i++) {
		struct tm t = at;
		t.tm_year = day.tm_year;
		t.tm_mon = day.tm_mon;
		t.tm_mday = day.tm_mday + i;
		t.tm_isdst = -1; /* the same time on the clock, also when the clocks were changed */
		uint64_t next = ((uint64_t)mktime(&t) + FILETIME_EPOCH) * FILETIME_S;
		if (next > now) {
			return next;
		}
	}
	return 0;
}

static void arm(struct etwd *d)
{
	struct schedule *s = d->schedule;
	uint64_t next = UINT64_MAX;
	for (uint32_t i = 0; i < s->count; i++) {
		next = s->entry[i].next && s->entry[i].next < next ? s->entry[i].next : next;
	}
	struct itimerspec when = {0};
	if (next != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(next / FILETIME_S - FILETIME_EPOCH);
		when.it_value.tv_nsec = (long)(next % FILETIME_S * 100);
	}
	/* Also wakes up when the clock is set. */
	timerfd_settime(s->timer.fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL);
}

bool etwd_schedule_pending(const struct etwd *d)
{
	for (uint32_t i = 0; d->schedule && i < d->schedule->count; i++) {
		if (d->schedule->entry[i].next) {
			return true;
		}
	}
	return false;
}

/* ---- running something ------------------------------------------------------------------------ */

struct run_job {
	struct job job;
	bool command; /* of the user's; else a run of a collector */
	char name[3100], text[SESSION_COMMAND_MAX], file[4096], dir[512];
	bool system;
	int status; /* exit status, or -errno */
};

/* Ours without what names another etwd, and with `more` (which ends with NULL). */
static char **environment(char *const *more)
{
	size_t n = 0, at = 0;
	while (environ[n]) {
		n++;
	}
	char **e = calloc(n + 8, sizeof *e);
	for (size_t i = 0; e && i < n; i++) {
		if (strncmp(environ[i], "OPENETW_RUNTIME_DIR=", 20) != 0 &&
		    strncmp(environ[i], "OPENETW_INSTANCE=", 17) != 0) {
			e[at++] = environ[i];
		}
	}
	for (; e && *more; more++) {
		e[at++] = *more;
	}
	return e;
}

static void run_run(struct job *j)
{
	struct run_job *r = (struct run_job *)j;
	char where[600], name[3200], file[4200], program[4100];
	snprintf(where, sizeof where, r->system ? "OPENETW_INSTANCE=system" : "OPENETW_RUNTIME_DIR=%s", r->dir);
	snprintf(name, sizeof name, "OPENETW_COLLECTOR=%s", r->name);
	snprintf(file, sizeof file, "OPENETW_LOG_FILE=%s", r->file);
	char *more[] = {where, name, r->file[0] ? file : NULL, NULL};
	char **env = environment(more);
	if (!env) {
		r->status = -ENOMEM;
	} else if (r->command) {
		/* Left to itself: it may take as long as it likes. */
		char *argv[] = {"sh", "-c", "(eval \"$1\") &", "sh", r->text, NULL};
		r->status = etwd_program_run("/bin/sh", argv, env, -1);
	} else if (!etwd_program_find_cli(program, sizeof program)) {
		r->status = -ENOENT;
	} else {
		char *argv[] = {"openetw", "logman", "start", "-n", r->name, NULL};
		r->status = etwd_program_run(program, argv, env, -1);
	}
	free(env);
}

static void run_done(struct etwd *d, struct job *j)
{
	struct run_job *r = (struct run_job *)j;
	if (r->status != 0) {
		etwd_log(d, "Collector \"%s\": %s: %s%d", r->name,
			 r->command ? "the command at its end could not be run"
				    : "it was due and did not start; 'openetw logman start' says why",
			 r->status < 0 ? "errno " : "exit status ", r->status < 0 ? -r->status : r->status);
	}
}

static void run(struct etwd *d, const struct entry *e, bool command, const char *file)
{
	struct run_job *r = calloc(1, sizeof *r);
	if (!r) {
		return;
	}
	r->job = (struct job){.run = run_run, .done = run_done};
	r->command = command;
	r->system = d->system;
	memcpy(r->name, e->name, sizeof r->name);
	memcpy(r->text, e->command, sizeof r->text);
	memcpy(r->dir, d->dir, sizeof r->dir);
	snprintf(r->file, sizeof r->file, "%s", file ? file : "");
	etwd_log(d, command ? "Collector \"%s\" ended: running its command" : "Collector \"%s\" is due", e->name);
	etwd_job_start(d, &r->job);
}

static void due(struct etwd *d, struct source *src, uint32_t events)
{
	struct schedule *s = d->schedule;
	uint64_t times, now = clock_filetime();
	(void)events;
	ssize_t n = read(src->fd, &times, sizeof times);
	(void)n; /* ECANCELED: the clock was set */
	for (uint32_t i = 0; i < s->count; i++) {
		struct entry *e = &s->entry[i];
		if (e->next && e->next <= now) {
			e->next = etwd_schedule_next(e->begin, e->daily, now);
			if (!d->exiting) {
				run(d, e, false, NULL);
			}
		}
	}
	arm(d);
}

void etwd_schedule_ended(struct etwd *d, const struct session *s)
{
	char name[3100];
	long n = d->schedule ? utf16_to_utf8(s->name, utf16_len(s->name), name, sizeof name - 1) : -1;
	if (n <= 0 || n >= (long)sizeof name || s->uid != d->uid) {
		return;
	}
	name[n] = 0;
	for (uint32_t i = 0; i < d->schedule->count; i++) {
		if (d->schedule->entry[i].command[0] && strcasecmp(d->schedule->entry[i].name, name) == 0) {
			run(d, &d->schedule->entry[i], true, s->path);
		}
	}
}

/* ---- what there is ---------------------------------------------------------------------------- */

struct load_job {
	struct job job;
	char dir[4096];
	struct entry *entry;
	uint32_t count, cap;
	struct reply_to reply;
};

static bool load_one(void *ctx, const char *path)
{
	struct load_job *l = ctx;
	struct etw_session s;
	if (session_read_file(path, &manifests, &s, NULL) < 0) {
		return true; /* logman says so */
	}
	if (s.begin_filetime || s.command[0]) {
		if (VEC_ROOM(l->entry, l->count, l->cap)) {
			struct entry *e = &l->entry[l->count++];
			memset(e, 0, sizeof *e);
			snprintf(e->name, sizeof e->name, "%s", s.name);
			snprintf(e->command, sizeof e->command, "%s", s.command);
			e->begin = s.begin_filetime;
			e->daily = s.daily;
		}
	}
	session_finish(&s);
	return l->count < ENTRIES_MAX;
}

static void load_run(struct job *j)
{
	struct load_job *l = (struct load_job *)j;
	(void)session_each(l->dir, load_one, l);
}

static void load_done(struct etwd *d, struct job *j)
{
	struct load_job *l = (struct load_job *)j;
	struct schedule *s = d->schedule;
	uint64_t now = clock_filetime();
	free(s->entry);
	s->entry = l->entry;
	s->count = l->count;
	for (uint32_t i = 0; i < s->count; i++) {
		s->entry[i].next = etwd_schedule_next(s->entry[i].begin, s->entry[i].daily, now);
	}
	arm(d);
	if (l->reply.conn) {
		struct conn *c = l->reply.conn;
		struct proto_message m = {.type = l->reply.type, .id = l->reply.id};
		etwd_reply_drop(&l->reply);
		etwd_reply_status(d, c, &m, 0, NULL);
	}
}

static struct load_job *prepare(struct etwd *d)
{
	if (!d->schedule) {
		struct schedule *s = calloc(1, sizeof *s);
		if (!s) {
			return NULL;
		}
		s->timer = (struct source){due, timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
		if (s->timer.fd < 0 || etwd_loop_add(d, &s->timer, EPOLLIN) < 0) {
			base_close(&s->timer.fd);
			free(s);
			return NULL;
		}
		d->schedule = s;
	}
	struct load_job *l = calloc(1, sizeof *l);
	if (l && session_dir(SESSION_COLLECTORS, d->system, l->dir, sizeof l->dir) < 0) {
		free(l);
		l = NULL;
	}
	if (l) {
		l->job = (struct job){.run = load_run, .done = load_done};
	}
	return l;
}

void etwd_schedule_start(struct etwd *d)
{
	struct load_job *l = prepare(d);
	if (l) {
		etwd_job_start(d, &l->job);
	}
}

void etwd_schedule_reload(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	if (!etwd_conn_same_user(d, c)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED,
				  "only the owner of this etwd may have it look at its files");
		return;
	}
	struct load_job *l = d->jobs_running < ETWD_JOBS_MAX ? prepare(d) : NULL;
	if (!l) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "no room to read the collectors");
		return;
	}
	etwd_reply_keep(c, m, &l->reply);
	etwd_job_start(d, &l->job);
}

void etwd_schedule_finish(struct etwd *d)
{
	if (d->schedule) {
		etwd_loop_remove(d, &d->schedule->timer);
		base_close(&d->schedule->timer.fd);
		free(d->schedule->entry);
		free(d->schedule);
		d->schedule = NULL;
	}
}
