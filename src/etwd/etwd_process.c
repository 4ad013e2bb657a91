/* SPDX-License-Identifier: MIT
 * Provider processes: HELLO, memory, session bits, death.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "pool/pool.h"
#include "proto/proto.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* ---- what /proc says about a peer --------------------------------------------------------------
 */

static void learn_identity(struct process *p, const struct proto_message *m)
{
	char path[64], target[4096];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)p->pid);
	ssize_t n = readlink(path, target, sizeof target - 1);
	const char *base = NULL;
	if (n > 0) {
		target[n] = 0;
		char *gone = n > 10 ? target + n - 10 : NULL;
		if (gone && strcmp(gone, " (deleted)") == 0) {
			*gone = 0;
		}
		base = strrchr(target, '/');
	}
	if (base && strlen(base + 1) < sizeof p->exe && utf8_to_utf16(base + 1, strlen(base + 1), NULL, 0) >= 0) {
		memcpy(p->exe, base + 1, strlen(base + 1) + 1);
	} else if (!proto_get_str(m, PROTO_TAG_EXE_NAME, p->exe, sizeof p->exe)) {
		p->exe[0] = 0; /* another user's process: only its own word for it, if any */
	}
	pool_identity_learn(&p->identity, (uint32_t)p->pid, p->uid);
	char own[64] = "", theirs[64] = "";
	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)p->pid);
	n = readlink(path, theirs, sizeof theirs - 1);
	ssize_t k = readlink("/proc/self/ns/pid", own, sizeof own - 1);
	p->foreign_pids = n > 0 && k > 0 && strcmp(own, theirs) != 0;
}

/* ---- memory
 * -------------------------------------------------------------------------------------- */

static uint64_t pool_limit(const struct etwd *d)
{
	return d->system ? ETWD_POOL_BYTES_TOTAL_SYS : ETWD_POOL_BYTES_TOTAL_USER;
}

/* A new segment as a sealed memfd, mapped here. Not initialised: it reads as zero. */
static int segment_create(struct etwd *d, struct process *p, uint32_t chunk_size, int *ret_fd)
{
	uint64_t bytes = pool_segment_bytes(chunk_size);
	if (p->segment_count == POOL_SEGMENTS_MAX || p->pool_bytes + bytes > ETWD_POOL_BYTES_PROCESS ||
	    etwd_share_take(d, p->uid, SHARE_POOL_BYTES, bytes)) {
		return -EDQUOT;
	}
	int fd = base_memfd("openetw-pool", bytes);
	if (fd < 0) {
		etwd_share_give(d, p->uid, SHARE_POOL_BYTES, bytes);
		return fd;
	}
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* Without these seals a process could truncate the file and turn our next read into SIGBUS.
	 */
	if (mem == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		int err = -errno;
		if (mem != MAP_FAILED) {
			munmap(mem, bytes);
		}
		close(fd);
		etwd_share_give(d, p->uid, SHARE_POOL_BYTES, bytes);
		return err;
	}
	p->segment[p->segment_count] = mem;
	p->segment_bytes[p->segment_count++] = bytes;
	p->pool_bytes += bytes;
	*ret_fd = fd;
	return 0;
}

static void drop_memory(struct etwd *d, struct process *p)
{
	pool_view_destroy(p->view);
	p->view = NULL;
	for (uint32_t i = 0; i < p->segment_count; i++) {
		munmap(p->segment[i], p->segment_bytes[i]);
	}
	etwd_share_give(d, p->uid, SHARE_POOL_BYTES, p->pool_bytes);
	p->pool_bytes = 0;
	p->segment_count = 0;
}

static const uint32_t segment_sizes[] = {POOL_CHUNK_MIN, 16384, 65536, 65536};

/* Hand out the next larger segment. */
static void grow(struct etwd *d, struct process *p)
{
	if (!p->conn || p->segment_count == 0 || p->segment_count >= BASE_ARRAY_LEN(segment_sizes)) {
		return;
	}
	uint32_t chunk = segment_sizes[p->segment_count];
	int fd;
	if (segment_create(d, p, chunk, &fd) < 0) {
		return; /* at a limit: what does not fit is counted by the writer */
	}
	uint32_t n = p->segment_count - 1;
	pool_segment_init(p->segment[n], chunk, p->pool_id);
	if (pool_view_add_segment(p->view, p->segment[n], p->segment_bytes[n]) < 0) {
		munmap(p->segment[n], p->segment_bytes[n]);
		p->pool_bytes -= p->segment_bytes[n];
		etwd_share_give(d, p->uid, SHARE_POOL_BYTES, p->segment_bytes[n]);
		p->segment_count--;
		close(fd);
		return;
	}
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_POOL, 0);
	proto_put_u32(&w, PROTO_TAG_CHUNK_SIZE, chunk);
	etwd_conn_send(d, p->conn, &w, &fd, 1);
	close(fd);
}

