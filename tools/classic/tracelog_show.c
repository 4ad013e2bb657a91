/* SPDX-License-Identifier: MIT
 * What tracelog prints: labels in a column of 24.
 */
#include "tools/common/session_options.h"
#include "tools/classic/tracelog.h"
#include "tools/common/mode_names.h"

#include <stdlib.h>

static void label(const char *name, const char *fmt, ...) BASE_PRINTF(2, 3);
static void label(const char *name, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("%-24s", name);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
}

/* Of a kernel session, in the words that tracelog has. */
static void put_enabled_flags(ULONG flags)
{
	static const struct {
		ULONG bit;
		const char *name;
	} rows[] = {{EVENT_TRACE_FLAG_PROCESS, "Process"},
		    {EVENT_TRACE_FLAG_THREAD, "Thread"},
		    {EVENT_TRACE_FLAG_DISK_IO, "Disk"},
		    {EVENT_TRACE_FLAG_DISK_FILE_IO, "File"},
		    {EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS, "HardFaults"},
		    {EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, "PageFaults"},
		    {EVENT_TRACE_FLAG_IMAGE_LOAD, "ImageLoad"},
		    {EVENT_TRACE_FLAG_NETWORK_TCPIP, "TcpIp"},
		    {EVENT_TRACE_FLAG_CSWITCH, "CSwitch"},
		    {EVENT_TRACE_FLAG_DPC, "Dpc"},
		    {EVENT_TRACE_FLAG_INTERRUPT, "Interrupt"},
		    {EVENT_TRACE_FLAG_SYSTEMCALL, "SystemCall"},
		    {EVENT_TRACE_FLAG_DISPATCHER, "Dispatcher"},
		    {EVENT_TRACE_FLAG_PROFILE, "Profile"},
		    {EVENT_TRACE_FLAG_VIRTUAL_ALLOC, "VirtualAlloc"},
		    {EVENT_TRACE_FLAG_FILE_IO, "FileIo"},
		    {EVENT_TRACE_FLAG_FILE_IO_INIT, "FileIoInit"}};
	struct strbuf b = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (flags & rows[i].bit) {
			strbuf_addf(&b, "%s%s", b.len ? " " : "", rows[i].name);
		}
	}
	if (b.len) {
		label("Enabled tracing:", "%s", b.s);
	}
	strbuf_finish(&b);
}

void tracelog_show(const struct cli_props *p)
{
	static const char *const clocks[] = {"PerfCounter", "PerfCounter", "SystemTime", "CPUCycle"};
	const EVENT_TRACE_PROPERTIES *q = &p->p;
	struct openetw_session more = {.size = sizeof more};
	struct strbuf mode = {0};
	char guid[37];
	mode_names_add(&mode, MODE_NAMES_TRACELOG, q->LogFileMode, "  ");
	cli_guid_text(&q->Wnode.Guid, guid);
	label("Logger Name:", "%s", p->name);
	label("Logger Id:", "0x%llx", (unsigned long long)q->Wnode.HistoricalContext);
	label("Logger Thread Id:", "%016llX", (unsigned long long)(uintptr_t)q->LoggerThreadId);
	label("Guid:", "%s", guid);
	if (openetw_session_query(p->name, &more) == ERROR_SUCCESS) {
		label("Session Security:", "O:S-1-22-1-%u", more.owner_uid);
	}
	label("Buffer Size:", "%u Kb", q->BufferSize);
	label("Maximum Buffers:", "%u", q->MaximumBuffers);
	label("Minimum Buffers:", "%u", q->MinimumBuffers);
	label("Number of Buffers:", "%u", q->NumberOfBuffers);
	label("Free Buffers:", "%u", q->FreeBuffers);
	label("Buffers Written:", "%u", q->BuffersWritten);
	label("Events Lost:", "%u", q->EventsLost);
	label("Log Buffers Lost:", "%u", q->LogBuffersLost);
	label("Real Time Buffers Lost:", "%u", q->RealTimeBuffersLost);
	label("AgeLimit:", "%d", (int)q->AgeLimit);
	label("Real Time Consumers:", "%u", more.consumers);
	label("ClockType:", "%s", q->Wnode.ClientContext < 4 ? clocks[q->Wnode.ClientContext] : "?");
	label("Log Mode:", "%s", mode.len ? mode.s : "Sequential");
	if (q->MaximumFileSize) {
		label("Maximum File Size:", "%u %s", q->MaximumFileSize,
		      q->LogFileMode & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? "Kb" : "Mb");
	} else {
		label("Maximum File Size:", "not set");
	}
	if (q->FlushTimer) {
		label("Buffer Flush Timer:", "%u %s", q->FlushTimer,
		      q->LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER ? "ms" : "secs");
	} else {
		label("Buffer Flush Timer:", "not set");
	}
	put_enabled_flags(q->EnableFlags);
	if (p->file[0]) {
		label("Log Filename:", "%s", p->file);
	}
	putchar('\n');
	strbuf_finish(&mode);
}

