/* SPDX-License-Identifier: MIT
 * What the session verbs share: property blocks, providers on the command line, totals.
 */
#include "tools/common/cli.h"
#include "base/parse.h"

#include "filter/filter_parse.h"
#include "tools/common/payload_filter.h"

#include <limits.h>
#include <openetw/decode.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <tdh.h>
#include <unistd.h>

void cli_props_init(struct cli_props *p)
{
	memset(p, 0, sizeof *p);
	p->p.Wnode.BufferSize = sizeof *p;
	p->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	p->p.Wnode.ClientContext = 1;
	p->p.LoggerNameOffset = offsetof(struct cli_props, name);
	p->p.LogFileNameOffset = offsetof(struct cli_props, file);
}

uint32_t cli_session_query(const char *name, struct cli_props *ret)
{
	cli_props_init(ret);
	return ControlTraceA(0, name, &ret->p, EVENT_TRACE_CONTROL_QUERY);
}

static bool parse_u64(const char *s, size_t n, uint64_t *ret)
{
	char text[32], *end;
	if (n == 0 || n >= sizeof text) {
		return false;
	}
	memcpy(text, s, n);
	text[n] = 0;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	return *end == 0 && errno == 0 && text[0] != '-';
}

/* The GUID an installed manifest gives this name. */
static bool installed(const char *name, GUID *ret)
{
	uint16_t wide[256];
	long units = utf8_to_utf16(name, strlen(name), wide, BASE_ARRAY_LEN(wide));
	ULONG bytes = 0;
	bool found = false;
	if (units <= 0 || units >= (long)BASE_ARRAY_LEN(wide) ||
	    TdhEnumerateProviders(NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER || bytes == 0) {
		return false;
	}
	uint8_t *all = malloc(bytes);
	if (all && TdhEnumerateProviders((PPROVIDER_ENUMERATION_INFO)(void *)all, &bytes) ==
			   ERROR_SUCCESS) {
		const PROVIDER_ENUMERATION_INFO *info = (const void *)all;
		for (ULONG i = 0; i < info->NumberOfProviders && !found; i++) {
			const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
			if (p->ProviderNameOffset &&
			    utf16_equal_nocase(
				    (const uint16_t *)(const void *)(all + p->ProviderNameOffset),
				    wide)) {
				*ret = p->ProviderGuid;
				found = true;
			}
		}
	}
	free(all);
	return found;
}

void cli_provider_of_command(const char *word)
{
	char path[PATH_MAX];
	const char *list = strchr(word, '/') ? NULL : getenv("PATH");
	if (!list) {
		(void)openetw_schema_load_file(word, NULL, 0); /* a script, or nothing: no names then */
	}
	for (const char *s = list; s && *s;) {
		size_t n = strcspn(s, ":");
		int k = snprintf(path, sizeof path, "%.*s/%s", (int)n, s, word);
		if (n && k > 0 && (size_t)k < sizeof path && access(path, X_OK) == 0) {
			(void)openetw_schema_load_file(path, NULL, 0);
			return;
		}
		s += n + (s[n] == ':');
	}
}

bool cli_provider_guid(const char *text, GUID *ret)
{
	struct guid g;
	bool hash = *text == '*';
	const char *name = text + (hash || *text == '#');
	if (!hash && guid_parse(name, &g) == 0) {
		memcpy(ret, g.b, 16);
		return true;
	}
	if (*text == '#' || *name == 0 || strchr(name, '{')) {
		return false;
	}
	if (!hash && installed(name, ret)) {
		return true;
	}
	if (guid_from_provider_name(name, &g) < 0) {
		return false;
	}
	memcpy(ret, g.b, 16);
	return true;
}

/* Words joined by , or |, as "stack,sid", "'stack','sid'" or "'stack,sid'"; or a number of
 * EVENT_ENABLE_PROPERTY_* bits. */
static bool parse_properties(const char *s, uint32_t *inout)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} names[] = {{"stack", EVENT_ENABLE_PROPERTY_STACK_TRACE},
		     {"sid", EVENT_ENABLE_PROPERTY_SID},
		     {"tsid", EVENT_ENABLE_PROPERTY_TS_ID},
		     {"key", EVENT_ENABLE_PROPERTY_EVENT_KEY},
		     {"process-start-key", EVENT_ENABLE_PROPERTY_PROCESS_START_KEY}};
	uint64_t bits;
	if (parse_u64(s, strlen(s), &bits) && bits <= UINT32_MAX) {
		*inout |= (uint32_t)bits;
		return true;
	}
	bool quoted = false;
	while (*s) {
		/* A quote stands before the first letter of a word or behind its last one. */
		if (*s == '\'') {
			quoted = !quoted;
			s++;
		}
		size_t n = strcspn(s, ",|'"), i = 0;
		while (i < BASE_ARRAY_LEN(names) &&
		       (strlen(names[i].name) != n || strncasecmp(names[i].name, s, n) != 0)) {
			i++;
		}
		if (i == BASE_ARRAY_LEN(names)) {
			return false;
		}
		*inout |= names[i].bit;
		s += n;
		if (*s == '\'') {
			quoted = !quoted;
			s++;
		}
		if (*s && *s != ',' && *s != '|') {
			return false;
		}
		s += *s != 0;
	}
	return !quoted;
}

