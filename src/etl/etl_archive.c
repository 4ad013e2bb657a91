/* SPDX-License-Identifier: MIT
 *
 * Layouts: RFC 1952 (gzip), PKWARE's APPNOTE (zip), Microsoft's cabinet format. Sizes and places in
 * an archive are hints: what is read is bounded by the file, what is written by the unpacked data.
 */
#include "etl/etl_archive.h"
#include "etl/inflate.h"
#include "etl/lzx.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>

#define INPUT_BYTES    65536u
#define OUTPUT_MAX     (64ull << 30) /* more than any trace; less than a bomb */
#define NAME_MAX_BYTES 512u

struct unpack {
	const struct etl_source *s;
	uint64_t at, end; /* of the packed data */
	int (*write)(void *ctx, const uint8_t *p, size_t n);
	void *ctx;
	struct diag *d;
	uint64_t skip; /* unpacked bytes that belong to other members */
	uint64_t want; /* unpacked bytes of ours still to come; UINT64_MAX: all */
	uint64_t done;
	uint32_t crc;
	uint8_t in[INPUT_BYTES];
	struct inflate z;
};

static long unpack_more(void *ctx, const uint8_t **ret)
{
	struct unpack *u = ctx;
	uint64_t n = BASE_MIN(u->end - u->at, sizeof u->in);
	long got = n ? etl_source_read(u->s, u->at, u->in, (size_t)n) : 0;
	if (got > 0) {
		u->at += (uint64_t)got;
		*ret = u->in;
	}
	return got;
}

static int unpack_write(void *ctx, const uint8_t *p, size_t n)
{
	struct unpack *u = ctx;
	size_t skip = (size_t)BASE_MIN(u->skip, n);
	u->skip -= skip;
	p += skip;
	n = (size_t)BASE_MIN(n - skip, u->want);
	u->want -= n;
	u->done += n;
	if (u->done > OUTPUT_MAX) {
		diag_at(u->d, u->at, "it unpacks to more than %llu GiB", OUTPUT_MAX >> 30);
		return -EFBIG;
	}
	u->crc = crc32_add(u->crc, p, n);
	return n ? u->write(u->ctx, p, n) : 0;
}

static int damaged(struct unpack *u, int r, const char *what)
{
	if (r == -EBADMSG || r == -ENODATA) {
		diag_at(u->d, u->at, "%s after %llu unpacked bytes",
			r == -ENODATA ? "the archive ends" : what, (unsigned long long)u->done);
	}
	return r;
}

enum etl_archive_kind etl_archive_kind_of(const uint8_t *p, size_t n)
{
	if (n >= 18 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8) {
		return ETL_ARCHIVE_GZIP;
	}
	if (n >= 30 && memcmp(p, "PK\3\4", 4) == 0) {
		return ETL_ARCHIVE_ZIP;
	}
	if (n >= 36 && memcmp(p, "MSCF\0\0\0\0", 8) == 0) {
		return ETL_ARCHIVE_CAB;
	}
	return ETL_ARCHIVE_NONE;
}

/* ---- gzip ---- */

static int gzip_skip(struct inflate *z, unsigned n)
{
	while (n-- > 0) {
		if (inflate_byte(z) < 0) {
			return -ENODATA;
		}
	}
	return 0;
}

static int gzip_number(struct inflate *z, unsigned n, uint32_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < n; i++) {
		int b = inflate_byte(z);
		if (b < 0) {
			return -ENODATA;
		}
		*ret |= (uint32_t)b << 8 * i;
	}
	return 0;
}

/* The fixed part and the optional fields behind it; the two magic bytes have been read. */
static int gzip_header(struct inflate *z)
{
	enum { HAS_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };
	int method = inflate_byte(z), flags = inflate_byte(z);
	if (method != 8 || flags < 0) {
		return method < 0 || flags < 0 ? -ENODATA : -EBADMSG;
	}
	uint32_t n = 0;
	int r = gzip_skip(z, 6);
	if (r == 0 && (flags & HAS_EXTRA)) {
		r = gzip_number(z, 2, &n);
		r = r ? r : gzip_skip(z, n);
	}
	for (int text = HAS_NAME; r == 0 && text <= HAS_COMMENT; text <<= 1) {
		int b = flags & text ? 1 : 0;
		while (b > 0) {
			b = inflate_byte(z);
		}
		r = b < 0 ? -ENODATA : 0;
	}
	return r == 0 && (flags & HAS_CRC) ? gzip_skip(z, 2) : r;
}

