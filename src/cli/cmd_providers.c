/* SPDX-License-Identifier: MIT
 * providers: who is registered, in which processes, enabled for which session.
 */
#include "cli/cli.h"

#include <stdlib.h>

static const struct cli_option options[] = {
	{'j', "json", NULL, "one JSON object a line", NULL},
	{0},
};

/* The whole answer of one class, grown until it fits. */
static uint32_t ask(TRACE_QUERY_INFO_CLASS what, const GUID *in, uint8_t **ret, ULONG *ret_len)
{
	ULONG need = 0;
	uint8_t *buf = NULL;
	uint32_t code;
	for (int i = 0; i < 8; i++) {
		code = EnumerateTraceGuidsEx(what, (PVOID)(uintptr_t)in, in ? sizeof *in : 0, buf,
					     need, &need);
		if (code != ERROR_INSUFFICIENT_BUFFER) {
			break;
		}
		need += 256; /* providers come and go between the calls */
		uint8_t *bigger = realloc(buf, need);
		if (!bigger) {
			free(buf);
			return ERROR_NOT_ENOUGH_MEMORY;
		}
		buf = bigger;
	}
	*ret = buf;
	*ret_len = need;
	return code;
}

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

static void show(const GUID *g, bool json)
{
	uint8_t *buf = NULL;
	ULONG n = 0;
	char guid[37];
	cli_guid_text(g, guid);
	if (ask(TraceGuidQueryInfo, g, &buf, &n) != ERROR_SUCCESS || n < sizeof(TRACE_GUID_INFO)) {
		free(buf);
		return;
	}
	TRACE_GUID_INFO info;
	memcpy(&info, buf, sizeof info);
	size_t at = sizeof info;
	for (ULONG i = 0; i < info.InstanceCount && at + sizeof(TRACE_PROVIDER_INSTANCE_INFO) <= n;
	     i++) {
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&inst, buf + at, sizeof inst);
		char exe[64];
		exe_of(inst.Pid, exe, sizeof exe);
		const char *kind = (inst.Flags & TRACE_PROVIDER_FLAG_PRE_ENABLE) ? "pre-enabled"
				   : (inst.Flags & TRACE_PROVIDER_FLAG_LEGACY)	 ? "classic"
										 : "manifest";
		if (json) {
			printf("{\"guid\":\"%s\",\"pid\":%u,\"process\":\"%s\",\"kind\":\"%s\","
			       "\"enabled\":[",
			       guid, inst.Pid, exe, kind);
		} else {
			printf("%s  %8u  %-16s %-11s", guid, inst.Pid, exe[0] ? exe : "-", kind);
		}
		for (ULONG k = 0; k < inst.EnableCount; k++) {
			TRACE_ENABLE_INFO e;
			size_t off = at + sizeof inst + k * sizeof e;
			if (off + sizeof e > n) {
				break;
			}
			memcpy(&e, buf + off, sizeof e);
			if (json) {
				printf("%s{\"session\":%u,\"level\":%u,\"any\":\"0x%llX\",\"all\":"
				       "\"0x%llX\"}",
				       k ? "," : "", e.LoggerId, e.Level, e.MatchAnyKeyword,
				       e.MatchAllKeyword);
			} else {
				printf(" [session %u level %u any 0x%llX]", e.LoggerId, e.Level,
				       e.MatchAnyKeyword);
			}
		}
		puts(json ? "]}" : "");
		if (inst.NextOffset == 0) {
			break;
		}
		at += inst.NextOffset;
	}
	free(buf);
}

static int run(struct cli_args *a)
{
	uint8_t *buf = NULL;
	ULONG n = 0;
	bool json = cli_flag(a, "json");
	uint32_t code = ask(TraceGuidQueryList, NULL, &buf, &n);
	if (code) {
		free(buf);
		return cli_fail(a, code, "cannot list providers");
	}
	if (n == 0 && !json) {
		puts("no providers are registered or enabled (providers become visible once etwd "
		     "runs: start a session)");
	} else if (!json) {
		printf("%-36s  %8s  %-16s %-11s %s\n", "GUID", "PID", "PROCESS", "KIND", "ENABLED");
	}
	for (ULONG i = 0; i + sizeof(GUID) <= n; i += sizeof(GUID)) {
		GUID g;
		memcpy(&g, buf + i, sizeof g);
		show(&g, json);
	}
	free(buf);
	return CLI_OK;
}

const struct cli_command cli_providers = {
	.name = "providers",
	.synopsis = "[--json]",
	.summary = "List registered and enabled providers, their processes and who listens.",
	.details = "JSON is one object a line: guid, pid, process, kind (manifest, classic, "
		   "pre-enabled) and enabled, a list\n"
		   "of session, level, any, all. Examples:\n"
		   "  openetw providers\n"
		   "  openetw providers --json | jq -r 'select(.enabled != []) | .process'\n",
	.options = options,
	.run = run,
};
