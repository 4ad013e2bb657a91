/* SPDX-License-Identifier: MIT
 * xperf's actions beside the dumper: tables of processes, samples, context switches, disk accesses,
 * hard faults and marks, and a trace's statistics. CSV with a heading; `process` has the columns that
 * scripts read, the others are our own.
 */
#include "cli/output.h"
#include "cli/view/trace.h"
#include "cli/xperf/xperf.h"
#include "cli/xperf/xperf_rows.h"

#include <stdio.h>
#include <stdlib.h>

struct process {
	uint32_t pid, parent, session;
	uint64_t key, start, end; /* µs; 0 and UINT64_MAX: before and after the trace */
	char *name, *command;
};
struct tally {
	char *key;
	uint64_t count, value, time;
};
struct actions {
	struct xperf_read *read;
	const struct xperf_action *action;
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	FILE *out;
	uint64_t start, frequency;
	const EVENT_RECORD *e;
	struct openetw_event_origin origin;
	struct strbuf store, key;
	struct {
		size_t name, text;
	} fields[32];
	size_t field_count;
	struct process *processes;
	struct tally *tallies; /* open addressing by key */
	size_t process_count, process_cap, tally_count, tally_cap;
	uint64_t total, cpu_since[1024];
	bool failed, read_all;
};
struct xperf_action {
	const char *name, *event, *event2;
	void (*take)(struct actions *m);
	const char *heading;
	const char *value; /* how the value is meant: "us", "bytes", NULL: none */
};

/* ---- fields of the event ----------------------------------------------------------------------- */

static int collect(void *ctx, const struct openetw_field *f)
{
	struct actions *m = ctx;
	if (m->field_count == BASE_ARRAY_LEN(m->fields)) {
		return 1;
	}
	m->fields[m->field_count].name = m->store.len;
	strbuf_add(&m->store, f->name, f->name_length);
	strbuf_addc(&m->store, 0);
	m->fields[m->field_count++].text = m->store.len;
	strbuf_add(&m->store, f->text, f->text_length);
	strbuf_addc(&m->store, 0);
	return 0;
}

static const char *text_of(const struct actions *m, const char *name)
{
	for (size_t i = 0; i < m->field_count; i++) {
		if (strcmp(m->store.s + m->fields[i].name, name) == 0) {
			return m->store.s + m->fields[i].text;
		}
	}
	return "";
}

static uint64_t number_of(const struct actions *m, const char *name)
{
	return strtoull(text_of(m, name), NULL, 0);
}

static uint64_t now_us(const struct actions *m)
{
	uint64_t t = (uint64_t)m->e->EventHeader.TimeStamp.QuadPart;
	return t > m->start ? (t - m->start) / 10 : 0;
}

/* ---- tallies ----------------------------------------------------------------------------------- */

static size_t place_of(const struct tally *list, size_t cap, const char *key)
{
	uint64_t h = 1469598103934665603ull;
	for (const char *c = key; *c; c++) {
		h = (h ^ (uint8_t)*c) * 1099511628211ull;
	}
	size_t i = h & (cap - 1);
	while (list[i].key && strcmp(list[i].key, key) != 0) {
		i = (i + 1) & (cap - 1);
	}
	return i;
}

static void count(struct actions *m, uint64_t n, uint64_t value, uint64_t time)
{
	const char *key = m->key.s ? m->key.s : "";
	if (2 * m->tally_count >= m->tally_cap) {
		size_t cap = m->tally_cap ? 2 * m->tally_cap : 256;
		struct tally *list = calloc(cap, sizeof *list);
		if (!list) {
			m->failed = true;
			return;
		}
		for (size_t i = 0; i < m->tally_cap; i++) {
			if (m->tallies[i].key) {
				list[place_of(list, cap, m->tallies[i].key)] = m->tallies[i];
			}
		}
		free(m->tallies);
		m->tallies = list;
		m->tally_cap = cap;
	}
	struct tally *t = &m->tallies[place_of(m->tallies, m->tally_cap, key)];
	if (!t->key) {
		t->key = strdup(key);
		m->failed = m->failed || !t->key;
		m->tally_count += t->key != NULL;
	}
	t->count += n;
	t->value += value;
	t->time += time;
	m->total += n;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct tally *a = pa, *b = pb;
	uint64_t wa = a->time ? a->time : a->count, wb = b->time ? b->time : b->count;
	return wa != wb ? (wa > wb ? -1 : 1) : strcmp(a->key ? a->key : "", b->key ? b->key : "");
}

