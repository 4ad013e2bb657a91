/* SPDX-License-Identifier: MIT */
#include "tools/common/session_start.h"

#include "tools/common/output.h"

#include <unistd.h>

#define ENABLE_MS 5000u

static char why[500];

const char *cli_session_why(void)
{
	return why[0] ? why : openetw_last_error_text();
}

uint64_t cli_session_end(const struct etw_session *s)
{
	uint64_t end = s->end_filetime, now = clock_filetime();
	if (end == 0) {
		return UINT64_MAX;
	}
	/* Of one that is repeated it is a time of day; an hour more or less when the clocks change. */
	for (const uint64_t day = 24 * 3600 * 10000000ull; s->daily && end <= now;) {
		end += (now - end) / day * day + day;
	}
	return end;
}

/* ---- providers ---------------------------------------------------------------------------------- */

struct kernel_mask cli_session_kernel(const struct etw_session *s)
{
	struct kernel_mask all = s->kernel.mask, m;
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (session_provider_is_kernel(&s->provider[i])) {
			kernel_mask_from_flags((uint32_t)s->provider[i].any, &m);
			kernel_mask_add(&all, &m);
		}
	}
	return all;
}

static bool put_filter(void *filters, uint32_t type, const uint8_t *bytes, size_t n)
{
	return cli_filters_put((struct cli_filters *)filters, type, bytes, n);
}

static bool add_filters(const struct session_provider *p, struct cli_filters *f)
{
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		struct diag d = {0};
		if (p->filter[i][0] && !cli_filters_add(f, (enum session_filter)i, p->filter[i], &d)) {
			snprintf(why, sizeof why, "%s %s", session_filter_key((enum session_filter)i), d.text);
			return false;
		}
	}
	struct diag d = {0};
	if (session_expression_each(p, put_filter, f, &d) < 0) {
		snprintf(why, sizeof why, "Filter: %s", d.text[0] ? d.text : "needs more memory than there is");
		return false;
	}
	if (p->payload && !cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, p->payload, p->payload_bytes)) {
		snprintf(why, sizeof why, "the filter needs more memory than there is");
		return false;
	}
	return true;
}

uint32_t cli_session_enable(TRACEHANDLE session, const struct session_provider *p, uint32_t timeout_ms)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	why[0] = 0;
	if (!p->enabled) {
		return EnableTraceEx2(session, &g, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, timeout_ms, NULL);
	}
	struct cli_filters f;
	cli_filters_init(&f);
	uint32_t code = ERROR_INVALID_PARAMETER;
	if (add_filters(p, &f)) {
		ENABLE_TRACE_PARAMETERS params = {
			.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
			.EnableProperty = p->properties | (f.stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0),
			.EnableFilterDesc = f.count ? f.d : NULL,
			.FilterDescCount = f.count,
		};
		code = EnableTraceEx2(session, &g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, p->level, p->any, p->all,
				      timeout_ms, &params);
	}
	cli_filters_finish(&f);
	return code;
}

void cli_session_enable_tell(const struct session_provider *p)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	if (p->enabled) {
		cli_provider_tell(&g, p->name);
	}
}

/* ---- the start ---------------------------------------------------------------------------------- */

static void put_props(EVENT_TRACE_PROPERTIES *p, const struct session_properties *s)
{
	memcpy(&p->Wnode.Guid, s->guid.b, 16);
	p->Wnode.ClientContext = s->clock;
	p->LogFileMode = s->mode;
	p->BufferSize = s->buffer_kb;
	p->MinimumBuffers = s->minimum_buffers;
	p->MaximumBuffers = s->maximum_buffers;
	p->MaximumFileSize = s->maximum_file_size;
	p->FlushTimer = s->flush_timer;
}

/* In the processes that registered its GUID, which is its first provider's unless it has one. */
static uint32_t begin_private(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *r)
{
	struct {
		EVENT_TRACE_PROPERTIES_V2 p;
		char name[4096], file[4096];
	} b = {0};
	EVENT_FILTER_DESCRIPTOR chosen[4];
	ULONG n = 0;
	for (ULONG i = 0; i < how->scope_count && n < BASE_ARRAY_LEN(chosen); i++) {
		const EVENT_FILTER_DESCRIPTOR *f = &how->scope[i];
		if (f->Type == EVENT_FILTER_TYPE_PID || f->Type == EVENT_FILTER_TYPE_EXECUTABLE_NAME ||
		    f->Type == EVENT_FILTER_TYPE_CONTAINER) {
			chosen[n++] = *f;
		}
	}
	put_props((EVENT_TRACE_PROPERTIES *)&b.p, &s->props);
	if (guid_is_zero(&s->props.guid) && s->provider) {
		memcpy(&b.p.Wnode.Guid, s->provider[0].guid.b, 16);
	}
	b.p.Wnode.BufferSize = sizeof b;
	b.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES;
	b.p.VersionNumber = 2;
	b.p.FilterDescCount = n;
	b.p.FilterDesc = n ? chosen : NULL;
	b.p.LoggerNameOffset = (ULONG)((char *)b.name - (char *)&b);
	b.p.LogFileNameOffset = s->file[0] ? (ULONG)((char *)b.file - (char *)&b) : 0;
	snprintf(b.file, sizeof b.file, "%s", s->file);
	return cli_start_trace(&r->handle, s->name, (EVENT_TRACE_PROPERTIES *)&b.p);
}

