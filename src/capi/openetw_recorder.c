/* SPDX-License-Identifier: MIT
 *
 * include/openetw/recorder.h: everything is kept as it was said, looked at as a whole, and becomes a struct etw_session,
 * which src/launch starts like those of the tools.
 */
#include "openetw/recorder.h"
#include "openetw/decode.h"
#include "openetw/openetw.h"

#include "base/printable.h"
#include "capi/recorder_kernel.h"
#include "filter/filter_compile.h"
#include "launch/launch.h"
#include "schema/schema_filter.h"

#include "evntcons.h"
#include "evntrace.h"

#include <stdio.h>
#include <stdlib.h>

#define UNITS_MAX     1023u
#define PROVIDERS_MAX 64u
#define PIDS_MAX      8u
#define FLUSH_MAX     3600000u

struct wanted_provider {
	char *name, *filter; /* filter: NULL: none */
	uint32_t level, properties;
	uint64_t any, all;
	struct guid guid; /* once checked */
	bool kernel;      /* Windows Kernel Trace: a part of the kernel's mask */
	bool system;      /* a system provider */
};
struct openetw_recorder {
	char *name, *path;
	bool file_said, live, no_memory;
	uint32_t file_mode; /* OPENETW_RECORDER_* */
	uint32_t flush_ms;
	struct wanted_provider providers[PROVIDERS_MAX];
	uint32_t provider_count, pid_count; /* also of those beyond the limit */
	uint32_t pids[PIDS_MAX];
	/* As said: names joined by '+' over all calls; once checked, what they come to. */
	char *kernel_flags, *kernel_stacks;
	uint32_t kernel_bits;
	bool kernel_bits_said, replace, filter_of_none;
	bool machine; /* kernel events are wanted: the mask, or by system providers */
	/* The numbers of buffers as they are said; what the kernel's names come to, once checked; the rest when it starts. */
	struct etw_session session;
	bool running;
	TRACEHANDLE handle;
	struct openetw_kernel kernel_now;
	char problem[600];
};
static char *copy_of(struct openetw_recorder *s, const char *text)
{
	char *copy = strdup(text ? text : "");
	s->no_memory = s->no_memory || !copy;
	return copy;
}

struct openetw_recorder *openetw_recorder_create(const char *name)
{
	struct openetw_recorder *s = calloc(1, sizeof *s);
	if (s) {
		session_init(&s->session);
		s->name = copy_of(s, name);
	}
	return s;
}

void openetw_recorder_destroy(struct openetw_recorder *s)
{
	if (!s) {
		return;
	}
	openetw_recorder_stop(s);
	for (uint32_t i = 0; i < BASE_MIN(s->provider_count, PROVIDERS_MAX); i++) {
		free(s->providers[i].name);
		free(s->providers[i].filter);
	}
	session_finish(&s->session);
	free(s->name);
	free(s->path);
	free(s->kernel_flags);
	free(s->kernel_stacks);
	free(s);
}

void openetw_recorder_set_file(struct openetw_recorder *s, const char *path, uint32_t mib, uint32_t mode)
{
	free(s->path);
	s->path = copy_of(s, path);
	s->session.props.maximum_file_size = mib;
	s->file_mode = mode;
	s->file_said = true;
}

void openetw_recorder_set_live(struct openetw_recorder *s, bool live)
{
	s->live = live != 0;
}

void openetw_recorder_set_buffers(struct openetw_recorder *s, uint32_t kib, uint32_t least, uint32_t most)
{
	s->session.props.buffer_kb = kib;
	s->session.props.minimum_buffers = least;
	s->session.props.maximum_buffers = most;
}

void openetw_recorder_set_flush(struct openetw_recorder *s, uint32_t milliseconds)
{
	s->flush_ms = milliseconds;
}

void openetw_recorder_add_provider(struct openetw_recorder *s, const char *provider, uint32_t level,
				   uint64_t any_keyword, uint64_t all_keywords, uint32_t properties)
{
	if (s->provider_count < PROVIDERS_MAX) {
		s->providers[s->provider_count] = (struct wanted_provider){
			.name = copy_of(s, provider),
			.level = level,
			.properties = properties,
			.any = any_keyword,
			.all = all_keywords,
		};
	}
	s->provider_count++;
}

