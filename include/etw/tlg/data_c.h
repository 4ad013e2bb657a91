/* SPDX-License-Identifier: MIT
 *
 * Values into data descriptors, in C. Part of TraceLoggingProvider.h.
 *
 * Each field becomes a few statements in the block of the call site. A value that has no address is
 * kept in a constant of that block, named after the position of the field, until the write returns.
 */
#ifndef ETW_TLG_DATA_C_H
#define ETW_TLG_DATA_C_H

/* `sink` is (function, more arguments). */
#define _tlgSend(sink, ...)                                                           \
	EVENT_DATA_DESCRIPTOR _tlgData[2 _tlg_EACH(_tlgSlots, __VA_ARGS__)];          \
	UINT32 _tlgIdx = 2;                                                           \
	_tlgSA(sizeof(_tlgData) <= 128 * sizeof(EVENT_DATA_DESCRIPTOR),               \
	       "TraceLogging: the event has too many fields (128 data descriptors)"); \
	_tlg_EACH(_tlgFill, __VA_ARGS__) _tlgSend2(_tlgStrip sink)
#define _tlgSend2(...)    _tlgSend3(__VA_ARGS__)
#define _tlgSend3(f, ...) (void)f(_tlgProv, &_tlgEvent, _tlgData, _tlgIdx, __VA_ARGS__)

#define _tlgSlots(n, arg)            _tlgOp(_tlgSlots, n, _tlgStrip arg)
#define _tlgSlots_tlgO               _tlgNothing
#define _tlgSlots_tlgStrip           _tlgNothing
#define _tlgSlots_tlgF(n, data, ...) _tlgSlots##data
#define _tlgSlots_tlgD(n, data, ...) _tlgSlots##data

#define _tlgFill(n, arg)                               _tlgOp(_tlgFill, n, _tlgStrip arg)
#define _tlgFill_tlgO                                  _tlgNothing
#define _tlgFill_tlgStrip                              _tlgNothing
#define _tlgFill_tlgF(n, data, ctype, v1, v2, in, ...) _tlgFill##data(n, ctype, v1, v2, in)
#define _tlgFill_tlgD(n, data, ctype, v1, v2)          _tlgFill##data(n, ctype, v1, v2, 0)

#define _tlgNext (&_tlgData[_tlgIdx++])

/* No data: struct headers and metadata alone. */
#define _tlgSlots_tlgNone
#define _tlgFill_tlgNone(n, ctype, v1, v2, in)

