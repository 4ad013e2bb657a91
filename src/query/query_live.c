/* SPDX-License-Identifier: MIT
 *
 * The thread that makes indexes in the background, and what is said of its progress.
 */
#include "query/query_live.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "base/sized.h"
#include "base/win32_error.h"
#include "etl/etl_reader.h"
#include "query/query_build.h"
#include "query/query_field.h"

#include "etw/values/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A byte of the second reading takes about so many times as long as one of the first. */
#define SECOND_COSTS 3u

struct index_live {
	struct openetw_index *first;
	struct openetw_index *now; /* A: published by live_publish() */
	struct store_about *blank; /* of each file: what is known before anything is read */
	struct store_key *keys;
	uint32_t *order;
	struct openetw_index_options options;
	char *cache_directory;
	pthread_t thread;
	bool started;
	uint32_t cancelled; /* order_… */
	uint32_t file;      /* which one is being made; the maker's alone */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: */
	bool ended;
	int err;
	char problem[512];
	uint32_t file_now;
	uint64_t began_ns, ended_ns;  /* of all of it */
	uint64_t second_ns;           /* when the second reading of the file began; 0: not yet */
	uint64_t finished;            /* bytes of the files before it, twice */
	uint64_t done, total;         /* of the file, twice its bytes */
	uint64_t rows, rows_finished; /* of the file; of those before it */
};

struct openetw_index *index_now(const struct openetw_index *x)
{
	/* A: pairs with live_publish() */
	return x->live ? order_load_acquire(&x->live->now) : (struct openetw_index *)(uintptr_t)x;
}

/* ---- views --------------------------------------------------------------------------------------- */

/* A view that has `f` in the place of what the latest one has of the file. The store of `f` is the view's then, or
 * closed. */
static int live_publish(struct index_live *l, const struct index_file *f)
{
	struct openetw_index *last = l->now, *x = calloc(1, sizeof *x);
	struct index_file *files = calloc(last->file_count, sizeof *files);
	struct store store = f->store;
	if (!x || !files) {
		free(x);
		free(files);
		store_close(&store);
		return -ENOMEM;
	}
	x->files = files;
	x->file_count = last->file_count;
	x->order = last->order;
	x->older = last;
	pthread_mutex_init(&x->lock, NULL);
	for (uint32_t i = 0; i < x->file_count; i++) {
		files[i] = last->files[i];
		files[i].borrowed = true;
	}
	files[l->file] = *f;
	files[l->file].borrowed = false;
	int err = index_join(x);
	err = err < 0 ? err : field_columns_begin(x);
	if (err < 0) {
		index_view_free(x);
		return err;
	}
	order_store_release(&l->now, x); /* A */
	return 0;
}

static void on_view(void *context, struct store *view, uint64_t bytes)
{
	struct index_live *l = context;
	struct index_file f = l->first->files[l->file];
	f.store = *view;
	f.bytes = BASE_MIN(bytes, f.all_bytes);
	(void)live_publish(l, &f); /* without memory: the next one, or the last */
}

/* ---- the maker ----------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	struct index_live *l = context;
	pthread_mutex_lock(&l->lock);
	if (done >= total / 2 && l->second_ns == 0) {
		l->second_ns = clock_read_system_ns();
	}
	l->done = done;
	l->total = total;
	l->rows = rows;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	if (l->options.progress && !l->options.progress(l->options.context, done, total, rows)) {
		return false;
	}
	return order_load_relaxed(&l->cancelled) == 0;
}

static int make_one(struct index_live *l, uint32_t file, struct diag *d)
{
	const struct build_options how = {.progress = on_progress, .view = on_view, .context = l};
	struct index_file f = l->first->files[file];
	l->file = file;
	pthread_mutex_lock(&l->lock);
	l->file_now = file;
	l->second_ns = 0;
	l->done = l->rows = 0;
	l->total = 2 * f.all_bytes;
	pthread_mutex_unlock(&l->lock);
	int err = order_load_relaxed(&l->cancelled) ? -ECANCELED : index_make(&f, &l->keys[file], &l->options, &how, d);
	if (err == 0) {
		f.bytes = f.all_bytes;
		f.unfinished = false;
		uint64_t rows = f.store.about->rows;
		err = live_publish(l, &f);
		pthread_mutex_lock(&l->lock);
		l->finished += l->total;
		l->rows_finished += rows;
		l->done = l->total = l->rows = 0;
		pthread_mutex_unlock(&l->lock);
	}
	return err;
}

static void *live_main(void *arg)
{
	struct index_live *l = arg;
	struct diag d;
	int err = 0;
	uint32_t i = 0;
	diag_clear(&d);
	for (; i < l->first->file_count && err == 0; i++) {
		err = l->first->files[l->order[i]].unfinished ? make_one(l, l->order[i], &d) : 0;
	}
	pthread_mutex_lock(&l->lock);
	if (err < 0) {
		snprintf(l->problem, sizeof l->problem, "%s: %s", l->first->files[l->order[i - 1]].path,
			 d.text[0] ? d.text : strerror(-err));
	}
	l->err = err;
	l->ended = true;
	l->ended_ns = clock_read_system_ns();
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- beginning and end --------------------------------------------------------------------------- */

