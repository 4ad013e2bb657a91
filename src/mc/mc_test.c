/* SPDX-License-Identifier: MIT */
#include "mc/mc_template.h"

#include "xml/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct made {
	struct xml_doc doc;
	struct manifest m;
	struct mc *mc;
	struct strbuf header, resource, messages;
};

static char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	char *s = malloc(1 << 20);
	assert_non_null(s);
	*ret_n = fread(s, 1, 1 << 20, f);
	fclose(f);
	return s;
}

static int make(const char *xml, size_t n, const struct mc_options *o, struct made *w, struct diag *d)
{
	*w = (struct made){0};
	diag_clear(d);
	int err = xml_parse(xml, n, &w->doc, d);
	if (err < 0) {
		return err;
	}
	err = manifest_read_document(&w->doc, &w->m, d);
	if (err < 0) {
		xml_finish(&w->doc);
		return err;
	}
	err = mc_build(&w->m, o, &w->mc, d);
	if (err == 0) {
		mc_write_header(w->mc, &w->header);
		mc_write_messages(w->mc, 0, &w->messages);
		err = mc_write_template(w->mc, MC_FORMAT_5, &w->resource, d);
	}
	if (err < 0) {
		mc_destroy(w->mc);
		manifest_finish(&w->m);
		xml_finish(&w->doc);
		strbuf_finish(&w->header);
		strbuf_finish(&w->messages);
	}
	return err;
}

static void unmake(struct made *w)
{
	strbuf_finish(&w->header);
	strbuf_finish(&w->resource);
	strbuf_finish(&w->messages);
	mc_destroy(w->mc);
	manifest_finish(&w->m);
	xml_finish(&w->doc);
}

static void make_kitchen(struct made *w, const struct mc_options *o)
{
	size_t n;
	char *s = read_file(OPENETW_SOURCE_DIR "/samples/manifest-generated/kitchen.man", &n);
	struct diag d;
	if (make(s, n, o, w, &d) < 0) {
		fail_msg("%u:%u: %s", d.line, d.column, d.text);
	}
	free(s);
}

#define HEAD                                                                               \
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'" \
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>\n"        \
	"<instrumentation><events>\n"                                                      \
	"<provider name='Acme-Rockets' guid='{11111111-2222-3333-4444-555555555555}'"      \
	" symbol='ACME'"
#define TAIL "</provider></events></instrumentation></instrumentationManifest>"

static void contains(const struct made *w, const char *text)
{
	if (!strstr(w->header.s, text)) {
		fail_msg("the header lacks: %s", text);
	}
}

static void lacks(const struct made *w, const char *text)
{
	if (strstr(w->header.s, text)) {
		fail_msg("the header has: %s", text);
	}
}

static int make_text(const char *xml, struct made *w, struct diag *d)
{
	static const struct mc_options plain = {0};
	return make(xml, strlen(xml), &plain, w, d);
}

/* ---- header ----------------------------------------------------------------------------------- */

