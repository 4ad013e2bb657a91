/* SPDX-License-Identifier: MIT
 * manifest: a file that says what events mean, which was dropped on the page. From then on all traces are decoded with it.
 */
#include "tools/common/output.h"
#include "tools/view/view.h"
#include "tools/view/view_kept.h"

#include <openetw/error.h>

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* The library reads files by their names. */
static int load(struct view_request *r, const char *text, bool wpp)
{
	char folder[64], path[96];
	const char *tmp = getenv("TMPDIR");
	snprintf(folder, sizeof folder, "%s/openetw-view-XXXXXX", tmp && strlen(tmp) <= 30 ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		return view_fail(r, 500, "there is no place for the file: %s", strerror(errno));
	}
	snprintf(path, sizeof path, "%s/dropped.%s", folder, wpp ? "tmf" : "man");
	struct diag d;
	diag_clear(&d);
	bool ok = cli_write_whole(path, text, strlen(text), false, &d) == 0;
	uint32_t code = ok ? openetw_schema_load_file(path) : ERROR_SUCCESS;
	char why[600];
	snprintf(why, sizeof why, "%s", openetw_last_error_text());
	unlink(path);
	rmdir(folder);
	if (!ok || code != ERROR_SUCCESS) {
		const char *behind = strstr(why, path) == why ? why + strlen(path) : why;
		behind += strspn(behind, ": ");
		return view_fail(r, ok ? 400 : 500, "%s",
				 !ok         ? "the file cannot be written"
				 : behind[0] ? behind
					     : openetw_error_text(code));
	}
	return 0;
}

/* How many providers a manifest describes. */
static unsigned providers_of(const char *text)
{
	static const char tag[] = "<provider";
	unsigned n = 0;
	for (const char *s = text; (s = strstr(s, tag)) != NULL; s += sizeof tag - 1) {
		n += strchr(" \t\r\n", s[sizeof tag - 1]) && s[sizeof tag - 1];
	}
	return n;
}

static int run(struct view_request *r)
{
	const char *name = "", *text = NULL;
	json_text(json_member(r->body, "name"), &name);
	size_t n = strlen(name);
	bool wpp = n > 4 && strcasecmp(name + n - 4, ".tmf") == 0;
	if (!json_text(json_member(r->body, "text"), &text)) {
		return view_fail(r, 400, "\"text\" is to be the text of a manifest (.man) or of WPP formats (.tmf)");
	}
	int status = load(r, text, wpp);
	if (status) {
		return status;
	}
	view_kept_forget();
	strbuf_addc(&r->out, '{');
	json_put_count(&r->out, "providers", wpp ? 1 : providers_of(text));
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_manifest = {
	.path = "manifest", .params = VIEW_TRACE_PARAM "name:text text:text", .post = true, .run = run};
