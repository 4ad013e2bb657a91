/* SPDX-License-Identifier: MIT
 *
 * The input as events that somebody appends to a live index, of the kernel, of classes and of manifests, with whatever
 * items and lengths; then questions about them, and a file of what is there.
 */
#include "base/base.h"

#include "openetw/error.h"
#include "openetw/query.h"

#include "evntcons.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EVENTS_MOST 4096u
#define ITEMS_MOST  4u

static volatile uint64_t sum;

/* Those that say something about others, and two that nobody knows. */
static const uint8_t classes[][16] = {
	{0xD0, 0xF2, 0x28, 0x3D, 0xE9, 0x6D, 0xD0, 0x11, 0xA2, 0x02, 0x00, 0xA0, 0xC9, 0x28, 0xC2, 0xD0},
	{0xD1, 0xD2, 0x84, 0x3D, 0xE9, 0x6D, 0xD0, 0x11, 0xA2, 0x02, 0x00, 0xA0, 0xC9, 0x28, 0xC2, 0xD0},
	{0xAA, 0xB1, 0x6B, 0xDE, 0x1D, 0x9A, 0x9A, 0x44, 0x82, 0x9F, 0x84, 0x94, 0x0B, 0x28, 0xE2, 0x2F},
	{0x1D, 0x5D, 0xB1, 0x2C, 0xC1, 0x5F, 0xD2, 0x11, 0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18},
	{0xC1, 0xF6, 0xCC, 0xBB, 0xD1, 0x6C, 0xC4, 0x48, 0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71},
	{1, 2, 3},
	{0},
};

/* One event: a head of 16 bytes, its items' lengths, and the bytes of all. False: the input has ended. */
static bool append(struct openetw_index *x, struct bytes *in)
{
	EVENT_HEADER_EXTENDED_DATA_ITEM items[ITEMS_MOST] = {{0}};
	EVENT_RECORD e = {.ExtendedData = items};
	uint8_t which = bytes_u8(in), flags = bytes_u8(in);
	memcpy(&e.EventHeader.ProviderId, classes[which % (sizeof classes / sizeof classes[0])], 16);
	e.EventHeader.Flags = (USHORT)((flags & 1 ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0) |
				       (flags & 2 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER) |
				       (flags & 4 ? EVENT_HEADER_FLAG_STRING_ONLY : 0) |
				       (flags & 8 ? EVENT_HEADER_FLAG_PROCESSOR_INDEX : 0));
	e.EventHeader.EventDescriptor.Opcode = bytes_u8(in);
	e.EventHeader.EventDescriptor.Version = bytes_u8(in) % 5;
	e.EventHeader.EventDescriptor.Id = bytes_u16(in);
	e.EventHeader.EventDescriptor.Level = flags >> 6;
	e.EventHeader.ProcessId = bytes_u8(in) - 1u;
	e.EventHeader.ThreadId = bytes_u8(in) - 1u;
	e.EventHeader.TimeStamp.QuadPart = (int32_t)bytes_u32(in) * (1ll << (flags >> 2 & 31));
	e.BufferContext.ProcessorIndex = bytes_u8(in);
	uint32_t count = bytes_u8(in) % (ITEMS_MOST + 1), payload = bytes_u16(in);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bytes = bytes_u16(in) % 512;
		items[i].ExtType = bytes_u8(in) % 24;
		items[i].DataSize = (USHORT)bytes;
		items[i].DataPtr = (uintptr_t)bytes_take(in, bytes);
	}
	e.ExtendedDataCount = (USHORT)count;
	payload = payload % 2048;
	payload = bytes_left(in) < payload ? (uint32_t)bytes_left(in) : payload;
	e.UserDataLength = (USHORT)payload;
	e.UserData = (void *)(uintptr_t)bytes_take(in, payload);
	if (in->bad) {
		return false;
	}
	sum += openetw_index_append(x, &e);
	return true;
}

static bool take_row(void *context, const struct openetw_row *row)
{
	const openetw_event_record *e;
	struct openetw_query *q = context;
	sum += row->type + row->thread + (uint64_t)row->time;
	sum += openetw_query_event(q, row->row, &e) == ERROR_SUCCESS ? e->ExtendedDataCount + e->UserDataLength : 0;
	return true;
}

static bool take_facet(void *context, const struct openetw_facet *f)
{
	sum += f->count + (uint8_t)f->text[0];
	(void)context;
	return true;
}

static void ask(struct openetw_index *x, uint8_t which)
{
	static const char *const filters[] = {"", "Flags > 1 or text has a", "stack has a", "process ~ a and tid > 2",
					      "duration > 1ms"};
	struct openetw_query *q = openetw_query_create(x), *rows = openetw_query_create(x);
	if (!q || !rows) {
		abort();
	}
	openetw_query_set_filter(q, filters[which % (sizeof filters / sizeof filters[0])]);
	openetw_query_rows(q, 0, 300, take_row, rows, NULL);
	openetw_query_facets(q, OPENETW_BY_PROCESS, 20, take_facet, NULL, NULL);
	openetw_query_facets(q, OPENETW_BY_STACK, 20, take_facet, NULL, NULL);
	if (which % 4 == 0) {
		openetw_query_save(q, "/dev/null", NULL);
	}
	openetw_query_destroy(q);
	openetw_query_destroy(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct openetw_live_options o = {.size = sizeof o, .ring_bytes = 1 << 20, .start_filetime = 1};
	OPENETW_SIZED(struct openetw_live_progress, p);
	struct openetw_index *x;
	struct bytes in = bytes_of(data, size);
	uint8_t which = bytes_u8(&in);
	if (openetw_index_open_live(&o, &x) != ERROR_SUCCESS) {
		return 0;
	}
	uint32_t rows = 0;
	while (rows < EVENTS_MOST && append(x, &in)) {
		rows++;
	}
	if (openetw_index_live_progress(x, &p) != ERROR_SUCCESS || p.rows + p.events_refused > rows) {
		abort();
	}
	ask(x, which);
	openetw_index_close(x);
	return 0;
}
