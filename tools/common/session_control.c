/* SPDX-License-Identifier: MIT
 * Who is enabled in which session, and what autologgers left.
 */
#include "tools/common/session_control.h"

#include <stdlib.h>

/* ---- who is enabled
 * ---------------------------------------------------------------------------- */

uint32_t controller_ask(TRACE_QUERY_INFO_CLASS what, const GUID *in, uint8_t **ret, ULONG *ret_len)
{
	ULONG need = 0;
	uint8_t *buf = NULL;
	uint32_t code = ERROR_SUCCESS;
	for (int i = 0; i < 8; i++) {
		code = EnumerateTraceGuidsEx(what, (PVOID)(uintptr_t)in, in ? sizeof *in : 0, buf, need, &need);
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
	if (code) {
		free(buf);
		buf = NULL;
		need = 0;
	}
	*ret = buf;
	*ret_len = need;
	return code;
}

void controller_each_instance(const GUID *g, controller_instance_fn *each, void *ctx)
{
	uint8_t *buf = NULL;
	ULONG n;
	TRACE_GUID_INFO info;
	if (controller_ask(TraceGuidQueryInfo, g, &buf, &n) != ERROR_SUCCESS || n < sizeof info) {
		free(buf);
		return;
	}
	memcpy(&info, buf, sizeof info);
	size_t at = sizeof info;
	for (ULONG i = 0; i < info.InstanceCount && at + sizeof(TRACE_PROVIDER_INSTANCE_INFO) <= n; i++) {
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&inst, buf + at, sizeof inst);
		size_t enables = at + sizeof inst;
		if (enables + inst.EnableCount * sizeof(TRACE_ENABLE_INFO) > n || !each(ctx, g, &inst, buf + enables) ||
		    inst.NextOffset == 0) {
			break;
		}
		at += inst.NextOffset;
	}
	free(buf);
}

struct enabled {
	uint16_t session_id;
	bool any;
	uint32_t processes;
	TRACE_ENABLE_INFO found;
	controller_enabled_fn *each;
	void *ctx;
};

static bool of_session(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	struct enabled *w = ctx;
	for (ULONG k = 0; k < inst->EnableCount; k++) {
		TRACE_ENABLE_INFO e = controller_enable_at(enables, k);
		if (e.LoggerId == w->session_id) {
			w->found = e;
			w->any = true;
			w->processes += !(inst->Flags & TRACE_PROVIDER_FLAG_PRE_ENABLE);
		}
	}
	return true;
}

static bool one_guid(void *ctx, const GUID *g)
{
	struct enabled *w = ctx;
	w->any = false;
	w->processes = 0;
	controller_each_instance(g, of_session, w);
	return !w->any || w->each(w->ctx, g, &w->found, w->processes);
}

static int compare_guids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(GUID));
}

uint32_t controller_each_guid(controller_guid_fn *each, void *ctx)
{
	uint8_t *buf;
	ULONG n;
	uint32_t code = controller_ask(TraceGuidQueryList, NULL, &buf, &n);
	if (code) {
		return code;
	}
	if (n) {
		qsort(buf, n / sizeof(GUID), sizeof(GUID), compare_guids);
	}
	for (ULONG at = 0; at + sizeof(GUID) <= n; at += sizeof(GUID)) {
		GUID g;
		memcpy(&g, buf + at, sizeof g);
		if (!each(ctx, &g)) {
			break;
		}
	}
	free(buf);
	return ERROR_SUCCESS;
}

uint32_t controller_each_enabled(uint16_t session_id, controller_enabled_fn *each, void *ctx)
{
	struct enabled w = {.session_id = session_id, .each = each, .ctx = ctx};
	return controller_each_guid(one_guid, &w);
}

void controller_forget_backlog(const char *name, bool system)
{
	char dir[4096], conf[4200], path[4600];
	struct cli_props p;
	if (cli_session_query(name, &p) == ERROR_SUCCESS ||
	    session_path(SESSION_STATE, system, name, conf, sizeof conf) < 0) {
		return; /* a session that runs takes them along when it is stopped */
	}
	const char *base = strrchr(conf, '/') + 1;
	int length = (int)strlen(base) - 5; /* without .conf */
	if (session_dir(SESSION_STATE, system, dir, sizeof dir) == 0) {
		snprintf(path, sizeof path, "%s/realtime/EtwRTKeep-%.*s.etl", dir, length, base);
		unlink(path);
	}
	if (openetw_runtime_directory(dir, sizeof dir) == ERROR_SUCCESS) {
		snprintf(path, sizeof path, "%s/EtwRTKeep-%.*s", dir, length, base);
		unlink(path);
	}
}
