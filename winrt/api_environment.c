/* SPDX-License-Identifier: MIT
 *
 * Environment, command line, version, computer name.
 */
#include "winrt/win.h"

#include "base/order.h"
#include "win/ntstatus.h"
#include "win/windows.h"

#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>

/* Length without terminator when it fits, else with it. */
static DWORD give(const uint16_t *w, size_t n, LPWSTR buf, DWORD cap)
{
	if (n >= cap) {
		return (DWORD)n + 1;
	}
	memcpy(buf, w, 2 * n);
	buf[n] = 0;
	return (DWORD)n;
}

DWORD WINAPI GetEnvironmentVariableA(LPCSTR lpName, LPSTR lpBuffer, DWORD nSize)
{
	const char *v = getenv(lpName);
	if (!v) {
		return (DWORD)win_fail(ERROR_ENVVAR_NOT_FOUND);
	}
	DWORD n = (DWORD)strlen(v);
	if (n >= nSize) {
		return n + 1;
	}
	memcpy(lpBuffer, v, n + 1);
	return n;
}
DWORD WINAPI GetEnvironmentVariableW(LPCWSTR lpName, LPWSTR lpBuffer, DWORD nSize)
{
	char *name = win_utf8(lpName);
	const char *v = name ? getenv(name) : NULL;
	uint16_t *w = win_utf16(v);
	free(name);
	if (!w) {
		return (DWORD)win_fail(ERROR_ENVVAR_NOT_FOUND);
	}
	DWORD n = give(w, utf16_len(w), lpBuffer, nSize);
	free(w);
	return n;
}

DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR lpSrc, LPWSTR lpDst, DWORD nSize)
{
	char *src = win_utf8(lpSrc);
	struct win_sink s = {.wide = true, .grow = true};
	for (const char *p = src; p && *p;) {
		const char *end = *p == '%' ? strchr(p + 1, '%') : NULL;
		char name[256];
		size_t n = end ? (size_t)(end - p - 1) : 0;
		const char *v = NULL;
		if (end && n > 0 && n < sizeof name) {
			memcpy(name, p + 1, n);
			name[n] = 0;
			v = getenv(name);
		}
		if (v) {
			win_sink_utf8(&s, v, strlen(v));
			p = end + 1;
		} else {
			size_t k = strcspn(p + 1, "%") + 1;
			win_sink_utf8(&s, p, k);
			p += k;
		}
	}
	win_sink_unit(&s, 0);
	DWORD n = s.failed ? 0 : (DWORD)s.count;
	if (n && n <= nSize) {
		memcpy(lpDst, s.buf, 2 * (size_t)n);
	}
	free(src);
	free(s.buf);
	return n;
}

/* ---- command line: /proc keeps the arguments; Windows programs expect one quoted string
 * ---------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *line_a;
static uint16_t *line_w;

static void quote(struct strbuf *b, const char *arg)
{
	if (*arg && !strpbrk(arg, " \t\"")) {
		strbuf_adds(b, arg);
		return;
	}
	strbuf_addc(b, '"');
	for (const char *p = arg;; p++) {
		size_t slashes = strspn(p, "\\");
		p += slashes;
		/* Backslashes count only in front of a quote. */
		for (size_t i = 0; i < (*p == 0 || *p == '"' ? 2 * slashes : slashes); i++) {
			strbuf_addc(b, '\\');
		}
		if (!*p) {
			break;
		}
		if (*p == '"') {
			strbuf_addc(b, '\\');
		}
		strbuf_addc(b, *p);
	}
	strbuf_addc(b, '"');
}

static void read_line(void)
{
	struct strbuf raw = {0}, out = {0};
	char chunk[4096];
	size_t n;
	FILE *f = fopen("/proc/self/cmdline", "re");
	while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0) {
		strbuf_add(&raw, chunk, n);
	}
	if (f) {
		fclose(f);
	}
	for (size_t at = 0; raw.s && at < raw.len; at += strlen(raw.s + at) + 1) {
		if (at) {
			strbuf_addc(&out, ' ');
		}
		quote(&out, raw.s + at);
	}
	strbuf_finish(&raw);
	line_a = out.s ? out.s : strdup("");
	line_w = win_utf16(line_a);
}

LPSTR WINAPI GetCommandLineA(void)
{
	pthread_once(&once, read_line);
	return line_a;
}
LPWSTR WINAPI GetCommandLineW(void)
{
	pthread_once(&once, read_line);
	return (LPWSTR)line_w;
}

