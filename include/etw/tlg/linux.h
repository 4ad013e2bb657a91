/* SPDX-License-Identifier: MIT
 *
 * The dialects of TraceLogging for LTTng and for user_events: the same macros with Linux's types.
 * Read by TraceLoggingProvider.h when ETW_TLG_LINUX is defined, as the headers of linux/ do it.
 * What differs:
 *
 *   long          64 bits where the system has them
 *   GUIDs         16 bytes in the order in which they are printed, for fields and activities
 *   wchar_t, char32_t   strings travel as UTF-16, single characters as their number
 *   SYSTEMTIME, FILETIME   a pointer to the bytes
 *   new           TraceLoggingErrno, Time32, Time64 (a FILETIME in the event), Char32, String32,
 *                 CountedString32, IdVersion, ProviderName, ProviderOptions, EventEnabled,
 *                 OptionGroupName, lttngh_ActivityId…, event_field_encoding_…, event_field_format_…
 *
 * What has to be converted is converted when the event is written, into memory of the call (C) or
 * of malloc (C++): such fields are not for signal handlers.
 */
#ifndef ETW_TLG_LINUX_H
#define ETW_TLG_LINUX_H

/* ---- conversions ---------------------------------------------------------------------------- */

enum _tlgLx {
	_tlgLxSz32,      /* UTF-32 up to NUL -> UTF-16 up to NUL */
	_tlgLxCounted32, /* UTF-32 -> u16 bytes, UTF-16 */
	_tlgLxGuid,      /* GUIDs as printed -> as stored */
	_tlgLxTime32,    /* time_t -> FILETIME */
	_tlgLxTime64,
	_tlgLxCount = 16, /* and a u16 count before them */
	_tlgLxRaw = 32    /* bytes as they are */
};

/* Seconds since 1970 as 100 ns since 1601, within what a FILETIME holds. */
_tlgHOT ULONGLONG _tlgLxFileTime(long long seconds)
{
	return seconds < -11644473600LL   ? 0
	       : seconds > 910692730085LL ? 0x7fffffffffffffffULL
					  : (ULONGLONG)(seconds + 11644473600LL) * 10000000u;
}

static __inline__ __attribute__((unused)) void _tlgLxSwapGuid(void *to, const void *from)
{
	static UINT8 const order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	UINT8 bytes[16];

	for (int i = 0; i < 16; i++) {
		bytes[i] = ((UINT8 const *)from)[order[i]];
	}
	__builtin_memcpy(to, bytes, 16);
}

static __inline__ __attribute__((unused)) size_t _tlgLxUnits(int how, const void *p, size_t count)
{
	UINT8 const *const bytes = (UINT8 const *)p;
	UINT32 unit;

	if (p == NULL) {
		return 0;
	}
	if (how != _tlgLxSz32) {
		return count;
	}
	for (count = 0; __builtin_memcpy(&unit, bytes + 4 * count, 4), unit != 0; count++) {
	}
	return count;
}

/* Bytes that _tlgLxMake needs at most. */
static __inline__ __attribute__((unused)) size_t _tlgLxRoom(int how, const void *p, size_t count)
{
	return how == _tlgLxRaw ? 1 : 2 + 16 + 16 * _tlgLxUnits(how, p, count);
}

/* Returns how many bytes of `to` the field has. */
static __inline__ __attribute__((unused)) ULONG _tlgLxMake(int how, void *to, const void *p, size_t count)
{
	UINT8 const *from = (UINT8 const *)p;
	UINT8 *const start = (UINT8 *)to;
	UINT8 *out = start + ((how & _tlgLxCount) || how == _tlgLxCounted32 ? 2 : 0);
	UINT8 *const data = out;
	int const kind = how & ~_tlgLxCount;
	UINT16 prefix;

	count = _tlgLxUnits(how, p, count);
	for (size_t i = 0; i < count; i++) {
		if (kind == _tlgLxGuid) {
			_tlgLxSwapGuid(out, from + 16 * i);
			out += 16;
		} else if (kind == _tlgLxTime32 || kind == _tlgLxTime64) {
			INT32 narrow;
			long long wide;
			ULONGLONG time;
			if (kind == _tlgLxTime32) {
				__builtin_memcpy(&narrow, from + 4 * i, 4);
				wide = narrow;
			} else {
				__builtin_memcpy(&wide, from + 8 * i, 8);
			}
			time = _tlgLxFileTime(wide);
			__builtin_memcpy(out, &time, 8);
			out += 8;
		} else {
			UINT32 c;
			UINT16 units[2];
			int n = 1;
			__builtin_memcpy(&c, from + 4 * i, 4);
			c = c > 0x10FFFF || (c & ~0x7FFu) == 0xD800 ? 0xFFFD : c;
			units[0] = (UINT16)c;
			if (c > 0xFFFF) {
				units[0] = (UINT16)(0xD7C0 + (c >> 10));
				units[1] = (UINT16)(0xDC00 | (c & 0x3FF));
				n = 2;
			}
			__builtin_memcpy(out, units, 2 * (size_t)n);
			out += 2 * n;
		}
	}
	if (kind == _tlgLxSz32) {
		__builtin_memset(out, 0, 2);
		out += 2;
	}
	prefix = (UINT16)((how & _tlgLxCount) ? count : (size_t)(out - data));
	if (data != start) {
		__builtin_memcpy(start, &prefix, 2);
	}
	return (ULONG)(out - start);
}

