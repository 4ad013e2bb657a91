/* SPDX-License-Identifier: MIT
 * Copies of live traces: what was in the ring a moment ago, as a file without a name, for what takes files alone: tables and
 * names of code. Several requests share one until it is old.
 */
#include "tools/view/view_live.h"

#include <openetw/error.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define YOUNG_NS  2000000000ull
#define TIMES     5u                  /* one that took a second to be made is used for five */
#define FILTER_NO "pid == 4294967294" /* of no process: what the machine is like goes into the file all the same */

/* A new file of our own, to be written by its name. False: errno. */
static bool new_file(char *path, size_t cap)
{
	const char *folder = getenv("TMPDIR");
	snprintf(path, cap, "%s/openetw-view-XXXXXX", folder && folder[0] == '/' ? folder : "/var/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
	}
	return fd >= 0;
}

static bool save(struct view_trace *t, const char *path, const char *filter, char *why, size_t cap)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_query *q = openetw_query_create(t->x);
	uint32_t code = q ? openetw_query_set_filter(q, filter) : ERROR_NOT_ENOUGH_MEMORY;
	code = code ? code : openetw_query_save(q, path, &a);
	openetw_query_destroy(q);
	if (code != ERROR_SUCCESS) {
		const char *said = openetw_last_error_text();
		snprintf(why, cap, "what is there cannot be copied: %s", said[0] ? said : openetw_error_text(code));
	}
	return code == ERROR_SUCCESS;
}

static struct view_trace *make(struct view_trace *t, const char *filter, char *why, size_t cap)
{
	char path[4200], open_path[64], *file = open_path;
	if (!new_file(path, sizeof path)) {
		snprintf(why, cap, "there is no room for a copy of what is there: %s", strerror(errno));
		return NULL;
	}
	bool saved = save(t, path, filter, why, cap);
	int fd = saved ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	unlink(path); /* it goes with us, however we end */
	if (fd < 0) {
		if (saved) {
			snprintf(why, cap, "%s: %s", path, strerror(errno));
		}
		return NULL;
	}
	/* By the number of the process: those that it starts find the file there, too. */
	snprintf(open_path, sizeof open_path, "/proc/%d/fd/%d", (int)getpid(), fd);
	struct view_trace *copy = view_trace_create_as(t->args, 1, &file, t->name, OPENETW_INDEX_MEMORY, why, cap);
	if (!copy) {
		close(fd);
		return NULL;
	}
	copy->id = t->id;
	copy->copy_of = fd + 1;
	return copy;
}

/* Under the lock of the copies. The old one goes with its last user. */
static void replace(struct view_live *l, struct view_copy *c, struct view_trace *copy)
{
	struct view_trace *old = c->trace;
	c->trace = copy;
	if (old) {
		pthread_mutex_lock(&l->view->lock);
		old->closed = true;
		bool gone = old->users == 0;
		pthread_mutex_unlock(&l->view->lock);
		if (gone) {
			view_trace_destroy(old);
		}
	}
}

static bool is_good(const struct view_copy *c, uint64_t rows, uint64_t young)
{
	uint64_t now = clock_read_system_ns();
	return c->trace && (c->rows == rows || now - c->made_ns < BASE_MAX(young, c->took_ns * TIMES));
}

static struct view_trace *hold(struct view_trace *t, struct view_copy *c, const char *filter, uint64_t young,
			       bool (*gone)(void *context), void *context, char *why, size_t cap)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	struct view_live *l = t->live;
	if (!view_lock_for(&l->copying, gone, context, why, cap)) {
		return NULL;
	}
	openetw_index_live_progress(t->x, &p);
	if (!is_good(c, p.rows, young)) {
		uint64_t began = clock_read_system_ns();
		struct view_trace *copy = make(t, filter, why, cap);
		if (copy) {
			replace(l, c, copy);
			c->rows = p.rows;
			c->made_ns = clock_read_system_ns();
			c->took_ns = c->made_ns - began;
		}
	}
	struct view_trace *copy = c->trace; /* an old one is better than none */
	if (copy) {
		pthread_mutex_lock(&l->view->lock);
		copy->users++;
		pthread_mutex_unlock(&l->view->lock);
	}
	pthread_mutex_unlock(&l->copying);
	return copy;
}

struct view_trace *view_copy_hold(struct view_trace *t, bool (*gone)(void *context), void *context, char *why,
				  size_t cap)
{
	return hold(t, &t->live->whole, NULL, YOUNG_NS, gone, context, why, cap);
}

struct view_trace *view_copy_of_machine(struct view_trace *t, bool (*gone)(void *context), void *context, char *why,
					size_t cap)
{
	return hold(t, &t->live->machine, FILTER_NO, YOUNG_NS, gone, context, why, cap);
}

void view_copies_end(struct view_live *l)
{
	replace(l, &l->whole, NULL);
	replace(l, &l->machine, NULL);
	pthread_mutex_destroy(&l->copying);
}
