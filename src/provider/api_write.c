/* SPDX-License-Identifier: MIT
 *
 * evntprov.h: the EventWrite family. Each function repeats the same inline path with its constants,
 * so that EventWrite pays for nothing it does not offer.
 *
 * Order of checks: handle, parameters, whether anybody listens, size [measured on Windows for
 * EventWriteString: the handle comes first, and parameters are checked with nobody listening].
 */
#include <evntprov.h>

#include "provider/provider_emit.h"

#if defined(__GNUC__) && !defined(__clang__)
/* The functions below call nobody on their usual way; a frame of their own would be of no use. */
#pragma GCC optimize("omit-frame-pointer", "optimize-sibling-calls")
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CALLS_ARE_CALLS
#endif
#endif
#if !defined(__OPTIMIZE__) || defined(ORDER_SANITIZED) || defined(__SANITIZE_ADDRESS__)
#define CALLS_ARE_CALLS
#endif

/* Where a stack walk starts: the frame of the API function. In builds for debugging, where a sibling
 * call is a call like any other, it has to be remembered; else the first frame there is is the one. */
#ifdef CALLS_ARE_CALLS
static __thread const void *api_frame;
#define REMEMBER_FRAME() (api_frame = __builtin_frame_address(0))
#define API_FRAME()      api_frame
#else
#define REMEMBER_FRAME() ((void)0)
#define API_FRAME()      __builtin_frame_address(0)
#endif

_Static_assert(sizeof(EVENT_DATA_DESCRIPTOR) == sizeof(struct pool_piece) &&
		       offsetof(EVENT_DATA_DESCRIPTOR, Size) == offsetof(struct pool_piece, size) &&
		       offsetof(EVENT_DATA_DESCRIPTOR, Type) == offsetof(struct pool_piece, reserved),
	       "passed through as it is");
_Static_assert(sizeof(EVENT_DESCRIPTOR) == 16, "as on Windows");

/* A stack walk starts at the caller's frame, so ours must still be there: no sibling call. */
static inline ULONG keep_frame(ULONG code)
{
	__asm__ volatile("" : "+r"(code));
	return code;
}

static inline bool bad_arguments(PCEVENT_DESCRIPTOR descriptor, ULONG count, PEVENT_DATA_DESCRIPTOR data)
{
	return !descriptor || count > MAX_EVENT_DATA_DESCRIPTORS || (BASE_UNLIKELY(!data) && count != 0);
}

/* Reached by sibling calls from the functions below, like those from EventWrite: the return address
 * is still the one in the caller of EventWrite, and this frame the first one there is. */
static __attribute__((noinline)) uint32_t write_again(struct provider_hot *hot, const void *descriptor, uint32_t count,
						      const struct pool_piece *piece, const void *activity)
{
	return keep_frame(provider_emit_again(hot, descriptor, activity, piece, count, API_FRAME()));
}

static __attribute__((noinline)) uint32_t write_plain_rest(struct pool_slot *s, uint8_t *at, uint8_t *to,
							   const struct pool_piece *piece, uint64_t numbers,
							   const void *descriptor)
{
	return provider_write_rest(s, at, to, piece, numbers, descriptor, write_again, false);
}

static __attribute__((noinline)) uint32_t write_typed_rest(struct pool_slot *s, uint8_t *at, uint8_t *to,
							   const struct pool_piece *piece, uint64_t numbers,
							   const void *descriptor)
{
	return provider_write_rest(s, at, to, piece, numbers, descriptor, write_again, true);
}

/* One for each shape. The most usual one is part of EventWrite. */
#define WRITE_SHAPE(inlining, name, shape)                                                                             \
	static inlining ULONG name(struct provider_hot *hot, const struct ctl_entry *entry,                            \
				   PCEVENT_DESCRIPTOR descriptor, ULONG count, PEVENT_DATA_DESCRIPTOR data,            \
				   LPCGUID activity)                                                                   \
	{                                                                                                              \
		return provider_write(hot, entry, descriptor, activity, (const struct pool_piece *)(const void *)data, \
				      count, write_again,                                                              \
				      (shape)&PROVIDER_SHAPE_TYPED ? write_typed_rest : write_plain_rest, shape);      \
	}
WRITE_SHAPE(inline __attribute__((always_inline)), write_plain, PROVIDER_SHAPE_PLAIN)
WRITE_SHAPE(__attribute__((noinline)), write_typed, PROVIDER_SHAPE_TYPED)
WRITE_SHAPE(__attribute__((noinline)), write_any, PROVIDER_SHAPE_ANY)
WRITE_SHAPE(__attribute__((noinline)), write_typed_any, PROVIDER_SHAPE_TYPED | PROVIDER_SHAPE_ANY)

static inline bool nobody_listens(const struct ctl_entry *entry)
{
	return !order_differs(&entry->enabled, 0u);
}

/* All checks, in their order: a bad handle, the first write of a forked child, bad parameters, a thread
 * with an activity, many pieces. */
