/* SPDX-License-Identifier: MIT
 *
 * Win32, HRESULT and NTSTATUS values. ETW functions return Win32 codes; only OpenTrace and the
 * inquiries of classic providers report through GetLastError.
 */
#ifndef ETW_WIN_WINERROR_H
#define ETW_WIN_WINERROR_H

#include "../values/errors.h"
#include "minwindef.h"

#define ETW_HRESULT(v)          ((HRESULT)(v))
#define S_OK                    ETW_HRESULT(0)
#define S_FALSE                 ETW_HRESULT(1)
#define E_NOTIMPL               ETW_HRESULT(0x80004001u)
#define E_NOINTERFACE           ETW_HRESULT(0x80004002u)
#define E_POINTER               ETW_HRESULT(0x80004003u)
#define E_ABORT                 ETW_HRESULT(0x80004004u)
#define E_FAIL                  ETW_HRESULT(0x80004005u)
#define E_BOUNDS                ETW_HRESULT(0x8000000Bu)
#define E_PENDING               ETW_HRESULT(0x8000000Au)
#define E_UNEXPECTED            ETW_HRESULT(0x8000FFFFu)
#define E_ACCESSDENIED          ETW_HRESULT(0x80070005u)
#define E_HANDLE                ETW_HRESULT(0x80070006u)
#define E_OUTOFMEMORY           ETW_HRESULT(0x8007000Eu)
#define E_INVALIDARG            ETW_HRESULT(0x80070057u)
#define E_NOT_SUFFICIENT_BUFFER ETW_HRESULT(0x8007007Au)
#define CLASS_E_NOAGGREGATION   ETW_HRESULT(0x80040110u)
#define DISP_E_BADVARTYPE       ETW_HRESULT(0x80020008u)
#define DISP_E_BADINDEX         ETW_HRESULT(0x8002000Bu)
#define DISP_E_ARRAYISLOCKED    ETW_HRESULT(0x8002000Du)
#define REGDB_E_CLASSNOTREG     ETW_HRESULT(0x80040154u)
#define CO_E_NOTINITIALIZED     ETW_HRESULT(0x800401F0u)
#define CO_E_CLASSSTRING        ETW_HRESULT(0x800401F3u)
#define RPC_E_CHANGED_MODE      ETW_HRESULT(0x80010106u)

#include "etw_error_codes.h"

#define SEVERITY_SUCCESS             0
#define SEVERITY_ERROR               1
#define FACILITY_NULL                0
#define FACILITY_ITF                 4
#define FACILITY_WIN32               7
#define FACILITY_SECURITY            9
#define FACILITY_SSPI                9
#define FACILITY_NT_BIT              0x10000000
#define ERROR_SEVERITY_SUCCESS       0x00000000
#define ERROR_SEVERITY_INFORMATIONAL 0x40000000
#define ERROR_SEVERITY_WARNING       0x80000000
#define ERROR_SEVERITY_ERROR         0xC0000000

#define SUCCEEDED(hr)                (((HRESULT)(hr)) >= 0)
#define FAILED(hr)                   (((HRESULT)(hr)) < 0)
#define IS_ERROR(status)             (((ULONG)(status)) >> 31 == SEVERITY_ERROR)
#define HRESULT_CODE(hr)             ((hr)&0xFFFF)
#define SCODE_CODE(sc)               ((sc)&0xFFFF)
#define HRESULT_FACILITY(hr)         (((hr) >> 16) & 0x1FFF)
#define HRESULT_SEVERITY(hr)         (((hr) >> 31) & 0x1)
#define MAKE_HRESULT(sev, fac, code) ((HRESULT)(((ULONG)(sev) << 31) | ((ULONG)(fac) << 16) | ((ULONG)(code))))
#define HRESULT_FROM_NT(status)      ((HRESULT)((status) | FACILITY_NT_BIT))
/* The same as a constant, for case labels. */
#define __HRESULT_FROM_WIN32(code) \
	((HRESULT)(code) <= 0 ? (HRESULT)(code) : (HRESULT)(((ULONG)(code)&0xFFFF) | 0x80070000u))

/* A value that already is an HRESULT failure, and success, stay as they are. */
ETW_INLINE HRESULT HRESULT_FROM_WIN32(ULONG code)
{
	return (HRESULT)code <= 0 ? (HRESULT)code : (HRESULT)((code & 0xFFFF) | (FACILITY_WIN32 << 16) | 0x80000000u);
}

#endif
