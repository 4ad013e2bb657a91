/* SPDX-License-Identifier: MIT
 *
 * Processes and their modules: what /proc says. Modules are the files that a process has mapped to
 * execute; those of the calling process are named by the handles of LoadLibrary, those of others by
 * the address where they begin.
 */
#include "winrt/win.h"
#include "base/vec.h"

#include "win/psapi.h"
#include "win/windows.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES    4096
#define MODULES_BYTES (64u << 20) /* of /proc/PID/maps that are looked at */

struct module {
	void *handle;
	uint64_t begin, end;
	char *path;
};
struct modules {
	struct module *v;
	size_t count, cap;
};

static void modules_free(struct modules *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->v[i].path);
	}
	free(m->v);
}

static bool module_add(struct modules *m, struct module what, const char *path)
{
	what.path = VEC_ROOM(m->v, m->count, m->cap) ? strdup(path) : NULL;
	if (!what.path) {
		return false;
	}
	m->v[m->count++] = what;
	return true;
}

/* Where the process's program file is; false with the last error. */
static bool program_path(DWORD pid, char path[PATH_BYTES])
{
	char link[64];
	snprintf(link, sizeof link, "/proc/%u/exe", pid);
	ssize_t n = readlink(link, path, PATH_BYTES - 1);
	if (n < 0) {
		win_fail_errno();
		return false;
	}
	path[n] = 0;
	return true;
}

/* Mappings of one file that follow each other are one module. */
static int modules_of_other(DWORD pid, struct modules *m)
{
	char name[64], program[PATH_BYTES] = "", *line = NULL;
	size_t cap = 0, read = 0;
	snprintf(name, sizeof name, "/proc/%u/maps", pid);
	FILE *f = fopen(name, "re");
	if (!f || !program_path(pid, program)) {
		int err = f ? EACCES : errno;
		if (f) {
			fclose(f);
		}
		return -err;
	}
	int err = 0;
	bool *executable = NULL, more;
	struct modules all = {0};
	for (ssize_t n; err == 0 && read < MODULES_BYTES && (n = getline(&line, &cap, f)) > 0;) {
		unsigned long long begin, end;
		char rights[5];
		int at = 0;
		read += (size_t)n;
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end, rights, &at) < 3 || line[at] != '/') {
			continue;
		}
		struct module *last = all.count ? &all.v[all.count - 1] : NULL;
		more = last && strcmp(last->path, line + at) == 0;
		if (more) {
			last->end = end;
		} else if (!module_add(&all, (struct module){NULL, begin, end, NULL}, line + at)) {
			err = -ENOMEM;
			break;
		}
		bool *grown = realloc(executable, all.count * sizeof *grown);
		if (!grown) {
			err = -ENOMEM;
			break;
		}
		executable = grown;
		executable[all.count - 1] = (more && executable[all.count - 1]) || rights[2] == 'x';
	}
	free(line);
	fclose(f);
	/* The program first, as there. */
	for (int turn = 0; turn < 2 && err == 0; turn++) {
		for (size_t i = 0; i < all.count && err == 0; i++) {
			struct module *x = &all.v[i];
			if (executable[i] && (strcmp(x->path, program) == 0) == (turn == 0)) {
				struct module copy = {(void *)(uintptr_t)x->begin, x->begin, x->end, NULL};
				err = module_add(m, copy, x->path) ? 0 : -ENOMEM;
			}
		}
	}
	free(executable);
	modules_free(&all);
	return err;
}

struct extent {
	uint64_t base; /* in: what l_addr says */
	const char *name;
	uint64_t begin, end;
};

static int find_extent(struct dl_phdr_info *info, size_t size, void *context)
{
	struct extent *e = context;
	if (info->dlpi_addr != e->base || strcmp(info->dlpi_name, e->name) != 0) {
		return 0;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD) {
			uint64_t begin = info->dlpi_addr + (p->p_vaddr & ~(uint64_t)0xFFF);
			e->begin = e->begin ? BASE_MIN(e->begin, begin) : begin;
			e->end = BASE_MAX(e->end, info->dlpi_addr + p->p_vaddr + p->p_memsz);
		}
	}
	return 1;
}

