/* SPDX-License-Identifier: MIT
 *
 * A program on a function of one process and of all that come from it. The kernel gives a probe of its own
 * to no child; one that is an event of the tracing file system is inherited as counters are, through
 * forks and execs. Where that file system cannot be used the caller has the other kind.
 */
#include "kernel/kernel_bpf.h"

#include "base/elf.h"
#include "symbol/symbol.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OPENETW_BPF

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define TRACING      "/sys/kernel/tracing/"
#define PROBES       TRACING "uprobe_events"
#define THREADS_MAX  256u
#define SECTION_MAX  (64u << 20)
#define SEGMENTS_MAX 64u

struct kernel_probe {
	struct bpf_link *link;
	int fd[THREADS_MAX]; /* that children inherit, of its threads */
	unsigned fds;
	char name[64];
};

/* ---- where the function is -------------------------------------------------------------------- */

static bool in_table(struct symbol_elf *f, const char *symbols, const char *names, const char *name,
		     uint64_t *ret_linked)
{
	uint8_t *table = NULL, *text = NULL;
	size_t table_n = 0, text_n = 0, wanted = strlen(name) + 1;
	uint64_t at;
	bool found = false;
	if (symbol_elf_section(f, symbols, SECTION_MAX, &table, &table_n, &at) == 0 &&
	    symbol_elf_section(f, names, SECTION_MAX, &text, &text_n, &at) == 0) {
		size_t one = elf_symbol_bytes(true);
		for (size_t i = 0; i + one <= table_n && !found; i += one) {
			struct elf_symbol s;
			elf_symbol_parse(true, table + i, &s);
			found = (s.info & 0xF) == STT_FUNC && s.section != SHN_UNDEF && s.name < text_n &&
				text_n - s.name >= wanted && memcmp(text + s.name, name, wanted) == 0;
			if (found) {
				*ret_linked = s.value;
			}
		}
	}
	free(table);
	free(text);
	return found;
}

static bool offset_of(const struct symbol_elf *f, uint64_t linked, uint64_t *ret)
{
	struct symbol_segment s[SEGMENTS_MAX];
	uint32_t n = symbol_elf_segments(f, s, SEGMENTS_MAX);
	for (uint32_t i = 0; i < BASE_MIN(n, SEGMENTS_MAX); i++) {
		if (linked >= s[i].address && linked - s[i].address < s[i].bytes) {
			*ret = linked - s[i].address + s[i].offset;
			return true;
		}
	}
	return false;
}

bool kernel_probe_place(int file, const char *symbol, uint64_t *ret_offset)
{
	static const struct symbol_origin nobody = {.root = -1};
	struct symbol_elf *f;
	uint64_t linked = 0;
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || symbol_elf_open_fd(fd, "", &nobody, &f) < 0) {
		return false;
	}
	bool found = (in_table(f, ".dynsym", ".dynstr", symbol, &linked) ||
		      in_table(f, ".symtab", ".strtab", symbol, &linked)) &&
		     offset_of(f, linked, ret_offset);
	symbol_elf_close(f);
	return found;
}

bool kernel_probe_own(int file, const char *symbol)
{
	static const struct symbol_origin nobody = {.root = -1};
	struct symbol_elf *f;
	uint8_t *p = NULL;
	size_t n;
	uint64_t linked;
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || symbol_elf_open_fd(fd, "", &nobody, &f) < 0) {
		return false;
	}
	bool is_static = symbol_elf_section(f, ".interp", SECTION_MAX, &p, &n, &linked) < 0;
	free(p);
	const char *symbols = is_static ? ".symtab" : ".dynsym", *names = is_static ? ".strtab" : ".dynstr";
	bool found = in_table(f, symbols, names, symbol, &linked);
	symbol_elf_close(f);
	return found;
}

/* ---- the tracing file system ------------------------------------------------------------------ */

static int command(const char *text)
{
	int fd = open(PROBES, O_WRONLY | O_APPEND | O_CLOEXEC);
	int err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
	base_close(&fd);
	return err;
}

/* Of recorders that were killed. What is in use the kernel keeps. */
static void sweep(void)
{
	char line[4400], text[96], name[64];
	FILE *f = fopen(PROBES, "re");
	while (f && fgets(line, sizeof line, f)) {
		unsigned pid;
		if (sscanf(line, "%*[pr]:%63s", name) == 1 && sscanf(name, "openetw_%u/", &pid) == 1 &&
		    kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
			snprintf(text, sizeof text, "-:%s", name);
			(void)command(text);
		}
	}
	if (f) {
		fclose(f);
	}
}

static int make(int file, uint64_t offset, bool at_return, char *name, size_t cap)
{
	static _Atomic unsigned number;
	char text[160];
	unsigned n = number++;
	if (n == 0) {
		sweep();
	}
	snprintf(name, cap, "openetw_%d/h%u", (int)getpid(), n);
	/* By descriptor: what lies under the path by now may be something else. */
	snprintf(text, sizeof text, "%c:%s /proc/self/fd/%d:0x%llx", at_return ? 'r' : 'p', name, file,
		 (unsigned long long)offset);
	return command(text);
}

