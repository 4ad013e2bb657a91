/* SPDX-License-Identifier: MIT
 * evntprov.h: registration, information, the two "is it enabled" tests, activity ids.
 */
#include <evntprov.h>

#include "base/match.h"
#include "provider/provider_activity.h"
#include "provider/provider_emit.h"
#include "provider/provider_fork.h"
#include "provider/provider_registry.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

ULONG EVNTAPI EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback, PVOID CallbackContext,
			    PREGHANDLE RegHandle)
{
	if (!RegHandle) {
		return ERROR_INVALID_PARAMETER;
	}
	if (!ProviderId) {
		*RegHandle = 0;
		return ERROR_INVALID_PARAMETER;
	}
	struct provider_register_args a = {
		.enable_fn = (provider_enable_fn)(void (*)(void))EnableCallback,
		.context = CallbackContext,
		.caller = __builtin_return_address(0),
	};
	memcpy(&a.guid, ProviderId, sizeof a.guid);
	*RegHandle = 0;
	uint32_t unused;
	uint64_t handle;
	_Static_assert(sizeof handle == sizeof *RegHandle, "REGHANDLE");
	int r = provider_register(&a, (uint64_t *)(void *)RegHandle, &unused);
	return r < 0 ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

ULONG EVNTAPI EventUnregister(REGHANDLE RegHandle)
{
	return provider_unregister(RegHandle, false) < 0 ? ERROR_INVALID_HANDLE : ERROR_SUCCESS;
}

/* The file the provider's code is in, so that decoders can look for resources there. */
static void track_binary(REGHANDLE handle, const void *code)
{
	Dl_info info;
	char path[PATH_MAX];
	if (dladdr(code, &info) && info.dli_fname && realpath(info.dli_fname, path)) {
		provider_track_binary(handle, path);
	}
}

ULONG EVNTAPI EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass, PVOID EventInformation,
				  ULONG InformationLength)
{
	const struct provider_hot *hot = provider_lookup(RegHandle);
	if (!hot || (hot->flags & PROVIDER_HOT_CLASSIC) || (!EventInformation && InformationLength != 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	int r;
	switch (InformationClass) {
	case EventProviderBinaryTrackInfo:
		if (InformationLength != 0) {
			return ERROR_INVALID_PARAMETER;
		}
		track_binary(RegHandle, __builtin_return_address(0));
		return ERROR_SUCCESS;
	case EventProviderSetTraits:
		r = EventInformation ? provider_set_traits(RegHandle, EventInformation, InformationLength) : -EINVAL;
		return r == 0 ? ERROR_SUCCESS : r == -ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER;
	case EventProviderUseDescriptorType:
		if (!EventInformation || InformationLength != 1) {
			return ERROR_INVALID_PARAMETER;
		}
		r = provider_set_typed(RegHandle, *(const uint8_t *)EventInformation != 0);
		return r == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	default: return ERROR_NOT_SUPPORTED;
	}
}

/* The merged test: may say yes to what every session then filters out. */
static bool entry_enabled(const struct ctl_entry *e, uint8_t level, uint64_t keyword)
{
	return order_load_relaxed(&e->enabled) != 0 && match_level(order_load_relaxed(&e->level_max), level) &&
	       match_keywords(order_load_relaxed(&e->any_union), order_load_relaxed(&e->all_inter), true, keyword);
}

static __attribute__((noinline, cold)) BOOLEAN any_enabled(const struct provider_hot *hot, uint8_t level,
							   uint64_t keyword)
{
	for (int d = 0; d < PROVIDER_DESTS; d++) {
		const struct ctl_entry *e = order_load_acquire(&hot->all[d]);
		if (e && entry_enabled(e, level, keyword)) {
			return TRUE;
		}
	}
	return FALSE;
}

static inline BOOLEAN hot_enabled(const struct provider_hot *hot, uint8_t level, uint64_t keyword)
{
	const struct ctl_entry *e = order_load_acquire(&hot->entry);
	if (BASE_UNLIKELY(e == &provider_entry_on)) {
		return any_enabled(hot, level, keyword);
	}
	return entry_enabled(e, level, keyword);
}

BOOLEAN EVNTAPI EventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
	const struct provider_hot *hot = provider_lookup(RegHandle);
	return hot && EventDescriptor && hot_enabled(hot, EventDescriptor->Level, EventDescriptor->Keyword);
}

BOOLEAN EVNTAPI EventProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
	const struct provider_hot *hot = provider_lookup(RegHandle);
	return hot && hot_enabled(hot, Level, Keyword);
}

ULONG EVNTAPI EventActivityIdControl(ULONG ControlCode, LPGUID ActivityId)
{
	struct guid given, old, fresh;
	if (!ActivityId) {
		return ERROR_INVALID_PARAMETER;
	}
	memcpy(&given, ActivityId, sizeof given);
	provider_activity_get(&old);
	switch (ControlCode) {
	case EVENT_ACTIVITY_CTRL_GET_ID: memcpy(ActivityId, &old, sizeof old); return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_SET_ID: provider_activity_set(&given); return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_CREATE_ID:
		provider_activity_create(&fresh);
		memcpy(ActivityId, &fresh, sizeof fresh);
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_GET_SET_ID:
		provider_activity_set(&given);
		memcpy(ActivityId, &old, sizeof old);
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_CREATE_SET_ID:
		provider_activity_create(&fresh);
		provider_activity_set(&fresh);
		memcpy(ActivityId, &old, sizeof old);
		return ERROR_SUCCESS;
	default: return ERROR_INVALID_PARAMETER;
	}
}
