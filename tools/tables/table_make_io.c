/* SPDX-License-Identifier: MIT
 * Tables: operations of disks and files: io, files.
 */
#include "tools/tables/table_kernel.h"

#include "base/vec.h"

#include <stdlib.h>

#define OPS_MAX (1u << 20) /* operations whose end may still come */

static uint64_t ticks_ns(const struct table_kernel *k, uint64_t ticks)
{
	return k->m->ticks_per_second ? clock_muldiv(ticks, 1000000000, k->m->ticks_per_second) : 0;
}

/* ---- io ------------------------------------------------------------------------------------------- */

static const char *op_name(enum kevent_op op)
{
	static const char *const names[] = {
		[KOP_OTHER] = "other",   [KOP_READ] = "read",           [KOP_WRITE] = "write", [KOP_FLUSH] = "flush",
		[KOP_CREATE] = "create", [KOP_CLEANUP] = "cleanup",     [KOP_CLOSE] = "close", [KOP_DELETE] = "delete",
		[KOP_RENAME] = "rename", [KOP_DIRECTORY] = "directory", [KOP_MAP] = "map",     [KOP_UNMAP] = "unmap"};
	return op < BASE_ARRAY_LEN(names) && names[op] ? names[op] : "other";
}

void table_io_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = table_build_column(k->b, "duration", SQL_TYPE_U64);
	k->c[2] = table_build_column(k->b, "layer", SQL_TYPE_TEXT);
	k->c[3] = table_build_column(k->b, "operation", SQL_TYPE_TEXT);
	table_who_columns(k->b, &k->who);
	k->c[4] = table_build_column(k->b, "file", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[6] = table_build_column(k->b, "asked", SQL_TYPE_U64);
	k->c[7] = table_build_column(k->b, "offset", SQL_TYPE_U64);
	k->c[8] = table_build_column(k->b, "disk", SQL_TYPE_U32);
	k->c[9] = table_build_column(k->b, "status", SQL_TYPE_I32);
	k->c[10] = table_build_column(k->b, "stack", SQL_TYPE_U32);
	k->c[11] = table_build_column(k->b, "queue", SQL_TYPE_U32);
}

static void put_disk(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	uint64_t ns = ticks_ns(k, s->duration);
	table_build_number(k->b, k->c[0], (uint64_t)(table_make_time(k->m, s->time) - (int64_t)ns));
	table_build_number(k->b, k->c[1], ns);
	table_put_string(k->b, k->c[2], "disk");
	table_put_string(k->b, k->c[3], op_name(s->op));
	table_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	table_put_string(k->b, k->c[4], s->file);
	if (s->op != KOP_FLUSH) {
		table_build_number(k->b, k->c[5], s->bytes);
		table_build_number(k->b, k->c[7], s->offset);
	}
	table_build_number(k->b, k->c[8], s->disk);
	table_kernel_stack(k, k->c[10], table_make_stack(k->m, e));
	if (VEC_ROOM(k->transfers, k->transfer_count, k->transfer_cap)) {
		int64_t end = table_make_time(k->m, s->time);
		uint64_t file = (uint64_t)k->m->file << 32;
		k->transfers[k->transfer_count++] =
			(struct transfer){file | s->disk, end - (int64_t)ns, end, table_build_rows(k->b)};
	} else {
		k->m->failed = true;
	}
	table_build_row(k->b);
}

/* ---- how many a disk had to do ---- */

static int by_start(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;
	return x->disk != y->disk     ? (x->disk < y->disk ? -1 : 1)
	       : x->start != y->start ? (x->start < y->start ? -1 : 1)
				      : (x->row < y->row ? -1 : x->row > y->row);
}

static int by_end(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;
	return x->disk != y->disk ? (x->disk < y->disk ? -1 : 1) : x->end < y->end ? -1 : x->end > y->end;
}

