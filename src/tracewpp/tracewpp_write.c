/* SPDX-License-Identifier: MIT
 *
 * The header of a source: what is always the same (data/wpp/tmh.h), a staging function for each row
 * of types, a macro for each call, and the formats.
 */
#include "tracewpp/tracewpp_private.h"

#include "format/schema_section.h"
#include "mc/mc.h"

#include <stdio.h>
#include <stdlib.h>

extern const char tracewpp_tmh[];
extern const size_t tracewpp_tmh_bytes;

#define FIRST_NUMBER 10u

/* "main.c" -> "main_c" */
static void identifier(const char *name, struct strbuf *out)
{
	for (const char *s = name; *s; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
		strbuf_addc(out, plain ? *s : '_');
	}
}

static void staging_name(const struct wpp_message *m, struct strbuf *out)
{
	strbuf_adds(out, "WPP_SF_");
	for (size_t i = 0; i < m->count; i++) {
		const char *code = m->types[i]->code;
		bool bare = !code[0] || (code[1] && code[0] != '_');
		strbuf_addf(out, bare ? "_%s_" : "%s", code);
	}
}

static void staging_function(const struct wpp_message *m, const char *name, struct strbuf *out)
{
	strbuf_addf(out,
		    "#ifndef %s_def\n#define %s_def\nstatic __inline__ __attribute__((unused)) void %s("
		    "TRACEHANDLE Logger, USHORT Number, const GUID *Guid",
		    name, name, name);
	for (size_t i = 0; i < m->count; i++) {
		strbuf_addf(out, ", %s _a%zu", m->types[i]->ctype, i + 1);
	}
	strbuf_adds(out, ")\n{\n    WPP_TRACE(Logger, WPP_TRACE_OPTIONS, (GUID *)Guid, Number,\n");
	for (size_t i = 0; i < m->count; i++) {
		strbuf_addf(out, "        %s_a%zu)\n", m->types[i]->macro, i + 1);
	}
	strbuf_adds(out, "        (void *)0);\n}\n#endif\n");
}

static void condition_name(const struct wpp_function *f, struct strbuf *out)
{
	strbuf_adds(out, "WPP_");
	for (size_t i = 0; i < f->count; i++) {
		strbuf_addf(out, "%s_", f->params[i].name);
	}
}

/* "(LEVEL, TRACE_X)" as the macros of the conditions are called. */
static void condition_args(const struct wpp_function *f, struct strbuf *out)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct wpp_parameter *p = &f->params[i];
		strbuf_addf(out, "%s%s", i ? ", " : "", p->constant ? p->constant : p->name);
	}
}

static void one_line(const char *s, struct strbuf *out)
{
	for (; *s; s++) {
		strbuf_addc(out, *s == '\n' || *s == '\r' ? ' ' : *s);
	}
}

/* What a call's macro is called: the trace function is defined as this, file and line. */
static void call_name(const struct wpp_call *c, const char *kind, const char *file, uint32_t line, struct strbuf *out)
{
	strbuf_addf(out, "WPP_%s_%s_%s%u", kind, c->f->name, file, line);
}

/* How many arguments the preprocessor sees. */
static size_t arguments(const struct wpp_call *c)
{
	size_t n = c->extra + c->f->message;
	for (size_t i = 0; i < c->f->count; i++) {
		n += c->f->params[i].constant == NULL;
	}
	return n ? n : 1;
}

static void add_literal(const char *text, struct strbuf *out)
{
	strbuf_addc(out, '"');
	for (const char *s = text; *s; s++) {
		if ((uint8_t)*s < ' ' || *s == '"' || *s == '\\' || *s == '?') {
			strbuf_addf(out, "\\%03o", (unsigned)(uint8_t)*s);
		} else {
			strbuf_addc(out, *s);
		}
	}
	strbuf_addc(out, '"');
}

static bool alike(const struct wpp_call *a, const struct wpp_call *b)
{
	return a->f == b->f && a->line == b->line;
}

