/* SPDX-License-Identifier: MIT
 *
 * Address spaces: which file lies where in which process; files with their tables, each once.
 */
#include "unwind/unwind_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define MAPS_MAX  65536u /* of one process */
#define FILES_MAX 65536u
#define BUCKETS	  1024u

/* ---- files ------------------------------------------------------------------------------------ */

static void open_vdso(struct unwind_file *f)
{
	/* The same in every process of this kernel: ours will do. */
	const uint8_t *p = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t from, to;
	while (p && maps && !f->elf && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from == (uintptr_t)p) {
			symbol_elf_open_memory(p, (size_t)(to - from), &f->elf);
		}
	}
	if (maps) {
		fclose(maps);
	}
}

static void load_tables(struct unwind *u, struct unwind_file *f)
{
	/* The second is for programs built without tables for exceptions. */
	static const char *const names[] = {".eh_frame", ".debug_frame"};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(names); i++) {
		uint8_t *p;
		size_t n, most = BASE_MIN(UNWIND_FILE_MAX, UNWIND_BYTES_MAX - u->table_bytes);
		uint64_t linked;
		/* Whoever runs on this machine chose the size: memory is for everybody's. */
		if (symbol_elf_section(f->elf, names[i], most, &p, &n, &linked) < 0 ||
		    unwind_table_create(p, n, linked, i == 1, &f->table[i]) < 0) {
			continue;
		}
		if (unwind_table_bytes(f->table[i]) > UNWIND_BYTES_MAX - u->table_bytes) {
			unwind_table_destroy(f->table[i]);
			f->table[i] = NULL;
		} else {
			u->table_bytes += unwind_table_bytes(f->table[i]);
		}
	}
}

static void file_open(struct unwind_file *f, const char *seen_at)
{
	if (f->path[0] != '/') {
		open_vdso(f);
	} else {
		symbol_elf_open(seen_at, &f->elf);
	}
	if (f->elf) {
		f->build_id_bytes = symbol_elf_build_id(f->elf, f->build_id);
		f->first = symbol_elf_first(f->elf);
		f->span = symbol_elf_span(f->elf);
	}
}

/* The file that the process sees under this path, whichever root it has. */
static struct unwind_file *file_of(struct unwind *u, uint32_t pid, const char *path)
{
	char seen_at[64 + 4096];
	struct stat st = {0};
	bool real = path[0] == '/';
	if (real) {
		snprintf(seen_at, sizeof seen_at, "/proc/%u/root%s", pid, path);
		if (stat(seen_at, &st) < 0) { /* gone, or not ours to look into */
			snprintf(seen_at, sizeof seen_at, "%s", path);
			if (stat(seen_at, &st) < 0) {
				st = (struct stat){0};
			}
		}
	}
	for (uint32_t i = 0; i < u->file_count; i++) {
		struct unwind_file *f = u->files[i];
		if (f->device == st.st_dev && f->inode == st.st_ino && f->size == (uint64_t)st.st_size &&
		    f->changed == (uint64_t)st.st_mtim.tv_nsec && strcmp(f->path, path) == 0) {
			return f;
		}
	}
	if (u->file_count == u->file_cap) {
		uint32_t cap = u->file_cap ? 2 * u->file_cap : 64;
		struct unwind_file **files =
			cap > FILES_MAX ? NULL : realloc(u->files, cap * sizeof *files);
		if (!files) {
			return NULL;
		}
		u->files = files;
		u->file_cap = cap;
	}
	struct unwind_file *f = calloc(1, sizeof *f);
	if (!f || !(f->path = strdup(path))) {
		free(f);
		return NULL;
	}
	f->number = u->file_count;
	f->device = st.st_dev;
	f->inode = st.st_ino;
	f->size = (uint64_t)st.st_size;
	f->changed = (uint64_t)st.st_mtim.tv_nsec;
	if (!real || st.st_ino) {
		file_open(f, seen_at);
	}
	u->files[u->file_count++] = f;
	return f;
}

void unwind_file_tables(struct unwind *u, struct unwind_file *f)
{
	if (!f->looked) {
		f->looked = true;
		if (f->elf) {
			load_tables(u, f);
		}
	}
}

struct symbol_elf *unwind_file_elf(struct unwind *u, uint32_t file, const char **ret_path)
{
	if (file >= u->file_count) {
		return NULL;
	}
	*ret_path = u->files[file]->path;
	return u->files[file]->elf;
}

void unwind_files_free(struct unwind *u)
{
	for (uint32_t i = 0; i < u->file_count; i++) {
		struct unwind_file *f = u->files[i];
		unwind_table_destroy(f->table[0]);
		unwind_table_destroy(f->table[1]);
		symbol_elf_close(f->elf);
		free(f->path);
		free(f);
	}
	free(u->files);
}

/* ---- spaces ----------------------------------------------------------------------------------- */

static struct unwind_space **bucket_of(struct unwind *u, uint32_t pid)
{
	return &u->spaces[pid * 2654435761u >> 22];
}
_Static_assert(BUCKETS == 1u << 10 && UNWIND_BUCKETS == BUCKETS, "the shift above");

static struct unwind_space *space_find(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = *bucket_of(u, pid);
	while (s && s->pid != pid) {
		s = s->next;
	}
	return s;
}

static struct unwind_space *space_add(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_find(u, pid);
	if (!s && (s = calloc(1, sizeof *s)) != NULL) {
		s->pid = pid;
		s->next = *bucket_of(u, pid);
		*bucket_of(u, pid) = s;
	}
	return s;
}

