/* SPDX-License-Identifier: MIT
 *
 * The C header. What is the same in all headers comes from data/mc, the rest is made here.
 */
#include "mc/mc_private.h"

#include <stdio.h>
#include <stdlib.h>

extern const char mc_header_start[], mc_header_code[], mc_header_traits[];
extern const size_t mc_header_start_bytes, mc_header_code_bytes, mc_header_traits_bytes;

#define CODE_BEGIN "#ifndef MCGEN_DISABLE_PROVIDER_CODE_GENERATION\n\n"
#define CODE_END   "#endif /* MCGEN_DISABLE_PROVIDER_CODE_GENERATION */\n\n"

/* Data: declared first, so that compilers do not wonder about an initialized extern. */
static void declare(struct strbuf *o, const char *align, const char *type, const char *name, const char *array)
{
	strbuf_addf(o,
		    "EXTERN_C _mcgen_DECLARE %s%s %s%s;\n"
		    "_mcgen_DEFINE %s%s %s%s",
		    align, type, name, array, align, type, name, array);
}

static void put_guid(struct strbuf *o, const char *name, const struct guid *g)
{
	declare(o, "", "const GUID", name, "");
	strbuf_addf(o, " = {0x%08x, 0x%04x, 0x%04x, {", le32_get(g->b), le16_get(g->b + 4), le16_get(g->b + 6));
	for (int i = 8; i < 16; i++) {
		strbuf_addf(o, "%s0x%02x", i > 8 ? ", " : "", g->b[i]);
	}
	strbuf_adds(o, "}};\n");
}

/* Inside a string literal; what is not plain ASCII becomes three octal digits, which nothing behind
 * them can join. */
static void put_literal(struct strbuf *o, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\') {
			strbuf_addf(o, "\\%c", c);
		} else if (c < 0x20 || c > 0x7E || c == '?') {
			strbuf_addf(o, "\\%03o", c);
		} else {
			strbuf_addc(o, (char)c);
		}
	}
}

/* Inside a comment: no way out of it. */
static void put_comment(struct strbuf *o, const char *s)
{
	for (; *s; s++) {
		strbuf_addc(o, (*s == '*' && s[1] == '/') || (*s == '/' && s[1] == '*') ? '.'
			       : *s == '\n' || *s == '\r'                               ? ' '
											: *s);
	}
}

static void put_trait_guid(struct strbuf *o, int kind, const struct guid *g, const char *what)
{
	strbuf_addf(o, "    \"\\x13\\x00\\x%02X", kind);
	for (int i = 0; i < 16; i++) {
		strbuf_addf(o, "\\x%02X", g->b[i]);
	}
	strbuf_addf(o, "\" /* %s */ \\\n", what);
}

static void put_traits(const struct mc_provider *p, struct strbuf *o)
{
	strbuf_addf(o, "#ifndef %s_Traits\n", p->symbol);
	if (!p->traits) {
		strbuf_addf(o, "#define %s_Traits NULL\n", p->symbol);
	} else {
		bool group = !guid_is_zero(&p->p->group_guid);
		const char *name = p->p->include_name ? p->p->name : "";
		size_t n = 2 + strlen(name) + 1 + (group ? 19 : 0) + (p->controlled ? 19 : 0);
		strbuf_addf(o, "#define %s_Traits ( \\\n", p->symbol);
		strbuf_addf(o, "    \"\\x%02X\\x%02X\" /* %u bytes */ \\\n    \"", (unsigned)n & 0xFF,
			    (unsigned)n >> 8 & 0xFF, (unsigned)n);
		put_literal(o, name);
		strbuf_adds(o, "\\x00\" \\\n");
		if (group) {
			put_trait_guid(o, 1, &p->p->group_guid, "provider group");
		}
		if (p->controlled) {
			put_trait_guid(o, 2, &p->p->guid, "provider id for decoding");
		}
		strbuf_adds(o, "    )\n");
	}
	strbuf_addf(o, "#endif\n\n");
}

/* ---- constants -------------------------------------------------------------------------------- */

