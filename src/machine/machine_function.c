/* SPDX-License-Identifier: MIT
 *
 * Event 1 of OpenETW.Symbols: TimeDateStamp and ImageChecksum (u32 each) and FileName (UTF-16) as in
 * the Image records it is about, then a count (u32) and so many functions: offset from the image's
 * base (u64), size (u32), name (8-bit, terminated). The recorder writes them in order of offset, but
 * nothing relies on it.
 */
#include "machine/machine_function.h"
#include "machine/machine_payload.h"

#include "kernel_payload.h"

#include <stdlib.h>

struct function {
	uint64_t start;
	uint32_t bytes;
	const char *name;
};
struct image_functions {
	struct machine_node n; /* by path and build */
	const char *path;
	uint32_t stamp, checksum;
	struct function *list;
	size_t count, cap;
	bool sorted;
};

static const struct guid symbols = GUID_INIT(KP_OPEN_ETW_SYMBOLS_GUID);

static uint64_t id_of(const char *path, uint32_t stamp, uint32_t checksum)
{
	uint64_t h = 14695981039346656037ull ^ ((uint64_t)stamp << 32 | checksum);
	for (; *path; path++) {
		h = (h ^ (uint8_t)*path) * 1099511628211ull;
	}
	return h;
}

static struct image_functions *find(const struct machine_functions *x, const char *path, uint32_t stamp,
				    uint32_t checksum)
{
	struct image_functions *f =
		(struct image_functions *)machine_table_find(&x->images, id_of(path, stamp, checksum));
	while (f && (f->stamp != stamp || f->checksum != checksum || strcmp(f->path, path) != 0)) {
		f = (struct image_functions *)f->n.older;
	}
	return f;
}

void machine_functions_add(struct machine_functions *x, struct machine_memory *m, const struct etl_record *r)
{
	struct kernel_payload in = payload_of(r);
	struct bytes b = kernel_payload_from(in, KP_OPEN_ETW_SYMBOLS_FUNCTIONS_SINCE_V0_FILE_NAME);
	uint32_t stamp = kernel_payload_get32(in, KP_OPEN_ETW_SYMBOLS_FUNCTIONS_SINCE_V0_TIME_DATE_STAMP);
	uint32_t checksum = kernel_payload_get32(in, KP_OPEN_ETW_SYMBOLS_FUNCTIONS_SINCE_V0_IMAGE_CHECKSUM);
	size_t units;
	const uint8_t *wide = bytes_wsz(&b, &units);
	uint32_t count = bytes_u32(&b);
	if (r->id != KP_OPEN_ETW_SYMBOLS_FUNCTIONS || !guid_equal(&r->provider, &symbols) || b.bad) {
		return;
	}
	const char *path = machine_text16(m, wide, units);
	struct image_functions *f = find(x, path, stamp, checksum);
	if (!f) {
		f = machine_alloc(m, sizeof *f);
		if (!f) {
			return;
		}
		f->n.id = id_of(path, stamp, checksum);
		f->path = path;
		f->stamp = stamp;
		f->checksum = checksum;
		if (!machine_table_add(&x->images, &f->n)) {
			return;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		struct function one = {.start = bytes_u64(&b)};
		one.bytes = bytes_u32(&b);
		size_t n;
		const char *name = bytes_asz(&b, &n);
		if (!name || !MACHINE_ROOM(m, f->list, f->count, f->cap)) {
			return;
		}
		one.name = machine_text(m, name);
		f->list[f->count++] = one;
		f->sorted = false;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	return a->start < b->start ? -1 : a->start > b->start;
}

const char *machine_functions_at(struct machine_functions *x, const struct machine_image *i, uint64_t offset,
				 uint64_t *ret_start)
{
	struct image_functions *f = find(x, i->path, i->time_date_stamp, i->checksum);
	if (!f || !f->count) {
		return NULL;
	}
	if (!f->sorted) {
		qsort(f->list, f->count, sizeof *f->list, by_start);
		f->sorted = true;
	}
	size_t low = 0, high = f->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (f->list[mid].start <= offset) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	const struct function *found = low ? &f->list[low - 1] : NULL;
	if (!found || offset - found->start >= found->bytes) {
		return NULL;
	}
	*ret_start = found->start;
	return found->name;
}

void machine_functions_free(struct machine_functions *x)
{
	for (struct machine_node *n = NULL; (n = machine_table_next(&x->images, n)) != NULL;) {
		for (struct machine_node *o = n; o; o = o->older) {
			free(((struct image_functions *)o)->list);
		}
	}
	machine_table_free(&x->images);
}
