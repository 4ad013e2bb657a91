/* SPDX-License-Identifier: MIT
 *
 * Several threads read stretches of the trace; whoever has read the one that comes next takes it, and those behind it that
 * are there. So what is made does not depend on how many they are.
 */
#include "query/query_stays.h"

#include "base/quiet_thread.h"
#include "query/query_companion.h"
#include "query/query_reading.h"
#include "query/query_stays_read.h"

#include <stdlib.h>
#include <unistd.h>

#define CPUS_MOST    65536u
#define READERS_MOST 4u /* taking is the narrow place from then on; each keeps some buffers of the trace */
#define SLOTS        (READERS_MOST + 1u)
#define GROUPS_MOST  8u /* of a stretch */
#define STRETCHES    64u

struct slot {
	struct said_list said;
	bool full;
};
struct stays_begun {
	struct openetw_query *q; /* that asks for it now */
	uint32_t file;
	const struct store *store;
	struct reading *reading; /* of the asking thread; it has the machine that `known` asks */
	struct stays_known *known;
	struct lane_writer *writer;
	struct stays_taker *taker;
	uint32_t readers, groups, stretches; /* groups of a stretch */
	struct companion_begun begun;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: */
	struct slot slots[SLOTS];
	uint32_t next_read, next_take; /* stretches */
	bool taking;
	int err;
	uint64_t decoded;
};
struct helper {
	struct stays_begun *m;
	struct reading *reading;
	struct stays_reader *reader;
	pthread_t thread;
	bool started;
};

/* ---- work ----------------------------------------------------------------------------------------- */

static int read_stretch(const struct stays_begun *m, struct stays_reader *r, uint32_t stretch, struct said_list *ret)
{
	uint32_t first = stretch * m->groups, end = BASE_MIN(first + m->groups, m->store->group_count);
	int err = 0;
	ret->count = 0;
	ret->decoded = 0;
	for (uint32_t g = first; g < end && err == 0; g++) {
		err = question_cancelled(m->q)         ? -ECANCELED
		      : stays_known_group(m->known, g) ? stays_read_group(r, g, ret)
						       : 0;
	}
	return err;
}

static int take_stretch(const struct stays_begun *m, const struct said_list *l)
{
	int err = 0;
	for (uint32_t i = 0; i < l->count && err == 0; i++) {
		err = stays_take(m->taker, &l->list[i]);
	}
	return err < 0 ? err : lane_write_flush(m->writer);
}

static void take_next(struct stays_begun *m)
{
	struct slot *s = &m->slots[m->next_take % SLOTS];
	m->taking = true;
	pthread_mutex_unlock(&m->lock);
	int err = take_stretch(m, &s->said);
	pthread_mutex_lock(&m->lock);
	m->decoded += s->said.decoded;
	s->full = m->taking = false;
	m->next_take++;
	m->err = m->err < 0 ? m->err : err;
	pthread_cond_broadcast(&m->changed);
}

static void read_next(struct stays_begun *m, struct stays_reader *r)
{
	uint32_t stretch = m->next_read++;
	struct slot *s = &m->slots[stretch % SLOTS];
	pthread_mutex_unlock(&m->lock);
	int err = read_stretch(m, r, stretch, &s->said);
	pthread_mutex_lock(&m->lock);
	s->full = true;
	m->err = m->err < 0 ? m->err : err;
	pthread_cond_broadcast(&m->changed);
}

/* The asking thread tells how far it is. */
static void tell(struct stays_begun *m)
{
	m->q->done = (uint64_t)m->next_take * m->groups;
	m->q->groups = m->store->group_count;
	pthread_mutex_unlock(&m->lock);
	question_tell(m->q);
	pthread_mutex_lock(&m->lock);
}

static void work(struct stays_begun *m, struct stays_reader *r, bool asks)
{
	pthread_mutex_lock(&m->lock);
	for (;;) {
		if (asks) {
			tell(m); /* without the lock: so it comes before all that is looked at */
		}
		if (m->err < 0 || m->next_take == m->stretches) {
			break;
		}
		if (!m->taking && m->slots[m->next_take % SLOTS].full) {
			take_next(m);
		} else if (m->next_read < m->stretches && m->next_read < m->next_take + m->readers + 1) {
			read_next(m, r);
		} else {
			pthread_cond_wait(&m->changed, &m->lock);
		}
	}
	pthread_mutex_unlock(&m->lock);
}

static void *help(void *arg)
{
	struct helper *h = arg;
	work(h->m, h->reader, false);
	return NULL;
}

