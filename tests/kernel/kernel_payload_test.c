/* SPDX-License-Identifier: MIT
 *
 * What the kernel's recorder writes has the layout of the catalogue: each kind of record is written with known values,
 * decoded with TDH, and compared. The fields that TDH finds must be all of the payload, so that a field that is missing
 * in the writer, or is one too many, shows as well.
 */
#include "kernel/kernel_bpf.h"
#include "kernel/kernel_config.h"
#include "kernel/kernel_names.h"
#include "kernel/kernel_process.h"
#include "kernel/kernel_walk.h"

#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "kernel/bpf/kbpf_heap.h"
#include "kernel/bpf/kbpf_irq.h"
#include "kernel/bpf/kbpf_net.h"

#include <evntcons.h>
#include <tdh.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- what was written ------------------------------------------------------------------------- */

enum { KEPT = 256, RECORD_MAX = 10000 };
static struct {
	EVENT_RECORD e;
	uint16_t hook; /* 0: of a class without one */
	uint8_t bytes[RECORD_MAX];
} kept[KEPT];
static unsigned count;

static void keep(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		 const void *body, uint32_t body_bytes)
{
	assert_true(count < KEPT && head_bytes + body_bytes <= RECORD_MAX);
	EVENT_RECORD *e = &kept[count].e;
	uint8_t *p = kept[count].bytes;
	memcpy(p, head, head_bytes);
	memcpy(p + head_bytes, body, body_bytes);
	memset(e, 0, sizeof *e);
	e->EventHeader.HeaderType = p[2];
	e->EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_CLASSIC_HEADER;
	uint32_t at = p[2] == ETL_RT_SYSTEM64     ? ETL_SYSTEM_HEADER_SIZE
		      : p[2] == ETL_RT_PERFINFO64 ? ETL_PERFINFO_HEADER_SIZE
						  : ETL_FULL_HEADER_SIZE;
	bool full = p[2] == ETL_RT_FULL64;
	kept[count].hook = full ? 0 : le16_get(p + 6);
	memcpy(&e->EventHeader.ProviderId, full ? p + 24 : kernel_class_guid(kept[count].hook)->b, sizeof(GUID));
	e->EventHeader.EventDescriptor.Opcode = full ? p[4] : p[6];
	e->EventHeader.EventDescriptor.Version = full ? p[6] : p[0];
	e->UserData = p + at;
	e->UserDataLength = (USHORT)(head_bytes + body_bytes - at);
	count++;
	(void)ctx, (void)sessions, (void)cpu, (void)time;
}

/* An engine without sources that wants everything. */
static struct kernel *engine(void)
{
	static struct kernel k;
	memset(&k, 0, sizeof k);
	memset(k.want, 0xFF, sizeof k.want);
	k.active = 1;
	k.explained = 1ull << 63; /* none of ours */
	k.out.record = keep;
	k.threads = kernel_table_create();
	k.walk = kernel_walk_create();
	count = 0;
	return &k;
}

static uint32_t property(EVENT_RECORD *e, const WCHAR *name, void *to, uint32_t room)
{
	PROPERTY_DATA_DESCRIPTOR d = {.PropertyName = (ULONGLONG)(uintptr_t)name, .ArrayIndex = UINT32_MAX};
	ULONG bytes = 0;
	if (TdhGetPropertySize(e, 0, NULL, 1, &d, &bytes) != ERROR_SUCCESS) {
		return 0;
	}
	if (to) {
		assert_true(bytes <= room);
		assert_int_equal(TdhGetProperty(e, 0, NULL, 1, &d, bytes, to), ERROR_SUCCESS);
	}
	return bytes;
}

