/* SPDX-License-Identifier: MIT
 *
 * OpenTrace, CloseTrace and the newer ways to open.
 */
#include "consume/consume_trace.h"

#include "etw/values/session_modes.h"
#include "etw/values/session_names.h"

#include <stdlib.h>

ETW_API void WINAPI SetLastError(DWORD dwErrCode);

static uint32_t code_of_file_error(int err)
{
	switch (err) {
	case -ENOENT: return ERROR_FILE_NOT_FOUND;
	case -ENOTDIR: return ERROR_PATH_NOT_FOUND;
	case -EACCES:
	case -EPERM:
	case -EISDIR: return ERROR_ACCESS_DENIED;
	case -EBADMSG: return ERROR_FILE_CORRUPT;
	case -EINVAL: return ERROR_BAD_PATHNAME;
	case -ENOMEM: return ERROR_OUTOFMEMORY;
	default: return win32_from_errno(err);
	}
}

static int file_open(const char *path, struct consume_source **ret, struct diag *d)
{
	int r = consume_file_open(path, ret, d);
	if (r != -ENOENT || !strchr(path, '\\')) {
		return r;
	}
	/* Written for Windows. A backslash is an ordinary character here, so this comes second. */
	char *other = strdup(path);
	if (!other) {
		return -ENOMEM;
	}
	for (char *p = other; *p; p++) {
		*p = *p == '\\' ? '/' : *p;
	}
	r = consume_file_open(other, ret, d);
	free(other);
	return r;
}

uint32_t trace_open_source(struct trace *t, struct diag *d)
{
	struct consume_source *source;
	uint32_t status = 0;
	int r = t->path ? file_open(t->path, &source, d)
			: consume_rt_open(t->session, (uint32_t)utf16_len(t->session), &source, &status, d);
	if (r == 0) {
		trace_set_source(t, source);
		return 0;
	}
	if (t->path) {
		return code_of_file_error(r);
	}
	if (status) {
		return status;
	}
	/* Without etwd there are no sessions. */
	return r == -ENOENT || r == -ECONNREFUSED ? ERROR_WMI_INSTANCE_NOT_FOUND : win32_from_errno(r);
}

static uint16_t *text_dup(const uint8_t *p, uint32_t units)
{
	uint16_t *s = calloc((size_t)units + 1, sizeof *s);
	if (s && units) {
		memcpy(s, p, 2 * (size_t)units);
	}
	return s;
}

static void fill_header(struct trace *t, TRACE_LOGFILE_HEADER *out)
{
	const struct etl_file_info *i = &t->source->info;
	memset(out, 0, sizeof *out);
	out->BufferSize = i->buffer_size;
	out->Version = i->os_version;
	out->ProviderVersion = i->os_build;
	out->NumberOfProcessors = i->processors;
	out->EndTime.QuadPart = (LONGLONG)i->end_filetime;
	out->TimerResolution = i->timer_resolution;
	out->MaximumFileSize = i->maximum_file_size;
	out->LogFileMode = i->log_file_mode;
	out->BuffersWritten = i->buffers_written;
	out->StartBuffers = 1;
	out->PointerSize = i->pointer_size;
	out->EventsLost = i->events_lost;
	out->CpuSpeedInMHz = i->cpu_mhz;
	out->LoggerName = (LPWSTR)(void *)t->header_logger;
	out->LogFileName = (LPWSTR)(void *)t->header_file;
	_Static_assert(sizeof out->TimeZone == ETL_TIME_ZONE_SIZE, "same layout in files");
	memcpy(&out->TimeZone, i->time_zone, sizeof out->TimeZone);
	out->BootTime.QuadPart = (LONGLONG)i->boot_filetime;
	out->PerfFreq.QuadPart = (LONGLONG)i->perf_freq;
	out->StartTime.QuadPart = (LONGLONG)i->start_filetime;
	out->ReservedFlags = i->clock_type;
	out->BuffersLost = i->buffers_lost;
}

