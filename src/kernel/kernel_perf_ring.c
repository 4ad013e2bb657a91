/* SPDX-License-Identifier: MIT
 *
 * Records out of the rings, merged by time. The kernel's side of a ring is trusted no further than its
 * bounds.
 */
#include "kernel/kernel_perf.h"

#include "base/order.h"

#include <sys/ioctl.h>

#define CONTEXT_MARKERS 0xFFFFFFFFFFFFF000ull
#define LOOK_NS         50000000ull
/* A second, of one processor: 2 KB of stack with each are 40 MB/s then, and the ring holds what comes in
 * a tenth of a second. */
#define SWITCHES_MANY  20000u
#define SWITCHES_FEW   8000u
#define SWITCHES_BURST 256u

/* Registers as perf numbers them, in the order of their bits, by their DWARF numbers. */
#if defined(__x86_64__)
static const uint8_t dwarf_number[UNWIND_REGS] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
static const uint8_t dwarf_number[UNWIND_REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
						  17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#endif

/* ---- reading ---------------------------------------------------------------------------------- */

static bool take(const uint8_t **p, uint32_t *left, void *out, uint32_t n)
{
	if (*left < n) {
		return false;
	}
	memcpy(out, *p, n);
	*p += n;
	*left -= n;
	return true;
}

static bool parse_stack(const uint8_t **b, uint32_t *left, struct kernel_perf_record *r)
{
	uint64_t abi, bytes, filled;
	if (!take(b, left, &abi, 8)) {
		return false;
	}
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		for (unsigned i = 0; i < UNWIND_REGS; i++) {
			if (!take(b, left, &r->regs.r[dwarf_number[i]], 8)) {
				return false;
			}
		}
	}
	if (!take(b, left, &bytes, 8) || bytes > *left) {
		return false;
	}
	r->user = abi == PERF_SAMPLE_REGS_ABI_64;
	r->stack = *b;
	if (bytes) {
		*b += bytes;
		*left -= (uint32_t)bytes;
		if (!take(b, left, &filled, 8)) {
			return false;
		}
		r->stack_bytes = (uint32_t)BASE_MIN(filled, bytes);
	}
	return true;
}

