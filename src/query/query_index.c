/* SPDX-License-Identifier: MIT
 *
 * openetw_index_*: finds the index of each file, makes it where there is none, and asks them as one.
 */
#include "query/query_index.h"

#include "base/sized.h"
#include "query/query_build.h"
#include "query/query_field.h"
#include "query/query_kept.h"
#include "query/query_live.h"
#include "query/query_place.h"
#include "query/query_ring.h"

#include "etw/values/errors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORTH_A_FILE  1000000u    /* events */
#define SMALL_BYTES   (16u << 20) /* of a trace: it has not so many, or they are read in no time */
#define FILETIME_MOST ((int64_t)1 << 62)

static const struct openetw_index_options NO_OPTIONS = {.size = sizeof NO_OPTIONS};

/* ---- one file ---------------------------------------------------------------------------------- */

static void name_companions(struct index_file *f, const struct place *p)
{
	f->fields_path = place_companion(p, "fields");
	f->lanes_path = place_companion(p, "lanes");
}

/* The index that is there already. */
int index_find(struct index_file *f, const struct store_key *key, const struct openetw_index_options *o)
{
	for (int i = 0; i < PLACE_COUNT; i++) {
		struct place p;
		if (place_open(f->path, i, o->cache_directory, &p, NULL) < 0) {
			continue;
		}
		int fd = place_find(&p);
		bool good = fd >= 0 && store_open(fd, key, &f->store, NULL) == 0;
		if (good) {
			f->on_disk = f->reused = true;
			name_companions(f, &p);
		}
		place_close(&p);
		if (good) {
			return 0;
		}
	}
	return -ENOENT;
}

