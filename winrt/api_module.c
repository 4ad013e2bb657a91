/* SPDX-License-Identifier: MIT
 *
 * Modules. The DLLs that ETW clients look functions up in are all this one library, so that
 * GetProcAddress finds EventSetInformation in "advapi32" and TdhFormatProperty in "tdh".
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <strings.h>

/* One address stands for all of them: never dlclose'd. */
static char own_module;

/* "advapi32.dll", a line for each DLL that we have functions of; without ".dll": no DLL. */
extern const char win_names[];

static bool own_name(const char *name)
{
	const char *base = name;
	for (const char *p = name; *p; p++) {
		if (*p == '/' || *p == '\\') {
			base = p + 1;
		}
	}
	size_t n = strlen(base);
	if (n > 4 && strcasecmp(base + n - 4, ".dll") == 0) {
		n -= 4;
	}
	if (strncasecmp(base, "api-ms-win-", 11) == 0) {
		return true;
	}
	for (const char *line = win_names; *line; line += strcspn(line, "\n")) {
		line += *line == '\n';
		if (strcspn(line, "\n") == n + 4 && strncasecmp(line, base, n) == 0 &&
		    strncmp(line + n, ".dll", 4) == 0) {
			return true;
		}
	}
	return false;
}

static HMODULE open_module(const char *name, bool load)
{
	if (!name) {
		return dlopen(NULL, RTLD_NOW);
	}
	if (own_name(name)) {
		return &own_module;
	}
	char *path = win_path(name);
	void *h = path ? dlopen(path, RTLD_NOW | (load ? 0 : RTLD_NOLOAD)) : NULL;
	free(path);
	if (!h) {
		SetLastError(ERROR_MOD_NOT_FOUND);
	}
	return h;
}

HMODULE WINAPI GetModuleHandleA(LPCSTR lpModuleName)
{
	HMODULE h = open_module(lpModuleName, false);
	if (h && h != &own_module) {
		dlclose(h); /* no reference is handed out; the loaded one stays */
	}
	return h;
}
HMODULE WINAPI GetModuleHandleW(LPCWSTR lpModuleName)
{
	char *n = win_utf8(lpModuleName);
	HMODULE h = GetModuleHandleA(n);
	free(n);
	return h;
}
BOOL WINAPI GetModuleHandleExA(DWORD dwFlags, LPCSTR lpModuleName, HMODULE *phModule)
{
	if (!phModule) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (dwFlags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS) {
		Dl_info info;
		bool known = dladdr(lpModuleName, &info) != 0 && info.dli_fname;
		*phModule = known ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
		if (known && !*phModule) {
			*phModule = dlopen(NULL, RTLD_NOW); /* the program itself */
		}
	} else if (dwFlags & GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT) {
		*phModule = GetModuleHandleA(lpModuleName);
	} else {
		*phModule = open_module(lpModuleName, false);
	}
	return *phModule ? TRUE : win_fail(ERROR_MOD_NOT_FOUND);
}
BOOL WINAPI GetModuleHandleExW(DWORD dwFlags, LPCWSTR lpModuleName, HMODULE *phModule)
{
	if (dwFlags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS) {
		return GetModuleHandleExA(dwFlags, (LPCSTR)lpModuleName, phModule);
	}
	char *n = win_utf8(lpModuleName);
	BOOL ok = GetModuleHandleExA(dwFlags, n, phModule);
	free(n);
	return ok;
}
HMODULE WINAPI LoadLibraryExA(LPCSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
	if (!lpLibFileName) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return open_module(lpLibFileName, true);
}
HMODULE WINAPI LoadLibraryA(LPCSTR lpLibFileName)
{
	return LoadLibraryExA(lpLibFileName, NULL, 0);
}
HMODULE WINAPI LoadLibraryExW(LPCWSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
	char *n = win_utf8(lpLibFileName);
	HMODULE h = LoadLibraryExA(n, hFile, dwFlags);
	free(n);
	return h;
}
HMODULE WINAPI LoadLibraryW(LPCWSTR lpLibFileName)
{
	return LoadLibraryExW(lpLibFileName, NULL, 0);
}
BOOL WINAPI FreeLibrary(HMODULE hLibModule)
{
	if (hLibModule && hLibModule != &own_module) {
		dlclose(hLibModule);
	}
	return hLibModule != NULL;
}
FARPROC WINAPI GetProcAddress(HMODULE hModule, LPCSTR lpProcName)
{
	union {
		void *p;
		FARPROC f;
	} u = {NULL};
	if ((uintptr_t)lpProcName > 0xFFFF) { /* smaller: an ordinal, there are none */
		u.p = dlsym(hModule == &own_module ? RTLD_DEFAULT : hModule, lpProcName);
	}
	/* RTLD_DEFAULT does not see a library that was itself loaded with dlopen. */
	if (!u.p && hModule == &own_module && (uintptr_t)lpProcName > 0xFFFF) {
		void *h = dlopen("libetw.so." OPENETW_SOVERSION, RTLD_NOW | RTLD_NOLOAD);
		u.p = h ? dlsym(h, lpProcName) : NULL;
		if (h) {
			dlclose(h);
		}
	}
	if (!u.p) {
		SetLastError(ERROR_PROC_NOT_FOUND);
	}
	return u.f;
}

