/* SPDX-License-Identifier: MIT
 *
 * The index of real files against what ProcessTrace and struct openetw_state say of every event: time, processor, names of
 * provider and event, process, thread, call stack.
 */
#include "query/query_fetch.h"
#include "query/query_index.h"

#include "../corpus/corpus.h"
#include "base/base.h"

#include "evntcons.h"
#include "evntrace.h"
#include "openetw/decode.h"
#include "openetw/state.h"

#include <glob.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static const uint8_t trace_class[16] = {0x00, 0xd9, 0xfd, 0x68, 0x3e, 0x4a, 0xd1, 0x11,
					0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3};
static const uint8_t metadata_class[16] = {0xc1, 0xf6, 0xcc, 0xbb, 0xd1, 0x6c, 0xc4, 0x48,
					   0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71};

struct walk {
	struct openetw_index *x;
	struct openetw_state *state;
	struct openetw_decoder *decoder;
	struct fetch *fetch;
	uint64_t row, stacks;
	const char *path;
};

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct walk *w = e->UserContext;
	const struct store *s = &w->x->files[0].store;
	const uint8_t *provider = (const uint8_t *)&e->EventHeader.ProviderId;
	if (memcmp(provider, trace_class, 16) == 0 || memcmp(provider, metadata_class, 16) == 0) {
		return;
	}
	assert_true(w->row < s->about->rows);
	struct store_columns c;
	store_columns_of(s, (uint32_t)(w->row / STORE_GROUP_ROWS), &c);
	uint32_t i = (uint32_t)(w->row++ % STORE_GROUP_ROWS);

	int64_t time = store_time(&c, i);
	assert_int_equal(s->about->start_filetime + time / 100, e->EventHeader.TimeStamp.QuadPart);
	assert_int_equal(c.cpu[i], GetEventProcessorIndex(e));

	const struct store_type *t = &s->types[store_type_at(&c, i)];
	assert_memory_equal(t->provider, provider, 16);
	assert_int_equal(t->id, e->EventHeader.EventDescriptor.Id);
	assert_int_equal(t->opcode, e->EventHeader.EventDescriptor.Opcode);
	assert_int_equal(t->level, e->EventHeader.EventDescriptor.Level);
	const char *provider_name, *name;
	openetw_event_names(w->decoder, e, &provider_name, &name);
	assert_string_equal(store_string(s, t->provider_name), provider_name);
	assert_string_equal(store_string(s, t->name), name);

	OPENETW_SIZED(struct openetw_event_origin, o);
	assert_int_equal(openetw_state_event(w->state, e, &o), 0);
	const struct store_process *p = &s->processes[store_process_at(&c, i)];
	assert_int_equal(p->pid, o.pid);
	assert_string_equal(store_string(s, p->name), o.process ? o.process : "");
	assert_int_equal(s->threads[c.thread[i]].tid, o.tid);

	OPENETW_SIZED(struct openetw_stack, k);
	uint64_t mine[4096];
	uint32_t n = openetw_index_stack(w->x, c.stack ? c.stack[i] : 0, mine, 4096);
	if (openetw_state_stack(w->state, e, &k) == ERROR_SUCCESS) {
		assert_int_equal(n, k.count);
		assert_memory_equal(mine, k.addresses, n * sizeof *mine);
		w->stacks++;
	} else {
		assert_int_equal(n, 0);
	}
	struct etl_record r;
	assert_int_equal(fetch_record(w->fetch, c.where[i], &r), 0);
	assert_int_equal(r.time_filetime, e->EventHeader.TimeStamp.QuadPart);
	assert_int_equal(r.payload_bytes, e->UserDataLength);
	assert_memory_equal(r.payload, e->UserData, r.payload_bytes);
}

static int by_frames(const void *a, const void *b)
{
	const struct store_stack *x = a, *y = b;
	return x->kernel != y->kernel ? (x->kernel < y->kernel ? -1 : 1) : x->user < y->user ? -1 : x->user > y->user;
}

/* No two stacks that rows have are the same frames. */
static void a_stack_has_one_number(const struct store *s)
{
	bool *used = calloc(s->stack_count + 1ull, sizeof *used);
	struct store_stack *list = calloc(s->stack_count + 1ull, sizeof *list);
	uint32_t n = 0;
	assert_true(used && list);
	for (uint32_t g = 0; g < s->group_count; g++) {
		struct store_columns c;
		store_columns_of(s, g, &c);
		for (uint32_t i = 0; c.stack && i < c.rows; i++) {
			assert_true(c.stack[i] < s->stack_count);
			if (c.stack[i] && !used[c.stack[i]]) {
				used[c.stack[i]] = true;
				list[n++] = s->stacks[c.stack[i]];
			}
		}
	}
	qsort(list, n, sizeof *list, by_frames);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(list[i].kernel || list[i].user);
		assert_true(i == 0 || by_frames(&list[i - 1], &list[i]) != 0);
	}
	free(used);
	free(list);
}

static void compare(const char *path, uint64_t *inout_events, uint64_t *inout_stacks)
{
	struct walk w = {.path = path};
	OPENETW_SIZED(struct openetw_index_options, how);
	struct diag d = {0};
	how.flags = OPENETW_INDEX_MEMORY;
	print_message("%s\n", path);
	assert_int_equal(openetw_index_open(&path, 1, &how, &w.x), 0);
	w.decoder = openetw_decoder_create();
	w.state = openetw_state_create(OPENETW_STATE_STACKS);
	assert_int_equal(fetch_open(w.x->files[0].fd, &w.x->files[0].store, &w.fetch, &d), 0);
	openetw_state_read_file(w.state, path, NULL, NULL);
	EVENT_TRACE_LOGFILEA log = {
		.LogFileName = (char *)(uintptr_t)path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = on_event,
		.Context = &w,
	};
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	openetw_state_attach(w.state, h);
	ProcessTrace(&h, 1, NULL, NULL);
	CloseTrace(h);
	assert_int_equal(w.row, w.x->rows);
	a_stack_has_one_number(&w.x->files[0].store);
	*inout_events += w.row;
	*inout_stacks += w.stacks;
	fetch_close(w.fetch);
	openetw_state_destroy(w.state);
	openetw_decoder_destroy(w.decoder);
	openetw_index_close(w.x);
}

static void every_row_is_what_its_event_is(void **state)
{
	char path[4096];
	glob_t g = {0};
	if (!corpus_present()) {
		skip();
	}
	assert_int_equal(glob(corpus_path("*/*.etl", path, sizeof path), 0, NULL, &g), 0);
	glob(corpus_path("*/*/*.etl", path, sizeof path), GLOB_APPEND, NULL, &g);
	uint64_t events = 0, stacks = 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		compare(g.gl_pathv[i], &events, &stacks);
	}
	print_message("%zu files, %llu events, %llu stacks\n", g.gl_pathc, (unsigned long long)events,
		      (unsigned long long)stacks);
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_what_its_event_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