static int gzip_unpack(struct unpack *u)
{
	int r = 0;
	u->end = u->s->bytes;
	/* Members one behind the other make one file. */
	for (bool first = true; r == 0; first = false) {
		int a = inflate_byte(&u->z), b = inflate_byte(&u->z);
		if (!first && !(a == 0x1f && b == 0x8b)) {
			return 0; /* padding */
		}
		uint32_t crc, bytes;
		u->crc = 0;
		uint64_t before = u->done;
		r = gzip_header(&u->z);
		r = r ? r : inflate_stream(&u->z);
		r = r ? r : gzip_number(&u->z, 4, &crc);
		r = r ? r : gzip_number(&u->z, 4, &bytes);
		if (r == 0 && (crc != u->crc || bytes != (uint32_t)(u->done - before))) {
			r = -EBADMSG;
		}
	}
	return damaged(u, r, "the gzip data is damaged");
}

/* ---- zip ---- */

struct member {
	uint64_t at; /* of its local header (zip) */
	uint64_t packed, plain;
	uint32_t crc;
	uint16_t method, flags;
};

static bool is_trace_name(const uint8_t *name, size_t n)
{
	return n >= 4 && strncasecmp((const char *)name + n - 4, ".etl", 4) == 0;
}

/* One row of the central directory at p; its length or 0. */
static size_t zip_row(const uint8_t *p, size_t n, struct member *m, bool *ret_trace)
{
	if (n < 46 || memcmp(p, "PK\1\2", 4) != 0) {
		return 0;
	}
	size_t name = le16_get(p + 28), extra = le16_get(p + 30);
	size_t total = 46 + name + extra + le16_get(p + 32);
	if (total > n) {
		return 0;
	}
	*m = (struct member){.at = le32_get(p + 42),
			     .packed = le32_get(p + 20),
			     .plain = le32_get(p + 24),
			     .crc = le32_get(p + 16),
			     .method = le16_get(p + 10),
			     .flags = le16_get(p + 8)};
	*ret_trace = is_trace_name(p + 46, name);
	/* Large ones: 64-bit values in an extra field, only those that do not fit. */
	struct bytes b = bytes_of(p + 46 + name, extra);
	while (bytes_left(&b) >= 4) {
		uint16_t id = bytes_u16(&b), size = bytes_u16(&b);
		const uint8_t *q = bytes_take(&b, size);
		if (id != 1 || !q) {
			continue;
		}
		struct bytes v = bytes_of(q, size);
		m->plain = m->plain == UINT32_MAX ? bytes_u64(&v) : m->plain;
		m->packed = m->packed == UINT32_MAX ? bytes_u64(&v) : m->packed;
		m->at = m->at == UINT32_MAX ? bytes_u64(&v) : m->at;
	}
	return total;
}

/* 0, -ENOENT, -ENOMEM, -errno; -EBADMSG: there is no directory. */
static int zip_find(struct unpack *u, struct member *ret)
{
	enum { TAIL = 65557, DIRECTORY_MAX = 1 << 24 };
	uint64_t from = u->s->bytes > TAIL ? u->s->bytes - TAIL : 0;
	size_t n = (size_t)(u->s->bytes - from);
	uint8_t *tail = malloc(n);
	if (!tail) {
		return -ENOMEM;
	}
	long got = etl_source_read(u->s, from, tail, n);
	long i = got - 22;
	while (i >= 0 && memcmp(tail + i, "PK\5\6", 4) != 0) {
		i--;
	}
	uint64_t size = i < 0 ? 0 : le32_get(tail + i + 12), at = i < 0 ? 0 : le32_get(tail + i + 16);
	if (i >= 20 && memcmp(tail + i - 20, "PK\6\7", 4) == 0) {
		uint8_t end64[56];
		uint64_t where = le64_get(tail + i - 20 + 8);
		if (etl_source_read(u->s, where, end64, sizeof end64) == (long)sizeof end64) {
			size = le64_get(end64 + 40);
			at = le64_get(end64 + 48);
		}
	}
	free(tail);
	if (got < 0) {
		return (int)got;
	}
	if (i < 0 || size > DIRECTORY_MAX || size < 46) {
		return -EBADMSG;
	}
	uint8_t *dir = malloc((size_t)size);
	if (!dir) {
		return -ENOMEM;
	}
	got = etl_source_read(u->s, at, dir, (size_t)size);
	unsigned members = 0;
	int r = -ENOENT;
	for (size_t k = 0, step; got > 0 && k < (size_t)got; k += step) {
		struct member m;
		bool trace;
		step = zip_row(dir + k, (size_t)got - k, &m, &trace);
		if (step == 0) {
			break;
		}
		members++;
		if (trace) {
			*ret = m;
			r = 0;
			break;
		}
		*ret = m;
	}
	free(dir);
	return got < 0 ? (int)got : members == 0 ? -EBADMSG : members == 1 ? 0 : r;
}

