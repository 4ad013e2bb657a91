/* SPDX-License-Identifier: MIT
 *
 * Layouts as Microsoft's compiler makes them, in the files of the program. Three things mean another
 * layout here, and the compilers say little or nothing:
 *
 *   struct { UCHAR a : 4; ULONG b : 4; }     Microsoft's compiler begins a new unit for b, and what
 *                                            follows begins behind the unit. __attribute__((ms_struct))
 *                                            says so to both compilers.
 *   __declspec(align(16)) struct s { … };    aligns the type. gcc drops an attribute there; behind the
 *                                            word "struct" it does not. clang takes both.
 *   #pragma pack(push, WIDTH)                expands the macro. gcc takes WIDTH for a label of the stack.
 *                                            The input has the #define lines for that (gcc -dD); they are
 *                                            left out of the output.
 *
 * Headers of the system and ours keep their layouts, because the libraries were compiled with them.
 */
#include "port.h"

#include "port_text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSIONS 16 /* of one macro through others */

struct piece {
	const char *p;
	uint32_t n;
	uint8_t kind; /* enum port_kind */
	bool own, dropped;
	const char *before, *behind; /* put around it; NULL: nothing */
};

struct pieces {
	struct piece *v;
	size_t count, cap;
};

struct macro {
	const char *name, *value;
	size_t name_bytes, value_bytes;
};

struct macros {
	struct macro *v;
	size_t count, cap;
};

