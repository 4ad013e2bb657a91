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
#define HEAD                                                               \
	"<instrumentationManifest xmlns='urn:e'><instrumentation><events>" \
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
		{HEAD "<tasks><task value='1'/>\n<task value='0x1'/></tasks>" TAIL, "two tasks", 3, 7},
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
		{HEAD "<events><event value='1' version='0'/>\n<event value='1'/></events>" TAIL, "two events", 3, 8},
		{HEAD "<channels><channel chid='c' type='Admin'/></channels>\n<events><event "
		      "value='1' channel='c' level='win:Error'/></events>" TAIL,
		 "needs message and level", 3, 26},
		{HEAD "<channels><channel name='c' type='admin'/></channels>\n<events><event "
		      "value='1' channel='c' message='m' level='win:Verbose'/></events>" TAIL,
		 "not 'win:Verbose'", 3, 50},
		{HEAD "<valueMap name='m'/>" TAIL, "into 'provider': 'valueMap'", 2, 1},
		{HEAD "<events><evnt/></events>" TAIL, "into 'events': 'evnt'", 2, 9},
		{HEAD "<events><event value='1' keyword='a'/></events>" TAIL,
		 "attribute belongs into 'event': 'keyword'", 2, 26},
		{HEAD "<templates><template tid='t'><struct name='s'><date/></struct></template>"
		      "</templates>" TAIL,
		 "element belongs into 'struct': 'date'", 2, 47},
		{"<m><localization><resources culture='en'><strings/></resources></localization></m>",
		 "into 'resources': 'strings'", 1, 42},
		{HEAD "<keywords><keyword name='k' mask='0x3'/></keywords>" TAIL, "one bit, not '0x3'", 2, 29},
		{HEAD "<keywords><keyword name='k' mask='0'/></keywords>" TAIL, "one bit, not '0'", 2, 29},
		{HEAD "<keywords><keyword name='k' mask='0x1000000000000'/></keywords>" TAIL, "bits 0 to 47", 2, 29},
		{HEAD "<keywords><keyword mask='1'/></keywords>\n"
		      "<keywords><keyword mask='0x1'/></keywords>" TAIL,
		 "two keywords have the mask '0x1'", 3, 20},
		{HEAD "<maps><bitMap name='b'><map value='6'/></bitMap></maps>" TAIL, "bitMap is one bit, not '6'", 2,
		 29},
		{HEAD "<maps><valueMap name='b'><map value='6'/><map value='0x6'/></valueMap></maps>" TAIL,
		 "two entries of this map have the value '0x6'", 2, 47},
		{HEAD "<levels><level value='16'/></levels><levels>\n<level value='0x10'/></levels>" TAIL,
		 "two levels have the value '0x10'", 3, 8},
		{HEAD "<tasks><task name='a'/><task name='a'/></tasks>" TAIL, "two tasks have the name 'a'", 2, 30},
		{HEAD "<tasks><task name='a'><opcodes><opcode value='10'/><opcode value='10'/>"
		      "</opcodes></task></tasks>" TAIL,
		 "two opcodes of this task have the value '10'", 2, 60},
		{HEAD "<channels><channel isolation='Own'/></channels>" TAIL, "not 'Own'", 2, 20},
		{HEAD "</provider>\n<provider name='P' guid='{2}'>" TAIL, "two providers", 3, 11},
		{"<m><localization><resources culture='en-US'><stringTable><string id='a'/>\n"
		 "<string id='a'/></stringTable></resources></localization></m>",
		 "two strings have the id 'a'", 2, 9},
		{"<m><localization>\n<resources/></localization></m>", "a culture", 2, 1},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct diag d;
		assert_int_equal(check(rows[i].xml, &d), -EBADMSG);
		if (!strstr(d.text, rows[i].text) || d.line != rows[i].line || d.column != rows[i].column) {
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
		HEAD "<events x:own='1' xmlns:x='urn:tool'><event value='1'/></events>" TAIL,
		HEAD "<tasks><task value='1'><opcodes><opcode value='10'/></opcodes></task><task "
		     "value='2'><opcodes><opcode value='10'/></opcodes></task></tasks>" TAIL,
		HEAD "<levels><level name='win:Error' value='2'/></levels>"
		     "<opcodes><opcode name='win:Start' value='1'/></opcodes>"
		     "<keywords><keyword name='win:ResponseTime' mask='0x1000000000000'/></keywords>"
		     "<maps><bitMap name='b'><map value='0'/><map value='0x80000000'/></bitMap></maps>"
		     "<channels><channel name='c' type='Debug'><publishing><level>5</level>"
		     "<keywords>1</keywords></publishing></channel></channels>" TAIL,
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
