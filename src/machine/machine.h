/* SPDX-License-Identifier: MIT
 *
 * state: what the records of a trace say about the machine, kept over time. Front door.
 *
 *   processes   pid -> name, command line, parent; from when to when
 *   threads     tid -> pid; who runs on which processor (context switches)
 *   images      pid, address -> module, its build
 *   code        pid, address -> method made at run time
 *   files       key -> path
 *   stacks      time stamp, thread -> addresses, joined from stack walk records
 *
 * Feed it every record in the order of time. Much of what a trace tells stands at its end (rundown
 * of threads and files, addresses of cached stacks), so the answers are complete only when all of
 * it has been fed: read a file twice (machine_add, then machine_follow), or ask as you go and take what
 * is known so far. Ids are used again, so most questions name a time: FILETIME, which records of
 * files with different clocks have in common. Stacks name their event by its raw time.
 *
 * Records are untrusted: what does not fit its layout is ignored. Memory grows with the number of
 * such records and ends at a limit; machine_full() tells that it was reached.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "base/base.h"
#include "etl/etl_reader.h"

struct machine;

enum machine_flags {
	MACHINE_STACKS = 1u << 0, /* collect stack walk records, too */
};
#define MACHINE_NO_ID UINT32_MAX

/* NULL: no memory. */
struct machine *machine_create(uint32_t flags);
void machine_destroy(struct machine *s);
void machine_add(struct machine *s, const struct etl_record *r);
/* The second reading of a file: only who runs where. */
void machine_follow(struct machine *s, const struct etl_record *r);
/* Between the two: nobody is known to run. */
void machine_rewind(struct machine *s);
/* Could a record with this marker and these first bytes tell anything? For those who read a file
 * for this alone (etl_reader_only). */
bool machine_wants(uint8_t type, const uint8_t *raw);
bool machine_full(const struct machine *s);
/* At most so many bytes from now on; what it has; how often something found no room, and is not known. */
void machine_limit(struct machine *s, uint64_t bytes);
uint64_t machine_bytes(const struct machine *s);
uint64_t machine_left_out(const struct machine *s);

/* Whom a record is about: the ids in its header, or in its payload where the kernel puts them there
 * (processes, threads, images, samples, disk, network), or else the thread that ran on its
 * processor. MACHINE_NO_ID where nobody knows. */
struct machine_who {
	uint32_t pid, tid;
};
struct machine_who machine_who(const struct machine *s, const struct etl_record *r);
/* MACHINE_NO_ID when unknown. */
uint32_t machine_pid_of_thread(const struct machine *s, uint32_t tid, uint64_t time);
struct machine_thread {
	uint32_t pid;
	uint64_t start_time, end_time;
	uint64_t start_address; /* of its first function; 0: unknown */
	const char *name;       /* the last one it was given; "" when it was given none */
};
/* False when unknown. */
bool machine_thread_at(const struct machine *s, uint32_t tid, uint64_t time, struct machine_thread *ret);
/* Is everything that threads of this process did in the trace, or was it recorded for others? */
bool machine_watched(const struct machine *s, uint32_t pid, uint64_t time);
/* The thread that ran there after the last context switch fed. */
uint32_t machine_running(const struct machine *s, uint16_t cpu);

/* Strings are UTF-8 and live as long as the state. */
struct machine_process {
	uint32_t pid, parent, session;
	uint64_t start_time, end_time; /* 0, UINT64_MAX: before and after what the trace holds */
	const char *name;              /* as the system has it: "notepad.exe" */
	const char *command_line;      /* "" when unknown */
};
/* NULL when there was none. */
const struct machine_process *machine_process_at(const struct machine *s, uint32_t pid, uint64_t time);

struct machine_image {
	uint64_t base, size;
	uint32_t pid; /* 0: the kernel's */
	uint32_t checksum, time_date_stamp;
	uint64_t load_time, unload_time;
	const char *path;
};
/* The module that holds an address; the kernel's modules are found for any pid. */
const struct machine_image *machine_image_at(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time);
/* Which build of a module it is: GUID and age, and the name of its symbol file. */
struct machine_debug_id {
	const uint8_t *guid; /* 16 bytes */
	uint32_t age;
	const char *name;
};
bool machine_debug_id_of(const struct machine *s, const struct machine_image *i, struct machine_debug_id *ret);
/* Name of code that was made at run time (.NET, JScript) and where it starts; NULL when unknown. */
const char *machine_code_at(struct machine *s, uint32_t pid, uint64_t address, uint64_t time, uint64_t *ret_start);
/* The file that names of a module of Linux come from; NULL: none, and *ret_why is a sentence. */
const char *machine_symbol_file(struct machine *s, const struct machine_image *i, const char **ret_why);
/* Another folder in which files of modules are looked for. False: there are too many. */
bool machine_symbol_folder(struct machine *s, const char *folder);
/* Name of a function of a module of Linux, from the files of this machine; NULL when unknown.
 * *ret_start is an address. */
const char *machine_function_at(struct machine *s, const struct machine_image *i, uint64_t address,
				uint64_t *ret_start);

/* From when to when what the three functions above say of an address stays true, both included. The image and the code are
 * asked for first. */
void machine_address_span(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time, uint64_t *ret_from,
			  uint64_t *ret_to);
/* Does the trace name modules or code of this process? Addresses of others are those of the kernel, or of nobody. */
bool machine_knows_addresses(const struct machine *s, uint32_t pid);

/* Path of a file by the key in disk, page fault and file records; NULL when unknown. */
const char *machine_file(struct machine *s, uint64_t key, uint64_t time);
/* The key in the record; 0 when it has none. */
uint64_t machine_file_key(const struct etl_record *r);

/* Addresses of the stack of the event with exactly that raw time, innermost first, kernel part
 * before user part; the number of them, 0 when there is none. tid MACHINE_NO_ID: any. *ret_who is
 * whose stack it is. Only after all has been fed. Valid until the next call. */
uint32_t machine_stack(struct machine *s, uint64_t time_raw, uint32_t tid, const uint64_t **ret,
		       struct machine_who *ret_who);

#endif
