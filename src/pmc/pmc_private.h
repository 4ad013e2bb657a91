/* SPDX-License-Identifier: MIT
 *
 * Between the files of this folder.
 */
#ifndef PMC_PMC_PRIVATE_H
#define PMC_PMC_PRIVATE_H

#include "pmc/pmc.h"

/* Can it be counted on this machine? -ENODEV with the reason. */
int pmc_here(const struct pmc_source *s, struct diag *d);
/* What a number of packed codes stands for; false when it is none. */
bool pmc_unpack(uint32_t id, struct pmc_source *ret);

#endif