void cli_filters_init(struct cli_filters *f)
{
	memset(f, 0, sizeof *f);
}

void cli_filters_finish(struct cli_filters *f)
{
	for (ULONG i = 0; i < f->count; i++) {
		free(f->memory[i]);
	}
	f->count = 0;
}

bool cli_filters_put(struct cli_filters *f, uint32_t type, const void *p, size_t n)
{
	void *copy = f->count < MAX_EVENT_FILTERS_COUNT ? malloc(n) : NULL;
	if (!copy) {
		return false;
	}
	memcpy(copy, p, n);
	f->memory[f->count] = copy;
	f->d[f->count++] =
		(EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(uintptr_t)copy, (ULONG)n, type};
	return true;
}

bool cli_filters_add(struct cli_filters *f, enum saved_filter kind, const char *text, struct diag *d)
{
	uint8_t bytes[SAVED_FILTER_BYTES];
	size_t n;
	if (saved_filter_make(kind, text, bytes, &n, d) < 0) {
		return false;
	}
	f->stack |= saved_filter_is_stack(kind);
	if (!cli_filters_put(f, saved_filter_type(kind), bytes, n)) {
		diag_at(d, UINT64_MAX, "needs more memory than there is");
		return false;
	}
	return true;
}

const char *filter_expr_option(enum saved_filter kind)
{
	static const char *const names[SAVED_FILTER_COUNT] = {
		[SAVED_FILTER_EXE] = "exe",
		[SAVED_FILTER_EVENT_ID] = "event-id",
		[SAVED_FILTER_EVENT_NAME] = "event-name",
		[SAVED_FILTER_STACK_ID] = "stack-id",
		[SAVED_FILTER_STACK_NAME] = "stack-name",
		[SAVED_FILTER_STACK_LEVEL] = "stack-level",
		[SAVED_FILTER_CONTAINER] = "container",
		[SAVED_FILTER_PID] = "pid",
	};
	return names[kind];
}