#ifdef __cplusplus
extern "C++" {

struct _TlgLx {
	enum { Slots = 1 };
	void *own;
	void const *data;
	ULONG size;
	_TlgLx(int how, void const *p, size_t count) : own(NULL), data(p), size((ULONG)count)
	{
		if (how != _tlgLxRaw) {
			own = malloc(_tlgLxRoom(how, p, count));
			data = own;
			size = own != NULL ? _tlgLxMake(how, own, p, count) : 0;
		}
	}
	~_TlgLx()
	{
		free(own);
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, data, size, 0);
	}

      private:
	_TlgLx(_TlgLx const &);
	_TlgLx &operator=(_TlgLx const &);
};
#define _tlgWrap_tlgLx(how, v1, v2) , _TlgLx((how), (v1), (size_t)(v2))

/* An activity, for the time of the call. */
struct _TlgLxId {
	GUID id;
	bool given;
	_tlgCXX explicit _TlgLxId(void const *p) : id(), given(p != NULL)
	{
		if (given) {
			_tlgLxSwapGuid(&id, p);
		}
	}
	_tlgCXX operator LPCGUID() const
	{
		return given ? &id : NULL;
	}
};
#define _tlgLxId(p) _TlgLxId(p)

template <> struct _TlgAuto<char32_t, false> : _TlgVal<UINT32> {
	enum { In = TlgInHEXINT32, Out = 0 };
	_tlgCXX explicit _TlgAuto(char32_t c) : _TlgVal<UINT32>((UINT32)c)
	{
	}
};
template <> struct _TlgAuto<char32_t const *, false> {
	enum { In = TlgInUNICODESTRING, Out = 0, Slots = 1 };
	void *own;
	ULONG size;
	explicit _TlgAuto(void const *p)
	    : own(malloc(_tlgLxRoom(_tlgLxSz32, p, 0))), size(own != NULL ? _tlgLxMake(_tlgLxSz32, own, p, 0) : 0)
	{
	}
	_TlgAuto(_TlgAuto &&from) : own(from.own), size(from.size)
	{
		from.own = NULL;
	}
	~_TlgAuto()
	{
		free(own);
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, own, size, 0);
	}
};
#define _tlgLxAuto(type, base)                                               \
	template <> struct _TlgAuto<type, false> : _TlgAuto<base, false> {   \
		explicit _TlgAuto(type v) : _TlgAuto<base, false>((base)(v)) \
		{                                                            \
		}                                                            \
	}