static int run(struct stays_begun *m)
{
	struct helper h[READERS_MOST] = {0};
	int err = 0;
	for (uint32_t i = 0; i < m->readers && err == 0; i++) {
		h[i].m = m;
		h[i].reading = i == 0 ? m->reading : reading_make(m->q->x);
		h[i].reader = h[i].reading ? stays_reader_create(h[i].reading, m->file, m->known) : NULL;
		err = h[i].reader ? 0 : -ENOMEM;
	}
	for (uint32_t i = 1; i < m->readers && err == 0; i++) {
		h[i].started = quiet_thread_start(&h[i].thread, help, &h[i]) == 0;
	}
	if (err == 0) {
		work(m, h[0].reader, true);
	}
	for (uint32_t i = 0; i < m->readers; i++) {
		if (h[i].started) {
			pthread_join(h[i].thread, NULL);
		}
		stays_reader_free(h[i].reader);
		reading_free(i ? h[i].reading : NULL);
	}
	m->q->answer.decoded += m->decoded;
	return err < 0 ? err : m->err;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

/* What is made of the rows, not where it is written. */
static int know(struct stays_begun *m)
{
	struct machine *machine;
	if (m->known) {
		return 0;
	}
	m->reading = m->reading ? m->reading : reading_make(m->q->x);
	int err = m->reading ? reading_machine(m->reading, m->file, &machine) : -ENOMEM;
	return err < 0 ? err : stays_known_create(m->store, machine, &m->known);
}

static int begin(struct stays_begun *m, int fd, const char *directory, uint64_t bytes_most)
{
	uint32_t cpus = BASE_MIN(m->store->about->processors, CPUS_MOST);
	const struct lane_writer_options o = {
		.index = m->store, .cpus = cpus, .directory = directory, .bytes_most = bytes_most};
	int err = lane_writer_create(fd, &o, &m->writer);
	if (err == 0) {
		m->taker = stays_taker_create(m->writer, m->store->thread_count, cpus);
		err = m->taker ? 0 : -ENOMEM;
	}
	m->next_take = 0;
	return err;
}

static void end(struct stays_begun *m)
{
	stays_taker_destroy(m->taker);
	lane_writer_destroy(m->writer);
	m->taker = NULL;
	m->writer = NULL;
	for (uint32_t i = 0; i < SLOTS; i++) {
		free(m->slots[i].said.list);
		m->slots[i] = (struct slot){0};
	}
}

static int make(void *context, int fd, const char *directory, uint64_t bytes_most)
{
	struct stays_begun *m = context;
	int err = know(m);
	if (err == 0 && !m->writer) {
		err = begin(m, fd, directory, bytes_most);
	}
	/* What was read and not taken when it was cancelled is read again. */
	for (uint32_t i = 0; i < SLOTS; i++) {
		m->slots[i].full = false;
	}
	m->next_read = m->next_take;
	m->err = 0;
	m->decoded = 0;
	err = err < 0 ? err : run(m);
	if (err != -ECANCELED) {
		err = err < 0 ? err : stays_take_end(m->taker);
		err = err < 0 ? err : lane_write_end(m->writer);
		end(m);
	}
	return err;
}

static int take_file(void *context, int fd, void *ret)
{
	const struct stays_begun *m = context;
	struct diag d = {0};
	return lane_file_open(fd, m->store, ret, &d);
}

static struct stays_begun *begun_of(struct openetw_query *q, uint32_t file)
{
	struct stays_begun *m = (struct stays_begun *)(uintptr_t)kept_there(q, file, KEPT_STAYS_BEGUN);
	m = m ? m : calloc(1, sizeof *m);
	if (!m) {
		return NULL;
	}
	if (!m->store) {
		pthread_mutex_init(&m->lock, NULL);
		pthread_cond_init(&m->changed, NULL);
	}
	m->file = file;
	m->store = &q->x->files[file].store;
	m->q = q;
	m->groups = BASE_MAX(1, BASE_MIN(m->store->group_count / STRETCHES, GROUPS_MOST));
	m->stretches = (m->store->group_count + m->groups - 1) / m->groups;
	m->readers = BASE_MAX(1, BASE_MIN(BASE_MIN(q->threads, READERS_MOST), m->stretches));
	return m;
}

void stays_begun_free(struct stays_begun *m)
{
	if (m) {
		end(m);
		companion_begun_end(&m->begun);
		stays_known_free(m->known);
		reading_free(m->reading);
		pthread_cond_destroy(&m->changed);
		pthread_mutex_destroy(&m->lock);
		free(m);
	}
}

static int make_one(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	const struct index_file *f = &q->x->files[file];
	struct stays *s = calloc(1, sizeof *s);
	struct stays_begun *m = s ? begun_of(q, file) : NULL;
	if (!m) {
		free(s);
		return -ENOMEM;
	}
	/* A file that says that there is nothing is not worth its name. */
	const char *path = stays_are_told(m->store) ? f->lanes_path : NULL;
	const struct companion c = {
		.path = path, .what = "lanes", .begun = &m->begun, .make = make, .take = take_file, .context = m};
	int err = companion_of(f, &c, inout_bytes, s);
	bool goes_on = err == -ECANCELED;
	kept_leave(q, file, KEPT_STAYS_BEGUN, goes_on ? m : NULL);
	if (!goes_on) {
		stays_begun_free(m);
	}
	if (err < 0) {
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

void stays_free(struct stays *s)
{
	if (s) {
		lane_file_close(s);
		free(s);
	}
}

int stays_of(struct openetw_query *q, uint32_t file, const struct stays **ret)
{
	const void *kept;
	int err = kept_of(q, file, KEPT_STAYS, make_one, &kept);
	if (err == 0) {
		*ret = kept;
		q->answer.partial = q->answer.partial || (*ret)->cut;
	}
	return err;
}
