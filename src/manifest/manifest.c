/* SPDX-License-Identifier: MIT */
#include "manifest/manifest.h"

void manifest_init(struct manifest *m)
{
	*m = (struct manifest){0};
	arena_init(&m->arena, MANIFEST_MEMORY_MAX);
}

void manifest_finish(struct manifest *m)
{
	arena_finish(&m->arena);
	m->providers = NULL;
	m->cultures = NULL;
}