static void put_names(struct mc *mc, const struct mc_provider *p, enum manifest_kind kind, const char *title,
		      struct strbuf *o)
{
	bool any = false;
	for (const struct manifest_name *n = p->p->names[kind]; n; n = n->next) {
		if (strncmp(n->name, "win:", 4) == 0) {
			continue; /* winmeta.h has them */
		}
		if (!any) {
			strbuf_addf(o, "/* %s */\n", title);
			any = true;
		}
		const char *symbol = mc_name_symbol(mc, p, kind, n);
		o->failed |= !symbol;
		strbuf_addf(o, "#define %s 0x%llx\n", symbol ? symbol : "", (unsigned long long)n->value);
		const char *id =
			kind == MANIFEST_TASK && !guid_is_zero(&n->event_guid) ? mc_identifier(mc, n->name) : NULL;
		if (id) {
			/* Tasks of two providers may have one name. */
			strbuf_addf(o, "#ifndef _%sId_def\n#define _%sId_def\n", id, id);
			put_guid(o, mc_text(mc, "%sId", id), &n->event_guid);
			strbuf_adds(o, "#endif\n");
		}
	}
	if (any) {
		strbuf_addc(o, '\n');
	}
}

static void put_descriptors(const struct mc_provider *p, struct strbuf *o)
{
	strbuf_adds(o, "/* Event descriptors: id, version, channel, level, opcode, task, keyword */\n");
	for (size_t i = 0; i < p->event_count; i++) {
		const struct mc_event *v = &p->events[i];
		const struct manifest_event *e = v->e;
		declare(o, "", "const EVENT_DESCRIPTOR", v->symbol, "");
		strbuf_addf(o, " = {0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%llx};\n", e->id, e->version, v->channel,
			    e->level, e->opcode, e->task, (unsigned long long)e->keyword);
		strbuf_addf(o, "#define %s_value 0x%x\n", v->symbol, e->id);
	}
	strbuf_addc(o, '\n');
}

/* Maps with a symbol are enums. */
static void put_maps(const struct mc_provider *p, bool bits, struct strbuf *o)
{
	for (const struct manifest_map *m = p->p->maps; m; m = m->next) {
		if (m->bits != bits || !m->symbol || !m->symbol[0]) {
			continue;
		}
		strbuf_addf(o, "#ifndef _%s_def\n#define _%s_def\ntypedef enum _%s\n{\n", m->symbol, m->symbol,
			    m->symbol);
		bool any = false;
		for (const struct manifest_map_entry *e = m->entries; e; e = e->next) {
			if (e->symbol && e->symbol[0]) {
				strbuf_addf(o, "    %s%s = %d,\n", m->symbol, e->symbol, (int)e->value);
				any = true;
			}
		}
		if (!any) {
			strbuf_addf(o, "    %s_has_no_symbols\n", m->symbol);
		}
		strbuf_addf(o, "} %s;\n#endif\n\n", m->symbol);
	}
}

/* ---- registration ----------------------------------------------------------------------------- */

static void put_context(const struct mc_provider *p, struct strbuf *o)
{
	const char *base = p->mangled;
	if (p->bit_count) {
		char array[24], bits[24], name[1024];
		snprintf(array, sizeof array, "[%u]", p->bit_count);
		snprintf(bits, sizeof bits, "[%u]", (p->bit_count - 1) / 32 + 1);
		strbuf_adds(o, "/* Which pairs of level and keyword are wanted. */\n");
		snprintf(name, sizeof name, "%sEnableBits", base);
		declare(o, "DECLSPEC_CACHEALIGN ", "ULONG", name, bits);
		strbuf_adds(o, p->bit_count > 32 ? " = {0, 0};\n" : " = {0};\n");
		snprintf(name, sizeof name, "%sKeywords", base);
		declare(o, "", "const ULONGLONG", name, array);
		strbuf_adds(o, " = {");
		for (uint32_t i = 0; i < p->bit_count; i++) {
			strbuf_addf(o, "%s0x%llx", i ? ", " : "", (unsigned long long)p->bits[i].keyword);
		}
		snprintf(name, sizeof name, "%sLevels", base);
		strbuf_adds(o, "};\n");
		declare(o, "", "const unsigned char", name, array);
		strbuf_adds(o, " = {");
		for (uint32_t i = 0; i < p->bit_count; i++) {
			strbuf_addf(o, "%s%u", i ? ", " : "", p->bits[i].level);
		}
		strbuf_adds(o, "};\n\n");
	}
	char context[1024];
	snprintf(context, sizeof context, "%s_Context", p->symbol);
	strbuf_adds(o, "/* State of the provider */\n");
	declare(o, "", "MCGEN_TRACE_CONTEXT", context, "");
	strbuf_addf(o, " = {0, (ULONG_PTR)%s_Traits, 0, 0, 0, 0, 0, 0, ", p->symbol);
	if (p->bit_count) {
		strbuf_addf(o, "%u, %sEnableBits, %sKeywords, %sLevels};\n", p->bit_count, base, base, base);
	} else {
		strbuf_adds(o, "0, NULL, NULL, NULL};\n");
	}
	strbuf_addf(o, "#define %s (%s_Context.RegistrationHandle)\n", p->handle, p->symbol);
}