/* Without a directory, which stands at the end and is lost first: along the members, as long as they
 * tell how long they are. */
static int zip_scan(struct unpack *u, struct member *ret)
{
	enum { SIZES_BEHIND = 8 };
	uint64_t at = 0;
	for (;;) {
		uint8_t h[30 + NAME_MAX_BYTES];
		long n = etl_source_read(u->s, at, h, sizeof h);
		if (n < 30 || memcmp(h, "PK\3\4", 4) != 0) {
			return n < 0 ? (int)n : -ENOENT;
		}
		size_t name = le16_get(h + 26);
		*ret = (struct member){.at = at,
				       .packed = le32_get(h + 18),
				       .plain = le32_get(h + 22),
				       .crc = le32_get(h + 14),
				       .method = le16_get(h + 8),
				       .flags = le16_get(h + 6)};
		bool open_end = (ret->flags & SIZES_BEHIND) || ret->packed == UINT32_MAX;
		if (open_end) {
			ret->packed = ret->plain = UINT64_MAX;
		}
		if (is_trace_name(h + 30, BASE_MIN(name, (size_t)n - 30))) {
			return 0;
		}
		if (open_end) {
			return -ENOENT;
		}
		at += 30u + name + le16_get(h + 28) + ret->packed;
	}
}

static int zip_unpack(struct unpack *u)
{
	struct member m = {0};
	int r = zip_find(u, &m);
	if (r == -EBADMSG) {
		r = zip_scan(u, &m);
	}
	if (r == -ENOENT) {
		diag_at(u->d, UINT64_MAX, "there is no .etl file in this zip archive");
	}
	if (r < 0) {
		return r;
	}
	uint8_t h[30];
	long got = etl_source_read(u->s, m.at, h, sizeof h);
	if (got != (long)sizeof h || memcmp(h, "PK\3\4", 4) != 0) {
		diag_at(u->d, m.at, "the zip archive has no member where its directory says");
		return got < 0 ? (int)got : -EBADMSG;
	}
	if ((m.flags & 1) || (m.method != 0 && m.method != 8)) {
		diag_at(u->d, m.at, "the trace in this zip archive is %s",
			m.flags & 1 ? "encrypted" : "compressed in a way other than deflate");
		return -ENOTSUP;
	}
	u->at = m.at + sizeof h + le16_get(h + 26) + le16_get(h + 28);
	u->end = m.packed < u->s->bytes - BASE_MIN(u->at, u->s->bytes) ? u->at + m.packed
								       : u->s->bytes;
	u->end = BASE_MAX(u->end, u->at);
	if (m.method == 8) {
		r = inflate_stream(&u->z);
	} else {
		const uint8_t *p;
		long n;
		while (r == 0 && (n = unpack_more(u, &p)) != 0) {
			r = n < 0 ? (int)n : unpack_write(u, p, (size_t)n);
		}
	}
	if (r == 0 && m.plain != UINT64_MAX && (u->done != m.plain || u->crc != m.crc)) {
		r = u->done < m.plain ? -ENODATA : -EBADMSG;
	}
	return damaged(u, r, "the zip data is damaged");
}

/* ---- cabinet ---- */