void openetw_recorder_set_filter(struct openetw_recorder *s, const char *filter)
{
	if (s->provider_count == 0) {
		s->filter_of_none = true;
	} else if (s->provider_count <= PROVIDERS_MAX) {
		struct wanted_provider *p = &s->providers[s->provider_count - 1];
		free(p->filter);
		p->filter = filter ? copy_of(s, filter) : NULL;
	}
}

/* One more behind those that were named, also an empty one. */
static void join(struct openetw_recorder *s, char **list, const char *names)
{
	char *all = NULL;
	names = names ? names : "";
	if (!*list) {
		*list = copy_of(s, names);
	} else if (asprintf(&all, "%s+%s", *list, names) < 0) {
		s->no_memory = true;
	} else {
		free(*list);
		*list = all;
	}
}

void openetw_recorder_add_kernel(struct openetw_recorder *s, const char *flags)
{
	join(s, &s->kernel_flags, flags);
}

void openetw_recorder_add_kernel_stacks(struct openetw_recorder *s, const char *events)
{
	join(s, &s->kernel_stacks, events);
}

void openetw_recorder_add_kernel_flags(struct openetw_recorder *s, uint32_t flags)
{
	s->kernel_bits |= flags;
	s->kernel_bits_said = true;
}

void openetw_recorder_set_replace(struct openetw_recorder *s, bool replace)
{
	s->replace = replace != 0;
}

void openetw_recorder_add_pid(struct openetw_recorder *s, uint32_t pid)
{
	if (s->pid_count < PIDS_MAX) {
		s->pids[s->pid_count] = pid;
	}
	s->pid_count++;
}

const char *openetw_recorder_problem(const struct openetw_recorder *s)
{
	return s->problem;
}

/* ---- the check --------------------------------------------------------------------------------- */

static enum openetw_mistake BASE_PRINTF(3, 4)
	wrong(struct openetw_recorder *s, enum openetw_mistake what, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(s->problem, sizeof s->problem, fmt, ap);
	va_end(ap);
	return what;
}

/* UTF-16 units without the terminator, or -1 for what is no UTF-8. */
static long units_of(const char *text)
{
	return utf8_to_utf16(text, strlen(text), NULL, 0);
}

static enum openetw_mistake check_name(struct openetw_recorder *s)
{
	long units = units_of(s->name);
	if (!*s->name) {
		return wrong(s, OPENETW_MISTAKE_NAME_EMPTY, "the session has no name");
	}
	for (const char *c = s->name; *c; c++) {
		if ((uint8_t)*c < ' ') {
			units = -1;
		}
	}
	if (units < 0) {
		return wrong(s, OPENETW_MISTAKE_NAME_INVALID,
			     "the name of the session is no UTF-8 or has control characters");
	}
	if (units > (long)UNITS_MAX) {
		return wrong(s, OPENETW_MISTAKE_NAME_TOO_LONG,
			     "the name of the session has %ld UTF-16 units, at most %u are allowed", units, UNITS_MAX);
	}
	return OPENETW_MISTAKE_NONE;
}

static enum openetw_mistake check_output(struct openetw_recorder *s)
{
	if (!s->file_said) {
		return s->live ? OPENETW_MISTAKE_NONE
			       : wrong(s, OPENETW_MISTAKE_NO_OUTPUT, "session '%s' has neither a file nor is it live",
				       s->name);
	}
	if (!*s->path) {
		return wrong(s, OPENETW_MISTAKE_PATH_EMPTY, "the path of the file is empty");
	}
	long units = units_of(s->path);
	if (units < 0 || units > (long)UNITS_MAX) {
		return wrong(s, OPENETW_MISTAKE_PATH_TOO_LONG,
			     "the path of the file has more than %u UTF-16 units or is no UTF-8", UNITS_MAX);
	}
	if (s->file_mode != OPENETW_RECORDER_SEQUENTIAL && s->file_mode != OPENETW_RECORDER_CIRCULAR) {
		return wrong(s, OPENETW_MISTAKE_FILE_MODE, "file mode %u is neither sequential (1) nor circular (2)",
			     s->file_mode);
	}
	if (s->file_mode == OPENETW_RECORDER_CIRCULAR && s->session.props.maximum_file_size == 0) {
		return wrong(s, OPENETW_MISTAKE_NO_FILE_SIZE, "a circular file needs a size, %s has none", s->path);
	}
	return OPENETW_MISTAKE_NONE;
}

