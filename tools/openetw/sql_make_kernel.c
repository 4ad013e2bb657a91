/* SPDX-License-Identifier: MIT
 * openetw sql: what the kernel's events say: samples, switches, waits, io, files, net, faults, syscalls.
 */
#include "tools/openetw/sql_make.h"

#include "base/vec.h"

#include <stdlib.h>

enum { STATE_WAITING = 5 };

struct waiting {
	uint32_t tid;
	uint64_t since; /* FILETIME; 0: it runs */
	uint8_t reason, state;
	bool told; /* who woke it */
	uint8_t by;
	uint32_t waker_pid, waker_tid;
	uint64_t ready;
	bool early;               /* it was woken before the switch away was seen, on another processor */
	uint64_t call, call_time; /* system call */
};
struct operation { /* of a file, until its end */
	uint64_t irp, time;
	uint32_t pid, tid, stack;
	enum kevent_op op;
	char *file;
	uint64_t asked, offset;
};
struct sums { /* of one file: reads, writes, …, as files_columns() has them */
	char *file;
	uint64_t v[11];
};

struct table;
struct kernel {
	struct sql_maker *m;
	struct sql_build *b;
	struct sql_who who;
	const struct table *table;
	int c[16];
	struct waiting *threads;
	uint32_t thread_count, thread_cap;
	struct map thread_of;
	struct operation *ops;
	uint32_t op_count, op_cap;
	struct map op_of;
	struct sums *files;
	uint32_t file_count, file_cap;
	struct map file_of;
};

#define OPS_MAX (1u << 20) /* operations whose end may still come */

static uint64_t ticks_ns(const struct kernel *k, uint64_t ticks)
{
	return k->m->ticks_per_second ? clock_muldiv(ticks, 1000000000, k->m->ticks_per_second) : 0;
}

static void put_stack(struct kernel *k, int column, uint32_t stack)
{
	if (stack) {
		sql_build_number(k->b, column, stack);
	}
}

static struct waiting *thread_of(struct kernel *k, uint32_t tid)
{
	size_t at = map_find(&k->thread_of, tid);
	if (at != MAP_NONE) {
		return &k->threads[map_value(&k->thread_of, at)];
	}
	if (!VEC_ROOM(k->threads, k->thread_count, k->thread_cap) || map_add(&k->thread_of, tid, k->thread_count) < 0) {
		k->m->failed = true;
		return NULL;
	}
	k->threads[k->thread_count] = (struct waiting){.tid = tid};
	return &k->threads[k->thread_count++];
}

/* ---- samples -------------------------------------------------------------------------------------- */

static void samples_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "time", SQL_TYPE_I64);
	sql_who_columns(k->b, &k->who);
	k->c[1] = sql_build_column(k->b, "cpu", SQL_TYPE_U16);
	k->c[2] = sql_build_column(k->b, "address", SQL_TYPE_U64);
	k->c[3] = sql_build_column(k->b, "module", SQL_TYPE_TEXT);
	k->c[4] = sql_build_column(k->b, "function", SQL_TYPE_TEXT);
	k->c[5] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
	k->c[6] = sql_build_column(k->b, "idle", SQL_TYPE_BOOL);
}

static void put_code(struct kernel *k, int module, int function, uint32_t pid, uint64_t address, uint64_t time)
{
	char name[1024];
	names_of(&k->m->names, pid, address, time, name, sizeof name);
	const char *bang = strchr(name, '!');
	sql_put_string(k->b, function, name);
	if (bang && bang > name && name[0] != '?') {
		sql_build_text(k->b, module, name, (size_t)(bang - name));
	}
}

static void put_sample(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	if (s->kind != KEVENT_SAMPLE) {
		return;
	}
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, s->time));
	sql_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	sql_build_number(k->b, k->c[1], e->BufferContext.ProcessorIndex);
	sql_build_number(k->b, k->c[2], s->address);
	put_code(k, k->c[3], k->c[4], s->pid, s->address, s->time);
	put_stack(k, k->c[5], sql_make_stack(k->m, e));
	sql_build_number(k->b, k->c[6], s->pid == 0 || s->tid == 0);
	sql_build_row(k->b);
}

/* ---- switches ------------------------------------------------------------------------------------- */