/* Several calls of a function in a line with as many arguments are told apart by their texts. */
static void put_number(const struct wpp_call *c, unsigned number, struct strbuf *out)
{
	size_t open = 0;
	for (const struct wpp_call *o = c; o; o = o->next) {
		if (alike(o, c) && arguments(o) == arguments(c)) {
			bool last = true;
			for (const struct wpp_call *n = o->next; n && last; n = n->next) {
				last = !alike(n, c) || arguments(n) != arguments(c) ||
				       strcmp(n->message, c->message) == 0;
			}
			if (last) {
				strbuf_addf(out, "%u", number + o->number - c->number);
				break;
			}
			strbuf_adds(out, "(__builtin_strcmp(MSG, ");
			add_literal(o->message, out);
			strbuf_addf(out, ") == 0 ? %u : ", number + o->number - c->number);
			open++;
		}
	}
	while (open-- > 0) {
		strbuf_addc(out, ')');
	}
}

/* printf's text of a message, for WPP_DEBUG: the extended conversions are numbers, pointers, or text. */
static void debug_format(const struct tracewpp *w, const struct wpp_call *c, const struct wpp_message *m,
			 struct strbuf *out)
{
	struct strbuf b = {0}, args = {0};
	const char *s = m->format.s ? m->format.s : "";
	for (; *s; s++) {
		if (*s != '%') {
			strbuf_addc(&b, *s);
			continue;
		}
		char *end;
		unsigned long n = s[1] >= '1' && s[1] <= '9' ? strtoul(s + 1, &end, 10) : 0;
		const char *stop = n >= 10 && *end == '!' ? strchr(end + 1, '!') : NULL;
		if (stop && n - 10 < m->count) {
			const struct wpp_type *t = m->types[n - 10];
			const char *code = t->code;
			bool number = t->ctype && strcmp(t->macro, "WPP_LOGASTR(") != 0 &&
				      strcmp(t->macro, "WPP_LOGWSTR(") != 0;
			bool text = stop[-1] == 's' && number; /* extended: s is what its reader prints */
			bool scalar = strcmp(code, "i") == 0 || (*code && strchr("dulLHh", *code));
			if (text && !scalar && !strchr(t->ctype, '*')) {
				strbuf_addf(&b, "<%s>", t->name); /* a struct of the source's */
				s = stop;
				continue;
			}
			strbuf_adds(&args, ", (");
			one_line(m->args[n - 10], &args);
			strbuf_addc(&args, ')');
			if (text) {
				strbuf_adds(&b, strcmp(code, "i") == 0 ? "%lld" : scalar ? "0x%08x" : "%p");
			} else if (strcmp(t->macro, "WPP_LOGWSTR(") == 0) {
				strbuf_addf(&b, "%%%.*sS", (int)(stop - end - 2), end + 1);
			} else {
				strbuf_addf(&b, "%%%.*s", (int)(stop - end - 1), end + 1);
			}
			s = stop;
		} else if (s[1] == '!' && (stop = strchr(s + 2, '!')) != NULL) {
			if (strncmp(s, "%!FUNC!", 7) == 0) {
				strbuf_adds(&b, c->in);
			}
			s = stop;
		} else if (s[1] == '0') {
			strbuf_addf(&b, "%s(%u) : ", w->source, c->line);
			s++;
		} else if (s[1] == 'n' || s[1] == 't') {
			strbuf_addc(&b, s[1] == 'n' ? '\n' : '\t');
			s++;
		} else {
			strbuf_adds(&b, "%%");
			s += s[1] == '%';
		}
	}
	if (c->wide) {
		strbuf_addc(out, 'L');
	}
	add_literal(b.s ? b.s : "", out);
	strbuf_adds(out, args.s ? args.s : "");
	strbuf_finish(&b);
	strbuf_finish(&args);
}

