/* SPDX-License-Identifier: MIT
 *
 * TraceLogging writes into this recorder instead of the library, so that every byte can be looked
 * at. Include it first. Expectations are written by hand from the description of the format, never
 * made by the header.
 */
#ifndef TESTS_TRACELOGGING_RECORD_H
#define TESTS_TRACELOGGING_RECORD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evntprov.h"

static ULONG rec_register(LPCGUID id, PENABLECALLBACK callback, PVOID context, PREGHANDLE ret_handle);
static ULONG rec_unregister(REGHANDLE handle);
static ULONG rec_set_information(REGHANDLE handle, EVENT_INFO_CLASS cls, PVOID data, ULONG size_bytes);
static ULONG rec_write_transfer(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity, LPCGUID related,
				ULONG count, PEVENT_DATA_DESCRIPTOR data);
static ULONG rec_write_ex(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG64 filter, ULONG flags,
			  LPCGUID activity, LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data);
static __inline__ ULONG rec_activity(ULONG code, LPGUID id);

#define TLG_EVENT_REGISTER            rec_register
#define TLG_EVENT_UNREGISTER          rec_unregister
#define TLG_EVENT_SET_INFORMATION     rec_set_information
#define TLG_EVENT_WRITE_TRANSFER      rec_write_transfer
#define TLG_EVENT_WRITE_EX            rec_write_ex
#define TLG_EVENT_ACTIVITY_ID_CONTROL rec_activity

/* A failed precondition of the header is counted instead of ending the test. */
static int rec_assertions;
#define TLG_DEBUG                   1
#define TLG_RAISEASSERTIONFAILURE() (void)(rec_assertions++)

/* A literal of WCHARs, in the modes that have any: C99 has no u"text". */
#if __SIZEOF_WCHAR_T__ == 2
#define W(text) L##text
#elif defined(__cplusplus) || __STDC_VERSION__ >= 201112L
#define W(text) u##text
#endif

struct record {
	int writes, ex_writes, registers, unregisters, set_informations;
	GUID id;
	PENABLECALLBACK callback;
	PVOID context;
	REGHANDLE handle, unregistered;
	ULONG register_status;
	EVENT_INFO_CLASS info_class;
	unsigned char info[512];
	ULONG info_bytes;
	EVENT_DESCRIPTOR descriptor;
	int has_activity, has_related;
	GUID activity, related;
	ULONG64 filter;
	ULONG flags, count;
	ULONG type[128];
	unsigned char provider[512], meta[70000], payload[70000];
	size_t provider_bytes, meta_bytes, payload_bytes;
	GUID thread; /* the thread's activity id */
	unsigned created;
};
static struct record rec;
static int passed, failed;

static ULONG rec_register(LPCGUID id, PENABLECALLBACK callback, PVOID context, PREGHANDLE ret_handle)
{
	rec.registers++;
	rec.id = *id;
	rec.callback = callback;
	rec.context = context;
	*ret_handle = rec.register_status == 0 ? 0x1234 : 0;
	rec.handle = *ret_handle;
	return rec.register_status;
}

