/* SPDX-License-Identifier: MIT */
#include "tools/view/view_mhd.h"

#include <dlfcn.h>
#include <stdio.h>

struct view_mhd view_mhd;

bool view_mhd_load(char *why, size_t cap)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, cap, "openetw view needs libmicrohttpd: install the package libmicrohttpd12 (%s)",
			 dlerror());
		return false;
	}
#define F(name)                                                                                      \
	view_mhd.name = (__typeof__(view_mhd.name))(uintptr_t)dlsym(library, "MHD_" #name);          \
	if (!view_mhd.name) {                                                                        \
		snprintf(why, cap, "libmicrohttpd has no MHD_" #name ": it is not of this version"); \
		return false;                                                                        \
	}
	VIEW_MHD_FUNCTIONS(F)
#undef F
	return true;
}
