/* SPDX-License-Identifier: MIT
 *
 * A stack belongs to the event of exactly its time stamp on its thread. It comes in one record or
 * in two, kernel part first, and its addresses stand in it or, since Windows 8, behind a key that
 * is explained when the cache gives it up: nearly always later. The cache uses a key again for
 * another stack then, so a key means what the next explanation after its use says [obs]: parts wait
 * for it.
 */
#include "machine/machine_stack.h"
#include "machine/machine_payload.h"
#include "base/vec.h"

#include <stdlib.h>

#define ADDRESSES_MAX 4096u /* of one record; the kernel stops at 192 */

struct key_node {
	struct machine_node n;
	size_t waiting; /* parts that used the key since it was last explained, plus 1 */
	uint32_t count; /* what it means right now, when it was said at its creation */
	const uint64_t *addresses;
};

static struct key_node *key_of(struct machine_stacks *x, struct machine_memory *m, uint64_t key)
{
	struct key_node *k = (struct key_node *)machine_table_find(&x->keys, key);
	if (!k) {
		k = machine_alloc(m, sizeof *k);
		if (k) {
			k->n.id = key;
			if (!machine_table_add(&x->keys, &k->n)) {
				k = NULL;
			}
		}
	}
	return k;
}

static uint64_t take_pointer(struct bytes *b, unsigned size)
{
	return size == 4 ? bytes_u32(b) : bytes_u64(b);
}

static uint32_t take_addresses(struct bytes *b, unsigned size, uint64_t *out, size_t cap)
{
	uint32_t n = 0;
	while (n < cap && bytes_left(b) >= size) {
		out[n++] = take_pointer(b, size);
	}
	return n;
}

struct stack_node {
	struct machine_node n; /* by hash */
	uint32_t count;
	uint64_t addresses[];
};

/* The addresses of a record, each list once: what a program does it does again. NULL: none, or no
 * memory. */
static const uint64_t *addresses_keep(struct machine_stacks *x, struct machine_memory *m, struct bytes *b,
				      unsigned size, uint32_t *ret_count)
{
	uint64_t list[ADDRESSES_MAX];
	uint32_t count = take_addresses(b, size, list, ADDRESSES_MAX);
	uint64_t h = 14695981039346656037ull;
	for (uint32_t i = 0; i < count; i++) {
		h = (h ^ list[i]) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 29;
	}
	*ret_count = count;
	if (count == 0) {
		return NULL;
	}
	struct stack_node *k = (struct stack_node *)machine_table_find(&x->known, h);
	for (; k; k = (struct stack_node *)k->n.older) {
		if (k->count == count && memcmp(k->addresses, list, count * sizeof *list) == 0) {
			return k->addresses;
		}
	}
	k = machine_alloc(m, sizeof *k + count * sizeof *list);
	if (!k) {
		return NULL;
	}
	k->n.id = h;
	k->count = count;
	memcpy(k->addresses, list, count * sizeof *list);
	/* Without room in the table it is only not shared. */
	machine_table_add(&x->known, &k->n);
	return k->addresses;
}

static void key_explain(struct machine_stacks *x, struct machine_memory *m, uint16_t hook, const struct etl_record *r)
{
	struct bytes b = kernel_payload_from(payload_of(r), KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_FRAMES);
	struct key_node *k =
		key_of(x, m, kernel_payload_get(payload_of(r), KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_KEY));
	uint32_t count;
	const uint64_t *a = k && !b.bad ? addresses_keep(x, m, &b, r->pointer_size, &count) : NULL;
	if (!a) {
		return;
	}
	for (size_t i = k->waiting; i > 0;) {
		struct machine_part *p = &x->parts[i - 1];
		p->addresses = a;
		p->count = count;
		i = p->waits_with;
	}
	k->waiting = 0;
	/* A deleted key means nothing until it is used for another stack. */
	k->addresses = hook == HOOK_STACK_KEY_DELETE ? NULL : a;
	k->count = hook == HOOK_STACK_KEY_DELETE ? 0 : count;
}

