/* SPDX-License-Identifier: MIT */
#include "tools/common/output.h"

#include "tools/common/path.h"
#include "tools/common/unpacked.h"

#include <fcntl.h>
#include <openetw/decode.h>
#include <stdlib.h>
#include <sys/file.h>

#define PARTIAL ".partial"
#define OLD     ".old"

struct cli_output {
	const struct cli_args *args;
	FILE *f;
	int dir; /* -1: standard output, a device or a FIFO */
	char name[NAME_MAX + 1], partial_name[NAME_MAX + 1];
	char *path, *partial;
};

static bool overwrite;
static struct cli_output *volatile begun[4];

static void remember(struct cli_output *now, struct cli_output *before)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(begun); i++) {
		if (begun[i] == before) {
			begun[i] = now;
			return;
		}
	}
}

void cli_output_abandon(void)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(begun); i++) {
		struct cli_output *o = begun[i];
		if (o) {
			unlinkat(o->dir, o->partial_name, 0);
		}
	}
}

void cli_output_overwrite(void)
{
	overwrite = true;
}

bool cli_output_overwrites(void)
{
	return overwrite;
}

/* A name with an ending, shortened where names may not be that long. */
static void with_ending(char out[NAME_MAX + 1], const char *name, const char *ending)
{
	size_t most = NAME_MAX - strlen(ending);
	while (most > 0 && strlen(name) > most && ((uint8_t)name[most] & 0xC0) == 0x80) {
		most--;
	}
	snprintf(out, NAME_MAX + 1, "%.*s%s", (int)most, name, ending);
}

static void path_beside(char *out, size_t cap, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	snprintf(out, cap, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
}

/* The earlier file gets out of the way. 0 or -errno; *ret_moved: it is FILE.old now. */
static int move_away(int dir, const char *name, const char *path, bool *ret_moved, struct diag *d)
{
	char old[NAME_MAX + 1], old_path[PATH_MAX];
	struct stat st;
	*ret_moved = false;
	int there = open_output_check(dir, name, path, d);
	if (there <= 0 || overwrite) {
		return there < 0 ? there : 0;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size == 0) {
		return 0; /* nothing is lost with an empty one */
	}
	with_ending(old, name, OLD);
	path_beside(old_path, sizeof old_path, path, old);
	int err = open_output_check(dir, old, old_path, d);
	if (err >= 0 && renameat(dir, name, dir, old) < 0) {
		err = -errno;
		diag_at(d, UINT64_MAX, "%s: %s", old_path, strerror(-err));
	}
	if (err < 0) {
		return err;
	}
	*ret_moved = true;
	return 0;
}

static void say_old(const char *path)
{
	char old[NAME_MAX + 1];
	const char *slash = strrchr(path, '/');
	with_ending(old, slash ? slash + 1 : path, OLD);
	fprintf(stderr, "the earlier %s is %s now\n", path, old);
}

/* ---- whole files ------------------------------------------------------------------------------- */

static struct cli_output *refuse(struct cli_output *o, const struct cli_args *a, int err, const struct diag *d)
{
	fprintf(stderr, "openetw %s: cannot write %s\n", a->command->name, d->text[0] ? d->text : strerror(-err));
	if (o) {
		base_close(&o->dir);
		free(o->path);
		free(o->partial);
		free(o);
	}
	return NULL;
}

/* Is it one of the files that are read? `word` is how the command line has it, perhaps among them. */
static bool is_input(const char *path, const char *word, const char *const *files, uint32_t count, struct diag *d)
{
	struct stat out, in;
	for (uint32_t i = 0; i < count && stat(path, &out) == 0; i++) {
		if (files[i] && files[i] != word && S_ISREG(out.st_mode) && stat(files[i], &in) == 0 &&
		    in.st_ino == out.st_ino && in.st_dev == out.st_dev) {
			diag_at(d, UINT64_MAX, "%s: it is one of the files that are read", path);
			return true;
		}
	}
	return false;
}

static bool is_stream(const char *path)
{
	struct stat st;
	return strncmp(path, "/dev/", 5) == 0 ||
	       (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)));
}

