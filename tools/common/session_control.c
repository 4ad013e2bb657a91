/* SPDX-License-Identifier: MIT
 * Starting what a session_spec says, and saying it as a command line.
 */
#include "tools/common/session_control.h"
#include "tools/common/output.h"

#include "filter/filter_parse.h"
#include "tools/common/winargs.h"

#include <stdlib.h>
#include <strings.h>

static const struct guid kernel_guid = {
	{0xad, 0x4a, 0x81, 0x9e, 0x04, 0x32, 0xd2, 0x11, 0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};

static char why[500];

uint64_t controller_end(const struct session_spec *s)
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

static bool put_filter(void *ctx, uint32_t type, const uint8_t *bytes, size_t n)
{
	return cli_filters_put((struct cli_filters *)ctx, type, bytes, n);
}

uint32_t controller_enable(TRACEHANDLE session, const struct session_provider *p, uint32_t timeout_ms)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	if (!p->enabled) {
		return EnableTraceEx2(session, &g, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, timeout_ms, NULL);
	}
	struct cli_filters f;
	cli_filters_init(&f);
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		struct diag d = {0};
		if (p->filter[i][0] && !cli_filters_add(&f, (enum session_filter)i, p->filter[i], &d)) {
			cli_filters_finish(&f);
			snprintf(why, sizeof why, "%s %s", session_filter_key((enum session_filter)i), d.text);
			return ERROR_INVALID_PARAMETER;
		}
	}
	if (p->payload && !cli_filters_put(&f, EVENT_FILTER_TYPE_PAYLOAD, p->payload, p->payload_bytes)) {
		cli_filters_finish(&f);
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	struct diag d = {0};
	int err = session_expression_each(p, put_filter, &f, &d);
	if (err < 0) {
		cli_filters_finish(&f);
		snprintf(why, sizeof why, "Filter: %s", d.text);
		return err == -ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER;
	}
	ENABLE_TRACE_PARAMETERS params = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					  .EnableProperty =
						  p->properties | (f.stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0),
					  .EnableFilterDesc = f.count ? f.d : NULL,
					  .FilterDescCount = f.count};
	uint32_t code = EnableTraceEx2(session, &g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, p->level, p->any, p->all,
				       timeout_ms, &params);
	cli_filters_finish(&f);
	return code;
}

void controller_tell(const struct session_provider *p)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	if (p->enabled) {
		cli_provider_tell(&g, p->name);
	}
}

bool controller_is_kernel(const struct session_provider *p)
{
	return guid_equal(&p->guid, &kernel_guid);
}

const char *controller_why(void)
{
	return why[0] ? why : openetw_last_error_text();
}

uint32_t controller_start(const struct session_spec *s, const char **ret_what)
{
	return controller_start_kernel(s, NULL, ret_what);
}

static void put_props(EVENT_TRACE_PROPERTIES *p, const struct session_spec *s)
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

