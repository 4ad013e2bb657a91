/* SPDX-License-Identifier: MIT
 *
 * Packets in traces as a capture file (pcapng). The trace goes through twice: what interfaces are called stands at its
 * end as often as not.
 */
#ifndef TOOLS_EXPORT_PCAPNG_H
#define TOOLS_EXPORT_PCAPNG_H

#include "tools/common/cli.h"

struct pcapng;
struct pcapng_counts {
	uint64_t packets, octets; /* written */
	uint64_t broken;          /* not whole in the trace, and left out */
	uint32_t interfaces;
};

struct pcapng *pcapng_create(void); /* NULL: no memory */
void pcapng_destroy(struct pcapng *p);
/* The first time through. */
void pcapng_learn(struct pcapng *p, const EVENT_RECORD *e);
/* Then the head, and each event. False: the file takes no more. `process` may be NULL. *ret_packet: it is a packet, or a
 * piece of one. */
bool pcapng_begin(struct pcapng *p, FILE *f);
bool pcapng_event(struct pcapng *p, const EVENT_RECORD *e, const char *process, bool *ret_packet);
const struct pcapng_counts *pcapng_counts(const struct pcapng *p);

#endif
