/* SPDX-License-Identifier: MIT
 *
 * The arguments of TraceLoggingWrite. Part of TraceLoggingProvider.h.
 *
 * Options: TraceLoggingLevel, Keyword, Opcode, Channel, EventTag, Description, CustomAttribute.
 * Fields: one macro per type, most with an Array form (u16 count in the data) and a FixedArray form
 * (count in the metadata). After its values each takes an optional name (else the text of the
 * value), description and tag (28 bits), all constants:
 *
 *   TraceLoggingInt32(x)   TraceLoggingInt32(x, "size")   TraceLoggingInt32(x, "size", "in bytes",
 * 0x10)
 *
 * Structures given by value (GUID, FILETIME, SYSTEMTIME) must be lvalues in C.
 */
#ifndef ETW_TLG_FIELDS_H
#define ETW_TLG_FIELDS_H

/* ---- options: see engine.h for the tuple ------------------------------------------------ */

#define TraceLoggingLevel(level)          (_tlgO, | (level), _tlgMarked(level), , , , )
#define TraceLoggingKeyword(keyword)      (_tlgO, , , | (ULONGLONG)(keyword), , , )
#define TraceLoggingOpcode(opcode)        (_tlgO, , , , _tlgMarked(opcode), , )
#define TraceLoggingChannel(channel)      (_tlgO, , , , , _tlgMarked(channel), )
#define TraceLoggingEventTag(tag)         (_tlgO, , , , , , | (tag))
#define TraceLoggingDescription(text)     (_tlgO, , , , , , )
#define TraceLoggingCustomAttribute(k, v) (_tlgO, , , , , , )

/* ---- makers of field tuples ------------------------------------------------------------- */

#define _tlgScalar(kind, ctype, in, out, v, ndt)  (_tlgF, kind, ctype, v, 0, in, out, _tlgX0, 0, 0, ndt)
#define _tlgPair(kind, ctype, in, out, p, n, ndt) (_tlgF, kind, ctype, p, n, in, out, _tlgX0, 0, 0, ndt)
#define _tlgArr(kind, ctype, in, out, p, n, ndt)  (_tlgF, kind, ctype, p, n, (in) | TlgInVcount, out, _tlgX0, 0, 0, ndt)
#define _tlgFix(kind, ctype, in, out, p, n, ndt) \
	(_tlgF, kind, ctype, p, n, (in) | TlgInCcount, out, _tlgXCount, n, 0, ndt)

/* ---- numbers ------------------------------------------------------------------------------- */

