/* SPDX-License-Identifier: MIT
 * One open log file, for sink_file.c, which writes it, and sink_file_look.c, which looks after it.
 */
#ifndef SINK_SINK_FILE_PRIVATE_H
#define SINK_SINK_FILE_PRIVATE_H

#include "sink/sink_private.h"

struct sink_file {
	int fd;
	struct sink_file_ops ops;
	uint8_t *header; /* image of buffer 0 */
	uint32_t buffer_bytes;
	uint16_t logger_id;
	bool circular, preallocate, sync, reserve_works;
	bool direct_works, direct_now; /* O_DIRECT; now: it is set */
	uint64_t max_buffers;          /* 0 unlimited */
	uint64_t place;                /* where the next buffer goes */
	uint64_t buffers;              /* in the file, buffer 0 included */
	uint64_t last_place;           /* of the newest buffer; 0 none */
	uint64_t reserved_bytes;
	uint64_t torn_place;    /* circular: an old buffer half overwritten, 0 none */
	uint32_t *place_events; /* of each place in the file, or each compressed buffer: [place_cap] */
	uint64_t place_cap;
	struct place_times {
		uint64_t last, closed; /* of its last record, and of the buffer */
		uint16_t cpu;
	} * place_times;      /* circular: [max_buffers] */
	uint64_t longest;     /* that a buffer took from its first record until it was closed */
	uint64_t *gone_until; /* by processor: the last record that was overwritten; 0: none was */
	uint32_t cpus;
	uint64_t events_here;   /* of this session, that are in the file */
	uint64_t first_place;   /* append: where this session began */
	uint64_t last_sequence; /* append */
	uint16_t compression;   /* ETL_FORMAT_*, 0: plain */
	uint64_t max_bytes;     /* compressed; 0 unlimited */
	uint64_t end, last_at;  /* compressed: where the next buffer goes, where the newest is */
	uint64_t written;       /* bytes of data buffers */
	uint32_t most;          /* bytes of one buffer at most */
	uint8_t *packed;        /* compressed: PACKED_BATCH and one more */
	struct etl_zstd *zstd;
	struct sink_file_counts base;  /* append: what the file already counted */
	struct sink_file_counts shown; /* as in the header on disk */
	uint64_t shown_buffers;
	sink_file_fn on_file;
	void *on_file_ctx;
	char *path;
	uint16_t *log_file; /* its name in the header; may be NULL */
	/* as they were when it was opened: see sink_file_look() */
	uint64_t device, inode;
	bool gone;  /* nothing of it is in reach any more */
	bool moved; /* it has another name by now */
};

/* -errno. */
int sink_file_pwrite(struct sink_file *f, const void *p, size_t n, uint64_t off);
/* So many events are in the buffer at `place` now. */
void sink_file_note_place(struct sink_file *f, uint64_t place, uint32_t events);

#endif
