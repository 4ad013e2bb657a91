/* SPDX-License-Identifier: MIT
 *
 * The size rule of include/openetw/defs.h, from inside. Every function of the API that fills a structure of its
 * caller does it in two steps:
 *
 *   if (!SIZED_VALID(ret, last)) {       `last` is the last member of the structure's first release
 *           return ERROR_INVALID_PARAMETER;
 *   }
 *   struct openetw_x known = {…};
 *   SIZED_GIVE(ret, &known);
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/base.h"

/* No structure comes near this. Larger sizes come from variables that nobody set. */
#define SIZED_BYTES_MAX 65536u

/* Bytes of the type up to the end of this member. */
#define SIZED_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

static inline uint32_t sized_bytes(const void *ret)
{
	uint32_t size;
	memcpy(&size, ret, sizeof size);
	return size;
}

static inline bool sized_valid(const void *ret, size_t least)
{
	return ret && sized_bytes(ret) >= least && sized_bytes(ret) <= SIZED_BYTES_MAX;
}
#define SIZED_VALID(ret, last) sized_valid((ret), SIZED_UP_TO(__typeof__(*(ret)), last))

/* The caller's structure has room for this member. */
#define SIZED_HAS(ret, member) (sized_bytes(ret) >= SIZED_UP_TO(__typeof__(*(ret)), member))

static inline void sized_give(void *ret, const void *known, size_t known_bytes)
{
	uint32_t size = sized_bytes(ret);
	size_t n = BASE_MIN((size_t)size, known_bytes);
	memcpy(ret, known, n);
	memset((uint8_t *)ret + n, 0, size - n);
	memcpy(ret, &size, sizeof size);
}
/* Both point to the same type. */
#define SIZED_GIVE(ret, known) (sized_give((ret), 1 ? (known) : (ret), sizeof *(known)))

#endif
