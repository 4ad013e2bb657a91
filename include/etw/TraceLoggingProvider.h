/* SPDX-License-Identifier: MIT
 *
 * Events that describe themselves: name, field names and types travel with each event, so there is
 * nothing to write down beforehand and nothing to install for reading.
 *
 *   TRACELOGGING_DEFINE_PROVIDER(MyProvider, "Company.Component",
 *       (0xce5fa4ea, 0xab00, 0x5402, 0x8b, 0x76, 0x9f, 0x76, 0xac, 0x85, 0x8f, 0xb5));
 *
 *   TraceLoggingRegister(MyProvider);
 *   TraceLoggingWrite(MyProvider, "Opened", TraceLoggingLevel(4), TraceLoggingString(path),
 *       TraceLoggingInt32(fd, "handle"));
 *   TraceLoggingUnregister(MyProvider);
 *
 * What an event is called and made of is a constant that the compiler lays out at each
 * TraceLoggingWrite. At run time a write nobody listens to is one load and one compare, and
 * evaluates none of its values; a write somebody listens to fills one data descriptor a field and
 * calls EventWriteTransfer. Values are not copied on the way.
 *
 * C99 and C++11, gcc and clang. Wide strings are UTF-16: char16_t and u"text", or, with
 * -fshort-wchar, wchar_t and L"text". A 4-byte wchar_t is an error at compile time.
 *
 *   here              providers, registration, the write macros
 *   tlg/fields.h      what may be an argument of a write: levels, keywords, the field types
 *   tlg/types.h       the numbers of the metadata, struct _tlgProvider_t
 *   tlg/engine.h      how arguments become a constant and a call
 *   tlg/data_c.h, tlg/data_cpp.h, tlg/foreach.h   its parts
 *   tlg/linux.h       the dialects of Linux, with ETW_TLG_LINUX: -I…/etw/linux
 *
 * Names that start with _tlg or _Tlg are internal, though some are Microsoft's, because programs
 * use them.
 */
#ifndef ETW_TRACELOGGINGPROVIDER_H
#define ETW_TRACELOGGINGPROVIDER_H
#define _TRACELOGGINGPROVIDER_ 1

#ifdef ETW_TLG_LINUX
#include <assert.h>
#ifndef __cplusplus
#include <stdbool.h>
#include <uchar.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#endif
#include "evntprov.h"

/* Define any of these before including this file to send events somewhere else: a test's recorder,
 * a wrapper. They are names of functions with the signatures of evntprov.h. */
#ifndef TLG_EVENT_REGISTER
#define TLG_EVENT_REGISTER EventRegister
#endif
#ifndef TLG_EVENT_UNREGISTER
#define TLG_EVENT_UNREGISTER EventUnregister
#endif
#ifndef TLG_EVENT_SET_INFORMATION
#define TLG_EVENT_SET_INFORMATION EventSetInformation
#endif
#ifndef TLG_EVENT_WRITE_TRANSFER
#define TLG_EVENT_WRITE_TRANSFER EventWriteTransfer
#endif
#ifndef TLG_EVENT_WRITE_EX
#define TLG_EVENT_WRITE_EX EventWriteEx
#endif
/* 0: never call it, events then lack their provider's name. 1: call it. 2: look it up at run time,
 * which here is the same as 1, because no version of the library lacks it. */
#ifndef TLG_HAVE_EVENT_SET_INFORMATION
#define TLG_HAVE_EVENT_SET_INFORMATION 1
#endif
#ifndef TLG_PENABLECALLBACK
#define TLG_PENABLECALLBACK PENABLECALLBACK
#endif
#ifndef TLG_STATUS
#define TLG_STATUS HRESULT
#endif
#ifndef TLG_DEBUG
#define TLG_DEBUG 0
#endif
#ifndef TLG_RAISEASSERTIONFAILURE
#define TLG_RAISEASSERTIONFAILURE() __builtin_trap()
#endif

