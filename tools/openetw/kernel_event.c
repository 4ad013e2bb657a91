/* SPDX-License-Identifier: MIT
 *
 * Layouts as in the catalogue (data/catalogue/kernel.txt). All bytes are bounded: a record that is too
 * short gives zeros.
 */
#include "tools/openetw/kernel_event.h"

#include "base/printable.h"
#include "format/kernel_class.h"

#include <arpa/inet.h>

struct cursor {
	struct bytes b;
	unsigned pointer;
	UCHAR version;
};
static uint64_t pointer(struct cursor *c)
{
	return c->pointer == 4 ? bytes_u32(&c->b) : bytes_u64(&c->b);
}

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

static void take_path(struct kevent *k, struct cursor *c)
{
	size_t units;
	const uint8_t *p = bytes_wsz(&c->b, &units);
	if (p && units > 0) {
		long n = utf16_to_utf8_lossy(p, BASE_MIN(units, (size_t)1000), k->path, sizeof k->path);
		k->path[BASE_MIN((size_t)BASE_MAX(n, 0), sizeof k->path - 1)] = 0;
		k->file = k->path;
	}
}

static bool disk(struct kevent *k, struct cursor *c, UCHAR opcode)
{
	static const struct op ops[] = {
		{10, KOP_READ, "DiskRead"}, {11, KOP_WRITE, "DiskWrite"}, {14, KOP_FLUSH, "DiskFlush"}};
	if (!take_op(k, KEVENT_DISK, OP_OF(ops, opcode))) {
		return false;
	}
	k->disk = bytes_u32(&c->b);
	bytes_take(&c->b, 4);
	if (k->op == KOP_FLUSH) {
		k->duration = bytes_u64(&c->b);
		k->irp = pointer(c);
		return true;
	}
	k->bytes = bytes_u32(&c->b);
	bytes_take(&c->b, 4);
	k->offset = bytes_u64(&c->b);
	k->file_key = pointer(c);
	k->irp = pointer(c);
	k->duration = bytes_u64(&c->b);
	return true;
}

