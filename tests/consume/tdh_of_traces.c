/* SPDX-License-Identifier: MIT
 *
 * A program that only knows OpenTrace, ProcessTrace and TdhGetEventInformation, over traces that
 * carry the descriptions of their events.
 */
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>

#include "../corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const GUID metadata_class = {0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};

static unsigned manifest_events, described, properties_missing;

static BOOL is_schema_item(const EVENT_RECORD *e)
{
	for (unsigned i = 0; i < e->ExtendedDataCount; i++) {
		if (e->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) {
			return TRUE;
		}
	}
	return FALSE;
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	if ((e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) || is_schema_item(e) ||
	    e->EventHeader.EventDescriptor.Id == 0xFFFE) {
		return;
	}
	manifest_events++;
	ULONG size = 0;
	if (TdhGetEventInformation(e, 0, NULL, NULL, &size) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	TRACE_EVENT_INFO *info = malloc(size);
	assert_int_equal(TdhGetEventInformation(e, 0, NULL, info, &size), ERROR_SUCCESS);
	assert_memory_equal(&info->ProviderGuid, &e->EventHeader.ProviderId, sizeof(GUID));
	assert_int_equal(info->EventDescriptor.Id, e->EventHeader.EventDescriptor.Id);
	described++;
	for (ULONG i = 0; i < info->TopLevelPropertyCount; i++) {
		PROPERTY_DATA_DESCRIPTOR d;
		memset(&d, 0, sizeof d);
		d.PropertyName = (ULONGLONG)(uintptr_t)((BYTE *)info + info->EventPropertyInfoArray[i].NameOffset);
		d.ArrayIndex = 0xFFFFFFFFu; /* the whole */
		ULONG bytes = 0;
		properties_missing += TdhGetPropertySize(e, 0, NULL, 1, &d, &bytes) != ERROR_SUCCESS;
	}
	free(info);
}

static void run(const char *file)
{
	char path[4096];
	EVENT_TRACE_LOGFILEA log = {0};
	manifest_events = described = properties_missing = 0;
	log.LogFileName = (char *)(uintptr_t)corpus_path(file, path, sizeof path);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(h), ERROR_SUCCESS);
}

static void every_event_of_a_packet_capture_is_described(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	run("demikernel/PktMon.etl");
	assert_int_equal(manifest_events, 403);
	assert_int_equal(described, 403);
	assert_int_equal(properties_missing, 0);
}

/* Outside the window nothing is delivered, but what it says about later events is kept. */
static void descriptions_before_the_window_count(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	EVENT_RECORD e;
	memset(&e, 0, sizeof e);
	ULONG size = 0;
	/* an event that nothing describes */
	e.EventHeader.ProviderId = metadata_class;
	e.EventHeader.EventDescriptor.Id = 7;
	assert_int_equal(TdhGetEventInformation(&e, 0, NULL, NULL, &size), ERROR_NOT_FOUND);
	char path[4096];
	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = (char *)(uintptr_t)corpus_path("perfview/net.4.5.2.x86.etl", path, sizeof path);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	FILETIME none = {1, 0};
	assert_int_equal(ProcessTrace(&h, 1, NULL, &none), ERROR_SUCCESS);
	CloseTrace(h);
	run("perfview/net.4.5.2.x86.etl");
	assert_true(manifest_events > 5000);
	printf("%u of %u manifest events described\n", described, manifest_events);
	assert_true(described > manifest_events / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_of_a_packet_capture_is_described),
		cmocka_unit_test(descriptions_before_the_window_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
