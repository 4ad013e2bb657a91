/* SPDX-License-Identifier: MIT
 *
 * Decodes the events that a program gets from ProcessTrace, field by field:
 *
 *   decode FILE.etl
 */
#include <openetw/decode.h>
#include <openetw/error.h>

#include <evntcons.h>
#include <evntrace.h>

#include <stdio.h>

static bool print_field(void *context, const struct openetw_field *f)
{
	printf(" %.*s=%.*s", (int)f->name_length, f->name, (int)f->text_length, f->text);
	return true;
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct openetw_decoder *d = e->UserContext;
	const char *provider, *name;
	openetw_event_names(d, e, &provider, &name);
	printf("%s/%s", provider, name);
	if (openetw_decode_fields(d, e, print_field, NULL) != OPENETW_DECODED) {
		printf(" (%s)", openetw_decoder_reason(d));
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: decode FILE.etl\n");
		return 2;
	}
	struct openetw_decoder *d = openetw_decoder_create();
	if (!d) {
		return 1;
	}
	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = argv[1];
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	log.Context = d;
	TRACEHANDLE trace = OpenTraceA(&log);
	uint32_t code = 1;
	if (trace == INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "decode: %s\n", openetw_last_error_text());
	} else {
		code = ProcessTrace(&trace, 1, NULL, NULL);
		CloseTrace(trace);
	}
	openetw_decoder_destroy(d);
	return code != 0;
}
