/* SPDX-License-Identifier: MIT
 *
 * Opens an index and checks it: afterwards every pointer of struct store is inside the mapping and has as many
 * elements as its count says.
 */
#include "query/query_store.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 65536u

uint32_t store_check(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = 0xCBF29CE484222325ull ^ n;
	for (; n >= 8; b += 8, n -= 8) {
		h = (h ^ le64_get(b)) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 32;
	}
	for (; n > 0; b++, n--) {
		h = (h ^ *b) * 0x100000001B3ull;
	}
	return (uint32_t)(h ^ h >> 32);
}

uint64_t store_group_bytes(const struct store_group *g)
{
	uint64_t n = g->rows;
	return BASE_ALIGN8(n * g->time_bytes) + BASE_ALIGN8(n * g->type_bytes) + BASE_ALIGN8(n * g->process_bytes) +
	       BASE_ALIGN8(n * 4) + BASE_ALIGN8(n * 2) + n * 8 + (g->has_stacks ? BASE_ALIGN8(n * 4) : 0);
}

static int refuse(struct diag *d, uint64_t at, const char *what)
{
	diag_at(d, at, "this is no usable index: %s", what);
	return -EBADMSG;
}

static bool inside(const struct store *s, uint64_t at, uint64_t bytes)
{
	return at % 8 == 0 && at >= STORE_PAGE && at <= s->map_bytes && bytes <= s->map_bytes - at;
}

/* The size of an element of a kind; 0: any. */
static uint64_t element_bytes(uint32_t kind)
{
	static const uint16_t bytes[STORE_SECTION_KINDS] = {
		[STORE_ABOUT] = sizeof(struct store_about),
		[STORE_GROUPS] = sizeof(struct store_group),
		[STORE_TYPES] = sizeof(struct store_type),
		[STORE_TYPE_COUNTS] = sizeof(struct store_count),
		[STORE_PROCESS_COUNTS] = sizeof(struct store_count),
		[STORE_PROCESSES] = sizeof(struct store_process),
		[STORE_THREADS] = sizeof(struct store_thread),
		[STORE_BUFFERS] = sizeof(uint64_t),
		[STORE_STACKS] = sizeof(struct store_stack),
		[STORE_NODES] = sizeof(struct store_node),
		[STORE_FRAMES] = sizeof(uint64_t),
		[STORE_STRINGS] = 1,
		[STORE_LOSSES] = sizeof(struct store_loss),
		[STORE_PROBLEMS] = sizeof(struct store_problem),
		[STORE_RUNNING] = sizeof(uint32_t),
		[STORE_TELLERS] = sizeof(uint64_t),
		[STORE_TEACHERS] = sizeof(uint64_t),
		[STORE_FIELD_TYPES] = 1,
		[STORE_FIELD_ENDS] = sizeof(uint64_t),
		[STORE_FIELD_TEXTS] = 1,
		[STORE_FIELD_GROUPS] = sizeof(struct store_field_group),
		[STORE_FIELD_CELLS] = 1,
		[STORE_LANES] = sizeof(struct store_lanes),
		[STORE_LANE_FIRST] = sizeof(uint64_t),
		[STORE_LANE_PARTS] = sizeof(struct store_lane_part),
		[STORE_LANE_STAYS] = 1,
	};
	return kind < STORE_SECTION_KINDS ? bytes[kind] : 0;
}

const void *store_section(const struct store *s, uint32_t kind, uint32_t item, uint64_t *ret_bytes, uint64_t *ret_count)
{
	*ret_bytes = *ret_count = 0;
	for (uint32_t i = s->directory_count; i-- > 0;) { /* the latest of several */
		const struct store_section *e = &s->directory[i];
		if (e->kind == kind && e->item == item) {
			*ret_bytes = e->bytes;
			*ret_count = e->count;
			/* The section of a ring's view says where it is in memory. */
			return s->ring ? (const void *)(uintptr_t)e->at : s->map + e->at;
		}
	}
	return NULL;
}