/* The fields are known, and take the whole payload. */
static void whole(EVENT_RECORD *e, uint16_t hook)
{
	static uint64_t room[4096];
	ULONG size = sizeof room, sum = 0;
	TRACE_EVENT_INFO *info = (void *)room;
	ULONG code = TdhGetEventInformation(e, 0, NULL, info, &size);
	if (code != ERROR_SUCCESS) {
		print_error("hook %04x version %u: %u\n", hook, e->EventHeader.EventDescriptor.Version, code);
	}
	assert_int_equal(code, ERROR_SUCCESS);
	for (ULONG i = 0; i < info->TopLevelPropertyCount; i++) {
		const EVENT_PROPERTY_INFO *p = &info->EventPropertyInfoArray[i];
		if (p->Flags & PropertyStruct) {
			return; /* whose members have sizes of their own */
		}
		uint32_t bytes =
			property(e, (const WCHAR *)(const void *)((const uint8_t *)info + p->NameOffset), NULL, 0);
		/* A payload that is too short may fit with pointers of four bytes, as old traces have them. */
		if (p->nonStructType.InType == TDH_INTYPE_POINTER && p->count == 1 && bytes != 8) {
			print_error("hook %04x: a pointer of %u bytes\n", hook, bytes);
			fail();
		}
		sum += bytes;
	}
	if (sum != e->UserDataLength) {
		print_error("hook %04x version %u: the catalogue has %u bytes, the payload %u\n", hook,
			    e->EventHeader.EventDescriptor.Version, sum, e->UserDataLength);
	}
	assert_int_equal(sum, e->UserDataLength);
}

struct value {
	const WCHAR *name;
	uint64_t value;
};
static EVENT_RECORD *record_of(uint16_t hook)
{
	for (unsigned i = 0; i < count; i++) {
		if (kept[i].hook == hook) {
			return &kept[i].e;
		}
	}
	print_error("no record with hook %04x\n", hook);
	fail();
	return NULL;
}

static void compare(uint16_t hook, const struct value *list)
{
	EVENT_RECORD *e = record_of(hook);
	whole(e, hook);
	for (const struct value *v = list; v->name; v++) {
		uint64_t got = 0;
		char name[64];
		utf16_to_utf8(v->name, utf16_len(v->name), name, sizeof name);
		uint32_t bytes = property(e, v->name, &got, sizeof got);
		if (bytes == 0 || got != v->value) {
			print_error("hook %04x, %s: %u bytes, %llx instead of %llx\n", hook, name, bytes,
				    (unsigned long long)got, (unsigned long long)v->value);
		}
		assert_true(bytes > 0);
		assert_int_equal(got, v->value);
	}
}

static void compare_text(uint16_t hook, const WCHAR *name, const char *text, bool wide)
{
	uint8_t got[1000] = {0};
	char narrow[1000];
	uint32_t bytes = property(record_of(hook), name, got, sizeof got);
	if (wide) {
		assert_true(utf16_to_utf8(got, bytes / 2, narrow, sizeof narrow) >= 0);
	} else {
		memcpy(narrow, got, bytes);
	}
	assert_string_equal(narrow, text);
}

static void release(struct kernel *k)
{
	for (unsigned i = 0; i < count; i++) {
		whole(&kept[i].e, kept[i].hook);
	}
	kernel_walk_destroy(k->walk);
	kernel_table_destroy(k->threads);
}

/* ---- records of BPF --------------------------------------------------------------------------- */

enum { PID = 1234, TID = 1235, TIME = 700000000 };
static struct {
	struct kbpf_record head;
	uint8_t body[1024];
} raw;

static const struct kbpf_record *raw_of(uint16_t hook, const void *body, size_t bytes)
{
	raw.head = (struct kbpf_record){
		.time = TIME, .sessions = 1, .pid = PID, .tid = TID, .hook = hook, .bytes = (uint16_t)bytes};
	memcpy(raw.body, body, bytes);
	return &raw.head;
}

#define HOOK(group, event) KERNEL_HOOK(KERNEL_GROUP_##group, KP_##event)
#define COMPARE(hook, ...) compare(hook, (const struct value[]){__VA_ARGS__, {NULL, 0}})