uint32_t controller_start_private(const struct session_spec *s, EVENT_FILTER_DESCRIPTOR *scope, ULONG count,
				  TRACEHANDLE *ret)
{
	struct {
		EVENT_TRACE_PROPERTIES_V2 p;
		char name[4096], file[4096];
	} b = {0};
	EVENT_FILTER_DESCRIPTOR chosen[4];
	ULONG n = 0;
	for (ULONG i = 0; i < count && n < BASE_ARRAY_LEN(chosen); i++) {
		if (scope[i].Type == EVENT_FILTER_TYPE_PID || scope[i].Type == EVENT_FILTER_TYPE_EXECUTABLE_NAME ||
		    scope[i].Type == EVENT_FILTER_TYPE_CONTAINER) {
			chosen[n++] = scope[i];
		}
	}
	put_props((EVENT_TRACE_PROPERTIES *)&b.p, s);
	if (guid_is_zero(&s->guid) && s->provider) {
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
	why[0] = 0;
	return cli_start_trace(ret, s->name, (EVENT_TRACE_PROPERTIES *)&b.p);
}

uint32_t controller_start_kernel(const struct session_spec *s, const struct cli_kernel_wish *more,
				 const char **ret_what)
{
	struct cli_props p;
	TRACEHANDLE h = 0;
	struct cli_kernel_wish kernel = {0};
	if (more) {
		kernel = *more;
	}
	cli_props_init(&p);
	*ret_what = NULL;
	why[0] = 0;
	put_props(&p.p, s);
	if (s->file[0]) {
		snprintf(p.file, sizeof p.file, "%s", s->file);
	} else {
		p.p.LogFileNameOffset = 0;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (controller_is_kernel(&s->provider[i])) {
			struct kernel_mask m;
			kernel_mask_from_flags((uint32_t)s->provider[i].any, &m);
			kernel_mask_add(&kernel.mask, &m);
		}
	}
	bool of_kernel = !kernel_mask_empty(&kernel.mask);
	uint32_t code = of_kernel                                   ? cli_kernel_start(&h, s->name, &p, &kernel)
			: s->mode & EVENT_TRACE_PRIVATE_LOGGER_MODE ? controller_start_private(s, NULL, 0, &h)
								    : cli_start_trace(&h, s->name, &p.p);
	if (code) {
		return code;
	}
	if (of_kernel) {
		cli_kernel_tell("openetw", s->name);
	}
	for (uint32_t i = 0; i < s->provider_count && code == 0; i++) {
		if (!controller_is_kernel(&s->provider[i]) && s->provider[i].enabled) {
			code = controller_enable(h, &s->provider[i], 5000);
			*ret_what = code ? s->provider[i].name : NULL;
			if (code == 0) {
				controller_tell(&s->provider[i]);
			}
		}
	}
	if (code == 0 && (s->expire_s || s->quota || s->end_filetime)) {
		uint64_t end = s->expire_s ? clock_filetime() + s->expire_s * 10000000ull : UINT64_MAX;
		end = BASE_MIN(end, controller_end(s));
		code = openetw_session_limit(s->name, end == UINT64_MAX ? 0 : end, s->quota, 0);
	}
	if (code == 0 && (s->rotate_s || s->keep_files)) {
		code = openetw_session_rotate(s->name, s->rotate_s, s->keep_files);
	}
	if (code) {
		/* Stopping succeeds and would forget why we failed. */
		snprintf(why, sizeof why, "%s", openetw_last_error_text());
		ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
	}
	return code;
}

/* ---- the equivalent command line
 * --------------------------------------------------------------- */

void controller_quote(FILE *f, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./:,+=@%{}";
	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, f);
		return;
	}
	fputs(cli_quoted("%s", word), f);
}

static void put_provider(FILE *f, const struct session_provider *p)
{
	char text[400], guid[37];
	int n = p->name[0] && !strchr(p->name, ':') ? snprintf(text, sizeof text, "%s", p->name)
						    : snprintf(text, sizeof text, "{%s}", guid_format(&p->guid, guid));
	/* Always with the level: without one openetw means 5. */
	if (p->any) {
		n += snprintf(text + n, sizeof text - (size_t)n, ":0x%llx", (unsigned long long)p->any);
	} else {
		n += snprintf(text + n, sizeof text - (size_t)n, ":");
	}
	n += snprintf(text + n, sizeof text - (size_t)n, ":%u", p->level);
	if (p->properties) {
		snprintf(text + n, sizeof text - (size_t)n,
			 p->properties == EVENT_ENABLE_PROPERTY_STACK_TRACE ? ":stack" : ":0x%x", p->properties);
	}
	controller_quote(f, text);
}