const char *store_string(const struct store *s, uint32_t at)
{
	/* The last byte of the section is NUL: store_open() looked. */
	return at < s->string_bytes ? s->strings + at : "";
}

/* At most 2^32 - 1 elements of a kind have numbers. */
static uint32_t take(const struct store *s, uint32_t kind, const void **ret)
{
	uint64_t bytes, count;
	*ret = store_section(s, kind, 0, &bytes, &count);
	return (uint32_t)BASE_MIN(count, (uint64_t)UINT32_MAX - 1);
}

static int check_directory(struct store *s, uint64_t at, uint32_t count, struct diag *d)
{
	if (count == 0 || count > SECTIONS_MAX || !inside(s, at, count * sizeof(struct store_section))) {
		return refuse(d, 0, "its directory lies outside the file");
	}
	s->directory = (const struct store_section *)(const void *)(s->map + at);
	s->directory_count = count;
	for (uint32_t i = 0; i < s->directory_count; i++) {
		const struct store_section *e = &s->directory[i];
		uint64_t each = element_bytes(e->kind);
		if (!inside(s, e->at, e->bytes) || (each && (e->bytes / each != e->count || e->bytes % each))) {
			return refuse(d, e->at, "a section does not fit");
		}
	}
	return 0;
}

static int check_groups(struct store *s, struct diag *d)
{
	uint64_t bytes, types, processes, rows = 0;
	store_section(s, STORE_TYPE_COUNTS, 0, &bytes, &types);
	store_section(s, STORE_PROCESS_COUNTS, 0, &bytes, &processes);
	for (uint32_t i = 0; i < s->group_count; i++) {
		const struct store_group *g = &s->groups[i];
		bool shape = g->rows > 0 && g->rows <= STORE_GROUP_ROWS && (g->time_bytes == 4 || g->time_bytes == 8) &&
			     (g->type_bytes == 2 || g->type_bytes == 4) &&
			     (g->process_bytes == 2 || g->process_bytes == 4) && g->from <= g->to;
		if (!shape || !inside(s, g->at, store_group_bytes(g)) || g->type_counts > types ||
		    g->type_count_rows > types - g->type_counts || g->process_counts > processes ||
		    g->process_count_rows > processes - g->process_counts) {
			return refuse(d, g->at, "a group of rows does not fit");
		}
		rows += g->rows;
	}
	return rows == s->about->rows ? 0 : refuse(d, 0, "it has another number of rows than it says");
}

int store_take(struct store *s, uint64_t directory_at, uint32_t directory_count, struct diag *d)
{
	int err = check_directory(s, directory_at, directory_count, d);
	if (err < 0) {
		return err;
	}
	const void *about;
	if (take(s, STORE_ABOUT, &about) == 0) {
		return refuse(d, directory_at, "it does not say what it is about");
	}
	s->about = about;
	s->group_count = take(s, STORE_GROUPS, (const void **)&s->groups);
	s->type_count = take(s, STORE_TYPES, (const void **)&s->types);
	s->process_count = take(s, STORE_PROCESSES, (const void **)&s->processes);
	s->thread_count = take(s, STORE_THREADS, (const void **)&s->threads);
	s->buffer_count = take(s, STORE_BUFFERS, (const void **)&s->buffers);
	s->stack_count = take(s, STORE_STACKS, (const void **)&s->stacks);
	s->node_count = take(s, STORE_NODES, (const void **)&s->nodes);
	s->frame_count = take(s, STORE_FRAMES, (const void **)&s->frames);
	s->loss_count = take(s, STORE_LOSSES, (const void **)&s->losses);
	s->problem_count = take(s, STORE_PROBLEMS, (const void **)&s->problems);
	s->string_bytes = take(s, STORE_STRINGS, (const void **)&s->strings);
	if (s->string_bytes == 0 || s->strings[s->string_bytes - 1] != 0 || s->type_count == 0 ||
	    s->process_count == 0 || s->thread_count == 0) {
		return refuse(d, directory_at, "a dictionary is missing");
	}
	return check_groups(s, d);
}

