/* SPDX-License-Identifier: MIT
 *
 * For tests: a daemon small enough to believe. A thread with a descriptor table of its own that
 * listens in a temporary runtime directory, hands out memory, records what it hears, and drains
 * with src/pool. What it does not do: sessions, files, access control. A header, because a .c here
 * would go into the library.
 */
#ifndef PROVIDER_FAKE_ETWD_H
#define PROVIDER_FAKE_ETWD_H

#include "base/order.h"
#include "pool/pool.h"
#include "proto/proto.h"

#include <pthread.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#define FAKE_PEERS  8
#define FAKE_REGS   1024
#define FAKE_EVENTS 4096

#define FAKE_CTL_BYTES (2u << 20)
#define FAKE_TABLE     (sizeof(struct filter_table) + 8 * sizeof(struct filter_row))

#define FAKE_CAPTURE_LEVEL 6u
struct fake_reg {
	bool used;
	struct guid guid;
	uint32_t offset; /* of the entry */
	uint32_t flags;
	uint32_t generation;
	uint8_t traits[512];
	size_t traits_bytes;
};
struct fake_peer {
	int fd; /* in the daemon's table; -1 closed */
	char exe[64];
	uint8_t *ctl;
	uint8_t *seg;
	uint64_t seg_bytes;
	struct pool_view *view;
	uint32_t ctl_next;
	struct fake_reg reg[FAKE_REGS];
};
/* What a GUID is enabled with: answers to later registrations carry it too. */
struct fake_enable {
	struct guid guid;
	struct filter_row row[8];
	uint32_t rows; /* 0 = off */
	uint64_t classic_handle;
};
struct fake_event {
	struct pool_rec rec;
	int peer;
	bool has_activity;
	uint8_t activity[16];
	uint8_t *items;
	uint32_t items_bytes;
	uint8_t *payload;
	uint32_t payload_bytes;
};

struct fake_etwd {
	char dir[64];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int listener;
	uint32_t *wait_page;
	bool stop;
	const struct fake_order *order; /* what the test wants sent; NULL when done */
	bool silent;                    /* accept and say nothing */
	uint32_t chunk_size;
	uint32_t ctl_flags;
	uint32_t peers; /* ever accepted */
	struct fake_peer *peer[FAKE_PEERS];
	struct fake_enable enable[16];
	uint32_t enables;
	uint32_t next_notify;
	uint32_t notified, bells, registers, unregisters, binary_tracks;
	char binary_path[512];
	struct fake_event *event;
	uint32_t events;
};

/* The sockets' numbers mean something only in the daemon's descriptor table: tests ask its thread.
 */
struct fake_order {
	const struct guid *guid;
	const struct fake_enable *enable;
	uint32_t code; /* 0, 1, 2; 3 = growth segment */
	const void *filter;
	size_t filter_bytes;
	uint32_t peer;
	uint32_t chunk_size;
};

static int fake_memory(const char *name, uint64_t bytes, uint8_t **ret)
{
	int fd = base_memfd(name, bytes);
	*ret = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || *ret == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
		abort();
	}
	return fd;
}

static void fake_reply_tags(struct proto_writer *w, const struct fake_enable *e)
{
	uint64_t any = 0, all = UINT64_MAX;
	uint32_t level = 0;
	for (uint32_t i = 0; i < e->rows; i++) {
		any |= e->row[i].any ? e->row[i].any : UINT64_MAX;
		all &= e->row[i].all;
		level = BASE_MAX(level, e->row[i].level ? e->row[i].level : 255u);
	}
	proto_put_u32(w, PROTO_TAG_CODE, e->rows ? 1 : 0);
	proto_put_u32(w, PROTO_TAG_LEVEL, level);
	proto_put_u64(w, PROTO_TAG_ANY, any);
	proto_put_u64(w, PROTO_TAG_ALL, e->rows ? all : 0);
	if (e->classic_handle) {
		proto_put_u64(w, PROTO_TAG_CLASSIC_HANDLE, e->classic_handle);
	}
}

static void fake_publish(struct fake_peer *p, struct fake_reg *r, const struct fake_enable *e)
{
	pool_ctl_publish(p->ctl, r->offset, ++r->generation, e->row, e->rows, 0);
}

