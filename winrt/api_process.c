/* SPDX-License-Identifier: MIT
 *
 * Processes that a program starts, pipes to them, and temporary files. The command line is cut as Windows'
 * C runtime does. Of the flags those for windows and priorities mean nothing.
 */
#include "winrt/win.h"
#include "base/vec.h"

#include "win/io.h"
#include "win/windows.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What posix_spawn takes; each string is malloc'ed. */
static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++) {
		free(list[i]);
	}
	free(list);
}

static char **arguments(LPCWSTR line)
{
	int n = 0;
	LPWSTR *wide = CommandLineToArgvW(line, &n);
	char **list = wide ? calloc((size_t)n + 1, sizeof *list) : NULL;
	for (int i = 0; list && i < n; i++) {
		list[i] = win_utf8(wide[i]);
		if (!list[i]) {
			free_list(list);
			list = NULL;
		}
	}
	LocalFree(wide);
	return list;
}

/* "A=1\0B=2\0\0", of 8 or 16 bits. */
static char **environment_of(const void *block, bool wide)
{
	size_t count = 0, at = 0;
	const char *narrow = block;
	const uint16_t *w = block;
	char **list = calloc(1, sizeof *list);
	while (list && (wide ? w[at] : (uint16_t)narrow[at])) {
		char **more = realloc(list, (count + 2) * sizeof *list);
		char *one = !more ? NULL : wide ? win_utf8(w + at) : strdup(narrow + at);
		list = more ? more : list;
		if (!one) { /* no memory, and a part of it would be another environment */
			list[count] = NULL;
			free_list(list);
			return NULL;
		}
		at += (wide ? utf16_len(w + at) : strlen(narrow + at)) + 1;
		list[count++] = one;
		list[count] = NULL;
	}
	return list;
}

/* Windows' name of a program: with the other separators, and "x.exe" for x. */
static char *program_of(const char *name)
{
	char *path = win_path(name);
	size_t n = path ? strlen(path) : 0;
	if (n > 4 && strcasecmp(path + n - 4, ".exe") == 0 && access(path, X_OK) != 0) {
		path[n - 4] = 0;
		if (strchr(path, '/') && access(path, X_OK) != 0) {
			path[n - 4] = '.';
		}
	}
	return path;
}

static int spawn(const char *program, bool search, char **argv, char **env, const char *folder,
		 const STARTUPINFOW *start, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	struct win_object *files[3] = {0}; /* held until the child has their descriptors */
	int apart[3] = {-1, -1, -1};
	int err = posix_spawn_file_actions_init(&actions);
	if (err) {
		return err;
	}
	if (folder) {
		err = posix_spawn_file_actions_addchdir_np(&actions, folder);
	}
	if (!err && (start->dwFlags & STARTF_USESTDHANDLES)) {
		const HANDLE handles[3] = {start->hStdInput, start->hStdOutput, start->hStdError};
		for (int i = 0; i < 3 && !err; i++) {
			files[i] = win_object_find(handles[i], WIN_FILE); /* without one the child has ours */
			int fd = files[i] ? files[i]->fd : i;
			if (fd < 3 && fd != i) { /* it may be another one by the time the child comes to it */
				fd = apart[i] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
				err = fd < 0 ? errno : 0;
			}
			err = err || !files[i] ? err : posix_spawn_file_actions_adddup2(&actions, fd, i);
		}
	}
	if (!err) {
		err = (search ? posix_spawnp : posix_spawn)(ret_pid, program, &actions, NULL, argv, env);
	}
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < 3; i++) {
		if (apart[i] >= 0) {
			close(apart[i]);
		}
		win_object_unref(files[i]);
	}
	return err;
}

/* Children whose handles are closed. Windows forgets them; Linux keeps a zombie until somebody asks for
 * its end, so each start of another one asks. */
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t *left;
static size_t left_count, left_room;

static void forget_ended(void)
{
	for (size_t i = 0; i < left_count;) {
		if (waitpid(left[i], NULL, WNOHANG) != 0) { /* ended, or waited for by the program itself */
			left[i] = left[--left_count];
		} else {
			i++;
		}
	}
}
void win_child_left(pid_t pid)
{
	if (waitpid(pid, NULL, WNOHANG) != 0) {
		return;
	}
	pthread_mutex_lock(&left_lock);
	if (VEC_ROOM(left, left_count, left_room)) {
		left[left_count++] = pid;
	}
	pthread_mutex_unlock(&left_lock);
}