static void *grown(void *old, size_t count, size_t *cap, size_t size)
{
	if (count < *cap) {
		return old;
	}
	*cap = *cap * 2 + 1024;
	void *p = realloc(old, *cap * size);
	if (!p) {
		fputs("openetw-port: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static bool is(const struct piece *t, const char *text)
{
	return t->n == strlen(text) && memcmp(t->p, text, t->n) == 0;
}

static bool is_one_of(const struct piece *t, const char *const *words)
{
	while (*words && !is(t, *words)) {
		words++;
	}
	return *words != NULL;
}

static bool is_tag(const struct piece *t)
{
	static const char *const tags[] = {"struct", "union", "class", NULL};
	return t->kind == PORT_WORD && is_one_of(t, tags);
}

/* The index of the next piece that is neither space nor a line of the preprocessor; count at the end. */
static size_t next(const struct pieces *s, size_t i)
{
	do {
		i++;
	} while (i < s->count && s->v[i].kind <= PORT_DIRECTIVE);
	return i < s->count ? i : s->count;
}

/* i is "(", "[" or "{"; the index of what closes it. count: nothing does. */
static size_t closing(const struct pieces *s, size_t i)
{
	size_t depth = 0;
	for (; i < s->count; i++) {
		const struct piece *t = &s->v[i];
		if (t->kind != PORT_OTHER) {
			continue;
		}
		if (strchr("([{", *t->p)) {
			depth++;
		} else if (strchr(")]}", *t->p) && --depth == 0) {
			break;
		}
	}
	return i;
}

static bool is_attribute(const struct piece *t)
{
	static const char *const words[] = {"__attribute__", "__attribute", "__declspec", "_declspec",
					    "alignas",       "_Alignas",    NULL};
	return t->kind == PORT_WORD && is_one_of(t, words);
}

/* Behind an attribute that begins at i: the index of its last piece, or i when it is none. */
static size_t attribute_end(const struct pieces *s, size_t i)
{
	size_t open = next(s, i);
	if (is_attribute(&s->v[i]) && open < s->count && is(&s->v[open], "(")) {
		size_t end = closing(s, open);
		return end < s->count ? end : i;
	}
	if (is(&s->v[i], "[") && open < s->count && is(&s->v[open], "[")) {
		size_t end = closing(s, i);
		return end < s->count ? end : i;
	}
	return i;
}

enum tag_use { TAG_USED, TAG_DEFINED, TAG_DERIVED };

/* What the word "struct" at i begins; *ret_body is the "{" of a definition. */
static enum tag_use use_of(const struct pieces *s, size_t i, size_t *ret_body)
{
	int angles = 0;
	enum tag_use defined = TAG_DEFINED;
	for (i = next(s, i); i < s->count; i = next(s, i)) {
		const struct piece *t = &s->v[i];
		size_t end = attribute_end(s, i);
		if (end != i) {
			i = end;
			continue;
		}
		if (t->kind == PORT_WORD || t->kind == PORT_NUMBER) {
			continue;
		}
		if (is(t, "<")) {
			angles++;
		} else if (is(t, ">") && angles > 0) {
			angles--;
		} else if (is(t, "{")) {
			*ret_body = i;
			return angles ? TAG_USED : defined;
		} else if (is(t, ":")) {
			size_t after = next(s, i);
			if (after < s->count && is(&s->v[after], ":")) { /* outer::name */
				i = after;
			} else {
				defined = TAG_DERIVED;
			}
		} else if (defined != TAG_DERIVED && !(angles && is(t, ","))) {
			return TAG_USED;
		}
	}
	return TAG_USED;
}

/* Whether the body of a structure that begins at "{" has a bit-field of its own, and nothing virtual. */
static bool has_bits(const struct pieces *s, size_t body)
{
	static const char *const access[] = {"public", "private", "protected", "signals", "case", "default", NULL};
	bool colon = false, other = false, bits = false;
	size_t words = 0;
	for (size_t i = next(s, body); i < s->count && !is(&s->v[i], "}"); i = next(s, i)) {
		const struct piece *t = &s->v[i];
		size_t end = attribute_end(s, i);
		if (end != i) {
			i = end;
		} else if (t->kind == PORT_WORD) {
			if (is(t, "virtual")) {
				return false;
			}
			other = other || (words == 0 && is_one_of(t, access));
			words++;
		} else if (t->kind == PORT_OTHER && strchr("([{", *t->p)) {
			bool brace = *t->p == '{';
			other = other || (!colon && !is(t, "{")); /* a function; not ": sizeof(x)" */
			i = closing(s, i);
			if (i == s->count) {
				break;
			}
			/* A function or a type ends here, unless a member's name follows the type. */
			if (brace) {
				words = 0;
				colon = other = false;
			}
		} else if (is(t, ":")) {
			size_t after = next(s, i);
			if (after < s->count && is(&s->v[after], ":")) {
				i = after;
			} else if (other) { /* public: begins anew */
				words = 0;
				colon = other = false;
			} else {
				colon = true;
			}
		} else if (is(t, "?")) {
			other = true;
		} else if (is(t, ",") || is(t, ";")) {
			bits = bits || (colon && !other);
			colon = false;
			if (is(t, ";")) {
				words = 0;
				other = false;
			}
		}
	}
	return bits;
}

static void mark_bits(struct pieces *s)
{
	for (size_t i = 0; i < s->count; i++) {
		size_t body;
		if (s->v[i].own && is_tag(&s->v[i]) && use_of(s, i, &body) == TAG_DEFINED && has_bits(s, body)) {
			s->v[i].behind = " __attribute__((ms_struct))";
		}
	}
}

static bool aligns(const struct pieces *s, size_t i, size_t end)
{
	static const char *const words[] = {"aligned", "__aligned__", NULL};
	for (; i < end; i++) {
		if (s->v[i].kind == PORT_WORD && is_one_of(&s->v[i], words)) {
			return true;
		}
	}
	return false;
}

/* The attribute at i, which ends at `end`, belongs to the type that is declared behind it. */
static void move_behind_tag(struct pieces *s, size_t i, size_t end)
{
	static const char *const others[] = {"typedef",  "static", "const",     "volatile", "extern",
					     "register", "inline", "constexpr", NULL};
	size_t tag = next(s, end);
	for (;; tag = next(s, tag)) {
		if (tag >= s->count) {
			return;
		}
		size_t another = attribute_end(s, tag);
		if (another != tag) {
			tag = another;
		} else if (s->v[tag].kind != PORT_WORD || !is_one_of(&s->v[tag], others)) {
			break;
		}
	}
	size_t body;
	if (!is_tag(&s->v[tag]) || use_of(s, tag, &body) == TAG_USED) { /* of a variable */
		return;
	}
	struct port_text moved = {0};
	const char *old = s->v[tag].behind;
	port_text_add(&moved, " ", 1);
	for (; i <= end; i++) {
		if (s->v[i].kind > PORT_DIRECTIVE) {
			port_text_add(&moved, s->v[i].p, s->v[i].n);
			s->v[i].dropped = true;
		}
	}
	if (old) {
		port_text_add(&moved, old, strlen(old));
	}
	s->v[tag].behind = moved.p; /* lives as long as the program */
}

static void move_alignments(struct pieces *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->v[i].kind != PORT_WORD || !is_attribute(&s->v[i])) {
			continue;
		}
		size_t end = attribute_end(s, i);
		if (s->v[i].own && aligns(s, i, end)) {
			move_behind_tag(s, i, end);
		}
		i = end;
	}
}

/* ---- macros in #pragma pack ------------------------------------------------------------------- */

static const struct macro *macro_of(const struct macros *m, const char *name, size_t n)
{
	for (size_t i = m->count; i-- > 0;) {
		if (m->v[i].name_bytes == n && memcmp(m->v[i].name, name, n) == 0) {
			return m->v[i].value ? &m->v[i] : NULL;
		}
	}
	return NULL;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t')) {
		p++;
	}
	return p;
}

