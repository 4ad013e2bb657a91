/* SPDX-License-Identifier: MIT
 *
 * Tdh* on manifests: loading, names, maps, lists of fields and events, unloading; the built-in
 * catalogue; files in a user's directory.
 */
#include "schema/schema_testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static const char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
	"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events><provider name='Acme-Tdh' "
	"guid='{77777777-2222-3333-4444-555555555555}'>"
	"<channels><channel name='Acme/Op' type='Operational'/></channels>"
	"<levels><level name='Loud' value='17' message='$(string.l)'/></levels>"
	"<tasks><task name='Launch' value='7'><opcodes><opcode name='Abort' value='11'/></opcodes>"
	"</task></tasks>"
	"<keywords><keyword name='Fuel' mask='0x1'/><keyword name='Air' mask='0x4'/></keywords>"
	"<maps><valueMap name='Stage'><map value='1' message='$(string.m)'/></valueMap></maps>"
	"<templates><template tid='T'><data name='Stage' inType='win:UInt32' map='Stage'/>"
	"<data name='N' inType='win:UInt8'/><data name='V' inType='win:UInt16' count='N'/>"
	"</template></templates>"
	"<events><event value='5' version='1' level='Loud' task='Launch' opcode='Abort' "
	"keywords='Fuel Air' channel='Acme/Op' template='T' message='$(string.e)'/>"
	"<event value='6'/></events></provider></events></instrumentation>"
	"<localization><resources culture='en-US'><stringTable><string id='l' value='Very loud'/>"
	"<string id='m' value='First'/><string id='e' value='Stage %1 lit'/></stringTable>"
	"</resources></localization></instrumentationManifest>";

static const GUID acme = {0x77777777, 0x2222, 0x3333, {0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}};

static const char *wide_at(const void *block, uint32_t offset)
{
	static char text[8][128];
	static int turn;
	char *s = text[turn++ % 8];
	const uint8_t *p = (const uint8_t *)block + offset;
	size_t i = 0;
	for (; offset && le16_get(p + 2 * i) && i < 127; i++) {
		s[i] = (char)le16_get(p + 2 * i);
	}
	s[i] = 0;
	return s;
}

