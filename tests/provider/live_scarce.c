/* SPDX-License-Identifier: MIT
 *
 * EventRegister while something is short: the n-th allocation, mapping, thread, descriptor or message fails, once
 * or for a while, for every n. Then there is enough of everything, and the process must be heard: its callback is
 * called, and its events arrive. EventRegister may refuse with a code instead; success is a promise.
 */
#include "live.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_UNDEFINED__)
int main(void)
{
	return 77; /* these have allocators of their own */
}
#else

enum kind { MEMORY, MAPPING, THREAD, DESCRIPTOR, MESSAGE, KINDS };
static const char *const kind_name[] = {"memory", "mapping", "thread", "descriptor", "message"};
static atomic_uint armed, calls, first, length_ms; /* armed: kind + 1 */
static atomic_ullong since_ns;

static unsigned long long now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000 + (unsigned long long)ts.tv_nsec;
}

static bool fails(enum kind kind)
{
	if (armed != (unsigned)kind + 1) {
		return false;
	}
	unsigned n = atomic_fetch_add(&calls, 1) + 1;
	if (n == first) {
		since_ns = now_ns();
		return true;
	}
	return n > first && length_ms > 0 && now_ns() - since_ns < length_ms * 1000000ull;
}

/* In place of libc's, for the library, too. */
#pragma GCC visibility push(default)
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
#define OR_FAIL(kind, code, how) \
	if (fails(kind)) {       \
		errno = code;    \
		return how;      \
	}
void *malloc(size_t n)
{
	OR_FAIL(MEMORY, ENOMEM, NULL)
	return __libc_malloc(n);
}
void *calloc(size_t n, size_t m)
{
	OR_FAIL(MEMORY, ENOMEM, NULL)
	return __libc_calloc(n, m);
}
void *realloc(void *p, size_t n)
{
	OR_FAIL(MEMORY, ENOMEM, NULL)
	return __libc_realloc(p, n);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	OR_FAIL(MAPPING, ENOMEM, MAP_FAILED)
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, off);
}
int madvise(void *at, size_t n, int advice)
{
	OR_FAIL(MAPPING, ENOMEM, -1)
	return (int)syscall(SYS_madvise, at, n, advice);
}
int mprotect(void *at, size_t n, int prot)
{
	OR_FAIL(MAPPING, ENOMEM, -1)
	return (int)syscall(SYS_mprotect, at, n, prot);
}
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	if (fails(THREAD)) {
		return EAGAIN;
	}
	if (!real) {
		real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
												      "pthread_create");
	}
	return real(t, a, fn, arg);
}
int socket(int domain, int type, int protocol)
{
	OR_FAIL(DESCRIPTOR, EMFILE, -1)
	return (int)syscall(SYS_socket, domain, type, protocol);
}
int open(const char *path, int flags, ...)
{
	va_list v;
	va_start(v, flags);
	int mode = va_arg(v, int);
	va_end(v);
	OR_FAIL(DESCRIPTOR, EMFILE, -1)
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, m, flags);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS && fails(DESCRIPTOR)) { /* as the kernel does with a full table */
		int *fds = (int *)(void *)CMSG_DATA(c);
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			close(fds[i]);
		}
		m->msg_controllen = 0;
		m->msg_flags |= MSG_CTRUNC;
	}
	return n;
}
ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	OR_FAIL(MESSAGE, ENOBUFS, -1)
	return syscall(SYS_sendmsg, fd, m, flags);
}
ssize_t send(int fd, const void *p, size_t n, int flags)
{
	OR_FAIL(MESSAGE, ENOBUFS, -1)
	return syscall(SYS_sendto, fd, p, n, flags, NULL, 0);
}
int connect(int fd, const struct sockaddr *to, socklen_t n)
{
	OR_FAIL(MESSAGE, ENOMEM, -1)
	return (int)syscall(SYS_connect, fd, to, n);
}

#pragma GCC visibility pop

static const GUID provider = {0x2ac0ad4e, 0x5b8e, 0x4cf5, {0xb2, 0x11, 9, 8, 7, 6, 5, 4}};
static atomic_uint told;

