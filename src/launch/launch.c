/* SPDX-License-Identifier: MIT */
#include "launch/launch_private.h"

#include "openetw/openetw.h"

#include <stdio.h>

void launch_props_init(struct launch_props *p)
{
	memset(p, 0, sizeof *p);
	p->p.Wnode.BufferSize = sizeof *p;
	p->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	p->p.LoggerNameOffset = offsetof(struct launch_props, name);
	p->p.LogFileNameOffset = offsetof(struct launch_props, file);
}

uint64_t launch_end(const struct etw_session *s)
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
static uint32_t begin_private(const struct etw_session *s, const struct launch_how *how, struct launch_run *r)
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
	return how->start(&r->handle, s->name, (EVENT_TRACE_PROPERTIES *)&b.p);
}

static uint32_t begin(const struct etw_session *s, const struct launch_how *how, struct launch_run *r)
{
	struct session_kernel kernel = s->kernel;
	kernel.mask = launch_kernel_mask(s);
	put_props(&r->props.p, &s->props);
	if (s->file[0]) {
		snprintf(r->props.file, sizeof r->props.file, "%s", s->file);
	} else {
		r->props.p.LogFileNameOffset = 0;
	}
	/* System providers have no mask. */
	bool machine = !kernel_mask_empty(&kernel.mask) || (s->props.mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) ||
		       (launch_is_kernel_name(s->name) && (kernel.stacks || kernel.pids));
	uint32_t code = machine ? launch_kernel_start(s, &kernel, how, r)
			: s->props.mode & EVENT_TRACE_PRIVATE_LOGGER_MODE
				? begin_private(s, how, r)
				: how->start(&r->handle, s->name, &r->props.p);
	return code == ERROR_SUCCESS && how->begun ? how->begun(how->ctx, r->handle) : code;
}

static uint32_t limit(const struct etw_session *s, const struct launch_how *how)
{
	bool asked = s->expire_s || s->quota || s->end_filetime || s->owner_pid;
	uint32_t owner = s->owner_pid ? s->owner_pid : how->owner_pid;
	if (!asked && !owner) {
		return ERROR_SUCCESS;
	}
	uint64_t end = s->expire_s ? clock_filetime() + s->expire_s * 10000000ull : UINT64_MAX;
	end = BASE_MIN(end, launch_end(s));
	/* One call: a second one would replace the owner, too. */
	uint32_t code = openetw_session_limit(s->name, end == UINT64_MAX ? 0 : end, s->quota, owner);
	return asked ? code : ERROR_SUCCESS;
}

static uint32_t enable_all(const struct etw_session *s, const struct launch_how *how, struct launch_run *r)
{
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *p = &s->provider[i];
		if (session_provider_is_kernel(p) || !p->enabled) {
			continue;
		}
		uint32_t code = launch_enable(r->handle, p, &how->enabling, &r->why);
		if (code && !(code == ERROR_TIMEOUT && how->late_is_fine)) {
			r->refused = p;
			return code;
		}
		if (how->enabled) {
			how->enabled(how->ctx, p, code);
		}
	}
	return ERROR_SUCCESS;
}

static uint32_t steps(const struct etw_session *s, const struct launch_how *how, struct launch_run *r)
{
	r->step = LAUNCH_START;
	uint32_t code = begin(s, how, r);
	if (code == ERROR_SUCCESS) {
		r->step = LAUNCH_LIMIT;
		code = limit(s, how);
	}
	if (code == ERROR_SUCCESS && (s->rotate_s || s->keep_files)) {
		r->step = LAUNCH_ROTATE;
		code = openetw_session_rotate(s->name, s->rotate_s, s->keep_files);
	}
	if (code == ERROR_SUCCESS) {
		r->step = LAUNCH_ENABLE;
		if (how->limited) {
			how->limited(how->ctx, r->handle);
		}
		code = enable_all(s, how, r);
	}
	return code;
}

uint32_t launch_start(const struct etw_session *s, const struct launch_how *given, struct launch_run *ret)
{
	struct launch_how how = *given;
	how.start = how.start ? how.start : StartTraceA;
	*ret = (struct launch_run){.handle = 0};
	launch_props_init(&ret->props);
	uint32_t code = steps(s, &how, ret);
	if (code) {
		struct launch_props p;
		if (how.refused) {
			how.refused(how.ctx, code);
		}
		if (!ret->why.text[0]) {
			snprintf(ret->why.text, sizeof ret->why.text, "%s", openetw_last_error_text());
		}
		launch_props_init(&p);
		if (ret->handle) {
			ControlTraceA(ret->handle, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
		}
		ret->handle = 0;
	}
	return code;
}
