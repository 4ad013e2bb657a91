/* SPDX-License-Identifier: MIT
 *
 * The Tdh* functions as a program calls them: blocks byte by byte, codes, sizes, texts.
 */
#include "schema/schema_testing.h"

static const char *text_of(const void *block, uint32_t offset)
{
	static char text[4][256];
	static int turn;
	char *s = text[turn++ % 4];
	if (offset == 0) {
		return "(none)";
	}
	const uint8_t *p = (const uint8_t *)block + offset;
	size_t i = 0;
	for (; le16_get(p + 2 * i) && i < 255; i++) {
		s[i] = (char)le16_get(p + 2 * i);
	}
	s[i] = 0;
	return s;
}

static TRACE_EVENT_INFO *info_of(EVENT_RECORD *r, ULONG *ret_size)
{
	ULONG size = 0;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	TRACE_EVENT_INFO *info = malloc(size);
	ULONG given = size;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &given), ERROR_SUCCESS);
	assert_int_equal(given, size);
	*ret_size = size;
	return info;
}

static void check_property(const TRACE_EVENT_INFO *info, unsigned i, const char *name, unsigned flags, unsigned a,
			   unsigned b, unsigned count, unsigned length, unsigned tags)
{
	const uint8_t *q = (const uint8_t *)info + 112 + 24 * i; /* documented offsets, not our struct */
	assert_string_equal(text_of(info, le32_get(q + 4)), name);
	assert_int_equal(le32_get(q), flags);
	assert_int_equal(le16_get(q + 8), a);
	assert_int_equal(le16_get(q + 10), b);
	assert_int_equal(le16_get(q + 16), count);
	assert_int_equal(le16_get(q + 18), length);
	assert_int_equal(le32_get(q + 20), tags);
}

/* Nested structs, an array with a count in the payload, a fixed one, binary, custom, tags. */
static void make_shapes(struct blob *m, struct blob *p)
{
	m->n = p->n = 0;
	blob_u16(m, 0);
	blob_hex(m, "858105"); /* event tag: 5<<14 | 1<<7 | 5 */
	blob_asz(m, "Shapes");
	meta_field(m, "id", 8), blob_u32(p, 42);
	meta_field(m, "list", 6 | 0x40), blob_u16(p, 3), blob_hex(p, "010002000300");
	meta_field_out(m, "outer", 24, 3);
	meta_field(m, "name", 1), blob_wsz(p, "n");
	meta_field_out(m, "points", 24 | 0x40, 2), blob_u16(p, 2);
	meta_field(m, "x", 3), meta_field(m, "y", 3);
	blob_hex(p, "0102ff04");
	meta_field(m, "tail", 4), blob_u8(p, 200);
	meta_field(m, "fix", 4 | 0x20), blob_u16(m, 2), blob_hex(p, "0a0b");
	meta_field(m, "blob", 14), blob_u16(p, 2), blob_hex(p, "beef");
	meta_field(m, "cust", 0x60 | 9), blob_u16(m, 3), blob_hex(m, "aabbcc");
	blob_u16(p, 1), blob_hex(p, "77");
	meta_field_out(m, "tagged", 13 | 0x80, 0x80 | 3), blob_u8(m, 0x11), blob_u32(p, 1);
	meta_done(m);
}