/* What a file's header says: so its time is known, and that it is a trace. */
static int blank_of(struct index_file *f, struct store_about *ret, struct diag *d)
{
	struct etl_reader *r;
	int err = etl_reader_open(f->path, 0, &r, d);
	if (err < 0) {
		return err;
	}
	const struct etl_file_info *info = etl_reader_info(r);
	*ret = (struct store_about){.start_filetime = (int64_t)info->start_filetime,
				    .boot_filetime = info->boot_filetime,
				    .events_lost = info->events_lost,
				    .buffers_lost = info->buffers_lost,
				    .processors = info->processors,
				    .pointer_size = info->pointer_size,
				    .os_version = info->os_version,
				    .os_build = info->os_build};
	etl_reader_close(r);
	store_blank(&f->store, ret);
	return 0;
}

static int live_make(struct openetw_index *x, const struct store_key *keys, const struct openetw_index_options *o,
		     struct index_live **ret)
{
	struct index_live *l = calloc(1, sizeof *l);
	pthread_condattr_t monotonic;
	if (!l) {
		return -ENOMEM;
	}
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&l->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	l->first = l->now = x;
	l->began_ns = clock_read_system_ns();
	l->blank = calloc(x->file_count, sizeof *l->blank);
	l->keys = calloc(x->file_count, sizeof *l->keys);
	l->order = calloc(x->file_count, sizeof *l->order);
	l->cache_directory = o->cache_directory ? strdup(o->cache_directory) : NULL;
	l->options = (struct openetw_index_options){.size = sizeof l->options,
						    .flags = o->flags,
						    .progress = o->progress,
						    .context = o->context,
						    .cache_directory = l->cache_directory};
	*ret = l;
	if (!l->blank || !l->keys || !l->order || (o->cache_directory && !l->cache_directory)) {
		return -ENOMEM;
	}
	memcpy(l->keys, keys, x->file_count * sizeof *keys);
	return 0;
}

int live_begin(struct openetw_index *x, const struct store_key *keys, const struct openetw_index_options *o,
	       uint32_t *ret_file, struct diag *d)
{
	uint32_t n = 0;
	int err = live_make(x, keys, o, &x->live);
	struct index_live *l = x->live;
	/* Files that are there first: numbers of what is still being made come behind all others. */
	for (uint32_t pass = 0; pass < 2 && err == 0; pass++) {
		for (uint32_t i = 0; i < x->file_count && err == 0; i++) {
			if (x->files[i].unfinished != (pass == 1)) {
				continue;
			}
			l->order[n++] = i;
			if (pass == 1) {
				err = blank_of(&x->files[i], &l->blank[i], d);
				*ret_file = err < 0 ? i : *ret_file;
			}
		}
	}
	if (err < 0) {
		return err;
	}
	x->order = l->order;
	err = index_join(x);
	err = err < 0 ? err : quiet_thread_start(&l->thread, live_main, l);
	l->started = err == 0;
	return err;
}

void live_end(struct openetw_index *x)
{
	struct index_live *l = x->live;
	if (!l) {
		return;
	}
	if (l->started) {
		order_store_relaxed(&l->cancelled, 1);
		pthread_join(l->thread, NULL);
	}
	for (struct openetw_index *v = l->now; v != x;) {
		struct openetw_index *older = v->older;
		index_view_free(v);
		v = older;
	}
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l->blank);
	free(l->keys);
	free(l->order);
	free(l->cache_directory);
	free(l);
	x->live = NULL;
}

