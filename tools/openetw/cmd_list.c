/* SPDX-License-Identifier: MIT
 * list and query: the sessions and one session.
 */
#include "tools/common/session_options.h"
#include "tools/common/cli.h"
#include "base/vec.h"

#include "tools/common/session_control.h"
#include "tools/common/kernel_options.h"
#include "tools/common/table.h"
#include "base/parse.h"

#include <pwd.h>
#include <stdlib.h>

#define LIST_MAX 1024

struct list_options {
	bool json, daemon;
};
static const struct cli_option options[] = {
	CLI_FLAG(list_options, json, 'j', "json", "one JSON object a line"),
	{0},
};
static const struct cli_option list_options[] = {
	CLI_FLAG(list_options, json, 'j', "json", "one JSON object a line"),
	CLI_FLAG(list_options, daemon, 0, "daemon", "the counters of etwd itself"),
	{0},
};

/* Behind the next `c` that is in no string, or the end. */
static char *beyond(char *at, char c)
{
	for (bool string = false; *at; at++) {
		if (string && *at == '\\' && at[1]) {
			at++;
		} else if (*at == '"') {
			string = !string;
		} else if (*at == c && !string) {
			return at + 1;
		}
	}
	return at;
}

/* {"key":number,…} as lines, or as it is. */
static int list_daemon(struct cli_args *a, bool json)
{
	char text[16384];
	uint32_t code = openetw_daemon_counters(text, sizeof text);
	if (code) {
		return cli_fail(a, code, "no etwd runs");
	}
	if (json) {
		puts(text);
		return CLI_OK;
	}
	/* The one list in it: an object a line. */
	static const char key[] = "\"processes_that_lost\":[";
	char *list = strstr(text, key), *after = list ? beyond(list + sizeof key - 1, ']') : NULL;
	if (after) {
		for (char *at = list + sizeof key - 1; *at == '{';) {
			char *end = beyond(at, '}');
			printf("%-22s %.*s\n", "process_that_lost", (int)(end - at), at);
			at = end + (*end == ',');
		}
		memmove(list, after, strlen(after) + 1);
	}
	for (char *s = text; (s = strchr(s, '"')) != NULL;) {
		char *end = strchr(s + 1, '"');
		char *value = end ? strchr(end, ':') : NULL;
		if (!value) {
			break;
		}
		size_t digits = strcspn(value + 1, ",}");
		printf("%-22.*s %.*s\n", (int)(end - s - 1), s + 1, (int)digits, value + 1);
		s = value + 1 + digits;
	}
	return CLI_OK;
}

/* A session's enabled providers: how many, and the names of a few. */
struct enabled {
	uint32_t count;
	struct strbuf names;
};

/* Who has what, asked once: a question for each session and provider would be thousands. */
struct pair {
	uint16_t session;
	GUID provider;
};
static struct {
	struct pair *at;
	size_t count, cap;
	bool asked;
} pairs;

static bool add_pairs(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	size_t *from = ctx; /* this provider's pairs begin there */
	for (ULONG i = 0; i < inst->EnableCount; i++) {
		uint16_t session = controller_enable_at(enables, i).LoggerId;
		size_t k = *from;
		while (k < pairs.count && pairs.at[k].session != session) {
			k++;
		}
		if (k < pairs.count) {
			continue; /* of another process */
		}
		if (!VEC_ROOM(pairs.at, pairs.count, pairs.cap)) {
			return false;
		}
		pairs.at[pairs.count++] = (struct pair){session, *g};
	}
	return true;
}

static bool each_provider(void *ctx, const GUID *g)
{
	(void)ctx;
	size_t from = pairs.count;
	controller_each_instance(g, add_pairs, &from);
	return true;
}

static void enabled_in(const struct cli_props *p, struct enabled *ret)
{
	*ret = (struct enabled){0};
	if (!pairs.asked) {
		pairs.asked = true;
		controller_each_guid(each_provider, NULL);
	}
	for (size_t i = 0; i < pairs.count; i++) {
		if (pairs.at[i].session == (uint16_t)p->p.Wnode.HistoricalContext && ret->count++ < 3) {
			char name[256];
			controller_provider_name(&pairs.at[i].provider, name, sizeof name);
			strbuf_addf(&ret->names, "%s%s", ret->names.len ? ", " : "", name);
		}
	}
	if (ret->count > 3) {
		strbuf_addf(&ret->names, " and %u more", ret->count - 3);
	}
}

