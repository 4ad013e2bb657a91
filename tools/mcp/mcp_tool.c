/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_tool.h"

#include "base/nearest.h"
#include "base/parse.h"

#include <stdlib.h>

extern const struct mcp_tool mcp_tool_list_traces, mcp_tool_open_trace, mcp_tool_overview, mcp_tool_find_events,
	mcp_tool_get_event, mcp_tool_sql, mcp_tool_sql_tables, mcp_tool_report, mcp_tool_stacks, mcp_tool_waits,
	mcp_tool_compare, mcp_tool_provider_schema, mcp_tool_export;

const struct mcp_tool *const mcp_tools[] = {
	&mcp_tool_list_traces, &mcp_tool_open_trace,
	&mcp_tool_overview,    &mcp_tool_find_events,
	&mcp_tool_get_event,   &mcp_tool_sql,
	&mcp_tool_sql_tables,  &mcp_tool_report,
	&mcp_tool_stacks,      &mcp_tool_waits,
	&mcp_tool_compare,     &mcp_tool_provider_schema,
	&mcp_tool_export,      NULL,
};

static bool offered(const struct mcp_tool *t)
{
	return !t->offered || t->offered();
}

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (int i = 0; mcp_tools[i]; i++) {
		if (strcmp(mcp_tools[i]->name, name) == 0) {
			return offered(mcp_tools[i]) ? mcp_tools[i] : NULL;
		}
	}
	return NULL;
}

static const char *tool_at(const void *ctx, int i)
{
	(void)ctx;
	return mcp_tools[i] ? mcp_tools[i]->name : NULL;
}

const char *mcp_tool_nearest(const char *name)
{
	return nearest_word(name, tool_at, NULL);
}

void mcp_put_cut(struct strbuf *b, bool cut, const char *how)
{
	json_put_truth(b, "cut", cut);
	if (cut) {
		json_put_text(b, "how_to_go_on", how);
	}
}

/* ---- the list --------------------------------------------------------------------------------------- */

static void put_values(struct strbuf *b, const char *values)
{
	json_put_name(b, "enum");
	strbuf_addc(b, '[');
	for (const char *p = values; *p;) {
		size_t n = strcspn(p, "|");
		json_put_comma(b);
		strbuf_add_json(b, p, n);
		p += n + (p[n] == '|');
	}
	strbuf_addc(b, ']');
}

static void put_param(struct strbuf *b, const struct mcp_param *p)
{
	json_put_name(b, p->name);
	strbuf_addc(b, '{');
	switch (p->kind) {
	case MCP_PARAM_TEXTS:
		strbuf_adds(b, "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":1024");
		break;
	case MCP_PARAM_INTEGER:
		json_put_text(b, "type", "integer");
		json_put_integer(b, "minimum", p->min);
		json_put_integer(b, "maximum", p->max);
		break;
	case MCP_PARAM_REAL:
		json_put_text(b, "type", "number");
		json_put_integer(b, "minimum", p->min);
		json_put_integer(b, "maximum", p->max);
		break;
	case MCP_PARAM_TRUTH: json_put_text(b, "type", "boolean"); break;
	case MCP_PARAM_TIME: strbuf_adds(b, "\"type\":[\"integer\",\"string\"]"); break;
	case MCP_PARAM_CHOICE:
		json_put_text(b, "type", "string");
		put_values(b, p->values);
		break;
	default: json_put_text(b, "type", "string"); break;
	}
	json_put_text(b, "description", p->help);
	strbuf_addc(b, '}');
}

static void put_tool(struct strbuf *b, const struct mcp_tool *t)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "name", t->name);
	json_put_text(b, "title", t->title);
	struct strbuf help = {0};
	strbuf_adds(&help, t->help);
	for (const char *const *name = t->names ? t->names() : NULL; name && *name; name++) {
		strbuf_addf(&help, "%s%s", *name, name[1] ? ", " : ".");
	}
	json_put_text(b, "description", help.failed ? t->help : help.s);
	strbuf_finish(&help);
	strbuf_adds(b, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
	for (const struct mcp_param *p = t->params; p->name; p++) {
		put_param(b, p);
	}
	strbuf_adds(b, "},\"required\":[");
	for (const struct mcp_param *p = t->params; p->name; p++) {
		if (p->required) {
			json_put_text(b, NULL, p->name);
		}
	}
	strbuf_addf(b,
		    "],\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":false,"
		    "\"idempotentHint\":%s,\"openWorldHint\":false}}",
		    t->writes ? "false" : "true", t->writes ? "false" : "true");
}

void mcp_tool_list(struct strbuf *b)
{
	strbuf_addc(b, '[');
	for (int i = 0; mcp_tools[i]; i++) {
		if (offered(mcp_tools[i])) {
			put_tool(b, mcp_tools[i]);
		}
	}
	strbuf_addc(b, ']');
}

/* ---- a call ----------------------------------------------------------------------------------------- */

static const char *param_at(const void *ctx, int i)
{
	return ((const struct mcp_param *)ctx)[i].name;
}

