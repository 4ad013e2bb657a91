/* SPDX-License-Identifier: MIT
 *
 * Instrumentation manifests as XML and as resource, and manifests in the stream.
 */
#include "manifest/manifest.h"
#include "schema/schema_eventsource.h"
#include "schema/schema_testing.h"

#include <stdio.h>

#define TOP                                                                                 \
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' " \
	"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events' "            \
	"xmlns:w='http://manifests.microsoft.com/win/2004/08/windows/events' "              \
	"xmlns:xs='http://www.w3.org/2001/XMLSchema'><instrumentation><events>\n"
#define PROVIDER "<provider name='Acme-Rockets' guid='{11111111-2222-3333-4444-555555555555}'>\n"
#define BOTTOM                                                                                   \
	"</provider></events></instrumentation><localization>"                                   \
	"<resources culture='de-DE'><stringTable><string id='s' value='Falsch'/></stringTable>"  \
	"</resources><resources culture='en-US'><stringTable><string id='s' value='Rocket %1'/>" \
	"<string id='m' value='First'/></stringTable></resources></localization>"                \
	"</instrumentationManifest>"

static const char whole[] =
	TOP PROVIDER "<channels><importChannel chid='app' name='Application'/>"
		     "<channel name='Acme/Operational' chid='op' type='Operational'/>"
		     "<channel name='Acme/Debug' type='Debug' value='30'/></channels>"
		     "<levels><level name='Loud' value='16' message='$(string.s)'/></levels>"
		     "<tasks><task name='Launch' value='7' eventGUID='{aaaaaaaa-0000-0000-0000-000000000001}'>"
		     "<opcodes><opcode name='Abort' value='11'/></opcodes></task><task name='Land' "
		     "value='8'/></tasks>"
		     "<opcodes><opcode name='Abort' value='12' message='$(string.m)'/></opcodes>"
		     "<keywords><keyword name='Fuel' mask='0x10'/><keyword name='Air' mask='0x20' "
		     "message='$(string.m)'/></keywords>"
		     "<maps><valueMap name='Stage'><map value='1' message='$(string.m)'/></valueMap>"
		     "<bitMap name='Valves'><map value='0x1' message='$(string.m)'/>"
		     "<map value='0x2' message='plain'/></bitMap></maps>"
		     "<templates><template tid='T1'>"
		     "<data name='Count' inType='win:UInt16'/>"
		     "<data name='Stage' inType='win:UInt32' map='Stage'/>"
		     "<data name='Valves' inType='w:HexInt32' map='Valves'/>"
		     "<data name='Name' inType='win:UnicodeString' outType='xs:string'/>"
		     "<data name='Values' inType='win:UInt8' count='Count'/>"
		     "<data name='Blob' inType='win:Binary' length='Count'/>"
		     "<data name='Fixed' inType='win:AnsiString' length='3'/>"
		     "<struct name='Points' count='2'><data name='X' inType='win:Int16'/>"
		     "<data name='Y' inType='win:Int16' outType='xs:short'/></struct>"
		     "<data name='Addr' inType='win:Binary' outType='win:IPv6' />"
		     "<data name='Port' intype='win:UInt16' outtype='win:Port'/>"
		     "</template></templates>"
		     "<events><event value='5' version='1' level='win:Error' task='Launch' opcode='Abort' "
		     "keywords='Fuel  Air win:ResponseTime' channel='op' template='T1' symbol='IGNITION' "
		     "message='$(string.s)'/>"
		     "<event value='6' level='Loud' task='Land' opcode='Abort'/>"
		     "<event value='7' opcode='w:Start'/></events>" BOTTOM;

static struct manifest read_good(const char *text)
{
	struct manifest m;
	struct diag d = {0};
	if (manifest_read_xml(text, strlen(text), &m, &d) != 0) {
		fail_msg("%u:%u %s", d.line, d.column, d.text);
	}
	return m;
}

