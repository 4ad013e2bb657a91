/* SPDX-License-Identifier: MIT
 *
 * What logman, tracelog and the autologger verb share: sessions described as in files (session/session.h),
 * starting them, who is enabled in them, and names of providers, keywords and levels.
 */
#ifndef TOOLS_COMMON_SESSION_CONTROL_H
#define TOOLS_COMMON_SESSION_CONTROL_H

#include "tools/common/session_options.h"
#include "tools/common/cli.h"
#include "tools/common/kernel_options.h"
#include "session/session.h"
#include "etw/values/session_names.h"

#define CONTROLLER_KERNEL_SESSION KERNEL_LOGGER_NAMEA

/* Start and enable; on failure nothing runs. *ret_what: which provider was refused, else NULL. */
uint32_t controller_start(const struct session_spec *s, const char **ret_what);
/* With kernel events that EnableFlags have no bits for, and stacks; `more` may be NULL. */
uint32_t controller_start_kernel(const struct session_spec *s, const struct cli_kernel_wish *more,
				 const char **ret_what);
/* A private session in the processes that registered its first provider; of those only which the filters
 * (process id, executable) choose. Enables nothing. */
uint32_t controller_start_private(const struct session_spec *s, EVENT_FILTER_DESCRIPTOR *scope, ULONG count,
				  TRACEHANDLE *ret);
/* The daemon's sentence about the last failure; "" when there is none. */
const char *controller_why(void);
/* FILETIME at which a run that begins now ends by its EndTime; UINT64_MAX: it has none. */
uint64_t controller_end(const struct session_spec *s);
/* What an autologger that is gone left waiting for a consumer, unless its session runs. */
void controller_forget_backlog(const char *name, bool system);
uint32_t controller_enable(TRACEHANDLE session, const struct session_provider *p, uint32_t timeout_ms);
/* "Windows Kernel Trace", whose keywords are the session's EnableFlags. */
bool controller_is_kernel(const struct session_provider *p);
/* After it: cli_provider_tell. */
void controller_tell(const struct session_provider *p);
/* The same as a command line of openetw. `more`: what else it asks of the kernel, or NULL. */
void controller_explain(FILE *f, const struct session_spec *s, const struct cli_kernel_wish *more);
void controller_explain_enable(FILE *f, const char *session, const struct session_provider *p);
void controller_quote(FILE *f, const char *word); /* as one word of a shell */

/* Name or GUID as the tools take it, into guid and name. */
bool controller_provider(const char *text, struct session_provider *ret);
/* What to call a provider: installed manifest's name, or what it said, or "{GUID}". */
void controller_provider_name(const GUID *g, char *out, size_t cap);
/* Keywords of "Windows Kernel Trace", one by one; false behind the last one. */
bool controller_kernel_keyword(int i, const char **ret_name, uint64_t *ret_bit, const char **ret_what);
/* A number, a name or "(name,name)" of that provider's keywords. On failure *ret_bad is the word.
 */
bool controller_keywords(const char *text, const struct guid *g, uint64_t *ret, char *ret_bad, size_t cap);
/* 0-255, 0x…, or win:Error and the like. */
bool controller_level(const char *text, uint8_t *ret);
/* Names of the keyword bits, "a,b", from the installed manifest; empty when none is known. */
void controller_keyword_names(const GUID *g, uint64_t keywords, struct strbuf *out);

/* Everybody enabled in the session, by GUID; stops when `each` is false. */
typedef bool controller_enabled_fn(void *ctx, const GUID *g, const TRACE_ENABLE_INFO *e, uint32_t processes);
uint32_t controller_each_enabled(uint16_t session_id, controller_enabled_fn *each, void *ctx);
/* The answer of EnumerateTraceGuidsEx, heap, whatever its size. */
uint32_t controller_ask(TRACE_QUERY_INFO_CLASS what, const GUID *in, uint8_t **ret, ULONG *ret_len);
/* Every known provider; stops when `each` is false. */
typedef bool controller_guid_fn(void *ctx, const GUID *g);
uint32_t controller_each_guid(controller_guid_fn *each, void *ctx);
/* Every registration of a provider. `enables`: its EnableCount TRACE_ENABLE_INFO, unaligned; see
 * controller_enable_at. */
typedef bool controller_instance_fn(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst,
				    const uint8_t *enables);
void controller_each_instance(const GUID *g, controller_instance_fn *each, void *ctx);
static inline TRACE_ENABLE_INFO controller_enable_at(const uint8_t *enables, ULONG i)
{
	TRACE_ENABLE_INFO e;
	memcpy(&e, enables + i * sizeof e, sizeof e);
	return e;
}

#endif
