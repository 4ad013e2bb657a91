/* SPDX-License-Identifier: MIT
 * The caller's properties block: checks in the order that gives Windows' codes, strings in and out.
 */
#include "control/control.h"

#include <stdlib.h>

static size_t struct_bytes(const EVENT_TRACE_PROPERTIES *p)
{
	return (p->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES) ? sizeof(EVENT_TRACE_PROPERTIES_V2)
								  : sizeof(EVENT_TRACE_PROPERTIES);
}

static bool offset_valid(const EVENT_TRACE_PROPERTIES *p, uint32_t offset)
{
	return offset == 0 || (offset >= struct_bytes(p) && offset < p->Wnode.BufferSize);
}

/* End of the string area that begins at `offset`: the other area when that follows, else the block. */
static uint32_t area_end(const EVENT_TRACE_PROPERTIES *p, uint32_t offset, uint32_t other)
{
	return other > offset ? other : p->Wnode.BufferSize;
}

static const char no_room_for_name[] = "the properties block has no room for the session's name";

uint32_t control_block_check(const struct control_block *b, bool for_start, size_t name_units)
{
	const EVENT_TRACE_PROPERTIES *p = b->p;
	size_t unit = b->wide ? 2 : 1;
	if (p->Wnode.BufferSize < sizeof(EVENT_TRACE_PROPERTIES) || p->Wnode.BufferSize < struct_bytes(p)) {
		return control_refuse(ERROR_BAD_LENGTH, "Wnode.BufferSize is smaller than the properties structure");
	}
	if ((p->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES) &&
	    ((const EVENT_TRACE_PROPERTIES_V2 *)p)->VersionNumber != 2) {
		return control_refuse(ERROR_INVALID_PARAMETER, "WNODE_FLAG_VERSIONED_PROPERTIES needs VersionNumber 2");
	}
	/* An area that begins where the block ends is one without room, not a wrong offset. */
	if (for_start && p->LoggerNameOffset == p->Wnode.BufferSize) {
		return control_refuse(ERROR_BAD_LENGTH, no_room_for_name);
	}
	if (!offset_valid(p, p->LogFileNameOffset) || !offset_valid(p, p->LoggerNameOffset)) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      "LoggerNameOffset or LogFileNameOffset points outside the block or "
				      "into the structure");
	}
	if (b->wide && ((p->LogFileNameOffset | p->LoggerNameOffset) & 1)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "the offset of a 16-bit string must be even");
	}
	if (!for_start) {
		return ERROR_SUCCESS;
	}
	if (p->LoggerNameOffset != 0 &&
	    area_end(p, p->LoggerNameOffset, p->LogFileNameOffset) - p->LoggerNameOffset < (name_units + 1) * unit) {
		return control_refuse(ERROR_BAD_LENGTH, no_room_for_name);
	}
	if (!(p->Wnode.Flags & WNODE_FLAG_TRACED_GUID)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "Wnode.Flags must have WNODE_FLAG_TRACED_GUID");
	}
	return ERROR_SUCCESS;
}

/* Characters before the terminator, or the whole area when there is none. */
static size_t area_len(const struct control_block *b, uint32_t offset, uint32_t end)
{
	const uint8_t *s = (const uint8_t *)b->p + offset;
	size_t unit = b->wide ? 2 : 1;
	size_t max = (end - offset) / unit;
	for (size_t i = 0; i < max; i++) {
		if (b->wide ? le16_get(s + 2 * i) == 0 : s[i] == 0) {
			return i;
		}
	}
	return max;
}

int control_path(const char *in, char *out, size_t cap)
{
	char fixed[4096];
	size_t n = strlen(in);
	if (n >= sizeof fixed) {
		return -ENAMETOOLONG;
	}
	memcpy(fixed, in, n + 1);
	/* A Linux name may contain a backslash; only a path without any slash is taken as Windows'. */
	if (!strchr(fixed, '/')) {
		for (char *c = fixed; *c; c++) {
			if (*c == '\\') {
				*c = '/';
			}
		}
	}
	const char *s = fixed;
	if (((s[0] | 0x20) >= 'a' && (s[0] | 0x20) <= 'z') && s[1] == ':' && s[2] == '/') {
		s += 2;
	}
	size_t at = 0;
	if (s[0] != '/') {
		if (!getcwd(out, cap)) {
			return -ENAMETOOLONG;
		}
		at = strlen(out);
		if (at + 1 >= cap) {
			return -ENAMETOOLONG;
		}
		out[at++] = '/';
	}
	size_t m = strlen(s);
	if (at + m >= cap) {
		return -ENAMETOOLONG;
	}
	memcpy(out + at, s, m + 1);
	return 0;
}

