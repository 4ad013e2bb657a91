/* SPDX-License-Identifier: MIT
 *
 * Waiting, events, locks and interlocked operations.
 *
 * A HANDLE is an event, a thread or a process of this library; WaitForMultipleObjects takes any
 * mix. Functions that fail return what the Windows ones return and leave the reason in
 * GetLastError.
 */
#ifndef ETW_WIN_SYNCHAPI_H
#define ETW_WIN_SYNCHAPI_H
#define _SYNCHAPI_H_

#include "winnt.h"

EXTERN_C_START

#define WAIT_OBJECT_0             0u
#define WAIT_ABANDONED            0x80u
#define WAIT_ABANDONED_0          0x80u
#define WAIT_IO_COMPLETION        0xC0u
#define WAIT_TIMEOUT              258u
#define WAIT_FAILED               0xFFFFFFFFu
#define MAXIMUM_WAIT_OBJECTS      64
#define CREATE_EVENT_MANUAL_RESET 1
#define CREATE_EVENT_INITIAL_SET  2
#define EVENT_MODIFY_STATE        0x0002
#define EVENT_ALL_ACCESS          0x1F0003

/* A recursive mutex. The members are the library's own. */
typedef struct _RTL_CRITICAL_SECTION {
	ULONG64 Storage[8];
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION, RTL_CRITICAL_SECTION;

typedef struct _RTL_SRWLOCK {
	ULONG64 Storage[8];
} SRWLOCK, *PSRWLOCK;
#define SRWLOCK_INIT                           \
	{                                      \
		{                              \
			0, 0, 0, 0, 0, 0, 0, 0 \
		}                              \
	}

typedef struct _RTL_CONDITION_VARIABLE {
	ULONG64 Storage[8];
} CONDITION_VARIABLE, *PCONDITION_VARIABLE;
#define CONDITION_VARIABLE_INIT                \
	{                                      \
		{                              \
			0, 0, 0, 0, 0, 0, 0, 0 \
		}                              \
	}

typedef union _RTL_RUN_ONCE {
	PVOID Ptr;
} INIT_ONCE, *PINIT_ONCE, *LPINIT_ONCE;
#define INIT_ONCE_STATIC_INIT \
	{                     \
		0             \
	}
#define INIT_ONCE_CHECK_ONLY  1
#define INIT_ONCE_ASYNC       2
#define INIT_ONCE_INIT_FAILED 4
typedef BOOL(WINAPI *PINIT_ONCE_FN)(PINIT_ONCE InitOnce, PVOID Parameter, PVOID *Context);

EXTERN_C_END

/* Milliseconds; INFINITE never returns. */
ETW_API VOID WINAPI Sleep(DWORD dwMilliseconds);
ETW_API DWORD WINAPI SleepEx(DWORD dwMilliseconds, BOOL bAlertable);

/* NULL on failure. Names are shared by the threads of one process only; an existing name is opened
 * and GetLastError is ERROR_ALREADY_EXISTS. */
ETW_API HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
				   LPCWSTR lpName);
ETW_API HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
				   LPCSTR lpName);
ETW_API HANDLE WINAPI CreateEventExW(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCWSTR lpName, DWORD dwFlags,
				     DWORD dwDesiredAccess);
/* NULL and ERROR_FILE_NOT_FOUND when nobody in this process made one of that name. */
ETW_API HANDLE WINAPI OpenEventW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
ETW_API BOOL WINAPI SetEvent(HANDLE hEvent);
ETW_API BOOL WINAPI ResetEvent(HANDLE hEvent);
/* WAIT_OBJECT_0, WAIT_TIMEOUT or WAIT_FAILED. A successful wait takes an auto-reset event. */
ETW_API DWORD WINAPI WaitForSingleObject(HANDLE hHandle, DWORD dwMilliseconds);
ETW_API DWORD WINAPI WaitForSingleObjectEx(HANDLE hHandle, DWORD dwMilliseconds, BOOL bAlertable);
/* WAIT_OBJECT_0 + index of the first signalled one, or with bWaitAll WAIT_OBJECT_0 when all are. */
ETW_API DWORD WINAPI WaitForMultipleObjects(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll, DWORD dwMilliseconds);
ETW_API DWORD WINAPI WaitForMultipleObjectsEx(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll,
					      DWORD dwMilliseconds, BOOL bAlertable);

