/* SPDX-License-Identifier: MIT */
#include "sink/sink_keep.h"
#include "base/file.h"

#include "etl/etl_record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define KEEP_MAGIC   0x4B525445u /* "ETRK" */
#define KEEP_VERSION 1u
#define PAGE         4096u
#define ENTRIES_MAX  (1u << 20)
#define PLACES_MAX   (1u << 24)

struct sink_keep {
	char *path;
	int fd;
	uint8_t *map;
	uint64_t bytes, entries_at;
	uint32_t stride, entries;
	uint32_t look; /* where the next free place is likely */
};

struct shape {
	uint64_t entries_at, bytes;
	uint32_t stride;
};

static struct shape shape_of(uint32_t buffer_bytes, uint32_t entries, uint64_t spool_places)
{
	struct shape s;
	uint64_t head = sizeof(struct sink_keep_head) + spool_places * sizeof(struct sink_place);
	s.entries_at = (head + PAGE - 1) / PAGE * PAGE;
	s.stride = (uint32_t)((sizeof(struct sink_rt_chunk) + buffer_bytes + PAGE - 1) / PAGE * PAGE);
	s.bytes = s.entries_at + (uint64_t)s.stride * entries;
	return s;
}

static void boot_id(uint8_t out[16])
{
	memset(out, 0, 16);
	char text[40];
	(void)file_read_start("/proc/sys/kernel/random/boot_id", text, sizeof text);
	for (unsigned i = 0, at = 0; text[i] && at < 32; i++) {
		unsigned c = (unsigned char)text[i] | 0x20;
		unsigned v = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : 16;
		if (v < 16) {
			out[at / 2] = (uint8_t)(out[at / 2] << 4 | v);
			at++;
		}
	}
}

/* ---- what an earlier process left ------------------------------------------------------------- */

static int compare_order(const void *pa, const void *pb)
{
	const struct sink_rt_chunk *const *a = pa, *const *b = pb;
	return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

/* Its records counted anew: the process may have ended between the record and the count of it. */
static bool recount(struct sink_rt_chunk *c, uint32_t most)
{
	struct etl_record_head h;
	uint32_t at = ETL_BUFFER_HEADER_SIZE;
	if (c->bytes <= at || c->bytes > most) {
		return false;
	}
	c->events = 0;
	while (at < c->bytes && etl_record_peek(c->data, c->bytes, at, &h, NULL) == 1) {
		c->events++;
		c->last_time = h.time_raw;
		at = etl_record_after(&h);
	}
	c->bytes = BASE_MIN(at, c->bytes);
	return c->events > 0;
}

/* Copies on the heap, in order. */
static int collect(const uint8_t *map, const struct sink_keep_head *h, const struct shape *shape,
		   struct sink_keep_found *found)
{
	struct sink_rt_chunk **list = calloc(h->entries, sizeof *list);
	uint32_t n = 0;
	if (!list) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < h->entries; i++) {
		const struct sink_rt_chunk *old = (const void *)(map + shape->entries_at + (uint64_t)i * shape->stride);
		/* Stored, and its place known as stored: then it is in the file. */
		if (old->order == 0 || (old->stored != 0 && old->stored <= h->next) || old->bytes > h->buffer_bytes) {
			continue;
		}
		struct sink_rt_chunk *c = malloc(sizeof *c + h->buffer_bytes);
		if (!c) {
			found->lost_buffers++;
			found->lost_events += old->events;
			continue;
		}
		memcpy(c, old, sizeof *c + old->bytes);
		c->cap = h->buffer_bytes;
		c->entry = 0;
		c->stored = 0;
		if (recount(c, h->buffer_bytes)) {
			list[n++] = c;
		} else {
			free(c);
		}
	}
	qsort(list, n, sizeof *list, compare_order);
	for (uint32_t i = 0; i < n; i++) {
		list[i]->next = NULL;
		if (found->entries.tail) {
			found->entries.tail->next = list[i];
		} else {
			found->entries.head = list[i];
		}
		found->entries.tail = list[i];
		found->entries.count++;
		found->waiting_events += list[i]->events;
	}
	free(list);
	return 0;
}

/* The frequency is measured anew by each process. */
static bool same_clock(uint64_t a, uint64_t b)
{
	uint64_t fa = a >> 3, fb = b >> 3;
	return (a & 7) == (b & 7) && (fa > fb ? fa - fb : fb - fa) <= fa / 1000;
}

struct left {
	struct sink_keep_head head;
	struct sink_place *place; /* heap, [head.spool_places] */
};

