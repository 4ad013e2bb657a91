/* SPDX-License-Identifier: MIT
 *
 * A tree as text. Parentheses stand only where the tree would become another one without them.
 */
#include "filter/filter_parse.h"

static void put_name(const struct filter_node *n, struct strbuf *out)
{
	bool plain = n->name[0] != '.';
	for (const char *s = n->name; *s; s++) {
		plain = plain && filter_word_byte(*s, FILTER_NAME_BYTES);
	}
	if (!n->payload) {
		strbuf_adds(out, n->name);
	} else {
		strbuf_addf(out, plain ? ".%s" : "[%s]", n->name);
	}
}

static void put_value(const char *value, bool quoted, struct strbuf *out)
{
	bool plain = *value != 0 && !quoted;
	for (const char *s = value; *s; s++) {
		plain = plain && *s != '\\' && filter_word_byte(*s, FILTER_VALUE_BYTES);
	}
	if (plain) {
		strbuf_adds(out, value);
		return;
	}
	strbuf_addc(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\') {
			strbuf_addc(out, '\\');
		}
		strbuf_addc(out, *value);
	}
	strbuf_addc(out, '"');
}

static void put_regex(const struct filter_node *n, struct strbuf *out)
{
	strbuf_addc(out, '/');
	for (const char *s = n->value; *s; s++) {
		if (*s == '/' || (*s == '\\' && s[1])) {
			strbuf_addc(out, '\\');
		}
		s += *s == '\\' && s[1];
		strbuf_addc(out, *s);
	}
	strbuf_adds(out, n->nocase ? "/i" : "/");
}

static void put_node(const struct filter_expr *f, uint32_t at, struct strbuf *out);

static void put_inside(const struct filter_expr *f, uint32_t at, bool parentheses, struct strbuf *out)
{
	strbuf_adds(out, parentheses ? "(" : "");
	put_node(f, at, out);
	strbuf_adds(out, parentheses ? ")" : "");
}

static void put_node(const struct filter_expr *f, uint32_t at, struct strbuf *out)
{
	const struct filter_node *n = &f->nodes[at];
	enum filter_node_type left = f->nodes[n->left].type, right = f->nodes[n->right].type;
	switch (n->type) {
	case FILTER_NODE_AND:
		put_inside(f, n->left, left == FILTER_NODE_OR, out);
		strbuf_adds(out, " and ");
		put_inside(f, n->right, right == FILTER_NODE_OR || right == FILTER_NODE_AND, out);
		return;
	case FILTER_NODE_OR:
		put_inside(f, n->left, false, out);
		strbuf_adds(out, " or ");
		put_inside(f, n->right, right == FILTER_NODE_OR, out);
		return;
	case FILTER_NODE_NOT:
		strbuf_adds(out, "not ");
		put_inside(f, n->left, left == FILTER_NODE_AND || left == FILTER_NODE_OR, out);
		return;
	default: break;
	}
	put_name(n, out);
	if (n->type == FILTER_NODE_TEST) {
		strbuf_addf(out, " %s ", filter_test_word(n->test));
		if (n->test == FILTER_TEST_REGEX || n->test == FILTER_TEST_NOT_REGEX) {
			put_regex(n, out);
			return;
		}
		/* Behind "!~" a word in slashes would be a regular expression. */
		put_value(n->value, n->quoted || (n->test == FILTER_TEST_NOT_LIKE && n->value[0] == '/'), out);
		if (n->high) {
			strbuf_addc(out, ',');
			put_value(n->high, n->high_quoted, out);
		}
	}
}

void filter_expr_print(const struct filter_expr *f, struct strbuf *out)
{
	put_node(f, f->root, out);
}
