/* SPDX-License-Identifier: MIT
 *
 * Processes and modules, paths as text, ntdll's run-time library, and smaller things that ported programs
 * call. C and C++.
 */
#include <winsock2.h>
#include <windows.h>

#include <crtdefs.h>
#include <mswsock.h>
#include <pathcch.h>
#include <powrprof.h>
#include <psapi.h>
#include <shlwapi.h>
#include <specstrings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strsafe.h>
#include <winternl.h>
#include <errno.h>

/* As programs declare what no header has. */
EXTERN_C PVOID NTAPI RtlAllocateHeap(PVOID HeapHandle, ULONG Flags, SIZE_T Size);
EXTERN_C PVOID NTAPI RtlReAllocateHeap(PVOID HeapHandle, ULONG Flags, PVOID BaseAddress, SIZE_T Size);
EXTERN_C BOOLEAN NTAPI RtlFreeHeap(PVOID HeapHandle, ULONG Flags, PVOID BaseAddress);
EXTERN_C NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid);
EXTERN_C NTSTATUS NTAPI RtlStringFromGUID(const GUID *Guid, PUNICODE_STRING GuidString);
EXTERN_C VOID NTAPI RtlSetLastWin32Error(ULONG Win32Error);
EXTERN_C ULONG NTAPI RtlGetLastWin32Error(VOID);

static int failed;
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failed++;                                              \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		}                                                              \
	} while (0)

static void modules_of(HANDLE process)
{
	HMODULE list[512];
	WCHAR path[MAX_PATH], base[MAX_PATH];
	char narrow[MAX_PATH];
	MODULEINFO info;
	DWORD need = 0, i;
	BOOL libc = FALSE;
	CHECK(EnumProcessModules(process, list, sizeof list, &need) && need >= 2 * sizeof(HMODULE));
	CHECK(EnumProcessModulesEx(process, list, sizeof list, &need, LIST_MODULES_ALL));
	CHECK(K32EnumProcessModules(process, NULL, 0, &need) && need > 0);
	for (i = 0; i < need / sizeof(HMODULE) && i < ARRAYSIZE(list); i++) {
		CHECK(GetModuleFileNameExW(process, list[i], path, MAX_PATH) == wcslen(path) && path[0] == L'/');
		CHECK(GetModuleBaseNameW(process, list[i], base, MAX_PATH) == wcslen(base));
		CHECK(wcscmp(PathFindFileNameW(path), base) == 0);
		CHECK(GetModuleInformation(process, list[i], &info, sizeof info) && info.lpBaseOfDll &&
		      info.SizeOfImage > 0);
		libc = libc || wcsncmp(base, L"libc.", 5) == 0;
	}
	CHECK(libc);
	/* The first is the program, which NULL means, too. */
	CHECK(GetModuleFileNameExA(process, NULL, narrow, MAX_PATH) == strlen(narrow));
	CHECK(GetModuleFileNameExW(process, list[0], path, MAX_PATH) && wcslen(path) == strlen(narrow));
	CHECK(GetModuleBaseNameW(process, NULL, base, 4) == 4 && wcslen(base) == 3 &&
	      GetLastError() == ERROR_INSUFFICIENT_BUFFER);
	CHECK(!GetModuleInformation(process, (HMODULE)(ULONG_PTR)4711, &info, sizeof info) &&
	      GetLastError() == ERROR_INVALID_HANDLE);
}

static void processes(void)
{
	DWORD ids[16384], need = 0, i;
	BOOL self = FALSE;
	PROCESS_MEMORY_COUNTERS_EX memory;
	char one[MAX_PATH], two[MAX_PATH];
	DWORD n = MAX_PATH;
	HANDLE me = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, GetCurrentProcessId());
	CHECK(EnumProcesses(ids, sizeof ids, &need));
	for (i = 0; i < need / sizeof(DWORD); i++) {
		self = self || ids[i] == GetCurrentProcessId();
	}
	CHECK(self);
	modules_of(GetCurrentProcess());
	modules_of(me);
	CHECK(GetProcessMemoryInfo(me, (PPROCESS_MEMORY_COUNTERS)&memory, sizeof memory));
	CHECK(memory.WorkingSetSize > 4096 && memory.PeakWorkingSetSize >= memory.WorkingSetSize &&
	      memory.PrivateUsage > 0);
	CHECK(GetModuleFileNameA(NULL, one, sizeof one) && QueryFullProcessImageNameA(me, 0, two, &n));
	CHECK(strcmp(one, two) == 0 && n == strlen(two));
	CloseHandle(me);
	CHECK(!EnumProcessModules(NULL, NULL, 0, &need));
	/* The handle of a module is one for GetProcAddress. */
	HMODULE first;
	CHECK(EnumProcessModules(GetCurrentProcess(), &first, sizeof first, &need) && GetModuleHandleW(NULL) == first);
}