static const struct mcp_param *param_of(const struct mcp_tool *t, const char *name)
{
	for (const struct mcp_param *p = t->params; p->name; p++) {
		if (strcmp(p->name, name) == 0) {
			return p;
		}
	}
	return NULL;
}

static int choice_of(const char *values, const char *text)
{
	int i = 0;
	for (const char *p = values; *p; i++) {
		size_t n = strcspn(p, "|");
		if (strlen(text) == n && memcmp(p, text, n) == 0) {
			return i;
		}
		p += n + (p[n] == '|');
	}
	return -1;
}

static bool unknown(const struct mcp_call *c, const char *name)
{
	struct strbuf all = {0};
	const char *near = nearest_word(name, param_at, c->tool->params);
	for (const struct mcp_param *p = c->tool->params; p->name; p++) {
		strbuf_addf(&all, "%s%s", p == c->tool->params ? "" : ", ", p->name);
	}
	cli_tell(c->args, "%s has no argument '%.60s'%s%s%s (it has: %s)", c->tool->name, name,
		 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
		 all.len && !all.failed ? all.s : "none");
	strbuf_finish(&all);
	return false;
}

static bool check_texts(const struct json_value *v)
{
	const char *s;
	size_t n = json_count(v);
	for (size_t i = 0; i < n; i++) {
		if (!json_text(json_at(v, i), &s)) {
			return false;
		}
	}
	return n > 0 && n <= 1024;
}

static bool check_param(const struct mcp_call *c, const struct mcp_param *p, const struct json_value *v)
{
	const char *s;
	const char *tool = c->tool->name;
	int64_t i;
	double d;
	bool b;
	switch (p->kind) {
	case MCP_PARAM_TEXTS:
		if (!check_texts(v)) {
			cli_tell(c->args, "%s: '%s' is to be an array of 1 to 1024 texts", tool, p->name);
			return false;
		}
		return true;
	case MCP_PARAM_INTEGER:
		if (!json_integer(v, &i) || i < p->min || i > p->max) {
			cli_tell(c->args, "%s: '%s' is to be a whole number from %lld to %lld", tool, p->name,
				 (long long)p->min, (long long)p->max);
			return false;
		}
		return true;
	case MCP_PARAM_REAL:
		if (!json_real(v, &d) || d < (double)p->min || d > (double)p->max) {
			cli_tell(c->args, "%s: '%s' is to be a number from %lld to %lld", tool, p->name,
				 (long long)p->min, (long long)p->max);
			return false;
		}
		return true;
	case MCP_PARAM_TRUTH:
		if (!json_truth(v, &b)) {
			cli_tell(c->args, "%s: '%s' is to be true or false", tool, p->name);
			return false;
		}
		return true;
	case MCP_PARAM_TIME:
		if (!json_integer(v, &i) && !json_text(v, &s)) {
			cli_tell(c->args,
				 "%s: '%s' is to be a time: nanoseconds since the start of the trace, \"1.5s\", or a "
				 "date",
				 tool, p->name);
			return false;
		}
		return true;
	case MCP_PARAM_CHOICE:
		if (!json_text(v, &s) || choice_of(p->values, s) < 0) {
			cli_tell(c->args, "%s: '%s' is to be one of %s", tool, p->name, p->values);
			return false;
		}
		return true;
	default:
		if (!json_text(v, &s)) {
			cli_tell(c->args, "%s: '%s' is to be a text", tool, p->name);
			return false;
		}
		return true;
	}
}

bool mcp_call_check(const struct mcp_call *c)
{
	const char *name;
	struct json_value *v;
	for (size_t i = 0; json_member_at(c->given, i, &name, &v); i++) {
		const struct mcp_param *p = param_of(c->tool, name);
		if (!p) {
			return unknown(c, name);
		}
		if (v && !check_param(c, p, v)) { /* null: as if it were not there */
			return false;
		}
	}
	for (const struct mcp_param *p = c->tool->params; p->name; p++) {
		if (p->required && !json_member(c->given, p->name)) {
			cli_tell(c->args, "%s needs the argument '%s': %s", c->tool->name, p->name, p->help);
			return false;
		}
	}
	return true;
}

const char *mcp_call_text(const struct mcp_call *c, const char *name, const char *absent)
{
	const char *s = absent;
	json_text(json_member(c->given, name), &s);
	return s;
}

int64_t mcp_call_integer(const struct mcp_call *c, const char *name, int64_t absent)
{
	int64_t i = absent;
	json_integer(json_member(c->given, name), &i);
	return i;
}

double mcp_call_real(const struct mcp_call *c, const char *name, double absent)
{
	double d = absent;
	json_real(json_member(c->given, name), &d);
	return d;
}

bool mcp_call_truth(const struct mcp_call *c, const char *name, bool absent)
{
	bool b = absent;
	json_truth(json_member(c->given, name), &b);
	return b;
}

int mcp_call_choice(const struct mcp_call *c, const char *name, int absent)
{
	const struct mcp_param *p = param_of(c->tool, name);
	const char *s = mcp_call_text(c, name, NULL);
	return s ? choice_of(p->values, s) : absent;
}
