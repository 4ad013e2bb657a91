/* SPDX-License-Identifier: MIT
 *
 * Fields stand where the catalogue says (format/kernel_field.h). All bytes are bounded: a record that is too
 * short gives zeros.
 */
#include "tools/tables/kernel_event.h"

#include "base/printable.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

#include <arpa/inet.h>

/* Where one name stands for the fields of several events. */
#define KEVENT_ALIKE(a, b) _Static_assert((a) == (b), "one place for both")

struct op {
	UCHAR opcode;
	enum kevent_op op;
	const char *name;
};
static const struct op *op_of(const struct op *list, size_t n, UCHAR opcode)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].opcode == opcode) {
			return &list[i];
		}
	}
	return NULL;
}
static bool take_op(struct kevent *k, enum kevent_kind kind, const struct op *op)
{
	if (op) {
		k->kind = kind;
		k->op = op->op;
		k->name = op->name;
	}
	return op != NULL;
}
#define OP_OF(list, opcode) op_of(list, BASE_ARRAY_LEN(list), opcode)

static void take_path(struct kevent *k, struct kernel_payload in, uint32_t field)
{
	struct bytes b = kernel_payload_from(in, field);
	size_t units;
	const uint8_t *p = bytes_wsz(&b, &units);
	if (p && units > 0) {
		long n = utf16_to_utf8_lossy(p, BASE_MIN(units, (size_t)1000), k->path, sizeof k->path);
		k->path[BASE_MIN((size_t)BASE_MAX(n, 0), sizeof k->path - 1)] = 0;
		k->file = k->path;
	}
}

static bool disk(struct kevent *k, struct kernel_payload in, UCHAR opcode)
{
	static const struct op ops[] = {{KP_DISK_IO_READ, KOP_READ, "DiskRead"},
					{KP_DISK_IO_WRITE, KOP_WRITE, "DiskWrite"},
					{KP_DISK_IO_FLUSH_BUFFERS, KOP_FLUSH, "DiskFlush"}};
	if (!take_op(k, KEVENT_DISK, OP_OF(ops, opcode))) {
		return false;
	}
	KEVENT_ALIKE(KP_DISK_IO_READ_SINCE_V0_DISK_NUMBER, KP_DISK_IO_FLUSH_BUFFERS_SINCE_V0_DISK_NUMBER);
	k->disk = kernel_payload_get32(in, KP_DISK_IO_READ_SINCE_V0_DISK_NUMBER);
	if (k->op == KOP_FLUSH) {
		k->duration = kernel_payload_get(in, KP_DISK_IO_FLUSH_BUFFERS_SINCE_V0_HIGH_RES_RESPONSE_TIME);
		k->irp = kernel_payload_get(in, KP_DISK_IO_FLUSH_BUFFERS_SINCE_V0_IRP);
		return true;
	}
	k->bytes = kernel_payload_get(in, KP_DISK_IO_READ_SINCE_V0_TRANSFER_SIZE);
	k->offset = kernel_payload_get(in, KP_DISK_IO_READ_SINCE_V0_BYTE_OFFSET);
	k->file_key = kernel_payload_get(in, KP_DISK_IO_READ_SINCE_V0_FILE_OBJECT);
	k->irp = kernel_payload_get(in, KP_DISK_IO_READ_SINCE_V0_IRP);
	k->duration = kernel_payload_get(in, KP_DISK_IO_READ_SINCE_V0_HIGH_RES_RESPONSE_TIME);
	return true;
}

