/* SPDX-License-Identifier: MIT
 *
 * The two readings of a trace, and what is written of them.
 */
#include "query/query_build.h"

#include "base/vec.h"
#include "consume/consume.h"
#include "consume/consume_view.h"
#include "etl/etl_image.h"
#include "etl/etl_reader.h"
#include "etw/values/guids.h"
#include "format/etl_item.h"
#include "format/file_record.h"
#include "format/kernel_class.h"

#include "kernel_payload.h"
#include "query/build_stacks.h"
#include "query/build_who.h"

#include "openetw/decode.h"
#include "openetw/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STACK_MOST      4096u /* addresses of one record */
#define PROGRESS_EVERY  65536u
#define PROCESSORS_MOST 4096u

enum {
	HOOK_CSWITCH = KERNEL_HOOK(KERNEL_GROUP_THREAD, KP_THREAD_CSWITCH),
	HOOK_PROCESS_END = KERNEL_HOOK(KERNEL_GROUP_PROCESS, KP_PROCESS_END),
	HOOK_STACK = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK),
	HOOK_STACK_KEY_CREATE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_CREATE),
	HOOK_STACK_KEY_DELETE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_DELETE),
	HOOK_STACK_KEY_RUNDOWN = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_RUNDOWN),
	HOOK_STACK_KERNEL_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_KERNEL),
	HOOK_STACK_USER_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_USER),
};

struct places {
	uint64_t *list;
	size_t count, cap;
};
struct build {
	const char *path;
	struct diag *d;
	openetw_index_progress_fn progress;
	void *context;
	struct etl_clock clock;
	struct etl_file_info info;
	struct machine *machine;
	struct store_writer *writer;
	struct openetw_decoder *decoder;
	struct consume_view view;
	/* The rows that are being collected, and those before them, whose stacks may still come. */
	struct store_rows *rows, *before;
	uint64_t row_count;
	struct build_strings strings;
	struct build_who who;
	struct build_types types;
	struct build_stacks stacks;
	struct places buffers, tellers, teachers;
	struct map buffer_numbers;
	uint64_t last_buffer; /* place in the file */
	uint32_t last_number;
	uint32_t *running; /* of each processor, when each group began */
	size_t running_count, running_cap;
	uint64_t lost_stacks;
	struct file_record_image explained;
};

static int place_add(struct places *p, uint64_t place)
{
	if (!VEC_ROOM(p->list, p->count, p->cap)) {
		return -ENOMEM;
	}
	p->list[p->count++] = place;
	return 0;
}

/* Where a record stands, as the column `where` says it. */
static int where_of(struct build *b, const struct etl_record *r, uint64_t *ret)
{
	if (!r->raw) { /* the reader tells of a loss: it stands nowhere */
		*ret = STORE_NOWHERE;
		return 0;
	}
	if (b->buffers.count == 0 || r->file_offset != b->last_buffer) {
		size_t at = map_find(&b->buffer_numbers, r->file_offset);
		if (at == MAP_NONE) {
			int err = map_add(&b->buffer_numbers, r->file_offset, b->buffers.count);
			err = err ? err : place_add(&b->buffers, r->file_offset);
			if (err < 0) {
				return err;
			}
			b->last_number = (uint32_t)b->buffers.count - 1;
		} else {
			b->last_number = (uint32_t)map_value(&b->buffer_numbers, at);
		}
		b->last_buffer = r->file_offset;
	}
	*ret = (uint64_t)b->last_number << 32 | r->buffer_offset;
	return 0;
}

static int tell_progress(struct build *b, const struct etl_reader *r, bool second)
{
	uint64_t part = b->info.buffers_found ? b->info.file_bytes * etl_reader_buffers_done(r) / b->info.buffers_found
					      : b->info.file_bytes;
	uint64_t done = (second ? b->info.file_bytes : 0) + part;
	if (b->progress && !b->progress(b->context, done, 2 * b->info.file_bytes, b->row_count)) {
		return -ECANCELED;
	}
	return 0;
}

