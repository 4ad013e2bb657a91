/* SPDX-License-Identifier: MIT
 *
 * Processes that make the recorder of kernel events keep and read things.
 *
 *   crowd links DIR N FILE   N links of a copy of FILE in DIR, each mapped to be run; says "done"; waits
 *   crowd copies DIR N FILE  the same with N files
 *   crowd jit N MAP          N processes that run code made at run time, each with a link of MAP as its
 *                            /tmp/perf-PID.map; says their numbers, and where the code is; runs until its input ends
 *   crowd libc DIR FILE      maps DIR/libjemalloc.so, a copy of FILE, puts a pipe in its place; says "done"; waits
 *   crowd linger PID         sends that recorder, where marks are sent to, a connection that takes long to close;
 *                            says "done"; waits
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char *bytes;
static size_t count;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void take(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !(bytes = malloc((size_t)st.st_size)) ||
	    read(fd, bytes, (size_t)st.st_size) != st.st_size) {
		die(path);
	}
	count = (size_t)st.st_size;
	close(fd);
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count) {
		die(path);
	}
	close(fd);
}

static void map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		die(path);
	}
	close(fd);
}

static void done(void)
{
	puts("done");
	fflush(stdout);
	for (;;) {
		pause();
	}
}

static void files(const char *dir, int n, int links)
{
	char base[512], path[600];
	snprintf(base, sizeof base, "%s/base", dir);
	put(base);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/f%d", dir, i);
		if (!links) {
			put(path);
		} else if (link(base, path) < 0) {
			die(path);
		}
		map(path);
	}
	done();
}

/* Goes on for as long as the byte that it is given the address of is zero. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x80, 0x3F, 0x00, 0x74, 0xFB, 0xC3, /* again: cmpb $0,(%rdi); je again; ret */
#else
	0x00,
#endif
};

static void jit(int n, const char *names)
{
	char path[64];
	volatile uint8_t *stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = mmap((void *)0x200000000, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (stop == MAP_FAILED || at == MAP_FAILED) {
		die("mmap");
	}
	memcpy(at, code, sizeof code);
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC) < 0) {
		die("mprotect");
	}
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			((void (*)(volatile uint8_t *))(uintptr_t)at)(stop);
			_exit(0);
		}
		snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
		unlink(path);
		if (pid < 0 || link(names, path) < 0) {
			die(path);
		}
		printf("%d\n", (int)pid);
	}
	puts("done");
	fflush(stdout);
	while (getchar() != EOF) {
	}
	*stop = 1;
}

/* Who exits does not wait as who closes does. Some of the messages are still unread by then, and so the recorder's
 * reference is the last one. */
static void send_lingering(const struct sockaddr_in *in, const char *pid)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct linger l = {1, 100};
	static char much[1 << 16];
	char message[16] = "", room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {message, sizeof message};
	struct msghdr h = {
		.msg_name = &un, .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	int to = socket(AF_INET, SOCK_STREAM, 0), mail = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (connect(to, (const void *)in, sizeof *in) < 0) {
		die("connect");
	}
	while (send(to, much, sizeof much, MSG_DONTWAIT) > 0) {
	}
	setsockopt(to, SOL_SOCKET, SO_LINGER, &l, sizeof l);
	int bytes = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "openetw-mark-%s-0", pid);
	h.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof to);
	memcpy(CMSG_DATA(c), &to, sizeof to);
	for (unsigned i = 0; i < 64; i++) {
		if (sendmsg(mail, &h, 0) < 0 && errno != EPERM) { /* Linux may refuse it */
			die("mail");
		}
	}
	_exit(0);
}

static void linger(const char *pid)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof in;
	int status, listener = socket(AF_INET, SOCK_STREAM, 0);
	signal(SIGCHLD, SIG_DFL);
	if (bind(listener, (void *)&in, n) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (void *)&in, &n) < 0) {
		die("listen");
	}
	pid_t sender = fork();
	if (sender == 0) {
		send_lingering(&in, pid);
	}
	if (sender < 0 || accept(listener, NULL, NULL) < 0 || waitpid(sender, &status, 0) < 0 || status != 0) {
		die("sender");
	}
	done(); /* and reads nothing */
}

int main(int argc, char **argv)
{
	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 5 && (strcmp(argv[1], "links") == 0 || strcmp(argv[1], "copies") == 0)) {
		take(argv[4]);
		files(argv[2], atoi(argv[3]), argv[1][0] == 'l');
	} else if (argc == 4 && strcmp(argv[1], "jit") == 0) {
		jit(atoi(argv[2]), argv[3]);
	} else if (argc == 3 && strcmp(argv[1], "linger") == 0) {
		linger(argv[2]);
	} else if (argc == 4 && strcmp(argv[1], "libc") == 0) {
		char path[512], shown[600];
		take(argv[3]);
		snprintf(path, sizeof path, "%s/libjemalloc.so", argv[2]);
		snprintf(shown, sizeof shown, "%s (deleted)", path); /* as /proc says it then */
		put(path);
		map(path);
		if (unlink(path) < 0 || mkfifo(shown, 0666) < 0) {
			die(path);
		}
		done();
	}
	return 2;
}
