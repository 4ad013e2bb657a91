/* SPDX-License-Identifier: MIT
 *
 * From macro arguments to a constant and a call. Part of TraceLoggingProvider.h.
 *
 * Every argument of TraceLoggingWrite expands to a tuple whose first word is its kind:
 *
 *   (_tlgO, |level, marked level, |keyword, marked opcode, marked channel, |tag)   an option of the
 * event
 *   (_tlgF, data, ctype, v1, v2, in, out, ext, x1, x2, name, tagged, tag)     a field
 *   (_tlgD, data, ctype, v1, v2)                                              data without a field
 *
 * The list is walked several times, each time with another operation (`_tlgDecl`, `_tlgInit`, …)
 * that has one macro per kind. `data` names how the value becomes data descriptors: see data_c.h,
 * data_cpp.h.
 *
 * The metadata of a field varies in length, and C cannot initialise an array of computed length
 * with a computed number of elements. A packed bit-field can be of any width, so the 1 to 6 bytes
 * of in-type, out-type and tag are one bit-field of a packed struct, little end first:
 *
 *   char name[sizeof("name")]; unsigned long long type : 8, 16 … 48; [UINT16 count]
 */
#ifndef ETW_TLG_ENGINE_H
#define ETW_TLG_ENGINE_H

/* The indirection lets a tuple lose its parentheses before its kind is looked at. */
#define _tlgOp(op, n, ...)        _tlgOp2(op, n, __VA_ARGS__)
#define _tlgOp2(op, n, kind, ...) op##kind(n, __VA_ARGS__)
#define _tlgNothing(...)

/* ---- options ------------------------------------------------------------------------------- */

#define _tlgLevelVal(n, arg)    _tlgOp(_tlgLevelVal, n, _tlgStrip arg)
#define _tlgLevelMark(n, arg)   _tlgOp(_tlgLevelMark, n, _tlgStrip arg)
#define _tlgKeywordVal(n, arg)  _tlgOp(_tlgKeywordVal, n, _tlgStrip arg)
#define _tlgOpcodeMark(n, arg)  _tlgOp(_tlgOpcodeMark, n, _tlgStrip arg)
#define _tlgChannelMark(n, arg) _tlgOp(_tlgChannelMark, n, _tlgStrip arg)
#define _tlgEventTagVal(n, arg) _tlgOp(_tlgEventTagVal, n, _tlgStrip arg)

#define _tlgLevelVal_tlgO(n, lev, mark, kw, op, ch, tag)    lev
#define _tlgLevelMark_tlgO(n, lev, mark, kw, op, ch, tag)   mark
#define _tlgKeywordVal_tlgO(n, lev, mark, kw, op, ch, tag)  kw
#define _tlgOpcodeMark_tlgO(n, lev, mark, kw, op, ch, tag)  op
#define _tlgChannelMark_tlgO(n, lev, mark, kw, op, ch, tag) ch
#define _tlgEventTagVal_tlgO(n, lev, mark, kw, op, ch, tag) tag

#define _tlgLevelVal_tlgF    _tlgNothing
#define _tlgLevelMark_tlgF   _tlgNothing
#define _tlgKeywordVal_tlgF  _tlgNothing
#define _tlgOpcodeMark_tlgF  _tlgNothing
#define _tlgChannelMark_tlgF _tlgNothing
#define _tlgEventTagVal_tlgF _tlgNothing

#define _tlgLevelVal_tlgD    _tlgNothing
#define _tlgLevelMark_tlgD   _tlgNothing
#define _tlgKeywordVal_tlgD  _tlgNothing
#define _tlgOpcodeMark_tlgD  _tlgNothing
#define _tlgChannelMark_tlgD _tlgNothing
#define _tlgEventTagVal_tlgD _tlgNothing

/* An argument that is empty, as when a source defines its own tag as nothing. */
#define _tlgLevelVal_tlgStrip    _tlgNothing
#define _tlgLevelMark_tlgStrip   _tlgNothing
#define _tlgKeywordVal_tlgStrip  _tlgNothing
#define _tlgOpcodeMark_tlgStrip  _tlgNothing
#define _tlgChannelMark_tlgStrip _tlgNothing
#define _tlgEventTagVal_tlgStrip _tlgNothing
#define _tlgDecl_tlgStrip        _tlgNothing
#define _tlgInit_tlgStrip        _tlgNothing

/* Of several, the last counts: each factor of 0 wipes out what stands before it. The mark 0x100
 * tells a value given as 0 from none given. */
