/* SPDX-License-Identifier: MIT
 *
 * The consumer's side of a BPF ring buffer: a page with our position, one with the kernel's, and the
 * data mapped twice, so that no record is ever in two pieces. An interrupt may reserve its record
 * between the moment another program took its time and the moment it reserved, so times go back by
 * a little now and then: records are taken in batches and sorted by insertion.
 */
#include "kernel/kernel_bpf.h"

#include "base/order.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH        4096u
#define BUSY         (1u << 31)
#define DISCARDED    (1u << 30)
#define HEADER_BYTES 8u

struct entry {
	uint64_t time;
	const struct kbpf_record *record;
};
struct kernel_ring {
	uint64_t *consumer, *producer; /* each a page; the data follows the producer's */
	const uint8_t *data;
	uint64_t bytes, page_bytes;
	void (*on_stack)(void *ctx, const struct kbpf_record *r);
	void *ctx;
	uint64_t read; /* up to here it is in the batch */
	uint32_t n, at;
	struct entry batch[BATCH];
};

int kernel_ring_open(int map_fd, uint32_t bytes, void (*on_stack)(void *ctx, const struct kbpf_record *r), void *ctx,
		     struct kernel_ring **ret)
{
	struct kernel_ring *r = calloc(1, sizeof *r);
	if (!r) {
		return -ENOMEM;
	}
	r->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	r->bytes = bytes;
	r->on_stack = on_stack;
	r->ctx = ctx;
	void *c = mmap(NULL, r->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	void *p = mmap(NULL, r->page_bytes + 2 * r->bytes, PROT_READ, MAP_SHARED, map_fd, (off_t)r->page_bytes);
	r->consumer = c == MAP_FAILED ? NULL : c;
	r->producer = p == MAP_FAILED ? NULL : p;
	if (!r->consumer || !r->producer) {
		int err = -errno;
		kernel_ring_close(r);
		return err;
	}
	r->data = (const uint8_t *)p + r->page_bytes;
	r->read = *r->consumer;
	*ret = r;
	return 0;
}

void kernel_ring_close(struct kernel_ring *r)
{
	if (!r) {
		return;
	}
	if (r->consumer) {
		munmap(r->consumer, r->page_bytes);
	}
	if (r->producer) {
		munmap(r->producer, r->page_bytes + 2 * r->bytes);
	}
	free(r);
}

static void fill(struct kernel_ring *r, uint64_t until)
{
	/* Release: everything of the last batch was read. Pairs with the kernel's load of our position. */
	order_store_release(r->consumer, r->read);
	r->n = r->at = 0;
	/* Acquire: headers up to there exist. */
	uint64_t end = order_load_acquire(r->producer);
	while (r->read < end && r->n < BATCH) {
		const uint8_t *p = r->data + (r->read & (r->bytes - 1));
		/* Acquire: a record that is not busy is whole. */
		uint32_t word = order_load_acquire((const uint32_t *)(const void *)p);
		uint32_t length = word & ~(BUSY | DISCARDED);
		if ((word & BUSY) || length > end - r->read) {
			return;
		}
		const struct kbpf_record *record = (const void *)(p + HEADER_BYTES);
		if (!(word & DISCARDED) && length >= sizeof *record &&
		    sizeof *record + record->bytes + 8u * record->frames +
				    (record->flags & KBPF_USER_STACK_ID ? 8u : 0u) +
				    (record->flags & KBPF_KERNEL_STACK_ID ? 8u : 0u) +
				    (record->flags & KBPF_COUNTERS ? 8u * KBPF_COUNTERS_MAX : 0u) <=
			    length &&
		    record->frames <= 2 * KBPF_STACK_FRAMES && record->kernel_frames <= record->frames) {
			if (record->time > until) {
				return;
			}
			if (record->hook == KBPF_USER_STACK) {
				r->on_stack(r->ctx, record);
				r->read += BASE_ALIGN8(HEADER_BYTES + length);
				continue;
			}
			/* In the order of the ring: whoever refers to it may have an earlier time. */
			if ((record->flags & KBPF_KERNEL_STACK_ID) && record->frames > 0) {
				r->on_stack(r->ctx, record);
			}
			uint32_t i = r->n++;
			for (; i > 0 && r->batch[i - 1].time > record->time; i--) {
				r->batch[i] = r->batch[i - 1];
			}
			r->batch[i] = (struct entry){record->time, record};
		}
		r->read += BASE_ALIGN8(HEADER_BYTES + length);
	}
}

const struct kbpf_record *kernel_ring_peek(struct kernel_ring *r, uint64_t until)
{
	if (r->at == r->n) {
		fill(r, until);
	}
	return r->at < r->n ? r->batch[r->at].record : NULL;
}

void kernel_ring_pop(struct kernel_ring *r)
{
	r->at++;
}
