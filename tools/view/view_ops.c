/* SPDX-License-Identifier: MIT
 * Operations of a session that is followed: the consumer and what it keeps. view_ops_ask.c answers questions.
 *
 *   session ──► ProcessTrace's thread: on_event() ──► blocks of operations ◄── questions, under the lock
 *
 * An operation's result comes in an event of its own. Until then, and for SETTLE_NS at most, it and those behind it are not
 * shown: what was answered once stays as it was.
 */
#include "tools/view/view_ops_state.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "base/vec.h"

#include <openetw/error.h>

#include <pwd.h>
#include <stdlib.h>

#define SETTLE_100NS    2000000
#define WAITING_MOST    65536u
#define PROCESSES_MOST  65536u
#define ARENA_MOST      (1u << 20) /* of a block: then paths are cut away */
#define FIRST_OP_OF(at) ((uint64_t)(at)*VIEW_OPS_BLOCK)

/* ---- texts ------------------------------------------------------------------------------------------ */

/* The text of a block: each once. */
static uint32_t text_add(struct ops_block *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	if (n == 0) {
		return 0;
	}
	uint64_t key = map_hash(&b->texts, s, n);
	MAP_EACH(&b->texts, key, at) {
		uint32_t where = (uint32_t)map_value(&b->texts, at);
		if (strcmp(b->arena.s + where, s) == 0) {
			return where;
		}
	}
	if (b->arena.len + n + 1 > ARENA_MOST) {
		return 0;
	}
	uint32_t where = (uint32_t)b->arena.len;
	strbuf_add(&b->arena, s, n);
	strbuf_addc(&b->arena, '\0');
	if (b->arena.failed) {
		return 0;
	}
	(void)map_add(&b->texts, key, where); /* without it the text stands there twice */
	return where;
}

static void block_free(struct ops_block *b)
{
	if (b) {
		strbuf_finish(&b->arena);
		map_free(&b->texts);
		free(b);
	}
}

static struct ops_block *block_of_next(struct view_ops *o)
{
	size_t at = (o->end / VIEW_OPS_BLOCK) % OPS_BLOCKS;
	if (o->end % VIEW_OPS_BLOCK) {
		return o->blocks[at];
	}
	struct ops_block *b = calloc(1, sizeof *b);
	if (!b) {
		return NULL;
	}
	strbuf_addc(&b->arena, '\0'); /* 0 is "" */
	if (o->blocks[at]) {          /* the oldest one leaves */
		block_free(o->blocks[at]);
		o->first += VIEW_OPS_BLOCK;
	}
	o->blocks[at] = b;
	return b;
}

struct op *ops_at(const struct view_ops *o, uint64_t n)
{
	return n < o->first || n >= o->end ? NULL
					   : &o->blocks[(n / VIEW_OPS_BLOCK) % OPS_BLOCKS]->ops[n % VIEW_OPS_BLOCK];
}
const char *ops_text(const struct view_ops *o, uint64_t n, uint32_t text)
{
	const struct strbuf *b = &o->blocks[(n / VIEW_OPS_BLOCK) % OPS_BLOCKS]->arena;
	return text < b->len ? b->s + text : "";
}

/* ---- processes -------------------------------------------------------------------------------------- */

struct ops_process *ops_process(struct view_ops *o, uint32_t pid, bool make)
{
	size_t at = map_find(&o->by_pid, pid);
	if (at != MAP_NONE) {
		return &o->processes[map_value(&o->by_pid, at)];
	}
	if (!make || pid == OPENETW_UNKNOWN_ID || o->process_count >= PROCESSES_MOST ||
	    !VEC_ROOM(o->processes, o->process_count, o->process_cap) ||
	    map_add(&o->by_pid, pid, o->process_count) < 0) {
		return NULL;
	}
	o->processes[o->process_count] =
		(struct ops_process){.pid = pid, .parent = OPENETW_UNKNOWN_ID, .start = INT64_MIN, .end = INT64_MAX};
	return &o->processes[o->process_count++];
}