static bool file(struct kevent *k, struct kernel_payload in, UCHAR opcode, UCHAR version)
{
	static const struct op ops[] = {
		{KP_FILE_IO_MAP_FILE, KOP_MAP, "MapFile"},
		{KP_FILE_IO_UNMAP_FILE, KOP_UNMAP, "UnmapFile"},
		{KP_FILE_IO_CREATE, KOP_CREATE, "FileCreate"},
		{KP_FILE_IO_CLEANUP, KOP_CLEANUP, "FileCleanup"},
		{KP_FILE_IO_CLOSE, KOP_CLOSE, "FileClose"},
		{KP_FILE_IO_READ, KOP_READ, "FileRead"},
		{KP_FILE_IO_WRITE, KOP_WRITE, "FileWrite"},
		{KP_FILE_IO_SET_INFO, KOP_OTHER, "FileSetInfo"},
		{KP_FILE_IO_DELETE, KOP_DELETE, "FileDelete"},
		{KP_FILE_IO_RENAME, KOP_RENAME, "FileRename"},
		{KP_FILE_IO_DIR_ENUM, KOP_DIRECTORY, "FileDirEnum"},
		{KP_FILE_IO_FLUSH, KOP_FLUSH, "FileFlush"},
		{KP_FILE_IO_QUERY_INFO, KOP_OTHER, "FileQueryInfo"},
		{KP_FILE_IO_FSCONTROL, KOP_OTHER, "FileControl"},
		{KP_FILE_IO_OPERATION_END, KOP_END, "FileOpEnd"},
		{KP_FILE_IO_DIR_NOTIFY, KOP_DIRECTORY, "FileDirNotify"},
		{KP_FILE_IO_DLETE_PATH, KOP_DELETE, "FileDeletePath"},
		{KP_FILE_IO_RENAME_PATH, KOP_RENAME, "FileRenamePath"},
		{KP_FILE_IO_SET_LINK_PATH, KOP_OTHER, "FileSetLink"},
	};
	bool late = version >= 3;
	k->with_path = opcode == KP_FILE_IO_DLETE_PATH || opcode == KP_FILE_IO_RENAME_PATH;
	if (!take_op(k, KEVENT_FILE, OP_OF(ops, opcode))) {
		return false;
	}
	/* Of what is in no case of its own below: */
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_SINCE_V2_IRP_PTR, KP_FILE_IO_SET_INFO_SINCE_V2_IRP_PTR);
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_SINCE_V2_IRP_PTR, KP_FILE_IO_DIR_ENUM_SINCE_V2_IRP_PTR);
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_V2_FILE_KEY, KP_FILE_IO_SET_INFO_V2_FILE_KEY);
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_V2_FILE_KEY, KP_FILE_IO_DIR_ENUM_V2_FILE_KEY);
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY, KP_FILE_IO_SET_INFO_SINCE_V3_FILE_KEY);
	KEVENT_ALIKE(KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY, KP_FILE_IO_DIR_ENUM_SINCE_V3_FILE_KEY);
	switch (opcode) {
	case KP_FILE_IO_OPERATION_END:
		k->kind = KEVENT_FILE_END;
		k->irp = kernel_payload_get(in, KP_FILE_IO_OPERATION_END_SINCE_V2_IRP_PTR);
		k->bytes = kernel_payload_get(in, KP_FILE_IO_OPERATION_END_SINCE_V2_EXTRA_INFO);
		k->status = kernel_payload_get32(in, KP_FILE_IO_OPERATION_END_SINCE_V2_NT_STATUS);
		k->bytes = (int32_t)k->status >= 0 ? k->bytes : 0; /* of a failure it is something else */
		return true;
	case KP_FILE_IO_MAP_FILE:
	case KP_FILE_IO_UNMAP_FILE:
		k->address = kernel_payload_get(in, KP_FILE_IO_MAP_FILE_SINCE_V2_VIEW_BASE);
		k->file_key = kernel_payload_get(in, KP_FILE_IO_MAP_FILE_SINCE_V2_FILE_OBJECT);
		k->bytes = kernel_payload_get(in, KP_FILE_IO_MAP_FILE_SINCE_V2_VIEW_SIZE);
		return true;
	case KP_FILE_IO_READ:
	case KP_FILE_IO_WRITE:
		k->offset = kernel_payload_get(in, KP_FILE_IO_READ_SINCE_V2_OFFSET);
		k->irp = kernel_payload_get(in, KP_FILE_IO_READ_SINCE_V2_IRP_PTR);
		k->file_key =
			kernel_payload_get(in, late ? KP_FILE_IO_READ_SINCE_V3_FILE_KEY : KP_FILE_IO_READ_V2_FILE_KEY);
		k->asked = kernel_payload_get(in, late ? KP_FILE_IO_READ_SINCE_V3_IO_SIZE : KP_FILE_IO_READ_V2_IO_SIZE);
		return true;
	case KP_FILE_IO_CREATE:
		k->irp = kernel_payload_get(in, KP_FILE_IO_CREATE_SINCE_V2_IRP_PTR);
		k->file_key = kernel_payload_get(in, late ? KP_FILE_IO_CREATE_SINCE_V3_FILE_OBJECT
							  : KP_FILE_IO_CREATE_V2_FILE_OBJECT);
		take_path(k, in, late ? KP_FILE_IO_CREATE_SINCE_V3_OPEN_PATH : KP_FILE_IO_CREATE_V2_OPEN_PATH);
		return true;
	case KP_FILE_IO_DLETE_PATH:
	case KP_FILE_IO_RENAME_PATH:
	case KP_FILE_IO_SET_LINK_PATH:
		k->irp = kernel_payload_get(in, KP_FILE_IO_RENAME_PATH_SINCE_V3_IRP_PTR);
		k->file_key = kernel_payload_get(in, KP_FILE_IO_RENAME_PATH_SINCE_V3_FILE_KEY);
		take_path(k, in, KP_FILE_IO_RENAME_PATH_SINCE_V3_FILE_NAME);
		return true;
	default:
		k->irp = kernel_payload_get(in, KP_FILE_IO_CLEANUP_SINCE_V2_IRP_PTR);
		k->file_key = kernel_payload_get(in, late ? KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY
							  : KP_FILE_IO_CLEANUP_V2_FILE_KEY);
		return true;
	}
}

