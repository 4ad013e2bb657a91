/* SPDX-License-Identifier: MIT
 *
 * Traces beyond what OpenTrace and ProcessTrace tell: damage, losses, ranges of time. In libetw.
 *
 *   OPENETW_SIZED(struct openetw_problem, problem);
 *   while (openetw_trace_next_problem(trace, &problem) == 0) {   // trace: of OpenTrace
 *           fprintf(stderr, "at byte %llu: %s\n", (unsigned long long)problem.file_offset, problem.text);
 *   }
 */
#ifndef OPENETW_TRACE_H
#define OPENETW_TRACE_H

#include <openetw/defs.h>
#include "../etw/values/session_modes.h" /* OPENETW_TRACE_ZSTD_MODE */

#ifdef __cplusplus
extern "C" {
#endif

/* Damage that the reader found in a trace file, went around and did not deliver. */
struct openetw_problem {
	uint32_t size; /* in: sizeof(struct openetw_problem) */
	uint32_t reserved;
	uint64_t file_offset; /* bytes, of the buffer that is damaged */
	char text[200];       /* English, UTF-8 */
};
/* The next report about an open trace (a handle of OpenTrace), each once: ERROR_SUCCESS,
 * ERROR_NO_MORE_ITEMS, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER. Ask inside callbacks or when
 * ProcessTrace has returned, and before CloseTrace. */
OPENETW_API uint32_t openetw_trace_next_problem(openetw_trace_handle trace, struct openetw_problem *problem);

/* ProcessTrace for up to 1,024 traces; times as FILETIME, both included (0 and UINT64_MAX: all). Codes as
 * ProcessTrace. */
OPENETW_API uint32_t openetw_trace_process(const openetw_trace_handle *traces, uint32_t count, uint64_t from,
					   uint64_t to);

/* When something was lost while a trace was recorded, as far as its file shows it: buffers that say so,
 * and numbers of buffers that are not there. How much it was in all, the header says (EventsLost,
 * BuffersLost); losses told in events of their own (live) are not among these. */
#define OPENETW_LOST_EVENTS      1u /* events of one processor */
#define OPENETW_LOST_BUFFERS     2u /* buffers */
#define OPENETW_LOST_BACKUP      3u /* parts of what a real-time session put aside */
#define OPENETW_LOST_MISSING     4u /* `count` buffers are not there: empty ones dropped, or lost */
#define OPENETW_LOST_OVERWRITTEN 5u /* the oldest `count` buffers of a ring, by intention */
#define OPENETW_LOST_LATEST      6u /* the last loss of one processor was at this time */
struct openetw_loss_range {
	uint32_t size; /* in: sizeof(struct openetw_loss_range) */
	uint32_t kind;
	uint32_t processor; /* 0xFFFFFFFF: not of one processor */
	uint32_t reserved;
	uint64_t count;    /* of buffers; 0: nobody knows */
	uint64_t from, to; /* FILETIME */
};
/* The next one of an open trace, each once; codes as of openetw_trace_next_problem(). */
OPENETW_API uint32_t openetw_trace_next_loss(openetw_trace_handle trace, struct openetw_loss_range *range);

/* What was lost while a trace was recorded, as far as it can be known. Zero and "nobody knows" are two things:
 * a file whose session did not end has no final numbers, one that was cut lacks what was behind the cut, and
 * a session whose etwd died told nobody. */
#define OPENETW_UNKNOWN_NOT_CLOSED  1u /* file: its header was not finished, or the session still runs */
#define OPENETW_UNKNOWN_END_MISSING 2u /* file: `missing_buffers` that were written are not there */
#define OPENETW_UNKNOWN_BROKEN_OFF  3u /* real time: the session ended unexpectedly */
struct openetw_trace_loss {
	uint32_t size;    /* in: sizeof(struct openetw_trace_loss) */
	uint32_t unknown; /* 0: the numbers are all; else OPENETW_UNKNOWN_…: there may be more */
	uint64_t events, buffers;
	uint64_t missing_buffers;
	char reason[120]; /* English, UTF-8; "" when `unknown` is 0 */
};
/* Of an open trace; of a session, up to now. ERROR_SUCCESS, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_trace_loss(openetw_trace_handle trace, struct openetw_trace_loss *loss);

#ifdef __cplusplus
}
#endif
#endif
