/* SPDX-License-Identifier: MIT
 *
 * Loading manifests, decoding handles, WPP and payload filters: argument checks are complete; what
 * needs an XML manifest reader or TMF files says so with the code Windows has for "not there".
 */
#include "schema/schema_tdh.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- manifests: XML is read by tools, not in other people's processes ---------------------------
 */

static ULONG check_path(PWSTR path)
{
	if (!path || !*path) {
		return ERROR_INVALID_PARAMETER;
	}
	struct openetw_text name = {0};
	schema_tdh_utf8(path, &name);
	ULONG status = name.failed		      ? ERROR_OUTOFMEMORY
		       : access(name.data, R_OK) != 0 ? ERROR_FILE_NOT_FOUND
						      : ERROR_NOT_SUPPORTED;
	openetw_text_free(&name);
	return status;
}

TDHSTATUS TDHAPI TdhLoadManifest(PWSTR Manifest)
{
	return check_path(Manifest);
}

TDHSTATUS TDHAPI TdhUnloadManifest(PWSTR Manifest)
{
	return check_path(Manifest);
}

TDHSTATUS TDHAPI TdhLoadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	return !pData || cbData == 0 ? ERROR_INVALID_PARAMETER : ERROR_NOT_SUPPORTED;
}

TDHSTATUS TDHAPI TdhUnloadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	return !pData || cbData == 0 ? ERROR_INVALID_PARAMETER : ERROR_NOT_SUPPORTED;
}

TDHSTATUS TDHAPI TdhLoadManifestFromBinary(PWSTR BinaryPath)
{
	ULONG status = check_path(BinaryPath);
	/* an ELF file has no WEVT_TEMPLATE resource */
	return status == ERROR_NOT_SUPPORTED ? ERROR_RESOURCE_NOT_FOUND : status;
}

/* ---- decoding handles
 * ------------------------------------------------------------------------------ */

#define HANDLE_MAGIC 0x48445445u

struct decoding_handle {
	uint32_t magic;
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
	return type == TDH_CONTEXT_WPP_TMFFILE || type == TDH_CONTEXT_WPP_TMFSEARCHPATH ||
	       type == TDH_CONTEXT_PDB_PATH;
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
	TdhContext->ParameterValue =
		is_string(type) ? (ULONGLONG)(uintptr_t)d->strings[type] : d->numbers[type];
	return ERROR_SUCCESS;
}

/* ---- WPP: without TMF files nothing is known about a message
 * --------------------------------------- */

TDHSTATUS TDHAPI TdhGetWppProperty(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PWSTR PropertyName,
				   PULONG BufferSize, PBYTE Buffer)
{
	if (!handle_of(Handle) || !EventRecord || !PropertyName ||
	    schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	return ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhGetWppMessage(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PULONG BufferSize,
				  PBYTE Buffer)
{
	if (!handle_of(Handle) || !EventRecord ||
	    schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	return ERROR_NOT_FOUND;
}

/* ---- payload filters
 * ------------------------------------------------------------------------------- */

struct known_event {
	const EVENT_DESCRIPTOR *wanted;
};

static int is_event(void *ctx, const struct schema_event *e)
{
	const struct known_event *k = ctx;
	return le16_get(e->descriptor) == k->wanted->Id && e->descriptor[2] == k->wanted->Version;
}

/* The event's manifest must be known; evaluating payload filters is not implemented yet, and a
 * filter that silently passes everything would be worse than none. */
TDHSTATUS TDHAPI TdhCreatePayloadFilter(LPCGUID ProviderGuid, PCEVENT_DESCRIPTOR EventDescriptor,
					BOOLEAN EventMatchANY, ULONG PayloadPredicateCount,
					PPAYLOAD_FILTER_PREDICATE PayloadPredicates,
					PVOID *PayloadFilter)
{
	if (!ProviderGuid || !EventDescriptor || PayloadPredicateCount == 0 ||
	    PayloadPredicateCount > MAX_PAYLOAD_PREDICATES || !PayloadPredicates ||
	    !PayloadFilter) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(g.b, ProviderGuid, 16);
	struct known_event k = {EventDescriptor};
	return schema_process_each_event(&g, is_event, &k) ? ERROR_NOT_SUPPORTED : ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhDeletePayloadFilter(PVOID *PayloadFilter)
{
	if (!PayloadFilter) {
		return ERROR_INVALID_PARAMETER;
	}
	*PayloadFilter = NULL; /* none was ever created */
	return ERROR_SUCCESS;
}

TDHSTATUS TDHAPI TdhAggregatePayloadFilters(ULONG PayloadFilterCount, PVOID *PayloadFilterPtrs,
					    PBOOLEAN EventMatchALLFlags,
					    PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	if (PayloadFilterCount == 0 || !PayloadFilterPtrs || !EventFilterDescriptor) {
		return ERROR_INVALID_PARAMETER;
	}
	return ERROR_NOT_SUPPORTED;
}

TDHSTATUS TDHAPI
TdhCleanupPayloadEventFilterDescriptor(PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	if (!EventFilterDescriptor) {
		return ERROR_INVALID_PARAMETER;
	}
	memset(EventFilterDescriptor, 0, sizeof *EventFilterDescriptor);
	return ERROR_SUCCESS;
}
