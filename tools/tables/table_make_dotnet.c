/* SPDX-License-Identifier: MIT
 * Tables: garbage collections of .NET and how long they stopped their programs (gc); methods that were compiled while
 * the program ran (jit).
 */
#include "base/vec.h"
#include "kernel_payload.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

static bool is_runtime(const EVENT_RECORD *e)
{
	static const struct guid runtime = GUID_INIT(KP_DOT_NETRUNTIME_GUID);
	return memcmp(&e->EventHeader.ProviderId, &runtime, sizeof runtime) == 0;
}

static struct kernel_payload payload(const EVENT_RECORD *e)
{
	return (struct kernel_payload){e->UserData, e->UserDataLength,
				       e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
}

/* ---- gc ------------------------------------------------------------------------------------------- */

struct program { /* one runtime in a process */
	uint64_t key;
	bool suspended, collected; /* collected: a collection began since */
	int64_t suspended_at;
	bool any, open; /* there was a collection; it has not ended */
	uint64_t number, row, pause, pauses;
	int64_t start;
};
struct gc {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int start, duration, number, generation, reason, type, pause, pauses, stack;
	struct program *programs;
	uint32_t count, cap;
	struct map of;
	char text[2][64]; /* reason, type */
};

static struct program *program_of(struct gc *t, uint32_t process, uint64_t instance)
{
	uint64_t key = (uint64_t)process << 16 | (instance & 0xFFFF);
	size_t at = map_find(&t->of, key);
	if (at != MAP_NONE) {
		return &t->programs[map_value(&t->of, at)];
	}
	if (!VEC_ROOM(t->programs, t->count, t->cap) || map_add(&t->of, key, t->count) < 0) {
		t->m->failed = true;
		return NULL;
	}
	t->programs[t->count] = (struct program){.key = key};
	return &t->programs[t->count++];
}

static bool on_gc_field(void *context, const struct openetw_field *f)
{
	struct gc *t = context;
	int which = strcmp(f->name, "Reason") == 0 ? 0 : strcmp(f->name, "Type") == 0 ? 1 : -1;
	if (which >= 0) {
		snprintf(t->text[which], sizeof t->text[which], "%.*s", (int)BASE_MIN(f->text_length, (size_t)60),
			 f->text);
	}
	return true;
}

static void begin(struct gc *t, const EVENT_RECORD *e, struct program *p, const struct openetw_event_origin *o,
		  int64_t at)
{
	struct kernel_payload in = payload(e);
	uint64_t number = kernel_payload_get(in, KP_DOT_NETRUNTIME_GCSTART_SINCE_V0_COUNT);
	/* Some releases write the event in two versions at once. */
	if (p->any && p->number == number && at - p->start < 1000000000ll) {
		return;
	}
	uint32_t stack = table_make_stack(t->m, e);
	p->any = p->open = p->collected = true;
	p->number = number;
	p->row = table_build_rows(t->b);
	p->start = at;
	p->pause = p->pauses = 0;
	t->text[0][0] = t->text[1][0] = 0;
	openetw_decode_fields(t->m->decoder, e, on_gc_field, t);
	table_build_number(t->b, t->start, (uint64_t)at);
	table_who_put(t->m, t->b, &t->who, o->pid, o->tid, (uint64_t)e->EventHeader.TimeStamp.QuadPart);
	table_build_number(t->b, t->number, number);
	if (e->EventHeader.EventDescriptor.Version >= 1) {
		table_build_number(t->b, t->generation,
				   kernel_payload_get(in, KP_DOT_NETRUNTIME_GCSTART_SINCE_V1_DEPTH));
	}
	table_put_string(t->b, t->reason, t->text[0][0] ? t->text[0] : NULL);
	table_put_string(t->b, t->type, t->text[1][0] ? t->text[1] : NULL);
	if (stack) {
		table_build_number(t->b, t->stack, stack);
	}
	table_build_row(t->b);
}

static void resumed(struct gc *t, struct program *p, int64_t at)
{
	/* Of a collection that began in this stop, or one that goes on beside the program. */
	if (p->suspended && p->any && (p->collected || p->open) && at >= p->suspended_at) {
		p->pause += (uint64_t)(at - p->suspended_at);
		p->pauses++;
		table_build_late(t->b, t->pause, p->row, p->pause);
		table_build_late(t->b, t->pauses, p->row, p->pauses);
	}
	p->suspended = false;
}

static void on_gc_event(void *context, const EVENT_RECORD *e)
{
	struct gc *t = context;
	struct openetw_event_origin o = {.size = sizeof o};
	USHORT id = e->EventHeader.EventDescriptor.Id;
	if (!is_runtime(e) ||
	    (id != KP_DOT_NETRUNTIME_GCSTART && id != KP_DOT_NETRUNTIME_GCEND &&
	     id != KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN && id != KP_DOT_NETRUNTIME_GCRESTART_EEEND) ||
	    openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	static const struct {
		USHORT id;
		uint32_t field;
	} instances[] = {
		{KP_DOT_NETRUNTIME_GCSTART, KP_DOT_NETRUNTIME_GCSTART_SINCE_V1_CLR_INSTANCE_ID},
		{KP_DOT_NETRUNTIME_GCEND, KP_DOT_NETRUNTIME_GCEND_SINCE_V1_CLR_INSTANCE_ID},
		{KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN, KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN_SINCE_V1_CLR_INSTANCE_ID},
		{KP_DOT_NETRUNTIME_GCRESTART_EEEND, KP_DOT_NETRUNTIME_GCRESTART_EEEND_SINCE_V1_CLR_INSTANCE_ID}};
	uint64_t instance = 0, filetime = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	for (size_t i = 0; i < BASE_ARRAY_LEN(instances); i++) {
		if (instances[i].id == id && e->EventHeader.EventDescriptor.Version >= 1) {
			instance = kernel_payload_get(payload(e), instances[i].field);
		}
	}
	int64_t at = table_make_time(t->m, filetime);
	struct program *p = program_of(t, table_make_process(t->m, o.pid, filetime), instance);
	if (!p) {
		return;
	}
	switch (id) {
	case KP_DOT_NETRUNTIME_GCSTART: begin(t, e, p, &o, at); break;
	case KP_DOT_NETRUNTIME_GCEND:
		if (p->open && kernel_payload_get(payload(e), KP_DOT_NETRUNTIME_GCEND_SINCE_V0_COUNT) == p->number) {
			table_build_late(t->b, t->duration, p->row, (uint64_t)BASE_MAX(at - p->start, (int64_t)0));
			p->open = false;
		}
		break;
	case KP_DOT_NETRUNTIME_GCSUSPEND_EEBEGIN:
		p->suspended = true;
		p->collected = false;
		p->suspended_at = at;
		break;
	default: resumed(t, p, at); break;
	}
}

static struct table_build *finish(struct table_build *b, bool ok)
{
	if (!ok) {
		table_build_destroy(b);
		return NULL;
	}
	return b;
}

struct table_build *table_make_gc(struct table_maker *m, char *why, size_t cap)
{
	struct gc t = {.m = m, .b = table_build_create()};
	bool ok = t.b != NULL;
	if (ok) {
		t.start = table_build_column(t.b, "start", SQL_TYPE_I64);
		t.duration = table_build_column(t.b, "duration", SQL_TYPE_U64);
		table_who_columns(t.b, &t.who);
		t.number = table_build_column(t.b, "number", SQL_TYPE_U32);
		t.generation = table_build_column(t.b, "generation", SQL_TYPE_U32);
		t.reason = table_build_column(t.b, "reason", SQL_TYPE_TEXT);
		t.type = table_build_column(t.b, "type", SQL_TYPE_TEXT);
		t.pause = table_build_column(t.b, "pause", SQL_TYPE_U64);
		t.pauses = table_build_column(t.b, "pauses", SQL_TYPE_U32);
		t.stack = table_build_column(t.b, "stack", SQL_TYPE_U32);
		ok = table_make_pass(m, on_gc_event, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	free(t.programs);
	map_free(&t.of);
	return finish(t.b, ok);
}

/* ---- jit ------------------------------------------------------------------------------------------ */

struct method { /* its compilation has begun */
	uint64_t id, row;
	uint32_t process;
	int64_t at;
};
struct jit {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int start, duration, name, signature, il_bytes, native_bytes;
	struct method *methods;
	uint32_t count, cap;
	struct map of;
	struct strbuf method, text;
};

static uint64_t method_key(const struct jit *t, uint32_t process, uint64_t id)
{
	const uint64_t key[] = {process, id};
	return map_hash(&t->of, key, sizeof key);
}

static size_t find_method(const struct jit *t, uint32_t process, uint64_t id)
{
	MAP_EACH(&t->of, method_key(t, process, id), at) {
		const struct method *m = &t->methods[map_value(&t->of, at)];
		if (m->id == id && m->process == process) {
			return at;
		}
	}
	return MAP_NONE;
}

static bool on_jit_field(void *context, const struct openetw_field *f)
{
	struct jit *t = context;
	if (strcmp(f->name, "MethodNamespace") == 0) {
		strbuf_add(&t->method, f->text, f->text_length);
	} else if (strcmp(f->name, "MethodName") == 0) {
		strbuf_adds(&t->method, t->method.len ? "." : "");
		strbuf_add(&t->method, f->text, f->text_length);
	} else if (strcmp(f->name, "MethodSignature") == 0) {
		strbuf_add(&t->text, f->text, f->text_length);
	}
	return true;
}

static void put_method(struct jit *t, const EVENT_RECORD *e, const struct openetw_event_origin *o, int64_t at)
{
	strbuf_clear(&t->method);
	strbuf_clear(&t->text);
	openetw_decode_fields(t->m->decoder, e, on_jit_field, t);
	table_build_number(t->b, t->start, (uint64_t)at);
	table_who_put(t->m, t->b, &t->who, o->pid, o->tid, (uint64_t)e->EventHeader.TimeStamp.QuadPart);
	table_build_text(t->b, t->name, t->method.s ? t->method.s : "", t->method.len);
	table_build_text(t->b, t->signature, t->text.s ? t->text.s : "", t->text.len);
	t->m->failed = t->m->failed || t->method.failed || t->text.failed;
}

static void jit_begins(struct jit *t, const EVENT_RECORD *e, const struct openetw_event_origin *o, uint32_t process,
		       int64_t at)
{
	struct kernel_payload in = payload(e);
	uint64_t id = kernel_payload_get(in, KP_DOT_NETRUNTIME_METHOD_JITTING_STARTED_SINCE_V0_METHOD_ID);
	size_t old = find_method(t, process, id);
	struct method n = {id, table_build_rows(t->b), process, at};
	if (old != MAP_NONE) {
		t->methods[map_value(&t->of, old)] = n;
	} else if (VEC_ROOM(t->methods, t->count, t->cap) &&
		   map_add(&t->of, method_key(t, process, id), t->count) == 0) {
		t->methods[t->count++] = n;
	} else {
		t->m->failed = true;
		return;
	}
	put_method(t, e, o, at);
	table_build_number(t->b, t->il_bytes,
			   kernel_payload_get(in, KP_DOT_NETRUNTIME_METHOD_JITTING_STARTED_SINCE_V0_METHOD_ILSIZE));
	table_build_row(t->b);
}

#define FLAG_JITTED 8u

static void jit_ends(struct jit *t, const EVENT_RECORD *e, const struct openetw_event_origin *o, uint32_t process,
		     int64_t at)
{
	struct kernel_payload in = payload(e);
	uint64_t id = kernel_payload_get(in, KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE_SINCE_V0_METHOD_ID),
		 bytes = kernel_payload_get(in, KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE_SINCE_V0_METHOD_SIZE);
	uint32_t flags = kernel_payload_get32(in, KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE_SINCE_V0_METHOD_FLAGS);
	size_t begun = find_method(t, process, id);
	if (begun != MAP_NONE) {
		uint32_t i = (uint32_t)map_value(&t->of, begun);
		const struct method *m = &t->methods[i];
		table_build_late(t->b, t->duration, m->row, (uint64_t)BASE_MAX(at - m->at, (int64_t)0));
		table_build_late(t->b, t->native_bytes, m->row, bytes);
		map_remove(&t->of, begun); /* its place stays empty */
		t->methods[i].process = UINT32_MAX;
	} else if (flags & FLAG_JITTED) { /* that it began is not in the trace */
		put_method(t, e, o, at);
		table_build_number(t->b, t->native_bytes, bytes);
		table_build_row(t->b);
	}
}

static void on_jit_event(void *context, const EVENT_RECORD *e)
{
	struct jit *t = context;
	struct openetw_event_origin o = {.size = sizeof o};
	USHORT id = e->EventHeader.EventDescriptor.Id;
	bool begins = id == KP_DOT_NETRUNTIME_METHOD_JITTING_STARTED;
	if (!is_runtime(e) || (!begins && id != KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE) ||
	    openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	uint64_t filetime = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	uint32_t process = table_make_process(t->m, o.pid, filetime);
	(begins ? jit_begins : jit_ends)(t, e, &o, process, table_make_time(t->m, filetime));
}

struct table_build *table_make_jit(struct table_maker *m, char *why, size_t cap)
{
	struct jit t = {.m = m, .b = table_build_create()};
	bool ok = t.b != NULL;
	if (ok) {
		t.start = table_build_column(t.b, "start", SQL_TYPE_I64);
		t.duration = table_build_column(t.b, "duration", SQL_TYPE_U64);
		table_who_columns(t.b, &t.who);
		t.name = table_build_column(t.b, "method", SQL_TYPE_TEXT);
		t.signature = table_build_column(t.b, "signature", SQL_TYPE_TEXT);
		t.il_bytes = table_build_column(t.b, "il_bytes", SQL_TYPE_U32);
		t.native_bytes = table_build_column(t.b, "native_bytes", SQL_TYPE_U32);
		ok = table_make_pass(m, on_jit_event, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	free(t.methods);
	map_free(&t.of);
	strbuf_finish(&t.method);
	strbuf_finish(&t.text);
	return finish(t.b, ok);
}
