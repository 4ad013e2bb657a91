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
 *   0x80000000 on  events that somebody else named: the processor's own codes, packed (pmc_define)
 *
 * A virtual machine is often given no counters of the processor: the second and third kind, and the
 * last, are missing there, each with a reason.
 */
#ifndef PMC_PMC_H
#define PMC_PMC_H

#include "base/base.h"

#define PMC_TIMER        0u
#define PMC_COUNTERS_MAX 7u  /* that go with an event: records have three bits for their number */
#define PMC_SAMPLED_MAX  8u  /* that samples are taken by, beside the timer */
#define PMC_EVENTS_MAX   64u /* that counters go with */
#define PMC_SOURCES_MAX  512u
#define PMC_NAME_MAX     48u
#define PMC_PACKED       0x80000000u /* numbers from here on are the processor's own codes */

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

/* An event of a processor by its codes, as a recording profile defines it. -1: any. */
struct pmc_definition {
	const char *name, *architecture; /* INTEL, AMD, ARM…; "": any */
	int64_t family, model, stepping;
	uint32_t event, unit; /* a processor's event select and unit mask */
	uint8_t least;        /* a cycle counts when this many happen in it; 0: each of them counts */
	bool invert, any_thread, edge;
};
struct pmc_processor {
	char architecture[16];
	int64_t family, model, stepping;
};
/* Of this machine, or of what is at `cpuinfo`. False: not known. */
bool pmc_processor(const char *cpuinfo, struct pmc_processor *ret);
/* A source of that definition. -ENODEV: it is for another processor than `p`, or this machine does not give its
 * counters; -EINVAL: codes that no processor has. The diag says which. */
int pmc_define(const struct pmc_definition *def, const struct pmc_processor *p, struct pmc_source *ret, struct diag *d);
/* What records of samples have room for: the number, or for packed codes another that stands for it. */
static inline uint16_t pmc_record_id(uint32_t id)
{
	return (uint16_t)(id & PMC_PACKED ? 0x8000u | ((id ^ id >> 15) & 0x7FFFu) : id);
}

/* The events that a processor's PMUs below `root` ("" for this machine) have names for, not tried. */
size_t pmc_named_events(const char *root, struct pmc_source *ret, size_t cap);

#endif
