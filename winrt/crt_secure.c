/* SPDX-License-Identifier: MIT
 *
 * The functions with _s at their end. They return 0 or an errno; a destination that is too small
 * becomes empty and the result is ERANGE (34), unless the count is _TRUNCATE: then it is filled and
 * the result is STRUNCATE (80). Windows calls the invalid-parameter handler where these return
 * EINVAL.
 */
#include "winrt/win.h"

#include <stdlib.h>
#include <time.h>

typedef uint16_t wc;
#define TRUNCATE  ((size_t)-1)
#define STRUNCATE 80
#define FN(ret, name, args)               \
	WIN_EXPORT ret etw16_##name args; \
	ret etw16_##name args

/* Copies at most `count` units of s to d + at. `size` is 1 or 2 bytes a unit. */
static int copy(void *d, size_t cap, size_t at, const void *s, size_t count, size_t size)
{
	if (!d || cap == 0) {
		return EINVAL;
	}
	if (!s && count != 0) {
		memset(d, 0, size);
		return EINVAL;
	}
	if (at >= cap) {
		memset(d, 0, size);
		return EINVAL;
	}
	size_t n = 0;
	while (n < count && (size == 2 ? ((const wc *)s)[n] != 0 : ((const char *)s)[n] != 0)) {
		n++;
	}
	int ret = 0;
	if (n >= cap - at) {
		if (count != TRUNCATE) {
			memset(d, 0, size);
			return ERANGE;
		}
		n = cap - at - 1;
		ret = STRUNCATE;
	}
	if (n) {
		memmove((char *)d + at * size, s, n * size);
	}
	memset((char *)d + (at + n) * size, 0, size);
	return ret;
}

static size_t length(const void *d, size_t cap, size_t size)
{
	size_t n = 0;
	while (d && n < cap && (size == 2 ? ((const wc *)d)[n] != 0 : ((const char *)d)[n] != 0)) {
		n++;
	}
	return n;
}

/* "Everything" must not be taken for _TRUNCATE. */
#define ALL ((size_t)-2)

FN(int, wcscpy_s, (wc * d, size_t cap, const wc *s))
{
	return copy(d, cap, 0, s, ALL, 2);
}
FN(int, wcsncpy_s, (wc * d, size_t cap, const wc *s, size_t n))
{
	return copy(d, cap, 0, s, n, 2);
}
FN(int, wcscat_s, (wc * d, size_t cap, const wc *s))
{
	return copy(d, cap, length(d, cap, 2), s, ALL, 2);
}
FN(int, wcsncat_s, (wc * d, size_t cap, const wc *s, size_t n))
{
	return copy(d, cap, length(d, cap, 2), s, n, 2);
}
FN(int, strcpy_s, (char *d, size_t cap, const char *s))
{
	return copy(d, cap, 0, s, ALL, 1);
}
FN(int, strncpy_s, (char *d, size_t cap, const char *s, size_t n))
{
	return copy(d, cap, 0, s, n, 1);
}
FN(int, strcat_s, (char *d, size_t cap, const char *s))
{
	return copy(d, cap, length(d, cap, 1), s, ALL, 1);
}
FN(int, strncat_s, (char *d, size_t cap, const char *s, size_t n))
{
	return copy(d, cap, length(d, cap, 1), s, n, 1);
}
FN(int, memcpy_s, (void *d, size_t cap, const void *s, size_t n))
{
	if (n == 0) {
		return 0;
	}
	if (!d) {
		return EINVAL;
	}
	if (!s || cap < n) {
		memset(d, 0, cap);
		return s ? ERANGE : EINVAL;
	}
	memcpy(d, s, n);
	return 0;
}
FN(int, memmove_s, (void *d, size_t cap, const void *s, size_t n))
{
	if (n == 0) {
		return 0;
	}
	if (!d || !s) {
		return EINVAL;
	}
	if (cap < n) {
		return ERANGE;
	}
	memmove(d, s, n);
	return 0;
}
FN(int, _wcslwr_s, (wc * s, size_t cap))
{
	size_t n = length(s, cap, 2);
	if (!s || n == cap) {
		return EINVAL;
	}
	for (size_t i = 0; i < n; i++) {
		s[i] = win_lower(s[i]);
	}
	return 0;
}
FN(int, _wcsupr_s, (wc * s, size_t cap))
{
	size_t n = length(s, cap, 2);
	if (!s || n == cap) {
		return EINVAL;
	}
	for (size_t i = 0; i < n; i++) {
		s[i] = win_upper(s[i]);
	}
	return 0;
}
/* *ret counts the terminator, as on Windows. */
FN(int, mbstowcs_s, (size_t * ret, wc *d, size_t cap, const char *s, size_t n))
{
	wc *all = win_utf16(s);
	if (!all) {
		return EINVAL;
	}
	int err = 0;
	size_t len = utf16_len(all);
	if (d) {
		err = copy(d, cap, 0, all, n, 2);
		len = length(d, cap, 2);
	}
	if (ret) {
		*ret = err == 0 || err == STRUNCATE ? len + 1 : 0;
	}
	free(all);
	return err;
}
FN(int, wcstombs_s, (size_t * ret, char *d, size_t cap, const wc *s, size_t n))
{
	char *all = win_utf8(s);
	if (!all) {
		return EINVAL;
	}
	int err = 0;
	size_t len = strlen(all);
	if (d) {
		err = copy(d, cap, 0, all, n, 1);
		len = length(d, cap, 1);
	}
	if (ret) {
		*ret = err == 0 || err == STRUNCATE ? len + 1 : 0;
	}
	free(all);
	return err;
}
/* A text that is too long is cut off. */
FN(int, strerror_s, (char *d, size_t cap, int number))
{
	char text[256];
	if (!d || cap == 0) {
		return EINVAL;
	}
	snprintf(d, cap, "%s", strerror_r(number, text, sizeof text));
	return 0;
}
FN(int, _strerror_s, (char *d, size_t cap, const char *text))
{
	char buffer[256];
	int number = errno;
	if (!d || cap == 0) {
		return EINVAL;
	}
	const char *what = strerror_r(number, buffer, sizeof buffer);
	snprintf(d, cap, "%s%s%s\n", text ? text : "", text ? ": " : "", what);
	return 0;
}
FN(int, _wcserror_s, (wc * d, size_t cap, int number))
{
	char text[256];
	if (!d || cap == 0) {
		return EINVAL;
	}
	uint16_t *w = win_utf16(strerror_r(number, text, sizeof text));
	size_t n = w ? BASE_MIN(utf16_len(w), cap - 1) : 0;
	if (n) {
		memcpy(d, w, n * sizeof *d);
	}
	d[n] = 0;
	free(w);
	return 0;
}
FN(char *, strtok_s, (char *s, const char *set, char **save))
{
	return strtok_r(s, set, save);
}