static bool file(struct kevent *k, struct cursor *c, UCHAR opcode)
{
	static const struct op ops[] = {
		{37, KOP_MAP, "MapFile"},           {38, KOP_UNMAP, "UnmapFile"},
		{64, KOP_CREATE, "FileCreate"},     {65, KOP_CLEANUP, "FileCleanup"},
		{66, KOP_CLOSE, "FileClose"},       {67, KOP_READ, "FileRead"},
		{68, KOP_WRITE, "FileWrite"},       {69, KOP_OTHER, "FileSetInfo"},
		{70, KOP_DELETE, "FileDelete"},     {71, KOP_RENAME, "FileRename"},
		{72, KOP_DIRECTORY, "FileDirEnum"}, {73, KOP_FLUSH, "FileFlush"},
		{74, KOP_OTHER, "FileQueryInfo"},   {75, KOP_OTHER, "FileControl"},
		{76, KOP_END, "FileOpEnd"},         {77, KOP_DIRECTORY, "FileDirNotify"},
		{79, KOP_DELETE, "FileDeletePath"}, {80, KOP_RENAME, "FileRenamePath"},
		{81, KOP_OTHER, "FileSetLink"},
	};
	bool late = c->version >= 3;
	k->with_path = opcode == 79 || opcode == 80;
	if (!take_op(k, KEVENT_FILE, OP_OF(ops, opcode))) {
		return false;
	}
	if (opcode == 76) {
		k->kind = KEVENT_FILE_END;
		k->irp = pointer(c);
		k->bytes = pointer(c);
		k->status = bytes_u32(&c->b);
		k->bytes = (int32_t)k->status >= 0 ? k->bytes : 0; /* of a failure it is something else */
		return true;
	}
	if (opcode == 37 || opcode == 38) {
		k->address = pointer(c);
		k->file_key = pointer(c);
		bytes_take(&c->b, 8);
		k->bytes = pointer(c);
		return true;
	}
	if (k->op == KOP_READ || k->op == KOP_WRITE) {
		k->offset = bytes_u64(&c->b);
	}
	k->irp = pointer(c);
	if (!late) {
		pointer(c); /* thread */
	}
	uint64_t object = pointer(c);
	k->file_key = opcode == 64 ? object : pointer(c);
	if (opcode == 69 || opcode == 70 || opcode == 71 || opcode == 74 || opcode == 75 || opcode >= 79) {
		pointer(c); /* extra information */
	}
	if (late) {
		bytes_take(&c->b, 4); /* thread */
	}
	if (k->op == KOP_READ || k->op == KOP_WRITE) {
		k->asked = bytes_u32(&c->b);
	} else if (opcode == 64) {
		bytes_take(&c->b, 12);
		take_path(k, c);
	} else if (opcode >= 79) {
		bytes_take(&c->b, 4);
		take_path(k, c);
	} else if (k->op == KOP_DIRECTORY) {
		bytes_take(&c->b, 12);
	}
	return true;
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

static bool net(struct kevent *k, struct cursor *c, UCHAR opcode, bool udp)
{
	static const struct op tcp_ops[] = {
		{10, KOP_SEND, "TcpSend"},
		{11, KOP_RECEIVE, "TcpReceive"},
		{12, KOP_CONNECT, "TcpConnect"},
		{13, KOP_DISCONNECT, "TcpDisconnect"},
		{14, KOP_RETRANSMIT, "TcpRetransmit"},
		{15, KOP_ACCEPT, "TcpAccept"},
		{16, KOP_CONNECT, "TcpReconnect"},
		{17, KOP_FAIL, "TcpFail"},
	};
	static const struct op udp_ops[] = {{10, KOP_SEND, "UdpSend"}, {11, KOP_RECEIVE, "UdpReceive"}};
	bool v6 = opcode >= 26;
	UCHAR plain = v6 ? (UCHAR)(opcode - 16) : opcode;
	if (!take_op(k, KEVENT_NET, udp ? OP_OF(udp_ops, plain) : OP_OF(tcp_ops, plain))) {
		return false;
	}
	k->udp = udp;
	size_t n = v6 ? 16 : 4;
	if (c->version == 0) { /* before Vista, and without the process in some */
		return true;
	}
	if (k->op == KOP_FAIL) { /* the process stands in the header; Windows does not say which connection */
		bytes_take(&c->b, 4);
		k->status = bytes_u32(&c->b);
		k->status = c->b.bad ? 0 : k->status;
		const uint8_t *to = bytes_take(&c->b, 16), *from = bytes_take(&c->b, 16);
		const uint8_t *to_port = bytes_take(&c->b, 2), *from_port = bytes_take(&c->b, 2);
		mapped_text(k->remote, sizeof k->remote, to, to_port);
		mapped_text(k->local, sizeof k->local, from, from_port);
		return true;
	}
	k->pid = bytes_u32(&c->b);
	k->bytes = bytes_u32(&c->b);
	const uint8_t *remote = bytes_take(&c->b, n), *local = bytes_take(&c->b, n);
	const uint8_t *remote_port = bytes_take(&c->b, 2), *local_port = bytes_take(&c->b, 2);
	address_text(k->remote, sizeof k->remote, v6, remote, remote_port);
	address_text(k->local, sizeof k->local, v6, local, local_port);
	return true;
}

static bool fault(struct kevent *k, struct cursor *c, UCHAR opcode)
{
	static const struct op ops[] = {
		{10, KOP_TRANSITION, "TransitionFault"},
		{11, KOP_DEMAND_ZERO, "DemandZeroFault"},
		{12, KOP_COPY_ON_WRITE, "CopyOnWrite"},
		{13, KOP_OTHER, "GuardPageFault"},
		{14, KOP_OTHER, "HardPageFault"},
		{15, KOP_OTHER, "AccessViolation"},
		{32, KOP_HARD, "HardFault"},
	};
	if (!take_op(k, KEVENT_FAULT, OP_OF(ops, opcode))) {
		return false;
	}
	if (opcode != 32) {
		k->address = pointer(c);
		return true;
	}
	bytes_take(&c->b, 8); /* when it began; the caller has the event's time in other units */
	k->offset = bytes_u64(&c->b);
	k->address = pointer(c);
	k->file_key = pointer(c);
	bytes_take(&c->b, 4);
	k->bytes = bytes_u32(&c->b);
	return true;
}

static bool thread(struct kevent *k, struct cursor *c, UCHAR opcode)
{
	static const struct op ops[] = {{1, KOP_START, "ThreadStart"}, {2, KOP_END, "ThreadEnd"}};
	if (opcode == 36) {
		k->kind = KEVENT_SWITCH;
		k->name = "CSwitch";
		k->in_tid = bytes_u32(&c->b);
		k->out_tid = bytes_u32(&c->b);
		bytes_take(&c->b, 4);
		k->reason = bytes_u8(&c->b);
		bytes_take(&c->b, 1);
		k->state = bytes_u8(&c->b);
		return !c->b.bad;
	}
	if (opcode == 50) {
		k->kind = KEVENT_READY;
		k->name = "ReadyThread";
		k->subject_tid = bytes_u32(&c->b);
		if (c->b.bad) {
			return false;
		}
		bytes_take(&c->b, 2);
		uint8_t flag = bytes_u8(&c->b), how = bytes_u8(&c->b); /* 0 when the record has ended */
		k->waker = !(flag & 1) ? KEVENT_BY_THREAD : how && how < KEVENT_BY_DPC ? how : KEVENT_BY_DPC;
		return true;
	}
	return take_op(k, KEVENT_THREAD, OP_OF(ops, opcode));
}

static bool perf(struct kevent *k, struct cursor *c, UCHAR opcode)
{
	switch (opcode) {
	case 46:
		k->kind = KEVENT_SAMPLE;
		k->name = "Sample";
		k->address = pointer(c);
		return true;
	case 47:
		k->kind = KEVENT_PMC_SAMPLE;
		k->name = "PmcSample";
		k->address = pointer(c);
		bytes_take(&c->b, 4);
		k->bytes = bytes_u16(&c->b);
		return !c->b.bad;
	case 51:
		k->kind = KEVENT_SYSCALL;
		k->op = KOP_START;
		k->name = "SysCallEnter";
		k->address = pointer(c);
		return true;
	case 52:
		k->kind = KEVENT_SYSCALL;
		k->op = KOP_END;
		k->name = "SysCallExit";
		k->status = bytes_u32(&c->b);
		return true;
	default: return false;
	}
}

bool kevent_of(struct openetw_state *state, const EVENT_RECORD *e, struct kevent *k)
{
	static const struct op process_ops[] = {{1, KOP_START, "ProcessStart"}, {2, KOP_END, "ProcessEnd"}};
	static const struct op image_ops[] = {{10, KOP_START, "ImageLoad"}, {2, KOP_END, "ImageUnload"}};
	UCHAR opcode = e->EventHeader.EventDescriptor.Opcode;
	struct cursor c = {.b = bytes_of(e->UserData, e->UserDataLength),
			   .pointer = e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8,
			   .version = e->EventHeader.EventDescriptor.Version};
	struct openetw_event_origin o = {.size = sizeof o};
	bool ours = false;
	int group = kernel_class_group(&e->EventHeader.ProviderId);
	/* Not the path: it is big, and written when it is used. */
	memset(k, 0, offsetof(struct kevent, path));
	k->pid = OPENETW_UNKNOWN_ID;
	switch (group) {
	case KERNEL_GROUP_DISK: ours = disk(k, &c, opcode); break;
	case KERNEL_GROUP_FILE: ours = file(k, &c, opcode); break;
	case KERNEL_GROUP_TCP:
	case KERNEL_GROUP_UDP: ours = net(k, &c, opcode, group == KERNEL_GROUP_UDP); break;
	case KERNEL_GROUP_MEMORY: ours = fault(k, &c, opcode); break;
	case KERNEL_GROUP_THREAD: ours = thread(k, &c, opcode); break;
	case KERNEL_GROUP_PERF: ours = perf(k, &c, opcode); break;
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
		k->address = pointer(&c);
		k->bytes = pointer(&c);
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
