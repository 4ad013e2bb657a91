/* SPDX-License-Identifier: MIT
 * Perfetto: a file of TracePackets (google/perfetto, protos/perfetto/trace).
 *
 * Names, frames and stacks are interned: a packet brings the entries that are new, and numbers mean them from then on.
 * Everything but the scheduler's events is one packet sequence. Its first packet says that no state precedes it.
 *
 *   event                                  becomes
 *   context switch, wake-up                ftrace sched_switch, sched_waking, bundles of each processor
 *   sample of a processor                  PerfSample with a stack
 *   start and stop (opcodes 1, 2)          a slice on a track of its activity, or of its thread and task
 *   all others                             an instant on the track of its thread
 */
#include "tools/export/export.h"

#include "base/json_text.h"
#include "base/vec.h"
#include "format/kernel_class.h"
#include "tools/common/event_view.h"
#include "tools/export/intern.h"
#include "tools/export/json_walk.h"
#include "tools/export/protobuf.h"

#include <stdlib.h>

/* Numbers of fields, by message. tests/exports/perfetto.proto has the same by name; the test decodes by that. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 };
enum {
	INTERNED_CATEGORY = 1,
	INTERNED_EVENT = 2,
	INTERNED_ANNOTATION = 3,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_PATH = 17,
	INTERNED_MAPPING = 19,
};
enum { ENTRY_ID = 1, ENTRY_TEXT = 2 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_PC = 4, STACK_FRAMES = 2 };
enum { MAPPING_START = 4, MAPPING_END = 5, MAPPING_PATH = 7 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_DOUBLE = 44,
	EVENT_STACK = 56,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_NAME = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_MEMBER = 11,
	ANNOTATION_ELEMENT = 12,
};
enum { TRACK_ID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5 };
enum { MODE_KERNEL = 1, MODE_USER = 2 };
enum { DEFAULTS_SAMPLE = 12, SAMPLE_TIMEBASE = 1, TIMEBASE_COUNTER = 4, CPU_CLOCK = 1 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, FTRACE_TIME = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4, FTRACE_WAKING = 20 };
enum {
	SWITCH_FROM = 1,
	SWITCH_FROM_PID,
	SWITCH_FROM_PRIORITY,
	SWITCH_FROM_STATE,
	SWITCH_TO,
	SWITCH_TO_PID,
	SWITCH_TO_PRIORITY
};
enum { WAKING_NAME = 1, WAKING_PID, WAKING_PRIORITY, WAKING_SUCCESS, WAKING_CPU };
enum { STATE_RUNNABLE = 0, STATE_SLEEPS = 1, STATE_WAITS = 2, STATE_DEAD = 16 }; /* of Linux' scheduler */

enum { SEQUENCE_EVENTS = 1, SEQUENCE_FTRACE = 2 };
#define PRIORITY     120 /* Linux' default: Windows' priorities are of another kind */
#define BUNDLE_BYTES (32u << 10)
#define FLUSH_BYTES  (256u << 10)
#define CPUS_MAX     4096u
#define KERNEL_SPACE 0xFFFF000000000000ull
#define OPCODE_START 1
#define OPCODE_STOP  2

struct perfetto {
	struct strbuf out, event, interned, key, text, stack;
	struct intern categories, events, annotations, functions, paths, mappings, frames, stacks;
	struct intern tracks; /* by key: their number + 1 is the track */
	struct intern spans;  /* by key */
	uint32_t *span_depth;
	uint32_t spans_used, span_cap;
	struct strbuf *bundle; /* by processor */
	uint32_t cpus;
};

static bool failed(const struct perfetto *p)
{
	return p->out.failed || p->event.failed || p->interned.failed || p->key.failed || p->text.failed ||
	       p->stack.failed || p->categories.failed || p->events.failed || p->annotations.failed ||
	       p->functions.failed || p->paths.failed || p->mappings.failed || p->frames.failed || p->stacks.failed ||
	       p->tracks.failed || p->spans.failed;
}

/* ---- interned data ----------------------------------------------------------------------------- */

