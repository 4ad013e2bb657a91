/* SPDX-License-Identifier: MIT
 *
 * A library with a provider is loaded and unloaded, again and again, without unregistering, while sessions enable
 * and disable that provider all the time. No callback may run in code that is not there any more; the callbacks
 * of what is there are called; and the registrations of what is gone go, too.
 */
#include "live.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS     20000
#define CLEAN_EACH 7 /* every so often it unregisters, as it should */

static const GUID provider = {0x7a3e10c4, 0x21f0, 0x4c0e, {0x8d, 0x52, 6, 5, 4, 3, 2, 1}};
static struct live_session session;
static atomic_bool done;
static atomic_ulong toggles;

static void *toggle(void *arg)
{
	for (unsigned n = 0; !done; n++) {
		ENABLE_TRACE_PARAMETERS p = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
		EnableTraceEx2(session.id, &provider, n % 2 == 0, (UCHAR)(1 + n % 5), 0, 0, n % 16 == 0 ? 100 : 0, &p);
		toggles++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096], self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	EXPECT(n > 0, 1);
	self[n] = 0;
	snprintf(path, sizeof path, "%.*s/libplugin.so", (int)(strrchr(self, '/') - self), self);
	live_begin();
	live_start(&session, "unload", "unload.etl", 0);
	pthread_t t;
	EXPECT(pthread_create(&t, NULL, toggle, NULL), 0);
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : ROUNDS, calls = 0;
	time_t end = time(NULL) + (argc > 1 ? 3600 : 12);
	unsigned long i = 0;
	for (; i < rounds && time(NULL) < end; i++) {
		void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		EXPECT(lib != NULL, 1);
		int (*start)(const GUID *) = (int (*)(const GUID *))dlsym(lib, "plugin_start");
		int (*stop)(void) = (int (*)(void))dlsym(lib, "plugin_stop");
		int (*put)(int) = (int (*)(int))dlsym(lib, "plugin_write");
		int (*called)(void) = (int (*)(void))dlsym(lib, "plugin_calls");
		/* All indices may be waiting for the answer of an etwd that gets no processor. */
		live_wait(start(&provider) == ERROR_SUCCESS);
		EXPECT(put(1) == ERROR_SUCCESS || put(1) == ERROR_NOT_ENOUGH_MEMORY, 1);
		calls += called() != 0;
		if (i % CLEAN_EACH == 0) {
			EXPECT(stop(), ERROR_SUCCESS);
		}
		EXPECT(dlclose(lib), 0);
		EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL, 1); /* nothing of ours holds it */
	}
	done = true;
	pthread_join(t, NULL);
	/* What is gone is not registered any more. */
	ULONG size = 65536, got = 0;
	uint8_t *info = malloc(size);
	live_wait(EnumerateTraceGuidsEx(TraceGuidQueryInfo, (void *)&provider, sizeof provider, info, size, &got) !=
			  ERROR_SUCCESS ||
		  ((TRACE_GUID_INFO *)info)->InstanceCount == 0 ||
		  ((TRACE_PROVIDER_INSTANCE_INFO *)(info + sizeof(TRACE_GUID_INFO)))->Pid == 0);
	free(info);
	live_stop(&session);
	printf("%lu rounds, %lu toggles, called in %lu\n", i, (unsigned long)toggles, calls);
	EXPECT(calls > 0, 1);
	return 0;
}
