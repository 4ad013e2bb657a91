/* SPDX-License-Identifier: MIT */
#include "tools/sql/sql_columns.h"

#include "tools/sql/sql_wire.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool inside(const struct sql_columns *c, uint64_t at, uint64_t count, uint64_t each)
{
	return at % 8 == 0 && at <= c->map_bytes && count <= (c->map_bytes - at) / each;
}

static bool check(struct sql_columns *c)
{
	const struct sql_columns_head *h = c->head = (const void *)c->map;
	if (c->map_bytes < sizeof *h || h->magic != SQL_COLUMNS_MAGIC || h->columns == 0 ||
	    h->columns > SQL_COLUMNS_MAX || !inside(c, sizeof *h, h->columns, sizeof *c->column) ||
	    !inside(c, h->texts_at, (uint64_t)h->texts + 1, 8) || !inside(c, h->text_bytes_at, h->text_bytes, 1)) {
		return false;
	}
	c->column = (const void *)(c->map + sizeof *h);
	c->text_at = (const void *)(c->map + h->texts_at);
	c->text_bytes = (const char *)c->map + h->text_bytes_at;
	for (uint32_t i = 0; i < h->columns; i++) {
		const struct sql_column *k = &c->column[i];
		uint32_t each = sql_type_bytes(k->type);
		if (each == 0 || !inside(c, k->at, h->rows, each) || !memchr(k->name, 0, sizeof k->name) ||
		    (k->valid_at && !inside(c, k->valid_at, h->rows / 64 + 1, 8)) ||
		    (k->type == SQL_TYPE_TEXT && h->texts == 0)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < h->texts; i++) {
		if (c->text_at[i] > c->text_at[i + 1] || c->text_at[i + 1] > h->text_bytes ||
		    c->text_at[i + 1] - c->text_at[i] > SQL_RECORD_MAX) {
			return false;
		}
		const char *p = c->text_bytes + c->text_at[i], *end = c->text_bytes + c->text_at[i + 1];
		while (p < end) {
			uint32_t point;
			size_t n = (uint8_t)*p < 0x80 ? 1 : utf8_decode(p, (size_t)(end - p), &point);
			if (n == 0) {
				return false;
			}
			p += n;
		}
	}
	return true;
}

int sql_columns_map(int fd, struct sql_columns *ret)
{
	struct sql_columns c = {0};
	struct stat st;
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	if (st.st_size < (off_t)sizeof *c.head) {
		return -EBADMSG;
	}
	c.map_bytes = (uint64_t)st.st_size;
	void *p = mmap(NULL, c.map_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		return -errno;
	}
	c.map = p;
	if (!check(&c)) {
		sql_columns_unmap(&c);
		return -EBADMSG;
	}
	*ret = c;
	return 0;
}

void sql_columns_unmap(struct sql_columns *c)
{
	if (c->map) {
		munmap((void *)(uintptr_t)c->map, c->map_bytes);
	}
	free(c->views);
	*c = (struct sql_columns){0};
}