static __attribute__((noinline)) ULONG write_careful(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG count,
						     PEVENT_DATA_DESCRIPTOR data, LPCGUID activity)
{
	struct provider_hot *hot = provider_lookup(handle);
	if (!hot) {
		return ERROR_INVALID_HANDLE;
	}
	if (bad_arguments(descriptor, count, data)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct ctl_entry *entry = order_load_acquire(&hot->entry);
	if (nobody_listens(entry)) {
		return ERROR_SUCCESS;
	}
	return order_has(&hot->flags, PROVIDER_HOT_TYPED)
		       ? write_typed_any(hot, entry, descriptor, count, data, activity)
		       : write_any(hot, entry, descriptor, count, data, activity);
}

/* One jump each: joined by ||, compilers compute the conditions first. write_careful() looks for itself
 * whether anybody listens. */
#define UNUSUAL(condition, activity)                                                                 \
	__asm__ volatile("");                                                                        \
	if (BASE_UNLIKELY(condition)) {                                                              \
		return write_careful(RegHandle, EventDescriptor, UserDataCount, UserData, activity); \
	}

ULONG EVNTAPI EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
			 PEVENT_DATA_DESCRIPTOR UserData)
{
	REMEMBER_FRAME();
	struct provider_hot *hot = provider_lookup_fast(RegHandle);
	if (BASE_UNLIKELY(!hot)) {
		return write_careful(RegHandle, EventDescriptor, UserDataCount, UserData, NULL);
	}
	UNUSUAL(!EventDescriptor, NULL)
	UNUSUAL(UserDataCount > POOL_QUICK_PIECES, NULL)
	UNUSUAL(!UserData, NULL)
	const struct ctl_entry *entry = order_load_acquire(&hot->entry);
	if (nobody_listens(entry)) {
		return ERROR_SUCCESS;
	}
	if (BASE_UNLIKELY(!provider_thread_plain())) {
		return write_careful(RegHandle, EventDescriptor, UserDataCount, UserData, NULL);
	}
	return BASE_UNLIKELY(order_has(&hot->flags, PROVIDER_HOT_TYPED))
		       ? write_typed(hot, entry, EventDescriptor, UserDataCount, UserData, NULL)
		       : write_plain(hot, entry, EventDescriptor, UserDataCount, UserData, NULL);
}

/* The general case. `frame` is the API function's, whose caller begins a stack. */
static __attribute__((noinline)) ULONG write_ex(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG64 filter,
						ULONG flags, LPCGUID activity, LPCGUID related, ULONG count,
						PEVENT_DATA_DESCRIPTOR data, const void *frame)
{
	struct provider_hot *hot = provider_lookup(handle);
	if (!hot) {
		return ERROR_INVALID_HANDLE;
	}
	if (bad_arguments(descriptor, count, data)) {
		return ERROR_INVALID_PARAMETER;
	}
	if (nobody_listens(order_load_acquire(&hot->entry))) {
		return ERROR_SUCCESS;
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
	return provider_emit(&ev);
}

ULONG EVNTAPI EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter, ULONG Flags,
			   LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
			   PEVENT_DATA_DESCRIPTOR UserData)
{
	return keep_frame(write_ex(RegHandle, EventDescriptor, Filter, Flags, ActivityId, RelatedActivityId,
				   UserDataCount, UserData, __builtin_frame_address(0)));
}

/* Apart, and reached by a jump, for the sake of its frame. */
static __attribute__((noinline)) ULONG write_related(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity,
						     LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data)
{
	return keep_frame(write_ex(handle, descriptor, 0, 0, activity, related, count, data, API_FRAME()));
}

ULONG EVNTAPI EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, LPCGUID ActivityId,
				 LPCGUID RelatedActivityId, ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData)
{
	REMEMBER_FRAME();
	if (BASE_UNLIKELY(RelatedActivityId)) {
		return write_related(RegHandle, EventDescriptor, ActivityId, RelatedActivityId, UserDataCount,
				     UserData);
	}
	struct provider_hot *hot = provider_lookup_fast(RegHandle);
	if (BASE_UNLIKELY(!hot)) {
		return write_careful(RegHandle, EventDescriptor, UserDataCount, UserData, ActivityId);
	}
	UNUSUAL(!EventDescriptor, ActivityId)
	UNUSUAL(UserDataCount > POOL_QUICK_PIECES, ActivityId)
	UNUSUAL(!UserData, ActivityId)
	const struct ctl_entry *entry = order_load_acquire(&hot->entry);
	if (nobody_listens(entry)) {
		return ERROR_SUCCESS;
	}
	if (BASE_UNLIKELY(ActivityId || !provider_thread_plain())) {
		return write_careful(RegHandle, EventDescriptor, UserDataCount, UserData, ActivityId);
	}
	return BASE_UNLIKELY(order_has(&hot->flags, PROVIDER_HOT_TYPED))
		       ? write_typed(hot, entry, EventDescriptor, UserDataCount, UserData, NULL)
		       : write_plain(hot, entry, EventDescriptor, UserDataCount, UserData, NULL);
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
	if (nobody_listens(order_load_acquire(&hot->entry))) {
		return ERROR_SUCCESS;
	}
	size_t units = utf16_len((const uint16_t *)(const void *)String) + 1;
	if (units > PROVIDER_EVENT_ROOM / 2) {
		units = PROVIDER_EVENT_ROOM; /* twice as many bytes: refused and counted below */
	}
	EVENT_DESCRIPTOR desc = {.Level = Level, .Keyword = Keyword};
	/* STRING_ONLY is the writer's to say; a typed registration must not look at our descriptor.
	 */
	struct pool_piece piece = {.ptr = String, .size = (uint32_t)(2 * units)};
	struct provider_event ev = {
		.hot = hot,
		.descriptor = &desc,
		.piece = &piece,
		.count = 1,
		.rec_flags = POOL_REC_STRING_ONLY,
		.frame = __builtin_frame_address(0),
	};
	return keep_frame(provider_emit(&ev));
}