void *win_openetw(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);
	if (!p) {
		void *h = dlopen("libopenetw.so." OPENETW_SOVERSION, RTLD_NOW | RTLD_LOCAL); /* stays */
		p = h ? dlsym(h, name) : NULL;
	}
	return p;
}

static long module_path(HMODULE module, char *buf, size_t cap)
{
	/* glibc's dlopen returns the link_map. */
	const struct link_map *m = module && module != &own_module ? module : NULL;
	if (m && m->l_name && m->l_name[0]) {
		return snprintf(buf, cap, "%s", m->l_name);
	}
	if (module == &own_module) {
		Dl_info info;
		return dladdr(&own_module, &info) ? snprintf(buf, cap, "%s", info.dli_fname) : -1;
	}
	ssize_t n = readlink("/proc/self/exe", buf, cap - 1);
	if (n >= 0) {
		buf[n] = 0;
	}
	return n;
}

DWORD WINAPI GetModuleFileNameA(HMODULE hModule, LPSTR lpFilename, DWORD nSize)
{
	char path[4096];
	long n = module_path(hModule, path, sizeof path);
	if (n < 0 || nSize == 0) {
		return (DWORD)win_fail(ERROR_MOD_NOT_FOUND);
	}
	DWORD k = BASE_MIN((DWORD)n, nSize - 1);
	memcpy(lpFilename, path, k);
	lpFilename[k] = 0;
	SetLastError((DWORD)n >= nSize ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS);
	return (DWORD)n >= nSize ? nSize : (DWORD)n;
}
DWORD WINAPI GetModuleFileNameW(HMODULE hModule, LPWSTR lpFilename, DWORD nSize)
{
	char path[4096];
	long n = module_path(hModule, path, sizeof path);
	uint16_t *w = n < 0 ? NULL : win_utf16(path);
	if (!w || nSize == 0) {
		free(w);
		return (DWORD)win_fail(ERROR_MOD_NOT_FOUND);
	}
	DWORD len = (DWORD)utf16_len(w), k = BASE_MIN(len, nSize - 1);
	memcpy(lpFilename, w, 2 * k);
	lpFilename[k] = 0;
	free(w);
	SetLastError(len >= nSize ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS);
	return len >= nSize ? nSize : len;
}
BOOL WINAPI QueryFullProcessImageNameW(HANDLE hProcess, DWORD dwFlags, LPWSTR lpExeName, PDWORD lpdwSize)
{
	char link[64], path[4096];
	snprintf(link, sizeof link, "/proc/%u/exe", GetProcessId(hProcess));
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n < 0) {
		return win_fail_errno();
	}
	path[n] = 0;
	uint16_t *w = win_utf16(path);
	DWORD len = w ? (DWORD)utf16_len(w) : 0;
	bool fits = w && len < *lpdwSize;
	if (fits) {
		memcpy(lpExeName, w, 2 * (len + 1));
		*lpdwSize = len;
	}
	free(w);
	return fits ? TRUE : win_fail(ERROR_INSUFFICIENT_BUFFER);
}
