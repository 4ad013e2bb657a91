/* SPDX-License-Identifier: MIT */
#include "tools/common/mode_names.h"

#include <windows.h>
#include <evntrace.h>
#include <openetw/openetw.h>
#include <strings.h>

static const struct {
	uint32_t bit;
	const char *name[MODE_NAMES_COUNT]; /* of openetw, logman, tracelog, xperf; NULL: that program has none */
} rows[] = {
	{EVENT_TRACE_FILE_MODE_SEQUENTIAL, {"sequential", "sequential", "Sequential", "Sequential"}},
	{EVENT_TRACE_FILE_MODE_CIRCULAR, {"circular", "circular", "Circular", "Circular"}},
	{EVENT_TRACE_FILE_MODE_APPEND, {"append", "append", "Append", "Append"}},
	{EVENT_TRACE_FILE_MODE_NEWFILE, {"newfile", "newfile", "New File", "NewFile"}},
	{EVENT_TRACE_FILE_MODE_PREALLOCATE, {"preallocate", "preallocate", "Preallocate", NULL}},
	{EVENT_TRACE_NONSTOPPABLE_MODE, {NULL, "nonstoppable", NULL, NULL}},
	{EVENT_TRACE_REAL_TIME_MODE, {"real-time", "realtime", "Real Time", NULL}},
	{EVENT_TRACE_REAL_TIME_MODE, {NULL, "rt", NULL, NULL}},
	{EVENT_TRACE_DELAY_OPEN_FILE_MODE, {NULL, "delayopenfile", NULL, NULL}},
	{EVENT_TRACE_BUFFERING_MODE, {"buffering", "buffering", "Buffering", "Buffering"}},
	{EVENT_TRACE_PRIVATE_LOGGER_MODE, {"private", "private", "Private", NULL}},
	{EVENT_TRACE_SECURE_MODE, {NULL, "secure", "Secure", "Secure"}},
	{EVENT_TRACE_ADD_HEADER_MODE, {NULL, "addheader", NULL, NULL}},
	{EVENT_TRACE_USE_KBYTES_FOR_SIZE, {NULL, "usekbytesforsize", NULL, NULL}},
	{EVENT_TRACE_USE_GLOBAL_SEQUENCE, {NULL, "globalsequence", NULL, NULL}},
	{EVENT_TRACE_USE_LOCAL_SEQUENCE, {NULL, "localsequence", NULL, NULL}},
	{EVENT_TRACE_RELOG_MODE, {NULL, "relog", NULL, NULL}},
	{EVENT_TRACE_USE_PAGED_MEMORY, {NULL, "pagedmemory", NULL, "PagedMemory"}},
	{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
	 {"no-per-cpu", "noperprocessorbuffering", "No Per-Processor Buffering", "NoPerProcessorBuffering"}},
	{EVENT_TRACE_COMPRESSED_MODE, {"compressed", "compressed", NULL, "Compressed"}},
	{OPENETW_TRACE_ZSTD_MODE, {"zstd", NULL, NULL, NULL}},
	{EVENT_TRACE_INDEPENDENT_SESSION_MODE, {NULL, "independent", "Independent Session", "IndependentSession"}},
	{EVENT_TRACE_SYSTEM_LOGGER_MODE, {NULL, "systemlogger", NULL, "SystemLogger"}},
};

void mode_names_add(struct strbuf *b, enum mode_names whose, uint32_t mode, const char *between)
{
	uint32_t done = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		const char *name = rows[i].name[whose];
		if (name && (mode & ~done & rows[i].bit)) {
			strbuf_adds(b, done ? between : "");
			strbuf_adds(b, name);
			done |= rows[i].bit;
		}
	}
}

uint32_t mode_names_bit(enum mode_names whose, const char *name)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].name[whose] && strcasecmp(rows[i].name[whose], name) == 0) {
			return rows[i].bit;
		}
	}
	return 0;
}

const char *mode_names_at(enum mode_names whose, int i)
{
	for (size_t k = 0; k < BASE_ARRAY_LEN(rows); k++) {
		if (rows[k].name[whose] && i-- == 0) {
			return rows[k].name[whose];
		}
	}
	return NULL;
}