static void combined(PCWSTR a, PCWSTR b, PCWSTR expected)
{
	WCHAR out[64] = L"";
	CHECK(PathCchCombine(out, 64, a, b) == S_OK);
	if (wcscmp(out, expected) != 0) {
		failed++;
		printf("%ls + %ls is %ls, not %ls\n", a, b, out, expected);
	}
}

static void paths(void)
{
	WCHAR p[16] = L"C:\\a";
	PCWSTR ext;
	CHECK(PathCchAppend(p, 16, L"b.txt") == S_OK && wcscmp(p, L"C:\\a\\b.txt") == 0);
	CHECK(PathCchFindExtension(p, 16, &ext) == S_OK && wcscmp(ext, L".txt") == 0);
	CHECK(PathCchRenameExtension(p, 16, L"etl") == S_OK && wcscmp(p, L"C:\\a\\b.etl") == 0);
	CHECK(PathCchAppend(p, 16, L"longer") == STRSAFE_E_INSUFFICIENT_BUFFER && wcscmp(p, L"C:\\a\\b.etl") == 0);
	CHECK(PathCchRemoveExtension(p, 16) == S_OK && PathCchRemoveExtension(p, 16) == S_FALSE);
	CHECK(PathCchRemoveFileSpec(p, 16) == S_OK && wcscmp(p, L"C:\\a") == 0);
	CHECK(PathCchAddBackslash(p, 16) == S_OK && PathCchAddBackslash(p, 16) == S_FALSE);
	CHECK(PathCchRemoveFileSpec(p, 16) == S_OK && PathCchRemoveFileSpec(p, 16) == S_OK);
	CHECK(wcscmp(p, L"C:\\") == 0 && PathCchRemoveFileSpec(p, 16) == S_FALSE && PathCchIsRoot(p));
	CHECK(PathCchAddBackslash(NULL, 1) == E_INVALIDARG);
	combined(L"C:\\a\\b", L"..\\c", L"C:\\a\\c");
	combined(L"C:\\a", L"D:\\x", L"D:\\x");
	combined(L"C:\\a\\b", L"\\x", L"C:\\x");
	combined(L"/var/log", L"x.etl", L"/var/log/x.etl");
	combined(L"/var/log/", L"./../x.etl", L"/var/x.etl");
	combined(L"\\\\server\\share\\a", L"..\\..\\..\\b", L"\\\\server\\share\\b");
	combined(L"C:\\", L"..", L"C:\\");
	CHECK(wcscmp(PathFindFileNameW(L"C:\\a\\b"), L"b") == 0 && strcmp(PathFindExtensionA("a.b/c"), "") == 0);
	CHECK(PathFileExistsW(L"C:\\dev\\null") && !PathIsDirectoryA("/dev/null") && PathIsDirectoryA("/"));
	CHECK(PathIsRelativeW(L"a") && !PathIsRelativeW(L"\\a"));
	CHECK(wcscmp(StrStrIW(L"abCd", L"cD"), L"Cd") == 0 && StrCmpW(L"a", L"b") < 0 && !StrStrW(L"a", L"b"));
}

