/* SPDX-License-Identifier: MIT */
#ifndef SESSION_SESSION_PAYLOAD_H
#define SESSION_SESSION_PAYLOAD_H

#include "session/session.h"

#define SESSION_PAYLOAD_KEY    "PayloadFilter"
#define SESSION_EXPRESSION_KEY "Filter"

/* One line's value. -EINVAL with the reason, -ENOMEM. */
int session_payload_add(struct session_provider *p, const char *text, filter_manifest_fn *describe, struct diag *d);
void session_payload_format(const struct session_provider *p, struct strbuf *out);

#endif