void controller_explain_enable(FILE *f, const char *session, const struct session_provider *p)
{
	fputs(p->enabled ? "openetw enable " : "openetw disable ", f);
	controller_quote(f, session);
	putc(' ', f);
	put_provider(f, p);
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		if (p->filter[i][0]) {
			fprintf(f, " --%s ", filter_expr_option((enum session_filter)i));
			controller_quote(f, p->filter[i]);
		}
	}
	if (p->expression[0]) {
		fputs(" --filter ", f);
		controller_quote(f, p->expression);
	}
	if (p->all) {
		fprintf(f, " --match-all 0x%llx", (unsigned long long)p->all);
	}
	putc('\n', f);
}

/* --match-all and the filters of start are for all its providers. */
static bool by_itself(const struct session_provider *p)
{
	bool filtered = false;
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		filtered |= p->filter[i][0] != 0;
	}
	return filtered || p->expression[0] || p->all;
}

void controller_explain(FILE *f, const struct session_spec *s, const struct cli_kernel_wish *more)
{
	static const char *const clocks[] = {"", "", " --clock system", " --clock cycles"};
	uint32_t m = s->mode, said = 0;
	fputs("openetw start ", f);
	controller_quote(f, s->name);
	if (s->file[0]) {
		fputs(" -o ", f);
		controller_quote(f, s->file);
	}
	const struct {
		uint32_t bit;
		const char *text;
	} modes[] = {{EVENT_TRACE_FILE_MODE_CIRCULAR, " -m circular"},
		     {EVENT_TRACE_FILE_MODE_NEWFILE, " -m newfile"},
		     {EVENT_TRACE_FILE_MODE_APPEND, " -m append"},
		     {EVENT_TRACE_BUFFERING_MODE, " -m buffering"},
		     {EVENT_TRACE_FILE_MODE_SEQUENTIAL, ""},
		     {EVENT_TRACE_REAL_TIME_MODE, " -r"},
		     {EVENT_TRACE_FILE_MODE_PREALLOCATE, " --preallocate"},
		     {EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, " --no-per-cpu"}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(modes); i++) {
		if (m & modes[i].bit) {
			fputs(modes[i].text, f);
			said |= modes[i].bit;
		}
	}
	if (m & ~said) {
		fprintf(f, " --mode-bits 0x%x", m & ~said);
	}
	if (s->maximum_file_size) {
		fprintf(f, " --max-size %u", s->maximum_file_size);
	}
	if (s->buffer_kb) {
		fprintf(f, " --buffer-size %uK", s->buffer_kb);
	}
	if (s->minimum_buffers || s->maximum_buffers) {
		fprintf(f, " --buffers %u", s->minimum_buffers ? s->minimum_buffers : 1);
		if (s->maximum_buffers) {
			fprintf(f, ":%u", s->maximum_buffers);
		}
	}
	struct cli_kernel_wish wish = {0};
	if (more) {
		wish = *more;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		struct kernel_mask m;
		if (controller_is_kernel(&s->provider[i])) {
			kernel_mask_from_flags((uint32_t)s->provider[i].any, &m);
			kernel_mask_add(&wish.mask, &m);
		}
	}
	if (!kernel_mask_empty(&wish.mask)) {
		cli_kernel_explain(f, &wish);
	}
	if (s->flush_timer) {
		fprintf(f, " --flush-timer %us", s->flush_timer);
	}
	if (s->expire_s) {
		fprintf(f, " --expire %us", s->expire_s);
	}
	if (s->rotate_s) {
		fprintf(f, " --new-file-every %us", s->rotate_s);
	}
	if (s->keep_files) {
		fprintf(f, " --keep-files %u", s->keep_files);
	}
	fputs(s->clock < 4 ? clocks[s->clock] : "", f);
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (s->provider[i].enabled && !by_itself(&s->provider[i]) && !controller_is_kernel(&s->provider[i])) {
			fputs(" -p ", f);
			put_provider(f, &s->provider[i]);
		}
	}
	putc('\n', f);
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (s->provider[i].enabled && by_itself(&s->provider[i])) {
			controller_explain_enable(f, s->name, &s->provider[i]);
		}
	}
}

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
