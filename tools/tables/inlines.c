/* SPDX-License-Identifier: MIT
 *
 * The files are opened here, and read by openetw-symbols, a child without rights: what is in them may be anybody's.
 * A file with which that child ends is left alone from then on, and said.
 */
#include "tools/tables/inlines.h"

#include "base/confine.h"
#include "base/map.h"
#include "base/open_foreign.h"
#include "base/vec.h"
#include "sandbox/sandbox.h"
#include "tools/common/helper.h"
#include "tools/common/tally.h"
#include "tools/symbols/symbols_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_BYTES (1ull << 30) /* of the child; the files themselves are mapped, and do not count */
#define PROCESSOR_S  600u
#define ANSWER_MS    30000u
#define STARTS_MAX   8u
#define SHARED_DIR   ".dwz/"

struct file {
	char *path;
	uint8_t build[SYMBOLS_GUID_BYTES];
	int child; /* the one that has been given it; 0: none */
	bool ready, ended;
	uint64_t first;
};
struct inlines {
	struct sandbox *child; /* NULL: the program was not found */
	bool ended;            /* nobody is asked any more */
	bool told_rights;
	struct file *files;
	struct map places; /* in files, by path and build */
	uint32_t count, cap;
	struct tally known; /* of an address: v[0] is the place in texts, 0: none */
	char **texts;
	size_t text_count, text_cap;
};

struct inlines *inlines_create(void)
{
	char program[4200];
	struct inlines *x = calloc(1, sizeof *x);
	struct sandbox_options o = {.program = program,
				    .memory_bytes = MEMORY_BYTES,
				    .processor_s = PROCESSOR_S,
				    .answer_ms = ANSWER_MS,
				    .starts_max = STARTS_MAX};
	if (x && helper_find("openetw-symbols", "OPENETW_SYMBOLS", X_OK, program, sizeof program) &&
	    sandbox_create(&o, &x->child) < 0) {
		free(x);
		x = NULL;
	}
	return x;
}

void inlines_destroy(struct inlines *x)
{
	if (!x) {
		return;
	}
	sandbox_destroy(x->child);
	for (uint32_t i = 0; i < x->count; i++) {
		free(x->files[i].path);
	}
	for (size_t i = 0; i < x->text_count; i++) {
		free(x->texts[i]);
	}
	tally_free(&x->known);
	map_free(&x->places);
	free(x->texts);
	free(x->files);
	free(x);
}

/* There is no child, and there will be none: nothing about a file. */
static void end(struct inlines *x, const char *why)
{
	if (!x->ended) {
		fprintf(stderr, "openetw: no inlined functions are shown from here on: %s\n", why);
	}
	x->ended = true;
}

/* A child that could not give up its rights reads all the same: a kernel may have neither, and nothing fails for that. */
static void tell_rights(struct inlines *x)
{
	if (!x->told_rights && !(sandbox_confined(x->child) & (CONFINED_CALLS | CONFINED_FILES))) {
		fprintf(stderr, "openetw: openetw-symbols reads debug information with the rights of this user, "
				"because neither "
				"seccomp nor Landlock is to be had; --no-inlines leaves that out\n");
		x->told_rights = true;
	}
}

/* It was asked about this file, and there is no answer. */
static void end_file(struct inlines *x, struct file *f)
{
	fprintf(stderr, "openetw: functions inlined in %s are not shown: %s\n", f->path, sandbox_problem(x->child));
	f->ready = false;
	f->ended = true;
}

/* ---- files --------------------------------------------------------------------------------------- */

/* A separate debug file of a stranger is not believed, whoever's program it is about. */
static int open_debug_file(const char *path, int program)
{
	struct stat st, of;
	int fd = fstat(program, &of) == 0 ? open_foreign(-1, path, 0, &st) : -1;
	if (fd >= 0 && !open_foreign_believed(&st, of.st_uid, geteuid())) {
		base_close(&fd);
	}
	return fd;
}

static int open_by_id(const uint8_t *id, uint32_t bytes, int program)
{
	char path[64 + 2 * SYMBOLS_ID_MAX] = "/usr/lib/debug/.build-id/";
	size_t at = strlen(path);
	for (uint32_t i = 0; i < bytes && i < SYMBOLS_ID_MAX; i++) {
		at += (size_t)snprintf(path + at, sizeof path - at, i == 0 ? "%02x/" : "%02x", id[i]);
	}
	snprintf(path + at, sizeof path - at, ".debug");
	return open_debug_file(path, program);
}

/* The file of names that several debug files share. Its path stands in a file of anybody's: what counts of it is what
 * follows the directory that such files are in. */
static int open_shared(const uint8_t *id, uint32_t id_bytes, const char *name, int program)
{
	char path[64 + SYMBOLS_NAME_MAX];
	const char *in = strstr(name, SHARED_DIR);
	int fd = open_by_id(id, id_bytes, program);
	if (fd < 0 && in && !strstr(in, "..")) {
		snprintf(path, sizeof path, "/usr/lib/debug/%s", in);
		fd = open_debug_file(path, program);
	}
	return fd;
}

