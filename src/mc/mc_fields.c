/* SPDX-License-Identifier: MIT
 *
 * Fields of templates as C: type codes, macro arguments, parameters, data descriptors.
 *
 * Templates with equal codes share one function, whatever their fields are called:
 *
 *   z s      text that ends in NUL          w a e    counted text, ANSI text, bytes (length first)
 *   c u l h  8 and 16 bits                  d q i x  32 and 64 bits, signed and unsigned
 *   f g t    float, double, BOOL            j p m y  GUID, pointer, FILETIME, SYSTEMTIME
 *   b k n    bytes, SID, struct
 *
 * Capitals are arrays, followed by the number of elements or R and the index of the field that has
 * it; text and bytes of given length are followed by it, or by r and the index.
 */
#include "mc/mc_private.h"

#include <stdio.h>

enum form {
	FORM_VALUE,   /* by value */
	FORM_POINTER, /* a pointer that is the value */
	FORM_RECORD,  /* by address */
	FORM_TEXT,
	FORM_BYTES,
	FORM_COUNTED,
	FORM_SID,
	FORM_STRUCT,
};
static const struct type {
	char code;
	enum form form;
	const char *c; /* C type; of elements */
} types[] = {
	[0] = {'n', FORM_STRUCT, "void"},
	[TDH_INTYPE_UNICODESTRING] = {'z', FORM_TEXT, "WCHAR"},
	[TDH_INTYPE_ANSISTRING] = {'s', FORM_TEXT, "char"},
	[TDH_INTYPE_INT8] = {'c', FORM_VALUE, "signed char"},
	[TDH_INTYPE_UINT8] = {'u', FORM_VALUE, "unsigned char"},
	[TDH_INTYPE_INT16] = {'l', FORM_VALUE, "signed short"},
	[TDH_INTYPE_UINT16] = {'h', FORM_VALUE, "unsigned short"},
	[TDH_INTYPE_INT32] = {'d', FORM_VALUE, "signed int"},
	[TDH_INTYPE_UINT32] = {'q', FORM_VALUE, "unsigned int"},
	[TDH_INTYPE_INT64] = {'i', FORM_VALUE, "signed __int64"},
	[TDH_INTYPE_UINT64] = {'x', FORM_VALUE, "unsigned __int64"},
	[TDH_INTYPE_FLOAT] = {'f', FORM_VALUE, "float"},
	[TDH_INTYPE_DOUBLE] = {'g', FORM_VALUE, "double"},
	[TDH_INTYPE_BOOLEAN] = {'t', FORM_VALUE, "signed int"},
	[TDH_INTYPE_BINARY] = {'b', FORM_BYTES, "unsigned char"},
	[TDH_INTYPE_GUID] = {'j', FORM_RECORD, "GUID"},
	[TDH_INTYPE_POINTER] = {'p', FORM_POINTER, "void*"},
	[TDH_INTYPE_FILETIME] = {'m', FORM_RECORD, "FILETIME"},
	[TDH_INTYPE_SYSTEMTIME] = {'y', FORM_RECORD, "SYSTEMTIME"},
	[TDH_INTYPE_SID] = {'k', FORM_SID, "SID"},
	[TDH_INTYPE_HEXINT32] = {'d', FORM_VALUE, "signed int"},
	[TDH_INTYPE_HEXINT64] = {'i', FORM_VALUE, "signed __int64"},
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = {'w', FORM_COUNTED, "WCHAR"},
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = {'a', FORM_COUNTED, "char"},
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = {'e', FORM_COUNTED, "unsigned char"},
};

static const struct type *type_of(const struct manifest_item *it)
{
	size_t in = it->is_struct ? 0 : it->in_type;
	return &types[in < BASE_ARRAY_LEN(types) && types[in].code ? in : TDH_INTYPE_BINARY];
}

bool mc_item_multiple(const struct manifest_item *it)
{
	return it->count_of || (it->has_count && it->count > 1);
}

