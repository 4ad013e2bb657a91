/* SPDX-License-Identifier: MIT
 *
 * Times and durations as people write and read them. All times are FILETIME: 100 ns since
 * 1601-01-01 UTC.
 */
#ifndef CLI_TIMETEXT_H
#define CLI_TIMETEXT_H

#include "base/base.h"

#define CLI_TIME_TEXT_SIZE 40

/* "2026-03-01T12:34:56.1234567Z", or with the machine's offset ("+01:00") when local. */
void cli_time_format(uint64_t filetime, bool local, char out[CLI_TIME_TEXT_SIZE]);
/* A date, or a date and a time down to 100 ns, separated by T or a blank, then nothing or Z (UTC)
 * or +hh:mm. */
bool cli_time_parse(const char *text, uint64_t *ret_filetime);
/* "250ms", "1.5s", "2m", "1h", "3d", "10us", "100ns"; a bare number has unit `unit_ns`. */
bool cli_duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret_ns);
/* "4096", "64K", "100MB", "2GiB" (K, M, G are powers of 1024); a bare number has unit `unit_bytes`.
 */
bool cli_size_parse(const char *text, uint64_t unit_bytes, uint64_t *ret_bytes);
/* "1.234 s", "12.3 ms", "2 h 03 min". */
void cli_duration_format(uint64_t duration_100ns, char *out, size_t cap);

#endif
