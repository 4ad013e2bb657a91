/* SPDX-License-Identifier: MIT
 *
 * A column is written group by group, with numbers as narrow as the group's values allow. Its values are those of the
 * file alone: in memory several files share them.
 */
#include "query/query_field_store.h"

#include "base/vec.h"
#include "query/query_place.h"

#include <stdlib.h>
#include <sys/stat.h>

#define COLUMN_SECTIONS (STORE_FIELD_CELLS - STORE_FIELD + 1u) /* a column has one of each kind */
#define NAME_BYTES_MAX  4096u                                  /* columns with longer names are not kept */

static const struct store_header *header_of(const struct store *s)
{
	return (const struct store_header *)(const void *)s->map;
}

/* Is there a file with its columns, or may there be one? */
static bool has_place(const struct index_file *f)
{
	return f->fields_path && !f->unfinished && f->store.map;
}

static int open_file(const struct index_file *f, struct store *ret)
{
	struct place p;
	struct diag d = {0};
	int err = place_of(f->fields_path, &p);
	int fd = err < 0 ? err : place_find(&p);
	place_close(&p);
	err = fd < 0 ? fd : store_open_fields(fd, &header_of(&f->store)->key, ret, &d);
	/* Nobody writes more sections than this. Each look for a section goes through all of them. */
	if (err == 0 && ret->directory_count > FIELD_COLUMNS_MAX * COLUMN_SECTIONS) {
		store_close(ret);
		err = -EBADMSG;
	}
	return err;
}

/* ---- reading ------------------------------------------------------------------------------------- */

struct name {
	const char *text; /* not terminated */
	uint32_t bytes;
};

