/* SPDX-License-Identifier: MIT
 *
 * Bytes of the header buffer, of data buffer headers and of extended items. docs/etl.md tells what
 * they mean; the sizes and values here are those of a session recorded by Windows 10.
 */
#include "etl/etl_writer.h"

#include "etw/values/session_modes.h"
#include "format/etl_head.h"

#define OS_VERSION           0x0501000Au /* u8 each: 10, 0, layout 1, 5 */
#define PARTITION_INFO_HOOK  0x0050u
#define PARTITION_INFO_BYTES 0x50u
#define SYSTEM_VERSION       2u
#define HEADER_ROUND         0x200u  /* of a compressed file's buffer 0 */
#define COMPRESSED_LAYOUT    0x0002u /* u8 each: 2, 0 */

_Static_assert(ETL_HEADER_LIVE_OFFSET == 0x68, "the payload of the first record starts here");

static uint32_t header_record_bytes(uint32_t logger_name_units, uint32_t file_name_units)
{
	/* Both strings with their terminators; callers checked that this cannot overflow. */
	return ETL_SYSTEM_HEADER_SIZE + ETL_LH64_NAMES + 2 * (logger_name_units + 1) + 2 * (file_name_units + 1);
}

uint32_t etl_header_used(uint32_t logger_name_units, uint32_t file_name_units)
{
	return ETL_BUFFER_HEADER_SIZE + BASE_ALIGN8(header_record_bytes(logger_name_units, file_name_units)) +
	       PARTITION_INFO_BYTES;
}

/* One 0x20-byte SYSTEM64 header. */
static void put_system_header(uint8_t *p, uint16_t size, uint16_t hook, const struct etl_header_args *a)
{
	const struct etl_hook_head h = {
		.type = ETL_RT_SYSTEM64,
		.version = SYSTEM_VERSION,
		.hook = hook,
		.pid = a->pid,
		.tid = a->tid,
		.time = a->start_raw,
		.kernel_time = a->kernel_time,
		.user_time = a->user_time,
	};
	etl_hook_head_put(p, size, &h);
}

static uint8_t *put_wsz(uint8_t *p, const uint16_t *s, uint32_t units)
{
	if (units > 0) {
		memcpy(p, s, 2 * (size_t)units);
	}
	le16_put(p + 2 * (size_t)units, 0);
	return p + 2 * ((size_t)units + 1);
}

static void put_logfile_header(uint8_t *p, const struct etl_header_args *a)
{
	le32_put(p + ETL_LH_BUFFER_SIZE, a->buffer_size);
	le32_put(p + ETL_LH_VERSION, OS_VERSION);
	le32_put(p + ETL_LH_PROVIDER_VERSION, a->os_build ? a->os_build : ETL_OS_BUILD);
	le32_put(p + ETL_LH_PROCESSORS, a->processors);
	le64_put(p + ETL_LH_END_TIME, a->end_filetime);
	le32_put(p + ETL_LH_TIMER_RESOLUTION, a->timer_resolution);
	le32_put(p + ETL_LH_MAXIMUM_FILE_SIZE, a->maximum_file_size);
	le32_put(p + ETL_LH_MODE, a->log_file_mode);
	le32_put(p + ETL_LH_BUFFERS_WRITTEN, a->buffers_written);
	le32_put(p + ETL_LH_START_BUFFERS, 1);
	le32_put(p + ETL_LH_POINTER_SIZE, 8);
	le32_put(p + ETL_LH_EVENTS_LOST, a->events_lost);
	le32_put(p + ETL_LH_CPU_MHZ, a->cpu_mhz);
	if (a->time_zone) {
		memcpy(p + ETL_LH64_TIME_ZONE, a->time_zone, ETL_TIME_ZONE_SIZE);
	} else {
		etl_time_zone_local(p + ETL_LH64_TIME_ZONE);
	}
	le64_put(p + ETL_LH64_BOOT_TIME, a->boot_filetime);
	le64_put(p + ETL_LH64_PERF_FREQ, a->perf_freq);
	le64_put(p + ETL_LH64_START_TIME, a->start_filetime);
	le32_put(p + ETL_LH64_CLOCK_TYPE, a->clock_type);
	le32_put(p + ETL_LH64_BUFFERS_LOST, a->buffers_lost);
	uint8_t *names = p + ETL_LH64_NAMES;
	names = put_wsz(names, a->logger_name, a->logger_name_units);
	put_wsz(names, a->file_name, a->file_name_units);
}