/* The number of a text; one that is new goes with the next packet. */
static uint64_t interned(struct perfetto *p, struct intern *t, unsigned field, const char *s, size_t n)
{
	bool is_new;
	uint64_t id = (uint64_t)intern_text(t, s, n, &is_new) + 1;
	if (is_new) {
		size_t at = pb_begin(&p->interned, field);
		pb_uint(&p->interned, ENTRY_ID, id);
		pb_bytes(&p->interned, ENTRY_TEXT, s, strnlen(s, n));
		pb_end(&p->interned, at);
	}
	return id;
}

static uint64_t interned_mapping(struct perfetto *p, const struct export_frame *f)
{
	bool is_new;
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "%llx %llx ", (unsigned long long)f->module_base, (unsigned long long)f->module_bytes);
	strbuf_adds(&p->key, f->module_path);
	uint64_t id = (uint64_t)intern_text(&p->mappings, p->key.s, p->key.len, &is_new) + 1;
	if (is_new) {
		uint64_t path = interned(p, &p->paths, INTERNED_PATH, f->module_path, strlen(f->module_path));
		size_t at = pb_begin(&p->interned, INTERNED_MAPPING);
		pb_uint(&p->interned, ENTRY_ID, id);
		pb_uint(&p->interned, MAPPING_START, f->module_base);
		pb_uint(&p->interned, MAPPING_END, f->module_base + f->module_bytes);
		pb_uint(&p->interned, MAPPING_PATH, path);
		pb_end(&p->interned, at);
	}
	return id;
}

/* One function of a frame: those that were inlined are frames of the same address. */
static uint64_t interned_frame(struct perfetto *p, const struct export_frame *f, const char *name, size_t n)
{
	bool is_new;
	uint64_t mapping = f->module_path ? interned_mapping(p, f) : 0;
	uint64_t function = interned(p, &p->functions, INTERNED_FUNCTION, name, n);
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "%llx %llx %llx", (unsigned long long)mapping, (unsigned long long)function,
		    (unsigned long long)f->address);
	uint64_t id = (uint64_t)intern_text(&p->frames, p->key.s, p->key.len, &is_new) + 1;
	if (is_new) {
		size_t at = pb_begin(&p->interned, INTERNED_FRAME);
		pb_uint(&p->interned, ENTRY_ID, id);
		pb_uint(&p->interned, FRAME_FUNCTION, function);
		if (mapping) {
			pb_uint(&p->interned, FRAME_MAPPING, mapping);
			pb_uint(&p->interned, FRAME_PC, f->address - f->module_base);
		}
		pb_end(&p->interned, at);
	}
	return id;
}

static uint64_t interned_stack(struct perfetto *p, const struct export_event *e)
{
	bool is_new;
	strbuf_clear(&p->stack);
	for (uint32_t i = e->frame_count; i-- > 0;) {
		const char *name = e->frame[i].name;
		while (*name) {
			size_t n = strcspn(name, ";");
			uint64_t frame = interned_frame(p, &e->frame[i], name, n);
			strbuf_addf(&p->stack, "%llx ", (unsigned long long)frame);
			name += n + (name[n] == ';');
		}
	}
	if (p->stack.len == 0) {
		return 0;
	}
	uint64_t id = (uint64_t)intern_text(&p->stacks, p->stack.s, p->stack.len, &is_new) + 1;
	if (is_new) {
		size_t at = pb_begin(&p->interned, INTERNED_STACK);
		pb_uint(&p->interned, ENTRY_ID, id);
		for (char *s = p->stack.s; *s;) { /* our own text: numbers with a blank behind each */
			pb_uint(&p->interned, STACK_FRAMES, strtoull(s, &s, 16));
			s += *s == ' ';
		}
		pb_end(&p->interned, at);
	}
	return id;
}

/* ---- packets ----------------------------------------------------------------------------------- */

