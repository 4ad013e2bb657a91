/* SPDX-License-Identifier: MIT
 *
 * A stream is messages: 0xFFFFFFFF, the length of the metadata, the metadata (a flatbuffer of type Message), and the
 * bytes of its buffers, each part filled up to 8. First the schema, then batches of rows, then an empty message.
 * Format/Schema.fbs and Message.fbs of Apache Arrow have the numbers below.
 *
 * A flatbuffer is written from its beginning here: each table behind its own vtable, and what a table points to behind
 * it, since such offsets go forwards only.
 *
 * Numbers, truth values, dates, timestamps and texts have their types; all others are written as texts.
 */
#include "tools/sql/sql_arrow.h"

#include "tools/sql/sql_text.h"

#include <stdlib.h>
#include <unistd.h>

#define BATCH_ROWS  65536u
#define BATCH_BYTES (64u << 20)
#define TEXT_MOST   (1u << 30) /* of a batch's column: its offsets have 31 bits */

/* Message.fbs, Schema.fbs */
enum { METADATA_V5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_DATE = 8, TYPE_TIMESTAMP = 10 };
enum { FLOAT_SINGLE = 1, FLOAT_DOUBLE = 2, DATE_DAY = 0 };
enum { UNIT_SECOND, UNIT_MILLISECOND, UNIT_MICROSECOND, UNIT_NANOSECOND };

struct arrow_column {
	char *name;
	duckdb_handle type;
	int id;
	uint32_t bytes; /* of a value; 0: a text, or a bit */
	uint64_t nulls;
	struct strbuf valid, values, offsets;
};
struct sql_arrow {
	int fd;
	uint32_t columns;
	uint64_t rows;
	bool headed;
	struct strbuf meta, body;
	struct arrow_column column[];
};

/* ---- flatbuffers ---------------------------------------------------------------------------------- */

static void put(struct strbuf *b, const void *p, size_t n)
{
	strbuf_add(b, p, n);
}

static void put_number(struct strbuf *b, uint64_t v, size_t bytes)
{
	put(b, &v, bytes);
}

static void align(struct strbuf *b, size_t to)
{
	while (!b->failed && b->len % to) {
		strbuf_addc(b, 0);
	}
}

/* Makes the offset at `from` point at what comes next. */
static void point_here(struct strbuf *b, size_t from)
{
	uint32_t distance = (uint32_t)(b->len - from);
	if (!b->failed) {
		memcpy(b->s + from, &distance, 4);
	}
}

/* A table whose fields have these sizes (0: absent), all zero so far. ret_at: where each field is. `from`: the offset
 * that points at the table. */
static void table(struct strbuf *b, size_t from, unsigned fields, const uint8_t *sizes, size_t *ret_at)
{
	uint16_t at[8] = {0}, size = 4;
	for (unsigned bytes = 8; bytes; bytes /= 2) { /* the widest first, behind the offset of the vtable */
		for (unsigned i = 0; i < fields; i++) {
			if (sizes[i] == bytes) {
				size = (uint16_t)((size + bytes - 1) / bytes * bytes);
				at[i] = size;
				size = (uint16_t)(size + bytes);
			}
		}
	}
	align(b, 2);
	size_t vtable = b->len, start = vtable + 4 + fields * 2;
	start = (start + 7) / 8 * 8;
	put_number(b, 4 + fields * 2, 2);
	put_number(b, size, 2);
	put(b, at, fields * 2);
	while (!b->failed && b->len < start) {
		strbuf_addc(b, 0);
	}
	point_here(b, from);
	put_number(b, (uint32_t)(start - vtable), 4);
	for (unsigned i = 4; i < size; i++) {
		strbuf_addc(b, 0);
	}
	for (unsigned i = 0; i < fields; i++) {
		ret_at[i] = start + at[i];
	}
}

static void set(struct strbuf *b, size_t at, uint64_t v, size_t bytes)
{
	if (!b->failed) {
		memcpy(b->s + at, &v, bytes);
	}
}

