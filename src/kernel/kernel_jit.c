/* SPDX-License-Identifier: MIT
 *
 * Code that was made at run time, as its makers describe it in perf-PID.map: lines of start, size and
 * name. It goes into the trace as the script engine of Windows would say it, which viewers know.
 *
 * Anybody can make such a file for anybody's process: it is believed when the process's user owns it, or root.
 */
#include "kernel/kernel_naming.h"
#include "base/vec.h"

#include "base/open_foreign.h"

#include "kernel_payload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME_UNITS     1000u
#define BACK_MAX       64u /* pieces that may begin later than the one that holds an address */
#define LINE_BYTES_MAX 65536u
#define PIECES_MAX     (1u << 20)
#define CHUNK          (1u << 20)
/* Processes that make code, and maps of theirs that are kept open: a user may have as many as are left. */
#define JITS_MAX  1024u
#define OPEN_MAX  128u
#define TRY_AGAIN 64u

/* Microsoft-JScript, MethodRundown/MethodDCStop */
static const struct guid jscript = GUID_INIT(KP_JSCRIPT_GUID);
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

/* As the process sees it, and as others of this machine do. */
static int look(uint32_t pid, unsigned which, struct stat *ret, uint32_t *ret_root_uid)
{
	char path[64];
	struct stat st;
	if (which == 1) {
		snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
		*ret_root_uid = 0;
		return open_foreign_look(-1, path, OPEN_FOREIGN_NO_LINK, ret);
	}
	int root = open_foreign_root(pid);
	if (root < 0) {
		return root;
	}
	snprintf(path, sizeof path, "/tmp/perf-%u.map", own_pid(pid));
	*ret_root_uid = fstat(root, &st) == 0 ? st.st_uid : 0;
	int looked = open_foreign_look(root, path, OPEN_FOREIGN_NO_LINK, ret);
	close(root);
	return looked;
}

int kernel_jit_open(uint32_t pid, uint32_t uid, uint64_t ret_identity[2])
{
	int err = -ENOENT;
	for (unsigned i = 0; i < 2; i++) {
		struct stat st;
		uint32_t root_uid;
		int looked = look(pid, i, &st, &root_uid);
		if (looked >= 0 && open_foreign_believed(&st, uid, root_uid)) {
			ret_identity[0] = st.st_dev;
			ret_identity[1] = st.st_ino;
			return open_foreign_read(looked);
		}
		err = looked >= 0 ? -EPERM : err;
		base_close(&looked);
	}
	return err;
}

/* ---- who has one --------------------------------------------------------------------------------- */

static struct kernel_jit *find(const struct kernel_walk *w, uint32_t pid)
{
	for (uint32_t i = 0; i < w->jit_count; i++) {
		if (w->jit[i].map.pid == pid) {
			return &w->jit[i];
		}
	}
	return NULL;
}