struct told { /* by an event of a process */
	uint32_t pid, parent, uid;
	int32_t exit_code;
	char name[64], command[1024];
	bool has_uid;
};
static void copy_text(const struct openetw_field *f, char *out, size_t cap)
{
	snprintf(out, cap, "%.*s", (int)BASE_MIN(f->text_length, cap - 1), f->text);
}
static bool take_field(void *context, const struct openetw_field *f)
{
	struct told *t = context;
	char text[64], name[32];
	snprintf(name, sizeof name, "%.*s", (int)BASE_MIN(f->name_length, sizeof name - 1), f->name);
	copy_text(f, text, sizeof text);
	if (strcmp(name, "ProcessId") == 0) {
		t->pid = (uint32_t)strtoul(text, NULL, 0);
	} else if (strcmp(name, "ParentId") == 0) {
		t->parent = (uint32_t)strtoul(text, NULL, 0);
	} else if (strcmp(name, "ExitStatus") == 0) {
		t->exit_code = (int32_t)strtol(text, NULL, 0);
	} else if (strcmp(name, "UserSID") == 0 && strncmp(text, "S-1-22-1-", 9) == 0) {
		t->uid = (uint32_t)strtoul(text + 9, NULL, 10);
		t->has_uid = true;
	} else if (strcmp(name, "ImageFileName") == 0) {
		copy_text(f, t->name, sizeof t->name);
	} else if (strcmp(name, "CommandLine") == 0) {
		copy_text(f, t->command, sizeof t->command);
	}
	return true;
}

static void user_name(uint32_t uid, char *out, size_t cap)
{
	char scratch[4096];
	struct passwd p, *found = NULL;
	if (getpwuid_r(uid, &p, scratch, sizeof scratch, &found) == 0 && found) {
		snprintf(out, cap, "%s", found->pw_name);
	} else {
		snprintf(out, cap, "%u", uid);
	}
}

/* A process began, ended, or was there already. */
static void take_process(struct view_ops *o, const EVENT_RECORD *e)
{
	struct told t = {.pid = OPENETW_UNKNOWN_ID, .parent = OPENETW_UNKNOWN_ID};
	UCHAR opcode = e->EventHeader.EventDescriptor.Opcode;
	if (opcode < 1 || opcode > 4) {
		return;
	}
	openetw_decode_fields(o->decoder, e, take_field, &t);
	struct ops_process *p = ops_process(o, t.pid, true);
	if (!p) {
		return;
	}
	int64_t time = ops_time(o, (uint64_t)e->EventHeader.TimeStamp.QuadPart);
	if (opcode == 1 && p->end != INT64_MAX) { /* another one, of the number of one that has gone */
		free(p->command);
		*p = (struct ops_process){.pid = t.pid, .end = INT64_MAX};
	}
	p->parent = t.parent;
	p->start = opcode == 1 ? time : p->start;
	if (t.name[0]) {
		snprintf(p->name, sizeof p->name, "%s", t.name);
	}
	if (t.command[0]) {
		free(p->command);
		p->command = strdup(t.command);
	}
	if (t.has_uid && (!p->user[0] || p->uid != t.uid)) {
		p->uid = t.uid;
		user_name(t.uid, p->user, sizeof p->user);
	}
	if (opcode == 2) {
		p->end = time;
		p->exit_code = t.exit_code;
	}
}

static void count_op(struct view_ops *o, const struct op *x)
{
	struct ops_process *p = ops_process(o, x->pid, true);
	if (!p) {
		return;
	}
	p->ops[x->kind]++;
	p->read += x->op == KOP_READ || x->op == KOP_RECEIVE ? x->bytes : 0;
	p->written += x->op == KOP_WRITE || x->op == KOP_SEND ? x->bytes : 0;
	p->failed += x->has_result && (int32_t)x->status < 0;
}

/* ---- operations ------------------------------------------------------------------------------------- */