static void heap_and_system_calls(void **state)
{
	struct kernel *k = engine();
	struct kbpf_heap h = {.address = 0x1111, .bytes = 0x2222, .old = 0x3333};
	uint64_t call[2] = {57, (uint64_t)-2};
	kernel_heap_shape(k, NULL, raw_of(KBPF_HEAP_ALLOC, &h, sizeof h));
	kernel_heap_shape(k, NULL, raw_of(KBPF_HEAP_REALLOC, &h, sizeof h));
	kernel_heap_shape(k, NULL, raw_of(KBPF_HEAP_FREE, &h, sizeof h));
	COMPARE(HOOK(HEAP, HEAP_ALLOC), {u"AllocSize", 0x2222}, {u"AllocAddress", 0x1111});
	COMPARE(HOOK(HEAP, HEAP_RE_ALLOC), {u"NewAllocAddress", 0x1111}, {u"OldAllocAddress", 0x3333},
		{u"NewAllocSize", 0x2222}, {u"OldAllocSize", 0});
	COMPARE(HOOK(HEAP, HEAP_FREE), {u"FreeAddress", 0x1111}, {u"SourceId", 0});
	kernel_syscall_shape(k, NULL, raw_of(KBPF_SYS_ENTER, call, 8));
	kernel_syscall_shape(k, NULL, raw_of(KBPF_SYS_EXIT, call, 16));
	COMPARE(HOOK(PERF, PERF_INFO_SYS_CL_ENTER), {u"SysCallAddress", 57});
	COMPARE(HOOK(PERF, PERF_INFO_SYS_CL_EXIT), {u"SysCallNtStatus", 0xFFFFFFFE});
	release(k);
}

static void connections(void **state)
{
	static const struct {
		uint16_t hook, v4, v6;
	} rows[] = {
		{KBPF_TCP_SEND, HOOK(TCP, TCP_IP_SEND_IPV4), HOOK(TCP, TCP_IP_SEND_IPV6)},
		{KBPF_TCP_RECV, HOOK(TCP, TCP_IP_RECV_IPV4), HOOK(TCP, TCP_IP_RECV_IPV6)},
		{KBPF_TCP_CONNECT, HOOK(TCP, TCP_IP_CONNECT_IPV4), HOOK(TCP, TCP_IP_CONNECT_IPV6)},
		{KBPF_TCP_ACCEPT, HOOK(TCP, TCP_IP_ACCEPT_IPV4), HOOK(TCP, TCP_IP_ACCEPT_IPV6)},
		{KBPF_TCP_DISCONNECT, HOOK(TCP, TCP_IP_DISCONNECT_IPV4), HOOK(TCP, TCP_IP_DISCONNECT_IPV6)},
		{KBPF_TCP_RETRANSMIT, HOOK(TCP, TCP_IP_RETRANSMIT_IPV4), HOOK(TCP, TCP_IP_RETRANSMIT_IPV6)},
		{KBPF_TCP_RECONNECT, HOOK(TCP, TCP_IP_RECONNECT_IPV4), HOOK(TCP, TCP_IP_RECONNECT_IPV6)},
		{KBPF_UDP_SEND, HOOK(UDP, UDP_IP_SEND_IPV4), HOOK(UDP, UDP_IP_SEND_IPV6)},
		{KBPF_UDP_RECV, HOOK(UDP, UDP_IP_RECV_IPV4), HOOK(UDP, UDP_IP_RECV_IPV6)},
	};
	struct kernel *k = engine();
	struct kbpf_net n = {.remote = {10, 11, 12, 13},
			     .local = {20, 21, 22, 23},
			     .remote_port = 0x5000,
			     .local_port = 0x6000,
			     .scale = 7 | 5 << 4,
			     .mss = 1460,
			     .bytes = 99,
			     .window = 77,
			     .error = 111,
			     .sack = 1,
			     .timestamps = 1};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		for (n.six = 0; n.six < 2; n.six++) {
			kernel_net_shape(k, NULL, raw_of(rows[i].hook, &n, sizeof n));
		}
		/* What is received of UDP came from the other end. */
		bool inward = rows[i].hook == KBPF_UDP_RECV;
		COMPARE(rows[i].v4, {u"PID", PID}, {u"size", 99}, {u"daddr", inward ? 0x17161514 : 0x0D0C0B0A},
			{u"saddr", inward ? 0x0D0C0B0A : 0x17161514}, {u"dport", inward ? 0x6000 : 0x5000},
			{u"sport", inward ? 0x5000 : 0x6000}, {u"seqnum", 0}, {u"connid", 0});
		COMPARE(rows[i].v6, {u"PID", PID}, {u"size", 99}, {u"dport", inward ? 0x6000 : 0x5000},
			{u"sport", inward ? 0x5000 : 0x6000}, {u"connid", 0});
	}
	COMPARE(HOOK(TCP, TCP_IP_CONNECT_IPV4), {u"mss", 1460}, {u"sackopt", 1}, {u"tsopt", 1}, {u"wsopt", 0},
		{u"rcvwin", 77}, {u"rcvwinscale", 7}, {u"sndwinscale", 5});
	COMPARE(HOOK(TCP, TCP_IP_SEND_IPV4), {u"startime", 7}, {u"endtime", 7});
	n.six = 0;
	kernel_net_shape(k, NULL, raw_of(KBPF_TCP_FAIL, &n, sizeof n));
	COMPARE(HOOK(TCP, TCP_IP_FAIL), {u"Status", kernel_nt_status(-111)}, {u"dport", 0x5000}, {u"sport", 0x6000});
	release(k);
}

