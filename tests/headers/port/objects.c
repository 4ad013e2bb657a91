/* SPDX-License-Identifier: MIT
 *
 * Mutexes, semaphores, conditions of SRW locks, work of pools, pages, and TraceLogging arguments that are
 * empty, as headers of public programs use them. C and, through objects.cpp, C++.
 */
#include <windows.h>
#include <psapi.h>
#include <TraceLoggingProvider.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                             \
		}                                                                               \
	} while (0)

static int failures;

/* What builds outside of its owner define these as. */
#define OptionOfTheOwner()
#define TagOfTheOwner(kind)
TRACELOGGING_DEFINE_PROVIDER(provider, "Objects.Empty",
			     (0x0b0c7a51, 0x9d3e, 0x4b7d, 0x88, 0x21, 0x6f, 0x4e, 0x5d, 0x3c, 0x2b, 0x1a),
			     OptionOfTheOwner());

static HANDLE mutex, semaphore;
static SRWLOCK lock = SRWLOCK_INIT;
static CONDITION_VARIABLE condition = CONDITION_VARIABLE_INIT;
static int stage;
static volatile LONG works;

static DWORD WINAPI other_thread(LPVOID argument)
{
	(void)argument;
	CHECK(WaitForSingleObject(mutex, 0) == WAIT_TIMEOUT);
	CHECK(!ReleaseMutex(mutex) && GetLastError() == ERROR_NOT_OWNER);
	AcquireSRWLockExclusive(&lock);
	stage = 1;
	ReleaseSRWLockExclusive(&lock);
	WakeAllConditionVariable(&condition);
	CHECK(WaitForSingleObject(mutex, INFINITE) == WAIT_OBJECT_0);
	CHECK(ReleaseMutex(mutex));
	return 0;
}

static VOID NTAPI work(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK item)
{
	(void)instance;
	(void)item;
	InterlockedIncrement((LONG volatile *)context);
}

static void mutexes(void)
{
	mutex = CreateMutexW(NULL, TRUE, L"Objects-Mutex");
	CHECK(mutex && GetLastError() == ERROR_SUCCESS);
	HANDLE same = CreateMutexW(NULL, FALSE, L"objects-mutex");
	CHECK(same && same != mutex && GetLastError() == ERROR_ALREADY_EXISTS);
	CHECK(CreateEventW(NULL, TRUE, FALSE, L"Objects-Mutex") == NULL);
	CHECK(GetLastError() == ERROR_INVALID_HANDLE);
	CHECK(OpenMutexW(MUTEX_ALL_ACCESS, FALSE, L"nobody's") == NULL);
	CHECK(GetLastError() == ERROR_FILE_NOT_FOUND);
	CloseHandle(same);
	CHECK(WaitForSingleObject(mutex, INFINITE) == WAIT_OBJECT_0); /* ours: twice now */
	HANDLE thread = CreateThread(NULL, 0, other_thread, NULL, 0, NULL);
	AcquireSRWLockShared(&lock);
	while (stage == 0) {
		CHECK(SleepConditionVariableSRW(&condition, &lock, INFINITE, CONDITION_VARIABLE_LOCKMODE_SHARED));
	}
	CHECK(TryAcquireSRWLockShared(&lock));
	ReleaseSRWLockShared(&lock);
	ReleaseSRWLockShared(&lock);
	CHECK(ReleaseMutex(mutex) && ReleaseMutex(mutex) && !ReleaseMutex(mutex));
	CHECK(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
	CloseHandle(thread);
	CloseHandle(mutex);
	AcquireSRWLockExclusive(&lock);
	CHECK(!SleepConditionVariableSRW(&condition, &lock, 1, 0));
	CHECK(GetLastError() == ERROR_TIMEOUT);
	ReleaseSRWLockExclusive(&lock);
}

static void semaphores(void)
{
	LONG before = 9;
	CHECK(!CreateSemaphoreW(NULL, 3, 2, NULL) && GetLastError() == ERROR_INVALID_PARAMETER);
	semaphore = CreateSemaphoreW(NULL, 1, 2, NULL);
	CHECK(WaitForSingleObject(semaphore, 0) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(semaphore, 0) == WAIT_TIMEOUT);
	CHECK(ReleaseSemaphore(semaphore, 2, &before) && before == 0);
	CHECK(!ReleaseSemaphore(semaphore, 1, &before) && GetLastError() == ERROR_TOO_MANY_POSTS);
	HANDLE both[2] = {semaphore, semaphore};
	CHECK(WaitForMultipleObjects(2, both, FALSE, 0) == WAIT_OBJECT_0);
	CloseHandle(semaphore);
}

static void pool(void)
{
	PTP_WORK w = CreateThreadpoolWork(work, (PVOID)&works, NULL);
	for (int i = 0; i < 10; i++) {
		SubmitThreadpoolWork(w);
	}
	WaitForThreadpoolWorkCallbacks(w, FALSE);
	CHECK(works == 10);
	CloseThreadpoolWork(w);
	BYTE *pages = (BYTE *)VirtualAlloc(NULL, 100000, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
	CHECK(pages && pages[0] == 0 && pages[99999] == 0);
	memset(pages, 1, 100000);
	CHECK(!VirtualFree(pages, 5, MEM_RELEASE) && GetLastError() == ERROR_INVALID_PARAMETER);
	CHECK(VirtualFree(pages, 0, MEM_RELEASE));
}

static void views(void)
{
	char name[512];
	HANDLE self = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, GetCurrentProcessId());
	DWORD n = GetProcessImageFileNameA(self, name, sizeof name);
	CHECK(n > 0 && n == strlen(name) && strstr(name, "client_objects"));
	CHECK(GetProcessImageFileNameA(self, name, 3) == 0);
	CloseHandle(self);
	GetProcessImageFileNameA(GetCurrentProcess(), name, sizeof name);
	HANDLE file = CreateFileA(name, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
	HANDLE map = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
	CloseHandle(file);
	const char *view = (const char *)MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0);
	CloseHandle(map);
	CHECK(view && memcmp(view, "\177ELF", 4) == 0);
	CHECK(UnmapViewOfFile(view));
	CHECK(!UnmapViewOfFile(view) && GetLastError() == ERROR_INVALID_ADDRESS);
	file = CreateFileA("/dev/null", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
	CHECK(!CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL));
	CHECK(GetLastError() == ERROR_FILE_INVALID);
	CloseHandle(file);
}

int main(void)
{
	CHECK(SUCCEEDED(TraceLoggingRegister(provider)));
	TraceLoggingWrite(provider, "Nothing", TagOfTheOwner(1));
	TraceLoggingWrite(provider, "Something", TagOfTheOwner(1), TraceLoggingInt32(5, "five"), TagOfTheOwner(2));
	TraceLoggingUnregister(provider);
	switch (HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME)) {
	case __HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME): break;
	default: CHECK(!"a constant");
	}
	mutexes();
	semaphores();
	pool();
	views();
	HANDLE thread = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, GetCurrentThreadId());
	CHECK(GetProcessIdOfThread(thread) == GetCurrentProcessId());
	CloseHandle(thread);
	CHECK(!OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, 0));
	CHECK(GetLogicalDrives() == 0 && QueryDosDeviceW(L"C:", NULL, 0) == 0);
#ifdef __cplusplus
	long n = 5;
	CHECK(InterlockedIncrementNoFence(&n) == 6 && InterlockedDecrementRelease(&n) == 5);
#endif
	return failures != 0;
}
