/* SPDX-License-Identifier: MIT
 * report: disk, files, connections, page faults, system calls.
 */
#include "tools/openetw/report.h"

#define P            "\x1f"
#define UNKNOWN_FILE "?"

enum {
	READ_BYTES,
	WRITE_BYTES,
	BYTES,
	READ_ASKED,
	WRITE_ASKED,
	ASKED,
	READS,
	WRITES,
	TIME_US,
	OTHER_OPS
}; /* disk and files */
enum { NET_SENT, NET_RECEIVED, NET_SENDS, NET_RECEIVES, NET_RETRANSMITS, NET_FAILED, NET_OTHER };
enum { FAULTS, FAULT_ZERO, FAULT_TRANSITION, FAULT_COW, FAULT_HARD, FAULT_HARD_BYTES };
enum { CALLS, CALL_US, CALL_LONGEST, CALL_ERRORS };

/* To three values: read, written, both. */
static void add_bytes(struct tally_row *row, enum kevent_op op, unsigned first, uint64_t bytes)
{
	row->v[first] += op == KOP_READ ? bytes : 0;
	row->v[first + 1] += op == KOP_WRITE ? bytes : 0;
	row->v[first + 2] += op == KOP_READ || op == KOP_WRITE ? bytes : 0;
}

static void add_transfer(struct report *r, struct tally_row *row, enum kevent_op op, uint64_t bytes)
{
	if (!row) {
		r->failed = true;
		return;
	}
	add_bytes(row, op, READ_BYTES, bytes);
	row->v[READS] += op == KOP_READ;
	row->v[WRITES] += op == KOP_WRITE;
	row->v[OTHER_OPS] += op != KOP_READ && op != KOP_WRITE;
}

static void add_disk(struct report *r, struct tally_row *row, const struct kevent *k, bool begins, uint64_t us)
{
	if (begins || !row) {
		add_transfer(r, row, k->op, k->bytes);
	}
	if (row) {
		row->v[TIME_US] += us;
	}
}

/* Requests are told when they are over. */
static void disk(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	uint64_t ns = r->ticks_per_second ? clock_muldiv(k->duration, 1000000000, r->ticks_per_second) : 0;
	uint64_t ago = ns / 100 + (ns % 100 != 0), began = ago < k->time ? k->time - ago : 0;
	bool begins = report_in_range(r, began), whole = began >= r->from && k->time <= r->to;
	uint64_t us = whole ? ns / 1000 : report_part(r, began, k->time) / 10;
	if (!report_whose(r, k->pid, k->tid, k->process) || (!begins && us == 0) || !report_fits(r, e, NULL)) {
		return;
	}
	add_disk(r, tally_rowf(&r->disk_processes, "%s (%u)", k->process, k->pid), k, begins, us);
	if (k->op != KOP_FLUSH) {
		add_disk(r, tally_row(&r->disk_files, k->file ? k->file : UNKNOWN_FILE), k, begins, us);
	}
}

/* An operation that is begun, or one that is only now known to count, with what it moved. */
static void count_operation(struct report *r, const struct report_op *op, uint64_t moved)
{
	struct tally_row *process = tally_row(&r->file_processes, op->process);
	struct tally_row *file = tally_row(&r->files, op->file);
	add_transfer(r, process, op->op, moved);
	add_transfer(r, file, op->op, moved);
	if (process && file) {
		add_bytes(process, op->op, READ_ASKED, op->asked);
		add_bytes(file, op->op, READ_ASKED, op->asked);
	}
}

