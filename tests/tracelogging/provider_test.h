/* SPDX-License-Identifier: MIT
 *
 * Providers, registration, the enable callback, and what decides whether an event is written. Built
 * as C and as C++ from provider_test.c and provider_test.cpp.
 */
#include "record.h"
#include "TraceLoggingProvider.h"

TRACELOGGING_DECLARE_PROVIDER(P);
TRACELOGGING_DEFINE_PROVIDER(P, "Tests.Provider", (0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16));
TRACELOGGING_DEFINE_PROVIDER(Grouped, "G", (0x11020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16),
			     TraceLoggingOptionGroup(0x21222324, 0x2526, 0x2728, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e,
						     0x2f, 0x30),
			     TraceLoggingOptionTrait(128, UINT16, 0x0201));
TRACELOGGING_DEFINE_PROVIDER_STORAGE(store, "S", (0x31020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16));
_tlg_DefineProvider_annotation(P, suffix, 0, "Tests.Provider");

static const unsigned char p_guid[16] = {4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16};

static int calls;
static ULONG last_code;
static UCHAR last_level;
static ULONGLONG last_any, last_all;
static PVOID last_context;

static VOID NTAPI user_callback(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
				PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)filter;
	calls++;
	last_code = code;
	last_level = level;
	last_any = any;
	last_all = all;
	last_context = context;
}

static int evaluated;
static int evaluate(void)
{
	return ++evaluated;
}

/* How many of these events pass at present. */
static int written(void)
{
	rec.writes = 0;
	TraceLoggingWrite(P, "e", TraceLoggingLevel(3), TraceLoggingKeyword(0x5), TraceLoggingInt32(evaluate(), "v"));
	return rec.writes;
}

static void registration(void)
{
	static int context;
	GUID const id = TraceLoggingProviderId(P);
	HRESULT hr;

	CHECK("the id of a provider", memcmp(&id, p_guid, 16) == 0);
	CHECK("an unregistered provider writes nothing", written() == 0 && evaluated == 0);
	hr = TraceLoggingRegisterEx(P, user_callback, &context);
	CHECK("registering succeeds", hr == S_OK);
	CHECK("the GUID goes to EventRegister", rec.registers == 1 && memcmp(&rec.id, p_guid, 16) == 0);
	CHECK("the traits are set", rec.set_informations == 1 && rec.info_class == EventProviderSetTraits &&
					    rec.handle == 0x1234 &&
					    same_bytes("traits", rec.info, rec.info_bytes, "\x11\0Tests.Provider", 17));
	CHECK("registered is not enabled", written() == 0);

	rec_enable(1, 4, 0xff, 0);
	CHECK("the callback forwards", calls == 1 && last_code == 1 && last_level == 4 && last_any == 0xff &&
					       last_all == 0 && last_context == &context);
	CHECK("the state is kept", P->LevelPlus1 == 5 && P->KeywordAny == 0xff && P->KeywordAll == 0);
	rec_enable(2, 0, 0, 0);
	CHECK("capture state only forwards",
	      calls == 2 && last_code == 2 && P->LevelPlus1 == 5 && P->KeywordAny == 0xff);
	rec_enable(77, 9, 9, 9);
	CHECK("unknown codes only forward",
	      calls == 3 && last_code == 77 && P->LevelPlus1 == 5 && P->KeywordAny == 0xff);
	rec_enable(1, 0, 0xff, 0x5);
	CHECK("level 0 of a session wants every level", P->LevelPlus1 == 256 && P->KeywordAll == 0x5);
	rec_enable(1, 255, 0xff, 0);
	CHECK("level 255", P->LevelPlus1 == 256);
	rec_enable(0, 0, 0, 0);
	CHECK("disabling clears the level and nothing else", calls == 6 && P->LevelPlus1 == 0 && P->KeywordAny == 0xff);

	rec_enable(1, 5, 0xff, 0);
	rec_assertions = 0;
	(void)TraceLoggingRegister(P);
	CHECK("registering twice is a fatal mistake", rec_assertions == 1);
	rec_enable(1, 5, 0xff, 0);

	rec.unregisters = 0;
	TraceLoggingUnregister(P);
	CHECK("unregistering gives the handle back", rec.unregisters == 1 && rec.unregistered == 0x1234);
	CHECK("unregistering disables", P->LevelPlus1 == 0 && P->RegHandle == 0 && written() == 0);
	TraceLoggingUnregister(P);
	CHECK("unregistering twice asks EventUnregister for 0", rec.unregisters == 2 && rec.unregistered == 0);

	rec.register_status = ERROR_NOT_ENOUGH_MEMORY;
	rec.set_informations = 0;
	hr = TraceLoggingRegister(P);
	CHECK("a failure is an HRESULT",
	      hr == HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) && P->RegHandle == 0 && rec.set_informations == 0);
	rec.register_status = 0;
	(void)TraceLoggingRegister(P);
	rec_enable(1, 5, ~0ull, 0);
	CHECK("without a callback of the program", calls == 7 && P->LevelPlus1 == 6);

	rec.set_informations = 0;
	hr = TraceLoggingSetInformation(P, EventProviderUseDescriptorType, (PVOID)(ULONG_PTR) "\x01", 1);
	CHECK("TraceLoggingSetInformation passes through",
	      hr == S_OK && rec.set_informations == 1 && rec.info_class == EventProviderUseDescriptorType);
}