static void names_values_and_texts_are_resolved(void **state)
{
	struct manifest m = read_good(whole);
	struct manifest_provider *p = m.providers;
	struct manifest_event *five = p->events, *six = five->next, *seven = six->next;
	assert_string_equal(p->name, "Acme-Rockets");
	assert_int_equal(p->event_count, 3);
	assert_int_equal(five->level, 2);
	assert_int_equal(five->task, 7);
	assert_int_equal(five->opcode, 11); /* the task's own before the provider's */
	assert_int_equal(six->opcode, 12);
	assert_int_equal(seven->opcode, 1);
	assert_int_equal(five->channel, 16);
	assert_int_equal(p->names[MANIFEST_CHANNEL]->value, 9);
	/* Fuel, Air, the response-time bit and the second channel's bit */
	assert_true(five->keyword == (0x30ull | 1ull << 48 | 1ull << 62));
	assert_string_equal(five->text, "Rocket %1");
	assert_string_equal(five->symbol, "IGNITION");
	assert_string_equal(six->level_of->text, "Rocket %1");
	assert_string_equal(six->opcode_of->text, "First");
	assert_int_equal(five->pos.line, 3);
	manifest_finish(&m);
}

/* A build tool's provider is published like this: a part for each of its areas. */
static void lists_may_come_in_parts(void **state)
{
	struct manifest m = read_good(
		TOP PROVIDER "<tasks><task name='A' value='1'/></tasks><templates><template tid='a'/></templates>"
			     "<events><event value='1' task='B' template='b' keywords='k2'/></events>"
			     "<keywords><keyword name='k1' mask='1'/></keywords>"
			     "<tasks><task name='B' value='2'/></tasks><maps/><templates/>"
			     "<templates><template tid='b'><data name='x' inType='win:UInt8' map='M'/></template>"
			     "</templates><keywords><keyword name='k2' mask='2'/></keywords>"
			     "<maps><valueMap name='M'><map value='1' message='$(string.m)'/></valueMap></maps>"
			     "<events/><events><event value='2' task='A' message='$(string.late)'/></events>"
			     "</provider></events><events><provider name='Q' "
			     "guid='{11111111-2222-3333-4444-555555555556}'/></events></instrumentation>"
			     "<localization><resources culture='en-US'><stringTable><string id='m' value='1'/>"
			     "</stringTable><stringTable><string id='late' value='Late'/></stringTable>"
			     "</resources></localization></instrumentationManifest>");
	struct manifest_provider *p = m.providers;
	assert_int_equal(p->event_count, 2);
	assert_int_equal(p->events->task, 2);
	assert_int_equal(p->events->keyword, 2);
	assert_non_null(p->events->template->items->map);
	assert_string_equal(p->events->next->text, "Late");
	assert_string_equal(p->next->name, "Q");
	manifest_finish(&m);
}

/* As tools write them that make manifests out of what is installed. */
static void dumped_manifests_can_be_read(void **state)
{
	struct manifest m =
		read_good(TOP PROVIDER "<templates><template tid='t'><data name='a' inType='win:UInt8'/>"
				       "<data name='b' inType='win:Binary'/></template></templates>"
				       "<events><event value='1' level='win:Always' template='t'/></events>" BOTTOM);
	struct manifest_event *e = m.providers->events;
	assert_int_equal(e->level, 0);
	assert_true(e->template->items->next->to_end);
	manifest_finish(&m);
}

/* As the manifests of Windows' own components are written. */
static void a_manifest_may_stand_in_that_of_an_assembly(void **state)
{
	struct manifest m =
		read_good("<assembly xmlns='urn:schemas-microsoft-com:asm.v3' manifestVersion='1.0'>"
			  "<assemblyIdentity name='Acme' version='$(build.version)'/><instrumentation>"
			  "<events xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
			  "<provider name='Acme-Rockets' guid='{11111111-2222-3333-4444-555555555555}' "
			  "symbol='P' resourceFileName='a' messageFileName='a'><events>"
			  "<event value='0x00072775' keywords='win:EventlogClassic' message='$(string.s)'/>"
			  "<event value='010' version='08'/>"
			  "</events></provider></events></instrumentation>"
			  "<localization><resources culture='en-US'><stringTable><string id='s' value='Text'/>"
			  "</stringTable></resources></localization></assembly>");
	struct manifest_event *classic = m.providers->events, *ten = classic->next;
	assert_int_equal(classic->id, 0x2775); /* without severity and facility */
	assert_string_equal(classic->text, "Text");
	assert_int_equal(ten->id, 10); /* not octal */
	assert_int_equal(ten->version, 8);
	manifest_finish(&m);
}