static void switches_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "time", SQL_TYPE_I64);
	k->c[1] = sql_build_column(k->b, "cpu", SQL_TYPE_U16);
	sql_who_columns(k->b, &k->who);
	k->c[2] = sql_build_column(k->b, "old_thread", SQL_TYPE_U32);
	k->c[3] = sql_build_column(k->b, "old_tid", SQL_TYPE_U32);
	k->c[4] = sql_build_column(k->b, "old_process_name", SQL_TYPE_TEXT);
	k->c[5] = sql_build_column(k->b, "old_state", SQL_TYPE_U8);
	k->c[6] = sql_build_column(k->b, "reason", SQL_TYPE_TEXT);
	k->c[7] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
}

static uint32_t pid_of(struct kernel *k, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	return tid == 0                                                            ? 0
	       : openetw_state_thread(k->m->state, tid, time, &t) == ERROR_SUCCESS ? t.pid
										   : OPENETW_UNKNOWN_ID;
}

static void put_switch(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	if (s->kind != KEVENT_SWITCH) {
		return;
	}
	uint32_t in = pid_of(k, s->in_tid, s->time), out = pid_of(k, s->out_tid, s->time);
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, s->time));
	sql_build_number(k->b, k->c[1], e->BufferContext.ProcessorIndex);
	sql_who_put(k->m, k->b, &k->who, in, s->in_tid, s->time);
	sql_build_number(k->b, k->c[2], sql_make_thread(k->m, s->out_tid, s->time));
	sql_build_number(k->b, k->c[3], s->out_tid);
	sql_put_string(k->b, k->c[4], sql_make_process_name(k->m, sql_make_process(k->m, out, s->time)));
	sql_build_number(k->b, k->c[5], s->state);
	sql_put_string(k->b, k->c[6], kevent_wait_reason(s->reason));
	put_stack(k, k->c[7], sql_make_stack(k->m, e));
	sql_build_row(k->b);
}

/* ---- waits ---------------------------------------------------------------------------------------- */

static void waits_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = sql_build_column(k->b, "duration", SQL_TYPE_U64);
	k->c[2] = sql_build_column(k->b, "kind", SQL_TYPE_TEXT);
	sql_who_columns(k->b, &k->who);
	k->c[3] = sql_build_column(k->b, "reason", SQL_TYPE_TEXT);
	k->c[4] = sql_build_column(k->b, "woken_by", SQL_TYPE_TEXT);
	k->c[5] = sql_build_column(k->b, "waker_thread", SQL_TYPE_U32);
	k->c[6] = sql_build_column(k->b, "waker_pid", SQL_TYPE_U32);
	k->c[7] = sql_build_column(k->b, "waker_tid", SQL_TYPE_U32);
	k->c[8] = sql_build_column(k->b, "waker_process_name", SQL_TYPE_TEXT);
	k->c[9] = sql_build_column(k->b, "ready", SQL_TYPE_U64);
	k->c[10] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void put_wait(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s, const struct waiting *w)
{
	uint32_t pid = pid_of(k, s->in_tid, s->time);
	bool waited = w->state == STATE_WAITING;
	if (!openetw_state_watched(k->m->state, pid, s->time)) {
		return; /* it may have run since, unseen */
	}
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, w->since));
	sql_build_number(k->b, k->c[1], (s->time - w->since) * 100);
	sql_put_string(k->b, k->c[2], waited ? "wait" : "preempted");
	sql_who_put(k->m, k->b, &k->who, pid, s->in_tid, s->time);
	if (waited) {
		sql_put_string(k->b, k->c[3], kevent_wait_reason(w->reason));
	}
	if (w->told) {
		const char *by = kevent_waker_name(w->by);
		sql_put_string(k->b, k->c[4], by ? by : "thread");
		if (!by) {
			sql_build_number(k->b, k->c[5], sql_make_thread(k->m, w->waker_tid, w->ready));
			sql_build_number(k->b, k->c[6], w->waker_pid);
			sql_build_number(k->b, k->c[7], w->waker_tid);
			uint32_t process = sql_make_process(k->m, w->waker_pid, w->ready);
			sql_put_string(k->b, k->c[8], sql_make_process_name(k->m, process));
		}
		sql_build_number(k->b, k->c[9], (s->time - w->ready) * 100);
	}
	put_stack(k, k->c[10], sql_make_stack(k->m, e));
	sql_build_row(k->b);
}

#define EARLY 10000u /* 1 ms */

static void woken(struct kernel *k, const struct kevent *s)
{
	struct waiting *w = thread_of(k, s->subject_tid);
	if (!w || (w->since && w->told)) {
		return; /* the first one ended the wait */
	}
	w->told = w->since != 0;
	w->early = w->since == 0;
	w->by = s->waker;
	w->waker_pid = s->pid;
	w->waker_tid = s->tid;
	w->ready = s->time;
}

