/* SPDX-License-Identifier: MIT
 *
 * The state for programs: include/openetw/state.h over state.h. An event asked about is, as a rule,
 * the one whose callback is running; then its record is at hand with raw time and hook. Others are
 * taken apart from their EVENT_RECORD.
 */
#include "openetw/state.h"

#include "base/sized.h"
#include "consume/consume.h"
#include "etl/etl_record.h"
#include "machine/machine.h"

#include "evntcons.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

#include <stdlib.h>

#define STACK_GROUP 0x18u
#define BOOT_SLACK  (10u * 10000000u) /* 10 s */

/* Files of different machines have nothing in common but the numbers of their processes. */
struct machine {
	struct machine *next;
	uint64_t boot_filetime;
	uint32_t processors;
	struct machine *s;
	bool complete; /* a file has been read ahead */
};
/* A trace that is attached. */
struct attached {
	struct attached *next;
	struct openetw_state *owner;
	struct machine *machine;
	bool raw; /* its time stamps are raw ticks of this clock */
	struct etl_clock clock;
};
struct openetw_state {
	uint32_t flags;
	struct machine first;             /* also of events that are fed */
	struct machine *now;              /* whose event came last; never NULL */
	struct attached *attached;        /* all */
	struct attached *asking;          /* whose callback runs, or ran last; may be NULL */
	const struct etl_record *current; /* while a callback of an attached trace runs */
	uint64_t *stack;
	size_t stack_cap;
};

struct openetw_state *openetw_state_create(uint32_t flags)
{
	struct openetw_state *s = calloc(1, sizeof *s);
	if (s) {
		s->flags = flags & OPENETW_STATE_STACKS ? MACHINE_STACKS : 0;
		s->now = &s->first;
		s->first.s = machine_create(s->flags);
	}
	if (s && !s->first.s) {
		free(s);
		s = NULL;
	}
	return s;
}

