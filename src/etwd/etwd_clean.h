/* SPDX-License-Identifier: MIT
 * What etwd inherited is let go. At its start, before there are threads.
 */
#ifndef ETWD_ETWD_CLEAN_H
#define ETWD_ETWD_CLEAN_H

#include "base/base.h"

/* All but the first three, which are opened where they were not, and `keep` (-1: none). */
void etwd_clean_descriptors(int keep);
/* Nothing blocked, nothing ignored. */
void etwd_clean_signals(void);
void etwd_clean_environment(void);

#endif
