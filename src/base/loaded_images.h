/* SPDX-License-Identifier: MIT
 * The ELF images of the own process: where they lie, and which builds they are.
 */
#ifndef BASE_LOADED_IMAGES_H
#define BASE_LOADED_IMAGES_H

#include "base/base.h"

#define LOADED_IMAGE_BUILD_ID_MAX 20u

struct loaded_image {
	uint64_t base, bytes; /* from the first page of the first segment to the end of the last */
	uint8_t build_id[LOADED_IMAGE_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0: it has none */
	const char *path;        /* as the dynamic linker knows it; "": the program itself */
};
/* A number that changes with every library that comes or goes; 0: it cannot be told. */
uint64_t loaded_images_changes(void);
/* Calls `fn` for each image until it returns something other than 0. `fn` runs under a lock of the dynamic linker:
 * it must not load libraries nor wait for anybody who may. Returns the number of changes at that time. */
typedef int (*loaded_image_fn)(void *ctx, const struct loaded_image *i);
uint64_t loaded_images_each(loaded_image_fn fn, void *ctx);

#endif
