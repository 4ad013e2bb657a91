/* SPDX-License-Identifier: MIT
 *
 * A run: the records of one plain buffer in the order of time. Buffers are what merges are made of:
 * their records are sorted (nearly always; else they are sorted here), while buffers of one
 * processor may overlap in time, because late records go to a buffer of their own.
 */
#ifndef ETL_ETL_RUN_H
#define ETL_ETL_RUN_H

#include "etl/etl_record.h"

struct etl_run {
	const uint8_t *buf; /* borrowed; header included */
	uint32_t used;
	struct etl_record_head head;    /* the record whose turn it is */
	struct etl_record_head *sorted; /* owned; NULL: the buffer is sorted as it stands */
	uint32_t sorted_count, sorted_at;
};

enum etl_run_flags {
	/* Never sort: the system clock may have been set back, and then the order in the buffer is
	 * the true one. */
	ETL_RUN_KEEP_ORDER = 1u << 0,
	/* The buffer goes on where the run that *run describes ended. */
	ETL_RUN_CONTINUE = 1u << 1,
};

/* 1 with the first record in run->head, 0 when there is none, -EBADMSG (diag) when not even the
 * first can be read, -ENOMEM. */
int etl_run_start(struct etl_run *run, const uint8_t *buf, uint32_t used, uint32_t flags, struct diag *d);
/* The next one. 1, 0, -EBADMSG when the rest cannot be read. */
int etl_run_next(struct etl_run *run, struct diag *d);
void etl_run_finish(struct etl_run *run);

#endif
