/* SPDX-License-Identifier: MIT */
#include "tools/common/frame_text.h"

#include "base/printable.h"

#include <winerror.h>

void cli_frame_text(struct openetw_state *state, const EVENT_RECORD *e, const struct openetw_stack *k, uint32_t i,
		    bool offset, struct strbuf *b)
{
	struct openetw_module m = {.size = sizeof m};
	struct openetw_symbol y = {.size = sizeof y};
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart, address = k->addresses[i], behind;
	if (openetw_state_symbol(state, k->pid, address, time, &y) == ERROR_SUCCESS) {
		strbuf_addf_printable(b, "%s%s%s", y.module ? y.module : "", y.module ? "!" : "", y.name);
		behind = y.offset;
	} else if (openetw_state_module(state, k->pid, address, time, &m) == ERROR_SUCCESS) {
		strbuf_addf_printable(b, "%s", m.name);
		behind = address - m.base;
	} else {
		return;
	}
	if (offset) {
		strbuf_addf(b, "+0x%llx", (unsigned long long)behind);
	}
}
