/* SPDX-License-Identifier: MIT
 * evntprov.h: CveEventWrite.
 */
#include <evntprov.h>

#include "base/base.h"

/* {85a62a0d-7e17-485f-9d4f-749a287193a6} [doc] */
static const GUID audit_cve = {0x85a62a0d, 0x7e17, 0x485f, {0x9d, 0x4f, 0x74, 0x9a, 0x28, 0x71, 0x93, 0xa6}};

static EVENT_DATA_DESCRIPTOR text(PCWSTR s)
{
	static const WCHAR none[1];
	s = s ? s : none;
	size_t bytes = 2 * (utf16_len((const uint16_t *)(const void *)s) + 1);
	return (EVENT_DATA_DESCRIPTOR){
		.Ptr = (ULONGLONG)(uintptr_t)s,
		.Size = (ULONG)BASE_MIN(bytes, (size_t)UINT32_MAX),
	};
}

/* Rare by nature, so the registration lives for one call. Id, level and fields: [asm] event 1,
 * warning, the two texts. */
LONG WINAPI CveEventWrite(PCWSTR CveId, PCWSTR AdditionalDetails)
{
	static const EVENT_DESCRIPTOR desc = {.Id = 1, .Level = 3};
	REGHANDLE h;
	if (!CveId) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG r = EventRegister(&audit_cve, NULL, NULL, &h);
	if (r != ERROR_SUCCESS) {
		return (LONG)r;
	}
	EVENT_DATA_DESCRIPTOR d[2] = {text(CveId), text(AdditionalDetails)};
	r = EventWrite(h, &desc, 2, d);
	EventUnregister(h);
	return (LONG)r;
}
