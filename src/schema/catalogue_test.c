/* SPDX-License-Identifier: MIT
 *
 * The catalogue's text format, and the built-in files through the TDH and decode functions.
 */
#include "schema/catalogue.h"
#include "schema/schema_testing.h"
#include "schema/schema_manifest.h"

#include <pthread.h>

struct read_one {
	struct manifest manifest;
	struct diag diag;
	int err;
};

static int read_first(void *ctx, const struct catalogue_section *s)
{
	struct read_one *r = ctx;
	r->err = catalogue_read_section(s, &r->manifest, &r->diag);
	return 1;
}

static struct read_one read_text(const char *text)
{
	struct read_one r = {.err = -ENOENT};
	catalogue_each_section(text, strlen(text), read_first, &r);
	return r;
}

#define HEAD "manifest Acme-Rockets 11111111-2222-3333-4444-555555555555\n"

static void a_manifest_section_declares_names_maps_and_events(void **state)
{
	struct read_one r = read_text(HEAD "keyword 0x10 Fuel\n"
					   "task 7 Launch\n"
					   "opcode Launch 11 Abort\n"
					   "map Stage 1 First, 2 Second\n"
					   "bits Valves 0x1 Main, 0x2 Spare\n"
					   "event 5 Ignition task=Launch opcode=Abort level=4 "
					   "keywords=0x10\n"
					   "  0 u32:Stage Stage, # a comment\n"
					   "    wsz Name\n"
					   "  2 u32:Stage Stage, wsz Name, u8? Extra\n");
	assert_int_equal(r.err, 0);
	struct manifest_provider *p = r.manifest.providers;
	assert_string_equal(p->name, "Acme-Rockets");
	assert_int_equal(p->event_count, 2);
	struct schema_event *e;
	assert_int_equal(schema_manifest_event(p, p->events, SCHEMA_SOURCE_XML, &e), 0);
	assert_int_equal(le16_get(e->descriptor), 5);
	assert_int_equal(e->descriptor[5], 11);
	assert_int_equal(e->descriptor[4], 4);
	assert_int_equal(le16_get(e->descriptor + 6), 7);
	assert_string_equal(schema_text(e, e->task_name), "Launch");
	assert_string_equal(schema_text(e, e->opcode_name), "Abort");
	assert_string_equal(schema_text(e, e->level_name), "Information");
	assert_string_equal(schema_text(e, e->keywords), "Fuel");
	assert_int_equal(e->field_count, 2);
	assert_string_equal(schema_text(e, e->fields[0].map), "Stage");
	schema_event_destroy(e);
	manifest_finish(&r.manifest);
}

static void structs_arrays_and_sizes_refer_to_earlier_fields(void **state)
{
	struct read_one r = read_text(HEAD "let point = u16 X, u16 Y\n"
					   "event 1 Path\n"
					   "0 u32 Count, {@point, u8 N, u64 T[N]} Points[Count],\n"
					   "  u16 Size, bin(Size) Blob, wsz(4) Fixed, ptr Rest[*]\n");
	assert_int_equal(r.err, 0);
	struct schema_event *e;
	struct manifest_provider *p = r.manifest.providers;
	assert_int_equal(schema_manifest_event(p, p->events, SCHEMA_SOURCE_XML, &e), 0);
	assert_int_equal(e->top_count, 6);
	assert_int_equal(e->field_count, 10);
	struct blob b = {.n = 0};
	blob_u32(&b, 2);
	blob_u16(&b, 1), blob_u16(&b, 2), blob_u8(&b, 0);
	blob_u16(&b, 3), blob_u16(&b, 4), blob_u8(&b, 1), blob_u64(&b, 9);
	blob_u16(&b, 2), blob_hex(&b, "abcd");
	blob_wide(&b, "abcd");
	blob_u32(&b, 16), blob_u32(&b, 17);
	uint32_t unread = 99;
	struct schema_payload payload = {e, b.b, b.n, 4, NULL, &unread};
	struct openetw_text t = {0};
	assert_int_equal(schema_walk_json(&payload, &t), 0);
	assert_string_equal(t.data, "{\"Count\":2,\"Points\":[{\"X\":1,\"Y\":2,\"N\":0,\"T\":[]},"
				    "{\"X\":3,\"Y\":4,\"N\":1,\"T\":[9]}],\"Size\":2,"
				    "\"Blob\":\"abcd\",\"Fixed\":\"abcd\",\"Rest\":[\"0x10\",\"0x11\"]}");
	assert_int_equal(unread, 0);
	openetw_text_free(&t);
	schema_event_destroy(e);
	manifest_finish(&r.manifest);
}

