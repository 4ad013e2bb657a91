/* SPDX-License-Identifier: MIT
 *
 * From a path to an attached pool: connect, HELLO, WELCOME, map. Uses system calls only (a forked
 * child runs it from whatever it was doing), and trusts nothing about sizes: the memory is the
 * daemon's.
 */
#include "provider/provider_images.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>

static void put_exe_name(struct proto_writer *w)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0) {
		return;
	}
	path[n] = 0;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (utf8_to_utf16(name, strlen(name), NULL, 0) > 0) {
		proto_put_str(w, PROTO_TAG_EXE_NAME, name);
	}
}

/* A memory file that cannot shrink under us (SIGBUS otherwise); its size, or 0. */
static uint64_t sealed_size(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) != 0 || st.st_size < 0) {
		return 0;
	}
	return (uint64_t)st.st_size;
}

#define AREA_BYTES (PROVIDER_LINK_BYTES + (size_t)POOL_CTL_BYTES)

static const struct ctl_header *control_of(const struct provider_link *link)
{
	return (const struct ctl_header *)((uintptr_t)link + PROVIDER_LINK_BYTES);
}

/* The link at an address aligned to PROVIDER_LINK_ALIGN, with the control block behind it. */
static struct provider_link *map_control(int fd)
{
	uint64_t size = sealed_size(fd);
	size = BASE_MIN(size, (uint64_t)POOL_CTL_BYTES) & ~(uint64_t)4095;
	if (size < 4096) {
		return NULL;
	}
	size_t want = PROVIDER_LINK_ALIGN;
	uint8_t *area = mmap(NULL, 2 * want, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED) {
		return NULL;
	}
	uint8_t *base = (uint8_t *)(((uintptr_t)area + want - 1) & ~(uintptr_t)(want - 1));
	if (base > area) {
		munmap(area, (size_t)(base - area));
	}
	munmap(base + AREA_BYTES, (size_t)(area + 2 * want - base) - AREA_BYTES);
	struct provider_link *link = (struct provider_link *)(void *)base;
	/* Wiped, or a forked child would go on writing into its parent's chunks. */
	if (mmap(base + PROVIDER_LINK_BYTES, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mprotect(link, PROVIDER_LINK_BYTES, PROT_READ | PROT_WRITE) != 0 ||
	    madvise(link, PROVIDER_LINK_BYTES, MADV_WIPEONFORK) != 0) {
		munmap(base, AREA_BYTES);
		return NULL;
	}
	const struct ctl_header *h = control_of(link);
	uint32_t said = order_load_relaxed(&h->size);
	if (h->magic != POOL_CTL_MAGIC || h->abi_major != POOL_ABI_MAJOR || said < sizeof *h) {
		munmap(base, AREA_BYTES);
		return NULL;
	}
	link->ctl_bytes = (uint32_t)BASE_MIN((uint64_t)said, size);
	return link;
}

const struct ctl_entry *provider_attach_entry(const struct provider_attached *at, uint32_t offset)
{
	if (offset % 64 != 0 || offset < sizeof(struct ctl_header) || at->link->ctl_bytes < sizeof(struct ctl_entry) ||
	    offset > at->link->ctl_bytes - sizeof(struct ctl_entry)) {
		return NULL;
	}
	return (const struct ctl_entry *)((uintptr_t)control_of(at->link) + offset);
}

int provider_attach_segment(struct provider_attached *at, int fd, uint32_t chunk_size)
{
	if (at->segments >= POOL_SEGMENTS_MAX || chunk_size < POOL_CHUNK_MIN || chunk_size > POOL_CHUNK_MAX) {
		return -EINVAL;
	}
	uint64_t bytes = pool_segment_bytes(chunk_size);
	if (sealed_size(fd) < bytes) {
		return -EINVAL;
	}
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		return -errno;
	}
	int r = at->segments == 0 ? pool_writer_add_fresh(at->link->writer, mem, bytes, chunk_size)
				  : pool_writer_add_segment(at->link->writer, mem, bytes, chunk_size);
	if (r < 0) {
		munmap(mem, bytes);
		return r;
	}
	at->segment[at->segments] = mem;
	at->segment_fd[at->segments] = -1;
	at->segment_bytes[at->segments] = bytes;
	at->segments++;
	return 0;
}

static int welcome(const struct proto_message *m, int *fds, int count, uint32_t kind, struct provider_attached *ret)
{
	uint32_t status = 0, chunk_size = POOL_CHUNK_MIN;
	proto_get_u32(m, PROTO_TAG_STATUS, &status);
	uint16_t type = m->type & (uint16_t)~PROTO_REPLY;
	if ((type != PROTO_WELCOME && type != PROTO_HELLO) || status != 0 || count != 2) {
		return -EPROTO;
	}
	proto_get_u32(m, PROTO_TAG_CHUNK_SIZE, &chunk_size);
	struct provider_attached at = {.fd = -1, .link = map_control(fds[0])};
	if (!at.link) {
		return -EPROTO;
	}
	at.link->kind = kind;
	const struct ctl_header *h = control_of(at.link);
	struct pool_writer *w = at.link->writer;
	pool_writer_init(w);
	w->clock_kind = order_load_relaxed(&h->clock_kind);
	order_store_relaxed(&w->bell_allowed, order_load_relaxed(&h->flags));
	int r = provider_attach_segment(&at, fds[1], chunk_size);
	if (r < 0) {
		munmap(at.link, AREA_BYTES);
		return r;
	}
	at.segment_fd[0] = fds[1]; /* ours now */
	fds[1] = -1;
	*ret = at;
	return 0;
}