/* Gives the child one of the files that belong to a program. What it wants next is in ret and behind it in *more. */
static int give(struct inlines *x, const struct file *f, enum symbols_part part, int fd, struct symbols_opened *ret,
		const uint8_t **more)
{
	struct symbols_open o = {.number = (uint32_t)(f - x->files), .part = part};
	const uint8_t *p;
	size_t n;
	memcpy(o.build, f->build, sizeof o.build);
	int r = sandbox_ask(x->child, SYMBOLS_OPEN, &o, sizeof o, &fd, 1, &p, &n);
	*ret = (struct symbols_opened){.state = SYMBOLS_NONE};
	if (r < 0 || n < sizeof *ret) {
		return r;
	}
	memcpy(ret, p, sizeof *ret);
	if (ret->id_bytes > SYMBOLS_ID_MAX || ret->name_bytes > SYMBOLS_NAME_MAX ||
	    ret->id_bytes + ret->name_bytes > n - sizeof *ret) {
		ret->state = SYMBOLS_NONE;
	}
	*more = p + sizeof *ret;
	return 0;
}

static int give_all(struct inlines *x, struct file *f, int program, struct symbols_opened *ret)
{
	const uint8_t *more = NULL;
	int r = give(x, f, SYMBOLS_PROGRAM, program, ret, &more);
	if (r == 0 && ret->state == SYMBOLS_WANTS_DEBUG) {
		int fd = open_by_id(more, ret->id_bytes, program);
		ret->state = SYMBOLS_NONE;
		r = fd >= 0 ? give(x, f, SYMBOLS_DEBUG, fd, ret, &more) : 0;
		base_close(&fd);
	}
	if (r == 0 && ret->state == SYMBOLS_WANTS_SHARED) {
		char name[SYMBOLS_NAME_MAX + 1];
		memcpy(name, more + ret->id_bytes, ret->name_bytes);
		name[ret->name_bytes] = 0;
		int fd = open_shared(more, ret->id_bytes, name, program);
		ret->state = SYMBOLS_READY; /* without it, too */
		r = fd >= 0 ? give(x, f, SYMBOLS_SHARED, fd, ret, &more) : 0;
		base_close(&fd);
	}
	return r;
}

/* Has the child that runs been given this file, and is there something in it? */
static bool ready(struct inlines *x, struct file *f)
{
	if (f->ended || x->ended || (f->child && !f->ready)) {
		return false;
	}
	if (f->child && f->child == sandbox_running(x->child)) {
		return true;
	}
	int program = open_foreign(-1, f->path, 0, NULL); /* the path comes from a trace */
	if (program < 0) {
		f->ended = true;
		return false;
	}
	struct symbols_opened opened;
	int child = x->child ? sandbox_start(x->child) : -ENOENT, r = 0;
	if (child >= 0) {
		tell_rights(x);
		r = give_all(x, f, program, &opened);
	}
	base_close(&program);
	if (child < 0) {
		end(x, x->child ? sandbox_problem(x->child)
				: "the program openetw-symbols is not found (it is built where libdw is)");
		return false;
	}
	if (r < 0) {
		end_file(x, f);
		return false;
	}
	f->child = child;
	f->ready = opened.state == SYMBOLS_READY;
	f->first = opened.first;
	return f->ready;
}

static struct file *file_of(struct inlines *x, const struct openetw_module *m)
{
	uint64_t key = map_hash(&x->places, m->path, strlen(m->path)) +
		       map_hash(&x->places, m->build_guid, SYMBOLS_GUID_BYTES);
	MAP_EACH(&x->places, key, at) {
		struct file *f = &x->files[map_value(&x->places, at)];
		if (strcmp(f->path, m->path) == 0 && memcmp(f->build, m->build_guid, SYMBOLS_GUID_BYTES) == 0) {
			return f;
		}
	}
	if (!VEC_ROOM_UP_TO(x->files, x->count, x->cap, SYMBOLS_FILES_MAX)) {
		return NULL;
	}
	struct file *f = &x->files[x->count];
	*f = (struct file){.path = strdup(m->path)};
	if (!f->path || map_add(&x->places, key, x->count) < 0) {
		free(f->path);
		return NULL;
	}
	memcpy(f->build, m->build_guid, SYMBOLS_GUID_BYTES);
	x->count++;
	return f;
}

/* ---- addresses ----------------------------------------------------------------------------------- */

/* free(); NULL: nothing was put into that function. */
static char *look(struct inlines *x, struct file *f, uint64_t at)
{
	struct symbols_look q = {.number = (uint32_t)(f - x->files), .address = at};
	const uint8_t *p;
	size_t n;
	int r = sandbox_ask(x->child, SYMBOLS_LOOK, &q, sizeof q, NULL, 0, &p, &n);
	if (r < 0) {
		end_file(x, f);
		return NULL;
	}
	n = strnlen((const char *)p, BASE_MIN(n, SYMBOLS_TEXT_MAX));
	return n > 0 ? strndup((const char *)p, n) : NULL;
}

const char *inlines_at(struct inlines *x, const struct openetw_module *m, uint64_t address)
{
	struct file *f = x && m->build_guid && m->path[0] == '/' ? file_of(x, m) : NULL;
	if (!f || (!f->child && !ready(x, f))) {
		return NULL;
	}
	uint64_t at = address - m->base + f->first;
	struct tally_row *row = tally_rowf(&x->known, "%u:%llx", (unsigned)(f - x->files), (unsigned long long)at);
	if (!row) {
		return NULL;
	}
	if (!row->seen && ready(x, f)) {
		row->seen = 1;
		char *text = look(x, f, at);
		if (text && VEC_ROOM(x->texts, x->text_count, x->text_cap)) {
			x->texts[x->text_count++] = text;
			row->v[0] = x->text_count;
		} else {
			free(text);
		}
	}
	return row->v[0] ? x->texts[row->v[0] - 1] : NULL;
}