static void a_payload_is_read_with_the_template(void **state)
{
	struct manifest m = read_good(whole);
	struct schema_store *store = schema_store_create();
	struct guid g = m.providers->guid;
	assert_int_equal(schema_store_take_manifest(store, &m, SCHEMA_SOURCE_XML, "k"), 0);
	const struct schema_event *e = schema_store_resolve(store, false, &g, 5, 1);
	assert_non_null(e);
	assert_null(schema_store_resolve(store, false, &g, 5, 2)); /* versions are exact */
	struct blob b = {.n = 0};
	blob_u16(&b, 2), blob_u32(&b, 1), blob_u32(&b, 7), blob_wsz(&b, "N");
	blob_hex(&b, "0102aabb"), blob_add(&b, "abc", 3);
	blob_u16(&b, 1), blob_u16(&b, 2), blob_u16(&b, 0xFFFF), blob_u16(&b, 4);
	blob_hex(&b, "00000000000000000000000000000001"), blob_hex(&b, "0050");
	struct openetw_text t = {0};
	uint32_t unread;
	struct schema_payload p = {e, b.b, b.n, 8, store, &unread};
	assert_int_equal(schema_walk_json(&p, &t), 0);
	assert_string_equal(t.data, "{\"Count\":2,\"Stage\":\"First\",\"Valves\":\"First|plain|0x4\","
				    "\"Name\":\"N\",\"Values\":[1,2],\"Blob\":\"aabb\",\"Fixed\":\"abc\","
				    "\"Points\":[{\"X\":1,\"Y\":2},{\"X\":-1,\"Y\":4}],\"Addr\":\"::1\","
				    "\"Port\":80}");
	assert_int_equal(unread, 0);
	assert_string_equal(schema_text(e, e->keywords), "Fuel");
	assert_int_equal(e->keywords.bytes, sizeof "Fuel\0First\0Response Time");
	assert_int_equal(schema_store_drop_manifest(store, "k"), 0);
	assert_null(schema_store_resolve(store, false, &g, 5, 1));
	assert_int_equal(schema_store_drop_manifest(store, "k"), -ENOENT);
	openetw_text_free(&t);
	schema_store_destroy(store);
}

/* As FormatMessage documents its inserts and escapes. */
static void a_message_shows_its_inserts_in_the_form_it_asks_for(void **state)
{
	static const char text[] = TOP PROVIDER
		"<templates><template tid='T'><data name='a' inType='win:UInt32'/><data name='b' "
		"inType='win:UnicodeString'/><data name='c' inType='win:Int32'/></template></templates>"
		"<events><event value='1' template='T' message='%1 %1!08X! %1!#x! %1!5d!| [%2] [%2!s!] "
		"[%2!-6s!] [%2!6.2S!] %3!d! %3!x! %2!d! 100%% %%5 %n%t%.%!s %9 %1!oops %0never'/></events>" BOTTOM;
	struct manifest m = read_good(text);
	struct schema_store *store = schema_store_create();
	struct guid g = m.providers->guid;
	assert_int_equal(schema_store_take_manifest(store, &m, SCHEMA_SOURCE_XML, "k"), 0);
	const struct schema_event *e = schema_store_resolve(store, false, &g, 1, 0);
	assert_non_null(e);
	struct blob b = {.n = 0};
	blob_u32(&b, 0xbeef), blob_hex(&b, "e4006200630000000000"), b.n -= 2, blob_u32(&b, (uint32_t)-2);
	struct openetw_text t = {0};
	struct schema_payload p = {e, b.b, b.n, 8, store, NULL};
	schema_message_format(&p, &t);
	assert_string_equal(t.data, "48879 0000BEEF beef 48879| [äbc] [äbc] [äbc   ] [    äb] -2 "
				    "fffffffe äbc 100% %5 \n\t.!s %9 48879!oops ");
	openetw_text_free(&t);
	schema_store_destroy(store);
}