static void put_register(const struct mc *mc, const struct mc_provider *p, struct strbuf *o)
{
	const char *function = p->traits ? "McGenEventRegisterContext" : "McGenEventRegister";
	const char *last = p->traits ? "_Context" : "";
	const char *last_name = p->traits ? p->symbol : p->handle;
	strbuf_addf(o,
		    "\n/* Do the write macros take an activity id first? */\n"
		    "#define %s_EventWriteActivity %d\n\n",
		    p->symbol, mc->o.activity);
	strbuf_addf(o,
		    "/* At the start of the program or library. An error may be ignored: the write "
		    "macros do\n * nothing then. */\n"
		    "#ifndef EventRegister%s\n#define EventRegister%s() %s(&%s%s, "
		    "McGenControlCallbackV2, &%s_Context, &%s%s)\n#endif\n\n",
		    p->reg, p->reg, function, p->symbol, p->controlled ? "_ControlGuid" : "", p->symbol, last_name,
		    last);
	strbuf_addf(o,
		    "/* The same under another GUID. */\n"
		    "#ifndef EventRegisterByGuid%s\n#define EventRegisterByGuid%s(Guid) %s(&(Guid), "
		    "McGenControlCallbackV2, &%s_Context, &%s%s)\n#endif\n\n",
		    p->reg, p->reg, function, p->symbol, last_name, last);
	strbuf_addf(o,
		    "/* Before a library is unloaded; at the end of the program. */\n"
		    "#ifndef EventUnregister%s\n#define EventUnregister%s() "
		    "McGenEventUnregister(&%s)\n#endif\n\n",
		    p->reg, p->reg, p->handle);
}

/* Contexts that the caller allocates, one for each registration of the same provider. */
static void put_for_context(const struct mc_provider *p, struct strbuf *o)
{
	const char *r = p->reg, *s = p->symbol, *b = p->mangled;
	strbuf_adds(o, "#ifdef MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION\n\n");
	strbuf_addf(o,
		    "typedef struct tagMcGenContext_%s {\n    MCGEN_TRACE_CONTEXT Context;\n"
		    "    ULONG EnableBits[%u];\n} McGenContext_%s;\n\n",
		    b, p->bit_count ? (p->bit_count - 1) / 32 + 1 : 1, b);
	strbuf_addf(o,
		    "#define EventRegister%s_ForContext(pContext) "
		    "_mcgen_PASTE2(_mcgen_RegisterForContext_%s_, MCGEN_EVENTREGISTER)(&%s%s, "
		    "pContext)\n",
		    r, b, s, p->controlled ? "_ControlGuid" : "");
	strbuf_addf(o,
		    "#define EventRegisterByGuid%s_ForContext(Guid, pContext) "
		    "_mcgen_PASTE2(_mcgen_RegisterForContext_%s_, MCGEN_EVENTREGISTER)(&(Guid), "
		    "pContext)\n",
		    r, b);
	strbuf_addf(o,
		    "#define EventUnregister%s_ForContext(pContext) "
		    "McGenEventUnregister(&(pContext)->Context.RegistrationHandle)\n"
		    "#define %s_ForContext(pContext) ((pContext)->Context.RegistrationHandle)\n\n",
		    r, p->handle);
	strbuf_addf(o,
		    "_mcgen_FUNCTION\nULONG\n"
		    "_mcgen_PASTE2(_mcgen_RegisterForContext_%s_, MCGEN_EVENTREGISTER)(\n"
		    "    _In_ LPCGUID ProviderId,\n    _Out_ McGenContext_%s* pContext\n    )\n{\n"
		    "    memset(pContext, 0, sizeof(*pContext));\n"
		    "    pContext->Context.Logger = (ULONG_PTR)%s_Traits;\n",
		    b, b, s);
	if (p->bit_count) {
		strbuf_addf(o,
			    "    pContext->Context.EnableBitsCount = %u;\n"
			    "    pContext->Context.EnableBitMask = pContext->EnableBits;\n"
			    "    pContext->Context.EnableKeyWords = %sKeywords;\n"
			    "    pContext->Context.EnableLevel = %sLevels;\n",
			    p->bit_count, b, b);
	}
	strbuf_addf(o,
		    "    return %s(ProviderId, McGenControlCallbackV2, &pContext->Context,\n"
		    "        &pContext->Context%s);\n}\n\n",
		    p->traits ? "McGenEventRegisterContext" : "McGenEventRegister",
		    p->traits ? "" : ".RegistrationHandle");
	strbuf_addf(o,
		    "/* Only this provider's contexts pass. */\nFORCEINLINE\nMcGenContext_%s*\n"
		    "_mcgen_CheckContextType_%s(_In_ McGenContext_%s* pContext)\n{\n"
		    "    return pContext;\n}\n\n"
		    "#endif /* MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION */\n\n",
		    b, b, b);
}

