/* SPDX-License-Identifier: MIT
 *
 * WPP formats and messages, through the decoder and the Tdh* functions.
 */
#include "schema/schema_store.h"
#include "schema/schema_testing.h"
#include "schema/wpp.h"

#include <stdio.h>

static const char tmf[] =
	"// PDB:  tracedrv.pdb\r\n"
	"\r\n"
	"d58c126f-b309-11d1-969e-0000f875a5bc tracedrv // SRC=tracedrv.c MJ= MN=\r\n"
	"#typev  tracedrv_c258 10 \"%0Dispatch: \"IOCTL\" = %10!s!, %11!5d!|%12!-6x!|%13!08X! 100%%\" "
	"//   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=TRACE_IO FUNC=Dispatch\r\n"
	"{\r\n"
	"Arg, ItemString -- 10\r\n"
	"size, ItemLong -- 11\r\n"
	"Arg, ItemULong -- 12\r\n"
	"f(a, b), ItemULongX -- 13\r\n"
	"}\r\n"
	"#typev tracedrv_c300 11 \"%0%!FUNC! %10!s! %11!s! %12!p! %13!s!\" //   FUNC=Unload\n"
	"{\n"
	"Arg, ItemListLong(Invalid=0x0,Fill,Flush) -- 10\n"
	"Arg, ItemPWString -- 11\n"
	"Arg, ItemPtr -- 12\n"
	"Arg, ItemNTSTATUS -- 13\n"
	"}\n"
	"#typev tracedrv_c301 12 \"%0nothing\"\n{\n}\n"
	"3c02da23-88b9-3b8e-62c6-845a5a5a5a5a second // SRC=other.c MJ= MN=\n"
	"#typev other_c1 10 \"%0%10!s!\" //   FUNC=F\n{\nArg, ItemSetByte(a,b,c) -- 10\n}\n";

static const GUID source = {0xd58c126f, 0xb309, 0x11d1, {0x96, 0x9e, 0x00, 0x00, 0xf8, 0x75, 0xa5, 0xbc}};

static EVENT_RECORD *message(struct record *t, struct blob *p, unsigned number)
{
	EVENT_RECORD *r = record_make(t, NULL, p);
	r->EventHeader.ProviderId = source;
	r->EventHeader.EventDescriptor.Id = (USHORT)number;
	r->EventHeader.EventDescriptor.Version = 3; /* says nothing here */
	r->EventHeader.Flags =
		EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
	return r;
}

static char path[] = "/tmp/openetw-wpp-XXXXXX.tmf";

static int write_tmf(void **state)
{
	int fd = mkstemps(path, 4);
	bool ok = fd >= 0 && write(fd, tmf, sizeof tmf - 1) == (ssize_t)(sizeof tmf - 1);
	base_close(&fd);
	return ok ? 0 : -1;
}

static int remove_tmf(void **state)
{
	return unlink(path);
}

static void first_message(struct blob *p)
{
	p->n = 0;
	blob_asz(p, "READ"), blob_u32(p, (uint32_t)-7), blob_u32(p, 0xBEEF), blob_u32(p, 0xA);
}

static void messages_are_written_with_their_arguments(void **state)
{
	struct record t;
	struct blob p;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	first_message(&p);
	EVENT_RECORD *r = message(&t, &p, 10);
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_NO_SCHEMA);
	assert_non_null(strstr(o.data, "WPP message {d58c126f-b309-11d1-969e-0000f875a5bc} number "
				       "10: supply its .tmf file"));
	assert_int_equal(openetw_schema_load_file(path), 0);
	openetw_text_clear(&o);
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"_message\":\"Dispatch: \\\"IOCTL\\\" = READ,    -7|beef  |0000000A "
				    "100%\",\"Arg10\":\"READ\",\"size\":-7,\"Arg12\":48879,"
				    "\"f(a, b)\":\"0xa\"}");
	assert_int_equal(openetw_decoder_unread(d), 0);
	assert_string_equal(openetw_provider_name(d, r), "tracedrv");
	assert_string_equal(openetw_decoder_source(d, r), path);
	p.n = 0;
	blob_u32(&p, 2), blob_u16(&p, 4), blob_wide(&p, "hi"), blob_u64(&p, 0x1234);
	blob_u32(&p, 0xC0000005);
	openetw_text_clear(&o);
	r = message(&t, &p, 11);
	assert_int_equal(openetw_decode_text(d, r, &o), OPENETW_DECODED);
	assert_non_null(
		strstr(o.data, "_message=\"Unload Flush hi 0000000000001234 0xc0000005(STATUS_ACCESS_VIOLATION)\" "));
	p.n = 0;
	openetw_text_clear(&o);
	r = message(&t, &p, 12);
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"_message\":\"nothing\"}");
	blob_asz(&p, "cut"); /* the other three arguments are missing */
	openetw_text_clear(&o);
	r = message(&t, &p, 10);
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_PARTLY);
	assert_non_null(strstr(o.data, "= cut, ?|?|? 100%"));
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static const char *narrow(const void *p)
{
	static char text[256];
	size_t i = 0;
	for (; le16_get((const uint8_t *)p + 2 * i) && i < 255; i++) {
		text[i] = (char)le16_get((const uint8_t *)p + 2 * i);
	}
	text[i] = 0;
	return text;
}