/* Pages are made when they are touched, so a large pool costs a quiet process a page or two, and
 * spares a busy one the losses of its first millisecond. Only while memory is not promised to many:
 * then pools grow by need. */
static void grow_ahead(struct etwd *d, struct process *p)
{
	while (p->segment_count < BASE_ARRAY_LEN(segment_sizes) && d->share_all[SHARE_POOL_BYTES] < pool_limit(d) / 2) {
		uint32_t before = p->segment_count;
		grow(d, p);
		if (p->segment_count == before) {
			break;
		}
	}
}

int etwd_process_ready_pool(struct etwd *d, struct process *p)
{
	if (p->view) {
		return 0;
	}
	if (p->segment_count == 0) {
		return -ENOBUFS;
	}
	int r = pool_view_create(p, &p->view);
	if (r < 0) {
		return r;
	}
	pool_segment_init(p->segment[0], POOL_CHUNK_MIN, p->pool_id);
	r = pool_view_add_segment(p->view, p->segment[0], p->segment_bytes[0]);
	if (r < 0) {
		pool_view_destroy(p->view);
		p->view = NULL;
		return r;
	}
	pool_view_set_limits(p->view, &(struct pool_limits){.provider_count = p->reg_cap});
	p->lost_at_ns = etwd_now_ns();
	etwd_thread_prepare(d, p);
	if (d->eager_left > 0) {
		d->eager_left--;
		grow_ahead(d, p);
	} else {
		p->eager = true;
		d->eager_count++;
	}
	return 0;
}

void etwd_process_grow_some(struct etwd *d)
{
	struct process *p;
	d->eager_left = ETWD_EAGER_A_TURN;
	if (d->eager_count == 0) {
		return;
	}
	LIST_FOREACH(p, &d->processes, link) {
		if (!p->eager) {
			continue;
		}
		p->eager = false;
		d->eager_count--;
		if (p->view && p->conn) {
			grow_ahead(d, p);
		}
		if (d->eager_count == 0 || --d->eager_left == 0) {
			return;
		}
	}
}

void etwd_process_grow(struct etwd *d, struct process *p, const struct pool_view_stats *st)
{
	if (st->used_chunks * 2 > st->total_chunks) {
		grow(d, p);
	}
}

/* ---- attach
 * -------------------------------------------------------------------------------------- */

static void pidfd_ready(struct etwd *d, struct source *s, uint32_t events)
{
	struct process *p = (struct process *)((char *)s - offsetof(struct process, pidfd));
	if (p->conn) {
		etwd_conn_last_words(d, p->conn); /* which says etwd_process_gone() */
	} else {
		etwd_loop_remove(d, s);
	}
}

static void watch_death(struct etwd *d, struct process *p)
{
	int fd = -1;
	socklen_t len = sizeof fd;
	/* The socket's pidfd cannot name a later process with the same number. */
	if (getsockopt(p->conn->src.fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) < 0) {
		fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	}
	p->pidfd = (struct source){pidfd_ready, fd};
	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (etwd_loop_add(d, &p->pidfd, EPOLLIN) < 0) {
			base_close(&p->pidfd.fd);
		}
	}
}

void etwd_process_hello(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t version = 0;
	if (c->process) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "HELLO came before");
		return;
	}
	if (!proto_get_u32(m, PROTO_TAG_VERSION, &version) || version == 0) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "HELLO carries no version");
		return;
	}
	const char *why =
		etwd_foreign_cut_off(c->uid) ? ETWD_CUT_OFF_TEXT : etwd_share_take(d, c->uid, SHARE_PROCESSES, 1);
	if (why) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, why);
		return;
	}
	struct process *p = calloc(1, sizeof *p);
	int fds[2] = {-1, -1};
	int r = p ? 0 : -ENOMEM;
	if (r == 0) {
		p->conn = c;
		p->pid = c->pid;
		p->uid = c->uid;
		p->pidfd.fd = -1;
		p->since_raw = clock_now_of(d->clock_kind);
		p->since_ns = etwd_now_ns();
		learn_identity(p, m);
		struct guid id;
		r = guid_random(&id);
		memcpy(p->pool_id, id.b, 16);
	}
	if (r == 0) {
		r = etwd_ctl_create(d, &p->ctl, &fds[0]);
	}
	if (r == 0) {
		r = segment_create(d, p, POOL_CHUNK_MIN, &fds[1]);
	}
	if (r < 0) {
		base_close(&fds[0]);
		if (p) {
			drop_memory(d, p);
			etwd_ctl_destroy(&p->ctl);
			free(p);
		}
		etwd_share_give(d, c->uid, SHARE_PROCESSES, 1);
		etwd_reply_status(d, c, m, r == -EDQUOT ? ERROR_NO_SYSTEM_RESOURCES : win32_from_errno(r),
				  "no memory for the process's pool");
		return;
	}
	c->process = p;
	c->may_carry = proto_pass_descriptors(c->src.fd, true) || c->may_carry; /* ADOPT */
	LIST_INSERT_HEAD(&d->processes, p, link);
	d->process_count++;
	watch_death(d, p);

	uint8_t mem[512];
	struct proto_writer w;
	etwd_reply_begin(&w, mem, sizeof mem, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
	proto_put(&w, PROTO_TAG_INSTANCE, d->instance.b, 16);
	proto_put(&w, PROTO_TAG_POOL_ID, p->pool_id, 16);
	proto_put_u32(&w, PROTO_TAG_CHUNK_SIZE, POOL_CHUNK_MIN);
	proto_put_u32(&w, PROTO_TAG_CLOCK_KIND, d->clock_kind);
	proto_put_u64(&w, PROTO_TAG_CLOCK_FREQ, d->clock_freq);
	etwd_conn_send(d, c, &w, fds, 2);
	close(fds[0]);
	close(fds[1]);
}

