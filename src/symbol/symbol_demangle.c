/* SPDX-License-Identifier: MIT */
#include "symbol/symbol_private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef char *demangle_fn(const char *name, char *out, size_t *length, int *status);

static demangle_fn *demangle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Not linked: this library depends on libc alone. */
static void look_for_it(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	void *p = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	for (size_t i = 0; !p && i < BASE_ARRAY_LEN(libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		p = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	demangle = (demangle_fn *)(uintptr_t)p;
}

char *symbol_demangle(const char *name)
{
	if (name[0] == '_' && name[1] == 'Z') {
		int status = 0;
		pthread_once(&once, look_for_it);
		char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
		if (text && status == 0) {
			symbol_tidy_rust(text);
			return text;
		}
		free(text);
	}
	char *rust = symbol_demangle_rust(name);
	return rust ? rust : strdup(name);
}
