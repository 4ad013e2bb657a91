/* SPDX-License-Identifier: MIT
 *
 * Call stacks: which event each belongs to.
 */
#include "query/build_state.h"

#include "format/etl_item.h"
#include "format/kernel_class.h"

#include "evntcons.h"
#include "kernel_payload.h"

#define STACK_MOST 4096u /* addresses of one record */

enum {
	HOOK_STACK = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK),
	HOOK_STACK_KEY_CREATE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_CREATE),
	HOOK_STACK_KEY_DELETE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_DELETE),
	HOOK_STACK_KEY_RUNDOWN = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_RUNDOWN),
	HOOK_STACK_KERNEL_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_KERNEL),
	HOOK_STACK_USER_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_USER),
};

static uint32_t addresses_take(struct bytes bytes, unsigned size, uint64_t *out)
{
	uint32_t n = 0;
	while (n < STACK_MOST && bytes_left(&bytes) >= size) {
		out[n++] = size == 4 ? bytes_u32(&bytes) : bytes_u64(&bytes);
	}
	return n;
}

static int key_explained(struct build *b, const struct etl_record *r)
{
	const struct kernel_payload p = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	struct bytes frames = kernel_payload_from(p, KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_FRAMES);
	uint64_t list[STACK_MOST];
	uint32_t node, n = frames.bad ? 0 : addresses_take(frames, r->pointer_size, list);
	if (n == 0) {
		return 0;
	}
	int err = build_stacks_node(&b->stacks, list, n, &node);
	return err < 0 ? err
		       : build_stacks_explain(&b->stacks,
					      kernel_payload_get(p, KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_KEY),
					      node, r->hook == HOOK_STACK_KEY_DELETE);
}

static bool is_rows_event(const struct build *b, uint32_t type, uint32_t thread, uint32_t tid)
{
	return b->types.list[type].hook >> 8 != KERNEL_GROUP_STACK &&
	       (thread == 0 || b->who.threads[thread].tid == tid);
}

/* The first row at or behind a time. Rows of a group are in the order of time but for those of damaged files, whose
 * stacks are then not found. */
static uint32_t row_from(const struct store_rows *rows, int64_t time)
{
	uint32_t low = 0, high = rows->rows;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (rows->time[mid] < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

static uint32_t row_from_written(const struct store_columns *c, int64_t time)
{
	uint32_t low = 0, high = c->rows;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (store_time(c, mid) < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Of events that were written already: of a thread that waited for long in the kernel. How many, or -errno. */
static int late_part(struct build *b, int64_t time, uint32_t tid, uint32_t part, bool user)
{
	uint32_t n, low = 0, high;
	const struct store_group *groups = store_writer_groups(b->writer, &n);
	int found = 0;
	for (high = n; low < high;) { /* the first that does not end before */
		uint32_t mid = low + (high - low) / 2;
		if (groups[mid].to < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (; low < n && groups[low].from <= time; low++) {
		struct store_columns c;
		int err = store_writer_columns(b->writer, low, &c);
		if (err < 0) {
			return err;
		}
		for (uint32_t i = row_from_written(&c, time); i < c.rows && store_time(&c, i) == time; i++) {
			if (!is_rows_event(b, store_type_at(&c, i), c.thread[i], tid)) {
				continue;
			}
			uint32_t stack = c.stack ? c.stack[i] : 0;
			err = build_stacks_join(&b->stacks, stack, part, user, &stack);
			err = err < 0 ? err : store_write_late_stack(b->writer, low, i, stack);
			err = err < 0 ? err : store_writer_columns(b->writer, low, &c); /* they may have moved */
			if (err < 0) {
				return err;
			}
			found++;
		}
	}
	return found;
}

/* A part belongs to all events of exactly this time on this thread: what a merge adds about an image has the time of
 * the image's event. */
static int part_join(struct build *b, int64_t time, uint32_t tid, uint32_t part, bool user)
{
	struct store_rows *const in[] = {b->before, b->rows};
	int found = 0;
	for (size_t k = 0; k < BASE_ARRAY_LEN(in); k++) {
		for (uint32_t i = row_from(in[k], time); i < in[k]->rows && in[k]->time[i] == time; i++) {
			if (!is_rows_event(b, in[k]->type[i], in[k]->thread[i], tid)) {
				continue;
			}
			int err = build_stacks_join(&b->stacks, in[k]->stack[i], part, user, &in[k]->stack[i]);
			if (err < 0) {
				return err;
			}
			found++;
		}
	}
	/* A ring has no writer: the rows before those two stay as they are. */
	if (found == 0 && b->writer) {
		found = late_part(b, time, tid, part, user);
	}
	b->lost_stacks += found == 0;
	return BASE_MIN(found, 0);
}

/* A record that is the stack, or a part of it, of an event before it. */
int build_stack_record(struct build *b, const struct etl_record *r)
{
	const struct kernel_payload p = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	uint64_t list[STACK_MOST];
	uint32_t part = 0;
	int err = 0;
	if (r->hook >= HOOK_STACK_KEY_CREATE && r->hook <= HOOK_STACK_KEY_RUNDOWN) {
		return key_explained(b, r);
	}
	if (r->hook == HOOK_STACK) {
		struct bytes frames = kernel_payload_from(p, KP_STACK_WALK_STACK_SINCE_V0_STACK);
		uint32_t n = frames.bad ? 0 : addresses_take(frames, r->pointer_size, list);
		err = n ? build_stacks_node(&b->stacks, list, n, &part) : 0;
	} else if (r->hook == HOOK_STACK_KERNEL_KEY || r->hook == HOOK_STACK_USER_KEY) {
		uint32_t key = KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_STACK_KEY;
		err = kernel_payload_has(p, key) ? build_stacks_key(&b->stacks, kernel_payload_get(p, key), &part) : 0;
	}
	if (err < 0 || part == 0) {
		return err;
	}
	return part_join(b, build_time(&b->clock, kernel_payload_get(p, KP_STACK_WALK_STACK_SINCE_V0_TIMESTAMP)),
			 kernel_payload_get32(p, KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID), part,
			 r->hook == HOOK_STACK_USER_KEY);
}

int build_own_stack(struct build *b, const struct etl_record *r, uint32_t *ret)
{
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		bool wide = type == ETL_ITEM_STACK_TRACE64;
		if ((wide || type == ETL_ITEM_STACK_TRACE32) && bytes > 8) {
			uint64_t list[STACK_MOST];
			uint32_t node, n = addresses_take(bytes_of(data + 8, bytes - 8u), wide ? 8 : 4, list);
			int err = n ? build_stacks_node(&b->stacks, list, n, &node) : 0;
			return err < 0 || !n ? err : build_stacks_join(&b->stacks, *ret, node, false, ret);
		}
		if ((type == ETL_ITEM_STACK_KEY32 || type == ETL_ITEM_STACK_KEY64) && bytes >= 16) {
			uint32_t part;
			int err = build_stacks_key(&b->stacks, le64_get(data + 8), &part);
			return err < 0 ? err : build_stacks_join(&b->stacks, *ret, part, false, ret);
		}
	}
	return 0;
}