uint32_t control_block_file(const struct control_block *b, uint16_t *out, size_t cap, uint32_t *ret_len)
{
	const EVENT_TRACE_PROPERTIES *p = b->p;
	*ret_len = 0;
	if (p->LogFileNameOffset == 0) {
		return ERROR_SUCCESS;
	}
	uint32_t end = area_end(p, p->LogFileNameOffset, p->LoggerNameOffset);
	size_t n = area_len(b, p->LogFileNameOffset, end);
	if (n > CONTROL_NAME_MAX) {
		return control_refuse(ERROR_BAD_PATHNAME, "the log file's name has more than 1024 characters");
	}
	const uint8_t *s = (const uint8_t *)p + p->LogFileNameOffset;
	char text[4096], path[4096];
	if (b->wide) {
		long k = utf16_to_utf8(s, n, text, sizeof text);
		if (k < 0 || (size_t)k >= sizeof text) {
			return ERROR_BAD_PATHNAME;
		}
	} else {
		memcpy(text, s, n);
		text[n] = 0;
	}
	if (text[0] == 0) {
		return ERROR_SUCCESS;
	}
	if (control_path(text, path, sizeof path) < 0) {
		return ERROR_BAD_PATHNAME;
	}
	long units = utf8_to_utf16(path, strlen(path), out, cap);
	if (units < 0 || (size_t)units >= cap) {
		return ERROR_BAD_PATHNAME;
	}
	*ret_len = (uint32_t)units;
	return ERROR_SUCCESS;
}

/* Copy a name out; false when it does not fit (then as much as fits, terminated). */
static bool put_name(const struct control_block *b, uint32_t offset, uint32_t other, const uint16_t *s, uint32_t len)
{
	if (offset == 0 || s == NULL) {
		return true;
	}
	uint32_t room = area_end(b->p, offset, other) - offset;
	uint8_t *out = (uint8_t *)b->p + offset;
	if (b->wide) {
		uint32_t units = room / 2;
		if (units == 0) {
			return false;
		}
		uint32_t n = BASE_MIN(len, units - 1);
		memcpy(out, s, 2 * (size_t)n);
		le16_put(out + 2 * (size_t)n, 0);
		return n == len;
	}
	long need = utf16_to_utf8_lossy(s, len, (char *)out, room);
	return need >= 0 && (uint32_t)need < room;
}

uint32_t control_block_fill(const struct control_block *b, const struct proto_session *s)
{
	EVENT_TRACE_PROPERTIES *p = b->p;
	p->Wnode.HistoricalContext = s->id;
	memcpy(&p->Wnode.Guid, s->props.guid.b, 16);
	p->Wnode.ClientContext = s->props.clock;
	p->Wnode.Flags |= WNODE_FLAG_TRACED_GUID;
	p->BufferSize = s->props.buffer_kb;
	p->MinimumBuffers = s->props.minimum_buffers;
	p->MaximumBuffers = s->props.maximum_buffers;
	p->MaximumFileSize = s->props.maximum_file_size;
	p->LogFileMode = s->props.mode;
	p->FlushTimer = s->props.flush_timer;
	p->EnableFlags = s->props.enable_flags;
	p->FlushThreshold = (LONG)s->props.flush_threshold;
	p->NumberOfBuffers = s->number_of_buffers;
	p->FreeBuffers = s->free_buffers;
	p->EventsLost = s->events_lost;
	p->BuffersWritten = s->buffers_written;
	p->LogBuffersLost = s->log_buffers_lost;
	p->RealTimeBuffersLost = s->real_time_buffers_lost;
	p->LoggerThreadId = (HANDLE)(uintptr_t)s->logger_thread_id;
	bool fits = put_name(b, p->LoggerNameOffset, p->LogFileNameOffset, s->name, s->name_len);
	fits &= put_name(b, p->LogFileNameOffset, p->LoggerNameOffset, s->log_file, s->log_file_len);
	return fits ? ERROR_SUCCESS : ERROR_MORE_DATA;
}

uint32_t control_name(const void *name, bool wide, uint16_t *out, uint32_t *ret_len)
{
	long n;
	if (wide) {
		const uint16_t *s = name;
		n = 0;
		while (n <= (long)CONTROL_NAME_MAX && s[n] != 0) {
			n++;
		}
		if (n <= (long)CONTROL_NAME_MAX) {
			memcpy(out, s, 2 * (size_t)n);
			out[n] = 0;
		}
	} else {
		const char *s = name;
		n = utf8_to_utf16(s, strnlen(s, 4 * CONTROL_NAME_MAX + 1), out, CONTROL_NAME_MAX + 1);
		if (n < 0) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	if (n > (long)CONTROL_NAME_MAX) {
		return control_refuse(ERROR_BAD_LENGTH, "a session's name has at most 1024 characters");
	}
	if (n == 0) {
		return control_refuse(ERROR_INVALID_PARAMETER, "a session's name cannot be empty");
	}
	*ret_len = (uint32_t)n;
	return ERROR_SUCCESS;
}