static const char *skip_name(const char *p, const char *end)
{
	while (p < end && (isalnum((unsigned char)*p) || *p == '_' || *p == '$')) {
		p++;
	}
	return p;
}

/* "#define NAME VALUE" and "#undef NAME", which are not for the compiler. */
static bool macro_line(struct macros *m, const char *p, const char *end)
{
	p = skip_blanks(p + 1, end);
	bool define = end - p > 7 && memcmp(p, "define ", 7) == 0;
	if (!define && !(end - p > 6 && memcmp(p, "undef ", 6) == 0)) {
		return false;
	}
	const char *name = skip_blanks(p + (define ? 7 : 6), end), *behind = skip_name(name, end);
	if (define && behind < end && *behind == '(') {
		define = false; /* with arguments: nothing that a pragma could mean */
	}
	m->v = grown(m->v, m->count, &m->cap, sizeof *m->v);
	m->v[m->count++] = (struct macro){name, define ? skip_blanks(behind, end) : NULL, (size_t)(behind - name),
					  (size_t)(end - behind)};
	if (define) {
		m->v[m->count - 1].value_bytes = (size_t)(end - m->v[m->count - 1].value);
	}
	return true;
}

/* The number that a word stands for; -1 when it is none. */
static int number_of(const struct macros *m, const char *p, size_t n)
{
	for (int i = 0; i < EXPANSIONS; i++) {
		while (n > 1 && *p == '(' && p[n - 1] == ')') {
			p++;
			n -= 2;
		}
		if (n > 0 && n < 4 && isdigit((unsigned char)*p)) {
			return atoi(p);
		}
		const struct macro *to = macro_of(m, p, n);
		if (!to) {
			break;
		}
		p = to->value;
		n = to->value_bytes;
	}
	return -1;
}

/* A "#pragma pack(…)" with its macros expanded, and "pop, n" in two lines. NULL: it is fine as it is,
 * or no such pragma. */
static char *expanded_pack(const struct macros *m, const struct piece *line, const char *position)
{
	const char *p = skip_blanks(line->p + 1, line->p + line->n), *end = line->p + line->n;
	if (end - p < 7 || memcmp(p, "pragma", 6) != 0) {
		return NULL;
	}
	p = skip_blanks(p + 6, end);
	if (end - p < 4 || memcmp(p, "pack", 4) != 0) {
		return NULL;
	}
	p = skip_blanks(p + 4, end);
	const char *close = p < end && *p == '(' ? memchr(p, ')', (size_t)(end - p)) : NULL;
	if (!close) {
		return NULL;
	}
	struct port_text out = {0};
	int after_pop = -1, at = 0;
	bool pop = false, changed = false;
	port_text_add(&out, "#pragma pack(", 13);
	for (p++; p < close; at++) {
		const char *comma = memchr(p, ',', (size_t)(close - p)), *behind = comma ? comma : close;
		p = skip_blanks(p, behind);
		const char *last = behind;
		while (last > p && (last[-1] == ' ' || last[-1] == '\t')) {
			last--;
		}
		size_t n = (size_t)(last - p);
		bool word = n > 0 && !isdigit((unsigned char)*p);
		int number = number_of(m, p, n);
		bool is_push = n == 4 && memcmp(p, "push", 4) == 0;
		pop = pop || (at == 0 && n == 3 && memcmp(p, "pop", 3) == 0);
		if (pop && number >= 0) {
			after_pop = number;
			changed = true;
		} else {
			char digits[16];
			snprintf(digits, sizeof digits, "%d", number);
			bool replace = word && number >= 0 && !is_push;
			changed = changed || replace;
			if (at) {
				port_text_add(&out, ", ", 2);
			}
			port_text_add(&out, replace ? digits : p, replace ? strlen(digits) : n);
		}
		p = behind + (comma != NULL);
	}
	port_text_add(&out, ")", 1);
	if (after_pop >= 0) {
		char more[64];
		snprintf(more, sizeof more, "\n#pragma pack(%d)\n", after_pop);
		port_text_add(&out, more, strlen(more));
		port_text_add(&out, position, strlen(position));
	}
	if (!changed) {
		free(out.p);
		return NULL;
	}
	return out.p;
}

