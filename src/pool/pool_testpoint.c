/* SPDX-License-Identifier: MIT
 * Builds with -Dtestpoints=true only: the kill points, also for whole programs.
 *
 * OPENETW_TESTPOINT=NAME[:AFTER[:SIGNAL]] sends the process SIGNAL (9) when it comes to the point NAME
 * for the time AFTER + 1. OPENETW_TESTPOINT_PROGRAM=NAME: only in that program (etwd inherits the
 * environment of the controller that starts it).
 */
#include "pool/pool.h"

#ifdef OPENETW_TESTPOINTS

#include "base/order.h"

#include <signal.h>
#include <stdlib.h>

void (*pool_testpoint_hook)(const char *name);

static char wanted[64];
static uint32_t after;
static int signal_number = SIGKILL;

static void at_point(const char *name)
{
	if (strcmp(name, wanted) == 0 && order_add_relaxed(&after, UINT32_MAX) == 0) {
		kill(getpid(), signal_number);
	}
}

__attribute__((constructor)) static void read_environment(void)
{
	const char *text = getenv("OPENETW_TESTPOINT");
	const char *program = getenv("OPENETW_TESTPOINT_PROGRAM");
	if (!text || (program && strcmp(program, program_invocation_short_name) != 0)) {
		return;
	}
	size_t n = strcspn(text, ":");
	if (n == 0 || n >= sizeof wanted) {
		return;
	}
	memcpy(wanted, text, n);
	if (text[n] == ':') {
		char *end;
		after = (uint32_t)strtoul(text + n + 1, &end, 10);
		if (*end == ':') {
			signal_number = (int)strtol(end + 1, NULL, 10);
		}
	}
	pool_testpoint_hook = at_point;
}

#endif