bool filter_expr_text(const struct cli_args *a, enum saved_filter kind, char out[SAVED_FILTER_TEXT])
{
	const char *option = filter_expr_option(kind), *v;
	size_t n = 0;
	struct diag d = {0};
	uint8_t bytes[SAVED_FILTER_BYTES];
	*out = 0;
	/* Of processes several may be given; the others stand once. */
	for (int i = 0; (v = kind == SAVED_FILTER_PID ? cli_value_at(a, option, i)
						      : i == 0 ? cli_value(a, option, NULL) : NULL) != NULL;
	     i++) {
		if (n + strlen(v) + 2 > SAVED_FILTER_TEXT) {
			cli_usage(a, "--%s is longer than %u bytes", option, SAVED_FILTER_TEXT - 1);
			return false;
		}
		n += (size_t)snprintf(out + n, SAVED_FILTER_TEXT - n, "%s%s", i ? "," : "", v);
	}
	size_t made;
	if (*out && saved_filter_make(kind, out, bytes, &made, &d) < 0) {
		cli_usage(a, "--%s %s", option, d.text);
		return false;
	}
	return true;
}

static bool filters_from_args(const struct cli_args *a, struct cli_filters *f)
{
	for (int i = 0; i < SAVED_FILTER_COUNT; i++) {
		char text[SAVED_FILTER_TEXT];
		struct diag d = {0};
		if (!filter_expr_text(a, (enum saved_filter)i, text)) {
			return false;
		}
		if (*text && !cli_filters_add(f, (enum saved_filter)i, text, &d)) {
			cli_usage(a, "--%s %s", filter_expr_option((enum saved_filter)i), d.text);
			return false;
		}
	}
	return true;
}

bool cli_provider_parse(const struct cli_args *a, const char *text, struct cli_provider *ret)
{
	struct cli_provider p = {.level = 5, .any = 0};
	struct cli_filters f;
	cli_filters_init(&f); /* said before anything is started */
	bool filters = filters_from_args(a, &f);
	cli_filters_finish(&f);
	if (!filters) {
		return false;
	}
	const char *k = cli_value(a, "keywords", NULL), *l = cli_value(a, "level", NULL);
	const char *all = cli_value(a, "match-all", NULL);
	if (k && !parse_u64(k, strlen(k), &p.any)) {
		cli_usage(a, "--keywords takes a number such as 0x10, not '%s'", k);
		return false;
	}
	if (all && !parse_u64(all, strlen(all), &p.all)) {
		cli_usage(a, "--match-all takes a number such as 0x10, not '%s'", all);
		return false;
	}
	if (l && !filter_expr_level(l, strlen(l), &p.level)) {
		cli_usage(a, "--level takes 0-255 or critical|error|warning|info|verbose, not '%s'",
			  l);
		return false;
	}
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	if (n == 0 || n >= sizeof p.name) {
		cli_usage(a,
			  "'%s' names no provider: write Name:keywords:level or "
			  "{guid}:keywords:level",
			  text);
		return false;
	}
	memcpy(p.name, text, n);
	const char *level = NULL, *options = NULL;
	if (colon) {
		const char *kw = colon + 1;
		size_t kn = strcspn(kw, ":");
		if (kn > 0 && !(kn == 1 && *kw == '*') && !parse_u64(kw, kn, &p.any)) {
			cli_usage(a,
				  "'%.*s' in '%s' is no keyword mask: write a number such as 0x10",
				  (int)kn, kw, text);
			return false;
		}
		level = kw[kn] ? kw + kn + 1 : NULL;
	}
	if (level) {
		size_t ln = strcspn(level, ":");
		if (ln > 0 && !filter_expr_level(level, ln, &p.level)) {
			cli_usage(a,
				  "'%.*s' in '%s' is no level: write 1-5 or "
				  "critical|error|warning|info|verbose",
				  (int)ln, level, text);
			return false;
		}
		options = level[ln] ? level + ln + 1 : NULL;
	}
	if (options && !parse_properties(options, &p.properties)) {
		cli_usage(a, "'%s' in '%s' is none of stack, sid, tsid, key, process-start-key",
			  options, text);
		return false;
	}
	if (!cli_provider_guid(p.name, &p.guid)) {
		cli_usage(a, "'%s' is neither a GUID nor a provider name", p.name);
		return false;
	}
	p.properties |=
		(cli_flag(a, "stack") ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0) |
		(cli_flag(a, "sid") ? EVENT_ENABLE_PROPERTY_SID : 0) |
		(cli_flag(a, "process-start-key") ? EVENT_ENABLE_PROPERTY_PROCESS_START_KEY : 0) |
		(cli_flag(a, "event-key") ? EVENT_ENABLE_PROPERTY_EVENT_KEY : 0);
	if (!cli_payload_filters(a, &p.guid, &f)) {
		cli_filters_finish(&f);
		return false;
	}
	cli_filters_finish(&f);
	*ret = p;
	return true;
}

