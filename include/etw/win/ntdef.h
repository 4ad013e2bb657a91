/* SPDX-License-Identifier: MIT
 *
 * Counted strings and status macros of the native API. windows.h does not bring them, as on Windows:
 * programs have their own UNICODE_STRING.
 */
#ifndef ETW_WIN_NTDEF_H
#define ETW_WIN_NTDEF_H
#ifndef _NTDEF_
#define _NTDEF_
#endif

#include "winnt.h"

typedef struct _UNICODE_STRING {
	USHORT Length;        /* bytes, without terminator */
	USHORT MaximumLength; /* bytes */
	PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
	USHORT Length;
	USHORT MaximumLength;
	PCHAR Buffer;
} STRING, *PSTRING, ANSI_STRING, *PANSI_STRING, OEM_STRING, *POEM_STRING;
typedef const STRING *PCSTRING;
typedef const ANSI_STRING *PCANSI_STRING;

typedef struct _OBJECT_ATTRIBUTES {
	ULONG Length;
	HANDLE RootDirectory;
	PUNICODE_STRING ObjectName;
	ULONG Attributes;
	PVOID SecurityDescriptor;
	PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;

/* `text` is a literal or an array. */
#define RTL_CONSTANT_STRING(text)                                      \
	{                                                              \
		sizeof(text) - sizeof((text)[0]), sizeof(text), (text) \
	}
#define OBJ_CASE_INSENSITIVE 0x00000040
#define InitializeObjectAttributes(p, name, attributes, root, security)                                  \
	((p)->Length = sizeof(OBJECT_ATTRIBUTES), (p)->RootDirectory = (root), (p)->ObjectName = (name), \
	 (p)->Attributes = (attributes), (p)->SecurityDescriptor = (security), (p)->SecurityQualityOfService = NULL)

#ifndef NT_SUCCESS
#define NT_SUCCESS(status) (((NTSTATUS)(status)) >= 0)
#endif
#define NT_INFORMATION(status) ((((ULONG)(status)) >> 30) == 1)
#define NT_WARNING(status)     ((((ULONG)(status)) >> 30) == 2)
#define NT_ERROR(status)       ((((ULONG)(status)) >> 30) == 3)

#endif