#include "tlg/foreach.h"
#include "tlg/types.h"
#include "tlg/engine.h"
#ifdef __cplusplus
#include "tlg/data_cpp.h"
#else
#include "tlg/data_c.h"
#endif
#include "tlg/fields.h"

/* ---- writing ---------------------------------------------------------------------------- */

/* TraceLoggingWrite(provider, "event name", up to 99 arguments of tlg/fields.h)
 *
 * Statements without a result: an event that cannot be written is lost and counted by the session.
 * context: any thread, signal handlers (if the values are fit for it). */
#define TraceLoggingWrite(hProvider, ...) \
	_tlgWriteAt(hProvider, _tlgFirst(__VA_ARGS__), (_tlgWriteTransfer, NULL, NULL), __VA_ARGS__)

/* TraceLoggingWriteActivity(provider, "event name", activity, related, arguments)
 * `activity` and `related` are GUID pointers or NULL. */
#define TraceLoggingWriteActivity(hProvider, eventName, pActivityId, ...) \
	_tlgWriteAt(hProvider, eventName, (_tlgWriteTransfer, pActivityId, _tlgFirst(__VA_ARGS__)), __VA_ARGS__)

/* TraceLoggingWriteEx(provider, "event name", filter, flags, activity, related, arguments)
 * `filter` and `flags` as for EventWriteEx. */
#define TraceLoggingWriteEx(hProvider, eventName, filter, flags, pActivityId, ...)                           \
	_tlgWriteAt(hProvider, eventName, (_tlgWriteEx, filter, flags, pActivityId, _tlgFirst(__VA_ARGS__)), \
		    __VA_ARGS__)

/* ---- providers -------------------------------------------------------------------------- */

/* TRACELOGGING_DECLARE_PROVIDER(handle);            in a header, for use from several files
 * TRACELOGGING_DEFINE_PROVIDER(handle, "name", (11 numbers of the GUID), options);
 *                                                  in one of them
 *
 * By convention the GUID follows from the name: SHA-1 of a fixed namespace and the name in
 * upper-case UTF-16BE. Options: TraceLoggingOptionGroup, TraceLoggingOptionTrait.
 *
 * A handle belongs to one program or shared object: so the compiler may rely on its value, and a
 * disabled write in the defining file needs no load for it. (Hidden visibility would say the same,
 * but would rub off on activity classes and everything derived from them.) */
#define TRACELOGGING_DECLARE_PROVIDER(handleVariable) EXTERN_C TraceLoggingHProvider const handleVariable _tlgMODULE
#define _tlgMODULE                                    __attribute__((visibility("protected")))

#define TRACELOGGING_DEFINE_PROVIDER(handleVariable, ...)                                \
	TRACELOGGING_DEFINE_PROVIDER_STORAGE(_tlgStorage_##handleVariable, __VA_ARGS__); \
	TRACELOGGING_DECLARE_PROVIDER(handleVariable);                                   \
	TraceLoggingHProvider const handleVariable = &_tlgStorage_##handleVariable

/* The static variable a handle points to, for handles kept elsewhere:
 * `handle = &storageVariable`. */
#define TRACELOGGING_DEFINE_PROVIDER_STORAGE(storageVariable, providerName, ...) \
	_tlgDefineStorage(storageVariable, providerName, _tlgFirst(__VA_ARGS__), __VA_ARGS__)

/* Puts the provider into a provider group. */
#define TraceLoggingOptionGroup(l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
	(_tlgTrait, EtwProviderTraitTypeGroup, GUID, {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}})

/* A trait of type 128 to 255, one's own: `value` initialises a variable of `valueType`. */
#define TraceLoggingOptionTrait(traitType, valueType, ...) (_tlgTrait, traitType, valueType, __VA_ARGS__)

