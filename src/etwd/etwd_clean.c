/* SPDX-License-Identifier: MIT
 * What a program inherits from whoever happens to start it: descriptors, signals, variables. A daemon that serves
 * for days keeps none of it: a script's lock would stay held, and a reader of its pipe would wait for the end.
 */
#include "etwd/etwd_clean.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

static void close_between(unsigned from, unsigned to)
{
	if (from > to || syscall(SYS_close_range, from, to, 0) == 0) {
		return;
	}
	long most = sysconf(_SC_OPEN_MAX); /* before Linux 5.9 */
	for (unsigned fd = from; fd <= to && (long)fd < most; fd++) {
		close((int)fd);
	}
}

void etwd_clean_descriptors(int keep)
{
	/* The first three are somebody's words: whatever is opened later must not come there. */
	int fd;
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd < 2);
	if (fd > 2 && fd != keep) {
		close(fd);
	}
	if (keep > 2) {
		close_between(3, (unsigned)keep - 1);
	}
	close_between(keep > 2 ? (unsigned)keep + 1 : 3, ~0u);
}

void etwd_clean_signals(void)
{
	sigset_t none;
	struct sigaction a;
	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_IGN) {
			signal(i, SIG_DFL); /* handlers end with exec, this does not */
		}
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What etwd, its libraries, and programs that it starts look at. A name that ends in '*' stands for all that
 * begin so. */
static const char *const kept[] = {
	"OPENETW_*", "XDG_*",   "HOME",   "USER",   "LOGNAME",  "SHELL",          "PATH",
	"LANG",      "LC_*",    "TZ",     "TZDIR",  "TMPDIR",   "TRACE_FORMAT_*", "LD_LIBRARY_PATH",
	"ASAN_*",    "UBSAN_*", "LSAN_*", "TSAN_*", "MALLOC_*", "LLVM_PROFILE_*", "GCOV_*",
};

static bool is_kept(const char *variable)
{
	size_t name = strcspn(variable, "=");
	for (size_t i = 0; i < BASE_ARRAY_LEN(kept); i++) {
		size_t n = strlen(kept[i]);
		bool any = kept[i][n - 1] == '*';
		n -= any;
		if (strncmp(variable, kept[i], n) == 0 && (any ? name >= n : name == n)) {
			return true;
		}
	}
	return false;
}

void etwd_clean_environment(void)
{
	char **to = environ;
	for (char **from = environ; from && *from; from++) {
		if (is_kept(*from)) {
			*to++ = *from;
		}
	}
	if (to) {
		*to = NULL;
	}
}
