/* SPDX-License-Identifier: MIT
 * The private (in-process) branch of the session calls: same blocks, no daemon.
 */
#ifndef CONTROL_CONTROL_PRIVATE_H
#define CONTROL_CONTROL_PRIVATE_H

#include "control/control.h"

/* Does this program start the private session of that block for itself? Otherwise etwd tells the
 * provider's processes. */
bool control_private_own(const struct control_block *b);
/* Do filters that choose processes choose this one? What they say about single events does not matter. */
uint32_t control_private_scope(const EVENT_FILTER_DESCRIPTOR *f, ULONG count, bool *ret_here);
/* Checked filters into a request. */
uint32_t control_put_filters(struct proto_writer *w, const EVENT_FILTER_DESCRIPTOR *f, ULONG count);
/* The filters of a version-2 block, which choose processes, into a request. Win32 code. */
uint32_t control_private_put_scope(struct proto_writer *w, const struct control_block *b);
void control_session_from_props(const EVENT_TRACE_PROPERTIES *p, struct proto_session *s);

uint32_t control_private_start(const struct control_block *b, const struct proto_session *s, CONTROLTRACE_ID *ret_id);
/* Whether that id is one of this process's private sessions. */
bool control_private_knows(uint64_t id);
/* `file`: where UPDATE and FLUSH want it; NULL: nothing said. */
uint32_t control_private_control(const struct control_block *b, uint64_t id, const uint16_t *name, ULONG control_code,
				 const uint16_t *file);

#endif
