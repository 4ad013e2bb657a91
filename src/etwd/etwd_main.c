/* SPDX-License-Identifier: MIT
 * etwd: options, becoming a daemon, the lock, the sockets, the wait page, signals.
 *
 * Only who holds the lock file's flock may replace sockets, so a stale one is simply renamed over.
 * The lock is kept until exit; two daemons of one directory cannot exist.
 */
#include "base/confine.h"
#include "base/order.h"
#include "base/parse.h"
#include "base/printable.h"
#include "base/runtime_dir.h"
#include "etwd/etwd.h"
#include "etwd/etwd_clean.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_start.h"
#include "proto/proto.h"
#include "proto/proto_wait.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define THREAD_STACK_BYTES (512u << 10)

struct options {
	bool foreground, system;
	const char *dir;
	uint32_t idle_exit_s;
	int ready_fd;
};

static void usage(FILE *f)
{
	fputs("Usage: etwd [OPTION]...\n"
	      "Hosts trace sessions: collects the events of provider processes into log files and\n"
	      "real-time feeds. Controllers start it by themselves when they need it.\n\n"
	      "  --foreground         stay in the foreground, log to standard error\n"
	      "  --system             the system instance, in /run/openetw\n"
	      "  --runtime-dir DIR    sockets, lock and log live here\n"
	      "  --idle-exit SECONDS  leave so long after the last session ended (60; 0: never)\n"
	      "  --ready-fd N         write a byte to file descriptor N when connections are "
	      "accepted\n"
	      "  --version, --help\n",
	      f);
}

/* What arguments and paths bring in is made printable, as in the log. */
static void BASE_PRINTF(1, 2) complain(const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf_printable(&b, fmt, ap);
	va_end(ap);
	fputs(b.s ? b.s : "", stderr);
	strbuf_finish(&b);
}

/* 0 go on, else exit with ret_code */
static int parse_options(int argc, char **argv, struct options *o, int *ret_code)
{
	static const struct option longs[] = {
		{"foreground", no_argument, NULL, 'f'},
		{"system", no_argument, NULL, 's'},
		{"runtime-dir", required_argument, NULL, 'd'},
		{"idle-exit", required_argument, NULL, 'i'},
		{"ready-fd", required_argument, NULL, 'r'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	*o = (struct options){.idle_exit_s = 60, .ready_fd = -1};
	int c;
	uint64_t n;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'f': o->foreground = true; break;
		case 's': o->system = true; break;
		case 'd': o->dir = optarg; break;
		case 'i':
			if (!parse_number(optarg, 0, 1000000000, &n)) {
				complain("etwd: --idle-exit needs a number of seconds, not '%s'\n", optarg);
				*ret_code = 2;
				return 1;
			}
			o->idle_exit_s = (uint32_t)n;
			break;
		case 'r':
			if (!parse_number(optarg, 0, INT_MAX, &n)) {
				complain("etwd: --ready-fd needs a descriptor, not '%s'\n", optarg);
				*ret_code = 2;
				return 1;
			}
			o->ready_fd = (int)n;
			break;
		case 'v':
			puts("etwd (OpenETW) " OPENETW_VERSION);
			*ret_code = 0;
			return 1;
		case 'h':
			usage(stdout);
			*ret_code = 0;
			return 1;
		default:
			fputs("Try 'etwd --help'.\n", stderr);
			*ret_code = 2;
			return 1;
		}
	}
	if (optind < argc) {
		complain("etwd: unexpected argument '%s'\n", argv[optind]);
		*ret_code = 2;
		return 1;
	}
	return 0;
}

/* ---- the directory
 * --------------------------------------------------------------------------------- */

static int find_dir(const struct options *o, char *out, size_t cap)
{
	if (!o->dir) {
		return runtime_dir(o->system, true, out, cap);
	}
	struct stat st;
	if (mkdir(o->dir, o->system ? 0755 : 0700) < 0 && errno != EEXIST) {
		return -errno;
	}
	char *real = realpath(o->dir, NULL);
	if (!real) {
		return -errno;
	}
	size_t n = strlen(real);
	int r = n < cap && stat(real, &st) == 0 ? 0 : -ENAMETOOLONG;
	if (r == 0 && (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))) {
		r = -EPERM;
	}
	if (r == 0) {
		memcpy(out, real, n + 1);
	}
	free(real);
	return r;
}