static void filters(void)
{
	static const struct {
		const char *sentence;
		UCHAR level;
		ULONGLONG any, all;
		int passes;
	} cases[] = {
		{"a lower session level hides the event", 2, ~0ull, 0, 0},
		{"an equal level passes", 3, ~0ull, 0, 1},
		{"a higher level passes", 5, ~0ull, 0, 1},
		{"no common keyword", 5, 0x2, 0, 0},
		{"one common keyword", 5, 0x6, 0, 1},
		{"all required keywords", 5, 0x4, 0x5, 1},
		{"one required keyword is missing", 5, 0x4, 0x7, 0},
		{"no keyword is wanted", 5, 0, 0, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rec_enable(1, cases[i].level, cases[i].any, cases[i].all);
		evaluated = 0;
		CHECK(cases[i].sentence, written() == cases[i].passes);
		CHECK("values are evaluated for events that are written, once", evaluated == cases[i].passes);
		CHECK("TraceLoggingProviderEnabled agrees", TraceLoggingProviderEnabled(P, 3, 0x5) == cases[i].passes);
	}
	rec_enable(1, 1, 0, 0x100);
	rec.writes = 0;
	TraceLoggingWrite(P, "e", TraceLoggingLevel(1));
	CHECK("an event without keywords passes every keyword test", rec.writes == 1);
	TraceLoggingWrite(P, "e", TraceLoggingLevel(0));
	CHECK("an event of level 0 passes every level test", rec.writes == 2);
	CHECK("level 0 asks whether anybody listens", TraceLoggingProviderEnabled(P, 0, 0));
	rec_enable(1, 0, ~0ull, 0);
}

static void descriptors(void)
{
	GUID const a = {1, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}}, r = {2, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	EVENT_DESCRIPTOR const *const d = &rec.descriptor;
	const struct _tlgProvider_t *handle = &store;
	int i = 0;

	TraceLoggingWrite(P, "e");
	EVENT_IS("the smallest event", META("\0e\0"), DATA(""), 0);
	CHECK("the provider's traits come first",
	      same_bytes("traits", rec.provider, rec.provider_bytes, "\x11\0Tests.Provider", 17));
	CHECK("the defaults of an event", d->Id == 0 && d->Version == 0 && d->Channel == 11 && d->Level == 5 &&
						  d->Opcode == 0 && d->Task == 0 && d->Keyword == 0);
	CHECK("no activity is given", !rec.has_activity && !rec.has_related && rec.handle == 0x1234);

	TraceLoggingWrite(P, "e", TraceLoggingKeyword(0x1), TraceLoggingLevel(2), TraceLoggingOpcode(1),
			  TraceLoggingInt8(1, "v"), TraceLoggingChannel(12), TraceLoggingKeyword(0x8000000000000000),
			  TraceLoggingEventTag(0));
	CHECK("options may stand anywhere", d->Channel == 12 && d->Level == 2 && d->Opcode == 1);
	CHECK("keywords are OR-ed", d->Keyword == 0x8000000000000001ull);
	EVENT_IS("options are no fields", META("\0e\0v\0\x03"), DATA("\x01"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingLevel(1), TraceLoggingOpcode(9), TraceLoggingLevel(5),
			  TraceLoggingOpcode(2), TraceLoggingLevel(3));
	CHECK("of several levels and opcodes the last counts", d->Level == 3 && d->Opcode == 2);
	TraceLoggingWrite(P, "e", TraceLoggingLevel(0), TraceLoggingChannel(0), TraceLoggingOpcode(0));
	CHECK("a given 0 is not the default", d->Level == 0 && d->Channel == 0 && d->Opcode == 0);

	TraceLoggingWriteActivity(P, "e", &a, &r, TraceLoggingInt8(1, "v"));
	CHECK("an activity and a related one",
	      rec.has_activity && rec.has_related && rec.activity.Data1 == 1 && rec.related.Data1 == 2);
	EVENT_IS("an activity is no field", META("\0e\0v\0\x03"), DATA("\x01"), 1);
	TraceLoggingWriteActivity(P, "e", NULL, &r);
	CHECK("only a related activity", !rec.has_activity && rec.has_related);

	rec.ex_writes = 0;
	TraceLoggingWriteEx(P, "e", 0x40, EVENT_WRITE_FLAG_INPRIVATE, &a, NULL, TraceLoggingInt8(1, "v"));
	CHECK("EventWriteEx with filter and flags",
	      rec.ex_writes == 1 && rec.filter == 0x40 && rec.flags == 2 && rec.has_activity && !rec.has_related);
	EVENT_IS("EventWriteEx gets the same data", META("\0e\0v\0\x03"), DATA("\x01"), 1);

	(void)TraceLoggingRegister(Grouped);
	CHECK("a group and a trait", same_bytes("traits", rec.info, rec.info_bytes,
						"\x1c\0G\0\x13\0\x01\x24\x23\x22\x21\x26\x25\x28"
						"\x27\x29\x2a\x2b\x2c\x2d\x2e\x2f\x30"
						"\x05\0\x80\x01\x02",
						28));
	(void)TraceLoggingRegister(handle);
	rec_enable(1, 5, ~0ull, 0);
	if (i == 0)
		TraceLoggingWrite(handle, "e", TraceLoggingInt8(7, "v"));
	else
		CHECK("a write is one statement", 0);
	EVENT_IS("a handle may be an ordinary variable", META("\0e\0v\0\x03"), DATA("\x07"), 1);
	for (i = 0; i < 2; i++)
		TraceLoggingWrite(handle, "e", TraceLoggingInt32(i));
	EVENT_IS("a write in a loop", META("\0e\0i\0\x07"), DATA("\x01\0\0\0"), 1);
}

/* As programs do that make events at run time. */
static void own_blob(void)
{
	static const unsigned char blob[] = {_TlgBlobEvent4, 11, 4, 1, 2, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 'e', 0, 'v', 0,
					     TlgInINT8};
	EVENT_DATA_DESCRIPTOR data[3];

	EventDataDescCreate(&data[2], "\x05", 1);
	_tlgWriteTransfer_EventWriteTransfer(P, &blob[1], NULL, NULL, 3, data);
	EVENT_IS("a blob made by the program", META("\0e\0v\0\x03"), DATA("\x05"), 1);
	CHECK("its descriptor", rec.descriptor.Level == 4 && rec.descriptor.Opcode == 1 &&
					rec.descriptor.Keyword == 2 && rec.descriptor.Channel == 11);
}

int main(void)
{
	registration();
	filters();
	descriptors();
	own_blob();
	return finish("provider");
}
