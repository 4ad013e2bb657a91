/* SPDX-License-Identifier: MIT
 *
 * evntrace.h: TraceMessage, what WPP's staging functions call. The optional fields are laid out
 * here as they stand in the file; sequence number and time are etwd's to fill.
 */
#include <evntrace.h>

#include "provider/provider_classic.h"
#include "provider/provider_classic_write.h"

#include <stdarg.h>

#define ARGS_MAX MAX_EVENT_DATA_DESCRIPTORS

/* The optional fields in their order [doc]; returns bytes, at most 44. */
static uint32_t put_prefix(uint8_t *to, ULONG flags, LPCGUID guid)
{
	uint32_t n = 0;
	if (flags & TRACE_MESSAGE_SEQUENCE) {
		le32_put(to, 0);
		n += 4;
	}
	if (flags & TRACE_MESSAGE_GUID) {
		memcpy(to + n, guid, 16);
		n += 16;
	} else if (flags & TRACE_MESSAGE_COMPONENTID) {
		memcpy(to + n, guid, 4);
		n += 4;
	}
	if (flags & TRACE_MESSAGE_TIMESTAMP) {
		le64_put(to + n, 0);
		n += 8;
	}
	if (flags & TRACE_MESSAGE_SYSTEMINFO) {
		le32_put(to + n, provider_tid());
		le32_put(to + n + 4, provider_memory.epoch);
		n += 8;
	}
	return n;
}

ULONG TraceMessageVa(TRACELOGGER_HANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid, USHORT MessageNumber,
		     va_list MessageArgList)
{
	if (LoggerHandle == 0 || (LoggerHandle & 0xFFFF) == PROVIDER_KERNEL_LOGGER_ID) {
		return ERROR_INVALID_HANDLE;
	}
	bool has_guid = (MessageFlags & TRACE_MESSAGE_GUID) != 0;
	bool has_component = (MessageFlags & TRACE_MESSAGE_COMPONENTID) != 0;
	if ((MessageFlags & ~(ULONG)TRACE_MESSAGE_FLAG_MASK) || (has_guid && has_component) ||
	    ((has_guid || has_component) && !MessageGuid)) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t prefix[48];
	struct pool_piece piece[1 + ARGS_MAX];
	uint32_t count = 1;
	for (;;) {
		const void *ptr = va_arg(MessageArgList, const void *);
		if (!ptr) {
			break;
		}
		size_t size = va_arg(MessageArgList, size_t);
		if (count > ARGS_MAX) {
			return ERROR_INVALID_PARAMETER;
		}
		piece[count++] = (struct pool_piece){ptr, (uint32_t)BASE_MIN(size, (size_t)UINT32_MAX), 0};
	}
	piece[0] = (struct pool_piece){prefix, put_prefix(prefix, MessageFlags, MessageGuid), 0};
	EVENT_DESCRIPTOR desc = {
		.Id = MessageNumber,
		.Task = (USHORT)((MessageFlags & ~(ULONG)TRACE_MESSAGE_POINTER32) | TRACE_MESSAGE_POINTER64),
	};
	struct provider_classic_event ev = {
		.kind = POOL_REC_MESSAGE,
		.descriptor = &desc,
		.piece = piece,
		.count = count,
	};
	return provider_classic_write(LoggerHandle, &ev);
}

ULONG TraceMessage(TRACELOGGER_HANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid, USHORT MessageNumber, ...)
{
	va_list args;
/* The prototype is Windows'; on both of our ABIs the number is passed as the promoted type anyway.
 */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wvarargs"
#endif
	va_start(args, MessageNumber);
#ifdef __clang__
#pragma clang diagnostic pop
#endif
	ULONG r = TraceMessageVa(LoggerHandle, MessageFlags, MessageGuid, MessageNumber, args);
	va_end(args);
	return r;
}
