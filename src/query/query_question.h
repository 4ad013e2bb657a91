/* SPDX-License-Identifier: MIT
 *
 * struct openetw_query, and how its questions run over the rows. Private to query.
 *
 * A question is a sink: a function that is called for each group of rows with the rows that match, and an object of its
 * own for each thread, so that nothing is shared. Afterwards the question adds the objects up.
 *
 *   query_plan.c       the filter, as sets over columns and a rest
 *   query_scan.c       which rows of one group match
 *   query_question.c   all groups, on as many threads as there are processors
 *   query_key.c        by what rows are told apart
 *   query_histogram.c, query_facets.c, query_group.c, query_rows.c, query_stacks.c   the questions
 */
#ifndef QUERY_QUERY_QUESTION_H
#define QUERY_QUERY_QUESTION_H

#include "query/query_plan.h"

#include "base/order.h"

#define QUESTION_THREADS_MAX 64u

/* The rows of a group that match. */
struct scan_part {
	const struct index_file *file;
	uint32_t file_at, group;
	uint64_t first_row; /* of the group, among the file's rows */
	struct store_columns c;
	uint32_t judged;      /* rows of the group that are within the times */
	uint32_t count;       /* how many match */
	const uint16_t *rows; /* which ones, in their order; NULL: 0 … count - 1, all of the group */
	bool whole;           /* all rows of the group match */
};
static inline uint32_t scan_row(const struct scan_part *p, uint32_t i)
{
	return p->rows ? p->rows[i] : i;
}

/* What a thread has that scans. */
struct scan_memo {
	uint32_t type, process, thread;
	uint16_t cpu;
	uint8_t truth;
	uint8_t used;
};
#define SCAN_MEMOS 4096u
struct reading; /* reads events: query_reading.c */
struct scan {
	struct openetw_query *q;
	uint32_t number; /* which thread */
	int err;
	uint64_t scanned, matched, decoded, undecided;
	struct reading *reading;
	uint8_t *mask[PLAN_MASK_DEPTH + 1]; /* of rows: 0 or 1; made when they are needed */
	struct scan_memo *memo;             /* what `rest` said of rows like this */
	uint32_t memo_file;                 /* of which file they are */
	uint8_t *truth;                     /* what `rest` says of each number of the plan's `only`; 255: not asked */
	uint32_t truth_count;
	uint16_t rows[STORE_GROUP_ROWS];   /* those that match */
	uint8_t verdict[STORE_GROUP_ROWS]; /* what `rest` says of rows: enum filter_truth */
	uint32_t slots[STORE_GROUP_ROWS];  /* for the question: key_slots() */
};

/* The rows of a group that match and are not before `from` or behind `to` (times of the index). -errno. */
int scan_group(struct scan *s, uint32_t file, uint32_t group, int64_t from, int64_t to, struct scan_part *ret);
/* A row as the plan looks at it. */
void scan_event(const struct scan_part *p, uint32_t row, struct plan_event *inout);
/* What `rest` says of all rows for which the plan's column `only` has this number. FILTER_UNKNOWN: it may say that of
 * this row alone. */
enum filter_truth scan_truth_of(struct scan *s, uint32_t number);
/* How many those are, when the group's summary tells; false: it does not. */
bool scan_group_summary(const struct openetw_query *q, uint32_t file, uint32_t group, int64_t from, int64_t to,
			uint32_t *ret);

/* Are some of its rows within these times, and those of the query? */
bool scan_group_touches(const struct openetw_query *q, uint32_t file, uint32_t group, int64_t from, int64_t to);

/* What is known of a file's groups. */
struct question_file {
	const struct store_count *type_counts, *process_counts; /* of the groups' summaries */
	uint64_t *first_row;                                    /* of each group; one more: all */
	int64_t *latest; /* of each group: the latest time of all groups before it, INT64_MIN for the first */
	/* Of each group, rows that match the filter as bits, where events had to be read to know it; NULL: not yet. */
	uint64_t **found;
	uint64_t *position; /* of each group's first match among those of the file; one more: all. NULL: not counted */
};

struct openetw_query {
	struct openetw_index *index; /* what its user calls the index */
	struct openetw_index *x;     /* the view of it that is asked */
	char *filter;                /* NULL: none */
	openetw_query_progress_fn progress;
	void *progress_context;
	uint64_t told_ns;      /* when it was called last */
	uint64_t done, groups; /* what it is told; the asking thread's alone */
	int64_t from, to;
	char *field;
	struct plan *plan; /* NULL: not made yet */
	struct question_file *files;
	struct scan *scan[QUESTION_THREADS_MAX];
	uint32_t threads;
	uint32_t cancelled; /* order_… */
	char problem[320];
	uint64_t undecided; /* events that the filter could not judge so far */
	bool counted;       /* files[].position is there */
	struct openetw_answer counted_answer;
	struct openetw_answer answer; /* of what was asked last */
	void *kept[4];                /* arrays of the last answer */
};

typedef int question_fn(void *sink, struct scan *s, const struct scan_part *p);
/* One question. question_begin(): makes the plan. Then question_run() as often as needed, question_end() once. */
int question_begin(struct openetw_query *q);
/* `sinks`: q->threads objects of `sink_bytes` behind each other. Groups that do not touch `from` to `to` are left out.
 * -ECANCELED: it ended early; what was found is in the sinks. Groups come to a sink in ascending order. */
int question_run(struct openetw_query *q, int64_t from, int64_t to, question_fn *fn, void *sinks, size_t sink_bytes);
/* The Win32 code of `err`, and the answer. `partial` when cancelled. `ret` may be NULL. */
uint32_t question_end(struct openetw_query *q, int err, struct openetw_answer *ret);
static inline bool question_cancelled(const struct openetw_query *q)
{
	return order_load_relaxed(&q->cancelled) != 0;
}
void question_free(struct openetw_query *q);
/* The plan of a filter over the query's view. */
int question_plan(struct openetw_query *q, const char *filter, struct plan **ret, struct diag *d);
/* To the latest view of the index. */
int question_renew(struct openetw_query *q);
/* Of a ring: a query that is not asked anything holds no view, and so no memory of what has left the ring. */
void question_leave(struct openetw_query *q);
/* The progress function says whether to go on: now and then, by the thread that asks. */
void question_tell(struct openetw_query *q);
/* The filter is another one. */
void question_forget(struct openetw_query *q);
/* Counts the matches of each group, once: files[].position. */
int question_count(struct openetw_query *q);
/* An array that lives until the next question. NULL: no memory. */
void *question_keep(struct openetw_query *q, void *p);

/* Numbers of a file as those of the index. */
static inline uint32_t question_id(uint32_t local, uint32_t count, uint32_t base)
{
	return base + (local < count ? local : 0);
}

#endif
