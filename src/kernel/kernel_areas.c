/* SPDX-License-Identifier: MIT
 * The table of programs: whose records they make, and who shapes those.
 */
#include "kernel/kernel_bpf.h"

#ifdef OPENETW_BPF
#define OBJECT(name)                                                                               \
	extern const char kbpf_object_##name[];                                                    \
	extern const size_t kbpf_object_##name##_bytes
OBJECT(syscall);
OBJECT(net);
OBJECT(irq);
OBJECT(process);
#define EMBEDDED(name) .object = kbpf_object_##name, .object_bytes = &kbpf_object_##name##_bytes
#else
#define EMBEDDED(name) .object = NULL
#endif

enum { AREA_SYSCALL, AREA_NET, AREA_IRQ, AREA_PROCESS };

const struct kernel_area kernel_areas[] = {
	[AREA_SYSCALL] = {"syscall", EMBEDDED(syscall), .create = kernel_syscall_create,
			  .destroy = kernel_syscall_destroy, .shape = kernel_syscall_shape},
	[AREA_NET] = {"net", EMBEDDED(net), .shape = kernel_net_shape},
	[AREA_IRQ] = {"irq", EMBEDDED(irq), .create = kernel_irq_create, .destroy = kernel_irq_destroy,
		      .shape = kernel_irq_shape},
	[AREA_PROCESS] = {"process", EMBEDDED(process), .shape = kernel_process_shape},
};
const unsigned kernel_area_count = BASE_ARRAY_LEN(kernel_areas);

#define HOOK(h) ((h) + 1)
const struct kernel_program kernel_programs[] = {
	{"kbpf_sys_enter", AREA_SYSCALL, "entries of system calls", {HOOK(KBPF_SYS_ENTER)}},
	{"kbpf_sys_exit", AREA_SYSCALL, "exits of system calls", {HOOK(KBPF_SYS_EXIT)}},
	{"kbpf_fork", AREA_SYSCALL, "children of watched processes", .family = true},
	{"kbpf_free", AREA_SYSCALL, "ends of watched processes", .family = true},
	{"kbpf_net_send", AREA_NET, "bytes sent", {HOOK(KBPF_TCP_SEND), HOOK(KBPF_UDP_SEND)}},
	{"kbpf_net_recv", AREA_NET, "bytes received", {HOOK(KBPF_TCP_RECV), HOOK(KBPF_UDP_RECV)}},
	{"kbpf_net_state", AREA_NET, "connections", {HOOK(KBPF_TCP_CONNECT), HOOK(KBPF_TCP_DISCONNECT),
						     HOOK(KBPF_TCP_FAIL)}},
	{"kbpf_net_retransmit", AREA_NET, "retransmissions", {HOOK(KBPF_TCP_RETRANSMIT),
							      HOOK(KBPF_TCP_RECONNECT)}},
	{"kbpf_net_exit", AREA_NET, "accepted connections", {HOOK(KBPF_TCP_ACCEPT), HOOK(KBPF_UDP_RECV),
							     HOOK(KBPF_UDP_SEND), HOOK(KBPF_TCP_FAIL)}},
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
	{"kbpf_exec", AREA_PROCESS, "arguments of programs", {HOOK(KBPF_EXEC)}},
	{"kbpf_exit", AREA_PROCESS, "ends of processes", {HOOK(KBPF_EXIT)}},
	{"kbpf_cpu_idle", AREA_IRQ, "idle states", {HOOK(KBPF_IDLE)}},
	{"kbpf_cpu_frequency", AREA_IRQ, "frequencies", {HOOK(KBPF_FREQUENCY)}},
};
const unsigned kernel_program_count = BASE_ARRAY_LEN(kernel_programs);

static const char *const hook_names[KBPF_HOOKS_MAX] = {
	[KBPF_SYS_ENTER] = "SysCallEnter",
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
	[KBPF_EXEC] = "Process/Start",
	[KBPF_EXIT] = "Process/End",
	[KBPF_IDLE] = "Power/IdleState",
	[KBPF_FREQUENCY] = "Power/PerfStateChange",
};

const char *kernel_hook_name(unsigned hook)
{
	return hook < KBPF_HOOKS_MAX ? hook_names[hook] : NULL;
}

const struct kernel_area *kernel_area_of(unsigned hook, unsigned *ret_index)
{
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
