/* SPDX-License-Identifier: MIT
 *
 * Byte layout of .etl files. Offsets and constants only; no I/O, no allocation. docs/etl.md tells
 * the story. Marks: [doc] publicly documented, [obs] observed in real files, [asm] assumed.
 */
#ifndef FORMAT_ETL_LAYOUT_H
#define FORMAT_ETL_LAYOUT_H

#include <stdint.h>

#define ETL_BUFFER_MAX         (16u << 20) /* [doc] */
#define ETL_RECORD_MAX         0xFFFFu     /* [obs] header included */
#define ETL_FILLER             0xFFFFFFFFu
#define ETL_BUFFER_HEADER_SIZE 0x48u

/* WMI_BUFFER_HEADER, the same for 32- and 64-bit writers. [obs] unless said */
enum etl_buffer_header {
	ETL_BH_BUFFER_SIZE = 0x00,    /* u32 bytes in the file */
	ETL_BH_SAVED_OFFSET = 0x04,   /* u32 */
	ETL_BH_CURRENT_OFFSET = 0x08, /* u32 */
	ETL_BH_REFERENCE_COUNT = 0x0C,
	ETL_BH_TIME_STAMP = 0x10, /* i64 flush time, raw clock */
	ETL_BH_SEQUENCE = 0x18,   /* i64 */
	ETL_BH_CLOCK = 0x20,
	ETL_BH_PROCESSOR = 0x28, /* u16 index, or u8 + u8 alignment without PROC_INDEX */
	ETL_BH_LOGGER_ID = 0x2A, /* u16 */
	ETL_BH_STATE = 0x2C,     /* u32 */
	ETL_BH_OFFSET = 0x30,    /* u32 end of valid data, header included */
	ETL_BH_FLAG = 0x34,      /* u16 */
	ETL_BH_TYPE = 0x36,      /* u16 */
	ETL_BH_REFERENCE_TIME = 0x38,
};
enum etl_buffer_flag {
	ETL_BF_FLUSH_MARKER = 0x0001,
	ETL_BF_EVENTS_LOST = 0x0002,
	ETL_BF_BUFFER_LOST = 0x0004,
	ETL_BF_RTBACKUP_CORRUPT = 0x0008,
	ETL_BF_RTBACKUP = 0x0010,
	ETL_BF_PROC_INDEX = 0x0020,
	ETL_BF_COMPRESSED = 0x0040,
};
enum etl_buffer_type {
	ETL_BT_GENERIC = 0,
	ETL_BT_HEADER = 4,
};
#define ETL_STATE_FLUSH 3u
/* State of buffer 0 of a compressed file. The second is ours: other readers know 2 to 4. */
#define ETL_FORMAT_XPRESS 3u
#define ETL_FORMAT_ZSTD   0x5A53u

/* Byte 3 of a record says what kind of header it has; of messages, the whole of bytes 2 and 3 does. */
#define ETL_MARK_HEADER   0xC0u /* byte 2 is a type */
#define ETL_MARK_MESSAGE  0x90u
#define ETL_MARK_TIMED_32 0xB0u /* [doc] never seen: a size, nothing a consumer could show */

/* Record types: byte 2 of a record with ETL_MARK_HEADER */
enum etl_record_type {
	ETL_RT_SYSTEM32 = 0x01,
	ETL_RT_SYSTEM64 = 0x02,
	ETL_RT_COMPACT32 = 0x03,
	ETL_RT_COMPACT64 = 0x04,
	ETL_RT_FULL32 = 0x0A,
	ETL_RT_INSTANCE32 = 0x0B,
	ETL_RT_ERROR = 0x0D,
	ETL_RT_MESSAGE = 0x0F, /* never on disk as a type: top byte 0x90 */
	ETL_RT_PERFINFO32 = 0x10,
	ETL_RT_PERFINFO64 = 0x11,
	ETL_RT_EVENT32 = 0x12,
	ETL_RT_EVENT64 = 0x13,
	ETL_RT_FULL64 = 0x14,
	ETL_RT_INSTANCE64 = 0x15,
};
#define ETL_SYSTEM_HEADER_SIZE   0x20u
#define ETL_PERFINFO_TIME        0x08u /* of its header, where the time stands */
#define ETL_COMPACT_HEADER_SIZE  0x18u
#define ETL_PERFINFO_HEADER_SIZE 0x10u
#define ETL_FULL_HEADER_SIZE     0x30u
#define ETL_INSTANCE_HEADER_SIZE 0x48u
#define ETL_EVENT_HEADER_SIZE    0x50u
#define ETL_MESSAGE_HEADER_SIZE  0x08u

