/* SPDX-License-Identifier: MIT
 *
 * Writes an index: groups as they come, sections when they are whole, the directory last.
 */
#include "query/query_store.h"

#include "base/map.h"
#include "base/vec.h"
#include "query/build_set.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct store_writer {
	int fd;
	const uint8_t *map; /* what was written, for reading it back; NULL: nobody wanted to */
	size_t map_bytes;
	uint64_t end; /* of what is written */
	struct store_key key;
	struct store_group *groups;
	size_t group_count, group_cap;
	struct store_count *types, *processes; /* of all groups */
	size_t type_count, type_cap, process_count, process_cap;
	struct store_section *sections;
	size_t section_count, section_cap;
	uint8_t *block;  /* a group's columns */
	uint32_t *tally; /* rows of each id in the group that is being written */
	uint32_t tally_cap;
};

/* A group's columns at their widest. */
#define BLOCK_BYTES (STORE_GROUP_ROWS * (8u + 4 + 4 + 4 + 2 + 8 + 4))

int store_writer_create(int fd, const struct store_key *key, struct store_writer **ret)
{
	struct store_writer *w = calloc(1, sizeof *w);
	if (!w) {
		return -ENOMEM;
	}
	w->fd = fd;
	w->key = *key;
	w->end = STORE_PAGE;
	w->block = malloc(BLOCK_BYTES);
	if (!w->block) {
		free(w);
		return -ENOMEM;
	}
	*ret = w;
	return 0;
}

void store_writer_destroy(struct store_writer *w)
{
	if (w) {
		if (w->map) {
			munmap((void *)(uintptr_t)w->map, w->map_bytes);
		}
		free(w->groups);
		free(w->types);
		free(w->processes);
		free(w->sections);
		free(w->block);
		free(w->tally);
		free(w);
	}
}

uint64_t store_writer_bytes(const struct store_writer *w)
{
	return w->end;
}

static uint32_t largest(const uint32_t *p, uint32_t n)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < n; i++) {
		most = BASE_MAX(most, p[i]);
	}
	return most;
}

/* As 2 or 4 bytes each. The bytes, with those that fill up to a multiple of 8. */
static size_t put_ids(uint8_t *to, const uint32_t *ids, uint32_t n, uint8_t bytes)
{
	if (bytes == 4) {
		memcpy(to, ids, 4ull * n);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			le16_put(to + 2ull * i, (uint16_t)ids[i]);
		}
	}
	size_t used = (size_t)n * bytes;
	memset(to + used, 0, BASE_ALIGN8(used) - used);
	return BASE_ALIGN8(used);
}

static size_t put_times(uint8_t *to, const struct store_rows *r, const struct store_group *g)
{
	for (uint32_t i = 0; i < r->rows; i++) {
		uint64_t offset = (uint64_t)r->time[i] - (uint64_t)g->from;
		if (g->time_bytes == 4) {
			le32_put(to + 4ull * i, (uint32_t)offset);
		} else {
			le64_put(to + 8ull * i, offset);
		}
	}
	size_t used = (size_t)r->rows * g->time_bytes;
	memset(to + used, 0, BASE_ALIGN8(used) - used);
	return BASE_ALIGN8(used);
}

static int by_id(const void *a, const void *b)
{
	const struct store_count *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* How often each id is among them, appended to the list of all groups, ordered by id. Numbers of a dictionary are dense, so an array
 * counts; `most` is the largest. */
static int tally(struct store_writer *w, const uint32_t *ids, uint32_t n, uint32_t most, struct store_count **list,
		 size_t *count, size_t *cap, uint32_t *ret_rows)
{
	if (most >= w->tally_cap) {
		uint32_t want = most < 4096 ? 4096 : most + most / 2 + 1;
		uint32_t *p = realloc(w->tally, (size_t)want * sizeof *p);
		if (!p) {
			return -ENOMEM;
		}
		memset(p + w->tally_cap, 0, (size_t)(want - w->tally_cap) * sizeof *p);
		w->tally = p;
		w->tally_cap = want;
	}
	size_t first = *count;
	int err = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (w->tally[ids[i]]++ == 0) {
			struct store_count *l = *list;
			if (err == 0 && !VEC_ROOM(l, *count, *cap)) {
				err = -ENOMEM;
			}
			*list = l;
			if (err == 0) {
				l[(*count)++].id = ids[i];
			}
		}
	}
	for (size_t i = first; i < *count; i++) {
		(*list)[i].rows = w->tally[(*list)[i].id];
	}
	for (uint32_t i = 0; i < n; i++) {
		w->tally[ids[i]] = 0;
	}
	if (err == 0 && *count > first) {
		qsort(*list + first, *count - first, sizeof **list, by_id);
	}
	*ret_rows = (uint32_t)(*count - first);
	return err;
}

