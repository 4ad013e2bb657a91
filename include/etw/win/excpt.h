/* SPDX-License-Identifier: MIT
 *
 * What structured exceptions are described with. They do not happen here (a fault is a signal), so
 * there is never a code or a record to look at: see etw_seh.h.
 */
#ifndef ETW_WIN_EXCPT_H
#define ETW_WIN_EXCPT_H

#include "windows.h"

#define EXCEPTION_EXECUTE_HANDLER       1
#define EXCEPTION_CONTINUE_SEARCH       0
#define EXCEPTION_CONTINUE_EXECUTION    (-1)
#define EXCEPTION_NONCONTINUABLE        1
#define EXCEPTION_MAXIMUM_PARAMETERS    15
#define EXCEPTION_ACCESS_VIOLATION      ((DWORD)0xC0000005)
#define EXCEPTION_IN_PAGE_ERROR         ((DWORD)0xC0000006)
#define EXCEPTION_ILLEGAL_INSTRUCTION   ((DWORD)0xC000001D)
#define EXCEPTION_FLT_DIVIDE_BY_ZERO    ((DWORD)0xC000008E)
#define EXCEPTION_INT_DIVIDE_BY_ZERO    ((DWORD)0xC0000094)
#define EXCEPTION_INT_OVERFLOW          ((DWORD)0xC0000095)
#define EXCEPTION_PRIV_INSTRUCTION      ((DWORD)0xC0000096)
#define EXCEPTION_STACK_OVERFLOW        ((DWORD)0xC00000FD)
#define EXCEPTION_BREAKPOINT            ((DWORD)0x80000003)
#define EXCEPTION_SINGLE_STEP           ((DWORD)0x80000004)
#define EXCEPTION_DATATYPE_MISALIGNMENT ((DWORD)0x80000002)

typedef struct _CONTEXT CONTEXT, *PCONTEXT;

typedef struct _EXCEPTION_RECORD {
	DWORD ExceptionCode;
	DWORD ExceptionFlags;
	struct _EXCEPTION_RECORD *ExceptionRecord;
	PVOID ExceptionAddress;
	DWORD NumberParameters;
	ULONG_PTR ExceptionInformation[EXCEPTION_MAXIMUM_PARAMETERS];
} EXCEPTION_RECORD, *PEXCEPTION_RECORD;

typedef struct _EXCEPTION_POINTERS {
	PEXCEPTION_RECORD ExceptionRecord;
	PCONTEXT ContextRecord;
} EXCEPTION_POINTERS, *PEXCEPTION_POINTERS, *LPEXCEPTION_POINTERS;

/* Of the exception that a filter or a handler is about: none. (clang has functions of these names.) */
#define _exception_code()         ((DWORD)0)
#define _exception_info()         ((PEXCEPTION_POINTERS)NULL)
#define _abnormal_termination()   0
#define GetExceptionCode()        _exception_code()
#define GetExceptionInformation() _exception_info()
#define AbnormalTermination()     _abnormal_termination()
#define exception_code()          _exception_code()
#define exception_info()          _exception_info()
#define abnormal_termination()    _abnormal_termination()

#endif