void openetw_state_destroy(struct openetw_state *s)
{
	if (!s) {
		return;
	}
	for (struct attached *a = s->attached, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	for (struct machine *m = s->first.next, *next; m; m = next) {
		next = m->next;
		machine_destroy(m->s);
		free(m);
	}
	machine_destroy(s->first.s);
	free(s->stack);
	free(s);
}

/* The same boot, as files of two sessions tell it: the clock may have been set a little between. */
static struct machine *machine_of(struct openetw_state *s, uint64_t boot, uint32_t processors)
{
	if (s->first.processors == 0) { /* the first that comes */
		s->first.boot_filetime = boot;
		s->first.processors = processors;
	}
	struct machine *m = &s->first;
	for (;; m = m->next) {
		uint64_t apart = boot > m->boot_filetime ? boot - m->boot_filetime : m->boot_filetime - boot;
		if (apart <= BOOT_SLACK && processors == m->processors) {
			return m;
		}
		if (!m->next) {
			break;
		}
	}
	struct machine *n = calloc(1, sizeof *n);
	if (n) {
		n->boot_filetime = boot;
		n->processors = processors;
		n->s = machine_create(s->flags);
	}
	if (n && !n->s) {
		free(n);
		n = NULL;
	}
	m->next = n;
	return n;
}

bool openetw_state_full(const struct openetw_state *s)
{
	int full = 0;
	for (const struct machine *m = &s->first; m; m = m->next) {
		full |= machine_full(m->s);
	}
	return full;
}

/* Manifests that come at the end explain the events before them, too. */
static bool wants(uint8_t type, const uint8_t *raw)
{
	return machine_wants(type, raw) || consume_teaches(type, raw);
}

uint32_t openetw_state_read_file(struct openetw_state *s, const char *path, openetw_progress_fn fn, void *context)
{
	struct etl_reader *r;
	struct etl_record e;
	struct diag d;
	diag_clear(&d);
	if (!path) {
		return ERROR_INVALID_PARAMETER;
	}
	int err = etl_reader_open(path, 0, &r, &d);
	if (err < 0) {
		return err == -EBADMSG ? ERROR_FILE_CORRUPT : win32_from_errno(err);
	}
	etl_reader_use_windows(r);
	etl_reader_only(r, wants);
	const struct etl_file_info *info = etl_reader_info(r);
	struct machine *m = machine_of(s, info->boot_filetime, info->processors);
	if (!m) {
		etl_reader_close(r);
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint32_t code = ERROR_SUCCESS, total = info->buffers_found, done = 0;
	while ((err = etl_reader_next(r, &e)) > 0) {
		machine_add(m->s, &e);
		consume_teach(&e);
		uint32_t now = etl_reader_buffers_done(r);
		if (fn && now != done && !fn(context, now, total)) {
			code = ERROR_CANCELLED;
			break;
		}
		done = now;
	}
	etl_reader_close(r);
	machine_rewind(m->s);
	m->complete = m->complete || err == 0;
	return err < 0 ? win32_from_errno(err) : code;
}

/* A complete state only follows who runs where. */
static void take(struct machine *m, const struct etl_record *r)
{
	if (m->complete) {
		machine_follow(m->s, r);
	} else {
		machine_add(m->s, r);
	}
}

static void observe(void *ctx, const struct etl_record *r)
{
	struct attached *a = ctx;
	a->owner->current = r;
	if (r) {
		a->owner->asking = a;
		a->owner->now = a->machine;
		take(a->machine, r);
	}
}

uint32_t openetw_state_attach(struct openetw_state *s, openetw_trace_handle trace)
{
	struct consume_about about;
	struct attached *a = calloc(1, sizeof *a);
	if (!a) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	a->owner = s;
	uint32_t code = consume_observe(trace, observe, a, &about);
	if (code) {
		free(a);
		return code;
	}
	a->raw = about.raw;
	a->clock = about.clock;
	a->next = s->attached;
	s->attached = a;
	a->machine = machine_of(s, about.boot_filetime, about.processors);
	if (!a->machine) {
		/* It stays attached, to the wrong machine rather than to none. */
		a->machine = &s->first;
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	return ERROR_SUCCESS;
}

/* The group of kernel records is known by their class. */
static uint16_t hook_of(const EVENT_RECORD *e)
{
	uint8_t type = (uint8_t)e->EventHeader.HeaderType;
	if (type == ETL_RT_FULL32 || type == ETL_RT_FULL64 || type >= ETL_RT_EVENT32) {
		bool perfinfo = type == ETL_RT_PERFINFO32 || type == ETL_RT_PERFINFO64;
		if (!perfinfo) {
			return 0;
		}
	}
	int group = kernel_class_group(&e->EventHeader.ProviderId);
	uint16_t hook = group < 0 ? 0 : KERNEL_HOOK(group, e->EventHeader.EventDescriptor.Opcode);
	if (hook == KERNEL_HOOK(KERNEL_GROUP_IMAGE, KP_IMAGE_LOAD)) {
		return KERNEL_HOOK_IMAGE_LOAD;
	}
	return hook == KERNEL_HOOK_IMAGE_LOAD ? 0 : hook; /* of that number the class of processes has nothing */
}

static void record_of(const EVENT_RECORD *e, struct etl_record *ret)
{
	const EVENT_HEADER *h = &e->EventHeader;
	*ret = (struct etl_record){
		.type = (uint8_t)h->HeaderType,
		.pointer_size = h->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8,
		.cpu = (uint16_t)GetEventProcessorIndex(e),
		.time_raw = (uint64_t)h->TimeStamp.QuadPart,
		.time_filetime = (uint64_t)h->TimeStamp.QuadPart,
		.pid = h->ProcessId,
		.tid = h->ThreadId,
		.event_flags = h->Flags,
		.id = h->EventDescriptor.Id,
		.version = h->EventDescriptor.Version,
		.opcode = h->EventDescriptor.Opcode,
		.payload = e->UserData,
		.payload_bytes = e->UserDataLength,
		.hook = hook_of(e),
	};
	memcpy(&ret->provider, &h->ProviderId, sizeof ret->provider);
}

uint32_t openetw_state_feed(struct openetw_state *s, const EVENT_RECORD *e)
{
	struct etl_record r;
	if (!e) {
		return ERROR_INVALID_PARAMETER;
	}
	record_of(e, &r);
	s->now = &s->first;
	take(s->now, &r);
	return ERROR_SUCCESS;
}

/* The record behind an EVENT_RECORD; `made` is room for one that has to be made. */
static const struct etl_record *record_for(const struct openetw_state *s, const EVENT_RECORD *e,
					   struct etl_record *made)
{
	const struct etl_record *r = s->current;
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (r && (time == r->time_filetime || time == r->time_raw) &&
	    e->UserData == (r->payload_bytes ? r->payload : NULL) && e->EventHeader.HeaderType == r->type) {
		return r;
	}
	record_of(e, made);
	return made;
}

/* As the tables have it. */
static uint64_t time_in(const struct openetw_state *s, uint64_t time)
{
	const struct attached *a = s->asking;
	return a && a->raw && time && time != UINT64_MAX ? etl_clock_to_filetime(&a->clock, time) : time;
}

static const char *name_of(const struct openetw_state *s, uint32_t pid, uint64_t time)
{
	const struct machine_process *p = pid == MACHINE_NO_ID ? NULL : machine_process_at(s->now->s, pid, time);
	return p && p->name[0] ? p->name : NULL;
}

/* Threads of Linux that were given no name are called as their program, of which 15 bytes fit. */
static const char *own_name(const struct machine_thread *t, const char *process)
{
	enum { LINUX_BYTES = 15 };
	size_t n = strlen(t->name);
	bool same = process && strncmp(process, t->name, n) == 0 && (!process[n] || n >= LINUX_BYTES);
	return same ? "" : t->name;
}

uint32_t openetw_state_event(struct openetw_state *s, const EVENT_RECORD *e, struct openetw_event_origin *ret)
{
	struct etl_record made;
	if (!e || !SIZED_VALID(ret, file_key)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct etl_record *r = record_for(s, e, &made);
	struct machine_who about = machine_who(s->now->s, r);
	struct openetw_event_origin found = {
		.pid = r->pid,
		.tid = r->tid,
		.subject_pid = about.pid,
		.subject_tid = about.tid,
	};
	if (r->tid == MACHINE_NO_ID && r->pid == MACHINE_NO_ID) {
		found.pid = about.pid;
		found.tid = about.tid;
	}
	found.process = name_of(s, found.pid, r->time_filetime);
	found.subject =
		found.subject_pid == found.pid ? found.process : name_of(s, found.subject_pid, r->time_filetime);
	found.file_key = machine_file_key(r);
	found.file = found.file_key ? machine_file(s->now->s, found.file_key, r->time_filetime) : NULL;
	if (SIZED_HAS(ret, thread)) {
		struct machine_thread t;
		bool is = found.tid != MACHINE_NO_ID && found.tid != 0 &&
			  machine_thread_at(s->now->s, found.tid, r->time_filetime, &t);
		const char *name = is ? own_name(&t, found.process) : "";
		found.thread = name[0] ? name : NULL;
	}
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

uint32_t openetw_state_process(struct openetw_state *s, uint32_t pid, uint64_t time, struct openetw_process *ret)
{
	if (!SIZED_VALID(ret, command_line)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct machine_process *p = machine_process_at(s->now->s, pid, time_in(s, time));
	if (!p) {
		return ERROR_NOT_FOUND;
	}
	const struct openetw_process found = {
		.pid = p->pid,
		.parent_pid = p->parent,
		.session_id = p->session,
		.start_time = p->start_time,
		.end_time = p->end_time,
		.name = p->name,
		.command_line = p->command_line,
	};
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

uint32_t openetw_state_thread(struct openetw_state *s, uint32_t tid, uint64_t time, struct openetw_thread *ret)
{
	if (!SIZED_VALID(ret, end_time)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct machine_thread t;
	if (!machine_thread_at(s->now->s, tid, time_in(s, time), &t)) {
		return ERROR_NOT_FOUND;
	}
	const struct openetw_thread found = {
		.tid = tid,
		.pid = t.pid,
		.start_time = t.start_time,
		.end_time = t.end_time,
		.start_address = t.start_address,
		.name = own_name(&t, name_of(s, t.pid, time_in(s, time))),
	};
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

bool openetw_state_watched(const struct openetw_state *s, uint32_t pid, uint64_t time)
{
	return machine_watched(s->now->s, pid, time_in(s, time));
}

static const char *last_part(const char *path)
{
	const char *name = path;
	for (const char *p = path; *p; p++) {
		name = (*p == '\\' || *p == '/') && p[1] ? p + 1 : name;
	}
	return name;
}

uint32_t openetw_state_module(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
			      struct openetw_module *ret)
{
	if (!SIZED_VALID(ret, symbol_file)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct machine_image *i = machine_image_at(s->now->s, pid, address, time_in(s, time));
	if (!i) {
		return ERROR_NOT_FOUND;
	}
	struct openetw_module found = {
		.pid = i->pid,
		.base = i->base,
		.bytes = i->size,
		.load_time = i->load_time,
		.unload_time = i->unload_time,
		.checksum = i->checksum,
		.time_date_stamp = i->time_date_stamp,
		.path = i->path,
		.name = last_part(i->path),
	};
	struct machine_debug_id d;
	if (machine_debug_id_of(s->now->s, i, &d)) {
		found.build_guid = (const struct openetw_guid *)(const void *)d.guid;
		found.build_age = d.age;
		found.symbol_file = d.name;
	}
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

uint32_t openetw_state_symbol(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
			      struct openetw_symbol *ret)
{
	if (!SIZED_VALID(ret, module)) {
		return ERROR_INVALID_PARAMETER;
	}
	time = time_in(s, time);
	uint64_t start;
	const struct machine_image *i = machine_image_at(s->now->s, pid, address, time);
	const char *name = machine_code_at(s->now->s, pid, address, time, &start);
	if (!name && i) {
		name = machine_function_at(s->now->s, i, address, &start);
	}
	if (!name) {
		return ERROR_NOT_FOUND;
	}
	const struct openetw_symbol found = {
		.name = name,
		.offset = address - start,
		.module = i ? last_part(i->path) : NULL,
	};
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

uint32_t openetw_state_symbol_file(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
				   struct openetw_symbol_file *ret)
{
	if (!SIZED_VALID(ret, why)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct machine_image *i = machine_image_at(s->now->s, pid, address, time_in(s, time));
	if (!i) {
		return ERROR_NOT_FOUND;
	}
	const char *why = NULL, *path = machine_symbol_file(s->now->s, i, &why);
	const struct openetw_symbol_file found = {.path = path, .why = path ? NULL : why};
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}

uint32_t openetw_state_symbol_folder(struct openetw_state *s, const char *folder)
{
	return !folder || !folder[0] || !machine_symbol_folder(s->now->s, folder) ? ERROR_INVALID_PARAMETER
										  : ERROR_SUCCESS;
}

const char *openetw_state_file(struct openetw_state *s, uint64_t key, uint64_t time)
{
	return machine_file(s->now->s, key, time_in(s, time));
}

/* What the event carries itself. */
static bool own_stack(struct openetw_state *s, const EVENT_RECORD *e, uint32_t *ret_count)
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		bool wide = x->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
		if ((!wide && x->ExtType != EVENT_HEADER_EXT_TYPE_STACK_TRACE32) || x->DataSize < 8) {
			continue;
		}
		const uint8_t *p = (const uint8_t *)(uintptr_t)x->DataPtr + 8;
		uint32_t n = (x->DataSize - 8u) / (wide ? 8 : 4);
		if (n > s->stack_cap) {
			uint64_t *more = realloc(s->stack, n * sizeof *more);
			if (!more) {
				return false;
			}
			s->stack = more;
			s->stack_cap = n;
		}
		for (uint32_t k = 0; k < n; k++) {
			s->stack[k] = wide ? le64_get(p + 8 * k) : le32_get(p + 4 * k);
		}
		*ret_count = n;
		return n > 0;
	}
	return false;
}

uint32_t openetw_state_stack(struct openetw_state *s, const EVENT_RECORD *e, struct openetw_stack *ret)
{
	struct etl_record made;
	const uint64_t *a = NULL;
	uint32_t n = 0;
	if (!e || !SIZED_VALID(ret, addresses)) {
		return ERROR_INVALID_PARAMETER;
	}
	const struct etl_record *r = record_for(s, e, &made);
	struct machine_who who = {r->pid, r->tid};
	if (own_stack(s, e, &n)) {
		a = s->stack;
	} else if (r->hook >> 8 != STACK_GROUP) {
		/* The thread that logged it; an event that names none takes the one it is about, or
		 * any with that time. */
		who.tid = who.tid == MACHINE_NO_ID ? machine_who(s->now->s, r).tid : who.tid;
		n = machine_stack(s->now->s, r->time_raw, who.tid, &a, &who);
	}
	if (n == 0) {
		return ERROR_NOT_FOUND;
	}
	const struct openetw_stack found = {.count = n, .pid = who.pid, .tid = who.tid, .addresses = a};
	SIZED_GIVE(ret, &found);
	return ERROR_SUCCESS;
}
