/* SPDX-License-Identifier: MIT
 * Runs one action: opens the files, hands over the events it asks for, prints its report.
 */
#include "base/vec.h"
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"
#include "tools/common/trace_reading.h"

#include <stdlib.h>

#define GRID_CELLS_MAX (16u << 20)

/* ---- fields of the event at hand ---------------------------------------------------------------- */

static bool collect(void *ctx, const struct openetw_field *f)
{
	struct xperf_job *j = ctx;
	if (j->field_count == BASE_ARRAY_LEN(j->fields)) {
		return false;
	}
	j->fields[j->field_count].name = j->store.len;
	strbuf_add(&j->store, f->name, f->name_length);
	strbuf_addc(&j->store, 0);
	j->fields[j->field_count++].text = j->store.len;
	strbuf_add(&j->store, f->text, f->text_length);
	strbuf_addc(&j->store, 0);
	return true;
}

const char *xperf_text(struct xperf_job *j, const char *name)
{
	if (!j->decoded) {
		j->decoded = true;
		j->field_count = 0;
		strbuf_clear(&j->store);
		openetw_decode_fields(j->decoder, j->e, collect, j);
		j->failed = j->failed || j->store.failed;
	}
	for (size_t i = 0; i < j->field_count && !j->store.failed; i++) {
		if (strcmp(j->store.s + j->fields[i].name, name) == 0) {
			return j->store.s + j->fields[i].text;
		}
	}
	return "";
}

uint64_t xperf_number(struct xperf_job *j, const char *name)
{
	return strtoull(xperf_text(j, name), NULL, 0);
}

double xperf_ticks_us(const struct xperf_job *j, uint64_t ticks)
{
	return (double)ticks * 1e6 / (double)j->frequency;
}

double xperf_begun_us(struct xperf_job *j)
{
	uint64_t ticks = xperf_number(j, "InitialTime");
	double us = ticks >= j->start_raw ? xperf_ticks_us(j, ticks - j->start_raw)
					  : -xperf_ticks_us(j, j->start_raw - ticks);
	return us > j->us || us < j->us - 1e9 ? j->us : us; /* nonsense counts as no time */
}

uint32_t xperf_cpu(const struct xperf_job *j)
{
	return GetEventProcessorIndex(j->e);
}

double xperf_in_range(const struct xperf_job *j, double from, double to)
{
	from = from > j->from_us ? from : j->from_us;
	to = to < j->to_us ? to : j->to_us;
	return to > from ? to - from : 0;
}

uint32_t xperf_thread_process(struct xperf_job *j, uint32_t tid, struct strbuf *b)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	if (tid == 0) {
		xperf_process_cell(b, "Idle", 0);
		return 0;
	}
	if (openetw_state_thread(j->state, tid, j->time, &t) != ERROR_SUCCESS) {
		xperf_process_cell(b, NULL, UINT32_MAX);
		return UINT32_MAX;
	}
	bool known = openetw_state_process(j->state, t.pid, j->time, &p) == ERROR_SUCCESS;
	xperf_process_cell(b, known ? p.name : NULL, t.pid);
	return t.pid;
}

void xperf_key_process(struct xperf_job *j)
{
	strbuf_clear(&j->key);
	xperf_process_cell(&j->key, j->origin.process, j->origin.pid);
}

void xperf_quote(struct strbuf *b, const char *s)
{
	if (*s && !strpbrk(s, " ,\"")) {
		strbuf_add_printable(b, s, strlen(s));
	} else {
		strbuf_add_quoted(b, s, strlen(s));
	}
}

const char *xperf_module(struct xperf_job *j, uint32_t pid, uint64_t address)
{
	struct openetw_module m = {.size = sizeof m};
	return openetw_state_module(j->state, pid, address, j->time, &m) == ERROR_SUCCESS ? m.name : "Unknown";
}

bool xperf_is_dpc(const char *name)
{
	return strcmp(name, "PerfInfo/DPC") == 0 || strcmp(name, "PerfInfo/ThreadedDPC") == 0 ||
	       strcmp(name, "PerfInfo/TimerDPC") == 0;
}

bool xperf_is_isr(const char *name)
{
	return strncmp(name, "PerfInfo/ISR", 12) == 0;
}

/* ---- sums by name --------------------------------------------------------------------------------- */