static void text(struct strbuf *b, size_t from, const char *s)
{
	align(b, 4);
	point_here(b, from);
	put_number(b, strlen(s), 4);
	put(b, s, strlen(s) + 1);
}

/* ---- the schema ----------------------------------------------------------------------------------- */

static uint32_t value_bytes(int id)
{
	switch (id) {
	case DUCKDB_TINYINT:
	case DUCKDB_UTINYINT: return 1;
	case DUCKDB_SMALLINT:
	case DUCKDB_USMALLINT: return 2;
	case DUCKDB_INTEGER:
	case DUCKDB_UINTEGER:
	case DUCKDB_FLOAT:
	case DUCKDB_DATE: return 4;
	case DUCKDB_BIGINT:
	case DUCKDB_UBIGINT:
	case DUCKDB_DOUBLE:
	case DUCKDB_TIMESTAMP_S:
	case DUCKDB_TIMESTAMP_MS:
	case DUCKDB_TIMESTAMP:
	case DUCKDB_TIMESTAMP_NS: return 8;
	default: return 0;
	}
}

static unsigned arrow_type(int id)
{
	switch (id) {
	case DUCKDB_BOOLEAN: return TYPE_BOOL;
	case DUCKDB_FLOAT:
	case DUCKDB_DOUBLE: return TYPE_FLOAT;
	case DUCKDB_DATE: return TYPE_DATE;
	case DUCKDB_TIMESTAMP_S:
	case DUCKDB_TIMESTAMP_MS:
	case DUCKDB_TIMESTAMP:
	case DUCKDB_TIMESTAMP_NS: return TYPE_TIMESTAMP;
	default: return value_bytes(id) ? TYPE_INT : TYPE_UTF8;
	}
}

static void put_type(struct strbuf *b, size_t from, int id)
{
	size_t at[2];
	bool is_signed = id == DUCKDB_TINYINT || id == DUCKDB_SMALLINT || id == DUCKDB_INTEGER || id == DUCKDB_BIGINT;
	switch (arrow_type(id)) {
	case TYPE_INT: /* bitWidth, is_signed */
		table(b, from, 2, (const uint8_t[]){4, 1}, at);
		set(b, at[0], value_bytes(id) * 8, 4);
		set(b, at[1], is_signed, 1);
		break;
	case TYPE_FLOAT: /* precision */
		table(b, from, 1, (const uint8_t[]){2}, at);
		set(b, at[0], id == DUCKDB_FLOAT ? FLOAT_SINGLE : FLOAT_DOUBLE, 2);
		break;
	case TYPE_DATE: /* unit */
		table(b, from, 1, (const uint8_t[]){2}, at);
		set(b, at[0], DATE_DAY, 2);
		break;
	case TYPE_TIMESTAMP: /* unit */
		table(b, from, 1, (const uint8_t[]){2}, at);
		set(b, at[0],
		    id == DUCKDB_TIMESTAMP_S    ? UNIT_SECOND
		    : id == DUCKDB_TIMESTAMP_MS ? UNIT_MILLISECOND
		    : id == DUCKDB_TIMESTAMP    ? UNIT_MICROSECOND
						: UNIT_NANOSECOND,
		    2);
		break;
	default: table(b, from, 0, NULL, at); break;
	}
}

static void put_field(struct strbuf *b, size_t from, const struct arrow_column *c)
{
	/* name, nullable, type_type, type, dictionary, children */
	size_t at[6];
	table(b, from, 6, (const uint8_t[]){4, 1, 1, 4, 0, 4}, at);
	set(b, at[1], 1, 1);
	set(b, at[2], arrow_type(c->id), 1);
	text(b, at[0], c->name);
	put_type(b, at[3], c->id);
	align(b, 4);
	point_here(b, at[5]);
	put_number(b, 0, 4); /* no children */
}

