/* SPDX-License-Identifier: MIT
 * What an address of a call stack means, as text.
 */
#ifndef TOOLS_COMMON_FRAME_TEXT_H
#define TOOLS_COMMON_FRAME_TEXT_H

#include "base/base.h"

#include <evntcons.h>
#include <openetw/state.h>

/* Appends module!function+0x1f, function+0x1f or module+0x1f for the i-th address of the event's stack; nothing when nothing
 * is known there. Without `offset` what is behind the plus is left out. */
void cli_frame_text(struct openetw_state *state, const EVENT_RECORD *e, const struct openetw_stack *k, uint32_t i,
		    bool offset, struct strbuf *b);

#endif
