/* SPDX-License-Identifier: MIT
 * Kernel events of Linux and of Windows, all versions, as one shape: who did what to which file or
 * address, how many bytes.
 */
#ifndef TOOLS_TABLES_KERNEL_EVENT_H
#define TOOLS_TABLES_KERNEL_EVENT_H

#include "tools/common/cli.h"

#include <openetw/state.h>

enum kevent_kind {
	KEVENT_NONE,
	KEVENT_SAMPLE,
	KEVENT_PMC_SAMPLE, /* by another source than the timer: its number is `bytes` */
	KEVENT_SWITCH,
	KEVENT_READY,
	KEVENT_PROCESS, /* start, end */
	KEVENT_THREAD,
	KEVENT_IMAGE,
	KEVENT_DISK,
	KEVENT_FILE,
	KEVENT_FILE_END, /* an operation's result */
	KEVENT_NET,
	KEVENT_FAULT,
	KEVENT_SYSCALL,
};
/* Per kind. */
enum kevent_op {
	KOP_OTHER,
	KOP_READ, /* disk, file */
	KOP_WRITE,
	KOP_FLUSH,
	KOP_CREATE, /* file */
	KOP_CLEANUP,
	KOP_CLOSE,
	KOP_DELETE,
	KOP_RENAME,
	KOP_DIRECTORY,
	KOP_MAP,
	KOP_UNMAP,
	KOP_SEND, /* net */
	KOP_RECEIVE,
	KOP_CONNECT,
	KOP_ACCEPT,
	KOP_DISCONNECT,
	KOP_RETRANSMIT,
	KOP_FAIL, /* a connection that did not come about; `status` says why, 0: not told */
	KOP_HARD, /* fault */
	KOP_DEMAND_ZERO,
	KOP_TRANSITION,
	KOP_COPY_ON_WRITE,
	KOP_START, /* process, thread, image; syscall: enter */
	KOP_END,
};

struct kevent {
	enum kevent_kind kind;
	enum kevent_op op;
	const char *name; /* "FileRead" */
	uint64_t time;    /* FILETIME */
	uint32_t pid, tid;
	const char *process; /* never NULL */
	const char *thread;  /* of `tid`; "" when it has no name of its own */
	uint64_t bytes;      /* moved; of a read or write of a file only its end tells it, so 0 there */
	uint64_t asked;      /* by a read or write of a file */
	uint64_t offset;
	uint64_t duration; /* ticks of the trace's clock; 0: not told */
	uint64_t address;  /* of a fault, a system call's handler, an image */
	uint64_t file_key, irp;
	const char *file; /* NULL: none, or unknown; valid until the next event */
	uint32_t
		status; /* of an end, or a failure: an NTSTATUS, or a negative errno; `bytes` counts when it is not negative */
	bool with_path; /* the same operation again, told with its path: of a deletion or a rename */
	uint32_t disk;
	bool udp;
	char local[64], remote[64];
	/* A switch: */
	uint32_t in_tid, out_tid;
	uint8_t reason, state;
	int8_t priority;                   /* of who comes */
	uint32_t subject_pid, subject_tid; /* process, thread and image events; who is readied */
	uint8_t waker;   /* of who is readied: enum kevent_waker; not by a thread: `tid` was interrupted */
	char path[1024]; /* what `file` points at when the event itself says it */
};
/* What woke a thread. */
enum kevent_waker {
	KEVENT_BY_THREAD,
	KEVENT_BY_INTERRUPT,
	KEVENT_BY_SOFTIRQ,
	KEVENT_BY_TIMER,
	KEVENT_BY_DPC, /* of Windows: an interrupt's or a timer's */
};
/* False: none of the above. The state, with the event's trace attached, tells names. */
bool kevent_of(struct openetw_state *state, const EVENT_RECORD *e, struct kevent *ret);
/* "Compositor"; "" when the thread has no name of its own. */
const char *kevent_thread_name(struct openetw_state *state, uint32_t tid, uint64_t time);
/* "firefox (1200:1234) Compositor" */
#define KEVENT_THREAD_SIZE 400
void kevent_thread_text(const char *process, uint32_t pid, uint32_t tid, const char *thread,
			char out[KEVENT_THREAD_SIZE]);
const char *kevent_wait_reason(uint8_t reason);
/* How many switches, or samples, this event of ours says were lost; UINT64_MAX: it says nothing of that. */
uint64_t kevent_switches_lost(const EVENT_RECORD *e);
/* "timer"; NULL: a thread. */
const char *kevent_waker_name(uint8_t waker);

#endif
