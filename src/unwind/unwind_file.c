/* SPDX-License-Identifier: MIT
 *
 * Files that processes have mapped, each read once, whatever number of processes have it under whatever number
 * of names. Somebody may map thousands of files: what is kept of them is bounded, for all and for each user
 * (unwind_share.h). Descriptors and tables of what was not used for longest go first; who comes back to such a
 * file has it opened again, if it is still the same.
 */
#include "unwind/unwind_private.h"

#include "base/open_foreign.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define FILES_MAX (1u << 20)
#define VDSO      "[vdso]"
#define RECENT_NS 250000000u /* for that long a file is taken to be unchanged */

static uint64_t key_of_content(const struct unwind *u, dev_t device, ino_t inode)
{
	uint64_t both[2] = {(uint64_t)device, (uint64_t)inode};
	return map_hash(&u->contents, both, sizeof both);
}

static uint64_t key_of_path(const struct unwind *u, const struct unwind_content *c, const char *path)
{
	return map_hash(&u->by_path, path, strlen(path)) ^ (uintptr_t)c;
}

/* ---- shares ------------------------------------------------------------------------------------ */

static uint64_t content_bytes(const struct unwind_content *c)
{
	return sizeof *c + c->segments * sizeof c->segment[0];
}

static uint64_t file_bytes(const struct unwind_file *f)
{
	return sizeof *f + sizeof(void *) + strlen(f->path) + 1;
}