static void a_header_names_things_as_windows_does(void **state)
{
	(void)state;
	static const struct mc_options plain = {0};
	struct made w;
	make_kitchen(&w, &plain);
	static const char *const wanted[] = {
		"const GUID KITCHEN = {0xf3c1a5a0, 0x6a0e, 0x4b2c, "
		"{0x9d, 0x0b, 0x2f, 0x6f, 0x4a, 0x7c, 0x1e, 0x11}};",
		"#define KITCHEN_Traits NULL\n",
		"#define KITCHEN_OPERATIONAL 0x10\n",
		"#define KITCHEN_CHATTY 0x10\n",
		"#define KITCHEN_OPCODE_TURN 0xb\n",
		"#define KITCHEN_TASK_BAKE 0x2\n",
		"const GUID OrderId = {0x0a1b2c3d,",
		"#define KITCHEN_ORDERS 0x1\n",
		/* id, version, channel, level, opcode, task, keyword: the channel has the top bit */
		"OrderTaken = {0x1, 0x0, 0x10, 0x4, 0x1, 0x1, 0x8000000000000001};",
		"#define OrderTaken_value 0x1\n",
		"PieTurned = {0x3, 0x0, 0x0, 0x10, 0xb, 0x2, 0x2};",
		"typedef enum _KITCHEN_DISH_\n{\n    KITCHEN_DISH_SOUP = 1,\n",
		"OpenETW_Sample_KitchenEnableBits[1]",
		"OpenETW_Sample_KitchenKeywords[5] = {0x8000000000000001, 0x1, 0x2, 0x1, 0x0};",
		"OpenETW_Sample_KitchenLevels[5] = {4, 5, 16, 4, 3};",
		"#define OpenETW_Sample_KitchenHandle (KITCHEN_Context.RegistrationHandle)",
		"#define KITCHEN_EventWriteActivity 0\n",
		"#define EventRegisterOpenETW_Sample_Kitchen() McGenEventRegister(&KITCHEN, "
		"McGenControlCallbackV2, &KITCHEN_Context, &OpenETW_Sample_KitchenHandle)",
		"#define EventRegisterByGuidOpenETW_Sample_Kitchen(Guid)",
		"#define EventUnregisterOpenETW_Sample_Kitchen()",
		"#define EventEnabledServed() "
		"MCGEN_EVENT_BIT_SET(OpenETW_Sample_KitchenEnableBits, 3)",
		"#define EventWriteOrderTaken(Number, Guest, Dish, Extras)",
		"#define EventWriteOrderTaken_AssumeEnabled(Number, Guest, Dish, Extras)",
		"#define EventWriteServed_ForContext(pContext, Number, Plate_Len_, Plate)",
		"#define EventWriteKitchenCloses()",
		"_mcgen_PASTE2(McTemplateU0qzqq_, MCGEN_EVENTWRITETRANSFER)",
		"_mcgen_PASTE2(McTemplateU0shbr1a_, MCGEN_EVENTWRITETRANSFER)",
		"_mcgen_PASTE2(McTemplateU0hLR0U3tjg_, MCGEN_EVENTWRITETRANSFER)",
		"_mcgen_PASTE2(McTemplateU0qn_, MCGEN_EVENTWRITETRANSFER)",
		"_mcgen_PASTE2(McTemplateU0_, MCGEN_EVENTWRITETRANSFER)",
		"#define MSG_Event_OrderTaken                 0xB0000001L\n",
		"#define MSG_Level_Chatty                     0x50000010L\n",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wanted); i++) {
		contains(&w, wanted[i]);
	}
	unmake(&w);
}

static void options_change_the_macros(void **state)
{
	(void)state;
	struct mc_options o = {.prefix = "Log", .strip = "Order", .activity = true};
	struct made w;
	make_kitchen(&w, &o);
	contains(&w, "#define LogTaken(Activity, Number, Guest, Dish, Extras)");
	contains(&w, "(MCGEN_EVENT_ENABLED(OrderTaken)");
	contains(&w, "#define KITCHEN_EventWriteActivity 1\n");
	contains(&w, "_mcgen_PASTE2(McTemplateK0qzqq_, MCGEN_EVENTWRITETRANSFER)");
	lacks(&w, "EventWriteOrderTaken(");
	unmake(&w);
	o = (struct mc_options){.no_code = true};
	make_kitchen(&w, &o);
	contains(&w, "OrderTaken = {0x1,");
	lacks(&w, "McTemplate");
	lacks(&w, "EventRegister");
	unmake(&w);
}

static void providers_with_traits_carry_them(void **state)
{
	(void)state;
	static const char xml[] = HEAD " controlGuid='{aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee}'>"
				       "<traits groupGuid='{01020304-0506-0708-090a-0b0c0d0e0f10}' includeName='true'/>"
				       "<events><event value='3'/></events>" TAIL;
	static const struct mc_options plain = {0};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	/* 2 for the size, 13 for the name, 19 for the group, 19 for the id that decodes */
	contains(&w, "\"\\x35\\x00\" /* 53 bytes */");
	contains(&w, "\"Acme-Rockets\\x00\"");
	contains(&w, "\"\\x13\\x00\\x01\\x04\\x03\\x02\\x01\\x06\\x05\\x08\\x07\\x09\\x0A");
	contains(&w, "\"\\x13\\x00\\x02\\x11\\x11\\x11\\x11\\x22\\x22");
	contains(&w, "ACME_ControlGuid = {0xaaaaaaaa,");
	contains(&w, "#define ACME_Handle (ACME_Context.RegistrationHandle)");
	contains(&w, "#define EventRegister_ACME() McGenEventRegisterContext(&ACME_ControlGuid, "
		     "McGenControlCallbackV2, &ACME_Context, &ACME_Context)");
	/* events without a channel are on ProviderMetadata's */
	contains(&w, "ACME_EVENT_0x3_0_c_0_0_0_0 = {0x3, 0x0, 0xc, 0x0, 0x0, 0x0, 0x0};");
	unmake(&w);
}