static void mistakes_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{HEAD "event 1 A\n0 u99 X\n", "line 3: unknown type"},
		{HEAD "event 1 A\n0 u32 X[Later], u32 Later\n", "line 3: no such field"},
		{HEAD "event 1 A\n0 {u32 X Y\n", "line 3: "},
		{HEAD "event 1 A\n0 @nothing\n", "line 3: unknown alias"},
		{HEAD "let a = @a\nevent 1 A\n0 @a\n", "line 4: too deep"},
		{HEAD "0 u32 X\n", "line 2: fields without an event"},
		{HEAD "event 1 A task=None\n", "line 2: unknown task"},
		{HEAD "event A 1\n", "line 2: an event starts with its number"},
		{HEAD "nonsense\n", "line 2: unknown line"},
		{HEAD "event 1 A\n999 u32 X\n", "line 3: a version is below 256"},
		{HEAD "map M x y\n", "line 2: a map entry"},
		{HEAD "map M 1/3 y\n", "line 2: a map entry"},
		{HEAD "bits M 4/3 y\n", "line 2: a map entry"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct read_one r = read_text(cases[i].text);
		if (r.err != -EBADMSG || !strstr(r.diag.text, cases[i].says)) {
			fail_msg("case %zu: %d %s", i, r.err, r.diag.text);
		}
	}
}

static int check_builtin(void *ctx, const struct catalogue_section *s)
{
	struct manifest m;
	struct diag d = {0};
	unsigned *sections = ctx;
	if (catalogue_read_section(s, &m, &d) < 0) {
		fail_msg("%.*s: %s", (int)s->name_bytes, s->name, d.text);
	}
	for (struct manifest_event *e = m.providers->events; e; e = e->next) {
		struct schema_event *made;
		if (schema_manifest_event(m.providers, e, SCHEMA_SOURCE_WBEM, &made) != 0) {
			fail_msg("%.*s event %u: no schema", (int)s->name_bytes, s->name, e->id);
		}
		for (uint32_t i = 0; i < made->field_count; i++) {
			const struct manifest_map *map = m.providers->maps;
			const char *name = schema_text(made, made->fields[i].map);
			while (map && strcmp(map->name, name) != 0) {
				map = map->next;
			}
			if (*name && !map) {
				fail_msg("%.*s event %u: no map %s", (int)s->name_bytes, s->name, e->id, name);
			}
		}
		for (struct manifest_event *o = e->next; o; o = o->next) {
			if (o->id == e->id && o->version == e->version) {
				fail_msg("%.*s event %u twice", (int)s->name_bytes, s->name, e->id);
			}
		}
		schema_event_destroy(made);
	}
	manifest_finish(&m);
	++*sections;
	return 0;
}

static void every_builtin_section_is_sound(void **state)
{
	unsigned sections = 0;
	catalogue_each_section(catalogue_builtin, catalogue_builtin_bytes, check_builtin, &sections);
	assert_true(sections >= 25);
}

static void expect_text(const struct schema_map *m, uint32_t value, const char *text)
{
	struct openetw_text o = {0};
	assert_true(schema_map_text(m, value, &o, NULL));
	out_char(&o, 0);
	assert_string_equal(o.data, text);
	openetw_text_free(&o);
}