static void address_text(char *out, size_t cap, bool v6, const uint8_t *a, const uint8_t *port)
{
	char text[INET6_ADDRSTRLEN] = "?";
	if (a && port) {
		inet_ntop(v6 ? AF_INET6 : AF_INET, a, text, sizeof text);
		snprintf(out, cap, v6 ? "[%s]:%u" : "%s:%u", text, port[0] << 8 | port[1]);
	}
}

/* The same, where addresses of IPv4 are written as such of IPv6. */
static void mapped_text(char *out, size_t cap, const uint8_t *a, const uint8_t *port)
{
	static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
	bool v4 = a && memcmp(a, mapped, sizeof mapped) == 0;
	address_text(out, cap, !v4, v4 ? a + sizeof mapped : a, port);
}

static bool net(struct kevent *k, struct kernel_payload in, UCHAR opcode, UCHAR version, bool udp)
{
	enum { TO_IPV6 = KP_TCP_IP_SEND_IPV6 - KP_TCP_IP_SEND_IPV4 };
	static const struct op tcp_ops[] = {
		{KP_TCP_IP_SEND_IPV4, KOP_SEND, "TcpSend"},
		{KP_TCP_IP_RECV_IPV4, KOP_RECEIVE, "TcpReceive"},
		{KP_TCP_IP_CONNECT_IPV4, KOP_CONNECT, "TcpConnect"},
		{KP_TCP_IP_DISCONNECT_IPV4, KOP_DISCONNECT, "TcpDisconnect"},
		{KP_TCP_IP_RETRANSMIT_IPV4, KOP_RETRANSMIT, "TcpRetransmit"},
		{KP_TCP_IP_ACCEPT_IPV4, KOP_ACCEPT, "TcpAccept"},
		{KP_TCP_IP_RECONNECT_IPV4, KOP_CONNECT, "TcpReconnect"},
		{KP_TCP_IP_FAIL, KOP_FAIL, "TcpFail"},
	};
	static const struct op udp_ops[] = {{KP_UDP_IP_SEND_IPV4, KOP_SEND, "UdpSend"},
					    {KP_UDP_IP_RECV_IPV4, KOP_RECEIVE, "UdpReceive"}};
	bool v6 = opcode >= KP_TCP_IP_SEND_IPV6;
	UCHAR plain = v6 ? (UCHAR)(opcode - TO_IPV6) : opcode;
	KEVENT_ALIKE(KP_TCP_IP_ACCEPT_IPV6, KP_TCP_IP_ACCEPT_IPV4 + TO_IPV6);
	KEVENT_ALIKE(KP_UDP_IP_SEND_IPV6, KP_UDP_IP_SEND_IPV4 + TO_IPV6);
	if (!take_op(k, KEVENT_NET, udp ? OP_OF(udp_ops, plain) : OP_OF(tcp_ops, plain))) {
		return false;
	}
	k->udp = udp;
	if (version == 0) { /* before Vista, and without the process in some */
		return true;
	}
	if (k->op == KOP_FAIL) { /* the process stands in the header; Windows does not say which connection */
		k->status = kernel_payload_get32(in, KP_TCP_IP_FAIL_SINCE_V2_STATUS);
		mapped_text(k->remote, sizeof k->remote, kernel_payload_bytes(in, KP_TCP_IP_FAIL_SINCE_V2_DADDR),
			    kernel_payload_bytes(in, KP_TCP_IP_FAIL_SINCE_V2_DPORT));
		mapped_text(k->local, sizeof k->local, kernel_payload_bytes(in, KP_TCP_IP_FAIL_SINCE_V2_SADDR),
			    kernel_payload_bytes(in, KP_TCP_IP_FAIL_SINCE_V2_SPORT));
		return true;
	}
	/* All begin alike, of both protocols. */
#define KEVENT_ALIKE_NET(field)                                                                      \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV4_SINCE_V1_##field, KP_TCP_IP_RECV_IPV4_SINCE_V1_##field);    \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV4_SINCE_V1_##field, KP_TCP_IP_CONNECT_IPV4_SINCE_V1_##field); \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV4_SINCE_V1_##field, KP_UDP_IP_SEND_IPV4_SINCE_V1_##field);    \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV6_SINCE_V2_##field, KP_TCP_IP_RECV_IPV6_SINCE_V2_##field);    \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV6_SINCE_V2_##field, KP_TCP_IP_CONNECT_IPV6_SINCE_V2_##field); \
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV6_SINCE_V2_##field, KP_UDP_IP_SEND_IPV6_SINCE_V2_##field)
	KEVENT_ALIKE_NET(PID);
	KEVENT_ALIKE_NET(SIZE);
	KEVENT_ALIKE_NET(DADDR);
	KEVENT_ALIKE_NET(SPORT);
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV4_SINCE_V1_PID, KP_TCP_IP_SEND_IPV6_SINCE_V2_PID);
	KEVENT_ALIKE(KP_TCP_IP_SEND_IPV4_SINCE_V1_SIZE, KP_TCP_IP_SEND_IPV6_SINCE_V2_SIZE);
	k->pid = kernel_payload_get32(in, KP_TCP_IP_SEND_IPV4_SINCE_V1_PID);
	k->bytes = kernel_payload_get(in, KP_TCP_IP_SEND_IPV4_SINCE_V1_SIZE);
	uint32_t to = v6 ? KP_TCP_IP_SEND_IPV6_SINCE_V2_DADDR : KP_TCP_IP_SEND_IPV4_SINCE_V1_DADDR;
	uint32_t to_port = v6 ? KP_TCP_IP_SEND_IPV6_SINCE_V2_DPORT : KP_TCP_IP_SEND_IPV4_SINCE_V1_DPORT;
	uint32_t from = v6 ? KP_TCP_IP_SEND_IPV6_SINCE_V2_SADDR : KP_TCP_IP_SEND_IPV4_SINCE_V1_SADDR;
	uint32_t from_port = v6 ? KP_TCP_IP_SEND_IPV6_SINCE_V2_SPORT : KP_TCP_IP_SEND_IPV4_SINCE_V1_SPORT;
	address_text(k->remote, sizeof k->remote, v6, kernel_payload_bytes(in, to), kernel_payload_bytes(in, to_port));
	address_text(k->local, sizeof k->local, v6, kernel_payload_bytes(in, from),
		     kernel_payload_bytes(in, from_port));
	return true;
}