static int reader_open(struct build *b, struct etl_reader **ret)
{
	int err = etl_reader_open(b->path, 0, ret, b->d);
	if (err == 0) {
		etl_reader_use_windows(*ret);
		b->info = *etl_reader_info(*ret);
		b->clock = (struct etl_clock){
			.clock_type = b->info.clock_type,
			.perf_freq = b->info.perf_freq,
			.cpu_mhz = b->info.cpu_mhz,
			.start_raw = b->info.start_raw,
			.start_filetime = b->info.start_filetime,
		};
	}
	return err;
}

/* ---- the first reading ------------------------------------------------------------------------- */

static bool tells(uint8_t type, const uint8_t *raw)
{
	return machine_wants(type, raw) || consume_teaches(type, raw);
}

/* Who runs where and which stack is whose is for the second reading. */
static bool is_machine(const struct etl_record *r)
{
	return r->hook != HOOK_CSWITCH && r->hook >> 8 != KERNEL_GROUP_STACK;
}

static int first_reading(struct build *b)
{
	struct etl_reader *r;
	struct etl_record e;
	uint64_t n = 0, where;
	int err = reader_open(b, &r);
	if (err < 0) {
		return err;
	}
	etl_reader_only(r, tells);
	while (err >= 0 && (err = etl_reader_next(r, &e)) > 0) {
		if (!e.raw || !is_machine(&e)) {
			continue;
		}
		machine_add(b->machine, &e);
		err = where_of(b, &e, &where);
		bool teaches = consume_teaches(e.type, e.raw);
		if (teaches) {
			consume_teach(&e);
		}
		err = err < 0 ? err : place_add(teaches ? &b->teachers : &b->tellers, where);
		if (err == 0 && ++n % PROGRESS_EVERY == 0) {
			err = tell_progress(b, r, false);
		}
	}
	etl_reader_close(r);
	machine_rewind(b->machine);
	return err;
}

/* ---- stacks ------------------------------------------------------------------------------------ */

static uint32_t addresses_take(struct bytes bytes, unsigned size, uint64_t *out)
{
	uint32_t n = 0;
	while (n < STACK_MOST && bytes_left(&bytes) >= size) {
		out[n++] = size == 4 ? bytes_u32(&bytes) : bytes_u64(&bytes);
	}
	return n;
}

static int key_explained(struct build *b, const struct etl_record *r)
{
	const struct kernel_payload p = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	struct bytes frames = kernel_payload_from(p, KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_FRAMES);
	uint64_t list[STACK_MOST];
	uint32_t node, n = frames.bad ? 0 : addresses_take(frames, r->pointer_size, list);
	if (n == 0) {
		return 0;
	}
	int err = build_stacks_node(&b->stacks, list, n, &node);
	return err < 0 ? err
		       : build_stacks_explain(&b->stacks,
					      kernel_payload_get(p, KP_STACK_WALK_STACK_KEY_CREATE_SINCE_V0_STACK_KEY),
					      node, r->hook == HOOK_STACK_KEY_DELETE);
}

static bool is_rows_event(const struct build *b, uint32_t type, uint32_t thread, uint32_t tid)
{
	return b->types.list[type].hook >> 8 != KERNEL_GROUP_STACK &&
	       (thread == 0 || b->who.threads[thread].tid == tid);
}

/* The first row at or behind a time. Rows of a group are in the order of time but for those of damaged files, whose
 * stacks are then not found. */