/* One argument from *p to out (NULL: count only); returns its units, moves *p behind it. */
static size_t next_argument(const WCHAR **p, WCHAR *out)
{
	size_t n = 0;
	bool quoted = false;
	const WCHAR *s = *p;
	while (*s && (quoted || (*s != ' ' && *s != '\t'))) {
		size_t slashes = 0;
		while (s[slashes] == '\\') {
			slashes++;
		}
		bool at_quote = s[slashes] == '"';
		for (size_t i = 0; i < (at_quote ? slashes / 2 : slashes); i++, n++) {
			if (out) {
				out[n] = '\\';
			}
		}
		s += slashes;
		if (at_quote && slashes % 2 == 0) {
			quoted = !quoted;
			s++;
		} else if (at_quote || (slashes == 0 && *s)) {
			if (out) {
				out[n] = *s;
			}
			n++;
			s++;
		}
	}
	if (out) {
		out[n] = 0;
	}
	while (*s == ' ' || *s == '\t') {
		s++;
	}
	*p = s;
	return n;
}

LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR lpCmdLine, int *pNumArgs)
{
	size_t count = 0, units = 0;
	if (!lpCmdLine || !pNumArgs) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	for (const WCHAR *p = lpCmdLine; *p;) {
		units += next_argument(&p, NULL) + 1;
		count++;
	}
	LPWSTR *argv = malloc((count + 1) * sizeof *argv + units * sizeof(WCHAR));
	if (!argv) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	WCHAR *text = (WCHAR *)(argv + count + 1);
	size_t i = 0;
	for (const WCHAR *p = lpCmdLine; *p; i++) {
		argv[i] = text;
		text += next_argument(&p, text) + 1;
	}
	argv[count] = NULL;
	*pNumArgs = (int)count;
	return argv;
}

/* ---- version
 * -------------------------------------------------------------------------------------- */

#define MAJOR 10
#define BUILD 19045

static void version(DWORD *fields)
{
	fields[1] = MAJOR;
	fields[2] = 0;
	fields[3] = BUILD;
	fields[4] = VER_PLATFORM_WIN32_NT;
}
BOOL WINAPI GetVersionExW(LPOSVERSIONINFOW lpVersionInformation)
{
	DWORD size = lpVersionInformation->dwOSVersionInfoSize;
	if (size < sizeof(OSVERSIONINFOW)) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memset((char *)lpVersionInformation + 4, 0, BASE_MIN(size, sizeof(OSVERSIONINFOEXW)) - 4);
	version((DWORD *)lpVersionInformation);
	if (size >= sizeof(OSVERSIONINFOEXW)) {
		((OSVERSIONINFOEXW *)lpVersionInformation)->wProductType = VER_NT_WORKSTATION;
	}
	return TRUE;
}
BOOL WINAPI GetVersionExA(LPOSVERSIONINFOA lpVersionInformation)
{
	if (lpVersionInformation->dwOSVersionInfoSize < sizeof(OSVERSIONINFOA)) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	lpVersionInformation->szCSDVersion[0] = 0;
	version((DWORD *)lpVersionInformation);
	return TRUE;
}
NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW lpVersionInformation)
{
	return GetVersionExW(lpVersionInformation) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}
ULONGLONG NTAPI VerSetConditionMask(ULONGLONG ConditionMask, DWORD TypeMask, BYTE Condition)
{
	/* Three bits for each bit of the type mask; of several bits the highest counts. */
	if (TypeMask == 0) {
		return ConditionMask;
	}
	unsigned bit = 31 - (unsigned)__builtin_clz(TypeMask & 0xFF ? TypeMask & 0xFF : 1);
	return ConditionMask | (ULONGLONG)(Condition & 7) << 3 * bit;
}

static bool compare(DWORD have, DWORD want, unsigned condition)
{
	switch (condition) {
	case VER_EQUAL: return have == want;
	case VER_GREATER: return have > want;
	case VER_GREATER_EQUAL: return have >= want;
	case VER_LESS: return have < want;
	case VER_LESS_EQUAL: return have <= want;
	default: return false;
	}
}

/* The fields of the structure's A and W form that are compared. */
struct version_wanted {
	DWORD major, minor, build, platform;
	WORD pack_major, pack_minor, suite;
	BYTE product;
};

