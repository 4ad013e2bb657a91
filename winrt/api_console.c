/* SPDX-License-Identifier: MIT
 *
 * The console: standard handles, colours, Ctrl+C.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

HANDLE WINAPI GetStdHandle(DWORD nStdHandle)
{
	/* Made once and never freed: CloseHandle on them is an error Windows programs do not make. */
	static pthread_mutex_t std_lock = PTHREAD_MUTEX_INITIALIZER;
	static HANDLE std[3];
	DWORD i = STD_INPUT_HANDLE - nStdHandle;
	if (i > 2) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return INVALID_HANDLE_VALUE;
	}
	pthread_mutex_lock(&std_lock);
	struct win_object *o = std[i] ? NULL : win_object_new(WIN_FILE);
	if (o) {
		o->fd = (int)i;
		std[i] = win_handle_give_for_good(o);
	}
	HANDLE h = std[i];
	pthread_mutex_unlock(&std_lock);
	return h ? h : INVALID_HANDLE_VALUE;
}

/* With one more reference, like win_object_of(). */
static struct win_object *terminal(HANDLE h)
{
	struct win_object *o = win_object_of(h, WIN_FILE);
	if (o && isatty(o->fd)) {
		return o;
	}
	win_object_unref(o);
	SetLastError(ERROR_INVALID_HANDLE);
	return NULL;
}
static bool is_terminal(HANDLE h)
{
	WIN_USED struct win_object *o = terminal(h);
	return o != NULL;
}

BOOL WINAPI GetConsoleMode(HANDLE hConsoleHandle, LPDWORD lpMode)
{
	WIN_USED struct win_object *o = terminal(hConsoleHandle);
	if (!o) {
		return FALSE;
	}
	*lpMode = o->fd == 0 ? ENABLE_PROCESSED_INPUT | ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT
			     : ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING;
	return TRUE;
}
BOOL WINAPI SetConsoleMode(HANDLE hConsoleHandle, DWORD dwMode)
{
	return is_terminal(hConsoleHandle);
}
BOOL WINAPI SetConsoleOutputCP(UINT wCodePageID)
{
	return wCodePageID == CP_UTF8;
}
BOOL WINAPI SetConsoleCP(UINT wCodePageID)
{
	return wCodePageID == CP_UTF8;
}
UINT WINAPI GetConsoleOutputCP(void)
{
	return CP_UTF8;
}
UINT WINAPI GetConsoleCP(void)
{
	return CP_UTF8;
}

static __thread WORD attributes = FOREGROUND_RED | FOREGROUND_GREEN | FOREGROUND_BLUE;

BOOL WINAPI GetConsoleScreenBufferInfo(HANDLE hConsoleOutput, PCONSOLE_SCREEN_BUFFER_INFO lpConsoleScreenBufferInfo)
{
	struct winsize w = {0};
	WIN_USED struct win_object *o = terminal(hConsoleOutput);
	if (!o || ioctl(o->fd, TIOCGWINSZ, &w) < 0) {
		return FALSE;
	}
	CONSOLE_SCREEN_BUFFER_INFO *i = lpConsoleScreenBufferInfo;
	memset(i, 0, sizeof *i);
	i->dwSize = i->dwMaximumWindowSize = (COORD){(SHORT)w.ws_col, (SHORT)w.ws_row};
	i->srWindow = (SMALL_RECT){0, 0, (SHORT)(w.ws_col - 1), (SHORT)(w.ws_row - 1)};
	i->wAttributes = attributes;
	return TRUE;
}

BOOL WINAPI SetConsoleTextAttribute(HANDLE hConsoleOutput, WORD wAttributes)
{
	/* Windows counts blue, green, red; terminals red, green, blue. */
	static const char order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
	WIN_USED struct win_object *o = terminal(hConsoleOutput);
	if (!o) {
		return FALSE;
	}
	int fd = o->fd;
	attributes = wAttributes;
	fflush(fd == 2 ? stderr : stdout);
	bool plain = (wAttributes & 0xFF) == (FOREGROUND_RED | FOREGROUND_GREEN | FOREGROUND_BLUE);
	if (plain) {
		return dprintf(fd, "\033[0m") > 0;
	}
	return dprintf(fd, "\033[0;%d;%dm", (wAttributes & FOREGROUND_INTENSITY ? 90 : 30) + order[wAttributes & 7],
		       wAttributes & 0xF0 ? 40 + order[wAttributes >> 4 & 7] : 49) > 0;
}

