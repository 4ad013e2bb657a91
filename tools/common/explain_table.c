/* SPDX-License-Identifier: MIT
 * Finds the rows of base/err.def by code or by name.
 */
#include "tools/common/explain.h"

#include <strings.h>

const struct explain_row explain_rows[] = {
#define ERR_WIN32(code, name, text, meaning, cause, remedy) {code, name, meaning, cause, remedy},
#define ERR_OTHER(code, name, meaning, cause, remedy)       {code, name, meaning, cause, remedy},
#include "base/err.def"
};
const size_t explain_count = sizeof explain_rows / sizeof explain_rows[0];

static const struct explain_row *exactly(uint32_t code)
{
	for (size_t i = 0; i < explain_count; i++) {
		if (explain_rows[i].code == code) {
			return &explain_rows[i];
		}
	}
	return NULL;
}

const struct explain_row *explain_find(uint32_t code)
{
	const struct explain_row *r = exactly(code);
	/* HRESULT_FROM_WIN32, also as NTSTATUS_FROM_WIN32 spells it. */
	if (!r && ((code & 0xFFFF0000u) == 0x80070000u || (code & 0xFFFF0000u) == 0xC0070000u)) {
		r = exactly(code & 0xFFFF);
	}
	/* HRESULT_FROM_NT */
	if (!r && (code & 0xF0000000u) == 0xD0000000u) {
		r = exactly((code & 0x0FFFFFFFu) | 0xC0000000u);
	}
	return r;
}

const struct explain_row *explain_find_name(const char *name)
{
	/* HRESULTs that are Win32 codes in another dress. */
	static const struct {
		const char *name;
		uint32_t code;
	} dressed[] = {{"E_ACCESSDENIED", 5}, {"E_HANDLE", 6}, {"E_OUTOFMEMORY", 14}, {"E_INVALIDARG", 87}};
	for (size_t i = 0; i < sizeof dressed / sizeof dressed[0]; i++) {
		if (strcasecmp(dressed[i].name, name) == 0) {
			return exactly(dressed[i].code);
		}
	}
	static const char *const fronts[] = {"", "ERROR_", "STATUS_", "PLA_E_", "ERROR_WMI_"};
	for (size_t f = 0; f < sizeof fronts / sizeof fronts[0]; f++) {
		for (size_t i = 0; i < explain_count; i++) {
			size_t n = __builtin_strlen(fronts[f]);
			if (strncasecmp(explain_rows[i].name, fronts[f], n) == 0 &&
			    strcasecmp(explain_rows[i].name + n, name) == 0) {
				return &explain_rows[i];
			}
		}
	}
	return NULL;
}
