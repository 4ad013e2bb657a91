/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_build.h"

#include "base/map.h"
#include "base/vec.h"
#include "tools/sql/sql_wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>

#define COLUMNS_MAX 1024u        /* of one table; payloads may have many fields */
#define BYTES_MAX   (8ull << 30) /* of a table; it is in memory */
#define TEXT_MAX    (1u << 20)   /* bytes of one text; longer ones are cut */

struct column {
	char name[sizeof((struct sql_column *)0)->name];
	enum sql_type type;
	bool nulls;    /* some row has no value */
	uint64_t rows; /* that it has a place for */
	uint8_t *p;
	size_t cap; /* bytes */
	uint64_t *valid;
	size_t valid_cap; /* words */
};
struct table_build {
	struct column *column;
	uint32_t columns, columns_cap;
	uint64_t rows, bytes;
	struct strbuf texts;
	uint64_t *text_at; /* the end of each text is the beginning of the next one */
	uint32_t text_count;
	size_t text_cap;
	struct map text_of;
	const char *problem;
};

static void fail(struct table_build *b, const char *why)
{
	b->problem = b->problem ? b->problem : why;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static uint32_t add_text(struct table_build *b, const char *s, size_t n)
{
	uint64_t key = map_hash(&b->text_of, s, n);
	MAP_EACH(&b->text_of, key, at) {
		uint32_t i = (uint32_t)map_value(&b->text_of, at);
		size_t bytes = b->text_at[i + 1] - b->text_at[i];
		if (bytes == n && memcmp(b->texts.s + b->text_at[i], s, n) == 0) {
			return i;
		}
	}
	size_t need = b->text_count + 1; /* the new one's end stands behind its beginning */
	if (need == UINT32_MAX || !VEC_ROOM(b->text_at, need, b->text_cap) ||
	    map_add(&b->text_of, key, b->text_count) < 0) {
		fail(b, "no memory for the table");
		return 0;
	}
	strbuf_add(&b->texts, s, n);
	if (b->texts.failed) {
		fail(b, "no memory for the table");
		return 0;
	}
	b->bytes += n + 24;
	b->text_at[++b->text_count] = b->texts.len;
	return b->text_count - 1;
}

static bool is_utf8(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t bytes = (uint8_t)s[i] < 0x80 ? 1 : utf8_decode(s + i, n - i, &c);
		if (bytes == 0) {
			return false;
		}
		i += bytes;
	}
	return true;
}

static uint32_t add_foreign(struct table_build *b, const char *s, size_t n)
{
	struct strbuf clean = {0};
	uint32_t c;
	for (size_t i = 0; i < n;) {
		size_t bytes = utf8_decode(s + i, n - i, &c);
		strbuf_add(&clean, bytes ? s + i : "\xEF\xBF\xBD", bytes ? bytes : 3);
		i += bytes ? bytes : 1;
	}
	uint32_t r = clean.failed ? 0 : add_text(b, clean.s ? clean.s : "", clean.len);
	if (clean.failed) {
		fail(b, "no memory for the table");
	}
	strbuf_finish(&clean);
	return r;
}

/* ---- columns -------------------------------------------------------------------------------------- */

struct table_build *table_build_create(void)
{
	struct table_build *b = calloc(1, sizeof *b);
	if (!b || !VEC_ROOM(b->text_at, 0u, b->text_cap)) {
		free(b);
		return NULL;
	}
	b->text_at[0] = 0;
	add_text(b, "", 0);
	if (b->problem) {
		table_build_destroy(b);
		return NULL;
	}
	return b;
}

void table_build_destroy(struct table_build *b)
{
	if (!b) {
		return;
	}
	for (uint32_t i = 0; i < b->columns; i++) {
		free(b->column[i].p);
		free(b->column[i].valid);
	}
	free(b->column);
	free(b->text_at);
	strbuf_finish(&b->texts);
	map_free(&b->text_of);
	free(b);
}

