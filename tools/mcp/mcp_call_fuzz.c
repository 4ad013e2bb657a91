/* SPDX-License-Identifier: MIT
 * What clients send beside messages: the URI of a resource, the cursor of a list, the arguments of a tool. The first byte
 * says which.
 */
#include "tools/mcp/mcp_more.h"
#include "tools/mcp/mcp_tool.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a tool with a parameter of each kind -------------------------------------------------------------- */

#define LEAST (-7)
#define MOST  INT64_C(1000000000000)
static const struct mcp_param params[] = {
	MCP_FILES("files"),
	{.name = "text", .kind = MCP_PARAM_TEXT, .help = "a text", .required = true},
	{.name = "integer", .kind = MCP_PARAM_INTEGER, .help = "a number", .min = LEAST, .max = MOST},
	{.name = "real", .kind = MCP_PARAM_REAL, .help = "a number", .max = 100},
	{.name = "truth", .kind = MCP_PARAM_TRUTH, .help = "yes or no"},
	{.name = "choice", .kind = MCP_PARAM_CHOICE, .help = "one of them", .values = "a|bc|def"},
	{.name = "time", .kind = MCP_PARAM_TIME, .help = "a time"},
	{0}};
#define TOOL(name_)                                                                                 \
	const struct mcp_tool mcp_tool_##name_; /* those of the server are in files of their own */ \
	const struct mcp_tool mcp_tool_##name_ = {.name = #name_, .title = "", .help = "", .params = params}
TOOL(list_traces);
TOOL(open_trace);
TOOL(overview);
TOOL(find_events);
TOOL(get_event);
TOOL(sql);
TOOL(sql_tables);
TOOL(report);
TOOL(stacks);
TOOL(waits);
TOOL(compare);
TOOL(provider_schema);
TOOL(export);

static unsigned reasons;
int cli_tell(const struct cli_args *a, const char *fmt, ...)
{
	(void)a;
	reasons += fmt[0] != 0;
	return CLI_FAILED;
}

/* ---- the three ------------------------------------------------------------------------------------------ */

static void check(bool ok)
{
	if (!ok) {
		abort();
	}
}

/* The call that it becomes is JSON and names one file; the file's own URI becomes the same call. */
static void take_uri(const char *uri)
{
	char why[200];
	const char *path = NULL, *again = NULL;
	struct strbuf call = {0}, answer = {0}, list = {0}, second = {0};
	if (!mcp_resource_call(uri, &call)) {
		check(call.len == 0);
		return;
	}
	struct json_value *v = json_parse(call.s, call.len, why, sizeof why);
	if (v) { /* bytes that are no UTF-8 are replaced or refused by the worker, which reads this */
		const struct json_value *files =
			json_member(json_member(json_member(v, "params"), "arguments"), "files");
		check(json_count(files) == 1 && json_text(json_at(files, 0), &path) && path[0] == '/' &&
		      strlen(path) < 4 * PATH_MAX);
		strbuf_adds(&answer, "{\"traces\":[{\"file\":");
		strbuf_add_json(&answer, path, strlen(path));
		strbuf_adds(&answer, ",\"bytes\":1}],\"next_position\":1}");
		strbuf_addc(&list, '{');
		check(mcp_resource_list(&answer, &list));
		strbuf_addc(&list, '}');
		struct json_value *l = json_parse(list.s, list.len, why, sizeof why);
		check(l != NULL);
		check(json_text(json_member(json_at(json_member(l, "resources"), 0), "uri"), &again));
		if (strlen(path) < PATH_MAX) {
			check(mcp_resource_call(again, &second));
			check(second.len == call.len && memcmp(second.s, call.s, call.len) == 0);
		}
		check(json_text(json_member(l, "nextCursor"), &again));
		strbuf_clear(&second);
		check(mcp_resource_page(again, &second));
		json_free(l);
	}
	json_free(v);
	strbuf_finish(&call);
	strbuf_finish(&answer);
	strbuf_finish(&list);
	strbuf_finish(&second);
}

static void take_cursor(const char *cursor)
{
	char why[200];
	int64_t position = -1;
	struct strbuf call = {0};
	if (mcp_resource_page(cursor, &call)) {
		struct json_value *v = json_parse(call.s, call.len, why, sizeof why);
		const struct json_value *arguments = json_member(json_member(v, "params"), "arguments");
		check(json_integer(json_member(arguments, "position"), &position) && position > 0 &&
		      position < 1000000000);
		json_free(v);
	}
	strbuf_finish(&call);
}

static void take_arguments(const char *text, size_t n)
{
	char why[200];
	const char *s;
	struct json_value *v = json_parse(text, n, why, sizeof why);
	struct mcp_call c = {.tool = &mcp_tool_sql, .given = v};
	if (v && json_kind_of(v) == JSON_OBJECT) {
		reasons = 0;
		if (!mcp_call_check(&c)) {
			check(reasons == 1); /* why, once */
		} else {
			int64_t i = mcp_call_integer(&c, "integer", 0);
			double d = mcp_call_real(&c, "real", 0);
			int choice = mcp_call_choice(&c, "choice", 0);
			check(reasons == 0 && mcp_call_text(&c, "text", NULL) != NULL);
			check(i >= LEAST && i <= MOST && d >= 0 && d <= 100 && choice >= 0 && choice <= 2);
			(void)mcp_call_truth(&c, "truth", false);
			const struct json_value *files = json_member(v, "files");
			for (size_t k = 0; k < json_count(files); k++) {
				check(json_text(json_at(files, k), &s));
			}
		}
	}
	json_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[200];
	if (size == 0 || size > (1u << 16) || !json_load(why, sizeof why)) {
		return 0;
	}
	char *text = malloc(size);
	if (!text) {
		return 0;
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0]) {
	case 'u': take_uri(text); break;
	case 'c': take_cursor(text); break;
	default: take_arguments(text, size - 1); break;
	}
	free(text);
	return 0;
}
