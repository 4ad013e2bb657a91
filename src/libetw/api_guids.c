/* SPDX-License-Identifier: MIT
 *
 * The GUIDs that public headers declare. A program that defines INITGUID, or one of them itself, uses
 * its own.
 */
#pragma GCC visibility push(default)
#define INITGUID
#include "etw/evntrace.h"
#include "win/objbase.h"

#include "win/cguid.h"

const IID GUID_NULL = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
