/* SPDX-License-Identifier: MIT
 *
 * Address spaces: which file lies where in which process.
 */
#include "unwind/unwind_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAPS_MAX     16384u /* of one process */
#define MAPS_FEW     64u    /* that nobody is asked for */
#define MOVED_PER_NS 16u    /* bytes */
#define MOVED_LITTLE 16384u
#define ASK_AGAIN    256u

static const struct unwind_identity unidentified;

/* ---- spaces ----------------------------------------------------------------------------------- */

static struct unwind_space *space_find(struct unwind *u, uint32_t pid)
{
	return map_find_pointer(&u->spaces, pid);
}

static struct unwind_space *space_add(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_find(u, pid);
	if (!s && (s = calloc(1, sizeof *s)) != NULL) {
		s->pid = pid;
		if (map_add_pointer(&u->spaces, pid, s) < 0) {
			free(s);
			s = NULL;
		}
	}
	return s;
}

struct unwind_user *unwind_space_user(struct unwind *u, struct unwind_space *s)
{
	/* A program may become another user's without an exec: asked again now and then. */
	if (s->ask || !s->user || s->asked++ % ASK_AGAIN == ASK_AGAIN - 1) {
		uint32_t uid = unwind_owner_of(s->pid);
		struct unwind_user *is = uid == UINT32_MAX && s->user ? s->user : unwind_share_user(&u->shares, uid);
		s->ask = false;
		if (is && is != s->user) {
			if (s->user) {
				unwind_share_give(&u->shares, s->user, UNWIND_MAPS, s->taken);
			}
			s->taken = unwind_share_take(&u->shares, is, UNWIND_MAPS, s->taken) ? s->taken : 0;
			s->user = is;
		}
	}
	return s->user;
}

/* Memory for so many mappings: a few for everybody, more out of the user's share. */
static bool grow(struct unwind *u, struct unwind_space *s, uint32_t cap)
{
	if (cap <= s->cap) {
		return true;
	}
	uint64_t more = cap > MAPS_FEW ? cap * sizeof *s->maps - s->taken : 0;
	struct unwind_user *user = more ? unwind_space_user(u, s) : NULL;
	more = cap > MAPS_FEW ? cap * sizeof *s->maps - s->taken : 0;
	if (cap > MAPS_MAX || (more && (!user || !unwind_share_take(&u->shares, user, UNWIND_MAPS, more)))) {
		return false;
	}
	struct unwind_mapping *maps = realloc(s->maps, cap * sizeof *maps);
	if (!maps) {
		if (more) {
			unwind_share_give(&u->shares, user, UNWIND_MAPS, more);
		}
		return false;
	}
	s->taken += more;
	s->maps = maps;
	s->cap = cap;
	return true;
}

/* Who has mapped thousands makes us move them about: that is work for them. False: they have had enough. */
static bool move_maps(struct unwind *u, struct unwind_space *s, uint32_t to, uint32_t from)
{
	size_t bytes = (s->count - from) * sizeof *s->maps;
	if (to != from && bytes > MOVED_LITTLE) {
		struct unwind_user *user = unwind_space_user(u, s);
		if (!user || !unwind_work_left(user)) {
			return false;
		}
		unwind_work_add(user, bytes / MOVED_PER_NS);
	}
	memmove(&s->maps[to], &s->maps[from], bytes);
	return true;
}

