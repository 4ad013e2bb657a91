/* SPDX-License-Identifier: MIT */
#include "base/confine.h"
#include "base/confine_calls.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#define BIT(cap) (1ull << (cap))
#define GIB      (1ull << 30)
/* Each processor's rings, of perf and of BPF; of BPF's the data are mapped twice. */
#define RINGS_BYTES (64ull << 20)

/* The sanitizers reserve most of the address space, and look at the process from another one at its end. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct limits {
	uint64_t capabilities;
	bool reads_only;                     /* what is not open already is not written */
	bool opens_nothing;                  /* nor read */
	uint64_t address_space, processor_s; /* 0: any */
	bool rings;                          /* and memory for each processor */
};
static const struct limits limits[] = {
	/* Logs wherever root wants them, and with the owner that root wants; who the providers are. */
	[CONFINE_ETWD] = {BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) | BIT(CAP_CHOWN) |
			  BIT(CAP_SYS_PTRACE)},
	[CONFINE_TAKER] = {0},
	/* Events; others' files and maps; addresses of the kernel; rings that stay in memory; to go first. */
	[CONFINE_COLLECTOR] = {BIT(CAP_PERFMON) | BIT(CAP_BPF) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) |
				       BIT(CAP_SYSLOG) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_NICE) | BIT(CAP_SYS_RESOURCE),
			       .address_space = 4 * GIB, .rings = true},
	[CONFINE_DESCRIBE] = {0, .reads_only = true, .address_space = 4 * GIB, .processor_s = 600},
	[CONFINE_SANDBOX] = {0, .opens_nothing = true}, /* its parent has set the rest: confine_memory() */
	[CONFINE_DATABASE] = {0, .opens_nothing = true},
};

/* ---- capabilities -------------------------------------------------------------------------------- */

static bool drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct had[2] = {{0}}, data[2];
	if (syscall(SYS_capget, &head, had) < 0) {
		return false;
	}
	/* Before Linux 5.8 there is one for nearly everything. */
	bool old = prctl(PR_CAPBSET_READ, CAP_BPF) < 0;
	keep |= old && (keep & BIT(CAP_BPF)) ? BIT(CAP_SYS_ADMIN) : 0;
	/* Who may not, has none that could be got back. */
	for (unsigned cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!(keep >> cap & 1)) {
			(void)prctl(PR_CAPBSET_DROP, cap);
		}
	}
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t mine = had[i].permitted & (uint32_t)(keep >> (32 * i));
		data[i] = (struct __user_cap_data_struct){.effective = mine, .permitted = mine};
	}
	return syscall(SYS_capset, &head, data) == 0;
}

/* ---- files --------------------------------------------------------------------------------------- */

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ull << 15)
#endif

/* Whatever changes something, and running programs; with `reading`, the rest, too. */
static bool drop_files(bool reading)
{
	struct {
		uint64_t files, net, scoped;
	} rules = {.files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
			    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
			    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 1) {
		return false;
	}
	rules.files |= reading ? LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR : 0;
	rules.files |= version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
	rules.files |= version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
	rules.files |= version >= 5 ? LANDLOCK_ACCESS_FS_IOCTL_DEV : 0;
	rules.net = version >= 4 ? 3 : 0;    /* TCP: bind, connect */
	rules.scoped = version >= 6 ? 3 : 0; /* abstract sockets, signals */
	size_t bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, bytes, 0);
	bool done = fd >= 0 && syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	base_close(&fd);
	return done;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static bool lower(int which, uint64_t most)
{
	struct rlimit l;
	if (getrlimit(which, &l) < 0) {
		return false;
	}
	l.rlim_max = BASE_MIN(l.rlim_max, most);
	l.rlim_cur = BASE_MIN(l.rlim_cur, l.rlim_max);
	return setrlimit(which, &l) == 0;
}

static bool drop_memory(const struct limits *l)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t most = l->address_space + (l->rings && cpus > 0 ? (uint64_t)cpus * RINGS_BYTES : 0);
	bool done = l->address_space && !SANITIZED && lower(RLIMIT_AS, most);
	if (l->processor_s) {
		(void)lower(RLIMIT_CPU, l->processor_s);
	}
	return done;
}

bool confine_memory(uint64_t bytes, uint64_t processor_s)
{
	struct rlimit l;
	/* First the signal that says why, a second later the end. */
	if (lower(RLIMIT_CPU, processor_s + 1) && getrlimit(RLIMIT_CPU, &l) == 0) {
		l.rlim_cur = BASE_MIN(l.rlim_cur, processor_s);
		(void)setrlimit(RLIMIT_CPU, &l);
	}
	return !SANITIZED && lower(RLIMIT_DATA, bytes);
}

unsigned confine(enum confine_program program)
{
	const struct limits *l = &limits[program];
	unsigned done = 0;
	done |= drop_memory(l) ? CONFINED_MEMORY : 0;
	done |= drop_capabilities(l->capabilities) ? CONFINED_CAPABILITIES : 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		return done; /* without it the rest is not to be had */
	}
	done |= CONFINED_NO_NEW;
	done |= (l->reads_only || l->opens_nothing) && drop_files(l->opens_nothing) ? CONFINED_FILES : 0;
	done |= !SANITIZED && confine_calls(program) ? CONFINED_CALLS : 0;
	return done;
}

const char *confine_text(unsigned confined, char *buf, size_t cap)
{
	static const char text[][16] = {"capabilities", "new rights", "system calls", "files", "memory"};
	size_t n = 0;
	buf[0] = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(text); i++) {
		if ((confined >> i & 1) && n < cap) {
			n += (size_t)snprintf(buf + n, cap - n, "%s%s", n ? ", " : "", text[i]);
		}
	}
	return buf;
}
