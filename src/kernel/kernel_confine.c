/* SPDX-License-Identifier: MIT
 *
 * Sessions of users without rights: they get what their own processes do, and nothing else.
 *
 * Whose a process is, is what ptrace asks: all its ids are the user's, it holds no capabilities, it is in
 * the first user namespace, and it is not hidden (as programs are that are set-user-id, set-group-id,
 * have capabilities, cannot be read, or have said so with PR_SET_DUMPABLE). Such a process cannot become
 * more than that without an exec, so it is found out there, in the kernel, when the new credentials are
 * in force; a fork hands it on; from the moment the old program's end is told until the new one's record
 * comes, a process is nobody's. For what was there before, /proc is asked, and believed of what happens
 * from then on. Numbers that are used again begin anew with the fork that takes them. Where records were
 * lost, everything is found out again.
 *
 * All records go through here (kernel_out, kernel_out_stack, kernel_out_event): what is not on the list
 * of hooks below is never given to confined sessions. So are the kernel's addresses.
 */
#include "kernel/kernel_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGAIN_NS 200000000u

/* What says of which process it is, by its own thread at its own time. (Ends of connections and
 * retransmissions do not: the process that had the socket may be gone, and its number another's.) */
static bool may_have(uint16_t hook)
{
	static const struct {
		uint16_t first, last;
	} ranges[] = {
		{0x0301, 0x0304}, {0x030A, 0x030B}, {0x0501, 0x0504}, {0x1402, 0x1404}, {0x0F2E, 0x0F2E},
		{0x0420, 0x0420}, {0x0440, 0x0451}, {0x060A, 0x060C}, {0x060F, 0x060F}, {0x0611, 0x0611},
		{0x061A, 0x061C}, {0x061F, 0x061F}, {0x080A, 0x080B}, {0x081A, 0x081B},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(ranges); i++) {
		if (hook >= ranges[i].first && hook <= ranges[i].last) {
			return true;
		}
	}
	return false;
}

/* Of the session itself, without a word about anybody. */
static bool of_session(uint16_t hook)
{
	return hook == KERNEL_HOOK_MASKS || hook == KERNEL_HOOK_MASKS_END || hook == KERNEL_HOOK_RUNDOWN_DONE ||
	       hook == KERNEL_HOOK_INTERVAL || hook == KERNEL_HOOK_INTERVAL_DC || hook == KERNEL_HOOK_INTERVAL_END;
}

uint64_t kernel_confined_to(const struct kernel *k, const struct kernel_process *p)
{
	uint64_t sessions = 0;
	if (!p || p->owner == KERNEL_NO_ID) {
		return 0;
	}
	for (uint64_t left = k->confined; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		sessions |= k->slot[i].want.uid == p->owner ? 1ull << i : 0;
	}
	return sessions;
}

static uint64_t theirs(const struct kernel *k, uint32_t pid, uint64_t time)
{
	const struct kernel_process *p = kernel_process_find(k->processes, pid);
	return p && time >= p->owned_since ? kernel_confined_to(k, p) : 0;
}

/* Says what is so now, whatever its time. */
static bool of_rundown(uint16_t hook)
{
	return hook == 0x0303 || hook == 0x0304 || hook == 0x0503 || hook == 0x0504 || hook == 0x1403 || hook == 0x1404;
}

uint64_t kernel_confine(struct kernel *k, const struct kernel_record *r, uint64_t sessions)
{
	uint64_t confined = sessions & k->confined;
	if (confined && !of_session(r->hook)) {
		confined &=
			may_have(r->hook) && !r->class ? theirs(k, r->pid, of_rundown(r->hook) ? UINT64_MAX : r->time)
						       : 0;
		if (confined & k->filtered) {
			const struct kernel_thread *t = kernel_table_find(k->threads, r->tid);
			confined &= ~k->filtered | (t ? t->watchers : 0);
		}
	}
	return (sessions & ~k->confined) | confined;
}

uint64_t kernel_confine_stack(struct kernel *k, uint64_t sessions, uint32_t pid, uint64_t time)
{
	uint64_t confined = sessions & k->confined;
	return confined ? confined & theirs(k, pid, time) : 0;
}

/* ---- whose ------------------------------------------------------------------------------------ */

/* Four equal numbers: real, effective, saved, of the file system. */
static bool one_id(const char *status, const char *key, uint32_t *ret)
{
	const char *at = strstr(status, key);
	uint32_t a, b, c, d;
	if (!at || sscanf(at + strlen(key), "%u %u %u %u", &a, &b, &c, &d) != 4 || a != b || a != c || a != d) {
		return false;
	}
	*ret = a;
	return true;
}

static bool same_namespace(int dir)
{
	char theirs_is[64], ours_is[64];
	ssize_t n = readlinkat(dir, "ns/user", theirs_is, sizeof theirs_is);
	ssize_t m = readlink("/proc/self/ns/user", ours_is, sizeof ours_is);
	return n > 0 && n == m && memcmp(theirs_is, ours_is, (size_t)n) == 0;
}

/* Through one descriptor, which stays with the process whatever becomes of its number. */
static uint32_t owner_of(uint32_t pid)
{
	char path[32], status[4096];
	struct stat st;
	uint32_t uid, gid, owner = KERNEL_NO_ID;
	unsigned long long caps;
	snprintf(path, sizeof path, "/proc/%u", pid);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int file = dir >= 0 ? openat(dir, "status", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = file >= 0 ? read(file, status, sizeof status - 1) : -1;
	status[n > 0 ? n : 0] = 0;
	const char *permitted = strstr(status, "\nCapPrm:");
	if (one_id(status, "\nUid:", &uid) && one_id(status, "\nGid:", &gid) && permitted &&
	    sscanf(permitted + 8, "%llx", &caps) == 1 && caps == 0 && same_namespace(dir) && fstat(file, &st) == 0 &&
	    st.st_uid == uid) { /* root's when it is hidden; its directory never is */
		owner = uid;
	}
	if (file >= 0) {
		close(file);
	}
	if (dir >= 0) {
		close(dir);
	}
	return owner;
}

void kernel_confine_learn(struct kernel *k, struct kernel_process *p)
{
	if (!k->confined || p->exec.waits) {
		return; /* its record will say */
	}
	if (p->owner == KERNEL_NO_ID) {
		p->owner = owner_of(p->pid);
		p->owned_since = clock_read_system_ns();
	}
	uint64_t sessions = kernel_confined_to(k, p);
	if (sessions) {
		kernel_tracepoints_owned(k->tracepoints, p->pid, sessions);
	}
}

void kernel_confine_check(struct kernel *k, struct kernel_process *p)
{
	if (k->confined && p->owner != KERNEL_NO_ID && owner_of(p->pid) != p->owner) {
		p->owner = KERNEL_NO_ID;
	}
}

static void forget(void *ctx, struct kernel_process *p)
{
	(void)ctx;
	p->owner = KERNEL_NO_ID;
}

void kernel_confine_again(struct kernel *k)
{
	if (k->confined) {
		kernel_processes_each(k->processes, forget, NULL);
		k->confine_due = true;
	}
}

static void learn(void *ctx, struct kernel_process *p)
{
	kernel_confine_learn(ctx, p);
}

/* Asking takes its time; a machine that loses records is not helped by asking at each of them. */
void kernel_confine_tick(struct kernel *k)
{
	uint64_t now = k->confine_due ? clock_read_system_ns() : 0;
	if (k->confine_due && now - k->confined_ns >= AGAIN_NS) {
		k->confine_due = false;
		k->confined_ns = now;
		kernel_processes_each(k->processes, learn, k);
	}
}