static size_t begin_packet(struct perfetto *p, uint64_t time_100ns, unsigned sequence)
{
	size_t at = pb_begin(&p->out, TRACE_PACKET);
	pb_uint(&p->out, PACKET_TIME, time_100ns * 100);
	pb_uint(&p->out, PACKET_SEQUENCE, sequence);
	return at;
}

/* Everything in `event` as this field of a packet, with what was interned for it. */
static void packet(struct perfetto *p, uint64_t time_100ns, unsigned field)
{
	size_t at = begin_packet(p, time_100ns, SEQUENCE_EVENTS);
	pb_uint(&p->out, PACKET_FLAGS, FLAG_NEEDS_STATE);
	if (p->interned.len) {
		pb_bytes(&p->out, PACKET_INTERNED, p->interned.s, p->interned.len);
		strbuf_clear(&p->interned);
	}
	pb_bytes(&p->out, field, p->event.s, p->event.len);
	pb_end(&p->out, at);
}

/* ---- tracks ------------------------------------------------------------------------------------ */

/* The track of this key; *ret_new: its descriptor has to be written. */
static uint64_t track_of(struct perfetto *p, bool *ret_new)
{
	return (uint64_t)intern_text(&p->tracks, p->key.s, p->key.len, ret_new) + 1;
}

static size_t begin_track(struct perfetto *p, uint64_t time, uint64_t id, uint64_t parent, size_t *ret_packet)
{
	*ret_packet = begin_packet(p, time, SEQUENCE_EVENTS);
	size_t at = pb_begin(&p->out, PACKET_TRACK);
	pb_uint(&p->out, TRACK_ID, id);
	if (parent) {
		pb_uint(&p->out, TRACK_PARENT, parent);
	}
	return at;
}

static void end_track(struct perfetto *p, size_t track, size_t packet)
{
	pb_end(&p->out, track);
	pb_end(&p->out, packet);
}

static uint64_t process_track(struct perfetto *p, uint64_t time, uint32_t pid, const char *name)
{
	bool is_new;
	size_t whole;
	bool known = pid != OPENETW_UNKNOWN_ID && pid != 0;
	name = known || pid == 0 ? (name && *name ? name : pid ? "" : "Idle") : "events of no process";
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "p %u ", pid);
	strbuf_adds(&p->key, name);
	uint64_t id = track_of(p, &is_new);
	if (is_new) {
		size_t track = begin_track(p, time, id, 0, &whole);
		if (known) {
			size_t at = pb_begin(&p->out, TRACK_PROCESS);
			pb_uint(&p->out, PROCESS_PID, pid);
			if (*name) {
				pb_string(&p->out, PROCESS_NAME, name);
			}
			pb_end(&p->out, at);
		} else {
			pb_string(&p->out, TRACK_NAME, name);
		}
		end_track(p, track, whole);
	}
	return id;
}

static uint64_t thread_track(struct perfetto *p, uint64_t time, uint32_t pid, const char *process, uint32_t tid,
			     const char *thread)
{
	bool is_new;
	size_t whole;
	uint64_t parent = process_track(p, time, pid, process);
	if (pid == OPENETW_UNKNOWN_ID || pid == 0 || tid == OPENETW_UNKNOWN_ID || tid == 0) {
		return parent;
	}
	thread = thread && *thread ? thread : "";
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "t %llu %u ", (unsigned long long)parent, tid);
	strbuf_adds(&p->key, thread);
	uint64_t id = track_of(p, &is_new);
	if (is_new) {
		size_t track = begin_track(p, time, id, parent, &whole);
		size_t at = pb_begin(&p->out, TRACK_THREAD);
		pb_uint(&p->out, THREAD_PID, pid);
		pb_uint(&p->out, THREAD_TID, tid);
		if (*thread) {
			pb_string(&p->out, THREAD_NAME, thread);
		}
		pb_end(&p->out, at);
		end_track(p, track, whole);
	}
	return id;
}

static uint64_t track_of_event(struct perfetto *p, const struct export_event *e)
{
	const struct openetw_event_origin *o = e->who;
	return thread_track(p, e->time_100ns, o->pid, o->process, o->tid, o->thread);
}

