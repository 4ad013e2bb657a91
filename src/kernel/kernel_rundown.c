/* SPDX-License-Identifier: MIT
 *
 * Processes, threads and images as records, and the scan of /proc that announces those which were
 * there before the recording. Rings are running while it scans: what is new meanwhile is said twice,
 * nothing is missed.
 */
#include "kernel/kernel_process.h"
#include "base/file.h"
#include "kernel/kernel_walk.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOOK_PROCESS_DC_START 0x0303u
#define HOOK_PROCESS_DC_END   0x0304u
#define HOOK_THREAD_DC_START  0x0503u
#define HOOK_THREAD_DC_END    0x0504u
#define HOOK_IMAGE_DC_START   0x1403u
#define HOOK_IMAGE_DC_END     0x1404u
#define HOOK_COUNTERS_RUNDOWN 0x0321u
#define STILL_ALIVE           0x103
#define PF_KTHREAD            0x00200000u
#define NO_SESSION            0xFFFFFFFFu

struct status {
	uint32_t pid, parent, uid, flags;
	char name[64];
};

static bool read_file(const char *path, char *out, size_t cap, size_t *ret_n)
{
	long n = file_read_start(path, out, cap);
	*ret_n = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

static bool read_status(uint32_t pid, uint32_t tid, struct status *ret)
{
	char path[96], line[1024];
	size_t n;
	struct status s = {.pid = pid};
	struct stat st;
	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
	if (!read_file(path, line, sizeof line, &n)) {
		return false;
	}
	char *open = strchr(line, '('), *close = strrchr(line, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %u %*d %*d %*d %*d %u", &s.parent, &s.flags) != 2) {
		return false;
	}
	size_t length = BASE_MIN((size_t)(close - open - 1), sizeof s.name - 1);
	memcpy(s.name, open + 1, length);
	snprintf(path, sizeof path, "/proc/%u", pid);
	if (stat(path, &st) == 0) {
		s.uid = st.st_uid;
	}
	*ret = s;
	return true;
}

uint32_t kernel_reported_pid(uint32_t pid)
{
	struct status s;
	return pid != 0 && read_status(pid, pid, &s) && (s.flags & PF_KTHREAD) ? KERNEL_PID_SYSTEM : pid;
}

void kernel_read_line(uint32_t pid, char *out, size_t cap)
{
	char path[64];
	size_t n = 0;
	snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
	out[0] = 0;
	if (read_file(path, out, cap, &n)) {
		while (n > 0 && out[n - 1] == 0) {
			n--;
		}
		for (size_t i = 0; i < n; i++) {
			out[i] = out[i] ? out[i] : ' ';
		}
	}
}

void kernel_read_name(uint32_t pid, const char *comm, char *out, size_t cap)
{
	static const char gone[] = " (deleted)";
	char path[64], to[4096];
	snprintf(path, sizeof path, "/proc/%u/exe", pid);
	ssize_t n = readlink(path, to, sizeof to - 1);
	to[n > 0 ? n : 0] = 0;
	char *base = strrchr(to, '/');
	base = base ? base + 1 : to;
	size_t bytes = strlen(base);
	if (bytes > sizeof gone - 1 && strcmp(base + bytes - (sizeof gone - 1), gone) == 0) {
		base[bytes - (sizeof gone - 1)] = 0;
	}
	bool same = comm[0] && strncmp(base, comm, strlen(comm)) == 0;
	snprintf(out, cap, "%.*s", (int)cap - 1, same ? base : comm);
}

void kernel_emit_process(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu,
			 const struct kernel_process *p, int status)
{
	struct kernel_record r = {.hook = hook,
				  .version = 4,
				  .cpu = cpu,
				  .time = time,
				  .pid = p->pid,
				  .tid = p->pid,
				  .sessions = sessions};
	kernel_put(&r, p->pid, 8); /* UniqueProcessKey */
	kernel_put(&r, p->pid, 4);
	kernel_put(&r, p->parent, 4);
	kernel_put(&r, NO_SESSION, 4);
	kernel_put(&r, (uint32_t)status, 4);
	kernel_put(&r, 0, 8); /* DirectoryTableBase */
	kernel_put(&r, 0, 4); /* Flags */
	kernel_put_user(&r, p->uid);
	kernel_put_text(&r, p->name, 255);
	kernel_put_wide(&r, p->line ? p->line : "", 900);
	kernel_put_wide(&r, "", 0);
	kernel_put_wide(&r, "", 0);
	kernel_out(k, &r);
}

void kernel_emit_thread(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
			uint32_t tid, const char *name)
{
	struct kernel_record r = {
		.hook = hook, .version = 3, .cpu = cpu, .time = time, .pid = pid, .tid = tid, .sessions = sessions};
	kernel_put(&r, pid, 4);
	kernel_put(&r, tid, 4);
	for (int i = 0; i < 7; i++) { /* stacks, affinity, start address, TEB */
		kernel_put(&r, 0, 8);
	}
	kernel_put(&r, 0, 4);
	kernel_put(&r, 8 | 5 << 8 | 2 << 16, 4); /* normal priorities */
	kernel_put_wide(&r, name, 64);
	kernel_out(k, &r);
}

/* ---- the scan --------------------------------------------------------------------------------- */

/* One rundown: each kind to those of the sessions that want it. */
struct scan {
	uint64_t time; /* of the records: what is put out meanwhile is not newer */
	struct kernel *k;
	uint16_t process_hook, thread_hook, image_hook;
	uint64_t all, process, thread, image;
	bool live; /* what is found is there from now on */
};

/* Told, and known from now on. */
static void image(const struct scan *run, struct kernel_process *p, uint64_t code, uint64_t code_end, uint64_t base,
		  uint64_t bytes, const char *path)
{
	struct kernel_build build = {.n = 0};
	kernel_walk_identify(run->k->walk, p->pid, code, path, &base, &bytes, &build);
	struct kernel_image *m =
		run->live ? kernel_process_add_image(p, base, bytes, code, code_end, &build, path) : NULL;
	if (m) {
		m->told = true;
	}
	if (run->image) {
		kernel_emit_image(run->k, run->image, run->image_hook, run->time, 0, p->pid, base, bytes, &build, path);
	}
}

/* All mappings of one file are one image: from where its first byte lies to the end of its last. */
static void images(const struct scan *run, struct kernel_process *p)
{
	char path[64], line[4096 + 128], name[4096], before[4096] = "";
	uint64_t base = 0, end = 0, code = 0, code_end = 0;
	bool executable = false;
	snprintf(path, sizeof path, "/proc/%u/maps", p->pid);
	FILE *f = fopen(path, "re");
	kernel_confine_check(run->k, p); /* the file stays that of this program */
	for (bool more = f != NULL; more;) {
		unsigned long long from = 0, to = 0, offset = 0;
		char rights[8] = "";
		more = fgets(line, sizeof line, f) != NULL;
		name[0] = 0;
		if (more &&
		    sscanf(line, "%llx-%llx %7s %llx %*s %*u %4095[^\n]", &from, &to, rights, &offset, name) < 4) {
			continue;
		}
		if (more && name[0] && strcmp(name, before) == 0) {
			end = to;
			code = rights[2] == 'x' && !executable ? from : code;
			code_end = rights[2] == 'x' ? to : code_end;
			executable = executable || rights[2] == 'x';
			continue;
		}
		if (executable && (before[0] == '/' || strcmp(before, "[vdso]") == 0)) {
			image(run, p, code, code_end, base, end - base, before);
		}
		memcpy(before, name, sizeof before);
		base = from - (name[0] == '/' ? offset : 0);
		end = to;
		executable = rights[2] == 'x';
		code = from;
		code_end = to;
	}
	if (f) {
		fclose(f);
	}
}

static void threads(const struct scan *run, uint32_t pid, uint32_t reported)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/task", pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct status s;
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
		if (tid == 0 || !read_status(pid, tid, &s)) {
			continue;
		}
		struct kernel_thread *t = kernel_table_add(run->k->threads, tid, reported);
		if (t) {
			t->watchers |= run->all & kernel_watchers(run->k, pid);
		}
		if (run->thread) {
			kernel_emit_thread(run->k, run->thread, run->thread_hook, run->time, 0, reported, tid, s.name);
		}
	}
	if (d) {
		closedir(d);
	}
}

