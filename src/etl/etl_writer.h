/* SPDX-License-Identifier: MIT
 *
 * etl writer: bytes of buffers and of the header buffer, as Windows writes them. No threads, no
 * policy: src/sink decides when to write what.
 */
#ifndef ETL_ETL_WRITER_H
#define ETL_ETL_WRITER_H

#include "base/base.h"
#include "format/etl_layout.h"

/* All that stands in the log-file header. Strings are UTF-16, borrowed. */
struct etl_header_args {
	uint32_t buffer_size; /* bytes */
	uint32_t processors;
	uint64_t end_filetime;
	uint32_t timer_resolution; /* 100 ns; 156250 by habit */
	uint32_t maximum_file_size;
	uint32_t log_file_mode;
	uint32_t buffers_written;
	uint32_t events_lost;
	uint32_t buffers_lost;
	uint32_t cpu_mhz;
	uint32_t clock_type;
	uint64_t perf_freq;
	uint64_t boot_filetime;
	uint64_t start_filetime;
	uint64_t start_raw; /* time stamp of the header record */
	uint32_t pid, tid;  /* of the controller */
	uint16_t logger_id;
	bool last; /* kept for callers; buffer 0 of a recorded file always has FLUSH_MARKER */
	const uint16_t *logger_name;
	const uint16_t *file_name;
	uint32_t logger_name_units, file_name_units; /* without terminator */
	/* Zero means the ordinary thing: */
	uint32_t kernel_time, user_time; /* of the controller thread, timer_resolution units */
	uint32_t os_build;               /* 0: ETL_OS_BUILD */
	const uint8_t *time_zone;        /* ETL_TIME_ZONE_SIZE bytes; NULL: this machine's */
};
/* The Windows build we claim to be: the last Windows 10, so that readers expect exactly the records
 * we write. */
#define ETL_OS_BUILD 19045u

/* End of valid data of buffer 0 with names of that many units. */
uint32_t etl_header_used(uint32_t logger_name_units, uint32_t file_name_units);
/* Fill `buf` (buffer_size bytes) with buffer 0. -EMSGSIZE when the names do not fit. Time zone and
 * OS version (10.0, a current build) are filled in here. */
int etl_write_header_buffer(uint8_t *buf, const struct etl_header_args *a);

/* Buffer 0 is rewritten in place while a session runs and at its end: this range of it, after the
 * fields were changed with the setter. */
#define ETL_HEADER_LIVE_OFFSET (ETL_BUFFER_HEADER_SIZE + ETL_SYSTEM_HEADER_SIZE)
#define ETL_HEADER_LIVE_BYTES  ETL_LH64_NAMES
struct etl_header_counts {
	uint64_t end_filetime; /* 0 while the session runs */
	uint32_t buffers_written, events_lost, buffers_lost;
};
void etl_header_set_counts(uint8_t *buf, const struct etl_header_counts *c);

/* TIME_ZONE_INFORMATION of this machine (TZ, /etc/localtime): bias, names, this year's rules. */
void etl_time_zone_local(uint8_t ret[ETL_TIME_ZONE_SIZE]);
/* The same for any zone description the C library knows at the moment `now` (for tests). */
void etl_time_zone_at(int64_t now_unix, uint8_t ret[ETL_TIME_ZONE_SIZE]);

/* Close a data buffer in place: header fields, filler 0xFF to buffer_size. `used` includes the
 * 0x48-byte header. */
struct etl_buffer_args {
	uint32_t buffer_size;
	uint32_t used;
	uint64_t flush_raw;
	uint64_t sequence;
	uint16_t processor;
	uint16_t logger_id;
	uint16_t flags; /* ETL_BF_PROC_INDEX is added */
};
void etl_write_buffer_header(uint8_t *buf, const struct etl_buffer_args *a, bool fill);

/* Plain LZ77 of MS-XCA, for the bytes after the 0x48-byte header of a compressed buffer. `out` has
 * room for xpress_compress_bound(n); the result is the number of bytes used. n < 4 GiB. */
size_t xpress_compress_bound(size_t n);
size_t xpress_compress(const uint8_t *in, size_t n, uint8_t *out);

/* The alternative for our own readers: each buffer is one Zstandard frame. libzstd is loaded when it is
 * first needed; without it create is -ENOTSUP. Compressing returns 0 when `out` is too small. */
bool etl_zstd_available(void);
struct etl_zstd;
int etl_zstd_create(struct etl_zstd **ret);
void etl_zstd_destroy(struct etl_zstd *z);
size_t etl_zstd_bound(size_t n);
size_t etl_zstd_compress(struct etl_zstd *z, const uint8_t *in, size_t n, uint8_t *out, size_t cap);

/* Makes what etl_write_header_buffer() wrote the buffer 0 of a compressed file, ETL_FORMAT_*: layout
 * 2.0, mode bit, format; it ends behind its records. Returns its size on disk. */
uint32_t etl_header_compressed(uint8_t *buf, uint16_t format);

#endif
