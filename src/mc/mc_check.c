/* SPDX-License-Identifier: MIT
 *
 * What a reader of manifests lets pass and a compiler must not: names and numbers given twice,
 * numbers that are Windows' own, words that are none of those allowed, elements where nothing reads
 * them. Looked for in the document, so that each is told with its line and column.
 */
#include "mc/mc_private.h"
#include "xml/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static int refuse(struct diag *d, uint32_t line, uint32_t column, const char *text, const char *what)
{
	diag_at(d, UINT64_MAX, "%s '%s'", text, what);
	if (d && d->line == 0) {
		d->line = line;
		d->column = column;
	}
	return -EBADMSG;
}

static int refuse_attr(struct diag *d, const struct xml_attr *a, const char *text)
{
	return refuse(d, a->line, a->column, text, a->value);
}

static bool number(const struct xml_attr *a, uint64_t *ret)
{
	char *end = NULL;
	const char *s = a ? a->value : "";
	bool hex = s[0] == '0' && (s[1] | 32) == 'x';
	*ret = strtoull(s, &end, hex ? 16 : 10);
	return *s && !*end;
}

/* ---- once -------------------------------------------------------------------------------------
 */

struct entry {
	const char *text;
	uint64_t number, order;
	const struct xml_attr *at;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = x->number != y->number ? (x->number < y->number ? -1 : 1) : 0;
	c = c ? c : strcmp(x->text, y->text);
	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

/* The elements `name` (any when NULL) from `first` on, in all parts of their list when `parts`,
 * differ in their attribute `key`, as a number (with the one called `also`) or as a text. */
static int differ(const struct xml_node *first, const char *name, bool parts, const char *key, bool numbers,
		  const char *also, const char *text, struct diag *d)
{
	size_t n = 0, count = 0;
	const struct xml_node *c;
	for (c = first; c; c = parts ? xml_listed_next(c, NULL) : c->next) {
		count++;
	}
	struct entry *list = calloc(count + 1, sizeof *list);
	if (!list) {
		return -ENOMEM;
	}
	for (c = first; c; c = parts ? xml_listed_next(c, NULL) : c->next) {
		const struct xml_attr *a = xml_attr(c, key);
		uint64_t v = 0, more = 0;
		if (!a || (name && strcmp(c->name, name) != 0) || (numbers && !number(a, &v))) {
			continue;
		}
		if (also) {
			(void)number(xml_attr(c, also), &more);
		}
		list[n] = (struct entry){numbers ? "" : a->value, also ? v << 8 | more : v, n, a};
		n++;
	}
	qsort(list, n, sizeof *list, by_key);
	int err = 0;
	for (size_t i = 1; i < n && err == 0; i++) {
		if (list[i].number == list[i - 1].number && strcmp(list[i].text, list[i - 1].text) == 0) {
			err = refuse_attr(d, list[i].at, text);
		}
	}
	free(list);
	return err;
}

/* ---- words and numbers ------------------------------------------------------------------------
 */

static int one_of(const struct xml_node *n, const char *key, const char *const *words, const char *text, struct diag *d)
{
	const struct xml_attr *a = xml_attr(n, key);
	for (size_t i = 0; a && words[i]; i++) {
		if (strcasecmp(a->value, words[i]) == 0) {
			return 0;
		}
	}
	return a ? refuse_attr(d, a, text) : 0;
}

static int between(const struct xml_node *n, const char *key, uint64_t low, uint64_t high, const char *text,
		   struct diag *d)
{
	const struct xml_attr *a = xml_attr(n, key);
	uint64_t v;
	return number(a, &v) && (v < low || v > high) ? refuse_attr(d, a, text) : 0;
}

static const char *const booleans[] = {"true", "false", "1", "0", NULL};
static const char *const isolations[] = {"Application", "System", "Custom", NULL};
static const char *const channel_types[] = {"Admin", "Operational", "Analytic", "Debug", NULL};

/* Winmeta's names may be listed, with their own values. */
static bool predefined(const struct xml_node *n)
{
	const char *name = xml_value(n, "name");
	return name && strncmp(name, "win:", 4) == 0;
}

/* What must differ among the entries of one list. */
static const struct {
	const char *list, *element, *key;
	bool number;
	const char *also, *text;
} once[] = {
	{"channels", "channel", "value", true, NULL, "two channels have the value"},
	{"channels", NULL, "chid", false, NULL, "two channels have the chid"},
	{"levels", "level", "name", false, NULL, "two levels have the name"},
	{"levels", "level", "value", true, NULL, "two levels have the value"},
	{"levels", "level", "symbol", false, NULL, "two levels have the symbol"},
	{"tasks", "task", "name", false, NULL, "two tasks have the name"},
	{"tasks", "task", "value", true, NULL, "two tasks have the value"},
	{"tasks", "task", "symbol", false, NULL, "two tasks have the symbol"},
	{"opcodes", "opcode", "name", false, NULL, "two opcodes have the name"},
	{"opcodes", "opcode", "value", true, NULL, "two opcodes have the value"},
	{"keywords", "keyword", "name", false, NULL, "two keywords have the name"},
	{"keywords", "keyword", "mask", true, NULL, "two keywords have the mask"},
	{"keywords", "keyword", "symbol", false, NULL, "two keywords have the symbol"},
	{"filters", "filter", "value", true, "version", "two filters have this version of value"},
	{"maps", NULL, "symbol", false, NULL, "two maps have the symbol"},
	{"templates", "template", "tid", false, NULL, "two templates have the tid"},
	{"events", "event", "value", true, "version", "two events have this version of value"},
};

static int check_once(const struct xml_node *p, struct diag *d)
{
	int err = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(once) && err == 0; i++) {
		err = differ(xml_listed(p, once[i].list, NULL), once[i].element, true, once[i].key, once[i].number,
			     once[i].also, once[i].text, d);
	}
	return err;
}

