/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_WINTERNL_H
#define ETW_WIN_WINTERNL_H
#define _WINTERNL_
#include "ntdef.h"
#include "ntstatus.h"
/* DestinationString points to SourceString; lengths in bytes. */
ETW_API VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);
ETW_API VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString);
/* ERROR_MR_MID_NOT_FOUND for a status without a Win32 counterpart. */
ETW_API ULONG NTAPI RtlNtStatusToDosError(NTSTATUS Status);

/* LZNT1 and XPRESS, as trace events carry them; *FinalUncompressedSize is what there was.
 * STATUS_BAD_COMPRESSION_BUFFER, STATUS_UNSUPPORTED_COMPRESSION; the Huffman kind with …Ex only. */
#define COMPRESSION_FORMAT_NONE        0x0000
#define COMPRESSION_FORMAT_DEFAULT     0x0001
#define COMPRESSION_FORMAT_LZNT1       0x0002
#define COMPRESSION_FORMAT_XPRESS      0x0003
#define COMPRESSION_FORMAT_XPRESS_HUFF 0x0004
#define COMPRESSION_ENGINE_STANDARD    0x0000
#define COMPRESSION_ENGINE_MAXIMUM     0x0100
ETW_API NTSTATUS NTAPI RtlDecompressBuffer(USHORT CompressionFormat, PUCHAR UncompressedBuffer,
					   ULONG UncompressedBufferSize, PUCHAR CompressedBuffer,
					   ULONG CompressedBufferSize, PULONG FinalUncompressedSize);
ETW_API NTSTATUS NTAPI RtlDecompressBufferEx(USHORT CompressionFormat, PUCHAR UncompressedBuffer,
					     ULONG UncompressedBufferSize, PUCHAR CompressedBuffer,
					     ULONG CompressedBufferSize, PULONG FinalUncompressedSize, PVOID WorkSpace);
ETW_API NTSTATUS NTAPI RtlGetCompressionWorkSpaceSize(USHORT CompressionFormatAndEngine,
						      PULONG CompressBufferWorkSpaceSize,
						      PULONG CompressFragmentWorkSpaceSize);

/* For declarations of sources: NtQueryObject is not there. */
typedef enum _OBJECT_INFORMATION_CLASS {
	ObjectBasicInformation = 0,
	ObjectTypeInformation = 2
} OBJECT_INFORMATION_CLASS;

/* The two classes there are: the size of the machine, and the event groups of a kernel session. */
typedef enum _SYSTEM_INFORMATION_CLASS {
	SystemBasicInformation = 0,
	SystemPerformanceTraceInformation = 31
} SYSTEM_INFORMATION_CLASS;

typedef struct _SYSTEM_BASIC_INFORMATION {
	ULONG Reserved;
	ULONG TimerResolution; /* 100 ns units */
	ULONG PageSize;
	ULONG NumberOfPhysicalPages;
	ULONG LowestPhysicalPageNumber;
	ULONG HighestPhysicalPageNumber;
	ULONG AllocationGranularity;
	ULONG_PTR MinimumUserModeAddress;
	ULONG_PTR MaximumUserModeAddress;
	ULONG_PTR ActiveProcessorsAffinityMask;
	CCHAR NumberOfProcessors;
} SYSTEM_BASIC_INFORMATION, *PSYSTEM_BASIC_INFORMATION;

ETW_API NTSTATUS NTAPI NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
						PVOID SystemInformation, ULONG SystemInformationLength,
						PULONG ReturnLength);
ETW_API NTSTATUS NTAPI NtSetSystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass, PVOID SystemInformation,
					      ULONG SystemInformationLength);
#endif