/* 0 also when there is nothing to be had. */
static int read_left(int fd, uint32_t buffer_bytes, uint64_t clock, const uint8_t boot[16], struct left *left,
		     struct sink_keep_found *found)
{
	struct stat st;
	struct sink_keep_head *h = &left->head;
	memset(h, 0, sizeof *h);
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		return -EPERM;
	}
	if (pread(fd, h, sizeof *h, 0) != (ssize_t)sizeof *h || h->magic != KEEP_MAGIC || h->version != KEEP_VERSION ||
	    h->entries > ENTRIES_MAX || h->spool_places > PLACES_MAX || h->buffer_bytes < 4096 ||
	    h->buffer_bytes > (16u << 20)) {
		memset(h, 0, sizeof *h);
		return 0;
	}
	struct shape shape = shape_of(h->buffer_bytes, h->entries, h->spool_places);
	if ((uint64_t)st.st_size != shape.bytes || h->first > h->next || h->next - h->first > h->spool_places) {
		memset(h, 0, sizeof *h);
		return 0;
	}
	const uint8_t *map = mmap(NULL, shape.bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		return -errno;
	}
	found->lost_events = h->tap_lost_events + h->spool_lost_events;
	found->lost_buffers = h->tap_lost_buffers + h->spool_lost_buffers;
	int err = collect(map, h, &shape, found);
	left->place = calloc(h->spool_places ? h->spool_places : 1, sizeof *left->place);
	if (err == 0 && !left->place) {
		err = -ENOMEM;
	}
	if (err == 0) {
		memcpy(left->place, map + sizeof *h, h->spool_places * sizeof *left->place);
	}
	munmap((void *)map, shape.bytes);
	/* Times of another life of the machine, or of another clock, cannot be told any more. */
	bool foreign = !same_clock(h->clock, clock) || memcmp(h->boot, boot, 16) != 0;
	struct sink_rt_chunk *c;
	while (err == 0 && (foreign || h->buffer_bytes > buffer_bytes) && (c = found->entries.head) != NULL) {
		found->entries.head = c->next;
		found->lost_events += c->events;
		found->lost_buffers++;
		free(c);
	}
	if (err == 0 && (foreign || h->buffer_bytes > buffer_bytes)) {
		found->entries = (struct sink_rt_list){0};
		found->waiting_events = 0;
	}
	for (uint64_t n = h->first; err == 0 && n < h->next; n++) {
		const struct sink_place *p = &left->place[n % h->spool_places];
		if (foreign || h->buffer_bytes != buffer_bytes) {
			found->lost_events += p->events;
			found->lost_buffers++;
		} else {
			found->waiting_events += p->events;
		}
	}
	if (foreign || h->buffer_bytes != buffer_bytes) {
		h->first = h->next = 0;
	}
	return err;
}

/* ---- open ------------------------------------------------------------------------------------- */

static struct sink_rt_chunk *entry_at(const struct sink_keep *k, uint32_t i)
{
	return (struct sink_rt_chunk *)(k->map + k->entries_at + (uint64_t)i * k->stride);
}

struct sink_keep_head *sink_keep_head(struct sink_keep *k)
{
	return (struct sink_keep_head *)k->map;
}

struct sink_place *sink_keep_places(struct sink_keep *k)
{
	return (struct sink_place *)(k->map + sizeof(struct sink_keep_head));
}

struct sink_rt_chunk *sink_chunk_new(struct sink_keep *k, uint32_t buffer_bytes)
{
	struct sink_rt_chunk *c = NULL;
	for (uint32_t i = 0; k && i < k->entries && !c; i++) {
		uint32_t at = (k->look + i) % k->entries;
		struct sink_rt_chunk *e = entry_at(k, at);
		/* Room first: a place without memory behind it would end the process. */
		if (order_load_acquire(&e->order) == 0 &&
		    fallocate(k->fd, 0, (off_t)(k->entries_at + (uint64_t)at * k->stride), k->stride) == 0) {
			k->look = (at + 1) % k->entries;
			c = e;
			c->entry = at + 1;
		} else if (e->order == 0) {
			break; /* no memory */
		}
	}
	if (!c) {
		c = malloc(sizeof *c + buffer_bytes);
		if (!c) {
			return NULL;
		}
		c->entry = 0;
	}
	c->next = NULL;
	c->last_time = 0;
	c->bytes = ETL_BUFFER_HEADER_SIZE;
	c->cap = buffer_bytes;
	c->events = 0;
	c->cpu = 0;
	c->stored = c->number = 0;
	order_store_release(&c->order, k ? ++sink_keep_head(k)->order : 0);
	return c;
}

