/* SPDX-License-Identifier: MIT
 *
 * What 'openetw record' records of the kernel, by the names of its options.
 */
#ifndef TOOLS_OPENETW_RECORDING_H
#define TOOLS_OPENETW_RECORDING_H

#include "tools/common/cli.h"
#include "kernel/kernel.h"

/* What 'openetw record' and its like are asked for. */
enum cli_kernel_source {
	KERNEL_CPU = 1u << 0,        /* SampledProfile */
	KERNEL_CSWITCH = 1u << 1,    /* CSwitch and ReadyThread */
	KERNEL_PROCESS = 1u << 2,    /* processes, threads and images; always on */
	KERNEL_SYSCALL = 1u << 3,    /* SysCallEnter and SysCallExit */
	KERNEL_DISK = 1u << 4,       /* DiskIo, with the files' names */
	KERNEL_FILE = 1u << 5,       /* FileIo */
	KERNEL_FAULT = 1u << 6,      /* PageFault, soft and hard */
	KERNEL_VIRTUAL = 1u << 7,    /* VirtualAlloc and VirtualFree, MapFile and UnmapFile */
	KERNEL_HANDLE = 1u << 8,     /* Object: descriptors created and closed */
	KERNEL_NET = 1u << 9,        /* TcpIp and UdpIp */
	KERNEL_INTERRUPT = 1u << 10, /* ISR and DPC */
	KERNEL_POWER = 1u << 11,     /* processors' idle states and frequencies */
	KERNEL_MEMINFO = 1u << 12,   /* the machine's memory and the processes', every half second */
	KERNEL_HEAP = 1u << 14,      /* malloc() and its family in chosen processes */
	KERNEL_COUNTERS = 1u << 13,  /* of processes, when they end */
};
/* Masks, and with `stacks` the hooks of those whose callers are worth knowing. */
void cli_kernel_wants(struct kernel_session *s, uint32_t sources, bool stacks);

#endif
