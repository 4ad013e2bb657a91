/* SPDX-License-Identifier: MIT
 * The private (in-process) branch of the session calls: same blocks, no daemon.
 */
#ifndef CONTROL_CONTROL_PRIVATE_H
#define CONTROL_CONTROL_PRIVATE_H

#include "control/control.h"

void control_session_from_props(const EVENT_TRACE_PROPERTIES *p, struct proto_session *s);

uint32_t control_private_start(const struct control_block *b, const struct proto_session *s,
			       CONTROLTRACE_ID *ret_id);
/* Whether that id is one of this process's private sessions. */
bool control_private_knows(uint64_t id);
uint32_t control_private_control(const struct control_block *b, uint64_t id, const uint16_t *name,
				 ULONG control_code);

#endif
