/* SPDX-License-Identifier: MIT
 * Names by key, and keys by path: two maps to the same entries.
 */
#include "kernel/kernel_names.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define HOOK_FILE_CREATE  0x0420u
#define HOOK_FILE_DELETE  0x0423u
#define HOOK_FILE_RUNDOWN 0x0424u
#define NAMES_MAX         (1u << 18)
#define MOUNTS_MAX        256u
#define PATH_CAP          4096u

struct name {
	uint64_t key, told; /* sessions */
	bool gone;
	char *path;
};
struct mount {
	uint32_t device;
	char path[256];
};
struct kernel_names {
	uint64_t secret;
	struct name *name;
	uint32_t count, cap;
	struct map by_key, by_path; /* to an index of `name` */
	uint8_t directories[32768]; /* a bit for the hash of each directory that has something below it */
	struct mount mount[MOUNTS_MAX];
	uint32_t mounts;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static uint64_t hash_of(const struct kernel_names *n, const char *path)
{
	return map_hash(&n->by_path, path, strlen(path));
}

struct kernel_names *kernel_names_create(void)
{
	struct kernel_names *n = calloc(1, sizeof *n);
	if (n && getrandom(&n->secret, sizeof n->secret, GRND_NONBLOCK) != sizeof n->secret) {
		n->secret = clock_read_system_ns();
	}
	return n;
}

void kernel_names_destroy(struct kernel_names *n)
{
	for (uint32_t i = 0; n && i < n->count; i++) {
		free(n->name[i].path);
	}
	if (n) {
		free(n->name);
		map_free(&n->by_key);
		map_free(&n->by_path);
	}
	free(n);
}

uint64_t kernel_names_opaque(const struct kernel_names *n, uint64_t value)
{
	uint64_t x = mix(value ^ n->secret);
	return value ? x | 1 : 0;
}

uint64_t kernel_names_key(const struct kernel_names *n, uint64_t inode, uint32_t device, uint32_t generation)
{
	uint64_t x = mix(inode ^ n->secret) ^ ((uint64_t)device << 32 | generation);
	return inode ? mix(x) << 1 : 0; /* even: never that of a path */
}

/* ---- the tables ------------------------------------------------------------------------------- */

/* Does anything known lie below that directory? Perhaps, or certainly not. */
static bool has_below(const struct kernel_names *n, const char *path)
{
	uint64_t h = hash_of(n, path) % (8 * sizeof n->directories);
	return n->directories[h / 8] >> (h % 8) & 1;
}

static void note_directories(struct kernel_names *n, const char *path)
{
	char part[PATH_CAP];
	size_t length = BASE_MIN(strlen(path), sizeof part - 1);
	memcpy(part, path, length);
	while (length > 0) {
		length--;
		if (path[length] == '/') {
			part[length] = 0;
			if (has_below(n, part)) { /* and so has all that is above */
				return;
			}
			uint64_t h = hash_of(n, part) % (8 * sizeof n->directories);
			n->directories[h / 8] |= (uint8_t)(1u << (h % 8));
		}
	}
}

static struct name *by_key(const struct kernel_names *n, uint64_t key)
{
	size_t at = map_find(&n->by_key, key);
	return at != MAP_NONE ? &n->name[map_value(&n->by_key, at)] : NULL;
}

static struct name *by_path(const struct kernel_names *n, const char *path)
{
	uint64_t hash = hash_of(n, path);
	MAP_EACH(&n->by_path, hash, at) {
		struct name *e = &n->name[map_value(&n->by_path, at)];
		if (strcmp(e->path, path) == 0) {
			return e;
		}
	}
	return NULL;
}

/* From now on nothing is found by its path. */
static void forget_path(struct kernel_names *n, const struct name *e)
{
	uint64_t hash = hash_of(n, e->path);
	MAP_EACH(&n->by_path, hash, at) {
		if (map_value(&n->by_path, at) == (uint64_t)(e - n->name)) {
			map_remove(&n->by_path, at);
			break;
		}
	}
}

static void set_gone(struct kernel_names *n, struct name *e)
{
	if (!e->gone) {
		forget_path(n, e);
		e->gone = true;
	}
}

static void rename_entry(struct kernel_names *n, struct name *e, const char *path)
{
	char *copy = strdup(path);
	if (!copy) {
		return;
	}
	set_gone(n, e);
	free(e->path);
	e->path = copy;
	e->gone = map_add(&n->by_path, hash_of(n, path), (uint64_t)(e - n->name)) < 0;
	note_directories(n, path);
}

static void add_entry(struct kernel_names *n, uint64_t key, const char *path)
{
	char *copy = VEC_ROOM_UP_TO(n->name, n->count, n->cap, NAMES_MAX) ? strdup(path) : NULL;
	if (!copy || map_add(&n->by_path, hash_of(n, path), n->count) < 0) {
		free(copy);
		return;
	}
	n->name[n->count] = (struct name){.key = key, .path = copy};
	/* Where that fails, the file is found by its path only. */
	(void)map_add(&n->by_key, key, n->count++);
	note_directories(n, path);
}

void kernel_names_learn(struct kernel_names *n, uint64_t key, const char *path)
{
	struct name *e = key ? by_key(n, key) : NULL, *other = by_path(n, path);
	if (other && other != e) {
		set_gone(n, other); /* a path means one file: this one took its place, or we know it better now */
	}
	if (e && strcmp(e->path, path) != 0) {
		e->told = 0;
		rename_entry(n, e, path);
	} else if (e && e->gone) {
		e->gone = map_add(&n->by_path, hash_of(n, path), (uint64_t)(e - n->name)) < 0;
	} else if (!e && key) {
		add_entry(n, key, path);
	}
}

uint64_t kernel_names_of_path(struct kernel_names *n, const char *path)
{
	struct name *e = by_path(n, path);
	if (e) {
		return e->key;
	}
	uint64_t key = mix(hash_of(n, path) ^ n->secret) | 1;
	kernel_names_learn(n, key, path);
	return key;
}

/* ---- events ----------------------------------------------------------------------------------- */

static void out(struct kernel *k, const struct name *e, uint16_t hook, const struct kbpf_record *of, uint64_t sessions)
{
	struct kernel_record r;
	struct kbpf_record now = {.time = of ? of->time : clock_read_system_ns(),
				  .cpu = of ? of->cpu : 0,
				  .pid = of ? of->pid : 0,
				  .tid = of ? of->tid : 0};
	kernel_record_begin(&r, &now, hook, 2, true);
	r.sessions = sessions;
	r.live = false;
	kernel_put(&r, e->key, 8);
	kernel_put_wide(&r, e->path, PATH_CAP - 1);
	kernel_out(k, &r);
}

void kernel_names_tell(struct kernel_names *n, struct kernel *k, uint64_t key, const struct kbpf_record *of)
{
	struct name *e = key ? by_key(n, key) : NULL;
	/* Confined sessions get the names that their own processes say: others may know it by another. */
	uint64_t sessions = e ? of->sessions & kernel_wants(k, HOOK_FILE_CREATE) & ~e->told & ~k->confined : 0;
	if (sessions) {
		e->told |= sessions;
		out(k, e, HOOK_FILE_CREATE, of, sessions);
	}
}

void kernel_names_tell_as(struct kernel *k, uint64_t key, const char *path, const struct kbpf_record *of,
			  uint64_t sessions)
{
	struct name e = {.key = key};
	e.path = (char *)(uintptr_t)path;
	if (key && sessions) {
		out(k, &e, HOOK_FILE_CREATE, of, sessions);
	}
}

void kernel_names_remove(struct kernel_names *n, struct kernel *k, const char *path, const struct kbpf_record *of)
{
	struct name *e = by_path(n, path);
	if (e) {
		set_gone(n, e);
		if (e->told & of->sessions) {
			out(k, e, HOOK_FILE_DELETE, of, e->told & of->sessions);
		}
	}
}

void kernel_names_rename(struct kernel_names *n, const char *from, const char *to)
{
	size_t length = strlen(from);
	struct name *over = by_path(n, to);
	if (over) {
		set_gone(n, over);
	}
	struct name *one = by_path(n, from);
	if (one) {
		one->told = 0; /* its name is told again */
		rename_entry(n, one, to);
	}
	for (uint32_t i = 0; has_below(n, from) && i < n->count; i++) {
		struct name *e = &n->name[i];
		char path[PATH_CAP];
		if (!e->gone && strncmp(e->path, from, length) == 0 && e->path[length] == '/') {
			snprintf(path, sizeof path, "%s%s", to, e->path + length);
			e->told = 0;
			rename_entry(n, e, path);
		}
	}
}

void kernel_names_rundown(struct kernel_names *n, struct kernel *k, uint64_t sessions)
{
	for (uint32_t i = 0; i < n->count; i++) {
		struct name *e = &n->name[i];
		if (!e->gone && (e->told & sessions)) {
			out(k, e, HOOK_FILE_RUNDOWN, NULL, e->told & sessions);
		}
		e->told &= ~sessions; /* the next session with that bit knows nothing */
	}
}

/* ---- paths ------------------------------------------------------------------------------------ */

void kernel_names_path(const char *user, size_t user_bytes, const char *base, size_t base_bytes, char *ret, size_t cap)
{
	char path[2 * PATH_CAP];
	size_t at = sizeof path - 1;
	bool cut = base_bytes > 0 && base_bytes % KBPF_TEXT_MAX == 0; /* it had more names */
	path[at] = 0;
	size_t n = strnlen(user, user_bytes);
	if (n > 0 && n < at) {
		at -= n;
		memcpy(path + at, user, n);
	}
	for (size_t i = 0; path[at] != '/' && i < base_bytes;) {
		size_t length = strnlen(base + i, base_bytes - i);
		if (cut && i + length + 1 >= base_bytes) {
			static const char more[] = "/...";
			at -= path[at] == '/' ? 0 : 1;
			path[at] = '/';
			at -= sizeof more - 1;
			memcpy(path + at, more, sizeof more - 1);
			break;
		}
		if (length + 1 > at - 8) {
			break;
		}
		if (path[at]) {
			path[--at] = '/';
		}
		at -= length;
		memcpy(path + at, base + i, length);
		i += length + 1;
		if (i >= base_bytes && at > 0) {
			path[--at] = '/';
			break;
		}
	}
	if (path[at] != '/' && at > 0) { /* directly below the root, or the root itself */
		path[--at] = '/';
	}
	/* "." and ".." and doubled slashes, without asking the file system. */
	size_t w = 0;
	const char *p = path + at;
	while (*p) {
		size_t length = strcspn(p + 1, "/");
		const char *part = p + 1;
		p += 1 + length;
		if (length == 0 || (length == 1 && part[0] == '.')) {
			continue;
		}
		if (length == 2 && part[0] == '.' && part[1] == '.') {
			while (w > 0 && ret[--w] != '/') {
			}
			continue;
		}
		if (w + 1 + length + 1 > cap) {
			break;
		}
		ret[w++] = '/';
		memcpy(ret + w, part, length);
		w += length;
	}
	if (w == 0) {
		ret[w++] = '/';
	}
	ret[w] = 0;
}

static void read_mounts(struct kernel_names *n)
{
	char line[1024], root[256], path[256];
	unsigned major, minor;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	n->mounts = 0;
	while (f && n->mounts < MOUNTS_MAX && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%*u %*u %u:%u %255s %255s", &major, &minor, root, path) == 4 &&
		    strcmp(root, "/") == 0) {
			struct mount *m = &n->mount[n->mounts++];
			m->device = major << 20 | minor;
			snprintf(m->path, sizeof m->path, "%s", strcmp(path, "/") == 0 ? "" : path);
		}
	}
	if (f) {
		fclose(f);
	}
}

const char *kernel_names_mount(struct kernel_names *n, uint32_t device)
{
	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < n->mounts; i++) {
			if (n->mount[i].device == device) {
				return n->mount[i].path;
			}
		}
		if (again == 0) {
			read_mounts(n);
		}
	}
	return "";
}