/* PROVIDER_FILTER_INFO: offsets count from its own start. */
static void filters_of_a_manifest_are_listed_with_their_fields(void **state)
{
	static const char with_filters[] =
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
		"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events><provider name='Acme-Sieve' "
		"guid='{77777777-2222-3333-4444-555555555566}'>"
		"<filters><filter name='ByPid' value='1' version='2' tid='F' message='$(string.f)'/>"
		"<filter name='Plain' value='9'/></filters>"
		"<templates><template tid='F'><data name='Pid' inType='win:UInt32' outType='win:PID'/>"
		"<data name='Name' inType='win:UnicodeString' length='Pid'/></template></templates>"
		"</provider></events></instrumentation>"
		"<localization><resources culture='en-US'><stringTable><string id='f' "
		"value='One process'/></stringTable></resources></localization>"
		"</instrumentationManifest>";
	GUID g = {0x77777777, 0x2222, 0x3333, {0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x66}};
	PPROVIDER_FILTER_INFO buffer[64];
	ULONG count = 7, size = 0;
	assert_int_equal(TdhEnumerateProviderFilters(&g, 0, NULL, &count, NULL, &size), ERROR_NOT_FOUND);
	assert_int_equal(TdhLoadManifestFromMemory(with_filters, sizeof with_filters - 1), ERROR_SUCCESS);
	count = 7;
	assert_int_equal(TdhEnumerateProviderFilters(&g, 0, NULL, &count, NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(count, 0);
	assert_in_range(size, 2 * 8 + 2 * 16 + 2 * 24, sizeof buffer);
	assert_int_equal(TdhEnumerateProviderFilters(&g, 0, NULL, &count, buffer, &size), ERROR_SUCCESS);
	assert_int_equal(count, 2);
	const PROVIDER_FILTER_INFO *f = buffer[0];
	assert_int_equal(f->Id, 1);
	assert_int_equal(f->Version, 2);
	assert_string_equal(wide_at(f, f->MessageOffset), "One process");
	assert_int_equal(f->PropertyCount, 2);
	assert_string_equal(wide_at(f, f->EventPropertyInfoArray[0].NameOffset), "Pid");
	assert_int_equal(f->EventPropertyInfoArray[0].nonStructType.OutType, TDH_OUTTYPE_PID);
	assert_string_equal(wide_at(f, f->EventPropertyInfoArray[1].NameOffset), "Name");
	assert_int_equal(f->EventPropertyInfoArray[1].Flags, PropertyParamLength);
	assert_int_equal(buffer[1]->Id, 9);
	assert_int_equal(buffer[1]->PropertyCount, 0);
	size--;
	assert_int_equal(TdhEnumerateProviderFilters(&g, 0, NULL, &count, buffer, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(count, 0);
	assert_int_equal(TdhUnloadManifestFromMemory(with_filters, sizeof with_filters - 1), ERROR_SUCCESS);
}

static EVENT_RECORD *make(struct record *t, struct blob *p)
{
	p->n = 0;
	blob_u32(p, 1), blob_u8(p, 2), blob_u16(p, 10), blob_u16(p, 11);
	EVENT_RECORD *r = record_make(t, NULL, p);
	r->EventHeader.ProviderId = acme;
	r->EventHeader.EventDescriptor.Id = 5;
	r->EventHeader.EventDescriptor.Version = 1;
	return r;
}

static GUID provider(void)
{
	GUID g = acme;
	g.Data4[0] = 0x44;
	g.Data4[1] = 0x44;
	return g;
}

static void a_loaded_manifest_describes_events_until_it_is_unloaded(void **state)
{
	struct record t;
	struct blob p;
	_Alignas(8) uint8_t buffer[4096];
	ULONG size = sizeof buffer;
	EVENT_RECORD *r = make(&t, &p);
	TRACE_EVENT_INFO *info = (TRACE_EVENT_INFO *)buffer;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_NOT_FOUND);
	assert_int_equal(TdhLoadManifestFromMemory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
	size = sizeof buffer;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_SUCCESS);
	assert_int_equal(info->DecodingSource, DecodingSourceXMLFile);
	assert_string_equal(wide_at(info, info->ProviderNameOffset), "Acme-Tdh");
	assert_string_equal(wide_at(info, info->LevelNameOffset), "Very loud");
	assert_string_equal(wide_at(info, info->ChannelNameOffset), "Acme/Op");
	assert_string_equal(wide_at(info, info->TaskNameOffset), "Launch");
	assert_string_equal(wide_at(info, info->OpcodeNameOffset), "Abort");
	assert_string_equal(wide_at(info, info->EventMessageOffset), "Stage %1 lit");
	assert_string_equal(wide_at(info, info->KeywordsNameOffset), "Fuel");
	assert_string_equal(wide_at(info, info->KeywordsNameOffset + 10), "Air");
	assert_string_equal(wide_at(info, info->KeywordsNameOffset + 18), "");
	assert_int_equal(info->TopLevelPropertyCount, 3);
	assert_int_equal(info->EventPropertyInfoArray[2].Flags, PropertyParamCount);
	assert_int_equal(info->EventPropertyInfoArray[2].countPropertyIndex, 1);

	PROPERTY_DATA_DESCRIPTOR d = {.PropertyName = (ULONGLONG)(uintptr_t)u"V", .ArrayIndex = 1};
	uint16_t v = 0;
	assert_int_equal(TdhGetProperty(r, 0, NULL, 1, &d, 2, (PBYTE)&v), ERROR_SUCCESS);
	assert_int_equal(v, 11);

	_Alignas(8) uint8_t map[512];
	ULONG map_size = sizeof map;
	EVENT_MAP_INFO *m = (EVENT_MAP_INFO *)map;
	assert_int_equal(TdhGetEventMapInformation(r, (LPWSTR)(uintptr_t)u"Stage", m, &map_size), ERROR_SUCCESS);
	assert_int_equal(m->Flag, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(m->EntryCount, 1);
	/* Strings of manifest maps end in a space [doc]. */
	assert_string_equal(wide_at(m, m->MapEntryArray[0].OutputOffset), "First ");
	WCHAR text[32];
	ULONG bytes = sizeof text;
	USHORT used;
	assert_int_equal(TdhFormatProperty(info, m, 8, TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 4, 4, p.b, &bytes,
					   text, &used),
			 ERROR_SUCCESS);
	assert_string_equal(wide_at(text - 1, 2), "First");

	assert_int_equal(TdhUnloadManifestFromMemory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
	size = sizeof buffer;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_NOT_FOUND);
	assert_int_equal(TdhUnloadManifestFromMemory(manifest, sizeof manifest - 1), ERROR_NOT_FOUND);
	assert_int_equal(TdhLoadManifestFromMemory("<a>", 3), ERROR_XML_PARSE_ERROR);
}

static void fields_and_events_of_a_provider_are_listed(void **state)
{
	_Alignas(8) uint8_t buffer[1024];
	PROVIDER_FIELD_INFOARRAY *a = (PROVIDER_FIELD_INFOARRAY *)buffer;
	GUID g = provider();
	ULONG size = 0;
	assert_int_equal(TdhLoadManifestFromMemory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
	assert_int_equal(TdhEnumerateProviderFieldInformation(&g, EventKeywordInformation, NULL, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(TdhEnumerateProviderFieldInformation(&g, EventKeywordInformation, a, &size), ERROR_SUCCESS);
	assert_int_equal(a->NumberOfElements, 2);
	assert_string_equal(wide_at(a, a->FieldInfoArray[1].NameOffset), "Air");
	assert_int_equal(a->FieldInfoArray[1].Value, 4);
	size = sizeof buffer; /* one result for each bit that has a name */
	assert_int_equal(TdhQueryProviderFieldInformation(&g, 0x7, EventKeywordInformation, a, &size), ERROR_SUCCESS);
	assert_int_equal(a->NumberOfElements, 2);
	size = sizeof buffer;
	assert_int_equal(TdhQueryProviderFieldInformation(&g, 17, EventLevelInformation, a, &size), ERROR_SUCCESS);
	assert_string_equal(wide_at(a, a->FieldInfoArray[0].NameOffset), "Loud");
	assert_string_equal(wide_at(a, a->FieldInfoArray[0].DescriptionOffset), "Very loud");
	size = sizeof buffer;
	assert_int_equal(TdhQueryProviderFieldInformation(&g, 11u << 16 | 7, EventOpcodeInformation, a, &size),
			 ERROR_SUCCESS);
	assert_string_equal(wide_at(a, a->FieldInfoArray[0].NameOffset), "Abort");
	assert_int_equal(a->FieldInfoArray[0].Value, 11u << 16 | 7);
	size = sizeof buffer;
	assert_int_equal(TdhQueryProviderFieldInformation(&g, 99, EventTaskInformation, a, &size), ERROR_NOT_FOUND);

	PROVIDER_EVENT_INFO *e = (PROVIDER_EVENT_INFO *)buffer;
	size = sizeof buffer;
	assert_int_equal(TdhEnumerateManifestProviderEvents(&g, e, &size), ERROR_SUCCESS);
	assert_int_equal(e->NumberOfEvents, 2);
	assert_int_equal(e->EventDescriptorsArray[0].Id + e->EventDescriptorsArray[1].Id, 11);
	EVENT_DESCRIPTOR d = {.Id = 5, .Version = 1};
	TRACE_EVENT_INFO *info = (TRACE_EVENT_INFO *)buffer;
	size = sizeof buffer;
	assert_int_equal(TdhGetManifestEventInformation(&g, &d, info, &size), ERROR_SUCCESS);
	assert_int_equal(info->TopLevelPropertyCount, 3);
	d.Version = 2;
	assert_int_equal(TdhGetManifestEventInformation(&g, &d, info, &size), ERROR_NOT_FOUND);

	size = 0;
	assert_int_equal(TdhEnumerateProviders(NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	PROVIDER_ENUMERATION_INFO *list = malloc(size);
	assert_int_equal(TdhEnumerateProviders(list, &size), ERROR_SUCCESS);
	bool own = false, clr = false, process = false;
	for (ULONG i = 0; i < list->NumberOfProviders; i++) {
		const TRACE_PROVIDER_INFO *p = &list->TraceProviderInfoArray[i];
		const char *name = wide_at(list, p->ProviderNameOffset);
		own |= strcmp(name, "Acme-Tdh") == 0 && p->SchemaSource == 0;
		clr |= strcmp(name, "Microsoft-Windows-DotNETRuntime") == 0;
		process |= p->ProviderGuid.Data1 == 0x3d6fa8d0 && p->SchemaSource == 1;
	}
	assert_true(own && clr && process);
	free(list);
	assert_int_equal(TdhUnloadManifestFromMemory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
}

static void kernel_events_have_only_the_fields_they_carry(void **state)
{
	/* Thread/Start version 3 without and with a name, and a stack of two frames. */
	static const GUID thread = {0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
	static const GUID stack = {0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};
	struct record t;
	struct blob p = {.n = 72};
	_Alignas(8) uint8_t buffer[8192];
	TRACE_EVENT_INFO *info = (TRACE_EVENT_INFO *)buffer;
	for (unsigned with_name = 0; with_name < 2; with_name++) {
		EVENT_RECORD *r = record_make(&t, NULL, &p);
		r->EventHeader.ProviderId = thread;
		r->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
		r->EventHeader.EventDescriptor.Opcode = 1;
		r->EventHeader.EventDescriptor.Version = 3;
		ULONG size = sizeof buffer;
		assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_SUCCESS);
		assert_int_equal(info->DecodingSource, DecodingSourceWbem);
		assert_int_equal(info->PropertyCount, 14 + with_name);
		blob_wsz(&p, "name");
	}
	p.n = 32;
	EVENT_RECORD *r = record_make(&t, NULL, &p);
	r->EventHeader.ProviderId = stack;
	r->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
	r->EventHeader.EventDescriptor.Opcode = 32;
	r->EventHeader.EventDescriptor.Version = 2;
	ULONG size = sizeof buffer;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, info, &size), ERROR_SUCCESS);
	assert_int_equal(info->EventPropertyInfoArray[3].count, 2);
	assert_true(info->EventPropertyInfoArray[3].Flags & PropertyParamFixedCount);
}

/* setup: a directory with the manifest, named by the environment before anything is looked for */
static int use_directory(void **state)
{
	static char dir[] = "/tmp/openetw-tdh-XXXXXX", path[64];
	if (!mkdtemp(dir)) {
		return -1;
	}
	snprintf(path, sizeof path, "%s/acme.man", dir);
	FILE *f = fopen(path, "w");
	char *text = strdup(manifest), *at = strstr(text, "77777777");
	memcpy(at, "88888888", 8);
	fputs(text, f);
	fclose(f);
	free(text);
	setenv("OPENETW_CATALOGUE", dir, 1);
	setenv("HOME", "/nonexistent", 1);
	*state = path;
	return 0;
}

static int drop_directory(void **state)
{
	char *path = *state, *slash = strrchr(path, '/');
	unlink(path);
	*slash = 0;
	return rmdir(path);
}

static void a_manifest_in_the_users_directory_is_found_by_provider(void **state)
{
	struct record t;
	struct blob p;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	EVENT_RECORD *r = make(&t, &p);
	r->EventHeader.ProviderId.Data1 = 0x88888888;
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_DECODED);
	assert_string_equal(o.data, "{\"Stage\":\"First\",\"N\":2,\"V\":[10,11]}");
	assert_string_equal(openetw_event_name(d, r), "Launch/Abort");
	assert_string_equal(openetw_provider_name(d, r), "Acme-Tdh");
	openetw_text_clear(&o);
	r->EventHeader.EventDescriptor.Version = 9;
	assert_int_equal(openetw_decode_json(d, r, &o), OPENETW_NO_SCHEMA);
	assert_non_null(strstr(o.data, "provider Acme-Tdh {88888888-2222-3333-4444-555555555555} is "
				       "known, but not its event 5 version 9"));
	assert_int_equal(openetw_schema_load_file("/no/such.man"), ERROR_FILE_NOT_FOUND);
	assert_string_equal(err_text_get(), "No such file or directory");
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_of_a_manifest_are_listed_with_their_fields),
		cmocka_unit_test(a_loaded_manifest_describes_events_until_it_is_unloaded),
		cmocka_unit_test(fields_and_events_of_a_provider_are_listed),
		cmocka_unit_test(kernel_events_have_only_the_fields_they_carry),
		cmocka_unit_test(a_manifest_in_the_users_directory_is_found_by_provider),
	};
	return cmocka_run_group_tests(tests, use_directory, drop_directory);
}
