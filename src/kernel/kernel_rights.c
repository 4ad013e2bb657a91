/* SPDX-License-Identifier: MIT
 * What this program may not look at, though it may record: which capability is missing for it.
 */
#include "kernel/kernel_private.h"

#include <stdio.h>
#include <stdlib.h>

#define CAP_SYS_PTRACE_BIT 19

static bool may_look_into_others(void)
{
	char line[256];
	unsigned long long effective = UINT64_MAX;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof line, f) && sscanf(line, "CapEff: %llx", &effective) != 1) {
	}
	if (f) {
		fclose(f);
	}
	return effective >> CAP_SYS_PTRACE_BIT & 1;
}

/* Who may not see where the kernel lies reads zeros. */
static bool sees_addresses(void)
{
	char line[256] = "";
	FILE *f = fopen("/proc/kallsyms", "re");
	if (!f) {
		return true; /* there are none for anybody */
	}
	bool any = fgets(line, sizeof line, f) != NULL;
	fclose(f);
	return !any || strtoull(line, NULL, 16) != 0;
}

void kernel_rights_say(char *out, size_t cap)
{
	snprintf(out, cap, "%s%s%s",
		 may_look_into_others() ? ""
					: "what other users' programs had loaded before, and their stacks' names: take "
					  "CAP_SYS_PTRACE",
		 may_look_into_others() || sees_addresses() ? "" : "\n",
		 sees_addresses() ? "" : "names of the kernel's functions: take CAP_SYSLOG");
}
