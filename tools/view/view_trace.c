/* SPDX-License-Identifier: MIT */
#include "tools/view/view_live.h"

#include "base/parse.h"
#include "tools/common/unpacked.h"
#include "tools/tables/table_make.h"
#include "tools/view/view_kept.h"
#include "tools/view/view_making.h"
#include "tools/view/view_symbols.h"

#include <openetw/error.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char *name_of(int count, char *const *files)
{
	const char *slash = strrchr(files[0], '/'), *base = slash ? slash + 1 : files[0];
	struct strbuf b = {0};
	strbuf_adds(&b, base);
	if (count > 1) {
		strbuf_addf(&b, " and %d more", count - 1);
	}
	if (b.failed) {
		strbuf_finish(&b);
		return NULL;
	}
	return b.s;
}

static bool copy_files(struct view_trace *t, int count, char *const *files, const char *name)
{
	t->files = calloc((size_t)count, sizeof *t->files);
	for (; t->files && t->count < count; t->count++) {
		t->files[t->count] = strdup(files[t->count]);
		if (!t->files[t->count]) {
			return false;
		}
	}
	t->name = name ? strdup(name) : name_of(count, files);
	return t->files && t->name;
}

static bool open_index(struct view_trace *t, uint32_t flags, char *why, size_t cap)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	char unpacked[1000];
	const char **plain = calloc((size_t)t->count, sizeof *plain);
	uint32_t code = plain ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	o.flags = flags;
	for (int i = 0; i < t->count && code == ERROR_SUCCESS; i++) {
		plain[i] = cli_unpacked(t->args, t->files[i]);
		if (!plain[i]) {
			snprintf(why, cap, "%s: the archive cannot be read", t->files[i]);
			free(plain);
			return false;
		}
	}
	code = code ? code : openetw_index_open(plain, (uint32_t)t->count, &o, &t->x);
	if (code) {
		const char *said = cli_unpacked_error(openetw_last_error_text(), unpacked, sizeof unpacked);
		snprintf(why, cap, "%s", said[0] ? said : openetw_error_text(code));
		t->x = NULL;
	}
	free(plain);
	return code == ERROR_SUCCESS;
}

struct view_trace *view_trace_create(const struct cli_args *a, int count, char *const *files, char *why, size_t cap)
{
	return view_trace_create_as(a, count, files, NULL, OPENETW_INDEX_BACKGROUND, why, cap);
}

struct view_trace *view_trace_create_as(const struct cli_args *a, int count, char *const *files, const char *name,
					uint32_t flags, char *why, size_t cap)
{
	struct view_trace *t = calloc(1, sizeof *t);
	if (!t) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->naming, NULL);
	t->args = a;
	snprintf(why, cap, "no memory");
	if (!copy_files(t, count, files, name) || !open_index(t, flags, why, cap)) {
		view_trace_destroy(t);
		return NULL;
	}
	return t;
}

void view_trace_destroy(struct view_trace *t)
{
	for (uint32_t i = 0; i < VIEW_QUERIES_MAX; i++) {
		openetw_query_destroy(t->queries[i].q);
		free(t->queries[i].filter);
	}
	for (uint32_t i = 0; i < t->decoder_count; i++) {
		openetw_decoder_destroy(t->decoders[i]);
	}
	view_making_destroy(t->making);
	view_kept_destroy(t->kept);
	table_set_close(t->code);
	view_live_destroy(t->live);
	openetw_index_close(t->x);
	if (t->copy_of) {
		close(t->copy_of - 1);
	}
	for (int i = 0; i < t->count; i++) {
		free(t->files[i]);
	}
	free(t->files);
	free(t->name);
	view_vocabulary_free(t->memo);
	free(t->causes);
	free(t->machine);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->naming);
	free(t);
}

void view_trace_about(const struct view_trace *t, struct openetw_index_about *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->size = sizeof *ret;
	openetw_index_about(t->x, ret);
}

