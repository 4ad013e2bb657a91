/* SPDX-License-Identifier: MIT */
#include "query/query_span_edges.h"

#include "base/base.h"
#include "etw/values/guids.h"

#include "kernel_payload.h"

enum { OPCODE_START = 1, OPCODE_STOP = 2 };

static bool is_class(const struct store_type *t, const struct guid *g)
{
	return t->classic && memcmp(t->provider, g->b, sizeof g->b) == 0;
}

static bool is_file_operation(uint8_t opcode)
{
	static const uint8_t all[] = {KP_FILE_IO_CREATE,      KP_FILE_IO_CLEANUP,       KP_FILE_IO_CLOSE,
				      KP_FILE_IO_READ,        KP_FILE_IO_WRITE,         KP_FILE_IO_SET_INFO,
				      KP_FILE_IO_DELETE,      KP_FILE_IO_RENAME,        KP_FILE_IO_DIR_ENUM,
				      KP_FILE_IO_FLUSH,       KP_FILE_IO_QUERY_INFO,    KP_FILE_IO_FSCONTROL,
				      KP_FILE_IO_DIR_NOTIFY,  KP_FILE_IO_OPERATION_END, KP_FILE_IO_DLETE_PATH,
				      KP_FILE_IO_RENAME_PATH, KP_FILE_IO_SET_LINK_PATH};
	return memchr(all, opcode, sizeof all) != NULL;
}

/* Classic events of the kernel have opcodes 1 and 2, too: processes and threads are no spans of a thread. */
bool edge_wanted(enum openetw_spans kind, const struct store_type *t)
{
	static const struct guid disk = GUID_INIT(ETW_GUID_CLASS_DISK_IO), file = GUID_INIT(ETW_GUID_CLASS_FILE_IO);
	switch (kind) {
	case OPENETW_SPANS_EVENTS: return !t->classic && (t->opcode == OPCODE_START || t->opcode == OPCODE_STOP);
	case OPENETW_SPANS_DISKS:
		return is_class(t, &disk) && (t->opcode == KP_DISK_IO_READ || t->opcode == KP_DISK_IO_WRITE ||
					      t->opcode == KP_DISK_IO_FLUSH_BUFFERS);
	case OPENETW_SPANS_FILES: return is_class(t, &file) && is_file_operation(t->opcode);
	}
	return false;
}

bool edge_may_end(const struct store_type *t)
{
	return (edge_wanted(OPENETW_SPANS_EVENTS, t) && t->opcode == OPCODE_STOP) ||
	       edge_wanted(OPENETW_SPANS_DISKS, t) ||
	       (edge_wanted(OPENETW_SPANS_FILES, t) && t->opcode == KP_FILE_IO_OPERATION_END);
}

static uint32_t request_field(uint8_t opcode)
{
	switch (opcode) {
	case KP_FILE_IO_OPERATION_END: return KP_FILE_IO_OPERATION_END_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_READ:
	case KP_FILE_IO_WRITE: return KP_FILE_IO_READ_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_CREATE: return KP_FILE_IO_CREATE_SINCE_V2_IRP_PTR;
	case KP_FILE_IO_DLETE_PATH:
	case KP_FILE_IO_RENAME_PATH:
	case KP_FILE_IO_SET_LINK_PATH: return KP_FILE_IO_RENAME_PATH_SINCE_V3_IRP_PTR;
	default: return KP_FILE_IO_CLEANUP_SINCE_V2_IRP_PTR; /* all others begin alike */
	}
}

void edge_understand(enum openetw_spans kind, const struct store_type *t, const struct etl_record *r,
		     uint64_t ticks_per_second, struct edge *inout)
{
	const struct kernel_payload in = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	inout->opcode = t->opcode;
	if (kind == OPENETW_SPANS_EVENTS) {
		inout->does = t->opcode == OPCODE_STOP ? EDGE_STOP : EDGE_START;
		memcpy(inout->id, r->activity.b, sizeof inout->id);
	} else if (kind == OPENETW_SPANS_DISKS) {
		bool flush = t->opcode == KP_DISK_IO_FLUSH_BUFFERS;
		uint64_t ticks = kernel_payload_get(in, flush ? KP_DISK_IO_FLUSH_BUFFERS_SINCE_V0_HIGH_RES_RESPONSE_TIME
							      : KP_DISK_IO_READ_SINCE_V0_HIGH_RES_RESPONSE_TIME);
		inout->does = EDGE_BOTH;
		inout->ns = ticks_per_second ? clock_muldiv(ticks, 1000000000, ticks_per_second) : 0;
	} else {
		uint64_t request = kernel_payload_get(in, request_field(t->opcode));
		inout->does = t->opcode == KP_FILE_IO_OPERATION_END ? EDGE_STOP : request ? EDGE_ALONE : EDGE_AT;
		le64_put(inout->id, request);
	}
}

bool edge_again(const struct edge *first, const struct edge *second)
{
	switch (second->opcode) {
	case KP_FILE_IO_CLOSE: return first->opcode == KP_FILE_IO_CLEANUP;
	case KP_FILE_IO_DLETE_PATH: return first->opcode == KP_FILE_IO_DELETE;
	case KP_FILE_IO_RENAME_PATH: return first->opcode == KP_FILE_IO_RENAME;
	default: return false;
	}
}
