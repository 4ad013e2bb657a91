/* SPDX-License-Identifier: MIT
 *
 * The parent and the child of one unpacking. The child reads the archive and writes the output file;
 * it sends `struct report`s through a pipe, the last of which says how it ended. The parent trusts
 * none of them further than to print them.
 */
#include "tools/common/archive.h"

#include "base/printable.h"

static const struct {
	const char *name, *magic;
	size_t magic_bytes, at;
} kinds[] = {
	{"zip archive", "PK\3\4", 4, 0},
	{"zip archive", "PK\5\6", 4, 0}, /* an empty one */
	{"gzip file", "\x1f\x8b\x08", 3, 0},
	{"cabinet", "MSCF\0\0\0\0", 8, 0},
	{"7z archive", "7z\xbc\xaf\x27\x1c", 6, 0},
	{"xz file",
	 "\xfd"
	 "7zXZ\0",
	 6, 0},
	{"bzip2 file", "1AY&SY", 6, 4},
	{"zstd file", "\x28\xb5\x2f\xfd", 4, 0},
	{"tar archive", "ustar", 5, 257},
};

const char *cli_archive_kind(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
		if (n >= kinds[i].at + kinds[i].magic_bytes &&
		    memcmp(p + kinds[i].at, kinds[i].magic, kinds[i].magic_bytes) == 0) {
			return kinds[i].name;
		}
	}
	return NULL;
}

#ifndef OPENETW_ARCHIVES

int cli_archive_unpack(int in, int out, uint64_t most_bytes, cli_archive_progress_fn *progress, void *ctx,
		       struct cli_archive_result *ret, struct diag *d)
{
	memset(ret, 0, sizeof *ret);
	diag_at(d, UINT64_MAX,
		"this build of openetw cannot unpack archives; unpack it first, or install the "
		"package libarchive-dev and build openetw again");
	return -ENOTSUP;
}

#else

#include "base/confine.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#define BLOCK_BYTES   65536u
#define MEMBERS_MAX   100000u
#define REPORT_EVERY  (100u * 1000000u) /* ns */
#define TAR_MAGIC_END 262u

/* What the child says; smaller than PIPE_BUF, so a write is never split. */
struct report {
	bool final;
	int error; /* of cli_archive_unpack() */
	unsigned percent;
	struct cli_archive_result result;
	char text[200]; /* why there is an error */
};

/* Loaded by the child: libarchive brings so many libraries along that linking it would double the time
 * in which the command starts. */
#define LIBARCHIVE    "libarchive.so.13" /* its interface of 2011, to which functions are only added */
#define LIBARCHIVE_FUNCTIONS(X)              \
	X(archive_entry_filetype)            \
	X(archive_entry_is_data_encrypted)   \
	X(archive_entry_pathname)            \
	X(archive_entry_pathname_utf8)       \
	X(archive_error_string)              \
	X(archive_filter_code)               \
	X(archive_format)                    \
	X(archive_read_data_block)           \
	X(archive_read_free)                 \
	X(archive_read_new)                  \
	X(archive_read_next_header)          \
	X(archive_read_open1)                \
	X(archive_read_set_callback_data)    \
	X(archive_read_set_read_callback)    \
	X(archive_read_set_seek_callback)    \
	X(archive_read_set_skip_callback)    \
	X(archive_read_support_filter_bzip2) \
	X(archive_read_support_filter_gzip)  \
	X(archive_read_support_filter_xz)    \
	X(archive_read_support_filter_zstd)  \
	X(archive_read_support_format_7zip)  \
	X(archive_read_support_format_cab)   \
	X(archive_read_support_format_raw)   \
	X(archive_read_support_format_tar)   \
	X(archive_read_support_format_zip)   \
	X(archive_set_error)
static struct {
#define MEMBER(f) __typeof__(&f) f;
	LIBARCHIVE_FUNCTIONS(MEMBER)
#undef MEMBER
} la;