uint32_t cli_provider_enable(const struct cli_args *a, TRACEHANDLE session,
			     const struct cli_provider *p, uint32_t timeout_ms)
{
	struct cli_filters f;
	cli_filters_init(&f);
	if (!filters_from_args(a, &f) || !cli_payload_filters(a, &p->guid, &f)) {
		cli_filters_finish(&f);
		return ERROR_INVALID_PARAMETER;
	}
	ENABLE_TRACE_PARAMETERS params = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty =
			p->properties | (f.stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0),
		.EnableFilterDesc = f.count ? f.d : NULL,
		.FilterDescCount = f.count,
	};
	uint32_t code = EnableTraceEx2(session, &p->guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, p->level,
				       p->any, p->all, timeout_ms, &params);
	cli_filters_finish(&f);
	return code;
}

void cli_provider_tell(const GUID *g, const char *name)
{
	uint32_t registrations = 1;
	char guid[37];
	struct guid plain;
	if (name && (*name == '*' || *name == '#')) {
		name++;
	}
	if (name && guid_parse(name, &plain) == 0) {
		name = NULL;
	}
	if (openetw_name_provider((const struct openetw_guid *)g, name, &registrations) == ERROR_SUCCESS && registrations == 0) {
		cli_guid_text(g, guid);
		fprintf(stderr,
			"note: no process has registered %s {%s} yet; it is recorded as soon as one "
			"does. 'openetw providers' lists who is there\n",
			name && *name ? name : "provider", guid);
	}
}