static void memory_and_faults(void **state)
{
	struct kernel *k = engine();
	struct kernel_names *names = kernel_names_create();
	struct kbpf_memory m = {
		.address = 0x10000, .bytes = 0x1001, .flags = 0x3000, .inode = 42, .offset = 0x5000, .device = 8 << 20};
	uint64_t key = kernel_names_key(names, 42, 8 << 20, 0);
	kernel_memory_shape(k, names, raw_of(KBPF_VIRTUAL_ALLOC, &m, sizeof m));
	kernel_memory_shape(k, names, raw_of(KBPF_VIRTUAL_FREE, &m, sizeof m));
	kernel_memory_shape(k, names, raw_of(KBPF_MAP_FILE, &m, sizeof m));
	kernel_memory_shape(k, names, raw_of(KBPF_UNMAP_FILE, &m, sizeof m));
	for (uint16_t hook = HOOK(MEMORY, PAGE_FAULT_VIRTUAL_ALLOC); hook <= HOOK(MEMORY, PAGE_FAULT_VIRTUAL_FREE);
	     hook++) {
		COMPARE(hook, {u"BaseAddress", 0x10000}, {u"RegionSize", 0x2000}, {u"ProcessId", PID},
			{u"Flags", 0x3000});
	}
	for (uint16_t hook = HOOK(FILE, FILE_IO_MAP_FILE); hook <= HOOK(FILE, FILE_IO_UNMAP_FILE); hook++) {
		COMPARE(hook, {u"ViewBase", 0x10000}, {u"FileObject", key}, {u"MiscInfo", 0x5000},
			{u"ViewSize", 0x2000}, {u"ProcessId", PID});
	}
	struct kbpf_fault f = {.address = 0x7777, .ip = 0x8888, .area = KBPF_FAULT_ANONYMOUS};
	kernel_fault_shape(k, names, raw_of(KBPF_FAULT_SOFT, &f, sizeof f));
	COMPARE(HOOK(MEMORY, PAGE_FAULT_DEMAND_ZERO_FAULT), {u"VirtualAddress", 0x7777}, {u"ProgramCounter", 0x8888});
	f.started = 4000;
	f.inode = 42;
	f.device = 8 << 20;
	f.offset = 0x9000;
	f.pages = 3;
	kernel_fault_shape(k, names, raw_of(KBPF_FAULT_HARD, &f, sizeof f));
	COMPARE(HOOK(MEMORY, PAGE_FAULT_HARD_FAULT), {u"InitialTime", 4000}, {u"ReadOffset", 0x9000},
		{u"VirtualAddress", 0x7777}, {u"FileObject", key}, {u"TThreadId", TID}, {u"ByteCount", 3 * 4096});
	release(k);
	kernel_names_destroy(names);
}

