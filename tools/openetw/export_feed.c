/* SPDX-License-Identifier: MIT */
#include "tools/openetw/export_feed.h"

#include "base/vec.h"
#include "format/kernel_class.h"
#include "tools/common/counters_of.h"
#include "tools/common/event_view.h"
#include "tools/tables/function_names.h"
#include "tools/tables/kernel_event.h"

#include <stdlib.h>

#define UNIX_EPOCH 116444736000000000ull /* in FILETIME */

struct field_place { /* in `store` */
	size_t name, text, json;
};
struct export_feed {
	struct export *x;
	const struct cli_args *args;
	struct cli_select *select;
	struct openetw_state *state;
	struct openetw_decoder *decoder;
	struct cli_view *view;
	struct names names;
	struct counters_of counters;
	struct cli_trace trace;
	bool is_open, learning;
	struct export_event e;
	struct strbuf store, frame_names;
	struct openetw_field *field;
	struct field_place *place;
	uint32_t field_count, field_cap, place_cap;
	struct export_frame frame[NAMES_FRAMES_MAX];
	size_t frame_name[NAMES_FRAMES_MAX]; /* in `frame_names` */
	struct export_counter counter[COUNTERS_OF_MAX];
	char counter_name[COUNTERS_OF_MAX][64];
	uint64_t sampled; /* where the processor was, of a sample */
	uint64_t selected, undecoded;
};

static bool collect(void *context, const struct openetw_field *from)
{
	struct export_feed *f = context;
	struct strbuf *b = &f->store;
	if (!VEC_ROOM(f->field, f->field_count, f->field_cap) || !VEC_ROOM(f->place, f->field_count, f->place_cap)) {
		b->failed = true;
		return false;
	}
	struct field_place *p = &f->place[f->field_count];
	f->field[f->field_count++] = *from;
	p->name = b->len;
	strbuf_add(b, from->name, from->name_length);
	strbuf_addc(b, 0);
	p->text = b->len;
	strbuf_add(b, from->text, from->text_length);
	strbuf_addc(b, 0);
	p->json = b->len;
	strbuf_add(b, from->json, from->json_length);
	strbuf_addc(b, 0);
	return !b->failed;
}

static void take_fields(struct export_feed *f, const EVENT_RECORD *r)
{
	f->field_count = 0;
	strbuf_clear(&f->store);
	f->e.whole = openetw_decode_fields(f->decoder, r, collect, f) == OPENETW_DECODED;
	f->undecoded += !f->e.whole;
	for (uint32_t i = 0; i < f->field_count && !f->store.failed; i++) {
		f->field[i].name = f->store.s + f->place[i].name;
		f->field[i].text = f->store.s + f->place[i].text;
		f->field[i].json = f->store.s + f->place[i].json;
	}
	f->e.field = f->field;
	f->e.field_count = f->store.failed ? 0 : f->field_count;
	openetw_event_names(f->decoder, r, &f->e.provider, &f->e.name);
}

static void take_frames(struct export_feed *f, const EVENT_RECORD *r, bool interrupted)
{
	struct openetw_stack s = {.size = sizeof s};
	uint64_t time = (uint64_t)r->EventHeader.TimeStamp.QuadPart;
	f->e.frame_count = 0;
	strbuf_clear(&f->frame_names);
	if (openetw_state_stack(f->state, r, &s) != ERROR_SUCCESS || s.count == 0) {
		if (f->e.what != EXPORT_SAMPLE) {
			return;
		}
		s.addresses = &f->sampled; /* without a stack, this is what is known */
		s.count = 1;
		s.pid = f->e.who->pid;
	}
	uint32_t n = BASE_MIN(s.count, (uint32_t)NAMES_FRAMES_MAX);
	if (n < s.count) {
		export_miss(f->x, "stacks are deeper than what is read of them; their outer frames are left out");
	}
	for (uint32_t i = 0; i < n; i++) {
		struct openetw_module m = {.size = sizeof m};
		struct export_frame *to = &f->frame[i];
		uint64_t address = names_frame(s.addresses, i, interrupted);
		*to = (struct export_frame){.address = address};
		if (openetw_state_module(f->state, s.pid, address, time, &m) == ERROR_SUCCESS) {
			to->module_path = m.path;
			to->module_base = m.base;
			to->module_bytes = m.bytes;
		}
		f->frame_name[i] = f->frame_names.len;
		names_all(&f->names, s.pid, address, time, &f->frame_names);
		strbuf_addc(&f->frame_names, 0);
	}
	for (uint32_t i = 0; i < n && !f->frame_names.failed; i++) {
		f->frame[i].name = f->frame_names.s + f->frame_name[i];
	}
	f->e.frame = f->frame;
	f->e.frame_count = f->frame_names.failed ? 0 : n;
}

