/* SPDX-License-Identifier: MIT
 * A message of JSON-RPC 2.0, as the Model Context Protocol has them.
 */
#ifndef TOOLS_MCP_MCP_MESSAGE_H
#define TOOLS_MCP_MCP_MESSAGE_H

#include "tools/common/json_read.h"

#define MCP_ID_MAX 300u /* bytes of an id, as JSON */

enum mcp_message_kind {
	MCP_REQUEST,
	MCP_NOTIFICATION,
	MCP_RESPONSE, /* of the client, to nothing that we asked */
	MCP_WRONG,    /* `code` and `why` are the answer */
};
#define MCP_PARSE_ERROR     (-32700)
#define MCP_INVALID_REQUEST (-32600)
#define MCP_NO_METHOD       (-32601)
#define MCP_INVALID_PARAMS  (-32602)
#define MCP_INTERNAL        (-32603)
#define MCP_NO_RESOURCE     (-32002) /* until 2025-11-25; later it is MCP_INVALID_PARAMS */
#define MCP_UNSUPPORTED     (-32022) /* the version of the protocol, since 2026-07-28 */

struct mcp_message {
	enum mcp_message_kind kind;
	char id[MCP_ID_MAX];             /* as JSON; "": none, or it could not be read */
	const char *method;              /* borrowed */
	const struct json_value *params; /* an object, borrowed; NULL: none */
	int code;
	char why[200];
};
/* One that has been parsed; never fails. */
void mcp_message_read(const struct json_value *v, struct mcp_message *ret);
/* An id as JSON. False: it is neither a text of reasonable length nor a whole number. */
bool mcp_message_id(const struct json_value *v, char *out, size_t cap);

#endif