static bool load_libarchive(void)
{
	void *lib = dlopen(LIBARCHIVE, RTLD_NOW | RTLD_LOCAL);
	bool all = lib != NULL;
#define LOAD(f) all = all && (la.f = (__typeof__(la.f))dlsym(lib, #f)) != NULL;
	LIBARCHIVE_FUNCTIONS(LOAD)
#undef LOAD
	return all;
}

/* ---- the child ---------------------------------------------------------------------------------- */

struct child {
	int in, out, pipe;
	uint64_t in_bytes, at; /* of the archive */
	uint64_t most_bytes, last_ns;
	bool loaded; /* libarchive */
	struct report report;
	uint8_t packed[BLOCK_BYTES], plain[BLOCK_BYTES];
};

static void send_report(struct child *c)
{
	ssize_t n;
	do {
		n = write(c->pipe, &c->report, sizeof c->report);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof c->report) {
		_exit(1); /* the parent is gone */
	}
}

static int fail(struct child *c, int error, const char *text)
{
	snprintf(c->report.text, sizeof c->report.text, "%s", text);
	return error;
}

/* 0 or -errno, which ends everything. */
static int put(struct child *c, const uint8_t *p, size_t n)
{
	if (n > c->most_bytes - c->report.result.bytes) {
		char text[120];
		snprintf(text, sizeof text, "it unpacks to more than %llu MiB, for which there is no room",
			 (unsigned long long)(c->most_bytes >> 20));
		return fail(c, -EFBIG, text);
	}
	while (n > 0) {
		ssize_t w = write(c->out, p, n);
		if (w < 0 && errno != EINTR) {
			int err = -errno;
			return fail(c, err, strerror(-err));
		}
		w = w > 0 ? w : 0;
		p += w;
		n -= (size_t)w;
		c->report.result.bytes += (uint64_t)w;
	}
	uint64_t now = clock_read_system_ns();
	if (now - c->last_ns >= REPORT_EVERY) {
		c->last_ns = now;
		c->report.percent = c->in_bytes ? (unsigned)(100 * BASE_MIN(c->at, c->in_bytes) / c->in_bytes) : 0;
		send_report(c);
	}
	return 0;
}

/* Nothing could be unpacked: an error. Something could: the caller gets that, and the reason. */
static int damaged(struct child *c, const char *why)
{
	char text[160];
	struct cli_archive_result *r = &c->report.result;
	printable_copy(text, sizeof text, why ? why : "damaged", strlen(why ? why : "damaged"));
	snprintf(r->damage, sizeof r->damage, "the archive is damaged or cut: %s", text);
	return r->bytes ? 0 : fail(c, -EBADMSG, r->damage);
}

/* gzip goes through zlib: libarchive does not check its checksums. */

/* The next bytes of the archive for zlib. 0 at the end, -errno. */
static ssize_t feed(struct child *c, z_stream *z)
{
	ssize_t n;
	do {
		n = pread(c->in, c->packed, sizeof c->packed, (off_t)c->at);
	} while (n < 0 && errno == EINTR);
	c->at += n > 0 ? (uint64_t)n : 0;
	z->next_in = c->packed;
	z->avail_in = n > 0 ? (uInt)n : 0;
	return n < 0 ? -errno : n;
}

/* Members one behind the other make one file; what follows them is padding. */
static bool another_member(struct child *c, z_stream *z)
{
	return (z->avail_in > 0 || feed(c, z) > 0) && z->next_in[0] == 0x1f && inflateReset(z) == Z_OK;
}