static void print_tallies(struct actions *m)
{
	uint64_t time = 0;
	size_t n = 0;
	for (size_t i = 0; i < m->tally_cap; i++) {
		if (m->tallies[i].key) {
			time += m->tallies[i].time;
			m->tallies[n++] = m->tallies[i];
		}
	}
	if (n == 0) {
		fprintf(m->out, "no such events in this trace\n");
		m->tally_cap = 0;
		return;
	}
	m->tally_cap = n;
	qsort(m->tallies, n, sizeof *m->tallies, by_weight);
	fprintf(m->out, "%s\n", m->action->heading);
	for (size_t i = 0; i < n; i++) {
		const struct tally *t = &m->tallies[i];
		fprintf(m->out, "%s, %llu, %.2f", t->key, (unsigned long long)t->count,
			time ? 100.0 * (double)t->time / (double)time
			     : 100.0 * (double)t->count / (double)(m->total ? m->total : 1));
		if (m->action->value) {
			fprintf(m->out, ", %llu, %llu", (unsigned long long)t->value,
				(unsigned long long)t->time);
		}
		fputc('\n', m->out);
	}
}

/* ---- what each action takes of an event -------------------------------------------------------- */

static void process_key(struct actions *m)
{
	strbuf_clear(&m->key);
	xperf_process_cell(&m->key, m->origin.process, m->origin.pid);
}

static void take_sample(struct actions *m)
{
	process_key(m);
	if (m->read->detail) {
		strbuf_adds(&m->key, ", ");
		xperf_symbol_cell(&m->key, m->state, m->origin.pid,
				  number_of(m, "InstructionPointer"),
				  (uint64_t)m->e->EventHeader.TimeStamp.QuadPart);
	}
	count(m, BASE_MAX(number_of(m, "Count"), (uint64_t)1), 0, 0);
}

static void take_switch(struct actions *m)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	uint64_t time = (uint64_t)m->e->EventHeader.TimeStamp.QuadPart;
	uint32_t old = (uint32_t)number_of(m, "OldThreadId");
	uint64_t *since = &m->cpu_since[GetEventProcessorIndex(m->e) % BASE_ARRAY_LEN(m->cpu_since)];
	strbuf_clear(&m->key);
	if (old == 0) {
		xperf_process_cell(&m->key, "Idle", 0);
	} else if (openetw_state_thread(m->state, old, time, &t) == ERROR_SUCCESS) {
		bool known = openetw_state_process(m->state, t.pid, time, &p) == ERROR_SUCCESS;
		xperf_process_cell(&m->key, known ? p.name : NULL, t.pid);
	} else {
		xperf_process_cell(&m->key, NULL, UINT32_MAX);
	}
	count(m, 1, 0, *since && time > *since ? (time - *since) / 10 : 0);
	*since = time;
}

static void take_disk(struct actions *m)
{
	bool read = m->e->EventHeader.EventDescriptor.Opcode == 10;
	process_key(m);
	strbuf_addf(&m->key, ", %s, %llu, \"%s\"", read ? "Read" : "Write",
		    (unsigned long long)number_of(m, "DiskNumber"),
		    m->origin.file ? m->origin.file : "Unknown");
	count(m, 1, number_of(m, "TransferSize"),
	      (uint64_t)((double)number_of(m, "HighResResponseTime") * 1e6 / (double)m->frequency));
}

static void take_fault(struct actions *m)
{
	process_key(m);
	strbuf_addf(&m->key, ", \"%s\"", m->origin.file ? m->origin.file : "Unknown");
	count(m, 1, number_of(m, "ByteCount"), 0);
}

static void take_mark(struct actions *m)
{
	strbuf_clear(&m->key);
	strbuf_addf(&m->key, "%10llu, \"%s\"", (unsigned long long)now_us(m), text_of(m, "Message"));
	count(m, 1, 0, 0);
}