static struct fake_enable *fake_enable_of(struct fake_etwd *f, const struct guid *g)
{
	for (uint32_t i = 0; i < f->enables; i++) {
		if (guid_equal(&f->enable[i].guid, g)) {
			return &f->enable[i];
		}
	}
	return NULL;
}

static void fake_on_hello(struct fake_etwd *f, struct fake_peer *p, const struct proto_message *m)
{
	proto_get_str(m, PROTO_TAG_EXE_NAME, p->exe, sizeof p->exe);
	int fds[2];
	fds[0] = fake_memory("ctl", FAKE_CTL_BYTES, &p->ctl);
	p->seg_bytes = pool_segment_bytes(f->chunk_size);
	fds[1] = fake_memory("seg", p->seg_bytes, &p->seg);
	struct ctl_header *h = (struct ctl_header *)(void *)p->ctl;
	h->magic = POOL_CTL_MAGIC;
	h->abi_major = POOL_ABI_MAJOR;
	h->size = FAKE_CTL_BYTES;
	h->clock_kind = clock_kind();
	h->flags = f->ctl_flags;
	p->ctl_next = sizeof *h;
	uint8_t id[16] = {1};
	pool_segment_init(p->seg, f->chunk_size, id);
	pool_view_create(p, &p->view);
	pool_view_add_segment(p->view, p->seg, p->seg_bytes);
	pool_view_set_limits(p->view, &(struct pool_limits){FAKE_REGS});
	uint8_t buf[256];
	struct proto_writer w;
	proto_begin(&w, buf, sizeof buf, PROTO_WELCOME | PROTO_REPLY, m->id);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_CHUNK_SIZE, f->chunk_size);
	proto_send(p->fd, buf, (size_t)proto_end(&w), fds, 2);
	close(fds[0]);
	close(fds[1]);
}

static void fake_on_register(struct fake_etwd *f, struct fake_peer *p, const struct proto_message *m)
{
	uint32_t index = 0;
	proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index);
	struct fake_reg *r = &p->reg[index % FAKE_REGS];
	*r = (struct fake_reg){.used = true, .offset = p->ctl_next};
	proto_get_guid(m, PROTO_TAG_GUID, &r->guid);
	proto_get_u32(m, PROTO_TAG_REG_FLAGS, &r->flags);
	const uint8_t *t;
	if (proto_get(m, PROTO_TAG_TRAITS, &t, &r->traits_bytes) && r->traits_bytes <= sizeof r->traits) {
		memcpy(r->traits, t, r->traits_bytes);
	}
	struct ctl_entry *e = (struct ctl_entry *)(void *)(p->ctl + r->offset);
	e->table[0] = r->offset + 64;
	e->table[1] = r->offset + 64 + FAKE_TABLE;
	p->ctl_next += (64 + 2 * FAKE_TABLE + 63) & ~63u;
	uint8_t buf[256];
	struct proto_writer w;
	proto_begin(&w, buf, sizeof buf, PROTO_REGISTER | PROTO_REPLY, m->id);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_ENTRY_OFFSET, r->offset);
	const struct fake_enable *en = fake_enable_of(f, &r->guid);
	if (en && en->rows) {
		fake_publish(p, r, en);
		fake_reply_tags(&w, en);
		proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, ++f->next_notify);
	}
	f->registers++;
	proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
}

