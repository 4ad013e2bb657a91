/* SPDX-License-Identifier: MIT
 * Private to confine.c: which system calls a program may make.
 */
#ifndef BASE_CONFINE_CALLS_H
#define BASE_CONFINE_CALLS_H

#include "base/confine.h"

bool confine_calls(enum confine_program program);

#endif