static void event_information_lists_top_level_fields_before_members(void **state)
{
	struct blob m, p;
	struct record t;
	ULONG size;
	make_shapes(&m, &p);
	EVENT_RECORD *r = record_make(&t, &m, &p);
	TRACE_EVENT_INFO *info = info_of(r, &size);
	assert_memory_equal(info, test_provider, 16);
	assert_memory_equal((char *)info + 16, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal((char *)info + 32, &r->EventHeader.EventDescriptor, 16);
	assert_int_equal(info->DecodingSource, DecodingSourceTlg);
	assert_string_equal(text_of(info, info->ProviderNameOffset), "Test.Provider");
	assert_string_equal(text_of(info, info->TaskNameOffset), "Shapes");
	assert_string_equal(text_of(info, info->EventNameOffset), "Shapes");
	assert_int_equal(info->Tags, 5 << 14 | 1 << 7 | 5);
	assert_int_equal(info->EventMessageOffset, 0);
	assert_int_equal(info->TopLevelPropertyCount, 10);
	assert_int_equal(info->PropertyCount, 16);
	check_property(info, 0, "id", 0, 8, 8, 1, 0, 0);
	check_property(info, 1, "list.Count", 0, 6, 6, 1, 0, 0);
	check_property(info, 2, "list", PropertyParamCount, 6, 6, 1, 0, 0);
	check_property(info, 3, "outer", PropertyStruct, 10, 4, 1, 0, 0);
	check_property(info, 4, "fix", PropertyParamFixedCount, 4, 4, 2, 0, 0);
	check_property(info, 5, "blob.Length", 0, 6, 6, 1, 0, 0);
	check_property(info, 6, "blob", PropertyParamLength, 14, 15, 1, 5, 0);
	check_property(info, 7, "cust.Length", 0, 6, 6, 1, 0, 0);
	check_property(info, 8, "cust", PropertyParamLength | PropertyHasCustomSchema, 14, 15, 1, 7, 0);
	check_property(info, 9, "tagged", PropertyHasTags, 13, 13, 1, 0, 0x11);
	check_property(info, 10, "name", 0, 1, 1, 1, 0, 0);
	check_property(info, 11, "points.Count", 0, 6, 6, 1, 0, 0);
	check_property(info, 12, "points", PropertyStruct | PropertyParamCount, 14, 2, 11, 0, 0);
	check_property(info, 13, "tail", 0, 4, 4, 1, 0, 0);
	check_property(info, 14, "x", 0, 3, 3, 1, 0, 0);
	check_property(info, 15, "y", 0, 3, 3, 1, 0, 0);
	const uint8_t *custom = (uint8_t *)info + info->EventPropertyInfoArray[8].customSchemaType.CustomSchemaOffset;
	assert_memory_equal(custom, "\x09\0\x03\0\xaa\xbb\xcc", 7);
	free(info);
}

static void buffer_size_protocol_is_windows_own(void **state)
{
	struct blob m, p;
	struct record t;
	make_shapes(&m, &p);
	EVENT_RECORD *r = record_make(&t, &m, &p);
	uint8_t small[16];
	ULONG size = 16;
	assert_int_equal(TdhGetEventInformation(NULL, 0, NULL, NULL, &size), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, &size), ERROR_INVALID_PARAMETER);
	assert_int_equal(size, 16);
	assert_int_equal(TdhGetEventInformation(r, 1, NULL, (void *)small, &size), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, (void *)small, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_true(size > 112);
	r->ExtendedDataCount = 0;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, &(ULONG){0}), ERROR_NOT_FOUND);
	assert_int_equal(TdhEnumerateProviders(NULL, NULL), ERROR_INVALID_PARAMETER);
	size = 5;
	assert_int_equal(TdhEnumerateProviders(NULL, &size), ERROR_INVALID_PARAMETER);
	assert_int_equal(size, 5);
	size = 0;
	assert_int_equal(TdhEnumerateProviders(NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_true(size >= 8);
	ULONG need = size;
	PROVIDER_ENUMERATION_INFO *list = malloc(need);
	size = 1;
	assert_int_equal(TdhEnumerateProviders(list, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, need);
	assert_int_equal(TdhEnumerateProviders(list, &size), ERROR_SUCCESS);
	assert_true(size >= 8 + 24 * list->NumberOfProviders);
	free(list);
}

static PROPERTY_DATA_DESCRIPTOR part(const WCHAR *name, ULONG index)
{
	return (PROPERTY_DATA_DESCRIPTOR){(uintptr_t)name, index, 0};
}
typedef PROPERTY_DATA_DESCRIPTOR PDD;

static void expect_property(EVENT_RECORD *r, const PDD *path, ULONG n, const char *hex)
{
	struct blob want = {.n = 0};
	uint8_t got[256];
	ULONG size = 0xFFFF;
	blob_hex(&want, hex);
	assert_int_equal(TdhGetPropertySize(r, 0, NULL, n, (PDD *)path, &size), ERROR_SUCCESS);
	assert_int_equal(size, want.n);
	assert_int_equal(TdhGetProperty(r, 0, NULL, n, (PDD *)path, size, got), ERROR_SUCCESS);
	assert_memory_equal(got, want.b, want.n);
	if (size > 0) {
		assert_int_equal(TdhGetProperty(r, 0, NULL, n, (PDD *)path, size - 1, got), ERROR_INSUFFICIENT_BUFFER);
	}
}

static void properties_are_found_by_name_index_and_member(void **state)
{
	struct blob m, p;
	struct record t;
	const ULONG all = 0xFFFFFFFF;
	make_shapes(&m, &p);
	EVENT_RECORD *r = record_make(&t, &m, &p);
	expect_property(r, (PDD[]){part(u"id", all)}, 1, "2a000000");
	expect_property(r, (PDD[]){part(u"id", 0)}, 1, "2a000000");
	expect_property(r, (PDD[]){part(u"list", all)}, 1, "010002000300");
	expect_property(r, (PDD[]){part(u"list.Count", all)}, 1, "0300");
	expect_property(r, (PDD[]){part(u"list", 2)}, 1, "0300");
	expect_property(r, (PDD[]){part(u"outer", all)}, 1, "6e00000002000102ff04c8");
	expect_property(r, (PDD[]){part(u"outer", 0), part(u"name", all)}, 2, "6e000000");
	expect_property(r, (PDD[]){part(u"outer", 0), part(u"tail", all)}, 2, "c8");
	expect_property(r, (PDD[]){part(u"outer", 0), part(u"points", 1), part(u"x", all)}, 3, "ff");
	expect_property(r, (PDD[]){part(u"blob", all)}, 1, "beef");
	expect_property(r, (PDD[]){part(u"cust", all)}, 1, "77");
	expect_property(r, (PDD[]){part(u"tagged", all)}, 1, "01000000");
	ULONG size;
	PDD unknown = part(u"ID", all), beyond = part(u"list", 3);
	assert_int_equal(TdhGetPropertySize(r, 0, NULL, 1, &unknown, &size), ERROR_NOT_FOUND);
	assert_int_equal(TdhGetPropertySize(r, 0, NULL, 1, &beyond, &size), ERROR_NOT_FOUND);
	PDD id = part(u"tagged", all);
	r->UserDataLength = 6; /* the payload ends long before */
	assert_int_equal(TdhGetPropertySize(r, 0, NULL, 1, &id, &size), ERROR_EVT_INVALID_EVENT_DATA);
	assert_int_equal(TdhGetPropertySize(r, 0, NULL, 0, &id, &size), ERROR_INVALID_PARAMETER);
}

static void format_property_writes_every_type(void **state)
{
	static const struct {
		USHORT in, out, length;
		const char *hex, *text;
		int consumed;
	} rows[] = {
		{1, 1, 0, "680069000000ff", "hi", 6},
		{1, 0, 2, "6800690021", "hi", 4},
		{1, 0, 0, "68006900", "hi", 4}, /* no NUL at the end of the payload */
		{2, 1, 0, "616200", "ab", 3},
		{2, 35, 3, "e282ac", "\xE2\x82\xAC", 3},
		{3, 3, 0, "ff", "-1", 1},
		{3, 1, 0, "41", "A", 1},
		{4, 0, 0, "ff", "255", 1},
		{4, 16, 0, "0a", "0xA", 1},
		{4, 13, 0, "01", "true", 1},
		{5, 0, 0, "0080", "-32768", 2},
		{6, 0, 0, "ffff", "65535", 2},
		{6, 22, 0, "01bb", "443", 2},
		{6, 17, 0, "ab00", "0xAB", 2},
		{6, 1, 0, "4100", "A", 2},
		{7, 0, 0, "ffffffff", "-1", 4},
		{7, 32, 0, "05000780", "Access is denied.", 4},
		{7, 32, 0, "01000000", "Unknown HResult Error code: 0x1", 4},
		{8, 0, 0, "ffffffff", "4294967295", 4},
		{8, 20, 0, "ffffffff", "-1", 4},
		{8, 21, 0, "0a000000", "10", 4},
		{8, 23, 0, "7f000001", "127.0.0.1", 4},
		{8, 27, 0, "0a000000", "10", 4},
		{8, 29, 0, "0a000000", "0xA", 4},
		{8, 30, 0, "02000000", "The system cannot find the file specified.", 4},
		{8, 30, 0, "ffffff7f", "Unknown Win32 Error code: 0x7FFFFFFF", 4},
		{8, 31, 0, "efbeadde", "Unknown NTSTATUS Error code: 0xDEADBEEF", 4},
		{8, 18, 0, "efbeadde", "0xDEADBEEF", 4},
		{8, 37, 0, "00104000", "0x401000", 4},
		{9, 0, 0, "ffffffffffffffff", "-1", 8},
		{10, 0, 0, "ffffffffffffffff", "18446744073709551615", 8},
		{10, 19, 0, "00000000ffffffff", "0xFFFFFFFF00000000", 8},
		{11, 0, 0, "0000c03f", "1.5", 4},
		{11, 0, 0, "cdcccc3d", "0.1", 4},
		{12, 0, 0, "9a9999999999b93f", "0.1", 8},
		{12, 0, 0, "0000000000000840", "3", 8},
		{13, 0, 0, "00000000", "false", 4},
		{13, 13, 0, "01000000", "true", 4},
		{14, 15, 3, "01ab00ff", "0x01AB00", 3},
		{14, 24, 0, "20010db8000000000000000000000001", "2001:db8::1", 16},
		{14, 25, 16, "020001bb0a0000010000000000000000", "10.0.0.1:443", 16},
		{14, 25, 28, "170001bb0000000020010db800000000000000000000000100000000", "[2001:db8::1]:443", 28},
		{14, 25, 4, "0700abcd", "0x0700ABCD", 4},
		{15, 14, 0, "c414d60af40e25428013f44f37cb0397", "{0AD614C4-0EF4-4225-8013-F44F37CB0397}", 16},
		{16, 0, 0, "0010400000000000", "0x401000", 8},
		{17, 2, 0, "7010fa4d8ba5d701", "2021-09-09T14:59:35.7990000Z", 8},
		{17, 38, 0, "0000000000000000", "1601-01-01T00:00:00.0000000Z", 8},
		{18, 0, 0, "e5070900040009000e003b0023001f03", "2021-09-09T14:59:35.7990000Z", 16},
		{19, 1, 0, "01020000000000052000000020020000", "S-1-5-32-544", 16},
		{20, 18, 0, "ab000000", "0xAB", 4},
		{20, 31, 0, "220000c0", "STATUS_ACCESS_DENIED", 4},
		{21, 0, 0, "ab00000000000000", "0xAB", 8},
		{22, 1, 0, "040068006900", "hi", 6},
		{22, 1, 0, "0000", "", 2},
		{23, 1, 0, "02006869", "hi", 4},
		{25, 15, 0, "0200beef", "0xBEEF", 4},
		{300, 0, 0, "02004100", "A", 4},
		{301, 0, 0, "010041", "A", 3},
		{302, 0, 0, "00024100", "A", 4},
		{303, 0, 0, "000141", "A", 3},
		{304, 0, 0, "41004200", "AB", 4},
		{305, 0, 0, "4142", "AB", 2},
		{306, 0, 0, "4100", "A", 2},
		{307, 0, 0, "41", "A", 1},
		{308, 0, 0, "ff00000000000000", "0xFF", 8},
		{309, 0, 0, "02000000beef", "0xBEEF", 6},
		{310, 0, 0, "0100000000000000000000000000000001010000000000051200000099", "S-1-5-18", 28},
		{310, 0, 0, "00000000ff", "", 4},
		/* The other pairs that winmeta lists. */
		{1, 28, 0, "3c0061002f003e000000", "<a/>", 10},
		{1, 34, 0, "7b007d000000", "{}", 6},
		{2, 28, 0, "3c612f3e00", "<a/>", 5},
		{2, 34, 0, "7b7d00", "{}", 3},
		{4, 1, 0, "5a", "Z", 1},
		{7, 32, 0, "00000000", "The operation completed successfully.", 4},
		{8, 31, 0, "00000000", "STATUS_SUCCESS", 4},
		{10, 27, 0, "0a00000000000000", "10", 8},
		{10, 37, 0, "0010400000000000", "0x401000", 8},
		{14, 36, 2, "beef", "0xBEEF", 2},
		{16, 9, 0, "feffffffffffffff", "-2", 8},
		{16, 10, 0, "feffffffffffffff", "18446744073709551614", 8},
		{16, 37, 0, "0010400000000000", "0x401000", 8},
		{17, 33, 0, "7010fa4d8ba5d701", "2021-09-09T14:59:35.7990000Z", 8},
		{18, 33, 0, "e5070900040009000e003b0023001f03", "2021-09-09T14:59:35.7990000Z", 16},
		{18, 38, 0, "e5070900040009000e003b0023001f03", "2021-09-09T14:59:35.7990000Z", 16},
		{20, 29, 0, "0a000000", "0xA", 4},
		{20, 30, 0, "05000000", "Access is denied.", 4},
		{20, 37, 0, "00104000", "0x401000", 4},
		{21, 37, 0, "0010400000000000", "0x401000", 8},
		{22, 28, 0, "08003c0061002f003e00", "<a/>", 10},
		{22, 34, 0, "04007b007d00", "{}", 6},
		{23, 28, 0, "04003c612f3e", "<a/>", 6},
		{23, 34, 0, "02007b7d", "{}", 4},
		{23, 35, 0, "0300e282ac", "\xE2\x82\xAC", 5},
		{25, 24, 0, "100020010db8000000000000000000000001", "2001:db8::1", 18},
		{25, 25, 0, "1000020001bb0a0000010000000000000000", "10.0.0.1:443", 18},
		{25, 36, 0, "0200beef", "0xBEEF", 4},
		/* A pair that makes no sense is shown as the type alone. */
		{11, 23, 0, "0000c03f", "1.5", 4},
		{6, 23, 0, "ffff", "65535", 2},
		{8, 22, 0, "ffffffff", "4294967295", 4},
		{15, 25, 0, "c414d60af40e25428013f44f37cb0397", "{0AD614C4-0EF4-4225-8013-F44F37CB0397}", 16},
		{1, 20, 0, "41000000", "A", 4},
		{9, 23, 0, "0500000000000000", "5", 8},
		{8, 200, 0, "05000000", "5", 4},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct blob data = {.n = 0};
		char got[256];
		WCHAR wide[128];
		ULONG size = 0;
		USHORT used = 0;
		blob_hex(&data, rows[i].hex);
		assert_int_equal(TdhFormatProperty(NULL, NULL, 8, rows[i].in, rows[i].out, rows[i].length,
						   (USHORT)data.n, data.b, &size, NULL, &used),
				 ERROR_INSUFFICIENT_BUFFER);
		ULONG need = size;
		assert_int_equal(TdhFormatProperty(NULL, NULL, 8, rows[i].in, rows[i].out, rows[i].length,
						   (USHORT)data.n, data.b, &size, wide, &used),
				 ERROR_SUCCESS);
		assert_int_equal(size, need);
		utf16_to_utf8(wide, size / 2 - 1, got, sizeof got);
		assert_string_equal(got, rows[i].text);
		assert_int_equal(used, rows[i].consumed);
	}
}

static void format_property_follows_the_pointer_size(void **state)
{
	static const struct {
		USHORT in, out;
		const char *hex, *text;
		int consumed;
	} rows[] = {
		{16, 0, "00104000ffffffff", "0x401000", 4},
		{16, 9, "feffffff00000000", "-2", 4},
		{308, 0, "feffffff00000000", "0xFFFFFFFE", 4},
		{310, 0, "0100000000000000010100000000000512000000", "S-1-5-18", 20},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct blob data = {.n = 0};
		char got[64];
		WCHAR wide[64];
		ULONG size = sizeof wide;
		USHORT used = 0;
		blob_hex(&data, rows[i].hex);
		assert_int_equal(TdhFormatProperty(NULL, NULL, 4, rows[i].in, rows[i].out, 0, (USHORT)data.n, data.b,
						   &size, wide, &used),
				 ERROR_SUCCESS);
		utf16_to_utf8(wide, size / 2 - 1, got, sizeof got);
		assert_string_equal(got, rows[i].text);
		assert_int_equal(used, rows[i].consumed);
	}
}

static void format_property_refuses_what_does_not_fit(void **state)
{
	WCHAR wide[64];
	ULONG size = sizeof wide;
	USHORT used = 7;
	BYTE three[4] = {1, 2, 3, 0};
	assert_int_equal(TdhFormatProperty(NULL, NULL, 8, 8, 0, 0, 3, three, &size, wide, &used),
			 ERROR_EVT_INVALID_EVENT_DATA);
	assert_int_equal(TdhFormatProperty(NULL, NULL, 8, 1, 0, 9, 3, three, &size, wide, &used),
			 ERROR_EVT_INVALID_EVENT_DATA);
	assert_int_equal(TdhFormatProperty(NULL, NULL, 8, 0, 0, 0, 3, three, &size, wide, &used),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhFormatProperty(NULL, NULL, 5, 4, 0, 0, 3, three, &size, wide, &used),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(used, 7);
}

/* ---- embedded event information and maps
 * ------------------------------------------------------------ */

static void make_map(struct blob *k, uint32_t flag)
{
	k->n = 0;
	blob_u32(k, 40), blob_u32(k, flag), blob_u32(k, 3), blob_u32(k, 0);
	blob_u32(k, 46), blob_u32(k, 1);
	blob_u32(k, 54), blob_u32(k, 2);
	blob_u32(k, 62), blob_u32(k, 4);
	blob_wsz(k, "Mp"), blob_wsz(k, "One"), blob_wsz(k, "Two"), blob_wsz(k, "Fo ");
}

static void learnt_events_and_maps_decode_later_events(void **state)
{
	struct blob m, p, tei = {.n = 0}, map, none = {.n = 0};
	struct record t;
	make_shapes(&m, &p);
	/* A manifest event made of the self-describing one's block: other source, id 7 version 2.
	 */
	ULONG size;
	TRACE_EVENT_INFO *info = info_of(record_make(&t, &m, &p), &size);
	info->DecodingSource = DecodingSourceXMLFile;
	info->EventDescriptor.Id = 7;
	info->EventDescriptor.Version = 2;
	blob_add(&tei, info, size);
	/* "id" gets the map "Mp" */
	uint32_t name_at = (uint32_t)tei.n;
	blob_wsz(&tei, "Mp");
	le32_put(tei.b + 112 + 12, name_at);
	free(info);
	static const uint8_t class_guid[16] = {0xC1, 0xF6, 0xCC, 0xBB, 0xD1, 0x6C, 0xC4, 0x48,
					       0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71};
	EVENT_RECORD *r = record_make(&t, NULL, &tei);
	memcpy(&r->EventHeader.ProviderId, class_guid, 16);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	r->EventHeader.EventDescriptor.Opcode = 32;
	assert_int_equal(openetw_schema_learn(r), 1);
	assert_int_equal(openetw_schema_learn(r), 0);
	blob_add(&none, test_provider, 16);
	make_map(&map, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	blob_add(&none, map.b, map.n);
	r->EventHeader.EventDescriptor.Opcode = 33;
	r->UserData = none.b;
	r->UserDataLength = (USHORT)none.n;
	assert_int_equal(openetw_schema_learn(r), 1);

	r = record_make(&t, NULL, &p);
	r->EventHeader.EventDescriptor.Id = 7;
	r->EventHeader.EventDescriptor.Version = 2;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"id\":\"Two|0x28\",\"list.Count\":3,\"list\":[1,2,3],"
				    "\"outer\":{\"name\":\"n\",\"points.Count\":2,\"points\":[{\"x\":1,\"y\":2},"
				    "{\"x\":-1,\"y\":4}],\"tail\":200},\"fix\":[10,11],\"blob.Length\":2,"
				    "\"blob\":\"beef\",\"cust.Length\":1,\"cust\":\"77\",\"tagged\":true}");
	assert_string_equal(openetw_provider_name(d, r), "Test.Provider");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);

	TRACE_EVENT_INFO *back = info_of(r, &size);
	assert_int_equal(size, tei.n);
	assert_memory_equal(back, tei.b, size);
	free(back);
	ULONG map_size = 0;
	uint8_t block[256];
	assert_int_equal(TdhGetEventMapInformation(r, (LPWSTR)(uintptr_t)u"Mp", NULL, &map_size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(map_size, map.n);
	assert_int_equal(TdhGetEventMapInformation(r, (LPWSTR)(uintptr_t)u"Mp", (void *)block, &map_size),
			 ERROR_SUCCESS);
	assert_memory_equal(block, map.b, map.n);
	assert_int_equal(TdhGetEventMapInformation(r, (LPWSTR)(uintptr_t)u"No", NULL, &map_size),
			 ERROR_INVALID_PARAMETER); /* size is not 0 any more */
	map_size = 0;
	assert_int_equal(TdhGetEventMapInformation(r, (LPWSTR)(uintptr_t)u"No", NULL, &map_size), ERROR_NOT_FOUND);
	WCHAR wide[32];
	USHORT used;
	BYTE five[4] = {5, 0, 0, 0}, eight[4] = {8, 0, 0, 0};
	ULONG wide_size = sizeof wide;
	assert_int_equal(TdhFormatProperty(NULL, (void *)block, 8, 8, 0, 0, 4, five, &wide_size, wide, &used),
			 ERROR_SUCCESS);
	assert_string_equal(text_of(wide - 1, 2), "One|Fo");
	assert_int_equal(TdhFormatProperty(NULL, (void *)block, 8, 8, 0, 0, 4, eight, &wide_size, wide, &used),
			 ERROR_EVT_INVALID_EVENT_DATA);
	ULONG list_size = 0;
	GUID g;
	memcpy(&g, test_provider, 16);
	assert_int_equal(TdhEnumerateManifestProviderEvents(&g, NULL, &list_size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(list_size, 24);
}

static void classic_header_event_is_described(void **state)
{
	struct blob p = {.n = 0};
	struct record t;
	blob_hex(&p, "00200000"
		     "0a000105"
		     "634a0000"
		     "08000000"
		     "00007c01f0a5d701"
		     "5a620200"
		     "00000000"
		     "00000000"
		     "02000000"
		     "01000000"
		     "08000000"
		     "00000000"
		     "00090000");
	blob_u64(&p, 0), blob_u64(&p, 0);
	p.n += 176; /* time zone, zero */
	blob_u64(&p, 116444736000000000), blob_u64(&p, 10000000), blob_u64(&p, 116444736000000000);
	blob_u32(&p, 1), blob_u32(&p, 0);
	blob_wsz(&p, "session"), blob_wsz(&p, "C:\\f.etl");
	static const uint8_t event_trace[16] = {0x00, 0xd9, 0xfd, 0x68, 0x3e, 0x4a, 0xd1, 0x11,
						0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3};
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	memcpy(&r->EventHeader.ProviderId, event_trace, 16);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	r->EventHeader.EventDescriptor.Version = 2;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_non_null(strstr(o.data, "{\"BufferSize\":8192,\"Version\":\"0x501000a\","
				       "\"ProviderVersion\":19043,\"NumberOfProcessors\":8,"));
	assert_non_null(strstr(o.data, "\"PerfFreq\":10000000,\"StartTime\":\"1970-01-01T00:00:00.0000000Z\""));
	assert_non_null(strstr(o.data, "\"SessionNameString\":\"session\","
				       "\"LogFileNameString\":\"C:\\\\f.etl\"}"));
	assert_string_equal(openetw_event_name(d, r), "EventTrace/Header");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
	ULONG size;
	TRACE_EVENT_INFO *info = info_of(r, &size);
	assert_int_equal(info->DecodingSource, DecodingSourceWbem);
	assert_int_equal(info->PropertyCount, 23);
	assert_string_equal(text_of(info, info->TaskNameOffset), "EventTrace");
	assert_int_equal(info->ProviderGuid.Data1, 0x9e814aad); /* the kernel's; the class is beside it */
	assert_int_equal(info->EventGuid.Data1, 0x68fdd900);
	free(info);
}

static void every_builtin_class_has_complete_fields(void **state)
{
	static const uint8_t event_trace[16] = {0x00, 0xd9, 0xfd, 0x68, 0x3e, 0x4a, 0xd1, 0x11,
						0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3};
	struct guid g;
	unsigned known = 0;
	memcpy(g.b, event_trace, 16);
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct schema_event *e = schema_process_find(true, &g, (uint16_t)opcode, 0);
		known += e != NULL;
		for (uint32_t i = 0; e && i < e->field_count; i++) {
			assert_int_not_equal(e->fields[i].in_type, TDH_INTYPE_NULL);
			assert_true(e->fields[i].name.bytes > 0);
		}
	}
	assert_int_equal(known, 9);
	struct blob p = {.n = 0};
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	blob_u32(&p, 2), blob_u32(&p, 0), blob_u64(&p, 5), blob_u64(&p, 6);
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	memcpy(&r->EventHeader.ProviderId, event_trace, 16);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	r->EventHeader.EventDescriptor.Opcode = 82;
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"TimeStampCount\":2,\"Padding\":0,\"TimeStamp\":[5,6]}");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static void hostile_event_information_is_refused(void **state)
{
	struct blob m, p;
	struct record t;
	ULONG size;
	struct schema_event *e;
	make_shapes(&m, &p);
	TRACE_EVENT_INFO *info = info_of(record_make(&t, &m, &p), &size);
	assert_int_equal(schema_load_tei(info, size, &e, NULL), 0);
	schema_event_destroy(e);
	assert_int_equal(schema_load_tei(info, 111, &e, NULL), -EBADMSG);
	assert_int_equal(schema_load_tei(info, size - 2, &e, NULL), -EBADMSG); /* last NUL gone */
	EVENT_PROPERTY_INFO saved = info->EventPropertyInfoArray[3];
	info->EventPropertyInfoArray[3].structType.StructStartIndex = 3; /* contains itself */
	assert_int_equal(schema_load_tei(info, size, &e, NULL), -EBADMSG);
	info->EventPropertyInfoArray[3] = saved;
	info->EventPropertyInfoArray[2].countPropertyIndex = 2; /* counts itself */
	assert_int_equal(schema_load_tei(info, size, &e, NULL), -EBADMSG);
	info->EventPropertyInfoArray[2].countPropertyIndex = 1;
	info->PropertyCount = 0xFFFFFFFF;
	assert_int_equal(schema_load_tei(info, size, &e, NULL), -EBADMSG);
	free(info);
}

static void unfinished_functions_answer_honestly(void **state)
{
	ULONG size = 0, n = 1;
	GUID g = {.Data1 = 1};
	TDH_HANDLE h = NULL;
	TDH_CONTEXT c = {.ParameterValue = 4, .ParameterType = TDH_CONTEXT_POINTERSIZE};
	assert_int_equal(TdhLoadManifest(NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhLoadManifest((PWSTR)(uintptr_t)u"/no/such/file"), ERROR_FILE_NOT_FOUND);
	assert_int_equal(TdhQueryProviderFieldInformation(&g, 1, EventKeywordInformation, NULL, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhEnumerateProviderFieldInformation(&g, EventInformationMax, NULL, &size),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(TdhEnumerateProviderFilters(&g, 0, NULL, &n, NULL, &size), ERROR_NOT_FOUND);
	assert_int_equal(n, 0);
	assert_int_equal(TdhOpenDecodingHandle(NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhOpenDecodingHandle(&h), ERROR_SUCCESS);
	assert_int_equal(TdhSetDecodingParameter(h, &c), ERROR_SUCCESS);
	c.ParameterValue = 0;
	assert_int_equal(TdhGetDecodingParameter(h, &c), ERROR_SUCCESS);
	assert_int_equal(c.ParameterValue, 4);
	assert_int_equal(TdhCloseDecodingHandle(h), ERROR_SUCCESS);
	assert_int_equal(TdhCloseDecodingHandle(NULL), ERROR_INVALID_PARAMETER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_information_lists_top_level_fields_before_members),
		cmocka_unit_test(buffer_size_protocol_is_windows_own),
		cmocka_unit_test(properties_are_found_by_name_index_and_member),
		cmocka_unit_test(format_property_writes_every_type),
		cmocka_unit_test(format_property_follows_the_pointer_size),
		cmocka_unit_test(format_property_refuses_what_does_not_fit),
		cmocka_unit_test(learnt_events_and_maps_decode_later_events),
		cmocka_unit_test(classic_header_event_is_described),
		cmocka_unit_test(every_builtin_class_has_complete_fields),
		cmocka_unit_test(hostile_event_information_is_refused),
		cmocka_unit_test(unfinished_functions_answer_honestly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
