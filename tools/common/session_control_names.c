/* SPDX-License-Identifier: MIT
 * Names of providers, keywords and levels as the Windows tools take and print them.
 */
#include "tools/common/session_options.h"
#include "tools/common/session_control.h"
#include "base/level.h"
#include "base/parse.h"

#include "filter/filter_parse.h"
#include "etw/values/guids.h"
#include "tools/common/cli.h"

#include "kernel_payload.h"

#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

/* The kernel's provider and its keywords, which are EnableFlags. */
static const char kernel_name[] = "Windows Kernel Trace";
static const struct {
	const char *name;
	uint64_t bit;
	const char *what; /* NULL: another name of the one before it */
} kernel_keywords[] = {
	{"process", 0x1, "Process creations/deletions"},
	{"thread", 0x2, "Thread creations/deletions"},
	{"img", 0x4, "Image load"},
	{"proccntr", 0x8, "Process counters"},
	{"cswitch", 0x10, "Context switches"},
	{"dpc", 0x20, "Deferred procedure calls: software interrupts"},
	{"isr", 0x40, "Interrupts"},
	{"syscall", 0x80, "System calls"},
	{"disk", 0x100, "Disk IO"},
	{"file", 0x200, "File details"},
	{"diskinit", 0x400, "Disk IO entry"},
	{"dispatcher", 0x800, "Dispatcher operations: threads made ready"},
	{"pf", 0x1000, "Page faults"},
	{"hf", 0x2000, "Hard page faults"},
	{"virtalloc", 0x4000, "Virtual memory allocations"},
	{"vamap", 0x8000, "Mappings of files"},
	{"net", 0x10000, "Network TCP/IP"},
	{"registry", 0x20000, "Registry details (not on Linux)"},
	{"dbgprint", 0x40000, "Debug print (not on Linux)"},
	{"alpc", 0x100000, "ALPC (not on Linux)"},
	{"splitio", 0x200000, "Split IO"},
	{"driver", 0x800000, "Driver delays (not on Linux)"},
	{"profile", 0x1000000, "Sample based profiling"},
	{"fileiocompletion", 0x2000000, "File IO completion"},
	{"fileio", 0x4000000, "File IO"},
	{"fileioinit", 0x4000000, NULL},
};

bool controller_kernel_keyword(int i, const char **ret_name, uint64_t *ret_bit, const char **ret_what)
{
	if (i < 0 || (size_t)i >= BASE_ARRAY_LEN(kernel_keywords) || !kernel_keywords[i].what) {
		return false;
	}
	*ret_name = kernel_keywords[i].name;
	*ret_bit = kernel_keywords[i].bit;
	*ret_what = kernel_keywords[i].what;
	return true;
}

/* Names that logman has for providers whose manifest calls them otherwise. */
static const struct {
	const char *name;
	struct guid guid;
} classic_names[] = {
	{kernel_name, GUID_INIT(ETW_GUID_SYSTEM_TRACE_CONTROL)},
	{".NET Common Language Runtime", GUID_INIT(KP_DOT_NETRUNTIME_GUID)},
	{"ASP.NET Events", GUID_INIT(0xaff081fe, 0x0247, 0x4275, 0x9c, 0x4e, 0x02, 0x1f, 0x3d, 0xc1, 0xda, 0x35)},
};

bool controller_provider(const char *text, struct session_provider *ret)
{
	GUID g;
	*ret = (struct session_provider){.enabled = true, .level = 255};
	const struct guid *classic = NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(classic_names); i++) {
		classic = strcasecmp(text, classic_names[i].name) == 0 ? &classic_names[i].guid : classic;
	}
	if (classic) {
		ret->guid = *classic;
	} else if (cli_provider_guid(text, &g)) {
		memcpy(ret->guid.b, &g, 16);
	} else {
		return false;
	}
	struct guid plain;
	if (guid_parse(text + (*text == '#'), &plain) < 0) {
		snprintf(ret->name, sizeof ret->name, "%s", text + (*text == '*'));
	}
	return true;
}

/* An answer of the catalogue whose size is told first. */
static uint8_t *fields(const GUID *g, EVENT_FIELD_TYPE type, uint64_t value, bool all)
{
	ULONG bytes = 0;
	GUID copy = *g;
	TDHSTATUS code = all ? TdhEnumerateProviderFieldInformation(&copy, type, NULL, &bytes)
			     : TdhQueryProviderFieldInformation(&copy, value, type, NULL, &bytes);
	uint8_t *p = code == ERROR_INSUFFICIENT_BUFFER && bytes ? malloc(bytes) : NULL;
	PPROVIDER_FIELD_INFOARRAY array = (PPROVIDER_FIELD_INFOARRAY)(void *)p;
	if (p) {
		code = all ? TdhEnumerateProviderFieldInformation(&copy, type, array, &bytes)
			   : TdhQueryProviderFieldInformation(&copy, value, type, array, &bytes);
	}
	if (p && code != ERROR_SUCCESS) {
		free(p);
		p = NULL;
	}
	return p;
}

