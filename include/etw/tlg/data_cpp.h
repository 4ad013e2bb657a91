/* SPDX-License-Identifier: MIT
 *
 * Values into data descriptors, in C++. Part of TraceLoggingProvider.h.
 *
 * Each field becomes one temporary object, and all of them are arguments of one call. So
 * temporaries in the caller's value expressions, as in TraceLoggingString(name().c_str()), live
 * until the event is written.
 */
#ifndef ETW_TLG_DATA_CPP_H
#define ETW_TLG_DATA_CPP_H

extern "C++" {

/* `sink` is (function, more arguments). */
#define _tlgSend(sink, ...)     _tlgSend2(_tlgStrip sink, (_tlg_EACH(_tlgWrap, __VA_ARGS__)))
#define _tlgSend2(...)          _tlgSend3(__VA_ARGS__)
#define _tlgSend3(f, a, b, ...) _tlgSend4_##f(a, b, __VA_ARGS__)
#define _tlgSend4__tlgWriteTransfer(activity, related, wraps) \
	_tlgWriteAll(_TlgTransfer{(activity), (related)}, _tlgProv, &_tlgEvent _tlgStrip wraps)
#define _tlgSend4__tlgWriteEx(filter, flags, activity, related, wraps)                           \
	_tlgWriteAll(_TlgEx{(ULONG64)(filter), (ULONG)(flags), (activity), (related)}, _tlgProv, \
		     &_tlgEvent _tlgStrip wraps)

#define _tlgWrap(n, arg)                           _tlgOp(_tlgWrap, n, _tlgStrip arg)
#define _tlgWrap_tlgO                              _tlgNothing
#define _tlgWrap_tlgStrip                          _tlgNothing
#define _tlgWrap_tlgF(n, data, ctype, v1, v2, ...) _tlgWrap##data(ctype, v1, v2)
#define _tlgWrap_tlgD(n, data, ctype, v1, v2)      _tlgWrap##data(ctype, v1, v2)

#define _tlgWrap_tlgNone(ctype, v1, v2)
#define _tlgWrap_tlgVal(ctype, v1, v2)       , _TlgVal<ctype>(v1)
#define _tlgWrap_tlgRef(ctype, v1, v2)       , _TlgRef<ctype>(v1)
#define _tlgWrap_tlgCode(ctype, v1, v2)      , _TlgVal<ULONG_PTR>((ULONG_PTR)(v1))
#define _tlgWrap_tlgWChar(ctype, v1, v2)     , _TlgVal<WCHAR>(_tlgWideChar(v1))
#define _tlgWrap_tlgAuto(ctype, v1, v2)      , _tlgAuto(v1)
#define _tlgWrap_tlgSz(ctype, v1, v2)        , _TlgSz(v1)
#define _tlgWrap_tlgSz16(ctype, v1, v2)      , _TlgSz16(_tlgWide(v1))
#define _tlgWrap_tlgBytes(ctype, v1, v2)     , _TlgBytes((v1), (UINT32)(v2))
#define _tlgWrap_tlgCounted(ctype, v1, v2)   , _TlgCounted<ctype>((v1), (UINT32)(v2))
#define _tlgWrap_tlgCounted16(ctype, v1, v2) , _TlgCounted<WCHAR>(_tlgWide(v1), (UINT32)(v2))
#define _tlgWrap_tlgBuffer(ctype, v1, v2)    , _TlgBuffer<ctype>(v1)
#define _tlgWrap_tlgArray(ctype, v1, v2)     , _TlgArray<ctype>((v1), (UINT16)(v2))
#define _tlgWrap_tlgFixed(ctype, v1, v2)     , _TlgRaw(_tlgTyped<ctype>(v1), (v2) * sizeof(ctype), 0)
#define _tlgWrap_tlgPtrArray(ctype, v1, v2)  , _TlgArray<void *>((void *const *)(v1), (UINT16)(v2))
#define _tlgWrap_tlgPtrFixed(ctype, v1, v2)  , _TlgRaw((v1), (v2) * sizeof(void *), 0)
#define _tlgWrap_tlgSid(ctype, v1, v2)       , _TlgSid(v1)
#define _tlgWrap_tlgRaw(ctype, v1, v2)       , _TlgRaw((v1), (v2), (ctype))

#define _tlgCXX __attribute__((always_inline)) inline

/* A value: at most 8 bytes, kept here. */
template <class T> struct _TlgVal {
	enum { Slots = 1 };
	T const v;
	_tlgCXX explicit _TlgVal(T value) : v(value)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, &v, sizeof(T), 0);
	}
};

/* A structure, not copied. */
template <class T> struct _TlgRef {
	enum { Slots = 1 };
	T const *const p;
	_tlgCXX explicit _TlgRef(T const &value) : p(&value)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, p, sizeof(T), 0);
	}
};

