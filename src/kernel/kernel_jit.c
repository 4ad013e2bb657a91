/* SPDX-License-Identifier: MIT
 *
 * Code that was made at run time, as its makers describe it in perf-PID.map: lines of start, size and
 * name. It goes into the trace as the script engine of Windows would say it, which viewers know.
 */
#include "kernel/kernel_seen.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME_UNITS 1000u
#define BACK_MAX   64u /* pieces that may begin later than the one that holds an address */
/* The file is anybody's: a line, and all of them, have an end. */
#define LINE_BYTES_MAX 65536u
#define FILE_BYTES_MAX (64 << 20)
#define PIECES_MAX     (1u << 20)

/* Microsoft-JScript, MethodRundown/MethodDCStop */
static const struct guid jscript = {{0x41, 0x77, 0x27, 0x57, 0x38, 0x36, 0x4b, 0x4a, 0xbd, 0xba, 0x0a,
				     0xc6, 0xe4, 0x5d, 0xa5, 0x6c}};
static const uint8_t method_dc_stop[16] = {6, 0, 0, 0, 4, 11, 3, 0};

/* A process may have another number in its own namespace. */
static uint32_t own_pid(uint32_t pid)
{
	char path[64], line[512];
	uint32_t last = pid;
	snprintf(path, sizeof path, "/proc/%u/status", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "NSpid:", 6) == 0) {
			const char *p = strrchr(line, '\t');
			last = p ? (uint32_t)strtoul(p, NULL, 10) : last;
			break;
		}
	}
	if (f) {
		fclose(f);
	}
	return last;
}

static int open_map(uint32_t pid)
{
	char path[2][128];
	struct stat st;
	snprintf(path[0], sizeof path[0], "/proc/%u/root/tmp/perf-%u.map", pid, own_pid(pid));
	snprintf(path[1], sizeof path[1], "/tmp/perf-%u.map", pid);
	for (unsigned i = 0; i < 2; i++) {
		/* Anybody can make such a file: no link to elsewhere, no pipe to hang on. */
		int fd = open(path[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
			return fd;
		}
		base_close(&fd);
	}
	return -1;
}

void kernel_jit_seen(struct kernel_walk *w, uint32_t pid)
{
	struct kernel_jit *j = NULL;
	for (uint32_t i = 0; i < w->jit_count && !j; i++) {
		j = w->jit[i].pid == pid ? &w->jit[i] : NULL;
	}
	if (!j) {
		if (w->jit_count == w->jit_cap) {
			uint32_t cap = w->jit_cap ? 2 * w->jit_cap : 16;
			struct kernel_jit *more = realloc(w->jit, cap * sizeof *more);
			if (!more) {
				return;
			}
			w->jit = more;
			w->jit_cap = cap;
		}
		j = &w->jit[w->jit_count++];
		*j = (struct kernel_jit){pid, -1};
	}
	if (j->fd < 0) {
		j->fd = open_map(pid);
	}
}

void kernel_jit_free(struct kernel_walk *w)
{
	for (uint32_t i = 0; i < w->jit_count; i++) {
		base_close(&w->jit[i].fd);
	}
	free(w->jit);
	w->jit = NULL;
	w->jit_count = w->jit_cap = 0;
}

struct piece {
	uint64_t start, bytes;
	uint32_t order; /* later ones lie over earlier ones */
	char *name;
};

static int by_start(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	return a->order < b->order ? -1 : 1;
}

static struct piece *read_map(FILE *f, size_t *ret_n)
{
	struct piece *list = NULL;
	char *line = malloc(LINE_BYTES_MAX);
	size_t n = 0, cap = 0;
	bool inside = false; /* a line that is longer */
	while (line && n < PIECES_MAX && ftello(f) < FILE_BYTES_MAX && fgets(line, LINE_BYTES_MAX, f)) {
		char *end;
		size_t length = strlen(line);
		bool behind = inside;
		inside = length > 0 && line[length - 1] != '\n';
		if (behind) {
			continue;
		}
		struct piece p = {.start = strtoull(line, &end, 16), .order = (uint32_t)n};
		p.bytes = strtoull(end, &end, 16);
		while (*end == ' ') {
			end++;
		}
		end[strcspn(end, "\n")] = 0;
		if (!p.start || !p.bytes || !*end) {
			continue;
		}
		if (n == cap) {
			struct piece *more = realloc(list, (cap = cap ? 2 * cap : 1024) * sizeof *more);
			if (!more) {
				break;
			}
			list = more;
		}
		p.name = strndup(end, NAME_UNITS);
		if (!p.name) {
			break;
		}
		list[n++] = p;
	}
	free(line);
	if (n) {
		qsort(list, n, sizeof *list, by_start);
	}
	*ret_n = n;
	return list;
}

static const struct piece *piece_at(const struct piece *list, size_t n, uint64_t address)
{
	const struct piece *best = NULL;
	size_t low = 0, high = n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (list[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (unsigned back = 0; low > 0 && back < BACK_MAX; back++) {
		const struct piece *p = &list[--low];
		if (address - p->start < p->bytes && (!best || p->order > best->order)) {
			best = p;
		}
	}
	return best;
}

static void emit(struct kernel *k, uint64_t sessions, uint32_t pid, const struct piece *p)
{
	uint8_t payload[8 + 8 + 8 + 24 + 2 * NAME_UNITS + 2] = {0};
	uint16_t wide[NAME_UNITS + 1];
	long n = utf8_to_utf16(p->name, strlen(p->name), wide, NAME_UNITS + 1);
	n = n < 0 ? 0 : BASE_MIN(n, (long)NAME_UNITS);
	le64_put(payload + 8, p->start);
	le64_put(payload + 16, p->bytes);
	memcpy(payload + 48, wide, 2 * (size_t)n);
	kernel_out_event(k, sessions, &jscript, method_dc_stop, pid, payload, 48 + 2 * (uint32_t)n + 2);
}

void kernel_jit_names(struct kernel *k, uint64_t sessions, const struct kernel_seen *first, uint32_t count)
{
	struct kernel_walk *w = k->walk;
	uint32_t pid = first->of;
	kernel_jit_seen(w, pid); /* it may be there now */
	FILE *f = NULL;
	for (uint32_t i = 0; i < w->jit_count; i++) {
		if (w->jit[i].pid == pid && w->jit[i].fd >= 0) {
			int fd = dup(w->jit[i].fd); /* other sessions will ask for it, too */
			f = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "re") : NULL;
		}
	}
	if (!f) {
		return;
	}
	size_t n;
	struct piece *list = read_map(f, &n);
	const struct piece *last = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct piece *p = piece_at(list, n, first[i].at);
		if (p && p != last) {
			emit(k, sessions, pid, p);
		}
		last = p ? p : last;
	}
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
	}
	free(list);
	fclose(f);
}