BOOL WINAPI WriteConsoleW(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
			  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved)
{
	struct win_sink s = {.grow = true};
	DWORD bytes;
	if (!is_terminal(hConsoleOutput)) {
		return FALSE;
	}
	win_sink_utf16(&s, lpBuffer, nNumberOfCharsToWrite);
	BOOL ok = !s.failed && WriteFile(hConsoleOutput, s.buf, (DWORD)s.count, &bytes, NULL);
	free(s.buf);
	if (ok && lpNumberOfCharsWritten) {
		*lpNumberOfCharsWritten = nNumberOfCharsToWrite;
	}
	return ok;
}

/* ---- Ctrl+C: the signal handler writes one byte, a thread calls the handlers
 * --------------------------- */

#define HANDLERS 16
static pthread_mutex_t ctrl_lock = PTHREAD_MUTEX_INITIALIZER;
static PHANDLER_ROUTINE handlers[HANDLERS];
static int handler_count;
static int ctrl_pipe[2] = {-1, -1};

static void on_signal(int sig)
{
	int saved = errno;
	uint8_t b = (uint8_t)sig;
	ssize_t n = write(ctrl_pipe[1], &b, 1);
	(void)n;
	errno = saved;
}

static DWORD ctrl_event(int sig)
{
	return sig == SIGINT ? CTRL_C_EVENT : sig == SIGQUIT ? CTRL_BREAK_EVENT : CTRL_CLOSE_EVENT;
}

static void *ctrl_thread(void *unused)
{
	for (;;) {
		uint8_t sig;
		ssize_t n = read(ctrl_pipe[0], &sig, 1);
		if (n <= 0) {
			if (n < 0 && errno == EINTR) {
				continue;
			}
			return NULL;
		}
		PHANDLER_ROUTINE copy[HANDLERS];
		pthread_mutex_lock(&ctrl_lock);
		int k = handler_count;
		memcpy(copy, handlers, sizeof copy);
		pthread_mutex_unlock(&ctrl_lock);
		bool handled = false;
		while (k-- > 0 && !handled) {
			handled = copy[k](ctrl_event(sig));
		}
		if (!handled) {
			signal(sig, SIG_DFL);
			raise(sig);
		}
	}
}

static bool ctrl_start(void)
{
	pthread_t t;
	if (ctrl_pipe[0] >= 0) {
		return true;
	}
	if (pipe2(ctrl_pipe, O_CLOEXEC) < 0) {
		return false;
	}
	if (pthread_create(&t, NULL, ctrl_thread, NULL) != 0) {
		return false;
	}
	pthread_detach(t);
	static const int sigs[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < BASE_ARRAY_LEN(sigs); i++) {
		struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
		sigaction(sigs[i], &sa, NULL);
	}
	return true;
}

BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE HandlerRoutine, BOOL Add)
{
	BOOL ok = FALSE;
	if (!HandlerRoutine) { /* Ctrl+C ignored, or no longer */
		return signal(SIGINT, Add ? SIG_IGN : SIG_DFL) != SIG_ERR;
	}
	pthread_mutex_lock(&ctrl_lock);
	if (Add) {
		if (handler_count < HANDLERS && ctrl_start()) {
			handlers[handler_count++] = HandlerRoutine;
			ok = TRUE;
		}
	} else {
		for (int i = handler_count - 1; i >= 0 && !ok; i--) {
			if (handlers[i] == HandlerRoutine) {
				handler_count--;
				memmove(handlers + i, handlers + i + 1,
					(size_t)(handler_count - i) * sizeof handlers[0]);
				ok = TRUE;
			}
		}
	}
	pthread_mutex_unlock(&ctrl_lock);
	return ok ? TRUE : win_fail(ERROR_INVALID_PARAMETER);
}