/* Flags of a kernel session, how many events have stacks, and what its collector costs. */
static bool kernel_of(const char *name, struct openetw_kernel *ret, char *flags, size_t cap)
{
	struct kernel_mask m;
	*ret = (struct openetw_kernel){.size = sizeof *ret};
	if (openetw_session_kernel(name, ret) != ERROR_SUCCESS) {
		return false;
	}
	memcpy(m.word, ret->masks, sizeof m.word);
	kernel_mask_names(&m, flags, cap);
	return true;
}

static const char *owner_name(uint32_t uid, char *out, size_t cap)
{
	struct passwd pw, *found = NULL;
	char mem[4096];
	if (getpwuid_r(uid, &pw, mem, sizeof mem, &found) == 0 && found) {
		snprintf(out, cap, "%s", pw.pw_name);
	} else {
		snprintf(out, cap, "%u", uid);
	}
	return out;
}

/* "3 d 04 h", "12 min" … */
static void age_text(uint64_t from, uint64_t to, char *out, size_t cap)
{
	uint64_t s = to > from ? (to - from) / 10000000 : 0;
	if (s < 120) {
		snprintf(out, cap, "%llus", (unsigned long long)s);
	} else if (s < 7200) {
		snprintf(out, cap, "%llumin", (unsigned long long)(s / 60));
	} else if (s < 48 * 3600) {
		snprintf(out, cap, "%lluh%02llu", (unsigned long long)(s / 3600), (unsigned long long)(s / 60 % 60));
	} else {
		snprintf(out, cap, "%llud%02lluh", (unsigned long long)(s / 86400),
			 (unsigned long long)(s / 3600 % 24));
	}
}

/* When and why it will end by itself; "" when it will not. */
static void ending_text(const struct openetw_session *s, uint64_t now, char *out, size_t cap)
{
	char part[64];
	size_t n = 0;
	out[0] = 0;
	if (s->expires) {
		age_text(now, s->expires, part, sizeof part);
		n += (size_t)snprintf(out + n, cap - n, "in %s", part);
	}
	if (s->quota_bytes && n < cap) {
		cli_size_text(s->quota_bytes, part, sizeof part);
		n += (size_t)snprintf(out + n, cap - n, "%sat %s", n ? ", " : "", part);
	}
	if (s->owner_pid && n < cap) {
		snprintf(out + n, cap - n, "%swith process %u", n ? ", " : "", s->owner_pid);
	}
}