static enum openetw_mistake check_buffers(struct openetw_recorder *s)
{
	const struct session_properties *p = &s->session.props;
	if (p->buffer_kb && (p->buffer_kb < SESSION_BUFFER_KB_MIN || p->buffer_kb > SESSION_BUFFER_KB_MAX)) {
		return wrong(s, OPENETW_MISTAKE_BUFFER_SIZE, "buffers of %u KiB: %u to %u are allowed", p->buffer_kb,
			     SESSION_BUFFER_KB_MIN, SESSION_BUFFER_KB_MAX);
	}
	if (p->minimum_buffers > SESSION_BUFFERS_MAX || p->maximum_buffers > SESSION_BUFFERS_MAX) {
		return wrong(s, OPENETW_MISTAKE_BUFFER_COUNTS, "%u buffers: at most %u are allowed",
			     BASE_MAX(p->minimum_buffers, p->maximum_buffers), SESSION_BUFFERS_MAX);
	}
	if (p->maximum_buffers && p->minimum_buffers > p->maximum_buffers) {
		return wrong(s, OPENETW_MISTAKE_BUFFER_COUNTS,
			     "at least %u buffers, but at most %u: the first must not be larger", p->minimum_buffers,
			     p->maximum_buffers);
	}
	if (s->flush_ms > FLUSH_MAX) {
		return wrong(s, OPENETW_MISTAKE_FLUSH, "flush after %u ms: at most %u are allowed", s->flush_ms,
			     FLUSH_MAX);
	}
	return OPENETW_MISTAKE_NONE;
}

static enum openetw_mistake check_filter(struct openetw_recorder *s, const struct wanted_provider *p)
{
	struct session_provider v = {.guid = p->guid};
	struct diag d = {0};
	if (!p->filter) {
		return OPENETW_MISTAKE_NONE;
	}
	if (p->kernel || p->system) {
		return wrong(s, OPENETW_MISTAKE_FILTER, "'%.200s' has events of the kernel, which take no filter",
			     p->name);
	}
	if (filter_text_each(p->filter, &p->guid, false, schema_filter_manifest, NULL, NULL, &d) < 0) {
		return wrong(s, OPENETW_MISTAKE_FILTER, "filter of provider '%.150s', column %u: %.240s", p->name,
			     d.column, d.text);
	}
	int r = session_set_expression(&v, p->filter, schema_filter_manifest, &d);
	session_provider_finish(&v);
	return r == -EINVAL
		       ? wrong(s, OPENETW_MISTAKE_FILTER, "the filter of provider '%.150s' %.240s", p->name, d.text)
		       : OPENETW_MISTAKE_NONE;
}

static enum openetw_mistake check_providers(struct openetw_recorder *s)
{
	if (s->filter_of_none) {
		return wrong(s, OPENETW_MISTAKE_FILTER,
			     "a filter was set before the provider that it is for was added");
	}
	if (s->provider_count == 0 && !s->machine) {
		return wrong(s, OPENETW_MISTAKE_NO_PROVIDER, "session '%s' has no provider", s->name);
	}
	if (s->provider_count > PROVIDERS_MAX || s->pid_count > PIDS_MAX) {
		return wrong(s, OPENETW_MISTAKE_TOO_MANY,
			     "%u providers and %u processes: at most %u and %u are allowed", s->provider_count,
			     s->pid_count, PROVIDERS_MAX, PIDS_MAX);
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		struct wanted_provider *p = &s->providers[i];
		if (!*p->name) {
			return wrong(s, OPENETW_MISTAKE_PROVIDER_EMPTY, "provider %u of %u has no name", i + 1,
				     s->provider_count);
		}
		p->kernel = recorder_kernel_is_trace(p->name);
		p->system = !p->kernel && recorder_kernel_is_system_provider(p->name, &p->guid);
		if (p->kernel) {
			p->guid = kernel_trace_control_guid;
		} else if (!p->system && openetw_provider_guid(p->name, (struct openetw_guid *)&p->guid)) {
			return wrong(s, OPENETW_MISTAKE_PROVIDER_INVALID,
				     "'%.200s' is neither a GUID nor the name of a provider", p->name);
		}
		if (p->level > 255) {
			return wrong(s, OPENETW_MISTAKE_LEVEL, "level %u of provider '%.200s': 0 to 255 are allowed",
				     p->level, p->name);
		}
		enum openetw_mistake m = check_filter(s, p);
		if (m != OPENETW_MISTAKE_NONE) {
			return m;
		}
		for (uint32_t k = 0; k < i; k++) {
			if (guid_equal(&s->providers[k].guid, &p->guid)) {
				return wrong(s, OPENETW_MISTAKE_PROVIDER_TWICE,
					     "'%.150s' and '%.150s' are the same provider", s->providers[k].name,
					     p->name);
			}
		}
	}
	return OPENETW_MISTAKE_NONE;
}

