/* SPDX-License-Identifier: MIT
 * Hooks: which bits bring them, their class GUIDs, their names for stack walks, and the system
 * providers.
 */
#include "format/kernel_mask.h"

#include "etw/values/guids.h"
#include "format/kernel_class.h"

#include <strings.h>

/* Only what this machine can have. Group masks, rundown marks and stacks need no bit. */
static const struct kernel_hook_range range[] = {{0x0301, 0x0304, KERNEL_BIT_PROCESS},
						 {0x030B, 0x030B, KERNEL_BIT_PROCESS},
						 {0x0327, 0x0327, KERNEL_BIT_PROCESS},
						 {0x0320, 0x0321, KERNEL_BIT_PERF_COUNTER},
						 {0x0501, 0x0504, KERNEL_BIT_THREAD},
						 {0x0548, 0x0548, KERNEL_BIT_THREAD},
						 {0x030A, 0x030A, KERNEL_BIT_LOADER},
						 {0x1402, 0x1404, KERNEL_BIT_LOADER},
						 {0x1421, 0x1422, KERNEL_BIT_LOADER},
						 {0x0524, 0x0524, KERNEL_BIT_CSWITCH},
						 {0x0524, 0x0524, KERNEL_BIT_COMPACT_CSWITCH},
						 {0x0532, 0x0532, KERNEL_BIT_DISPATCHER},
						 {0x0530, 0x0531, KERNEL_BIT_PRIORITY},
						 {0x0533, 0x0534, KERNEL_BIT_PRIORITY},
						 {0x0535, 0x0535, KERNEL_BIT_AFFINITY},
						 {0x0529, 0x0529, KERNEL_BIT_SPINLOCK},
						 {0x052D, 0x052F, KERNEL_BIT_SYNC_OBJECTS},
						 {0x0F2E, 0x0F2E, KERNEL_BIT_PROFILE},
						 {0x0F48, 0x0F4A, KERNEL_BIT_PROFILE},
						 {0x0F48, 0x0F4A, KERNEL_BIT_PMC_PROFILE},
						 {0x0F2F, 0x0F30, KERNEL_BIT_PMC_PROFILE},
						 {0x0F33, 0x0F34, KERNEL_BIT_SYSCALL},
						 {0x0F42, 0x0F42, KERNEL_BIT_DPC},
						 {0x0F44, 0x0F45, KERNEL_BIT_DPC},
						 {0x0F64, 0x0F65, KERNEL_BIT_DPC_QUEUE},
						 {0x0F32, 0x0F32, KERNEL_BIT_INTERRUPT},
						 {0x0F43, 0x0F43, KERNEL_BIT_INTERRUPT},
						 {0x0F5F, 0x0F5F, KERNEL_BIT_INTERRUPT},
						 {0x0F50, 0x0F55, KERNEL_BIT_TIMER},
						 {0x0F68, 0x0F6C, KERNEL_BIT_TIMER},
						 {0x0F4F, 0x0F4F, KERNEL_BIT_CLOCK_INTERRUPT},
						 {0x0F57, 0x0F5A, KERNEL_BIT_CLOCK_TIMER},
						 {0x0F5B, 0x0F5B, KERNEL_BIT_IPI},
						 {0x010A, 0x010B, KERNEL_BIT_DISK_IO},
						 {0x010E, 0x010E, KERNEL_BIT_DISK_IO},
						 {0x010C, 0x010D, KERNEL_BIT_DISK_IO_INIT},
						 {0x010F, 0x010F, KERNEL_BIT_DISK_IO_INIT},
						 {0x0400, 0x0400,
						  KERNEL_BIT_FILENAME | KERNEL_BIT_FILE_IO | KERNEL_BIT_FILE_IO_INIT |
							  KERNEL_BIT_HARD_FAULTS | KERNEL_BIT_VAMAP},
						 {0x0420, 0x0424,
						  KERNEL_BIT_FILENAME | KERNEL_BIT_FILE_IO | KERNEL_BIT_FILE_IO_INIT |
							  KERNEL_BIT_HARD_FAULTS | KERNEL_BIT_VAMAP},
						 {0x0425, 0x0428, KERNEL_BIT_VAMAP},
						 {0x0440, 0x044B, KERNEL_BIT_FILE_IO_INIT},
						 {0x044D, 0x0452, KERNEL_BIT_FILE_IO_INIT},
						 {0x044C, 0x044C, KERNEL_BIT_FILE_IO},
						 {0x020A, 0x020F, KERNEL_BIT_ALL_FAULTS},
						 {0x0220, 0x0220, KERNEL_BIT_HARD_FAULTS},
						 {0x0262, 0x0263, KERNEL_BIT_VIRT_ALLOC},
						 {0x0280, 0x0281, KERNEL_BIT_VIRT_ALLOC},
						 {0x0270, 0x0270, KERNEL_BIT_MEMINFO},
						 {0x027D, 0x027E, KERNEL_BIT_MEMINFO_WS},
						 {0x0600, 0x06FF, KERNEL_BIT_NETWORK},
						 {0x0800, 0x08FF, KERNEL_BIT_NETWORK},
						 {0x0A20, 0x0A20, KERNEL_BIT_DBGPRINT},
						 {0x0B18, 0x0B18, KERNEL_BIT_CPU_CONFIG},
						 {0x0B1A, 0x0B1B, KERNEL_BIT_CPU_CONFIG},
						 {0x1020, 0x10FF, KERNEL_BIT_HEAP},
						 {0x1120, 0x1127, (uint32_t)KERNEL_BIT_OB_HANDLE},
						 {0x1220, 0x1238, (uint32_t)KERNEL_BIT_POWER},
						 {0x1239, 0x123A, KERNEL_BIT_PROCESSOR_IDLE},
						 {0x1233, 0x1233, KERNEL_BIT_PROCESSOR_IDLE}};

