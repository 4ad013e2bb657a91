/* SPDX-License-Identifier: MIT
 * The reader of messages of openetw mcp, and the ids that it gives back.
 */
#include "tools/mcp/mcp_message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json_value *v, int depth)
{
	const char *name, *text;
	struct json_value *inner;
	double real;
	int64_t whole;
	bool truth;
	if (depth > JSON_DEPTH_MAX) {
		abort(); /* the limit does not hold */
	}
	for (size_t i = 0; i < json_count(v); i++) {
		walk(json_at(v, i), depth + 1);
	}
	for (size_t i = 0; json_member_at(v, i, &name, &inner); i++) {
		walk(inner, depth + 1);
	}
	(void)json_text(v, &text);
	(void)json_integer(v, &whole);
	(void)json_real(v, &real);
	(void)json_truth(v, &truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[200] = "", id[MCP_ID_MAX];
	struct mcp_message m;
	if (!json_load(why, sizeof why) || size > (1u << 16)) {
		return 0;
	}
	struct json_value *v = json_parse((const char *)data, size, why, sizeof why);
	if (!v) {
		if (!why[0]) {
			abort(); /* refused without a reason */
		}
		return 0;
	}
	walk(v, 0);
	mcp_message_read(v, &m);
	if (m.id[0]) { /* it goes back to the client: it must be JSON, and the same id */
		struct json_value *again = json_parse(m.id, strlen(m.id), why, sizeof why);
		if (!again || !mcp_message_id(again, id, sizeof id) || strcmp(id, m.id) != 0) {
			abort();
		}
		json_free(again);
	}
	json_free(v);
	return 0;
}
