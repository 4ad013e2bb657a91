/* SPDX-License-Identifier: MIT
 *
 * What a reader of manifests lets pass and a compiler must not: names and numbers given twice,
 * numbers that are Windows' own, words that are none of those allowed, elements where nothing reads
 * them. Looked for in the document, so that each is told with its line and column.
 */
#include "mc/mc.h"
#include "xml/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static int refuse(struct diag *d, uint32_t line, uint32_t column, const char *text,
		  const char *what)
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

/* The children `name` of `parent` (any when NULL) differ in their attribute `key`, as a number
 * (with the one called `also`) or as a text. */
static int differ(const struct xml_node *parent, const char *name, const char *key, bool numbers,
		  const char *also, const char *text, struct diag *d)
{
	size_t n = 0, count = 0;
	const struct xml_node *c;
	for (c = parent ? parent->children : NULL; c; c = c->next) {
		count++;
	}
	struct entry *list = calloc(count + 1, sizeof *list);
	if (!list) {
		return -ENOMEM;
	}
	for (c = parent ? parent->children : NULL; c; c = c->next) {
		const struct xml_attr *a = xml_attr(c, key);
		uint64_t v = 0, more = 0;
		if (!a || (name && strcmp(c->name, name) != 0) || (numbers && !number(a, &v))) {
			continue;
		}
		if (also) {
			(void)number(xml_attr(c, also), &more);
		}
		list[n] = (struct entry){numbers ? "" : a->value, v << 8 | more, n, a};
		n++;
	}
	qsort(list, n, sizeof *list, by_key);
	int err = 0;
	for (size_t i = 1; i < n && err == 0; i++) {
		if (list[i].number == list[i - 1].number &&
		    strcmp(list[i].text, list[i - 1].text) == 0) {
			err = refuse_attr(d, list[i].at, text);
		}
	}
	free(list);
	return err;
}

/* ---- words and numbers ------------------------------------------------------------------------
 */

static int one_of(const struct xml_node *n, const char *key, const char *const *words,
		  const char *text, struct diag *d)
{
	const struct xml_attr *a = xml_attr(n, key);
	for (size_t i = 0; a && words[i]; i++) {
		if (strcasecmp(a->value, words[i]) == 0) {
			return 0;
		}
	}
	return a ? refuse_attr(d, a, text) : 0;
}

static int between(const struct xml_node *n, const char *key, uint64_t low, uint64_t high,
		   const char *text, struct diag *d)
{
	const struct xml_attr *a = xml_attr(n, key);
	uint64_t v;
	return number(a, &v) && (v < low || v > high) ? refuse_attr(d, a, text) : 0;
}

static const char *const booleans[] = {"true", "false", "1", "0", NULL};
static const char *const channel_types[] = {"Admin", "Operational", "Analytic", "Debug", NULL};

static int check_names(const struct xml_node *p, struct diag *d)
{
	const struct xml_node *c, *list;
	int err = 0;
	list = xml_child(p, "channels");
	for (c = list ? list->children : NULL; c && err == 0; c = c->next) {
		err = one_of(c, "type", channel_types,
			     "a channel is Admin, Operational, Analytic or Debug, not", d);
		err = err ? err : one_of(c, "enabled", booleans, "true or false, not", d);
	}
	list = xml_child(p, "levels");
	for (c = list ? list->children : NULL; c && err == 0; c = c->next) {
		err = between(c, "value", 16, 255, "levels of one's own are 16 to 255, not", d);
	}
	list = xml_child(p, "opcodes");
	for (c = list ? list->children : NULL; c && err == 0; c = c->next) {
		err = between(c, "value", 10, 239, "opcodes of one's own are 10 to 239, not", d);
	}
	err = err ? err
		  : differ(xml_child(p, "tasks"), "task", "value", true, NULL,
			   "two tasks have the value", d);
	err = err ? err
		  : differ(xml_child(p, "templates"), "template", "tid", false, NULL,
			   "two templates have the tid", d);
	return err ? err
		   : differ(xml_child(p, "events"), "event", "value", true, "version",
			    "two events have this version of value", d);
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
	const struct xml_node *list = xml_child(p, "templates"), *t, *c;
	int err = 0;
	for (t = list ? list->children : NULL; t && err == 0; t = t->next) {
		err = differ(t, NULL, "name", false, NULL, "two fields have the name", d);
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
				err = refuse(d, c->line, c->column, "no fields are in struct",
					     a ? a->value : "");
			}
		}
	}
	return err;
}