/* ---- counters ---------------------------------------------------------------------------------- */

static void counter(struct perfetto *p, const struct export_event *e, uint64_t parent, const char *name,
		    const struct json_number *n)
{
	bool is_new;
	size_t whole;
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "c %llu ", (unsigned long long)parent);
	strbuf_adds(&p->key, name);
	uint64_t id = track_of(p, &is_new);
	if (is_new) {
		size_t track = begin_track(p, e->time_100ns, id, parent, &whole);
		pb_string(&p->out, TRACK_NAME, name);
		pb_bytes(&p->out, TRACK_COUNTER, "", 0);
		end_track(p, track, whole);
	}
	strbuf_clear(&p->event);
	pb_uint(&p->event, EVENT_TYPE, TYPE_COUNTER);
	pb_uint(&p->event, EVENT_TRACK, id);
	if (n->kind == JSON_DOUBLE || (n->kind == JSON_UNSIGNED && n->u > INT64_MAX)) {
		pb_double(&p->event, EVENT_COUNTER_DOUBLE, n->d);
	} else {
		pb_uint(&p->event, EVENT_COUNTER, n->kind == JSON_SIGNED ? (uint64_t)n->i : n->u);
	}
	packet(p, e->time_100ns, PACKET_TRACK_EVENT);
}

static void counters(struct export *x, const struct export_event *e)
{
	struct perfetto *p = x->own;
	char name[128];
	for (uint32_t i = 0; i < e->counter_count; i++) {
		struct json_number n = {
			.kind = JSON_UNSIGNED, .u = e->counter[i].value, .d = (double)e->counter[i].value};
		snprintf(name, sizeof name, "%s of processor %u", e->counter[i].name, e->cpu);
		counter(p, e, 0, name, &n);
	}
	for (int c = 0; c < x->o->counter.count; c++) {
		const char *wanted = x->o->counter.text[c];
		for (size_t i = 0; i < e->field_count; i++) {
			const struct openetw_field *f = &e->field[i];
			if (strcasecmp(f->name, wanted) != 0) {
				continue;
			}
			if (json_type_of(f->json, f->json_length) != JSON_NUMBER) {
				export_miss(x, "values of --counter that are no numbers: left out of the counters");
				continue;
			}
			struct json_number n = json_number_of(f->json, f->json_length);
			uint64_t parent = process_track(p, e->time_100ns, e->who->pid, e->who->process);
			strbuf_clear(&p->text);
			strbuf_addf(&p->text, "%s/%s.%s", e->provider, e->name, f->name);
			counter(p, e, parent, p->text.s ? p->text.s : "", &n);
		}
	}
}

/* ---- fields ------------------------------------------------------------------------------------ */

static void value(struct perfetto *p, const char *s, size_t n, unsigned depth)
{
	struct strbuf *b = &p->event;
	struct json_item item;
	struct json_number number;
	enum json_type type = json_type_of(s, n);
	switch (type) {
	case JSON_NULL: break;
	case JSON_FALSE:
	case JSON_TRUE: pb_uint(b, ANNOTATION_BOOL, type == JSON_TRUE); break;
	case JSON_NUMBER:
		number = json_number_of(s, n);
		if (number.kind == JSON_UNSIGNED) {
			pb_uint(b, ANNOTATION_UINT, number.u);
		} else if (number.kind == JSON_SIGNED) {
			pb_uint(b, ANNOTATION_INT, (uint64_t)number.i);
		} else {
			pb_double(b, ANNOTATION_DOUBLE, number.d);
		}
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		if (depth == JSON_DEPTH_MAX) {
			pb_bytes(b, ANNOTATION_STRING, s, n);
			break;
		}
		for (struct json_walk w = json_walk_of(s, n); json_walk_next(&w, &item);) {
			size_t at = pb_begin(b, item.name ? ANNOTATION_MEMBER : ANNOTATION_ELEMENT);
			if (item.name) {
				json_text_plain(&p->text, item.name, item.name_length);
				pb_uint(b, ANNOTATION_NAME,
					interned(p, &p->annotations, INTERNED_ANNOTATION, p->text.s, p->text.len));
			}
			value(p, item.json, item.length, depth + 1);
			pb_end(b, at);
		}
		break;
	case JSON_STRING:
		json_text_plain(&p->text, s, n);
		pb_bytes(b, ANNOTATION_STRING, p->text.s, p->text.len);
		break;
	}
}

