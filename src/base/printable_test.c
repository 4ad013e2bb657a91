/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#define TEXT(s) s, sizeof(s) - 1

static const struct {
	const char *in;
	size_t n;
	const char *out;
} cases[] = {
	{TEXT("plain text, C:\\new\\table, 100 %"), "plain text, C:\\new\\table, 100 %"},
	{TEXT("a\nb\rc\td"), "a\\nb\\rc\\td"},
	{TEXT("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m"},
	{TEXT("nul\0bell\a"), "nul\\x00bell\\x07"},
	{TEXT("del\x7f"), "del\\x7f"},
	{TEXT("csi \xC2\x9B"
	      "31m"),
	 "csi \\u009b31m"},
	{TEXT("raw csi \x9B"
	      "31m"),
	 "raw csi \\x9b31m"},
	{TEXT("Grüße, 世界, 🙂"), "Grüße, 世界, 🙂"},
	{TEXT("gpj.\u202Eexe"), "gpj.\\u202eexe"},
	{TEXT("\u061C\u200E\u200F\u202A\u202D\u2066\u2069"), "\\u061c\\u200e\\u200f\\u202a\\u202d\\u2066\\u2069"},
	{TEXT("one\u2028two\u2029three\xC2\x85"), "one\\u2028two\\u2029three\\u0085"},
	{TEXT("in\u200Bvis\u2060ib\uFEFFle"), "in\\u200bvis\\u2060ib\\ufeffle"},
	{TEXT("joined \u200D letters"), "joined \u200D letters"}, /* which Persian needs */
	{TEXT("tag \U000E0041"), "tag \\U000e0041"},
	{TEXT("cut \xE2\x82"), "cut \\xe2\\x82"},
	{TEXT("overlong \xC0\x9B \xE0\x80\x9B"), "overlong \\xc0\\x9b \\xe0\\x80\\x9b"},
	{TEXT("surrogate \xED\xA0\x80"), "surrogate \\xed\\xa0\\x80"},
	{TEXT("not a character \xEF\xBF\xBF"), "not a character \\uffff"},
	{TEXT(""), ""},
};

static void what_a_terminal_would_obey_becomes_visible(void **state)
{
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct strbuf b = {0};
		strbuf_add_printable(&b, cases[i].in, cases[i].n);
		assert_string_equal(b.s ? b.s : "", cases[i].out);
		assert_int_equal(printable_is(cases[i].in, cases[i].n), strlen(cases[i].out) == cases[i].n);
		strbuf_clear(&b);
		strbuf_add_printable(&b, cases[i].out, strlen(cases[i].out));
		assert_string_equal(b.s ? b.s : "", cases[i].out); /* twice does no harm */
		strbuf_finish(&b);
	}
}

static void utf16_is_made_printable_in_the_same_way(void **state)
{
	(void)state;
	static const uint16_t text[] = {'a', '\n', 0x9B, 0x202E, 0xE9, 0xD83D, 0xDE42, 0xDC00, 'z'};
	struct strbuf b = {0};
	strbuf_add_printable16(&b, text, BASE_ARRAY_LEN(text));
	assert_string_equal(b.s, "a\\n\\u009b\\u202eé🙂\\udc00z");
	strbuf_finish(&b);
}

static void a_copy_is_cut_between_characters_and_escapes(void **state)
{
	(void)state;
	char out[8];
	assert_int_equal(printable_copy(out, sizeof out, TEXT("123456789")), 7);
	assert_string_equal(out, "1234567");
	assert_int_equal(printable_copy(out, sizeof out, TEXT("12345é")), 7);
	assert_string_equal(out, "12345é");
	assert_int_equal(printable_copy(out, sizeof out, TEXT("123456é")), 6);
	assert_string_equal(out, "123456");
	assert_int_equal(printable_copy(out, sizeof out, TEXT("1234\x1b")), 4);
	assert_string_equal(out, "1234");
	assert_int_equal(printable_copy(out, sizeof out, TEXT("123\x1b")), 7);
	assert_string_equal(out, "123\\x1b");
	assert_int_equal(printable_copy(out, 0, TEXT("x")), 0);
}

static void columns_count_what_is_seen(void **state)
{
	(void)state;
	struct strbuf b = {0};
	assert_int_equal(printable_columns(TEXT("né")), 2);
	assert_int_equal(printable_columns(TEXT("ne\u0301")), 2);
	assert_int_equal(printable_columns(TEXT("世界")), 4);
	assert_int_equal(printable_columns(TEXT("\n")), 2);
	strbuf_add_column(&b, TEXT("世\n"), 6);
	strbuf_addc(&b, '|');
	strbuf_add_column(&b, TEXT("é"), -3);
	strbuf_addc(&b, '|');
	strbuf_add_column(&b, TEXT("too long"), 3);
	assert_string_equal(b.s, "  世\\n|é  |too long");
	strbuf_clear(&b);
	strbuf_add_fitted(&b, TEXT("short"), 7);
	strbuf_addc(&b, '|');
	strbuf_add_fitted(&b, TEXT("much too long"), 7);
	strbuf_addc(&b, '|');
	strbuf_add_fitted(&b, TEXT("世界世界"), 4);
	strbuf_addc(&b, '|');
	strbuf_add_fitted(&b, TEXT("abc\x1b"), 5); /* no half escape */
	assert_string_equal(b.s, "short  |much t…|世… |abc… ");
	strbuf_finish(&b);
}

#define ESC "\x1b"
static void formats_escape_arguments_and_not_themselves(void **state)
{
	(void)state;
	struct strbuf b = {0};
	char plain[512];
	strbuf_addf_printable(&b, "a\tb: %s\n%-6s|%6s|%.*s|%c|%%\n", "x\ny", "é", ESC, 2, "ab\n", 'c');
	assert_string_equal(b.s, "a\tb: x\\ny\né     |  \\x1b|ab|c|%\n");
	strbuf_clear(&b);
	/* numbers are libc's */
#define ALL                                                                                                          \
	"%d|%5d|%-5d|%05d|%+d|%x|%#x|%08X|%llu|%lld|%zu|%ld|%hhu|%hd|%ju|%.3f|%10.3f|%6.1f%%|%*d|%-*d|%g", 7, -7, 7, \
		7, 7, 255, 255, 255, 1ull << 63, -5ll, (size_t)9, -9l, (unsigned char)200, (short)-3, (uintmax_t)4,  \
		1.5, 2.25, 99.96, 6, 42, 6, 42, 0.5
	strbuf_addf_printable(&b, ALL);
	snprintf(plain, sizeof plain, ALL);
	assert_string_equal(b.s, plain);
	strbuf_finish(&b);
}

static void json_of_any_bytes_is_printable(void **state)
{
	(void)state;
	static const char in[] = "a\"\\\n\x1b\x7f\xC2\x9B\u202E\U000E0041é\x9B🙂";
	struct strbuf b = {0};
	strbuf_add_json(&b, in, sizeof in - 1);
	assert_string_equal(b.s, "\"a\\\"\\\\\\n\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41é\uFFFD🙂\"");
	strbuf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_terminal_would_obey_becomes_visible),
		cmocka_unit_test(utf16_is_made_printable_in_the_same_way),
		cmocka_unit_test(a_copy_is_cut_between_characters_and_escapes),
		cmocka_unit_test(columns_count_what_is_seen),
		cmocka_unit_test(formats_escape_arguments_and_not_themselves),
		cmocka_unit_test(json_of_any_bytes_is_printable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