struct kernel_build kernel_build_read(const char *path)
{
	char bytes[4096];
	size_t n = 0;
	if (!read_file(path, bytes, sizeof bytes, &n)) {
		n = 0;
	}
	return kernel_build_of_notes((const uint8_t *)bytes, n);
}

/* The kernel's own code: its text, and its modules. */
static void kernel_images(const struct scan *run)
{
	uint16_t hook = run->image_hook;
	char line[512], name[128], kind;
	unsigned long long address, text = 0, end = 0, bytes;
	FILE *f = fopen("/proc/kallsyms", "re");
	while (f && !(text && end) && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%llx %c %127s", &address, &kind, name) == 3) {
			text = strcmp(name, "_text") == 0 ? address : text;
			end = strcmp(name, "_end") == 0 || (!end && strcmp(name, "_etext") == 0) ? address : end;
		}
	}
	if (f) {
		fclose(f);
	}
	if (text && end > text) {
		struct kernel_build build = kernel_build_read("/sys/kernel/notes");
		kernel_emit_image(run->k, run->image, hook, run->time, 0, 0, text, end - text, &build,
				  "[kernel.kallsyms]");
	}
	f = fopen("/proc/modules", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &bytes, &address) == 3 && address) {
			char path[192];
			snprintf(path, sizeof path, "/sys/module/%s/notes/.note.gnu.build-id", name);
			struct kernel_build build = kernel_build_read(path);
			snprintf(path, sizeof path, "[%s]", name);
			kernel_emit_image(run->k, run->image, hook, run->time, 0, 0, address, bytes, &build, path);
		}
	}
	if (f) {
		fclose(f);
	}
}

