/* SPDX-License-Identifier: MIT
 *
 * DllMain of a shared object: it hears that the object was loaded and that it goes. The drivers
 * take this piece of libetw-wmain.a for -shared. As with wmain, the name shows which language it is
 * in. Of threads it hears nothing.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1

typedef int (*dll_main_fn)(void *, uint32_t, void *);
extern int dll_main_c(void *, uint32_t, void *) __asm__("DllMain") __attribute__((weak));
extern int dll_main_cxx(void *, uint32_t, void *) __asm__("_Z7DllMainPvjS_") __attribute__((weak));

__attribute__((visibility("hidden"))) const char etw_dll_main;

static void tell(uint32_t reason)
{
	dll_main_fn fn = dll_main_c ? dll_main_c : dll_main_cxx;
	Dl_info self;

	/* FALSE would unload it on Windows; here nobody can be told, so it says so. */
	if (fn && dladdr(&etw_dll_main, &self) != 0 && !fn(self.dli_fbase, reason, NULL) &&
	    reason == DLL_PROCESS_ATTACH) {
		fprintf(stderr, "%s: DllMain returned FALSE\n", self.dli_fname);
	}
}

__attribute__((constructor)) static void loaded(void)
{
	tell(DLL_PROCESS_ATTACH);
}

__attribute__((destructor)) static void unloaded(void)
{
	tell(DLL_PROCESS_DETACH);
}