static bool is_same(const struct name *a, const struct name *b)
{
	return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* Is this section the head of a column of this very index? Then *ret is the name of its field. */
static bool is_head(const struct store *s, const struct store_section *e, const struct store *index, struct name *ret)
{
	const struct store_field *h = (const struct store_field *)(const void *)(s->map + e->at);
	if (e->kind != STORE_FIELD || e->bytes < sizeof *h || h->name_bytes != e->bytes - sizeof *h ||
	    h->name_bytes > NAME_BYTES_MAX || h->rows != index->about->rows || h->groups != index->group_count ||
	    h->types != index->type_count || h->index_check != index->check) {
		return false;
	}
	*ret = (struct name){(const char *)(h + 1), h->name_bytes};
	return true;
}

static bool check_groups(const struct store_field_group *g, const struct store *index, uint64_t cells)
{
	for (uint32_t i = 0; i < index->group_count; i++) {
		uint64_t bytes = (uint64_t)g[i].bytes * index->groups[i].rows;
		bool width = g[i].bytes == 0 || g[i].bytes == 1 || g[i].bytes == 2 || g[i].bytes == 4;
		if (!width || g[i].at % 8 || g[i].at > cells || bytes > cells - g[i].at) {
			return false;
		}
	}
	return true;
}

static bool take_values(struct field_column *c, struct field_stored *s, uint32_t item)
{
	uint64_t bytes, count, text_bytes, n, from = 0;
	const uint64_t *ends = store_section(&s->store, STORE_FIELD_ENDS, item, &bytes, &count);
	const char *text = store_section(&s->store, STORE_FIELD_TEXTS, item, &text_bytes, &n);
	if (!ends || !text || count >= UINT32_MAX) {
		return false;
	}
	s->numbers = malloc((count + 1) * sizeof *s->numbers);
	s->value_count = (uint32_t)count;
	for (uint64_t i = 0; i < count && s->numbers; i++) {
		if (ends[i] < from || ends[i] > text_bytes) {
			return false;
		}
		bool whole = !memchr(text + from, 0, ends[i] - from);
		s->numbers[i] = whole ? field_number_of(c, text + from, ends[i] - from) : FIELD_NOT_READ;
		from = ends[i];
	}
	return s->numbers != NULL;
}

static bool take_column(struct field_column *c, const struct store *index, struct field_stored *s, uint32_t item)
{
	uint64_t bytes, groups, cells, types;
	s->groups = store_section(&s->store, STORE_FIELD_GROUPS, item, &bytes, &groups);
	s->cells = store_section(&s->store, STORE_FIELD_CELLS, item, &bytes, &cells);
	s->types = store_section(&s->store, STORE_FIELD_TYPES, item, &bytes, &types);
	s->group_count = index->group_count;
	s->type_count = index->type_count;
	return s->groups && s->cells && s->types && groups == s->group_count && types == s->type_count &&
	       check_groups(s->groups, index, cells) && take_values(c, s, item);
}

/* Which column has this name. UINT32_MAX: none. */
static uint32_t item_of(const struct store *s, const char *name, const struct store *index)
{
	const struct name wanted = {name, (uint32_t)BASE_MIN(strlen(name), NAME_BYTES_MAX + 1u)};
	struct name found;
	for (uint32_t i = 0; i < s->directory_count; i++) {
		if (is_head(s, &s->directory[i], index, &found) && is_same(&found, &wanted)) {
			return s->directory[i].item;
		}
	}
	return UINT32_MAX;
}

struct field_stored *field_stored_take(struct field_column *c, const struct index_file *f, const struct store *fields)
{
	struct store store = *fields;
	struct field_stored *s = calloc(1, sizeof *s);
	if (!s) {
		store_close(&store);
		return NULL;
	}
	s->store = store;
	uint32_t item = item_of(&s->store, field_name(c), &f->store);
	if (item == UINT32_MAX || !take_column(c, &f->store, s, item)) {
		field_stored_close(s);
		return NULL;
	}
	return s;
}

struct field_stored *field_stored_open(struct field_column *c, const struct index_file *f)
{
	struct store fields;
	if (!has_place(f) || open_file(f, &fields) < 0) {
		return NULL;
	}
	return field_stored_take(c, f, &fields);
}

void field_stored_close(struct field_stored *s)
{
	if (s) {
		store_close(&s->store);
		free(s->numbers);
		free(s);
	}
}

uint32_t field_stored_get(const struct field_stored *s, uint32_t group, uint32_t row)
{
	const struct store_field_group *g = &s->groups[group];
	const uint8_t *p = s->cells + g->at;
	uint32_t n = g->bytes == 0   ? FIELD_NOT_READ
		     : g->bytes == 1 ? p[row]
		     : g->bytes == 2 ? le16_get(p + 2ull * row)
				     : le32_get(p + 4ull * row);
	return n < FIELD_FIRST ? n : n - FIELD_FIRST < s->value_count ? s->numbers[n - FIELD_FIRST] : FIELD_NOT_READ;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* One column, while it is written. */
struct save {
	struct store_writer *w;
	const struct field_column *c;
	uint32_t file, item;
	uint32_t known;   /* numbers of the column that are looked at */
	uint32_t *number; /* of each of them: that of the file; 0: it has none yet */
	uint32_t *values; /* of the file: numbers of the column */
	uint32_t value_count, value_cap;
	struct store_field_group *groups;
	uint64_t bytes; /* of cells */
	uint32_t cells[STORE_GROUP_ROWS];
	uint8_t packed[STORE_GROUP_ROWS * 4];
};

static int number_of(struct save *s, uint32_t number, uint32_t *ret)
{
	*ret = number;
	if (number < FIELD_FIRST) {
		return 0;
	}
	if (number >= s->known) {
		*ret = FIELD_NOT_READ; /* it came while we write */
		return 0;
	}
	if (s->number[number] == 0) {
		if (!VEC_ROOM(s->values, s->value_count, s->value_cap)) {
			return -ENOMEM;
		}
		s->number[number] = FIELD_FIRST + s->value_count;
		s->values[s->value_count++] = number;
	}
	*ret = s->number[number];
	return 0;
}

static int save_group(struct save *s, uint32_t group, uint32_t rows)
{
	struct store_field_group *g = &s->groups[group];
	uint32_t most = 0;
	int err = 0;
	for (uint32_t i = 0; i < rows && err == 0; i++) {
		err = number_of(s, field_get(s->c, s->file, group, i), &s->cells[i]);
		most = BASE_MAX(most, s->cells[i]);
	}
	*g = (struct store_field_group){.at = s->bytes};
	if (err < 0 || most == 0) {
		return err;
	}
	g->bytes = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4;
	for (uint32_t i = 0; i < rows; i++) {
		uint8_t *to = s->packed + (size_t)i * g->bytes;
		if (g->bytes == 1) {
			*to = (uint8_t)s->cells[i];
		} else if (g->bytes == 2) {
			le16_put(to, (uint16_t)s->cells[i]);
		} else {
			le32_put(to, s->cells[i]);
		}
	}
	uint64_t used = (uint64_t)rows * g->bytes, all = BASE_ALIGN8(used);
	memset(s->packed + used, 0, all - used);
	s->bytes += all;
	return store_write_more(s->w, s->packed, all);
}

static int save_cells(struct save *s, const struct store *index)
{
	int err = store_write_begin(s->w, STORE_FIELD_CELLS, s->item);
	for (uint32_t g = 0; g < index->group_count && err == 0; g++) {
		err = save_group(s, g, index->groups[g].rows);
	}
	return err == 0 ? store_write_end(s->w, s->bytes) : err;
}

/* Values are short and many: they are collected in `packed`, and written as it fills. */
static int save_text(struct save *s, const struct field_value *v, size_t *inout_used)
{
	int err = 0;
	if (v->length > sizeof s->packed - *inout_used) {
		err = store_write_more(s->w, s->packed, *inout_used);
		*inout_used = 0;
	}
	if (err == 0 && v->length > sizeof s->packed) {
		return store_write_more(s->w, v->text, v->length);
	}
	memcpy(s->packed + *inout_used, v->text, v->length);
	*inout_used += v->length;
	return err;
}

static int save_values(struct save *s)
{
	uint64_t *ends = malloc((s->value_count + 1ull) * sizeof *ends), end = 0;
	size_t used = 0;
	int err = ends ? store_write_begin(s->w, STORE_FIELD_TEXTS, s->item) : -ENOMEM;
	for (uint32_t i = 0; i < s->value_count && err == 0; i++) {
		const struct field_value *v = field_value(s->c, s->values[i]);
		err = save_text(s, v, &used);
		ends[i] = end += v->length;
	}
	err = err == 0 ? store_write_more(s->w, s->packed, used) : err;
	err = err == 0 ? store_write_end(s->w, end) : err;
	if (err == 0) {
		err = store_write_section(s->w, STORE_FIELD_ENDS, s->item, ends, s->value_count * sizeof *ends,
					  s->value_count);
	}
	free(ends);
	return err;
}

static int save_head(struct save *s, const struct store *index)
{
	const char *name = field_name(s->c);
	const struct store_field h = {.rows = index->about->rows,
				      .groups = index->group_count,
				      .types = index->type_count,
				      .index_check = index->check,
				      .name_bytes = (uint32_t)strlen(name)};
	int err = store_write_begin(s->w, STORE_FIELD, s->item);
	err = err < 0 ? err : store_write_more(s->w, &h, sizeof h);
	err = err < 0 ? err : store_write_more(s->w, name, h.name_bytes);
	return err < 0 ? err : store_write_end(s->w, 1);
}

static int save_types(struct save *s, const struct store *index)
{
	uint8_t *types = malloc(index->type_count + 1ull);
	for (uint32_t i = 0; types && i < index->type_count; i++) {
		types[i] = (uint8_t)field_of_type(s->c, s->file, i);
	}
	int err = types ? store_write_section(s->w, STORE_FIELD_TYPES, s->item, types, index->type_count,
					      index->type_count)
			: -ENOMEM;
	free(types);
	return err;
}

static int save_column(struct store_writer *w, uint32_t item, const struct field_column *c, uint32_t file,
		       const struct store *index)
{
	struct save *s = malloc(sizeof *s);
	if (!s) {
		return -ENOMEM;
	}
	s->w = w;
	s->c = c;
	s->file = file;
	s->item = item;
	s->known = field_numbers(c);
	s->values = NULL;
	s->value_count = s->value_cap = 0;
	s->bytes = 0;
	s->number = calloc(s->known, sizeof *s->number);
	s->groups = calloc(index->group_count + 1ull, sizeof *s->groups);
	int err = s->number && s->groups ? save_cells(s, index) : -ENOMEM;
	if (err == 0) {
		err = store_write_section(w, STORE_FIELD_GROUPS, item, s->groups,
					  index->group_count * sizeof *s->groups, index->group_count);
	}
	err = err < 0 ? err : save_values(s);
	err = err < 0 ? err : save_types(s, index);
	err = err < 0 ? err : save_head(s, index);
	free(s->number);
	free(s->groups);
	free(s->values);
	free(s);
	return err;
}

/* Columns of the file that is there and that nobody asked for. */
struct others {
	struct store_writer *w;
	const struct store *from;
	uint64_t room;                        /* in bytes */
	struct name names[FIELD_COLUMNS_MAX]; /* that the new file has */
	uint32_t count;
};

static bool is_among(const struct others *o, const struct name *name)
{
	for (uint32_t i = 0; i < o->count; i++) {
		if (is_same(&o->names[i], name)) {
			return true;
		}
	}
	return false;
}

/* A column as it is. One that is not whole, or that has no room, is left out. */
static int copy_column(struct others *o, uint32_t item, const struct name *name)
{
	const void *p[COLUMN_SECTIONS];
	uint64_t bytes[COLUMN_SECTIONS], count[COLUMN_SECTIONS], room = o->room;
	for (uint32_t i = 0; i < COLUMN_SECTIONS; i++) {
		p[i] = store_section(o->from, STORE_FIELD + i, item, &bytes[i], &count[i]);
		if (!p[i] || bytes[i] > room) {
			return 0;
		}
		room -= bytes[i];
	}
	int err = 0;
	for (uint32_t i = 0; i < COLUMN_SECTIONS && err == 0; i++) {
		err = store_write_section(o->w, STORE_FIELD + i, o->count, p[i], bytes[i], count[i]);
	}
	o->room = room;
	o->names[o->count++] = *name;
	return err;
}

static int copy_all(struct others *o, const struct store *index)
{
	struct name name;
	int err = 0;
	for (uint32_t i = 0; i < o->from->directory_count && o->count < FIELD_COLUMNS_MAX && err == 0; i++) {
		const struct store_section *e = &o->from->directory[i];
		if (is_head(o->from, e, index, &name) && !is_among(o, &name)) {
			err = copy_column(o, e->item, &name);
		}
	}
	return err;
}

static int copy_others(struct store_writer *w, const struct index_file *f, struct field_column *const *columns,
		       uint32_t count)
{
	struct store old;
	if (open_file(f, &old) < 0) {
		return 0;
	}
	struct others *o = malloc(sizeof *o);
	if (!o) {
		store_close(&old);
		return -ENOMEM;
	}
	/* Sections of a hostile file may overlap: without a limit, a small file becomes one that fills the disk. Those of
	 * a good one do not, so what is copied is never more than the file that is there. */
	uint64_t written = store_writer_bytes(w);
	o->w = w;
	o->from = &old;
	o->room = written < FIELD_BYTES_MAX ? BASE_MIN(FIELD_BYTES_MAX - written, old.map_bytes) : 0;
	o->count = count;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = field_name(columns[i]);
		o->names[i] = (struct name){name, (uint32_t)strlen(name)};
	}
	int err = copy_all(o, &f->store);
	free(o);
	store_close(&old);
	return err;
}

static int save_file(const struct openetw_index *x, uint32_t file, struct field_column *const *columns, uint32_t count)
{
	const struct index_file *f = &x->files[file];
	struct place p;
	struct stat st;
	struct store_writer *w = NULL;
	int err = place_of(f->fields_path, &p);
	int fd = err < 0 ? err : fstat(f->store.fd, &st) < 0 ? -errno : place_new(&p, st.st_mode);
	err = fd < 0 ? fd : store_writer_create(fd, &header_of(&f->store)->key, &w);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = strlen(field_name(columns[i])) > NAME_BYTES_MAX ? 0
								      : save_column(w, i, columns[i], file, &f->store);
	}
	err = err < 0 ? err : copy_others(w, f, columns, count);
	err = err < 0 ? err : store_writer_commit_fields(w);
	err = err < 0 ? err : place_keep(&p, fd);
	store_writer_destroy(w);
	base_close(&fd);
	place_close(&p);
	return err;
}

int field_store_save(const struct openetw_index *x, struct field_column *const *columns, uint32_t count)
{
	int err = 0;
	for (uint32_t i = 0; i < x->file_count && err == 0 && count; i++) {
		err = has_place(&x->files[i]) ? save_file(x, i, columns, count) : 0;
	}
	return err;
}