/* For each the operations of its disk that had begun, itself included, and not ended when it began. */
static void put_queues(struct table_kernel *k)
{
	if (k->transfer_count == 0) {
		return;
	}
	struct transfer *ends = malloc(((size_t)k->transfer_count + 1) * sizeof *ends);
	if (!ends) {
		k->m->failed = true;
		return;
	}
	memcpy(ends, k->transfers, k->transfer_count * sizeof *ends);
	qsort(k->transfers, k->transfer_count, sizeof *ends, by_start);
	qsort(ends, k->transfer_count, sizeof *ends, by_end);
	uint32_t begun = 0, ended = 0;
	for (uint32_t i = 0; i < k->transfer_count; i++) {
		const struct transfer *t = &k->transfers[i];
		if (i == 0 || t->disk != t[-1].disk) {
			begun = 0;
			ended = 0;
		}
		begun++;
		uint32_t first = i + 1 - begun; /* of this disk, in both lists */
		while (first + ended < k->transfer_count && ends[first + ended].disk == t->disk &&
		       ends[first + ended].end <= t->start) {
			ended++;
		}
		table_build_late(k->b, k->c[11], t->row, BASE_MAX(begun - BASE_MIN(ended, begun), 1u));
	}
	free(ends);
}

/* `end`: NULL, the trace does not tell. */
static void put_operation(struct table_kernel *k, const struct operation *o, const struct kevent *end)
{
	bool moves = o->op == KOP_READ || o->op == KOP_WRITE;
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, o->time));
	table_put_string(k->b, k->c[2], "file");
	table_put_string(k->b, k->c[3], op_name(o->op));
	table_who_put(k->m, k->b, &k->who, o->pid, o->tid, o->time);
	table_put_string(k->b, k->c[4], o->file);
	if (moves) {
		table_build_number(k->b, k->c[6], o->asked);
		table_build_number(k->b, k->c[7], o->offset);
	}
	if (end) {
		table_build_number(k->b, k->c[1], (end->time - o->time) * 100);
		table_build_number(k->b, k->c[9], end->status);
		if (moves) {
			table_build_number(k->b, k->c[5], end->bytes);
		}
	}
	table_kernel_stack(k, k->c[10], o->stack);
	table_build_row(k->b);
}

static struct operation *open_operation(struct table_kernel *k, uint64_t irp, size_t *ret_at)
{
	*ret_at = irp ? map_find(&k->op_of, irp) : MAP_NONE;
	return *ret_at != MAP_NONE ? &k->ops[map_value(&k->op_of, *ret_at)] : NULL;
}

/* The last one takes its place. */
static void forget_operation(struct table_kernel *k, struct operation *o, size_t at)
{
	free(o->file);
	struct operation *last = &k->ops[--k->op_count];
	if (o != last) {
		map_set(&k->op_of, map_find(&k->op_of, last->irp), (uint64_t)(o - k->ops));
		*o = *last;
	}
	map_remove(&k->op_of, at);
}

/* The same operation as before: with its path, or a Cleanup as a Close. */
static bool told_again(const struct operation *o, const struct kevent *s)
{
	return (s->with_path && o->op == s->op) || (s->op == KOP_CLOSE && o->op == KOP_CLEANUP);
}

/* False: it waits for no end. */
static bool keep_operation(struct table_kernel *k, const struct kevent *s, uint32_t stack)
{
	struct operation n = {.irp = s->irp,
			      .time = s->time,
			      .pid = s->pid,
			      .tid = s->tid,
			      .op = s->op,
			      .asked = s->asked,
			      .offset = s->offset,
			      .stack = stack,
			      .file = s->file ? strdup(s->file) : NULL};
	if (!s->irp || !VEC_ROOM_UP_TO(k->ops, k->op_count, k->op_cap, OPS_MAX) ||
	    map_add(&k->op_of, s->irp, k->op_count) < 0) {
		free(n.file);
		return false;
	}
	k->ops[k->op_count++] = n;
	return true;
}

void table_io_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	size_t at;
	if (s->kind == KEVENT_DISK) {
		put_disk(k, e, s);
		return;
	}
	if (s->kind != KEVENT_FILE_END && (s->kind != KEVENT_FILE || s->op == KOP_MAP || s->op == KOP_UNMAP)) {
		return;
	}
	struct operation *o = open_operation(k, s->irp, &at);
	if (o && s->kind == KEVENT_FILE && told_again(o, s)) {
		return;
	}
	if (o) {
		put_operation(k, o, s->kind == KEVENT_FILE_END ? s : NULL);
		forget_operation(k, o, at);
	}
	if (s->kind == KEVENT_FILE) {
		uint32_t stack = table_make_stack(k->m, e);
		if (!keep_operation(k, s, stack)) {
			struct operation only = {.time = s->time,
						 .pid = s->pid,
						 .tid = s->tid,
						 .op = s->op,
						 .asked = s->asked,
						 .offset = s->offset,
						 .stack = stack,
						 .file = (char *)(uintptr_t)s->file};
			put_operation(k, &only, NULL);
		}
	}
}