static int modules_of_self(struct modules *m)
{
	char program[PATH_BYTES];
	if (!program_path((DWORD)getpid(), program)) {
		return -EACCES;
	}
	struct link_map *map = dlopen(NULL, RTLD_NOW | RTLD_NOLOAD); /* glibc's handle; the program's */
	if (!map) {
		return -ENOENT;
	}
	int err = 0;
	for (struct link_map *x = map; x && err == 0; x = x->l_next) {
		struct extent e = {x->l_addr, x->l_name, 0, 0};
		const char *path = x == map ? program : x->l_name;
		dl_iterate_phdr(find_extent, &e);
		if (path[0] == '/' && e.begin) {
			err = module_add(m, (struct module){x, e.begin, e.end, NULL}, path) ? 0 : -ENOMEM;
		}
	}
	dlclose(map);
	return err;
}

/* The modules of the process, the program first. FALSE with the last error. */
static bool modules_of(HANDLE process, struct modules *ret_m)
{
	DWORD pid = GetProcessId(process);
	*ret_m = (struct modules){0};
	if (pid == 0) {
		return false;
	}
	int err = pid == (DWORD)getpid() ? modules_of_self(ret_m) : modules_of_other(pid, ret_m);
	if (err < 0) {
		modules_free(ret_m);
		errno = -err;
		win_fail_errno();
		return false;
	}
	return true;
}

static const struct module *module_find(const struct modules *m, HMODULE handle)
{
	for (size_t i = 0; i < m->count; i++) {
		/* Any address of a module's beginning is taken, too. */
		if (!handle || m->v[i].handle == handle || m->v[i].begin == (uintptr_t)handle) {
			return &m->v[i];
		}
	}
	SetLastError(ERROR_INVALID_HANDLE);
	return NULL;
}

BOOL WINAPI EnumProcesses(DWORD *lpidProcess, DWORD cb, LPDWORD lpcbNeeded)
{
	DIR *d = opendir("/proc");
	DWORD n = 0;
	if (!d || !lpcbNeeded || (!lpidProcess && cb)) {
		if (d) {
			closedir(d);
			return win_fail(ERROR_INVALID_PARAMETER);
		}
		return win_fail_errno();
	}
	for (struct dirent *e; (e = readdir(d)) != NULL && n < cb / sizeof(DWORD);) {
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9') {
			lpidProcess[n++] = (DWORD)strtoul(e->d_name, NULL, 10);
		}
	}
	closedir(d);
	*lpcbNeeded = n * (DWORD)sizeof(DWORD);
	return TRUE;
}

BOOL WINAPI EnumProcessModules(HANDLE hProcess, HMODULE *lphModule, DWORD cb, LPDWORD lpcbNeeded)
{
	struct modules m;
	if (!lpcbNeeded || (!lphModule && cb)) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (!modules_of(hProcess, &m)) {
		return FALSE;
	}
	for (size_t i = 0; i < m.count && i < cb / sizeof(HMODULE); i++) {
		lphModule[i] = m.v[i].handle;
	}
	*lpcbNeeded = (DWORD)(m.count * sizeof(HMODULE));
	modules_free(&m);
	return TRUE;
}
BOOL WINAPI EnumProcessModulesEx(HANDLE hProcess, HMODULE *lphModule, DWORD cb, LPDWORD lpcbNeeded, DWORD dwFilterFlag)
{
	if (dwFilterFlag > LIST_MODULES_ALL) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (dwFilterFlag == LIST_MODULES_32BIT && lpcbNeeded) { /* there are none */
		*lpcbNeeded = 0;
		return TRUE;
	}
	return EnumProcessModules(hProcess, lphModule, cb, lpcbNeeded);
}

