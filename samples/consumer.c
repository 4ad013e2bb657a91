/* SPDX-License-Identifier: MIT
 *
 * A consumer: open a trace file, get its events in the order of time, look up what they mean, print
 * them.
 *
 *   consumer FILE.etl
 */
#include <windows.h>
#include <evntrace.h>
#include <evntcons.h>
#include <tdh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long g_events;

/* Texts of an event lie behind its TRACE_EVENT_INFO, at offsets from its start; 0 means none. */
static const WCHAR *TextAt(const TRACE_EVENT_INFO *info, ULONG offset)
{
	return offset != 0 ? (const WCHAR *)((const BYTE *)info + offset) : NULL;
}

static void PrintText(const WCHAR *text, const char *otherwise)
{
	char utf8[4096];

	if (text != NULL && WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof(utf8), NULL, NULL) > 0) {
		fputs(utf8, stdout);
	} else {
		fputs(otherwise, stdout);
	}
}

/* Where we are in the payload, and the numbers seen so far: counts and lengths refer to them. */
struct Walk {
	PEVENT_RECORD record;
	TRACE_EVENT_INFO *info;
	BYTE *data;
	USHORT left;
	USHORT number[1024];
};

static int PrintProperties(struct Walk *w, unsigned from, unsigned to);

static int PrintValue(struct Walk *w, unsigned i, USHORT length)
{
	EVENT_PROPERTY_INFO const *const p = &w->info->EventPropertyInfoArray[i];
	ULONG const pointerSize = (w->record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) ? 4 : 8;
	PEVENT_MAP_INFO map = NULL;
	WCHAR *text = NULL;
	ULONG size = 0;
	USHORT used = 0;
	ULONG status;

	if (p->nonStructType.MapNameOffset != 0) {
		WCHAR *const name = (WCHAR *)TextAt(w->info, p->nonStructType.MapNameOffset);
		if (TdhGetEventMapInformation(w->record, name, NULL, &size) == ERROR_INSUFFICIENT_BUFFER) {
			map = (PEVENT_MAP_INFO)malloc(size);
			if (map != NULL && TdhGetEventMapInformation(w->record, name, map, &size) != ERROR_SUCCESS) {
				free(map);
				map = NULL;
			}
		}
		size = 0;
	}
	for (;;) {
		status = TdhFormatProperty(w->info, map, pointerSize, p->nonStructType.InType, p->nonStructType.OutType,
					   length, w->left, w->data, &size, text, &used);
		if (status == ERROR_INSUFFICIENT_BUFFER && text == NULL) {
			text = (WCHAR *)malloc(size);
			if (text == NULL) {
				break;
			}
		} else if (status == ERROR_EVT_INVALID_EVENT_DATA && map != NULL) {
			free(map); /* the value is not in the map: print the number */
			map = NULL;
		} else {
			break;
		}
	}
	if (status == ERROR_SUCCESS) {
		PrintText(text, "");
		/* Small integers may turn out to be the count or length of a later property. */
		if (i < 1024 && used >= 1 && used <= 4) {
			w->number[i] = used == 1 ? w->data[0] : (USHORT)(w->data[0] | w->data[1] << 8);
		}
		w->data += used;
		w->left = (USHORT)(w->left - used);
	} else {
		printf("<error %u>", (unsigned)status);
	}
	free(text);
	free(map);
	return status == ERROR_SUCCESS;
}

static USHORT Length(const struct Walk *w, const EVENT_PROPERTY_INFO *p)
{
	if (p->Flags & PropertyParamLength) {
		return p->lengthPropertyIndex < 1024 ? w->number[p->lengthPropertyIndex] : 0;
	}
	/* An IPv6 address is binary, and may come without its length. */
	if (!(p->Flags & PropertyStruct) && p->length == 0 && p->nonStructType.InType == TDH_INTYPE_BINARY &&
	    p->nonStructType.OutType == TDH_OUTTYPE_IPV6) {
		return 16;
	}
	return p->length;
}

