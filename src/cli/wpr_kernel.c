/* SPDX-License-Identifier: MIT
 * The kernel part of a recording: one background process for all system collectors.
 */
#include "cli/wpr.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

void wpr_kernel_key(const char *instance, char *out, size_t cap)
{
	snprintf(out, cap, "wpr%s%s", *instance ? "-" : "", instance);
}

bool wpr_kernel_runs(const struct wpr *w)
{
	char key[80];
	struct cli_kernel k;
	wpr_kernel_key(w->instance, key, sizeof key);
	return cli_kernel_find(key, &k);
}

int wpr_kernel_start(struct wpr *w)
{
	char key[80], file[2100], problem[400];
	struct kernel_options o = {.interval_us = 1000, .path = file};
	bool stacks = false;
	bool strict = w->profile->strict, wanted = wpr_kernel_sources(w->profile) != 0, others = false;
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		others = others || (c->kind == PROFILE_EVENT && c->providers);
		if (c->kind != PROFILE_SYSTEM) {
			continue;
		}
		o.buffer_size_kb = BASE_MAX(o.buffer_size_kb, c->buffer_kb);
		for (const struct profile_provider *p = c->providers; p; p = p->next) {
			stacks = stacks || p->stacks;
			strict = strict || p->strict;
			for (const struct profile_word *k = p->system_keywords; k; k = k->next) {
				strict = strict || k->strict;
			}
		}
	}
	if (!wanted) {
		return CLI_OK;
	}
	cli_kernel_wants(&o.session, wpr_kernel_sources(w->profile), stacks);
	wpr_kernel_key(w->instance, key, sizeof key);
	snprintf(file, sizeof file, "%s/kernel.etl", w->work);
	if (cli_kernel_start(key, &o, problem, sizeof problem) == 0) {
		return CLI_OK;
	}
	if (strict || !others) {
		return wpr_fail(0xC5585011u, "Kernel events cannot be recorded: %s", problem);
	}
	fprintf(stderr, "wpr: warning: kernel events are not recorded: %s\n", problem);
	return CLI_OK;
}

bool wpr_kernel_stop(struct wpr *w, char *ret_file, size_t cap, struct wpr_totals *t)
{
	char key[80];
	struct kernel_stats stats;
	wpr_kernel_key(w->instance, key, sizeof key);
	int err = cli_kernel_stop(key, ret_file, cap, &stats);
	if (err == -ENOENT) {
		return false;
	}
	if (err < 0) {
		fprintf(stderr, "wpr: warning: the kernel's recording did not end well; its file may lack the end\n");
	}
	t->sessions++;
	t->events += stats.events;
	t->events_lost += stats.lost + stats.lost_no_buffer;
	return access(ret_file, R_OK) == 0;
}
