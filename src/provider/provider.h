/* SPDX-License-Identifier: MIT
 *
 * provider: register, enable mask, write. Lives in other people's processes, so it stays small. Front door
 * for what control and consume may NOT include; only libetw's init and tests look here. The Windows-named
 * functions are in api_*.c. docs/life-of-an-event.md tells the story.
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include "base/base.h"

/* Registration limits of one process [doc]. */
#define PROVIDER_REGISTRATIONS_MAX 1024u

#endif
