/* SPDX-License-Identifier: MIT */
#include "tools/common/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

bool helper_find(const char *name, const char *variable, int wanted, char *out, size_t cap)
{
	static const char *const places[] = {"", OPENETW_LIBEXECDIR "/"};
	const char *env = !variable || getauxval(AT_SECURE) ? NULL : getenv(variable);
	if (env && env[0] == '/') {
		int n = snprintf(out, cap, "%s", env);
		return n > 0 && (size_t)n < cap && access(out, wanted) == 0;
	}
	char here[4000];
	ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
	if (length <= 0) {
		return false;
	}
	here[length] = 0;
	*(strrchr(here, '/') + 1) = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(places); i++) {
		int n = snprintf(out, cap, "%s%s%s", places[i][0] == '/' ? "" : here, places[i], name);
		if (n > 0 && (size_t)n < cap && access(out, wanted) == 0) {
			return true;
		}
	}
	return false;
}