static bool fault(struct kevent *k, struct kernel_payload in, UCHAR opcode)
{
	static const struct op ops[] = {
		{KP_PAGE_FAULT_TRANSITION_FAULT, KOP_TRANSITION, "TransitionFault"},
		{KP_PAGE_FAULT_DEMAND_ZERO_FAULT, KOP_DEMAND_ZERO, "DemandZeroFault"},
		{KP_PAGE_FAULT_COPY_ON_WRITE, KOP_COPY_ON_WRITE, "CopyOnWrite"},
		{KP_PAGE_FAULT_GUARD_PAGE_FAULT, KOP_OTHER, "GuardPageFault"},
		{KP_PAGE_FAULT_HARD_PAGE_FAULT, KOP_OTHER, "HardPageFault"},
		{KP_PAGE_FAULT_ACCESS_VIOLATION, KOP_OTHER, "AccessViolation"},
		{KP_PAGE_FAULT_HARD_FAULT, KOP_HARD, "HardFault"},
	};
	if (!take_op(k, KEVENT_FAULT, OP_OF(ops, opcode))) {
		return false;
	}
	if (opcode != KP_PAGE_FAULT_HARD_FAULT) {
		k->address = kernel_payload_get(in, KP_PAGE_FAULT_TRANSITION_FAULT_SINCE_V0_VIRTUAL_ADDRESS);
		return true;
	}
	/* When it began is left out: the caller has the event's time in other units. */
	k->offset = kernel_payload_get(in, KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_READ_OFFSET);
	k->address = kernel_payload_get(in, KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_VIRTUAL_ADDRESS);
	k->file_key = kernel_payload_get(in, KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_FILE_OBJECT);
	k->bytes = kernel_payload_get(in, KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_BYTE_COUNT);
	return true;
}