static void call_macro(const struct tracewpp *w, const struct wpp_call *c, const struct wpp_message *m,
		       const char *file, const char *staging, unsigned number, struct strbuf *out)
{
	const struct wpp_function *f = c->f;
	bool first = true, several = false;
	struct strbuf name = {0}, args = {0};
	condition_name(f, &name);
	condition_args(f, &args);
	for (const struct wpp_call *o = w->calls; o; o = o->next) {
		several |= o != c && alike(o, c) && arguments(o) != arguments(c);
	}
	const char *kind = f->paired || f->inner ? "CALL2" : "CALL";
	if (c->first) {
		/* of Name((MSG, …)) the inner brackets are an argument */
		if (f->paired) {
			strbuf_adds(out, "#define ");
			call_name(c, "CALL", file, c->line, out);
			strbuf_adds(out, "(Arguments) ");
			call_name(c, "CALL2", file, c->line, out);
			strbuf_adds(out, " Arguments\n");
		}
		/* of Name(A, B, (MSG, …)) they are taken off first */
		if (f->inner) {
			struct strbuf given = {0};
			for (size_t i = 0; i < f->count; i++) {
				if (!f->params[i].constant) {
					strbuf_addf(&given, "%s, ", f->params[i].name);
				}
			}
			strbuf_adds(out, "#define ");
			call_name(c, "CALL", file, c->line, out);
			strbuf_addf(out, "(%sArguments) WPP_THROUGH_(", given.s ? given.s : "");
			call_name(c, "CALL2", file, c->line, out);
			strbuf_addf(out, ", (%sWPP_BARE_ Arguments))\n", given.s ? given.s : "");
			out->failed |= given.failed;
			strbuf_finish(&given);
		}
		if (several) {
			strbuf_adds(out, "#define ");
			call_name(c, kind, file, c->line, out);
			strbuf_adds(out, "(...) WPP_PICK(");
			call_name(c, "PART", file, c->line, out);
			strbuf_adds(out, "_, WPP_COUNT(__VA_ARGS__))(__VA_ARGS__)\n");
		}
		for (const struct wpp_call *o = c; o; o = o->next) {
			if (alike(o, c) && o->last_line != c->line) {
				struct strbuf other = {0};
				call_name(c, "CALL", file, o->last_line, &other);
				strbuf_addf(out, "#ifndef %s\n#define %s ", other.s, other.s);
				call_name(c, "CALL", file, c->line, out);
				strbuf_adds(out, "\n#endif\n");
				strbuf_finish(&other);
			}
		}
	}
	strbuf_adds(out, "#define ");
	call_name(c, several ? "PART" : kind, file, c->line, out);
	if (several) {
		strbuf_addf(out, "_%zu", arguments(c));
	}
	strbuf_addc(out, '(');
	for (size_t i = 0; i < f->count; i++) {
		if (!f->params[i].constant) {
			strbuf_addf(out, "%s%s", first ? "" : ", ", f->params[i].name);
			first = false;
		}
	}
	if (f->message) {
		strbuf_addf(out, "%sMSG", first ? "" : ", ");
		first = false;
	}
	for (size_t i = 0; i < c->extra; i++) {
		strbuf_addf(out, "%s_a%zu", first ? "" : ", ", i + 1);
		first = false;
	}
	strbuf_addf(out, ") \\\n    %sPRE(%s) (WPP_DEBUG_((", name.s, args.s ? args.s : "");
	debug_format(w, c, m, out);
	strbuf_addf(out, ")) (%sENABLED(%s)) ? %s(%sLOGGER(%s) ", name.s, args.s ? args.s : "", staging, name.s,
		    args.s ? args.s : "");
	put_number(c, number, out);
	strbuf_addf(out, ", WPP_%s_Traceguids", file);
	for (size_t i = 0; i < m->count; i++) {
		/* numbers, pointers to functions and data alike */
		bool pointer = strcmp(m->types[i]->code, "q") == 0;
		strbuf_adds(out, pointer ? ", (const void *)(ULONG_PTR)(" : ", (");
		one_line(m->args[i], out);
		strbuf_addc(out, ')');
	}
	strbuf_addf(out, ") : (void)0) %sPOST(%s)\n", name.s, args.s ? args.s : "");
	strbuf_finish(&name);
	strbuf_finish(&args);
}

/* Of several calls of a function in a line the first of each number of arguments has the macro; those that
 * follow have to have the same types, as only their texts tell them apart. */
