/* SPDX-License-Identifier: MIT
 * The least of io_uring, for programs whose doings are known: one operation at a time.
 */
#ifndef E2E_ACTS_URING_H
#define E2E_ACTS_URING_H

#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	int fd;
	unsigned *tail, *mask, *array, *done_head;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	unsigned *done_mask;
};

static int ring_open(struct ring *r)
{
	struct io_uring_params p = {0};
	r->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (r->fd < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP)) {
		return -1;
	}
	char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
	if (m == MAP_FAILED) {
		m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	}
	if (m == MAP_FAILED || r->sqe == MAP_FAILED) {
		return -1;
	}
	r->tail = (void *)(m + p.sq_off.tail);
	r->mask = (void *)(m + p.sq_off.ring_mask);
	r->array = (void *)(m + p.sq_off.array);
	r->done_head = (void *)(m + p.cq_off.head);
	r->done_mask = (void *)(m + p.cq_off.ring_mask);
	r->cqe = (void *)(m + p.cq_off.cqes);
	return 0;
}

/* One operation, and its result. */
static int ring_do(struct ring *r, const struct io_uring_sqe *e)
{
	unsigned tail = *r->tail, i = tail & *r->mask;
	r->sqe[i] = *e;
	r->array[i] = i;
	__atomic_store_n(r->tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) {
		return -1;
	}
	unsigned head = *r->done_head;
	int result = r->cqe[head & *r->done_mask].res;
	__atomic_store_n(r->done_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

#endif
