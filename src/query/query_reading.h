/* SPDX-License-Identifier: MIT
 *
 * Reading events of the trace file, where columns do not tell. Private to query.
 *
 * Each thread of a query has a reading of its own: a decoder, and what is open of the files. Events are read in the order
 * in which they stand in the file, a group at a time. What was decoded goes into the columns of fields.
 */
#ifndef QUERY_QUERY_READING_H
#define QUERY_QUERY_READING_H

#include "query/query_question.h"

#include "evntcons.h"

struct etl_record;
struct machine;
/* A row that has to be read. */
struct due {
	uint64_t where;
	uint32_t at; /* which of the rows that were asked about */
};
/* NULL: no memory. */
struct reading *reading_make(struct openetw_index *x);
void reading_free(struct reading *r);
/* From now on it reads for another view of the same index. */
void reading_renew(struct reading *r, struct openetw_index *x);
/* The reading of a thread, made when it is asked for. */
int reading_of(struct scan *s, struct reading **ret);

/* The event at a place becomes the one that the functions below are about. -ENOENT: none stands there; -errno. */
int reading_event(struct reading *r, uint32_t file, uint64_t where);
/* The record there, as it is; valid until the next call. */
int reading_raw(struct reading *r, uint32_t file, uint64_t where, struct etl_record *ret);
/* Ticks a second of durations in payloads; 0: nobody knows. */
int reading_frequency(struct reading *r, uint32_t file, uint64_t *ret);
/* Room for STORE_GROUP_ROWS rows to be read. */
struct due *reading_due(struct reading *r);
/* The first of them, which are in the order of time, in the order in which they are read fastest; until they change. */
const struct due *reading_in_order(struct reading *r, uint32_t count);
/* What the trace says of the machine; the reading's. -errno. */
int reading_machine(struct reading *r, uint32_t file, struct machine **ret);
const EVENT_RECORD *reading_record(const struct reading *r);
/* A field of it, "Line.Price" too. False: it has no such field. The text is valid until the next call. */
bool reading_field(struct reading *r, const char *name, const char **ret_text, size_t *ret_length);
/* Its value as a number of the column; FIELD_NOT_READ: there is no room. */
uint32_t reading_number(struct reading *r, struct field_column *c);

/* plan_read_fn and plan_look_fn, of a struct reading. */
enum filter_answer reading_lookup(void *reading, const struct filter_node *n, struct filter_expr_value *ret);
enum field_of_type reading_look(void *reading, uint32_t file, uint32_t type, struct field_column *c);

/* So that stacks can be asked about, without reading events. -errno. */
int reading_stacks(struct scan *s, uint32_t file, struct plan_reader *ret);
/* The filter is another one. `r` may be NULL. */
void reading_forget(struct reading *r);

/* What the plan says of rows whose verdict is FILTER_UNKNOWN: reads their events. The verdict stays where an event
 * cannot be read. */
int reading_judge(struct scan *s, const struct scan_part *p, const uint16_t *rows, uint8_t *verdict, uint32_t n);
/* The column of the query's field, with a value for every row that matches. -ENOENT: no field was set. */
int reading_prepare(struct openetw_query *q, struct field_column **ret);

#endif