static void tdh_takes_the_file_from_its_handle(void **state)
{
	struct record t;
	struct blob p;
	TDH_HANDLE h;
	uint8_t buffer[512];
	uint16_t wide[64];
	first_message(&p);
	EVENT_RECORD *r = message(&t, &p, 10);
	assert_true(utf8_to_utf16(path, strlen(path), wide, 64) > 0);
	TDH_CONTEXT c = {.ParameterValue = (ULONGLONG)(uintptr_t)wide, .ParameterType = TDH_CONTEXT_WPP_TMFFILE};
	assert_int_equal(TdhOpenDecodingHandle(&h), ERROR_SUCCESS);
	assert_int_equal(TdhSetDecodingParameter(h, &c), ERROR_SUCCESS);
	ULONG size = 0;
	assert_int_equal(TdhGetWppMessage(h, r, &size, NULL), ERROR_INSUFFICIENT_BUFFER);
	assert_in_range(size, 50, sizeof buffer);
	assert_int_equal(TdhGetWppMessage(h, r, &size, buffer), ERROR_SUCCESS);
	assert_string_equal(narrow(buffer), "Dispatch: \"IOCTL\" = READ,    -7|beef  |0000000A 100%");
	static const struct {
		const uint16_t *name;
		const char *value;
	} texts[] = {
		{u"GuidName", "tracedrv"},     {u"GuidTypeName", "tracedrv_c258"},
		{u"FunctionName", "Dispatch"}, {u"LevelName", "TRACE_LEVEL_INFORMATION"},
		{u"FlagsName", "TRACE_IO"},    {u"ComponentName", ""},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(texts); i++) {
		size = sizeof buffer;
		assert_int_equal(TdhGetWppProperty(h, r, (PWSTR)(uintptr_t)texts[i].name, &size, buffer),
				 ERROR_SUCCESS);
		assert_string_equal(narrow(buffer), texts[i].value);
	}
	size = sizeof buffer;
	assert_int_equal(TdhGetWppProperty(h, r, (PWSTR)(uintptr_t)u"TraceGuid", &size, buffer), ERROR_SUCCESS);
	assert_int_equal(size, 16);
	assert_memory_equal(buffer, &source, 16);
	size = sizeof buffer;
	assert_int_equal(TdhGetWppProperty(h, r, (PWSTR)(uintptr_t)u"Nonsense", &size, buffer), ERROR_NOT_FOUND);
	size = 4;
	assert_int_equal(TdhGetWppProperty(h, r, (PWSTR)(uintptr_t)u"GuidName", &size, buffer),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, 18);
	r->EventHeader.EventDescriptor.Id = 99;
	size = sizeof buffer;
	assert_int_equal(TdhGetWppMessage(h, r, &size, buffer), ERROR_NOT_FOUND);
	assert_int_equal(TdhCloseDecodingHandle(h), ERROR_SUCCESS);
}

