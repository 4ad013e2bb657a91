/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_more.h"

#include <limits.h>
#include <stdio.h>

#define SCHEME "openetw://"
#define CURSOR "position-" /* and a number, without zeros in front */

static void put_uri(struct strbuf *b, const char *path)
{
	strbuf_adds(b, SCHEME);
	for (const char *p = path; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
			     strchr("/-._~", *p);
		if (plain) {
			strbuf_addc(b, *p);
		} else {
			strbuf_addf(b, "%%%02X", (unsigned)(unsigned char)*p);
		}
	}
}

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* False: it is none of ours. */
static bool take_uri(const char *uri, char *path, size_t cap)
{
	size_t n = 0;
	if (strncmp(uri, SCHEME "/", sizeof SCHEME) != 0) {
		return false;
	}
	for (const char *p = uri + sizeof SCHEME - 1; *p && n < cap; p++) {
		int high = *p == '%' ? digit_of(p[1]) : 0;
		int low = *p == '%' && high >= 0 ? digit_of(p[2]) : 0;
		if (*p != '%') {
			path[n++] = *p;
		} else if (high < 0 || low < 0 || high + low == 0) {
			return false;
		} else {
			path[n++] = (char)(high << 4 | low);
			p += 2;
		}
	}
	if (n >= cap) {
		return false;
	}
	path[n] = 0;
	return true;
}

bool mcp_resource_call(const char *uri, struct strbuf *ret)
{
	char path[PATH_MAX];
	if (!take_uri(uri, path, sizeof path)) {
		return false;
	}
	strbuf_adds(ret, "{\"params\":{\"name\":\"overview\",\"arguments\":{\"files\":[");
	strbuf_add_json(ret, path, strlen(path));
	strbuf_adds(ret, "]}}}");
	return true;
}

static void put_resource(struct strbuf *b, const char *path, int64_t bytes)
{
	struct strbuf uri = {0};
	char text[80];
	const char *slash = strrchr(path, '/');
	snprintf(text, sizeof text, "A trace of %lld bytes; reading it gives its overview.", (long long)bytes);
	put_uri(&uri, path);
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "uri", uri.failed ? NULL : uri.s);
	json_put_text(b, "name", slash ? slash + 1 : path);
	json_put_text(b, "description", text);
	json_put_text(b, "mimeType", "application/json");
	strbuf_addc(b, '}');
	strbuf_finish(&uri);
}

bool mcp_resource_page(const char *cursor, struct strbuf *ret)
{
	const char *digits = cursor ? cursor + sizeof CURSOR - 1 : "0";
	if (cursor && (strncmp(cursor, CURSOR, sizeof CURSOR - 1) != 0 || !digits[0] || digits[0] == '0' ||
		       strlen(digits) > 9 || digits[strspn(digits, "0123456789")])) {
		return false;
	}
	strbuf_addf(ret, "{\"params\":{\"name\":\"list_traces\",\"arguments\":{\"position\":%s}}}", digits);
	return true;
}

bool mcp_resource_list(const struct strbuf *answer, struct strbuf *b)
{
	char why[100];
	struct json_value *v = json_parse(answer->s, answer->len, why, sizeof why);
	const struct json_value *traces = json_member(v, "traces");
	strbuf_adds(b, "\"resources\":[");
	for (size_t i = 0; i < json_count(traces); i++) {
		const char *path;
		int64_t bytes = 0;
		const struct json_value *x = json_at(traces, i);
		json_integer(json_member(x, "bytes"), &bytes);
		if (json_text(json_member(x, "file"), &path)) {
			put_resource(b, path, bytes);
		}
	}
	strbuf_addc(b, ']');
	int64_t next;
	if (json_integer(json_member(v, "next_position"), &next)) {
		char cursor[sizeof CURSOR + 24];
		snprintf(cursor, sizeof cursor, CURSOR "%lld", (long long)next);
		json_put_text(b, "nextCursor", cursor);
	}
	bool ok = traces != NULL;
	json_free(v);
	return ok;
}

void mcp_resource_contents(const char *uri, const struct strbuf *answer, struct strbuf *b)
{
	strbuf_adds(b, "\"contents\":[{");
	json_put_text(b, "uri", uri);
	json_put_text(b, "mimeType", "application/json");
	json_put_name(b, "text");
	strbuf_add_json(b, answer->s, answer->len);
	strbuf_adds(b, "}]");
}