struct xperf_sum *xperf_sum(struct xperf_job *j, struct xperf_sums *s, const char *key)
{
	uint64_t hash = map_hash(&s->places, key, strlen(key));
	MAP_EACH(&s->places, hash, at) {
		struct xperf_sum *t = &s->list[map_value(&s->places, at)];
		if (strcmp(t->key, key) == 0) {
			return t;
		}
	}
	char *copy = VEC_ROOM(s->list, s->count, s->cap) ? strdup(key) : NULL;
	if (!copy || map_add(&s->places, hash, s->count) < 0) {
		free(copy);
		j->failed = true;
		return NULL;
	}
	s->list[s->count] = (struct xperf_sum){.key = copy};
	return &s->list[s->count++];
}

static int sort_by;

static int compare(const void *pa, const void *pb)
{
	const struct xperf_sum *a = pa, *b = pb;
	if (sort_by >= 0 && a->v[sort_by] != b->v[sort_by]) {
		return a->v[sort_by] > b->v[sort_by] ? -1 : 1;
	}
	return strcmp(a->key, b->key);
}

void xperf_sums_sort(struct xperf_sums *s, int by)
{
	map_free(&s->places);
	sort_by = by;
	if (s->count) {
		qsort(s->list, s->count, sizeof *s->list, compare);
	}
}

void xperf_sums_finish(struct xperf_sums *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->list[i].key);
	}
	free(s->list);
	map_free(&s->places);
	*s = (struct xperf_sums){0};
}

/* ---- intervals -------------------------------------------------------------------------------------- */

bool xperf_grid_make(struct xperf_job *j, struct xperf_grid *g, double step_us, size_t columns)
{
	g->step_us = step_us;
	g->from_us = j->ranged ? j->from_us : 0;
	g->to_us = j->ranged && j->to_us < j->length_us ? j->to_us : j->length_us;
	double rows = (g->to_us - g->from_us) / step_us;
	g->rows = rows > 0 ? (size_t)BASE_MIN(rows, 1e9) : 0;
	g->rows += rows > (double)g->rows; /* the last one may be shorter */
	g->columns = columns;
	if ((double)g->rows * (double)columns > GRID_CELLS_MAX) {
		cli_usage(j->a, "%.0f intervals are too many: take longer ones, or a -range", rows);
		g->rows = 0;
		return false;
	}
	g->cell = calloc(g->rows * columns + 1, sizeof *g->cell);
	j->failed = j->failed || !g->cell;
	return g->cell != NULL;
}

void xperf_grid_add(struct xperf_grid *g, size_t column, double from, double to)
{
	from = from > g->from_us ? from : g->from_us;
	to = to < g->to_us ? to : g->to_us;
	if (column >= g->columns || !(to > from)) {
		return;
	}
	for (size_t r = (size_t)((from - g->from_us) / g->step_us); r < g->rows; r++) {
		double begin = g->from_us + (double)r * g->step_us, end = begin + g->step_us;
		if (begin >= to) {
			break;
		}
		double part = (to < end ? to : end) - (from > begin ? from : begin);
		g->cell[r * g->columns + column] += part > 0 ? part : 0;
	}
}

void xperf_grid_finish(struct xperf_grid *g)
{
	free(g->cell);
	g->cell = NULL;
}

