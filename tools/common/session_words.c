/* SPDX-License-Identifier: MIT
 * Options of a command line as a struct etw_session.
 */
#include "tools/common/session_start.h"

#include "base/level.h"
#include "base/parse.h"
#include "session/provider_spec.h"
#include "tools/common/mode_names.h"
#include "tools/common/filter_option.h"
#include "filter/filter_named.h"

#include <stdlib.h>

/* ---- a provider --------------------------------------------------------------------------------- */

/* --payload, and --filter: its words, and of a manifest's event the bytes. */
static bool event_filters(const struct cli_args *a, struct session_provider *p)
{
	const char *expression = cli_filter_of_session(a);
	struct cli_filters f;
	struct diag d = {0};
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	cli_filters_init(&f);
	bool fine = cli_filter_enable(a, &g, &f);
	for (ULONG i = 0; fine && i < f.count; i++) {
		const void *bytes = (const void *)(uintptr_t)f.d[i].Ptr;
		if (f.d[i].Type == EVENT_FILTER_TYPE_PAYLOAD && !(expression && filter_is_named(bytes, f.d[i].Size)) &&
		    session_set_payload(p, bytes, f.d[i].Size, &d) < 0) {
			cli_usage(a, "--%s %s", expression ? "filter" : "payload", d.text);
			fine = false;
		}
	}
	if (fine && expression && session_set_expression(p, expression, &d) < 0) {
		cli_usage(a, "--filter %s", d.text);
		fine = false;
	}
	cli_filters_finish(&f);
	return fine;
}

bool cli_session_provider(const struct cli_args *a, const char *text, struct session_provider *ret)
{
	struct provider_spec spec = {.level = 5};
	struct session_provider p = {.enabled = true};
	struct diag d = {0};
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		if (!filter_expr_text(a, (enum session_filter)i, p.filter[i])) {
			return false;
		}
	}
	if (!cli_number(a, "keywords", 0, UINT64_MAX, &spec.any) ||
	    !cli_number(a, "match-all", 0, UINT64_MAX, &spec.all)) {
		return false;
	}
	const char *l = cli_value(a, "level", NULL);
	if (l && !level_parse(l, strlen(l), &spec.level)) {
		cli_usage(a, "--level takes 0-255 or critical|error|warning|info|verbose, not '%s'", l);
		return false;
	}
	if (provider_spec_parse(text, cli_provider_installed, &spec, &d) < 0) {
		cli_usage(a, "%s", d.text);
		return false;
	}
	p.guid = spec.guid;
	p.any = spec.any;
	p.all = spec.all;
	p.level = spec.level;
	p.properties = spec.properties | (cli_flag(a, "stack") ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0) |
		       (cli_flag(a, "sid") ? EVENT_ENABLE_PROPERTY_SID : 0) |
		       (cli_flag(a, "process-start-key") ? EVENT_ENABLE_PROPERTY_PROCESS_START_KEY : 0) |
		       (cli_flag(a, "event-key") ? EVENT_ENABLE_PROPERTY_EVENT_KEY : 0);
	memcpy(p.name, spec.name, sizeof p.name);
	if (!event_filters(a, &p)) {
		return false;
	}
	*ret = p;
	return true;
}

bool cli_session_add_provider(const struct cli_args *a, const char *text, struct etw_session *s)
{
	struct session_provider p;
	if (!cli_session_provider(a, text, &p)) {
		return false;
	}
	struct session_provider *at = session_add_provider(s, &p.guid);
	if (!at) {
		free(p.payload);
		cli_usage(a, "more than %u providers", SESSION_PROVIDERS_MAX);
		return false;
	}
	*at = p;
	return true;
}

bool cli_session_providers(const struct cli_args *a, struct etw_session *s)
{
	const char *v;
	for (int i = 0; (v = cli_value_at(a, "provider", i)) != NULL; i++) {
		if (!cli_session_add_provider(a, v, s)) {
			return false;
		}
	}
	return true;
}

/* ---- the session -------------------------------------------------------------------------------- */

static uint32_t mode_of(const struct cli_args *a, bool file, bool realtime)
{
	const char *mode = cli_value(a, "mode", NULL), *compress = cli_value(a, "compress", NULL);
	uint32_t m = realtime ? EVENT_TRACE_REAL_TIME_MODE : 0;
	if (mode && strcmp(mode, "sequential") != 0) { /* of the names in the option's table */
		m |= mode_names_bit(MODE_NAMES_OPENETW, mode);
	} else if (file) {
		m |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	if (compress) {
		m |= EVENT_TRACE_COMPRESSED_MODE | (strcmp(compress, "zstd") == 0 ? OPENETW_TRACE_ZSTD_MODE : 0);
	}
	return m | (cli_flag(a, "no-per-cpu") ? EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0) |
	       (cli_flag(a, "preallocate") ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0);
}

static bool buffers_of(const struct cli_args *a, struct session_properties *p)
{
	const char *text = cli_value(a, "buffers", NULL), *s = text;
	uint64_t least = 0, most = 0;
	if (text && (!parse_number_at(&s, UINT32_MAX, &least) || least == 0 ||
		     (*s == ':' && (s++, !parse_number_at(&s, UINT32_MAX, &most))) || *s)) {
		cli_usage(a, "--buffers takes MIN or MIN:MAX, not '%s'", text);
		return false;
	}
	p->minimum_buffers = (uint32_t)least;
	p->maximum_buffers = (uint32_t)most;
	return true;
}

bool cli_session_options(const struct cli_args *a, const char *file, bool realtime, struct etw_session *s)
{
	struct session_properties *p = &s->props;
	uint64_t size = 0, buffer = 0, timer = 0, bits = 0;
	if (!cli_size(a, "max-size", 1 << 20, 1, UINT32_MAX, &size) ||
	    !cli_size(a, "buffer-size", 1 << 10, SESSION_BUFFER_KB_MIN, SESSION_BUFFER_KB_MAX, &buffer) ||
	    !cli_duration(a, "flush-timer", 1000000000, 1, 86400, &timer) ||
	    !cli_number(a, "mode-bits", 0, UINT32_MAX, &bits) || !buffers_of(a, p)) {
		return false;
	}
	p->mode = mode_of(a, file != NULL, realtime) | (uint32_t)bits;
	p->buffer_kb = (uint32_t)buffer;
	p->maximum_file_size = (uint32_t)size;
	p->flush_timer = (uint32_t)timer;
	if (cli_flag(a, "low-latency")) {
		p->mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		p->flush_timer = 1;
	}
	const char *clock = cli_value(a, "clock", NULL);
	p->clock = !clock && (p->mode & EVENT_TRACE_FILE_MODE_APPEND)
			   ? 2 /* an appended file can only be in system time */
		   : !clock || strcmp(clock, "qpc") == 0 ? 1
		   : strcmp(clock, "system") == 0        ? 2
							 : 3;
	if (file && strlen(file) >= sizeof s->file) {
		cli_usage(a, "the file name is too long");
		return false;
	}
	snprintf(s->file, sizeof s->file, "%s", file ? file : "");
	return true;
}