/* ---- events ----------------------------------------------------------------------------------- */

static void put_event(const struct mc *mc, const struct mc_provider *p, const struct mc_event *v, struct strbuf *o)
{
	struct strbuf args = {0};
	const char *s = v->symbol, *m = v->macro, *prefix = mc->o.prefix;
	if (mc->o.activity) {
		strbuf_adds(&args, ", Activity");
	}
	mc_arguments(mc, v->e->template, &args);
	const char *list = args.s ? args.s : "";
	const char *first = *list ? list + 2 : ""; /* without the comma */
	o->failed |= args.failed;
	if (v->e->text && v->e->text[0]) {
		strbuf_adds(o, "/* ");
		put_comment(o, v->e->text);
		strbuf_adds(o, " */\n");
	}
	if (mc_needs_packing(v->e->template)) {
		strbuf_addf(o, "/* Event %u: the caller packs data; the top of this file says how. */\n", v->e->id);
	}
	strbuf_addf(o, "#define EventEnabled%s() MCGEN_EVENT_BIT_SET(%sEnableBits, %u)\n", s, p->mangled, v->bit);
	strbuf_addf(o,
		    "#define EventEnabled%s_ForContext(pContext) "
		    "MCGEN_EVENT_BIT_SET(_mcgen_CheckContextType_%s(pContext)->EnableBits, %u)\n",
		    s, p->mangled, v->bit);
	strbuf_addf(o,
		    "#define %s%s(%s) \\\n        (MCGEN_EVENT_ENABLED(%s) \\\n"
		    "        ? _mcgen_TEMPLATE_FOR_%s(&%s_Context, &%s%s) : 0)\n",
		    prefix, m, first, s, s, p->symbol, s, list);
	strbuf_addf(o,
		    "#define %s%s_AssumeEnabled(%s) \\\n"
		    "        _mcgen_TEMPLATE_FOR_%s(&%s_Context, &%s%s)\n",
		    prefix, m, first, s, p->symbol, s, list);
	strbuf_addf(o,
		    "#define %s%s_ForContext(pContext%s) \\\n"
		    "        (MCGEN_EVENT_ENABLED_FORCONTEXT(pContext, %s) \\\n"
		    "        ? _mcgen_TEMPLATE_FOR_%s(&(pContext)->Context, &%s%s) : 0)\n",
		    prefix, m, list, s, s, s, list);
	strbuf_addf(o,
		    "#define %s%s_ForContextAssumeEnabled(pContext%s) \\\n"
		    "        _mcgen_TEMPLATE_FOR_%s(&_mcgen_CheckContextType_%s(pContext)->Context, "
		    "&%s%s)\n",
		    prefix, m, list, s, p->mangled, s, list);
	strbuf_addf(o,
		    "#define _mcgen_TEMPLATE_FOR_%s _mcgen_PASTE2(McTemplate%s%s_, "
		    "MCGEN_EVENTWRITETRANSFER)\n\n",
		    s, mc->o.activity ? "K0" : "U0", v->codes);
	strbuf_finish(&args);
}

