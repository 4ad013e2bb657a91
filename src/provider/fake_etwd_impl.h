/* SPDX-License-Identifier: MIT
 * The body of fake_etwd.h; included by one test program's source, since libraries hold no test code.
 */
#ifndef PROVIDER_FAKE_ETWD_IMPL_H
#define PROVIDER_FAKE_ETWD_IMPL_H

#include "provider/fake_etwd.h"

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

#define FAKE_CTL_BYTES (2u << 20)
#define FAKE_TABLE     (sizeof(struct filter_table) + 8 * sizeof(struct filter_row))

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
	switch (m->type) {
	case PROTO_HELLO:
		fake_on_hello(f, p, m);
		break;
	case PROTO_REGISTER:
		fake_on_register(f, p, m);
		break;
	case PROTO_UNREGISTER:
		r->used = false;
		f->unregisters++;
		proto_begin(&w, buf, sizeof buf, PROTO_UNREGISTER | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		break;
	case PROTO_TRAITS:
		if (proto_get(m, PROTO_TAG_TRAITS, &t, &r->traits_bytes) &&
		    r->traits_bytes <= sizeof r->traits) {
			memcpy(r->traits, t, r->traits_bytes);
		}
		break;
	case PROTO_NOTIFIED:
		f->notified++;
		break;
	case PROTO_BELL:
		f->bells++;
		break;
	case PROTO_BINARY_TRACK:
		proto_get_str(m, PROTO_TAG_PATH, f->binary_path, sizeof f->binary_path);
		f->binary_tracks++;
		break;
	}
	pthread_cond_broadcast(&f->changed);
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
	if (unshare(CLONE_FILES) != 0) {
		abort();
	}
	for (;;) {
		struct pollfd pfd[FAKE_PEERS + 2] = {{.fd = f->wake[0], .events = POLLIN},
						     {.fd = f->listener, .events = POLLIN}};
		uint32_t n = f->peers;
		for (uint32_t i = 0; i < n; i++) {
			pfd[i + 2] = (struct pollfd){.fd = f->peer[i]->fd, .events = POLLIN};
		}
		poll(pfd, n + 2, -1);
		pthread_mutex_lock(&f->lock);
		if (f->stop) {
			for (uint32_t i = 0; i < f->peers; i++) {
				base_close(&f->peer[i]->fd);
			}
			close(f->listener);
			pthread_mutex_unlock(&f->lock);
			return NULL;
		}
		if (pfd[1].revents) {
			fake_accept(f);
		}
		for (uint32_t i = 0; i < n; i++) {
			struct proto_message m;
			if (!pfd[i + 2].revents || f->silent) {
				continue;
			}
			long got = proto_recv(f->peer[i]->fd, buf, sizeof buf, NULL, NULL, -1);
			if (got <= 0) {
				base_close(&f->peer[i]->fd);
			} else if (proto_parse(buf, (size_t)got, &m) == 0) {
				fake_on_message(f, f->peer[i], &m);
			}
		}
		pthread_mutex_unlock(&f->lock);
	}
}

struct fake_etwd *fake_start(const char *dir)
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
		snprintf(f->dir, sizeof f->dir, "/tmp/fake-etwd-XXXXXX");
		if (!mkdtemp(f->dir)) {
			abort();
		}
	}
	setenv("OPENETW_RUNTIME_DIR", f->dir, 1);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	snprintf(addr.sun_path, sizeof addr.sun_path, "%s/provider", f->dir);
	unlink(addr.sun_path);
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(f->listener, (struct sockaddr *)&addr, sizeof addr) < 0 || listen(f->listener, 16) < 0 ||
	    pipe2(f->wake, O_CLOEXEC) < 0) {
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

static void fake_poke(struct fake_etwd *f)
{
	(void)!write(f->wake[1], "x", 1);
}

void fake_kill(struct fake_etwd *f)
{
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	fake_poke(f);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	close(f->listener); /* this table's copies */
	close(f->wake[0]);
	close(f->wake[1]);
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

static void fake_tell_locked(struct fake_etwd *f, const struct guid *g, const struct fake_enable *e,
			     uint32_t code, const void *filter, size_t filter_bytes)
{
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
			} else {
				fake_reply_tags(&w, e);
			}
			if (filter) {
				proto_put(&w, PROTO_TAG_FILTER, filter, filter_bytes);
			}
			proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, ++f->next_notify);
			proto_send(p->fd, buf, (size_t)proto_end(&w), NULL, 0);
		}
	}
}

/* Messages are sent from the daemon's thread's descriptor table, so numbers are its own: ask it. */
struct fake_order {
	struct fake_etwd *f;
	const struct guid *g;
	const struct fake_enable *e;
	uint32_t code;
	const void *filter;
	size_t filter_bytes;
};

static void fake_order(struct fake_etwd *f, const struct guid *g, const struct fake_enable *e, uint32_t code,
		       const void *filter, size_t filter_bytes);

void fake_set(struct fake_etwd *f, const struct guid *g, const struct filter_row *rows, uint32_t count,
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
	fake_order(f, g, e, count ? 1 : 0, NULL, 0);
	pthread_mutex_unlock(&f->lock);
}

void fake_notify(struct fake_etwd *f, const struct guid *g, uint32_t code, const void *filter,
		 size_t filter_bytes)
{
	pthread_mutex_lock(&f->lock);
	fake_order(f, g, fake_enable_of(f, g), code, filter, filter_bytes);
	pthread_mutex_unlock(&f->lock);
}
#endif
