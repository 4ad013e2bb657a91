/* SPDX-License-Identifier: MIT
 *
 * libetw itself is the other folders put together; the export list is libetw.map. This file holds
 * what belongs to no folder, and connects folders that may not include each other.
 */
#include "consume/consume.h"
#include "control/control.h"
#include "libetw/embed.h"
#include "openetw/decode.h"

__attribute__((visibility("default"))) const char *openetw_version(void);
const char *openetw_version(void)
{
	return "0.1.0";
}

static void file_finished(const char *path)
{
	embed_schemas(path); /* what cannot be described stays as it is */
}

/* A constructor, so that no thread can be in the library yet. */
static __attribute__((constructor)) void connect_folders(void)
{
	consume_set_learner(openetw_schema_learn);
	control_set_finisher(file_finished);
}