static void put_provider(struct mc *mc, const struct mc_provider *p, struct strbuf *o)
{
	char id[37];
	strbuf_adds(o, "/* ---- provider ");
	put_comment(o, p->p->name);
	strbuf_addf(o, ", %u events ---- */\n\n/* {%s} */\n", p->p->event_count, guid_format(&p->p->guid, id));
	put_guid(o, p->symbol, &p->p->guid);
	if (p->controlled) {
		const char *control = mc_text(mc, "%s_ControlGuid", p->symbol);
		o->failed |= !control;
		strbuf_addf(o, "/* enabled by {%s} */\n", guid_format(&p->p->control_guid, id));
		put_guid(o, control ? control : "", &p->p->control_guid);
	}
	strbuf_addc(o, '\n');
	put_traits(p, o);
	put_names(mc, p, MANIFEST_CHANNEL, "Channels", o);
	put_names(mc, p, MANIFEST_LEVEL, "Levels", o);
	put_names(mc, p, MANIFEST_OPCODE, "Opcodes", o);
	put_names(mc, p, MANIFEST_TASK, "Tasks", o);
	put_names(mc, p, MANIFEST_KEYWORD, "Keywords", o);
	put_descriptors(p, o);
	if (mc->o.no_code) {
		return;
	}
	strbuf_adds(o, CODE_BEGIN);
	put_maps(p, true, o);
	put_maps(p, false, o);
	put_context(p, o);
	put_register(mc, p, o);
	put_for_context(p, o);
	for (size_t i = 0; i < p->event_count; i++) {
		put_event(mc, p, &p->events[i], o);
	}
	strbuf_adds(o, CODE_END);
}

/* ---- template functions ----------------------------------------------------------------------- */

static int by_codes(const void *a, const void *b)
{
	const struct mc_event *x = *(const struct mc_event *const *)a, *y = *(const struct mc_event *const *)b;
	int c = strcmp(x->codes, y->codes);
	return c ? c : (x < y ? -1 : x > y);
}

static void put_templates(const struct mc *mc, struct strbuf *o)
{
	size_t n = 0;
	for (size_t i = 0; i < mc->provider_count; i++) {
		n += mc->providers[i].event_count;
	}
	const struct mc_event **list = calloc(n + 1, sizeof *list);
	if (!list) {
		o->failed = true;
		return;
	}
	n = 0;
	for (size_t i = 0; i < mc->provider_count; i++) {
		for (size_t k = 0; k < mc->providers[i].event_count; k++) {
			list[n++] = &mc->providers[i].events[k];
		}
	}
	qsort(list, n, sizeof *list, by_codes);
	strbuf_adds(o, CODE_BEGIN);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(list[i]->codes, list[i - 1]->codes) != 0) {
			mc_template_function(mc, list[i]->codes, list[i]->e->template, o);
		}
	}
	strbuf_adds(o, CODE_END);
	free(list);
}

static void put_messages(struct mc *mc, struct strbuf *o)
{
	const struct mc_message **m = mc_messages_by_id(mc);
	o->failed |= !m;
	for (size_t i = 0; m && i < mc->message_count; i++) {
		const char *id = m[i]->id ? mc_identifier(mc, m[i]->id) : NULL;
		if (id) {
			strbuf_addf(o, "#define MSG_%-32s 0x%08XL\n", id, m[i]->value);
		}
	}
	free(m);
}

void mc_write_header(const struct mc *constant, struct strbuf *o)
{
	struct mc *mc = (struct mc *)constant; /* names are made on the way, in its arena */
	strbuf_adds(o, "/* Made by \"openetw mc\" from ");
	put_comment(o, mc->o.source ? mc->o.source : "a manifest");
	strbuf_adds(o, ". Changes here are lost when it is made again. */\n");
	strbuf_add(o, mc_header_start, mc_header_start_bytes);
	if (!mc->o.no_code) {
		if (mc->o.callout) {
			strbuf_adds(o, "#define _mcgen_CALLOUT 1\n\n");
		}
		strbuf_add(o, mc_header_code, mc_header_code_bytes);
		if (mc->any_traits) {
			strbuf_add(o, mc_header_traits, mc_header_traits_bytes);
		}
	}
	for (size_t i = 0; i < mc->provider_count; i++) {
		put_provider(mc, &mc->providers[i], o);
	}
	if (!mc->o.no_code) {
		put_templates(mc, o);
	}
	strbuf_adds(o, "#if defined(__cplusplus)\n}\n#endif\n\n");
	put_messages(mc, o);
	o->failed |= mc->arena.failed;
}
