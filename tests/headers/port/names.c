/* SPDX-License-Identifier: MIT
 *
 * The Windows names that ETW sources use (types, functions, values, macros), as counted in many code
 * bases: each is there, in C and in C++, and the functions can be linked. Then what some of them do.
 */
#include <winsock2.h>
#include <windows.h>
#include <evntrace.h>
#include <evntcons.h>
#include <evntprov.h>
#include <tdh.h>
#include <wmistr.h>
#include <winmeta.h>
#include <TraceLoggingProvider.h>
#include <relogger.h>
#include <strsafe.h>
#include <tchar.h>
#include <sddl.h>
#include <wincrypt.h>
#include <objbase.h>
#include <conio.h>
#include <io.h>
#include <process.h>
#include <intrin.h>
#include <winternl.h>
#include <versionhelpers.h>
#include <ws2ipdef.h>
#include <ip2string.h>
#include <tlhelp32.h>
#include <psapi.h>
#include <intsafe.h>
#include <shlwapi.h>
#include <crtdbg.h>
#include <cguid.h>
#include <stdio.h>
#include <stdlib.h>
#include <limits.h>
#include <wchar.h>
#include <time.h>
#include <errno.h>
#include <malloc.h>

#ifdef __cplusplus
#define NAMES_CAST(f) 0 /* overloaded: which one is not said */
#else
#define NAMES_CAST(f) (const void *)(f)
#endif

#include "names_macros.h"