/* Its end tells the result; those of a rename may be two with one end. */
static void finish(struct view_ops *o, const struct kevent *end)
{
	for (size_t at; (at = map_find(&o->waiting, end->irp)) != MAP_NONE;) {
		uint64_t n = map_value(&o->waiting, at);
		map_remove(&o->waiting, at);
		struct op *x = ops_at(o, n);
		if (x && x->waits) {
			x->waits = false;
			x->has_result = true;
			x->status = end->status;
			x->took_ns = (end->time - BASE_MIN(end->time, x->filetime)) * 100;
			x->bytes = x->op == KOP_READ || x->op == KOP_WRITE ? end->bytes : x->bytes;
			count_op(o, x);
		}
	}
}

/* Ends that were lost never come: operations that wait for too many of them wait no longer. */
static void give_up_waiting(struct view_ops *o)
{
	for (size_t at = map_entry(&o->waiting, 0); at != MAP_NONE; at = map_entry(&o->waiting, at + 1)) {
		struct op *x = ops_at(o, map_value(&o->waiting, at));
		if (x && x->waits) {
			x->waits = false;
			count_op(o, x);
		}
	}
	map_clear(&o->waiting);
}

static void add(struct view_ops *o, const struct kevent *k)
{
	struct ops_block *b = block_of_next(o);
	if (!b) {
		o->not_kept++;
		return;
	}
	struct op *x = &b->ops[o->end % VIEW_OPS_BLOCK];
	char path[200];
	*x = (struct op){.filetime = k->time,
			 .name = k->name,
			 .bytes = k->bytes,
			 .offset = k->kind == KEVENT_IMAGE || k->kind == KEVENT_FAULT ? k->address : k->offset,
			 .asked = k->asked,
			 .pid = k->kind == KEVENT_PROCESS ? k->subject_pid : k->pid,
			 .tid = k->tid,
			 .kind = (uint8_t)k->kind,
			 .op = (uint8_t)k->op,
			 .waits = k->kind == KEVENT_FILE && k->irp,
			 .has_result = k->kind == KEVENT_NET && k->op == KOP_FAIL && k->status,
			 .status = k->status};
	x->process = text_add(b, k->process);
	if (k->kind == KEVENT_NET) {
		snprintf(path, sizeof path, "%s%s%s", k->remote[0] ? k->local : "", k->remote[0] ? " -> " : "",
			 k->remote);
		x->path = text_add(b, path);
	} else if (k->kind == KEVENT_PROCESS) {
		const struct ops_process *p = ops_process(o, x->pid, false);
		x->process = text_add(b, p && p->name[0] ? p->name : "?");
		x->path = text_add(b, p && p->command ? p->command : "");
	} else {
		x->path = text_add(b, k->file);
	}
	if (x->waits && o->waiting.count == WAITING_MOST) {
		give_up_waiting(o);
	}
	if (x->waits && map_add(&o->waiting, k->irp, o->end) == 0) {
		o->end++;
		return;
	}
	x->waits = false;
	o->end++;
	count_op(o, x);
}

/* Deletions and renames are told again with their paths, and a Cleanup as a Close: those add to what is there. */
static bool told_before(struct view_ops *o, const struct kevent *k)
{
	size_t at = k->irp && (k->with_path || k->op == KOP_CLOSE) ? map_find(&o->waiting, k->irp) : MAP_NONE;
	uint64_t n = at == MAP_NONE ? UINT64_MAX : map_value(&o->waiting, at);
	struct op *x = ops_at(o, n);
	if (!x || !(k->with_path ? x->op == k->op : x->op == KOP_CLEANUP)) {
		return false;
	}
	struct ops_block *b = o->blocks[(n / VIEW_OPS_BLOCK) % OPS_BLOCKS];
	if (k->op == KOP_CLOSE) {
		x->op = (uint8_t)k->op;
		x->name = k->name;
	} else if (k->op == KOP_RENAME) {
		x->to = text_add(b, k->file);
	} else if (k->file) {
		x->path = text_add(b, k->file);
	}
	return true;
}