const struct kernel_hook_range *kernel_hook_range_at(size_t i)
{
	return i < BASE_ARRAY_LEN(range) ? &range[i] : NULL;
}

/* ---- names for stack walks -------------------------------------------------------------------- */

/* Names inside the tables here and below: pointers would be written by the loader, in every process. */
static const struct {
	char name[22];
	uint16_t hook;
} stack[] = {{"ProcessCreate", 0x0301},
	     {"ProcessDelete", 0x0302},
	     {"ImageLoad", 0x030A},
	     {"ImageUnload", 0x1402},
	     {"ThreadCreate", 0x0501},
	     {"ThreadDelete", 0x0502},
	     {"CSwitch", 0x0524},
	     {"ReadyThread", 0x0532},
	     {"ThreadSetPriority", 0x0530},
	     {"ThreadSetBasePriority", 0x0531},
	     {"KernelQueueEnqueue", 0x053E},
	     {"KernelQueueDequeue", 0x053F},
	     {"Mark", 0x0F22},
	     {"SyscallEnter", 0x0F33},
	     {"SyscallExit", 0x0F34},
	     {"Profile", 0x0F2E},
	     {"ProfileSetInterval", 0x0F48},
	     {"PmcInterrupt", 0x0F2F},
	     {"TimerSetPeriodic", 0x0F68},
	     {"TimerSetOneShot", 0x0F69},
	     {"DiskReadInit", 0x010C},
	     {"DiskWriteInit", 0x010D},
	     {"DiskFlushInit", 0x010F},
	     {"FileCreate", 0x0440},
	     {"FileCleanup", 0x0441},
	     {"FileClose", 0x0442},
	     {"FileRead", 0x0443},
	     {"FileWrite", 0x0444},
	     {"FileSetInformation", 0x0445},
	     {"FileDelete", 0x0446},
	     {"FileRename", 0x0447},
	     {"FileDirEnum", 0x0448},
	     {"FileFlush", 0x0449},
	     {"FileQueryInformation", 0x044A},
	     {"FileFSCTL", 0x044B},
	     {"FileOpEnd", 0x044C},
	     {"FileDirNotify", 0x044D},
	     {"HardFault", 0x0220},
	     {"PagefaultTransition", 0x020A},
	     {"PagefaultDemandZero", 0x020B},
	     {"PagefaultCopyOnWrite", 0x020C},
	     {"PagefaultGuard", 0x020D},
	     {"PagefaultHard", 0x020E},
	     {"PagefaultAV", 0x020F},
	     {"VirtualAlloc", 0x0262},
	     {"VirtualFree", 0x0263},
	     {"MapFile", 0x0425},
	     {"UnMapFile", 0x0426},
	     {"SplitIO", 0x1B20},
	     {"HeapCreate", 0x1020},
	     {"HeapAlloc", 0x1021},
	     {"HeapRealloc", 0x1022},
	     {"HeapFree", 0x1024},
	     {"HeapDestroy", 0x1023},
	     {"PoolAlloc", 0x0E20},
	     {"PoolAllocSession", 0x0E21},
	     {"PoolFree", 0x0E22},
	     {"PoolFreeSession", 0x0E23},
	     {"HandleCreate", 0x1120},
	     {"HandleClose", 0x1121},
	     {"HandleDuplicate", 0x1122},
	     {"TcpipSendIPV4", 0x060A},
	     {"TcpipRecvIPV4", 0x060B},
	     {"TcpipConnectIPV4", 0x060C},
	     {"TcpipDisconnectIPV4", 0x060D},
	     {"UdpipSendIPV4", 0x080A},
	     {"UdpipRecvIPV4", 0x080B},
	     {"RegCreateKey", 0x090A},
	     {"RegOpenKey", 0x090B},
	     {"RegDeleteKey", 0x090C},
	     {"RegQueryKey", 0x090D},
	     {"RegSetValue", 0x090E},
	     {"RegDeleteValue", 0x090F},
	     {"RegQueryValue", 0x0910},
	     {"AlpcSendMessage", 0x1A21},
	     {"AlpcReceiveMessage", 0x1A22}};

