/* SPDX-License-Identifier: MIT
 * The reader of messages of openetw mcp, and the ids that it gives back.
 */
#include "tools/mcp/mcp_message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct mcp_json *v, int depth)
{
	const char *name, *text;
	struct mcp_json *inner;
	double real;
	int64_t whole;
	bool truth;
	if (depth > MCP_DEPTH_MAX) {
		abort(); /* the limit does not hold */
	}
	for (size_t i = 0; i < mcp_json_count(v); i++) {
		walk(mcp_json_at(v, i), depth + 1);
	}
	for (size_t i = 0; mcp_json_member_at(v, i, &name, &inner); i++) {
		walk(inner, depth + 1);
	}
	(void)mcp_json_text(v, &text);
	(void)mcp_json_integer(v, &whole);
	(void)mcp_json_real(v, &real);
	(void)mcp_json_truth(v, &truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[200] = "", id[MCP_ID_MAX];
	struct mcp_message m;
	if (!mcp_json_load(why, sizeof why) || size > (1u << 16)) {
		return 0;
	}
	struct mcp_json *v = mcp_json_parse((const char *)data, size, why, sizeof why);
	if (!v) {
		if (!why[0]) {
			abort(); /* refused without a reason */
		}
		return 0;
	}
	walk(v, 0);
	mcp_message_read(v, &m);
	if (m.id[0]) { /* it goes back to the client: it must be JSON, and the same id */
		struct mcp_json *again = mcp_json_parse(m.id, strlen(m.id), why, sizeof why);
		if (!again || !mcp_message_id(again, id, sizeof id) || strcmp(id, m.id) != 0) {
			abort();
		}
		mcp_json_free(again);
	}
	mcp_json_free(v);
	return 0;
}
