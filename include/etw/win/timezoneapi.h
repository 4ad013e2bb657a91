/* SPDX-License-Identifier: MIT
 *
 * Time. QueryPerformanceCounter is the clock that stamps events.
 */
#ifndef ETW_WIN_TIMEZONEAPI_H
#define ETW_WIN_TIMEZONEAPI_H

#include "winnt.h"

#define TIME_ZONE_ID_INVALID  0xFFFFFFFFu
#define TIME_ZONE_ID_UNKNOWN  0
#define TIME_ZONE_ID_STANDARD 1
#define TIME_ZONE_ID_DAYLIGHT 2

/* Ticks, and ticks per second. Always TRUE. */
ETW_API BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *lpPerformanceCount);
ETW_API BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *lpFrequency);

ETW_API VOID WINAPI GetSystemTimeAsFileTime(LPFILETIME lpSystemTimeAsFileTime);
ETW_API VOID WINAPI GetSystemTimePreciseAsFileTime(LPFILETIME lpSystemTimeAsFileTime);
ETW_API VOID WINAPI GetSystemTime(LPSYSTEMTIME lpSystemTime); /* UTC */
ETW_API VOID WINAPI GetLocalTime(LPSYSTEMTIME lpSystemTime);
/* Milliseconds since boot; the 32-bit one wraps after 49.7 days. */
ETW_API DWORD WINAPI GetTickCount(void);
ETW_API ULONGLONG WINAPI GetTickCount64(void);

/* FALSE and ERROR_INVALID_PARAMETER for times beyond 1601 … 30827 or impossible fields. */
ETW_API BOOL WINAPI FileTimeToSystemTime(const FILETIME *lpFileTime, LPSYSTEMTIME lpSystemTime);
ETW_API BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *lpSystemTime, LPFILETIME lpFileTime);
/* With the zone's present offset, as Windows does. */
ETW_API BOOL WINAPI FileTimeToLocalFileTime(const FILETIME *lpFileTime, LPFILETIME lpLocalFileTime);
ETW_API BOOL WINAPI LocalFileTimeToFileTime(const FILETIME *lpLocalFileTime, LPFILETIME lpFileTime);
/* With the offset in force at that time. lpTimeZoneInformation NULL: this machine's zone. */
ETW_API BOOL WINAPI SystemTimeToTzSpecificLocalTime(const TIME_ZONE_INFORMATION *lpTimeZoneInformation,
						    const SYSTEMTIME *lpUniversalTime, LPSYSTEMTIME lpLocalTime);
ETW_API DWORD WINAPI GetTimeZoneInformation(LPTIME_ZONE_INFORMATION lpTimeZoneInformation);
ETW_API LONG WINAPI CompareFileTime(const FILETIME *lpFileTime1, const FILETIME *lpFileTime2);

#endif
