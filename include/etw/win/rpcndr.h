/* SPDX-License-Identifier: MIT
 *
 * What headers of COM interfaces are written with.
 */
#ifndef ETW_WIN_RPCNDR_H
#define ETW_WIN_RPCNDR_H

#include "guiddef.h"

typedef unsigned char byte;
typedef unsigned char boolean;

/* Defines the GUID in every file that has the line, whatever INITGUID says: there is one of it. */
#define EXTERN_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
	EXTERN_C const IID name __attribute__((weak));               \
	const IID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}

#define MIDL_INTERFACE(text) struct ETW_UUID(text) DECLSPEC_NOVTABLE
#define CONST_VTBL           const
#define __RPC_FAR
#define __RPC_STUB
#define __RPC_USER

#endif