/* ---- progress ------------------------------------------------------------------------------------ */

/* Everything before this time is there. */
static int64_t covered_until(const struct openetw_index *x)
{
	int64_t until = INT64_MAX;
	for (uint32_t i = 0; i < x->file_count; i++) {
		const struct index_file *f = &x->files[i];
		uint32_t n = f->store.group_count;
		int64_t last = INT64_MIN;
		if (n && __builtin_add_overflow(f->store.groups[n - 1].to, f->offset, &last)) {
			last = INT64_MIN;
		}
		until = f->unfinished ? BASE_MIN(until, last) : until;
	}
	return until;
}

static uint32_t code_of(int err)
{
	return err == -EBADMSG ? ERROR_FILE_CORRUPT : err == -ECANCELED ? ERROR_CANCELLED : win32_from_errno(err);
}

/* What the maker says. A byte of the second reading counts for several. */
static void tell_locked(const struct index_live *l, uint64_t all, struct openetw_index_progress *ret)
{
	uint64_t now = l->ended ? l->ended_ns : clock_read_system_ns(), half = l->total / 2;
	uint64_t second = l->done > half ? l->done - half : 0;
	double done = (double)(l->finished / 2) * (1 + SECOND_COSTS) + (double)BASE_MIN(l->done, half) +
		      (double)second * SECOND_COSTS;
	double seconds = (double)(now - l->began_ns) / 1e9;
	ret->code = !l->ended ? ERROR_IO_PENDING : code_of(l->err);
	ret->file = l->file_now;
	ret->bytes_read = l->finished + l->done;
	ret->bytes_to_read = 2 * all;
	ret->rows_read = l->rows_finished + l->rows;
	ret->fraction = ret->code == 0 ? 1 : all ? BASE_MIN(done / ((double)all * (1 + SECOND_COSTS)), 1) : 0;
	ret->seconds = seconds;
	ret->seconds_left = ret->code == 0 ? 0 : ret->fraction > 0 ? seconds / ret->fraction - seconds : -1;
	if (l->second_ns && now > l->second_ns) {
		ret->rows_per_second = (double)l->rows / ((double)(now - l->second_ns) / 1e9);
	}
}

static uint64_t bytes_to_make(const struct openetw_index *first)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < first->file_count; i++) {
		sum += first->files[i].unfinished ? first->files[i].all_bytes : 0;
	}
	return sum;
}

uint32_t openetw_index_progress(struct openetw_index *x, struct openetw_index_progress *ret)
{
	if (!x || !SIZED_VALID(ret, seconds_left)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct openetw_index_progress p = {.code = ERROR_SUCCESS, .fraction = 1};
	if (x->live) {
		pthread_mutex_lock(&x->live->lock);
		tell_locked(x->live, bytes_to_make(x), &p);
		pthread_mutex_unlock(&x->live->lock);
	}
	const struct openetw_index *now = index_now(x);
	p.rows_covered = now->rows;
	p.bytes_covered = now->bytes;
	p.bytes = now->all_bytes;
	p.covered_until = covered_until(now);
	SIZED_GIVE(ret, &p);
	return ERROR_SUCCESS;
}

void openetw_index_cancel(struct openetw_index *x)
{
	if (x && x->live) {
		order_store_relaxed(&x->live->cancelled, 1);
	}
}

struct timespec live_in_milliseconds(uint32_t ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

uint32_t openetw_index_wait(struct openetw_index *x, uint32_t milliseconds)
{
	struct timespec until = live_in_milliseconds(milliseconds);
	int gone = 0;
	if (!x) {
		return ERROR_INVALID_PARAMETER;
	}
	struct index_live *l = x->live;
	if (!l) {
		return ERROR_SUCCESS;
	}
	pthread_mutex_lock(&l->lock);
	while (!l->ended && gone == 0) {
		gone = milliseconds == UINT32_MAX ? pthread_cond_wait(&l->changed, &l->lock)
						  : pthread_cond_timedwait(&l->changed, &l->lock, &until);
	}
	uint32_t code = l->ended ? code_of(l->err) : ERROR_TIMEOUT;
	if (l->ended && l->err < 0) {
		err_text_set("%s", l->problem);
	}
	pthread_mutex_unlock(&l->lock);
	return code;
}