/* Those whose end did not come. */
void table_io_rest(struct table_kernel *k)
{
	for (uint32_t i = 0; i < k->op_count; i++) {
		put_operation(k, &k->ops[i], NULL);
	}
	put_queues(k);
}

/* ---- files ---------------------------------------------------------------------------------------- */

void table_files_columns(struct table_kernel *k)
{
	static const char *const names[] = {
		"reads",         "writes",     "creates",     "others",          "bytes_read",
		"bytes_written", "disk_reads", "disk_writes", "disk_bytes_read", "disk_bytes_written",
		"disk_time"};
	k->c[0] = table_build_column(k->b, "file", SQL_TYPE_TEXT);
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		k->c[i + 1] = table_build_column(k->b, names[i], SQL_TYPE_U64);
	}
}

enum {
	READS,
	WRITES,
	CREATES,
	OTHERS,
	BYTES_READ,
	BYTES_WRITTEN,
	DISK_READS,
	DISK_WRITES,
	DISK_BYTES_READ,
	DISK_BYTES_WRITTEN,
	DISK_TIME
};

static struct sums *sums_of(struct table_kernel *k, const char *file)
{
	uint64_t key = map_hash(&k->file_of, file, strlen(file));
	MAP_EACH(&k->file_of, key, at) {
		struct sums *s = &k->files[map_value(&k->file_of, at)];
		if (strcmp(s->file, file) == 0) {
			return s;
		}
	}
	char *copy = strdup(file);
	if (!copy || !VEC_ROOM(k->files, k->file_count, k->file_cap) || map_add(&k->file_of, key, k->file_count) < 0) {
		free(copy);
		k->m->failed = true;
		return NULL;
	}
	k->files[k->file_count] = (struct sums){.file = copy};
	return &k->files[k->file_count++];
}

static void add_disk(struct table_kernel *k, const struct kevent *s)
{
	struct sums *f = s->file && s->op != KOP_FLUSH ? sums_of(k, s->file) : NULL;
	if (f) {
		f->v[s->op == KOP_READ ? DISK_READS : DISK_WRITES]++;
		f->v[s->op == KOP_READ ? DISK_BYTES_READ : DISK_BYTES_WRITTEN] += s->bytes;
		f->v[DISK_TIME] += ticks_ns(k, s->duration);
	}
}

/* What was moved only the end says: the operation waits for it with its file's name. */
void table_files_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	size_t at;
	struct operation *o;
	struct sums *f;
	(void)e;
	if (s->kind == KEVENT_DISK) {
		add_disk(k, s);
		return;
	}
	o = s->kind == KEVENT_FILE || s->kind == KEVENT_FILE_END ? open_operation(k, s->irp, &at) : NULL;
	if (s->kind == KEVENT_FILE_END && o) {
		f = o->file && (o->op == KOP_READ || o->op == KOP_WRITE) ? sums_of(k, o->file) : NULL;
		if (f) {
			f->v[o->op == KOP_READ ? BYTES_READ : BYTES_WRITTEN] += s->bytes;
		}
		forget_operation(k, o, at);
	}
	if (s->kind != KEVENT_FILE || s->op == KOP_MAP || s->op == KOP_UNMAP || (o && told_again(o, s))) {
		return;
	}
	f = s->file ? sums_of(k, s->file) : NULL;
	if (f) {
		f->v[s->op == KOP_READ     ? READS
		     : s->op == KOP_WRITE  ? WRITES
		     : s->op == KOP_CREATE ? CREATES
					   : OTHERS]++;
	}
	if (o) {
		forget_operation(k, o, at);
	}
	keep_operation(k, s, 0);
}

void table_files_rest(struct table_kernel *k)
{
	for (uint32_t i = 0; i < k->file_count; i++) {
		table_put_string(k->b, k->c[0], k->files[i].file);
		for (size_t j = 0; j < BASE_ARRAY_LEN(k->files[i].v); j++) {
			table_build_number(k->b, k->c[j + 1], k->files[i].v[j]);
		}
		table_build_row(k->b);
	}
}

void table_io_free(struct table_kernel *k)
{
	for (uint32_t i = 0; i < k->op_count; i++) {
		free(k->ops[i].file);
	}
	for (uint32_t i = 0; i < k->file_count; i++) {
		free(k->files[i].file);
	}
	free(k->ops);
	free(k->files);
	free(k->transfers);
	map_free(&k->op_of);
	map_free(&k->file_of);
}
