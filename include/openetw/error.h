/* SPDX-License-Identifier: MIT
 *
 * Error codes in words. In libetw.
 *
 *   uint32_t code = openetw_merge(paths, 2, "both.etl", 0, NULL, NULL);
 *   if (code != 0) {
 *           const char *why = openetw_last_error_text(), *text = openetw_error_text(code);
 *           fprintf(stderr, "%s\n", *why ? why : text ? text : "unknown code");
 *   }
 */
#ifndef OPENETW_ERROR_H
#define OPENETW_ERROR_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One English sentence (UTF-8) that says why this thread's last call that failed did so, more exactly than its Win32
 * code can: of StartTrace, ControlTrace, EnableTrace*, Query*, OpenTrace and other functions of the Windows headers, and of
 * those of this folder that take no reader, recorder or decoder (defs.h, "Reasons"). "" when nothing more is known.
 * Valid until the thread's next call. */
OPENETW_API const char *openetw_last_error_text(void);

/* English sentence and symbolic name ("ERROR_ACCESS_DENIED") of a Win32 code; NULL when unknown. */
OPENETW_API const char *openetw_error_text(uint32_t win32_code);
OPENETW_API const char *openetw_error_name(uint32_t win32_code);

#ifdef __cplusplus
}
#endif
#endif
