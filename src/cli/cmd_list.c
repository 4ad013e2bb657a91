/* SPDX-License-Identifier: MIT
 * list and query: the sessions and one session.
 */
#include "cli/cli.h"

#include <stdlib.h>

static const struct cli_option options[] = {
	{'j', "json", NULL, "one JSON object a line", NULL},
	{0},
};

static void print_json(const struct cli_props *p, const struct openetw_loss *l)
{
	struct strbuf b = {0};
	char guid[37];
	cli_guid_text(&p->p.Wnode.Guid, guid);
	strbuf_adds(&b, "{\"name\":");
	strbuf_add_json(&b, p->name, strlen(p->name));
	strbuf_adds(&b, ",\"file\":");
	strbuf_add_json(&b, p->file, strlen(p->file));
	strbuf_addf(
		&b,
		",\"id\":%llu,\"guid\":\"%s\",\"mode\":\"0x%X\",\"clock\":%u,\"bufferSizeKb\":%u,"
		"\"minimumBuffers\":%u,\"maximumBuffers\":%u,\"buffers\":%u,\"freeBuffers\":%u,"
		"\"buffersWritten\":%u,\"maximumFileSize\":%u,\"flushTimer\":%u,\"eventsLost\":%u,"
		"\"logBuffersLost\":%u,\"realTimeBuffersLost\":%u",
		(unsigned long long)p->p.Wnode.HistoricalContext, guid, p->p.LogFileMode,
		p->p.Wnode.ClientContext, p->p.BufferSize, p->p.MinimumBuffers, p->p.MaximumBuffers,
		p->p.NumberOfBuffers, p->p.FreeBuffers, p->p.BuffersWritten, p->p.MaximumFileSize,
		p->p.FlushTimer, p->p.EventsLost, p->p.LogBuffersLost, p->p.RealTimeBuffersLost);
	if (l) {
		strbuf_addf(&b,
			    ",\"events\":%llu,\"bytesWritten\":%llu,\"loss\":{\"poolFull\":%llu,"
			    "\"nesting\":%llu,"
			    "\"tooBig\":%llu,\"detached\":%llu,\"rejected\":%llu,\"noBuffer\":%llu,"
			    "\"diskEvents\":%llu,\"diskBuffers\":%llu,\"realTimeBuffers\":%llu,"
			    "\"realTimeEvents\":%llu,\"torn\":%llu,\"overwritten\":%llu}",
			    (unsigned long long)l->events, (unsigned long long)l->bytes_written,
			    (unsigned long long)l->pool_full, (unsigned long long)l->nesting,
			    (unsigned long long)l->too_big, (unsigned long long)l->detached,
			    (unsigned long long)l->rejected, (unsigned long long)l->no_buffer,
			    (unsigned long long)l->disk_events, (unsigned long long)l->disk_buffers,
			    (unsigned long long)l->realtime_buffers,
			    (unsigned long long)l->realtime_events, (unsigned long long)l->torn,
			    (unsigned long long)l->overwritten);
	}
	strbuf_adds(&b, "}");
	puts(b.s);
	strbuf_finish(&b);
}

#define LIST_MAX 1024

static int run_list(struct cli_args *a)
{
	struct cli_props *all = calloc(LIST_MAX, sizeof *all);
	PEVENT_TRACE_PROPERTIES *array = calloc(LIST_MAX, sizeof *array);
	ULONG count = 0;
	if (!all || !array) {
		free(all);
		free(array);
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot list sessions");
	}
	for (int i = 0; i < LIST_MAX; i++) {
		cli_props_init(&all[i]);
		array[i] = &all[i].p;
	}
	uint32_t code = QueryAllTracesA(array, LIST_MAX, &count);
	int status = CLI_OK;
	if (code != ERROR_SUCCESS && code != ERROR_MORE_DATA) {
		status = cli_fail(a, code, "cannot list sessions");
	} else if (cli_flag(a, "json")) {
		for (ULONG i = 0; i < count && i < LIST_MAX; i++) {
			struct openetw_loss l = {.size = sizeof l};
			print_json(&all[i], openetw_session_loss(all[i].name, &l) ? NULL : &l);
		}
	} else if (count == 0) {
		puts("no sessions are running");
	} else {
		printf("%-24s %-20s %10s %10s  %s\n", "NAME", "MODE", "BUFFERS", "LOST", "FILE");
		for (ULONG i = 0; i < count && i < LIST_MAX; i++) {
			char mode[128];
			cli_mode_text(all[i].p.LogFileMode, mode, sizeof mode);
			printf("%-24s %-20s %10u %10u  %s\n", all[i].name, mode,
			       all[i].p.BuffersWritten, all[i].p.EventsLost, all[i].file);
		}
	}
	free(all);
	free(array);
	return status;
}