static void print_json(const struct cli_props *p, const struct openetw_loss *l)
{
	struct strbuf b = {0};
	char guid[37];
	cli_guid_text(&p->p.Wnode.Guid, guid);
	strbuf_adds(&b, "{\"name\":");
	strbuf_add_json(&b, p->name, strlen(p->name));
	strbuf_adds(&b, ",\"file\":");
	strbuf_add_json(&b, p->file, strlen(p->file));
	strbuf_addf(&b,
		    ",\"id\":%llu,\"guid\":\"%s\",\"mode\":\"0x%X\",\"clock\":%u,\"bufferSizeKb\":%u,"
		    "\"minimumBuffers\":%u,\"maximumBuffers\":%u,\"buffers\":%u,\"freeBuffers\":%u,"
		    "\"buffersWritten\":%u,\"maximumFileSize\":%u,\"flushTimer\":%u,\"eventsLost\":%u,"
		    "\"logBuffersLost\":%u,\"realTimeBuffersLost\":%u",
		    (unsigned long long)p->p.Wnode.HistoricalContext, guid, p->p.LogFileMode, p->p.Wnode.ClientContext,
		    p->p.BufferSize, p->p.MinimumBuffers, p->p.MaximumBuffers, p->p.NumberOfBuffers, p->p.FreeBuffers,
		    p->p.BuffersWritten, p->p.MaximumFileSize, p->p.FlushTimer, p->p.EventsLost, p->p.LogBuffersLost,
		    p->p.RealTimeBuffersLost);
	struct openetw_session more = {.size = sizeof more};
	if (openetw_session_query(p->name, &more) == ERROR_SUCCESS) {
		char started[TIME_TEXT_SIZE], expires[TIME_TEXT_SIZE];
		struct enabled e;
		format_time(more.started, false, started);
		format_time(more.expires, false, expires);
		enabled_in(p, &e);
		strbuf_addf(&b, ",\"started\":\"%s\",\"ownerUid\":%u,\"providers\":%u", started, more.owner_uid,
			    e.count);
		if (more.expires) {
			strbuf_addf(&b, ",\"expires\":\"%s\"", expires);
		}
		struct openetw_kernel k;
		char flags[1200];
		if (kernel_of(p->name, &k, flags, sizeof flags)) {
			strbuf_addf(&b,
				    ",\"kernel\":{\"flags\":\"%s\",\"stacks\":%u,\"collectorPid\":%u,"
				    "\"collectorCpuNs\":%llu,\"collectorMemory\":%llu,\"restarts\":%u,\"note\":",
				    flags, k.stacks, k.collector_pid, (unsigned long long)k.cpu_ns,
				    (unsigned long long)k.memory, k.restarts);
			strbuf_add_json(&b, k.note, strlen(k.note));
			strbuf_adds(&b, "}");
		}
		strbuf_addf(&b, ",\"quotaBytes\":%llu,\"ownerPid\":%u", (unsigned long long)more.quota_bytes,
			    more.owner_pid);
		strbuf_finish(&e.names);
	}
	if (l && l->file_state) {
		char time[TIME_TEXT_SIZE];
		format_time(l->file_time, false, time);
		strbuf_addf(&b, ",\"fileState\":\"%s\",\"fileStateTime\":\"%s\"", cli_file_state(l), time);
	}
	if (l) {
		strbuf_addf(&b,
			    ",\"events\":%llu,\"bytesWritten\":%llu,\"loss\":{\"poolFull\":%llu,"
			    "\"nesting\":%llu,"
			    "\"tooBig\":%llu,\"detached\":%llu,\"rejected\":%llu,\"noBuffer\":%llu,"
			    "\"diskEvents\":%llu,\"diskBuffers\":%llu,\"realTimeBuffers\":%llu,"
			    "\"realTimeEvents\":%llu,\"torn\":%llu,\"overwritten\":%llu,"
			    "\"fileGoneEvents\":%llu,\"fileGoneBuffers\":%llu,\"realTimeRefused\":%llu,"
			    "\"disbelieved\":%llu}",
			    (unsigned long long)l->events, (unsigned long long)l->bytes_written,
			    (unsigned long long)l->pool_full, (unsigned long long)l->nesting,
			    (unsigned long long)l->too_big, (unsigned long long)l->detached,
			    (unsigned long long)l->rejected, (unsigned long long)l->no_buffer,
			    (unsigned long long)l->disk_events, (unsigned long long)l->disk_buffers,
			    (unsigned long long)l->realtime_buffers, (unsigned long long)l->realtime_events,
			    (unsigned long long)l->torn, (unsigned long long)l->overwritten,
			    (unsigned long long)l->gone_events, (unsigned long long)l->gone_buffers,
			    (unsigned long long)l->realtime_refused, (unsigned long long)l->disbelieved);
	}
	strbuf_adds(&b, "}");
	puts(b.s);
	strbuf_finish(&b);
}

/* What etwd refuses at; docs/architecture.md, Trust. */
#define BUFFER_BYTES_LIMIT (8ull << 30)
#define PROVIDER_LIMIT     64u

/* Who holds how much of what etwd has limits for. */
static void print_limits(const struct cli_props *all, ULONG count)
{
	uint64_t total = 0, most = 0;
	ULONG who = 0;
	char sum[32], limit[32], largest[32];
	for (ULONG i = 0; i < count; i++) {
		uint64_t bytes = (uint64_t)all[i].p.BufferSize * 1024 * all[i].p.MaximumBuffers;
		total += bytes;
		if (bytes > most) {
			most = bytes;
			who = i;
		}
	}
	cli_size_text(total, sum, sizeof sum);
	cli_size_text(BUFFER_BYTES_LIMIT, limit, sizeof limit);
	cli_size_text(most, largest, sizeof largest);
	printf("\nlimits: %u of %u sessions; buffers may grow to %s of %s, most by '%s' (%s)\n", count, LIST_MAX, sum,
	       limit, all[who].name, largest);
	/* A provider that is full is what the next enable fails with. */
	uint8_t *buf;
	ULONG n;
	if (controller_ask(TraceGuidQueryList, NULL, &buf, &n) != ERROR_SUCCESS) {
		return;
	}
	for (ULONG at = 0; at + sizeof(GUID) <= n; at += sizeof(GUID)) {
		GUID g;
		uint8_t *info;
		ULONG size;
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&g, buf + at, sizeof g);
		if (controller_ask(TraceGuidQueryInfo, &g, &info, &size) != ERROR_SUCCESS) {
			continue;
		}
		if (size >= sizeof(TRACE_GUID_INFO) + sizeof inst) {
			memcpy(&inst, info + sizeof(TRACE_GUID_INFO), sizeof inst);
			if (inst.EnableCount >= PROVIDER_LIMIT / 2) {
				char name[256];
				controller_provider_name(&g, name, sizeof name);
				printf("        %s is enabled in %u of %u sessions\n", name, inst.EnableCount,
				       PROVIDER_LIMIT);
			}
		}
		free(info);
	}
	free(buf);
}

