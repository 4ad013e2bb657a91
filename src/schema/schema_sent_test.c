/* SPDX-License-Identifier: MIT
 *
 * Several manifests of one EventSource: which of them decodes an event.
 */
#include "schema/schema_testing.h"

#include <stdio.h>

/* Event 1 of test_provider with these <data> elements, in a manifest named after its build. */
static void make_manifest(struct blob *k, const char *build, const char *fields, const char *more)
{
	k->n = 0;
	blob_u8(k, 1), blob_u8(k, 1), blob_u8(k, 0), blob_u8(k, 0x5B), blob_u16(k, 1), blob_u16(k, 0);
	k->n += (size_t)snprintf(
		(char *)k->b + k->n, sizeof k->b - k->n,
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
		"<instrumentation xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><events>"
		"<provider name='Shop' guid='{01020304-0506-0708-090a-0b0c0d0e0f10}' symbol='%s'>"
		"<templates><template tid='T'>%s</template></templates>%s"
		"<events><event value='1' version='0' template='T'/></events></provider></events></instrumentation>"
		"<localization><resources culture='en-US'><stringTable><string id='a' value='red'/>"
		"<string id='b' value='blue'/></stringTable></resources></localization></instrumentationManifest>",
		build, fields, more);
	assert_true(k->n < sizeof k->b);
}

static EVENT_RECORD *chunk(struct record *t, const struct blob *manifest, ULONG pid)
{
	EVENT_RECORD *r = record_make(t, NULL, manifest);
	r->EventHeader.EventDescriptor.Id = 0xFFFE;
	r->EventHeader.EventDescriptor.Opcode = 0xFE;
	r->EventHeader.ProcessId = pid;
	return r;
}

static void send(struct openetw_decoder *d, ULONG pid, const char *build, const char *fields)
{
	struct blob m;
	struct record t;
	make_manifest(&m, build, fields, "");
	openetw_decoder_learn(d, chunk(&t, &m, pid));
}

/* What the decoder makes of event 1 of a process. */
static const char *decoded(struct openetw_decoder *d, ULONG pid, const char *payload_hex)
{
	static struct openetw_text o;
	struct blob p = {.n = 0};
	struct record t;
	blob_hex(&p, payload_hex);
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	r->EventHeader.EventDescriptor.Id = 1;
	r->EventHeader.ProcessId = pid;
	openetw_text_clear(&o);
	if (openetw_decode_json(d, r, &o) != OPENETW_NO_SCHEMA) {
		assert_string_equal(openetw_decoder_source(d, r), "the program (its EventSource sent a manifest)");
	} else {
		assert_string_equal(openetw_decoder_source(d, r), "");
	}
	return strncmp(o.data, "{\"_raw\"", 7) == 0 ? "none" : o.data;
}

#define OLD  "<data name='Count' inType='win:UInt32'/><data name='Price' inType='win:UInt32'/>"
#define NEW  "<data name='Price' inType='win:UInt32'/><data name='Count' inType='win:UInt32'/>"
#define WIDE "<data name='Price' inType='win:UInt64'/><data name='Count' inType='win:UInt32'/>"

static void events_are_read_with_the_manifest_of_their_own_process(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	for (int round = 0; round < 2; round++) { /* sent again at the end of each process */
		send(d, 10, "old", OLD);
		send(d, 20, "new", NEW);
		assert_string_equal(decoded(d, 10, "0100000002000000"), "{\"Count\":1,\"Price\":2}");
		assert_string_equal(decoded(d, 20, "0100000002000000"), "{\"Price\":1,\"Count\":2}");
		assert_string_equal(decoded(d, 10, "0300000004000000"), "{\"Count\":3,\"Price\":4}");
	}
	/* A process without a manifest: the newest one there is. */
	assert_string_equal(decoded(d, 30, "0100000002000000"), "{\"Price\":1,\"Count\":2}");
	/* The number of a process that ended is used again by another build. */
	send(d, 10, "new", NEW);
	assert_string_equal(decoded(d, 10, "0100000002000000"), "{\"Price\":1,\"Count\":2}");
	send(d, 10, "old", OLD);
	assert_string_equal(decoded(d, 10, "0100000002000000"), "{\"Count\":1,\"Price\":2}");
	openetw_decoder_destroy(d);
}