/* "# 12 "file"": where we are, for a line that becomes several. */
struct place {
	const char *file; /* with its quotes */
	size_t file_bytes;
	unsigned long line;
};

static void place_of(struct place *at, const struct piece *line)
{
	const char *p = skip_blanks(line->p + 1, line->p + line->n), *end = line->p + line->n;
	char *digits_end;
	if (p < end && isdigit((unsigned char)*p)) {
		at->line = strtoul(p, &digits_end, 10) - 1; /* of the next line */
		at->file = skip_blanks(digits_end, end);
		const char *close = end;
		while (close > at->file && close[-1] != '"') { /* flags */
			close--;
		}
		at->file_bytes = (size_t)(close - at->file);
	}
}

static void expand_packs(struct pieces *s)
{
	struct macros m = {0};
	struct place at = {0};
	for (size_t i = 0; i < s->count; i++) {
		struct piece *t = &s->v[i];
		for (const char *p = t->p; t->kind != PORT_DIRECTIVE && p < t->p + t->n; p++) {
			at.line += *p == '\n';
		}
		if (t->kind != PORT_DIRECTIVE) {
			continue;
		}
		place_of(&at, t);
		if (macro_line(&m, t->p, t->p + t->n)) {
			t->dropped = true;
			continue;
		}
		char position[4096] = "";
		if (at.file_bytes < sizeof position - 32) {
			snprintf(position, sizeof position, "# %lu %.*s", at.line + 1, (int)at.file_bytes, at.file);
		}
		char *text = t->own ? expanded_pack(&m, t, position) : NULL;
		if (text) {
			t->dropped = true;
			t->before = text; /* lives as long as the program */
		}
	}
	free(m.v);
}

static void read_pieces(struct pieces *s, const struct port_text *in, char **foreign, int count)
{
	const char *p = in->p + 1, *end = in->p + in->len;
	struct port_where at = port_where(foreign, count);
	bool line_start = true;
	while (p < end) {
		enum port_kind kind;
		const char *behind = port_piece(p, end, line_start, &kind);
		if (kind == PORT_DIRECTIVE) {
			port_where_line(&at, p, (size_t)(behind - p));
		}
		line_start = kind == PORT_SPACE && (line_start || *p == '\n');
		s->v = grown(s->v, s->count, &s->cap, sizeof *s->v);
		s->v[s->count++] =
			(struct piece){.p = p, .n = (uint32_t)(behind - p), .kind = (uint8_t)kind, .own = at.own};
		p = behind;
	}
}

int port_layout(bool gcc, char **foreign, int count)
{
	struct port_text in = {0};
	struct pieces s = {0};
	port_text_read(&in);
	read_pieces(&s, &in, foreign, count);
	mark_bits(&s);
	if (gcc) {
		move_alignments(&s);
		expand_packs(&s);
	}
	for (size_t i = 0; i < s.count; i++) {
		const struct piece *t = &s.v[i];
		if (t->before) {
			fputs(t->before, stdout);
		}
		if (!t->dropped) {
			fwrite(t->p, 1, t->n, stdout);
		}
		if (t->behind) {
			fputs(t->behind, stdout);
		}
	}
	free(s.v);
	free(in.p);
	if (ferror(stdin) || fflush(stdout) != 0) {
		perror("openetw-port layout");
		return 1;
	}
	return 0;
}
