/* SPDX-License-Identifier: MIT
 *
 * What error codes mean where traces are made and read: the table of "openetw explain".
 */
#ifndef TOOLS_COMMON_EXPLAIN_H
#define TOOLS_COMMON_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

struct explain_row {
	uint32_t code;
	const char *name;
	const char *meaning;
	const char *cause; /* likely cause in tracing; may be NULL */
	const char *next;  /* may be NULL */
};
extern const struct explain_row explain_rows[];
extern const size_t explain_count;

/* The row of a code as people meet it: as it is; of an HRESULT made of a Win32 code (0x8007xxxx,
 * 0xC007xxxx) the Win32 code's; of a negative decimal the same 32 bits. NULL: not known. */
const struct explain_row *explain_find(uint32_t code);
const struct explain_row *explain_find_name(const char *name);

#endif
