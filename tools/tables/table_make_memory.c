/* SPDX-License-Identifier: MIT
 * Tables: what processes took of memory and gave back: virtual memory and heaps (memory).
 */
#include "base/vec.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define LIVE_MAX (1u << 26)

struct live { /* taken, and not yet given back */
	uint64_t address, bytes, row, heap;
	uint32_t process;
	int64_t time;
};
struct memory {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int time, operation, address, bytes, heap, freed, stack;
	struct live *live;
	uint32_t count, cap;
	struct map of;
	struct kernel_payload in;
	uint32_t pid, tid, process, stack_id;
	uint64_t filetime;
	int64_t at;
};

static uint64_t key_of(const struct memory *t, uint32_t process, uint64_t address, uint64_t heap)
{
	const uint64_t key[] = {process, address, heap};
	return map_hash(&t->of, key, sizeof key);
}

static size_t find(const struct memory *t, uint64_t address, uint64_t heap)
{
	MAP_EACH(&t->of, key_of(t, t->process, address, heap), at) {
		const struct live *l = &t->live[map_value(&t->of, at)];
		if (l->process == t->process && l->address == address && l->heap == heap) {
			return at;
		}
	}
	return MAP_NONE;
}

/* The bytes that it had; 0: nobody knows. */
static uint64_t give_back(struct memory *t, uint64_t address, uint64_t heap)
{
	size_t at = find(t, address, heap);
	if (at == MAP_NONE) {
		return 0;
	}
	struct live *l = &t->live[map_value(&t->of, at)], *last = &t->live[t->count - 1];
	uint64_t bytes = l->bytes;
	table_build_late(t->b, t->freed, l->row, (uint64_t)t->at);
	map_remove(&t->of, at);
	if (l != last) {
		MAP_EACH(&t->of, key_of(t, last->process, last->address, last->heap), other) {
			if (map_value(&t->of, other) == t->count - 1u) {
				map_set(&t->of, other, (uint64_t)(l - t->live));
				break;
			}
		}
		*l = *last;
	}
	t->count--;
	return bytes;
}

static void take(struct memory *t, uint64_t address, uint64_t heap, uint64_t bytes)
{
	give_back(t, address, heap); /* that it was given back was lost */
	if (!VEC_ROOM_UP_TO(t->live, t->count, t->cap, LIVE_MAX) ||
	    map_add(&t->of, key_of(t, t->process, address, heap), t->count) < 0) {
		t->m->failed = true;
		return;
	}
	t->live[t->count++] = (struct live){address, bytes, table_build_rows(t->b), heap, t->process, t->at};
}

static void put(struct memory *t, const char *operation, uint64_t address, uint64_t bytes, uint64_t heap)
{
	table_build_number(t->b, t->time, (uint64_t)t->at);
	table_put_string(t->b, t->operation, operation);
	table_who_put(t->m, t->b, &t->who, t->pid, t->tid, t->filetime);
	table_build_number(t->b, t->address, address);
	if (bytes) {
		table_build_number(t->b, t->bytes, bytes);
	}
	if (heap) {
		table_build_number(t->b, t->heap, heap);
	}
	if (t->stack_id) {
		table_build_number(t->b, t->stack, t->stack_id);
	}
	table_build_row(t->b);
}

static void put_virtual(struct memory *t, bool alloc)
{
	_Static_assert(KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_BASE_ADDRESS ==
				       KP_PAGE_FAULT_VIRTUAL_FREE_SINCE_V0_BASE_ADDRESS &&
			       KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_FLAGS == KP_PAGE_FAULT_VIRTUAL_FREE_SINCE_V0_FLAGS,
		       "one place for both");
	uint64_t address = kernel_payload_get(t->in, KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_BASE_ADDRESS);
	uint64_t bytes = kernel_payload_get(t->in, KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_REGION_SIZE);
	uint32_t flags = kernel_payload_get32(t->in, KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_FLAGS);
	if (!kernel_payload_has(t->in, KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_FLAGS)) {
		return;
	}
	/* Pages may be taken for another process. */
	t->pid = kernel_payload_get32(t->in, KP_PAGE_FAULT_VIRTUAL_ALLOC_SINCE_V0_PROCESS_ID);
	t->process = table_make_process(t->m, t->pid, t->filetime);
	if (alloc) {
		if (flags & MEM_RESERVE) { /* else only pages of what was taken before */
			take(t, address, 0, bytes);
		}
		put(t, flags & MEM_RESERVE ? "virtual alloc" : "virtual commit", address, bytes, 0);
	} else if (flags & MEM_RELEASE) { /* all that one VirtualAlloc took */
		uint64_t had = give_back(t, address, 0);
		put(t, "virtual free", address, bytes ? bytes : had, 0);
	} else {
		put(t, "virtual decommit", address, bytes, 0);
	}
}