/* Types: pointers to them can be made. */
#define T(type) || sizeof(type *) != sizeof(void *)
enum { some_type_is_no_type = 0
	T(ULONG) T(DWORD) T(USHORT) T(ULONGLONG) T(PVOID) T(UCHAR) T(BOOL) T(BYTE) T(VOID) T(UINT32)
	T(ULONG64) T(BOOLEAN) T(HRESULT) T(LONG) T(UINT8) T(PBYTE) T(UINT16) T(UINT64) T(UINT)
	T(LPVOID) T(NTSTATUS) T(ULONG_PTR) T(LONGLONG) T(CHAR) T(WORD) T(UINT_PTR) T(INT64) T(INT32)
	T(__int64) T(PULONG) T(INT8) T(LPCVOID) T(INT16) T(SIZE_T) T(INT) T(INT_PTR) T(LSTATUS)
	T(PUSHORT) T(LPCBYTE) T(DWORD_PTR) T(SHORT) T(PUCHAR) T(DOUBLE) T(FLOAT) T(PCHAR) T(DWORDLONG)
	T(LPBYTE) T(PULONG64) T(PDWORD) T(PLONG) T(PLONGLONG) T(errno_t) T(wchar_t) T(WCHAR) T(PCWSTR)
	T(LPWSTR) T(PWSTR) T(LPTSTR) T(LPCSTR) T(LPCWSTR) T(PWCHAR) T(PCSTR) T(LPSTR) T(LPCTSTR)
	T(TCHAR) T(_TCHAR) T(BSTR) T(PSTR) T(HANDLE) T(HMODULE) T(TOKEN_PRIVILEGES)
	T(CRITICAL_SECTION) T(HWND) T(OSVERSIONINFO) T(TOKEN_ELEVATION_TYPE) T(OSVERSIONINFOEXW)
	T(PTOKEN_PRIVILEGES) T(PTP_TIMER) T(HINSTANCE) T(SC_HANDLE) T(LUID) T(LPTHREAD_START_ROUTINE)
	T(INIT_ONCE) T(LUID_AND_ATTRIBUTES) T(SECURITY_ATTRIBUTES) T(SECURITY_DESCRIPTOR)
	T(SYSTEM_INFO) T(GUID) T(FILETIME) T(SYSTEMTIME) T(LPCGUID) T(LARGE_INTEGER) T(SID)
	T(IN6_ADDR) T(PSID) T(ULARGE_INTEGER) T(UNICODE_STRING) T(LPGUID) T(PUNICODE_STRING) T(IID)
	T(SID_NAME_USE) T(UUID) T(CONSOLE_SCREEN_BUFFER_INFO) T(COORD) T(LPFILETIME) T(PLARGE_INTEGER)
	T(PSYSTEMTIME) T(SOCKADDR_INET) T(IN_ADDR) T(SID_IDENTIFIER_AUTHORITY) T(STDMETHODIMP)
	T(IUnknown) T(ITraceEvent) T(ITraceRelogger) T(ITraceEventCallback) T(TRACEHANDLE)
	T(EVENT_TRACE_PROPERTIES) T(EVENT_RECORD) T(PEVENT_RECORD) T(REGHANDLE)
	T(EVENT_DATA_DESCRIPTOR) T(EVENT_TRACE_LOGFILE) T(EVENT_DESCRIPTOR)
	T(PROPERTY_DATA_DESCRIPTOR) T(PTRACE_EVENT_INFO) T(EVENT_HEADER) T(EVENT_PROPERTY_INFO)
	T(PENABLECALLBACK) T(EVENT_TRACE_LOGFILEW) T(PEVENT_FILTER_DESCRIPTOR) T(TRACE_EVENT_INFO)
	T(PCEVENT_DESCRIPTOR) T(EVENT_FILTER_DESCRIPTOR) T(PREGHANDLE) T(ENABLE_TRACE_PARAMETERS)
	T(PEVENT_TRACE_PROPERTIES) T(PEVENT_MAP_INFO) T(CLASSIC_EVENT_ID) T(PEVENT_TRACE_LOGFILE)
	T(EVENT_FILTER_EVENT_ID) T(EVENT_HEADER_EXTENDED_DATA_ITEM) T(TDH_CONTEXT) T(PTRACEHANDLE)
	T(EVENT_MAP_INFO) T(TRACE_LOGFILE_HEADER) T(PEVENT_EXTENDED_ITEM_STACK_TRACE64)
	T(PEVENT_RECORD_CALLBACK) T(PEVENT_TRACE) T(EVENT_TRACE_LOGFILEA) T(EVENT_TRACE)
	T(EVENT_TRACE_HEADER) T(WMIDPREQUESTCODE) T(PEVENT_EXTENDED_ITEM_STACK_TRACE32)
	T(PPROVIDER_ENUMERATION_INFO) T(PROVIDER_ENUMERATION_INFO) T(PTRACE_PROVIDER_INSTANCE_INFO)
	T(TRACE_GUID_REGISTRATION) T(MOF_FIELD) T(PEVENT_DATA_DESCRIPTOR) T(PEVENT_HEADER)
	T(PTRACE_ENABLE_INFO) T(PTRACE_GUID_INFO) T(PTRACE_LOGFILE_HEADER) T(TRACE_PROFILE_INTERVAL)
	T(PEVENT_TRACE_LOGFILEA) T(PEVENT_TRACE_PROPERTIES_V2) T(PEVENT_HEADER_EXTENDED_DATA_ITEM)
	T(PEVENT_PROPERTY_INFO) T(DECODING_SOURCE) T(PROCESSTRACE_HANDLE) T(PTRACE_GUID_PROPERTIES)
	T(TRACE_GUID_PROPERTIES) T(TRACE_INFO_CLASS) T(CONTROLTRACE_ID) T(EVENT_FILTER_LEVEL_KW)
	T(EVENT_TRACE_PROPERTIES_V2) T(PEVENT_CALLBACK) T(PEVENT_EXTENDED_ITEM_INSTANCE)
	T(PEVENT_EXTENDED_ITEM_TS_ID) T(PEVENT_MAP_ENTRY) T(PEVENT_TRACE_HEADER)
	T(PEVENT_TRACE_LOGFILEW) T(TRACE_QUERY_INFO_CLASS) T(EVENT_MAP_ENTRY)
	T(PENABLE_TRACE_PARAMETERS) T(PEVENT_DESCRIPTOR) T(PEVENT_FILTER_EVENT_ID)
	T(TRACE_ENABLE_INFO) T(WMIDPREQUEST) T(WNODE_HEADER)
};