static int id_of(const char *name)
{
	char path[160];
	int id = -1;
	snprintf(path, sizeof path, TRACING "events/%s/id", name);
	FILE *f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%d", &id) != 1) {
			id = -1;
		}
		fclose(f);
	}
	return id;
}

/* ---- probes ----------------------------------------------------------------------------------- */

static int counter(int id, pid_t tid, bool inherited)
{
	struct perf_event_attr a = {.size = sizeof a,
				    .type = PERF_TYPE_TRACEPOINT,
				    .config = (uint64_t)id,
				    .sample_period = 1,
				    .inherit = inherited};
	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Children come from any of its threads. */
static void inherited(struct kernel_probe *p, int id, uint32_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/task", pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d)) && p->fds < THREADS_MAX;) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
		int fd = tid == 0 ? -1 : counter(id, (pid_t)tid, true);
		if (fd >= 0) {
			p->fd[p->fds++] = fd;
		}
	}
	if (d) {
		closedir(d);
	}
}

int kernel_probe_open(struct bpf_program *prog, uint32_t pid, int file, uint64_t offset, bool at_return,
		      struct kernel_probe **ret)
{
	struct kernel_probe *p = calloc(1, sizeof *p);
	if (!p) {
		return -ENOMEM;
	}
	int err = make(file, offset, at_return, p->name, sizeof p->name);
	if (err < 0) {
		free(p);
		return err;
	}
	/* The program is on a counter that no child has: the end of one that inherited it would take the program
	 * away from all. */
	int id = id_of(p->name), fd = id < 0 ? -1 : counter(id, (pid_t)pid, false);
	err = fd < 0 ? -errno : 0;
	if (err == 0) {
		p->link = bpf_program__attach_perf_event(prog, fd);
		err = p->link ? 0 : -errno;
		if (err < 0) {
			close(fd);
		} else {
			inherited(p, id, pid);
		}
	}
	if (err < 0) {
		kernel_probe_close(p);
		return err;
	}
	*ret = p;
	return 0;
}

void kernel_probe_close(struct kernel_probe *p)
{
	char text[96];
	if (!p) {
		return;
	}
	bpf_link__destroy(p->link);
	for (unsigned i = 0; i < p->fds; i++) {
		close(p->fd[i]);
	}
	snprintf(text, sizeof text, "-:%s", p->name);
	(void)command(text);
	free(p);
}

/* ---- families --------------------------------------------------------------------------------- */

/* When a task and its child have the same counters and follow each other on a processor, the kernel lets
 * them swap those instead of taking each off and on; when the child ends, its parent's go with it. A
 * counter that is not inherited keeps them apart: one for each process, as soon as it is known. One that has
 * forked before that, and may have lost its own, gets them again. */
#define FAMILY_MAX   1024u
#define COUNTERS_MAX 32u

struct relative {
	uint32_t pid, root;
	int apart;
	int fd[COUNTERS_MAX];
	unsigned fds;
};
struct kernel_family {
	struct relative member[FAMILY_MAX];
	uint32_t n;
};

static struct relative *relative_of(struct kernel_family *f, uint32_t pid)
{
	for (uint32_t i = 0; f && i < f->n; i++) {
		if (f->member[i].pid == pid) {
			return &f->member[i];
		}
	}
	return NULL;
}

void kernel_family_add(struct kernel_family **f, uint32_t pid, uint32_t root)
{
	struct perf_event_attr a = {
		.size = sizeof a, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1};
	if (!*f && !(*f = calloc(1, sizeof **f))) {
		return;
	}
	if ((*f)->n < FAMILY_MAX && !relative_of(*f, pid)) {
		struct relative *r = &(*f)->member[(*f)->n++];
		*r = (struct relative){.pid = pid, .root = root};
		r->apart = (int)syscall(SYS_perf_event_open, &a, (pid_t)pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
}

uint32_t kernel_family_fork(struct kernel_family **f, uint32_t parent, uint32_t pid)
{
	struct relative *r = relative_of(*f, parent);
	if (!r) {
		return 0;
	}
	uint32_t root = r->root;
	bool bare = r->pid != root && r->fds == 0;
	kernel_family_add(f, pid, root);
	return bare ? root : 0;
}

void kernel_family_cover(struct kernel_family *f, uint32_t pid, const struct kernel_probe *p)
{
	struct relative *r = relative_of(f, pid);
	int id = id_of(p->name), fd = -1;
	if (r && id >= 0 && r->fds < COUNTERS_MAX) {
		fd = counter(id, (pid_t)pid, true);
	}
	if (fd >= 0) {
		r->fd[r->fds++] = fd;
	}
}

void kernel_family_end(struct kernel_family *f, uint32_t pid)
{
	struct relative *r = relative_of(f, pid);
	if (r) {
		base_close(&r->apart);
		for (unsigned i = 0; i < r->fds; i++) {
			close(r->fd[i]);
		}
		*r = f->member[--f->n];
	}
}

void kernel_family_clear(struct kernel_family **f)
{
	while (*f && (*f)->n > 0) {
		kernel_family_end(*f, (*f)->member[0].pid);
	}
	free(*f);
	*f = NULL;
}

#endif
