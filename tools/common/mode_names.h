/* SPDX-License-Identifier: MIT
 *
 * The names that each program has for the bits of LogFileMode.
 */
#ifndef TOOLS_COMMON_MODE_NAMES_H
#define TOOLS_COMMON_MODE_NAMES_H

#include "base/base.h"

enum mode_names {
	MODE_NAMES_OPENETW,  /* "newfile", "no-per-cpu" */
	MODE_NAMES_LOGMAN,   /* "newfile", "noperprocessorbuffering": what -mode takes */
	MODE_NAMES_TRACELOG, /* "New File", "No Per-Processor Buffering" */
	MODE_NAMES_XPERF,    /* "NewFile", "NoPerProcessorBuffering" */
	MODE_NAMES_COUNT,
};

/* Appends the names of these bits that the program has one for, with `between` between them. */
void mode_names_add(struct strbuf *b, enum mode_names whose, uint32_t mode, const char *between);
/* The bit of a name, without regard to case; 0: there is none. */
uint32_t mode_names_bit(enum mode_names whose, const char *name);
/* The i-th name; NULL behind the last one. */
const char *mode_names_at(enum mode_names whose, int i);

#endif