/* Functions: in a library. */
#define F(function) (const void *)function,
#define O(function) NAMES_CAST(function),
static const void *volatile const functions[] = {
	F(StringFromGUID2) F(CoCreateGuid) F(CoCreateInstance) F(CLSIDFromString) F(CoInitializeEx)
	F(CoTaskMemFree) F(CoUninitialize) F(StringFromCLSID) F(SysAllocString) F(IIDFromString)
	F(SysFreeString) F(LOCALE_NAME_INVARIANT) F(RtlSecureZeroMemory) F(HRESULT_FROM_WIN32)
	F(RtlNtStatusToDosError) F(GetLastError) F(GetProcAddress) F(LocalFree) F(FreeLibrary)
	F(GetCurrentProcess) F(HeapFree) F(HeapAlloc) F(GetProcessHeap) F(GetCurrentProcessId)
	F(GetModuleHandleW) F(FormatMessageW) F(SetLastError) F(GetCurrentThreadId)
	F(CommandLineToArgvW) F(GetModuleFileNameW) F(GetCommandLineW) F(OpenProcess)
	F(_aligned_malloc) F(IsDebuggerPresent) F(LoadLibraryW) F(OutputDebugStringW)
	F(IsWindowsVersionOrGreater) F(GetProcessId) F(GetThreadId) F(GetCurrentThread)
	F(GetModuleHandleExW) F(GetExitCodeProcess) F(HeapCreate) F(GetEnvironmentVariableW)
	F(GetVersionEx) F(QueryFullProcessImageNameW) F(LoadLibraryExA) F(GlobalFree)
	F(ExpandEnvironmentStringsW) F(FormatMessage) F(FormatMessageA) F(GetModuleFileNameA)
	F(GetSystemInfo) F(LoadLibraryA) F(OutputDebugStringA) F(TerminateProcess) F(Sleep)
	F(FileTimeToSystemTime) F(GetSystemTimeAsFileTime) F(QueryPerformanceCounter) F(GetSystemTime)
	F(FileTimeToLocalFileTime) F(SystemTimeToFileTime) F(GetTickCount) F(GetTickCount64)
	F(GetDateFormatW) F(GetTimeFormatW) F(QueryPerformanceFrequency)
	F(SystemTimeToTzSpecificLocalTime) F(GetLocalTime) F(CloseHandle) F(WaitForSingleObject)
	F(CreateThread) F(SetConsoleCtrlHandler) F(SetEvent) F(EnterCriticalSection)
	F(LeaveCriticalSection) F(DeleteCriticalSection) F(InitializeCriticalSection)
	F(WaitForMultipleObjects) F(CreateEventW) F(SetThreadpoolTimer) F(CreateThreadpoolTimer)
	F(ResetEvent) F(SetThreadPriority) F(CreateEvent) F(_beginthreadex) F(GetExitCodeThread)
	F(InitOnceBeginInitialize) F(InterlockedCompareExchange) F(CloseThreadpoolTimer)
	F(InitOnceComplete) F(InterlockedAdd) F(RegisterWaitForSingleObject) F(ResumeThread)
	F(TerminateThread) F(TryEnterCriticalSection) F(UnregisterWait) F(WaitOnAddress)
	F(WakeByAddressAll) F(CreateFile) F(WriteFile) F(GetConsoleScreenBufferInfo) F(GetStdHandle)
	F(SetConsoleTextAttribute) F(DeleteFile) F(GetFileAttributesW) F(GetConsoleMode)
	F(GetFileSizeEx) F(GetFileType) F(CreateFileW) F(CreateDirectory) F(DeleteFileW)
	F(GetCurrentDirectory) F(MoveFileW) F(ReadFile) F(WriteConsoleW) F(OpenProcessToken)
	F(SE_SYSTEM_PROFILE_NAME) F(AdjustTokenPrivileges) F(GetTokenInformation) F(CryptGetHashParam)
	F(CryptHashData) F(LookupPrivilegeValueW) F(ConvertSidToStringSidW) F(CryptCreateHash)
	F(CryptDestroyHash) F(CryptReleaseContext) F(LookupPrivilegeValue) F(LookupPrivilegeValueA)
	F(CopySid) F(GetLengthSid) F(AllocateAndInitializeSid) F(CheckTokenMembership)
	F(ConvertSecurityDescriptorToStringSecurityDescriptorW) F(ConvertSidToStringSidA)
	F(ConvertStringSidToSidW) F(CreateWellKnownSid) F(CryptAcquireContextW) F(EqualSid) F(FreeSid)
	F(IsValidSid) F(LookupAccountSidA) F(LookupAccountSidW) F(SE_DEBUG_NAME) F(UuidCreate)
	F(MultiByteToWideChar) F(WideCharToMultiByte) F(StringCchCopyW) F(StringCchPrintfA)
	F(RtlInitUnicodeString) F(StringCchPrintfW) F(StringCchCatW) F(StringCchCopyNW) F(wsprintf)
	F(LCMapStringEx) F(RtlFreeUnicodeString) F(StringCchLengthA) F(RtlIpv6AddressToStringW)
	F(StringCbCopyW) F(StringCbPrintfW) F(StringCchCopyA) F(RtlIpv4AddressToStringExA)
	F(RtlIpv6AddressToStringExA) F(StringCbLengthA) F(StringCbPrintfExW) F(StringCchPrintf)
	F(wcslen) F(wprintf) F(wcscmp) F(_wcsicmp) F(fwprintf) F(memcpy_s) F(wcsstr) F(_tprintf)
	F(wcsnlen_s) F(wcschr) F(_tcslen) F(wcsnlen) F(_getch) F(_wfopen_s) F(towupper) F(_vsnwprintf)
	F(vfwprintf) F(vswprintf) F(wcsncmp) F(wcsrchr) F(wcstoul) F(wprintf_s) F(_putws) F(_tcsicmp)
	F(_wcstoui64) F(_fileno) F(_getche) F(_getwch) F(_tcscmp) F(_wcsnicmp) F(sscanf_s) F(strtok_s)
	F(swscanf) F(vsnprintf_s) F(_gmtime64_s) F(_scwprintf) F(_tfullpath) F(_ttoi) F(_vscwprintf)
	F(_vsnprintf_s) F(_set_abort_behavior) F(_wsystem) F(_wtoi) F(_wtoi64) F(fputws) F(localtime_s) F(mbstowcs_s)
	F(qsort_s) F(swprintf) F(towlower) F(ProcessTrace) F(CloseTrace) F(EnableTraceEx2)
	F(TdhGetEventInformation) F(EventDataDescCreate) F(OpenTrace) F(TdhGetPropertySize)
	F(EventUnregister) F(EventRegister) F(TdhGetProperty) F(OpenTraceW)
	F(TdhGetEventMapInformation) F(StartTrace) F(EventWrite) F(TraceSetInformation)
	F(ControlTrace) F(ControlTraceW) F(TdhFormatProperty) F(TdhEnumerateProviders)
	F(TdhLoadManifest) F(StartTraceW) F(TraceEvent) F(EnableTrace) F(ControlTraceA) F(StartTraceA)
	F(TdhLoadManifestFromBinary) F(OpenTraceA) F(EventWriteTransfer) F(GetTraceLoggerHandle)
	F(TdhUnloadManifest) F(EventSetInformation) F(EventWriteEx) F(GetTraceEnableFlags)
	F(GetTraceEnableLevel) F(RegisterTraceGuids) F(UnregisterTraceGuids) F(TraceMessage)
	F(EnableTraceEx) F(GetEventProcessorIndex) F(EventActivityIdControl) F(QueryTraceW)
	F(StopTrace) F(EnumerateTraceGuidsEx) F(EventDescCreate) F(QueryAllTraces) F(StopTraceA)
	F(TraceQueryInformation) F(KERNEL_LOGGER_NAME) F(KERNEL_LOGGER_NAMEA) F(KERNEL_LOGGER_NAMEW)
	F(TraceLoggingUnregister) F(TraceLoggingRegister) F(TraceLoggingRegisterEx)
	O(InterlockedIncrement) O(InterlockedDecrement) O(InterlockedExchange) O(wcscpy_s) O(wcscat_s)
	O(_snprintf_s) O(_vsnwprintf_s) O(_wsplitpath_s) O(sprintf_s) O(wcstok) O(wcsncpy_s)
	O(_tcscpy_s) O(strcpy_s) O(_tcsncpy_s) O(wcsncat_s) O(strncat_s) O(_wcslwr_s) O(_wmakepath_s)
	O(_snwprintf_s) O(swprintf_s) O(vswprintf_s)
};