static bool fixed_count(const struct manifest_item *it)
{
	return !it->count_of && mc_item_multiple(it);
}

static bool fixed_length(const struct manifest_item *it)
{
	return !it->length_of && it->has_length && it->length > 0;
}

static bool has_length(const struct manifest_item *it)
{
	return it->length_of || fixed_length(it);
}

static uint32_t index_of(const struct manifest_template *t, const struct manifest_item *wanted)
{
	uint32_t i = 0;
	const struct manifest_item *it = t->items;
	while (it && it != wanted) {
		it = it->next;
		i++;
	}
	return i;
}

static void add_code(const struct manifest_template *t, const struct manifest_item *it, struct strbuf *b)
{
	const struct type *y = type_of(it);
	bool many = mc_item_multiple(it), text = y->form == FORM_TEXT || y->form == FORM_BYTES;
	strbuf_addc(b, many ? (char)(y->code - 32) : y->code);
	uint32_t count = it->count_of ? index_of(t, it->count_of) : it->count;
	uint32_t length = it->length_of ? index_of(t, it->length_of) : it->length;
	if (!text || !has_length(it)) {
		if (text && many) {
			strbuf_addc(b, 'R');
		} else if (it->count_of) {
			strbuf_addf(b, "R%u", count);
		} else if (many) {
			strbuf_addf(b, "%u", count);
		}
	} else if (fixed_count(it) && fixed_length(it)) {
		strbuf_addf(b, "%u", count * length);
	} else if (it->count_of && it->length_of) {
		strbuf_addf(b, "r%uR%u", length, count);
	} else if (fixed_count(it)) {
		strbuf_addf(b, "%ur%u", count, length);
	} else if (it->count_of) {
		strbuf_addf(b, "%ur%u", length, count);
	} else if (it->length_of) {
		strbuf_addf(b, "r%u", length);
	} else {
		strbuf_addf(b, "%u", length);
	}
}

const char *mc_codes(struct mc *mc, const struct manifest_template *t)
{
	struct strbuf b = {0};
	for (const struct manifest_item *it = t ? t->items : NULL; it; it = it->next) {
		add_code(t, it, &b);
	}
	const char *s = b.failed ? NULL : arena_text(&mc->arena, b.s ? b.s : "", b.len);
	strbuf_finish(&b);
	return s;
}

/* ---- arguments -------------------------------------------------------------------------------- */

/* What the caller lays end to end themselves. */
static bool packed(const struct manifest_item *it)
{
	enum form f = type_of(it)->form;
	return mc_item_multiple(it) && (f == FORM_TEXT || f == FORM_COUNTED || f == FORM_SID);
}

bool mc_needs_packing(const struct manifest_template *t)
{
	for (const struct manifest_item *it = t ? t->items : NULL; it; it = it->next) {
		if (packed(it)) {
			return true;
		}
	}
	return false;
}

/* Data whose size only the caller knows. */
static bool needs_size(const struct manifest_item *it)
{
	switch (type_of(it)->form) {
	case FORM_COUNTED:
	case FORM_STRUCT: return true;
	case FORM_SID: return mc_item_multiple(it);
	case FORM_TEXT: return mc_item_multiple(it) && !has_length(it);
	default: return false;
	}
}

/* A field's name as a macro's parameter: what cannot stand in one becomes '_'. A name with nothing
 * else gets the field's number, for two parameters may not be called alike. */
static void add_argument(const char *name, uint32_t index, const char *more, struct strbuf *out)
{
	bool begun = false, told = false;
	strbuf_adds(out, ", ");
	for (const char *c = name; *c; c++) {
		bool digit = *c >= '0' && *c <= '9';
		bool letter = ((*c | 32) >= 'a' && (*c | 32) <= 'z') || *c == '_';
		begun = begun || !digit;
		told = told || letter || (digit && begun);
		strbuf_addc(out, letter || (digit && begun) ? *c : '_');
	}
	if (!told) {
		strbuf_addf(out, "_%u", index);
	}
	strbuf_adds(out, more);
}

