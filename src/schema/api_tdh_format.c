/* SPDX-License-Identifier: MIT
 *
 * TdhFormatProperty. Its text choices where Windows' are not documented: "true"/"false", upper-case
 * hex with 0x and no padding, shortest float that reads back the same, ISO dates in UTC with 100
 * ns, bits of a map joined by '|'.
 */
#include "schema/schema_tdh.h"

static bool is_mappable(USHORT in)
{
	return in == TDH_INTYPE_UINT8 || in == TDH_INTYPE_UINT16 || in == TDH_INTYPE_UINT32 ||
	       in == TDH_INTYPE_HEXINT32;
}

static bool is_known(USHORT in)
{
	return (in >= TDH_INTYPE_UNICODESTRING && in <= TDH_INTYPE_MANIFEST_COUNTEDBINARY &&
		in != TDH_INTYPE_RESERVED24) ||
	       (in >= TDH_INTYPE_COUNTEDSTRING && in <= TDH_INTYPE_WBEMSID);
}

static ULONG format_value(const EVENT_MAP_INFO *map, USHORT in, USHORT out, const struct schema_value *v,
			  struct openetw_text *text)
{
	uint32_t n;
	if (map && is_mappable(in) && schema_value_u32(in, v->p, &n)) {
		/* The caller's block, whose size they do not tell us; they got it from us. */
		struct schema_map m = {(const uint8_t *)map, UINT32_MAX, (uint32_t)map->Flag, map->EntryCount};
		return schema_map_text(&m, n, text, NULL) ? ERROR_SUCCESS : ERROR_EVT_INVALID_EVENT_DATA;
	}
	schema_value_format(text, SCHEMA_STYLE_TDH, in, out, v);
	return ERROR_SUCCESS;
}

/* Terminated UTF-16 into the caller's buffer under the size protocol (bytes). */
static ULONG give_wide(const struct openetw_text *text, PWCHAR buffer, ULONG *size)
{
	const char *s = text->data ? text->data : "";
	long units = utf8_to_utf16(s, text->length, NULL, 0);
	if (units < 0) {
		return ERROR_EVT_INVALID_EVENT_DATA;
	}
	ULONG need = 2 * ((ULONG)units + 1);
	bool fits = buffer && *size >= need;
	if (fits) {
		utf8_to_utf16(s, text->length, (uint16_t *)buffer, (size_t)units + 1);
	}
	*size = need;
	return fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER;
}

TDHSTATUS TDHAPI TdhFormatProperty(PTRACE_EVENT_INFO EventInfo, PEVENT_MAP_INFO MapInfo, ULONG PointerSize,
				   USHORT PropertyInType, USHORT PropertyOutType, USHORT PropertyLength,
				   USHORT UserDataLength, PBYTE UserData, PULONG BufferSize, PWCHAR Buffer,
				   PUSHORT UserDataConsumed)
{
	if (!BufferSize || !UserDataConsumed || (!UserData && UserDataLength != 0) ||
	    (PointerSize != 4 && PointerSize != 8) || !is_known(PropertyInType)) {
		return ERROR_INVALID_PARAMETER;
	}
	const uint8_t *data = UserData ? UserData : (const uint8_t *)"";
	uint32_t length = PropertyLength;
	if (length == 0) { /* zero means "not given": up to the NUL */
		length = SCHEMA_NO_LENGTH;
	}
	struct schema_value v;
	if (schema_value_read(PropertyInType, PropertyOutType, length, PointerSize, data, UserDataLength, &v) < 0) {
		return ERROR_EVT_INVALID_EVENT_DATA;
	}
	struct openetw_text text = {0};
	ULONG status = format_value(MapInfo, PropertyInType, PropertyOutType, &v, &text);
	if (text.failed) {
		status = ERROR_OUTOFMEMORY;
	}
	if (status == ERROR_SUCCESS) {
		status = give_wide(&text, Buffer, BufferSize);
	}
	if (status == ERROR_SUCCESS) {
		*UserDataConsumed = (USHORT)v.consumed;
	}
	openetw_text_free(&text);
	return status;
}