uint32_t trace_take_header(struct trace *t)
{
	if (t->header_logger) {
		return 0; /* pointers handed out stay as they are */
	}
	static const uint16_t kernel[] = u"" KERNEL_LOGGER_NAMEA;
	const struct etl_file_info *i = &t->source->info;
	uint16_t *file = text_dup(i->file_name, i->file_name_units);
	uint16_t *logger = text_dup(i->logger_name, i->logger_name_units);
	if (!logger || !file) {
		free(logger);
		free(file);
		return ERROR_OUTOFMEMORY;
	}
	trace_table_lock(); /* queries look at it from other threads */
	t->header_file = file;
	t->header_logger = logger;
	fill_header(t, &t->log.w.LogfileHeader);
	t->log.w.BufferSize = i->buffer_size;
	t->log.w.IsKernelTrace = (i->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0 ||
				 utf16_equal_nocase(t->header_logger, kernel);
	t->log.w.CurrentTime = (LONGLONG)i->start_filetime;
	trace_unlock();
	return 0;
}

/* openetw_last_error_text(): file, place, reason. */
static void explain(const struct trace *t, const struct diag *d)
{
	if (!d->text[0]) {
		return;
	}
	if (!t->path) {
		err_text_set("%s", d->text);
	} else if (d->offset == UINT64_MAX) {
		err_text_set("%s: %s", t->path, d->text);
	} else {
		err_text_set("%s: at byte %llu: %s", t->path, (unsigned long long)d->offset, d->text);
	}
}

/* Opens what t->path or t->session name and hands t over to the table. Frees t on failure. */
static PROCESSTRACE_HANDLE trace_open(struct trace *t)
{
	struct diag d;
	diag_clear(&d);
	err_text_clear();
	uint32_t code = trace_open_source(t, &d);
	/* A session may start later: ProcessTrace will tell. */
	bool later = t->session && code == ERROR_WMI_INSTANCE_NOT_FOUND;
	if (code == 0) {
		code = trace_take_header(t);
	}
	if (code != 0 && !later) {
		goto fail;
	}
	PROCESSTRACE_HANDLE h = trace_add(t);
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		code = ERROR_OUTOFMEMORY;
		goto fail;
	}
	return h;
fail:
	explain(t, &d);
	trace_destroy(t);
	SetLastError(code);
	return INVALID_PROCESSTRACE_HANDLE;
}

static char *path_from_wide(const uint16_t *s)
{
	size_t n = utf16_len(s);
	long bytes = utf16_to_utf8(s, n, NULL, 0);
	if (bytes < 0) {
		return NULL;
	}
	char *out = malloc((size_t)bytes + 1);
	if (out) {
		utf16_to_utf8(s, n, out, (size_t)bytes + 1);
	}
	return out;
}

static uint16_t *wide_from_utf8(const char *s)
{
	size_t n = strlen(s);
	long units = utf8_to_utf16(s, n, NULL, 0);
	if (units < 0) {
		return NULL;
	}
	uint16_t *out = calloc((size_t)units + 1, sizeof *out);
	if (out) {
		utf8_to_utf16(s, n, out, (size_t)units + 1);
	}
	return out;
}

static PROCESSTRACE_HANDLE refuse(uint32_t code)
{
	SetLastError(code);
	return INVALID_PROCESSTRACE_HANDLE;
}