static int run_query(struct cli_args *a)
{
	if (a->count != 1) {
		return cli_usage(a, "one session name is needed");
	}
	struct cli_props p;
	struct openetw_loss l = {.size = sizeof l};
	uint32_t code = cli_session_query(a->words[0], &p);
	if (code) {
		return cli_fail(a, code, "cannot query '%s'", a->words[0]);
	}
	bool known = openetw_session_loss(a->words[0], &l) == ERROR_SUCCESS;
	if (cli_flag(a, "json")) {
		print_json(&p, known ? &l : NULL);
		return CLI_OK;
	}
	static const char *const clocks[] = {"qpc", "qpc", "system", "cycles"};
	char guid[37], mode[128];
	cli_guid_text(&p.p.Wnode.Guid, guid);
	cli_mode_text(p.p.LogFileMode, mode, sizeof mode);
	printf("name           %s\n", p.name);
	printf("file           %s\n", p.file[0] ? p.file : "-");
	printf("guid           %s\n", guid);
	printf("mode           %s (0x%X)\n", mode, p.p.LogFileMode);
	printf("clock          %s\n",
	       p.p.Wnode.ClientContext < 4 ? clocks[p.p.Wnode.ClientContext] : "?");
	printf("buffer size    %u KB\n", p.p.BufferSize);
	printf("buffers        %u (%u to %u), %u free\n", p.p.NumberOfBuffers, p.p.MinimumBuffers,
	       p.p.MaximumBuffers, p.p.FreeBuffers);
	printf("maximum size   %u\n", p.p.MaximumFileSize);
	printf("flush timer    %u %s\n", p.p.FlushTimer,
	       p.p.LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER ? "ms" : "s");
	cli_print_totals(stdout, &p.p, known ? &l : NULL);
	return CLI_OK;
}

const struct cli_command cli_list = {
	.name = "list",
	.synopsis = "[--json]",
	.summary = "List the running sessions.",
	.details = "JSON is one object a line with the keys of 'openetw query --json'. Examples:\n"
		   "  openetw list\n"
		   "  openetw list --json | jq -r .name\n",
	.options = options,
	.run = run_list,
};
const struct cli_command cli_query = {
	.name = "query",
	.synopsis = "NAME [--json]",
	.summary = "Show one session: settings, statistics, loss by cause.",
	.details = "JSON keys: name, file, id, guid, mode (hex, EVENT_TRACE_*_MODE), clock (1 qpc, "
		   "2 system, 3 cycles),\n"
		   "bufferSizeKb, minimumBuffers, maximumBuffers, buffers, freeBuffers, "
		   "buffersWritten, maximumFileSize,\n"
		   "flushTimer, eventsLost, logBuffersLost, realTimeBuffersLost, events, "
		   "bytesWritten, and loss with one\n"
		   "count for each cause: poolFull, nesting, tooBig, detached, rejected, noBuffer, "
		   "diskEvents, diskBuffers,\n"
		   "realTimeBuffers, realTimeEvents, torn, overwritten. Examples:\n"
		   "  openetw query web\n"
		   "  openetw query web --json | jq .loss\n",
	.options = options,
	.run = run_query,
	.complete = "session",
};