static void events_not_logged_keep_their_bit_only(void **state)
{
	(void)state;
	static const char xml[] = HEAD "><events><event value='1' symbol='One' level='win:Error'/>"
				       "<event value='2' symbol='Two' level='win:Warning' notLogged='true'/>"
				       "<event value='3' symbol='Three' level='win:Verbose'/></events>" TAIL;
	static const struct mc_options plain = {0};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	contains(&w, "Acme_RocketsLevels[3] = {2, 3, 5};");
	contains(&w, "#define EventEnabledThree() MCGEN_EVENT_BIT_SET(Acme_RocketsEnableBits, 2)");
	lacks(&w, "EventWriteTwo");
	unmake(&w);
}

static void type_codes_are_those_of_windows(void **state)
{
	(void)state;
	static const struct {
		const char *fields, *codes;
	} rows[] = {
		{"<data name='A' inType='win:UnicodeString'/><data name='B' inType='win:AnsiString'/>", "zs"},
		{"<data name='A' inType='win:Int8'/><data name='B' inType='win:UInt8'/>"
		 "<data name='C' inType='win:Int16'/><data name='D' inType='win:UInt16'/>"
		 "<data name='E' inType='win:Int32'/><data name='F' inType='win:UInt32'/>"
		 "<data name='G' inType='win:Int64'/><data name='H' inType='win:UInt64'/>",
		 "culhdqix"},
		{"<data name='A' inType='win:Float'/><data name='B' inType='win:Double'/>"
		 "<data name='C' inType='win:Boolean'/><data name='D' inType='win:GUID'/>"
		 "<data name='E' inType='win:Pointer'/><data name='F' inType='win:FILETIME'/>"
		 "<data name='G' inType='win:SYSTEMTIME'/><data name='H' inType='win:SID'/>"
		 "<data name='I' inType='win:HexInt32'/><data name='J' inType='win:HexInt64'/>",
		 "fgtjpmykdi"},
		{"<data name='A' inType='win:CountedUnicodeString'/>"
		 "<data name='B' inType='win:CountedAnsiString'/>"
		 "<data name='C' inType='win:CountedBinary'/>",
		 "wae"},
		{"<data name='A' inType='win:Binary' length='3'/>"
		 "<data name='B' inType='win:Binary' length='3' count='5'/>",
		 "b3B15"},
		{"<data name='N' inType='win:UInt32'/>"
		 "<data name='A' inType='win:UInt32' count='N'/>"
		 "<data name='B' inType='win:UnicodeString' count='N'/>"
		 "<data name='C' inType='win:Binary' length='N'/>"
		 "<data name='D' inType='win:Binary' length='3' count='N'/>",
		 "qQR0ZRbr0B3r0"},
		{"<data name='A' inType='win:UnicodeString' length='7'/>"
		 "<data name='B' inType='win:AnsiString' count='4'/>"
		 "<data name='C' inType='win:Int8' count='1'/>"
		 "<data name='D' inType='win:Int8' count='5'/>",
		 "z7SRcC5"},
		{"<data name='N' inType='win:UInt8'/><data name='M' inType='win:UInt8'/>"
		 "<data name='A' inType='win:UnicodeString' length='N' count='M'/>"
		 "<data name='B' inType='win:AnsiString' length='N' count='2'/>",
		 "uuZr0R1S2r0"},
		{"<data name='N' inType='win:UInt8'/><struct name='A'><data name='X' "
		 "inType='win:UInt8'/></struct><struct name='B' count='N'><data name='X' "
		 "inType='win:UInt8'/></struct><struct name='C' count='3'><data name='X' "
		 "inType='win:UInt8'/></struct>",
		 "unNR0N3"},
	};
	static const struct mc_options plain = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		char xml[4096], name[128];
		struct made w;
		struct diag d;
		int n = snprintf(xml, sizeof xml,
				 "%s><templates><template tid='T'>%s</template></templates><events>"
				 "<event value='1' symbol='E' template='T'/></events>%s",
				 HEAD, rows[i].fields, TAIL);
		if (make(xml, (size_t)n, &plain, &w, &d) < 0) {
			fail_msg("row %zu: %s", i, d.text);
		}
		snprintf(name, sizeof name, "#ifndef McTemplateU0%s_def\n", rows[i].codes);
		contains(&w, name);
		unmake(&w);
	}
}

