/* SPDX-License-Identifier: MIT
 *
 * What the programs in the kernel and the collector say to each other. Included by both sides: the
 * includer brings uint8_t … uint64_t.
 *
 * One ring of each processor holds records one behind the other, each a header, then words (and
 * perhaps text) whose meaning the hook says, then the stack. Bytes are shaped into Windows' payloads
 * by the collector (kernel_<area>.c), never here.
 */
#ifndef KERNEL_BPF_KBPF_ABI_H
#define KERNEL_BPF_KBPF_ABI_H

/* What can be asked for. The order is nobody's business but this program's. */
enum kbpf_hook {
	KBPF_USER_STACK, /* no event: struct kbpf_user_stack */
	KBPF_SYS_ENTER,  /* u64 number */
	KBPF_SYS_EXIT,   /* u64 number, i64 result */
	/* net.bpf.c: struct kbpf_net */
	KBPF_TCP_SEND,
	KBPF_TCP_RECV,
	KBPF_TCP_CONNECT,
	KBPF_TCP_ACCEPT,
	KBPF_TCP_DISCONNECT,
	KBPF_TCP_RETRANSMIT,
	KBPF_TCP_RECONNECT,
	KBPF_TCP_FAIL,
	KBPF_UDP_SEND,
	KBPF_UDP_RECV,
	/* struct kbpf_file, and text */
	KBPF_FILE_NAME, /* no event: what a key is called */
	KBPF_FILE_CREATE,
	KBPF_FILE_CLOSE, /* both Cleanup and Close */
	KBPF_FILE_READ,
	KBPF_FILE_WRITE,
	KBPF_FILE_FLUSH,
	KBPF_FILE_SET_INFO,
	KBPF_FILE_QUERY_INFO,
	KBPF_FILE_DELETE,
	KBPF_FILE_RENAME,
	KBPF_FILE_LINK,
	KBPF_FILE_DIR_ENUM,
	KBPF_FILE_DIR_NOTIFY,
	KBPF_FILE_CONTROL,
	KBPF_FILE_END, /* struct kbpf_file_end */
	/* struct kbpf_memory */
	KBPF_VIRTUAL_ALLOC,
	KBPF_VIRTUAL_FREE,
	KBPF_MAP_FILE,
	KBPF_UNMAP_FILE,
	/* struct kbpf_handle */
	KBPF_HANDLE_CREATE,
	KBPF_HANDLE_CLOSE,
	/* kbpf_sched.h */
	KBPF_SWITCH,
	KBPF_WAKING,
	/* struct kbpf_disk */
	KBPF_DISK_INIT, /* read, write, flush */
	KBPF_DISK_DONE,
	/* struct kbpf_fault */
	KBPF_FAULT_SOFT,
	KBPF_FAULT_HARD,
	/* irq.bpf.c: struct kbpf_irq, struct kbpf_power */
	KBPF_ISR,
	KBPF_VECTOR,
	KBPF_SOFTIRQ,
	KBPF_TASKLET,
	KBPF_WORK,
	KBPF_IDLE,
	KBPF_FREQUENCY,
	/* process.bpf.c: struct kbpf_exec, struct kbpf_exit */
	KBPF_EXEC,
	KBPF_EXIT,
	KBPF_UNLOAD, /* struct kbpf_unload */
	/* heap.bpf.c: struct kbpf_heap */
	KBPF_HEAP_ALLOC,
	KBPF_HEAP_REALLOC,
	KBPF_HEAP_FREE,
	KBPF_HOOKS_MAX = 96, /* room in the maps */
};