static void wait_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	struct waiting *w;
	if (s->kind == KEVENT_READY) {
		woken(k, s);
		return;
	}
	if (s->kind != KEVENT_SWITCH) {
		return;
	}
	w = s->out_tid ? thread_of(k, s->out_tid) : NULL;
	if (w) {
		w->since = s->time;
		w->reason = s->reason;
		w->state = s->state;
		w->told = w->early && w->ready + EARLY >= s->time;
		w->ready = w->told ? s->time : 0;
		w->early = false;
	}
	w = s->in_tid ? thread_of(k, s->in_tid) : NULL;
	if (w && w->since) {
		put_wait(k, e, s, w);
	}
	if (w) {
		w->since = 0;
		w->told = w->early = false;
	}
}

/* Where switches were lost a thread may have run unseen: what it waited then is not known. */
static void forget_waits(struct kernel *k)
{
	for (uint32_t i = 0; i < k->thread_count; i++) {
		k->threads[i].since = 0;
	}
}

/* ---- operations of disks and files ---------------------------------------------------------------- */

static const char *op_name(enum kevent_op op)
{
	static const char *const names[] = {
		[KOP_OTHER] = "other",   [KOP_READ] = "read",           [KOP_WRITE] = "write", [KOP_FLUSH] = "flush",
		[KOP_CREATE] = "create", [KOP_CLEANUP] = "cleanup",     [KOP_CLOSE] = "close", [KOP_DELETE] = "delete",
		[KOP_RENAME] = "rename", [KOP_DIRECTORY] = "directory", [KOP_MAP] = "map",     [KOP_UNMAP] = "unmap"};
	return op < BASE_ARRAY_LEN(names) && names[op] ? names[op] : "other";
}

static void io_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = sql_build_column(k->b, "duration", SQL_TYPE_U64);
	k->c[2] = sql_build_column(k->b, "layer", SQL_TYPE_TEXT);
	k->c[3] = sql_build_column(k->b, "operation", SQL_TYPE_TEXT);
	sql_who_columns(k->b, &k->who);
	k->c[4] = sql_build_column(k->b, "file", SQL_TYPE_TEXT);
	k->c[5] = sql_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[6] = sql_build_column(k->b, "asked", SQL_TYPE_U64);
	k->c[7] = sql_build_column(k->b, "offset", SQL_TYPE_U64);
	k->c[8] = sql_build_column(k->b, "disk", SQL_TYPE_U32);
	k->c[9] = sql_build_column(k->b, "status", SQL_TYPE_I32);
	k->c[10] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void put_disk(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	uint64_t ns = ticks_ns(k, s->duration);
	sql_build_number(k->b, k->c[0], (uint64_t)(sql_make_time(k->m, s->time) - (int64_t)ns));
	sql_build_number(k->b, k->c[1], ns);
	sql_put_string(k->b, k->c[2], "disk");
	sql_put_string(k->b, k->c[3], op_name(s->op));
	sql_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	sql_put_string(k->b, k->c[4], s->file);
	if (s->op != KOP_FLUSH) {
		sql_build_number(k->b, k->c[5], s->bytes);
		sql_build_number(k->b, k->c[7], s->offset);
	}
	sql_build_number(k->b, k->c[8], s->disk);
	put_stack(k, k->c[10], sql_make_stack(k->m, e));
	sql_build_row(k->b);
}

/* `end`: NULL, the trace does not tell. */
static void put_operation(struct kernel *k, const struct operation *o, const struct kevent *end)
{
	bool moves = o->op == KOP_READ || o->op == KOP_WRITE;
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, o->time));
	sql_put_string(k->b, k->c[2], "file");
	sql_put_string(k->b, k->c[3], op_name(o->op));
	sql_who_put(k->m, k->b, &k->who, o->pid, o->tid, o->time);
	sql_put_string(k->b, k->c[4], o->file);
	if (moves) {
		sql_build_number(k->b, k->c[6], o->asked);
		sql_build_number(k->b, k->c[7], o->offset);
	}
	if (end) {
		sql_build_number(k->b, k->c[1], (end->time - o->time) * 100);
		sql_build_number(k->b, k->c[9], end->status);
		if (moves) {
			sql_build_number(k->b, k->c[5], end->bytes);
		}
	}
	put_stack(k, k->c[10], o->stack);
	sql_build_row(k->b);
}

