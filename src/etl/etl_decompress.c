/* SPDX-License-Identifier: MIT */
#include "etl/etl_record.h"

int etl_decompress(uint32_t format, const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes,
		   size_t *ret_done)
{
	switch (format) {
	case ETL_COMPRESSION_LZNT1: return lznt1_decompress_some(in, in_bytes, out, out_bytes, ret_done);
	case ETL_COMPRESSION_XPRESS: return xpress_decompress_some(in, in_bytes, out, out_bytes, ret_done);
	case ETL_COMPRESSION_XPRESS_HUFFMAN:
		return xpress_huffman_decompress_some(in, in_bytes, out, out_bytes, ret_done);
	case ETL_COMPRESSION_ZSTD: return zstd_decompress_some(in, in_bytes, out, out_bytes, ret_done);
	default: *ret_done = 0; return -ENOTSUP;
	}
}
