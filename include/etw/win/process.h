/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_PROCESS_H
#define ETW_WIN_PROCESS_H
#include "processthreadsapi.h"
#include <unistd.h>
#define _getpid getpid
/* A thread as from CreateThread; 0 on failure. */
ETW_API ULONG_PTR _beginthreadex(void *security, unsigned stack_size, unsigned (*start)(void *), void *argument,
				 unsigned flags, unsigned *id);
/* As that, with a handle that closes itself when the thread ends; (ULONG_PTR)-1 on failure. */
ETW_API ULONG_PTR _beginthread(void (*start)(void *), unsigned stack_size, void *argument);
ETW_API void _endthreadex(unsigned code) __attribute__((noreturn));
ETW_API void _endthread(void) __attribute__((noreturn));
#endif
