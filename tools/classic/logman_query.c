/* SPDX-License-Identifier: MIT
 * What "logman query" prints, in the layout that scripts parse. Lines of ours come last in a block.
 */
#include "tools/common/session_options.h"
#include "tools/classic/logman.h"
#include "base/vec.h"
#include "base/level.h"

#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

#define SESSIONS_MAX 1024
#define RULE         "-------------------------------------------------------------------------------"

bool logman_is_live(const char *name, struct cli_props *ret)
{
	return cli_session_query(name, ret) == ERROR_SUCCESS;
}

static void row(const char *name, bool running)
{
	/* A name that fills its column pushes the others to the right: they are not to touch. */
	printf("%-39s %-29s %s\n", name, "Trace", running ? "Running" : "Stopped");
}

static int list_live(void)
{
	struct cli_props *all = calloc(SESSIONS_MAX, sizeof *all);
	PEVENT_TRACE_PROPERTIES *array = calloc(SESSIONS_MAX, sizeof *array);
	ULONG count = 0;
	if (!all || !array) {
		free(all);
		free(array);
		return logman_error(ERROR_NOT_ENOUGH_MEMORY, NULL, NULL);
	}
	for (int i = 0; i < SESSIONS_MAX; i++) {
		cli_props_init(&all[i]);
		array[i] = &all[i].p;
	}
	uint32_t code = QueryAllTracesA(array, SESSIONS_MAX, &count);
	for (ULONG i = 0; code == ERROR_SUCCESS && i < count; i++) {
		row(all[i].name, true);
	}
	free(all);
	free(array);
	return code == ERROR_SUCCESS ? CLI_OK : logman_error(code, cli_session_why(), NULL);
}

static bool list_saved(void *ctx, const char *path)
{
	struct etw_session s;
	struct cli_props p;
	struct diag d = {0};
	int r = session_read_file(path, &cli_manifests, &s, &d);
	(void)ctx;
	if (r < 0) {
		fprintf(stderr, "logman: %s:%u: %s\n", path, d.line, d.text[0] ? d.text : strerror(-r));
		return true;
	}
	row(s.name, logman_is_live(s.name, &p));
	session_finish(&s);
	return true;
}

int logman_query_all(bool live)
{
	printf("\n%-40s%-30s%s\n%s\n", "Data Collector Set", "Type", "Status", RULE);
	if (live) {
		int status = list_live();
		return status == CLI_OK ? logman_done() : status;
	}
	char dir[4096];
	if (session_dir(SESSION_COLLECTORS, false, dir, sizeof dir) == 0) {
		session_each(dir, list_saved, NULL);
	}
	return logman_done();
}

/* ---- one
 * --------------------------------------------------------------------------------------- */

static void label(const char *name, const char *fmt, ...) BASE_PRINTF(2, 3);
static void label(const char *name, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("%-22s", name);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
}

static void put_head(const struct etw_session *s, bool running)
{
	const char *slash = strrchr(s->file, '/');
	bool kb = s->props.mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	putchar('\n');
	label("Name:", "%s", s->name);
	label("Status:", running ? "Running" : "Stopped");
	label("Root Path:", "%.*s", slash && slash > s->file ? (int)(slash - s->file) : 1, slash ? s->file : ".");
	label("Segment:", s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE ? "On" : "Off");
	label("Schedules:", "On");
	if (s->props.maximum_file_size) {
		label("Segment Max Size:", "%u %s", s->props.maximum_file_size, kb ? "KB" : "MB");
	}
	if (s->expire_s) {
		label("Duration:", "%02u:%02u:%02u", s->expire_s / 3600, s->expire_s / 60 % 60, s->expire_s % 60);
	}
}

static const char *on_off(uint32_t bits)
{
	return bits ? "On" : "Off";
}