/* Values. */
static void values(void)
{
#define V(value) (void)(value);
	V(CLSID_TraceRelogger) V(NULL) V(ULONG_MAX) V(GUID_NULL) V(_MAX_DRIVE) V(_MAX_DIR) V(_MAX_EXT)
	V(_MAX_FNAME) V(_MAX_PATH) V(TDH_INTYPE_UNICODESTRING) V(TDH_INTYPE_UINT32)
	V(TDH_INTYPE_BINARY) V(TDH_INTYPE_ANSISTRING) V(TDH_INTYPE_UINT16) V(TDH_INTYPE_UINT8)
	V(TDH_INTYPE_HEXINT32) V(PropertyParamLength) V(TDH_INTYPE_INT16) V(TDH_INTYPE_INT32)
	V(TDH_INTYPE_INT8) V(TDH_INTYPE_SID) V(TDH_INTYPE_DOUBLE) V(TDH_INTYPE_FLOAT)
	V(TDH_INTYPE_INT64) V(TDH_INTYPE_UINT64) V(TDH_OUTTYPE_IPV6) V(TDH_INTYPE_HEXINT64)
	V(PropertyStruct) V(PropertyParamCount) V(EventTraceGuid) V(TDH_INTYPE_FILETIME)
	V(TDH_INTYPE_GUID) V(TDH_INTYPE_POINTER) V(TDH_INTYPE_BOOLEAN) V(TDH_INTYPE_SYSTEMTIME)
	V(TDH_INTYPE_WBEMSID) V(TDH_INTYPE_NULL) V(TDH_INTYPE_SIZET) V(TDH_INTYPE_COUNTEDSTRING)
	V(SystemTraceControlGuid) V(TraceStackTracingInfo) V(TDH_OUTTYPE_STRING) V(DecodingSourceWbem)
	V(TDH_INTYPE_ANSICHAR) V(TDH_INTYPE_UNICODECHAR) V(DecodingSourceXMLFile)
	V(TDH_INTYPE_COUNTEDANSISTRING) V(TDH_INTYPE_HEXDUMP)
	V(TDH_INTYPE_NONNULLTERMINATEDANSISTRING) V(TDH_INTYPE_NONNULLTERMINATEDSTRING)
	V(TDH_INTYPE_REVERSEDCOUNTEDANSISTRING) V(TDH_INTYPE_REVERSEDCOUNTEDSTRING)
	V(TDH_OUTTYPE_IPV4) V(EVENTMAP_INFO_FLAG_WBEM_VALUEMAP) V(DecodingSourceWPP)
	V(DecodingSourceTlg) V(PropertyParamFixedCount) V(TDH_OUTTYPE_NTSTATUS)
	V(EVENTMAP_INFO_FLAG_MANIFEST_BITMAP) V(TDH_OUTTYPE_HEXINT16) V(TDH_OUTTYPE_HEXINT32)
	V(TDH_OUTTYPE_HEXINT8) V(TDH_OUTTYPE_NULL) V(TDH_OUTTYPE_PORT)
	V(EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP) V(EVENTMAP_INFO_FLAG_WBEM_BITMAP)
	V(TDH_OUTTYPE_ERRORCODE) V(TDH_OUTTYPE_HEXINT64) V(TDH_OUTTYPE_NOPRINT)
	V(TDH_OUTTYPE_SOCKETADDRESS) V(TraceSystemTraceEnableFlagsInfo) V(TDH_OUTTYPE_XML)
	V(EVENTMAP_INFO_FLAG_WBEM_NO_MAP) V(TDH_INTYPE_MANIFEST_COUNTEDANSISTRING)
	V(TDH_INTYPE_MANIFEST_COUNTEDBINARY) V(TDH_INTYPE_MANIFEST_COUNTEDSTRING)
	V(TDH_OUTTYPE_WIN32ERROR) V(EVENTMAP_INFO_FLAG_WBEM_FLAG) V(PropertyParamFixedLength)
	V(TDH_CONTEXT_WPP_TMFSEARCHPATH) V(TDH_OUTTYPE_ETWTIME) V(TDH_OUTTYPE_HEXBINARY)
	V(TDH_OUTTYPE_HRESULT) V(TDH_OUTTYPE_LONG) V(TDH_OUTTYPE_PID) V(TDH_OUTTYPE_TID)
	V(TDH_OUTTYPE_UNSIGNEDLONG) V(TraceGuidQueryInfo) V(TraceSampledProfileIntervalInfo)
	V(PropertyHasCustomSchema) V(TDH_OUTTYPE_CODE_POINTER) V(TDH_OUTTYPE_JSON) V(TDH_OUTTYPE_UTF8)
	V(TDH_INTYPE_RESERVED24) V(TraceGuidQueryList) V(EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)
	V(EventTraceConfigGuid) V(PropertyHasTags) V(TDH_CONTEXT_POINTERSIZE)
	V(TDH_CONTEXT_WPP_TMFFILE) V(TraceGroupQueryInfo) V(TraceGroupQueryList)
	V(TraceGuidQueryProcess) V(TraceMaxLoggersQuery)
}

#include "names_do.h"
