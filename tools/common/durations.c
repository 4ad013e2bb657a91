/* SPDX-License-Identifier: MIT */
#include "tools/common/durations.h"

#include "base/map.h"
#include "base/vec.h"
#include "etw/values/guids.h"

#include "kernel_payload.h"

#include <stdlib.h>

enum { OPCODE_START = 1, OPCODE_STOP = 2 };
#define OPEN_MOST (1u << 22)
#define NONE      UINT32_MAX
#define FILES     0x10000u /* instead of a task: operations on files */

/* What has begun. A trace chooses what is open together, so what is told apart by it is compared whole. */
struct name {
	GUID provider; /* zero: a file operation */
	uint8_t id[16];
	uint32_t task, pid, tid; /* tid: of those without an activity */
};
struct open {
	struct name name;
	uint64_t time;
	uint8_t opcode;
	uint32_t older; /* of the same name, that began before; of those that are free, the next one */
};
struct durations {
	struct map of; /* hash of a name: the one that began last */
	struct open *open;
	uint32_t count, cap, free;
	uint64_t ticks_per_second, forgotten;
};

struct durations *durations_create(void)
{
	struct durations *d = calloc(1, sizeof *d);
	if (d) {
		d->free = NONE;
	}
	return d;
}

void durations_destroy(struct durations *d)
{
	if (d) {
		map_free(&d->of);
		free(d->open);
		free(d);
	}
}

void durations_set_ticks(struct durations *d, uint64_t per_second)
{
	d->ticks_per_second = per_second;
}

uint64_t durations_forgotten(const struct durations *d)
{
	return d->forgotten;
}

static size_t newest(const struct durations *d, const struct name *n, uint64_t key)
{
	MAP_EACH(&d->of, key, at) {
		if (memcmp(&d->open[map_value(&d->of, at)].name, n, sizeof *n) == 0) {
			return at;
		}
	}
	return MAP_NONE;
}

/* A Cleanup is followed by a Close, and a deletion or a renaming is told again with its path: the same operation. */
static bool again(uint8_t first, uint8_t second)
{
	switch (second) {
	case KP_FILE_IO_CLOSE: return first == KP_FILE_IO_CLEANUP;
	case KP_FILE_IO_DLETE_PATH: return first == KP_FILE_IO_DELETE;
	case KP_FILE_IO_RENAME_PATH: return first == KP_FILE_IO_RENAME;
	default: return false;
	}
}

static void begin(struct durations *d, const struct name *n, uint64_t time, uint8_t opcode)
{
	uint64_t key = map_hash(&d->of, n, sizeof *n);
	size_t at = newest(d, n, key);
	if (n->task == FILES && at != MAP_NONE) {
		struct open *o = &d->open[map_value(&d->of, at)];
		if (!again(o->opcode, opcode)) { /* the earlier one has ended, nobody said when */
			o->time = time;
			o->opcode = opcode;
		}
		return;
	}
	uint32_t i = d->free;
	if (i != NONE) {
		d->free = d->open[i].older;
	} else if (d->count < OPEN_MOST && VEC_ROOM(d->open, d->count, d->cap)) {
		i = d->count++;
	} else {
		d->forgotten++;
		return;
	}
	d->open[i] = (struct open){*n, time, opcode, at == MAP_NONE ? NONE : (uint32_t)map_value(&d->of, at)};
	if (at != MAP_NONE) {
		map_set(&d->of, at, i);
	} else if (map_add(&d->of, key, i) < 0) {
		d->open[i].older = d->free;
		d->free = i;
		d->forgotten++;
	}
}

static bool end(struct durations *d, const struct name *n, uint64_t time, uint64_t *ret_ns)
{
	size_t at = newest(d, n, map_hash(&d->of, n, sizeof *n));
	if (at == MAP_NONE) { /* it began before the trace */
		return false;
	}
	uint32_t i = (uint32_t)map_value(&d->of, at);
	struct open *o = &d->open[i];
	*ret_ns = time > o->time ? (time - o->time) * 100 : 0;
	if (o->older == NONE) {
		map_remove(&d->of, at);
	} else {
		map_set(&d->of, at, o->older);
	}
	o->older = d->free;
	d->free = i;
	return true;
}

static bool is_class(const EVENT_RECORD *e, const struct guid *g)
{
	return memcmp(&e->EventHeader.ProviderId, g->b, sizeof g->b) == 0;
}