static bool thread(struct kevent *k, struct kernel_payload in, UCHAR opcode)
{
	static const struct op ops[] = {{KP_THREAD_START, KOP_START, "ThreadStart"},
					{KP_THREAD_END, KOP_END, "ThreadEnd"}};
	if (opcode == KP_THREAD_CSWITCH) {
		k->kind = KEVENT_SWITCH;
		k->name = "CSwitch";
		k->in_tid = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID);
		k->out_tid = kernel_payload_get32(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_ID);
		k->priority = (int8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_PRIORITY);
		k->reason = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_WAIT_REASON);
		k->state = (uint8_t)kernel_payload_get(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
		return kernel_payload_has(in, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_STATE);
	}
	if (opcode == KP_THREAD_READY_THREAD) {
		k->kind = KEVENT_READY;
		k->name = "ReadyThread";
		k->subject_tid = kernel_payload_get32(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID);
		/* 0 when the record has ended. What stands in Reserved only our kernel events have. */
		uint8_t flag = (uint8_t)kernel_payload_get(in, KP_THREAD_READY_THREAD_SINCE_V2_FLAG);
		uint8_t how = (uint8_t)kernel_payload_get(in, KP_THREAD_READY_THREAD_SINCE_V2_RESERVED);
		k->waker = !(flag & 1) ? KEVENT_BY_THREAD : how && how < KEVENT_BY_DPC ? how : KEVENT_BY_DPC;
		return kernel_payload_has(in, KP_THREAD_READY_THREAD_SINCE_V2_TTHREAD_ID);
	}
	return take_op(k, KEVENT_THREAD, OP_OF(ops, opcode));
}