static int join(char *out, size_t cap, const char *dir, const char *name)
{
	int n = snprintf(out, cap, "%s/%s", dir, name);
	return n > 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

/* Held: fd. Somebody else holds it: -EWOULDBLOCK. */
static int take_lock(const char *dir)
{
	char path[600];
	int r = join(path, sizeof path, dir, "lock");
	if (r < 0) {
		return r;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int bind_socket(const char *dir, const char *name, mode_t mode)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char path[600];
	int n = snprintf(addr.sun_path, sizeof addr.sun_path, "%s/.%s.%d", dir, name, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof addr.sun_path || join(path, sizeof path, dir, name) < 0) {
		return -ENAMETOOLONG;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return -errno;
	}
	unlink(addr.sun_path);
	/* Listening before it has its name: whoever finds the name can connect. */
	if (bind(fd, (struct sockaddr *)&addr, sizeof addr) < 0 || chmod(addr.sun_path, mode) < 0 ||
	    listen(fd, 4096) < 0 || rename(addr.sun_path, path) < 0) {
		int err = -errno;
		unlink(addr.sun_path);
		close(fd);
		return err;
	}
	return fd;
}

static int open_sockets(struct etwd *d)
{
	static const char *const names[] = {[CONN_PROVIDER] = "provider", [CONN_CONTROL] = "control"};
	for (int kind = 0; kind < 2; kind++) {
		mode_t mode = !d->system ? 0600 : kind == CONN_PROVIDER ? 0666 : 0660;
		int fd = bind_socket(d->dir, names[kind], mode);
		if (fd < 0) {
			return fd;
		}
		int r = etwd_conn_listen(d, fd, (enum conn_kind)kind);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/* Providers without a daemon sleep on the first word of this file. */
static int wake_waiters(struct etwd *d)
{
	char path[600];
	int r = join(path, sizeof path, d->dir, "wait");
	if (r < 0) {
		return r;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, d->system ? 0644 : 0600);
	if (fd < 0) {
		return -errno;
	}
	struct stat st;
	if (fstat(fd, &st) < 0 || (st.st_size < PROTO_WAIT_BYTES && ftruncate(fd, PROTO_WAIT_BYTES) < 0)) {
		r = -errno;
		close(fd);
		return r;
	}
	if (d->system) {
		fchmod(fd, 0644);
	}
	struct proto_wait_page *page = mmap(NULL, PROTO_WAIT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED) {
		return -errno;
	}
	/* What root's sessions want is nobody else's business: in the instance for all users every
	 * process waits for its answer. */
	if (!d->system) {
		for (uint32_t i = 0; i < BASE_ARRAY_LEN(page->wanted); i++) {
			order_store_relaxed(&page->wanted[i], 0u);
		}
		order_store_relaxed(&page->pid, (uint32_t)getpid());
		order_store_release(&page->magic, PROTO_WAIT_MAGIC);
		d->wait_page = page;
	}
	order_add_full(&page->word, 1u);
	syscall(SYS_futex, &page->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return 0; /* stays mapped as long as we live */
}

/* For people and scripts; nothing of ours reads it. The lock, not this file, says who is alive. */
static void write_pid(struct etwd *d)
{
	char path[600], text[16];
	if (join(path, sizeof path, d->dir, "pid") < 0) {
		return;
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0) {
		int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
		ssize_t w = write(fd, text, (size_t)n);
		(void)w;
		close(fd);
	}
}

/* ---- process
 * --------------------------------------------------------------------------------------- */

static void raise_fd_limit(void)
{
	struct rlimit lim;
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

/* The parent waits until the daemon says it is ready, and ends with its verdict. */
static int daemonise(int *ret_pipe)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0) {
		return -errno;
	}
	pid_t pid = fork();
	if (pid < 0) {
		return -errno;
	}
	if (pid > 0) {
		char byte = 1;
		close(p[1]);
		ssize_t n;
		do {
			n = read(p[0], &byte, 1);
		} while (n < 0 && errno == EINTR);
		_exit(n == 1 ? byte : 1);
	}
	close(p[0]);
	setsid();
	pid = fork();
	if (pid != 0) {
		_exit(pid < 0);
	}
	*ret_pipe = p[1];
	return 0;
}

static void redirect(struct etwd *d)
{
	etwd_log_open(d);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		if (null > 2) {
			close(null);
		}
	}
}

static void signal_ready(struct etwd *d, struct source *s, uint32_t events)
{
	struct signalfd_siginfo info;
	while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info) {
		etwd_log(d, "Leaving: signal %u", info.ssi_signo);
		d->exiting = true;
	}
}

static int watch_signals(struct etwd *d)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	d->signals = (struct source){signal_ready, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
	return d->signals.fd < 0 ? -errno : etwd_loop_add(d, &d->signals, EPOLLIN);
}

static void tell_ready(int fd, char verdict)
{
	if (fd >= 0) {
		ssize_t n = write(fd, &verdict, 1);
		(void)n;
		close(fd);
	}
}

/* The lock, or -EALREADY when another etwd of this directory answers: it was running or just starting. One
 * that was killed may hold the lock for a moment, too, and will never answer. */
static int take_lock_or_find_other(const char *dir)
{
	int lock_fd = -EWOULDBLOCK;
	for (int i = 0; i < 400; i++) {
		lock_fd = take_lock(dir);
		if (lock_fd != -EWOULDBLOCK) {
			return lock_fd;
		}
		int fd = proto_connect(dir, "control");
		if (fd >= 0) {
			close(fd);
			return -EALREADY;
		}
		struct pollfd none = {.fd = -1};
		poll(&none, 1, 20);
	}
	return lock_fd;
}

static int run(struct etwd *d, const struct options *o, int lock_fd)
{
	int parent = -1;
	if (!o->foreground) {
		/* The lock belongs to the open file, so the grandchild keeps it. */
		int r = daemonise(&parent);
		if (r < 0) {
			complain("etwd: cannot become a daemon: %s\n", strerror(-r));
			return 1;
		}
		redirect(d);
	} else {
		d->log_fd = 2;
	}
	int begun = etwd_starter_begin();
	if (begun < 0) { /* no kernel events, no commands: the rest goes on */
		etwd_log(d, "No programs can be started: %s", strerror(-begun));
	}
	char confined[128];
	confine_text(confine(CONFINE_ETWD), confined, sizeof confined);
	/* Of 8 MB stacks the kernel makes huge pages. */
	pthread_attr_t stacks;
	if (pthread_attr_init(&stacks) == 0) {
		pthread_attr_setstacksize(&stacks, THREAD_STACK_BYTES);
		pthread_setattr_default_np(&stacks);
		pthread_attr_destroy(&stacks);
	}
	int r = watch_signals(d);
	if (r == 0) {
		r = etwd_access_load(d);
	}
	if (r == 0) {
		r = open_sockets(d);
	}
	if (r == 0) {
		write_pid(d);
		r = wake_waiters(d);
	}
	if (r < 0) {
		etwd_log(d, "Cannot serve %s: %s", d->dir, strerror(-r));
		tell_ready(parent, 1);
		return 1;
	}
	etwd_log(d, "Started etwd: version=%s, pid=%d, dir=%s, instance=%s", OPENETW_VERSION, (int)getpid(), d->dir,
		 d->system ? "system" : "user");
	etwd_log(d, "Confined: %s", confined[0] ? confined : "nothing, this kernel cannot");
	etwd_embed_start(d);
	etwd_autolog_start(d);
	etwd_schedule_start(d);
	tell_ready(parent, 0);
	tell_ready(o->ready_fd, 0);
	etwd_loop_run(d);
	/* Names go first, while the lock is held: nobody connects to a daemon that is leaving. */
	static const char *const names[] = {"provider", "control", "pid"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char path[600];
		if (join(path, sizeof path, d->dir, names[i]) == 0) {
			unlink(path);
		}
	}
	etwd_log(d, "Ended etwd: events=%llu", (unsigned long long)d->events);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int code;
	char dir[512];
	if (argc == 2 && strcmp(argv[1], "--take-descriptors") == 0) {
		etwd_take_main();
	}
	if (parse_options(argc, argv, &o, &code)) {
		return code;
	}
	etwd_clean_descriptors(o.ready_fd);
	etwd_clean_signals();
	etwd_clean_environment();
	umask(077);
	int r = find_dir(&o, dir, sizeof dir);
	if (r < 0) {
		complain("etwd: cannot use the runtime directory %s: %s\n", o.dir ? o.dir : "", strerror(-r));
		return 1;
	}
	if (o.ready_fd >= 0) {
		fcntl(o.ready_fd, F_SETFD, FD_CLOEXEC);
	}
	int lock_fd = take_lock_or_find_other(dir);
	if (lock_fd == -EALREADY) {
		tell_ready(o.ready_fd, 0);
		return 0;
	}
	if (lock_fd == -EWOULDBLOCK) {
		complain("etwd: another etwd holds %s/lock but does not answer\n", dir);
		return 1;
	}
	if (lock_fd < 0) {
		complain("etwd: cannot lock %s/lock: %s\n", dir, strerror(-lock_fd));
		return 1;
	}
	raise_fd_limit();
	struct etwd *d;
	r = chdir("/") < 0 ? -errno : etwd_create(&d, o.system);
	if (r < 0) {
		complain("etwd: cannot start: %s\n", strerror(-r));
		return 1;
	}
	memcpy(d->dir, dir, sizeof d->dir);
	d->idle_exit_s = o.idle_exit_s;
	code = run(d, &o, lock_fd);
	etwd_destroy(d);
	close(lock_fd);
	return code;
}