struct cab {
	uint64_t folders_at, files_at;
	unsigned folders, files, folder_reserve, data_reserve;
};

static int cab_text_skip(struct unpack *u, uint64_t *at)
{
	uint8_t b;
	do {
		if (etl_source_read(u->s, (*at)++, &b, 1) != 1) {
			return -EBADMSG;
		}
	} while (b);
	return 0;
}

static int cab_header(struct unpack *u, struct cab *c)
{
	enum { HAS_PREVIOUS = 1, HAS_NEXT = 2, HAS_RESERVE = 4 };
	uint8_t h[40];
	if (etl_source_read(u->s, 0, h, sizeof h) != (long)sizeof h) {
		return -EBADMSG;
	}
	unsigned flags = le16_get(h + 30);
	*c = (struct cab){.folders_at = 36,
			  .files_at = le32_get(h + 16),
			  .folders = le16_get(h + 26),
			  .files = le16_get(h + 28)};
	if (flags & HAS_RESERVE) {
		c->folders_at += 4u + le16_get(h + 36);
		c->folder_reserve = h[38];
		c->data_reserve = h[39];
	}
	int texts = (flags & HAS_PREVIOUS ? 2 : 0) + (flags & HAS_NEXT ? 2 : 0);
	int r = 0;
	while (r == 0 && texts-- > 0) {
		r = cab_text_skip(u, &c->folders_at);
	}
	return r;
}

/* The trace's folder; its place in it goes to u->skip and u->want. */
static int cab_find(struct unpack *u, const struct cab *c, unsigned *ret_folder)
{
	uint64_t at = c->files_at;
	for (unsigned i = 0; i < c->files; i++) {
		uint8_t f[16 + NAME_MAX_BYTES];
		long n = etl_source_read(u->s, at, f, sizeof f);
		if (n < 17) {
			return n < 0 ? (int)n : -EBADMSG;
		}
		size_t name = strnlen((const char *)f + 16, (size_t)n - 16);
		if (c->files == 1 || is_trace_name(f + 16, name)) {
			u->want = le32_get(f);
			u->skip = le32_get(f + 4);
			*ret_folder = le16_get(f + 8);
			return 0;
		}
		at += 16 + name + 1;
	}
	diag_at(u->d, UINT64_MAX, "there is no .etl file in this cabinet");
	return -ENOENT;
}

static int cab_block(struct unpack *u, bool zip, unsigned reserve, uint64_t *at)
{
	uint8_t h[8];
	if (etl_source_read(u->s, *at, h, sizeof h) != (long)sizeof h) {
		return -ENODATA;
	}
	unsigned packed = le16_get(h + 4), plain = le16_get(h + 6);
	u->at = *at + sizeof h + reserve;
	u->end = BASE_MIN(u->at + packed, u->s->bytes);
	*at = u->at + packed;
	u->z.in = u->z.end = NULL;
	u->z.bits = 0;
	u->z.bits_count = 0;
	uint64_t before = u->z.total;
	int r = 0;
	if (zip) {
		if (inflate_byte(&u->z) != 'C' || inflate_byte(&u->z) != 'K') {
			return u->end < *at ? -ENODATA : -EBADMSG;
		}
		r = inflate_stream(&u->z);
	} else {
		const uint8_t *p;
		long n;
		while (r == 0 && u->at < u->end && (n = unpack_more(u, &p)) != 0) {
			r = n < 0 ? (int)n : inflate_put(&u->z, p, (size_t)n);
		}
		int flushed = inflate_flush(&u->z);
		r = r ? r : flushed;
	}
	if (r == 0 && u->z.total - before != plain) {
		r = u->end < *at ? -ENODATA : -EBADMSG;
	}
	return r;
}

/* One data block of LZX is one frame. */
static int cab_block_lzx(struct unpack *u, struct lzx *z, unsigned reserve, uint64_t *at)
{
	uint8_t h[8], packed[UINT16_MAX], plain[LZX_FRAME];
	if (etl_source_read(u->s, *at, h, sizeof h) != (long)sizeof h) {
		return -ENODATA;
	}
	unsigned n = le16_get(h + 4), out = le16_get(h + 6);
	long got = etl_source_read(u->s, *at + sizeof h + reserve, packed, n);
	if (got < (long)n) {
		return got < 0 ? (int)got : -ENODATA;
	}
	*at += sizeof h + reserve + n;
	int r = lzx_frame(z, packed, n, plain, out);
	if (r == 0) {
		r = inflate_put(&u->z, plain, out);
		int flushed = inflate_flush(&u->z);
		r = r ? r : flushed;
	}
	return r;
}