static void nothing_escapes_comments_and_strings(void **state)
{
	(void)state;
	static const char xml[] = "<instrumentationManifest><instrumentation><events>"
				  "<provider name='Q&quot;*/x?&#63;=\\' guid='{11111111-2222-3333-4444-555555555555}' "
				  "symbol='ACME'><traits includeName='true'/><events><event value='1' symbol='E' "
				  "message='*/ int x; /*'/></events></provider></events></instrumentation>"
				  "</instrumentationManifest>";
	static const struct mc_options plain = {.source = "a*/b"};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	lacks(&w, "*/ int x");
	lacks(&w, "a*/b");
	contains(&w, "\"Q\\\"*/x\\077\\077=\\\\\\x00\"");
	unmake(&w);
}

/* ---- mistakes --------------------------------------------------------------------------------- */

static void mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	static const struct {
		const char *xml, *text;
		uint32_t line, column;
	} rows[] = {
		{HEAD ">\n<events>\n <event value='1' level='Louder'/></events>" TAIL, "Louder", 5, 19},
		{HEAD ">\n<events><event value='1' symbol='2fast'/></events>" TAIL, "no C identifier", 4, 9},
		{HEAD ">\n<events><event value='1' symbol='E'/>\n<event value='2' symbol='E'/></events>" TAIL,
		 "two events have the symbol 'E'", 5, 1},
		{HEAD ">\n<events><event value='1' template='Nope'/></events>" TAIL, "there is no template 'Nope'", 4,
		 26},
		{HEAD ">\n<events><event value='99999'/></events>" TAIL, "99999", 4, 16},
		{HEAD ">\n<events><event value='1' message='$(string.x)'/></events>" TAIL,
		 "there is no string for '$(string.x)'", 4, 26},
		{HEAD ">\n<templates><template tid='T'><data name='A' inType='win:Number'/>"
		      "</template></templates>" TAIL,
		 "unknown inType 'win:Number'", 4, 45},
		{HEAD ">\n<templates><template tid='T'><data name='A' inType='win:UInt8'/>\n<UserData>"
		      "<a>%2</a></UserData></template></templates>" TAIL,
		 "number of no field", 5, 11},
		{"<instrumentationManifest><instrumentation><events>\n<provider name='A' "
		 "guid='{11111111-2222-3333-4444-555555555555}'>" TAIL,
		 "needs a symbol", 2, 1},
		{HEAD ">\n<events></event>" TAIL, "", 4, 0},
	};
	static const struct mc_options plain = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct made w;
		struct diag d;
		assert_int_equal(make(rows[i].xml, strlen(rows[i].xml), &plain, &w, &d), -EBADMSG);
		if (!strstr(d.text, rows[i].text) || d.line != rows[i].line ||
		    (rows[i].column && d.column != rows[i].column)) {
			fail_msg("row %zu: %u:%u: %s", i, d.line, d.column, d.text);
		}
	}
}

static void two_texts_never_share_an_id(void **state)
{
	(void)state;
	static const char xml[] = HEAD "><events><event value='1' symbol='A' message='one'/>"
				       "<event value='1' symbol='B' message='two'/></events>" TAIL;
	static const struct mc_options plain = {0};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "0xB0000001"));
}

