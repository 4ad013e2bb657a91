/* SPDX-License-Identifier: MIT
 *
 * A file with the column of a field that somebody put beside an index: the input is its sections, each with the number of
 * its elements in front.
 */
#include "query/query_field_store.h"
#include "query/query_test_index.h"

#include <unistd.h>

#define ROWS 30u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct test_index t;
static volatile uint64_t sum;

static void must(bool ok)
{
	if (!ok) {
		abort();
	}
}

static int make(const uint8_t *data, size_t size)
{
	static const uint32_t each[] = {1, sizeof(uint64_t), 1, sizeof(struct store_field_group), 1};
	static const struct store_key key = {.trace_bytes = 1};
	const struct store *s = &t.x.files[0].store;
	struct {
		struct store_field h;
		char name[8];
	} head = {{s->about->rows, s->group_count, s->type_count, s->check, 6}, "Status"};
	struct store_writer *w = NULL;
	int fd = memfd_create("fields", MFD_CLOEXEC);
	must(fd >= 0 && store_writer_create(fd, &key, &w) == 0);
	must(store_write_section(w, STORE_FIELD, 0, &head, sizeof head.h + head.h.name_bytes, 1) == 0);
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(each) && size > 0; i++) {
		size_t n = BASE_MIN((size_t)data[0], (size - 1) / each[i]);
		must(store_write_section(w, STORE_FIELD_TYPES + i, 0, data + 1, n * each[i], n) == 0);
		data += 1 + n * each[i];
		size -= 1 + n * each[i];
	}
	must(store_writer_commit_fields(w) == 0);
	store_writer_destroy(w);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store fields;
	struct diag d = {0};
	struct field_column *c;
	if (!t.rows) {
		must(test_index_make(&t, 1, 3, ROWS) == 0);
	}
	must(field_column_of(&t.x, "Status", &c) == 0);
	must(store_open_fields(make(data, size), NULL, &fields, &d) == 0);
	struct field_stored *s = field_stored_take(c, &t.x.files[0], &fields);
	for (uint32_t i = 0; s && i < 3 * ROWS; i++) {
		uint32_t number = field_stored_get(s, i / ROWS, i % ROWS);
		must(number < field_numbers(c));
		sum += number >= FIELD_FIRST ? (uint8_t)field_value(c, number)->text[0] : 0;
	}
	field_stored_close(s);
	field_columns_free(t.x.fields);
	t.x.fields = NULL;
	return 0;
}