static const struct kbpf_record *file_of(uint16_t hook, const char *path, const char *second)
{
	struct {
		struct kbpf_file f;
		char text[200];
	} x = {.f = {.irp = 0x1000000001,
		     .object = 0x4000,
		     .inode = 42,
		     .device = 8 << 20,
		     .offset = 0x100,
		     .size = 0x200,
		     .number = 1}};
	size_t at = 0;
	x.f.text[0] = (uint16_t)(strlen(path) + 1);
	x.f.text[2] = (uint16_t)(strlen(second) + 1);
	memcpy(x.text, path, x.f.text[0]);
	at += x.f.text[0];
	memcpy(x.text + at, second, x.f.text[2]);
	at += x.f.text[2];
	return raw_of(hook, &x, BASE_ALIGN8(sizeof x.f + at));
}

static void files(void **state)
{
	static const uint16_t plain[] = {HOOK(FILE, FILE_IO_SET_INFO), HOOK(FILE, FILE_IO_QUERY_INFO),
					 HOOK(FILE, FILE_IO_FSCONTROL), HOOK(FILE, FILE_IO_DELETE),
					 HOOK(FILE, FILE_IO_RENAME)};
	static const uint16_t raws[] = {
		KBPF_FILE_CREATE,   KBPF_FILE_CLOSE,      KBPF_FILE_READ,     KBPF_FILE_WRITE,      KBPF_FILE_FLUSH,
		KBPF_FILE_DIR_ENUM, KBPF_FILE_DIR_NOTIFY, KBPF_FILE_SET_INFO, KBPF_FILE_QUERY_INFO, KBPF_FILE_CONTROL,
		KBPF_FILE_DELETE,   KBPF_FILE_RENAME,     KBPF_FILE_LINK};
	struct kernel *k = engine();
	struct kernel_names *names = kernel_names_create();
	void *s = kernel_file_create(k, names);
	uint64_t object = kernel_names_opaque(names, 0x4000), key = kernel_names_key(names, 42, 8 << 20, 0);
	for (size_t i = 0; i < BASE_ARRAY_LEN(raws); i++) {
		kernel_file_shape(k, s, file_of(raws[i], "/tmp/one", "/tmp/two"));
	}
	COMPARE(HOOK(FILE, FILE_IO_CREATE), {u"IrpPtr", 0x1000000001}, {u"FileObject", object}, {u"TTID", TID},
		{u"ShareAccess", 7});
	compare_text(HOOK(FILE, FILE_IO_CREATE), u"OpenPath", "/tmp/one", true);
	for (uint16_t hook = HOOK(FILE, FILE_IO_CLEANUP); hook <= HOOK(FILE, FILE_IO_CLOSE); hook++) {
		COMPARE(hook, {u"IrpPtr", 0x1000000001}, {u"FileObject", object}, {u"FileKey", key}, {u"TTID", TID});
	}
	for (uint16_t hook = HOOK(FILE, FILE_IO_READ); hook <= HOOK(FILE, FILE_IO_WRITE); hook++) {
		COMPARE(hook, {u"Offset", 0x100}, {u"IrpPtr", 0x1000000001}, {u"FileObject", object}, {u"FileKey", key},
			{u"TTID", TID}, {u"IoSize", 0x200}, {u"IoFlags", 0});
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(plain); i++) {
		COMPARE(plain[i], {u"IrpPtr", 0x1000000001}, {u"FileObject", object}, {u"FileKey", key},
			{u"TTID", TID});
	}
	COMPARE(HOOK(FILE, FILE_IO_SET_INFO), {u"ExtraInfo", 0x200});
	COMPARE(HOOK(FILE, FILE_IO_DIR_ENUM), {u"FileKey", key}, {u"TTID", TID}, {u"Length", 0x200}, {u"FileIndex", 0});
	COMPARE(HOOK(FILE, FILE_IO_DLETE_PATH), {u"FileKey", key}, {u"TTID", TID});
	COMPARE(HOOK(FILE, FILE_IO_RENAME_PATH), {u"FileKey", key}, {u"TTID", TID});
	compare_text(HOOK(FILE, FILE_IO_DLETE_PATH), u"FileName", "/tmp/one", true);
	compare_text(HOOK(FILE, FILE_IO_RENAME_PATH), u"FileName", "/tmp/two", true);
	struct kbpf_file_end end = {.irp = 0x1000000001, .result = 12};
	kernel_file_shape(k, s, raw_of(KBPF_FILE_END, &end, sizeof end));
	COMPARE(HOOK(FILE, FILE_IO_OPERATION_END), {u"IrpPtr", 0x1000000001}, {u"ExtraInfo", 12}, {u"NtStatus", 0});
	struct kbpf_handle h = {.object = 0x4000, .fd = 5, .type = 0100000};
	kernel_file_shape(k, s, raw_of(KBPF_HANDLE_CREATE, &h, sizeof h));
	COMPARE(HOOK(OBJECT, OBJECT_CREATE_HANDLE), {u"Object", object}, {u"Handle", 5}, {u"ObjectType", 1});
	kernel_names_rundown(names, k, 1);
	release(k);
	kernel_file_destroy(s);
	kernel_names_destroy(names);
}