_tlgLxAuto(char32_t *, char32_t const *);
#if __SIZEOF_WCHAR_T__ == 4
_tlgLxAuto(wchar_t, char32_t);
_tlgLxAuto(wchar_t *, char32_t const *);
_tlgLxAuto(wchar_t const *, char32_t const *);
#endif
#undef _tlgLxAuto

} /* extern "C++" */
#else
#define _tlgSlots_tlgLx +1
#define _tlgFill_tlgLx(n, how, v1, v2, in)                                                       \
	const void *const _tlgV##n = (v1);                                                       \
	size_t const _tlgC##n = (size_t)(v2);                                                    \
	UINT8 _tlgB##n[_tlgLxRoom((how), _tlgV##n, _tlgC##n)];                                   \
	if ((how) == _tlgLxRaw) {                                                                \
		_tlgSet(_tlgNext, _tlgV##n, (UINT32)_tlgC##n, 0);                                \
	} else {                                                                                 \
		_tlgSet(_tlgNext, _tlgB##n, _tlgLxMake((how), _tlgB##n, _tlgV##n, _tlgC##n), 0); \
	}

_tlgHOT LPCGUID _tlgLxIdOf(const void *p, GUID *room)
{
	if (p != NULL) {
		_tlgLxSwapGuid(room, p);
	}
	return p != NULL ? room : NULL;
}
#define _tlgLxId(p) _tlgLxIdOf((p), (GUID[1]){{0}})
#endif

/* ---- what differs --------------------------------------------------------------------------- */

#undef TraceLoggingWriteActivity
#define TraceLoggingWriteActivity(hProvider, eventName, pActivityId, ...) \
	_tlgWriteAt(hProvider, eventName,                                 \
		    (_tlgWriteTransfer, _tlgLxId(pActivityId), _tlgLxId(_tlgFirst(__VA_ARGS__))), __VA_ARGS__)

/* The number and version of an event: the last of several counts. */
#undef _tlgEvtId
#undef _tlgEvtVersion
#define _tlgEvtId(...)                     0 _tlg_EACH(_tlgIdVal, __VA_ARGS__)
#define _tlgEvtVersion(...)                0 _tlg_EACH(_tlgVersionVal, __VA_ARGS__)
#define _tlgIdVal(n, arg)                  _tlgOp(_tlgIdVal, n, _tlgStrip arg)
#define _tlgVersionVal(n, arg)             _tlgOp(_tlgVersionVal, n, _tlgStrip arg)
#define _tlgIdVal_tlgI(n, id, version)     *0 + (id)
#define _tlgVersionVal_tlgI(n, id, ver)    *0 + (ver)
#define _tlgIdVal_tlgO                     _tlgNothing
#define _tlgIdVal_tlgF                     _tlgNothing
#define _tlgIdVal_tlgD                     _tlgNothing
#define _tlgVersionVal_tlgO                _tlgNothing
#define _tlgVersionVal_tlgF                _tlgNothing
#define _tlgVersionVal_tlgD                _tlgNothing
#define _tlgLevelVal_tlgI                  _tlgNothing
#define _tlgLevelMark_tlgI                 _tlgNothing
#define _tlgKeywordVal_tlgI                _tlgNothing
#define _tlgOpcodeMark_tlgI                _tlgNothing
#define _tlgChannelMark_tlgI               _tlgNothing
#define _tlgEventTagVal_tlgI               _tlgNothing
#define _tlgDecl_tlgI                      _tlgNothing
#define _tlgInit_tlgI                      _tlgNothing
#define _tlgSlots_tlgI                     _tlgNothing
#define _tlgFill_tlgI                      _tlgNothing
#define _tlgWrap_tlgI                      _tlgNothing
#define TraceLoggingIdVersion(id, version) (_tlgI, id, version)

/* A group by name: kept as a trait of the provider (type 160), for ETW's groups have GUIDs. */
#define TraceLoggingOptionGroupName(name) (_tlgTrait, 160, char[sizeof("G" name)], "G" name)

static __inline__ __attribute__((unused)) char const *TraceLoggingProviderName(TraceLoggingHProvider hProvider)
{
	return (char const *)(hProvider->ProviderMetadataPtr + 1);
}

/* "" or "G" and the name of the group. */
static __inline__ __attribute__((unused)) char const *TraceLoggingProviderOptions(TraceLoggingHProvider hProvider)
{
	char const *const name = TraceLoggingProviderName(hProvider);
	size_t at = 2 + __builtin_strlen(name) + 1;
	UINT16 size, all;

	__builtin_memcpy(&all, hProvider->ProviderMetadataPtr, 2);
	for (; at + 3 < all; at += size) {
		__builtin_memcpy(&size, name - 2 + at, 2);
		if ((UINT8)name[at] == 160) {
			return name + at + 1;
		}
		if (size < 3) {
			break;
		}
	}
	return "";
}

/* Whether somebody listens to the provider. */
#define TraceLoggingEventEnabled(hProvider, eventName) TraceLoggingProviderEnabled(hProvider, 0, 0)

static __inline__ __attribute__((unused)) int _tlgLxUnregister(TraceLoggingHProvider hProvider)
{
	TraceLoggingUnregister(hProvider);
	return 0;
}
#define TraceLoggingUnregister(hProvider) _tlgLxUnregister(hProvider)

#ifndef TLG_EVENT_ACTIVITY_ID_CONTROL
#define TLG_EVENT_ACTIVITY_ID_CONTROL EventActivityIdControl
#endif

/* ---- the activity of a thread --------------------------------------------------------------- */

static __inline__ __attribute__((unused)) void lttngh_ActivityIdGet(void *id)
{
	GUID guid;

	__builtin_memset(&guid, 0, sizeof(guid));
	(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_GET_ID, &guid);
	_tlgLxSwapGuid(id, &guid);
}
static __inline__ __attribute__((unused)) void lttngh_ActivityIdSet(const void *id)
{
	GUID guid;

	_tlgLxSwapGuid(&guid, id);
	(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_SET_ID, &guid);
}
static __inline__ __attribute__((unused)) void lttngh_ActivityIdCreate(void *id)
{
	GUID guid;

	__builtin_memset(&guid, 0, sizeof(guid));
	(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_CREATE_ID, &guid);
	_tlgLxSwapGuid(id, &guid);
}

#include "linux_fields.h"

#endif