/* Before anything is loaded into the process: the contexts of the call name the file. */
static void tdh_describes_messages_of_the_file_in_its_context(void **state)
{
	struct record t;
	struct blob p;
	uint16_t wide[64];
	_Alignas(8) uint8_t buffer[2048];
	TRACE_EVENT_INFO *info = (TRACE_EVENT_INFO *)buffer;
	first_message(&p);
	EVENT_RECORD *r = message(&t, &p, 10);
	ULONG size = 0;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, &size), ERROR_NOT_FOUND);
	assert_true(utf8_to_utf16(path, strlen(path), wide, 64) > 0);
	TDH_CONTEXT c = {.ParameterValue = (ULONGLONG)(uintptr_t)u"/nowhere;",
			 .ParameterType = TDH_CONTEXT_WPP_TMFSEARCHPATH};
	assert_int_equal(TdhGetEventInformation(r, 1, &c, NULL, &size), ERROR_NOT_FOUND);
	c = (TDH_CONTEXT){.ParameterValue = (ULONGLONG)(uintptr_t)wide, .ParameterType = TDH_CONTEXT_WPP_TMFFILE};
	assert_int_equal(TdhGetEventInformation(r, 1, &c, NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	size = sizeof buffer;
	assert_int_equal(TdhGetEventInformation(r, 1, &c, info, &size), ERROR_SUCCESS);
	assert_int_equal(info->DecodingSource, DecodingSourceWPP);
	static const GUID null_guid;
	assert_memory_equal(&info->ProviderGuid, &null_guid, 16);
	assert_int_equal(info->TopLevelPropertyCount, 4);
	assert_int_equal(info->EventPropertyInfoArray[1].nonStructType.InType, TDH_INTYPE_INT32);
	assert_string_equal(narrow(buffer + info->EventPropertyInfoArray[1].NameOffset), "size");
	/* Arguments by name, and what every message has. */
	PROPERTY_DATA_DESCRIPTOR d = {.PropertyName = (ULONGLONG)(uintptr_t)u"size", .ArrayIndex = 0xFFFFFFFF};
	int32_t value = 0;
	assert_int_equal(TdhGetProperty(r, 1, &c, 1, &d, 4, (PBYTE)&value), ERROR_SUCCESS);
	assert_int_equal(value, -7);
	d.PropertyName = (ULONGLONG)(uintptr_t)u"FormattedString";
	assert_int_equal(TdhGetPropertySize(r, 1, &c, 1, &d, &size), ERROR_SUCCESS);
	assert_int_equal(TdhGetProperty(r, 1, &c, 1, &d, size - 1, buffer), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(TdhGetProperty(r, 1, &c, 1, &d, size, buffer), ERROR_SUCCESS);
	assert_string_equal(narrow(buffer), "Dispatch: \"IOCTL\" = READ,    -7|beef  |0000000A 100%");
	d.PropertyName = (ULONGLONG)(uintptr_t)u"Nothing";
	assert_int_equal(TdhGetPropertySize(r, 1, &c, 1, &d, &size), ERROR_NOT_FOUND);
	r->EventHeader.EventDescriptor.Id = 99;
	assert_int_equal(TdhGetEventInformation(r, 1, &c, info, &size), ERROR_NOT_FOUND);
	assert_int_equal(schema_process_drop_manifest(path), 0);
}

static void malformed_formats_are_refused_with_their_line(void **state)
{
	static const char *const cases[] = {
		"",
		"#typev a 1 \"x\"\n{\n}\n",
		"d58c126f-b309-11d1-969e-0000f875a5bc a // SRC=b\n#typev a 1 x\n{\n}\n",
		"d58c126f-b309-11d1-969e-0000f875a5bc a // SRC=b\n#typev a 1 \"x\n{\n}\n",
		"d58c126f-b309-11d1-969e-0000f875a5bc a // SRC=b\n#typev a 1 \"x\"\n{\nArg\n}\n",
		"d58c126f-b309-11d1-969e-0000f875a5bc a // SRC=b\n#typev a 1 \"x\"\n{\n",
		"d58c126f-b309-11d1-969e-0000f875a5bc a // SRC=b\n#typev a 99999 \"x\"\n{\n}\n",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct manifest m;
		struct diag d = {0};
		if (manifest_read_tmf(cases[i], strlen(cases[i]), &m, &d) != -EBADMSG || !d.text[0]) {
			fail_msg("case %zu", i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tdh_takes_the_file_from_its_handle),
		cmocka_unit_test(tdh_describes_messages_of_the_file_in_its_context),
		cmocka_unit_test(messages_are_written_with_their_arguments),
		cmocka_unit_test(malformed_formats_are_refused_with_their_line),
	};
	return cmocka_run_group_tests(tests, write_tmf, remove_tmf);
}