static void disks(void **state)
{
	struct kernel_disks list;
	kernel_disks_read("", &list);
	if (list.count == 0) {
		print_message("this machine has no disk\n");
		skip();
	}
	struct kernel *k = engine();
	struct kernel_names *names = kernel_names_create();
	void *s = kernel_disk_create(k, names);
	uint64_t key = kernel_names_key(names, 42, 8 << 20, 0);
	struct kbpf_disk x = {.irp = 0x1234,
			      .sector = 9,
			      .started = TIME - 55,
			      .inode = 42,
			      .device = 8 << 20,
			      .disk = list.disk[0].major << 20 | list.disk[0].minor,
			      .bytes = 4096,
			      .tid = TID};
	for (x.op = KBPF_DISK_READ; x.op <= KBPF_DISK_FLUSH; x.op++) {
		kernel_disk_shape(k, s, raw_of(KBPF_DISK_INIT, &x, sizeof x));
		kernel_disk_shape(k, s, raw_of(KBPF_DISK_DONE, &x, sizeof x));
	}
	static const uint16_t init[] = {HOOK(DISK, DISK_IO_READ_INIT), HOOK(DISK, DISK_IO_WRITE_INIT),
					HOOK(DISK, DISK_IO_FLUSH_INIT)};
	for (size_t i = 0; i < BASE_ARRAY_LEN(init); i++) {
		COMPARE(init[i], {u"Irp", 0x1234}, {u"IssuingThreadId", TID});
	}
	for (uint16_t hook = HOOK(DISK, DISK_IO_READ); hook <= HOOK(DISK, DISK_IO_WRITE); hook++) {
		COMPARE(hook, {u"DiskNumber", 0}, {u"TransferSize", 4096}, {u"ByteOffset", 9 * 512},
			{u"FileObject", key}, {u"Irp", 0x1234}, {u"HighResResponseTime", 55},
			{u"IssuingThreadId", TID});
	}
	COMPARE(HOOK(DISK, DISK_IO_FLUSH_BUFFERS), {u"DiskNumber", 0}, {u"HighResResponseTime", 55}, {u"Irp", 0x1234},
		{u"IssuingThreadId", TID});
	release(k);
	kernel_disk_destroy(s);
	kernel_names_destroy(names);
}