static int sort_calls(struct tracewpp *w, struct diag *d)
{
	struct wpp_message m = {.count = 0};
	struct strbuf a = {0}, b = {0};
	unsigned number = 0;
	int err = 0;
	for (struct wpp_call *c = w->calls; c; c = c->next) {
		c->number = number++;
		c->first = c->heads = true;
	}
	for (struct wpp_call *c = w->calls; c && err == 0; c = c->next) {
		for (struct wpp_call *o = c->next; o && err == 0 && c->heads; o = o->next) {
			if (!alike(o, c)) {
				continue;
			}
			o->first = false;
			if (arguments(o) != arguments(c)) {
				continue;
			}
			o->heads = false;
			if (strcmp(o->message, c->message) == 0) {
				continue;
			}
			strbuf_clear(&a);
			strbuf_clear(&b);
			err = wpp_message_build(w, c, &m, d);
			staging_name(&m, &a);
			err = err < 0 ? err : wpp_message_build(w, o, &m, d);
			staging_name(&m, &b);
			if (err == 0 && (strcmp(a.s, b.s) != 0 || c->wide || o->wide)) {
				err = wpp_fail(d, o->line, o->column,
					       "two trace calls of %s in one line whose arguments have different "
					       "types: give it a line of its own",
					       o->f->name);
			}
		}
	}
	strbuf_finish(&a);
	strbuf_finish(&b);
	strbuf_finish(&m.format);
	return err;
}

static void without_blanks(const char *s, struct strbuf *out)
{
	for (; *s; s++) {
		if ((uint8_t)*s > ' ' && *s != ';') {
			strbuf_addc(out, *s);
		}
	}
}

/* ItemEnum names an enumeration, whose names Windows takes out of the .pdb file. */
static void put_item(const struct tracewpp *w, const char *item, struct strbuf *out)
{
	static const char word[] = "ItemEnum(";
	size_t n = strlen(item);
	for (const struct wpp_enum *e = w->enums; e && strncmp(item, word, sizeof word - 1) == 0; e = e->next) {
		size_t k = strlen(e->name);
		if (n == sizeof word + k && memcmp(item + sizeof word - 1, e->name, k) == 0) {
			strbuf_addf(out, "ItemListLong(%s)", e->list);
			return;
		}
	}
	strbuf_adds(out, item);
}

/* #typev and its arguments. */
static void format(const struct tracewpp *w, const struct wpp_call *c, const struct wpp_message *m, const char *file,
		   unsigned number, struct strbuf *out)
{
	strbuf_addf(out, "#typev %s%u %u \"%s\" //  ", file, c->line, number, m->format.s ? m->format.s : "");
	for (size_t i = 0; i < c->f->count; i++) {
		const char *n = c->f->params[i].name;
		if (c->params[i] && (strncmp(n, "LEVEL", 5) == 0 || strncmp(n, "FLAG", 4) == 0)) {
			strbuf_addf(out, " %s=", n[0] == 'L' ? "LEVEL" : "FLAGS");
			without_blanks(c->params[i], out);
		}
	}
	if (c->in[0]) {
		strbuf_addf(out, " FUNC=%s", c->in);
	}
	strbuf_adds(out, "\n{\n");
	for (size_t i = 0; i < m->count; i++) {
		strbuf_adds(out, "Arg, ");
		put_item(w, m->types[i]->item, out);
		strbuf_addf(out, " -- %zu\n", i + 10);
	}
	strbuf_adds(out, "}\n");
}

/* What the macros of the conditions are when the source does not say. */
static void defaults(const struct wpp_function *f, struct strbuf *out)
{
	static const char *const parts[] = {"PRE", "POST"};
	struct strbuf name = {0}, params = {0};
	condition_name(f, &name);
	for (size_t i = 0; i < f->count; i++) {
		strbuf_addf(&params, "%sp%zu", i ? ", " : "", i);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		strbuf_addf(out, "#ifndef %s%s\n#define %s%s(%s)\n#endif\n", name.s, parts[i], name.s, parts[i],
			    params.s ? params.s : "");
	}
	/* of two conditions in either order, as everybody defines them; others have to be defined
	 */
	bool level_first = f->count == 2 && strcmp(f->params[0].name, "LEVEL") == 0;
	const char *second = f->count == 2 ? f->params[level_first].name : "";
	bool flag_and_level = f->count == 2 && strncmp(second, "FLAG", 4) == 0 &&
			      (level_first || strcmp(f->params[1].name, "LEVEL") == 0);
	bool flag_only = f->count == 1 && strncmp(f->params[0].name, "FLAG", 4) == 0;
	if (flag_and_level || flag_only) {
		const char *flag = level_first ? "p1" : "p0", *level = level_first ? "p0" : "p1";
		strbuf_addf(out, "#ifndef %sLOGGER\n#define %sLOGGER(%s) WPP_LEVEL_LOGGER(%s)\n#endif\n", name.s,
			    name.s, params.s, flag);
		strbuf_addf(out, "#ifndef %sENABLED\n#define %sENABLED(%s) (WPP_LEVEL_ENABLED(%s)", name.s, name.s,
			    params.s, flag);
		if (flag_and_level) {
			strbuf_addf(out, " && WPP_CONTROL(WPP_BIT_##%s).Level >= (LONG)(%s)", flag, level);
		}
		strbuf_adds(out, ")\n#endif\n");
	}
	strbuf_finish(&name);
	strbuf_finish(&params);
}

