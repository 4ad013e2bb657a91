/* SPDX-License-Identifier: MIT
 *
 * win: the functions of <windows.h> and of a 16-bit wide C runtime. Front door.
 *
 * Two kinds of names are exported, as libetw-win.so:
 *
 *   api_*.c   functions with their Windows names, declared in include/etw/win
 *   crt_*.c   functions named etw16_…, to which include/etw/win/crt binds the C runtime of
 *             programs compiled with -fshort-wchar by assembler label. The library is itself
 *             compiled without that flag: a wide string is an array of uint16_t here, and libc's
 *             wide functions, which want 32 bits, are never called.
 *
 * The narrow printf family is bound as well, because %lu means 32 bits, %I64u exists, and %S and
 * %ls take 16-bit strings in the sources this is for.
 */
#ifndef WINRT_WIN_H
#define WINRT_WIN_H

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

#define WIN_EXPORT __attribute__((visibility("default")))

/* ---- formatting ----------------------------------------------------------------------------- */

/* Where formatted text goes: a buffer of 16-bit or 8-bit units, or, with `file`, grown memory that
 * is written out at the end. */
struct win_sink {
	bool wide;    /* units of 16 bits */
	void *buf;    /* may be NULL: count only */
	size_t cap;   /* units, terminator not included */
	size_t count; /* units that there would be */
	bool grow;    /* buf is malloc'ed and grows; the owner frees it */
	bool failed;  /* out of memory, or a bad format */
};

/* Microsoft's printf: `format` is of uint16_t when `format_wide`. */
void win_format(struct win_sink *s, const void *format, bool format_wide, va_list ap);
void win_sink_unit(struct win_sink *s, uint16_t unit);
void win_sink_utf8(struct win_sink *s, const char *text, size_t n);
void win_sink_utf16(struct win_sink *s, const uint16_t *text, size_t n);

/* ---- strings -------------------------------------------------------------------------------- */

/* malloc'ed UTF-8 of a terminated UTF-16 string; NULL in, NULL out. */
char *win_utf8(const uint16_t *s);
/* malloc'ed UTF-16. */
uint16_t *win_utf16(const char *s);
/* A Windows path as one for open(): malloc'ed, separators turned, drive letter dropped. */
char *win_path(const char *utf8);
uint16_t win_lower(uint16_t c);
uint16_t win_upper(uint16_t c);

/* ---- handles --------------------------------------------------------------------------------- */

enum win_kind {
	WIN_EVENT = 1,
	WIN_THREAD,
	WIN_PROCESS,
	WIN_FILE,
	WIN_TOKEN,
	WIN_HEAP,
	WIN_MUTEX,
	WIN_SEMAPHORE,
	WIN_MAPPING,
	WIN_WAIT /* of RegisterWaitForSingleObject; start_arg: its wait */
};

/* What a HANDLE stands for. */
struct win_object {
	enum win_kind kind;
	int refs;      /* of its handles, and of those who use it at the moment */
	bool signaled; /* under the wait lock */
	bool manual_reset;
	bool suspended;
	bool owns_fd;
	bool of_fd; /* `fd` is a descriptor of the program, which was this file: */
	uint64_t dev, ino;
	bool child;        /* a process that this one started */
	void *closes;      /* a thread of _beginthread: its handle, which it closes at its end */
	int fd;            /* file, or pidfd of a process, -1 otherwise */
	int pid;           /* process, or tid of a thread; the thread that owns a mutex, else 0 */
	long count, limit; /* of a semaphore; how often a mutex was taken */
	uint32_t exit_code;
	uint16_t *name;
	struct win_object *next; /* named events */
	uint32_t (*start)(void *);
	void *start_arg;
};

void win_child_left(pid_t pid);                        /* of a child, when its last handle is closed */
struct win_object *win_object_new(enum win_kind kind); /* one reference; NULL and last error 8 */
/* The objects of a process and of the calling thread, with one reference for the caller; NULL and last error 8. */
struct win_object *win_object_of_process(int pid);
struct win_object *win_object_of_thread(void);
void win_object_unref(struct win_object *o); /* NULL is fine */
/* A handle of it, which takes the caller's reference, too when there is none: NULL and last error 8. NULL of NULL. */
void *win_handle_give(struct win_object *o);
/* The same, but CloseHandle leaves this handle as it is. Duplicates of it can be closed. */
void *win_handle_give_for_good(struct win_object *o);
/* The object if it is one of `kind` (0: any), with one more reference; else NULL and ERROR_INVALID_HANDLE. */
struct win_object *win_object_of(const void *handle, enum win_kind kind);
/* The same, but the last error stays as it is. A file of a descriptor that the program has closed, or made another
 * file, is none any more. */
struct win_object *win_object_find(const void *handle, enum win_kind kind);
/* False: it is of a descriptor of the program, which is closed or another file by now. */
bool win_object_has_file(const struct win_object *o);
/* The object, whose reference is nobody's: only to be compared with another. NULL: no handle. */
const void *win_handle_object(const void *handle);
/* A variable that gives the reference of win_object_of() back at the end of its block. */
static inline void win_object_drop(struct win_object **o)
{
	win_object_unref(*o);
}
#define WIN_USED __attribute__((cleanup(win_object_drop)))
/* Is it one of `kind` (0: any)? Else ERROR_INVALID_HANDLE. */
bool win_handle_is(const void *handle, enum win_kind kind);
/* False: ERROR_INVALID_HANDLE. What uses its object at the moment keeps it. The first function refuses a WIN_WAIT,
 * the second one everything else. */
bool win_handle_close(const void *handle);
bool win_handle_close_wait(const void *handle);
/* The object of that name (any case), with one more reference and ERROR_ALREADY_EXISTS; NULL and
 * ERROR_INVALID_HANDLE when it is of another kind. Without one, a new object and ERROR_SUCCESS, or,
 * `open_only`, NULL and ERROR_FILE_NOT_FOUND; opening one leaves the last error alone. The lock is held when it returns an object, whose reference is for
 * win_handle_give(). */
struct win_object *win_object_named(enum win_kind kind, const uint16_t *name, bool open_only);
/* The lock of what waits look at; the second lets waiters look again. */
void win_objects_lock(void);
void win_objects_unlock(bool changed);
/* With the lock held: until some object has changed. */
void win_objects_wait(void);

/* The NTSTATUS of a Win32 code, as RtlNtStatusToDosError has it; STATUS_UNSUCCESSFUL without one. */
int32_t win_status_of(uint32_t code);
/* Sets the last error to that of errno; returns 0. */
int win_fail_errno(void);
int win_fail(uint32_t code);
/* Milliseconds from now as an absolute CLOCK_MONOTONIC time. */
struct timespec;
void win_deadline(struct timespec *ret, uint32_t milliseconds);

/* ---- other libraries ------------------------------------------------------------------------- */

/* A function of libopenetw, which is loaded with the first one: few programs need it. NULL: it is not installed. */
void *win_openetw(const char *name);

#endif