/* Opens FILE.partial beside FILE. Descriptor or -errno. */
static int open_partial(struct cli_output *o, struct diag *d)
{
	struct stat st;
	mode_t mode = 0666;
	char whole[PATH_MAX];
	o->dir = open_output_dir(o->path, o->name, d);
	if (o->dir < 0) {
		return o->dir;
	}
	/* What cannot be replaced is told before the work, not after it. */
	int err = open_output_check(o->dir, o->name, o->path, d);
	if (err < 0) {
		return err;
	}
	bool there = err > 0 && fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	with_ending(o->partial_name, o->name, PARTIAL);
	path_beside(whole, sizeof whole, o->path, o->partial_name);
	o->partial = strdup(whole);
	if (!o->partial) {
		return -ENOMEM;
	}
	int fd = open_output_at(o->dir, o->partial_name, o->partial, OPEN_OUTPUT_REUSE, there ? 0600 : mode, d);
	if (fd < 0) {
		return fd;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		diag_at(d, UINT64_MAX, "%s: another process writes it", o->partial);
		err = -EBUSY;
	} else if (ftruncate(fd, 0) < 0 || (there && fchmod(fd, st.st_mode & 0777) < 0)) {
		err = -errno;
		diag_at(d, UINT64_MAX, "%s: %s", o->partial, strerror(errno));
	}
	if (err < 0) {
		close(fd);
		return err;
	}
	remember(o, NULL);
	return fd;
}

struct cli_output *cli_output_open(const struct cli_args *a, const char *path, bool text)
{
	struct cli_output *o = calloc(1, sizeof *o);
	char mapped[PATH_MAX];
	struct diag d;
	int fd = -1;
	diag_clear(&d);
	if (!o) {
		return refuse(NULL, a, -ENOMEM, &d);
	}
	o->args = a;
	o->dir = -1;
	if (text && strcmp(path, "-") == 0) {
		o->f = stdout;
		return o;
	}
	o->path = strdup(cli_path_told(path, mapped));
	if (!o->path) {
		return refuse(o, a, -ENOMEM, &d);
	}
	if (is_input(o->path, path, (const char *const *)a->words, (uint32_t)a->count, &d)) {
		return refuse(o, a, -EINVAL, &d);
	}
	if (text && is_stream(o->path)) {
		fd = open_output(o->path, OPEN_OUTPUT_STREAM, 0666, &d);
	} else {
		fd = open_partial(o, &d);
	}
	if (fd < 0) {
		return refuse(o, a, fd, &d);
	}
	o->f = fdopen(fd, "w");
	if (!o->f) {
		close(fd);
		remember(NULL, o);
		return refuse(o, a, -ENOMEM, &d);
	}
	return o;
}

FILE *cli_output_file(struct cli_output *o)
{
	return o ? o->f : NULL;
}

const char *cli_output_partial(const struct cli_output *o)
{
	return o->partial;
}

static int put_in_place(struct cli_output *o)
{
	struct diag d;
	bool moved;
	diag_clear(&d);
	int err = move_away(o->dir, o->name, o->path, &moved, &d);
	if (err == 0 && renameat(o->dir, o->partial_name, o->dir, o->name) < 0) {
		err = -errno;
		diag_at(&d, UINT64_MAX, "%s: %s", o->path, strerror(errno));
	}
	if (err < 0) {
		fprintf(stderr, "openetw %s: cannot write %s; it is in %s\n", o->args->command->name, d.text,
			o->partial);
		return CLI_FAILED;
	}
	if (moved) {
		fprintf(stderr, "openetw %s: ", o->args->command->name);
		say_old(o->path);
	}
	return CLI_OK;
}

