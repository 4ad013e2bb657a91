/* SPDX-License-Identifier: MIT
 *
 * What logman, tracelog and the autologger verb share: who is enabled in a session, and names of providers, keywords
 * and levels. Sessions are started by session_start.h.
 */
#ifndef TOOLS_COMMON_SESSION_CONTROL_H
#define TOOLS_COMMON_SESSION_CONTROL_H

#include "tools/common/cli.h"
#include "tools/common/session_start.h"
#include "etw/values/session_names.h"

#define CONTROLLER_KERNEL_SESSION KERNEL_LOGGER_NAMEA

/* What an autologger that is gone left waiting for a consumer, unless its session runs. */
void controller_forget_backlog(const char *name, bool system);

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