static void mistakes_are_refused_with_line_and_column(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *says;
	} cases[] = {
		{"<a/>", 1, 1, "not an instrumentationManifest"},
		{TOP "<provider name='x'/></events></instrumentation></instrumentationManifest>", 2, 1,
		 "needs name and guid"},
		{TOP PROVIDER "<events><event/></events>" BOTTOM, 3, 9, "needs a value"},
		{TOP PROVIDER "<events><event value='70000'/></events>" BOTTOM, 3, 16,
		 "'70000' is not a number that fits"},
		{TOP PROVIDER "<events><event value='1' template='x'/></events>" BOTTOM, 3, 26, "no template 'x'"},
		{TOP PROVIDER "<events><event value='1' task='x'/></events>" BOTTOM, 3, 26, "'x' is not declared"},
		{TOP PROVIDER "<templates><template tid='t'><data name='a' "
			      "inType='win:Int9'/></template></templates>" BOTTOM,
		 3, 45, "unknown inType 'win:Int9'"},
		{TOP PROVIDER "<templates><template tid='t'><data name='a' inType='win:Binary' "
			      "length='b'/></template></templates>" BOTTOM,
		 3, 65, "no field 'b'"},
		{TOP PROVIDER "<templates><template tid='t'><data name='a' inType='win:UInt8' "
			      "count='b'/></template></templates>" BOTTOM,
		 3, 64, "no field 'b'"},
		{TOP PROVIDER "<templates><template tid='t'><data name='a' inType='win:UInt8' "
			      "length='4'/></template></templates>" BOTTOM,
		 3, 64, "takes no length"},
		{TOP PROVIDER "<maps><valueMap name='m'><map value='1' message='$(string.no)'/>"
			      "</valueMap></maps>" BOTTOM,
		 3, 26, "no string"},
		{TOP PROVIDER "<keywords><keyword name='k'/></keywords>" BOTTOM, 3, 11, "'k' needs a value"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct manifest m;
		struct diag d = {0};
		int err = manifest_read_xml(cases[i].text, strlen(cases[i].text), &m, &d);
		if (err != -EBADMSG || d.line != cases[i].line || d.column != cases[i].column ||
		    !strstr(d.text, cases[i].says)) {
			fail_msg("case %zu: %d %u:%u %s", i, err, d.line, d.column, d.text);
		}
	}
}

/* ---- in the stream ---------------------------------------------------------------------------- */

static int send(struct schema_chunks *c, struct schema_store *s, const struct guid *g, uint32_t pid, unsigned total,
		unsigned number)
{
	uint8_t chunk[8 + sizeof whole];
	size_t each = (sizeof whole - 1 + total - 1) / total, at = each * number;
	size_t n = BASE_MIN(each, sizeof whole - 1 - at);
	chunk[0] = 1, chunk[1] = 1, chunk[2] = 0, chunk[3] = 0x5B;
	le16_put(chunk + 4, (uint16_t)total);
	le16_put(chunk + 6, (uint16_t)number);
	memcpy(chunk + 8, whole + at, n);
	struct diag d = {0};
	return schema_chunks_add(c, g, pid, 1, chunk, 8 + n, s, &d);
}

static void chunks_come_in_any_order_and_mixed(void **state)
{
	struct schema_chunks *c = schema_chunks_create();
	struct schema_store *s = schema_store_create();
	struct guid g, other = {{9}};
	guid_parse("11111111-2222-3333-4444-555555555555", &g);
	assert_int_equal(send(c, s, &g, 1, 3, 2), 0);
	assert_int_equal(send(c, s, &other, 1, 3, 0), 0);
	assert_int_equal(send(c, s, &g, 2, 3, 1), 0); /* another process */
	assert_int_equal(send(c, s, &g, 1, 3, 0), 0);
	assert_int_equal(send(c, s, &g, 1, 3, 0), 0); /* twice */
	assert_null(schema_store_provider(s, false, &g));
	assert_int_equal(send(c, s, &g, 1, 3, 1), 1);
	assert_non_null(schema_store_resolve_sent(s, &g, 5, 1));
	assert_int_equal(send(c, s, &g, 2, 3, 0), 0);
	assert_int_equal(send(c, s, &other, 1, 3, 3), -EBADMSG);
	schema_store_destroy(s);
	schema_chunks_destroy(c);
}

static void unfinished_manifests_cannot_fill_memory(void **state)
{
	struct schema_chunks *c = schema_chunks_create();
	struct schema_store *s = schema_store_create();
	uint8_t chunk[60000] = {1, 1, 0, 0x5B, 0xFF, 0xFF, 0, 0};
	for (uint32_t i = 0; i < 4000; i++) {
		struct guid g = {{1}};
		le32_put(g.b + 4, i / 10);
		le16_put(chunk + 6, (uint16_t)(i % 10));
		assert_int_equal(schema_chunks_add(c, &g, 1, 1, chunk, sizeof chunk, s, NULL), 0);
	}
	schema_store_destroy(s);
	schema_chunks_destroy(c);
}

/* ---- resources --------------------------------------------------------------------------------- */

