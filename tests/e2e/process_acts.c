/* SPDX-License-Identifier: MIT
 *
 * Processes whose lives are known. Says one line of JSON for each: {"pid", "status", "line"};
 * status as the trace has it: the exit code, or 128 and the signal.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_t first;

static void *outlive(void *code)
{
	struct timespec t = {0, 1000000};
	pthread_join(first, NULL);
	nanosleep(&t, NULL);
	if (code) {
		exit(*(int *)code);
	}
	return NULL;
}

enum { EXIT, KILLED, LIBRARY, ABORTED, LATE, LAST, PROGRAM, MISSING, KINDS };

static void child(int kind)
{
	static int code = 3;
	pthread_t t;
	first = pthread_self();
	switch (kind) {
	case EXIT: _exit(7);
	case LIBRARY: { /* one that comes and goes */
		void *h = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		struct timespec t = {0, 100000000}; /* so that both are seen by who looks at the maps */
		if (h) {
			dlclose(h);
			nanosleep(&t, NULL);
			/* and one that nobody but the kernel knows of */
			int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
			void *m = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
			if (m == MAP_FAILED || *(volatile char *)m != 0x7F || munmap(m, 8192) < 0) {
				_exit(9);
			}
			nanosleep(&t, NULL);
			_exit(8);
		}
		_exit(9);
	}
	case KILLED: kill(getpid(), SIGKILL); break;
	case ABORTED:
		signal(SIGUSR1, SIG_DFL);
		kill(getpid(), SIGUSR1);
		break;
	case LATE: /* the first thread ends, the second one the process */
		pthread_create(&t, NULL, outlive, &code);
		pthread_exit(NULL);
	case LAST: /* and when nobody says anything */ pthread_create(&t, NULL, outlive, NULL); pthread_exit(NULL);
	case PROGRAM: execl("/bin/sh", "sh", "-c", "exit 5", "an argument", "", "x", (char *)NULL); _exit(127);
	default: execl("/nowhere/at/all", "x", (char *)NULL); _exit(126);
	}
	_exit(99);
}

int main(int argc, char **argv)
{
	static const int expected[KINDS] = {7, 128 + SIGKILL, 8, 128 + SIGUSR1, 3, 0, 5, 126};
	(void)argc;
	alarm(60);
	for (int i = 0; i < KINDS * 5; i++) {
		int kind = i % KINDS, status;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			child(kind);
		}
		if (waitpid(pid, &status, 0) != pid) {
			perror("waitpid");
			return 1;
		}
		printf("{\"pid\": %d, \"parent\": %d, \"status\": %d, \"program\": %s, "
		       "\"library\": %s, \"line\": \"%s\"}\n",
		       (int)pid, (int)getpid(), expected[kind], kind == PROGRAM ? "true" : "false",
		       kind == LIBRARY ? "true" : "false", kind == PROGRAM ? "sh -c exit 5 an argument  x" : argv[0]);
	}
	return 0;
}
