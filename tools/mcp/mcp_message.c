/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_message.h"

#include <stdio.h>

bool mcp_message_id(const struct mcp_json *v, char *out, size_t cap)
{
	const char *s;
	int64_t i;
	if (mcp_json_kind(v) == MCP_INTEGER && mcp_json_integer(v, &i)) {
		snprintf(out, cap, "%lld", (long long)i);
		return true;
	}
	if (!mcp_json_text(v, &s)) {
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

void mcp_message_read(const struct mcp_json *v, struct mcp_message *ret)
{
	const char *version = "";
	struct mcp_json *id, *method, *params;
	*ret = (struct mcp_message){0};
	if (mcp_json_kind(v) != MCP_OBJECT) {
		wrong(ret, "a message is a JSON object");
		return;
	}
	id = mcp_json_member(v, "id");
	method = mcp_json_member(v, "method");
	params = mcp_json_member(v, "params");
	bool has_id = id && mcp_message_id(id, ret->id, sizeof ret->id);
	if (!mcp_json_text(mcp_json_member(v, "jsonrpc"), &version) || strcmp(version, "2.0") != 0) {
		wrong(ret, "\"jsonrpc\" is to be \"2.0\"");
	} else if (id && !has_id) {
		wrong(ret, "\"id\" is to be a whole number or a text of at most 250 bytes");
	} else if (!method && id && (mcp_json_member(v, "result") || mcp_json_member(v, "error"))) {
		ret->kind = MCP_RESPONSE;
	} else if (!mcp_json_text(method, &ret->method)) {
		wrong(ret, "\"method\" is to be a text");
	} else if (params && mcp_json_kind(params) != MCP_OBJECT) {
		wrong(ret, "\"params\" is to be an object");
	} else {
		ret->kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
		ret->params = params;
	}
}