static uint32_t begin(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *r)
{
	struct session_kernel kernel = s->kernel;
	kernel.mask = cli_session_kernel(s);
	put_props(&r->props.p, &s->props);
	if (s->file[0]) {
		snprintf(r->props.file, sizeof r->props.file, "%s", s->file);
	} else {
		r->props.p.LogFileNameOffset = 0;
	}
	if (kernel_mask_empty(&kernel.mask)) {
		return s->props.mode & EVENT_TRACE_PRIVATE_LOGGER_MODE
			       ? begin_private(s, how, r)
			       : cli_start_trace(&r->handle, s->name, &r->props.p);
	}
	uint32_t code = cli_kernel_start(&r->handle, s->name, &r->props, &kernel, how->counters);
	if (code == ERROR_SUCCESS && how->tool) {
		cli_kernel_tell(how->tool, s->name);
	}
	return code;
}

static uint32_t limit(const struct etw_session *s, const struct cli_session_how *how)
{
	bool asked = s->expire_s || s->quota || s->end_filetime || s->owner_pid;
	uint32_t owner = s->owner_pid ? s->owner_pid : how->ours ? (uint32_t)getpid() : 0;
	if (!asked && !owner) {
		return ERROR_SUCCESS;
	}
	uint64_t end = s->expire_s ? clock_filetime() + s->expire_s * 10000000ull : UINT64_MAX;
	end = BASE_MIN(end, cli_session_end(s));
	/* One call: a second one would replace the owner, too. */
	uint32_t code = openetw_session_limit(s->name, end == UINT64_MAX ? 0 : end, s->quota, owner);
	return asked ? code : ERROR_SUCCESS;
}

static uint32_t enable_all(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *r)
{
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *p = &s->provider[i];
		if (session_provider_is_kernel(p) || !p->enabled) {
			continue;
		}
		uint32_t code = cli_session_enable(r->handle, p, how->enable_ms ? how->enable_ms : ENABLE_MS);
		if (code && !(code == ERROR_TIMEOUT && how->late_is_fine)) {
			r->refused = p;
			return code;
		}
		if (code && how->late_is_told) {
			fprintf(stderr, "%s: warning: %s: a process is slow to take notice of being enabled\n",
				how->tool, p->name);
		} else if (how->tool) {
			cli_session_enable_tell(p);
		}
	}
	return ERROR_SUCCESS;
}

/* Before it is stopped: a stop that succeeds would forget why. */
static void refused(const struct cli_session_how *how, uint32_t code, const char *what, struct cli_session_run *r)
{
	if (how->args) {
		r->status = cli_fail(how->args, code, "%s", what);
	}
	if (!why[0]) {
		snprintf(why, sizeof why, "%s", openetw_last_error_text());
	}
}

uint32_t cli_session_start(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *ret)
{
	char what[sizeof s->name + 64];
	*ret = (struct cli_session_run){.status = CLI_OK};
	cli_props_init(&ret->props);
	why[0] = 0;
	uint32_t code = begin(s, how, ret);
	if (code) {
		snprintf(what, sizeof what, how->cannot ? "%s" : "cannot start '%s'",
			 how->cannot ? how->cannot : s->name);
		refused(how, code, what, ret);
		ret->handle = 0;
		return code;
	}
	snprintf(what, sizeof what, "cannot limit '%s'", s->name);
	code = limit(s, how);
	if (code == ERROR_SUCCESS && (s->rotate_s || s->keep_files)) {
		snprintf(what, sizeof what, "cannot rotate the files of '%s'", s->name);
		code = openetw_session_rotate(s->name, s->rotate_s, s->keep_files);
	}
	if (code == ERROR_SUCCESS) {
		if (how->begun) {
			how->begun(how->ctx, ret->handle);
		}
		code = enable_all(s, how, ret);
		snprintf(what, sizeof what, "cannot enable '%s'", ret->refused ? ret->refused->name : "");
	}
	if (code) {
		struct cli_props p;
		refused(how, code, what, ret);
		cli_props_init(&p);
		ControlTraceA(ret->handle, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
		ret->handle = 0;
	}
	return code;
}