/* `p` NULL: it does not run, so there are no counters. */
static void put_trace(const struct etw_session *s, const EVENT_TRACE_PROPERTIES *p)
{
	static const char *const clocks[] = {"Performance", "Performance", "System", "Cycle"};
	const char *delivery = s->file[0] && (s->props.mode & EVENT_TRACE_REAL_TIME_MODE) ? "File, Real-time"
			       : s->props.mode & EVENT_TRACE_REAL_TIME_MODE               ? "Real-time"
			       : s->props.mode & EVENT_TRACE_BUFFERING_MODE               ? "Buffered"
											  : "File";
	putchar('\n');
	label("Name:", "%s\\%s", s->name, s->name);
	label("Type:", "Trace");
	if (s->file[0]) {
		label("Output Location:", "%s", s->file);
	}
	label("Append:", "%s", on_off(s->props.mode & EVENT_TRACE_FILE_MODE_APPEND));
	label("Circular:", "%s", on_off(s->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR));
	label("Overwrite:", "%s", on_off(s->overwrite));
	label("Buffer Size:", "%u", s->props.buffer_kb ? s->props.buffer_kb : 64);
	label("Buffers Lost:", "%u", p ? p->LogBuffersLost : 0);
	label("Buffers Written:", "%u", p ? p->BuffersWritten : 0);
	label("Buffer Flush Timer:", "%u", s->props.flush_timer);
	label("Clock Type:", "%s", s->props.clock < 4 ? clocks[s->props.clock] : "?");
	label("File Mode:", "%s", delivery);
	if (p) {
		struct openetw_loss loss = {.size = sizeof loss};
		label("Events Lost:", "%u", p->EventsLost);
		label("RT Buffers Lost:", "%u", p->RealTimeBuffersLost);
		if (openetw_session_loss(s->name, &loss) == ERROR_SUCCESS) {
			label("Events Recorded:", "%llu", (unsigned long long)loss.events);
		}
	}
}

static void put_provider(const GUID *g, const char *name, uint8_t level, uint64_t all, uint64_t any,
			 uint32_t properties)
{
	char guid[37];
	struct strbuf words = {0};
	const char *level_name = level_manifest(level);
	cli_guid_text(g, guid);
	for (char *c = guid; *c; c++) {
		*c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
	}
	controller_keyword_names(g, any, &words);
	printf("\nProvider:\n");
	label("Name:", "%s", name);
	label("Provider Guid:", "{%s}", guid);
	if (level_name) {
		label("Level:", "%u (%s)", level, level_name);
	} else {
		label("Level:", "%u", level);
	}
	label("KeywordsAll:", "0x%llx", (unsigned long long)all);
	if (words.len) {
		label("KeywordsAny:", "0x%llx (%s)", (unsigned long long)any, words.s);
	} else {
		label("KeywordsAny:", "0x%llx", (unsigned long long)any);
	}
	label("Properties:", "%u", properties);
	label("Filter Type:", "0");
	strbuf_finish(&words);
}

static bool put_enabled(void *ctx, const GUID *g, const TRACE_ENABLE_INFO *e, uint32_t processes)
{
	char name[256];
	(void)ctx;
	controller_provider_name(g, name, sizeof name);
	put_provider(g, name, e->Level, e->MatchAllKeyword, e->MatchAnyKeyword, e->EnableProperty);
	label("Processes:", "%u", processes);
	return true;
}

int logman_query_live(const char *name)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	if (code) {
		return logman_error(code, cli_session_why(), "'logman query -ets' shows what runs");
	}
	struct etw_session s;
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%.*s", (int)sizeof s.name - 1, p.name);
	snprintf(s.file, sizeof s.file, "%s", p.file);
	s.props.mode = p.p.LogFileMode;
	s.props.maximum_file_size = p.p.MaximumFileSize;
	s.props.buffer_kb = p.p.BufferSize;
	s.props.flush_timer = p.p.FlushTimer;
	s.props.clock = p.p.Wnode.ClientContext;
	put_head(&s, true);
	put_trace(&s, &p.p);
	if (p.p.EnableFlags) { /* the kernel's provider is not enabled but asked for by flags */
		struct session_provider kernel;
		GUID g;
		controller_provider("Windows Kernel Trace", &kernel);
		memcpy(&g, kernel.guid.b, sizeof g);
		put_provider(&g, kernel.name, kernel.level, 0, p.p.EnableFlags, 0);
	}
	code = controller_each_enabled((uint16_t)p.p.Wnode.HistoricalContext, put_enabled, NULL);
	return code ? logman_error(code, cli_session_why(), NULL) : logman_done();
}

