/* SPDX-License-Identifier: MIT
 *
 * Time in Windows' forms. QueryPerformanceCounter is base's clock, the one that stamps events.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <time.h>

#define TICKS_PER_SECOND 10000000ull
#define TICKS_PER_DAY    (86400 * TICKS_PER_SECOND)
#define UNIX_EPOCH_TICKS 116444736000000000ull

static uint64_t ticks_of(const FILETIME *f)
{
	return (uint64_t)f->dwHighDateTime << 32 | f->dwLowDateTime;
}

static void ticks_put(FILETIME *f, uint64_t v)
{
	f->dwLowDateTime = (DWORD)v;
	f->dwHighDateTime = (DWORD)(v >> 32);
}

BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *lpPerformanceCount)
{
	lpPerformanceCount->QuadPart = (LONGLONG)clock_now();
	return TRUE;
}
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *lpFrequency)
{
	lpFrequency->QuadPart = (LONGLONG)clock_frequency();
	return TRUE;
}
VOID WINAPI GetSystemTimeAsFileTime(LPFILETIME lpSystemTimeAsFileTime)
{
	ticks_put(lpSystemTimeAsFileTime, clock_filetime());
}
VOID WINAPI GetSystemTimePreciseAsFileTime(LPFILETIME lpSystemTimeAsFileTime)
{
	ticks_put(lpSystemTimeAsFileTime, clock_filetime());
}
ULONGLONG WINAPI GetTickCount64(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (ULONGLONG)t.tv_sec * 1000 + (ULONGLONG)t.tv_nsec / 1000000;
}
DWORD WINAPI GetTickCount(void)
{
	return (DWORD)GetTickCount64();
}
LONG WINAPI CompareFileTime(const FILETIME *lpFileTime1, const FILETIME *lpFileTime2)
{
	uint64_t a = ticks_of(lpFileTime1), b = ticks_of(lpFileTime2);
	return a < b ? -1 : a > b;
}

/* ---- calendar: proleptic Gregorian, days since 1601-01-01, which began a 400-year cycle
 * ----------- */

static bool leap(unsigned y)
{
	return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

static unsigned month_days(unsigned y, unsigned m)
{
	static const uint8_t days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[m] + (m == 2 && leap(y));
}

static uint64_t year_days(unsigned y) /* from 1601-01-01 to y-01-01 */
{
	uint64_t n = y - 1601;
	return n * 365 + n / 4 - n / 100 + n / 400;
}

BOOL WINAPI FileTimeToSystemTime(const FILETIME *lpFileTime, LPSYSTEMTIME lpSystemTime)
{
	uint64_t t = ticks_of(lpFileTime);
	if (t >> 63) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	uint64_t days = t / TICKS_PER_DAY, rest = t % TICKS_PER_DAY;
	unsigned y = 1601 + (unsigned)(days / 366);
	while (year_days(y + 1) <= days) {
		y++;
	}
	unsigned day = (unsigned)(days - year_days(y)), m = 1;
	while (day >= month_days(y, m)) {
		day -= month_days(y, m++);
	}
	*lpSystemTime = (SYSTEMTIME){
		.wYear = (WORD)y,
		.wMonth = (WORD)m,
		.wDayOfWeek = (WORD)((days + 1) % 7), /* 1601-01-01 was a Monday */
		.wDay = (WORD)(day + 1),
		.wHour = (WORD)(rest / (3600 * TICKS_PER_SECOND)),
		.wMinute = (WORD)(rest / (60 * TICKS_PER_SECOND) % 60),
		.wSecond = (WORD)(rest / TICKS_PER_SECOND % 60),
		.wMilliseconds = (WORD)(rest / 10000 % 1000),
	};
	return TRUE;
}

BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *lpSystemTime, LPFILETIME lpFileTime)
{
	const SYSTEMTIME *s = lpSystemTime;
	if (s->wYear < 1601 || s->wYear > 30827 || s->wMonth < 1 || s->wMonth > 12 || s->wDay < 1 ||
	    s->wDay > month_days(s->wYear, s->wMonth) || s->wHour > 23 || s->wMinute > 59 || s->wSecond > 59 ||
	    s->wMilliseconds > 999) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	uint64_t days = year_days(s->wYear) + s->wDay - 1;
	for (unsigned m = 1; m < s->wMonth; m++) {
		days += month_days(s->wYear, m);
	}
	uint64_t ms = ((s->wHour * 60ull + s->wMinute) * 60 + s->wSecond) * 1000 + s->wMilliseconds;
	ticks_put(lpFileTime, days * TICKS_PER_DAY + ms * 10000);
	return TRUE;
}