/* EVENT_HEADER record: offsets from the start of the record */
enum etl_event_header {
	ETL_EH_SIZE = 0x00,
	ETL_EH_TYPE = 0x02,
	ETL_EH_FLAGS = 0x04,
	ETL_EH_PROPERTY = 0x06,
	ETL_EH_TID = 0x08,
	ETL_EH_PID = 0x0C,
	ETL_EH_TIME = 0x10,
	ETL_EH_PROVIDER = 0x18,
	ETL_EH_DESCRIPTOR = 0x28,
	ETL_EH_KERNEL_TIME = 0x38,
	ETL_EH_USER_TIME = 0x3C,
	ETL_EH_ACTIVITY = 0x40,
	ETL_EH_END = 0x50,
};
enum etl_event_flag { /* the only ones stored on disk */
		      ETL_EF_EXTENDED_INFO = 0x0001,
		      ETL_EF_PRIVATE_SESSION = 0x0002,
		      ETL_EF_STRING_ONLY = 0x0004,
};

/* SYSTEM and COMPACT records, and PERFINFO up to the hook */
enum etl_hook_header {
	ETL_HH_VERSION = 0x00,
	ETL_HH_TYPE = 0x02,
	ETL_HH_SIZE = 0x04,
	ETL_HH_HOOK = 0x06,
	ETL_HH_TID = 0x08,
	ETL_HH_PID = 0x0C,
	ETL_HH_TIME = 0x10,
	ETL_HH_KERNEL_TIME = 0x18, /* not in COMPACT */
	ETL_HH_USER_TIME = 0x1C,
};
/* FULL records (EVENT_TRACE_HEADER), and the beginning of INSTANCE records */
enum etl_full_header {
	ETL_FH_SIZE = 0x00,
	ETL_FH_TYPE = 0x02,
	ETL_FH_OPCODE = 0x04,
	ETL_FH_LEVEL = 0x05,
	ETL_FH_VERSION = 0x06,
	ETL_FH_TID = 0x08,
	ETL_FH_PID = 0x0C,
	ETL_FH_TIME = 0x10,
	ETL_FH_CLASS = 0x18,
	ETL_FH_KERNEL_TIME = 0x28,
	ETL_FH_USER_TIME = 0x2C,
	ETL_FH_INSTANCE = 0x30, /* u32 its id, u32 parent's id, parent's class */
};

/* Extended items: u16 total size (rounded to 8), u16 type, u16 linkage, u16 data size, data */
#define ETL_ITEM_HEADER_SIZE 8u
enum etl_item_type {
	ETL_ITEM_RELATED_ACTIVITYID = 0x01,
	ETL_ITEM_SID = 0x02,
	ETL_ITEM_TS_ID = 0x03,
	ETL_ITEM_INSTANCE_INFO = 0x04,
	ETL_ITEM_STACK_TRACE32 = 0x05,
	ETL_ITEM_STACK_TRACE64 = 0x06,
	ETL_ITEM_PEBS_INDEX = 0x07,
	ETL_ITEM_PMC_COUNTERS = 0x08,
	ETL_ITEM_PSM_KEY = 0x09,
	ETL_ITEM_EVENT_KEY = 0x0A,
	ETL_ITEM_EVENT_SCHEMA_TL = 0x0B,
	ETL_ITEM_PROV_TRAITS = 0x0C,
	ETL_ITEM_PROCESS_START_KEY = 0x0D,
	ETL_ITEM_CONTROL_GUID = 0x0E,
	ETL_ITEM_QPC_DELTA = 0x0F,
	ETL_ITEM_CONTAINER_ID = 0x10,
	ETL_ITEM_STACK_KEY32 = 0x11,
	ETL_ITEM_STACK_KEY64 = 0x12,
};

/* TRACE_LOGFILE_HEADER payload; names differ by pointer size */
enum etl_logfile_header {
	ETL_LH_BUFFER_SIZE = 0x00,
	ETL_LH_VERSION = 0x04,
	ETL_LH_PROVIDER_VERSION = 0x08,
	ETL_LH_PROCESSORS = 0x0C,
	ETL_LH_END_TIME = 0x10,
	ETL_LH_TIMER_RESOLUTION = 0x18,
	ETL_LH_MAXIMUM_FILE_SIZE = 0x1C,
	ETL_LH_MODE = 0x20,
	ETL_LH_BUFFERS_WRITTEN = 0x24,
	ETL_LH_START_BUFFERS = 0x28,
	ETL_LH_POINTER_SIZE = 0x2C,
	ETL_LH_EVENTS_LOST = 0x30,
	ETL_LH_CPU_MHZ = 0x34,
	ETL_LH64_TIME_ZONE = 0x48,
	ETL_LH64_BOOT_TIME = 0xF8,
	ETL_LH64_PERF_FREQ = 0x100,
	ETL_LH64_START_TIME = 0x108,
	ETL_LH64_CLOCK_TYPE = 0x110,
	ETL_LH64_BUFFERS_LOST = 0x114,
	ETL_LH64_NAMES = 0x118,
	ETL_LH32_TIME_ZONE = 0x40,
	ETL_LH32_BOOT_TIME = 0xF0,
	ETL_LH32_PERF_FREQ = 0xF8,
	ETL_LH32_START_TIME = 0x100,
	ETL_LH32_CLOCK_TYPE = 0x108,
	ETL_LH32_BUFFERS_LOST = 0x10C,
	ETL_LH32_NAMES = 0x110,
};
#define ETL_TIME_ZONE_SIZE 0xACu

#endif