static struct operation *open_operation(struct kernel *k, uint64_t irp, size_t *ret_at)
{
	*ret_at = irp ? map_find(&k->op_of, irp) : MAP_NONE;
	return *ret_at != MAP_NONE ? &k->ops[map_value(&k->op_of, *ret_at)] : NULL;
}

/* The last one takes its place. */
static void forget_operation(struct kernel *k, struct operation *o, size_t at)
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
static bool keep_operation(struct kernel *k, const struct kevent *s, uint32_t stack)
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

static void io_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
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
		uint32_t stack = sql_make_stack(k->m, e);
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
static void put_open_operations(struct kernel *k)
{
	for (uint32_t i = 0; i < k->op_count; i++) {
		put_operation(k, &k->ops[i], NULL);
	}
}

/* ---- files ---------------------------------------------------------------------------------------- */

static void files_columns(struct kernel *k)
{
	static const char *const names[] = {
		"reads",         "writes",     "creates",     "others",          "bytes_read",
		"bytes_written", "disk_reads", "disk_writes", "disk_bytes_read", "disk_bytes_written",
		"disk_time"};
	k->c[0] = sql_build_column(k->b, "file", SQL_TYPE_TEXT);
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		k->c[i + 1] = sql_build_column(k->b, names[i], SQL_TYPE_U64);
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

static struct sums *sums_of(struct kernel *k, const char *file)
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

static void add_disk(struct kernel *k, const struct kevent *s)
{
	struct sums *f = s->file && s->op != KOP_FLUSH ? sums_of(k, s->file) : NULL;
	if (f) {
		f->v[s->op == KOP_READ ? DISK_READS : DISK_WRITES]++;
		f->v[s->op == KOP_READ ? DISK_BYTES_READ : DISK_BYTES_WRITTEN] += s->bytes;
		f->v[DISK_TIME] += ticks_ns(k, s->duration);
	}
}

/* What was moved only the end says: the operation waits for it with its file's name. */
static void file_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
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

static void put_files(struct kernel *k)
{
	for (uint32_t i = 0; i < k->file_count; i++) {
		sql_put_string(k->b, k->c[0], k->files[i].file);
		for (size_t j = 0; j < BASE_ARRAY_LEN(k->files[i].v); j++) {
			sql_build_number(k->b, k->c[j + 1], k->files[i].v[j]);
		}
		sql_build_row(k->b);
	}
}

static void net_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "time", SQL_TYPE_I64);
	sql_who_columns(k->b, &k->who);
	k->c[1] = sql_build_column(k->b, "protocol", SQL_TYPE_TEXT);
	k->c[2] = sql_build_column(k->b, "operation", SQL_TYPE_TEXT);
	k->c[3] = sql_build_column(k->b, "local", SQL_TYPE_TEXT);
	k->c[4] = sql_build_column(k->b, "remote", SQL_TYPE_TEXT);
	k->c[5] = sql_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[6] = sql_build_column(k->b, "status", SQL_TYPE_I32);
	k->c[7] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void net_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	static const char *const names[] = {
		[KOP_SEND] = "send",     [KOP_RECEIVE] = "receive",       [KOP_CONNECT] = "connect",
		[KOP_ACCEPT] = "accept", [KOP_DISCONNECT] = "disconnect", [KOP_RETRANSMIT] = "retransmit",
		[KOP_FAIL] = "fail"};
	if (s->kind != KEVENT_NET) {
		return;
	}
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, s->time));
	sql_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	sql_put_string(k->b, k->c[1], s->udp ? "udp" : "tcp");
	sql_put_string(k->b, k->c[2], s->op < BASE_ARRAY_LEN(names) && names[s->op] ? names[s->op] : "other");
	sql_put_string(k->b, k->c[3], s->local[0] ? s->local : NULL);
	sql_put_string(k->b, k->c[4], s->remote[0] ? s->remote : NULL);
	sql_build_number(k->b, k->c[5], s->bytes);
	if (s->op == KOP_FAIL) {
		sql_build_number(k->b, k->c[6], s->status);
	}
	put_stack(k, k->c[7], sql_make_stack(k->m, e));
	sql_build_row(k->b);
}

