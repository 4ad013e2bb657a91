/* SPDX-License-Identifier: MIT
 *
 * Which elements a manifest may have where, and which attributes they take: a misspelt word would
 * otherwise be passed over, and what it said with it. Only what is of the manifest's own namespace
 * is looked at, and attributes without one: others are for other tools.
 */
#include "mc/mc_private.h"
#include "xml/xml.h"

#include <stdio.h>
#include <strings.h>

/* "a>b": b inside a, when b stands elsewhere too. Words are separated by one space. */
static const struct rule {
	const char *name, *attributes;
	const char *children; /* NULL: not looked at */
} rules[] = {
	{"instrumentation", "", "events"},
	{"instrumentation>events", "", "provider messageTable"},
	{"provider",
	 "name guid controlGuid namespace resourceFileName messageFileName parameterFileName "
	 "helpLink symbol message source warnOnApplicationCompatibilityError",
	 "channels levels tasks opcodes keywords maps templates events filters namedQueries traits "
	 "message groups"},
	{"channels", "", "channel importChannel"},
	{"channel", "name chid type symbol access isolation enabled value message", "logging publishing"},
	{"importChannel", "name chid symbol value message", ""},
	{"logging", "", "autoBackup maxSize retention"},
	{"publishing", "",
	 "bufferSize clockType controlGuid fileMax keywords latency level maxBuffers minBuffers "
	 "sidType"},
	{"levels", "", "level"},
	{"level", "name symbol value message", ""},
	{"publishing>level", "", ""},
	{"tasks", "", "task"},
	{"task", "name symbol value eventGUID message", "opcodes opcode"},
	{"opcodes", "", "opcode"},
	{"opcode", "name symbol value mofValue message", ""},
	{"keywords", "", "keyword"},
	{"publishing>keywords", "", ""},
	{"keyword", "name symbol mask message", ""},
	{"filters", "", "filter"},
	{"filter", "name value version symbol message tid", ""},
	{"maps", "", "valueMap bitMap patternMap"},
	{"valueMap", "name symbol", "map"},
	{"bitMap", "name symbol", "map"},
	{"map", "value message symbol name", ""},
	{"templates", "", "template"},
	{"template", "tid name", "data struct binary UserData"},
	{"data", "name inType outType map length count tags", ""},
	{"struct", "name length count tags", "data"},
	{"provider>events", "", "event"},
	{"event",
	 "value version level channel template keywords task opcode symbol message notLogged name "
	 "attributes suppressProjection tags",
	 ""},
	{"localization", "", "resources"},
	{"resources", "culture fallbackCulture", "stringTable"},
	{"stringTable", "", "string"},
	{"string", "id value stringType", ""},
};

static bool listed(const char *words, const char *word, int (*same)(const char *, const char *, size_t))
{
	size_t n = strlen(word);
	while (*words) {
		size_t k = strcspn(words, " ");
		if (k == n && same(words, word, n) == 0) {
			return true;
		}
		words += k + (words[k] == ' ');
	}
	return false;
}

static const struct rule *rule_of(const struct xml_node *n)
{
	char name[64];
	const struct rule *plain = NULL;
	snprintf(name, sizeof name, "%.30s>%.30s", n->parent ? n->parent->name : "", n->name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(rules); i++) {
		if (strcmp(rules[i].name, name) == 0) {
			return &rules[i];
		}
		plain = strcmp(rules[i].name, n->name) == 0 ? &rules[i] : plain;
	}
	return plain;
}

static int refuse(struct diag *d, uint32_t line, uint32_t column, const char *kind, const char *owner, const char *what)
{
	diag_at(d, UINT64_MAX, "no such %s belongs into '%.100s': '%s'", kind, owner, what);
	if (d && d->line == 0) {
		d->line = line;
		d->column = column;
	}
	return -EBADMSG;
}

/* Documents are no deeper than XML_DEPTH_MAX. */
int mc_check_grammar(const struct xml_node *n, struct diag *d)
{
	const struct rule *r = rule_of(n);
	if (!r) {
		return 0;
	}
	for (const struct xml_attr *a = n->attrs; a; a = a->next) {
		if (!a->prefix[0] && strcmp(a->name, "xmlns") != 0 && !listed(r->attributes, a->name, strncasecmp)) {
			return refuse(d, a->line, a->column, "attribute", n->name, a->name);
		}
	}
	for (const struct xml_node *c = r->children ? n->children : NULL; c; c = c->next) {
		if (strcmp(c->ns, n->ns) != 0) {
			continue;
		}
		if (!listed(r->children, c->name, strncmp)) {
			return refuse(d, c->line, c->column, "element", n->name, c->name);
		}
		int err = mc_check_grammar(c, d);
		if (err < 0) {
			return err;
		}
	}
	return 0;
}
