/* SPDX-License-Identifier: MIT
 *
 * libetw itself is the other folders put together; the export list is libetw.map. This file holds
 * what belongs to no folder, and connects folders that may not include each other.
 */
#include "consume/consume.h"
#include "control/control.h"
#include "libetw/embed.h"
#include "openetw/decode.h"
#include "provider/provider.h"

#include <limits.h>
#include <pthread.h>

__attribute__((visibility("default"))) const char *openetw_version(void);
const char *openetw_version(void)
{
	return OPENETW_VERSION; /* of meson.build */
}

/* What the modules of this process say of their events: etwd, which takes copies, may not be there when
 * the session was a private one. */
static bool know_own_modules(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint32_t known;
	char path[PATH_MAX];
	pthread_mutex_lock(&lock);
	while (provider_described_path(known, path, sizeof path)) {
		(void)openetw_schema_load_file(path);
		known++;
	}
	bool some = known > 0;
	pthread_mutex_unlock(&lock);
	return some;
}

static void file_finished(const char *path)
{
	embed_schemas(path, know_own_modules()); /* what cannot be described stays as it is */
}

/* A constructor, so that no thread can be in the library yet. */
static __attribute__((constructor)) void connect_folders(void)
{
	consume_set_learner(openetw_schema_learn);
	control_set_finisher(file_finished);
}