#define _tlgMarked(v)                *0 + (0x100 + ((v)&0xff))
#define _tlgMarkedOr(sum, otherwise) (((sum)&0x100) ? ((sum)&0xff) : (otherwise))

/* ---- tags: 28 bits, 7 a byte, high bits first, bit 7 = more; trailing zero groups are left out */

#define _tlgTagBytes(t)             (((t)&0x001FFFFF) == 0 ? 1 : ((t)&0x00003FFF) == 0 ? 2 : ((t)&0x0000007F) == 0 ? 3 : 4)
#define _tlgTagByte(t, shift, more) ((((t) >> (shift)) & 0x7Fu) | (((t) & (more)) != 0 ? 0x80u : 0u))
#define _tlgTagValue(t)                                                                               \
	(_tlgTagByte((UINT32)(t), 21, 0x001FFFFFu) | _tlgTagByte((UINT32)(t), 14, 0x00003FFFu) << 8 | \
	 _tlgTagByte((UINT32)(t), 7, 0x0000007Fu) << 16 | _tlgTagByte((UINT32)(t), 0, 0u) << 24)
/* The bytes the tag does not need must not spill out of its bit-field. */
#define _tlgTagMask(t) (0xFFFFFFFFu >> (32 - 8 * _tlgTagBytes(t)))
#define _tlgTagCode(t) (_tlgTagValue(t) & _tlgTagMask(t))

/* ---- fields: declaring and initialising the constant --------------------------------------- */

#define _tlgDecl(n, arg) _tlgOp(_tlgDecl, n, _tlgStrip arg)
#define _tlgDecl_tlgO    _tlgNothing
#define _tlgDecl_tlgD    _tlgNothing
#define _tlgDecl_tlgF(n, data, ctype, v1, v2, in, out, ext, x1, x2, name, tagged, tag) \
	char _tlgName##n[sizeof(name)];                                                \
	unsigned long long _tlgType##n : _tlgBits##tagged(out, tag);                   \
	_tlgDecl##ext(n, x1, x2)

#define _tlgInit(n, arg) _tlgOp(_tlgInit, n, _tlgStrip arg)
#define _tlgInit_tlgO    _tlgNothing
#define _tlgInit_tlgD    _tlgNothing
#define _tlgInit_tlgF(n, data, ctype, v1, v2, in, out, ext, x1, x2, name, tagged, tag) \
	, name, _tlgCode##tagged(in, out, tag) _tlgInit##ext(n, x1, x2)

/* `tagged` is _tlgTag0 when the field macro was given no tag, which is nearly always. */
#define _tlgBits_tlgTag0(out, tag) ((out) != 0 ? 16 : 8)
#define _tlgBits_tlgTag1(out, tag) (_tlgTagOn(tag) ? 16 + 8 * _tlgTagBytes(tag) : (out) != 0 ? 16 : 8)
#define _tlgCode_tlgTag0(in, out, tag) \
	((out) != 0 ? ((in) | 0x80ull | (unsigned long long)(out) << 8) : (unsigned long long)(in))
#define _tlgCode_tlgTag1(in, out, tag)                                                                              \
	(_tlgTagOn(tag)                                                                                             \
		 ? ((in) | 0x8080ull | (unsigned long long)(out) << 8 | (unsigned long long)_tlgTagCode(tag) << 16) \
		 : _tlgCode_tlgTag0(in, out, 0))
#define _tlgTagOn(tag) (((tag)&0x0FFFFFFF) != 0)

/* What some fields have behind their type: nothing, a constant count, the count of a struct (which
 * the out-type carries, so it is only checked), a custom schema. */
#define _tlgDecl_tlgX0(n, x1, x2)
#define _tlgInit_tlgX0(n, x1, x2)
#define _tlgDecl_tlgXCount(n, x1, x2) \
	_tlgFieldSA((x1) > 0 && (x1) < 65536, "TraceLogging: a fixed array has 1 to 65535 values") UINT16 _tlgCount##n;
#define _tlgInit_tlgXCount(n, x1, x2) , (UINT16)(x1)
#define _tlgDecl_tlgXStruct(n, x1, x2) \
	_tlgFieldSA((x1) > 0 && (x1) < 128, "TraceLogging: a struct has 1 to 127 members")
#define _tlgInit_tlgXStruct(n, x1, x2)
#define _tlgDecl_tlgXSchema(n, x1, x2) \
	UINT16 _tlgSchemaSize##n;      \
	UINT8 _tlgSchema##n[x2];