static size_t begin_annotation(struct perfetto *p, const char *name, size_t n)
{
	size_t at = pb_begin(&p->event, EVENT_ANNOTATION);
	pb_uint(&p->event, ANNOTATION_NAME, interned(p, &p->annotations, INTERNED_ANNOTATION, name, n));
	return at;
}

static void annotate(struct perfetto *p, const char *name, const char *text)
{
	if (text && *text) {
		size_t at = begin_annotation(p, name, strlen(name));
		pb_string(&p->event, ANNOTATION_STRING, text);
		pb_end(&p->event, at);
	}
}

static void annotations(struct perfetto *p, const struct export_event *e)
{
	static const GUID zero;
	const EVENT_HEADER *h = &e->record->EventHeader;
	char guid[37];
	for (size_t i = 0; i < e->field_count; i++) {
		const struct openetw_field *f = &e->field[i];
		size_t at = begin_annotation(p, f->name, f->name_length);
		value(p, f->json, f->json_length, 0);
		pb_end(&p->event, at);
	}
	annotate(p, "etw.level", export_level(e));
	if (h->EventDescriptor.Keyword) {
		size_t at = begin_annotation(p, "etw.keywords", 12);
		pb_uint(&p->event, ANNOTATION_POINTER, h->EventDescriptor.Keyword);
		pb_end(&p->event, at);
	}
	if (memcmp(&h->ActivityId, &zero, sizeof zero) != 0) {
		cli_guid_text(&h->ActivityId, guid);
		annotate(p, "etw.activity", guid);
	}
	annotate(p, "etw.file", e->who->file);
}

/* ---- slices and instants ----------------------------------------------------------------------- */

/* "Request" of "RequestStart" and "Request/Start": what start and stop have in common. */
static size_t common_name(const char *name, uint8_t opcode)
{
	const char *end = opcode == OPCODE_START ? "Start" : "Stop";
	size_t n = strlen(name), e = strlen(end);
	if (n > e && strcasecmp(name + n - e, end) == 0) {
		n -= e;
		n -= n > 1 && name[n - 1] == '/';
	}
	return n;
}

/* The span that the event begins or ends, as a place in span_depth; INTERN_NONE: it does neither. */
static uint32_t span_of(struct perfetto *p, const struct export_event *e)
{
	static const GUID zero;
	const EVENT_HEADER *h = &e->record->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	char provider[37], activity[37] = "";
	bool is_new;
	if ((d->Opcode != OPCODE_START && d->Opcode != OPCODE_STOP) || kernel_class_group(&h->ProviderId) >= 0) {
		return INTERN_NONE;
	}
	cli_guid_text(&h->ProviderId, provider);
	bool by_activity = memcmp(&h->ActivityId, &zero, sizeof zero) != 0;
	if (by_activity) {
		cli_guid_text(&h->ActivityId, activity);
	}
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "%s %u %u %s %u ", provider, d->Task, e->who->pid, activity,
		    by_activity ? 0 : e->who->tid);
	if (d->Task == 0 && !by_activity) { /* then only the name says what belongs together */
		strbuf_add(&p->key, e->name, common_name(e->name, d->Opcode));
	}
	uint32_t i = p->key.failed ? INTERN_NONE : intern_text(&p->spans, p->key.s, p->key.len, &is_new);
	if (i != INTERN_NONE && is_new) {
		if (!VEC_ROOM(p->span_depth, p->spans_used, p->span_cap)) {
			p->spans.failed = true;
			return INTERN_NONE;
		}
		p->span_depth[p->spans_used++] = 0;
	}
	return i;
}

