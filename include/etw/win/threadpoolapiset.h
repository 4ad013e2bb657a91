/* SPDX-License-Identifier: MIT
 *
 * Timers and waits with callbacks. Each has a thread of its own here; callbacks of one object never run
 * at the same time.
 */
#ifndef ETW_WIN_THREADPOOLAPISET_H
#define ETW_WIN_THREADPOOLAPISET_H
#define _THREADPOOLAPISET_H_

#include "winnt.h"

typedef struct _TP_TIMER *PTP_TIMER;
typedef struct _TP_CALLBACK_INSTANCE *PTP_CALLBACK_INSTANCE;
typedef struct _TP_CALLBACK_ENVIRON *PTP_CALLBACK_ENVIRON;
typedef VOID(NTAPI *PTP_TIMER_CALLBACK)(PTP_CALLBACK_INSTANCE Instance, PVOID Context, PTP_TIMER Timer);
typedef VOID(NTAPI *WAITORTIMERCALLBACK)(PVOID Context, BOOLEAN TimedOut);

/* NULL on failure. The environment is not looked at. */
ETW_API PTP_TIMER WINAPI CreateThreadpoolTimer(PTP_TIMER_CALLBACK pfnti, PVOID pv, PTP_CALLBACK_ENVIRON pcbe);
/* Due at a FILETIME, or, when negative, so many 100 ns units from now; again every msPeriod ms when
 * that is not 0. NULL stops it. */
ETW_API VOID WINAPI SetThreadpoolTimer(PTP_TIMER pti, PFILETIME pftDueTime, DWORD msPeriod, DWORD msWindowLength);
ETW_API BOOL WINAPI IsThreadpoolTimerSet(PTP_TIMER pti);
/* Until no callback runs; with fCancelPendingCallbacks none will begin that is due now. */
ETW_API VOID WINAPI WaitForThreadpoolTimerCallbacks(PTP_TIMER pti, BOOL fCancelPendingCallbacks);
ETW_API VOID WINAPI CloseThreadpoolTimer(PTP_TIMER pti);

/* Work: each submission runs the callback once, on a thread of its own. */
typedef struct _TP_WORK *PTP_WORK;
typedef VOID(NTAPI *PTP_WORK_CALLBACK)(PTP_CALLBACK_INSTANCE Instance, PVOID Context, PTP_WORK Work);
ETW_API PTP_WORK WINAPI CreateThreadpoolWork(PTP_WORK_CALLBACK pfnwk, PVOID pv, PTP_CALLBACK_ENVIRON pcbe);
ETW_API VOID WINAPI SubmitThreadpoolWork(PTP_WORK pwk);
/* Until all that was submitted is done; nothing waits in a queue that could be cancelled. */
ETW_API VOID WINAPI WaitForThreadpoolWorkCallbacks(PTP_WORK pwk, BOOL fCancelPendingCallbacks);
/* Freed when what runs is done. */
ETW_API VOID WINAPI CloseThreadpoolWork(PTP_WORK pwk);

/* Waits and I/O of pools cannot be made here; these are for headers that name them. */
typedef struct _TP_WAIT *PTP_WAIT;
typedef struct _TP_IO *PTP_IO;
ETW_API VOID WINAPI SetThreadpoolWait(PTP_WAIT pwa, HANDLE h, PFILETIME pftTimeout);
ETW_API VOID WINAPI WaitForThreadpoolWaitCallbacks(PTP_WAIT pwa, BOOL fCancelPendingCallbacks);
ETW_API VOID WINAPI CloseThreadpoolWait(PTP_WAIT pwa);
ETW_API VOID WINAPI WaitForThreadpoolIoCallbacks(PTP_IO pio, BOOL fCancelPendingCallbacks);
ETW_API VOID WINAPI CloseThreadpoolIo(PTP_IO pio);

#define WT_EXECUTEDEFAULT  0
#define WT_EXECUTEONLYONCE 8

/* Calls back each time hObject is signalled or dwMilliseconds have passed; once only with
 * WT_EXECUTEONLYONCE. */
ETW_API BOOL WINAPI RegisterWaitForSingleObject(PHANDLE phNewWaitObject, HANDLE hObject, WAITORTIMERCALLBACK Callback,
						PVOID Context, ULONG dwMilliseconds, ULONG dwFlags);
/* ERROR_IO_PENDING (and FALSE) while a callback runs; it ends all the same. */
ETW_API BOOL WINAPI UnregisterWait(HANDLE WaitHandle);
/* INVALID_HANDLE_VALUE: waits for the callback; an event: sets it when done. */
ETW_API BOOL WINAPI UnregisterWaitEx(HANDLE WaitHandle, HANDLE CompletionEvent);

#endif