int etl_write_header_buffer(uint8_t *buf, const struct etl_header_args *a)
{
	/* The record's size is 16 bits; this test also keeps the sums below from overflowing. */
	if (a->logger_name_units > ETL_RECORD_MAX / 2 || a->file_name_units > ETL_RECORD_MAX / 2) {
		return -EMSGSIZE;
	}
	uint32_t record = header_record_bytes(a->logger_name_units, a->file_name_units);
	uint32_t used = etl_header_used(a->logger_name_units, a->file_name_units);
	if (record > ETL_RECORD_MAX || used > a->buffer_size) {
		return -EMSGSIZE;
	}
	memset(buf, 0, used);
	memset(buf + used, 0xFF, a->buffer_size - used);
	le32_put(buf + ETL_BH_BUFFER_SIZE, a->buffer_size);
	le32_put(buf + ETL_BH_SAVED_OFFSET, used);
	le32_put(buf + ETL_BH_CURRENT_OFFSET, used);
	le16_put(buf + ETL_BH_LOGGER_ID, a->logger_id);
	le32_put(buf + ETL_BH_STATE, ETL_STATE_FLUSH);
	le32_put(buf + ETL_BH_OFFSET, used);
	le16_put(buf + ETL_BH_FLAG, ETL_BF_FLUSH_MARKER | ETL_BF_PROC_INDEX);
	le16_put(buf + ETL_BH_TYPE, ETL_BT_HEADER);

	uint8_t *first = buf + ETL_BUFFER_HEADER_SIZE;
	put_system_header(first, (uint16_t)record, 0, a);
	put_logfile_header(first + ETL_SYSTEM_HEADER_SIZE, a);
	/* All-zero PartitionInfo: not in a container, no clock offset from the root. */
	put_system_header(first + BASE_ALIGN8(record), PARTITION_INFO_BYTES, PARTITION_INFO_HOOK, a);
	return 0;
}

uint32_t etl_header_compressed(uint8_t *buf, uint16_t format)
{
	uint8_t *p = buf + ETL_HEADER_LIVE_OFFSET;
	uint32_t used = le32_get(buf + ETL_BH_OFFSET);
	uint32_t size = (used + HEADER_ROUND - 1) / HEADER_ROUND * HEADER_ROUND;
	le32_put(buf + ETL_BH_BUFFER_SIZE, size);
	le32_put(buf + ETL_BH_STATE, format);
	le32_put(p + ETL_LH_VERSION, (le32_get(p + ETL_LH_VERSION) & 0xFFFFu) | COMPRESSED_LAYOUT << 16);
	le32_put(p + ETL_LH_MODE, le32_get(p + ETL_LH_MODE) | EVENT_TRACE_COMPRESSED_MODE);
	return size;
}

void etl_header_set_counts(uint8_t *buf, const struct etl_header_counts *c)
{
	uint8_t *p = buf + ETL_HEADER_LIVE_OFFSET;
	le64_put(p + ETL_LH_END_TIME, c->end_filetime);
	le32_put(p + ETL_LH_BUFFERS_WRITTEN, c->buffers_written);
	le32_put(p + ETL_LH_EVENTS_LOST, c->events_lost);
	le32_put(p + ETL_LH64_BUFFERS_LOST, c->buffers_lost);
}

void etl_write_buffer_header(uint8_t *buf, const struct etl_buffer_args *a, bool fill)
{
	memset(buf, 0, ETL_BUFFER_HEADER_SIZE);
	le32_put(buf + ETL_BH_BUFFER_SIZE, a->buffer_size);
	le32_put(buf + ETL_BH_SAVED_OFFSET, a->used);
	/* What a flush of a part-filled buffer leaves on Windows: size added to stop writers. */
	le32_put(buf + ETL_BH_CURRENT_OFFSET, a->buffer_size + a->used);
	le64_put(buf + ETL_BH_TIME_STAMP, a->flush_raw);
	le64_put(buf + ETL_BH_SEQUENCE, a->sequence);
	le16_put(buf + ETL_BH_PROCESSOR, a->processor);
	le16_put(buf + ETL_BH_LOGGER_ID, a->logger_id);
	le32_put(buf + ETL_BH_STATE, ETL_STATE_FLUSH);
	le32_put(buf + ETL_BH_OFFSET, a->used);
	le16_put(buf + ETL_BH_FLAG, (uint16_t)(a->flags | ETL_BF_PROC_INDEX));
	le16_put(buf + ETL_BH_TYPE, ETL_BT_GENERIC);
	if (fill && a->used < a->buffer_size) {
		memset(buf + a->used, 0xFF, a->buffer_size - a->used);
	}
}