/* Bits 48 to 63 are Windows' own; winmeta's names for them may be listed. */
static int check_keyword(const struct xml_node *k, struct diag *d)
{
	const struct xml_attr *a = xml_attr(k, "mask");
	const char *name = xml_value(k, "name");
	uint64_t v;
	if (!number(a, &v) || (name && strncmp(name, "win:", 4) == 0)) {
		return 0;
	}
	return v == 0 || (v & (v - 1)) != 0 ? refuse_attr(d, a, "a keyword is one bit, not")
	       : v >> 48                    ? refuse_attr(d, a, "keywords of one's own are bits 0 to 47, not")
					    : 0;
}

static int check_maps(const struct xml_node *p, struct diag *d)
{
	int err = 0;
	for (const struct xml_node *m = xml_listed(p, "maps", NULL); m && err == 0; m = xml_listed_next(m, NULL)) {
		bool bits = strcmp(m->name, "bitMap") == 0;
		err = strcmp(m->name, "patternMap") == 0 ? 0
							 : differ(m->children, "map", false, "value", true, NULL,
								  "two entries of this map have the value", d);
		err = err ? err
			  : differ(m->children, "map", false, "symbol", false, NULL,
				   "two entries of this map have the symbol", d);
		for (const struct xml_node *e = m->children; e && bits && err == 0; e = e->next) {
			const struct xml_attr *a = xml_attr(e, "value");
			uint64_t v;
			if (number(a, &v) && (v & (v - 1)) != 0) {
				err = refuse_attr(d, a, "an entry of a bitMap is one bit, not");
			}
		}
	}
	return err;
}

static int check_names(const struct xml_node *p, struct diag *d)
{
	const struct xml_node *c;
	int err = 0;
	for (c = xml_listed(p, "channels", NULL); c && err == 0; c = xml_listed_next(c, NULL)) {
		err = one_of(c, "type", channel_types, "a channel is Admin, Operational, Analytic or Debug, not", d);
		err = err ? err : one_of(c, "enabled", booleans, "true or false, not", d);
		err = err ? err
			  : one_of(c, "isolation", isolations, "isolation is Application, System or Custom, not", d);
	}
	for (c = xml_listed(p, "levels", "level"); c && err == 0; c = xml_listed_next(c, "level")) {
		err = predefined(c) ? 0 : between(c, "value", 16, 255, "levels of one's own are 16 to 255, not", d);
	}
	for (c = xml_listed(p, "opcodes", "opcode"); c && err == 0; c = xml_listed_next(c, "opcode")) {
		err = predefined(c) ? 0 : between(c, "value", 10, 239, "opcodes of one's own are 10 to 239, not", d);
	}
	for (c = xml_listed(p, "keywords", "keyword"); c && err == 0; c = xml_listed_next(c, "keyword")) {
		err = check_keyword(c, d);
	}
	for (c = xml_listed(p, "tasks", "task"); c && err == 0; c = xml_listed_next(c, "task")) {
		const struct xml_node *own = xml_listed(c, "opcodes", NULL);
		err = differ(own, "opcode", true, "name", false, NULL, "two opcodes of this task have the name", d);
		err = err ? err
			  : differ(own, "opcode", true, "value", true, NULL, "two opcodes of this task have the value",
				   d);
	}
	for (c = xml_listed(p, "events", "event"); c && err == 0; c = xml_listed_next(c, "event")) {
		err = one_of(c, "notLogged", booleans, "true or false, not", d);
	}
	err = err ? err : check_maps(p, d);
	return err ? err : check_once(p, d);
}

/* ---- templates --------------------------------------------------------------------------------
 */