void mc_arguments(const struct mc *mc, const struct manifest_template *t, struct strbuf *out)
{
	(void)mc;
	uint32_t i = 0;
	for (const struct manifest_item *it = t ? t->items : NULL; it; it = it->next, i++) {
		if (needs_size(it)) {
			add_argument(it->name, i, "_Len_", out);
		}
		add_argument(it->name, i, "", out);
	}
}

/* ---- the function ----------------------------------------------------------------------------- */

/* "3", "_Arg2": how many elements, how long each. */
static const char *number(const struct manifest_template *t, const struct manifest_item *of, uint32_t fixed,
			  char buf[16])
{
	if (of) {
		snprintf(buf, 16, "_Arg%u", index_of(t, of));
	} else {
		snprintf(buf, 16, "%u", fixed);
	}
	return buf;
}

/* Elements times length, as far as they are given: "(ULONG)sizeof(char)*_Arg1*3". */
static void add_factors(const struct manifest_template *t, const struct manifest_item *it, const char *first,
			struct strbuf *out)
{
	char buf[16];
	const char *star = first;
	if (mc_item_multiple(it)) {
		strbuf_addf(out, "%s%s", star, number(t, it->count_of, it->count, buf));
		star = "*";
	}
	if (has_length(it)) {
		strbuf_addf(out, "%s%s", star, number(t, it->length_of, it->length, buf));
	}
}

static void add_parameter(const struct manifest_template *t, const struct manifest_item *it, uint32_t i,
			  struct strbuf *out)
{
	const struct type *y = type_of(it);
	bool many = mc_item_multiple(it);
	if (needs_size(it)) {
		strbuf_addf(out, ",\n    _In_ ULONG _Arg%u_Len_", i);
	}
	strbuf_adds(out, ",\n    ");
	if (y->form == FORM_STRUCT) {
		strbuf_addf(out, "_In_ const void* _Arg%u", i);
	} else if (needs_size(it)) {
		strbuf_addf(out, "_In_reads_(_Arg%u_Len_) const %s* _Arg%u", i,
			    y->form == FORM_SID ? "unsigned char" : y->c, i);
	} else if (y->form == FORM_TEXT && !has_length(it)) {
		strbuf_addf(out, "_In_opt_ const %s* _Arg%u", y->c, i);
	} else if (many || y->form == FORM_TEXT || y->form == FORM_BYTES) {
		strbuf_adds(out, "_In_reads_(");
		add_factors(t, it, "", out);
		/* CHAR and signed char are two types, and arrays of both are passed: headers of older
		 * compilers had the one, those of newer ones have the other. */
		strbuf_addf(out, ") const %s* _Arg%u", y->code == 'c' ? "void" : y->c, i);
	} else if (y->form == FORM_POINTER) {
		strbuf_addf(out, "_In_opt_ const void* _Arg%u", i);
	} else {
		strbuf_addf(out, "_In_ const %s%s _Arg%u", y->c, y->form == FORM_VALUE ? "" : "*", i);
	}
}