/* What a thread is called: by its own name, or that of its process. */
static const char *thread_text(struct export_feed *f, uint32_t tid, uint64_t time, const char **ret_process,
			       uint32_t *ret_pid)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	*ret_process = "";
	*ret_pid = OPENETW_UNKNOWN_ID;
	if (tid == 0 || openetw_state_thread(f->state, tid, time, &t) != ERROR_SUCCESS) {
		return "";
	}
	*ret_pid = t.pid;
	if (openetw_state_process(f->state, t.pid, time, &p) == ERROR_SUCCESS && p.name) {
		*ret_process = p.name;
	}
	return t.name && t.name[0] ? t.name : *ret_process;
}

static void take_kernel(struct export_feed *f, const EVENT_RECORD *r)
{
	struct export_event *e = &f->e;
	struct kevent k;
	int group = kernel_class_group(&r->EventHeader.ProviderId);
	e->what = group == KERNEL_GROUP_STACK ? EXPORT_STACK : EXPORT_PLAIN;
	e->in_process = e->in_thread = e->out_process = e->out_thread = "";
	e->out_tid = e->in_tid = e->out_pid = e->in_pid = OPENETW_UNKNOWN_ID;
	if ((group != KERNEL_GROUP_PERF && group != KERNEL_GROUP_THREAD) || !kevent_of(f->state, r, &k)) {
		return;
	}
	switch (k.kind) {
	case KEVENT_SAMPLE:
		e->what = EXPORT_SAMPLE;
		f->sampled = k.address;
		break;
	case KEVENT_SWITCH:
		e->what = EXPORT_SWITCH;
		e->out_tid = k.out_tid;
		e->in_tid = k.in_tid;
		e->out_state = k.state;
		e->out_reason = k.reason;
		e->out_thread = thread_text(f, k.out_tid, k.time, &e->out_process, &e->out_pid);
		e->in_thread = thread_text(f, k.in_tid, k.time, &e->in_process, &e->in_pid);
		break;
	case KEVENT_READY:
		e->what = EXPORT_READY;
		e->in_tid = k.subject_tid;
		e->in_thread = thread_text(f, k.subject_tid, k.time, &e->in_process, &e->in_pid);
		break;
	default: break;
	}
}

static void take_counters(struct export_feed *f, const EVENT_RECORD *r)
{
	uint64_t value[COUNTERS_OF_MAX];
	char buffer[16];
	f->e.counter_count = counters_of_event(r, value);
	f->e.counter = f->counter;
	for (uint32_t i = 0; i < f->e.counter_count; i++) {
		snprintf(f->counter_name[i], sizeof f->counter_name[i], "%s",
			 counters_of_name(&f->counters, i, buffer));
		f->counter[i] = (struct export_counter){f->counter_name[i], value[i]};
	}
}

static bool on_event(void *ctx, const EVENT_RECORD *r)
{
	struct export_feed *f = ctx;
	struct export_event *e = &f->e;
	const struct export_kind *k = f->x->kind;
	if (f->learning) {
		k->learn(f->x, r);
		return true;
	}
	counters_of_learn(&f->counters, r);
	cli_view_set(f->view, r);
	if (cli_is_header(r) || !cli_select_match(f->select, f->view, r)) {
		return true;
	}
	f->selected++;
	uint64_t time = (uint64_t)r->EventHeader.TimeStamp.QuadPart;
	e->record = r;
	e->time_100ns = time > UNIX_EPOCH ? time - UNIX_EPOCH : 0;
	e->cpu = (uint16_t)GetEventProcessorIndex(r);
	e->who = cli_view_origin(f->view);
	e->provider = e->name = "";
	e->frame_count = e->counter_count = 0;
	e->field_count = 0;
	take_kernel(f, r);
	if (k->needs & EXPORT_FIELDS) {
		take_fields(f, r);
		take_counters(f, r);
	}
	if (k->needs & EXPORT_FRAMES) {
		take_frames(f, r, e->what == EXPORT_SAMPLE);
	}
	if (f->store.failed || f->frame_names.failed) {
		return export_fail(f->x, ENOMEM);
	}
	return k->event(f->x, e);
}