/* The members both shapes share; names are done by the caller. */
static void take_options(struct trace *t, ULONG mode)
{
	t->raw_time = (mode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0;
	t->event_record = (mode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0;
	memset(&t->log.w.LogfileHeader, 0, sizeof t->log.w.LogfileHeader);
	t->log.w.BuffersRead = 0;
	t->log.w.Filled = 0;
	t->log.w.EventsLost = 0;
	t->log.w.BufferSize = 0;
	t->log.w.IsKernelTrace = 0;
	t->log.w.CurrentTime = 0;
}

/* What the caller gets to see at once. */
#define COPY_RESULTS(to, t)                                     \
	do {                                                    \
		(to)->LogfileHeader = (t)->log.w.LogfileHeader; \
		(to)->IsKernelTrace = (t)->log.w.IsKernelTrace; \
		(to)->BufferSize = (t)->log.w.BufferSize;       \
		(to)->CurrentTime = (t)->log.w.CurrentTime;     \
		(to)->BuffersRead = 0;                          \
		(to)->EventsLost = 0;                           \
	} while (0)

/* A trace of that name, which both shapes of the function go on with. NULL: refused with *ret_code. */
static struct trace *begin(const void *log, size_t bytes, ULONG mode, bool named, uint32_t *ret_code)
{
	struct trace *t = named ? calloc(1, sizeof *t) : NULL;
	if (!t) {
		*ret_code = named ? ERROR_OUTOFMEMORY : ERROR_BAD_PATHNAME;
		return NULL;
	}
	memcpy(&t->log, log, bytes);
	take_options(t, mode);
	t->log.w.LoggerName = NULL;
	t->log.w.LogFileName = NULL;
	return t;
}

/* `copy`: of the name as the caller wrote it; the trace's from here on. */
static PROCESSTRACE_HANDLE finish(struct trace *t, bool real_time, void *copy)
{
	if (real_time) {
		t->log_name = copy;
		t->log.w.LoggerName = (LPWSTR)copy;
	} else {
		t->file_name = copy;
		t->log.w.LogFileName = (LPWSTR)copy;
	}
	if (!copy || (!t->session && !t->path)) {
		trace_destroy(t);
		return refuse(copy ? ERROR_BAD_PATHNAME : ERROR_OUTOFMEMORY);
	}
	return trace_open(t);
}

PROCESSTRACE_HANDLE WMIAPI OpenTraceW(PEVENT_TRACE_LOGFILEW Logfile)
{
	if (!Logfile) {
		return refuse(ERROR_INVALID_PARAMETER);
	}
	bool real_time = (Logfile->ProcessTraceMode & PROCESS_TRACE_MODE_REAL_TIME) != 0;
	const uint16_t *name = (const uint16_t *)(real_time ? Logfile->LoggerName : Logfile->LogFileName);
	uint32_t code;
	struct trace *t = begin(Logfile, sizeof *Logfile, Logfile->ProcessTraceMode, name && name[0], &code);
	if (!t) {
		return refuse(code);
	}
	t->session = real_time ? utf16_dup(name, utf16_len(name)) : NULL;
	t->path = real_time ? NULL : path_from_wide(name);
	PROCESSTRACE_HANDLE h = finish(t, real_time, utf16_dup(name, utf16_len(name)));
	if (h != INVALID_PROCESSTRACE_HANDLE) {
		COPY_RESULTS(Logfile, t);
	}
	return h;
}

PROCESSTRACE_HANDLE WMIAPI OpenTraceA(PEVENT_TRACE_LOGFILEA Logfile)
{
	if (!Logfile) {
		return refuse(ERROR_INVALID_PARAMETER);
	}
	bool real_time = (Logfile->ProcessTraceMode & PROCESS_TRACE_MODE_REAL_TIME) != 0;
	const char *name = real_time ? Logfile->LoggerName : Logfile->LogFileName;
	uint32_t code;
	struct trace *t = begin(Logfile, sizeof *Logfile, Logfile->ProcessTraceMode, name && name[0], &code);
	if (!t) {
		return refuse(code);
	}
	t->session = real_time ? wide_from_utf8(name) : NULL;
	t->path = real_time ? NULL : strdup(name);
	PROCESSTRACE_HANDLE h = finish(t, real_time, strdup(name));
	if (h != INVALID_PROCESSTRACE_HANDLE) {
		COPY_RESULTS(Logfile, t);
	}
	return h;
}

ULONG WMIAPI CloseTrace(PROCESSTRACE_HANDLE TraceHandle)
{
	return trace_close(TraceHandle);
}

static PROCESSTRACE_HANDLE open_with_options(LPCWSTR name, bool real_time, const ETW_OPEN_TRACE_OPTIONS *options,
					     TRACE_LOGFILE_HEADER *header)
{
	if (!name || !options) {
		return refuse(ERROR_INVALID_PARAMETER);
	}
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	if (real_time) {
		log.LoggerName = (LPWSTR)(uintptr_t)name;
	} else {
		log.LogFileName = (LPWSTR)(uintptr_t)name;
	}
	log.ProcessTraceMode =
		PROCESS_TRACE_MODE_EVENT_RECORD | (real_time ? PROCESS_TRACE_MODE_REAL_TIME : 0) |
		(options->ProcessTraceModes & ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP ? PROCESS_TRACE_MODE_RAW_TIMESTAMP
										   : 0);
	log.EventRecordCallback = options->EventCallback;
	log.Context = options->EventCallbackContext;
	PROCESSTRACE_HANDLE h = OpenTraceW(&log);
	struct trace *t = h == INVALID_PROCESSTRACE_HANDLE ? NULL : trace_lock(h);
	if (t) {
		t->raw_buffer = options->BufferCallback;
		t->raw_buffer_context = options->BufferCallbackContext;
		if (header) {
			*header = t->log.w.LogfileHeader;
		}
		trace_unlock();
	}
	return h;
}

PROCESSTRACE_HANDLE WMIAPI OpenTraceFromFile(LPCWSTR LogFileName, const ETW_OPEN_TRACE_OPTIONS *Options,
					     TRACE_LOGFILE_HEADER *LogFileHeader)
{
	return open_with_options(LogFileName, false, Options, LogFileHeader);
}

PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLogger(LPCWSTR LoggerName, const ETW_OPEN_TRACE_OPTIONS *Options,
						       TRACE_LOGFILE_HEADER *LogFileHeader)
{
	return open_with_options(LoggerName, true, Options, LogFileHeader);
}

/* Where buffers are allocated is no choice here: the ring belongs to etwd. */
PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLoggerWithAllocationOptions(LPCWSTR LoggerName,
									    const ETW_OPEN_TRACE_OPTIONS *Options,
									    ULONG_PTR AllocationSize,
									    HANDLE MemoryPartitionHandle,
									    TRACE_LOGFILE_HEADER *LogFileHeader)
{
	return open_with_options(LoggerName, true, Options, LogFileHeader);
}