/* ---- paths -------------------------------------------------------------------------------------
 */

struct parts {
	size_t drive, dir, name, ext, end; /* where each begins */
};

static void split(const wc *p, struct parts *r)
{
	size_t n = utf16_len(p);
	*r = (struct parts){.drive = 0, .end = n};
	r->dir = n >= 2 && p[1] == ':' ? 2 : 0;
	r->name = r->dir;
	for (size_t i = r->dir; i < n; i++) {
		if (p[i] == '/' || p[i] == '\\') {
			r->name = i + 1;
		}
	}
	r->ext = n;
	for (size_t i = r->name; i < n; i++) {
		if (p[i] == '.') {
			r->ext = i;
		}
	}
}

FN(int, _wsplitpath_s,
   (const wc *path, wc *drive, size_t drive_cap, wc *dir, size_t dir_cap, wc *name, size_t name_cap, wc *ext,
    size_t ext_cap))
{
	if (!path) {
		return EINVAL;
	}
	struct parts p;
	split(path, &p);
	int err = 0;
	err = drive ? copy(drive, drive_cap, 0, path, p.dir, 2) : 0;
	err = dir && !err ? copy(dir, dir_cap, 0, path + p.dir, p.name - p.dir, 2) : err;
	err = name && !err ? copy(name, name_cap, 0, path + p.name, p.ext - p.name, 2) : err;
	err = ext && !err ? copy(ext, ext_cap, 0, path + p.ext, p.end - p.ext, 2) : err;
	return err;
}
FN(int, _wmakepath_s, (wc * path, size_t cap, const wc *drive, const wc *dir, const wc *name, const wc *ext))
{
	static const wc colon[] = {':', 0}, slash[] = {'\\', 0}, dot[] = {'.', 0};
	if (!path || cap == 0) {
		return EINVAL;
	}
	path[0] = 0;
	int err = 0;
	if (drive && *drive) {
		err = copy(path, cap, 0, drive, 1, 2);
		err = err ? err : etw16_wcscat_s(path, cap, colon);
	}
	if (dir && *dir && !err) {
		err = etw16_wcscat_s(path, cap, dir);
		wc last = dir[utf16_len(dir) - 1];
		if (!err && last != '/' && last != '\\') {
			err = etw16_wcscat_s(path, cap, slash);
		}
	}
	if (name && !err) {
		err = etw16_wcscat_s(path, cap, name);
	}
	if (ext && *ext && !err) {
		err = *ext == '.' ? 0 : etw16_wcscat_s(path, cap, dot);
		err = err ? err : etw16_wcscat_s(path, cap, ext);
	}
	return err;
}

/* ---- time
 * ----------------------------------------------------------------------------------------- */

FN(int, localtime_s, (struct tm * tm, const time_t *t))
{
	return tm && t && localtime_r(t, tm) ? 0 : EINVAL;
}
FN(int, gmtime_s, (struct tm * tm, const time_t *t))
{
	return tm && t && gmtime_r(t, tm) ? 0 : EINVAL;
}