static uint32_t request_field(uint8_t opcode)
{
	switch (opcode) {
	case KP_FILE_IO_OPERATION_END: return KP_FILE_IO_OPERATION_END_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_READ:
	case KP_FILE_IO_WRITE: return KP_FILE_IO_READ_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_CREATE: return KP_FILE_IO_CREATE_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_CLEANUP:
	case KP_FILE_IO_CLOSE:
	case KP_FILE_IO_SET_INFO:
	case KP_FILE_IO_DELETE:
	case KP_FILE_IO_RENAME:
	case KP_FILE_IO_DIR_ENUM:
	case KP_FILE_IO_FLUSH:
	case KP_FILE_IO_QUERY_INFO:
	case KP_FILE_IO_FSCONTROL:
	case KP_FILE_IO_DIR_NOTIFY: return KP_FILE_IO_CLEANUP_SINCE_V2_IRP_PTR; /* these begin alike */
	case KP_FILE_IO_DLETE_PATH:
	case KP_FILE_IO_RENAME_PATH:
	case KP_FILE_IO_SET_LINK_PATH: return KP_FILE_IO_RENAME_PATH_SINCE_V3_IRP_PTR;
	default: return 0; /* no operation */
	}
}

static struct kernel_payload payload_of(const EVENT_RECORD *e)
{
	uint32_t pointer = e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
	return (struct kernel_payload){e->UserData, e->UserData ? e->UserDataLength : 0, pointer};
}

static bool of_file(struct durations *d, const EVENT_RECORD *e, uint64_t *ret_ns)
{
	uint8_t opcode = e->EventHeader.EventDescriptor.Opcode;
	uint32_t field = request_field(opcode);
	uint64_t request = field ? kernel_payload_get(payload_of(e), field) : 0;
	struct name n;
	memset(&n, 0, sizeof n);
	if (request == 0) {
		return false;
	}
	n.task = FILES;
	le64_put(n.id, request);
	if (opcode == KP_FILE_IO_OPERATION_END) {
		return end(d, &n, (uint64_t)e->EventHeader.TimeStamp.QuadPart, ret_ns);
	}
	begin(d, &n, (uint64_t)e->EventHeader.TimeStamp.QuadPart, opcode);
	return false;
}

static bool of_disk(const struct durations *d, const EVENT_RECORD *e, uint64_t *ret_ns)
{
	uint8_t opcode = e->EventHeader.EventDescriptor.Opcode;
	if (opcode != KP_DISK_IO_READ && opcode != KP_DISK_IO_WRITE && opcode != KP_DISK_IO_FLUSH_BUFFERS) {
		return false;
	}
	uint32_t field = opcode == KP_DISK_IO_FLUSH_BUFFERS ? KP_DISK_IO_FLUSH_BUFFERS_SINCE_V0_HIGH_RES_RESPONSE_TIME
							    : KP_DISK_IO_READ_SINCE_V0_HIGH_RES_RESPONSE_TIME;
	struct kernel_payload p = payload_of(e);
	if (!kernel_payload_has(p, field) || d->ticks_per_second == 0) {
		return false;
	}
	*ret_ns = clock_muldiv(kernel_payload_get(p, field), 1000000000, d->ticks_per_second);
	return true;
}

static bool of_span(struct durations *d, const EVENT_RECORD *e, uint32_t pid, uint32_t tid, uint64_t *ret_ns)
{
	static const GUID none;
	const EVENT_HEADER *h = &e->EventHeader;
	struct name n;
	memset(&n, 0, sizeof n);
	n.provider = h->ProviderId;
	memcpy(n.id, &h->ActivityId, sizeof n.id);
	n.task = h->EventDescriptor.Task;
	n.pid = pid;
	n.tid = memcmp(&h->ActivityId, &none, sizeof none) == 0 ? tid : 0;
	if (h->EventDescriptor.Opcode == OPCODE_STOP) {
		return end(d, &n, (uint64_t)h->TimeStamp.QuadPart, ret_ns);
	}
	begin(d, &n, (uint64_t)h->TimeStamp.QuadPart, OPCODE_START);
	return false;
}

bool durations_take(struct durations *d, const EVENT_RECORD *e, uint32_t pid, uint32_t tid, uint64_t *ret_ns)
{
	static const struct guid disk = GUID_INIT(ETW_GUID_CLASS_DISK_IO), file = GUID_INIT(ETW_GUID_CLASS_FILE_IO);
	if (!(e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)) {
		uint8_t opcode = e->EventHeader.EventDescriptor.Opcode;
		return (opcode == OPCODE_START || opcode == OPCODE_STOP) && of_span(d, e, pid, tid, ret_ns);
	}
	return is_class(e, &disk) ? of_disk(d, e, ret_ns) : is_class(e, &file) && of_file(d, e, ret_ns);
}