static void map_add(struct unwind_space *s, const struct unwind_mapping *m)
{
	/* What lay there is there no more. */
	uint32_t kept = 0;
	struct unwind_mapping rest = {0};
	for (uint32_t i = 0; i < s->count; i++) {
		struct unwind_mapping o = s->maps[i];
		if (o.start < m->end && m->start < o.end) {
			if (o.end > m->end) {
				rest = o;
				rest.offset += m->end - o.start;
				rest.start = m->end;
			}
			o.end = BASE_MIN(o.end, m->start);
			if (o.start >= o.end) {
				continue;
			}
		}
		s->maps[kept++] = o;
	}
	s->count = kept;
	if (s->count + 2 > s->cap) {
		uint32_t cap = s->cap ? 2 * s->cap : 32;
		struct unwind_mapping *maps = cap > MAPS_MAX ? NULL : realloc(s->maps, cap * sizeof *maps);
		if (!maps) {
			return;
		}
		s->maps = maps;
		s->cap = cap;
	}
	uint32_t at = s->count;
	while (at > 0 && s->maps[at - 1].start > m->start) {
		s->maps[at] = s->maps[at - 1];
		at--;
	}
	s->maps[at++] = *m;
	s->count++;
	if (rest.file || rest.end) {
		memmove(&s->maps[at + 1], &s->maps[at], (s->count - at) * sizeof *s->maps);
		s->maps[at] = rest;
		s->count++;
	}
}

static void map_file(struct unwind *u, struct unwind_space *s, uint64_t start, uint64_t end,
		     uint64_t offset, const char *path)
{
	struct unwind_mapping m = {.start = start, .end = end, .offset = offset};
	const struct unwind_mapping *under = path[0] == '/' && path[1] != '/' ? NULL : unwind_mapping_at(s, start);
	if (under && under->file && end <= under->end) {
		return; /* a program that moves its own code into bigger pages: it is still that file's */
	}
	if (path[0] == '/' && strncmp(path, "//anon", 6) != 0 && strncmp(path, "/memfd:", 7) != 0 &&
	    strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/dev/", 5) != 0) {
		m.file = file_of(u, s->pid, path);
	} else if (strcmp(path, "[vdso]") == 0) {
		m.offset = 0;
		m.file = file_of(u, s->pid, path);
	}
	map_add(s, &m);
}

/* What runs in it already, and nobody told of. */
static struct unwind_space *space_scan(struct unwind *u, uint32_t pid)
{
	char name[64], line[4096 + 128], path[4096], file[4096] = "", rights[8] = "";
	struct unwind_space *s = space_add(u, pid);
	snprintf(name, sizeof name, "/proc/%u/maps", pid);
	FILE *f = s ? fopen(name, "re") : NULL;
	uint64_t file_from = 0, file_to = 0, file_offset = 0;
	while (f && fgets(line, sizeof line, f)) {
		uint64_t from, to, offset;
		path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*u %4095[^\n]", &from, &to, rights,
			   &offset, path) >= 4 &&
		    rights[2] == 'x') {
			size_t n = strlen(path);
			if (n > 10 && strcmp(path + n - 10, " (deleted)") == 0) {
				path[n - 10] = 0;
			}
			/* Code of no file right behind a file's: moved into bigger pages, most likely. What is not
			 * in that file's segments has no tables there, and does no harm. */
			bool moved = !path[0] && from == file_to && file_to != 0;
			map_file(u, s, from, to, moved ? file_offset + (from - file_from) : offset,
				 moved ? file : path);
		}
		if (path[0] == '/') {
			file_from = from;
			file_to = to;
			file_offset = offset;
			memcpy(file, path, sizeof file);
		}
	}
	if (f) {
		fclose(f);
	}
	return s;
}

struct unwind_space *unwind_space_of(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_find(u, pid);
	return s ? s : space_scan(u, pid);
}

struct unwind_mapping *unwind_mapping_at(const struct unwind_space *s, uint64_t address)
{
	uint32_t low = 0, high = s ? s->count : 0;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (s->maps[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low && address < s->maps[low - 1].end ? &s->maps[low - 1] : NULL;
}

void unwind_map(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset,
		const char *path)
{
	struct unwind_space *s = space_find(u, pid);
	if (!s) {
		space_scan(u, pid); /* has it, or it is too late */
		s = space_find(u, pid);
	}
	if (s && bytes && start + bytes > start) {
		map_file(u, s, start, start + bytes, offset, path);
	}
}

void unwind_fork(struct unwind *u, uint32_t pid, uint32_t parent)
{
	if (pid == parent) {
		return; /* a thread */
	}
	struct unwind_space *from = unwind_space_of(u, parent);
	unwind_exit(u, pid);
	struct unwind_space *s = from ? space_add(u, pid) : NULL;
	if (s && from->count && (s->maps = malloc(from->count * sizeof *s->maps)) != NULL) {
		memcpy(s->maps, from->maps, from->count * sizeof *s->maps);
		s->count = s->cap = from->count;
	}
}

void unwind_exec(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_add(u, pid);
	if (s) {
		s->count = 0;
	}
}

void unwind_exit(struct unwind *u, uint32_t pid)
{
	for (struct unwind_space **at = bucket_of(u, pid); *at; at = &(*at)->next) {
		struct unwind_space *s = *at;
		if (s->pid == pid) {
			*at = s->next;
			free(s->maps);
			free(s);
			return;
		}
	}
}

void unwind_spaces_free(struct unwind *u)
{
	for (uint32_t i = 0; i < UNWIND_BUCKETS; i++) {
		while (u->spaces[i]) {
			unwind_exit(u, u->spaces[i]->pid);
		}
	}
}
