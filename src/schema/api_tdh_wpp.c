/* SPDX-License-Identifier: MIT
 *
 * Decoding handles and WPP messages: TdhOpenDecodingHandle, TdhSetDecodingParameter, TdhGetWppProperty,
 * TdhGetWppMessage. A handle has its own formats, out of the file and directories it was given; then
 * come those of the process.
 */
#include "schema/schema_store.h"
#include "schema/schema_tdh.h"
#include "schema/wpp.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HANDLE_MAGIC 0x48445445u
#define PATH_ROOM    4096u

struct decoding_handle {
	uint32_t magic;
	struct schema_store *formats; /* NULL: to be made from the parameters */
	uint64_t numbers[TDH_CONTEXT_MAXIMUM];
	uint16_t *strings[TDH_CONTEXT_MAXIMUM];
};

static struct decoding_handle *handle_of(TDH_HANDLE h)
{
	struct decoding_handle *d = (struct decoding_handle *)h;
	return d && d->magic == HANDLE_MAGIC ? d : NULL;
}

static bool is_string(ULONG type)
{
	return type == TDH_CONTEXT_WPP_TMFFILE || type == TDH_CONTEXT_WPP_TMFSEARCHPATH || type == TDH_CONTEXT_PDB_PATH;
}

TDHSTATUS TDHAPI TdhOpenDecodingHandle(PTDH_HANDLE Handle)
{
	if (!Handle) {
		return ERROR_INVALID_PARAMETER;
	}
	struct decoding_handle *d = calloc(1, sizeof *d);
	if (!d) {
		return ERROR_OUTOFMEMORY;
	}
	d->magic = HANDLE_MAGIC;
	*Handle = (TDH_HANDLE)d;
	return ERROR_SUCCESS;
}

TDHSTATUS TDHAPI TdhCloseDecodingHandle(TDH_HANDLE Handle)
{
	struct decoding_handle *d = handle_of(Handle);
	if (!d) {
		return ERROR_INVALID_PARAMETER;
	}
	for (unsigned i = 0; i < TDH_CONTEXT_MAXIMUM; i++) {
		free(d->strings[i]);
	}
	schema_store_destroy(d->formats);
	d->magic = 0;
	free(d);
	return ERROR_SUCCESS;
}

TDHSTATUS TDHAPI TdhSetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	struct decoding_handle *d = handle_of(Handle);
	if (!d || !TdhContext || (ULONG)TdhContext->ParameterType >= TDH_CONTEXT_MAXIMUM) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG type = (ULONG)TdhContext->ParameterType;
	uint64_t value = TdhContext->ParameterValue;
	if (is_string(type)) {
		const uint16_t *s = (const uint16_t *)(uintptr_t)value;
		uint16_t *copy = s ? utf16_dup(s, utf16_len(s)) : NULL;
		if (!copy) {
			return s ? ERROR_OUTOFMEMORY : ERROR_INVALID_PARAMETER;
		}
		free(d->strings[type]);
		d->strings[type] = copy;
		schema_store_destroy(d->formats);
		d->formats = NULL;
		return ERROR_SUCCESS;
	}
	if (type == TDH_CONTEXT_POINTERSIZE ? value != 4 && value != 8 : value > 1) {
		return ERROR_INVALID_PARAMETER;
	}
	d->numbers[type] = value;
	return ERROR_SUCCESS;
}

TDHSTATUS TDHAPI TdhGetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	struct decoding_handle *d = handle_of(Handle);
	if (!d || !TdhContext || (ULONG)TdhContext->ParameterType >= TDH_CONTEXT_MAXIMUM) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG type = (ULONG)TdhContext->ParameterType;
	TdhContext->ParameterValue = is_string(type) ? (ULONGLONG)(uintptr_t)d->strings[type] : d->numbers[type];
	return ERROR_SUCCESS;
}

/* ---- formats ---------------------------------------------------------------------------------- */

static int take_format(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	return schema_store_take_manifest(ctx, m, source, key);
}

/* <directory>/<guid>.tmf of the first directory that has it. */
static bool search(const char *list, const struct guid *g, char path[PATH_ROOM])
{
	char guid[37];
	guid_format(g, guid);
	while (*list) {
		size_t n = strcspn(list, ";");
		int k = snprintf(path, PATH_ROOM, "%.*s/%s.tmf", (int)n, list, guid);
		if (n && k > 0 && (size_t)k < PATH_ROOM && access(path, R_OK) == 0) {
			return true;
		}
		list += n + (list[n] == ';');
	}
	return false;
}