/* ---- resources -------------------------------------------------------------------------------- */

/* The message table as anybody reads it. */
static const char *message(void *ctx, uint32_t id)
{
	static char text[512];
	const struct strbuf *b = ctx;
	struct bytes t = bytes_of(b->s, b->len);
	uint32_t blocks = bytes_u32(&t);
	while (blocks--) {
		uint32_t low = bytes_u32(&t), high = bytes_u32(&t), at = bytes_u32(&t);
		if (id < low || id > high) {
			continue;
		}
		const uint8_t *p = (const uint8_t *)b->s + at;
		for (; low < id; low++) {
			p += le16_get(p);
		}
		assert_int_equal(le16_get(p + 2), 1);
		utf16_to_utf8(p + 4, (size_t)(le16_get(p) - 4) / 2, text, sizeof text);
		return text;
	}
	return NULL;
}

static void messages_have_documented_ids_and_texts(void **state)
{
	(void)state;
	static const struct mc_options plain = {0};
	static const struct {
		uint32_t id;
		const char *text;
	} rows[] = {
		{0x10000001, "Orders\r\n"},
		{0x10000002, "Oven\r\n"},
		{0x3002000B, "Turn\r\n"},
		{0x50000010, "Chatty\r\n"},
		{0x50000004, "Information\r\n"},
		{0x70000001, "Order\r\n"},
		{0x90000001, "OpenETW-Sample-Kitchen\r\n"},
		{0xB0000003, "The pies were turned.\r\n"},
		{0xD0000002, "pie\r\n"},
		{0xF0000001, "salt\r\n"},
	};
	struct made w;
	make_kitchen(&w, &plain);
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		const char *s = message(&w.messages, rows[i].id);
		assert_non_null(s);
		assert_string_equal(s, rows[i].text);
	}
	assert_null(message(&w.messages, 0xB0000002));
	assert_int_equal(mc_language_count(w.mc), 2);
	strbuf_clear(&w.messages);
	mc_write_messages(w.mc, 1, &w.messages);
	assert_string_equal(message(&w.messages, 0x50000010), "Geschwätzig\r\n");
	struct strbuf rc = {0};
	mc_write_rc(w.mc, "kitchen", "", &rc);
	assert_string_equal(rc.s, "LANGUAGE 0x9,0x1\r\n1 11 \"MSG00001.bin\"\r\n"
				  "LANGUAGE 0x7,0x1\r\n1 11 \"MSG00002.bin\"\r\n"
				  "1 WEVT_TEMPLATE \"kitchenTEMP.BIN\"\r\n");
	strbuf_finish(&rc);
	unmake(&w);
}

static void same_text(const char *a, const char *b)
{
	assert_string_equal(a ? a : "", b ? b : "");
}

static void same_items(const struct manifest_item *a, const struct manifest_item *b)
{
	for (; a && b; a = a->next, b = b->next) {
		same_text(a->name, b->name);
		assert_int_equal(a->is_struct, b->is_struct);
		assert_int_equal(a->in_type, b->in_type);
		assert_int_equal(a->out_type, b->out_type);
		assert_int_equal(a->count, b->count_of ? a->count : b->count);
		same_text(a->count_of ? a->count_of->name : "", b->count_of ? b->count_of->name : "");
		same_text(a->length_of ? a->length_of->name : "", b->length_of ? b->length_of->name : "");
		same_text(a->map ? a->map->name : "", b->map ? b->map->name : "");
		same_items(a->members, b->members);
	}
	assert_true(!a && !b);
}