static BOOL verify_version(const struct version_wanted *w, DWORD types, ULONGLONG mask)
{
	DWORD have[5] = {0};
	version(have);
	/* Major, minor and service pack are one number: the first that differs decides, by the
	 * condition of the first that is asked for. */
	const struct {
		DWORD type, have, want;
	} parts[] = {{VER_MAJORVERSION, have[1], w->major},
		     {VER_MINORVERSION, have[2], w->minor},
		     {VER_SERVICEPACKMAJOR, 0, w->pack_major},
		     {VER_SERVICEPACKMINOR, 0, w->pack_minor}};
	const struct {
		DWORD type, have, want;
	} single[] = {{VER_BUILDNUMBER, have[3], w->build},
		      {VER_PLATFORMID, have[4], w->platform},
		      {VER_PRODUCT_TYPE, VER_NT_WORKSTATION, w->product}};
	if (types == 0 || mask == 0) {
		return win_fail(ERROR_BAD_ARGUMENTS);
	}
	bool fits = true;
	unsigned condition = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		if (types & parts[i].type) {
			unsigned own = (unsigned)(mask >> 3 * __builtin_ctz(parts[i].type)) & 7;
			condition = condition ? condition : own;
			fits = compare(parts[i].have, parts[i].want, condition);
			if (parts[i].have != parts[i].want) {
				break;
			}
		}
	}
	for (size_t i = 0; fits && i < BASE_ARRAY_LEN(single); i++) {
		if (types & single[i].type) {
			unsigned own = (unsigned)(mask >> 3 * __builtin_ctz(single[i].type)) & 7;
			fits = compare(single[i].have, single[i].want, own);
		}
	}
	/* No suite is installed: "all of" nothing holds, "one of" something does not. */
	if (types & VER_SUITENAME && w->suite) {
		fits = false;
	}
	return fits ? TRUE : win_fail(ERROR_OLD_WIN_VERSION);
}
BOOL WINAPI VerifyVersionInfoW(LPOSVERSIONINFOEXW lpVersionInformation, DWORD dwTypeMask, DWORDLONG dwlConditionMask)
{
	const OSVERSIONINFOEXW *v = lpVersionInformation;
	struct version_wanted w = {v->dwMajorVersion,    v->dwMinorVersion,    v->dwBuildNumber, v->dwPlatformId,
				   v->wServicePackMajor, v->wServicePackMinor, v->wSuiteMask,    v->wProductType};
	return verify_version(&w, dwTypeMask, dwlConditionMask);
}
BOOL WINAPI VerifyVersionInfoA(LPOSVERSIONINFOEXA lpVersionInformation, DWORD dwTypeMask, DWORDLONG dwlConditionMask)
{
	const OSVERSIONINFOEXA *v = lpVersionInformation;
	struct version_wanted w = {v->dwMajorVersion,    v->dwMinorVersion,    v->dwBuildNumber, v->dwPlatformId,
				   v->wServicePackMajor, v->wServicePackMinor, v->wSuiteMask,    v->wProductType};
	return verify_version(&w, dwTypeMask, dwlConditionMask);
}
BOOL WINAPI GetComputerNameW(LPWSTR lpBuffer, LPDWORD nSize)
{
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	uint16_t *w = win_utf16(name);
	size_t n = w ? utf16_len(w) : 0;
	BOOL ok = w && n < *nSize;
	if (ok) {
		memcpy(lpBuffer, w, 2 * (n + 1));
	}
	*nSize = (DWORD)(ok ? n : n + 1);
	free(w);
	return ok ? TRUE : win_fail(ERROR_BUFFER_OVERFLOW);
}
BOOL WINAPI GetComputerNameA(LPSTR lpBuffer, LPDWORD nSize)
{
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	size_t n = strlen(name);
	BOOL ok = n < *nSize;
	if (ok) {
		memcpy(lpBuffer, name, n + 1);
	}
	*nSize = (DWORD)(ok ? n : n + 1);
	return ok ? TRUE : win_fail(ERROR_BUFFER_OVERFLOW);
}

/* A user without an entry in the password file has a number for a name. */
static void user_name(char *ret, size_t cap)
{
	struct passwd entry, *found = NULL;
	char buf[4096];
	if (getpwuid_r(geteuid(), &entry, buf, sizeof buf, &found) == 0 && found) {
		snprintf(ret, cap, "%s", entry.pw_name);
	} else {
		snprintf(ret, cap, "%u", (unsigned)geteuid());
	}
}
BOOL WINAPI GetUserNameA(LPSTR lpBuffer, LPDWORD pcbBuffer)
{
	char name[UNLEN + 1];
	user_name(name, sizeof name);
	DWORD n = (DWORD)strlen(name) + 1, room = *pcbBuffer;
	*pcbBuffer = n;
	if (n > room) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memcpy(lpBuffer, name, n);
	return TRUE;
}
BOOL WINAPI GetUserNameW(LPWSTR lpBuffer, LPDWORD pcbBuffer)
{
	char name[UNLEN + 1];
	user_name(name, sizeof name);
	uint16_t *w = win_utf16(name);
	if (!w) {
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	DWORD n = (DWORD)utf16_len(w) + 1, room = *pcbBuffer;
	*pcbBuffer = n;
	if (n <= room) {
		memcpy(lpBuffer, w, 2 * n);
	}
	free(w);
	return n <= room ? TRUE : win_fail(ERROR_INSUFFICIENT_BUFFER);
}

/* ---- error boxes ----------------------------------------------------------------------------- */

static UINT error_mode;

UINT WINAPI SetErrorMode(UINT uMode)
{
	UINT before = order_load_relaxed(&error_mode);
	order_store_relaxed(&error_mode, uMode);
	return before;
}
UINT WINAPI GetErrorMode(void)
{
	return order_load_relaxed(&error_mode);
}

VOID WINAPI RaiseFailFastException(struct _EXCEPTION_RECORD *pExceptionRecord, struct _CONTEXT *pContextRecord,
				   DWORD dwFlags)
{
	__builtin_trap();
}