int logman_query_saved(struct etw_session *s)
{
	struct cli_props p;
	bool live = logman_is_live(s->name, &p);
	if (live) { /* the file of this run */
		snprintf(s->file, sizeof s->file, "%s", p.file);
	}
	put_head(s, live);
	put_trace(s, live ? &p.p : NULL);
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *q = &s->provider[i];
		GUID g;
		char name[256];
		memcpy(&g, q->guid.b, 16);
		snprintf(name, sizeof name, "%s", q->name);
		if (!name[0]) {
			controller_provider_name(&g, name, sizeof name);
		}
		put_provider(&g, name, q->level, q->all, q->any, q->properties);
	}
	return logman_done();
}

/* ---- providers
 * --------------------------------------------------------------------------------- */

struct known {
	GUID guid;
	char name[256];
};
struct known_list {
	struct known *at;
	size_t count, cap;
};

static void know(struct known_list *l, const GUID *g, const char *name)
{
	for (size_t i = 0; i < l->count; i++) {
		if (memcmp(&l->at[i].guid, g, sizeof *g) == 0) {
			return;
		}
	}
	if (!VEC_ROOM(l->at, l->count, l->cap)) {
		return;
	}
	l->at[l->count].guid = *g;
	snprintf(l->at[l->count++].name, sizeof l->at[0].name, "%s", name);
}