/* ---- events of Admin channels ------------------------------------------------------------------
 */

static const struct xml_node *find_channel(const struct xml_node *p, const char *name)
{
	const struct xml_node *list = xml_child(p, "channels"), *c = list ? list->children : NULL;
	for (; c; c = c->next) {
		const char *chid = xml_value(c, "chid"), *own = xml_value(c, "name");
		if ((chid && strcmp(chid, name) == 0) || (!chid && own && strcmp(own, name) == 0)) {
			return c;
		}
	}
	return NULL;
}

static int check_admin(const struct xml_node *p, struct diag *d)
{
	static const char *const levels[] = {"win:Critical", "win:Error", "win:Warning",
					     "win:Informational", NULL};
	const struct xml_node *list = xml_child(p, "events"), *e;
	int err = 0;
	for (e = list ? list->children : NULL; e && err == 0; e = e->next) {
		const struct xml_attr *channel = xml_attr(e, "channel");
		const struct xml_node *c = channel ? find_channel(p, channel->value) : NULL;
		const char *type = c ? xml_value(c, "type") : NULL;
		if (!type || strcasecmp(type, "Admin") != 0) {
			continue;
		}
		if (!xml_attr(e, "message") || !xml_attr(e, "level")) {
			err = refuse_attr(d, channel,
					  "an event needs message and level for the Admin channel");
		} else {
			err = one_of(e, "level", levels,
				     "events of Admin channels are Critical, Error, Warning or "
				     "Informational, not",
				     d);
		}
	}
	return err;
}

/* ---- elements ----------------------------------------------------------------------------------
 */

/* Only those of the manifest's own namespace: others are for other tools. */
static int known_children(const struct xml_node *n, const char *const *names, struct diag *d)
{
	for (const struct xml_node *c = n->children; c; c = c->next) {
		size_t i = 0;
		while (names[i] && strcmp(c->name, names[i]) != 0) {
			i++;
		}
		if (!names[i] && strcmp(c->ns, n->ns) == 0) {
			char text[160];
			snprintf(text, sizeof text,
				 "no such element belongs into '%.100s':", n->name);
			return refuse(d, c->line, c->column, text, c->name);
		}
	}
	return 0;
}

static int check_provider(const struct xml_node *p, struct diag *d)
{
	static const char *const of_provider[] = {
		"channels", "levels",  "tasks",	       "opcodes", "keywords", "maps",	"templates",
		"events",   "filters", "namedQueries", "traits",  "message",  "groups", NULL};
	static const char *const of_maps[] = {"valueMap", "bitMap", "patternMap", NULL};
	static const char *const of_template[] = {"data", "struct", "binary", "UserData", NULL};
	static const char *const of_events[] = {"event", NULL};
	const struct xml_node *maps = xml_child(p, "maps"), *templates = xml_child(p, "templates"),
			      *events = xml_child(p, "events"), *t;
	int err = known_children(p, of_provider, d);
	err = err || !maps ? err : known_children(maps, of_maps, d);
	err = err || !events ? err : known_children(events, of_events, d);
	for (t = templates ? templates->children : NULL; t && err == 0; t = t->next) {
		err = known_children(t, of_template, d);
	}
	err = err ? err : check_names(p, d);
	err = err ? err : check_templates(p, d);
	return err ? err : check_admin(p, d);
}

static int check_strings(const struct xml_node *root, struct diag *d)
{
	const struct xml_node *l = xml_child(root, "localization"), *r;
	int err = 0;
	for (r = l ? xml_child(l, "resources") : NULL; r && err == 0;
	     r = xml_next(r, "resources")) {
		if (!xml_attr(r, "culture")) {
			err = refuse(d, r->line, r->column, "a culture must be said for these",
				     r->name);
		}
		err = err ? err
			  : differ(xml_child(r, "stringTable"), "string", "id", false, NULL,
				   "two strings have the id", d);
	}
	return err;
}

int mc_check(const struct xml_node *root, struct diag *d)
{
	const struct xml_node *i = xml_child(root, "instrumentation"), *e, *p;
	int err = check_strings(root, d);
	for (e = i ? xml_child(i, "events") : NULL; e && err == 0; e = xml_next(e, "events")) {
		err = differ(e, "provider", "name", false, NULL, "two providers have the name", d);
		err = err ? err
			  : differ(e, "provider", "guid", false, NULL,
				   "two providers have the guid", d);
		for (p = xml_child(e, "provider"); p && err == 0; p = xml_next(p, "provider")) {
			err = check_provider(p, d);
		}
	}
	return err;
}
