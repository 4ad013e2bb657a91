/* SPDX-License-Identifier: MIT
 *
 * The machine's time zone in the shape of TIME_ZONE_INFORMATION: bias, two names and the rules by
 * which the clock changes, found by looking for this year's changes in what localtime_r says.
 *
 *   0x00 i32 Bias      UTC = local + bias, minutes
 *   0x04 w[32] name    0x44 SYSTEMTIME date    0x54 i32 bias   standard
 *   0x58 w[32] name    0x98 SYSTEMTIME date    0xA8 i32 bias   daylight
 */
#include "etl/etl_writer.h"

#include <time.h>

#define DAY 86400

/* Windows puts -60 here for zones that never change, too [obs] lxcore_kernel.etl. */
#define DAYLIGHT_BIAS_UNUSED (-60)

static void put_name(uint8_t *p, const char *zone)
{
	for (int i = 0; i < 31 && zone && zone[i]; i++) {
		p[2 * i] = (uint8_t)zone[i];
	}
}

/* "n-th weekday of the month" with year 0, wall clock as it stood before the change. */
static void put_rule(uint8_t *p, int64_t change)
{
	time_t before = (time_t)(change - 1);
	struct tm tm;
	if (!localtime_r(&before, &tm)) {
		return;
	}
	/* 01:59:59 + 1 s; adding to the fields keeps the old offset. */
	int seconds = tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec + 1;
	if (seconds == DAY) {
		/* 24:00 of that day: Windows says 23:59:59.999 for the same. */
		le16_put(p + 8, 23);
		le16_put(p + 10, 59);
		le16_put(p + 12, 59);
		le16_put(p + 14, 999);
	} else {
		le16_put(p + 8, (uint16_t)(seconds / 3600));
		le16_put(p + 10, (uint16_t)(seconds / 60 % 60));
	}
	static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int nth = (tm.tm_mday - 1) / 7 + 1;
	if (tm.tm_mday + 7 > days[tm.tm_mon]) {
		nth = 5; /* the last one */
	}
	le16_put(p + 2, (uint16_t)(tm.tm_mon + 1));
	le16_put(p + 4, (uint16_t)tm.tm_wday);
	le16_put(p + 6, (uint16_t)nth);
}

static bool is_daylight(int64_t t, struct tm *tm)
{
	time_t tt = (time_t)t;
	return localtime_r(&tt, tm) && tm->tm_isdst > 0;
}

/* First second in (lo, hi] with the other daylight state; the states at the ends differ. */
static int64_t find_change(int64_t lo, int64_t hi)
{
	struct tm tm;
	bool at_lo = is_daylight(lo, &tm);
	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;
		if (is_daylight(mid, &tm) == at_lo) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	return hi;
}

void etl_time_zone_at(int64_t now_unix, uint8_t ret[ETL_TIME_ZONE_SIZE])
{
	memset(ret, 0, ETL_TIME_ZONE_SIZE);
	tzset();
	struct tm tm;
	time_t now = (time_t)now_unix;
	if (!localtime_r(&now, &tm)) {
		return;
	}
	int64_t year_start = now_unix - (int64_t)tm.tm_yday * DAY;
	bool daylight = is_daylight(year_start, &tm);
	bool have_standard = false, have_daylight = false;
	long standard_off = tm.tm_gmtoff, daylight_off = tm.tm_gmtoff;
	for (int day = 0; day <= 366; day++) {
		int64_t t = year_start + (int64_t)day * DAY;
		bool d = is_daylight(t, &tm);
		if (day > 0 && d != daylight) {
			put_rule(ret + (d ? 0x98 : 0x44), find_change(t - DAY, t));
		}
		if (d && !have_daylight) {
			have_daylight = true;
			daylight_off = tm.tm_gmtoff;
			put_name(ret + 0x58, tm.tm_zone);
		} else if (!d && !have_standard) {
			have_standard = true;
			standard_off = tm.tm_gmtoff;
			put_name(ret + 0x04, tm.tm_zone);
		}
		daylight = d;
	}
	if (!have_standard) {
		standard_off = daylight_off;
		memcpy(ret + 0x04, ret + 0x58, 64);
	}
	int32_t daylight_bias = DAYLIGHT_BIAS_UNUSED;
	if (have_daylight && have_standard) {
		daylight_bias = (int32_t)((standard_off - daylight_off) / 60);
	} else {
		/* A rule without its partner (a zone that gave up changing) is no rule. */
		memset(ret + 0x44, 0, 16);
		memset(ret + 0x98, 0, 16);
		memcpy(ret + 0x58, ret + 0x04, 64);
	}
	le32_put(ret + 0x00, (uint32_t)(int32_t)(-standard_off / 60));
	le32_put(ret + 0xA8, (uint32_t)daylight_bias);
}

void etl_time_zone_local(uint8_t ret[ETL_TIME_ZONE_SIZE])
{
	etl_time_zone_at((int64_t)time(NULL), ret);
}