static bool used_before(const struct tracewpp *w, const struct wpp_call *c)
{
	for (const struct wpp_call *b = w->calls; b != c; b = b->next) {
		if (b->f == c->f) {
			return true;
		}
	}
	return false;
}

/* Out of what the messages say, so that another version of the source has another one. */
static void message_guid(const struct tracewpp *w, const char *body, const char *component, struct guid *ret)
{
	struct strbuf b = {0};
	uint8_t digest[20];
	strbuf_addf(&b, "openetw tracewpp\n%s\n%s\n%s", component, w->source, body);
	sha1(b.s ? b.s : "", b.len, digest);
	memcpy(ret->b, digest, 16);
	ret->b[7] = (uint8_t)((ret->b[7] & 0x0F) | 0x50);
	ret->b[8] = (uint8_t)((ret->b[8] & 0x3F) | 0x80);
	strbuf_finish(&b);
}

static void put_guid(const struct guid *g, struct strbuf *out)
{
	strbuf_addf(out, "{0x%08x, 0x%04x, 0x%04x, {", le32_get(g->b), le16_get(g->b + 4), le16_get(g->b + 6));
	for (int i = 8; i < 16; i++) {
		strbuf_addf(out, "%s0x%02x", i > 8 ? ", " : "", g->b[i]);
	}
	strbuf_adds(out, "}}");
}

static void put_control(const char *control, struct strbuf *out)
{
	char plain[40];
	struct guid g;
	if (control && guid_parse(control, &g) == 0) {
		guid_format(&g, plain);
		strbuf_addf(out,
			    "#ifndef WPP_CONTROL_GUIDS\n#define WPP_CONTROL_GUIDS "
			    "WPP_DEFINE_CONTROL_GUID(CtlGuid, (%.8s,%.4s,%.4s,%.4s,%s), "
			    "WPP_DEFINE_BIT(Error) "
			    "WPP_DEFINE_BIT(Unusual) WPP_DEFINE_BIT(Noise))\n#endif\n",
			    plain, plain + 9, plain + 14, plain + 19, plain + 24);
	}
}

