/* SPDX-License-Identifier: MIT
 *
 * What /proc says of a process that goes into records. (pid 0 is no process.)
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/base.h"

/* Unique for each process since the machine started; 0: no such process lives. */
uint64_t process_start_key(uint32_t pid);
/* The number of its login session; 0: it has none, or nobody may know. */
uint32_t process_login_session(uint32_t pid);

#endif