/* Programs that may build a record in the scratch memory of their processor: a slot each. */
enum kbpf_scratch_slot {
	KBPF_SLOT_SYS_ENTER,
	KBPF_SLOT_SYS_EXIT,
	KBPF_SLOT_NET_SEND,
	KBPF_SLOT_NET_RECV,
	KBPF_SLOT_NET_STATE,
	KBPF_SLOT_NET_RETRANSMIT,
	KBPF_SLOT_NET_EXIT,
	KBPF_SLOT_NET_CALLS,
	KBPF_SLOT_SWITCH,
	KBPF_SLOT_WAKING,
	KBPF_SLOT_CALL_ENTER,
	KBPF_SLOT_CALL_EXIT,
	KBPF_SLOT_EXIT_FILES,
	KBPF_SLOT_URING_SUBMIT,
	KBPF_SLOT_URING_DONE,
	KBPF_SLOT_DISK_START,
	KBPF_SLOT_DISK_ISSUE,
	KBPF_SLOT_DISK_DONE,
	KBPF_SLOT_FAULT_USER,
	KBPF_SLOT_FAULT_KERNEL,
	KBPF_SLOT_FAULT_FILE,
	KBPF_SLOT_FAULT_MAJOR,
	KBPF_SLOT_IRQ, /* has no stacks, so that it is never used */
	KBPF_SLOT_EXEC,
	KBPF_SLOT_EXIT,
	KBPF_SLOT_UNLOAD,
	KBPF_SLOT_MUNMAP,
	KBPF_SLOT_HEAP_LEAVE,
	KBPF_SLOT_HEAP_FREE,
	KBPF_SLOT_EXEC_FILES,
	KBPF_SLOT_URING_PATH,
	KBPF_SLOTS_MAX = 48,
};

#define KBPF_STACK_FRAMES 128u  /* of each half: kernel, user */
#define KBPF_COPY_MAX     4096u /* bytes of a user stack to be unwound */
#define KBPF_COPY_SWITCH  2048u /* the same at switches and wake-ups: what waits is not deep */
#define KBPF_REGS         40u   /* by their DWARF numbers, room for all machines */
#define KBPF_PAYLOAD_MAX  4608u
#define KBPF_COUNTERS_MAX 8u /* that are read with an event */

enum kbpf_flags {
	KBPF_KERNEL_THREAD = 1u << 0,
	KBPF_USER_STACK_ID = 1u << 1,   /* behind the frames, which are the kernel's, stands a u64: the user
					 part is that of the last KBPF_USER_STACK with this id */
	KBPF_COUNTERS = 1u << 3,        /* between the payload and the frames stand KBPF_COUNTERS_MAX u64: what this
				    processor's counters showed, as many as there are, then zeros */
	KBPF_KERNEL_STACK_ID = 1u << 2, /* before that, another: without frames the kernel's part is that of
					   the last record with frames and this id */
};

struct kbpf_record {
	uint64_t time;     /* CLOCK_MONOTONIC, ns */
	uint64_t sessions; /* who wants it, a bit each */
	uint32_t pid, tid; /* of the current task; thread group and thread */
	uint16_t hook, cpu;
	uint16_t bytes;  /* of payload, a multiple of 8 */
	uint16_t frames; /* behind the payload, innermost first, kernel before user */
	uint32_t flags;  /* enum kbpf_flags */
	uint32_t kernel_frames;
};

/* Written by the collector at any time, read by every program first. */
struct kbpf_config {
	uint64_t filtered;                 /* sessions that see only the processes in kbpf_pids */
	uint64_t follow;                   /* of which those that see their children too */
	uint64_t confined;                 /* of which those that see what belongs to their user, by kbpf_uids */
	uint32_t own_pid;                  /* the collector: never recorded */
	uint32_t unwind;                   /* user stacks are copied; else frame pointers are followed */
	uint64_t sessions[KBPF_HOOKS_MAX]; /* that want the hook */
	uint64_t stacks[KBPF_HOOKS_MAX];   /* that want a stack with it */
	uint64_t counted[KBPF_HOOKS_MAX];  /* that want the counters with it */
	uint32_t counters;                 /* how many there are */
	int32_t preempt_from_rq; /* x86: from a processor's run queue to what says whether it is interrupted; 0: unknown */
};

/* A scratch slot: a record under construction. */
struct kbpf_scratch {
	struct kbpf_record head;
	uint8_t body[KBPF_PAYLOAD_MAX + KBPF_COUNTERS_MAX * 8 + 2 * KBPF_STACK_FRAMES * 8];
};

/* What finds the callers of a user stack. Stacks that were sent are known by a number made of their
 * content, and not sent again: who waits in a loop has the same stack every time. */
