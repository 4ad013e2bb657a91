/* SPDX-License-Identifier: MIT
 *
 * A filter as tests of columns. Private to query.
 *
 * plan_make() evaluates the filter once for each type, process, thread and processor number that the index has. Rows
 * whose type, process, … makes the filter false need no other look. Conjuncts that ask for several columns at once,
 * `masked`, become sets that are joined as the filter joins them. What is left, `rest`, asks for the time in ways that
 * are no range, or for the event itself. It is evaluated row by row.
 */
#ifndef QUERY_QUERY_PLAN_H
#define QUERY_QUERY_PLAN_H

#include "filter/filter_parse.h"
#include "query/query_field.h"

/* Which numbers of a dictionary pass. It has 65,536 entries at least, so a number of 16 bits needs no check; numbers
 * that name nothing pass when number 0 does. */
struct plan_set {
	uint8_t *ok;    /* NULL: all pass */
	uint32_t count; /* of the dictionary */
};
static inline bool plan_set_has(const struct plan_set *s, uint32_t id)
{
	return !s->ok || s->ok[id < s->count ? id : 0];
}

/* What the plan knows of one of the index's files. */
struct plan_file {
	struct plan_set type, process, thread;
};
/* A part of the filter that asks for columns alone. Where it asks for one column it is a set over that column. */
enum plan_mask_kind { PLAN_MASK_SET, PLAN_MASK_AND, PLAN_MASK_OR, PLAN_MASK_NOT };
enum plan_column { PLAN_COLUMN_TYPE, PLAN_COLUMN_PROCESS, PLAN_COLUMN_THREAD, PLAN_COLUMN_CPU, PLAN_COLUMNS };
#define PLAN_MASK_DEPTH 12u
struct plan_mask {
	enum plan_mask_kind kind;
	enum plan_column column; /* SET */
	struct plan_set *sets;   /* SET: of each file */
	uint32_t left, right;    /* numbers of nodes */
};
struct plan {
	const struct openetw_index *x;
	struct filter_expr *filter; /* NULL: everything passes */
	struct plan_file *files;
	struct plan_set cpu;
	int64_t from, to;                      /* times of the index that may pass; both included */
	uint32_t masked[FILTER_CONJUNCTS_MAX]; /* conjuncts that are masks */
	size_t masked_count;
	struct plan_mask *masks; /* of each node of the filter */
	uint32_t rest[FILTER_CONJUNCTS_MAX];
	size_t rest_count;
	bool timed;                      /* `rest` asks for the time: rows of the same type, process, … may differ */
	bool reads;                      /* `rest` may have to read events */
	struct field_column **column_of; /* of each node of the filter that may ask for a field; else NULL */
	struct field_column **columns;   /* the same, each once */
	uint32_t column_count;
	bool cells; /* what columns of fields have, or whether a row has a stack, may decide `rest` */
	bool asks_duration, asks_stack;
	const struct durations **durations; /* of each file; NULL: not known yet (question_begin()) */
	bool durations_cut;                 /* there was no room for all */
	bool asks_machine; /* for files or frames: what the trace says of the machine has to be read first */
	bool *nobody_has;  /* of each node: no event of any type has the field */
	/* `rest` asks for this field alone: what it says of a value it says of all rows that have the value. NULL: it asks
	 * for more. */
	struct field_column *only;
};

struct plan_event;
/* What the columns do not say: fields, activity, length. */
typedef enum filter_answer plan_read_fn(void *reader, const struct filter_node *n, struct filter_expr_value *ret);
/* Looks at one event of a type: has it the field? field_set_of_type() keeps the answer. */
typedef enum field_of_type plan_look_fn(void *reader, uint32_t file, uint32_t type, struct field_column *c);
/* Has the stack of an event whose row is known what the node asks for? */
typedef enum filter_answer plan_stack_fn(void *reader, const struct plan_event *e, const struct filter_node *n,
					 struct filter_expr_value *ret);
struct plan_reader {
	plan_read_fn *read;   /* may be NULL: nothing is read */
	plan_look_fn *look;   /* may be NULL */
	plan_stack_fn *stack; /* may be NULL */
	void *reader;
};

/* -EINVAL with diag: that is no filter. -ENOMEM. */
int plan_make(struct openetw_index *x, const char *filter, const struct plan_reader *reader, struct plan **ret,
	      struct diag *d);
void plan_free(struct plan *p);

/* ---- one event against the rest of the filter ---- */

enum plan_knows {
	PLAN_TYPE = 1u << 0,
	PLAN_PROCESS = 1u << 1,
	PLAN_THREAD = 1u << 2,
	PLAN_CPU = 1u << 3,
	PLAN_TIME = 1u << 4,
	PLAN_ROW = 0x1Fu,      /* all of these */
	PLAN_CELL = 1u << 5,   /* and what columns of fields have */
	PLAN_NUMBER = 1u << 6, /* the number that column `only` has for it, and nothing else */
};
struct plan_event {
	const struct plan *plan;
	const struct index_file *file;
	uint32_t file_at, knows;
	uint32_t type, process, thread; /* numbers of the file */
	uint16_t cpu;
	int64_t time; /* of the file */
	uint32_t group, row, stack;
	uint32_t number;
	struct plan_reader reader;
	char text[64]; /* of the value that was looked up last */
};
/* filter_expr_try_lookup_fn, of a struct plan_event. */
enum filter_answer plan_lookup(void *event, const struct filter_node *n, struct filter_expr_value *ret);
/* The event's time as the commands know it. */
uint64_t plan_filetime(const struct plan_event *e);
enum filter_truth plan_rest(const struct plan *p, struct plan_event *e);

/* Types that are no events, but what the file says of itself: a filter never means them. */
bool plan_type_is_header(const struct store_type *t);

#endif
