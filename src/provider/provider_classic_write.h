/* SPDX-License-Identifier: MIT
 * Writing an event of a classic provider to the session its handle names.
 */
#ifndef PROVIDER_PROVIDER_CLASSIC_WRITE_H
#define PROVIDER_PROVIDER_CLASSIC_WRITE_H

#include "provider/provider_emit.h"

struct provider_classic_event {
	uint8_t kind; /* enum pool_rec_kind */
	const void *descriptor;
	const struct pool_piece *piece;
	uint32_t count;
	uint64_t timestamp; /* raw ticks; 0 now */
};
/* A Win32 code. context: async-signal-safe. */
uint32_t provider_classic_write(uint64_t handle, const struct provider_classic_event *ev);

#endif