struct kbpf_user_stack {
	uint64_t id;
	uint64_t regs[KBPF_REGS];
	uint32_t bytes, reserved; /* of the copy, which begins at the stack pointer */
	uint8_t stack[KBPF_COPY_MAX];
};
struct kbpf_user_scratch {
	struct kbpf_record head;
	struct kbpf_user_stack user;
	uint8_t beyond[KBPF_COPY_MAX]; /* never written; the verifier adds up what cannot come together */
	uint64_t raw[KBPF_REGS + 8];   /* registers as the kernel keeps them; not sent */
};
#define KBPF_USER_STACKS_MAX 16384u

#define KBPF_PIDS_MAX 16384u
#define KBPF_UIDS_MAX 64u

/* ---- system calls about files, memory and descriptors ------------------------------------------ */

#define KBPF_CALLS_MAX 1024u
#define KBPF_NO_ARG    0xFFu

enum kbpf_call_kind {
	KBPF_CALL_NONE,
	KBPF_CALL_OPEN,        /* path, flags: result is a descriptor */
	KBPF_CALL_CLOSE,       /* dir = its descriptor */
	KBPF_CALL_CLOSE_RANGE, /* arguments 0 to 1, unless 2 says otherwise */
	KBPF_CALL_FILE,        /* dir = the descriptor it works on */
	KBPF_CALL_PATH,        /* one or two paths */
	KBPF_CALL_HANDLE,      /* only: result is a descriptor, of type `info` */
	KBPF_CALL_PAIR,        /* only: two descriptors at argument `path` */
	KBPF_CALL_MMAP,
	KBPF_CALL_MUNMAP,
	KBPF_CALL_BRK,
	KBPF_CALL_MREMAP,
	KBPF_CALL_MPROTECT,
	KBPF_CALL_MADVISE,
	KBPF_CALL_MSYNC,
};
enum kbpf_call_flags {
	KBPF_CALL_OFFSET = 1u << 0,    /* argument 3 is the offset; else the file's */
	KBPF_CALL_VECTOR = 1u << 1,    /* arguments 1, 2 are a vector and its count */
	KBPF_CALL_HOW = 1u << 2,       /* flags are the first word of a structure (openat2) */
	KBPF_CALL_CREATES = 1u << 3,   /* flags are O_WRONLY | O_CREAT | O_TRUNC (creat) */
	KBPF_CALL_NEW_FD = 1u << 4,    /* the result is a new descriptor of the same file (dup) */
	KBPF_CALL_SECOND = 1u << 5,    /* also a write to the descriptor in argument dir2; arguments path, path2
					 point to offsets, or are zero: then the files' */
	KBPF_CALL_NULL_PATH = 1u << 6, /* without a path it is about the descriptor itself */
	KBPF_CALL_DIRECTORY = 1u << 7, /* of mkdir, rmdir */
	KBPF_CALL_RWF = 1u << 8,       /* argument 5 has RWF_* flags */
};
/* What a system call is; the collector fills a table of these by number. Arguments by index. */
struct kbpf_call {
	uint8_t kind;
	uint16_t flags;
	uint8_t dir, path, dir2, path2; /* KBPF_NO_ARG: none */
	uint8_t size;                   /* argument with the size, or flags of an open or rename */
	uint8_t info;                   /* information class; handle type */
	uint16_t hook;
	uint16_t reserved[3];
};

/* Numbers of kbpf_file that are no system calls, but opcodes of io_uring. */
#define KBPF_URING 0x10000u

#define KBPF_TEXT_MAX 1024u /* of each of the four */
#define KBPF_HALF_MAX 2048u /* of a path and its directory, when there is no second */
#define KBPF_PATH_MAX 4096u /* of a text that is the only one */

enum kbpf_file_flags {
	KBPF_FILE_OF_DEVICE = 1u << 0, /* the path begins at the root of the file system `device` */
	KBPF_FILE_IS_DIRECTORY = 1u << 1,
	KBPF_FILE_LAST = 1u << 2, /* nobody else has it open */
	KBPF_FILE_SECOND = 1u << 3,
};
/* Texts lie behind it in this order, with these lengths: the first path as the caller wrote it, the
 * directory it begins in; the same for the second. Directories, and paths of open files, are names
 * from the last to the first, each terminated. */