static void file(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	if (k->op == KOP_MAP || k->op == KOP_UNMAP) {
		return; /* what it reads comes as faults */
	}
	if (!report_wanted(r, k->pid, k->tid, k->process, k->time) || report_op_again(r, k)) {
		return;
	}
	bool counted = report_fits(r, e, NULL);
	struct tally_row *process =
		tally_rowf(counted ? &r->file_processes : &r->op_names, "%s (%u)", k->process, k->pid);
	const char *process_name = process ? process->name : NULL;
	struct tally_row *file = tally_row(counted ? &r->files : &r->op_names, k->file ? k->file : UNKNOWN_FILE);
	if (!process_name || !file) {
		r->failed = true;
		return;
	}
	struct report_op op = {
		.process = process_name, .file = file->name, .op = k->op, .counted = counted, .asked = k->asked};
	if (counted) {
		count_operation(r, &op, k->bytes);
	}
	report_op_begin(r, k, op.process, op.file, op.counted);
}

/* Only now is it known what was moved. */
static void file_end(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	struct report_op op;
	if (!report_op_end(r, k, &op)) {
		return;
	}
	bool moves = op.op == KOP_READ || op.op == KOP_WRITE;
	if (!op.counted) {
		if (report_fits(r, e, NULL)) {
			count_operation(r, &op, moves ? k->bytes : 0);
		}
		return;
	}
	struct tally_row *process = moves ? tally_row(&r->file_processes, op.process) : NULL;
	struct tally_row *file = moves ? tally_row(&r->files, op.file) : NULL;
	if (process && file) {
		add_bytes(process, op.op, READ_BYTES, k->bytes);
		add_bytes(file, op.op, READ_BYTES, k->bytes);
	} else {
		r->failed = r->failed || moves;
	}
}

static void net(struct report *r, const struct kevent *k)
{
	struct tally_row *row = tally_rowf(&r->connections, "%s" P "%u" P "%s" P "%s" P "%s", k->process, k->pid,
					   k->udp ? "udp" : "tcp", k->local, k->remote);
	if (!row) {
		r->failed = true;
		return;
	}
	row->v[NET_SENT] += k->op == KOP_SEND ? k->bytes : 0;
	row->v[NET_RECEIVED] += k->op == KOP_RECEIVE ? k->bytes : 0;
	row->v[NET_SENDS] += k->op == KOP_SEND;
	row->v[NET_RECEIVES] += k->op == KOP_RECEIVE;
	row->v[NET_RETRANSMITS] += k->op == KOP_RETRANSMIT;
	row->v[NET_FAILED] += k->op == KOP_FAIL;
	row->v[NET_OTHER] += k->op == KOP_CONNECT || k->op == KOP_ACCEPT || k->op == KOP_DISCONNECT;
}

static void fault(struct report *r, const struct kevent *k)
{
	struct tally_row *row = tally_rowf(&r->faults, "%s (%u)", k->process, k->pid);
	if (row) {
		row->v[FAULTS]++;
		row->v[FAULT_ZERO] += k->op == KOP_DEMAND_ZERO;
		row->v[FAULT_TRANSITION] += k->op == KOP_TRANSITION;
		row->v[FAULT_COW] += k->op == KOP_COPY_ON_WRITE;
		row->v[FAULT_HARD] += k->op == KOP_HARD;
		row->v[FAULT_HARD_BYTES] += k->op == KOP_HARD ? k->bytes : 0;
	}
	if (k->op == KOP_HARD) {
		row = tally_row(&r->fault_files, k->file ? k->file : UNKNOWN_FILE);
		if (row) {
			row->v[FAULTS]++;
			row->v[FAULT_HARD_BYTES] += k->bytes;
		}
	}
	r->failed = r->failed || !row;
}

