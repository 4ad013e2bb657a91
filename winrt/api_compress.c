/* SPDX-License-Identifier: MIT
 *
 * RtlDecompressBuffer: what trace events carry compressed, as ntdll unpacks it.
 */
#include "winrt/win.h"

#include "etl/etl_record.h"
#include "win/windows.h"
#include "win/winternl.h"

NTSTATUS NTAPI RtlDecompressBufferEx(USHORT CompressionFormat, PUCHAR UncompressedBuffer, ULONG UncompressedBufferSize,
				     PUCHAR CompressedBuffer, ULONG CompressedBufferSize, PULONG FinalUncompressedSize,
				     PVOID WorkSpace)
{
	size_t done = 0;
	int r;
	if (!UncompressedBuffer || !CompressedBuffer || !FinalUncompressedSize) {
		return (NTSTATUS)STATUS_ACCESS_VIOLATION;
	}
	switch (CompressionFormat & 0xFF) {
	case COMPRESSION_FORMAT_NONE:
	case COMPRESSION_FORMAT_DEFAULT: return (NTSTATUS)STATUS_INVALID_PARAMETER;
	case COMPRESSION_FORMAT_LZNT1:
		r = lznt1_decompress_whole(CompressedBuffer, CompressedBufferSize, UncompressedBuffer,
					   UncompressedBufferSize, &done);
		break;
	case COMPRESSION_FORMAT_XPRESS:
		r = xpress_decompress_some(CompressedBuffer, CompressedBufferSize, UncompressedBuffer,
					   UncompressedBufferSize, &done);
		break;
	case COMPRESSION_FORMAT_XPRESS_HUFF:
		r = xpress_huffman_decompress_some(CompressedBuffer, CompressedBufferSize, UncompressedBuffer,
						   UncompressedBufferSize, &done);
		break;
	default: return (NTSTATUS)STATUS_UNSUPPORTED_COMPRESSION;
	}
	if (r < 0) {
		return (NTSTATUS)STATUS_BAD_COMPRESSION_BUFFER;
	}
	*FinalUncompressedSize = (ULONG)done;
	return STATUS_SUCCESS;
}

NTSTATUS NTAPI RtlDecompressBuffer(USHORT CompressionFormat, PUCHAR UncompressedBuffer, ULONG UncompressedBufferSize,
				   PUCHAR CompressedBuffer, ULONG CompressedBufferSize, PULONG FinalUncompressedSize)
{
	if ((CompressionFormat & 0xFF) == COMPRESSION_FORMAT_XPRESS_HUFF) {
		return (NTSTATUS)STATUS_UNSUPPORTED_COMPRESSION; /* wants a work space there */
	}
	return RtlDecompressBufferEx(CompressionFormat, UncompressedBuffer, UncompressedBufferSize, CompressedBuffer,
				     CompressedBufferSize, FinalUncompressedSize, NULL);
}

NTSTATUS NTAPI RtlGetCompressionWorkSpaceSize(USHORT CompressionFormatAndEngine, PULONG CompressBufferWorkSpaceSize,
					      PULONG CompressFragmentWorkSpaceSize)
{
	if (!CompressBufferWorkSpaceSize || !CompressFragmentWorkSpaceSize) {
		return (NTSTATUS)STATUS_ACCESS_VIOLATION;
	}
	switch (CompressionFormatAndEngine & 0xFF) {
	case COMPRESSION_FORMAT_NONE:
	case COMPRESSION_FORMAT_DEFAULT: return (NTSTATUS)STATUS_INVALID_PARAMETER;
	case COMPRESSION_FORMAT_LZNT1:
	case COMPRESSION_FORMAT_XPRESS:
	case COMPRESSION_FORMAT_XPRESS_HUFF:
		/* None is needed here; callers allocate what they are told. */
		*CompressBufferWorkSpaceSize = 16;
		*CompressFragmentWorkSpaceSize = 16;
		return STATUS_SUCCESS;
	default: return (NTSTATUS)STATUS_UNSUPPORTED_COMPRESSION;
	}
}