int store_write_group(struct store_writer *w, const struct store_rows *r)
{
	if (r->rows == 0) {
		return 0;
	}
	if (!VEC_ROOM(w->groups, w->group_count, w->group_cap)) {
		return -ENOMEM;
	}
	struct store_group g = {.at = w->end, .rows = r->rows, .from = INT64_MAX, .to = INT64_MIN};
	for (uint32_t i = 0; i < r->rows; i++) {
		g.from = BASE_MIN(g.from, r->time[i]);
		g.to = BASE_MAX(g.to, r->time[i]);
	}
	uint32_t types = largest(r->type, r->rows), processes = largest(r->process, r->rows);
	g.time_bytes = (uint64_t)g.to - (uint64_t)g.from <= UINT32_MAX ? 4 : 8;
	g.type_bytes = types <= UINT16_MAX ? 2 : 4;
	g.process_bytes = processes <= UINT16_MAX ? 2 : 4;
	g.has_stacks = largest(r->stack, r->rows) > 0;
	g.type_counts = (uint32_t)w->type_count;
	g.process_counts = (uint32_t)w->process_count;
	int err = tally(w, r->type, r->rows, types, &w->types, &w->type_count, &w->type_cap, &g.type_count_rows);
	if (err == 0) {
		err = tally(w, r->process, r->rows, processes, &w->processes, &w->process_count, &w->process_cap,
			    &g.process_count_rows);
	}
	if (err < 0) {
		return err;
	}
	uint8_t *p = w->block;
	p += put_times(p, r, &g);
	p += put_ids(p, r->type, r->rows, g.type_bytes);
	p += put_ids(p, r->process, r->rows, g.process_bytes);
	p += put_ids(p, r->thread, r->rows, 4);
	memcpy(p, r->cpu, 2ull * r->rows);
	memset(p + 2ull * r->rows, 0, BASE_ALIGN8(2ull * r->rows) - 2ull * r->rows);
	p += BASE_ALIGN8(2ull * r->rows);
	memcpy(p, r->where, 8ull * r->rows);
	p += 8ull * r->rows;
	if (g.has_stacks) {
		p += put_ids(p, r->stack, r->rows, 4);
	}
	err = base_pwrite_all(w->fd, w->block, (uint64_t)(p - w->block), w->end);
	if (err == 0) {
		w->end += (uint64_t)(p - w->block);
		w->groups[w->group_count++] = g;
	}
	return err;
}

const struct store_group *store_writer_groups(const struct store_writer *w, uint32_t *ret_count)
{
	*ret_count = (uint32_t)w->group_count;
	return w->groups;
}

int store_writer_columns(struct store_writer *w, uint32_t group, struct store_columns *ret)
{
	const struct store_group *g = &w->groups[group];
	if (g->at + store_group_bytes(g) > w->map_bytes) {
		void *old = (void *)(uintptr_t)w->map;
		void *p = old ? mremap(old, w->map_bytes, w->end, MREMAP_MAYMOVE)
			      : mmap(NULL, w->end, PROT_READ, MAP_SHARED, w->fd, 0);
		if (p == MAP_FAILED) {
			return -errno;
		}
		w->map = p;
		w->map_bytes = w->end;
	}
	store_columns_at(g, w->map + g->at, ret);
	return 0;
}

/* A group that was written before any of its rows had a stack gets the column at the end of the file: its columns
 * have to stand behind each other, so all of them go there. */