#define _tlgSlots_tlgVal +1
#define _tlgFill_tlgVal(n, ctype, v1, v2, in) \
	ctype const _tlgV##n = (v1);          \
	_tlgSet(_tlgNext, &_tlgV##n, sizeof(_tlgV##n), 0);

#define _tlgSlots_tlgRef +1
#define _tlgFill_tlgRef(n, ctype, v1, v2, in) \
	ctype const *const _tlgV##n = &(v1);  \
	_tlgSet(_tlgNext, _tlgV##n, sizeof(ctype), 0);

#define _tlgSlots_tlgCode +1
#define _tlgFill_tlgCode(n, ctype, v1, v2, in)      \
	ULONG_PTR const _tlgV##n = (ULONG_PTR)(v1); \
	_tlgSet(_tlgNext, &_tlgV##n, sizeof(_tlgV##n), 0);

#define _tlgSlots_tlgWChar                      +1
#define _tlgFill_tlgWChar(n, ctype, v1, v2, in) _tlgFill_tlgVal(n, WCHAR, v1, v2, in)

#define _tlgSlots_tlgAuto +1
#define _tlgFill_tlgAuto(n, ctype, v1, v2, in)           \
	__typeof__((void)0, (v1)) const _tlgV##n = (v1); \
	_tlgCreateAuto(_tlgNext, &_tlgV##n, sizeof(_tlgV##n), (in));

#define _tlgSlots_tlgSz                      +1
#define _tlgFill_tlgSz(n, ctype, v1, v2, in) _tlgCreate1Sz_char(_tlgNext, (v1));

#define _tlgSlots_tlgSz16 +1
#define _tlgFill_tlgSz16(n, ctype, v1, v2, in) \
	_tlgWideSA(sizeof(*(v1)) != 4);        \
	_tlgCreate1Sz_wchar_t(_tlgNext, (v1));

/* u16 count of bytes, then the bytes. */
#define _tlgSlots_tlgBytes +2
#define _tlgFill_tlgBytes(n, ctype, v1, v2, in)            \
	const volatile void *const _tlgV##n = (v1);        \
	UINT16 const _tlgC##n = (UINT16)(v2);              \
	_tlgSet(_tlgNext, &_tlgC##n, sizeof(_tlgC##n), 0); \
	_tlgSet(_tlgNext, _tlgV##n, _tlgC##n, 0);

/* Counted strings: the same, counted in characters by the caller. */
#define _tlgSlots_tlgCounted +2
#define _tlgFill_tlgCounted(n, ctype, v1, v2, in)               \
	ctype const *const _tlgV##n = (v1);                     \
	UINT16 const _tlgC##n = (UINT16)((v2) * sizeof(ctype)); \
	_tlgSet(_tlgNext, &_tlgC##n, sizeof(_tlgC##n), 0);      \
	_tlgSet(_tlgNext, _tlgV##n, _tlgC##n, 0);

#define _tlgSlots_tlgCounted16 +2
#define _tlgFill_tlgCounted16(n, ctype, v1, v2, in) \
	_tlgWideSA(sizeof(*(v1)) != 4);             \
	_tlgFill_tlgCounted(n, WCHAR, v1, v2, in)

/* A structure with Length in bytes and Buffer. */
#define _tlgSlots_tlgBuffer +2
#define _tlgFill_tlgBuffer(n, ctype, v1, v2, in)           \
	ctype const *const _tlgV##n = (v1);                \
	UINT16 const _tlgC##n = (UINT16)_tlgV##n->Length;  \
	_tlgSet(_tlgNext, &_tlgC##n, sizeof(_tlgC##n), 0); \
	_tlgSet(_tlgNext, _tlgV##n->Buffer, _tlgC##n, 0);

/* u16 count of values, then the values. */
#define _tlgSlots_tlgArray +2
#define _tlgFill_tlgArray(n, ctype, v1, v2, in)            \
	ctype const *const _tlgV##n = (v1);                \
	UINT16 const _tlgC##n = (UINT16)(v2);              \
	_tlgSet(_tlgNext, &_tlgC##n, sizeof(_tlgC##n), 0); \
	_tlgSet(_tlgNext, _tlgV##n, _tlgC##n *(UINT32)sizeof(ctype), 0);

#define _tlgSlots_tlgFixed +1
#define _tlgFill_tlgFixed(n, ctype, v1, v2, in) \
	ctype const *const _tlgV##n = (v1);     \
	_tlgSet(_tlgNext, _tlgV##n, (UINT32)((v2) * sizeof(ctype)), 0);

/* Arrays of pointers to whatever. */
#define _tlgSlots_tlgPtrArray +2
#define _tlgFill_tlgPtrArray(n, ctype, v1, v2, in)         \
	const void *const _tlgV##n = (const void *)(v1);   \
	UINT16 const _tlgC##n = (UINT16)(v2);              \
	_tlgSet(_tlgNext, &_tlgC##n, sizeof(_tlgC##n), 0); \
	_tlgSet(_tlgNext, _tlgV##n, _tlgC##n *(UINT32)sizeof(void *), 0);

#define _tlgSlots_tlgPtrFixed +1
#define _tlgFill_tlgPtrFixed(n, ctype, v1, v2, in) \
	_tlgSet(_tlgNext, (const void *)(v1), (UINT32)((v2) * sizeof(void *)), 0);

#define _tlgSlots_tlgSid +1
#define _tlgFill_tlgSid(n, ctype, v1, v2, in) \
	const void *const _tlgV##n = (v1);    \
	_tlgSet(_tlgNext, _tlgV##n, _tlgSidSize(_tlgV##n), 0);

/* Bytes as they are; `ctype` is the descriptor type. */
#define _tlgSlots_tlgRaw                      +1
#define _tlgFill_tlgRaw(n, ctype, v1, v2, in) _tlgSet(_tlgNext, (v1), (UINT32)(v2), (ctype));

/* ---- TraceLoggingValue ---------------------------------------------------------------------- */

_tlgHOT void _tlgCreateAuto(EVENT_DATA_DESCRIPTOR *d, const void *value, ULONG size_bytes, int in)
{
	switch (in) {
	case TlgInANSISTRING: _tlgCreate1Sz_char(d, *(char *const *)value); break;
	case TlgInUNICODESTRING: _tlgCreate1Sz_16(d, *(WCHAR *const *)value); break;
	case TlgInSID: _tlgSet(d, *(SID *const *)value, _tlgSidSize(*(SID *const *)value), 0); break;
	default: _tlgSet(d, value, size_bytes, 0); break;
	}
}

#define _tlgLongIn  (sizeof(long) == 8 ? TlgInINT64 : TlgInINT32)
#define _tlgULongIn (sizeof(long) == 8 ? TlgInUINT64 : TlgInUINT32)

#define _tlgAutoIn(v) \
	_Generic((v), _Bool: TlgInUINT8, char: TlgInUINT8, signed char: TlgInINT8,            \
		unsigned char: TlgInUINT8, short: TlgInINT16, unsigned short: TlgInUINT16,    \
		int: TlgInINT32, unsigned: TlgInUINT32, long: _tlgLongIn,                     \
		unsigned long: _tlgULongIn, long long: TlgInINT64,                            \
		unsigned long long: TlgInUINT64, float: TlgInFLOAT, double: TlgInDOUBLE,      \
		GUID: TlgInGUID, FILETIME: TlgInFILETIME, SYSTEMTIME: TlgInSYSTEMTIME,        \
		char *: TlgInANSISTRING, char const *: TlgInANSISTRING,                       \
		unsigned short *: TlgInUNICODESTRING,                                         \
		unsigned short const *: TlgInUNICODESTRING, SID *: TlgInSID,                  \
		SID const *: TlgInSID, void *: TlgInPOINTER, void const *: TlgInPOINTER)
#define _tlgAutoOut(v) _Generic((v), _Bool : TlgOutBOOLEAN, char : TlgOutSTRING, default : TlgOutNULL)

#endif