/* Installed manifests, then whoever is registered and has no manifest. */
static void know_all(struct known_list *l)
{
	ULONG bytes = 0, n = 0;
	uint8_t *mem = NULL, *registered = NULL;
	if (TdhEnumerateProviders(NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER) {
		mem = malloc(bytes);
	}
	PPROVIDER_ENUMERATION_INFO info = (PPROVIDER_ENUMERATION_INFO)(void *)mem;
	if (mem && TdhEnumerateProviders(info, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < info->NumberOfProviders; i++) {
			const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
			const uint16_t *w = (const uint16_t *)(const void *)(mem + p->ProviderNameOffset);
			char name[256] = "";
			if (p->ProviderNameOffset) {
				utf16_to_utf8_lossy(w, utf16_len(w), name, sizeof name);
			}
			know(l, &p->ProviderGuid, name);
		}
	}
	free(mem);
	if (controller_ask(TraceGuidQueryList, NULL, &registered, &n) == ERROR_SUCCESS) {
		for (ULONG at = 0; at + sizeof(GUID) <= n; at += sizeof(GUID)) {
			GUID g;
			char name[256];
			memcpy(&g, registered + at, sizeof g);
			controller_provider_name(&g, name, sizeof name);
			know(l, &g, name);
		}
	}
	free(registered);
}

static int compare_names(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	return strcasecmp(x->name, y->name);
}

static void put_known(const GUID *g, const char *name)
{
	char guid[37];
	cli_guid_text(g, guid);
	for (char *c = guid; *c; c++) {
		*c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
	}
	printf("%-40s {%s}\n", name, guid);
}

static bool is_pid(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	uint32_t *wanted = ctx;
	if (inst->Pid && inst->Pid == *wanted) {
		*wanted = 0; /* found */
		return false;
	}
	return true;
}

static bool put_process(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	char link[64], path[4096];
	if (inst->Pid) {
		snprintf(link, sizeof link, "/proc/%u/exe", inst->Pid);
		ssize_t n = readlink(link, path, sizeof path - 1);
		path[n < 0 ? 0 : n] = 0;
		printf("0x%08x          %s\n", inst->Pid, path);
	}
	return true;
}

static void put_fields(const GUID *g, EVENT_FIELD_TYPE type, const char *title)
{
	ULONG bytes = 0;
	GUID copy = *g;
	if (TdhEnumerateProviderFieldInformation(&copy, type, NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	uint8_t *mem = malloc(bytes);
	PPROVIDER_FIELD_INFOARRAY a = (PPROVIDER_FIELD_INFOARRAY)(void *)mem;
	if (mem && TdhEnumerateProviderFieldInformation(&copy, type, a, &bytes) == ERROR_SUCCESS) {
		printf("\n%-20s%-21s%s\n%s\n", "Value", title, "Description", RULE);
		for (ULONG i = 0; i < a->NumberOfElements; i++) {
			char text[2][512] = {"", ""}, value[32];
			ULONG offsets[2] = {a->FieldInfoArray[i].NameOffset, a->FieldInfoArray[i].DescriptionOffset};
			for (int k = 0; k < 2; k++) {
				const uint16_t *w = (const uint16_t *)(const void *)(mem + offsets[k]);
				if (offsets[k]) {
					utf16_to_utf8_lossy(w, utf16_len(w), text[k], sizeof text[k]);
				}
			}
			snprintf(value, sizeof value, type == EventKeywordInformation ? "0x%016llx" : "0x%02llx",
				 (unsigned long long)a->FieldInfoArray[i].Value);
			printf("%-20s%-20s%s%s\n", value, text[0], *text[1] ? " " : "", text[1]);
		}
	}
	free(mem);
}

int logman_query_providers(const struct cli_args *a, const char *which)
{
	uint32_t pid = (uint32_t)((const struct logman_options *)a->given)->pid;
	if (which) {
		struct session_provider p;
		GUID g;
		char name[256];
		if (!controller_provider(which, &p)) {
			return cli_usage(a, "'%s' is neither a GUID nor a provider's name", which);
		}
		memcpy(&g, p.guid.b, 16);
		struct known_list all = {0};
		know_all(&all);
		bool kernel = session_provider_is_kernel(&p), known = kernel;
		for (size_t i = 0; i < all.count; i++) {
			known = known || memcmp(&all.at[i].guid, &g, sizeof g) == 0;
		}
		free(all.at);
		if (!known) {
			return logman_error(ERROR_WMI_GUID_NOT_FOUND,
					    "no manifest of this name is installed and no process "
					    "has registered it",
					    "'logman query providers' lists both; a provider that "
					    "is not there yet can be enabled all the same");
		}
		controller_provider_name(&g, name, sizeof name);
		printf("\n%-40s %s\n%s\n", "Provider", "GUID", RULE);
		put_known(&g, name);
		if (kernel) {
			const char *keyword, *what;
			uint64_t bit;
			printf("\n%-20s%-21s%s\n%s\n", "Value", "Keyword", "Description", RULE);
			for (int i = 0; controller_kernel_keyword(i, &keyword, &bit, &what); i++) {
				printf("0x%016llx  %-20s %s\n", (unsigned long long)bit, keyword, what);
			}
			return logman_done();
		}
		put_fields(&g, EventKeywordInformation, "Keyword");
		put_fields(&g, EventLevelInformation, "Level");
		printf("\nPID                 Image\n%s\n", RULE);
		controller_each_instance(&g, put_process, NULL);
		return logman_done();
	}
	struct known_list all = {0};
	struct session_provider kernel;
	GUID kernel_guid;
	controller_provider("Windows Kernel Trace", &kernel);
	memcpy(&kernel_guid, kernel.guid.b, 16);
	know(&all, &kernel_guid, kernel.name);
	know_all(&all);
	qsort(all.at, all.count, sizeof *all.at, compare_names);
	printf("\n%-40s %s\n%s\n", "Provider", "GUID", RULE);
	for (size_t i = 0; i < all.count; i++) {
		uint32_t wanted = pid;
		if (pid) {
			controller_each_instance(&all.at[i].guid, is_pid, &wanted);
		}
		if (!pid || wanted == 0) {
			put_known(&all.at[i].guid, all.at[i].name);
		}
	}
	free(all.at);
	return logman_done();
}