/* Whose arguments may have changed since: they are read again. */
static struct kernel_process *process_of(struct kernel *k, const struct status *s)
{
	struct kernel_process *p = kernel_process_get(k->processes, s->pid);
	char line[900];
	if (!p) {
		return NULL;
	}
	char name[sizeof p->name];
	kernel_read_line(s->pid, line, sizeof line);
	kernel_read_name(s->pid, s->name, name, sizeof name);
	kernel_process_set(p, s->parent, s->uid, name, line);
	return p;
}

void kernel_process_learn(struct kernel *k, uint32_t pid)
{
	struct status s;
	if (pid != 0 && read_status(pid, pid, &s) && !(s.flags & PF_KTHREAD)) {
		(void)process_of(k, &s);
	}
}

static void counters(struct kernel *k, uint64_t sessions, uint64_t time, uint32_t pid)
{
	struct kernel_counters c;
	if (sessions && kernel_read_counters(pid, &c)) {
		kernel_emit_counters(k, sessions, HOOK_COUNTERS_RUNDOWN, time, 0, &c);
	}
}

int kernel_rundown(struct kernel *k, uint64_t sessions, bool end)
{
	struct scan run = {
		.k = k,
		.all = sessions,
		.process_hook = end ? HOOK_PROCESS_DC_END : HOOK_PROCESS_DC_START,
		.thread_hook = end ? HOOK_THREAD_DC_END : HOOK_THREAD_DC_START,
		.image_hook = end ? HOOK_IMAGE_DC_END : HOOK_IMAGE_DC_START,
	};
	run.process = sessions & kernel_masked(k, KERNEL_BIT_PROCESS);
	run.thread = sessions & kernel_masked(k, KERNEL_BIT_THREAD);
	run.image = sessions & kernel_masked(k, KERNEL_BIT_LOADER);
	DIR *d = opendir("/proc");
	if (!d) {
		return -errno;
	}
	run.live = !end;
	bool loader = kernel_wants_bits(k, KERNEL_BIT_LOADER);
	run.time = kernel_breathe(k);
	const struct kernel_process idle = {.name = "Idle"};
	const struct kernel_process system = {.pid = KERNEL_PID_SYSTEM, .name = "System"};
	if (run.process) {
		kernel_emit_process(k, run.process, run.process_hook, run.time, 0, &idle, STILL_ALIVE);
	}
	kernel_table_add(k->threads, 0, 0);
	if (run.thread) {
		kernel_emit_thread(k, run.thread, run.thread_hook, run.time, 0, 0, 0, "Idle");
	}
	if (run.process) {
		kernel_emit_process(k, run.process, run.process_hook, run.time, 0, &system, STILL_ALIVE);
	}
	if (run.image) {
		kernel_images(&run);
	}
	int err = 0;
	for (struct dirent *e; err == 0 && (e = readdir(d));) {
		struct status s;
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);
		if (pid == 0 || !read_status(pid, pid, &s)) {
			continue;
		}
		err = !end && kernel_given_up(k) ? -EINTR : 0;
		run.time = kernel_breathe(k); /* before anything of this process is looked up */
		bool of_kernel = s.flags & PF_KTHREAD;
		struct kernel_process *p = of_kernel ? NULL : process_of(k, &s);
		if (p) {
			kernel_confine_learn(k, p);
		}
		if (p && run.process) {
			kernel_emit_process(k, run.process, run.process_hook, run.time, 0, p, STILL_ALIVE);
		}
		threads(&run, pid, of_kernel ? KERNEL_PID_SYSTEM : pid);
		if (p && (run.image || (run.live && loader))) {
			images(&run, p);
		}
		if (p && end) {
			counters(k, sessions & kernel_masked(k, KERNEL_BIT_PERF_COUNTER), run.time, pid);
		}
	}
	closedir(d);
	return err;
}