static bool perf(struct kevent *k, struct kernel_payload in, UCHAR opcode)
{
	switch (opcode) {
	case KP_PERF_INFO_SAMPLE_PROF:
		k->kind = KEVENT_SAMPLE;
		k->name = "Sample";
		k->address = kernel_payload_get(in, KP_PERF_INFO_SAMPLE_PROF_SINCE_V0_INSTRUCTION_POINTER);
		return true;
	case KP_PERF_INFO_PMC_COUNTER_PROF:
		k->kind = KEVENT_PMC_SAMPLE;
		k->name = "PmcSample";
		k->address = kernel_payload_get(in, KP_PERF_INFO_PMC_COUNTER_PROF_SINCE_V0_INSTRUCTION_POINTER);
		k->bytes = kernel_payload_get(in, KP_PERF_INFO_PMC_COUNTER_PROF_SINCE_V0_PROFILE_SOURCE);
		return kernel_payload_has(in, KP_PERF_INFO_PMC_COUNTER_PROF_SINCE_V0_PROFILE_SOURCE);
	case KP_PERF_INFO_SYS_CL_ENTER:
		k->kind = KEVENT_SYSCALL;
		k->op = KOP_START;
		k->name = "SysCallEnter";
		k->address = kernel_payload_get(in, KP_PERF_INFO_SYS_CL_ENTER_SINCE_V0_SYS_CALL_ADDRESS);
		return true;
	case KP_PERF_INFO_SYS_CL_EXIT:
		k->kind = KEVENT_SYSCALL;
		k->op = KOP_END;
		k->name = "SysCallExit";
		k->status = kernel_payload_get32(in, KP_PERF_INFO_SYS_CL_EXIT_SINCE_V0_SYS_CALL_NT_STATUS);
		return true;
	default: return false;
	}
}

bool kevent_of(struct openetw_state *state, const EVENT_RECORD *e, struct kevent *k)
{
	static const struct op process_ops[] = {{KP_PROCESS_START, KOP_START, "ProcessStart"},
						{KP_PROCESS_END, KOP_END, "ProcessEnd"}};
	static const struct op image_ops[] = {{KP_IMAGE_LOAD, KOP_START, "ImageLoad"},
					      {KP_IMAGE_UN_LOAD, KOP_END, "ImageUnload"}};
	UCHAR opcode = e->EventHeader.EventDescriptor.Opcode, version = e->EventHeader.EventDescriptor.Version;
	struct kernel_payload in = {e->UserData, e->UserDataLength,
				    e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	struct openetw_event_origin o = {.size = sizeof o};
	bool ours = false;
	int group = kernel_class_group(&e->EventHeader.ProviderId);
	/* Not the path: it is big, and written when it is used. */
	memset(k, 0, offsetof(struct kevent, path));
	k->pid = OPENETW_UNKNOWN_ID;
	switch (group) {
	case KERNEL_GROUP_DISK: ours = disk(k, in, opcode); break;
	case KERNEL_GROUP_FILE: ours = file(k, in, opcode, version); break;
	case KERNEL_GROUP_TCP:
	case KERNEL_GROUP_UDP: ours = net(k, in, opcode, version, group == KERNEL_GROUP_UDP); break;
	case KERNEL_GROUP_MEMORY: ours = fault(k, in, opcode); break;
	case KERNEL_GROUP_THREAD: ours = thread(k, in, opcode); break;
	case KERNEL_GROUP_PERF: ours = perf(k, in, opcode); break;
	case KERNEL_GROUP_PROCESS: ours = take_op(k, KEVENT_PROCESS, OP_OF(process_ops, opcode)); break;
	case KERNEL_GROUP_IMAGE: ours = take_op(k, KEVENT_IMAGE, OP_OF(image_ops, opcode)); break;
	default: return false;
	}
	if (!ours || openetw_state_event(state, e, &o) != ERROR_SUCCESS) {
		return false;
	}
	k->time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	k->process = o.process;
	if (k->kind == KEVENT_DISK || k->kind == KEVENT_FAULT) {
		/* Disks answer on any thread: the payload says who asked. */
		k->pid = o.subject_pid;
		k->tid = o.subject_tid;
		k->process = o.subject;
		k->thread = k->tid == o.tid ? o.thread : kevent_thread_name(state, k->tid, k->time);
	} else if (k->kind == KEVENT_NET && k->pid != OPENETW_UNKNOWN_ID) {
		k->tid = OPENETW_UNKNOWN_ID;
		k->process = o.subject;
	} else {
		k->pid = o.pid;
		k->tid = o.tid;
		k->thread = o.thread;
	}
	if (k->kind == KEVENT_PROCESS || k->kind == KEVENT_THREAD || k->kind == KEVENT_IMAGE) {
		k->subject_pid = o.subject_pid;
		k->subject_tid = o.subject_tid;
	}
	if (k->kind == KEVENT_IMAGE) {
		struct openetw_module m = {.size = sizeof m};
		k->address = kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE);
		k->bytes = kernel_payload_get(in, version == 0 ? KP_IMAGE_LOAD_V0_IMAGE_SIZE
							       : KP_IMAGE_LOAD_SINCE_V1_IMAGE_SIZE);
		if (openetw_state_module(state, o.subject_pid, k->address, k->time, &m) == ERROR_SUCCESS) {
			k->file = m.path;
		}
	}
	k->process = k->process ? k->process : "?";
	k->thread = k->thread ? k->thread : "";
	k->file = k->file ? k->file : k->file_key ? openetw_state_file(state, k->file_key, k->time) : NULL;
	return true;
}

