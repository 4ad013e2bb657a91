/* SPDX-License-Identifier: MIT
 *
 * Buffers that a raw buffer callback keeps beyond its return. Private to consume. They are known by
 * their address alone, because that is all ProcessTraceBufferDecrementReference() gets.
 */
#ifndef CONSUME_CONSUME_KEEP_H
#define CONSUME_CONSUME_KEEP_H

#include "base/base.h"

/* One more reference; `owner` is waited for. 0 or -ENOMEM. */
int keep_add(const void *buf, const void *owner);
bool keep_has(const void *buf, const void *owner);
/* The callback is over. True: somebody keeps the buffer, and the last drop will free() it. */
bool keep_settle(const void *buf);
/* -ENOENT when nobody keeps it. */
int keep_drop(const void *buf);
/* Until nothing of this owner is kept. */
void keep_wait(const void *owner);

#endif