#define _tlgInit_tlgXSchema(n, x1, x2) \
	, (UINT16)(x2),                \
	{                              \
		_tlgStrip x1           \
	}

/* The optional tail of a field macro: name, description, tag. The description is for the reader of
 * the source; there is no debug database to put it in. */
#define _tlgNDT(...)                    _tlgPaste(_tlgNDT, _tlgCount(__VA_ARGS__))(__VA_ARGS__)
#define _tlgNDT1(text)                  text, _tlgTag0, 0
#define _tlgNDT2(text, name)            name, _tlgTag0, 0
#define _tlgNDT3(text, name, desc)      name, _tlgTag0, 0
#define _tlgNDT4(text, name, desc, tag) name, _tlgTag1, tag

/* ---- the call site ------------------------------------------------------------------------- */

/* Events are told apart by name: only the dialect of tlg/linux.h has numbers. */
#define _tlgEvtId(...)      0
#define _tlgEvtVersion(...) 0

/* `sink` says where the event goes. The variadic list starts with an argument that is skipped. */
#define _tlgWriteAt(hProvider, eventName, sink, ...) \
	_tlgWriteNamed(hProvider, char _tlgEvtName[sizeof(eventName)], eventName, sink, __VA_ARGS__)
#define _tlgWriteNamed(hProvider, nameDecl, nameInit, sink, ...)                                                   \
	do {                                                                                                       \
		enum {                                                                                             \
			_tlgLevelSum = 0 _tlg_EACH(_tlgLevelMark, __VA_ARGS__),                                    \
			_tlgOpcodeSum = 0 _tlg_EACH(_tlgOpcodeMark, __VA_ARGS__),                                  \
			_tlgChannelSum = 0 _tlg_EACH(_tlgChannelMark, __VA_ARGS__),                                \
			_tlgLevelConst = _tlgMarkedOr(_tlgLevelSum, 5),                                            \
			_tlgOpcodeConst = _tlgMarkedOr(_tlgOpcodeSum, 0),                                          \
			_tlgChannelConst = _tlgMarkedOr(_tlgChannelSum, 11),                                       \
			_tlgTagConst = (0 _tlg_EACH(_tlgEventTagVal, __VA_ARGS__)) & 0x0FFFFFFF                    \
		};                                                                                                 \
		static const struct __attribute__((packed)) {                                                      \
			EVENT_DESCRIPTOR _tlgDescriptor;                                                           \
			UINT16 _tlgEvtMetaSize;                                                                    \
			unsigned long long _tlgEvtTag : 8 * _tlgTagBytes(_tlgTagConst);                            \
			nameDecl;                                                                                  \
			_tlg_EACH(_tlgDecl, __VA_ARGS__)                                                           \
		} _tlgEvent __attribute__((aligned(8))) = {{_tlgEvtId(__VA_ARGS__), _tlgEvtVersion(__VA_ARGS__),   \
							    _tlgChannelConst, _tlgLevelConst, _tlgOpcodeConst, 0,  \
							    0 _tlg_EACH(_tlgKeywordVal, __VA_ARGS__)},             \
							   (UINT16)(sizeof(_tlgEvent) - sizeof(EVENT_DESCRIPTOR)), \
							   _tlgTagCode(_tlgTagConst),                              \
							   nameInit _tlg_EACH(_tlgInit, __VA_ARGS__)};             \
		_tlgSA(sizeof(_tlgEvent) - sizeof(EVENT_DESCRIPTOR) <= 65535,                                      \
		       "TraceLogging: the description of an event has at most 65535 bytes");                       \
		TraceLoggingHProvider const _tlgProv = (hProvider);                                                \
		if (_tlgEnabled(_tlgProv, _tlgLevelConst, 0 _tlg_EACH(_tlgKeywordVal, __VA_ARGS__))) {             \
			_tlgSend(sink, __VA_ARGS__);                                                               \
		}                                                                                                  \
	} while (0)

/* The whole cost of a disabled event: one load, one compare. The callback thread may be storing at
 * the same moment; either value is a good answer. */
_tlgHOT int _tlgKeywordOn(TraceLoggingHProvider provider, ULONGLONG keyword)
{
	return keyword == 0 || ((keyword & __atomic_load_n(&provider->KeywordAny, __ATOMIC_RELAXED)) != 0 &&
				(~keyword & __atomic_load_n(&provider->KeywordAll, __ATOMIC_RELAXED)) == 0);
}