struct _TlgSz {
	enum { Slots = 1 };
	char const *const s;
	_tlgCXX explicit _TlgSz(char const *text) : s(text)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgCreate1Sz_char(d++, s);
	}
};

struct _TlgSz16 {
	enum { Slots = 1 };
	void const *const s;
	_tlgCXX explicit _TlgSz16(void const *text) : s(text)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgCreate1Sz_16(d++, s);
	}
};

/* u16 count of bytes, then the bytes. */
struct _TlgBytes {
	enum { Slots = 2 };
	void const volatile *const p;
	UINT16 const bytes;
	_tlgCXX _TlgBytes(void const volatile *data, UINT32 count) : p(data), bytes((UINT16)count)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, &bytes, sizeof(bytes), 0);
		_tlgSet(d++, p, bytes, 0);
	}
};

/* Counted strings: the same, counted in characters by the caller. */
template <class T> struct _TlgCounted : _TlgBytes {
	_tlgCXX _TlgCounted(T const *data, UINT32 count) : _TlgBytes(data, (UINT32)(count * sizeof(T)))
	{
	}
};

/* A structure with Length in bytes and Buffer. */
template <class T> struct _TlgBuffer : _TlgBytes {
	_tlgCXX explicit _TlgBuffer(T const *s) : _TlgBytes(s->Buffer, (UINT32)s->Length)
	{
	}
};

/* u16 count of values, then the values. */
template <class T> struct _TlgArray {
	enum { Slots = 2 };
	T const *const p;
	UINT16 const count;
	_tlgCXX _TlgArray(T const *data, UINT16 values) : p(data), count(values)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, &count, sizeof(count), 0);
		_tlgSet(d++, p, count * (ULONG)sizeof(T), 0);
	}
};

struct _TlgSid {
	enum { Slots = 1 };
	void const *const p;
	_tlgCXX explicit _TlgSid(void const *sid) : p(sid)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, p, _tlgSidSize(p), 0);
	}
};

struct _TlgRaw {
	enum { Slots = 1 };
	void const volatile *const p;
	ULONG const bytes;
	ULONG const type;
	template <class Size>
	_tlgCXX _TlgRaw(void const volatile *data, Size size, ULONG descriptor_type)
	    : p(data), bytes((ULONG)size), type(descriptor_type)
	{
	}
	_tlgCXX void Fill(EVENT_DATA_DESCRIPTOR *&d) const
	{
		_tlgSet(d++, p, bytes, type);
	}
};

template <class T> _tlgCXX T const *_tlgTyped(T const *p)
{
	return p;
}

template <class C> _tlgCXX WCHAR const *_tlgWide(C const *text)
{
	static_assert(sizeof(C) == 2, _tlgWideText);
	return (WCHAR const *)(void const *)text;
}
_tlgCXX WCHAR const *_tlgWide(WCHAR const *text)
{
	return text;
}
template <class C> struct _TlgIsWide4 {
	enum { value = 0 };
};
template <> struct _TlgIsWide4<wchar_t> {
	enum { value = sizeof(wchar_t) == 4 };
};
template <class C> _tlgCXX WCHAR _tlgWideChar(C unit)
{
	static_assert(!_TlgIsWide4<C>::value, _tlgWideText);
	return (WCHAR)unit;
}

/* ---- TraceLoggingValue: the type of the expression decides ------------------------------ */

template <class T> struct _TlgIsEnum {
	enum { value = __is_enum(T) };
};
template <class T, bool isEnum = _TlgIsEnum<T>::value> struct _TlgAuto {
	static_assert(sizeof(T) == 0, "TraceLoggingValue: no field type for a value of this type "
				      "(wide strings need -fshort-wchar, or char16_t)");
};
template <class T> struct _TlgAuto<T, true> : _TlgAuto<__underlying_type(T), false> {
	_tlgCXX explicit _TlgAuto(T v) : _TlgAuto<__underlying_type(T), false>((__underlying_type(T))v)
	{
	}
};

#define _tlgAutoFor(type, in, out)                                   \
	template <> struct _TlgAuto<type, false> : _TlgVal<type> {   \
		enum { In = in, Out = out };                         \
		_tlgCXX explicit _TlgAuto(type v) : _TlgVal<type>(v) \
		{                                                    \
		}                                                    \
	}
