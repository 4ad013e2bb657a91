/* SPDX-License-Identifier: MIT
 *
 * The fields of Linux's dialects of TraceLogging that differ from Windows'. Part of tlg/linux.h.
 */
#ifndef ETW_TLG_LINUX_FIELDS_H
#define ETW_TLG_LINUX_FIELDS_H

/* ---- numbers ---- */

#if __SIZEOF_LONG__ == 8
#define _tlgLxLongBits(n) n##64
#else
#define _tlgLxLongBits(n) n##32
#endif

#undef TraceLoggingLong
#define TraceLoggingLong(value, ...) \
	_tlgScalar(_tlgVal, long, _tlgLxLongBits(TlgInINT), 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#undef TraceLoggingLongArray
#define TraceLoggingLongArray(p, n, ...) \
	_tlgArr(_tlgArray, long, _tlgLxLongBits(TlgInINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingLongFixedArray
#define TraceLoggingLongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, long, _tlgLxLongBits(TlgInINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingULong
#define TraceLoggingULong(value, ...) \
	_tlgScalar(_tlgVal, unsigned long, _tlgLxLongBits(TlgInUINT), 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#undef TraceLoggingULongArray
#define TraceLoggingULongArray(p, n, ...) \
	_tlgArr(_tlgArray, unsigned long, _tlgLxLongBits(TlgInUINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingULongFixedArray
#define TraceLoggingULongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, unsigned long, _tlgLxLongBits(TlgInUINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexLong
#define TraceLoggingHexLong(value, ...) \
	_tlgScalar(_tlgVal, long, _tlgLxLongBits(TlgInHEXINT), 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#undef TraceLoggingHexLongArray
#define TraceLoggingHexLongArray(p, n, ...) \
	_tlgArr(_tlgArray, long, _tlgLxLongBits(TlgInHEXINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexLongFixedArray
#define TraceLoggingHexLongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, long, _tlgLxLongBits(TlgInHEXINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexULong
#define TraceLoggingHexULong(value, ...) \
	_tlgScalar(_tlgVal, unsigned long, _tlgLxLongBits(TlgInHEXINT), 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#undef TraceLoggingHexULongArray
#define TraceLoggingHexULongArray(p, n, ...) \
	_tlgArr(_tlgArray, unsigned long, _tlgLxLongBits(TlgInHEXINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexULongFixedArray
#define TraceLoggingHexULongFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, unsigned long, _tlgLxLongBits(TlgInHEXINT), 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* int64_t is a long there. */
#undef TraceLoggingInt64Array
#define TraceLoggingInt64Array(p, n, ...) _tlgArr(_tlgArray, int64_t, TlgInINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingInt64FixedArray
#define TraceLoggingInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, int64_t, TlgInINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingUInt64Array
#define TraceLoggingUInt64Array(p, n, ...) \
	_tlgArr(_tlgArray, uint64_t, TlgInUINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingUInt64FixedArray
#define TraceLoggingUInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, uint64_t, TlgInUINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexInt64Array
#define TraceLoggingHexInt64Array(p, n, ...) \
	_tlgArr(_tlgArray, int64_t, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexInt64FixedArray
#define TraceLoggingHexInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, int64_t, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexUInt64Array
#define TraceLoggingHexUInt64Array(p, n, ...) \
	_tlgArr(_tlgArray, uint64_t, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexUInt64FixedArray
#define TraceLoggingHexUInt64FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, uint64_t, TlgInHEXINT64, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingIntPtrArray
#define TraceLoggingIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, intptr_t, TlgInINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingIntPtrFixedArray
#define TraceLoggingIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, intptr_t, TlgInINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingUIntPtrArray
#define TraceLoggingUIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, uintptr_t, TlgInUINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingUIntPtrFixedArray
#define TraceLoggingUIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, uintptr_t, TlgInUINTPTR, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexIntPtrArray
#define TraceLoggingHexIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, intptr_t, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexIntPtrFixedArray
#define TraceLoggingHexIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, intptr_t, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexUIntPtrArray
#define TraceLoggingHexUIntPtrArray(p, n, ...) \
	_tlgArr(_tlgArray, uintptr_t, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingHexUIntPtrFixedArray
#define TraceLoggingHexUIntPtrFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, uintptr_t, TlgInPOINTER, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* A process id is signed there. */
#undef TraceLoggingPid
#define TraceLoggingPid(value, ...) \
	_tlgScalar(_tlgVal, INT32, TlgInUINT32, TlgOutPID, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingPidArray(p, n, ...) \
	_tlgArr(_tlgArray, INT32, TlgInUINT32, TlgOutPID, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPidFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT32, TlgInUINT32, TlgOutPID, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPortArray(p, n, ...) \
	_tlgArr(_tlgArray, UINT16, TlgInUINT16, TlgOutPORT, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingPortFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, UINT16, TlgInUINT16, TlgOutPORT, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingErrno(value, ...)     _tlgScalar(_tlgVal, INT32, TlgInINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingErrnoArray(p, n, ...) _tlgArr(_tlgArray, INT32, TlgInINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingErrnoFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, INT32, TlgInINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* ---- times and GUIDs ---- */

#define TraceLoggingTime32(value, ...)                                                           \
	_tlgScalar(_tlgVal, ULONGLONG, TlgInFILETIME, TlgOutDATETIME_UTC, _tlgLxFileTime(value), \
		   _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingTime32Array(p, n, ...) \
	_tlgArr(_tlgLx, _tlgLxTime32 | _tlgLxCount, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingTime32FixedArray(p, n, ...) \
	_tlgFix(_tlgLx, _tlgLxTime32, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingTime64(value, ...)                                                           \
	_tlgScalar(_tlgVal, ULONGLONG, TlgInFILETIME, TlgOutDATETIME_UTC, _tlgLxFileTime(value), \
		   _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingTime64Array(p, n, ...) \
	_tlgArr(_tlgLx, _tlgLxTime64 | _tlgLxCount, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingTime64FixedArray(p, n, ...) \
	_tlgFix(_tlgLx, _tlgLxTime64, TlgInFILETIME, TlgOutDATETIME_UTC, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTime
#define TraceLoggingFileTime(p, ...) \
	_tlgPair(_tlgRaw, 0, TlgInFILETIME, 0, p, sizeof(FILETIME), _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTimeArray
#define TraceLoggingFileTimeArray(p, n, ...)                                                   \
	_tlgArr(_tlgArray, FILETIME, TlgInFILETIME, 0, (FILETIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTimeFixedArray
#define TraceLoggingFileTimeFixedArray(p, n, ...)                                              \
	_tlgFix(_tlgFixed, FILETIME, TlgInFILETIME, 0, (FILETIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTimeUtc
#define TraceLoggingFileTimeUtc(p, ...) \
	_tlgPair(_tlgRaw, 0, TlgInFILETIME, TlgOutDATETIME_UTC, p, sizeof(FILETIME), _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTimeUtcArray
#define TraceLoggingFileTimeUtcArray(p, n, ...)                                                                 \
	_tlgArr(_tlgArray, FILETIME, TlgInFILETIME, TlgOutDATETIME_UTC, (FILETIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingFileTimeUtcFixedArray
#define TraceLoggingFileTimeUtcFixedArray(p, n, ...)                                                            \
	_tlgFix(_tlgFixed, FILETIME, TlgInFILETIME, TlgOutDATETIME_UTC, (FILETIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTime
#define TraceLoggingSystemTime(p, ...) \
	_tlgPair(_tlgRaw, 0, TlgInSYSTEMTIME, 0, p, sizeof(SYSTEMTIME), _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTimeArray
#define TraceLoggingSystemTimeArray(p, n, ...)                                                       \
	_tlgArr(_tlgArray, SYSTEMTIME, TlgInSYSTEMTIME, 0, (SYSTEMTIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTimeFixedArray
#define TraceLoggingSystemTimeFixedArray(p, n, ...)                                                  \
	_tlgFix(_tlgFixed, SYSTEMTIME, TlgInSYSTEMTIME, 0, (SYSTEMTIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTimeUtc
#define TraceLoggingSystemTimeUtc(p, ...) \
	_tlgPair(_tlgRaw, 0, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, p, sizeof(SYSTEMTIME), _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTimeUtcArray
#define TraceLoggingSystemTimeUtcArray(p, n, ...)                                                                     \
	_tlgArr(_tlgArray, SYSTEMTIME, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, (SYSTEMTIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingSystemTimeUtcFixedArray
#define TraceLoggingSystemTimeUtcFixedArray(p, n, ...)                                                                \
	_tlgFix(_tlgFixed, SYSTEMTIME, TlgInSYSTEMTIME, TlgOutDATETIME_UTC, (SYSTEMTIME const *)(const void *)(p), n, \
		_tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingGuid
#define TraceLoggingGuid(p, ...) _tlgPair(_tlgLx, _tlgLxGuid, TlgInGUID, 0, p, 1, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingGuidArray
#define TraceLoggingGuidArray(p, n, ...) \
	_tlgArr(_tlgLx, _tlgLxGuid | _tlgLxCount, TlgInGUID, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingGuidFixedArray
#define TraceLoggingGuidFixedArray(p, n, ...) \
	_tlgFix(_tlgLx, _tlgLxGuid, TlgInGUID, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))

/* ---- characters of 32 bits ---- */

#ifdef __cplusplus
#define _tlgChar32 char32_t
#else
#define _tlgChar32 __CHAR32_TYPE__
#endif
#define TraceLoggingChar32(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInHEXINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#define TraceLoggingChar32Array(p, n, ...) \
	_tlgArr(_tlgArray, _tlgChar32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingChar32FixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, _tlgChar32, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#define TraceLoggingString32(psz, ...) \
	_tlgPair(_tlgLx, _tlgLxSz32, TlgInUNICODESTRING, 0, psz, 0, _tlgNDT(#psz, ##__VA_ARGS__))
#define TraceLoggingCountedString32(pch, cch, ...) \
	_tlgPair(_tlgLx, _tlgLxCounted32, TlgInCOUNTEDSTRING, 0, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))
#if __SIZEOF_WCHAR_T__ == 4
#undef TraceLoggingWChar
#define TraceLoggingWChar(value, ...) \
	_tlgScalar(_tlgVal, UINT32, TlgInHEXINT32, 0, value, _tlgNDT(#value, ##__VA_ARGS__))
#undef TraceLoggingWCharArray
#define TraceLoggingWCharArray(p, n, ...) \
	_tlgArr(_tlgArray, _tlgLxWChar, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingWCharFixedArray
#define TraceLoggingWCharFixedArray(p, n, ...) \
	_tlgFix(_tlgFixed, _tlgLxWChar, TlgInHEXINT32, 0, p, n, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingWideString
#define TraceLoggingWideString(psz, ...) \
	_tlgPair(_tlgLx, _tlgLxSz32, TlgInUNICODESTRING, 0, psz, 0, _tlgNDT(#psz, ##__VA_ARGS__))
#undef TraceLoggingCountedWideString
#define TraceLoggingCountedWideString(pch, cch, ...) \
	_tlgPair(_tlgLx, _tlgLxCounted32, TlgInCOUNTEDSTRING, 0, pch, cch, _tlgNDT(#pch, ##__VA_ARGS__))
#ifdef __cplusplus
#define _tlgLxWChar wchar_t
#else
#define _tlgLxWChar __WCHAR_TYPE__
#endif
#endif

/* ---- fields made by hand, with the codes of eventheader ---- */

/* Low bits: the type here. 0x1000: the bytes are UTF-32 up to NUL and have to be converted. */
enum event_field_encoding {
	event_field_encoding_flag_mask = 0xE0,
	event_field_encoding_value_mask = 0x1F,
	event_field_encoding_carray_flag = TlgInCcount,
	event_field_encoding_varray_flag = TlgInVcount,
	event_field_encoding_chain_flag = 0x80,
	event_field_encoding_invalid = 0,
	event_field_encoding_struct = _TlgInSTRUCT,
	event_field_encoding_value8 = TlgInUINT8,
	event_field_encoding_value16 = TlgInUINT16,
	event_field_encoding_value32 = TlgInUINT32,
	event_field_encoding_value64 = TlgInUINT64,
	event_field_encoding_value128 = TlgInGUID,
	event_field_encoding_zstring_char8 = TlgInANSISTRING,
	event_field_encoding_zstring_char16 = TlgInUNICODESTRING,
	event_field_encoding_zstring_char32 = 0x1000 | TlgInUNICODESTRING,
	event_field_encoding_string_length16_char8 = TlgInCOUNTEDANSISTRING,
	/* Counted in characters: an array of characters. */
	event_field_encoding_string_length16_char16 = TlgInUINT16 | TlgInVcount,
	event_field_encoding_string_length16_char32 = TlgInHEXINT32 | TlgInVcount,
	event_field_encoding_binary_length16_char8 = TlgInBINARY,
	event_field_encoding_value_long = _tlgLxLongBits(TlgInUINT),
	event_field_encoding_value_ptr = TlgInUINTPTR,
	event_field_encoding_value_float = TlgInUINT32,
	event_field_encoding_value_double = TlgInUINT64,
#if __SIZEOF_WCHAR_T__ == 4
	event_field_encoding_value_wchar = TlgInUINT32,
	event_field_encoding_zstring_wchar = event_field_encoding_zstring_char32,
	event_field_encoding_string_length16_wchar = event_field_encoding_string_length16_char32
#else
	event_field_encoding_value_wchar = TlgInUINT16,
	event_field_encoding_zstring_wchar = event_field_encoding_zstring_char16,
	event_field_encoding_string_length16_wchar = event_field_encoding_string_length16_char16
#endif
};

/* Low byte: how to show it here. Above: it changes the type of a number. */
enum event_field_format {
	event_field_format_value_mask = 0x7F,
	event_field_format_chain_flag = 0x80,
	event_field_format_default = 0,
	event_field_format_unsigned_int = 0,
	event_field_format_signed_int = 0x100,
	event_field_format_hex_int = TlgOutHEX,
	event_field_format_errno = 0x100,
	event_field_format_pid = TlgOutPID,
	event_field_format_time = 0x100,
	event_field_format_boolean = TlgOutBOOLEAN,
	event_field_format_float = 0x200,
	event_field_format_hex_bytes = TlgOutHEX,
	event_field_format_string8 = TlgOutSTRING,
	event_field_format_string_utf = 0x400 | TlgOutSTRING,
	event_field_format_string_utf_bom = 0x400 | TlgOutSTRING,
	event_field_format_string_xml = TlgOutXML,
	event_field_format_string_json = TlgOutJSON,
	event_field_format_uuid = 0,
	event_field_format_port = TlgOutPORT,
	event_field_format_ip_address = 0x800 | TlgOutIPV4,
	event_field_format_ip_address_obsolete = event_field_format_ip_address,
	event_field_format_ipv4 = TlgOutIPV4,
	event_field_format_ipv6 = TlgOutIPV6
};

#define _tlgLxPlain(type)  ((type)&_TlgInTypeMask)
#define _tlgLxNumber(type) (_tlgLxPlain(type) >= TlgInINT8 && _tlgLxPlain(type) <= TlgInUINT64)
#define _tlgLxIn(type, format)                                                                               \
	(((type)&0x7F) + (!_tlgLxNumber(type)                                    ? 0                         \
			  : ((format)&0x200) && _tlgLxPlain(type) == TlgInUINT32 ? TlgInFLOAT - TlgInUINT32  \
			  : ((format)&0x200) && _tlgLxPlain(type) == TlgInUINT64 ? TlgInDOUBLE - TlgInUINT64 \
			  : ((format)&0x100)                                     ? -1                        \
										 : 0))
/* What ETW does not know of a type is left to its default; 8-bit text is UTF-8. */
#define _tlgLxOut(type, format)                                                                                    \
	(((format)&0x400) && (_tlgLxPlain(type) == TlgInANSISTRING || _tlgLxPlain(type) == TlgInCOUNTEDANSISTRING) \
		 ? TlgOutUTF8                                                                                      \
	 : ((format)&0x400) && _tlgLxPlain(type) != TlgInUINT16 ? 0                                                \
	 : ((format)&0x800) && _tlgLxPlain(type) != TlgInUINT32 ? 0                                                \
	 : ((format)&0x7F) == TlgOutHEX && !_tlgLxNumber(type)  ? 0                                                \
								: ((format)&0x7F))
#define _tlgLxDefault(type) ((type) == event_field_encoding_string_length16_char16 ? TlgOutSTRING : 0)
#define _tlgLxHow(type)     (((type)&0x1000) ? _tlgLxSz32 : _tlgLxRaw)

#undef TraceLoggingPackedField
#define TraceLoggingPackedField(p, cb, type, ...) \
	_tlgPair(_tlgLx, _tlgLxHow(type), (type)&0x7F, _tlgLxDefault(type), p, cb, _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingPackedFieldEx
#define TraceLoggingPackedFieldEx(p, cb, type, format, ...)                                       \
	_tlgPair(_tlgLx, _tlgLxHow(type), _tlgLxIn(type, format), _tlgLxOut(type, format), p, cb, \
		 _tlgNDT(#p, ##__VA_ARGS__))
#undef TraceLoggingPackedMetadata
#define TraceLoggingPackedMetadata(type, name, ...) \
	_tlgNoData((type)&0x7F, _tlgLxDefault(type), _tlgX0, 0, _tlgNDT(name, name, ##__VA_ARGS__))
#undef TraceLoggingPackedMetadataEx
#define TraceLoggingPackedMetadataEx(type, format, name, ...) \
	_tlgNoData(_tlgLxIn(type, format), _tlgLxOut(type, format), _tlgX0, 0, _tlgNDT(name, name, ##__VA_ARGS__))

#endif