/* "read", from the name of its handler. */
static void call_name(const struct report *r, uint64_t address, uint64_t time, char *out, size_t cap)
{
	static const char *const prefixes[] = {"__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "sys_"};
	char name[512];
	if (address < NAMES_KERNEL_SPACE) { /* the number, where addresses are hidden */
		snprintf(out, cap, "%llu", (unsigned long long)address);
		return;
	}
	names_of(&r->names, 4, address, time, name, sizeof name);
	const char *p = strchr(name, '!');
	p = p ? p + 1 : name;
	for (size_t i = 0; i < BASE_ARRAY_LEN(prefixes); i++) {
		if (strncmp(p, prefixes[i], strlen(prefixes[i])) == 0) {
			p += strlen(prefixes[i]);
			break;
		}
	}
	snprintf(out, cap, "%.*s", (int)cap - 1, p);
}

static struct tally_row *call_row(struct report *r, const struct kevent *k, uint64_t call)
{
	char name[256];
	call_name(r, call, k->time, name, sizeof name);
	struct tally_row *row = tally_rowf(&r->calls, "%s" P "%u" P "%s", k->process, k->pid, name);
	r->failed = r->failed || !row;
	return row;
}

static void call_begins(struct report *r, const EVENT_RECORD *e, const struct kevent *k, struct report_thread *t)
{
	t->call = k->address;
	t->call_time = k->time;
	t->call_counted = report_wanted(r, k->pid, k->tid, k->process, k->time) && report_fits(r, e, NULL);
	struct tally_row *row = t->call_counted ? call_row(r, k, k->address) : NULL;
	if (row) {
		row->v[CALLS]++;
	}
}

static void call_ends(struct report *r, const EVENT_RECORD *e, const struct kevent *k, struct report_thread *t)
{
	uint64_t began = t->call_time, part = report_part(r, began, k->time), ns = (k->time - began) * 100;
	bool begins = report_in_range(r, began), counted = t->call_counted;
	t->call_time = 0;
	if (!began || !report_whose(r, k->pid, k->tid, k->process) || (!begins && part == 0) ||
	    (!counted && !report_fits(r, e, &ns))) {
		return;
	}
	struct tally_row *row = call_row(r, k, t->call);
	if (!row) {
		return;
	}
	row->v[CALL_US] += part / 10;
	if (begins) {
		row->v[CALLS] += !counted;
		row->v[CALL_LONGEST] = BASE_MAX(row->v[CALL_LONGEST], ns / 1000);
		row->v[CALL_ERRORS] += (int32_t)k->status < 0 && (int32_t)k->status >= -4095;
	}
}

static void syscall_event(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	struct report_thread *t = k->tid == OPENETW_UNKNOWN_ID ? NULL : report_thread(r, k->tid);
	if (t && k->op == KOP_START) {
		call_begins(r, e, k, t);
	} else if (t) {
		call_ends(r, e, k, t);
	}
}

static bool counts(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	return report_wanted(r, k->pid, k->tid, k->process, k->time) && report_fits(r, e, NULL);
}

void report_io(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	switch (k->kind) {
	case KEVENT_DISK: disk(r, e, k); break;
	case KEVENT_FILE: file(r, e, k); break;
	case KEVENT_FILE_END: file_end(r, e, k); break; /* of whoever asked, which may be another thread */
	case KEVENT_NET:
		if (counts(r, e, k)) {
			net(r, k);
		}
		break;
	case KEVENT_FAULT:
		if (counts(r, e, k)) {
			fault(r, k);
		}
		break;
	case KEVENT_SYSCALL: syscall_event(r, e, k); break;
	default: break;
	}
}

void report_print_io(struct report *r, uint64_t top, bool json)
{
	static const char *const process[] = {"PROCESS", NULL}, *const path[] = {"FILE", NULL};
	static const char *const connection[] = {"PROCESS", "PID", "PROTOCOL", "LOCAL", "REMOTE", NULL};
	static const char *const call[] = {"PROCESS", "PID", "CALL", NULL};
	static const struct tally_column transfers[] = {{"READ", "readBytes", TALLY_BYTES, READ_BYTES},
							{"WRITTEN", "writeBytes", TALLY_BYTES, WRITE_BYTES},
							{"READS", "reads", TALLY_COUNT, READS},
							{"WRITES", "writes", TALLY_COUNT, WRITES},
							{"OTHER", "otherOperations", TALLY_COUNT, OTHER_OPS},
							{"DISK MS", "diskMs", TALLY_US, TIME_US}};
	static const struct tally_column net_columns[] = {{"SENT", "sentBytes", TALLY_BYTES, NET_SENT},
							  {"RECEIVED", "receivedBytes", TALLY_BYTES, NET_RECEIVED},
							  {"SENDS", "sends", TALLY_COUNT, NET_SENDS},
							  {"RECEIVES", "receives", TALLY_COUNT, NET_RECEIVES},
							  {"RETRANS", "retransmits", TALLY_COUNT, NET_RETRANSMITS},
							  {"FAILED", "failed", TALLY_COUNT, NET_FAILED}};
	static const struct tally_column fault_columns[] = {{"FAULTS", "faults", TALLY_COUNT, FAULTS},
							    {"ZERO", "demandZero", TALLY_COUNT, FAULT_ZERO},
							    {"TRANSIT", "transition", TALLY_COUNT, FAULT_TRANSITION},
							    {"COW", "copyOnWrite", TALLY_COUNT, FAULT_COW},
							    {"HARD", "hard", TALLY_COUNT, FAULT_HARD},
							    {"READ", "hardBytes", TALLY_BYTES, FAULT_HARD_BYTES}};
	static const struct tally_column fault_file_columns[] = {{"FAULTS", "faults", TALLY_COUNT, FAULTS},
								 {"READ", "hardBytes", TALLY_BYTES, FAULT_HARD_BYTES}};
	static const struct tally_column call_columns[] = {{"CALLS", "calls", TALLY_COUNT, CALLS},
							   {"MS", "ms", TALLY_US, CALL_US},
							   {"LONGEST MS", "longestMs", TALLY_US, CALL_LONGEST},
							   {"ERRORS", "errors", TALLY_COUNT, CALL_ERRORS}};
	/* Where no operation has an end, nobody knows what was moved. */
	static const struct tally_column asked[] = {{"READ", "readBytesAsked", TALLY_BYTES, READ_ASKED},
						    {"WRITTEN", "writeBytesAsked", TALLY_BYTES, WRITE_ASKED},
						    {"READS", "reads", TALLY_COUNT, READS},
						    {"WRITES", "writes", TALLY_COUNT, WRITES},
						    {"OTHER", "otherOperations", TALLY_COUNT, OTHER_OPS}};
	bool ends = r->ops_ended > 0;
	const struct tally_column *files = ends ? transfers : asked;
	unsigned moved = ends ? BYTES : ASKED;
	const struct {
		struct tally *tally;
		struct tally_table table;
	} tables[] = {
		{&r->disk_processes, {"disk by process", "diskProcesses", process, transfers, 6, TIME_US, 0}},
		{&r->disk_files, {"disk by file", "diskFiles", path, transfers, 6, TIME_US, 0}},
		{&r->file_processes,
		 {ends ? "file operations by process"
		       : "file operations by process (bytes asked for: without FileIo/OperationEnd nobody knows those "
			 "moved)",
		  "fileProcesses", process, files, 5, READS, 0}},
		{&r->files,
		 {ends ? "file operations by file" : "file operations by file (bytes asked for)", "files", path, files,
		  5, moved, 0}},
		{&r->connections, {"connections", "connections", connection, net_columns, 6, NET_SENT, 0}},
		{&r->faults, {"page faults by process", "faults", process, fault_columns, 6, FAULTS, 0}},
		{&r->fault_files, {"hard faults by file", "faultFiles", path, fault_file_columns, 2, FAULTS, 0}},
		{&r->calls, {"system calls by process", "syscalls", call, call_columns, 4, CALLS, 0}},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		tally_print(stdout, tables[i].tally, &tables[i].table, top, json);
	}
	uint64_t open = ends ? report_ops_open(r) : 0;
	if (open && json) {
		printf("{\"table\":\"fileOperationsWithoutEnd\",\"readsAndWrites\":%llu}\n", (unsigned long long)open);
	} else if (open) {
		printf("\n%llu reads and writes of files have no end in the trace: what they moved is not counted\n",
		       (unsigned long long)open);
	}
}