/* ---- end
 * ----------------------------------------------------------------------------------------- */

void etwd_process_gone(struct etwd *d, struct process *p)
{
	if (p->dead) {
		return;
	}
	p->dead = true;
	p->conn = NULL;
	d->dead_count++;
	d->drain_now = true;
	if (p->pidfd.fd >= 0) {
		etwd_loop_remove(d, &p->pidfd);
		base_close(&p->pidfd.fd);
	}
	etwd_notify_forget(d, p);
	etwd_private_gone(d, p);
	etwd_adopt_heir_gone(d, p);
}

void etwd_process_destroy(struct etwd *d, struct process *p)
{
	etwd_images_gone(d, p);
	for (uint32_t i = 0; i < p->reg_cap; i++) {
		if (p->reg[i]) {
			etwd_registration_destroy(d, p->reg[i]);
		}
	}
	for (uint32_t i = 0; i < POOL_SESSION_BITS; i++) {
		if (p->bit_owner[i]) {
			etwd_session_unref(p->bit_owner[i]);
		}
	}
	free(p->reg);
	free(p->fair);
	drop_memory(d, p);
	etwd_ctl_destroy(&p->ctl);
	etwd_reply_drop(&p->adopt_reply);
	d->ghost_count -= p->heir != NULL;
	if (!p->heir) {
		etwd_share_give(d, p->uid, SHARE_PROCESSES, 1);
	}
	LIST_REMOVE(p, link);
	d->process_count--;
	d->dead_count -= p->dead;
	d->eager_count -= p->eager;
	etwd_thread_forget(p);
	free(p);
}

void etwd_process_quarantine(struct etwd *d, struct process *p)
{
	if (p->quarantined) {
		return;
	}
	p->quarantined = true;
	etwd_log_of(d, p->uid, "Process %d (%s) breaks the pool's rules and is disabled", (int)p->pid, p->exe);
	for (uint32_t i = 0; i < p->reg_cap; i++) {
		if (p->reg[i] && p->reg[i]->provider) {
			etwd_enable_publish(d, p->reg[i]);
		}
	}
}

/* ---- session bits
 * -------------------------------------------------------------------------------- */

uint32_t etwd_process_bit_get(struct etwd *d, struct process *p, struct session *s)
{
	for (uint32_t i = 0; i < POOL_BIT_SHARED; i++) {
		if (p->bit_owner[i] == s) {
			p->bit_uses[i]++;
			return i;
		}
	}
	/* Losses are known exactly for a bit of one's own only: some are kept for root's sessions. */
	uint32_t kept = etwd_share_whole(d, s->uid) ? 0 : ETWD_BITS_OF_ROOT;
	for (uint32_t k = 0; k < POOL_BIT_SHARED; k++) {
		uint32_t i = (p->bit_next + k) % POOL_BIT_SHARED;
		if (i < kept || p->bit_uses[i] > 0) {
			continue;
		}
		if (p->bit_owner[i]) {
			/* What the former owner lost so far is still its loss. */
			if (p->view) {
				uint64_t now = etwd_now_ns();
				etwd_drain_bit_losses(d, p, i, now - p->lost_at_ns, PROTO_LOSS_POOL_FULL);
			}
			etwd_session_unref(p->bit_owner[i]);
		}
		p->bit_owner[i] = s;
		etwd_session_ref(s);
		if (p->view) {
			pool_view_set_bit_name(p->view, i, etwd_session_name_hash(s));
		}
		p->bit_uses[i] = 1;
		p->bit_next = (i + 1) % POOL_BIT_SHARED;
		return i;
	}
	p->bit_uses[POOL_BIT_SHARED]++;
	return POOL_BIT_SHARED;
}

void etwd_process_bit_put(struct process *p, uint32_t bit)
{
	p->bit_uses[bit]--;
}
