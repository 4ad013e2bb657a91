/* SPDX-License-Identifier: MIT
 * probe: what a provider writes just now. "openetw live" watches it for two seconds in a session of the user's own, which ends
 * with the child.
 */
#include "tools/view/view.h"

#include "base/order.h"
#include "tools/view/view_child.h"

#include <stdlib.h>

#define PROBE_NS   2000000000ull
#define LINES_MOST "40"
#define BYTES_MOST (1u << 18)
#define AT_ONCE    4u

struct probe {
	struct view_request *r;
	uint64_t until;
};

static bool over(void *context)
{
	struct probe *p = context;
	return clock_read_system_ns() > p->until || view_gone(p->r);
}

static int run(struct view_request *r)
{
	static uint32_t running;
	struct strbuf out = {0}, err = {0};
	struct probe p = {r, clock_read_system_ns() + PROBE_NS};
	const char *name = NULL;
	if (!json_text(json_member(r->body, "provider"), &name) || !name[0] || name[0] == '-' || strlen(name) > 300) {
		return view_fail(r, 400, "\"provider\" is to be a name or a GUID");
	}
	if (order_add_full(&running, 1u) >= AT_ONCE) {
		order_add_full(&running, -1u);
		return view_fail(r, 429, "%u providers are being watched already", AT_ONCE);
	}
	char *words[] = {(char *)"openetw",  (char *)"live", (char *)"--json",        (char *)"-n",
			 (char *)LINES_MOST, (char *)"-p",   (char *)(uintptr_t)name, NULL};
	int status = view_child_run(words, BYTES_MOST, &out, &err, over, &p);
	order_add_full(&running, -1u);
	strbuf_adds(&r->out, "{\"events\":[");
	view_child_objects(&r->out, out.s);
	strbuf_addc(&r->out, ']');
	bool none = !out.s || !strchr(out.s, '{');
	json_put_text(&r->out, "why",
		      !none                   ? NULL
		      : status > 0 && err.len ? err.s
		      : status < -1           ? "the command cannot be started"
					      : "It wrote nothing within two seconds.");
	strbuf_addc(&r->out, '}');
	strbuf_finish(&out);
	strbuf_finish(&err);
	return view_done(r);
}
const struct view_endpoint view_probe = {.path = "probe", .params = "provider:text", .post = true, .run = run};