/* Behind the providers, some of which are the kernel's. */
static enum openetw_mistake check_kernel(struct openetw_recorder *s)
{
	struct session_kernel *k = &s->session.kernel;
	bool programs = false;
	char why[300] = "";
	bool flags = !s->kernel_flags || recorder_kernel_flags(k, s->kernel_flags, why, sizeof why);
	flags = flags && (!s->kernel_bits_said || recorder_kernel_bits(k, s->kernel_bits, why, sizeof why));
	for (uint32_t i = 0; flags && i < s->provider_count; i++) {
		const struct wanted_provider *p = &s->providers[i];
		programs = programs || (!p->kernel && !p->system);
		if (p->kernel && (p->any == 0 || p->any > UINT32_MAX)) {
			flags = false;
			snprintf(why, sizeof why, "'%.100s' takes EVENT_TRACE_FLAG_* as keywords", p->name);
		} else if (p->kernel) {
			flags = recorder_kernel_bits(k, (uint32_t)p->any, why, sizeof why);
		}
	}
	if (!flags) {
		return wrong(s, OPENETW_MISTAKE_KERNEL_FLAG, "%s", why);
	}
	if (s->kernel_stacks && !recorder_kernel_stacks(k, s->kernel_stacks, why, sizeof why)) {
		return wrong(s, OPENETW_MISTAKE_KERNEL_STACK, "%s", why);
	}
	if (k->stacks && !s->machine) {
		return wrong(s, OPENETW_MISTAKE_KERNEL_STACK, "stacks of kernel events, but no kernel events");
	}
	if (launch_is_kernel_name(s->name) && programs) {
		return wrong(s, OPENETW_MISTAKE_KERNEL_NAME,
			     "'%s' has kernel events only: give a session with other providers another name", s->name);
	}
	return OPENETW_MISTAKE_NONE;
}

static bool wants_kernel(const struct openetw_recorder *s)
{
	bool wanted = s->kernel_flags || s->kernel_bits_said;
	for (uint32_t i = 0; i < BASE_MIN(s->provider_count, PROVIDERS_MAX); i++) {
		struct guid g;
		const char *name = s->providers[i].name;
		wanted = wanted || recorder_kernel_is_trace(name) || recorder_kernel_is_system_provider(name, &g);
	}
	return wanted;
}

enum openetw_mistake openetw_recorder_check(struct openetw_recorder *s)
{
	s->problem[0] = 0;
	if (s->no_memory) {
		return wrong(s, OPENETW_MISTAKE_NO_MEMORY, "out of memory");
	}
	s->machine = wants_kernel(s);
	s->session.kernel = (struct session_kernel){0};
	enum openetw_mistake m = check_name(s);
	m = m ? m : check_output(s);
	m = m ? m : check_buffers(s);
	m = m ? m : check_providers(s);
	return m ? m : check_kernel(s);
}

/* ---- the session ------------------------------------------------------------------------------- */

/* A provider that was checked. False: memory ran out. */
static bool add_provider(struct openetw_recorder *s, const struct wanted_provider *p)
{
	struct session_provider *to = session_add_provider(&s->session, &p->guid);
	char pids[PIDS_MAX * sizeof "4294967295,"] = "";
	if (!to) {
		return false;
	}
	snprintf(to->name, sizeof to->name, "%s", p->name);
	to->level = (uint8_t)p->level;
	to->any = p->any;
	to->all = p->all;
	to->properties = p->properties;
	for (uint32_t i = 0, n = 0; i < s->pid_count && !p->system;
	     i++) { /* the kernel's are filtered in the session */
		n += (uint32_t)snprintf(pids + n, sizeof pids - n, "%s%u", i ? "," : "", s->pids[i]);
	}
	return session_set_filter(to, SESSION_FILTER_PID, *pids ? pids : NULL, NULL) == 0 &&
	       (!p->filter || session_set_expression(to, p->filter, schema_filter_manifest, NULL) == 0);
}