static int cab_unpack(struct unpack *u)
{
	enum { STORED, MSZIP, QUANTUM, LZX, METHOD = 15 };
	struct cab c;
	unsigned folder = 0;
	int r = cab_header(u, &c);
	r = r ? r : cab_find(u, &c, &folder);
	if (r < 0) {
		return r;
	}
	uint8_t f[8];
	uint64_t at = c.folders_at + (uint64_t)folder * (sizeof f + c.folder_reserve);
	if (folder >= c.folders || etl_source_read(u->s, at, f, sizeof f) != (long)sizeof f) {
		diag_at(u->d, at, "the trace in this cabinet begins or ends in another one");
		return -ENOTSUP;
	}
	unsigned method = le16_get(f + 6) & METHOD, blocks = le16_get(f + 4);
	struct lzx *z = NULL;
	if (method == LZX) {
		r = lzx_create(f[7] & 31, &z); /* the window's bits stand above the method */
	}
	if ((method != STORED && method != MSZIP && method != LZX) || r == -EINVAL) {
		diag_at(u->d, at, "the cabinet is compressed with %s; MSZIP and LZX can be read",
			method == QUANTUM ? "Quantum" : "an unknown method");
		return -ENOTSUP;
	}
	at = le32_get(f);
	for (unsigned i = 0; i < blocks && r == 0 && u->want > 0; i++) {
		r = z ? cab_block_lzx(u, z, c.data_reserve, &at)
		      : cab_block(u, method == MSZIP, c.data_reserve, &at);
	}
	lzx_destroy(z);
	if (r == 0 && u->want > 0) {
		r = -ENODATA;
	}
	return damaged(u, r, "the cabinet is damaged");
}

/* ---- ---- */

int etl_archive_unpack(const struct etl_source *s, enum etl_archive_kind kind,
		       int (*write)(void *ctx, const uint8_t *p, size_t n), void *ctx,
		       struct diag *d)
{
	struct unpack *u = malloc(sizeof *u);
	if (!u) {
		return -ENOMEM;
	}
	memset(u, 0, offsetof(struct unpack, in));
	memset(&u->z, 0, offsetof(struct inflate, out));
	u->s = s;
	u->write = write;
	u->ctx = ctx;
	u->d = d;
	u->want = UINT64_MAX;
	u->z.more = unpack_more;
	u->z.write = unpack_write;
	u->z.ctx = u;
	int r = kind == ETL_ARCHIVE_GZIP  ? gzip_unpack(u)
		: kind == ETL_ARCHIVE_ZIP ? zip_unpack(u)
		: kind == ETL_ARCHIVE_CAB ? cab_unpack(u)
					  : -EINVAL;
	if (r == -EBADMSG) {
		diag_at(d, 0, "the archive is damaged");
	}
	free(u);
	return r;
}

static int scratch_file(void)
{
	const char *dirs[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(dirs); i++) {
		int fd = dirs[i] ? open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
		if (fd >= 0) {
			return fd;
		}
	}
	int fd = memfd_create("etl", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_file(void *ctx, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t w = write(*(int *)ctx, p, n);
		if (w < 0 && errno != EINTR) {
			return -errno;
		}
		p += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

int etl_archive_open(const struct etl_source *s, enum etl_archive_kind kind, int *ret_fd,
		     struct diag *d)
{
	int fd = scratch_file();
	*ret_fd = -1;
	if (fd < 0) {
		diag_at(d, UINT64_MAX, "no room to unpack: %s", strerror(-fd));
		return fd;
	}
	int r = etl_archive_unpack(s, kind, write_file, &fd, d);
	if (r == 0 || ((r == -EBADMSG || r == -ENODATA) && lseek(fd, 0, SEEK_CUR) > 0)) {
		*ret_fd = fd;
		return r;
	}
	close(fd);
	return r;
}
