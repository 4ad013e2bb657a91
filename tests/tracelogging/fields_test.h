/* SPDX-License-Identifier: MIT
 *
 * Every field macro, byte for byte. Built as C and as C++ from fields_test.c and fields_test.cpp.
 */
#include "record.h"
#include "TraceLoggingProvider.h"
#include <ntdef.h> /* STRING and UNICODE_STRING */

TRACELOGGING_DEFINE_PROVIDER(P, "Tests.Fields", (0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16));

/* "e" with one field "v" of the type bytes `in`, `out` (none if 0), and 2 bytes of count if
 * `fixed`. */
static void one_field(const char *sentence, int line, unsigned in, unsigned out, int fixed, const void *data,
		      size_t data_bytes, int counted, ULONG slots)
{
	unsigned char meta[16] = {0, 'e', 0, 'v', 0}, payload[256];
	size_t m = 5, d = 0;

	meta[m++] = (unsigned char)(in | (out != 0 ? 0x80u : 0u));
	if (out != 0) {
		meta[m++] = (unsigned char)out;
	}
	if (fixed) {
		meta[m++] = 2;
		meta[m++] = 0;
	}
	if (counted >= 0) {
		payload[d++] = (unsigned char)counted;
		payload[d++] = 0;
	}
	memcpy(payload + d, data, data_bytes);
	event_is(sentence, line, meta, m, payload, d + data_bytes, slots);
}