static int unpack_gzip(struct child *c, z_stream *z)
{
	int code = Z_OK, err = 0;
	while (err == 0 && code == Z_OK) {
		if (z->avail_in == 0) {
			ssize_t n = feed(c, z);
			if (n <= 0) {
				return damaged(c, n < 0 ? strerror((int)-n) : "its end is missing");
			}
		}
		z->next_out = c->plain;
		z->avail_out = sizeof c->plain;
		code = inflate(z, Z_NO_FLUSH);
		err = put(c, c->plain, sizeof c->plain - z->avail_out);
		if (code == Z_STREAM_END && another_member(c, z)) {
			code = Z_OK;
		}
	}
	if (err == 0 && code != Z_STREAM_END) {
		err = damaged(c, z->msg ? z->msg : "what is in it makes no sense");
	}
	return err == 0 && c->report.result.bytes == 0 ? fail(c, -ENOENT, "there is nothing in it") : err;
}

/* A tar file inside is libarchive's. */
static bool holds_tar(struct child *c, z_stream *z)
{
	z->next_out = c->plain;
	z->avail_out = TAR_MAGIC_END;
	return feed(c, z) > 0 && inflate(z, Z_NO_FLUSH) == Z_OK && z->avail_out == 0 &&
	       memcmp(c->plain + TAR_MAGIC_END - 5, "ustar", 5) == 0;
}

/* False: it is no gzip file, or a tar file is in it. */
static bool try_gzip(struct child *c, int *ret_err)
{
	uint8_t magic[3];
	z_stream z = {0};
	if (pread(c->in, magic, 3, 0) != 3 || memcmp(magic, "\x1f\x8b\x08", 3) != 0) {
		return false;
	}
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) {
		*ret_err = fail(c, -ENOMEM, "out of memory");
		return true;
	}
	bool tar = holds_tar(c, &z);
	if (!tar) {
		c->at = 0;
		z.avail_in = 0;
		inflateReset(&z);
		*ret_err = unpack_gzip(c, &z);
	}
	inflateEnd(&z);
	return !tar;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **ret)
{
	struct child *c = ctx;
	ssize_t n;
	do {
		n = pread(c->in, c->packed, sizeof c->packed, (off_t)c->at);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		la.archive_set_error(a, errno, "%s", strerror(errno));
		return -1;
	}
	c->at += (uint64_t)n;
	*ret = c->packed;
	return n;
}

static la_int64_t on_seek(struct archive *a, void *ctx, la_int64_t by, int whence)
{
	struct child *c = ctx;
	int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)c->at : (int64_t)c->in_bytes;
	if (by < -from || by > INT64_MAX - from) {
		la.archive_set_error(a, EINVAL, "a place outside of the archive");
		return ARCHIVE_FATAL;
	}
	c->at = (uint64_t)(from + by);
	return from + by;
}

static la_int64_t on_skip(struct archive *a, void *ctx, la_int64_t by)
{
	struct child *c = ctx;
	uint64_t most = c->in_bytes > c->at ? c->in_bytes - c->at : 0;
	uint64_t step = by > 0 ? BASE_MIN((uint64_t)by, most) : 0;
	c->at += step;
	return (la_int64_t)step;
}

/* Only what libraries unpack in this process: a filter that needs a program answers with a warning. */
static struct archive *open_archive(struct child *c)
{
	struct archive *a = la.archive_read_new();
	if (!a) {
		fail(c, 0, "out of memory");
		return NULL;
	}
	la.archive_read_support_filter_gzip(a);
	la.archive_read_support_filter_bzip2(a);
	la.archive_read_support_filter_xz(a);
	la.archive_read_support_filter_zstd(a);
	la.archive_read_support_format_zip(a);
	la.archive_read_support_format_cab(a);
	la.archive_read_support_format_7zip(a);
	la.archive_read_support_format_tar(a);
	la.archive_read_support_format_raw(a);
	la.archive_read_set_read_callback(a, on_read);
	la.archive_read_set_seek_callback(a, on_seek);
	la.archive_read_set_skip_callback(a, on_skip);
	la.archive_read_set_callback_data(a, c);
	c->at = 0;
	if (la.archive_read_open1(a) != ARCHIVE_OK) {
		damaged(c, la.archive_error_string(a));
		la.archive_read_free(a);
		return NULL;
	}
	return a;
}