static BOOL started(pid_t pid, LPPROCESS_INFORMATION ret)
{
	struct win_object *p = win_object_new(WIN_PROCESS), *t = win_object_new(WIN_THREAD);
	if (!p || !t) {
		win_object_unref(p);
		win_object_unref(t);
		win_child_left(pid);
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	p->pid = t->pid = pid;
	p->child = true;
#ifdef SYS_pidfd_open
	p->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	p->owns_fd = true;
#endif
	HANDLE process = win_handle_give(p), thread = win_handle_give(t);
	if (!process || !thread) {
		win_handle_close(process);
		win_handle_close(thread);
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	*ret = (PROCESS_INFORMATION){process, thread, (DWORD)pid, (DWORD)pid};
	return TRUE;
}

BOOL WINAPI CreateProcessW(LPCWSTR lpApplicationName, LPWSTR lpCommandLine, LPSECURITY_ATTRIBUTES lpProcessAttributes,
			   LPSECURITY_ATTRIBUTES lpThreadAttributes, BOOL bInheritHandles, DWORD dwCreationFlags,
			   LPVOID lpEnvironment, LPCWSTR lpCurrentDirectory, LPSTARTUPINFOW lpStartupInfo,
			   LPPROCESS_INFORMATION lpProcessInformation)
{
	if ((!lpApplicationName && !lpCommandLine) || !lpStartupInfo || !lpProcessInformation) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (dwCreationFlags & CREATE_SUSPENDED) {
		return win_fail(ERROR_NOT_SUPPORTED);
	}
	char **argv = arguments(lpCommandLine ? lpCommandLine : lpApplicationName);
	char **env = lpEnvironment ? environment_of(lpEnvironment, dwCreationFlags & CREATE_UNICODE_ENVIRONMENT) : NULL;
	char *name = lpApplicationName ? win_utf8(lpApplicationName) : NULL;
	char *folder = lpCurrentDirectory ? win_utf8(lpCurrentDirectory) : NULL;
	char *folder_path = folder ? win_path(folder) : NULL;
	char *program = argv && argv[0] ? program_of(name ? name : argv[0]) : NULL;
	pid_t pid = 0;
	BOOL ok = FALSE;
	if (!program || (lpEnvironment && !env) || (lpCurrentDirectory && !folder_path)) {
		win_fail(argv && !argv[0] ? ERROR_INVALID_PARAMETER : ERROR_NOT_ENOUGH_MEMORY);
	} else {
		pthread_mutex_lock(&left_lock);
		forget_ended();
		pthread_mutex_unlock(&left_lock);
		errno = spawn(program, !name, argv, env ? env : environ, folder_path, lpStartupInfo, &pid);
		ok = errno ? win_fail_errno() : started(pid, lpProcessInformation);
	}
	free_list(argv);
	free_list(env);
	free(name);
	free(folder);
	free(folder_path);
	free(program);
	return ok;
}

BOOL WINAPI CreateProcessA(LPCSTR lpApplicationName, LPSTR lpCommandLine, LPSECURITY_ATTRIBUTES lpProcessAttributes,
			   LPSECURITY_ATTRIBUTES lpThreadAttributes, BOOL bInheritHandles, DWORD dwCreationFlags,
			   LPVOID lpEnvironment, LPCSTR lpCurrentDirectory, LPSTARTUPINFOA lpStartupInfo,
			   LPPROCESS_INFORMATION lpProcessInformation)
{
	uint16_t *name = win_utf16(lpApplicationName), *line = win_utf16(lpCommandLine);
	uint16_t *folder = win_utf16(lpCurrentDirectory);
	STARTUPINFOW start = {.cb = sizeof start};
	if (lpStartupInfo) {
		start.dwFlags = lpStartupInfo->dwFlags;
		start.hStdInput = lpStartupInfo->hStdInput;
		start.hStdOutput = lpStartupInfo->hStdOutput;
		start.hStdError = lpStartupInfo->hStdError;
	}
	BOOL ok = CreateProcessW(name, line, lpProcessAttributes, lpThreadAttributes, bInheritHandles, dwCreationFlags,
				 lpEnvironment, folder, lpStartupInfo ? &start : NULL, lpProcessInformation);
	free(name);
	free(line);
	free(folder);
	return ok;
}

static void no_startup(STARTUPINFOW *s)
{
	*s = (STARTUPINFOW){.cb = sizeof *s};
}
VOID WINAPI GetStartupInfoW(LPSTARTUPINFOW lpStartupInfo)
{
	no_startup(lpStartupInfo);
}
VOID WINAPI GetStartupInfoA(LPSTARTUPINFOA lpStartupInfo)
{
	memset(lpStartupInfo, 0, sizeof *lpStartupInfo);
	lpStartupInfo->cb = sizeof *lpStartupInfo;
}

/* ---- pipes ------------------------------------------------------------------------------------ */

static HANDLE file_of(int fd, bool owns)
{
	struct win_object *o = win_object_new(WIN_FILE);
	if (o) {
		o->fd = fd;
		o->owns_fd = owns;
	} else if (owns) {
		close(fd);
	}
	return win_handle_give(o);
}

BOOL WINAPI CreatePipe(PHANDLE hReadPipe, PHANDLE hWritePipe, LPSECURITY_ATTRIBUTES lpPipeAttributes, DWORD nSize)
{
	int fds[2];
	if (!hReadPipe || !hWritePipe) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (pipe2(fds, O_CLOEXEC) < 0) { /* those that a child gets are duplicates */
		return win_fail_errno();
	}
	HANDLE r = file_of(fds[0], true), w = file_of(fds[1], true);
	if (!r || !w) {
		if (r || w) {
			CloseHandle(r ? r : w);
		}
		return FALSE;
	}
	*hReadPipe = r;
	*hWritePipe = w;
	return TRUE;
}

int WINAPI GetThreadPriority(HANDLE hThread)
{
	return THREAD_PRIORITY_NORMAL;
}

/* ---- temporary files -------------------------------------------------------------------------- */

static const char *temporary(void)
{
	const char *dir = getenv("TMPDIR");
	dir = dir && *dir ? dir : getenv("TMP");
	return dir && *dir ? dir : "/tmp";
}
DWORD WINAPI GetTempPathA(DWORD nBufferLength, LPSTR lpBuffer)
{
	char path[PATH_MAX];
	const char *dir = temporary();
	size_t n = strlen(dir);
	int k = snprintf(path, sizeof path, "%s%s", dir, dir[n - 1] == '/' ? "" : "/");
	if ((DWORD)k >= nBufferLength || k >= (int)sizeof path) {
		return (DWORD)k + 1;
	}
	memcpy(lpBuffer, path, (size_t)k + 1);
	return (DWORD)k;
}
DWORD WINAPI GetTempPathW(DWORD nBufferLength, LPWSTR lpBuffer)
{
	char path[PATH_MAX];
	uint16_t *w = GetTempPathA(sizeof path, path) < sizeof path ? win_utf16(path) : NULL;
	DWORD n = w ? (DWORD)utf16_len(w) : 0;
	if (w && n < nBufferLength) {
		memcpy(lpBuffer, w, 2 * ((size_t)n + 1));
	} else if (w) {
		n++;
	}
	free(w);
	return n;
}

/* FOLDER/preXXXX.tmp; with unique 0 made, so that nobody else gets it. */
UINT WINAPI GetTempFileNameA(LPCSTR lpPathName, LPCSTR lpPrefixString, UINT uUnique, LPSTR lpTempFileName)
{
	char *dir = lpPathName ? win_path(lpPathName) : NULL;
	UINT number = uUnique & 0xFFFF;
	if (!dir || !lpTempFileName) {
		free(dir);
		return (UINT)win_fail(ERROR_INVALID_PARAMETER);
	}
	size_t n = strlen(dir);
	const char *slash = n && dir[n - 1] == '/' ? "" : "/", *prefix = lpPrefixString ? lpPrefixString : "";
	UINT try = (UINT)getpid();
	for (int i = 0; i < 65535; i++) {
		UINT v = number ? number : (try + (UINT)i) & 0xFFFF ? (try + (UINT)i) & 0xFFFF : 1;
		int k = snprintf(lpTempFileName, MAX_PATH, "%s%s%.3s%X.tmp", dir, slash, prefix, v);
		if (k >= MAX_PATH) {
			win_fail(ERROR_BUFFER_OVERFLOW);
			break;
		}
		int fd = number ? -1 : open(lpTempFileName, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd >= 0) {
			close(fd);
		}
		if (number || fd >= 0) {
			free(dir);
			return v;
		}
		if (errno != EEXIST) {
			win_fail_errno();
			break;
		}
	}
	free(dir);
	return 0;
}
UINT WINAPI GetTempFileNameW(LPCWSTR lpPathName, LPCWSTR lpPrefixString, UINT uUnique, LPWSTR lpTempFileName)
{
	char name[MAX_PATH], *dir = win_utf8(lpPathName), *prefix = win_utf8(lpPrefixString);
	UINT v = dir ? GetTempFileNameA(dir, prefix, uUnique, name) : (UINT)win_fail(ERROR_INVALID_PARAMETER);
	uint16_t *w = v ? win_utf16(name) : NULL;
	if (w) {
		memcpy(lpTempFileName, w, 2 * (utf16_len(w) + 1));
	} else if (v) {
		v = (UINT)win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	free(dir);
	free(prefix);
	free(w);
	return v;
}