static uint64_t span_track(struct perfetto *p, const struct export_event *e, uint32_t span)
{
	bool is_new;
	size_t whole;
	uint64_t parent = track_of_event(p, e);
	strbuf_clear(&p->key);
	strbuf_addf(&p->key, "s %u", span);
	uint64_t id = track_of(p, &is_new);
	if (is_new) {
		size_t n = common_name(e->name, OPCODE_START);
		strbuf_clear(&p->text);
		strbuf_adds(&p->text, e->provider);
		strbuf_addc(&p->text, '/');
		strbuf_add(&p->text, e->name, n);
		size_t track = begin_track(p, e->time_100ns, id, parent, &whole);
		pb_bytes(&p->out, TRACK_NAME, p->text.s, p->text.len);
		end_track(p, track, whole);
	}
	return id;
}

static void track_event(struct export *x, const struct export_event *e)
{
	struct perfetto *p = x->own;
	uint8_t opcode = e->record->EventHeader.EventDescriptor.Opcode;
	unsigned type = TYPE_INSTANT;
	uint32_t span = span_of(p, e);
	size_t name_length = strlen(e->name);
	uint64_t track = 0;
	if (span != INTERN_NONE && opcode == OPCODE_START) {
		type = TYPE_BEGIN;
		p->span_depth[span]++;
	} else if (span != INTERN_NONE && p->span_depth[span] > 0) {
		type = TYPE_END;
		p->span_depth[span]--;
	} else if (span != INTERN_NONE) {
		export_miss(x, "stops whose start is not selected: shown as instants");
	}
	track = type == TYPE_INSTANT ? track_of_event(p, e) : span_track(p, e, span);
	if (type == TYPE_BEGIN) {
		name_length = common_name(e->name, opcode);
	}
	strbuf_clear(&p->event);
	pb_uint(&p->event, EVENT_TYPE, type);
	pb_uint(&p->event, EVENT_TRACK, track);
	pb_uint(&p->event, EVENT_CATEGORY,
		interned(p, &p->categories, INTERNED_CATEGORY, e->provider, strlen(e->provider)));
	pb_uint(&p->event, EVENT_NAME, interned(p, &p->events, INTERNED_EVENT, e->name, name_length));
	annotations(p, e);
	uint64_t stack = interned_stack(p, e);
	if (stack) {
		pb_uint(&p->event, EVENT_STACK, stack);
	}
	packet(p, e->time_100ns, PACKET_TRACK_EVENT);
}

/* ---- kernel events ----------------------------------------------------------------------------- */

static void sample(struct perfetto *p, const struct export_event *e)
{
	uint64_t stack = interned_stack(p, e);
	bool in_kernel = e->frame_count && e->frame[0].address >= KERNEL_SPACE;
	track_of_event(p, e); /* tells names */
	strbuf_clear(&p->event);
	pb_uint(&p->event, SAMPLE_CPU, e->cpu);
	pb_uint(&p->event, SAMPLE_PID, e->who->pid);
	pb_uint(&p->event, SAMPLE_TID, e->who->tid);
	pb_uint(&p->event, SAMPLE_MODE, in_kernel ? MODE_KERNEL : MODE_USER);
	if (stack) {
		pb_uint(&p->event, SAMPLE_STACK, stack);
	}
	packet(p, e->time_100ns, PACKET_SAMPLE);
}

static void flush_bundle(struct perfetto *p, uint64_t time_100ns, uint32_t cpu)
{
	struct strbuf *events = &p->bundle[cpu];
	if (events->len) {
		size_t at = begin_packet(p, time_100ns, SEQUENCE_FTRACE);
		size_t bundle = pb_begin(&p->out, PACKET_FTRACE);
		pb_uint(&p->out, BUNDLE_CPU, cpu);
		strbuf_add(&p->out, events->s, events->len);
		pb_end(&p->out, bundle);
		pb_end(&p->out, at);
		p->out.failed = p->out.failed || events->failed;
		strbuf_clear(events);
	}
}

