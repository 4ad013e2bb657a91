/* SPDX-License-Identifier: MIT
 *
 * What functions of windows.h do that ETW programs rely on, and no other test of this folder looks at.
 */
static int failed;
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failed++;                                              \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		}                                                              \
	} while (0)

static void modules(void)
{
	static const WCHAR *const dlls[] = {L"advapi32.dll", L"ADVAPI32", L"tdh.dll", L"sechost.dll",
					    L"api-ms-win-eventing-provider-l1-1-0.dll"};
	size_t i;
	for (i = 0; i < ARRAYSIZE(dlls); i++) {
		HMODULE m = LoadLibraryW(dlls[i]);
		CHECK(m && GetModuleHandleW(dlls[i]) == m);
		CHECK(GetProcAddress(m, "EventSetInformation") == (FARPROC)(void *)EventSetInformation);
		CHECK(GetProcAddress(m, "TdhFormatProperty") == (FARPROC)(void *)TdhFormatProperty);
		CHECK(!GetProcAddress(m, "NoSuchFunction") && GetLastError() == ERROR_PROC_NOT_FOUND);
		CHECK(FreeLibrary(m));
	}
	CHECK(GetProcAddress(GetModuleHandleA("ntdll"), "EtwEventWrite") != NULL);
	CHECK(GetProcAddress(GetModuleHandleA("ntdll.dll"), "RtlGetVersion") != NULL);
	CHECK(!LoadLibraryA("no-such-library.dll") && GetLastError() == ERROR_MOD_NOT_FOUND);
}

static VOID CALLBACK on_timer(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER timer)
{
	(void)instance;
	(void)timer;
	SetEvent((HANDLE)context);
}
static VOID CALLBACK on_wait(PVOID context, BOOLEAN timed_out)
{
	if (!timed_out) {
		SetEvent((HANDLE)context);
	}
}

static void pool(void)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), cause = CreateEventW(NULL, FALSE, FALSE, NULL);
	PTP_TIMER t = CreateThreadpoolTimer(on_timer, event, NULL);
	FILETIME due;
	LONGLONG units = -10000; /* a millisecond from now */
	HANDLE wait;
	due.dwLowDateTime = (DWORD)units;
	due.dwHighDateTime = (DWORD)(units >> 32);
	CHECK(!IsThreadpoolTimerSet(t));
	SetThreadpoolTimer(t, &due, 0, 0);
	CHECK(WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0);
	SetThreadpoolTimer(t, &due, 1, 0); /* again and again */
	CHECK(WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0);
	SetThreadpoolTimer(t, NULL, 0, 0);
	WaitForThreadpoolTimerCallbacks(t, TRUE);
	CHECK(!IsThreadpoolTimerSet(t));
	CloseThreadpoolTimer(t);
	ResetEvent(event);
	CHECK(RegisterWaitForSingleObject(&wait, cause, on_wait, event, INFINITE, WT_EXECUTEDEFAULT));
	SetEvent(cause);
	CHECK(WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0);
	CHECK(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
	CloseHandle(cause);
	CloseHandle(event);
}