static void add_row(struct table *t, const struct cli_props *p, uint64_t now)
{
	struct openetw_session s = {.size = sizeof s};
	struct enabled e;
	char mode[128], age[32] = "?", size[32] = "?", owner[64] = "?", ending[128] = "";
	cli_mode_text(p->p.LogFileMode, mode, sizeof mode);
	if (openetw_session_query(p->name, &s) == ERROR_SUCCESS) {
		age_text(s.started, now, age, sizeof age);
		cli_size_text(s.bytes_written, size, sizeof size);
		owner_name(s.owner_uid, owner, sizeof owner);
		ending_text(&s, now, ending, sizeof ending);
	}
	enabled_in(p, &e);
	table_cell(t, "%s", p->name);
	table_cell(t, "%s", mode);
	table_cell(t, "%s", age);
	table_cell(t, "%s", size);
	table_cell(t, "%u", p->p.EventsLost);
	table_cell(t, "%s", owner);
	table_cell(t, "%s", p->file);
	if (e.count) {
		table_line(t, 1, "%u provider%s: %s", e.count, e.count == 1 ? "" : "s", e.names.s);
	}
	struct openetw_kernel k;
	char flags[1200];
	if (kernel_of(p->name, &k, flags, sizeof flags)) {
		cli_size_text(k.memory, size, sizeof size);
		table_line(t, 1, "kernel: %s", flags);
		table_line(t, 1, "collector: process %u, %.3f s of processor time, %s", k.collector_pid,
			   (double)k.cpu_ns / 1e9, size);
		if (k.note[0]) {
			table_line(t, 1, "%s", k.note);
		}
	}
	if (ending[0]) {
		table_line(t, 1, "ends %s", ending);
	}
	struct openetw_loss loss = {.size = sizeof loss};
	char state[400] = "";
	if (openetw_session_loss(p->name, &loss) == ERROR_SUCCESS) {
		cli_file_state_text(&loss, state, sizeof state);
	}
	if (state[0]) {
		table_line(t, 1, "%s", state);
	}
	strbuf_finish(&e.names);
}