const struct schema_event *schema_tdh_find_message(const struct schema_record *s, ULONG context_count,
						   const TDH_CONTEXT *contexts)
{
	const struct schema_event *e = schema_process_find(false, &s->provider, s->id, 0);
	for (ULONG i = 0; i < context_count && !e; i++) {
		const void *value = (const void *)(uintptr_t)contexts[i].ParameterValue;
		ULONG type = (ULONG)contexts[i].ParameterType;
		struct openetw_text text = {0};
		char found[PATH_ROOM];
		const char *path = NULL;
		if (value && (type == TDH_CONTEXT_WPP_TMFFILE || type == TDH_CONTEXT_WPP_TMFSEARCHPATH)) {
			schema_tdh_utf8(value, &text);
			path = text.failed || text.length == 0 ? NULL : text.data;
		}
		if (path && type == TDH_CONTEXT_WPP_TMFSEARCHPATH) {
			path = search(path, &s->provider, found) ? found : NULL;
		}
		if (path && schema_process_load_once(path)) {
			e = schema_process_find(false, &s->provider, s->id, 0);
		}
		openetw_text_free(&text);
	}
	return e && e->source == SCHEMA_SOURCE_WPP ? e : NULL;
}

static ULONG find_message(struct decoding_handle *d, const EVENT_RECORD *r, struct schema_payload *ret,
			  struct schema_record *s)
{
	schema_record_read(r, s);
	if (!(s->flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)) {
		return ERROR_NOT_FOUND;
	}
	struct openetw_text text = {0};
	if (!d->formats) {
		d->formats = schema_store_create();
		if (d->formats && d->strings[TDH_CONTEXT_WPP_TMFFILE]) {
			schema_tdh_utf8(d->strings[TDH_CONTEXT_WPP_TMFFILE], &text);
			if (!text.failed) {
				schema_file_read(text.data, take_format, d->formats, NULL);
			}
		}
	}
	if (d->formats && d->strings[TDH_CONTEXT_WPP_TMFSEARCHPATH] &&
	    !schema_store_provider(d->formats, false, &s->provider)) {
		openetw_text_clear(&text);
		schema_tdh_utf8(d->strings[TDH_CONTEXT_WPP_TMFSEARCHPATH], &text);
		char path[PATH_ROOM];
		if (!text.failed && text.data && search(text.data, &s->provider, path)) {
			schema_file_read(path, take_format, d->formats, NULL);
		}
	}
	openetw_text_free(&text);
	const struct schema_event *e =
		d->formats ? schema_store_resolve(d->formats, false, &s->provider, s->id, 0) : NULL;
	e = e ? e : schema_process_find(false, &s->provider, s->id, 0);
	if (!e || e->source != SCHEMA_SOURCE_WPP) {
		return ERROR_NOT_FOUND;
	}
	unsigned pointer =
		d->numbers[TDH_CONTEXT_POINTERSIZE] ? (unsigned)d->numbers[TDH_CONTEXT_POINTERSIZE] : sizeof(void *);
	*ret = (struct schema_payload){
		e, s->payload, s->payload_bytes, s->pointer_size ? s->pointer_size : pointer, d->formats, NULL};
	return ERROR_SUCCESS;
}

/* ---- what a message is asked for --------------------------------------------------------------- */

static ULONG give_text(const char *s, size_t n, void *buffer, ULONG *size)
{
	uint16_t *wide = malloc(2 * (n + 1));
	long units = wide ? utf8_to_utf16(s, n, wide, n + 1) : -1;
	ULONG status = units < 0 ? ERROR_OUTOFMEMORY : schema_tdh_give(wide, 2 * ((size_t)units + 1), buffer, size);
	free(wide);
	return status;
}

static ULONG give_message(const struct schema_payload *p, void *buffer, ULONG *size)
{
	struct openetw_text t = {0};
	wpp_format(p, &t); /* a payload cut off: what there is, as tracefmt shows it */
	ULONG status = t.failed ? ERROR_OUTOFMEMORY : give_text(t.data ? t.data : "", t.length, buffer, size);
	openetw_text_free(&t);
	return status;
}

static ULONG give_u32(uint32_t v, void *buffer, ULONG *size)
{
	return schema_tdh_give(&v, 4, buffer, size);
}