static const char *name_of(struct archive_entry *e)
{
	const char *name = la.archive_entry_pathname_utf8(e);
	return name ? name : la.archive_entry_pathname(e) ? la.archive_entry_pathname(e) : "";
}

static bool is_trace(struct archive_entry *e)
{
	const char *name = name_of(e);
	size_t n = strlen(name);
	return n >= 4 && strcasecmp(name + n - 4, ".etl") == 0;
}

/* The next file; directories and links are passed over. */
static int next_file(struct archive *a, struct archive_entry **ret, unsigned *members)
{
	int r;
	do {
		r = la.archive_read_next_header(a, ret);
	} while ((r == ARCHIVE_OK || r == ARCHIVE_WARN) && ++*members <= MEMBERS_MAX &&
		 la.archive_entry_filetype(*ret) != AE_IFREG && la.archive_entry_filetype(*ret) != 0);
	return *members > MEMBERS_MAX ? ARCHIVE_FATAL : r;
}

/* A hole, as tar files have them, up to this place. */
static int put_zeros(struct child *c, uint64_t to)
{
	int err = 0;
	while (err == 0 && c->report.result.bytes < to) {
		memset(c->plain, 0, sizeof c->plain);
		err = put(c, c->plain, (size_t)BASE_MIN(to - c->report.result.bytes, sizeof c->plain));
	}
	return err;
}

static int unpack_member(struct child *c, struct archive *a, struct archive_entry *e)
{
	const char *name = la.archive_format(a) == ARCHIVE_FORMAT_RAW ? "" : name_of(e);
	printable_copy(c->report.result.member, sizeof c->report.result.member, name, strlen(name));
	if (la.archive_entry_is_data_encrypted(e) > 0) {
		return fail(c, -ENOTSUP, "the trace in it is encrypted");
	}
	const void *p;
	size_t n;
	la_int64_t at;
	int r = ARCHIVE_OK, err = 0;
	/* Block by block: archive_read_data() drops what stands before an error. */
	while (err == 0 && (r = la.archive_read_data_block(a, &p, &n, &at)) == ARCHIVE_OK) {
		err = at < 0 ? -EBADMSG : put_zeros(c, (uint64_t)at);
		err = err == 0 ? put(c, p, n) : err;
	}
	if (err == 0 && r != ARCHIVE_EOF) { /* a warning is as bad: bytes are missing or wrong */
		return damaged(c, la.archive_error_string(a));
	}
	return err == 0 && c->report.result.bytes == 0 ? fail(c, -ENOENT, "the trace in it is empty") : err;
}