/* No descriptor, no tables. What was worked out of them goes with them. */
static void content_close(struct unwind *u, struct unwind_content *c)
{
	if (c->fixed) {
		return;
	}
	if (c->elf) {
		unwind_share_give(&u->shares, c->user, UNWIND_OPEN, 1);
	}
	unwind_share_give(&u->shares, c->user, UNWIND_TABLES, c->table_bytes);
	if (c->is_open) {
		TAILQ_REMOVE(&c->user->open, c, open_link);
		c->is_open = false;
	}
	for (unsigned i = 0; i < UNWIND_ROWS && (c->table[0] || c->table[1]); i++) {
		const struct unwind_table *t = u->kept[i].table;
		if (t && (t == c->table[0] || t == c->table[1])) {
			u->kept[i].table = NULL;
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		unwind_table_destroy(c->table[i]);
		c->table[i] = NULL;
	}
	symbol_elf_close(c->elf);
	c->elf = NULL;
	c->table_bytes = 0;
	c->looked = false;
}

static void file_free(struct unwind *u, struct unwind_file *f)
{
	struct unwind_content *c = f->content;
	map_remove_pointer(&u->by_path, key_of_path(u, c, f->path), f);
	u->files[f->number] = NULL;
	u->free_number[u->free_numbers++] = f->number;
	unwind_share_give(&u->shares, f->user, UNWIND_FILES, file_bytes(f));
	c->last = c->last == f ? NULL : c->last;
	c->files--;
	free(f);
}

static void content_free(struct unwind *u, struct unwind_content *c)
{
	if (c->last) {
		file_free(u, c->last);
	}
	map_remove_pointer(&u->contents, key_of_content(u, c->device, c->inode), c);
	content_close(u, c);
	if (c->is_idle) {
		TAILQ_REMOVE(&c->user->idle, c, idle_link);
	}
	unwind_share_give(&u->shares, c->user, UNWIND_FILES, content_bytes(c));
	free(c);
}

/* Nobody has it mapped: it, and its names, may go. */
static bool forget_an_idle_one(struct unwind *u, struct unwind_user *of)
{
	struct unwind_content *c = TAILQ_LAST(&of->idle, unwind_list);
	if (!c) {
		return false;
	}
	content_free(u, c);
	return true;
}

static bool make_room(struct unwind *u, struct unwind_user *user, enum unwind_kind kind, uint64_t n)
{
	while (!unwind_share_take(&u->shares, user, kind, n)) {
		struct unwind_user *owing = unwind_share_owing(&u->shares, user, kind);
		struct unwind_content *c = TAILQ_LAST(&owing->open, unwind_list);
		if (kind == UNWIND_FILES) {
			if (!forget_an_idle_one(u, owing) && !forget_an_idle_one(u, user)) {
				return false;
			}
		} else if (c) {
			content_close(u, c);
			u->stats.closed++;
		} else {
			return false;
		}
	}
	return true;
}

/* To somebody else's share: what everybody has is not for the first to lose who had it. */
static void content_give(struct unwind *u, struct unwind_content *c, struct unwind_user *to)
{
	if (c->user == to || c->fixed || !unwind_share_take(&u->shares, to, UNWIND_FILES, content_bytes(c))) {
		return;
	}
	unwind_share_give(&u->shares, c->user, UNWIND_FILES, content_bytes(c));
	content_close(u, c);
	if (c->is_idle) {
		TAILQ_REMOVE(&c->user->idle, c, idle_link);
		TAILQ_INSERT_HEAD(&to->idle, c, idle_link);
	}
	c->user = to;
}

static void content_used(struct unwind_content *c)
{
	if (c->is_open && TAILQ_FIRST(&c->user->open) != c) {
		TAILQ_REMOVE(&c->user->open, c, open_link);
		TAILQ_INSERT_HEAD(&c->user->open, c, open_link);
	}
}

/* ---- opening ------------------------------------------------------------------------------------ */

int unwind_root_of(struct unwind *u, uint32_t pid)
{
	if (u->root_of != pid || pid == 0) {
		base_close(&u->root);
		u->root = open_foreign_root(pid);
		u->root_of = u->root >= 0 ? pid : 0;
	}
	return u->root;
}

static uint64_t changed_of(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static bool is_same(const struct unwind_content *c, const struct stat *st)
{
	return c->device == st->st_dev && c->inode == st->st_ino && c->size == (uint64_t)st->st_size &&
	       c->changed == changed_of(st);
}

/* The file under that path, looked at: in the process's root, or else, when the process is gone or not ours to
 * look into, in this one's. */
static int look(struct unwind *u, uint32_t pid, const char *path, struct stat *ret)
{
	int root = unwind_root_of(u, pid), looked = root >= 0 ? open_foreign_look(root, path, 0, ret) : -ENOENT;
	return looked >= 0 ? looked : open_foreign_look(-1, path, 0, ret);
}

static struct symbol_elf *elf_of_vdso(void)
{
	/* The same in every process of this kernel: ours will do. */
	const uint8_t *p = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	FILE *maps = fopen("/proc/self/maps", "re");
	struct symbol_elf *elf = NULL;
	char line[512];
	uint64_t from, to;
	while (p && maps && !elf && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from == (uintptr_t)p) {
			symbol_elf_open_memory(p, (size_t)(to - from), &elf);
		}
	}
	if (maps) {
		fclose(maps);
	}
	return elf;
}

/* Takes the descriptor. -EDQUOT: not now; others: nothing that we read. */
static int elf_open(struct unwind *u, struct unwind_user *user, int looked, const char *path, struct symbol_elf **ret)
{
	static const struct symbol_origin nobody = {.root = -1};
	if (!unwind_work_left(user) || !make_room(u, user, UNWIND_OPEN, 1)) {
		close(looked);
		return -EDQUOT;
	}
	uint64_t begun = unwind_work_ns();
	int fd = open_foreign_read(looked), err = fd < 0 ? fd : symbol_elf_open_fd(fd, path, &nobody, ret);
	if (err < 0) {
		unwind_share_give(&u->shares, user, UNWIND_OPEN, 1);
	}
	unwind_work_add(user, unwind_work_ns() - begun);
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ? -EDQUOT : err;
}

static void content_opened(struct unwind_content *c, struct symbol_elf *elf)
{
	c->elf = elf;
	c->is_open = true;
	TAILQ_INSERT_HEAD(&c->user->open, c, open_link);
}

static struct unwind_content *content_create(struct unwind *u, struct unwind_user *user, const struct stat *st,
					     struct symbol_elf *elf)
{
	uint32_t segments = elf ? symbol_elf_segments(elf, NULL, 0) : 0;
	segments = BASE_MIN(segments, UNWIND_SEGMENTS_MAX);
	struct unwind_content *c = calloc(1, sizeof *c + segments * sizeof c->segment[0]);
	if (!c) {
		return NULL;
	}
	c->segments = segments;
	if (!make_room(u, user, UNWIND_FILES, content_bytes(c))) {
		free(c);
		return NULL;
	}
	if (map_add_pointer(&u->contents, key_of_content(u, st->st_dev, st->st_ino), c) < 0) {
		unwind_share_give(&u->shares, user, UNWIND_FILES, content_bytes(c));
		free(c);
		return NULL;
	}
	c->user = user;
	c->device = st->st_dev;
	c->inode = st->st_ino;
	c->size = (uint64_t)st->st_size;
	c->changed = changed_of(st);
	if (elf) {
		symbol_elf_segments(elf, c->segment, segments);
		c->build_id_bytes = symbol_elf_build_id(elf, c->build_id);
		c->first = symbol_elf_first(elf);
		c->span = symbol_elf_span(elf);
	}
	return c;
}

static struct unwind_content *content_find(struct unwind *u, const struct stat *st)
{
	MAP_EACH(&u->contents, key_of_content(u, st->st_dev, st->st_ino), at) {
		struct unwind_content *c = map_pointer(&u->contents, at);
		if (is_same(c, st)) {
			return c;
		}
	}
	return NULL;
}

/* One that is known, for a process that has mapped it. */
static void content_found(struct unwind *u, struct unwind_space *s, struct unwind_content *c)
{
	struct unwind_user *user = c->user->own ? NULL : unwind_space_user(u, s);
	if (user && user->own) {
		content_give(u, c, user);
	}
	content_used(c);
}

/* Of a file that was looked at; takes the descriptor. */
static struct unwind_content *content_of(struct unwind *u, struct unwind_space *s, int looked, const struct stat *st,
					 const char *path)
{
	struct unwind_content *c = content_find(u, st);
	if (c) {
		close(looked);
		content_found(u, s, c);
		return c;
	}
	struct unwind_user *user = unwind_space_user(u, s);
	struct symbol_elf *elf = NULL;
	int err = -EDQUOT;
	if (user) {
		err = elf_open(u, user, looked, path, &elf);
	} else {
		close(looked);
	}
	c = err == -EDQUOT ? NULL : content_create(u, user, st, elf);
	u->stats.unread += c == NULL;
	if (c && elf) {
		content_opened(c, elf);
	} else if (elf) {
		symbol_elf_close(elf);
		unwind_share_give(&u->shares, user, UNWIND_OPEN, 1);
	}
	return c;
}

static struct unwind_content *content_of_vdso(struct unwind *u)
{
	static const struct stat nowhere;
	struct unwind_content *c = content_find(u, &nowhere);
	struct unwind_user *root = c ? NULL : unwind_share_user(&u->shares, 0);
	struct symbol_elf *elf = root ? elf_of_vdso() : NULL;
	if (root) {
		c = content_create(u, root, &nowhere, elf);
	}
	if (root && c) {
		c->elf = elf;
		c->fixed = true;
	} else if (root) {
		symbol_elf_close(elf);
	}
	return c;
}

/* It was let go of, and is needed: the same file, by one of the names it had. */
static void content_open_again(struct unwind *u, struct unwind_space *s, struct unwind_file *f)
{
	struct unwind_content *c = f->content;
	struct unwind_user *user = unwind_space_user(u, s);
	struct symbol_elf *elf = NULL;
	struct stat st;
	int looked = user ? look(u, f->pid, f->path, &st) : -ENOENT;
	if (looked >= 0 && !is_same(c, &st)) {
		close(looked);
		looked = -ESTALE;
	}
	if (looked >= 0) {
		content_give(u, c, user);
	}
	if (looked >= 0 && elf_open(u, c->user, looked, f->path, &elf) == 0) {
		content_opened(c, elf);
	} else {
		u->stats.cut++;
	}
}

/* ---- files -------------------------------------------------------------------------------------- */

static bool give_number(struct unwind *u, struct unwind_file *f)
{
	if (u->free_numbers > 0) {
		f->number = u->free_number[--u->free_numbers];
	} else {
		if (u->file_count == u->file_cap) {
			uint32_t cap = u->file_cap ? 2 * u->file_cap : 64;
			struct unwind_file **files = cap > FILES_MAX ? NULL : realloc(u->files, cap * sizeof *files);
			u->files = files ? files : u->files;
			uint32_t *numbers = files ? realloc(u->free_number, cap * sizeof *numbers) : NULL;
			u->free_number = numbers ? numbers : u->free_number;
			if (!numbers) {
				return false;
			}
			u->file_cap = cap;
		}
		f->number = u->file_count++;
	}
	u->files[f->number] = f;
	return true;
}

static struct unwind_file *file_create(struct unwind *u, struct unwind_content *c, struct unwind_user *user,
				       const char *path)
{
	size_t n = strlen(path) + 1;
	struct unwind_file *f = calloc(1, sizeof *f + n);
	if (!f) {
		return NULL;
	}
	memcpy(f->path, path, n);
	f->content = c;
	f->user = user;
	bool room = make_room(u, user, UNWIND_FILES, file_bytes(f));
	bool placed = room && map_add_pointer(&u->by_path, key_of_path(u, c, path), f) == 0;
	if (!placed || !give_number(u, f)) {
		if (placed) {
			map_remove_pointer(&u->by_path, key_of_path(u, c, path), f);
		}
		if (room) {
			unwind_share_give(&u->shares, user, UNWIND_FILES, file_bytes(f));
		}
		free(f);
		return NULL;
	}
	c->files++;
	return f;
}

static void idle_no_more(struct unwind_content *c)
{
	if (c->is_idle) {
		TAILQ_REMOVE(&c->user->idle, c, idle_link);
		c->is_idle = false;
	}
}

void unwind_file_ref(struct unwind *u, struct unwind_file *f)
{
	f->refs++;
	f->content->refs++;
	idle_no_more(f->content);
}

static void content_unref(struct unwind_content *c)
{
	if (--c->refs == 0 && !c->fixed) {
		TAILQ_INSERT_HEAD(&c->user->idle, c, idle_link);
		c->is_idle = true;
	}
}

void unwind_file_unref(struct unwind *u, struct unwind_file *f)
{
	struct unwind_content *c = f->content;
	if (--f->refs == 0) {
		/* The last name stays with it, for the next process that maps it. */
		if (c->files > 1) {
			file_free(u, f);
		} else {
			c->last = f;
		}
	}
	content_unref(c);
}

/* Programs are started by the hundred, with the same files. Only one that is what the kernel says was mapped is
 * believed: a process may have put another under the path before it was looked at. */
static bool is_identified(const struct unwind_content *c, const struct unwind_identity *id)
{
	return id->inode && c->inode == id->inode && c->device == id->device;
}

static struct unwind_recent *recent_of(struct unwind *u, const struct unwind_identity *id)
{
	return &u->recent[map_mix(id->inode ^ id->device << 40, 0x9E3779B97F4A7C15ull) % UNWIND_RECENT];
}

static struct unwind_file *looked_at_lately(struct unwind *u, const struct unwind_identity *id, const char *path)
{
	const struct unwind_recent *r = recent_of(u, id);
	struct unwind_file *f = r->number < u->file_count ? u->files[r->number] : NULL;
	bool same = f && is_identified(f->content, id) && strcmp(f->path, path) == 0;
	return same && clock_read_system_ns() - r->at_ns < RECENT_NS ? f : NULL;
}

struct unwind_file *unwind_file_take(struct unwind *u, struct unwind_space *s, const char *path,
				     const struct unwind_identity *id)
{
	struct unwind_content *c = NULL;
	struct stat st;
	struct unwind_file *lately = id->inode ? looked_at_lately(u, id, path) : NULL;
	if (lately) {
		lately->pid = s->pid;
		content_found(u, s, lately->content);
		unwind_file_ref(u, lately);
		return lately;
	}
	if (strcmp(path, VDSO) == 0) {
		c = content_of_vdso(u);
	} else {
		int looked = look(u, s->pid, path, &st);
		c = looked >= 0 ? content_of(u, s, looked, &st, path) : NULL;
	}
	if (!c) {
		return NULL;
	}
	c->refs++; /* making room for its name must not take it */
	idle_no_more(c);
	struct unwind_file *f = NULL;
	MAP_EACH(&u->by_path, key_of_path(u, c, path), at) {
		struct unwind_file *known = map_pointer(&u->by_path, at);
		f = known->content == c && strcmp(known->path, path) == 0 ? known : f;
	}
	if (!f) {
		struct unwind_user *user = c->fixed ? c->user : unwind_space_user(u, s);
		f = user ? file_create(u, c, user, path) : NULL;
	}
	if (f) {
		f->pid = s->pid;
		unwind_file_ref(u, f);
		if (is_identified(c, id)) {
			*recent_of(u, id) = (struct unwind_recent){clock_read_system_ns(), f->number};
		}
	} else {
		u->stats.unread++;
	}
	content_unref(c);
	return f;
}

void unwind_file_keep(struct unwind *u, uint32_t file)
{
	struct unwind_file *f = file < u->file_count ? u->files[file] : NULL;
	if (f && !f->kept) {
		f->kept = true;
		unwind_file_ref(u, f);
	}
}

bool unwind_content_linked(const struct unwind_content *c, uint64_t offset, uint64_t *ret)
{
	return symbol_segments_linked(c->segment, c->segments, offset, ret);
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void load_table(struct unwind *u, struct unwind_content *c, unsigned which)
{
	/* The second is for programs built without tables for exceptions. */
	static const char *const names[] = {".eh_frame", ".debug_frame"};
	uint8_t *p;
	size_t n;
	uint64_t linked;
	/* Whoever runs on this machine chose the size: memory is for everybody's. */
	if (symbol_elf_section(c->elf, names[which], UNWIND_FILE_MAX, &p, &n, &linked) < 0 ||
	    unwind_table_create(p, n, linked, which == 1, &c->table[which]) < 0) {
		return;
	}
	uint64_t bytes = unwind_table_bytes(c->table[which]);
	if (make_room(u, c->user, UNWIND_TABLES, bytes)) {
		c->table_bytes += bytes;
	} else {
		unwind_table_destroy(c->table[which]);
		c->table[which] = NULL;
		u->stats.cut++;
	}
}

void unwind_file_tables(struct unwind *u, struct unwind_space *s, struct unwind_file *f)
{
	struct unwind_content *c = f->content;
	if (c->looked) {
		content_used(c);
		return;
	}
	if (!c->elf && c->segments > 0) {
		content_open_again(u, s, f);
	}
	c->looked = true; /* once, until it is let go of */
	if (!c->elf || !unwind_work_left(c->user)) {
		u->stats.cut += c->elf != NULL;
		return;
	}
	bool listed = c->is_open;
	if (listed) { /* making room must not take it */
		TAILQ_REMOVE(&c->user->open, c, open_link);
	}
	uint64_t begun = unwind_work_ns();
	load_table(u, c, 0);
	load_table(u, c, 1);
	unwind_work_add(c->user, unwind_work_ns() - begun);
	if (listed) {
		TAILQ_INSERT_HEAD(&c->user->open, c, open_link);
	}
}

/* ---- for others --------------------------------------------------------------------------------- */

int unwind_file_source(struct unwind *u, uint32_t file, struct unwind_source *ret)
{
	const struct unwind_file *f = file < u->file_count ? u->files[file] : NULL;
	const struct unwind_content *c = f ? f->content : NULL;
	char *path = c && !c->fixed ? strdup(f->path) : NULL;
	if (!path) {
		return f ? -ENOMEM : -ENOENT;
	}
	*ret = (struct unwind_source){.path = path,
				      .fd = c->elf ? symbol_elf_dup(c->elf) : -1,
				      .uid = f->user->uid,
				      .pid = f->pid,
				      .identity = {c->device, c->inode, c->size, c->changed}};
	return 0;
}

/* -ESTALE: another one. */
static int look_again(const struct unwind_source *s, int root)
{
	struct stat st;
	int looked = open_foreign_look(root, s->path, 0, &st);
	if (looked >= 0 && (st.st_dev != s->identity[0] || st.st_ino != s->identity[1] ||
			    (uint64_t)st.st_size != s->identity[2] || changed_of(&st) != s->identity[3])) {
		close(looked);
		return -ESTALE;
	}
	return looked;
}

int unwind_source_open(const struct unwind_source *s, int *ret_root, uint32_t *ret_root_uid)
{
	struct stat st = {0};
	int root = open_foreign_root(s->pid), looked = root >= 0 ? look_again(s, root) : -ENOENT;
	if (looked < 0) { /* the process is gone, or has another root by now */
		base_close(&root);
		looked = look_again(s, -1);
	}
	int fd = looked >= 0 ? open_foreign_read(looked) : s->fd >= 0 ? fcntl(s->fd, F_DUPFD_CLOEXEC, 3) : looked;
	if (fd < 0) {
		base_close(&root);
		return fd;
	}
	*ret_root_uid = root >= 0 && fstat(root, &st) == 0 ? st.st_uid : 0;
	*ret_root = root;
	return fd;
}

void unwind_source_finish(struct unwind_source *s)
{
	base_close(&s->fd);
	free(s->path);
	s->path = NULL;
}

void unwind_files_free(struct unwind *u)
{
	for (uint32_t i = 0; i < u->file_count; i++) {
		struct unwind_file *f = u->files[i];
		if (f && f->kept) {
			f->kept = false;
			unwind_file_unref(u, f);
		}
	}
	for (size_t at; (at = map_entry(&u->contents, 0)) != MAP_NONE;) {
		struct unwind_content *c = map_pointer(&u->contents, at);
		c->fixed = false;
		if (c->elf && !c->is_open) { /* the one that is in memory */
			symbol_elf_close(c->elf);
			c->elf = NULL;
		}
		content_free(u, c);
	}
	map_free(&u->contents);
	map_free(&u->by_path);
	base_close(&u->root);
	free(u->files);
	free(u->free_number);
}
