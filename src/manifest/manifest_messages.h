/* SPDX-License-Identifier: MIT
 *
 * Texts of message tables (MESSAGE_RESOURCE_DATA), as binaries carry them.
 */
#ifndef MANIFEST_MANIFEST_MESSAGES_H
#define MANIFEST_MANIFEST_MESSAGES_H

#include "manifest/manifest.h"

#define MANIFEST_MESSAGE_TABLES 16u
#define MANIFEST_MESSAGE_STEPS  200000000u

struct manifest_messages {
	const uint8_t *tables[MANIFEST_MESSAGE_TABLES];
	size_t bytes[MANIFEST_MESSAGE_TABLES];
	unsigned count;
	unsigned steps;     /* entries still to be looked at; MANIFEST_MESSAGE_STEPS at first */
	struct strbuf text; /* yours to finish */
};
/* A manifest_message_fn. The text is good until the next call. */
const char *manifest_messages_find(void *messages, uint32_t id);

#endif