int table_build_find(const struct table_build *b, const char *name, size_t n)
{
	for (uint32_t i = 0; i < b->columns; i++) {
		if (strncasecmp(b->column[i].name, name, n) == 0 && b->column[i].name[n] == 0) {
			return (int)i;
		}
	}
	return -1;
}

int table_build_column(struct table_build *b, const char *name, enum sql_type type)
{
	size_t room = sizeof b->column[0].name - 8, n = strnlen(name, room);
	while (n > 0 && !is_utf8(name, n)) {
		n--; /* a character was cut */
	}
	if (!VEC_ROOM_UP_TO(b->column, b->columns, b->columns_cap, COLUMNS_MAX)) {
		return -1;
	}
	struct column c = {.type = type};
	snprintf(c.name, sizeof c.name, "%.*s", (int)n, n ? name : "_");
	/* Names of columns are the same in any case. */
	for (unsigned i = 2; table_build_find(b, c.name, strlen(c.name)) >= 0; i++) {
		snprintf(c.name, sizeof c.name, "%.*s_%u", (int)n, n ? name : "_", i);
	}
	b->column[b->columns] = c;
	return (int)b->columns++;
}

enum sql_type table_build_type(const struct table_build *b, int column)
{
	return b->column[column].type;
}

static bool room(struct table_build *b, struct column *c, uint64_t rows)
{
	size_t need = rows * sql_type_bytes(c->type), words = rows / 64 + 1;
	if (need > c->cap) {
		size_t cap = BASE_MAX(need, c->cap * 2);
		cap = BASE_MAX(cap, (size_t)4096);
		uint8_t *p = b->bytes + cap - c->cap <= BYTES_MAX ? realloc(c->p, cap) : NULL;
		if (!p) {
			fail(b, "the table is larger than the memory for it; read less of the trace");
			return false;
		}
		memset(p + c->cap, 0, cap - c->cap);
		b->bytes += cap - c->cap;
		c->p = p;
		c->cap = cap;
	}
	if (words > c->valid_cap) {
		size_t cap = BASE_MAX(words, c->valid_cap * 2);
		uint64_t *valid = realloc(c->valid, cap * 8);
		if (!valid) {
			fail(b, "no memory for the table");
			return false;
		}
		memset(valid + c->valid_cap, 0, (cap - c->valid_cap) * 8);
		c->valid = valid;
		c->valid_cap = cap;
	}
	return true;
}

/* The place of this row's value; NULL: there is none. */
static uint8_t *place(struct table_build *b, int column)
{
	struct column *c = column >= 0 && !b->problem ? &b->column[column] : NULL;
	if (!c || !room(b, c, b->rows + 1)) {
		return NULL;
	}
	c->nulls = c->nulls || c->rows < b->rows;
	c->rows = b->rows + 1;
	c->valid[b->rows / 64] |= 1ull << (b->rows % 64);
	return c->p + b->rows * sql_type_bytes(c->type);
}

static void value_text(const struct column *c, uint64_t row, char *out, size_t cap)
{
	const uint8_t *p = c->p + row * sql_type_bytes(c->type);
	int64_t v = 0;
	uint8_t uuid[16];
	switch (c->type) {
	case SQL_TYPE_BOOL: snprintf(out, cap, "%s", *p ? "true" : "false"); break;
	case SQL_TYPE_F32: {
		float f;
		memcpy(&f, p, sizeof f);
		snprintf(out, cap, "%.9g", (double)f);
		break;
	}
	case SQL_TYPE_F64: {
		double f;
		memcpy(&f, p, sizeof f);
		snprintf(out, cap, "%.17g", f);
		break;
	}
	case SQL_TYPE_UUID:
		memcpy(uuid, p, sizeof uuid);
		snprintf(out, cap, "%08x-%04x-%04x-%04x-%04x%08x", le32_get(uuid + 12) ^ 0x80000000u,
			 le16_get(uuid + 10), le16_get(uuid + 8), le16_get(uuid + 6), le16_get(uuid + 4),
			 le32_get(uuid));
		break;
	case SQL_TYPE_I8: v = *(const int8_t *)p; goto integer;
	case SQL_TYPE_I16: v = (int16_t)le16_get(p); goto integer;
	case SQL_TYPE_I32: v = (int32_t)le32_get(p); goto integer;
	case SQL_TYPE_TIMESTAMP:
	case SQL_TYPE_I64:
		v = (int64_t)le64_get(p);
	integer:
		snprintf(out, cap, "%lld", (long long)v);
		break;
	case SQL_TYPE_U8: snprintf(out, cap, "%u", *p); break;
	case SQL_TYPE_U16: snprintf(out, cap, "%u", le16_get(p)); break;
	case SQL_TYPE_U32: snprintf(out, cap, "%u", le32_get(p)); break;
	default: snprintf(out, cap, "%llu", (unsigned long long)le64_get(p)); break;
	}
}