static void read_back(unsigned format)
{
	static const struct mc_options plain = {0};
	struct made w;
	struct manifest back;
	struct diag d;
	make_kitchen(&w, &plain);
	diag_clear(&d);
	strbuf_clear(&w.resource);
	assert_int_equal(mc_write_template(w.mc, format, &w.resource, &d), 0);
	int err = manifest_read_binary(w.resource.s, w.resource.len, message, &w.messages, &back, &d);
	if (err < 0) {
		fail_msg("%s", d.text);
	}
	const struct manifest_provider *p = w.m.providers, *q = back.providers;
	assert_memory_equal(p->guid.b, q->guid.b, 16);
	same_text(format == MC_FORMAT_5 ? p->name : p->message, q->name);
	const struct manifest_event *e = p->events, *f = q->events;
	for (; e && f; e = e->next, f = f->next) {
		assert_int_equal(e->id, f->id);
		assert_int_equal(e->version, f->version);
		assert_int_equal(e->channel, f->channel);
		assert_int_equal(e->level, f->level);
		assert_int_equal(e->opcode, f->opcode);
		assert_int_equal(e->task, f->task);
		assert_int_equal(e->keyword, f->keyword);
		same_text(e->text, f->text);
		assert_int_equal(!e->template, !f->template);
		if (e->template) {
			same_items(e->template->items, f->template->items);
		}
	}
	assert_true(!e && !f);
	for (int kind = 0; kind < MANIFEST_KIND_COUNT; kind++) {
		for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
			const struct manifest_name *task =
				n->task ? manifest_find_value(q, MANIFEST_TASK, n->task->value, NULL) : NULL;
			const struct manifest_name *k =
				manifest_find_value(q, (enum manifest_kind)kind, n->value, task);
			assert_non_null(k);
			same_text(n->name, k->name);
			same_text(n->text, k->text);
		}
	}
	size_t maps = 0;
	for (const struct manifest_map *m = p->maps; m; m = m->next) {
		for (const struct manifest_map *o = q->maps; o; o = o->next) {
			if (strcmp(m->name, o->name) == 0) {
				maps++;
				assert_int_equal(m->bits, o->bits);
				assert_int_equal(m->entry_count, o->entry_count);
				same_text(m->entries->text, o->entries->text);
			}
		}
	}
	assert_int_equal(maps, 2);
	manifest_finish(&back);
	unmake(&w);
}

static void a_resource_is_read_back_as_the_manifest(void **state)
{
	(void)state;
	read_back(MC_FORMAT_5);
	read_back(MC_FORMAT_3);
}

/* What Windows' compiler 10.0.18362 gives a template of one text called Field. */
static void template_ids_are_those_of_windows(void **state)
{
	(void)state;
	static const char xml[] = HEAD "><templates><template tid='T'><data name='Field' inType='win:UnicodeString'/>"
				       "</template></templates>" TAIL;
	static const uint8_t id[16] = {0x06, 0xdb, 0x31, 0x1c, 0x06, 0x90, 0x36, 0x59,
				       0x65, 0xdb, 0xde, 0x38, 0xd3, 0x24, 0x5c, 0x0e};
	static const struct mc_options plain = {0};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	const char *at = memmem(w.resource.s, w.resource.len, "TEMP", 4);
	assert_non_null(at);
	assert_memory_equal(at + 24, id, 16);
	/* the binary XML: head, then an element that depends on nothing */
	assert_memory_equal(at + 40, "\x0F\x01\x01\x00\x01\xFF\xFF", 7);
	unmake(&w);
}

static void a_resource_is_laid_out_as_windows_does(void **state)
{
	(void)state;
	/* One provider, one event on no channel: CRIM head, its row, WEVT head, six lists. */
	static const char xml[] = HEAD "><events><event value='1' symbol='E'/></events>" TAIL;
	static const struct mc_options plain = {0};
	struct made w;
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	const char *s = w.resource.s;
	assert_memory_equal(s, "CRIM", 4);
	assert_int_equal(le32_get(s + 4), w.resource.len - 2);
	assert_int_equal(le32_get(s + 8), 0x00010005);
	assert_int_equal(le32_get(s + 12), 1);
	assert_memory_equal(s + 16, w.m.providers->guid.b, 16);
	assert_int_equal(le32_get(s + 32), 36);
	assert_memory_equal(s + 36, "WEVT", 4);
	assert_int_equal(le32_get(s + 44), UINT32_MAX);
	assert_int_equal(le32_get(s + 48), 6);
	static const struct {
		uint32_t kind;
		const char *tag;
	} lists[] = {{13, "PRVA"}, {2, "OPCO"}, {0, "LEVL"}, {1, "TASK"}, {3, "KEYW"}, {4, "EVNT"}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		assert_int_equal(le32_get(s + 52 + 8 * i), lists[i].kind);
		uint32_t at = le32_get(s + 56 + 8 * i);
		assert_memory_equal(s + at, lists[i].tag, 4);
		assert_true(lists[i].kind != 4 || at % 8 == 0);
	}
	unmake(&w);
}

