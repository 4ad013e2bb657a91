/* SPDX-License-Identifier: MIT
 *
 * launch: sessions as they are described, done with the functions of Windows. Front door.
 *
 * A struct etw_session (session/session.h) says what somebody wishes. launch_start() does it: the session, its kernel
 * events, limits, rotation, and one provider after the other. When any of that fails, nothing runs. The tools and
 * openetw/recorder.h both start their sessions here. Whoever includes this needs libetw, whose exported functions are
 * called like those of any program.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "session/session.h"

#include "evntcons.h"
#include "evntrace.h"

/* ---- filters on their way into EnableTraceEx2 ---------------------------------------------------- */

struct launch_filters {
	EVENT_FILTER_DESCRIPTOR d[MAX_EVENT_FILTERS_COUNT];
	void *memory[MAX_EVENT_FILTERS_COUNT];
	ULONG count;
	bool stack; /* some choose who has stacks: EVENT_ENABLE_PROPERTY_STACK_TRACE is needed */
};
void launch_filters_init(struct launch_filters *f);
void launch_filters_finish(struct launch_filters *f);
/* A copy of these bytes. */
bool launch_filters_put(struct launch_filters *f, uint32_t type, const void *p, size_t n);
/* From text; *d says what is wrong with it. */
bool launch_filters_add(struct launch_filters *f, enum session_filter kind, const char *text, struct diag *d);

/* ---- providers ----------------------------------------------------------------------------------- */

struct launch_enabling {
	const struct guid *source; /* NULL: none */
	uint32_t timeout_ms;       /* what a provider may take to take notice; 0: nobody waits */
	bool capture;              /* asks for its state instead */
};
struct launch_why {
	char text[500]; /* "": none is known */
};
/* Enables a provider as it is described, or disables it when it is not `enabled`. A Win32 code; *why has a sentence when
 * it was not EnableTraceEx2 that refused. */
uint32_t launch_enable(TRACEHANDLE session, const struct session_provider *p, const struct launch_enabling *how,
		       struct launch_why *why);

/* ---- sessions ------------------------------------------------------------------------------------ */

/* How to start it. All zero is the ordinary way, but for `enabling`. */
struct launch_how {
	struct launch_enabling enabling;
	bool late_is_fine; /* a provider that takes longer is enabled all the same, and that is enough */
	/* Private sessions: in which processes. Filters of other kinds are left out. */
	const EVENT_FILTER_DESCRIPTOR *scope;
	ULONG scope_count;
	uint32_t owner_pid; /* it ends with that process, unless the session says with which one; 0: with none */
	/* What follows may be NULL. Instead of StartTraceA: */
	ULONG (*start)(TRACEHANDLE *ret, const char *name, EVENT_TRACE_PROPERTIES *p);
	/* The session runs, without limits and providers yet. Another code than 0 ends it. */
	uint32_t (*begun)(void *ctx, TRACEHANDLE session);
	/* It has its limits, and no provider is enabled yet. */
	void (*limited)(void *ctx, TRACEHANDLE session);
	/* A provider is enabled; code: ERROR_TIMEOUT when it was late. */
	void (*enabled)(void *ctx, const struct session_provider *p, uint32_t code);
	/* It failed, and what runs of it is going to be stopped, which may change openetw_last_error_text(). */
	void (*refused)(void *ctx, uint32_t code);
	void *ctx;
};
enum launch_step {
	LAUNCH_START,
	LAUNCH_STACKS, /* of kernel events */
	LAUNCH_LIMIT,
	LAUNCH_ROTATE,
	LAUNCH_ENABLE,
};
struct launch_props {
	EVENT_TRACE_PROPERTIES p;
	char name[4096];
	char file[4096];
};
/* What came of it. */
struct launch_run {
	TRACEHANDLE handle; /* 0: nothing runs */
	struct launch_props props;
	enum launch_step step;                  /* where it failed */
	const struct session_provider *refused; /* LAUNCH_ENABLE: which one */
	struct launch_why why;
};
void launch_props_init(struct launch_props *p);
/* Win32 code. */
uint32_t launch_start(const struct etw_session *s, const struct launch_how *how, struct launch_run *ret);
/* Kernel events, with those of the provider "Windows Kernel Trace". */
struct kernel_mask launch_kernel_mask(const struct etw_session *s);
/* "NT Kernel Logger" and "Circular Kernel Context Logger", in any case: they have kernel events by their names. */
bool launch_is_kernel_name(const char *name);
/* FILETIME at which a run that begins now ends by its EndTime; UINT64_MAX: it has none. */
uint64_t launch_end(const struct etw_session *s);

#endif