/* Characters without terminator; what does not fit is cut off, as there. */
static DWORD give_wide(const char *text, LPWSTR out, DWORD cap)
{
	uint16_t *w = win_utf16(text);
	if (!w || !out || cap == 0) {
		free(w);
		return (DWORD)win_fail(w ? ERROR_INSUFFICIENT_BUFFER : ERROR_NOT_ENOUGH_MEMORY);
	}
	DWORD n = (DWORD)utf16_len(w), k = BASE_MIN(n, cap - 1);
	memcpy(out, w, 2 * (size_t)k);
	out[k] = 0;
	free(w);
	SetLastError(k < n ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS);
	return k < n ? cap : n;
}
static DWORD give_narrow(const char *text, LPSTR out, DWORD cap)
{
	if (!out || cap == 0) {
		return (DWORD)win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	DWORD n = (DWORD)strlen(text), k = BASE_MIN(n, cap - 1);
	memcpy(out, text, k);
	out[k] = 0;
	SetLastError(k < n ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS);
	return k < n ? cap : n;
}

static DWORD module_name(HANDLE process, HMODULE module, bool base, void *out, DWORD cap, bool wide)
{
	struct modules m;
	DWORD n = 0;
	char path[PATH_BYTES];
	/* The program alone needs no rights on its memory. */
	if (!module) {
		DWORD pid = GetProcessId(process);
		if (pid == 0 || !program_path(pid, path)) {
			return 0;
		}
	} else {
		if (!modules_of(process, &m)) {
			return 0;
		}
		const struct module *x = module_find(&m, module);
		if (x) {
			snprintf(path, sizeof path, "%s", x->path);
		}
		modules_free(&m);
		if (!x) {
			return 0;
		}
	}
	const char *slash = base ? strrchr(path, '/') : NULL;
	const char *text = slash ? slash + 1 : path;
	n = wide ? give_wide(text, out, cap) : give_narrow(text, out, cap);
	return n;
}

DWORD WINAPI GetModuleFileNameExW(HANDLE hProcess, HMODULE hModule, LPWSTR lpFilename, DWORD nSize)
{
	return module_name(hProcess, hModule, false, lpFilename, nSize, true);
}
DWORD WINAPI GetModuleFileNameExA(HANDLE hProcess, HMODULE hModule, LPSTR lpFilename, DWORD nSize)
{
	return module_name(hProcess, hModule, false, lpFilename, nSize, false);
}
DWORD WINAPI GetModuleBaseNameW(HANDLE hProcess, HMODULE hModule, LPWSTR lpBaseName, DWORD nSize)
{
	return module_name(hProcess, hModule, true, lpBaseName, nSize, true);
}
DWORD WINAPI GetModuleBaseNameA(HANDLE hProcess, HMODULE hModule, LPSTR lpBaseName, DWORD nSize)
{
	return module_name(hProcess, hModule, true, lpBaseName, nSize, false);
}

BOOL WINAPI GetModuleInformation(HANDLE hProcess, HMODULE hModule, LPMODULEINFO lpmodinfo, DWORD cb)
{
	struct modules m;
	if (!lpmodinfo || cb < sizeof *lpmodinfo) {
		return win_fail(lpmodinfo ? ERROR_INSUFFICIENT_BUFFER : ERROR_INVALID_PARAMETER);
	}
	if (!modules_of(hProcess, &m)) {
		return FALSE;
	}
	const struct module *x = module_find(&m, hModule);
	if (x) {
		lpmodinfo->lpBaseOfDll = (LPVOID)(uintptr_t)x->begin;
		lpmodinfo->SizeOfImage = (DWORD)BASE_MIN(x->end - x->begin, (uint64_t)UINT32_MAX);
		lpmodinfo->EntryPoint = NULL;
	}
	modules_free(&m);
	return x != NULL;
}

/* "VmRSS:  123 kB" of /proc/PID/status, in bytes. */
static uint64_t status_bytes(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	return p ? strtoull(p + strlen(key), NULL, 10) * 1024 : 0;
}

static bool read_proc(DWORD pid, const char *what, char *text, size_t cap)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/%u/%s", pid, what);
	FILE *f = fopen(name, "re");
	if (!f) {
		win_fail_errno();
		return false;
	}
	size_t n = fread(text, 1, cap - 1, f);
	text[n] = 0;
	fclose(f);
	return true;
}

BOOL WINAPI GetProcessMemoryInfo(HANDLE Process, PPROCESS_MEMORY_COUNTERS ppsmemCounters, DWORD cb)
{
	char status[8192], stat[1024];
	DWORD pid = GetProcessId(Process);
	if (!ppsmemCounters || cb < sizeof *ppsmemCounters) {
		return win_fail(ppsmemCounters ? ERROR_INSUFFICIENT_BUFFER : ERROR_INVALID_PARAMETER);
	}
	if (pid == 0 || !read_proc(pid, "status", status, sizeof status) ||
	    !read_proc(pid, "stat", stat, sizeof stat)) {
		return FALSE;
	}
	unsigned long minor = 0, major = 0;
	const char *behind = strrchr(stat, ')');
	if (behind) {
		sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major);
	}
	PROCESS_MEMORY_COUNTERS_EX c = {
		.cb = cb,
		.PageFaultCount = (DWORD)(minor + major),
		.PeakWorkingSetSize = status_bytes(status, "\nVmHWM:"),
		.WorkingSetSize = status_bytes(status, "\nVmRSS:"),
		/* What it has written to, in memory or swapped out. */
		.PrivateUsage = status_bytes(status, "\nRssAnon:") + status_bytes(status, "\nVmSwap:"),
	};
	c.PagefileUsage = c.PeakPagefileUsage = c.PrivateUsage;
	memset(ppsmemCounters, 0, cb);
	memcpy(ppsmemCounters, &c, BASE_MIN((size_t)cb, sizeof c));
	return TRUE;
}