static void no_manifest_makes_the_length_wrong(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	send(d, 10, "wide", WIDE);
	send(d, 20, "old", OLD);
	assert_string_equal(decoded(d, 10, "010000000000000002000000"), "{\"Price\":1,\"Count\":2}");
	/* Of process 10 too, before it sent the newer one, or of a second source in it. */
	assert_string_equal(decoded(d, 10, "0100000002000000"), "{\"Count\":1,\"Price\":2}");
	assert_string_equal(decoded(d, 30, "0100000002000000"), "{\"Count\":1,\"Price\":2}");
	assert_string_equal(decoded(d, 30, "010000000000000002000000"), "{\"Price\":1,\"Count\":2}");
	/* Nothing describes six bytes, and other processes' manifests are not bent to them. */
	assert_string_equal(decoded(d, 30, "010000000200"), "none");
	assert_non_null(strstr(openetw_decoder_reason(d), "another length"));
	openetw_decoder_destroy(d);
}

static void a_payload_that_contradicts_its_own_manifest_is_shown_as_such(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	send(d, 10, "old", OLD);
	send(d, 20, "new", NEW);
	assert_non_null(strstr(decoded(d, 10, "010000000200"), "\"Count\":1"));
	assert_non_null(strstr(decoded(d, 10, "010000000200"), "_error"));
	openetw_decoder_destroy(d);
}

static void maps_of_two_manifests_do_not_mix(void **state)
{
	static const char fields[] = "<data name='Colour' inType='win:UInt32' map='M'/>";
	struct openetw_decoder *d = openetw_decoder_create();
	struct blob m;
	struct record t;
	make_manifest(&m, "one", fields,
		      "<maps><valueMap name='M'><map value='1' message='$(string.a)'/></valueMap></maps>");
	openetw_decoder_learn(d, chunk(&t, &m, 10));
	make_manifest(&m, "two", fields,
		      "<maps><valueMap name='M'><map value='1' message='$(string.b)'/></valueMap></maps>");
	openetw_decoder_learn(d, chunk(&t, &m, 20));
	assert_string_equal(decoded(d, 10, "01000000"), "{\"Colour\":\"red\"}");
	assert_string_equal(decoded(d, 20, "01000000"), "{\"Colour\":\"blue\"}");
	openetw_decoder_destroy(d);
}

static void tdh_follows_the_same_rule(void **state)
{
	struct blob m, p = {.n = 0};
	struct record t;
	_Alignas(8) uint8_t buffer[2048];
	static const struct {
		ULONG pid;
		const char *first;
	} cases[] = {{101, "Count"}, {102, "Price"}, {103, "Price"}};
	make_manifest(&m, "old", OLD, "");
	assert_int_equal(openetw_schema_learn(chunk(&t, &m, 101)), 1);
	make_manifest(&m, "new", NEW, "");
	assert_int_equal(openetw_schema_learn(chunk(&t, &m, 102)), 1);
	assert_int_equal(openetw_schema_learn(chunk(&t, &m, 102)), 0); /* nothing new */
	blob_hex(&p, "0100000002000000");
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		EVENT_RECORD *r = record_make(&t, NULL, &p);
		r->EventHeader.EventDescriptor.Id = 1;
		r->EventHeader.ProcessId = cases[i].pid;
		ULONG size = sizeof buffer;
		TRACE_EVENT_INFO *info = (TRACE_EVENT_INFO *)(void *)buffer;
		assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_SUCCESS);
		char name[16] = "";
		for (size_t k = 0; k < 15 && le16_get(buffer + info->EventPropertyInfoArray[0].NameOffset + 2 * k);
		     k++) {
			name[k] = (char)buffer[info->EventPropertyInfoArray[0].NameOffset + 2 * k];
		}
		assert_string_equal(name, cases[i].first);
		r->UserDataLength = 6;
		assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size),
				 cases[i].pid == 103 ? ERROR_NOT_FOUND : ERROR_SUCCESS);
	}
}