static void on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		      PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	told = told || code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
}

enum { HEARD = 0, NOT_REACHED = 3 };

/* `calls_us`: the program goes on calling; else its callback is all it waits for. */
static int child(enum kind kind, unsigned n, unsigned ms, bool calls_us, uint32_t number)
{
	REGHANDLE h = 0, other = 0;
	EVENT_DATA_DESCRIPTOR data;
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
	first = n;
	length_ms = ms;
	armed = kind + 1;
	ULONG code = EventRegister(&provider, on_enable, NULL, &h);
	while (code != ERROR_SUCCESS) {
		usleep(1000);
		code = EventRegister(&provider, on_enable, NULL, &h);
	}
	EventDataDescCreate(&data, &number, sizeof number);
	if (calls_us) {
		while (!EventProviderEnabled(h, 4, 0)) {
			usleep(1000);
		}
	} else {
		live_wait(told);
		live_wait(EventProviderEnabled(h, 4, 0));
	}
	EXPECT(EventWrite(h, &d, 1, &data), ERROR_SUCCESS);
	bool reached = calls >= n;
	armed = 0;
	/* And whoever calls again is told, too. */
	EXPECT(EventRegister(&provider, NULL, NULL, &other), ERROR_SUCCESS);
	live_wait(told);
	EXPECT(EventUnregister(other), ERROR_SUCCESS);
	EXPECT(EventUnregister(h), ERROR_SUCCESS);
	return reached ? HEARD : NOT_REACHED;
}

static uint32_t next_number, seen[100000];

static void look(PEVENT_RECORD r, void *context)
{
	uint32_t n;
	if (IsEqualGUID(&r->EventHeader.ProviderId, &provider)) {
		EXPECT(r->UserDataLength, sizeof n);
		memcpy(&n, r->UserData, sizeof n);
		EXPECT(n < next_number, 1);
		seen[n]++;
	}
}

/* For every n. */
static void all_of(char *self, enum kind kind, unsigned ms, bool calls_us)
{
	for (unsigned n = 1;; n++) {
		char words[5][16];
		snprintf(words[0], sizeof words[0], "%d", kind);
		snprintf(words[1], sizeof words[1], "%u", n);
		snprintf(words[2], sizeof words[2], "%u", ms);
		snprintf(words[3], sizeof words[3], "%d", calls_us);
		snprintf(words[4], sizeof words[4], "%u", next_number++);
		pid_t pid = fork();
		if (pid == 0) {
			alarm(60);
			setenv("OPENETW_WAIT_MS", "200", 1);
			execl(self, self, words[0], words[1], words[2], words[3], words[4], (char *)NULL);
			_exit(9);
		}
		int status = 0;
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REACHED) {
			printf("%s, %u ms, %s: %u\n", kind_name[kind], ms, calls_us ? "calling" : "waiting", n - 1);
			EXPECT(n > 1, 1);
			return;
		}
		if (status != HEARD) {
			printf("%s: number %u for %u ms (%s): status 0x%x\n", kind_name[kind], n, ms,
			       calls_us ? "calling" : "waiting", (unsigned)status);
			EXPECT(status, HEARD);
		}
		EXPECT(n < 1000, 1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 6) {
		return child((enum kind)atoi(argv[1]), (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]),
			     atoi(argv[4]) != 0, (uint32_t)atoi(argv[5]));
	}
	char self[4096];
	struct live_session s;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	EXPECT(n > 0, 1);
	self[n] = 0;
	live_begin();
	live_start(&s, "scarce", "scarce.etl", 0);
	EXPECT(live_enable(&s, &provider, 1, 5, 0, 0, 0), ERROR_SUCCESS);
	for (enum kind k = 0; k < KINDS; k++) {
		all_of(self, k, 0, false);
		all_of(self, k, 60, false);
	}
	/* So long that nobody waits for it. */
	all_of(self, THREAD, 1000, true);
	all_of(self, MAPPING, 400, true);
	live_stop(&s);
	live_read(s.path, look, NULL);
	for (uint32_t i = 0; i < next_number; i++) {
		EXPECT(seen[i], 1);
	}
	return 0;
}
#endif