/* Its values so far become texts. */
static void become_text(struct table_build *b, struct column *c)
{
	struct column old = *c;
	char text[64];
	c->type = SQL_TYPE_TEXT;
	c->p = NULL;
	c->cap = 0;
	if (room(b, c, BASE_MAX(old.rows, (uint64_t)1))) {
		for (uint64_t i = 0; i < old.rows; i++) {
			if (old.valid[i / 64] >> (i % 64) & 1) {
				value_text(&old, i, text, sizeof text);
				uint32_t v = add_text(b, text, strlen(text));
				memcpy(c->p + i * 4, &v, 4);
			}
		}
	}
	b->bytes -= old.cap;
	free(old.p);
}

void table_build_number(struct table_build *b, int column, uint64_t v)
{
	uint8_t *p = place(b, column);
	if (!p) {
		return;
	}
	struct column *c = &b->column[column];
	double d = (double)(int64_t)v;
	float f = (float)d;
	char text[24];
	switch (c->type) {
	case SQL_TYPE_BOOL: *p = v != 0; break;
	case SQL_TYPE_F32: memcpy(p, &f, sizeof f); break;
	case SQL_TYPE_F64: memcpy(p, &d, sizeof d); break;
	case SQL_TYPE_TEXT:
		snprintf(text, sizeof text, "%lld", (long long)v);
		table_build_text(b, column, text, strlen(text));
		break;
	case SQL_TYPE_UUID: break;
	default: memcpy(p, &v, BASE_MIN(sql_type_bytes(c->type), 8u)); break;
	}
}

void table_build_float(struct table_build *b, int column, double v)
{
	uint8_t *p = place(b, column);
	float f = (float)v;
	char text[40];
	if (!p) {
		return;
	}
	switch (b->column[column].type) {
	case SQL_TYPE_F32: memcpy(p, &f, sizeof f); break;
	case SQL_TYPE_F64: memcpy(p, &v, sizeof v); break;
	default:
		snprintf(text, sizeof text, "%.17g", v);
		table_build_text(b, column, text, strlen(text));
		break;
	}
}

void table_build_text(struct table_build *b, int column, const char *s, size_t n)
{
	if (column < 0 || b->problem) {
		return;
	}
	if (b->column[column].type != SQL_TYPE_TEXT) {
		become_text(b, &b->column[column]);
	}
	uint8_t *p = place(b, column);
	if (p) {
		n = BASE_MIN(n, (size_t)TEXT_MAX);
		uint32_t v = is_utf8(s, n) ? add_text(b, s, n) : add_foreign(b, s, n);
		memcpy(p, &v, 4);
	}
}