/* Events come in the order of their ends, so what an operation contains came before it. */
void xperf_interrupts_add(struct xperf_interrupts *i, double from, double to)
{
	while (i->count > 0 && i->last[i->count - 1].from >= from) {
		i->count--;
		i->total -= i->last[i->count].to - i->last[i->count].from;
	}
	if (i->count > 0 && i->last[i->count - 1].to > from) {
		from = i->last[i->count - 1].to;
	}
	if (i->count == XPERF_NESTED) { /* the oldest cannot be inside a later one any more, as good as surely */
		memmove(i->last, i->last + 1, sizeof i->last - sizeof i->last[0]);
		i->count--;
	}
	i->last[i->count].from = from;
	i->last[i->count++].to = to;
	i->total += to - from;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static const struct xperf_action *const *tables(void)
{
	static const struct xperf_action *const all[] = {xperf_cpu_actions,  xperf_dpcisr_actions,  xperf_disk_actions,
							 xperf_file_actions, xperf_process_actions, xperf_stack_actions,
							 xperf_heap_actions, xperf_config_actions,  xperf_trace_actions,
							 xperf_boot_actions, xperf_list_actions,    NULL};
	return all;
}

const struct xperf_action *xperf_action_find(const char *name)
{
	for (const struct xperf_action *const *t = tables(); *t; t++) {
		for (const struct xperf_action *k = *t; k->name; k++) {
			if (strcasecmp(k->name, name) == 0) {
				return k;
			}
		}
	}
	return NULL;
}

const char *xperf_action_name(const void *unused, int i)
{
	(void)unused;
	if (i == 0) {
		return "dumper";
	}
	i--;
	for (const struct xperf_action *const *t = tables(); *t; t++) {
		for (const struct xperf_action *k = *t; k->name; k++) {
			if (!k->refused && i-- == 0) {
				return k->name;
			}
		}
	}
	return NULL;
}

/* Is this name in a list such as "Thread/CSwitch DiskIo/ *"? */
static bool listed(const char *list, const char *name)
{
	for (const char *s = list; *s;) {
		size_t n = strcspn(s, " ");
		if (n && s[n - 1] == '*' ? strncmp(s, name, n - 1) == 0
					 : strlen(name) == n && memcmp(s, name, n) == 0) {
			return true;
		}
		s += n + (s[n] == ' ');
	}
	return false;
}

struct pass {
	struct xperf_job *j;
	const char *events;
	bool own_range;
	void (*each)(struct xperf_job *j, void *ctx);
	void *ctx;
};

static bool one(void *ctx, const EVENT_RECORD *e)
{
	struct pass *p = ctx;
	struct xperf_job *j = p->j;
	uint64_t t = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	const char *name = openetw_event_name(j->decoder, e);
	if (p->events && !listed(p->events, name)) {
		openetw_decoder_learn(j->decoder, e);
		return true;
	}
	double us = t > j->start ? (double)(t - j->start) / 10 : 0;
	if (!p->own_range && j->ranged && (us < j->from_us || us > j->to_us)) {
		openetw_decoder_learn(j->decoder, e);
		return true;
	}
	/* Of the decoder, until it is asked again. */
	char copy[256];
	snprintf(copy, sizeof copy, "%s", name);
	j->e = e;
	j->name = copy;
	j->time = t;
	j->us = us;
	j->decoded = false;
	j->origin = (struct openetw_event_origin){.size = sizeof j->origin};
	openetw_state_event(j->state, e, &j->origin);
	j->taken++;
	p->each(j, p->ctx);
	j->e = NULL;
	j->name = "";
	return !j->failed && !j->key.failed;
}

/* The raw time of the first event, which is the header's: what counters in payloads count from. */
static bool first_raw(void *ctx, const EVENT_RECORD *e)
{
	uint64_t *raw = ctx;
	*raw = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	return false;
}

static bool read_start(struct xperf_job *j)
{
	struct cli_trace *t = calloc(1, sizeof *t);
	bool opened = false;
	if (t) {
		*t = (struct cli_trace){
			.args = j->a, .event = first_raw, .ctx = &j->start_raw, .raw_time = true, .no_progress = true};
		opened = cli_trace_open(t, 1, j->files, NULL);
		if (opened) {
			cli_trace_run(t);
		}
	}
	free(t);
	return opened;
}

static bool open_files(struct xperf_job *j, struct cli_trace *t, struct pass *p, bool progress)
{
	*t = (struct cli_trace){.args = j->a, .event = one, .ctx = p, .state = j->state, .no_progress = !progress};
	if (!cli_trace_open(t, j->count, j->files, NULL)) {
		return false;
	}
	const TRACE_LOGFILE_HEADER *h = &t->file[0].LogfileHeader;
	uint64_t end = 0;
	j->cpus = 0;
	for (int i = 0; i < t->count; i++) {
		end = BASE_MAX(end, (uint64_t)t->file[i].LogfileHeader.EndTime.QuadPart);
		j->cpus = BASE_MAX(j->cpus, t->file[i].LogfileHeader.NumberOfProcessors);
	}
	j->trace = t;
	j->header = h;
	j->start = t->first_start;
	j->frequency = h->PerfFreq.QuadPart > 0 ? (uint64_t)h->PerfFreq.QuadPart : 10000000;
	j->length_us = end > j->start ? (double)(end - j->start) / 10 : 0;
	j->cpus = BASE_MAX(1u, BASE_MIN(j->cpus, 4096u));
	return true;
}

bool xperf_pass(struct xperf_job *j, const char *events, void (*each)(struct xperf_job *sub, void *ctx), void *ctx)
{
	struct cli_trace *t = calloc(1, sizeof *t), *kept = j->trace;
	const TRACE_LOGFILE_HEADER *header = j->header;
	struct pass p = {.j = j, .events = events, .own_range = true, .each = each, .ctx = ctx};
	uint64_t taken = j->taken;
	struct openetw_state *state = j->state;
	bool fine = t != NULL;
	if (fine) { /* a state is attached to traces once */
		j->state = openetw_state_create(0);
		fine = j->state && open_files(j, t, &p, false);
		if (fine) {
			cli_trace_run(t);
			fine = !t->interrupted;
		}
		cli_state_end(j->state);
	}
	j->state = state;
	j->trace = kept;
	j->header = header;
	j->taken = taken;
	free(t);
	return fine && !j->failed;
}

static void of_action(struct xperf_job *j, void *ctx)
{
	(void)ctx;
	j->action->event(j);
}

static void ignore(struct xperf_job *j, void *ctx)
{
	(void)j;
	(void)ctx;
}

static void tell_absence(const struct xperf_job *j)
{
	const struct xperf_action *k = j->action;
	const char *how = k->source;
	fprintf(stderr, "%s: the files have no events for '%s'; %s%s%s\n", j->a->command->name, k->name,
		!how || *how == ':' ? "" : "-on ", !how ? "nothing on Linux writes them" : how + (*how == ':'),
		!how || *how == ':' ? "" : " records them");
}

static int run(struct xperf_job *j, bool quiet)
{
	struct cli_trace *t = calloc(1, sizeof *t);
	struct pass p = {.j = j,
			 .events = j->action->events,
			 .own_range = j->action->own_range,
			 .each = j->action->event ? of_action : ignore};
	int status = CLI_OK;
	if (!t) {
		return cli_fail(j->a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	if (!open_files(j, t, &p, !quiet)) {
		free(t);
		return CLI_FAILED;
	}
	if (!xperf_options_read(j, j->word_count, j->words) || (j->action->begin && !j->action->begin(j))) {
		t->stop = true;
		for (int i = 0; i < t->count; i++) {
			CloseTrace(t->handle[i]);
		}
		free(t);
		return j->failed ? cli_fail(j->a, ERROR_NOT_ENOUGH_MEMORY, "cannot read") : CLI_USAGE;
	}
	uint32_t code = cli_trace_run(t);
	j->trace = t;
	if (code || j->failed) {
		status = cli_fail(j->a, code ? code : ERROR_NOT_ENOUGH_MEMORY, "cannot read %s", j->files[0]);
	} else if (t->interrupted) {
		status = 128 + t->interrupted;
	} else {
		if (j->taken == 0 && !j->action->no_events) {
			fprintf(j->out, "no such events in this trace\n");
			tell_absence(j);
		} else {
			j->action->end(j);
		}
		if (t->lost_events) {
			fprintf(stderr, "%s: warning: %llu Events were lost in this trace.\n", j->a->command->name,
				(unsigned long long)t->lost_events);
		}
		if (t->unknown[0]) {
			fprintf(stderr, "%s: warning: %s: lost: unknown (%s).\n", j->a->command->name, j->files[0],
				t->unknown);
		}
		j->whole = !j->failed;
		status = j->failed     ? cli_fail(j->a, ERROR_NOT_ENOUGH_MEMORY, "cannot report")
			 : t->problems ? CLI_FAILED
				       : CLI_OK;
	}
	free(t);
	return status;
}

int xperf_job_run(struct cli_args *a, const struct xperf_action *action, int word_count, char **words, int count,
		  char **files, FILE *out, bool quiet, bool *ret_whole)
{
	struct xperf_job *j = calloc(1, sizeof *j);
	int status = CLI_FAILED;
	if (j) {
		*j = (struct xperf_job){.a = a,
					.action = action,
					.word_count = word_count,
					.words = words,
					.count = count,
					.files = files,
					.out = out};
		j->decoder = openetw_decoder_create();
		j->state = openetw_state_create(action->stacks ? OPENETW_STATE_STACKS : 0);
	}
	if (!j || !j->decoder || !j->state) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	} else if (read_start(j)) {
		status = run(j, quiet);
		if (action->release && j->own) {
			action->release(j);
		}
	}
	*ret_whole = j && j->whole;
	if (j) {
		openetw_decoder_destroy(j->decoder);
		cli_state_end(j->state);
		strbuf_finish(&j->store);
		strbuf_finish(&j->key);
		free(j);
	}
	return status;
}