static void bits_may_be_a_number_together(void **state)
{
	struct read_one r = read_text(HEAD "bits Gear 0x1 Brake, 0x2/0x6 First, 0x4/0x6 Second, 0x8 Light\n"
					   "event 1 Shift\n 0 u32:Gear Gear\n");
	assert_int_equal(r.err, 0);
	struct schema_store *s = schema_store_create();
	const struct guid provider = r.manifest.providers->guid;
	assert_int_equal(schema_store_take_manifest(s, &r.manifest, SCHEMA_SOURCE_XML, "test"), 0);
	const struct schema_map *gear = schema_store_find_map(s, &provider, "Gear", 4);
	assert_non_null(gear);
	expect_text(gear, 0, "0");
	expect_text(gear, 0x1, "Brake");
	expect_text(gear, 0x4, "Second");
	expect_text(gear, 0xb, "Brake|Light|First");
	expect_text(gear, 0x7, "Brake|0x6"); /* a number without a name */
	/* Readers of the block see the bits that have a name of their own. */
	assert_int_equal(le32_get(gear->block + 8), 2);
	schema_store_destroy(s);
}

static const struct schema_map *clr_map(const char *provider, const char *name)
{
	struct guid g;
	assert_int_equal(guid_parse(provider, &g), 0);
	const struct schema_map *m = schema_process_find_map(&g, name, strlen(name));
	assert_non_null(m);
	return m;
}

static void flags_of_the_dotnet_runtime_have_the_names_of_later_runtimes(void **state)
{
	static const char *const providers[] = {"e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
						"a669021c-c450-4609-a035-5af59af4df18"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(providers); i++) {
		const struct schema_map *m = clr_map(providers[i], "MethodFlagsMap");
		expect_text(m, 0x8, "Jitted");
		expect_text(m, 0x188, "Jitted|QuickJitted");
		expect_text(m, 0x29c, "HasSharedGenericCode|Jitted|JitHelper|OptimizedTier1OSR");
		m = clr_map(providers[i], "ModuleFlagsMap");
		expect_text(m, 0x3a, "Native|Manifest|IbcOptimized|ReadyToRunModule");
	}
}

/* Sizes of the fixed-size kernel payloads, from SDK headers and records: with 8-byte pointers. */
static void kernel_payloads_have_their_documented_sizes(void **state)
{
	static const struct {
		const char *guid;
		uint16_t opcode;
		uint8_t version;
		unsigned pointer, bytes;
	} cases[] = {
		{"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 36, 2, 8, 24}, /* CSwitch */
		{"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 36, 4, 8, 24},
		{"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 50, 2, 8, 8},  /* ReadyThread */
		{"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", 10, 3, 8, 52}, /* DiskIo Read */
		{"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", 12, 3, 8, 12},
		{"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", 14, 3, 8, 28},
		{"3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", 32, 2, 8, 40}, /* HardFault */
		{"ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", 46, 2, 8, 16}, /* SampleProf */
		{"ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", 46, 2, 4, 12},
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 10, 3, 8, 828}, /* CPU */
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 11, 2, 8, 568}, /* PhyDisk */
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 12, 2, 8, 112},
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 14, 2, 8, 2584},
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 16, 2, 8, 8},
		{"01853a65-418f-4f36-aefc-dc0f1d2fd235", 35, 2, 8, 428},
		{"3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", 32, 2, 8, 104}, /* process counters */
		{"ae53722e-c863-11d2-8659-00c04fa321a1", 10, 1, 8, 30},  /* Registry of Server 2003 */
		{"222962ab-6180-4b88-a825-346b75f2a24a", 42, 2, 8, 52},  /* Heap Contract */
		{"222962ab-6180-4b88-a825-346b75f2a24a", 43, 2, 8, 8},   /* Lock */
		{"222962ab-6180-4b88-a825-346b75f2a24a", 46, 2, 4, 4},   /* Walk */
		{"c861d0e2-a2c1-4d36-9f9c-970bab943a12", 35, 2, 8, 8},   /* CallbackStop */
		{"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", 12, 0, 4, 4},   /* ReadInit */
		{"9a280ac0-c8e0-11d1-84e2-00c04fb998a2", 22, 1, 4, 28},  /* DupACK */
		{"3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", 100, 2, 8, 20}, /* HRRundown */
	};
	static const uint8_t zeros[4096];
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct guid g;
		uint32_t bytes = 0;
		assert_int_equal(guid_parse(cases[i].guid, &g), 0);
		const struct schema_event *e = schema_process_find(true, &g, cases[i].opcode, cases[i].version);
		assert_non_null(e);
		struct schema_payload p = {e, zeros, cases[i].bytes, cases[i].pointer, NULL, NULL};
		if (schema_walk_measure(&p, &bytes) != 0 || bytes != cases[i].bytes) {
			fail_msg("case %zu: %u bytes instead of %u", i, bytes, cases[i].bytes);
		}
	}
}