static void a_manifest_speaks_for_its_sender_only(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	struct blob m;
	struct record t;
	make_manifest(&m, "old", OLD, "");
	EVENT_RECORD *r = chunk(&t, &m, 10);
	r->EventHeader.ProviderId.Data1++; /* of another provider */
	openetw_decoder_learn(d, r);
	assert_string_equal(decoded(d, 10, "0100000002000000"), "none");
	openetw_decoder_destroy(d);
}

static void many_manifests_cost_bounded_memory_and_the_newest_count(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	char build[16], name[80];
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(build, sizeof build, "b%u", i);
		snprintf(name, sizeof name, "<data name='F%u' inType='win:UInt32'/>", i);
		send(d, i, build, name);
	}
	/* The store's memory ran out long before; the last one that fitted is the newest. */
	assert_string_not_equal(decoded(d, 4999, "01000000"), "none");
	assert_string_not_equal(decoded(d, 4999, "01000000"), "{\"F0\":1}");
	openetw_decoder_destroy(d);
}

#define CLR "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"

static void values_that_came_after_the_map_of_a_trace_have_their_name(void **state)
{
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text o = {0};
	struct record t;
	struct blob m = {.n = 0}, p = {.n = 0};
	blob_u8(&m, 1), blob_u8(&m, 1), blob_u8(&m, 0), blob_u8(&m, 0x5B), blob_u16(&m, 1), blob_u16(&m, 0);
	m.n += (size_t)snprintf(
		(char *)m.b + m.n, sizeof m.b - m.n,
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
		"<instrumentation xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><events>"
		"<provider name='Old-Clr' guid='{" CLR "}' symbol='A'><maps><bitMap name='MethodFlagsMap'>"
		"<map value='0x8' message='$(string.j)'/></bitMap></maps><templates><template tid='T'>"
		"<data name='Flags' inType='win:UInt32' map='MethodFlagsMap'/></template></templates>"
		"<events><event value='9999' version='0' template='T'/></events></provider></events></instrumentation>"
		"<localization><resources culture='en-US'><stringTable><string id='j' value='was jitted'/>"
		"</stringTable></resources></localization></instrumentationManifest>");
	EVENT_RECORD *r = chunk(&t, &m, 10);
	struct guid clr;
	assert_int_equal(guid_parse(CLR, &clr), 0);
	memcpy(&r->EventHeader.ProviderId, &clr, sizeof clr);
	openetw_decoder_learn(d, r);
	static const struct {
		uint32_t value;
		const char *text;
	} cases[] = {
		{0x8, "{\"Flags\":\"was jitted\"}"},        /* the trace's own name */
		{0x18, "{\"Flags\":\"Jitted|JitHelper\"}"}, /* what the trace cannot name */
		{0x188, "{\"Flags\":\"Jitted|QuickJitted\"}"},
		{0x40008, "{\"Flags\":\"was jitted|0x40000\"}"}, /* what nobody can */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		p.n = 0;
		blob_u32(&p, cases[i].value);
		r = record_make(&t, NULL, &p);
		r->EventHeader.EventDescriptor.Id = 9999;
		r->EventHeader.ProcessId = 10;
		memcpy(&r->EventHeader.ProviderId, &clr, sizeof clr);
		openetw_text_clear(&o);
		openetw_decode_json(d, r, &o);
		assert_string_equal(o.data, cases[i].text);
	}
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

/* As a merge writes it about an event of an EventSource: TDH knows no name and no fields. */
static EVENT_RECORD *metadata(struct record *t, struct blob *k, uint16_t id)
{
	static const uint8_t class_guid[16] = {0xC1, 0xF6, 0xCC, 0xBB, 0xD1, 0x6C, 0xC4, 0x48,
					       0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71};
	memset(k, 0, sizeof *k);
	memcpy(k->b, test_provider, 16);
	le16_put(k->b + 0x20, id);
	k->n = 136;
	EVENT_RECORD *r = record_make(t, NULL, k);
	memcpy(&r->EventHeader.ProviderId, class_guid, 16);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	r->EventHeader.EventDescriptor.Opcode = 32;
	return r;
}

/* Events 7 and 8, which have tasks and so names. */
static void make_named_manifest(struct blob *k)
{
	k->n = 0;
	blob_u8(k, 1), blob_u8(k, 1), blob_u8(k, 0), blob_u8(k, 0x5B), blob_u16(k, 1), blob_u16(k, 0);
	k->n += (size_t)snprintf(
		(char *)k->b + k->n, sizeof k->b - k->n,
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
		"<instrumentation xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><events>"
		"<provider name='Shop' guid='{01020304-0506-0708-090a-0b0c0d0e0f10}' symbol='named'>"
		"<tasks><task name='Buy' value='5'/></tasks>"
		"<templates><template tid='T'><data name='Count' inType='win:UInt32'/></template></templates>"
		"<events><event value='7' version='0' task='Buy' template='T'/></events></provider></events>"
		"</instrumentation></instrumentationManifest>");
	assert_true(k->n < sizeof k->b);
}

static const char *named(struct openetw_decoder *d, ULONG pid, uint16_t id, const char *payload_hex)
{
	struct blob p = {.n = 0};
	struct record t;
	blob_hex(&p, payload_hex);
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	r->EventHeader.EventDescriptor.Id = id;
	r->EventHeader.ProcessId = pid;
	return openetw_event_name(d, r);
}

/* Whoever learns it: a decoder that reads the events in their order, as a reader's does, or the process, as those do
 * that go through a file before. And in either order. */
static void a_manifest_that_was_sent_goes_before_what_a_merge_wrote(void **state)
{
	for (int k = 0; k < 4; k++) {
		struct openetw_decoder *d = openetw_decoder_create();
		bool own = k < 2, manifest_first = k % 2;
		struct blob m, b;
		struct record t;
		ULONG pid = 200 + (ULONG)k;
		make_named_manifest(&m);
		for (int i = 0; i < 2; i++) {
			EVENT_RECORD *r = (i == 0) == manifest_first ? chunk(&t, &m, pid) : metadata(&t, &b, 7);
			if (own) {
				openetw_decoder_learn(d, r);
			} else {
				openetw_schema_learn(r);
			}
		}
		EVENT_RECORD *other = metadata(&t, &b, 8);
		openetw_decoder_learn(d, other);
		assert_string_equal(named(d, pid, 7, "01000000"), "Buy");
		/* What only the merge wrote about is known by that. */
		assert_string_equal(named(d, pid, 8, ""), "Event(8)");
		struct blob nothing = {.n = 0};
		struct openetw_text o = {0};
		EVENT_RECORD *r = record_make(&t, NULL, &nothing);
		r->EventHeader.EventDescriptor.Id = 8;
		r->EventHeader.ProcessId = pid;
		assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
		openetw_text_free(&o);
		openetw_decoder_destroy(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_read_with_the_manifest_of_their_own_process),
		cmocka_unit_test(no_manifest_makes_the_length_wrong),
		cmocka_unit_test(a_payload_that_contradicts_its_own_manifest_is_shown_as_such),
		cmocka_unit_test(maps_of_two_manifests_do_not_mix),
		cmocka_unit_test(a_manifest_speaks_for_its_sender_only),
		cmocka_unit_test(many_manifests_cost_bounded_memory_and_the_newest_count),
		cmocka_unit_test(tdh_follows_the_same_rule), /* last: it teaches the process */
		cmocka_unit_test(values_that_came_after_the_map_of_a_trace_have_their_name),
		cmocka_unit_test(
			a_manifest_that_was_sent_goes_before_what_a_merge_wrote), /* it teaches the process, too */
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
