/* SPDX-License-Identifier: MIT
 * Options of a command line as a struct etw_session.
 */
#include "tools/common/session_start.h"

#include "base/parse.h"
#include "session/provider_spec.h"
#include "tools/common/mode_names.h"
#include "tools/common/filter_option.h"
#include "filter/filter_named.h"

#include <stdlib.h>

/* ---- a provider --------------------------------------------------------------------------------- */

/* --payload, and --filter: its words, and of a manifest's event the bytes. */
static bool event_filters(const struct cli_args *a, const struct cli_enable_options *o, struct session_provider *p)
{
	const char *expression = o->expression;
	struct launch_filters f;
	struct diag d = {0};
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	launch_filters_init(&f);
	bool fine = cli_filter_enable(a, o, &g, &f);
	for (ULONG i = 0; fine && i < f.count; i++) {
		const void *bytes = (const void *)(uintptr_t)f.d[i].Ptr;
		if (f.d[i].Type == EVENT_FILTER_TYPE_PAYLOAD && !(expression && filter_is_named(bytes, f.d[i].Size)) &&
		    session_set_payload(p, bytes, f.d[i].Size, &d) < 0) {
			cli_usage(a, "--%s %s", expression ? "filter" : "payload", d.text);
			fine = false;
		}
	}
	if (fine && expression && session_set_expression(p, expression, NULL, &d) < 0) {
		cli_usage(a, "--filter %s", d.text);
		fine = false;
	}
	launch_filters_finish(&f);
	return fine;
}

bool cli_session_provider(const struct cli_args *a, const struct cli_enable_options *o, const char *text,
			  struct session_provider *ret)
{
	static const struct cli_enable_options nothing;
	o = o ? o : &nothing;
	struct provider_spec spec = {
		.level = o->level.given ? o->level.level : 5, .any = o->keywords, .all = o->match_all};
	struct session_provider p = {.enabled = true};
	struct diag d = {0};
	if (provider_spec_parse(text, cli_provider_installed, &spec, &d) < 0) {
		cli_usage(a, "%s", d.text);
		return false;
	}
	p.guid = spec.guid;
	p.any = spec.any;
	p.all = spec.all;
	p.level = spec.level;
	p.properties = spec.properties | (o->stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0) |
		       (o->sid ? EVENT_ENABLE_PROPERTY_SID : 0) |
		       (o->process_start_key ? EVENT_ENABLE_PROPERTY_PROCESS_START_KEY : 0) |
		       (o->event_key ? EVENT_ENABLE_PROPERTY_EVENT_KEY : 0);
	memcpy(p.name, spec.name, sizeof p.name);
	bool fine = !spec.filter || !o->expression;
	if (!fine) {
		cli_usage(a, "'%s' has a filter of its own: leave out --filter", text);
	}
	struct cli_enable_options own = *o;
	own.expression = spec.filter ? spec.filter : o->expression;
	for (int i = 0; i < SESSION_FILTER_COUNT && fine; i++) {
		fine = cli_filter_set(a, o, (enum session_filter)i, &p);
	}
	if (!fine || !event_filters(a, &own, &p)) {
		session_provider_finish(&p);
		return false;
	}
	*ret = p;
	return true;
}

bool cli_session_add_provider(const struct cli_args *a, const struct cli_enable_options *o, const char *text,
			      struct etw_session *s)
{
	struct session_provider p;
	if (!cli_session_provider(a, o, text, &p)) {
		return false;
	}
	struct session_provider *at = session_add_provider(s, &p.guid);
	if (!at) {
		session_provider_finish(&p);
		cli_usage(a, "%s", session_add_failed(s));
		return false;
	}
	*at = p;
	return true;
}

bool cli_session_providers(const struct cli_args *a, const struct cli_enable_options *o, const struct cli_words *words,
			   struct etw_session *s)
{
	for (int i = 0; i < words->count; i++) {
		if (!cli_session_add_provider(a, o, words->text[i], s)) {
			return false;
		}
	}
	return true;
}

/* ---- the session -------------------------------------------------------------------------------- */

bool cli_take_buffers(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	const char *s = value;
	uint64_t least = 0, most = 0;
	if (!parse_number_at(&s, UINT32_MAX, &least) || least == 0 ||
	    (*s == ':' && (s++, !parse_number_at(&s, UINT32_MAX, &most))) || *s) {
		cli_usage(a, "--%s takes MIN or MIN:MAX, not '%s'", o->name, value);
		return false;
	}
	*(struct cli_buffers *)member = (struct cli_buffers){(uint32_t)least, (uint32_t)most};
	return true;
}

static uint32_t mode_of(const struct cli_session_options *o, bool file, bool realtime)
{
	uint32_t m = realtime ? EVENT_TRACE_REAL_TIME_MODE : 0;
	if (o->mode && strcmp(o->mode, "sequential") != 0) { /* of the names in the option's table */
		m |= mode_names_bit(MODE_NAMES_OPENETW, o->mode);
	} else if (file) {
		m |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	m |= o->compress != CLI_COMPRESS_NO ? EVENT_TRACE_COMPRESSED_MODE : 0;
	m |= o->compress == CLI_COMPRESS_ZSTD ? OPENETW_TRACE_ZSTD_MODE : 0;
	return m | (o->no_per_cpu ? EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0) |
	       (o->preallocate ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0) | (uint32_t)o->mode_bits;
}

bool cli_session_options(const struct cli_args *a, const struct cli_session_options *o, const char *file, bool realtime,
			 struct etw_session *s)
{
	struct session_properties *p = &s->props;
	p->mode = mode_of(o, file != NULL, realtime);
	p->buffer_kb = (uint32_t)o->buffer_kb;
	p->minimum_buffers = o->buffers.least;
	p->maximum_buffers = o->buffers.most;
	p->maximum_file_size = (uint32_t)o->max_size_mb;
	p->flush_timer = (uint32_t)o->flush_s;
	if (o->low_latency) {
		p->mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		p->flush_timer = 1;
	}
	/* an appended file can only be in system time */
	enum cli_clock usual = p->mode & EVENT_TRACE_FILE_MODE_APPEND ? CLI_CLOCK_SYSTEM : CLI_CLOCK_QPC;
	p->clock = o->clock ? o->clock : usual;
	if (file && strlen(file) >= sizeof s->file) {
		cli_usage(a, "the file name is too long");
		return false;
	}
	snprintf(s->file, sizeof s->file, "%s", file ? file : "");
	return true;
}
