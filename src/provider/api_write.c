/* SPDX-License-Identifier: MIT
 *
 * evntprov.h: the EventWrite family. Each function repeats the same inline path with its constants, so
 * that EventWrite pays for nothing it does not offer.
 *
 * Order of checks: handle, parameters, whether anybody listens, size [measured on Windows for
 * EventWriteString: the handle comes first, and parameters are checked with nobody listening].
 */
#include <evntprov.h>

#include "provider/provider_emit.h"

_Static_assert(sizeof(EVENT_DATA_DESCRIPTOR) == sizeof(struct pool_piece) &&
		       offsetof(EVENT_DATA_DESCRIPTOR, Size) == offsetof(struct pool_piece, size) &&
		       offsetof(EVENT_DATA_DESCRIPTOR, Type) == offsetof(struct pool_piece, reserved),
	       "passed through as it is");
_Static_assert(sizeof(EVENT_DESCRIPTOR) == 16, "as on Windows");

static inline __attribute__((always_inline)) ULONG
write_event(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, uint64_t filter, ULONG flags,
	    LPCGUID activity, LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data, const void *frame)
{
	struct provider_hot *hot = provider_lookup(handle);
	if (BASE_UNLIKELY(!hot)) {
		return ERROR_INVALID_HANDLE;
	}
	if (BASE_UNLIKELY(!descriptor || count > PROVIDER_PIECES_MAX || (count != 0 && !data))) {
		return ERROR_INVALID_PARAMETER;
	}
	struct provider_event ev = {
		.hot = hot,
		.descriptor = descriptor,
		.activity = activity,
		.related = related,
		.piece = (const struct pool_piece *)(const void *)data,
		.count = count,
		.flags = flags,
		.exclude = filter,
		.frame = frame,
	};
	return provider_write(&ev);
}

ULONG EVNTAPI EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
			 PEVENT_DATA_DESCRIPTOR UserData)
{
	return write_event(RegHandle, EventDescriptor, 0, 0, NULL, NULL, UserDataCount, UserData,
			   __builtin_frame_address(0));
}

ULONG EVNTAPI EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
				 LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
				 PEVENT_DATA_DESCRIPTOR UserData)
{
	return write_event(RegHandle, EventDescriptor, 0, 0, ActivityId, RelatedActivityId, UserDataCount,
			   UserData, __builtin_frame_address(0));
}

ULONG EVNTAPI EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter,
			   ULONG Flags, LPCGUID ActivityId, LPCGUID RelatedActivityId,
			   ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData)
{
	return write_event(RegHandle, EventDescriptor, Filter, Flags, ActivityId, RelatedActivityId,
			   UserDataCount, UserData, __builtin_frame_address(0));
}

ULONG EVNTAPI EventWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, PCWSTR String)
{
	struct provider_hot *hot = provider_lookup(RegHandle);
	if (!hot) {
		return ERROR_INVALID_HANDLE;
	}
	if (!String) {
		return ERROR_INVALID_PARAMETER;
	}
	if (order_load_relaxed(&order_load_acquire(&hot->entry)->enabled) == 0) {
		return ERROR_SUCCESS;
	}
	size_t units = utf16_len((const uint16_t *)(const void *)String) + 1;
	if (units > PROVIDER_EVENT_ROOM / 2) {
		units = PROVIDER_EVENT_ROOM; /* twice as many bytes: refused and counted below */
	}
	EVENT_DESCRIPTOR desc = {.Level = Level, .Keyword = Keyword};
	/* STRING_ONLY is the writer's to say; a typed registration must not look at our descriptor. */
	struct pool_piece piece = {.ptr = String, .size = (uint32_t)(2 * units)};
	struct provider_event ev = {
		.hot = hot,
		.descriptor = &desc,
		.piece = &piece,
		.count = 1,
		.rec_flags = POOL_REC_STRING_ONLY,
		.frame = __builtin_frame_address(0),
	};
	return provider_emit(&ev);
}