/* `_tlgPad` aligns the GUID, and with it the traits blob, which starts at byte 20. */
#define _tlgDefineStorage(storageVariable, providerName, guid, ...)                                                \
	static const struct __attribute__((packed)) {                                                              \
		UINT8 _tlgPad[3];                                                                                  \
		UINT8 _tlgBlobTyp;                                                                                 \
		GUID _tlgProvGuid;                                                                                 \
		UINT16 _tlgProvMetaSize;                                                                           \
		char _tlgProvName[sizeof(providerName)];                                                           \
		_tlg_EACH(_tlgOptDecl, __VA_ARGS__)                                                                \
	} storageVariable##_Meta __attribute__((aligned(4))) = {{0, 0, 0},                                         \
								_TlgBlobProvider3,                                 \
								_tlgGuid guid,                                     \
								(UINT16)(sizeof(storageVariable##_Meta) - 20),     \
								providerName _tlg_EACH(_tlgOptInit, __VA_ARGS__)}; \
	static struct _tlgProvider_t storageVariable = {                                                           \
		0, (UINT16 const *)(void const *)((UCHAR const *)&storageVariable##_Meta + 20), 0, 0, 0, NULL, NULL}
#define _tlgGuid(l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
	{                                                   \
		l, w1, w2,                                  \
		{                                           \
			b1, b2, b3, b4, b5, b6, b7, b8      \
		}                                           \
	}

#define _tlgOptDecl(n, arg)       _tlgOp(_tlgOptDecl, n, _tlgStrip arg)
#define _tlgOptDecl_tlgStrip(...) /* an empty option */
#define _tlgOptInit_tlgStrip(...)
#define _tlgOptDecl_tlgTrait(n, type, ctype, ...) \
	UINT16 _tlgTraitSize##n;                  \
	UINT8 _tlgTraitType##n;                   \
	__typeof__(ctype) _tlgTrait##n;
#define _tlgOptInit(n, arg)                       _tlgOp(_tlgOptInit, n, _tlgStrip arg)
#define _tlgOptInit_tlgTrait(n, type, ctype, ...) , (UINT16)(3 + sizeof(ctype)), type, __VA_ARGS__

/* Tools on Windows find providers by this note in the debug database. There is none here. */
#define _tlg_DefineProvider_annotation(storage, functionSuffix, wrap, providerName) \
	_tlgSA(sizeof(providerName) > 0, "TraceLogging: a provider has a name")

/* ---- registration ----------------------------------------------------------------------- */

/* What EventRegister calls. Keeps the state that _tlgEnabled reads, then forwards to the provider's
 * own callback. A disabled provider keeps its keywords: the level alone decides. */
static __inline__ __attribute__((unused)) VOID NTAPI _tlgEnableCallback(LPCGUID SourceId, ULONG IsEnabled, UCHAR Level,
									ULONGLONG MatchAnyKeyword,
									ULONGLONG MatchAllKeyword,
									PEVENT_FILTER_DESCRIPTOR FilterData,
									PVOID Context)
{
	struct _tlgProvider_t *const p = (struct _tlgProvider_t *)Context;

	switch (IsEnabled) {
	case EVENT_CONTROL_CODE_DISABLE_PROVIDER: __atomic_store_n(&p->LevelPlus1, 0u, __ATOMIC_RELAXED); break;
	case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
		/* Keywords first, so that a provider becoming enabled has them. A write at this
		 * moment may see old and new mixed; the library tests every session's own again. */
		__atomic_store_n(&p->KeywordAny, MatchAnyKeyword, __ATOMIC_RELAXED);
		__atomic_store_n(&p->KeywordAll, MatchAllKeyword, __ATOMIC_RELAXED);
		__atomic_store_n(&p->LevelPlus1, Level != 0 ? Level + 1u : 256u, __ATOMIC_RELEASE);
		break;
	default: break;
	}
	if (p->EnableCallback != NULL) {
		p->EnableCallback(SourceId, IsEnabled, Level, MatchAnyKeyword, MatchAllKeyword, FilterData,
				  p->CallbackContext);
	}
}

/* Make the provider known. `callback` (or NULL) is called as EventRegister describes. Registering a
 * registered provider ends the process. Returns S_OK or HRESULT_FROM_WIN32 of what EventRegister
 * said; programs may ignore it, writes to an unregistered provider do nothing.
 *
 * Register, Unregister: not at the same time for the same provider. */
static __inline__ __attribute__((unused)) TLG_STATUS TraceLoggingRegisterEx(TraceLoggingHProvider hProvider,
									    TLG_PENABLECALLBACK callback, PVOID context)
{
	/* Handles are const so that only this header writes through them; what they point to is
	 * not. */
	struct _tlgProvider_t *const p = (struct _tlgProvider_t *)(ULONG_PTR)hProvider;
	GUID guid;
	ULONG status;

	if (p->RegHandle != 0) {
		TLG_RAISEASSERTIONFAILURE();
	}
	p->EnableCallback = callback;
	p->CallbackContext = context;
	__builtin_memcpy(&guid, (UCHAR const *)p->ProviderMetadataPtr - sizeof(guid), sizeof(guid));
	status = TLG_EVENT_REGISTER(&guid, &_tlgEnableCallback, p, &p->RegHandle);
#if TLG_HAVE_EVENT_SET_INFORMATION
	if (status == ERROR_SUCCESS) {
		(void)TLG_EVENT_SET_INFORMATION(p->RegHandle, EventProviderSetTraits,
						(PVOID)(ULONG_PTR)p->ProviderMetadataPtr, *p->ProviderMetadataPtr);
	}
#endif
	return HRESULT_FROM_WIN32(status);
}

static __inline__ __attribute__((unused)) TLG_STATUS TraceLoggingRegister(TraceLoggingHProvider hProvider)
{
	return TraceLoggingRegisterEx(hProvider, NULL, NULL);
}

/* After this no callback runs and writes do nothing. A provider may be registered again. Harmless
 * on a provider that is not registered. */
static __inline__ __attribute__((unused)) void TraceLoggingUnregister(TraceLoggingHProvider hProvider)
{
	struct _tlgProvider_t *const p = (struct _tlgProvider_t *)(ULONG_PTR)hProvider;
	REGHANDLE const handle = p->RegHandle;

	__atomic_store_n(&p->LevelPlus1, 0u, __ATOMIC_RELAXED);
	p->RegHandle = 0;
	(void)TLG_EVENT_UNREGISTER(handle);
}

/* EventSetInformation of the provider's registration. */
static __inline__ __attribute__((unused)) TLG_STATUS TraceLoggingSetInformation(TraceLoggingHProvider hProvider,
										EVENT_INFO_CLASS informationClass,
										PVOID pbInformation,
										ULONG cbInformation)
{
#if TLG_HAVE_EVENT_SET_INFORMATION
	ULONG const status =
		TLG_EVENT_SET_INFORMATION(hProvider->RegHandle, informationClass, pbInformation, cbInformation);
	return HRESULT_FROM_WIN32(status);
#else
	(void)hProvider, (void)informationClass, (void)pbInformation, (void)cbInformation;
	return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
#endif
}

/* Would an event of this level and keyword be written? Level 0 asks whether anybody listens at all.
 */
static __inline__ __attribute__((unused)) BOOLEAN TraceLoggingProviderEnabled(TraceLoggingHProvider hProvider,
									      UCHAR eventLevel, ULONGLONG eventKeyword)
{
	return (BOOLEAN)(_tlgEnabled(hProvider, eventLevel, eventKeyword) != 0);
}

static __inline__ __attribute__((unused)) GUID TraceLoggingProviderId(TraceLoggingHProvider hProvider)
{
	GUID guid;

	__builtin_memcpy(&guid, (UCHAR const *)hProvider->ProviderMetadataPtr - sizeof(guid), sizeof(guid));
	return guid;
}

#ifdef ETW_TLG_LINUX
#include "tlg/linux.h"
#endif

#endif
