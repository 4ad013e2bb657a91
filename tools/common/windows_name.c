/* SPDX-License-Identifier: MIT */
#include "tools/common/windows_name.h"

#include "base/base.h"

const char *cli_windows_name(unsigned major, unsigned minor, unsigned build)
{
	static const struct {
		unsigned from;
		const char *name;
	} names[] = {{26100, "Windows 11 24H2 or later"},
		     {22000, "Windows 11"},
		     {20348, "Windows Server 2022"},
		     {9800, "Windows 10"}};
	if (major == 10 && build < 1000) {
		return ""; /* no Windows has such a number */
	}
	if (major == 6 && minor < 4) { /* also before its release */
		static const char *const six[] = {"Windows Vista", "Windows 7", "Windows 8", "Windows 8.1"};
		return six[minor];
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (build >= names[i].from) {
			return names[i].name;
		}
	}
	return "";
}