/* Drivers of Windows' kernel: there are none. */
BOOL WINAPI EnumDeviceDrivers(LPVOID *lpImageBase, DWORD cb, LPDWORD lpcbNeeded)
{
	if (!lpcbNeeded) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	*lpcbNeeded = 0;
	return TRUE;
}
static DWORD no_driver(void)
{
	return (DWORD)win_fail(ERROR_INVALID_HANDLE);
}
DWORD WINAPI GetDeviceDriverBaseNameW(LPVOID ImageBase, LPWSTR lpBaseName, DWORD nSize)
{
	return no_driver();
}
DWORD WINAPI GetDeviceDriverBaseNameA(LPVOID ImageBase, LPSTR lpBaseName, DWORD nSize)
{
	return no_driver();
}
DWORD WINAPI GetDeviceDriverFileNameW(LPVOID ImageBase, LPWSTR lpFilename, DWORD nSize)
{
	return no_driver();
}
DWORD WINAPI GetDeviceDriverFileNameA(LPVOID ImageBase, LPSTR lpFilename, DWORD nSize)
{
	return no_driver();
}

DWORD WINAPI GetProcessImageFileNameW(HANDLE hProcess, LPWSTR lpImageFileName, DWORD nSize)
{
	return lpImageFileName && QueryFullProcessImageNameW(hProcess, 0, lpImageFileName, &nSize) ? nSize : 0;
}
DWORD WINAPI GetProcessImageFileNameA(HANDLE hProcess, LPSTR lpImageFileName, DWORD nSize)
{
	uint16_t wide[4096];
	DWORD n = BASE_ARRAY_LEN(wide);
	if (!QueryFullProcessImageNameW(hProcess, 0, wide, &n)) {
		return 0;
	}
	char *text = win_utf8(wide);
	size_t len = text ? strlen(text) : 0;
	bool fits = text && lpImageFileName && len < nSize;
	if (fits) {
		memcpy(lpImageFileName, text, len + 1);
	}
	free(text);
	return fits ? (DWORD)len : (DWORD)win_fail(ERROR_INSUFFICIENT_BUFFER);
}

/* The names that kernel32 has them under. */
#define K32(ret, name, parameters) WIN_EXPORT ret K32##name parameters __attribute__((alias(#name)));
K32(BOOL, EnumProcesses, (DWORD *, DWORD, LPDWORD))
K32(BOOL, EnumProcessModules, (HANDLE, HMODULE *, DWORD, LPDWORD))
K32(BOOL, EnumProcessModulesEx, (HANDLE, HMODULE *, DWORD, LPDWORD, DWORD))
K32(DWORD, GetModuleFileNameExW, (HANDLE, HMODULE, LPWSTR, DWORD))
K32(DWORD, GetModuleFileNameExA, (HANDLE, HMODULE, LPSTR, DWORD))
K32(DWORD, GetModuleBaseNameW, (HANDLE, HMODULE, LPWSTR, DWORD))
K32(DWORD, GetModuleBaseNameA, (HANDLE, HMODULE, LPSTR, DWORD))
K32(BOOL, GetModuleInformation, (HANDLE, HMODULE, LPMODULEINFO, DWORD))
K32(BOOL, GetProcessMemoryInfo, (HANDLE, PPROCESS_MEMORY_COUNTERS, DWORD))
K32(BOOL, EnumDeviceDrivers, (LPVOID *, DWORD, LPDWORD))
K32(DWORD, GetDeviceDriverBaseNameW, (LPVOID, LPWSTR, DWORD))
K32(DWORD, GetDeviceDriverBaseNameA, (LPVOID, LPSTR, DWORD))
K32(DWORD, GetDeviceDriverFileNameW, (LPVOID, LPWSTR, DWORD))
K32(DWORD, GetDeviceDriverFileNameA, (LPVOID, LPSTR, DWORD))
K32(DWORD, GetProcessImageFileNameW, (HANDLE, LPWSTR, DWORD))
K32(DWORD, GetProcessImageFileNameA, (HANDLE, LPSTR, DWORD))
