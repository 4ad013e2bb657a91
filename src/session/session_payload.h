/* SPDX-License-Identifier: MIT */
#ifndef SESSION_SESSION_PAYLOAD_H
#define SESSION_SESSION_PAYLOAD_H

#include "session/session.h"

#define SAVED_PAYLOAD_KEY "PayloadFilter"

/* One line's value. -EINVAL with the reason, -ENOMEM. */
int saved_payload_add(struct saved_provider *p, const char *text, struct diag *d);
void saved_payload_format(const struct saved_provider *p, struct strbuf *out);

#endif