#define CONNECT_MS PROVIDER_PATIENCE_MS

static int say_hello(int fd, void *buf, size_t cap)
{
	struct proto_writer w;
	proto_begin(&w, buf, cap, PROTO_HELLO, 1);
	proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
	put_exe_name(&w);
	long n = proto_end(&w);
	return n < 0 ? (int)n : proto_send(fd, buf, (size_t)n, NULL, 0);
}

void provider_attach_late(struct provider_dest *d, uint32_t index, void *buf, size_t cap)
{
	struct provider_said *said = &provider_registrations[index].said[d->kind];
	if (said->late || !provider_patience_late()) {
		return;
	}
	said->late = true;
	int fd = proto_connect_within(d->dir, "provider", 1, NULL);
	if (fd < 0) {
		return;
	}
	long n = say_hello(fd, buf, cap);
	if (n == 0) {
		n = provider_make_register(buf, cap, index, PROTO_REG_LATE);
	}
	if (n > 0) {
		(void)!send(fd, buf, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	close(fd);
}

static void tell_registrations(struct provider_dest *d, int fd, void *buf, size_t cap, bool lock)
{
	if (lock) {
		pthread_mutex_lock(&provider_lock);
		/* There is a daemon again: who registers from now on waits for its answer. */
		d->state = PROVIDER_DEST_STARTING;
	}
	memset(d->told, 0, sizeof d->told);
	memset(d->stale, 0, sizeof d->stale);
	provider_images_forget_locked(d);
	provider_send_described(fd, buf, cap);
	provider_send_registers(d, fd, buf, cap);
	if (lock) {
		pthread_mutex_unlock(&provider_lock);
	}
}

int provider_attach(struct provider_dest *d, void *buf, size_t cap, int timeout_ms, const struct provider_haste *haste,
		    struct provider_attached *ret)
{
	if (d->dir[0] == 0) {
		return -ENOENT;
	}
	pid_t peer = 0;
	int connect_ms = !haste ? timeout_ms : haste->wanted ? CONNECT_MS : provider_left_ms(haste->until);
	int fd = proto_connect_within(d->dir, "provider", (uint32_t)BASE_MAX(connect_ms, 1), &peer);
	if (fd < 0) {
		return fd;
	}
	order_store_relaxed(&d->peer, peer);
	fd = provider_fd_park(fd, d->private_fds);
	long n;
	int r = say_hello(fd, buf, cap);
	int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
	struct proto_message m;
	if (r == 0) {
		tell_registrations(d, fd, buf, cap, !haste);
		do {
			count = PROTO_FDS_MAX;
			n = proto_recv(fd, buf, cap, fds, &count, haste ? provider_left_ms(haste->until) : timeout_ms);
		} while (n == -ETIMEDOUT && haste && provider_patience_more(d, haste->wanted, haste->until));
		if (n > 0) {
			r = proto_parse(buf, (size_t)n, &m);
			r = r < 0 ? r : welcome(&m, fds, count, d->kind, ret);
			for (int i = 0; i < count; i++) {
				base_close(&fds[i]);
			}
		} else {
			r = n == 0 ? -ECONNRESET : (int)n;
		}
	}
	if (r < 0) {
		close(fd);
		return r;
	}
	/* From here on only threads of ours send, and they may wait. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){0, 0}, sizeof(struct timeval));
	ret->fd = fd;
	if (!d->private_fds) {
		base_close(&ret->segment_fd[0]); /* see provider_adopt.c */
	}
	return 0;
}

void provider_attach_hang_up(struct provider_attached *at)
{
	base_close(&at->fd);
}

void provider_attach_retire(struct provider_attached *at)
{
	base_close(&at->fd);
	for (uint32_t i = 0; i < at->segments; i++) {
		base_close(&at->segment_fd[i]);
	}
	if (!at->link) {
		return;
	}
	/* A writer may be anywhere between loading the entry and publishing. Zeros at the same
	 * addresses say "disabled" and "no chunk free", and nothing faults. Only address space is
	 * kept. */
	order_store_release(&at->link->writer->alive, 0u);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
	(void)!mmap((uint8_t *)at->link + PROVIDER_LINK_BYTES, POOL_CTL_BYTES, PROT_READ, flags, -1, 0);
	for (uint32_t i = 0; i < at->segments; i++) {
		(void)!mmap(at->segment[i], at->segment_bytes[i], PROT_READ | PROT_WRITE, flags, -1, 0);
	}
	at->link = NULL;
	at->segments = 0;
}