static void put_name(struct blob *b, const char *name)
{
	uint32_t bytes = 4 + 2 * (uint32_t)strlen(name) + 2;
	blob_u32(b, bytes), blob_wsz(b, name);
	while (b->n % 4) {
		blob_u8(b, 0);
	}
}

static const char *test_message(void *ctx, uint32_t id)
{
	return id == 0x90000001   ? "Acme-Rockets"
	       : id == 0x70000007 ? "Launch\r\n"
	       : id == 0xD0000001 ? "First"
	       : id == 0xB0000005 ? "Rocket %1\r\n"
				  : NULL;
}

/* One provider: task 7, opcode 11 of it, keyword 1, map Stage, event 5 with count, array, struct. */
static void make_crim(struct blob *b)
{
	b->n = 0;
	blob_add(b, "CRIM", 4), blob_u32(b, 0), blob_u16(b, 3), blob_u16(b, 1), blob_u32(b, 1);
	blob_hex(b, "11111111222233334444555555555555"), blob_u32(b, 36);
	blob_add(b, "WEVT", 4), blob_u32(b, 0), blob_u32(b, 0x90000001), blob_u32(b, 5);
	blob_u32(b, 0);
	size_t elements = b->n;
	for (int i = 0; i < 10; i++) {
		blob_u32(b, 0);
	}
	size_t names = b->n, at;
	put_name(b, "LaunchTask");
	size_t abort_name = b->n;
	put_name(b, "Abort");
	size_t fuel = b->n;
	put_name(b, "Fuel");
	size_t stage = b->n;
	put_name(b, "Stage");
	size_t fields[4];
	static const char *const field_names[] = {"N", "Stage", "P", "X"};
	for (int i = 0; i < 4; i++) {
		fields[i] = b->n;
		put_name(b, field_names[i]);
	}
	at = b->n; /* tasks */
	le32_put(b->b + elements, (uint32_t)at);
	blob_add(b, "TASK", 4), blob_u32(b, 40), blob_u32(b, 1);
	blob_u32(b, 7), blob_u32(b, 0x70000007), blob_u64(b, 0), blob_u64(b, 0);
	blob_u32(b, (uint32_t)names);
	at = b->n; /* opcodes */
	le32_put(b->b + elements + 8, (uint32_t)at);
	blob_add(b, "OPCO", 4), blob_u32(b, 24), blob_u32(b, 1);
	blob_u32(b, 11u << 16 | 7), blob_u32(b, UINT32_MAX), blob_u32(b, (uint32_t)abort_name);
	at = b->n; /* keywords */
	le32_put(b->b + elements + 16, (uint32_t)at);
	blob_add(b, "KEYW", 4), blob_u32(b, 28), blob_u32(b, 1);
	blob_u64(b, 1), blob_u32(b, UINT32_MAX), blob_u32(b, (uint32_t)fuel);
	at = b->n; /* maps: offsets, then the maps */
	le32_put(b->b + elements + 24, (uint32_t)at);
	blob_add(b, "MAPS", 4), blob_u32(b, 44), blob_u32(b, 1);
	size_t vmap = b->n + 4;
	blob_u32(b, (uint32_t)vmap);
	blob_add(b, "VMAP", 4), blob_u32(b, 28), blob_u32(b, (uint32_t)stage), blob_u32(b, 0);
	blob_u32(b, 1), blob_u32(b, 1), blob_u32(b, 0xD0000001);
	size_t temp = b->n;
	blob_add(b, "TEMP", 4), blob_u32(b, 120), blob_u32(b, 3), blob_u32(b, 4);
	blob_u32(b, (uint32_t)temp + 40), blob_u32(b, 1), blob_u64(b, 0), blob_u64(b, 0);
	blob_u32(b, 0), blob_u8(b, TDH_INTYPE_UINT16), blob_u8(b, 0), blob_u16(b, 0);
	blob_u32(b, 0), blob_u16(b, 1), blob_u16(b, 2), blob_u32(b, (uint32_t)fields[0]);
	blob_u32(b, 0), blob_u8(b, TDH_INTYPE_UINT32), blob_u8(b, 0), blob_u16(b, 0);
	blob_u32(b, (uint32_t)vmap), blob_u16(b, 1), blob_u16(b, 4);
	blob_u32(b, (uint32_t)fields[1]);
	blob_u32(b, 0x11), blob_u16(b, 3), blob_u16(b, 1); /* a struct, counted by a field */
	blob_u32(b, 0), blob_u16(b, 0), blob_u16(b, 0), blob_u32(b, (uint32_t)fields[2]);
	blob_u32(b, 0), blob_u8(b, TDH_INTYPE_INT8), blob_u8(b, TDH_OUTTYPE_BYTE), blob_u16(b, 0);
	blob_u32(b, 0), blob_u16(b, 1), blob_u16(b, 1), blob_u32(b, (uint32_t)fields[3]);
	at = b->n; /* events */
	le32_put(b->b + elements + 32, (uint32_t)at);
	blob_add(b, "EVNT", 4), blob_u32(b, 64), blob_u32(b, 1), blob_u32(b, 0);
	blob_u16(b, 5), blob_u8(b, 1), blob_u8(b, 0), blob_u8(b, 4), blob_u8(b, 11);
	blob_u16(b, 7), blob_u64(b, 1), blob_u32(b, 0xB0000005), blob_u32(b, (uint32_t)temp);
	for (int i = 0; i < 6; i++) {
		blob_u32(b, 0);
	}
	le32_put(b->b + 4, (uint32_t)b->n);
}