static void put_heap(struct memory *t, UCHAR opcode)
{
	uint64_t heap = kernel_payload_get(t->in, KP_HEAP_ALLOC_SINCE_V0_HEAP_HANDLE), address, bytes;
	_Static_assert(KP_HEAP_ALLOC_SINCE_V0_HEAP_HANDLE == KP_HEAP_FREE_SINCE_V0_HEAP_HANDLE &&
			       KP_HEAP_ALLOC_SINCE_V0_HEAP_HANDLE == KP_HEAP_RE_ALLOC_SINCE_V0_HEAP_HANDLE,
		       "one place for both");
	t->process = table_make_process(t->m, t->pid, t->filetime);
	switch (opcode) {
	case KP_HEAP_ALLOC:
		address = kernel_payload_get(t->in, KP_HEAP_ALLOC_SINCE_V0_ALLOC_ADDRESS);
		bytes = kernel_payload_get(t->in, KP_HEAP_ALLOC_SINCE_V0_ALLOC_SIZE);
		take(t, address, heap, bytes);
		put(t, "heap alloc", address, bytes, heap);
		break;
	case KP_HEAP_RE_ALLOC:
		address = kernel_payload_get(t->in, KP_HEAP_RE_ALLOC_SINCE_V0_NEW_ALLOC_ADDRESS);
		bytes = kernel_payload_get(t->in, KP_HEAP_RE_ALLOC_SINCE_V0_NEW_ALLOC_SIZE);
		give_back(t, kernel_payload_get(t->in, KP_HEAP_RE_ALLOC_SINCE_V0_OLD_ALLOC_ADDRESS), heap);
		take(t, address, heap, bytes);
		put(t, "heap realloc", address, bytes, heap);
		break;
	case KP_HEAP_FREE:
		address = kernel_payload_get(t->in, KP_HEAP_FREE_SINCE_V0_FREE_ADDRESS);
		bytes = give_back(t, address, heap);
		put(t, "heap free", address, bytes, heap);
		break;
	default: break;
	}
}

static void on_memory(void *context, const EVENT_RECORD *e)
{
	struct memory *t = context;
	UCHAR opcode = e->EventHeader.EventDescriptor.Opcode;
	int group = kernel_class_group(&e->EventHeader.ProviderId);
	struct openetw_event_origin o = {.size = sizeof o};
	bool range = group == KERNEL_GROUP_MEMORY &&
		     (opcode == KP_PAGE_FAULT_VIRTUAL_ALLOC || opcode == KP_PAGE_FAULT_VIRTUAL_FREE);
	bool heap = group == KERNEL_GROUP_HEAP &&
		    (opcode == KP_HEAP_ALLOC || opcode == KP_HEAP_RE_ALLOC || opcode == KP_HEAP_FREE);
	if ((!range && !heap) || openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	t->in = (struct kernel_payload){e->UserData, e->UserDataLength,
					e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	t->pid = o.pid;
	t->tid = o.tid;
	t->filetime = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	t->at = table_make_time(t->m, t->filetime);
	t->stack_id = table_make_stack(t->m, e);
	if (range) {
		put_virtual(t, opcode == KP_PAGE_FAULT_VIRTUAL_ALLOC);
	} else {
		put_heap(t, opcode);
	}
}

struct table_build *table_make_memory(struct table_maker *m, char *why, size_t cap)
{
	struct memory t = {.m = m, .b = table_build_create()};
	bool ok = t.b != NULL;
	if (ok) {
		t.time = table_build_column(t.b, "time", SQL_TYPE_I64);
		t.operation = table_build_column(t.b, "operation", SQL_TYPE_TEXT);
		table_who_columns(t.b, &t.who);
		t.address = table_build_column(t.b, "address", SQL_TYPE_U64);
		t.bytes = table_build_column(t.b, "bytes", SQL_TYPE_U64);
		t.heap = table_build_column(t.b, "heap", SQL_TYPE_U64);
		t.freed = table_build_column(t.b, "freed", SQL_TYPE_I64);
		t.stack = table_build_column(t.b, "stack", SQL_TYPE_U32);
		ok = table_make_pass(m, on_memory, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	free(t.live);
	map_free(&t.of);
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}
