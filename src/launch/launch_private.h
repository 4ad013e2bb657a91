/* SPDX-License-Identifier: MIT */
#ifndef LAUNCH_LAUNCH_PRIVATE_H
#define LAUNCH_LAUNCH_PRIVATE_H

#include "launch/launch.h"

/* LAUNCH_START and LAUNCH_STACKS. On failure the session runs when there is a handle. */
uint32_t launch_kernel_start(const struct etw_session *s, const struct session_kernel *k, const struct launch_how *how,
			     struct launch_run *r);

#endif
