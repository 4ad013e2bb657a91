/* SPDX-License-Identifier: MIT
 *
 * Whose events a trace file has, and their call stacks:
 *
 *   state FILE.etl
 */
#include <openetw/error.h>
#include <openetw/state.h>

#include <evntcons.h>
#include <evntrace.h>

#include <inttypes.h>
#include <stdio.h>

static void print_stack(struct openetw_state *s, const EVENT_RECORD *e)
{
	OPENETW_SIZED(struct openetw_stack, stack);
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (openetw_state_stack(s, e, &stack) != 0) {
		return;
	}
	for (uint32_t i = 0; i < stack.count; i++) {
		OPENETW_SIZED(struct openetw_module, module);
		OPENETW_SIZED(struct openetw_symbol, symbol);
		uint64_t at = stack.addresses[i];
		bool known = openetw_state_module(s, stack.pid, at, time, &module) == 0;
		printf("    0x%" PRIx64 " %s", at, known ? module.name : "?");
		if (openetw_state_symbol(s, stack.pid, at, time, &symbol) == 0) {
			printf("!%s+0x%" PRIx64, symbol.name, symbol.offset);
		}
		printf("\n");
	}
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct openetw_state *s = e->UserContext;
	OPENETW_SIZED(struct openetw_event_origin, origin);
	if (openetw_state_event(s, e, &origin) == 0 && origin.pid != OPENETW_UNKNOWN_ID) {
		printf("%s(%" PRIu32 ") thread %" PRIu32 "\n", origin.process ? origin.process : "?", origin.pid,
		       origin.tid);
		print_stack(s, e);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: state FILE.etl\n");
		return 2;
	}
	struct openetw_state *s = openetw_state_create(OPENETW_STATE_STACKS);
	if (!s) {
		return 1;
	}
	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = argv[1];
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	log.Context = s;
	TRACEHANDLE trace = OpenTraceA(&log);
	uint32_t code = 1;
	if (trace == INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "state: %s\n", openetw_last_error_text());
	} else {
		/* What explains the first event often stands at the end of the file. */
		code = openetw_state_read_file(s, argv[1], NULL, NULL);
		code = code ? code : openetw_state_attach(s, trace);
		code = code ? code : ProcessTrace(&trace, 1, NULL, NULL);
		CloseTrace(trace);
	}
	openetw_state_destroy(s);
	return code != 0;
}
