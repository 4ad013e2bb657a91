/* SPDX-License-Identifier: MIT
 *
 * FormatMessage: system texts, and messages with inserts.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <stdlib.h>

/* Runs the printf engine over one value that came as a pointer-sized word. */
static void format_one(struct win_sink *s, const uint16_t *format, ...)
{
	va_list ap;
	va_start(ap, format);
	win_format(s, format, true, ap);
	va_end(ap);
}

/* Words of the argument list, read in order and remembered, because %2 may come before %1. */
struct inserts {
	const DWORD_PTR *array;
	va_list *list;
	DWORD_PTR seen[100];
	unsigned count;
};

static DWORD_PTR insert_get(struct inserts *in, unsigned n)
{
	if (in->array) {
		return in->array[n - 1];
	}
	while (in->list && in->count < n) {
		in->seen[in->count++] = va_arg(*in->list, DWORD_PTR);
	}
	return in->list ? in->seen[n - 1] : 0;
}

/* At "%N" or "%N!format!"; returns characters used after the '%'. */
static size_t insert(struct win_sink *s, const uint16_t *p, struct inserts *in, bool ansi)
{
	size_t i = 0;
	unsigned n = 0;
	uint16_t format[40] = {'%', 0};
	for (; i < 2 && p[i] >= '0' && p[i] <= '9'; i++) {
		n = n * 10 + (unsigned)(p[i] - '0');
	}
	size_t k = 1;
	if (p[i] == '!') {
		for (i++; p[i] && p[i] != '!'; i++) {
			if (k + 2 < BASE_ARRAY_LEN(format)) {
				format[k++] = p[i];
			}
		}
		i += p[i] == '!';
	} else {
		format[k++] = 's';
	}
	/* In the A form, s is an 8-bit string. */
	if (ansi && format[k - 1] == 's' && k == 2) {
		format[1] = 'S';
	}
	format[k] = 0;
	format_one(s, format, insert_get(in, n));
	return i;
}

static void expand(struct win_sink *s, const uint16_t *p, struct inserts *in, DWORD flags, bool ansi)
{
	while (*p) {
		if (*p != '%' || !p[1]) {
			win_sink_unit(s, *p++);
			continue;
		}
		p++;
		if (*p == '0') {
			return;
		}
		if (*p >= '1' && *p <= '9') {
			if (flags & FORMAT_MESSAGE_IGNORE_INSERTS) {
				win_sink_unit(s, '%');
				win_sink_unit(s, *p++);
			} else {
				p += insert(s, p, in, ansi);
			}
			continue;
		}
		switch (*p) {
		case 'n': win_sink_utf8(s, "\r\n", 2); break;
		case 'r': win_sink_unit(s, '\r'); break;
		case 't': win_sink_unit(s, '\t'); break;
		case 'b': win_sink_unit(s, ' '); break;
		default: win_sink_unit(s, *p);
		}
		p++;
	}
}

static bool build(struct win_sink *s, DWORD flags, const uint16_t *source, DWORD id, va_list *args, bool ansi)
{
	struct inserts in = {0};
	if (flags & FORMAT_MESSAGE_ARGUMENT_ARRAY) {
		in.array = (const DWORD_PTR *)args;
	} else {
		in.list = args;
	}
	if (flags & FORMAT_MESSAGE_FROM_STRING) {
		expand(s, source, &in, flags, ansi);
		return true;
	}
	DWORD code = (id & 0xFFFF0000u) == 0x80070000u ? id & 0xFFFF : id;
	const char *text = win32_text(code);
	if (!(flags & FORMAT_MESSAGE_FROM_SYSTEM) || !text) {
		return win_fail(ERROR_MR_MID_NOT_FOUND);
	}
	win_sink_utf8(s, text, strlen(text));
	if (!(flags & FORMAT_MESSAGE_MAX_WIDTH_MASK)) {
		win_sink_utf8(s, "\r\n", 2);
	}
	return true;
}

/* Hands over `s` (without terminator) in units of `size` bytes. */
static DWORD deliver(struct win_sink *s, DWORD flags, void *buffer, DWORD cap, size_t size)
{
	size_t n = s->count;
	win_sink_unit(s, 0);
	if (s->failed || n == 0) {
		free(s->buf);
		if (s->failed) {
			win_fail(ERROR_NOT_ENOUGH_MEMORY);
		}
		return 0;
	}
	if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
		*(void **)buffer = s->buf; /* LocalFree is free */
		return (DWORD)n;
	}
	bool fits = n < cap;
	if (fits) {
		memcpy(buffer, s->buf, (n + 1) * size);
	}
	free(s->buf);
	return fits ? (DWORD)n : (DWORD)win_fail(ERROR_INSUFFICIENT_BUFFER);
}

DWORD WINAPI FormatMessageW(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId, LPWSTR lpBuffer,
			    DWORD nSize, va_list *Arguments)
{
	struct win_sink s = {.wide = true, .grow = true};
	if (!lpBuffer || ((dwFlags & FORMAT_MESSAGE_FROM_STRING) && !lpSource)) {
		return (DWORD)win_fail(ERROR_INVALID_PARAMETER);
	}
	if (!build(&s, dwFlags, lpSource, dwMessageId, Arguments, false)) {
		free(s.buf);
		return 0;
	}
	return deliver(&s, dwFlags, lpBuffer, nSize, 2);
}

DWORD WINAPI FormatMessageA(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId, LPSTR lpBuffer,
			    DWORD nSize, va_list *Arguments)
{
	struct win_sink s = {.grow = true};
	if (!lpBuffer || ((dwFlags & FORMAT_MESSAGE_FROM_STRING) && !lpSource)) {
		return (DWORD)win_fail(ERROR_INVALID_PARAMETER);
	}
	uint16_t *source = dwFlags & FORMAT_MESSAGE_FROM_STRING ? win_utf16(lpSource) : NULL;
	bool ok = build(&s, dwFlags, source, dwMessageId, Arguments, true);
	free(source);
	if (!ok) {
		free(s.buf);
		return 0;
	}
	return deliver(&s, dwFlags, lpBuffer, nSize, 1);
}

VOID WINAPI OutputDebugStringA(LPCSTR lpOutputString)
{
	if (lpOutputString) {
		fputs(lpOutputString, stderr);
	}
}
VOID WINAPI OutputDebugStringW(LPCWSTR lpOutputString)
{
	char *s = win_utf8(lpOutputString);
	OutputDebugStringA(s);
	free(s);
}
BOOL WINAPI IsDebuggerPresent(void)
{
	char line[256];
	BOOL traced = FALSE;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "TracerPid:", 10) == 0) {
			traced = strtol(line + 10, NULL, 10) != 0;
		}
	}
	if (f) {
		fclose(f);
	}
	return traced;
}
