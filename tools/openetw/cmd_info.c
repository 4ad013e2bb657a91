/* SPDX-License-Identifier: MIT
 * info: who recorded a trace, what, when and where, from the header of the file.
 */
#include "tools/common/session_options.h"
#include "base/parse.h"
#include "tools/common/trace_reading.h"
#include "tools/common/windows_name.h"

#include <stdlib.h>
#include <sys/stat.h>

struct info_options {
	bool json, utc, local;
};
static const struct cli_option options[] = {
	CLI_FLAG(info_options, json, 'j', "json", "one JSON object a line"),
	CLI_FLAG(info_options, utc, 0, "utc", "times in UTC (the default)"),
	CLI_FLAG(info_options, local, 0, "local", "times of this machine's zone"),
	{0},
};

static bool nothing(void *ctx, const EVENT_RECORD *e)
{
	(void)ctx;
	(void)e;
	return false;
}

static void utf8(const void *wide, char *out, size_t cap)
{
	out[0] = 0;
	if (wide) {
		utf16_to_utf8_lossy(wide, utf16_len(wide), out, cap);
	}
}

struct info {
	const TRACE_LOGFILE_HEADER *h;
	const char *path;
	char session[1024], file[2048];
	uint64_t bytes;
	uint64_t start, end, boot;
	unsigned major, minor, layout_major, layout_minor;
	bool local;
	char unknown[160]; /* why there may be more losses; "": the header has them all */
};

static void print_text(const struct info *i)
{
	static const char *const clocks[] = {"", "performance counter", "system time", "CPU cycles"};
	const TRACE_LOGFILE_HEADER *h = i->h;
	char time[TIME_TEXT_SIZE], text[256];
	cli_size_text(i->bytes, text, sizeof text);
	printf("%s\n", i->path);
	printf("  size           %s\n", text);
	printf("  session        %s\n", i->session[0] ? i->session : "-");
	printf("  recorded to    %s\n", i->file[0] ? i->file : "-");
	format_time(i->start, i->local, time);
	printf("  start          %s\n", time);
	if (i->end) {
		format_time(i->end, i->local, time);
		format_duration(i->end - i->start, text, sizeof text);
		printf("  end            %s (%s)\n", time, i->end >= i->start ? text : "before the start");
	} else {
		printf("  end            not recorded: the session was not stopped, or still "
		       "runs\n");
	}
	if (i->boot) {
		format_time(i->boot, i->local, time);
		printf("  booted         %s\n", time);
	}
	long bias = h->TimeZone.Bias;
	printf("  time zone      UTC%c%02ld:%02ld\n", bias > 0 ? '-' : '+', labs(bias) / 60, labs(bias) % 60);
	const char *name = cli_windows_name(i->major, i->minor, h->ProviderVersion);
	printf("  system         %u.%u build %u%s%s, %u-bit, layout %u.%u\n", i->major, i->minor, h->ProviderVersion,
	       *name ? ", " : "", name, 8 * h->PointerSize, i->layout_major, i->layout_minor);
	printf("  processors     %u at %u MHz\n", h->NumberOfProcessors, h->CpuSpeedInMHz);
	printf("  clock          %s", h->ReservedFlags < 4 ? clocks[h->ReservedFlags] : "unknown");
	if (h->PerfFreq.QuadPart) {
		printf(", %lld ticks/s", (long long)h->PerfFreq.QuadPart);
	}
	putchar('\n');
	cli_mode_text(h->LogFileMode, text, sizeof text);
	printf("  mode           %s (0x%X)", text, h->LogFileMode);
	if (h->MaximumFileSize) {
		printf(", at most %u %s", h->MaximumFileSize,
		       h->LogFileMode & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? "KB" : "MB");
	}
	putchar('\n');
	cli_size_text(h->BufferSize, text, sizeof text);
	printf("  buffers        %u of %s\n", h->BuffersWritten, text);
	if (i->unknown[0]) {
		printf("  lost           unknown (%s)", i->unknown);
		if (h->EventsLost || h->BuffersLost) {
			printf("; at least %u event%s, %u buffer%s", h->EventsLost, PLURAL(h->EventsLost),
			       h->BuffersLost, PLURAL(h->BuffersLost));
		}
		putchar('\n');
	} else {
		printf("  lost           %u event%s, %u buffer%s\n", h->EventsLost, PLURAL(h->EventsLost),
		       h->BuffersLost, PLURAL(h->BuffersLost));
	}
}

static void add_string(struct strbuf *b, const char *key, const char *s)
{
	strbuf_addf(b, ",\"%s\":", key);
	strbuf_add_json(b, s, strlen(s));
}