static void a_newer_version_is_read_as_the_newest_known(void **state)
{
	struct guid g;
	guid_parse("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", &g);
	const struct schema_event *four = schema_process_find(true, &g, 1, 4);
	assert_non_null(four);
	assert_ptr_equal(schema_process_find(true, &g, 1, 77), four);
	assert_null(schema_process_find(true, &g, 200, 4));
	guid_parse("9e814aad-3204-11d2-9a82-006008a86939", &g);
	assert_null(schema_process_find(true, &g, 1, 4));
}

static void a_field_that_came_later_may_be_missing(void **state)
{
	struct guid g;
	guid_parse("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", &g);
	const struct schema_event *e = schema_process_find(true, &g, 1, 3);
	uint8_t payload[80] = {7};
	struct openetw_text t = {0};
	struct schema_payload p = {e, payload, 72, 8, NULL, NULL};
	assert_int_equal(schema_walk_json(&p, &t), 0);
	assert_null(strstr(t.data, "ThreadName"));
	openetw_text_clear(&t);
	payload[72] = 'x';
	p.bytes = 76;
	assert_int_equal(schema_walk_json(&p, &t), 0);
	assert_non_null(strstr(t.data, "\"ThreadName\":\"x\""));
	openetw_text_free(&t);
}

/* .NET 4.5 and 4.5.2 write the same version with and without eight bytes before the last one. */
static void a_field_in_the_middle_may_be_missing(void **state)
{
	struct guid g;
	guid_parse("763fd754-7086-4dfe-95eb-c01a46faf4ca", &g);
	const struct schema_event *e = schema_process_find(false, &g, 4, 2);
	assert_non_null(e);
	uint8_t payload[433] = {0};
	struct openetw_text t = {0};
	for (int with = 0; with < 2; with++) {
		uint32_t bytes = 0;
		struct schema_payload p = {e, payload, with ? 433 : 425, 8, NULL, NULL};
		payload[424] = with ? 5 : 9;
		payload[432] = 9;
		openetw_text_clear(&t);
		assert_int_equal(schema_walk_json(&p, &t), 0);
		assert_int_equal(strstr(t.data, "\"ExtraGen0Commit\":5") != NULL, with);
		assert_non_null(strstr(t.data, "\"ClrInstanceID\":9}"));
		assert_int_equal(schema_walk_measure(&p, &bytes), 0);
		assert_int_equal(bytes, p.bytes);
	}
	openetw_text_free(&t);
}

/* What a runtime of .NET 7 wrote, and what PerfView shows of it. */
static void settings_of_a_garbage_collector_are_decoded(void **state)
{
	static const uint8_t payload[50] = {[8] = 0x08, 0x4c, 0x01, [44] = 0x15, [48] = 8};
	struct guid g;
	guid_parse("a669021c-c450-4609-a035-5af59af4df18", &g);
	const struct schema_event *e = schema_process_find(false, &g, 10, 0);
	assert_non_null(e);
	struct schema_payload p = {e, payload, sizeof payload, 8, NULL, NULL};
	struct openetw_text t = {0};
	assert_int_equal(schema_walk_json(&p, &t), 0);
	assert_string_equal(t.data, "{\"HardLimit\":\"0x0\",\"LOHThreshold\":85000,"
				    "\"PhysicalMemoryConfig\":0,\"Gen0MinBudgetConfig\":0,"
				    "\"Gen0MaxBudgetConfig\":0,\"HighMemPercentConfig\":0,"
				    "\"BitSettings\":\"Concurrent|FrozenSegments|NoAffinitize\","
				    "\"ClrInstanceID\":8}");
	openetw_text_free(&t);
}

