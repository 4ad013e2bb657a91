/* SPDX-License-Identifier: MIT
 *
 * What cannot be right in a manifest that can be read, with the place where it stands.
 */
#include "mc/mc.h"
#include "xml/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Each row is the inside of a provider, which starts in line 2. */
#define HEAD                                                                                       \
	"<instrumentationManifest xmlns='urn:e'><instrumentation><events>"                         \
	"<provider name='P' guid='{1}'>\n"
#define TAIL "</provider></events></instrumentation></instrumentationManifest>"

static int check(const char *xml, struct diag *d)
{
	struct xml_doc doc;
	diag_clear(d);
	assert_int_equal(xml_parse(xml, strlen(xml), &doc, d), 0);
	int err = mc_check(doc.root, d);
	xml_finish(&doc);
	return err;
}

static void what_cannot_be_right_is_told_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *xml, *text;
		uint32_t line, column;
	} rows[] = {
		{HEAD "<channels><channel type='Loud'/></channels>" TAIL, "not 'Loud'", 2, 20},
		{HEAD "<channels><channel enabled='yes'/></channels>" TAIL, "not 'yes'", 2, 20},
		{HEAD "<levels><level value='15'/></levels>" TAIL, "16 to 255, not '15'", 2, 16},
		{HEAD "<opcodes><opcode value='0x9'/></opcodes>" TAIL, "not '0x9'", 2, 18},
		{HEAD "<opcodes><opcode value='240'/></opcodes>" TAIL, "10 to 239", 2, 18},
		{HEAD "<tasks><task value='1'/>\n<task value='0x1'/></tasks>" TAIL, "two tasks", 3,
		 7},
		{HEAD "<templates><template tid='a'/>\n<template tid='a'/></templates>" TAIL,
		 "two templates have the tid 'a'", 3, 11},
		{HEAD "<templates><template tid='a'><data name='x'/>\n<struct name='x'>"
		      "<data/></struct></template></templates>" TAIL,
		 "two fields have the name 'x'", 3, 9},
		{HEAD "<templates><template tid='a'><struct name='s'/></template></templates>" TAIL,
		 "no fields are in struct 's'", 2, 30},
		{HEAD "<templates><template tid='a'><data inType='win:UInt8' outType='win:IPv4'/>"
		      "</template></templates>" TAIL,
		 "win:UInt8 cannot be shown as 'win:IPv4'", 2, 55},
		{HEAD "<events><event value='1' version='0'/>\n<event value='1'/></events>" TAIL,
		 "two events", 3, 8},
		{HEAD "<channels><channel chid='c' type='Admin'/></channels>\n<events><event "
		      "value='1' channel='c' level='win:Error'/></events>" TAIL,
		 "needs message and level", 3, 26},
		{HEAD "<channels><channel name='c' type='admin'/></channels>\n<events><event "
		      "value='1' channel='c' message='m' level='win:Verbose'/></events>" TAIL,
		 "not 'win:Verbose'", 3, 50},
		{HEAD "<valueMap name='m'/>" TAIL, "into 'provider': 'valueMap'", 2, 1},
		{HEAD "<events><evnt/></events>" TAIL, "into 'events': 'evnt'", 2, 9},
		{HEAD "</provider>\n<provider name='P' guid='{2}'>" TAIL, "two providers", 3, 11},
		{"<m><localization><resources culture='en-US'><stringTable><string id='a'/>\n"
		 "<string id='a'/></stringTable></resources></localization></m>",
		 "two strings have the id 'a'", 2, 9},
		{"<m><localization>\n<resources/></localization></m>", "a culture", 2, 1},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct diag d;
		assert_int_equal(check(rows[i].xml, &d), -EBADMSG);
		if (!strstr(d.text, rows[i].text) || d.line != rows[i].line ||
		    d.column != rows[i].column) {
			fail_msg("row %zu: %u:%u: %s", i, d.line, d.column, d.text);
		}
	}
}

static void what_published_manifests_have_is_right(void **state)
{
	(void)state;
	static const char *const rows[] = {
		HEAD "<opcodes><opcode value='10'/></opcodes>" TAIL,
		HEAD "<events><event value='1'/><event value='1' version='1'/></events>" TAIL,
		HEAD "<templates><template tid='a'><data name='x'/></template>"
		     "<template tid='b'><data name='x' inType='win:FILETIME' "
		     "outType='xs:dateTime'/></template></templates>" TAIL,
		HEAD "<x:own xmlns:x='urn:tool'/>" TAIL,
		"<other/>",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct diag d;
		if (check(rows[i], &d) != 0) {
			fail_msg("row %zu: %s", i, d.text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_right_is_told_with_its_place),
		cmocka_unit_test(what_published_manifests_have_is_right),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