static ULONG give_attribute(const struct schema_event *e, const char *key, void *buffer, ULONG *size)
{
	size_t n;
	const char *s = wpp_attribute(e, key, &n);
	return give_text(s, n, buffer, size);
}

static ULONG give_time(uint64_t t, void *buffer, ULONG *size)
{
	/* SYSTEMTIME; days by the method of schema_format.c */
	uint64_t seconds = t / 10000000, days = seconds / 86400 + 584694;
	unsigned rest = (unsigned)(seconds % 86400), doe = (unsigned)(days % 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	unsigned month = mp < 10 ? mp + 3 : mp - 9;
	uint16_t v[8] = {
		(uint16_t)(days / 146097 * 400 + yoe + (month <= 2)),
		(uint16_t)month,
		(uint16_t)((days + 3) % 7),
		(uint16_t)(doy - (153 * mp + 2) / 5 + 1),
		(uint16_t)(rest / 3600),
		(uint16_t)(rest / 60 % 60),
		(uint16_t)(rest % 60),
		(uint16_t)(t / 10000 % 1000),
	};
	return schema_tdh_give(v, sizeof v, buffer, size);
}

ULONG schema_tdh_message_property(const char *name, const EVENT_RECORD *r, const struct schema_payload *p, void *buffer,
				  ULONG *size)
{
	const EVENT_HEADER *h = &r->EventHeader;
	const struct schema_event *e = p->event;
	static const struct {
		const char *name, *key;
	} attributes[] = {
		{"FunctionName", "FUNC"},      {"LevelName", "LEVEL"},          {"FlagsName", "FLAGS"},
		{"ComponentName", "COMPNAME"}, {"SubComponentName", "SUBCOMP"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(attributes); i++) {
		if (strcmp(name, attributes[i].name) == 0) {
			return give_attribute(e, attributes[i].key, buffer, size);
		}
	}
	const struct {
		const char *name;
		uint32_t value;
	} numbers[] = {
		{"Version", h->EventDescriptor.Version},
		{"ThreadId", h->ThreadId},
		{"ProcessId", h->ProcessId},
		{"UserTime", h->UserTime},
		{"KernelTime", h->KernelTime},
		{"SequenceNum", 0}, /* records do not carry it */
		{"CpuNumber", r->BufferContext.ProcessorNumber},
		{"Indent", 0},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(numbers); i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			return give_u32(numbers[i].value, buffer, size);
		}
	}
	if (strcmp(name, "TraceGuid") == 0 || strcmp(name, "ProviderGuid") == 0) {
		return schema_tdh_give(&h->ProviderId, 16, buffer, size);
	}
	if (strcmp(name, "GuidName") == 0) {
		return give_text(schema_text(e, e->provider_name), e->provider_name.bytes, buffer, size);
	}
	if (strcmp(name, "GuidTypeName") == 0) {
		return give_text(schema_text(e, e->event_name), e->event_name.bytes, buffer, size);
	}
	if (strcmp(name, "SystemTime") == 0) {
		return give_time((uint64_t)h->TimeStamp.QuadPart, buffer, size);
	}
	if (strcmp(name, "RawSystemTime") == 0) {
		return schema_tdh_give(&h->TimeStamp, 8, buffer, size);
	}
	return strcmp(name, "FormattedString") == 0 ? give_message(p, buffer, size) : ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhGetWppProperty(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PWSTR PropertyName, PULONG BufferSize,
				   PBYTE Buffer)
{
	struct decoding_handle *d = handle_of(Handle);
	if (!d || !EventRecord || !PropertyName || schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct schema_payload p;
	struct schema_record s;
	ULONG status = find_message(d, EventRecord, &p, &s);
	struct openetw_text name = {0};
	schema_tdh_utf8(PropertyName, &name);
	if (status == ERROR_SUCCESS) {
		status = name.failed ? ERROR_OUTOFMEMORY
				     : schema_tdh_message_property(name.data, EventRecord, &p, Buffer, BufferSize);
	}
	openetw_text_free(&name);
	return status;
}

TDHSTATUS TDHAPI TdhGetWppMessage(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PULONG BufferSize, PBYTE Buffer)
{
	struct decoding_handle *d = handle_of(Handle);
	if (!d || !EventRecord || schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct schema_payload p;
	struct schema_record s;
	ULONG status = find_message(d, EventRecord, &p, &s);
	return status == ERROR_SUCCESS ? give_message(&p, Buffer, BufferSize) : status;
}
