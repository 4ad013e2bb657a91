/* SPDX-License-Identifier: MIT
 *
 * The library that is installed as advapi32.dll, tdh.dll, …, for programs that look functions up by the
 * name of a DLL. It has none of its own: who opens it finds those of libetw and libetw-win, which it
 * needs. These pointers keep the linker from dropping the need.
 */
#include "etw/evntprov.h"
#include "win/windows.h"

__attribute__((used)) static const void *const needed[] = {(const void *)EventRegister, (const void *)FormatMessageW};
