/* SPDX-License-Identifier: MIT
 *
 * etl reader: every record of one .etl file, in time order or in file order. Front door.
 *
 * Hostile input: nothing is trusted, memory is bounded (one decompressed buffer, or a window into a
 * large uncompressed one, per processor plus the buffer index), the good rest of a damaged file is delivered and every damage is reported once
 * through etl_reader_next_problem().
 */
#ifndef ETL_ETL_READER_H
#define ETL_ETL_READER_H

#include "base/base.h"
#include "format/etl_layout.h"

struct etl_reader;

enum etl_reader_flags {
	ETL_READER_FILE_ORDER = 1u << 0, /* buffers as they stand, no merge by time */
};

struct etl_file_info {
	uint64_t file_bytes;
	uint32_t buffer_size; /* uncompressed */
	uint32_t pointer_size;
	uint32_t os_version; /* u8 major, minor, layout major, layout minor */
	uint32_t os_build;
	uint32_t processors;
	uint32_t timer_resolution; /* 100 ns */
	uint32_t maximum_file_size;
	uint32_t log_file_mode;
	uint32_t buffers_written; /* as the header claims */
	uint32_t buffers_found;
	uint32_t events_lost;
	uint32_t buffers_lost;
	uint32_t cpu_mhz;
	uint32_t clock_type; /* 1 QPC, 2 system time, 3 CPU cycles */
	uint64_t perf_freq;
	uint64_t start_filetime;
	uint64_t end_filetime; /* 0 when the session did not stop cleanly */
	uint64_t boot_filetime;
	uint64_t start_raw; /* raw clock of the header record: pairs with start_filetime */
	uint8_t time_zone[ETL_TIME_ZONE_SIZE];
	const uint8_t *logger_name; /* UTF-16LE, unaligned, borrowed; may be empty */
	const uint8_t *file_name;
	uint32_t logger_name_units;
	uint32_t file_name_units;
	const uint8_t *header; /* buffer 0 as far as it is used, borrowed */
	uint32_t header_bytes;
	bool compressed;
	bool stopped_cleanly;
	bool spill; /* what a real-time session put aside: no header, the clock is in the buffers */
	bool old;   /* before Vista: buffer headers of another shape */
};

/* One record, whatever its kind, already split. Pointers are valid until the next call. */
struct etl_record {
	const uint8_t *raw; /* the whole record */
	uint32_t raw_bytes;
	uint8_t type;         /* enum etl_record_type */
	uint8_t pointer_size; /* of the code that logged it: 4 or 8 */
	uint16_t cpu;
	uint16_t logger_id;
	uint64_t time_raw;
	uint64_t time_filetime; /* converted with the file's clock */
	uint32_t pid;           /* UINT32_MAX when the record carries none */
	uint32_t tid;
	uint32_t kernel_time; /* in timer_resolution units; 0 when none */
	uint32_t user_time;
	uint16_t event_flags; /* EVENT_HEADER_FLAG_* as a consumer sees them (width, classic, …) */
	uint16_t event_property;
	struct guid provider; /* class GUID for classic/system records */
	/* EVENT_DESCRIPTOR */
	uint16_t id;
	uint8_t version, channel, level, opcode;
	uint16_t task;
	uint64_t keyword;
	struct guid activity;
	const uint8_t *items; /* first extended item, on-disk form; NULL when none */
	uint32_t items_bytes;
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint16_t hook;          /* group << 8 | type for system/compact/perfinfo records, else 0 */
	uint64_t file_offset;   /* of the buffer the record came from */
	uint32_t buffer_offset; /* of the record in the (decompressed) buffer */
	/* INSTANCE records */
	uint32_t instance_id, parent_instance_id;
	struct guid parent_guid;
	/* MESSAGE records: option flags; the optional fields are already parsed away */
	uint16_t message_flags;
	uint32_t sequence;
	/* System and perfinfo records: u64 values attached between header and payload: the PEBS
	 * index first if counters_pebs, then performance counters. NULL when none. */
	const uint8_t *counters;
	uint8_t counters_count;
	bool counters_pebs;
};

struct etl_problem {
	uint64_t file_offset;
	char text[200];
};