#define SCALAR(name, ctype, value, in, out)                                                             \
	do {                                                                                            \
		ctype const v = (ctype)(value);                                                         \
		TraceLoggingWrite(P, "e", TraceLogging##name(v));                                       \
		one_field(#name " has its type and value", __LINE__, in, out, 0, &v, sizeof(v), -1, 1); \
	} while (0)
#define ARRAYS(name, ctype, v1, v2, in, out)                                                                           \
	do {                                                                                                           \
		ctype const v[2] = {v1, v2};                                                                           \
		TraceLoggingWrite(P, "e", TraceLogging##name##Array(v, 2));                                            \
		one_field(#name "Array has its count in the data", __LINE__, (in) | 0x40, out, 0, v, sizeof(v), 2, 2); \
		TraceLoggingWrite(P, "e", TraceLogging##name##FixedArray(v, 2));                                       \
		one_field(#name "FixedArray has its count in the metadata", __LINE__, (in) | 0x20, out, 1, v,          \
			  sizeof(v), -1, 1);                                                                           \
	} while (0)
#define BOTH(name, ctype, v1, v2, in, out)            \
	do {                                          \
		SCALAR(name, ctype, v1, in, out);     \
		ARRAYS(name, ctype, v1, v2, in, out); \
	} while (0)

static void numbers(void)
{
	BOTH(Int8, INT8, -2, 3, 3, 0);
	BOTH(UInt8, UINT8, 254, 3, 4, 0);
	BOTH(Int16, INT16, -2, 3, 5, 0);
	BOTH(UInt16, UINT16, 65000, 3, 6, 0);
	BOTH(Int32, INT32, -2, 3, 7, 0);
	BOTH(UInt32, UINT32, 4000000000u, 3, 8, 0);
	BOTH(Int64, INT64, -2, 3, 9, 0);
	BOTH(UInt64, UINT64, 0x123456789abcdefull, 3, 10, 0);
	BOTH(IntPtr, INT_PTR, -2, 3, 9, 0);
	BOTH(UIntPtr, UINT_PTR, 2, 3, 10, 0);
	BOTH(Long, LONG, -2, 3, 7, 0);
	BOTH(ULong, ULONG, 2, 3, 8, 0);
	BOTH(HexInt8, INT8, -2, 3, 4, 4);
	BOTH(HexUInt8, UINT8, 2, 3, 4, 4);
	BOTH(HexInt16, INT16, -2, 3, 6, 4);
	BOTH(HexUInt16, UINT16, 2, 3, 6, 4);
	BOTH(HexInt32, INT32, -2, 3, 20, 0);
	BOTH(HexUInt32, UINT32, 2, 3, 20, 0);
	BOTH(HexLong, LONG, -2, 3, 20, 0);
	BOTH(HexULong, ULONG, 2, 3, 20, 0);
	BOTH(HexInt64, INT64, -2, 3, 21, 0);
	BOTH(HexUInt64, UINT64, 2, 3, 21, 0);
	BOTH(HexIntPtr, INT_PTR, -2, 3, 21, 0);
	BOTH(HexUIntPtr, UINT_PTR, 2, 3, 21, 0);
	BOTH(Float32, FLOAT, 1.5f, 2.5f, 11, 0);
	BOTH(Float64, DOUBLE, 1.5, 2.5, 12, 0);
	BOTH(Boolean, BOOLEAN, 1, 0, 4, 3);
	BOTH(Bool, BOOL, 1, 0, 13, 0);
	BOTH(Char, char, 'a', 'b', 4, 2);
	BOTH(WChar, WCHAR, 'a', 'b', 6, 2);
#ifdef __cplusplus
	BOTH(Char16, char16_t, u'a', u'b', 6, 2);
	SCALAR(Boolean, bool, true, 4, 3);
#else
	BOTH(Char16, UINT16, 'a', 'b', 6, 2);
#endif
	SCALAR(Pid, UINT32, 1234, 8, 5);
	SCALAR(Tid, UINT32, 1234, 8, 6);
	SCALAR(Port, UINT16, 80, 6, 7);
	SCALAR(WinError, UINT32, 5, 8, 13);
	SCALAR(NTStatus, NTSTATUS, 0xC0000005u, 8, 14);
	SCALAR(HResult, HRESULT, 0x80004005u, 7, 15);
	SCALAR(IPv4Address, UINT32, 0x0100007f, 8, 8);
}

static void pointers_and_structures(void)
{
	int x = 0, y = 0;
	void *v[2];
	void *pv = &x;
	const volatile int *cv = &x;
	ULONG_PTR code = (ULONG_PTR)&pointers_and_structures;
	FILETIME v_time = {1, 2};
	SYSTEMTIME st = {2024, 1, 2, 3, 4, 5, 6, 7};
	GUID guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

	v[0] = &x;
	v[1] = &y;
	TraceLoggingWrite(P, "e", TraceLoggingPointer(&x, "v"));
	one_field("a pointer is hex of its size", __LINE__, 21, 0, 0, &pv, 8, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingPointer(cv, "v"));
	one_field("a pointer may point to volatile data", __LINE__, 21, 0, 0, &pv, 8, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingPointerArray(v, 2));
	one_field("pointers in an array", __LINE__, 21 | 0x40, 0, 0, v, 16, 2, 2);
	TraceLoggingWrite(P, "e", TraceLoggingPointerFixedArray(v, 2));
	one_field("pointers in a fixed array", __LINE__, 21 | 0x20, 0, 1, v, 16, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingCodePointer(&pointers_and_structures, "v"));
	one_field("a code pointer takes a function", __LINE__, 21, 37, 0, &code, 8, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingCodePointerArray(v, 2));
	one_field("code pointers in an array", __LINE__, 21 | 0x40, 37, 0, v, 16, 2, 2);

	TraceLoggingWrite(P, "e", TraceLoggingFileTime(v_time, "v"));
	one_field("FileTime", __LINE__, 17, 0, 0, &v_time, 8, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingFileTimeUtc(v_time, "v"));
	one_field("FileTimeUtc", __LINE__, 17, 38, 0, &v_time, 8, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingSystemTime(st, "v"));
	one_field("SystemTime", __LINE__, 18, 0, 0, &st, 16, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingSystemTimeUtc(st, "v"));
	one_field("SystemTimeUtc", __LINE__, 18, 38, 0, &st, 16, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingGuid(guid, "v"));
	one_field("Guid", __LINE__, 15, 0, 0, &guid, 16, -1, 1);
	TraceLoggingWrite(P, "e", TraceLoggingGuidArray(&guid, 1, "v"));
	one_field("GuidArray", __LINE__, 15 | 0x40, 0, 0, &guid, 16, 1, 2);
	TraceLoggingWrite(P, "e", TraceLoggingFileTimeArray(&v_time, 1, "v"));
	one_field("FileTimeArray", __LINE__, 17 | 0x40, 0, 0, &v_time, 8, 1, 2);
	TraceLoggingWrite(P, "e", TraceLoggingInt32Array((INT32 const *)NULL, 0, "v"));
	one_field("an empty array is its count alone", __LINE__, 7 | 0x40, 0, 0, "", 0, 0, 2);
}

static void strings(void)
{
	const WCHAR wide[] = {'a', 0xe9, 0};
	char abc[] = "abc", *none = NULL;
	WCHAR abw[] = {'a', 'b', 0};
	STRING ansi = {3, 4, abc};
	UNICODE_STRING uni = {4, 6, abw};
	struct {
		USHORT before;
		ULONG Length;
		const void *Buffer;
	} const buffer = {0, 2, "xy"};
	typedef __typeof__(buffer) buffer_t;
	/* S-1-5-32-544 */
	const unsigned char sid[16] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0};
	const unsigned char ip6[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

	TraceLoggingWrite(P, "e", TraceLoggingString(abc));
	EVENT_IS("a string ends with NUL", META("\0e\0abc\0\x02"), DATA("abc\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingString(none, "v"));
	EVENT_IS("a NULL string is empty", META("\0e\0v\0\x02"), DATA("\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingString("", "v"));
	EVENT_IS("an empty string is its NUL", META("\0e\0v\0\x02"), DATA("\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingUtf8String(abc, "v"));
	EVENT_IS("an UTF-8 string says so", META("\0e\0v\0\x82\x23"), DATA("abc\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingWideString(wide, "v"));
	EVENT_IS("a wide string is UTF-16", META("\0e\0v\0\x01"), DATA("a\0\xe9\0\0\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingWideString((WCHAR *)NULL, "v"));
	EVENT_IS("a NULL wide string is empty", META("\0e\0v\0\x01"), DATA("\0\0"), 1);
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
	TraceLoggingWrite(P, "e", TraceLoggingString16(u"ab", "v"));
	EVENT_IS("a char16_t string is the same type", META("\0e\0v\0\x01"), DATA("a\0b\0\0\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingCountedString16(u"ab", 1, "v"));
	EVENT_IS("a counted char16_t string", META("\0e\0v\0\x16"), DATA("\x02\0a\0"), 2);
#endif
	TraceLoggingWrite(P, "e", TraceLoggingCountedString("abc", 2, "v"));
	EVENT_IS("a counted string has no NUL", META("\0e\0v\0\x17"), DATA("\x02\0ab"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingCountedString(none, 0, "v"));
	EVENT_IS("an empty counted string may be NULL", META("\0e\0v\0\x17"), DATA("\0\0"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingCountedUtf8String("abc", 2, "v"));
	EVENT_IS("a counted UTF-8 string", META("\0e\0v\0\x97\x23"), DATA("\x02\0ab"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingCountedWideString(wide, 2, "v"));
	EVENT_IS("a counted wide string counts bytes", META("\0e\0v\0\x16"), DATA("\x04\0a\0\xe9\0"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingAnsiString(&ansi, "v"));
	EVENT_IS("a STRING", META("\0e\0v\0\x17"), DATA("\x03\0abc"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingUnicodeString(&uni, "v"));
	EVENT_IS("a UNICODE_STRING", META("\0e\0v\0\x16"), DATA("\x04\0a\0b\0"), 2);

	TraceLoggingWrite(P, "e", TraceLoggingBinary(abc, 2, "v"));
	EVENT_IS("binary is counted bytes", META("\0e\0v\0\x0e"), DATA("\x02\0ab"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingBinary(NULL, 0, "v"));
	EVENT_IS("no binary at all", META("\0e\0v\0\x0e"), DATA("\0\0"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingBinaryEx(abc, 2, TlgOutPKCS7_WITH_TYPE_INFO, "v"));
	EVENT_IS("binary with an out-type", META("\0e\0v\0\x8e\x24"), DATA("\x02\0ab"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingSocketAddress(abc, 2, "v"));
	EVENT_IS("a socket address", META("\0e\0v\0\x8e\x0a"), DATA("\x02\0ab"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingIPv6Address(ip6, "v"));
	EVENT_IS("an IPv6 address is 16 counted bytes", META("\0e\0v\0\x8e\x09"),
		 DATA("\x10\0\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingBinaryBuffer(&buffer, buffer_t, "v"));
	EVENT_IS("a structure with Length and Buffer", META("\0e\0v\0\x0e"), DATA("\x02\0xy"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingBinaryBufferEx(&buffer, buffer_t, TlgOutHEX, "v"));
	EVENT_IS("the same with an out-type", META("\0e\0v\0\x8e\x04"), DATA("\x02\0xy"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingSid((PSID)(ULONG_PTR)sid, "v"));
	EVENT_IS("a SID has 8 bytes and 4 a sub-authority", META("\0e\0v\0\x13"),
		 DATA("\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0"), 1);
}

static void tags(void)
{
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0));
	EVENT_IS("a tag of 0 is no tag", META("\0e\0v\0\x03"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0x0FE00000));
	EVENT_IS("a tag of the high 7 bits is 1 byte", META("\0e\0v\0\x83\x80\x7f"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0x00004000));
	EVENT_IS("a tag of the high 14 bits is 2 bytes", META("\0e\0v\0\x83\x80\x80\x01"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0x00200080));
	EVENT_IS("a tag of the high 21 bits is 3 bytes", META("\0e\0v\0\x83\x80\x81\x80\x01"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0x1));
	EVENT_IS("a tag with low bits is 4 bytes", META("\0e\0v\0\x83\x80\x80\x80\x80\x01"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt8(1, "v", "text", 0xFFFFFFFF));
	EVENT_IS("a tag has 28 bits", META("\0e\0v\0\x83\x80\xff\xff\xff\x7f"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingHexUInt8(1, "v", "text", 0x0FE00000));
	EVENT_IS("out-type and tag", META("\0e\0v\0\x84\x84\x7f"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingCharFixedArray("\x07", 1, "v", "text", 0x0FE00000));
	EVENT_IS("a fixed count follows the tag", META("\0e\0v\0\xa4\x82\x7f\x01\0"), DATA("\x07"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingEventTag(0x0FE00000));
	EVENT_IS("an event tag of 1 byte",
		 META("\x7f"
		      "e\0"),
		 DATA(""), 0);
	TraceLoggingWrite(P, "e", TraceLoggingEventTag(0x00200000), TraceLoggingEventTag(0x00004000));
	EVENT_IS("an event tag of 2 bytes, in two parts",
		 META("\x81\x01"
		      "e\0"),
		 DATA(""), 0);
	TraceLoggingWrite(P, "e", TraceLoggingEventTag(0x00000080));
	EVENT_IS("an event tag of 3 bytes",
		 META("\x80\x80\x01"
		      "e\0"),
		 DATA(""), 0);
	TraceLoggingWrite(P, "e", TraceLoggingEventTag(0x0ABCDEF1));
	EVENT_IS("an event tag of 4 bytes",
		 META("\xd5\xf3\xbd\x71"
		      "e\0"),
		 DATA(""), 0);
}

static void structures(void)
{
	const unsigned char packed[] = {2, 0, 1, 5, 0, 2, 6, 0};
	const unsigned char raw[] = {9, 8, 7};

	TraceLoggingWrite(P, "e", TraceLoggingStruct(2, "s"), TraceLoggingInt8(1, "a"), TraceLoggingInt8(2, "b"),
			  TraceLoggingInt8(3, "c"));
	EVENT_IS("a struct says how many members follow",
		 META("\0e\0s\0\x98\x02"
		      "a\0\x03"
		      "b\0\x03"
		      "c\0\x03"),
		 DATA("\x01\x02\x03"), 3);
	TraceLoggingWrite(P, "e", TraceLoggingStruct(2, "s"), TraceLoggingInt8(1, "a"), TraceLoggingStruct(1, "t"),
			  TraceLoggingInt8(2, "b"));
	EVENT_IS("a struct in a struct is one member",
		 META("\0e\0s\0\x98\x02"
		      "a\0\x03"
		      "t\0\x98\x01"
		      "b\0\x03"),
		 DATA("\x01\x02"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingStruct(127, "s", "text", 0x0FE00000));
	EVENT_IS("a struct with a tag", META("\0e\0s\0\x98\xff\x7f"), DATA(""), 0);
	TraceLoggingWrite(P, "e", TraceLoggingPackedStruct(1, "s"), TraceLoggingPackedMetadata(TlgInINT8, "a"),
			  TraceLoggingPackedData(raw, 1));
	EVENT_IS("packed metadata and data",
		 META("\0e\0s\0\x98\x01"
		      "a\0\x03"),
		 DATA("\x09"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingPackedStructArray(2, "s"), TraceLoggingPackedMetadata(TlgInUINT8, "a"),
			  TraceLoggingPackedMetadataEx(TlgInUINT16, TlgOutHEX, "b", "text", 0x0FE00000),
			  TraceLoggingPackedData(packed, sizeof(packed)));
	EVENT_IS("an array of structs",
		 META("\0e\0s\0\xd8\x02"
		      "a\0\x04"
		      "b\0\x86\x84\x7f"),
		 DATA("\x02\0\x01\x05\0\x02\x06\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingPackedField(raw, 2, TlgInUINT16),
			  TraceLoggingPackedFieldEx(raw, 1, TlgInUINT8, TlgOutHEX, "b"));
	EVENT_IS("packed fields",
		 META("\0e\0raw\0\x06"
		      "b\0\x84\x04"),
		 DATA("\x09\x08\x09"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingPackedDataEx(raw, 1, 3));
	CHECK("packed data may have a descriptor type", rec.count == 3 && rec.type[2] == 3);
	TraceLoggingWrite(P, "e", TraceLoggingCustom(raw, 3, 5, (0x10, 0x20), 2, "v"));
	EVENT_IS("a custom field carries its schema", META("\0e\0v\0\x65\x02\0\x10\x20"), DATA("\x03\0\x09\x08\x07"),
		 2);
	TraceLoggingWrite(P, "e", TraceLoggingCustom(raw, 3, 5, (0x10), 1, "v", "text", 0x0FE00000));
	EVENT_IS("a custom field with a tag", META("\0e\0v\0\xe5\x80\x7f\x01\0\x10"), DATA("\x03\0\x09\x08\x07"), 2);
}

static void values(void)
{
	void *pointer = &passed;
	SID sid = {1, 1, {{0, 0, 0, 0, 0, 5}}, {18}};
	GUID guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
	FILETIME ft = {1, 2};
	SYSTEMTIME st = {2024, 1, 2, 3, 4, 5, 6, 7};
	char text[4] = "abc";

#define VALUE(ctype, value, in, out)                                                            \
	do {                                                                                    \
		ctype const v = (value);                                                        \
		TraceLoggingWrite(P, "e", TraceLoggingValue(v));                                \
		one_field("the type of a " #ctype, __LINE__, in, out, 0, &v, sizeof(v), -1, 1); \
	} while (0)
	VALUE(signed char, -1, 3, 0);
	VALUE(unsigned char, 1, 4, 0);
	VALUE(short, -1, 5, 0);
	VALUE(unsigned short, 1, 6, 0);
	VALUE(int, -1, 7, 0);
	VALUE(unsigned, 1, 8, 0);
	VALUE(long, -1, 9, 0);
	VALUE(unsigned long, 1, 10, 0);
	VALUE(long long, -1, 9, 0);
	VALUE(unsigned long long, 1, 10, 0);
	VALUE(float, 1.5f, 11, 0);
	VALUE(double, 1.5, 12, 0);
	VALUE(char, 'a', 4, 2);
	VALUE(HANDLE, pointer, 21, 0);
	VALUE(GUID, guid, 15, 0);
	VALUE(FILETIME, ft, 17, 0);
	VALUE(SYSTEMTIME, st, 18, 0);
#ifdef __cplusplus
	VALUE(bool, true, 4, 3);
	VALUE(char16_t, u'a', 6, 2);
#if __SIZEOF_WCHAR_T__ == 2
	VALUE(wchar_t, L'a', 6, 2);
	TraceLoggingWrite(P, "e", TraceLoggingValue(L"ab", "v"));
	EVENT_IS("the type of a wide literal", META("\0e\0v\0\x01"), DATA("a\0b\0\0\0"), 1);
#endif
	enum small : UINT8 { SMALL = 7 };
	enum class scoped : INT16 { A = 5 };
	TraceLoggingWrite(P, "e", TraceLoggingValue(SMALL, "v"), TraceLoggingValue(scoped::A, "w"));
	EVENT_IS("an enumeration has the type below it",
		 META("\0e\0v\0\x04"
		      "w\0\x05"),
		 DATA("\x07\x05\0"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingValue(nullptr, "v"));
	EVENT_IS("nullptr is a pointer", META("\0e\0v\0\x15"), DATA("\0\0\0\0\0\0\0\0"), 1);
#else
	VALUE(_Bool, 1, 4, 3);
#endif
	TraceLoggingWrite(P, "e", TraceLoggingValue("ab", "v"));
	EVENT_IS("the type of a literal", META("\0e\0v\0\x02"), DATA("ab\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingValue(text));
	EVENT_IS("the type of an array of char", META("\0e\0text\0\x02"), DATA("abc\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingValue((const char *)NULL, "v", "text", 0x0FE00000));
	EVENT_IS("a NULL text, tagged", META("\0e\0v\0\x82\x80\x7f"), DATA("\0"), 1);
#ifdef W
	TraceLoggingWrite(P, "e", TraceLoggingValue(W("ab"), "v"));
	EVENT_IS("the type of a WCHAR literal", META("\0e\0v\0\x01"), DATA("a\0b\0\0\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingWideString(W("ab"), "v"));
	EVENT_IS("a WCHAR literal", META("\0e\0v\0\x01"), DATA("a\0b\0\0\0"), 1);
#endif
	TraceLoggingWrite(P, "e", TraceLoggingValue(&sid, "v"));
	EVENT_IS("the type of a SID pointer", META("\0e\0v\0\x13"), DATA("\x01\x01\0\0\0\0\0\x05\x12\0\0\0"), 1);
}

static void names(void)
{
	int x[5] = {0, 0, 0, 0, 40}, y = 2;

	TraceLoggingWrite(P, "e", TraceLoggingInt8((INT8)(x[4] + y)));
	EVENT_IS("a field without a name is named after its value", META("\0e\0(INT8)(x[4] + y)\0\x03"), DATA("\x2a"),
		 1);
#define VALUE_MACRO 3
	TraceLoggingWrite(P, "e", TraceLoggingInt8(VALUE_MACRO));
	EVENT_IS("a macro in the value is not expanded in the name", META("\0e\0VALUE_MACRO\0\x03"), DATA("\x03"), 1);
	TraceLoggingWrite(P,
			  "long"
			  "er",
			  TraceLoggingInt8(1, "a"
					      "b"));
	EVENT_IS("names may be joined literals", META("\0longer\0ab\0\x03"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "é", TraceLoggingDescription("text"), TraceLoggingCustomAttribute("k", "v"));
	EVENT_IS("names are UTF-8; descriptions leave no trace", META("\0\xc3\xa9\0"), DATA(""), 0);
#define TWO(value, name)                                                     \
	TraceLoggingPackedData(value, 2), TraceLoggingPackedStruct(2, name), \
		TraceLoggingPackedMetadata(TlgInINT8, "X"), TraceLoggingPackedMetadata(TlgInINT8, "Y")
	TraceLoggingWrite(P, "e", TWO("\x01\x02", "two"), TraceLoggingInt8(3, "c"));
	EVENT_IS("a macro may stand for several arguments",
		 META("\0e\0two\0\x98\x02X\0\x03Y\0\x03"
		      "c\0\x03"),
		 DATA("\x01\x02\x03"), 2);
}

#define TEN(f)    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9)
#define ONE8(i)   TraceLoggingUInt8(i, "n")
#define BYTES1(i) TraceLoggingCountedString("z", 1, "n")

static void limits(void)
{
	TraceLoggingWrite(P, "e", TEN(ONE8), TEN(ONE8), TEN(ONE8), TEN(ONE8), TEN(ONE8), TEN(ONE8), TEN(ONE8),
			  TEN(ONE8), TEN(ONE8), ONE8(0), ONE8(1), ONE8(2), ONE8(3), ONE8(4), ONE8(5), ONE8(6), ONE8(7),
			  ONE8(8));
	CHECK("99 arguments", rec.count == 2 + 99 && rec.payload_bytes == 99 && rec.meta_bytes == 5 + 99 * 3 &&
				      rec.payload[98] == 8 && rec.payload[89] == 9);
	TraceLoggingWrite(P, "e", TEN(BYTES1), TEN(BYTES1), TEN(BYTES1), TEN(BYTES1), TEN(BYTES1), TEN(BYTES1),
			  BYTES1(0), BYTES1(1), BYTES1(2));
	CHECK("128 data descriptors", rec.count == 128 && rec.payload_bytes == 63 * 3);
}

int main(void)
{
	TraceLoggingRegister(P);
	rec_enable(1, 0, ~0ull, 0);
	numbers();
	pointers_and_structures();
	strings();
	tags();
	structures();
	values();
	names();
	limits();
	return finish("fields");
}
