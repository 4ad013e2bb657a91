/* SPDX-License-Identifier: MIT
 *
 * Payloads to JSON and text: every TraceLogging in type, the shapes (arrays, structs, both nested),
 * and what happens when bytes do not fit. Expected values are written out by hand from the wire
 * format.
 */
#include "schema/schema_testing.h"

static void every_scalar_in_type_is_decoded(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "All");
	meta_field(&m, "null", 0);
	meta_field(&m, "wide", 1), blob_wsz(&p, "W\"x");
	meta_field(&m, "ansi", 2), blob_asz(&p, "a\\b\n");
	meta_field(&m, "i8", 3), blob_u8(&p, 0x80);
	meta_field(&m, "u8", 4), blob_u8(&p, 0xFF);
	meta_field(&m, "i16", 5), blob_u16(&p, 0x8000);
	meta_field(&m, "u16", 6), blob_u16(&p, 0xFFFF);
	meta_field(&m, "i32", 7), blob_u32(&p, 0x80000000);
	meta_field(&m, "u32", 8), blob_u32(&p, 0xFFFFFFFF);
	meta_field(&m, "i64", 9), blob_u64(&p, 0x8000000000000000);
	meta_field(&m, "u64", 10), blob_u64(&p, 9007199254740992);
	meta_field(&m, "big", 10), blob_u64(&p, 9007199254740993);
	float f = 0.1f;
	double g = -1.5e300;
	meta_field(&m, "f", 11), blob_add(&p, &f, 4);
	meta_field(&m, "d", 12), blob_add(&p, &g, 8);
	meta_field(&m, "bool", 13), blob_u32(&p, 2);
	meta_field(&m, "bin", 14), blob_u16(&p, 3), blob_hex(&p, "01ab00");
	meta_field(&m, "guid", 15), blob_add(&p, test_provider, 16);
	meta_field(&m, "ft", 17), blob_u64(&p, 116444736000000001);
	meta_field(&m, "st", 18), blob_hex(&p, "e5070900040009000e003b0023001f03");
	meta_field(&m, "sid", 19), blob_hex(&p, "01020000000000052000000020020000");
	meta_field(&m, "h32", 20), blob_u32(&p, 0xAB);
	meta_field(&m, "h64", 21), blob_u64(&p, 0);
	meta_field(&m, "cw", 22), blob_u16(&p, 4), blob_wide(&p, "hi");
	meta_field(&m, "ca", 23), blob_u16(&p, 2), blob_add(&p, "yo", 2);
	meta_field(&m, "cb", 25), blob_u16(&p, 1), blob_u8(&p, 0xFE);
	meta_done(&m);
	assert_json(&m, &p, OPENETW_DECODED,
		    "{\"null\":null,\"wide\":\"W\\\"x\",\"ansi\":\"a\\\\b\\n\",\"i8\":-128,\"u8\":255,"
		    "\"i16\":-32768,\"u16\":65535,\"i32\":-2147483648,\"u32\":4294967295,"
		    "\"i64\":\"-9223372036854775808\",\"u64\":9007199254740992,"
		    "\"big\":\"9007199254740993\",\"f\":0.1,\"d\":-1.5e+300,\"bool\":true,"
		    "\"bin\":\"01ab00\",\"guid\":\"01020304-0506-0708-090a-0b0c0d0e0f10\","
		    "\"ft\":\"1970-01-01T00:00:00.0000001Z\",\"st\":\"2021-09-09T14:59:35.7990000Z\","
		    "\"sid\":\"S-1-5-32-544\",\"h32\":\"0xab\",\"h64\":\"0x0\",\"cw\":\"hi\","
		    "\"ca\":\"yo\",\"cb\":\"fe\"}");
}

