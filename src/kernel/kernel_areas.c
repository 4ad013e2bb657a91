/* SPDX-License-Identifier: MIT
 * The table of programs: whose records they make, and who shapes those.
 */
#include "kernel/kernel_bpf.h"

#include <linux/perf_event.h>

#ifdef OPENETW_BPF
#define OBJECT(name)                            \
	extern const char kbpf_object_##name[]; \
	extern const size_t kbpf_object_##name##_bytes
OBJECT(syscall);
OBJECT(net);
OBJECT(irq);
OBJECT(call);
OBJECT(ends);
OBJECT(uring);
OBJECT(block);
OBJECT(fault);
OBJECT(sched);
OBJECT(process);
OBJECT(heap);
#define EMBEDDED(name) .object = kbpf_object_##name, .object_bytes = &kbpf_object_##name##_bytes
#else
#define EMBEDDED(name) .object = NULL
#endif

enum {
	AREA_SYSCALL,
	AREA_NET,
	AREA_IRQ,
	AREA_FILE,
	AREA_DISK,
	AREA_FAULT,
	AREA_SCHED,
	AREA_PROCESS,
	AREA_HEAP,
	AREA_ENDS,
	AREA_URING
};

const struct kernel_area kernel_areas[] = {
	[AREA_SYSCALL] = {"syscall", EMBEDDED(syscall), .create = kernel_syscall_create,
			  .destroy = kernel_syscall_destroy, .shape = kernel_syscall_shape},
	[AREA_NET] = {"net", EMBEDDED(net), .shape = kernel_net_shape},
	[AREA_IRQ] = {"irq", EMBEDDED(irq), .create = kernel_irq_create, .destroy = kernel_irq_destroy,
		      .shape = kernel_irq_shape},
	[AREA_FILE] = {"call", EMBEDDED(call), .loaded = kernel_calls_loaded, .create = kernel_file_create,
		       .destroy = kernel_file_destroy, .rundown = kernel_views_rundown, .shape = kernel_file_shape},
	/* Their records are AREA_FILE's. */
	[AREA_ENDS] = {"ends", EMBEDDED(ends)},
	[AREA_URING] = {"uring", EMBEDDED(uring)},
	[AREA_DISK] = {"block", EMBEDDED(block), .loaded = kernel_calls_loaded, .create = kernel_disk_create,
		       .destroy = kernel_disk_destroy, .shape = kernel_disk_shape},
	[AREA_SCHED] = {"sched", EMBEDDED(sched), .loaded = kernel_sched_loaded, .shape = kernel_sched_shape},
	[AREA_FAULT] = {"fault", EMBEDDED(fault), .create = kernel_fault_create, .shape = kernel_fault_shape},
	[AREA_HEAP] = {"heap", EMBEDDED(heap), .shape = kernel_heap_shape},
	[AREA_PROCESS] = {"process", EMBEDDED(process), .shape = kernel_process_shape}};
const unsigned kernel_area_count = BASE_ARRAY_LEN(kernel_areas);

#define HOOK(h) ((h) + 1)
#define CALLS                                                                                                        \
	{                                                                                                            \
		HOOK(KBPF_FILE_CREATE), HOOK(KBPF_FILE_CLOSE), HOOK(KBPF_FILE_READ), HOOK(KBPF_FILE_WRITE),          \
			HOOK(KBPF_FILE_FLUSH), HOOK(KBPF_FILE_SET_INFO), HOOK(KBPF_FILE_QUERY_INFO),                 \
			HOOK(KBPF_FILE_DELETE), HOOK(KBPF_FILE_RENAME), HOOK(KBPF_FILE_LINK),                        \
			HOOK(KBPF_FILE_DIR_ENUM), HOOK(KBPF_FILE_DIR_NOTIFY), HOOK(KBPF_FILE_CONTROL),               \
			HOOK(KBPF_FILE_END), HOOK(KBPF_VIRTUAL_ALLOC), HOOK(KBPF_VIRTUAL_FREE), HOOK(KBPF_MAP_FILE), \
			HOOK(KBPF_UNMAP_FILE), HOOK(KBPF_HANDLE_CREATE), HOOK(KBPF_HANDLE_CLOSE)                     \
	}
