/* SPDX-License-Identifier: MIT
 *
 * The SID of a Unix user: S-1-22-1-<uid>, as Samba and Windows' own tools name one.
 */
#ifndef FORMAT_UNIX_SID_H
#define FORMAT_UNIX_SID_H

#include "base/base.h"

#define UNIX_SID_BYTES 16u

static inline void unix_sid_put(uint8_t out[UNIX_SID_BYTES], uint32_t uid)
{
	/* Revision, number of sub-authorities, the authority (big-endian), the first sub-authority. */
	static const uint8_t user[12] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0};
	memcpy(out, user, sizeof user);
	le32_put(out + sizeof user, uid);
}

#endif
