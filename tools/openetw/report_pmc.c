/* SPDX-License-Identifier: MIT
 * report: counters by process, from their values at context switches; samples by counters.
 */
#include "tools/openetw/report.h"

#include "etw/values/guids.h"
#include "kernel_payload.h"

#include <stdlib.h>

/* What a processor counted between two switches was done by the thread that left at the second. */
void report_counters(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	uint64_t value[COUNTERS_OF_MAX];
	uint32_t n = counters_of_event(e, value), cpu = GetEventProcessorIndex(e);
	if (n == 0) {
		return;
	}
	if (cpu >= r->counted_cap) {
		struct report_counted *more = realloc(r->counted, (cpu + 16) * sizeof *more);
		if (!more) {
			r->failed = true;
			return;
		}
		memset(more + r->counted_cap, 0, (cpu + 16 - r->counted_cap) * sizeof *more);
		r->counted = more;
		r->counted_cap = cpu + 16;
	}
	struct report_counted *last = &r->counted[cpu];
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process q = {.size = sizeof q};
	const char *name = "?";
	uint32_t pid = 0;
	if (k->out_tid == 0) {
		name = "Idle";
	} else if (openetw_state_thread(r->state, k->out_tid, k->time, &t) == ERROR_SUCCESS) {
		pid = t.pid;
		name = openetw_state_process(r->state, pid, k->time, &q) == ERROR_SUCCESS ? q.name : "?";
	}
	r->counters_count = BASE_MAX(r->counters_count, n);
	if (last->there && !r->filter && report_wanted(r, pid, k->out_tid, name, k->time)) {
		struct tally_row *row = tally_rowf(&r->counted_processes, "%s (%u)", name, pid);
		if (!row) {
			r->failed = true;
			return;
		}
		for (uint32_t i = 0; i < BASE_MIN(n, (uint32_t)TALLY_VALUES); i++) {
			/* Backwards: counting began anew. */
			row->v[i] += value[i] >= last->value[i] ? value[i] - last->value[i] : 0;
		}
	}
	last->there = true;
	memcpy(last->value, value, n * sizeof *value);
}

static const char *source_name(const struct report *r, uint32_t source)
{
	for (uint32_t i = 0; i < r->source_count; i++) {
		if (r->source[i].id == source) {
			return r->source[i].name;
		}
	}
	return NULL;
}

void report_learn(struct report *r, const EVENT_RECORD *e)
{
	static const struct guid perf_info = GUID_INIT(ETW_GUID_CLASS_PERF_INFO);
	UCHAR type = e->EventHeader.EventDescriptor.Opcode;
	struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	struct bytes b =
		kernel_payload_from(in, KP_PERF_INFO_SAMPLED_PROFILE_INTERVAL_COLLECTION_START_SINCE_V3_SOURCE_NAME);
	uint32_t id = kernel_payload_get32(in, KP_PERF_INFO_SET_INTERVAL_SINCE_V0_SOURCE);
	counters_of_learn(&r->counters, e);
	if (type < KP_PERF_INFO_SET_INTERVAL || type > KP_PERF_INFO_SAMPLED_PROFILE_INTERVAL_COLLECTION_END ||
	    memcmp(&e->EventHeader.ProviderId, &perf_info, sizeof perf_info) != 0 || bytes_left(&b) < 2 ||
	    source_name(r, id) || r->source_count == BASE_ARRAY_LEN(r->source)) {
		return;
	}
	r->source[r->source_count].id = id;
	char *name = r->source[r->source_count++].name;
	size_t n = 0;
	for (uint16_t unit; bytes_left(&b) >= 2 && (unit = bytes_u16(&b)) != 0 && n < 47;) {
		name[n++] = unit > ' ' && unit < 0x7F ? (char)unit : '?';
	}
	name[n] = 0;
}

void report_pmc_sample(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	char function[1024], number[32];
	if (!report_wanted(r, k->pid, k->tid, k->process, k->time) || !report_fits(r, e, NULL)) {
		return;
	}
	const char *source = source_name(r, (uint32_t)k->bytes);
	snprintf(number, sizeof number, "source %u", (uint32_t)k->bytes);
	names_of(&r->names, k->pid, k->address, k->time, function, sizeof function);
	struct tally_row *row = tally_rowf(&r->pmc_functions,
					   "%s"
					   "\x1f"
					   "%s (%u)"
					   "\x1f"
					   "%s",
					   source ? source : number, k->process, k->pid, function);
	if (!row) {
		r->failed = true;
		return;
	}
	row->v[0]++;
	r->pmc_samples++;
}

/* Instructions and cycles among the counters: how many of the one a cycle. */
static void print_ratio(const struct report *r)
{
	static const char *const instructions[] = {"InstructionRetired", "TotalIssues"}, *const cycles[] = {
												 "TotalCycles",
												 "UnhaltedCoreCycles"};
	int at[2] = {-1, -1};
	for (uint32_t i = 0; i < r->counters.count && i < TALLY_VALUES; i++) {
		for (size_t n = 0; n < 2; n++) {
			at[0] = strcmp(r->counters.name[i], instructions[n]) == 0 ? (int)i : at[0];
			at[1] = strcmp(r->counters.name[i], cycles[n]) == 0 ? (int)i : at[1];
		}
	}
	for (size_t i = 0; at[0] >= 0 && at[1] >= 0 && i < r->counted_processes.used && i < 5; i++) {
		const struct tally_row *row = &r->counted_processes.row[i];
		if (row->v[at[1]]) {
			fputs(i ? "" : "\n", stdout);
			printf("%s: %.2f instructions per cycle\n", row->name,
			       (double)row->v[at[0]] / (double)row->v[at[1]]);
		}
	}
}

void report_print_pmc(struct report *r, uint64_t top, bool json)
{
	static const char *const by_process[] = {"PROCESS", NULL}, *const json_name[] = {"NAME", NULL},
				 *const by_function[] = {"SOURCE", "PROCESS", "FUNCTION", NULL};
	static const struct tally_column count = {"SAMPLES", "samples", TALLY_COUNT, 0};
	struct tally_column columns[TALLY_VALUES];
	char buffer[TALLY_VALUES][16];
	uint32_t n = BASE_MIN(r->counters_count, (uint32_t)TALLY_VALUES);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = counters_of_name(&r->counters, i, buffer[i]);
		columns[i] = (struct tally_column){name, name, TALLY_COUNT, i};
	}
	struct tally_table t = {.title = "counters by process",
				.json = "counters",
				.parts = json ? json_name : by_process,
				.columns = columns,
				.column_count = n};
	tally_print(stdout, &r->counted_processes, &t, top, json);
	if (!json) {
		print_ratio(r);
	}
	t = (struct tally_table){.title = "samples by counters",
				 .json = "counterSamples",
				 .parts = by_function,
				 .columns = &count,
				 .column_count = 1};
	tally_print(stdout, &r->pmc_functions, &t, top, json);
}