/* Those in other processes, which QueryAllTraces leaves out, after the others. How many. */
static ULONG add_privates(struct cli_props *all, ULONG count)
{
	static char names[65536];
	ULONG more = 0;
	if (openetw_private_sessions(names, sizeof names) != ERROR_SUCCESS) {
		return 0;
	}
	for (const char *n = names; *n && count + more < LIST_MAX; n += strlen(n) + 1) {
		more += cli_session_query(n, &all[count + more]) == ERROR_SUCCESS &&
			(all[count + more].p.LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
	}
	return more;
}

static void print_place(void)
{
	char path[512], note[256];
	if (openetw_etwd_place(path, sizeof path, note, sizeof note) == ERROR_SUCCESS) {
		printf("etwd: %s%s%s%s\n", path, note[0] ? " (" : "", note, note[0] ? ")" : "");
	}
}

static int run_list(struct cli_args *a)
{
	const struct list_options *o = a->given;
	if (a->count) {
		return cli_usage(a, "no words are expected, such as '%s'; 'openetw query NAME' tells of one session",
				 a->words[0]);
	}
	if (o->daemon) {
		return list_daemon(a, o->json);
	}
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
	ULONG own = BASE_MIN(count, (ULONG)LIST_MAX);
	count = own + (code == ERROR_SUCCESS ? add_privates(all, own) : 0);
	if (code != ERROR_SUCCESS && code != ERROR_MORE_DATA) {
		status = cli_fail(a, code, "cannot list sessions");
	} else if (o->json) {
		for (ULONG i = 0; i < count && i < LIST_MAX; i++) {
			struct openetw_loss l = {.size = sizeof l};
			print_json(&all[i], openetw_session_loss(all[i].name, &l) ? NULL : &l);
		}
	} else if (count == 0) {
		puts("no sessions are running");
	} else {
		uint64_t now = clock_filetime();
		static const struct table_column columns[] = {{"NAME", .cut = true},   {"MODE", .cut = true},
							      {"AGE", .right = true},  {"WRITTEN", .right = true},
							      {"LOST", .right = true}, {"OWNER", .cut = true},
							      {"FILE", .cut = true}};
		struct table *t = table_create(columns, BASE_ARRAY_LEN(columns), 0);
		for (ULONG i = 0; i < count && i < LIST_MAX; i++) {
			add_row(t, &all[i], now);
		}
		status = table_print(stdout, t) < 0 ? CLI_FAILED : CLI_OK;
		if (own > 0) {
			print_limits(all, own);
		}
	}
	if (status == CLI_OK && !o->json) {
		print_place();
	}
	free(all);
	free(array);
	return status;
}

static void print_kernel(const char *name)
{
	struct openetw_kernel k;
	char flags[1200], size[32];
	if (!kernel_of(name, &k, flags, sizeof flags)) {
		return;
	}
	printf("kernel         %s; stacks with %u events\n", flags, k.stacks);
	cli_size_text(k.memory, size, sizeof size);
	printf("collector      process %u, %.3f s of processor time, %s for all kernel sessions\n", k.collector_pid,
	       (double)k.cpu_ns / 1e9, size);
	if (k.note[0]) {
		printf("note           %s\n", k.note);
	}
}

static int run_query(struct cli_args *a)
{
	const struct list_options *o = a->given;
	if (a->count != 1) {
		return cli_usage(a, "one session name is needed");
	}
	struct cli_props p;
	struct openetw_loss l = {.size = sizeof l};
	uint32_t code = cli_session_query(a->words[0], &p);
	if (code) {
		return cli_fail_session(a, code, a->words[0], "cannot query '%s'", a->words[0]);
	}
	bool known = openetw_session_loss(a->words[0], &l) == ERROR_SUCCESS;
	if (o->json) {
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
	printf("clock          %s\n", p.p.Wnode.ClientContext < 4 ? clocks[p.p.Wnode.ClientContext] : "?");
	printf("buffer size    %u KB\n", p.p.BufferSize);
	printf("buffers        %u (%u to %u), %u free\n", p.p.NumberOfBuffers, p.p.MinimumBuffers, p.p.MaximumBuffers,
	       p.p.FreeBuffers);
	printf("maximum size   %u\n", p.p.MaximumFileSize);
	printf("flush timer    %u %s\n", p.p.FlushTimer, p.p.LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER ? "ms" : "s");
	struct openetw_session more = {.size = sizeof more};
	if (openetw_session_query(p.name, &more) == ERROR_SUCCESS) {
		char age[32], owner[64], ending[128];
		uint64_t now = clock_filetime();
		age_text(more.started, now, age, sizeof age);
		ending_text(&more, now, ending, sizeof ending);
		printf("age            %s\n", age);
		printf("owner          %s\n", owner_name(more.owner_uid, owner, sizeof owner));
		printf("ends           %s\n", ending[0] ? ending : "when it is stopped");
	}
	struct enabled e;
	enabled_in(&p, &e);
	printf("providers      %u%s%s\n", e.count, e.count ? ": " : "", e.count ? e.names.s : "");
	strbuf_finish(&e.names);
	print_kernel(p.name);
	cli_print_totals(stdout, &p.p, known ? &l : NULL);
	return CLI_OK;
}

const struct cli_command cli_list = {
	.name = "list",
	.synopsis = "[--json] [--daemon]",
	.summary = "List the running sessions.",
	.details = "Shows age, bytes written, events lost, owner, providers, when a session will end by "
		   "itself, and who holds\n"
		   "what etwd has limits for, and where etwd is. JSON is one object a line with the keys of 'openetw "
		   "query --json'. Examples:\n"
		   "  openetw list\n"
		   "  openetw list --json | jq -r .name\n"
		   "  openetw list --daemon        # connections, memory, what a killed etwd left behind\n",
	.options = list_options,
	CLI_INTO(list_options),
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
		   "realTimeBuffers, realTimeEvents, torn, overwritten, fileGoneEvents, fileGoneBuffers; fileState\n"
		   "and fileStateTime when somebody moved, truncated, removed or replaced the log file; started, "
		   "ownerUid, providers, "
		   "expires, quotaBytes,\n"
		   "ownerPid. Examples:\n"
		   "  openetw query web\n"
		   "  openetw query web --json | jq .loss\n",
	.options = options,
	CLI_INTO(list_options),
	.run = run_query,
	.complete = "session",
};