static int check(struct store *s, const struct store_key *key, bool fields, struct diag *d)
{
	const struct store_header *h = (const struct store_header *)(const void *)s->map;
	if (h->magic != STORE_MAGIC) {
		return refuse(d, 0, "it does not begin as one");
	}
	if (h->version != STORE_VERSION || h->group_rows != STORE_GROUP_ROWS) {
		return refuse(d, 8, "another version of OpenETW made it");
	}
	if (key && memcmp(&h->key, key, sizeof *key) != 0) {
		return -ESTALE;
	}
	uint64_t bytes = (uint64_t)h->directory_count * sizeof(struct store_section);
	if (h->directory_count > SECTIONS_MAX || !inside(s, h->directory_at, bytes) ||
	    store_check(s->map + h->directory_at, bytes) != h->directory_check) {
		return refuse(d, h->directory_at, "its directory is damaged");
	}
	s->check = h->directory_check;
	return fields ? check_directory(s, h->directory_at, h->directory_count, d)
		      : store_take(s, h->directory_at, h->directory_count, d);
}

void store_blank(struct store *ret, const struct store_about *about)
{
	*ret = (struct store){.fd = -1, .about = about, .strings = "", .string_bytes = 1};
}

static int open_any(int fd, const struct store_key *key, bool fields, struct store *ret, struct diag *d)
{
	*ret = (struct store){.fd = fd};
	struct stat st;
	int err = 0;
	if (fstat(fd, &st) < 0) {
		err = -errno;
	} else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)STORE_PAGE) {
		err = refuse(d, 0, "it is too short");
	} else if (st.st_uid != geteuid() && st.st_uid != 0) {
		/* Whoever may make it shorter while we read could end this process by that. */
		err = refuse(d, UINT64_MAX, "it belongs to another user");
	}
	void *map = MAP_FAILED;
	if (err == 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		err = map == MAP_FAILED ? -errno : 0;
	}
	if (err == 0) {
		ret->map = map;
		ret->map_bytes = (uint64_t)st.st_size;
		err = check(ret, key, fields, d);
	}
	if (err < 0) {
		store_close(ret);
	}
	return err;
}

int store_open(int fd, const struct store_key *key, struct store *ret, struct diag *d)
{
	return open_any(fd, key, false, ret, d);
}

int store_open_fields(int fd, const struct store_key *key, struct store *ret, struct diag *d)
{
	return open_any(fd, key, true, ret, d);
}

void store_close(struct store *s)
{
	if (s->map) {
		munmap((void *)(uintptr_t)s->map, s->map_bytes);
	}
	base_close(&s->fd);
	*s = (struct store){.fd = -1};
}

void store_columns_at(const struct store_group *g, const uint8_t *p, struct store_columns *ret)
{
	uint64_t n = g->rows;
	*ret = (struct store_columns){.rows = g->rows, .from = g->from};
	const void *time = p;
	p += BASE_ALIGN8(n * g->time_bytes);
	const void *type = p;
	p += BASE_ALIGN8(n * g->type_bytes);
	const void *process = p;
	p += BASE_ALIGN8(n * g->process_bytes);
	ret->time4 = g->time_bytes == 4 ? time : NULL;
	ret->time8 = g->time_bytes == 8 ? time : NULL;
	ret->type2 = g->type_bytes == 2 ? type : NULL;
	ret->type4 = g->type_bytes == 4 ? type : NULL;
	ret->process2 = g->process_bytes == 2 ? process : NULL;
	ret->process4 = g->process_bytes == 4 ? process : NULL;
	ret->thread = (const void *)p;
	p += BASE_ALIGN8(n * 4);
	ret->cpu = (const void *)p;
	p += BASE_ALIGN8(n * 2);
	ret->where = (const void *)p;
	p += n * 8;
	ret->stack = g->has_stacks ? (const void *)p : NULL;
}

void store_columns_of(const struct store *s, uint32_t group, struct store_columns *ret)
{
	if (s->columns) {
		*ret = s->columns[group];
		return;
	}
	store_columns_at(&s->groups[group], s->map + s->groups[group].at, ret);
}