/* As compilers until 10.0.15063: places for eleven lists, those without a list empty; no attributes. */
static void format_3_has_neither_names_nor_attributes(void **state)
{
	(void)state;
	static const char xml[] =
		HEAD "><events><event value='1' symbol='E' name='Name' attributes='a=b'/></events>" TAIL;
	static const struct mc_options plain = {0};
	static const struct {
		uint32_t kind;
		const char *tag;
	} lists[] = {{2, "OPCO"}, {0, "LEVL"}, {1, "TASK"}, {3, "KEYW"}, {4, "EVNT"}};
	struct made w;
	struct strbuf b = {0};
	struct diag d;
	assert_int_equal(make(xml, sizeof xml - 1, &plain, &w, &d), 0);
	assert_non_null(memmem(w.resource.s, w.resource.len, "EVTA", 4));
	assert_int_equal(mc_write_template(w.mc, MC_FORMAT_3, &b, &d), 0);
	assert_int_equal(le32_get(b.s + 8), 0x00010003);
	assert_int_equal(le32_get(b.s + 48), BASE_ARRAY_LEN(lists));
	for (size_t i = 0; i < 11; i++) {
		bool used = i < BASE_ARRAY_LEN(lists);
		uint32_t kind = le32_get(b.s + 52 + 8 * i), at = le32_get(b.s + 56 + 8 * i);
		assert_int_equal(kind, used ? lists[i].kind : 0);
		assert_int_equal(at == 0, !used);
		assert_true(!used || memcmp(b.s + at, lists[i].tag, 4) == 0);
	}
	assert_memory_equal(b.s + 52 + 8 * 11, "OPCO", 4);
	assert_null(memmem(b.s, b.len, "PRVA", 4));
	assert_null(memmem(b.s, b.len, "EVTA", 4));
	strbuf_finish(&b);
	unmake(&w);
}

static void sha256_gives_the_published_values(void **state)
{
	(void)state;
	static const uint8_t abc[8] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea};
	static const uint8_t two[8] = {0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8};
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t h[32];
	mc_sha256("abc", 3, h);
	assert_memory_equal(h, abc, 8);
	mc_sha256(text, sizeof text - 1, h);
	assert_memory_equal(h, two, 8);
}

/* A manifest with strings "level.Error" and so on has texts and names of its own for what everybody
 * may use, as the manifest editor writes them. */
static void own_strings_stand_for_those_of_winmeta(void **state)
{
	(void)state;
	struct made w;
	struct diag d;
	int err = make_text(HEAD "><opcodes/><events><event symbol='E' value='1' level='win:Error' "
				 "opcode='win:DC_Start' keywords='win:EventlogClassic'/></events>"
				 "</provider></events></instrumentation><localization><resources "
				 "culture='en-US'><stringTable><string id='level.Error' value='Oops'/>"
				 "<string id='opcode.DCStart' value='Begin'/><string id='keyword.Classic' "
				 "value='Old'/></stringTable></resources></localization>"
				 "</instrumentationManifest>",
			    &w, &d);
	if (err < 0) {
		fail_msg("%s", d.text);
	}
	contains(&w, "#define MSG_level_Error                      0x50000002L\n");
	contains(&w, "#define MSG_opcode_DCStart                   0x30000003L\n");
	contains(&w, "#define MSG_keyword_Classic                  0x10000038L\n");
	static const uint8_t oops[] = {'O', 0, 'o', 0, 'p', 0, 's', 0, '\r', 0, '\n', 0, 0, 0};
	assert_non_null(memmem(w.messages.s, w.messages.len, oops, sizeof oops));
	unmake(&w);
}