/* Ways to show that go with few types only. */
static int check_out_type(const struct xml_node *field, struct diag *d)
{
	static const struct {
		const char *out, *in[4];
	} only[] = {
		{"xs:GUID", {"win:GUID"}},
		{"xs:float", {"win:Float"}},
		{"xs:double", {"win:Double"}},
		{"xs:dateTime", {"win:FILETIME", "win:SYSTEMTIME"}},
		{"win:IPv4", {"win:UInt32"}},
		{"win:IPv6", {"win:Binary", "win:CountedBinary"}},
		{"win:SocketAddress", {"win:Binary", "win:CountedBinary"}},
		{"xs:hexBinary", {"win:Binary", "win:CountedBinary"}},
		{"win:Port", {"win:UInt16"}},
	};
	const struct xml_attr *out = xml_attr(field, "outType");
	const char *in = xml_value(field, "inType");
	for (size_t i = 0; out && in && i < BASE_ARRAY_LEN(only); i++) {
		if (strcmp(out->value, only[i].out) != 0) {
			continue;
		}
		for (size_t k = 0; k < BASE_ARRAY_LEN(only[i].in) && only[i].in[k]; k++) {
			if (strcmp(in, only[i].in[k]) == 0) {
				return 0;
			}
		}
		char text[128];
		snprintf(text, sizeof text, "a value of %.40s cannot be shown as", in);
		return refuse_attr(d, out, text);
	}
	return 0;
}

static int check_templates(const struct xml_node *p, struct diag *d)
{
	const struct xml_node *t, *c;
	int err = 0;
	for (t = xml_listed(p, "templates", NULL); t && err == 0; t = xml_listed_next(t, NULL)) {
		err = differ(t->children, NULL, false, "name", false, NULL, "two fields have the name", d);
		for (c = t->children; c && err == 0; c = c->next) {
			const struct xml_attr *a = xml_attr(c, "name");
			err = check_out_type(c, d);
			for (const struct xml_node *f = c->children; f && err == 0; f = f->next) {
				err = check_out_type(f, d);
			}
			if (err < 0) {
				break;
			}
			if (strcmp(c->name, "struct") == 0 && !xml_child(c, "data")) {
				err = refuse(d, c->line, c->column, "no fields are in struct", a ? a->value : "");
			}
		}
	}
	return err;
}

/* ---- events of Admin channels ------------------------------------------------------------------
 */

static const struct xml_node *find_channel(const struct xml_node *p, const char *name)
{
	const struct xml_node *c = xml_listed(p, "channels", NULL);
	for (; c; c = xml_listed_next(c, NULL)) {
		const char *chid = xml_value(c, "chid"), *own = xml_value(c, "name");
		if ((chid && strcmp(chid, name) == 0) || (!chid && own && strcmp(own, name) == 0)) {
			return c;
		}
	}
	return NULL;
}

static int check_admin(const struct xml_node *p, struct diag *d)
{
	static const char *const levels[] = {"win:Critical", "win:Error", "win:Warning", "win:Informational", NULL};
	const struct xml_node *e;
	int err = 0;
	for (e = xml_listed(p, "events", NULL); e && err == 0; e = xml_listed_next(e, NULL)) {
		const struct xml_attr *channel = xml_attr(e, "channel");
		const struct xml_node *c = channel ? find_channel(p, channel->value) : NULL;
		const char *type = c ? xml_value(c, "type") : NULL;
		if (!type || strcasecmp(type, "Admin") != 0) {
			continue;
		}
		if (!xml_attr(e, "message") || !xml_attr(e, "level")) {
			err = refuse_attr(d, channel, "an event needs message and level for the Admin channel");
		} else {
			err = one_of(e, "level", levels,
				     "events of Admin channels are Critical, Error, Warning or "
				     "Informational, not",
				     d);
		}
	}
	return err;
}

/* ---- the document ------------------------------------------------------------------------------
 */

static int check_provider(const struct xml_node *p, struct diag *d)
{
	int err = check_names(p, d);
	err = err ? err : check_templates(p, d);
	return err ? err : check_admin(p, d);
}

static int check_strings(const struct xml_node *root, struct diag *d)
{
	const struct xml_node *r = xml_listed(root, "localization", "resources");
	int err = 0;
	for (; r && err == 0; r = xml_listed_next(r, "resources")) {
		if (!xml_attr(r, "culture")) {
			err = refuse(d, r->line, r->column, "a culture must be said for these", r->name);
		}
		err = err ? err
			  : differ(xml_listed(r, "stringTable", NULL), "string", true, "id", false, NULL,
				   "two strings have the id", d);
	}
	return err;
}

int mc_check(const struct xml_node *root, struct diag *d)
{
	const struct xml_node *i = xml_child(root, "instrumentation"), *p, *n;
	int err = 0;
	for (n = root->children; n && err == 0; n = n->next) {
		bool part = strcmp(n->name, "instrumentation") == 0 || strcmp(n->name, "localization") == 0;
		err = part ? mc_check_grammar(n, d) : 0;
	}
	err = err ? err : check_strings(root, d);
	for (; i && err == 0; i = xml_next(i, "instrumentation")) {
		p = xml_listed(i, "events", NULL);
		err = differ(p, "provider", true, "name", false, NULL, "two providers have the name", d);
		err = err ? err : differ(p, "provider", true, "guid", false, NULL, "two providers have the guid", d);
		for (p = xml_listed(i, "events", "provider"); p && err == 0; p = xml_listed_next(p, "provider")) {
			err = check_provider(p, d);
		}
	}
	return err;
}