void machine_stacks_add(struct machine_stacks *x, struct machine_memory *m, uint16_t hook, const struct etl_record *r)
{
	if (hook >= HOOK_STACK_KEY_CREATE && hook <= HOOK_STACK_KEY_RUNDOWN) {
		key_explain(x, m, hook, r);
		return;
	}
	struct kernel_payload payload = payload_of(r);
	struct machine_part p = {.time = kernel_payload_get(payload, KP_STACK_WALK_STACK_SINCE_V0_TIMESTAMP)};
	_Static_assert(
		KP_STACK_WALK_STACK_SINCE_V0_TIMESTAMP == KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_TIMESTAMP &&
			KP_STACK_WALK_STACK_SINCE_V0_PROCESS_ID == KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_PROCESS_ID &&
			KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID == KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_THREAD_ID,
		"alike");
	p.pid = kernel_payload_get32(payload, KP_STACK_WALK_STACK_SINCE_V0_PROCESS_ID);
	p.tid = kernel_payload_get32(payload, KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID);
	p.order = x->count;
	struct key_node *k = NULL;
	if (hook == HOOK_STACK) {
		struct bytes b = kernel_payload_from(payload, KP_STACK_WALK_STACK_SINCE_V0_STACK);
		p.addresses = addresses_keep(x, m, &b, r->pointer_size, &p.count);
		if (!p.addresses) {
			return;
		}
	} else {
		uint32_t key = KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_STACK_KEY;
		if (!kernel_payload_has(payload, key)) {
			return;
		}
		k = key_of(x, m, kernel_payload_get(payload, key));
		p.addresses = k ? k->addresses : NULL;
		p.count = k ? k->count : 0;
		p.order |= hook == HOOK_STACK_USER_KEY ? 1ull << 63 : 0;
	}
	if (!VEC_ROOM_UP_TO(x->parts, x->count, x->cap, MACHINE_MEMORY_MAX / sizeof *x->parts)) {
		m->full = true;
		return;
	}
	if (k && p.count == 0) {
		p.waits_with = k->waiting;
		k->waiting = x->count + 1;
	}
	x->parts[x->count++] = p;
	x->sorted = false;
}

static int by_event(const void *pa, const void *pb)
{
	const struct machine_part *a = pa, *b = pb;
	if (a->time != b->time) {
		return a->time < b->time ? -1 : 1;
	}
	if (a->tid != b->tid) {
		return a->tid < b->tid ? -1 : 1;
	}
	return a->order < b->order ? -1 : a->order > b->order;
}

static void settle(struct machine_stacks *x)
{
	if (x->sorted || !x->count) {
		return;
	}
	qsort(x->parts, x->count, sizeof *x->parts, by_event);
	x->sorted = true;
	/* Places have changed: who waits, waits in vain. Questions come when all has been fed. */
	for (struct machine_node *n = NULL; (n = machine_table_next(&x->keys, n)) != NULL;) {
		((struct key_node *)n)->waiting = 0;
	}
}

uint32_t machine_stacks_get(struct machine_stacks *x, uint64_t time, uint32_t tid, const uint64_t **ret,
			    uint32_t *ret_pid, uint32_t *ret_tid)
{
	settle(x);
	size_t low = 0, high = x->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (x->parts[mid].time < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	uint32_t n = 0;
	for (size_t i = low; i < x->count && x->parts[i].time == time; i++) {
		const struct machine_part *p = &x->parts[i];
		if (tid != UINT32_MAX && p->tid != tid) {
			continue;
		}
		tid = p->tid; /* any thread, but one */
		*ret_pid = p->pid;
		*ret_tid = p->tid;
		uint32_t count = p->count;
		if (n + count > x->joined_cap) {
			size_t cap = 2 * (n + (size_t)count);
			void *joined = realloc(x->joined, cap * sizeof *x->joined);
			if (!joined) {
				break;
			}
			x->joined = joined;
			x->joined_cap = cap;
		}
		if (count) {
			memcpy(x->joined + n, p->addresses, count * sizeof *x->joined);
			n += count;
		}
	}
	*ret = x->joined;
	return n;
}

void machine_stacks_free(struct machine_stacks *x)
{
	free(x->parts);
	free(x->joined);
	machine_table_free(&x->keys);
	machine_table_free(&x->known);
}