bool view_trace_whole(const struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_index_progress, p);
	return openetw_index_progress(t->x, &p) != ERROR_SUCCESS || p.code != ERROR_IO_PENDING;
}

uint64_t view_trace_filetime(const struct view_trace *t, int64_t time)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	return a.start_filetime + (uint64_t)(time / 100 - (time % 100 < 0));
}

void view_trace_date(const struct view_trace *t, int64_t time, char *out, size_t cap)
{
	char text[TIME_TEXT_SIZE];
	format_time(view_trace_filetime(t, time), false, text);
	snprintf(out, cap, "%s", text);
}

struct openetw_decoder *view_decoder_take(struct view_trace *t)
{
	struct openetw_decoder *d = NULL;
	pthread_mutex_lock(&t->lock);
	if (t->decoder_count) {
		d = t->decoders[--t->decoder_count];
	}
	pthread_mutex_unlock(&t->lock);
	return d ? d : openetw_decoder_create();
}

void view_decoder_give(struct view_trace *t, struct openetw_decoder *d)
{
	pthread_mutex_lock(&t->lock);
	if (d && t->decoder_count < VIEW_DECODERS_MAX) {
		t->decoders[t->decoder_count++] = d;
		d = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	openetw_decoder_destroy(d);
}

/* ---- tables ----------------------------------------------------------------------------------------- */

#define LOOK_MS 100u

bool view_lock_for(pthread_mutex_t *lock, bool (*gone)(void *context), void *context, char *why, size_t cap)
{
	struct timespec until;
	do {
		if (gone(context)) {
			snprintf(why, cap, "nobody waits for the answer any more");
			return false;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_MS * 1000000l;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_mutex_timedlock(lock, &until) != 0);
	return true;
}

/* Numbers in tables are those of the whole index. */
bool view_index_wait(struct view_trace *t, bool (*gone)(void *context), void *context, char *why, size_t cap)
{
	uint32_t code;
	while ((code = openetw_index_wait(t->x, LOOK_MS)) == ERROR_TIMEOUT) {
		if (gone(context)) {
			snprintf(why, cap, "nobody waits for the answer any more");
			return false;
		}
	}
	if (code != ERROR_SUCCESS) {
		snprintf(why, cap, "tables need the whole index: %s", openetw_error_text(code));
	}
	return code == ERROR_SUCCESS;
}

struct table_set *view_set_open(struct view_trace *t, char *why, size_t cap)
{
	struct table_set *s = table_set_open(t->args, t->count, t->files);
	if (s && !table_set_use_index(s, t->x)) {
		table_set_close(s);
		s = NULL;
	}
	if (!s) {
		snprintf(why, cap, "the trace cannot be opened again");
	}
	return s;
}

bool view_names_make(struct view_trace *t, bool (*look)(void *context, double part), void *context, char *why,
		     size_t cap)
{
	struct table_set *s = view_set_open(t, why, cap);
	if (!s) {
		return false;
	}
	struct table_maker *m = table_set_maker(s);
	m->look = look;
	m->look_context = context;
	if (!table_make_state(m, why, cap)) {
		table_set_close(s);
		return false;
	}
	m->look = NULL;
	view_symbols_apply(m);
	pthread_mutex_lock(&t->naming);
	struct table_set *old = t->code;
	t->code = s;
	pthread_mutex_unlock(&t->naming);
	table_set_close(old);
	return true;
}

struct table_maker *view_names_lock(struct view_request *r, struct view_trace *t, char *why, size_t cap)
{
	if (!view_names_wait(r, t, why, cap) || !view_lock_for(&t->naming, view_request_gone, r, why, cap)) {
		return NULL;
	}
	if (!t->code) {
		pthread_mutex_unlock(&t->naming);
		snprintf(why, cap, "the names of code were not read");
		return NULL;
	}
	return table_set_maker(t->code);
}

void view_names_unlock(struct view_trace *t)
{
	pthread_mutex_unlock(&t->naming);
}