bool cli_props_from_args(const struct cli_args *a, struct cli_props *p, const char *file,
			 bool realtime)
{
	cli_props_init(p);
	uint64_t size = 0, buffer = 0, timer = 0;
	if (!cli_size(a, "max-size", 1 << 20, 1, UINT32_MAX, &size) ||
	    !cli_size(a, "buffer-size", 1 << 10, 4, 16384, &buffer) ||
	    !cli_duration(a, "flush-timer", 1000000000, 1, 86400, &timer)) {
		return false;
	}
	const char *mode = cli_value(a, "mode", NULL);
	uint32_t m = realtime ? EVENT_TRACE_REAL_TIME_MODE : 0;
	if (mode && strcmp(mode, "circular") == 0) {
		m |= EVENT_TRACE_FILE_MODE_CIRCULAR;
	} else if (mode && strcmp(mode, "newfile") == 0) {
		m |= EVENT_TRACE_FILE_MODE_NEWFILE;
	} else if (mode && strcmp(mode, "append") == 0) {
		m |= EVENT_TRACE_FILE_MODE_APPEND;
	} else if (mode && strcmp(mode, "buffering") == 0) {
		m |= EVENT_TRACE_BUFFERING_MODE;
	} else if (file) {
		m |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	m |= cli_flag(a, "no-per-cpu") ? EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0;
	m |= cli_flag(a, "preallocate") ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0;
	const char *compress = cli_value(a, "compress", NULL);
	if (compress) {
		m |= EVENT_TRACE_COMPRESSED_MODE |
		     (strcmp(compress, "zstd") == 0 ? OPENETW_TRACE_ZSTD_MODE : 0);
	}
	uint64_t bits = 0;
	if (!cli_number(a, "mode-bits", 0, UINT32_MAX, &bits)) {
		return false;
	}
	m |= (uint32_t)bits;
	const char *clock = cli_value(a, "clock", "qpc");
	p->p.Wnode.ClientContext = strcmp(clock, "system") == 0	  ? 2
				   : strcmp(clock, "cycles") == 0 ? 3
								  : 1;
	if ((m & EVENT_TRACE_FILE_MODE_APPEND) && !cli_value(a, "clock", NULL)) {
		p->p.Wnode.ClientContext = 2; /* an appended file can only be in system time */
	}
	p->p.LogFileMode = m;
	p->p.BufferSize = (ULONG)buffer;
	p->p.MaximumFileSize = (ULONG)size;
	p->p.FlushTimer = (ULONG)timer;
	if (cli_flag(a, "low-latency")) {
		p->p.LogFileMode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		p->p.FlushTimer = 1;
	}
	const char *buffers = cli_value(a, "buffers", NULL);
	if (buffers) {
		char *end;
		p->p.MinimumBuffers = (ULONG)strtoul(buffers, &end, 10);
		p->p.MaximumBuffers = *end == ':' ? (ULONG)strtoul(end + 1, &end, 10) : 0;
		if (*end || p->p.MinimumBuffers == 0) {
			cli_usage(a, "--buffers takes MIN or MIN:MAX, not '%s'", buffers);
			return false;
		}
	}
	if (file) {
		if (strlen(file) >= sizeof p->file) {
			cli_usage(a, "the file name is too long");
			return false;
		}
		strcpy(p->file, file);
	} else {
		p->p.LogFileNameOffset = 0;
	}
	return true;
}

void cli_guid_text(const GUID *g, char out[37])
{
	struct guid b;
	memcpy(b.b, g, 16);
	guid_format(&b, out);
}

void cli_mode_text(uint32_t mode, char *out, size_t cap)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, "sequential"},
		{EVENT_TRACE_FILE_MODE_CIRCULAR, "circular"},
		{EVENT_TRACE_FILE_MODE_APPEND, "append"},
		{EVENT_TRACE_FILE_MODE_NEWFILE, "newfile"},
		{EVENT_TRACE_FILE_MODE_PREALLOCATE, "preallocate"},
		{EVENT_TRACE_REAL_TIME_MODE, "real-time"},
		{EVENT_TRACE_BUFFERING_MODE, "buffering"},
		{EVENT_TRACE_PRIVATE_LOGGER_MODE, "private"},
		{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, "no-per-cpu"},
		{EVENT_TRACE_COMPRESSED_MODE, "compressed"},
		{OPENETW_TRACE_ZSTD_MODE, "zstd"},
	};
	struct strbuf b = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (mode & names[i].bit) {
			strbuf_addf(&b, "%s%s", b.len ? "," : "", names[i].name);
		}
	}
	snprintf(out, cap, "%s", b.len ? b.s : "file");
	strbuf_finish(&b);
}