void table_build_guid(struct table_build *b, int column, const struct guid *g)
{
	char text[37];
	if (column >= 0 && b->column[column].type != SQL_TYPE_UUID) {
		guid_format(g, text);
		table_build_text(b, column, text, strlen(text));
		return;
	}
	uint8_t *p = place(b, column);
	if (p) { /* the number that the GUID's text is, its uppermost bit inverted, the lower half first */
		uint8_t big[16] = {g->b[3], g->b[2], g->b[1], g->b[0], g->b[5], g->b[4], g->b[7], g->b[6]};
		memcpy(big + 8, g->b + 8, 8);
		for (int i = 0; i < 16; i++) {
			p[i] = big[15 - i];
		}
		p[15] ^= 0x80;
	}
}

void table_build_row(struct table_build *b)
{
	b->rows += !b->problem;
}

void table_build_late(struct table_build *b, int column, uint64_t row, uint64_t v)
{
	struct column *c = column >= 0 && !b->problem && row < b->rows ? &b->column[column] : NULL;
	if (c && c->type >= SQL_TYPE_BOOL && c->type <= SQL_TYPE_U64 && room(b, c, row + 1)) {
		c->nulls = true; /* rows in front of it may have none */
		c->rows = BASE_MAX(c->rows, row + 1);
		c->valid[row / 64] |= 1ull << (row % 64);
		memcpy(c->p + row * sql_type_bytes(c->type), &v, sql_type_bytes(c->type));
	}
}

uint64_t table_build_rows(const struct table_build *b)
{
	return b->rows;
}

const char *table_build_problem(const struct table_build *b)
{
	return b->problem;
}

/* ---- the file ------------------------------------------------------------------------------------- */

static int put(int fd, const void *p, uint64_t bytes, uint64_t *at, uint64_t *ret_at)
{
	int r = bytes ? base_pwrite_all(fd, p, bytes, *at) : 0;
	*ret_at = *at;
	*at += BASE_ALIGN8(bytes);
	return r;
}

static int write_column(const struct table_build *b, struct column *c, int fd, uint64_t *at, struct sql_column *ret)
{
	bool nulls = c->nulls || c->rows < b->rows;
	snprintf(ret->name, sizeof ret->name, "%s", c->name);
	ret->type = c->type;
	int r = put(fd, c->p, b->rows * sql_type_bytes(c->type), at, &ret->at);
	if (r == 0 && nulls) {
		r = put(fd, c->valid, (b->rows / 64 + 1) * 8, at, &ret->valid_at);
	}
	free(c->p);
	free(c->valid);
	c->p = NULL;
	c->valid = NULL;
	return r;
}

static int write_all(struct table_build *b, int fd, struct sql_column *columns)
{
	struct sql_columns_head h = {
		.magic = SQL_COLUMNS_MAGIC, .rows = b->rows, .columns = b->columns, .texts = b->text_count};
	uint64_t at = sizeof h + b->columns * sizeof *columns, end;
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < b->columns; i++) {
		if (!room(b, &b->column[i], BASE_MAX(b->rows, (uint64_t)1))) {
			return -ENOMEM;
		}
		r = write_column(b, &b->column[i], fd, &at, &columns[i]);
	}
	h.text_bytes = b->texts.len;
	r = r ? r : put(fd, b->text_at, ((uint64_t)b->text_count + 1) * 8, &at, &h.texts_at);
	r = r ? r : put(fd, b->texts.s, b->texts.len, &at, &h.text_bytes_at);
	end = at;
	r = r ? r : base_pwrite_all(fd, &h, sizeof h, 0);
	r = r ? r : base_pwrite_all(fd, columns, b->columns * sizeof *columns, sizeof h);
	return r ? r : ftruncate(fd, (off_t)end) < 0 ? -errno : 0;
}

int table_build_finish(struct table_build *b)
{
	struct sql_column *columns = calloc(b->columns + 1, sizeof *columns);
	int fd = -ENOMEM;
	if (columns && !b->problem && b->columns > 0) {
		fd = base_memfd("openetw-sql", 0);
	}
	if (fd >= 0) {
		int r = write_all(b, fd, columns);
		if (r < 0) {
			close(fd);
			fd = r;
		} else {
			(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
		}
	}
	free(columns);
	table_build_destroy(b);
	return fd;
}
