/* SPDX-License-Identifier: MIT */
#include "tools/tables/function_names.h"

/* Semicolons divide frames: a name has none. */
static void without_semicolons(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		p[i] = p[i] == ';' ? ':' : p[i];
	}
}

/* Printable, and without semicolons. */
static void BASE_PRINTF(3, 4) put(char *out, size_t cap, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(out, cap, fmt, ap);
	va_end(ap);
	without_semicolons(out, strlen(out));
}

void names_of(const struct names *n, uint32_t pid, uint64_t address, uint64_t time, char *out, size_t cap)
{
	struct openetw_symbol s = {.size = sizeof s};
	struct openetw_module m = {.size = sizeof m};
	bool in_kernel = address >= NAMES_KERNEL_SPACE;
	const char *function = NULL;
	if (openetw_state_symbol(n->state, pid, address, time, &s) == ERROR_SUCCESS) {
		const char *module = s.module ? s.module : "jit";
		put(out, cap, "%s!%s", in_kernel && module[0] == '[' ? "kernel" : module, s.name);
	} else if (in_kernel && (function = cli_kallsyms_name(n->kernel, address)) != NULL) {
		put(out, cap, "kernel!%s", function);
	} else if (openetw_state_module(n->state, pid, address, time, &m) == ERROR_SUCCESS) {
		put(out, cap, "%s!+0x%llx", m.name, (unsigned long long)(address - m.base));
	} else {
		put(out, cap, "?!?");
	}
}

void names_all(const struct names *n, uint32_t pid, uint64_t address, uint64_t time, struct strbuf *out)
{
	char name[1024];
	struct openetw_module m = {.size = sizeof m};
	names_of(n, pid, address, time, name, sizeof name);
	strbuf_adds(out, name);
	if (!n->inlines || address >= NAMES_KERNEL_SPACE ||
	    openetw_state_module(n->state, pid, address, time, &m) != ERROR_SUCCESS) {
		return;
	}
	const char *p = inlines_at(n->inlines, &m, address);
	while (p && *p) {
		size_t length = strcspn(p, ";");
		strbuf_addc(out, ';');
		size_t from = out->len;
		strbuf_addf_printable(out, "%s!%.*s (inlined)", m.name, (int)length, p); /* of any length */
		if (!out->failed) {
			without_semicolons(out->s + from, out->len - from);
		}
		p += length + (p[length] == ';');
	}
}
