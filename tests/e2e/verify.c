/* SPDX-License-Identifier: MIT
 * Checks the events of emit.c in .etl files (or "live:SESSION"; provider=NAME: of that one only): every payload as it was written, per thread in
 * order, nothing twice. Prints "events=N threads=T bad=B duplicate=D disorder=O gaps=G processes=P headers=H".
 * Gaps are not errors here: the caller compares them with the loss counters.
 */
#include "base/base.h"

#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#include <stdio.h>
#include <stdlib.h>

struct thread {
	uint32_t pid, thread;
	uint64_t next;
	uint64_t missing; /* skipped so far; a late event may still fill one */
};
static struct thread threads[65536];
static unsigned thread_count, process_count;
static uint64_t events, bad, duplicate, disorder, gaps, headers, last_time, limit;

static struct guid only;
static bool only_set;

static void WINAPI on_event(PEVENT_RECORD e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const uint8_t *p = e->UserData;
	/* RT_LostEvent: "here something is missing", in a live stream. */
	static const GUID lost = {0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};
	if (memcmp(&h->ProviderId, &lost, sizeof(GUID)) == 0) {
		return;
	}
	if (memcmp(&h->ProviderId, &EventTraceGuid, sizeof(GUID)) == 0) {
		headers++;
		return;
	}
	if (only_set && memcmp(&h->ProviderId, only.b, sizeof(GUID)) != 0) {
		return;
	}
	events++;
	if ((uint64_t)h->TimeStamp.QuadPart < last_time) {
		disorder++;
	}
	last_time = (uint64_t)h->TimeStamp.QuadPart;
	if (e->UserDataLength < 28) {
		bad++;
		return;
	}
	uint32_t thread = le32_get(p);
	uint64_t seq = le64_get(p + 4);
	for (unsigned i = 0; i < 16; i++) {
		if (p[12 + i] != (uint8_t)(seq * 31 + thread * 7 + i)) {
			bad++;
			return;
		}
	}
	if (h->EventDescriptor.Id != 1 + seq % 4) {
		bad++;
	}
	struct thread *t = NULL;
	bool known_process = false;
	for (unsigned i = thread_count; i-- > 0 && !t;) {
		known_process |= threads[i].pid == h->ProcessId;
		if (threads[i].pid == h->ProcessId && threads[i].thread == thread) {
			t = &threads[i];
		}
	}
	if (!t) {
		if (thread_count == BASE_ARRAY_LEN(threads)) {
			return;
		}
		process_count += !known_process;
		t = &threads[thread_count++];
		*t = (struct thread){h->ProcessId, thread, 0, 0};
	}
	if (seq < t->next && t->missing > 0) {
		t->missing--;
		gaps--;
	} else if (seq < t->next) {
		duplicate++;
	} else {
		t->missing += seq - t->next;
		gaps += seq - t->next;
		t->next = seq + 1;
	}
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	return limit == 0 || events < limit;
}

int main(int argc, char **argv)
{
	TRACEHANDLE h[64];
	ULONG n = 0;
	if (argc > 65) {
		fprintf(stderr, "verify: %d files are more than it can read at once\n", argc - 1);
		return 2;
	}
	for (int i = 1; i < argc && n < 64; i++) {
		if (strncmp(argv[i], "limit=", 6) == 0) {
			limit = strtoull(argv[i] + 6, NULL, 0);
			continue;
		}
		if (strncmp(argv[i], "provider=", 9) == 0) {
			only_set = guid_from_provider_name(argv[i] + 9, &only) == 0;
			continue;
		}
		EVENT_TRACE_LOGFILEA f = {.EventRecordCallback = on_event, .BufferCallback = on_buffer};
		bool live = strncmp(argv[i], "live:", 5) == 0;
		f.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | (live ? PROCESS_TRACE_MODE_REAL_TIME : 0);
		if (live) {
			f.LoggerName = argv[i] + 5;
		} else {
			f.LogFileName = argv[i];
		}
		h[n] = OpenTraceA(&f);
		if (h[n] == INVALID_PROCESSTRACE_HANDLE) {
			fprintf(stderr, "cannot open %s: %u\n", argv[i], GetLastError());
			return 1;
		}
		n++;
	}
	ULONG code = ProcessTrace(h, n, NULL, NULL);
	for (ULONG i = 0; i < n; i++) {
		CloseTrace(h[i]);
	}
	printf("events=%llu threads=%u bad=%llu duplicate=%llu disorder=%llu gaps=%llu processes=%u headers=%llu "
	       "code=%u\n",
	       (unsigned long long)events, thread_count, (unsigned long long)bad, (unsigned long long)duplicate,
	       (unsigned long long)disorder, (unsigned long long)gaps, process_count, (unsigned long long)headers,
	       code);
	return bad || duplicate || (code && code != ERROR_CANCELLED);
}