_tlgAutoFor(bool, TlgInUINT8, TlgOutBOOLEAN);
_tlgAutoFor(char, TlgInUINT8, TlgOutSTRING);
_tlgAutoFor(char16_t, TlgInUINT16, TlgOutSTRING);
#if __SIZEOF_WCHAR_T__ == 2
_tlgAutoFor(wchar_t, TlgInUINT16, TlgOutSTRING);
#endif
_tlgAutoFor(signed char, TlgInINT8, 0);
_tlgAutoFor(unsigned char, TlgInUINT8, 0);
_tlgAutoFor(short, TlgInINT16, 0);
_tlgAutoFor(unsigned short, TlgInUINT16, 0);
_tlgAutoFor(int, TlgInINT32, 0);
_tlgAutoFor(unsigned int, TlgInUINT32, 0);
_tlgAutoFor(long, sizeof(long) == 8 ? TlgInINT64 : TlgInINT32, 0);
_tlgAutoFor(unsigned long, sizeof(long) == 8 ? TlgInUINT64 : TlgInUINT32, 0);
_tlgAutoFor(long long, TlgInINT64, 0);
_tlgAutoFor(unsigned long long, TlgInUINT64, 0);
_tlgAutoFor(float, TlgInFLOAT, 0);
_tlgAutoFor(double, TlgInDOUBLE, 0);
_tlgAutoFor(GUID, TlgInGUID, 0);
_tlgAutoFor(FILETIME, TlgInFILETIME, 0);
_tlgAutoFor(SYSTEMTIME, TlgInSYSTEMTIME, 0);
_tlgAutoFor(void *, TlgInPOINTER, 0);
_tlgAutoFor(void const *, TlgInPOINTER, 0);
_tlgAutoFor(decltype(nullptr), TlgInPOINTER, 0);
#undef _tlgAutoFor

#define _tlgAutoFor(type, base, in)                         \
	template <> struct _TlgAuto<type, false> : base {   \
		enum { In = in, Out = 0 };                  \
		_tlgCXX explicit _TlgAuto(type v) : base(v) \
		{                                           \
		}                                           \
	}
_tlgAutoFor(char *, _TlgSz, TlgInANSISTRING);
_tlgAutoFor(char const *, _TlgSz, TlgInANSISTRING);
_tlgAutoFor(char16_t *, _TlgSz16, TlgInUNICODESTRING);
_tlgAutoFor(char16_t const *, _TlgSz16, TlgInUNICODESTRING);
#if __SIZEOF_WCHAR_T__ == 2
_tlgAutoFor(wchar_t *, _TlgSz16, TlgInUNICODESTRING);
_tlgAutoFor(wchar_t const *, _TlgSz16, TlgInUNICODESTRING);
#endif
_tlgAutoFor(SID *, _TlgSid, TlgInSID);
_tlgAutoFor(SID const *, _TlgSid, TlgInSID);
#undef _tlgAutoFor

template <class T> _tlgCXX _TlgAuto<T> _tlgAuto(T value)
{
	return _TlgAuto<T>(value);
}
#define _tlgAutoIn(v)  (decltype(_tlgAuto(v))::In)
#define _tlgAutoOut(v) (decltype(_tlgAuto(v))::Out)

/* ---- the call ------------------------------------------------------------------------------- */

struct _TlgTransfer {
	LPCGUID activity;
	LPCGUID related;
	_tlgCXX ULONG operator()(TraceLoggingHProvider provider, void const *event, EVENT_DATA_DESCRIPTOR *data,
				 ULONG count) const
	{
		return _tlgWriteTransfer(provider, event, data, count, activity, related);
	}
};

struct _TlgEx {
	ULONG64 filter;
	ULONG flags;
	LPCGUID activity;
	LPCGUID related;
	_tlgCXX ULONG operator()(TraceLoggingHProvider provider, void const *event, EVENT_DATA_DESCRIPTOR *data,
				 ULONG count) const
	{
		return _tlgWriteEx(provider, event, data, count, filter, flags, activity, related);
	}
};

template <class... W> struct _TlgSum {
	enum { value = 0 };
};
template <class First, class... Rest> struct _TlgSum<First, Rest...> {
	enum { value = (int)First::Slots + (int)_TlgSum<Rest...>::value };
};

template <class Sink, class... W>
_tlgCXX void _tlgWriteAll(Sink const &sink, TraceLoggingHProvider provider, void const *event, W const &...field)
{
	static_assert(_TlgSum<W...>::value + 2 <= 128,
		      "TraceLogging: the event has too many fields (128 data descriptors)");
	EVENT_DATA_DESCRIPTOR data[_TlgSum<W...>::value + 2];
	EVENT_DATA_DESCRIPTOR *next = &data[2];
	/* A braced list is evaluated from left to right. */
	int const order[] = {0, (field.Fill(next), 0)...};
	(void)order;
	(void)next;
	(void)sink(provider, event, data, _TlgSum<W...>::value + 2);
}

} /* extern "C++" */

#endif
