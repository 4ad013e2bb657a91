/* SPDX-License-Identifier: MIT
 *
 * Locks, once-initialisation, WaitOnAddress, thread-local slots. The pthread objects live inside
 * the Windows structures; a lock of zero bytes is a valid one, which the static initialisers rely
 * on.
 */
#include "winrt/win.h"

#include "base/order.h"
#include "win/windows.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <time.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(CRITICAL_SECTION), "room for a mutex");
_Static_assert(sizeof(pthread_rwlock_t) <= sizeof(SRWLOCK), "room for a rwlock");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(CONDITION_VARIABLE), "room for a condition");

#define MUTEX(p)  ((pthread_mutex_t *)(void *)(p))
#define RWLOCK(p) ((pthread_rwlock_t *)(void *)(p))
#define COND(p)   ((pthread_cond_t *)(void *)(p))

VOID WINAPI Sleep(DWORD dwMilliseconds)
{
	struct timespec left = {dwMilliseconds / 1000, (long)(dwMilliseconds % 1000) * 1000000};
	if (dwMilliseconds == 0) {
		sched_yield();
		return;
	}
	do {
		while (nanosleep(&left, &left) < 0 && errno == EINTR) {
		}
	} while (dwMilliseconds == INFINITE && (left.tv_sec = 3600));
}

DWORD WINAPI SleepEx(DWORD dwMilliseconds, BOOL bAlertable)
{
	Sleep(dwMilliseconds);
	return 0;
}

VOID WINAPI InitializeCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(MUTEX(lpCriticalSection), &a);
	pthread_mutexattr_destroy(&a);
}
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount)
{
	InitializeCriticalSection(lpCriticalSection);
	return TRUE;
}
BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount, DWORD Flags)
{
	InitializeCriticalSection(lpCriticalSection);
	return TRUE;
}
VOID WINAPI EnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	pthread_mutex_lock(MUTEX(lpCriticalSection));
}
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	return pthread_mutex_trylock(MUTEX(lpCriticalSection)) == 0;
}
VOID WINAPI LeaveCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	pthread_mutex_unlock(MUTEX(lpCriticalSection));
}
VOID WINAPI DeleteCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	pthread_mutex_destroy(MUTEX(lpCriticalSection));
}

VOID WINAPI InitializeSRWLock(PSRWLOCK SRWLock)
{
	memset(SRWLock, 0, sizeof *SRWLock);
}
VOID WINAPI AcquireSRWLockExclusive(PSRWLOCK SRWLock)
{
	pthread_rwlock_wrlock(RWLOCK(SRWLock));
}
VOID WINAPI ReleaseSRWLockExclusive(PSRWLOCK SRWLock)
{
	pthread_rwlock_unlock(RWLOCK(SRWLock));
}
BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK SRWLock)
{
	return pthread_rwlock_trywrlock(RWLOCK(SRWLock)) == 0;
}
BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK SRWLock)
{
	return pthread_rwlock_tryrdlock(RWLOCK(SRWLock)) == 0;
}
VOID WINAPI AcquireSRWLockShared(PSRWLOCK SRWLock)
{
	pthread_rwlock_rdlock(RWLOCK(SRWLock));
}
VOID WINAPI ReleaseSRWLockShared(PSRWLOCK SRWLock)
{
	pthread_rwlock_unlock(RWLOCK(SRWLock));
}

VOID WINAPI InitializeConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	memset(ConditionVariable, 0, sizeof *ConditionVariable);
}
BOOL WINAPI SleepConditionVariableCS(PCONDITION_VARIABLE ConditionVariable, PCRITICAL_SECTION CriticalSection,
				     DWORD dwMilliseconds)
{
	if (dwMilliseconds == INFINITE) {
		pthread_cond_wait(COND(ConditionVariable), MUTEX(CriticalSection));
		return TRUE;
	}
	struct timespec end;
	win_deadline(&end, dwMilliseconds);
	int err = pthread_cond_clockwait(COND(ConditionVariable), MUTEX(CriticalSection), CLOCK_MONOTONIC, &end);
	return err == 0 ? TRUE : win_fail(ERROR_TIMEOUT);
}
/* A condition of pthreads wants a mutex. Those that hold a SRWLOCK sleep on a number behind it, which
 * every wake-up changes; it is read before the lock is given up, so none is missed. */
#define SEQUENCE(p) (&(p)->Storage[7])
_Static_assert(sizeof(pthread_cond_t) <= offsetof(CONDITION_VARIABLE, Storage[7]), "room for the number");

BOOL WINAPI SleepConditionVariableSRW(PCONDITION_VARIABLE ConditionVariable, PSRWLOCK SRWLock, DWORD dwMilliseconds,
				      ULONG Flags)
{
	ULONG64 *sequence = SEQUENCE(ConditionVariable);
	ULONG64 seen = order_load_acquire(sequence);
	bool shared = Flags & CONDITION_VARIABLE_LOCKMODE_SHARED;
	pthread_rwlock_unlock(RWLOCK(SRWLock));
	BOOL ok = WaitOnAddress(sequence, &seen, sizeof seen, dwMilliseconds);
	DWORD code = GetLastError();
	if (shared) {
		pthread_rwlock_rdlock(RWLOCK(SRWLock));
	} else {
		pthread_rwlock_wrlock(RWLOCK(SRWLock));
	}
	return ok ? TRUE : win_fail(code);
}

static void wake_sleepers(PCONDITION_VARIABLE v)
{
	order_add_full(SEQUENCE(v), 1);
	WakeByAddressAll(SEQUENCE(v));
}

