/* SPDX-License-Identifier: MIT
 * Private to sandbox: what stands before each message. Both sides are built together, so there is one version.
 */
#ifndef SANDBOX_SANDBOX_WIRE_H
#define SANDBOX_SANDBOX_WIRE_H

#include "base/base.h"

#define SANDBOX_SOCKET  3 /* the child's only descriptor behind its three streams */
#define SANDBOX_MAGIC   0x31584253u
#define SANDBOX_HELLO   0xFFFFFFFFu /* the number of the first message of a child; value: what it gave up */
#define SANDBOX_FITS    0u
#define SANDBOX_TOO_BIG 1u /* value of an answer: it would be too long, there is nothing behind this */

struct sandbox_head {
	uint32_t magic;
	uint32_t number; /* of the question; an answer has that of its question */
	uint32_t value;  /* of a question: its kind */
	uint32_t bytes;  /* behind this */
};
_Static_assert(sizeof(struct sandbox_head) == 16, "no gaps");

#endif
