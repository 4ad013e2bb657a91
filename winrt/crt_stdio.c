/* SPDX-License-Identifier: MIT
 *
 * 16-bit characters and strings through FILE streams, as UTF-8; keyboard functions.
 */
#include "winrt/win.h"

#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

typedef uint16_t wc;
#define WEOF_ 0xFFFFu
#define FN(ret, name, args)               \
	WIN_EXPORT ret etw16_##name args; \
	ret etw16_##name args

static int put(const wc *s, size_t n, FILE *f)
{
	struct win_sink out = {.grow = true};
	win_sink_utf16(&out, s, n);
	bool ok = !out.failed && fwrite(out.buf ? out.buf : "", 1, out.count, f) == out.count;
	free(out.buf);
	return ok ? 0 : EOF;
}
FN(int, fputws, (const wc *s, FILE *f))
{
	return put(s, utf16_len(s), f);
}
FN(int, _putws, (const wc *s))
{
	return put(s, utf16_len(s), stdout) == 0 && putc('\n', stdout) != EOF ? 0 : EOF;
}
FN(unsigned, fputwc, (wc c, FILE *f))
{
	/* The halves of a pair come one after the other: keep the first until its partner is here.
	 */
	static __thread wc high;
	if ((c & 0xFC00) == 0xD800) {
		high = c;
		return c;
	}
	wc two[2] = {high, c};
	bool pair = high && (c & 0xFC00) == 0xDC00;
	high = 0;
	return put(pair ? two : &c, pair ? 2 : 1, f) == 0 ? c : WEOF_;
}
FN(unsigned, putwchar, (wc c))
{
	return etw16_fputwc(c, stdout);
}

/* One UTF-16 unit from a stream of UTF-8. Beyond the basic plane: U+FFFD. */
FN(unsigned, fgetwc, (FILE * f))
{
	int c = getc(f);
	if (c == EOF) {
		return WEOF_;
	}
	char bytes[4] = {(char)c};
	size_t n = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 1;
	for (size_t i = 1; i < n; i++) {
		int d = getc(f);
		if (d == EOF || (d & 0xC0) != 0x80) {
			ungetc(d, f);
			return 0xFFFD;
		}
		bytes[i] = (char)d;
	}
	wc out[3];
	return utf8_to_utf16(bytes, n, out, 3) == 1 ? out[0] : 0xFFFD;
}
FN(unsigned, getwchar, (void))
{
	return etw16_fgetwc(stdin);
}
FN(unsigned, ungetwc, (unsigned c, FILE *f))
{
	return c < 0x80 && ungetc((int)c, f) != EOF ? c : WEOF_;
}
FN(wc *, fgetws, (wc * d, int cap, FILE *f))
{
	int n = 0;
	while (n + 1 < cap) {
		unsigned c = etw16_fgetwc(f);
		if (c == WEOF_) {
			break;
		}
		d[n++] = (wc)c;
		if (c == '\n') {
			break;
		}
	}
	if (n == 0) {
		return NULL;
	}
	d[n] = 0;
	return d;
}
FN(int, fwide, (FILE * f, int mode))
{
	return 0; /* streams stay bytes */
}