static int group_move(struct store_writer *w, struct store_group *g)
{
	uint64_t n = store_group_bytes(g), column = BASE_ALIGN8(4ull * g->rows);
	int err = base_pread_all(w->fd, w->block, n, g->at);
	if (err < 0) {
		return err;
	}
	memset(w->block + n, 0, column);
	err = base_pwrite_all(w->fd, w->block, n + column, w->end);
	if (err == 0) {
		g->at = w->end;
		g->has_stacks = 1;
		w->end += n + column;
	}
	return err;
}

static uint64_t stack_column(const struct store_group *g)
{
	return g->at + store_group_bytes(g) - BASE_ALIGN8(4ull * g->rows);
}

int store_write_late_stack(struct store_writer *w, uint32_t group, uint32_t row, uint32_t stack)
{
	struct store_group *g = &w->groups[group];
	if (!g->has_stacks) {
		int err = group_move(w, g);
		if (err < 0) {
			return err;
		}
	}
	return base_pwrite_all(w->fd, &stack, sizeof stack, stack_column(g) + 4ull * row);
}

int store_write_stacks(struct store_writer *w, uint32_t group, const uint32_t *stacks)
{
	const struct store_group *g = &w->groups[group];
	return g->has_stacks ? base_pwrite_all(w->fd, stacks, 4ull * g->rows, stack_column(g)) : 0;
}

int store_write_begin(struct store_writer *w, uint32_t kind, uint32_t item)
{
	if (!VEC_ROOM(w->sections, w->section_count, w->section_cap)) {
		return -ENOMEM;
	}
	w->sections[w->section_count] = (struct store_section){.kind = kind, .item = item, .at = w->end};
	return 0;
}

int store_write_more(struct store_writer *w, const void *p, uint64_t bytes)
{
	int err = base_pwrite_all(w->fd, p, bytes, w->end);
	if (err == 0) {
		w->end += bytes;
		w->sections[w->section_count].bytes += bytes;
	}
	return err;
}

int store_write_again(struct store_writer *w, const void *p, uint64_t bytes, uint64_t at)
{
	return base_pwrite_all(w->fd, p, bytes, at);
}

int store_write_end(struct store_writer *w, uint64_t count)
{
	static const uint8_t zeros[8];
	int err = base_pwrite_all(w->fd, zeros, BASE_ALIGN8(w->end) - w->end, w->end);
	if (err == 0) {
		w->end = BASE_ALIGN8(w->end);
		w->sections[w->section_count++].count = count;
	}
	return err;
}

int store_write_section(struct store_writer *w, uint32_t kind, uint32_t item, const void *p, uint64_t bytes,
			uint64_t count)
{
	int err = store_write_begin(w, kind, item);
	if (err == 0) {
		err = store_write_more(w, p, bytes);
	}
	return err == 0 ? store_write_end(w, count) : err;
}

/* ---- what is there so far ---------------------------------------------------------------------- */

#define PAGES(n) (((n) + STORE_PAGE - 1) & ~(uint64_t)(STORE_PAGE - 1))

/* The copies and the directory, as the second part of what will be mapped: `first` is where it begins. */
static int view_copy(int fd, uint64_t first, struct store_section *list, uint32_t count, const struct store_piece *from,
		     uint64_t *ret_directory, uint64_t *ret_bytes)
{
	uint64_t end = 0;
	int err = 0;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		if (from[i].fd >= 0) {
			continue;
		}
		err = base_pwrite_all(fd, from[i].p, from[i].bytes, end);
		list[i].at = first + end;
		end = BASE_ALIGN8(end + from[i].bytes);
	}
	uint64_t bytes = count * sizeof *list, at = PAGES(end + bytes);
	for (uint32_t i = 0; i < count; i++) {
		list[i].kind = from[i].kind;
		list[i].bytes = from[i].bytes;
		list[i].count = from[i].count;
		if (from[i].fd >= 0) {
			list[i].at = first + at;
			at += PAGES(from[i].bytes);
		}
	}
	err = err < 0 ? err : base_pwrite_all(fd, list, bytes, end);
	*ret_directory = first + end;
	*ret_bytes = PAGES(end + bytes);
	return err;
}