VOID WINAPI GetSystemTime(LPSYSTEMTIME lpSystemTime)
{
	FILETIME f;
	ticks_put(&f, clock_filetime());
	FileTimeToSystemTime(&f, lpSystemTime);
}

/* ---- time zone
 * ------------------------------------------------------------------------------------ */

/* Seconds east of UTC at a time. */
static long offset_at(uint64_t ticks)
{
	time_t t = (time_t)((int64_t)(ticks - UNIX_EPOCH_TICKS) / (int64_t)TICKS_PER_SECOND);
	struct tm tm;
	tzset();
	return localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

static BOOL shift(uint64_t ticks, long seconds, FILETIME *ret)
{
	int64_t v = (int64_t)ticks + (int64_t)seconds * (int64_t)TICKS_PER_SECOND;
	if (v < 0 || ticks >> 63) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	ticks_put(ret, (uint64_t)v);
	return TRUE;
}

BOOL WINAPI FileTimeToLocalFileTime(const FILETIME *lpFileTime, LPFILETIME lpLocalFileTime)
{
	return shift(ticks_of(lpFileTime), offset_at(clock_filetime()), lpLocalFileTime);
}
BOOL WINAPI LocalFileTimeToFileTime(const FILETIME *lpLocalFileTime, LPFILETIME lpFileTime)
{
	return shift(ticks_of(lpLocalFileTime), -offset_at(clock_filetime()), lpFileTime);
}
VOID WINAPI GetLocalTime(LPSYSTEMTIME lpSystemTime)
{
	FILETIME f;
	uint64_t now = clock_filetime();
	shift(now, offset_at(now), &f);
	FileTimeToSystemTime(&f, lpSystemTime);
}
BOOL WINAPI SystemTimeToTzSpecificLocalTime(const TIME_ZONE_INFORMATION *lpTimeZoneInformation,
					    const SYSTEMTIME *lpUniversalTime, LPSYSTEMTIME lpLocalTime)
{
	FILETIME f;
	if (!SystemTimeToFileTime(lpUniversalTime, &f)) {
		return FALSE;
	}
	uint64_t t = ticks_of(&f);
	/* A given zone is used without its daylight rule. */
	long east = lpTimeZoneInformation ? -60L * lpTimeZoneInformation->Bias : offset_at(t);
	return shift(t, east, &f) && FileTimeToSystemTime(&f, lpLocalTime);
}

static void zone_name(WCHAR out[32], const char *name)
{
	memset(out, 0, 64);
	utf8_to_utf16(name, strnlen(name, 31), (uint16_t *)out, 32);
}

DWORD WINAPI GetTimeZoneInformation(LPTIME_ZONE_INFORMATION lpTimeZoneInformation)
{
	TIME_ZONE_INFORMATION *z = lpTimeZoneInformation;
	memset(z, 0, sizeof *z);
	time_t t = time(NULL);
	struct tm tm;
	tzset();
	localtime_r(&t, &tm);
	z->Bias = (LONG)(timezone / 60);
	z->DaylightBias = tm.tm_isdst > 0 ? (LONG)(-(tm.tm_gmtoff / 60) - z->Bias) : 0;
	zone_name(z->StandardName, tzname[0]);
	zone_name(z->DaylightName, daylight ? tzname[1] : tzname[0]);
	return tm.tm_isdst > 0 ? TIME_ZONE_ID_DAYLIGHT : daylight ? TIME_ZONE_ID_STANDARD : TIME_ZONE_ID_UNKNOWN;
}
