/* SPDX-License-Identifier: MIT
 *
 * Processes that a program starts, pipes to them, temporary files, what <sys/stat.h> and <io.h> say of
 * files, and every form of __declspec. C and C++.
 */
#include <windows.h>

#include <crtdbg.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int failed;
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failed++;                                              \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		}                                                              \
	} while (0)

/* ---- __declspec: a word with an argument or without, several, none --------------------------------- */

__declspec(deprecated("use the other")) void old_with_text(void);
__declspec(deprecated) void old_without(void);
__declspec(noinline) static int not_inlined(int x)
{
	return x + 1;
}
__declspec(noreturn) void never(void);
__declspec() static int plain = 3;
__declspec(align(64)) static char aligned;
static __declspec(thread) int of_thread = 4;
__declspec(selectany) int shared_by_all = 5;
__declspec(allocator) __declspec(restrict) __declspec(nothrow) void *allocate(size_t n);

static void attributes(void)
{
	CHECK(not_inlined(plain) == 4 && of_thread == 4 && shared_by_all == 5);
	CHECK((ULONG_PTR)&aligned % 64 == 0);
	CHECK(_CrtSetReportMode(_CRT_ASSERT, _CRTDBG_MODE_FILE | _CRTDBG_MODE_DEBUG) == 0);
	_CrtSetReportFile(_CRT_ASSERT, _CRTDBG_FILE_STDERR);
	_set_error_mode(_OUT_TO_STDERR);
}

/* ---- children ------------------------------------------------------------------------------------ */

static BOOL start(const WCHAR *line, STARTUPINFOW *how, LPVOID environment, const WCHAR *folder,
		  PROCESS_INFORMATION *ret)
{
	WCHAR text[512];
	wcscpy_s(text, ARRAYSIZE(text), line);
	return CreateProcessW(NULL, text, NULL, NULL, TRUE, environment ? CREATE_UNICODE_ENVIRONMENT : 0, environment,
			      folder, how, ret);
}

static DWORD code_of(const WCHAR *line)
{
	STARTUPINFOW how;
	PROCESS_INFORMATION child;
	DWORD code = STILL_ACTIVE;
	memset(&how, 0, sizeof how);
	how.cb = sizeof how;
	if (!start(line, &how, NULL, NULL, &child)) {
		return (DWORD)-1;
	}
	CHECK(WaitForSingleObject(child.hProcess, 20000) == WAIT_OBJECT_0);
	CHECK(GetExitCodeProcess(child.hProcess, &code) && GetProcessId(child.hProcess) == child.dwProcessId);
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
	return code;
}

/* What a child writes arrives, and the pipe ends with it: it has no other end of it open. */
static void output_of(const WCHAR *line, LPVOID environment, const WCHAR *folder, const char *expected)
{
	STARTUPINFOW how;
	PROCESS_INFORMATION child;
	HANDLE from, to;
	char text[256];
	DWORD have = 0, n = 0;
	memset(&how, 0, sizeof how);
	how.cb = sizeof how;
	how.dwFlags = STARTF_USESTDHANDLES;
	CHECK(CreatePipe(&from, &to, NULL, 0));
	how.hStdOutput = to;
	how.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
	how.hStdError = GetStdHandle(STD_ERROR_HANDLE);
	if (!start(line, &how, environment, folder, &child)) {
		CHECK(!"the child starts");
		return;
	}
	CloseHandle(to);
	while (have < sizeof text - 1 && ReadFile(from, text + have, (DWORD)(sizeof text - 1 - have), &n, NULL) && n) {
		have += n;
	}
	text[have] = 0;
	if (strcmp(text, expected) != 0) {
		failed++;
		printf("%ls: \"%s\", not \"%s\"\n", line, text, expected);
	}
	CloseHandle(from);
	CHECK(WaitForSingleObject(child.hProcess, 20000) == WAIT_OBJECT_0);
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
}

