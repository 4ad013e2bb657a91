/* SPDX-License-Identifier: MIT
 *
 * What waits for a real-time consumer beyond the memory a session may take: a bounded file, as Windows'
 * EtwRT*.etl, written and read by a thread of its own so that the producer never waits for a disk.
 *
 *   sink_tap.c's backlog --oldest--> queue --thread--> file (a ring of places) --thread--> ready --> consumer
 *                                      \------------- nothing in the file ----------------/
 *
 * First in, first out. When the file is full its oldest buffer makes room; when the disk does not take
 * anything, or the quota is used up, the newest that waits does. Both are counted. A file with nothing in it is
 * cut to no bytes. Every buffer in the file is one that readers of such files understand, should etwd be killed.
 */
#include "sink/sink_keep.h"
#include "sink/sink_private.h"

#include "base/order.h"
#include "base/quiet_thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define READY_MAX    8u /* buffers read ahead of the consumer */
#define PLACES_LEAST 2u
#define QUEUE_BYTES  (8u << 20) /* on their way to the disk, at least */
/* For somebody else's look at a new file to end, who takes it for a leftover. */
#define LOCK_TRIES    1000u
#define LOCK_PAUSE_US 1000u

struct sink_spool {
	/* constant */
	char *path;
	uint32_t place_bytes;
	uint64_t places;
	uint64_t clock; /* as ETL_BH_CLOCK has it */
	uint64_t start_filetime, start_raw;
	uint32_t queue_most;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping, reading, busy;
	struct sink_rt_list queue, ready;
	uint32_t generation; /* counts sink_spool_clear() */
	/* In the file: [first, next), at place n % places; up to `read` they are in `ready` or with the
	 * producer, and stay in the file only when somebody else may want them. */
	uint64_t first, read, next;
	uint64_t lost_events, lost_buffers, refused_events;
	int error;
	struct sink_place *info; /* [places] */
	struct sink_keep *keep;  /* whose the info is, and which has a copy of first and next; may be NULL */

	struct sink_quota *quota; /* may be NULL */

	/* thread only */
	int fd;
	uint64_t extent; /* places that the file has */
};

static void list_push(struct sink_rt_list *l, struct sink_rt_chunk *c)
{
	c->next = NULL;
	if (l->tail) {
		l->tail->next = c;
	} else {
		l->head = c;
	}
	l->tail = c;
	l->count++;
}

static struct sink_rt_chunk *list_pop(struct sink_rt_list *l)
{
	struct sink_rt_chunk *c = l->head;
	if (c) {
		l->head = c->next;
		l->tail = l->head ? l->tail : NULL;
		l->count--;
	}
	return c;
}

/* What would be known of the file if the process ended now. */
static void note(struct sink_spool *p)
{
	if (p->keep) {
		struct sink_keep_head *h = sink_keep_head(p->keep);
		h->spool_lost_events = p->lost_events;
		h->spool_lost_buffers = p->lost_buffers;
		order_store_release(&h->first, p->first);
		order_store_release(&h->next, p->next);
	}
}

static void lose(struct sink_spool *p, uint32_t events)
{
	p->lost_events += events;
	p->lost_buffers++;
	note(p);
}

static uint64_t extent_bytes(const struct sink_spool *p, uint64_t places)
{
	return places * p->place_bytes;
}

static void give(struct sink_spool *p, uint64_t places)
{
	if (p->quota) {
		order_add_relaxed(&p->quota->used_bytes, -extent_bytes(p, places));
	}
}

/* ---- thread ----------------------------------------------------------------------------------- */

/* What a killed daemon left: nobody holds it any more. */
static void remove_leftovers(const struct sink_spool *p)
{
	char dir[4096], path[4400];
	const char *slash = strrchr(p->path, '/');
	if (!slash || (size_t)(slash - p->path) >= sizeof dir) {
		return;
	}
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - p->path), p->path);
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		if (strncmp(e->d_name, SINK_SPOOL_PREFIX, strlen(SINK_SPOOL_PREFIX)) != 0) {
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			unlink(path);
		}
		base_close(&fd);
	}
	if (d) {
		closedir(d);
	}
}

/* The file of that name, locked: whoever removes leftovers takes it for one until then. -EAGAIN: somebody did, or is
 * about to; another open makes another file. */
