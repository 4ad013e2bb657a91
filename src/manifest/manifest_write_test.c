/* SPDX-License-Identifier: MIT
 *
 * What is written is read again as the same: a manifest with everything, and a real one.
 */
#include "base/file.h"
#include "manifest/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char everything[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
	"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events' "
	"xmlns:xs='http://www.w3.org/2001/XMLSchema'>"
	"<instrumentation><events><provider name='Acme &amp; Co' guid='{11111111-2222-3333-4444-555555555555}' "
	"symbol='ACME' "
	"resourceFileName='a' messageFileName='a'>"
	"<channels><importChannel chid='app' name='Application'/><channel name='Acme/Op' chid='op' "
	"type='Operational'/></channels>"
	"<levels><level name='Loud' value='16' message='$(string.s)'/></levels>"
	"<tasks><task name='Launch' value='7' eventGUID='{aaaaaaaa-0000-0000-0000-000000000001}'><opcodes>"
	"<opcode name='Abort' value='11'/></opcodes></task></tasks><opcodes><opcode name='Other' value='12'/></opcodes>"
	"<keywords><keyword name='Fuel' mask='0x10'/></keywords>"
	"<maps><valueMap name='Stage'><map value='1' message='$(string.m)'/></valueMap>"
	"<bitMap name='Valves'><map value='0x1' message='$(string.m)'/></bitMap></maps>"
	"<templates><template tid='T'><data name='Count' inType='win:UInt16'/>"
	"<data name='Stage' inType='win:UInt32' map='Stage'/><data name='Values' inType='win:UInt8' count='Count'/>"
	"<data name='Blob' inType='win:Binary' length='Count'/><data name='Port' inType='win:UInt16' "
	"outType='win:Port'/>"
	"<struct name='Points' count='2'><data name='X' inType='win:Int16'/></struct></template></templates>"
	"<events><event value='5' version='1' level='win:Error' task='Launch' opcode='Abort' channel='op' "
	"keywords='Fuel win:ResponseTime' template='T' symbol='IGNITION' message='$(string.s)'/>"
	"<event value='6' level='Loud' opcode='Other'/><event value='7' opcode='win:Start'/></events>"
	"</provider></events></instrumentation><localization><resources culture='en-US'><stringTable>"
	"<string id='s' value='Rocket %1 &lt;now&gt;'/><string id='m' "
	"value='First'/></stringTable></resources></localization>"
	"</instrumentationManifest>";

static void assert_same_text(const char *a, const char *b)
{
	assert_string_equal(a ? a : "", b ? b : "");
}

static void assert_same_items(const struct manifest_item *a, const struct manifest_item *b)
{
	for (; a && b; a = a->next, b = b->next) {
		assert_same_text(a->name, b->name);
		assert_int_equal(a->in_type, b->in_type);
		assert_int_equal(a->out_type, b->out_type);
		assert_same_text(a->map_name, b->map_name);
		assert_int_equal(a->has_count, b->has_count);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->length, b->length);
		assert_same_text(a->count_of ? a->count_of->name : NULL, b->count_of ? b->count_of->name : NULL);
		assert_same_text(a->length_of ? a->length_of->name : NULL, b->length_of ? b->length_of->name : NULL);
		assert_same_items(a->members, b->members);
	}
	assert_true(!a && !b);
}

static void assert_comes_back(const char *text, size_t n, bool unlisted)
{
	struct manifest m, again;
	struct diag d = {0};
	struct strbuf out = {0};
	assert_int_equal(manifest_read_xml(text, n, &m, &d), 0);
	const struct manifest_provider *p = m.providers;
	if (unlisted) { /* as those of the catalogue are */
		m.providers->templates = NULL;
	}
	manifest_write_xml(p, &out);
	assert_false(out.failed);
	if (manifest_read_xml(out.s, out.len, &again, &d) < 0) {
		fail_msg("line %u: %s\n%s", d.line, d.text, out.s);
	}
	const struct manifest_provider *q = again.providers;
	assert_string_equal(p->name, q->name);
	assert_true(guid_equal(&p->guid, &q->guid));
	assert_int_equal(p->event_count, q->event_count);
	const struct manifest_event *b = q->events;
	for (const struct manifest_event *a = p->events; a; a = a->next, b = b->next) {
		assert_int_equal(a->id, b->id);
		assert_int_equal(a->version, b->version);
		assert_int_equal(a->level, b->level);
		assert_int_equal(a->opcode, b->opcode);
		assert_int_equal(a->task, b->task);
		assert_int_equal(a->channel, b->channel);
		assert_int_equal(a->keyword, b->keyword);
		assert_same_text(a->text, b->text);
		assert_same_text(a->task_of ? a->task_of->name : NULL, b->task_of ? b->task_of->name : NULL);
		assert_same_items(a->template ? a->template->items : NULL, b->template ? b->template->items : NULL);
	}
	const struct manifest_map *v = q->maps;
	for (const struct manifest_map *u = p->maps; u; u = u->next, v = v->next) {
		assert_string_equal(u->name, v->name);
		assert_int_equal(u->bits, v->bits);
		assert_int_equal(u->entry_count, v->entry_count);
		assert_string_equal(u->entries->text, v->entries->text);
	}
	strbuf_finish(&out);
	manifest_finish(&m);
	manifest_finish(&again);
}

static void a_manifest_comes_back_as_it_was(void **state)
{
	assert_comes_back(everything, sizeof everything - 1, false);
	assert_comes_back(everything, sizeof everything - 1, true);
	(void)state;
}

static void a_real_manifest_comes_back_as_it_was(void **state)
{
	char path[4096];
	struct strbuf text = {0};
	const char *corpus = getenv("OPENETW_CORPUS");
	snprintf(path, sizeof path, "%s/tx/HTTP_Server.man", corpus ? corpus : "/nonexistent");
	if (file_read(path, 16u << 20, &text) < 0) {
		print_message("no %s\n", path);
		skip();
	}
	assert_comes_back(text.s, text.len, false);
	strbuf_finish(&text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_comes_back_as_it_was),
		cmocka_unit_test(a_real_manifest_comes_back_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