static void every_out_type_is_honoured(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Outs");
	meta_field_out(&m, "ch8", 4, 2), blob_u8(&p, 'M');
	meta_field_out(&m, "ch16", 6, 2), blob_u16(&p, 0x20AC);
	meta_field_out(&m, "bool8", 4, 3), blob_u8(&p, 1);
	meta_field_out(&m, "hex8", 3, 4), blob_u8(&p, 0xFF);
	meta_field_out(&m, "hex16", 6, 4), blob_u16(&p, 0x1F);
	meta_field_out(&m, "hex64", 9, 4), blob_u64(&p, 0xDEADBEEF00);
	meta_field_out(&m, "hexbin", 14, 4), blob_u16(&p, 1), blob_u8(&p, 7);
	meta_field_out(&m, "pid", 8, 5), blob_u32(&p, 4711);
	meta_field_out(&m, "tid", 8, 6), blob_u32(&p, 12);
	meta_field_out(&m, "port", 6, 7), blob_hex(&p, "0050");
	meta_field_out(&m, "ip4", 8, 8), blob_hex(&p, "7f000001");
	meta_field_out(&m, "ip6", 14, 9), blob_u16(&p, 16);
	blob_hex(&p, "20010db8000000000000000000000001");
	meta_field_out(&m, "sock", 14, 10), blob_u16(&p, 16);
	blob_hex(&p, "020001bb0a0000010000000000000000");
	meta_field_out(&m, "xml", 1, 11), blob_wsz(&p, "<a/>");
	meta_field_out(&m, "json", 2, 12), blob_asz(&p, "{}");
	meta_field_out(&m, "win32", 8, 13), blob_u32(&p, 5);
	meta_field_out(&m, "nt", 8, 14), blob_u32(&p, 0xC0000022);
	meta_field_out(&m, "hr", 7, 15), blob_u32(&p, 0x80070005);
	meta_field_out(&m, "ft", 9, 16), blob_u64(&p, 132756749758900000);
	meta_field_out(&m, "sgn", 8, 17), blob_u32(&p, 0xFFFFFFFF);
	meta_field_out(&m, "uns", 7, 18), blob_u32(&p, 0xFFFFFFFF);
	meta_field_out(&m, "utf8", 23, 35), blob_u16(&p, 3), blob_hex(&p, "e282ac");
	meta_field_out(&m, "code", 21, 37), blob_u64(&p, 0x401000);
	meta_field_out(&m, "utc", 17, 38), blob_u64(&p, 116444736000000000);
	meta_field_out(&m, "odd", 7, 99), blob_u32(&p, 3);
	meta_done(&m);
	assert_json(&m, &p, OPENETW_DECODED,
		    "{\"ch8\":\"M\",\"ch16\":\"\xE2\x82\xAC\",\"bool8\":true,\"hex8\":\"0xff\","
		    "\"hex16\":\"0x1f\",\"hex64\":\"0xdeadbeef00\",\"hexbin\":\"07\",\"pid\":4711,"
		    "\"tid\":12,\"port\":80,\"ip4\":\"127.0.0.1\",\"ip6\":\"2001:db8::1\","
		    "\"sock\":\"10.0.0.1:443\",\"xml\":\"<a/>\",\"json\":\"{}\",\"win32\":5,"
		    "\"nt\":\"0xc0000022\",\"hr\":\"0x80070005\","
		    "\"ft\":\"2021-09-09T15:29:35.8900000Z\",\"sgn\":-1,\"uns\":4294967295,"
		    "\"utf8\":\"\xE2\x82\xAC\",\"code\":\"0x401000\","
		    "\"utc\":\"1970-01-01T00:00:00.0000000Z\",\"odd\":3}");
}

static void arrays_and_nested_structs_become_json(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Shapes");
	meta_field(&m, "fixed", 4 | 0x20), blob_u16(&m, 3), blob_hex(&p, "010203");
	meta_field(&m, "var", 6 | 0x40), blob_u16(&p, 2), blob_hex(&p, "0a000b00");
	meta_field(&m, "none", 8 | 0x40), blob_u16(&p, 0);
	meta_field(&m, "strs", 2 | 0x40), blob_u16(&p, 2), blob_asz(&p, "a"), blob_asz(&p, "");
	meta_field_out(&m, "s", 24, 2); /* two members: x, and a struct array */
	meta_field(&m, "x", 4), blob_u8(&p, 9);
	meta_field_out(&m, "inner", 24 | 0x40, 2), blob_u16(&p, 2);
	meta_field(&m, "k", 2);
	meta_field(&m, "v", 4 | 0x40);
	blob_asz(&p, "one"), blob_u16(&p, 1), blob_u8(&p, 1);
	blob_asz(&p, "two"), blob_u16(&p, 2), blob_hex(&p, "0203");
	meta_field_out(&m, "pair", 24 | 0x20, 1), blob_u16(&m, 2);
	meta_field(&m, "y", 4), blob_hex(&p, "0506");
	meta_field_out(&m, "empty", 24 | 0x40, 1), blob_u16(&p, 0);
	meta_field(&m, "z", 4);
	meta_field(&m, "bins", 14 | 0x40), blob_u16(&p, 2), blob_hex(&p, "0100ff02000102");
	meta_field(&m, "custom", 0x60 | 7), blob_u16(&m, 2), blob_hex(&m, "beef");
	blob_u16(&p, 2), blob_hex(&p, "c0de");
	meta_field(&m, "last", 4), blob_u8(&p, 77);
	meta_done(&m);
	assert_json(&m, &p, OPENETW_DECODED,
		    "{\"fixed\":[1,2,3],\"var\":[10,11],\"none\":[],\"strs\":[\"a\",\"\"],"
		    "\"s\":{\"x\":9,\"inner\":[{\"k\":\"one\",\"v\":[1]},{\"k\":\"two\",\"v\":[2,3]}]},"
		    "\"pair\":[{\"y\":5},{\"y\":6}],\"empty\":[],\"bins\":[\"ff\",\"0102\"],"
		    "\"custom\":\"c0de\",\"last\":77}");
}