static void children(void)
{
	STARTUPINFOW how;
	PROCESS_INFORMATION child;
	DWORD code = 0;
	WCHAR environment[] = L"ETW_CHILD=\x00e4 b\0PATH=/usr/bin:/bin\0";
	CHECK(code_of(L"sh -c \"exit 7\"") == 7 && code_of(L"true.exe") == 0);
	CHECK(code_of(L"sh -c \"kill -9 $$\"") == (0xC0000000u | 9));
	CHECK(code_of(L"/nowhere/at/all") == (DWORD)-1 && GetLastError() == ERROR_FILE_NOT_FOUND);
	output_of(L"printf \"<%s>\" \"a b\" c\\d \"say \\\"x\\\"\"", NULL, NULL, "<a b><c\\d><say \"x\">");
	output_of(L"sh -c \"printf $ETW_CHILD; pwd\"", environment, L"C:\\", "\303\244/\n");
	memset(&how, 0, sizeof how);
	how.cb = sizeof how;
	CHECK(start(L"sleep 60", &how, NULL, NULL, &child));
	CHECK(GetExitCodeProcess(child.hProcess, &code) && code == STILL_ACTIVE);
	CHECK(WaitForSingleObject(child.hProcess, 0) == WAIT_TIMEOUT);
	CHECK(TerminateProcess(child.hProcess, 1) && WaitForSingleObject(child.hProcess, 20000) == WAIT_OBJECT_0);
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
}

/* ---- threads of the C runtime --------------------------------------------------------------------- */

static HANDLE done;
static void plain_thread(void *argument)
{
	*(int *)argument = 5;
	SetEvent(done);
	_endthread();
}
static unsigned __stdcall thread_with_code(void *argument)
{
	_endthreadex(*(unsigned *)argument);
	return 0;
}
static void threads(void)
{
	int said = 0;
	unsigned code = 9;
	DWORD left = 0;
	done = CreateEventW(NULL, TRUE, FALSE, NULL);
	CHECK(_beginthread(plain_thread, 0, &said) != (ULONG_PTR)-1);
	CHECK(WaitForSingleObject(done, 20000) == WAIT_OBJECT_0 && said == 5);
	CloseHandle(done);
	HANDLE h = (HANDLE)_beginthreadex(NULL, 0, thread_with_code, &code, 0, NULL);
	CHECK(WaitForSingleObject(h, 20000) == WAIT_OBJECT_0 && GetExitCodeThread(h, &left) && left == 9);
	CloseHandle(h);
	CHECK(GetConsoleOutputCP() == CP_UTF8 && GetConsoleCP() == CP_UTF8);
}

/* ---- files --------------------------------------------------------------------------------------- */

static void files(void)
{
	char folder[MAX_PATH], name[MAX_PATH];
	WCHAR wide[MAX_PATH], wide_name[MAX_PATH];
	struct _stat st;
	DWORD n = GetTempPathA(sizeof folder, folder);
	CHECK(n == strlen(folder) && folder[n - 1] == '/' && GetTempPathA(2, folder) == n + 1);
	CHECK(GetTempPathW(MAX_PATH, wide) == n && GetTempPathA(sizeof folder, folder) == n);
	CHECK(GetTempFileNameA(folder, "etw-test", 0, name) != 0 && strstr(name, "/etw") && _access(name, 0) == 0);
	CHECK(GetTempFileNameW(wide, L"etw", 0x1234, wide_name) == 0x1234 && wcsstr(wide_name, L"etw1234.tmp"));
	HANDLE file = CreateFileA(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
	int fd = _open_osfhandle((intptr_t)file, _O_TEXT);
	CHECK(fd >= 0 && _write(fd, "12345", 5) == 5);
	CHECK(_fstat(fd, &st) == 0 && st.st_size == 5 && (st.st_mode & _S_IFMT) == _S_IFREG);
	HANDLE again = (HANDLE)_get_osfhandle(fd);
	DWORD written = 0;
	CHECK(WriteFile(again, "6", 1, &written, NULL) && written == 1);
	CloseHandle(again);
	CHECK(_close(fd) == 0);
	CHECK(_stat(name, &st) == 0 && st.st_size == 6 && (st.st_mode & _S_IWRITE) && st.st_mtime > 0);
	CHECK(_stat("C:\\dev\\null", &st) == 0 && (st.st_mode & _S_IFMT) == _S_IFCHR);
	CHECK(_wstat(L"C:\\", &st) == 0 && (st.st_mode & _S_IFDIR));
	CHECK(_stat("/nowhere", &st) == -1);
	CHECK(_get_osfhandle(-1) == (intptr_t)INVALID_HANDLE_VALUE);
	CHECK(DeleteFileA(name) && _access(name, 0) != 0);
}

int main(void)
{
	attributes();
	children();
	threads();
	files();
	return failed;
}