_tlgHOT int _tlgEnabled(TraceLoggingHProvider provider, UINT32 level, ULONGLONG keyword)
{
	return __builtin_expect(level < __atomic_load_n(&provider->LevelPlus1, __ATOMIC_RELAXED), 0) &&
	       _tlgKeywordOn(provider, keyword);
}

/* ---- descriptors --------------------------------------------------------------------------- */

_tlgHOT void _tlgSet(EVENT_DATA_DESCRIPTOR *d, const volatile void *data, ULONG size_bytes, ULONG type)
{
	d->Ptr = (ULONGLONG)(ULONG_PTR)data;
	d->Size = size_bytes;
	d->Reserved = type; /* sets Type; the reserved bytes become 0 */
}

_tlgHOT void _tlgCreate1Sz_char(EVENT_DATA_DESCRIPTOR *d, char const *text)
{
	char const *const s = text ? text : "";
	_tlgSet(d, s, (ULONG)__builtin_strlen(s) + 1, 0);
}

/* Not wcslen: the C library's counts 4-byte units whatever the compiler's flags. */
static __inline__ __attribute__((unused)) void _tlgCreate1Sz_16(EVENT_DATA_DESCRIPTOR *d, const void *text)
{
	static const UINT16 empty[1] = {0};
	typedef UINT16 __attribute__((may_alias)) unit;
	unit const *const s = text ? (unit const *)text : (unit const *)empty;
	ULONG n = 0;
	while (s[n]) {
		n++;
	}
	_tlgSet(d, s, (n + 1) * 2, 0);
}

_tlgHOT void _tlgCreate1Sz_wchar_t(EVENT_DATA_DESCRIPTOR *d, WCHAR const *text)
{
	_tlgCreate1Sz_16(d, text);
}

_tlgHOT ULONG _tlgSidSize(const void *sid)
{
	return 8u + 4u * ((UINT8 const *)sid)[1];
}

/* `event` is a call site's constant: the descriptor, then the metadata, which starts with its size.
 */
_tlgHOT void _tlgSetMetadata(EVENT_DATA_DESCRIPTOR *data, TraceLoggingHProvider provider, const void *event)
{
	UINT16 const *const meta = (UINT16 const *)((EVENT_DESCRIPTOR const *)event + 1);
	_tlgSet(&data[0], provider->ProviderMetadataPtr, *provider->ProviderMetadataPtr,
		EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA);
	_tlgSet(&data[1], meta, *meta, EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA);
}

_tlgHOT ULONG _tlgWriteTransfer(TraceLoggingHProvider provider, const void *event, EVENT_DATA_DESCRIPTOR *data,
				ULONG count, LPCGUID activity, LPCGUID related)
{
	_tlgSetMetadata(data, provider, event);
	return TLG_EVENT_WRITE_TRANSFER(provider->RegHandle, (EVENT_DESCRIPTOR const *)event, activity, related, count,
					data);
}

_tlgHOT ULONG _tlgWriteEx(TraceLoggingHProvider provider, const void *event, EVENT_DATA_DESCRIPTOR *data, ULONG count,
			  ULONG64 filter, ULONG flags, LPCGUID activity, LPCGUID related)
{
	_tlgSetMetadata(data, provider, event);
	return TLG_EVENT_WRITE_EX(provider->RegHandle, (EVENT_DESCRIPTOR const *)event, filter, flags, activity,
				  related, count, data);
}

/* For programs that build the blob of an event themselves. `event_metadata` points to its Channel,
 * one byte into the blob; `data[0]` and `data[1]` are ours to fill. */
static __inline__ __attribute__((unused)) ULONG
_tlgWriteTransfer_EventWriteTransfer(TraceLoggingHProvider provider, const void *event_metadata, LPCGUID activity,
				     LPCGUID related, UINT32 count, EVENT_DATA_DESCRIPTOR *data)
{
	struct _tlgEventMetadata_t const *const m =
		(struct _tlgEventMetadata_t const *)((UCHAR const *)event_metadata - 1);
	EVENT_DESCRIPTOR descriptor = {0, 0, m->Channel, m->Level, m->Opcode, 0, m->Keyword};
	_tlgSet(&data[0], provider->ProviderMetadataPtr, *provider->ProviderMetadataPtr,
		EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA);
	_tlgSet(&data[1], (UCHAR const *)event_metadata + _tlg_EVENT_METADATA_PREAMBLE, m->RemainingSize,
		EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA);
	return TLG_EVENT_WRITE_TRANSFER(provider->RegHandle, &descriptor, activity, related, count, data);
}

#endif