static void print_json(const struct info *i)
{
	const TRACE_LOGFILE_HEADER *h = i->h;
	struct strbuf b = {0};
	char time[TIME_TEXT_SIZE];
	strbuf_adds(&b, "{\"path\":");
	strbuf_add_json(&b, i->path, strlen(i->path));
	strbuf_addf(&b, ",\"bytes\":%llu", (unsigned long long)i->bytes);
	add_string(&b, "session", i->session);
	add_string(&b, "recordedTo", i->file);
	format_time(i->start, i->local, time);
	add_string(&b, "start", time);
	if (i->end) {
		format_time(i->end, i->local, time);
		add_string(&b, "end", time);
	}
	if (i->boot) {
		format_time(i->boot, i->local, time);
		add_string(&b, "boot", time);
	}
	strbuf_addf(&b,
		    ",\"timeZoneBiasMinutes\":%d,\"osMajor\":%u,\"osMinor\":%u,\"osBuild\":%u,"
		    "\"pointerSize\":%u,"
		    "\"processors\":%u,\"cpuMhz\":%u,\"clock\":%u,\"clockFrequency\":%lld,\"mode\":"
		    "\"0x%X\","
		    "\"maximumFileSize\":%u,\"bufferSize\":%u,\"buffersWritten\":%u,",
		    (int)h->TimeZone.Bias, i->major, i->minor, h->ProviderVersion, h->PointerSize,
		    h->NumberOfProcessors, h->CpuSpeedInMHz, h->ReservedFlags, (long long)h->PerfFreq.QuadPart,
		    h->LogFileMode, h->MaximumFileSize, h->BufferSize, h->BuffersWritten);
	cli_loss_json(&b, h->EventsLost, h->BuffersLost, i->unknown);
	strbuf_adds(&b, "}");
	puts(b.failed ? "{}" : b.s);
	strbuf_finish(&b);
}

static int show(struct cli_args *a, char *path)
{
	const struct info_options *o = a->given;
	struct cli_trace t = {.args = a, .event = nothing, .no_progress = true};
	if (!cli_trace_open(&t, 1, &path, NULL)) {
		return CLI_FAILED;
	}
	const TRACE_LOGFILE_HEADER *h = &t.file[0].LogfileHeader;
	struct info i = {.h = h,
			 .path = path,
			 .start = (uint64_t)h->StartTime.QuadPart,
			 .end = (uint64_t)h->EndTime.QuadPart,
			 .boot = (uint64_t)h->BootTime.QuadPart,
			 .major = h->VersionDetail.MajorVersion,
			 .minor = h->VersionDetail.MinorVersion,
			 .layout_major = h->VersionDetail.SubVersion,
			 .layout_minor = h->VersionDetail.SubMinorVersion,
			 .local = o->local};
	struct stat st;
	i.bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
	/* The names belong to the trace: read them before it is closed. */
	cli_trace_unknown(t.handle[0], i.unknown, sizeof i.unknown);
	utf8(h->LoggerName, i.session, sizeof i.session);
	utf8(h->LogFileName, i.file, sizeof i.file);
	if (o->json) {
		print_json(&i);
	} else {
		print_text(&i);
	}
	CloseTrace(t.handle[0]);
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	if (a->count == 0) {
		return cli_usage(a, "which file?");
	}
	int status = CLI_OK;
	for (int i = 0; i < a->count; i++) {
		int one = show(a, a->words[i]);
		status = one ? one : status;
	}
	return status;
}

const struct cli_command cli_info = {
	.name = "info",
	.synopsis = "FILE… [--json]",
	.summary = "Show who recorded .etl files, what, when and where.",
	.details = "Reads only the headers, so it is quick whatever the size. JSON keys: path, "
		   "bytes, session, recordedTo,\n"
		   "start, end (absent when the session was not stopped), boot, "
		   "timeZoneBiasMinutes, osMajor, osMinor,\n"
		   "osBuild, pointerSize, processors, cpuMhz, clock (1 performance counter, 2 "
		   "system time, 3 CPU cycles),\n"
		   "clockFrequency, mode, maximumFileSize, bufferSize, buffersWritten, eventsLost, "
		   "buffersLost.\n"
		   "Of a file that was not closed, or whose end is missing, nobody knows what was lost: these two are\n"
		   "null then, lostUnknown says why, and eventsLostAtLeast and buffersLostAtLeast say what is known.\n"
		   "Example: openetw info web.etl\n",
	.options = options,
	CLI_INTO(info_options),
	.run = run,
	.complete = "file",
};