VOID WINAPI WakeConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	wake_sleepers(ConditionVariable);
	pthread_cond_signal(COND(ConditionVariable));
}
VOID WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	wake_sleepers(ConditionVariable);
	pthread_cond_broadcast(COND(ConditionVariable));
}

/* ---- once: the low two bits of the pointer are 0 untouched, 1 running, 2 done
 * -------------------- */

static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t once_changed = PTHREAD_COND_INITIALIZER;

BOOL WINAPI InitOnceBeginInitialize(LPINIT_ONCE lpInitOnce, DWORD dwFlags, PBOOL fPending, LPVOID *lpContext)
{
	if (dwFlags & INIT_ONCE_ASYNC) {
		return win_fail(ERROR_NOT_SUPPORTED);
	}
	BOOL ret = TRUE;
	pthread_mutex_lock(&once_lock);
	if (!(dwFlags & INIT_ONCE_CHECK_ONLY)) {
		while (((uintptr_t)lpInitOnce->Ptr & 3) == 1) {
			pthread_cond_wait(&once_changed, &once_lock);
		}
	}
	uintptr_t v = (uintptr_t)lpInitOnce->Ptr;
	*fPending = (v & 3) != 2;
	if ((v & 3) == 2) {
		if (lpContext) {
			*lpContext = (LPVOID)(v & ~(uintptr_t)3);
		}
	} else if (dwFlags & INIT_ONCE_CHECK_ONLY) {
		ret = win_fail(ERROR_GEN_FAILURE);
	} else {
		lpInitOnce->Ptr = (PVOID)(uintptr_t)1;
	}
	pthread_mutex_unlock(&once_lock);
	return ret;
}

BOOL WINAPI InitOnceComplete(LPINIT_ONCE lpInitOnce, DWORD dwFlags, LPVOID lpContext)
{
	pthread_mutex_lock(&once_lock);
	bool failed = dwFlags & INIT_ONCE_INIT_FAILED;
	lpInitOnce->Ptr = failed ? NULL : (PVOID)(((uintptr_t)lpContext & ~(uintptr_t)3) | 2);
	pthread_cond_broadcast(&once_changed);
	pthread_mutex_unlock(&once_lock);
	return TRUE;
}

BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE InitOnce, PINIT_ONCE_FN InitFn, PVOID Parameter, LPVOID *Context)
{
	BOOL pending;
	PVOID made = NULL;
	if (!InitOnceBeginInitialize(InitOnce, 0, &pending, Context)) {
		return FALSE;
	}
	if (!pending) {
		return TRUE;
	}
	if (!InitFn(InitOnce, Parameter, &made)) {
		InitOnceComplete(InitOnce, INIT_ONCE_INIT_FAILED, NULL);
		return FALSE;
	}
	InitOnceComplete(InitOnce, 0, made);
	if (Context) {
		*Context = made;
	}
	return TRUE;
}

/* ---- addresses: a futex on the aligned 32 bits that hold the start of the value
 * --------------------- */

BOOL WINAPI WaitOnAddress(volatile VOID *Address, PVOID CompareAddress, SIZE_T AddressSize, DWORD dwMilliseconds)
{
	volatile uint32_t *word = (volatile uint32_t *)((uintptr_t)Address & ~(uintptr_t)3);
	struct timespec t = {dwMilliseconds / 1000, (long)(dwMilliseconds % 1000) * 1000000};
	uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	if (memcmp((const void *)(uintptr_t)Address, CompareAddress, AddressSize) != 0) {
		return TRUE;
	}
	long r = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, dwMilliseconds == INFINITE ? NULL : &t, NULL, 0);
	return r < 0 && errno == ETIMEDOUT ? win_fail(ERROR_TIMEOUT) : TRUE;
}
static void wake(PVOID address, int n)
{
	syscall(SYS_futex, (void *)((uintptr_t)address & ~(uintptr_t)3), FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}
VOID WINAPI WakeByAddressSingle(PVOID Address)
{
	wake(Address, 1);
}
VOID WINAPI WakeByAddressAll(PVOID Address)
{
	wake(Address, INT32_MAX);
}

DWORD WINAPI TlsAlloc(void)
{
	pthread_key_t k;
	return pthread_key_create(&k, NULL) == 0 ? (DWORD)k : TLS_OUT_OF_INDEXES;
}
LPVOID WINAPI TlsGetValue(DWORD dwTlsIndex)
{
	SetLastError(ERROR_SUCCESS);
	return pthread_getspecific((pthread_key_t)dwTlsIndex);
}
BOOL WINAPI TlsSetValue(DWORD dwTlsIndex, LPVOID lpTlsValue)
{
	return pthread_setspecific((pthread_key_t)dwTlsIndex, lpTlsValue) == 0;
}
BOOL WINAPI TlsFree(DWORD dwTlsIndex)
{
	return pthread_key_delete((pthread_key_t)dwTlsIndex) == 0;
}

DWORD WINAPI GetCurrentProcessorNumber(void)
{
	int cpu = sched_getcpu();
	return cpu < 0 ? 0 : (DWORD)cpu;
}

VOID WINAPI GetSystemInfo(LPSYSTEM_INFO lpSystemInfo)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	memset(lpSystemInfo, 0, sizeof *lpSystemInfo);
#if defined(__aarch64__)
	lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_ARM64;
#else
	lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64;
#endif
	lpSystemInfo->dwPageSize = (DWORD)sysconf(_SC_PAGESIZE);
	lpSystemInfo->dwAllocationGranularity = 65536;
	lpSystemInfo->dwNumberOfProcessors = cpus > 0 ? (DWORD)cpus : 1;
	lpSystemInfo->dwActiveProcessorMask = cpus >= 64 ? ~(DWORD_PTR)0 : ((DWORD_PTR)1 << cpus) - 1;
}