/* A file for a new one: *ret_kept says where it will get its name; directory -1: nowhere, it stays in memory. */
static int file_for(struct index_file *f, const struct openetw_index_options *o, uint64_t bytes, struct place *ret)
{
	struct stat st;
	ret->directory = -1;
	bool worth = bytes > SMALL_BYTES || (o->flags & OPENETW_INDEX_WRITE);
	for (int i = 0; i < PLACE_COUNT && worth && !(o->flags & OPENETW_INDEX_MEMORY); i++) {
		if (place_open(f->path, i, o->cache_directory, ret, NULL) < 0) {
			continue;
		}
		int fd = fstat(f->fd, &st) == 0 ? place_new(ret, st.st_mode) : -EIO;
		if (fd >= 0) {
			return fd;
		}
		place_close(ret);
	}
	int fd = memfd_create("openetw-index", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int index_make(struct index_file *f, const struct store_key *key, const struct openetw_index_options *o,
	       const struct build_options *how, struct diag *d)
{
	struct build_options build = *how;
	struct place p;
	int fd = file_for(f, o, key->trace_bytes, &p);
	if (fd < 0) {
		return fd;
	}
	build.directory = p.directory >= 0 ? p.folder : NULL;
	int err = build_index(f->path, key, fd, &build, d);
	if (err == 0) {
		int mine = fd;
		fd = -1;
		err = store_open(mine, key, &f->store, d);
	}
	if (err == 0 && p.directory >= 0 &&
	    (f->store.about->rows >= WORTH_A_FILE || (o->flags & OPENETW_INDEX_WRITE))) {
		/* Without a name it is as good, this time. */
		f->on_disk = place_keep(&p, f->store.fd) == 0;
		if (f->on_disk) {
			name_companions(f, &p);
		}
	}
	base_close(&fd);
	place_close(&p);
	return err;
}

static int file_open(struct index_file *f, struct store_key *ret_key, struct diag *d)
{
	/* Not blocking: a FIFO must not hang us before anybody sees that it is one. */
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0) {
		int err = -errno;
		diag_at(d, UINT64_MAX, "cannot open it: %s", strerror(-err));
		return err;
	}
	int err = place_key(f->fd, ret_key);
	if (err < 0) {
		diag_at(d, UINT64_MAX, "cannot read it: %s", strerror(-err));
	}
	f->bytes = f->all_bytes = ret_key->trace_bytes;
	return err;
}

static bool asks_for_background(const struct openetw_index_options *o)
{
	return o->flags & OPENETW_INDEX_BACKGROUND;
}

/* Its index: the one that is there, or a new one. In the background: later. */
static int file_index(struct index_file *f, const struct store_key *key, const struct openetw_index_options *o,
		      struct diag *d)
{
	const struct build_options how = {.progress = o->progress, .context = o->context};
	if (!(o->flags & (OPENETW_INDEX_MEMORY | OPENETW_INDEX_REBUILD)) && index_find(f, key, o) == 0) {
		return 0;
	}
	if (asks_for_background(o)) {
		f->unfinished = true;
		f->bytes = 0;
		return 0;
	}
	return index_make(f, key, o, &how, d);
}

/* ---- all of them ------------------------------------------------------------------------------- */

int index_join(struct openetw_index *x)
{
	x->start_filetime = INT64_MAX;
	for (uint32_t i = 0; i < x->file_count; i++) {
		x->start_filetime = BASE_MIN(x->start_filetime, x->files[i].store.about->start_filetime);
	}
	for (uint32_t i = 0; i < x->file_count; i++) {
		struct index_file *f = &x->files[x->order ? x->order[i] : i];
		__int128 apart = ((__int128)f->store.about->start_filetime - x->start_filetime) * 100;
		f->offset = (int64_t)BASE_MIN(apart, (__int128)FILETIME_MOST / 2);
		f->type_base = x->type_count;
		f->process_base = x->process_count;
		f->thread_base = x->thread_count;
		f->stack_base = x->stack_count;
		/* Each has an entry 0 of its own, which is nobody's. */
		if (UINT32_MAX - x->type_count < f->store.type_count ||
		    UINT32_MAX - x->process_count < f->store.process_count ||
		    UINT32_MAX - x->thread_count < f->store.thread_count ||
		    UINT32_MAX - x->stack_count < f->store.stack_count) {
			return -EOVERFLOW;
		}
		x->type_count += f->store.type_count;
		x->process_count += f->store.process_count;
		x->thread_count += f->store.thread_count;
		x->stack_count += f->store.stack_count;
		x->rows += f->store.about->rows;
		x->bytes += f->bytes;
		x->all_bytes += f->all_bytes;
		x->unfinished = x->unfinished || f->unfinished;
	}
	return 0;
}

static uint32_t refuse(struct openetw_index *x, int err, const char *path, const struct diag *d)
{
	uint32_t code = err == -EBADMSG ? ERROR_FILE_CORRUPT : win32_from_errno(err);
	if (err == -ECANCELED) {
		code = ERROR_CANCELLED;
	}
	openetw_index_close(x);
	if (d->text[0]) {
		err_text_set("%s: %s", path, d->text);
	} else {
		err_text_set("%s: %s", path, strerror(-err));
	}
	return code;
}

uint32_t openetw_index_open(const char *const *paths, uint32_t count, const struct openetw_index_options *options,
			    struct openetw_index **ret)
{
	if (!paths || count == 0 || count > INDEX_FILES_MAX || !ret ||
	    (options && !SIZED_VALID(options, cache_directory))) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct openetw_index_options *o = options ? options : &NO_OPTIONS;
	struct openetw_index *x = calloc(1, sizeof *x);
	struct diag d;
	diag_clear(&d);
	if (x) {
		x->files = calloc(count, sizeof *x->files);
	}
	struct store_key *keys = calloc(count, sizeof *keys);
	if (!x || !x->files || !keys) {
		free(x ? x->files : NULL);
		free(x);
		free(keys);
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	pthread_mutex_init(&x->lock, NULL);
	bool unfinished = false;
	for (uint32_t i = 0; i < count; i++) {
		struct index_file *f = &x->files[i];
		f->fd = f->store.fd = -1;
		f->path = paths[i] ? strdup(paths[i]) : NULL;
		x->file_count = i + 1;
		int err = !f->path ? -ENOMEM : file_open(f, &keys[i], &d);
		err = err < 0 ? err : file_index(f, &keys[i], o, &d);
		if (err < 0) {
			free(keys);
			return refuse(x, err, paths[i] ? paths[i] : "", &d);
		}
		unfinished = unfinished || f->unfinished;
	}
	uint32_t which = UINT32_MAX;
	int err = field_columns_begin(x);
	err = err < 0 ? err : unfinished ? live_begin(x, keys, o, &which, &d) : index_join(x);
	free(keys);
	if (err < 0) {
		return refuse(x, err, which < count ? paths[which] : "these files together", &d);
	}
	*ret = x;
	return ERROR_SUCCESS;
}

void openetw_index_close(struct openetw_index *x)
{
	if (!x) {
		return;
	}
	if (x->ring) {
		ring_close(x);
		return;
	}
	field_columns_keep(index_now(x), FIELD_KEEP_AT_END);
	live_end(x);
	for (uint32_t i = 0; i < x->file_count; i++) {
		base_close(&x->files[i].fd);
		free(x->files[i].path);
	}
	index_view_free(x);
}

void index_view_free(struct openetw_index *x)
{
	for (uint32_t i = 0; i < x->file_count; i++) {
		if (!x->files[i].borrowed) {
			store_close(&x->files[i].store);
			free(x->files[i].fields_path);
			free(x->files[i].lanes_path);
		}
	}
	field_columns_free(x->fields);
	kept_free(x->kept);
	pthread_mutex_destroy(&x->lock);
	free(x->files);
	free(x);
}

uint32_t openetw_index_path(const char *trace, char *ret, uint32_t bytes)
{
	struct place p;
	if (!trace || !ret) {
		return ERROR_INVALID_PARAMETER;
	}
	int which = PLACE_BESIDE;
	int err = place_open(trace, which, NULL, &p, NULL);
	int fd = err < 0 ? err : place_new(&p, 0);
	if (fd < 0) {
		if (err == 0) {
			place_close(&p);
		}
		err = place_open(trace, PLACE_CACHE, NULL, &p, NULL);
	}
	base_close(&fd);
	if (err < 0) {
		return win32_from_errno(err);
	}
	place_close(&p);
	size_t n = strlen(p.path) + 1;
	if (n > bytes) {
		return ERROR_INSUFFICIENT_BUFFER;
	}
	memcpy(ret, p.path, n);
	return ERROR_SUCCESS;
}

/* ---- what is in it ----------------------------------------------------------------------------- */

uint32_t openetw_index_about(struct openetw_index *x, struct openetw_index_about *ret)
{
	if (!x || !SIZED_VALID(ret, reused)) {
		return ERROR_INVALID_PARAMETER;
	}
	x = index_hold(x);
	if (!x) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	struct openetw_index_about a = {
		.files = x->file_count,
		.start_filetime = (uint64_t)x->start_filetime,
		.rows = x->rows,
		.types = x->type_count,
		.processes = x->process_count,
		.threads = x->thread_count,
		.stacks = x->stack_count,
		.on_disk = true,
		.reused = true,
	};
	bool any = false;
	for (uint32_t i = 0; i < x->file_count; i++) {
		const struct index_file *f = &x->files[i];
		const struct store_about *s = f->store.about;
		if (s->rows) {
			a.first = any ? BASE_MIN(a.first, s->first + f->offset) : s->first + f->offset;
			a.last = any ? BASE_MAX(a.last, s->last + f->offset) : s->last + f->offset;
			any = true;
		}
		a.events_lost += s->events_lost;
		a.buffers_lost += s->buffers_lost;
		a.stacks_without_event += s->stacks_without_event;
		a.rows_gone += f->store.first_row;
		a.bytes += f->store.ring ? ring_view_bytes(f->store.ring) : f->store.map_bytes;
		a.processors = BASE_MAX(a.processors, s->processors);
		a.loss_unknown = a.loss_unknown ? a.loss_unknown : s->loss_unknown;
		a.on_disk = a.on_disk && f->on_disk;
		a.reused = a.reused && f->reused;
	}
	index_release(x);
	SIZED_GIVE(ret, &a);
	return ERROR_SUCCESS;
}

#define FILE_AT(x, i) (&(x)->files[(x)->order ? (x)->order[i] : (i)])
/* The file that a number belongs to: the last whose base is not above it. */
#define FILE_OF(x, number, base, count)                            \
	({                                                         \
		const struct index_file *file_ = NULL;             \
		uint32_t low_ = 0, high_ = (x)->file_count;        \
		while (high_ - low_ > 1) {                         \
			uint32_t mid_ = low_ + (high_ - low_) / 2; \
			if (FILE_AT(x, mid_)->base <= (number)) {  \
				low_ = mid_;                       \
			} else {                                   \
				high_ = mid_;                      \
			}                                          \
		}                                                  \
		file_ = FILE_AT(x, low_);                          \
		*ret_local = (number)-file_->base;                 \
		*ret_local < file_->store.count ? file_ : NULL;    \
	})

const struct index_file *index_type_of(const struct openetw_index *x, uint32_t type, uint32_t *ret_local)
{
	return FILE_OF(x, type, type_base, type_count);
}

const struct index_file *index_process_of(const struct openetw_index *x, uint32_t process, uint32_t *ret_local)
{
	return FILE_OF(x, process, process_base, process_count);
}

const struct index_file *index_thread_of(const struct openetw_index *x, uint32_t thread, uint32_t *ret_local)
{
	return FILE_OF(x, thread, thread_base, thread_count);
}

const struct index_file *index_stack_of(const struct openetw_index *x, uint32_t stack, uint32_t *ret_local)
{
	return FILE_OF(x, stack, stack_base, stack_count);
}

uint32_t openetw_index_type(struct openetw_index *x, uint32_t type, struct openetw_index_type *ret)
{
	uint32_t local;
	if (!x || !SIZED_VALID(ret, classic)) {
		return ERROR_INVALID_PARAMETER;
	}
	x = index_hold(x);
	if (!x) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	const struct index_file *f = index_type_of(x, type, &local);
	if (!f) {
		index_release(x);
		return ERROR_NOT_FOUND;
	}
	const struct store_type *t = &f->store.types[local];
	struct openetw_index_type a = {
		.type = type,
		.provider = store_string(&f->store, t->provider_name),
		.name = store_string(&f->store, t->name),
		.id = t->id,
		.task = t->task,
		.version = t->version,
		.channel = t->channel,
		.level = t->level,
		.opcode = t->opcode,
		.keyword = t->keyword,
		.rows = (uint64_t)t->rows_high << 32 | t->rows_low,
		.classic = t->classic,
	};
	memcpy(a.provider_guid.bytes, t->provider, sizeof a.provider_guid.bytes);
	index_release(x);
	SIZED_GIVE(ret, &a);
	return ERROR_SUCCESS;
}

uint32_t openetw_index_process(struct openetw_index *x, uint32_t process, struct openetw_index_process *ret)
{
	uint32_t local;
	if (!x || !SIZED_VALID(ret, has_exit_code)) {
		return ERROR_INVALID_PARAMETER;
	}
	x = index_hold(x);
	if (!x) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	const struct index_file *f = index_process_of(x, process, &local);
	if (!f) {
		index_release(x);
		return ERROR_NOT_FOUND;
	}
	const struct store_process *p = &f->store.processes[local];
	struct openetw_index_process a = {
		.process = process,
		.pid = p->pid,
		.parent_pid = p->parent_pid,
		.session_id = p->session_id,
		.file = (uint32_t)(f - x->files),
		.start = index_time(p->start, f->offset),
		.end = index_time(p->end, f->offset),
		.name = store_string(&f->store, p->name),
		.command_line = store_string(&f->store, p->command_line),
		.container = store_string(&f->store, p->container),
		.exit_code = p->exit_code,
		.has_exit_code = p->has_exit_code != 0,
	};
	index_release(x);
	SIZED_GIVE(ret, &a);
	return ERROR_SUCCESS;
}

uint32_t openetw_index_thread(struct openetw_index *x, uint32_t thread, struct openetw_index_thread *ret)
{
	uint32_t local;
	if (!x || !SIZED_VALID(ret, name)) {
		return ERROR_INVALID_PARAMETER;
	}
	x = index_hold(x);
	if (!x) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	const struct index_file *f = index_thread_of(x, thread, &local);
	if (!f) {
		index_release(x);
		return ERROR_NOT_FOUND;
	}
	const struct store_thread *t = &f->store.threads[local];
	struct openetw_index_thread a = {
		.thread = thread,
		.tid = t->tid,
		.process = t->process < f->store.process_count ? f->process_base + t->process : 0,
		.start = index_time(t->start, f->offset),
		.end = index_time(t->end, f->offset),
		.name = store_string(&f->store, t->name),
	};
	index_release(x);
	SIZED_GIVE(ret, &a);
	return ERROR_SUCCESS;
}

/* The frames from a node outwards. A parent stands before its children, so this ends whatever the bytes say. */
static uint32_t path(const struct store *s, uint32_t node, uint64_t *out, uint32_t max, uint32_t at)
{
	while (node > 0 && node < s->node_count) {
		const struct store_node *n = &s->nodes[node];
		if (at < max) {
			out[at] = store_frame(s, n->frame);
		}
		at += at < UINT32_MAX;
		node = n->parent < node ? n->parent : 0;
	}
	return at;
}

uint32_t openetw_index_stack(struct openetw_index *x, uint32_t stack, uint64_t *addresses, uint32_t max)
{
	uint32_t local, n = 0;
	struct openetw_index *now = x ? index_hold(x) : NULL;
	const struct index_file *f = now ? index_stack_of(now, stack, &local) : NULL;
	if (f) {
		n = path(&f->store, f->store.stacks[local].kernel, addresses, max, 0);
		n = path(&f->store, f->store.stacks[local].user, addresses, max, n);
	}
	if (now) {
		index_release(now);
	}
	return n;
}

struct openetw_index *index_hold(struct openetw_index *x)
{
	return x->ring || x->files[0].store.ring ? ring_view_hold(x) : index_now(x);
}

void index_release(struct openetw_index *view)
{
	if (view->files[0].store.ring) {
		ring_view_release(view);
	}
}
