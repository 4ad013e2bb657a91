/* SPDX-License-Identifier: MIT
 * The control block of one process: made, sealed, and shared out in entries and filter tables. The
 * bookkeeping is private; the block is never read back, because an old kernel may let its process
 * write to it.
 */
#include "base/order.h"
#include "base/vec.h"
#include "etwd/etwd.h"
#include "etwd/etwd_process.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int etwd_ctl_create(struct etwd *d, struct ctl_heap *h, int *ret_fd)
{
	int fd = base_memfd("openetw-control", POOL_CTL_BYTES);
	if (fd < 0) {
		return fd;
	}
	void *mem = mmap(NULL, POOL_CTL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		int err = -errno;
		close(fd);
		return err;
	}
	/* After our own writable mapping exists nobody can make another one. Kernels before 5.1 do
	 * not know the seal: there a process could damage its own block, and only that. */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	}
	struct ctl_header *c = mem;
	c->abi_major = POOL_ABI_MAJOR;
	c->abi_minor = POOL_ABI_MINOR;
	c->size = POOL_CTL_BYTES;
	c->clock_kind = d->clock_kind;
	c->clock_freq = d->clock_freq;
	memcpy(c->instance, d->instance.b, 16);
	order_store_relaxed(&c->flags, (uint32_t)(POOL_CTL_BELL_ALLOWED | POOL_CTL_RINGS));
	order_store_release(&c->magic, POOL_CTL_MAGIC);
	*h = (struct ctl_heap){.mem = mem, .bump = sizeof(struct ctl_header)};
	*ret_fd = fd;
	return 0;
}

void etwd_ctl_destroy(struct ctl_heap *h)
{
	if (h->mem) {
		munmap(h->mem, POOL_CTL_BYTES);
	}
	for (unsigned i = 0; i <= CTL_CLASSES; i++) {
		free(h->free[i].at);
	}
	*h = (struct ctl_heap){0};
}

static int take(struct ctl_heap *h, unsigned list, uint32_t bytes, uint32_t align, uint32_t *ret)
{
	if (h->free[list].count > 0) {
		*ret = h->free[list].at[--h->free[list].count];
		return 0;
	}
	uint32_t at = (h->bump + align - 1) & ~(align - 1);
	if (at > POOL_CTL_BYTES || bytes > POOL_CTL_BYTES - at) {
		return -ENOSPC;
	}
	h->bump = at + bytes;
	*ret = at;
	return 0;
}

static void give(struct ctl_heap *h, unsigned list, uint32_t offset)
{
	if (!VEC_ROOM(h->free[list].at, h->free[list].count, h->free[list].cap)) {
		return; /* leaks a few bytes of this process's block, nothing else */
	}
	h->free[list].at[h->free[list].count++] = offset;
}

int etwd_ctl_entry_alloc(struct ctl_heap *h, uint32_t *ret_offset)
{
	int r = take(h, CTL_CLASSES, sizeof(struct ctl_entry), 64, ret_offset);
	if (r == 0) {
		memset(h->mem + *ret_offset, 0, sizeof(struct ctl_entry));
	}
	return r;
}

void etwd_ctl_entry_free(struct ctl_heap *h, uint32_t offset)
{
	give(h, CTL_CLASSES, offset);
}

int etwd_ctl_table_alloc(struct ctl_heap *h, unsigned class, uint32_t *ret_offset)
{
	uint32_t rows = 4u << class;
	return take(h, class, sizeof(struct filter_table) + rows * sizeof(struct filter_row), 8, ret_offset);
}

void etwd_ctl_table_free(struct ctl_heap *h, unsigned class, uint32_t offset)
{
	give(h, class, offset);
}

void etwd_ctl_ring(struct ctl_heap *h)
{
	struct ctl_header *c = (struct ctl_header *)(void *)h->mem;
	if (c) {
		order_add_full(&c->ctl_seq, 1u);
		syscall(SYS_futex, &c->ctl_seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
}