static unsigned linux_state(const struct export_event *e)
{
	enum { READY = 1, RUNNING, STANDBY, TERMINATED, WAITING }; /* of Windows' scheduler */
	enum { PAGE_IN = 2, WR_PAGE_IN = 9 };                      /* reasons */
	switch (e->out_state) {
	case TERMINATED: return STATE_DEAD;
	case WAITING: return e->out_reason == PAGE_IN || e->out_reason == WR_PAGE_IN ? STATE_WAITS : STATE_SLEEPS;
	default: return STATE_RUNNABLE;
	}
}

static void thread_name(struct strbuf *b, unsigned field, uint32_t tid, uint16_t cpu, const char *name)
{
	char idle[32];
	snprintf(idle, sizeof idle, "swapper/%u", cpu);
	pb_string(b, field, tid == 0 ? idle : name);
}

static bool schedule(struct perfetto *p, const struct export_event *e)
{
	while (p->cpus <= e->cpu) {
		uint32_t cap = p->cpus;
		if (e->cpu >= CPUS_MAX || !VEC_ROOM(p->bundle, p->cpus, cap)) {
			return false;
		}
		p->bundle[p->cpus++] = (struct strbuf){0};
	}
	struct strbuf *b = &p->bundle[e->cpu];
	bool is_switch = e->what == EXPORT_SWITCH;
	thread_track(p, e->time_100ns, e->in_pid, e->in_process, e->in_tid, e->in_thread);
	if (is_switch) {
		thread_track(p, e->time_100ns, e->out_pid, e->out_process, e->out_tid, e->out_thread);
	}
	size_t event = pb_begin(b, BUNDLE_EVENT);
	pb_uint(b, FTRACE_TIME, e->time_100ns * 100);
	pb_uint(b, FTRACE_PID, is_switch ? e->out_tid : e->who->tid == OPENETW_UNKNOWN_ID ? 0 : e->who->tid);
	size_t at = pb_begin(b, is_switch ? FTRACE_SWITCH : FTRACE_WAKING);
	if (is_switch) {
		thread_name(b, SWITCH_FROM, e->out_tid, e->cpu, e->out_thread);
		pb_uint(b, SWITCH_FROM_PID, e->out_tid);
		pb_uint(b, SWITCH_FROM_PRIORITY, PRIORITY);
		pb_uint(b, SWITCH_FROM_STATE, linux_state(e));
		thread_name(b, SWITCH_TO, e->in_tid, e->cpu, e->in_thread);
		pb_uint(b, SWITCH_TO_PID, e->in_tid);
		pb_uint(b, SWITCH_TO_PRIORITY, PRIORITY);
	} else {
		thread_name(b, WAKING_NAME, e->in_tid, e->cpu, e->in_thread);
		pb_uint(b, WAKING_PID, e->in_tid);
		pb_uint(b, WAKING_PRIORITY, PRIORITY);
		pb_uint(b, WAKING_SUCCESS, 1);
		pb_uint(b, WAKING_CPU, e->cpu);
	}
	pb_end(b, at);
	pb_end(b, event);
	if (b->len >= BUNDLE_BYTES) {
		flush_bundle(p, e->time_100ns, e->cpu);
	}
	return true;
}

/* ---- the kind ---------------------------------------------------------------------------------- */

/* Times are of 1970 on. They are said to be both the clock of packets and the time of day. */
static void write_clocks(struct perfetto *p, uint64_t time_100ns)
{
	static const unsigned clocks[] = {BOOTTIME, MONOTONIC, REALTIME};
	size_t at = begin_packet(p, time_100ns, SEQUENCE_EVENTS);
	size_t snapshot = pb_begin(&p->out, PACKET_CLOCKS);
	for (size_t i = 0; i < BASE_ARRAY_LEN(clocks); i++) {
		size_t clock = pb_begin(&p->out, CLOCKS_CLOCK);
		pb_uint(&p->out, CLOCK_ID, clocks[i]);
		pb_uint(&p->out, CLOCK_TIME, time_100ns * 100);
		pb_end(&p->out, clock);
	}
	pb_end(&p->out, snapshot);
	pb_end(&p->out, at);
}