static void native(void)
{
	static const GUID guid = {0x01020304, 0x0506, 0x0708, {0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x0a}};
	UNICODE_STRING s;
	GUID back;
	CHECK(RtlStringFromGUID(&guid, &s) == 0 && s.Length == 76 &&
	      wcscmp(s.Buffer, L"{01020304-0506-0708-090A-0B0C0D0E0F0A}") == 0);
	CHECK(RtlGUIDFromString(&s, &back) == 0 && memcmp(&back, &guid, sizeof guid) == 0);
	s.Length = 74;
	CHECK(RtlGUIDFromString(&s, &back) == (NTSTATUS)STATUS_INVALID_PARAMETER);
	RtlFreeUnicodeString(&s);
	char *p = (char *)RtlAllocateHeap(GetProcessHeap(), HEAP_ZERO_MEMORY, 16);
	CHECK(p && p[15] == 0);
	p = (char *)RtlReAllocateHeap(GetProcessHeap(), HEAP_ZERO_MEMORY, p, 4000);
	CHECK(p && RtlFreeHeap(GetProcessHeap(), 0, p));
	RtlSetLastWin32Error(1234);
	CHECK(GetLastError() == 1234 && RtlGetLastWin32Error() == 1234);
	CHECK(GetProcAddress(GetModuleHandleA("ntdll"), "NtTraceControl") != NULL);
	CHECK(GetProcAddress(GetModuleHandleA("sechost"), "EtwQueryRealtimeConsumer") != NULL);
	CHECK(GetProcAddress(LoadLibraryA("psapi.dll"), "GetModuleFileNameExW") != NULL);
	CHECK(GetProcAddress(LoadLibraryA("kernel32.dll"), "K32EnumProcesses") != NULL);
}

static void strings(void)
{
	char text[64], small[4];
	WCHAR wide[64];
	CHECK(strerror_s(text, sizeof text, ENOENT) == 0 && strcmp(text, strerror(ENOENT)) == 0);
	CHECK(strerror_s(small, sizeof small, ENOENT) == 0 && strlen(small) == 3);
	CHECK(strerror_s(NULL, 4, 0) == EINVAL && _wcserror_s(wide, 64, ENOENT) == 0 && wcslen(wide) == strlen(text));
	errno = EACCES;
	CHECK(_strerror_s(text, sizeof text, "here") == 0 && strncmp(text, "here: ", 6) == 0);
	CHECK(lstrcmpW(L"a", L"A") < 0 && lstrcmpW(L"A", L"b") < 0 && lstrcmpW(L"same", L"same") == 0);
	CHECK(lstrcmpA("B", "a") > 0 && lstrcmpiA("ABC", "abc") == 0 && lstrcmpiW(L"x", L"Y") < 0);
	CHECK(lstrcpynW(wide, L"12345", 4) == wide && wcscmp(wide, L"123") == 0);
	CHECK(lstrcatW(wide, L"x") == wide && lstrlenW(wide) == 4);
	CHECK(WSTR_ALIGNED(wide));
	__analysis_assert(wide[0]);
}

static void rest(void)
{
	struct {
		ULONG Number, MaxMhz, CurrentMhz, MhzLimit, MaxIdleState, CurrentIdleState;
	} power[1024];
	SYSTEM_INFO system;
	SOCKADDR_DL dl;
	HANDLE h = CreateFileA("/dev/null", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
	char full[MAX_PATH], expanded[64], *part;
	CHECK(!CancelIoEx(h, NULL) && GetLastError() == ERROR_NOT_FOUND && CancelIo(h));
	CloseHandle(h);
	CHECK(!CancelIoEx(h, NULL) && GetLastError() == ERROR_INVALID_HANDLE);
	GetSystemInfo(&system);
	CHECK(CallNtPowerInformation(ProcessorInformation, NULL, 0, power, sizeof power) == 0 &&
	      power[system.dwNumberOfProcessors - 1].Number == system.dwNumberOfProcessors - 1);
	CHECK(CallNtPowerInformation(ProcessorInformation, NULL, 0, power, 4) == STATUS_BUFFER_TOO_SMALL);
	dl.sdl_family = AF_LINK;
	CHECK(sizeof dl == 14 && dl.sdl_family == 33 && sizeof dl.sdl_data == 8);
	CHECK(GetFullPathNameA("C:\\x\\y.txt", sizeof full, full, &part) == 8 && strcmp(part, "y.txt") == 0);
	CHECK(GetFullPathNameA("C:\\x\\y.txt", 3, full, &part) == 9);
	_putenv_s("ETW_MORE", "value");
	CHECK(ExpandEnvironmentStringsA("<%ETW_MORE%>", expanded, sizeof expanded) == 8 &&
	      strcmp(expanded, "<value>") == 0);
	h = CreateEventA(NULL, FALSE, FALSE, "more");
	HANDLE again = OpenEventA(EVENT_ALL_ACCESS, FALSE, "more");
	CHECK(again && !OpenEventA(EVENT_ALL_ACCESS, FALSE, "none") && GetLastError() == ERROR_FILE_NOT_FOUND);
	CloseHandle(again);
	CloseHandle(h);
}

int main(void)
{
	processes();
	paths();
	native();
	strings();
	rest();
	return failed;
}
