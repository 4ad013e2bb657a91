/* SPDX-License-Identifier: MIT
 *
 * Programs that read what strangers wrote give up, before they do, what they need not: capabilities, ways to get
 * new ones, system calls, files to write, memory. Each of these is had as far as this kernel has it; what is left
 * out makes nothing fail.
 *
 *   program     capabilities       system calls                  files               memory, time
 *   etwd        files, other       no programs, no new           any                 any
 *               users' /proc       processes, nothing of the
 *                                  machine's
 *   its takers  none               as etwd, serving nobody       reads               any
 *   collector   those of the       no programs; BPF and perf     reads; writes       4 GiB and what
 *               kernel's events                                  probes              rings take
 *   describe    none               no programs, no sockets       writes what it      4 GiB, 10 minutes
 *                                                                has open
 *   sandbox     none               messages, memory, reading     none but what it    what its parent
 *                                  what is open                  has open            says
 *   database    none               as sandbox, and threads,      none but what it    what its parent
 *                                  writing what is open          has open            says
 *
 * Files are limited by Landlock, which also keeps a program from looking at others' /proc: so etwd and the collector,
 * which have to, go without.
 */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "base/base.h"

enum confine_program {
	CONFINE_ETWD,
	CONFINE_TAKER,
	CONFINE_COLLECTOR,
	CONFINE_DESCRIBE,
	CONFINE_SANDBOX,
	CONFINE_DATABASE
};

/* What came about. */
#define CONFINED_CAPABILITIES 1u /* no more than the program needs */
#define CONFINED_NO_NEW       2u /* and no program that it runs has more */
#define CONFINED_CALLS        4u
#define CONFINED_FILES        8u
#define CONFINED_MEMORY       16u

/* For good, of the whole process: to be called before there are threads. */
unsigned confine(enum confine_program program);
/* Memory that may be written to, and processor time, of this process and what it execs; false: as before, and so with
 * a sanitizer, which takes most of the address space. context: async-signal-safe */
bool confine_memory(uint64_t bytes, uint64_t processor_s);
/* "capabilities, system calls": for people. Returns buf. */
const char *confine_text(unsigned confined, char *buf, size_t cap);

#endif
