/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_message.h"

#include <stdio.h>

bool mcp_message_id(const struct json_value *v, char *out, size_t cap)
{
	const char *s;
	int64_t i;
	if (json_kind_of(v) == JSON_INTEGER && json_integer(v, &i)) {
		snprintf(out, cap, "%lld", (long long)i);
		return true;
	}
	if (!json_text(v, &s)) {
		return false;
	}
	struct strbuf b = {0};
	strbuf_add_json(&b, s, strlen(s));
	bool fits = !b.failed && b.len < cap;
	if (fits) {
		memcpy(out, b.s, b.len + 1);
	}
	strbuf_finish(&b);
	return fits;
}

static void wrong(struct mcp_message *m, const char *why)
{
	m->kind = MCP_WRONG;
	m->code = MCP_INVALID_REQUEST;
	snprintf(m->why, sizeof m->why, "%s", why);
}

void mcp_message_read(const struct json_value *v, struct mcp_message *ret)
{
	const char *version = "";
	struct json_value *id, *method, *params;
	*ret = (struct mcp_message){0};
	if (json_kind_of(v) != JSON_OBJECT) {
		wrong(ret, "a message is a JSON object");
		return;
	}
	id = json_member(v, "id");
	method = json_member(v, "method");
	params = json_member(v, "params");
	bool has_id = id && mcp_message_id(id, ret->id, sizeof ret->id);
	if (!json_text(json_member(v, "jsonrpc"), &version) || strcmp(version, "2.0") != 0) {
		wrong(ret, "\"jsonrpc\" is to be \"2.0\"");
	} else if (id && !has_id) {
		wrong(ret, "\"id\" is to be a whole number or a text of at most 250 bytes");
	} else if (!method && id && (json_member(v, "result") || json_member(v, "error"))) {
		ret->kind = MCP_RESPONSE;
	} else if (!json_text(method, &ret->method)) {
		wrong(ret, "\"method\" is to be a text");
	} else if (params && json_kind_of(params) != JSON_OBJECT) {
		wrong(ret, "\"params\" is to be an object");
	} else {
		ret->kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
		ret->params = params;
	}
}