/* All that was said, which was checked, as the session. False: memory ran out. */
static bool describe(struct openetw_recorder *s)
{
	struct etw_session *to = &s->session;
	session_finish(to);
	snprintf(to->name, sizeof to->name, "%s", s->name);
	snprintf(to->file, sizeof to->file, "%s", s->file_said ? s->path : "");
	to->props.flush_timer = s->flush_ms;
	to->props.mode = (s->flush_ms ? EVENT_TRACE_USE_MS_FLUSH_TIMER : 0u) |
			 (s->live ? EVENT_TRACE_REAL_TIME_MODE : 0u) |
			 (!s->file_said                               ? 0u
			  : s->file_mode == OPENETW_RECORDER_CIRCULAR ? EVENT_TRACE_FILE_MODE_CIRCULAR
								      : EVENT_TRACE_FILE_MODE_SEQUENTIAL) |
			 (s->machine && !launch_is_kernel_name(s->name) ? EVENT_TRACE_SYSTEM_LOGGER_MODE : 0u);
	if (s->machine) {
		memcpy(to->kernel.pid, s->pids, sizeof to->kernel.pid);
		to->kernel.pids = s->pid_count;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		/* That of the kernel is a part of the mask. */
		if (!s->providers[i].kernel && !add_provider(s, &s->providers[i])) {
			return false;
		}
	}
	return true;
}

/* What went wrong, with the reason that is known of it. */
static void failed(struct openetw_recorder *s, uint32_t code, const struct launch_run *run)
{
	static const struct {
		enum launch_step step;
		const char *what;
	} steps[] = {{LAUNCH_START, "cannot start session"},
		     {LAUNCH_STACKS, "cannot record stacks of kernel events"},
		     {LAUNCH_ENABLE, "cannot enable provider"}};
	const char *text = openetw_error_text(code), *what = steps[0].what;
	const char *reason = run->why.text[0] ? run->why.text : text ? text : "unknown error";
	const char *name = run->refused ? run->refused->name : run->step == LAUNCH_START ? s->name : "";
	for (size_t i = 0; i < BASE_ARRAY_LEN(steps); i++) {
		what = steps[i].step == run->step ? steps[i].what : what;
	}
	wrong(s, OPENETW_MISTAKE_NONE, "%s%s%.200s%s: %s (code %u)", what, *name ? " '" : "", name, *name ? "'" : "",
	      reason, code);
}

static uint32_t stop_of_that_name(const char *name)
{
	struct launch_props p;
	launch_props_init(&p);
	uint32_t code = ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
	return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_SUCCESS : code; /* or it has just ended */
}

uint32_t openetw_recorder_start(struct openetw_recorder *s)
{
	if (s->running) {
		return ERROR_INVALID_STATE;
	}
	if (openetw_recorder_check(s) != OPENETW_MISTAKE_NONE) {
		return ERROR_INVALID_PARAMETER;
	}
	struct launch_run run = {.step = LAUNCH_START};
	struct launch_how how = {.enabling = {.timeout_ms = 0}};
	uint32_t code = describe(s) ? launch_start(&s->session, &how, &run) : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
	if (code == ERROR_ALREADY_EXISTS && run.step == LAUNCH_START && s->replace &&
	    stop_of_that_name(s->session.name) == ERROR_SUCCESS) {
		code = launch_start(&s->session, &how, &run);
	}
	if (code) {
		failed(s, code, &run);
		return code;
	}
	s->handle = run.handle;
	s->running = true;
	return ERROR_SUCCESS;
}

const char *openetw_recorder_note(struct openetw_recorder *s)
{
	s->kernel_now = (struct openetw_kernel){.size = sizeof s->kernel_now};
	if (!s->running || !s->machine || openetw_session_kernel(s->name, &s->kernel_now) != ERROR_SUCCESS) {
		return "";
	}
	return s->kernel_now.note;
}

uint32_t openetw_recorder_stop(struct openetw_recorder *s)
{
	struct launch_props p;
	if (!s->running) {
		return ERROR_INVALID_STATE;
	}
	launch_props_init(&p);
	s->running = false;
	return ControlTraceA(s->handle, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
}