/* Message: version, header_type, header, bodyLength. ret: where the offset of the header is. */
static size_t begin_message(struct strbuf *b, unsigned header, uint64_t body_bytes)
{
	size_t at[4];
	strbuf_clear(b);
	put_number(b, 0, 4); /* points at the root table */
	table(b, 0, 4, (const uint8_t[]){2, 1, 4, 8}, at);
	set(b, at[0], METADATA_V5, 2);
	set(b, at[1], header, 1);
	set(b, at[3], body_bytes, 8);
	return at[2];
}

static int write_all(int fd, const void *p, size_t n)
{
	for (const char *from = p; n > 0;) {
		ssize_t put = write(fd, from, n);
		if (put < 0 && errno != EINTR) {
			return -errno;
		}
		from += put > 0 ? put : 0;
		n -= put > 0 ? (size_t)put : 0;
	}
	return 0;
}

static int end_message(struct sql_arrow *a, const struct strbuf *body)
{
	align(&a->meta, 8);
	if (a->meta.failed || (body && body->failed)) {
		return -ENOMEM;
	}
	uint32_t head[2] = {0xFFFFFFFFu, (uint32_t)a->meta.len};
	int r = write_all(a->fd, head, sizeof head);
	r = r ? r : write_all(a->fd, a->meta.s, a->meta.len);
	return r || !body || body->len == 0 ? r : write_all(a->fd, body->s, body->len);
}

static int put_schema(struct sql_arrow *a)
{
	struct strbuf *b = &a->meta;
	size_t header = begin_message(b, HEADER_SCHEMA, 0), at[2]; /* endianness, fields */
	table(b, header, 2, (const uint8_t[]){2, 4}, at);
	align(b, 4);
	point_here(b, at[1]);
	put_number(b, a->columns, 4);
	size_t offsets = b->len;
	for (uint32_t i = 0; i < a->columns; i++) {
		put_number(b, 0, 4);
	}
	for (uint32_t i = 0; i < a->columns; i++) {
		put_field(b, offsets + 4 * (size_t)i, &a->column[i]);
	}
	a->headed = true;
	return end_message(a, NULL);
}

/* ---- batches -------------------------------------------------------------------------------------- */

struct place {
	uint64_t at, bytes;
};

static struct place put_buffer(struct strbuf *body, const struct strbuf *from)
{
	struct place p = {body->len, from->len};
	put(body, from->s, from->len);
	align(body, 8);
	body->failed = body->failed || from->failed;
	return p;
}

static int put_batch(struct sql_arrow *a)
{
	struct strbuf *b = &a->meta, nodes = {0}, buffers = {0};
	strbuf_clear(&a->body);
	for (uint32_t i = 0; i < a->columns; i++) {
		struct arrow_column *c = &a->column[i];
		const struct strbuf none = {0}, *parts[3] = {c->nulls ? &c->valid : &none, &c->values, NULL};
		if (arrow_type(c->id) == TYPE_UTF8) {
			parts[1] = &c->offsets;
			parts[2] = &c->values;
		}
		put_number(&nodes, a->rows, 8);
		put_number(&nodes, c->nulls, 8);
		for (unsigned j = 0; j < 3 && parts[j]; j++) {
			struct place p = put_buffer(&a->body, parts[j]);
			put(&buffers, &p, sizeof p);
		}
	}
	/* RecordBatch: length, nodes, buffers; the structs of the two vectors stand at multiples of 8. */
	size_t header = begin_message(b, HEADER_RECORD_BATCH, a->body.len), at[3];
	table(b, header, 3, (const uint8_t[]){8, 4, 4}, at);
	set(b, at[0], a->rows, 8);
	const struct strbuf *vectors[] = {&nodes, &buffers};
	for (unsigned i = 0; i < 2; i++) {
		align(b, 8);
		put_number(b, 0, 4);
		point_here(b, at[1 + i]);
		put_number(b, vectors[i]->len / 16, 4);
		put(b, vectors[i]->s, vectors[i]->len);
		b->failed = b->failed || vectors[i]->failed;
	}
	int r = end_message(a, &a->body);
	strbuf_finish(&nodes);
	strbuf_finish(&buffers);
	for (uint32_t i = 0; i < a->columns; i++) {
		struct arrow_column *c = &a->column[i];
		c->nulls = 0;
		strbuf_clear(&c->valid);
		strbuf_clear(&c->values);
		strbuf_clear(&c->offsets);
	}
	a->rows = 0;
	return r;
}

