/* SPDX-License-Identifier: MIT
 *
 * The two readings of a trace, and what is written of them.
 */
#include "query/build_state.h"

#include "base/vec.h"
#include "consume/consume.h"
#include "etl/etl_image.h"
#include "etw/values/guids.h"
#include "format/kernel_class.h"

#include "kernel_payload.h"

#include "openetw/trace.h"

#include <stdlib.h>

#define PROGRESS_NS     50000000u
#define PROCESSORS_MOST 4096u

enum {
	HOOK_CSWITCH = KERNEL_HOOK(KERNEL_GROUP_THREAD, KP_THREAD_CSWITCH),
	HOOK_PROCESS_END = KERNEL_HOOK(KERNEL_GROUP_PROCESS, KP_PROCESS_END),
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

/* Of the trace, in this reading. */
static uint64_t bytes_done(const struct build *b, const struct etl_reader *r)
{
	return b->info.buffers_found ? (uint64_t)((unsigned __int128)b->info.file_bytes * etl_reader_buffers_done(r) /
						  b->info.buffers_found)
				     : b->info.file_bytes;
}

/* Somebody wants the work to end: then the first reading gets the next record, whatever it is. */
static _Thread_local bool reading_stops;

static void tell_progress(struct build *b, const struct etl_reader *r)
{
	uint64_t done = (b->second ? b->info.file_bytes : 0) + bytes_done(b, r);
	b->told_ns = clock_read_system_ns();
	if (b->options->progress &&
	    !b->options->progress(b->options->context, done, 2 * b->info.file_bytes, b->row_count)) {
		b->stop = reading_stops = true;
	}
}

static bool on_buffer(void *context, const uint8_t *buf, uint32_t bytes)
{
	struct build *b = context;
	(void)buf;
	(void)bytes;
	if (clock_read_system_ns() - b->told_ns > PROGRESS_NS) {
		tell_progress(b, b->reader);
	}
	return false;
}

static int reader_open(struct build *b, struct etl_reader **ret)
{
	int err = etl_reader_open(b->path, 0, ret, b->d);
	if (err == 0) {
		etl_reader_use_windows(*ret);
		etl_reader_on_buffer(*ret, on_buffer, b);
		b->reader = *ret;
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
	return reading_stops || machine_wants(type, raw) || consume_teaches(type, raw);
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
	uint64_t where;
	int err = reader_open(b, &r);
	if (err < 0) {
		return err;
	}
	etl_reader_only(r, tells);
	while (err >= 0 && (err = etl_reader_next(r, &e)) > 0 && !b->stop) {
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
	}
	etl_reader_close(r);
	machine_rewind(b->machine);
	return b->stop ? -ECANCELED : err;
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

/* ---- dictionaries ------------------------------------------------------------------------------- */

static uint32_t loss_unknown(const struct build *b)
{
	return b->info.stopped_cleanly ? 0 : OPENETW_UNKNOWN_NOT_CLOSED;
}

static struct store_about about_of(const struct build *b)
{
	uint32_t n;
	const struct store_group *groups = store_writer_groups(b->writer, &n);
	struct store_about a = {
		.start_filetime = (int64_t)b->info.start_filetime,
		.trace_end = b->info.end_filetime ? build_time_of_filetime(&b->clock, b->info.end_filetime) : INT64_MIN,
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
		a.rows += groups[i].rows;
	}
	return a;
}

/* What the index has besides groups, losses and damage. `types`: those of the builder, or a copy. Frames are last. */
#define PIECES 12u
static void pieces_of(const struct build *b, const struct store_about *about, const struct store_type *types,
		      uint64_t running, struct store_piece ret[PIECES])
{
	const struct build_set *pairs = &b->stacks.pairs, *nodes = &b->stacks.nodes, *frames = &b->stacks.frames;
	const struct {
		uint32_t kind;
		int fd;
		const void *p;
		size_t each;
		uint64_t count;
	} all[PIECES] = {
		{STORE_ABOUT, -1, about, sizeof *about, 1},
		{STORE_TYPES, -1, types, sizeof *types, b->types.count},
		{STORE_PROCESSES, -1, b->who.processes, sizeof *b->who.processes, b->who.process_count},
		{STORE_THREADS, -1, b->who.threads, sizeof *b->who.threads, b->who.thread_count},
		{STORE_BUFFERS, -1, b->buffers.list, sizeof *b->buffers.list, b->buffers.count},
		{STORE_RUNNING, -1, b->running, sizeof *b->running, running},
		{STORE_TELLERS, -1, b->tellers.list, sizeof *b->tellers.list, b->tellers.count},
		{STORE_TEACHERS, -1, b->teachers.list, sizeof *b->teachers.list, b->teachers.count},
		{STORE_STRINGS, -1, b->strings.bytes, 1, b->strings.count},
		{STORE_STACKS, pairs->items.fd, pairs->items.p, sizeof(uint64_t), pairs->count},
		{STORE_NODES, nodes->items.fd, nodes->items.p, sizeof(uint64_t), nodes->count},
		{STORE_FRAMES, frames->items.fd, frames->items.p, sizeof(uint64_t), frames->count},
	};
	for (size_t i = 0; i < PIECES; i++) {
		ret[i] = (struct store_piece){all[i].kind, all[i].fd, all[i].p, all[i].each * all[i].count,
					      all[i].count};
	}
}

/* ---- what is there so far ------------------------------------------------------------------------ */

#define VIEW_NS      1000000000u
#define VIEW_CHEAP   (64u << 20) /* bytes of copies */
#define VIEW_MORE(n) ((n) + (n) / 4)

static void count_less(struct store_type *types, const struct store_rows *rows)
{
	for (uint32_t i = 0; i < rows->rows; i++) {
		struct store_type *t = &types[rows->type[i]];
		t->rows_high -= t->rows_low == 0;
		t->rows_low--;
	}
}

static void settle_types(const struct build *b, struct store_type *types)
{
	for (size_t i = 0; i < b->types.count; i++) {
		types[i].rows_low = (uint32_t)b->types.rows[i];
		types[i].rows_high = (uint32_t)(b->types.rows[i] >> 32);
		types[i].first_where = b->types.first_where[i];
	}
}

/* The rows that are written, with the dictionaries as they are now. */
static int view_make(struct build *b, const struct store_about *about, uint32_t groups, struct store *ret)
{
	struct store_piece pieces[PIECES];
	struct store_type *types = malloc(b->types.count * sizeof *types);
	if (!types) {
		return -ENOMEM;
	}
	memcpy(types, b->types.list, b->types.count * sizeof *types);
	settle_types(b, types);
	count_less(types, b->rows);
	count_less(types, b->before);
	pieces_of(b, about, types, (uint64_t)groups * BASE_MIN(b->info.processors, PROCESSORS_MOST), pieces);
	int err = store_writer_view(b->writer, pieces, PIECES, b->options->directory, ret);
	ret->frame_flip = UINT64_MAX;
	for (size_t i = 0; i < PIECES; i++) {
		b->view_bytes += pieces[i].fd < 0 ? pieces[i].bytes : 0;
	}
	free(types);
	return err;
}

/* Tells of a view, when one is due. All views together are at most about five times the dictionaries. */
static int view_tell(struct build *b, uint64_t bytes)
{
	struct store_about about = about_of(b);
	struct store view;
	uint32_t groups;
	uint64_t now = clock_read_system_ns();
	bool soon = now - b->view_ns > VIEW_NS && b->view_bytes < VIEW_CHEAP;
	if (about.rows < VIEW_MORE(b->view_rows) && !soon) {
		return 0;
	}
	store_writer_groups(b->writer, &groups);
	int err = view_make(b, &about, groups, &view);
	if (err == 0) {
		b->view_rows = about.rows;
		b->view_ns = now;
		b->options->view(b->options->context, &view, bytes);
		tell_progress(b, b->reader);
	}
	return err;
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
	uint64_t there = b->bytes_before;
	bool more = b->before->rows > 0;
	int err = store_write_group(b->writer, b->before);
	b->rows = b->before;
	b->before = full;
	b->rows->rows = 0;
	b->bytes_before = bytes_done(b, b->reader);
	return err == 0 && more && b->options->view ? view_tell(b, there) : err;
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
		err = build_own_stack(b, r, &to->stack[i]);
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
	b->second = true;
	b->view_ns = clock_read_system_ns();
	while (err >= 0 && (err = etl_reader_next(r, &e)) > 0 && !b->stop) {
		err = is_header(b, &e) ? 0 : row_add(b, &e);
		if (err == 0 && e.hook >> 8 == KERNEL_GROUP_STACK) {
			err = build_stack_record(b, &e);
		}
	}
	err = b->stop ? -ECANCELED : err;
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
		tell_progress(b, r);
	}
	etl_reader_close(r);
	return b->stop ? -ECANCELED : err;
}

/* ---- the end ----------------------------------------------------------------------------------- */

#define FRAMES_AT_ONCE 4096u

static int frames_write(struct build *b)
{
	const uint64_t *inverted = build_set_items(&b->stacks.frames);
	uint64_t frames[FRAMES_AT_ONCE];
	int err = store_write_begin(b->writer, STORE_FRAMES, 0);
	for (uint32_t i = 0, n; i < b->stacks.frames.count && err == 0; i += n) {
		n = BASE_MIN(b->stacks.frames.count - i, FRAMES_AT_ONCE);
		for (uint32_t k = 0; k < n; k++) {
			frames[k] = ~inverted[i + k];
		}
		err = store_write_more(b->writer, frames, n * sizeof *frames);
	}
	return err == 0 ? store_write_end(b->writer, b->stacks.frames.count) : err;
}

/* Rows with the same frames get the same stack, the first one that has these. The others stay, so that what views know
 * stays true; no row has them. */
static int stacks_unite(struct build *b)
{
	struct build_space space;
	struct store_columns c;
	uint32_t groups;
	int err = build_stacks_first(&b->stacks, &space);
	const uint32_t *first = space.p;
	store_writer_groups(b->writer, &groups);
	for (uint32_t g = 0; g < groups && first && err == 0; g++) {
		bool changed = false;
		err = store_writer_columns(b->writer, g, &c);
		for (uint32_t i = 0; err == 0 && c.stack && i < c.rows; i++) {
			uint32_t stack = c.stack[i] < b->stacks.pairs.count ? first[c.stack[i]] : 0;
			b->before->stack[i] = stack;
			changed = changed || stack != c.stack[i];
		}
		err = err == 0 && changed ? store_write_stacks(b->writer, g, b->before->stack) : err;
	}
	build_space_free(&space);
	return err;
}

static int dictionaries_write(struct build *b)
{
	struct store_about about = about_of(b);
	struct store_piece pieces[PIECES];
	int err = 0;
	build_stacks_settle(&b->stacks);
	err = stacks_unite(b);
	settle_types(b, b->types.list);
	pieces_of(b, &about, b->types.list, b->running_count, pieces);
	for (size_t i = 0; i + 1 < PIECES && err == 0; i++) {
		err = store_write_section(b->writer, pieces[i].kind, 0, pieces[i].p, pieces[i].bytes, pieces[i].count);
	}
	return err == 0 ? frames_write(b) : err;
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

int build_index(const char *path, const struct store_key *key, int out, const struct build_options *o, struct diag *d)
{
	reading_stops = false;
	struct build *b = calloc(1, sizeof *b);
	if (!b) {
		return -ENOMEM;
	}
	*b = (struct build){.path = path, .d = d, .options = o};
	b->machine = machine_create(0);
	b->decoder = openetw_decoder_create();
	b->rows = malloc(sizeof *b->rows);
	b->before = malloc(sizeof *b->before);
	int err = b->machine && b->decoder && b->rows && b->before ? 0 : -ENOMEM;
	if (err == 0) {
		b->rows->rows = b->before->rows = 0;
		err = store_writer_create(out, key, &b->writer);
	}
	int stacks = build_stacks_create(&b->stacks, o->directory);
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