/* `any`: the first file, whatever its name. *ret_files: how many files were passed. */
static int unpack_first(struct child *c, bool any, unsigned *ret_files)
{
	struct archive_entry *e;
	struct archive *a = open_archive(c);
	unsigned members = 0;
	int r, err = -ENOENT;
	*ret_files = 0;
	if (!a) {
		return -EBADMSG;
	}
	while ((r = next_file(a, &e, &members)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		/* What is not compressed and of no kind that libarchive knows: its "raw" takes anything. */
		if (la.archive_format(a) == ARCHIVE_FORMAT_RAW && la.archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE) {
			err = damaged(c, "its directory cannot be read");
			break;
		}
		bool trace = is_trace(e);
		++*ret_files;
		c->report.result.traces += trace;
		if (err == -ENOENT && (trace || any)) {
			err = unpack_member(c, a, e);
			if (err || c->report.result.damage[0]) {
				break;
			}
		}
	}
	/* Damage behind our member costs nothing. */
	if (err == -ENOENT && r != ARCHIVE_EOF && r != ARCHIVE_OK && !c->report.text[0]) {
		err = damaged(c, members > MEMBERS_MAX ? "too many members" : la.archive_error_string(a));
	}
	la.archive_read_free(a);
	return err;
}

static int unpack(struct child *c)
{
	unsigned files;
	int err;
	if (try_gzip(c, &err)) {
		return err;
	}
	if (!c->loaded) {
		return fail(c, -ENOTSUP, "unpacking it needs " LIBARCHIVE ": install the package libarchive13");
	}
	err = unpack_first(c, false, &files);
	if (err == -ENOENT && files == 1 && !c->report.text[0]) {
		err = unpack_first(c, true, &files);
	}
	return err == -ENOENT && !c->report.text[0] ? fail(c, err, "there is no .etl file in it") : err;
}

static void child_main(int in, int out, int pipe, uint64_t in_bytes, uint64_t most_bytes, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* the parent decides */
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() != parent) {
		_exit(1);
	}
	bool loaded = load_libarchive();
	(void)confine(CONFINE_DESCRIBE);
	struct child *c = calloc(1, sizeof *c);
	if (!c) {
		_exit(1);
	}
	c->in = in;
	c->out = out;
	c->pipe = pipe;
	c->in_bytes = in_bytes;
	c->most_bytes = most_bytes;
	c->last_ns = clock_read_system_ns();
	c->loaded = loaded;
	c->report.error = unpack(c);
	c->report.final = true;
	send_report(c);
	_exit(0);
}

/* ---- the parent --------------------------------------------------------------------------------- */

static void make_printable(char *text, size_t cap)
{
	char safe[256];
	text[cap - 1] = 0;
	size_t n = printable_copy(safe, BASE_MIN(sizeof safe, cap), text, strlen(text));
	memcpy(text, safe, n + 1);
}

/* Follows the child's reports. 0: the last one is in *ret. */
static int follow(int pipe, cli_archive_progress_fn *progress, void *ctx, struct report *ret)
{
	for (;;) {
		ssize_t n = read(pipe, ret, sizeof *ret);
		bool whole = n == (ssize_t)sizeof *ret;
		if (whole && ret->final) {
			return 0;
		}
		if (!whole && !(n < 0 && errno == EINTR)) {
			return -EBADMSG;
		}
		if (progress && !progress(ctx, whole ? ret->percent : 0, whole ? ret->result.bytes : 0)) {
			return -ECANCELED;
		}
	}
}

int cli_archive_unpack(int in, int out, uint64_t most_bytes, cli_archive_progress_fn *progress, void *ctx,
		       struct cli_archive_result *ret, struct diag *d)
{
	struct report r;
	struct stat st;
	int ends[2], err = 0;
	memset(ret, 0, sizeof *ret);
	memset(&r, 0, sizeof r);
	if (fstat(in, &st) < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		err = -errno;
		diag_at(d, UINT64_MAX, "%s", strerror(-err));
		return err;
	}
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		close(ends[0]);
		child_main(in, out, ends[1], (uint64_t)st.st_size, most_bytes, parent);
	}
	err = child < 0 ? -errno : 0;
	close(ends[1]);
	if (child > 0) {
		err = follow(ends[0], progress, ctx, &r);
		if (err) {
			kill(child, SIGKILL);
		}
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	close(ends[0]);
	if (err == 0) {
		make_printable(r.result.member, sizeof r.result.member);
		make_printable(r.result.damage, sizeof r.result.damage);
		make_printable(r.text, sizeof r.text);
		*ret = r.result;
		err = r.error > 0 || r.error < -4095 ? -EBADMSG : r.error;
		if (err) {
			diag_at(d, UINT64_MAX, "%s", r.text[0] ? r.text : strerror(-err));
		}
		return err;
	}
	diag_at(d, UINT64_MAX, "%s",
		err == -ECANCELED ? "interrupted"
		: err == -EBADMSG ? "the program that unpacks it crashed, or needed too much time or memory"
				  : strerror(-err));
	return err;
}

#endif
