/* SPDX-License-Identifier: MIT
 *
 * A trace session said in small steps, checked as a whole, started in one. In libopenetw.
 *
 *   struct openetw_recorder *s = openetw_recorder_create("web");
 *   openetw_recorder_set_file(s, "web.etl", 0, OPENETW_RECORDER_SEQUENTIAL);
 *   openetw_recorder_add_provider(s, "MyCompany.Web", 4, 0, 0, 0);
 *   if (openetw_recorder_start(s) != 0) {
 *           fprintf(stderr, "%s\n", openetw_recorder_problem(s));
 *   }
 *   …
 *   openetw_recorder_stop(s);
 *   openetw_recorder_destroy(s);
 *
 * A session may have events of the machine too, beside those of programs or alone; they take root, or the rights of
 * openetw-kernel:
 *
 *   openetw_recorder_add_kernel(s, "PROC_THREAD+LOADER+PROFILE");
 *   openetw_recorder_add_kernel_stacks(s, "Profile");
 *
 * samples/recorder.c does both. The setters never fail; openetw_recorder_check() finds every mistake before anything is started, the
 * first one first. One thread at a time. Strings are UTF-8.
 */
#ifndef OPENETW_RECORDER_H
#define OPENETW_RECORDER_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct openetw_recorder;

/* NULL when memory runs out. The name may be wrong: the check says so. */
OPENETW_API struct openetw_recorder *openetw_recorder_create(const char *name);
/* Stops a session that this started and nobody stopped. NULL is fine. */
OPENETW_API void openetw_recorder_destroy(struct openetw_recorder *s);

#define OPENETW_RECORDER_SEQUENTIAL 1u /* ends at the size, if there is one */
#define OPENETW_RECORDER_CIRCULAR   2u /* overwrites the oldest; needs a size */
/* An .etl file of at most so many MiB; 0: no limit. */
OPENETW_API void openetw_recorder_set_file(struct openetw_recorder *s, const char *path, uint32_t mib, uint32_t mode);
/* Events can be read live (openetw/reader.h). */
OPENETW_API void openetw_recorder_set_live(struct openetw_recorder *s, bool live);
/* Buffers of so many KiB, at least and at most so many; 0: the default. */
OPENETW_API void openetw_recorder_set_buffers(struct openetw_recorder *s, uint32_t kib, uint32_t least, uint32_t most);
/* Part-filled buffers are handed on after so long; 0: the default. */
OPENETW_API void openetw_recorder_set_flush(struct openetw_recorder *s, uint32_t milliseconds);
/* A provider by its name, "*name" or "{GUID}"; level 1 to 255, 0 for all; keywords of which any and of
 * which all must be there, 0 for no such condition; EVENT_ENABLE_PROPERTY_* of evntrace.h. */
OPENETW_API void openetw_recorder_add_provider(struct openetw_recorder *s, const char *provider, uint32_t level,
					       uint64_t any_keyword, uint64_t all_keywords, uint32_t properties);
/* Only these events of the provider that was added last, in the filter language of docs/cli.md as far as a session evaluates
 * it: "event == Order and Number >= 3 or event in (Login, Logout)", "id in (7, 8)", "event != Tick". Conditions on
 * fields of a manifest's event need its manifest, installed or loaded (openetw_schema_load_file). NULL: all events. */
OPENETW_API void openetw_recorder_set_filter(struct openetw_recorder *s, const char *filter);
/* Kernel events, by xperf's names of flags and groups, joined by '+', in any case: "CSWITCH+DISK_IO", "DiagEasy";
 * `openetw xperf -providers K` lists them. A flag that Linux has nothing for is a mistake; of a group it is left out.
 * May be called again: the flags add up. Any number of such sessions run at a time; one called "NT Kernel Logger" is
 * the one that other tools know, and has no events of programs.
 *
 * A provider (above) may also be "Windows Kernel Trace", whose keywords of which any are EVENT_TRACE_FLAG_*, or a
 * system provider, "SystemProcessProvider" and its like, with its keywords. */