/* Opens a plain .etl file and indexes all buffer headers. -errno; -EBADMSG (with diag) when it is no .etl. */
int etl_reader_open(const char *path, uint32_t flags, struct etl_reader **ret, struct diag *d);
/* The same over memory that stays valid until close (fuzzing, real-time buffers). */
int etl_reader_open_memory(const void *p, size_t n, uint32_t flags, struct etl_reader **ret, struct diag *d);
void etl_reader_close(struct etl_reader *r);
const struct etl_file_info *etl_reader_info(const struct etl_reader *r);
/* 1 and a record; 0 at the end; -errno only for I/O and memory. */
int etl_reader_next(struct etl_reader *r, struct etl_record *ret);
/* Progress: buffers fully consumed so far, of info->buffers_found. */
uint32_t etl_reader_buffers_done(const struct etl_reader *r);
/* Called inside etl_reader_next() when all records of a buffer have been taken, with the plain
 * buffer, header included, as far as it could be read; `bytes` may be 0. Valid during the call; true
 * takes the buffer over, to be freed with free() (not when the whole file is in memory). */
typedef bool etl_buffer_done_fn(void *ctx, const uint8_t *buf, uint32_t bytes);
void etl_reader_on_buffer(struct etl_reader *r, etl_buffer_done_fn *fn, void *ctx);
/* Before the first etl_reader_next(): nobody wants to see plain buffers, so large ones may be read
 * piece by piece; the callback above gets no buffer then, only its `bytes`. */
void etl_reader_use_windows(struct etl_reader *r);
/* Who reads for few records only: the others are passed over before they are split. `raw` is the
 * record, its first bytes at least. */
typedef bool etl_wanted_fn(uint8_t type, const uint8_t *raw);
void etl_reader_only(struct etl_reader *r, etl_wanted_fn *wanted);
/* Memory for buffers that is in use now. */
uint64_t etl_reader_memory(const struct etl_reader *r);
/* When something was lost, as far as the file shows it. */
enum etl_loss_kind {
	ETL_LOSS_EVENTS,      /* events, on one processor */
	ETL_LOSS_BUFFERS,     /* buffers */
	ETL_LOSS_BACKUP,      /* parts of what a real-time session put aside */
	ETL_LOSS_MISSING,     /* `count` buffers are not there: empty ones that were dropped, or lost */
	ETL_LOSS_OVERWRITTEN, /* the oldest `count` buffers of a ring, by intention */
	ETL_LOSS_LATEST,      /* the last loss of one processor was at that time */
};
struct etl_loss_range {
	enum etl_loss_kind kind;
	uint16_t cpu;   /* UINT16_MAX: not of one processor */
	uint64_t count; /* of buffers; 0: nobody knows */
	uint64_t from_filetime, to_filetime;
};
/* The next one, each once. -ENOMEM, 0 at the end, 1. */
int etl_reader_next_loss(struct etl_reader *r, struct etl_loss_range *ret);
/* Next damage report not yet taken. */
bool etl_reader_next_problem(struct etl_reader *r, struct etl_problem *ret);

/* ---- pieces, for real-time consumers ----------------------------------------------------------
 */

/* What time conversion and decoding need to know about the stream a buffer belongs to. */
struct etl_clock {
	uint32_t clock_type;
	uint64_t perf_freq;
	uint32_t cpu_mhz;
	uint64_t start_raw;
	uint64_t start_filetime;
};
uint64_t etl_clock_to_filetime(const struct etl_clock *c, uint64_t raw);
/* The event that consumers see where events (opcode 32) or buffers (33) of a session or parts of its
 * backing file (34) were lost. It is in no file. */
enum etl_loss { ETL_LOST_EVENT = 32, ETL_LOST_BUFFER = 33, ETL_LOST_FILE = 34 };
void etl_record_loss(enum etl_loss what, uint64_t time_raw, const struct etl_clock *clock, struct etl_record *ret);
/* Walk the records of one plain buffer (header included). Start with *at = 0. 1 / 0 at the end /
 * -EBADMSG with diag when the rest cannot be read. */
int etl_buffer_next(const uint8_t *buf, size_t n, uint32_t *at, const struct etl_clock *clock, struct etl_record *ret,
		    struct diag *d);
/* Parse the log-file header out of buffer 0. */
int etl_header_parse(const uint8_t *buf, size_t n, struct etl_file_info *ret, struct diag *d);
/* src/etl/xpress.c: plain LZ77 of MS-XCA. 0 or -EBADMSG; never writes past out_bytes, which must be
 * filled exactly. */
int xpress_decompress(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes);

#endif