static bool wide_text(const uint8_t *base, ULONG offset, char *out, size_t cap)
{
	const uint16_t *w = (const uint16_t *)(const void *)(base + offset);
	out[0] = 0;
	return offset && utf16_to_utf8_lossy(w, utf16_len(w), out, cap) > 0;
}

static bool keyword_bit(const struct guid *g, const char *word, size_t n, uint64_t *inout)
{
	if (guid_equal(g, &kernel_trace_control_guid)) {
		for (size_t i = 0; i < BASE_ARRAY_LEN(kernel_keywords); i++) {
			const char *k = kernel_keywords[i].name;
			if (strlen(k) == n && strncasecmp(k, word, n) == 0) {
				*inout |= kernel_keywords[i].bit;
				return true;
			}
		}
		return false;
	}
	GUID guid;
	memcpy(&guid, g->b, 16);
	uint8_t *mem = fields(&guid, EventKeywordInformation, 0, true);
	const PROVIDER_FIELD_INFOARRAY *a = (const void *)mem;
	bool found = false;
	for (ULONG i = 0; a && i < a->NumberOfElements && !found; i++) {
		char name[256];
		wide_text(mem, a->FieldInfoArray[i].NameOffset, name, sizeof name);
		if (strlen(name) == n && strncasecmp(name, word, n) == 0) {
			*inout |= a->FieldInfoArray[i].Value;
			found = true;
		}
	}
	free(mem);
	return found;
}

bool controller_keywords(const char *text, const struct guid *g, uint64_t *ret, char *ret_bad, size_t cap)
{
	uint64_t v = 0;
	if (parse_number(text, 0, UINT64_MAX, ret)) {
		return true;
	}
	const char *s = text + (*text == '(');
	while (*s && *s != ')') {
		size_t skip = strspn(s, ", ");
		s += skip;
		size_t n = strcspn(s, ",)");
		while (n > 0 && s[n - 1] == ' ') {
			n--;
		}
		char one[64];
		uint64_t bits;
		snprintf(one, sizeof one, "%.*s", (int)n, s);
		if (parse_number(one, 0, UINT64_MAX, &bits)) {
			v |= bits;
		} else if (n == 0 || !keyword_bit(g, s, n, &v)) {
			snprintf(ret_bad, cap, "%.*s", (int)n, s);
			return false;
		}
		s += strcspn(s, ",)");
	}
	*ret = v;
	return true;
}

bool controller_level(const char *text, uint8_t *ret)
{
	uint64_t v;
	if (parse_number(text, 0, UINT64_MAX, &v)) {
		*ret = (uint8_t)v;
		return v <= 255;
	}
	size_t n = strlen(text);
	if (n >= 2 && text[0] == '(' && text[n - 1] == ')') {
		text++;
		n -= 2;
	}
	return level_parse(text, n, ret);
}

void controller_keyword_names(const GUID *g, uint64_t keywords, struct strbuf *out)
{
	for (size_t i = 0; memcmp(g, &kernel_trace_control_guid, sizeof *g) == 0 && i < BASE_ARRAY_LEN(kernel_keywords);
	     i++) {
		if (kernel_keywords[i].what && (keywords & kernel_keywords[i].bit)) {
			strbuf_addf(out, "%s%s", out->len ? "," : "", kernel_keywords[i].name);
		}
	}
	uint8_t *mem = keywords && !out->len ? fields(g, EventKeywordInformation, keywords, false) : NULL;
	const PROVIDER_FIELD_INFOARRAY *a = (const void *)mem;
	for (ULONG i = 0; a && i < a->NumberOfElements; i++) {
		char name[256];
		if (wide_text(mem, a->FieldInfoArray[i].NameOffset, name, sizeof name)) {
			strbuf_addf(out, "%s%s", out->len ? "," : "", name);
		}
	}
	free(mem);
}

/* Name that an installed manifest gives the GUID. */
static bool installed_name(const GUID *g, char *out, size_t cap)
{
	ULONG bytes = 0;
	bool found = false;
	if (TdhEnumerateProviders(NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return false;
	}
	uint8_t *all = malloc(bytes);
	PPROVIDER_ENUMERATION_INFO info = (PPROVIDER_ENUMERATION_INFO)(void *)all;
	if (all && TdhEnumerateProviders(info, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < info->NumberOfProviders && !found; i++) {
			const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
			found = memcmp(&p->ProviderGuid, g, sizeof *g) == 0 &&
				wide_text(all, p->ProviderNameOffset, out, cap);
		}
	}
	free(all);
	return found;
}

void controller_provider_name(const GUID *g, char *out, size_t cap)
{
	struct guid b;
	char text[37];
	memcpy(b.b, g, 16);
	if (guid_equal(&b, &kernel_trace_control_guid)) {
		snprintf(out, cap, "%s", kernel_name);
	} else if (!installed_name(g, out, cap) &&
		   openetw_registered_name((const struct openetw_guid *)g, out, (uint32_t)cap) != ERROR_SUCCESS) {
		snprintf(out, cap, "{%s}", guid_format(&b, text));
	}
}