static void put_bit(struct strbuf *b, uint64_t row, bool set_it)
{
	if (row % 8 == 0) {
		strbuf_addc(b, 0);
	}
	if (set_it && !b->failed) {
		b->s[row / 8] = (char)((uint8_t)b->s[row / 8] | 1u << (row % 8));
	}
}

static void put_value(struct arrow_column *c, duckdb_handle vector, uint64_t row, uint64_t to)
{
	static const uint8_t zero[8];
	const uint64_t *valid = duckdb.vector_get_validity(vector);
	const uint8_t *data = duckdb.vector_get_data(vector);
	bool there = !valid || (valid[row / 64] >> (row % 64) & 1);
	put_bit(&c->valid, to, there);
	c->nulls += !there;
	if (c->id == DUCKDB_BOOLEAN) {
		put_bit(&c->values, to, there && data[row]);
	} else if (c->bytes) {
		put(&c->values, there ? data + row * c->bytes : zero, c->bytes);
	} else {
		if (c->offsets.len == 0) {
			put_number(&c->offsets, 0, 4);
		}
		if (there) {
			sql_text_add(&c->values, c->type, vector, row);
		}
		put_number(&c->offsets, c->values.len, 4);
	}
}

int sql_arrow_chunk(struct sql_arrow *a, duckdb_handle chunk)
{
	int r = a->headed ? 0 : put_schema(a);
	uint64_t rows = duckdb.data_chunk_get_size(chunk), bytes = 0;
	for (uint32_t i = 0; r == 0 && i < a->columns; i++) {
		duckdb_handle vector = duckdb.data_chunk_get_vector(chunk, i);
		struct arrow_column *c = &a->column[i];
		for (uint64_t row = 0; row < rows; row++) {
			put_value(c, vector, row, a->rows + row);
			if (c->values.len > TEXT_MOST) {
				return -EFBIG;
			}
		}
		bytes += c->values.len;
		r = c->values.failed || c->valid.failed || c->offsets.failed ? -ENOMEM : 0;
	}
	a->rows += rows;
	return r == 0 && (a->rows >= BATCH_ROWS || bytes >= BATCH_BYTES) ? put_batch(a) : r;
}

int sql_arrow_end(struct sql_arrow *a)
{
	static const uint32_t end[2] = {0xFFFFFFFFu, 0};
	int r = a->headed ? 0 : put_schema(a);
	r = r == 0 && a->rows ? put_batch(a) : r;
	return r ? r : write_all(a->fd, end, sizeof end);
}

struct sql_arrow *sql_arrow_create(int fd, uint32_t columns, const char *const *names, const duckdb_handle *types)
{
	struct sql_arrow *a = calloc(1, sizeof *a + columns * sizeof a->column[0]);
	if (!a) {
		return NULL;
	}
	a->fd = fd;
	a->columns = columns;
	for (uint32_t i = 0; i < columns; i++) {
		struct arrow_column *c = &a->column[i];
		c->name = strdup(names[i]);
		c->type = types[i];
		c->id = duckdb.get_type_id(types[i]);
		c->bytes = value_bytes(c->id);
		if (!c->name) {
			sql_arrow_destroy(a);
			return NULL;
		}
	}
	return a;
}

void sql_arrow_destroy(struct sql_arrow *a)
{
	if (!a) {
		return;
	}
	for (uint32_t i = 0; i < a->columns; i++) {
		free(a->column[i].name);
		strbuf_finish(&a->column[i].valid);
		strbuf_finish(&a->column[i].values);
		strbuf_finish(&a->column[i].offsets);
	}
	strbuf_finish(&a->meta);
	strbuf_finish(&a->body);
	free(a);
}