const char *kevent_thread_name(struct openetw_state *state, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	bool known = tid != 0 && openetw_state_thread(state, tid, time, &t) == ERROR_SUCCESS;
	return known && t.name ? t.name : "";
}

static void BASE_PRINTF(3, 4) put_printable(char *out, size_t cap, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(out, cap, fmt, ap);
	va_end(ap);
}

void kevent_thread_text(const char *process, uint32_t pid, uint32_t tid, const char *thread,
			char out[KEVENT_THREAD_SIZE])
{
	put_printable(out, KEVENT_THREAD_SIZE, "%s (%u:%u)%s%s", process, pid, tid, thread[0] ? " " : "", thread);
}

const char *kevent_wait_reason(uint8_t reason)
{
	static const char *const names[] = {
		"Executive",   "FreePage",      "PageIn",      "PoolAllocation", "DelayExecution",   "Suspended",
		"UserRequest", "WrExecutive",   "WrFreePage",  "WrPageIn",       "WrPoolAllocation", "WrDelayExecution",
		"WrSuspended", "WrUserRequest", "WrEventPair", "WrQueue",        "WrLpcReceive",     "WrLpcReply"};
	return reason < BASE_ARRAY_LEN(names) ? names[reason] : reason == 37 ? "WrAlertByThreadId" : "other";
}

const char *kevent_waker_name(uint8_t waker)
{
	static const char *const names[] = {NULL, "interrupt", "softirq", "timer", "DPC"};
	return waker < BASE_ARRAY_LEN(names) ? names[waker] : NULL;
}

uint64_t kevent_switches_lost(const EVENT_RECORD *e)
{
	static const struct guid losses = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID);
	const struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	struct bytes b = kernel_payload_from(in, KP_OPEN_ETW_LOSSES_LOST_SINCE_V0_WHAT);
	if (e->EventHeader.EventDescriptor.Id != KP_OPEN_ETW_LOSSES_LOST || bytes_left(&b) < 1 ||
	    memcmp(&e->EventHeader.ProviderId, &losses, sizeof losses) != 0) {
		return UINT64_MAX;
	}
	const char *what = (const char *)b.p;
	size_t n = strnlen(what, bytes_left(&b));
	if (!memmem(what, n, "CSwitch", 7) && !memmem(what, n, "switches", 8)) {
		return UINT64_MAX;
	}
	return kernel_payload_get(in, KP_OPEN_ETW_LOSSES_LOST_SINCE_V0_COUNT);
}
