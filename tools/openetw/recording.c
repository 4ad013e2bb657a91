/* SPDX-License-Identifier: MIT */
#include "tools/openetw/recording.h"

static const struct {
	uint32_t source, bits;
	uint16_t stack[14];
} wants[] = {
	{KERNEL_CPU, KERNEL_BIT_PROFILE, {0x0F2E}},
	{KERNEL_CSWITCH, KERNEL_BIT_CSWITCH | KERNEL_BIT_DISPATCHER, {0x0524}},
	{KERNEL_SYSCALL, KERNEL_BIT_SYSCALL, {0x0F33}},
	{KERNEL_DISK, KERNEL_BIT_DISK_IO | KERNEL_BIT_DISK_IO_INIT | KERNEL_BIT_FILENAME, {0x010C, 0x010D, 0x010F}},
	{KERNEL_FILE,
	 KERNEL_BIT_FILE_IO | KERNEL_BIT_FILE_IO_INIT | KERNEL_BIT_FILENAME,
	 {0x0440, 0x0443, 0x0444, 0x0446, 0x0447, 0x0449}},
	{KERNEL_FAULT, KERNEL_BIT_ALL_FAULTS | KERNEL_BIT_HARD_FAULTS, {0x0220, 0x020A, 0x020B, 0x020C}},
	{KERNEL_VIRTUAL, KERNEL_BIT_VIRT_ALLOC, {0x0262, 0x0263}},
	{KERNEL_VIRTUAL, KERNEL_BIT_VAMAP, {0}},
	{KERNEL_HANDLE, (uint32_t)KERNEL_BIT_OB_HANDLE, {0x1120, 0x1121}},
	/* Of a connect that which asked for it: the answer comes in whatever context. */
	{KERNEL_NET,
	 KERNEL_BIT_NETWORK,
	 {0x060A, 0x061A, 0x060B, 0x061B, 0x060C, 0x061C, 0x060D, 0x061D, 0x060F, 0x061F, 0x080A, 0x081A, 0x080B,
	  0x081B}},
	{KERNEL_INTERRUPT, KERNEL_BIT_DPC | KERNEL_BIT_INTERRUPT, {0}},
	{KERNEL_POWER, KERNEL_BIT_PROCESSOR_IDLE, {0}},
	{KERNEL_POWER, (uint32_t)KERNEL_BIT_POWER, {0}},
	{KERNEL_MEMINFO, KERNEL_BIT_MEMINFO | KERNEL_BIT_MEMINFO_WS, {0}},
	{KERNEL_HEAP, KERNEL_BIT_HEAP, {0x1021, 0x1022}},
	{KERNEL_COUNTERS, KERNEL_BIT_PERF_COUNTER, {0}},
};

void cli_kernel_wants(struct kernel_session *s, uint32_t sources, bool stacks)
{
	kernel_mask_set(&s->mask, KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER);
	for (size_t i = 0; i < BASE_ARRAY_LEN(wants); i++) {
		if (!(sources & wants[i].source)) {
			continue;
		}
		kernel_mask_set(&s->mask, wants[i].bits);
		for (size_t n = 0; stacks && n < BASE_ARRAY_LEN(wants[i].stack) && wants[i].stack[n]; n++) {
			kernel_session_stack(s, wants[i].stack[n]);
		}
	}
}