/* As in a published message table whose manifest has a text with a line feed. */
static void lines_of_messages_end_as_on_windows(void **state)
{
	(void)state;
	struct made w;
	struct diag d;
	assert_int_equal(make_text(HEAD " message='a&#10;b&#13;&#10;c'>" TAIL, &w, &d), 0);
	static const uint8_t text[] = {'a',  0, '\r', 0, '\n', 0, 'b',  0, '\r', 0,
				       '\n', 0, 'c',  0, '\r', 0, '\n', 0, 0,    0};
	assert_non_null(memmem(w.messages.s, w.messages.len, text, sizeof text));
	unmake(&w);
}

static void an_insert_needs_its_field(void **state)
{
	(void)state;
#define MESSAGE(text)                                                                            \
	HEAD "><templates><template tid='t'><data name='a' inType='win:UInt8'/>"                 \
	     "<data name='b' inType='win:UInt8'/></template></templates>\n"                      \
	     "<events><event symbol='E' value='1' template='t' message='$(string.s)'/></events>" \
	     "</provider></events></instrumentation><localization><resources culture='en-US'>"   \
	     "<stringTable><string id='s' value='" text "'/></stringTable></resources>"          \
	     "</localization></instrumentationManifest>"
	struct made w;
	struct diag d;
	assert_int_equal(make_text(MESSAGE("%1 %2!x! %%7 %n%t 100%%"), &w, &d), 0);
	unmake(&w);
	assert_int_equal(make_text(MESSAGE("%1 of %7"), &w, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "insert %7, the event 2 fields: '$(string.s)'"));
	assert_int_equal(d.line, 4);
#undef MESSAGE
}

static void fields_without_a_usable_name_are_told_apart(void **state)
{
	(void)state;
	struct made w;
	struct diag d;
	assert_int_equal(make_text(HEAD "><templates><template tid='t'>"
					"<data name='^' inType='win:UInt8'/>"
					"<data name='\xC3\xA9' inType='win:UInt8'/></template></templates>"
					"<events><event symbol='E' value='1' template='t'/></events>" TAIL,
				   &w, &d),
			 0);
	contains(&w, "#define EventWriteE(__0, ___1)");
	unmake(&w);
}

/* Two providers' tasks of one name, each with a class GUID. */
static void a_guid_of_a_task_is_defined_once(void **state)
{
	(void)state;
#define TASK                                                                                   \
	"<tasks><task name='T' value='1' eventGUID='{aaaaaaaa-0000-0000-0000-000000000001}'/>" \
	"</tasks>"
	struct made w;
	struct diag d;
	assert_int_equal(make_text(HEAD ">" TASK "</provider><provider name='Q' symbol='Q' "
					"guid='{11111111-2222-3333-4444-555555555556}'>" TASK TAIL,
				   &w, &d),
			 0);
	contains(&w, "#ifndef _TId_def\n#define _TId_def\n");
	unmake(&w);
#undef TASK
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_names_things_as_windows_does),
		cmocka_unit_test(options_change_the_macros),
		cmocka_unit_test(providers_with_traits_carry_them),
		cmocka_unit_test(events_not_logged_keep_their_bit_only),
		cmocka_unit_test(type_codes_are_those_of_windows),
		cmocka_unit_test(nothing_escapes_comments_and_strings),
		cmocka_unit_test(mistakes_are_told_with_their_place),
		cmocka_unit_test(two_texts_never_share_an_id),
		cmocka_unit_test(messages_have_documented_ids_and_texts),
		cmocka_unit_test(a_resource_is_read_back_as_the_manifest),
		cmocka_unit_test(template_ids_are_those_of_windows),
		cmocka_unit_test(a_resource_is_laid_out_as_windows_does),
		cmocka_unit_test(format_3_has_neither_names_nor_attributes),
		cmocka_unit_test(own_strings_stand_for_those_of_winmeta),
		cmocka_unit_test(lines_of_messages_end_as_on_windows),
		cmocka_unit_test(an_insert_needs_its_field),
		cmocka_unit_test(fields_without_a_usable_name_are_told_apart),
		cmocka_unit_test(a_guid_of_a_task_is_defined_once),
		cmocka_unit_test(sha256_gives_the_published_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
