/* SPDX-License-Identifier: MIT
 *
 * What the files that make an index share while they do it. Private to query.
 */
#ifndef QUERY_BUILD_STATE_H
#define QUERY_BUILD_STATE_H

#include "consume/consume_view.h"
#include "etl/etl_reader.h"
#include "format/file_record.h"
#include "query/build_stacks.h"
#include "query/build_who.h"
#include "query/query_build.h"

#include "openetw/decode.h"

struct places {
	uint64_t *list;
	size_t count, cap;
};
struct build {
	const char *path;
	struct diag *d;
	const struct build_options *options;
	struct etl_reader *reader; /* of the reading that is going on */
	bool second;               /* it is the second reading */
	bool stop;                 /* the progress function said so */
	uint64_t told_ns;          /* when it was called last */
	uint64_t view_ns;          /* when the last view was made, or the second reading began */
	uint64_t view_rows;        /* how many rows it has */
	uint64_t view_bytes;       /* of the copies of all views */
	uint64_t bytes_before;     /* of the trace, read until `before` was full */
	struct etl_clock clock;
	struct etl_file_info info;
	struct machine *machine;
	struct store_writer *writer;
	struct openetw_decoder *decoder;
	struct consume_view view;
	/* The rows that are being collected, and those before them, whose stacks may still come. */
	struct store_rows *rows, *before;
	uint64_t row_count;
	struct build_strings strings;
	struct build_who who;
	struct build_types types;
	struct build_stacks stacks;
	struct places buffers, tellers, teachers;
	struct map buffer_numbers;
	uint64_t last_buffer; /* place in the file */
	uint32_t last_number;
	uint32_t *running; /* of each processor, when each group began */
	size_t running_count, running_cap;
	uint64_t lost_stacks;
	struct file_record_image explained; /* of the last image that etwd added */
};

/* build_stack_records.c: a record that says which stack an event has, or what a stack's key means. */
int build_stack_record(struct build *b, const struct etl_record *r);
/* The stack that the event carries itself. */
int build_own_stack(struct build *b, const struct etl_record *r, uint32_t *ret);

#endif
