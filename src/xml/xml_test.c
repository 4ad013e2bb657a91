/* SPDX-License-Identifier: MIT
 *
 * What is XML, what is not, and where the mistake is said to be.
 */
#include "xml/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct xml_doc good(const char *text)
{
	struct xml_doc doc;
	struct diag d = {0};
	if (xml_parse(text, strlen(text), &doc, &d) != 0) {
		fail_msg("%s: %u:%u %s", text, d.line, d.column, d.text);
	}
	return doc;
}

static void elements_attributes_and_text_are_read(void **state)
{
	struct xml_doc doc = good("<?xml version=\"1.0\" encoding='UTF-8'?><!-- x --><a b = '1' "
				  "c=\"&lt;&#65;&#x42;&quot;\">t<d/>u<![CDATA[<v>]]></a>\n<!-- y -->");
	assert_string_equal(doc.root->name, "a");
	assert_string_equal(xml_value(doc.root, "b"), "1");
	assert_string_equal(xml_value(doc.root, "C"), "<AB\"");
	assert_null(xml_value(doc.root, "d"));
	assert_string_equal(doc.root->text, "tu<v>");
	assert_string_equal(xml_child(doc.root, "d")->name, "d");
	assert_ptr_equal(xml_child(doc.root, "d")->parent, doc.root);
	xml_finish(&doc);
}

static void prefixes_mean_the_innermost_declaration(void **state)
{
	struct xml_doc doc = good("<a xmlns='one' xmlns:p='two'><p:b/><c xmlns='three'><d/></c>"
				  "<e xmlns:p='four'><p:f/></e></a>");
	const struct xml_node *a = doc.root;
	assert_string_equal(a->ns, "one");
	assert_string_equal(xml_child(a, "b")->ns, "two");
	assert_string_equal(xml_child(xml_child(a, "c"), "d")->ns, "three");
	assert_string_equal(xml_child(xml_child(a, "e"), "f")->ns, "four");
	assert_string_equal(xml_prefix_uri(a, "p", 1), "two");
	assert_null(xml_prefix_uri(a, "q", 1));
	xml_finish(&doc);
}

static void positions_count_lines_and_characters(void **state)
{
	struct xml_doc doc = good("<a>\n  <b/>\xC3\xA4<c\n   d='1'/></a>");
	const struct xml_node *b = xml_child(doc.root, "b"), *c = xml_child(doc.root, "c");
	assert_int_equal(b->line, 2);
	assert_int_equal(b->column, 3);
	assert_int_equal(c->line, 2);
	assert_int_equal(c->column, 8); /* one column for the two bytes */
	assert_int_equal(c->attrs->line, 3);
	assert_int_equal(c->attrs->column, 4);
	xml_finish(&doc);
}

static void both_orders_of_utf16_are_read(void **state)
{
	static const uint8_t le[] = {0xFF, 0xFE, '<', 0, 'a', 0, '/', 0, '>', 0};
	static const uint8_t be[] = {0xFE, 0xFF, 0, '<', 0, 'a', 0, '/', 0, '>'};
	static const uint8_t marked[] = {0xEF, 0xBB, 0xBF, '<', 'a', '/', '>'};
	struct xml_doc doc;
	assert_int_equal(xml_parse(le, sizeof le, &doc, NULL), 0);
	assert_string_equal(doc.root->name, "a");
	xml_finish(&doc);
	assert_int_equal(xml_parse(be, sizeof be, &doc, NULL), 0);
	xml_finish(&doc);
	assert_int_equal(xml_parse(le + 2, sizeof le - 2, &doc, NULL), 0);
	xml_finish(&doc);
	assert_int_equal(xml_parse(marked, sizeof marked, &doc, NULL), 0);
	xml_finish(&doc);
}

static void mistakes_are_refused_where_they_are(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *says;
	} cases[] = {
		{"", 1, 1, "no element"},
		{"text", 1, 1, "'<' is expected"},
		{"<a>", 1, 4, "'a' is not closed"},
		{"<a></b>", 1, 4, "does not end the open element 'a'"},
		{"<a\n b='1' b='2'/>", 2, 8, "attribute 'b' twice"},
		{"<a b=1/>", 1, 6, "quoted value"},
		{"<a b='1'c='2'/>", 1, 9, "a space is expected"},
		{"<a b='<'/>", 1, 7, "'<' inside a value"},
		{"<a>&nbsp;</a>", 1, 4, "unknown entity"},
		{"<a>&#0;</a>", 1, 4, "not a character reference"},
		{"<a>&#xD800;</a>", 1, 4, "not a character reference"},
		{"<p:a/>", 1, 1, "prefix 'p' is not declared"},
		{"<a/><b/>", 1, 5, "behind the last element"},
		{"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", 1, 1, "document types"},
		{"<a>\xC3</a>", 1, 4, "not UTF-8"},
		{"<a>\x01</a>", 1, 4, "control character"},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", 1, 30, "only UTF-8"},
		{"<a><!-- </a>", 1, 4, "comment does not end"},
		{"<a:b:c/>", 1, 5, "one colon"},
		{"<1/>", 1, 2, "a name is expected"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct xml_doc doc;
		struct diag d = {0};
		int err = xml_parse(cases[i].text, strlen(cases[i].text), &doc, &d);
		if (err != -EBADMSG || d.line != cases[i].line || d.column != cases[i].column ||
		    !strstr(d.text, cases[i].says)) {
			fail_msg("%s: %d %u:%u %s", cases[i].text, err, d.line, d.column, d.text);
		}
	}
}

static void depth_is_bounded(void **state)
{
	struct strbuf b = {0};
	struct xml_doc doc;
	struct diag d = {0};
	for (unsigned i = 0; i < 200000; i++) {
		strbuf_adds(&b, "<a>");
	}
	assert_int_equal(xml_parse(b.s, b.len, &doc, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "too deep"));
	strbuf_finish(&b);
}

static void what_is_escaped_is_read_back(void **state)
{
	static const char text[] = "a<b>&\"c'\t\n\r\xC3\xA4\xE2\x80\xAE"; /* the last turns the writing round */
	struct strbuf b = {0};
	struct xml_doc doc;
	strbuf_adds(&b, "<r a=\"");
	xml_escape(&b, text, sizeof text - 1);
	strbuf_adds(&b, "\">");
	xml_escape(&b, text, sizeof text - 1);
	strbuf_adds(&b, "</r>");
	assert_null(strchr(b.s, '\n'));
	assert_null(strstr(b.s, "\xE2\x80\xAE"));
	assert_int_equal(xml_parse(b.s, b.len, &doc, NULL), 0);
	assert_string_equal(xml_value(doc.root, "a"), text);
	assert_string_equal(doc.root->text, text);
	xml_finish(&doc);
	strbuf_finish(&b);
}

/* Control characters, a NUL, and bytes that are no UTF-8. */
static void what_xml_cannot_write_is_marked(void **state)
{
	struct strbuf b = {0};
	xml_escape(&b,
		   "a\x01\0\xFF"
		   "b",
		   5);
	assert_string_equal(b.s, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
				 "b");
	strbuf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_attributes_and_text_are_read),
		cmocka_unit_test(prefixes_mean_the_innermost_declaration),
		cmocka_unit_test(positions_count_lines_and_characters),
		cmocka_unit_test(both_orders_of_utf16_are_read),
		cmocka_unit_test(mistakes_are_refused_where_they_are),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_is_escaped_is_read_back),
		cmocka_unit_test(what_xml_cannot_write_is_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