/* A payload: 'p' a pointer in the width of the case, '4' a u32, 't' a text. */
static void put_payload(struct blob *p, unsigned width, const char *layout, const uint64_t *v, const char *text)
{
	for (; *layout; layout++) {
		if (*layout == 't') {
			for (const char *c = text; c == text || c[-1]; c++) {
				blob_u16(p, (uint8_t)*c);
			}
			continue;
		}
		blob_u32(p, (uint32_t)*v);
		if (*layout == 'p' && width == 8) {
			blob_u32(p, (uint32_t)(*v >> 32));
		}
		v++;
	}
}

static void kernel_events_written_by_a_program_of_another_width_are_decoded(void **state)
{
#define IMAGE  "2cb15d1d-5fc1-11d2-abe1-00a0c911f518"
#define FILEIO "90cbdc39-4a3e-11d1-84f4-0000f80464e3"
	static const struct {
		const char *guid;
		uint8_t opcode, version;
		const char *layout;
		uint64_t values[5];
		const char *text, *json;
	} cases[] = {
		{IMAGE,
		 3,
		 0,
		 "p4t",
		 {0x1160000, 0x19e000},
		 "C:\\code\\test.exe",
		 "{\"ImageBase\":\"0x1160000\",\"ImageSize\":1695744,\"FileName\":\"C:\\\\code\\\\test.exe\"}"},
		{IMAGE,
		 3,
		 0,
		 "p4t",
		 {0x1160000, 0x3c4a000},
		 "\\Device\\a.dll",
		 "{\"ImageBase\":\"0x1160000\",\"ImageSize\":63217664,\"FileName\":\"\\\\Device\\\\a.dll\"}"},
		{IMAGE,
		 3,
		 1,
		 "pp4t",
		 {0x1160000, 0x19e000, 7644},
		 "C:\\a.exe",
		 "{\"ImageBase\":\"0x1160000\",\"ImageSize\":1695744,\"ProcessId\":7644,\"FileName\":\"C:\\\\a.exe\"}"},
		{FILEIO,
		 0,
		 2,
		 "pt",
		 {0x8a0012f0},
		 "\\Device\\a",
		 "{\"FileObject\":\"0x8A0012F0\",\"FileName\":\"\\\\Device\\\\a\"}"},
	};
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text t = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		for (unsigned k = 0; k < 4; k++) {
			struct blob p = {.n = 0};
			struct record r;
			struct guid g;
			put_payload(&p, k & 1 ? 8 : 4, cases[i].layout, cases[i].values, cases[i].text);
			EVENT_RECORD *e = record_make(&r, NULL, &p);
			assert_int_equal(guid_parse(cases[i].guid, &g), 0);
			memcpy(&e->EventHeader.ProviderId, g.b, 16);
			e->EventHeader.Flags =
				EVENT_HEADER_FLAG_CLASSIC_HEADER |
				(k & 2 ? EVENT_HEADER_FLAG_64_BIT_HEADER : EVENT_HEADER_FLAG_32_BIT_HEADER);
			e->EventHeader.EventDescriptor.Opcode = cases[i].opcode;
			e->EventHeader.EventDescriptor.Version = cases[i].version;
			openetw_text_clear(&t);
			openetw_decode_json(d, e, &t);
			assert_string_equal(openetw_decoder_source(d, e), "the catalogue of OpenETW");
			if (strcasecmp(t.data, cases[i].json) != 0) {
				fail_msg("case %zu, written with %u-byte pointers, header says %u: %s", i,
					 k & 1 ? 8 : 4, k & 2 ? 8 : 4, t.data);
			}
		}
	}
	openetw_text_free(&t);
	openetw_decoder_destroy(d);
}