/* Names as those of events. A mutex belongs to the thread whose wait took it (or that made it with
 * bInitialOwner), as often as it waited; nobody hears of one whose thread ended. ReleaseMutex by another
 * thread: ERROR_NOT_OWNER. */
#define CREATE_MUTEX_INITIAL_OWNER 1
#define MUTEX_ALL_ACCESS           0x1F0001
#define MUTEX_MODIFY_STATE         0x0001
#define SEMAPHORE_ALL_ACCESS       0x1F0003
#define SEMAPHORE_MODIFY_STATE     0x0002
ETW_API HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCWSTR lpName);
ETW_API HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCSTR lpName);
ETW_API HANDLE WINAPI CreateMutexExW(LPSECURITY_ATTRIBUTES lpMutexAttributes, LPCWSTR lpName, DWORD dwFlags,
				     DWORD dwDesiredAccess);
ETW_API HANDLE WINAPI OpenMutexW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
ETW_API BOOL WINAPI ReleaseMutex(HANDLE hMutex);
/* A wait takes one; ReleaseSemaphore past the maximum: ERROR_TOO_MANY_POSTS, and nothing changes. */
ETW_API HANDLE WINAPI CreateSemaphoreW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
				       LONG lMaximumCount, LPCWSTR lpName);
ETW_API HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
				       LONG lMaximumCount, LPCSTR lpName);
ETW_API HANDLE WINAPI CreateSemaphoreExW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
					 LONG lMaximumCount, LPCWSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess);
ETW_API HANDLE WINAPI OpenSemaphoreW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
ETW_API BOOL WINAPI ReleaseSemaphore(HANDLE hSemaphore, LONG lReleaseCount, LPLONG lpPreviousCount);

ETW_API VOID WINAPI InitializeCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
ETW_API BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount);
ETW_API BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount, DWORD Flags);
ETW_API VOID WINAPI EnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
ETW_API BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
ETW_API VOID WINAPI LeaveCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
ETW_API VOID WINAPI DeleteCriticalSection(LPCRITICAL_SECTION lpCriticalSection);

ETW_API VOID WINAPI InitializeSRWLock(PSRWLOCK SRWLock);
ETW_API VOID WINAPI AcquireSRWLockExclusive(PSRWLOCK SRWLock);
ETW_API VOID WINAPI ReleaseSRWLockExclusive(PSRWLOCK SRWLock);
ETW_API BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK SRWLock);
ETW_API BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK SRWLock);
ETW_API VOID WINAPI AcquireSRWLockShared(PSRWLOCK SRWLock);
ETW_API VOID WINAPI ReleaseSRWLockShared(PSRWLOCK SRWLock);

ETW_API VOID WINAPI InitializeConditionVariable(PCONDITION_VARIABLE ConditionVariable);
ETW_API BOOL WINAPI SleepConditionVariableCS(PCONDITION_VARIABLE ConditionVariable, PCRITICAL_SECTION CriticalSection,
					     DWORD dwMilliseconds);
#define CONDITION_VARIABLE_LOCKMODE_SHARED 1
ETW_API BOOL WINAPI SleepConditionVariableSRW(PCONDITION_VARIABLE ConditionVariable, PSRWLOCK SRWLock,
					      DWORD dwMilliseconds, ULONG Flags);
ETW_API VOID WINAPI WakeConditionVariable(PCONDITION_VARIABLE ConditionVariable);
ETW_API VOID WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE ConditionVariable);

ETW_API BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE InitOnce, PINIT_ONCE_FN InitFn, PVOID Parameter, LPVOID *Context);
/* INIT_ONCE_ASYNC is not supported. */
ETW_API BOOL WINAPI InitOnceBeginInitialize(LPINIT_ONCE lpInitOnce, DWORD dwFlags, PBOOL fPending, LPVOID *lpContext);
ETW_API BOOL WINAPI InitOnceComplete(LPINIT_ONCE lpInitOnce, DWORD dwFlags, LPVOID lpContext);

/* Sleep while *Address equals *CompareAddress; AddressSize is 1, 2, 4 or 8 bytes. */
ETW_API BOOL WINAPI WaitOnAddress(volatile VOID *Address, PVOID CompareAddress, SIZE_T AddressSize,
				  DWORD dwMilliseconds);
