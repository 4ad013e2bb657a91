/* SPDX-License-Identifier: MIT
 *
 * Win32 error codes: errno inside, Win32 at the border. err.def has the codes with name, text, cause, remedy.
 */
#ifndef BASE_WIN32_ERROR_H
#define BASE_WIN32_ERROR_H

#include <stdint.h>

/* Win32 code for a negative errno (or 0). Unknown errnos become ERROR_GEN_FAILURE (31). */
uint32_t win32_from_errno(int err);
/* Windows' English sentence for a Win32 code; NULL when unknown. */
const char *win32_text(uint32_t code);
/* Name such as "ERROR_ACCESS_DENIED"; NULL when unknown. */
const char *win32_name(uint32_t code);

#endif