static ULONG rec_unregister(REGHANDLE handle)
{
	rec.unregisters++;
	rec.unregistered = handle;
	return handle != 0 ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

static ULONG rec_set_information(REGHANDLE handle, EVENT_INFO_CLASS cls, PVOID data, ULONG size_bytes)
{
	rec.set_informations++;
	rec.handle = handle;
	rec.info_class = cls;
	rec.info_bytes = size_bytes;
	memcpy(rec.info, data, size_bytes);
	return ERROR_SUCCESS;
}

static void rec_copy(unsigned char *to, size_t *bytes, const EVENT_DATA_DESCRIPTOR *d)
{
	memcpy(to + *bytes, (const void *)(ULONG_PTR)d->Ptr, d->Size);
	*bytes += d->Size;
}

static ULONG rec_write_ex(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG64 filter, ULONG flags,
			  LPCGUID activity, LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data)
{
	ULONG i;

	rec.writes++;
	rec.ex_writes++;
	rec.handle = handle;
	rec.descriptor = *descriptor;
	rec.filter = filter;
	rec.flags = flags;
	rec.has_activity = activity != NULL;
	rec.has_related = related != NULL;
	if (activity != NULL) {
		rec.activity = *activity;
	}
	if (related != NULL) {
		rec.related = *related;
	}
	rec.count = count;
	rec.provider_bytes = rec.meta_bytes = rec.payload_bytes = 0;
	for (i = 0; i < count; i++) {
		rec.type[i] = data[i].Reserved;
		if (i == 0) {
			rec_copy(rec.provider, &rec.provider_bytes, &data[i]);
		} else if (i == 1) {
			rec_copy(rec.meta, &rec.meta_bytes, &data[i]);
		} else if (data[i].Size != 0) {
			rec_copy(rec.payload, &rec.payload_bytes, &data[i]);
		}
	}
	return ERROR_SUCCESS;
}

static ULONG rec_write_transfer(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity, LPCGUID related,
				ULONG count, PEVENT_DATA_DESCRIPTOR data)
{
	ULONG const status = rec_write_ex(handle, descriptor, 0, 0, activity, related, count, data);
	rec.ex_writes--;
	return status;
}

static __inline__ ULONG rec_activity(ULONG code, LPGUID id)
{
	GUID old = rec.thread;

	if (code == EVENT_ACTIVITY_CTRL_CREATE_ID) {
		memset(id, 0, sizeof(*id));
		id->Data1 = ++rec.created;
	} else if (code == EVENT_ACTIVITY_CTRL_GET_ID) {
		*id = old;
	} else if (code == EVENT_ACTIVITY_CTRL_SET_ID) {
		rec.thread = *id;
	} else if (code == EVENT_ACTIVITY_CTRL_GET_SET_ID) {
		rec.thread = *id;
		*id = old;
	} else {
		return ERROR_INVALID_PARAMETER;
	}
	return ERROR_SUCCESS;
}

/* As a session would. */
static void rec_enable(ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all)
{
	GUID source = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	rec.callback(&source, code, level, any, all, NULL, rec.context);
}

static void check_true(int ok, const char *sentence, int line)
{
	if (ok) {
		passed++;
	} else {
		failed++;
		printf("FAILED line %d: %s\n", line, sentence);
	}
}
#define CHECK(sentence, condition) check_true((condition) ? 1 : 0, sentence, __LINE__)

static int same_bytes(const char *what, const unsigned char *got, size_t got_bytes, const void *want, size_t want_bytes)
{
	size_t i, n = got_bytes < want_bytes ? want_bytes : got_bytes;

	if (got_bytes == want_bytes && memcmp(got, want, want_bytes) == 0) {
		return 1;
	}
	printf("%s: got %zu bytes, want %zu\n", what, got_bytes, want_bytes);
	for (i = 0; i < n && i < 96; i++) {
		unsigned char const w = i < want_bytes ? ((const unsigned char *)want)[i] : 0;
		if (i >= got_bytes || i >= want_bytes || got[i] != w) {
			printf("  first difference at %zu: got %02x, want %02x\n", i, i < got_bytes ? got[i] : 0u, w);
			break;
		}
	}
	return 0;
}

static int meta_is(const void *rest, size_t rest_bytes)
{
	unsigned char want[2048];

	want[0] = (unsigned char)(rest_bytes + 2);
	want[1] = (unsigned char)((rest_bytes + 2) >> 8);
	memcpy(want + 2, rest, rest_bytes);
	return same_bytes("metadata", rec.meta, rec.meta_bytes, want, rest_bytes + 2);
}

/* `meta` is a literal of everything behind the size; its terminating NUL does not count. */
#define META(literal)                         (literal), sizeof(literal) - 1
#define DATA(literal)                         (literal), sizeof(literal) - 1
#define EVENT_IS(sentence, meta, data, slots) event_is(sentence, __LINE__, meta, data, slots)
static void event_is(const char *sentence, int line, const void *meta, size_t meta_bytes, const void *data,
		     size_t data_bytes, ULONG slots)
{
	int ok = meta_is(meta, meta_bytes);

	ok &= same_bytes("data", rec.payload, rec.payload_bytes, data, data_bytes);
	if (rec.count != slots + 2) {
		printf("got %u data descriptors, want %u\n", rec.count, slots + 2);
		ok = 0;
	}
	ok &= rec.type[0] == 2 && rec.type[1] == 1;
	check_true(ok, sentence, line);
}

static int finish(const char *name)
{
	printf("%s: %d passed, %d failed\n", name, passed, failed);
	return failed != 0;
}

#endif