static int PrintProperty(struct Walk *w, unsigned i)
{
	EVENT_PROPERTY_INFO const *const p = &w->info->EventPropertyInfoArray[i];
	int const isArray = (p->Flags & (PropertyParamCount | PropertyParamFixedCount)) != 0 || p->count > 1;
	USHORT const length = Length(w, p);
	USHORT count = p->count;
	USHORT n;

	if (p->Flags & PropertyParamCount) {
		count = p->countPropertyIndex < 1024 ? w->number[p->countPropertyIndex] : 0;
	}
	PrintText(TextAt(w->info, p->NameOffset), "?");
	fputs(isArray ? "=[" : "=", stdout);
	for (n = 0; n < count; n++) {
		if (n != 0) {
			fputs(", ", stdout);
		}
		if (p->Flags & PropertyStruct) {
			unsigned const first = p->structType.StructStartIndex;
			fputs("{", stdout);
			if (!PrintProperties(w, first, first + p->structType.NumOfStructMembers)) {
				return 0;
			}
			fputs("}", stdout);
		} else if (length == 0 && (p->Flags & PropertyParamLength)) {
			/* A counted value of no bytes: nothing to format, nothing to skip. */
		} else if (!PrintValue(w, i, length)) {
			return 0;
		}
	}
	fputs(isArray ? "]" : "", stdout);
	return 1;
}

static int PrintProperties(struct Walk *w, unsigned from, unsigned to)
{
	unsigned i;

	for (i = from; i < to; i++) {
		if (i != from) {
			fputs(", ", stdout);
		}
		if (!PrintProperty(w, i)) {
			return 0;
		}
	}
	return 1;
}

static void PrintTime(LARGE_INTEGER stamp)
{
	FILETIME ft;
	SYSTEMTIME st;

	ft.dwLowDateTime = (DWORD)stamp.QuadPart;
	ft.dwHighDateTime = (DWORD)(stamp.QuadPart >> 32);
	FileTimeToSystemTime(&ft, &st);
	printf("%04u-%02u-%02u %02u:%02u:%02u.%03u", st.wYear, st.wMonth, st.wDay, st.wHour, st.wMinute, st.wSecond,
	       st.wMilliseconds);
}

static VOID WINAPI OnEvent(PEVENT_RECORD record)
{
	static struct Walk walk;
	EVENT_HEADER const *const h = &record->EventHeader;
	TRACE_EVENT_INFO *info = NULL;
	ULONG size = 0;
	ULONG status;

	g_events++;
	PrintTime(h->TimeStamp);
	printf(" [%u.%u] ", (unsigned)h->ProcessId, (unsigned)h->ThreadId);
	if (h->Flags & EVENT_HEADER_FLAG_STRING_ONLY) {
		PrintText((const WCHAR *)record->UserData, "");
		fputs("\n", stdout);
		return;
	}
	status = TdhGetEventInformation(record, 0, NULL, NULL, &size);
	if (status == ERROR_INSUFFICIENT_BUFFER) {
		info = (TRACE_EVENT_INFO *)malloc(size);
		status = info == NULL ? ERROR_OUTOFMEMORY : TdhGetEventInformation(record, 0, NULL, info, &size);
	}
	if (status != ERROR_SUCCESS) {
		printf("{%08x-...} id %u, opcode %u: %u bytes, no description (error %u)\n",
		       (unsigned)h->ProviderId.Data1, h->EventDescriptor.Id, h->EventDescriptor.Opcode,
		       record->UserDataLength, (unsigned)status);
		free(info);
		return;
	}
	PrintText(TextAt(info, info->ProviderNameOffset), "?");
	fputs("/", stdout);
	if (info->DecodingSource == DecodingSourceTlg) {
		PrintText(TextAt(info, info->EventNameOffset), "?");
	} else {
		PrintText(TextAt(info, info->TaskNameOffset), "");
		printf("#%u", h->EventDescriptor.Id);
	}
	if (info->OpcodeNameOffset != 0) {
		fputs(".", stdout);
		PrintText(TextAt(info, info->OpcodeNameOffset), "");
	}
	fputs(": ", stdout);
	memset(&walk, 0, sizeof(walk));
	walk.record = record;
	walk.info = info;
	walk.data = (BYTE *)record->UserData;
	walk.left = record->UserDataLength;
	PrintProperties(&walk, 0, info->TopLevelPropertyCount);
	fputs("\n", stdout);
	free(info);
}

int main(int argc, char **argv)
{
	EVENT_TRACE_LOGFILEA file;
	TRACEHANDLE handle;
	ULONG status;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE.etl\n", argv[0]);
		return 2;
	}
	memset(&file, 0, sizeof(file));
	file.LogFileName = argv[1];
	file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	file.EventRecordCallback = OnEvent;
	handle = OpenTraceA(&file);
	if (handle == INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "OpenTrace %s: error %u\n", argv[1], (unsigned)GetLastError());
		return 1;
	}
	status = ProcessTrace(&handle, 1, NULL, NULL);
	CloseTrace(handle);
	if (status != ERROR_SUCCESS) {
		fprintf(stderr, "ProcessTrace: error %u\n", (unsigned)status);
		return 1;
	}
	fprintf(stderr, "%llu events\n", g_events);
	return 0;
}