static void interrupts_and_power(void **state)
{
	struct kernel *k = engine();
	void *s = kernel_irq_create(k, NULL);
	struct kbpf_irq i = {.start = 4000, .routine = 0x9999, .vector = 33, .handled = 1};
	struct kbpf_power p = {.cpu = 1, .state = 2};
	kernel_irq_shape(k, s, raw_of(KBPF_ISR, &i, sizeof i));
	kernel_irq_shape(k, s, raw_of(KBPF_TASKLET, &i, sizeof i));
	kernel_irq_shape(k, s, raw_of(KBPF_WORK, &i, sizeof i));
	COMPARE(HOOK(PERF, PERF_INFO_ISR), {u"InitialTime", 4000}, {u"Routine", 0x9999}, {u"ReturnValue", 1},
		{u"Vector", 33});
	COMPARE(HOOK(PERF, PERF_INFO_DPC), {u"InitialTime", 4000}, {u"Routine", 0x9999});
	COMPARE(HOOK(PERF, PERF_INFO_THREADED_DPC), {u"InitialTime", 4000}, {u"Routine", 0x9999});
	kernel_irq_shape(k, s, raw_of(KBPF_IDLE, &p, sizeof p));
	COMPARE(HOOK(POWER, POWER_IDLE_STATE_ENTER), {u"State", 2}, {u"ExpectedDuration", 0});
	p.state = UINT32_MAX;
	kernel_irq_shape(k, s, raw_of(KBPF_IDLE, &p, sizeof p));
	COMPARE(HOOK(POWER, POWER_IDLE_STATE_EXIT), {u"State", 2}, {u"Status", 0});
	p.state = 3000000;
	kernel_irq_shape(k, s, raw_of(KBPF_FREQUENCY, &p, sizeof p));
	COMPARE(HOOK(POWER, POWER_PERF_STATE_CHANGE), {u"NewState", 3000}, {u"Processors", 2});
	release(k);
	kernel_irq_destroy(s);
}

/* ---- processes, threads, images --------------------------------------------------------------- */