OPENETW_API void openetw_recorder_add_kernel(struct openetw_recorder *s, const char *flags);
/* The same by EVENT_TRACE_FLAG_* of evntrace.h. */
OPENETW_API void openetw_recorder_add_kernel_flags(struct openetw_recorder *s, uint32_t flags);
/* These kernel events, as xperf -stackwalk names them, joined by '+', have stacks: "Profile+CSwitch". */
OPENETW_API void openetw_recorder_add_kernel_stacks(struct openetw_recorder *s, const char *events);
/* A session of this name that runs already, such as an "NT Kernel Logger" that nobody stopped, is stopped, and the start
 * tried again, once. Without this the start says ERROR_ALREADY_EXISTS. */
OPENETW_API void openetw_recorder_set_replace(struct openetw_recorder *s, bool replace);
/* Only events of these processes, at most 8: of kernel events, those that belong to one. */
OPENETW_API void openetw_recorder_add_pid(struct openetw_recorder *s, uint32_t pid);

enum openetw_mistake {
	OPENETW_MISTAKE_NONE,
	OPENETW_MISTAKE_NO_MEMORY, /* while it was said what is wanted */
	OPENETW_MISTAKE_NAME_EMPTY,
	OPENETW_MISTAKE_NAME_TOO_LONG, /* more than 1023 UTF-16 units */
	OPENETW_MISTAKE_NAME_INVALID,  /* no UTF-8, or control characters */
	OPENETW_MISTAKE_NO_OUTPUT,     /* neither a file nor live */
	OPENETW_MISTAKE_PATH_EMPTY,
	OPENETW_MISTAKE_PATH_TOO_LONG, /* more than 1023 UTF-16 units */
	OPENETW_MISTAKE_FILE_MODE,     /* unknown mode */
	OPENETW_MISTAKE_NO_FILE_SIZE,  /* circular without a size */
	OPENETW_MISTAKE_BUFFER_SIZE,   /* not 4 KiB to 16 MiB */
	OPENETW_MISTAKE_BUFFER_COUNTS, /* least > most, or more than 1,048,576 */
	OPENETW_MISTAKE_FLUSH,         /* more than an hour */
	OPENETW_MISTAKE_NO_PROVIDER,
	OPENETW_MISTAKE_PROVIDER_EMPTY,
	OPENETW_MISTAKE_PROVIDER_INVALID, /* no GUID and no name */
	OPENETW_MISTAKE_PROVIDER_TWICE,
	OPENETW_MISTAKE_LEVEL,        /* above 255 */
	OPENETW_MISTAKE_TOO_MANY,     /* more than 64 providers or 8 processes */
	OPENETW_MISTAKE_KERNEL_FLAG,  /* unknown, or Linux has nothing for it */
	OPENETW_MISTAKE_KERNEL_STACK, /* unknown, or without kernel events */
	OPENETW_MISTAKE_KERNEL_NAME,  /* events of programs in the NT Kernel Logger */
	OPENETW_MISTAKE_FILTER,       /* no such filter, more than a session evaluates, or of no provider */
};
/* The first mistake; openetw_recorder_problem() says which value it is and what is allowed. */
OPENETW_API enum openetw_mistake openetw_recorder_check(struct openetw_recorder *s);
OPENETW_API const char *openetw_recorder_problem(const struct openetw_recorder *s);

/* Win32 code: ERROR_INVALID_PARAMETER when the check fails, ERROR_ALREADY_EXISTS, ERROR_ACCESS_DENIED without the rights
 * for kernel events, … openetw_recorder_problem() has the reason in words. When a provider or stacks cannot be had, the
 * session is stopped again. */
OPENETW_API uint32_t openetw_recorder_start(struct openetw_recorder *s);
/* Of a running session with kernel events: what is not recorded, and why; "" when nothing is missing. Borrowed until
 * the next call. */
OPENETW_API const char *openetw_recorder_note(struct openetw_recorder *s);
OPENETW_API uint32_t openetw_recorder_stop(struct openetw_recorder *s);

#ifdef __cplusplus
}
#endif
#endif