static void leave_partial(struct cli_output *o)
{
	struct stat st;
	if (fstatat(o->dir, o->partial_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0) {
		fprintf(stderr, "openetw %s: what was written so far is in %s, and is not whole\n",
			o->args->command->name, o->partial);
	} else {
		unlinkat(o->dir, o->partial_name, 0);
	}
}

int cli_output_close(struct cli_output *o, bool whole)
{
	int status = CLI_OK;
	if (!o || o->f == stdout) {
		free(o);
		return CLI_OK; /* main looks after standard output */
	}
	remember(NULL, o);
	errno = 0;
	bool ok = !ferror(o->f);
	ok = fclose(o->f) == 0 && ok;
	if (!ok) {
		fprintf(stderr, "openetw %s: cannot write %s: %s\n", o->args->command->name, o->path,
			strerror(errno ? errno : EIO));
		status = CLI_FAILED;
	}
	/* Where standard output takes no more, the verb ended early. */
	bool read = fflush(stdout) == 0 && !ferror(stdout);
	if (o->dir >= 0 && whole && ok && read && !cli_interrupted()) {
		status = put_in_place(o);
	} else if (o->dir >= 0) {
		leave_partial(o);
	}
	base_close(&o->dir);
	free(o->path);
	free(o->partial);
	free(o);
	return status;
}

int cli_output_try(const char *to, struct diag *d)
{
	char name[NAME_MAX + 1];
	int dir = open_output_dir(to, name, d);
	int err = dir < 0 ? dir : open_output_check(dir, name, to, d);
	if (err >= 0 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		err = -errno;
		diag_at(d, UINT64_MAX, "%s: %s", to, strerror(errno));
	}
	base_close(&dir);
	return err < 0 ? err : 0;
}

void cli_output_private(void)
{
	umask(umask(077) | 077);
}

static mode_t usual_mode(void)
{
	mode_t mask = umask(022);
	umask(mask);
	return 0666 & ~mask;
}

static int copy(const char *from, FILE *to)
{
	char buffer[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = -1;
	while (in >= 0 && (n = read(in, buffer, sizeof buffer)) > 0 && fwrite(buffer, 1, (size_t)n, to) == (size_t)n) {
	}
	int err = n == 0 && !ferror(to) ? 0 : -(errno ? errno : EIO);
	base_close(&in);
	return err;
}

bool cli_output_move(const struct cli_args *a, const char *from, const char *to)
{
	char name[NAME_MAX + 1];
	struct diag d;
	bool moved;
	diag_clear(&d);
	int dir = open_output_dir(to, name, &d), fd = open_output(from, OPEN_OUTPUT_REUSE, 0600, &d);
	int err = dir < 0 ? dir : fd < 0 ? fd : move_away(dir, name, to, &moved, &d);
	if (err == 0 && fchmod(fd, usual_mode()) < 0) {
		err = -errno;
	}
	base_close(&fd);
	if (err == 0 && moved) {
		say_old(to);
	}
	if (err == 0 && renameat(AT_FDCWD, from, dir, name) < 0) {
		err = -errno;
	}
	base_close(&dir);
	if (err == -EXDEV) {
		struct cli_output *o = cli_output_open(a, to, false);
		if (!o) {
			return false;
		}
		err = copy(from, o->f);
		if (cli_output_close(o, err == 0) != CLI_OK || err < 0) {
			return false;
		}
		open_output_remove(from);
		return true;
	}
	if (err < 0) {
		fprintf(stderr, "openetw %s: cannot write %s\n", a->command->name, d.text[0] ? d.text : strerror(-err));
	}
	return err == 0;
}

int cli_write_whole(const char *path, const void *p, size_t n, bool built, struct diag *d)
{
	char name[NAME_MAX + 1], part[NAME_MAX + 1], ending[32];
	struct stat st, in;
	int dir = open_output_dir(path, name, d), fd = -1;
	if (dir < 0) {
		return dir;
	}
	bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	bool of_tree = built && there && S_ISREG(st.st_mode) && fstat(dir, &in) == 0 && st.st_uid == in.st_uid;
	int err = of_tree ? 0 : open_output_check(dir, name, path, d);
	snprintf(ending, sizeof ending, ".part%d", (int)getpid());
	with_ending(part, name, ending);
	if (err >= 0) {
		fd = open_output_at(dir, part, path, OPEN_OUTPUT_REUSE, 0666, d);
		err = fd < 0 ? fd : ftruncate(fd, 0) < 0 ? -errno : base_pwrite_all(fd, p, n, 0);
	}
	if (err == 0 && there) {
		fchmod(fd, st.st_mode & 0777);
	}
	if (fd >= 0 && close(fd) < 0 && err == 0) {
		err = -errno;
	}
	if (err == 0 && renameat(dir, part, dir, name) < 0) {
		err = -errno;
	}
	if (err < 0) {
		diag_at(d, UINT64_MAX, "%s: %s", path, strerror(-err));
		if (fd >= 0) {
			unlinkat(dir, part, 0);
		}
	}
	close(dir);
	return err;
}

void cli_output_drop(struct cli_output *o)
{
	if (o && o->f != stdout && fflush(o->f) == 0) {
		(void)!ftruncate(fileno(o->f), 0); /* what is empty is removed */
	}
	cli_output_close(o, false);
}

/* ---- what sessions write ----------------------------------------------------------------------- */

/* Does a session write it? They hold locks on their files. */
static bool is_written(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	base_close(&fd);
	return held;
}

void cli_way_make(const char *path, struct cli_way *w)
{
	char name[NAME_MAX + 1];
	struct stat st;
	struct diag d;
	diag_clear(&d);
	w->moved = false;
	if (snprintf(w->path, sizeof w->path, "%s", path) >= (int)sizeof w->path) {
		return;
	}
	int dir = open_output_dir(path, name, &d);
	if (dir >= 0 && !is_written(dir, name) && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    move_away(dir, name, path, &w->moved, &d) == 0 && w->moved) {
		say_old(path);
		/* The next one is for the same eyes. */
		int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			fchmod(fd, st.st_mode & 0777);
			close(fd);
		}
	}
	base_close(&dir);
}

void cli_way_back(struct cli_way *w)
{
	char name[NAME_MAX + 1], old[NAME_MAX + 1];
	struct stat st;
	int dir = w->moved ? open_output_dir(w->path, name, NULL) : -1;
	/* Unless there is something in the new one. */
	if (dir >= 0 && (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size == 0)) {
		with_ending(old, name, OLD);
		if (renameat(dir, old, dir, name) == 0) {
			fprintf(stderr, "%s is in its place again\n", w->path);
		}
	}
	base_close(&dir);
	w->moved = false;
}

/* The file that the properties name, mapped in place; NULL: none. `cap` is what the structure has for it. */
static char *file_of(EVENT_TRACE_PROPERTIES *p)
{
	char *file = p->LogFileNameOffset ? (char *)p + p->LogFileNameOffset : NULL;
	char mapped[PATH_MAX];
	if (!file || !*file) {
		return NULL;
	}
	const char *to = cli_path_told(file, mapped);
	if (to != file) { /* which is shorter */
		memmove(file, to, strlen(to) + 1);
	}
	return file;
}

uint32_t cli_start_trace(TRACEHANDLE *ret, const char *name, EVENT_TRACE_PROPERTIES *p)
{
	const uint32_t rows = EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE |
			      EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC;
	struct cli_way way = {0};
	const char *file = file_of(p);
	if (file && !(p->LogFileMode & rows)) {
		cli_way_make(file, &way);
	}
	uint32_t code = StartTraceA(ret, name, p);
	if (code) {
		cli_way_back(&way);
	}
	return code;
}

uint32_t cli_control_trace(TRACEHANDLE session, const char *name, EVENT_TRACE_PROPERTIES *p, ULONG control)
{
	struct cli_way way = {0};
	bool writes = control == EVENT_TRACE_CONTROL_FLUSH || control == EVENT_TRACE_CONTROL_UPDATE;
	const char *file = writes ? file_of(p) : NULL;
	if (file) {
		cli_way_make(file, &way);
	}
	uint32_t code = ControlTraceA(session, name, p, control);
	if (code) {
		cli_way_back(&way);
	}
	return code;
}

/* ---- merging ----------------------------------------------------------------------------------- */

static bool progress(void *ctx, uint64_t events)
{
	cli_progress_show(ctx, "%llu events", (unsigned long long)events);
	return !cli_signal_caught();
}

int cli_merge_files(const struct cli_args *a, const char *const *files, uint32_t count, const char *to, bool compress)
{
	struct cli_progress p;
	struct diag d;
	diag_clear(&d);
	for (uint32_t i = 0; i < count; i++) {
		cli_path_input((char *)(uintptr_t)files[i]); /* words of the command line */
	}
	struct cli_output *o =
		is_input(to, to, files, count, &d) ? refuse(NULL, a, -EINVAL, &d) : cli_output_open(a, to, false);
	if (!o) {
		return CLI_FAILED;
	}
	const char **plain = calloc(count, sizeof *plain);
	bool fine = plain != NULL, damaged = false;
	for (uint32_t i = 0; fine && i < count; i++) {
		plain[i] = cli_unpacked(a, files[i]);
		fine = plain[i] != NULL;
		damaged = damaged || cli_unpacked_damaged(files[i]);
	}
	if (!fine) {
		free(plain);
		cli_output_drop(o);
		return CLI_FAILED;
	}
	cli_progress_start(&p, true);
	cli_signals_catch();
	uint32_t code =
		openetw_merge(plain, count, cli_output_partial(o), compress ? OPENETW_MERGE_COMPRESS : 0, progress, &p);
	int signal = cli_signal_caught();
	cli_signals_restore();
	cli_progress_end(&p);
	int status = CLI_OK;
	if (signal) {
		cli_interrupt(signal);
		status = 128 + signal;
	} else if (code) {
		status = cli_fail(a, code, "cannot merge into %s", to);
	} else {
		(void)openetw_trace_describe(cli_output_partial(o),
					     NULL); /* as merges do on Windows; it is whole without */
	}
	free(plain);
	int end = cli_output_close(o, status == CLI_OK);
	return status != CLI_OK ? status : damaged ? CLI_FAILED : end;
}