static bool own(uint32_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* As much as is left, and no more than that. */
static bool fits(uint32_t uid, uint32_t all, uint32_t theirs, uint32_t most)
{
	return own(uid) ? all < most : all < most - most / 8 && theirs < most - most / 8 - all;
}

static struct kernel_jit *add(struct kernel_walk *w, uint32_t pid)
{
	uint32_t uid = unwind_owner_of(pid), theirs = 0;
	for (uint32_t i = 0; i < w->jit_count; i++) {
		theirs += w->jit[i].map.uid == uid;
	}
	if (!fits(uid, w->jit_count, theirs, JITS_MAX)) {
		w->jits_refused++;
		return NULL;
	}
	if (!VEC_ROOM(w->jit, w->jit_count, w->jit_cap)) {
		return NULL;
	}
	struct kernel_jit *j = &w->jit[w->jit_count++];
	*j = (struct kernel_jit){.map = {.pid = pid, .uid = uid, .fd = -1}};
	return j;
}

/* Keeps one descriptor of a map, whatever number of processes have it under whatever number of names. */
static void keep_open(struct kernel_walk *w, struct kernel_jit *j)
{
	uint32_t all = 0, theirs = 0;
	bool known = false;
	j->map.fd = kernel_jit_open(j->map.pid, j->map.uid, j->map.identity);
	for (uint32_t i = 0; j->map.fd >= 0 && i < w->jit_count; i++) {
		const struct kernel_jit *o = &w->jit[i];
		bool open = o != j && o->map.fd >= 0;
		all += open;
		theirs += open && o->map.uid == j->map.uid;
		known = known || (open && o->map.uid == j->map.uid && o->map.identity[0] == j->map.identity[0] &&
				  o->map.identity[1] == j->map.identity[1]);
	}
	if (known || !fits(j->map.uid, all, theirs, OPEN_MAX)) {
		base_close(&j->map.fd); /* looked for again in the end */
	}
}

void kernel_jit_seen(struct kernel_walk *w, uint32_t pid)
{
	struct kernel_jit *j = find(w, pid);
	if (!j) {
		j = add(w, pid);
	}
	if (j && j->map.identity[1] == 0 && j->tries++ % TRY_AGAIN == 0) {
		keep_open(w, j);
	}
}

void kernel_jit_map_of(const struct kernel_walk *w, uint32_t pid, struct kernel_jit_map *ret)
{
	const struct kernel_jit *j = find(w, pid);
	*ret = j ? j->map : (struct kernel_jit_map){.pid = pid, .uid = UINT32_MAX};
	ret->fd = j && j->map.fd >= 0 ? fcntl(j->map.fd, F_DUPFD_CLOEXEC, 3) : -1;
}

void kernel_jit_free(struct kernel_walk *w)
{
	for (uint32_t i = 0; i < w->jit_count; i++) {
		base_close(&w->jit[i].map.fd);
	}
	free(w->jit);
	w->jit = NULL;
	w->jit_count = w->jit_cap = 0;
}

/* ---- what it says -------------------------------------------------------------------------------- */

struct piece {
	uint64_t start, bytes;
	uint32_t order; /* later ones lie over earlier ones */
	const char *name;
};

static int by_start(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	return a->order < b->order ? -1 : 1;
}

struct kernel_jit_names {
	char *text;
	struct piece *list;
	size_t count, cap;
};

/* Of a file that may be growing; a zero byte behind. */
static char *read_text(int fd, size_t most, size_t *ret_n)
{
	char *text = NULL;
	size_t n = 0, cap = 0;
	for (;;) {
		if (n == cap) {
			cap = BASE_MIN(most, BASE_MAX(2 * cap, (size_t)CHUNK));
			char *more = n == cap ? NULL : realloc(text, cap + 1);
			if (!more) {
				break; /* as far as that */
			}
			text = more;
		}
		ssize_t got = pread(fd, text + n, cap - n, (off_t)n);
		if (got <= 0) {
			break;
		}
		n += (size_t)got;
	}
	if (text) {
		text[n] = 0;
	}
	*ret_n = n;
	return text;
}

static bool add_piece(struct kernel_jit_names *j, char *line, char *line_end)
{
	char *end;
	*line_end = 0;
	struct piece p = {.start = strtoull(line, &end, 16), .order = (uint32_t)j->count};
	p.bytes = strtoull(end, &end, 16);
	end += strspn(end, " ");
	if (!p.start || !p.bytes || !*end) {
		return true;
	}
	if (!VEC_ROOM_UP_TO(j->list, j->count, j->cap, PIECES_MAX)) {
		return false;
	}
	p.name = end;
	j->list[j->count++] = p;
	return true;
}

struct kernel_jit_names *kernel_jit_read(int fd, size_t most)
{
	struct kernel_jit_names *j = calloc(1, sizeof *j);
	size_t n = 0;
	if (j) {
		j->text = read_text(fd, most, &n);
	}
	close(fd);
	for (char *line = j ? j->text : NULL, *end; line && line < j->text + n; line = end + 1) {
		end = memchr(line, '\n', (size_t)(j->text + n - line));
		end = end ? end : j->text + n;
		if (end - line < (ptrdiff_t)LINE_BYTES_MAX && !add_piece(j, line, end)) {
			break;
		}
	}
	if (j && j->count) {
		qsort(j->list, j->count, sizeof *j->list, by_start);
	}
	return j;
}

void kernel_jit_names_free(struct kernel_jit_names *j)
{
	if (j) {
		free(j->text);
		free(j->list);
	}
	free(j);
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

static void emit(struct kernel_naming *n, uint32_t pid, const struct piece *p)
{
	uint8_t payload[8 + 8 + 8 + 24 + 2 * NAME_UNITS + 2] = {0};
	uint16_t wide[NAME_UNITS + 1];
	long units = utf8_to_utf16(p->name, strnlen(p->name, NAME_UNITS), wide, NAME_UNITS + 1);
	units = units < 0 ? 0 : BASE_MIN(units, (long)NAME_UNITS);
	le64_put(payload + 8, p->start);
	le64_put(payload + 16, p->bytes);
	memcpy(payload + 48, wide, 2 * (size_t)units);
	kernel_naming_event(n, &jscript, method_dc_stop, pid, payload, 48 + 2 * (uint32_t)units + 2);
}

void kernel_name_jit(struct kernel_naming *n, const struct kernel_jit_names *j, const struct kernel_seen *seen,
		     uint32_t count)
{
	const struct piece *last = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct piece *p = piece_at(j->list, j->count, seen[i].at);
		if (p && p != last) {
			emit(n, seen[0].of, p);
		}
		last = p ? p : last;
	}
}