static void WINAPI on_event(EVENT_RECORD *e)
{
	static const GUID process_class = GUID_INIT_WINDOWS(ETW_GUID_CLASS_PROCESS);
	struct view_ops *o = e->UserContext;
	struct kevent k;
	pthread_mutex_lock(&o->lock);
	o->now = BASE_MAX(o->now, (uint64_t)e->EventHeader.TimeStamp.QuadPart);
	if (memcmp(&e->EventHeader.ProviderId, &process_class, sizeof process_class) == 0) {
		take_process(o, e);
	}
	if (!order_load_relaxed(&o->stop) && kevent_of(o->state, e, &k)) {
		if (k.kind == KEVENT_FILE_END) {
			finish(o, &k);
		} else if ((OPS_KINDS & 1u << k.kind) && !(k.kind == KEVENT_FILE && told_before(o, &k))) {
			add(o, &k);
		}
	}
	pthread_mutex_unlock(&o->lock);
}

/* Up to where operations are complete, or have waited long enough. */
uint64_t ops_settled(struct view_ops *o)
{
	while (o->settled < o->end) {
		struct op *x = ops_at(o, o->settled);
		if (x && x->waits && o->now - BASE_MIN(o->now, x->filetime) < SETTLE_100NS) {
			break;
		}
		o->early += x && x->waits;
		o->settled++;
	}
	return o->settled;
}

/* ---- from the beginning to the end ------------------------------------------------------------------ */

static ULONG WINAPI on_buffer(EVENT_TRACE_LOGFILEA *l)
{
	struct view_ops *o = l->Context;
	return !order_load_relaxed(&o->stop);
}

static void *consume(void *arg)
{
	struct view_ops *o = arg;
	ProcessTrace(&o->trace, 1, NULL, NULL);
	order_store_release(&o->ended, 1);
	return NULL;
}

struct view_ops *view_ops_create(const char *session, uint64_t start_filetime, char *why, size_t cap)
{
	EVENT_TRACE_LOGFILEA l;
	struct view_ops *o = calloc(1, sizeof *o);
	if (!o) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	pthread_mutex_init(&o->lock, NULL);
	o->start_filetime = start_filetime;
	snprintf(o->session, sizeof o->session, "%s", session);
	o->state = openetw_state_create(0);
	o->decoder = openetw_decoder_create();
	memset(&l, 0, sizeof l);
	l.LoggerName = o->session;
	l.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	l.EventRecordCallback = on_event;
	l.BufferCallback = on_buffer;
	l.Context = o;
	o->trace = o->state && o->decoder ? OpenTraceA(&l) : INVALID_PROCESSTRACE_HANDLE;
	if (o->trace == INVALID_PROCESSTRACE_HANDLE || openetw_state_attach(o->state, o->trace) != ERROR_SUCCESS ||
	    quiet_thread_start(&o->thread, consume, o) != 0) {
		snprintf(why, cap, "the session cannot be followed: %s", openetw_last_error_text());
		view_ops_destroy(o);
		return NULL;
	}
	o->started = true;
	return o;
}

void view_ops_destroy(struct view_ops *o)
{
	if (!o) {
		return;
	}
	order_store_relaxed(&o->stop, 1);
	if (o->trace != INVALID_PROCESSTRACE_HANDLE && o->trace != 0) {
		CloseTrace(o->trace);
	}
	if (o->started) {
		pthread_join(o->thread, NULL);
	}
	openetw_state_destroy(o->state);
	openetw_decoder_destroy(o->decoder);
	for (size_t i = 0; i < OPS_BLOCKS; i++) {
		block_free(o->blocks[i]);
	}
	for (size_t i = 0; i < o->process_count; i++) {
		free(o->processes[i].command);
	}
	free(o->processes);
	for (size_t i = 0; i < OPS_SELECTIONS; i++) {
		ops_selection_clear(&o->selections[i]);
	}
	map_free(&o->by_pid);
	map_free(&o->waiting);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