static void check_resource(struct manifest *m)
{
	struct schema_store *store = schema_store_create();
	struct guid g = m->providers->guid;
	assert_string_equal(m->providers->name, "Acme-Rockets");
	assert_int_equal(schema_store_take_manifest(store, m, SCHEMA_SOURCE_XML, ""), 0);
	const struct schema_event *e = schema_store_resolve(store, false, &g, 5, 1);
	assert_non_null(e);
	assert_string_equal(schema_text(e, e->task_name), "Launch");
	assert_string_equal(schema_text(e, e->opcode_name), "Abort");
	assert_string_equal(schema_text(e, e->keywords), "Fuel");
	assert_string_equal(schema_text(e, e->message), "Rocket %1");
	static const uint8_t payload[] = {2, 0, 1, 0, 0, 0, 5, 0xFF};
	struct openetw_text t = {0};
	struct schema_payload p = {e, payload, sizeof payload, 8, store, NULL};
	assert_int_equal(schema_walk_json(&p, &t), 0);
	assert_string_equal(t.data, "{\"N\":2,\"Stage\":\"First\",\"P\":[{\"X\":5},{\"X\":-1}]}");
	openetw_text_free(&t);
	schema_store_destroy(store);
}

static void a_resource_declares_the_same(void **state)
{
	struct blob b;
	struct manifest m;
	struct diag d = {0};
	make_crim(&b);
	assert_int_equal(manifest_read_binary(b.b, b.n, test_message, NULL, &m, &d), 0);
	check_resource(&m);
	for (size_t n = 0; n < b.n; n++) { /* cut anywhere: refused or less of it, never worse */
		uint8_t *cut = malloc(n + 1);
		memcpy(cut, b.b, n);
		if (manifest_read_binary(cut, n, test_message, NULL, &m, NULL) == 0) {
			manifest_finish(&m);
		}
		free(cut);
	}
}

static size_t put_directory(struct blob *b, unsigned named, unsigned ids)
{
	blob_u32(b, 0), blob_u32(b, 0), blob_u32(b, 0), blob_u16(b, (uint16_t)named);
	blob_u16(b, (uint16_t)ids);
	size_t at = b->n;
	for (unsigned i = 0; i < 2 * (named + ids); i++) {
		blob_u32(b, 0);
	}
	return at;
}