static void fake_on_message(struct fake_etwd *f, struct fake_peer *p, const struct proto_message *m)
{
	uint32_t index = 0;
	proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index);
	struct fake_reg *r = &p->reg[index % FAKE_REGS];
	uint8_t buf[64];
	struct proto_writer w;
	const uint8_t *t;
	size_t n;
	switch (m->type) {
	case PROTO_HELLO: fake_on_hello(f, p, m); break;
	case PROTO_REGISTER: fake_on_register(f, p, m); break;
	case PROTO_UNREGISTER:
		r->used = false;
		f->unregisters++;
		proto_begin(&w, buf, sizeof buf, PROTO_UNREGISTER | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		break;
	case PROTO_TRAITS:
		if (proto_get(m, PROTO_TAG_TRAITS, &t, &n) && n <= sizeof r->traits) {
			memcpy(r->traits, t, n);
			order_store_release(&r->traits_bytes, n); /* the test waits for it */
		}
		proto_begin(&w, buf, sizeof buf, PROTO_TRAITS | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		break;
	case PROTO_ADOPT:
		proto_begin(&w, buf, sizeof buf, PROTO_ADOPT | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		break;
	case PROTO_IMAGES:
		proto_begin(&w, buf, sizeof buf, PROTO_IMAGES | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		break;
	case PROTO_NOTIFIED: f->notified++; break;
	case PROTO_BELL: f->bells++; break;
	case PROTO_BINARY_TRACK:
		proto_get_str(m, PROTO_TAG_PATH, f->binary_path, sizeof f->binary_path);
		f->binary_tracks++;
		break;
	}
	pthread_cond_broadcast(&f->changed);
}

static void fake_tell(struct fake_etwd *f, const struct fake_order *o)
{
	const struct guid *g = o->guid;
	const struct fake_enable *e = o->enable;
	uint32_t code = o->code;
	for (uint32_t i = 0; i < f->peers; i++) {
		struct fake_peer *p = f->peer[i];
		for (uint32_t k = 0; k < FAKE_REGS; k++) {
			struct fake_reg *r = &p->reg[k];
			if (!r->used || !guid_equal(&r->guid, g) || p->fd < 0) {
				continue;
			}
			if (code != 2) {
				fake_publish(p, r, e);
			}
			if (!(r->flags & PROTO_REG_CALLBACK)) {
				continue;
			}
			uint8_t buf[1024];
			struct proto_writer w;
			proto_begin(&w, buf, sizeof buf, PROTO_NOTIFY, 0);
			proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, k);
			if (code == 2) {
				proto_put_u32(&w, PROTO_TAG_CODE, 2);
				proto_put_u32(&w, PROTO_TAG_LEVEL, FAKE_CAPTURE_LEVEL);
			} else {
				fake_reply_tags(&w, e);
			}
			if (o->filter) {
				proto_put(&w, PROTO_TAG_FILTER, o->filter, o->filter_bytes);
			}
			proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, ++f->next_notify);
			proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		}
	}
}

static void fake_grow_now(struct fake_etwd *f, uint32_t peer, uint32_t chunk_size)
{
	struct fake_peer *p = f->peer[peer];
	uint8_t *mem, buf[64], id[16] = {1};
	int fd = fake_memory("grow", pool_segment_bytes(chunk_size), &mem);
	pool_segment_init(mem, chunk_size, id);
	pool_view_add_segment(p->view, mem, pool_segment_bytes(chunk_size));
	struct proto_writer w;
	proto_begin(&w, buf, sizeof buf, PROTO_POOL, 0);
	proto_put_u32(&w, PROTO_TAG_CHUNK_SIZE, chunk_size);
	proto_send(p->fd, buf, (size_t)proto_end(&w), &fd, 1);
	close(fd);
}

static void fake_forget_events(struct fake_etwd *f)
{
	for (uint32_t i = 0; i < f->events; i++) {
		free(f->event[i].items);
		free(f->event[i].payload);
	}
	f->events = 0;
}

static void fake_accept(struct fake_etwd *f)
{
	int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	struct fake_peer *p = calloc(1, sizeof *p);
	if (fd < 0 || !p || f->peers == FAKE_PEERS) {
		abort();
	}
	p->fd = fd;
	f->peer[f->peers++] = p;
}

static void *fake_main(void *arg)
{
	struct fake_etwd *f = arg;
	static __thread uint8_t buf[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	/* The test closes "all" descriptors; ours must not be among them. */
	if (!BASE_THREAD_SANITIZER && unshare(CLONE_FILES) != 0) {
		abort();
	}
	for (;;) {
		struct pollfd pfd[FAKE_PEERS + 1] = {{.fd = f->listener, .events = POLLIN}};
		uint32_t n = f->peers;
		for (uint32_t i = 0; i < n; i++) {
			pfd[i + 1] = (struct pollfd){.fd = f->peer[i]->fd, .events = POLLIN};
		}
		poll(pfd, n + 1, 2);
		pthread_mutex_lock(&f->lock);
		if (f->stop) {
			for (uint32_t i = 0; i < f->peers; i++) {
				base_close(&f->peer[i]->fd);
			}
			close(f->listener);
			pthread_mutex_unlock(&f->lock);
			return NULL;
		}
		if (f->order) {
			if (f->order->code == 3) {
				fake_grow_now(f, f->order->peer, f->order->chunk_size);
			} else {
				fake_tell(f, f->order);
			}
			f->order = NULL;
			pthread_cond_broadcast(&f->changed);
		}
		if (pfd[0].revents) {
			fake_accept(f);
		}
		for (uint32_t i = 0; i < n; i++) {
			struct proto_message m;
			if (!pfd[i + 1].revents || f->silent) {
				continue;
			}
			int fds[PROTO_FDS_MAX], fd_count = PROTO_FDS_MAX;
			long got = proto_recv(f->peer[i]->fd, buf, sizeof buf, fds, &fd_count, -1);
			for (int k = 0; got > 0 && k < fd_count; k++) {
				close(fds[k]);
			}
			if (got <= 0) {
				base_close(&f->peer[i]->fd);
			} else if (proto_parse(buf, (size_t)got, &m) == 0) {
				fake_on_message(f, f->peer[i], &m);
			}
		}
		pthread_mutex_unlock(&f->lock);
	}
}

/* The directories that were made are removed when the test ends, by the process that made them. */
#define FAKE_DIRS_MAX 64
static char fake_dirs[FAKE_DIRS_MAX][64];
static uint32_t fake_dir_count;
static pid_t fake_dirs_owner;

static inline void fake_remove_dirs(void)
{
	char command[96];
	for (uint32_t i = 0; i < fake_dir_count && getpid() == fake_dirs_owner; i++) {
		snprintf(command, sizeof command, "rm -rf '%s'", fake_dirs[i]);
		(void)!system(command);
	}
}

static inline void fake_make_dir(char *ret, size_t cap)
{
	snprintf(ret, cap, "/tmp/fake-etwd-XXXXXX");
	if (!mkdtemp(ret)) {
		abort();
	}
	if (fake_dir_count == 0) {
		fake_dirs_owner = getpid();
		atexit(fake_remove_dirs);
	}
	if (fake_dir_count < FAKE_DIRS_MAX && getpid() == fake_dirs_owner) {
		snprintf(fake_dirs[fake_dir_count++], sizeof fake_dirs[0], "%s", ret);
	}
}

static inline struct fake_etwd *fake_start(const char *dir)
{
	struct fake_etwd *f = calloc(1, sizeof *f);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	f->event = calloc(FAKE_EVENTS, sizeof *f->event);
	f->chunk_size = POOL_CHUNK_MIN;
	f->ctl_flags = POOL_CTL_BELL_ALLOWED;
	if (dir) {
		snprintf(f->dir, sizeof f->dir, "%s", dir);
	} else {
		fake_make_dir(f->dir, sizeof f->dir);
	}
	setenv("OPENETW_RUNTIME_DIR", f->dir, 1);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	snprintf(addr.sun_path, sizeof addr.sun_path, "%s/provider", f->dir);
	unlink(addr.sun_path);
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(f->listener, (struct sockaddr *)&addr, sizeof addr) < 0 || listen(f->listener, 16) < 0) {
		abort();
	}
	/* As etwd does: bump the wait page, wake whoever sleeps on it. */
	char path[128];
	snprintf(path, sizeof path, "%s/wait", f->dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096) < 0) {
		abort();
	}
	f->wait_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (pthread_create(&f->thread, NULL, fake_main, f) != 0) {
		abort();
	}
	order_add_full(f->wait_page, 1u);
	syscall(SYS_futex, f->wait_page, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return f;
}

static inline void fake_kill(struct fake_etwd *f)
{
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	close(f->listener); /* this table's copies */
	for (uint32_t i = 0; i < f->peers; i++) {
		struct fake_peer *p = f->peer[i];
		pool_view_destroy(p->view);
		if (p->ctl) {
			munmap(p->ctl, FAKE_CTL_BYTES);
			munmap(p->seg, p->seg_bytes);
		}
		free(p);
	}
	fake_forget_events(f);
	munmap(f->wait_page, 4096);
	free(f->event);
	free(f);
}

static void fake_give_order(struct fake_etwd *f, const struct fake_order *o)
{
	f->order = o;
	while (f->order) {
		pthread_cond_wait(&f->changed, &f->lock);
	}
}

static inline void fake_set(struct fake_etwd *f, const struct guid *g, const struct filter_row *rows, uint32_t count,
			    uint64_t classic_handle)
{
	pthread_mutex_lock(&f->lock);
	struct fake_enable *e = fake_enable_of(f, g);
	if (!e) {
		e = &f->enable[f->enables++];
		e->guid = *g;
	}
	if (count > 0) {
		memcpy(e->row, rows, count * sizeof *rows);
	}
	e->rows = count;
	e->classic_handle = classic_handle;
	fake_give_order(f, &(struct fake_order){.guid = g, .enable = e, .code = count ? 1 : 0});
	pthread_mutex_unlock(&f->lock);
}

static inline void fake_notify(struct fake_etwd *f, const struct guid *g, uint32_t code, const void *filter,
			       size_t filter_bytes)
{
	pthread_mutex_lock(&f->lock);
	struct fake_order o = {.guid = g,
			       .enable = fake_enable_of(f, g),
			       .code = code,
			       .filter = filter,
			       .filter_bytes = filter_bytes};
	fake_give_order(f, &o);
	pthread_mutex_unlock(&f->lock);
}

static inline void fake_grow(struct fake_etwd *f, uint32_t peer, uint32_t chunk_size)
{
	pthread_mutex_lock(&f->lock);
	fake_give_order(f, &(struct fake_order){.code = 3, .peer = peer, .chunk_size = chunk_size});
	pthread_mutex_unlock(&f->lock);
}

static void fake_emit(void *ctx, const struct pool_event *ev)
{
	struct fake_etwd *f = ctx;
	if (f->events == FAKE_EVENTS) {
		return;
	}
	struct fake_event *e = &f->event[f->events++];
	*e = (struct fake_event){.rec = *ev->rec, .has_activity = ev->activity != NULL};
	for (uint32_t i = 0; i < f->peers; i++) {
		e->peer = f->peer[i] == ev->cookie ? (int)i : e->peer;
	}
	if (ev->activity) {
		memcpy(e->activity, ev->activity, 16);
	}
	e->items_bytes = ev->items_bytes;
	e->items = malloc(ev->items_bytes + 1);
	if (ev->items_bytes) {
		memcpy(e->items, ev->items, ev->items_bytes);
	}
	e->payload_bytes = ev->payload_bytes;
	e->payload = malloc(ev->payload_bytes + 1);
	if (ev->payload_bytes) {
		memcpy(e->payload, ev->payload, ev->payload_bytes);
	}
}

static uint64_t fake_pass(struct fake_etwd *f, pool_emit_fn emit)
{
	struct pool_pass *pass;
	uint64_t n = 0;
	pthread_mutex_lock(&f->lock);
	if (pool_pass_create(&pass) == 0) {
		pool_pass_begin(pass, clock_now(), 1000000000, POOL_PASS_FLUSH);
		for (uint32_t i = 0; i < f->peers; i++) {
			if (f->peer[i]->view) {
				pool_pass_collect(pass, f->peer[i]->view, POOL_PASS_FLUSH, 0);
			}
		}
		n = pool_pass_emit(pass, emit, f);
		pool_pass_commit(pass);
		pool_pass_destroy(pass);
	}
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* Copy what was published into f->event, in order of time; total so far. */
static inline uint32_t fake_drain(struct fake_etwd *f)
{
	uint32_t first = f->events;
	fake_pass(f, fake_emit);
	/* A pass goes from cpu to cpu, and a test may have been moved from one to another. */
	for (uint32_t i = first + 1; i < f->events; i++) {
		struct fake_event e = f->event[i];
		uint32_t to = i;
		for (; to > first && f->event[to - 1].rec.ts > e.rec.ts; to--) {
			f->event[to] = f->event[to - 1];
		}
		f->event[to] = e;
	}
	return f->events;
}

static inline void fake_ignore(void *ctx, const struct pool_event *ev)
{
}
static inline uint64_t fake_drain_drop(struct fake_etwd *f)
{
	return fake_pass(f, fake_ignore);
}

/* Wait at most 5 s until *word >= want. */
static inline bool fake_wait(struct fake_etwd *f, const uint32_t *word, uint32_t want)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&f->lock);
	int r = 0;
	while (*word < want && r == 0) {
		r = pthread_cond_timedwait(&f->changed, &f->lock, &until);
	}
	bool ok = *word >= want;
	pthread_mutex_unlock(&f->lock);
	return ok;
}

/* A row that lets everything pass to session `bit`. */
static inline struct filter_row fake_row_all(uint8_t bit)
{
	return (struct filter_row){.bit = bit, .any = UINT64_MAX};
}

#endif