const char *kernel_stack_name_at(size_t i, uint16_t *ret_hook)
{
	if (i >= BASE_ARRAY_LEN(stack)) {
		return NULL;
	}
	*ret_hook = stack[i].hook;
	return stack[i].name;
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

bool kernel_stack_find(const char *name, size_t n, uint16_t *ret_hook)
{
	if ((n == 6 || n == 10) && name[0] == '0' && (name[1] == 'x' || name[1] == 'X')) {
		uint32_t v = 0;
		for (size_t i = 2; i < 6; i++) {
			int x = hex_of(name[i]);
			if (x < 0) {
				return false;
			}
			v = v << 4 | (uint32_t)x;
		}
		*ret_hook = (uint16_t)v;
		return v < KERNEL_HOOKS;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(stack); i++) {
		if (strlen(stack[i].name) == n && strncasecmp(stack[i].name, name, n) == 0) {
			*ret_hook = stack[i].hook;
			return true;
		}
	}
	return false;
}

/* ---- classes ---------------------------------------------------------------------------------- */

bool kernel_hook_of_class(const struct guid *g, uint8_t type, uint16_t *ret_hook)
{
	int group = kernel_class_group(g);
	if (group < 0) {
		return false;
	}
	bool load = group == KERNEL_GROUP_IMAGE && type == (KERNEL_HOOK_IMAGE_LOAD & 0xFF);
	*ret_hook = load ? KERNEL_HOOK_IMAGE_LOAD : (uint16_t)(group << 8 | type);
	return true;
}

bool kernel_class_of_hook(uint16_t hook, struct guid *ret)
{
	const struct guid *g = kernel_class_guid(hook);
	if (guid_is_zero(g)) {
		return false;
	}
	*ret = *g;
	return true;
}

/* ---- system providers ------------------------------------------------------------------------- */

struct keyword {
	uint32_t keyword, bits;
};
static const struct {
	char name[28];
	struct guid guid;
	struct keyword keyword[12];
} provider[] = {
	{"SystemAlpcProvider", GUID_INIT(ETW_GUID_SYSTEM_ALPC_PROVIDER), {{1, KERNEL_BIT_ALPC}}},
	{"SystemConfigProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_CONFIG_PROVIDER),
	 {{1, 0xC0000001},
	  {2, 0xC0000002},
	  {4, 0xC0000004},
	  {8, 0xC0000008},
	  {0x10, 0xC0000010},
	  {0x20, 0xC0000020},
	  {0x40, 0xC0000040}}},
	{"SystemCpuProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_CPU_PROVIDER),
	 {{1, KERNEL_BIT_CPU_CONFIG}, {2, (uint32_t)KERNEL_BIT_CACHE_FLUSH}}},
	{"SystemHypervisorProvider", GUID_INIT(ETW_GUID_SYSTEM_HYPERVISOR_PROVIDER), {{1, 0x80800000}}},
	{"SystemInterruptProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_INTERRUPT_PROVIDER),
	 {{1, KERNEL_BIT_INTERRUPT},
	  {2, KERNEL_BIT_CLOCK_INTERRUPT},
	  {4, KERNEL_BIT_DPC},
	  {8, KERNEL_BIT_DPC_QUEUE},
	  {0x10, (uint32_t)KERNEL_BIT_WDF_DPC},
	  {0x20, (uint32_t)KERNEL_BIT_WDF_INTERRUPT},
	  {0x40, KERNEL_BIT_IPI}}},
	{"SystemIoProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_IO_PROVIDER),
	 {{1, KERNEL_BIT_DISK_IO},
	  {2, KERNEL_BIT_DISK_IO_INIT},
	  {4, KERNEL_BIT_FILENAME},
	  {8, KERNEL_BIT_SPLIT_IO},
	  {0x10, KERNEL_BIT_FILE_IO},
	  {0x20, (uint32_t)KERNEL_BIT_OPTICAL_IO},
	  {0x40, (uint32_t)KERNEL_BIT_OPTICAL_IO_INIT},
	  {0x80, KERNEL_BIT_DRIVERS},
	  {0x100, (uint32_t)KERNEL_BIT_CC},
	  {0x200, KERNEL_BIT_NETWORK},
	  {0x400, KERNEL_BIT_FILE_IO_INIT}}},
	{"SystemIoFilterProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_IO_FILTER_PROVIDER),
	 {{1, (uint32_t)KERNEL_BIT_FLT_IO},
	  {2, (uint32_t)KERNEL_BIT_FLT_IO_INIT},
	  {4, (uint32_t)KERNEL_BIT_FLT_FASTIO},
	  {8, (uint32_t)KERNEL_BIT_FLT_IO_FAILURE}}},
	{"SystemLockProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_LOCK_PROVIDER),
	 {{1, KERNEL_BIT_SPINLOCK}, {4, KERNEL_BIT_SYNC_OBJECTS}}},
	{"SystemMemoryProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_MEMORY_PROVIDER),
	 {{1, KERNEL_BIT_MEMORY},
	  {2, KERNEL_BIT_HARD_FAULTS},
	  {4, KERNEL_BIT_ALL_FAULTS},
	  {8, KERNEL_BIT_POOL},
	  {0x10, KERNEL_BIT_MEMINFO},
	  {0x40, KERNEL_BIT_MEMINFO_WS},
	  {0x80, KERNEL_BIT_HEAP},
	  {0x400, KERNEL_BIT_VIRT_ALLOC},
	  {0x800, KERNEL_BIT_FOOTPRINT},
	  {0x1000, KERNEL_BIT_SESSION},
	  {0x2000, KERNEL_BIT_REFSET},
	  {0x4000, KERNEL_BIT_VAMAP}}},
	{"SystemObjectProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_OBJECT_PROVIDER),
	 {{1, (uint32_t)KERNEL_BIT_OB_OBJECT}, {2, (uint32_t)KERNEL_BIT_OB_HANDLE}}},
	{"SystemPowerProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_POWER_PROVIDER),
	 {{1, (uint32_t)KERNEL_BIT_POWER}, {2, (uint32_t)KERNEL_BIT_HIBER_RUNDOWN}, {4, KERNEL_BIT_PROCESSOR_IDLE}}},
	{"SystemProcessProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_PROCESS_PROVIDER),
	 {{1, KERNEL_BIT_PROCESS},
	  {8, KERNEL_BIT_PERF_COUNTER},
	  {0x80, KERNEL_BIT_DEBUG_EVENTS},
	  {0x100, KERNEL_BIT_DBGPRINT},
	  {0x200, KERNEL_BIT_JOB},
	  {0x800, KERNEL_BIT_THREAD},
	  {0x1000, KERNEL_BIT_LOADER}}},
	{"SystemProfileProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_PROFILE_PROVIDER),
	 {{1, KERNEL_BIT_PROFILE}, {2, KERNEL_BIT_PMC_PROFILE}}},
	{"SystemRegistryProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_REGISTRY_PROVIDER),
	 {{1, KERNEL_BIT_REGISTRY}, {2, KERNEL_BIT_REG_HIVE}}},
	{"SystemSchedulerProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_SCHEDULER_PROVIDER),
	 {{2, KERNEL_BIT_DISPATCHER},
	  {4, KERNEL_BIT_KERNEL_QUEUE},
	  {8, KERNEL_BIT_SHOULD_YIELD},
	  {0x40, KERNEL_BIT_AFFINITY},
	  {0x80, KERNEL_BIT_PRIORITY},
	  {0x100, KERNEL_BIT_AFFINITY},
	  {0x200, KERNEL_BIT_CSWITCH},
	  {0x400, KERNEL_BIT_COMPACT_CSWITCH}}},
	{"SystemSyscallProvider", GUID_INIT(ETW_GUID_SYSTEM_SYSCALL_PROVIDER), {{1, KERNEL_BIT_SYSCALL}}},
	{"SystemTimerProvider",
	 GUID_INIT(ETW_GUID_SYSTEM_TIMER_PROVIDER),
	 {{1, KERNEL_BIT_TIMER}, {2, KERNEL_BIT_CLOCK_TIMER}}}};

static size_t provider_index(const struct guid *g)
{
	size_t i = 0;
	while (i < BASE_ARRAY_LEN(provider) && !guid_equal(g, &provider[i].guid)) {
		i++;
	}
	return i;
}

bool kernel_provider_mask(const struct guid *g, uint64_t any, struct kernel_mask *ret)
{
	size_t i = provider_index(g);
	*ret = (struct kernel_mask){0};
	if (i == BASE_ARRAY_LEN(provider)) {
		return false;
	}
	for (size_t k = 0; k < BASE_ARRAY_LEN(provider[i].keyword); k++) {
		const struct keyword *w = &provider[i].keyword[k];
		struct kernel_mask one = {0};
		kernel_mask_set(&one, w->bits);
		/* Everything: what there is. By name: what was named, to be refused by name. */
		if (w->bits && (any == 0 ? !kernel_mask_refused(&one) : (any & w->keyword) != 0)) {
			kernel_mask_set(ret, w->bits);
		}
	}
	return true;
}

const char *kernel_provider_name(const struct guid *g)
{
	size_t i = provider_index(g);
	return i < BASE_ARRAY_LEN(provider) ? provider[i].name : NULL;
}

bool kernel_provider_find(const char *name, struct guid *ret)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(provider); i++) {
		if (strcasecmp(provider[i].name, name) == 0) {
			*ret = provider[i].guid;
			return true;
		}
	}
	return false;
}