static void text_form_quotes_only_where_needed(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Text");
	meta_field(&m, "n", 4), blob_u8(&p, 5);
	meta_field(&m, "word", 2), blob_asz(&p, "plain");
	meta_field(&m, "two", 2), blob_asz(&p, "two words");
	meta_field(&m, "none", 2), blob_asz(&p, "");
	meta_field(&m, "eq", 2), blob_asz(&p, "a=b");
	meta_field(&m, "l", 4 | 0x20), blob_u16(&m, 2), blob_hex(&p, "0102");
	meta_done(&m);
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	EVENT_RECORD *r = record_make(&t, &m, &p);
	assert_int_equal(openetw_decode_text(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "n=5 word=plain two=\"two words\" none=\"\" eq=\"a=b\" l=[1,2]");
	assert_string_equal(openetw_event_name(d, r), "Text");
	assert_string_equal(openetw_provider_name(d, r), "Test.Provider");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static bool collect(void *ctx, const struct openetw_field *f)
{
	struct openetw_text *o = ctx;
	out_add(o, f->name, f->name_length);
	out_char(o, '=');
	out_add(o, f->text, f->text_length);
	out_char(o, '/');
	out_add(o, f->json, f->json_length);
	out_char(o, ';');
	return true;
}

/* "a", ESC, U+009B, U+202E, U+E0041, an invalid byte, "z"; the last three in UTF-8 only. */
static void what_a_terminal_would_obey_is_escaped(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_non_null(d);
	meta_start(&m, "Hostile");
	meta_field(&m, "n\x1b\xC2\x9Bm", 2);
	blob_asz(&p, "a\x1b\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81\x9Bz");
	meta_field(&m, "wide", 1), blob_hex(&p, "61001b009b002e2040db41dc7a000000");
	meta_done(&m);
#define VALUE "a\\u001b\\u009b\\u202e\\udb40\\udc41"
	assert_json(&m, &p, OPENETW_DECODED,
		    "{\"n\\u001b\\u009bm\":\"a\\u001b\\u009b\\u202e\\udb40\\udc41\xEF\xBF\xBDz\","
		    "\"wide\":\"" VALUE "z\"}");
	assert_int_equal(openetw_decode_text(d, record_make(&t, &m, &p), &o), OPENETW_DECODED);
	assert_string_equal(o.data, "n\\u001b\\u009bm=\"a\\u001b\\u009b\\u202e\\udb40\\udc41\xEF\xBF\xBDz\" "
				    "wide=\"" VALUE "z\"");
#undef VALUE
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
	(void)state;
}

static void fields_come_as_text_and_json(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Fields");
	meta_field(&m, "n", 4), blob_u8(&p, 5);
	meta_field(&m, "s", 2), blob_asz(&p, "a\"b");
	meta_field(&m, "l", 4 | 0x40), blob_u16(&p, 1), blob_u8(&p, 8);
	meta_field(&m, "cut", 8), blob_u8(&p, 1);
	meta_done(&m);
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_int_equal(openetw_decode_fields(d, record_make(&t, &m, &p), collect, &o), OPENETW_PARTLY);
	assert_string_equal(o.data, "n=5/5;s=a\"b/\"a\\\"b\";l=[8]/[8];"
				    "_error=payload ends inside cut/\"payload ends inside cut\";");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static bool collect_places(void *ctx, const struct openetw_field *f)
{
	struct openetw_text *o = ctx;
	out_add(o, f->name, f->name_length);
	out_char(o, ' ');
	out_u64(o, f->offset);
	out_char(o, '+');
	out_u64(o, f->bytes);
	out_char(o, ';');
	return true;
}

/* Lengths in front and terminators are part of a value; the counts of arrays are hidden fields of their own. */
static void fields_say_which_bytes_they_take(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	meta_start(&m, "Places");
	meta_field(&m, "n", 4), blob_u8(&p, 5);
	meta_field(&m, "s", 2), blob_asz(&p, "abc");
	meta_field(&m, "w", 22), blob_u16(&p, 4), blob_wide(&p, "hi");
	meta_field(&m, "l", 6 | 0x40), blob_u16(&p, 2), blob_hex(&p, "0a000b00");
	meta_field_out(&m, "pair", 24 | 0x20, 2), blob_u16(&m, 2);
	meta_field(&m, "x", 8), meta_field(&m, "y", 2);
	blob_u32(&p, 1), blob_asz(&p, "one"), blob_u32(&p, 2), blob_asz(&p, "");
	meta_field(&m, "none", 0);
	meta_field(&m, "cut", 10), blob_u8(&p, 1);
	meta_done(&m);
	assert_int_equal(openetw_decode_fields(d, record_make(&t, &m, &p), collect_places, &o), OPENETW_PARTLY);
	assert_string_equal(openetw_decoder_source(d, &t.r), "the event itself (TraceLogging)");
	assert_string_equal(o.data, "n 0+1;s 1+4;w 5+6;l 13+4;pair 17+13;none 30+0;_error 0+0;");
	openetw_text_clear(&o);
	m.n = 1; /* nobody knows what it means */
	assert_int_equal(openetw_decode_fields(d, record_make(&t, &m, &p), collect_places, &o), OPENETW_NO_SCHEMA);
	assert_string_equal(o.data, "_raw 0+31;_reason 0+0;");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
	(void)state;
}

static void assert_field(struct blob *m, struct blob *p, const char *path, const char *expected)
{
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	openetw_decode_field(d, record_make(&t, m, p), path, collect, &o);
	assert_string_equal(o.data ? o.data : "", expected);
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static void one_field_is_what_it_is_among_all(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Fields");
	meta_field(&m, "n", 4), blob_u8(&p, 5);
	meta_field(&m, "s", 2), blob_asz(&p, "a\"b");
	meta_field(&m, "l", 4 | 0x40), blob_u16(&p, 1), blob_u8(&p, 8);
	meta_field(&m, "last", 4), blob_u8(&p, 9);
	meta_field(&m, "cut", 8), blob_u8(&p, 1);
	meta_done(&m);
	assert_field(&m, &p, "n", "n=5/5;");
	assert_field(&m, &p, "s", "s=a\"b/\"a\\\"b\";");
	assert_field(&m, &p, "l.x", "l=[8]/[8];");
	assert_field(&m, &p, "last", "last=9/9;");
	assert_field(&m, &p, "la", "");
	assert_field(&m, &p, "cut", "");
	assert_field(&m, &p, "_error", "_error=payload ends inside cut/\"payload ends inside cut\";");
	struct record t;
	struct openetw_decoder *d = openetw_decoder_create();
	assert_int_equal(openetw_decode_field(d, record_make(&t, &m, &p), NULL, collect, NULL),
			 ERROR_INVALID_PARAMETER);
	openetw_decoder_destroy(d);
}

static void truncated_payload_gives_what_fits_and_the_rest(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Cut");
	meta_field(&m, "a", 4), blob_u8(&p, 1);
	meta_field(&m, "b", 8), blob_hex(&p, "0203");
	meta_done(&m);
	assert_json(&m, &p, OPENETW_PARTLY,
		    "{\"a\":1,\"b\":null,\"_error\":\"payload ends inside b\",\"_rest\":\"0203\"}");
	p.n = 0;
	assert_json(&m, &p, OPENETW_PARTLY, "{\"a\":null,\"_error\":\"payload ends inside a\",\"_rest\":\"\"}");
	m.n = 0, p.n = 0;
	meta_start(&m, "CutArray");
	meta_field(&m, "l", 6 | 0x40), blob_u16(&p, 3), blob_hex(&p, "010002");
	meta_done(&m);
	assert_json(&m, &p, OPENETW_PARTLY, "{\"l\":[1],\"_error\":\"payload ends inside l\",\"_rest\":\"02\"}");
}

static void last_string_may_lack_its_terminator(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "NoNul");
	meta_field(&m, "w", 1), blob_wide(&p, "url");
	meta_done(&m);
	assert_json(&m, &p, OPENETW_DECODED, "{\"w\":\"url\"}");
}

static void undecodable_events_say_why(void **state)
{
	struct blob p = {.n = 0}, m = {.n = 0};
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	blob_hex(&p, "0102ff");
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	r->EventHeader.EventDescriptor.Id = 5;
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_NO_SCHEMA);
	assert_string_equal(
		o.data, "{\"_raw\":\"0102ff\",\"_reason\":\"no schema: provider "
			"{01020304-0506-0708-090a-0b0c0d0e0f10} id 5: supply its manifest (.man, or the .dll or .exe "
			"that holds it) in ~/.local/share/openetw/manifests\"}");
	assert_string_equal(openetw_event_name(d, r), "Event(5)");
	assert_string_equal(openetw_provider_name(d, r), "{01020304-0506-0708-090a-0b0c0d0e0f10}");
	openetw_text_clear(&o);
	meta_start(&m, "Bad");
	meta_field(&m, "x", 31); /* no such type */
	meta_done(&m);
	assert_int_equal(openetw_decode_json(d, record_make(&t, &m, &p), &o), OPENETW_NO_SCHEMA);
	assert_non_null(strstr(o.data, "unknown field type 31"));
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static void string_events_and_manifest_chunks_need_no_schema(void **state)
{
	struct blob p = {.n = 0};
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	blob_wsz(&p, "hello");
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_STRING_ONLY;
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"Message\":\"hello\"}");
	assert_string_equal(openetw_decoder_source(d, r), "the form that all events of this kind have");
	p.n = 0;
	blob_hex(&p, "0101005b01000000");
	blob_add(&p, "<m/>", 4);
	r = record_make(&t, NULL, &p);
	r->EventHeader.EventDescriptor.Id = 0xFFFE;
	r->EventHeader.EventDescriptor.Opcode = 0xFE;
	openetw_text_clear(&o);
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"Format\":1,\"MajorVersion\":1,\"MinorVersion\":0,\"Magic\":91,"
				    "\"TotalChunks\":1,\"ChunkNumber\":0,\"Data\":\"<m/>\"}");
	assert_string_equal(openetw_event_name(d, r), "ManifestData");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static void arrays_of_nothing_end(void **state)
{
	struct blob m = {.n = 0}, p = {.n = 0};
	meta_start(&m, "Bomb");
	for (int i = 0; i < 5; i++) {
		meta_field_out(&m, "s", 24 | 0x20, 1), blob_u16(&m, 0xFFFF);
	}
	meta_field(&m, "n", 0 | 0x20), blob_u16(&m, 0xFFFF);
	meta_done(&m);
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_int_equal(openetw_decode_json(d, record_make(&t, &m, &p), &o), OPENETW_PARTLY);
	assert_true(o.length < 32u << 20);
	assert_non_null(strstr(o.data, "too many values"));
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

static void malformed_metadata_is_refused(void **state)
{
	static const char *const bad[] = {
		"",                 /* nothing */
		"05",               /* half a size */
		"0300",             /* size below the least */
		"ffff0041",         /* more than there is */
		"04000041",         /* name not terminated */
		"0800ffffffffff41", /* endless tags */
		"0900004100580098", /* size beyond the end */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		struct blob m = {.n = 0};
		struct schema_event *e;
		struct diag diag = {0};
		blob_hex(&m, bad[i]);
		assert_int_equal(schema_load_tlg(m.b, m.n, &e, &diag), -EBADMSG);
		assert_true(diag.text[0] != 0);
	}
	struct blob m = {.n = 0};
	struct schema_event *e;
	meta_start(&m, "E");
	meta_field_out(&m, "s", 24, 2);
	meta_field(&m, "only", 4);
	meta_done(&m);
	assert_int_equal(schema_load_tlg(m.b, m.n, &e, NULL), -EBADMSG);
	meta_start(&m, "Deep");
	for (unsigned i = 0; i <= SCHEMA_DEPTH_MAX; i++) {
		meta_field_out(&m, "s", 24, 1);
	}
	meta_field(&m, "x", 4);
	meta_done(&m);
	assert_int_equal(schema_load_tlg(m.b, m.n, &e, NULL), -EBADMSG);
}

/* The five events of a file recorded on Windows (primitive-types.etl of microsoft/perfview, MIT),
 * with the values that PerfView's listing shows. */
static void real_primitive_types_have_the_listed_values(void **state)
{
	static const char meta[] = "b600005072696d697469766554797065735465737400737472696e675f74797"
				   "0650002626f6f6c65616e5f7479"
				   "7065008403636861725f74797065008402696e7431365f747970650005696e7"
				   "433325f74797065000775696e74"
				   "31365f74797065000675696e7433325f747970650008696e7436345f7479706"
				   "5000a75696e7436345f74797065"
				   "000a677569645f74797065000f66696c655f74696d655f74797065001173797"
				   "374656d5f74696d655f74797065"
				   "0012";
	static const char *const payloads[] = {
		"4d65726375727900004dcdff9affffff33006600000034ffffffffffffffcc00000000000000c414d6"
		"0af40e25"
		"428013f44f37cb03977010fa4d8ba5d701e5070900040009000e003b0023001f03",
		"4a75706974657200014abbff76ffffff45008a000000ecfeffffffffffff14010000000000007bb911"
		"bb1011b6"
		"4ebc33fd71219d322ec02cfb4e8ba5d701e5070900040009000e003b002500e401",
	};
	/* int64_type is declared as UINT64 in this program: the listing shows it signed, the
	 * metadata (in type 0x0A) does not. */
	static const char *const expected[] = {
		"{\"string_type\":\"Mercury\",\"boolean_type\":false,\"char_type\":\"M\","
		"\"int16_type\":-51,\"int32_type\":-102,\"uint16_type\":51,\"uint32_type\":102,"
		"\"int64_type\":\"18446744073709551412\",\"uint64_type\":204,"
		"\"guid_type\":\"0ad614c4-0ef4-4225-8013-f44f37cb0397\","
		"\"file_time_type\":\"2021-09-09T14:59:35.7990000Z\","
		"\"system_time_type\":\"2021-09-09T14:59:35.7990000Z\"}",
		"{\"string_type\":\"Jupiter\",\"boolean_type\":true,\"char_type\":\"J\","
		"\"int16_type\":-69,\"int32_type\":-138,\"uint16_type\":69,\"uint32_type\":138,"
		"\"int64_type\":\"18446744073709551340\",\"uint64_type\":276,"
		"\"guid_type\":\"bb11b97b-1110-4eb6-bc33-fd71219d322e\","
		"\"file_time_type\":\"2021-09-09T14:59:37.4840000Z\","
		"\"system_time_type\":\"2021-09-09T14:59:37.4840000Z\"}",
	};
	struct blob m = {.n = 0};
	blob_hex(&m, meta);
	for (size_t i = 0; i < BASE_ARRAY_LEN(payloads); i++) {
		struct blob p = {.n = 0};
		blob_hex(&p, payloads[i]);
		assert_json(&m, &p, OPENETW_DECODED, expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scalar_in_type_is_decoded),
		cmocka_unit_test(every_out_type_is_honoured),
		cmocka_unit_test(arrays_and_nested_structs_become_json),
		cmocka_unit_test(text_form_quotes_only_where_needed),
		cmocka_unit_test(what_a_terminal_would_obey_is_escaped),
		cmocka_unit_test(fields_come_as_text_and_json),
		cmocka_unit_test(fields_say_which_bytes_they_take),
		cmocka_unit_test(one_field_is_what_it_is_among_all),
		cmocka_unit_test(truncated_payload_gives_what_fits_and_the_rest),
		cmocka_unit_test(last_string_may_lack_its_terminator),
		cmocka_unit_test(undecodable_events_say_why),
		cmocka_unit_test(string_events_and_manifest_chunks_need_no_schema),
		cmocka_unit_test(arrays_of_nothing_end),
		cmocka_unit_test(malformed_metadata_is_refused),
		cmocka_unit_test(real_primitive_types_have_the_listed_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
