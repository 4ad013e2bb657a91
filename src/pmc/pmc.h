/* SPDX-License-Identifier: MIT
 *
 * pmc: what this machine can count, by the numbers and names that Windows has for it: the sources of
 * samples and counters. Front door.
 *
 *   0            the timer
 *   1 to 23      KPROFILE_SOURCE: instructions, branches, cache misses, cycles
 *   25 to 31     what Windows adds on processors with architectural counters: InstructionRetired, …
 *   0x100 on     what Linux counts itself, on every machine: context switches, page faults, …
 *   0x200 on     further events that this processor has names for, in the order of their names
 *
 * A virtual machine is often given no counters of the processor: the second and third kind, and the
 * last, are missing there, each with a reason.
 */
#ifndef PMC_PMC_H
#define PMC_PMC_H

#include "base/base.h"

#define PMC_TIMER	 0u
#define PMC_COUNTERS_MAX 7u  /* that go with an event: records have three bits for their number */
#define PMC_SAMPLED_MAX	 8u  /* that samples are taken by, beside the timer */
#define PMC_EVENTS_MAX	 64u /* that counters go with */
#define PMC_SOURCES_MAX	 512u
#define PMC_NAME_MAX	 48u

struct pmc_source {
	uint32_t id;
	char name[PMC_NAME_MAX];
	uint32_t interval, least, most; /* between samples: how many of its events; of the timer 100 ns */
	bool hardware;
	uint32_t type; /* of perf_event_attr */
	uint64_t config[3];
};

/* What can be had here, by number; how many there are, of which `cap` are given. Opens one counter of
 * each for a moment. */
size_t pmc_list(struct pmc_source *ret, size_t cap);
/* One of them. -ENOENT: there is none of that number or name; -ENODEV: not on this machine; the diag names it and
 * says why. Names in any case, or the number. */
int pmc_find(uint32_t id, struct pmc_source *ret, struct diag *d);
int pmc_find_name(const char *name, size_t n, struct pmc_source *ret, struct diag *d);
/* What exists somewhere, whether it does here or not; NULL behind the last. */
const char *pmc_known_name(size_t i);
/* How many counters can be chosen at a time. */
uint32_t pmc_most(void);

/* The events that a processor's PMUs below `root` ("" for this machine) have names for, not tried. */
size_t pmc_named_events(const char *root, struct pmc_source *ret, size_t cap);

#endif
