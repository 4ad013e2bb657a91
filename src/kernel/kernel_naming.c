/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_naming.h"
#include "base/quiet_thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define HOOK_IMAGE_DC_END 0x1404u
#define NICE              (-10)
#define QUEUE_BYTES       (1u << 20)
#define USERS_MAX         64u
#define USER_NS           1000000000ull  /* processor time for a user's files */
#define ALL_NS            20000000000ull /* of the clock; who waits for it has more patience */
#define JIT_BYTES         (64u << 20)    /* of maps, for a user; each may be that big */

struct group { /* addresses of one file, of the kernel, of one process */
	uint32_t from, count;
	struct unwind_source file; /* of SEEN_IN_FILE */
	struct kernel_jit_map map; /* of SEEN_IN_NO_FILE */
	bool done;
};
struct item {           /* in the queue; its bytes follow */
	uint32_t bytes; /* UINT32_MAX: an image */
	uint32_t pid;
	struct guid provider;
	uint8_t descriptor[16];
	uint64_t base, span;
};
struct spender {
	uint32_t uid;
	uint64_t ns, bytes;
};
struct kernel_naming {
	uint64_t sessions;
	pthread_t thread;
	struct kernel_seen *seen;
	struct group *group;
	uint32_t groups;
	/* the thread's own */
	struct spender user[USERS_MAX];
	uint32_t users;
	uint64_t until_ns;
	uint32_t of; /* whose work is being measured */
	uint64_t since_ns;
	/* between the two */
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct strbuf queue; /* items, one behind the other */
	uint64_t unnamed;
	bool finished, unwanted;
};

/* ---- the thread ---------------------------------------------------------------------------------- */

static bool put(struct kernel_naming *n, const struct item *i, const void *p, size_t bytes)
{
	pthread_mutex_lock(&n->lock);
	while (!n->unwanted && n->queue.len > QUEUE_BYTES) {
		pthread_cond_wait(&n->room, &n->lock);
	}
	bool wanted = !n->unwanted;
	if (wanted) {
		size_t before = n->queue.len;
		strbuf_add(&n->queue, i, sizeof *i);
		strbuf_add(&n->queue, p, bytes);
		if (n->queue.failed) { /* no memory: this record is missing, those before it are not */
			n->queue.len = before;
			n->queue.failed = false;
			n->unnamed++;
		}
	}
	pthread_mutex_unlock(&n->lock);
	return wanted;
}

bool kernel_naming_event(struct kernel_naming *n, const struct guid *provider, const uint8_t descriptor[16],
			 uint32_t pid, const uint8_t *payload, uint32_t bytes)
{
	struct item i = {.bytes = bytes, .pid = pid, .provider = *provider};
	memcpy(i.descriptor, descriptor, sizeof i.descriptor);
	return put(n, &i, payload, bytes);
}

bool kernel_naming_image(struct kernel_naming *n, uint64_t base, uint64_t bytes, const char *path)
{
	struct item i = {.bytes = UINT32_MAX, .base = base, .span = bytes};
	return put(n, &i, path, strlen(path) + 1);
}

static bool unwanted(struct kernel_naming *n)
{
	pthread_mutex_lock(&n->lock);
	bool yes = n->unwanted;
	pthread_mutex_unlock(&n->lock);
	return yes;
}

void kernel_naming_missed(struct kernel_naming *n, uint32_t addresses)
{
	pthread_mutex_lock(&n->lock);
	n->unnamed += addresses;
	pthread_mutex_unlock(&n->lock);
}

/* More users than places share one. */
static struct spender *spender(struct kernel_naming *n, uint32_t uid)
{
	for (uint32_t i = 0; i < n->users; i++) {
		if (n->user[i].uid == uid) {
			return &n->user[i];
		}
	}
	if (n->users == USERS_MAX) {
		return &n->user[USERS_MAX - 1];
	}
	n->user[n->users] = (struct spender){.uid = uid};
	return &n->user[n->users++];
}

static bool own(uint32_t uid)
{
	return uid == 0 || uid == geteuid();
}

bool kernel_naming_may(struct kernel_naming *n, uint32_t uid)
{
	uint64_t now = unwind_work_ns();
	spender(n, n->of)->ns += now - n->since_ns;
	n->of = uid;
	n->since_ns = now;
	return !unwanted(n) && clock_read_system_ns() < n->until_ns && (own(uid) || spender(n, uid)->ns < USER_NS);
}

/* One map may be that of many processes, under one name or several: it is read once for all of them. */
static void name_jits(struct kernel_naming *n, struct group *g)
{
	uint64_t identity[2] = {g->map.identity[0], g->map.identity[1]};
	int fd = g->map.fd >= 0 ? fcntl(g->map.fd, F_DUPFD_CLOEXEC, 3)
				: kernel_jit_open(g->map.pid, g->map.uid, identity);
	struct spender *s = spender(n, g->map.uid);
	size_t most = own(g->map.uid) ? JIT_BYTES : JIT_BYTES - BASE_MIN(s->bytes, (uint64_t)JIT_BYTES);
	struct kernel_jit_names *names = NULL;
	if (fd >= 0 && most > 0) {
		off_t size = lseek(fd, 0, SEEK_END);
		s->bytes += BASE_MIN(size > 0 ? (uint64_t)size : 0, (uint64_t)most);
		names = kernel_jit_read(fd, most); /* closes it in any case */
	} else {
		base_close(&fd);
	}
	for (struct group *o = g; o < n->group + n->groups; o++) {
		bool same = o == g || (o->map.uid == g->map.uid && identity[1] != 0 &&
				       o->map.identity[0] == identity[0] && o->map.identity[1] == identity[1]);
		if (!o->done && same && n->seen[o->from].where == SEEN_IN_NO_FILE) {
			o->done = true;
			if (names) {
				kernel_name_jit(n, names, &n->seen[o->from], o->count);
			} else {
				kernel_naming_missed(n, o->count);
			}
		}
	}
	kernel_jit_names_free(names);
}