static void write_defaults(struct perfetto *p, uint64_t time_100ns)
{
	size_t at = begin_packet(p, time_100ns, SEQUENCE_EVENTS);
	pb_uint(&p->out, PACKET_FLAGS, FLAG_CLEARED | FLAG_NEEDS_STATE);
	size_t defaults = pb_begin(&p->out, PACKET_DEFAULTS);
	size_t of_samples = pb_begin(&p->out, DEFAULTS_SAMPLE);
	size_t timebase = pb_begin(&p->out, SAMPLE_TIMEBASE);
	pb_uint(&p->out, TIMEBASE_COUNTER, CPU_CLOCK);
	pb_end(&p->out, timebase);
	pb_end(&p->out, of_samples);
	pb_end(&p->out, defaults);
	pb_end(&p->out, at);
}

static bool begin(struct export *x)
{
	struct perfetto *p = x->own = calloc(1, sizeof *p);
	if (!p) {
		return export_fail(x, ENOMEM);
	}
	write_clocks(p, x->trace.start_100ns);
	write_defaults(p, x->trace.start_100ns);
	return !failed(p) || export_fail(x, ENOMEM);
}

static bool event(struct export *x, const struct export_event *e)
{
	struct perfetto *p = x->own;
	bool written = true;
	switch (e->what) {
	case EXPORT_STACK:
		export_miss(x, "records of call stacks: the stacks are with the events that they belong to");
		return true;
	case EXPORT_SAMPLE:
		if (e->who->pid == 0 || e->who->tid == 0) {
			export_miss(x, "samples of idle processors: left out");
			return true;
		}
		sample(p, e);
		break;
	case EXPORT_SWITCH:
	case EXPORT_READY:
		written = schedule(p, e);
		if (!written) {
			export_miss(x, "switches and wake-ups of processors beyond 4096: left out");
		}
		break;
	case EXPORT_PLAIN: track_event(x, e); break;
	}
	counters(x, e);
	x->written += written;
	if (failed(p)) {
		return export_fail(x, ENOMEM);
	}
	return p->out.len < FLUSH_BYTES || export_flush(x, &p->out);
}

static bool end(struct export *x)
{
	struct perfetto *p = x->own;
	uint64_t open = 0;
	for (uint32_t i = 0; i < p->cpus; i++) {
		flush_bundle(p, x->trace.start_100ns, i);
	}
	for (uint32_t i = 0; i < p->spans_used; i++) {
		open += p->span_depth[i];
	}
	export_miss_n(x, "starts whose stop is not selected: their slices have no end", open);
	return (!failed(p) || export_fail(x, ENOMEM)) && export_flush(x, &p->out);
}

static void finish(struct export *x)
{
	struct perfetto *p = x->own;
	if (!p) {
		return;
	}
	struct strbuf *texts[] = {&p->out, &p->event, &p->interned, &p->key, &p->text, &p->stack};
	struct intern *tables[] = {&p->categories, &p->events, &p->annotations, &p->functions, &p->paths,
				   &p->mappings,   &p->frames, &p->stacks,      &p->tracks,    &p->spans};
	for (size_t i = 0; i < BASE_ARRAY_LEN(texts); i++) {
		strbuf_finish(texts[i]);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		intern_free(tables[i]);
	}
	for (uint32_t i = 0; i < p->cpus; i++) {
		strbuf_finish(&p->bundle[i]);
	}
	free(p->bundle);
	free(p->span_depth);
	free(p);
	x->own = NULL;
}

const struct export_kind export_perfetto = {
	.name = "perfetto",
	.what = "a trace for ui.perfetto.dev: slices, instants, scheduling, samples with stacks, counters",
	.suffix = ".pftrace",
	.cannot =
		"samples of idle processors; priorities of threads; records of call stacks (their stacks are with the "
		"events)",
	.needs = EXPORT_FIELDS | EXPORT_FRAMES,
	.binary = true,
	.begin = begin,
	.event = event,
	.end = end,
	.finish = finish,
};