static uint32_t row_from(const struct store_rows *rows, int64_t time)
{
	uint32_t low = 0, high = rows->rows;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (rows->time[mid] < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

static uint32_t row_from_written(const struct store_columns *c, int64_t time)
{
	uint32_t low = 0, high = c->rows;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (store_time(c, mid) < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Of events that were written already: of a thread that waited for long in the kernel. How many, or -errno. */
static int late_part(struct build *b, int64_t time, uint32_t tid, uint32_t part, bool user)
{
	uint32_t n, low = 0, high;
	const struct store_group *groups = store_writer_groups(b->writer, &n);
	int found = 0;
	for (high = n; low < high;) { /* the first that does not end before */
		uint32_t mid = low + (high - low) / 2;
		if (groups[mid].to < time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (; low < n && groups[low].from <= time; low++) {
		struct store_columns c;
		int err = store_writer_columns(b->writer, low, &c);
		if (err < 0) {
			return err;
		}
		for (uint32_t i = row_from_written(&c, time); i < c.rows && store_time(&c, i) == time; i++) {
			if (!is_rows_event(b, store_type_at(&c, i), c.thread[i], tid)) {
				continue;
			}
			uint32_t stack = c.stack ? c.stack[i] : 0;
			err = build_stacks_join(&b->stacks, stack, part, user, &stack);
			err = err < 0 ? err : store_write_late_stack(b->writer, low, i, stack);
			err = err < 0 ? err : store_writer_columns(b->writer, low, &c); /* they may have moved */
			if (err < 0) {
				return err;
			}
			found++;
		}
	}
	return found;
}

/* A part belongs to all events of exactly this time on this thread: what a merge adds about an image has the time of
 * the image's event. */
static int part_join(struct build *b, int64_t time, uint32_t tid, uint32_t part, bool user)
{
	struct store_rows *const in[] = {b->before, b->rows};
	int found = 0;
	for (size_t k = 0; k < BASE_ARRAY_LEN(in); k++) {
		for (uint32_t i = row_from(in[k], time); i < in[k]->rows && in[k]->time[i] == time; i++) {
			if (!is_rows_event(b, in[k]->type[i], in[k]->thread[i], tid)) {
				continue;
			}
			int err = build_stacks_join(&b->stacks, in[k]->stack[i], part, user, &in[k]->stack[i]);
			if (err < 0) {
				return err;
			}
			found++;
		}
	}
	if (found == 0) {
		found = late_part(b, time, tid, part, user);
	}
	b->lost_stacks += found == 0;
	return BASE_MIN(found, 0);
}

/* A record that is the stack, or a part of it, of an event before it. */
static int stack_record(struct build *b, const struct etl_record *r)
{
	const struct kernel_payload p = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	uint64_t list[STACK_MOST];
	uint32_t part = 0;
	int err = 0;
	if (r->hook >= HOOK_STACK_KEY_CREATE && r->hook <= HOOK_STACK_KEY_RUNDOWN) {
		return key_explained(b, r);
	}
	if (r->hook == HOOK_STACK) {
		struct bytes frames = kernel_payload_from(p, KP_STACK_WALK_STACK_SINCE_V0_STACK);
		uint32_t n = frames.bad ? 0 : addresses_take(frames, r->pointer_size, list);
		err = n ? build_stacks_node(&b->stacks, list, n, &part) : 0;
	} else if (r->hook == HOOK_STACK_KERNEL_KEY || r->hook == HOOK_STACK_USER_KEY) {
		uint32_t key = KP_STACK_WALK_STACK_KEY_KERNEL_SINCE_V0_STACK_KEY;
		err = kernel_payload_has(p, key) ? build_stacks_key(&b->stacks, kernel_payload_get(p, key), &part) : 0;
	}
	if (err < 0 || part == 0) {
		return err;
	}
	return part_join(b, build_time(&b->clock, kernel_payload_get(p, KP_STACK_WALK_STACK_SINCE_V0_TIMESTAMP)),
			 kernel_payload_get32(p, KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID), part,
			 r->hook == HOOK_STACK_USER_KEY);
}

/* The stack that the event carries itself. */
static int own_stack(struct build *b, const struct etl_record *r, uint32_t *ret)
{
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		bool wide = type == ETL_ITEM_STACK_TRACE64;
		if ((wide || type == ETL_ITEM_STACK_TRACE32) && bytes > 8) {
			uint64_t list[STACK_MOST];
			uint32_t node, n = addresses_take(bytes_of(data + 8, bytes - 8u), wide ? 8 : 4, list);
			int err = n ? build_stacks_node(&b->stacks, list, n, &node) : 0;
			return err < 0 || !n ? err : build_stacks_join(&b->stacks, *ret, node, false, ret);
		}
		if ((type == ETL_ITEM_STACK_KEY32 || type == ETL_ITEM_STACK_KEY64) && bytes >= 16) {
			uint32_t part;
			int err = build_stacks_key(&b->stacks, le64_get(data + 8), &part);
			return err < 0 ? err : build_stacks_join(&b->stacks, *ret, part, false, ret);
		}
	}
	return 0;
}

/* ---- what is no event -------------------------------------------------------------------------- */

/* The commands count as this does (tools/common/trace_reading.h). */
static bool is_header(struct build *b, const struct etl_record *r)
{
	return r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER &&
	       file_record_is(&b->explained, &r->provider, r->time_raw, r->payload, r->payload_bytes);
}

/* What the first event of a type says its names are. The first reading has taught what events mean. */
static int type_name(struct build *b, const struct etl_record *r, struct store_type *t)
{
	EVENT_RECORD e;
	const char *provider = "", *name = "";
	int err = consume_view_fill(&b->view, r, r->time_filetime, NULL, &e);
	if (err == 0) {
		openetw_event_names(b->decoder, &e, &provider, &name);
		err = build_string(&b->strings, provider, &t->provider_name);
	}
	return err == 0 ? build_string(&b->strings, name, &t->name) : err;
}

/* ---- the second reading ------------------------------------------------------------------------ */

static int group_begin(struct build *b)
{
	uint32_t n = BASE_MIN(b->info.processors, PROCESSORS_MOST);
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		if (!VEC_ROOM(b->running, b->running_count, b->running_cap)) {
			return -ENOMEM;
		}
		b->running[b->running_count++] = machine_running(b->machine, (uint16_t)cpu);
	}
	return 0;
}

static int group_next(struct build *b)
{
	struct store_rows *full = b->rows;
	int err = store_write_group(b->writer, b->before);
	b->rows = b->before;
	b->before = full;
	b->rows->rows = 0;
	return err;
}

static int exit_code(struct build *b, const struct etl_record *r)
{
	const struct kernel_payload p = {r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
	uint32_t process;
	if (!kernel_payload_has(p, KP_PROCESS_END_SINCE_V1_EXIT_STATUS)) {
		return 0;
	}
	int err = build_process(&b->who, machine_who(b->machine, r).pid, r->time_filetime, &process);
	if (err == 0 && process) {
		b->who.processes[process].exit_code =
			(int32_t)kernel_payload_get32(p, KP_PROCESS_END_SINCE_V1_EXIT_STATUS);
		b->who.processes[process].has_exit_code = 1;
	}
	return err;
}

static int row_add(struct build *b, const struct etl_record *r)
{
	struct store_rows *to = b->rows;
	uint32_t i = to->rows;
	int err = i == 0 ? group_begin(b) : 0;
	if (err == 0) {
		err = where_of(b, r, &to->where[i]);
	}
	machine_follow(b->machine, r);
	/* Those of the header; without any, whom the event is about, or who ran there. */
	struct machine_who who = {r->pid, r->tid};
	if (who.pid == MACHINE_NO_ID && who.tid == MACHINE_NO_ID) {
		who = machine_who(b->machine, r);
	}
	if (err == 0) {
		size_t known = b->types.count;
		err = build_type(&b->types, r, to->where[i], &to->type[i]);
		if (err == 0 && b->types.count > known) {
			err = type_name(b, r, &b->types.list[known]);
		}
	}
	if (err == 0) {
		err = build_process(&b->who, who.pid, r->time_filetime, &to->process[i]);
	}
	if (err == 0) {
		err = build_thread(&b->who, who.tid, to->process[i], r->time_filetime, &to->thread[i]);
	}
	to->time[i] = build_time(&b->clock, r->time_raw);
	to->cpu[i] = r->cpu;
	to->stack[i] = 0;
	if (err == 0 && r->items_bytes) {
		err = own_stack(b, r, &to->stack[i]);
	}
	if (err < 0) {
		return err;
	}
	if (BASE_UNLIKELY(r->hook == HOOK_PROCESS_END)) {
		err = exit_code(b, r);
	}
	to->rows++;
	b->row_count++;
	return err == 0 && to->rows == STORE_GROUP_ROWS ? group_next(b) : err;
}

static int losses_write(struct build *b, struct etl_reader *r)
{
	struct store_loss *list = NULL;
	struct etl_loss_range l;
	size_t count = 0, cap = 0;
	int err;
	while ((err = etl_reader_next_loss(r, &l)) > 0) {
		if (!VEC_ROOM(list, count, cap)) {
			err = -ENOMEM;
			break;
		}
		list[count++] = (struct store_loss){
			.from = build_time_of_filetime(&b->clock, l.from_filetime),
			.to = build_time_of_filetime(&b->clock, l.to_filetime),
			.count = l.count,
			.kind = l.kind,
			.cpu = l.cpu == UINT16_MAX ? STORE_NONE : l.cpu,
		};
	}
	if (err == 0) {
		err = store_write_section(b->writer, STORE_LOSSES, 0, list, count * sizeof *list, count);
	}
	free(list);
	return err;
}

static int problems_write(struct build *b, struct etl_reader *r)
{
	struct store_problem *list = NULL;
	struct etl_problem p;
	size_t count = 0, cap = 0;
	int err = 0;
	while (err == 0 && etl_reader_next_problem(r, &p)) {
		uint32_t text;
		err = build_string(&b->strings, p.text, &text);
		if (err == 0 && !VEC_ROOM(list, count, cap)) {
			err = -ENOMEM;
		}
		if (err == 0) {
			list[count++] = (struct store_problem){.file_offset = p.file_offset, .text = text};
		}
	}
	if (err == 0) {
		err = store_write_section(b->writer, STORE_PROBLEMS, 0, list, count * sizeof *list, count);
	}
	free(list);
	return err;
}

static int second_reading(struct build *b)
{
	struct etl_reader *r;
	struct etl_record e;
	int err = reader_open(b, &r);
	if (err < 0) {
		return err;
	}
	while (err >= 0 && (err = etl_reader_next(r, &e)) > 0) {
		err = is_header(b, &e) ? 0 : row_add(b, &e);
		if (err == 0 && e.hook >> 8 == KERNEL_GROUP_STACK) {
			err = stack_record(b, &e);
		}
		if (err == 0 && b->row_count % PROGRESS_EVERY == 0) {
			err = tell_progress(b, r, true);
		}
	}
	if (err == 0) {
		err = store_write_group(b->writer, b->before);
	}
	if (err == 0) {
		err = store_write_group(b->writer, b->rows);
	}
	if (err == 0) {
		err = losses_write(b, r);
	}
	if (err == 0) {
		err = problems_write(b, r);
	}
	if (err == 0) {
		err = tell_progress(b, r, true);
	}
	etl_reader_close(r);
	return err;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int section(struct build *b, uint32_t kind, const void *p, size_t each, uint64_t count)
{
	return store_write_section(b->writer, kind, 0, p, each * count, count);
}

static uint32_t loss_unknown(const struct build *b)
{
	return b->info.stopped_cleanly ? 0 : OPENETW_UNKNOWN_NOT_CLOSED;
}

static int about_write(struct build *b)
{
	uint32_t n;
	const struct store_group *groups = store_writer_groups(b->writer, &n);
	struct store_about a = {
		.start_filetime = (int64_t)b->info.start_filetime,
		.trace_end = b->info.end_filetime ? build_time_of_filetime(&b->clock, b->info.end_filetime) : INT64_MIN,
		.rows = b->row_count,
		.boot_filetime = b->info.boot_filetime,
		.events_lost = b->info.events_lost,
		.buffers_lost = b->info.buffers_lost,
		.stacks_without_event = b->lost_stacks,
		.types_left_out = b->types.left_out,
		.processors = b->info.processors,
		.pointer_size = b->info.pointer_size,
		.loss_unknown = loss_unknown(b),
		.os_version = b->info.os_version,
		.os_build = b->info.os_build,
	};
	for (uint32_t i = 0; i < n; i++) {
		a.first = i ? BASE_MIN(a.first, groups[i].from) : groups[i].from;
		a.last = i ? BASE_MAX(a.last, groups[i].to) : groups[i].to;
	}
	return section(b, STORE_ABOUT, &a, sizeof a, 1);
}

static int dictionaries_write(struct build *b)
{
	build_stacks_settle(&b->stacks);
	for (size_t i = 0; i < b->types.count; i++) {
		b->types.list[i].rows_low = (uint32_t)b->types.rows[i];
		b->types.list[i].rows_high = (uint32_t)(b->types.rows[i] >> 32);
		b->types.list[i].first_where = b->types.first_where[i];
	}
	const struct {
		uint32_t kind;
		const void *p;
		size_t each;
		uint64_t count;
	} all[] = {
		{STORE_TYPES, b->types.list, sizeof *b->types.list, b->types.count},
		{STORE_PROCESSES, b->who.processes, sizeof *b->who.processes, b->who.process_count},
		{STORE_THREADS, b->who.threads, sizeof *b->who.threads, b->who.thread_count},
		{STORE_BUFFERS, b->buffers.list, sizeof *b->buffers.list, b->buffers.count},
		{STORE_STACKS, build_set_items(&b->stacks.pairs), sizeof(uint64_t), b->stacks.pairs.count},
		{STORE_NODES, build_set_items(&b->stacks.nodes), sizeof(uint64_t), b->stacks.nodes.count},
		{STORE_FRAMES, build_set_items(&b->stacks.frames), sizeof(uint64_t), b->stacks.frames.count},
		{STORE_RUNNING, b->running, sizeof *b->running, b->running_count},
		{STORE_TELLERS, b->tellers.list, sizeof *b->tellers.list, b->tellers.count},
		{STORE_TEACHERS, b->teachers.list, sizeof *b->teachers.list, b->teachers.count},
		{STORE_STRINGS, b->strings.bytes, 1, b->strings.count},
	};
	int err = about_write(b);
	for (size_t i = 0; i < BASE_ARRAY_LEN(all) && err == 0; i++) {
		err = section(b, all[i].kind, all[i].p, all[i].each, all[i].count);
	}
	return err;
}

static int build_run(struct build *b)
{
	int err = first_reading(b);
	if (err == 0) {
		err = build_who_create(&b->who, b->machine, &b->clock, &b->strings);
	}
	if (err == 0) {
		err = second_reading(b);
	}
	if (err == 0) {
		err = dictionaries_write(b);
	}
	return err == 0 ? store_writer_commit(b->writer) : err;
}

int build_index(const char *path, const struct store_key *key, int out, const char *directory,
		openetw_index_progress_fn progress, void *context, struct diag *d)
{
	struct build *b = calloc(1, sizeof *b);
	if (!b) {
		return -ENOMEM;
	}
	*b = (struct build){.path = path, .d = d, .progress = progress, .context = context};
	b->machine = machine_create(0);
	b->decoder = openetw_decoder_create();
	b->rows = malloc(sizeof *b->rows);
	b->before = malloc(sizeof *b->before);
	int err = b->machine && b->decoder && b->rows && b->before ? 0 : -ENOMEM;
	if (err == 0) {
		b->rows->rows = b->before->rows = 0;
		err = store_writer_create(out, key, &b->writer);
	}
	int stacks = build_stacks_create(&b->stacks, directory);
	err = err < 0 ? err : stacks;
	err = err < 0 ? err : build_strings_create(&b->strings);
	err = err < 0 ? err : build_types_create(&b->types);
	err = err < 0 ? err : build_run(b);
	store_writer_destroy(b->writer);
	build_stacks_free(&b->stacks);
	build_strings_free(&b->strings);
	build_types_free(&b->types);
	build_who_free(&b->who);
	machine_destroy(b->machine);
	openetw_decoder_destroy(b->decoder);
	consume_view_free(&b->view);
	map_free(&b->buffer_numbers);
	free(b->buffers.list);
	free(b->tellers.list);
	free(b->teachers.list);
	free(b->running);
	free(b->rows);
	free(b->before);
	free(b);
	return err;
}