int wpp_write(struct tracewpp *w, const struct tracewpp_options *o, struct strbuf *tmh, struct diag *d)
{
	struct strbuf file = {0}, macros = {0}, body = {0}, staging = {0}, section = {0};
	struct wpp_message m = {.count = 0};
	unsigned number = o->first_number ? o->first_number : FIRST_NUMBER;
	const char *component = w->component;
	char guid[37], group[64];
	struct guid g;
	int err = 0;
	identifier(w->source, &file);
	err = sort_calls(w, d);
	for (const struct wpp_call *c = w->calls; c && err == 0; c = c->next, number++) {
		err = wpp_message_build(w, c, &m, d);
		if (err < 0) {
			break;
		}
		strbuf_clear(&staging);
		staging_name(&m, &staging);
		staging_function(&m, staging.s, &macros);
		if (!used_before(w, c)) {
			defaults(c->f, &macros);
			strbuf_addf(&macros, "#undef %s\n#define %s WPP_(CALL_%s)\n", c->f->name, c->f->name,
				    c->f->name);
		}
		if (c->heads) {
			call_macro(w, c, &m, file.s, staging.s, number, &macros);
		}
		format(w, c, &m, file.s, number, &body);
	}
	if (err == 0 && number > 0x10000) {
		err = wpp_fail(d, 1, 1, "%s has too many messages", w->source);
	}
	if (err == 0) {
		message_guid(w, body.s ? body.s : "", component, &g);
		strbuf_addf(&w->formats, "%s %s // SRC=%s MJ= MN=\n", guid_format(&g, guid), component, w->source);
		strbuf_add(&w->formats, body.s, body.len);
		strbuf_addf(tmh,
			    "/* Made by \"openetw tracewpp\" from %s. Changes here are lost when "
			    "it is made "
			    "again. */\n",
			    w->source);
		put_control(o->control, tmh);
		strbuf_add(tmh, tracewpp_tmh, tracewpp_tmh_bytes);
		strbuf_addf(tmh, "#undef WPP_THIS_FILE\n#define WPP_THIS_FILE %s\n", file.s);
	}
	if (err == 0 && w->calls) {
		strbuf_addf(tmh,
			    "#ifndef WPP_CONTROLS_DEFINED\n#error \"WPP_CONTROL_GUIDS has to be "
			    "defined before "
			    "this header is included\"\n#endif\n"
			    "static const GUID WPP_%s_Traceguids[1] __attribute__((unused)) = {",
			    file.s);
		put_guid(&g, tmh);
		strbuf_adds(tmh, "};\n");
		for (const struct wpp_define *x = w->defines; x; x = x->next) {
			strbuf_addf(tmh, "#undef %.*s\n#define %s %s\n", (int)strcspn(x->name, "( "), x->name, x->name,
				    x->text);
		}
		strbuf_add(tmh, macros.s, macros.len);
		uint64_t set = mc_section_set(w->formats.s, w->formats.len, 0);
		mc_section_record(&section, SCHEMA_SECTION_TMF, 0, set, w->formats.s, w->formats.len);
		snprintf(group, sizeof group, "openetw_tmf_%016llx", (unsigned long long)set);
		strbuf_addf(tmh, "#if defined(__ELF__) && !defined(WPP_NO_EMBEDDED_FORMATS)\n");
		mc_section_asm(section.s, section.len, group, tmh);
		strbuf_adds(tmh, "#endif\n");
	}
	if (err == 0 &&
	    (tmh->failed || w->formats.failed || macros.failed || body.failed || section.failed || file.failed)) {
		err = -ENOMEM;
	}
	strbuf_finish(&file);
	strbuf_finish(&macros);
	strbuf_finish(&body);
	strbuf_finish(&staging);
	strbuf_finish(&section);
	strbuf_finish(&m.format);
	return err;
}

/* ---- the front door ---------------------------------------------------------------------------
 */

struct tracewpp *tracewpp_create(void)
{
	struct tracewpp *w = calloc(1, sizeof *w);
	if (w) {
		arena_init(&w->arena, 256u << 20);
		tracewpp_add_function(w, "DoTraceMessage(LEVEL, MSG, ...)", NULL);
	}
	return w;
}

void tracewpp_destroy(struct tracewpp *w)
{
	if (w) {
		arena_finish(&w->arena);
		strbuf_finish(&w->formats);
		free(w);
	}
}

int tracewpp_scan(struct tracewpp *w, const char *text, size_t n, struct diag *d)
{
	return wpp_source_read(w, text, n, true, false, d);
}

int tracewpp_compile(struct tracewpp *w, const char *name, const char *text, size_t n, const struct tracewpp_options *o,
		     struct strbuf *tmh, struct diag *d)
{
	/* What the source itself says is in front of the lists, and goes again. */
	struct wpp_function *functions = w->functions;
	struct wpp_type *types = w->types;
	struct wpp_define *defines = w->defines;
	struct wpp_enum *enums = w->enums;
	struct wpp_macro *macros = w->macros;
	w->source_number++;
	w->expanded = 0;
	w->shared = functions;
	w->source = name;
	w->component = o->component && *o->component ? o->component : "wpp";
	w->calls = NULL;
	w->call_count = 0;
	strbuf_clear(&w->formats);
	int err = wpp_source_read(w, text, n, true, false, d);
	err = err < 0 ? err : wpp_source_read(w, text, n, false, true, d);
	err = err < 0 ? err : wpp_write(w, o, tmh, d);
	w->functions = functions;
	w->shared = NULL;
	w->types = types;
	w->defines = defines;
	w->enums = enums;
	w->macros = macros;
	return err;
}

size_t tracewpp_calls(const struct tracewpp *w)
{
	return w->call_count;
}

const char *tracewpp_formats(const struct tracewpp *w)
{
	return w->formats.s ? w->formats.s : "";
}