/* SampleProf: a pointer, a u32 and two u16. Cut off by as much as a pointer is wider on a 64-bit system. */
static void a_payload_that_is_cut_off_is_not_taken_for_one_with_narrow_pointers(void **state)
{
	static const struct {
		uint64_t address;
		const char *json;
	} cases[] = {
		{0xfffff80112345678, "{\"InstructionPointer\":\"0xFFFFF80112345678\",\"ThreadId\":4660"},
		{0x00007ff612345678, "{\"InstructionPointer\":\"0x7FF612345678\",\"ThreadId\":4660"},
		/* Nothing speaks against a program of 32 bits that said its thread and counts. */
		{0x0000123412345678, "{\"InstructionPointer\":\"0x12345678\",\"ThreadId\":4660,\"Count\":4660"},
	};
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text t = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct blob p = {.n = 0};
		struct record r;
		struct guid g;
		blob_u64(&p, cases[i].address);
		blob_u32(&p, 0x1234);
		EVENT_RECORD *e = record_make(&r, NULL, &p);
		assert_int_equal(guid_parse("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", &g), 0);
		memcpy(&e->EventHeader.ProviderId, g.b, 16);
		e->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
		e->EventHeader.EventDescriptor.Opcode = 46;
		openetw_text_clear(&t);
		assert_int_equal(openetw_decode_json(d, e, &t), i == 2 ? OPENETW_DECODED : OPENETW_PARTLY);
		if (strncasecmp(t.data, cases[i].json, strlen(cases[i].json)) != 0) {
			fail_msg("case %zu: %s", i, t.data);
		}
		/* TDH says the same. */
		PROPERTY_DATA_DESCRIPTOR name = {.PropertyName = (ULONGLONG)(uintptr_t)u"InstructionPointer",
						 .ArrayIndex = UINT32_MAX};
		ULONG size = 0;
		assert_int_equal(TdhGetPropertySize(e, 0, NULL, 1, &name, &size), ERROR_SUCCESS);
		assert_int_equal(size, i == 2 ? 4 : 8);
	}
	openetw_text_free(&t);
	openetw_decoder_destroy(d);
}

/* Several consumers decode at the same time, each with a decoder, all with the process's schemas. */
static void *decode_many(void *arg)
{
	static const char *const classes[] = {
		"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c",
		"01853a65-418f-4f36-aefc-dc0f1d2fd235", "90cbdc39-4a3e-11d1-84f4-0000f80464e3",
		"222962ab-6180-4b88-a825-346b75f2a24a"};
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text t = {0};
	uintptr_t decoded = 0;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < BASE_ARRAY_LEN(classes) * 64; i++) {
			struct record r;
			struct blob p = {.n = 200};
			struct guid g;
			EVENT_RECORD *e = record_make(&r, NULL, &p);
			guid_parse(classes[i % BASE_ARRAY_LEN(classes)], &g);
			memcpy(&e->EventHeader.ProviderId, g.b, 16);
			e->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
			e->EventHeader.EventDescriptor.Opcode = (UCHAR)(i / 5);
			e->EventHeader.EventDescriptor.Version = (UCHAR)(2 + round);
			openetw_text_clear(&t);
			decoded += openetw_decode_json(d, e, &t) != OPENETW_NO_SCHEMA;
		}
	}
	openetw_text_free(&t);
	openetw_decoder_destroy(d);
	return (void *)decoded;
}

static void decoders_of_several_threads_agree(void **state)
{
	pthread_t threads[4];
	void *decoded[4];
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, decode_many, NULL), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &decoded[i]);
	}
	assert_true((uintptr_t)decoded[0] > 100);
	for (int i = 1; i < 4; i++) {
		assert_ptr_equal(decoded[i], decoded[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_section_declares_names_maps_and_events),
		cmocka_unit_test(structs_arrays_and_sizes_refer_to_earlier_fields),
		cmocka_unit_test(mistakes_are_refused_with_their_line),
		cmocka_unit_test(every_builtin_section_is_sound),
		cmocka_unit_test(bits_may_be_a_number_together),
		cmocka_unit_test(flags_of_the_dotnet_runtime_have_the_names_of_later_runtimes),
		cmocka_unit_test(kernel_payloads_have_their_documented_sizes),
		cmocka_unit_test(a_newer_version_is_read_as_the_newest_known),
		cmocka_unit_test(a_field_that_came_later_may_be_missing),
		cmocka_unit_test(a_field_in_the_middle_may_be_missing),
		cmocka_unit_test(settings_of_a_garbage_collector_are_decoded),
		cmocka_unit_test(a_payload_that_is_cut_off_is_not_taken_for_one_with_narrow_pointers),
		cmocka_unit_test(kernel_events_written_by_a_program_of_another_width_are_decoded),
		cmocka_unit_test(decoders_of_several_threads_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