static void take_any(struct actions *m)
{
	const char *provider, *event;
	openetw_event_names(m->decoder, m->e, &provider, &event);
	strbuf_clear(&m->key);
	strbuf_addf(&m->key, "%s/%s", provider, event);
	count(m, 1, m->e->UserDataLength, 0);
}

static void take_process(struct actions *m)
{
	uint32_t pid = (uint32_t)number_of(m, "ProcessId");
	UCHAR op = m->e->EventHeader.EventDescriptor.Opcode;
	struct process *p = NULL;
	if (op < 1 || op > 4) {
		return;
	}
	for (size_t i = m->process_count; i-- > 0 && !p;) {
		if (m->processes[i].pid == pid && m->processes[i].end == UINT64_MAX) {
			p = &m->processes[i];
		}
	}
	if (!p || op == 1) {
		if (m->process_count == m->process_cap) {
			size_t cap = m->process_cap ? 2 * m->process_cap : 64;
			void *list = realloc(m->processes, cap * sizeof *m->processes);
			if (!list) {
				m->failed = true;
				return;
			}
			m->processes = list;
			m->process_cap = cap;
		}
		p = &m->processes[m->process_count++];
		*p = (struct process){.pid = pid,
				      .parent = (uint32_t)number_of(m, "ParentId"),
				      .session = (uint32_t)number_of(m, "SessionId"),
				      .key = number_of(m, "UniqueProcessKey"),
				      .start = op == 1 ? now_us(m) : 0,
				      .end = UINT64_MAX,
				      .name = strdup(text_of(m, "ImageFileName")),
				      .command = strdup(text_of(m, "CommandLine"))};
		m->failed = m->failed || !p->name || !p->command;
	}
	if (op == 2) {
		p->end = now_us(m);
	}
}

static void print_processes(struct actions *m)
{
	char from[24], to[24];
	fprintf(m->out, "     Start,        End,  Process,            DataPtr,     Process Name ( PID),"
			"  ParentPID,  SessionID,          UniqueKey, Command Line\n");
	for (size_t i = 0; i < m->process_count && !m->failed; i++) {
		const struct process *p = &m->processes[i];
		snprintf(from, sizeof from, "%llu", (unsigned long long)p->start);
		snprintf(to, sizeof to, "%llu", (unsigned long long)p->end);
		strbuf_clear(&m->key);
		xperf_process_cell(&m->key, p->name, p->pid);
		fprintf(m->out, "%10s, %10s,  Process, 0x%016llx, %s, %10u, %10d, 0x%016llx, %s\n",
			p->start ? from : "MIN", p->end == UINT64_MAX ? "MAX" : to,
			(unsigned long long)p->key, m->key.s, p->parent, (int)p->session,
			(unsigned long long)p->key,
			m->read->command_lines ? p->command : "");
	}
}

static const struct xperf_action actions[] = {
	{"process", "Process/", NULL, take_process, NULL, NULL},
	{"profile", "PerfInfo/SampleProf", NULL, take_sample, NULL, NULL},
	{"cswitch", "Thread/CSwitch", NULL, take_switch,
	 "    Process Name ( PID), Switches, %CPU, -, CPU (us)", "us"},
	{"diskio", "DiskIo/Read", "DiskIo/Write", take_disk,
	 "    Process Name ( PID), Type, Disk, File, Count, %Time, Bytes, Time (us)", "us"},
	{"hardfault", "PageFault/HardFault", NULL, take_fault,
	 "    Process Name ( PID), File, Count, %Count, Bytes, -", "bytes"},
	{"marks", "PerfInfo/Mark", NULL, take_mark, " TimeStamp, Label, Count, %Count", NULL},
	{"tracestats", "", NULL, take_any, "Event, Count, %Count, Payload bytes, -", "bytes"},
	{NULL},
};

