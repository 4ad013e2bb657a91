/* SPDX-License-Identifier: MIT
 *
 * LZX as cabinets have it: frames of 32 KiB, one a data block, over a window that goes on. Private to
 * etl. Made after Microsoft's published descriptions of LZX and of the cabinet format.
 */
#ifndef ETL_LZX_H
#define ETL_LZX_H

#include "base/base.h"

#define LZX_FRAME      32768u
#define LZX_WINDOW_MIN 15u /* bits */
#define LZX_WINDOW_MAX 21u

struct lzx;

/* -EINVAL: no such window; -ENOMEM. */
int lzx_create(unsigned window_bits, struct lzx **ret);
void lzx_destroy(struct lzx *z);
/* Unpacks the next frame: out_bytes (at most LZX_FRAME) out of the whole data block. -EBADMSG. */
int lzx_frame(struct lzx *z, const uint8_t *in, size_t n, uint8_t *out, size_t out_bytes);

#endif