ETW_API VOID WINAPI WakeByAddressSingle(PVOID Address);
ETW_API VOID WINAPI WakeByAddressAll(PVOID Address);

/* ---- interlocked: sequentially consistent, as on Windows --------------------------------------
 */

#define ETW_INTERLOCKED(suffix, type)                                                                \
	FORCEINLINE type InterlockedIncrement##suffix(type volatile *p)                              \
	{                                                                                            \
		return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedDecrement##suffix(type volatile *p)                              \
	{                                                                                            \
		return __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedAdd##suffix(type volatile *p, type v)                            \
	{                                                                                            \
		return __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedExchangeAdd##suffix(type volatile *p, type v)                    \
	{                                                                                            \
		return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedExchange##suffix(type volatile *p, type v)                       \
	{                                                                                            \
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                  \
	}                                                                                            \
	FORCEINLINE type InterlockedOr##suffix(type volatile *p, type v)                             \
	{                                                                                            \
		return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                    \
	}                                                                                            \
	FORCEINLINE type InterlockedAnd##suffix(type volatile *p, type v)                            \
	{                                                                                            \
		return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedXor##suffix(type volatile *p, type v)                            \
	{                                                                                            \
		return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                   \
	}                                                                                            \
	FORCEINLINE type InterlockedCompareExchange##suffix(type volatile *p, type v, type expected) \
	{                                                                                            \
		__atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		return expected;                                                                     \
	}
ETW_INTERLOCKED(, LONG)
ETW_INTERLOCKED(64, LONG64)
ETW_INTERLOCKED(16, SHORT)
ETW_INTERLOCKED(8, char)
#undef ETW_INTERLOCKED

/* Overloads for the unsigned form, which clients pass without a cast. */
#ifdef __cplusplus
extern "C++" {
FORCEINLINE ULONG InterlockedIncrement(ULONG volatile *p)
{
	return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);
}
FORCEINLINE ULONG InterlockedDecrement(ULONG volatile *p)
{
	return __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);
}
FORCEINLINE ULONG InterlockedExchange(ULONG volatile *p, ULONG v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
/* And for long, which LONG is there. */
FORCEINLINE long InterlockedIncrement(long volatile *p)
{
	return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);
}
FORCEINLINE long InterlockedDecrement(long volatile *p)
{
	return __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);
}
FORCEINLINE long InterlockedExchange(long volatile *p, long v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
}
#endif

FORCEINLINE PVOID InterlockedExchangePointer(PVOID volatile *p, PVOID v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
FORCEINLINE PVOID InterlockedCompareExchangePointer(PVOID volatile *p, PVOID v, PVOID expected)
{
	__atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

/* Orders that are weaker on Windows. */
#define InterlockedIncrementNoFence(p)                    InterlockedIncrement(p)
#define InterlockedDecrementNoFence(p)                    InterlockedDecrement(p)
#define InterlockedAddNoFence(p, v)                       InterlockedAdd((p), (v))
#define InterlockedExchangeAddNoFence(p, v)               InterlockedExchangeAdd((p), (v))
#define InterlockedExchangeNoFence(p, v)                  InterlockedExchange((p), (v))
#define InterlockedOrNoFence(p, v)                        InterlockedOr((p), (v))
#define InterlockedAndNoFence(p, v)                       InterlockedAnd((p), (v))
#define InterlockedXorNoFence(p, v)                       InterlockedXor((p), (v))
#define InterlockedCompareExchangeNoFence(p, v, e)        InterlockedCompareExchange((p), (v), (e))
#define InterlockedIncrementAcquire(p)                    InterlockedIncrement(p)
#define InterlockedDecrementAcquire(p)                    InterlockedDecrement(p)
#define InterlockedAddAcquire(p, v)                       InterlockedAdd((p), (v))
#define InterlockedExchangeAddAcquire(p, v)               InterlockedExchangeAdd((p), (v))
#define InterlockedExchangeAcquire(p, v)                  InterlockedExchange((p), (v))
#define InterlockedOrAcquire(p, v)                        InterlockedOr((p), (v))
#define InterlockedAndAcquire(p, v)                       InterlockedAnd((p), (v))
#define InterlockedXorAcquire(p, v)                       InterlockedXor((p), (v))
#define InterlockedCompareExchangeAcquire(p, v, e)        InterlockedCompareExchange((p), (v), (e))
#define InterlockedIncrementRelease(p)                    InterlockedIncrement(p)
#define InterlockedDecrementRelease(p)                    InterlockedDecrement(p)
#define InterlockedAddRelease(p, v)                       InterlockedAdd((p), (v))
#define InterlockedExchangeAddRelease(p, v)               InterlockedExchangeAdd((p), (v))
#define InterlockedExchangeRelease(p, v)                  InterlockedExchange((p), (v))
#define InterlockedOrRelease(p, v)                        InterlockedOr((p), (v))
#define InterlockedAndRelease(p, v)                       InterlockedAnd((p), (v))
#define InterlockedXorRelease(p, v)                       InterlockedXor((p), (v))
#define InterlockedCompareExchangeRelease(p, v, e)        InterlockedCompareExchange((p), (v), (e))
#define InterlockedIncrementNoFence64(p)                  InterlockedIncrement64(p)
#define InterlockedDecrementNoFence64(p)                  InterlockedDecrement64(p)
#define InterlockedAddNoFence64(p, v)                     InterlockedAdd64((p), (v))
#define InterlockedExchangeAddNoFence64(p, v)             InterlockedExchangeAdd64((p), (v))
#define InterlockedExchangeNoFence64(p, v)                InterlockedExchange64((p), (v))
#define InterlockedOrNoFence64(p, v)                      InterlockedOr64((p), (v))
#define InterlockedAndNoFence64(p, v)                     InterlockedAnd64((p), (v))
#define InterlockedXorNoFence64(p, v)                     InterlockedXor64((p), (v))
#define InterlockedCompareExchangeNoFence64(p, v, e)      InterlockedCompareExchange64((p), (v), (e))
#define InterlockedIncrementAcquire64(p)                  InterlockedIncrement64(p)
#define InterlockedDecrementAcquire64(p)                  InterlockedDecrement64(p)
#define InterlockedAddAcquire64(p, v)                     InterlockedAdd64((p), (v))
#define InterlockedExchangeAddAcquire64(p, v)             InterlockedExchangeAdd64((p), (v))
#define InterlockedExchangeAcquire64(p, v)                InterlockedExchange64((p), (v))
#define InterlockedOrAcquire64(p, v)                      InterlockedOr64((p), (v))
#define InterlockedAndAcquire64(p, v)                     InterlockedAnd64((p), (v))
#define InterlockedXorAcquire64(p, v)                     InterlockedXor64((p), (v))
#define InterlockedCompareExchangeAcquire64(p, v, e)      InterlockedCompareExchange64((p), (v), (e))
#define InterlockedIncrementRelease64(p)                  InterlockedIncrement64(p)
#define InterlockedDecrementRelease64(p)                  InterlockedDecrement64(p)
#define InterlockedAddRelease64(p, v)                     InterlockedAdd64((p), (v))
#define InterlockedExchangeAddRelease64(p, v)             InterlockedExchangeAdd64((p), (v))
#define InterlockedExchangeRelease64(p, v)                InterlockedExchange64((p), (v))
#define InterlockedOrRelease64(p, v)                      InterlockedOr64((p), (v))
#define InterlockedAndRelease64(p, v)                     InterlockedAnd64((p), (v))
#define InterlockedXorRelease64(p, v)                     InterlockedXor64((p), (v))
#define InterlockedCompareExchangeRelease64(p, v, e)      InterlockedCompareExchange64((p), (v), (e))
#define InterlockedIncrementNoFence16(p)                  InterlockedIncrement16(p)
#define InterlockedDecrementNoFence16(p)                  InterlockedDecrement16(p)
#define InterlockedAddNoFence16(p, v)                     InterlockedAdd16((p), (v))
#define InterlockedExchangeAddNoFence16(p, v)             InterlockedExchangeAdd16((p), (v))
#define InterlockedExchangeNoFence16(p, v)                InterlockedExchange16((p), (v))
#define InterlockedOrNoFence16(p, v)                      InterlockedOr16((p), (v))
#define InterlockedAndNoFence16(p, v)                     InterlockedAnd16((p), (v))
#define InterlockedXorNoFence16(p, v)                     InterlockedXor16((p), (v))
#define InterlockedCompareExchangeNoFence16(p, v, e)      InterlockedCompareExchange16((p), (v), (e))
#define InterlockedIncrementAcquire16(p)                  InterlockedIncrement16(p)
#define InterlockedDecrementAcquire16(p)                  InterlockedDecrement16(p)
#define InterlockedAddAcquire16(p, v)                     InterlockedAdd16((p), (v))
#define InterlockedExchangeAddAcquire16(p, v)             InterlockedExchangeAdd16((p), (v))
#define InterlockedExchangeAcquire16(p, v)                InterlockedExchange16((p), (v))
#define InterlockedOrAcquire16(p, v)                      InterlockedOr16((p), (v))
#define InterlockedAndAcquire16(p, v)                     InterlockedAnd16((p), (v))
#define InterlockedXorAcquire16(p, v)                     InterlockedXor16((p), (v))
#define InterlockedCompareExchangeAcquire16(p, v, e)      InterlockedCompareExchange16((p), (v), (e))
#define InterlockedIncrementRelease16(p)                  InterlockedIncrement16(p)
#define InterlockedDecrementRelease16(p)                  InterlockedDecrement16(p)
#define InterlockedAddRelease16(p, v)                     InterlockedAdd16((p), (v))
#define InterlockedExchangeAddRelease16(p, v)             InterlockedExchangeAdd16((p), (v))
#define InterlockedExchangeRelease16(p, v)                InterlockedExchange16((p), (v))
#define InterlockedOrRelease16(p, v)                      InterlockedOr16((p), (v))
#define InterlockedAndRelease16(p, v)                     InterlockedAnd16((p), (v))
#define InterlockedXorRelease16(p, v)                     InterlockedXor16((p), (v))
#define InterlockedCompareExchangeRelease16(p, v, e)      InterlockedCompareExchange16((p), (v), (e))
#define InterlockedExchangePointerNoFence(p, v)           InterlockedExchangePointer((p), (v))
#define InterlockedCompareExchangePointerNoFence(p, v, e) InterlockedCompareExchangePointer((p), (v), (e))
#define InterlockedExchangePointerAcquire(p, v)           InterlockedExchangePointer((p), (v))
#define InterlockedCompareExchangePointerAcquire(p, v, e) InterlockedCompareExchangePointer((p), (v), (e))
#define InterlockedExchangePointerRelease(p, v)           InterlockedExchangePointer((p), (v))
#define InterlockedCompareExchangePointerRelease(p, v, e) InterlockedCompareExchangePointer((p), (v), (e))
/* The compiler's own names. */
#define _InterlockedIncrement(p)                    InterlockedIncrement(p)
#define _InterlockedDecrement(p)                    InterlockedDecrement(p)
#define _InterlockedAdd(p, v)                       InterlockedAdd((p), (v))
#define _InterlockedExchangeAdd(p, v)               InterlockedExchangeAdd((p), (v))
#define _InterlockedExchange(p, v)                  InterlockedExchange((p), (v))
#define _InterlockedOr(p, v)                        InterlockedOr((p), (v))
#define _InterlockedAnd(p, v)                       InterlockedAnd((p), (v))
#define _InterlockedXor(p, v)                       InterlockedXor((p), (v))
#define _InterlockedCompareExchange(p, v, e)        InterlockedCompareExchange((p), (v), (e))
#define _InterlockedIncrement64(p)                  InterlockedIncrement64(p)
#define _InterlockedDecrement64(p)                  InterlockedDecrement64(p)
#define _InterlockedAdd64(p, v)                     InterlockedAdd64((p), (v))
#define _InterlockedExchangeAdd64(p, v)             InterlockedExchangeAdd64((p), (v))
#define _InterlockedExchange64(p, v)                InterlockedExchange64((p), (v))
#define _InterlockedOr64(p, v)                      InterlockedOr64((p), (v))
#define _InterlockedAnd64(p, v)                     InterlockedAnd64((p), (v))
#define _InterlockedXor64(p, v)                     InterlockedXor64((p), (v))
#define _InterlockedCompareExchange64(p, v, e)      InterlockedCompareExchange64((p), (v), (e))
#define _InterlockedIncrement16(p)                  InterlockedIncrement16(p)
#define _InterlockedDecrement16(p)                  InterlockedDecrement16(p)
#define _InterlockedAdd16(p, v)                     InterlockedAdd16((p), (v))
#define _InterlockedExchangeAdd16(p, v)             InterlockedExchangeAdd16((p), (v))
#define _InterlockedExchange16(p, v)                InterlockedExchange16((p), (v))
#define _InterlockedOr16(p, v)                      InterlockedOr16((p), (v))
#define _InterlockedAnd16(p, v)                     InterlockedAnd16((p), (v))
#define _InterlockedXor16(p, v)                     InterlockedXor16((p), (v))
#define _InterlockedCompareExchange16(p, v, e)      InterlockedCompareExchange16((p), (v), (e))
#define _InterlockedIncrement8(p)                   InterlockedIncrement8(p)
#define _InterlockedDecrement8(p)                   InterlockedDecrement8(p)
#define _InterlockedAdd8(p, v)                      InterlockedAdd8((p), (v))
#define _InterlockedExchangeAdd8(p, v)              InterlockedExchangeAdd8((p), (v))
#define _InterlockedExchange8(p, v)                 InterlockedExchange8((p), (v))
#define _InterlockedOr8(p, v)                       InterlockedOr8((p), (v))
#define _InterlockedAnd8(p, v)                      InterlockedAnd8((p), (v))
#define _InterlockedXor8(p, v)                      InterlockedXor8((p), (v))
#define _InterlockedCompareExchange8(p, v, e)       InterlockedCompareExchange8((p), (v), (e))
#define _InterlockedExchangePointer(p, v)           InterlockedExchangePointer((p), (v))
#define _InterlockedCompareExchangePointer(p, v, e) InterlockedCompareExchangePointer((p), (v), (e))
FORCEINLINE BOOLEAN InterlockedBitTestAndSet(LONG volatile *p, LONG bit)
{
	LONG mask = (LONG)(1u << (bit & 31));
	return (__atomic_fetch_or(p + (bit >> 5), mask, __ATOMIC_SEQ_CST) & mask) != 0;
}
FORCEINLINE BOOLEAN InterlockedBitTestAndReset(LONG volatile *p, LONG bit)
{
	LONG mask = (LONG)(1u << (bit & 31));
	return (__atomic_fetch_and(p + (bit >> 5), ~mask, __ATOMIC_SEQ_CST) & mask) != 0;
}
#define _interlockedbittestandset(p, bit)   InterlockedBitTestAndSet((p), (bit))
#define _interlockedbittestandreset(p, bit) InterlockedBitTestAndReset((p), (bit))
#define MemoryBarrier()                     __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define YieldProcessor()                    ((void)0)
#define ReadAcquire(p)                      __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define ReadNoFence(p)                      __atomic_load_n((p), __ATOMIC_RELAXED)
#define WriteRelease(p, v)                  __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define WriteNoFence(p, v)                  __atomic_store_n((p), (v), __ATOMIC_RELAXED)

ETW_API HANDLE WINAPI CreateEventExA(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCSTR lpName, DWORD dwFlags,
				     DWORD dwDesiredAccess);
ETW_API HANDLE WINAPI CreateMutexExA(LPSECURITY_ATTRIBUTES lpMutexAttributes, LPCSTR lpName, DWORD dwFlags,
				     DWORD dwDesiredAccess);
ETW_API HANDLE WINAPI CreateSemaphoreExA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
					 LONG lMaximumCount, LPCSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess);
ETW_API HANDLE WINAPI OpenEventA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
ETW_API HANDLE WINAPI OpenMutexA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
ETW_API HANDLE WINAPI OpenSemaphoreA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
#ifdef UNICODE
#define CreateEvent       CreateEventW
#define CreateEventEx     CreateEventExW
#define CreateMutex       CreateMutexW
#define CreateMutexEx     CreateMutexExW
#define CreateSemaphore   CreateSemaphoreW
#define CreateSemaphoreEx CreateSemaphoreExW
#define OpenEvent         OpenEventW
#define OpenMutex         OpenMutexW
#define OpenSemaphore     OpenSemaphoreW
#else
#define CreateEvent       CreateEventA
#define CreateEventEx     CreateEventExA
#define CreateMutex       CreateMutexA
#define CreateMutexEx     CreateMutexExA
#define CreateSemaphore   CreateSemaphoreA
#define CreateSemaphoreEx CreateSemaphoreExA
#define OpenEvent         OpenEventA
#define OpenMutex         OpenMutexA
#define OpenSemaphore     OpenSemaphoreA
#endif

#endif