#define URING_CALLS                                                                                           \
	{                                                                                                     \
		HOOK(KBPF_FILE_READ), HOOK(KBPF_FILE_WRITE), HOOK(KBPF_FILE_FLUSH), HOOK(KBPF_FILE_SET_INFO), \
			HOOK(KBPF_FILE_CLOSE), HOOK(KBPF_HANDLE_CLOSE), HOOK(KBPF_FILE_CREATE),               \
			HOOK(KBPF_HANDLE_CREATE), HOOK(KBPF_FILE_DELETE), HOOK(KBPF_FILE_RENAME),             \
			HOOK(KBPF_FILE_LINK), HOOK(KBPF_FILE_QUERY_INFO)                                      \
	}
#define HEAP_ALLOC                                                                   \
	{                                                                            \
		HOOK(KBPF_HEAP_ALLOC), HOOK(KBPF_HEAP_REALLOC), HOOK(KBPF_HEAP_FREE) \
	}
const struct kernel_program kernel_programs[] = {
	{"kbpf_sys_enter", AREA_SYSCALL, "entries of system calls", {HOOK(KBPF_SYS_ENTER)}},
	{"kbpf_sys_exit", AREA_SYSCALL, "exits of system calls", {HOOK(KBPF_SYS_EXIT)}},
	{"kbpf_fork", AREA_SYSCALL, "children of watched processes", .family = true},
	{"kbpf_free", AREA_SYSCALL, "ends of watched processes", .family = true},
	{"kbpf_net_send", AREA_NET, "bytes sent", {HOOK(KBPF_TCP_SEND), HOOK(KBPF_UDP_SEND)}},
	{"kbpf_net_recv", AREA_NET, "bytes received", {HOOK(KBPF_TCP_RECV), HOOK(KBPF_UDP_RECV)}},
	{"kbpf_net_calls",
	 AREA_NET,
	 "bytes of calls",
	 {HOOK(KBPF_TCP_SEND), HOOK(KBPF_UDP_SEND), HOOK(KBPF_TCP_RECV), HOOK(KBPF_UDP_RECV)},
	 .instead = "kbpf_net_send"},
	{"kbpf_net_enter", AREA_NET, "addresses of datagrams received", {HOOK(KBPF_UDP_RECV)}, .adds = true},
	{"kbpf_net_ready", AREA_NET, "addresses of datagrams waited for", {HOOK(KBPF_UDP_RECV)}, .adds = true},
	{"kbpf_net_queue", AREA_NET, "own addresses of datagrams sent", {HOOK(KBPF_UDP_SEND)}, .adds = true},
	{"kbpf_net_state",
	 AREA_NET,
	 "connections",
	 {HOOK(KBPF_TCP_CONNECT), HOOK(KBPF_TCP_DISCONNECT), HOOK(KBPF_TCP_FAIL)}},
	{"kbpf_net_retransmit", AREA_NET, "retransmissions", {HOOK(KBPF_TCP_RETRANSMIT), HOOK(KBPF_TCP_RECONNECT)}},
	{"kbpf_net_exit",
	 AREA_NET,
	 "accepted connections",
	 {HOOK(KBPF_TCP_ACCEPT), HOOK(KBPF_UDP_RECV), HOOK(KBPF_UDP_SEND), HOOK(KBPF_TCP_FAIL)}},
	{"kbpf_irq_entry", AREA_IRQ, "interrupts", {HOOK(KBPF_ISR)}},
	{"kbpf_irq_exit", AREA_IRQ, "interrupts", {HOOK(KBPF_ISR)}},
	{"kbpf_softirq_entry", AREA_IRQ, "softirqs", {HOOK(KBPF_SOFTIRQ)}},
	{"kbpf_softirq_exit", AREA_IRQ, "softirqs", {HOOK(KBPF_SOFTIRQ)}},
	{"kbpf_tasklet_entry", AREA_IRQ, "tasklets", {HOOK(KBPF_TASKLET)}},
	{"kbpf_tasklet_exit", AREA_IRQ, "tasklets", {HOOK(KBPF_TASKLET)}},
	{"kbpf_work_start", AREA_IRQ, "work queues", {HOOK(KBPF_WORK)}},
	{"kbpf_work_end", AREA_IRQ, "work queues", {HOOK(KBPF_WORK)}},
#if defined(__x86_64__)
	{"kbpf_local_timer_entry", AREA_IRQ, "the processors' timers", {HOOK(KBPF_VECTOR)}},
	{"kbpf_local_timer_exit", AREA_IRQ, "the processors' timers", {HOOK(KBPF_VECTOR)}},
	{"kbpf_reschedule_entry", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_reschedule_exit", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_call_function_entry", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_call_function_exit", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_call_function_single_entry", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_call_function_single_exit", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_irq_work_entry", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
	{"kbpf_irq_work_exit", AREA_IRQ, "interrupts between processors", {HOOK(KBPF_VECTOR)}},
#endif
	{"kbpf_malloc", AREA_HEAP, "allocations", HEAP_ALLOC, .symbol = "malloc"},
	{"kbpf_heap_return", AREA_HEAP, "allocations", HEAP_ALLOC, .symbol = "malloc", .at_return = true},
	{"kbpf_calloc", AREA_HEAP, "allocations", HEAP_ALLOC, .symbol = "calloc"},
	{"kbpf_heap_return", AREA_HEAP, "allocations", HEAP_ALLOC, .symbol = "calloc", .at_return = true},
	{"kbpf_realloc", AREA_HEAP, "reallocations", HEAP_ALLOC, .symbol = "realloc"},
	{"kbpf_heap_return", AREA_HEAP, "reallocations", HEAP_ALLOC, .symbol = "realloc", .at_return = true},
	{"kbpf_memalign", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "memalign", .optional = true},
	{"kbpf_heap_return", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "memalign", .at_return = true,
	 .optional = true},
	{"kbpf_memalign", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "aligned_alloc", .optional = true},
	{"kbpf_heap_return", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "aligned_alloc", .at_return = true,
	 .optional = true},
	{"kbpf_posix_memalign", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "posix_memalign",
	 .optional = true},
	{"kbpf_posix_memalign_return", AREA_HEAP, "aligned allocations", HEAP_ALLOC, .symbol = "posix_memalign",
	 .at_return = true, .optional = true},
	{"kbpf_heap_free", AREA_HEAP, "freed memory", {HOOK(KBPF_HEAP_FREE)}, .symbol = "free"},
	{"kbpf_exec", AREA_PROCESS, "arguments of programs", {HOOK(KBPF_EXEC)}},
	{"kbpf_munmap", AREA_PROCESS, "libraries let go of", {HOOK(KBPF_UNLOAD)}},
	{"kbpf_munmap_pages",
	 AREA_PROCESS,
	 "libraries let go of that were used",
	 {HOOK(KBPF_UNLOAD)},
	 .instead = "kbpf_munmap"},
	{"kbpf_unload",
	 AREA_PROCESS,
	 "libraries let go of by dlclose",
	 {HOOK(KBPF_UNLOAD)},
	 .symbol = "dlclose",
	 .at_return = true,
	 .optional = true,
	 .everywhere = true,
	 .instead = "kbpf_munmap"},
	{"kbpf_exit", AREA_PROCESS, "ends of processes", {HOOK(KBPF_EXIT)}},
	{"kbpf_cpu_idle", AREA_IRQ, "idle states", {HOOK(KBPF_IDLE)}},
	{"kbpf_cpu_frequency", AREA_IRQ, "frequencies", {HOOK(KBPF_FREQUENCY)}},
	{"kbpf_call_enter", AREA_FILE, "operations on files, memory and handles", CALLS},
	{"kbpf_call_exit", AREA_FILE, "ends of operations on files, memory and handles", CALLS},
	{"kbpf_exit_files",
	 AREA_ENDS,
	 "files closed by the end of a process",
	 {HOOK(KBPF_FILE_CLOSE), HOOK(KBPF_HANDLE_CLOSE)},
	 .adds = true},
	{"kbpf_fork_files",
	 AREA_ENDS,
	 "files that children have from their parents",
	 {HOOK(KBPF_FILE_CLOSE)},
	 .adds = true},
	{"kbpf_exec_files",
	 AREA_ENDS,
	 "files closed by exec",
	 {HOOK(KBPF_FILE_CLOSE), HOOK(KBPF_HANDLE_CLOSE)},
	 .adds = true},
	{"kbpf_uring_submit", AREA_URING, "operations of io_uring", URING_CALLS, .adds = true},
	{"kbpf_uring_path", AREA_URING, "operations of io_uring on paths", URING_CALLS, .adds = true},
	{"kbpf_uring_done", AREA_URING, "ends of operations of io_uring", URING_CALLS, .adds = true},
	{"kbpf_block_start",
	 AREA_DISK,
	 "requests to disks, in the thread that makes them",
	 {HOOK(KBPF_DISK_INIT), HOOK(KBPF_DISK_DONE)}},
	{"kbpf_block_issue", AREA_DISK, "requests to disks", {HOOK(KBPF_DISK_INIT), HOOK(KBPF_DISK_DONE)}},
	{"kbpf_block_done", AREA_DISK, "what disks have done", {HOOK(KBPF_DISK_DONE), HOOK(KBPF_DISK_INIT)}},
	{"kbpf_sched_switch", AREA_SCHED, "context switches", {HOOK(KBPF_SWITCH)}},
	{"kbpf_sched_waking", AREA_SCHED, "who wakes whom", {HOOK(KBPF_WAKING)}},
	{"kbpf_hrtimer_entry", AREA_SCHED, "which wake-ups are timers'", {HOOK(KBPF_WAKING)}, .adds = true},
	{"kbpf_hrtimer_exit", AREA_SCHED, "which wake-ups are timers'", {HOOK(KBPF_WAKING)}, .adds = true},
	{"kbpf_timer_entry", AREA_SCHED, "which wake-ups are timers'", {HOOK(KBPF_WAKING)}, .adds = true},
	{"kbpf_timer_exit", AREA_SCHED, "which wake-ups are timers'", {HOOK(KBPF_WAKING)}, .adds = true},
	{"kbpf_fault_user", AREA_FAULT, "page faults", {HOOK(KBPF_FAULT_SOFT), HOOK(KBPF_FAULT_HARD)}},
	{"kbpf_fault_kernel",
	 AREA_FAULT,
	 "page faults in the kernel",
	 {HOOK(KBPF_FAULT_SOFT), HOOK(KBPF_FAULT_HARD)},
	 .disturbs_itself = true},
	{"kbpf_fault_file", AREA_FAULT, "files of hard page faults", {HOOK(KBPF_FAULT_HARD)}},
	{"kbpf_fault_read", AREA_FAULT, "sizes of hard page faults", {HOOK(KBPF_FAULT_HARD)}, .adds = true},
	{"kbpf_fault_major",
	 AREA_FAULT,
	 "hard page faults",
	 {HOOK(KBPF_FAULT_HARD)},
	 .perf_event = PERF_COUNT_SW_PAGE_FAULTS_MAJ + 1}};
const unsigned kernel_program_count = BASE_ARRAY_LEN(kernel_programs);

static const char *const hook_names[KBPF_HOOKS_MAX] = {[KBPF_SYS_ENTER] = "SysCallEnter",
						       [KBPF_SYS_EXIT] = "SysCallExit",
						       [KBPF_TCP_SEND] = "TcpIp/Send",
						       [KBPF_TCP_RECV] = "TcpIp/Recv",
						       [KBPF_TCP_CONNECT] = "TcpIp/Connect",
						       [KBPF_TCP_ACCEPT] = "TcpIp/Accept",
						       [KBPF_TCP_DISCONNECT] = "TcpIp/Disconnect",
						       [KBPF_TCP_RETRANSMIT] = "TcpIp/Retransmit",
						       [KBPF_TCP_RECONNECT] = "TcpIp/Reconnect",
						       [KBPF_TCP_FAIL] = "TcpIp/Fail",
						       [KBPF_UDP_SEND] = "UdpIp/Send",
						       [KBPF_UDP_RECV] = "UdpIp/Recv",
						       [KBPF_ISR] = "PerfInfo/ISR",
						       [KBPF_VECTOR] = "PerfInfo/ISR",
						       [KBPF_SOFTIRQ] = "PerfInfo/DPC",
						       [KBPF_TASKLET] = "PerfInfo/DPC",
						       [KBPF_WORK] = "PerfInfo/ThreadedDPC",
						       [KBPF_HEAP_ALLOC] = "Heap/Alloc",
						       [KBPF_HEAP_REALLOC] = "Heap/ReAlloc",
						       [KBPF_HEAP_FREE] = "Heap/Free",
						       [KBPF_EXEC] = "Process/Start",
						       [KBPF_EXIT] = "Process/End",
						       [KBPF_UNLOAD] = "Image/UnLoad",
						       [KBPF_IDLE] = "Power/IdleState",
						       [KBPF_FREQUENCY] = "Power/PerfStateChange",
						       [KBPF_SWITCH] = "Thread/CSwitch",
						       [KBPF_WAKING] = "Thread/ReadyThread",
						       [KBPF_FILE_NAME] = "names of files",
						       [KBPF_FILE_CREATE] = "FileIo/Create",
						       [KBPF_FILE_CLOSE] = "FileIo/Close",
						       [KBPF_FILE_READ] = "FileIo/Read",
						       [KBPF_FILE_WRITE] = "FileIo/Write",
						       [KBPF_FILE_FLUSH] = "FileIo/Flush",
						       [KBPF_FILE_SET_INFO] = "FileIo/SetInfo",
						       [KBPF_FILE_QUERY_INFO] = "FileIo/QueryInfo",
						       [KBPF_FILE_DELETE] = "FileIo/Delete",
						       [KBPF_FILE_RENAME] = "FileIo/Rename",
						       [KBPF_FILE_LINK] = "FileIo/SetLinkPath",
						       [KBPF_FILE_DIR_ENUM] = "FileIo/DirEnum",
						       [KBPF_FILE_DIR_NOTIFY] = "FileIo/DirNotify",
						       [KBPF_FILE_CONTROL] = "FileIo/FSControl",
						       [KBPF_FILE_END] = "FileIo/OperationEnd",
						       [KBPF_VIRTUAL_ALLOC] = "PageFault/VirtualAlloc",
						       [KBPF_VIRTUAL_FREE] = "PageFault/VirtualFree",
						       [KBPF_MAP_FILE] = "FileIo/MapFile",
						       [KBPF_UNMAP_FILE] = "FileIo/UnmapFile",
						       [KBPF_HANDLE_CREATE] = "Object/CreateHandle",
						       [KBPF_HANDLE_CLOSE] = "Object/CloseHandle",
						       [KBPF_DISK_INIT] = "DiskIo/ReadInit, WriteInit, FlushInit",
						       [KBPF_DISK_DONE] = "DiskIo/Read, Write, FlushBuffers",
						       [KBPF_FAULT_SOFT] = "PageFault",
						       [KBPF_FAULT_HARD] = "PageFault/HardFault"};

const char *kernel_hook_name(unsigned hook)
{
	return hook < KBPF_HOOKS_MAX ? hook_names[hook] : NULL;
}

const struct kernel_area *kernel_area_of(unsigned hook, unsigned *ret_index)
{
	if (hook == KBPF_FILE_NAME) { /* whoever it was that came across the file */
		*ret_index = AREA_FILE;
		return &kernel_areas[AREA_FILE];
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		for (const uint16_t *h = kernel_programs[i].hooks; *h; h++) {
			if (*h == HOOK(hook)) {
				*ret_index = kernel_programs[i].area;
				return &kernel_areas[*ret_index];
			}
		}
	}
	return NULL;
}
