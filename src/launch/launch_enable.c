/* SPDX-License-Identifier: MIT */
#include "launch/launch.h"

#include <stdio.h>

static bool put_filter(void *filters, uint32_t type, const uint8_t *bytes, size_t n)
{
	return launch_filters_put((struct launch_filters *)filters, type, bytes, n);
}

static uint32_t add_filters(const struct session_provider *p, struct launch_filters *f, struct launch_why *why)
{
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		struct diag d = {0};
		if (p->filter[i] && !launch_filters_add(f, (enum session_filter)i, p->filter[i], &d)) {
			snprintf(why->text, sizeof why->text, "%s %s", session_filter_key((enum session_filter)i),
				 d.text);
			return ERROR_INVALID_PARAMETER;
		}
	}
	struct diag d = {0};
	int r = session_expression_each(p, put_filter, f, &d);
	if (r == -EINVAL) {
		snprintf(why->text, sizeof why->text, "Filter: %s", d.text);
		return ERROR_INVALID_PARAMETER;
	}
	if (r < 0 || (p->payload && !launch_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, p->payload, p->payload_bytes))) {
		snprintf(why->text, sizeof why->text, "the filter needs more memory than there is");
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	return ERROR_SUCCESS;
}

uint32_t launch_enable(TRACEHANDLE session, const struct session_provider *p, const struct launch_enabling *how,
		       struct launch_why *why)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	why->text[0] = 0;
	if (!p->enabled) {
		return EnableTraceEx2(session, &g, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, how->timeout_ms, NULL);
	}
	struct launch_filters f;
	launch_filters_init(&f);
	uint32_t code = add_filters(p, &f, why);
	if (code == ERROR_SUCCESS) {
		ENABLE_TRACE_PARAMETERS params = {
			.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
			.EnableProperty = p->properties | (f.stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0),
			.EnableFilterDesc = f.count ? f.d : NULL,
			.FilterDescCount = f.count,
		};
		if (how->source) {
			memcpy(&params.SourceId, how->source->b, sizeof params.SourceId);
		}
		ULONG control = how->capture ? EVENT_CONTROL_CODE_CAPTURE_STATE : EVENT_CONTROL_CODE_ENABLE_PROVIDER;
		code = EnableTraceEx2(session, &g, control, p->level, p->any, p->all, how->timeout_ms, &params);
	}
	launch_filters_finish(&f);
	return code;
}
