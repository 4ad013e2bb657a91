/* SPDX-License-Identifier: MIT
 * Stacks as lines for flame graphs, and as a profile for speedscope.
 */
#include "tools/export/profile.h"

static bool end_folded(struct export *x)
{
	const char *name;
	const struct stacks *s = profile_of(x, &name);
	long at = s && stacks_write_folded(s, x->f) ? ftell(x->f) : -1;
	x->bytes = at > 0 ? (uint64_t)at : 0;
	return s && (!ferror(x->f) || export_fail(x, errno ? errno : EIO));
}

static bool end_speedscope(struct export *x)
{
	const char *name;
	const struct stacks *s = profile_of(x, &name);
	bool ok = s && stacks_write_speedscope(s, x->f, name, "none");
	long at = ok ? ftell(x->f) : -1;
	x->bytes = at > 0 ? (uint64_t)at : 0;
	return ok || export_fail(x, errno ? errno : EIO);
}

#define CANNOT "times, threads, fields, events without a call stack"
const struct export_kind export_folded = {
	.name = "folded",
	.what = "call stacks with their counts, one a line, for flame graphs",
	.suffix = ".folded",
	.cannot = CANNOT,
	.needs = EXPORT_FIELDS | EXPORT_FRAMES,
	.begin = profile_begin,
	.event = profile_event,
	.end = end_folded,
	.finish = profile_finish,
};
const struct export_kind export_speedscope = {
	.name = "speedscope",
	.what = "a profile for speedscope.app",
	.suffix = ".speedscope.json",
	.cannot = CANNOT,
	.needs = EXPORT_FIELDS | EXPORT_FRAMES,
	.begin = profile_begin,
	.event = profile_event,
	.end = end_speedscope,
	.finish = profile_finish,
};