/* By the times of the switches: a backlog is read faster than it came. */
static void adapt(struct ring *r, uint64_t now)
{
	uint64_t since = now - r->looked;
	uint64_t count = r->switches - r->last_switches;
	/* Many are many at once; few only after a while. */
	if (r->plain.fd < 0 || (since < LOOK_NS && (r->is_plain || count % SWITCHES_BURST != 0))) {
		return;
	}
	uint64_t rate = clock_muldiv(count, 1000000000, since ? since : 1);
	if (since < LOOK_NS && rate <= SWITCHES_MANY) {
		return;
	}
	r->last_switches = r->switches;
	r->looked = now;
	if (rate > SWITCHES_MANY && !r->is_plain) {
		ioctl(r->plain.fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(r->event[KERNEL_EV_SWITCH].fd, PERF_EVENT_IOC_DISABLE, 0);
		r->is_plain = true;
	} else if (rate < SWITCHES_FEW && r->is_plain) {
		ioctl(r->event[KERNEL_EV_SWITCH].fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(r->plain.fd, PERF_EVENT_IOC_DISABLE, 0);
		r->is_plain = false;
	}
}

/* While one event is turned on and the other one off, both see a switch. */
static bool is_twin(const struct kernel_perf *p, struct ring *ring, const struct kernel_perf_record *r, bool plain)
{
	uint32_t prev = (uint32_t)kernel_perf_field(p, r, SWITCH_PREV_PID);
	uint32_t next = (uint32_t)kernel_perf_field(p, r, SWITCH_NEXT_PID);
	/* A processor cannot go from a thread to another one twice without going back. */
	bool twin = plain != ring->from_plain && prev == ring->prev && next == ring->next && prev != next;
	ring->prev = prev;
	ring->next = next;
	ring->from_plain = plain;
	ring->switches += !twin;
	adapt(ring, r->time);
	return twin;
}

static bool parse_sample(const struct kernel_perf *p, struct ring *ring, const uint8_t *b, uint32_t left,
			 struct kernel_perf_record *r)
{
	uint64_t id, frames;
	uint32_t cpu, reserved;
	if (!take(&b, &left, &id, 8) || !take(&b, &left, &r->ip, 8) || !take(&b, &left, &r->pid, 4) ||
	    !take(&b, &left, &r->tid, 4) || !take(&b, &left, &r->time, 8) || !take(&b, &left, &cpu, 4) ||
	    !take(&b, &left, &reserved, 4)) {
		return false;
	}
	int k = KERNEL_EV_CPU;
	while (k < KERNEL_EV_COUNT && (ring->event[k].fd < 0 || ring->event[k].id != id)) {
		k++;
	}
	bool plain = ring->plain.fd >= 0 && ring->plain.id == id;
	if (k == KERNEL_EV_COUNT && !plain) {
		return false; /* of an event that is closed by now */
	}
	const struct event *event = plain ? &ring->plain : &ring->event[k];
	r->kind = plain ? KERNEL_EV_SWITCH : (enum kernel_event_kind)k;
	if (event->read) {
		uint64_t count, timer;
		if (!take(&b, &left, &count, 8) || count == 0 || count > left / 8 || !take(&b, &left, &timer, 8)) {
			return false;
		}
		for (uint64_t i = 1; i < count; i++) {
			uint64_t value = 0;
			take(&b, &left, &value, 8);
			if (r->reads < BASE_ARRAY_LEN(r->read)) {
				r->read[r->reads++] = value;
			}
		}
	}
	if (event->stack) {
		if (!take(&b, &left, &frames, 8) || frames > left / 8) {
			return false;
		}
		for (uint64_t i = 0; i < frames; i++) {
			uint64_t ip = 0;
			take(&b, &left, &ip, 8);
			if (ip < CONTEXT_MARKERS && r->frames < KERNEL_FRAMES_MAX) {
				r->frame[r->frames++] = ip;
			}
		}
	}
	if (r->kind == KERNEL_EV_SWITCH || r->kind == KERNEL_EV_WAKING) {
		uint32_t n;
		if (!take(&b, &left, &n, 4) || n > left) {
			return false;
		}
		r->raw = b;
		r->raw_bytes = n;
		b += n;
		left -= n;
	}
	if (event->copied && !parse_stack(&b, &left, r)) {
		return false;
	}
	return r->kind != KERNEL_EV_SWITCH || !is_twin(p, ring, r, plain);
}

/* The time of the ring's first record. Records are 8-aligned, so that no word of them wraps around. */
static bool peek(struct kernel_perf *p, struct ring *ring)
{
	enum { SAMPLE_TIME = 32, TRAILER_TIME = 24, LEAST = 40 };
	uint64_t size = p->map_bytes - PAGE_BYTES, tail = ring->page->data_tail;
	struct perf_event_header h;
	while (!ring->waiting) {
		uint64_t left = ring->head - tail;
		if (left < sizeof h || left > size) {
			return false;
		}
		memcpy(&h, ring->data + (tail & (size - 1)), sizeof h);
		if (h.size < sizeof h || h.size > left || (h.size & 7)) {
			order_store_release(&ring->page->data_tail, ring->head); /* not to be understood */
			return false;
		}
		if (h.size >= LEAST) {
			uint64_t at = tail + (h.type == PERF_RECORD_SAMPLE ? SAMPLE_TIME : h.size - TRAILER_TIME);
			ring->time = le64_get(ring->data + (at & (size - 1)));
			ring->waiting = true;
			return true;
		}
		tail += h.size;
		order_store_release(&ring->page->data_tail, tail);
	}
	return true;
}

void kernel_perf_begin(struct kernel_perf *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		/* Acquire: the records before data_head are whole. */
		p->ring[i]->head = order_load_acquire(&p->ring[i]->page->data_head);
	}
}

/* A copy of the first record, and then the ring has its room back. */
static bool take_record(struct kernel_perf *p, struct ring *ring, struct kernel_perf_record *ret)
{
	uint64_t size = p->map_bytes - PAGE_BYTES, tail = ring->page->data_tail, at = tail & (size - 1);
	struct perf_event_header h;
	memcpy(&h, ring->data + at, sizeof h);
	uint64_t first = BASE_MIN((uint64_t)h.size, size - at);
	memcpy(ring->copy, ring->data + at, first);
	memcpy(ring->copy + first, ring->data, h.size - first);
	order_store_release(&ring->page->data_tail, tail + h.size);
	ring->waiting = false;

	const uint8_t *body = ring->copy + sizeof h;
	uint32_t bytes = h.size - (uint32_t)sizeof h;
	ret->type = h.type;
	ret->misc = h.misc;
	ret->cpu = (uint16_t)ring->cpu;
	ret->kind = KERNEL_EV_NONE;
	ret->frames = 0;
	ret->reads = 0;
	ret->raw_bytes = 0;
	ret->user = false;
	ret->stack_bytes = 0;
	if (h.type == PERF_RECORD_SAMPLE) {
		return parse_sample(p, ring, body, bytes, ret);
	}
	/* Behind the body: pid, tid, time, cpu, reserved, identifier. */
	const uint32_t trailer = 4 + 4 + 8 + 4 + 4 + 8;
	if (bytes < trailer) {
		return false;
	}
	ret->body = body;
	ret->body_bytes = bytes - trailer;
	const uint8_t *t = body + ret->body_bytes;
	ret->pid = le32_get(t);
	ret->tid = le32_get(t + 4);
	ret->time = le64_get(t + 8);
	return true;
}

bool kernel_perf_next(struct kernel_perf *p, struct kernel_perf_record *ret)
{
	for (;;) {
		struct ring *oldest = NULL;
		for (uint32_t i = 0; i < p->count; i++) {
			struct ring *r = p->ring[i];
			if (peek(p, r) && (!oldest || r->time < oldest->time)) {
				oldest = r;
			}
		}
		if (!oldest) {
			return false;
		}
		if (take_record(p, oldest, ret)) {
			return true;
		}
	}
}