void sink_chunk_free(struct sink_keep *k, struct sink_rt_chunk *c)
{
	if (k && c->entry != 0) {
		order_store_release(&c->order, 0);
	} else {
		free(c);
	}
}

/* The new file beside the old one, which it replaces when everything is in it. */
static int make(struct sink_keep *k, uint32_t buffer_bytes, uint64_t spool_places, uint64_t clock,
		const uint8_t boot[16], const struct left *left, struct sink_keep_found *found)
{
	char next[4300];
	struct shape shape = shape_of(buffer_bytes, k->entries, spool_places);
	snprintf(next, sizeof next, "%s.new", k->path);
	unlink(next);
	int fd = open(next, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	int err = flock(fd, LOCK_EX | LOCK_NB) < 0 || ftruncate(fd, (off_t)shape.bytes) < 0 ? -errno : 0;
	if (err == 0 && fallocate(fd, 0, 0, (off_t)shape.entries_at) < 0) {
		err = -errno;
	}
	if (err == 0) {
		k->map = mmap(NULL, shape.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = k->map == MAP_FAILED ? -errno : 0;
	}
	if (err < 0) {
		k->map = NULL;
		unlink(next);
		close(fd);
		return err;
	}
	base_close(&k->fd);
	k->fd = fd;
	k->bytes = shape.bytes;
	k->entries_at = shape.entries_at;
	k->stride = shape.stride;
	struct sink_keep_head *h = sink_keep_head(k);
	*h = (struct sink_keep_head){
		.magic = KEEP_MAGIC,
		.version = KEEP_VERSION,
		.buffer_bytes = buffer_bytes,
		.entries = k->entries,
		.spool_places = spool_places,
		.clock = clock,
		.tap_lost_events = found->lost_events,
		.tap_lost_buffers = found->lost_buffers,
	};
	memcpy(h->boot, boot, 16);
	struct sink_place *place = sink_keep_places(k);
	if (left->head.next > left->head.first) {
		/* Numbers go on; a ring of another length would put them elsewhere. */
		h->first = left->head.first;
		h->next = left->head.next;
		memcpy(place, left->place, spool_places * sizeof *place);
	}
	struct sink_rt_list old = found->entries;
	found->entries = (struct sink_rt_list){0};
	while (old.head) {
		struct sink_rt_chunk *from = old.head, *c = sink_chunk_new(k, buffer_bytes);
		old.head = from->next;
		if (!c) { /* then the heap's own */
			c = from;
		} else {
			memcpy(c->data, from->data, from->bytes);
			c->last_time = from->last_time;
			c->events = from->events;
			c->cpu = from->cpu;
			c->bytes = from->bytes;
			free(from);
		}
		c->next = NULL;
		if (found->entries.tail) {
			found->entries.tail->next = c;
		} else {
			found->entries.head = c;
		}
		found->entries.tail = c;
		found->entries.count++;
	}
	return rename(next, k->path) < 0 ? -errno : 0;
}

int sink_keep_open(const char *path, uint32_t buffer_bytes, uint32_t entries, uint64_t spool_places, uint64_t clock,
		   struct sink_keep **ret, struct sink_keep_found *ret_found)
{
	uint8_t boot[16];
	struct left left = {.place = NULL};
	struct sink_keep *k = calloc(1, sizeof *k);
	*ret_found = (struct sink_keep_found){0};
	if (!k) {
		return -ENOMEM;
	}
	boot_id(boot);
	k->entries = BASE_MIN(entries, ENTRIES_MAX);
	k->path = strdup(path);
	k->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int err = !k->path ? -ENOMEM : k->fd < 0 || flock(k->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	if (err == 0) {
		err = read_left(k->fd, buffer_bytes, clock, boot, &left, ret_found);
	}
	if (err == 0 && left.head.next > left.head.first && left.head.spool_places != spool_places) {
		spool_places = left.head.spool_places;
	}
	if (err == 0) {
		err = make(k, buffer_bytes, spool_places, clock, boot, &left, ret_found);
	}
	free(left.place);
	if (err < 0) {
		struct sink_rt_chunk *c;
		while ((c = ret_found->entries.head) != NULL) {
			ret_found->entries.head = c->next;
			sink_chunk_free(k->map ? k : NULL, c);
		}
		*ret_found = (struct sink_keep_found){0};
		sink_keep_close(k, false);
		return err;
	}
	*ret = k;
	return 0;
}

void sink_keep_close(struct sink_keep *k, bool remove)
{
	if (remove) {
		unlink(k->path);
	}
	if (k->map) {
		munmap(k->map, k->bytes);
	}
	base_close(&k->fd);
	free(k->path);
	free(k);
}