static uint32_t owner(const struct kernel_naming *n, const struct group *g)
{
	uint32_t where = n->seen[g->from].where;
	return where == SEEN_IN_FILE ? g->file.uid : where == SEEN_IN_NO_FILE ? g->map.uid : 0;
}

/* Links to one file are one map, which none of their processes need have opened yet. */
static void find_maps(struct kernel_naming *n)
{
	for (struct group *g = n->group; g < n->group + n->groups; g++) {
		if (n->seen[g->from].where == SEEN_IN_NO_FILE && g->map.identity[1] == 0) {
			int fd = kernel_jit_open(g->map.pid, g->map.uid, g->map.identity);
			g->done = fd < 0; /* makes code that it does not describe, as most do */
			base_close(&fd);
		}
	}
}

static void *work(void *arg)
{
	struct kernel_naming *n = arg;
	pthread_setname_np(pthread_self(), "names");
	/* Somebody waits for it, and what it may spend on strangers is bounded. */
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	n->since_ns = unwind_work_ns();
	n->until_ns = clock_read_system_ns() + ALL_NS;
	find_maps(n);
	/* What is root's, and this program's own user's, first. */
	for (unsigned turn = 0; turn < 2; turn++) {
		for (struct group *g = n->group; g < n->group + n->groups; g++) {
			uint32_t uid = owner(n, g), where = n->seen[g->from].where;
			if (g->done || own(uid) != (turn == 0)) {
				continue;
			}
			if (!kernel_naming_may(n, uid)) {
				kernel_naming_missed(n, g->count);
			} else if (where == SEEN_IN_FILE) {
				kernel_name_file(n, &g->file, &n->seen[g->from], g->count);
			} else if (where == SEEN_IN_KERNEL) {
				kernel_name_kernel(n, &n->seen[g->from], g->count);
			} else {
				name_jits(n, g);
			}
			g->done = true;
		}
	}
	pthread_mutex_lock(&n->lock);
	n->finished = true;
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

/* ---- the engine ---------------------------------------------------------------------------------- */

static void naming_free(struct kernel_naming *n)
{
	for (uint32_t i = 0; i < n->groups; i++) {
		unwind_source_finish(&n->group[i].file);
		base_close(&n->group[i].map.fd);
	}
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->room);
	strbuf_finish(&n->queue);
	free(n->group);
	free(n->seen);
	free(n);
}

static bool list_groups(struct kernel_naming *n, struct kernel_walk *w, uint32_t count)
{
	uint32_t groups = 0;
	for (uint32_t i = 0; i < count; i++) {
		groups += i == 0 || n->seen[i].where != n->seen[i - 1].where || n->seen[i].of != n->seen[i - 1].of;
	}
	n->group = calloc(groups, sizeof *n->group);
	for (uint32_t from = 0, to; n->group && from < count; from = to) {
		const struct kernel_seen *first = &n->seen[from];
		struct group *g = &n->group[n->groups++];
		for (to = from; to < count && n->seen[to].where == first->where && n->seen[to].of == first->of;) {
			to++;
		}
		*g = (struct group){.from = from, .count = to - from, .file = {.fd = -1}, .map = {.fd = -1}};
		if (first->where == SEEN_IN_FILE) {
			g->done = unwind_file_source(w->unwind, first->of, &g->file) < 0;
		} else if (first->where == SEEN_IN_NO_FILE) {
			kernel_jit_map_of(w, first->of, &g->map);
		}
	}
	return n->group != NULL;
}

struct kernel_naming *kernel_naming_start(struct kernel *k, uint64_t sessions)
{
	struct kernel_naming *n = calloc(1, sizeof *n);
	uint32_t count = 0;
	if (!n) {
		return NULL;
	}
	n->sessions = sessions;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->room, NULL);
	n->seen = kernel_seen_list(k->walk, &count);
	if (!n->seen || !list_groups(n, k->walk, count)) {
		naming_free(n);
		return NULL;
	}
	if (quiet_thread_start(&n->thread, work, n) < 0) {
		naming_free(n);
		return NULL;
	}
	return n;
}

bool kernel_naming_poll(struct kernel_naming *n, struct kernel *k)
{
	struct strbuf queue;
	pthread_mutex_lock(&n->lock);
	queue = n->queue;
	n->queue = (struct strbuf){0};
	bool finished = n->finished;
	pthread_cond_signal(&n->room);
	pthread_mutex_unlock(&n->lock);
	for (size_t at = 0; at < queue.len;) {
		struct item i;
		memcpy(&i, queue.s + at, sizeof i);
		at += sizeof i;
		const char *p = queue.s + at;
		if (i.bytes == UINT32_MAX) {
			kernel_emit_image(k, n->sessions & kernel_masked(k, KERNEL_BIT_LOADER), HOOK_IMAGE_DC_END,
					  k->watermark, 0, 0, i.base, i.span, NULL, p);
			at += strlen(p) + 1;
		} else {
			kernel_out_event(k, n->sessions, &i.provider, i.descriptor, i.pid, (const uint8_t *)p, i.bytes);
			at += i.bytes;
		}
	}
	strbuf_finish(&queue);
	return !finished;
}

void kernel_naming_end(struct kernel_naming *n, uint64_t *ret_unnamed)
{
	pthread_mutex_lock(&n->lock);
	n->unwanted = true;
	pthread_cond_signal(&n->room);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	*ret_unnamed = n->unnamed;
	naming_free(n);
}