static void files(void)
{
	WIN32_FIND_DATAW d;
	HANDLE f, h = CreateFileW(L".\\find-Me.txt", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
	FILE_DISPOSITION_INFO gone;
	DWORD n;
	CHECK(WriteFile(h, "12345", 5, &n, NULL) && n == 5);
	f = FindFirstFileW(L".\\FIND-*.TXT", &d);
	CHECK(f != INVALID_HANDLE_VALUE && wcscmp(d.cFileName, L"find-Me.txt") == 0);
	CHECK(d.nFileSizeLow == 5 && !(d.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY));
	CHECK(!FindNextFileW(f, &d) && GetLastError() == ERROR_NO_MORE_FILES && FindClose(f));
	gone.DeleteFile = TRUE;
	CHECK(SetFileInformationByHandle(h, FileDispositionInfo, &gone, sizeof gone));
	CloseHandle(h);
	CHECK(FindFirstFileW(L"find-me.txt", &d) == INVALID_HANDLE_VALUE);
	CHECK(GetLastError() == ERROR_FILE_NOT_FOUND);
}

static void people(void)
{
	/* self-relative, owner Administrators; one entry: everyone, mask 3 */
	static const UCHAR sd[] = {1, 0, 4,  0x80, 20, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0, 0, 36, 0, 0, 0, 1, 2,
				   0, 0, 0,  0,    0,  5, 32, 0, 0, 0, 32, 2, 0, 0, 2, 0, 28, 0, 1, 0, 0, 0,
				   0, 0, 20, 0,    3,  0, 0,  0, 1, 1, 0,  0, 0, 0, 0, 1, 0,  0, 0, 0};
	LPWSTR text;
	ULONG len;
	WCHAR name[UNLEN + 1];
	DWORD n = UNLEN + 1, need = 0;
	SYSTEM_BASIC_INFORMATION basic;
	CHECK(ConvertSecurityDescriptorToStringSecurityDescriptorW(
		(PSECURITY_DESCRIPTOR)sd, SDDL_REVISION_1, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
		&text, &len));
	CHECK(wcscmp(text, L"O:BAD:(A;;0x3;;;WD)") == 0 && len == 19);
	LocalFree(text);
	CHECK(GetUserNameW(name, &n) && n == wcslen(name) + 1);
	CHECK(!GetUserNameW(name, &need) && GetLastError() == ERROR_INSUFFICIENT_BUFFER && need == n);
	CHECK(NtQuerySystemInformation(SystemBasicInformation, &basic, sizeof basic, NULL) == 0);
	CHECK(basic.NumberOfProcessors > 0 && basic.PageSize >= 4096 && sizeof basic == 64);
	CHECK(NtQuerySystemInformation((SYSTEM_INFORMATION_CLASS)77, &basic, sizeof basic, NULL) ==
	      STATUS_INVALID_INFO_CLASS);
}

static void keys(void)
{
	/* Standard input is a file here, and ends. */
	int n = 0;
	while (_getch() != EOF && n < 100) {
		n++;
	}
	CHECK(n < 100 && _getch() == EOF && _getwch() == (WCHAR)WEOF);
}

/* Bytes of UTF-8 on one side, units on the other. */
static void environment(void)
{
	char *d = NULL, b[4];
	WCHAR *w = NULL, wide[8];
	size_t n = 0;
	CHECK(_putenv_s("ETW_PORT_X", "h\xc3\xa4") == 0);
	CHECK(_dupenv_s(&d, &n, "ETW_PORT_X") == 0 && n == 4 && strcmp(d, "h\xc3\xa4") == 0);
	CHECK(_wdupenv_s(&w, &n, L"ETW_PORT_X") == 0 && n == 3 && wcscmp(w, L"h\x00e4") == 0);
	CHECK(getenv_s(&n, NULL, 0, "ETW_PORT_X") == 0 && n == 4);
	CHECK(getenv_s(&n, b, 3, "ETW_PORT_X") == ERANGE && b[0] == 0 && n == 4);
	CHECK(getenv_s(&n, b, 4, "ETW_PORT_X") == 0 && strcmp(b, d) == 0);
	CHECK(_wgetenv_s(&n, wide, 8, L"ETW_PORT_X") == 0 && n == 3 && wcscmp(wide, w) == 0);
	free(d);
	free(w);
	CHECK(_wputenv_s(L"ETW_PORT_X", L"") == 0);
	CHECK(_dupenv_s(&d, &n, "ETW_PORT_X") == 0 && d == NULL && n == 0);
	CHECK(_dupenv_s(NULL, NULL, "x") == EINVAL && _putenv_s("a=b", "c") == EINVAL);
}

int main(void)
{
	size_t i;
	for (i = 0; i < ARRAYSIZE(functions); i++) {
#ifndef __cplusplus
		CHECK(functions[i] != NULL);
#endif
	}
	values();
	modules();
	pool();
	files();
	people();
	keys();
	environment();
	return failed + some_type_is_no_type;
}
