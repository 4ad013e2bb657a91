/* SPDX-License-Identifier: MIT */
#include "base/provider_guid.h"

int provider_guid(const char *text, provider_installed installed, struct guid *ret)
{
	struct guid g;
	bool computed = *text == '*', guid = *text == '#';
	const char *name = text + (computed || guid);
	if (!computed && guid_parse(name, &g) == 0) {
		*ret = g;
		return 0;
	}
	if (guid || *name == 0 || strpbrk(name, "{}")) {
		return -EINVAL;
	}
	if (computed || !installed || !installed(name, &g)) {
		int r = guid_from_provider_name(name, &g);
		if (r < 0) {
			return r;
		}
	}
	*ret = g;
	return 0;
}