/* Drops what Windows modes have beyond those of fopen: t, ", ccs=UTF-8" and the like. */
static FILE *open_file(const wc *path, const wc *mode)
{
	char *p8 = win_utf8(path), *m8 = win_utf8(mode);
	char *p = p8 ? win_path(p8) : NULL;
	FILE *f = NULL;
	if (p && m8) {
		char m[8];
		size_t n = 0;
		for (size_t i = 0; m8[i] && m8[i] != ',' && n < sizeof m - 1; i++) {
			if (strchr("rwa+bx", m8[i])) {
				m[n++] = m8[i];
			}
		}
		m[n] = 0;
		f = fopen(p, m);
	}
	free(p8);
	free(m8);
	free(p);
	return f;
}
FN(FILE *, _wfopen, (const wc *path, const wc *mode))
{
	return open_file(path, mode);
}
FN(int, _wfopen_s, (FILE * *ret, const wc *path, const wc *mode))
{
	if (!ret || !path || !mode) {
		return EINVAL;
	}
	*ret = open_file(path, mode);
	return *ret ? 0 : errno;
}
FN(int, fopen_s, (FILE * *ret, const char *path, const char *mode))
{
	if (!ret || !path || !mode) {
		return EINVAL;
	}
	wc *p = win_utf16(path), *m = win_utf16(mode);
	*ret = p && m ? open_file(p, m) : NULL;
	int err = *ret ? 0 : errno ? errno : ENOMEM;
	free(p);
	free(m);
	return err;
}
FN(int, _wsystem, (const wc *command))
{
	char *c = win_utf8(command);
	int ret = c ? system(c) : -1;
	free(c);
	return ret;
}
FN(wc *, _wgetenv, (const wc *name))
{
	static __thread wc *last;
	char *n = win_utf8(name);
	const char *v = n ? getenv(n) : NULL;
	free(n);
	free(last);
	last = v ? win_utf16(v) : NULL;
	return last;
}
/* `value` may be NULL when `cap` is 0: the size is asked for. */
FN(int, getenv_s, (size_t * ret, char *value, size_t cap, const char *name))
{
	const char *v = name ? getenv(name) : NULL;
	if (!ret || !name || (!value && cap)) {
		return EINVAL;
	}
	*ret = v ? strlen(v) + 1 : 0;
	if (cap) {
		value[0] = 0;
	}
	if (*ret > cap) {
		return cap ? ERANGE : 0;
	}
	if (v) {
		memcpy(value, v, *ret);
	}
	return 0;
}
FN(int, _wgetenv_s, (size_t * ret, wc *value, size_t cap, const wc *name))
{
	char *n = name ? win_utf8(name) : NULL;
	const char *v = n ? getenv(n) : NULL;
	wc *w = v ? win_utf16(v) : NULL;
	free(n);
	if (!ret || !name || (!value && cap)) {
		free(w);
		return EINVAL;
	}
	*ret = 0;
	while (w && w[(*ret)++]) {
	}
	if (cap) {
		value[0] = 0;
	}
	int err = *ret > cap && cap ? ERANGE : 0;
	if (w && *ret <= cap) {
		memcpy(value, w, *ret * sizeof *w);
	}
	free(w);
	return err;
}
FN(int, _dupenv_s, (char **ret, size_t *count, const char *name))
{
	if (!ret || !name) {
		return EINVAL;
	}
	const char *v = getenv(name);
	*ret = v ? strdup(v) : NULL;
	if (count) {
		*count = *ret ? strlen(*ret) + 1 : 0;
	}
	return v && !*ret ? ENOMEM : 0;
}
FN(int, _wdupenv_s, (wc * *ret, size_t *count, const wc *name))
{
	if (!ret || !name) {
		return EINVAL;
	}
	char *n = win_utf8(name);
	const char *v = n ? getenv(n) : NULL;
	free(n);
	*ret = v ? win_utf16(v) : NULL;
	size_t units = 0;
	while (*ret && (*ret)[units++]) {
	}
	if (count) {
		*count = units;
	}
	return v && !*ret ? ENOMEM : 0;
}
FN(int, _putenv_s, (const char *name, const char *value))
{
	if (!name || !value || !*name || strchr(name, '=')) {
		return EINVAL;
	}
	return (*value ? setenv(name, value, 1) : unsetenv(name)) == 0 ? 0 : errno;
}
FN(int, _wputenv_s, (const wc *name, const wc *value))
{
	char *n = name ? win_utf8(name) : NULL, *v = value ? win_utf8(value) : NULL;
	int err = !n || !v || !*n || strchr(n, '=') ? EINVAL : (*v ? setenv(n, v, 1) : unsetenv(n)) == 0 ? 0 : errno;
	free(n);
	free(v);
	return err;
}
FN(int, _wremove, (const wc *path))
{
	char *p8 = win_utf8(path);
	char *p = p8 ? win_path(p8) : NULL;
	int ret = p ? remove(p) : -1;
	free(p8);
	free(p);
	return ret;
}

/* A key without echo and without Enter on a terminal; a byte otherwise; EOF at the end. */
static int key(bool echo)
{
	struct termios old;
	bool tty = tcgetattr(0, &old) == 0;
	fflush(stdout);
	if (tty) {
		struct termios raw = old;
		raw.c_lflag &= ~(tcflag_t)(ICANON | (echo ? 0 : ECHO));
		raw.c_cc[VMIN] = 1;
		raw.c_cc[VTIME] = 0;
		tcsetattr(0, TCSANOW, &raw);
	}
	uint8_t c;
	ssize_t n;
	do {
		n = read(0, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (tty) {
		tcsetattr(0, TCSANOW, &old);
	}
	return n == 1 ? c : EOF;
}
FN(int, _getch, (void))
{
	return key(false);
}
FN(int, _getche, (void))
{
	return key(true);
}
FN(int, _kbhit, (void))
{
	fd_set set;
	struct timeval zero = {0, 0};
	FD_ZERO(&set);
	FD_SET(0, &set);
	return select(1, &set, NULL, NULL, &zero) > 0;
}
FN(unsigned, _getwch, (void))
{
	int c = key(false);
	return c == EOF ? WEOF_ : (unsigned)c;
}
