/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_INTRIN_H
#define ETW_WIN_INTRIN_H
#include "synchapi.h"
#define _ReadWriteBarrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _ReturnAddress()    __builtin_return_address(0)
#if !defined(__clang__)
#define __debugbreak() __builtin_trap()
#endif
#endif