/* Which mappings begin behind that address: the first of them. */
static uint32_t first_behind(const struct unwind_space *s, uint64_t address)
{
	uint32_t low = 0, high = s->count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (s->maps[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Takes over the reference to the file. What lay there is there no more. */
static void mapping_add(struct unwind *u, struct unwind_space *s, const struct unwind_mapping *m)
{
	uint32_t from = first_behind(s, m->start), to = from;
	if (from > 0 && s->maps[from - 1].end > m->start) {
		from--;
	}
	while (to < s->count && s->maps[to].start < m->end) {
		to++;
	}
	/* What sticks out of the new one on either side stays. */
	struct unwind_mapping piece[3];
	uint32_t pieces = 0;
	if (from < to && s->maps[from].start < m->start) {
		piece[pieces] = s->maps[from];
		piece[pieces++].end = m->start;
	}
	piece[pieces++] = *m;
	if (from < to && s->maps[to - 1].end > m->end) {
		piece[pieces] = s->maps[to - 1];
		piece[pieces].offset += m->end - piece[pieces].start;
		piece[pieces++].start = m->end;
	}
	uint32_t count = s->count - (to - from) + pieces, cap = s->cap ? s->cap : 32;
	while (cap < count) {
		cap *= 2;
	}
	if (!grow(u, s, cap)) {
		goto refused;
	}
	for (uint32_t i = 0; i < pieces; i++) {
		if (piece[i].file) {
			unwind_file_ref(u, piece[i].file);
		}
	}
	struct unwind_file *gone[2] = {NULL, NULL};
	if (to - from <= 2) { /* nearly always */
		for (uint32_t i = from; i < to; i++) {
			gone[i - from] = s->maps[i].file;
		}
	} else {
		for (uint32_t i = from; i < to; i++) {
			if (s->maps[i].file) {
				unwind_file_unref(u, s->maps[i].file);
			}
			s->maps[i].file = NULL;
		}
	}
	if (!move_maps(u, s, from + pieces, to)) {
		for (uint32_t i = 0; i < pieces; i++) {
			if (piece[i].file) {
				unwind_file_unref(u, piece[i].file);
			}
		}
		goto refused;
	}
	memcpy(&s->maps[from], piece, pieces * sizeof *piece);
	s->count = count;
	for (unsigned i = 0; i < 2; i++) {
		if (gone[i]) {
			unwind_file_unref(u, gone[i]);
		}
	}
	if (m->file) {
		unwind_file_unref(u, m->file); /* the caller's */
	}
	return;
refused:
	u->stats.unmapped++;
	if (m->file) {
		unwind_file_unref(u, m->file);
	}
}

static void map_file(struct unwind *u, struct unwind_space *s, uint64_t start, uint64_t end, uint64_t offset,
		     const char *path, const struct unwind_identity *id)
{
	struct unwind_mapping m = {.start = start, .end = end, .offset = offset};
	const struct unwind_mapping *under = path[0] == '/' && path[1] != '/' ? NULL : unwind_mapping_at(s, start);
	if (under && under->file && end <= under->end) {
		return; /* a program that moves its own code into bigger pages: it is still that file's */
	}
	if (path[0] == '/' && strncmp(path, "//anon", 6) != 0 && strncmp(path, "/memfd:", 7) != 0 &&
	    strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/dev/", 5) != 0) {
		m.file = unwind_file_take(u, s, path, id);
	} else if (strcmp(path, "[vdso]") == 0) {
		m.offset = 0;
		m.file = unwind_file_take(u, s, path, id);
	}
	mapping_add(u, s, &m);
}

/* What runs in it already, and nobody told of. */
static struct unwind_space *space_scan(struct unwind *u, uint32_t pid)
{
	char name[64], line[4096 + 128], path[4096], file[4096] = "", rights[8] = "";
	struct unwind_space *s = space_add(u, pid);
	struct unwind_user *user = s ? unwind_space_user(u, s) : NULL;
	uint64_t begun = unwind_work_ns();
	snprintf(name, sizeof name, "/proc/%u/maps", pid);
	FILE *f = user && unwind_work_left(user) ? fopen(name, "re") : NULL;
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
			map_file(u, s, from, to, moved ? file_offset + (from - file_from) : offset, moved ? file : path,
				 &unidentified);
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
		unwind_work_add(user, unwind_work_ns() - begun);
	} else if (user && !unwind_work_left(user)) {
		u->stats.unmapped++;
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
	uint32_t behind = s ? first_behind(s, address) : 0;
	return behind && address < s->maps[behind - 1].end ? &s->maps[behind - 1] : NULL;
}

void unwind_map_identified(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset,
			   const char *path, const struct unwind_identity *id)
{
	struct unwind_space *s = space_find(u, pid);
	if (!s) {
		space_scan(u, pid); /* has it, or it is too late */
		s = space_find(u, pid);
	}
	if (s && bytes && start + bytes > start) {
		map_file(u, s, start, start + bytes, offset, path, id);
	}
}

void unwind_map(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const char *path)
{
	unwind_map_identified(u, pid, start, bytes, offset, path, &unidentified);
}

static void forget_maps(struct unwind *u, struct unwind_space *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->maps[i].file) {
			unwind_file_unref(u, s->maps[i].file);
		}
	}
	s->count = 0;
}

void unwind_fork(struct unwind *u, uint32_t pid, uint32_t parent)
{
	if (pid == parent) {
		return; /* a thread */
	}
	struct unwind_space *from = unwind_space_of(u, parent);
	unwind_exit(u, pid);
	struct unwind_space *s = from ? space_add(u, pid) : NULL;
	if (!s) {
		return;
	}
	s->user = from->user;
	size_t bytes = from->count * sizeof *s->maps;
	if (from->count > MAPS_FEW && s->user) {
		if (!unwind_work_left(s->user)) {
			u->stats.unmapped += from->count;
			return;
		}
		unwind_work_add(s->user, bytes / MOVED_PER_NS);
	}
	if (from->count && grow(u, s, from->count)) {
		memcpy(s->maps, from->maps, bytes);
		s->count = from->count;
		for (uint32_t i = 0; i < s->count; i++) {
			if (s->maps[i].file) {
				unwind_file_ref(u, s->maps[i].file);
			}
		}
	} else {
		u->stats.unmapped += from->count;
	}
}

void unwind_exec(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_add(u, pid);
	if (s) {
		forget_maps(u, s);
		s->ask = true; /* it may be another user's now */
	}
	u->root_of = u->root_of == pid ? 0 : u->root_of;
}

void unwind_exit(struct unwind *u, uint32_t pid)
{
	struct unwind_space *s = space_find(u, pid);
	if (s) {
		map_remove_pointer(&u->spaces, pid, s);
		forget_maps(u, s);
		if (s->user) {
			unwind_share_give(&u->shares, s->user, UNWIND_MAPS, s->taken);
		}
		free(s->maps);
		free(s);
	}
	u->root_of = u->root_of == pid ? 0 : u->root_of;
}

void unwind_spaces_free(struct unwind *u)
{
	for (size_t at; (at = map_entry(&u->spaces, 0)) != MAP_NONE;) {
		unwind_exit(u, ((struct unwind_space *)map_pointer(&u->spaces, at))->pid);
	}
	map_free(&u->spaces);
}