void cli_size_text(uint64_t bytes, char *out, size_t cap)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t u = 0;
	while (v >= 1024 && u + 1 < BASE_ARRAY_LEN(units)) {
		v /= 1024;
		u++;
	}
	snprintf(out, cap, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

void cli_place_tell(const struct cli_args *a)
{
	char path[512], note[256];
	if (openetw_etwd_place(path, sizeof path, note, sizeof note) == ERROR_SUCCESS && note[0]) {
		fprintf(stderr, "openetw %s: %s, so etwd is in %s\n", a->command->name, note, path);
	}
}

const char *cli_file_state(const struct openetw_loss *loss)
{
	static const char *const states[] = {"", "moved", "truncated", "removed", "replaced"};
	return loss->file_state < BASE_ARRAY_LEN(states) ? states[loss->file_state] : "changed";
}

void cli_print_file_state(FILE *f, const char *indent, const struct openetw_loss *loss)
{
	char time[TIME_TEXT_SIZE];
	if (loss->file_state == OPENETW_FILE_FINE) {
		return;
	}
	format_time(loss->file_time, false, time);
	fprintf(f, "%sthe log file was %s at %s", indent, cli_file_state(loss), time);
	if (loss->file_state == OPENETW_FILE_MOVED) {
		fprintf(f, "; the events are in it under its new name");
	}
	if (loss->gone_events || loss->gone_buffers) {
		fprintf(f, "; %llu events (%llu buffers) are not in it", (unsigned long long)loss->gone_events,
			(unsigned long long)loss->gone_buffers);
	}
	fputc('\n', f);
}

void cli_print_totals(FILE *f, const EVENT_TRACE_PROPERTIES *p, const struct openetw_loss *loss)
{
	if (loss) {
		char size[32];
		cli_size_text(loss->bytes_written, size, sizeof size);
		fprintf(f, "%llu events, %s written, %u buffers\n",
			(unsigned long long)loss->events, size, p->BuffersWritten);
	} else {
		fprintf(f, "%u buffers written\n", p->BuffersWritten);
	}
	fprintf(f, "lost: %u events, %u file buffers, %u real-time buffers\n", p->EventsLost,
		p->LogBuffersLost, p->RealTimeBuffersLost);
	if (!loss) {
		return;
	}
	const struct {
		const char *why;
		uint64_t n;
	} rows[] = {
		{"the provider wrote faster than etwd drained its pool", loss->pool_full},
		{"writes nested too deeply in signal handlers", loss->nesting},
		{"larger than 64 KiB", loss->too_big},
		{"while the process was not attached to etwd", loss->detached},
		{"malformed records of a broken process", loss->rejected},
		{"no free session buffer (raise --buffers or --buffer-size)", loss->no_buffer},
		{"the file system refused the data", loss->disk_events},
		{"half written when their process died", loss->torn},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].n) {
			fprintf(f, "  %llu %s\n", (unsigned long long)rows[i].n, rows[i].why);
		}
	}
	cli_print_file_state(f, "  ", loss);
	if (loss->overwritten) {
		fprintf(f, "  (%llu events overwritten, as this mode intends)\n",
			(unsigned long long)loss->overwritten);
	}
}

/* ---- signals
 * --------------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught;
static struct sigaction before[3];
static const int ending[3] = {SIGINT, SIGTERM, SIGHUP};

static void on_ending(int sig)
{
	caught = sig;
}

void cli_signals_catch(void)
{
	struct sigaction sa = {.sa_handler = on_ending};
	caught = 0;
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (ending[i] != SIGHUP || before[i].sa_handler != SIG_IGN) { /* nohup means it */
			sigaction(ending[i], &sa, NULL);
		}
	}
}

void cli_signals_restore(void)
{
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], &before[i], NULL);
	}
}

int cli_signal_caught(void)
{
	return caught;
}

static volatile sig_atomic_t interrupted;

void cli_interrupt(int sig)
{
	interrupted = sig;
}

int cli_interrupted(void)
{
	return interrupted;
}

void cli_child_signals(void)
{
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], &before[i], NULL);
	}
	signal(SIGPIPE, SIG_DFL);
}

/* ---- progress
 * -------------------------------------------------------------------------------------- */

void cli_progress_start(struct cli_progress *p, bool wanted)
{
	p->active = wanted && isatty(2);
	p->started_ns = p->last_ns = clock_read_system_ns();
}

void cli_progress_show(struct cli_progress *p, const char *fmt, ...)
{
	if (!p->active) {
		return;
	}
	uint64_t now = clock_read_system_ns();
	if (now - p->last_ns < 100000000 || now - p->started_ns < 1000000000) {
		return;
	}
	p->last_ns = now;
	va_list ap;
	va_start(ap, fmt);
	fputs("\r\033[K", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->active && p->last_ns != p->started_ns) {
		fputs("\r\033[K", stderr);
	}
	p->active = false;
}
