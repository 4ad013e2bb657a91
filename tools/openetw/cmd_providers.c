/* SPDX-License-Identifier: MIT
 * providers: who is registered, in which processes, enabled for which session.
 */
#include "tools/common/session_control.h"
#include "tools/common/table.h"

#include <stdlib.h>

struct providers_options {
	bool json;
};
static const struct cli_option options[] = {
	CLI_FLAG(providers_options, json, 'j', "json", "one JSON object a line"),
	{0},
};

static void exe_of(ULONG pid, char *out, size_t cap)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/comm", pid);
	FILE *f = fopen(path, "re");
	out[0] = 0;
	if (f) {
		if (fgets(out, (int)cap, f)) {
			out[strcspn(out, "\n")] = 0;
		}
		fclose(f);
	}
}

struct listing {
	bool json;
	uint32_t rows;
	struct table *table; /* when it is text */
};

static void put_json(const char *guid, const char *name, const char *exe, const char *kind,
		     const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	struct strbuf b = {0};
	strbuf_addf(&b, "{\"guid\":\"%s\",\"name\":", guid);
	strbuf_add_json(&b, name, strlen(name));
	strbuf_addf(&b, ",\"pid\":%u,\"process\":", inst->Pid);
	strbuf_add_json(&b, exe, strlen(exe)); /* a process calls itself what it likes */
	strbuf_addf(&b, ",\"kind\":\"%s\",\"enabled\":[", kind);
	for (ULONG k = 0; k < inst->EnableCount; k++) {
		TRACE_ENABLE_INFO e = controller_enable_at(enables, k);
		strbuf_addf(&b, "%s{\"session\":%u,\"level\":%u,\"any\":\"0x%llX\",\"all\":\"0x%llX\"}", k ? "," : "",
			    e.LoggerId, e.Level, e.MatchAnyKeyword, e.MatchAllKeyword);
	}
	strbuf_adds(&b, "]}");
	puts(b.s && !b.failed ? b.s : "{}");
	strbuf_finish(&b);
}

static void add_row(struct table *t, const char *guid, const char *name, const char *exe, const char *kind,
		    const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	struct strbuf who = {0};
	for (ULONG k = 0; k < inst->EnableCount; k++) {
		TRACE_ENABLE_INFO e = controller_enable_at(enables, k);
		strbuf_addf(&who, "%s[session %u level %u any 0x%llX]", k ? " " : "", e.LoggerId, e.Level,
			    e.MatchAnyKeyword);
	}
	table_cell(t, "%s", guid);
	table_cell(t, "%s", *name == '{' ? "-" : name);
	table_cell(t, "%u", inst->Pid);
	table_cell(t, "%s", exe[0] ? exe : "-");
	table_cell(t, "%s", kind);
	table_cell(t, "%s", who.failed ? "?" : who.s ? who.s : "");
	strbuf_finish(&who);
}

static bool instance(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	struct listing *l = ctx;
	char guid[37], name[256], exe[64];
	const char *kind = (inst->Flags & TRACE_PROVIDER_FLAG_PRE_ENABLE) ? "pre-enabled"
			   : (inst->Flags & TRACE_PROVIDER_FLAG_LEGACY)   ? "classic"
									  : "manifest";
	cli_guid_text(g, guid);
	controller_provider_name(g, name, sizeof name);
	exe_of(inst->Pid, exe, sizeof exe);
	if (l->json) {
		put_json(guid, name, exe, kind, inst, enables);
	} else {
		add_row(l->table, guid, name, exe, kind, inst, enables);
	}
	l->rows++;
	return true;
}

static bool provider(void *ctx, const GUID *g)
{
	controller_each_instance(g, instance, ctx);
	return true;
}

static int run(struct cli_args *a)
{
	const struct providers_options *o = a->given;
	static const struct table_column columns[] = {
		{"PROVIDER"}, {"NAME", .cut = true}, {"PID", .right = true}, {"PROCESS", .cut = true}, {"KIND"},
		{"ENABLED"}};
	struct listing l = {.json = o->json};
	if (a->count) {
		return cli_usage(a, "no words are expected, such as '%s'", a->words[0]);
	}
	l.table = l.json ? NULL : table_create(columns, BASE_ARRAY_LEN(columns), 0);
	uint32_t code = controller_each_guid(provider, &l);
	int r = l.json ? 0 : table_print(stdout, l.table);
	if (code) {
		return cli_fail(a, code, "cannot list providers");
	}
	if (l.rows == 0 && !l.json) {
		puts("no providers are registered or enabled (providers become visible once etwd "
		     "runs: start a session)");
	}
	return r < 0 ? CLI_FAILED : CLI_OK;
}

const struct cli_command cli_providers = {
	.name = "providers",
	.synopsis = "[--json]",
	.summary = "List registered and enabled providers, their processes and who listens.",
	.details = "JSON is one object a line: guid, name, pid, process, kind (manifest, classic, "
		   "pre-enabled) and enabled, a list\n"
		   "of session, level, any, all. Examples:\n"
		   "  openetw providers\n"
		   "  openetw providers --json | jq -r 'select(.enabled != []) | .process'\n",
	.options = options,
	CLI_INTO(providers_options),
	.run = run,
};