struct kbpf_file {
	uint64_t irp;    /* of this operation: thread << 32 | number */
	uint64_t object; /* the kernel's open file; 0 none */
	uint64_t inode;
	uint32_t device, generation;
	uint64_t offset, size;
	int64_t result; /* of what is recorded when it is over */
	uint32_t open_flags;
	uint32_t number; /* the system call */
	uint32_t flags;  /* enum kbpf_file_flags */
	uint32_t mode;
	uint16_t text[4];
};
struct kbpf_file_end {
	uint64_t irp;
	int64_t result;
};
struct kbpf_memory {
	uint64_t address, bytes, flags; /* flags: MEM_* of Windows; protection of a view */
	uint64_t inode, offset;
	uint32_t device, generation;
};
struct kbpf_handle {
	uint64_t object; /* the kernel's open file */
	uint32_t fd, type;
};
enum kbpf_disk_op { KBPF_DISK_READ, KBPF_DISK_WRITE, KBPF_DISK_FLUSH, KBPF_DISK_OTHER };
struct kbpf_disk {
	uint64_t irp;
	uint64_t sector;
	uint64_t started; /* when the device got it, or when it was asked for */
	uint64_t inode;
	uint32_t device, generation; /* of the file's file system */
	uint32_t disk;               /* major << 20 | minor */
	uint32_t bytes;
	uint32_t op, op_flags;
	uint32_t tid, ioprio;
	int32_t error;
	uint32_t reserved;
};
enum kbpf_fault_area { KBPF_FAULT_UNKNOWN, KBPF_FAULT_NOWHERE, KBPF_FAULT_ANONYMOUS, KBPF_FAULT_OF_FILE };
struct kbpf_fault {
	uint64_t address, ip;
	uint64_t error_code; /* x86's: 1 present, 2 write, 4 user, 16 fetch */
	uint64_t area;       /* enum kbpf_fault_area */
	/* hard ones */
	uint64_t started, inode, offset, pages;
	uint32_t device, generation;
};

/* ---- maps -------------------------------------------------------------------------------------- */

/* What all programs share: X(ID, name, kind, key, value, entries). The programs declare them (kbpf_core.h), the
 * collector creates them by the same list (kernel_bpf.c) and hands them to each object by name.
 *
 *	pids, uids     by thread group, or by user without rights: the sessions that watch what belongs to it
 *	drops          by hook: records of this processor that found no room
 *	user_stacks    user stacks that the collector has, by id
 *	counters       by processor and number: counters that perf keeps. The collector makes so many for each processor
 */
#define KBPF_MAPS(X)                                                                                         \
	X(CONFIG, kbpf_config, ARRAY, uint32_t, struct kbpf_config, 1)                                       \
	X(PIDS, kbpf_pids, HASH, uint32_t, uint64_t, KBPF_PIDS_MAX)                                          \
	X(UIDS, kbpf_uids, HASH, uint32_t, uint64_t, KBPF_UIDS_MAX)                                          \
	X(DROPS, kbpf_drops, PERCPU_ARRAY, uint32_t, uint64_t, KBPF_HOOKS_MAX)                               \
	X(SCRATCH, kbpf_scratch, PERCPU_ARRAY, uint32_t, struct kbpf_scratch, KBPF_SLOTS_MAX)                \
	X(USER_SCRATCH, kbpf_user_scratch, PERCPU_ARRAY, uint32_t, struct kbpf_user_scratch, KBPF_SLOTS_MAX) \
	X(USER_STACKS, kbpf_user_stacks, LRU_HASH, uint64_t, uint8_t, KBPF_USER_STACKS_MAX)                  \
	X(COUNTERS, kbpf_counters, PERF_EVENT_ARRAY, uint32_t, uint32_t, KBPF_COUNTERS_MAX)
/* By processor: rings. It is an array of maps, so it stands in no list of the others. */
#define KBPF_RINGS kbpf_rings

#endif