/* One or two descriptors; returns the next free index. */
static uint32_t add_descriptors(const struct manifest_template *t, const struct manifest_item *it, uint32_t i,
				uint32_t at, struct strbuf *out)
{
	const struct type *y = type_of(it);
	bool many = mc_item_multiple(it);
	char buf[16];
	if (y->form == FORM_COUNTED && !many) {
		/* The size stands in front of the data: its descriptor is where it lies. */
		strbuf_addf(out,
			    "    EventDataDescCreate(&EventData[%u], &EventData[%u].Size, "
			    "sizeof(USHORT));\n",
			    at, at + 1);
		at++;
	}
	strbuf_addf(out, "    EventDataDescCreate(&EventData[%u], ", at);
	switch (y->form) {
	case FORM_STRUCT:
		strbuf_addf(out, "_Arg%u, %s%s_Arg%u_Len_);\n", i, many ? number(t, it->count_of, it->count, buf) : "",
			    many ? " * " : "", i);
		break;
	case FORM_TEXT:
		if (!many && !has_length(it)) {
			const char *w = y->code == 'z' ? "Wide" : "Ansi";
			strbuf_addf(out,
				    "_mcgen_%sText(_Arg%u),\n"
				    "                        _mcgen_%sSize(_Arg%u));\n",
				    w, i, w, i);
			break;
		}
		/* fall through */
	case FORM_COUNTED:
		if (needs_size(it)) {
			strbuf_addf(out, "_Arg%u, (%s)(sizeof(%s)*_Arg%u_Len_));\n", i,
				    y->form == FORM_COUNTED && !many ? "USHORT" : "ULONG", y->c, i);
			break;
		}
		/* fall through */
	case FORM_BYTES:
		strbuf_addf(out, "_Arg%u, (ULONG)(sizeof(%s)", i, y->c);
		add_factors(t, it, "*", out);
		strbuf_adds(out, "));\n");
		break;
	case FORM_SID:
		if (many) {
			strbuf_addf(out, "_Arg%u, _Arg%u_Len_);\n", i, i);
		} else {
			strbuf_addf(out,
				    "(_Arg%u != NULL) ? (const void*)_Arg%u : "
				    "(const void*)\"\\0\\0\\0\\0\\0\\0\\0\",\n"
				    "                        (_Arg%u != NULL) ? "
				    "MCGEN_GETLENGTHSID(_Arg%u) : 8);\n",
				    i, i, i, i);
		}
		break;
	default:
		if (many) {
			strbuf_addf(out, "_Arg%u, (ULONG)(sizeof(const %s)*%s));\n", i, y->c,
				    number(t, it->count_of, it->count, buf));
		} else {
			strbuf_addf(out, "%s_Arg%u, sizeof(const %s));\n", y->form == FORM_RECORD ? "" : "&", i, y->c);
		}
	}
	return at + 1;
}

void mc_template_function(const struct mc *mc, const char *codes, const struct manifest_template *t, struct strbuf *out)
{
	char name[16];
	snprintf(name, sizeof name, "McTemplate%s", mc->o.activity ? "K0" : "U0");
	strbuf_addf(out, "/* Of template \"%s\" and all others with these types. */\n", t ? t->tid : "");
	strbuf_addf(out, "#ifndef %s%s_def\n#define %s%s_def\n", name, codes, name, codes);
	strbuf_addf(out, "ETW_INLINE\nULONG\n_mcgen_PASTE2(%s%s_, MCGEN_EVENTWRITETRANSFER)(\n", name, codes);
	strbuf_adds(out, "    _In_ PMCGEN_TRACE_CONTEXT Context,\n"
			 "    _In_ PCEVENT_DESCRIPTOR Descriptor");
	if (mc->o.activity) {
		strbuf_adds(out, ",\n    _In_opt_ const GUID* Activity");
	}
	uint32_t i = 0;
	for (const struct manifest_item *it = t ? t->items : NULL; it; it = it->next) {
		add_parameter(t, it, i++, out);
	}
	struct strbuf body = {0};
	uint32_t at = 1;
	i = 0;
	for (const struct manifest_item *it = t ? t->items : NULL; it; it = it->next) {
		at = add_descriptors(t, it, i++, at, &body);
	}
	strbuf_addf(out,
		    "\n    )\n{\n#define %s%s_ARGCOUNT %u\n\n"
		    "    EVENT_DATA_DESCRIPTOR EventData[%s%s_ARGCOUNT + 1];\n\n",
		    name, codes, at - 1, name, codes);
	strbuf_add(out, body.s ? body.s : "", body.len);
	strbuf_addf(out,
		    "%s    return McGenEventWrite(Context, Descriptor, %s, %s%s_ARGCOUNT + 1, "
		    "EventData);\n}\n#endif /* %s%s_def */\n\n",
		    body.len ? "\n" : "", mc->o.activity ? "Activity" : "NULL", name, codes, name, codes);
	out->failed |= body.failed;
	strbuf_finish(&body);
}