static bool one(void *ctx, const EVENT_RECORD *e)
{
	struct actions *m = ctx;
	const struct xperf_action *k = m->action;
	const char *name = openetw_event_name(m->decoder, e);
	bool all = !*k->event;
	if (!all && strncmp(name, k->event, strlen(k->event)) != 0 &&
	    !(k->event2 && strcmp(name, k->event2) == 0)) {
		openetw_decoder_learn(m->decoder, e);
		return true;
	}
	m->e = e;
	uint64_t us = now_us(m);
	if (m->read->ranged && (us < m->read->from_us || us > m->read->to_us) && k->take != take_process) {
		return true;
	}
	m->origin = (struct openetw_event_origin){.size = sizeof m->origin};
	openetw_state_event(m->state, e, &m->origin);
	m->field_count = 0;
	strbuf_clear(&m->store);
	if (!all) {
		openetw_decode_fields(m->decoder, e, collect, m);
	}
	k->take(m);
	return !m->failed && !m->store.failed && !m->key.failed;
}

static int read_all(struct actions *m)
{
	struct cli_args *a = m->read->a;
	struct cli_trace *t = calloc(1, sizeof *t);
	if (!t) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	*t = (struct cli_trace){.args = a, .event = one, .ctx = m, .state = m->state};
	if (!cli_trace_open(t, m->read->count, m->read->files, NULL)) {
		free(t);
		return CLI_FAILED;
	}
	m->start = t->first_start;
	m->frequency = (uint64_t)t->file[0].LogfileHeader.PerfFreq.QuadPart;
	m->frequency = m->frequency ? m->frequency : 10000000;
	uint32_t code = cli_trace_run(t);
	int status = t->interrupted ? 128 + t->interrupted : t->problems ? CLI_FAILED : CLI_OK;
	m->read_all = !code && !m->failed && !t->interrupted;
	if (code || m->failed) {
		status = cli_fail(a, code ? code : ERROR_NOT_ENOUGH_MEMORY, "cannot read %s",
				  m->read->files[0]);
	} else if (t->interrupted) {
		/* a table of a part would look like one of all */
	} else if (m->action->take == take_process) {
		print_processes(m);
	} else {
		if (m->action->take == take_any) {
			fprintf(m->out, "Events: %llu, lost: %llu events, %llu buffers\n",
				(unsigned long long)t->events, (unsigned long long)t->lost_events,
				(unsigned long long)t->lost_buffers);
		}
		print_tallies(m);
	}
	free(t);
	return status;
}

bool xperf_action_known(const char *name)
{
	for (const struct xperf_action *k = actions; k->name; k++) {
		if (strcasecmp(k->name, name) == 0) {
			return true;
		}
	}
	return false;
}

int xperf_act(struct xperf_read *r, const char *name)
{
	struct actions *m = calloc(1, sizeof *m);
	struct xperf_action k = {NULL};
	struct cli_output *o = NULL;
	int status;
	for (const struct xperf_action *each = actions; each->name; each++) {
		k = strcasecmp(each->name, name) == 0 ? *each : k;
	}
	if (k.take == take_sample) {
		k.heading = r->detail ? "    Process Name ( PID), Image!Function, Samples, %Weight"
				      : "    Process Name ( PID), Samples, %Weight";
	}
	if (m) {
		m->read = r;
		m->action = &k;
		m->decoder = openetw_decoder_create();
		m->state = openetw_state_create(0);
		o = r->to ? NULL : cli_output_open(r->a, r->out ? r->out : "-", true);
		m->out = r->to ? r->to : cli_output_file(o);
	}
	if (m && !m->out) {
		status = CLI_FAILED;
	} else if (!m || !m->decoder || !m->state) {
		status = cli_fail(r->a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	} else {
		status = read_all(m);
	}
	int end = cli_output_close(o, m && m->read_all);
	status = status == CLI_OK ? end : status;
	if (m) {
		for (size_t i = 0; i < m->process_count; i++) {
			free(m->processes[i].name);
			free(m->processes[i].command);
		}
		for (size_t i = 0; i < m->tally_cap; i++) {
			free(m->tallies[i].key);
		}
		free(m->processes);
		free(m->tallies);
		openetw_decoder_destroy(m->decoder);
		openetw_state_destroy(m->state);
		strbuf_finish(&m->store);
		strbuf_finish(&m->key);
		free(m);
	}
	return status;
}
