/* SPDX-License-Identifier: MIT
 * What the processes of crowd_bench share with it, in descriptor CROWD_FD.
 */
#ifndef CROWD_CHILD_H
#define CROWD_CHILD_H

#include <stdint.h>

#define CROWD_FD 100
struct shared {
	uint32_t ready, enabled, looked;
	uint32_t look; /* futex; 1: the enable has returned */
};

#endif
