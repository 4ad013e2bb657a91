/* SPDX-License-Identifier: MIT
 *
 * What all headers of this folder share. They include this one. These rules hold for every function they declare:
 *
 * Results     A function that can fail returns a Win32 code as uint32_t: 0 (ERROR_SUCCESS) means that it did its work.
 *             <winerror.h> names the codes, openetw_error_text() of error.h explains them. The functions of decode.h
 *             follow the rule, too: OPENETW_NO_SCHEMA and OPENETW_PARTLY are Win32 codes. A function fills what its
 *             pointers point to when it succeeds; otherwise it leaves that alone, unless its comment says more.
 *             A function that answers a question with yes or no returns bool. A function that creates an object
 *             returns NULL when memory runs out; the one that destroys the object accepts NULL.
 * Mistakes    The functions of a reader or recorder that say what is wanted return nothing. The object keeps the first
 *             mistake; its start function returns the code, its ..._problem() function returns a sentence.
 * Reasons     A code is often not all that is known. There are two places for the sentence that says more. A reader or
 *             recorder keeps its own: openetw_reader_problem(), openetw_recorder_problem(), and a decoder says why it
 *             could not decode an event: openetw_decoder_reason(). All other functions of this folder and of the
 *             Windows headers leave it to the thread that called: openetw_last_error_text(). Functions that take a
 *             reader or recorder may overwrite the thread's sentence, too.
 * Callbacks   A callback returns bool: true to go on, false to end the work of the function that calls it. The one
 *             exception is openetw_reader_filter_fn, which selects events.
 * Sizes       A structure that the library fills begins with `uint32_t size`. The caller sets it to sizeof the
 *             structure (OPENETW_SIZED does) before the first call. Later releases only add members at the end. The
 *             library fills what it knows and what the caller has room for, sets the rest of `size` bytes to zero and
 *             leaves `size` itself as it is. So old programs work with new libraries and new programs with old ones. A
 *             size below that of the first release, or above 65,536 bytes, is refused with ERROR_INVALID_PARAMETER. In
 *             a structure that a callback gets, `size` says how many bytes the library filled.
 * Text        Strings are UTF-8 and terminated.
 * Threads     One thread at a time uses an object. Any thread may call a function that takes no object.
 */
#ifndef OPENETW_DEFS_H
#define OPENETW_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef OPENETW_API
#define OPENETW_API __attribute__((visibility("default")))
#endif

/* The 16 bytes of a GUID as they lie in memory on Windows: those of {00112233-4455-…} begin with 33 22 11 00 55 44.
 * A `const GUID *` of <guiddef.h> may be cast to a `const struct openetw_guid *`. */
struct openetw_guid {
	uint8_t bytes[16];
};

/* Types of the Windows headers, by the names that those give them, so that this folder needs none of them. */
typedef struct _EVENT_RECORD openetw_event_record;                 /* EVENT_RECORD of evntcons.h */
typedef struct _EVENT_TRACE_PROPERTIES openetw_session_properties; /* EVENT_TRACE_PROPERTIES of evntrace.h */
typedef unsigned long long openetw_trace_handle;                   /* TRACEHANDLE of evntrace.h: 64 bits */

/* A variable of a structure whose first member is its size, ready for the library:
 *
 *   OPENETW_SIZED(struct openetw_loss, loss);
 *   if (openetw_session_loss("web", &loss) == 0) {
 *           printf("%llu events\n", (unsigned long long)loss.events);
 *   }
 */
#ifdef __cplusplus
#define OPENETW_SIZED(type, name) \
	type name = type();       \
	name.size = static_cast<uint32_t>(sizeof(type))
#else
#define OPENETW_SIZED(type, name) type name = {.size = sizeof(type)}
#endif

#endif