static int map_part(uint8_t *to, uint64_t bytes, int fd)
{
	if (bytes == 0) {
		return 0;
	}
	void *p = mmap(to, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	return p == MAP_FAILED ? -errno : 0;
}

/* One range of addresses, of several files: the groups, the copies, the files of others. */
static int view_map(struct store_writer *w, int copies, uint64_t copied, const struct store_piece *from,
		    const struct store_section *list, uint32_t count, struct store *ret)
{
	uint64_t first = PAGES(w->end), total = first + copied;
	for (uint32_t i = 0; i < count; i++) {
		total += from[i].fd >= 0 ? PAGES(from[i].bytes) : 0;
	}
	void *range = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED) {
		return -errno;
	}
	uint8_t *p = range;
	*ret = (struct store){.fd = -1, .map = p, .map_bytes = total};
	int err = map_part(p, first, w->fd);
	err = err < 0 ? err : map_part(p + first, copied, copies);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = from[i].fd >= 0 ? map_part(p + list[i].at, PAGES(from[i].bytes), from[i].fd) : 0;
	}
	return err;
}

#define VIEW_SECTIONS 32u

int store_writer_view(struct store_writer *w, const struct store_piece *pieces, uint32_t count, const char *directory,
		      struct store *ret)
{
	struct store_piece from[VIEW_SECTIONS];
	struct store_section list[VIEW_SECTIONS] = {0};
	struct diag d = {0};
	uint64_t at, bytes;
	*ret = (struct store){.fd = -1};
	assert(count + 3 <= VIEW_SECTIONS);
	memcpy(from, pieces, count * sizeof *from);
	from[count++] =
		(struct store_piece){STORE_GROUPS, -1, w->groups, w->group_count * sizeof *w->groups, w->group_count};
	from[count++] =
		(struct store_piece){STORE_TYPE_COUNTS, -1, w->types, w->type_count * sizeof *w->types, w->type_count};
	from[count++] = (struct store_piece){STORE_PROCESS_COUNTS, -1, w->processes,
					     w->process_count * sizeof *w->processes, w->process_count};
	int fd = build_space_open(directory);
	if (fd < 0) {
		return fd;
	}
	int err = view_copy(fd, PAGES(w->end), list, count, from, &at, &bytes);
	err = err < 0 ? err : view_map(w, fd, bytes, from, list, count, ret);
	err = err < 0 ? err : store_take(ret, at, count, &d);
	if (err < 0 && ret->map) {
		store_close(ret);
	}
	close(fd);
	return err;
}

/* The directory and the header that names it. */
static int commit_sections(struct store_writer *w)
{
	uint64_t bytes = w->section_count * sizeof *w->sections;
	int err = base_pwrite_all(w->fd, w->sections, bytes, w->end);
	struct store_header h = {
		.magic = STORE_MAGIC,
		.version = STORE_VERSION,
		.group_rows = STORE_GROUP_ROWS,
		.key = w->key,
		.directory_at = w->end,
		.directory_count = (uint32_t)w->section_count,
		.directory_check = store_check(w->sections, bytes),
	};
	if (err == 0) {
		w->end += bytes;
		uint8_t page[STORE_PAGE] = {0};
		memcpy(page, &h, sizeof h);
		err = base_pwrite_all(w->fd, page, sizeof page, 0);
	}
	return err;
}

int store_writer_commit_fields(struct store_writer *w)
{
	return commit_sections(w);
}

int store_writer_commit(struct store_writer *w)
{
	size_t kept = w->section_count;
	int err =
		store_write_section(w, STORE_GROUPS, 0, w->groups, w->group_count * sizeof *w->groups, w->group_count);
	if (err == 0) {
		err = store_write_section(w, STORE_TYPE_COUNTS, 0, w->types, w->type_count * sizeof *w->types,
					  w->type_count);
	}
	if (err == 0) {
		err = store_write_section(w, STORE_PROCESS_COUNTS, 0, w->processes,
					  w->process_count * sizeof *w->processes, w->process_count);
	}
	err = err < 0 ? err : commit_sections(w);
	w->section_count = kept; /* those of the groups are written anew by the next commit */
	return err;
}