static bool put_enabled(void *ctx, const GUID *g, const TRACE_ENABLE_INFO *e, uint32_t processes)
{
	char name[256], guid[37];
	(void)ctx;
	controller_provider_name(g, name, sizeof name);
	cli_guid_text(g, guid);
	printf("%s  %-5u 0x%016llx 0x%016llx %5u  %s\n", guid, e->Level, (unsigned long long)e->MatchAnyKeyword,
	       (unsigned long long)e->MatchAllKeyword, processes, name[0] == '{' ? "" : name);
	return true;
}

static void put_providers(const struct cli_props *p)
{
	printf("%-36s  %-5s %-18s %-18s %5s  %s\n", "Provider", "Level", "Any", "All", "Procs", "Name");
	controller_each_enabled((uint16_t)p->p.Wnode.HistoricalContext, put_enabled, NULL);
	putchar('\n');
}

static void ok(void)
{
	printf("%-24s0L      The operation completed successfully.\n\n", "Operation Status:");
}

int tracelog_query(const char *name, bool providers)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	if (code) {
		return tracelog_fail(code, name);
	}
	ok();
	tracelog_show(&p);
	if (providers) {
		put_providers(&p);
	}
	return CLI_OK;
}

int tracelog_list(bool providers, bool stop)
{
	enum { MAX = 1024 };
	struct cli_props *all = calloc(MAX, sizeof *all);
	PEVENT_TRACE_PROPERTIES *array = calloc(MAX, sizeof *array);
	ULONG count = 0;
	int status = CLI_OK;
	for (int i = 0; all && array && i < MAX; i++) {
		cli_props_init(&all[i]);
		array[i] = &all[i].p;
	}
	uint32_t code = all && array ? QueryAllTracesA(array, MAX, &count) : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
	if (code) {
		status = tracelog_fail(code, NULL);
	}
	if (!stop && code == ERROR_SUCCESS) {
		ok();
	}
	for (ULONG i = 0; code == ERROR_SUCCESS && i < count; i++) {
		if (stop) {
			struct cli_props p;
			cli_props_init(&p);
			uint32_t error = ControlTraceA(0, all[i].name, &p.p, EVENT_TRACE_CONTROL_STOP);
			if (error) {
				status = tracelog_fail(error, all[i].name);
			} else {
				printf("Logger Stopped: %s\n", all[i].name);
			}
			continue;
		}
		tracelog_show(&all[i]);
		if (providers) {
			put_providers(&all[i]);
		}
	}
	free(all);
	free(array);
	return status;
}

/* Calls `each` for every registration (or enable without one) of every provider, or of one. */
static void put_rows(const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables, bool pid)
{
	char guid[37], process[16] = "";
	cli_guid_text(g, guid);
	if (pid) {
		snprintf(process, sizeof process, " %8u", inst->Pid);
	}
	for (ULONG i = 0; i < inst->EnableCount; i++) {
		TRACE_ENABLE_INFO e = controller_enable_at(enables, i);
		printf("%s%s  %-7s  %8u  %5u  0x%llx\n", guid, process, e.IsEnabled ? "TRUE" : "FALSE", e.LoggerId,
		       e.Level, (unsigned long long)e.MatchAnyKeyword);
	}
	if (inst->EnableCount == 0) {
		printf("%s%s  %-7s  %8u  %5u  0x%x\n", guid, process, "FALSE", 0, 0, 0);
	}
}

/* One registration stands for all: they are enabled alike but for filters by process. */
static bool put_first(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	put_rows(g, inst, enables, false);
	return false;
}

static bool put_process(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	put_rows(g, inst, enables, true);
	return true;
}

static bool put_guid(void *ctx, const GUID *g)
{
	controller_each_instance(g, *(controller_instance_fn **)ctx, NULL);
	return true;
}

static int guids(controller_instance_fn *each)
{
	uint32_t code = controller_each_guid(put_guid, &each);
	return code ? tracelog_fail(code, NULL) : CLI_OK;
}

int tracelog_guids(void)
{
	printf("%-36s  %-7s  %8s  %5s  %s\n", "Guid", "Enabled", "LoggerId", "Level", "Flags");
	return guids(put_first);
}

int tracelog_guids_of_processes(const struct cli_args *a, const char *guid)
{
	struct session_provider p;
	GUID g;
	if (guid && !controller_provider(guid, &p)) {
		return cli_usage(a, "-enumguidex: '%s' is no GUID", guid);
	}
	printf("%-36s %8s  %-7s  %8s  %5s  %s\n", "Guid", "Pid", "Enabled", "LoggerId", "Level", "Flags");
	if (!guid) {
		return guids(put_process);
	}
	memcpy(&g, p.guid.b, 16);
	controller_each_instance(&g, put_process, NULL);
	return CLI_OK;
}