static void processes_threads_and_images(void **state)
{
	struct kernel *k = engine();
	struct kernel_process p = {.pid = PID, .parent = 77, .uid = 1000, .name = "make", .line = (char *)"make all"};
	struct kernel_build build = {.n = 20, .id = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
	struct kernel_counters c = {PID, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	static const uint16_t starts[] = {HOOK(PROCESS, PROCESS_START), HOOK(PROCESS, PROCESS_END),
					  HOOK(PROCESS, PROCESS_DCSTART), HOOK(PROCESS, PROCESS_DCEND)};
	static const uint16_t loads[] = {KERNEL_HOOK_IMAGE_LOAD, HOOK(IMAGE, IMAGE_UN_LOAD), HOOK(IMAGE, IMAGE_DCSTART),
					 HOOK(IMAGE, IMAGE_DCEND)};
	for (size_t i = 0; i < BASE_ARRAY_LEN(starts); i++) {
		kernel_emit_process(k, 0, starts[i], TIME, 0, &p, 3);
		COMPARE(starts[i], {u"UniqueProcessKey", PID}, {u"ProcessId", PID}, {u"ParentId", 77},
			{u"ExitStatus", 3}, {u"DirectoryTableBase", 0}, {u"Flags", 0});
		compare_text(starts[i], u"ImageFileName", "make", false);
		compare_text(starts[i], u"CommandLine", "make all", true);
	}
	for (uint16_t hook = HOOK(THREAD, THREAD_START); hook <= HOOK(THREAD, THREAD_DCEND); hook++) {
		kernel_emit_thread(k, 0, hook, TIME, 0, PID, TID, "worker");
		COMPARE(hook, {u"ProcessId", PID}, {u"TThreadId", TID}, {u"StackBase", 0}, {u"SubProcessTag", 0},
			{u"BasePriority", 8});
		compare_text(hook, u"ThreadName", "worker", true);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(loads); i++) {
		kernel_emit_image(k, 0, loads[i], TIME, 0, PID, 0x400000, 0x2000, &build, "/usr/bin/make");
		COMPARE(loads[i], {u"ImageBase", 0x400000}, {u"ImageSize", 0x2000}, {u"ProcessId", PID},
			{u"ImageChecksum", 0x08070605}, {u"TimeDateStamp", 0x04030201}, {u"DefaultBase", 0x400000},
			{u"Reserved1", 0}, {u"Reserved4", 0});
		compare_text(loads[i], u"FileName", "/usr/bin/make", true);
	}
	kernel_emit_counters(k, 0, HOOK(PROCESS, PROCESS_PERF_CTR), TIME, 0, &c);
	COMPARE(HOOK(PROCESS, PROCESS_PERF_CTR), {u"ProcessId", PID}, {u"PageFaultCount", 1}, {u"HandleCount", 2},
		{u"PeakVirtualSize", 3}, {u"PeakWorkingSetSize", 4}, {u"PeakPagefileUsage", 5}, {u"VirtualSize", 6},
		{u"WorkingSetSize", 7}, {u"PagefileUsage", 8}, {u"PrivatePageCount", 9});
	release(k); /* with the ImageID records, which have no hooks */
}

static void switches_and_wake_ups(void **state)
{
	struct kernel *k = engine();
	struct kernel_switch s = {.cpu = 1,
				  .time = TIME,
				  .sessions = 1,
				  .prev = TID,
				  .prev_pid = PID,
				  .next = 88,
				  .wait = KERNEL_WAIT_USER_REQUEST,
				  .state = 1};
	struct kernel_waking w = {
		.cpu = 1, .time = TIME, .sessions = 1, .pid = PID, .tid = TID, .woken = 88, .waker = KERNEL_BY_TIMER};
	kernel_on_switch(k, &s, NULL, 0);
	kernel_on_waking(k, &w, NULL, 0);
	COMPARE(HOOK(THREAD, THREAD_CSWITCH), {u"NewThreadId", 88}, {u"OldThreadId", TID},
		{u"OldThreadWaitReason", KERNEL_WAIT_USER_REQUEST}, {u"OldThreadState", 5},
		{u"OldThreadWaitIdealProcessor", 1}, {u"NewThreadWaitTime", 0});
	COMPARE(HOOK(THREAD, THREAD_READY_THREAD), {u"TThreadId", 88}, {u"AdjustReason", 1}, {u"Flag", 1},
		{u"Reserved", KERNEL_BY_TIMER});
	uint64_t frames[] = {0x1111, 0x2222};
	kernel_out_stack(k, 1, 0, TIME, TIME, PID, TID, frames, 2);
	COMPARE(HOOK(STACK, STACK_WALK_STACK), {u"Timestamp", TIME}, {u"ProcessId", PID}, {u"ThreadId", TID});
	release(k);
}

/* ---- the machine ------------------------------------------------------------------------------ */

static void keep_config(void *ctx, const struct kernel_record *r)
{
	struct kernel *k = ctx;
	struct kernel_record copy = *r;
	copy.sessions = 1;
	if (count < KEPT) { /* of machines with many devices some will do */
		kernel_out(k, &copy);
	}
}

static void what_the_machine_is(void **state)
{
	struct kernel *k = engine();
	struct kernel_config c = {.root = "", .out = keep_config, .ctx = k};
	kernel_config_write(&c);
	assert_true(count > 5);
	whole(record_of(HOOK(CONFIG, SYSTEM_CONFIG_CPU)), HOOK(CONFIG, SYSTEM_CONFIG_CPU));
	release(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_and_system_calls),
		cmocka_unit_test(connections),
		cmocka_unit_test(memory_and_faults),
		cmocka_unit_test(files),
		cmocka_unit_test(disks),
		cmocka_unit_test(interrupts_and_power),
		cmocka_unit_test(processes_threads_and_images),
		cmocka_unit_test(switches_and_wake_ups),
		cmocka_unit_test(what_the_machine_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