struct export_feed *export_feed_create(const struct cli_args *a, struct export *x, struct cli_select *select)
{
	struct export_feed *f = calloc(1, sizeof *f);
	if (f) {
		f->x = x;
		f->args = a;
		f->select = select;
		f->state = openetw_state_create(
			x->kind->needs & EXPORT_FRAMES || cli_select_asks_stack(select) ? OPENETW_STATE_STACKS : 0);
		f->decoder = openetw_decoder_create();
		f->view = f->decoder ? cli_view_create(f->decoder, false) : NULL;
	}
	if (!f || !f->state || !f->view) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot start");
		export_feed_destroy(f);
		return NULL;
	}
	cli_view_set_state(f->view, f->state);
	x->state = f->state;
	f->names.state = f->state;
	if (x->kind->needs & EXPORT_FRAMES && !x->o->no_inlines) {
		f->names.inlines = inlines_create();
	}
	return f;
}

void export_feed_destroy(struct export_feed *f)
{
	if (!f) {
		return;
	}
	for (int i = 0; f->is_open && i < f->trace.count; i++) {
		CloseTrace(f->trace.handle[i]);
	}
	cli_view_destroy(f->view);
	openetw_decoder_destroy(f->decoder);
	inlines_destroy(f->names.inlines);
	cli_kallsyms_free(f->names.kernel);
	cli_state_end(f->state);
	strbuf_finish(&f->store);
	strbuf_finish(&f->frame_names);
	free(f->field);
	free(f->place);
	free(f);
}

bool export_feed_open(struct export_feed *f)
{
	const struct cli_args *a = f->args;
	f->trace = (struct cli_trace){.args = a,
				      .event = on_event,
				      .ctx = f,
				      .select = f->learning ? NULL : f->select,
				      .state = f->learning ? NULL : f->state,
				      .no_progress = f->x->o->quiet};
	f->is_open = cli_trace_open(&f->trace, a->count, a->words, NULL);
	if (!f->is_open) {
		return false;
	}
	struct export_trace *t = &f->x->trace;
	const TRACE_LOGFILE_HEADER *h = &f->trace.file[0].LogfileHeader;
	t->name = a->words[0];
	t->start_100ns = f->trace.first_start > UNIX_EPOCH ? f->trace.first_start - UNIX_EPOCH : 0;
	t->cpus = h->NumberOfProcessors;
	snprintf(t->os, sizeof t->os, "%u.%u.%u", (unsigned)(h->Version & 0xFF), (unsigned)(h->Version >> 8 & 0xFF),
		 (unsigned)h->ProviderVersion);
	if (!f->names.kernel && f->x->kind->needs & EXPORT_FRAMES) {
		f->names.kernel = cli_kallsyms_load((uint64_t)h->BootTime.QuadPart);
	}
	return true;
}

static int run(struct export_feed *f)
{
	f->is_open = false; /* cli_trace_run() closes the handles */
	uint32_t code = cli_trace_run(&f->trace);
	if (f->trace.interrupted) {
		return 128 + f->trace.interrupted;
	}
	if (code == ERROR_INVALID_TIME) {
		return cli_usage(f->args, "--to lies before --from");
	}
	if (f->x->error) {
		return CLI_FAILED;
	}
	if (code) {
		return cli_fail(f->args, code, "stopped after %llu events", (unsigned long long)f->trace.events);
	}
	return CLI_OK;
}

int export_feed_learn(struct export_feed *f)
{
	f->learning = true;
	int status = export_feed_open(f) ? run(f) : CLI_FAILED;
	f->learning = false;
	return status;
}

int export_feed_run(struct export_feed *f)
{
	return run(f);
}

uint64_t export_feed_selected(const struct export_feed *f)
{
	return f->selected;
}

uint64_t export_feed_undecoded(const struct export_feed *f)
{
	return f->undecoded;
}

const struct cli_trace *export_feed_trace(const struct export_feed *f)
{
	return &f->trace;
}