#define TraceLoggingInt8(value, ...)          _tlgScalar(_tlgVal, INT8, TlgInINT8, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingInt8Array(p, n, ...)      _tlgArr(_tlgArray, INT8, TlgInINT8, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt8FixedArray(p, n, ...) _tlgFix(_tlgFixed, INT8, TlgInINT8, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt16(value, ...)         _tlgScalar(_tlgVal, INT16, TlgInINT16, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingInt16Array(p, n, ...)     _tlgArr(_tlgArray, INT16, TlgInINT16, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt16FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT16, TlgInINT16, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt32(value, ...)     _tlgScalar(_tlgVal, INT32, TlgInINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingInt32Array(p, n, ...) _tlgArr(_tlgArray, INT32, TlgInINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT32, TlgInINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt64(value, ...)     _tlgScalar(_tlgVal, INT64, TlgInINT64, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingInt64Array(p, n, ...) _tlgArr(_tlgArray, INT64, TlgInINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT64, TlgInINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingIntPtr(value, ...) \
	_tlgScalar(_tlgVal, INT_PTR, TlgInINTPTR, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingIntPtrArray(p, n, ...) _tlgArr(_tlgArray, INT_PTR, TlgInINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT_PTR, TlgInINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingLong(value, ...)          _tlgScalar(_tlgVal, LONG, TlgInLONG, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingLongArray(p, n, ...)      _tlgArr(_tlgArray, LONG, TlgInLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingLongFixedArray(p, n, ...) _tlgFix(_tlgFixed, LONG, TlgInLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt8(value, ...)         _tlgScalar(_tlgVal, UINT8, TlgInUINT8, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingUInt8Array(p, n, ...)     _tlgArr(_tlgArray, UINT8, TlgInUINT8, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt8FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT8, TlgInUINT8, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt16(value, ...) \
	_tlgScalar(_tlgVal, UINT16, TlgInUINT16, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingUInt16Array(p, n, ...) _tlgArr(_tlgArray, UINT16, TlgInUINT16, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt16FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT16, TlgInUINT16, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt32(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingUInt32Array(p, n, ...) _tlgArr(_tlgArray, UINT32, TlgInUINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT32, TlgInUINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt64(value, ...) \
	_tlgScalar(_tlgVal, UINT64, TlgInUINT64, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingUInt64Array(p, n, ...) _tlgArr(_tlgArray, UINT64, TlgInUINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT64, TlgInUINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUIntPtr(value, ...) \
	_tlgScalar(_tlgVal, UINT_PTR, TlgInUINTPTR, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingUIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, UINT_PTR, TlgInUINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingUIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT_PTR, TlgInUINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingULong(value, ...)     _tlgScalar(_tlgVal, ULONG, TlgInULONG, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingULongArray(p, n, ...) _tlgArr(_tlgArray, ULONG, TlgInULONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingULongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, ULONG, TlgInULONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

#define TraceLoggingHexInt8(value, ...) \
	_tlgScalar(_tlgVal, INT8, TlgInUINT8, TlgOutHEX, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexInt8Array(p, n, ...) \
	_tlgArr(_tlgArray, INT8, TlgInUINT8, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt8FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT8, TlgInUINT8, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt16(value, ...) \
	_tlgScalar(_tlgVal, INT16, TlgInUINT16, TlgOutHEX, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexInt16Array(p, n, ...) \
	_tlgArr(_tlgArray, INT16, TlgInUINT16, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt16FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT16, TlgInUINT16, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt32(value, ...) \
	_tlgScalar(_tlgVal, INT32, TlgInHEXINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexInt32Array(p, n, ...) \
	_tlgArr(_tlgArray, INT32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt64(value, ...) \
	_tlgScalar(_tlgVal, INT64, TlgInHEXINT64, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexInt64Array(p, n, ...) \
	_tlgArr(_tlgArray, INT64, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT64, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexIntPtr(value, ...) \
	_tlgScalar(_tlgVal, INT_PTR, TlgInPOINTER, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, INT_PTR, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT_PTR, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexLong(value, ...) \
	_tlgScalar(_tlgVal, LONG, TlgInHEXLONG, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexLongArray(p, n, ...) _tlgArr(_tlgArray, LONG, TlgInHEXLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexLongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, LONG, TlgInHEXLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt8(value, ...) \
	_tlgScalar(_tlgVal, UINT8, TlgInUINT8, TlgOutHEX, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexUInt8Array(p, n, ...) \
	_tlgArr(_tlgArray, UINT8, TlgInUINT8, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt8FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT8, TlgInUINT8, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt16(value, ...) \
	_tlgScalar(_tlgVal, UINT16, TlgInUINT16, TlgOutHEX, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexUInt16Array(p, n, ...) \
	_tlgArr(_tlgArray, UINT16, TlgInUINT16, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt16FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT16, TlgInUINT16, TlgOutHEX, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt32(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInHEXINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexUInt32Array(p, n, ...) \
	_tlgArr(_tlgArray, UINT32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt64(value, ...) \
	_tlgScalar(_tlgVal, UINT64, TlgInHEXINT64, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexUInt64Array(p, n, ...) \
	_tlgArr(_tlgArray, UINT64, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT64, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUIntPtr(value, ...) \
	_tlgScalar(_tlgVal, UINT_PTR, TlgInPOINTER, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexUIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, UINT_PTR, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexUIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT_PTR, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexULong(value, ...) \
	_tlgScalar(_tlgVal, ULONG, TlgInHEXLONG, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHexULongArray(p, n, ...) \
	_tlgArr(_tlgArray, ULONG, TlgInHEXLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingHexULongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, ULONG, TlgInHEXLONG, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

#define TraceLoggingFloat32(value, ...)     _tlgScalar(_tlgVal, FLOAT, TlgInFLOAT, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingFloat32Array(p, n, ...) _tlgArr(_tlgArray, FLOAT, TlgInFLOAT, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFloat32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, FLOAT, TlgInFLOAT, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFloat64(value, ...) \
	_tlgScalar(_tlgVal, DOUBLE, TlgInDOUBLE, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingFloat64Array(p, n, ...) _tlgArr(_tlgArray, DOUBLE, TlgInDOUBLE, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFloat64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, DOUBLE, TlgInDOUBLE, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* Boolean is a byte (BOOLEAN, bool), Bool is 4 (BOOL). */
#define TraceLoggingBoolean(value, ...) \
	_tlgScalar(_tlgVal, BOOLEAN, TlgInUINT8, TlgOutBOOLEAN, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingBooleanArray(p, n, ...) \
	_tlgArr(_tlgArray, BOOLEAN, TlgInUINT8, TlgOutBOOLEAN, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingBooleanFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, BOOLEAN, TlgInUINT8, TlgOutBOOLEAN, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingBool(value, ...)     _tlgScalar(_tlgVal, INT32, TlgInBOOL32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingBoolArray(p, n, ...) _tlgArr(_tlgArray, INT32, TlgInBOOL32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingBoolFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT32, TlgInBOOL32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* Any pointer; CodePointer also takes functions. */
#define TraceLoggingPointer(value, ...) \
	_tlgScalar(_tlgVal, void const volatile *, TlgInPOINTER, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingPointerArray(p, n, ...) \
	_tlgArr(_tlgPtrArray, void const volatile *, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPointerFixedArray(p, n, ...) \
	_tlgFix(_tlgPtrFixed, void const volatile *, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingCodePointer(value, ...) \
	_tlgScalar(_tlgCode, void const *, TlgInPOINTER, TlgOutCODE_POINTER, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingCodePointerArray(p, n, ...) \
	_tlgArr(_tlgPtrArray, void const *, TlgInPOINTER, TlgOutCODE_POINTER, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingCodePointerFixedArray(p, n, ...) \
	_tlgFix(_tlgPtrFixed, void const *, TlgInPOINTER, TlgOutCODE_POINTER, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* ---- characters and numbers with a meaning ------------------------------------------------ */

#ifdef __cplusplus
#define _tlgChar16 char16_t
#else
#define _tlgChar16 __CHAR16_TYPE__
#endif

#define TraceLoggingChar(value, ...) \
	_tlgScalar(_tlgVal, char, TlgInUINT8, TlgOutSTRING, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingCharArray(p, n, ...) \
	_tlgArr(_tlgArray, char, TlgInUINT8, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingCharFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, char, TlgInUINT8, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingChar16(value, ...) \
	_tlgScalar(_tlgVal, _tlgChar16, TlgInUINT16, TlgOutSTRING, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingChar16Array(p, n, ...) \
	_tlgArr(_tlgArray, _tlgChar16, TlgInUINT16, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingChar16FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, _tlgChar16, TlgInUINT16, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingWChar(value, ...) \
	_tlgScalar(_tlgWChar, WCHAR, TlgInUINT16, TlgOutSTRING, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingWCharArray(p, n, ...) \
	_tlgArr(_tlgArray, WCHAR, TlgInUINT16, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingWCharFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, WCHAR, TlgInUINT16, TlgOutSTRING, p, n, _tlgNDT(#p, ##__VA_ARGS__))

#define TraceLoggingPid(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, TlgOutPID, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingTid(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, TlgOutTID, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingPort(value, ...) \
	_tlgScalar(_tlgVal, UINT16, TlgInUINT16, TlgOutPORT, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingWinError(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, TlgOutWIN32ERROR, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingNTStatus(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, TlgOutNTSTATUS, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingHResult(value, ...) \
	_tlgScalar(_tlgVal, INT32, TlgInINT32, TlgOutHRESULT, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingIPv4Address(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInUINT32, TlgOutIPV4, value, _tlgNDT(#value, ##__VA_ARGS__))

#define TraceLoggingFileTime(value, ...) \
	_tlgScalar(_tlgRef, FILETIME, TlgInFILETIME, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingFileTimeArray(p, n, ...) \
	_tlgArr(_tlgArray, FILETIME, TlgInFILETIME, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFileTimeFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, FILETIME, TlgInFILETIME, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFileTimeUtc(value, ...) \
	_tlgScalar(_tlgRef, FILETIME, TlgInFILETIME, TlgOutDATETIME_UTC, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingFileTimeUtcArray(p, n, ...) \
	_tlgArr(_tlgArray, FILETIME, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingFileTimeUtcFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, FILETIME, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingSystemTime(value, ...) \
	_tlgScalar(_tlgRef, SYSTEMTIME, TlgInSYSTEMTIME, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingSystemTimeArray(p, n, ...) \
	_tlgArr(_tlgArray, SYSTEMTIME, TlgInSYSTEMTIME, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingSystemTimeFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, SYSTEMTIME, TlgInSYSTEMTIME, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingSystemTimeUtc(value, ...) \
	_tlgScalar(_tlgRef, SYSTEMTIME, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingSystemTimeUtcArray(p, n, ...) \
	_tlgArr(_tlgArray, SYSTEMTIME, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingSystemTimeUtcFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, SYSTEMTIME, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingGuid(value, ...)          _tlgScalar(_tlgRef, GUID, TlgInGUID, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingGuidArray(p, n, ...)      _tlgArr(_tlgArray, GUID, TlgInGUID, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingGuidFixedArray(p, n, ...) _tlgFix(_tlgFixed, GUID, TlgInGUID, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* ---- strings and bytes ------------------------------------------------------------------ */

/* End with NUL; a NULL pointer is written as "". */
#define TraceLoggingString(psz, ...) _tlgScalar(_tlgSz, char, TlgInANSISTRING, 0, psz, _tlgNDT(#psz, ##__VA_ARGS__))
#define TraceLoggingUtf8String(psz, ...) \
	_tlgScalar(_tlgSz, char, TlgInANSISTRING, TlgOutUTF8, psz, _tlgNDT(#psz, ##__VA_ARGS__))
#define TraceLoggingString16(psz, ...) \
	_tlgScalar(_tlgSz16, _tlgChar16, TlgInUNICODESTRING, 0, psz, _tlgNDT(#psz, ##__VA_ARGS__))
#define TraceLoggingWideString(psz, ...) \
	_tlgScalar(_tlgSz16, WCHAR, TlgInUNICODESTRING, 0, psz, _tlgNDT(#psz, ##__VA_ARGS__))

/* `cch` counts characters. */
#define TraceLoggingCountedString(pch, cch, ...) \
	_tlgPair(_tlgCounted, char, TlgInCOUNTEDANSISTRING, 0, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))
#define TraceLoggingCountedUtf8String(pch, cch, ...) \
	_tlgPair(_tlgCounted, char, TlgInCOUNTEDANSISTRING, TlgOutUTF8, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))
#define TraceLoggingCountedString16(pch, cch, ...) \
	_tlgPair(_tlgCounted, _tlgChar16, TlgInCOUNTEDSTRING, 0, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))
#define TraceLoggingCountedWideString(pch, cch, ...) \
	_tlgPair(_tlgCounted16, WCHAR, TlgInCOUNTEDSTRING, 0, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))

/* STRING and UNICODE_STRING, by pointer. */
#define TraceLoggingAnsiString(pString, ...) \
	_tlgScalar(_tlgBuffer, STRING, TlgInCOUNTEDANSISTRING, 0, pString, _tlgNDT(#pString, ##__VA_ARGS__))
#define TraceLoggingUnicodeString(pString, ...) \
	_tlgScalar(_tlgBuffer, UNICODE_STRING, TlgInCOUNTEDSTRING, 0, pString, _tlgNDT(#pString, ##__VA_ARGS__))

#define TraceLoggingBinary(p, cb, ...) _tlgPair(_tlgBytes, void, TlgInBINARY, 0, p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingBinaryEx(p, cb, outType, ...) \
	_tlgPair(_tlgBytes, void, TlgInBINARY, outType, p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingSocketAddress(p, cb, ...) \
	_tlgPair(_tlgBytes, void, TlgInBINARY, TlgOutSOCKETADDRESS, p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingIPv6Address(p, ...) \
	_tlgPair(_tlgBytes, void, TlgInBINARY, TlgOutIPV6, p, 16, _tlgNDT(#p, ##__VA_ARGS__))

/* A structure of type T whose Buffer points to Length bytes. */
#define TraceLoggingBinaryBuffer(p, T, ...) _tlgScalar(_tlgBuffer, T, TlgInBINARY, 0, p, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingBinaryBufferEx(p, T, outType, ...) \
	_tlgScalar(_tlgBuffer, T, TlgInBINARY, outType, p, _tlgNDT(#p, ##__VA_ARGS__))

/* A valid SID, not NULL. */
#define TraceLoggingSid(p, ...) _tlgScalar(_tlgSid, SID, TlgInSID, 0, p, _tlgNDT(#p, ##__VA_ARGS__))

/* The type follows from the expression: C++, and C by way of _Generic. */
#define TraceLoggingValue(value, ...) \
	_tlgScalar(_tlgAuto, 0, _tlgAutoIn(value), _tlgAutoOut(value), value, _tlgNDT(#value, ##__VA_ARGS__))

/* ---- structures and hand-made fields ---------------------------------------------------- */

#define _tlgNoData(in, out, ext, x1, ndt) (_tlgF, _tlgNone, 0, 0, 0, in, out, ext, x1, 0, ndt)

/* The next `fields` fields are members; a struct among them counts as one, its members as none. */
#define TraceLoggingStruct(fields, name, ...) \
	_tlgNoData(_TlgInSTRUCT, fields, _tlgXStruct, fields, _tlgNDT(name, name, ##__VA_ARGS__))

/* A field made by hand: value bytes and metadata together, metadata alone, data alone. What they
 * say must fit together; nothing checks that. Arrays of strings and of structs are written this
 * way. */
#define TraceLoggingPackedField(p, cb, inType, ...) _tlgPair(_tlgRaw, 0, inType, 0, p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPackedFieldEx(p, cb, inType, outType, ...) \
	_tlgPair(_tlgRaw, 0, inType, outType, p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPackedMetadata(inType, name, ...) \
	_tlgNoData(inType, 0, _tlgX0, 0, _tlgNDT(name, name, ##__VA_ARGS__))
#define TraceLoggingPackedMetadataEx(inType, outType, name, ...) \
	_tlgNoData(inType, outType, _tlgX0, 0, _tlgNDT(name, name, ##__VA_ARGS__))
#define TraceLoggingPackedStruct(fields, name, ...) TraceLoggingStruct(fields, name, ##__VA_ARGS__)
#define TraceLoggingPackedStructArray(fields, name, ...) \
	_tlgNoData(_TlgInSTRUCT | TlgInVcount, fields, _tlgXStruct, fields, _tlgNDT(name, name, ##__VA_ARGS__))
#define TraceLoggingPackedData(p, cb)             (_tlgD, _tlgRaw, 0, p, cb)
#define TraceLoggingPackedDataEx(p, cb, descType) (_tlgD, _tlgRaw, descType, p, cb)

/* Bytes made by a serialiser, with the schema needed to read them: `schema` is a list of constants
 * in parentheses, `cbSchema` how many. Protocols 0 to 4 are Microsoft's, 5 to 31 free. */
#define TRACELOGGING_PROTOCOL_NONE 0
#define TraceLoggingCustom(p, cb, protocol, schema, cbSchema, ...)                                                    \
	(_tlgF, _tlgBytes, void, p, cb, _TlgInCustom | ((protocol)&_TlgInTypeMask), 0, _tlgXSchema, schema, cbSchema, \
	 _tlgNDT(#p, ##__VA_ARGS__))

#endif