/* 64-bit PE with one section that holds the two resources. */
static void make_pe(struct blob *b, const struct blob *crim)
{
	b->n = 0;
	blob_add(b, "MZ", 2);
	while (b->n < 0x3C) {
		blob_u8(b, 0);
	}
	blob_u32(b, 0x40);
	blob_add(b, "PE\0\0", 4), blob_u16(b, 0x8664), blob_u16(b, 1), blob_u32(b, 0);
	blob_u32(b, 0), blob_u32(b, 0), blob_u16(b, 240), blob_u16(b, 0);
	size_t optional = b->n;
	blob_u16(b, 0x20B);
	while (b->n < optional + 240) {
		blob_u8(b, 0);
	}
	le32_put(b->b + optional + 112 + 16, 0x1000);
	blob_add(b, ".rsrc\0\0\0", 8), blob_u32(b, 0x1000), blob_u32(b, 0x1000);
	blob_u32(b, 0x1800), blob_u32(b, 0x200);
	while (b->n < 0x200) {
		blob_u8(b, 0);
	}
	size_t types = put_directory(b, 1, 1);
	size_t d[2][2];
	for (int i = 0; i < 2; i++) {
		le32_put(b->b + types + 8 * (size_t)i + 4, 0x80000000u | (uint32_t)(b->n - 0x200));
		d[i][0] = put_directory(b, 0, 1);
		le32_put(b->b + d[i][0], 1);
		le32_put(b->b + d[i][0] + 4, 0x80000000u | (uint32_t)(b->n - 0x200));
		d[i][1] = put_directory(b, 0, 1);
		le32_put(b->b + d[i][1], 0x409);
	}
	le32_put(b->b + types, 0x80000000u | (uint32_t)(b->n - 0x200));
	blob_u16(b, 13), blob_wide(b, "WEVT_TEMPLATE");
	le32_put(b->b + types + 8, 11);
	size_t entries[2];
	for (int i = 0; i < 2; i++) {
		entries[i] = b->n;
		le32_put(b->b + d[i][1] + 4, (uint32_t)(b->n - 0x200));
		blob_u64(b, 0), blob_u64(b, 0);
	}
	le32_put(b->b + entries[0], (uint32_t)(b->n - 0x200 + 0x1000));
	le32_put(b->b + entries[0] + 4, (uint32_t)crim->n);
	blob_add(b, crim->b, crim->n);
	size_t messages = b->n;
	static const uint32_t ids[] = {0x70000007, 0x90000001, 0xB0000005, 0xD0000001};
	le32_put(b->b + entries[1], (uint32_t)(b->n - 0x200 + 0x1000));
	blob_u32(b, 4);
	for (int i = 0; i < 4; i++) {
		blob_u32(b, ids[i]), blob_u32(b, ids[i]), blob_u32(b, 0);
	}
	for (size_t i = 0; i < 4; i++) {
		const char *s = test_message(NULL, ids[i]);
		le32_put(b->b + messages + 4 + 12 * i + 8, (uint32_t)(b->n - messages));
		bool wide = i != 1;
		blob_u16(b, (uint16_t)(4 + (strlen(s) + 1) * (wide ? 2 : 1))), blob_u16(b, wide);
		if (wide) {
			blob_wsz(b, s);
		} else {
			blob_asz(b, s);
		}
	}
	le32_put(b->b + entries[1] + 4, (uint32_t)(b->n - messages));
	while (b->n < 0x1A00) {
		blob_u8(b, 0);
	}
}

static void a_pe_file_gives_resource_and_messages(void **state)
{
	struct blob crim, pe;
	struct manifest m;
	struct diag d = {0};
	make_crim(&crim);
	make_pe(&pe, &crim);
	int err = manifest_read_pe(pe.b, pe.n, &m, &d);
	if (err != 0) {
		fail_msg("%d %s", err, d.text);
	}
	check_resource(&m);
	assert_int_equal(manifest_read_pe("MZ", 2, &m, NULL), -EBADMSG);
	memset(pe.b + 0x58 + 112 + 16, 0, 4);
	assert_int_equal(manifest_read_pe(pe.b, pe.n, &m, NULL), -ENOENT);
}

/* `schema_manifest_test DIR` writes the binary forms as seeds for manifest_fuzz. */
static void write_seed(const char *dir, const char *name, const struct blob *b)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	if (f) {
		fwrite(b->b, 1, b->n, f);
		fclose(f);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		struct blob crim, pe;
		make_crim(&crim);
		make_pe(&pe, &crim);
		write_seed(argv[1], "small.crim", &crim);
		write_seed(argv[1], "small.dll", &pe);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_values_and_texts_are_resolved),
		cmocka_unit_test(lists_may_come_in_parts),
		cmocka_unit_test(dumped_manifests_can_be_read),
		cmocka_unit_test(a_manifest_may_stand_in_that_of_an_assembly),
		cmocka_unit_test(a_payload_is_read_with_the_template),
		cmocka_unit_test(a_message_shows_its_inserts_in_the_form_it_asks_for),
		cmocka_unit_test(mistakes_are_refused_with_line_and_column),
		cmocka_unit_test(chunks_come_in_any_order_and_mixed),
		cmocka_unit_test(unfinished_manifests_cannot_fill_memory),
		cmocka_unit_test(a_resource_declares_the_same),
		cmocka_unit_test(a_pe_file_gives_resource_and_messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