static void faults_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "time", SQL_TYPE_I64);
	sql_who_columns(k->b, &k->who);
	k->c[1] = sql_build_column(k->b, "kind", SQL_TYPE_TEXT);
	k->c[2] = sql_build_column(k->b, "address", SQL_TYPE_U64);
	k->c[3] = sql_build_column(k->b, "file", SQL_TYPE_TEXT);
	k->c[4] = sql_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[5] = sql_build_column(k->b, "offset", SQL_TYPE_U64);
	k->c[6] = sql_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void fault_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	static const char *const names[] = {[KOP_HARD] = "hard",
					    [KOP_DEMAND_ZERO] = "demand zero",
					    [KOP_TRANSITION] = "transition",
					    [KOP_COPY_ON_WRITE] = "copy on write"};
	if (s->kind != KEVENT_FAULT) {
		return;
	}
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, s->time));
	sql_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	sql_put_string(k->b, k->c[1], s->op < BASE_ARRAY_LEN(names) && names[s->op] ? names[s->op] : "other");
	sql_build_number(k->b, k->c[2], s->address);
	if (s->op == KOP_HARD) {
		sql_put_string(k->b, k->c[3], s->file);
		sql_build_number(k->b, k->c[4], s->bytes);
		sql_build_number(k->b, k->c[5], s->offset);
	}
	put_stack(k, k->c[6], sql_make_stack(k->m, e));
	sql_build_row(k->b);
}

static void syscalls_columns(struct kernel *k)
{
	k->c[0] = sql_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = sql_build_column(k->b, "duration", SQL_TYPE_U64);
	sql_who_columns(k->b, &k->who);
	k->c[2] = sql_build_column(k->b, "call", SQL_TYPE_TEXT);
	k->c[3] = sql_build_column(k->b, "result", SQL_TYPE_I32);
}

static void syscall_event(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	char name[1024];
	(void)e;
	struct waiting *w = s->kind == KEVENT_SYSCALL && s->tid != OPENETW_UNKNOWN_ID ? thread_of(k, s->tid) : NULL;
	if (!w) {
		return;
	}
	if (s->op == KOP_START) {
		w->call = s->address;
		w->call_time = s->time;
		return;
	}
	if (!w->call_time) {
		return; /* it began before the trace */
	}
	sql_build_number(k->b, k->c[0], (uint64_t)sql_make_time(k->m, w->call_time));
	sql_build_number(k->b, k->c[1], (s->time - w->call_time) * 100);
	sql_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	if (w->call < NAMES_KERNEL_SPACE) {
		snprintf(name, sizeof name, "%llu", (unsigned long long)w->call);
	} else {
		names_of(&k->m->names, 4, w->call, s->time, name, sizeof name);
	}
	sql_put_string(k->b, k->c[2], name);
	sql_build_number(k->b, k->c[3], s->status);
	sql_build_row(k->b);
	w->call_time = 0;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static const struct table {
	const char *name;
	void (*columns)(struct kernel *k);
	void (*event)(struct kernel *k, const EVENT_RECORD *e, const struct kevent *s);
	void (*rest)(struct kernel *k); /* what is left when all events are read; may be NULL */
} tables[] = {
	{"samples", samples_columns, put_sample, NULL},  {"switches", switches_columns, put_switch, NULL},
	{"waits", waits_columns, wait_event, NULL},      {"io", io_columns, io_event, put_open_operations},
	{"files", files_columns, file_event, put_files}, {"net", net_columns, net_event, NULL},
	{"faults", faults_columns, fault_event, NULL},   {"syscalls", syscalls_columns, syscall_event, NULL},
};

static void on_event(void *context, const EVENT_RECORD *e)
{
	struct kernel *k = context;
	struct kevent s;
	if (kevent_switches_lost(e) != UINT64_MAX) {
		forget_waits(k);
	}
	if (kevent_of(k->m->state, e, &s)) {
		k->table->event(k, e, &s);
	}
}

struct sql_build *sql_make_kernel(struct sql_maker *m, const char *name, char *why, size_t cap)
{
	struct kernel k = {.m = m, .b = sql_build_create()};
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		k.table = strcmp(tables[i].name, name) == 0 ? &tables[i] : k.table;
	}
	bool ok = k.b && k.table;
	if (ok) {
		k.table->columns(&k);
		ok = sql_make_pass(m, on_event, &k, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	if (ok && k.table->rest) {
		k.table->rest(&k);
	}
	for (uint32_t i = 0; i < k.op_count; i++) {
		free(k.ops[i].file);
	}
	for (uint32_t i = 0; i < k.file_count; i++) {
		free(k.files[i].file);
	}
	free(k.threads);
	free(k.ops);
	free(k.files);
	map_free(&k.thread_of);
	map_free(&k.op_of);
	map_free(&k.file_of);
	if (!ok) {
		sql_build_destroy(k.b);
		return NULL;
	}
	return k.b;
}