static int open_locked(const struct sink_spool *p, int truncate, struct stat *ret)
{
	int fd = open(p->path, O_RDWR | O_CREAT | truncate | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int err = 0;
	if (fd < 0) {
		return -errno;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err = errno == EWOULDBLOCK ? -EAGAIN : -errno;
	} else if (fstat(fd, ret) < 0) {
		err = -errno;
	} else if (!S_ISREG(ret->st_mode)) {
		err = -EINVAL;
	} else if (ret->st_nlink == 0) {
		err = -EAGAIN;
	}
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

static int open_file(struct sink_spool *p)
{
	if (p->fd >= 0) {
		return 0;
	}
	pthread_mutex_lock(&p->lock);
	int truncate = p->keep && p->next > p->first ? 0 : O_TRUNC;
	bool stopping = p->stopping;
	pthread_mutex_unlock(&p->lock);
	if (!p->keep) {
		remove_leftovers(p);
	}
	struct stat st;
	int fd = open_locked(p, truncate, &st);
	for (uint32_t i = 0; fd == -EAGAIN && i < LOCK_TRIES && !stopping; i++) {
		usleep(LOCK_PAUSE_US);
		fd = open_locked(p, truncate, &st);
		pthread_mutex_lock(&p->lock);
		stopping = p->stopping;
		pthread_mutex_unlock(&p->lock);
	}
	if (fd < 0) {
		return fd;
	}
	p->fd = fd;
	p->extent = ((uint64_t)st.st_size + p->place_bytes - 1) / p->place_bytes;
	if (p->quota) {
		order_add_relaxed(&p->quota->used_bytes, extent_bytes(p, p->extent));
	}
	return 0;
}

/* May the file have one place more? */
static bool take(struct sink_spool *p)
{
	struct statvfs fs;
	if (!p->quota) {
		return true;
	}
	if (fstatvfs(p->fd, &fs) == 0) {
		uint64_t all = (uint64_t)fs.f_blocks * fs.f_frsize, left = (uint64_t)fs.f_bavail * fs.f_frsize;
		uint64_t least = BASE_MIN(p->quota->floor_bytes, all / 10);
		if (left < least + p->place_bytes) {
			return false;
		}
	}
	uint64_t before = order_add_relaxed(&p->quota->used_bytes, (uint64_t)p->place_bytes);
	if (before + p->place_bytes > p->quota->limit_bytes) {
		give(p, 1);
		return false;
	}
	return true;
}

/* With the lock held, which is let go while the disk works: nothing is in the file. It begins again at its first
 * place, and has none. */
static void restart(struct sink_spool *p)
{
	p->first = p->read = p->next = (p->next + p->places - 1) / p->places * p->places;
	if (p->extent == 0) {
		return;
	}
	pthread_mutex_unlock(&p->lock);
	int err = ftruncate(p->fd, 0) < 0 ? -errno : 0;
	give(p, p->extent);
	p->extent = 0;
	pthread_mutex_lock(&p->lock);
	p->error = err < 0 ? err : p->error; /* it is written over, then */
}

/* The rest of the place is filler, as in any file of buffers of one size. */
static void prepare(const struct sink_spool *p, struct sink_rt_chunk *c, uint64_t sequence)
{
	struct etl_buffer_args a = {
		.buffer_size = p->place_bytes,
		.used = c->bytes,
		.flush_raw = c->last_time,
		.sequence = sequence + 1,
		.processor = c->cpu,
		.flags = ETL_BF_RTBACKUP,
	};
	etl_write_buffer_header(c->data, &a, true);
	le64_put(c->data + ETL_BH_CLOCK, p->clock);
	le64_put(c->data + ETL_BH_REFERENCE_TIME, p->start_filetime);
	le64_put(c->data + ETL_BH_REFERENCE_TIME + 8, p->start_raw);
}

/* With the lock held, which is let go while the disk works. */
static void store_one(struct sink_spool *p)
{
	struct sink_rt_chunk *c = list_pop(&p->queue);
	uint32_t generation = p->generation;
	p->busy = true; /* nothing overtakes it */
	if (p->next == p->first && !p->keep) {
		restart(p);
	}
	if (p->next - p->first == p->places) {
		uint32_t events = p->info[p->first % p->places].events;
		bool in_memory = p->read > p->first;
		p->read += !in_memory;
		p->first++;
		if (!in_memory) {
			lose(p, events);
		}
		note(p);
	}
	uint64_t number = p->next;
	pthread_mutex_unlock(&p->lock);
	int err = open_file(p);
	bool more = err == 0 && number % p->places >= p->extent;
	if (more && !take(p)) {
		err = -EDQUOT;
	} else if (err == 0) {
		p->extent += more;
		prepare(p, c, number);
		err = base_pwrite_all(p->fd, c->data, p->place_bytes, number % p->places * p->place_bytes);
	}
	pthread_mutex_lock(&p->lock);
	p->busy = false;
	p->error = err;
	if (generation != p->generation) {
		/* Nobody wants it any more. */
	} else if (err < 0) {
		p->refused_events += err == -EDQUOT || err == -ENOSPC ? c->events : 0;
		lose(p, c->events);
	} else {
		p->info[number % p->places] = (struct sink_place){c->bytes, c->events, c->last_time, c->cpu};
		/* Where both are seen it is in the file, where one is it is in memory. */
		order_store_release(&c->stored, number + 1);
		p->next++;
		note(p);
	}
	sink_chunk_free(p->keep, c);
}

static void load_one(struct sink_spool *p)
{
	uint64_t number = p->read;
	struct sink_place at = p->info[number % p->places];
	uint32_t generation = p->generation;
	p->busy = true;
	pthread_mutex_unlock(&p->lock);
	struct sink_rt_chunk *c = at.bytes > ETL_BUFFER_HEADER_SIZE && at.bytes <= p->place_bytes
					  ? sink_chunk_new(NULL, p->place_bytes)
					  : NULL;
	int err = open_file(p);
	err = err < 0 ? err
	      : c     ? base_pread_all(p->fd, c->data, at.bytes, number % p->places * p->place_bytes)
		      : -ENOMEM;
	pthread_mutex_lock(&p->lock);
	p->busy = false;
	if (generation != p->generation) {
		free(c);
		return;
	}
	bool gone = p->read != number; /* its place was needed meanwhile, and that was counted */
	if (gone) {
		free(c);
		return;
	}
	p->read++;
	if (!p->keep || err < 0) {
		p->first = p->read;
		note(p);
	}
	if (err < 0) {
		p->error = err;
		lose(p, at.events);
		free(c);
		return;
	}
	c->number = number + 1;
	c->last_time = at.last_time;
	c->bytes = at.bytes;
	c->cap = at.bytes; /* nothing is added any more */
	c->events = at.events;
	c->cpu = (uint16_t)at.cpu;
	list_push(&p->ready, c);
}

static void *thread_main(void *arg)
{
	struct sink_spool *p = arg;
	pthread_setname_np(pthread_self(), "etw-spool");
	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		bool wanted = p->reading && p->ready.count < READY_MAX;
		if (wanted && p->read < p->next) {
			load_one(p);
		} else if (wanted && p->queue.count > 0) {
			list_push(&p->ready, list_pop(&p->queue));
		} else if (p->queue.count > 0) {
			store_one(p);
		} else if (p->extent > 0 && p->first == p->next && !p->keep) {
			restart(p); /* the disk is there for others */
		} else {
			pthread_cond_wait(&p->wake, &p->lock);
		}
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- producer --------------------------------------------------------------------------------- */

static void free_list(struct sink_spool *p, struct sink_rt_list *l)
{
	struct sink_rt_chunk *c;
	while ((c = list_pop(l)) != NULL) {
		sink_chunk_free(p->keep, c);
	}
}

/* Those that outlive the process stay where they are. */
static void leave_list(struct sink_rt_list *l)
{
	struct sink_rt_chunk *c;
	while ((c = list_pop(l)) != NULL) {
		if (c->entry == 0) {
			free(c);
		}
	}
}

static void free_spool(struct sink_spool *p)
{
	leave_list(&p->queue);
	leave_list(&p->ready);
	give(p, p->extent);
	base_close(&p->fd);
	if (!p->keep) {
		free(p->info);
	}
	free(p->path);
	free(p);
}

uint64_t sink_spool_places(const struct sink *s)
{
	return BASE_MAX(s->options.spool_bytes / s->buffer_bytes, (uint64_t)PLACES_LEAST);
}

uint64_t sink_spool_clock(const struct sink *s)
{
	const struct etl_header_args *h = &s->identity.header;
	return (h->clock_type & 7) | h->perf_freq << 3;
}

int sink_spool_create(const struct sink *s, struct sink_spool **ret)
{
	const struct sink_options *o = &s->options;
	const struct etl_header_args *h = &s->identity.header;
	struct sink_spool *p = calloc(1, sizeof *p);
	if (!p) {
		return -ENOMEM;
	}
	p->fd = -1;
	p->place_bytes = s->buffer_bytes;
	p->places = sink_spool_places(s);
	p->clock = sink_spool_clock(s);
	p->keep = s->keep;
	p->quota = o->spool_quota;
	p->start_filetime = h->start_filetime;
	p->start_raw = h->start_raw;
	p->queue_most = BASE_MAX(o->props.maximum_buffers, QUEUE_BYTES / s->buffer_bytes);
	p->path = strdup(o->spool_path);
	if (p->keep) {
		const struct sink_keep_head *k = sink_keep_head(p->keep);
		p->info = sink_keep_places(p->keep);
		p->places = k->spool_places; /* of the file that is there */
		p->first = p->read = k->first;
		p->next = k->next;
		p->lost_events = k->spool_lost_events;
		p->lost_buffers = k->spool_lost_buffers;
	} else {
		p->info = calloc(p->places, sizeof *p->info);
	}
	if (!p->path || !p->info) {
		free_spool(p);
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	int err = quiet_thread_start(&p->thread, thread_main, p);
	if (err < 0) {
		free_spool(p);
		return err;
	}
	*ret = p;
	return 0;
}

void sink_spool_put(struct sink_spool *p, struct sink_rt_chunk *c)
{
	pthread_mutex_lock(&p->lock);
	if (p->queue.count >= p->queue_most) {
		lose(p, c->events); /* the disk is far behind */
		sink_chunk_free(p->keep, c);
	} else {
		list_push(&p->queue, c);
		pthread_cond_signal(&p->wake);
	}
	pthread_mutex_unlock(&p->lock);
}

enum sink_spool_state sink_spool_take(struct sink_spool *p, struct sink_rt_chunk **ret)
{
	enum sink_spool_state r = SINK_SPOOL_EMPTY;
	pthread_mutex_lock(&p->lock);
	*ret = list_pop(&p->ready);
	bool more = p->busy || p->read < p->next || p->queue.count > 0;
	if (*ret) {
		r = SINK_SPOOL_ONE;
	} else if (more) {
		r = SINK_SPOOL_WAIT;
	}
	p->reading = *ret != NULL || more;
	if (more && p->ready.count < READY_MAX) {
		pthread_cond_signal(&p->wake);
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

void sink_spool_return(struct sink_spool *p, struct sink_rt_chunk *c)
{
	pthread_mutex_lock(&p->lock);
	c->next = p->ready.head;
	p->ready.head = c;
	p->ready.tail = p->ready.tail ? p->ready.tail : c;
	p->ready.count++;
	p->reading = false; /* nobody has room */
	pthread_mutex_unlock(&p->lock);
}

void sink_spool_delivered(struct sink_spool *p, struct sink_rt_chunk *c)
{
	pthread_mutex_lock(&p->lock);
	if (c->number > p->first) {
		p->first = c->number;
		note(p);
	}
	pthread_mutex_unlock(&p->lock);
	sink_chunk_free(p->keep, c);
}

void sink_spool_losses(struct sink_spool *p, uint64_t *inout_events, uint64_t *inout_buffers, uint64_t *ret_refused)
{
	pthread_mutex_lock(&p->lock);
	*ret_refused = p->refused_events;
	*inout_events += p->lost_events;
	*inout_buffers += p->lost_buffers;
	pthread_mutex_unlock(&p->lock);
}

void sink_spool_clear(struct sink_spool *p)
{
	pthread_mutex_lock(&p->lock);
	free_list(p, &p->queue);
	free_list(p, &p->ready);
	p->first = p->read = p->next;
	p->reading = false;
	p->generation++;
	note(p);
	pthread_mutex_unlock(&p->lock);
}

void sink_spool_destroy(struct sink_spool *p, bool keep)
{
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	if (!keep && (p->fd >= 0 || p->keep)) {
		unlink(p->path);
	}
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free_spool(p);
}

void sink_spool_forget(struct sink_spool *p)
{
	free_spool(p);
}
